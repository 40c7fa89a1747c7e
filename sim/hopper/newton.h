// Implicit midpoint as first designed: Newton's method on all ten numbers of the state, with accelerations from the
// 5x5 system M q'' = eta. Plain and slow: the oracle for the closed form (step_implicit.h), and the one to look into.
//
// With y = (q, v), f(y) = (v, a(q, v)), h = dt/2 and y_m = (y_0 + y_1)/2, a step solves
//     r(y_1) = y_1 - y_0 - dt f(y_m) = 0
// for y_1, control held. With A_q = da/dq and A_v = da/dv at y_m, an iteration solves
//     [ I        -h I      ] (dq)     (r_q)
//     [ -h A_q   I - h A_v ] (dv) = - (r_v)
// by its first row, dq = h dv - r_q, which leaves the Schur complement of the identity in the second:
//     S dv = -r_v - h A_q r_q,   S = I - h A_v - h^2 A_q.
#ifndef HOPSCOTCH_HOPPER_NEWTON_H
#define HOPSCOTCH_HOPPER_NEWTON_H

#include "../linear.h"
#include "step_implicit.h"

typedef enum HopperJacobian { HOPPER_ANALYTIC, HOPPER_FINITE_DIFFERENCE } HopperJacobian;

HD Vector5 hopper_array(const HopperVector *v)
{
    const Vector5 array = {{v->x, v->z, v->a, v->b, v->l}};
    return array;
}

HD HopperVector hopper_vector(const Vector5 *array)
{
    const HopperVector v = {array->at[0], array->at[1], array->at[2], array->at[3], array->at[4]};
    return v;
}

// ---- the 5x5 system -------------------------------------------------------------------------------------------------

// Input of the accelerations: state, branches of the forces, constant control (N, N m).
typedef struct HopperPoint {
    HopperVector q, v;
    HopperContact contact;
    HopperControl control;
} HopperPoint;

// What the system's rows consist of. With N the hip's force across the leg, H = N (cos a, -sin a), and F_k along it,
// leg and body obey
//     m_l (x'' + l_1 a'' cos a)                         = p_x + H_x
//     m_l (z'' - l_1 a'' sin a)                         = p_z + H_z
//     m (x'' + l a'' cos a + l_2 b'' cos b + l'' sin a) = b_x - H_x
//     m (z'' - l a'' sin a - l_2 b'' sin b + l'' cos a) = b_z - H_z
//     J_l a'' = tau + R N,  J b'' = turn + l_2 N cos(a - b),  R = l - l_1.
// The equations times R, with R N = J_l a'' - tau put into all but that one, are the five rows of M q'' = eta.
typedef struct HopperLoads {
    real sin_a, cos_a, sin_b, cos_b, cos_r, R; // cos_r = cos(a - b)
    real tau, turn;                            // N m
    real p_x, p_z, b_x, b_z;                   // N
} HopperLoads;

// Sign of the centripetal term in p_x, which the reference has wrong.
HD double hopper_centripetal(const HopperWorld *world)
{
    return hopper_with(world, HOPPER_WITH_REFERENCE) ? -1.0 : 1.0;
}

