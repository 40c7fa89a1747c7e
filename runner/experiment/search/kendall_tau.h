// Kendall's rank correlation.
#ifndef HOPSCOTCH_KENDALL_TAU_H
#define HOPSCOTCH_KENDALL_TAU_H

#include <stdint.h>

// The order of two numbers: -1, 0 or 1. NaN is greater than all numbers, and equal to NaN.
int kendall_compare(double a, double b);
// tau-b of a[count] and b[count] (Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945); 0: all of
// one of them are equal. O(count^2).
double kendall_tau(const double *a, const double *b, int64_t count);

#endif
