// A pack as a text (JSON). Its last line is the SHA-256 of all before, so that no byte can change unseen. Bytes are in
// base64: files as deflated, hashes and tags as they are.
#include "../ground/rows.h"
#include "pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void pack_put_bytes(Json *json, const char *name, const unsigned char *bytes, size_t size, Arena *arena)
{
    const size_t used = arena->used;
    char *text = ARENA_NEW(arena, char, BASE64_SIZE(size));
    base64_put(bytes, size, text);
    json_text(json, name, text);
    arena_rewind(arena, used);
}

// ---- its parts ------------------------------------------------------------------------------------------------------

static Error pack_deflate(const char *name, Bytes bytes, Arena *arena, Bytes *out)
{
    const size_t room = bytes.size + bytes.size / 100 + 1024;
    *out = (Bytes){.data = ARENA_NEW(arena, unsigned char, room)};
    if (bytes.size > 0) out->size = (size_t)bytes_deflate(bytes.data, (int64_t)bytes.size, out->data, (int64_t)room);
    if (out->size == 0 && bytes.size > 0) return error_make(ERROR_MACHINE, "not enough memory for %.200s", name);
    return error_none();
}

// Deflated as it is, or with its tables of numbers coded and then deflated, whichever is less. *packed <- its size.
static Error pack_put_deflated(Json *json, const char *name, Bytes bytes, Arena *arena, size_t *packed)
{
    const size_t used = arena->used;
    Bytes coded, text, table = {0};
    TRY(pack_deflate(name, bytes, arena, &text));
    coded_table_write(bytes, PACK_CODED_MAX, arena, &coded);
    if (coded.size > 0) TRY(pack_deflate(name, coded, arena, &table));
    const bool is_coded = coded.size > 0 && table.size < text.size;
    const Bytes *kept = is_coded ? &table : &text;
    json_integer(json, "bytes", (int64_t)bytes.size);
    if (is_coded) json_integer(json, "coded", (int64_t)coded.size);
    json_integer(json, "deflated", (int64_t)kept->size);
    pack_put_bytes(json, "base64", kept->data, kept->size, arena);
    *packed = BASE64_SIZE(kept->size);
    arena_rewind(arena, used);
    return error_none();
}

// Line by line, for people and for `diff`. One with recordings is deflated.
static Error pack_put_spec(Json *json, const char *spec, Arena *arena)
{
    const size_t size = strlen(spec);
    size_t packed = 0;
    if (size > PACK_SPEC_LINES) {
        const Bytes text = {.data = (unsigned char *)arena_copy(arena, spec), .size = size};
        json_object(json, "spec");
        TRY(pack_put_deflated(json, "the spec", text, arena, &packed));
        json_close(json, '}');
        return error_none();
    }
    json_array(json, "spec");
    for (char *rest = arena_copy(arena, spec), *end; rest != NULL; rest = end) {
        end = strchr(rest, '\n');
        if (end != NULL) *end++ = '\0';
        json_text(json, NULL, rest);
    }
    json_close(json, ']');
    return error_none();
}

static Error pack_put_file(Json *json, PackFile *file, Arena *arena)
{
    json_object(json, NULL);
    json_text(json, "name", file->name);
    json_text(json, "sha256", file->digest.hex);
    TRY(pack_put_deflated(json, file->name, file->bytes, arena, &file->packed));
    json_close(json, '}');
    return error_none();
}

static Error pack_put_files(Json *json, const Pack *pack, Arena *arena)
{
    json_array(json, "files");
    for (int i = 0; i < pack->n_files; i++) TRY(pack_put_file(json, &pack->files[i], arena));
    json_close(json, ']');
    return error_none();
}

// Infinite numbers, which JSON lacks, as texts; NaN as null.
static void pack_put_number(Json *json, const char *name, double value)
{
    if (isinf(value))
        json_text(json, name, value > 0 ? "inf" : "-inf");
    else
        json_number(json, name, rows_stored(value));
}

static void pack_put_row(Json *json, const Pack *pack, const Spec *spec, Arena *arena)
{
    MemoryTable table;
    rows_table_take(spec, arena, &table);
    rows_table_show(&pack->row, 0, 1, &table);
    json_object(json, "row");
    for (int c = 0; c < table.n_columns; c++) {
        const MemoryColumn *column = &table.columns[c];
        if (column->kind == MEMORY_REAL) {
            pack_put_number(json, column->name, column->reals[0]);
        } else if (column->kind == MEMORY_INTEGER) {
            json_integer(json, column->name, column->integers[0]);
        } else {
            const int64_t word = column->integers[0];
            const bool known = word >= 0 && word < column->n_words;
            json_text(json, column->name, column->words[known ? word : column->n_words - 1]);
        }
    }
    json_close(json, '}');
}

