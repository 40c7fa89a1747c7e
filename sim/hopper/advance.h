// The hopper's kernels: the steps of the two integrators and the loop round them.
#ifndef HOPSCOTCH_HOPPER_ADVANCE_H
#define HOPSCOTCH_HOPPER_ADVANCE_H

#include "../lanes.h"
#include "metrics.h"

typedef struct HopperLanes {
    HopperVector q, v;
    HopperVector recent, earlier; // accelerations at the middle of the last step and of the one before
    HopperMachine machine;
    HopperSums sums;
} HopperLanes;

HD HopperVector hopper_moved(const HopperVector *from, real h, const HopperVector *rate)
{
    HopperVector to;
    to.x = fused(h, rate->x, from->x);
    to.z = fused(h, rate->z, from->z);
    to.a = fused(h, rate->a, from->a);
    to.b = fused(h, rate->b, from->b);
    to.l = fused(h, rate->l, from->l);
    return to;
}

HD HopperVector hopper_select(mask m, const HopperVector *a, const HopperVector *b)
{
    HopperVector chosen;
    chosen.x = select_real(m, a->x, b->x);
    chosen.z = select_real(m, a->z, b->z);
    chosen.a = select_real(m, a->a, b->a);
    chosen.b = select_real(m, a->b, b->b);
    chosen.l = select_real(m, a->l, b->l);
    return chosen;
}

// inf-norm of a - b; NaN in any component gives NaN or a number that the caller's finiteness test catches
HD real hopper_difference(const HopperVector *a, const HopperVector *b)
{
    real greatest = absolute(a->x - b->x);
    greatest = greater_of(absolute(a->z - b->z), greatest);
    greatest = greater_of(absolute(a->a - b->a), greatest);
    greatest = greater_of(absolute(a->b - b->b), greatest);
    return greater_of(absolute(a->l - b->l), greatest);
}

// sine and cosine of angle + d for |d| <= 1/64 from those of the angle, by addition with the series of d (error 1e-17).
HD void hopper_turned(real sin_0, real cos_0, real d, real *sin_1, real *cos_1)
{
    const real d2 = d * d;
    const real sin_d =
        fused(d * d2, fused(d2, fused(d2, splat(-1.0 / 5040.0), splat(1.0 / 120.0)), splat(-1.0 / 6.0)), d);
    const real versine = d2 * fused(d2, fused(d2, splat(1.0 / 720.0), splat(-1.0 / 24.0)), splat(0.5)); // 1 - cos d
    *sin_1 = fused(cos_0, sin_d, fused(-sin_0, versine, sin_0));
    *cos_1 = fused(-sin_0, sin_d, fused(-cos_0, versine, cos_0));
}

// Angles at q + h v from those at q.
HD HopperAngles hopper_angles_after(const HopperAngles *s, real a, real b, real turn_a, real turn_b)
{
    HopperAngles angles;
    hopper_turned(s->sin_a, s->cos_a, turn_a, &angles.sin_a, &angles.cos_a);
    hopper_turned(s->sin_b, s->cos_b, turn_b, &angles.sin_b, &angles.cos_b);
    const mask far = MASK(greater_of(absolute(turn_a), absolute(turn_b)) > 1.0 / 64.0);
    if (any_lane(far)) {
        const HopperAngles full = hopper_angles(a + turn_a, b + turn_b);
        angles.sin_a = select_real(far, full.sin_a, angles.sin_a);
        angles.cos_a = select_real(far, full.cos_a, angles.cos_a);
        angles.sin_b = select_real(far, full.sin_b, angles.sin_b);
        angles.cos_b = select_real(far, full.cos_b, angles.cos_b);
    }
    return angles;
}

// The branches of the piecewise forces follow the iterate for so many iterations and then stay. At a jump of the force
// (the stop's and the ground's dampers) the implicit equation may have no solution and the iterate would flip for ever;
// a branch that is held makes it smooth again, with an error of the order that an event inside a step costs anyway.
#define HOPPER_FREE_ITERATIONS 6

