// What of a hopper has a derivative, by runs with dual numbers (located.h).
#include "gradient.h"
#include "../dual_kernels.h"
#include "hopper.h"

static const char *hopper_bends(const Configured *configured, int metric)
{
    switch (metric) {
    case HOPPER_METRIC_hop_count:
    case HOPPER_METRIC_peak_ground_force:
    case HOPPER_METRIC_max_penetration:
    case HOPPER_METRIC_energy_drift:
    case HOPPER_METRIC_survived:
    case HOPPER_METRIC_newton_max_residual: return "";
    case HOPPER_METRIC_apex_mean:
    case HOPPER_METRIC_apex_std: // of adaptive steps, which are long
        return configured->steps_max > 0 ? "the greatest heights at ends of steps" : NULL;
    default: return NULL;
    }
}

static bool hopper_by_parameter(const Configured *configured, int parameter)
{
    (void)configured, (void)parameter;
    return true;
}

static const char *hopper_remark(const Configured *configured)
{
    if (configured->steps_max > 0) return NULL;
    return "with fixed steps an event falls on a step, and the fitness jumps where it moves to another one. The "
           "tangent is the derivative of the motion, up to the order of dt; differences of small steps lack how events "
           "move. `integrator: dormand_prince` locates events";
}

const Adjoint hopper_adjoint = {.refuses = law_without_derivative,
                                .bends = hopper_bends,
                                .parameter = hopper_by_parameter,
                                .remark = hopper_remark,
                                .directions = dual_directions,
                                .tangent_bytes = dual_bytes,
                                .tangent = dual_tangent};
