// real as a dual number: a value and its derivative along one direction, with (x, dx)(y, dy) = (xy, x dy + y dx).
// Models compiled with it carry the derivative of everything that they compute. With dx as the imaginary part of a
// complex number, scaled by 2^-300, the products of derivatives that complex numbers also form are far below a rounding
// of the value, so that the operators of C are those of dual numbers.
// Source: W. Squire & G. Trapp, Using complex variables to estimate derivatives of real functions, SIAM Review 40(1),
// 1998.
//
// Replaces the second half of real.h and of portable_math.h. One lane; in memory a real is two doubles.
// Values equal those of plain numbers up to rounding, because complex division rounds differently.
#ifndef HOPSCOTCH_DUAL_H
#define HOPSCOTCH_DUAL_H

#ifndef HOPSCOTCH_DUAL
#define HOPSCOTCH_DUAL
#endif
#include "real.h"
#include "sim.h"

#include <complex.h>
#include <math.h>
#undef I // code may use the name

#define LANES 1
#define REAL_DOUBLES 2
#define MASK(comparison) (-(mask)(comparison))
#define DUAL_UNIT 0x1p-300 // the imaginary part of the derivative 1
typedef double complex real;
typedef int32_t mask; // 0 or -1

// x + i y. Not every compiler has CMPLX, and x + y * I loses infinities.
HD real dual_of_components(double x, double y)
{
    const double components[2] = {x, y};
    real z;
    memcpy(&z, components, sizeof z);
    return z;
}
HD double value_of(real x) { return creal(x); }
HD double slope_of(real x) { return cimag(x) / DUAL_UNIT; }
HD real dual(double x, double slope) { return dual_of_components(x, slope * DUAL_UNIT); }
// f(x) with its derivative f'(x)
HD real dual_chain(double f, double slope, real x) { return dual_of_components(f, slope * cimag(x)); }
HD real constant_of(real x) { return dual_of_components(creal(x), 0.0); }
// the value of x with the derivative of y
HD real with_slope(real x, real y) { return dual_of_components(creal(x), cimag(y)); }
HD real splat(double x) { return dual_of_components(x, 0.0); }

// ---- comparisons: of the values -------------------------------------------------------------------------------------

HD mask no_lanes(void) { return 0; }
HD mask all_lanes(void) { return -1; }
HD bool any_lane(mask m) { return m != 0; }
HD mask first_lanes(int valid) { return MASK(valid > 0); }
HD bool lane_of_mask(mask m, int i) { return i == 0 && m != 0; }
HD mask not_empty(mask m) { return m; }
HD real select_real(mask m, real a, real b) { return m ? a : b; }
HD real greater_of(real a, real b) { return creal(a) > creal(b) ? a : b; }
HD real lesser_of(real a, real b) { return creal(a) < creal(b) ? a : b; }
HD real clamped(real x, real low, real high) { return lesser_of(greater_of(x, low), high); }
HD real absolute(real x) { return creal(x) < 0.0 ? -x : x; }
HD mask is_finite(real x) { return MASK(isfinite(creal(x))); }
HD real canonical(real x) { return x; }

// ---- functions ------------------------------------------------------------------------------------------------------

HD real fused(real a, real b, real c)
{
    const double slope = creal(a) * cimag(b) + cimag(a) * creal(b) + cimag(c);
    return dual_of_components(fma(creal(a), creal(b), creal(c)), slope);
}
// At 0, where it has no derivative, that of a constant.
HD real square_root(real x)
{
    const double root = sqrt(creal(x));
    return dual_chain(root, root > 0.0 ? 0.5 / root : 0.0, x);
}
HD real math_infinity(void) { return splat((double)INFINITY); }
HD real math_nan(void) { return splat((double)NAN); }
HD real math_pair(real x, double c0, double c1) { return c0 + c1 * x; }
HD real math_nearest(real x) { return splat(nearbyint(creal(x))); }
HD real exponential(real x) { return dual_chain(portable_exp(creal(x)), portable_exp(creal(x)), x); }
HD real logarithm(real x) { return dual_chain(portable_log(creal(x)), 1.0 / creal(x), x); }
HD void sine_cosine(real x, real *sine_x, real *cosine_x)
{
    const double s = portable_sin(creal(x)), c = portable_cos(creal(x));
    *sine_x = dual_chain(s, c, x);
    *cosine_x = dual_chain(c, -s, x);
}
HD real cosine(real x) { return dual_chain(portable_cos(creal(x)), -portable_sin(creal(x)), x); }
HD void sines_cosines(real x, real y, real *sine_x, real *cosine_x, real *sine_y, real *cosine_y)
{
    sine_cosine(x, sine_x, cosine_x);
    sine_cosine(y, sine_y, cosine_y);
}
HD real hyperbolic_tangent(real x)
{
    const double t = portable_tanh(creal(x));
    return dual_chain(t, 1.0 - t * t, x);
}
// Beyond its limits, a constant.
HD real arc_sine_limited(real x)
{
    const double s = creal(x), inside = 1.0 - s * s;
    if (!(inside > 0.0)) return splat(s > 0.0 ? portable_asin(1.0) : s < 0.0 ? -portable_asin(1.0) : s);
    return dual_chain(portable_asin(s), 1.0 / sqrt(inside), x);
}
// of a constant exponent
HD real power(real x, real y)
{
    const double p = creal(y), value = portable_pow(creal(x), p);
    return dual_chain(value, p * portable_pow(creal(x), p - 1.0), x);
}
HD real arc_tangent2(real y, real x)
{
    const double a = creal(y), b = creal(x), n = a * a + b * b;
    return dual_of_components(portable_atan2(a, b), n > 0.0 ? (b * cimag(y) - a * cimag(x)) / n : 0.0);
}
// sin(sqrt z)/sqrt z and cos(sqrt z)
HD void math_sinc_cosine_near(real z, real *sinc, real *cosine_x)
{
    const double root = sqrt(creal(z)), c = portable_cos(root), s = root > 1e-4 ? portable_sin(root) / root : 1.0;
    *sinc = dual_chain(s, root > 1e-4 ? (c - s) / (2.0 * creal(z)) : -1.0 / 6.0, z);
    *cosine_x = dual_chain(c, -0.5 * s, z);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

HD real load_all(const double *p) { return dual_of_components(p[0], p[1]); }
HD void store_all(double *p, real x)
{
    p[0] = creal(x);
    p[1] = cimag(x);
}
HD real load_lanes(const double *p, int valid)
{
    (void)valid;
    return load_all(p);
}
HD void store_lanes(double *p, real x, mask m, int valid)
{
    (void)valid;
    if (m) store_all(p, x);
}
HD double lane_of(real x, int i)
{
    (void)i;
    return creal(x);
}
HD void set_lane(real *x, int i, double value)
{
    (void)i;
    *x = splat(value);
}

#endif
