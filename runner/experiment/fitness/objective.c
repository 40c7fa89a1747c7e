// From the replicates of a trial to its stored results: the fitness, the constraints, and the mean and spread of each
// metric. All sums run in the order of the replicates, so they are the same bits wherever the lanes ran.
//
// One rule for values that are not finite: an infinite objective or constraint, or one that is NaN, fails the
// replicate. A metric may be infinite, as the cost of transport of a robot that stands is.
#include "../experiment.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool spec_several(const Spec *spec) { return spec->objective.count > 1; }

double spec_cost(const Spec *spec, int k, double value)
{
    return spec->objective.maximize[k] && value == value ? 0.0 - value : value; // no -0, and NaN keeps its sign
}

bool spec_better(const Spec *spec, int k, double a, double b) { return spec_cost(spec, k, a) < spec_cost(spec, k, b); }

const char *objective_text(const Spec *spec, int k, Arena *arena)
{
    const char *text = expression_text(spec->objective.expression[k], arena);
    if (spec->objective.information.n > 0)
        return arena_format(arena, "error (%s) of %d parameters by the information of %s", information_criterion(spec),
                            spec->objective.information.n, text);
    return spec->objective.maximize[k] ? arena_format(arena, "maximise %s", text) : text;
}

const char *replicates_failed_text(const Spec *spec, int64_t n_failed, Arena *arena)
{
    const char *failed =
        arena_format(arena, "%lld of %d replicates failed", (long long)n_failed, spec->replicates.count);
    if (n_failed == 0) return "";
    switch (spec->objective.failed) {
    case FAILED_IGNORE: return arena_format(arena, "%s and %s left out", failed, n_failed == 1 ? "is" : "are");
    case FAILED_PENALTY:
        return arena_format(arena, "%s and count%s as %.9g, a constant: with derivatives of 0", failed,
                            n_failed == 1 ? "s" : "", spec->objective.penalty);
    case FAILED_ANY: break;
    }
    return arena_format(arena, "%s, so the trial has no fitness and no derivatives", failed);
}

bool spec_has_metric(const Spec *spec, const char *name)
{
    for (int i = 0; i < spec->configured.n_metrics; i++) {
        if (strcmp(spec->configured.metrics[i].name, name) == 0) return true;
    }
    return false;
}

// NaN has many bit patterns; the stored one is this.
static double objective_canonical(double x)
{
    const uint64_t bits = 0x7ff8000000000000;
    if (x != x) memcpy(&x, &bits, sizeof x);
    return x;
}

// ---- over the replicates: value[n], n >= 1 ------------------------------------------------

// Ascending; -0 before 0, so that the sorted bytes do not depend on the sort.
static int objective_ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    if (a != b) return a < b ? -1 : 1;
    return (signbit(b) != 0) - (signbit(a) != 0);
}

static double objective_mean(double *value, int n, double unused)
{
    double sum = 0.0;
    (void)unused;
    for (int i = 0; i < n; i++) sum += value[i];
    return sum / n;
}

static double objective_median(double *value, int n, double unused)
{
    (void)unused;
    qsort(value, (size_t)n, sizeof *value, objective_ascending);
    return n % 2 == 1 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2.0;
}

static double objective_greatest(double *value, int n, double unused)
{
    double greatest = value[0];
    (void)unused;
    for (int i = 1; i < n; i++) {
        if (value[i] > greatest) greatest = value[i];
    }
    return greatest;
}

static double objective_least(double *value, int n, double unused)
{
    double least = value[0];
    (void)unused;
    for (int i = 1; i < n; i++) {
        if (value[i] < least) least = value[i];
    }
    return least;
}

// Linear interpolation between order statistics: type 7 of Hyndman & Fan, "Sample quantiles in statistical packages",
// The American Statistician 50(4), 1996. At rank h = (n - 1) q, counted from 0.
static double objective_quantile(double *value, int n, double q)
{
    qsort(value, (size_t)n, sizeof *value, objective_ascending);
    const double rank = (n - 1) * q;
    const int below = (int)rank;
    const double fraction = rank - below;
    if (fraction == 0.0 || value[below] == value[below + 1]) return value[below];
    return value[below] + fraction * (value[below + 1] - value[below]);
}

typedef double (*ObjectiveOver)(double *value, int n, double quantile); // may sort `value`

