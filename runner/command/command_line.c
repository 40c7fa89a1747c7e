// Parses a command line by the tables of its command. Each option is one row; help, checks and suggestions all use it.
#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE_CHOICES_MAX = 16, LINE_NAMES_MAX = 64, LINE_FORM_WIDTH = 30 };

static const Switch line_common_rows[] = {
    {"results", SWITCH_TEXT, "DIR", 0, 0, "root folder of the campaigns (default: $HOPSCOTCH_RESULTS, else results)"},
    {"no-color", SWITCH_FLAG, NULL, 0, 0, "print no colours, as with NO_COLOR=1; only terminals get colours"},
    {"help", SWITCH_FLAG, NULL, 0, 0, "print this text"},
};
static const Switch line_spec_rows[] = {
    {"set", SWITCH_TEXTS, "KEY.PATH=VALUE", 0, 0,
     "override a key of the spec, e.g. 'search.over.thrust=[25,30]' (quoted for the shell); repeatable"},
    {"allow-files", SWITCH_TEXTS, "DIR", 0, 0,
     "the spec may name files in DIR or below by absolute paths, e.g. a robot of a package; the campaign keeps copies; "
     "repeatable"},
};
#ifdef HOPSCOTCH_FAULTS
#define LINE_BACKENDS "auto|cpu|cuda|faulty"
#else
#define LINE_BACKENDS "auto|cpu|cuda"
#endif
static const Switch line_backend_rows[] = {
    {"backend", SWITCH_CHOICE, LINE_BACKENDS, 0, 0,
     "device that simulates (default: the spec's, else auto: the CPU, or a GPU where it takes less time)"},
    {"threads", SWITCH_INTEGER, "N", 0, 4096,
     "number of CPU threads (default 0: all processors that affinity and control group allow)"},
    {"device", SWITCH_DEVICES, "N[,N]|all", 0, BACKEND_DEVICES_MAX - 1,
     "CUDA devices to use; several share each batch (default: 0, or another device if device 0 fails)"},
    {"kernels", SWITCH_CHOICE, "auto|made|general", 0, 0,
     "kernels of a GPU, of equations: made for this campaign, general, or made where it saves time (auto, default)"},
    {"isa", SWITCH_CHOICE, "auto|v2|v3|v4|neon|scalar", 0, 0, "CPU instruction set (default: the best)"},
    {"watchdog", SWITCH_INTEGER, "SECONDS", 0, 1000000,
     "stop if one launch of a kernel takes longer (default 60; 0: never; a launch normally takes 0.1 s)"},
    {"allow-programs", SWITCH_FLAG, NULL, 0, 0,
     "run the program of a spec with `model: command`; it runs with your rights, so read it first"},
    {"program-folder", SWITCH_TEXT, "DIR", 0, 0,
     "folder where that program is now (default: that of the spec's file, else where it ran before)"},
};
#define LINE_FORMAT(name, word) "|" word
static const Switch line_format_rows[] = {
    {"format", SWITCH_CHOICE, &(TABLE_FORMATS(LINE_FORMAT))[1], 0, 0, "output format (default table)"},
    {"json", SWITCH_FLAG, NULL, 0, 0, "the same as --format json"},
};
static const Switch line_json_rows[] = {
    {"json", SWITCH_FLAG, NULL, 0, 0, "for programs: one JSON value on standard output"},
};
static const Switch line_campaign_rows[] = {
    {"progress", SWITCH_CHOICE, "auto|bar|plain|json|none", 0, 0,
     "how to show progress (default auto: a bar on a terminal, else plain lines)"},
    {"shared-fs", SWITCH_FLAG, NULL, 0, 0, "allow a network file system (slower, safer SQLite settings)"},
};

#define LINE_SWITCHES(rows)                                                                                            \
    {                                                                                                                  \
        (rows), (int)(sizeof(rows) / sizeof *(rows))                                                                   \
    }
