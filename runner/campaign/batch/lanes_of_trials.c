// From trials to lanes and back: fills the lanes of a batch from its trials, and gathers the results of trials from
// their lanes. Only this file knows which lane has which replicate. The threads of a team share the trials in ranges.
// Each trial is computed alone, so neither the ranges nor the lanes change a bit.
#include "trials_in_flight.h"

#include <math.h>
#include <string.h>

// Lanes that are moved at once between rows and columns: whole cache lines of each column. If columns lie a multiple of
// 4 KiB apart, their lines share one set of the cache, so lane by lane each access would miss.
enum { LANES_AT_ONCE = 16 };
enum { LANES_OF_RANGE = 512 }; // of a range of a thread: some 0.1 ms of work

// ---- which lane -----------------------------------------------------------------------------------------------------

// Lanes of a trial where all have as many. Of a rung of a race they run the replicates that the trial does not have
// yet.
static int lanes_each(const Spec *spec) { return spec->replicates.count - spec->replicates.first; }

// Of trials that run different replicates, where each says which.
static bool lanes_differ(const Flight *flight) { return flight->trials.first != NULL; }

static int lanes_first(const Spec *spec, const Flight *flight, int64_t t)
{
    return lanes_differ(flight) ? flight->trials.first[t] : spec->replicates.first;
}

static int lanes_end(const Spec *spec, const Flight *flight, int64_t t)
{
    return lanes_differ(flight) ? flight->trials.end[t] : spec->replicates.count;
}

static int64_t lanes_before(const Spec *spec, const Flight *flight, int64_t t)
{
    return lanes_differ(flight) ? flight->lanes_before[t] : t * lanes_each(spec);
}

