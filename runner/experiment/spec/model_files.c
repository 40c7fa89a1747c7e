// Files that a model reads: robots, point clouds, tables. A spec names them, in its own folder or below, or by absolute
// paths in a folder that the user allows: a robot of an installed package, say. Their contents are part of the spec:
// their SHA-256 is kept with it, and a spec with a changed file is another spec. A campaign keeps copies, named by
// their digests, so that its folder can be copied anywhere.
#include "recording.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool files_is_recording(const char *holds) { return strcmp(holds, "recording") == 0; }

// ---- finding one ----------------------------------------------------------------------------------------------------

// The kept copy if the digest is known and a copy exists, else the file of that name.
static Error files_open(const char *folder, const SpecFile *file, Arena *arena, FileWithin *open)
{
    const bool known = file->digest.hex[0] != '\0';
    const char *kept = arena_format(arena, CAMPAIGN_FILES "/%s", file->digest.hex);
    if (known && !file_missing(arena_format(arena, "%s/%s", folder, kept)))
        return file_open_within(folder, kept, arena, open);
    if (file->root != NULL) return file_open_within(file->root, file->below, arena, open);
    if (file->name[0] == '/' && !known)
        return error_make(ERROR_USER,
                          "'%.200s' lies outside of the spec's folder; put it there, or allow a folder that holds it: "
                          "--allow-files %.200s",
                          text_visible(file->name, arena), text_visible(folder_of(file->name, arena), arena));
    if (known && file_missing(arena_format(arena, "%s/%s", folder, file->name)))
        return error_make(ERROR_USER,
                          "%.150s is not in %.150s, nor is a copy of it, " CAMPAIGN_FILES "/%.12s...: put "
                          "it there again",
                          file->name, folder, file->digest.hex);
    return file_open_within(folder, file->name, arena, open);
}

// Where the file and what it includes lie.
static const char *files_folder(const char *folder, const SpecFile *file)
{
    return file->root != NULL ? file->root : folder;
}

// Error (user): the digest is not the known one.
static Error files_check_digest(const SpecFile *file, const Sha256Text *digest)
{
    if (file->digest.hex[0] == '\0' || strcmp(digest->hex, file->digest.hex) == 0) return error_none();
    return error_make(ERROR_USER, "%.200s has changed: its SHA-256 is %.12s..., expected %.12s...", file->name,
                      digest->hex, file->digest.hex);
}

// The whole file, in its own arena, and its digest. Error (user): the digest is not the known one.
static Error files_load(const char *folder, const SpecFile *file, Arena *own, Bytes *bytes, Sha256Text *digest)
{
    Arena scratch;
    FileWithin open = {.descriptor = -1};
    TRY(arena_create(&scratch, (size_t)1 << 16, "the name of a file"));
    Error error = files_open(folder, file, &scratch, &open);
    const size_t size = (size_t)open.bytes;
    if (error.kind == OK && size > CLOUD_BYTES_MAX)
        error = error_make(ERROR_USER, "%.200s has %s, at most %s are allowed", file->name,
                           text_bytes((double)size).text, text_bytes((double)CLOUD_BYTES_MAX).text);
    if (error.kind == OK) error = arena_create(own, size + 65536, "a file that a model reads");
    if (error.kind == OK) {
        error = file_read_within(&open, size, own, bytes);
        if (error.kind != OK) arena_destroy(own);
    }
    file_close_within(&open);
    arena_destroy(&scratch);
    TRY(error);
    *digest = sha256_of(bytes->data, bytes->size);
    error = files_check_digest(file, digest);
    if (error.kind != OK) arena_destroy(own);
    return error;
}

// ---- robots ---------------------------------------------------------------------------------------------------------
// What counts of a robot's file is its text with the files that it includes: its digest, and the copy that is kept.

static bool files_is_robot(const Option *option)
{
    return option->type == OPTION_FILE && strcmp(option->choices, "robot") == 0;
}

static Error files_open_text(const char *folder, const SpecFile *file, int64_t most, Arena *arena, Source *source,
                             size_t *size)
{
    FileWithin open = {.descriptor = -1};
    Bytes bytes = {0};
    TRY(files_open(folder, file, arena, &open));
    TRY(file_read_within(&open, (size_t)most, arena, &bytes));
    *source = (Source){.file = open.path, .text = (const char *)bytes.data, .name = file->name};
    *size = bytes.size;
    return error_none();
}