const Switches switches_common = LINE_SWITCHES(line_common_rows);
const Switches switches_spec = LINE_SWITCHES(line_spec_rows);
const Switches switches_backend = LINE_SWITCHES(line_backend_rows);
const Switches switches_format = LINE_SWITCHES(line_format_rows);
const Switches switches_json = LINE_SWITCHES(line_json_rows);
const Switches switches_campaign = LINE_SWITCHES(line_campaign_rows);
const Switches switches_shared_fs = {line_campaign_rows + 1, 1};
#undef LINE_SWITCHES

// ---- looking up -----------------------------------------------------------------------------------------------------

const Switches *command_switches(const Command *command, int index)
{
    if (command == NULL) return index == 0 ? &switches_common : NULL;
    for (int i = 0; i < COMMAND_SWITCHES_MAX && command->switches[i] != NULL; i++) {
        if (index-- == 0) return command->switches[i];
    }
    return index == 0 ? &switches_common : NULL;
}

static const Switch *line_switch(const Command *command, const char *name, size_t length)
{
    const Switches *group;
    for (int g = 0; (group = command_switches(command, g)) != NULL; g++) {
        for (int i = 0; i < group->count; i++) {
            if (strlen(group->rows[i].name) == length && memcmp(group->rows[i].name, name, length) == 0)
                return &group->rows[i];
        }
    }
    return NULL;
}

static const char *line_read_on(const Command *command, Arena *arena)
{
    const char *program = command_program(arena);
    return arena_format(arena, "%.200s help%s%s", program, command != NULL ? " " : "",
                        command != NULL ? command->name : "");
}

static Error line_unknown_switch(const Command *command, const char *name, Arena *arena)
{
    const char *names[LINE_NAMES_MAX];
    const Switches *group;
    int count = 0;
    for (int g = 0; (group = command_switches(command, g)) != NULL; g++) {
        for (int i = 0; i < group->count && count < LINE_NAMES_MAX; i++) names[count++] = group->rows[i].name;
    }
    const char *nearest = nearest_name(name, names, count);
    if (nearest != NULL)
        return error_make(ERROR_USAGE, "unknown option --%.60s; did you mean '--%s'? (%s)", name, nearest,
                          line_read_on(command, arena));
    return error_make(ERROR_USAGE, "unknown option --%.60s; see %s", name, line_read_on(command, arena));
}

static Error line_unknown_command(const char *name)
{
    const char *names[LINE_NAMES_MAX];
    int count = 0;
    for (; count < command_count() && count < LINE_NAMES_MAX; count++) names[count] = command_at(count)->name;
    const char *nearest = nearest_name(name, names, count);
    if (nearest != NULL) return error_make(ERROR_USAGE, "unknown command '%.60s'; did you mean '%s'?", name, nearest);
    return error_make(ERROR_USAGE, "unknown command '%.60s'; see %s", name, command_again(NULL, "help").text);
}

// ---- values ---------------------------------------------------------------------------------------------------------

// Splits "table|csv|json". Returns the number of choices.
static int line_choices(const char *choices, Arena *arena, const char **names)
{
    char *rest = arena_copy(arena, choices);
    int count = 0;
    for (char *name; count < LINE_CHOICES_MAX && (name = strsep(&rest, "|")) != NULL;) names[count++] = name;
    return count;
}

static int line_choice(const char *choices, const char *value, Arena *arena)
{
    const char *names[LINE_CHOICES_MAX];
    const int count = line_choices(choices, arena, names);
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], value) == 0) return i;
    }
    return -1;
}

// Accepts digits only: 1e6 and 0x10 are errors.
static bool line_integer(const char *text, int64_t *value)
{
    char *end;
    const size_t digits = strspn(text, "0123456789");
    errno = 0;
    const long long read = strtoll(text, &end, 10);
    *value = read;
    return digits > 0 && text[digits] == '\0' && errno == 0;
}

