// The results root: names of campaigns, their folders, and index.db, the catalogue of all campaigns under one root. The
// catalogue is a convenience that can be rebuilt from the folders; losing it or failing to write it loses nothing.
#include "catalogue.h"

#include "integrity.h"
#include "rows.h"
#include "store.h"

#include <math.h>
#include <string.h>
#include <time.h>

Error campaign_folder(const char *results, const char *name, Arena *arena, const char **folder)
{
    TRY(campaign_name_check(name));
    *folder = arena_format(arena, "%s/%s", results, name);
    return error_none();
}

// ---- index.db -------------------------------------------------------------------------------------------------------

static const char catalogue_schema[] =
    "CREATE TABLE IF NOT EXISTS campaigns(name TEXT PRIMARY KEY, experiment TEXT NOT NULL, model TEXT NOT NULL,\n"
    "  hash TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, trials INTEGER NOT NULL, trials_total INTEGER,\n"
    "  failures INTEGER NOT NULL, best_fitness REAL, best_trial INTEGER, program_version TEXT NOT NULL,\n"
    "  updated TEXT NOT NULL) STRICT, WITHOUT ROWID;";

static Error catalogue_replace(Database *database, const CatalogueRow *row)
{
    const char *const texts[] = {row->name, row->experiment, row->model, row->hash, row->state, row->reason};
    TRY(database_run(database, catalogue_schema));
    Cursor replace =
        cursor_open(database, "INSERT OR REPLACE INTO campaigns VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) with_text(&replace, texts[i]);
    with_integer(&replace, row->trials);
    with_count(&replace, row->trials_total);
    with_integer(&replace, row->failures);
    with_real(&replace, row->best_fitness);
    if (row->best_trial >= 0)
        with_integer(&replace, row->best_trial);
    else
        with_null(&replace);
    with_text(&replace, HOPSCOTCH_VERSION);
    with_text(&replace, clock_utc().text);
    return cursor_run(&replace);
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

// ---- from the folders -----------------------------------------------------------------------------------------------

static Error catalogue_read_campaign(Database *database, Arena *arena, CatalogueRow *row)
{
    Cursor campaign =
        cursor_open(database, "SELECT experiment, model, hash, state, reason, trials_total FROM campaign");
    const bool there = cursor_next(&campaign);
    if (there) {
        row->experiment = arena_copy(arena, cell_text(&campaign, 0));
        row->model = arena_copy(arena, cell_text(&campaign, 1));
        row->hash = arena_copy(arena, cell_text(&campaign, 2));
        row->state = arena_copy(arena, cell_text(&campaign, 3));
        row->reason = cell_is_null(&campaign, 4) ? NULL : arena_copy(arena, cell_text(&campaign, 4));
        row->trials_total = cell_integer(&campaign, 5);
    }
    TRY(cursor_close(&campaign));
    return there ? error_none() : store_row_lost(database, row->name);
}

static Error catalogue_read_trials(Database *database, CatalogueRow *row)
{
    Cursor batches = cursor_open(database, "SELECT ifnull(sum(trials), 0), ifnull(sum(failures), 0) FROM batches");
    if (next_integer(&batches, &row->trials)) row->failures = cell_integer(&batches, 1);
    TRY(cursor_close(&batches));
    return store_best(database, &row->best_trial, &row->best_fitness);
}

Error catalogue_row(Database *database, const char *name, Arena *arena, CatalogueRow *row)
{
    *row = (CatalogueRow){.name = name, .best_fitness = (double)NAN, .best_trial = -1};
    TRY(catalogue_read_campaign(database, arena, row));
    return catalogue_read_trials(database, row);
}

static Error catalogue_add(Database *catalogue, const char *results, const char *name, Arena *arena)
{
    Database *campaign = NULL;
    CatalogueRow row;
    TRY(database_open(arena_format(arena, "%s/%s/" CAMPAIGN_DATABASE, results, name), DATABASE_READ, &campaign));
    const Error error = catalogue_row(campaign, name, arena, &row);
    store_leave(campaign);
    return error.kind == OK ? catalogue_replace(catalogue, &row) : error;
}

// In one transaction: a sync for each of ten thousand campaigns would take a minute.
static Error catalogue_fill(Database *catalogue, const char *results, FILE *messages, Arena *arena, int *campaigns)
{
    const char *const *names = NULL;
    int count = 0;
    *campaigns = 0;
    TRY(campaign_names(results, arena, &names, &count));
    TRY(database_run(catalogue, "BEGIN IMMEDIATE"));
    TRY(database_run(catalogue, catalogue_schema));
    for (int i = 0; i < count; i++) {
        const size_t used = arena->used;
        const Error error = catalogue_add(catalogue, results, names[i], arena);
        *campaigns += error.kind == OK;
        if (error.kind != OK && messages != NULL)
            fprintf(messages, "warning: %s is not in the catalogue: %s\n", names[i], text_visible(error.text, arena));
        arena_rewind(arena, used);
    }
    return database_run(catalogue, "COMMIT");
}

static const char *const catalogue_endings[] = {"-wal", "-shm", "-journal", ""};
enum { CATALOGUE_ENDINGS = sizeof catalogue_endings / sizeof *catalogue_endings };

// A database with the files beside it, whatever they are.
static Error catalogue_remove(const char *path, Arena *arena)
{
    for (int i = 0; i < CATALOGUE_ENDINGS; i++) {
        const char *file = arena_format(arena, "%s%s", path, catalogue_endings[i]);
        if (file_exists(file) || file_check_regular(file).kind != OK) TRY(file_remove(file));
    }
    return error_none();
}

static Error catalogue_make_at(const char *path, const char *results, bool shared_fs, FILE *messages, Arena *arena,
                               int *campaigns)
{
    Database *database = NULL;
    int64_t left = 0;
    const char *wal = arena_format(arena, "%s-wal", path);
    TRY(catalogue_remove(path, arena));
    TRY(database_open(path, DATABASE_WRITE, &database));
    Error error = store_share(database, shared_fs);
    if (error.kind == OK) error = catalogue_fill(database, results, messages, arena, campaigns);
    const Error closing = database_close(database);
    if (error.kind == OK) error = closing;
    if (error.kind == OK && file_exists(wal)) error = file_size(wal, &left);
    if (error.kind == OK && left > 0)
        error = error_make(ERROR_MACHINE, "there is no room for a new list of campaigns in %.300s: free some space",
                           results);
    return error;
}

// With the catalogue's lock held: what was there goes, whatever it is, when the new one is whole.
static Error catalogue_make(const char *results, bool shared_fs, FILE *messages, Arena *arena, int *campaigns)
{
    const char *path = arena_format(arena, "%s/" CATALOGUE_DATABASE, results);
    const char *made = arena_format(arena, "%s.new", path); // no campaign has such a name
    Error error = catalogue_make_at(made, results, shared_fs, messages, arena, campaigns);
    if (error.kind == OK) error = catalogue_remove(path, arena);
    if (error.kind == OK) error = file_rename(made, path);
    const Error cleared = catalogue_remove(made, arena);
    return error.kind != OK ? error : cleared;
}

Error catalogue_rebuild(const char *results, bool shared_fs, FILE *messages, Arena *arena, int *campaigns)
{
    Lock lock = {.descriptor = -1};
    TRY(catalogue_lock(arena_format(arena, "%s/" CATALOGUE_LOCK, results), &lock));
    const Error error = catalogue_make(results, shared_fs, messages, arena, campaigns);
    lock_release(&lock);
    return error;
}

// ---- one row --------------------------------------------------------------------------------------------------------

// Whether it is the file that is at fault, and not the disk or a lock: then a reader too finds it unsound.
static bool catalogue_is_damaged(const char *path)
{
    Database *database;
    bool sound = false;
    const Error opened = database_open(path, DATABASE_READ, &database);
    if (opened.kind != OK)
        return opened.kind == ERROR_USER || file_exists(path); // no database, or one that can't be read
    const Error error = integrity_check(database, &sound);
    store_leave(database);
    return error.kind != OK || !sound;
}

static Error catalogue_write_or_make(const char *results, bool shared_fs, const CatalogueRow *row, FILE *messages,
                                     Arena *arena)
{
    const char *path = arena_format(arena, "%s/" CATALOGUE_DATABASE, results);
    int campaigns = 0;
    const Error error = catalogue_write(path, shared_fs, row);
    if (error.kind == OK || !catalogue_is_damaged(path)) return error;
    if (messages != NULL)
        fprintf(messages, "the catalogue is damaged and is made anew from the campaigns' folders: %s\n",
                text_visible(error.text, arena));
    TRY(catalogue_make(results, shared_fs, messages, arena, &campaigns));
    return catalogue_write(path, shared_fs, row);
}

Error catalogue_update(const char *results, bool shared_fs, const CatalogueRow *row, FILE *messages, Arena *arena)
{
    Lock lock = {.descriptor = -1};
    TRY(catalogue_lock(arena_format(arena, "%s/" CATALOGUE_LOCK, results), &lock));
    const Error error = catalogue_write_or_make(results, shared_fs, row, messages, arena);
    lock_release(&lock);
    return error;
}

static Error catalogue_drop(Database *catalogue, const char *name)
{
    Cursor drop = cursor_open(catalogue, "DELETE FROM campaigns WHERE name = ?");
    with_text(&drop, name);
    return cursor_run(&drop);
}

// What has the name now: another process may have given it to another campaign, or taken that away again.
static Error catalogue_renew(Database *catalogue, const char *results, const char *name, Arena *arena)
{
    TRY(catalogue_drop(catalogue, name));
    if (file_missing(arena_format(arena, "%s/%s/" CAMPAIGN_DATABASE, results, name))) return error_none();
    return catalogue_add(catalogue, results, name, arena);
}

static Error catalogue_exchange(const char *results, bool shared_fs, const char *gone, const char *come, Arena *arena)
{
    Database *database = NULL;
    TRY(database_open(arena_format(arena, "%s/" CATALOGUE_DATABASE, results), DATABASE_WRITE, &database));
    Error error = store_share(database, shared_fs);
    if (error.kind == OK) error = database_run(database, catalogue_schema);
    if (error.kind == OK) error = catalogue_drop(database, gone);
    if (error.kind == OK) (void)catalogue_renew(database, results, gone, arena); // a run that begins lists itself
    if (error.kind == OK && come != NULL) error = catalogue_renew(database, results, come, arena);
    const Error closing = database_close(database);
    return error.kind != OK ? error : closing;
}

Error catalogue_change(const char *results, bool shared_fs, const char *gone, const char *come, FILE *messages,
                       Arena *arena)
{
    Lock lock = {.descriptor = -1};
    int campaigns = 0;
    TRY(catalogue_lock(arena_format(arena, "%s/" CATALOGUE_LOCK, results), &lock));
    Error error = catalogue_exchange(results, shared_fs, gone, come, arena);
    if (error.kind != OK && catalogue_is_damaged(arena_format(arena, "%s/" CATALOGUE_DATABASE, results)))
        error = catalogue_make(results, shared_fs, messages, arena, &campaigns);
    lock_release(&lock);
    return error;
}

// ---- comparing ------------------------------------------------------------------------------------------------------

// The first field in which the catalogue's row is not the campaign's.
static void catalogue_differ(const Cursor *found, const CatalogueRow *row, bool running, char *text, size_t size)
{
    const double best = rows_stored(row->best_fitness), listed = cell_real(found, 4);
    const struct {
        const char *what;
        bool differs;
    } fields[] = {{"experiment", strcmp(cell_text(found, 0), row->experiment) != 0},
                  {"model", strcmp(cell_text(found, 1), row->model) != 0},
                  {"hash of the spec", strcmp(cell_text(found, 2), row->hash) != 0},
                  {"state", !running && strcmp(cell_text(found, 3), row->state) != 0},
                  {"best fitness", !running && (isnan(best) ? !isnan(listed) : best != listed)},
                  {"number of trials", !running && cell_integer(found, 5) != row->trials},
                  {"number of failures", !running && cell_integer(found, 6) != row->failures}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof fields / sizeof *fields && text[0] == '\0'; i++) {
        if (fields[i].differs)
            snprintf(text, size, CATALOGUE_DATABASE " has another %s of %s", fields[i].what, row->name);
    }
}

Error catalogue_compare(const char *results, const CatalogueRow *row, bool running, char *difference, size_t size,
                        Arena *arena)
{
    Database *database;
    const char *path = arena_format(arena, "%s/" CATALOGUE_DATABASE, results);
    if (!file_exists(path)) return error_make(ERROR_MACHINE, CATALOGUE_DATABASE " is missing");
    TRY(database_open(path, DATABASE_READ, &database));
    Cursor found = cursor_open(database, "SELECT experiment, model, hash, state, best_fitness, trials, failures "
                                         "FROM campaigns WHERE name = ?");
    with_text(&found, row->name);
    if (cursor_next(&found))
        catalogue_differ(&found, row, running, difference, size);
    else if (!running)
        snprintf(difference, size, CATALOGUE_DATABASE " does not list %s", row->name);
    const Error error = cursor_close(&found);
    store_leave(database);
    return error;
}
