// The gradients of trials' fitness: by the model's adjoint or tangent to the metrics of its replicates, and by the
// chain rule through the objective, what it takes over the replicates, and derived parameters.
#include "../experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- over the replicates --------------------------------------------------------------------------------------------

typedef struct SlopeValue {
    double value;
    int replicate;
} SlopeValue;

// As objective.c sorts; equal ones by number.
static int slopes_ascending(const void *left, const void *right)
{
    const SlopeValue *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return (a->replicate > b->replicate) - (a->replicate < b->replicate);
}

static void slopes_quantile(const SlopeValue *sorted, int n, double q, double *share)
{
    const double rank = (n - 1) * q;
    const int below = (int)rank, above = below + 1 < n ? below + 1 : below;
    share[sorted[below].replicate] += 1.0 - (rank - below);
    share[sorted[above].replicate] += rank - below;
}

// Residuals over cases: the fitness is the root of the mean square of all (objective.c).
static void slopes_share_residuals(const Spec *spec, const SlopeValue *value, int n, double *share)
{
    double sum = 0.0, count = 0.0;
    for (int i = 0; i < n; i++) {
        const double own = (double)spec_case(spec, value[i].replicate)->objective.residual_count;
        sum += own * (value[i].value * value[i].value);
        count += own;
    }
    const double all = count * sqrt(sum / count);
    for (int i = 0; i < n && all > 0.0; i++) {
        const int r = value[i].replicate;
        share[r] = (double)spec_case(spec, r)->objective.residual_count * value[i].value / all;
    }
}

// share[r]: how much the fitness changes with the objective of replicate r. sorted[n]: those that count.
static void slopes_share(const Spec *spec, SlopeValue *sorted, int n, double *share)
{
    if (spec->n_cases > 0 && spec->objective.n_residuals > 0 && n == spec->replicates.count) {
        slopes_share_residuals(spec, sorted, n, share);
        return;
    }
    const bool least = spec->objective.maximize[0];
    qsort(sorted, (size_t)n, sizeof *sorted, slopes_ascending);
    switch (spec->objective.over) {
    case OVER_MEAN:
        for (int i = 0; i < n; i++) share[sorted[i].replicate] = 1.0 / n;
        break;
    case OVER_MEDIAN: slopes_quantile(sorted, n, 0.5, share); break;
    case OVER_WORST: share[sorted[least ? 0 : n - 1].replicate] = 1.0; break;
    case OVER_QUANTILE: slopes_quantile(sorted, n, spec->objective.quantile, share); break;
    }
}

// ---- the objective --------------------------------------------------------------------------------------------------

static bool slopes_is_drawn(const Spec *spec, int parameter)
{
    for (int i = 0; i < spec->replicates.n_perturb; i++) {
        if (spec->replicates.perturb[i].parameter == parameter) return true;
    }
    return false;
}

// Of a replicate: its share times the derivatives of the objective. What it draws does not follow the trial.
static void slopes_of_replicate(const Spec *spec, int r, const double *scope, double share, double *slopes,
                                double *weight, double *direct)
{
    const Expression *objective = spec_case(spec, r)->objective.expression[0];
    const int n_metrics = spec->configured.n_metrics, n = n_metrics + spec->configured.n_parameters;
    for (int i = 0; i < n; i++) {
        if (!expression_uses(objective, i) || (i >= n_metrics && slopes_is_drawn(spec, i - n_metrics))) continue;
        slopes[i] = 1.0;
        const double slope = share * expression_slope(objective, scope, slopes);
        slopes[i] = 0.0;
        if (i < n_metrics)
            weight[i] = slope;
        else
            direct[i - n_metrics] += slope;
    }
}

// ---- memory ---------------------------------------------------------------------------------------------------------

// Replicates of some trials are lanes, in the order of trial and replicate. Groups of them are run and gone back
// through at once.
struct TrialGradient {
    const Spec *spec;
    const Configured *configured;
    GradientMeans means;
    int trials;                // at once, at most
    int width;                 // lanes of a group
    void *memory;              // of the processor's adjoint or tangent
    int held;                  // the group from this lane on was run last; -1: none
    double *metric, *weight;   // [trials][replicates][n_metrics]
    double *drawn;             // [trials][replicates][n_perturb]
    int *failure;              // [trials][replicates]
    double *share;             // [trials][replicates]
    SlopeValue *sorted;        // [replicates]
    double *scope, *slopes;    // [n_metrics + n_parameters]
    double *own, *gradients;   // [n_parameters][width] of a group; its gradients
    double *metrics, *weights; // [n_metrics][width] of a group; along directions, on a device, their slopes
    int *failures;             // [width]
    double *one;               // [n_parameters] of a replicate
    double *sum;               // [trials][n_parameters]
    double *growth;            // [trials] the greatest of the replicates; NaN: none
    double *grown;             // [width]
    double *fitness;           // [trials]
    TrialResult result;        // of the trial that is weighed
    double *tangent;           // [trials][replicates][tangents][n_metrics]
    double *direction;         // [directions][n_parameters] of a run along some; on a device [n_parameters][width]
    const char *trouble;       // why a slope is missing; NULL: none is
    double trouble_time;       // s
};

