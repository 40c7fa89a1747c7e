// Which trajectories are kept, and how those are recorded that could not be chosen before their trial had run: by
// simulating the trial again, which gives the same bits. The row of the trial says what the bits are, so every
// recording is also a test of that promise.
#include "store.h"

#include <string.h>

static const int64_t record_trace_bytes = (int64_t)64 << 20; // of one batch's trace in memory, and so of a shard

// ---- the policy -----------------------------------------------------------------------------------------------------

bool record_as_run(const Spec *spec, int64_t id)
{
    if (!spec->record.trajectories) return false;
    if (spec->record.every > 0 && id % spec->record.every == 0) return true;
    for (int i = 0; i < spec->record.n_trials; i++) {
        if (spec->record.trials[i] == id) return true;
    }
    return false;
}

int record_replicates(const Spec *spec) { return spec->record.all_replicates ? spec->replicates.count : 1; }

int64_t record_capacity(const Spec *spec) { return trace_capacity(spec->configured.ticks, spec_sample_ticks(spec)); }

int64_t record_lanes_max(const Spec *spec)
{
    if (!spec->record.trajectories) return 0;
    const int64_t lane = record_capacity(spec) * spec->configured.n_columns * (int64_t)sizeof(double);
    const int64_t recorded = record_replicates(spec), trials = record_trace_bytes / (lane * recorded);
    return (trials > 1 ? trials : 1) * recorded;
}

int64_t record_trials_max(const Spec *spec, int64_t traced_max)
{
    if (!spec->record.trajectories || spec->record.every <= 0) return INT64_MAX;
    const int64_t trials = traced_max / record_replicates(spec);
    if (trials > INT64_MAX / spec->record.every) return INT64_MAX;
    return (trials > 1 ? trials : 1) * spec->record.every;
}

// ---- what is missing ------------------------------------------------------------------------------------------------

static Error record_want(Store *store, const char *sql, int64_t value)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(store->database, sql, &statement));
    bind_integer(statement, 1, value);
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

static Error record_want_best(const Spec *spec, Store *store)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "INSERT OR IGNORE INTO temp.wanted SELECT id FROM trials WHERE fitness IS NOT NULL "
             "ORDER BY %s LIMIT ?",
             store_best_order(spec));
    return record_want(store, sql, spec->record.best);
}

static Error record_fill_wanted(const Spec *spec, Store *store)
{
    TRY(database_run(store->database, "DELETE FROM temp.wanted"));
    if (!spec->record.trajectories) return error_none();
    if (spec->record.best > 0) TRY(record_want_best(spec, store));
    if (spec->record.failures > 0) {
        TRY(record_want(store,
                        "INSERT OR IGNORE INTO temp.wanted SELECT id FROM trials WHERE failure <> 'none' "
                        "ORDER BY id LIMIT ?",
                        spec->record.failures));
    }
    if (spec->record.every > 0) {
        TRY(record_want(store, "INSERT OR IGNORE INTO temp.wanted SELECT id FROM trials WHERE id % ? = 0",
                        spec->record.every));
    }
    for (int i = 0; i < spec->record.n_trials; i++) {
        TRY(record_want(store, "INSERT OR IGNORE INTO temp.wanted SELECT id FROM trials WHERE id = ?",
                        spec->record.trials[i]));
    }
    return record_want(store,
                       "DELETE FROM temp.wanted WHERE "
                       "(SELECT count(*) FROM trajectories WHERE trial = wanted.id) >= ?",
                       record_replicates(spec));
}

// Fills the temporary table `wanted` with the ids of all trials that are still to be recorded, and counts them.
static Error record_list(const Spec *spec, Store *store, int64_t *count)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_run(store->database, "CREATE TEMP TABLE IF NOT EXISTS wanted(id INTEGER PRIMARY KEY)"));
    TRY(database_run(store->database, "BEGIN"));
    TRY(store_end(store, record_fill_wanted(spec, store)));
    TRY(database_prepare(store->database, "SELECT count(*) FROM temp.wanted", &statement));
    const Error error = statement_step(statement, &row);
    *count = row ? column_integer(statement, 0) : 0;
    statement_close(statement);
    return error;
}

Error record_is_missing(const Spec *spec, Store *store, bool *missing)
{
    int64_t count = 0;
    TRY(record_list(spec, store, &count));
    *missing = count > 0;
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
        pass->flight.traced[t] = true;
        TRY(pass->search->method->trial(pass->search, trials->id[t], &trials->ordinal[t],
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
                          "trial %lld of %s does not repeat: %s; its trajectory was not recorded. A "
                          "processor or memory is at fault, or the program is not the one that ran it",
                          (long long)pass->stored.id[t], pass->store->name, difference);
    }
    return error_none();
}

static Error record_batch(RecordPass *pass)
{
    double seconds = 0;
    flight_fill(pass->spec, &pass->flight, backend_batch(pass->backend, 0));
    TRY(flight_run(pass->spec, pass->backend, &pass->flight, pass->slice));
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
        error = record_next(pass);
    }
    statement_close(pass->select);
    return error;
}

static size_t record_buffer_bytes(const Spec *spec, int64_t trials)
{
    const int64_t lane = record_capacity(spec) * spec->configured.n_columns * 8 + (int64_t)sizeof(ShardLane);
    const int64_t trial = flight_bytes(spec) + 2 * rows_bytes(spec) + record_replicates(spec) * lane;
    return (size_t)(trials * trial) + ((size_t)4 << 20);
}

Error record_missing(const Spec *spec, Store *store, const Search *search, Backend *backend, int64_t trials_max,
                     int64_t traced_max, int64_t slice, int64_t *recorded)
{
    RecordPass pass = {.spec = spec, .store = store, .search = search, .backend = backend, .slice = slice, .last = -1};
    Arena arena;
    int64_t wanted = 0;
    *recorded = 0;
    TRY(record_list(spec, store, &wanted));
    if (wanted == 0) return error_none();
    const int64_t fit = traced_max / record_replicates(spec), most = fit < trials_max ? fit : trials_max;
    pass.trials_max = wanted < most ? wanted : most;
    TRY(arena_create(&arena, record_buffer_bytes(spec, pass.trials_max), "trajectories that are recorded"));
    flight_take(spec, pass.trials_max, &arena, &pass.flight);
    rows_take(spec, pass.trials_max, &arena, &pass.stored);
    commit_take(spec, pass.trials_max, pass.trials_max * record_replicates(spec), record_capacity(spec), 0, &arena,
                &pass.commit);
    const Error error = record_all(&pass, &arena, recorded);
    arena_destroy(&arena);
    return error;
}
