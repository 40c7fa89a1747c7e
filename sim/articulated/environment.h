// A robot as an environment: lanes with their own clocks under external control (sim/environment.h). The lanes of a
// vector are computed together. Those that have ended go along: nothing reads their memory before they begin again.
#ifndef HOPSCOTCH_ARTICULATED_ENVIRONMENT_H
#define HOPSCOTCH_ARTICULATED_ENVIRONMENT_H

#include "advance.h"

// Copies a group's memory; of `to` only the lanes of `which` change.
HD void environment_copy_cells(const double *from, double *to, int cells, mask which)
{
    for (int i = 0; i < cells; i++) {
        const real old = load_all(to + i * ARTICULATED_STRIDE), now = load_all(from + i * ARTICULATED_STRIDE);
        store_all(to + i * ARTICULATED_STRIDE, select_real(which, now, old));
    }
}

HD void articulated_tree_begin(const Constants *constants, const double *assets, const LaneGroup *group, mask which)
{
    ArticulatedLanes w = articulated_open(constants, assets, group);
    double *own = w.base;
    if (LANES > 1) w.base = group->own.spare;
    articulated_begin(&w);
    if (LANES > 1) environment_copy_cells(w.base, own, w.c.cells, which);
    if (lanes_have_law(group)) law_begin(group, which);
}

// A lane that ends is sampled where it ends.
HD void articulated_tree_advance(const Constants *constants, const double *assets, const LaneGroup *group, mask which)
{
    ArticulatedLanes w = articulated_open(constants, assets, group);
    real ticks = lanes_clock(group);
    mask running = which;
    for (int64_t k = 0; k < group->ticks && any_lane(running); k++) {
        real changed;
        if (law_is_due(group, k)) articulated_decide(&w, ticks * w.c.dt, law_period_after(group, ticks), running);
        ArticulatedSeen seen = articulated_solve_at(&w, 0, ticks * w.c.dt, &changed);
        articulated_tick_move(&w, ticks * w.c.dt, &seen, changed, NULL);
        ticks = ticks + 1.0;
        lanes_set_clock(group, ticks, running);
        running = articulated_tick_end(&w, true, ticks, &seen, running);
    }
}

HD void articulated_tree_sample(const Constants *constants, const double *assets, const LaneGroup *group, mask which)
{
    const ArticulatedLanes w = articulated_open(constants, assets, group);
    mask running = no_lanes();
    for (int i = 0; i < group->valid; i++) {
        const bool runs = group->batch.status[group->lane + i] == LANE_RUNNING;
#if LANES == 1
        running = MASK(runs);
#else
        running[i] = runs ? -1 : 0;
#endif
    }
    if (any_lane(which & running)) articulated_sample(&w, lanes_clock(group) * w.c.dt, false, which & running);
}

HD void articulated_tree_finish(const Constants *constants, const double *assets, const LaneGroup *group, mask which)
{
    const ArticulatedLanes w = articulated_open(constants, assets, group);
    articulated_all_metrics(&w, lanes_clock(group), which);
    lanes_end(group, splat(ARTICULATED_NONE), which);
}

#endif
