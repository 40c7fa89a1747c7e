// RATTLE. A step is half a kick with the multipliers for which the step ends on the constraints, a free flight, and
// half a kick with the multipliers for which the velocities satisfy them. In the flight bodies turn freely by rotations
// about their principal axes, which keep the angular momentum. All of it is a symmetric splitting, so the step is
// symplectic and of second order.
//
// Forces that depend on velocities are taken at the start of the step in the first half kick, and at its end,
// velocities included, in the second. The two halves are adjoint, so the step stays symmetric.
//
// Between steps a lane keeps J, the factors and the masses of its state (rigid_ready), because the second half of a
// step and the first half of the next one use the same. Sources: H. C. Andersen, J. Comp. Phys. 52, 1983; A. Dullweber,
// B. Leimkuhler & R. McLachlan, J. Chem. Phys. 107, 1997 (the splitting).
#ifndef HOPSCOTCH_RIGID_RATTLE_H
#define HOPSCOTCH_RIGID_RATTLE_H

#include "step.h"

#define RIGID_RATTLE_ENOUGH 3e-14 // of |C|, and of a change of velocity (m/s, rad/s)
#define RIGID_RATTLE_SOON 1e-13   // of |C|: an iteration that is expected to leave less is the last, unchecked
#define RIGID_RATTLE_NEAR 1e-12   // of |C|: more of it may be a miss
#define RIGID_RATTLE_ROUND 1e-14  // relative to the numbers that C consists of: this much may be rounding
#define RIGID_RATTLE_FAR 1e300    // greater than any error

// x[6] <- M^-1 x of a body, for either solver
HD void rigid_lighten(const RigidLanes *w, int body, real *x)
{
    if (w->bodies[body].skyline != 0) {
        rigid_divide(w, body, x);
        return;
    }
    const real inverse = 1.0 / cell(w, rigid_body_at(w, body) + RIGID_BODY_M);
    const Vector3 turn = symmetric3_times(symmetric3_inverse(rigid_inertia(w, body)), vector3(x[3], x[4], x[5]));
    for (int c = 0; c < 3; c++) x[c] = inverse * x[c];
    x[3] = turn.x;
    x[4] = turn.y;
    x[5] = turn.z;
}

HD void rigid_no_forces(const RigidLanes *w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int at = rigid_body_at(w, w->order[b]) + RIGID_BODY_F;
        for (int k = 0; k < 6; k++) set_cell(w, at + k, splat(0.0));
    }
}

// ---- free flight ----------------------------------------------------------------------------------------------------

HD real rigid_component(int k, const Vector3 *a) { return k == 0 ? a->x : k == 1 ? a->y : a->z; }

