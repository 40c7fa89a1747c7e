// The digests that campaign.db keeps of its own rows, in the table `digests`: for every range of rows of every table
// the number of rows and the XOR of their digests (io/row_digest.c). They change in the transaction that changes the
// rows. So doctor finds a bit that flipped on the disk by counting again; SQLite's own checks may miss it.
//
// Temporary triggers, which belong to the writer's connection and not to the file, follow every change. Only the rows
// that a commit inserts into the large tables are counted by the commit itself: a trigger per row would be too slow.
#include "seal.h"

#include "kept_rows.h"
#include "../trials/trial_blocks.h"

#include <stdlib.h>
#include <string.h>

// Large tables have a digest per range of 2^SEAL_RANGE_BITS trials, so that damage can be located. Other tables are one
// range.
enum {
    SEAL_RANGE_BITS = 10,
    SEAL_CHUNK = 95,      // values per call of row_digest; SQLite allows 100 or more, and 30 calls within each other
    SEAL_LOST_MAX = 4096, // ranges reported as lost: a damaged row of `batches` may claim any number
};
static const struct {
    const char *table, *trial;
} seal_large[] = {{"trials", "id"}, {"replicates", "trial"}};

#define SEAL_ADD                                                                                                       \
    "ON CONFLICT(name, block) DO UPDATE SET rows = rows + excluded.rows, "                                             \
    "digest = (digest | excluded.digest) - (digest & excluded.digest)" // XOR

const char *const seal_add_sql = "INSERT INTO digests VALUES(?, ?, ?, ?) " SEAL_ADD;

// The column with the trial's id in a large table; NULL: the table is small.
static const char *seal_trial(const char *table)
{
    for (size_t i = 0; i < sizeof seal_large / sizeof *seal_large; i++) {
        if (strcmp(seal_large[i].table, table) == 0) return seal_large[i].trial;
    }
    return NULL;
}

// A damaged or foreign database may name any range. A range in which no trial can be gives an empty range.
void seal_trials(int64_t range, int64_t *first, int64_t *end)
{
    const bool possible = range >= 0 && range < INT64_MAX >> SEAL_RANGE_BITS;
    *first = possible ? range << SEAL_RANGE_BITS : 0;
    *end = possible ? (range + 1) << SEAL_RANGE_BITS : 0;
}

int64_t seal_range(int64_t trial) { return trial >> SEAL_RANGE_BITS; }

// ---- rows that a commit inserts -------------------------------------------------------------------------------------

Error seal_flush(Cursor *add, SealTally *tally)
{
    if (tally->rows == 0 && tally->digest == 0) return error_none(); // as many rows may have come as went
    with_text(add, tally->name);
    with_integer(add, tally->range);
    with_integer(add, tally->rows);
    with_integer(add, (int64_t)tally->digest);
    tally->rows = 0;
    tally->digest = 0;
    cursor_next(add);
    return add->error;
}

Error seal_count(Cursor *add, SealTally *tally, int64_t range, uint64_t digest)
{
    if (range != tally->range) TRY(seal_flush(add, tally));
    tally->range = range;
    tally->digest ^= digest;
    tally->rows++;
    return error_none();
}

Error seal_flush_removed(Database *database, Cursor *add, SealTally *tally)
{
    const bool any = tally->rows != 0;
    TRY(seal_flush(add, tally));
    if (!any) return error_none();
    Cursor empty = cursor_open(database, "DELETE FROM digests WHERE name = ? AND block = ? AND rows = 0");
    with_text(&empty, tally->name);
    with_integer(&empty, tally->range);
    return cursor_run(&empty);
}

Error seal_uncount(Database *database, Cursor *add, SealTally *tally, int64_t range, uint64_t digest)
{
    if (range != tally->range) TRY(seal_flush_removed(database, add, tally));
    tally->range = range;
    tally->digest ^= digest;
    tally->rows--;
    return error_none();
}

