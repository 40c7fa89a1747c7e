// One step of a robot. State: centre of mass x, orientation q, velocity v, angular momentum L about the centre (world
// axes) of each body, and the angular velocity w that the last solve gave. I_w = R(q) I R(q)'.
//     A = blockdiag(m 1, I_w) + sum of J' D J,   b = [m (v + h g) + h f; L] + sum of J' f0
//     A u' = b,   x' = x + h v',   q' = normalised q + h/2 (0, w') q,   L' = I_w w'
// All rows are those of the old pose. With L as a state, momentum and angular momentum are exact. What needs an old
// velocity takes the w that was solved, not I_w^-1 L at the new pose: otherwise an armature feels a torque that does
// not vanish with h. Of slides and balls the state has the rate that was solved, too (joint.h).
// Sources: D. Baraff & A. Witkin, Large steps in cloth simulation, SIGGRAPH 1998 (implicit springs); J. Tan, K. Liu &
// G. Turk, Stable proportional-derivative controllers, IEEE CG&A 31(4), 2011 (implicit motors).
#ifndef HOPSCOTCH_ARTICULATED_STEP_H
#define HOPSCOTCH_ARTICULATED_STEP_H

#include "apart.h"
#include "control.h"

// The greatest and the sums of a step that metrics need.
typedef struct ArticulatedSeen {
    ArticulatedTouch touch;
    real peak, touched; // touch.force and touch.count, the greatest of the parts of a step
    real gap;           // m, the greatest
    real bound, beyond; // motors at an end of their efforts; joints beyond their range
    real touchdowns;
    real power;         // W, of all motors without sign
    real size, fastest; // of the new state: sum of |x| and |q|; greatest component of v and w (m/s, rad/s)
    bool lowered;       // u' of all bodies is known; else those below the roots still need their parents'
} ArticulatedSeen;

HD ArticulatedSeen seen_nothing(void)
{
    ArticulatedSeen seen;
    seen.touch.force = seen.touch.count = seen.touch.slid = splat(0.0);
    seen.peak = seen.touched = splat(0.0);
    seen.gap = seen.bound = seen.beyond = seen.touchdowns = seen.power = seen.size = seen.fastest = splat(0.0);
    seen.lowered = false;
    return seen;
}

// After a step that has no parts.
HD void seen_whole(ArticulatedSeen *seen)
{
    seen->peak = seen->touch.force;
    seen->touched = seen->touch.count;
}

// The push on the base at the time t (N).
HD Vector3 step_push(const ArticulatedLanes *w, real t)
{
    const mask pushed =
        MASK(value_of(t) >= value_of(w->push_time)) & MASK(value_of(t) < value_of(w->push_time + w->push_duration));
    const real weight = select_real(pushed, splat(1.0), splat(0.0));
    return vector3(weight * w->push_x, weight * w->push_y, weight * w->push_z);
}

// a = blockdiag(m 1, I_w) and b = [m (v + h g) + h f; L] of a body
HD void step_inertia(const ArticulatedLanes *w, int body, real h, real t, real *a, real *b)
{
    const int at = articulated_at(body);
    const real m = body_number(w, body, ARTICULATED_mass);
    const Rotation r = rotation_of(limb4(w, at + ARTICULATED_Q));
    const Vector3 v = limb3(w, at + ARTICULATED_V);
    Vector3 momentum = scaled(m, vector3(v.x, v.y, v.z - h * w->gravity));
    if (body == w->c.base) momentum = along(momentum, h, step_push(w, t));
    packed_mass(m, symmetric3_turned(&r, body_inertia(w, body)), a);
    b[0] = momentum.x;
    b[1] = momentum.y;
    b[2] = momentum.z;
    limbs_take(w, at + ARTICULATED_L, 3, b + 3);
}

// The same with what its children passed on, unless nothing has come yet.
HD void step_body_block(const ArticulatedLanes *w, int body, bool fresh, real h, real t, real *a, real *b)
{
    if (fresh) {
        step_inertia(w, body, h, t, a, b);
        return;
    }
    limbs_take(w, articulated_at(body) + ARTICULATED_A, PACKED_CELLS, a);
    limbs_take(w, articulated_at(body) + ARTICULATED_U, 6, b);
}