HD HopperLoads hopper_loads(const HopperWorld *world, const HopperPoint *at)
{
    const HopperParameters *p = &world->p;
    const HopperVector *v = &at->v;
    const real l = at->q.l, u2 = at->control.u2, da2 = v->a * v->a, db2 = v->b * v->b, turning = 2.0 * v->l * v->a;
    const HopperAngles s = hopper_angles(at->q.a, at->q.b);
    const HopperFoot foot = hopper_foot(world, at->q.x, at->q.z, v->x, v->z);
    const HopperForces F = hopper_ground(p, &at->contact, &foot, v->x);
    const real F_k = hopper_leg_explicit(p, &at->contact, l, v->l, at->control.u1).F_0;
    HopperLoads load;
    load.sin_a = s.sin_a;
    load.cos_a = s.cos_a;
    load.sin_b = s.sin_b;
    load.cos_b = s.cos_b;
    load.cos_r = s.cos_a * s.cos_b + s.sin_a * s.sin_b;
    load.R = l - p->l_1;
    load.tau = -p->l_1 * (F.F_x * s.cos_a - F.F_z * s.sin_a) - u2;
    load.turn = u2 - p->l_2 * F_k * (s.sin_a * s.cos_b - s.cos_a * s.sin_b);
    load.p_x = F.F_x - F_k * s.sin_a + hopper_centripetal(world) * p->m_l * p->l_1 * da2 * s.sin_a;
    load.p_z = F.F_z - F_k * s.cos_a + p->m_l * (p->l_1 * da2 * s.cos_a - p->g);
    load.b_x = F_k * s.sin_a + p->m * (l * da2 * s.sin_a + p->l_2 * db2 * s.sin_b - turning * s.cos_a);
    load.b_z = F_k * s.cos_a + p->m * (l * da2 * s.cos_a + p->l_2 * db2 * s.cos_b + turning * s.sin_a - p->g);
    return load;
}

// M q'' = eta, by rows:
//     -m_l R x'' + (J_l - m_l R l_1) cos a a''                          = tau cos a - R p_x
//      m_l R z'' + (J_l - m_l R l_1) sin a a''                          = tau sin a + R p_z
//      m R (x'' + l_2 cos b b'' + sin a l'') + (J_l + m R l) cos a a''  = tau cos a + R b_x
//     -m R (z'' - l_2 sin b b'' + cos a l'') + (J_l + m R l) sin a a''  = tau sin a - R b_z
//      J_l l_2 cos(a - b) a'' - J R b''                                 = tau l_2 cos(a - b) - R turn
HD Matrix5 hopper_mass_matrix(const HopperParameters *p, const HopperLoads *at, real l)
{
    const real O = splat(0.0), R = at->R, sin_a = at->sin_a, cos_a = at->cos_a;
    const real leg = p->J_l - p->m_l * R * p->l_1, both = p->J_l + p->m * R * l, body = p->m * R;
    const Matrix5 M = {{{-p->m_l * R, O, leg * cos_a, O, O},
                        {O, p->m_l * R, leg * sin_a, O, O},
                        {body, O, both * cos_a, body * p->l_2 * at->cos_b, body * sin_a},
                        {O, -body, both * sin_a, body * p->l_2 * at->sin_b, -body * cos_a},
                        {O, O, p->J_l * p->l_2 * at->cos_r, -p->J * R, O}}};
    return M;
}

HD Vector5 hopper_eta(const HopperParameters *p, const HopperLoads *at)
{
    const Vector5 eta = {{at->tau * at->cos_a - at->R * at->p_x, at->tau * at->sin_a + at->R * at->p_z,
                          at->tau * at->cos_a + at->R * at->b_x, at->tau * at->sin_a - at->R * at->b_z,
                          at->tau * p->l_2 * at->cos_r - at->R * at->turn}};
    return eta;
}

// The accelerations, and the factors that gave them.
typedef struct HopperSolution {
    HopperLoads loads;
    Factors5 M;
    Vector5 acceleration; // q''
} HopperSolution;

HD HopperSolution hopper_solution(const HopperWorld *world, const HopperPoint *at)
{
    HopperSolution solution;
    solution.loads = hopper_loads(world, at);
    const Matrix5 M = hopper_mass_matrix(&world->p, &solution.loads, at->q.l);
    const Vector5 eta = hopper_eta(&world->p, &solution.loads);
    solution.M = linear_factored(&M);
    solution.acceleration = linear_solved(&solution.M, &eta);
    return solution;
}

// ---- its derivatives ------------------------------------------------------------------------------------------------