// Reads "0,2" as a set of bits, or "all".
static bool line_devices(const char *text, uint64_t *devices)
{
    *devices = strcmp(text, "all") == 0 ? BACKEND_ALL_DEVICES : 0;
    if (*devices != 0) return true;
    for (const char *at = text;; at++) {
        char *end;
        if (*at < '0' || *at > '9') return false;
        const unsigned long device = strtoul(at, &end, 10);
        if (device >= BACKEND_DEVICES_MAX || (*end != ',' && *end != '\0')) return false;
        *devices |= (uint64_t)1 << device;
        at = end;
        if (*at == '\0') return true;
    }
}

// "h5 or csv", of "FILE.h5|csv"
static const char *line_endings(const Switch *row, Arena *arena)
{
    char *text = arena_copy(arena, strchr(row->argument, '.')), *last = strrchr(text, '|');
    if (last == NULL) return text;
    *last = '\0';
    for (char *bar; (bar = strchr(text, '|')) != NULL;) {
        *bar = '\0';
        text = arena_format(arena, "%s, .%s", text, bar + 1);
    }
    return arena_format(arena, "%s or .%s", text, last + 1);
}

// A name that ends like another format's would hold what its reader does not expect.
static Error line_check_ending(const Switch *row, const char *value, Arena *arena)
{
    const char *slash = strrchr(value, '/'), *name = slash != NULL ? slash + 1 : value, *dot = strrchr(name, '.');
    const char *const listed = strchr(row->argument, '.');
    if (listed == NULL || dot == NULL || dot == name || !isalpha((unsigned char)dot[1])) return error_none();
    const size_t length = strlen(dot + 1);
    for (const char *ending = listed; ending != NULL; ending = strchr(ending, '|')) {
        const size_t size = strcspn(++ending, "|");
        if (size == length && strncasecmp(ending, dot + 1, size) == 0) return error_none();
    }
    return error_make(ERROR_USAGE, "--%s writes %s, not '%.60s'", row->name, line_endings(row, arena),
                      text_visible(dot, arena));
}

static Error line_check_value(const Switch *row, const char *value, Arena *arena)
{
    int64_t number;
    if (row->type == SWITCH_INTEGER) {
        if (line_integer(value, &number) && number >= row->low && number <= row->high) return error_none();
        return error_make(ERROR_USAGE, "--%s takes a whole number from %" PRId64 " to %" PRId64 ", not '%.60s'",
                          row->name, row->low, row->high, value);
    }
    uint64_t devices;
    if (row->type == SWITCH_DEVICES && !line_devices(value, &devices))
        return error_make(ERROR_USAGE,
                          "--%s takes whole numbers from %" PRId64 " to %" PRId64
                          " with commas between them, or all, not '%.60s'",
                          row->name, row->low, row->high, value);
    if (row->type == SWITCH_FILE) return line_check_ending(row, value, arena);
    if (row->type == SWITCH_CHOICE && line_choice(row->argument, value, arena) < 0) {
        const char *names[LINE_CHOICES_MAX];
        const int count = line_choices(row->argument, arena, names);
        const char *nearest = nearest_name(value, names, count);
        if (nearest != NULL && strlen(value) <= 3 && value[0] != nearest[0])
            nearest = NULL; // of short words, suggests csv for cvs but not cpu for gpu
        return error_make(ERROR_USAGE, "--%s takes one of %s, not '%.60s'%s%s%s", row->name, row->argument, value,
                          nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                          nearest != NULL ? "'?" : "");
    }
    return error_none();
}

// ---- parsing --------------------------------------------------------------------------------------------------------

// Stores the option at argv[*at] and its value. Moves *at to the last argument that it used.
static Error line_option(CommandLine *line, int argc, char **argv, int *at)
{
    const char *text = argv[*at] + 2, *equals = strchr(text, '=');
    const size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    const Switch *row = line_switch(line->command, text, length);
    if (row == NULL) {
        char *name = arena_copy(line->arena, text);
        name[length] = '\0';
        return line_unknown_switch(line->command, name, line->arena);
    }
    const char *value = equals != NULL ? equals + 1 : "";
    if (row->type == SWITCH_FLAG && equals != NULL) return error_make(ERROR_USAGE, "--%s takes no value", row->name);
    if (row->type != SWITCH_FLAG && equals == NULL) {
        if (*at + 1 >= argc)
            return error_make(ERROR_USAGE, "--%s needs a value: --%s %s", row->name, row->name, row->argument);
        value = argv[++*at];
    }
    TRY(line_check_value(row, value, line->arena));
    for (int i = 0; i < line->n_given && row->type != SWITCH_TEXTS; i++) {
        if (line->given[i] == row) return error_make(ERROR_USAGE, "--%s is given twice; give it once", row->name);
    }
    line->given[line->n_given] = row;
    line->values[line->n_given++] = value;
    return error_none();
}