// Adds to the parent's block and right-hand side. The last body in order comes first.
HD void step_pass(const ArticulatedLanes *w, int body, real h, real t, const ArticulatedPassed *passed)
{
    const int parent = w->bodies[body].parent, at = articulated_at(parent);
    real a[PACKED_CELLS], b[6];
    step_body_block(w, parent, w->bodies[body].opens != 0, h, t, a, b);
    for (int k = 0; k < PACKED_CELLS; k++) a[k] = a[k] + passed->a[k];
    for (int k = 0; k < 6; k++) b[k] = b[k] + passed->b[k];
    limbs_put(w, at + ARTICULATED_A, PACKED_CELLS, a);
    limbs_put(w, at + ARTICULATED_U, 6, b);
}

// Rows of the joint to the parent, and the body's elimination.
HD void step_joint(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, real h, real t, real *a, real *b,
                   ArticulatedSeen *seen)
{
    const int parent = w->bodies[body].parent;
    const ArticulatedPose of_parent = body_pose(w, parent);
    const ArticulatedJointState s = joint_state(w, body, pose, &of_parent);
    const ArticulatedAxis axis = joint_axis(w, body, h, &s);
    const ArticulatedRows rows = joint_rows(w, body, h, &s, &axis);
    ArticulatedPassed passed;
    real B[36];
    joint_add(&rows, &s, a, b, B, &passed);
    if (w->bodies[body].kind == ROBOT_SLIDE) joint_add_slide(&rows, &s, a, B, &passed);
    joint_store(w, body, &s, &axis);
    tree_eliminate(w, body, a, b, B, &passed);
    if (parent >= 0) step_pass(w, body, h, t, &passed);
    const Vector3 gap = w->bodies[body].kind == ROBOT_SLIDE ? along(s.gap, -dot3(s.axis, s.gap), s.axis) : s.gap;
    seen->gap = greater_of(length3(gap), seen->gap);
}

// From the leaves to the root. a[21] <- the factors of the body's block.
HD void step_up(const ArticulatedLanes *w, int body, real h, real t, ArticulatedSeen *seen, real *a)
{
    const int at = articulated_at(body);
    const ArticulatedPose pose = body_pose(w, body);
    real b[6];
    step_body_block(w, body, w->bodies[body].leaf != 0, h, t, a, b);
    if (w->bodies[body].n_points > 0) contact_body(w, body, &pose, h, a, b, &seen->touch);
    if (w->bodies[body].kind != ROBOT_FREE) {
        step_joint(w, body, &pose, h, t, a, b, seen);
        return;
    }
    body_block_factor(a);
    body_block_solve(a, b);
    limbs_put(w, at + ARTICULATED_U, 6, b);
}

// The force of the ground on a body, by u'.
HD void step_force(const ArticulatedLanes *w, int body, real h, ArticulatedSeen *seen)
{
    const int at = articulated_at(body) + ARTICULATED_FORCE;
    const real force = contact_force(w, body, h), before = limb(w, at);
    const mask lands = MASK(value_of(force) > 0.0) & MASK(value_of(before) <= 0.0);
    seen->touchdowns = seen->touchdowns + select_real(lands, splat(1.0), splat(0.0));
    seen->touch.force = seen->touch.force + force;
    set_limb(w, at, force);
}

// The rate of a hinge or slide, and the effort that its motor had, by u'.
HD void step_rate(const ArticulatedLanes *w, int body, real h, ArticulatedSeen *seen)
{
    const int at = articulated_at(body);
    const real rate = joint_solved_rate(w, body), coordinate = limb(w, at + ARTICULATED_COORDINATE);
    set_limb(w, at + ARTICULATED_RATE, rate);
    const mask out = MASK(value_of(coordinate) > value_of(body_number(w, body, ARTICULATED_high))) |
                     MASK(value_of(coordinate) < value_of(body_number(w, body, ARTICULATED_low)));
    seen->beyond = seen->beyond + select_real(out, splat(1.0), splat(0.0));
    if (w->bodies[body].driven == 0) return;
    const real K = limb(w, at + ARTICULATED_MOTOR_D), f = limb(w, at + ARTICULATED_MOTOR_F);
    const real effort = fused(-K, rate, f) / h, power = effort * rate;
    const ArticulatedEnds ends = motor_ends(w, body);
    const mask end = MASK(value_of(f) >= value_of(h * ends.high)) | MASK(value_of(f) <= value_of(h * ends.low));
    const mask bound = end & MASK(value_of(K) == 0.0);
    set_limb(w, at + ARTICULATED_EFFORT, effort);
    seen->bound = seen->bound + select_real(bound, splat(1.0), splat(0.0));
    seen->power = seen->power + square_root(fused(power, power, splat(1e-6)));
}

