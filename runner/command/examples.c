// hopscotch examples: the experiments that come with the program; copies one with the files that it names.
#include "command.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Example {
    const char *name;         // "smoke", "command/spring"
    const char *folder, *doc; // folder of the spec; the first sentence of its comment
} Example;
typedef struct Examples {
    Example *rows; // [count]
    int count;
} Examples;
enum { EXAMPLES_MAX = 500, EXAMPLES_FILES_MAX = 50 };

// ---- the list -------------------------------------------------------------------------------------------------------

static bool examples_ends(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

// The first sentence of the comment that a spec begins with, behind the line for editors.
static const char *examples_sentence(const char *text, Arena *arena)
{
    char *sentence = ARENA_NEW(arena, char, strlen(text) + 1), *to = sentence;
    while (*text == '#') {
        const size_t length = strcspn(text, "\n");
        if (strncmp(text, "# yaml-language-server", 22) != 0) {
            if (length < 3 || text[1] != ' ' || text[2] == ' ') break; // the end of a paragraph
            if (to != sentence) *to++ = ' ';
            for (size_t i = 2; i < length; i++) {
                *to++ = text[i];
                const bool ended = strchr(".?", text[i]) != NULL && (i + 1 == length || text[i + 1] == ' ');
                if (ended && (i + 2 >= length || isupper((unsigned char)text[i + 2]))) return *to = '\0', sentence;
            }
        }
        text += length + (text[length] == '\n');
    }
    *to = '\0';
    return sentence;
}

// Adds the specs of a folder of `root`; prefix: "" or "command/". Laws and other parts of specs declare no experiment.
static Error examples_add(const char *root, const char *prefix, Arena *arena, Examples *examples)
{
    char **names;
    int count;
    const char *folder = arena_format(arena, "%s/%s", root, prefix);
    TRY(folder_list(folder, arena, &names, &count));
    for (int i = 0; i < count && examples->count < EXAMPLES_MAX; i++) {
        Bytes text;
        if (!examples_ends(names[i], ".yaml")) continue;
        TRY(shipped_read(folder, names[i], arena, &text));
        if (strstr((const char *)text.data, "\nexperiment:") == NULL) continue;
        examples->rows[examples->count++] =
            (Example){arena_format(arena, "%s%.*s", prefix, (int)strlen(names[i]) - 5, names[i]), folder,
                      examples_sentence((const char *)text.data, arena)};
    }
    return error_none();
}

static Error examples_read(Arena *arena, Examples *examples)
{
    static const char *const prefixes[] = {"", "command/", "mujoco/"};
    const char *shipped;
    *examples = (Examples){ARENA_NEW(arena, Example, EXAMPLES_MAX), 0};
    TRY(shipped_folder(arena, &shipped));
    const char *root = arena_format(arena, "%s/experiments", shipped);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        TRY(examples_add(root, prefixes[i], arena, examples));
    return error_none();
}

static const Example *examples_find(const Examples *examples, const char *name)
{
    for (int i = 0; i < examples->count; i++) {
        if (strcmp(examples->rows[i].name, name) == 0) return &examples->rows[i];
    }
    return NULL;
}

static const char *examples_like(const Examples *examples, const char *name, Arena *arena)
{
    const char **names = ARENA_NEW(arena, const char *, examples->count + 1);
    for (int i = 0; i < examples->count; i++) names[i] = examples->rows[i].name;
    return nearest_name(name, names, examples->count);
}

static const char *examples_file(const Example *example) // the spec's name in its folder
{
    const char *slash = strrchr(example->name, '/');
    return slash != NULL ? slash + 1 : example->name;
}

static void examples_list(const Examples *examples, FILE *out)
{
    for (int i = 0; i < examples->count; i++) {
        fprintf(out, "%-24s ", examples->rows[i].name);
        terminal_paragraph(out, examples->rows[i].doc, 25, terminal_breaks(out));
        fputc('\n', out);
    }
    fprintf(out, "\nnext  %s\n", command_again(NULL, "run smoke").text);
    fprintf(out, "      %s\n", command_again(NULL, "examples smoke FOLDER").text);
}

// ---- a copy ---------------------------------------------------------------------------------------------------------

typedef struct ExamplesCopy {
    const char *from, *to; // folders
    const char *names[EXAMPLES_FILES_MAX];
    int count;
    Arena *arena;
} ExamplesCopy;

// Adds the file `name` of the folder, unless there is none or it is there already.
static void examples_take(ExamplesCopy *copy, const char *name)
{
    FileWithin file;
    for (int i = 0; i < copy->count; i++) {
        if (strcmp(copy->names[i], name) == 0) return;
    }
    if (copy->count == EXAMPLES_FILES_MAX || file_open_within(copy->from, name, copy->arena, &file).kind != OK) return;
    file_close_within(&file);
    copy->names[copy->count++] = name;
}

// A word may be a file's name if it has an ending in letters and does not leave the folder.
static void examples_take_word(ExamplesCopy *copy, const char *word, size_t length, const char *folder)
{
    const char *name = arena_format(copy->arena, "%.*s", (int)length, word), *dot = strrchr(name, '.');
    while (strncmp(name, "./", 2) == 0) name += 2;
    if (dot == NULL || !isalpha((unsigned char)dot[1]) || strstr(name, "..") != NULL || name[0] == '/') return;
    examples_take(copy, name);
    if (folder[0] != '\0') examples_take(copy, arena_format(copy->arena, "%s%s", folder, name));
}

// The files that a text names outside of its comments, from the folder of the spec or from its own.
static void examples_take_named(ExamplesCopy *copy, const char *name, const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    const char *slash = strrchr(name, '/');
    const char *folder = slash != NULL ? arena_format(copy->arena, "%.*s", (int)(slash + 1 - name), name) : "";
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const char *end = text + length;
        for (const char *c = text; c < end;) {
            const bool comment = *c == '#' && (c == text || c[-1] == ' ');
            if (comment && strncmp(c, "# yaml-language-server", 22) != 0) break;
            size_t word = strspn(c, letters);
            if (word > 0) examples_take_word(copy, c, word, folder);
            c += word > 0 ? word : 1;
        }
        text = end + (*end == '\n');
    }
}

