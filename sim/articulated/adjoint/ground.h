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

// What the bars of the height and of the normal below the point at x add to that of x.
HD real pull_ground(const ArticulatedLanes *w, real x, real height_bar, Vector3 n_bar)
{
    if (w->c.terrain == ARTICULATED_FLAT) return splat(0.0);
    const Terrain terrain = ground_terrain(w, x);
    const real g = terrain.slope, up = 1.0 / square_root(fused(g, g, splat(1.0)));
    const real slope_bar = -(up * up * up) * fused(g, n_bar.z, n_bar.x);
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

#endif
