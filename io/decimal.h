// Evenly spaced numbers, computed from decimals so that each is the double that a person would write.
#ifndef HOPSCOTCH_IO_DECIMAL_H
#define HOPSCOTCH_IO_DECIMAL_H

#include "../sim/sim.h"

// The double 0.1 is 0.1000000000000000055..., so three steps of 0.1 in binary arithmetic give 0.30000000000000004. Here
// a double stands for the shortest decimal that reads back as the same double, which is what a person wrote. Points are
// computed from these decimals, and each point is rounded once, to the double nearest to the exact value. So 0.3 is 0.3
// in all forms, and equal points of different forms are equal doubles.
__extension__ typedef __int128 DecimalWide;

// digits 10^exponent
typedef struct Decimal {
    int64_t digits;
    int exponent;
} Decimal;

Decimal decimal_of(double value); // the shortest decimal that reads back as `value`, which is finite
// The double nearest to value times / over, times and over > 0.
double decimal_scaled(Decimal value, int64_t times, int64_t over);

// Point i is (first + i step) / divisor 10^exponent. If this takes more than 36 digits, the divisor is 0 and point i is
// from + i span / steps in binary: such points are no short decimals.
typedef struct DecimalLine {
    DecimalWide first, step, divisor;
    int exponent;
    double from, span, steps;
} DecimalLine;

DecimalLine decimal_line(double start, double step, int64_t points);         // start + i step
DecimalLine decimal_line_between(double first, double last, int64_t points); // points >= 2
double decimal_line_at(const DecimalLine *line, int64_t i);                  // 0 <= i < points
// The number of steps from `start` that do not pass `greatest`; < 0 if `start` does. A billionth of a step beyond
// `greatest` counts as rounding: three steps of 0.33333333333333334 lead to 1.
double decimal_steps(double start, double greatest, double step);

// Evenly spaced in the logarithm: point i is first (last/first)^(i/(points - 1)). Computed in pairs of doubles (hi +
// lo) with a relative error below 2^-90, so a point is the nearest double unless it lies that close to the middle of
// two.
typedef struct DecimalCurve {
    double log_first[2], log_step[2];
} DecimalCurve;

DecimalCurve decimal_curve_between(double first, double last, int64_t points); // first, last > 0; points >= 2
double decimal_curve_at(const DecimalCurve *curve, int64_t i);                 // 0 <= i < points

#endif