// Rotates q about its body axis k by h Pi_k `inverse`, and Pi with it.
HD void rigid_turn_about(int k, real h, double inverse, Quaternion *q, Vector3 *Pi)
{
    const real rate = rigid_component(k, Pi) * inverse;
    real half_s, half_c;
    sine_cosine(0.5 * h * rate, &half_s, &half_c);
    const real s = 2.0 * half_s * half_c, c = 1.0 - 2.0 * half_s * half_s;
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

HD Quaternion rigid_quaternion(const RigidLanes *w, int at)
{
    Quaternion q;
    q.x = cell(w, at);
    q.y = cell(w, at + 1);
    q.z = cell(w, at + 2);
    q.w = cell(w, at + 3);
    return q;
}

// The orientation of a body's principal axes, from the body's, and back.
HD Quaternion rigid_axes(const RigidBody *body)
{
    Quaternion q;
    q.x = splat(body->axes[0]);
    q.y = splat(body->axes[1]);
    q.z = splat(body->axes[2]);
    q.w = splat(body->axes[3]);
    return q;
}
HD Quaternion rigid_to_axes(const RigidBody *body, Quaternion q)
{
    return body->axes[3] == 1.0 ? q : quaternion_times(q, rigid_axes(body));
}
HD Quaternion rigid_from_axes(const RigidBody *body, Quaternion q)
{
    return body->axes[3] == 1.0 ? q : quaternion_times(q, quaternion_conjugate(rigid_axes(body)));
}

// The orientation q of the principal axes and the angular momentum Pi in them, after h: a splitting into exact flows.
HD void rigid_turn_body(const RigidBody *body, real h, Quaternion *q, Vector3 *Pi)
{
    const double *inverse = body->inverse;
    const real half = 0.5 * h;
    rigid_turn_about(0, half, inverse[0], q, Pi);
    rigid_turn_about(1, half, inverse[1], q, Pi);
    rigid_turn_about(2, h, inverse[2], q, Pi);
    rigid_turn_about(1, half, inverse[1], q, Pi);
    rigid_turn_about(0, half, inverse[0], q, Pi);
}

// A symmetric top, exactly: rotation about its angular momentum with Pi/I, and about its axis k with (1/I_k - 1/I)
// Pi_k; I is the moment about the other two axes.
HD void rigid_turn_top(const RigidBody *body, real h, Quaternion *q, Vector3 *Pi)
{
    *q = quaternion_times(*q, turn_by_twice(scaled(h * (0.5 * body->across), *Pi)));
    if (body->beyond != 0.0) rigid_turn_about(body->top, h, body->beyond, q, Pi);
}

// The free flight of one body from its position at the step's start, with its present velocities. START: its centre,
// and the orientation of its principal axes.
HD_CALL void rigid_fly(const RigidLanes *restrict w, int number)
{
    const int at = rigid_body_at(w, number), start = at + RIGID_BODY_START;
    const RigidBody *body = &w->bodies[number];
    Quaternion q = rigid_quaternion(w, start + 3);
    const Rotation turn = rotation_of(q);
    Vector3 Pi = rotation_in(&turn, rigid_w(w, number));
    Pi = vector3(Pi.x * body->moments[0], Pi.y * body->moments[1], Pi.z * body->moments[2]);
    if (body->top >= 0)
        rigid_turn_top(body, w->dt, &q, &Pi);
    else
        rigid_turn_body(body, w->dt, &q, &Pi);
    update_cell3(w, rigid_state_at(w, number), along(cell3(w, start), w->dt, rigid_v(w, number)));
    rigid_set_q(w, number, rigid_from_axes(body, q));
}

// a turned by q: a + 2 s (v x a) + 2 v x (v x a)
HD Vector3 rigid_turned(Quaternion q, const double *a)
{
    const Vector3 v = vector3(q.x, q.y, q.z), from = vector3_of(a), twice = scaled(splat(2.0), cross3(v, from));
    return added(along(from, q.w, twice), cross3(v, twice));
}

// The error of one constraint row, in the unit of rigid_values.
HD real rigid_error(const RigidLanes *w, const RigidRow *row, Vector3 d)
{
    if (row->kind == RIGID_ALONG) return dot3(vector3_of(row->a), d) - rigid_target(w, row);
    if (row->kind == RIGID_PERPENDICULAR)
        return dot3(rigid_turned(rigid_q(w, row->i), row->a), rigid_turned(rigid_q(w, row->j), row->b));
    if (row->kind == RIGID_DISTANCE) {
        const real length = length3(d), target = rigid_target(w, row);
        return 0.5 * (length - target) * (length + target);
    }
    const Quaternion turn = quaternion_times(quaternion_times(rigid_q(w, row->i), rigid_rest(row)),
                                             quaternion_conjugate(rigid_q(w, row->j)));
    return dot3(vector3_of(row->a), quaternion_logarithm(turn));
}

// Computes the errors of all rows; returns the greatest.
HD_CALL real rigid_errors(const RigidLanes *restrict w)
{
    real greatest = splat(0.0);
    for (int k = w->row + w->rank, n; k < w->row_end; k += w->size * n) {
        const RigidRow *row = &w->rows[k];
        const Vector3 d = less(added(rigid_p(w, row->i), rigid_turned(rigid_q(w, row->i), row->at_i)),
                               added(rigid_p(w, row->j), rigid_turned(rigid_q(w, row->j), row->at_j)));
        n = rigid_together(w, k);
        for (int r = 0; r < n; r++) {
            const real C = rigid_error(w, row + r, d);
            set_cell(w, rigid_row_at(w, k + r) + RIGID_ROW_C, C);
            greatest = most_of(absolute(C), greatest);
        }
    }
    rigid_wait(w);
    return greatest;
}

HD void rigid_fly_all(const RigidLanes *w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) rigid_fly(w, w->order[b]);
    rigid_wait(w);
}

