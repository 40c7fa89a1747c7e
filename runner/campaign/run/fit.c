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

// Of a plan (objective.information): in units of their sizes.
static void fit_take_planned(const GradientRun *run, FitData *out)
{
    const Spec *spec = run->spec;
    const int n = spec->objective.information.n;
    double *value = ARENA_NEW(run->arena, double, n), *stretch = ARENA_NEW(run->arena, double, n);
    double *coordinate = ARENA_NEW(run->arena, double, n);
    for (int i = 0; i < n; i++) {
        value[i] = run->parameter[spec->objective.information.of[i]];
        stretch[i] = information_size(value[i]);
        coordinate[i] = 0.5;
    }
    *out = (FitData){.n = n,
                     .parameter = spec->objective.information.of,
                     .parameters = run->parameter,
                     .value = value,
                     .stretch = stretch,
                     .coordinate = coordinate,
                     .log_scale = ARENA_NEW(run->arena, bool, n),
                     .fitness = out->fitness,
                     .noise = spec->objective.information.noise};
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
    out->parameters = run->parameter;
    out->value = value;
    out->stretch = stretch;
    out->coordinate = coordinate;
    out->log_scale = log_scale;
}

// ---- series ---------------------------------------------------------------------------------------------------------

typedef struct FitSeriesBuild {
    FitSeries *series;
    int count;
    int64_t at;         // the next residual
    int recording;      // whose series are added
    const char *before; // of their names
    Arena *arena;
} FitSeriesBuild;

// column: of the recording; -1: none.
static void fit_put_series(FitSeriesBuild *build, const char *name, int64_t count, int column, int metric)
{
    const char *before = count > 1 ? build->before : ""; // an expression may be of parameters alone
    build->series[build->count++] = (FitSeries){
        arena_format(build->arena, "%s%s", before, name), build->at, count, build->recording, column, metric};
    build->at += count;
}

// Of one residual. Differences from a recorded motion are one series for each column.
static void fit_add_series(FitSeriesBuild *build, const Spec *spec, const Residual *residual)
{
    const Points *record = spec_recording(spec);
    if (residual->metric < 0 || record == NULL) {
        fit_put_series(build, expression_text(residual->expression, build->arena), residual->count, -1,
                       residual->metric);
        return;
    }
    for (int64_t k = 0; k < record->columns; k++) {
        int64_t there = 0; // gaps have no residual
        if (strcmp(record->names[k], "time") == 0) continue;
        for (int64_t at = k; at < record->count; at += record->columns) there += !isnan(record->numbers[at]);
        fit_put_series(build, record->names[k], there, (int)k, residual->metric);
    }
}

static int64_t fit_most_series(const Spec *spec)
{
    const Points *record = spec_recording(spec);
    return spec->objective.n_residuals + (record != NULL ? record->columns : 0);
}

// As trial_residuals_along: values of metrics stand before expressions.
static void fit_add_case(FitSeriesBuild *build, const Spec *spec)
{
    for (int by_value = 1; by_value >= 0; by_value--) {
        for (int i = 0; i < spec->objective.n_residuals; i++) {
            const Residual *residual = &spec->objective.residuals[i];
            if ((residual->metric >= 0) == by_value) fit_add_series(build, spec, residual);
        }
    }
}

static void fit_take_series(const Spec *spec, Arena *arena, FitData *out)
{
    int64_t most = 0;
    const char **names = ARENA_NEW(arena, const char *, spec_fit_cases(spec));
    for (int k = 0; k < spec_fit_cases(spec); k++) most += fit_most_series(spec_case(spec, k));
    FitSeriesBuild build = {.series = ARENA_NEW(arena, FitSeries, most), .before = "", .arena = arena};
    for (int k = 0; k < spec_fit_cases(spec); k++) {
        build.recording = k;
        names[k] = spec->n_cases > 0 ? spec->cases[k].name : "";
        if (spec->n_cases > 0) build.before = arena_format(arena, "%s: ", names[k]);
        fit_add_case(&build, spec_case(spec, k));
    }
    out->series = build.series;
    out->n_series = build.count;
    out->count = build.at;
    out->names = names;
    out->n_fitted = spec_fit_cases(spec);
}

