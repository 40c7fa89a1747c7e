// One step, in reverse. A u' = b is linear, so with lambda = A^-1 ubar' the rest follows from the derivative of
// lambda' (b - A u') for constant lambda and u' (joint.h, contact.h). The step is computed again from its old state,
// and takes the branches that it took.
//     q' = r/|r|, r = (1, h/2 w') q      L' = I_w w'      x' = x + h v'
// Source: M. B. Giles, An extended collection of matrix derivative results, 2008, 2.3.1 (the solve).
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_STEP_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_STEP_H

#include "../step.h"
#include "contact.h"
#include "joint.h"

// Bars of what a step gives to metrics.
typedef struct ArticulatedSeenBar {
    ArticulatedTouchBar touch;
    real power;
} ArticulatedSeenBar;

// ---- the step again -------------------------------------------------------------------------------------------------

// As articulated_solve, but the factors of the bodies' blocks are kept in place of these.
HD_CALL void step_again(const ArticulatedLanes *restrict w, real t, real h)
{
    ArticulatedSeen seen = seen_nothing();
    real a[PACKED_CELLS];
    for (int i = w->c.n_bodies - 1; i >= 0; i--) {
        step_up(w, i, h, t, &seen, a);
        limbs_put(w, articulated_at(i) + ARTICULATED_A, PACKED_CELLS, a);
    }
}

// ---- the move -------------------------------------------------------------------------------------------------------

// Bars of the new state become those of the old one, as far as the move goes, and ubar'. That of L' stays. Returns the
// sum of the squares of all bars of the new state, without those along its quaternion, which say nothing.
HD real pull_move(const ArticulatedLanes *w, int body, real h)
{
    const int at = articulated_at(body);
    const Vector3 turn = limb3(w, at + ARTICULATED_U + 3), x_bar = bar3(w, at + ARTICULATED_X);
    const Vector3 v_bar = bar3(w, at + ARTICULATED_V), l_bar = bar3(w, at + ARTICULATED_L);
    const Vector3 w_bar = bar3(w, at + ARTICULATED_W);
    const Quaternion q = limb4(w, at + ARTICULATED_Q);
    const Rotation r = rotation_of(q);
    Quaternion by;
    by.x = 0.5 * h * turn.x;
    by.y = 0.5 * h * turn.y;
    by.z = 0.5 * h * turn.z;
    by.w = splat(1.0);
    const Quaternion moved = quaternion_times(by, q);
    const real length = quaternion_length(moved);
    const Quaternion moved_bar = pull_normal(quaternion_normal(moved), length, bar4(w, at + ARTICULATED_Q));
    const Quaternion by_bar = pull_first(moved_bar, q);
    const Vector3 in_body = rotation_in(&r, l_bar);
    const Vector3 by_L = rotation_out(&r, symmetric3_times(body_inertia(w, body), in_body));
    const Vector3 turn_bar = along(added(w_bar, by_L), 0.5 * h, vector3(by_bar.x, by_bar.y, by_bar.z));
    set_bar3(w, at + ARTICULATED_U, along(v_bar, h, x_bar));
    set_bar3(w, at + ARTICULATED_U + 3, turn_bar);
    set_bar4(w, at + ARTICULATED_Q, pull_second(by, moved_bar));
    set_bar3(w, at + ARTICULATED_V, vector3_zero());
    set_bar3(w, at + ARTICULATED_W, vector3_zero());
    const real turned = length * length * quaternion_square(moved_bar);
    return dot3(x_bar, x_bar) + dot3(v_bar, v_bar) + dot3(l_bar, l_bar) + dot3(w_bar, w_bar) + turned;
}

// ---- the solve ------------------------------------------------------------------------------------------------------

// lambda = A^-1 ubar', from the leaves to the root and back, with the factors of the step.
HD void pull_solve_up(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body), parent = w->bodies[body].parent;
    real a[PACKED_CELLS], b[6], up[6];
    limbs_take(w, at + ARTICULATED_A, PACKED_CELLS, a);
    limbs_take(w, bar_of(w, at + ARTICULATED_U), 6, b);
    if (parent >= 0 && w->bodies[body].kind != ROBOT_FREE) {
        const int above = bar_of(w, articulated_at(parent) + ARTICULATED_U);
        limbs_take(w, above, 6, up);
        for (int c = 0; c < 6; c++) {
            for (int i = 0; i < 6; i++) up[c] = fused(-limb(w, at + ARTICULATED_UP + 6 * i + c), b[i], up[c]);
        }
        limbs_put(w, above, 6, up);
    }
    body_block_solve(a, b);
    limbs_put(w, bar_of(w, at + ARTICULATED_U), 6, b);
}