// Flies all bodies; returns the greatest error of a row at the end.
HD real rigid_fly_there(const RigidLanes *w)
{
    rigid_fly_all(w);
    return rigid_most_of_team(w, rigid_errors(w));
}

// ---- multipliers of the steps before --------------------------------------------------------------------------------

// Predicts the multipliers with which a step of length h begins. They are a smooth function L(t, h) of the state at its
// start. By the method's symmetry, those with which the last step, of length g, ended there are L(t, -g). With the two
// last steps, to first order in t and h:
//     L(t, h) = L(t, -g) + (g + h)/(f + g) (L(t - g, g) - L(t - g, -f)), f the length of the step before the last.
// The error O(h^2) moves the end of the flight by O(h^4). The difference is limited to a tenth of L(t, -g): near a
// singular pose, where multipliers jump, it is meaningless.
enum { RIGID_PAST_END, RIGID_PAST_BEGIN, RIGID_PAST_END_BEFORE }; // L(t, -g), L(t - g, g), L(t - g, -f)

HD int rigid_past_at(const RigidLanes *w, int row) { return w->c.past_at + RIGID_PAST * row; }

// A step in a sequence. ratio: (g + h)/(f + g); refined: lanes in which it is a substep of a refined step.
typedef struct RigidStart {
    double ratio;
    mask refined;
} RigidStart;

// Computes the multipliers from the accelerations.
HD void rigid_accelerate(const RigidLanes *w)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_RHS, -cell(w, at + RIGID_ROW_BIAS));
    }
    rigid_wait(w);
    rigid_solve(w);
}

// Half a kick with the predicted multipliers, so that the flight ends near the constraints. Refined steps can't use the
// prediction; they begin with the multipliers of the accelerations.
HD void rigid_kick_off(const RigidLanes *restrict w, const RigidStart *with)
{
    const real half = 0.5 * w->dt;
    if (any_lane(with->refined)) {
        rigid_assemble(w, true); // with the velocities at the end of the step before
        rigid_accelerate(w);
    }
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int past = rigid_past_at(w, k);
        const real end = cell(w, past + RIGID_PAST_END),
                   jump = cell(w, past + RIGID_PAST_BEGIN) - cell(w, past + RIGID_PAST_END_BEFORE);
        const real most = 0.1 * absolute(end), own = cell(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA);
        const real lambda = select_real(with->refined, own, end + clamped(with->ratio * jump, -most, most));
        set_cell(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA, lambda);
        update_cell(w, past + RIGID_PAST_BEGIN, lambda);
        update_cell(w, past + RIGID_PAST_END_BEFORE, end);
    }
    rigid_wait(w);
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body), state = rigid_state_at(w, body);
        const Quaternion q = rigid_to_axes(&w->bodies[body], rigid_q(w, body));
        real a[6];
        set_cell3(w, at + RIGID_BODY_START, cell3(w, state));
        set_cell(w, at + RIGID_BODY_START + 3, q.x);
        set_cell(w, at + RIGID_BODY_START + 4, q.y);
        set_cell(w, at + RIGID_BODY_START + 5, q.z);
        set_cell(w, at + RIGID_BODY_START + 6, q.w);
        rigid_take(w, at + RIGID_BODY_F, 6, a);
        rigid_gather(w, body, 0, RIGID_ROW_LAMBDA, a);
        rigid_lighten(w, body, a);
        for (int c = 0; c < 6; c++) update_cell(w, state + 7 + c, fused(half, a[c], cell(w, state + 7 + c)));
    }
    rigid_no_forces(w);
}

// ---- the end of the flight ------------------------------------------------------------------------------------------

// State of the iterations.
typedef struct RigidAim {
    real before;  // greatest |C| one iteration before
    mask open;    // lanes that iterate on and check the result
    mask closing; // lanes whose next iteration is the last
    mask missed;  // lanes that stopped far from the constraints
    mask worse;   // lanes that just stopped, with a greater error than one iteration before
} RigidAim;

