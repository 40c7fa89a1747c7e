// The residuals of a stored trial and their derivatives by the searched parameters: by the tangent, where the model has
// one, else by central differences of trials.
#include "gradient.h"

#include <math.h>
#include <string.h>

static const double fit_difference = 1e-4; // of a range

// ---- coordinates ----------------------------------------------------------------------------------------------------

// d value/d coordinate. Of a list of values the coordinate is the value, in units of its size.
static double fit_stretch(const Values *values, double value)
{
    if (values_are_range(values)) return search_stretch(values, value);
    return fabs(value) > 0.0 ? fabs(value) : 1.0;
}

static void fit_take_parameters(const GradientRun *run, FitData *out)
{
    const Spec *spec = run->spec;
    const int n = spec->n_axes;
    int *parameter = ARENA_NEW(run->arena, int, n);
    double *value = ARENA_NEW(run->arena, double, n), *stretch = ARENA_NEW(run->arena, double, n);
    double *coordinate = ARENA_NEW(run->arena, double, n);
    bool *log_scale = ARENA_NEW(run->arena, bool, n);
    for (int i = 0; i < n; i++) {
        const Values *values = &spec->axes[i].values;
        const bool range = values_are_range(values);
        parameter[i] = spec->axes[i].parameter;
        value[i] = run->parameter[parameter[i]];
        stretch[i] = fit_stretch(values, value[i]);
        coordinate[i] = range ? search_coordinate(values, value[i]) : 0.5;
        log_scale[i] = range && values->log_scale;
    }
    out->n = n;
    out->parameter = parameter;
    out->value = value;
    out->stretch = stretch;
    out->coordinate = coordinate;
    out->log_scale = log_scale;
}

// ---- series ---------------------------------------------------------------------------------------------------------

// The file of the recorded motion; NULL: there is none.
static const Points *fit_record(const Spec *spec)
{
    for (int i = 0; i < spec->model->n_options; i++) {
        const Option *option = &spec->model->options[i];
        if (strcmp(option->name, "reference") == 0 && option->type == OPTION_FILE) return &spec->option_points[i];
    }
    return NULL;
}

// Of one residual, which begins at `first`. Differences from a recorded motion are one series for each column.
static void fit_add_series(const Spec *spec, const Residual *residual, int64_t first, Arena *arena, FitData *out)
{
    const Points *record = fit_record(spec);
    if (residual->metric < 0 || record == NULL) {
        const char *name = expression_text(residual->expression, arena);
        out->series[out->n_series++] = (FitSeries){name, first, 1, residual->count};
        return;
    }
    const int64_t columns = record->columns - 1;
    for (int64_t k = 0, c = 0; k < record->columns; k++) {
        if (strcmp(record->names[k], "time") == 0) continue;
        out->series[out->n_series++] = (FitSeries){record->names[k], first + c++, columns, residual->count / columns};
    }
}

static void fit_take_series(const Spec *spec, Arena *arena, FitData *out)
{
    const Points *record = fit_record(spec);
    const int64_t most = spec->objective.n_residuals + (record != NULL ? record->columns : 0);
    int64_t at = 0;
    out->series = ARENA_NEW(arena, FitSeries, most);
    // As trial_residuals_along: values of metrics stand before expressions.
    for (int by_value = 1; by_value >= 0; by_value--) {
        for (int i = 0; i < spec->objective.n_residuals; i++) {
            const Residual *residual = &spec->objective.residuals[i];
            if ((residual->metric >= 0) != by_value) continue;
            fit_add_series(spec, residual, at, arena, out);
            at += residual->count;
        }
    }
    out->count = at;
}

// ---- by the tangent -------------------------------------------------------------------------------------------------

static Error fit_by_tangent(GradientRun *run, FitData *out)
{
    const Spec *spec = run->spec;
    TrialResiduals *trial = trial_residuals_take(spec, &run->configured, run->arena);
    for (int i = 0; i < out->n; i++) {
        double *column = out->column + i * out->count;
        const int64_t count = trial_residuals_along(trial, (int32_t)run->stored.search[0], run->ordinal, run->parameter,
                                                    out->parameter[i], out->residual, column);
        if (count != out->count)
            return error_make(ERROR_USER, "the trial has %lld of %lld residuals: its run ended early", (long long)count,
                              (long long)out->count);
        for (int64_t k = 0; k < count; k++) column[k] *= out->stretch[i];
    }
    return error_none();
}

