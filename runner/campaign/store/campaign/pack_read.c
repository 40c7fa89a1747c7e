// Opens a pack, which may come from anybody. Its text is bounded (PACK_BYTES_MAX), and its digest is checked before
// anything else is read. Its files are written into a private folder under their digests, never under names of the
// pack, and each must have its digest. JSON is read as YAML, with the limits of that.
#include "../ground/rows.h"
#include "pack.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PACK_FILE_BYTES_MAX ((int64_t)64 << 20)   // of one file, inflated
#define PACK_SPEC_BYTES_MAX ((int64_t)16 << 20)   // of the spec, inflated
#define PACK_FILES_BYTES_MAX ((int64_t)128 << 20) // of all

// A part of the text that is read.
typedef struct PackReader {
    const char *file;
    Arena *arena;
    Error error; // the first
} PackReader;

static void pack_wrong(PackReader *reader, const char *what, const char *key)
{
    if (reader->error.kind != OK) return;
    reader->error = error_make(ERROR_USER, "%.200s is no pack that this program can read: %s '%.60s'; ask for it again",
                               reader->file, what, text_visible(key, reader->arena));
}

// ---- values ---------------------------------------------------------------------------------------------------------

static const Node *pack_find(PackReader *reader, const Node *in, const char *key, NodeKind kind)
{
    const Node *node = node_find(in, key);
    if (node != NULL && node->kind == kind) return node;
    pack_wrong(reader, node == NULL ? "it lacks" : "of another kind is", key);
    return NULL;
}

static const char *pack_text(PackReader *reader, const Node *in, const char *key)
{
    const Node *node = pack_find(reader, in, key, NODE_SCALAR);
    if (node != NULL && !node->quoted) pack_wrong(reader, "no text is", key);
    return node != NULL ? node->text : "";
}

static int64_t pack_number_of(PackReader *reader, const Node *node, const char *key, int64_t low, int64_t high)
{
    char *end = NULL;
    const int64_t value = node != NULL && node->kind == NODE_SCALAR ? strtoll(node->text, &end, 10) : 0;
    const bool read = end != NULL && end != node->text && *end == '\0';
    if (!read || value < low || value > high) pack_wrong(reader, "no number in its range is", key);
    return reader->error.kind == OK ? value : low;
}

static int64_t pack_integer(PackReader *reader, const Node *in, const char *key, int64_t low, int64_t high)
{
    return pack_number_of(reader, pack_find(reader, in, key, NODE_SCALAR), key, low, high);
}

static double pack_real(PackReader *reader, const Node *in, const char *key)
{
    const Node *node = pack_find(reader, in, key, NODE_SCALAR);
    double value = (double)NAN;
    if (node == NULL || (!node->quoted && strcmp(node->text, "null") == 0)) return value;
    if (node->quoted && strcmp(node->text, "inf") == 0) return (double)INFINITY;
    if (node->quoted && strcmp(node->text, "-inf") == 0) return (double)-INFINITY;
    if (node->quoted || !text_to_number(node->text, &value)) pack_wrong(reader, "no number is", key);
    return value;
}

// A SHA-256 in hexadecimal digits.
static Sha256Text pack_digest(PackReader *reader, const Node *in, const char *key)
{
    Sha256Text digest = {""};
    const char *text = pack_text(reader, in, key);
    if (strlen(text) != sizeof digest.hex - 1 || strspn(text, "0123456789abcdef") != sizeof digest.hex - 1)
        pack_wrong(reader, "no SHA-256 is", key);
    else
        memcpy(digest.hex, text, sizeof digest.hex);
    return digest;
}

// [size]
static unsigned char *pack_bytes(PackReader *reader, const Node *in, const char *key, size_t size)
{
    const char *text = pack_text(reader, in, key);
    if (reader->error.kind == OK && strlen(text) != BASE64_SIZE(size) - 1)
        pack_wrong(reader, "too short or long is", key);
    if (reader->error.kind != OK) return NULL;
    unsigned char *bytes = ARENA_NEW(reader->arena, unsigned char, size + 1);
    if (!base64_get(text, bytes, size)) pack_wrong(reader, "no base64 is", key);
    return bytes;
}

