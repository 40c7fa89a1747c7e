// The height of the ground and its slope along x, shared by models: flat before `along` = 0, then a slope, steps or a
// sine; or a table of points; or a grid of heights over x and y.
//
// Every map is continuous: at a jump of the height the energy of a ground spring would jump, and the rate of a foot's
// height would be undefined. So the riser of a step is a smooth ramp over the last tenth of each tread.
#ifndef HOPSCOTCH_SPATIAL_TERRAIN_H
#define HOPSCOTCH_SPATIAL_TERRAIN_H

#include "../portable_math.h"
#include "terrains.h"

typedef struct Terrain {
    real height, slope, bend; // z (m), dz/dx, d2z/dx2 (1/m), which adjoints use
} Terrain;

// greatest integer <= x, |x| < 2^51
HD real terrain_floor(real x)
{
    const real nearest = math_nearest(x);
    return nearest - select_real(MASK(value_of(nearest) > value_of(x)), splat(1.0), splat(0.0));
}

// sin(2 pi turns) and 2 pi cos(2 pi turns), |turns| < 2^51
HD void terrain_wave(real turns, real *wave, real *rate)
{
    real cosine_of;
    sine_cosine(6.283185307179586 * (turns - math_nearest(turns)), wave, &cosine_of);
    *rate = 6.283185307179586 * cosine_of;
}

HD Terrain terrain_flat(void)
{
    const Terrain ground = {splat(0.0), splat(0.0), splat(0.0)};
    return ground;
}

HD Terrain terrain_slope(real length, real slope, real along)
{
    const Terrain ground = {slope * along, slope, splat(0.0)};
    (void)length;
    return ground;
}

// Treads of `length` with rise `height` (m). The riser 3 u^2 - 2 u^3 is at the end of a tread.
HD Terrain terrain_steps(real length, real height, real along)
{
    const real treads = along / length, level = terrain_floor(treads);
    const real u = clamped(fused(treads - level, splat(10.0), splat(-9.0)), splat(0.0), splat(1.0));
    Terrain ground;
    ground.height = height * fused(u * u, 3.0 - 2.0 * u, level);
    ground.slope = 60.0 * (height / length) * (u * (1.0 - u));
    const mask rises = MASK(value_of(u) > 0.0) & MASK(value_of(u) < 1.0);
    ground.bend = height / (length * length) * select_real(rises, 600.0 * (1.0 - 2.0 * u), splat(0.0));
    return ground;
}

// Waves of `length` and amplitude `height` (m).
HD Terrain terrain_sine(real length, real height, real along)
{
    real wave, rate;
    terrain_wave(along / length, &wave, &rate);
    Terrain ground;
    ground.height = height * wave;
    ground.slope = height / length * rate;
    ground.bend = height / (length * length) * -(39.47841760435743 * wave); // (2 pi)^2
    return ground;
}

// `ground` where along > 0, flat before.
HD Terrain terrain_beyond(Terrain ground, real along)
{
    const mask beyond = MASK(value_of(along) > 0.0);
    ground.height = select_real(beyond, ground.height, splat(0.0));
    ground.slope = select_real(beyond, ground.slope, splat(0.0));
    ground.bend = select_real(beyond, ground.bend, splat(0.0));
    return ground;
}

// Index of the last point [x, z] that is not right of x. 0 if all are right of it, or x is NaN.
HD int32_t terrain_find(const double *points, int32_t count, double x)
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

// Linear between points[count][x, z], x increasing; level before the first and after the last.
HD Terrain terrain_table(const double *points, int32_t count, real x)
{
    Terrain ground = terrain_flat();
    real from = x, level = x, between = x;
    for (int i = 0; i < LANES; i++) {
        const double at = lane_of(x, i);
        const int32_t k = terrain_find(points, count, at);
        const double *point = points + 2 * k;
        const bool inside = k + 1 < count && at >= point[0];
        set_lane(&from, i, point[0]);
        set_lane(&level, i, point[1]);
        set_lane(&between, i, inside);
        set_lane(&ground.slope, i, inside ? (point[3] - point[1]) / (point[2] - point[0]) : 0.0);
    }
    ground.height = select_real(MASK(value_of(between) > 0.0), level + ground.slope * (x - from), level);
    return ground;
}

// The numbers of a terrain that depends on x alone.
typedef struct TerrainNumbers {
    real start, size, length; // m, 1 or m, m
    const double *points;     // [n_points][x, z]
    int32_t n_points;
} TerrainNumbers;

// Height, slope and bend at x; of a terrain that also depends on y: flat.
HD Terrain terrain_along(TerrainKind kind, const TerrainNumbers *of, real x)
{
    const real along = x - of->start;
    switch (kind) {
#define TERRAIN_PROFILE(name, ...)                                                                                     \
    case TERRAIN_##name: return terrain_beyond(terrain_##name(of->length, of->size, along), along);
        TERRAIN_PROFILES(TERRAIN_PROFILE)
#undef TERRAIN_PROFILE
    case TERRAIN_table: return terrain_table(of->points, of->n_points, x);
    case TERRAIN_flat:
    case TERRAIN_heights:
    case TERRAIN_file:
    case TERRAIN_none: break;
    }
    return terrain_flat();
}

