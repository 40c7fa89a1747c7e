// Any bytes as a robot's file: errors that can be printed, or a robot that a model can rely on. What follows a line of
// "%%" is the file field.bin beside it, which is called field.stl and field.obj too; a robot's text with the heights
// and points of that file is the same robot without the file.
#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

static const char *const fuzz_ignored[] = {"mesh",      "equality", "tendon",  "gravity",   "freejoint",
                                           "worldbody", "inertia",  "damping", "forcerange"};

static bool fuzz_finite(const double *value, int count)
{
    for (int i = 0; i < count; i++) {
        if (value[i] - value[i] != 0.0) return false;
    }
    return true;
}

static bool fuzz_is_unit(const double *value, int count)
{
    double square = 0.0;
    for (int i = 0; i < count; i++) square += value[i] * value[i];
    return square > 1.0 - 1e-12 && square < 1.0 + 1e-12;
}

static void fuzz_check_body(const Robot *robot, int i)
{
    const RobotBody *body = &robot->bodies[i];
    const RobotJoint *joint = &body->joint;
    if (body->parent < -1 || body->parent >= i || body->name[0] == '\0' || joint->name[0] == '\0') abort();
    if (!fuzz_finite(body->p, 3) || !fuzz_is_unit(body->q, 4)) abort();
    const bool part = body->mass == 0.0 && i + 1 < robot->n_bodies && body[1].parent == i; // between two joints
    if (!(body->mass > 0.0 || part) || !fuzz_finite(&body->mass, 1) || !fuzz_finite(body->inertia, 6)) abort();
    if (joint->kind == ROBOT_WELD || (joint->kind == ROBOT_FREE && body->parent >= 0)) abort();
    if (joint->kind != ROBOT_FREE && joint->kind != ROBOT_BALL && !fuzz_is_unit(joint->axis, 3)) abort();
    if (joint->limited && !(joint->low < joint->high)) abort();
    if (!(joint->motor.effort >= 0.0) || !(joint->motor.low <= joint->motor.high)) abort();
    double ends[2];
    robot_motor_ends(&joint->motor, ends);
    if (!(ends[0] <= ends[1])) abort();
    for (int k = 0; k < i; k++) {
        if (strcmp(robot->bodies[k].name, body->name) == 0) abort();
        if (strcmp(robot->bodies[k].joint.name, joint->name) == 0) abort();
    }
}

static void fuzz_check_field(const Robot *robot, const RobotShape *field)
{
    if (field->body >= 0 || field->first < 0 || field->rows < 2 || field->columns < 2) abort();
    if ((int64_t)field->rows * field->columns > robot->n_heights - field->first) abort();
    if (!(field->size[0] > 0.0 && field->size[1] > 0.0)) abort();
}

static void fuzz_check_robot(const Robot *robot)
{
    if (robot->n_heights > ROBOT_HEIGHTS_MAX || !fuzz_finite(robot->heights, robot->n_heights)) abort();
    if (robot->n_bodies < 1 || robot->n_bodies > ROBOT_BODIES_MAX || robot->n_shapes > ROBOT_SHAPES_MAX) abort();
    for (int i = 0; i < robot->n_bodies; i++) fuzz_check_body(robot, i);
    for (int i = 0; i < robot->n_shapes; i++) {
        const RobotShape *shape = &robot->shapes[i];
        if (shape->body < -1 || shape->body >= robot->n_bodies || !fuzz_is_unit(shape->q, 4)) abort();
        if (shape->kind == ROBOT_HFIELD) fuzz_check_field(robot, shape);
    }
    for (int i = 0; i < robot->n_keyframes; i++) {
        if (!fuzz_finite(robot->keyframes[i].coordinates, robot->n_coordinates)) abort();
    }
}

// A folder with the file, if there is one.
static const char *fuzz_folder(const uint8_t *data, size_t size)
{
    static char folder[64], path[80];
    const uint8_t *mark = size > 3 ? memmem(data, size, "%%\n", 3) : NULL;
    if (mark == NULL) return NULL;
    if (folder[0] == '\0') {
        strcpy(folder, file_exists("/dev/shm") ? "/dev/shm/fuzz_robot.XXXXXX" : "/tmp/fuzz_robot.XXXXXX");
        if (mkdtemp(folder) == NULL) abort();
        for (int i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "%s/field.%s", folder, i == 0 ? "stl" : "obj");
            if (symlink("field.bin", path) != 0) abort();
        }
        snprintf(path, sizeof path, "%s/field.bin", folder);
    }
    FILE *file = fopen(path, "wb");
    const size_t bytes = size - (size_t)(mark + 3 - data);
    if (file == NULL || fwrite(mark + 3, 1, bytes, file) != bytes || fclose(file) != 0) abort();
    return folder;
}

static void fuzz_check_text(const Source *source, const RobotOptions *options, const Robot *robot, Arena *arena)
{
    Source whole = {.file = "fuzz.xml"};
    RobotOptions alone = *options;
    Diagnostics *diagnostics = diagnostics_new(arena);
    if (!robot_text_with_meshes(source, options->folder, options->meshes, arena, diagnostics, &whole.text)) abort();
    alone.folder = NULL;
    const Robot *again = robot_read(&whole, &alone, arena, diagnostics);
    if (again == NULL || again->n_shapes != robot->n_shapes || again->n_heights != robot->n_heights) abort();
    for (int i = 0; i < robot->n_heights; i++) {
        if (again->heights[i] != robot->heights[i]) abort();
    }
    for (int i = 0; i < robot->n_bodies; i++) {
        if (again->bodies[i].mass != robot->bodies[i].mass) abort();
        if (memcmp(again->bodies[i].inertia, robot->bodies[i].inertia, sizeof robot->bodies[i].inertia) != 0) abort();
    }
    for (int i = 0; i < robot->n_shapes; i++) {
        if (memcmp(again->shapes[i].p, robot->shapes[i].p, sizeof robot->shapes[i].p) != 0) abort();
        if (memcmp(again->shapes[i].size, robot->shapes[i].size, sizeof robot->shapes[i].size) != 0) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = fuzz_arena();
    if (size == 0) return 0;
    char *text = fuzz_text(data + 1, size - 1), *printed = NULL;
    const Source source = {.file = "fuzz.xml", .text = text};
    const RobotOptions options = {.folder = fuzz_folder(data, size),
                                  .ignore = fuzz_ignored,
                                  .n_ignore = data[0] & 4 ? sizeof fuzz_ignored / sizeof *fuzz_ignored : 0,
                                  .base = (RobotBase)((data[0] & 3) % 3),
                                  .meshes = (RobotMeshes)(data[0] >> 3 & 3)};
    if (options.folder != NULL && strstr(text, "%%\n") != NULL) *strstr(text, "%%\n") = '\0';
    size_t length = 0;
    Diagnostics *diagnostics = diagnostics_new(arena);
    const Robot *robot = robot_read(&source, &options, arena, diagnostics);
    if ((robot == NULL) != (diagnostics_errors(diagnostics) > 0)) abort();
    if (robot != NULL) fuzz_check_robot(robot);
    if (robot != NULL && options.folder != NULL) fuzz_check_text(&source, &options, robot, arena);
    FILE *out = open_memstream(&printed, &length);
    if (out == NULL) abort();
    diagnostics_print(diagnostics, out, false);
    fclose(out);
    free(printed);
    free(text);
    return 0;
}