// Implicit midpoint with the positions eliminated: v_m = v + h a(q + h v_m, v_m), h = dt/2; then q += dt v_m and
// v = 2 v_m - v (Hairer, Lubich & Wanner, Geometric Numerical Integration, II.1.3). Solved by fixed-point iteration on
// v_m with the leg force implicit in l'', from the extrapolated acceleration 2 a_(n-1) - a_(n-2). A lane whose v_m
// changed by no more than the tolerance keeps that v_m while others of its group go on.
HD HopperStep hopper_step_implicit_midpoint(const HopperConstants *c, const HopperParameters *p, HopperLanes *lanes,
                                            const HopperAngles *start, const HopperControl *control, mask running)
{
    const HopperVector q = lanes->q, v = lanes->v;
    const real h = splat(0.5 * c->dt), dt = splat(c->dt);
    const bool reference = c->reference != 0;
    HopperVector guess, mid, acceleration = lanes->recent;
    guess.x = 2.0 * lanes->recent.x - lanes->earlier.x;
    guess.z = 2.0 * lanes->recent.z - lanes->earlier.z;
    guess.a = 2.0 * lanes->recent.a - lanes->earlier.a;
    guess.b = 2.0 * lanes->recent.b - lanes->earlier.b;
    guess.l = 2.0 * lanes->recent.l - lanes->earlier.l;
    mid = hopper_moved(&v, h, &guess);

    HopperContact contact;
    HopperAngles s;
    HopperStep step;
    mask solving = running;
    contact.ground = contact.damping = contact.stop = splat_bits(0);
    step.residual = splat(0.0);
    step.ground.f_x = step.ground.f_z = step.residual;
    s = *start;
    for (int iteration = 0; iteration < c->iterations; iteration++) {
        const real z = fused(h, mid.z, q.z), l = fused(h, mid.l, q.l);
        const HopperContact now = hopper_contact(p, z, mid.z, l);
        const mask follow = iteration < HOPPER_FREE_ITERATIONS ? solving : splat_bits(0);
        contact.ground = (follow & now.ground) | (~follow & contact.ground);
        contact.damping = (follow & now.damping) | (~follow & contact.damping);
        contact.stop = (follow & now.stop) | (~follow & contact.stop);

        const HopperAngles turned = hopper_angles_after(start, q.a, q.b, h * mid.a, h * mid.b);
        const HopperGround ground = hopper_ground(p, &contact, z, mid.x, mid.z);
        const HopperLegLaw law = hopper_leg_implicit(p, &contact, h, q.l, v.l, control->u1);
        real leg_force;
        const HopperVector found =
            hopper_acceleration(p, &turned, l, &mid, &ground, &law, control->u2, reference, &leg_force);
        const HopperVector next = hopper_moved(&v, h, &found);
        const real change = hopper_difference(&next, &mid);

        acceleration = hopper_select(solving, &found, &acceleration);
        mid = hopper_select(solving, &next, &mid);
        step.residual = select_real(solving, change, step.residual);
        step.ground.f_x = select_real(solving, ground.f_x, step.ground.f_x);
        step.ground.f_z = select_real(solving, ground.f_z, step.ground.f_z);
        s.sin_a = select_real(solving, turned.sin_a, s.sin_a);
        s.cos_a = select_real(solving, turned.cos_a, s.cos_a);
        s.sin_b = select_real(solving, turned.sin_b, s.sin_b);
        s.cos_b = select_real(solving, turned.cos_b, s.cos_b);
        solving = solving & ~MASK(change <= c->tolerance);
        if (!any_lane(solving)) break;
    }
    step.velocity = mid;
    step.power = hopper_power(p, &s, &contact, control->u1, control->u2, &mid, reference);
    lanes->q = hopper_moved(&q, dt, &mid);
    lanes->v.x = 2.0 * mid.x - v.x;
    lanes->v.z = 2.0 * mid.z - v.z;
    lanes->v.a = 2.0 * mid.a - v.a;
    lanes->v.b = 2.0 * mid.b - v.b;
    lanes->v.l = 2.0 * mid.l - v.l;
    lanes->earlier = lanes->recent;
    lanes->recent = acceleration;
    return step;
}

// Semi-implicit (symplectic) Euler: v += dt a(q, v), then q += dt v.
HD HopperStep hopper_step_semi_implicit_euler(const HopperConstants *c, const HopperParameters *p, HopperLanes *lanes,
                                              const HopperAngles *start, const HopperControl *control)
{
    const HopperVector q = lanes->q, v = lanes->v;
    const real dt = splat(c->dt);
    const HopperContact contact = hopper_contact(p, q.z, v.z, q.l);
    const HopperLegLaw law = hopper_leg_explicit(p, &contact, q.l, v.l, control->u1);
    HopperStep step;
    real leg_force;
    step.ground = hopper_ground(p, &contact, q.z, v.x, v.z);
    const HopperVector acceleration =
        hopper_acceleration(p, start, q.l, &v, &step.ground, &law, control->u2, c->reference != 0, &leg_force);
    lanes->v = hopper_moved(&v, dt, &acceleration);
    lanes->q = hopper_moved(&q, dt, &lanes->v);
    step.velocity = v;
    step.power = hopper_power(p, start, &contact, control->u1, control->u2, &v, c->reference != 0);
    step.residual = splat(0.0);
    return step;
}

