// index.db, the catalogue of the campaigns under a results root. It makes list and status fast. It can be rebuilt from
// the campaigns' folders, so nothing is lost if it is.
#include "catalogue.h"

#include "../trials/best_order.h"
#include "integrity.h"
#include "../trials/trial_blocks.h"
#include "../ground/rows.h"
#include "../campaign/status.h"
#include "../campaign/store.h"

#include <math.h>
#include <string.h>
#include <time.h>

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

// Campaigns under one root may end at the same moment. A lock makes them write the catalogue one after the other, each
// for a few milliseconds, so that two connections never checkpoint it at once.
#define CATALOGUE_PATIENCE 2.0 // s

static Error catalogue_lock(const char *path, Lock *lock)
{
    const double begun = clock_seconds();
    Error error = lock_take(path, lock);
    while (error.kind != OK && clock_seconds() - begun < CATALOGUE_PATIENCE) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        error = lock_take(path, lock);
    }
    return error;
}

// The cache of list and status (status_cache.c), in the same transaction. Without it they read the campaigns.
static void catalogue_keep(Database *catalogue, const StatusEntry *entries, int count, Arena *arena)
{
    if (database_run(catalogue, "SAVEPOINT kept").kind != OK) return;
    if (status_cache_keep(catalogue, entries, count, arena).kind != OK)
        (void)database_run(catalogue, "ROLLBACK TO kept");
    (void)database_run(catalogue, "RELEASE kept");
}

static Error catalogue_end(Database *catalogue, Error error)
{
    const Error end = database_run(catalogue, error.kind == OK ? "COMMIT" : "ROLLBACK");
    return error.kind == OK ? end : error;
}

// status: of the same campaign, if it is known; else list reads the campaign.
static Error catalogue_write(const char *path, bool shared_fs, const CatalogueRow *row, const StatusEntry *status,
                             Arena *arena)
{
    Database *database = NULL;
    TRY(database_open(path, DATABASE_WRITE, &database));
    Error error = store_share(database, shared_fs);
    if (error.kind == OK) error = database_run(database, "BEGIN IMMEDIATE");
    if (error.kind == OK) {
        error = catalogue_replace(database, row);
        if (error.kind == OK) catalogue_keep(database, status, 1, arena);
        error = catalogue_end(database, error);
    }
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

static CatalogueRow catalogue_row_of(const StatusReport *report)
{
    return (CatalogueRow){.name = report->place.name,
                          .experiment = report->experiment,
                          .model = report->model,
                          .hash = report->hash,
                          .state = report->state,
                          .reason = report->reason[0] != '\0' ? report->reason : NULL,
                          .trials = report->trials,
                          .trials_total = report->total,
                          .failures = report->failures,
                          .best_trial = isnan(report->best) ? -1 : report->best_trial,
                          .best_fitness = report->best};
}

Error catalogue_replace_by(Database *catalogue, const StatusReport *report)
{
    const CatalogueRow row = catalogue_row_of(report);
    return catalogue_replace(catalogue, &row);
}

static Error catalogue_read(const CampaignPlace *place, Arena *arena, CatalogueRow *row)
{
    Database *campaign = NULL;
    TRY(database_open(arena_format(arena, "%s/" CAMPAIGN_DATABASE, place->folder), DATABASE_READ, &campaign));
    Error error = trial_blocks_show(campaign);
    if (error.kind == OK) error = catalogue_row(campaign, place->name, arena, row);
    store_leave(campaign);
    return error;
}

static bool catalogue_is_read(const StatusEntry *entry)
{
    return entry->error == NULL && strcmp(entry->report.state, "unreadable") != 0;
}

// Adds a campaign from its status. A campaign that could not be read is read again, for the error.
static Error catalogue_add(Database *catalogue, const StatusEntry *entry, Arena *arena)
{
    CatalogueRow row = catalogue_row_of(&entry->report);
    if (!catalogue_is_read(entry)) TRY(catalogue_read(&entry->place, arena, &row));
    return catalogue_replace(catalogue, &row);
}

static Error catalogue_read_all(const char *results, Arena *arena, StatusEntry **out, int *count)
{
    const char *const *names = NULL;
    TRY(campaign_names(results, arena, &names, count));
    StatusEntry *entries = ARENA_NEW(arena, StatusEntry, *count + 1);
    const bool network = network_file_system(results)[0] != '\0';
    for (int i = 0; i < *count; i++) {
        const char *folder = arena_format(arena, "%s/%s", results, names[i]);
        entries[i] = (StatusEntry){.name = names[i], .still = !network};
        entries[i].place = (CampaignPlace){.results = results, .name = names[i], .folder = folder};
    }
    *out = entries;
    return status_read_many(entries, *count, arena);
}

// In one transaction: a sync for each of ten thousand campaigns would take a minute.
static Error catalogue_fill(Database *catalogue, const char *results, FILE *messages, Arena *arena, int *campaigns)
{
    StatusEntry *entries = NULL;
    int count = 0;
    *campaigns = 0;
    TRY(catalogue_read_all(results, arena, &entries, &count));
    TRY(database_run(catalogue, "BEGIN IMMEDIATE"));
    TRY(database_run(catalogue, catalogue_schema));
    for (int i = 0; i < count; i++) {
        const size_t used = arena->used;
        const Error error = catalogue_add(catalogue, &entries[i], arena);
        *campaigns += error.kind == OK;
        if (error.kind != OK && messages != NULL)
            fprintf(messages, "warning: %s is not in the catalogue: %s\n", entries[i].name,
                    text_visible(error.text, arena));
        arena_rewind(arena, used);
    }
    catalogue_keep(catalogue, entries, count, arena);
    return database_run(catalogue, "COMMIT");
}

static const char *const catalogue_endings[] = {"-wal", "-shm", "-journal", ""};
enum { CATALOGUE_ENDINGS = sizeof catalogue_endings / sizeof *catalogue_endings };

// Removes a database and the files that SQLite puts beside it.
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
        error = error_make(ERROR_MACHINE, "not enough disk space for the list of campaigns in %.300s: free some space",
                           results);
    return error;
}