static int files_option(const Model *model, const char *name, OptionType type)
{
    for (int i = 0; i < model->n_options; i++) {
        if (model->options[i].type == type && strcmp(model->options[i].name, name) == 0) return i;
    }
    return -1;
}

static RobotMeshes files_meshes(const Spec *spec)
{
    const int option = files_option(spec->model, "meshes", OPTION_CHOICE);
    return option >= 0 ? (RobotMeshes)spec->settings[option] : ROBOT_MESHES_REFUSE;
}

// The text of a robot's file, its text with what it includes, and the digest of that. Error (user): the file can't be
// read, or the digest is not the known one; `diagnostics` may hold more.
static Error files_load_robot(const Spec *spec, const char *folder, const SpecFile *file, Arena *arena,
                              Diagnostics *diagnostics, Source *source, const char **text, Sha256Text *digest)
{
    size_t size = 0;
    const char *in = files_folder(folder, file);
    TRY(files_open_text(folder, file, XML_BYTES_MAX, arena, source, &size));
    Source *kept = ARENA_NEW(arena, Source, 1); // diagnostics point to it
    *kept = *source;
    if (!source_check(kept, size, diagnostics) ||
        !robot_text_with_meshes(kept, in, files_meshes(spec), arena, diagnostics, text))
        return error_make(ERROR_USER, "%.200s can't be read", file->name);
    *digest = sha256_of(*text, strlen(*text));
    return files_check_digest(file, digest);
}

static RobotOptions files_robot_options(const Spec *spec)
{
    const int ignore = files_option(spec->model, "ignore", OPTION_WORDS);
    const int base = files_option(spec->model, "base", OPTION_CHOICE);
    RobotOptions options = {.meshes = files_meshes(spec)};
    if (base >= 0) options.base = (RobotBase)spec->settings[base];
    if (ignore < 0) return options;
    options.ignore = spec->option_points[ignore].names;
    options.n_ignore = (int)spec->option_points[ignore].count;
    return options;
}

static bool files_read_robot(SpecReader *reader, const char *folder, SpecFile *file, const Source *source,
                             Sha256Text digest, Points *points)
{
    RobotOptions options = files_robot_options(reader->spec);
    file->digest = digest;
    options.folder = files_folder(folder, file);
    const Robot *robot = robot_read(source, &options, reader->arena, reader->diagnostics);
    *points = (Points){.count = robot != NULL, .robot = robot};
    return robot != NULL;
}

const char *const *robot_frames(const SpecReader *reader, int *count)
{
    const Model *model = reader->spec->model;
    const Robot *robot = NULL;
    *count = 0;
    for (int i = 0; model != NULL && i < model->n_options && robot == NULL; i++)
        if (files_is_robot(&model->options[i])) robot = reader->spec->option_points[i].robot;
    if (robot == NULL || files_option(model, "frames", OPTION_WORDS) < 0) return NULL;
    const char **names = ARENA_NEW(reader->arena, const char *, robot->n_bodies + robot->n_sites);
    for (int i = 0; i < robot->n_bodies; i++) names[(*count)++] = robot->bodies[i].name;
    for (int i = 0; i < robot->n_sites; i++) names[(*count)++] = robot->sites[i].name;
    return names;
}

// ---- matrices, tables and recordings --------------------------------------------------------------------------------

static bool files_is_matrix(const Option *option)
{
    return option->type == OPTION_FILE &&
           (strcmp(option->choices, "matrix") == 0 || strcmp(option->choices, "table") == 0 ||
            files_is_recording(option->choices));
}

// Bytes that a recording may have (RECORDING_BYTES_MAX) are more than those of a matrix. *size: of the file.
static Error files_load_matrix(const char *folder, const SpecFile *file, SpecReader *reader, bool recording,
                               Source *source, size_t *size, Sha256Text *digest)
{
    const int64_t most = recording ? RECORDING_BYTES_MAX : POINTS_BYTES_MAX;
    TRY(files_open_text(folder, file, most, reader->arena, source, size));
    const bool text = !recording || !recorded_claims((Bytes){(unsigned char *)(uintptr_t)source->text, *size});
    if (text && !source_check(source, *size, reader->diagnostics))
        return error_make(ERROR_USER, "%.200s can't be read", file->name);
    *digest = sha256_of(source->text, *size);
    return files_check_digest(file, digest);
}