static Error line_argument(CommandLine *line, const char *text)
{
    if (line->command == NULL) {
        line->command = command_find(text);
        return line->command != NULL ? error_none() : line_unknown_command(text);
    }
    if (line->n_arguments >= line->command->most) {
        const bool looks_set = strchr(text, '=') != NULL && line_switch(line->command, "set", 3) != NULL;
        return error_make(ERROR_USAGE, "unexpected argument '%.60s': %s takes %s%s%s", text, line->command->name,
                          line->command->most > 0 ? line->command->arguments : "no argument",
                          line->command->most > 1 ? arena_format(line->arena, ", %d at most", line->command->most) : "",
                          looks_set ? "; each override needs its own --set" : "");
    }
    line->arguments[line->n_arguments++] = text;
    return error_none();
}

static Error line_settle(CommandLine *line)
{
    line->results = switch_text(line, "results", command_default_results());
    if (line->results[0] == '\0') return error_make(ERROR_USAGE, "--results needs the name of a folder");
    if (switch_given(line, "no-color")) setenv("NO_COLOR", "1", 1); // terminal_colour() reads it
    if (line->command == NULL || switch_given(line, "help") || line->n_arguments >= line->command->least)
        return error_none();
    return error_make(ERROR_USAGE, "%s needs %s; see %s", line->command->name, line->command->arguments,
                      line_read_on(line->command, line->arena));
}

Error command_line_parse(int argc, char **argv, Arena *arena, CommandLine *line)
{
    *line = (CommandLine){.arena = arena, .out = stdout, .messages = stderr};
    line->arguments = ARENA_NEW(arena, const char *, argc + 1);
    line->given = ARENA_NEW(arena, const Switch *, argc + 1);
    line->values = ARENA_NEW(arena, const char *, argc + 1);
    bool options = true; // until "--"
    for (int i = 1; i < argc; i++) {
        char *text = argv[i];
        if (strcmp(text, "-h") == 0) text = argv[i] = arena_copy(arena, "--help");
        if (strcmp(text, "-o") == 0) text = argv[i] = arena_copy(arena, "--output");
        if (strcmp(text, "-n") == 0 && line->command != NULL && line_switch(line->command, "trials", 6) != NULL)
            text = argv[i] = arena_copy(arena, "--trials");
        if (line->command == NULL && strcmp(text, "--version") == 0) text = arena_copy(arena, "version");
        if (options && strcmp(text, "--") == 0)
            options = false;
        else if (options && strncmp(text, "--", 2) == 0)
            TRY(line_option(line, argc, argv, &i));
        else if (options && text[0] == '-' && text[1] != '\0')
            return error_make(ERROR_USAGE, "unknown option %.60s; options have long names: see %s", text,
                              line_read_on(line->command, arena));
        else
            TRY(line_argument(line, text));
    }
    return line_settle(line);
}

// ---- what commands read ---------------------------------------------------------------------------------------------

const char *switch_text(const CommandLine *line, const char *name, const char *fallback)
{
    for (int i = line->n_given - 1; i >= 0; i--) {
        if (strcmp(line->given[i]->name, name) == 0) return line->values[i];
    }
    return fallback;
}

