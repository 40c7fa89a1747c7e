// A cache of the states of campaigns. Reading one takes a connection and a dozen queries, about 0.5 ms, and a root may
// have ten thousand campaigns. So index.db stores each state in its table `status_cache`, with the stamp of the
// database (io/database_stamp.c). A campaign with the same stamp is not opened. A campaign that changed, or that
// replaced another one, is read again; one that runs, or was killed, is read each time. The holder of the lock is read
// each time.
//
// catalogue.c also stores the state of a campaign when it writes its row, so that a new, renamed or merged campaign is
// not opened either.
//
// list and status also write what they read again to the catalogue's table `campaigns`, and remove the rows of
// campaigns that are gone. So the catalogue follows a folder that was renamed, copied or removed.
//
// Errors of the cache are ignored. A catalogue is never created here, so that a root without one stays as it is.

#include "catalogue.h"
#include "../campaign/status.h"
#include "../campaign/store.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Rows that another version of the program wrote are read again: they may mean something else.
#define STATUS_CACHE_READER HOPSCOTCH_VERSION " 1"

struct StatusCacheRow {
    StatusCacheRow *next;
    const char *name;
    DatabaseStamp stamp;
    StatusReport report;
};

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

typedef enum StatusType { STATUS_TEXT, STATUS_INTEGER, STATUS_REAL, STATUS_FLAG } StatusType;

static const struct {
    const char *declaration;
    void (*bind)(Cursor *row, const void *field);
    void (*take)(const Cursor *row, int index, void *field, Arena *arena);
} status_types[] = {[STATUS_TEXT] = {"TEXT NOT NULL", status_bind_text, status_take_text},
                    [STATUS_INTEGER] = {"INTEGER NOT NULL", status_bind_integer, status_take_integer},
                    [STATUS_REAL] = {"REAL", status_bind_real, status_take_real},
                    [STATUS_FLAG] = {"INTEGER NOT NULL", status_bind_flag, status_take_flag}};

// All fields of a StatusReport except its place and its holder.
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

static const char *status_cache_table_sql(Arena *arena)
{
    const char *sql = "CREATE TABLE IF NOT EXISTS status_cache(name TEXT PRIMARY KEY, reader TEXT NOT NULL, "
                      "stamp BLOB NOT NULL";
    for (int i = 0; i < STATUS_FIELDS; i++)
        sql = arena_format(arena, "%s, %s %s", sql, status_fields[i].name,
                           status_types[status_fields[i].type].declaration);
    return arena_format(arena, "%s) STRICT, WITHOUT ROWID;", sql);
}

static const char *status_cache_find_sql(Arena *arena)
{
    const char *sql = "SELECT stamp";
    for (int i = 0; i < STATUS_FIELDS; i++) sql = arena_format(arena, "%s, %s", sql, status_fields[i].name);
    return arena_format(arena, "%s FROM status_cache WHERE name = ? AND reader = ?", sql);
}

static void status_cache_bind(Cursor *insert, const StatusCacheRow *row)
{
    with_text(insert, row->name);
    with_text(insert, STATUS_CACHE_READER);
    with_blob(insert, &row->stamp, sizeof row->stamp);
    for (int i = 0; i < STATUS_FIELDS; i++)
        status_types[status_fields[i].type].bind(insert, (const char *)&row->report + status_fields[i].offset);
}

static void status_cache_take(const Cursor *row, Arena *arena, StatusReport *report)
{
    for (int i = 0; i < STATUS_FIELDS; i++)
        status_types[status_fields[i].type].take(row, 1 + i, (char *)report + status_fields[i].offset, arena);
}

// ---- reading --------------------------------------------------------------------------------------------------------

static const char *status_cache_path(const StatusCache *cache)
{
    return arena_format(cache->arena, "%s/" CATALOGUE_DATABASE, cache->results);
}

// Only a database with the catalogue's table is a catalogue.
static Error status_cache_start(StatusCache *cache)
{
    TRY(database_open(status_cache_path(cache), DATABASE_READ, &cache->catalogue));
    TRY(store_read_begin(cache->catalogue)); // takes the locks once for all rows
    cache->writable = database_has(cache->catalogue, "campaigns", NULL);
    if (!cache->writable || !database_has(cache->catalogue, "status_cache", NULL)) return error_none();
    cache->find = cursor_open(cache->catalogue, status_cache_find_sql(cache->arena));
    return cache->find.error;
}

static void status_cache_stop(StatusCache *cache)
{
    (void)cursor_close(&cache->find); // without it every campaign is read
    store_leave(cache->catalogue);
    cache->catalogue = NULL;
}

