// Statements that a user wrote: they may read this database and compute.
#include "characters.h"
#include "clock.h"
#include "database_connection.h"
#include "diagnostics.h"

#include <stdlib.h>
#include <string.h>

// Functions that only compute. All others of SQLite (load_extension, pragma functions, fts3_tokenizer, ...) are
// refused.
static const char *const database_functions[] = {
    "abs",       "acos",         "acosh",        "asin",    "asinh",      "atan",    "atan2",       "atanh",
    "avg",       "ceil",         "ceiling",      "char",    "coalesce",   "cos",     "cosh",        "count",
    "cume_dist", "date",         "datetime",     "degrees", "dense_rank", "exp",     "first_value", "floor",
    "format",    "glob",         "group_concat", "hex",     "ifnull",     "iif",     "instr",       "julianday",
    "lag",       "last_value",   "lead",         "length",  "like",       "ln",      "log",         "log10",
    "log2",      "lower",        "ltrim",        "max",     "min",        "mod",     "nth_value",   "ntile",
    "nullif",    "percent_rank", "pi",           "pow",     "power",      "printf",  "quote",       "radians",
    "random",    "rank",         "replace",      "round",   "row_number", "rtrim",   "sign",        "sin",
    "sinh",      "sqrt",         "strftime",     "substr",  "substring",  "sum",     "tan",         "tanh",
    "time",      "total",        "trim",         "trunc",   "typeof",     "unicode", "unixepoch",   "upper"};

// SQLite's authorizer: allows to read this database and to compute. It is asked about what stands in a view too.
static int database_authorize(void *unused, int action, const char *first, const char *second, const char *schema,
                              const char *source)
{
    (void)unused, (void)schema, (void)source;
    if (action == SQLITE_SELECT || action == SQLITE_RECURSIVE) return SQLITE_OK;
    if (action == SQLITE_READ) return strncmp(first, "pragma_", 7) == 0 ? SQLITE_DENY : SQLITE_OK;
    for (size_t i = 0; action == SQLITE_FUNCTION && i < sizeof database_functions / sizeof *database_functions; i++) {
        if (sqlite3_stricmp(second, database_functions[i]) == 0) return SQLITE_OK;
    }
    return SQLITE_DENY;
}

#ifndef HOPSCOTCH_EXTENSION // which asks the program that loaded it
bool database_is_late(const DatabaseGuard *guard)
{
    return clock_seconds() > guard->deadline || (guard->interrupted != NULL && guard->interrupted() != 0);
}
#endif

static int database_ask(void *guard) { return database_is_late(guard); }

// SQLite's message, with the place in the text if SQLite gives one.
static Error database_user_error(const Database *database, const char *sql)
{
    const char *words = sqlite3_errmsg(database->handle);
    int offset = -1;
#if SQLITE_VERSION_NUMBER >= 3038000
    offset = sqlite3_error_offset(database->handle);
#endif
    if (offset < 0) return error_make(ERROR_USER, "--sql: %.300s", words);
    int line = 1, column = 1;
    for (int i = 0; i < offset && sql[i] != '\0'; i++) {
        column = sql[i] == '\n' ? 1 : column + utf8_begins(sql[i]);
        line += sql[i] == '\n';
    }
    const Excerpt excerpt = source_excerpt(sql, line, column, 1, 100);
    return error_make(ERROR_USER, "--sql: %.160s\n    %.120s\n    %.120s", words, excerpt.line, excerpt.caret);
}

Error database_prepare_guarded(Database *database, const char *sql, DatabaseGuard *guard, Statement **out)
{
    const char *tail = NULL;
    *out = NULL;
    Statement *statement = calloc(1, sizeof *statement);
    if (statement == NULL) return database_statement_error(database, SQLITE_NOMEM, sql);
    sqlite3_limit(database->handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_set_authorizer(database->handle, database_authorize, NULL);
    sqlite3_progress_handler(database->handle, 10000, database_ask, guard);
    database->guard = guard;
    statement->database = database;
    (void)sqlite3_db_config(database->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
    const int code = sqlite3_prepare_v2(database->handle, sql, -1, &statement->handle, &tail);
    const bool alone = tail == NULL || tail[strspn(tail, "; \t\r\n")] == '\0';
    if (code == SQLITE_OK && statement->handle != NULL && alone) {
        *out = statement;
        return error_none();
    }
    Error error = code != SQLITE_OK ? database_user_error(database, sql)
                                    : error_make(ERROR_USER, "--sql takes one SELECT statement, not several");
    if (code == SQLITE_AUTH)
        error = error_make(ERROR_USER, "--sql may only read and compute: %.200s", sqlite3_errmsg(database->handle));
    statement_close(statement);
    return error;
}

Error statement_step_guarded(Statement *statement, bool *row)
{
    const int code = sqlite3_step(statement->handle);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return error_none();
    if (code == SQLITE_INTERRUPT)
        return error_make(ERROR_USER, "--sql took too long: give it more time with --timeout SECONDS");
    TRY(database_block_error(statement->database));
    return error_make(ERROR_USER, "--sql: %.300s", sqlite3_errmsg(statement->database->handle));
}
