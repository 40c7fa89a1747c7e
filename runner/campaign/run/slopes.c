// How much each searched parameter moves the fitness at a stored trial: derivatives by fractions of the ranges, with
// their standard errors over the replicates. By the adjoint where the model has one; else, for methods along gradients,
// by the same differences as the search's.
#include "gradient.h"

#include <math.h>
#include <string.h>

// ---- ranges ---------------------------------------------------------------------------------------------------------

// d value/d fraction of the range; 0: there is no range. Of a list its range is from the least value to the greatest.
static double slopes_stretch(const Values *values, double value)
{
    double low = (double)INFINITY, high = (double)-INFINITY;
    if (values_are_range(values)) return search_stretch(values, value);
    for (int64_t i = 0; i < values->count; i++) {
        const double at = values_at(values, values->form != NULL && i > 0 ? values->count - 1 : i);
        low = fmin(low, at);
        high = fmax(high, at);
        if (values->form != NULL && i > 0) break; // they rise or fall
    }
    return values->count > 0 ? high - low : 0.0;
}

// Whether the end of a range keeps the fitness from getting better.
static bool slopes_held(const Spec *spec, const Axis *axis, const Slope *slope)
{
    if (!values_are_range(&axis->values)) return false;
    const double u = search_coordinate(&axis->values, slope->value), rise = spec_cost(spec, 0, slope->slope);
    return (u <= 0.0 && rise > 0.0) || (u >= 1.0 && rise < 0.0);
}

// Standard error of the mean of each[replicates], of those that are numbers, every `stride` one. NaN: fewer than two.
static double slopes_error(const double *each, int replicates, int stride)
{
    double mean = 0.0, squares = 0.0;
    int count = 0;
    for (int r = 0; r < replicates; r++) {
        if (!isfinite(each[(ptrdiff_t)r * stride])) continue;
        mean += each[(ptrdiff_t)r * stride];
        count++;
    }
    if (count < 2) return (double)NAN;
    mean /= count;
    for (int r = 0; r < replicates; r++) {
        const double off = isfinite(each[(ptrdiff_t)r * stride]) ? each[(ptrdiff_t)r * stride] - mean : 0.0;
        squares += off * off;
    }
    return sqrt(squares / ((double)count * (count - 1)));
}

// ---- by the adjoint -------------------------------------------------------------------------------------------------

enum { SLOPES_STATES = 64 << 20 }; // bytes

static Error slopes_by_adjoint(GradientRun *run, SlopeResult *result)
{
    const Spec *spec = run->spec;
    const int n = result->count, replicates = spec->replicates.count;
    const bool several = spec->objective.over == OVER_MEAN && replicates > 1 && replicates_differ(spec);
    int *parameters = ARENA_NEW(run->arena, int, n);
    double *slope = ARENA_NEW(run->arena, double, n);
    double *each = several ? ARENA_NEW(run->arena, double, replicates *n) : NULL;
    for (int i = 0; i < n; i++) parameters[i] = result->slopes[i].parameter;
    TRY(gradient_open_device(run, replicates));
    const GradientMeans means = {.most = SLOPES_STATES, .device = run->device};
    TrialGradient *gradient = trial_gradient_take(spec, &run->configured, &means, run->arena);
    const int32_t search = (int32_t)run->stored.search[0];
    const GradientTrials trials = {
        .count = 1, .search = &search, .ordinal = &run->ordinal, .parameter = run->parameter};
    const GradientSlopes slopes = {
        .parameters = parameters, .count = n, .slope = slope, .each = each, .growth = &result->growth};
    TRY(trial_gradients(gradient, &trials, &slopes));
    for (int i = 0; i < n; i++) {
        Slope *of = &result->slopes[i];
        const double stretch = slopes_stretch(&spec->axes[i].values, of->value);
        if (!trial_gradient_has(spec, parameters[i]) || !(fabs(stretch) > 0.0)) continue;
        of->slope = slope[i] * stretch;
        if (several) of->error = slopes_error(each + i, replicates, n) * fabs(stretch);
    }
    return error_none();
}