// ---- recordings that are compared -----------------------------------------------------------------------------------

static void fit_take_recording(const GradientRun *run, const FitData *data, const SpecCase *of, FitRecording *out)
{
    const Spec *spec = of->spec;
    const size_t n = (size_t)spec->configured.n_parameters;
    FitSeriesBuild build = {
        .series = ARENA_NEW(run->arena, FitSeries, fit_most_series(spec)), .before = "", .arena = run->arena};
    fit_add_case(&build, spec);
    double *slope = ARENA_NEW(run->arena, double, build.at), *parameter = ARENA_NEW(run->arena, double, n);
    TrialResiduals *trial = trial_residuals_take(spec, &spec->configured, run->arena);
    memcpy(parameter, run->parameter, n * sizeof *parameter);
    case_values(of, parameter);
    out->name = of->name;
    out->series = build.series;
    out->n_series = build.count;
    out->residual = ARENA_NEW(run->arena, double, build.at);
    const int first = data->n > 0 ? data->parameter[0] : 0;
    const int64_t there = trial_residuals_along(trial, (int32_t)run->stored.search[0], run->ordinal, parameter, &first,
                                                1, out->residual, slope);
    out->count = there == build.at ? there : 0;
}

static Error fit_take_recordings(const GradientRun *run, FitData *data)
{
    const Spec *spec = run->campaign->spec.validate.n_held > 0 ? &run->campaign->spec : NULL;
    if (spec == NULL) return error_none();
    const Error refused = trial_gradient_check(spec);
    if (refused.kind != OK) return error_make(ERROR_USER, "validate needs runs with dual numbers: %s", refused.text);
    const int n_fitted = spec_fit_cases(spec), n_held = spec->validate.n_held;
    data->recordings = ARENA_NEW(run->arena, FitRecording, n_fitted + n_held);
    for (int k = 0; k < n_fitted; k++)
        fit_take_recording(run, data, &spec->validate.fitted[k], &data->recordings[data->n_recordings++]);
    for (int k = 0; k < n_held; k++) {
        data->recordings[data->n_recordings].held = true;
        fit_take_recording(run, data, &spec->validate.held[k], &data->recordings[data->n_recordings++]);
    }
    return error_none();
}

// ---- by the tangent -------------------------------------------------------------------------------------------------

struct FitModel {
    GradientRun *run;
    const FitData *data;
    TrialResiduals *trial; // NULL: by differences
    double *parameter;     // [n_parameters] where residuals are computed
    double *own;           // [n_parameters]
    double *side;          // [2][count]
};

// d value/d coordinate i at model->parameter.
static double fit_stretch_at(const FitModel *model, int i)
{
    if (model->data->noise > 0.0) return model->data->stretch[i];
    return fit_stretch(&model->run->spec->axes[i].values, model->parameter[model->data->parameter[i]]);
}

// *there: how many residuals the run has.
static void fit_by_tangent(const FitModel *model, double *residual, double *column, int64_t *there)
{
    const GradientRun *run = model->run;
    const int64_t count = model->data->count;
    const int n = model->data->n, width = run->configured.model->adjoint->directions(&run->configured);
    *there = count;
    const int first = n > 0 ? model->data->parameter[0] : 0;
    if (column == NULL || n == 0)
        *there = trial_residuals_along(model->trial, (int32_t)run->stored.search[0], run->ordinal, model->parameter,
                                       &first, 1, residual, model->side);
    for (int i = 0; i < n && *there == count && column != NULL; i += width)
        *there = trial_residuals_along(model->trial, (int32_t)run->stored.search[0], run->ordinal, model->parameter,
                                       model->data->parameter + i, n - i < width ? n - i : width, residual,
                                       column + i * count);
    for (int i = 0; i < n && *there == count && column != NULL; i++) {
        for (int64_t k = 0; k < count; k++) column[i * count + k] *= fit_stretch_at(model, i);
    }
}

// ---- by differences -------------------------------------------------------------------------------------------------