static bool files_read_matrix(SpecReader *reader, const Option *option, const SpecFile *file, const Node *at,
                              const Source *source, size_t size, Points *points)
{
    const Bytes data = {(unsigned char *)(uintptr_t)source->text, size};
    if (files_is_recording(option->choices) && recorded_claims(data))
        return recording_binary(reader, option, file->name, data, file->reading, at, points);
    return matrix_read(reader, source, option, file->reading, at, points);
}

// ---- what a model is configured by ----------------------------------------------------------------------------------

static bool files_read_content(SpecReader *reader, const Option *option, SpecFile *file, const Node *at, Points *points)
{
    const char *folder = reader->folder != NULL ? reader->folder : folder_of(reader->spec->file, reader->arena);
    const char *text = NULL;
    const int errors = diagnostics_errors(reader->diagnostics);
    const bool robot = files_is_robot(option);
    size_t size = 0;
    Sha256Text digest;
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    const Error error =
        robot ? files_load_robot(reader->spec, folder, file, reader->arena, reader->diagnostics, source, &text, &digest)
              : files_load_matrix(folder, file, reader, files_is_recording(option->choices), source, &size, &digest);
    if (error.kind == OK)
        return robot ? files_read_robot(reader, folder, file, source, digest, points)
                     : files_read_matrix(reader, option, file, at, source, size, points);
    if (diagnostics_errors(reader->diagnostics) == errors) diagnose(reader->diagnostics, at, "%s", error.text);
    if (reader->folder == NULL) reader->lost = error;
    return false;
}

bool files_read_contents(SpecReader *reader, SpecFile *files, Points *points)
{
    const Spec *spec = reader->spec;
    bool ok = true;
    for (int i = 0; i < spec->model->n_options; i++) {
        const Option *option = &spec->model->options[i];
        if ((!files_is_robot(option) && !files_is_matrix(option)) || files[i].name == NULL) continue;
        const GivenKey *given = given_find(reader, arena_format(reader->arena, "simulation.%s", option->name));
        ok &= files_read_content(reader, option, &files[i], given != NULL ? given->value : reader->root, &points[i]);
    }
    return ok;
}

// ---- reading the key ------------------------------------------------------------------------------------------------

static bool files_is_digest(const Node *node)
{
    return node->kind == NODE_SCALAR && strlen(node->text) == 64 && strspn(node->text, "0123456789abcdef") == 64;
}

// The name's node, and the digest if one is given; NULL after an error, or if there is no file.
static const Node *files_name(SpecReader *reader, const Key *key, const Node *node, Sha256Text *digest)
{
    const Node *name = node, *sha256 = NULL;
    if (node->kind == NODE_MAPPING) {
        name = node_find(node, "file");
        sha256 = node_find(node, "sha256");
        for (int i = 0; i < node->count && !files_is_recording(key->words); i++) {
            if (node->items[i] == name || node->items[i] == sha256) continue;
            diagnose(reader->diagnostics, node->keys[i], "unknown key '%s' in %s, expected file or sha256",
                     node->keys[i]->text, key_name(key));
            return NULL;
        }
    }
    if (name == NULL || name->kind != NODE_SCALAR || scalar_is_empty(name)) {
        key_mistyped(reader, key, node);
        return NULL;
    }
    if (node->kind == NODE_SCALAR && strcmp(node->text, "none") == 0) return NULL;
    if (sha256 != NULL && !files_is_digest(sha256)) {
        diagnose(reader->diagnostics, sha256, "sha256 is %s, expected 64 digits of 0-9 a-f",
                 scalar_given(sha256, reader->arena));
        return NULL;
    }
    for (const char *c = name->text; *c != '\0'; c++) {
        if ((unsigned char)*c >= ' ' && *c != 127) continue;
        key_mistyped(reader, key, name);
        return NULL;
    }
    if (sha256 != NULL) memcpy(digest->hex, sha256->text, sizeof digest->hex);
    return name;
}