// With the catalogue's lock held. The new catalogue replaces the old one when it is complete.
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

// The campaigns of a root as they are now: their names, and the stamps of their databases.
typedef struct CatalogueSight {
    const char *const *names;
    DatabaseStamp *stamps; // [count]
    int count;
} CatalogueSight;

static Error catalogue_see(const char *results, Arena *arena, CatalogueSight *sight)
{
    TRY(campaign_names(results, arena, &sight->names, &sight->count));
    sight->stamps = ARENA_NEW(arena, DatabaseStamp, sight->count + 1);
    for (int i = 0; i < sight->count; i++) {
        const size_t used = arena->used;
        const char *path = arena_format(arena, "%s/%s/" CAMPAIGN_DATABASE, results, sight->names[i]);
        (void)database_stamp(path, &sight->stamps[i]); // whether it can be trusted or not
        arena_rewind(arena, used);
    }
    return error_none();
}

static bool catalogue_sees_the_same(const CatalogueSight *a, const CatalogueSight *b)
{
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++)
        same = strcmp(a->names[i], b->names[i]) == 0 && memcmp(&a->stamps[i], &b->stamps[i], sizeof *a->stamps) == 0;
    return same;
}

// *again: building took so long that other processes may have given up on the lock. Their campaigns may be missing.
static Error catalogue_rebuild_once(const char *results, bool shared_fs, FILE *messages, Arena *arena, int *campaigns,
                                    bool *again)
{
    Lock lock = {.descriptor = -1};
    CatalogueSight before, after;
    *again = false;
    TRY(catalogue_lock(arena_format(arena, "%s/" CATALOGUE_LOCK, results), &lock));
    const double taken = clock_seconds();
    Error error = catalogue_see(results, arena, &before);
    if (error.kind == OK) error = catalogue_make(results, shared_fs, messages, arena, campaigns);
    lock_release(&lock);
    if (error.kind != OK || clock_seconds() - taken < CATALOGUE_PATIENCE / 2) return error;
    TRY(catalogue_see(results, arena, &after)); // without the lock: who waits from now on gets it
    *again = !catalogue_sees_the_same(&before, &after);
    return error;
}

Error catalogue_rebuild(const char *results, bool shared_fs, FILE *messages, Arena *arena, int *campaigns)
{
    enum { CATALOGUE_REBUILDS = 3 }; // campaigns may run all the time
    bool again = true;
    for (int i = 0; i < CATALOGUE_REBUILDS && again; i++)
        TRY(catalogue_rebuild_once(results, shared_fs, messages, arena, campaigns, &again));
    return error_none();
}

// ---- one row --------------------------------------------------------------------------------------------------------

// Whether the file is damaged, and not the disk full or the file locked: then a reader finds it damaged too.
static bool catalogue_is_damaged(const char *path)
{
    Database *database;
    const Error opened = database_open(path, DATABASE_READ, &database);
    if (opened.kind != OK)
        return opened.kind == ERROR_USER || file_exists(path); // no database, or one that can't be read
    const bool damaged = !integrity_holds(database);
    store_leave(database);
    return damaged;
}

static Error catalogue_put(const char *results, bool shared_fs, const CatalogueRow *row, const StatusEntry *status,
                           bool *damaged, Arena *arena)
{
    Lock lock = {.descriptor = -1};
    const char *path = arena_format(arena, "%s/" CATALOGUE_DATABASE, results);
    *damaged = false;
    TRY(catalogue_lock(arena_format(arena, "%s/" CATALOGUE_LOCK, results), &lock));
    const Error error = catalogue_write(path, shared_fs, row, status, arena);
    if (error.kind != OK) *damaged = catalogue_is_damaged(path);
    lock_release(&lock);
    return error;
}