enum { TRIAL_GRADIENT_ARRAYS = 25 };

// NULL: the processor computes them.
static AdjointDevice *gradient_device(const GradientMeans *means)
{
    AdjointDevice *device = means->device;
    return device != NULL && means->tangents > 0 && device->tangent == NULL ? NULL : device;
}

// On a device each direction of a tangent is a lane.
static bool gradient_has_lanes_along(const GradientMeans *means)
{
    return means->tangents > 0 && gradient_device(means) != NULL;
}

// Replicates at once. A group runs under one case.
static int gradient_lanes(const Spec *spec, const GradientMeans *means)
{
    const AdjointDevice *device = gradient_device(means);
    if (spec->n_cases > 0 || (means->tangents > 0 && device == NULL)) return 1;
    if (device == NULL) return spec->model->adjoint->lanes();
    const int lanes = means->tangents > 0 ? device->lanes / means->tangents : device->lanes;
    return lanes > 0 ? lanes : 1;
}

int trial_gradient_trials(const Spec *spec, const GradientMeans *means)
{
    const int lanes = gradient_lanes(spec, means), replicates = spec->replicates.count;
    return replicates < lanes ? lanes / replicates : 1;
}

static int gradient_width(const Spec *spec, const GradientMeans *means)
{
    const bool along = gradient_has_lanes_along(means);
    const int lanes = along ? means->device->lanes : gradient_lanes(spec, means);
    const int64_t all =
        (int64_t)trial_gradient_trials(spec, means) * spec->replicates.count * (along ? means->tangents : 1);
    return all < lanes ? (int)all : lanes;
}

// A group of one lane may take more, because more of its states fit.
static size_t gradient_case_bytes(const Spec *spec, const Configured *configured, const GradientMeans *means)
{
    const Adjoint *adjoint = configured->model->adjoint;
    if (gradient_device(means) != NULL) return 0;
    if (means->tangents > 0) return adjoint->tangent_bytes(configured);
    const size_t group = adjoint->bytes(configured, gradient_width(spec, means), means->most);
    const size_t single = adjoint->bytes(configured, 1, means->most);
    return group > single ? group : single;
}

static size_t gradient_memory_bytes(const Spec *spec, const Configured *configured, const GradientMeans *means)
{
    size_t most = 0;
    for (int r = 0; r < spec_fit_cases(spec); r++) {
        const size_t own = gradient_case_bytes(spec, configured_case(configured, r), means);
        most = own > most ? own : most;
    }
    return most;
}

static size_t gradient_direction_doubles(const Spec *spec, const Configured *configured, const GradientMeans *means)
{
    if (means->tangents == 0) return 0;
    if (gradient_has_lanes_along(means)) return (size_t)gradient_width(spec, means) * (size_t)configured->n_parameters;
    return (size_t)configured->model->adjoint->directions(configured) * (size_t)configured->n_parameters;
}

static size_t gradient_tangent_doubles(const Spec *spec, const GradientMeans *means)
{
    return (size_t)trial_gradient_trials(spec, means) * (size_t)spec->replicates.count * (size_t)means->tangents *
           (size_t)spec->configured.n_metrics;
}

size_t trial_gradient_bytes(const Spec *spec, const Configured *configured, const GradientMeans *means)
{
    const size_t trials = (size_t)trial_gradient_trials(spec, means), width = (size_t)gradient_width(spec, means);
    const size_t replicates = (size_t)spec->replicates.count, metrics = (size_t)configured->n_metrics;
    const size_t parameters = (size_t)configured->n_parameters, lanes = trials * replicates;
    const size_t doubles = 2 * lanes * metrics + 2 * lanes + 2 * (metrics + parameters) + 2 * width * parameters +
                           2 * width * metrics + width + parameters + trials * parameters + 2 * trials + width +
                           2 * replicates + (size_t)spec->n_constraints + gradient_tangent_doubles(spec, means) +
                           gradient_direction_doubles(spec, configured, means) +
                           lanes * (size_t)spec->replicates.n_perturb;
    return gradient_memory_bytes(spec, configured, means) + doubles * sizeof(double) + replicates * sizeof(SlopeValue) +
           sizeof(TrialGradient) + TRIAL_GRADIENT_ARRAYS * 64;
}

