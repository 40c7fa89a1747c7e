// The limited-memory quasi-Newton core (BFGS): pairs of steps and changes of the gradient, the product of the
// approximate inverse Hessian with a vector, and a minimiser of a smooth function within bounds that uses both.
//
// Source: J. Nocedal, S. J. Wright, "Numerical Optimization", 2nd edition, Springer 2006: the two-loop recursion
// (algorithm 7.4) with gamma of equation 7.20.
#ifndef HOPSCOTCH_QUASI_NEWTON_H
#define HOPSCOTCH_QUASI_NEWTON_H

#include "../experiment.h"

enum { QUASI_NEWTON_MEMORY_MAX = 100 };

double quasi_newton_dot(const double *a, const double *b, int n);
// Puts the pair pair[2 n], s and behind it y, in front of pairs[memory][2 n], of which there are *count. False: s'y is
// too small for it (section 7.2).
bool quasi_newton_keep(double *pairs, int64_t *count, int64_t memory, const double *pair, int n);
// q[n] = H q over the coordinates with free[n] = 1; those with 0 are held. H begins as gamma times the identity. gamma
// 0: that of equation 7.20, s'y/y'y of the newest pair; without pairs q becomes 0 then.
void quasi_newton_multiply(const double *pairs, int64_t count, const double *free, double gamma, double *q, int n);
// The greatest s's/s'y of the pairs, over free coordinates: the inverse of the least curvature that they have seen. As
// gamma it makes long steps where no pair says anything, which a line shortens. 0: no pair has s'y > 0.
double quasi_newton_longest(const double *pairs, int64_t count, const double *free, int n);

// A function to minimise within low[n] <= x <= high[n]: its value at x, and its gradient[n].
typedef struct BoundedMinimum {
    int n, iterations; // iterations: at most
    double tolerance;  // of the projected gradient's greatest component, and of the value's relative change
    const double *low, *high;
    double (*value)(void *of, const double *x, double *gradient);
    void *of;
} BoundedMinimum;

// x[n] <- the best point found from x on; returns its value. Coordinates that the gradient holds at a bound stay there
// and points are projected (D. P. Bertsekas, SIAM J. Control and Optimization 20(2), 1982). room:
// [bounded_minimum_room(n)].
int64_t bounded_minimum_room(int n);
double bounded_minimum(const BoundedMinimum *problem, double *x, double *room);

#endif
