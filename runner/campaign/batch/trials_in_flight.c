// A batch of whole trials on a backend: its memory, its slices, and its size. lanes_of_trials.c fills and gathers.
#include "trials_in_flight.h"

#include <math.h>
#include <string.h>

static int64_t flight_values(const Spec *spec) { return search_takes_values(spec) ? spec->replicates.count : 0; }

void flight_take_trials(const Spec *spec, int64_t trials, Arena *arena, Trials *out)
{
    *out = (Trials){
        .capacity = trials,
        .id = ARENA_NEW(arena, int64_t, trials),
        .ordinal = ARENA_NEW(arena, uint64_t, trials),
        .search = ARENA_NEW(arena, int32_t, trials),
        .round = ARENA_NEW(arena, int32_t, trials),
        .parameter = ARENA_NEW(arena, double, trials * spec->configured.n_parameters),
        .fitness = ARENA_NEW(arena, double, trials),
        .objective = ARENA_NEW(arena, double, trials *rows_objectives(spec)),
        .constraint = ARENA_NEW(arena, double, trials * spec->n_constraints),
        .survived = ARENA_NEW(arena, double, trials),
        .value = search_takes_values(spec) ? ARENA_NEW(arena, double, trials *flight_values(spec)) : NULL,
        .residual =
            search_takes_residuals(spec) > 0 ? ARENA_NEW(arena, double, trials *search_takes_residuals(spec)) : NULL,
    };
}

void flight_take(const Spec *spec, int64_t trials, ThreadTeam *team, Arena *arena, Flight *flight)
{
    *flight = (Flight){
        .team = team,
        .threads = thread_team_threads(team),
        .observed = ARENA_NEW(arena, bool, trials),
        .observed_before = ARENA_NEW(arena, int64_t, trials),
        .scratch = ARENA_NEW(arena, LanesScratch, thread_team_threads(team)),
    };
    flight_take_trials(spec, trials, arena, &flight->trials);
    for (int i = 0; i < flight->threads; i++) lanes_take_scratch(spec, arena, &flight->scratch[i]);
}

int64_t flight_bytes(const Spec *spec)
{
    return 8 * (7 + rows_objectives(spec) + spec->n_constraints + spec->configured.n_parameters + flight_values(spec) +
                search_takes_residuals(spec));
}

int64_t rungs_bytes(const Spec *spec)
{
    return spec_has_rungs(spec) ? flight_bytes(spec) + rows_bytes(spec) + 8 * 6 : 0;
}

void flight_take_race(const Spec *spec, int64_t trials, Arena *arena, Flight *flight)
{
    const int64_t replicates = trials * spec->replicates.count;
    flight->trials.first = ARENA_NEW(arena, int32_t, trials);
    flight->trials.end = ARENA_NEW(arena, int32_t, trials);
    flight->lanes_before = ARENA_NEW(arena, int64_t, trials + 1);
    flight->before = (ReplicatesBefore){.most = spec->replicates.count,
                                        .metric = ARENA_NEW(arena, double, replicates * spec->configured.n_metrics),
                                        .drawn = ARENA_NEW(arena, double, replicates * spec->replicates.n_perturb),
                                        .failure = ARENA_NEW(arena, int, replicates)};
}

int64_t flight_race_bytes(const Spec *spec)
{
    return 8 * (2 + spec->replicates.count * (spec->configured.n_metrics + spec->replicates.n_perturb + 1));
}

int64_t flight_scratch_bytes(const Spec *spec, const ThreadTeam *team)
{
    const int64_t thread = lanes_scratch_bytes(spec) + (int64_t)sizeof(LanesScratch);
    return thread_team_threads(team) * thread;
}

int flight_survived_metric(const Spec *spec)
{
    for (int m = 0; m < spec->configured.n_metrics; m++) {
        if (strcmp(spec->configured.metrics[m].name, "survived") == 0) return m;
    }
    return -1;
}

// ---- slices ---------------------------------------------------------------------------------------------------------

// The first slice is one tick: its time is unknown, a slice can't be interrupted, and one tick of a batch of large
// worlds may take a second.
int64_t slice_start(int64_t requested) { return requested > 0 ? requested : 1; }

