// real as a dual number: a value and its derivatives along DUAL_DIRECTIONS directions, with
//     (x, dx)(y, dy) = (xy, x dy + y dx).
// Models compiled with it carry the derivatives of everything that they compute. Derivatives along a direction do not
// depend on the other directions.
//
// Replaces the second half of real.h and of portable_math.h. One lane; in memory a real is its value, then its
// derivatives. C++ for its operators alone: the program needs none of its library.
#ifndef HOPSCOTCH_DUAL_H
#define HOPSCOTCH_DUAL_H

#ifndef HOPSCOTCH_DUAL
#define HOPSCOTCH_DUAL
#endif
#include "real.h"

#include <math.h>

extern "C" {
#include "dual_kernels.h"
}

#define LANES 1
enum { REAL_DOUBLES = 1 + DUAL_DIRECTIONS }; // the value, then the derivatives
#define MASK(comparison) (-(mask)(comparison))
typedef int32_t mask; // 0 or -1

// Sanitizers check each reference: inlined, that takes minutes to compile.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DUAL_INLINE
#else
#define DUAL_INLINE always_inline,
#endif
#define DUAL static inline __attribute__((DUAL_INLINE unused))

// ---- derivatives along all directions -------------------------------------------------------------------------------

// Never passed by value, because not every processor has such registers.
typedef double FourSlopes __attribute__((vector_size(32)));
typedef struct Slopes {
    FourSlopes a, b;
} Slopes;

DUAL Slopes slopes(const FourSlopes &a, const FourSlopes &b)
{
    Slopes both;
    both.a = a;
    both.b = b;
    return both;
}
DUAL Slopes operator+(const Slopes &x, const Slopes &y) { return slopes(x.a + y.a, x.b + y.b); }
DUAL Slopes operator-(const Slopes &x, const Slopes &y) { return slopes(x.a - y.a, x.b - y.b); }
DUAL Slopes operator-(const Slopes &x) { return slopes(-x.a, -x.b); }
DUAL Slopes operator*(double a, const Slopes &x) { return slopes(a * x.a, a * x.b); }
DUAL Slopes operator/(const Slopes &x, double a) { return slopes(x.a / a, x.b / a); }

// ---- numbers --------------------------------------------------------------------------------------------------------

struct real {
    double x;
    Slopes dx;
    real() = default;
    __attribute__((DUAL_INLINE unused)) real(double value) : x(value), dx() {}
    __attribute__((DUAL_INLINE unused)) real(double value, const Slopes &slopes) : x(value), dx(slopes) {}
};

DUAL real operator+(const real &a, const real &b) { return real(a.x + b.x, a.dx + b.dx); }
DUAL real operator+(const real &a, double b) { return real(a.x + b, a.dx); }
DUAL real operator+(double a, const real &b) { return real(a + b.x, b.dx); }
DUAL real operator-(const real &a) { return real(-a.x, -a.dx); }
DUAL real operator-(const real &a, const real &b) { return real(a.x - b.x, a.dx - b.dx); }
DUAL real operator-(const real &a, double b) { return real(a.x - b, a.dx); }
DUAL real operator-(double a, const real &b) { return real(a - b.x, -b.dx); }
DUAL real operator*(const real &a, const real &b) { return real(a.x * b.x, a.x * b.dx + b.x * a.dx); }
DUAL real operator*(const real &a, double b) { return real(a.x * b, b * a.dx); }
DUAL real operator*(double a, const real &b) { return real(a * b.x, a * b.dx); }
DUAL real operator/(const real &a, const real &b)
{
    const double ratio = a.x / b.x;
    return real(ratio, (a.dx - ratio * b.dx) / b.x);
}
DUAL real operator/(const real &a, double b) { return real(a.x / b, a.dx / b); }
DUAL real operator/(double a, const real &b)
{
    const double ratio = a / b.x;
    return real(ratio, -(ratio / b.x) * b.dx);
}

DUAL double value_of(const real &x) { return x.x; }
DUAL real constant_of(const real &x) { return real(x.x); }
// the value of x with the derivatives of y
DUAL real with_slope(const real &x, const real &y) { return real(x.x, y.dx); }
// f(x) with its derivative f'(x)
DUAL real dual_chain(double f, double slope, const real &x) { return real(f, slope * x.dx); }
DUAL double splat(double x) { return x; }

// The derivative along direction k.
DUAL double slope_along(const real &x, int k) { return k < 4 ? x.dx.a[k] : x.dx.b[k - 4]; }
DUAL void set_slope_along(real *x, int k, double slope)
{
    if (k < 4)
        x->dx.a[k] = slope;
    else
        x->dx.b[k - 4] = slope;
}
// Of numbers with a single direction.
DUAL double slope_of(const real &x) { return slope_along(x, 0); }
DUAL real dual(double x, double slope)
{
    real z = x;
    set_slope_along(&z, 0, slope);
    return z;
}

// ---- comparisons: of the values -------------------------------------------------------------------------------------

