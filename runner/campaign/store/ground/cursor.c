// See cursor.h.
#include "cursor.h"

Cursor cursor_open(Database *database, const char *sql)
{
    Cursor cursor = {.statement = NULL};
    cursor.error = database_prepare(database, sql, &cursor.statement);
    return cursor;
}

Cursor cursor_open_guarded(Database *database, const char *sql, DatabaseGuard *guard)
{
    Cursor cursor = {.guarded = true};
    cursor.error = database_prepare_guarded(database, sql, guard, &cursor.statement);
    return cursor;
}

// The index of the next parameter; 0: after an error. A statement that stands on a row goes to its end first.
static int cursor_parameter(Cursor *cursor)
{
    while (cursor->row) cursor_next(cursor);
    return cursor->error.kind == OK ? ++cursor->given : 0;
}

void with_null(Cursor *cursor)
{
    const int index = cursor_parameter(cursor);
    if (index > 0) bind_null(cursor->statement, index);
}

void with_integer(Cursor *cursor, int64_t value)
{
    const int index = cursor_parameter(cursor);
    if (index > 0) bind_integer(cursor->statement, index, value);
}

void with_count(Cursor *cursor, int64_t value)
{
    if (value > 0)
        with_integer(cursor, value);
    else
        with_null(cursor);
}

void with_real(Cursor *cursor, double value)
{
    const int index = cursor_parameter(cursor);
    if (index > 0) bind_real(cursor->statement, index, value);
}

void with_text(Cursor *cursor, const char *value)
{
    const int index = cursor_parameter(cursor);
    if (index > 0) bind_text(cursor->statement, index, value);
}

void with_blob(Cursor *cursor, const void *data, size_t size)
{
    const int index = cursor_parameter(cursor);
    if (index > 0) bind_blob(cursor->statement, index, data, size);
}

void with_value(Cursor *cursor, const SqlValue *value)
{
    const int index = cursor_parameter(cursor);
    if (index > 0) bind_value(cursor->statement, index, value);
}

void with_cell(Cursor *cursor, const Cursor *row, int column)
{
    switch (cell_kind(row, column)) {
    case COLUMN_INTEGER: with_integer(cursor, cell_integer(row, column)); break;
    case COLUMN_REAL: with_real(cursor, cell_real(row, column)); break;
    case COLUMN_TEXT: with_text(cursor, cell_text(row, column)); break;
    case COLUMN_BLOB: with_blob(cursor, cell_blob(row, column).data, cell_blob(row, column).size); break;
    case COLUMN_NULL: with_null(cursor); break;
    }
}

bool cursor_next(Cursor *cursor)
{
    cursor->row = false;
    cursor->given = 0;
    if (cursor->error.kind != OK) return false;
    const Error error = cursor->guarded ? statement_step_guarded(cursor->statement, &cursor->row)
                                        : statement_step(cursor->statement, &cursor->row);
    cursor_stop(cursor, error);
    return cursor->row;
}

void cursor_stop(Cursor *cursor, Error error)
{
    if (error.kind == OK) return;
    if (cursor->error.kind == OK) cursor->error = error;
    cursor->row = false;
}

Error cursor_close(Cursor *cursor)
{
    statement_close(cursor->statement);
    cursor->statement = NULL;
    return cursor->error;
}

void cursor_forget(Cursor *cursor)
{
    cursor->error = error_none();
    cursor->given = 0;
}

Error cursor_run(Cursor *cursor)
{
    cursor_next(cursor);
    return cursor_close(cursor);
}

int cells_count(const Cursor *cursor) { return cursor->statement != NULL ? column_count(cursor->statement) : 0; }

const char *cells_name(const Cursor *cursor, int column) { return column_name(cursor->statement, column); }

bool next_integer(Cursor *cursor, int64_t *value)
{
    if (!cursor_next(cursor)) return false;
    *value = cell_integer(cursor, 0);
    return true;
}

bool next_real(Cursor *cursor, double *value)
{
    if (!cursor_next(cursor)) return false;
    *value = cell_real(cursor, 0);
    return true;
}

bool next_text(Cursor *cursor, const char **value)
{
    if (!cursor_next(cursor)) return false;
    *value = cell_text(cursor, 0);
    return true;
}