HD RigidAim rigid_aim_begin(const RigidLanes *w)
{
    RigidAim aim;
    aim.before = splat(RIGID_RATTLE_FAR);
    aim.open = w->active;
    aim.closing = aim.missed = aim.worse = no_lanes();
    return aim;
}

// The greatest of the numbers that errors consist of: bodies' coordinates, and for a distance these times its length.
HD_CALL real rigid_greatest_term(const RigidLanes *restrict w)
{
    real greatest = splat(0.0);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const RigidRow *row = &w->rows[k];
        const Vector3 i = rigid_p(w, row->i), j = rigid_p(w, row->j);
        real term = most_of(square_root(dot3(i, i)), square_root(dot3(j, j)));
        if (row->kind == RIGID_DISTANCE) term = term * rigid_target(w, row);
        greatest = most_of(term, greatest);
    }
    return rigid_most_of_team(w, greatest);
}

// Decides from the greatest |C| at the end of the flight. A lane that has stopped stays so. An iteration reduces |C| by
// about the same factor as the one before; if that will be enough, the next iteration is the last.
HD void rigid_aim_judge(const RigidLanes *w, RigidAim *aim, real error, bool first)
{
    const mask on =
        aim->open & MASK(value_of(error) > RIGID_RATTLE_ENOUGH) & MASK(value_of(error) < value_of(0.75 * aim->before));
    const mask soon = MASK(value_of(error) <= RIGID_RATTLE_NEAR) &
                      MASK(value_of(error * error) < value_of(RIGID_RATTLE_SOON * aim->before)) &
                      (first ? no_lanes() : all_lanes());
    mask misses = aim->open & ~on & MASK(value_of(error) > RIGID_RATTLE_NEAR);
    if (any_lane(misses))
        misses = misses & MASK(value_of(error) > value_of(RIGID_RATTLE_ROUND * rigid_greatest_term(w)));
    aim->missed = aim->missed | misses;
    aim->worse = misses & MASK(value_of(error) > value_of(aim->before));
    aim->closing = on & soon;
    aim->open = on & ~soon;
    aim->before = error;
}

// Adds s D to v, and the multipliers that give it to those of the step's start.
HD void rigid_aim_kick(const RigidLanes *w, double s)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int D = rigid_body_at(w, w->order[b]) + RIGID_BODY_D, v = rigid_state_at(w, w->order[b]) + 7;
        for (int c = 0; c < 6; c++) update_cell(w, v + c, fused(splat(s), cell(w, D + c), cell(w, v + c)));
    }
    const real rise = 2.0 * s / w->dt;
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_past_at(w, k) + RIGID_PAST_BEGIN;
        update_cell(w, at, fused(rise, cell(w, rigid_row_at(w, k) + RIGID_ROW_X), cell(w, at)));
    }
}

// Finds the change of velocity that removes the errors C by the end of the flight; rate: 1/dt, 0 in lanes that do not
// iterate. Without refinement, because the next flight shows the rest.
HD void rigid_aim_once(const RigidLanes *w, real rate)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        const real side = -(rate * cell(w, at + RIGID_ROW_C));
        set_cell(w, at + RIGID_ROW_RHS, side);
        set_cell(w, at + RIGID_ROW_X, side);
    }
    rigid_wait(w);
    rigid_solve_rows(w);
    rigid_aim_kick(w, 1.0);
}

// One iteration. Returns the greatest error of a row in the lanes that iterate on; it is not computed if this is the
// last iteration of all of them.
HD real rigid_aim_again(const RigidLanes *w, const RigidAim *aim)
{
    RigidLanes lanes = *w;
    lanes.active = aim->open | aim->closing;
    rigid_aim_once(w, select_real(lanes.active, 1.0 / w->dt, splat(0.0)));
    if (any_lane(aim->open)) return rigid_fly_there(&lanes);
    rigid_fly_all(&lanes);
    return splat(0.0);
}

// Undoes the last change of velocity in the lanes of `worse`: at a singular pose the errors before it are smaller.
HD void rigid_aim_back(const RigidLanes *w, mask worse)
{
    RigidLanes back = *w;
    back.active = worse;
    rigid_aim_kick(&back, -1.0);
    rigid_fly_all(&back);
}

