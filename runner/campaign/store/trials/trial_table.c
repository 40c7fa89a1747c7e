// A database of its own with the table trials, for programs that read SQLite (queries.h). Nothing of it is safe on the
// disk before it is closed: it is a new file, which whoever writes it gives its name in the end.
#include "../queries.h"

static const char *trial_table_column(const TrialColumns *all, int column, Arena *arena)
{
    const char *type = all->is_text[column] ? "TEXT" : all->is_integer[column] ? "INTEGER" : "REAL";
    return arena_format(arena, "%s %s%s", sql_identifier(arena, all->names[column]), type,
                        column == 0 ? " PRIMARY KEY" : "");
}

static Error trial_table_make(Database *database, const TrialColumns *all, const int *columns, int count, Arena *arena,
                              Cursor *insert)
{
    const char *declared = "", *values = "";
    for (int c = 0; c < count; c++) {
        declared =
            arena_format(arena, "%s%s%s", declared, c > 0 ? ", " : "", trial_table_column(all, columns[c], arena));
        values = arena_format(arena, "%s%s", values, c > 0 ? ", ?" : "?");
    }
    TRY(database_run(database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"));
    TRY(database_run(database, arena_format(arena, "CREATE TABLE trials(%s) STRICT", declared)));
    *insert = cursor_open(database, arena_format(arena, "INSERT INTO trials VALUES(%s)", values));
    return insert->error;
}

Error trial_table_open(const char *path, const TrialColumns *all, const int *columns, int count, Arena *arena,
                       TrialTable *table)
{
    *table = (TrialTable){.count = count};
    TRY(database_open(path, DATABASE_WRITE, &table->database));
    return trial_table_make(table->database, all, columns, count, arena, &table->insert);
}

Error trial_table_add(TrialTable *table, const Cursor *trial)
{
    Cursor *insert = &table->insert;
    for (int c = 0; c < table->count; c++) with_cell(insert, trial, c);
    cursor_next(insert);
    return insert->error;
}

Error trial_table_close(TrialTable *table, Error error)
{
    if (table->database == NULL) return error;
    const Error inserted = cursor_close(&table->insert);
    if (error.kind == OK) error = inserted;
    if (error.kind == OK) error = database_run(table->database, "COMMIT");
    const Error closing = database_close(table->database);
    return error.kind == OK ? closing : error;
}