Error catalogue_update(const char *results, bool shared_fs, const CatalogueRow *row, FILE *messages, Arena *arena)
{
    bool damaged = false;
    int campaigns = 0;
    const CampaignPlace place = {
        .results = results, .name = row->name, .folder = arena_format(arena, "%s/%s", results, row->name)};
    StatusEntry status = {.place = place, .name = row->name};
    if (strcmp(row->state, "running") != 0) (void)status_cache_look(&place, &status, arena); // it is written no more
    const Error error = catalogue_put(results, shared_fs, row, &status, &damaged, arena);
    if (!damaged) return error;
    if (messages != NULL)
        fprintf(messages, "the catalogue is damaged and is made again from the campaigns' folders: %s\n",
                text_visible(error.text, arena));
    TRY(catalogue_rebuild(results, shared_fs, messages, arena, &campaigns));
    return catalogue_put(results, shared_fs, row, &status, &damaged, arena);
}

static Error catalogue_drop(Database *catalogue, const char *name)
{
    Cursor drop = cursor_open(catalogue, "DELETE FROM campaigns WHERE name = ?");
    with_text(&drop, name);
    return cursor_run(&drop);
}

// Another process may have given the name to another campaign, or removed it. A campaign that can't be read has no row:
// a run that begins there lists itself.
static Error catalogue_renew(Database *catalogue, const char *results, const char *name, Arena *arena)
{
    const CampaignPlace place = {
        .results = results, .name = name, .folder = arena_format(arena, "%s/%s", results, name)};
    StatusEntry entry = {.place = place, .name = name};
    CatalogueRow row;
    bool there = !file_missing(arena_format(arena, "%s/" CAMPAIGN_DATABASE, place.folder));
    TRY(catalogue_drop(catalogue, name));
    if (there && status_cache_look(&place, &entry, arena) && catalogue_is_read(&entry))
        row = catalogue_row_of(&entry.report);
    else if (there)
        there = catalogue_read(&place, arena, &row).kind == OK;
    catalogue_keep(catalogue, &entry, 1, arena);
    return there ? catalogue_replace(catalogue, &row) : error_none();
}

static Error catalogue_look_at(const char *results, bool shared_fs, const char *name, Arena *arena)
{
    Database *database = NULL;
    TRY(database_open(arena_format(arena, "%s/" CATALOGUE_DATABASE, results), DATABASE_WRITE, &database));
    Error error = store_share(database, shared_fs);
    if (error.kind == OK) error = database_run(database, "BEGIN IMMEDIATE");
    if (error.kind == OK) {
        error = database_run(database, catalogue_schema);
        if (error.kind == OK) error = catalogue_renew(database, results, name, arena);
        error = catalogue_end(database, error);
    }
    const Error closing = database_close(database);
    return error.kind != OK ? error : closing;
}

Error catalogue_look(const char *results, bool shared_fs, const char *name, FILE *messages, Arena *arena)
{
    Lock lock = {.descriptor = -1};
    int campaigns = 0;
    TRY(catalogue_lock(arena_format(arena, "%s/" CATALOGUE_LOCK, results), &lock));
    const Error error = catalogue_look_at(results, shared_fs, name, arena);
    const bool damaged =
        error.kind != OK && catalogue_is_damaged(arena_format(arena, "%s/" CATALOGUE_DATABASE, results));
    lock_release(&lock);
    return damaged ? catalogue_rebuild(results, shared_fs, messages, arena, &campaigns) : error;
}

// ---- comparing ------------------------------------------------------------------------------------------------------

// The first field in which the catalogue's row differs from the campaign's.
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
                        bool *behind, Arena *arena)
{
    Database *database;
    const char *path = arena_format(arena, "%s/" CATALOGUE_DATABASE, results);
    *behind = !file_exists(path);
    difference[0] = '\0';
    if (*behind) snprintf(difference, size, CATALOGUE_DATABASE " is missing");
    if (*behind) return error_none();
    TRY(database_open(path, DATABASE_READ, &database));
    Cursor found = cursor_open(database, "SELECT experiment, model, hash, state, best_fitness, trials, failures "
                                         "FROM campaigns WHERE name = ?");
    with_text(&found, row->name);
    if (cursor_next(&found)) {
        const bool killed = strcmp(cell_text(&found, 3), "running") == 0; // a run that ends lists how
        catalogue_differ(&found, row, running, difference, size);
        *behind = difference[0] != '\0' && (killed || status_cache_is_behind(database, results, row->name, arena));
    } else if (!running) {
        snprintf(difference, size, CATALOGUE_DATABASE " does not list %s", row->name);
        *behind = true;
    }
    const Error error = cursor_close(&found);
    store_leave(database);
    return error;
}
