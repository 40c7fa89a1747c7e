// Where the bodies of a trace are, and their shapes, as the messages foxglove.FrameTransforms and foxglove.SceneUpdate
// (docs.foxglove.dev/docs/visualization/message-schemas). The frame of a body is that of its file. Solids of a figure
// in space are sent once, on the frames of their bodies; a figure in the plane as often as an animation shows it.
#include "trace_mcap.h"

#include <math.h>
#include <string.h>

enum { SCENE_SHAPES = 100000 }; // of figures in the plane, about: some 30 MB

// ---- schemas: the fields that are sent ------------------------------------------------------------------------------

static const MessageField fields_time[] = {
    {.name = "sec", .type = "integer"}, {.name = "nsec", .type = "integer"}, {0}};
static const MessageField fields_vector[] = {
    {.name = "x", .type = "number"}, {.name = "y", .type = "number"}, {.name = "z", .type = "number"}, {0}};
static const MessageField fields_quaternion[] = {{.name = "x", .type = "number"},
                                                 {.name = "y", .type = "number"},
                                                 {.name = "z", .type = "number"},
                                                 {.name = "w", .type = "number"},
                                                 {0}};
static const MessageField fields_colour[] = {{.name = "r", .type = "number"},
                                             {.name = "g", .type = "number"},
                                             {.name = "b", .type = "number"},
                                             {.name = "a", .type = "number"},
                                             {0}};
static const MessageField fields_pose[] = {{.name = "position", .type = "object", .fields = fields_vector},
                                           {.name = "orientation", .type = "object", .fields = fields_quaternion},
                                           {0}};
static const MessageField fields_transform[] = {
    {.name = "timestamp", .type = "object", .fields = fields_time},
    {.name = "parent_frame_id", .type = "string"},
    {.name = "child_frame_id", .type = "string"},
    {.name = "translation", .type = "object", .doc = "m", .fields = fields_vector},
    {.name = "rotation", .type = "object", .fields = fields_quaternion},
    {0}};
static const MessageField fields_transforms[] = {{.name = "transforms", .type = "array", .fields = fields_transform},
                                                 {0}};
static const MessageField fields_solid[] = {{.name = "pose", .type = "object", .fields = fields_pose},
                                            {.name = "size", .type = "object", .doc = "m", .fields = fields_vector},
                                            {.name = "color", .type = "object", .fields = fields_colour},
                                            {0}};
static const MessageField fields_cylinder[] = {{.name = "pose", .type = "object", .fields = fields_pose},
                                               {.name = "size", .type = "object", .doc = "m", .fields = fields_vector},
                                               {.name = "bottom_scale", .type = "number"},
                                               {.name = "top_scale", .type = "number"},
                                               {.name = "color", .type = "object", .fields = fields_colour},
                                               {0}};
static const MessageField fields_line[] = {{.name = "type", .type = "integer", .doc = "0: a strip"},
                                           {.name = "pose", .type = "object", .fields = fields_pose},
                                           {.name = "thickness", .type = "number", .doc = "m"},
                                           {.name = "scale_invariant", .type = "boolean"},
                                           {.name = "points", .type = "array", .fields = fields_vector},
                                           {.name = "color", .type = "object", .fields = fields_colour},
                                           {0}};
static const MessageField fields_entity[] = {{.name = "timestamp", .type = "object", .fields = fields_time},
                                             {.name = "frame_id", .type = "string"},
                                             {.name = "id", .type = "string"},
                                             {.name = "lifetime", .type = "object", .fields = fields_time},
                                             {.name = "frame_locked", .type = "boolean"},
                                             {.name = "cubes", .type = "array", .fields = fields_solid},
                                             {.name = "spheres", .type = "array", .fields = fields_solid},
                                             {.name = "cylinders", .type = "array", .fields = fields_cylinder},
                                             {.name = "lines", .type = "array", .fields = fields_line},
                                             {0}};
static const MessageField fields_scene[] = {{.name = "entities", .type = "array", .fields = fields_entity}, {0}};

// ---- parts of messages ----------------------------------------------------------------------------------------------

static const double scene_straight[4] = {0, 0, 0, 1};

static void scene_put_time(Json *json, const char *name, uint64_t time)
{
    json_object(json, name);
    json_integer(json, "sec", (int64_t)(time / 1000000000));
    json_integer(json, "nsec", (int64_t)(time % 1000000000));
    json_close(json, '}');
}

