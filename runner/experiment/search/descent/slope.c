// Derivatives from differences, or by the model's adjoint or tangent (descent.h).
#include "descent.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// (f(to) - f(from))/(to - from); NaN: one of them failed, or they are the same point.
static double descent_quotient(double from, double f_from, double to, double f_to)
{
    return to != from ? (f_to - f_from) / (to - from) : (double)NAN;
}

static double descent_central(const Descent *descent, double u, double value, const double *pair)
{
    const double h = descent->settings[DESCENT_DIFFERENCE];
    const double above = search_inside(u + h), below = search_inside(u - h);
    double slope = descent_quotient(below, pair[1], above, pair[0]);
    if (isnan(slope)) slope = descent_quotient(u, value, above, pair[0]);
    if (isnan(slope)) slope = descent_quotient(below, pair[1], u, value);
    return slope;
}

double descent_derivative(const Descent *descent, const double *x, const double *value, int i)
{
    const double slope = descent->settings[DESCENT_FORWARD] > 0.0
                             ? descent_quotient(x[i], value[0], descent_forward(descent, x, i), value[1 + i])
                             : descent_central(descent, x[i], value[0], value + 1 + 2 * (ptrdiff_t)i);
    return isfinite(slope) ? slope : (double)NAN;
}

double descent_norm(const double *vector, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += vector[i] * vector[i];
    return sqrt(sum);
}

static GradientSigns gradient_signs_none(void)
{
    const double none = (double)NAN;
    return (GradientSigns){.norm = none, .spread = none, .cosine = none, .growth = none};
}

static bool slope_is_held(double x, double slope) { return (x <= 0.0 && slope > 0.0) || (x >= 1.0 && slope < 0.0); }

bool descent_is_held(const DescentView *view, int i) { return slope_is_held(view->x[i], view->slope[i]); }

void descent_take(Descent *descent, const DescentView *view, const double *slope)
{
    DescentRun *run = view->run;
    double *free = descent->vector;
    run->missing = 0;
    for (int i = 0; i < descent->n; i++) {
        const bool there = isfinite(slope[i]);
        run->missing += !there;
        view->slope[i] = there ? slope[i] : 0.0;
        descent->counts[i] = there && !descent_is_held(view, i);
        free[i] = descent->counts[i] ? view->slope[i] : 0.0;
    }
    run->gradient = descent_norm(free, descent->n);
}

// Whether all points that were run count as the penalty of failed replicates: a plateau that says nothing.
static bool descent_all_fell(const Descent *descent)
{
    const double penalty = spec_cost(descent->spec, 0, descent->spec->objective.penalty);
    if (descent->spec->objective.failed != FAILED_PENALTY) return false;
    for (int64_t k = 0; k < descent_around(descent); k++) {
        if (!isnan(descent->value[k]) && descent->value[k] != penalty) return false;
    }
    return true;
}

void descent_differentiate(Descent *descent, const DescentView *view)
{
    double *slope = descent->vector + descent->n;
    const bool none = descent_all_fell(descent);
    view->run->value = descent->value[0];
    for (int i = 0; i < descent->n; i++)
        slope[i] = none ? (double)NAN : descent_derivative(descent, view->x, descent->value, i);
    descent_take(descent, view, slope);
}

// ---- by the model ---------------------------------------------------------------------------------------------------

// Where a condition gives an axis its fixed value, nothing depends on its coordinate.
bool descent_counts(const Descent *descent, int axis)
{
    const Spec *spec = descent->spec;
    for (int w = 0; w < spec->n_when; w++) {
        if (spec->when[w].axis == axis && !search_counts(spec, w, descent->parameter)) return false;
    }
    return true;
}

// d cost/d coordinate i, by d fitness/d parameter.
static double descent_along(const Descent *descent, int i, double slope)
{
    const double stretch = search_stretch(&descent->spec->axes[i].values, descent->parameter[descent->searched[i]]);
    return descent_counts(descent, i) ? spec_cost(descent->spec, 0, slope) * stretch : 0.0;
}

// What a search needs of its centre's gradient: slopes by its coordinates, and what the replicates say of them.
static void descent_get_ready(const Search *search, Descent *descent, int64_t s, int k)
{
    const DescentGroup *group = &descent->group;
    const DescentView view = descent_view(search, s);
    const int n = descent->n, replicates = group->each != NULL ? search->spec->replicates.count : 0;
    double *ready = descent->ready + s * n;
    GradientSigns *signs = &descent->ready_signs[s];
    (void)descent_point(descent, view.x); // it was run
    for (int i = 0; i < n; i++) {
        ready[i] = descent_along(descent, i, group->slope[k * n + i]);
        descent->counts[i] = isfinite(ready[i]) && !slope_is_held(view.x[i], ready[i]);
    }
    *signs = gradient_signs_none();
    signs->growth = group->growth[k];
    for (int e = 0; e < replicates * n; e++)
        descent->each[e] = descent_along(descent, e % n, group->each[(ptrdiff_t)k * replicates * n + e]);
    if (replicates > 0) descent_signs(descent, signs);
    descent->ready_round[s] = view.run->round;
}