Error seal_add_attached(Database *database)
{
    return database_run(database, "INSERT INTO main.digests SELECT name, block, rows, digest FROM other.digests "
                                  "WHERE name IN ('trials', 'replicates') " SEAL_ADD);
}

// ---- names of tables and columns ------------------------------------------------------------------------------------

static Error seal_names(Database *database, const char *sql, const char *bound, Arena *arena, const char ***names,
                        int *count)
{
    enum { NAMES_MAX = 2000 }; // SQLite's own limit for columns
    const char *name;
    *names = ARENA_NEW(arena, const char *, NAMES_MAX);
    *count = 0;
    Cursor each = cursor_open(database, sql);
    if (bound != NULL) with_text(&each, bound);
    while (*count < NAMES_MAX && next_text(&each, &name)) (*names)[(*count)++] = arena_copy(arena, name);
    return cursor_close(&each);
}

static Error seal_tables(Database *database, Arena *arena, const char ***names, int *count)
{
    return seal_names(database,
                      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' "
                      "ESCAPE '!' AND name <> 'digests' AND name NOT GLOB '*[^A-Za-z0-9_]*' UNION SELECT 'trials' "
                      "ORDER BY name",
                      NULL, arena, names, count);
}

// ---- triggers -------------------------------------------------------------------------------------------------------

// row_digest(row_digest(0, NEW."id", ...), ...) over all columns of the table
static Error seal_row_sql(Database *database, const char *table, const char *which, Arena *arena, const char **sql)
{
    const char **columns = NULL;
    int count = 0;
    TRY(seal_names(database, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table, arena, &columns, &count));
    *sql = "0";
    for (int first = 0; first < count; first += SEAL_CHUNK) {
        *sql = arena_format(arena, "row_digest(%s", *sql);
        for (int i = first; i < count && i < first + SEAL_CHUNK; i++) {
            *sql = arena_format(arena, "%s, %s.%s", *sql, which, sql_identifier(arena, columns[i]));
        }
        *sql = arena_format(arena, "%s)", *sql);
    }
    return error_none();
}

// The SQL of a trigger for the row NEW (rows: 1) or OLD (rows: -1).
static Error seal_change_sql(Database *database, const char *table, int rows, Arena *arena, const char **sql)
{
    const char *which = rows > 0 ? "NEW" : "OLD", *trial = seal_trial(table), *digest = NULL;
    const char *range = trial != NULL ? arena_format(arena, "%s.%s >> %d", which, trial, SEAL_RANGE_BITS) : "0";
    TRY(seal_row_sql(database, table, which, arena, &digest));
    *sql =
        arena_format(arena, "INSERT INTO digests VALUES('%s', %s, %d, %s) " SEAL_ADD "; ", table, range, rows, digest);
    if (rows > 0) return error_none();
    *sql = arena_format(arena, "%sDELETE FROM digests WHERE name = '%s' AND block = %s AND rows = 0; ", *sql, table,
                        range);
    return error_none();
}

static Error seal_trigger(Database *database, const char *table, const char *event, const char *changes, Arena *arena)
{
    return database_run(database,
                        arena_format(arena, "CREATE TEMP TRIGGER IF NOT EXISTS %s AFTER %s ON main.%s BEGIN %s END",
                                     sql_identifier(arena, arena_format(arena, "%s_%s", event, table)), event,
                                     sql_identifier(arena, table), changes));
}

static Error seal_keep_table(Database *database, const char *table, Arena *arena)
{
    const char *added = NULL, *removed = NULL;
    TRY(seal_change_sql(database, table, 1, arena, &added));
    TRY(seal_change_sql(database, table, -1, arena, &removed));
    const bool counted = strcmp(table, "trials") == 0 && kept_partly(database); // by who deletes: kept_rows.c
    if (seal_trial(table) == NULL) TRY(seal_trigger(database, table, "INSERT", added, arena));
    if (!counted) TRY(seal_trigger(database, table, "DELETE", removed, arena));
    return seal_trigger(database, table, "UPDATE", arena_format(arena, "%s%s", removed, added), arena);
}

