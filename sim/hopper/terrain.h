// The ground: a height map z_ground(x) with its slope. Contact is along the vertical, so the foot's height over the
// ground is z - z_ground(x) and its rate z' - z_ground'(x) x'.
//
// Every map is continuous. At a jump of the height the energy of the ground spring would jump, and the rate of the
// foot's height would be undefined. So the riser of a step is a smooth ramp over the last tenth of each tread.
#ifndef HOPSCOTCH_HOPPER_TERRAIN_H
#define HOPSCOTCH_HOPPER_TERRAIN_H

#include "world.h"

typedef struct HopperTerrain {
    real height, slope; // z_ground (m), dz_ground/dx
} HopperTerrain;

// Steps: treads of length terrain_length with rise terrain_height. The riser 3 u^2 - 2 u^3 is at the end of a tread.
HD HopperTerrain hopper_terrain_steps(const HopperParameters *p, real along)
{
    const real treads = along / p->terrain_length, level = hopper_floor(treads);
    const real u = clamped(fused(treads - level, splat(10.0), splat(-9.0)), splat(0.0), splat(1.0));
    HopperTerrain ground;
    ground.height = p->terrain_height * fused(u * u, 3.0 - 2.0 * u, level);
    ground.slope = 60.0 * (p->terrain_height / p->terrain_length) * (u * (1.0 - u));
    return ground;
}

HD HopperTerrain hopper_terrain_sine(const HopperParameters *p, real along)
{
    real wave, rate;
    hopper_wave(along / p->terrain_length, &wave, &rate);
    HopperTerrain ground;
    ground.height = p->terrain_height * wave;
    ground.slope = p->terrain_height / p->terrain_length * rate;
    return ground;
}

// Index of the last point [x, z] that is not right of x. 0 if all are right of it, or x is NaN.
HD int32_t hopper_terrain_find(const double *points, int32_t count, double x)
{
    int32_t low = 0, high = count;
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (points[2 * middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Linear between the points of the spec, level before the first and after the last. assets[n_points][x, z]
HD HopperTerrain hopper_terrain_table(const HopperWorld *world, real x)
{
    const int32_t count = world->c.n_points;
    HopperTerrain ground = {splat(0.0), splat(0.0)};
    for (int i = 0; i < LANES; i++) {
        const double at = lane_of(x, i);
        const int32_t k = hopper_terrain_find(world->assets, count, at);
        const double *point = world->assets + 2 * k;
        const bool between = k + 1 < count && at >= point[0];
        const double slope = between ? (point[3] - point[1]) / (point[2] - point[0]) : 0.0;
        set_lane(&ground.slope, i, slope);
        set_lane(&ground.height, i, between ? point[1] + slope * (at - point[0]) : point[1]);
    }
    return ground;
}

HD HopperTerrain hopper_terrain(const HopperWorld *world, real x)
{
    const HopperParameters *p = &world->p;
    HopperTerrain ground = {splat(0.0), splat(0.0)};
    if (hopper_with(world, HOPPER_WITH_TABLE)) return hopper_terrain_table(world, x);
    if (!hopper_with(world, HOPPER_WITH_SLOPE | HOPPER_WITH_STEPS | HOPPER_WITH_SINE)) return ground;
    const real along = x - p->terrain_start;
    const mask beyond = MASK(along > 0.0);
    if (hopper_with(world, HOPPER_WITH_STEPS)) ground = hopper_terrain_steps(p, along);
    if (hopper_with(world, HOPPER_WITH_SINE)) ground = hopper_terrain_sine(p, along);
    if (hopper_with(world, HOPPER_WITH_SLOPE)) {
        ground.height = p->terrain_slope * along;
        ground.slope = p->terrain_slope;
    }
    ground.height = select_real(beyond, ground.height, splat(0.0));
    ground.slope = select_real(beyond, ground.slope, splat(0.0));
    return ground;
}

#endif
