// When a run of the CMA-ES ends: appendix B.3 of the tutorial, and the user's limits. The first condition that holds,
// in the order of the table below, is stored.
#include "cmaes.h"

#include <math.h>
#include <string.h>

const char *const cmaes_stop_names[CMAES_STOPS] = {
    [CMAES_GOES_ON] = "",
    [CMAES_AT_TARGET] = "target",
    [CMAES_AT_TRIALS] = "trials",
    [CMAES_AT_BUDGET] = "budget",
    [CMAES_AT_GENERATIONS] = "generations",
    [CMAES_AT_TOLFUN] = "tolfun",
    [CMAES_AT_TOLFUNHIST] = "tolfunhist",
    [CMAES_AT_TOLX] = "tolx",
    [CMAES_AT_TOLXUP] = "tolxup",
    [CMAES_AT_CONDITION] = "condition",
    [CMAES_AT_NO_EFFECT_AXIS] = "no_effect_axis",
    [CMAES_AT_NO_EFFECT_COORDINATE] = "no_effect_coordinate",
    [CMAES_AT_STAGNATION] = "stagnation",
    [CMAES_AT_EQUAL_VALUES] = "equal_values",
    [CMAES_AT_ALL_FAILED] = "all_failed",
};

typedef bool CmaesStops(const Cmaes *cmaes, const CmaesView *view);

// ---- the user's limits ----------------------------------------------------------------------------------------------

static bool cmaes_at_target(const Cmaes *cmaes, const CmaesView *view)
{
    const double target = cmaes->settings[CMAES_STOP_TARGET];
    return view->run->best <= (isinf(target) ? target : spec_cost(cmaes->spec, 0, target)); // infinite: none
}

static bool cmaes_at_trials(const Cmaes *cmaes, const CmaesView *view)
{
    const double most = cmaes->settings[CMAES_STOP_TRIALS];
    return most > 0.0 && (double)view->run->evaluations >= most;
}

// Half of what the last large population used.
static bool cmaes_at_budget(const Cmaes *cmaes, const CmaesView *view)
{
    const CmaesRun *run = view->run;
    (void)cmaes;
    return run->small && 2 * (run->evaluations - run->first_evaluations) >= run->last_large_evaluations;
}

double cmaes_most_generations(const Cmaes *cmaes, int64_t lambda)
{
    const double n = cmaes->n, given = cmaes->settings[CMAES_STOP_GENERATIONS];
    return given > 0.0 ? given : 100.0 + 150.0 * (n + 3.0) * (n + 3.0) / sqrt((double)lambda);
}

static bool cmaes_at_generations(const Cmaes *cmaes, const CmaesView *view)
{
    const CmaesRun *run = view->run;
    return (double)(run->round - run->first_round) >= cmaes_most_generations(cmaes, run->lambda);
}

static bool cmaes_at_all_failed(const Cmaes *cmaes, const CmaesView *view)
{
    return (double)view->run->failed_generations >= cmaes->settings[CMAES_PATIENCE];
}

// ---- the values hardly differ ---------------------------------------------------------------------------------------

// Generations over which they are compared: 10 + 30 n/lambda.
static int64_t cmaes_recent_generations(const Cmaes *cmaes, const CmaesRun *run)
{
    return 10 + (30 * cmaes->n + run->lambda - 1) / run->lambda;
}

