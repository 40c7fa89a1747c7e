// Any bytes as --where: an error, or SQL that contains no text of the user, and that SQLite accepts and runs on a table
// of trials.
#include "fuzz.h"

#include "../../io/database_connection.h"

static const char *const fuzz_numbers[] = {"id", "k_fp", "fitness", "odd \"name"}, *const fuzz_texts[] = {"failure"};

static sqlite3 *fuzz_database(void)
{
    static sqlite3 *database;
    if (database != NULL) return database;
    if (sqlite3_open(":memory:", &database) != SQLITE_OK || database_add_functions(database) != SQLITE_OK) abort();
    const char *sql = "CREATE TABLE trials(id INTEGER PRIMARY KEY, k_fp REAL, fitness REAL, \"odd \"\"name\" REAL, "
                      "failure TEXT NOT NULL) STRICT; INSERT INTO trials VALUES(0, 1.5, NULL, 0, 'fell'), "
                      "(1, 1e308, -1, 1, 'none'), (2, 0, 0.25, NULL, 'it''s')";
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) abort();
    return database;
}

static void fuzz_query(const char *where, const SqlValue *values, int count, Arena *arena)
{
    sqlite3_stmt *statement;
    const char *sql = arena_format(arena, "SELECT id FROM trials WHERE %s ORDER BY id", where);
    if (sqlite3_prepare_v2(fuzz_database(), sql, -1, &statement, NULL) != SQLITE_OK) abort();
    if (sqlite3_bind_parameter_count(statement) != count) abort();
    for (int i = 0; i < count; i++) {
        if (values[i].function != NULL)
            sqlite3_bind_pointer(statement, i + 1, (void *)(uintptr_t)values[i].function, SQL_FUNCTION, NULL);
        else if (values[i].is_text)
            sqlite3_bind_text(statement, i + 1, values[i].text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_double(statement, i + 1, values[i].number);
    }
    int rows = 0, code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) rows++;
    if (code != SQLITE_DONE || rows > 3) abort();
    sqlite3_finalize(statement);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const Scope scope = {.names = fuzz_numbers, .count = 4, .texts = fuzz_texts, .n_texts = 1};
    Arena *arena = fuzz_arena();
    char *text = fuzz_text(data, size);
    Expression *expression;
    const Error error = expression_parse_text(text, "--where", &scope, arena, &expression);
    fuzz_check_error(error);
    if (error.kind == OK) {
        const char *sql;
        SqlValue *values;
        int count;
        if (expression_sql(expression, arena, &sql, &values, &count).kind == OK) {
            if (strpbrk(sql, "';") != NULL || strstr(sql, "--") != NULL) abort();
            fuzz_query(sql, values, count, arena);
        }
    }
    free(text);
    return 0;
}
