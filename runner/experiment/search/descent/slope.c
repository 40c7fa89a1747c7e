// Derivatives from differences, or by the adjoint (descent.h).
#include "descent.h"

#include <math.h>
#include <string.h>

// (f(to) - f(from))/(to - from); NaN: one of them failed, or they are the same point.
static double descent_quotient(double from, double f_from, double to, double f_to)
{
    return to != from ? (f_to - f_from) / (to - from) : (double)NAN;
}

static double descent_derivative(const Descent *descent, double u, double value, const double *pair)
{
    const double h = descent->settings[DESCENT_DIFFERENCE];
    const double above = descent_inside(u + h), below = descent_inside(u - h);
    double slope = descent_quotient(below, pair[1], above, pair[0]);
    if (isnan(slope)) slope = descent_quotient(u, value, above, pair[0]);
    if (isnan(slope)) slope = descent_quotient(below, pair[1], u, value);
    return isfinite(slope) ? slope : (double)NAN;
}

double descent_norm(const double *vector, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += vector[i] * vector[i];
    return sqrt(sum);
}

bool descent_is_held(const DescentView *view, int i)
{
    return (view->x[i] <= 0.0 && view->slope[i] > 0.0) || (view->x[i] >= 1.0 && view->slope[i] < 0.0);
}

void descent_differentiate(const Descent *descent, const DescentView *view)
{
    DescentRun *run = view->run;
    double *free = descent->vector;
    run->value = descent->value[0];
    run->missing = 0;
    for (int i = 0; i < descent->n; i++) {
        const double slope = descent_derivative(descent, view->x[i], run->value, descent->value + 1 + 2 * i);
        run->missing += isnan(slope);
        view->slope[i] = isnan(slope) ? 0.0 : slope;
        free[i] = descent_is_held(view, i) ? 0.0 : view->slope[i];
    }
    run->gradient = descent_norm(free, descent->n);
}

// ---- by the adjoint -------------------------------------------------------------------------------------------------

// Where a condition gives an axis its fixed value, nothing depends on its coordinate.
static bool descent_counts(const Descent *descent, int axis)
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
    const double stretch = descent_stretch(&descent->spec->axes[i].values, descent->parameter[descent->searched[i]]);
    return descent_counts(descent, i) ? spec_cost(descent->spec, 0, slope) * stretch : 0.0;
}

// slope[n]; NaN: the centre failed, or was not run.
static void descent_reverse_centre(const Descent *descent, const DescentView *view, int64_t s, double *slope)
{
    for (int i = 0; i < descent->n; i++) slope[i] = (double)NAN;
    if (isnan(view->run->value)) return;
    (void)descent_point(descent, view->x); // it was run
    const double *ready = descent->ready + s * descent->n;
    for (int i = 0; i < descent->n; i++)
        slope[i] = descent->ready_round[s] == view->run->round ? descent_along(descent, i, ready[i]) : (double)NAN;
}

// Gradients of centres[count], which fit in a group.
static void descent_reverse_group(const Search *search, Descent *descent, const int64_t *centres, int count)
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
    const GradientTrials trials = {
        .count = count, .search = group->search, .ordinal = group->ordinal, .parameter = group->parameter};
    trial_gradients(descent->gradient, &trials, descent->searched, descent->n, group->slope);
    for (int k = 0; k < count; k++) {
        memcpy(descent->ready + centres[k] * descent->n, group->slope + (size_t)k * (size_t)descent->n,
               (size_t)descent->n * sizeof(double));
        descent->ready_round[centres[k]] = descent_view(search, centres[k]).run->round;
    }
}

typedef struct DescentReverse {
    const Search *search;
    const int64_t *centres;
    int64_t count;
    int at_once;
} DescentReverse;

static void descent_reverse_range(void *context, int thread, int64_t first, int64_t end)
{
    const DescentReverse *reverse = context;
    const Descent *shared = reverse->search->scratch;
    for (int64_t g = first; g < end; g++) {
        const int64_t at = g * reverse->at_once, left = reverse->count - at;
        descent_reverse_group(reverse->search, shared->side.worker[thread], reverse->centres + at,
                              (int)(left < reverse->at_once ? left : reverse->at_once));
    }
}

void descent_reverse_all(const Search *search, const SideTurn *turns, int64_t count)
{
    Descent *descent = search->scratch;
    DescentReverse reverse = {.search = search};
    if (!descent_by_adjoint(descent)) return;
    for (int64_t t = 0; t < count; t++) {
        const DescentPoints *points = descent_points(search, turns[t].search);
        if (descent_view(search, turns[t].search).run->on_line || points->left_out[0]) continue;
        descent->centres[reverse.count++] = turns[t].search;
    }
    reverse.centres = descent->centres;
    reverse.at_once = trial_gradient_trials(search->spec);
    const int64_t groups = (reverse.count + reverse.at_once - 1) / reverse.at_once;
    thread_team_for(descent->side.team, groups, 1, descent_reverse_range, &reverse);
}

void descent_reverse(const Descent *descent, const DescentView *view, int64_t s)
{
    DescentRun *run = view->run;
    double *free = descent->vector, *slope = descent->vector + descent->n;
    run->value = descent->value[0];
    run->missing = 0;
    descent_reverse_centre(descent, view, s, slope);
    for (int i = 0; i < descent->n; i++) {
        run->missing += !isfinite(slope[i]);
        view->slope[i] = isfinite(slope[i]) ? slope[i] : 0.0;
        free[i] = descent_is_held(view, i) ? 0.0 : view->slope[i];
    }
    run->gradient = descent_norm(free, descent->n);
}
