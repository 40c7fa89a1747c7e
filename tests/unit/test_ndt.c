// Scan matching: the score and its derivatives, the golden traces of a lidar pair, and the invariants of every debug
// row of every alignment.
#define HOPSCOTCH_SCALAR
#include "ndt_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// number of random alignments for the invariants; NDT_THOROUGH=1: all
enum { NDT_TEST_QUICK = 200, NDT_TEST_USUAL = 1500, NDT_TEST_ALIGNMENTS = 10000 };

// A scene or a pair of clouds, ready to be aligned.
typedef struct NdtCase {
    Arena arena;
    NdtMap map;
    NdtMapCounts counts;
    NdtTask task;
} NdtCase;

static void ndt_case_of(const Cloud *target, const Cloud *source, const NdtMapOptions *options, NdtCase *c)
{
    CHECK_OK(ndt_map_build(target, options, &c->arena, &c->map, &c->counts));
    c->task = (NdtTask){.map = &c->map, .n_source = source->count, .mixture = ndt_mixture(0.55, options->resolution)};
    for (int a = 0; a < 3; a++)
        c->task.source[a] = ndt_numbers(source->at[a], source->count, options->precision, &c->arena);
}

static const NdtMapOptions ndt_two_metres = {2.0, NDT_RADIUS, NDT_COVARIANCE_ZERO, NDT_DOUBLE};

static void ndt_scene_case_of(NdtScene scene, double source_spacing, double resolution, NdtNeighbours neighbours,
                              NdtCase *c)
{
    const NdtSceneOptions options = {.scene = scene,
                                     .seed = 3,
                                     .spacing = 0.2,
                                     .source_spacing = source_spacing,
                                     .range = 25.0,
                                     .noise = 0.02,
                                     .truth = {0.4, -0.3, 0.1, 0.02, -0.01, 0.05}};
    NdtMapOptions map = ndt_two_metres;
    Cloud target, source;
    map.resolution = resolution;
    map.neighbours = neighbours;
    CHECK_OK(arena_create(&c->arena, (size_t)1 << 28, "a scene"));
    CHECK_OK(ndt_scene(&options, &c->arena, &target, &source));
    ndt_case_of(&target, &source, &map, c);
}

static void ndt_scene_case(NdtScene scene, double source_spacing, double resolution, NdtCase *c)
{
    ndt_scene_case_of(scene, source_spacing, resolution, NDT_RADIUS, c);
}

// ---- the score and its derivatives ----------------------------------------------------------------------------------

TEST(ndt_mixture_of_outliers)
{
    const NdtMixture one = ndt_mixture(0.55, 1.0), two = ndt_mixture(0.55, 2.0);
    CHECK_NEAR(-2.2172252440428886, one.d1, 1e-14);
    CHECK_NEAR(0.43312300470355436, one.d2, 1e-14);
    CHECK_NEAR(-4.196518186951408, two.d1, 1e-14);
    CHECK_NEAR(0.24847851012449546, two.d2, 1e-14);
}

static double ndt_entry(const NdtMatrix *m, int k) { return m->at[k / 3][k % 3]; }

TEST(ndt_frame_derivatives)
{
    const double origin[3] = {0.0, 0.0, 0.0}, pose[NDT_POSE] = {0.0, 0.0, 0.0, 0.3, -0.7, 1.9}, h = 1e-6;
    const NdtFrame frame = ndt_frame(pose, origin);
    for (int j = 0; j < NDT_ANGLES; j++) {
        double up[NDT_POSE], down[NDT_POSE];
        memcpy(up, pose, sizeof up);
        memcpy(down, pose, sizeof down);
        up[3 + j] += h;
        down[3 + j] -= h;
        const NdtFrame above = ndt_frame(up, origin), below = ndt_frame(down, origin);
        for (int k = 0; k < 9; k++) {
            const double first = (ndt_entry(&above.rotation, k) - ndt_entry(&below.rotation, k)) / (2.0 * h);
            CHECK_NEAR(first, ndt_entry(&frame.first[j], k), 1e-9);
            for (int i = 0; i <= j; i++) {
                const int pair = i * NDT_ANGLES - i * (i - 1) / 2 + j - i;
                const double second = (ndt_entry(&above.first[i], k) - ndt_entry(&below.first[i], k)) / (2.0 * h);
                CHECK_NEAR(second, ndt_entry(&frame.second[pair], k), 1e-9);
            }
        }
    }
}

// A random pose near the true pose of the scenes: within `spread` metres, and a tenth of that in radians.
static void ndt_random_pose(int number, double spread, double *pose)
{
    const RandomKey key = {.seed = 17, .ordinal = (uint64_t)number, .purpose = RANDOM_SAMPLE};
    static const double truth[NDT_POSE] = {0.4, -0.3, 0.1, 0.02, -0.01, 0.05};
    for (int i = 0; i < NDT_POSE; i++)
        pose[i] = truth[i] + (i < 3 ? spread : 0.1 * spread) * (2.0 * random_uniform(&key, (uint32_t)i) - 1.0);
}

// Central differences; false if the correspondences change between the two points, as the score jumps there.
static bool ndt_differences(const NdtTask *task, const double *pose, int j, double h, double *slope, double *bend)
{
    double up[NDT_POSE], down[NDT_POSE];
    NdtSums above, below, here;
    memcpy(up, pose, sizeof up);
    memcpy(down, pose, sizeof down);
    up[j] += h;
    down[j] -= h;
    ndt_value(task, up, &above);
    ndt_value(task, down, &below);
    ndt_value(task, pose, &here);
    *slope = (above.at[NDT_SCORE] - below.at[NDT_SCORE]) / (2.0 * h);
    for (int i = 0; i < NDT_POSE; i++) bend[i] = (above.at[NDT_GRADIENT + i] - below.at[NDT_GRADIENT + i]) / (2.0 * h);
    return above.at[NDT_PAIRS] == here.at[NDT_PAIRS] && below.at[NDT_PAIRS] == here.at[NDT_PAIRS];
}

