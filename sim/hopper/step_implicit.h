// Implicit midpoint and implicit Euler, by fixed-point iteration on the velocity.
#ifndef HOPSCOTCH_HOPPER_STEP_IMPLICIT_H
#define HOPSCOTCH_HOPPER_STEP_IMPLICIT_H

#include "debug.h"

// sine and cosine of angle + d for |d| <= 1/64 from those of the angle, by addition with the series of d (error 1e-17).
HD void hopper_turned(real sin_0, real cos_0, real d, real *sin_1, real *cos_1)
{
    TABLE double S[] = {-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0}, V[] = {-1.0 / 24.0, 1.0 / 720.0};
    const real d2 = d * d;
    const real sine_tail = fused(d2, math_pair(d2, entry_of(&S[1]), entry_of(&S[2])), splat(entry_of(&S[0])));
    const real sin_d = fused(d * d2, sine_tail, d);
    const real versine = d2 * fused(d2, math_pair(d2, entry_of(&V[0]), entry_of(&V[1])), splat(0.5)); // 1 - cos d
    *sin_1 = fused(cos_0, sin_d, fused(-sin_0, versine, sin_0));
    *cos_1 = fused(-sin_0, sin_d, fused(-cos_0, versine, cos_0));
}

// Angles at a + turn_a, b + turn_b from those at a, b.
HD HopperAngles hopper_angles_after(const HopperAngles *s, real a, real b, real turn_a, real turn_b)
{
    HopperAngles angles;
    hopper_turned(s->sin_a, s->cos_a, turn_a, &angles.sin_a, &angles.cos_a);
    hopper_turned(s->sin_b, s->cos_b, turn_b, &angles.sin_b, &angles.cos_b);
    const mask far = MASK(value_of(greater_of(absolute(turn_a), absolute(turn_b))) > 1.0 / 64.0);
    if (any_lane(far)) {
        const HopperAngles full = hopper_angles(a + turn_a, b + turn_b);
        angles.sin_a = select_real(far, full.sin_a, angles.sin_a);
        angles.cos_a = select_real(far, full.cos_a, angles.cos_a);
        angles.sin_b = select_real(far, full.sin_b, angles.sin_b);
        angles.cos_b = select_real(far, full.cos_b, angles.cos_b);
    }
    return angles;
}

// The branches of the piecewise forces follow the iterate for this many iterations and then stay. Where the force jumps
// (dampers of the stop and of the ground), the implicit equation may have no solution, and the iterate would flip
// forever. A fixed branch makes the equation smooth again; the error is of the order of an event inside a step.
#define HOPPER_FREE_ITERATIONS 6

// One iterate: the velocity w at the evaluated instant, and the branches, acceleration and powers from which it was
// computed.
typedef struct HopperIterate {
    HopperVector w, acceleration;
    HopperContact contact;
    HopperStep step; // its residual: change of w
} HopperIterate;

HD mask hopper_mask_select(mask m, mask a, mask b) { return (m & a) | (~m & b); }

HD HopperContact hopper_contact_select(mask m, const HopperContact *a, const HopperContact *b)
{
    HopperContact chosen;
    chosen.ground = hopper_mask_select(m, a->ground, b->ground);
    chosen.damping = hopper_mask_select(m, a->damping, b->damping);
    chosen.stop = hopper_mask_select(m, a->stop, b->stop);
    return chosen;
}

HD HopperFoot hopper_foot_after(const HopperWorld *world, const HopperVector *q, real h, const HopperVector *w)
{
    return hopper_foot(world, fused(h, w->x, q->x), fused(h, w->z, q->z), w->x, w->z);
}

// w <- v + h a(q + h w, w), with the leg force implicit in l''. `held`: lanes that keep their branches.
HD HopperIterate hopper_iterate_next(const HopperWorld *world, const HopperLanes *lanes, const HopperAngles *start,
                                     const HopperControl *control, real h, const HopperIterate *from, mask held)
{
    const HopperVector *q = &lanes->q, *v = &lanes->v, *w = &from->w;
    const real l = fused(h, w->l, q->l);
    const HopperFoot foot = hopper_foot_after(world, q, h, w);
    const HopperContact contact = hopper_contact(&world->p, &foot, l);
    const HopperAngles s = hopper_angles_after(start, q->a, q->b, h * w->a, h * w->b);
    HopperIterate next;
    next.contact = hopper_contact_select(held, &from->contact, &contact);
    const HopperForces forces = hopper_forces(world, &s, &next.contact, &foot, control->push, l, w, control->t + h);
    const HopperLegLaw law = hopper_leg_implicit(&world->p, &next.contact, h, q->l, v->l, control->u1);
    next.acceleration = hopper_acceleration(world, &s, l, w, &forces, &law, control->u2);
    next.w = hopper_moved(v, h, &next.acceleration);
    const HopperPower power = hopper_power(world, &s, &next.contact, &foot, &forces, control->u1, control->u2, l, w);
    next.step = hopper_step_of(&power, &forces, hopper_difference(&next.w, w));
    return next;
}

