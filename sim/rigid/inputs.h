// Inputs: forces and torques of the world whose sizes are given from outside (control.h). A force acts at a point of
// its body. A torque acts on its body, and its reaction on another one, as that of a motor does. Directions are fixed
// in the axes of a body, or of the world. Sizes are held over a step, so both halves of a step by rattle have the same
// ones.
#ifndef HOPSCOTCH_RIGID_INPUTS_H
#define HOPSCOTCH_RIGID_INPUTS_H

#include "rows.h"

HD int rigid_input_at(const RigidLanes *w, int number) { return w->c.inputs_at + RIGID_INPUT_CELLS + number; }
HD int rigid_work_at(const RigidLanes *w) { return w->c.inputs_at + RIGID_WORK; }

// In world axes.
HD Vector3 rigid_input_direction(const RigidLanes *w, const RigidForce *force)
{
    const Rotation turn = rotation_of(rigid_q(w, force->axes)); // of the world: none
    return rotation_out(&turn, vector3_of(force->turns != 0 ? force->torque : force->force));
}

// Adds `torque` to what acts on the body, if it moves.
HD void rigid_apply_torque(const RigidLanes *w, int body, Vector3 torque)
{
    if (rigid_moves(w, body)) add_cell3(w, rigid_body_at(w, body) + RIGID_BODY_F + 3, torque);
}

// What a unit of the input does in a second (W per N or N m): the velocity of its point, or a difference of angular
// velocities, along its direction.
HD real rigid_input_rate(const RigidLanes *w, const RigidForce *force)
{
    const Vector3 direction = rigid_input_direction(w, force);
    if (force->turns != 0) return dot3(direction, less(rigid_w(w, force->i), rigid_w(w, force->j)));
    const RigidEnd end = rigid_end(w, force->i, force->at_i);
    return dot3(direction, added(end.v, cross3(end.w, end.r)));
}

// The power of all inputs at the present state (W), in the thread that writes; 0 in others.
HD_CALL real rigid_input_power(const RigidLanes *restrict w)
{
    real power = splat(0.0);
    for (int f = 0; f < w->c.n_forces && w->c.n_inputs > 0 && rigid_speaks(w); f++) {
        if (w->forces[f].kind != RIGID_INPUT) continue;
        const real size = cell(w, rigid_input_at(w, w->forces[f].number));
        power = fused(size, rigid_input_rate(w, &w->forces[f]), power);
    }
    return power;
}

// Adds the work of a step of length h that began with this power: the trapezoidal rule, which is symmetric and of order
// two, as a step of rattle is. So it has the order of rattle's substeps, too.
HD void rigid_add_work(const RigidLanes *w, real h, real power)
{
    if (w->c.n_inputs == 0 || !rigid_speaks(w)) return;
    const int at = rigid_work_at(w);
    update_cell(w, at, fused(0.5 * h, power + rigid_input_power(w), cell(w, at)));
}

// Work so far (J), and in this step.
HD real rigid_worked(const RigidLanes *w) { return w->c.n_inputs > 0 ? cell(w, rigid_work_at(w)) : splat(0.0); }
HD real rigid_worked_now(const RigidLanes *w)
{
    return w->c.n_inputs > 0 ? cell(w, rigid_work_at(w)) - cell(w, w->c.inputs_at + RIGID_WORK_BEFORE) : splat(0.0);
}

#endif
