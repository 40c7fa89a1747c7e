// Evenly spaced numbers, as decimals.
#ifndef HOPSCOTCH_IO_DECIMAL_H
#define HOPSCOTCH_IO_DECIMAL_H

#include "../sim/sim.h"

// Numbers as people mean them. 0.1 as a double is 0.1000000000000000055..., so 3 steps of it in binary
// arithmetic are 0.30000000000000004. Here a double stands for the shortest decimal that reads back as it, which is
// what somebody wrote; points are computed from these decimals, and each is rounded once: it is the double nearest to
// the exact value. So 0.3 is 0.3 in all forms, nothing is snapped to a value that was not meant, and equal points of
// different forms are equal doubles.
__extension__ typedef __int128 DecimalWide;

// digits 10^exponent
typedef struct Decimal {
    int64_t digits;
    int exponent;
} Decimal;

Decimal decimal_of(double value); // finite; the shortest that reads back
// The double nearest to value times / over, times and over > 0.
double decimal_scaled(Decimal value, int64_t times, int64_t over);

// Point i is (first + i step) / divisor 10^exponent. If that takes more than 36 digits (such a point is no short
// decimal), divisor is 0, and points are from + i span / parts in binary.
typedef struct DecimalLine {
    DecimalWide first, step, divisor;
    int exponent;
    double from, span, parts;
} DecimalLine;

DecimalLine decimal_line(double start, double step, int64_t points);         // start + i step
DecimalLine decimal_line_between(double first, double last, int64_t points); // points >= 2
double decimal_line_at(const DecimalLine *line, int64_t i);                  // 0 <= i < points
// How many steps lead from start to at most `greatest`. A billionth of a step more is rounding: three steps of
// 0.33333333333333334 lead to 1.
double decimal_steps(double start, double greatest, double step); // < 0: start is above

// Evenly spaced in the logarithm: point i is first (last/first)^(i/(points - 1)). In pairs of doubles (hi + lo), which
// have an error below 2^-90, so a point is the nearest double unless it lies that close to the middle of two.
typedef struct DecimalCurve {
    double log_first[2], log_step[2];
} DecimalCurve;

DecimalCurve decimal_curve_between(double first, double last, int64_t points); // first, last > 0; points >= 2
double decimal_curve_at(const DecimalCurve *curve, int64_t i);

#endif
