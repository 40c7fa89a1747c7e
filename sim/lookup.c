// Tables (lookup.h) from their numbers.
#include "lookup.h"

#include <math.h>
#include <string.h>

// The slope at an end from the two pieces beside it, of lengths h and slopes d: of the parabola through the three
// points, but never against the first piece, nor steep enough to leave its values.
static double lookup_end_slope(double h0, double h1, double d0, double d1)
{
    const double slope = ((2.0 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (!(slope * d0 > 0.0)) return 0.0;
    return d0 * d1 < 0.0 && fabs(slope) > 3.0 * fabs(d0) ? 3.0 * d0 : slope;
}

// Inside: the harmonic mean of the slopes beside, weighted by lengths; 0 at an extremum.
static void lookup_cubic_slopes(const double *at, const double *values, int n, double *slopes)
{
    if (n == 2) {
        slopes[0] = slopes[1] = (values[1] - values[0]) / (at[1] - at[0]);
        return;
    }
    for (int k = 1; k < n - 1; k++) {
        const double h0 = at[k] - at[k - 1], h1 = at[k + 1] - at[k], d0 = (values[k] - values[k - 1]) / h0,
                     d1 = (values[k + 1] - values[k]) / h1, w0 = 2.0 * h1 + h0, w1 = h1 + 2.0 * h0;
        slopes[k] = d0 * d1 > 0.0 ? (w0 + w1) / (w0 / d0 + w1 / d1) : 0.0;
        if (k == 1) slopes[0] = lookup_end_slope(h0, h1, d0, d1);
        if (k == n - 2) slopes[n - 1] = lookup_end_slope(h1, h0, d1, d0);
    }
}

const TapeTable *lookup_table(LookupBetween between, bool extends, const double *at, int first, const double *across,
                              int second, const double *values, Arena *arena)
{
    const int64_t n_values = (int64_t)first * (second > 0 ? second : 1),
                  count = LOOKUP_HEAD + first + second + n_values + (between == LOOKUP_CUBIC ? first : 0);
    TapeTable *table = ARENA_NEW(arena, TapeTable, 1);
    double *row = ARENA_NEW(arena, double, count), *to = row + LOOKUP_HEAD;
    const int64_t head[LOOKUP_HEAD] = {between, extends, first, second};
    memcpy(row, head, sizeof head);
    memcpy(to, at, (size_t)first * sizeof *to);
    if (second > 0) memcpy(to + first, across, (size_t)second * sizeof *to);
    memcpy(to + first + second, values, (size_t)n_values * sizeof *to);
    if (between == LOOKUP_CUBIC) lookup_cubic_slopes(at, values, first, to + first + n_values);
    *table = (TapeTable){between, extends, first, second, row, count};
    return table;
}

const double *lookup_arguments(const TapeTable *table) { return table->row + LOOKUP_HEAD; }

int lookup_row_at(const TapeTable *table, double t)
{
    const double *at = lookup_arguments(table);
    const int n = table->first, k = lookup_interval(at, n, t);
    return t < at[0] ? -1 : n > 1 && t >= at[k + 1] ? k + 1 : k;
}
