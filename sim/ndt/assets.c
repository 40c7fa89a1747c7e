// Data that all lanes of scan matching share: the true pose, the maps and the source, as consecutive numbers for any
// device (ndt_open, advance.h).
#ifndef HOPSCOTCH_SCALAR
#define HOPSCOTCH_SCALAR
#endif
#include "frame.h"

#include <math.h>
#include <string.h>

enum { NDT_ASSETS_MAX = 1 << 21 }; // doubles: 16 MiB

// Data while it is built, before it is packed.
typedef struct NdtAssets {
    const double *settings;
    const Points *points;
    NdtMapOptions options;
    double truth[NDT_POSE], origin[3];
    Cloud target, source;
    NdtMap maps[NDT_MAPS_MAX];
    int64_t n_maps;
} NdtAssets;

static const Points *ndt_points(const NdtAssets *a, int option)
{
    return a->points != NULL && a->points[option].count > 0 ? &a->points[option] : NULL;
}

// ---- the true pose --------------------------------------------------------------------------------------------------

// The pose of a matrix [R t] by rows, with or without a last row 0 0 0 1: R = Rx(roll) Ry(pitch) Rz(yaw).
static Error ndt_pose_of_matrix(const Points *matrix, double *pose)
{
    const double *m = matrix->numbers;
    if (matrix->count != 12 && matrix->count != 16)
        return error_make(ERROR_USER, "truth.file holds %lld numbers; a pose is a matrix of 12 or 16",
                          (long long)matrix->count);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double *a = m + 4 * i, *b = m + 4 * j, product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            if (!(fabs(product - (i == j ? 1.0 : 0.0)) < 1e-3))
                return error_make(ERROR_USER,
                                  "truth.file: rows %d and %d are not of a rotation matrix: their "
                                  "product is %g",
                                  i + 1, j + 1, product);
        }
        pose[i] = m[4 * i + 3];
    }
    const double sine = m[2] > 1.0 ? 1.0 : m[2] < -1.0 ? -1.0 : m[2];
    pose[3] = portable_atan2(-m[6], m[10]);
    pose[4] = portable_asin(sine);
    pose[5] = portable_atan2(-m[1], m[0]);
    return error_none();
}

static Error ndt_take_truth(NdtAssets *a)
{
    const Points *file = ndt_points(a, NDT_OPTION_TRUTH_FILE);
    memcpy(a->truth, a->settings + NDT_OPTION_TRUTH, sizeof a->truth);
    return file != NULL ? ndt_pose_of_matrix(file, a->truth) : error_none();
}

// ---- clouds ---------------------------------------------------------------------------------------------------------

static NdtSceneOptions ndt_scene_options(const NdtAssets *a)
{
    const double *settings = a->settings;
    NdtSceneOptions options = {.scene = (NdtScene)settings[NDT_OPTION_SCENE],
                               .seed = (uint64_t)settings[NDT_OPTION_SEED],
                               .spacing = settings[NDT_OPTION_SPACING],
                               .source_spacing = settings[NDT_OPTION_SOURCE_SPACING],
                               .range = settings[NDT_OPTION_RANGE],
                               .noise = settings[NDT_OPTION_NOISE]};
    memcpy(options.truth, a->truth, sizeof options.truth);
    return options;
}

static Cloud ndt_cloud_of(const Points *file)
{
    return (Cloud){{file->cloud, file->cloud + file->count, file->cloud + 2 * file->count}, file->count};
}

static Error ndt_check_cloud(const Cloud *cloud, const char *name)
{
    for (int64_t i = 0; i < cloud->count; i++) {
        for (int a = 0; a < 3; a++) {
            if (!(fabs(cloud->at[a][i]) <= 1e8))
                return error_make(ERROR_USER, "point %lld of the %s (%g, %g, %g) is more than 1e8 m away", (long long)i,
                                  name, cloud->at[0][i], cloud->at[1][i], cloud->at[2][i]);
        }
    }
    return error_none();
}

static void ndt_mean(const Cloud *cloud, double *mean)
{
    for (int a = 0; a < 3; a++) {
        double sum = 0.0;
        for (int64_t i = 0; i < cloud->count; i++) sum += cloud->at[a][i];
        mean[a] = sum / (double)cloud->count;
    }
}

static Cloud ndt_shifted(const Cloud *cloud, const double *origin, Arena *arena)
{
    Cloud out = {.count = cloud->count};
    for (int a = 0; a < 3; a++) {
        double *at = ARENA_NEW(arena, double, cloud->count);
        for (int64_t i = 0; i < cloud->count; i++) at[i] = cloud->at[a][i] - origin[a];
        out.at[a] = at;
    }
    return out;
}

