// Which arrays are kept, and how those are recorded that could not be chosen before their trial had run: by simulating
// the trial again, which gives the same bits. The row of the trial says what the bits are, so every recording is also a
// test of that promise.
#include "record.h"

#include "../store/stored_trial.h"

#include <string.h>

// ---- the policy -----------------------------------------------------------------------------------------------------

bool record_as_run(const Spec *spec, int64_t id)
{
    const Selection *select = &spec->record.select;
    if (!spec->record.trajectories) return false;
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
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(database, sql, &statement));
    bind_integer(statement, 1, value);
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

// Of several objectives: of the front, spread evenly.
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
    char sql[256];
    if (spec_several(spec)) return record_want_front(spec, database, best);
    snprintf(sql, sizeof sql,
             "INSERT OR IGNORE INTO temp.wanted SELECT id FROM trials WHERE fitness IS NOT NULL "
             "ORDER BY %s LIMIT ?",
             store_best_order(spec));
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
    return recording.wanted ? record_want_all(spec, database, recording.select) : error_none();
}

// ---- what is missing ------------------------------------------------------------------------------------------------

// So many lanes of a trial have arrays when it is complete. Of `on: failure` those that failed.
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

static Error record_count(Store *store, int64_t *count)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(store->database, "SELECT count(*) FROM temp.wanted", &statement));
    const Error error = statement_step(statement, &row);
    *count = row ? column_integer(statement, 0) : 0;
    statement_close(statement);
    return error;
}

// Fills the temporary table `wanted` with the ids of all trials that are still to be recorded, and counts them.
static Error record_list(const Spec *spec, Store *store, RecordKind kind, int64_t *count)
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

// ---- recording ------------------------------------------------------------------------------------------------------

typedef struct RecordPass {
    const Spec *spec;
    Store *store;
    const Search *search;
    Backend *backend;
    Statement *select;
    int64_t trials_max, slice, last; // last: id of the last trial that was recorded
    Watch *watch;                    // may be NULL
    Flight flight;
    TrialRows stored; // what the trials' rows say
    Commit commit;
} RecordPass;

// The next trials that are wanted: their rows, and from the search their parameters.
static Error record_next(RecordPass *pass)
{
    Trials *trials = &pass->flight.trials;
    bool row = true;
    trials->count = 0;
    bind_integer(pass->select, 1, pass->last);
    bind_integer(pass->select, 2, pass->trials_max);
    TRY(statement_step(pass->select, &row));
    for (; row; trials->count++) {
        const int64_t t = trials->count;
        rows_read(pass->spec, pass->select, &pass->stored, t);
        trials->id[t] = pass->last = pass->stored.id[t];
        trials->search[t] = pass->stored.search[t];
        trials->round[t] = pass->stored.round[t];
        pass->flight.observed[t] = true;
        TRY(search_stored_trial(pass->search, pass->store->database, &pass->stored, t, &trials->ordinal[t],
                                &trials->parameter[t * pass->spec->configured.n_parameters]));
        TRY(statement_step(pass->select, &row));
    }
    return error_none();
}

static Error record_compare(const RecordPass *pass)
{
    char difference[256];
    for (int64_t t = 0; t < pass->flight.trials.count; t++) {
        if (!rows_differ(pass->spec, &pass->stored, t, &pass->commit.rows, t, difference, sizeof difference)) continue;
        return error_make(ERROR_MACHINE,
                          "trial %lld of %s does not repeat: %s; its arrays were not recorded. A "
                          "processor or memory is at fault, or the program is not the one that ran it",
                          (long long)pass->stored.id[t], pass->store->name, difference);
    }
    return error_none();
}

static Error record_batch(RecordPass *pass)
{
    double seconds = 0;
    flight_fill(pass->spec, &pass->flight, backend_batch(pass->backend, 0));
    TRY(flight_run(pass->spec, pass->backend, &pass->flight, pass->slice, pass->watch));
    flight_collect(pass->spec, &pass->flight, backend_batch(pass->backend, 0), &pass->commit);
    TRY(record_compare(pass));
    pass->commit.rows.count = 0; // they are stored already
    return store_commit(pass->store, &pass->commit, &seconds);
}

