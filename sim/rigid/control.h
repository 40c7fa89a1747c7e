// What gives the inputs of a world (inputs.h), once a control period: a law (../law.h), of the spec's own or of a
// policy, or a table.
#ifndef HOPSCOTCH_RIGID_CONTROL_H
#define HOPSCOTCH_RIGID_CONTROL_H

#include "../law.h"
#include "forces.h"

// Shows the law the columns that it takes, at the time t. Threads of a team take the bodies in turn.
HD void rigid_see(const RigidLanes *w, real t, mask which)
{
    for (int r = w->rank; r < w->c.n_recorded; r += w->size) {
        const int at = rigid_state_at(w, w->recorded[r]);
        for (int k = 0; k < RIGID_STATE; k++) {
            const int column = 1 + RIGID_STATE * r + k;
            if (law_sees(w->group, column)) law_see(w->group, column, cell(w, at + k), which);
        }
    }
    for (int k = 0; k < w->c.n_inputs && rigid_speaks(w); k++)
        law_see(w->group, 1 + RIGID_STATE * w->c.n_recorded + k, cell(w, rigid_input_at(w, k)), which);
    if (rigid_speaks(w)) law_see(w->group, 0, t, which);
    rigid_wait(w);
}

// What is asked of an input: by the law, 0 if it does not give it; else by the table's row.
HD real rigid_asked(const RigidLanes *w, int input, int64_t row)
{
    if (!lanes_have_law(w->group)) return splat(w->actions[row * w->c.n_inputs + input]);
    return law_gives(w->group, input) ? law_output(w->group, input) : splat(0.0);
}

// The inputs of the lanes of `which` from this tick on, within their ranges. NaN of a law stays: the lane fails
// (rigid_tick_end). The table's last row holds on.
HD_CALL void rigid_control(const RigidLanes *restrict w, int64_t tick, real t, mask which)
{
    if (w->c.n_inputs == 0 || tick % w->c.held != 0) return;
    const bool lawful = lanes_have_law(w->group);
    if (!lawful && w->c.n_action_rows == 0) return; // a world of its own, as of step_picture
    const int64_t period = tick / w->c.held, row = period < w->c.n_action_rows ? period : w->c.n_action_rows - 1;
    if (lawful) rigid_see(w, t, which);
    if (lawful && rigid_speaks(w)) law_decide(w->group, law_period(w->group, tick), which);
    for (int f = 0; f < w->c.n_forces && rigid_speaks(w); f++) {
        const RigidForce *force = &w->forces[f];
        if (force->kind != RIGID_INPUT) continue;
        const int at = rigid_input_at(w, force->number);
        const real asked = clamped(rigid_asked(w, force->number, row), splat(force->low), splat(force->high));
        set_cell(w, at, select_real(which, asked, cell(w, at)));
    }
    rigid_wait(w);
}

// Before the first tick.
HD void rigid_control_begin(const RigidLanes *w)
{
    for (int k = w->rank; k < RIGID_INPUT_CELLS + w->c.n_inputs && w->c.n_inputs > 0; k += w->size)
        set_cell(w, w->c.inputs_at + k, splat(0.0));
    if (lanes_have_law(w->group) && rigid_speaks(w)) law_begin(w->group, all_lanes());
}

#endif