static Error fit_fly(GradientRun *run, const double *parameter, double *residual, double *fitness)
{
    const Spec *spec = run->spec;
    const size_t used = run->arena->used;
    const int n_metrics = spec->configured.n_metrics, cases = spec_fit_cases(spec);
    double *metric = ARENA_NEW(run->arena, double, cases *n_metrics);
    int *failure = ARENA_NEW(run->arena, int, cases);
    TRY(gradient_fly(run, parameter, 1, fitness, NULL, NULL));
    const Batch *batch = backend_batch(run->backend, 0); // its lanes are the replicates of the trial
    for (int r = 0; r < cases; r++) {
        failure[r] = isnan(*fitness);
        for (int m = 0; m < n_metrics; m++) metric[r * n_metrics + m] = batch->metric[m * batch->stride + r];
    }
    const Replicates of = {.parameter = parameter, .metric = metric, .failure = failure};
    trial_residuals_of(spec, &of, residual);
    arena_rewind(run->arena, used);
    return error_none();
}

// The derivatives by coordinate i, at u. A side that fails is left out: the difference is one of the other side.
static Error fit_difference_of(const FitModel *model, int i, const double *residual, double *column)
{
    const Values *values = &model->run->spec->axes[i].values;
    const int64_t count = model->data->count;
    const int p = model->data->parameter[i];
    const double value = model->parameter[p], stretch = fit_stretch_at(model, i);
    const bool range = values_are_range(values);
    double at[2];
    for (int s = 0; s < 2; s++) {
        const double h = s == 0 ? fit_difference : -fit_difference, u = range ? search_coordinate(values, value) : 0.5;
        double fitness = (double)NAN;
        at[s] = (range ? search_inside(u + h) : u + h) - u;
        memcpy(model->own, model->parameter, (size_t)model->run->spec->configured.n_parameters * sizeof(double));
        model->own[p] = range ? search_value(values, u + at[s]) : value + at[s] * stretch;
        if (search_complete(model->run->spec, model->own))
            TRY(fit_fly(model->run, model->own, model->side + s * count, &fitness));
        if (!isnan(fitness)) continue;
        at[s] = 0.0;
        memcpy(model->side + s * count, residual, (size_t)count * sizeof *residual);
    }
    for (int64_t k = 0; k < count; k++)
        column[k] = at[0] != at[1] ? (model->side[k] - model->side[count + k]) / (at[0] - at[1]) : 0.0;
    return error_none();
}

static Error fit_by_differences(const FitModel *model, double *residual, double *column, int64_t *there)
{
    double fitness;
    TRY(fit_fly(model->run, model->parameter, residual, &fitness));
    *there = isnan(fitness) ? 0 : model->data->count;
    for (int i = 0; i<model->data->n && * there> 0 && column != NULL; i++)
        TRY(fit_difference_of(model, i, residual, column + i * model->data->count));
    return error_none();
}

static Error fit_compute(const FitModel *model, double *residual, double *column, int64_t *there)
{
    if (model->trial == NULL) return fit_by_differences(model, residual, column, there);
    fit_by_tangent(model, residual, column, there);
    return error_none();
}

Error fit_evaluate(const FitModel *model, const double *value, double *residual, double *column, bool *there)
{
    int64_t count = 0;
    memcpy(model->parameter, model->run->parameter, (size_t)model->run->spec->configured.n_parameters * sizeof(double));
    for (int i = 0; i < model->data->n; i++) model->parameter[model->data->parameter[i]] = value[i];
    if (search_complete(model->run->spec, model->parameter)) TRY(fit_compute(model, residual, column, &count));
    *there = count == model->data->count;
    return error_none();
}

// ---- by a parameter that is not searched ----------------------------------------------------------------------------