// Iterates on the velocity, with the factors of the step's start, until the flight ends on the constraints, or as near
// as rounding allows: if an iteration removes less than a quarter of the error, more of them would only add errors (far
// from the origin, or at a singular pose). A lane that has stopped does not change. Returns the lanes that missed the
// constraints by far.
HD mask rigid_aim(const RigidLanes *w)
{
    RigidAim aim = rigid_aim_begin(w);
    real error = rigid_fly_there(w);
    for (int iteration = 0;; iteration++) {
        rigid_aim_judge(w, &aim, error, iteration == 0);
        if (any_lane(aim.worse)) rigid_aim_back(w, aim.worse);
        if (iteration == w->c.iterations || !any_lane(aim.open | aim.closing)) return aim.missed;
        error = rigid_aim_again(w, &aim);
    }
}

// ---- the second half kick -------------------------------------------------------------------------------------------

// Computes the data that a state keeps between steps.
HD void rigid_ready(const RigidLanes *w)
{
    rigid_assemble(w, true);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size)
        set_cell(w, rigid_row_at(w, k) + RIGID_ROW_SOFT,
                 w->c.cfm > 0.0 ? w->c.cfm * rigid_row_compliance(w, k) : splat(0.0));
    rigid_wait(w);
}

// Angular velocity of a body at the end of its flight, from its constant angular momentum, in world axes.
HD Vector3 rigid_end_spin(const RigidLanes *w, int number, Vector3 momentum)
{
    const RigidBody *body = &w->bodies[number];
    const Rotation turn = rotation_of(rigid_to_axes(body, rigid_q(w, number)));
    const Vector3 Pi = rotation_in(&turn, momentum);
    return rotation_out(&turn, vector3(Pi.x * body->inverse[0], Pi.y * body->inverse[1], Pi.z * body->inverse[2]));
}

// The state at the end of the flight with its masses and rows; the bodies' START gets the velocities so far.
HD void rigid_land(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body), state = rigid_state_at(w, body);
        const Vector3 momentum = symmetric3_times(rigid_inertia(w, body), rigid_w(w, body)); // at the step's start
        rigid_set_q(w, body, quaternion_normal(rigid_q(w, body)));
        update_cell3(w, state + 10, rigid_end_spin(w, body, momentum));
        for (int c = 0; c < 6; c++) set_cell(w, at + RIGID_BODY_START + c, cell(w, state + 7 + c));
    }
    rigid_masses(w);
    rigid_ready(w);
}

// Sets the rows so that J v = 0 after half a kick.
HD void rigid_hold(const RigidLanes *w)
{
    const real rate = 1.0 / (0.5 * w->dt);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_RHS, -(rate * cell(w, at + RIGID_ROW_JV)));
    }
    rigid_wait(w);
}

// Solves for the multipliers with the present forces. Returns the change of the velocities from those at which the
// forces were taken; lanes of `open` will use the new ones.
HD real rigid_settle_once(const RigidLanes *w)
{
    const real half = 0.5 * w->dt;
    real greatest = splat(0.0);
    rigid_solve(w);
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int at = rigid_body_at(w, w->order[b]), state = rigid_state_at(w, w->order[b]);
        for (int c = 0; c < 6; c++) {
            const real v = fused(half, cell(w, at + RIGID_BODY_A + c), cell(w, at + RIGID_BODY_START + c));
            greatest = most_of(absolute(v - cell(w, state + 7 + c)), greatest);
        }
    }
    return rigid_most_of_team(w, greatest);
}

// v <- velocities with these multipliers, in the lanes of `open`
HD void rigid_settle_kick(const RigidLanes *w, mask open)
{
    RigidLanes lanes = *w;
    const real half = 0.5 * w->dt;
    lanes.active = open;
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int at = rigid_body_at(w, w->order[b]), state = rigid_state_at(w, w->order[b]);
        for (int c = 0; c < 6; c++)
            update_cell(&lanes, state + 7 + c,
                        fused(half, cell(w, at + RIGID_BODY_A + c), cell(w, at + RIGID_BODY_START + c)));
    }
    rigid_wait(w);
}

// Lanes that iterate on: their change is above the limit, and was so one iteration before.
HD mask rigid_goes_on(const RigidLanes *w, real change, real before)
{
    return MASK(value_of(change) > RIGID_RATTLE_ENOUGH) & MASK(value_of(change) < value_of(0.75 * before)) & w->active;
}