static Error record_all(RecordPass *pass, Arena *arena, int64_t *recorded)
{
    const char *sql = rows_select_sql(pass->spec, arena,
                                      "WHERE id IN (SELECT id FROM temp.wanted WHERE id > ? "
                                      "ORDER BY id LIMIT ?) ORDER BY id");
    TRY(database_prepare(pass->store->database, sql, &pass->select));
    Error error = record_next(pass);
    while (error.kind == OK && pass->flight.trials.count > 0) {
        error = record_batch(pass);
        if (error.kind != OK) break;
        *recorded += pass->flight.trials.count;
        if (pass->watch != NULL) pass->watch->phase_before = (double)*recorded;
        error = record_next(pass);
    }
    statement_close(pass->select);
    return error;
}

static size_t record_buffer_bytes(const Spec *spec, const Recording *recording, int64_t trials)
{
    const int64_t trial =
        flight_bytes(spec) + 2 * rows_bytes(spec) + recording->lanes * recording_lane_bytes(recording);
    return (size_t)(trials * trial + flight_scratch_bytes(spec)) + ((size_t)4 << 20);
}

// The trials in the temporary table `wanted`, of which there are so many.
static Error record_wanted(RecordPass *pass, RecordKind kind, int64_t wanted, int64_t lanes_max, int64_t *recorded)
{
    const Recording recording = recording_of(pass->spec, kind);
    const int64_t fit = lanes_max / recording.lanes, most = fit < pass->trials_max ? fit : pass->trials_max;
    Arena arena;
    pass->trials_max = wanted < most ? wanted : most;
    TRY(arena_create(&arena, record_buffer_bytes(pass->spec, &recording, pass->trials_max),
                     "arrays that are recorded"));
    flight_take(pass->spec, pass->trials_max, &arena, &pass->flight);
    pass->flight.kind = kind;
    rows_take(pass->spec, pass->trials_max, &arena, &pass->stored);
    commit_take(pass->spec, pass->trials_max, pass->trials_max * recording.lanes, recording_lane_bytes(&recording), 0,
                &arena, &pass->commit);
    const Error error = record_all(pass, &arena, recorded);
    arena_destroy(&arena);
    return error;
}

Error record_missing(const Loop *loop, RecordKind kind, int64_t *recorded)
{
    const int64_t lanes_max = kind == RECORD_DEBUG ? loop->debug_max : loop->traced_max;
    ProgressNumbers numbers = loop->numbers;
    Watch watch = {.progress = loop->progress, .numbers = &numbers, .until = loop->record_until};
    RecordPass pass = {.spec = loop->spec,
                       .store = loop->store,
                       .search = loop->search,
                       .backend = loop->backend,
                       .trials_max = loop->batch_trials,
                       .slice = loop->slice_requested,
                       .last = -1,
                       .watch = &watch};
    int64_t wanted = 0;
    *recorded = 0;
    TRY(record_list(loop->spec, loop->store, kind, &wanted));
    if (wanted == 0) return error_none();
    TRY(store_set_state(loop->store, "running",
                        kind == RECORD_DEBUG ? "recording debug rows" : "recording trajectories", NULL));
    numbers.doing = "recording";
    numbers.phase_total = (double)wanted;
    numbers.phase_unit = kind == RECORD_DEBUG ? "trials' debug rows" : "trials' trajectories";
    watch_show(&watch);
    return record_wanted(&pass, kind, wanted, lanes_max, recorded);
}

Error record_again(const Spec *spec, Store *store, const Search *search, Backend *backend, RecordKind kind,
                   int64_t trials_max, int64_t lanes_max, const char *ids_sql, int64_t *recorded)
{
    RecordPass pass = {.spec = spec, .store = store, .search = search, .backend = backend, .last = -1};
    char sql[512];
    int64_t wanted = 0;
    *recorded = 0;
    pass.trials_max = trials_max;
    if (lanes_max == 0) return error_none(); // no longer recorded at all
    TRY(record_list(spec, store, kind, &wanted));
    snprintf(sql, sizeof sql, "DELETE FROM temp.wanted; INSERT OR IGNORE INTO temp.wanted %s", ids_sql);
    TRY(database_run(store->database, sql));
    TRY(record_count(store, &wanted));
    return wanted > 0 ? record_wanted(&pass, kind, wanted, lanes_max, recorded) : error_none();
}