static Error examples_collect(ExamplesCopy *copy)
{
    static const char *const texts[] = {".yaml", ".sh", ".py", ".xml"}; // which may name other files
    for (int i = 0; i < copy->count; i++) {
        Bytes text;
        bool names = false;
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) names |= examples_ends(copy->names[i], texts[t]);
        if (!names) continue;
        TRY(shipped_read(copy->from, copy->names[i], copy->arena, &text));
        examples_take_named(copy, copy->names[i], (const char *)text.data);
    }
    return error_none();
}

// Whether `path` may be written: nothing is there, or the same already (*same).
static Error examples_room(const char *path, const Bytes *data, Arena *arena, bool *same)
{
    Bytes old;
    *same = false;
    if (file_missing(path) && !file_is_link(path)) return error_none();
    *same = file_read(path, SHIPPED_BYTES_MAX, arena, &old).kind == OK && old.size == data->size &&
            memcmp(old.data, data->data, old.size) == 0;
    if (*same) return error_none();
    return error_make(ERROR_USER, "%.300s exists, and is another file than the example's: name another folder", path);
}

// write false: only checks that all files have room.
static Error examples_write(const ExamplesCopy *copy, bool write, FILE *out)
{
    for (int i = 0; i < copy->count; i++) {
        const char *path = arena_format(copy->arena, "%s/%s", copy->to, copy->names[i]);
        const char *source = arena_format(copy->arena, "%s/%s", copy->from, copy->names[i]);
        struct stat status = {.st_mode = 0};
        Bytes data;
        bool same, standard;
        TRY(shipped_read(copy->from, copy->names[i], copy->arena, &data));
        TRY(examples_room(path, &data, copy->arena, &same));
        if (!write) continue;
        fprintf(out, "%s%s\n", path, same ? " (was there already)" : "");
        if (same) continue;
        TRY(folder_make(folder_of(path, copy->arena)));
        TRY(output_write(path, data.data, data.size, copy->arena, &standard));
        const bool program = stat(source, &status) == 0 && (status.st_mode & S_IXUSR) != 0;
        if (program) (void)chmod(path, 0755); // a file system without modes refuses
    }
    return error_none();
}