// x', q', v', L', w' of a body whose u' is known
HD void step_move(const ArticulatedLanes *w, int body, real h)
{
    const int at = articulated_at(body);
    const Vector3 v = limb3(w, at + ARTICULATED_U), turn = limb3(w, at + ARTICULATED_U + 3);
    const Quaternion q = limb4(w, at + ARTICULATED_Q);
    const Rotation r = rotation_of(q);
    const Vector3 x = along(limb3(w, at + ARTICULATED_X), h, v);
    const Vector3 in_body = rotation_in(&r, turn);
    set_limb3(w, at + ARTICULATED_X, x);
    set_limb3(w, at + ARTICULATED_V, v);
    set_limb3(w, at + ARTICULATED_W, turn);
    set_limb3(w, at + ARTICULATED_L, rotation_out(&r, symmetric3_times(body_inertia(w, body), in_body)));
    set_limb4(w, at + ARTICULATED_Q, turned_cayley(q, turn, h));
}

// What shows a failure: how large the new state is, and how fast.
HD void step_look(const ArticulatedLanes *w, int body, ArticulatedSeen *seen)
{
    const int at = articulated_at(body);
    for (int k = 0; k < 7; k++) seen->size = seen->size + absolute(limb(w, at + k));
    for (int k = 0; k < 3; k++) {
        seen->fastest = greater_of(absolute(limb(w, at + ARTICULATED_V + k)), seen->fastest);
        seen->fastest = greater_of(absolute(limb(w, at + ARTICULATED_W + k)), seen->fastest);
    }
}

// Down from the roots: u' of a body after its parent's, the rate of its joint, and its move.
HD void step_down(const ArticulatedLanes *w, int body, real h, ArticulatedSeen *seen)
{
    if (!seen->lowered) tree_lower(w, body);
    if (w->bodies[body].n_points > 0) step_force(w, body, h, seen);
    if (w->c.grips > 0) grip_store(w, body, h);
    if (w->bodies[body].joint >= 0) step_rate(w, body, h, seen);
    if (w->bodies[body].kind == ROBOT_BALL)
        set_limb3(w, articulated_at(body) + ARTICULATED_RATE, joint_solved_spin(w, body));
    step_move(w, body, h);
    step_look(w, body, seen);
}

// Solves A u' = b for the step h from the time t. The commands are set.
HD_CALL ArticulatedSeen articulated_solve(const ArticulatedLanes *restrict w, real t, real h)
{
    ArticulatedSeen seen = seen_nothing();
    real a[PACKED_CELLS], b[6];
    if (w->c.attachment == ARTICULATED_ATTACHMENT_tree) {
        for (int i = w->c.n_bodies - 1; i >= 0; i--) step_up(w, i, h, t, &seen, a);
        return seen;
    }
    for (int i = 0; i < w->c.n_bodies; i++) {
        step_inertia(w, i, h, t, a, b);
        limbs_put(w, articulated_at(i) + ARTICULATED_A, PACKED_CELLS, a);
        limbs_put(w, articulated_at(i) + ARTICULATED_U, 6, b);
    }
    seen.gap = apart_solve(w, h, &seen.touch);
    seen.lowered = true;
    return seen;
}

// u' of all bodies, before they move.
HD void articulated_lower(const ArticulatedLanes *w, ArticulatedSeen *seen)
{
    for (int i = 0; i < w->c.n_bodies && !seen->lowered; i++) tree_lower(w, i);
    seen->lowered = true;
}

// A step h of all lanes from the time t.
HD_CALL ArticulatedSeen articulated_step(const ArticulatedLanes *restrict w, real t, real h)
{
    ArticulatedSeen seen = articulated_solve(w, t, h);
    for (int i = 0; i < w->c.n_bodies; i++) step_down(w, i, h, &seen);
    seen_whole(&seen);
    return seen;
}

#endif
