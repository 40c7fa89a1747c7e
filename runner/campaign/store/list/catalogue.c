// index.db, the catalogue of the campaigns under a results root: a cache that makes list fast. Reading the state of one
// campaign takes a connection and a dozen queries, about 0.5 ms, and a root may have ten thousand campaigns. So table
// `campaigns` stores each state with the stamp of the database that it was read from (io/database_stamp.c). A campaign
// with the same stamp is not opened. A campaign that changed, or that replaced another one, is read again; one that
// runs, or was killed, is read each time. The holder of the lock is read each time.
//
// list writes the states that it had to read, and removes campaigns that are gone. A command that changes a campaign
// writes its row too, so that the next list need not open it. The next process that writes makes a catalogue again that
// is missing, is damaged or has another layout. Errors are ignored: without a catalogue list reads the campaigns.
#include "../campaign/status.h"
#include "../campaign/store.h"
#include "integrity.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Rows that another version of the program wrote are read again: they may mean something else.
#define CATALOGUE_READER HOPSCOTCH_VERSION " 3"

typedef struct Catalogue {
    const char *results;
    int64_t device; // file system of the root; campaigns on another one are read each time; -1: all are read
    Arena *arena;
    Database *database; // open for reading; NULL: there is none
    Cursor find;
    bool broken; // it can't be read, or it has another layout
} Catalogue;

// ---- the columns ----------------------------------------------------------------------------------------------------

static void status_bind_text(Cursor *row, const void *field) { with_text(row, *(const char *const *)field); }
static void status_bind_integer(Cursor *row, const void *field) { with_integer(row, *(const int64_t *)field); }
static void status_bind_real(Cursor *row, const void *field) { with_real(row, *(const double *)field); }
static void status_bind_flag(Cursor *row, const void *field) { with_integer(row, *(const bool *)field); }

static void status_take_text(const Cursor *row, int index, void *field, Arena *arena)
{
    *(const char **)field = arena_copy(arena, cell_text(row, index));
}
static void status_take_integer(const Cursor *row, int index, void *field, Arena *arena)
{
    (void)arena;
    *(int64_t *)field = cell_integer(row, index);
}
static void status_take_real(const Cursor *row, int index, void *field, Arena *arena)
{
    (void)arena;
    *(double *)field = cell_real(row, index);
}
static void status_take_flag(const Cursor *row, int index, void *field, Arena *arena)
{
    (void)arena;
    *(bool *)field = cell_integer(row, index) != 0;
}

static bool status_same_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b) == 0;
}
static bool status_same_integer(const void *a, const void *b) { return *(const int64_t *)a == *(const int64_t *)b; }
static bool status_same_flag(const void *a, const void *b) { return *(const bool *)a == *(const bool *)b; }
static bool status_same_real(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x == y || (isnan(x) && isnan(y));
}

typedef enum StatusType { STATUS_TEXT, STATUS_INTEGER, STATUS_REAL, STATUS_FLAG } StatusType;

static const struct {
    const char *declaration;
    void (*bind)(Cursor *row, const void *field);
    void (*take)(const Cursor *row, int index, void *field, Arena *arena);
    bool (*same)(const void *a, const void *b);
} status_types[] = {
    [STATUS_TEXT] = {"TEXT NOT NULL", status_bind_text, status_take_text, status_same_text},
    [STATUS_INTEGER] = {"INTEGER NOT NULL", status_bind_integer, status_take_integer, status_same_integer},
    [STATUS_REAL] = {"REAL", status_bind_real, status_take_real, status_same_real},
    [STATUS_FLAG] = {"INTEGER NOT NULL", status_bind_flag, status_take_flag, status_same_flag}};

// All fields of a StatusReport except its location and its holder.
#define FIELD(type, member)                                                                                            \
    {                                                                                                                  \
#member, STATUS_##type, offsetof(StatusReport, member)                                                         \
    }
#define TIMING(type, member)                                                                                           \
    {                                                                                                                  \
        "timings_" #member, STATUS_##type, offsetof(StatusReport, timings.member)                                      \
    }