int64_t slice_adapt(int64_t slice, double seconds, double ended, int64_t requested)
{
    const double growth = 8, many = 1.0 / 16, wanted = ended > many ? 0.025 : 0.1; // s
    if (requested > 0) return requested;
    const double ratio = seconds > 0 ? wanted / seconds : growth;
    const double next = (double)slice * (ratio > growth ? growth : ratio < 0.25 ? 0.25 : ratio);
    return next < 1 ? 1 : next > 1e9 ? (int64_t)1e9 : (int64_t)next;
}

// ---- batches --------------------------------------------------------------------------------------------------------

// A batch lasts about half a second, so that an interruption loses little, or half a percent of the run so far, so that
// a long run does not make too many commits and shards.
static double batch_seconds(double elapsed)
{
    const double least = 0.5, fraction = 0.005;
    return fraction * elapsed > least ? fraction * elapsed : least;
}

int64_t batch_start(int64_t least, int64_t most)
{
    enum { GROWTH_BEFORE = 4 };
    return GROWTH_BEFORE * least < most ? GROWTH_BEFORE * least : most;
}

int64_t batch_adapt(int64_t trials, double seconds, double elapsed, int64_t least, int64_t most)
{
    const double ratio = seconds > 0 ? batch_seconds(elapsed) / seconds : 4;
    const double next = (double)trials * (ratio > 4 ? 4 : ratio < 0.25 ? 0.25 : ratio);
    const int64_t whole = next < (double)most ? (int64_t)next / least * least : most;
    return whole < least ? (least < most ? least : most) : whole;
}

Error flight_begin(const Spec *spec, Backend *backend, int slot)
{
    if (spec_has_rungs(spec)) backend_live(backend, slot, &spec->configured);
    return backend_begin(backend, slot);
}

Error flight_wait(const Spec *spec, Backend *backend, int slot, Flight *flight, bool *done)
{
    const double start = clock_seconds();
    TRY(backend_wait(backend, slot, done, &flight->kernel_seconds));
    flight->wait_seconds += clock_seconds() - start;
    if (*done || flight->ticks < configured_steps(&spec->configured)) return error_none();
    return error_make(ERROR_MACHINE,
                      "a batch of %lld lanes has not ended after its %lld ticks: this is a bug of the model %s",
                      (long long)flight->lanes, (long long)flight->ticks, spec->model->name);
}

void watch_show(const Watch *watch)
{
    progress_show(watch->progress, watch->numbers);
    if (interrupt_asks_status()) progress_answer(watch->progress, watch->numbers, stderr);
}

// Progress of a phase that runs trials again: the trials before this flight, and the fraction of this flight that is
// done.
static void flight_report(const Spec *spec, const Flight *flight, bool done, const Watch *watch)
{
    const Configured *configured = &spec->configured;
    const double fraction = done                        ? 1.0
                            : configured->steps_max > 0 ? 0.0
                                                        : (double)flight->ticks / (double)configured->ticks;
    if (watch->numbers->phase_total > 0)
        watch->numbers->phase_done =
            watch->phase_before + (fraction < 1.0 ? fraction : 1.0) * (double)flight->trials.count;
    watch_show(watch);
}

static bool flight_leaves(const Watch *watch)
{
    return interrupt_requested() != 0 || (watch != NULL && clock_seconds() >= watch->until);
}

Error flight_run(const Spec *spec, Backend *backend, Flight *flight, int64_t slice, const Watch *watch)
{
    bool done = false;
    if (flight_leaves(watch)) return error_make(ERROR_INTERRUPTED, "interrupted");
    TRY(flight_begin(spec, backend, 0));
    for (int64_t ticks = slice_start(slice); !done;) {
        const double start = clock_seconds();
        TRY(backend_advance(backend, 0, ticks));
        flight->ticks += ticks;
        TRY(flight_wait(spec, backend, 0, flight, &done));
        if (watch != NULL) flight_report(spec, flight, done, watch);
        ticks = slice_adapt(ticks, clock_seconds() - start, 0.0, slice);
        if (!done && flight_leaves(watch)) return error_make(ERROR_INTERRUPTED, "interrupted");
    }
    return error_none();
}
