// Transactions of a campaign's database, and single values of it.
#include "transaction.h"

#include "cursor.h"

#include <limits.h>
#include <string.h>

// The first column of the first row; `missing` if there is no row.
Error store_integer(Database *database, const char *sql, int64_t missing, int64_t *value)
{
    Cursor rows = cursor_open(database, sql);
    *value = cursor_next(&rows) ? cell_integer(&rows, 0) : missing;
    return cursor_close(&rows);
}

Error store_text(Database *database, const char *sql, Arena *arena, const char **value)
{
    Cursor rows = cursor_open(database, sql);
    *value = cursor_next(&rows) ? arena_copy(arena, cell_text(&rows, 0)) : NULL;
    return cursor_close(&rows);
}

// A statement without rows, with one text.
Error store_set_text(Database *database, const char *sql, const char *text)
{
    Cursor change = cursor_open(database, sql);
    with_text(&change, text);
    return cursor_run(&change);
}

Error store_begin(Store *store) { return database_run(store->database, "BEGIN IMMEDIATE"); }

// In whichever folder the database is now.
Error store_end_anywhere(Store *store, Error error)
{
    if (error.kind == OK) error = database_run(store->database, "COMMIT");
    if (error.kind != OK) {
        const Error rollback = database_run(store->database, "ROLLBACK");
        (void)rollback; // SQLite has rolled back by itself after most errors
        for (int i = 0; i < STORE_STATEMENTS; i++) cursor_forget(&store->statements[i]);
    }
    return error;
}

Error store_end(Store *store, Error error)
{
    return store_end_anywhere(store, error.kind == OK ? database_check_path(store->database) : error);
}

Error store_share(Database *database, bool shared_fs)
{
    if (!shared_fs) return error_none();
    return database_run(database, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; "
                                  "PRAGMA synchronous = EXTRA;");
}

CommandText store_how_to_repair(const Database *database, const char *name)
{
    char results[PATH_MAX]; // of RESULTS/NAME/campaign.db
    snprintf(results, sizeof results, "%s", database_path(database));
    for (int level = 0; level < 2; level++) {
        char *slash = strrchr(results, '/');
        if (slash != NULL) *slash = '\0';
    }
    return command_again(results, "doctor %.128s --repair", name);
}
