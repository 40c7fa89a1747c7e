// How the fitness of a trial changes with the metrics of its replicates and with its parameters: the chain rule through
// the objective, what it takes over the replicates, and derived parameters.
#include "../experiment.h"

#include <math.h>
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

void trial_slopes(const Spec *spec, const double *parameter, const double *metric, const int *failure, Arena *arena,
                  double *weight, double *direct)
{
    const int n_metrics = spec->configured.n_metrics, n_parameters = spec->configured.n_parameters;
    const int replicates = spec->replicates.count;
    double *scope = ARENA_NEW(arena, double, n_metrics + n_parameters), *share = ARENA_NEW(arena, double, replicates);
    double *slopes = ARENA_NEW(arena, double, n_metrics + n_parameters);
    SlopeValue *sorted = ARENA_NEW(arena, SlopeValue, replicates);
    int n = 0;
    memset(weight, 0, (size_t)(replicates * n_metrics) * sizeof *weight);
    memset(direct, 0, (size_t)n_parameters * sizeof *direct);
    memcpy(scope + n_metrics, parameter, (size_t)n_parameters * sizeof *scope);
    for (int r = 0; r < replicates; r++) {
        const bool penalty = failure[r] != 0 && spec->objective.failed == FAILED_PENALTY;
        if (failure[r] != 0 && !penalty) continue;
        memcpy(scope, metric + (ptrdiff_t)r * n_metrics, (size_t)n_metrics * sizeof *scope);
        const double value = penalty ? spec->objective.penalty : expression_value(spec->objective.expression[0], scope);
        sorted[n++] = (SlopeValue){value, r};
    }
    if (n == 0) return;
    slopes_share(spec, sorted, n, share);
    for (int r = 0; r < replicates; r++) {
        if (failure[r] != 0 || share[r] == 0.0) continue; // a penalty is constant
        memcpy(scope, metric + (ptrdiff_t)r * n_metrics, (size_t)n_metrics * sizeof *scope);
        slopes_of_replicate(spec, scope, share[r], slopes, &weight[(ptrdiff_t)r * n_metrics], direct);
    }
}

const char *objective_bend(const Spec *spec)
{
    const Adjoint *adjoint = spec->configured.model->adjoint;
    for (int m = 0; m < spec->configured.n_metrics; m++) {
        if (expression_uses(spec->objective.expression[0], m) && !adjoint->metric(m))
            return spec->configured.metrics[m].name;
    }
    return NULL;
}

// ---- derived parameters ---------------------------------------------------------------------------------------------

void parameter_slopes(const Spec *spec, const double *parameter, int p, double *slopes)
{
    const Axis *derived = spec->axes + spec->n_axes;
    memset(slopes, 0, (size_t)spec->configured.n_parameters * sizeof *slopes);
    slopes[p] = 1.0;
    for (int i = 0; i < spec->n_derived; i++)
        slopes[derived[i].parameter] = expression_slope(derived[i].derive, parameter, slopes);
}
