// hopscotch help and version.
#include "command.h"
#include "../hopscotch.h"

#include <string.h>

static void help_overview(FILE *out)
{
    fputs(
        "Hopscotch runs experiments that a YAML spec declares: it simulates every trial on the GPU or the CPU, stores\n"
        "trajectories in HDF5 and results in SQLite. A killed run can be resumed, with the same results.\n"
        "\nusage: hopscotch COMMAND [arguments] [options]\n",
        out);
    for (int i = 0; i < command_count(); i++) {
        const Command *command = command_at(i);
        char left[64];
        if (command_group(i) != NULL) fprintf(out, "\n%s:\n", command_group(i));
        snprintf(left, sizeof left, "%s %s", command->name, command->arguments);
        fprintf(out, "  %-24s%s", left, strlen(left) > 24 ? "\n                           " : " ");
        terminal_paragraph(out, command->doc, 27, terminal_breaks(out));
        fputc('\n', out);
    }
    fputs("\nfirst steps:\n"
          "  hopscotch help spec example > my_gains.yaml\n"
          "  hopscotch run my_gains.yaml\n"
          "  hopscotch best my_gains\n"
          "  hopscotch help run        hopscotch help spec        hopscotch models hopper\n"
          "\nexit codes: 0 done, 1 the spec or the request is wrong, 2 usage, 3 the machine failed,\n"
          "            75 not finished: run the same command again, 130 Ctrl-C or stop, 143 SIGTERM,\n"
          "            129 SIGHUP (the terminal was closed)\n",
          out);
}

// `make install` uses these pages, --completion and --names.
static Error help_manual(const CommandLine *line)
{
    const char *name = line->n_arguments > 0 ? line->arguments[0] : NULL;
    const Command *command = name != NULL ? command_find(name) : NULL;
    if (name != NULL && strcmp(name, "spec") == 0)
        manual_spec(line->out);
    else if (name != NULL && command == NULL)
        return error_make(ERROR_USAGE, "there is no manual page for '%.60s'; %s lists the commands", name,
                          command_again(NULL, "help").text);
    else
        manual_command(command, line->out);
    return error_none();
}

static Error help_spec(const CommandLine *line)
{
    const char *topic = line->n_arguments > 1 ? line->arguments[1] : NULL;
    if (topic == NULL)
        spec_reference_sections(line->out);
    else if (strcmp(topic, "all") == 0)
        spec_reference(line->out);
    else if (strcmp(topic, "example") == 0)
        spec_reference_example(line->out);
    else
        return spec_reference_topic(topic, line->out, line->arena);
    return error_none();
}