static const struct {
    const char *name;
    StatusType type;
    size_t offset;
} status_fields[] = {FIELD(TEXT, state),
                     FIELD(TEXT, reason),
                     FIELD(TEXT, experiment),
                     FIELD(TEXT, model),
                     FIELD(TEXT, started),
                     FIELD(TEXT, finished),
                     FIELD(TEXT, hash),
                     FIELD(TEXT, program),
                     FIELD(TEXT, devices),
                     FIELD(TEXT, committed),
                     FIELD(TEXT, origin),
                     FIELD(TEXT, tags),
                     FIELD(TEXT, note),
                     FIELD(TEXT, resumed),
                     FIELD(TEXT, overrides),
                     FIELD(TEXT, method),
                     FIELD(TEXT, objective),
                     FIELD(INTEGER, most),
                     FIELD(INTEGER, trials),
                     FIELD(INTEGER, total),
                     FIELD(INTEGER, replicates),
                     FIELD(INTEGER, failures),
                     FIELD(INTEGER, seed),
                     FIELD(INTEGER, batches),
                     FIELD(INTEGER, numerics_version),
                     FIELD(INTEGER, lanes),
                     FIELD(INTEGER, shards),
                     FIELD(INTEGER, best_trial),
                     FIELD(INTEGER, objectives),
                     FIELD(REAL, best),
                     FIELD(REAL, shard_bytes),
                     FIELD(FLAG, maximizes),
                     FIELD(REAL, rate),
                     FIELD(REAL, busy),
                     TIMING(REAL, wall),
                     TIMING(REAL, kernel),
                     TIMING(REAL, copy),
                     TIMING(REAL, search),
                     TIMING(REAL, hdf5),
                     TIMING(REAL, sqlite),
                     TIMING(INTEGER, batches),
                     TIMING(INTEGER, made)};
#undef FIELD
#undef TIMING
enum { STATUS_FIELDS = sizeof status_fields / sizeof *status_fields };

static const char *catalogue_table_sql(Arena *arena)
{
    const char *sql = "CREATE TABLE IF NOT EXISTS campaigns(name TEXT PRIMARY KEY, reader TEXT NOT NULL, "
                      "stamp BLOB NOT NULL";
    for (int i = 0; i < STATUS_FIELDS; i++)
        sql = arena_format(arena, "%s, %s %s", sql, status_fields[i].name,
                           status_types[status_fields[i].type].declaration);
    return arena_format(arena, "%s) STRICT, WITHOUT ROWID;", sql);
}

static const char *catalogue_find_sql(Arena *arena)
{
    const char *sql = "SELECT stamp";
    for (int i = 0; i < STATUS_FIELDS; i++) sql = arena_format(arena, "%s, %s", sql, status_fields[i].name);
    return arena_format(arena, "%s FROM campaigns WHERE name = ? AND reader = ?", sql);
}

static const char *catalogue_insert_sql(Arena *arena)
{
    const char *sql = "INSERT OR REPLACE INTO campaigns(name, reader, stamp", *values = "?, ?, ?";
    for (int i = 0; i < STATUS_FIELDS; i++) {
        sql = arena_format(arena, "%s, %s", sql, status_fields[i].name);
        values = arena_format(arena, "%s, ?", values);
    }
    return arena_format(arena, "%s) VALUES(%s)", sql, values);
}

static void catalogue_bind(Cursor *insert, const StatusEntry *entry)
{
    with_text(insert, entry->name);
    with_text(insert, CATALOGUE_READER);
    with_blob(insert, &entry->stamp, sizeof entry->stamp);
    for (int i = 0; i < STATUS_FIELDS; i++)
        status_types[status_fields[i].type].bind(insert, (const char *)&entry->report + status_fields[i].offset);
}

static void catalogue_take(const Cursor *row, Arena *arena, StatusReport *report)
{
    for (int i = 0; i < STATUS_FIELDS; i++)
        status_types[status_fields[i].type].take(row, 1 + i, (char *)report + status_fields[i].offset, arena);
}