// The trial of a lane, counted over all trials in their order.
static int64_t lanes_trial(const Spec *spec, const Flight *flight, int64_t lane)
{
    int64_t low = 0, high = flight->trials.count;
    if (!lanes_differ(flight)) return lane / lanes_each(spec);
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (flight->lanes_before[middle] <= lane)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Observed lanes first; then, within each group, the order of the trials.
static void lanes_assign(const Spec *spec, Flight *flight)
{
    int64_t observed = 0;
    for (int64_t t = 0; t < flight->trials.count; t++) {
        flight->observed_before[t] = observed;
        observed += flight->observed[t];
        if (!lanes_differ(flight)) continue;
        flight->lanes_before[0] = 0;
        flight->lanes_before[t + 1] =
            flight->lanes_before[t] + lanes_end(spec, flight, t) - lanes_first(spec, flight, t);
    }
    flight->recorded = recording_of(spec, flight->kind).lanes;
    flight->n_observed = observed * flight->recorded;
    flight->lanes = lanes_before(spec, flight, flight->trials.count);
}

// r: from 0 among the lanes of the trial
static int64_t lanes_of(const Spec *spec, const Flight *flight, int64_t t, int r)
{
    const int64_t before = flight->observed_before[t] * flight->recorded,
                  own = flight->observed[t] ? flight->recorded : 0;
    if (r < own) return before + r;
    return flight->n_observed + lanes_before(spec, flight, t) - before + r - own;
}

typedef struct TrialLane {
    int64_t lane, trial;
    int replicate;
} TrialLane;

// The lanes [first, first + count), counted over all trials in their order.
static void lanes_list(const Spec *spec, const Flight *flight, int64_t first, int count, TrialLane *chosen)
{
    int64_t t = lanes_trial(spec, flight, first);
    int r = (int)(first - lanes_before(spec, flight, t));
    for (int i = 0; i < count; i++) {
        const int from = lanes_first(spec, flight, t);
        chosen[i] = (TrialLane){.lane = lanes_of(spec, flight, t, r), .trial = t, .replicate = from + r};
        if (from + ++r < lanes_end(spec, flight, t)) continue;
        r = 0;
        t++;
    }
}

static int lanes_next(int64_t first, int64_t end)
{
    return end - first < LANES_AT_ONCE ? (int)(end - first) : LANES_AT_ONCE;
}

// Trials that a thread gathers at once.
static int64_t lanes_trials_at_once(const Spec *spec)
{
    const int replicates = spec->replicates.count;
    return replicates < LANES_AT_ONCE ? LANES_AT_ONCE / replicates : 1;
}

// ---- memory of a thread ---------------------------------------------------------------------------------------------

static int64_t lanes_gathered(const Spec *spec) { return lanes_trials_at_once(spec) * spec->replicates.count; }

// Doubles per lane of what was drawn.
static int64_t lanes_drawn(const Spec *spec)
{
    return spec->replicates.store || spec_names_drawn(spec) ? spec->replicates.n_perturb : 0;
}

void lanes_take_scratch(const Spec *spec, Arena *arena, LanesScratch *scratch)
{
    const int64_t lanes = lanes_gathered(spec), drawn = lanes_drawn(spec), replicates = spec->replicates.count;
    *scratch = (LanesScratch){
        .parameter = ARENA_NEW(arena, double, (int64_t)LANES_AT_ONCE * spec->configured.n_parameters),
        .metric = ARENA_NEW(arena, double, lanes * spec->configured.n_metrics),
        .drawn = drawn > 0 ? ARENA_NEW(arena, double, lanes *drawn) : NULL,
        .failure = ARENA_NEW(arena, int, lanes),
        .value = ARENA_NEW(arena, double, spec->objective.count *replicates),
        .room = ARENA_NEW(arena, double, replicates),
        .mean = ARENA_NEW(arena, double, spec->configured.n_metrics),
        .spread = ARENA_NEW(arena, double, spec->configured.n_metrics),
        .information = information_take(spec, arena),
    };
}

int64_t lanes_scratch_bytes(const Spec *spec)
{
    enum { ARRAYS = 8, ALIGNMENT = 64 };
    const int64_t metrics = spec->configured.n_metrics, parameters = spec->configured.n_parameters;
    return 8 * (LANES_AT_ONCE * parameters + lanes_gathered(spec) * (metrics + lanes_drawn(spec) + 1) +
                (spec->objective.count + 1) * spec->replicates.count + 2 * metrics) +
           ARRAYS * ALIGNMENT + (int64_t)information_bytes(spec);
}

// ---- out ------------------------------------------------------------------------------------------------------------

typedef struct LanesFill {
    const Spec *spec;
    const Flight *flight;
    Batch *batch;
    bool differ; // the replicates of a trial, in their parameters
} LanesFill;

// The parameters of a lane: those of its trial, or, computed in `own`, those of its replicate.
static const double *lanes_parameters(const LanesFill *fill, const TrialLane *chosen, double *own)
{
    const Trials *trials = &fill->flight->trials;
    const int64_t t = chosen->trial;
    const double *trial = &trials->parameter[t * fill->spec->configured.n_parameters];
    if (!fill->differ) return trial;
    replicate_parameters(fill->spec, trials->search[t], trials->ordinal[t], chosen->replicate, trial, own);
    return own;
}

static void lanes_fill_some(const LanesFill *fill, double *scratch, int64_t first, int count)
{
    const int n = fill->spec->configured.n_parameters;
    TrialLane chosen[LANES_AT_ONCE];
    const double *parameter[LANES_AT_ONCE];
    lanes_list(fill->spec, fill->flight, first, count, chosen);
    for (int i = 0; i < count; i++) parameter[i] = lanes_parameters(fill, &chosen[i], &scratch[i * n]);
    for (int i = 0; i < count && fill->batch->trial != NULL; i++) {
        fill->batch->trial[chosen[i].lane] = fill->flight->trials.id[chosen[i].trial];
        fill->batch->replicate[chosen[i].lane] = chosen[i].replicate;
    }
    for (int p = 0; p < n; p++) {
        double *column = &fill->batch->parameter[p * fill->batch->stride];
        for (int i = 0; i < count; i++) column[chosen[i].lane] = parameter[i][p];
    }
}

// Lanes [first, end), counted over all trials.
static void lanes_fill_range(void *context, int thread, int64_t first, int64_t end)
{
    const LanesFill *fill = context;
    for (int64_t i = first; i < end; i += LANES_AT_ONCE)
        lanes_fill_some(fill, fill->flight->scratch[thread].parameter, i, lanes_next(i, end));
}

static void lanes_observe(const Spec *spec, const Flight *flight, Batch *batch)
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
    LanesFill fill = {.spec = spec, .flight = flight, .batch = batch};
    fill.differ = replicates_differ(spec) || spec->n_cases > 0;
    lanes_assign(spec, flight);
    thread_team_for(flight->team, flight->lanes, LANES_OF_RANGE, lanes_fill_range, &fill);
    batch->lanes = flight->lanes;
    lanes_observe(spec, flight, batch);
    flight->ticks = 0;
    flight->kernel_seconds = flight->wait_seconds = flight->copy_seconds = 0;
}

