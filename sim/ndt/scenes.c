// Scenes with a known pose: flat patches and walls of cylinders. They are sampled once as the target and once, with
// other random numbers, as the view of a sensor at the true pose.
#ifndef HOPSCOTCH_SCALAR
#define HOPSCOTCH_SCALAR
#endif
#include "frame.h"

#include <math.h>

enum { NDT_PATCHES_MAX = 128 };

// origin + a u + b v, a and b in [0, 1]. With a radius: the wall of an upright or lying cylinder, origin + radius
// (cos(angle) e + sin(angle) w) + b v, angle = first + a sweep.
typedef struct NdtPatch {
    double origin[3], u[3], v[3];
    double radius, first, sweep; // m, rad
    bool lying;                  // the axis is x, not z
} NdtPatch;

typedef struct NdtPlan {
    NdtPatch patch[NDT_PATCHES_MAX];
    int count;
} NdtPlan;

// ---- shapes ---------------------------------------------------------------------------------------------------------

static void ndt_add_flat(NdtPlan *plan, double x, double y, double z, const double *u, const double *v)
{
    if (plan->count == NDT_PATCHES_MAX) return;
    plan->patch[plan->count++] = (NdtPatch){.origin = {x, y, z}, .u = {u[0], u[1], u[2]}, .v = {v[0], v[1], v[2]}};
}

// The four walls of a house.
static void ndt_add_box(NdtPlan *plan, double x, double y, double length, double depth, double height)
{
    const double along[3] = {length, 0.0, 0.0}, across[3] = {0.0, depth, 0.0}, up[3] = {0.0, 0.0, height};
    ndt_add_flat(plan, x, y, 0.0, along, up);
    ndt_add_flat(plan, x, y + depth, 0.0, along, up);
    ndt_add_flat(plan, x, y, 0.0, across, up);
    ndt_add_flat(plan, x + length, y, 0.0, across, up);
}

static void ndt_add_post(NdtPlan *plan, double x, double y, double radius, double height)
{
    if (plan->count == NDT_PATCHES_MAX) return;
    plan->patch[plan->count++] =
        (NdtPatch){.origin = {x, y, 0.0}, .v = {0.0, 0.0, height}, .radius = radius, .sweep = 6.283185307179586};
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// The planes have a small distance from the boundaries of the usual cells.
static void ndt_plan_half_cube(const RandomKey *key, NdtPlan *plan)
{
    (void)key;
    const double x[3] = {20.0, 0.0, 0.0}, y[3] = {0.0, 20.0, 0.0}, z[3] = {0.0, 0.0, 20.0}, corner = -9.7;
    ndt_add_flat(plan, corner, corner, corner, x, y);
    ndt_add_flat(plan, corner, corner, corner, y, z);
    ndt_add_flat(plan, corner, corner, corner, z, x);
}

// Houses on both sides, with gaps between them, and posts on the kerbs.
static void ndt_plan_street(const RandomKey *key, NdtPlan *plan)
{
    const double along[3] = {60.0, 0.0, 0.0}, across[3] = {0.0, 22.0, 0.0};
    uint32_t drawn = 0;
    ndt_add_flat(plan, -30.0, -11.0, 0.3, along, across);
    for (int side = 0; side < 2; side++) {
        double x = -30.0;
        while (x < 26.0) {
            const double length = 4.0 + 8.0 * random_uniform(key, drawn),
                         gap = 1.0 + 3.0 * random_uniform(key, drawn + 1);
            const double back = 7.0 + 2.0 * random_uniform(key, drawn + 2);
            const double height = 4.0 + 6.0 * random_uniform(key, drawn + 3);
            const double depth = 3.0, end = x + length > 30.0 ? 30.0 : x + length;
            ndt_add_box(plan, x, side == 0 ? back : -back - depth, end - x, depth, height);
            x = end + gap;
            drawn += 4;
        }
        for (int k = 0; k < 5; k++, drawn += 2) {
            const double post = -25.0 + 11.0 * k + 6.0 * random_uniform(key, drawn);
            ndt_add_post(plan, post, side == 0 ? 5.5 : -5.5, 0.15 + 0.25 * random_uniform(key, drawn + 1), 5.0);
        }
    }
}

static void ndt_plan_tunnel(const RandomKey *key, NdtPlan *plan)
{
    (void)key;
    const double along[3] = {60.0, 0.0, 0.0}, across[3] = {0.0, 8.0, 0.0};
    ndt_add_flat(plan, -30.0, -4.0, -1.3, along, across);
    plan->patch[plan->count++] = (NdtPatch){
        .origin = {-30.0, 0.0, -1.3}, .v = {60.0, 0.0, 0.0}, .radius = 4.0, .sweep = 3.141592653589793, .lying = true};
}

static void ndt_plan(const NdtSceneOptions *options, NdtPlan *plan)
{
    static void (*const plans[])(const RandomKey *, NdtPlan *) = {ndt_plan_half_cube, ndt_plan_street, ndt_plan_tunnel};
    const RandomKey key = {.seed = options->seed, .purpose = RANDOM_INSTANCE};
    plan->count = 0;
    plans[options->scene](&key, plan);
}

// ---- sampling -------------------------------------------------------------------------------------------------------

static double ndt_length(const double *a) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

// Rows and columns of a patch's points.
static void ndt_patch_size(const NdtPatch *p, double spacing, int64_t *rows, int64_t *columns)
{
    const double wide = p->radius > 0.0 ? p->radius * p->sweep : ndt_length(p->u);
    *columns = 1 + (int64_t)(wide / spacing);
    *rows = 1 + (int64_t)(ndt_length(p->v) / spacing);
}

static int64_t ndt_plan_points(const NdtPlan *plan, double spacing)
{
    int64_t points = 0;
    for (int k = 0; k < plan->count; k++) {
        int64_t rows, columns;
        ndt_patch_size(&plan->patch[k], spacing, &rows, &columns);
        points += rows * columns;
    }
    return points;
}

static void ndt_patch_point(const NdtPatch *p, double a, double b, double *out)
{
    const double angle = p->first + a * p->sweep;
    const double c = p->radius > 0.0 ? p->radius * portable_cos(angle) : 0.0;
    const double s = p->radius > 0.0 ? p->radius * portable_sin(angle) : 0.0;
    const double upright[3] = {c, s, 0.0}, lying[3] = {0.0, c, s};
    for (int k = 0; k < 3; k++)
        out[k] = p->origin[k] + b * p->v[k] + (p->radius > 0.0 ? (p->lying ? lying[k] : upright[k]) : a * p->u[k]);
}

// A cloud while it is filled with points in the world.
typedef struct NdtSampling {
    const NdtSceneOptions *options;
    double spacing;
    RandomKey key;
    double *at[3];
    int64_t count;
    bool seen;          // as seen from the true pose: in its frame, and within the range
    NdtMatrix rotation; // of the true pose
} NdtSampling;

static void ndt_add_point(NdtSampling *s, const double *world)
{
    const double *truth = s->options->truth, range = s->options->range;
    double from[3], x[3];
    for (int a = 0; a < 3; a++) from[a] = world[a] - truth[a];
    for (int a = 0; a < 3; a++) { // R' (world - t)
        x[a] = s->rotation.at[0][a] * from[0] + s->rotation.at[1][a] * from[1] + s->rotation.at[2][a] * from[2];
    }
    if (s->seen && from[0] * from[0] + from[1] * from[1] + from[2] * from[2] > range * range) return;
    for (int a = 0; a < 3; a++) s->at[a][s->count] = s->seen ? x[a] : world[a];
    s->count++;
}

// One random point in each field of the patch's grid, with noise.
static void ndt_sample_patch(NdtSampling *s, const NdtPatch *p)
{
    int64_t rows, columns;
    ndt_patch_size(p, s->spacing, &rows, &columns);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++, s->key.ordinal++) {
            const double a = ((double)j + random_uniform(&s->key, 0)) / (double)columns;
            const double b = ((double)i + random_uniform(&s->key, 1)) / (double)rows;
            double world[3];
            ndt_patch_point(p, a, b, world);
            for (int k = 0; k < 3 && s->options->noise > 0.0; k++)
                world[k] += s->options->noise * random_normal(&s->key, 2 + (uint32_t)k);
            ndt_add_point(s, world);
        }
    }
}