// Derivative of the loads along a direction (dq, dv) of the state, within the branch: the product rule, line by line.
HD HopperLoads hopper_loads_tangent(const HopperWorld *world, const HopperPoint *at, const HopperLoads *load,
                                    const HopperVector *dq, const HopperVector *dv)
{
    const HopperParameters *p = &world->p;
    const HopperVector *v = &at->v;
    const real zero = splat(0.0), l = at->q.l;
    const real sin_a = load->sin_a, cos_a = load->cos_a, sin_b = load->sin_b, cos_b = load->cos_b;
    const real sin_r = sin_a * cos_b - cos_a * sin_b;
    const HopperFoot foot = hopper_foot(world, at->q.x, at->q.z, v->x, v->z);
    const HopperForces F = hopper_ground(p, &at->contact, &foot, v->x);
    const real F_k = hopper_leg_explicit(p, &at->contact, l, v->l, at->control.u1).F_0;
    const real dF_x = select_real(at->contact.ground, -p->b_g * dv->x, zero);
    const real dF_z = select_real(at->contact.ground, -p->k_g * dq->z, zero) +
                      select_real(at->contact.damping, -p->b_g * dv->z, zero);
    const real dF_k = select_real(at->contact.stop, -p->k_stop * dq->l - p->b_stop * dv->l, -p->k_l * dq->l);
    const real da2 = v->a * v->a, d_da2 = 2.0 * v->a * dv->a, db2 = v->b * v->b, d_db2 = 2.0 * v->b * dv->b;
    const real turning = 2.0 * v->l * v->a, d_turning = 2.0 * (dv->l * v->a + v->l * dv->a);
    const real d_lda2 = dq->l * da2 + l * d_da2; // of l a'^2
    const real sign = splat(hopper_centripetal(world));

    HopperLoads d;
    d.sin_a = cos_a * dq->a;
    d.cos_a = -sin_a * dq->a;
    d.sin_b = cos_b * dq->b;
    d.cos_b = -sin_b * dq->b;
    d.cos_r = -sin_r * (dq->a - dq->b);
    d.R = dq->l;
    d.tau = -p->l_1 * (dF_x * cos_a + F.F_x * d.cos_a - dF_z * sin_a - F.F_z * d.sin_a);
    d.turn = -p->l_2 * (dF_k * sin_r + F_k * load->cos_r * (dq->a - dq->b));
    d.p_x = dF_x - dF_k * sin_a - F_k * d.sin_a + sign * p->m_l * p->l_1 * (d_da2 * sin_a + da2 * d.sin_a);
    d.p_z = dF_z - dF_k * cos_a - F_k * d.cos_a + p->m_l * p->l_1 * (d_da2 * cos_a + da2 * d.cos_a);
    d.b_x = dF_k * sin_a + F_k * d.sin_a +
            p->m * (d_lda2 * sin_a + l * da2 * d.sin_a + p->l_2 * (d_db2 * sin_b + db2 * d.sin_b) - d_turning * cos_a -
                    turning * d.cos_a);
    d.b_z = dF_k * cos_a + F_k * d.cos_a +
            p->m * (d_lda2 * cos_a + l * da2 * d.cos_a + p->l_2 * (d_db2 * cos_b + db2 * d.cos_b) + d_turning * sin_a +
                    turning * d.sin_a);
    return d;
}