// ---- reading --------------------------------------------------------------------------------------------------------

static const char *catalogue_path(const char *results, Arena *arena)
{
    return arena_format(arena, "%s/" CATALOGUE_DATABASE, results);
}

static Error catalogue_start(Catalogue *catalogue, const char *path)
{
    TRY(database_open(path, DATABASE_READ, &catalogue->database));
    TRY(store_read_begin(catalogue->database)); // takes the locks once for all rows
    catalogue->find = cursor_open(catalogue->database, catalogue_find_sql(catalogue->arena));
    return catalogue->find.error;
}

static void catalogue_stop(Catalogue *catalogue)
{
    catalogue->broken = cursor_close(&catalogue->find).kind != OK || catalogue->broken;
    store_leave(catalogue->database);
    catalogue->database = NULL;
}

// Not on a network file system: there the stamp of a file may be seconds old, and a reader must not write a catalogue.
static void catalogue_open(const char *results, Arena *arena, Catalogue *catalogue)
{
    DatabaseStamp root;
    *catalogue = (Catalogue){.results = results, .arena = arena, .device = -1};
    if (!file_exists(results) || network_file_system(results)[0] != '\0') return;
    (void)database_stamp(results, &root); // of a folder only the file system counts
    catalogue->device = root.word[0];
    const char *path = catalogue_path(results, arena);
    if (file_missing(path)) return;
    catalogue->broken = catalogue_start(catalogue, path).kind != OK;
    if (catalogue->broken) catalogue_stop(catalogue);
}

static bool catalogue_has_stamp(const Cursor *row, const DatabaseStamp *stamp)
{
    const Bytes kept = cell_blob(row, 0);
    return kept.size == sizeof *stamp && memcmp(kept.data, stamp, sizeof *stamp) == 0;
}

static bool catalogue_find(Catalogue *catalogue, StatusEntry *entry)
{
    bool same = false;
    if (catalogue->find.statement == NULL || catalogue->find.error.kind != OK) return false;
    with_text(&catalogue->find, entry->name);
    with_text(&catalogue->find, CATALOGUE_READER);
    while (cursor_next(&catalogue->find)) { // there is only one
        same = catalogue_has_stamp(&catalogue->find, &entry->stamp);
        if (same) catalogue_take(&catalogue->find, catalogue->arena, &entry->report);
    }
    return same && catalogue->find.error.kind == OK;
}

static const char *status_database(const CampaignLocation *location, Arena *arena)
{
    return arena_format(arena, "%s/" CAMPAIGN_DATABASE, location->folder);
}

static Error catalogue_read_entries(Catalogue *catalogue, StatusEntry *entries, int count)
{
    for (int i = 0; i < count; i++) {
        StatusEntry *entry = &entries[i];
        const size_t used = catalogue->arena->used;
        entry->still = database_stamp(status_database(&entry->location, catalogue->arena), &entry->stamp) &&
                       entry->stamp.word[0] == catalogue->device;
        arena_rewind(catalogue->arena, used);
        entry->report = status_unread(&entry->location);
        entry->known = entry->still && catalogue_find(catalogue, entry);
    }
    return status_read_many(entries, count, catalogue->arena);
}

static void catalogue_read_locks(StatusEntry *entries, int count, Arena *arena)
{
    for (int i = 0; i < count; i++) {
        if (entries[i].error != NULL) continue;
        const Error error = status_read_lock(arena, &entries[i].report);
        if (error.kind != OK) entries[i].error = arena_copy(arena, error.text);
    }
}

// ---- writing --------------------------------------------------------------------------------------------------------

// What is written in one transaction: the rows of the entries that were read while nothing wrote to their databases.
typedef struct CatalogueChange {
    const StatusEntry *entries; // [count]
    int count;
    bool whole; // the entries are all campaigns of the root: the rows of others are removed; else those of the entries
    const char *const *names; // whole: [n_names], sorted
    int n_names;
} CatalogueChange;

