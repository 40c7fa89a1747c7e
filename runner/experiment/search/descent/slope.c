// Derivatives from differences, or by the adjoint (descent.h).
#include "descent.h"

#include <math.h>

// (f(to) - f(from))/(to - from); NaN: one of them failed, or they are the same point.
static double descent_quotient(double from, double f_from, double to, double f_to)
{
    return to != from ? (f_to - f_from) / (to - from) : (double)NAN;
}

double descent_derivative(const Descent *descent, double u, double value, const double *pair)
{
    const double h = descent->settings[DESCENT_DIFFERENCE];
    const double above = search_inside(u + h), below = search_inside(u - h);
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

// The slope of the run from slope[n], of which some may be missing.
static void descent_take(Descent *descent, const DescentView *view, const double *slope)
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

void descent_differentiate(Descent *descent, const DescentView *view)
{
    double *slope = descent->vector + descent->n;
    view->run->value = descent->value[0];
    for (int i = 0; i < descent->n; i++)
        slope[i] = descent_derivative(descent, view->x[i], view->run->value, descent->value + 1 + 2 * i);
    descent_take(descent, view, slope);
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
    const double stretch = search_stretch(&descent->spec->axes[i].values, descent->parameter[descent->searched[i]]);
    return descent_counts(descent, i) ? spec_cost(descent->spec, 0, slope) * stretch : 0.0;
}

// slope[n]; NaN: the centre failed.
static void descent_reverse_centre(const Search *search, Descent *descent, const DescentView *view, int64_t s,
                                   double *slope)
{
    const uint64_t ordinal = search_ordinal(search->method, view->run->round, 0);
    for (int i = 0; i < descent->n; i++) slope[i] = (double)NAN;
    if (isnan(view->run->value)) return;
    (void)descent_point(descent, view->x); // it was run
    (void)trial_gradient(descent->gradient, (int32_t)(s + descent->side.first), ordinal, descent->parameter,
                         descent->searched, descent->n, slope, descent->each);
    for (int i = 0; i < descent->n; i++) slope[i] = descent_along(descent, i, slope[i]);
    const int replicates = descent->each != NULL ? search->spec->replicates.count : 0;
    for (int k = 0; k < replicates * descent->n; k++)
        descent->each[k] = descent_along(descent, k % descent->n, descent->each[k]);
}

void descent_reverse(const Search *search, Descent *descent, const DescentView *view, int64_t s)
{
    double *slope = descent->vector + descent->n;
    view->run->value = descent->value[0];
    descent_reverse_centre(search, descent, view, s, slope);
    descent_take(descent, view, slope);
}
