// The plane below a point, in reverse: n = (-g, 0, 1)/sqrt(1 + g^2) with the slope g(x), and the height z(x). Slopes
// and waves of the terrain are z = H phi(a/L), g = H/L phi'(a/L), with a = x - start.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_GROUND_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_GROUND_H

#include "../ground.h"
#include "memory.h"

// phi'' of steps and of the sine, at a/L treads or waves.
HD real ground_bend(const ArticulatedLanes *w, real treads)
{
    const real zero = splat(0.0);
    if (w->c.terrain == ARTICULATED_STEPS) {
        const real u = fused(treads - terrain_floor(treads), splat(10.0), splat(-9.0));
        return select_real(MASK(u > 0.0) & MASK(u < 1.0), 600.0 * (1.0 - 2.0 * u), zero);
    }
    if (w->c.terrain == ARTICULATED_SINE) {
        real wave, rate;
        terrain_wave(treads, &wave, &rate);
        return -(39.47841760435743 * wave); // (2 pi)^2
    }
    return zero;
}

// Bars of the terrain's own parameters. Beyond its start only.
HD void pull_terrain(const ArticulatedLanes *w, real x, real height_bar, real slope_bar, real bend, mask beyond)
{
    const int row = w->c.terrain_row;
    const bool sloped = w->c.terrain == ARTICULATED_SLOPE;
    const real zero = splat(0.0), a = x - lanes_parameter(w->group, row), H = lanes_parameter(w->group, row + 1);
    const real L = sloped ? splat(1.0) : lanes_parameter(w->group, row + 2);
    const Terrain one = sloped                              ? terrain_slope(splat(1.0), a)
                        : w->c.terrain == ARTICULATED_STEPS ? terrain_steps(L, splat(1.0), a)
                                                            : terrain_sine(L, splat(1.0), a);
    const real start_bar = -fused(height_bar, H * one.slope, slope_bar * bend);
    parameter_bar(w, row, select_real(beyond, start_bar, zero));
    parameter_bar(w, row + 1, select_real(beyond, fused(height_bar, one.height, slope_bar * one.slope), zero));
    if (sloped) return;
    const real length_bar = fused(start_bar, a / L, -(slope_bar * (H * one.slope) / L));
    parameter_bar(w, row + 2, select_real(beyond, length_bar, zero));
}

// Of a terrain that rises along x: what the bars of height and slope add to that of x.
HD real pull_rise(const ArticulatedLanes *w, const Terrain *terrain, real x, real height_bar, real slope_bar)
{
    const real g = terrain->slope;
    if (w->c.terrain == ARTICULATED_TABLE) return height_bar * g;
    const int row = w->c.terrain_row;
    const real a = x - lanes_parameter(w->group, row);
    const mask beyond = MASK(a > 0.0);
    real bend = splat(0.0); // dg/dx
    if (w->c.terrain != ARTICULATED_SLOPE) {
        const real L = lanes_parameter(w->group, row + 2);
        bend = lanes_parameter(w->group, row + 1) / (L * L) * ground_bend(w, a / L);
    }
    pull_terrain(w, x, height_bar, slope_bar, bend, beyond);
    return select_real(beyond, fused(height_bar, g, slope_bar * bend), splat(0.0));
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
    if (w->c.terrain == ARTICULATED_FLAT) return;
    if (w->c.terrain == ARTICULATED_HEIGHTS) {
        pull_heights(w, x, y, height_bar, n_bar, x_bar);
        return;
    }
    const Terrain terrain = ground_terrain(w, x);
    const real g = terrain.slope, up = 1.0 / square_root(fused(g, g, splat(1.0)));
    const real slope_bar = -(up * up * up) * fused(g, n_bar.z, n_bar.x);
    x_bar->x = pull_rise(w, &terrain, x, height_bar, slope_bar);
}

#endif