const char *command_line_again(const CommandLine *line)
{
    const char *words = line->command->name;
    for (int i = 0; i < line->n_arguments; i++)
        words = arena_format(line->arena, "%s %s", words, command_quoted(line->arguments[i], line->arena));
    for (int i = 0; i < line->n_given; i++) {
        if (strcmp(line->given[i]->name, "results") == 0) continue;
        words = arena_format(line->arena, "%s --%s", words, line->given[i]->name);
        if (line->given[i]->type != SWITCH_FLAG)
            words = arena_format(line->arena, "%s %s", words, command_quoted(line->values[i], line->arena));
    }
    return arena_copy(line->arena, command_again(line->results, "%s", words).text);
}

bool switch_given(const CommandLine *line, const char *name) { return switch_text(line, name, NULL) != NULL; }

int64_t switch_integer(const CommandLine *line, const char *name, int64_t fallback)
{
    const char *text = switch_text(line, name, NULL);
    int64_t value = fallback;
    if (text != NULL) line_integer(text, &value);
    return value;
}

int switch_choice(const CommandLine *line, const char *name, int fallback)
{
    const char *text = switch_text(line, name, NULL);
    return text == NULL ? fallback
                        : line_choice(line_switch(line->command, name, strlen(name))->argument, text, line->arena);
}

const char *const *switch_all(const CommandLine *line, const char *name, int *count)
{
    const char **values = ARENA_NEW(line->arena, const char *, line->n_given + 1);
    *count = 0;
    for (int i = 0; i < line->n_given; i++) {
        if (strcmp(line->given[i]->name, name) == 0) values[(*count)++] = line->values[i];
    }
    return values;
}

static uint64_t switch_devices(const CommandLine *line)
{
    uint64_t devices = 0;
    const char *text = switch_text(line, "device", NULL);
    if (text != NULL) line_devices(text, &devices);
    return devices;
}

int command_threads(const CommandLine *line)
{
    const int threads = (int)switch_integer(line, "threads", 0);
    return threads > 0 ? threads : processors_allowed();
}

BackendOptions command_backend(const CommandLine *line, const char *fallback)
{
    const int64_t seconds = switch_integer(line, "watchdog", (int64_t)BACKEND_PATIENCE);
    return (BackendOptions){.name = switch_text(line, "backend", fallback),
                            .threads = command_threads(line),
                            .devices = switch_devices(line),
                            .isa = switch_text(line, "isa", "auto"),
                            .patience = seconds > 0 ? (double)seconds : (double)INFINITY,
                            .interrupted = interrupt_requested,
                            .program = {.allowed = switch_given(line, "allow-programs"),
                                        .folder = switch_text(line, "program-folder", NULL)}};
}

BackendOptions command_spec_backend(const CommandLine *line, const Spec *spec)
{
    BackendOptions options = command_backend(line, spec->device.backend);
    options.kernels = switch_text(line, "kernels", spec->device.kernels);
    return options;
}

RunOptions command_run_options(const CommandLine *line, const Spec *spec)
{
    return (RunOptions){.results = line->results,
                        .backend = command_spec_backend(line, spec),
                        .progress = (ProgressStyle)switch_choice(line, "progress", PROGRESS_AUTO),
                        .shared_fs = switch_given(line, "shared-fs"),
                        .out = line->messages,
                        .messages = line->messages};
}

TableFormat command_format(const CommandLine *line)
{
    return switch_given(line, "json") ? TABLE_JSON : (TableFormat)switch_choice(line, "format", TABLE_TEXT);
}

Error command_spec(const CommandLine *line, const char *path, Spec *spec)
{
    return command_spec_with(line, path, &(Overrides){.count = 0}, NULL, spec);
}

Overrides command_overrides(const CommandLine *line)
{
    Overrides overrides = {.count = 0};
    const char *const *given = switch_all(line, "set", &overrides.count);
    const Overrides swept = line->swept != NULL ? *line->swept : (Overrides){.count = 0};
    overrides.items = ARENA_NEW(line->arena, const char *, overrides.count + 1 + swept.count);
    for (int i = 0; i < overrides.count; i++) overrides.items[i] = given[i];
    if (line_switch(line->command, "seed", 4) != NULL && switch_given(line, "seed"))
        overrides.items[overrides.count++] =
            arena_format(line->arena, "seed=%lld", (long long)switch_integer(line, "seed", 0));
    for (int i = 0; i < swept.count; i++) overrides.items[overrides.count++] = swept.items[i];
    return overrides;
}