TEST(ndt_gradient_and_hessian_by_differences)
{
    NdtCase c;
    ndt_scene_case(NDT_STREET, 2.0, 2.0, &c);
    int compared = 0;
    for (int n = 0; n < 20; n++) {
        double pose[NDT_POSE], largest = 0.0, steepest = 0.0;
        NdtSums sums;
        ndt_random_pose(n, 1.0, pose);
        ndt_evaluate(&c.task, pose, &sums);
        for (int k = 0; k < 6; k++) steepest = fmax(steepest, fabs(sums.at[NDT_GRADIENT + k]));
        for (int k = 0; k < 21; k++) largest = fmax(largest, fabs(sums.at[NDT_HESSIAN + k]));
        for (int j = 0; j < NDT_POSE; j++) {
            double slope, bend[NDT_POSE];
            if (!ndt_differences(&c.task, pose, j, j < 3 ? 1e-6 : 1e-7, &slope, bend)) continue;
            compared++;
            CHECK_NEAR(slope, sums.at[NDT_GRADIENT + j], 1e-6 * steepest);
            for (int i = 0; i <= j; i++) CHECK_NEAR(bend[i], sums.at[NDT_HESSIAN + ndt_triangle(i, j)], 3e-5 * largest);
        }
    }
    CHECK(compared > 90);
    arena_destroy(&c.arena);
}

// ---- maps -----------------------------------------------------------------------------------------------------------

enum { NDT_TEST_CELLS = 8192 };

// Computes from the lists of places each cell's corner, in cells, and its mean relative to that corner (m).
static void ndt_corners(const NdtMap *map, int64_t corner[][3], double mean[][3])
{
    CHECK(map->n_cells <= NDT_TEST_CELLS);
    for (int64_t t = 0; t < map->table_size; t++) {
        const int64_t key = map->table[2 * t], list = key < 0 ? 0 : map->table[2 * t + 1];
        for (int64_t k = list >> 5; k < (list >> 5) + (list & 31); k++) {
            const int32_t code = ndt_code(&map->candidates, k);
            for (int a = 0; a < 3; a++) {
                corner[code >> 6][a] = (key >> 21 * a & 0x1fffff) - NDT_CELL_MAX + (code >> 2 * a & 3) - 1;
                mean[code >> 6][a] = map->candidates.whole[4 * k + a];
            }
        }
    }
}

// Whether the point y (m, from the map's origin) is compared with the cell, by the definition.
static bool ndt_is_compared(const NdtMap *map, NdtNeighbours neighbours, const double *y, const int64_t *corner,
                            const double *mean)
{
    double apart = 0.0;
    int64_t steps = 0;
    for (int a = 0; a < 3; a++) {
        const double d = y[a] - map->resolution * (double)corner[a] - mean[a];
        apart += d * d;
        steps += llabs((int64_t)floor(y[a] / map->resolution) - corner[a]);
    }
    return neighbours == NDT_RADIUS ? apart <= map->resolution * map->resolution
                                    : steps <= (neighbours == NDT_DIRECT7 ? 1 : 0);
}

// Number of cells that the point y (m, from the map's origin) is compared with.
static int ndt_pairs_of(const NdtMap *map, const double *y)
{
    NdtShifts shifts;
    NdtPairs pairs;
    double at[3] = {y[0], y[1], y[2]};
    int64_t list;
    ndt_shifts(map, &shifts);
    ndt_lists(map, 1, at, &list);
    return ndt_note_pairs(map, &shifts, at, list, 0, &pairs);
}

// By brute force, for each kind of neighbours: cells with their mean within the resolution; cells that share a face;
// the point's own cell.
TEST(ndt_finds_every_neighbour)
{
    static int64_t corner[NDT_TEST_CELLS][3];
    static double mean[NDT_TEST_CELLS][3];
    for (int neighbours = NDT_RADIUS; neighbours <= NDT_DIRECT1; neighbours++) {
        NdtCase c;
        int64_t wrong = 0, pairs = 0;
        ndt_scene_case_of(NDT_STREET, 3.0, 1.0, (NdtNeighbours)neighbours, &c);
        ndt_corners(&c.map, corner, mean);
        for (int64_t i = 0; i < c.task.n_source; i++) {
            double y[3];
            int expected = 0;
            for (int a = 0; a < 3; a++) y[a] = c.task.source[a].whole[i] - c.map.origin[a];
            for (int64_t k = 0; k < c.map.n_cells; k++)
                expected += ndt_is_compared(&c.map, (NdtNeighbours)neighbours, y, corner[k], mean[k]);
            wrong += ndt_pairs_of(&c.map, y) != expected;
            pairs += expected;
        }
        CHECK_INTEGER(0, wrong);
        CHECK(pairs > 100);
        arena_destroy(&c.arena);
    }
}