// ---- parts ----------------------------------------------------------------------------------------------------------

// What pack_put_deflated wrote, of at most `most` bytes and then a zero.
static Bytes pack_read_deflated(PackReader *reader, const Node *at, const char *name, int64_t most)
{
    const bool is_coded = node_find(at, "coded") != NULL;
    const int64_t size = pack_integer(reader, at, "bytes", 0, most);
    const int64_t inflated = is_coded ? pack_integer(reader, at, "coded", 1, PACK_CODED_MAX) : size;
    const int64_t deflated = pack_integer(reader, at, "deflated", 0, PACK_BYTES_MAX);
    const unsigned char *bytes = pack_bytes(reader, at, "base64", (size_t)deflated);
    if (reader->error.kind == OK && inflated > deflated * DEFLATED_RATIO) pack_wrong(reader, "damaged is", name);
    if (reader->error.kind != OK) return (Bytes){0};
    unsigned char *text = ARENA_NEW(reader->arena, unsigned char, size + 1);
    const size_t used = reader->arena->used;
    unsigned char *raw = is_coded ? ARENA_NEW(reader->arena, unsigned char, inflated) : text;
    unsigned char *shuffled = ARENA_NEW(reader->arena, unsigned char, inflated + 1);
    if (inflated > 0 && !column_inflate(bytes, deflated, inflated, 1, shuffled, raw))
        pack_wrong(reader, "damaged is", name);
    if (is_coded && reader->error.kind == OK &&
        !coded_table_read((Bytes){.data = raw, .size = (size_t)inflated}, text, (size_t)size))
        pack_wrong(reader, "damaged is", name);
    arena_rewind(reader->arena, used);
    text[size] = '\0';
    return (Bytes){.data = text, .size = (size_t)size};
}

static const char *pack_read_spec(PackReader *reader, const Node *root)
{
    const Node *packed = node_find(root, "spec");
    if (packed != NULL && packed->kind == NODE_MAPPING) {
        const Bytes text = pack_read_deflated(reader, packed, "spec", PACK_SPEC_BYTES_MAX);
        if (reader->error.kind == OK && strlen((const char *)text.data) != text.size)
            pack_wrong(reader, "no text is", "spec");
        return reader->error.kind == OK ? (const char *)text.data : "";
    }
    const Node *lines = pack_find(reader, root, "spec", NODE_SEQUENCE);
    size_t size = 1;
    for (int i = 0; lines != NULL && i < lines->count; i++) {
        if (lines->items[i]->kind != NODE_SCALAR) pack_wrong(reader, "no list of lines is", "spec");
        size += lines->items[i]->kind == NODE_SCALAR ? strlen(lines->items[i]->text) + 1 : 0;
    }
    char *text = ARENA_NEW(reader->arena, char, size), *end = text;
    for (int i = 0; reader->error.kind == OK && i < lines->count; i++)
        end += sprintf(end, "%s%s", i > 0 ? "\n" : "", lines->items[i]->text);
    *end = '\0';
    return text;
}

static void pack_read_file(PackReader *reader, const Node *at, int64_t *left, PackFile *file)
{
    *file = (PackFile){.name = pack_text(reader, at, "name"), .digest = pack_digest(reader, at, "sha256")};
    file->bytes = pack_read_deflated(reader, at, file->name, *left < PACK_FILE_BYTES_MAX ? *left : PACK_FILE_BYTES_MAX);
    if (reader->error.kind != OK) return;
    if (strcmp(sha256_of(file->bytes.data, file->bytes.size).hex, file->digest.hex) != 0)
        pack_wrong(reader, "another SHA-256 has", file->name);
    *left -= (int64_t)file->bytes.size;
}

static void pack_read_files(PackReader *reader, const Node *root, Pack *pack)
{
    const Node *files = pack_find(reader, root, "files", NODE_SEQUENCE);
    int64_t left = PACK_FILES_BYTES_MAX;
    if (files != NULL && files->count > PACK_FILES_MOST) pack_wrong(reader, "too many are", "files");
    if (reader->error.kind != OK) return;
    pack->files = ARENA_NEW(reader->arena, PackFile, files->count);
    pack->n_files = files->count;
    for (int i = 0; i < files->count && reader->error.kind == OK; i++)
        pack_read_file(reader, files->items[i], &left, &pack->files[i]);
}