TrialGradient *trial_gradient_take(const Spec *spec, const Configured *configured, const GradientMeans *means,
                                   Arena *arena)
{
    const int trials = trial_gradient_trials(spec, means), width = gradient_width(spec, means);
    const int replicates = spec->replicates.count;
    const int metrics = configured->n_metrics, parameters = configured->n_parameters, lanes = trials * replicates;
    TrialGradient *gradient = ARENA_NEW(arena, TrialGradient, 1);
    *gradient =
        (TrialGradient){.spec = spec,
                        .configured = configured,
                        .means = {means->most, gradient_device(means), means->tangents},
                        .trials = trials,
                        .width = width,
                        .memory = arena_take(arena, gradient_memory_bytes(spec, configured, means), 1),
                        .metric = ARENA_NEW(arena, double, lanes *metrics),
                        .weight = ARENA_NEW(arena, double, lanes *metrics),
                        .drawn = ARENA_NEW(arena, double, lanes * spec->replicates.n_perturb),
                        .failure = ARENA_NEW(arena, int, lanes),
                        .share = ARENA_NEW(arena, double, lanes),
                        .sorted = ARENA_NEW(arena, SlopeValue, replicates),
                        .scope = ARENA_NEW(arena, double, metrics + parameters),
                        .slopes = ARENA_NEW(arena, double, metrics + parameters),
                        .own = ARENA_NEW(arena, double, parameters *width),
                        .gradients = ARENA_NEW(arena, double, parameters *width),
                        .metrics = ARENA_NEW(arena, double, metrics *width),
                        .weights = ARENA_NEW(arena, double, metrics *width),
                        .failures = ARENA_NEW(arena, int, width),
                        .one = ARENA_NEW(arena, double, parameters),
                        .sum = ARENA_NEW(arena, double, trials *parameters),
                        .growth = ARENA_NEW(arena, double, trials),
                        .grown = ARENA_NEW(arena, double, width),
                        .fitness = ARENA_NEW(arena, double, trials),
                        .result = {.constraint = ARENA_NEW(arena, double, spec->n_constraints),
                                   .value = ARENA_NEW(arena, double, replicates),
                                   .room = ARENA_NEW(arena, double, replicates)},
                        .tangent = ARENA_NEW(arena, double, gradient_tangent_doubles(spec, means)),
                        .direction = ARENA_NEW(arena, double, gradient_direction_doubles(spec, configured, means))};
    return gradient;
}

// ---- derived parameters ---------------------------------------------------------------------------------------------

void parameters_follow(const Spec *spec, const double *parameter, int p, double *slopes)
{
    const Axis *derived = spec->axes + spec->n_axes;
    memset(slopes, 0, (size_t)spec->configured.n_parameters * sizeof *slopes);
    slopes[p] = 1.0;
    for (int i = 0; i < spec->n_derived; i++)
        slopes[derived[i].parameter] = expression_slope(derived[i].derive, parameter, slopes);
}

// By the partial derivatives[n_parameters].
static double gradient_along(TrialGradient *gradient, const double *parameter, int p, const double *derivatives)
{
    double slope = 0.0;
    parameters_follow(gradient->spec, parameter, p, gradient->slopes);
    for (int k = 0; k < gradient->configured->n_parameters; k++) {
        if (gradient->slopes[k] != 0.0) slope += gradient->slopes[k] * derivatives[k];
    }
    return slope;
}

// The replicates of a trial that was run.
static Replicates gradient_replicates(const TrialGradient *gradient, int trial, const double *parameter)
{
    const Spec *spec = gradient->spec;
    const ptrdiff_t lane = (ptrdiff_t)trial * spec->replicates.count;
    return (Replicates){.parameter = parameter,
                        .drawn = gradient->drawn + lane * spec->replicates.n_perturb,
                        .metric = gradient->metric + lane * gradient->configured->n_metrics,
                        .failure = gradient->failure + lane};
}

static void gradient_draw(TrialGradient *gradient, const GradientTrials *trials)
{
    const Spec *spec = gradient->spec;
    const int replicates = spec->replicates.count;
    for (int lane = 0; lane < trials->count * replicates && spec->replicates.n_perturb > 0; lane++)
        replicate_draws(spec, trials->search[lane / replicates], trials->ordinal[lane / replicates], lane % replicates,
                        gradient->drawn + (ptrdiff_t)lane * spec->replicates.n_perturb);
}

