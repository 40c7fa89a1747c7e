// The gradient of the fitness at a stored trial: by the adjoint of its replicates where the model has one, and by
// central differences of several steps. All runs of a difference have the trial's seeds, so that their noise cancels.
#include "gradient.h"

#include "../batch/device.h"
#include "../batch/trials_in_flight.h"
#include "../store/queries.h"

#include <math.h>
#include <string.h>

// ---- trials ---------------------------------------------------------------------------------------------------------

Error gradient_fly(GradientRun *run, const double *parameter, int64_t count, double *fitness, double *values,
                   double *metrics)
{
    const Spec *spec = run->spec;
    const int n = spec->configured.n_parameters;
    Flight flight;
    Commit commit;
    const size_t used = run->arena->used;
    flight_take(spec, count, NULL, run->arena, &flight);
    commit_take(spec, count, 0, 0, 0, run->arena, &commit);
    flight.trials.count = count;
    for (int64_t t = 0; t < count; t++) {
        flight.trials.id[t] = run->stored.id[0];
        flight.trials.ordinal[t] = run->ordinal;
        flight.trials.search[t] = (int32_t)run->stored.search[0];
        flight.trials.round[t] = (int32_t)run->stored.round[0];
    }
    memcpy(flight.trials.parameter, parameter, (size_t)(count * n) * sizeof *parameter);
    flight_fill(spec, &flight, backend_batch(run->backend, 0));
    const Error error = flight_run(spec, run->backend, &flight, 0, NULL);
    if (error.kind == OK) flight_collect(spec, &flight, backend_batch(run->backend, 0), &commit);
    for (int64_t t = 0; t < count && error.kind == OK; t++) fitness[t] = commit.rows.fitness[t];
    if (values != NULL && error.kind == OK)
        memcpy(values, flight.trials.value, (size_t)(count * spec->replicates.count) * sizeof *values);
    const int n_metrics = spec->configured.n_metrics;
    for (int64_t i = 0; i < count * n_metrics && metrics != NULL && error.kind == OK; i++)
        metrics[i] = commit.rows.metric[i % n_metrics * commit.rows.stride + i / n_metrics];
    arena_rewind(run->arena, used);
    return error;
}

// ---- by differences -------------------------------------------------------------------------------------------------

// Two trials of each step: point[2*GRADIENT_STEPS][n_parameters]. What a parameter's range or the spec leaves out is
// marked in out[..].
static void gradient_points(const GradientRun *run, GradientRow *row, double *point, bool *out)
{
    const Spec *spec = run->spec;
    const int n = spec->configured.n_parameters;
    const Parameter *of = &spec->configured.parameters[row->parameter];
    const double size = fabs(row->value) > 0 ? fabs(row->value) : 1.0;
    for (int k = 0; k < GRADIENT_STEPS; k++) {
        row->steps[k] = size * pow(10.0, -1 - k);
        for (int side = 0; side < 2; side++) {
            double *own = &point[(ptrdiff_t)(2 * k + side) * n];
            const double value = row->value + (side == 0 ? row->steps[k] : -row->steps[k]);
            memcpy(own, run->parameter, (size_t)n * sizeof *own);
            own[row->parameter] = value;
            out[2 * k + side] = !(value >= of->low && value <= of->high) || !search_complete(spec, own);
            if (out[2 * k + side]) memcpy(own, run->parameter, (size_t)n * sizeof *own); // its run is not looked at
        }
    }
}

static Error gradient_by_differences(GradientRun *run, GradientRow *row)
{
    const int n = run->spec->configured.n_parameters;
    GradientSamples samples = {.centre = run->fitness};
    const size_t used = run->arena->used;
    double *point = ARENA_NEW(run->arena, double, 2 * GRADIENT_STEPS * n);
    gradient_points(run, row, point, samples.out);
    const Error error = gradient_fly(run, point, 2 * GRADIENT_STEPS, samples.fitness, NULL, NULL);
    arena_rewind(run->arena, used);
    if (error.kind != OK) return error;
    gradient_plateau(row, &samples);
    return error_none();
}