static void pack_read_states(PackReader *reader, const Node *root, PackStates *states)
{
    const Node *at = node_find(root, "states");
    if (at == NULL) return; // the model has no time
    const Node *rows = pack_find(reader, at, "rows", NODE_SEQUENCE);
    const Node *columns = pack_find(reader, at, "columns", NODE_SEQUENCE);
    states->every = pack_integer(reader, at, "every", 1, INT64_MAX / 2);
    states->group = (int)pack_integer(reader, at, "group", 1, INT32_MAX / 2);
    if (reader->error.kind == OK && (rows->count < 1 || rows->count > PACK_LANES || columns->count < 1))
        pack_wrong(reader, "of another size is", "states");
    if (reader->error.kind != OK) return;
    int64_t *counts = ARENA_NEW(reader->arena, int64_t, rows->count);
    for (int r = 0; r < rows->count; r++) {
        counts[r] = pack_number_of(reader, rows->items[r], "rows", 0, PACK_BYTES_MAX);
        states->count += counts[r];
    }
    const char **names = ARENA_NEW(reader->arena, const char *, columns->count);
    for (int c = 0; c < columns->count; c++) {
        names[c] = columns->items[c]->kind == NODE_SCALAR ? columns->items[c]->text : "";
    }
    states->replicates = rows->count;
    states->rows = counts;
    states->columns = names;
    states->n_columns = columns->count;
    states->n_tags = (int)(((int64_t)columns->count + states->group - 1) / states->group);
    states->hash = pack_bytes(reader, at, "hashes", (size_t)states->count * PACK_HASH);
    states->tag = pack_bytes(reader, at, "tags", (size_t)states->count * (size_t)states->n_tags * PACK_TAG);
}

static void pack_read_outcomes(PackReader *reader, const Node *root, PackStates *states)
{
    const Node *at = node_find(root, "outcomes");
    if (at == NULL) return; // each replicate has states
    states->outcomes = (int)pack_integer(reader, at, "count", 1, PACK_OUTCOMES);
    states->share = (int)pack_integer(reader, at, "share", 1, INT32_MAX / 2);
    states->outcome = pack_bytes(reader, at, "hashes", (size_t)states->outcomes * PACK_HASH);
}

static void pack_read_word(PackReader *reader, const Node *at, const MemoryColumn *column, int64_t *cell)
{
    const char *word = pack_text(reader, at, column->name);
    *cell = 0;
    while (*cell < column->n_words && strcmp(column->words[*cell], word) != 0) ++*cell;
    if (*cell >= column->n_words - 1) pack_wrong(reader, "an unknown word has", column->name); // the last is "unknown"
}

static void pack_read_row(PackReader *reader, const Node *root, const Spec *spec, Pack *pack)
{
    const Node *at = pack_find(reader, root, "row", NODE_MAPPING);
    MemoryTable table;
    rows_take(spec, 1, reader->arena, &pack->row);
    rows_table_take(spec, reader->arena, &table);
    for (int c = 0; c < table.n_columns && reader->error.kind == OK; c++) {
        const MemoryColumn *column = &table.columns[c];
        void *cell = rows_cells(&pack->row, c);
        if (column->kind == MEMORY_REAL)
            *(double *)cell = pack_real(reader, at, column->name);
        else if (column->kind == MEMORY_INTEGER)
            *(int64_t *)cell = pack_integer(reader, at, column->name, 0, INT64_MAX);
        else
            pack_read_word(reader, at, column, cell);
    }
    if (reader->error.kind == OK && (pack->row.search[0] > INT32_MAX || pack->row.round[0] > INT32_MAX))
        pack_wrong(reader, "too large is", "search");
    if (reader->error.kind == OK && spec_races(spec) &&
        (pack->row.replicates[0] < 1 || pack->row.replicates[0] > spec->replicates.count))
        pack_wrong(reader, "of another size is", "replicates");
    pack->row.count = 1;
    pack->trial = pack->row.id[0];
}

// ---- the whole ------------------------------------------------------------------------------------------------------

