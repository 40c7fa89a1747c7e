// Sums of doubles without rounding: the order of the terms does not matter (exact_sum.c).
#ifndef HOPSCOTCH_EXACT_SUM_H
#define HOPSCOTCH_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

enum { EXACT_DIGITS = 67 };

// A fixed-point number with digits of 32 bits, each in a word of 64 bits: carries can wait. Zero bytes are 0.
typedef struct ExactSum {
    int64_t digits[EXACT_DIGITS]; // the first bit has the weight 2^-1075
    int64_t up, down;             // infinite terms
    int64_t waiting;              // terms since the carries were last done
} ExactSum;

void exact_add(ExactSum *sum, double x);                   // x is a number or infinite
void exact_add_product(ExactSum *sum, double x, double y); // exact unless x y is below 1e-290
void exact_add_sum(ExactSum *sum, ExactSum *other);        // does the carries of both
double exact_value(ExactSum *sum); // rounded to the nearest double; NaN: infinite terms of both signs

#endif