// Eight points of one cell: the sums of squares along the axes are 2, 0.08 and 0.02; starting from the identity adds 1
// to each.
TEST(ndt_covariance_starts_from_nothing_or_identity)
{
    static const double x[8] = {0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5};
    static const double y[8] = {0.9, 0.9, 1.1, 1.1, 0.9, 0.9, 1.1, 1.1};
    static const double z[8] = {0.95, 0.95, 0.95, 0.95, 1.05, 1.05, 1.05, 1.05};
    const Cloud cloud = {{x, y, z}, 8};
    NdtMapOptions options = ndt_two_metres;
    NdtMapCounts counts;
    NdtMap map;
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 20, "a map"));
    CHECK_OK(ndt_map_build(&cloud, &options, &arena, &map, &counts));
    const double flat[3] = {7.0 / 2.0, 7.0 / 0.08, 7.0 / 0.02};
    for (int a = 0; a < 3; a++) CHECK_NEAR(1.0, map.candidates.whole[a], 1e-15);
    for (int a = 0, k = 0; a < 3; k += 3 - a, a++) CHECK_NEAR(flat[a], map.cells.whole[k], 1e-9);
    options.covariance = NDT_COVARIANCE_IDENTITY;
    CHECK_OK(ndt_map_build(&cloud, &options, &arena, &map, &counts));
    const double round[3] = {7.0 / 3.0, 7.0 / 1.08, 7.0 / 1.02};
    for (int a = 0, k = 0; a < 3; k += 3 - a, a++) CHECK_NEAR(round[a], map.cells.whole[k], 1e-12);
    arena_destroy(&arena);
}

// Six points very close to each other: single precision cannot hold the inverse of their covariance. A point beside
// them must not make the score infinite.
TEST(ndt_cells_of_hardly_any_extent_are_dropped)
{
    enum { POINTS = 14 };
    double at[3][POINTS], pose[NDT_POSE] = {0.0};
    NdtMapCounts counts;
    NdtMap map;
    NdtSums sums;
    Arena arena;
    for (int i = 0; i < POINTS; i++) {
        for (int a = 0; a < 3; a++) {
            const double far_apart = 2.2 + 0.2 * (double)((3 * i + 5 * a) % 7),
                         hair = 1e-21 * (double)((i + a * i) % 6);
            at[a][i] = i < 6 ? hair : far_apart;
        }
    }
    const Cloud cloud = {{at[0], at[1], at[2]}, POINTS};
    CHECK_OK(arena_create(&arena, 1 << 20, "a map"));
    for (int precision = NDT_SINGLE; precision <= NDT_DOUBLE; precision++) {
        NdtMapOptions options = ndt_two_metres;
        options.precision = (NdtPrecision)precision;
        CHECK_OK(ndt_map_build(&cloud, &options, &arena, &map, &counts));
        CHECK_INTEGER(2, counts.occupied);
        CHECK_INTEGER(1, counts.valid);
        CHECK_INTEGER(1, counts.dropped);
        NdtTask task = {.map = &map, .n_source = POINTS, .mixture = ndt_mixture(0.55, 2.0)};
        for (int a = 0; a < 3; a++) task.source[a] = ndt_numbers(at[a], POINTS, options.precision, &arena);
        ndt_evaluate(&task, pose, &sums);
        CHECK(ndt_all_finite(sums.at, NDT_SUMS) && sums.at[NDT_SCORE] > 0.0);
    }
    arena_destroy(&arena);
}

TEST(ndt_points_outside_the_map_have_no_cells)
{
    NdtCase c;
    ndt_scene_case(NDT_HALF_CUBE, 3.0, 2.0, &c);
    double out[4][3] = {{1e300, 0.0, 0.0}, {0.0, -INFINITY, 0.0}, {0.0, 0.0, NAN}, {3e6, 0.0, 0.0}};
    for (int k = 0; k < 4; k++) CHECK_INTEGER(0, ndt_pairs_of(&c.map, out[k]));
    arena_destroy(&c.arena);
}

// A map far from the origin gives the same result as near it: cells are relative to a multiple of the resolution.
TEST(ndt_far_from_the_origin)
{
    NdtCase c;
    ndt_scene_case(NDT_STREET, 2.0, 2.0, &c);
    const NdtSceneOptions options = {NDT_STREET, 3, 0.2, 2.0, 25.0, 0.02, {0.4, -0.3, 0.1, 0.02, -0.01, 0.05}};
    Cloud target, source;
    NdtMap map;
    NdtMapCounts counts;
    NdtMapOptions single = ndt_two_metres;
    NdtSums near_sums, far_sums;
    double pose[NDT_POSE] = {0.4, -0.3, 0.1, 0.02, -0.01, 0.05};
    single.precision = NDT_SINGLE;
    CHECK_OK(ndt_scene(&options, &c.arena, &target, &source));
    for (int64_t i = 0; i < target.count; i++) ((double *)(uintptr_t)target.at[0])[i] += 90112.0;
    CHECK_OK(ndt_map_build(&target, &single, &c.arena, &map, &counts));
    NdtTask far_task = c.task;
    far_task.map = &map;
    ndt_evaluate(&c.task, pose, &near_sums);
    pose[0] += 90112.0;
    ndt_evaluate(&far_task, pose, &far_sums);
    CHECK_INTEGER(c.counts.valid, counts.valid);
    CHECK_BITS(near_sums.at[NDT_PAIRS], far_sums.at[NDT_PAIRS]);
    CHECK_NEAR(near_sums.at[NDT_SCORE], far_sums.at[NDT_SCORE], 1e-6 * near_sums.at[NDT_SCORE]);
    arena_destroy(&c.arena);
}

TEST(ndt_scenes_of_too_many_points_are_refused)
{
    Cloud target, source;
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 20, "a scene"));
    const NdtSceneOptions options = {.scene = NDT_HALF_CUBE, .spacing = 0.001, .source_spacing = 2.0, .range = 25.0};
    CHECK_SAYS(ERROR_USER, "points, more than 4194304; take a larger spacing",
               ndt_scene(&options, &arena, &target, &source));
    arena_destroy(&arena);
}

