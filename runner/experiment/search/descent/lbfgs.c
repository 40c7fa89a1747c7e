// lbfgs: the limited-memory quasi-Newton method of Broyden, Fletcher, Goldfarb and Shanno, many searches side by side.
//
// Source: J. Nocedal, S. J. Wright, "Numerical Optimization", 2nd edition, Springer 2006: the two-loop recursion
// (search/quasi_newton.h), the condition of sufficient decrease (equation 3.4, c1 = 1e-4). Symbols:
// s = u_k+1 - u_k, y = g_k+1 - g_k of the last `memory` iterations, H the approximation of the inverse Hessian,
// d = -H g. Without pairs d is steepest descent, of length `rate`.
//
// A round of differences gives g and d; the next one runs `line` points u + 2^(1 - j) d, j = 0, 1, ..., all at once,
// and the best of those with sufficient decrease is the next centre. If there is none, the line goes on with shorter
// steps; after three lines the pairs are dropped, and if steepest descent finds nothing either, the search ends.
// The lines only look at values. So y's may be useless: one is kept only where s'y > 0 (section 7.2).
//
// With `line: 1` the points of a line follow each other, beginning at u + d. The value there, with value and slope at
// the centre, gives a parabola (section 3.5). Without sufficient decrease the next point is its minimum, at least a
// tenth and at most half as far; after five such points the pairs are dropped, as above. With sufficient decrease it is
// the minimum if that is 1.3 times as far or more, up to 4 times, as long as the values fall. The two-loop recursion
// begins with the longest step that fits a pair (quasi_newton_longest), because no point stands at twice the step.
//
// Bounds: coordinates that the gradient holds at an end of the range stay there, and H is that of the others; points
// are projected (D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM J.
// Control and Optimization 20(2), 1982).
//
// All trials of a search share the random numbers of their replicates, so it minimises one function.
#include "../quasi_newton.h"
#include "descent.h"

#include <math.h>
#include <string.h>

enum { LBFGS_MEMORY_MAX = QUASI_NEWTON_MEMORY_MAX, LBFGS_LINES = 3 };
enum { LBFGS_POINTS = 5 };                 // of a line with one point after the other, without one that is better
static const double lbfgs_decrease = 1e-4; // c1
// How many times as long the next point of such a line is.
static const double lbfgs_shortest = 0.1, lbfgs_shorter = 0.5, lbfgs_longer = 1.3, lbfgs_farthest = 4.0;

static const Option lbfgs_options[LBFGS_N_OPTIONS] = {
    DESCENT_OPTION_ROWS("lbfgs", DESCENT_BY_DIFFERENCES, DESCENT_GRADIENT_DOC, "rate", 0.1,
                        "length of a step along the gradient alone, as a fraction of the ranges", 100),
    DESCENT_PENALTY_ROW("lbfgs"),
    {"lbfgs.memory", OPTION_INTEGER, "1", 10, 1, LBFGS_MEMORY_MAX, NULL,
     "iterations whose steps and changes of the gradient are kept"},
    {"lbfgs.line", OPTION_INTEGER, "1", 6, 1, DESCENT_LINE_MAX, NULL,
     "points of a line, which run side by side: twice the step, the step, half of it and so on. 1: one after the "
     "other, the step and then where a parabola has its minimum"},
};

// ---- what is kept ---------------------------------------------------------------------------------------------------

static int64_t lbfgs_memory(const Descent *descent) { return (int64_t)descent->settings[LBFGS_MEMORY]; }

static int64_t lbfgs_line(const Descent *descent) { return (int64_t)descent->settings[LBFGS_LINE]; }

static bool lbfgs_is_serial(const Descent *descent) { return lbfgs_line(descent) == 1; }

static int64_t lbfgs_own(const Descent *descent)
{
    return (2 + 2 * lbfgs_memory(descent)) * descent->n + (lbfgs_is_serial(descent) ? 2 : 0);
}

static double *lbfgs_direction(const DescentView *view) { return view->own; }

static double *lbfgs_last_slope(const Descent *descent, const DescentView *view) { return view->own + descent->n; }

