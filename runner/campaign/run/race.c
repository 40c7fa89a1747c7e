// The rungs of a race (experiment/search/race.c). The loop ran all trials with few replicates, and stored these. A rung
// chooses the best trials, once, and runs their next replicates in batches. A trial's row is computed anew from all
// replicates that it has then, those that are stored and the new ones, as if they had run together: the same bits, in
// any batches. A run that was killed finds the trials of the rung that still have too few replicates.
#include "race.h"

#include "../store/commit/race_rows.h"
#include "../store/queries.h"

#include <string.h>

typedef struct RacePass {
    Spec spec; // of the rung
    int rung;
    Store *store;
    const Search *search;
    Backend *backend;
    ThreadTeam *team;
    Cursor rows, replicates; // of the trials that run the rung
    int64_t slice, last;     // last: id of the last trial that was read
    ProgressNumbers numbers;
    Watch watch;
    Flight flight;
    TrialRows stored;
    Commit again;
} RacePass;

// ---- a batch --------------------------------------------------------------------------------------------------------

static Error race_take_replicates(RacePass *pass, int64_t t)
{
    const Spec *spec = &pass->spec;
    const ReplicatesBefore *before = &pass->flight.before;
    const int64_t had = spec->replicates.first, at = t * had;
    return replicates_take_raced(&pass->replicates, spec, pass->stored.id[t], (int)had,
                                 &before->metric[at * spec->configured.n_metrics],
                                 &before->drawn[at * spec->replicates.n_perturb], &before->failure[at]);
}

static Error race_fill(RacePass *pass)
{
    Trials *trials = &pass->flight.trials;
    trials->count = 0;
    trial_rows_after(&pass->rows, pass->last, trials->capacity);
    while (trial_rows_next(&pass->rows, &pass->spec, &pass->stored, trials->count)) {
        const int64_t t = trials->count++;
        trials->id[t] = pass->last = pass->stored.id[t];
        trials->search[t] = (int32_t)pass->stored.search[t];
        trials->round[t] = (int32_t)pass->stored.round[t];
        pass->flight.observed[t] = false;
        TRY(search_stored_trial(pass->search, pass->store->database, &pass->stored, t, &trials->ordinal[t],
                                &trials->parameter[t * pass->spec.configured.n_parameters]));
        TRY(race_take_replicates(pass, t));
    }
    return pass->rows.error;
}

static Error race_store(RacePass *pass)
{
    const TrialRows *rows = &pass->again.rows;
    for (int64_t t = 0; t < rows->count; t++)
        TRY(race_replace(pass->store, rows, t, (rows->failure[t] != 0) - (pass->stored.failure[t] != 0)));
    return error_none();
}

static Error race_batch(RacePass *pass)
{
    Batch *batch = backend_batch(pass->backend, 0);
    flight_fill(&pass->spec, &pass->flight, batch);
    TRY(flight_run(&pass->spec, pass->backend, &pass->flight, pass->slice, &pass->watch));
    flight_collect(&pass->spec, &pass->flight, batch, &pass->again);
    TRY(store_begin(pass->store));
    TRY(store_end(pass->store, race_store(pass)));
    pass->watch.phase_before += (double)pass->flight.trials.count;
    return error_none();
}

// ---- a rung ---------------------------------------------------------------------------------------------------------

static Error race_batches(RacePass *pass, Arena *arena)
{
    pass->last = -1;
    pass->rows = race_rows(pass->store->database, &pass->spec, pass->rung, arena);
    pass->replicates = replicates_by_trial(pass->store->database);
    Error error = race_fill(pass);
    while (error.kind == OK && pass->flight.trials.count > 0) {
        error = race_batch(pass);
        if (error.kind == OK) error = race_fill(pass);
    }
    (void)cursor_close(&pass->rows); // their errors were taken
    (void)cursor_close(&pass->replicates);
    return error;
}

static size_t race_bytes(const RacePass *pass, int64_t trials)
{
    const Spec *spec = &pass->spec;
    const int64_t had = 8 * spec->replicates.first * (spec->configured.n_metrics + spec->replicates.n_perturb + 1);
    const int64_t trial = flight_bytes(spec) + 2 * rows_bytes(spec) + had;
    return (size_t)(trials * trial + flight_scratch_bytes(spec, pass->team)) + ((size_t)8 << 20);
}