// ---- by differences -------------------------------------------------------------------------------------------------

static double slopes_difference(const Spec *spec)
{
    for (int i = 0; i < spec->method->n_options; i++) {
        const char *end = strrchr(spec->method->options[i].name, '.');
        if (end != NULL && strcmp(end, ".difference") == 0) return spec->method_settings[i];
    }
    return 1e-3;
}

// Two points of an axis: parameter[2][n_parameters], at the fractions u[2] of its range. What the spec leaves out has
// the trial's own index.
static void slopes_points(const GradientRun *run, int axis, double *parameter, double *u)
{
    const Spec *spec = run->spec;
    const int n = spec->configured.n_parameters, p = spec->axes[axis].parameter;
    const Values *values = &spec->axes[axis].values;
    const double at = search_coordinate(values, run->parameter[p]), h = slopes_difference(spec);
    for (int side = 0; side < 2; side++) {
        double *own = parameter + side * n;
        u[side] = search_inside(side == 0 ? at + h : at - h);
        memcpy(own, run->parameter, (size_t)n * sizeof *own);
        own[p] = search_value(values, u[side]);
        if (search_complete(spec, own)) continue;
        memcpy(own, run->parameter, (size_t)n * sizeof *own);
        u[side] = at;
    }
}

static Error slopes_by_differences(GradientRun *run, SlopeResult *result)
{
    const Spec *spec = run->spec;
    const int n = spec->configured.n_parameters, replicates = spec->replicates.count;
    const bool several = search_takes_values(spec);
    double *point = ARENA_NEW(run->arena, double, 2 * n), fitness[2], u[2];
    double *value = several ? ARENA_NEW(run->arena, double, 2 * replicates) : NULL;
    for (int i = 0; i < result->count; i++) {
        Slope *of = &result->slopes[i];
        slopes_points(run, i, point, u);
        TRY(gradient_fly(run, point, 2, fitness, value, NULL));
        if (u[0] == u[1]) continue;
        of->slope = (fitness[0] - fitness[1]) / (u[0] - u[1]);
        for (int r = 0; r < replicates && several; r++) value[r] = (value[r] - value[replicates + r]) / (u[0] - u[1]);
        if (several) of->error = slopes_error(value, replicates, 1);
    }
    return error_none();
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error slopes_work(GradientRun *run, void *context)
{
    SlopeResult *result = context;
    result->n_failed = run->stored.n_failed[0];
    for (int i = 0; i < result->count; i++) result->slopes[i].value = run->parameter[result->slopes[i].parameter];
    if (result->adjoint)
        TRY(slopes_by_adjoint(run, result));
    else
        TRY(slopes_by_differences(run, result));
    for (int i = 0; i < result->count; i++)
        result->slopes[i].held = slopes_held(run->spec, &run->spec->axes[i], &result->slopes[i]);
    return error_none();
}

static bool slopes_go_back(const Spec *spec)
{
    return trial_gradient_check(spec).kind == OK && trial_gradient_goes_back(spec);
}

bool campaign_has_slopes(const StoredCampaign *campaign)
{
    enum { SLOPES_STEPS = 20000 }; // of dt, of all replicates: some seconds. Adaptive ones are about as many
    const Spec *spec = &campaign->spec;
    if (spec_several(spec) || spec->n_axes == 0) return false;
    if (slopes_go_back(spec)) return spec->configured.ticks * spec->replicates.count <= SLOPES_STEPS;
    return spec->method->gradient_column > 0;
}

Error campaign_slopes(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                      SlopeResult *result)
{
    const Spec *spec = &campaign->spec;
    *result = (SlopeResult){.adjoint = slopes_go_back(spec),
                            .count = spec->n_axes,
                            .growth = (double)NAN,
                            .slopes = ARENA_NEW(arena, Slope, spec->n_axes)};
    for (int i = 0; i < spec->n_axes; i++)
        result->slopes[i] = (Slope){.parameter = spec->axes[i].parameter, .slope = (double)NAN, .error = (double)NAN};
    return gradient_at_trial(campaign, trial, 2, backend, arena, slopes_work, result);
}
