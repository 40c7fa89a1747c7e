// RATTLE: half a kick with the multipliers for which the step ends on the constraints, a free drift, half a kick with
// those for which the velocities do. Bodies turn freely between the kicks by turns about their principal axes, which
// keep the angular momentum: a symmetric splitting, so that all of it is symplectic and of second order.
//
// Forces that depend on velocities act in the first half kick as they are at the step's start and in the second as they
// are at its end, velocities included: each is the other's adjoint, so that the step stays its own.
//
// Between steps a lane has J, the factors and the masses of its state (rigid_ready): the second half of a step and the
// first half of the next one share them.
// Sources: H. C. Andersen, J. Comp. Phys. 52, 1983; A. Dullweber, B. Leimkuhler & R. McLachlan, J. Chem. Phys. 107,
// 1997 (the splitting).
#ifndef HOPSCOTCH_RIGID_RATTLE_H
#define HOPSCOTCH_RIGID_RATTLE_H

#include "step.h"

#define RIGID_RATTLE_ENOUGH 3e-14 // of |C|, and of a change of velocity (m/s, rad/s)
#define RIGID_RATTLE_SOON 1e-13   // of |C|: an iteration that will leave less is the last, and it is not looked for
#define RIGID_RATTLE_NEAR 1e-12   // of |C|: more of it may be a miss
#define RIGID_RATTLE_ROUND 1e-14  // of the numbers that C is made of: as much of it may be rounding
#define RIGID_RATTLE_FAR 1e300    // more than any

// x[6] <- M^-1 x of a body, whichever way it is solved
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

// Turns q about its body axis k by h Pi_k `inverse`, and Pi with it.
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

// The turn of a body's principal axes, from the body's, and back.
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

// The turn q of the principal axes and the angular momentum Pi in them, after h: a splitting, whose parts are exact.
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

// Of a symmetric top, exactly: about its angular momentum with Pi/I, and about its own axis k with (1/I_k - 1/I) Pi_k,
// I the moment about the other two.
HD void rigid_turn_top(const RigidBody *body, real h, Quaternion *q, Vector3 *Pi)
{
    *q = quaternion_times(*q, turn_by_twice(scaled(h * (0.5 * body->across), *Pi)));
    if (body->beyond != 0.0) rigid_turn_about(body->top, h, body->beyond, q, Pi);
}

// The free flight of one body from where it stood at the step's start, with the velocities that it has now. START: its
// centre, and the turn of its principal axes.
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
    keep_cell3(w, rigid_state_at(w, number), along(cell3(w, start), w->dt, rigid_v(w, number)));
    rigid_set_q(w, number, rigid_from_axes(body, q));
}

// a turned by q: a + 2 s (v x a) + 2 v x (v x a)
HD Vector3 rigid_turned(Quaternion q, const double *a)
{
    const Vector3 v = vector3(q.x, q.y, q.z), from = vector3_of(a), twice = scaled(splat(2.0), cross3(v, from));
    return added(along(from, q.w, twice), cross3(v, twice));
}

// The error of a row alone, as rigid_values has it.
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

// The errors of all rows, the greatest of them.
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

// Flies all bodies; gives the greatest error of a row where they come to.
HD real rigid_fly_there(const RigidLanes *w)
{
    rigid_fly_all(w);
    return rigid_most_of_team(w, rigid_errors(w));
}

// ---- multipliers of the steps before --------------------------------------------------------------------------------

// The multipliers with which a step of length h begins are a smooth function L(t, h) of the state that it begins at; by
// the method's symmetry those with which the step before, of length g, has ended there are L(t, -g). So what the two
// steps before have needed says about what this one will: to first order in t and h
//     L(t, h) = L(t, -g) + (g + h)/(f + g) (L(t - g, g) - L(t - g, -f)),
// f the length of the step before the last. Wrong by O(h^2), which moves the end of the flight by O(h^4).
// The difference counts up to a tenth of L(t, -g): near a singular pose, where multipliers jump, it says nothing.
enum { RIGID_PAST_END, RIGID_PAST_BEGIN, RIGID_PAST_END_BEFORE }; // L(t, -g), L(t - g, g), L(t - g, -f)

HD int rigid_past_at(const RigidLanes *w, int row) { return w->c.past_at + RIGID_PAST * row; }

// A step among others: ratio: (g + h)/(f + g); refined: lanes where it is a part of a refined one.
typedef struct RigidStart {
    double ratio;
    mask refined;
} RigidStart;

// The multipliers of the accelerations.
HD void rigid_accelerate(const RigidLanes *w)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_RHS, -cell(w, at + RIGID_ROW_BIAS));
    }
    rigid_wait(w);
    rigid_solve(w);
}

