// SQLite statements: their values and their rows.
#include "database_connection.h"
#include "row_digest.h"

#include <stdlib.h>
#include <string.h>

Error database_run(Database *database, const char *sql)
{
    int code = database_fault();
    if (code == SQLITE_OK) code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? error_none() : database_statement_error(database, code, sql);
}

// SQLite sorts an index in runs as large as its cache, and each run by merging linked lists. Runs that fit the
// processor's cache take half of the time of runs of 32 MiB (tests/bench/NOTES.md).
Error database_make_index(Database *database, const char *sql)
{
    TRY(database_run(database, "PRAGMA cache_size = -2048"));
    const Error error = database_run(database, sql);
    const Error restored = database_run(database, "PRAGMA cache_size = -32768");
    return error.kind != OK ? error : restored;
}

Error database_attach(Database *database, const char *path)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_check_files(path));
    TRY(database_prepare(database, "ATTACH ? AS other", &statement));
    bind_text(statement, 1, path);
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

Error database_detach(Database *database) { return database_run(database, "DETACH other"); }

Error database_prepare(Database *database, const char *sql, Statement **out)
{
    *out = NULL;
    Statement *statement = calloc(1, sizeof *statement);
    if (statement == NULL) return database_statement_error(database, SQLITE_NOMEM, sql);
    const int code = sqlite3_prepare_v3(database->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement->handle, NULL);
    if (code != SQLITE_OK) {
        free(statement);
        return database_statement_error(database, code, sql);
    }
    statement->database = database;
    *out = statement;
    return error_none();
}

const char *database_path(const Database *database) { return database->path; }

const char *database_schema(const Database *database) { return database->schema != NULL ? database->schema : "main"; }

