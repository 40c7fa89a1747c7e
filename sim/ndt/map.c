// The map of a target cloud: cells with their means and inverse covariances, and for every voxel the list of such cells
// near it. Magnusson 2009, equations 6.2 and 6.3, and section 6.2 for flat cells.
#include "ndt.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Eigenvalues of a covariance below this fraction of the greatest are raised to it (Magnusson, section 6.2.2).
#define NDT_FLATNESS 0.01

// A cell as a candidate of a voxel; `offset`: relative position (NDT_OFFSET_BITS).
typedef struct NdtCandidate {
    int64_t key;
    int32_t offset, cell;
} NdtCandidate;

// Working memory while a map is built.
typedef struct NdtBuild {
    const Cloud *target;
    const NdtMapOptions *options;
    NdtMap *map;
    NdtMapCounts *counts;
    NdtKeyedPoint *keyed;    // [points]
    int64_t *cell_key;       // [cells]
    double *means;           // [cells][3] from the cell's corner (m)
    double *cells;           // [cells][NDT_CELL_STRIDE]
    NdtCandidate *candidate; // [cells * NDT_MATCHES_MAX]
    int64_t n_candidates;
} NdtBuild;

NdtNumbers ndt_numbers(const double *values, int64_t count, NdtPrecision precision, Arena *arena)
{
    if (precision == NDT_DOUBLE) {
        double *whole = ARENA_NEW(arena, double, count);
        memcpy(whole, values, (size_t)count * sizeof *whole);
        return (NdtNumbers){.whole = whole};
    }
    float *single = ARENA_NEW(arena, float, count);
    for (int64_t i = 0; i < count; i++) single[i] = (float)values[i];
    return (NdtNumbers){.single = single};
}

// ---- cells ----------------------------------------------------------------------------------------------------------

// Mean, relative to the origin, and sum of squares about it, in two passes. scatter: xx xy xz yy yz zz.
static void ndt_moments(const NdtBuild *build, int64_t first, int64_t end, double *mean, double *scatter)
{
    const Cloud *cloud = build->target;
    for (int a = 0; a < 3; a++) {
        double sum = 0.0;
        for (int64_t i = first; i < end; i++) sum += cloud->at[a][build->keyed[i].point] - build->map->origin[a];
        mean[a] = sum / (double)(end - first);
    }
    memset(scatter, 0, 6 * sizeof *scatter);
    for (int64_t i = first; i < end; i++) {
        double d[3];
        for (int a = 0; a < 3; a++) d[a] = cloud->at[a][build->keyed[i].point] - build->map->origin[a] - mean[a];
        for (int a = 0, k = 0; a < 3; a++) {
            for (int b = a; b < 3; b++) scatter[k++] += d[a] * d[b];
        }
    }
}

// inverse[6] of V' diag(values) V, row k of V being vector k
static void ndt_inverse(const double *values, const double *vectors, double *inverse)
{
    for (int a = 0, k = 0; a < 3; a++) {
        for (int b = a; b < 3; b++, k++) {
            inverse[k] = 0.0;
            for (int j = 0; j < 3; j++) inverse[k] += vectors[3 * j + a] * vectors[3 * j + b] / values[j];
        }
    }
}

// The inverse of the covariance, after small eigenvalues are raised (NDT_FLATNESS). False: none exists.
static bool ndt_invert(const double *covariance, double *inverse, bool *inflated)
{
    const double *c = covariance, full[9] = {c[0], c[1], c[2], c[1], c[3], c[4], c[2], c[4], c[5]};
    double values[3], vectors[9], work[18];
    *inflated = false;
    if (!symmetric_eigen(3, full, values, vectors, work)) return false;
    if (!(values[2] > 0.0) || values[0] < -1e-9 * values[2]) return false; // negative only by rounding
    for (int j = 0; j < 2; j++) {
        if (values[j] >= NDT_FLATNESS * values[2]) continue;
        values[j] = NDT_FLATNESS * values[2];
        *inflated = true;
    }
    ndt_inverse(values, vectors, inverse);
    bool storable = true; // as a float, for either precision; it fails if points nearly coincide
    for (int k = 0; k < 6; k++) storable = storable && fabs(inverse[k]) <= (double)FLT_MAX;
    return storable;
}