TEST(ndt_impossible_maps_are_refused)
{
    const double x[8] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1e9}, y[8] = {0.0};
    const double bad[2] = {0.0, NAN};
    NdtMap map;
    NdtMapCounts counts;
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 20, "a map"));
    const Cloud none = {{x, y, y}, 0}, few = {{x, y, y}, 5}, wide = {{x, y, y}, 8}, broken = {{bad, y, y}, 2};
    CHECK_TEXT("the target cloud has no points", ndt_map_build(&none, &ndt_two_metres, &arena, &map, &counts).text);
    CHECK_TEXT("no cell of the map has 6 points or more (1 cells of 2 m, 5 points of the target); take larger cells",
               ndt_map_build(&few, &ndt_two_metres, &arena, &map, &counts).text);
    CHECK_TEXT(
        "point 7 of the cloud (1e+09, 0, 0) lies 1e+09 m from the middle of the others, more than 1048574 cells of 2 "
        "m; take larger cells, or remove the point",
        ndt_map_build(&wide, &ndt_two_metres, &arena, &map, &counts).text);
    CHECK_ERROR(ERROR_USER, ndt_map_build(&broken, &ndt_two_metres, &arena, &map, &counts));
    arena_destroy(&arena);
}

// Points of a cell keep the order of the cloud, so that sums over them have the same bits everywhere.
TEST(ndt_grid_keeps_the_order_of_points)
{
    enum { POINTS = 300 };
    const double origin[3] = {0.0, 0.0, 0.0};
    double x[POINTS], y[POINTS];
    NdtKeyedPoint keyed[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = (double)(i % 3);
        y[i] = 0.001 * (double)(POINTS - i);
    }
    CHECK_OK(ndt_grid(&(Cloud){{x, y, y}, POINTS}, 1.0, origin, keyed));
    for (int i = 0; i < POINTS; i++) {
        CHECK_INTEGER(3 * (i % 100) + i / 100, keyed[i].point);
        CHECK_INTEGER(ndt_key(i / 100, 0, 0), keyed[i].key);
    }
}

TEST(ndt_thins_to_centroids)
{
    const double x[5] = {0.1, 5.0, 0.3, -0.2, 5.2}, y[5] = {0.0, 0.0, 0.2, 0.0, 0.0}, z[5] = {1.0, 1.0, 1.0, 1.0, 1.0};
    const Cloud cloud = {{x, y, z}, 5};
    Arena arena;
    Cloud thin;
    CHECK_OK(arena_create(&arena, 1 << 20, "a cloud"));
    CHECK_OK(ndt_thin(&cloud, 0.5, &arena, &thin));
    CHECK_INTEGER(3, thin.count);
    CHECK_BITS(-0.2, thin.at[0][0]);
    CHECK_NEAR(0.2, thin.at[0][1], 1e-15);
    CHECK_NEAR(0.1, thin.at[1][1], 1e-15);
    CHECK_NEAR(5.1, thin.at[0][2], 1e-15);
    CHECK_OK(ndt_thin(&cloud, 0.0, &arena, &thin));
    CHECK_INTEGER(5, thin.count);
    arena_destroy(&arena);
}

// ---- golden traces --------------------------------------------------------------------------------------------------

// The lidar pair with resolution 2 m; false, with a message, if its files are missing.
static bool ndt_lidar_case(NdtPrecision precision, NdtCase *c)
{
    char pcd[512], csv[512];
    const char *path = test_shared("data/ndt/251370668.pcd");
    CloudFile target, source;
    NdtMapOptions options = ndt_two_metres;
    if (path == NULL) {
        test_skip("reference data that are not in the repository", "../shared");
        return false;
    }
    snprintf(pcd, sizeof pcd, "%s", path);
    snprintf(csv, sizeof csv, "%s", test_shared("data/ndt/ndt_source_0.5m.csv"));
    options.precision = precision;
    CHECK_OK(arena_create(&c->arena, (size_t)1 << 26, "a lidar pair"));
    CHECK_OK(cloud_read(pcd, &target));
    CHECK_OK(cloud_read(csv, &source));
    CHECK_INTEGER(69088, target.cloud.count);
    CHECK_INTEGER(2654, source.cloud.count);
    ndt_case_of(&target.cloud, &source.cloud, &options, c);
    cloud_close(&target);
    cloud_close(&source);
    return true;
}

static int ndt_golden(const char *name, NdtDebugRow *rows, int most)
{
    const char *path = test_shared(name);
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    int n = 0;
    if (file == NULL) return 0;
    while (n < most) {
        int k = 0;
        while (k < NDT_DEBUG_COLUMNS && fscanf(file, "%lf,", &rows[n].at[k]) == 1) k++;
        if (k < NDT_DEBUG_COLUMNS) break;
        n++;
    }
    fclose(file);
    return n;
}

// Evaluates each row alone, from its pose: errors relative to the greatest number of the gradient, and of the Hessian.
static void ndt_check_golden(const NdtTask *task, const char *name, int rows, double score, double derivative)
{
    NdtDebugRow golden[32];
    CHECK_INTEGER(rows, ndt_golden(name, golden, 32));
    for (int n = 0; n < rows; n++) {
        const double *row = golden[n].at;
        NdtSums sums;
        ndt_evaluate(task, row + NDT_DEBUG_BEFORE, &sums);
        CHECK_BITS(row[NDT_DEBUG_PAIRS], sums.at[NDT_PAIRS]);
        CHECK_NEAR(row[NDT_DEBUG_SCORE], sums.at[NDT_SCORE], score * row[NDT_DEBUG_SCORE]);
        const double steep = ndt_greatest(row + NDT_DEBUG_GRADIENT, 6),
                     bent = ndt_greatest(row + NDT_DEBUG_HESSIAN, 21);
        for (int k = 0; k < 6; k++)
            CHECK_NEAR(row[NDT_DEBUG_GRADIENT + k], sums.at[NDT_GRADIENT + k], derivative * steep);
        for (int k = 0; k < 21; k++)
            CHECK_NEAR(row[NDT_DEBUG_HESSIAN + k], sums.at[NDT_HESSIAN + k], derivative * bent);
    }
}