Error seal_keep(Database *database, Arena *arena)
{
    const char **tables = NULL;
    int count = 0;
    TRY(seal_tables(database, arena, &tables, &count));
    for (int i = 0; i < count; i++) { // rows of blocks are counted by those who write blocks
        if (strcmp(tables[i], "trials") != 0 || !trial_blocks_exist(database))
            TRY(seal_keep_table(database, tables[i], arena));
    }
    return error_none();
}

// ---- counting again -------------------------------------------------------------------------------------------------

// Adds the rows of a query, {range, the row's values}, to the digests of `name`.
static Error seal_scan(Database *database, const char *name, const char *sql, Cursor *add)
{
    SealTally tally = {.name = name};
    Cursor rows = cursor_open(database, sql);
    while (cursor_next(&rows)) {
        if (cell_integer(&rows, 0) != tally.range) cursor_stop(&rows, seal_flush(add, &tally));
        tally.range = cell_integer(&rows, 0);
        tally.digest ^= cells_digest(&rows, 1);
        tally.rows++;
    }
    TRY(cursor_close(&rows));
    return seal_flush(add, &tally);
}

// The declarations of the tables and of the index trials_by_fitness; not their pages in the file.
static Error seal_scan_schema(Database *database, Cursor *add)
{
    return seal_scan(database, "sqlite_schema",
                     "SELECT 0, type, name, tbl_name, sql FROM main.sqlite_schema WHERE name NOT LIKE 'sqlite!_%' "
                     "ESCAPE '!' AND (type = 'table' OR name = 'trials_by_fitness')",
                     add);
}

Error seal_stored(Database *database, const char *table, int64_t range, SealTally *tally)
{
    *tally = (SealTally){.name = table, .range = range};
    Cursor stored = cursor_open(database, "SELECT rows, digest FROM digests WHERE name = ? AND block = ?");
    with_text(&stored, table);
    with_integer(&stored, range);
    if (next_integer(&stored, &tally->rows)) tally->digest = (uint64_t)cell_integer(&stored, 1);
    return cursor_close(&stored);
}

Error seal_sum(Database *database, SealTally *sum)
{
    *sum = (SealTally){.name = SEAL_ALL_TRIALS};
    Cursor stored = cursor_open(database, "SELECT rows, digest FROM main.digests WHERE name = 'trials'");
    while (cursor_next(&stored)) {
        sum->rows += cell_integer(&stored, 0);
        sum->digest ^= (uint64_t)cell_integer(&stored, 1);
    }
    return cursor_close(&stored);
}

Error seal_forget_sum(Database *database)
{
    return database_run(database, "DELETE FROM digests WHERE name = '" SEAL_ALL_TRIALS "'");
}

Error seal_keep_sum(Database *database)
{
    SealTally sum;
    TRY(seal_sum(database, &sum));
    TRY(seal_forget_sum(database));
    Cursor add = cursor_open(database, seal_add_sql);
    cursor_stop(&add, seal_flush(&add, &sum));
    return cursor_close(&add);
}

Error seal_compare_sum(Database *database, bool *same)
{
    SealTally stored, sum;
    TRY(seal_stored(database, SEAL_ALL_TRIALS, 0, &stored));
    TRY(seal_sum(database, &sum));
    *same = stored.rows == 0 || (stored.rows == sum.rows && stored.digest == sum.digest);
    return error_none();
}

static Error seal_scan_range(Database *database, const char *table, int64_t range, Cursor *add, Arena *arena)
{
    const char *trial = seal_trial(table);
    int64_t first, end;
    seal_trials(range, &first, &end);
    if (strcmp(table, "sqlite_schema") == 0) return seal_scan_schema(database, add);
    const char *sql = trial == NULL
                          ? arena_format(arena, "SELECT 0, * FROM main.%s", table)
                          : arena_format(arena, "SELECT %s >> %d, * FROM %s WHERE %s >= %lld AND %s < %lld", trial,
                                         SEAL_RANGE_BITS, table, trial, (long long)first, trial, (long long)end);
    return seal_scan(database, table, sql, add);
}