HD HopperParameters hopper_parameters_of(const LaneGroup *group)
{
    HopperParameters p;
#define HOPPER_LOAD(name, ...) p.name = lanes_parameter(group, HOPPER_PARAMETER_##name);
    HOPPER_PARAMETERS(HOPPER_LOAD)
#undef HOPPER_LOAD
    p.inverse_m = 1.0 / p.m;
    p.inverse_m_l = 1.0 / p.m_l;
    p.inverse_J = 1.0 / p.J;
    p.inverse_J_l = 1.0 / p.J_l;
    return p;
}

// The lane at t = 0: in flight, with the first guess of the duration of stance.
HD void hopper_begin(const HopperParameters *p, HopperLanes *lanes)
{
    const real zero = splat(0.0);
    memset(lanes, 0, sizeof *lanes);
    lanes->q.x = p->x_foot;
    lanes->q.z = p->z_foot;
    lanes->q.a = p->phi_leg;
    lanes->q.b = p->phi_body;
    lanes->q.l = p->len_leg;
    lanes->v.x = p->dx_foot;
    lanes->v.z = p->dz_foot;
    lanes->v.a = p->dphi_leg;
    lanes->v.b = p->dphi_body;
    lanes->v.l = p->dlen_leg;
    lanes->machine.fsm = splat(HOPPER_FLIGHT);
    lanes->machine.T_s = splat(0.425);
    const HopperAngles s = hopper_angles(lanes->q.a, lanes->q.b);
    lanes->sums.energy_start = hopper_energy(p, &s, &lanes->q, &lanes->v);
    lanes->sums.x_body_start = hopper_body_x(p, &s, lanes->q.x, lanes->q.l);
    lanes->sums.z_body_start = hopper_body_z(p, &s, lanes->q.z, lanes->q.l);
    lanes->sums.penetration = greater_of(-lanes->q.z, zero);
}

// Work field <-> member, one list for both directions.
// clang-format off
#define HOPPER_STATE(X) \
    X(x, q.x) X(z, q.z) X(a, q.a) X(b, q.b) X(l, q.l) X(dx, v.x) X(dz, v.z) X(da, v.a) X(db, v.b) X(dl, v.l) \
    X(x1, recent.x) X(z1, recent.z) X(a1, recent.a) X(b1, recent.b) X(l1, recent.l) \
    X(x0, earlier.x) X(z0, earlier.z) X(a0, earlier.a) X(b0, earlier.b) X(l0, earlier.l) \
    X(fsm, machine.fsm) X(T_s, machine.T_s) X(T_compression, machine.T_compression) \
    X(t_thrust_on, machine.t_thrust_on) X(t_transition, machine.t_transition) \
    X(sum_speed_error2, sums.sum_speed_error2) X(sum_speed, sums.sum_speed) X(sum_attitude2, sums.sum_attitude2) \
    X(hops, sums.hops) X(flights, sums.flights) X(apex, sums.apex) X(sum_apex, sums.sum_apex) \
    X(sum_apex2, sums.sum_apex2) X(energy, sums.energy) X(work, sums.work) X(peak_force2, sums.peak_force2) \
    X(penetration, sums.penetration) X(residual, sums.residual) X(energy_start, sums.energy_start) \
    X(x_body_start, sums.x_body_start) X(z_body_start, sums.z_body_start)
// clang-format on

HD void hopper_load(const LaneGroup *group, HopperLanes *lanes)
{
#define HOPPER_LOAD(field, member) lanes->member = lanes_work(group, HOPPER_WORK_##field);
    HOPPER_STATE(HOPPER_LOAD)
#undef HOPPER_LOAD
}

HD void hopper_store(const LaneGroup *group, const HopperLanes *lanes, mask which)
{
#define HOPPER_STORE(field, member) lanes_set_work(group, HOPPER_WORK_##field, lanes->member, which);
    HOPPER_STATE(HOPPER_STORE)
#undef HOPPER_STORE
}

HD void hopper_sample(const LaneGroup *group, const HopperLanes *lanes, const HopperControl *control, double t,
                      mask which)
{
    const real sample[HOPPER_COLUMNS] = {splat(t),   lanes->q.x,  lanes->q.z,  lanes->q.a,        lanes->q.b,
                                         lanes->q.l, lanes->v.x,  lanes->v.z,  lanes->v.a,        lanes->v.b,
                                         lanes->v.l, control->u1, control->u2, lanes->machine.fsm};
    lanes_sample(group, sample, which);
}