// [memory][2 n]: s of a pair, and behind it y. The newest pair stands first.
static double *lbfgs_pairs(const Descent *descent, const DescentView *view) { return view->own + 2 * descent->n; }

// Of a line with one point after the other: its best point as a factor of the direction, 0: none; and the value there.
static double *lbfgs_found(const Descent *descent, const DescentView *view)
{
    return view->own + (2 + 2 * lbfgs_memory(descent)) * descent->n;
}

static void lbfgs_begin(const Descent *descent, const DescentView *view)
{
    (void)descent;
    view->run->scale = 1.0;
}

// From the last centre with all derivatives to this one.
static void lbfgs_keep_pair(const Descent *descent, const DescentView *view)
{
    const int n = descent->n;
    const double *before = lbfgs_last_slope(descent, view);
    double *s = descent->vector, *y = descent->vector + n;
    for (int i = 0; i < n; i++) {
        s[i] = view->x[i] - view->valid[i];
        y[i] = view->slope[i] - before[i];
    }
    (void)quasi_newton_keep(lbfgs_pairs(descent, view), &view->run->pairs, lbfgs_memory(descent), s, n);
}

// ---- the direction --------------------------------------------------------------------------------------------------

// The direction of steepest descent. False: the slope vanishes.
static bool lbfgs_take_steepest(const Descent *descent, const DescentView *view)
{
    double *direction = lbfgs_direction(view);
    const double factor = descent->settings[DESCENT_RATE] / view->run->gradient;
    view->run->pairs = 0;
    for (int i = 0; i < descent->n; i++) direction[i] = descent_is_held(view, i) ? 0.0 : -factor * view->slope[i];
    return view->run->gradient > 0.0 && isfinite(factor);
}

// d = -H g, no longer than the ranges. False: it does not lead down.
static bool lbfgs_take_newton(const Descent *descent, const DescentView *view)
{
    const int n = descent->n;
    double *free = descent->vector, *q = descent->vector + n, longest = 0.0, down = 0.0;
    if (view->run->pairs == 0) return false;
    for (int i = 0; i < n; i++) {
        free[i] = descent_is_held(view, i) ? 0.0 : 1.0;
        q[i] = free[i] * view->slope[i];
    }
    const double *pairs = lbfgs_pairs(descent, view);
    const double gamma = lbfgs_is_serial(descent) ? quasi_newton_longest(pairs, view->run->pairs, free, n) : 0.0;
    quasi_newton_multiply(pairs, view->run->pairs, free, gamma, q, n);
    for (int i = 0; i < n; i++) {
        longest = fabs(q[i]) > longest ? fabs(q[i]) : longest;
        down += q[i] * view->slope[i];
    }
    if (!(down > 0.0) || !isfinite(longest) || isinf(down)) return false;
    for (int i = 0; i < n; i++) lbfgs_direction(view)[i] = -q[i] / (longest > 1.0 ? longest : 1.0);
    return true;
}

// ---- the line -------------------------------------------------------------------------------------------------------

static void lbfgs_line_point(const Descent *descent, const DescentView *view, int64_t index, double *x)
{
    double factor = (lbfgs_is_serial(descent) ? 1.0 : 2.0) * view->run->scale;
    for (int64_t k = 0; k < index; k++) factor *= 0.5;
    for (int i = 0; i < descent->n; i++) x[i] = search_inside(view->x[i] + factor * lbfgs_direction(view)[i]);
}

// A line has at least one point that the spec allows: if need be, the centre.
static void lbfgs_begin_line(const Descent *descent, const DescentView *view)
{
    enum { HALVES = 60 };
    view->run->on_line = 1;
    if (lbfgs_is_serial(descent)) lbfgs_found(descent, view)[0] = lbfgs_found(descent, view)[1] = 0.0;
    for (int k = 0; k < HALVES; k++, view->run->scale *= 0.5) {
        lbfgs_line_point(descent, view, lbfgs_line(descent) - 1, descent->vector);
        if (descent_point(descent, descent->vector)) return;
    }
    view->run->scale = 0.0;
}