// ---- by differences -------------------------------------------------------------------------------------------------

static Error fit_fly(GradientRun *run, const double *parameter, double *residual, double *fitness)
{
    const Spec *spec = run->spec;
    double *metric = ARENA_NEW(run->arena, double, spec->configured.n_metrics);
    TRY(gradient_fly(run, parameter, 1, fitness, NULL, metric));
    int failure = isnan(*fitness);
    const Replicates of = {.parameter = parameter, .metric = metric, .failure = &failure};
    trial_residuals_of(spec, &of, residual);
    return error_none();
}

static Error fit_by_differences(GradientRun *run, FitData *out)
{
    const int n = run->spec->configured.n_parameters;
    double *own = ARENA_NEW(run->arena, double, n), *side = ARENA_NEW(run->arena, double, 2 * out->count), fitness;
    TRY(fit_fly(run, run->parameter, out->residual, &fitness));
    for (int i = 0; i < out->n; i++) {
        const Values *values = &run->spec->axes[i].values;
        double at[2];
        for (int s = 0; s < 2; s++) {
            const double u = out->coordinate[i] + (s == 0 ? fit_difference : -fit_difference);
            memcpy(own, run->parameter, (size_t)n * sizeof *own);
            at[s] = values_are_range(values) ? search_inside(u) : u;
            own[out->parameter[i]] = values_are_range(values)
                                         ? search_value(values, at[s])
                                         : out->value[i] + (u - out->coordinate[i]) * out->stretch[i];
            if (!search_complete(run->spec, own)) at[s] = out->coordinate[i];
            if (at[s] == out->coordinate[i]) memcpy(own, run->parameter, (size_t)n * sizeof *own);
            TRY(fit_fly(run, own, side + s * out->count, &fitness));
            if (!isnan(fitness)) continue;
            at[s] = out->coordinate[i]; // a difference of one side, without the trial that failed
            memcpy(side + s * out->count, out->residual, (size_t)out->count * sizeof *side);
        }
        for (int64_t k = 0; k < out->count; k++)
            out->column[i * out->count + k] = at[0] != at[1] ? (side[k] - side[out->count + k]) / (at[0] - at[1]) : 0.0;
    }
    return error_none();
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static bool fit_has_values(const Spec *spec)
{
    for (int i = 0; i < spec->objective.n_residuals; i++) {
        if (spec->objective.residuals[i].metric >= 0) return true;
    }
    return false;
}

static Error fit_work(GradientRun *run, void *context)
{
    FitData *out = context;
    const Spec *spec = run->spec;
    out->fitness = run->fitness;
    fit_take_parameters(run, out);
    fit_take_series(spec, run->arena, out);
    out->residual = ARENA_NEW(run->arena, double, out->count);
    out->column = ARENA_NEW(run->arena, double, out->count * out->n);
    Error refused = trial_gradient_check(spec);
    if (refused.kind == OK) refused = trial_gradient_check_axes(spec);
    out->by_differences = refused.kind != OK;
    if (!out->by_differences) return fit_by_tangent(run, out);
    return fit_has_values(spec) ? refused : fit_by_differences(run, out);
}

Error campaign_fit(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                   FitData *out)
{
    const Spec *spec = &campaign->spec;
    *out = (FitData){.n = 0};
    if (spec->objective.n_residuals == 0)
        return error_make(ERROR_USER, "campaign %s has no residuals: its spec needs `objective: {residuals: ...}`",
                          campaign->name);
    if (spec->replicates.count > 1)
        return error_make(ERROR_USER, "campaign %s has replicates, and residuals are those of one run", campaign->name);
    for (int i = 0; i < spec->n_axes; i++) {
        if (spec->axes[i].values.choices == NULL && !spec->axes[i].values.integer) continue;
        return error_make(ERROR_USER, "%s is searched, and takes only %s: residuals have no derivative by it",
                          spec->configured.parameters[spec->axes[i].parameter].name,
                          spec->axes[i].values.choices != NULL ? "words" : "integers");
    }
    return gradient_at_trial(campaign, trial, 1, backend, arena, fit_work, out);
}
