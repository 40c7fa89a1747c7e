// What has a derivative, and the kernels that compute it (adjoint/lane.h).
#include "../cpu_kernels.h"
#include "../dual_kernels.h"
#include "articulated.h"

#include <math.h>
#include <string.h>

static const char *gradient_bends(const Configured *configured, int metric)
{
    static const bool smooth[ARTICULATED_N_METRICS] = {
        [ARTICULATED_METRIC_distance] = true,      [ARTICULATED_METRIC_mean_speed] = true,
        [ARTICULATED_METRIC_lateral_drift] = true, [ARTICULATED_METRIC_energy] = true,
        [ARTICULATED_METRIC_height_mean] = true,   [ARTICULATED_METRIC_cost_of_transport] = true,
        [ARTICULATED_METRIC_tilt_rms] = true,      [ARTICULATED_METRIC_action_rate] = true,
        [ARTICULATED_METRIC_slip] = true,          [ARTICULATED_METRIC_ground_force_mean] = true,
    };
    (void)configured;
    return metric == ARTICULATED_REFERENCE_ERROR || (metric < ARTICULATED_N_METRICS && smooth[metric]) ? NULL : "";
}

static bool gradient_by_parameter(const Configured *configured, int parameter)
{
    (void)configured;
    return parameter != ARTICULATED_PARAMETER_push_time && parameter != ARTICULATED_PARAMETER_push_duration &&
           parameter != ARTICULATED_PARAMETER_fall_height && parameter != ARTICULATED_PARAMETER_fall_tilt;
}

static const char *gradient_refuses(const Configured *configured)
{
#define ARTICULATED_ROW(name, says, uses, refusal) refusal,
    static const char *const why[] = {ARTICULATED_CONTROLS(ARTICULATED_ROW)};
#undef ARTICULATED_ROW
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    if (why[c.control] != NULL) return why[c.control];
    if (c.n_late > 0) return "`control.longest_delay` has no gradient by the adjoint or the tangent";
    const char *of_law = law_without_derivative(configured);
    if (of_law != NULL) return of_law;
    return c.attachment == ARTICULATED_ATTACHMENT_tree ? NULL : "only `attachment: tree` has a gradient by the adjoint";
}

static bool gradient_smooth(const Configured *configured)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    return c.n_points == 0;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// A single lane leaves the others of a vector idle.
static const CpuAdjoint *gradient_kernels(int lanes)
{
    const CpuKernels *kernels = lanes == 1 ? cpu_scalar_kernels() : cpu_best_kernels();
    return &kernels->adjoint[KERNEL_articulated_tree];
}

static int gradient_lanes(void) { return cpu_best_kernels()->lanes; }

static size_t gradient_bytes(const Configured *configured, int lanes, size_t most)
{
    return gradient_kernels(lanes)->bytes(configured, lanes, most);
}

static bool gradient_run(const Configured *configured, const AdjointLanes *lanes, void *memory)
{
    return gradient_kernels(lanes->count)->run(configured, lanes, memory);
}

static bool gradient_back(const Configured *configured, int lanes, void *memory, const double *weight, double *gradient,
                          double *growth)
{
    if (!gradient_kernels(lanes)->back(memory, weight, gradient, growth)) return false;
    for (int p = 0; p < configured->n_parameters; p++) {
        for (int i = 0; i < lanes && !gradient_by_parameter(configured, p); i++) gradient[p * lanes + i] = 0.0;
    }
    return true;
}

static int64_t gradient_residuals(const Configured *configured, int metric)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    if (metric != ARTICULATED_REFERENCE_ERROR) return 0;
    const double *value = configured->assets + c.records + 2 * c.n_records; // record_value
    int64_t count = 0;
    for (int64_t k = 0; k < (int64_t)c.n_records * c.n_targets; k++) count += !isnan(value[k]);
    return count;
}

const Adjoint articulated_adjoint = {.refuses = gradient_refuses,
                                     .bends = gradient_bends,
                                     .parameter = gradient_by_parameter,
                                     .smooth = gradient_smooth,
                                     .lanes = gradient_lanes,
                                     .bytes = gradient_bytes,
                                     .run = gradient_run,
                                     .back = gradient_back,
                                     .directions = dual_directions,
                                     .tangent_bytes = dual_bytes,
                                     .tangent = dual_tangent,
                                     .residuals = gradient_residuals};