// Lines one after the other, without a better point, after which a direction is given up.
static int lbfgs_lines(const Descent *descent) { return lbfgs_is_serial(descent) ? LBFGS_POINTS : LBFGS_LINES; }

static void lbfgs_give_up(const Descent *descent, DescentRun *run)
{
    run->on_line = run->pairs = 0;
    run->shorter = lbfgs_lines(descent);
}

static void lbfgs_learn(const Descent *descent, const DescentView *view)
{
    DescentRun *run = view->run;
    if (run->has_valid && run->missing == 0) lbfgs_keep_pair(descent, view);
    run->has_valid = run->missing == 0;
    memcpy(view->valid, view->x, (size_t)descent->n * sizeof *view->valid);
    memcpy(lbfgs_last_slope(descent, view), view->slope, (size_t)descent->n * sizeof *view->slope);
    run->failed_rounds = run->missing == descent->n;
    run->shorter = 0;
    run->scale = 1.0;
    if (!lbfgs_take_newton(descent, view) && !lbfgs_take_steepest(descent, view)) {
        lbfgs_give_up(descent, run);
        return;
    }
    lbfgs_begin_line(descent, view);
}

// The best point with sufficient decrease, into `x`; -1: there is none.
static int64_t lbfgs_choose(const Descent *descent, const DescentView *view, double *x)
{
    const int n = descent->n;
    const double before = isnan(view->run->value) ? (double)INFINITY : view->run->value;
    double *point = descent->vector + n;
    int64_t best = -1;
    for (int64_t j = 0; j < lbfgs_line(descent); j++) {
        double slope = 0.0;
        if (!(descent->value[j] < before) || (best >= 0 && descent->value[j] >= descent->value[best])) continue;
        lbfgs_line_point(descent, view, j, point);
        for (int i = 0; i < n; i++) slope += view->slope[i] * (point[i] - view->x[i]);
        if (descent->value[j] > before + lbfgs_decrease * slope) continue;
        memcpy(x, point, (size_t)n * sizeof *x);
        best = j;
    }
    return best;
}

// The next line, its points `factor` times as far.
static void lbfgs_shorten(const Descent *descent, const DescentView *view, double factor)
{
    DescentRun *run = view->run;
    const int most = lbfgs_lines(descent);
    run->shorter++;
    run->scale *= factor;
    if (run->shorter >= most && run->pairs > 0) {
        (void)lbfgs_take_steepest(descent, view); // its slope does not vanish: there was a direction
        run->shorter = 0;
        run->scale = 1.0;
    }
    if (run->shorter < most) lbfgs_begin_line(descent, view);
}

// The centre moves to x[n].
static void lbfgs_move(const Descent *descent, const DescentView *view, const double *to)
{
    double *moved = descent->vector + descent->n;
    for (int i = 0; i < descent->n; i++) moved[i] = to[i] - view->x[i];
    view->run->step = descent_norm(moved, descent->n);
    memcpy(view->x, to, (size_t)descent->n * sizeof *to);
    view->run->on_line = 0;
}

// ---- a line with one point after the other --------------------------------------------------------------------------

// How many times as far as the point x[n], with this value, the parabola through it has its minimum; infinite: nowhere.
static double lbfgs_parabola(const Descent *descent, const DescentView *view, const double *x, double value)
{
    double slope = 0.0;
    for (int i = 0; i < descent->n; i++) slope += view->slope[i] * (x[i] - view->x[i]);
    const double bend = value - view->run->value - slope;
    return bend > 0.0 && isfinite(bend) ? -slope / (2.0 * bend) : (double)INFINITY;
}

// Whether the line goes on beyond its point x[n], which is its best: sets scale.
static bool lbfgs_lengthen(const Descent *descent, const DescentView *view, const double *x, double times)
{
    double *farther = descent->vector + descent->n;
    if (!(times >= lbfgs_longer) || !isfinite(view->run->value)) return false;
    view->run->scale *= times < lbfgs_farthest ? times : lbfgs_farthest;
    lbfgs_line_point(descent, view, 0, farther);
    return memcmp(farther, x, (size_t)descent->n * sizeof *x) != 0 && descent_point(descent, farther);
}