Error seal_again(Database *database, const char *table, int64_t range, Arena *arena, SealTally *tally)
{
    Cursor drop = cursor_open(database, "DELETE FROM digests WHERE name = ? AND block = ?");
    with_text(&drop, table);
    with_integer(&drop, range);
    TRY(cursor_run(&drop));
    Cursor add = cursor_open(database, seal_add_sql);
    cursor_stop(&add, seal_scan_range(database, table, range, &add, arena));
    TRY(cursor_close(&add));
    return seal_stored(database, table, range, tally);
}

static Error seal_scan_table(Database *database, const char *table, Cursor *add, Arena *arena)
{
    const char *trial = seal_trial(table);
    const char *sql = trial == NULL ? arena_format(arena, "SELECT 0, * FROM main.%s", table)
                                    : arena_format(arena, "SELECT %s >> %d, * FROM %s ORDER BY %s", trial,
                                                   SEAL_RANGE_BITS, table, trial);
    return seal_scan(database, table, sql, add);
}

Error seal_schema(Database *database)
{
    TRY(database_run(database, "DELETE FROM digests WHERE name = 'sqlite_schema'"));
    Cursor add = cursor_open(database, seal_add_sql);
    cursor_stop(&add, seal_scan_schema(database, &add));
    return cursor_close(&add);
}

// ---- comparing ------------------------------------------------------------------------------------------------------