// x, y, z; of a quaternion also w.
static void scene_put_numbers(Json *json, const char *name, const double *value, int count)
{
    static const char *const names[] = {"x", "y", "z", "w"};
    json_object(json, name);
    for (int k = 0; k < count; k++) trace_put_value(json, names[k], value[k]);
    json_close(json, '}');
}

static void scene_put_pose(Json *json, const double *p, const double *q)
{
    json_object(json, "pose");
    scene_put_numbers(json, "position", p, 3);
    scene_put_numbers(json, "orientation", q, 4);
    json_close(json, '}');
}

static void scene_put_colour(Json *json, const char *name)
{
    static const struct {
        const char *name;
        double r, g, b;
    } colours[] = {
        {"body", 0.36, 0.49, 0.62}, {"foot", 0.85, 0.28, 0.06}, {"ground", 0.6, 0.6, 0.6}, {"", 0.62, 0.68, 0.74}};
    int k = 0;
    while (colours[k].name[0] != '\0' && strcmp(colours[k].name, name) != 0) k++;
    json_object(json, "color");
    json_number(json, "r", colours[k].r);
    json_number(json, "g", colours[k].g);
    json_number(json, "b", colours[k].b);
    json_number(json, "a", 1);
    json_close(json, '}');
}

static void scene_open_entity(Json *json, uint64_t time, const char *frame, const char *id)
{
    json_object(json, NULL);
    scene_put_time(json, "timestamp", time);
    json_text(json, "frame_id", frame);
    json_text(json, "id", id);
    scene_put_time(json, "lifetime", 0); // until it is replaced
    json_boolean(json, "frame_locked", true);
}

// A strip of lines through point[count][3].
static void scene_put_line(Json *json, double (*point)[3], int count, double thickness, const char *colour)
{
    static const double origin[3] = {0, 0, 0};
    json_object(json, NULL);
    json_integer(json, "type", 0);
    scene_put_pose(json, origin, scene_straight);
    json_number(json, "thickness", thickness);
    json_boolean(json, "scale_invariant", false);
    json_array(json, "points");
    for (int k = 0; k < count; k++)
        if (isfinite(point[k][0] + point[k][1] + point[k][2])) scene_put_numbers(json, NULL, point[k], 3);
    json_close(json, ']');
    scene_put_colour(json, colour);
    json_close(json, '}');
}

// ---- solids ---------------------------------------------------------------------------------------------------------

// p += q turns v
static void scene_move(double *p, const double *q, const double *v)
{
    const double x = 2 * (q[1] * v[2] - q[2] * v[1]), y = 2 * (q[2] * v[0] - q[0] * v[2]);
    const double z = 2 * (q[0] * v[1] - q[1] * v[0]);
    p[0] += v[0] + q[3] * x + q[1] * z - q[2] * y;
    p[1] += v[1] + q[3] * y + q[2] * x - q[0] * z;
    p[2] += v[2] + q[3] * z + q[0] * y - q[1] * x;
}

// A solid in the frame of its body. ends: the balls at the ends of a capsule.
typedef struct SceneSolid {
    const Solid *solid;
    double p[3], size[3]; // m; size: whole
    double ends[2][3];
} SceneSolid;

// scale: the body's factor of lengths. It does not change the radius of balls and capsules.
static SceneSolid scene_solid(const Solid *solid, const double *origin, double scale)
{
    const double *half = solid->size;
    SceneSolid to = {.solid = solid};
    for (int k = 0; k < 3; k++) to.p[k] = scale * (solid->p[k] - origin[k]);
    for (int k = 0; k < 3; k++) {
        switch (solid->kind) {
        case SOLID_BALL: to.size[k] = 2 * half[k]; break;
        case SOLID_BOX: to.size[k] = 2 * scale * half[k]; break;
        case SOLID_CAPSULE: to.size[k] = k < 2 ? 2 * half[0] : 2 * scale * half[1]; break;
        case SOLID_CYLINDER: to.size[k] = 2 * scale * (k < 2 ? half[0] : half[1]); break;
        case SOLID_KINDS: break;
        }
    }
    for (int end = 0; end < 2; end++) {
        const double along[3] = {0, 0, (end - 0.5) * to.size[2]};
        memcpy(to.ends[end], to.p, sizeof to.p);
        scene_move(to.ends[end], solid->q, along);
    }
    return to;
}

