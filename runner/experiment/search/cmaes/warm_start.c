// What CMA-ES takes from another campaign that it starts from (`cmaes: {from: NAME}`).
//
// From a cmaes campaign that searched the same ranges: the mean of the search with the best fitness, and its
// covariance, scaled to a mean variance of 1; steps are as long as the new spec says. From any other: the mean of its
// best trials, and step sizes from their spread. Searches along gradients (search/descent) start at its best trial:
// they take a mean of one trial.
#include "cmaes.h"

#include <math.h>
#include <string.h>

enum { WARM_BEST = 10 };                      // trials
static const double warm_least_spread = 1e-3; // of a coordinate, beside the mean of all

// ---- from a state ---------------------------------------------------------------------------------------------------

static bool warm_same_words(const char *mine, const char *its)
{
    return mine == NULL || its == NULL ? mine == its : strcmp(mine, its) == 0;
}

// axis[i]: which of the other's axes is the i-th of this spec. False: ranges or parameters differ.
static bool warm_axes_agree(const Spec *spec, const Spec *other, int *axis)
{
    if (spec->n_axes != other->n_axes || other->method != &search_cmaes) return false;
    for (int i = 0; i < spec->n_axes; i++) {
        const Values *mine = &spec->axes[i].values;
        const char *name = spec->configured.parameters[spec->axes[i].parameter].name;
        axis[i] = -1;
        for (int j = 0; j < other->n_axes; j++) {
            const Values *its = &other->axes[j].values;
            const bool same = mine->low == its->low && mine->high == its->high && mine->log_scale == its->log_scale &&
                              mine->integer == its->integer && warm_same_words(mine->choices, its->choices);
            if (same && strcmp(other->configured.parameters[other->axes[j].parameter].name, name) == 0) axis[i] = j;
        }
        if (axis[i] < 0) return false;
    }
    return true;
}

// The search with the best fitness among those without restarts; -1: none.
static int64_t warm_best_search(const Search *search)
{
    const Cmaes *cmaes = search->scratch;
    int64_t best = -1;
    for (int64_t s = 0; s < cmaes->side.searches; s++) {
        const CmaesRun *run = cmaes_view(search, s).run;
        if (run->restart > 0 || isnan(run->best)) continue;
        if (best < 0 || run->best < cmaes_view(search, best).run->best) best = s;
    }
    return best;
}

static bool warm_is_mirrored(const Spec *spec, const Values *values)
{
    return spec->method == &search_cmaes && spec->method_settings[CMAES_BOUNDS] == CMAES_BOUNDS_TRANSFORM &&
           !values->integer;
}

// The strategy's own coordinate of one in [0, CMAES_WIDTH].
static double warm_own(const Spec *spec, const Values *values, double coordinate)
{
    return warm_is_mirrored(spec, values) ? cmaes_unreflected(coordinate) : coordinate;
}

// The other one's own coordinate as one of this spec's.
static double warm_coordinate(const Spec *spec, const Spec *other, const Values *values, double x)
{
    const double inside = x > 0.0 ? (x < CMAES_WIDTH ? x : CMAES_WIDTH) : 0.0;
    return warm_own(spec, values, warm_is_mirrored(other, values) ? cmaes_reflected(x) : inside);
}

static void warm_from_view(Spec *spec, const Cmaes *its, const CmaesView *view, const int *axis, Arena *arena)
{
    const int n = spec->n_axes;
    double *mean = ARENA_NEW(arena, double, n), *covariance = ARENA_NEW(arena, double, n *(n + 1) / 2), trace = 0.0;
    for (int i = 0; i < n; i++) {
        mean[i] = warm_coordinate(spec, its->spec, &spec->axes[i].values, view->mean[axis[i]]);
        trace += cmaes_variance(its, view, axis[i]);
    }
    double *at = covariance;
    for (int i = 0; i < n; i++) {
        for (int j = its->separable ? i : 0; j <= i; j++)
            *at++ = (i == j ? cmaes_variance(its, view, axis[i]) : view->C[axis[i] * n + axis[j]]) / (trace / n);
    }
    spec->warm.mean = mean;
    spec->warm.covariance = covariance;
    spec->warm.full = !its->separable && n > 1;
    spec->warm.sigma = 0.0;
}

bool warm_is_alike(const Spec *spec, const Spec *other, Arena *arena)
{
    return spec->method == &search_cmaes && warm_axes_agree(spec, other, ARENA_NEW(arena, int, spec->n_axes));
}

bool warm_from_state(Spec *spec, const Search *other, Arena *arena)
{
    int *axis = ARENA_NEW(arena, int, spec->n_axes);
    if (!warm_axes_agree(spec, other->spec, axis)) return false;
    const int64_t best = warm_best_search(other);
    if (best < 0) return false;
    const CmaesView view = cmaes_view(other, best);
    warm_from_view(spec, other->scratch, &view, axis, arena);
    return true;
}