// The digest that a resolved value {file: NAME, sha256: DIGEST} says of the file.
static void files_find_digest(const Node *value, SpecFile *file)
{
    if (value == NULL || value->kind != NODE_MAPPING) return;
    const Node *name = node_find(value, "file"), *sha256 = node_find(value, "sha256");
    if (name == NULL || sha256 == NULL || name->kind != NODE_SCALAR || strcmp(name->text, file->name) != 0) return;
    if (files_is_digest(sha256)) memcpy(file->digest.hex, sha256->text, sizeof file->digest.hex);
}

// A spec that was changed in a campaign's folder names files that lie there under their digests, which the resolved
// spec beside it knows: that of the key, and those of the cases that have another.
static void files_find_kept(const SpecReader *reader, const Key *key, SpecFile *file)
{
    static const char *const lists[] = {"cases", "validate"};
    const char *path = arena_format(reader->arena, "%s/resolved.yaml", reader->folder);
    Bytes bytes;
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    const bool there = !file_missing(arena_format(reader->arena, "%s/%s", reader->folder, file->name));
    if ((file->name[0] != '/' && there) || file_missing(path)) return;
    if (file_read_stored(path, RESOLVED_BYTES_MAX, reader->arena, &bytes).kind != OK) return;
    *source = (Source){.file = path, .text = (const char *)bytes.data, .most = RESOLVED_BYTES_MAX};
    const Node *root = yaml_parse(source, reader->arena, diagnostics_new(reader->arena)), *node = root;
    for (const char *word = key->path; node != NULL && node->kind == NODE_MAPPING && *word != '\0';) {
        const size_t length = strcspn(word, ".");
        node = node_find(node, arena_format(reader->arena, "%.*s", (int)length, word));
        word += length + (word[length] == '.');
    }
    files_find_digest(node, file);
    for (size_t k = 0; k < sizeof lists / sizeof *lists && root != NULL && root->kind == NODE_MAPPING; k++) {
        const Node *list = node_find(root, lists[k]);
        for (int i = 0; list != NULL && list->kind == NODE_SEQUENCE && i < list->count; i++)
            if (list->items[i]->kind == NODE_MAPPING) files_find_digest(node_find(list->items[i], key->path), file);
    }
}

// An absolute path in an allowed folder.
static void files_find_allowed(const SpecReader *reader, SpecFile *file)
{
    for (int i = 0; i < reader->allowed.count && file->name[0] == '/' && file->root == NULL; i++) {
        const char *root = reader->allowed.paths[i];
        size_t length = strlen(root);
        while (length > 0 && root[length - 1] == '/') length--;
        if (strncmp(file->name, root, length) != 0 || file->name[length] != '/') continue;
        file->root = root;
        file->below = file->name + length + strspn(file->name + length, "/");
    }
}

// A stored spec has no folder: it knows its files by their digests.
void files_read(SpecReader *reader, const Key *key, const Node *node)
{
    SpecFile file = {0};
    Sha256Text digest;
    Arena own;
    Bytes bytes = {0};
    const Node *name = node != NULL ? files_name(reader, key, node, &file.digest) : NULL;
    *(SpecFile *)key->at = (SpecFile){0};
    if (name == NULL) return;
    file.name = source_beside(name, reader->arena);
    if (files_is_recording(key->words)) file.reading = recording_read(reader, key, node);
    if (reader->folder == NULL && file.digest.hex[0] == '\0') {
        diagnose(reader->diagnostics, name,
                 "no file can be named here: only a spec that is a file itself has a folder");
        return;
    }
    if (reader->folder != NULL) files_find_allowed(reader, &file);
    if (reader->folder != NULL && file.digest.hex[0] == '\0') files_find_kept(reader, key, &file);
    if (reader->folder != NULL && strcmp(key->words, "robot") != 0) { // robots: files_read_contents
        const Error error = files_load(reader->folder, &file, &own, &bytes, &digest);
        if (error.kind != OK) {
            diagnose(reader->diagnostics, name, "%s", error.text);
            return;
        }
        arena_destroy(&own);
        file.digest = digest;
    }
    *(SpecFile *)key->at = file;
}

// ---- writing it -----------------------------------------------------------------------------------------------------

