// Trials as Parquet, a column for each.
#include "formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static Error export_parquet_row(void *taker, const Query *query, const Cursor *trial)
{
    Parquet *parquet = taker;
    for (int c = 0; c < query->count; c++) {
        const int column = query->columns[c];
        const double real = query->all.is_text[column] || query->all.is_integer[column] ? 0 : cell_real(trial, c);
        if (isnan(real) || cell_is_null(trial, c))
            parquet_null(parquet, c);
        else if (query->all.is_text[column])
            parquet_text(parquet, c, cell_text(trial, c));
        else if (query->all.is_integer[column])
            parquet_integer(parquet, c, cell_integer(trial, c));
        else
            parquet_real(parquet, c, real);
    }
    return parquet_next(parquet);
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
    char *written = NULL;
    size_t size;
    FILE *out = open_memstream(&written, &size);
    if (out == NULL) return error_make(ERROR_MACHINE, "not enough memory for units");
    json_start(&json, out, false);
    json_object(&json, NULL);
    for (int c = 0; c < query->count; c++)
        json_text(&json, query->names[c], rows_field(&query->campaign->spec, query->names[c]).unit);
    json_close(&json, '}');
    const bool closed = fclose(out) == 0;
    if (closed) *text = arena_copy(arena, written);
    free(written);
    return closed ? error_none() : error_make(ERROR_MACHINE, "not enough memory for units");
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
    TRY(parquet_open(export->file, columns, query->count, query_rows(query), export->arena, &parquet));
    TRY(query_each(query, export->arena, export_parquet_row, parquet));
    return parquet_finish(parquet, "hopscotch version " HOPSCOTCH_VERSION, notes, (int)(sizeof notes / sizeof *notes));
}

const ExportFormat export_parquet = {.write = export_write_parquet};