static void scene_put_solid(Json *json, const SceneSolid *solid, const double *p, const double *size, bool cylinder)
{
    json_object(json, NULL);
    scene_put_pose(json, p, solid->solid->q);
    scene_put_numbers(json, "size", size, 3);
    if (cylinder) json_number(json, "bottom_scale", 1);
    if (cylinder) json_number(json, "top_scale", 1);
    scene_put_colour(json, solid->solid->name);
    json_close(json, '}');
}

// Foxglove has no capsule: it is a cylinder and two balls.
static void scene_put_primitive(Json *json, const SceneSolid *solid, const char *list)
{
    const SolidKind kind = solid->solid->kind;
    const bool capsule = kind == SOLID_CAPSULE, spheres = strcmp(list, "spheres") == 0;
    if (strcmp(list, "cubes") == 0 && kind == SOLID_BOX) scene_put_solid(json, solid, solid->p, solid->size, false);
    if (spheres && kind == SOLID_BALL) scene_put_solid(json, solid, solid->p, solid->size, false);
    for (int end = 0; spheres && capsule && end < 2; end++) {
        const double round[3] = {solid->size[0], solid->size[0], solid->size[0]};
        scene_put_solid(json, solid, solid->ends[end], round, false);
    }
    if (strcmp(list, "cylinders") == 0 && (capsule || kind == SOLID_CYLINDER))
        scene_put_solid(json, solid, solid->p, solid->size, true);
}

// All solids of a body; -1: of the world.
static void scene_put_body(TraceLog *log, const TraceScene *scene, int body, const double *pose, Json *json)
{
    static const char *const lists[] = {"cubes", "spheres", "cylinders"};
    static const double origin[3] = {0, 0, 0};
    const Drawing *drawing = scene->drawing;
    const char *name = body >= 0 ? drawing->bodies[body].name : scene->world;
    scene_open_entity(json, trace_nanoseconds(log->trace, 0), name, name);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        json_array(json, lists[k]);
        for (int s = 0; s < drawing->n_solids; s++) {
            if (drawing->solids[s].body != body) continue;
            const SceneSolid solid = scene_solid(&drawing->solids[s], body >= 0 ? drawing->bodies[body].origin : origin,
                                                 body >= 0 ? pose[body * POSE_NUMBERS + POSE_NUMBERS - 1] : 1.0);
            scene_put_primitive(json, &solid, lists[k]);
        }
        json_close(json, ']');
    }
    json_array(json, "lines");
    json_close(json, ']');
    json_close(json, '}');
}

// ---- the ground -----------------------------------------------------------------------------------------------------

#define SCENE_MARGIN 2.0 // m: of ground before and behind the motion

