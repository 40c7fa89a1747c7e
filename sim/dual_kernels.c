// The models' runs with dual numbers: the derivatives of metrics along a direction of the parameters.
#define HOPSCOTCH_DUAL
#include "dual_kernels.h"

#include "models.h"
#include "tangent.h"

#include <assert.h>

// Behind the memory of the run those of a robot's differences from its recorded motion.
size_t dual_bytes(const Configured *configured)
{
    const bool robot = configured->kernel == KERNEL_articulated_tree;
    return tangent_bytes(configured) +
           (robot ? (size_t)articulated_recorded(configured) * REAL_DOUBLES * sizeof(double) : 0);
}

int dual_tangent(const Configured *configured, const double *parameter, const double *direction, void *memory,
                 double *metric, double *slope, ResidualSeries *series, int n_series)
{
    double *residuals = (double *)((unsigned char *)memory + tangent_bytes(configured));
    int32_t status = LANE_RUNNING;
    memset(residuals, 0, dual_bytes(configured) - tangent_bytes(configured));
    const LaneGroup group = tangent_group(configured, parameter, direction, memory, &status);
    switch (configured->kernel) {
    case KERNEL_articulated_tree: articulated_tangent(configured, &group, residuals, series, n_series); break;
#define DUAL_CASE(model, kernel)                                                                                       \
    case KERNEL_##model##_##kernel:                                                                                    \
        model##_##kernel(&configured->constants, configured->assets, &group, configured->meter != NULL);               \
        break;
        DUAL_KERNELS(DUAL_CASE)
    default: assert(false); // no other kernel has a tangent
    }
    tangent_take(configured, &group, metric, slope);
    return status - LANE_DONE;
}