// Not on a network file system: there the stamp of a file may be seconds old, and a reader must not write a catalogue.
void status_cache_open(const char *results, Arena *arena, StatusCache *cache)
{
    DatabaseStamp root;
    *cache = (StatusCache){.results = results, .arena = arena, .device = -1};
    if (!file_exists(results) || network_file_system(results)[0] != '\0') return;
    (void)database_stamp(results, &root); // of a folder only the file system counts
    cache->device = root.word[0];
    if (!file_exists(status_cache_path(cache))) return;
    const Error error = status_cache_start(cache);
    if (error.kind != OK) status_cache_stop(cache); // a table of another version is replaced when the cache is written
}

static bool status_cache_find(StatusCache *cache, StatusEntry *entry)
{
    bool same = false;
    if (cache->find.statement == NULL || cache->find.error.kind != OK) return false;
    with_text(&cache->find, entry->name);
    with_text(&cache->find, STATUS_CACHE_READER);
    while (cursor_next(&cache->find)) { // there is only one
        const Bytes kept = cell_blob(&cache->find, 0);
        same = kept.size == sizeof entry->stamp && memcmp(kept.data, &entry->stamp, sizeof entry->stamp) == 0;
        if (same) status_cache_take(&cache->find, cache->arena, &entry->report);
    }
    return same && cache->find.error.kind == OK;
}

static void status_cache_note(StatusCache *cache, const StatusEntry *entry)
{
    StatusCacheRow *row = ARENA_NEW(cache->arena, StatusCacheRow, 1);
    *row = (StatusCacheRow){.next = cache->fresh, .name = entry->name, .stamp = entry->stamp, .report = entry->report};
    cache->fresh = row;
}

static const char *status_database(const CampaignPlace *place, Arena *arena)
{
    return arena_format(arena, "%s/" CAMPAIGN_DATABASE, place->folder);
}

Error status_cache_read(StatusCache *cache, StatusEntry *entries, int count)
{
    for (int i = 0; i < count; i++) {
        StatusEntry *entry = &entries[i];
        const size_t used = cache->arena->used;
        entry->still = database_stamp(status_database(&entry->place, cache->arena), &entry->stamp) &&
                       entry->stamp.word[0] == cache->device;
        arena_rewind(cache->arena, used);
        entry->report = status_unread(&entry->place);
        entry->known = entry->still && status_cache_find(cache, entry);
    }
    TRY(status_read_many(entries, count, cache->arena));
    for (int i = 0; i < count; i++) {
        StatusEntry *entry = &entries[i];
        if (!entry->known && entry->still && cache->writable) status_cache_note(cache, entry);
        if (entry->error != NULL) continue;
        const Error error = status_read_lock(cache->arena, &entry->report);
        if (error.kind != OK) entry->error = arena_copy(cache->arena, error.text);
    }
    return error_none();
}

// ---- writing --------------------------------------------------------------------------------------------------------

static int status_cache_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Whether `names` has "gains", for "gains" and for "gains/verify/trial_41", which was made of it.
static bool status_cache_is_there(const char *name, const char *const *names, int count, Arena *arena)
{
    const char *first = arena_format(arena, "%.*s", (int)strcspn(name, "/"), name);
    return count > 0 && bsearch(&first, names, (size_t)count, sizeof *names, status_cache_compare) != NULL;
}

// The tables of the catalogue with a row per campaign: its names, and how one is removed.
static const struct {
    const char *names, *drop;
} status_cache_tables[] = {{"SELECT name FROM campaigns", "DELETE FROM campaigns WHERE name = ?"},
                           {"SELECT name FROM status_cache", "DELETE FROM status_cache WHERE name = ?"}};
enum { STATUS_CACHE_TABLES = sizeof status_cache_tables / sizeof *status_cache_tables };

// Whether the catalogue lists a campaign that is not there.
static bool status_cache_has_more(const StatusCache *cache, const char *const *names, int count)
{
    const char *name;
    bool more = false;
    if (cache->catalogue == NULL) return false;
    Cursor each = cursor_open(cache->catalogue, status_cache_tables[0].names);
    while (!more && next_text(&each, &name)) more = !status_cache_is_there(name, names, count, cache->arena);
    return cursor_close(&each).kind == OK && more;
}

static Error status_cache_forget(Database *catalogue, int table, const char *const *names, int count, Arena *arena)
{
    const char *name;
    Cursor each = cursor_open(catalogue, status_cache_tables[table].names);
    Cursor drop = cursor_open(catalogue, status_cache_tables[table].drop);
    while (next_text(&each, &name)) {
        const size_t used = arena->used;
        if (!status_cache_is_there(name, names, count, arena)) {
            with_text(&drop, name);
            cursor_next(&drop);
        }
        arena_rewind(arena, used);
        cursor_stop(&each, drop.error);
    }
    cursor_stop(&each, cursor_close(&drop));
    return cursor_close(&each);
}

static const char *status_cache_insert_sql(Arena *arena)
{
    const char *sql = "INSERT OR REPLACE INTO status_cache VALUES(?, ?, ?";
    for (int i = 0; i < STATUS_FIELDS; i++) sql = arena_format(arena, "%s, ?", sql);
    return arena_format(arena, "%s)", sql);
}

