// Which arrays are kept: those that the spec asks for, and which of them are still missing.
#include "wanted_arrays.h"
#include "../ground/recording.h"
#include "../trials/rank.h"

#include <string.h>

// ---- the policy -----------------------------------------------------------------------------------------------------

// A part records the trials that are chosen by their ids, if it knows these; gather records the others, when all ranks
// are known.
static Selection record_selection(const Spec *spec, const Selection *given)
{
    if (spec->part.count == 0) return *given;
    if (search_learns(spec->method)) return (Selection){.best = 0};
    return (Selection){.every = given->every, .trials = given->trials, .n_trials = given->n_trials};
}

bool record_as_run(const Spec *spec, int64_t id)
{
    const Selection *select = &spec->record.select;
    if (!spec->record.trajectories || (spec->part.count > 0 && search_learns(spec->method))) return false;
    if (select->every > 0 && id % select->every == 0) return true;
    for (int i = 0; i < select->n_trials; i++) {
        if (select->trials[i] == id) return true;
    }
    return false;
}

int64_t record_trials_max(const Spec *spec, int64_t traced_max)
{
    const int64_t every = spec->record.select.every;
    if (!spec->record.trajectories || every <= 0) return INT64_MAX;
    const int64_t trials = traced_max / recording_of(spec, RECORD_TRAJECTORIES).lanes;
    if (trials > INT64_MAX / every) return INT64_MAX;
    return (trials > 1 ? trials : 1) * every;
}

int64_t record_debug_lanes(const Spec *spec, int64_t trials)
{
    const Recording recording = recording_of(spec, RECORD_DEBUG);
    const Selection *select = recording.select;
    const int64_t chosen = select->best + select->failures + select->n_trials;
    const int64_t at_once = select->every == 0 && chosen < trials ? chosen : trials;
    const int64_t wanted = at_once * recording.lanes, fit = recording_lanes_max(&recording);
    return wanted < fit ? wanted : fit;
}

// ---- what is asked for ----------------------------------------------------------------------------------------------

static Error record_want(Database *database, const char *sql, int64_t value)
{
    Cursor insert = cursor_open(database, sql);
    with_integer(&insert, value);
    return cursor_run(&insert);
}

// With several objectives: trials of the front, spread evenly.
static Error record_want_front(const Spec *spec, Database *database, int64_t best)
{
    Arena arena;
    Front front = {.count = 0};
    TRY(arena_create(&arena, (size_t)1 << 16, "a query"));
    Error error = front_read_objectives(database, spec, &arena, &front);
    for (int64_t i = 0; i < best && i < front.count && error.kind == OK; i++)
        error = record_want(database, "INSERT OR IGNORE INTO temp.wanted VALUES(?)",
                            front.id[front_spread(&front, best, i)]);
    front_free(&front);
    arena_destroy(&arena);
    return error;
}

static Error record_want_best(const Spec *spec, Database *database, int64_t best)
{
    char sql[512];
    if (spec_several(spec)) return record_want_front(spec, database, best);
    snprintf(sql, sizeof sql,
             "INSERT OR IGNORE INTO temp.wanted SELECT id FROM trials WHERE fitness IS NOT NULL "
             "ORDER BY %s, id LIMIT ?",
             rank_order(spec, RANK_COLUMNS_MAX).text);
    return record_want(database, sql, best);
}

static Error record_want_all(const Spec *spec, Database *database, const Selection *select)
{
    if (select->best > 0) TRY(record_want_best(spec, database, select->best));
    if (select->failures > 0) {
        TRY(record_want(database,
                        "INSERT OR IGNORE INTO temp.wanted SELECT id FROM trials WHERE failure <> 'none' "
                        "ORDER BY id LIMIT ?",
                        select->failures));
    }
    if (select->every > 0) {
        TRY(record_want(database, "INSERT OR IGNORE INTO temp.wanted SELECT id FROM trials WHERE id % ? = 0",
                        select->every));
    }
    for (int i = 0; i < select->n_trials; i++) {
        TRY(record_want(database, "INSERT OR IGNORE INTO temp.wanted SELECT id FROM trials WHERE id = ?",
                        select->trials[i]));
    }
    return error_none();
}

Error record_ask(const Spec *spec, Database *database, RecordKind kind)
{
    const Recording recording = recording_of(spec, kind);
    TRY(database_run(database, "CREATE TEMP TABLE IF NOT EXISTS wanted(id INTEGER PRIMARY KEY)"));
    TRY(database_run(database, "DELETE FROM temp.wanted"));
    const Selection select = record_selection(spec, recording.select);
    return recording.wanted ? record_want_all(spec, database, &select) : error_none();
}

// ---- what is missing ------------------------------------------------------------------------------------------------

// The number of replicates of a trial that have arrays in the end. With `on: failure` those that failed.
static const char *record_complete_sql(const Recording *recording, char *sql, size_t size)
{
    snprintf(sql, size,
             "DELETE FROM temp.wanted WHERE (SELECT count(*) FROM %s WHERE trial = wanted.id AND recipe = '%s') >= %s",
             recording->table, recording->recipe,
             recording->failed_only ? "min(?, (SELECT n_failed FROM trials WHERE id = wanted.id))" : "?");
    return sql;
}

static Error record_fill_wanted(const Spec *spec, Store *store, RecordKind kind)
{
    char sql[384];
    const Recording recording = recording_of(spec, kind);
    TRY(record_ask(spec, store->database, kind));
    if (!recording.wanted) return error_none();
    return record_want(store->database, record_complete_sql(&recording, sql, sizeof sql), recording.lanes);
}

Error record_count(Store *store, int64_t *count)
{
    return store_integer(store->database, "SELECT count(*) FROM temp.wanted", 0, count);
}

// Fills the temporary table `wanted` with the ids of all trials that are still to be recorded, and counts them.
Error record_list(const Spec *spec, Store *store, RecordKind kind, int64_t *count)
{
    TRY(database_run(store->database, "BEGIN"));
    TRY(store_end(store, record_fill_wanted(spec, store, kind)));
    return record_count(store, count);
}

Error record_is_missing(const Spec *spec, Store *store, bool *missing)
{
    *missing = false;
    for (RecordKind kind = 0; kind < RECORD_KINDS && !*missing; kind++) {
        int64_t count = 0;
        TRY(record_list(spec, store, kind, &count));
        *missing = count > 0;
    }
    return error_none();
}