TEST(ndt_golden_rows_in_double)
{
    NdtCase c;
    if (!ndt_lidar_case(NDT_DOUBLE, &c)) return;
    CHECK_INTEGER(408, c.counts.occupied);
    CHECK_INTEGER(282, c.counts.valid);
    CHECK_INTEGER(167, c.counts.inflated);
    ndt_check_golden(&c.task, "data/ndt/ndt_golden_R2_id.csv", 10, 1e-9, 1e-9);
    ndt_check_golden(&c.task, "data/ndt/ndt_golden_R2_near.csv", 15, 1e-9, 1e-9);
    arena_destroy(&c.arena);
}

TEST(ndt_golden_rows_in_single)
{
    NdtCase c;
    if (!ndt_lidar_case(NDT_SINGLE, &c)) return;
    ndt_check_golden(&c.task, "data/ndt/ndt_golden_R2_id.csv", 10, 1e-6, 1e-5);
    ndt_check_golden(&c.task, "data/ndt/ndt_golden_R2_near.csv", 15, 1e-6, 1e-5);
    arena_destroy(&c.arena);
}

// A complete run from the identity: the same iterations, steps and end.
TEST(ndt_golden_run)
{
    static const double last[NDT_POSE] = {0.49639, 0.12132, -0.02869, -0.00013, -0.00238, -0.01406}, start[NDT_POSE];
    const NdtMethod method = {0.1, 0.01, 30, NDT_NEWTON, NDT_NO_SEARCH};
    NdtCase c;
    NdtAlignment a;
    NdtDebugRow row, golden[32];
    NdtEnd end = NDT_RUNNING;
    bool has_row;
    if (!ndt_lidar_case(NDT_DOUBLE, &c)) return;
    const int rows = ndt_golden("data/ndt/ndt_golden_R2_id.csv", golden, 32);
    ndt_align_begin(&a, start);
    for (int n = 0; end == NDT_RUNNING && n < rows; n++) {
        end = ndt_iterate(&c.task, &method, &a, &row, &has_row);
        CHECK(has_row);
        CHECK_BITS(golden[n].at[NDT_DEBUG_PAIRS], row.at[NDT_DEBUG_PAIRS]);
        CHECK_BITS(golden[n].at[NDT_DEBUG_REVERSED], row.at[NDT_DEBUG_REVERSED]);
        CHECK_NEAR(golden[n].at[NDT_DEBUG_ALPHA], row.at[NDT_DEBUG_ALPHA], 1e-6);
        for (int k = 0; k < NDT_POSE; k++)
            CHECK_NEAR(golden[n].at[NDT_DEBUG_AFTER + k], row.at[NDT_DEBUG_AFTER + k], 1e-7);
    }
    CHECK_INTEGER(NDT_CONVERGED, end);
    CHECK_INTEGER(10, (int64_t)a.iterations);
    for (int k = 0; k < NDT_POSE; k++) CHECK_NEAR(last[k], a.pose[k], 1e-5);
    CHECK_NEAR(10085.8066, a.sums.at[NDT_SCORE], 1e-4);
    CHECK_NEAR(3.80023, ndt_transformation_probability(&c.task, &a.sums), 1e-5);
    CHECK_NEAR(2.59012, ndt_voxel_likelihood(&a.sums), 1e-5);
    CHECK_BITS(9133.0, a.sums.at[NDT_PAIRS]);
    arena_destroy(&c.arena);
}

// ---- invariants of every row ----------------------------------------------------------------------------------------

static void ndt_check_alignment(const NdtTask *task, const NdtMethod *method, const double *start, bool bits)
{
    NdtAlignment a, silent;
    NdtDebugRow row;
    NdtSums last;
    NdtEnd end = NDT_RUNNING;
    bool has_row;
    double pose[NDT_POSE], step = 0.0, moved[3] = {0.0, 0.0, 0.0}, turns = 0.0, longest = 0.0;
    int rows = 0;
    memcpy(pose, start, sizeof pose);
    ndt_align_begin(&a, start);
    for (; end == NDT_RUNNING; rows += has_row) {
        memset(&row, 0xff, sizeof row); // fills the row with NaN
        end = ndt_iterate(task, method, &a, &row, &has_row);
        if (!has_row) continue;
        for (int i = 0; i < NDT_POSE; i++) CHECK_BITS(pose[i], row.at[NDT_DEBUG_BEFORE + i]);
        CHECK_BITS((double)rows, row.at[NDT_DEBUG_ITERATION]);
        ndt_check_row(method, task->mixture.d1, row.at);
        memcpy(pose, row.at + NDT_DEBUG_AFTER, sizeof pose);
        step = row.at[NDT_DEBUG_ALPHA] * ndt_norm6(row.at + NDT_DEBUG_DELTA);
        double along = 0.0, now = 0.0, before = 0.0;
        for (int i = 0; i < 3; i++) {
            const double m = row.at[NDT_DEBUG_ALPHA] * row.at[NDT_DEBUG_DELTA + i];
            along += m * moved[i];
            now += m * m;
            before += moved[i] * moved[i];
            moved[i] = m;
        }
        turns = along < -0.9 * sqrt(now * before) ? turns + 1.0 : 0.0;
        longest = fmax(turns, longest);
    }
    CHECK_BITS(longest, a.oscillation);
    CHECK_BITS((double)rows, a.iterations);
    CHECK((end == NDT_CONVERGED) == (rows > 0 && step > 0.0 && step < method->epsilon && a.sums.at[NDT_PAIRS] >= 0.0) ||
          end == NDT_NO_CORRESPONDENCES);
    CHECK(rows <= method->max_iterations);
    ndt_evaluate(task, a.pose, &last); // the sums belong to the final pose
    CHECK(memcmp(&last, &a.sums, sizeof last) == 0);
    if (!bits) return;
    ndt_align_begin(&silent, start); // without debug rows the bits are the same
    while (ndt_iterate(task, method, &silent, NULL, &has_row) == NDT_RUNNING) CHECK(!has_row);
    CHECK(memcmp(&silent, &a, sizeof a) == 0);
}

