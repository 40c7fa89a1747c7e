// A Gaussian process: a constant mean, the Matern 5/2 kernel with a length per axis, and noise.
//
// Source: C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press 2006 (GPML):
// algorithm 2.1, equations 4.17, 5.8 and 5.9. Symbols: N points x in [0, 1]^n with outputs y; lengths l, amplitude A (a
// variance), nugget t (a variance), known noise v of each point;
//     k(x, x') = A (1 + s + s^2/3) exp(-s),   s = sqrt(5 sum_a ((x_a - x'_a)/l_a)^2),   K = k(X, X) + diag(t + v).
// Of an axis whose values are words only equality counts: the difference of two words is 1. The mean m is the one of
// greatest likelihood, 1'K^-1 y / 1'K^-1 1.
//
// K = L L' is computed row by row, and each sum in one order. So points that are added give the same bits as if L were
// computed anew.
#ifndef HOPSCOTCH_SEARCH_BAYESIAN_PROCESS_H
#define HOPSCOTCH_SEARCH_BAYESIAN_PROCESS_H

#include "../../experiment.h"

typedef struct GaussianProcess {
    int n;
    int64_t capacity; // of points
    const bool *word; // [n] values of the axis are words
    // set by the user; after a change of what belongs to points that were factored, `factored` is set back
    int64_t count;
    double *x;         // [n][capacity]
    double *y, *noise; // [capacity]; noise: v
    double *length;    // [n]
    double amplitude, nugget;
    // computed
    int64_t factored; // rows of L
    double mean;
    double *L;     // rows 0, 1, ...; row i has i + 1 numbers
    double *alpha; // [capacity] K^-1 (y - m)
    double *room;  // [4][capacity]
} GaussianProcess;

// Memory for `capacity` points.
size_t process_bytes(int n, int64_t capacity);
GaussianProcess process_take(int n, int64_t capacity, const bool *word, Arena *arena);
void process_add(GaussianProcess *process, const double *x, double y, double noise); // x[n]
// L of the rows that are not factored yet, mean and alpha.
void process_factor(GaussianProcess *process);
// The posterior of the noise-free function at x[n], of a process that is factored: mean and variance (> 0). Slopes [n]
// may be NULL; of words they are 0.
void process_predict(const GaussianProcess *process, const double *x, double *mean, double *variance,
                     double *mean_slope, double *variance_slope);
// The posterior mean at point i.
double process_mean_at(const GaussianProcess *process, int64_t i);
// The log marginal likelihood with this mean, and its gradient[n + 2] with respect to the logarithms of the lengths, of
// the amplitude and of the nugget. Factors the process. square[2][count * count] is room; NULL: no gradient.
double process_evidence(GaussianProcess *process, double *gradient, double *square);

#endif