static const ObjectiveOver objective_over[][2] = {
    // of an objective that is minimised, maximised
    [OVER_MEAN] = {objective_mean, objective_mean},
    [OVER_MEDIAN] = {objective_median, objective_median},
    [OVER_WORST] = {objective_greatest, objective_least},
    [OVER_QUANTILE] = {objective_quantile, objective_quantile},
};

// ---- fitness --------------------------------------------------------------------------------------------------------

void replicate_scope(const Spec *spec, const Replicates *of, int r, double *scope)
{
    const int n_metrics = spec->configured.n_metrics, n_parameters = spec->configured.n_parameters;
    const int n_perturb = spec->replicates.n_perturb;
    memcpy(scope, of->metric + (ptrdiff_t)r * n_metrics, (size_t)n_metrics * sizeof *scope);
    memcpy(scope + n_metrics, of->parameter, (size_t)n_parameters * sizeof *scope);
    case_parameters(spec, r, scope + n_metrics);
    for (int i = 0; i < n_perturb && of->drawn != NULL; i++)
        scope[n_metrics + spec->replicates.perturb[i].parameter] = of->drawn[(ptrdiff_t)r * n_perturb + i];
}

bool spec_names_drawn(const Spec *spec)
{
    bool named = false;
    for (int i = 0; i < spec->replicates.n_perturb; i++) {
        const int name = spec->configured.n_metrics + spec->replicates.perturb[i].parameter;
        for (int k = 0; k < spec->objective.count; k++)
            named = named || expression_uses(spec->objective.expression[k], name);
        for (int c = 0; c < spec->n_constraints; c++) named = named || expression_uses(spec->constraints[c], name);
    }
    return named;
}

// The objectives and constraints of replicate r. False: one of them is not finite.
static bool objective_of_replicate(const Spec *spec, const Replicates *of, const double *scope, int r,
                                   TrialResult *result)
{
    double constraint[CONSTRAINTS_MAX];
    bool finite = true;
    for (int k = 0; k < spec->objective.count; k++) {
        const double value = of->information != NULL
                                 ? *of->information
                                 : expression_value(spec_case(spec, r)->objective.expression[k], scope);
        result->value[(ptrdiff_t)k * spec->replicates.count + r] = value;
        finite = finite && isfinite(value);
    }
    for (int i = 0; i < spec->n_constraints; i++) {
        constraint[i] = constraint_value(spec->constraints[i], scope);
        finite = finite && isfinite(constraint[i]);
    }
    for (int i = 0; i < spec->n_constraints && finite; i++) {
        if (!(result->constraint[i] >= constraint[i])) result->constraint[i] = constraint[i];
    }
    return finite;
}

// A replicate with a value that is not finite fails. Where a replicate failed, its values are the penalty, or NaN.
static void objective_of_replicates(const Spec *spec, const Replicates *of, TrialResult *result)
{
    const double failed = spec->objective.failed == FAILED_PENALTY ? spec->objective.penalty : (double)NAN;
    double scope[OBJECTIVE_NAMES_MAX]; // the metrics, then the parameters
    assert(spec->configured.n_metrics + spec->configured.n_parameters <= OBJECTIVE_NAMES_MAX);
    for (int i = 0; i < spec->n_constraints; i++) result->constraint[i] = (double)NAN;
    for (int r = 0; r < spec->replicates.count; r++) {
        if (of->failure[r] == 0) {
            replicate_scope(spec, of, r, scope);
            if (objective_of_replicate(spec, of, scope, r, result)) continue;
            const bool open = of->information != NULL && isinf(*of->information);
            of->failure[r] = configured_failure(&spec->configured, open ? UNDETERMINED : NON_FINITE);
        }
        for (int k = 0; k < spec->objective.count; k++)
            result->value[(ptrdiff_t)k * spec->replicates.count + r] = objective_canonical(failed);
    }
}

// Of residuals over cases: the root of the mean square of all, where value[r] is that of residual_count numbers.
static double objective_of_residuals_over(const Spec *spec, const double *value)
{
    const int replicates = spec->replicates.count;
    double sum = 0.0, count = 0.0;
    for (int r = 0; r < replicates; r++) {
        const double own = (double)spec_case(spec, r)->objective.residual_count;
        sum += own * (value[r] * value[r]);
        count += own;
    }
    return sqrt(sum / count);
}