// The derivatives of the objective of a lane, whose metrics' terms are in gradient->one.
static void gradient_put_lane(TrialGradient *gradient, int lane, const double *parameter, const GradientSlopes *out)
{
    const int n_metrics = gradient->configured->n_metrics, replicates = gradient->spec->replicates.count;
    const Replicates of = gradient_replicates(gradient, lane / replicates, parameter);
    double *weight = gradient->weight + (ptrdiff_t)lane * n_metrics;
    memset(gradient->slopes, 0, (size_t)(n_metrics + gradient->configured->n_parameters) * sizeof(double));
    replicate_scope(gradient->spec, &of, lane % replicates, gradient->scope);
    slopes_of_replicate(gradient->spec, lane % replicates, gradient->scope, gradient->share[lane], gradient->slopes,
                        weight, gradient->one);
    case_pull(gradient->spec, lane % replicates, gradient->one);
    for (int i = 0; i < out->count; i++)
        out->each[lane * out->count + i] =
            gradient_along(gradient, parameter, out->parameters[i], gradient->one) / gradient->share[lane];
}

static Error gradient_left(void) { return error_make(ERROR_INTERRUPTED, "interrupted"); }

// ---- groups of replicates -------------------------------------------------------------------------------------------

static int gradient_group(const TrialGradient *gradient, const GradientTrials *trials, int first)
{
    const int left = trials->count * gradient->spec->replicates.count - first;
    return left < gradient->width ? left : gradient->width;
}

// The settings of the group from `first` on.
static const Configured *gradient_settings(const TrialGradient *gradient, int first)
{
    return configured_case(gradient->configured, first % gradient->spec->replicates.count);
}

// Runs the group of lanes from `first` on.
static Error gradient_run_group(TrialGradient *gradient, const GradientTrials *trials, int first)
{
    const Configured *configured = gradient_settings(gradient, first);
    const int count = gradient_group(gradient, trials, first), replicates = gradient->spec->replicates.count;
    const int n = configured->n_parameters, n_metrics = configured->n_metrics;
    for (int i = 0; i < count; i++) {
        const int t = (first + i) / replicates, r = (first + i) % replicates;
        replicate_parameters(gradient->spec, trials->search[t], trials->ordinal[t], r,
                             trials->parameter + (ptrdiff_t)t * n, gradient->one);
        for (int p = 0; p < n; p++) gradient->own[p * count + i] = gradient->one[p];
    }
    const AdjointLanes lanes = {.count = count,
                                .parameter = gradient->own,
                                .most = gradient->means.most,
                                .metric = gradient->metrics,
                                .failure = gradient->failures,
                                .leaves = trials->leaves,
                                .of = trials->of};
    if (gradient->means.device != NULL)
        TRY(gradient->means.device->run(gradient->means.device, &lanes));
    else if (!configured->model->adjoint->run(configured, &lanes, gradient->memory))
        return gradient_left();
    for (int i = 0; i < count; i++) {
        gradient->failure[first + i] = gradient->failures[i];
        for (int m = 0; m < n_metrics; m++)
            gradient->metric[(ptrdiff_t)(first + i) * n_metrics + m] = gradient->metrics[m * count + i];
    }
    gradient->held = first;
    return error_none();
}

// Adds the gradient of a lane to that of its trial. Its own draws do not follow the trial's parameters.
static void gradient_add_lane(TrialGradient *gradient, int lane, const double *gradients, int stride, double growth)
{
    const Spec *spec = gradient->spec;
    const int n = gradient->configured->n_parameters, trial = lane / spec->replicates.count;
    double *sum = gradient->sum + (ptrdiff_t)trial * n;
    for (int p = 0; p < n; p++) gradient->one[p] = gradients[p * stride];
    for (int i = 0; i < spec->replicates.n_perturb; i++) gradient->one[spec->replicates.perturb[i].parameter] = 0.0;
    case_pull(spec, lane % spec->replicates.count, gradient->one);
    for (int p = 0; p < n; p++) sum[p] += gradient->one[p];
    if (!(growth <= gradient->growth[trial]) && isfinite(growth)) gradient->growth[trial] = growth;
}