static bool catalogue_wants(const StatusEntry *entry)
{
    return entry->still && !entry->known && entry->error == NULL && strcmp(entry->report.state, "unreadable") != 0;
}

static int catalogue_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Whether there is "gains", for "gains" and for "gains/verify/trial_41", which was run for it.
static bool catalogue_is_there(const CatalogueChange *change, const char *name, Arena *arena)
{
    const size_t used = arena->used;
    const char *first = arena_format(arena, "%.*s", (int)strcspn(name, "/"), name);
    const bool there = change->n_names > 0 && bsearch(&first, change->names, (size_t)change->n_names, sizeof first,
                                                      catalogue_compare_names) != NULL;
    arena_rewind(arena, used);
    return there;
}

// Whether the catalogue lists a campaign that is not there.
static bool catalogue_has_more(const Catalogue *catalogue, const CatalogueChange *change)
{
    const char *name;
    bool more = false;
    if (catalogue->database == NULL) return false;
    Cursor each = cursor_open(catalogue->database, "SELECT name FROM campaigns");
    while (!more && next_text(&each, &name)) more = !catalogue_is_there(change, name, catalogue->arena);
    return cursor_close(&each).kind == OK && more;
}

static Error catalogue_drop(Database *database, const CatalogueChange *change, Arena *arena)
{
    const char *name;
    Cursor drop = cursor_open(database, "DELETE FROM campaigns WHERE name = ?");
    for (int i = 0; i < change->count && !change->whole; i++) {
        with_text(&drop, change->entries[i].name);
        cursor_next(&drop);
    }
    Cursor each = cursor_open(database, "SELECT name FROM campaigns");
    while (change->whole && next_text(&each, &name)) {
        if (!catalogue_is_there(change, name, arena)) {
            with_text(&drop, name);
            cursor_next(&drop);
        }
        cursor_stop(&each, drop.error);
    }
    cursor_stop(&each, cursor_close(&drop));
    return cursor_close(&each);
}

static Error catalogue_insert(Database *database, const CatalogueChange *change, Arena *arena)
{
    Cursor insert = cursor_open(database, catalogue_insert_sql(arena));
    for (int i = 0; i < change->count; i++) {
        if (!catalogue_wants(&change->entries[i])) continue;
        catalogue_bind(&insert, &change->entries[i]);
        cursor_next(&insert);
    }
    return cursor_close(&insert);
}

// A table with other columns is created again. Earlier versions had a second table, status_cache.
static Error catalogue_make_table(Database *database, Arena *arena)
{
    TRY(database_run(database, catalogue_table_sql(arena)));
    Cursor find = cursor_open(database, catalogue_find_sql(arena));
    if (cursor_close(&find).kind == OK) return error_none();
    TRY(database_run(database, "DROP TABLE campaigns; DROP TABLE IF EXISTS status_cache"));
    return database_run(database, catalogue_table_sql(arena));
}

static Error catalogue_change(Database *database, const CatalogueChange *change, Arena *arena)
{
    TRY(database_run(database, "BEGIN IMMEDIATE"));
    Error error = catalogue_make_table(database, arena);
    if (error.kind == OK) error = catalogue_drop(database, change, arena);
    if (error.kind == OK) error = catalogue_insert(database, change, arena);
    const Error end = database_run(database, error.kind == OK ? "COMMIT" : "ROLLBACK");
    return error.kind == OK ? end : error;
}

static Error catalogue_store(const char *path, const CatalogueChange *change, Arena *arena)
{
    Database *database = NULL;
    TRY(database_open(path, DATABASE_WRITE, &database));
    const Error error = catalogue_change(database, change, arena);
    const Error closing = database_close(database);
    return error.kind != OK ? error : closing;
}

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

// Removes a database and the files that SQLite puts beside it.
static Error catalogue_remove(const char *path, Arena *arena)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal", ""};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *file = arena_format(arena, "%s%s", path, endings[i]);
        if (file_exists(file) || file_check_regular(file).kind != OK) TRY(file_remove(file));
    }
    return error_none();
}