// Half a kick with those multipliers, so that the flight ends near the constraints. Refined steps are where the past
// says nothing: they begin with the multipliers of the accelerations.
HD void rigid_kick_off(const RigidLanes *restrict w, const RigidStart *with)
{
    const real half = 0.5 * w->dt;
    if (any_lane(with->refined)) {
        rigid_assemble(w, true); // with the velocities that the step before has come to
        rigid_accelerate(w);
    }
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int past = rigid_past_at(w, k);
        const real end = cell(w, past + RIGID_PAST_END),
                   jump = cell(w, past + RIGID_PAST_BEGIN) - cell(w, past + RIGID_PAST_END_BEFORE);
        const real most = 0.1 * absolute(end), own = cell(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA);
        const real lambda = select_real(with->refined, own, end + clamped(with->ratio * jump, -most, most));
        set_cell(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA, lambda);
        keep_cell(w, past + RIGID_PAST_BEGIN, lambda);
        keep_cell(w, past + RIGID_PAST_END_BEFORE, end);
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
        for (int c = 0; c < 6; c++) keep_cell(w, state + 7 + c, fused(half, a[c], cell(w, state + 7 + c)));
    }
    rigid_no_forces(w);
}

// ---- the end of the flight ------------------------------------------------------------------------------------------

// How the iterations go.
typedef struct RigidAim {
    real before;  // greatest |C| with one of them less
    mask open;    // lanes that aim on and look where they come to
    mask closing; // whose next iteration is the last
    mask missed;  // that have come to a stand far from the constraints
    mask worse;   // that have just done so, farther than with one iteration less
} RigidAim;

HD RigidAim rigid_aim_begin(const RigidLanes *w)
{
    RigidAim aim;
    aim.before = splat(RIGID_RATTLE_FAR);
    aim.open = w->active;
    aim.closing = aim.missed = aim.worse = no_lanes();
    return aim;
}

// The greatest of the numbers that errors are made of: where bodies are, and of a distance that times its length.
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

// What the greatest |C| where the flight ends says. A lane that has stopped stays so. An iteration leaves about as much
// of |C| as the one before it has left: where that will do, the next one is the last.
HD void rigid_aim_judge(const RigidLanes *w, RigidAim *aim, real error, bool first)
{
    const mask on = aim->open & MASK(error > splat(RIGID_RATTLE_ENOUGH)) & MASK(error < 0.75 * aim->before);
    const mask soon = MASK(error <= splat(RIGID_RATTLE_NEAR)) & MASK(error * error < RIGID_RATTLE_SOON * aim->before) &
                      (first ? no_lanes() : all_lanes());
    mask misses = aim->open & ~on & MASK(error > splat(RIGID_RATTLE_NEAR));
    if (any_lane(misses)) misses = misses & MASK(error > RIGID_RATTLE_ROUND * rigid_greatest_term(w));
    aim->missed = aim->missed | misses;
    aim->worse = misses & MASK(error > aim->before);
    aim->closing = on & soon;
    aim->open = on & ~soon;
    aim->before = error;
}

// v grows by s D and the multipliers of the step's start by what that takes.
HD void rigid_aim_kick(const RigidLanes *w, double s)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int D = rigid_body_at(w, w->order[b]) + RIGID_BODY_D, v = rigid_state_at(w, w->order[b]) + 7;
        for (int c = 0; c < 6; c++) keep_cell(w, v + c, fused(splat(s), cell(w, D + c), cell(w, v + c)));
    }
    const real rise = 2.0 * s / w->dt;
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_past_at(w, k) + RIGID_PAST_BEGIN;
        keep_cell(w, at, fused(rise, cell(w, rigid_row_at(w, k) + RIGID_ROW_X), cell(w, at)));
    }
}

// The change of velocity that takes the errors C away by the end of the flight; rate: 1/dt, 0 in lanes that don't aim.
// No refinement: the next flight tells what is left.
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

// An iteration. Gives the greatest error of a row where the lanes that aim on come to; in the last iteration of all of
// them it is not looked for.
HD real rigid_aim_again(const RigidLanes *w, const RigidAim *aim)
{
    RigidLanes lanes = *w;
    lanes.active = aim->open | aim->closing;
    rigid_aim_once(w, select_real(lanes.active, 1.0 / w->dt, splat(0.0)));
    if (any_lane(aim->open)) return rigid_fly_there(&lanes);
    rigid_fly_all(&lanes);
    return splat(0.0);
}

// Takes the last change of velocity back where it led away: at a singular pose the errors before it are the lesser.
HD void rigid_aim_back(const RigidLanes *w, mask worse)
{
    RigidLanes back = *w;
    back.active = worse;
    rigid_aim_kick(&back, -1.0);
    rigid_fly_all(&back);
}

