// Records arrays that could not be chosen before their trial had run: simulates the trial again, which gives the same
// bits. Every recording compares the bits with the stored row, so it is also a test of that promise.
#include "record.h"

#include "../store/campaign/lost.h"
#include "../store/commit/race_rows.h"
#include "../store/queries.h"

#include <string.h>

// ---- recording ------------------------------------------------------------------------------------------------------

typedef struct RecordPass {
    const Spec *spec;
    Store *store;
    const Search *search;
    Backend *backend;
    ThreadTeam *team;                // NULL: none
    Cursor rows;                     // of the trials that are wanted
    int64_t trials_max, slice, last; // last: id of the last trial that was recorded
    Watch *watch;                    // may be NULL
    Flight flight;
    TrialRows stored; // what the trials' rows say
    Commit commit;
    Recorded *recorded;
} RecordPass;

// Reads the next wanted trials: their rows, and from the search their parameters.
static Error record_next(RecordPass *pass)
{
    Trials *trials = &pass->flight.trials;
    trials->count = 0;
    trial_rows_after(&pass->rows, pass->last, pass->trials_max);
    while (trial_rows_next(&pass->rows, pass->spec, &pass->stored, trials->count)) {
        const int64_t t = trials->count++;
        trials->id[t] = pass->last = pass->stored.id[t];
        trials->search[t] = (int32_t)pass->stored.search[t];
        trials->round[t] = (int32_t)pass->stored.round[t];
        pass->flight.observed[t] = true;
        TRY(search_stored_trial(pass->search, pass->store->database, &pass->stored, t, &trials->ordinal[t],
                                &trials->parameter[t * pass->spec->configured.n_parameters]));
    }
    return pass->rows.error;
}

static Error record_compare(const RecordPass *pass)
{
    char difference[256];
    for (int64_t t = 0; t < pass->flight.trials.count; t++) {
        if (!rows_differ(pass->spec, &pass->stored, t, &pass->commit.rows, t, difference, sizeof difference)) continue;
        if (pass->spec->model->runs_program)
            return error_make(ERROR_MACHINE,
                              "trial %lld of %s does not repeat: %s; its arrays were not recorded. The program must "
                              "depend on its parameters and its seed alone",
                              (long long)pass->stored.id[t], pass->store->name, difference);
        return error_make(ERROR_MACHINE,
                          "trial %lld of %s does not repeat: %s; its arrays were not recorded. A "
                          "processor or memory is at fault, or the program is not the one that ran it",
                          (long long)pass->stored.id[t], pass->store->name, difference);
    }
    return error_none();
}

// Counts the replicates that have more rows than are kept.
static void record_count_cut(RecordPass *pass)
{
    const Commit *commit = &pass->commit;
    for (int64_t i = 0; i < commit->n_lanes; i++) {
        const int64_t rows = commit->lanes[i].length + commit->dropped[i];
        if (commit->dropped[i] == 0) continue;
        pass->recorded->cut++;
        if (rows > pass->recorded->most) pass->recorded->most = rows;
    }
}

static Error record_batch(RecordPass *pass)
{
    double seconds = 0;
    flight_fill(pass->spec, &pass->flight, backend_batch(pass->backend, 0));
    TRY(flight_run(pass->spec, pass->backend, &pass->flight, pass->slice, pass->watch));
    flight_collect(pass->spec, &pass->flight, backend_batch(pass->backend, 0), &pass->commit);
    TRY(record_compare(pass));
    record_count_cut(pass);
    pass->commit.rows.count = 0; // they are stored already
    return store_commit(pass->store, &pass->commit, &seconds);
}

static Error record_all(RecordPass *pass, Arena *arena)
{
    pass->rows = trial_rows_wanted(pass->store->database, pass->spec, arena);
    Error error = record_next(pass);
    while (error.kind == OK && pass->flight.trials.count > 0) {
        error = record_batch(pass);
        if (error.kind != OK) break;
        pass->recorded->trials += pass->flight.trials.count;
        if (pass->watch != NULL) pass->watch->phase_before = (double)pass->recorded->trials;
        error = record_next(pass);
    }
    (void)cursor_close(&pass->rows); // its error was taken
    return error;
}