// Builds one cell from the points [first, end) of the sorted cloud.
static void ndt_take_cell(NdtBuild *build, int64_t first, int64_t end)
{
    const NdtMapOptions *options = build->options;
    const double n = (double)(end - first);
    double mean[3], covariance[6], inverse[6];
    bool inflated;
    build->counts->occupied++;
    if (end - first < NDT_CELL_POINTS) return;
    ndt_moments(build, first, end, mean, covariance);
    for (int k = 0; k < 6; k++) {
        const bool diagonal = k == 0 || k == 3 || k == 5;
        if (diagonal && options->covariance == NDT_COVARIANCE_IDENTITY) covariance[k] += 1.0;
        covariance[k] /= n - 1.0;
    }
    if (!ndt_invert(covariance, inverse, &inflated)) {
        build->counts->dropped++;
        return;
    }
    double *cell = build->cells + build->counts->valid * NDT_CELL_STRIDE, *at = build->means + build->counts->valid * 3;
    const int64_t key = build->keyed[first].key, low = 2 * (int64_t)NDT_CELL_MAX - 1; // 21 bits
    for (int a = 0; a < 3; a++) // from the corner, so that far cells are as exact as near ones
        at[a] = mean[a] - options->resolution * (double)((key >> 21 * a & low) - NDT_CELL_MAX);
    for (int k = 0; k < NDT_CELL_NUMBERS; k++) cell[k] = inverse[k];
    build->cell_key[build->counts->valid++] = key;
    build->counts->inflated += inflated;
}

static void ndt_take_cells(NdtBuild *build)
{
    const int64_t n = build->target->count;
    for (int64_t first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && build->keyed[end].key == build->keyed[first].key) end++;
        ndt_take_cell(build, first, end);
    }
}

// ---- candidates of a voxel ------------------------------------------------------------------------------------------

// True if points of the voxel must be compared with the cell, offset[3] voxels away. By radius, the mean must be within
// reach of the voxel, with a margin for rounding: a third of the neighbours at an edge or a corner is not.
static bool ndt_is_neighbour(const NdtBuild *build, int64_t cell, const int *offset)
{
    const double R = build->options->resolution, *mean = build->means + 3 * cell;
    double distance2 = 0.0;
    int apart = 0;
    for (int a = 0; a < 3; a++) {
        const double at = mean[a] + R * (double)offset[a], beyond = at < 0.0 ? -at : at > R ? at - R : 0.0;
        distance2 += beyond * beyond;
        apart += offset[a] * offset[a];
    }
    if (build->options->neighbours == NDT_RADIUS) return distance2 <= (1.0 + 1e-4) * R * R;
    return apart == 0 || (build->options->neighbours == NDT_DIRECT7 && apart == 1);
}