// Half a kick with forces that depend on the resulting velocities: forces, multipliers and velocities are computed in
// turn until the velocities converge. A converged lane keeps its velocities; in further iterations it computes the same
// multipliers.
HD void rigid_settle(const RigidLanes *w, real t)
{
    real before = splat(RIGID_RATTLE_FAR);
    for (int iteration = 0;; iteration++) {
        const real change = rigid_settle_once(w);
        const mask open = iteration == 0 ? w->active : rigid_goes_on(w, change, before);
        before = iteration == 0 ? before : change;
        if (iteration > 0 && (iteration >= w->c.iterations || !any_lane(open))) return;
        rigid_settle_kick(w, open);
        if (w->c.damped == 0) return;
        rigid_forces(w, t, false);
    }
}

// Keeps the multipliers of the step's end for the next step.
HD void rigid_store_past(const RigidLanes *w)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size)
        update_cell(w, rigid_past_at(w, k) + RIGID_PAST_END, cell(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA));
    rigid_wait(w);
}

// ---- a step ---------------------------------------------------------------------------------------------------------

// From t on. Returns the number of rows that follow from others; adds lanes that end far from the constraints to
// `missed`.
HD_CALL real rigid_step_second_order(const RigidLanes *restrict w, real t, const RigidStart *with, mask *missed)
{
    const real power = rigid_input_power(w);
    rigid_forces(w, t, false);
    rigid_kick_off(w, with);
    *missed = *missed | rigid_aim(w);
    rigid_land(w);
    const real dropped = rigid_factor_all(w);
    rigid_hold(w);
    rigid_forces(w, t + w->dt, false);
    rigid_settle(w, t + w->dt);
    rigid_add_work(w, w->dt, power);
    rigid_store_past(w);
    return dropped;
}

// Steps with these fractions of h, one after the other: errors cancel up to the order. Sources: M. Suzuki, Phys. Lett.
// A 146, 1990 (five, p = 1/(4 - 4^(1/3)), order four); M. Sofroniou & G. Spaletta, Optim. Methods Softw. 20, 2005
// (eleven, order six).
#define RIGID_SUZUKI 0.41449077179437573714
enum { RIGID_SUBSTEPS_MOST = 11 };
typedef struct RigidSubsteps {
    int count;
    double fraction[RIGID_SUBSTEPS_MOST];
} RigidSubsteps;

HD RigidSubsteps rigid_substeps(int order)
{
    const RigidSubsteps two = {1, {1.0}};
    const RigidSubsteps four = {5, {RIGID_SUZUKI, RIGID_SUZUKI, 1.0 - 4.0 * RIGID_SUZUKI, RIGID_SUZUKI, RIGID_SUZUKI}};
    const RigidSubsteps six = {11,
                               {0.21375583945878254556, 0.18329381407425713911, 0.17692819473098943795,
                                -0.44329082681170215850, 0.11728560432865935385, 0.50405474843802736406,
                                0.11728560432865935385, -0.44329082681170215850, 0.17692819473098943795,
                                0.18329381407425713911, 0.21375583945878254556}};
    return order == RIGID_ORDER_TWO ? two : order == RIGID_ORDER_FOUR ? four : six;
}

// (g + h)/(f + g) of substep k; g and f are the substeps before it, or of the step before.
HD double rigid_ratio(const RigidSubsteps *substeps, int k)
{
    const double f = substeps->fraction[(k + 2 * substeps->count - 2) % substeps->count];
    const double g = substeps->fraction[(k + substeps->count - 1) % substeps->count];
    return (g + substeps->fraction[k]) / (f + g);
}

// Refined lanes repeat a step in the same number of substeps, but of order two and of equal lengths: all go forwards
// and pass singular poses, where methods of higher order, with backward substeps, stop. A step of order two becomes
// five shorter ones: the factors of a substep's start still lead to its end if singular values change by less than
// their size. The other lanes wait meanwhile and take their step with the last of the five.
enum { RIGID_TWO_REFINED = 5 };

HD int rigid_count_substeps(const RigidSubsteps *substeps, mask refined)
{
    return substeps->count == 1 && any_lane(refined) ? RIGID_TWO_REFINED : substeps->count;
}

