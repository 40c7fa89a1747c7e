// Intervals and tests for comparing gaits: what `verify` and `compare` print. All at 95 %.
#ifndef HOPSCOTCH_STATISTICS_H
#define HOPSCOTCH_STATISTICS_H

#include "../../runner.h"

typedef struct Interval {
    double value, low, high; // NaN: there are too few values to say
} Interval;

// A rate from `successes` of `n` trials. n = 0: NaN.
Interval interval_of_rate(int64_t successes, int64_t n);
// The mean of value[n]. n = 1: no bounds.
Interval interval_of_mean(const double *value, int64_t n);
// The q-quantile of value[n], sorted ascending; q = 0.5: the median. No bounds where n is too small for 95 %.
Interval interval_of_quantile(const double *value, int64_t n, double q);
int statistics_ascending(const void *left, const void *right); // of doubles, for qsort; infinities are values

// Whether b tends to be less than a. Infinities are ranks like others: what failed is above all that did not.
typedef struct RankTest {
    double u;        // pairs in which b is less than a, ties as a half
    double p;        // two-sided
    double superior; // u / (n_a n_b): the chance that b is less than a (Vargha and Delaney's A); 0.5: no difference
    bool exact;      // p counts all orders; else by the normal distribution, with ties corrected
} RankTest;
RankTest rank_test(const double *a, int64_t n_a, const double *b, int64_t n_b, Arena *arena);

#endif
