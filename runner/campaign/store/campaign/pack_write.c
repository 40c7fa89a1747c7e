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

// Line by line, for people and for `diff`.
static void pack_put_spec(Json *json, const char *spec, Arena *arena)
{
    json_array(json, "spec");
    for (char *rest = arena_copy(arena, spec), *end; rest != NULL; rest = end) {
        end = strchr(rest, '\n');
        if (end != NULL) *end++ = '\0';
        json_text(json, NULL, rest);
    }
    json_close(json, ']');
}

static Error pack_put_file(Json *json, const PackFile *file, Arena *arena)
{
    const size_t room = file->bytes.size + file->bytes.size / 100 + 1024;
    unsigned char *deflated = ARENA_NEW(arena, unsigned char, room);
    const int64_t bytes = file->bytes.size > 0
                              ? column_deflate(file->bytes.data, (int64_t)file->bytes.size, 1, deflated, (int64_t)room)
                              : 0;
    if (bytes == 0 && file->bytes.size > 0)
        return error_make(ERROR_MACHINE, "not enough memory for %.200s", file->name);
    json_object(json, NULL);
    json_text(json, "name", file->name);
    json_text(json, "sha256", file->digest.hex);
    json_integer(json, "bytes", (int64_t)file->bytes.size);
    json_integer(json, "deflated", bytes);
    pack_put_bytes(json, "base64", deflated, (size_t)bytes, arena);
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
    json_integer(&json, PACK_KEY, PACK_FORM);
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
    pack_put_spec(&json, pack->spec, arena);
    TRY(pack_put_files(&json, pack, arena));
    if (pack->states.replicates > 0) pack_put_states(&json, &pack->states, arena);
    if (pack->states.outcomes > 0) pack_put_outcomes(&json, &pack->states, arena);
    json_close(&json, '}');
    return error_none();
}

// ---- the whole ------------------------------------------------------------------------------------------------------

// Names what takes most.
static Error pack_too_large(const Pack *pack, size_t size)
{
    const PackStates *states = &pack->states;
    const PackFile *largest = NULL;
    const double row = (double)(PACK_HASH + states->n_tags * PACK_TAG) * 4 / 3;
    double most = (double)strlen(pack->spec);
    for (int i = 0; i < pack->n_files; i++) {
        if (largest == NULL || pack->files[i].bytes.size > largest->bytes.size) largest = &pack->files[i];
    }
    const Text32 all = text_bytes((double)size), limit = text_bytes(PACK_BYTES_MAX);
    if (largest != NULL && (double)largest->bytes.size > most &&
        (double)largest->bytes.size > (double)states->count * row)
        return error_make(ERROR_USER,
                          "the pack would have %s, at most %s are allowed: its file %.150s alone has %s; use a smaller "
                          "file, or `export --crate`, which has no limit",
                          all.text, limit.text, largest->name, text_bytes((double)largest->bytes.size).text);
    return error_make(ERROR_USER,
                      "the pack would have %s, at most %s are allowed: its spec has %s, its states %s; use `export "
                      "--crate`, which has no limit",
                      all.text, limit.text, text_bytes(most).text, text_bytes((double)states->count * row).text);
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
