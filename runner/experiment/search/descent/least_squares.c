// Least squares: makes the sum of squares S = r'r of the residuals small. Levenberg-Marquardt (K. Levenberg, Q. Appl.
// Math. 2, 1944; D. Marquardt, J. SIAM 11, 1963; the damping by the gain ratio: K. Madsen, H. B. Nielsen & O. Tingleff,
// Methods for non-linear least squares problems, 2004, algorithm 3.16). Symbols: u the coordinates, J = dr/du,
// A = J'J, g = J'r, mu the damping, m the greatest element on the diagonal of A at the start.
//
// A round at the centre gives A and g; the next one runs `line` points u + d(mu_j) side by side, with the dampings
// mu_j = mu 10^(j - line/3), and the best that makes S smaller is the next centre. Its damping is the next mu. If there
// is none, the next line has greater dampings. d minimises the model S + 2 g'd + d'(A + mu I)d over the points within
// the ranges, exactly (by an active set), so that parameters at an end of their range do not hinder the others.
//
// The damping is the same for all coordinates, fractions of their ranges: a parameter that no residual depends on
// stays where it began, and one that hardly any does moves last.
#include "descent.h"

#include <math.h>
#include <string.h>

enum { SQUARES_LINES = 12 };                                    // without a smaller S, after which the search ends
static const double squares_sufficient = 1e-4;                  // of the decrease that the model predicts
static const double squares_least = 1e-14, squares_most = 1e12; // mu, in units of m

static const Option squares_options[SQUARES_N_OPTIONS] = {
    DESCENT_OPTION_ROWS(
        "least_squares", DESCENT_BY_TANGENT,
        "where derivatives of the residuals come from. tangent: runs of one trial with dual numbers, along eight "
        "parameters each (articulated, hopper, rigid; of equations along one); differences: from trials, of "
        "residuals that are expressions, for any model",
        "damping", 1e-3, "damping of the first steps, as a fraction of the greatest of the squared derivatives", 100),
    {"least_squares.stop.decrease", OPTION_NUMBER, "1", 1e-10, 0, 1, NULL,
     "a search ends when a step makes, and should make, the sum of squares smaller by at most this fraction"},
    {"least_squares.line", OPTION_INTEGER, "1", 6, 1, DESCENT_LINE_MAX, NULL,
     "points with different dampings, which run side by side. 1: one point, and a damping by what it gained"},
};

// ---- what is kept ---------------------------------------------------------------------------------------------------

static int64_t squares_own(const Descent *descent) { return squares_doubles(descent->n) + 1; }
static double *squares_greatest(const Descent *descent, const DescentView *view) // m
{
    return view->own + squares_doubles(descent->n);
}
static int64_t squares_line(const Descent *descent) { return (int64_t)descent->settings[SQUARES_LINE]; }
static int64_t squares_flags(const Descent *descent) { return (void)descent, 1; }
static void squares_begin(const Descent *descent, const DescentView *view) { (void)descent, (void)view; }

static double squares_normal(const SquaresView *sums, int i, int j)
{
    return i >= j ? sums->normal[(int64_t)i * (i + 1) / 2 + j] : sums->normal[(int64_t)j * (j + 1) / 2 + i];
}

// ---- the step -------------------------------------------------------------------------------------------------------

// A coordinate without derivatives stays.
static bool squares_is_there(const DescentView *view, const SquaresView *sums, int i)
{
    (void)view;
    return isfinite(sums->slope[i]) && isfinite(squares_normal(sums, i, i));
}

