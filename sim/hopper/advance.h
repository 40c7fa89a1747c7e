// The hopper's kernels: the loop round the steps, from the begin of a lane to its end.
#ifndef HOPSCOTCH_HOPPER_ADVANCE_H
#define HOPSCOTCH_HOPPER_ADVANCE_H

#include "../lanes.h"
#include "newton.h"
#include "step_explicit.h"

HD void hopper_load_parameters(const LaneGroup *group, HopperParameters *p)
{
#define HOPPER_LOAD(name, ...) p->name = lanes_parameter(group, HOPPER_PARAMETER_##name);
    HOPPER_PARAMETERS(HOPPER_LOAD)
#undef HOPPER_LOAD
    p->inverse_m = 1.0 / p->m;
    p->inverse_m_l = 1.0 / p->m_l;
    p->inverse_J = 1.0 / p->J;
    p->inverse_J_l = 1.0 / p->J_l;
}

// Those that the lanes don't have are 0, and nobody asks.
HD void hopper_load_variants(const HopperConstants *c, const LaneGroup *group, HopperParameters *p)
{
#define HOPPER_LOAD(name, ...)                                                                                         \
    p->name = c->row[HOPPER_VARIANT_##name] >= 0 ? lanes_parameter(group, c->row[HOPPER_VARIANT_##name]) : splat(0.0);
    HOPPER_VARIANT_PARAMETERS(HOPPER_LOAD)
#undef HOPPER_LOAD
    p->gust_phase = (c->variants & HOPPER_WITH_GUSTS) != 0 ? hopper_draw_gust_phase(p->lane_seed) : splat(0.0);
}

HD HopperWorld hopper_world(const Constants *constants, const double *assets, const LaneGroup *group, bool full)
{
    HopperWorld world;
    memcpy(&world.c, constants, sizeof world.c);
    hopper_load_parameters(group, &world.p);
    if (full) hopper_load_variants(&world.c, group, &world.p);
    world.assets = assets;
    world.full = full;
    return world;
}

// The lane at t = 0: in flight, with the first guess of the duration of stance.
HD void hopper_begin(const HopperWorld *world, HopperLanes *lanes)
{
    const HopperParameters *p = &world->p;
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
    if (world->full) lanes->q.z = p->z_foot + hopper_terrain(world, p->x_foot).height;
    const HopperAngles s = hopper_angles(lanes->q.a, lanes->q.b);
    const HopperEnergy energy = hopper_energy(world, &s, &lanes->q, &lanes->v);
    const real height = hopper_foot(world, lanes->q.x, lanes->q.z, lanes->v.x, lanes->v.z).height;
    lanes->sums.energy_start = hopper_energy_total(&energy);
    lanes->sums.x_body_start = hopper_body_x(p, &s, lanes->q.x, lanes->q.l);
    lanes->sums.z_body_start = hopper_body_z(p, &s, lanes->q.z, lanes->q.l);
    lanes->sums.penetration = greater_of(-height, splat(0.0));
    if (hopper_with(world, HOPPER_WITH_PARTS)) hopper_parts_begin(&lanes->sums.parts, &energy);
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

HD void hopper_load(const HopperWorld *world, const LaneGroup *group, HopperLanes *lanes)
{
#define HOPPER_LOAD(field, member) lanes->member = lanes_work(group, HOPPER_WORK_##field);
#define HOPPER_LOAD_PART(field) lanes->sums.parts.field = lanes_work(group, HOPPER_WORK_part_##field);
    HOPPER_STATE(HOPPER_LOAD)
    if (hopper_with(world, HOPPER_WITH_PARTS)) {
        HOPPER_PART_SUMS(HOPPER_LOAD_PART)
    }
#undef HOPPER_LOAD_PART
#undef HOPPER_LOAD
}

HD void hopper_store(const HopperWorld *world, const LaneGroup *group, const HopperLanes *lanes, mask which)
{
#define HOPPER_STORE(field, member) lanes_set_work(group, HOPPER_WORK_##field, lanes->member, which);
#define HOPPER_STORE_PART(field) lanes_set_work(group, HOPPER_WORK_part_##field, lanes->sums.parts.field, which);
    HOPPER_STATE(HOPPER_STORE)
    if (hopper_with(world, HOPPER_WITH_PARTS)) {
        HOPPER_PART_SUMS(HOPPER_STORE_PART)
    }
#undef HOPPER_STORE_PART
#undef HOPPER_STORE
}

HD void hopper_sample(const LaneGroup *group, const HopperLanes *lanes, const HopperControl *control, real t,
                      mask which)
{
    const real sample[HOPPER_COLUMNS] = {t,          lanes->q.x,  lanes->q.z,  lanes->q.a,        lanes->q.b,
                                         lanes->q.l, lanes->v.x,  lanes->v.z,  lanes->v.a,        lanes->v.b,
                                         lanes->v.l, control->u1, control->u2, lanes->machine.fsm};
    lanes_sample(group, sample, which);
}

// Failure of each lane after a step (a code of HOPPER_NONE...). Body centre lower than 0.3 m over the ground, body
// turned by more than a right angle or leg shorter than l_1 + 0.05 m: it fell.
HD real hopper_failure(const HopperWorld *world, const HopperLanes *lanes, const HopperAngles *s, real residual)
{
    const HopperParameters *p = &world->p;
    const HopperVector *q = &lanes->q, *v = &lanes->v;
    const real all = absolute(q->x) + absolute(q->z) + absolute(q->a) + absolute(q->b) + absolute(q->l) +
                     absolute(v->x) + absolute(v->z) + absolute(v->a) + absolute(v->b) + absolute(v->l);
    const real zero = splat(0.0);
    const real height =
        hopper_foot(world, hopper_body_x(p, s, q->x, q->l), hopper_body_z(p, s, q->z, q->l), zero, zero).height;
    const mask fell = MASK(height < 0.3) | MASK(absolute(q->b) > 1.5707963267948966) | MASK(q->l < p->l_1 + 0.05);
    real failure = select_real(fell, splat(HOPPER_FELL), splat(HOPPER_NONE));
    failure = select_real(MASK(residual > 1e-9), splat(HOPPER_SOLVER), failure);
    return select_real(is_finite(all), failure, splat(HOPPER_DIVERGED));
}

// The lanes of `which` end: metrics, state and status go out. `settled` and `survived` as for hopper_metrics.
HD void hopper_finish(const HopperWorld *world, const LaneGroup *group, const HopperLanes *lanes, const HopperAngles *s,
                      real settled, real survived, real failure, mask which)
{
    const int count = hopper_with(world, HOPPER_WITH_PARTS) ? HOPPER_N_ALL_METRICS : HOPPER_N_METRICS;
    real metric[HOPPER_N_ALL_METRICS];
    hopper_metrics(world, &lanes->sums, s, &lanes->q, &lanes->v, settled, survived, metric);
    for (int m = 0; m < count; m++) lanes_set_metric(group, m, metric[m], which);
    hopper_store(world, group, lanes, which);
    lanes_end(group, failure, which);
}

typedef enum HopperIntegrator {
    HOPPER_MIDPOINT,
    HOPPER_SEMI_IMPLICIT,
    HOPPER_IMPLICIT,
    HOPPER_RK4,
    HOPPER_NEWTON_ANALYTIC,
    HOPPER_NEWTON_FINITE_DIFFERENCE
} HopperIntegrator;

HD HopperStep hopper_step(HopperIntegrator integrator, const HopperWorld *world, HopperLanes *lanes,
                          const HopperAngles *start, const HopperControl *control, const HopperDebug *debug,
                          mask running)
{
    const bool midpoint = integrator == HOPPER_MIDPOINT;
    if (midpoint || integrator == HOPPER_IMPLICIT)
        return hopper_step_implicit(world, lanes, start, control, midpoint, debug, running);
    if (integrator == HOPPER_RK4) return hopper_step_rk4(world, lanes, start, control);
    if (integrator == HOPPER_NEWTON_ANALYTIC)
        return hopper_step_newton(world, lanes, start, control, HOPPER_ANALYTIC, debug, running);
    if (integrator == HOPPER_NEWTON_FINITE_DIFFERENCE)
        return hopper_step_newton(world, lanes, start, control, HOPPER_FINITE_DIFFERENCE, debug, running);
    return hopper_step_semi_implicit_euler(world, lanes, start, control);
}

HD HopperEdge hopper_edge(const HopperWorld *world, const HopperLanes *lanes, const HopperAngles *s)
{
    HopperEdge edge;
    edge.height = hopper_foot(world, lanes->q.x, lanes->q.z, lanes->v.x, lanes->v.z).height;
    edge.l = lanes->q.l;
    edge.dl = lanes->v.l;
    edge.landing = splat(0.0);
    if (hopper_with(world, HOPPER_WITH_FOUR_STATES)) edge.landing = hopper_landing(world, s, &lanes->q, &lanes->v);
    return edge;
}

HD HopperControl hopper_control_now(const HopperWorld *world, const HopperLanes *lanes, real speed, real height, real t)
{
    const HopperSwitches on = hopper_switches(&world->p, &lanes->machine, height, t);
    HopperControl control = hopper_control(world, &lanes->machine, &on, &lanes->q, &lanes->v, speed);
    if (world->full) {
        control.push = hopper_push(world, t);
        control.t = t;
    }
    return control;
}

// Fixed steps: control is held over a step, transitions are checked after it.
HD void hopper_advance(const Constants *constants, const double *assets, const LaneGroup *group,
                       HopperIntegrator integrator, bool full, bool observed)
{
    const HopperWorld world = hopper_world(constants, assets, group, full);
    mask running = lanes_running(group);
    if (!any_lane(running)) return;
    HopperLanes lanes;
    if (group->tick == 0) {
        hopper_begin(&world, &lanes);
    } else {
        hopper_load(&world, group, &lanes);
    }
    HopperAngles s = hopper_angles(lanes.q.a, lanes.q.b);
    real speed = hopper_body_speed(&world.p, &s, lanes.q.l, &lanes.v);
    HopperEdge before = hopper_edge(&world, &lanes, &s);

    for (int64_t tick = group->tick; tick < group->tick + group->ticks; tick++) {
        const real t = splat((double)tick * world.c.dt), t_end = splat((double)(tick + 1) * world.c.dt);
        const HopperControl control = hopper_control_now(&world, &lanes, speed, before.height, t);
        if (observed && lanes_sample_due(group, tick)) hopper_sample(group, &lanes, &control, t, running);
        const HopperDebug debug = {
            observed && lanes_debug_due(group, tick), group, tick, t, lanes.machine.fsm, control};

        const HopperStep step = hopper_step(integrator, &world, &lanes, &s, &control, &debug, running);
        s = hopper_angles(lanes.q.a, lanes.q.b);
        speed = hopper_body_speed(&world.p, &s, lanes.q.l, &lanes.v);
        const HopperEdge after = hopper_edge(&world, &lanes, &s);
        const HopperTransitions edge = hopper_transitions(&world, &lanes.machine, &before, &after, t_end);
        before = after;
        hopper_sum(&world, &lanes.sums, &s, &lanes.q, &lanes.machine, &edge, &step, speed, after.height,
                   splat(world.c.dt), tick + 1 > world.c.settle);

        const real failure = hopper_failure(&world, &lanes, &s, step.residual);
        const mask ended = running & (tick + 1 == world.c.ticks ? splat_bits(-1) : MASK(failure != HOPPER_NONE));
        if (any_lane(ended)) {
            if (observed) {
                const HopperControl last = hopper_control_now(&world, &lanes, speed, after.height, t_end);
                hopper_sample(group, &lanes, &last, t_end, ended);
            }
            const real settled = splat((double)(tick + 1 - world.c.settle));
            hopper_finish(&world, group, &lanes, &s, settled, t_end, failure, ended);
            running = running & ~ended;
            if (!any_lane(running)) return;
        }
    }
    hopper_store(&world, group, &lanes, running);
}

#include "adaptive.h"

#define HOPPER_KERNEL(name, integrator, full)                                                                          \
    HD void hopper_##name(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)     \
    {                                                                                                                  \
        hopper_advance(constants, assets, group, integrator, full, observed);                                          \
    }
HOPPER_KERNEL(implicit_midpoint, HOPPER_MIDPOINT, false)
HOPPER_KERNEL(semi_implicit_euler, HOPPER_SEMI_IMPLICIT, false)
HOPPER_KERNEL(implicit_euler, HOPPER_IMPLICIT, false)
HOPPER_KERNEL(rk4, HOPPER_RK4, false)
HOPPER_KERNEL(newton_analytic, HOPPER_NEWTON_ANALYTIC, false)
HOPPER_KERNEL(newton_finite_difference, HOPPER_NEWTON_FINITE_DIFFERENCE, false)
HOPPER_KERNEL(implicit_midpoint_full, HOPPER_MIDPOINT, true)
HOPPER_KERNEL(semi_implicit_euler_full, HOPPER_SEMI_IMPLICIT, true)
HOPPER_KERNEL(implicit_euler_full, HOPPER_IMPLICIT, true)
HOPPER_KERNEL(rk4_full, HOPPER_RK4, true)

HD void hopper_dormand_prince(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)
{
    hopper_advance_adaptive(constants, assets, group, false, observed);
}

HD void hopper_dormand_prince_full(const Constants *constants, const double *assets, const LaneGroup *group,
                                   bool observed)
{
    hopper_advance_adaptive(constants, assets, group, true, observed);
}

#endif
