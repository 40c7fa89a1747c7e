// How the kernels that go back through lanes share a lane's memory and time. sim.h has what others use (Adjoint).
#ifndef HOPSCOTCH_ADJOINT_H
#define HOPSCOTCH_ADJOINT_H

#include "sim.h"

// The memory of a lane, in doubles, and the steps of a segment of its run: only the states of one segment are in memory
// at once, and the first of each.
typedef struct AdjointPlan {
    int n_parameters, n_metrics;
    int64_t segment;
    int64_t cells, state, firsts, residuals;
} AdjointPlan;

// What the threads of a GPU do at once: steps [first, end) of lanes, forward, or back with end > first, of one segment.
typedef struct AdjointSlice {
    AdjointPlan plan;
    Batch batch; // work: of the plan, in blocks of LANES_TOGETHER lanes. status: failures; 0: none
    int64_t first, end;
    const double *weight;      // [n_metrics][lanes]
    double *gradient, *growth; // [n_parameters][lanes], [lanes]
} AdjointSlice;

#endif
