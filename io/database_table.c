// Tables of SQL over arrays of this program: SQLite's virtual tables (sqlite.org/vtab.html). SQLite asks for one value
// at a time and finds it in its array, so one INSERT ... SELECT stores a batch of rows without binding a value.
#include "database_table.h"

#include "database_connection.h"
#include "row_digest.h"

#include <string.h>

typedef struct DatabaseTable {
    sqlite3_vtab base;
    const MemoryTable *table;
} DatabaseTable;

typedef struct DatabaseTableCursor {
    sqlite3_vtab_cursor base;
    const MemoryTable *table;
    int64_t row;
} DatabaseTableCursor;

static inline const char *memory_word(const MemoryColumn *column, int64_t word)
{
    return column->words[word >= 0 && word < column->n_words ? word : column->n_words - 1];
}

// ---- the table ------------------------------------------------------------------------------------------------------

// CREATE TABLE t("a", "b", ...): the name of the table and types mean nothing here. NULL: not enough memory
static char *database_table_declaration(sqlite3 *handle, const MemoryTable *table)
{
    sqlite3_str *text = sqlite3_str_new(handle);
    for (int i = 0; i < table->n_columns; i++)
        sqlite3_str_appendf(text, "%s\"%w\"", i == 0 ? "CREATE TABLE t(" : ", ", table->columns[i].name);
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static int database_table_connect(sqlite3 *handle, void *given, int count, const char *const *arguments,
                                  sqlite3_vtab **out, char **message)
{
    (void)count, (void)arguments, (void)message;
    char *declaration = database_table_declaration(handle, given);
    DatabaseTable *table = sqlite3_malloc(sizeof *table);
    int code = declaration != NULL && table != NULL ? sqlite3_declare_vtab(handle, declaration) : SQLITE_NOMEM;
    if (code == SQLITE_OK) code = sqlite3_vtab_config(handle, SQLITE_VTAB_DIRECTONLY); // no schema of a file reads it
    sqlite3_free(declaration);
    if (code == SQLITE_OK) {
        *table = (DatabaseTable){.table = given};
        *out = &table->base;
    } else {
        sqlite3_free(table);
    }
    return code;
}

static int database_table_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

// All queries are scans.
static int database_table_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    const double rows = 1e5; // of a batch; the statement may be planned before there is one
    (void)table;
    plan->estimatedCost = rows;
    plan->estimatedRows = (sqlite3_int64)rows;
    return SQLITE_OK;
}

// ---- a scan ---------------------------------------------------------------------------------------------------------

static int database_table_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    DatabaseTableCursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (cursor == NULL) return SQLITE_NOMEM;
    *cursor = (DatabaseTableCursor){.table = ((DatabaseTable *)table)->table};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int database_table_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int database_table_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                                 sqlite3_value **values)
{
    DatabaseTableCursor *cursor = (DatabaseTableCursor *)base;
    (void)number, (void)text, (void)count, (void)values;
    cursor->row = cursor->table->first;
    return SQLITE_OK;
}

// A test can make a statement fail at any row.
static int database_table_next(sqlite3_vtab_cursor *cursor)
{
    ((DatabaseTableCursor *)cursor)->row++;
    return database_fault();
}

static int database_table_eof(sqlite3_vtab_cursor *base)
{
    const DatabaseTableCursor *cursor = (const DatabaseTableCursor *)base;
    return cursor->row >= cursor->table->end;
}

static int database_table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index)
{
    const DatabaseTableCursor *cursor = (const DatabaseTableCursor *)base;
    const MemoryColumn *column = &cursor->table->columns[index];
    const double real = column->kind == MEMORY_REAL ? column->reals[cursor->row] : 0;
    switch (column->kind) {
    case MEMORY_INTEGER: sqlite3_result_int64(context, column->integers[cursor->row]); break;
    case MEMORY_REAL: sqlite3_result_double(context, real == 0 ? 0.0 : real); break; // SQLite makes NaN NULL
    case MEMORY_WORD:
        sqlite3_result_text(context, memory_word(column, column->integers[cursor->row]), -1, SQLITE_STATIC);
        break;
    }
    return SQLITE_OK;
}

static int database_table_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    *id = ((DatabaseTableCursor *)cursor)->row;
    return SQLITE_OK;
}

static const sqlite3_module database_table_module = {.xCreate = database_table_connect,
                                                     .xConnect = database_table_connect,
                                                     .xBestIndex = database_table_plan,
                                                     .xDisconnect = database_table_disconnect,
                                                     .xDestroy = database_table_disconnect,
                                                     .xOpen = database_table_open,
                                                     .xClose = database_table_close,
                                                     .xFilter = database_table_filter,
                                                     .xNext = database_table_next,
                                                     .xEof = database_table_eof,
                                                     .xColumn = database_table_column,
                                                     .xRowid = database_table_rowid};

// In the schema `temp`, so that no table of the file can replace it.
Error database_add_table(Database *database, const char *name, MemoryTable *table)
{
    char sql[160];
    const int code = sqlite3_create_module_v2(database->handle, name, &database_table_module, table, NULL);
    sqlite3_snprintf(sizeof sql, sql, "CREATE VIRTUAL TABLE temp.\"%w\" USING \"%w\"", name, name);
    return code == SQLITE_OK ? database_run(database, sql) : database_statement_error(database, code, sql);
}

// ---- digests --------------------------------------------------------------------------------------------------------

void memory_table_digests(const MemoryTable *table, int64_t first, int64_t count, uint64_t *digests)
{
    memset(digests, 0, (size_t)count * sizeof *digests);
    for (int i = 0; i < table->n_columns; i++) {
        const MemoryColumn *column = &table->columns[i];
        switch (column->kind) {
        case MEMORY_INTEGER: row_digest_integers(digests, column->integers + first, count); break;
        case MEMORY_REAL: row_digest_reals(digests, column->reals + first, count); break;
        case MEMORY_WORD:
            for (int64_t row = 0; row < count; row++) {
                const char *word = memory_word(column, column->integers[first + row]);
                digests[row] = row_digest_text(digests[row], word, strlen(word));
            }
            break;
        }
    }
}