static Error help_run(const CommandLine *line)
{
    if (switch_given(line, "man")) return help_manual(line);
    if (switch_given(line, "completion")) {
        (switch_choice(line, "completion", 0) == 0 ? completion_bash : completion_zsh)(line->out);
        return error_none();
    }
    if (switch_given(line, "names")) {
        for (int i = 0; i < command_count(); i++) fprintf(line->out, "%s\n", command_at(i)->name);
        return error_none();
    }
    if (line->n_arguments == 0) {
        help_overview(line->out);
        return error_none();
    }
    const Command *command = command_find(line->arguments[0]);
    if (line->n_arguments > 1 && strcmp(line->arguments[0], "spec") != 0)
        return error_make(ERROR_USAGE, "only help spec takes a second word, and here is '%.60s' behind '%.60s'",
                          line->arguments[1], line->arguments[0]);
    if (command != NULL) {
        command_help(command, line->out);
        return error_none();
    }
    if (strcmp(line->arguments[0], "spec") == 0) return help_spec(line);
    const char **names = ARENA_NEW(line->arena, const char *, command_count() + 1);
    for (int i = 0; i < command_count(); i++) names[i] = command_at(i)->name;
    names[command_count()] = "spec";
    const char *nearest = nearest_name(line->arguments[0], names, command_count() + 1);
    return error_make(ERROR_USAGE, "there is no help on '%.60s'%s%s%s", line->arguments[0],
                      nearest != NULL
                          ? "; did you mean '"
                          : arena_format(line->arena, "; %s lists the commands", command_again(NULL, "help").text),
                      nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

// ---- version --------------------------------------------------------------------------------------------------------

// A backend of this build on this machine: its device and version, or the reason why it cannot be used.
typedef struct HelpBackend {
    bool usable;
    char device[256], version[64];
} HelpBackend;

static HelpBackend help_backend(const char *name)
{
    HelpBackend found = {.usable = false};
    Backend *backend;
    const BackendOptions options = {.name = name, .isa = "auto"};
    const Error error = backend_open(&options, &backend);
    if (error.kind != OK) {
        snprintf(found.device, sizeof found.device, "%.255s", error.text);
        return found;
    }
    const BackendInfo *info = backend_info(backend);
    found.usable = true;
    snprintf(found.device, sizeof found.device, "%s", info->device);
    snprintf(found.version, sizeof found.version, "%s", info->version);
    backend_close(backend);
    return found;
}

static const char *help_compiler(void)
{
#ifdef __clang__
    return __VERSION__; // contains "Clang"
#else
    return "gcc " __VERSION__;
#endif
}

// What this program reads (results/formats.md): every version of it that it knows.
typedef struct HelpFormat {
    const char *name;
    int versions[4], n_versions;
} HelpFormat;

static const HelpFormat help_formats[] = {
    {"spec", {1}, 1},
    {"campaign.db",
     {STORE_SCHEMA_VERSION, STORE_SCHEMA_WITH_SUMS, STORE_SCHEMA_WITH_BLOCKS, STORE_SCHEMA_WITH_WORDS},
     4},
    {"pack", {1, PACK_FORM}, 2},
    {"hopscotch.h", {HOPSCOTCH_INTERFACE}, 1},
};
enum { HELP_FORMATS = sizeof help_formats / sizeof *help_formats };

static void help_version_json(const char *const *names, const HelpBackend *backends, int count, FILE *out)
{
    Json json;
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "version", HOPSCOTCH_VERSION);
    json_text(&json, "commit", program_commit());
    json_integer(&json, "numerics_version", NUMERICS_VERSION);
    json_text(&json, "compiler", help_compiler());
    json_object(&json, "formats");
    for (int i = 0; i < HELP_FORMATS; i++) {
        json_array(&json, help_formats[i].name);
        for (int k = 0; k < help_formats[i].n_versions; k++) json_integer(&json, NULL, help_formats[i].versions[k]);
        json_close(&json, ']');
    }
    json_close(&json, '}');
    for (int i = 0; i < count; i++) {
        json_object(&json, names[i]);
        json_boolean(&json, "usable", backends[i].usable);
        json_text(&json, backends[i].usable ? "device" : "reason", backends[i].device);
        if (backends[i].usable) json_text(&json, "version", backends[i].version);
        json_close(&json, '}');
    }
    json_close(&json, '}');
}

static Error help_version_run(const CommandLine *line)
{
    static const char *const names[] = {"cpu", "cuda"};
    const HelpBackend backends[] = {help_backend(names[0]), help_backend(names[1])};
    if (switch_given(line, "json")) {
        help_version_json(names, backends, 2, line->out);
        return error_none();
    }
    fprintf(line->out, "hopscotch %s", HOPSCOTCH_VERSION);
    if (program_commit() != NULL) fprintf(line->out, " (%s)", program_commit());
    fprintf(line->out, "\nnumerics version %d, compiled by %s\nformats", NUMERICS_VERSION, help_compiler());
    for (int i = 0; i < HELP_FORMATS; i++) {
        fprintf(line->out, "%s %s", i == 0 ? "" : ",", help_formats[i].name);
        for (int k = 0; k < help_formats[i].n_versions; k++) fprintf(line->out, " %d", help_formats[i].versions[k]);
    }
    fputc('\n', line->out);
    for (int i = 0; i < 2; i++) {
        fprintf(line->out, "%-5s %s", names[i], backends[i].device);
        if (backends[i].usable && backends[i].version[0] != '\0') fprintf(line->out, " (%s)", backends[i].version);
        fputc('\n', line->out);
    }
    return error_none();
}

static const Switch help_rows[] = {
    {"man", SWITCH_FLAG, NULL, 0, 0, "print a page for man(1), e.g. hopscotch help run --man | man -l -"},
    {"completion", SWITCH_CHOICE, "bash|zsh", 0, 0,
     "print a script for this shell that completes commands, options and names"},
    {"names", SWITCH_FLAG, NULL, 0, 0, "print only the names of the commands"},
};
static const Switches help_switches = {help_rows, sizeof help_rows / sizeof *help_rows};

const Command command_help_pages = {
    .name = "help",
    .arguments = "[COMMAND | spec [KEY]]",
    .doc = "print this overview, the options and examples of a command, the sections of a spec, or what a key means",
    .examples = "  hopscotch help\n"
                "  hopscotch help run\n"
                "  hopscotch help spec\n"
                "  hopscotch help spec example > my_gains.yaml\n"
                "  hopscotch help spec record.trajectories\n"
                "  hopscotch help spec cmaes\n"
                "  hopscotch help spec all\n",
    .least = 0,
    .most = 2,
    .switches = {&help_switches},
    .run = help_run,
};

const Command command_version = {
    .name = "version",
    .arguments = "",
    .doc = "print versions of program, numerics, compiler and formats, and the processors and GPUs found",
    .examples = "  hopscotch version\n"
                "  hopscotch version --json\n",
    .least = 0,
    .most = 0,
    .switches = {&switches_json},
    .run = help_version_run,
};
