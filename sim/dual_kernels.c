// The models' runs with dual numbers: the derivatives of metrics along a direction of the parameters.
#define HOPSCOTCH_DUAL
#include "dual_kernels.h"

#include "models.h"
#include "tangent.h"

#include <assert.h>

size_t dual_bytes(const Configured *configured) { return tangent_bytes(configured); }

int dual_tangent(const Configured *configured, const double *parameter, const double *direction, void *memory,
                 double *metric, double *slope)
{
    int32_t status = LANE_RUNNING;
    const LaneGroup group = tangent_group(configured, parameter, direction, memory, &status);
    switch (configured->kernel) {
    case KERNEL_articulated_tree: articulated_tangent(configured, &group); break;
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
