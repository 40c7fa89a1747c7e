// How the metrics of a lane change along one direction of its parameters: the run itself with dual numbers. Independent
// of the adjoint, which it checks, and cheaper for a few parameters. Compiled where real is a dual number.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_TANGENT_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_TANGENT_H

#include "../../dual.h"
#include "../advance.h"

// Doubles of memory: the lane's cells, its parameters and metrics.
HD_CALL size_t articulated_tangent_bytes(const Configured *configured)
{
    const int64_t reals = configured->n_work + configured->n_parameters + configured->n_metrics;
    return (size_t)(reals * REAL_DOUBLES) * sizeof(double);
}

static LaneGroup tangent_group(const Configured *configured, const double *parameter, const double *direction,
                               double *memory)
{
    double *own = memory + configured->n_work * REAL_DOUBLES, *metric = own + configured->n_parameters * REAL_DOUBLES;
    for (int p = 0; p < configured->n_parameters; p++)
        store_all(own + p * REAL_DOUBLES, dual(parameter[p], direction[p]));
    return (LaneGroup){
        .batch = {.lanes = 1, .stride = REAL_DOUBLES, .parameter = own, .work = memory, .metric = metric}, .valid = 1};
}

// slope[n_metrics] <- the derivatives of metric[n_metrics]. Returns the lane's failure; 0: none.
HD_CALL int articulated_tangent(const Configured *configured, const double *parameter, const double *direction,
                                void *memory, double *metric, double *slope)
{
    const LaneGroup group = tangent_group(configured, parameter, direction, memory);
    const ArticulatedLanes w = articulated_open(&configured->constants, configured->assets, &group);
    real changed, failure = splat(ARTICULATED_NONE);
    int64_t tick = 0;
    articulated_begin(&w);
    while (tick < w.c.ticks && !(value_of(failure) > ARTICULATED_NONE)) {
        ArticulatedSeen seen = articulated_tick_solve(&w, tick++, &changed);
        articulated_tick_move(&w, &seen, changed, NULL);
        articulated_tick_compare(&w, tick);
        failure = articulated_failure(&w, &seen);
    }
    articulated_metrics(&w, splat((double)tick), all_lanes());
    if (w.c.n_targets > 0) lanes_set_metric(&group, ARTICULATED_REFERENCE_ERROR, reference_error(&w), all_lanes());
    for (int m = 0; m < configured->n_metrics; m++) {
        const bool own = configured->meter == NULL || m < configured->meter->first; // others are of no lane here
        if (!own) metric[m] = slope[m] = NAN;
        if (!own) continue;
        const real got = load_all(group.batch.metric + m * REAL_DOUBLES);
        metric[m] = value_of(got);
        slope[m] = slope_of(got);
    }
    return (int)value_of(failure);
}

#endif