// Its profile along the motion.
static void scene_put_ground(TraceLog *log, const TraceScene *scene, Json *json)
{
    enum { POINTS = 401 };
    const ReplayTrace *trace = log->trace;
    const Drawing *drawing = scene->drawing;
    double point[POINTS][3], low = (double)INFINITY, high = (double)-INFINITY;
    for (int64_t i = 0; i < trace->count; i++) {
        const double x = drawing->n_bodies > 0 ? trace_poses(trace, i)[0] : trace_points(trace, i)[2 * drawing->focus];
        if (!isfinite(x)) continue;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    if (low > high) low = high = 0;
    low -= SCENE_MARGIN;
    high += SCENE_MARGIN;
    for (int k = 0; k < POINTS; k++) {
        point[k][0] = low + (high - low) * k / (POINTS - 1);
        point[k][1] = 0;
        point[k][2] = trace_ground(trace, point[k][0]);
    }
    scene_open_entity(json, trace_nanoseconds(trace, 0), scene->world, "ground of the motion");
    json_array(json, "lines");
    scene_put_line(json, point, POINTS, 0.01, "ground");
    json_close(json, ']');
    json_close(json, '}');
}

// ---- figures in the plane -------------------------------------------------------------------------------------------

// The plane's horizontal axis is x, its upward axis z.
static void scene_put_figure(TraceLog *log, const TraceScene *scene, int64_t i, Json *json)
{
    const Drawing *drawing = scene->drawing;
    const double *point = trace_points(log->trace, i);
    scene_open_entity(json, trace_nanoseconds(log->trace, i), scene->world, "figure");
    json_array(json, "spheres");
    for (int s = 0; s < drawing->n_shapes; s++) {
        const Shape *shape = &drawing->shapes[s];
        const double at[3] = {point[2 * shape->from], 0, point[2 * shape->from + 1]};
        const double size[3] = {shape->width, shape->width, shape->width};
        if (shape->kind != SHAPE_DISC || !isfinite(at[0] + at[2])) continue;
        json_object(json, NULL);
        scene_put_pose(json, at, scene_straight);
        scene_put_numbers(json, "size", size, 3);
        scene_put_colour(json, shape->name);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_array(json, "lines");
    for (int s = 0; s < drawing->n_shapes; s++) {
        const Shape *shape = &drawing->shapes[s];
        const double *from = point + 2 * shape->from, *to = point + 2 * shape->to;
        double ends[2][3] = {{from[0], 0, from[1]}, {to[0], 0, to[1]}};
        if (shape->kind != SHAPE_DISC) scene_put_line(json, ends, 2, shape->width, shape->name);
    }
    json_close(json, ']');
    json_close(json, '}');
}

// ---- messages -------------------------------------------------------------------------------------------------------

static Error scene_put_shapes(TraceLog *log, const TraceScene *scene, int64_t i)
{
    const Drawing *drawing = scene->drawing;
    const bool solids = drawing->n_solids > 0;
    if (solids ? i > 0 : i % scene->each != 0) return error_none();
    const double *pose = solids ? trace_poses(log->trace, i) : NULL;
    Json json;
    json_start(&json, mcap_message(log->writer, scene->figures, trace_nanoseconds(log->trace, i)), false);
    json_object(&json, NULL);
    json_array(&json, "entities");
    for (int b = -1; solids && b < drawing->n_bodies; b++) scene_put_body(log, scene, b, pose, &json);
    if (!solids) scene_put_figure(log, scene, i, &json);
    if (i == 0 && drawing->ground != NULL) scene_put_ground(log, scene, &json);
    json_close(&json, ']');
    json_close(&json, '}');
    return mcap_put(log->writer);
}

static Error scene_put_frames(TraceLog *log, const TraceScene *scene, int64_t i)
{
    const double *pose = trace_poses(log->trace, i);
    const uint64_t time = trace_nanoseconds(log->trace, i);
    Json json;
    json_start(&json, mcap_message(log->writer, scene->frames, time), false);
    json_object(&json, NULL);
    json_array(&json, "transforms");
    for (int b = 0; b < scene->drawing->n_bodies; b++, pose += POSE_NUMBERS) {
        const DrawnBody *body = &scene->drawing->bodies[b];
        double origin[3], p[3] = {pose[0], pose[1], pose[2]};
        for (int k = 0; k < 3; k++) origin[k] = pose[POSE_NUMBERS - 1] * body->origin[k];
        scene_move(p, pose + 3, origin);
        if (!isfinite(p[0] + p[1] + p[2])) continue; // it is nowhere
        json_object(&json, NULL);
        scene_put_time(&json, "timestamp", time);
        json_text(&json, "parent_frame_id", scene->world);
        json_text(&json, "child_frame_id", body->name);
        scene_put_numbers(&json, "translation", p, 3);
        scene_put_numbers(&json, "rotation", pose + 3, 4);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return mcap_put(log->writer);
}

Error trace_scene_start(TraceLog *log, TraceScene *scene)
{
    const Drawing *drawing = trace_drawing(log->trace);
    *scene = (TraceScene){.drawing = drawing, .world = "world", .frames = -1, .figures = -1};
    if (drawing == NULL) return error_none();
    for (int b = 0; b < drawing->n_bodies; b++)
        if (strcmp(drawing->bodies[b].name, scene->world) == 0) scene->world = "the world";
    if (drawing->n_bodies > 0)
        TRY(trace_add_topic(log, "/tf", "foxglove.FrameTransforms", fields_transforms, &scene->frames));
    // the figure of a world of bodies is a projection, which does not stand where its frames are
    scene->each = trace_rows_per_frame(log->trace, SCENE_SHAPES / (drawing->n_shapes + 1));
    if (drawing->n_solids > 0 || (drawing->n_bodies == 0 && drawing->n_shapes > 0))
        TRY(trace_add_topic(log, "/scene", "foxglove.SceneUpdate", fields_scene, &scene->figures));
    return error_none();
}

Error trace_scene_put(TraceLog *log, const TraceScene *scene, int64_t i)
{
    if (scene->frames >= 0) TRY(scene_put_frames(log, scene, i));
    return scene->figures >= 0 ? scene_put_shapes(log, scene, i) : error_none();
}