// d(eta - M q'') along the direction with the loads' tangent d, at constant q'' = (X, Z, A, B, L). Each row of eta - M
// q'' is a weight times (tau - J_l A), plus or minus R times the residual of one of the five equations.
HD Vector5 hopper_system_tangent(const HopperParameters *p, const HopperLoads *at, const HopperLoads *d, real l,
                                 const Vector5 *acceleration)
{
    const real X = acceleration->at[0], Z = acceleration->at[1], A = acceleration->at[2], B = acceleration->at[3],
               L = acceleration->at[4];
    const real sin_a = at->sin_a, cos_a = at->cos_a, dl = d->R;
    const real lack = at->tau - p->J_l * A;
    const real leg_x = at->p_x - p->m_l * (X + p->l_1 * A * cos_a);
    const real leg_z = at->p_z - p->m_l * (Z - p->l_1 * A * sin_a);
    const real body_x = at->b_x - p->m * (X + l * A * cos_a + p->l_2 * B * at->cos_b + L * sin_a);
    const real body_z = at->b_z - p->m * (Z - l * A * sin_a - p->l_2 * B * at->sin_b + L * cos_a);
    const real turn = at->turn - p->J * B;
    const real d_leg_x = d->p_x - p->m_l * p->l_1 * A * d->cos_a;
    const real d_leg_z = d->p_z + p->m_l * p->l_1 * A * d->sin_a;
    const real d_body_x = d->b_x - p->m * (A * (dl * cos_a + l * d->cos_a) + p->l_2 * B * d->cos_b + L * d->sin_a);
    const real d_body_z = d->b_z + p->m * (A * (dl * sin_a + l * d->sin_a) + p->l_2 * B * d->sin_b - L * d->cos_a);
    const real d_row_x = d->tau * cos_a + lack * d->cos_a, d_row_z = d->tau * sin_a + lack * d->sin_a;
    const Vector5 tangent = {{d_row_x - (dl * leg_x + at->R * d_leg_x), d_row_z + (dl * leg_z + at->R * d_leg_z),
                              d_row_x + (dl * body_x + at->R * d_body_x), d_row_z - (dl * body_z + at->R * d_body_z),
                              p->l_2 * (d->tau * at->cos_r + lack * d->cos_r) - (dl * turn + at->R * d->turn)}};
    return tangent;
}

// A_q and A_v: column j is the derivative of q'' by q[j], by v[j].
typedef struct HopperDerivatives {
    Matrix5 A_q, A_v;
} HopperDerivatives;

// Unit direction j of ten, times length.
HD void hopper_direction(int j, real length, HopperVector *dq, HopperVector *dv)
{
    Vector5 q, v;
    for (int i = 0; i < 5; i++) {
        q.at[i] = i == j ? length : splat(0.0);
        v.at[i] = i + 5 == j ? length : splat(0.0);
    }
    *dq = hopper_vector(&q);
    *dv = hopper_vector(&v);
}

// Differentiates M q'' = eta along a direction: M dq'' = d(eta - M q'') at constant q''.
HD Vector5 hopper_derivative_analytic(const HopperWorld *world, const HopperPoint *at, const HopperSolution *solution,
                                      int j)
{
    HopperVector dq, dv;
    hopper_direction(j, splat(1.0), &dq, &dv);
    const HopperLoads d = hopper_loads_tangent(world, at, &solution->loads, &dq, &dv);
    const Vector5 right = hopper_system_tangent(&world->p, &solution->loads, &d, at->q.l, &solution->acceleration);
    return linear_solved(&solution->M, &right);
}

// Forward difference, within the branch.
HD Vector5 hopper_derivative_difference(const HopperWorld *world, const HopperPoint *at, const HopperSolution *solution,
                                        int j)
{
    const double eps = 1e-7; // m, rad, m/s, rad/s
    HopperVector dq, dv;
    hopper_direction(j, splat(eps), &dq, &dv);
    HopperPoint there = *at;
    there.q = hopper_moved(&at->q, splat(1.0), &dq);
    there.v = hopper_moved(&at->v, splat(1.0), &dv);
    Vector5 derivative = hopper_solution(world, &there).acceleration;
    for (int i = 0; i < 5; i++) derivative.at[i] = (derivative.at[i] - solution->acceleration.at[i]) / eps;
    return derivative;
}

HD HopperDerivatives hopper_derivatives(const HopperWorld *world, const HopperPoint *at, const HopperSolution *solution,
                                        HopperJacobian jacobian)
{
    HopperDerivatives derivatives;
    for (int j = 0; j < 10; j++) {
        const Vector5 column = jacobian == HOPPER_ANALYTIC ? hopper_derivative_analytic(world, at, solution, j)
                                                           : hopper_derivative_difference(world, at, solution, j);
        Matrix5 *A = j < 5 ? &derivatives.A_q : &derivatives.A_v;
        for (int i = 0; i < 5; i++) A->at[i][j % 5] = column.at[i];
    }
    return derivatives;
}