// What stands before the last line, if that is its SHA-256.
static Error pack_check_digest(const char *file, Bytes text, size_t *size)
{
    enum {
        HEX = sizeof((Sha256Text *)0)->hex - 1,
        BEFORE = sizeof PACK_END_BEFORE - 1,
        AFTER = sizeof PACK_END_AFTER - 1
    };
    const char *all = (const char *)text.data;
    const bool long_enough = text.size > BEFORE + HEX + AFTER;
    *size = long_enough ? text.size - (BEFORE + HEX + AFTER) : 0;
    const char *end = all + *size;
    if (long_enough && memcmp(end, PACK_END_BEFORE, BEFORE) == 0 &&
        memcmp(end + BEFORE + HEX, PACK_END_AFTER, AFTER) == 0 &&
        memcmp(sha256_of(all, *size).hex, end + BEFORE, HEX) == 0)
        return error_none();
    if (memmem(all, text.size, PACK_KEY, sizeof PACK_KEY - 1) == NULL)
        return error_make(ERROR_USER, "%.300s is no pack: name a file that `pack` wrote, or a trial as CAMPAIGN/TRIAL",
                          file);
    return error_make(ERROR_USER,
                      "%.300s is damaged: its last line is not the SHA-256 of what stands before it; get the file "
                      "again, by a way that changes no byte",
                      file);
}

static void pack_read_head(PackReader *reader, const Node *root, Pack *pack)
{
    const Node *program = pack_find(reader, root, "program", NODE_MAPPING);
    const int64_t form = pack_integer(reader, root, PACK_KEY, 1, INT32_MAX);
    if (reader->error.kind == OK && form > PACK_FORM)
        reader->error =
            error_make(ERROR_USER, "%.200s has form %d of packs, and this program reads forms 1 to %d: use a newer one",
                       reader->file, (int)form, PACK_FORM);
    if (reader->error.kind != OK) return;
    pack->form = (int)form;
    pack->version = text_visible(pack_text(reader, program, "version"), reader->arena);
    pack->numerics_version = (int)pack_integer(reader, program, "numerics_version", 0, INT32_MAX);
    pack->backend = text_visible(pack_text(reader, program, "backend"), reader->arena);
    pack->processor = text_visible(pack_text(reader, program, "processor"), reader->arena);
    pack->campaign = pack_text(reader, root, "campaign");
    pack->trial = pack_integer(reader, root, "trial", 0, INT64_MAX);
    pack->ordinal = (uint64_t)pack_integer(reader, root, "ordinal", INT64_MIN, INT64_MAX);
    pack->digest = pack_digest(reader, root, "digest");
    pack->spec_hash = pack_digest(reader, root, "spec_hash").hex[0] != '\0' ? pack_text(reader, root, "spec_hash") : "";
    pack->spec = pack_read_spec(reader, root);
}

// The private folder, as that of a campaign.
static Error pack_unfold(Pack *pack, Arena *arena)
{
    TRY(folder_make_private(arena, &pack->folder));
    const char *files = arena_format(arena, "%s/" CAMPAIGN_FILES, pack->folder);
    if (pack->n_files > 0) TRY(folder_add(files));
    for (int i = 0; i < pack->n_files; i++)
        TRY(file_write(files, pack->files[i].digest.hex, pack->files[i].bytes.data, pack->files[i].bytes.size));
    return error_none();
}

static Error pack_check_model(const char *file, const Spec *spec)
{
    if (spec->model->runs_program || spec->model->by_hand)
        return error_make(ERROR_USER,
                          "%.200s has a trial of model %s, and nobody but its program or people can repeat it", file,
                          spec->model->name);
    return error_none();
}

