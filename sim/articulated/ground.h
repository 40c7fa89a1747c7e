// The ground below a point: the terrain of the spec, which rises along x, or has heights over x and y.
#ifndef HOPSCOTCH_ARTICULATED_GROUND_H
#define HOPSCOTCH_ARTICULATED_GROUND_H

#include "../spatial/terrain.h"
#include "memory.h"

typedef struct ArticulatedGround {
    real height;    // below the point (m)
    Vector3 normal; // upwards
} ArticulatedGround;

// The lane's parameters of the terrain stand in the order of terrains.h.
HD TerrainNumbers ground_numbers(const ArticulatedLanes *w)
{
    const int row = w->c.terrain_row, count = w->c.n_terrain;
    TerrainNumbers numbers;
    numbers.start = count > 0 ? lanes_parameter(w->group, row) : splat(0.0);
    numbers.size = count > 1 ? lanes_parameter(w->group, row + 1) : splat(0.0);
    numbers.length = count > 2 ? lanes_parameter(w->group, row + 2) : splat(1.0);
    numbers.points = w->assets + w->c.table;
    numbers.n_points = w->c.n_table;
    return numbers;
}

// Of a terrain that depends on x alone.
HD Terrain ground_terrain(const ArticulatedLanes *w, real x)
{
    const TerrainNumbers numbers = ground_numbers(w);
    return terrain_along((TerrainKind)w->c.terrain, &numbers, x);
}

// Heights of a file; the middle of the grid is at terrain_x, terrain_y.
HD TerrainPatch ground_patch(const ArticulatedLanes *w, real x, real y)
{
    const int row = w->c.terrain_row;
    const TerrainGrid grid = {w->assets + w->c.heights, w->c.n_rows, w->c.n_columns, w->c.spacing};
    const double half_x = 0.5 * grid.spacing * (double)(grid.columns - 1);
    const double half_y = 0.5 * grid.spacing * (double)(grid.rows - 1);
    return terrain_grid(&grid, x - lanes_parameter(w->group, row) + half_x,
                        y - lanes_parameter(w->group, row + 1) + half_y);
}

// The same, times terrain_scale.
HD ArticulatedGround ground_of_heights(const ArticulatedLanes *w, real x, real y)
{
    const TerrainPatch patch = ground_patch(w, x, y);
    const real scale = lanes_parameter(w->group, w->c.terrain_row + 2);
    const real a = scale * patch.slope_x, b = scale * patch.slope_y;
    const real up = 1.0 / square_root(fused(a, a, fused(b, b, splat(1.0))));
    ArticulatedGround ground;
    ground.height = scale * patch.height;
    ground.normal = vector3(-(a * up), -(b * up), up);
    return ground;
}

// A height field of the robot's file at x, y. fields: heights of all.
HD ArticulatedGround ground_of_field(const double *fields, const ArticulatedSurface *surface, real x, real y,
                                     mask *inside)
{
    const double *a = surface->axes, *b = surface->axes + 3; // level
    const TerrainField field = {fields + surface->first, surface->rows, surface->columns, surface->size[0],
                                surface->size[1]};
    const real to_x = x - surface->p[0], to_y = y - surface->p[1];
    const TerrainFacet facet = terrain_facet(&field, to_x * a[0] + to_y * a[1], to_x * b[0] + to_y * b[1]);
    const real slope_x = facet.slope_x * a[0] + facet.slope_y * b[0];
    const real slope_y = facet.slope_x * a[1] + facet.slope_y * b[1];
    const real up = 1.0 / square_root(fused(slope_x, slope_x, fused(slope_y, slope_y, splat(1.0))));
    ArticulatedGround ground;
    ground.height = surface->p[2] + facet.height;
    ground.normal = vector3(-(slope_x * up), -(slope_y * up), up);
    *inside = facet.inside;
    return ground;
}

// A plane of the file at x, y.
HD ArticulatedGround ground_of_plane(const ArticulatedSurface *plane, real x, real y)
{
    const double *n = plane->axes + 6;
    ArticulatedGround ground;
    ground.height = plane->p[2] - ((x - plane->p[0]) * n[0] + (y - plane->p[1]) * n[1]) / n[2];
    ground.normal = vector3(splat(n[0]), splat(n[1]), splat(n[2]));
    return ground;
}

// The highest plane or height field of the robot's file at x, y. Without any: z = 0.
HD ArticulatedGround ground_of_file(const ArticulatedLanes *w, real x, real y)
{
    ArticulatedGround ground;
    ground.height = splat(0.0);
    ground.normal = vector3(splat(0.0), splat(0.0), splat(1.0));
    mask none = all_lanes();
    for (int k = 0; k < w->c.n_surfaces; k++) {
        const ArticulatedSurface *surface = &w->surfaces[k];
        const bool field = surface->kind == ARTICULATED_ON_HFIELD;
        if (!field && (surface->kind != ARTICULATED_ON_PLANE || surface->axes[8] <= 0.01)) continue;
        mask there = all_lanes();
        const ArticulatedGround other =
            field ? ground_of_field(w->assets + w->c.fields, surface, x, y, &there) : ground_of_plane(surface, x, y);
        const mask higher = there & (none | MASK(value_of(other.height) > value_of(ground.height)));
        ground.height = select_real(higher, other.height, ground.height);
        ground.normal = vector3(select_real(higher, other.normal.x, ground.normal.x),
                                select_real(higher, other.normal.y, ground.normal.y),
                                select_real(higher, other.normal.z, ground.normal.z));
        none = none & ~higher;
    }
    return ground;
}

// The plane that touches the ground below a point at x, y. A ball around that point meets this plane: right where its
// radius is small against the ground's radius of curvature.
HD ArticulatedGround ground_below(const ArticulatedLanes *w, real x, real y)
{
    ArticulatedGround ground;
    ground.height = splat(0.0);
    ground.normal = vector3(splat(0.0), splat(0.0), splat(1.0));
    if (w->c.terrain == TERRAIN_flat || w->c.terrain == TERRAIN_none) return ground;
    if (w->c.terrain == TERRAIN_file) return ground_of_file(w, x, y);
    if (w->c.terrain == TERRAIN_heights) return ground_of_heights(w, x, y);
    const Terrain terrain = ground_terrain(w, x);
    const real up = 1.0 / square_root(fused(terrain.slope, terrain.slope, splat(1.0)));
    ground.height = terrain.height;
    ground.normal = vector3(-(terrain.slope * up), splat(0.0), up);
    return ground;
}

#endif