// Changes of velocity, at the factors of the step's start, until the flight ends on the constraints, or as near as
// rounding lets it: where an iteration takes less than a quarter of the error away, more of them would only add to it
// (far from the origin, and where a mechanism passes a singular pose). The lanes where that is so stay as they are.
// Gives the lanes that have missed the constraints by far.
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

// What a state has between steps.
HD void rigid_ready(const RigidLanes *w)
{
    rigid_assemble(w, true);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size)
        set_cell(w, rigid_row_at(w, k) + RIGID_ROW_SOFT,
                 w->c.cfm > 0.0 ? w->c.cfm * rigid_row_compliance(w, k) : splat(0.0));
    rigid_wait(w);
}

// What a body turns with at the end of its flight, which keeps its angular momentum: world axes.
HD Vector3 rigid_end_spin(const RigidLanes *w, int number, Vector3 momentum)
{
    const RigidBody *body = &w->bodies[number];
    const Rotation turn = rotation_of(rigid_to_axes(body, rigid_q(w, number)));
    const Vector3 Pi = rotation_in(&turn, momentum);
    return rotation_out(&turn, vector3(Pi.x * body->inverse[0], Pi.y * body->inverse[1], Pi.z * body->inverse[2]));
}

// The state at the end of the flight with its masses and rows; the velocities so far, at the bodies' START.
HD void rigid_land(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body), state = rigid_state_at(w, body);
        const Vector3 momentum = symmetric3_times(rigid_inertia(w, body), rigid_w(w, body)); // of the step's start
        rigid_set_q(w, body, quaternion_normal(rigid_q(w, body)));
        keep_cell3(w, state + 10, rigid_end_spin(w, body, momentum));
        for (int c = 0; c < 6; c++) set_cell(w, at + RIGID_BODY_START + c, cell(w, state + 7 + c));
    }
    rigid_masses(w);
    rigid_ready(w);
}

// Rows that ask for J v = 0 after half a kick.
HD void rigid_hold(const RigidLanes *w)
{
    const real rate = 1.0 / (0.5 * w->dt);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_RHS, -(rate * cell(w, at + RIGID_ROW_JV)));
    }
    rigid_wait(w);
}

// The multipliers for the forces, and how far the velocities that they lead to are from those that the forces are of;
// to those the lanes of `open` go on.
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

// v <- what the multipliers lead to, in the lanes of `open`
HD void rigid_settle_kick(const RigidLanes *w, mask open)
{
    RigidLanes lanes = *w;
    const real half = 0.5 * w->dt;
    lanes.active = open;
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int at = rigid_body_at(w, w->order[b]), state = rigid_state_at(w, w->order[b]);
        for (int c = 0; c < 6; c++)
            keep_cell(&lanes, state + 7 + c,
                      fused(half, cell(w, at + RIGID_BODY_A + c), cell(w, at + RIGID_BODY_START + c)));
    }
    rigid_wait(w);
}

// The lanes that iterate on, whose change is so great and, with one iteration less, was so great before.
HD mask rigid_goes_on(const RigidLanes *w, real change, real before)
{
    return MASK(change > splat(RIGID_RATTLE_ENOUGH)) & MASK(change < 0.75 * before) & w->active;
}

// Half a kick with forces that depend on the velocities it leads to: forces, multipliers and velocities in turn, until
// the velocities stay. Lanes where they do keep them: one more turn of the others gives them the same multipliers.
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

// The multipliers of the step's end, for the next one.
HD void rigid_keep_past(const RigidLanes *w)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size)
        keep_cell(w, rigid_past_at(w, k) + RIGID_PAST_END, cell(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA));
    rigid_wait(w);
}

// ---- a step ---------------------------------------------------------------------------------------------------------

// From t on. Gives the rows that follow from others; missed: with the lanes that end far
// from the constraints.
HD_CALL real rigid_step_second_order(const RigidLanes *restrict w, real t, const RigidStart *with, mask *missed)
{
    rigid_forces(w, t, false);
    rigid_kick_off(w, with);
    *missed = *missed | rigid_aim(w);
    rigid_land(w);
    const real dropped = rigid_factor_all(w);
    rigid_hold(w);
    rigid_forces(w, t + w->dt, false);
    rigid_settle(w, t + w->dt);
    rigid_keep_past(w);
    return dropped;
}

