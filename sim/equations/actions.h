// Actions: inputs that are held over a period, a whole number of steps dt. In a run they come from a table, whose last
// row holds on; in an environment from its caller. They are held numbers behind the user's, and a period begins after
// all that happens at its first instant. Before the first period they are what they are at the start.
#ifndef HOPSCOTCH_EQUATIONS_ACTIONS_H
#define HOPSCOTCH_EQUATIONS_ACTIONS_H

#include "events.h"

HD int equations_periods(const EquationsConstants *c) { return c->acting + EQUATIONS_ACTING_PERIODS; }

// The instant at which the next period begins; infinite: there is none.
HD real equations_next_period(const EquationsLane *lane)
{
    const EquationsConstants *c = lane->c;
    if (c->n_actions == 0) return splat(1e300);
    const real at = frame_get(lane->frame, equations_periods(c)) * (double)c->held * c->dt;
    return select_real(equations_before_end(lane, at), at, splat(1e300));
}

// Action a of the period that begins.
HD real equations_action(const EquationsLane *lane, const LaneGroup *group, int a)
{
    const EquationsConstants *c = lane->c;
    const double *bounds = lane->assets + c->actions + 2 * (int64_t)a,
                 *table = lane->assets + c->actions + 2 * (int64_t)c->n_actions;
    real value = splat(0.0);
    if (group->own.action != NULL) {
        value = lanes_action(group, a);
    } else if (c->n_action_rows > 0) {
        const real row = lesser_of(frame_get(lane->frame, equations_periods(c)), splat((double)c->n_action_rows - 1.0));
        for (int i = 0; i < LANES; i++) set_lane(&value, i, table[(int64_t)lane_of(row, i) * c->n_actions + a]);
    }
    return clamped(value, splat(bounds[0]), splat(bounds[1]));
}

// Begins a period of the lanes of `begins` with its actions. Returns the lanes in which it is the first.
HD mask equations_take_actions(const EquationsLane *lane, const LaneGroup *group, mask begins)
{
    const EquationsConstants *c = lane->c;
    const int held = SYSTEM_HELD(c->n_states, c->n_held - c->n_clocks - c->n_actions);
    const real periods = frame_get(lane->frame, equations_periods(c));
    FRAME_EACH
    for (int a = 0; a < c->n_actions; a++) frame_put(lane->file, held + a, equations_action(lane, group, a), begins);
    frame_put(lane->frame, equations_periods(c), periods + 1.0, begins);
    return MASK(periods == 0.0);
}

#endif