// One process writes at a time, so that two connections never checkpoint the catalogue at once. A process that does not
// get the lock leaves the row to the next list.
static void catalogue_write(const char *results, bool broken, const CatalogueChange *change, Arena *arena)
{
    Lock lock = {.descriptor = -1};
    const char *path = catalogue_path(results, arena);
    if (lock_take(arena_format(arena, "%s/" CATALOGUE_LOCK, results), &lock).kind != OK) return;
    if (broken || catalogue_store(path, change, arena).kind != OK) {
        const bool damaged = catalogue_is_damaged(path);
        if (damaged) (void)catalogue_remove(path, arena);
        if (broken || damaged) (void)catalogue_store(path, change, arena);
    }
    lock_release(&lock);
}

// ---- list, and the commands that change a campaign ------------------------------------------------------------------

Error catalogue_read(const char *results, StatusEntry *entries, int count, const char *const *names, int n_names,
                     Arena *arena)
{
    Catalogue catalogue;
    const CatalogueChange change = {
        .entries = entries, .count = count, .whole = true, .names = names, .n_names = n_names};
    catalogue_open(results, arena, &catalogue);
    const Error error = catalogue_read_entries(&catalogue, entries, count);
    bool changed = catalogue_has_more(&catalogue, &change);
    for (int i = 0; i < count && !changed; i++) changed = catalogue_wants(&entries[i]);
    catalogue_stop(&catalogue);
    if (error.kind == OK && changed && catalogue.device != -1)
        catalogue_write(results, catalogue.broken, &change, arena);
    if (error.kind == OK) catalogue_read_locks(entries, count, arena);
    return error;
}

void catalogue_note(const char *results, bool shared_fs, const char *name, Arena *arena)
{
    const char *folder = arena_format(arena, "%s/%s", results, name);
    StatusEntry entry = {.name = name, .location = {.results = results, .name = name, .folder = folder}};
    if (shared_fs || network_file_system(results)[0] != '\0') return;
    database_stamp_wait(status_database(&entry.location, arena));
    entry.still = status_read_still(&entry.location, arena, &entry.stamp, &entry.report);
    if (!entry.still && file_missing(catalogue_path(results, arena))) return;
    catalogue_write(results, false, &(CatalogueChange){.entries = &entry, .count = 1}, arena);
}

// ---- the doctor's check ---------------------------------------------------------------------------------------------

// In words; "": all fields are the same.
static const char *catalogue_differ(const Cursor *row, const StatusReport *report, const char *name, Arena *arena)
{
    StatusReport kept = *report;
    catalogue_take(row, arena, &kept);
    for (int i = 0; i < STATUS_FIELDS; i++) {
        const size_t at = status_fields[i].offset;
        if (!status_types[status_fields[i].type].same((const char *)&kept + at, (const char *)report + at))
            return arena_format(arena, CATALOGUE_DATABASE " has another value `%s` of %s", status_fields[i].name, name);
    }
    return "";
}

Error catalogue_compare(const CampaignLocation *location, Arena *arena, const char **difference, bool *behind)
{
    Database *database;
    DatabaseStamp stamp;
    StatusReport report;
    const char *path = catalogue_path(location->results, arena);
    *behind = true;
    *difference = CATALOGUE_DATABASE " is missing";
    if (!file_exists(path)) return error_none();
    TRY(database_open(path, DATABASE_READ, &database));
    *difference = arena_format(arena, CATALOGUE_DATABASE " does not list the state of %s", location->name);
    Cursor row = cursor_open(database, catalogue_find_sql(arena));
    const bool other_layout = row.error.kind != OK && integrity_holds(database);
    with_text(&row, location->name);
    with_text(&row, CATALOGUE_READER);
    if (status_read_still(location, arena, &stamp, &report) && cursor_next(&row)) {
        *behind = !catalogue_has_stamp(&row, &stamp);
        if (!*behind) *difference = catalogue_differ(&row, &report, location->name, arena);
    }
    const Error error = cursor_close(&row);
    store_leave(database);
    return other_layout ? error_none() : error;
}
