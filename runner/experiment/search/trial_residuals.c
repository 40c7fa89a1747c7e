// The residuals of a trial (Spec.objective.residuals) and their derivatives along parameters, from a run with dual
// numbers: the values that metrics are the root mean squares of, and expressions over metrics and parameters.
#include "../experiment.h"

#include <math.h>
#include <string.h>

struct TrialResiduals {
    const Spec *spec;
    const Configured *configured;
    void *memory;           // of the tangent
    int width;              // directions of a run, at most
    double *own;            // [n_parameters]
    double *direction;      // [width][n_parameters]
    double *metric, *along; // [n_metrics], [width][n_metrics]
    double *scope, *slopes; // [n_metrics + n_parameters]
    ResidualSeries *series; // [n_residuals]
    int n_series;
};

void trial_residuals_of(const Spec *spec, const Replicates *of, double *residual)
{
    double scope[OBJECTIVE_NAMES_MAX];
    bool failed = false;
    for (int r = 0; r < spec_fit_cases(spec); r++) failed |= of->failure[r] != 0;
    for (int r = 0, at = 0; r < spec_fit_cases(spec); r++) {
        const Spec *own = spec_case(spec, r);
        if (!failed) replicate_scope(spec, of, r, scope);
        for (int i = 0; i < own->objective.n_residuals; i++)
            residual[at++] = failed ? (double)NAN : expression_value(own->objective.residuals[i].expression, scope);
    }
}

enum { RESIDUALS_ARRAYS = 8 };

// The most that a case takes.
static size_t residuals_tangent_bytes(const Spec *spec, const Configured *configured)
{
    size_t most = 0;
    for (int r = 0; r < spec_fit_cases(spec); r++) {
        const size_t own = configured->model->adjoint->tangent_bytes(configured_case(configured, r));
        most = own > most ? own : most;
    }
    return most;
}

size_t trial_residuals_bytes(const Spec *spec, const Configured *configured)
{
    const Adjoint *adjoint = configured->model->adjoint;
    const size_t names = (size_t)(configured->n_metrics + configured->n_parameters);
    const size_t runs = 1 + (size_t)adjoint->directions(configured); // and their directions
    return residuals_tangent_bytes(spec, configured) + (runs + 2) * names * sizeof(double) + sizeof(TrialResiduals) +
           (size_t)spec->objective.n_residuals * sizeof(ResidualSeries) + RESIDUALS_ARRAYS * 64;
}

TrialResiduals *trial_residuals_take(const Spec *spec, const Configured *configured, Arena *arena)
{
    const int n = configured->n_parameters, names = configured->n_metrics + n;
    const int width = configured->model->adjoint->directions(configured);
    TrialResiduals *residuals = ARENA_NEW(arena, TrialResiduals, 1);
    *residuals = (TrialResiduals){.spec = spec,
                                  .configured = configured,
                                  .memory = arena_take(arena, residuals_tangent_bytes(spec, configured), 1),
                                  .width = width,
                                  .own = ARENA_NEW(arena, double, n),
                                  .direction = ARENA_NEW(arena, double, width *n),
                                  .metric = ARENA_NEW(arena, double, configured->n_metrics),
                                  .along = ARENA_NEW(arena, double, width * configured->n_metrics),
                                  .scope = ARENA_NEW(arena, double, names),
                                  .slopes = ARENA_NEW(arena, double, names),
                                  .series = ARENA_NEW(arena, ResidualSeries, spec->objective.n_residuals)};
    return residuals;
}

// What is drawn for the replicate does not follow the trial.
static void residuals_direct(const TrialResiduals *residuals, int r, const double *parameter, int p, double *direction)
{
    const Spec *spec = residuals->spec;
    const Adjoint *adjoint = residuals->configured->model->adjoint;
    parameters_follow(spec, parameter, p, direction);
    case_directions(spec, r, direction);
    for (int k = 0; k < spec->replicates.n_perturb; k++) direction[spec->replicates.perturb[k].parameter] = 0.0;
    for (int i = 0; i < residuals->configured->n_parameters; i++) {
        if (!adjoint->parameter(residuals->configured, i)) direction[i] = 0.0;
    }
}