// Shifts both clouds, if the source is far from the origin of its coordinates, by a whole number of metres. The true
// pose of a file is one of these coordinates: T(x + o) - o = R x + t + R o - o.
static void ndt_shift(NdtAssets *a, Cloud *source, Cloud *target, Arena *arena)
{
    double turned[3], mean[3];
    ndt_mean(source, mean);
    if (mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2] <= NDT_FAR * NDT_FAR) return;
    for (int k = 0; k < 3; k++) a->origin[k] = floor(mean[k] + 0.5);
    *source = ndt_shifted(source, a->origin, arena);
    *target = ndt_shifted(target, a->origin, arena);
    if (ndt_points(a, NDT_OPTION_TRUTH_FILE) == NULL) return;
    ndt_moved(a->truth, a->origin, turned);
    for (int k = 0; k < 3; k++) a->truth[k] = turned[k] - a->origin[k];
}

static Error ndt_take_clouds(NdtAssets *a, Arena *scratch)
{
    const Points *target = ndt_points(a, NDT_OPTION_TARGET), *source = ndt_points(a, NDT_OPTION_SOURCE);
    if (target == NULL || source == NULL) {
        const NdtSceneOptions scene = ndt_scene_options(a);
        return ndt_scene(&scene, scratch, &a->target, &a->source);
    }
    Cloud moved = ndt_cloud_of(source), onto = ndt_cloud_of(target);
    TRY(ndt_check_cloud(&moved, "source"));
    TRY(ndt_check_cloud(&onto, "target"));
    ndt_shift(a, &moved, &onto, scratch);
    TRY(ndt_thin(&onto, a->settings[NDT_OPTION_TARGET_VOXEL], scratch, &a->target));
    return ndt_thin(&moved, a->settings[NDT_OPTION_SOURCE_VOXEL], scratch, &a->source);
}

// Most bytes of scratch memory for the clouds, and their points.
static size_t ndt_clouds_bytes(const NdtAssets *a, int64_t *points)
{
    const Points *target = ndt_points(a, NDT_OPTION_TARGET), *source = ndt_points(a, NDT_OPTION_SOURCE);
    const NdtSceneOptions scene = ndt_scene_options(a);
    const size_t bytes = target != NULL && source != NULL ? (size_t)(target->count + source->count) * 24 + 4096
                                                          : ndt_scene_bytes(&scene);
    *points = (int64_t)(bytes / 24);
    return bytes;
}

// ---- packing --------------------------------------------------------------------------------------------------------

static int64_t ndt_map_size(const NdtMap *map, bool single)
{
    return ndt_packed(map->n_cells * NDT_CELL_STRIDE, single) + map->table_size * NDT_TABLE_NUMBERS +
           ndt_packed(map->n_candidates * NDT_CANDIDATE, single);
}

static void ndt_put_numbers(double *to, NdtNumbers numbers, int64_t count)
{
    if (numbers.single != NULL)
        memcpy(to, numbers.single, (size_t)count * sizeof *numbers.single);
    else
        memcpy(to, numbers.whole, (size_t)count * sizeof *numbers.whole);
}

// Writes the map's arrays from assets[first] on, and its numbers. Returns the end.
static int64_t ndt_put_map(const NdtMap *map, bool single, int64_t first, int64_t number, double *assets)
{
    NdtMapAt at = {.resolution = map->resolution,
                   .reach2 = map->reach2,
                   .n_cells = map->n_cells,
                   .table_size = map->table_size,
                   .n_candidates = map->n_candidates,
                   .cells = first};
    memcpy(at.origin, map->origin, sizeof at.origin);
    at.table = at.cells + ndt_packed(map->n_cells * NDT_CELL_STRIDE, single);
    at.candidates = at.table + map->table_size * NDT_TABLE_NUMBERS;
    ndt_put_numbers(assets + at.cells, map->cells, map->n_cells * NDT_CELL_STRIDE);
    memcpy(assets + at.table, map->table, (size_t)(map->table_size * NDT_TABLE_NUMBERS) * sizeof *map->table);
    ndt_put_numbers(assets + at.candidates, map->candidates, map->n_candidates * NDT_CANDIDATE);
    memcpy(assets + number * NDT_MAP_AT, &at, sizeof at);
    return at.candidates + ndt_packed(map->n_candidates * NDT_CANDIDATE, single);
}

static Error ndt_pack(const NdtAssets *a, Arena *scratch, Arena *arena, Configured *out)
{
    const bool single = a->options.precision == NDT_SINGLE;
    const int64_t source = ndt_packed(a->source.count, single);
    int64_t total = ndt_packed(a->n_maps * NDT_MAP_AT, false) + 3 * source, at = total;
    for (int64_t m = 0; m < a->n_maps; m++) total += ndt_map_size(&a->maps[m], single);
    if (total > NDT_ASSETS_MAX)
        return error_make(ERROR_USER,
                          "the maps and the source take %lld MiB, more than %d; take a greater resolution or "
                          "thin the source",
                          (long long)(total >> 17), NDT_ASSETS_MAX >> 17);
    double *assets = ARENA_NEW(arena, double, total);
    for (int k = 0; k < 3; k++) {
        const NdtNumbers numbers = ndt_numbers(a->source.at[k], a->source.count, a->options.precision, scratch);
        ndt_put_numbers(assets + ndt_packed(a->n_maps * NDT_MAP_AT, false) + k * source, numbers, a->source.count);
    }
    for (int64_t m = 0; m < a->n_maps; m++) at = ndt_put_map(&a->maps[m], single, at, m, assets);
    out->assets = assets;
    out->n_assets = total;
    return error_none();
}

