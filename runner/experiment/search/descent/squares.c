// The sum of squares S = r'r of residuals at the centre of a search: J'J and J'r by its coordinates u, from runs with
// dual numbers along some parameters each, or from differences. Each run is a task of its own, and sums go from the
// first residual to the last, so the number of threads changes no bit.
#include "descent.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static const int64_t squares_columns_bytes = (int64_t)256 << 20; // of the derivatives of all residuals

static int64_t squares_pairs(int n) { return (int64_t)n * (n + 1) / 2; }
int64_t squares_doubles(int n) { return squares_pairs(n) + n + 1; }
SquaresView squares_view(double *at, int n)
{
    return (SquaresView){at, at + squares_pairs(n), at + squares_pairs(n) + n};
}

// ---- whether there are residuals ------------------------------------------------------------------------------------

static bool squares_by_model(const Spec *spec)
{
    return spec->method_settings[DESCENT_GRADIENT] != DESCENT_BY_DIFFERENCES;
}

bool squares_take_residuals(const Spec *spec) { return spec->objective.n_residuals > 0 && !squares_by_model(spec); }

static Error squares_check_residuals(const Spec *spec)
{
    const int64_t count = spec_residual_count(spec);
    if (spec->objective.n_residuals == 0)
        return error_make(ERROR_USER,
                          "least_squares needs residuals: `objective: {residuals: reference}`, or a list of "
                          "expressions that are to be 0");
    if (count >= spec->n_axes) return error_none();
    return error_make(ERROR_USER, "%lld residual%s can't determine %d parameters: search fewer, or add residuals",
                      (long long)count, count == 1 ? "" : "s", spec->n_axes);
}

static Error squares_check_gradient(const Spec *spec)
{
    const double by = spec->method_settings[DESCENT_GRADIENT];
    if (by == DESCENT_BY_ADJOINT)
        return error_make(ERROR_USER, "the adjoint goes back once for each residual: use `gradient: tangent`");
    for (int i = 0; i < spec->objective.n_residuals && by == DESCENT_BY_DIFFERENCES; i++) {
        const int metric = spec->objective.residuals[i].metric;
        if (metric < 0) continue;
        return error_make(ERROR_USER,
                          "%s counts by each of its values, and only a run with dual numbers has these: use `gradient: "
                          "tangent`",
                          spec->configured.metrics[metric].name);
    }
    return error_none();
}