const char *files_text(const SpecFile *file, Arena *arena)
{
    if (file->name == NULL) return "none";
    const size_t size = 2 * strlen(file->name) + 1;
    char *escaped = arena_take(arena, size, 1), *p = escaped;
    for (const char *c = file->name; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') *p++ = '\\';
        *p++ = *c;
    }
    return arena_format(arena, "{file: \"%s\", sha256: \"%s\"%s}", escaped, file->digest.hex,
                        recording_text(file->reading, arena));
}

const char *files_identity(const SpecFile *file, Arena *arena)
{
    if (file->name == NULL) return "none";
    return arena_format(arena, "sha256:%s%s", file->digest.hex, recording_text(file->reading, arena));
}

// ---- what it holds --------------------------------------------------------------------------------------------------

static Error files_cloud(const char *name, Bytes bytes, Arena *arena, Points *out, int64_t *dropped)
{
    CloudFile cloud;
    TRY(cloud_parse(name, bytes, &cloud));
    const int64_t count = cloud.cloud.count;
    double *points = ARENA_NEW(arena, double, 3 * count);
    for (int a = 0; a < 3; a++) memcpy(points + a * count, cloud.cloud.at[a], (size_t)count * sizeof *points);
    *dropped += cloud.dropped;
    cloud_close(&cloud);
    *out = (Points){.cloud = points, .count = count};
    return error_none();
}

// Error (user): a line has two kinds of separators, so that a comma may be a decimal point.
static Error files_check_separators(const char *name, const char *at, const char *end)
{
    for (int line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL) stop = end;
        const int other = text_mixed_separators(at, (size_t)(stop - at));
        if (other > 0)
            return error_make(
                ERROR_USER,
                "%.160s:%d:%d: numbers are separated by another character than before: is ',' the decimal "
                "point? Write '.', and one kind of separator",
                name, line, other);
        at = stop < end ? stop + 1 : end;
    }
    return error_none();
}

// Numbers with white space or commas between them.
static Error files_numbers(const char *name, Bytes bytes, Arena *arena, Points *out, int64_t *dropped)
{
    (void)dropped;
    const char *at = (const char *)bytes.data, *end = at + bytes.size;
    double *numbers = ARENA_NEW(arena, double, POINTS_MAX);
    int64_t count = 0;
    for (;;) {
        while (at < end && (isspace((unsigned char)*at) || *at == ',')) at++;
        if (at == end) break;
        char *stop;
        const double number = strtod(at, &stop);
        if (stop == at || !isfinite(number) || count == POINTS_MAX)
            return error_make(ERROR_USER, "%.200s: expected up to %d numbers; number %lld is wrong", name, POINTS_MAX,
                              (long long)count + 1);
        numbers[count++] = number;
        at = stop;
    }
    *out = (Points){.numbers = numbers, .count = count};
    return files_check_separators(name, (const char *)bytes.data, end);
}

// by Option.choices
static const struct {
    const char *holds;
    Error (*read)(const char *name, Bytes bytes, Arena *arena, Points *out, int64_t *dropped);
} files_readers[] = {{"cloud", files_cloud}, {"numbers", files_numbers}};

static Error files_take(const char *folder, const SpecFile *file, const char *holds, Arena *arena, Points *out,
                        int64_t *dropped)
{
    Arena own;
    Bytes bytes = {0};
    Sha256Text digest;
    Error error = files_load(folder, file, &own, &bytes, &digest);
    if (error.kind != OK) return error;
    for (size_t i = 0; i < sizeof files_readers / sizeof *files_readers; i++) {
        if (strcmp(files_readers[i].holds, holds) == 0)
            error = files_readers[i].read(file->name, bytes, arena, out, dropped);
    }
    arena_destroy(&own);
    return error;
}

// ---- what the model builds ------------------------------------------------------------------------------------------

// Upper bound of the bytes of all files' points: a coordinate takes at least a byte in a file.
static Error files_room(const Spec *spec, const char *folder, size_t *bytes)
{
    Arena arena;
    TRY(arena_create(&arena, (size_t)1 << 20, "names of files"));
    Error error = error_none();
    *bytes = 65536;
    for (int i = 0; error.kind == OK && i < spec->model->n_options; i++) {
        FileWithin open = {.descriptor = -1};
        if (spec->files[i].name == NULL) continue;
        error = files_open(folder, &spec->files[i], &arena, &open);
        file_close_within(&open);
        if ((size_t)open.bytes > CLOUD_BYTES_MAX) continue; // it is refused when it is read
        *bytes += (size_t)open.bytes * 8 + (size_t)POINTS_MAX * 8 + 4096;
    }
    arena_destroy(&arena);
    return error;
}

