// The ground: a height map z_ground(x) with its slope. Contact is along the vertical, so the foot's height over the
// ground is z - z_ground(x) and its rate z' - z_ground'(x) x'.
#ifndef HOPSCOTCH_HOPPER_TERRAIN_H
#define HOPSCOTCH_HOPPER_TERRAIN_H

#include "world.h"

// assets[n_points][x, z]: of terrain: table
HD Terrain hopper_terrain(const HopperWorld *world, real x)
{
    const HopperParameters *p = &world->p;
    Terrain ground = terrain_flat();
    if (hopper_with(world, HOPPER_WITH_TABLE)) return terrain_table(world->assets, world->c.n_points, x);
    if (!hopper_with(world, HOPPER_WITH_SLOPE | HOPPER_WITH_STEPS | HOPPER_WITH_SINE)) return ground;
    const real along = x - p->terrain_start;
    if (hopper_with(world, HOPPER_WITH_STEPS)) ground = terrain_steps(p->terrain_length, p->terrain_height, along);
    if (hopper_with(world, HOPPER_WITH_SINE)) ground = terrain_sine(p->terrain_length, p->terrain_height, along);
    if (hopper_with(world, HOPPER_WITH_SLOPE)) ground = terrain_slope(p->terrain_slope, along);
    return terrain_beyond(ground, along);
}

#endif