TEST(ndt_every_row_of_random_alignments)
{
    NdtCase c[3];
    const int usual = test_quick() ? NDT_TEST_QUICK : NDT_TEST_USUAL;
    const int count = getenv("NDT_THOROUGH") != NULL ? NDT_TEST_ALIGNMENTS : usual;
    for (int k = 0; k < 3; k++) ndt_scene_case((NdtScene)k, k == NDT_HALF_CUBE ? 5.0 : 9.0, 3.0, &c[k]);
    for (int n = 0; n < count; n++) {
        const NdtMethod method = {n % 5 == 0 ? 0.5 : 0.1, 0.01, 30, (NdtSolver)(n / 3 % 2), (NdtLineSearch)(n / 6 % 3)};
        double pose[NDT_POSE];
        ndt_random_pose(n, n % 7 == 0 ? 8.0 : 1.5, pose);
        ndt_check_alignment(&c[n % 3].task, &method, pose, n % 10 == 0);
    }
    for (int k = 0; k < 3; k++) arena_destroy(&c[k].arena);
}

// ---- line searches --------------------------------------------------------------------------------------------------

// The step that `batched` should choose, by trying the candidates one by one: the longest that meets the strong Wolfe
// conditions (the score grows by at least 1e-4 of the slope, and the slope falls to at most 0.9 of it), else the one
// with the best score.
static double ndt_expected_alpha(const NdtTask *task, const double *pose, const NdtSums *start, const NdtDelta *delta,
                                 double step_size)
{
    const double size = ndt_norm6(delta->at), slope = ndt_dot6(start->at + NDT_GRADIENT, delta->at);
    double alpha = size <= step_size ? 1.0 : step_size / size, best = start->at[NDT_SCORE], of_best = 0.0;
    for (int k = 0; k < 8; k++, alpha *= 0.618) {
        double there[NDT_POSE];
        NdtSums sums;
        ndt_move(pose, delta, alpha, there);
        ndt_evaluate(task, there, &sums);
        const double along = ndt_dot6(sums.at + NDT_GRADIENT, delta->at);
        if (sums.at[NDT_SCORE] >= start->at[NDT_SCORE] + 1e-4 * alpha * slope && fabs(along) <= 0.9 * fabs(slope))
            return alpha;
        if (!(sums.at[NDT_SCORE] > best)) continue;
        best = sums.at[NDT_SCORE];
        of_best = alpha;
    }
    return of_best;
}

TEST(ndt_batched_takes_the_longest_good_step)
{
    NdtCase c;
    int shorter = 0, stalled = 0;
    ndt_scene_case(NDT_STREET, 4.0, 2.0, &c);
    for (int n = 0; n < 60; n++) {
        double pose[NDT_POSE];
        NdtSums sums;
        bool known;
        int evaluations = 0;
        ndt_random_pose(n, 1.5, pose);
        ndt_evaluate(&c.task, pose, &sums);
        const NdtDelta delta = ndt_solve(&sums, NDT_NEWTON);
        const double expected = ndt_expected_alpha(&c.task, pose, &sums, &delta, 2.0);
        const double alpha = ndt_line_search(NDT_BATCHED, &c.task, pose, &delta, 2.0, &sums, &known, &evaluations);
        CHECK_BITS(expected, alpha);
        shorter += evaluations > 1;
        stalled += alpha == 0.0;
    }
    CHECK(shorter > 10 && stalled < 50);
    arena_destroy(&c.arena);
}

// More and Thuente's search: its final step meets the conditions, or no trial step did.
TEST(ndt_more_thuente_meets_the_conditions)
{
    NdtCase c;
    int met = 0, ran = 0;
    ndt_scene_case(NDT_STREET, 4.0, 2.0, &c);
    for (int n = 0; n < 60; n++) {
        double pose[NDT_POSE];
        NdtSums sums, start;
        bool known;
        int evaluations = 0;
        ndt_random_pose(n, 1.0, pose);
        ndt_evaluate(&c.task, pose, &start);
        sums = start;
        const NdtDelta delta = ndt_solve(&sums, NDT_NEWTON);
        const double alpha = ndt_line_search(NDT_MORE_THUENTE, &c.task, pose, &delta, 2.0, &sums, &known, &evaluations);
        const double slope = ndt_dot6(start.at + NDT_GRADIENT, delta.at);
        const double along = ndt_dot6(sums.at + NDT_GRADIENT, delta.at);
        const bool more = sums.at[NDT_SCORE] >= start.at[NDT_SCORE] + 1e-4 * alpha * slope;
        const bool good = alpha > 0.0 && more && fabs(along) <= 0.9 * fabs(slope);
        CHECK(alpha * ndt_norm6(delta.at) <= 2.0 * (1.0 + 1e-12));
        CHECK(good || evaluations > 1 || alpha == 0.0 || alpha * ndt_norm6(delta.at) >= 2.0 * (1.0 - 1e-12));
        met += good;
        ran += alpha > 0.0;
    }
    CHECK(met > ran / 2);
    arena_destroy(&c.arena);
}