// ---- Newton's method ------------------------------------------------------------------------------------------------

// r(y_1), with its evaluation.
typedef struct HopperResidual {
    HopperPoint middle;
    HopperSolution solution;
    Vector5 r_q, r_v;
} HopperResidual;

// (dq, dv) of one iteration.
typedef struct HopperCorrection {
    Vector5 dq, dv;
    mask near_singular;
} HopperCorrection;

// The iterate, and the inf-norms of its residual (m and rad; m/s and rad/s).
typedef struct HopperNewton {
    HopperState state; // y_1
    HopperContact contact;
    mask near_singular; // one of the systems solved so far
    real residual_q, residual_v;
} HopperNewton;

HD real hopper_norm(const Vector5 *v)
{
    real greatest = absolute(v->at[0]);
    for (int i = 1; i < 5; i++) {
        const real next = absolute(v->at[i]);
        greatest = select_real(MASK(value_of(next) <= value_of(greatest)), greatest, next); // a NaN makes it NaN
    }
    return greatest;
}

// `held`: lanes that keep their branches.
HD HopperResidual hopper_newton_residual(const HopperWorld *world, const HopperLanes *lanes,
                                         const HopperControl *control, const HopperNewton *iterate, mask held)
{
    const real half = splat(0.5), dt = splat(world->c.dt);
    HopperResidual r;
    r.middle.q = hopper_combined(half, &lanes->q, half, &iterate->state.q);
    r.middle.v = hopper_combined(half, &lanes->v, half, &iterate->state.v);
    r.middle.control = *control;
    const HopperFoot foot = hopper_foot(world, r.middle.q.x, r.middle.q.z, r.middle.v.x, r.middle.v.z);
    const HopperContact contact = hopper_contact(&world->p, &foot, r.middle.q.l);
    r.middle.contact = hopper_contact_select(held, &iterate->contact, &contact);
    r.solution = hopper_solution(world, &r.middle);

    const Vector5 q0 = hopper_array(&lanes->q), v0 = hopper_array(&lanes->v), v_m = hopper_array(&r.middle.v);
    const Vector5 q1 = hopper_array(&iterate->state.q), v1 = hopper_array(&iterate->state.v);
    for (int i = 0; i < 5; i++) {
        r.r_q.at[i] = (q1.at[i] - q0.at[i]) - dt * v_m.at[i];
        r.r_v.at[i] = (v1.at[i] - v0.at[i]) - dt * r.solution.acceleration.at[i];
    }
    return r;
}

HD HopperCorrection hopper_newton_correction(const HopperResidual *r, const HopperDerivatives *derivatives, double h)
{
    Matrix5 S;
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            const real identity = splat(i == j ? 1.0 : 0.0);
            S.at[i][j] = identity - h * (derivatives->A_v.at[i][j] + h * derivatives->A_q.at[i][j]);
        }
    }
    Vector5 right = linear_product(&derivatives->A_q, &r->r_q);
    for (int i = 0; i < 5; i++) right.at[i] = -r->r_v.at[i] - h * right.at[i];
    const Factors5 factors = linear_factored(&S);
    HopperCorrection correction;
    correction.near_singular = factors.near_singular;
    correction.dv = linear_solved(&factors, &right);
    for (int i = 0; i < 5; i++) correction.dq.at[i] = h * correction.dv.at[i] - r->r_q.at[i];
    return correction;
}

// Updates norms and branches of the lanes of `solving`.
HD void hopper_newton_judge(HopperNewton *iterate, const HopperResidual *r, mask solving)
{
    iterate->residual_q = select_real(solving, hopper_norm(&r->r_q), iterate->residual_q);
    iterate->residual_v = select_real(solving, hopper_norm(&r->r_v), iterate->residual_v);
    iterate->contact = hopper_contact_select(solving, &r->middle.contact, &iterate->contact);
    iterate->near_singular = iterate->near_singular | (solving & r->solution.M.near_singular);
}

