// A whole lane, in reverse: from the derivatives of an objective with respect to the metrics to those with respect to
// the lane's parameters. States are stored at every step by the run, and each step is computed again from its own.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_ROLLOUT_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_ROLLOUT_H

#include "begin.h"
#include "meter.h"
#include "metrics.h"
#include "reference.h"
#include "two.h"

// Doubles of a stored state for each lane, and of the memory of a lane with its bars.
HD_BOTH int64_t articulated_state_size(const ArticulatedConstants *c)
{
    const int cells = ARTICULATED_STATE_CELLS + (c->balls != 0 ? ARTICULATED_BALL_CELLS : 0);
    return (int64_t)c->n_bodies * cells + (c->grips > 0 ? 3 * c->n_points : 0);
}
HD_BOTH int64_t articulated_adjoint_cells(const ArticulatedConstants *c, int n_parameters)
{
    return 2 * (int64_t)c->cells + n_parameters;
}

// state[articulated_state_size][ARTICULATED_STRIDE]: that of the bodies, then the rest (state_store_body,
// state_store_rest). A body is loaded as a whole before anything is stored, so that no
// load waits for a store.
HD void state_store(const ArticulatedLanes *w, double *state)
{
    for (int i = 0; i < w->c.n_bodies; i++) state_store_body(w, i, state);
    state_store_rest(w, state);
}
HD void state_load(const ArticulatedLanes *w, double *state)
{
    const double *balls = state_balls(w, state), *grips = state_grips(w, state);
    for (int i = 0; i < w->c.n_bodies; i++) {
        real x[ARTICULATED_STATE_CELLS];
        UNROLL for (int k = 0; k < ARTICULATED_STATE_CELLS; k++, state += ARTICULATED_STRIDE) x[k] = load_all(state);
        UNROLL for (int k = 0; k < ARTICULATED_STATE_CELLS; k++) set_limb(w, articulated_at(i) + k, x[k]);
    }
    for (int i = 0; i < w->c.n_bodies && w->c.balls != 0; i++) {
        for (int k = 0; k < ARTICULATED_BALL_CELLS; k++, balls += ARTICULATED_STRIDE)
            set_limb(w, articulated_at(i) + ARTICULATED_STATE_CELLS + k, load_all(balls));
    }
    for (int k = 0; k < 3 * w->c.n_points && w->c.grips > 0; k++)
        set_limb(w, w->c.grips + k, load_all(grips + k * ARTICULATED_STRIDE));
}

// All bars to zero, n_parameters of the lane's parameters too.
HD void bars_clear(const ArticulatedLanes *w, int n_parameters)
{
    for (int k = 0; k < w->c.cells + n_parameters; k++) set_bar(w, k, splat(0.0));
}

// After `steps` steps, where the bodies stand now: a period of the law that begins here.
HD_CALL void pull_law(const ArticulatedLanes *restrict w, int64_t steps)
{
    const Controlled controlled = controlled_open(w);
    if (steps % controlled.law->ticks != 0 || steps >= w->c.ticks) return;
    controlled_pull(w, steps / controlled.law->ticks);
    const ColumnBars bars = {&controlled.law->of, controlled.input};
    pull_sample(w, &bars);
}

// What the metrics take from the state after the step, which the cells hold.
HD void pull_tick_sums(const ArticulatedLanes *w, int64_t tick)
{
    if (w->c.n_targets > 0) pull_reference(w, tick + 1);
    if (lanes_are_metered(w)) pull_meter(w, tick + 1);
    if (lanes_are_controlled(w)) pull_law(w, tick + 1);
    pull_sums(w, limb4(w, base_at(w) + ARTICULATED_Q));
}

// The rest, from the state before the step, which the cells hold with what the step computed (`lowered`: also u'). As
// pull_step.
HD real pull_tick_step(const ArticulatedLanes *w, int64_t tick, bool lowered)
{
    const real h = splat(w->c.dt);
    ArticulatedSeenBar seen;
    seen.touch.force = sum_bar(w, ARTICULATED_METRIC_ground_force_mean);
    seen.touch.slid = h * sum_bar(w, ARTICULATED_METRIC_slip);
    seen.power = h * sum_bar(w, ARTICULATED_METRIC_energy);
    const real t = splat((double)tick * w->c.dt),
               squares = w->c.whole > 0 ? pull_two(w, t, &seen) : pull_step(w, t, h, &seen, lowered);
    pull_commands(w, tick);
    if (columns_count(w)) column_bars_clear(w);
    return squares;
}

// One step in reverse, after commands_start or the step after it. The state in the cells is that after the step;
// `state` is that before it, and replaces it. As pull_step.
HD real pull_tick(const ArticulatedLanes *w, int64_t tick, double *state)
{
    pull_tick_sums(w, tick);
    state_load(w, state);
    commands_set(w, tick);
    if (w->c.whole == 0) step_again(w, splat((double)tick * w->c.dt), splat(w->c.dt));
    return pull_tick_step(w, tick, false);
}

// Steps [first, end), the last one first. states: before each of them. The cells hold the state after the last one.
HD void pull_ticks(const ArticulatedLanes *w, int64_t first, int64_t end, double *states)
{
    const int64_t size = articulated_state_size(&w->c) * ARTICULATED_STRIDE;
    commands_start(w, end - 1);
    for (int64_t tick = end - 1; tick >= first; tick--) (void)pull_tick(w, tick, states + (tick - first) * size);
}

#endif