static void race_take(RacePass *pass, int64_t trials, Arena *arena)
{
    const Spec *spec = &pass->spec;
    const int64_t had = trials * spec->replicates.first;
    flight_take(spec, trials, pass->team, arena, &pass->flight);
    pass->flight.before = (ReplicatesBefore){.most = spec->replicates.first,
                                             .metric = ARENA_NEW(arena, double, had * spec->configured.n_metrics),
                                             .drawn = ARENA_NEW(arena, double, had * spec->replicates.n_perturb),
                                             .failure = ARENA_NEW(arena, int, had)};
    rows_take(spec, trials, arena, &pass->stored);
    commit_take(spec, trials, 0, 0, 0, arena, &pass->again);
}

// lanes: of a batch of the device
static Error race_run_rung(RacePass *pass, int64_t left, int64_t lanes)
{
    const int64_t fit = lanes / (pass->spec.replicates.count - pass->spec.replicates.first);
    const int64_t trials = left < fit ? left : fit < 1 ? 1 : fit;
    Arena arena;
    TRY(arena_create(&arena, race_bytes(pass, trials), "a rung of a race"));
    race_take(pass, trials, &arena);
    const Error error = race_batches(pass, &arena);
    arena_destroy(&arena);
    return error;
}

// Chooses the trials of the rung, unless it is chosen. *left: those that have not run it.
static Error race_begin_rung(RacePass *pass, int64_t *chosen, int64_t *left)
{
    TRY(race_chosen(pass->store->database, pass->rung, chosen));
    if (*chosen == 0) TRY(race_choose(pass->store, pass->rung));
    if (*chosen == 0) TRY(race_chosen(pass->store->database, pass->rung, chosen));
    return race_left(pass->store->database, &pass->spec, pass->rung, left);
}

static Error race_show_rung(RacePass *pass, int64_t chosen, int64_t left, Arena *arena)
{
    const int rung = pass->rung + 1, rungs = race_rungs(pass->store->spec); // people count the first one too
    const char *unit = arena_format(arena, "trials of rung %d of %d", rung, rungs);
    TRY(store_set_state(pass->store, &(StoreState){.state = "running",
                                                   .reason = arena_format(arena,
                                                                          "rung %d of %d of the race: %s trials to %d "
                                                                          "replicates",
                                                                          rung, rungs, text_count(chosen).text,
                                                                          pass->spec.replicates.count)}));
    pass->numbers.doing = "racing";
    pass->numbers.phase_total = (double)chosen;
    pass->numbers.phase_unit = unit;
    pass->watch.phase_before = (double)(chosen - left);
    return error_none();
}

// *over: no trial of the rung before has a fitness.
static Error race_rung_through(RacePass *pass, int64_t lanes, bool *over, Arena *arena)
{
    int64_t chosen = 0, left = 0;
    TRY(race_begin_rung(pass, &chosen, &left));
    *over = chosen == 0;
    if (left == 0) return error_none();
    TRY(race_show_rung(pass, chosen, left, arena));
    TRY(race_run_rung(pass, left, lanes));
    return store_event(pass->store, "race", "rung %d of %d: %lld trials have %d replicates", pass->rung + 1,
                       race_rungs(pass->store->spec), (long long)chosen, pass->spec.replicates.count);
}

Error race_run(const Loop *loop, Arena *arena)
{
    const Spec *spec = loop->store->spec;
    const int64_t lanes = loop->batch_trials * loop->spec->replicates.count;
    bool over = false;
    for (int rung = 1; rung < race_rungs(spec) && !over; rung++) {
        RacePass pass = {.spec = race_rung(spec, rung),
                         .rung = rung,
                         .store = loop->store,
                         .search = loop->search,
                         .backend = loop->backend,
                         .team = loop->team,
                         .slice = loop->slice_requested,
                         .numbers = loop->numbers};
        pass.watch = (Watch){.progress = loop->progress, .numbers = &pass.numbers, .until = loop->until};
        TRY(race_rung_through(&pass, lanes, &over, arena));
    }
    return error_none();
}
