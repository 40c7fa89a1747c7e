// A step of order two (option `order`): the step of step.h, extrapolated. From the state at t one step of dt gives y1,
// two steps of dt/2 give y2, and the new state is
//     y' = 2 y2 - y1
// y: x, v, L, w of all bodies, their quaternions (y' is normalised), rates of joints, and the stretches of the springs
// of anchored friction, 0 of a point that did not touch in the second half. The commands are those of the whole step.
// What touches, slips or is at an end is for each of the three steps to find out. Linear momentum stays exact; of the
// angular momentum, which is not linear in y, a step changes O(dt^3).
// |y2 - y1| says how much the step left to extrapolate: the metric step_error, of positions (m) and turns (rad).
// Integrals get 2 y2 - y1 too, so that their means over a step are f_a + f_b - f_1, of the halves and of the whole: the
// sums of metrics, and efforts and forces of samples. Of what depends on the state before a step alone f_a = f_1, and
// that of the second half is left. What is the greatest, or counts landings, is that of the halves.
// Sources: P. Deuflhard, Recent progress in extrapolation methods for ordinary differential equations, SIAM Review 27,
// 1985; E. Hairer & G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., 1996, IV.9.
#ifndef HOPSCOTCH_ARTICULATED_TWO_H
#define HOPSCOTCH_ARTICULATED_TWO_H

#include "metrics.h"

// ---- kept cells -----------------------------------------------------------------------------------------------------

// Exchanges the cells of the state and what samples take with those that are kept.
HD_CALL void two_exchange(const ArticulatedLanes *restrict w)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        for (int k = 0; k < ARTICULATED_WHOLE_CELLS; k++) {
            const real x = limb(w, articulated_at(i) + k);
            set_limb(w, articulated_at(i) + k, limb(w, whole_at(w, i) + k));
            set_limb(w, whole_at(w, i) + k, x);
        }
    }
    for (int k = 0; k < 3 * w->c.n_points && w->c.grips > 0; k++) {
        const real x = limb(w, w->c.grips + k);
        set_limb(w, w->c.grips + k, limb(w, whole_grip(w, 0) + k));
        set_limb(w, whole_grip(w, 0) + k, x);
    }
}

// Keeps a copy of these cells.
HD void two_keep(const ArticulatedLanes *w)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        for (int k = 0; k < ARTICULATED_WHOLE_CELLS; k++)
            set_limb(w, whole_at(w, i) + k, limb(w, articulated_at(i) + k));
    }
    for (int k = 0; k < 3 * w->c.n_points && w->c.grips > 0; k++)
        set_limb(w, whole_grip(w, 0) + k, limb(w, w->c.grips + k));
}

// ---- the steps ------------------------------------------------------------------------------------------------------

// What gravity and the push give: twice that of both halves without that of the whole step, which is dt times that of
// the second half.
HD void two_expect(const ArticulatedLanes *w, real t)
{
    Vector3 arm = vector3_zero();
    for (int i = 0; i < w->c.n_bodies; i++)
        arm = along(arm, body_number(w, i, ARTICULATED_mass), limb3(w, articulated_at(i) + ARTICULATED_X));
    set_limb3(w, articulated_sum(w, ARTICULATED_SUM_ARM), arm);
    momentum_expect_step(w, t);
}

// After the first half: what the mean of an effort and of a force takes off that of the second.
HD void two_gather(const ArticulatedLanes *w)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        for (int k = ARTICULATED_EFFORT; k <= ARTICULATED_FORCE; k++)
            set_limb(w, whole_at(w, i) + k, limb(w, whole_at(w, i) + k) - limb(w, articulated_at(i) + k));
    }
}

// What two halves and the whole step saw.
HD ArticulatedSeen two_seen(const ArticulatedSeen *whole, const ArticulatedSeen *a, const ArticulatedSeen *b)
{
    ArticulatedSeen seen = *b;
    seen.touch.force = a->touch.force + b->touch.force - whole->touch.force;
    seen.power = a->power + b->power - whole->power;
    seen.peak = greater_of(a->peak, b->peak);
    seen.touched = greater_of(a->touched, b->touched);
    seen.gap = greater_of(a->gap, b->gap);
    seen.touchdowns = a->touchdowns + b->touchdowns;
    seen.size = seen.fastest = splat(0.0);
    return seen;
}

// After the solve of the whole step from t: y1 is kept, and y2 stands in the cells. seen: of the solve; what the sums
// get.
HD_CALL void two_steps(const ArticulatedLanes *restrict w, real t, ArticulatedSeen *seen)
{
    ArticulatedSeen halves[2];
    two_keep(w);
    for (int i = 0; i < w->c.n_bodies; i++) step_down(w, i, splat(w->c.dt), seen);
    two_exchange(w);
    for (int half = 0; half < 2; half++) {
        const real start = t + half * 0.5 * w->c.dt;
        if (half == 1) {
            two_gather(w);
            two_expect(w, start);
        }
        halves[half] = articulated_step(w, start, splat(0.5 * w->c.dt));
    }
    *seen = two_seen(seen, &halves[0], &halves[1]);
}

