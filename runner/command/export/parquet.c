// Trials as Parquet, a column for each.
#include "formats.h"

#include <stdlib.h>
#include <string.h>

// Columns are read a few at a time: a million rows of them take 128 MB.
enum { EXPORT_COLUMNS = 16, EXPORT_PART_BYTES = 1 << 30 }; // bytes: an upper bound

static Error export_parquet_part(const Query *query, QueryPart *part, Parquet *parquet, Arena *arena)
{
    part->values = ARENA_NEW(arena, double *, part->n);
    for (int c = 0; c < part->n; c++) part->values[c] = ARENA_NEW(arena, double, part->count);
    TRY(query_part(query, part, arena));
    for (int c = 0; c < part->n; c++)
        TRY(parquet_put(parquet, part->count, part->values[c], part->words, part->n_words));
    return error_none();
}

static Error export_parquet_rows(const Query *query, Parquet *parquet)
{
    const int64_t rows = query_rows(query);
    QueryPart part = {.count = PARQUET_ROWS, .n = EXPORT_COLUMNS};
    for (; part.from < rows; part.from += PARQUET_ROWS) {
        if (rows - part.from < part.count) part.count = rows - part.from;
        for (part.column = 0; part.column < query->count; part.column += EXPORT_COLUMNS) {
            Arena arena;
            part.n = query->count - part.column < EXPORT_COLUMNS ? query->count - part.column : EXPORT_COLUMNS;
            TRY(arena_create_growing(&arena, EXPORT_PART_BYTES, "columns of trials"));
            const Error error = export_parquet_part(query, &part, parquet, &arena);
            arena_destroy(&arena);
            if (error.kind != OK) return error;
        }
    }
    return error_none();
}

static Error export_parquet_columns(const Query *query, ParquetColumn *columns)
{
    for (int c = 0; c < query->count; c++) {
        const int column = query->columns[c];
        for (int before = 0; before < c; before++) {
            if (query->columns[before] == column)
                return error_make(ERROR_USER, "--columns: %.60s is given twice; a Parquet file has a column once",
                                  query->names[c]);
        }
        columns[c] = (ParquetColumn){.name = query->names[c],
                                     .type = query->all.is_text[column]      ? PARQUET_TEXT
                                             : query->all.is_integer[column] ? PARQUET_INTEGER
                                                                             : PARQUET_REAL,
                                     .required = column == 0}; // the id
    }
    return error_none();
}

// *text <- {"column": "unit"}, as JSON
static Error export_units(const Query *query, Arena *arena, const char **text)
{
    Json json;
    TextStream stream;
    TRY(text_stream_open("the units of columns", &stream));
    json_start(&json, stream.out, false);
    json_object(&json, NULL);
    for (int c = 0; c < query->count; c++)
        json_text(&json, query->names[c], rows_field(&query->campaign->spec, query->names[c]).unit);
    json_close(&json, '}');
    const Error error = text_stream_close(&stream);
    if (error.kind == OK) *text = arena_copy(arena, stream.text);
    free(stream.text);
    return error;
}

static Error export_write_parquet(const Export *export)
{
    const Query *query = export->query;
    const StoredCampaign *campaign = export->campaign;
    ParquetColumn *columns = ARENA_NEW(export->arena, ParquetColumn, query->count);
    Parquet *parquet;
    const char *units = NULL;
    TRY(export_parquet_columns(query, columns));
    TRY(export_units(query, export->arena, &units));
    const ParquetNote notes[] = {{"campaign", campaign->name},
                                 {"spec_hash", campaign->spec.hash.hex},
                                 {"program_version", campaign->program_version},
                                 {"model", campaign->spec.model->name},
                                 {"units", units}};
    TRY(parquet_open(export->file, columns, query->count, export->arena, &parquet));
    TRY(export_parquet_rows(query, parquet));
    return parquet_finish(parquet, "hopscotch version " HOPSCOTCH_VERSION, notes, (int)(sizeof notes / sizeof *notes));
}

const ExportFormat export_parquet = {.write = export_write_parquet};