// Adds the cell as a candidate to the voxels around it.
static void ndt_offer(NdtBuild *build, int64_t cell)
{
    for (int k = 0; k < NDT_MATCHES_MAX; k++) {
        const int offset[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        if (!ndt_is_neighbour(build, cell, offset)) continue;
        const int64_t away = ((int64_t)offset[2] * (1 << 21) + offset[1]) * (1 << 21) + offset[0]; // as keys are built
        build->candidate[build->n_candidates++] = (NdtCandidate){
            build->cell_key[cell] - away, (1 + offset[2]) << 4 | (1 + offset[1]) << 2 | (1 + offset[0]), (int32_t)cell};
    }
}

static int ndt_compare_candidates(const void *a, const void *b)
{
    const NdtCandidate *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->offset - q->offset;
}

// The numbers of a candidate, in either precision.
static void ndt_put_candidate(const NdtBuild *build, const NdtCandidate *candidate, int64_t k, float *single,
                              double *whole)
{
    const double *mean = build->means + 3 * (int64_t)candidate->cell;
    const int32_t code = candidate->cell << NDT_OFFSET_BITS | candidate->offset;
    if (single != NULL) {
        const int32_t bits = 1 << NDT_CODE_BITS | code;
        for (int a = 0; a < 3; a++) single[NDT_CANDIDATE * k + a] = (float)mean[a];
        memcpy(single + NDT_CANDIDATE * k + 3, &bits, sizeof bits);
    } else {
        const int64_t bits = INT64_C(1) << 62 | code;
        memcpy(whole + NDT_CANDIDATE * k, mean, 3 * sizeof *mean);
        memcpy(whole + NDT_CANDIDATE * k + 3, &bits, sizeof bits);
    }
}

static void ndt_insert(int64_t *table, int64_t size, int64_t key, int64_t list)
{
    uint64_t at = ndt_hash(key) & (uint64_t)(size - 1);
    while (table[NDT_TABLE_NUMBERS * at] >= 0) at = (at + 1) & (uint64_t)(size - 1);
    table[NDT_TABLE_NUMBERS * at] = key;
    table[NDT_TABLE_NUMBERS * at + 1] = list;
}

static void ndt_take_candidates(NdtBuild *build, Arena *arena)
{
    NdtMap *map = build->map;
    const NdtCandidate *candidate = build->candidate;
    for (int64_t i = 0; i < map->n_cells; i++) ndt_offer(build, i);
    qsort(build->candidate, (size_t)build->n_candidates, sizeof *candidate, ndt_compare_candidates);
    int64_t voxels = 0;
    for (int64_t i = 0; i < build->n_candidates; i++) voxels += i == 0 || candidate[i].key != candidate[i - 1].key;
    map->table_size = 2;
    while (map->table_size < 2 * voxels) map->table_size *= 2;
    map->n_candidates = build->n_candidates;
    int64_t *table = ARENA_NEW(arena, int64_t, NDT_TABLE_NUMBERS * map->table_size);
    const bool halves = build->options->precision == NDT_SINGLE;
    float *single = halves ? ARENA_NEW(arena, float, NDT_CANDIDATE * map->n_candidates) : NULL;
    double *whole = halves ? NULL : ARENA_NEW(arena, double, NDT_CANDIDATE * map->n_candidates);
    for (int64_t i = 0; i < map->table_size; i++) table[NDT_TABLE_NUMBERS * i] = -1;
    for (int64_t first = 0, end; first < map->n_candidates; first = end) {
        for (end = first; end < map->n_candidates && candidate[end].key == candidate[first].key; end++)
            ndt_put_candidate(build, &candidate[end], end, single, whole);
        ndt_insert(table, map->table_size, candidate[first].key, first << 5 | (end - first));
    }
    map->table = table;
    map->candidates = (NdtNumbers){.single = single, .whole = whole};
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// Most cells that this many points can fill.
static int64_t ndt_cells_most(int64_t points) { return points / NDT_CELL_POINTS + 1; }

size_t ndt_map_bytes(int64_t points)
{
    const size_t cells = (size_t)ndt_cells_most(points), candidates = cells * NDT_MATCHES_MAX;
    return cells * NDT_CELL_STRIDE * 8 + candidates * (8 * NDT_CANDIDATE + 4 * NDT_TABLE_NUMBERS * 8) + 4096;
}

static Error ndt_build(NdtBuild *build, Arena *scratch, Arena *arena)
{
    const int64_t points = build->target->count, cells = ndt_cells_most(points);
    build->keyed = ARENA_NEW(scratch, NdtKeyedPoint, points);
    build->cell_key = ARENA_NEW(scratch, int64_t, cells);
    build->candidate = ARENA_NEW(scratch, NdtCandidate, cells * NDT_MATCHES_MAX);
    build->means = ARENA_NEW(scratch, double, 3 * cells);
    build->cells = ARENA_NEW(scratch, double, cells *NDT_CELL_STRIDE);
    TRY(ndt_grid(build->target, build->options->resolution, build->map->origin, build->keyed));
    ndt_take_cells(build);
    build->map->n_cells = build->counts->valid;
    if (build->map->n_cells == 0)
        return error_make(
            ERROR_USER,
            "no cell of the map has %d points or more (%lld cells of %g m, %lld points of the target); take "
            "larger cells",
            NDT_CELL_POINTS, (long long)build->counts->occupied, build->options->resolution, (long long)points);
    build->map->cells =
        ndt_numbers(build->cells, build->map->n_cells * NDT_CELL_STRIDE, build->options->precision, arena);
    ndt_take_candidates(build, arena);
    return error_none();
}

Error ndt_map_build(const Cloud *target, const NdtMapOptions *options, Arena *arena, NdtMap *map, NdtMapCounts *counts)
{
    NdtBuild build = {.target = target, .options = options, .map = map, .counts = counts};
    const double R = options->resolution;
    *counts = (NdtMapCounts){0};
    *map = (NdtMap){.resolution = R, .reach2 = options->neighbours == NDT_RADIUS ? R * R : INFINITY};
    if (target->count < 1) return error_make(ERROR_USER, "the target cloud has no points");
    ndt_choose_origin(target, R, map->origin);
    const size_t cells = (size_t)ndt_cells_most(target->count);
    const size_t bytes = (size_t)target->count * sizeof(NdtKeyedPoint) +
                         cells * (8 + NDT_MATCHES_MAX * sizeof(NdtCandidate) + 8 * NDT_CELL_STRIDE + 24) + 4096;
    Arena scratch;
    TRY(arena_create(&scratch, bytes, "the map of a cloud"));
    const Error error = ndt_build(&build, &scratch, arena);
    arena_destroy(&scratch);
    return error;
}