// ---- the sum --------------------------------------------------------------------------------------------------------

// -1 where q1 and q2 are nearer to each other with opposite signs.
HD real two_sign(Quaternion q1, Quaternion q2)
{
    const real cosine = fused(q1.x, q2.x, fused(q1.y, q2.y, fused(q1.z, q2.z, q1.w * q2.w)));
    return select_real(MASK(value_of(cosine) < 0.0), splat(-1.0), splat(1.0));
}

// 2 q2 - sign q1
HD Quaternion two_sum(Quaternion q1, Quaternion q2, real sign)
{
    Quaternion sum;
    sum.x = fused(-sign, q1.x, 2.0 * q2.x);
    sum.y = fused(-sign, q1.y, 2.0 * q2.y);
    sum.z = fused(-sign, q1.z, 2.0 * q2.z);
    sum.w = fused(-sign, q1.w, 2.0 * q2.w);
    return sum;
}

// 2 y2 - y1 of cells.
HD void two_cells(const ArticulatedLanes *w, int at, int whole, int count)
{
    for (int k = 0; k < count; k++) set_limb(w, at + k, fused(splat(2.0), limb(w, at + k), -limb(w, whole + k)));
}

// The same of the stretches of springs, where their points touched in the last half.
HD void two_grips(const ArticulatedLanes *w, int body)
{
    const ArticulatedBody *of = &w->bodies[body];
    for (int k = of->point; k < of->point + of->n_points; k++) {
        const int cell = w->c.grips + 3 * k;
        const mask touches = MASK(value_of(limb(w, grip_touch(w, k))) > 0.0);
        two_cells(w, cell, whole_grip(w, k), 3);
        for (int c = cell; c < cell + 3; c++) set_limb(w, c, select_real(touches, limb(w, c), splat(0.0)));
    }
}

// step_error so far. A chord of half the turn is half of it, as long as it is small.
HD void two_compare(const ArticulatedLanes *w, Vector3 moved, Quaternion q1, Quaternion q2, real sign)
{
    const Quaternion q = {fused(-sign, q1.x, q2.x), fused(-sign, q1.y, q2.y), fused(-sign, q1.z, q2.z),
                          fused(-sign, q1.w, q2.w)};
    const real turned = 2.0 * square_root(fused(q.x, q.x, fused(q.y, q.y, fused(q.z, q.z, q.w * q.w))));
    const real error = greater_of(length3(moved), turned), most = limb(w, w->c.whole);
    set_limb(
        w, w->c.whole,
        select_real(MASK(value_of(error) <= value_of(most)) | MASK(value_of(most) != value_of(most)), most, error));
}

// y' of a body, and the means over the step.
HD void two_body(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body), whole = whole_at(w, body);
    const Quaternion q1 = limb4(w, whole + ARTICULATED_Q), q2 = limb4(w, at + ARTICULATED_Q);
    const real sign = two_sign(q1, q2);
    two_compare(w, less(limb3(w, at + ARTICULATED_X), limb3(w, whole + ARTICULATED_X)), q1, q2, sign);
    two_cells(w, at + ARTICULATED_X, whole + ARTICULATED_X, 3);
    set_limb4(w, at + ARTICULATED_Q, quaternion_normal(two_sum(q1, q2, sign)));
    two_cells(w, at + ARTICULATED_V, whole + ARTICULATED_V, ARTICULATED_COORDINATE - ARTICULATED_V);
    two_cells(w, at + ARTICULATED_RATE, whole + ARTICULATED_RATE, 1 + ARTICULATED_BALL_CELLS);
    if (w->c.grips > 0) two_grips(w, body);
    for (int k = ARTICULATED_EFFORT; k <= ARTICULATED_FORCE; k++)
        set_limb(w, at + k, limb(w, at + k) - limb(w, whole + k));
}

// The new state of a body: after the solve, or of order two after all three steps.
HD void articulated_move(const ArticulatedLanes *w, int body, ArticulatedSeen *seen)
{
    if (w->c.whole == 0) {
        step_down(w, body, splat(w->c.dt), seen);
        return;
    }
    two_body(w, body);
    step_look(w, body, seen);
}

// A step of the lanes from the time t on, of their order, without its sums.
HD_CALL void articulated_tick(const ArticulatedLanes *restrict w, real t)
{
    ArticulatedSeen seen = articulated_solve(w, t, splat(w->c.dt));
    if (w->c.whole > 0) two_steps(w, t, &seen);
    for (int i = 0; i < w->c.n_bodies; i++) articulated_move(w, i, &seen);
}

// The number of the metric step_error.
HD int two_metric(const ArticulatedLanes *w)
{
    return w->c.raibert_metric + ((w->c.uses & CONTROL_LEGS) != 0 ? RAIBERT_METRICS : 0);
}

#endif
