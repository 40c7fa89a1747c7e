// A step of order two (../two.h), in reverse: the sum 2 y2 - y1, then the second half, the first half and the whole
// step, each computed again from its own state.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_TWO_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_TWO_H

#include "../two.h"
#include "step.h"

// What a body's state has of bars.
enum { TWO_BARS = ARTICULATED_RATE + 1 + ARTICULATED_BALL_CELLS };

// ---- the sum --------------------------------------------------------------------------------------------------------

// The bar of a cell becomes that of y2, and its part of y1 is kept.
HD void two_split(const ArticulatedLanes *w, int at, int whole, int count, mask which)
{
    for (int k = 0; k < count; k++) {
        const real y_bar = select_real(which, bar(w, at + k), splat(0.0));
        set_bar(w, at + k, 2.0 * y_bar);
        set_bar(w, whole + k, -y_bar);
    }
}

// Of a quaternion: q' = r/|r|, r = 2 q2 - q1. u' of the second half is known, and q1 stands in place of its bar.
// Returns the square of the bar of q' without what is along q'.
HD real two_split_turn(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body), whole = whole_at(w, body) + ARTICULATED_Q;
    const Quaternion q1 = bar4(w, whole), q = limb4(w, at + ARTICULATED_Q),
                     q2 = turned_cayley(q, limb3(w, at + ARTICULATED_U + 3), splat(0.5 * w->c.dt));
    const real sign = two_sign(q1, q2);
    const Quaternion sum = two_sum(q1, q2, sign);
    const real length = quaternion_length(sum);
    const Quaternion r_bar = pull_normal(quaternion_normal(sum), length, bar4(w, at + ARTICULATED_Q));
    const Quaternion q2_bar = {2.0 * r_bar.x, 2.0 * r_bar.y, 2.0 * r_bar.z, 2.0 * r_bar.w};
    const Quaternion q1_bar = {-(sign * r_bar.x), -(sign * r_bar.y), -(sign * r_bar.z), -(sign * r_bar.w)};
    set_bar4(w, at + ARTICULATED_Q, q2_bar);
    set_bar4(w, whole, q1_bar);
    return length * length * quaternion_square(r_bar);
}

// Of the springs of anchored friction at a body's points.
HD void two_split_grips(const ArticulatedLanes *w, int body)
{
    const ArticulatedPose pose = body_pose(w, body);
    const ArticulatedBody *of = &w->bodies[body];
    for (int k = of->point; k < of->point + of->n_points; k++) {
        const ArticulatedContact s = contact_state(w, &pose, &w->points[k], body_number(w, body, ARTICULATED_scale));
        two_split(w, w->c.grips + 3 * k, whole_grip(w, k), 3, s.touching);
    }
}

// From the bars of y' of a body to those of y2, which replace them, and of y1. Returns the sum of the squares of those
// of y', as pull_move.
HD real two_split_body(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body), whole = whole_at(w, body);
    const Vector3 x = bar3(w, at + ARTICULATED_X), v = bar3(w, at + ARTICULATED_V), l = bar3(w, at + ARTICULATED_L),
                  turn = bar3(w, at + ARTICULATED_W);
    const real turned = two_split_turn(w, body);
    two_split(w, at + ARTICULATED_X, whole + ARTICULATED_X, 3, all_lanes());
    two_split(w, at + ARTICULATED_V, whole + ARTICULATED_V, TWO_BARS - ARTICULATED_V, all_lanes());
    if (w->c.grips > 0) two_split_grips(w, body);
    return dot3(x, x) + dot3(v, v) + dot3(l, l) + dot3(turn, turn) + turned;
}

// ---- the steps ------------------------------------------------------------------------------------------------------

// Adds the bars of the state before to those that are kept (false), or exchanges them (true).
HD void two_bars(const ArticulatedLanes *w, int at, int whole, int count, bool exchange)
{
    for (int k = 0; k < count; k++) {
        const real own = bar(w, at + k), kept = bar(w, whole + k);
        set_bar(w, at + k, exchange ? kept : own + kept);
        set_bar(w, whole + k, own);
    }
}
HD_CALL void two_all_bars(const ArticulatedLanes *restrict w, bool exchange)
{
    for (int i = 0; i < w->c.n_bodies; i++) two_bars(w, articulated_at(i), whole_at(w, i), TWO_BARS, exchange);
    if (w->c.grips > 0) two_bars(w, w->c.grips, whole_grip(w, 0), 3 * w->c.n_points, exchange);
}

// Columns of efforts and forces take off those of the whole step.
HD void two_negate(const ArticulatedLanes *w)
{
    for (int i = 0; i < w->c.n_bodies && columns_count(w); i++) {
        for (int at = articulated_at(i) + ARTICULATED_EFFORT; at <= articulated_at(i) + ARTICULATED_FORCE; at++)
            set_bar(w, at, -bar(w, at));
    }
}

// The step again with u' of all bodies.
HD void two_again(const ArticulatedLanes *w, real t, real h)
{
    step_again(w, t, h);
    for (int i = 0; i < w->c.n_bodies; i++) tree_lower(w, i);
}

// As pull_step, from the state before the step on, which the cells hold and keep. seen: of the sums of the step.
HD_CALL real pull_two(const ArticulatedLanes *restrict w, real t, const ArticulatedSeenBar *seen)
{
    const real whole = splat(w->c.dt), half = splat(0.5 * w->c.dt), middle = t + 0.5 * w->c.dt;
    ArticulatedSeenBar part = *seen;
    real squares = splat(0.0);
    two_keep(w);
    two_again(w, t, whole);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i);
        const Vector3 turn = limb3(w, at + ARTICULATED_U + 3);
        set_bar4(w, whole_at(w, i) + ARTICULATED_Q, turned_cayley(limb4(w, at + ARTICULATED_Q), turn, whole));
    }
    (void)articulated_step(w, t, half);
    two_again(w, middle, half);
    for (int i = 0; i < w->c.n_bodies; i++) squares = squares + two_split_body(w, i);
    (void)pull_step(w, middle, half, &part, true);
    two_exchange(w);
    part.touch.slid = splat(0.0); // as that of the whole step: their parts of the sum cancel
    two_again(w, t, half);
    (void)pull_step(w, t, half, &part, true);
    two_all_bars(w, true);
    two_negate(w);
    part.touch.force = -part.touch.force;
    part.power = -part.power;
    two_again(w, t, whole);
    (void)pull_step(w, t, whole, &part, true);
    two_all_bars(w, false);
    return squares;
}

#endif
