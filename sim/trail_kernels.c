// The runs of lanes of `equations` that leave a trail (equations/trail.h), and what goes along it: compiled apart from
// the other kernels, with one lane, for two instruction sets that give the same bits.
#if !defined(HOPSCOTCH_SCALAR)
#define HOPSCOTCH_SCALAR
#endif
#if !defined(HOPSCOTCH_CALLS)
#define HOPSCOTCH_CALLS
#endif
#define HOPSCOTCH_TRAIL
#include "trail_kernels.h"

#include "equations/adjoint/tangent.h"

#ifndef TRAIL_KERNELS
#define TRAIL_KERNELS trail_kernels_v2
#endif

static bool run_trail(const Configured *configured, const AdjointLanes *lanes, void *memory)
{
    TrailLane *lane = trail_open(configured, lanes->most, memory);
    lane->leaves = lanes->leaves;
    lane->of = lanes->of;
    memcpy(lane->parameter, lanes->parameter, (size_t)configured->n_parameters * sizeof(double));
    if (!trail_run(lane)) return false;
    memcpy(lanes->metric, lane->metric, (size_t)configured->n_metrics * sizeof(double));
    lanes->failure[0] = lane->status - LANE_DONE;
    return true;
}

static bool go_back(void *memory, const double *weight, double *gradient, double *growth)
{
    return trail_back(memory, weight, gradient, growth);
}

static const char *trouble_of_trail(const void *memory, double *time) { return trail_trouble(memory, time); }

static int run_tangent(const Configured *configured, const double *parameter, const double *direction, void *memory,
                       double *metric, double *slope, ResidualSeries *series, int n_series)
{
    TrailLane *lane = trail_open(configured, TANGENT_MEMORY, memory);
    double *cells = (double *)memory + trail_bytes(configured, TANGENT_MEMORY) / sizeof(double);
    memcpy(lane->parameter, parameter, (size_t)configured->n_parameters * sizeof(double));
    tangent_run(lane, cells, direction, slope, series, n_series);
    memcpy(metric, lane->metric, (size_t)configured->n_metrics * sizeof(double));
    return lane->status - LANE_DONE;
}

const TrailKernels TRAIL_KERNELS = {trail_bytes, run_trail, go_back, trouble_of_trail, tangent_bytes, run_tangent};