HD void pull_solve_down(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body), parent = w->bodies[body].parent;
    real u[6], up[6];
    if (parent < 0 || w->bodies[body].kind == ROBOT_FREE) return;
    limbs_take(w, bar_of(w, at + ARTICULATED_U), 6, u);
    limbs_take(w, bar_of(w, articulated_at(parent) + ARTICULATED_U), 6, up);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) u[i] = fused(-limb(w, at + ARTICULATED_UP + 6 * i + j), up[j], u[i]);
    }
    limbs_put(w, bar_of(w, at + ARTICULATED_U), 6, u);
}

// ---- the body's own block -------------------------------------------------------------------------------------------

HD void pull_push(const ArticulatedLanes *w, real t, Vector3 force_bar)
{
    const mask pushed = MASK(t >= w->push_time) & MASK(t < w->push_time + w->push_duration);
    const real weight = select_real(pushed, splat(1.0), splat(0.0));
    parameter_bar(w, ARTICULATED_PARAMETER_push_x, weight * force_bar.x);
    parameter_bar(w, ARTICULATED_PARAMETER_push_y, weight * force_bar.y);
    parameter_bar(w, ARTICULATED_PARAMETER_push_z, weight * force_bar.z);
}

// diag(m 1, I_w) and [m (v + h g) + h f; L], together with L' = I_w w'
HD void pull_mass(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, real h, real t,
                  ArticulatedPoseBar *pose_bar)
{
    const int at = articulated_at(body);
    const Vector3 l = lambda(w, body, 0), l_turn = lambda(w, body, 3), g = vector3(splat(0.0), splat(0.0), w->gravity);
    const real m = body_number(w, body, ARTICULATED_mass);
    const Symmetric3 none = {splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0)};
    Symmetric3 inertia = none;
    pull_quadratic(&pose->r, body_inertia(w, body), less(bar3(w, at + ARTICULATED_L), l_turn), solved(w, body, 3),
                   &pose_bar->r, &inertia);
    inertia_bar(w, body, &inertia);
    number_bar(w, body, ARTICULATED_mass, dot3(l, less(along(pose->v, -h, g), solved(w, body, 0))));
    parameter_bar(w, ARTICULATED_PARAMETER_gravity, -(h * m * l.z));
    pose_bar->v = along(pose_bar->v, m, l);
    set_bar3(w, at + ARTICULATED_L, l_turn);
    if (body == w->c.base) pull_push(w, t, scaled(h, l));
}

HD void pull_body(const ArticulatedLanes *w, int body, real h, real t, const ArticulatedSeenBar *seen)
{
    const ArticulatedPose pose = body_pose(w, body);
    ArticulatedPoseBar pose_bar = pose_bar_zero();
    pull_mass(w, body, &pose, h, t, &pose_bar);
    const ArticulatedTouchBar touch = {ground_force_bar(w, body, &seen->touch), seen->touch.slid};
    if (w->bodies[body].n_points > 0) pull_contacts(w, body, &pose, h, &touch, &pose_bar);
    if (w->bodies[body].kind != ROBOT_FREE) pull_joint(w, body, &pose, h, &pose_bar);
    pose_bar_add(w, body, &pose_bar);
}

// u' of a body again, after its parent's, and ubar' as far as the move, the forces of the ground, the springs of
// friction and the rates go. As pull_move.
HD real pull_down(const ArticulatedLanes *w, int body, real h, const ArticulatedSeenBar *seen, bool lowered)
{
    if (!lowered) tree_lower(w, body);
    const real squares = pull_move(w, body, h);
    if (w->bodies[body].n_points > 0) pull_forces(w, body, h, &seen->touch);
    if (w->c.grips > 0) pull_grips_moved(w, body, h);
    if (rate_counts(w, body)) pull_rate(w, body, h, seen->power);
    if (w->bodies[body].kind == ROBOT_BALL) pull_spin(w, body);
    return squares;
}

// All of a step h from the time t on: after step_again, with the bars of the new state, to those of the old one.
// lowered: after tree_lower of all bodies too. Returns the sum of the squares of the bars of the new state (pull_move).
HD_CALL real pull_step(const ArticulatedLanes *restrict w, real t, real h, const ArticulatedSeenBar *seen, bool lowered)
{
    real squares = splat(0.0);
    for (int i = 0; i < w->c.n_bodies; i++) squares = squares + pull_down(w, i, h, seen, lowered);
    for (int i = w->c.n_bodies - 1; i >= 0; i--) pull_solve_up(w, i);
    for (int i = 0; i < w->c.n_bodies; i++) {
        pull_solve_down(w, i);
        pull_body(w, i, h, t, seen);
    }
    return squares;
}

#endif