bool database_has(const Database *database, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(database->handle, database_schema(database), table, column, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

static inline void statement_bound(Statement *statement, int code)
{
    if (code != SQLITE_OK && statement->bound == SQLITE_OK) statement->bound = code;
}

void bind_null(Statement *statement, int index)
{
    statement_bound(statement, sqlite3_bind_null(statement->handle, index));
}

void bind_integer(Statement *statement, int index, int64_t value)
{
    statement_bound(statement, sqlite3_bind_int64(statement->handle, index, value));
}

void bind_real(Statement *statement, int index, double value)
{
    statement_bound(statement, sqlite3_bind_double(statement->handle, index, value)); // SQLite makes NaN NULL
}

void bind_text(Statement *statement, int index, const char *value)
{
    statement_bound(statement, sqlite3_bind_text(statement->handle, index, value, -1, SQLITE_TRANSIENT));
}

void bind_blob(Statement *statement, int index, const void *data, size_t size)
{
    const void *bytes = data != NULL ? data : ""; // an empty blob is not NULL
    statement_bound(statement, sqlite3_bind_blob64(statement->handle, index, bytes, size, SQLITE_TRANSIENT));
}

void bind_value(Statement *statement, int index, const SqlValue *value)
{
    if (value->function != NULL)
        statement_bound(statement, sqlite3_bind_pointer(statement->handle, index, (void *)(uintptr_t)value->function,
                                                        SQL_FUNCTION, NULL));
    else if (value->is_text)
        bind_text(statement, index, value->text);
    else
        bind_real(statement, index, value->number);
}

// Our tables are STRICT, so a column that is declared as a number holds no text. An expression has no declared type.
static bool statement_find_texts(Statement *statement, int count)
{
    free(statement->texts);
    statement->texts = malloc(sizeof *statement->texts * ((size_t)count + 1));
    statement->n_columns = count;
    statement->n_texts = 0;
    for (int i = 0; statement->texts != NULL && i < count; i++) {
        const char *type = sqlite3_column_decltype(statement->handle, i);
        const bool number = type != NULL && (strcmp(type, "REAL") == 0 || strcmp(type, "INTEGER") == 0);
        if (!number) statement->texts[statement->n_texts++] = i;
    }
    return statement->texts != NULL;
}

// SQLite may need memory to end a text with a NUL. It is taken here, because a failure in column_text could not be
// distinguished from an empty text. Most columns of a trial are numbers: asking each for its type took a seventh of the
// time of a digest.
static int statement_take_texts(Statement *statement)
{
    sqlite3_stmt *handle = statement->handle;
    const int count = sqlite3_data_count(handle);
    const bool known = statement->texts != NULL && statement->n_columns == count;
    if (!known && !statement_find_texts(statement, count)) return SQLITE_NOMEM;
    for (int k = 0; k < statement->n_texts; k++) {
        const int i = statement->texts[k];
        if (sqlite3_column_type(handle, i) == SQLITE_TEXT && sqlite3_column_text(handle, i) == NULL)
            return SQLITE_NOMEM;
    }
    return SQLITE_ROW;
}

Error statement_step(Statement *statement, bool *row)
{
    int code = statement->bound;
    if (code == SQLITE_OK) code = database_fault();
    if (code == SQLITE_OK) code = sqlite3_step(statement->handle);
    if (code == SQLITE_ROW) code = statement_take_texts(statement);
    *row = code == SQLITE_ROW;
    if (*row) return error_none();
    const Error error = code == SQLITE_DONE
                            ? error_none()
                            : database_statement_error(statement->database, code, sqlite3_sql(statement->handle));
    sqlite3_reset(statement->handle); // its answer repeats the step's
    statement->bound = SQLITE_OK;
    return error;
}

void statement_close(Statement *statement)
{
    if (statement == NULL) return;
    sqlite3_finalize(statement->handle); // its answer repeats the last step's
    free(statement->texts);
    free(statement);
}

// ---- reading a row --------------------------------------------------------------------------------------------------

ColumnKind column_kind(Statement *statement, int index)
{
    switch (sqlite3_column_type(statement->handle, index)) {
    case SQLITE_INTEGER: return COLUMN_INTEGER;
    case SQLITE_FLOAT: return COLUMN_REAL;
    case SQLITE_NULL: return COLUMN_NULL;
    case SQLITE_BLOB: return COLUMN_BLOB;
    default: return COLUMN_TEXT;
    }
}

int column_count(Statement *statement) { return sqlite3_column_count(statement->handle); }

const char *column_name(Statement *statement, int index)
{
    const char *name = sqlite3_column_name(statement->handle, index);
    return name != NULL ? name : "";
}

bool column_is_null(Statement *statement, int index)
{
    return sqlite3_column_type(statement->handle, index) == SQLITE_NULL;
}

int64_t column_integer(Statement *statement, int index) { return sqlite3_column_int64(statement->handle, index); }

double column_real(Statement *statement, int index)
{
    const double value = sqlite3_column_double(statement->handle, index); // 0 for NULL
    return value == 0 && column_is_null(statement, index) ? (double)__builtin_nan("") : value;
}

const char *column_text(Statement *statement, int index)
{
    const unsigned char *text = sqlite3_column_text(statement->handle, index);
    return text != NULL ? (const char *)text : "";
}

Bytes column_blob(Statement *statement, int index)
{
    const void *data = sqlite3_column_blob(statement->handle, index); // before its size, as SQLite's manual asks
    const int size = sqlite3_column_bytes(statement->handle, index);
    return (Bytes){.data = (unsigned char *)(uintptr_t)data, .size = (size_t)size};
}

// ---- digests of rows ------------------------------------------------------------------------------------------------

static uint64_t database_value_digest(uint64_t digest, sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return row_digest_integer(digest, sqlite3_value_int64(value));
    case SQLITE_FLOAT: return row_digest_real(digest, sqlite3_value_double(value));
    case SQLITE_NULL: return row_digest_null(digest);
    default: break;
    }
    const bool text = sqlite3_value_type(value) == SQLITE_TEXT;
    const void *data = text ? (const void *)sqlite3_value_text(value) : sqlite3_value_blob(value);
    const size_t size = data != NULL ? (size_t)sqlite3_value_bytes(value) : 0;
    return text ? row_digest_text(digest, data, size) : row_digest_blob(digest, data, size);
}

uint64_t column_digest(Statement *statement, int first)
{
    uint64_t digest = 0;
    for (int i = first; i < sqlite3_column_count(statement->handle); i++) {
        digest = database_value_digest(digest, sqlite3_column_value(statement->handle, i));
    }
    return digest;
}

static void database_row_digest(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint64_t digest = (uint64_t)sqlite3_value_int64(values[0]);
    for (int i = 1; i < count; i++) digest = database_value_digest(digest, values[i]);
    sqlite3_result_int64(context, (sqlite3_int64)digest);
}

static SqlValue database_argument(sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT: return (SqlValue){.number = sqlite3_value_double(value) + 0.0}; // -0 -> 0
    case SQLITE_TEXT: break;
    default: return (SqlValue){.number = (double)__builtin_nan("")};
    }
    const char *text = (const char *)sqlite3_value_text(value);
    return (SqlValue){.is_text = true, .text = text != NULL ? text : ""};
}

// Only bind_value makes such a pointer: in a statement of a user the function gives NULL.
static void database_function_value(sqlite3_context *context, int count, sqlite3_value **values)
{
    SqlValue arguments[SQL_ARGUMENTS_MAX];
    const SqlFunction *function = count > 0 ? sqlite3_value_pointer(values[0], SQL_FUNCTION) : NULL;
    if (function == NULL || count > SQL_ARGUMENTS_MAX + 1) return;
    for (int i = 1; i < count; i++) arguments[i - 1] = database_argument(values[i]);
    sqlite3_result_double(context, function->value(function, arguments, count - 1));
}

int database_add_functions(sqlite3 *handle)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    const int code = sqlite3_create_function_v2(handle, "row_digest", -1, flags | SQLITE_INNOCUOUS, NULL,
                                                database_row_digest, NULL, NULL, NULL);
    if (code != SQLITE_OK) return code;
    return sqlite3_create_function_v2(handle, SQL_FUNCTION, -1, flags | SQLITE_DIRECTONLY, NULL,
                                      database_function_value, NULL, NULL, NULL);
}

// ---- names ----------------------------------------------------------------------------------------------------------

const char *sql_identifier(Arena *arena, const char *name)
{
    char *quoted = ARENA_NEW(arena, char, 2 * strlen(name) + 3), *at = quoted;
    *at++ = '"';
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"') *at++ = '"';
        *at++ = *c;
    }
    *at++ = '"';
    *at = '\0';
    return quoted;
}