static void pack_put_states(Json *json, const PackStates *states, Arena *arena)
{
    json_object(json, "states");
    json_integer(json, "every", states->every);
    json_integer(json, "group", states->group);
    json_array(json, "rows");
    for (int r = 0; r < states->replicates; r++) json_integer(json, NULL, states->rows[r]);
    json_close(json, ']');
    json_array(json, "columns");
    for (int c = 0; c < states->n_columns; c++) json_text(json, NULL, states->columns[c]);
    json_close(json, ']');
    pack_put_bytes(json, "hashes", states->hash, (size_t)states->count * PACK_HASH, arena);
    pack_put_bytes(json, "tags", states->tag, (size_t)states->count * (size_t)states->n_tags * PACK_TAG, arena);
    json_close(json, '}');
}

static void pack_put_outcomes(Json *json, const PackStates *states, Arena *arena)
{
    json_object(json, "outcomes");
    json_integer(json, "count", states->outcomes);
    json_integer(json, "share", states->share);
    pack_put_bytes(json, "hashes", states->outcome, (size_t)states->outcomes * PACK_HASH, arena);
    json_close(json, '}');
}

static Error pack_put(const Pack *pack, const Spec *spec, FILE *out, Arena *arena)
{
    Json json;
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_integer(&json, PACK_KEY, pack->form);
    json_text(&json, "about", "a result and how it was computed; `hopscotch replay FILE` checks every bit of it");
    json_text(&json, "campaign", pack->campaign);
    json_integer(&json, "trial", pack->trial);
    json_integer(&json, "ordinal", (int64_t)pack->ordinal); // two's complement
    json_text(&json, "digest", pack->digest.hex);
    json_object(&json, "program");
    json_text(&json, "version", pack->version);
    json_text(&json, "commit", pack->commit);
    json_integer(&json, "numerics_version", pack->numerics_version);
    json_text(&json, "backend", pack->backend);
    json_text(&json, "processor", pack->processor);
    json_close(&json, '}');
    pack_put_row(&json, pack, spec, arena);
    json_text(&json, "spec_hash", pack->spec_hash);
    TRY(pack_put_spec(&json, pack->spec, arena));
    TRY(pack_put_files(&json, pack, arena));
    if (pack->states.replicates > 0) pack_put_states(&json, &pack->states, arena);
    if (pack->states.outcomes > 0) pack_put_outcomes(&json, &pack->states, arena);
    json_close(&json, '}');
    return error_none();
}

// ---- the whole ------------------------------------------------------------------------------------------------------

// Names what takes most. A recording that the model reads is a part of the spec.
static Error pack_too_large(const Pack *pack, size_t size)
{
    const PackStates *states = &pack->states;
    const PackFile *largest = NULL;
    const double states_take = (double)states->count * (double)(PACK_HASH + states->n_tags * PACK_TAG) * 4 / 3;
    double spec_takes = (double)size - states_take;
    for (int i = 0; i < pack->n_files; i++) {
        if (largest == NULL || pack->files[i].packed > largest->packed) largest = &pack->files[i];
        spec_takes -= (double)pack->files[i].packed;
    }
    const Text32 all = text_bytes((double)size), limit = text_bytes(PACK_BYTES_MAX);
    if (largest != NULL && (double)largest->packed > spec_takes && (double)largest->packed > states_take)
        return error_make(
            ERROR_USER,
            "the pack would have %s, at most %s are allowed: its file %.150s (%s) takes %s of it; use a "
            "file of fewer rows, or of numbers with fewer digits, or `export --crate`, which has no limit",
            all.text, limit.text, largest->name, text_bytes((double)largest->bytes.size).text,
            text_bytes((double)largest->packed).text);
    return error_make(
        ERROR_USER,
        "the pack would have %s, at most %s are allowed: its spec (%s, with the recordings in it) takes %s, "
        "its states %s; use recordings of fewer rows, or of numbers with fewer digits, or `export "
        "--crate`, which has no limit",
        all.text, limit.text, text_bytes((double)strlen(pack->spec)).text, text_bytes(spec_takes).text,
        text_bytes(states_take).text);
}

static Error pack_close_text(TextStream *stream, const Pack *pack, Arena *arena, Bytes *text)
{
    TRY(text_stream_close(stream));
    const size_t size = stream->size - strlen("\n}\n"); // this comes again behind the digest
    const Sha256Text digest = sha256_of(stream->text, size);
    char *whole = ARENA_NEW(arena, char, size + sizeof PACK_END_BEFORE + sizeof digest + sizeof PACK_END_AFTER);
    memcpy(whole, stream->text, size);
    const int end = sprintf(whole + size, PACK_END_BEFORE "%s" PACK_END_AFTER, digest.hex);
    *text = (Bytes){.data = (unsigned char *)whole, .size = size + (size_t)end};
    return text->size <= PACK_BYTES_MAX ? error_none() : pack_too_large(pack, text->size);
}

Error pack_write(const Pack *pack, const Spec *spec, Arena *arena, Bytes *text)
{
    TextStream stream;
    TRY(text_stream_open("a pack", &stream));
    const Error error = pack_put(pack, spec, stream.out, arena);
    const Error closed = pack_close_text(&stream, pack, arena, text);
    free(stream.text);
    return error.kind != OK ? error : closed;
}