// Residuals of a replicate that are expressions, from number `at` on. Returns the end of them.
static int64_t residuals_of_expressions(const TrialResiduals *residuals, int r, const double *parameter, int p,
                                        const double *along, int64_t at, double *residual, double *slope)
{
    const Spec *spec = residuals->spec, *own = spec_case(spec, r);
    const size_t n_metrics = (size_t)residuals->configured->n_metrics;
    double *scope = residuals->scope, *slopes = residuals->slopes;
    memcpy(scope, residuals->metric, n_metrics * sizeof(double));
    memcpy(scope + n_metrics, residuals->own, (size_t)residuals->configured->n_parameters * sizeof(double));
    memcpy(slopes, along, n_metrics * sizeof(double));
    parameters_follow(spec, parameter, p, slopes + n_metrics);
    case_directions(spec, r, slopes + n_metrics);
    for (int k = 0; k < spec->replicates.n_perturb; k++)
        slopes[n_metrics + (size_t)spec->replicates.perturb[k].parameter] = 0.0;
    for (int i = 0; i < own->objective.n_residuals; i++) {
        const Residual *of = &own->objective.residuals[i];
        if (of->metric >= 0) continue;
        residual[at] = expression_value(of->expression, scope);
        slope[at++] = expression_slope(of->expression, scope, slopes);
    }
    return at;
}

// Of a replicate, from residual[at] on, with slope[n][count]. Returns the end of them; 0: the run failed, or ended
// early.
static int64_t residuals_of_replicate(TrialResiduals *residuals, int r, const double *parameter, const int *p, int n,
                                      int64_t at, int64_t count, double *residual, double *slope)
{
    const Spec *own = spec_case(residuals->spec, r);
    const Configured *configured = configured_case(residuals->configured, r);
    int64_t end = at;
    int s = 0;
    for (int i = 0; i < own->objective.n_residuals; i++) {
        const Residual *of = &own->objective.residuals[i];
        if (of->metric < 0) continue;
        residuals->series[s++] = (ResidualSeries){.metric = of->metric,
                                                  .capacity = of->count,
                                                  .value = residual + at,
                                                  .slope = slope + at,
                                                  .n_directions = n,
                                                  .stride = count};
        at += of->count;
    }
    if (configured->model->adjoint->tangent(configured, residuals->own, residuals->direction, n, residuals->memory,
                                            residuals->metric, residuals->along, residuals->series, s) != 0)
        return 0;
    for (int k = 0; k < s; k++) {
        if (residuals->series[k].count != residuals->series[k].capacity) return 0;
    }
    for (int k = 0; k < n; k++)
        end = residuals_of_expressions(residuals, r, parameter, p[k],
                                       residuals->along + (ptrdiff_t)k * configured->n_metrics, at, residual,
                                       slope + k * count);
    return end;
}

int64_t trial_residuals_along(TrialResiduals *residuals, int32_t search, uint64_t ordinal, const double *parameter,
                              const int *p, int n, double *residual, double *slope)
{
    const Spec *spec = residuals->spec;
    const int64_t count = spec_residual_count(spec);
    int64_t at = 0;
    for (int r = 0; r < spec_fit_cases(spec); r++) {
        replicate_parameters(spec, search, ordinal, r, parameter, residuals->own);
        for (int k = 0; k < n; k++)
            residuals_direct(residuals, r, parameter, p[k],
                             residuals->direction + (ptrdiff_t)k * residuals->configured->n_parameters);
        at = residuals_of_replicate(residuals, r, parameter, p, n, at, count, residual, slope);
        if (at == 0) return 0;
    }
    return at;
}
