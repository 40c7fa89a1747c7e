// Runs statements of SQL and reads their rows (cursor.c):
//
//     Cursor trials = cursor_open(database, "SELECT id, fitness FROM trials WHERE search = ?");
//     with_integer(&trials, search);
//     while (cursor_next(&trials)) printf("%lld: %g\n", cell_integer(&trials, 0), cell_real(&trials, 1));
//     return cursor_close(&trials);
//
// A cursor keeps its first error, also that of opening: after an error there are no rows, and cursor_close gives it.
// Only files of this folder open cursors; queries.h says which rows each gives.
#ifndef HOPSCOTCH_CURSOR_H
#define HOPSCOTCH_CURSOR_H

#include "../../../../io/io.h"

typedef struct Cursor {
    Statement *statement;
    int given; // values bound since the last step
    bool row;  // it stands on a row
    bool guarded;
    Error error;
} Cursor;

// A statement of ours. An error shows at the first cursor_next, and cursor_close gives it.
Cursor cursor_open(Database *database, const char *sql);
// A user's own SELECT (io.h: database_prepare_guarded).
Cursor cursor_open_guarded(Database *database, const char *sql, DatabaseGuard *guard);

// Bind the values of the question marks, in their order. After a row or the end, binding starts the statement again.
void with_null(Cursor *cursor);
void with_integer(Cursor *cursor, int64_t value);
void with_count(Cursor *cursor, int64_t value); // NULL unless it is positive
void with_real(Cursor *cursor, double value);   // NaN is stored as NULL
void with_text(Cursor *cursor, const char *value);
void with_blob(Cursor *cursor, const void *data, size_t size);
void with_value(Cursor *cursor, const SqlValue *value);
void with_cell(Cursor *cursor, const Cursor *row, int column); // the value of a cell of another statement's row

bool cursor_next(Cursor *cursor);              // false: no more rows, or an error
void cursor_stop(Cursor *cursor, Error error); // keeps the error, after which there are no more rows; no error: nothing
Error cursor_close(Cursor *cursor);            // gives the first error of all calls
void cursor_forget(Cursor *cursor);            // clears the error of a statement that outlives its transaction
Error cursor_run(Cursor *cursor);              // a statement without rows: steps and closes

// Cells of the current row, by column from 0. Texts and bytes are valid until the next step.
static inline int64_t cell_integer(const Cursor *row, int column) { return column_integer(row->statement, column); }
static inline double cell_real(const Cursor *row, int column) { return column_real(row->statement, column); }
static inline const char *cell_text(const Cursor *row, int column) { return column_text(row->statement, column); }
static inline bool cell_is_null(const Cursor *row, int column) { return column_is_null(row->statement, column); }
static inline Bytes cell_blob(const Cursor *row, int column) { return column_blob(row->statement, column); }
static inline ColumnKind cell_kind(const Cursor *row, int column) { return column_kind(row->statement, column); }
static inline uint64_t cells_digest(const Cursor *row, int first) { return column_digest(row->statement, first); }
// The columns, with or without a current row.
int cells_count(const Cursor *cursor);
const char *cells_name(const Cursor *cursor, int column);

// Rows of one column.
bool next_integer(Cursor *cursor, int64_t *value);
bool next_real(Cursor *cursor, double *value);
bool next_text(Cursor *cursor, const char **value);

#endif
