// A batch of whole trials on a backend: it fills lanes from trials, and gathers the results of trials from lanes. Only
// this file knows which lane has which replicate; no result depends on it.
#include "trials_in_flight.h"

#include <math.h>
#include <string.h>

void flight_take(const Spec *spec, int64_t trials, Arena *arena, Flight *flight)
{
    *flight = (Flight){
        .trials =
            {
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
            },
        .observed = ARENA_NEW(arena, bool, trials),
        .lane = ARENA_NEW(arena, int64_t, trials * spec->replicates.count),
        .lane_parameter = ARENA_NEW(arena, double, spec->configured.n_parameters),
        .metric = ARENA_NEW(arena, double, spec->replicates.count * spec->configured.n_metrics),
        .failure = ARENA_NEW(arena, int, spec->replicates.count),
        .value = ARENA_NEW(arena, double, spec->replicates.count),
        .mean = ARENA_NEW(arena, double, spec->configured.n_metrics),
        .spread = ARENA_NEW(arena, double, spec->configured.n_metrics),
    };
}

int64_t flight_bytes(const Spec *spec)
{
    return 8 *
           (6 + rows_objectives(spec) + spec->n_constraints + spec->configured.n_parameters + spec->replicates.count);
}

int64_t flight_scratch_bytes(const Spec *spec)
{
    const int64_t metrics = 8 * (int64_t)spec->configured.n_metrics;
    return (int64_t)spec->replicates.count * (metrics + 4 + 8) + 2 * metrics;
}

// ---- out ------------------------------------------------------------------------------------------------------------

// Observed lanes first; then, within each part, the order of the trials.
static void flight_assign_lanes(const Spec *spec, Flight *flight)
{
    const int count = spec->replicates.count, recorded = recording_of(spec, flight->kind).lanes;
    flight->lanes = 0;
    for (int64_t t = 0; t < flight->trials.count; t++) {
        for (int r = 0; flight->observed[t] && r < recorded; r++) flight->lane[t * count + r] = flight->lanes++;
    }
    flight->n_observed = flight->lanes;
    for (int64_t t = 0; t < flight->trials.count; t++) {
        for (int r = flight->observed[t] ? recorded : 0; r < count; r++) flight->lane[t * count + r] = flight->lanes++;
    }
}

static void flight_observe(const Spec *spec, const Flight *flight, Batch *batch)
{
    const bool debug = flight->kind == RECORD_DEBUG;
    batch->trace.lanes = debug ? 0 : flight->n_observed;
    batch->trace.every = spec_sample_ticks(spec);
    batch->trace.first = spec->record.first_tick;
    batch->trace.end = spec->record.end_tick;
    batch->debug.lanes = debug ? flight->n_observed : 0;
    spec_debug_ticks(spec, &batch->debug.first, &batch->debug.end);
}

void flight_fill(const Spec *spec, Flight *flight, Batch *batch)
{
    const int count = spec->replicates.count, parameters = spec->configured.n_parameters;
    flight_assign_lanes(spec, flight);
    for (int64_t t = 0; t < flight->trials.count; t++) {
        for (int r = 0; r < count; r++) {
            const int64_t lane = flight->lane[t * count + r];
            replicate_parameters(spec, flight->trials.search[t], flight->trials.ordinal[t], r,
                                 &flight->trials.parameter[t * parameters], flight->lane_parameter);
            for (int p = 0; p < parameters; p++) batch->parameter[p * batch->stride + lane] = flight->lane_parameter[p];
        }
    }
    batch->lanes = flight->lanes;
    flight_observe(spec, flight, batch);
    flight->ticks = 0;
    flight->kernel_seconds = flight->wait_seconds = flight->copy_seconds = 0;
}

// ---- back -----------------------------------------------------------------------------------------------------------

int flight_survived_metric(const Spec *spec)
{
    for (int m = 0; m < spec->configured.n_metrics; m++) {
        if (strcmp(spec->configured.metrics[m].name, "survived") == 0) return m;
    }
    return -1;
}

