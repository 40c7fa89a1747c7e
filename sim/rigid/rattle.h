// RATTLE: half a kick with the multipliers for which the step ends on the constraints, a free drift, half a kick with
// those for which the velocities do. Bodies turn freely between the kicks by turns about their principal axes, which
// keep the angular momentum: a symmetric splitting, so that all of it is symplectic and of second order.
// Sources: H. C. Andersen, J. Comp. Phys. 52, 1983; A. Dullweber, B. Leimkuhler & R. McLachlan, J. Chem. Phys. 107,
// 1997 (the splitting).
#ifndef HOPSCOTCH_RIGID_RATTLE_H
#define HOPSCOTCH_RIGID_RATTLE_H

#include "step.h"

#define RIGID_RATTLE_ENOUGH 1e-14 // of |C|
#define RIGID_RATTLE_NEAR 1e-12   // of |C|: more of it may be a miss
#define RIGID_RATTLE_FAR 1e300    // more than any

// Turns q about its body axis k by h Pi_k/I_k, and Pi with it.
HD void rigid_turn_about(int k, real h, const double *moments, Quaternion *q, Vector3 *Pi)
{
    const real rate = (k == 0 ? Pi->x : k == 1 ? Pi->y : Pi->z) / moments[k];
    real s, c, half_s, half_c;
    sine_cosine(h * rate, &s, &c);
    sine_cosine(0.5 * h * rate, &half_s, &half_c);
    Quaternion turn;
    turn.x = k == 0 ? half_s : splat(0.0);
    turn.y = k == 1 ? half_s : splat(0.0);
    turn.z = k == 2 ? half_s : splat(0.0);
    turn.w = half_c;
    *q = quaternion_times(*q, turn);
    const Vector3 old = *Pi;
    if (k == 0) *Pi = vector3(old.x, fused(c, old.y, s * old.z), fused(c, old.z, -(s * old.y)));
    if (k == 1) *Pi = vector3(fused(c, old.x, -(s * old.z)), old.y, fused(c, old.z, s * old.x));
    if (k == 2) *Pi = vector3(fused(c, old.x, s * old.y), fused(c, old.y, -(s * old.x)), old.z);
}

HD Quaternion rigid_axes(const RigidBody *body)
{
    Quaternion q;
    q.x = splat(body->axes[0]);
    q.y = splat(body->axes[1]);
    q.z = splat(body->axes[2]);
    q.w = splat(body->axes[3]);
    return q;
}

// The free flight of one body from where it stood at the step's start, with the spin that it has now; with_spin: the
// spin is then that at the end.
HD_CALL void rigid_fly(const RigidLanes *restrict w, int number, bool with_spin)
{
    const int start = rigid_body_at(w, number) + RIGID_BODY_START;
    const RigidBody *body = &w->bodies[number];
    Quaternion q;
    q.x = cell(w, start + 3);
    q.y = cell(w, start + 4);
    q.z = cell(w, start + 5);
    q.w = cell(w, start + 6);
    q = quaternion_times(q, rigid_axes(body));
    Rotation turn = rotation_of(q);
    Vector3 Pi = rotation_in(&turn, rigid_w(w, number));
    Pi = vector3(Pi.x * body->moments[0], Pi.y * body->moments[1], Pi.z * body->moments[2]);
    const real half = 0.5 * w->dt;
    rigid_turn_about(0, half, body->moments, &q, &Pi);
    rigid_turn_about(1, half, body->moments, &q, &Pi);
    rigid_turn_about(2, w->dt, body->moments, &q, &Pi);
    rigid_turn_about(1, half, body->moments, &q, &Pi);
    rigid_turn_about(0, half, body->moments, &q, &Pi);
    q = quaternion_normal(q);
    keep_cell3(w, rigid_state_at(w, number), along(cell3(w, start), w->dt, rigid_v(w, number)));
    rigid_set_q(w, number, quaternion_times(q, quaternion_conjugate(rigid_axes(body))));
    if (!with_spin) return;
    turn = rotation_of(q);
    const Vector3 spin = vector3(Pi.x / body->moments[0], Pi.y / body->moments[1], Pi.z / body->moments[2]);
    keep_cell3(w, rigid_state_at(w, number) + 10, rotation_out(&turn, spin));
}

