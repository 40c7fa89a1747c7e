// The models' runs with dual numbers: the derivatives of metrics along directions of the parameters. Compiled apart
// from the other kernels, for two instruction sets that give the same bits.
#include "dual.h"

#include "models.h"
#include "tangent.h"

#include <assert.h>

#ifndef DUAL_KERNELS_OF
#define DUAL_KERNELS_OF dual_kernels_v2
#endif

// Behind the memory of the run those of a robot's differences from its recorded motion.
static size_t run_bytes(const Configured *configured)
{
    const bool robot = configured->kernel == KERNEL_articulated_tree;
    return tangent_bytes(configured) +
           (robot ? (size_t)articulated_recorded(configured) * REAL_DOUBLES * sizeof(double) : 0);
}

static int run_tangent(const Configured *configured, const double *parameter, const double *direction, int n,
                       void *memory, double *metric, double *slope, ResidualSeries *series, int n_series)
{
    double *residuals = (double *)((unsigned char *)memory + tangent_bytes(configured));
    int32_t status = LANE_RUNNING;
    memset(residuals, 0, run_bytes(configured) - tangent_bytes(configured));
    const LaneGroup group = tangent_group(configured, parameter, direction, n, (double *)memory, &status);
    switch (configured->kernel) {
    case KERNEL_articulated_tree: articulated_tangent(configured, &group, residuals, series, n_series); break;
#define DUAL_CASE(model, kernel)                                                                                       \
    case KERNEL_##model##_##kernel:                                                                                    \
        model##_##kernel(&configured->constants, configured->assets, &group, configured->meter != NULL);               \
        break;
        DUAL_KERNELS(DUAL_CASE)
    default: assert(false); // no other kernel has a tangent
    }
    tangent_take(configured, &group, n, metric, slope);
    return status - LANE_DONE;
}

extern "C" const DualKernels DUAL_KERNELS_OF = {run_bytes, run_tangent};