// Solves (A + mu I) d = -g for free coordinates, with d given for the others: Cholesky's factors in room.matrix.
static void squares_solve(const Descent *descent, const SquaresView *sums, double mu, int n_free)
{
    const DescentSquaresRoom *room = &descent->room;
    double *L = room->matrix, *d = room->step, *b = room->slope;
    const int n = descent->n;
    for (int a = 0; a < n_free; a++) {
        const int i = room->free[a];
        double right = -sums->slope[i];
        for (int j = 0; j < n; j++) {
            if (room->end[j] != 0 && d[j] != 0.0) right -= squares_normal(sums, i, j) * d[j];
        }
        for (int c = 0; c <= a; c++) {
            double sum = squares_normal(sums, i, room->free[c]) + (a == c ? mu : 0.0);
            for (int k = 0; k < c; k++) sum -= L[a * n + k] * L[c * n + k];
            L[a * n + c] = a == c ? sqrt(sum > 0.0 ? sum : mu) : sum / L[c * n + c];
        }
        for (int k = 0; k < a; k++) right -= L[a * n + k] * b[k];
        b[a] = right / L[a * n + a];
    }
    for (int a = n_free - 1; a >= 0; a--) {
        double sum = b[a];
        for (int k = a + 1; k < n_free; k++) sum -= L[k * n + a] * b[k];
        b[a] = sum / L[a * n + a];
        d[room->free[a]] = b[a];
    }
}

// Free coordinates whose step leaves the range go to its end. False: there are none.
static bool squares_clip(const Descent *descent, const DescentView *view)
{
    const DescentSquaresRoom *room = &descent->room;
    bool some = false;
    for (int i = 0; i < descent->n; i++) {
        const double to = view->x[i] + room->step[i];
        if (room->end[i] != 0 || (to >= 0.0 && to <= 1.0)) continue;
        room->end[i] = to < 0.0 ? -1 : 1;
        room->step[i] = to < 0.0 ? -view->x[i] : 1.0 - view->x[i];
        some = true;
    }
    return some;
}

// Frees the coordinate at an end that the model pulls most strongly back into its range. False: there is none.
static bool squares_release(const Descent *descent, const SquaresView *sums, double mu)
{
    const DescentSquaresRoom *room = &descent->room;
    double strongest = 0.0;
    int which = -1;
    for (int i = 0; i < descent->n; i++) {
        double slope = sums->slope[i] + mu * room->step[i];
        if (room->end[i] == 0 || room->end[i] == 2) continue;
        for (int j = 0; j < descent->n; j++)
            if (room->end[j] != 2) slope += squares_normal(sums, i, j) * room->step[j];
        if (-slope * room->end[i] >= -1e-12 * *sums->squares || fabs(slope) <= strongest) continue;
        strongest = fabs(slope);
        which = i;
    }
    if (which >= 0) room->end[which] = 0;
    return which >= 0;
}

// room.step <- the step within the ranges.
static void squares_step(const Descent *descent, const DescentView *view, double mu)
{
    enum { NO_DERIVATIVE = 2 };
    const int n = descent->n;
    const SquaresView sums = squares_view(view->own, n);
    const DescentSquaresRoom *room = &descent->room;
    for (int i = 0; i < n; i++) {
        room->end[i] = squares_is_there(view, &sums, i) ? 0 : NO_DERIVATIVE;
        room->step[i] = 0.0;
    }
    for (int k = 0; k < 3 * n + 3; k++) {
        int n_free = 0;
        for (int i = 0; i < n; i++)
            if (room->end[i] == 0) room->free[n_free++] = i;
        squares_solve(descent, &sums, mu, n_free);
        if (squares_clip(descent, view)) continue;
        if (k >= 2 * n || !squares_release(descent, &sums, mu)) return;
    }
    (void)squares_clip(descent, view);
}

// By how much the model makes S smaller with room.step.
static double squares_predicted(const Descent *descent, const DescentView *view)
{
    const SquaresView sums = squares_view(view->own, descent->n);
    const double *d = descent->room.step;
    double less = 0.0;
    for (int i = 0; i < descent->n; i++) {
        if (d[i] == 0.0) continue;
        double row = 2.0 * sums.slope[i];
        for (int j = 0; j < descent->n; j++)
            if (d[j] != 0.0) row += squares_normal(&sums, i, j) * d[j];
        less -= d[i] * row;
    }
    return less;
}