// metric[R][M] and failure[R] of one trial
static void flight_gather(const Spec *spec, const Flight *flight, const Batch *batch, int64_t trial, double *metric,
                          int *failure)
{
    const int count = spec->replicates.count, metrics = spec->configured.n_metrics;
    for (int r = 0; r < count; r++) {
        const int64_t lane = flight->lane[trial * count + r];
        for (int m = 0; m < metrics; m++) metric[r * metrics + m] = batch->metric[m * batch->stride + lane];
        failure[r] = batch->status[lane] - LANE_DONE;
    }
}

// Puts one value into each of `count` columns.
static void flight_put(double *columns, int64_t stride, int64_t row, const double *values, int count)
{
    for (int i = 0; i < count; i++) columns[i * stride + row] = values[i];
}

static void flight_store_replicates(const Spec *spec, const double *metric, const int *failure, TrialRows *rows,
                                    int64_t row)
{
    const int count = spec->replicates.count, metrics = spec->configured.n_metrics;
    if (rows->replicate_metric == NULL) return;
    for (int r = 0; r < count; r++) {
        rows->replicate_trial[row * count + r] = rows->id[row];
        rows->replicate_failure[row * count + r] = failure[r];
        flight_put(rows->replicate_metric, rows->replicate_stride, row * count + r, &metric[r * metrics], metrics);
    }
}

static void flight_row(const Spec *spec, const Flight *flight, int64_t trial, const TrialResult *result,
                       TrialRows *rows)
{
    const int metrics = spec->configured.n_metrics;
    const double *parameter = &flight->trials.parameter[trial * spec->configured.n_parameters];
    rows->id[trial] = flight->trials.id[trial];
    rows->search[trial] = flight->trials.search[trial];
    rows->round[trial] = flight->trials.round[trial];
    for (int i = 0; i < rows_searched(spec); i++)
        rows->searched[i * rows->stride + trial] = parameter[spec->axes[i].parameter];
    rows->fitness[trial] = result->fitness;
    flight_put(rows->objective, rows->stride, trial, result->objective, rows_objectives(spec));
    rows->failure[trial] = result->failure;
    rows->n_failed[trial] = result->n_failed;
    flight_put(rows->metric, rows->stride, trial, result->metric, metrics);
    if (rows->spread != NULL) flight_put(rows->spread, rows->stride, trial, result->spread, metrics);
}

static void flight_constraints(const Spec *spec, Flight *flight, int64_t trial, TrialRows *rows)
{
    const int n = spec->n_constraints;
    double *constraint = &flight->trials.constraint[trial * n];
    if (n == 0) return;
    trial_constraints(spec, &flight->trials.parameter[trial * spec->configured.n_parameters], flight->metric,
                      flight->failure, constraint);
    rows->constraint[trial] = constraints_violation(constraint, n);
    flight_put(rows->constraint + rows->stride, rows->stride, trial, constraint, n);
}

static void flight_collect_rows(const Spec *spec, Flight *flight, const Batch *batch, Commit *commit)
{
    const int objectives = rows_objectives(spec), survived = flight_survived_metric(spec);
    TrialRows *rows = &commit->rows;
    rows->count = flight->trials.count;
    for (int64_t t = 0; t < rows->count; t++) {
        TrialResult result = {.objective = &flight->trials.objective[t * objectives],
                              .metric = flight->mean,
                              .spread = flight->spread,
                              .value = flight->value};
        flight_gather(spec, flight, batch, t, flight->metric, flight->failure);
        trial_result(spec, &flight->trials.parameter[t * spec->configured.n_parameters], flight->metric,
                     flight->failure, &result);
        flight_row(spec, flight, t, &result, rows);
        flight_constraints(spec, flight, t, rows);
        flight_store_replicates(spec, flight->metric, flight->failure, rows, t);
        flight->trials.fitness[t] = result.fitness;
        flight->trials.survived[t] = survived >= 0 ? result.metric[survived] : 0;
        commit->failures += result.failure != 0 || !result.good;
    }
}

