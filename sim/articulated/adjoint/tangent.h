// How the metrics of a lane change along one direction of its parameters: the run itself with dual numbers. Independent
// of the adjoint, which it checks, and cheaper for a few parameters. Compiled where real is a dual number.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_TANGENT_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_TANGENT_H

#include "../../dual.h"
#include "../advance.h"

// Doubles of memory: the lane's cells, its parameters and metrics; those of a meter.
static int64_t tangent_doubles(const Configured *configured)
{
    return (configured->n_work + configured->n_parameters + configured->n_metrics) * REAL_DOUBLES;
}
HD_CALL size_t articulated_tangent_bytes(const Configured *configured)
{
    const int64_t metered = configured->meter != NULL ? meter_tangent_doubles(configured->meter) : 0;
    const int64_t controlled = configured->law != NULL ? law_tangent_doubles(configured->law) : 0;
    return (size_t)(tangent_doubles(configured) + metered + controlled) * sizeof(double);
}

static LaneGroup tangent_group(const Configured *configured, const double *parameter, const double *direction,
                               double *memory)
{
    double *own = memory + configured->n_work * REAL_DOUBLES, *metric = own + configured->n_parameters * REAL_DOUBLES;
    for (int p = 0; p < configured->n_parameters; p++)
        store_all(own + p * REAL_DOUBLES, dual(parameter[p], direction[p]));
    LaneGroup group = {
        .batch = {.lanes = 1, .stride = REAL_DOUBLES, .parameter = own, .work = memory, .metric = metric}, .valid = 1};
    if (configured->law != NULL) {
        const int64_t metered = configured->meter != NULL ? meter_tangent_doubles(configured->meter) : 0;
        group.batch.law = *configured->law;
        group.batch.law.of.cell = memory + tangent_doubles(configured) + metered;
        memset(group.batch.law.of.cell, 0, (size_t)law_tangent_doubles(configured->law) * sizeof(double));
    }
    if (configured->meter == NULL) return group;
    group.batch.meter = *configured->meter;
    group.batch.meter.of.cell = memory + tangent_doubles(configured);
    memset(group.batch.meter.of.cell, 0, (size_t)meter_tangent_doubles(configured->meter) * sizeof(double));
    return group;
}

// A lane with its results.
typedef struct Tangent {
    const double *parameter, *direction;
    double *metric, *slope;
} Tangent;

// A sample before the step `tick`, or where the lane ends.
static void tangent_sample(const ArticulatedLanes *w, const Tangent *of, int64_t tick, bool last)
{
    const Meter *meter = &w->group->batch.meter;
    if (meter->of.cell == NULL) return;
    articulated_sample(w, splat((double)tick * w->c.dt), last, all_lanes());
    meter_tangent_take(meter, of->parameter, of->direction, last, meter->of.cell, of->metric, of->slope);
}

static void tangent_take(const LaneGroup *group, const Tangent *of, int n_metrics)
{
    for (int m = 0; m < n_metrics; m++) {
        const real got = load_all(group->batch.metric + m * REAL_DOUBLES);
        of->metric[m] = value_of(got);
        of->slope[m] = slope_of(got);
    }
}

// slope[n_metrics] <- the derivatives of metric[n_metrics]. Returns the lane's failure; 0: none.
HD_CALL int articulated_tangent(const Configured *configured, const double *parameter, const double *direction,
                                void *memory, double *metric, double *slope)
{
    const LaneGroup group = tangent_group(configured, parameter, direction, memory);
    const Tangent of = {parameter, direction, metric, slope};
    ArticulatedLanes w = articulated_open(&configured->constants, configured->assets, &group);
    real changed, failure = splat(ARTICULATED_NONE);
    int64_t tick = 0;
    articulated_begin(&w);
    if (lanes_have_law(&group)) law_begin(&group, all_lanes());
    while (tick < w.c.ticks && !(value_of(failure) > ARTICULATED_NONE)) {
        tangent_sample(&w, &of, tick, false);
        if (law_is_due(&group, tick))
            articulated_decide(&w, splat((double)tick * w.c.dt), law_period(&group, tick), all_lanes());
        ArticulatedSeen seen = articulated_tick_solve(&w, tick++, &changed);
        articulated_tick_move(&w, &seen, changed, NULL);
        articulated_tick_compare(&w, tick);
        failure = articulated_failure(&w, &seen);
    }
    tangent_sample(&w, &of, tick, true);
    articulated_metrics(&w, splat((double)tick), all_lanes());
    if (w.c.n_targets > 0) lanes_set_metric(&group, ARTICULATED_REFERENCE_ERROR, reference_error(&w), all_lanes());
    tangent_take(&group, &of, configured_own_metrics(configured));
    return (int)value_of(failure);
}

#endif