// Steps of these parts of h one after the other: the powers of h in their errors cancel up to the order.
// Sources: M. Suzuki, Phys. Lett. A 146, 1990 (five, p = 1/(4 - 4^(1/3)), order four); M. Sofroniou &
// G. Spaletta, Optim. Methods Softw. 20, 2005 (eleven, order six).
#define RIGID_SUZUKI 0.41449077179437573714
enum { RIGID_PARTS_MOST = 11 };
typedef struct RigidParts {
    int count;
    double part[RIGID_PARTS_MOST];
} RigidParts;

HD RigidParts rigid_parts(int order)
{
    const RigidParts two = {1, {1.0}};
    const RigidParts four = {5, {RIGID_SUZUKI, RIGID_SUZUKI, 1.0 - 4.0 * RIGID_SUZUKI, RIGID_SUZUKI, RIGID_SUZUKI}};
    const RigidParts six = {11,
                            {0.21375583945878254556, 0.18329381407425713911, 0.17692819473098943795,
                             -0.44329082681170215850, 0.11728560432865935385, 0.50405474843802736406,
                             0.11728560432865935385, -0.44329082681170215850, 0.17692819473098943795,
                             0.18329381407425713911, 0.21375583945878254556}};
    return order == RIGID_ORDER_TWO ? two : order == RIGID_ORDER_FOUR ? four : six;
}

// (g + h)/(f + g) of part k: g and f are those before it, if need be of the step before.
HD double rigid_ratio(const RigidParts *parts, int k)
{
    const double f = parts->part[(k + 2 * parts->count - 2) % parts->count];
    const double g = parts->part[(k + parts->count - 1) % parts->count];
    return (g + parts->part[k]) / (f + g);
}

// Lanes that are refined take as many steps of order two, of equal lengths: all go forwards, which passes singular
// poses where those of a higher order, some of which go backwards, stop at them. One of order two becomes five shorter
// ones: the factors of a step's start still lead to its end where singular values change by less than they are. The
// lanes that are not refined wait meanwhile, and take their step with the last of the five.
enum { RIGID_TWO_REFINED = 5 };

HD int rigid_count_parts(const RigidParts *parts, mask refined)
{
    return parts->count == 1 && any_lane(refined) ? RIGID_TWO_REFINED : parts->count;
}

typedef struct RigidSpan {
    real length;    // of the step's
    double ratio;   // as RigidStart has it
    mask active;    // the lanes that take it
    int32_t refine; // passes of refinement
} RigidSpan;

// Part k of count. What multipliers at the end of a part have wrong, those of the next part's start take back, as both
// act where the part ends: refine_within.
HD RigidSpan rigid_span(const RigidLanes *w, const RigidParts *parts, int k, int count, mask refined)
{
    const int own = k % parts->count;
    RigidSpan part;
    part.length = select_real(refined, splat(1.0 / count), splat(parts->part[own]));
    part.ratio = rigid_ratio(parts, own);
    part.active = count == parts->count || k + 1 == count ? w->active : w->active & refined;
    part.refine = k + 1 < count ? w->c.refine_within : w->c.refine;
    return part;
}

// What a step changes of the cells that outlive it: keeps them or, back, goes back to them.
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

HD_CALL real rigid_step_parts(const RigidLanes *restrict w, real t, mask refined, mask *missed)
{
    const RigidParts parts = rigid_parts(w->c.rattle_order);
    const int count = rigid_count_parts(&parts, refined);
    RigidLanes lanes = *w;
    real dropped = splat(0.0);
    for (int k = 0; k < count; k++) {
        const RigidSpan part = rigid_span(w, &parts, k, count, refined);
        const RigidStart with = {part.ratio, refined};
        lanes.dt = part.length * w->dt;
        lanes.active = part.active;
        lanes.refine = part.refine;
        dropped = rigid_step_second_order(&lanes, t, &with, missed);
        t = t + select_real(part.active, lanes.dt, splat(0.0));
    }
    return dropped;
}

// Gives the rows that follow from others. A step that misses the constraints begins once more, in all lanes, the others
// as before.
HD real rigid_step_rattle(const RigidLanes *w, real t, mask *missed)
{
    mask refined = no_lanes();
    rigid_latch(w, t);
    if (w->c.refines == 0) return rigid_step_parts(w, t, refined, missed);
    rigid_save(w, false);
    const real dropped = rigid_step_parts(w, t, refined, &refined);
    if (!any_lane(refined)) return dropped;
    rigid_count_refined(w, refined);
    rigid_save(w, true);
    return rigid_step_parts(w, t, refined, missed);
}

// What the first step builds on, at the state of the start: masses, rows, factors, and multipliers of no step at all.
HD void rigid_begin_rattle(const RigidLanes *w)
{
    rigid_ready(w);
    const real follow = rigid_count_of_team(w, rigid_factor_all(w));
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
