// The results root: names of campaigns, their folders, and index.db, the catalogue of all campaigns under one root. The
// catalogue is a convenience that can be rebuilt from the folders; losing it or failing to write it loses nothing.
#include "store.h"

#include <string.h>
#include <time.h>

Error campaign_folder(const char *results, const char *name, Arena *arena, const char **folder)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t length = strlen(name), good = strspn(name, allowed);
    if (length == 0 || length > 128) {
        return error_make(ERROR_USER, "a campaign's name has 1 to 128 characters, and \"%.140s\" has %zu", name,
                          length);
    }
    if (good < length) {
        return error_make(ERROR_USER,
                          "campaign \"%s\": a name is made of A-Z a-z 0-9 . _ and -, and character %zu is not", name,
                          good + 1);
    }
    if (name[0] == '.' || name[0] == '-') {
        return error_make(ERROR_USER, "campaign \"%s\": a name starts with a letter, a digit or _", name);
    }
    *folder = arena_format(arena, "%s/%s", results, name);
    return error_none();
}

// ---- index.db -------------------------------------------------------------------------------------------------------

static const char catalogue_schema[] =
    "CREATE TABLE IF NOT EXISTS campaigns(name TEXT PRIMARY KEY, experiment TEXT NOT NULL, model TEXT NOT NULL,\n"
    "  hash TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, trials INTEGER NOT NULL, trials_total INTEGER,\n"
    "  failures INTEGER NOT NULL, best_fitness REAL, best_trial INTEGER, program_version TEXT NOT NULL,\n"
    "  updated TEXT NOT NULL) STRICT, WITHOUT ROWID;";

static void catalogue_bind(Statement *statement, const CatalogueRow *row)
{
    bind_text(statement, 1, row->name);
    bind_text(statement, 2, row->experiment);
    bind_text(statement, 3, row->model);
    bind_text(statement, 4, row->hash);
    bind_text(statement, 5, row->state);
    bind_text(statement, 6, row->reason);
    bind_integer(statement, 7, row->trials);
    if (row->trials_total > 0)
        bind_integer(statement, 8, row->trials_total);
    else
        bind_null(statement, 8);
    bind_integer(statement, 9, row->failures);
    bind_real(statement, 10, row->best_fitness);
    if (row->best_trial >= 0)
        bind_integer(statement, 11, row->best_trial);
    else
        bind_null(statement, 11);
    bind_text(statement, 12, HOPSCOTCH_VERSION);
    bind_text(statement, 13, clock_utc().text);
}

static Error catalogue_replace(Database *database, const CatalogueRow *row)
{
    Statement *statement = NULL;
    bool more = false;
    TRY(database_run(database, catalogue_schema));
    TRY(database_prepare(database, "INSERT OR REPLACE INTO campaigns VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                         &statement));
    catalogue_bind(statement, row);
    const Error error = statement_step(statement, &more);
    statement_close(statement);
    return error;
}

// Campaigns under one root may end at the same moment. They write the catalogue one after the other, each for a few
// milliseconds, so that never two connections checkpoint it.
static Error catalogue_lock(const char *path, Lock *lock)
{
    Error error = lock_take(path, lock);
    for (int tries = 0; error.kind != OK && tries < 100; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        error = lock_take(path, lock);
    }
    return error;
}

static Error catalogue_write(const char *path, bool shared_fs, const CatalogueRow *row)
{
    Database *database = NULL;
    TRY(database_open(path, DATABASE_WRITE, &database));
    Error error = store_share(database, shared_fs);
    if (error.kind == OK) error = catalogue_replace(database, row);
    const Error closing = database_close(database);
    return error.kind != OK ? error : closing;
}

Error catalogue_update(const char *results, bool shared_fs, const CatalogueRow *row, Arena *arena)
{
    Lock lock = {.descriptor = -1};
    TRY(catalogue_lock(arena_format(arena, "%s/index.lock", results), &lock));
    const Error error = catalogue_write(arena_format(arena, "%s/" CATALOGUE_DATABASE, results), shared_fs, row);
    lock_release(&lock);
    return error;
}
