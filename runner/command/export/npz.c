// Trials as NPZ, an array for each column.
#include "formats.h"

enum { EXPORT_TEXT_MAX = 256 };

typedef struct ExportNpz {
    Npz *npz;
    const NpzColumn *columns;
} ExportNpz;

static Error export_npz_row(void *taker, const Query *query, const Cursor *trial)
{
    const ExportNpz *npz = taker;
    for (int c = 0; c < query->count; c++) {
        switch (npz->columns[c].type) {
        case NPZ_REAL: TRY(npz_real(npz->npz, c, cell_real(trial, c))); break; // NaN if the value is missing
        case NPZ_INTEGER: TRY(npz_integer(npz->npz, c, cell_integer(trial, c))); break;
        case NPZ_TEXT: TRY(npz_text(npz->npz, c, cell_text(trial, c))); break;
        }
    }
    return error_none();
}

static Error export_npz_columns(const Query *query, Arena *arena, NpzColumn *columns)
{
    for (int c = 0; c < query->count; c++) {
        const int column = query->columns[c];
        int64_t width = 0;
        columns[c] =
            (NpzColumn){.name = query->names[c], .type = query->all.is_integer[column] ? NPZ_INTEGER : NPZ_REAL};
        if (!query->all.is_text[column]) continue;
        TRY(trials_widest(query->campaign->database, query->names[c], arena, &width));
        columns[c].type = NPZ_TEXT;
        columns[c].width = width < 1 ? 1 : width > EXPORT_TEXT_MAX ? EXPORT_TEXT_MAX : (int)width;
    }
    return error_none();
}

static Error export_write_npz(const Export *export)
{
    const Query *query = export->query;
    NpzColumn *columns = ARENA_NEW(export->arena, NpzColumn, query->count);
    ExportNpz npz = {.columns = columns};
    TRY(export_npz_columns(query, export->arena, columns));
    TRY(npz_open(export->file, columns, query->count, query_rows(query), export->arena, &npz.npz));
    TRY(query_each(query, export->arena, export_npz_row, &npz));
    return npz_finish(npz.npz);
}

const ExportFormat export_npz = {.unordered = "NPZ", .write = export_write_npz};
