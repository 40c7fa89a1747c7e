// The plane below a point, in reverse: n = (-g, 0, 1)/sqrt(1 + g^2) with the slope g(x), and the height z(x). Profiles
// of the terrain are z = H phi(a/L), g = H/L phi'(a/L), with a = x - start.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_GROUND_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_GROUND_H

#include "../ground.h"
#include "memory.h"

// Bars of the parameters of a profile (terrains.h). Beyond its start only.
HD void pull_profile(const ArticulatedLanes *w, real x, real height_bar, real slope_bar, real bend, mask beyond)
{
    const int row = w->c.terrain_row;
    const TerrainNumbers of = ground_numbers(w);
    TerrainNumbers unit = of;
    unit.size = splat(1.0);
    const Terrain one = terrain_along((TerrainKind)w->c.terrain, &unit, x);
    const real zero = splat(0.0), a = x - of.start, H = of.size, L = of.length;
    const real start_bar = -fused(height_bar, H * one.slope, slope_bar * bend);
    parameter_bar(w, row, select_real(beyond, start_bar, zero));
    parameter_bar(w, row + 1, select_real(beyond, fused(height_bar, one.height, slope_bar * one.slope), zero));
    if (w->c.n_terrain < 3) return; // it has no length
    const real length_bar = fused(start_bar, a / L, -(slope_bar * (H * one.slope) / L));
    parameter_bar(w, row + 2, select_real(beyond, length_bar, zero));
}

// Of a terrain that depends on x alone: what the bars of height and slope add to that of x.
HD real pull_along(const ArticulatedLanes *w, const Terrain *terrain, real x, real height_bar, real slope_bar)
{
    const real g = terrain->slope;
    if (w->c.n_terrain == 0) return height_bar * g; // a table: dg/dx is 0 between points
    const mask beyond = MASK(x - lanes_parameter(w->group, w->c.terrain_row) > 0.0);
    pull_profile(w, x, height_bar, slope_bar, terrain->bend, beyond);
    return select_real(beyond, fused(height_bar, g, slope_bar * terrain->bend), splat(0.0));
}

// Of the heights of a file: z = s H(x, y), a = s dH/dx, b = s dH/dy, n = (-a, -b, 1)/sqrt(1 + a^2 + b^2).
HD void pull_heights(const ArticulatedLanes *w, real x, real y, real height_bar, Vector3 n_bar, Vector3 *x_bar)
{
    const int row = w->c.terrain_row;
    const TerrainPatch patch = ground_patch(w, x, y);
    const real scale = lanes_parameter(w->group, row + 2), a = scale * patch.slope_x, b = scale * patch.slope_y;
    const real up = 1.0 / square_root(fused(a, a, fused(b, b, splat(1.0))));
    const real up_bar = fused(-a, n_bar.x, fused(-b, n_bar.y, n_bar.z)), up3_bar = up * up * up * up_bar;
    const real a_bar = -fused(up, n_bar.x, a * up3_bar), b_bar = -fused(up, n_bar.y, b * up3_bar);
    const real by_x = scale * fused(height_bar, patch.slope_x, b_bar * patch.twist);
    const real by_y = scale * fused(height_bar, patch.slope_y, a_bar * patch.twist);
    parameter_bar(w, row, -by_x);
    parameter_bar(w, row + 1, -by_y);
    parameter_bar(w, row + 2, fused(height_bar, patch.height, fused(a_bar, patch.slope_x, b_bar * patch.slope_y)));
    x_bar->x = by_x;
    x_bar->y = by_y;
}

// What the bars of the height and of the normal below the point at x, y give its own.
HD void pull_ground(const ArticulatedLanes *w, real x, real y, real height_bar, Vector3 n_bar, Vector3 *x_bar)
{
    if (w->c.terrain == TERRAIN_flat) return;
    if (w->c.terrain == TERRAIN_heights) {
        pull_heights(w, x, y, height_bar, n_bar, x_bar);
        return;
    }
    const Terrain terrain = ground_terrain(w, x);
    const real g = terrain.slope, up = 1.0 / square_root(fused(g, g, splat(1.0)));
    const real slope_bar = -(up * up * up) * fused(g, n_bar.z, n_bar.x);
    x_bar->x = pull_along(w, &terrain, x, height_bar, slope_bar);
}

#endif