static const char seal_found_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS found(name TEXT, block INTEGER, rows INTEGER, digest INTEGER, "
    "PRIMARY KEY(name, block)); DELETE FROM temp.found;";
static const char seal_compare_sql[] =
    "SELECT name, block FROM (SELECT * FROM main.digests WHERE name <> '" SEAL_ALL_TRIALS "' EXCEPT "
    "SELECT * FROM temp.found) UNION "
    "SELECT name, block FROM (SELECT * FROM temp.found EXCEPT SELECT * FROM main.digests) ORDER BY 1, 2";

// Batches with fewer trials than they committed: the ranges of their first and last trial.
static const char seal_lost_sql[] =
    "SELECT first_trial >> ?1, last_trial >> ?1 FROM batches WHERE (SELECT sum(trials) FROM batches) > (SELECT "
    "count(*) FROM trials) AND trials > (SELECT count(*) FROM trials WHERE id BETWEEN first_trial AND last_trial) "
    "ORDER BY first_trial";

// Ranges whose trials are complete and have too few replicates, although the digests agree.
// %s: how many replicates the trials of the range t have.
static const char seal_fewer_sql[] =
    "SELECT t.block FROM temp.found t JOIN main.digests USING(name, block, rows, digest) LEFT JOIN temp.found r ON "
    "r.name = 'replicates' AND r.block = t.block LEFT JOIN main.digests d ON d.name = 'replicates' AND "
    "d.block = t.block WHERE t.name = 'trials' AND %s > ifnull(r.rows, 0) AND "
    "(r.rows, r.digest) IS (d.rows, d.digest) AND EXISTS (SELECT * FROM main.sqlite_schema WHERE type = 'table' AND "
    "name = 'replicates') ORDER BY 1";

static void seal_note(SealDamage *damage, const char *table, int64_t range, const char *unreadable, Arena *arena)
{
    if (damage->count >= damage->capacity) {
        const int64_t capacity = damage->capacity > 0 ? 2 * damage->capacity : 64;
        SealBroken *more = ARENA_NEW(arena, SealBroken, capacity);
        if (damage->count > 0) memcpy(more, damage->broken, (size_t)damage->count * sizeof *more);
        damage->broken = more;
        damage->capacity = capacity;
    }
    damage->broken[damage->count++] =
        (SealBroken){.table = arena_copy(arena, table),
                     .range = range,
                     .unreadable = unreadable != NULL ? arena_copy(arena, unreadable) : NULL};
}

// A table that can't be read is noted; the others are still counted.
static Error seal_count_again(Database *database, SealDamage *damage, Arena *arena)
{
    const char **tables = NULL;
    int count = 0;
    TRY(seal_tables(database, arena, &tables, &count));
    TRY(database_run(database, seal_found_sql));
    Cursor add = cursor_open(database, "INSERT INTO temp.found VALUES(?, ?, ?, ?) " SEAL_ADD);
    TRY(add.error);
    for (int i = 0; i < count; i++) {
        const Error error = seal_scan_table(database, tables[i], &add, arena);
        if (error.kind != OK) seal_note(damage, tables[i], 0, error.text, arena);
    }
    cursor_stop(&add, seal_scan_schema(database, &add));
    return cursor_close(&add);
}

// Whether a digest of one of these ranges already differs.
static bool seal_is_explained(const SealDamage *damage, int64_t first, int64_t last)
{
    for (int64_t i = 0; i < damage->count; i++) {
        const SealBroken *broken = &damage->broken[i];
        if (!broken->lost && broken->range >= first && broken->range <= last && strcmp(broken->table, "trials") == 0)
            return true;
    }
    return false;
}

// A damaged small table can't say what other tables should have.
static bool seal_is_broken(const SealDamage *damage, const char *table)
{
    for (int64_t i = 0; i < damage->count; i++) {
        if (strcmp(damage->broken[i].table, table) == 0) return true;
    }
    return false;
}

static void seal_note_lost(SealDamage *damage, const char *table, int64_t range, Arena *arena)
{
    seal_note(damage, table, range, NULL, arena);
    damage->broken[damage->count - 1].lost = true;
}

// If trials are gone together with their digest, only the table batches shows it, or the sum of digests.
static Error seal_find_lost_trials(Database *database, Arena *arena, SealDamage *damage)
{
    int64_t next = 0, first = 0; // next: the first range that is not noted yet
    if (seal_is_broken(damage, "batches") || kept_partly(database)) return error_none();
    Cursor lost = cursor_open(database, seal_lost_sql);
    with_integer(&lost, SEAL_RANGE_BITS);
    while (next_integer(&lost, &first)) {
        const int64_t last = cell_integer(&lost, 1);
        if (seal_is_explained(damage, first, last)) continue;
        for (next = first > next ? first : next; next <= last && damage->count < SEAL_LOST_MAX; next++)
            seal_note_lost(damage, "trials", next, arena);
    }
    return cursor_close(&lost);
}

// If replicates are gone together with their digest, their trials show it.
static Error seal_find_lost_replicates(Database *database, Arena *arena, SealDamage *damage)
{
    int64_t range = 0;
    if (seal_is_broken(damage, "campaign")) return error_none();
    const char *each = "t.rows * (SELECT replicates FROM campaign)";
    if (database_has(database, "trials", "replicates"))
        each =
            arena_format(arena, "(SELECT sum(replicates) FROM main.trials WHERE id >> %d = t.block)", SEAL_RANGE_BITS);
    Cursor fewer = cursor_open(database, arena_format(arena, seal_fewer_sql, each));
    while (next_integer(&fewer, &range)) seal_note_lost(damage, "replicates", range, arena);
    return cursor_close(&fewer);
}

Error seal_check(Database *database, Arena *arena, SealDamage *damage)
{
    *damage = (SealDamage){.count = 0};
    TRY(seal_count_again(database, damage, arena));
    Cursor differing = cursor_open(database, seal_compare_sql);
    while (cursor_next(&differing))
        seal_note(damage, cell_text(&differing, 0), cell_integer(&differing, 1), NULL, arena);
    TRY(cursor_close(&differing));
    bool same = true;
    TRY(seal_compare_sum(database, &same));
    if (!same) seal_note_lost(damage, SEAL_ALL_TRIALS, 0, arena);
    TRY(seal_find_lost_trials(database, arena, damage));
    return seal_find_lost_replicates(database, arena, damage);
}