bool fit_may_depend(const FitModel *model, int parameter)
{
    const Spec *spec = model->run->spec;
    const int n = spec->n_axes + spec->n_derived + spec->n_outer;
    for (int i = 0; i < n; i++)
        if (spec->axes[i].parameter == parameter) return false;
    for (int k = 0; k < spec->replicates.n_perturb; k++)
        if (spec->replicates.perturb[k].parameter == parameter) return false;
    for (int k = 0; k < spec->n_cases; k++)
        for (int i = 0; i < spec->cases[k].n_values; i++)
            if (spec->cases[k].parameter[i] == parameter) return false; // it has no common value
    return model->trial == NULL || trial_gradient_has(spec, parameter);
}

// Central differences, of one side where the other leaves the range or its run fails.
static Error fit_differ_along(const FitModel *model, int parameter, double *column)
{
    const GradientRun *run = model->run;
    const Parameter *of = &run->spec->configured.parameters[parameter];
    const int64_t count = model->data->count;
    const double value = run->parameter[parameter], size = fabs(value) > 0.0 ? fabs(value) : 1.0;
    double at[2] = {value + fit_difference * size, value - fit_difference * size};
    for (int s = 0; s < 2; s++) {
        double fitness = (double)NAN;
        memcpy(model->own, run->parameter, (size_t)run->spec->configured.n_parameters * sizeof(double));
        model->own[parameter] = at[s];
        if (at[s] >= of->low && at[s] <= of->high && search_complete(run->spec, model->own))
            TRY(fit_fly(model->run, model->own, model->side + s * count, &fitness));
        if (!isnan(fitness)) continue;
        at[s] = value;
        memcpy(model->side + s * count, model->data->residual, (size_t)count * sizeof(double));
    }
    for (int64_t k = 0; k < count; k++)
        column[k] = at[0] > at[1] ? (model->side[k] - model->side[count + k]) / (at[0] - at[1]) : 0.0;
    return error_none();
}

Error fit_along(const FitModel *model, int parameter, double *column, bool *there)
{
    const GradientRun *run = model->run;
    *there = true;
    if (model->trial == NULL) return fit_differ_along(model, parameter, column);
    const int64_t count = trial_residuals_along(model->trial, (int32_t)run->stored.search[0], run->ordinal,
                                                run->parameter, &parameter, 1, model->side, column);
    *there = count == model->data->count;
    return error_none();
}

// ---- at a finer step ------------------------------------------------------------------------------------------------

// Settings that may say how long steps are, and what makes errors as much smaller as half a step does: for tolerances,
// with a method of order five.
static const struct {
    const char *name;
    double through;
} fit_finer_settings[] = {{"dt", 2.0}, {"tolerance", 32.0}};
enum { FIT_FINER_SETTINGS = sizeof fit_finer_settings / sizeof *fit_finer_settings };

// Setting k of the spec; false: its model has none, or it can't be smaller.
static bool fit_finer_setting(const Spec *spec, int k, FitFiner *to)
{
    const char *name = fit_finer_settings[k].name;
    for (int i = 0; i < spec->model->n_options; i++) {
        const Option *option = &spec->model->options[i];
        if (strcmp(option->name, name) != 0 || model_is_top(spec->model, name)) continue;
        *to = (FitFiner){.name = option->name,
                         .value = spec->settings[i],
                         .finer = spec->settings[i] / fit_finer_settings[k].through};
        return to->finer >= option->low;
    }
    return false;
}

// The same spec with that step; false: it can't be read so.
static bool fit_finer_spec(const GradientRun *run, const FitFiner *to, Spec *spec)
{
    const Spec *of = &run->campaign->spec;
    const char *const overrides[] = {arena_format(run->arena, "simulation.%s=%.17g", to->name, to->finer),
                                     "validate=none"};
    return spec_parse(of->file, of->resolved, overrides, 2, run->arena, diagnostics_new(run->arena), spec).kind == OK &&
           spec->configured.n_parameters == of->configured.n_parameters &&
           spec->configured.n_metrics == of->configured.n_metrics &&
           spec_residual_count(spec) == spec_residual_count(run->spec);
}