// Failure of each lane after a step (a code of HOPPER_NONE...). Body centre lower than 0.3 m, body turned by more than
// a right angle or leg shorter than l_1 + 0.05 m: it fell.
HD real hopper_failure(const HopperParameters *p, const HopperLanes *lanes, const HopperAngles *s, real residual)
{
    const HopperVector *q = &lanes->q, *v = &lanes->v;
    const real all = absolute(q->x) + absolute(q->z) + absolute(q->a) + absolute(q->b) + absolute(q->l) +
                     absolute(v->x) + absolute(v->z) + absolute(v->a) + absolute(v->b) + absolute(v->l);
    const mask fell = MASK(hopper_body_z(p, s, q->z, q->l) < 0.3) | MASK(absolute(q->b) > 1.5707963267948966) |
                      MASK(q->l < p->l_1 + 0.05);
    real failure = select_real(fell, splat(HOPPER_FELL), splat(HOPPER_NONE));
    failure = select_real(MASK(residual > 1e-9), splat(HOPPER_SOLVER), failure);
    return select_real(is_finite(all), failure, splat(HOPPER_DIVERGED));
}

// The lanes of `which` end after `steps` steps: metrics, state and status go out.
HD void hopper_finish(const HopperConstants *c, const HopperParameters *p, const LaneGroup *group,
                      const HopperLanes *lanes, const HopperAngles *s, int64_t steps, real failure, mask which)
{
    real metric[HOPPER_N_METRICS];
    hopper_metrics(c, p, &lanes->sums, s, &lanes->q, &lanes->v, steps, metric);
    for (int m = 0; m < HOPPER_N_METRICS; m++) lanes_set_metric(group, m, metric[m], which);
    hopper_store(group, lanes, which);
    lanes_end(group, failure, which);
}

typedef enum HopperIntegrator { HOPPER_MIDPOINT, HOPPER_EULER } HopperIntegrator;

HD void hopper_advance(const Constants *constants, const LaneGroup *group, HopperIntegrator integrator, bool traced)
{
    HopperConstants c;
    memcpy(&c, constants, sizeof c);
    const HopperParameters p = hopper_parameters_of(group);
    mask running = lanes_running(group);
    if (!any_lane(running)) return;
    HopperLanes lanes;
    if (group->tick == 0) {
        hopper_begin(&p, &lanes);
    } else {
        hopper_load(group, &lanes);
    }
    HopperAngles s = hopper_angles(lanes.q.a, lanes.q.b);
    real speed = hopper_body_speed(&p, &s, lanes.q.l, &lanes.v);

    for (int64_t tick = group->tick; tick < group->tick + group->ticks; tick++) {
        const double t = (double)tick * c.dt, t_end = (double)(tick + 1) * c.dt;
        const HopperControl control = hopper_control(&p, &lanes.machine, &lanes.q, &lanes.v, speed, t);
        if (traced && lanes_sample_due(group, tick)) hopper_sample(group, &lanes, &control, t, running);

        const real z = lanes.q.z, l = lanes.q.l, dl = lanes.v.l;
        const HopperStep step = integrator == HOPPER_MIDPOINT
                                    ? hopper_step_implicit_midpoint(&c, &p, &lanes, &s, &control, running)
                                    : hopper_step_semi_implicit_euler(&c, &p, &lanes, &s, &control);
        s = hopper_angles(lanes.q.a, lanes.q.b);
        speed = hopper_body_speed(&p, &s, lanes.q.l, &lanes.v);
        const HopperTransitions edge =
            hopper_transitions(&p, &lanes.machine, z, l, dl, lanes.q.z, lanes.q.l, lanes.v.l, t_end);
        hopper_sum(&p, &lanes.sums, &s, &lanes.q, &lanes.machine, &control, &edge, &step, speed, c.dt,
                   tick + 1 > c.settle);

        const real failure = hopper_failure(&p, &lanes, &s, step.residual);
        const mask ended = running & (tick + 1 == c.ticks ? splat_bits(-1) : MASK(failure != HOPPER_NONE));
        if (any_lane(ended)) {
            if (traced) {
                const HopperControl last = hopper_control(&p, &lanes.machine, &lanes.q, &lanes.v, speed, t_end);
                hopper_sample(group, &lanes, &last, t_end, ended);
            }
            hopper_finish(&c, &p, group, &lanes, &s, tick + 1, failure, ended);
            running = running & ~ended;
            if (!any_lane(running)) return;
        }
    }
    hopper_store(group, &lanes, running);
}

HD void hopper_implicit_midpoint(const Constants *constants, const double *assets, const LaneGroup *group, bool traced)
{
    (void)assets;
    hopper_advance(constants, group, HOPPER_MIDPOINT, traced);
}

HD void hopper_semi_implicit_euler(const Constants *constants, const double *assets, const LaneGroup *group,
                                   bool traced)
{
    (void)assets;
    hopper_advance(constants, group, HOPPER_EULER, traced);
}

#endif