// Else there was no row to read.
static bool status_is_read(const StatusReport *report) { return strcmp(report->state, "unreadable") != 0; }

static Error status_cache_insert(Database *catalogue, const StatusCache *cache)
{
    Cursor insert = cursor_open(catalogue, status_cache_insert_sql(cache->arena));
    for (const StatusCacheRow *fresh = cache->fresh; fresh != NULL; fresh = fresh->next) {
        const bool of_root = strchr(fresh->name, '/') == NULL; // else verify or compare made it
        if (of_root && status_is_read(&fresh->report))
            cursor_stop(&insert, catalogue_replace_by(catalogue, &fresh->report));
        status_cache_bind(&insert, fresh);
        cursor_next(&insert);
    }
    return cursor_close(&insert);
}

// A table with other columns is dropped and made again.
static Error status_cache_make_table(Database *catalogue, Arena *arena)
{
    TRY(database_run(catalogue, status_cache_table_sql(arena)));
    Cursor find = cursor_open(catalogue, status_cache_find_sql(arena));
    if (cursor_close(&find).kind == OK) return error_none();
    TRY(database_run(catalogue, "DROP TABLE status_cache"));
    return database_run(catalogue, status_cache_table_sql(arena));
}

static Error status_cache_store(const StatusCache *cache, Database *catalogue, const char *const *names, int count)
{
    TRY(database_run(catalogue, "BEGIN IMMEDIATE"));
    Error error = status_cache_make_table(catalogue, cache->arena);
    for (int table = 0; table < STATUS_CACHE_TABLES && error.kind == OK; table++)
        error = status_cache_forget(catalogue, table, names, count, cache->arena);
    if (error.kind == OK) error = status_cache_insert(catalogue, cache);
    const Error end = database_run(catalogue, error.kind == OK ? "COMMIT" : "ROLLBACK");
    return error.kind == OK ? end : error;
}

void status_cache_close(StatusCache *cache, const char *const *names, int count)
{
    Lock lock = {.descriptor = -1};
    Database *catalogue = NULL;
    const bool changed = cache->writable && (cache->fresh != NULL || status_cache_has_more(cache, names, count));
    status_cache_stop(cache);
    if (!changed) return;
    if (lock_take(arena_format(cache->arena, "%s/" CATALOGUE_LOCK, cache->results), &lock).kind != OK) return;
    Error error = database_open(status_cache_path(cache), DATABASE_WRITE, &catalogue);
    if (error.kind == OK) error = status_cache_store(cache, catalogue, names, count);
    (void)database_close(catalogue); // after an error the next command writes the cache
    lock_release(&lock);
}

// ---- with the catalogue's own rows ----------------------------------------------------------------------------------

bool status_cache_look(const CampaignPlace *place, StatusEntry *entry, Arena *arena)
{
    *entry = (StatusEntry){.place = *place, .name = place->name};
    if (network_file_system(place->folder)[0] != '\0') return false;
    database_stamp_wait(status_database(place, arena));
    entry->still = status_read_still(place, arena, &entry->stamp, &entry->report);
    return entry->still;
}

// Stores the entries that were read without error while nothing wrote to them.
static bool status_is_whole(const StatusEntry *entry)
{
    return entry->still && entry->error == NULL && status_is_read(&entry->report);
}

Error status_cache_keep(Database *catalogue, const StatusEntry *entries, int count, Arena *arena)
{
    TRY(status_cache_make_table(catalogue, arena));
    Cursor drop = cursor_open(catalogue, "DELETE FROM status_cache WHERE name = ?");
    Cursor insert = cursor_open(catalogue, status_cache_insert_sql(arena));
    for (int i = 0; i < count; i++) {
        const StatusCacheRow kept = {.name = entries[i].name, .stamp = entries[i].stamp, .report = entries[i].report};
        const bool whole = status_is_whole(&entries[i]);
        if (whole)
            status_cache_bind(&insert, &kept);
        else
            with_text(&drop, entries[i].name);
        cursor_next(whole ? &insert : &drop);
    }
    cursor_stop(&insert, cursor_close(&drop));
    return cursor_close(&insert);
}

bool status_cache_is_behind(Database *catalogue, const char *results, const char *name, Arena *arena)
{
    DatabaseStamp stamp;
    bool behind = false;
    (void)database_stamp(arena_format(arena, "%s/%s/" CAMPAIGN_DATABASE, results, name), &stamp); // trusted or not
    Cursor kept = cursor_open(catalogue, "SELECT stamp FROM status_cache WHERE name = ?");
    with_text(&kept, name);
    if (cursor_next(&kept)) {
        const Bytes bytes = cell_blob(&kept, 0);
        behind = bytes.size == sizeof stamp && memcmp(bytes.data, &stamp, sizeof stamp) != 0;
    }
    return cursor_close(&kept).kind == OK && behind;
}
