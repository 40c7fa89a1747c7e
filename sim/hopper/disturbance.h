// Disturbances: horizontal forces on the body's centre of mass, by pushes and wind.
//
// A push is constant over an interval of time, so an integrator keeps it constant over a step, as it does with control.
// The momentum that it gives is then the impulse, with any method. Random numbers are Philox of the lane's own seed and
// the number of the push: no state, and the same on every processor.
#ifndef HOPSCOTCH_HOPPER_DISTURBANCE_H
#define HOPSCOTCH_HOPPER_DISTURBANCE_H

#include "../philox.h"
#include "world.h"

// Intervals begin and end this much early (s), so that rounding of tick * dt cannot fall on either side of their ends.
#define HOPPER_EARLY 1e-9

enum { HOPPER_DRAW_PUSH, HOPPER_DRAW_PHASE }; // purpose of a random number

// Two uniform numbers, in (0, 1] and [0, 1), for each lane.
HD void hopper_draw(real seed, real number, uint32_t purpose, real *u, real *v)
{
    *u = *v = splat(0.0);
    const real counted = clamped(number, splat(0.0), splat(4294967295.0));
    for (int i = 0; i < LANES; i++) {
        const Philox counter = {{(uint32_t)lane_of(counted, i), 0, 0, purpose}};
        const Philox drawn = philox4x32_10(counter, (uint64_t)lane_of(seed, i));
        set_lane(u, i, philox_unit(drawn.word[0], drawn.word[1]) + 0x1p-53);
        set_lane(v, i, philox_unit(drawn.word[2], drawn.word[3]));
    }
}

// A standard normal number (Box & Muller 1958), as in sim/random.c.
HD real hopper_draw_normal(real seed, real number, uint32_t purpose)
{
    real u, v;
    hopper_draw(seed, number, purpose, &u, &v);
    return square_root(-2.0 * logarithm(u)) * cosine(6.283185307179586 * v);
}

HD real hopper_draw_gust_phase(real seed)
{
    real u, v;
    hopper_draw(seed, splat(0.0), HOPPER_DRAW_PHASE, &u, &v);
    return v;
}

// The time (s) since the push of instant t began, and its number: that of the timed one, or k = 1, 2, ... of the random
// ones, which begin at k push_interval. Before the first push: negative, or 0.
HD real hopper_push_since(const HopperWorld *world, real t, real *number)
{
    const HopperParameters *p = &world->p;
    const real now = t + HOPPER_EARLY;
    *number = splat(1.0);
    if (hopper_with(world, HOPPER_WITH_TIMED_PUSH)) return now - p->push_time;
    *number = terrain_floor(now / p->push_interval);
    return fused(-*number, p->push_interval, now);
}

// Force of pushes at t (N).
HD real hopper_push(const HopperWorld *world, real t)
{
    if (!hopper_with(world, HOPPER_WITH_TIMED_PUSH | HOPPER_WITH_RANDOM_PUSHES)) return splat(0.0);
    const HopperParameters *p = &world->p;
    real number;
    const real since = hopper_push_since(world, t, &number);
    const mask pushing = MASK(value_of(since) >= 0.0) & MASK(value_of(since) < value_of(p->push_duration)) &
                         MASK(value_of(number) >= 1.0);
    if (!any_lane(pushing)) return splat(0.0);
    const real impulse = hopper_with(world, HOPPER_WITH_TIMED_PUSH)
                             ? p->push_impulse
                             : p->push_std * hopper_draw_normal(p->lane_seed, number, HOPPER_DRAW_PUSH);
    return select_real(pushing, impulse / p->push_duration, splat(0.0));
}

// The next instant (s) after t at which that force may jump; a step must end there.
HD real hopper_push_edge(const HopperWorld *world, real t)
{
    const real never = math_infinity();
    if (!hopper_with(world, HOPPER_WITH_TIMED_PUSH | HOPPER_WITH_RANDOM_PUSHES)) return never;
    const HopperParameters *p = &world->p;
    real number;
    const real since = hopper_push_since(world, t, &number);
    const bool timed = hopper_with(world, HOPPER_WITH_TIMED_PUSH);
    const real start = timed ? p->push_time : number * p->push_interval;
    const real later = timed ? never : (number + 1.0) * p->push_interval;
    const real end = start + p->push_duration;
    const real next = select_real(
        MASK(value_of(since) < value_of(p->push_duration)) & MASK(value_of(end) < value_of(later)), end, later);
    return select_real(MASK(value_of(since) < 0.0), start, next);
}

// Force of the wind w on a body that moves at `speed`: wind_drag |w - v| (w - v) (N).
HD real hopper_wind(const HopperWorld *world, real t, real speed)
{
    if (!hopper_with(world, HOPPER_WITH_WIND)) return splat(0.0);
    const HopperParameters *p = &world->p;
    real relative = p->wind_speed - speed;
    if (hopper_with(world, HOPPER_WITH_GUSTS)) {
        real wave, rate;
        terrain_wave(t / p->gust_period + p->gust_phase, &wave, &rate);
        relative = fused(p->gust_speed, wave, relative);
    }
    return p->wind_drag * absolute(relative) * relative;
}

#endif
