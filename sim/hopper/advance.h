// The hopper's kernels: the loop around the fixed steps, and one kernel per integrator.
#ifndef HOPSCOTCH_HOPPER_ADVANCE_H
#define HOPSCOTCH_HOPPER_ADVANCE_H

#include "adaptive.h"
#include "lane.h"
#include "newton.h"
#include "step_explicit.h"

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

// A step of the lanes from t on. *t_end: where it ends, and where the machine may change its state.
HD HopperStep hopper_step_from(HopperIntegrator integrator, const HopperWorld *world, HopperLanes *lanes,
                               const HopperAngles *start, const HopperAction *asked, const HopperControl *control,
                               const HopperDebug *debug, mask running, real t, real *t_end)
{
#if defined(HOPSCOTCH_DUAL)
    const HopperLanes from = *lanes;
    HopperStep step = hopper_step(integrator, world, lanes, start, control, debug, running);
    hopper_locate(world, &from, asked, t, lanes, &step, t_end);
    return step;
#else
    (void)asked, (void)t, (void)t_end;
    return hopper_step(integrator, world, lanes, start, control, debug, running);
#endif
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

HD HopperControl hopper_control_now(const HopperWorld *world, const HopperLanes *lanes, const HopperAction *action,
                                    real speed, real height, real t)
{
    const HopperSwitches on = hopper_switches(&world->p, &lanes->machine, height, t);
    HopperControl control = hopper_control(world, &lanes->machine, &on, &lanes->q, &lanes->v, speed);
    hopper_act(world, action, &control);
    if (world->full) {
        control.push = hopper_push(world, t);
        control.t = t;
    }
    return control;
}

// Fixed steps of the lanes of `running`, to the end of the slice: control is constant over a step, and transitions are
// checked after it. ticks: done by each lane. action: of lanes with their own clocks.
HD void hopper_steps(const HopperWorld *world, const LaneGroup *group, HopperIntegrator integrator, bool observed,
                     mask running, real ticks, const HopperAction *action, HopperLanes *lanes, HopperSums *sums)
{
    HopperAngles s = hopper_angles(lanes->q.a, lanes->q.b);
    real speed = hopper_body_speed(&world->p, &s, lanes->q.l, &lanes->v);
    HopperEdge before = hopper_edge(world, lanes, &s);

    for (int64_t tick = group->tick; tick < group->tick + group->ticks; tick++) {
        const real t = ticks * world->c.dt;
        real t_end = (ticks + 1.0) * world->c.dt;
        const HopperAction asked = hopper_asked(world, group, action, lanes, tick, ticks, running);
        ticks = ticks + 1.0;
        const HopperControl control = hopper_control_now(world, lanes, &asked, speed, before.height, t);
        if (observed && lanes_sample_due(group, tick)) hopper_sample(group, lanes, &control, t, false, running);
        const HopperDebug debug = {
            observed && lanes_debug_due(group, tick), group, tick, t, lanes->machine.fsm, control};

        const HopperStep step =
            hopper_step_from(integrator, world, lanes, &s, &asked, &control, &debug, running, t, &t_end);
        lanes->turn = lanes->turn + 1 == HOPPER_PAST ? 0 : lanes->turn + 1;
        s = hopper_angles(lanes->q.a, lanes->q.b);
        speed = hopper_body_speed(&world->p, &s, lanes->q.l, &lanes->v);
        const HopperEdge after = hopper_edge(world, lanes, &s);
        const HopperTransitions edge = hopper_transitions(world, &lanes->machine, &before, &after, t_end);
        before = after;
        hopper_sum(world, sums, &s, &lanes->q, &lanes->machine, &edge, &step, speed, after.height, splat(world->c.dt),
                   MASK(value_of(ticks) > (double)world->c.settle));

        const mask fell = MASK(value_of(hopper_fallen(world, &s, &lanes->q)) > 0.0);
        HopperFailures failures = hopper_failures_of(lanes, fell, step.residual);
        if (hopper_with(world, HOPPER_WITH_LAW)) failures.diverged = failures.diverged | law_is_wrong(group);
        const mask retired = observed ? lanes_retire(group) : no_lanes();
        const mask ended =
            running & (MASK(value_of(ticks) == (double)world->c.ticks) | hopper_failed(&failures) | retired);
        if (any_lane(ended)) {
            if (observed) {
                const HopperAction next =
                    hopper_with(world, HOPPER_WITH_LAW) ? lanes->held : hopper_action(world, tick + 1);
                const HopperControl last = hopper_control_now(world, lanes, &next, speed, after.height, t_end);
                hopper_sample(group, lanes, &last, t_end, true, ended);
            }
            const real settled = ticks - (double)world->c.settle;
            const real failure = lanes_retired(group, retired, hopper_failure(&failures));
            hopper_finish(world, group, lanes, sums, &s, settled, t_end, failure, ended);
            if (world->clocked) lanes_set_clock(group, ticks, ended);
            running = running & ~ended;
            if (!any_lane(running)) return;
            running = not_empty(running);
        }
    }
    hopper_store(world, group, lanes, sums, running);
    if (world->clocked) lanes_set_clock(group, ticks, running);
}

HD void hopper_advance(const Constants *constants, const double *assets, const LaneGroup *group,
                       HopperIntegrator integrator, bool full, bool observed)
{
    const HopperWorld world = hopper_world(constants, assets, group, full, false);
    const HopperAction none = {splat(0.0), splat(0.0)};
    mask running = lanes_running(group);
    if (!any_lane(running)) return;
    running = not_empty(running);
    WITH_APART(HopperLanes, lanes, HopperPast);
    HopperSums sums;
    if (group->tick == 0) {
        hopper_begin(&world, &lanes, &sums);
        if (lanes_have_law(group)) law_begin(group, all_lanes());
    } else {
        hopper_load(&world, group, &lanes, &sums);
    }
    lanes.turn = (int32_t)(group->tick % HOPPER_PAST);
    hopper_steps(&world, group, integrator, observed, running, splat((double)group->tick), &none, &lanes, &sums);
}

#define HOPPER_KERNEL(name, integrator, full)                                                                          \
    HD void hopper_##name(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)     \
    {                                                                                                                  \
        hopper_advance(constants, assets, group, integrator, full, observed);                                          \
    }
HOPPER_KERNEL(implicit_midpoint, HOPPER_MIDPOINT, false)
HOPPER_KERNEL(semi_implicit_euler, HOPPER_SEMI_IMPLICIT, false)
HOPPER_KERNEL(implicit_euler, HOPPER_IMPLICIT, false)
HOPPER_KERNEL(rk4, HOPPER_RK4, false)
HOPPER_KERNEL(newton_analytic, HOPPER_NEWTON_ANALYTIC, true)
HOPPER_KERNEL(newton_finite_difference, HOPPER_NEWTON_FINITE_DIFFERENCE, true)
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