// ---- the line -------------------------------------------------------------------------------------------------------

static double squares_limited(const Descent *descent, const DescentView *view, double mu)
{
    const double m = *squares_greatest(descent, view), low = squares_least * m, high = squares_most * m;
    return mu < low ? low : mu > high ? high : mu;
}

static double squares_damping(const Descent *descent, const DescentView *view, int64_t index)
{
    double mu = view->run->scale;
    for (int64_t k = index; k < squares_line(descent) / 3; k++) mu *= 0.1;
    for (int64_t k = squares_line(descent) / 3; k < index; k++) mu *= 10.0;
    return squares_limited(descent, view, mu);
}

static void squares_line_point(const Descent *descent, const DescentView *view, int64_t index, double *x)
{
    squares_step(descent, view, squares_damping(descent, view, index));
    for (int i = 0; i < descent->n; i++) x[i] = search_inside(view->x[i] + descent->room.step[i]);
}

// A line has at least one point that the spec allows: if need be, the centre.
static void squares_begin_line(const Descent *descent, const DescentView *view)
{
    DescentRun *run = view->run;
    const double most = squares_most * *squares_greatest(descent, view);
    run->on_line = 1;
    while (run->scale < most) {
        squares_line_point(descent, view, squares_line(descent) - 1, descent->vector);
        if (descent_point(descent, descent->vector)) return;
        run->scale *= 10.0;
    }
    memcpy(descent->vector, view->x, (size_t)descent->n * sizeof(double));
}

static void squares_learn(const Descent *descent, const DescentView *view)
{
    DescentRun *run = view->run;
    const SquaresView sums = squares_view(view->own, descent->n);
    double greatest = 0.0;
    run->has_valid = run->missing == 0;
    memcpy(view->valid, view->x, (size_t)descent->n * sizeof *view->valid);
    run->failed_rounds = run->missing == descent->n;
    run->shorter = 0;
    for (int i = 0; i < descent->n; i++) {
        if (!squares_is_there(view, &sums, i))
            sums.slope[i] = (double)NAN;
        else if (squares_normal(&sums, i, i) > greatest)
            greatest = squares_normal(&sums, i, i);
    }
    *squares_greatest(descent, view) = greatest;
    if (run->failed_rounds || !(greatest > 0.0)) {
        run->shorter = SQUARES_LINES;
        return;
    }
    if (run->iteration == 0) run->scale = descent->settings[DESCENT_RATE] * greatest;
    run->scale = squares_limited(descent, view, run->scale);
    squares_begin_line(descent, view);
}

static double squares_of(const Descent *descent, double value)
{
    return (double)descent->squares->count * value * value;
}

// The best point that makes S smaller, as much as it should; -1: there is none. *predicted: its decrease by the model.
static int64_t squares_choose(const Descent *descent, const DescentView *view, double *predicted)
{
    const double before = squares_of(descent, view->run->value);
    int64_t best = -1;
    for (int64_t j = 0; j < squares_line(descent); j++) {
        if (!(descent->value[j] < view->run->value) || (best >= 0 && descent->value[j] >= descent->value[best]))
            continue;
        squares_step(descent, view, squares_damping(descent, view, j));
        const double less = squares_predicted(descent, view);
        if (before - squares_of(descent, descent->value[j]) < squares_sufficient * less) continue;
        *predicted = less;
        best = j;
    }
    return best;
}

// Without a smaller S: steps are to be shorter, and the search ends if the longest hardly makes a difference.
static void squares_shorten(const Descent *descent, const DescentView *view)
{
    DescentRun *run = view->run;
    squares_step(descent, view, squares_damping(descent, view, 0));
    run->pairs =
        squares_predicted(descent, view) <= descent->settings[SQUARES_DECREASE] * squares_of(descent, run->value);
    const bool last = run->scale >= squares_most * *squares_greatest(descent, view);
    run->shorter = last ? SQUARES_LINES : run->shorter + 1;
    for (int64_t k = 0; k < squares_line(descent); k++) run->scale *= 10.0;
    run->scale = squares_limited(descent, view, run->scale);
    if (run->shorter < SQUARES_LINES) squares_begin_line(descent, view);
}