typedef struct RigidSpan {
    real length;    // of the step's
    double ratio;   // as in RigidStart
    mask active;    // lanes that take it
    int32_t refine; // passes of refinement
} RigidSpan;

// Substep k of count. Errors of the multipliers at the end of a substep are corrected by those at the start of the
// next, because both act where the substep ends: refine_within.
HD RigidSpan rigid_span(const RigidLanes *w, const RigidSubsteps *substeps, int k, int count, mask refined)
{
    const int own = k % substeps->count;
    RigidSpan substep;
    substep.length = select_real(refined, splat(1.0 / count), splat(substeps->fraction[own]));
    substep.ratio = rigid_ratio(substeps, own);
    substep.active = count == substeps->count || k + 1 == count ? w->active : w->active & refined;
    substep.refine = k + 1 < count ? w->c.refine_within : w->c.refine;
    return substep;
}

// Saves the cells that a step changes and that outlive it; back: restores them.
HD void rigid_save(const RigidLanes *w, bool back)
{
    const int states = w->c.sums_at, count = states + w->c.kept - w->c.latch_at;
    rigid_wait(w);
    for (int k = w->rank; k < count; k += w->size) {
        const int at = k < states ? k : w->c.latch_at + k - states, saved = w->c.saved_at + k;
        set_cell(w, back ? at : saved, cell(w, back ? saved : at));
    }
    rigid_wait(w);
    if (!back) return;
    rigid_masses(w);
    rigid_ready(w);
    rigid_factor_all(w);
}

// Counts the steps that are refined.
HD void rigid_count_refined(const RigidLanes *w, mask refined)
{
    const int at = w->c.sums_at + RIGID_METRIC_refined_steps;
    if (!rigid_speaks(w)) return;
    set_cell(w, at, cell(w, at) + select_real(refined, splat(1.0), splat(0.0)));
}

HD_CALL real rigid_step_in_substeps(const RigidLanes *restrict w, real t, mask refined, mask *missed)
{
    const RigidSubsteps substeps = rigid_substeps(w->c.rattle_order);
    const int count = rigid_count_substeps(&substeps, refined);
    RigidLanes lanes = *w;
    real dropped = splat(0.0);
    for (int k = 0; k < count; k++) {
        const RigidSpan substep = rigid_span(w, &substeps, k, count, refined);
        const RigidStart with = {substep.ratio, refined};
        lanes.dt = substep.length * w->dt;
        lanes.active = substep.active;
        lanes.refine = substep.refine;
        dropped = rigid_step_second_order(&lanes, t, &with, missed);
        t = t + select_real(substep.active, lanes.dt, splat(0.0));
    }
    return dropped;
}

// Returns the number of rows that follow from others. If a step misses the constraints in some lanes, it is repeated in
// all lanes; the other lanes get the same result again.
HD real rigid_step_rattle(const RigidLanes *w, real t, mask *missed)
{
    mask refined = no_lanes();
    rigid_latch(w, t);
    if (w->c.refines == 0) return rigid_step_in_substeps(w, t, refined, missed);
    rigid_save(w, false);
    const real dropped = rigid_step_in_substeps(w, t, refined, &refined);
    if (!any_lane(refined)) return dropped;
    rigid_count_refined(w, refined);
    rigid_save(w, true);
    return rigid_step_in_substeps(w, t, refined, missed);
}

// Prepares the next step, at the present masses: rows and factors; first: multipliers of a step of length 0 too.
HD void rigid_prepare_rattle(const RigidLanes *w, bool first)
{
    rigid_ready(w);
    const real follow = rigid_count_of_team(w, rigid_factor_all(w));
    if (!first) return;
    if (rigid_speaks(w)) {
        set_cell(w, w->c.sums_at + RIGID_SUM_FOLLOW, follow);
        set_cell(w, w->c.sums_at + RIGID_METRIC_redundant_rows, follow);
    }
    rigid_forces(w, splat(0.0), false);
    rigid_accelerate(w);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        for (int p = 0; p < RIGID_PAST; p++)
            set_cell(w, rigid_past_at(w, k) + p, cell(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA));
    }
    rigid_wait(w);
}

#endif