// Of the k-th objective. NaN: a replicate failed under `failed: any`, or all under `ignore`; or the sum of the values
// is too large for a double.
static double objective_over_replicates(const Spec *spec, int k, const Replicates *of, const TrialResult *result)
{
    const ObjectiveOver over = objective_over[spec->objective.over][spec->objective.maximize[k]];
    const double *value = result->value + (ptrdiff_t)k * spec->replicates.count;
    int n = 0;
    for (int r = 0; r < spec->replicates.count; r++) {
        if (of->failure[r] != 0 && spec->objective.failed == FAILED_ANY) return objective_canonical((double)NAN);
        if (of->failure[r] == 0 || spec->objective.failed == FAILED_PENALTY) result->room[n++] = value[r];
    }
    const bool stacked = spec->n_cases > 0 && spec->objective.n_residuals > 0 && n == spec->replicates.count;
    const double of_all = stacked ? objective_of_residuals_over(spec, value)
                          : n > 0 ? over(result->room, n, spec->objective.quantile)
                                  : (double)NAN;
    return objective_canonical(isfinite(of_all) ? of_all : (double)NAN);
}

double trial_objective(const Spec *spec, const Replicates *of, TrialResult *result)
{
    objective_of_replicates(spec, of, result);
    return objective_over_replicates(spec, 0, of, result);
}

// One objective is the fitness. Several are all kept or all NaN: a trial fails if one of its objectives has no value.
static void objective_all(const Spec *spec, const Replicates *of, TrialResult *result)
{
    const double first = trial_objective(spec, of, result);
    result->has_fitness = first == first;
    result->fitness = spec_several(spec) ? objective_canonical((double)NAN) : first;
    if (!spec_several(spec)) return;
    for (int k = 0; k < spec->objective.count; k++) {
        result->objective[k] = k == 0 ? first : objective_over_replicates(spec, k, of, result);
        result->has_fitness = result->has_fitness && result->objective[k] == result->objective[k];
    }
    for (int k = 0; k < spec->objective.count && !result->has_fitness; k++)
        result->objective[k] = objective_canonical((double)NAN);
}

// ---- metrics --------------------------------------------------------------------------------------------------------

// Mean and sample standard deviation of a column, value[r*stride]: two passes, so that a spread far smaller than the
// mean keeps its digits (Chan, Golub & LeVeque, The American Statistician 37(3), 1983, eq. 1.1).
static double objective_column_mean(const double *value, int n, int stride)
{
    double sum = 0.0;
    for (int r = 0; r < n; r++) sum += value[(ptrdiff_t)r * stride];
    return sum / n;
}

static double objective_column_spread(const double *value, int n, int stride, double mean)
{
    double sum = 0.0;
    for (int r = 0; r < n; r++) {
        const double deviation = value[(ptrdiff_t)r * stride] - mean;
        sum += deviation * deviation;
    }
    return sqrt(sum / (n - 1));
}

// Of one replicate, as its mean: a sum that begins with 0 has no -0.
static void objective_means_of_one(const double *metric, int n_metrics, double *mean)
{
    for (int m = 0; m < n_metrics; m++) mean[m] = objective_canonical(0.0 + metric[m]);
}

static void objective_means(const double *metric, int n, int n_metrics, TrialResult *result)
{
    for (int m = 0; m < n_metrics; m++) {
        const double mean = objective_column_mean(metric + m, n, n_metrics);
        result->metric[m] = objective_canonical(mean);
        result->spread[m] = objective_canonical(objective_column_spread(metric + m, n, n_metrics, mean));
    }
}

void trial_result(const Spec *spec, const Replicates *of, TrialResult *result)
{
    const int n = spec->replicates.count, n_metrics = spec->configured.n_metrics;
    objective_all(spec, of, result);
    result->failure = 0;
    result->n_failed = 0;
    for (int r = 0; r < n; r++) {
        if (of->failure[r] == 0) continue;
        if (result->n_failed++ == 0) result->failure = of->failure[r];
    }
    if (!result->has_fitness && result->failure == 0)
        result->failure = configured_failure(&spec->configured, NON_FINITE);
    if (n == 1)
        objective_means_of_one(of->metric, n_metrics, result->metric);
    else
        objective_means(of->metric, n, n_metrics, result);
}
