// Tables of numbers, as codes of tapes (tape_code.h) look values up in them: of one argument or two, or of time. A
// table is a row of doubles (lookup.c): its head, the arguments, those of the second one, then the values, and the
// slopes of a cubic one. Intervals are found by bisection, of at most LOOKUP_BISECTIONS steps; a signal knows its row.
#ifndef HOPSCOTCH_LOOKUP_H
#define HOPSCOTCH_LOOKUP_H

#include "portable_math.h"
#include "tape.h"

// The head: whole numbers, kept as their bits.
enum {
    LOOKUP_BETWEEN, // a LookupBetween
    LOOKUP_BEYOND,  // 1: extended behind its ends, 0: held there
    LOOKUP_FIRST,   // arguments
    LOOKUP_SECOND,  // those of the second argument; 0: there is none
    LOOKUP_HEAD
};
enum { LOOKUP_BISECTIONS = 32 };

// What the head says. Made kernels know it when they are compiled.
typedef struct LookupShape {
    int between, beyond, first, second;
} LookupShape;

// A number in the head.
HD int lookup_integer(const double *table, int member) { return (int)integer_at(table + member); }

HD LookupShape lookup_shape(int between, int beyond, int first, int second)
{
    const LookupShape shape = {between, beyond, first, second};
    return shape;
}
HD LookupShape lookup_shape_of(const double *table)
{
    return lookup_shape(lookup_integer(table, LOOKUP_BETWEEN), lookup_integer(table, LOOKUP_BEYOND),
                        lookup_integer(table, LOOKUP_FIRST), lookup_integer(table, LOOKUP_SECOND));
}