// A path may begin with a folder as the user writes it, or as it is without links.
static Error command_allowed(const CommandLine *line, AllowedFolders *allowed)
{
    int count;
    const char *const *given = switch_all(line, "allow-files", &count);
    *allowed = (AllowedFolders){.paths = ARENA_NEW(line->arena, const char *, 2 * count + 1)};
    for (int i = 0; i < count; i++) {
        if (file_missing(given[i]))
            return error_make(ERROR_USAGE, "--allow-files: there is no folder %.300s", given[i]);
        if (given[i][0] == '/') allowed->paths[allowed->count++] = given[i];
        allowed->paths[allowed->count++] = folder_absolute(given[i], line->arena);
    }
    return error_none();
}

// Suggests a file of the same folder with a similar name, or an example.
static Error command_no_spec(const char *path, Arena *arena)
{
    const char *folder = folder_of(path, arena), *slash = strrchr(path, '/'), *nearest = NULL;
    char **names;
    int count;
    if (folder_list(folder, arena, &names, &count).kind == OK)
        nearest = nearest_name(slash != NULL ? slash + 1 : path, (const char *const *)names, count);
    const char *example = nearest == NULL ? examples_nearest(path, arena) : NULL;
    if (example != NULL)
        return error_make(ERROR_USER, "there is no file %.300s; did you mean the example '%.200s'?", path, example);
    if (nearest == NULL) return error_make(ERROR_USER, "there is no file %.300s", path);
    return error_make(ERROR_USER, "there is no file %.300s; did you mean '%.*s%.200s'?", path,
                      slash != NULL ? (int)(slash - path < 300 ? slash + 1 - path : 0) : 0, path, nearest);
}

bool command_is_file(const char *path, Arena *arena)
{
    return file_exists(path) && file_missing(arena_format(arena, "%s/" CAMPAIGN_DATABASE, path));
}

// Whether the file is the unchanged spec.yaml or resolved.yaml of a campaign.
static bool command_is_kept(const char *path, Arena *arena, CampaignLocation *location)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const bool given = strcmp(name, "spec.yaml") == 0, resolved = strcmp(name, "resolved.yaml") == 0;
    const char *folder = folder_of(slash != NULL ? path : arena_format(arena, "./%s", path), arena);
    StoredText text;
    Bytes file;
    if ((!given && !resolved) || file_missing(arena_format(arena, "%s/" CAMPAIGN_DATABASE, folder))) return false;
    *location = (CampaignLocation){.results = folder_of(folder, arena), .name = "", .folder = folder};
    if (campaign_text(location, arena, &text).kind != OK) return false;
    const char *kept = given ? text.given : text.resolved;
    return kept != NULL && file_read(path, RESOLVED_BYTES_MAX, arena, &file).kind == OK &&
           strcmp((const char *)file.data, kept) == 0;
}

// Whether a spec is named by a campaign that was run with it: its name, its folder, or a file in that.
static bool command_spec_is_kept(const CommandLine *line, const char *path, CampaignLocation *location)
{
    if (command_is_file(path, line->arena)) return command_is_kept(path, line->arena, location);
    return find_campaign(line->results, path, line->arena, location).kind == OK;
}

// The stored spec has every default written out, so its meaning cannot have changed.
Error command_kept_spec(const CommandLine *line, const CampaignLocation *location, const StoredText *text,
                        const Overrides *overrides, const char *last, Spec *spec)
{
    Diagnostics *diagnostics = diagnostics_new(line->arena);
    const char *path = arena_format(line->arena, "%s/resolved.yaml", location->folder);
    const char **items = ARENA_NEW(line->arena, const char *, overrides->count + 1);
    const char **all = ARENA_NEW(line->arena, const char *, text->set.count + overrides->count + 1);
    for (int i = 0; i < overrides->count; i++) items[i] = overrides->items[i];
    items[overrides->count] = last;
    const Error error =
        spec_parse(path, text->resolved, items, overrides->count + (last != NULL), line->arena, diagnostics, spec);
    diagnostics_print(diagnostics, line->messages, terminal_colour(line->messages));
    spec->folder = text->folder;
    for (int i = 0; i < text->set.count; i++) all[i] = text->set.items[i];
    for (int i = 0; i < overrides->count; i++) all[text->set.count + i] = overrides->items[i];
    spec->overrides = (Overrides){.items = all, .count = text->set.count + overrides->count};
    spec->text = spec_text_set(text->given, overrides, line->arena);
    return error;
}