HD void rigid_fly_all(const RigidLanes *w, bool with_spin)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) rigid_fly(w, w->order[b], with_spin);
    rigid_wait(w);
}

HD void rigid_remember(const RigidLanes *w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b];
        for (int k = 0; k < 7; k++)
            set_cell(w, rigid_body_at(w, body) + RIGID_BODY_START + k, cell(w, rigid_state_at(w, body) + k));
    }
}

HD real rigid_greatest_C(const RigidLanes *w)
{
    real greatest = splat(0.0);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size)
        greatest = most_of(absolute(cell(w, rigid_row_at(w, k) + RIGID_ROW_C)), greatest);
    return rigid_most_of_team(w, greatest);
}

HD void rigid_no_forces(const RigidLanes *w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int at = rigid_body_at(w, w->order[b]) + RIGID_BODY_F;
        for (int k = 0; k < 6; k++) set_cell(w, at + k, splat(0.0));
    }
}

// How the iterations go.
typedef struct RigidAim {
    real first, before; // greatest |C| where they began, and with one of them less
    mask open;          // lanes that aim on
    mask missed;        // that have come to a stand far from the constraints
    mask worse;         // that have just done so, farther than with one iteration less
} RigidAim;

HD RigidAim rigid_aim_begin(const RigidLanes *w)
{
    RigidAim aim;
    aim.first = aim.before = splat(RIGID_RATTLE_FAR);
    aim.open = w->active;
    aim.missed = aim.worse = no_lanes();
    return aim;
}

// What the greatest |C| where the flight ends says.
HD void rigid_aim_judge(RigidAim *aim, real error)
{
    const mask begins = MASK(aim->before == splat(RIGID_RATTLE_FAR));
    const mask on = aim->open & MASK(error > splat(RIGID_RATTLE_ENOUGH)) & MASK(error < 0.75 * aim->before);
    aim->first = select_real(begins, error, aim->first);
    const mask misses = aim->open & ~on & MASK(error > splat(RIGID_RATTLE_NEAR)) & MASK(error > 1e-4 * aim->first);
    aim->missed = aim->missed | misses;
    aim->worse = misses & MASK(error > aim->before);
    aim->open = on;
    aim->before = error;
}

// The change of velocity that takes the errors C away by the end of the flight; rate: 1/dt, 0 in lanes that don't aim.
HD void rigid_aim_once(const RigidLanes *w, real rate)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_RHS, -(rate * cell(w, at + RIGID_ROW_C)));
    }
    rigid_wait(w);
    rigid_solve(w);
    rigid_kick(w, splat(1.0));
}

// Changes of velocity, at the factors of the step's start, until the flight ends on the constraints, or as near as
// rounding lets it: where an iteration takes less than a quarter of the error away, more of them would only add to it
// (far from the origin, and where a mechanism passes a singular pose). The lanes where that is so stay as they are.
// Takes the last change of velocity back where it led away: at a singular pose the errors before it are the lesser.
HD void rigid_aim_back(const RigidLanes *w, mask worse)
{
    RigidLanes back = *w;
    back.active = worse;
    rigid_kick(&back, splat(-1.0));
}

// Gives the lanes that have missed them by far.
HD mask rigid_aim(const RigidLanes *w)
{
    RigidAim aim = rigid_aim_begin(w);
    rigid_no_forces(w);
    for (int iteration = 0; iteration < w->c.iterations; iteration++) {
        rigid_fly_all(w, false);
        rigid_assemble(w, false);
        rigid_aim_judge(&aim, rigid_greatest_C(w));
        if (any_lane(aim.worse)) rigid_aim_back(w, aim.worse);
        if (!any_lane(aim.open)) break;
        rigid_aim_once(w, select_real(aim.open, 1.0 / w->dt, splat(0.0)));
    }
    return aim.missed;
}

