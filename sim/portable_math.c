// The elementary functions of portable_math.h on doubles, for the host. One number needs one lane. Lanes are
// independent, so lane 0 gives the same bits for any LANES of the translation unit.
#if !defined(HOPSCOTCH_REAL_H) && !defined(HOPSCOTCH_SCALAR)
#define HOPSCOTCH_SCALAR
#endif
#include "portable_math.h"
#include "sim.h"

double portable_sin(double x) { return lane_of(canonical(sine(splat(x))), 0); }
double portable_cos(double x) { return lane_of(canonical(cosine(splat(x))), 0); }
double portable_tan(double x) { return lane_of(canonical(tangent(splat(x))), 0); }
double portable_asin(double x) { return lane_of(canonical(arc_sine(splat(x))), 0); }
double portable_acos(double x) { return lane_of(canonical(arc_cosine(splat(x))), 0); }
double portable_atan(double x) { return lane_of(canonical(arc_tangent(splat(x))), 0); }
double portable_atan2(double y, double x) { return lane_of(canonical(arc_tangent2(splat(y), splat(x))), 0); }
double portable_exp(double x) { return lane_of(canonical(exponential(splat(x))), 0); }
double portable_log(double x) { return lane_of(canonical(logarithm(splat(x))), 0); }
double portable_sinh(double x) { return lane_of(canonical(hyperbolic_sine(splat(x))), 0); }
double portable_cosh(double x) { return lane_of(canonical(hyperbolic_cosine(splat(x))), 0); }
double portable_tanh(double x) { return lane_of(canonical(hyperbolic_tangent(splat(x))), 0); }
double portable_pow(double x, double y) { return lane_of(canonical(power(splat(x), splat(y))), 0); }
double portable_floor(double x) { return lane_of(canonical(rounded_down(splat(x))), 0); }
double portable_ceil(double x) { return lane_of(canonical(rounded_up(splat(x))), 0); }
double portable_mod(double x, double y) { return lane_of(canonical(floored_remainder(splat(x), splat(y))), 0); }
double portable_hypot(double x, double y) { return lane_of(canonical(hypotenuse(splat(x), splat(y))), 0); }