// residual[count] <- those of the trial with the finer step. *there: how many the run has.
static Error fit_finer_residuals(const FitModel *model, const Spec *spec, double *residual, int64_t *there)
{
    GradientRun run = *model->run;
    double fitness;
    run.spec = spec;
    TRY(spec_build(spec, run.arena, &run.configured));
    if (model->trial != NULL) {
        const int first = model->data->n > 0 ? model->data->parameter[0] : 0;
        TrialResiduals *trial = trial_residuals_take(spec, &run.configured, run.arena);
        *there = trial_residuals_along(trial, (int32_t)run.stored.search[0], run.ordinal, run.parameter, &first, 1,
                                       residual, model->side);
        return error_none();
    }
    TRY(backend_prepare(run.backend, &run.configured, spec->replicates.count, 0, 0));
    TRY(fit_fly(&run, run.parameter, residual, &fitness));
    *there = isnan(fitness) ? 0 : model->data->count;
    return backend_prepare(run.backend, &model->run->configured, spec->replicates.count, 0, 0);
}

// Of a method with fixed steps the tolerance changes nothing, of another dt does not: the greatest change counts.
Error fit_refine(const FitModel *model, double *change, FitFiner *out)
{
    const GradientRun *run = model->run;
    const int64_t count = model->data->count;
    double *own = ARENA_NEW(run->arena, double, count), most = 0.0;
    *out = (FitFiner){.name = NULL};
    if (configured_named(&run->spec->configured) < run->spec->configured.n_parameters) return error_none();
    for (int k = 0; k < FIT_FINER_SETTINGS; k++) {
        Spec *spec = ARENA_NEW(run->arena, Spec, 1);
        FitFiner finer;
        int64_t there = 0;
        double squares = 0.0;
        if (!fit_finer_setting(run->spec, k, &finer) || !fit_finer_spec(run, &finer, spec)) continue;
        TRY(fit_finer_residuals(model, spec, own, &there));
        for (int64_t i = 0; i < count; i++) own[i] -= model->data->residual[i];
        for (int64_t i = 0; i < count; i++) squares += own[i] * own[i];
        if (there != count || !(squares > most)) continue;
        most = squares;
        memcpy(change, own, (size_t)count * sizeof *own);
        *out = finer;
    }
    return error_none();
}

// ---- beside the recording -------------------------------------------------------------------------------------------

// Without the scale and the loss of differences, if the spec's model has them; false: it can't be read so.
static bool fit_plain_spec(const GradientRun *run, Spec *spec)
{
    static const char *const overrides[] = {"simulation.reference_scale=none", "simulation.reference_loss=squares",
                                            "validate=none"};
    const Spec *of = &run->campaign->spec;
    return spec_recording(of) != NULL && spec_recording(of)->count > 0 &&
           spec_parse(of->file, of->resolved, overrides, 3, run->arena, diagnostics_new(run->arena), spec).kind == OK &&
           spec->configured.n_parameters == of->configured.n_parameters &&
           spec_residual_count(spec) == spec_residual_count(run->spec);
}

// A column is comparable if nothing has changed its numbers: those of a quaternion may have another sign.
static bool fit_is_plain(const FitSeries *series, const SpecCase *of)
{
    const size_t length = strlen(series->name);
    bool plain = series->column >= 0 &&
                 !(length > 3 && memcmp(series->name + length - 3, "_q", 2) == 0 && series->name[length - 1] != 'q');
    for (int i = 0; of != NULL && i < of->n_lines; i++)
        plain = plain && strcmp(of->lines[2 * i], "simulation.reference_scale") != 0 &&
                strcmp(of->lines[2 * i], "simulation.reference_loss") != 0;
    return plain;
}