// Greatest less least of the best values of the last generations; infinite if there were too few, or if one had none.
static double cmaes_recent_range(const Cmaes *cmaes, const CmaesView *view)
{
    const CmaesRun *run = view->run;
    const int64_t wanted = cmaes_recent_generations(cmaes, run);
    double low = (double)INFINITY, high = -(double)INFINITY;
    if (run->recent_count < wanted) return (double)INFINITY;
    for (int64_t i = 0; i < wanted; i++) {
        const double value = view->recent[(run->recent_count - 1 - i) % cmaes->n_recent];
        if (isnan(value)) return (double)INFINITY;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    return high - low;
}

static bool cmaes_at_tolfun(const Cmaes *cmaes, const CmaesView *view)
{
    const CmaesRun *run = view->run;
    const double tolerance = cmaes->settings[CMAES_STOP_TOLFUN];
    return run->generation_worst - run->generation_best < tolerance && cmaes_recent_range(cmaes, view) < tolerance;
}

static bool cmaes_at_tolfunhist(const Cmaes *cmaes, const CmaesView *view)
{
    return cmaes_recent_range(cmaes, view) < cmaes->settings[CMAES_STOP_TOLFUNHIST];
}

static bool cmaes_at_equal_values(const Cmaes *cmaes, const CmaesView *view)
{
    return cmaes_recent_range(cmaes, view) == 0.0;
}

static int cmaes_ascending(const double *a, const double *b) { return (*a > *b) - (*a < *b); }

// The median of value[first, end), by insertion into `room`; infinity stands for NaN.
static double cmaes_median(const double *value, int64_t first, int64_t end, double *room)
{
    const int64_t count = end - first;
    for (int64_t i = 0; i < count; i++) {
        const double x = isnan(value[first + i]) ? (double)INFINITY : value[first + i];
        int64_t at = i;
        for (; at > 0 && cmaes_ascending(&room[at - 1], &x) > 0; at--) room[at] = room[at - 1];
        room[at] = x;
    }
    return room[count / 2];
}

// The last fifth of the history, and 120 + 30 n/lambda generations of it at least: neither the best nor the median
// value got any better from its first 30 % to its last 30 %.
static bool cmaes_at_stagnation(const Cmaes *cmaes, const CmaesView *view)
{
    const CmaesRun *run = view->run;
    double room[CMAES_HISTORY];
    const int64_t generations = run->round - run->first_round;
    int64_t span = 120 + 30 * cmaes->n / run->lambda;
    if (cmaes->lagrangian || isinf(run->generation_best)) return false; // it ranks by other sums; none is feasible yet
    if (generations < span || (generations - 1) % run->history_stride != 0) return false;
    span = generations / 5 > span ? generations / 5 : span;
    const int64_t count = span / run->history_stride, end = run->history_count, first = end - count;
    const int64_t window = 3 * count / 10;
    if (first < 0 || window < 3) return false;
    for (int i = 0; i < 2; i++) {
        const double *value = i == 0 ? view->history_best : view->history_median;
        const double now = cmaes_median(value, end - window, end, room);
        if (now < cmaes_median(value, first, first + window, room)) return false;
    }
    return true;
}

// ---- the distribution has become too small, too large or too thin ---------------------------------------------------

static bool cmaes_at_tolx(const Cmaes *cmaes, const CmaesView *view)
{
    const CmaesRun *run = view->run;
    const double tolerance = cmaes->settings[CMAES_STOP_TOLX] * run->sigma_start;
    for (int i = 0; i < cmaes->n; i++) {
        if (!(run->sigma * fabs(view->p_c[i]) < tolerance)) return false;
        if (!(run->sigma * sqrt(cmaes_variance(cmaes, view, i)) < tolerance)) return false;
    }
    return true;
}

static bool cmaes_at_tolxup(const Cmaes *cmaes, const CmaesView *view)
{
    const CmaesRun *run = view->run;
    double widest = 0.0;
    for (int i = 0; i < cmaes->n; i++) widest = cmaes->spread[i] > widest ? cmaes->spread[i] : widest;
    return !(run->sigma * cmaes_longest(cmaes, view) <= cmaes->settings[CMAES_STOP_TOLXUP] * run->sigma_start * widest);
}

static bool cmaes_at_condition(const Cmaes *cmaes, const CmaesView *view)
{
    return !(cmaes_condition(cmaes, view) <= cmaes->settings[CMAES_STOP_CONDITION]);
}

// A step of 0.1 sigma along an axis, each in its turn, leaves the mean where it is.
static bool cmaes_at_no_effect_axis(const Cmaes *cmaes, const CmaesView *view)
{
    const int n = cmaes->n, k = (int)(view->run->round % n);
    const double step = 0.1 * view->run->sigma * view->lengths[k];
    for (int i = 0; i < n; i++) {
        if (view->mean[i] + step * cmaes_axis(cmaes, view, k, i) != view->mean[i]) return false;
    }
    return true;
}

static bool cmaes_at_no_effect_coordinate(const Cmaes *cmaes, const CmaesView *view)
{
    for (int i = 0; i < cmaes->n; i++) {
        const double step = 0.2 * view->run->sigma * sqrt(cmaes_variance(cmaes, view, i));
        if (view->mean[i] + step == view->mean[i]) return true;
    }
    return false;
}

// ---- all of them ----------------------------------------------------------------------------------------------------

static const struct {
    CmaesStop stop;
    CmaesStops *holds;
} cmaes_stops[] = {
    {CMAES_AT_TARGET, cmaes_at_target},
    {CMAES_AT_TRIALS, cmaes_at_trials},
    {CMAES_AT_ALL_FAILED, cmaes_at_all_failed},
    {CMAES_AT_BUDGET, cmaes_at_budget},
    {CMAES_AT_CONDITION, cmaes_at_condition},
    {CMAES_AT_TOLXUP, cmaes_at_tolxup},
    {CMAES_AT_EQUAL_VALUES, cmaes_at_equal_values},
    {CMAES_AT_TOLFUN, cmaes_at_tolfun},
    {CMAES_AT_TOLFUNHIST, cmaes_at_tolfunhist},
    {CMAES_AT_TOLX, cmaes_at_tolx},
    {CMAES_AT_NO_EFFECT_AXIS, cmaes_at_no_effect_axis},
    {CMAES_AT_NO_EFFECT_COORDINATE, cmaes_at_no_effect_coordinate},
    {CMAES_AT_STAGNATION, cmaes_at_stagnation},
    {CMAES_AT_GENERATIONS, cmaes_at_generations},
};

CmaesStop cmaes_stop(const Cmaes *cmaes, const CmaesView *view)
{
    for (size_t i = 0; i < sizeof cmaes_stops / sizeof *cmaes_stops; i++) {
        if (cmaes_stops[i].holds(cmaes, view)) return cmaes_stops[i].stop;
    }
    return CMAES_GOES_ON;
}