// Goes back through the group from `first` on, unless no objective takes any of its lanes.
static Error gradient_add_group(TrialGradient *gradient, const GradientTrials *trials, int first,
                                const GradientSlopes *out)
{
    const Configured *configured = gradient_settings(gradient, first);
    const int count = gradient_group(gradient, trials, first), n_metrics = configured->n_metrics;
    bool some = false;
    for (int i = 0; i < count; i++) some = some || gradient->share[first + i] != 0.0;
    if (!some) return error_none();
    if (gradient->held != first) TRY(gradient_run_group(gradient, trials, first));
    for (int i = 0; i < count; i++) {
        for (int m = 0; m < n_metrics; m++)
            gradient->weights[m * count + i] = gradient->weight[(ptrdiff_t)(first + i) * n_metrics + m];
    }
    if (gradient->means.device != NULL)
        TRY(gradient->means.device->back(gradient->means.device, gradient->weights, gradient->gradients,
                                         gradient->grown));
    else if (!configured->model->adjoint->back(configured, count, gradient->memory, gradient->weights,
                                               gradient->gradients, gradient->grown))
        return gradient_left();
    const Adjoint *adjoint = configured->model->adjoint;
    const AdjointDevice *device = gradient->means.device;
    if (device == NULL && adjoint->trouble != NULL && gradient->trouble == NULL)
        gradient->trouble = adjoint->trouble(gradient->memory, &gradient->trouble_time);
    for (int i = count - 1; i >= 0 && device != NULL && device->trouble != NULL && gradient->trouble == NULL; i--)
        if (gradient->share[first + i] != 0.0) gradient->trouble = device->trouble(device, i, &gradient->trouble_time);
    for (int i = count - 1; i >= 0; i--) {
        const int trial = (first + i) / gradient->spec->replicates.count;
        if (gradient->share[first + i] == 0.0) continue;
        gradient_add_lane(gradient, first + i, gradient->gradients + i, count, gradient->grown[i]);
        if (out->each == NULL) continue;
        gradient_put_lane(gradient, first + i, trials->parameter + (ptrdiff_t)trial * configured->n_parameters, out);
    }
    return error_none();
}

// The weights of the metrics of a trial's replicates, whose values are in gradient->result; sum: what the objective
// itself takes of the parameters.
static void gradient_weigh(TrialGradient *gradient, int trial, const double *parameter)
{
    const Spec *spec = gradient->spec;
    const int n_metrics = gradient->configured->n_metrics, n_parameters = gradient->configured->n_parameters;
    const int replicates = spec->replicates.count;
    const Replicates of = gradient_replicates(gradient, trial, parameter);
    double *weight = gradient->weight + (ptrdiff_t)trial * replicates * n_metrics;
    double *share = gradient->share + trial * replicates;
    int n = 0;
    for (int r = 0; r < replicates; r++) {
        if (of.failure[r] != 0 && spec->objective.failed != FAILED_PENALTY) continue;
        gradient->sorted[n++] = (SlopeValue){gradient->result.value[r], r};
    }
    slopes_share(spec, gradient->sorted, n, share);
    for (int r = 0; r < replicates; r++) {
        if (of.failure[r] != 0) share[r] = 0.0; // a penalty is constant
        if (share[r] == 0.0) continue;
        replicate_scope(spec, &of, r, gradient->scope);
        double *sum = gradient->sum + (ptrdiff_t)trial * n_parameters,
               *own = cases_have_own(spec) ? gradient->one : sum;
        if (own != sum) memset(own, 0, (size_t)n_parameters * sizeof *own);
        slopes_of_replicate(spec, r, gradient->scope, share[r], gradient->slopes, weight + (ptrdiff_t)r * n_metrics,
                            own);
        case_pull(spec, r, own);
        for (int p = 0; p < n_parameters && own != sum; p++) sum[p] += own[p];
    }
}

// Whether the fitness changes with any replicate: not where those that it takes failed and count as a constant.
static bool gradient_is_there(const TrialGradient *gradient, int trial)
{
    const int replicates = gradient->spec->replicates.count;
    const double *share = gradient->share + (ptrdiff_t)trial * replicates;
    for (int r = 0; r < replicates; r++) {
        if (share[r] != 0.0) return true;
    }
    return false;
}

// ---- by the tangent -------------------------------------------------------------------------------------------------

// lane: of trial and replicate.
static double *gradient_tangent(const TrialGradient *gradient, ptrdiff_t lane, int i)
{
    return gradient->tangent + (lane * gradient->means.tangents + i) * gradient->configured->n_metrics;
}

