// How promising a point is: the logarithms of the expected improvement and of the probability of feasibility.
//
// Source: S. Ament, S. Daulton, D. Eriksson, M. Balandat, E. Bakshy, "Unexpected Improvements to Expected Improvement
// for Bayesian Optimization", NeurIPS 2023, equation 9: with z = (best - mean)/deviation,
//     log EI = log h(z) + log(deviation),   h(z) = density(z) + z (1 - tail(z)),
// where log h is computed without underflow for any z. Feasibility: J. Gardner et al., "Bayesian Optimization with
// Inequality Constraints", ICML 2014: the probabilities that each constraint is met are multiplied.
#ifndef HOPSCOTCH_SEARCH_BAYESIAN_ACQUISITION_H
#define HOPSCOTCH_SEARCH_BAYESIAN_ACQUISITION_H

#include "process.h"

// log h(z) and its derivative. Relative error of h: 1e-11 for z >= -1000.
double log_improvement(double z, double *slope);
// The logarithm of the probability that a standard normal number is less than z, and its derivative.
double log_normal(double z, double *slope);

typedef struct Acquisition {
    int n;
    GaussianProcess *objective;       // factored; NULL: only feasibility counts
    double best;                      // of the objective
    GaussianProcess *const *feasible; // [n_feasible] factored; a point is feasible where each is below 0
    int n_feasible;
    double *room; // [4 n]
} Acquisition;

// The negative logarithm at x[n], to be minimised, and its gradient[n]; NULL: not wanted.
double acquisition_value(const Acquisition *acquisition, const double *x, double *gradient);

#endif
