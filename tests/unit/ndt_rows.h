// Invariants of every row of an alignment's debug numbers. Include it after HOPSCOTCH_SCALAR is defined.
#ifndef HOPSCOTCH_NDT_ROWS_H
#define HOPSCOTCH_NDT_ROWS_H

#include "../../sim/ndt/align.h"
#include "../test.h"

double ndt_greatest(const double *values, int n); // absolute value
// The row's step solves its own gradient and Hessian and leads uphill, its length is one that the method allows, the
// pose moves by it, and the score is one that this number of correspondences can give. d1: the mixture's (evaluate.h).
void ndt_check_row(const NdtMethod *method, double d1, const double *row);

#endif