// How the parameters of replicate r move with parameter p of the trial. Its own draws stay.
static void gradient_direct(const TrialGradient *gradient, const double *parameter, int r, int p, double *direction)
{
    const Configured *configured = configured_case(gradient->configured, r);
    const Spec *spec = gradient->spec;
    parameters_follow(spec, parameter, p, direction);
    case_directions(spec, r, direction);
    for (int k = 0; k < spec->replicates.n_perturb; k++) direction[spec->replicates.perturb[k].parameter] = 0.0;
    for (int k = 0; k < configured->n_parameters; k++) {
        if (!configured->model->adjoint->parameter(configured, k)) direction[k] = 0.0;
    }
}

// Runs a replicate of trial t, whose parameters are in gradient->own, along n of the `parameters` from `first` on.
static void gradient_run_along(TrialGradient *gradient, const GradientTrials *trials, int t, int r,
                               const GradientSlopes *out, int first, int n)
{
    const Configured *configured = configured_case(gradient->configured, r);
    const Adjoint *adjoint = configured->model->adjoint;
    const ptrdiff_t lane = (ptrdiff_t)t * gradient->spec->replicates.count + r;
    const double *parameter = trials->parameter + (ptrdiff_t)t * configured->n_parameters;
    for (int i = 0; i < n; i++)
        gradient_direct(gradient, parameter, r, out->parameters[first + i],
                        gradient->direction + (ptrdiff_t)i * configured->n_parameters);
    gradient->failure[lane] = adjoint->tangent(configured, gradient->own, gradient->direction, n, gradient->memory,
                                               gradient->metric + lane * configured->n_metrics,
                                               gradient_tangent(gradient, lane, first), NULL, 0);
}

static Error gradient_run_trial_along(TrialGradient *gradient, const GradientTrials *trials, int t,
                                      const GradientSlopes *out)
{
    const Spec *spec = gradient->spec;
    const int width = gradient->configured->model->adjoint->directions(gradient->configured);
    const double *parameter = trials->parameter + (ptrdiff_t)t * gradient->configured->n_parameters;
    for (int r = 0; r < spec->replicates.count; r++) {
        replicate_parameters(spec, trials->search[t], trials->ordinal[t], r, parameter, gradient->own);
        for (int i = 0; i < out->count; i += width) {
            if (trials->leaves != NULL && trials->leaves(trials->of)) return gradient_left();
            gradient_run_along(gradient, trials, t, r, out, i, out->count - i < width ? out->count - i : width);
        }
    }
    return error_none();
}

// On the device: lanes of trial, replicate and parameter, in this order, from `first` on.
static Error gradient_run_group_along(TrialGradient *gradient, const GradientTrials *trials, int first, int count,
                                      const GradientSlopes *out)
{
    const Spec *spec = gradient->spec;
    AdjointDevice *device = gradient->means.device;
    const int n = gradient->configured->n_parameters, n_metrics = gradient->configured->n_metrics;
    const int replicates = spec->replicates.count;
    double *direction = gradient->slopes;
    for (int k = 0; k < count; k++) {
        const int i = (first + k) % out->count, lane = (first + k) / out->count, t = lane / replicates;
        const double *parameter = trials->parameter + (ptrdiff_t)t * n;
        replicate_parameters(spec, trials->search[t], trials->ordinal[t], lane % replicates, parameter, gradient->one);
        gradient_direct(gradient, parameter, lane % replicates, out->parameters[i], direction);
        for (int p = 0; p < n; p++) gradient->own[p * count + k] = gradient->one[p];
        for (int p = 0; p < n; p++) gradient->direction[p * count + k] = direction[p];
    }
    const AdjointLanes lanes = {.count = count,
                                .parameter = gradient->own,
                                .metric = gradient->metrics,
                                .failure = gradient->failures,
                                .leaves = trials->leaves,
                                .of = trials->of};
    TRY(device->tangent(device, &lanes, gradient->direction, gradient->weights));
    for (int k = 0; k < count; k++) {
        const ptrdiff_t lane = (first + k) / out->count;
        double *slope = gradient_tangent(gradient, lane, (first + k) % out->count);
        gradient->failure[lane] = gradient->failures[k];
        for (int m = 0; m < n_metrics; m++) {
            gradient->metric[lane * n_metrics + m] = gradient->metrics[m * count + k];
            slope[m] = gradient->weights[m * count + k];
        }
    }
    return error_none();
}

static Error gradient_run_all_along(TrialGradient *gradient, const GradientTrials *trials, const GradientSlopes *out)
{
    const int all = trials->count * gradient->spec->replicates.count * out->count, width = gradient->width;
    for (int t = 0; t < trials->count && gradient->means.device == NULL; t++)
        TRY(gradient_run_trial_along(gradient, trials, t, out));
    for (int first = 0; first < all && gradient->means.device != NULL; first += width)
        TRY(gradient_run_group_along(gradient, trials, first, all - first < width ? all - first : width, out));
    return error_none();
}