TEST(ndt_strong_wolfe_conditions)
{
    const NdtTrial start = {0.0, 10.0, -1.0}, good = {1.0, 9.9999, 0.9}, high = {1.0, 9.99991, 0.5},
                   steep = {1.0, 9.0, -0.91};
    CHECK(ndt_is_wolfe(&start, &good));
    CHECK(!ndt_is_wolfe(&start, &high));
    CHECK(!ndt_is_wolfe(&start, &steep));
}

// The longest run of displacements that each turn back; a right angle ends the run.
TEST(ndt_counts_oscillation)
{
    static const double moved[8][3] = {{1, 0, 0},  {-1, 0, 0},  {1, 0.1, 0}, {0, 1, 0},
                                       {0, -2, 0}, {0, 1, 0.1}, {0, -1, 0},  {0, 1, -1}};
    static const double run[8] = {0, 1, 2, 0, 1, 2, 3, 0};
    NdtAlignment a;
    const double start[NDT_POSE] = {0.0};
    ndt_align_begin(&a, start);
    for (int n = 0; n < 8; n++) {
        ndt_count_turns(&a, moved[n]);
        CHECK_BITS(run[n], a.turns);
    }
    CHECK_BITS(3.0, a.oscillation);
}

// ---- directions without information ---------------------------------------------------------------------------------

// The terms of a position measurement in gradient and Hessian equal the differences of its term in the score. The term
// has no derivative by yaw.
TEST(ndt_pull_by_differences)
{
    NdtCase c;
    ndt_scene_case(NDT_STREET, 4.0, 2.0, &c);
    int compared = 0;
    c.task.pull = (NdtPull){0.3, 1.5, -2.0};
    for (int n = 0; n < 20; n++) {
        double pose[NDT_POSE];
        NdtSums sums;
        ndt_random_pose(n, 1.0, pose);
        ndt_value(&c.task, pose, &sums);
        const double steepest = ndt_greatest(sums.at + NDT_GRADIENT, 2), largest = fabs(sums.at[NDT_HESSIAN]);
        for (int j = 0; j < 2; j++) {
            double slope, bend[NDT_POSE];
            if (!ndt_differences(&c.task, pose, j, 1e-6, &slope, bend)) continue;
            compared++;
            CHECK_NEAR(slope, sums.at[NDT_GRADIENT + j], 1e-6 * steepest);
            for (int i = 0; i <= j; i++) CHECK_NEAR(bend[i], sums.at[NDT_HESSIAN + ndt_triangle(i, j)], 3e-5 * largest);
        }
    }
    CHECK(compared > 30);
    arena_destroy(&c.arena);
}

// The covariance is minus the inverse of the Hessian of x and y; a saddle has none.
TEST(ndt_laplace_is_the_inverse)
{
    NdtSums sums;
    double covariance[3];
    memset(&sums, 0, sizeof sums);
    sums.at[NDT_HESSIAN + ndt_triangle(0, 0)] = -4.0;
    sums.at[NDT_HESSIAN + ndt_triangle(0, 1)] = 1.0;
    sums.at[NDT_HESSIAN + ndt_triangle(1, 1)] = -0.5;
    ndt_laplace(&sums, covariance); // of the matrix [4 -1; -1 0.5] with determinant 1
    CHECK_NEAR(0.5, covariance[0], 1e-15);
    CHECK_NEAR(1.0, covariance[1], 1e-15);
    CHECK_NEAR(4.0, covariance[2], 1e-15);
    sums.at[NDT_HESSIAN + ndt_triangle(1, 1)] = 0.5;
    ndt_laplace(&sums, covariance);
    CHECK(isnan(covariance[0]) && isnan(covariance[1]) && isnan(covariance[2]));
}

// ---- where alignments end -------------------------------------------------------------------------------------------

static NdtEnd ndt_aligned(const NdtTask *task, const NdtMethod *method, const double *start, NdtAlignment *a)
{
    NdtEnd end = NDT_RUNNING;
    bool has_row;
    ndt_align_begin(a, start);
    while (end == NDT_RUNNING) end = ndt_iterate(task, method, a, NULL, &has_row);
    return end;
}

TEST(ndt_scenes_are_aligned)
{
    static const double truth[NDT_POSE] = {0.4, -0.3, 0.1, 0.02, -0.01, 0.05}, start[NDT_POSE], origin[3];
    for (int scene = NDT_HALF_CUBE; scene <= NDT_STREET; scene++) {
        NdtCase c;
        ndt_scene_case((NdtScene)scene, 1.0, 2.0, &c);
        for (int solver = 0; solver < 2; solver++) {
            for (int search = 0; search < 3; search++) {
                const NdtMethod method = {0.1, 1e-3, 60, (NdtSolver)solver, (NdtLineSearch)search};
                NdtAlignment a;
                CHECK_INTEGER(NDT_CONVERGED, ndt_aligned(&c.task, &method, start, &a));
                CHECK_NEAR(0.0, ndt_translation_error(a.pose, origin, truth), 0.1);
                CHECK_NEAR(0.0, ndt_rotation_error(a.pose, truth), 0.02);
            }
        }
        arena_destroy(&c.arena);
    }
}

