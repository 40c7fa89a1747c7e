// Runs of a lane with dual numbers (dual.h), compiled apart from the other kernels: sim/dual_kernels.cpp. They are the
// tangent of an Adjoint (sim.h), of configured->kernel: one of DUAL_KERNELS (models.h), or of a robot.
#ifndef HOPSCOTCH_DUAL_KERNELS_H
#define HOPSCOTCH_DUAL_KERNELS_H

#include "sim.h"

enum { DUAL_DIRECTIONS = 8 }; // that a run carries

// As the functions of an Adjoint.
typedef struct DualKernels {
    size_t (*bytes)(const Configured *configured);
    int (*tangent)(const Configured *configured, const double *parameter, const double *direction, int n, void *memory,
                   double *metric, double *slope, ResidualSeries *series, int n_series);
} DualKernels;

// The same bits. Only those of this processor are linked.
extern const DualKernels dual_kernels_v2, dual_kernels_v3, dual_kernels_neon;

// By the faster ones of this processor.
int dual_directions(const Configured *configured);
size_t dual_bytes(const Configured *configured);
int dual_tangent(const Configured *configured, const double *parameter, const double *direction, int n, void *memory,
                 double *metric, double *slope, ResidualSeries *series, int n_series);

#endif