// Rows that ask for J a = -s J' v - c J v
HD void rigid_hold(const RigidLanes *w, real s, real c)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_RHS, -(s * cell(w, at + RIGID_ROW_BIAS)) - c * cell(w, at + RIGID_ROW_JV));
        set_cell(w, at + RIGID_ROW_SOFT, w->c.cfm > 0.0 ? w->c.cfm * rigid_row_compliance(w, k) : splat(0.0));
    }
    rigid_wait(w);
}

// The masses are those of the state, before and after. Gives the rows that follow from others; missed: with the lanes
// that end far from the constraints.
HD_CALL real rigid_step_second_order(const RigidLanes *restrict w, real t, mask *missed)
{
    const real half = 0.5 * w->dt;
    rigid_assemble(w, true);
    rigid_forces(w, t, false);
    rigid_hold(w, splat(1.0), splat(0.0)); // a first guess: the accelerations at the start
    rigid_factor_all(w);
    rigid_solve(w);
    rigid_remember(w);
    rigid_kick(w, half);
    *missed = *missed | rigid_aim(w);
    rigid_fly_all(w, true);

    rigid_masses(w);
    rigid_assemble(w, true);
    rigid_forces(w, t + w->dt, false);
    rigid_hold(w, splat(0.0), 1.0 / half);
    const real dropped = rigid_factor_all(w);
    rigid_solve(w);
    rigid_kick(w, half);
    rigid_wait(w);
    return dropped;
}

// Five steps of lengths p h, p h, (1 - 4p) h, p h, p h: what the third power of h has in them cancels.
// Source: M. Suzuki, Phys. Lett. A 146, 1990, with p = 1/(4 - 4^(1/3)).
HD double rigid_fifth(int k)
{
    const double p = 0.41449077179437573714;
    return k == 2 ? 1.0 - 4.0 * p : p;
}

// Of lanes that are refined, five of order two and of equal lengths: all go forwards, which passes singular poses where
// the five of order four stop at them, and a fifth as long.
HD real rigid_fifth_of(int k, mask refined) { return select_real(refined, splat(0.2), splat(rigid_fifth(k))); }

// The state and the latches, to begin the step once more.
HD void rigid_save(const RigidLanes *w, bool back)
{
    const int states = w->c.sums_at, count = states + w->c.n_forces;
    rigid_wait(w);
    for (int k = w->rank; k < count; k += w->size) {
        const int at = k < states ? k : w->c.latch_at + k - states, saved = w->c.saved_at + k;
        set_cell(w, back ? at : saved, cell(w, back ? saved : at));
    }
    rigid_wait(w);
    if (back) rigid_masses(w);
}

HD_CALL real rigid_step_fifths(const RigidLanes *restrict w, real t, mask refined, mask *missed)
{
    RigidLanes part = *w;
    real dropped = splat(0.0);
    for (int k = 0; k < 5; k++) {
        part.dt = rigid_fifth_of(k, refined) * w->dt;
        dropped = rigid_step_second_order(&part, t, missed);
        t = t + part.dt;
    }
    return dropped;
}

// Counts the steps that are refined.
HD void rigid_count_refined(const RigidLanes *w, mask refined)
{
    const int at = w->c.sums_at + RIGID_METRIC_refined_steps;
    if (!rigid_speaks(w)) return;
    set_cell(w, at, cell(w, at) + select_real(refined, splat(1.0), splat(0.0)));
}

// A step that misses the constraints begins once more, in all lanes, the others as before.
HD real rigid_step_fourth_order(const RigidLanes *w, real t, mask *missed)
{
    mask refined = no_lanes();
    rigid_save(w, false);
    const real dropped = rigid_step_fifths(w, t, refined, &refined);
    if (!any_lane(refined)) return dropped;
    rigid_count_refined(w, refined);
    rigid_save(w, true);
    return rigid_step_fifths(w, t, refined, missed);
}

// Gives the rows that follow from others.
HD real rigid_step_rattle(const RigidLanes *w, real t, mask *missed)
{
    return w->c.order_four ? rigid_step_fourth_order(w, t, missed) : rigid_step_second_order(w, t, missed);
}

#endif
