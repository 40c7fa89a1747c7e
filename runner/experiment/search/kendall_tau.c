// Kendall's rank correlation, with ties.
#include "kendall_tau.h"

#include <math.h>

int kendall_compare(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

double kendall_tau(const double *a, const double *b, int64_t count)
{
    double sum = 0.0, of_a = 0.0, of_b = 0.0;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < i; j++) {
            const int x = kendall_compare(a[i], a[j]), y = kendall_compare(b[i], b[j]);
            sum += x * y;
            of_a += x != 0;
            of_b += y != 0;
        }
    }
    return of_a > 0.0 && of_b > 0.0 ? sum / sqrt(of_a * of_b) : 0.0;
}