// ---- by the adjoint and the tangent ---------------------------------------------------------------------------------

// slope[count] by the adjoint or the tangent.
static Error gradient_by_model(GradientRun *run, GradientResult *result, const GradientMeans *means, double *slope)
{
    double when;
    int *parameters = ARENA_NEW(run->arena, int, result->count);
    for (int i = 0; i < result->count; i++) parameters[i] = result->rows[i].parameter;
    TrialGradient *gradient = trial_gradient_take(run->spec, &run->configured, means, run->arena);
    const int32_t search = (int32_t)run->stored.search[0];
    const GradientTrials trials = {
        .count = 1, .search = &search, .ordinal = &run->ordinal, .parameter = run->parameter};
    const GradientSlopes slopes = {.parameters = parameters, .count = result->count, .slope = slope};
    TRY(trial_gradients(gradient, &trials, &slopes));
    const char *trouble = trial_gradient_trouble(gradient, &when);
    if (trouble != NULL) result->missing = arena_format(run->arena, "%s, at %.6g s", trouble, when);
    for (int i = 0; i < result->count; i++) {
        if (!trial_gradient_has(run->spec, parameters[i])) slope[i] = (double)NAN;
    }
    return error_none();
}

// What the processor does not compute alone.
static const char *gradient_by(const GradientRun *run, bool derivatives, bool back)
{
    const BackendInfo *info = backend_info(run->backend);
    if (strcmp(info->name, "cuda") != 0) return NULL;
    if (!derivatives) return arena_format(run->arena, "differences by %s", info->device);
    if (run->device == NULL)
        return arena_format(run->arena,
                            "differences by %s, %s by the CPU: the GPU has none with these settings, or no memory",
                            info->device, back ? "adjoint and tangent" : "tangent");
    return arena_format(run->arena,
                        run->device->tangent != NULL ? "adjoint, tangent and differences by %s"
                                                     : "adjoint and differences by %s, tangent by the CPU",
                        info->device);
}

static Error gradient_by_derivatives(GradientRun *run, GradientResult *result)
{
    double *adjoint = ARENA_NEW(run->arena, double, result->count);
    double *tangent = ARENA_NEW(run->arena, double, result->count);
    const bool back = trial_gradient_goes_back(run->spec);
    if (!back) result->no_adjoint = arena_format(run->arena, "model %s has a tangent alone", run->spec->model->name);
    if (result->count == 0) return error_none();
    TRY(gradient_open_device(run, (int64_t)run->spec->replicates.count * result->count)); // a lane for each tangent
    result->by = gradient_by(run, true, back);
    if (back) TRY(gradient_by_model(run, result, &(GradientMeans){.device = run->device}, adjoint));
    TRY(gradient_by_model(run, result, &(GradientMeans){.device = run->device, .tangents = result->count}, tangent));
    for (int i = 0; i < result->count; i++) {
        if (back) result->rows[i].adjoint = adjoint[i];
        result->rows[i].tangent = tangent[i];
    }
    return error_none();
}

// ---- the trial ------------------------------------------------------------------------------------------------------

// A plan without a fitness, whose residuals are there.
static bool gradient_is_open(const GradientRun *run)
{
    return run->spec->objective.information.n > 0 &&
           run->stored.failure[0] == configured_failure(&run->spec->configured, UNDETERMINED);
}

// The trial's row and parameters.
static Error gradient_find(GradientRun *run, int64_t trial)
{
    Search search;
    TRY(campaign_check_meaning(run->campaign));
    TRY(trial_row_read(run->campaign, trial, run->arena, &run->stored));
    if (run->stored.count == 0)
        return error_make(ERROR_USER, "campaign %s has no trial %lld, or stores no row of it", run->campaign->name,
                          (long long)trial);
    Spec *had = ARENA_NEW(run->arena, Spec, 1);
    *had = rows_had(run->spec, &run->stored, 0);
    run->spec = had;
    if (spec_several(run->spec))
        return error_make(ERROR_USER, "campaign %s has several objectives: there is no single fitness to derive",
                          run->campaign->name);
    if (isnan(run->stored.fitness[0]) && !gradient_is_open(run))
        return error_make(ERROR_USER, "trial %lld failed, so it has no fitness to derive", (long long)trial);
    TRY(search_init(run->spec, run->arena, &search));
    return search_stored_trial(&search, run->campaign->database, &run->stored, 0, &run->ordinal, run->parameter);
}