int64_t flight_lane(const Spec *spec, const Flight *flight, int64_t trial, int replicate)
{
    return lanes_of(spec, flight, trial, replicate);
}

// ---- back: rows -----------------------------------------------------------------------------------------------------

typedef struct LanesCollect {
    const Spec *spec;
    const Flight *flight;
    Batch *batch;
    TrialRows *rows;
    int survived; // the metric, or -1
    int64_t most; // replicates of a trial: those of `spec`, unless they differ
} LanesCollect;

// What some lanes drew, into the rows at[count] of drawn[][D].
static void lanes_gather_drawn(const LanesCollect *collect, const TrialLane *chosen, const int64_t *at, int count,
                               double *drawn)
{
    const Spec *spec = collect->spec;
    const int n = spec->replicates.n_perturb;
    for (int d = 0; d < n && drawn != NULL; d++) {
        const double *column =
            &collect->batch->parameter[spec->replicates.perturb[d].parameter * collect->batch->stride];
        for (int k = 0; k < count; k++) drawn[at[k] * n + d] = column[chosen[k].lane];
    }
}

// The replicates that the trials [first, end) had before this flight.
static void lanes_gather_before(const LanesCollect *collect, LanesScratch *scratch, int64_t first, int64_t end)
{
    const Spec *spec = collect->spec;
    const ReplicatesBefore *before = &collect->flight->before;
    const int64_t count = spec->replicates.count;
    const int64_t metrics = spec->configured.n_metrics, drawn = spec->replicates.n_perturb;
    for (int64_t t = first; t < end; t++) {
        const int64_t had = lanes_first(spec, collect->flight, t), to = (t - first) * count, from = t * before->most;
        if (had == 0) continue;
        memcpy(&scratch->metric[to * metrics], &before->metric[from * metrics],
               (size_t)(had * metrics) * sizeof *scratch->metric);
        memcpy(&scratch->failure[to], &before->failure[from], (size_t)had * sizeof *scratch->failure);
        if (drawn > 0 && scratch->drawn != NULL)
            memcpy(&scratch->drawn[to * drawn], &before->drawn[from * drawn],
                   (size_t)(had * drawn) * sizeof *scratch->drawn);
    }
}

// metric[R][M], drawn[R][D] and failure[R] of the trials [first, end)
static void lanes_gather(const LanesCollect *collect, LanesScratch *scratch, int64_t first, int64_t end)
{
    const Batch *batch = collect->batch;
    const int metrics = collect->spec->configured.n_metrics;
    const int64_t before = lanes_before(collect->spec, collect->flight, first);
    const int64_t lanes = lanes_before(collect->spec, collect->flight, end) - before;
    const int64_t replicates = collect->spec->replicates.count;
    lanes_gather_before(collect, scratch, first, end);
    for (int64_t i = 0; i < lanes; i += LANES_AT_ONCE) {
        TrialLane chosen[LANES_AT_ONCE];
        int64_t at[LANES_AT_ONCE]; // of the replicates among those of the trials
        const int count = lanes_next(i, lanes);
        lanes_list(collect->spec, collect->flight, before + i, count, chosen);
        for (int k = 0; k < count; k++) at[k] = (chosen[k].trial - first) * replicates + chosen[k].replicate;
        for (int m = 0; m < metrics; m++) {
            const double *column = &batch->metric[m * batch->stride];
            for (int k = 0; k < count; k++) scratch->metric[at[k] * metrics + m] = column[chosen[k].lane];
        }
        lanes_gather_drawn(collect, chosen, at, count, scratch->drawn);
        for (int k = 0; k < count; k++) scratch->failure[at[k]] = batch->status[chosen[k].lane] - LANE_DONE;
    }
}

