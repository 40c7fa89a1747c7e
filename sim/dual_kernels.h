// Runs of a lane with dual numbers (real.h), compiled apart from the other kernels: sim/dual_kernels.c.
#ifndef HOPSCOTCH_DUAL_KERNELS_H
#define HOPSCOTCH_DUAL_KERNELS_H

#include "sim.h"

typedef struct DualKernels {
    size_t (*bytes)(const Configured *configured);
    int (*run)(const Configured *configured, const double *parameter, const double *direction, void *memory,
               double *metric, double *slope);
} DualKernels;

extern const DualKernels dual_articulated;

#endif
