// Runs of a lane of `equations` for its derivatives: sim/trail_kernels.c.
#ifndef HOPSCOTCH_TRAIL_KERNELS_H
#define HOPSCOTCH_TRAIL_KERNELS_H

#include "sim.h"

// As the functions of an Adjoint, for one lane.
typedef struct TrailKernels {
    size_t (*bytes)(const Configured *configured, size_t most);
    bool (*run)(const Configured *configured, const AdjointLanes *lanes, void *memory);
    bool (*back)(void *memory, const double *weight, double *gradient, double *growth);
    const char *(*trouble)(const void *memory, double *time);
    size_t (*tangent_bytes)(const Configured *configured);
    int (*tangent)(const Configured *configured, const double *parameter, const double *direction, void *memory,
                   double *metric, double *slope, ResidualSeries *series, int n_series);
} TrailKernels;

// The same bits. Only those of this processor are linked.
extern const TrailKernels trail_kernels_v2, trail_kernels_v3, trail_kernels_neon;

const TrailKernels *cpu_trail_kernels(void); // the faster ones of this processor

#endif