// The arrays of a batch's observed lanes: a trace, or rings of debug rows.
typedef struct FlightArrays {
    const double *rows; // [lanes][capacity][columns]
    const int64_t *count;
    int64_t capacity, columns;
} FlightArrays;

static FlightArrays flight_arrays(const Spec *spec, const Flight *flight, const Batch *batch)
{
    if (flight->kind == RECORD_DEBUG)
        return (FlightArrays){batch->debug.row, batch->debug.count, batch->debug.capacity, spec->configured.n_debug};
    return (FlightArrays){batch->trace.sample, batch->trace.count, batch->trace.capacity, spec->configured.n_columns};
}

// The rows of a lane, oldest first, and their number. A trace is not a ring.
static int64_t flight_copy_lane(const FlightArrays *arrays, int64_t lane, double *to)
{
    const int64_t made = arrays->count[lane], length = made < arrays->capacity ? made : arrays->capacity;
    const double *rows = &arrays->rows[lane * arrays->capacity * arrays->columns];
    for (int64_t i = 0; i < length; i++) {
        const int64_t k = (made - length + i) % arrays->capacity;
        memcpy(&to[i * arrays->columns], &rows[k * arrays->columns], sizeof *to * (size_t)arrays->columns);
    }
    return length;
}

static void flight_collect_arrays(const Spec *spec, const Flight *flight, const Batch *batch, Commit *commit)
{
    const int count = spec->replicates.count;
    const Recording recording = recording_of(spec, flight->kind);
    const FlightArrays arrays = flight_arrays(spec, flight, batch);
    double *to = commit->samples;
    for (int64_t t = 0; t < flight->trials.count; t++) {
        for (int r = 0; flight->observed[t] && r < recording.lanes; r++) {
            const int64_t lane = flight->lane[t * count + r];
            if (recording.failed_only && batch->status[lane] == LANE_DONE) continue;
            const int64_t length = flight_copy_lane(&arrays, lane, to);
            commit->lanes[commit->n_lanes++] =
                (ShardLane){.trial = flight->trials.id[t], .replicate = r, .length = length};
            to += length * recording.n_columns;
        }
    }
}

void flight_collect(const Spec *spec, Flight *flight, const Batch *batch, Commit *commit)
{
    commit->kind = flight->kind;
    commit->failures = commit->n_lanes = 0;
    commit->lanes_run = flight->lanes;
    commit->kernel_seconds = flight->kernel_seconds;
    commit->wait_seconds = flight->wait_seconds;
    commit->copy_seconds = flight->copy_seconds;
    commit->search_seconds = flight->search_seconds;
    flight_collect_rows(spec, flight, batch, commit);
    flight_collect_arrays(spec, flight, batch, commit);
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
    const double least = 0.5, part = 0.005;
    return part * elapsed > least ? part * elapsed : least;
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

// Progress of a phase that runs trials again: the trials before this flight, and the part of this flight that is done.
static void flight_tell(const Spec *spec, const Flight *flight, bool done, const Watch *watch)
{
    const Configured *configured = &spec->configured;
    const double part = done                        ? 1.0
                        : configured->steps_max > 0 ? 0.0
                                                    : (double)flight->ticks / (double)configured->ticks;
    if (watch->numbers->phase_total > 0)
        watch->numbers->phase_done = watch->phase_before + (part < 1.0 ? part : 1.0) * (double)flight->trials.count;
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
    TRY(backend_begin(backend, 0));
    for (int64_t ticks = slice_start(slice); !done;) {
        const double start = clock_seconds();
        TRY(backend_advance(backend, 0, ticks));
        flight->ticks += ticks;
        TRY(flight_wait(spec, backend, 0, flight, &done));
        if (watch != NULL) flight_tell(spec, flight, done, watch);
        ticks = slice_adapt(ticks, clock_seconds() - start, 0.0, slice);
        if (!done && flight_leaves(watch)) return error_make(ERROR_INTERRUPTED, "interrupted");
    }
    return error_none();
}