Error command_spec_with(const CommandLine *line, const char *path, const Overrides *first, const char *last, Spec *spec)
{
    CampaignLocation location;
    StoredText text = {.given = NULL};
    const Overrides given = command_overrides(line);
    Overrides all = {.items = ARENA_NEW(line->arena, const char *, first->count + given.count + 1)};
    for (int i = 0; i < first->count; i++) all.items[all.count++] = first->items[i];
    for (int i = 0; i < given.count; i++) all.items[all.count++] = given.items[i];
    if (command_spec_is_kept(line, path, &location)) TRY(campaign_text(&location, line->arena, &text));
    if (text.resolved != NULL) return command_kept_spec(line, &location, &text, &all, last, spec);
    if (!file_exists(path)) return command_no_spec(path, line->arena);
    all.items[all.count] = last;
    AllowedFolders allowed;
    TRY(command_allowed(line, &allowed));
    const Overrides read = {.items = all.items, .count = all.count + (last != NULL)};
    Diagnostics *diagnostics = diagnostics_new(line->arena);
    const Error error = spec_load_allowed(path, &read, &allowed, line->arena, diagnostics, spec);
    diagnostics_print(diagnostics, line->messages, terminal_colour(line->messages));
    spec->overrides = all;
    if (error.kind == OK) spec->text = spec_text_set(spec->text, &all, line->arena);
    return error;
}

Error command_taken(const CommandLine *line, const Spec *spec, const char *name, const char **taken)
{
    const Error error = warm_start_take(spec, line->results, name, line->arena, taken);
    if (error.kind != ERROR_USER) return error;
    Diagnostics *diagnostics = diagnostics_new(line->arena);
    diagnose(diagnostics, spec->warm.at, "%s", error.text);
    diagnostics_print(diagnostics, line->messages, terminal_colour(line->messages));
    return error_make(ERROR_USER, "%s: 1 error", spec->file);
}

// ---- help -----------------------------------------------------------------------------------------------------------

static void line_switch_form(const Switch *row, char *form, size_t size)
{
    const bool flag = row->argument == NULL;
    snprintf(form, size, "--%s%s%s", row->name, flag ? "" : " ", flag ? "" : row->argument);
}

void command_help(const Command *command, FILE *out)
{
    char form[256]; // holds the choices of plot --kind
    const Switches *group;
    int width = 0;
    fprintf(out, "hopscotch %s: %s\n\nusage: hopscotch %s%s%s [options]\n\noptions:\n", command->name, command->doc,
            command->name, command->arguments[0] != '\0' ? " " : "", command->arguments);
    for (int g = 0; (group = command_switches(command, g)) != NULL; g++) {
        for (int i = 0; i < group->count; i++) {
            line_switch_form(&group->rows[i], form, sizeof form);
            if ((int)strlen(form) > width && strlen(form) <= LINE_FORM_WIDTH) width = (int)strlen(form);
        }
    }
    for (int g = 0; (group = command_switches(command, g)) != NULL; g++) {
        for (int i = 0; i < group->count; i++) {
            line_switch_form(&group->rows[i], form, sizeof form);
            fprintf(out, "  %-*s  ", width, form);
            if ((int)strlen(form) > width) fprintf(out, "\n%*s", width + 4, ""); // the text begins on the next line
            terminal_paragraph(out, group->rows[i].doc, width + 4, terminal_breaks(out));
            fputc('\n', out);
        }
    }
    fprintf(out, "\nexamples:\n%s", command->examples);
}
