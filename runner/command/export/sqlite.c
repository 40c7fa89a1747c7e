// Trials as a table of a SQLite database.
#include "formats.h"

static Error export_sqlite_row(void *taker, const Query *query, const Cursor *trial)
{
    (void)query;
    return trial_table_add(taker, trial);
}

static Error export_write_sqlite(const Export *export)
{
    const Query *query = export->query;
    TrialTable table;
    Error error = trial_table_open(export->path, &query->all, query->columns, query->count, export->arena, &table);
    if (error.kind == OK) error = query_each(query, export->arena, export_sqlite_row, &table);
    return trial_table_close(&table, error);
}

const ExportFormat export_sqlite = {.unordered = "a database", .write = export_write_sqlite};