static Cloud ndt_sample(const NdtSceneOptions *options, const NdtPlan *plan, bool seen, Arena *arena)
{
    NdtSampling s = {.options = options,
                     .spacing = seen ? options->source_spacing : options->spacing,
                     .key = {.seed = options->seed, .replicate = seen ? 2 : 1, .purpose = RANDOM_INSTANCE},
                     .seen = seen,
                     .rotation = ndt_rotation(options->truth)};
    const int64_t points = ndt_plan_points(plan, s.spacing);
    for (int a = 0; a < 3; a++) s.at[a] = ARENA_NEW(arena, double, points);
    for (int k = 0; k < plan->count; k++) ndt_sample_patch(&s, &plan->patch[k]);
    return (Cloud){{s.at[0], s.at[1], s.at[2]}, s.count};
}

size_t ndt_scene_bytes(const NdtSceneOptions *options)
{
    NdtPlan plan;
    ndt_plan(options, &plan);
    const int64_t points = ndt_plan_points(&plan, options->spacing) + ndt_plan_points(&plan, options->source_spacing);
    return (size_t)points * 3 * sizeof(double) + 4096;
}

Error ndt_scene(const NdtSceneOptions *options, Arena *arena, Cloud *target, Cloud *source)
{
    NdtPlan plan;
    ndt_plan(options, &plan);
    const int64_t points = ndt_plan_points(&plan, options->spacing) + ndt_plan_points(&plan, options->source_spacing);
    if (points > NDT_SCENE_POINTS_MAX)
        return error_make(ERROR_USER, "the scene would have %lld points, more than %d; take a larger spacing",
                          (long long)points, NDT_SCENE_POINTS_MAX);
    *target = ndt_sample(options, &plan, false, arena);
    *source = ndt_sample(options, &plan, true, arena);
    if (source->count == 0)
        return error_make(ERROR_USER, "nothing of the scene lies within %g m of the true pose", options->range);
    return error_none();
}