static void ndt_set_constants(const NdtAssets *a, Configured *out)
{
    const double *settings = a->settings;
    NdtConstants c = {.near_enough = settings[NDT_OPTION_NEAR],
                      .turned_enough = settings[NDT_OPTION_TURNED],
                      .n_maps = a->n_maps,
                      .n_source = a->source.count,
                      .max_iterations = (int32_t)settings[NDT_OPTION_ITERATIONS],
                      .solver = (int32_t)settings[NDT_OPTION_SOLVER],
                      .line_search = (int32_t)settings[NDT_OPTION_LINE_SEARCH],
                      .precision = (int32_t)a->options.precision};
    memcpy(c.truth, a->truth, sizeof c.truth);
    memcpy(c.origin, a->origin, sizeof c.origin);
    ndt_mean(&a->source, c.middle);
    ndt_moved(c.truth, c.middle, c.true_middle);
    ndt_number_own(settings, a->points, c.own);
    memcpy(&out->constants, &c, sizeof c);
    out->n_team = ndt_team_doubles(a->source.count);
    out->team_thread_blocks = (int)((a->source.count + NDT_CHUNK - 1) / NDT_CHUNK);
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error ndt_build_maps(NdtAssets *a, Arena *scratch, Configured *out)
{
    const Points *listed = ndt_points(a, NDT_OPTION_MAPS);
    a->n_maps = listed != NULL ? listed->count : 1;
    out->wrong_option = 1 + (listed != NULL ? NDT_OPTION_MAPS : NDT_OPTION_RESOLUTION);
    if (a->n_maps > NDT_MAPS_MAX)
        return error_make(ERROR_USER, "maps has %lld numbers, at most %d are allowed", (long long)a->n_maps,
                          NDT_MAPS_MAX);
    for (int64_t m = 0; m < a->n_maps; m++) {
        NdtMapOptions options = a->options;
        NdtMapCounts counts;
        if (listed != NULL) options.resolution = listed->numbers[m];
        TRY(ndt_map_build(&a->target, &options, scratch, &a->maps[m], &counts));
    }
    out->wrong_option = 0;
    return error_none();
}

static Error ndt_build_all(NdtAssets *a, Arena *scratch, Arena *arena, Configured *out)
{
    TRY(ndt_take_clouds(a, scratch));
    TRY(ndt_build_maps(a, scratch, out));
    ndt_set_constants(a, out);
    return ndt_pack(a, scratch, arena, out);
}

Error ndt_build_assets(const double *settings, const Points *points, Arena *arena, Configured *configured)
{
    NdtAssets a = {.settings = settings,
                   .points = points,
                   .options = {.resolution = settings[NDT_OPTION_RESOLUTION],
                               .neighbours = (NdtNeighbours)settings[NDT_OPTION_NEIGHBOURS],
                               .covariance = (NdtCovariance)settings[NDT_OPTION_COVARIANCE],
                               .precision = (NdtPrecision)settings[NDT_OPTION_PRECISION]}};
    const Points *listed = ndt_points(&a, NDT_OPTION_MAPS);
    int64_t n_points;
    Arena scratch;
    configured->wrong_option = NDT_OPTION_TRUTH_FILE + 1;
    TRY(ndt_take_truth(&a));
    configured->wrong_option = 0;
    const size_t clouds = ndt_clouds_bytes(&a, &n_points);
    const int64_t wanted = listed != NULL ? listed->count : 1, maps = wanted < NDT_MAPS_MAX ? wanted : NDT_MAPS_MAX;
    TRY(arena_create(&scratch, 3 * clouds + (size_t)maps * ndt_map_bytes(n_points) + 65536, "clouds and their maps"));
    const Error error = ndt_build_all(&a, &scratch, arena, configured);
    arena_destroy(&scratch);
    return error;
}

int ndt_explain(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks)
{
    NdtConstants c;
    (void)point, (void)count;
    memcpy(&c, &configured->constants, sizeof c);
    if (c.origin[0] == 0.0 && c.origin[1] == 0.0 && c.origin[2] == 0.0) return 0;
    remarks[0] =
        (Remark){.name = "origin",
                 .text = arena_format(arena,
                                      "both clouds are shifted by (%.0f, %.0f, %.0f), which lies in the middle "
                                      "of the source: poses turn it about that point",
                                      0.0 - c.origin[0], 0.0 - c.origin[1], 0.0 - c.origin[2])};
    return 1;
}
