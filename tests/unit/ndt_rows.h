// Invariants of every row of an alignment's debug numbers. Include it after HOPSCOTCH_SCALAR is defined.
#ifndef HOPSCOTCH_NDT_ROWS_H
#define HOPSCOTCH_NDT_ROWS_H

#include "../../sim/ndt/align.h"
#include "../test.h"

double ndt_greatest(const double *values, int n); // absolute value
// Checks that the row's step solves its own gradient and Hessian and goes uphill, that the method allows its length,
// that the pose moves by it, and that the score is possible for this number of correspondences. d1: the mixture's
// (evaluate.h).
void ndt_check_row(const NdtMethod *method, double d1, const double *row);

#endif
