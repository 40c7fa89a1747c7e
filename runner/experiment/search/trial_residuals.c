// The residuals of a trial (Spec.objective.residuals) and their derivatives along a parameter, from a run with dual
// numbers: the values that metrics are the root mean squares of, and expressions over metrics and parameters.
#include "../experiment.h"

#include <math.h>
#include <string.h>

struct TrialResiduals {
    const Spec *spec;
    const Configured *configured;
    void *memory;            // of the tangent
    double *own, *direction; // [n_parameters]
    double *scope, *slopes;  // [n_metrics + n_parameters]
    ResidualSeries *series;  // [n_residuals]
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

enum { RESIDUALS_ARRAYS = 6 };

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
    const size_t names = (size_t)(configured->n_metrics + configured->n_parameters);
    return residuals_tangent_bytes(spec, configured) + 2 * ((size_t)configured->n_parameters + names) * sizeof(double) +
           sizeof(TrialResiduals) + (size_t)spec->objective.n_residuals * sizeof(ResidualSeries) +
           RESIDUALS_ARRAYS * 64;
}

TrialResiduals *trial_residuals_take(const Spec *spec, const Configured *configured, Arena *arena)
{
    const int n = configured->n_parameters, names = configured->n_metrics + n;
    TrialResiduals *residuals = ARENA_NEW(arena, TrialResiduals, 1);
    *residuals = (TrialResiduals){.spec = spec,
                                  .configured = configured,
                                  .memory = arena_take(arena, residuals_tangent_bytes(spec, configured), 1),
                                  .own = ARENA_NEW(arena, double, n),
                                  .direction = ARENA_NEW(arena, double, n),
                                  .scope = ARENA_NEW(arena, double, names),
                                  .slopes = ARENA_NEW(arena, double, names),
                                  .series = ARENA_NEW(arena, ResidualSeries, spec->objective.n_residuals)};
    return residuals;
}

// What is drawn for the replicate does not follow the trial.
static void residuals_direct(TrialResiduals *residuals, const double *parameter, int p)
{
    const Spec *spec = residuals->spec;
    const Adjoint *adjoint = residuals->configured->model->adjoint;
    double *direction = residuals->direction;
    parameters_follow(spec, parameter, p, direction);
    for (int k = 0; k < spec->replicates.n_perturb; k++) direction[spec->replicates.perturb[k].parameter] = 0.0;
    for (int i = 0; i < residuals->configured->n_parameters; i++) {
        if (!adjoint->parameter(residuals->configured, i)) direction[i] = 0.0;
    }
}

// Of a replicate, from residual[at] on. Returns the end of them; 0: the run failed, or ended early.
static int64_t residuals_of_replicate(TrialResiduals *residuals, int r, const double *parameter, int p, int64_t at,
                                      double *residual, double *slope)
{
    const Spec *spec = residuals->spec, *own = spec_case(spec, r);
    const Configured *configured = configured_case(residuals->configured, r);
    const int n_metrics = configured->n_metrics;
    int s = 0;
    for (int i = 0; i < own->objective.n_residuals; i++) {
        const Residual *of = &own->objective.residuals[i];
        if (of->metric < 0) continue;
        residuals->series[s++] =
            (ResidualSeries){.metric = of->metric, .capacity = of->count, .value = residual + at, .slope = slope + at};
        at += of->count;
    }
    if (configured->model->adjoint->tangent(configured, residuals->own, residuals->direction, residuals->memory,
                                            residuals->scope, residuals->slopes, residuals->series, s) != 0)
        return 0;
    for (int k = 0; k < s; k++) {
        if (residuals->series[k].count != residuals->series[k].capacity) return 0;
    }
    memcpy(residuals->scope + n_metrics, residuals->own, (size_t)configured->n_parameters * sizeof(double));
    parameters_follow(spec, parameter, p, residuals->slopes + n_metrics);
    for (int k = 0; k < spec->replicates.n_perturb; k++)
        residuals->slopes[n_metrics + spec->replicates.perturb[k].parameter] = 0.0;
    for (int i = 0; i < own->objective.n_residuals; i++) {
        const Residual *of = &own->objective.residuals[i];
        if (of->metric >= 0) continue;
        residual[at] = expression_value(of->expression, residuals->scope);
        slope[at++] = expression_slope(of->expression, residuals->scope, residuals->slopes);
    }
    return at;
}

int64_t trial_residuals_along(TrialResiduals *residuals, int32_t search, uint64_t ordinal, const double *parameter,
                              int p, double *residual, double *slope)
{
    int64_t at = 0;
    for (int r = 0; r < spec_fit_cases(residuals->spec); r++) {
        replicate_parameters(residuals->spec, search, ordinal, r, parameter, residuals->own);
        residuals_direct(residuals, parameter, p);
        at = residuals_of_replicate(residuals, r, parameter, p, at, residual, slope);
        if (at == 0) return 0;
    }
    return at;
}