// d (share of a replicate)/d parameter i by its metrics.
static double gradient_by_metrics(const TrialGradient *gradient, int lane, int i)
{
    const int n_metrics = gradient->configured->n_metrics;
    const double *weight = gradient->weight + (ptrdiff_t)lane * n_metrics, *slope = gradient_tangent(gradient, lane, i);
    double sum = 0.0;
    for (int m = 0; m < n_metrics; m++) {
        if (weight[m] != 0.0) sum += weight[m] * slope[m];
    }
    return sum;
}

// Of a trial that was run along all parameters and weighed.
static void gradient_collect_along(TrialGradient *gradient, const double *parameter, int t, const GradientSlopes *out)
{
    const int replicates = gradient->spec->replicates.count, n = gradient->configured->n_parameters;
    for (int i = 0; i < out->count; i++) {
        double slope = gradient_along(gradient, parameter, out->parameters[i], gradient->sum + (ptrdiff_t)t * n);
        for (int r = 0; r < replicates; r++) slope += gradient_by_metrics(gradient, t * replicates + r, i);
        out->slope[t * out->count + i] = slope;
    }
    for (int r = 0; r < replicates && out->each != NULL; r++) {
        const int lane = t * replicates + r;
        if (gradient->share[lane] == 0.0) continue;
        memset(gradient->one, 0, (size_t)n * sizeof(double));
        gradient_put_lane(gradient, lane, parameter, out);
        for (int i = 0; i < out->count; i++)
            out->each[lane * out->count + i] += gradient_by_metrics(gradient, lane, i) / gradient->share[lane];
    }
}

