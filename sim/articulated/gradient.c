// What has a derivative, and the kernels that compute it (adjoint/lane.h).
#include "../cpu_kernels.h"
#include "articulated.h"

#include <string.h>

static bool gradient_of_metric(int metric)
{
    static const bool smooth[ARTICULATED_N_METRICS] = {
        [ARTICULATED_METRIC_distance] = true,      [ARTICULATED_METRIC_mean_speed] = true,
        [ARTICULATED_METRIC_lateral_drift] = true, [ARTICULATED_METRIC_energy] = true,
        [ARTICULATED_METRIC_height_mean] = true,   [ARTICULATED_METRIC_cost_of_transport] = true,
        [ARTICULATED_METRIC_tilt_rms] = true,      [ARTICULATED_METRIC_action_rate] = true,
        [ARTICULATED_METRIC_slip] = true,          [ARTICULATED_METRIC_ground_force_mean] = true,
    };
    return metric == ARTICULATED_REFERENCE_ERROR || smooth[metric];
}

static bool gradient_by_parameter(const Configured *configured, int parameter)
{
    (void)configured;
    return parameter != ARTICULATED_PARAMETER_push_time && parameter != ARTICULATED_PARAMETER_push_duration &&
           parameter != ARTICULATED_PARAMETER_fall_height && parameter != ARTICULATED_PARAMETER_fall_tilt;
}

static const char *gradient_refuses(const Configured *configured)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    if (c.attachment != ARTICULATED_TREE) return "only `attachment: tree` has a gradient by the adjoint";
    if (c.grips > 0) return "`friction: anchored` has no gradient by the adjoint";
    return c.terrain != ARTICULATED_HEIGHTS ? NULL : "`terrain: heights` has no gradient by the adjoint";
}

// ---- kernels --------------------------------------------------------------------------------------------------------

static const CpuAdjoint *gradient_kernels(void) { return &cpu_scalar_kernels()->adjoint[KERNEL_articulated_tree]; }

static size_t gradient_bytes(const Configured *configured, size_t most)
{
    return gradient_kernels()->bytes(configured, most);
}

static int gradient_run(const Configured *configured, const double *parameter, size_t most, void *memory,
                        double *metric)
{
    return gradient_kernels()->run(configured, parameter, most, memory, metric);
}

static void gradient_back(const Configured *configured, void *memory, const double *weight, double *gradient)
{
    gradient_kernels()->back(memory, weight, gradient);
    for (int p = 0; p < configured->n_parameters; p++) {
        if (!gradient_by_parameter(configured, p)) gradient[p] = 0.0;
    }
}

const Adjoint articulated_adjoint = {.refuses = gradient_refuses,
                                     .metric = gradient_of_metric,
                                     .parameter = gradient_by_parameter,
                                     .bytes = gradient_bytes,
                                     .run = gradient_run,
                                     .back = gradient_back};
