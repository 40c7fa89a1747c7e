// The normal distribution's upper tail and its inverse. They use our own exp, so the bits are the same everywhere.
#include "sim.h"

#include <math.h>

enum { NORMAL_TERMS_MAX = 80, NORMAL_STEPS_MAX = 100 };

static double normal_density(double z) { return 0.3989422804014327 * portable_exp(-0.5 * z * z); }

// 1/2 - density(z) (z + z^3/3 + z^5/(3 5) + ...), for small z: G. Marsaglia, Evaluating the normal distribution, J.
// Statistical Software 11(4), 2004.
static double normal_tail_series(double z)
{
    double sum = z, term = z;
    for (int k = 1; k < NORMAL_TERMS_MAX; k++) {
        term *= z * z / (2.0 * k + 1.0);
        sum += term;
    }
    return 0.5 - normal_density(z) * sum;
}

// 1/(z + 2/(z + 3/(z + ...))). The tail is density(z)/(z + 1/(z + 2/(z + ...))), without cancellation for large z: M.
// Abramowitz & I. A. Stegun, Handbook of Mathematical Functions, 26.2.14.
static double normal_fraction(double z)
{
    double below = z;
    for (int k = NORMAL_TERMS_MAX; k > 1; k--) below = z + k / below;
    return 1.0 / below;
}

static const double normal_far = 2.5; // from here on the fraction has converged

double normal_tail(double z)
{
    if (z < 0.0) return 1.0 - normal_tail(-z);
    return z < normal_far ? normal_tail_series(z) : normal_density(z) / (z + normal_fraction(z));
}

double normal_mills(double z, double *rest)
{
    const bool far = z >= normal_far;
    const double below = far ? normal_fraction(z) : 0.0;
    const double ratio = far ? 1.0 / (z + below) : normal_tail_series(z) / normal_density(z);
    *rest = far ? below * ratio : 1.0 - z * ratio;
    return ratio;
}

// Newton's method from 0. The tail is convex there, so no step overshoots; it ends when the iterate no longer grows.
double normal_tail_inverse(double p)
{
    double z = 0.0;
    if (p > 0.5) return -normal_tail_inverse(1.0 - p);
    if (!(p > 1e-300)) return 37.0;
    for (int i = 0; i < NORMAL_STEPS_MAX; i++) {
        const double next = z + (normal_tail(z) - p) / normal_density(z);
        if (!(next > z)) break;
        z = next;
    }
    return z;
}