// Nielsen's rule for a single point: the damping falls with the part of the decrease that came true.
static void squares_gain(const Descent *descent, DescentRun *run, double gain)
{
    const double off = 2.0 * gain - 1.0, factor = 1.0 - off * off * off;
    if (squares_line(descent) == 1) run->scale *= factor > 1.0 / 3.0 ? factor : 1.0 / 3.0;
}

static void squares_line_learn(const Descent *descent, const DescentView *view)
{
    DescentRun *run = view->run;
    double *to = descent->vector, *moved = descent->vector + descent->n, predicted = 0.0;
    run->iteration++;
    const int64_t best = squares_choose(descent, view, &predicted);
    if (best < 0) {
        squares_shorten(descent, view);
        return;
    }
    const double before = squares_of(descent, run->value), less = before - squares_of(descent, descent->value[best]);
    const double small = descent->settings[SQUARES_DECREASE] * before;
    run->pairs = less <= small && predicted <= small;
    squares_line_point(descent, view, best, to);
    run->scale = squares_damping(descent, view, best);
    squares_gain(descent, run, less / predicted);
    for (int i = 0; i < descent->n; i++) moved[i] = to[i] - view->x[i];
    run->step = descent_norm(moved, descent->n);
    run->value = descent->value[best];
    memcpy(view->x, to, (size_t)descent->n * sizeof *to);
    run->on_line = 0;
}

static DescentStop squares_stop(const Descent *descent, const DescentRun *run)
{
    (void)descent;
    if (run->failed_rounds > 0) return DESCENT_AT_ALL_FAILED; // the same again
    if (run->pairs > 0) return DESCENT_AT_DECREASE;
    return run->shorter >= SQUARES_LINES ? DESCENT_AT_LINE_SEARCH : DESCENT_GOES_ON;
}

static double squares_rate(const Descent *descent, const DescentRun *run) { return (void)descent, run->scale; }

static const DescentMethod squares_method = {
    .squares = true,
    .searches = "search.least_squares.searches",
    .gradient = "search.least_squares.gradient",
    .forward = "search.least_squares.forward",
    .own = squares_own,
    .line = squares_line,
    .pairs = squares_flags,
    .begin = squares_begin,
    .learn = squares_learn,
    .line_point = squares_line_point,
    .line_learn = squares_line_learn,
    .stop = squares_stop,
    .rate = squares_rate,
};

// ---- the row of the registry ----------------------------------------------------------------------------------------

static Error squares_method_check(const Spec *spec, const char **key)
{
    return descent_check(spec, &squares_method, key);
}

static Error squares_method_init(const Spec *spec, Arena *arena, Search *search)
{
    return descent_init(spec, &squares_method, arena, search);
}

// All trials of a search share the random numbers of their replicate.
static uint64_t squares_ordinal(int64_t round, int64_t member) { return (void)round, (void)member, 0; }

const SearchMethod search_least_squares = {
    .name = "least_squares",
    .doc = "sums of squares of residuals (Levenberg 1944, Marquardt 1963), many searches side by side",
    .options = squares_options,
    .n_options = SQUARES_N_OPTIONS,
    .wants_range = true,
    .gradient_column = DESCENT_GRADIENT_COLUMN,
    .takes_residuals = squares_take_residuals,
    .budget = descent_budget,
    .bounds = descent_bounds,
    .searches = descent_searches,
    .check = squares_method_check,
    .init = squares_method_init,
    .ordinal = squares_ordinal,
    SIDE_BY_SIDE_METHOD,
    .gradient_bytes = descent_gradient_bytes,
};