bool cmaes_mean(const Search *search, double *parameter)
{
    const Cmaes *cmaes = search->scratch;
    const Spec *spec = search->spec;
    int64_t best = -1;
    for (int64_t s = 0; s < cmaes->side.searches; s++) {
        const double of = cmaes_view(search, s).run->best;
        if (!isnan(of) && (best < 0 || of < cmaes_view(search, best).run->best)) best = s;
    }
    if (best < 0) return false;
    const CmaesView view = cmaes_view(search, best);
    memcpy(parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof *parameter);
    for (int i = 0; i < spec->n_axes; i++) {
        const Values *values = &spec->axes[i].values;
        const double x = warm_is_mirrored(spec, values) ? cmaes_reflected(view.mean[i]) : view.mean[i];
        parameter[spec->axes[i].parameter] = cmaes_value(values, x);
    }
    return search_complete(spec, parameter);
}

// ---- from the best trials -------------------------------------------------------------------------------------------

// Coordinates of the best trials, where the other campaign has the parameter at all.
typedef struct WarmTrials {
    int *parameter;     // [n_axes] of the other's configured ones, -1: it has none of this name
    double *coordinate; // [count][n_axes]
    int count, shared;  // trials; axes whose parameter there is
} WarmTrials;

static void warm_find_parameters(const Spec *spec, const Spec *other, WarmTrials *trials)
{
    for (int i = 0; i < spec->n_axes; i++) {
        trials->parameter[i] = -1;
        for (int p = 0; p < configured_named(&other->configured); p++) {
            const char *name = spec->configured.parameters[spec->axes[i].parameter].name;
            const bool same = warm_same_words(spec->axes[i].values.choices, configured_choices(&other->configured, p));
            if (same && strcmp(other->configured.parameters[p].name, name) == 0) trials->parameter[i] = p;
        }
        trials->shared += trials->parameter[i] >= 0;
    }
}

static void warm_measure_trials(const Spec *spec, const WarmTrials *trials, double *mean, double *variance)
{
    const int n = spec->n_axes;
    for (int i = 0; i < n; i++) {
        mean[i] = variance[i] = 0.0;
        for (int t = 0; t < trials->count; t++) mean[i] += trials->coordinate[t * n + i] / trials->count;
        for (int t = 0; t < trials->count && trials->count > 1; t++) {
            const double away = trials->coordinate[t * n + i] - mean[i];
            variance[i] += away * away / (trials->count - 1);
        }
    }
}

// Variances relative to their mean, which is the square of sigma. Parameters that the other campaign does not have get
// this mean.
static void warm_from_measures(Spec *spec, const WarmTrials *trials, Arena *arena)
{
    const int n = spec->n_axes;
    double *mean = ARENA_NEW(arena, double, n), *variance = ARENA_NEW(arena, double, n), sum = 0.0;
    warm_measure_trials(spec, trials, mean, variance);
    for (int i = 0; i < n; i++) sum += trials->parameter[i] >= 0 ? variance[i] / trials->shared : 0.0;
    const double least = warm_least_spread * warm_least_spread;
    for (int i = 0; i < n; i++) {
        const double relative = sum > 0.0 && trials->parameter[i] >= 0 ? variance[i] / sum : 1.0;
        variance[i] = relative > least ? relative : least;
        mean[i] = warm_own(spec, &spec->axes[i].values, mean[i]);
    }
    spec->warm.mean = mean;
    spec->warm.covariance = variance;
    spec->warm.full = false;
    spec->warm.sigma = sum > 0.0 ? sqrt(sum) : 0.0;
}

static WarmTrials warm_trials_of(const Spec *spec, const Spec *other, Arena *arena)
{
    WarmTrials trials = {.parameter = ARENA_NEW(arena, int, spec->n_axes)};
    warm_find_parameters(spec, other, &trials);
    return trials;
}

int warm_trials(const Spec *spec) { return spec->method == &search_cmaes ? WARM_BEST : 1; }

int warm_shared(const Spec *spec, const Spec *other, Arena *arena) { return warm_trials_of(spec, other, arena).shared; }

void warm_from_trials(Spec *spec, const Spec *other, const double *parameter, int count, Arena *arena)
{
    WarmTrials trials = warm_trials_of(spec, other, arena);
    trials.count = count;
    trials.coordinate = ARENA_NEW(arena, double, (int64_t)count * spec->n_axes);
    for (int t = 0; t < count; t++) {
        const double *its = parameter + (int64_t)t * other->configured.n_parameters;
        for (int i = 0; i < spec->n_axes; i++) {
            const int p = trials.parameter[i];
            trials.coordinate[(int64_t)t * spec->n_axes + i] =
                cmaes_coordinate(&spec->axes[i].values, p >= 0 ? its[p] : spec->fixed[spec->axes[i].parameter]);
        }
    }
    warm_from_measures(spec, &trials, arena);
}