// ---- a grid of heights ----------------------------------------------------------------------------------------------

typedef struct TerrainGrid {
    const double *heights; // [rows][columns] z (m); rows along y, columns along x
    int32_t rows, columns; // at least 2
    double spacing;        // m between neighbours
} TerrainGrid;

typedef struct TerrainPatch {
    real height, slope_x, slope_y; // z (m), dz/dx, dz/dy
    real twist;                    // d2z/dx dy
} TerrainPatch;

// Where a coordinate lies on an axis of the grid: the cell, the coordinate u in it from 0 to 1, and whether it is
// inside. Outside the position is that of the nearest edge.
typedef struct TerrainPosition {
    real cell, u;
    mask inside;
} TerrainPosition;

HD int32_t terrain_cell(double at, int32_t count)
{
    return at > 0.0 ? at < (double)(count - 1) ? (int32_t)at : count - 2 : 0;
}

HD TerrainPosition terrain_position(real x, double spacing, int32_t count)
{
    TerrainPosition position;
    const real at = x / spacing;
    real cell = at;
    for (int i = 0; i < LANES; i++) set_lane(&cell, i, (double)terrain_cell(lane_of(at, i), count));
    const real u = at - cell, zero = splat(0.0), one = splat(1.0);
    position.u = select_real(MASK(value_of(u) < 0.0), zero, select_real(MASK(value_of(u) > 1.0), one, u));
    position.cell = cell;
    position.inside = MASK(value_of(at) >= 0.0) & MASK(value_of(at) <= (double)(count - 1));
    return position;
}

// Bilinear in each cell; x and y are from the first height. Beyond an edge the ground keeps the edge's height.
HD TerrainPatch terrain_grid(const TerrainGrid *grid, real x, real y)
{
    TerrainPatch ground;
    const TerrainPosition column = terrain_position(x, grid->spacing, grid->columns);
    const TerrainPosition row = terrain_position(y, grid->spacing, grid->rows);
    real corner = x, along_x = x, along_y = x, twist = x;
    for (int i = 0; i < LANES; i++) {
        const int64_t cell = (int64_t)lane_of(row.cell, i) * grid->columns + (int64_t)lane_of(column.cell, i);
        const double *z = grid->heights + cell, first = z[1] - z[0];
        set_lane(&corner, i, z[0]);
        set_lane(&along_x, i, first);
        set_lane(&along_y, i, z[grid->columns] - z[0]);
        set_lane(&twist, i, z[grid->columns + 1] - z[grid->columns] - first);
    }
    const real rise_x = along_x + twist * row.u, rise_y = along_y + twist * column.u, zero = splat(0.0);
    ground.height = corner + along_y * row.u + rise_x * column.u;
    ground.slope_x = select_real(column.inside, rise_x / grid->spacing, zero);
    ground.slope_y = select_real(row.inside, rise_y / grid->spacing, zero);
    ground.twist = select_real(column.inside & row.inside, twist / (grid->spacing * grid->spacing), zero);
    return ground;
}

// ---- a height field -------------------------------------------------------------------------------------------------
// Two triangles in each cell, as in MuJoCo: the diagonal is from the cell's first corner (least x, least y) to the one
// across it.

typedef struct TerrainField {
    const double *heights;   // [rows][columns] z (m); rows along y, columns along x
    int32_t rows, columns;   // at least 2
    double along_x, along_y; // m between columns, and between rows
} TerrainField;

typedef struct TerrainFacet {
    real height, slope_x, slope_y; // z (m), dz/dx, dz/dy
    mask inside;                   // beyond the edges there is no ground
} TerrainFacet;

// The triangle at x, y, from the middle of the grid; beyond an edge that at the edge.
HD TerrainFacet terrain_facet(const TerrainField *field, real x, real y)
{
    TerrainFacet facet;
    const TerrainPosition column =
        terrain_position(x + 0.5 * field->along_x * (double)(field->columns - 1), field->along_x, field->columns);
    const TerrainPosition row =
        terrain_position(y + 0.5 * field->along_y * (double)(field->rows - 1), field->along_y, field->rows);
    real corner = x, rise_x = x, rise_y = x;
    for (int i = 0; i < LANES; i++) {
        const int64_t cell = (int64_t)lane_of(row.cell, i) * field->columns + (int64_t)lane_of(column.cell, i);
        const double *z = field->heights + cell, across = z[field->columns + 1];
        const bool far = lane_of(row.u, i) > lane_of(column.u, i); // the triangle at greater y
        const double third = far ? z[field->columns] : z[1];
        set_lane(&corner, i, z[0]);
        set_lane(&rise_x, i, far ? across - third : third - z[0]);
        set_lane(&rise_y, i, far ? third - z[0] : across - third);
    }
    facet.height = corner + rise_x * column.u + rise_y * row.u;
    facet.slope_x = rise_x / field->along_x;
    facet.slope_y = rise_y / field->along_y;
    facet.inside = column.inside & row.inside;
    return facet;
}

#endif