// The rows of a series in which its column has a value, and residual[] there as what is simulated.
static void fit_take_recorded(const FitModel *model, const FitSeries *series, const double *residual, bool middle,
                              FitRecorded *out)
{
    const Spec *spec = spec_case(model->run->spec, series->recording);
    const Points *record = spec_recording(spec);
    Arena *arena = model->run->arena;
    const double *noise = record->source != NULL ? record->source->noise : NULL;
    const double scale = noise != NULL && !isnan(noise[series->column]) ? noise[series->column] : 1.0;
    double *time = ARENA_NEW(arena, double, series->count), *value = ARENA_NEW(arena, double, series->count);
    double *simulated = ARENA_NEW(arena, double, series->count);
    int64_t clock = 0, count = 0;
    while (strcmp(record->names[clock], "time") != 0) clock++;
    for (int64_t at = 0; at < record->count; at += record->columns) {
        const double recorded = record->numbers[at + series->column];
        if (isnan(recorded)) continue;
        time[count] = record->numbers[at + clock];
        value[count] = recorded;
        simulated[count] = recorded + scale * residual[series->first + count];
        count++;
    }
    out->count = count;
    out->time = time;
    out->value = value;
    *(middle ? &out->middle : &out->simulated) = simulated;
}

// The middle of the ranges, in model->own.
static void fit_take_middle(const FitModel *model)
{
    const Spec *spec = model->run->spec;
    memcpy(model->own, model->run->parameter, (size_t)spec->configured.n_parameters * sizeof(double));
    for (int i = 0; i < spec->n_axes; i++)
        if (values_are_range(&spec->axes[i].values))
            model->own[spec->axes[i].parameter] = search_value(&spec->axes[i].values, 0.5);
}

// The loss of differences that the spec's model has.
static void fit_take_loss(const Spec *spec, FitRecorded *out)
{
    for (int i = 0; i < spec->model->n_options; i++) {
        if (strcmp(spec->model->options[i].name, "reference_loss") == 0) out->loss = (FitLoss)(int)spec->settings[i];
        if (strcmp(spec->model->options[i].name, "reference_width") == 0) out->width = spec->settings[i];
    }
}

// An input that a metric of a system compares with: residuals are a multiple of that difference.
static void fit_take_input(const FitModel *model, const FitSeries *series, const double *residual, bool middle,
                           FitRecorded *out)
{
    const Spec *spec = spec_case(model->run->spec, series->recording);
    Arena *arena = model->run->arena;
    RecordedInput input;
    if (!spec_recorded_input(spec, series->metric, arena, &input) || input.count != series->count) return;
    double *simulated = ARENA_NEW(arena, double, series->count);
    for (int64_t k = 0; k < series->count; k++)
        simulated[k] = input.value[k] + residual[series->first + k] / input.factor;
    out->count = series->count;
    out->name = input.input;
    out->input = true;
    out->time = input.time;
    out->value = input.value;
    out->between = input.between;
    *(middle ? &out->middle : &out->simulated) = simulated;
}

static Error fit_recorded_inputs(const FitModel *model, FitRecorded *out)
{
    const FitData *data = model->data;
    double *residual = ARENA_NEW(model->run->arena, double, data->count);
    double *value = ARENA_NEW(model->run->arena, double, data->n);
    bool there = false;
    fit_take_middle(model);
    for (int i = 0; i < data->n; i++) value[i] = model->own[data->parameter[i]];
    TRY(fit_evaluate(model, value, residual, NULL, &there));
    for (int s = 0; s < data->n_series; s++) {
        if (data->series[s].metric < 0 || data->series[s].count < 2) continue;
        fit_take_input(model, &data->series[s], data->residual, false, &out[s]);
        if (there) fit_take_input(model, &data->series[s], residual, true, &out[s]);
    }
    return error_none();
}