static size_t record_buffer_bytes(const RecordPass *pass, const Recording *recording, int64_t trials)
{
    const Spec *spec = pass->spec;
    const int64_t trial =
        flight_bytes(spec) + 2 * rows_bytes(spec) + recording->lanes * recording_lane_bytes(recording);
    return (size_t)(trials * trial + flight_scratch_bytes(spec, pass->team)) + ((size_t)4 << 20);
}

// Records the trials in the temporary table `wanted`; `wanted` is their number.
static Error record_wanted(RecordPass *pass, RecordKind kind, int64_t wanted, int64_t lanes_max)
{
    const Recording recording = recording_of(pass->spec, kind);
    const int64_t fit = lanes_max / recording.lanes, most = fit < pass->trials_max ? fit : pass->trials_max;
    Arena arena;
    pass->trials_max = wanted < most ? wanted : most;
    TRY(arena_create(&arena, record_buffer_bytes(pass, &recording, pass->trials_max), "arrays that are recorded"));
    flight_take(pass->spec, pass->trials_max, pass->team, &arena, &pass->flight);
    pass->flight.kind = kind;
    rows_take(pass->spec, pass->trials_max, &arena, &pass->stored);
    commit_take(pass->spec, pass->trials_max, pass->trials_max * recording.lanes, recording_lane_bytes(&recording), 0,
                &arena, &pass->commit);
    const Error error = record_all(pass, &arena);
    arena_destroy(&arena);
    return error;
}

// spec: what the trials ran. rung: that they ended with, of a race or of limits.retire; else -1.
static Error record_missing_of(const Loop *loop, const Spec *spec, int rung, RecordKind kind, Recorded *recorded)
{
    const int64_t lanes_max = kind == RECORD_DEBUG ? loop->debug_max : loop->traced_max;
    ProgressNumbers numbers = loop->numbers;
    Watch watch = {.progress = loop->progress, .numbers = &numbers, .until = loop->record_until};
    RecordPass pass = {.spec = spec,
                       .store = loop->store,
                       .search = loop->search,
                       .backend = loop->backend,
                       .team = loop->team,
                       .trials_max = loop->batch_trials * loop->spec->replicates.count / spec->replicates.count,
                       .slice = loop->slice_requested,
                       .last = -1,
                       .watch = &watch,
                       .recorded = recorded};
    int64_t wanted = 0;
    TRY(record_list(spec, loop->store, kind, &wanted));
    if (rung >= 0) TRY(race_want_rung(loop->store->database, loop->store->spec, rung));
    if (rung >= 0) TRY(record_count(loop->store, &wanted));
    if (wanted == 0) return error_none();
    if (pass.trials_max < 1) pass.trials_max = 1;
    char phase[64], unit[64];
    snprintf(phase, sizeof phase, "recording %s", recording_are(loop->spec, kind));
    snprintf(unit, sizeof unit, "trials' %s", recording_are(loop->spec, kind));
    TRY(store_set_state(loop->store, &(StoreState){.state = "running", .reason = phase}));
    numbers.doing = "recording";
    numbers.phase_total = (double)wanted;
    numbers.phase_unit = unit;
    watch_show(&watch);
    return record_wanted(&pass, kind, wanted, lanes_max);
}

Error record_missing(const Loop *loop, RecordKind kind, Recorded *recorded)
{
    *recorded = (Recorded){.trials = 0};
    if (spec_compares(loop->spec) == NULL) return record_missing_of(loop, loop->spec, -1, kind, recorded);
    for (int rung = 0; rung < race_rungs(loop->store->spec); rung++) {
        const Spec had = race_ended_with(loop->store->spec, rung);
        TRY(record_missing_of(loop, &had, rung, kind, recorded));
    }
    return error_none();
}

Error record_lost(const Spec *spec, Store *store, const Search *search, Backend *backend, RecordKind kind,
                  int64_t trials_max, int64_t lanes_max, Arena *arena, Recorded *recorded)
{
    RecordPass pass = {
        .spec = spec, .store = store, .search = search, .backend = backend, .last = -1, .recorded = recorded};
    const Recording recording = recording_of(spec, kind);
    int64_t wanted = 0;
    *recorded = (Recorded){.trials = 0};
    pass.trials_max = trials_max;
    if (lanes_max == 0) return error_none(); // no longer recorded at all
    TRY(record_list(spec, store, kind, &wanted));
    TRY(lost_shards_want(store->database, &recording, arena));
    TRY(record_count(store, &wanted));
    return wanted > 0 ? record_wanted(&pass, kind, wanted, lanes_max) : error_none();
}