// A tunnel looks the same along its axis: the pose across it is found, the pose along it is hardly determined.
TEST(ndt_tunnel_is_degenerate_along_its_axis)
{
    static const double truth[NDT_POSE] = {0.4, -0.3, 0.1, 0.02, -0.01, 0.05};
    NdtCase c;
    ndt_scene_case(NDT_TUNNEL, 1.0, 2.0, &c);
    NdtSums sums;
    NdtEigen e;
    double least = INFINITY, greatest = 0.0;
    ndt_evaluate(&c.task, truth, &sums);
    const double *H = sums.at + NDT_HESSIAN, along = fabs(H[ndt_triangle(0, 0)]), across = fabs(H[ndt_triangle(1, 1)]);
    CHECK(along < 0.1 * across);
    ndt_eigen(H, &e);
    for (int k = 0; k < NDT_POSE; k++) {
        least = fmin(least, fabs(e.a[k][k]));
        greatest = fmax(greatest, fabs(e.a[k][k]));
    }
    CHECK(least < 1e-3 * greatest);
    double covariance[3];
    ndt_laplace(&sums, covariance);
    CHECK(covariance[0] > 10.0 * covariance[2]);
    arena_destroy(&c.arena);
}

// From 3 m away along the tunnel an alignment stays there; a position measurement brings it back.
TEST(ndt_tunnel_with_a_measured_position)
{
    static const double start[NDT_POSE] = {3.4, -0.3, 0.1, 0.02, -0.01, 0.05};
    const NdtMethod method = {0.3, 1e-3, 100, NDT_NEWTON, NDT_NO_SEARCH};
    NdtCase c;
    NdtAlignment a;
    ndt_scene_case(NDT_TUNNEL, 1.0, 2.0, &c);
    ndt_aligned(&c.task, &method, start, &a);
    CHECK(fabs(a.pose[0] - 0.4) > 1.0);
    c.task.pull = (NdtPull){0.1, 0.4, -0.3};
    CHECK_INTEGER(NDT_CONVERGED, ndt_aligned(&c.task, &method, start, &a));
    CHECK_NEAR(0.4, a.pose[0], 0.1);
    CHECK_NEAR(-0.3, a.pose[1], 0.05);
    arena_destroy(&c.arena);
}

TEST(ndt_alignments_that_fail)
{
    static const double far_away[NDT_POSE] = {1e4, 0.0, 0.0, 0.0, 0.0, 0.0}, start[NDT_POSE];
    const double lost[NDT_POSE] = {0.0, 0.0, 0.0, NAN, 0.0, 0.0};
    NdtCase c;
    ndt_scene_case(NDT_HALF_CUBE, 2.0, 2.0, &c);
    const NdtMethod method = {0.1, 0.01, 30, NDT_NEWTON, NDT_NO_SEARCH},
                    short_one = {0.1, 0.01, 2, NDT_NEWTON, NDT_NO_SEARCH};
    NdtAlignment a;
    CHECK_INTEGER(NDT_NO_CORRESPONDENCES, ndt_aligned(&c.task, &method, far_away, &a));
    CHECK_INTEGER(0, (int64_t)a.iterations);
    CHECK_INTEGER(NDT_NON_FINITE, ndt_aligned(&c.task, &method, lost, &a));
    CHECK_INTEGER(NDT_NOT_CONVERGED, ndt_aligned(&c.task, &short_one, start, &a));
    CHECK_INTEGER(2, (int64_t)a.iterations);
    arena_destroy(&c.arena);
}

TEST(ndt_rotation_error_is_the_angle)
{
    const double a[NDT_POSE] = {0.0, 0.0, 0.0, 0.1, 0.2, 0.3}, b[NDT_POSE] = {0.0, 0.0, 0.0, 0.1, 0.2, 0.8};
    const double c[NDT_POSE] = {0.0, 0.0, 0.0, 3.141592653589793, 0.0, 0.0}, none[NDT_POSE] = {0.0};
    CHECK_NEAR(0.5, ndt_rotation_error(a, b), 1e-15);
    CHECK_NEAR(0.0, ndt_rotation_error(a, a), 1e-15);
    CHECK_NEAR(3.141592653589793, ndt_rotation_error(c, none), 1e-15);
}

// A turn about the middle of the source moves nothing there, however far it lies from the origin.
TEST(ndt_translation_error_is_that_of_the_middle)
{
    const double middle[3] = {500.0, -300.0, 20.0}, pose[NDT_POSE] = {1.0, 2.0, 3.0, 0.1, 0.2, 0.3};
    double turned[NDT_POSE] = {0.0, 0.0, 0.0, 0.1, 0.2, 0.4}, there[3], other[3];
    ndt_moved(pose, middle, there);
    CHECK_BITS(0.0, ndt_translation_error(pose, middle, there));
    ndt_moved(turned, middle, other);
    for (int a = 0; a < 3; a++) turned[a] = there[a] - other[a] + (a == 1 ? 0.25 : 0.0);
    CHECK_NEAR(0.25, ndt_translation_error(turned, middle, there), 1e-12);
}

// The point that has gone astray is named, not the first one, which lies as far from the middle between the ends.
TEST(ndt_names_the_stray_point)
{
    enum { POINTS = 50, STRAY = 37 };
    const double origin[3] = {0.0, 0.0, 0.0};
    double x[POINTS], y[POINTS];
    NdtKeyedPoint keyed[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = 0.1 * (double)i;
        y[i] = 7.0;
    }
    x[STRAY] = -1e30;
    CHECK_TEXT(
        "point 37 of the cloud (-1e+30, 7, 7) lies 1e+30 m from the middle of the others, more than 1048574 cells "
        "of 2 m; take larger cells, or remove the point",
        ndt_grid(&(Cloud){{x, y, y}, POINTS}, 2.0, origin, keyed).text);
}