// The k <= n - 2 with at[k] <= x < at[k + 1]; the first behind the ends and for NaN, or the last. n = 1: 0.
HD int lookup_interval(const double *at, int n, double x)
{
    int low = 0, high = n - 1;
    for (int step = 0; step < LOOKUP_BISECTIONS && high - low > 1; step++) {
        const int middle = low + (high - low) / 2;
        if (x >= at[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Where lanes stand among the arguments at[n]: index of an interval, its ends, and x, which may be held within the
// table.
typedef struct LookupPlace {
    int k[LANES];
    real from, to, x;
    mask beyond; // x was held
} LookupPlace;

HD LookupPlace lookup_place(const double *at, int n, real x, bool extends)
{
    LookupPlace place;
    place.beyond = extends ? no_lanes() : MASK(x < at[0]) | MASK(x > at[n - 1]);
    place.x = extends ? x : clamped(x, splat(at[0]), splat(at[n - 1]));
    place.from = place.to = splat(0.0);
    for (int i = 0; i < LANES; i++) {
        const int k = lookup_interval(at, n, lane_of(place.x, i));
        place.k[i] = k;
        set_lane(&place.from, i, at[k]);
        set_lane(&place.to, i, at[k + 1]);
    }
    return place;
}

// numbers[stride k + offset] of each lane
HD real lookup_pick(const double *numbers, const LookupPlace *place, int offset)
{
    real value = splat(0.0);
    for (int i = 0; i < LANES; i++) set_lane(&value, i, numbers[place->k[i] + offset]);
    return value;
}

// (1 - w) a + w b: a at w = 0 and b at w = 1, exactly
HD real lookup_mix(real w, real a, real b) { return fused(w, b, fused(-w, a, a)); }

HD real lookup_weight(const LookupPlace *place) { return (place->x - place->from) / (place->to - place->from); }

HD real lookup_linear(const double *values, const LookupPlace *place, LookupWhat what)
{
    const real a = lookup_pick(values, place, 0), b = lookup_pick(values, place, 1);
    if (what == LOOKUP_VALUE) return lookup_mix(lookup_weight(place), a, b);
    if (what == LOOKUP_BEND) return splat(0.0);
    return select_real(place->beyond, splat(0.0), (b - a) / (place->to - place->from));
}

// The value of the last argument that is not greater than x.
HD real lookup_held(const double *at, const double *values, int n, real x)
{
    real value = splat(0.0);
    for (int i = 0; i < LANES; i++) {
        const double argument = lane_of(x, i);
        const int k = lookup_interval(at, n, argument);
        set_lane(&value, i, values[n > 1 && argument >= at[k + 1] ? k + 1 : k]);
    }
    return value;
}

// Cubics of Hermite with the slopes of lookup.c; beyond the ends, if it extends, the tangent there.
HD real lookup_cubic(const double *at, const double *values, int n, real x, bool extends, LookupWhat what)
{
    const double *slopes = values + n;
    LookupPlace place = lookup_place(at, n, x, false);
    const mask outside = place.beyond;
    if (extends) place.beyond = no_lanes();
    const real h = place.to - place.from, u = place.x - place.from, a = lookup_pick(values, &place, 0),
               b = lookup_pick(values, &place, 1), from = lookup_pick(slopes, &place, 0),
               to = lookup_pick(slopes, &place, 1), mean = (b - a) / h;
    const real second = (3.0 * mean - 2.0 * from - to) / h, third = (from + to - 2.0 * mean) / (h * h);
    const real slope = fused(u, fused(u, 3.0 * third, 2.0 * second), from);
    if (what == LOOKUP_BEND) return select_real(outside, splat(0.0), fused(u, 6.0 * third, 2.0 * second));
    if (what != LOOKUP_VALUE) return select_real(place.beyond, splat(0.0), slope);
    const real inside = fused(u, fused(u, fused(u, third, second), from), a);
    const real value = select_real(MASK(place.x == place.to), b, inside);
    return extends ? fused(x - place.x, slope, value) : value;
}

// Linear in either argument. values[first][second]
HD real lookup_bilinear(const double *at, const double *across, const double *values, int n, int m, real x, real y,
                        bool extends, LookupWhat what)
{
    const LookupPlace first = lookup_place(at, n, x, extends), second = lookup_place(across, m, y, extends);
    const real w = lookup_weight(&first), v = lookup_weight(&second);
    LookupPlace corner = first;
    for (int i = 0; i < LANES; i++) corner.k[i] = first.k[i] * m + second.k[i];
    const real a = lookup_pick(values, &corner, 0), b = lookup_pick(values, &corner, 1),
               c = lookup_pick(values, &corner, m), d = lookup_pick(values, &corner, m + 1);
    if (what == LOOKUP_BY_FIRST)
        return select_real(first.beyond, splat(0.0), lookup_mix(v, c - a, d - b) / (first.to - first.from));
    if (what == LOOKUP_BY_SECOND)
        return select_real(second.beyond, splat(0.0), lookup_mix(w, b - a, d - c) / (second.to - second.from));
    if (what == LOOKUP_BEND)
        return select_real(first.beyond | second.beyond, splat(0.0),
                           ((d - c) - (b - a)) / ((first.to - first.from) * (second.to - second.from)));
    return lookup_mix(w, lookup_mix(v, a, b), lookup_mix(v, c, d));
}

// In a made kernel, whose codes stand in many places, a lookup is called: inlined, it would compile for a minute.
#if defined(HOPSCOTCH_MADE)
#define LOOKUP_CALL HD_RARE
#else
#define LOOKUP_CALL HD_CALL
#endif

// Of a table at x, and y if it has two arguments. NaN where one is NaN.
LOOKUP_CALL real lookup_value(const double *table, LookupShape shape, real x, real y, LookupWhat what)
{
    const int n = shape.first, m = shape.second;
    const bool extends = shape.beyond != 0;
    const double *at = table + LOOKUP_HEAD, *values = at + n + m;
    const mask unknown = MASK(x != x) | (m > 0 ? MASK(y != y) : no_lanes());
    real value = splat(0.0);
    if (m > 0) {
        value = lookup_bilinear(at, at + n, values, n, m, x, y, extends, what);
    } else if (shape.between == LOOKUP_CUBIC) {
        value = lookup_cubic(at, values, n, x, extends, what);
    } else if (shape.between == LOOKUP_LINEAR) {
        const LookupPlace place = lookup_place(at, n, x, extends);
        value = lookup_linear(values, &place, what);
    } else if (what == LOOKUP_VALUE) {
        value = lookup_held(at, values, n, x);
    }
    return select_real(unknown, math_nan(), value);
}

// ---- signals --------------------------------------------------------------------------------------------------------
// A table of time whose row is known: steps end at its rows, so that no step sees two of them. Row -1: before the
// first.

// Row k of n within the table, and whether it is one.
HD int lookup_row(double row, int n, bool *inside)
{
    *inside = row >= 0.0 && row < (double)n;
    return *inside ? (int)row : row < 0.0 ? 0 : n - 1;
}

LOOKUP_CALL real lookup_signal(const double *table, LookupShape shape, real time, real row, LookupWhat what)
{
    const int n = shape.first;
    const bool linear = shape.between == LOOKUP_LINEAR;
    const double *at = table + LOOKUP_HEAD, *values = at + n;
    real value = splat(0.0), slope = splat(0.0), from = time;
    for (int i = 0; i < LANES; i++) {
        bool inside;
        const int k = lookup_row(lane_of(row, i), n, &inside);
        set_lane(&value, i, values[k]);
        if (!linear || !inside || k == n - 1) continue;
        set_lane(&slope, i, (values[k + 1] - values[k]) / (at[k + 1] - at[k]));
        set_lane(&from, i, at[k]);
    }
    return what == LOOKUP_VALUE ? fused(time - from, slope, value) : slope;
}

// The instant of the row behind `row`; infinite: there is none.
LOOKUP_CALL real lookup_next_row(const double *table, real row)
{
    const int n = lookup_integer(table, LOOKUP_FIRST);
    real next = splat(1e300);
    for (int i = 0; i < LANES; i++) {
        const double k = lane_of(row, i) + 1.0;
        if (k >= 0.0 && k < (double)n) set_lane(&next, i, table[LOOKUP_HEAD + (int)k]);
    }
    return next;
}

#endif