int flight_failure(const Flight *flight, int replicate) { return flight->scratch[0].failure[replicate]; }

// Puts one value into each of `count` columns.
static void lanes_put(double *columns, int64_t stride, int64_t row, const double *values, int count)
{
    for (int i = 0; i < count; i++) columns[i * stride + row] = values[i];
}

static void lanes_put_replicates(const Spec *spec, const Replicates *of, TrialRows *rows, int64_t row)
{
    const int count = spec->replicates.count, metrics = spec->configured.n_metrics, drawn = spec->replicates.n_perturb;
    const int64_t stride = rows->replicate_stride, from = row * rows->replicate_count;
    if (rows->replicate_metric == NULL) return;
    for (int r = 0; r < count; r++) {
        rows->replicate_trial[from + r] = rows->id[row];
        rows->replicate_failure[from + r] = of->failure[r];
        lanes_put(rows->replicate_metric, stride, from + r, &of->metric[r * metrics], metrics);
        if (drawn > 0) lanes_put(rows->replicate_drawn, stride, from + r, &of->drawn[r * drawn], drawn);
    }
}

static void lanes_put_row(const Spec *spec, const Trials *trials, int64_t trial, const TrialResult *result,
                          TrialRows *rows, int64_t row)
{
    const int metrics = spec->configured.n_metrics, searched = rows_searched(spec);
    const double *parameter = &trials->parameter[trial * spec->configured.n_parameters];
    rows->id[row] = trials->id[trial];
    rows->search[row] = trials->search[trial];
    rows->round[row] = trials->round[trial];
    for (int i = 0; i < searched; i++) rows_set_searched(spec, rows, i, row, parameter[spec->axes[i].parameter]);
    rows->fitness[row] = result->fitness;
    lanes_put(rows->objective, rows->stride, row, result->objective, rows_objectives(spec));
    rows->failure[row] = result->failure;
    rows->n_failed[row] = result->n_failed;
    if (spec_races(spec)) rows->replicates[row] = spec->replicates.count;
    if (spec_has_rungs(spec)) rows->rungs[row] = spec->limits.rungs.passed;
    if (rows->had != NULL) rows->had[row] = spec->replicates.first;
    lanes_put(rows->metric, rows->stride, row, result->metric, metrics);
    if (rows->spread != NULL) lanes_put(rows->spread, rows->stride, row, result->spread, metrics);
}

static void lanes_put_constraints(const Spec *spec, const TrialResult *result, TrialRows *rows, int64_t row)
{
    const int n = spec->n_constraints;
    if (n == 0) return;
    rows->constraint[row] = constraints_violation(result->constraint, n);
    lanes_put(rows->constraint + rows->stride, rows->stride, row, result->constraint, n);
}

// Replicates that failed by a value of the spec's: their lanes too, for arrays of those that failed.
static void lanes_mark(const LanesCollect *collect, int64_t trial, const int *failure)
{
    const int first = collect->spec->replicates.first;
    for (int r = first; r < collect->spec->replicates.count; r++)
        collect->batch->status[lanes_of(collect->spec, collect->flight, trial, r - first)] = LANE_DONE + failure[r];
}

// Whether a replicate failed that the trial had before.
static bool lanes_had_failed(const Spec *spec, const Replicates *of)
{
    bool failed = false;
    for (int r = 0; r < spec->replicates.first; r++) failed |= of->failure[r] != 0;
    return failed;
}

