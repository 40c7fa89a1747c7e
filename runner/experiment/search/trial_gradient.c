// The gradient of a trial's fitness: by the model's adjoint with respect to the metrics of its replicates, and by the
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

// share[r]: how much the fitness changes with the objective of replicate r. sorted[n]: those that count.
static void slopes_share(const Spec *spec, SlopeValue *sorted, int n, double *share)
{
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

// Of replicate r: its share times the derivatives of the objective.
static void slopes_of_replicate(const Spec *spec, const double *scope, double share, double *slopes, double *weight,
                                double *direct)
{
    const Expression *objective = spec->objective.expression[0];
    const int n_metrics = spec->configured.n_metrics, n = n_metrics + spec->configured.n_parameters;
    for (int i = 0; i < n; i++) {
        if (!expression_uses(objective, i)) continue;
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

struct TrialGradient {
    const Spec *spec;
    const Configured *configured;
    size_t most;
    void *memory;             // of the adjoint; it holds the run of replicate `held`
    int held;                 // -1: none
    double *metric, *weight;  // [replicates][n_metrics]
    int *failure;             // [replicates]
    double *share;            // [replicates]
    SlopeValue *sorted;       // [replicates]
    double *scope, *slopes;   // [n_metrics + n_parameters]
    double *own, *part, *sum; // [n_parameters] of a replicate; its gradient; the trial's
    double growth;            // the greatest of the replicates; NaN: none
    double *value;            // [replicates]
};

enum { TRIAL_GRADIENT_ARRAYS = 14 };

size_t trial_gradient_bytes(const Spec *spec, const Configured *configured, size_t most)
{
    const size_t replicates = (size_t)spec->replicates.count, metrics = (size_t)configured->n_metrics;
    const size_t parameters = (size_t)configured->n_parameters;
    const size_t doubles = 2 * replicates * metrics + 4 * replicates + 2 * (metrics + parameters) + 3 * parameters;
    return configured->model->adjoint->bytes(configured, most) + doubles * sizeof(double) +
           replicates * sizeof(SlopeValue) + sizeof(TrialGradient) + TRIAL_GRADIENT_ARRAYS * 64;
}

TrialGradient *trial_gradient_take(const Spec *spec, const Configured *configured, size_t most, Arena *arena)
{
    const int replicates = spec->replicates.count, metrics = configured->n_metrics;
    const int parameters = configured->n_parameters;
    TrialGradient *gradient = ARENA_NEW(arena, TrialGradient, 1);
    *gradient = (TrialGradient){.spec = spec,
                                .configured = configured,
                                .most = most,
                                .memory = arena_take(arena, configured->model->adjoint->bytes(configured, most), 1),
                                .metric = ARENA_NEW(arena, double, replicates *metrics),
                                .weight = ARENA_NEW(arena, double, replicates *metrics),
                                .failure = ARENA_NEW(arena, int, replicates),
                                .share = ARENA_NEW(arena, double, replicates),
                                .sorted = ARENA_NEW(arena, SlopeValue, replicates),
                                .scope = ARENA_NEW(arena, double, metrics + parameters),
                                .slopes = ARENA_NEW(arena, double, metrics + parameters),
                                .own = ARENA_NEW(arena, double, parameters),
                                .part = ARENA_NEW(arena, double, parameters),
                                .sum = ARENA_NEW(arena, double, parameters),
                                .value = ARENA_NEW(arena, double, replicates)};
    return gradient;
}

// ---- replicates -----------------------------------------------------------------------------------------------------

static void gradient_run_replicate(TrialGradient *gradient, int32_t search, uint64_t ordinal, int r,
                                   const double *parameter)
{
    const Configured *configured = gradient->configured;
    replicate_parameters(gradient->spec, search, ordinal, r, parameter, gradient->own);
    gradient->failure[r] = configured->model->adjoint->run(configured, gradient->own, gradient->most, gradient->memory,
                                                           &gradient->metric[(ptrdiff_t)r * configured->n_metrics]);
    gradient->held = r;
}

// Adds the gradient of replicate r, whose own draws do not follow the trial's parameters.
static void gradient_add_replicate(TrialGradient *gradient, int r)
{
    const Configured *configured = gradient->configured;
    const Spec *spec = gradient->spec;
    const double *weight = &gradient->weight[(ptrdiff_t)r * configured->n_metrics];
    const double growth = configured->model->adjoint->back(configured, gradient->memory, weight, gradient->part);
    if (!(growth <= gradient->growth)) gradient->growth = isfinite(growth) ? growth : gradient->growth;
    for (int i = 0; i < spec->replicates.n_perturb; i++) gradient->part[spec->replicates.perturb[i].parameter] = 0.0;
    for (int p = 0; p < configured->n_parameters; p++) gradient->sum[p] += gradient->part[p];
}

// The weights of the metrics of all replicates; sum: what the objective itself takes of the parameters.
static void gradient_weigh(TrialGradient *gradient, const double *parameter)
{
    const Spec *spec = gradient->spec;
    const int n_metrics = gradient->configured->n_metrics, n_parameters = gradient->configured->n_parameters;
    int n = 0;
    memset(gradient->weight, 0, (size_t)(spec->replicates.count * n_metrics) * sizeof(double));
    memset(gradient->share, 0, (size_t)spec->replicates.count * sizeof(double));
    memset(gradient->slopes, 0, (size_t)(n_metrics + n_parameters) * sizeof(double));
    memset(gradient->sum, 0, (size_t)n_parameters * sizeof(double));
    memcpy(gradient->scope + n_metrics, parameter, (size_t)n_parameters * sizeof(double));
    for (int r = 0; r < spec->replicates.count; r++) {
        const bool penalty = gradient->failure[r] != 0 && spec->objective.failed == FAILED_PENALTY;
        if (gradient->failure[r] != 0 && !penalty) continue;
        memcpy(gradient->scope, gradient->metric + (ptrdiff_t)r * n_metrics, (size_t)n_metrics * sizeof(double));
        const double value =
            penalty ? spec->objective.penalty : expression_value(spec->objective.expression[0], gradient->scope);
        gradient->sorted[n++] = (SlopeValue){value, r};
    }
    slopes_share(spec, gradient->sorted, n, gradient->share);
    for (int r = 0; r < spec->replicates.count; r++) {
        if (gradient->failure[r] != 0) gradient->share[r] = 0.0; // a penalty is constant
        if (gradient->share[r] == 0.0) continue;
        memcpy(gradient->scope, gradient->metric + (ptrdiff_t)r * n_metrics, (size_t)n_metrics * sizeof(double));
        slopes_of_replicate(spec, gradient->scope, gradient->share[r], gradient->slopes,
                            &gradient->weight[(ptrdiff_t)r * n_metrics], gradient->sum);
    }
}

// ---- derived parameters ---------------------------------------------------------------------------------------------

// slopes[n_parameters]: how the parameters change with parameter p.
static void gradient_follow(const Spec *spec, const double *parameter, int p, double *slopes)
{
    const Axis *derived = spec->axes + spec->n_axes;
    memset(slopes, 0, (size_t)spec->configured.n_parameters * sizeof *slopes);
    slopes[p] = 1.0;
    for (int i = 0; i < spec->n_derived; i++)
        slopes[derived[i].parameter] = expression_slope(derived[i].derive, parameter, slopes);
}

// Of partial derivatives[n_parameters].
static double gradient_along(TrialGradient *gradient, const double *parameter, int p, const double *derivatives)
{
    double slope = 0.0;
    gradient_follow(gradient->spec, parameter, p, gradient->slopes);
    for (int k = 0; k < gradient->configured->n_parameters; k++) {
        if (gradient->slopes[k] != 0.0) slope += gradient->slopes[k] * derivatives[k];
    }
    return slope;
}

// The derivatives of the objective of replicate r, whose metrics' part is in gradient->part.
static void gradient_put_replicate(TrialGradient *gradient, int r, const double *parameter, const int *parameters,
                                   int count, double *slope)
{
    const int n_metrics = gradient->configured->n_metrics;
    memset(gradient->slopes, 0, (size_t)(n_metrics + gradient->configured->n_parameters) * sizeof(double));
    memcpy(gradient->scope, gradient->metric + (ptrdiff_t)r * n_metrics, (size_t)n_metrics * sizeof(double));
    slopes_of_replicate(gradient->spec, gradient->scope, gradient->share[r], gradient->slopes,
                        &gradient->weight[(ptrdiff_t)r * n_metrics], gradient->part);
    for (int i = 0; i < count; i++)
        slope[i] = gradient_along(gradient, parameter, parameters[i], gradient->part) / gradient->share[r];
}

double trial_gradient(TrialGradient *gradient, int32_t search, uint64_t ordinal, const double *parameter,
                      const int *parameters, int count, double *slope, double *each)
{
    const int replicates = gradient->spec->replicates.count;
    gradient->held = -1;
    gradient->growth = (double)NAN;
    for (int r = 0; r < replicates; r++) gradient_run_replicate(gradient, search, ordinal, r, parameter);
    for (int i = 0; i < count * replicates && each != NULL; i++) each[i] = (double)NAN;
    const double fitness =
        trial_objective(gradient->spec, parameter, gradient->metric, gradient->failure, gradient->value);
    for (int i = 0; i < count; i++) slope[i] = (double)NAN;
    if (isnan(fitness)) return fitness;
    gradient_weigh(gradient, parameter);
    for (int r = replicates - 1; r >= 0; r--) {
        if (gradient->share[r] == 0.0) continue;
        if (gradient->held != r) gradient_run_replicate(gradient, search, ordinal, r, parameter);
        gradient_add_replicate(gradient, r);
        if (each != NULL) gradient_put_replicate(gradient, r, parameter, parameters, count, each + r * count);
    }
    for (int i = 0; i < count; i++) slope[i] = gradient_along(gradient, parameter, parameters[i], gradient->sum);
    return fitness;
}

double trial_gradient_growth(const TrialGradient *gradient) { return gradient->growth; }

// ---- whether there is one -------------------------------------------------------------------------------------------

// Metrics of the objective without a derivative: "gap_max, survived"; returns their number.
static int gradient_list_bends(const Spec *spec, char *list, size_t size)
{
    int count = 0;
    size_t used = 0;
    list[0] = '\0';
    for (int m = 0; m < spec->configured.n_metrics; m++) {
        if (!expression_uses(spec->objective.expression[0], m) || spec->model->adjoint->metric(m)) continue;
        if (used < size)
            used += (size_t)snprintf(list + used, size - used, "%s%s", count > 0 ? ", " : "",
                                     spec->configured.metrics[m].name);
        count++;
    }
    return count;
}

Error trial_gradient_check(const Spec *spec)
{
    const Adjoint *adjoint = spec->model->adjoint;
    if (adjoint == NULL) return error_make(ERROR_USER, "model %s has no adjoint", spec->model->name);
    const char *why = adjoint->refuses(&spec->configured);
    if (why != NULL) return error_make(ERROR_USER, "%s", why);
    char bends[256];
    const int count = gradient_list_bends(spec, bends, sizeof bends);
    if (count == 0) return error_none();
    return error_make(ERROR_USER,
                      "metric%s %s of the objective ha%s no derivative: what counts, is a time or is the greatest of "
                      "something has none",
                      count > 1 ? "s" : "", bends, count > 1 ? "ve" : "s");
}

bool trial_gradient_has(const Spec *spec, int p)
{
    const Adjoint *adjoint = spec->model->adjoint;
    const Axis *derived = spec->axes + spec->n_axes;
    if (!adjoint->parameter(&spec->configured, p)) return false;
    for (int i = 0; i < spec->n_derived; i++) {
        if (expression_uses(derived[i].derive, p) && !trial_gradient_has(spec, derived[i].parameter)) return false;
    }
    return true;
}