static void lbfgs_learn_point(const Descent *descent, const DescentView *view)
{
    DescentRun *run = view->run;
    double *point = descent->vector, *found = lbfgs_found(descent, view);
    const double value = descent->value[0], before = found[0];
    const bool better = lbfgs_choose(descent, view, point) == 0 && (!(before > 0.0) || value < found[1]);
    lbfgs_line_point(descent, view, 0, point);
    const double times = lbfgs_parabola(descent, view, point, value);
    if (better) {
        found[0] = run->scale;
        found[1] = value;
        if (lbfgs_lengthen(descent, view, point, times)) return;
    } else if (!(before > 0.0)) {
        const double longest = times < lbfgs_shorter ? times : lbfgs_shorter;
        lbfgs_shorten(descent, view, !isnan(value) && longest > lbfgs_shortest ? longest : lbfgs_shortest);
        return;
    }
    run->scale = found[0];
    run->value = found[1];
    lbfgs_line_point(descent, view, 0, point);
    lbfgs_move(descent, view, point);
}

static void lbfgs_line_learn(const Descent *descent, const DescentView *view)
{
    DescentRun *run = view->run;
    double *to = descent->vector, factor = 1.0;
    run->iteration++;
    if (lbfgs_is_serial(descent)) {
        lbfgs_learn_point(descent, view);
        return;
    }
    const int64_t best = lbfgs_choose(descent, view, to);
    if (best < 0) {
        for (int64_t k = 0; k < lbfgs_line(descent); k++) factor *= 0.5;
        lbfgs_shorten(descent, view, factor);
        return;
    }
    for (int64_t k = 0; k < best; k++) run->scale *= 0.5;
    run->scale *= 2.0;
    lbfgs_move(descent, view, to);
}

static DescentStop lbfgs_stop(const Descent *descent, const DescentRun *run)
{
    if (run->failed_rounds > 0) return DESCENT_AT_ALL_FAILED; // the same again
    return run->shorter >= lbfgs_lines(descent) && run->pairs == 0 ? DESCENT_AT_LINE_SEARCH : DESCENT_GOES_ON;
}

static double lbfgs_rate(const Descent *descent, const DescentRun *run)
{
    (void)descent;
    return run->scale;
}

static const DescentMethod lbfgs_method = {
    .searches = "search.lbfgs.searches",
    .gradient = "search.lbfgs.gradient",
    .forward = "search.lbfgs.forward",
    .own = lbfgs_own,
    .line = lbfgs_line,
    .pairs = lbfgs_memory,
    .begin = lbfgs_begin,
    .learn = lbfgs_learn,
    .line_point = lbfgs_line_point,
    .line_learn = lbfgs_line_learn,
    .stop = lbfgs_stop,
    .rate = lbfgs_rate,
};

// ---- the row of the registry ----------------------------------------------------------------------------------------

static Error lbfgs_check(const Spec *spec, const char **key) { return descent_check(spec, &lbfgs_method, key); }

static Error lbfgs_init(const Spec *spec, Arena *arena, Search *search)
{
    return descent_init(spec, &lbfgs_method, arena, search);
}

// All trials of a search share the random numbers of their replicates.
static uint64_t lbfgs_ordinal(int64_t round, int64_t member)
{
    (void)round;
    (void)member;
    return 0;
}

const SearchMethod search_lbfgs = {
    .name = "lbfgs",
    .doc = "limited-memory quasi-Newton method (Nocedal & Wright 2006), many searches side by side",
    .options = lbfgs_options,
    .n_options = LBFGS_N_OPTIONS,
    .wants_range = true,
    .later = "lbfgs.forward",
    .gradient_column = DESCENT_GRADIENT_COLUMN,
    .takes_values = descent_takes_values,
    .budget = descent_budget,
    .bounds = descent_bounds,
    .searches = descent_searches,
    .check = lbfgs_check,
    .init = lbfgs_init,
    .ordinal = lbfgs_ordinal,
    SIDE_BY_SIDE_METHOD,
    .gradient_bytes = descent_gradient_bytes,
    .gradient_lanes = descent_gradient_lanes,
    .use_gpu = descent_use_gpu,
};