// Where trials end at a rung, `result` becomes that of one that does, with constraints of its own; those that it had
// stay. Returns the fitness at the rung; NaN: the trial failed by then.
static double lanes_retire(const Spec *spec, const Replicates *of, TrialResult *result, double *constraint)
{
    const double fitness = result->fitness;
    if (!rungs_end(spec)) return fitness;
    const bool failed = result->n_failed == spec->replicates.count;
    result->constraint = constraint;
    rungs_retire(spec, of, result);
    return failed ? (double)NAN : fitness;
}

// True: the trial failed, and had not before.
static bool lanes_collect_trial(const LanesCollect *collect, const LanesScratch *scratch, const Replicates *gathered,
                                int64_t t)
{
    const Spec *spec = collect->spec;
    const Trials *trials = &collect->flight->trials;
    Replicates with = *gathered;
    const Replicates *of = &with;
    double information;
    if (scratch->information != NULL && of->failure[0] == 0) {
        information = information_of(scratch->information, trials->search[t], trials->ordinal[t], of->parameter);
        with.information = &information;
    }
    const size_t replicates = (size_t)spec->replicates.count;
    const int64_t row = collect->flight->row != NULL ? collect->flight->row[t] : t;
    const bool had_failed = lanes_had_failed(spec, of);
    TrialResult result = {.objective = &trials->objective[t * rows_objectives(spec)],
                          .constraint = spec->n_constraints > 0 ? &trials->constraint[t * spec->n_constraints] : NULL,
                          .metric = scratch->mean,
                          .spread = scratch->spread,
                          .value = scratch->value,
                          .room = scratch->room};
    double constraint[CONSTRAINTS_MAX];
    trial_result(spec, of, &result);
    const double fitness = lanes_retire(spec, of, &result, constraint);
    if (result.n_failed > 0) lanes_mark(collect, t, of->failure);
    lanes_put_row(spec, trials, t, &result, collect->rows, row);
    lanes_put_constraints(spec, &result, collect->rows, row);
    lanes_put_replicates(spec, of, collect->rows, row);
    if (trials->value != NULL)
        memcpy(&trials->value[t * collect->most], result.value, replicates * sizeof *result.value);
    if (trials->residual != NULL) trial_residuals_of(spec, of, &trials->residual[t * spec_residuals(spec)]);
    trials->fitness[t] = fitness;
    trials->survived[t] = collect->survived >= 0 ? result.metric[collect->survived] : 0;
    return (result.failure != 0 || !result.has_fitness) && !had_failed;
}

// Of a trial that runs replicates of its own.
static bool lanes_collect_own(const LanesCollect *collect, const LanesScratch *scratch, const Replicates *of, int64_t t)
{
    Spec own = *collect->spec;
    LanesCollect with = *collect;
    if (!lanes_differ(collect->flight)) return lanes_collect_trial(collect, scratch, of, t);
    own.replicates.first = lanes_first(collect->spec, collect->flight, t);
    own.replicates.count = lanes_end(collect->spec, collect->flight, t);
    with.spec = &own;
    return lanes_collect_trial(&with, scratch, of, t);
}

// The t-th of the trials that a thread gathered.
static Replicates lanes_replicates(const LanesCollect *collect, const LanesScratch *scratch, int64_t t, int64_t trial)
{
    const Spec *spec = collect->spec;
    const int64_t first = t * spec->replicates.count;
    return (Replicates){.parameter = &collect->flight->trials.parameter[trial * spec->configured.n_parameters],
                        .drawn = scratch->drawn != NULL ? &scratch->drawn[first * spec->replicates.n_perturb] : NULL,
                        .metric = &scratch->metric[first * spec->configured.n_metrics],
                        .failure = &scratch->failure[first]};
}

