// Runs of a lane with dual numbers (real.h), compiled apart from the other kernels: sim/dual_kernels.c. They are the
// tangent of an Adjoint (sim.h), of configured->kernel: one of DUAL_KERNELS (models.h), or of a robot.
#ifndef HOPSCOTCH_DUAL_KERNELS_H
#define HOPSCOTCH_DUAL_KERNELS_H

#include "sim.h"

size_t dual_bytes(const Configured *configured);
int dual_tangent(const Configured *configured, const double *parameter, const double *direction, void *memory,
                 double *metric, double *slope, ResidualSeries *series, int n_series);

#endif