// Gradients of centres[count], which fit in a group.
static Error descent_reverse_group(const Search *search, Descent *descent, const int64_t *centres, int count)
{
    const DescentGroup *group = &descent->group;
    const size_t n_parameters = (size_t)search->spec->configured.n_parameters;
    for (int k = 0; k < count; k++) {
        const DescentView view = descent_view(search, centres[k]);
        (void)descent_point(descent, view.x); // it was run
        group->search[k] = (int32_t)(centres[k] + descent->side.first);
        group->ordinal[k] = search_ordinal(search->method, view.run->round, 0);
        memcpy(group->parameter + (size_t)k * n_parameters, descent->parameter, n_parameters * sizeof(double));
    }
    const GradientTrials trials = {.count = count,
                                   .search = group->search,
                                   .ordinal = group->ordinal,
                                   .parameter = group->parameter,
                                   .leaves = search->leaves,
                                   .of = search->leaves_of};
    const GradientSlopes slopes = {.parameters = descent->searched,
                                   .count = descent->n,
                                   .slope = group->slope,
                                   .each = group->each,
                                   .growth = group->growth};
    TRY(trial_gradients(descent->gradient, &trials, &slopes));
    for (int k = 0; k < count; k++) descent_get_ready(search, descent, centres[k], k);
    return error_none();
}

typedef struct DescentReverse {
    const Search *search;
    const int64_t *centres;
    int64_t count;
    int at_once;
    atomic_bool left; // a thread was asked to leave
} DescentReverse;

static int64_t descent_reverse_count(const DescentReverse *reverse)
{
    return (reverse->count + reverse->at_once - 1) / reverse->at_once;
}

// Error (interrupted): asked to leave. Only a GPU has others.
static Error descent_reverse_one(const DescentReverse *reverse, Descent *descent, int64_t group)
{
    const int64_t at = group * reverse->at_once, left = reverse->count - at;
    return descent_reverse_group(reverse->search, descent, reverse->centres + at,
                                 (int)(left < reverse->at_once ? left : reverse->at_once));
}

static void descent_reverse_range(void *context, int thread, int64_t first, int64_t end)
{
    DescentReverse *reverse = context;
    const Descent *shared = reverse->search->scratch;
    for (int64_t g = first; g < end && !atomic_load(&reverse->left); g++) {
        if (descent_reverse_one(reverse, shared->side.worker[thread], g).kind != OK) atomic_store(&reverse->left, true);
    }
}

static Error descent_reverse_on_gpu(Search *search, DescentReverse *reverse)
{
    Descent *descent = ((Descent *)search->scratch)->on_gpu;
    reverse->at_once = descent->group.at_once;
    for (int64_t g = 0; g < descent_reverse_count(reverse); g++) TRY(descent_reverse_one(reverse, descent, g));
    search->gpu_rounds++;
    return error_none();
}

Error descent_reverse_all(Search *search, const SideTurn *turns, int64_t count)
{
    Descent *descent = search->scratch;
    DescentReverse reverse = {.search = search};
    if (!descent_by_model(descent)) return error_none();
    for (int64_t t = 0; t < count; t++) {
        const SideDrawn *points = descent_points(search, turns[t].search);
        if (descent_view(search, turns[t].search).run->on_line || points->left_out[0]) continue;
        descent->centres[reverse.count++] = turns[t].search;
    }
    reverse.centres = descent->centres;
    if (descent->squares != NULL) return squares_reverse_all(search, descent->centres, reverse.count);
    const int64_t least = descent_gpu_least(thread_team_threads(descent->side.team));
    if (descent->on_gpu != NULL && reverse.count * descent_lanes(descent) >= least) {
        const Error error = descent_reverse_on_gpu(search, &reverse);
        if (error.kind == OK || error.kind == ERROR_INTERRUPTED) return error;
        search->gpu_failed = error;
        descent->on_gpu = NULL;
    }
    reverse.at_once = descent->group.at_once;
    thread_team_for(descent->side.team, descent_reverse_count(&reverse), 1, descent_reverse_range, &reverse);
    return atomic_load(&reverse.left) ? error_make(ERROR_INTERRUPTED, "interrupted") : error_none();
}

// Of a centre that failed, or was not run, there is none.
void descent_reverse(Descent *descent, const DescentView *view, int64_t s)
{
    double *slope = descent->vector + descent->n;
    const double *ready = descent->ready + s * descent->n;
    view->run->value = descent->value[0];
    const bool there = !isnan(view->run->value) && descent->ready_round[s] == view->run->round;
    for (int i = 0; i < descent->n; i++) slope[i] = there ? ready[i] : (double)NAN;
    descent->signs = there ? descent->ready_signs[s] : gradient_signs_none();
    descent_take(descent, view, slope);
}