// Trials [first, end). Failures are added once per range, because the counts of threads share cache lines.
static void lanes_collect_range(void *context, int thread, int64_t first, int64_t end)
{
    const LanesCollect *collect = context;
    LanesScratch *scratch = &collect->flight->scratch[thread];
    int64_t failures = 0;
    for (int64_t next = first, step = lanes_trials_at_once(collect->spec); next < end; next += step) {
        const int64_t last = next + step < end ? next + step : end;
        lanes_gather(collect, scratch, next, last);
        for (int64_t t = next; t < last; t++) {
            const Replicates of = lanes_replicates(collect, scratch, t - next, t);
            failures += lanes_collect_own(collect, scratch, &of, t);
        }
    }
    scratch->failures += failures;
}

static void lanes_collect_rows(const Spec *spec, const Flight *flight, Batch *batch, Commit *commit)
{
    const int replicates = spec->replicates.count;
    LanesCollect collect = {.spec = spec,
                            .flight = flight,
                            .batch = batch,
                            .rows = &commit->rows,
                            .survived = flight_survived_metric(spec),
                            .most = replicates};
    commit->rows.count = flight->trials.count;
    for (int i = 0; i < flight->threads; i++) flight->scratch[i].failures = 0;
    thread_team_for(flight->team, flight->trials.count, (LANES_OF_RANGE + replicates - 1) / replicates,
                    lanes_collect_range, &collect);
    for (int i = 0; i < flight->threads; i++) commit->failures += flight->scratch[i].failures;
}

// ---- back: arrays ---------------------------------------------------------------------------------------------------

// The arrays of a batch's observed lanes: a trace, or rings of debug rows.
typedef struct LanesArrays {
    const double *rows; // [lanes][capacity][columns]
    const int64_t *count;
    int64_t capacity, columns;
} LanesArrays;

static LanesArrays lanes_arrays(const Spec *spec, const Flight *flight, const Batch *batch)
{
    if (flight->kind == RECORD_DEBUG)
        return (LanesArrays){batch->debug.row, batch->debug.count, batch->debug.capacity, spec->configured.n_debug};
    return (LanesArrays){batch->trace.sample, batch->trace.count, batch->trace.capacity, spec->configured.n_columns};
}

// The rows of a lane, oldest first, and their number. A trace is not a ring.
static int64_t lanes_copy(const LanesArrays *arrays, int64_t lane, double *to)
{
    const int64_t written = arrays->count[lane], length = written < arrays->capacity ? written : arrays->capacity;
    const double *rows = &arrays->rows[lane * arrays->capacity * arrays->columns];
    for (int64_t i = 0; i < length; i++) {
        const int64_t k = (written - length + i) % arrays->capacity;
        memcpy(&to[i * arrays->columns], &rows[k * arrays->columns], sizeof *to * (size_t)arrays->columns);
    }
    return length;
}

static void lanes_collect_arrays(const Spec *spec, const Flight *flight, const Batch *batch, Commit *commit)
{
    const Recording recording = recording_of(spec, flight->kind);
    const LanesArrays arrays = lanes_arrays(spec, flight, batch);
    double *to = commit->samples;
    if (flight->n_observed == 0) return;
    for (int64_t t = 0; t < flight->trials.count; t++) {
        for (int r = 0; flight->observed[t] && r < recording.lanes; r++) {
            const int64_t lane = lanes_of(spec, flight, t, r);
            if (recording.failed_only && batch->status[lane] == LANE_DONE) continue;
            const int64_t length = lanes_copy(&arrays, lane, to);
            commit->dropped[commit->n_lanes] = arrays.count[lane] - length;
            commit->lanes[commit->n_lanes++] =
                (ShardLane){.trial = flight->trials.id[t], .replicate = r, .length = length};
            to += length * recording.n_columns;
        }
    }
}

void flight_collect(const Spec *spec, Flight *flight, Batch *batch, Commit *commit)
{
    commit->kind = flight->kind;
    commit->failures = commit->n_lanes = 0;
    commit->lanes_run = flight->lanes;
    commit->kernel_seconds = flight->kernel_seconds;
    commit->wait_seconds = flight->wait_seconds;
    commit->copy_seconds = flight->copy_seconds;
    commit->search_seconds = flight->search_seconds;
    lanes_collect_rows(spec, flight, batch, commit);
    lanes_collect_arrays(spec, flight, batch, commit);
}