// Adds the correction to the lanes of `solving`.
HD void hopper_newton_move(HopperNewton *iterate, const HopperCorrection *correction, mask solving)
{
    const HopperVector dq = hopper_vector(&correction->dq), dv = hopper_vector(&correction->dv);
    const HopperState from = iterate->state;
    const HopperVector q = hopper_moved(&from.q, splat(1.0), &dq), v = hopper_moved(&from.v, splat(1.0), &dv);
    iterate->state.q = hopper_select(solving, &q, &from.q);
    iterate->state.v = hopper_select(solving, &v, &from.v);
    iterate->near_singular = iterate->near_singular | (solving & correction->near_singular);
}

// Iterates from y_1 = y_0 until both residuals are within the tolerance, or up to the limit of iterations. Branches
// follow the iterate at first and then stay (HOPPER_FREE_ITERATIONS).
HD HopperNewton hopper_newton_solve(const HopperWorld *world, const HopperLanes *lanes, const HopperControl *control,
                                    HopperJacobian jacobian, const HopperDebug *debug, mask running)
{
    HopperNewton iterate;
    memset(&iterate, 0, sizeof iterate);
    iterate.state.q = lanes->q;
    iterate.state.v = lanes->v;
    mask solving = running;
    for (int iteration = 0;; iteration++) {
        const mask held = iteration < HOPPER_FREE_ITERATIONS ? no_lanes() : all_lanes();
        const HopperResidual r = hopper_newton_residual(world, lanes, control, &iterate, held);
        hopper_newton_judge(&iterate, &r, solving);
        const real greatest = greater_of(iterate.residual_q, iterate.residual_v);
        solving = solving & ~MASK(value_of(greatest) <= world->c.tolerance);
        if (iteration == world->c.iterations || !any_lane(solving)) return iterate;
        const HopperDerivatives derivatives = hopper_derivatives(world, &r.middle, &r.solution, jacobian);
        const HopperCorrection correction = hopper_newton_correction(&r, &derivatives, 0.5 * world->c.dt);
        const HopperNewton before = iterate;
        hopper_newton_move(&iterate, &correction, solving);
        if (debug->on)
            hopper_debug_row(debug, iteration, before.residual_q, before.residual_v, &before.state, &iterate.state,
                             solving);
    }
}

// Powers and forces at the middle of the step.
HD HopperStep hopper_newton_powers(const HopperWorld *world, const HopperLanes *lanes, const HopperAngles *start,
                                   const HopperControl *control, const HopperNewton *solved)
{
    const real half = splat(0.5), h = hopper_reach(world, true);
    const HopperVector *q = &lanes->q, w = hopper_combined(half, &lanes->v, half, &solved->state.v);
    const HopperAngles s = hopper_angles_after(start, q->a, q->b, h * w.a, h * w.b);
    const HopperFoot foot = hopper_foot_after(world, q, h, &w);
    const HopperContact *contact = &solved->contact;
    const real l = fused(h, w.l, q->l), infinite = math_infinity();
    const HopperForces forces = hopper_forces(world, &s, contact, &foot, control->push, l, &w, control->t + h);
    const HopperPower power = hopper_power(world, &s, contact, &foot, &forces, control->u1, control->u2, l, &w);
    return hopper_step_of(&power, &forces, select_real(solved->near_singular, infinite, solved->residual_v));
}

HD HopperStep hopper_step_newton(const HopperWorld *world, HopperLanes *lanes, const HopperAngles *start,
                                 const HopperControl *control, HopperJacobian jacobian, const HopperDebug *debug,
                                 mask running)
{
    const HopperNewton solved = hopper_newton_solve(world, lanes, control, jacobian, debug, running);
    const HopperStep step = hopper_newton_powers(world, lanes, start, control, &solved);
    lanes->q = solved.state.q;
    lanes->v = solved.state.v;
    return step;
}

#endif
