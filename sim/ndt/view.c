// Displays an alignment: curves computed from the debug rows of its iterations, and the clouds seen from above.
#ifndef HOPSCOTCH_SCALAR
#define HOPSCOTCH_SCALAR
#endif
#include "frame.h"

#include <math.h>
#include <string.h>

enum { NDT_SHOWN_POINTS = 1500 }; // most points per cloud

// Indices in a debug row, after its time.
enum {
    NDT_ROW_SCORE = 2,
    NDT_ROW_BEFORE,
    NDT_ROW_HESSIAN = 15,
    NDT_ROW_DELTA = 36,
    NDT_ROW_ALPHA = 42,
    NDT_ROW_PAIRS,
    NDT_ROW_AFTER = 45
};

// ---- curves ---------------------------------------------------------------------------------------------------------

static void ndt_curve_score(const double *row, double *value) { value[0] = row[NDT_ROW_SCORE]; }
static void ndt_curve_pairs(const double *row, double *value) { value[0] = row[NDT_ROW_PAIRS]; }

static void ndt_curve_step(const double *row, double *value)
{
    double sum = 0.0;
    for (int i = 0; i < NDT_POSE; i++) sum += row[NDT_ROW_DELTA + i] * row[NDT_ROW_DELTA + i];
    value[0] = row[NDT_ROW_ALPHA] * sqrt(sum);
}

static void ndt_curve_translation(const double *row, double *value)
{
    memcpy(value, row + NDT_ROW_BEFORE, 3 * sizeof *value);
}

static void ndt_curve_rotation(const double *row, double *value)
{
    memcpy(value, row + NDT_ROW_BEFORE + 3, 3 * sizeof *value);
}

// Ascending. If all are negative the score is concave, and Newton's step leads up.
static void ndt_curve_eigenvalues(const double *row, double *value)
{
    double full[NDT_POSE * NDT_POSE], vectors[NDT_POSE * NDT_POSE], work[NDT_POSE * NDT_POSE + 3 * NDT_POSE];
    for (int i = 0, k = 0; i < NDT_POSE; i++) {
        for (int j = i; j < NDT_POSE; j++, k++)
            full[NDT_POSE * i + j] = full[NDT_POSE * j + i] = row[NDT_ROW_HESSIAN + k];
    }
    if (symmetric_eigen(NDT_POSE, full, value, vectors, work)) return;
    for (int i = 0; i < NDT_POSE; i++) value[i] = (double)NAN;
}

static const char *const ndt_axis_names[] = {"x", "y", "z"};
static const char *const ndt_angle_names[] = {"roll", "pitch", "yaw"};

static const Curve ndt_curves[] = {
    {"score", "1", 1, NULL, ndt_curve_score},
    {"correspondences", "1", 1, NULL, ndt_curve_pairs},
    {"length of the step", "m, rad", 1, NULL, ndt_curve_step},
    {"translation", "m", 3, ndt_axis_names, ndt_curve_translation},
    {"rotation", "rad", 3, ndt_angle_names, ndt_curve_rotation},
    {"eigenvalues of the Hessian", "1", NDT_POSE, NULL, ndt_curve_eigenvalues},
};

// ---- clouds from above ----------------------------------------------------------------------------------------------

// The means of the map's cells, each from its own voxel, where it is a candidate.
static int64_t ndt_above_map(const NdtConstants *c, const double *assets, Arena *arena, const double **xy)
{
    const int32_t own = 1 << 4 | 1 << 2 | 1;
    const int64_t low = 2 * (int64_t)NDT_CELL_MAX - 1;
    NdtMapAt at;
    int64_t count = 0;
    memcpy(&at, assets, sizeof at);
    const bool single = c->precision == NDT_SINGLE;
    const NdtNumbers candidates = {.single = single ? (const float *)(assets + at.candidates) : NULL,
                                   .whole = single ? NULL : assets + at.candidates};
    double *points = ARENA_NEW(arena, double, 2 * at.n_cells);
    for (int64_t t = 0; t < at.table_size; t++) {
        int64_t entry[NDT_TABLE_NUMBERS];
        memcpy(entry, assets + at.table + t * NDT_TABLE_NUMBERS, sizeof entry);
        for (int64_t k = entry[1] >> 5; entry[0] >= 0 && k < (entry[1] >> 5) + (entry[1] & 31); k++) {
            if ((ndt_code(&candidates, k) & ((1 << NDT_OFFSET_BITS) - 1)) != own) continue;
            for (int a = 0; a < 2; a++) {
                const int64_t number = k * NDT_CANDIDATE + a;
                const double mean = single ? (double)candidates.single[number] : candidates.whole[number];
                const double corner = at.resolution * (double)((entry[0] >> 21 * a & low) - NDT_CELL_MAX);
                points[2 * count + a] = at.origin[a] + corner + mean;
            }
            count++;
        }
    }
    *xy = points;
    return count;
}

// The source transformed by a pose, thinned.
static int64_t ndt_above_source(const NdtConstants *c, const double *assets, const double *pose, Arena *arena,
                                const double **xy)
{
    const bool single = c->precision == NDT_SINGLE;
    const int64_t each = 1 + c->n_source / NDT_SHOWN_POINTS, numbers = single ? (c->n_source + 1) / 2 : c->n_source;
    const double *source = assets + c->n_maps * NDT_MAP_AT;
    const NdtMatrix rotation = ndt_rotation(pose);
    double *points = ARENA_NEW(arena, double, 2 * (c->n_source / each + 1));
    int64_t count = 0;
    for (int64_t i = 0; i < c->n_source; i += each, count++) {
        double x[3];
        for (int a = 0; a < 3; a++) {
            const double *of_axis = source + a * numbers;
            x[a] = single ? (double)((const float *)of_axis)[i] : of_axis[i];
        }
        for (int a = 0; a < 2; a++)
            points[2 * count + a] =
                pose[a] + rotation.at[a][0] * x[0] + rotation.at[a][1] * x[1] + rotation.at[a][2] * x[2];
    }
    *xy = points;
    return count;
}

static int64_t ndt_above(const Configured *configured, const double *row, bool after, Arena *arena, const double **xy)
{
    NdtConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    if (row == NULL) return ndt_above_map(&c, configured->assets, arena, xy);
    return ndt_above_source(&c, configured->assets, row + (after ? NDT_ROW_AFTER : NDT_ROW_BEFORE), arena, xy);
}

const Iterations ndt_iterations = {
    .curves = ndt_curves,
    .n_curves = sizeof ndt_curves / sizeof ndt_curves[0],
    .above = ndt_above,
    .fixed = "means of the map's cells",
    .moving = "points of the source",
};
