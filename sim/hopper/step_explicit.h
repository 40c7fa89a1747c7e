// Semi-implicit Euler and the classical Runge-Kutta method of fourth order.
#ifndef HOPSCOTCH_HOPPER_STEP_EXPLICIT_H
#define HOPSCOTCH_HOPPER_STEP_EXPLICIT_H

#include "step.h"

HD HopperRate hopper_rate_at(const HopperWorld *world, const HopperAngles *s, const HopperVector *q,
                             const HopperVector *v, const HopperControl *control)
{
    const HopperFoot foot = hopper_foot(world, q->x, q->z, v->x, v->z);
    const HopperContact contact = hopper_contact(&world->p, &foot, q->l);
    return hopper_rate(world, s, q, v, control, &contact, &foot);
}

// Semi-implicit (symplectic) Euler: v += dt a(q, v), then q += dt v.
HD HopperStep hopper_step_semi_implicit_euler(const HopperWorld *world, HopperLanes *lanes, const HopperAngles *start,
                                              const HopperControl *control)
{
    const real dt = splat(world->c.dt);
    const HopperRate rate = hopper_rate_at(world, start, &lanes->q, &lanes->v, control);
    lanes->v = hopper_moved(&lanes->v, dt, &rate.acceleration);
    lanes->q = hopper_moved(&lanes->q, dt, &lanes->v);
    return rate.step;
}

// Adds a stage to the step's averages, with its weight.
HD void hopper_step_add(const HopperWorld *world, HopperStep *step, real weight, const HopperStep *stage)
{
    if (hopper_with(world, HOPPER_WITH_TERMS)) {
        step->power.hip = fused(weight, stage->power.hip, step->power.hip);
        step->power.thrust = fused(weight, stage->power.thrust, step->power.thrust);
        step->power.stop = fused(weight, stage->power.stop, step->power.stop);
        step->power.ground = fused(weight, stage->power.ground, step->power.ground);
        step->power.other = fused(weight, stage->power.other, step->power.other);
    }
    step->work = fused(weight, stage->work, step->work);
    step->effort = fused(weight, stage->effort, step->effort);
    step->foot_force2 = greater_of(stage->foot_force2, step->foot_force2);
}

// The classical method (Kutta 1901): stages at 0, 1/2, 1/2, 1 with weights 1/6, 1/3, 1/3, 1/6.
HD HopperStep hopper_step_rk4(const HopperWorld *world, HopperLanes *lanes, const HopperAngles *start,
                              const HopperControl *control)
{
    const real dt = splat(world->c.dt), half = splat(0.5 * world->c.dt);
    const HopperVector q = lanes->q, v = lanes->v;
    HopperControl stage = *control;
    HopperStep step;
    memset(&step, 0, sizeof step);
    HopperVector stage_v = v, sum_v, sum_a;
    HopperRate rate = hopper_rate_at(world, start, &q, &v, control);
    hopper_step_add(world, &step, splat(1.0 / 6.0), &rate.step);
    sum_v = hopper_scaled(splat(1.0 / 6.0), &v);
    sum_a = hopper_scaled(splat(1.0 / 6.0), &rate.acceleration);
    for (int i = 1; i < 4; i++) {
        const real h = i < 3 ? half : dt, weight = splat(i < 3 ? 1.0 / 3.0 : 1.0 / 6.0);
        const HopperVector stage_q = hopper_moved(&q, h, &stage_v);
        stage_v = hopper_moved(&v, h, &rate.acceleration);
        const HopperAngles s = hopper_angles(stage_q.a, stage_q.b);
        stage.t = control->t + h;
        rate = hopper_rate_at(world, &s, &stage_q, &stage_v, &stage);
        hopper_step_add(world, &step, weight, &rate.step);
        sum_v = hopper_moved(&sum_v, weight, &stage_v);
        sum_a = hopper_moved(&sum_a, weight, &rate.acceleration);
    }
    lanes->q = hopper_moved(&q, dt, &sum_v);
    lanes->v = hopper_moved(&v, dt, &sum_a);
    return step;
}

#endif
