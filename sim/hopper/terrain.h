// The ground: a height map z_ground(x) with its slope. Contact is along the vertical, so the foot's height over the
// ground is z - z_ground(x) and its rate z' - z_ground'(x) x'.
#ifndef HOPSCOTCH_HOPPER_TERRAIN_H
#define HOPSCOTCH_HOPPER_TERRAIN_H

#include "world.h"

// assets[n_points][x, z]: of terrain: table
HD Terrain hopper_terrain(const HopperWorld *world, real x)
{
    const HopperParameters *p = &world->p;
    if (!hopper_with(world, HOPPER_WITH_TERRAIN)) return terrain_flat();
    const real size = hopper_with(world, TERRAIN_HAS_slope) ? p->terrain_slope : p->terrain_height;
    const TerrainNumbers numbers = {p->terrain_start, size, p->terrain_length, world->assets, world->c.n_points};
    return terrain_along((TerrainKind)world->c.terrain, &numbers, x);
}

#endif