static Error files_build(const Spec *spec, const char *folder, Arena *scratch, Arena *arena, Configured *out)
{
    const Model *model = spec->model;
    Points *points = ARENA_NEW(scratch, Points, model->n_options + model->n_lists);
    memcpy(points, spec->option_points, (size_t)(model->n_options + model->n_lists) * sizeof *points);
    for (int i = 0; i < model->n_options; i++) {
        if (spec->files[i].name == NULL || points[i].count > 0) continue; // configure had it
        out->wrong_option = i + 1;
        TRY(files_take(folder, &spec->files[i], model->options[i].choices, scratch, &points[i], &out->dropped));
    }
    out->wrong_option = 0;
    return model->build(spec->settings, points, arena, out);
}

static Error files_build_one(const Spec *spec, Arena *arena, Configured *out)
{
    Arena scratch;
    size_t bytes;
    if (spec->model->build == NULL || spec->configured.assets != NULL) return error_none();
    const char *folder = folder_of(spec->file, arena);
    TRY(files_room(spec, folder, &bytes));
    TRY(arena_create(&scratch, bytes, "what is read from files"));
    const Error error = files_build(spec, folder, &scratch, arena, out);
    arena_destroy(&scratch);
    return error;
}

Error spec_build(const Spec *spec, Arena *arena, Configured *out)
{
    Configured *cases = ARENA_NEW(arena, Configured, spec->configured.n_cases + 1);
    *out = spec->configured;
    for (int k = 0; k < spec->configured.n_cases; k++) {
        cases[k] = spec->configured.cases[k];
        TRY(files_build_one(spec_case(spec, k), arena, &cases[k]));
    }
    if (spec->configured.n_cases > 0) out->cases = cases;
    return files_build_one(spec, arena, out);
}

static Error files_keep_robot(const Spec *spec, const char *from, const SpecFile *file, const char *to, Arena *arena)
{
    Source source;
    Sha256Text digest;
    const char *text = NULL;
    TRY(files_load_robot(spec, from, file, arena, diagnostics_new(arena), &source, &text, &digest));
    TRY(folder_make(to));
    return file_write(to, file->digest.hex, text, strlen(text));
}

static Error files_keep(const Spec *spec, const char *from, const SpecFile *file, bool robot, const char *folder,
                        Arena *arena)
{
    Arena own;
    Bytes bytes = {0};
    Sha256Text digest;
    const char *to = arena_format(arena, "%s/" CAMPAIGN_FILES, folder);
    if (!file_missing(arena_format(arena, "%s/%s", to, file->digest.hex))) return error_none();
    if (robot) return files_keep_robot(spec, from, file, to, arena);
    TRY(files_load(from, file, &own, &bytes, &digest));
    Error error = folder_make(to);
    if (error.kind == OK) error = file_write(to, file->digest.hex, bytes.data, bytes.size);
    arena_destroy(&own);
    return error;
}

static Error files_keep_all(const Spec *spec, const char *from, const char *folder, Arena *arena)
{
    for (int i = 0; i < spec->model->n_options; i++) {
        if (spec->files[i].name != NULL)
            TRY(files_keep(spec, from, &spec->files[i], files_is_robot(&spec->model->options[i]), folder, arena));
    }
    return error_none();
}

const Spec *spec_with_files(const Spec *spec, int index)
{
    if (index == 0) return spec;
    if (index < spec->n_cases) return spec->cases[index].spec;
    index -= spec_fit_cases(spec);
    return index < spec->validate.n_held ? spec->validate.held[index].spec : NULL;
}

Error spec_keep_files(const Spec *spec, const char *folder)
{
    Arena arena;
    Error error = error_none();
    TRY(arena_create_growing(&arena, (size_t)1 << 28, "files that are kept"));
    const char *from = folder_of(spec->file, &arena);
    const Spec *own = spec;
    for (int k = 0; error.kind == OK && own != NULL; own = spec_with_files(spec, ++k))
        error = files_keep_all(own, from, folder, &arena);
    arena_destroy(&arena);
    return error;
}
