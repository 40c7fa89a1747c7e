// A motion in space as JSON, which io/page/scene.js plays: solids once, and per frame the base's position and the pose
// of every body from there, in 16 bits per number.
#include "trace.h"

#include <math.h>
#include <stdlib.h>

enum {
    SCENE_BYTES = 600000, // of all poses in base64, so that a page stays below 2 MB
    SCENE_NUMBERS = 7,    // of a body: position, quaternion
    SCENE_MOST = 32767
};
#define SCENE_FAR 4.0 // times the figure's size at first: bodies that are further from the base are drawn there

// ---- frames ---------------------------------------------------------------------------------------------------------

static int64_t scene_each(const ReplayTrace *trace)
{
    return trace_rows_per_frame(trace, SCENE_BYTES / (3 * SCENE_NUMBERS * trace_drawing(trace)->n_bodies + 32));
}

// The distance of a body from the base.
static double scene_from_base(const double *pose, int body)
{
    const double *of = pose + (ptrdiff_t)body * POSE_NUMBERS;
    return sqrt((of[0] - pose[0]) * (of[0] - pose[0]) + (of[1] - pose[1]) * (of[1] - pose[1]) +
                (of[2] - pose[2]) * (of[2] - pose[2]));
}

// How far a solid reaches from its body's centre, at most.
static double scene_solid_size(const Solid *solid)
{
    const double *p = solid->p, *size = solid->size;
    const double own = solid->kind == SOLID_BOX    ? sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2])
                       : solid->kind == SOLID_BALL ? fmax(size[0], fmax(size[1], size[2]))
                                                   : size[0] + size[1];
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) + own;
}

// The radius around the base that holds all solids, at row i.
static double scene_radius(const ReplayTrace *trace, int64_t i)
{
    const Drawing *drawing = trace_drawing(trace);
    const double *pose = trace_poses(trace, i);
    double radius = 1e-3;
    for (int s = 0; s < drawing->n_solids; s++) {
        const Solid *solid = &drawing->solids[s];
        const double far = solid->body < 0 ? 0 : scene_from_base(pose, solid->body) + scene_solid_size(solid);
        if (isfinite(far)) radius = fmax(radius, far);
    }
    return radius;
}

// Of all rows, unless bodies fly apart.
static double scene_reach(const ReplayTrace *trace)
{
    double reach = 0;
    for (int64_t i = 0; i < trace->count; i++) reach = fmax(reach, scene_radius(trace, i));
    return fmin(reach, SCENE_FAR * scene_radius(trace, 0));
}

// The mean height of the base over the ground.
static double scene_middle(const ReplayTrace *trace, double reach)
{
    double sum = 0;
    for (int64_t i = 0; i < trace->count; i++) {
        const double *pose = trace_poses(trace, i), height = pose[2] - trace_ground(trace, pose[0]);
        sum += isfinite(height) ? fmax(fmin(height, 2 * reach), -reach) : 0;
    }
    return sum / (double)trace->count;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

// Rounds to about 1e-4 of the figure's size.
static double scene_rounded(double value, double reach)
{
    const double grain = pow(10, floor(log10(reach * 1e-4)));
    return isfinite(value) ? nearbyint(value / grain) * grain : 0;
}

static void scene_number(Json *json, const char *name, double value) // seven digits
{
    char text[32];
    snprintf(text, sizeof text, "%.7g", isfinite(value) ? value : 0);
    json_number(json, name, strtod(text, NULL));
}

static void scene_list(Json *json, const char *name, const double *values, int count)
{
    json_array(json, name);
    for (int k = 0; k < count; k++) scene_number(json, NULL, values[k]);
    json_close(json, ']');
}

// A fraction [-1, 1] of the greatest number.
static unsigned char *scene_pack(double fraction, unsigned char *to)
{
    const double bound = isfinite(fraction) ? fmax(fmin(fraction, 1), -1) : 0;
    const uint16_t bits = (uint16_t)(int16_t)nearbyint(bound * SCENE_MOST);
    *to++ = (unsigned char)(bits & 255);
    *to++ = (unsigned char)(bits >> 8);
    return to;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static void scene_put_solids(const Drawing *drawing, Json *json)
{
    static const char *const kinds[] = {
        [SOLID_BALL] = "ball", [SOLID_CAPSULE] = "capsule", [SOLID_CYLINDER] = "cylinder", [SOLID_BOX] = "box"};
    json_array(json, "solids");
    for (int s = 0; s < drawing->n_solids; s++) {
        const Solid *solid = &drawing->solids[s];
        json_object(json, NULL);
        json_text(json, "name", solid->name);
        json_text(json, "kind", kinds[solid->kind]);
        json_integer(json, "body", solid->body);
        scene_list(json, "p", solid->p, 3);
        scene_list(json, "q", solid->q, 4);
        scene_list(json, "size", solid->size, 3);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void scene_put_base(const ReplayTrace *trace, int64_t each, double reach, Json *json)
{
    json_array(json, "time");
    for (int64_t i = 0; i < trace->count; i += each) scene_number(json, NULL, trace->row[i * trace->n_columns]);
    json_close(json, ']');
    json_array(json, "base");
    for (int64_t i = 0; i < trace->count; i += each) {
        const double *pose = trace_poses(trace, i);
        for (int k = 0; k < 3; k++) scene_number(json, NULL, scene_rounded(pose[k], reach));
    }
    json_close(json, ']');
}

static void scene_put_poses(const ReplayTrace *trace, int64_t each, double reach, Json *json, Arena *arena)
{
    const int n = trace_drawing(trace)->n_bodies;
    const int64_t frames = (trace->count + each - 1) / each;
    const size_t size = (size_t)frames * (size_t)n * SCENE_NUMBERS * 2;
    unsigned char *bytes = ARENA_NEW(arena, unsigned char, size), *to = bytes;
    char *text = ARENA_NEW(arena, char, BASE64_SIZE(size));
    for (int64_t i = 0; i < trace->count; i += each) {
        const double *pose = trace_poses(trace, i);
        for (int b = 0; b < n; b++) {
            const double *of = pose + b * POSE_NUMBERS;
            for (int k = 0; k < 3; k++) to = scene_pack((of[k] - scene_rounded(pose[k], reach)) / reach, to);
            for (int k = 3; k < SCENE_NUMBERS; k++) to = scene_pack(of[k], to);
        }
    }
    base64_put(bytes, size, text);
    json_text(json, "poses", text);
}

void trace_put_scene(const ReplayTrace *trace, Json *json, Arena *arena)
{
    const Drawing *drawing = trace_drawing(trace);
    const double reach = scene_reach(trace);
    const int64_t each = scene_each(trace);
    double low = (double)INFINITY, high = (double)-INFINITY;
    scene_number(json, "reach", reach);
    scene_number(json, "middle", scene_middle(trace, reach));
    json_boolean(json, "fixed", drawing->fixed);
    json_boolean(json, "touches", drawing->ground != NULL);
    scene_put_solids(drawing, json);
    json_array(json, "scale");
    for (int b = 0; b < drawing->n_bodies; b++)
        scene_number(json, NULL, trace_poses(trace, 0)[b * POSE_NUMBERS + POSE_NUMBERS - 1]);
    json_close(json, ']');
    scene_put_base(trace, each, reach, json);
    scene_put_poses(trace, each, reach, json, arena);
    for (int64_t i = 0; i < trace->count; i += each) {
        const double x = trace_poses(trace, i)[0];
        if (!isfinite(x)) continue;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    trace_put_ground(trace, low, fmin(high, low + 1000), 5 * reach, json);
}