static Error gradient_begin(GradientRun *run, int64_t most)
{
    const Spec *spec = run->spec;
    TRY(spec_build(spec, run->arena, &run->configured));
    TRY(backend_prepare(run->backend, &run->configured, most * spec->replicates.count, 0, 0));
    TRY(gradient_fly(run, run->parameter, 1, &run->fitness, NULL, NULL));
    if (rows_stored(run->fitness) == run->stored.fitness[0]) return error_none();
    if (isnan(run->fitness) && isnan(run->stored.fitness[0])) return error_none();
    return error_make(ERROR_MACHINE,
                      "trial %lld gives another fitness than the stored one; replay shows the difference",
                      (long long)run->stored.id[0]);
}

Error gradient_open_device(GradientRun *run, int64_t lanes)
{
    const Error error = backend_adjoint(run->backend, &run->configured, lanes, 0, &run->device);
    return error.kind == ERROR_MEMORY ? error_none() : error;
}

Error gradient_at_trial(const StoredCampaign *campaign, int64_t trial, int64_t most, const BackendOptions *backend,
                        Arena *arena, Error (*work)(GradientRun *run, void *result), void *result)
{
    GradientRun run = {.campaign = campaign,
                       .spec = &campaign->spec,
                       .arena = arena,
                       .parameter = ARENA_NEW(arena, double, campaign->spec.configured.n_parameters)};
    if (campaign->numerics_version != NUMERICS_VERSION)
        return error_make(ERROR_USER, "campaign %s was computed with numerics version %d and this program has %d",
                          campaign->name, campaign->numerics_version, NUMERICS_VERSION);
    TRY(gradient_find(&run, trial));
    BackendOptions own = *backend;
    TRY(program_options(run.spec, arena, &own));
    TRY(device_open_backend(&own, &run.backend));
    Error error = gradient_begin(&run, most);
    if (error.kind == OK) error = work(&run, result);
    if (run.device != NULL && error.kind != ERROR_STUCK) run.device->close(run.device);
    backend_close(run.backend);
    return error;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error gradient_work(GradientRun *run, void *context)
{
    GradientResult *result = context;
    if (gradient_is_open(run))
        return error_make(ERROR_USER, "trial %lld is undetermined, so it has no fitness to derive",
                          (long long)run->stored.id[0]);
    result->fitness = run->fitness;
    result->n_failed = run->stored.n_failed[0];
    for (int i = 0; i < result->count; i++) result->rows[i].value = run->parameter[result->rows[i].parameter];
    const Error refused = trial_gradient_check(run->spec);
    result->by = gradient_by(run, false, false);
    const Adjoint *adjoint = run->spec->model->adjoint;
    if (refused.kind == OK && adjoint->jumping != NULL) result->jumping = adjoint->jumping(&run->spec->configured);
    if (refused.kind == OK && adjoint->remark != NULL) result->remark = adjoint->remark(&run->spec->configured);
    if (refused.kind == OK)
        TRY(gradient_by_derivatives(run, result));
    else
        result->no_adjoint = arena_copy(run->arena, refused.text);
    for (int i = 0; i < result->count; i++) TRY(gradient_by_differences(run, &result->rows[i]));
    return error_none();
}

Error campaign_gradient(const StoredCampaign *campaign, int64_t trial, const int *parameters, int count,
                        const BackendOptions *backend, Arena *arena, GradientResult *result)
{
    *result = (GradientResult){.rows = ARENA_NEW(arena, GradientRow, count), .count = count};
    for (int i = 0; i < count; i++)
        result->rows[i] = (GradientRow){.parameter = parameters[i], .adjoint = (double)NAN, .tangent = (double)NAN};
    return gradient_at_trial(campaign, trial, (int64_t)2 * GRADIENT_STEPS, backend, arena, gradient_work, result);
}