// Of a trial that was run along all parameters.
static void gradient_of_trial_along(TrialGradient *gradient, const GradientTrials *trials, int t,
                                    const GradientSlopes *out)
{
    const ptrdiff_t n = gradient->configured->n_parameters;
    const double *parameter = trials->parameter + t * n;
    const Replicates of = gradient_replicates(gradient, t, parameter);
    gradient->fitness[t] = trial_objective(gradient->spec, &of, &gradient->result);
    for (int i = 0; i < out->count; i++) out->slope[t * out->count + i] = (double)NAN;
    if (out->growth != NULL) out->growth[t] = (double)NAN;
    if (isnan(gradient->fitness[t])) return;
    memset(gradient->slopes, 0, (size_t)(gradient->configured->n_metrics + n) * sizeof(double));
    gradient_weigh(gradient, t, parameter);
    if (gradient_is_there(gradient, t)) gradient_collect_along(gradient, parameter, t, out);
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static void gradient_clear(TrialGradient *gradient, int count)
{
    const size_t lanes = (size_t)(count * gradient->spec->replicates.count);
    const size_t n_metrics = (size_t)gradient->configured->n_metrics;
    const size_t n_parameters = (size_t)gradient->configured->n_parameters;
    gradient->held = -1;
    gradient->trouble = NULL;
    memset(gradient->weight, 0, lanes * n_metrics * sizeof(double));
    memset(gradient->share, 0, lanes * sizeof(double));
    memset(gradient->slopes, 0, (n_metrics + n_parameters) * sizeof(double));
    memset(gradient->sum, 0, (size_t)count * n_parameters * sizeof(double));
    for (int t = 0; t < count; t++) gradient->growth[t] = (double)NAN;
}

static void gradient_finish(TrialGradient *gradient, const GradientTrials *trials, int t, const GradientSlopes *out)
{
    const ptrdiff_t n = gradient->configured->n_parameters;
    const bool there = gradient_is_there(gradient, t);
    if (out->growth != NULL) out->growth[t] = gradient->growth[t];
    for (int i = 0; i < out->count; i++)
        out->slope[t * out->count + i] =
            there ? gradient_along(gradient, trials->parameter + t * n, out->parameters[i], gradient->sum + t * n)
                  : (double)NAN;
}

Error trial_gradients(TrialGradient *gradient, const GradientTrials *trials, const GradientSlopes *out)
{
    const int replicates = gradient->spec->replicates.count, lanes = trials->count * replicates;
    const ptrdiff_t n = gradient->configured->n_parameters;
    gradient_clear(gradient, trials->count);
    gradient_draw(gradient, trials);
    for (int i = 0; i < out->count * lanes && out->each != NULL; i++) out->each[i] = (double)NAN;
    if (gradient->means.tangents > 0) {
        TRY(gradient_run_all_along(gradient, trials, out));
        for (int t = 0; t < trials->count; t++) gradient_of_trial_along(gradient, trials, t, out);
        return error_none();
    }
    for (int first = 0; first < lanes; first += gradient->width) TRY(gradient_run_group(gradient, trials, first));
    for (int t = 0; t < trials->count; t++) {
        const Replicates of = gradient_replicates(gradient, t, trials->parameter + t * n);
        gradient->fitness[t] = trial_objective(gradient->spec, &of, &gradient->result);
        if (!isnan(gradient->fitness[t])) gradient_weigh(gradient, t, trials->parameter + t * n);
    }
    for (int first = (lanes - 1) / gradient->width * gradient->width; first >= 0; first -= gradient->width)
        TRY(gradient_add_group(gradient, trials, first, out));
    for (int t = 0; t < trials->count; t++) gradient_finish(gradient, trials, t, out);
    return error_none();
}

const char *trial_gradient_trouble(const TrialGradient *gradient, double *time)
{
    *time = gradient->trouble_time;
    return gradient->trouble;
}

// ---- whether there is one -------------------------------------------------------------------------------------------

// Why a metric has no derivative: "" of one of the model, NULL: it has one.
static const char *gradient_bends(const Spec *spec, int metric)
{
    const int own = configured_own_metrics(&spec->configured);
    if (metric >= own) return spec->configured.meter->slopes->bends[metric - own];
    return spec->model->adjoint->bends(&spec->configured, metric);
}

// Metrics of the objective without a derivative: "gap_max, highest (max)"; returns their number.
static int gradient_list_bends(const Spec *spec, char *list, size_t size)
{
    int count = 0;
    size_t used = 0;
    list[0] = '\0';
    for (int m = 0; m < spec->configured.n_metrics; m++) {
        const char *why = gradient_bends(spec, m);
        if (!expression_uses(spec->objective.expression[0], m) || why == NULL) continue;
        if (used < size)
            used += (size_t)snprintf(list + used, size - used, "%s%s%s%s%s", count > 0 ? ", " : "",
                                     spec->configured.metrics[m].name, *why != '\0' ? " (" : "", why,
                                     *why != '\0' ? ")" : "");
        count++;
    }
    return count;
}

Error trial_gradient_check(const Spec *spec)
{
    if (spec->objective.information.n > 0)
        return error_make(ERROR_USER, "what residuals tell has no derivative: search it by cmaes");
    return trial_residuals_check(spec);
}

Error trial_residuals_check(const Spec *spec)
{
    const Adjoint *adjoint = spec->model->adjoint;
    if (adjoint == NULL) return error_make(ERROR_USER, "model %s has no adjoint", spec->model->name);
    const char *why = adjoint->refuses(&spec->configured);
    if (spec->retire_text != NULL)
        why = "derivatives are those of whole trials, and limits.retire ends trials early: leave it out";
    if (why != NULL) return error_make(ERROR_USER, "%s", why);
    char bends[256];
    const int count = gradient_list_bends(spec, bends, sizeof bends);
    if (count == 0) return error_none();
    return error_make(ERROR_USER,
                      "metric%s %s of the objective ha%s no derivative: counts, times, maxima and jumps have none",
                      count > 1 ? "s" : "", bends, count > 1 ? "ve" : "s");
}

bool trial_gradient_goes_back(const Spec *spec)
{
    return spec->model->adjoint != NULL && spec->model->adjoint->run != NULL;
}

bool trial_gradient_has(const Spec *spec, int p)
{
    const Adjoint *adjoint = spec->model->adjoint;
    const Axis *derived = spec->axes + spec->n_axes;
    if (!adjoint->parameter(&spec->configured, p)) return false;
    for (int k = 0; k < spec->n_cases && spec->cases != NULL; k++) // they may not be read yet
        for (int i = 0; i < spec->cases[k].n_values; i++)
            if (spec->cases[k].from[i] == p && !adjoint->parameter(&spec->configured, spec->cases[k].parameter[i]))
                return false;
    for (int i = 0; i < spec->n_derived; i++) {
        if (expression_uses(derived[i].derive, p) && !trial_gradient_has(spec, derived[i].parameter)) return false;
    }
    return true;
}

Error trial_gradient_check_axes(const Spec *spec)
{
    for (int i = 0; i < spec->n_axes; i++) {
        if (trial_gradient_has(spec, spec->axes[i].parameter)) continue;
        return error_make(ERROR_USER, "no metric depends smoothly on %s: search it by cmaes",
                          spec->configured.parameters[spec->axes[i].parameter].name);
    }
    return error_none();
}
