// The memory and the steps of kernels that compute adjoints. sim.h has the interface for others (Adjoint).
#ifndef HOPSCOTCH_ADJOINT_H
#define HOPSCOTCH_ADJOINT_H

#include "sim.h"

// The memory of a lane, in doubles, and the steps of a segment of its run. In memory are all states of one segment, and
// the first state of every segment.
typedef struct AdjointPlan {
    int n_parameters, n_metrics;
    int64_t segment;
    int64_t cells, state, firsts, residuals;
    int64_t metered, controlled; // of the user's own metrics and control law, on a CPU
} AdjointPlan;

// The work of a launch on a GPU: the steps [first, end) of one segment, forward or backward, for all lanes.
typedef struct AdjointSlice {
    AdjointPlan plan;
    Batch batch; // work: of the plan, in chunks of LANES_TOGETHER lanes. status: failures; 0: none
    int64_t first, end;
    const double *weight;      // [n_metrics][lanes]
    double *gradient, *growth; // [n_parameters][lanes], [lanes]
} AdjointSlice;

#endif