HD mask no_lanes(void) { return 0; }
HD mask all_lanes(void) { return -1; }
HD bool any_lane(mask m) { return m != 0; }
HD mask first_lanes(int valid) { return MASK(valid > 0); }
HD bool lane_of_mask(mask m, int i) { return i == 0 && m != 0; }
HD mask not_empty(mask m) { return m; }
DUAL real select_real(mask m, const real &a, const real &b) { return m ? a : b; }
DUAL real greater_of(const real &a, const real &b) { return a.x > b.x ? a : b; }
DUAL real lesser_of(const real &a, const real &b) { return a.x < b.x ? a : b; }
DUAL real clamped(const real &x, const real &low, const real &high) { return lesser_of(greater_of(x, low), high); }
DUAL real absolute(const real &x) { return x.x < 0.0 ? -x : x; }
DUAL mask is_finite(const real &x) { return MASK(isfinite(x.x)); }
DUAL real canonical(const real &x) { return x; }

// ---- functions ------------------------------------------------------------------------------------------------------

DUAL double fused(double a, double b, double c) { return fma(a, b, c); }
DUAL real fused(double a, double b, const real &c) { return real(fma(a, b, c.x), c.dx); }
DUAL real fused(double a, const real &b, double c) { return real(fma(a, b.x, c), a * b.dx); }
DUAL real fused(const real &a, double b, double c) { return real(fma(a.x, b, c), b * a.dx); }
DUAL real fused(double a, const real &b, const real &c) { return real(fma(a, b.x, c.x), a * b.dx + c.dx); }
DUAL real fused(const real &a, double b, const real &c) { return real(fma(a.x, b, c.x), b * a.dx + c.dx); }
DUAL real fused(const real &a, const real &b, double c) { return real(fma(a.x, b.x, c), a.x * b.dx + b.x * a.dx); }
DUAL real fused(const real &a, const real &b, const real &c)
{
    return real(fma(a.x, b.x, c.x), a.x * b.dx + b.x * a.dx + c.dx);
}
// At 0, where it has no derivative, that of a constant.
HD real square_root(const real &x)
{
    const double root = sqrt(x.x);
    return dual_chain(root, root > 0.0 ? 0.5 / root : 0.0, x);
}
HD double math_infinity(void) { return (double)INFINITY; }
HD double math_nan(void) { return (double)NAN; }
HD real math_pair(const real &x, double c0, double c1) { return c0 + c1 * x; }
HD real math_nearest(const real &x) { return splat(nearbyint(x.x)); }
HD real exponential(const real &x) { return dual_chain(portable_exp(x.x), portable_exp(x.x), x); }
HD real logarithm(const real &x) { return dual_chain(portable_log(x.x), 1.0 / x.x, x); }
HD void sine_cosine(const real &x, real *sine_x, real *cosine_x)
{
    const double s = portable_sin(x.x), c = portable_cos(x.x);
    *sine_x = dual_chain(s, c, x);
    *cosine_x = dual_chain(c, -s, x);
}
HD real cosine(const real &x) { return dual_chain(portable_cos(x.x), -portable_sin(x.x), x); }
HD void sines_cosines(const real &x, const real &y, real *sine_x, real *cosine_x, real *sine_y, real *cosine_y)
{
    sine_cosine(x, sine_x, cosine_x);
    sine_cosine(y, sine_y, cosine_y);
}
HD real hyperbolic_tangent(const real &x)
{
    const double t = portable_tanh(x.x);
    return dual_chain(t, 1.0 - t * t, x);
}
// Beyond its limits, a constant.
HD real arc_sine_limited(const real &x)
{
    const double s = x.x, inside = 1.0 - s * s;
    if (!(inside > 0.0)) return splat(s > 0.0 ? portable_asin(1.0) : s < 0.0 ? -portable_asin(1.0) : s);
    return dual_chain(portable_asin(s), 1.0 / sqrt(inside), x);
}
// of a constant exponent
HD real power(const real &x, const real &y)
{
    const double p = y.x, value = portable_pow(x.x, p);
    return dual_chain(value, p * portable_pow(x.x, p - 1.0), x);
}
HD real arc_tangent2(const real &y, const real &x)
{
    const double a = y.x, b = x.x, n = a * a + b * b;
    return real(portable_atan2(a, b), n > 0.0 ? (b * y.dx - a * x.dx) / n : Slopes());
}
// sin(sqrt z)/sqrt z and cos(sqrt z)
HD void math_sinc_cosine_near(const real &z, real *sinc, real *cosine_x)
{
    const double root = sqrt(z.x), c = portable_cos(root), s = root > 1e-4 ? portable_sin(root) / root : 1.0;
    *sinc = dual_chain(s, root > 1e-4 ? (c - s) / (2.0 * z.x) : -1.0 / 6.0, z);
    *cosine_x = dual_chain(c, -0.5 * s, z);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

DUAL real load_all(const double *p)
{
    real x;
    x.x = *p;
    memcpy(&x.dx, p + 1, sizeof x.dx);
    return x;
}
DUAL void store_all(double *p, const real &x)
{
    *p = x.x;
    memcpy(p + 1, &x.dx, sizeof x.dx);
}
HD real load_lanes(const double *p, int valid)
{
    (void)valid;
    return load_all(p);
}
HD void store_lanes(double *p, const real &x, mask m, int valid)
{
    (void)valid;
    if (m) store_all(p, x);
}
HD double lane_of(const real &x, int i)
{
    (void)i;
    return x.x;
}
HD void set_lane(real *x, int i, double value)
{
    (void)i;
    *x = splat(value);
}

#endif
