// Shared by all steps of the hopper: the state, and motion along a rate.
#ifndef HOPSCOTCH_HOPPER_STEP_H
#define HOPSCOTCH_HOPPER_STEP_H

#include "metrics.h"

// A ring of the accelerations of the last implicit steps: step k stands at k mod HOPPER_PAST.
enum { HOPPER_PAST = 5 };
typedef struct HopperPast {
    HopperVector acceleration[HOPPER_PAST];
} HopperPast;

typedef struct HopperLanes {
    APART(HopperPast) past;
    HopperVector q, v;
    HopperMachine machine;
    HopperAction held; // by a law
    int32_t turn;      // slot of the next step in the ring
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

// f a
HD HopperVector hopper_scaled(real f, const HopperVector *a)
{
    const HopperVector product = {f * a->x, f * a->z, f * a->a, f * a->b, f * a->l};
    return product;
}

// f a + g b
HD HopperVector hopper_combined(real f, const HopperVector *a, real g, const HopperVector *b)
{
    HopperVector sum;
    sum.x = fused(f, a->x, g * b->x);
    sum.z = fused(f, a->z, g * b->z);
    sum.a = fused(f, a->a, g * b->a);
    sum.b = fused(f, a->b, g * b->b);
    sum.l = fused(f, a->l, g * b->l);
    return sum;
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

// inf-norm of a - b. A NaN in a component gives NaN, or a number that the caller's test for finiteness catches.
HD real hopper_difference(const HopperVector *a, const HopperVector *b)
{
    const real of_foot = greater_of(absolute(a->x - b->x), absolute(a->z - b->z));
    const real of_angles = greater_of(absolute(a->a - b->a), absolute(a->b - b->b));
    return greater_of(greater_of(of_foot, of_angles), absolute(a->l - b->l));
}

// One evaluation of the equations of motion at (t, q, v) under given control.
typedef struct HopperRate {
    HopperVector acceleration;
    HopperStep step;
} HopperRate;

HD HopperRate hopper_rate(const HopperWorld *world, const HopperAngles *s, const HopperVector *q, const HopperVector *v,
                          const HopperControl *control, const HopperContact *contact, const HopperFoot *foot)
{
    const HopperLegLaw law = hopper_leg_explicit(&world->p, contact, q->l, v->l, control->u1);
    const HopperForces forces = hopper_forces(world, s, contact, foot, control->push, q->l, v, control->t);
    const HopperPower power = hopper_power(world, s, contact, foot, &forces, control->u1, control->u2, q->l, v);
    HopperRate rate;
    rate.acceleration = hopper_acceleration(world, s, q->l, v, &forces, &law, control->u2);
    rate.step = hopper_step_of(&power, &forces, splat(0.0));
    return rate;
}

#endif
