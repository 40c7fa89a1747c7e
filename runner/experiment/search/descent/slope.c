// Derivatives from differences (descent.h).
#include "descent.h"

#include <math.h>

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
