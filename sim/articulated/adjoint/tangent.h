// How the metrics of a lane change along directions of its parameters: the run itself with dual numbers. Independent
// of the adjoint, which it checks, and cheaper for a few parameters. Compiled where real is a dual number.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_TANGENT_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_TANGENT_H

#include "../../tangent.h"
#include "../advance.h"

// A sample before the step `tick`, or where the lane ends.
HD void tangent_sample(const ArticulatedLanes *w, int64_t tick, bool last)
{
    if (w->group->batch.meter.of.cell != NULL) articulated_sample(w, splat((double)tick * w->c.dt), last, all_lanes());
}

// The differences from the recorded motion, by rows and columns.
HD int64_t articulated_recorded(const Configured *configured)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    return (int64_t)c.n_records * c.n_targets;
}

// The differences of a column from its record, without the record's gaps.
HD void tangent_series(const ArticulatedLanes *w, int target, const double *residuals, ResidualSeries *series)
{
    for (int row = 0; row < w->c.n_records; row++) {
        if (!record_has(w, row, target)) continue;
        const real residual = load_all(residuals + (row * w->c.n_targets + target) * REAL_DOUBLES);
        double slope[DUAL_DIRECTIONS];
        for (int k = 0; k < DUAL_DIRECTIONS; k++) slope[k] = slope_along(residual, k);
        residual_series_add(series, value_of(residual), slope);
    }
}

// The lane of the group, with its metrics and status. residuals: room for articulated_recorded numbers.
HD_CALL void articulated_tangent(const Configured *configured, const LaneGroup *group, double *residuals,
                                 ResidualSeries *series, int n_series)
{
    ArticulatedLanes w = articulated_open(&configured->constants, configured->assets, group);
    real changed, failure = splat(ARTICULATED_NONE);
    int64_t tick = 0;
    w.residuals = n_series > 0 ? residuals : NULL;
    articulated_begin(&w);
    if (lanes_have_law(group)) law_begin(group, all_lanes());
    while (tick < w.c.ticks && !(value_of(failure) > ARTICULATED_NONE)) {
        tangent_sample(&w, tick, false);
        if (law_is_due(group, tick))
            articulated_decide(&w, splat((double)tick * w.c.dt), law_period(group, tick), all_lanes());
        const real t = splat((double)tick * w.c.dt);
        ArticulatedSeen seen = articulated_tick_solve(&w, tick++, &changed);
        articulated_tick_move(&w, t, &seen, changed, NULL);
        articulated_tick_compare(&w, tick);
        failure = articulated_failure(&w, &seen);
    }
    tangent_sample(&w, tick, true);
    articulated_all_metrics(&w, splat((double)tick), all_lanes());
    lanes_end(group, failure, all_lanes());
    for (int s = 0; s < n_series; s++) {
        for (int k = 0; k < w.c.n_targets; k++) tangent_series(&w, k, residuals, &series[s]);
    }
}

#endif
