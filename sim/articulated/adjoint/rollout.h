// A whole lane, in reverse: from the derivatives of an objective with respect to the metrics to those with respect to
// the lane's parameters. States are stored at every step by the run, and each step is computed again from its own.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_ROLLOUT_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_ROLLOUT_H

#include "begin.h"
#include "metrics.h"
#include "reference.h"

// Doubles of a stored state for each lane, and of the memory of a lane with its bars.
HD_BOTH int64_t articulated_state_size(const ArticulatedConstants *c)
{
    return (int64_t)c->n_bodies * ARTICULATED_STATE_CELLS + (c->grips > 0 ? 3 * c->n_points : 0);
}
HD_BOTH int64_t articulated_adjoint_cells(const ArticulatedConstants *c, int n_parameters)
{
    return 2 * (int64_t)c->cells + n_parameters;
}

// The cells of a state: those of the bodies, then the stretches of the springs of anchored friction. `count` of them
// stand from `at` on; the next are those of `part` + 1.
typedef struct ArticulatedStatePart {
    int at, count;
} ArticulatedStatePart;
HD int state_parts(const ArticulatedLanes *w) { return w->c.n_bodies + (w->c.grips > 0 ? 1 : 0); }
HD ArticulatedStatePart state_part(const ArticulatedLanes *w, int part)
{
    const ArticulatedStatePart body = {articulated_at(part), ARTICULATED_STATE_CELLS};
    const ArticulatedStatePart grips = {w->c.grips, 3 * w->c.n_points};
    return part < w->c.n_bodies ? body : grips;
}

// state[articulated_state_size][stride]
HD void state_store(const ArticulatedLanes *w, double *state)
{
    for (int i = 0; i < state_parts(w); i++) {
        const ArticulatedStatePart part = state_part(w, i);
        for (int k = 0; k < part.count; k++, state += w->stride) store_all(state, limb(w, part.at + k));
    }
}
HD void state_load(const ArticulatedLanes *w, const double *state)
{
    for (int i = 0; i < state_parts(w); i++) {
        const ArticulatedStatePart part = state_part(w, i);
        for (int k = 0; k < part.count; k++, state += w->stride) set_limb(w, part.at + k, load_all(state));
    }
}

// All bars to zero, n_parameters of the lane's parameters too.
HD void bars_clear(const ArticulatedLanes *w, int n_parameters)
{
    for (int k = 0; k < w->c.cells + n_parameters; k++) set_limb(w, w->c.cells + k, splat(0.0));
}

// One step in reverse, after commands_start or the step after it. The state in the cells is that after the step;
// `state` is that before it, and takes its place.
HD void pull_tick(const ArticulatedLanes *w, int64_t tick, const double *state)
{
    const real t = splat((double)tick * w->c.dt), h = splat(w->c.dt);
    ArticulatedSeenBar seen;
    seen.touch.force = sum_bar(w, ARTICULATED_METRIC_ground_force_mean);
    seen.touch.slid = h * sum_bar(w, ARTICULATED_METRIC_slip);
    seen.power = h * sum_bar(w, ARTICULATED_METRIC_energy);
    if (w->c.n_targets > 0) pull_reference(w, tick + 1);
    pull_sums(w, limb4(w, base_at(w) + ARTICULATED_Q));
    state_load(w, state);
    commands_set(w);
    step_again(w, t);
    pull_step(w, t, &seen);
    pull_commands(w, tick);
    if (w->c.n_targets > 0) reference_bars_clear(w);
}

// Steps [first, end), the last one first. states: before each of them. The cells hold the state after the last one.
HD void pull_ticks(const ArticulatedLanes *w, int64_t first, int64_t end, const double *states)
{
    const int64_t size = articulated_state_size(&w->c) * w->stride;
    commands_start(w, end - 1);
    for (int64_t tick = end - 1; tick >= first; tick--) pull_tick(w, tick, states + (tick - first) * size);
}

#endif