static Error examples_copy(const CommandLine *line, const Example *example, const char *to)
{
    ExamplesCopy copy = {.from = example->folder, .to = to, .arena = line->arena};
    const char *file = arena_format(line->arena, "%s.yaml", examples_file(example));
    examples_take(&copy, file);
    TRY(examples_collect(&copy));
    TRY(examples_write(&copy, false, line->out));
    TRY(examples_write(&copy, true, line->out));
    const char *path = arena_format(line->arena, "%s/%s", to, file);
    fprintf(line->out, "\nnext  %s check %s\n", command_program(line->arena), command_quoted(path, line->arena));
    return error_none();
}

static Error examples_run(const CommandLine *line)
{
    Examples examples;
    TRY(examples_read(line->arena, &examples));
    if (line->n_arguments == 0) {
        examples_list(&examples, line->out);
        return error_none();
    }
    const char *name = line->arguments[0];
    const Example *example = examples_find(&examples, name);
    if (example != NULL) return examples_copy(line, example, line->n_arguments > 1 ? line->arguments[1] : ".");
    const char *nearest = examples_like(&examples, name, line->arena);
    return error_make(ERROR_USER, "there is no example '%.60s'%s%s%s", name,
                      nearest != NULL ? "; did you mean '" : "; `hopscotch examples` lists them",
                      nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

void examples_name(const CommandLine *line)
{
    const char *given = line->n_arguments > 0 ? line->arguments[0] : "";
    CampaignLocation location;
    Examples examples;
    if (strncmp(line->command->arguments, "SPEC", 4) != 0 || !file_missing(given) || strchr(given, '.') != NULL) return;
    // `run NAME` runs the example again; with --name, and for other commands, NAME is the spec of the campaign.
    const bool again = strcmp(line->command->name, "run") == 0 && !switch_given(line, "name");
    if (!again && find_campaign(line->results, given, line->arena, &location).kind == OK) return;
    if (examples_read(line->arena, &examples).kind != OK) return;
    const Example *example = examples_find(&examples, given);
    if (example == NULL) return;
    line->arguments[0] = arena_format(line->arena, "%s%s.yaml", example->folder, examples_file(example));
    fprintf(line->messages, "there is no file %s here; this is the example ", given);
    put_visible(line->messages, line->arguments[0]);
    fputc('\n', line->messages);
}

const char *examples_nearest(const char *given, Arena *arena)
{
    const size_t length = strlen(given), end = strlen(".yaml");
    const bool yaml = length > end && strcmp(given + length - end, ".yaml") == 0;
    const char *name = arena_format(arena, "%.*s", (int)(length - (yaml ? end : 0)), given);
    Examples examples;
    if (length > 300 || strchr(name, '.') != NULL || name[0] == '/' || examples_read(arena, &examples).kind != OK)
        return NULL;
    return examples_like(&examples, name, arena);
}

const Command command_examples = {
    .name = "examples",
    .arguments = "[NAME [FOLDER]]",
    .doc = "list the experiments that come with the program, or copy one and the files that it names into FOLDER "
           "(default: this one)",
    .examples = "  hopscotch examples\n"
                "  hopscotch run smoke\n"
                "  hopscotch examples quadruped_law my_trot\n",
    .least = 0,
    .most = 2,
    .run = examples_run,
};