Error squares_check(const Spec *spec, const char **key)
{
    const int64_t columns = 2 * spec_residual_count(spec) * spec->n_axes * (int64_t)sizeof(double);
    *key = spec->objective.n_residuals > 0 ? "objective.residuals" : "objective";
    TRY(squares_check_residuals(spec));
    if (columns > squares_columns_bytes)
        return error_make(ERROR_USER,
                          "the derivatives of %lld residuals by %d parameters take %s, more than %s: record "
                          "fewer rows or columns",
                          (long long)spec_residual_count(spec), spec->n_axes, text_bytes((double)columns).text,
                          text_bytes((double)squares_columns_bytes).text);
    *key = "replicates";
    if (spec->replicates.count > spec_fit_cases(spec))
        return error_make(ERROR_USER,
                          "least_squares compares one run%s of a trial with what is expected, and the spec "
                          "has %d replicates: leave them out",
                          spec->n_cases > 0 ? " of each case" : "", spec->replicates.count);
    *key = "constraints";
    if (spec->n_constraints > 0)
        return error_make(ERROR_USER, "least_squares takes no constraints: what is known beforehand is a range, or a "
                                      "residual");
    *key = "search.least_squares.gradient";
    return squares_check_gradient(spec);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

static int64_t squares_each(const Spec *spec)
{
    return squares_by_model(spec) ? 0 : (int64_t)spec_residuals(spec) * spec->n_axes;
}

size_t squares_room_bytes(const Descent *descent)
{
    const Spec *spec = descent->spec;
    const size_t n = (size_t)descent->n;
    const size_t doubles = (size_t)spec->configured.n_parameters + n * n + 2 * n + (size_t)squares_each(spec);
    const size_t trial = squares_by_model(spec) ? trial_residuals_bytes(spec, &spec->configured) : 0;
    return doubles * sizeof(double) + n * (2 * sizeof(int) + sizeof(int8_t)) + trial + 9 * 64;
}

void squares_take_room(Descent *descent, Arena *arena)
{
    const Spec *spec = descent->spec;
    const int64_t n = descent->n;
    int *searched = ARENA_NEW(arena, int, n);
    for (int i = 0; i < n; i++) searched[i] = spec->axes[i].parameter;
    descent->searched = searched;
    descent->room = (DescentSquaresRoom){
        .trial = squares_by_model(spec) ? trial_residuals_take(spec, &spec->configured, arena) : NULL,
        .parameter = ARENA_NEW(arena, double, spec->configured.n_parameters),
        .matrix = ARENA_NEW(arena, double, n *n),
        .step = ARENA_NEW(arena, double, n),
        .slope = ARENA_NEW(arena, double, n),
        .free = ARENA_NEW(arena, int, n),
        .end = ARENA_NEW(arena, int8_t, n),
        .each = ARENA_NEW(arena, double, squares_each(spec))};
}

void squares_take(Descent *descent, Arena *arena)
{
    enum { TASKS = 64 }; // that threads share at once, about
    const Spec *spec = descent->spec;
    const int64_t n = descent->n, count = spec_residual_count(spec), searches = descent->side.searches;
    const int64_t fit = squares_columns_bytes / (2 * count * n * (int64_t)sizeof(double));
    const bool by_runs = squares_by_model(spec);
    const int64_t width = by_runs ? spec->model->adjoint->directions(&spec->configured) : 1;
    const int64_t runs = (n + width - 1) / width;
    int64_t at_once = (TASKS + runs - 1) / runs;
    at_once = at_once < searches ? at_once : searches;
    at_once = at_once < fit || fit < 1 ? at_once : fit;
    descent->squares = ARENA_NEW(arena, DescentSquares, 1);
    *descent->squares =
        (DescentSquares){.count = count,
                         .at_once = (int)at_once,
                         .runs = (int)runs,
                         .residual = ARENA_NEW(arena, double, by_runs ? at_once *runs *count : 0),
                         .column = ARENA_NEW(arena, double, by_runs ? at_once *n *count : 0),
                         .there = ARENA_NEW(arena, int64_t, at_once * runs),
                         .ready = ARENA_NEW(arena, double, by_runs ? searches *squares_doubles((int)n) : 0)};
}

// ---- sums -----------------------------------------------------------------------------------------------------------

static double residuals_dot(const double *a, const double *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

// The fitness is the root of the mean square: df/du = J'r/(count f).
static void squares_slope(const Descent *descent, const SquaresView *sums, double *slope)
{
    const double count = (double)descent->squares->count, f = sqrt(*sums->squares / count);
    for (int i = 0; i < descent->n; i++) slope[i] = f > 0.0 ? sums->slope[i] / (count * f) : 0.0 * sums->slope[i];
}

// ---- by runs with dual numbers --------------------------------------------------------------------------------------

typedef struct SquaresReverse {
    const Search *search;
    const int64_t *centres; // [count]
    int64_t count;
    atomic_bool left; // a thread was asked to leave
} SquaresReverse;

// The first parameter of a run; the runs of a centre have about as many.
static int squares_first(const Descent *descent, int run)
{
    return (int)((int64_t)run * descent->n / descent->squares->runs);
}
static int squares_run_of(const Descent *descent, int i)
{
    int run = 0;
    while (squares_first(descent, run + 1) <= i) run++;
    return run;
}

static void squares_run(const SquaresReverse *reverse, Descent *descent, int64_t centre, int run)
{
    const Search *search = reverse->search;
    const DescentView view = descent_view(search, reverse->centres[centre]);
    const DescentSquares *squares = descent->squares;
    const int64_t task = centre * squares->runs + run;
    const int first = squares_first(descent, run), end = squares_first(descent, run + 1);
    (void)descent_point(descent, view.x); // it was run
    squares->there[task] = trial_residuals_along(
        descent->room.trial, (int32_t)(reverse->centres[centre] + descent->side.first),
        search_ordinal(search->method, view.run->round, 0), descent->parameter, descent->searched + first, end - first,
        squares->residual + task * squares->count, squares->column + (centre * descent->n + first) * squares->count);
}

static void squares_run_range(void *context, int thread, int64_t first, int64_t end)
{
    SquaresReverse *reverse = context;
    const Search *search = reverse->search;
    const Descent *shared = search->scratch;
    for (int64_t task = first; task < end && !atomic_load(&reverse->left); task++) {
        if (search->leaves != NULL && search->leaves(search->leaves_of)) atomic_store(&reverse->left, true);
        squares_run(reverse, shared->side.worker[thread], task / shared->squares->runs,
                    (int)(task % shared->squares->runs));
    }
}

// Row i of J'J and J'r of a centre. A derivative that is missing is NaN.
static void squares_sum(const SquaresReverse *reverse, Descent *descent, int64_t centre, int i)
{
    const DescentSquares *squares = descent->squares;
    const int64_t s = reverse->centres[centre], first = centre * descent->n, count = squares->count;
    const SquaresView sums = squares_view(squares->ready + s * squares_doubles(descent->n), descent->n);
    const double *column = squares->column + (first + i) * count;
    const int64_t run = centre * squares->runs;
    const double *residual = squares->residual + (run + squares_run_of(descent, i)) * count;
    const bool there = squares->there[run + squares_run_of(descent, i)] == count;
    for (int j = 0; j <= i; j++) {
        const bool both = there && squares->there[run + squares_run_of(descent, j)] == count;
        sums.normal[squares_pairs(i) + j] =
            both ? residuals_dot(column, squares->column + (first + j) * count, count) : (double)NAN;
    }
    sums.slope[i] = there ? residuals_dot(column, residual, count) : (double)NAN;
    if (i == 0) *sums.squares = there ? residuals_dot(residual, residual, count) : (double)NAN;
}

static void squares_sum_range(void *context, int thread, int64_t first, int64_t end)
{
    SquaresReverse *reverse = context;
    const Descent *shared = reverse->search->scratch;
    for (int64_t task = first; task < end; task++)
        squares_sum(reverse, shared->side.worker[thread], task / shared->n, (int)(task % shared->n));
}

// From derivatives by parameters to those by coordinates.
static void squares_stretch(const Search *search, Descent *descent, int64_t s)
{
    const SquaresView sums = squares_view(descent->squares->ready + s * squares_doubles(descent->n), descent->n);
    double *stretch = descent->vector;
    (void)descent_point(descent, descent_view(search, s).x);
    for (int i = 0; i < descent->n; i++)
        stretch[i] = descent_counts(descent, i)
                         ? search_stretch(&descent->spec->axes[i].values, descent->parameter[descent->searched[i]])
                         : 0.0;
    for (int i = 0; i < descent->n; i++) {
        for (int j = 0; j <= i; j++) sums.normal[squares_pairs(i) + j] *= stretch[i] * stretch[j];
        sums.slope[i] *= stretch[i];
    }
}

Error squares_reverse_all(Search *search, const int64_t *centres, int64_t count)
{
    Descent *descent = search->scratch;
    SquaresReverse reverse = {.search = search};
    for (int64_t at = 0; at < count; at += descent->squares->at_once) {
        reverse.centres = centres + at;
        reverse.count = count - at < descent->squares->at_once ? count - at : descent->squares->at_once;
        thread_team_for(descent->side.team, reverse.count * descent->squares->runs, 1, squares_run_range, &reverse);
        if (atomic_load(&reverse.left)) return error_make(ERROR_INTERRUPTED, "interrupted");
        thread_team_for(descent->side.team, reverse.count * descent->n, 1, squares_sum_range, &reverse);
        for (int64_t k = 0; k < reverse.count; k++) {
            squares_stretch(search, descent, reverse.centres[k]);
            descent->ready_round[reverse.centres[k]] = descent_view(search, reverse.centres[k]).run->round;
        }
    }
    return error_none();
}

void squares_reverse(Descent *descent, const DescentView *view, int64_t s)
{
    const int n = descent->n;
    double *slope = descent->vector + n;
    const SquaresView sums = squares_view(view->own, n);
    view->run->value = descent->value[0];
    const bool there = !isnan(view->run->value) && descent->ready_round[s] == view->run->round;
    memcpy(view->own, descent->squares->ready + s * squares_doubles(n), (size_t)squares_doubles(n) * sizeof(double));
    squares_slope(descent, &sums, slope);
    for (int i = 0; i < n && !there; i++) slope[i] = (double)NAN;
    descent_take(descent, view, slope);
}

// ---- by differences -------------------------------------------------------------------------------------------------

void squares_differentiate(Descent *descent, const DescentView *view, const SideDrawn *points, const double *told)
{
    const int n = descent->n, count = spec_residuals(descent->spec);
    const SquaresView sums = squares_view(view->own, n);
    double *value = descent->replicate, *slope = descent->vector + n, *each = descent->room.each, *r;
    view->run->value = descent->value[0];
    memset(view->own, 0, (size_t)squares_doubles(n) * sizeof(double));
    for (int k = 0; k < count; k++) {
        for (int64_t p = 0; p < descent_around(descent); p++) value[p] = (double)NAN;
        for (int64_t t = 0; t < points->trials; t++)
            value[points->slot[t]] = told[t * descent->side.told_width + DESCENT_TOLD + k];
        r = each + (ptrdiff_t)k * n;
        for (int i = 0; i < n; i++) r[i] = descent_derivative(descent, view->x, value, i);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) sums.normal[squares_pairs(i) + j] += r[i] * r[j];
            sums.slope[i] += r[i] * value[0];
        }
        *sums.squares += value[0] * value[0];
    }
    squares_slope(descent, &sums, slope);
    descent_take(descent, view, slope);
}