Error fit_recorded(const FitModel *model, FitRecorded *out)
{
    GradientRun run = *model->run;
    const FitData *data = model->data;
    Spec *spec = ARENA_NEW(run.arena, Spec, 1);
    double *residual = ARENA_NEW(run.arena, double, data->count);
    memset(out, 0, (size_t)data->n_series * sizeof *out);
    if (spec_recording(run.spec) == NULL) return fit_recorded_inputs(model, out);
    if (model->trial == NULL || !fit_plain_spec(&run, spec)) return error_none();
    TRY(spec_build(spec, run.arena, &run.configured));
    TrialResiduals *trial = trial_residuals_take(spec, &run.configured, run.arena);
    for (int middle = 0; middle <= 1; middle++) {
        const int first = data->n > 0 ? data->parameter[0] : 0;
        const double *parameter = middle ? model->own : run.parameter;
        fit_take_middle(model);
        if (middle && !search_complete(run.spec, model->own)) continue;
        if (trial_residuals_along(trial, (int32_t)run.stored.search[0], run.ordinal, parameter, &first, 1, residual,
                                  model->side) != data->count)
            continue;
        for (int s = 0; s < data->n_series; s++) {
            const FitSeries *series = &data->series[s];
            const SpecCase *of = run.spec->n_cases > 0 ? &run.spec->cases[series->recording] : NULL;
            if (!fit_is_plain(series, of)) continue;
            out[s].name = series->name;
            fit_take_loss(run.spec, &out[s]);
            fit_take_recorded(model, series, residual, middle, &out[s]);
        }
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

typedef struct FitTask {
    FitData *out;
    FitThen *then;
    void *context;
} FitTask;

static Error fit_take_model(GradientRun *run, const FitData *data, FitModel *out)
{
    const int n = run->spec->configured.n_parameters;
    Error refused = trial_residuals_check(run->spec);
    if (refused.kind == OK) refused = trial_gradient_check_axes(run->spec);
    if (refused.kind != OK && fit_has_values(run->spec)) return refused;
    *out =
        (FitModel){.run = run,
                   .data = data,
                   .trial = refused.kind == OK ? trial_residuals_take(run->spec, &run->configured, run->arena) : NULL,
                   .parameter = ARENA_NEW(run->arena, double, n),
                   .own = ARENA_NEW(run->arena, double, n),
                   .side = ARENA_NEW(run->arena, double, 2 * data->count)};
    memcpy(out->parameter, run->parameter, (size_t)n * sizeof(double));
    return error_none();
}

static Error fit_work(GradientRun *run, void *context)
{
    const FitTask *task = context;
    FitData *out = task->out;
    FitModel model;
    int64_t there = 0;
    out->fitness = run->fitness;
    if (run->spec->objective.information.n > 0)
        fit_take_planned(run, out);
    else
        fit_take_parameters(run, out);
    fit_take_series(run->spec, run->arena, out);
    out->residual = ARENA_NEW(run->arena, double, out->count);
    out->column = ARENA_NEW(run->arena, double, out->count * out->n);
    TRY(fit_take_model(run, out, &model));
    out->by_differences = model.trial == NULL;
    TRY(fit_take_recordings(run, out));
    TRY(fit_compute(&model, out->residual, out->column, &there));
    if (there != out->count)
        return error_make(ERROR_USER, "the trial has %lld of %lld residuals: its run ended early", (long long)there,
                          (long long)out->count);
    const double *each = run->spec->objective.information.each; // from here on in units of their noise
    for (int i = -1; i < out->n && each != NULL; i++)
        for (int64_t k = 0; k < out->count; k++) (i < 0 ? out->residual : out->column + i * out->count)[k] /= each[k];
    return task->then != NULL ? task->then(&model, out, task->context) : error_none();
}

Error campaign_fit(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                   FitThen *then, void *context, FitData *out)
{
    const Spec *spec = &campaign->spec;
    FitTask task = {out, then, context};
    *out = (FitData){.n = 0};
    if (spec->objective.n_residuals == 0)
        return error_make(ERROR_USER, "campaign %s has no residuals: its spec needs `objective: {residuals: ...}`",
                          campaign->name);
    if (spec->replicates.count > spec_fit_cases(spec))
        return error_make(ERROR_USER, "campaign %s has replicates, and residuals are those of one run%s",
                          campaign->name, spec->n_cases > 0 ? " of each case" : "");
    for (int i = 0; i < spec->n_axes && spec->objective.information.n == 0; i++) {
        if (spec->axes[i].values.choices == NULL && !spec->axes[i].values.integer) continue;
        return error_make(ERROR_USER, "%s is searched, and takes only %s: residuals have no derivative by it",
                          spec->configured.parameters[spec->axes[i].parameter].name,
                          spec->axes[i].values.choices != NULL ? "words" : "integers");
    }
    return gradient_at_trial(campaign, trial, 1, backend, arena, fit_work, &task);
}