HD HopperIterate hopper_iterate_select(const HopperWorld *world, mask m, const HopperIterate *a, const HopperIterate *b)
{
    HopperIterate chosen;
    chosen.w = hopper_select(m, &a->w, &b->w);
    chosen.acceleration = hopper_select(m, &a->acceleration, &b->acceleration);
    chosen.contact = hopper_contact_select(m, &a->contact, &b->contact);
    chosen.step = hopper_step_select(world, m, &a->step, &b->step);
    return chosen;
}

// Time from the step's start to the instant at which the acceleration is evaluated (s).
HD real hopper_reach(const HopperWorld *world, bool midpoint)
{
    return splat(midpoint ? 0.5 * world->c.dt : world->c.dt);
}

// The state at the step's end, if w is the velocity at that instant: q + dt w, and v extrapolated from v and w.
HD HopperState hopper_state_after(const HopperWorld *world, const HopperLanes *lanes, bool midpoint,
                                  const HopperVector *w)
{
    HopperState state;
    state.q = hopper_moved(&lanes->q, splat(world->c.dt), w);
    state.v = midpoint ? hopper_combined(splat(2.0), w, splat(-1.0), &lanes->v) : *w;
    return state;
}

// The acceleration of a step, by the polynomial through those of the five steps before. Where the motion is smooth it
// is so close that most steps need one iteration. The weight of an entry of the ring depends on its age, 1 to 5 steps.
HD HopperVector hopper_extrapolated(const HopperLanes *lanes)
{
    TABLE double weights[HOPPER_PAST][HOPPER_PAST] = {{1.0, -5.0, 10.0, -10.0, 5.0},
                                                      {5.0, 1.0, -5.0, 10.0, -10.0},
                                                      {-10.0, 5.0, 1.0, -5.0, 10.0},
                                                      {10.0, -10.0, 5.0, 1.0, -5.0},
                                                      {-5.0, 10.0, -10.0, 5.0, 1.0}};
    const double *weight = weights[lanes->turn];
    HopperVector sum = hopper_scaled(splat(entry_of(&weight[0])), &lanes->past.acceleration[0]);
    UNROLL
    for (int k = 1; k < HOPPER_PAST; k++)
        sum = hopper_moved(&sum, splat(entry_of(&weight[k])), &lanes->past.acceleration[k]);
    return sum;
}

// Solves w = v + h a(q + h w, w) from the extrapolated acceleration. A lane whose w changed by no more than the
// tolerance keeps it while other lanes of its group continue. Powers and forces are those of the last iterate but one,
// which is equally accurate.
HD HopperIterate hopper_solve(const HopperWorld *world, const HopperLanes *lanes, const HopperAngles *start,
                              const HopperControl *control, bool midpoint, const HopperDebug *debug, mask running)
{
    const real h = hopper_reach(world, midpoint);
    const HopperVector guess = hopper_extrapolated(lanes);
    HopperIterate iterate;
    memset(&iterate, 0, sizeof iterate);
    iterate.w = hopper_moved(&lanes->v, h, &guess);
    mask solving = running;
    for (int iteration = 0; iteration < world->c.iterations; iteration++) {
        const mask held = iteration < HOPPER_FREE_ITERATIONS ? no_lanes() : all_lanes();
        const HopperIterate next = hopper_iterate_next(world, lanes, start, control, h, &iterate, held);
        if (debug->on) {
            const HopperState before = hopper_state_after(world, lanes, midpoint, &iterate.w);
            const HopperState after = hopper_state_after(world, lanes, midpoint, &next.w);
            hopper_debug_row(debug, iteration, splat(0.0), next.step.residual, &before, &after, solving);
        }
        iterate = hopper_iterate_select(world, solving, &next, &iterate);
        solving = solving & ~MASK(value_of(iterate.step.residual) <= world->c.tolerance);
        if (!any_lane(solving)) break;
        solving = not_empty(solving);
    }
    return iterate;
}

// Implicit midpoint with the positions eliminated: w = v + h a(q + h w, w), h = dt/2; then q += dt w and v = 2 w - v
// (Hairer, Lubich & Wanner, Geometric Numerical Integration, II.1.3). Implicit Euler: h = dt, and v = w.
HD HopperStep hopper_step_implicit(const HopperWorld *world, HopperLanes *lanes, const HopperAngles *start,
                                   const HopperControl *control, bool midpoint, const HopperDebug *debug, mask running)
{
    const HopperIterate iterate = hopper_solve(world, lanes, start, control, midpoint, debug, running);
    const HopperState after = hopper_state_after(world, lanes, midpoint, &iterate.w);
    lanes->q = after.q;
    lanes->v = after.v;
    lanes->past.acceleration[lanes->turn] = iterate.acceleration;
    return iterate.step;
}

#endif