// The spec, then what only it gives a meaning.
static Error pack_read_meaning(PackReader *reader, const Node *root, StoredCampaign *out)
{
    Pack *pack = out->pack;
    Arena *arena = reader->arena;
    Diagnostics *diagnostics = diagnostics_new(arena);
    const int64_t trial = pack->trial;
    const Error error = spec_parse(arena_format(arena, "%s/resolved.yaml", pack->folder), pack->spec, NULL, 0, arena,
                                   diagnostics, &out->spec);
    if (error.kind == ERROR_USER)
        return error_make(ERROR_USER,
                          "the spec in %.150s can't be read by this program (version %s, the file's is %.20s): %.200s",
                          reader->file, HOPSCOTCH_VERSION, pack->version, error.text);
    TRY(error);
    TRY(pack_check_model(reader->file, &out->spec));
    TRY(campaign_check_meaning(out));
    pack_read_row(reader, root, &out->spec, pack);
    if (reader->error.kind == OK && pack->trial != trial) pack_wrong(reader, "another number has", "trial");
    return reader->error;
}

static Error pack_read_tree(PackReader *reader, const Node *root, StoredCampaign *out)
{
    Pack *pack = out->pack;
    pack_read_head(reader, root, pack);
    TRY(reader->error);
    *out = (StoredCampaign){.pack = pack,
                            .name = text_visible(pack->campaign, reader->arena),
                            .numerics_version = pack->numerics_version,
                            .program_version = pack->version,
                            .hash = pack->spec_hash};
    if (pack->numerics_version != NUMERICS_VERSION) // its numbers mean something else, and so may its spec
        return error_make(ERROR_USER,
                          "%.200s was computed with numerics version %d and this program has version %d, which gives "
                          "other bits: replay it with hopscotch %.20s",
                          reader->file, pack->numerics_version, NUMERICS_VERSION, pack->version);
    pack_read_files(reader, root, pack);
    pack_read_states(reader, root, &pack->states);
    pack_read_outcomes(reader, root, &pack->states);
    TRY(reader->error);
    TRY(pack_unfold(pack, reader->arena));
    out->folder = pack->folder;
    return pack_read_meaning(reader, root, out);
}

Error pack_open_text(const char *file, Bytes text, Arena *arena, StoredCampaign *out)
{
    size_t size = 0;
    PackReader reader = {.file = text_visible(file, arena), .arena = arena};
    *out = (StoredCampaign){.pack = ARENA_NEW(arena, Pack, 1)};
    *out->pack = (Pack){.campaign = NULL};
    TRY(pack_check_digest(reader.file, text, &size));
    char *json = ARENA_NEW(arena, char, text.size + 1);
    memcpy(json, text.data, text.size);
    json[text.size] = '\0';
    const Source source = {.file = reader.file, .text = json, .most = PACK_BYTES_MAX};
    Diagnostics *diagnostics = diagnostics_new(arena);
    const Node *root = source_check(&source, text.size, diagnostics) ? yaml_parse(&source, arena, diagnostics) : NULL;
    if (root == NULL || root->kind != NODE_MAPPING || diagnostics_errors(diagnostics) > 0)
        pack_wrong(&reader, "JSON is wrong in", file);
    TRY(reader.error);
    const Error error = pack_read_tree(&reader, root, out);
    if (error.kind != OK) pack_close(out);
    return error;
}

Error pack_open(const char *path, Arena *arena, StoredCampaign *out)
{
    Bytes text;
    int64_t size;
    TRY(file_size(path, &size)); // a pipe would be waited for
    TRY(file_read(path, PACK_BYTES_MAX, arena, &text));
    return pack_open_text(path, text, arena, out);
}

void pack_close(StoredCampaign *campaign)
{
    Arena arena;
    if (campaign->pack == NULL || campaign->pack->folder == NULL) return;
    if (arena_create(&arena, (size_t)1 << 20, "the files of a pack").kind == OK) {
        const Error error = folder_remove(campaign->pack->folder, &arena);
        (void)error; // it is in the folder for temporary files
        arena_destroy(&arena);
    }
    campaign->pack->folder = NULL;
}

const char *pack_columns(const PackStates *states, const bool *differ, Arena *arena)
{
    enum { SHOWN = 3 };
    const char *text = "";
    int count = 0;
    for (int c = 0; c < states->n_columns; c++) {
        if (!differ[c / states->group] || count++ >= SHOWN) continue;
        text = arena_format(arena, "%s%s%.60s", text, count > 1 ? ", " : "", text_visible(states->columns[c], arena));
    }
    return count > SHOWN ? arena_format(arena, "%s and %d more", text, count - SHOWN) : text;
}
