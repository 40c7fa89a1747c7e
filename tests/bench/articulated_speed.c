// How fast articulated robots are on one thread: robot steps a second without vectors and with the widest, of a chain
// of ten rods, of experiments/robots/biped.xml, of a generated humanoid of 30 bodies, and of the Unitree G1 where
// ../shared has it. Run it in the repository's root.
//     bench_articulated_speed [LANES [STEPS]]
// Times are processor time, the least of three runs after one to warm up. All lanes start at different heights and fall
// onto the ground, with all metrics and no trajectories.
#include "../../runner/command/command.h"

#include "../../sim/articulated/robot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPEED_REPEATS = 3, SPEED_SETTINGS = 64 };
#define SPEED_DT 0.002

// ---- robots ---------------------------------------------------------------------------------------------------------

static RobotBody speed_link(const char *name, int parent, double x, double y, double z, double length)
{
    RobotBody body = {.name = name,
                      .parent = parent,
                      .p = {x, y, z},
                      .q = {0, 0, 0, 1},
                      .mass = 1.0,
                      .centre = {0, 0, -0.5 * length},
                      .inertia = {length * length / 12, length * length / 12, 1e-3, 0, 0, 0}};
    body.joint = (RobotJoint){.name = name, .kind = ROBOT_HINGE, .axis = {0, 1, 0}, .armature = 0.01};
    body.joint.motor =
        (RobotMotor){.driven = true, .kp = 100, .kd = 5, .low = -INFINITY, .high = INFINITY, .effort = 100};
    return body;
}

// A ball of 5 mm at the lower end of each of the bodies `of`.
static void speed_feet(Robot *robot, const int *of, int count, double length, Arena *arena)
{
    RobotShape *shapes = ARENA_NEW(arena, RobotShape, count);
    for (int i = 0; i < count; i++)
        shapes[i] = (RobotShape){.name = "",
                                 .kind = ROBOT_SPHERE,
                                 .body = of[i],
                                 .p = {0.02 * i, 0, -length},
                                 .q = {0, 0, 0, 1},
                                 .size = {0.005, 0, 0},
                                 .collides = true};
    robot->shapes = shapes;
    robot->n_shapes = count;
}

static const Robot *speed_chain(Arena *arena)
{
    RobotBody *bodies = ARENA_NEW(arena, RobotBody, 10);
    Robot *robot = ARENA_NEW(arena, Robot, 1);
    for (int i = 0; i < 10; i++)
        bodies[i] = speed_link(arena_format(arena, "link%d", i), i - 1, 0, 0, i == 0 ? 2.0 : -0.3, 0.3);
    *robot = (Robot){.name = "chain", .bodies = bodies, .n_bodies = 10, .n_coordinates = 10};
    return robot;
}

// A free torso, a head, two arms of seven, two legs of six and a waist of two links: 30 bodies, four balls at each
// foot.
static const Robot *speed_humanoid(Arena *arena)
{
    static const int limbs[] = {7, 7, 6, 6, 2, 1}, feet[] = {20, 20, 20, 20, 26, 26, 26, 26};
    RobotBody *bodies = ARENA_NEW(arena, RobotBody, 30);
    Robot *robot = ARENA_NEW(arena, Robot, 1);
    int n = 1;
    bodies[0] = speed_link("torso", -1, 0, 0, 0.8, 0.3);
    bodies[0].joint = (RobotJoint){.name = "base", .kind = ROBOT_FREE};
    for (int limb = 0; limb < 6; limb++) {
        for (int i = 0; i < limbs[limb]; i++, n++) {
            const char *name = arena_format(arena, "limb%d_%d", limb, i);
            bodies[n] = speed_link(name, i == 0 ? 0 : n - 1, 0, i == 0 ? 0.1 * limb - 0.25 : 0, -0.12, 0.12);
            bodies[n].joint.axis[1] = i % 3 == 1 ? 0 : 1;
            bodies[n].joint.axis[0] = i % 3 == 1 ? 1 : 0;
        }
    }
    *robot = (Robot){.name = "humanoid", .bodies = bodies, .n_bodies = n, .n_coordinates = 7 + n - 1};
    speed_feet(robot, feet, 8, 0.12, arena);
    return robot;
}

// NULL: there is no such file, or it is no robot.
static const Robot *speed_file(const char *path, Arena *arena)
{
    static const char *const ignore[] = {"mesh"};
    Bytes bytes;
    if (file_read(path, XML_BYTES_MAX, arena, &bytes).kind != OK) return NULL;
    const Source source = {.file = path, .text = (const char *)bytes.data};
    const RobotOptions options = {.ignore = ignore, .n_ignore = strstr(path, "g1") != NULL};
    return robot_read(&source, &options, arena, diagnostics_new(arena));
}

// ---- time -----------------------------------------------------------------------------------------------------------

static double speed_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static Error speed_configure(const Robot *robot, int64_t steps, Arena *arena, Configured *configured)
{
    const Model *model = model_find("articulated");
    double settings[SPEED_SETTINGS];
    Points points[SPEED_SETTINGS] = {{0}};
    for (int i = 0; i < model->n_options; i++) {
        settings[i] = model->options[i].value;
        if (strcmp(model->options[i].name, "dt") == 0) settings[i] = SPEED_DT;
        if (strcmp(model->options[i].name, "duration") == 0) settings[i] = SPEED_DT * (double)steps;
        if (strcmp(model->options[i].name, "robot") == 0) points[i] = (Points){.count = 1, .robot = robot};
    }
    return model->configure(settings, points, arena, configured);
}

static void speed_fill(const Configured *configured, Batch *batch, int64_t lanes)
{
    batch->lanes = lanes;
    batch->trace.lanes = 0;
    for (int p = 0; p < configured->n_parameters; p++) {
        const Parameter *parameter = &configured->parameters[p];
        const bool height = strcmp(parameter->name, "base_z") == 0;
        for (int64_t i = 0; i < lanes; i++)
            batch->parameter[p * batch->stride + i] = parameter->value + (height ? 1e-4 * (double)i : 0.0);
    }
}

static Error speed_once(Backend *backend, double *seconds)
{
    bool done = false;
    double elapsed;
    const double start = speed_seconds();
    TRY(backend_begin(backend, 0));
    while (!done) {
        TRY(backend_advance(backend, 0, 1 << 20));
        TRY(backend_wait(backend, 0, &done, &elapsed));
    }
    *seconds = speed_seconds() - start;
    return error_none();
}

// Steps a second of all lanes together; failed: lanes that failed.
static Error speed_measure(const Robot *robot, const char *isa, int64_t lanes, int64_t steps, double *rate, int *failed)
{
    Arena arena;
    Configured configured;
    Backend *backend = NULL;
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = isa};
    double seconds, least = INFINITY;
    TRY(arena_create(&arena, (size_t)1 << 26, "the benchmark"));
    Error error = speed_configure(robot, steps, &arena, &configured);
    if (error.kind == OK) error = backend_open(&options, &backend);
    if (error.kind == OK) error = backend_prepare(backend, &configured, lanes, 0, 2);
    if (error.kind == OK) speed_fill(&configured, backend_batch(backend, 0), lanes);
    for (int i = 0; error.kind == OK && i <= SPEED_REPEATS; i++) {
        error = speed_once(backend, &seconds);
        if (i > 0) least = fmin(least, seconds);
    }
    *failed = 0;
    for (int64_t i = 0; error.kind == OK && i < lanes; i++)
        *failed += backend_batch(backend, 0)->status[i] != LANE_DONE;
    *rate = (double)(lanes * steps) / least;
    if (backend != NULL) backend_close(backend);
    arena_destroy(&arena);
    return error;
}

static bool speed_show(const char *name, const Robot *robot, int64_t lanes, int64_t steps)
{
    double scalar = 0.0, vectors = 0.0;
    int failed = 0;
    if (robot == NULL) {
        printf("%-10s not here\n", name);
        return true;
    }
    Error error = speed_measure(robot, "scalar", lanes, steps, &scalar, &failed);
    if (error.kind == OK) error = speed_measure(robot, "auto", lanes, steps, &vectors, &failed);
    if (error.kind != OK) {
        fprintf(stderr, "%s: %s\n", name, error.text);
        return false;
    }
    printf("%-10s %6d %12.0f %12.0f %8.2f %10.1f %7d\n", name, robot->n_bodies, scalar, vectors, vectors / scalar,
           1e9 / (vectors * robot->n_bodies), failed);
    return true;
}

int main(int count, char **argument)
{
    const int64_t lanes = count > 1 ? strtoll(argument[1], NULL, 10) : 64;
    const int64_t steps = count > 2 ? strtoll(argument[2], NULL, 10) : 250;
    Arena arena;
    if (lanes < 1 || steps < 1 || arena_create_growing(&arena, (size_t)1 << 28, "robots").kind != OK) return 1;
    printf("robot      bodies scalar, 1/s vectors, 1/s  vectors/ ns a body  failed\n");
    printf("                  (%lld lanes, %lld steps)    scalar   and step   lanes\n", (long long)lanes,
           (long long)steps);
    bool good = speed_show("chain", speed_chain(&arena), lanes, steps);
    good = good && speed_show("biped", speed_file("experiments/robots/biped.xml", &arena), lanes, steps);
    good = good && speed_show("humanoid", speed_humanoid(&arena), lanes, steps);
    good = good && speed_show("G1", speed_file("../shared/data/g1/unitree_mujoco_g1_29dof.xml", &arena), lanes, steps);
    arena_destroy(&arena);
    return good ? 0 : 1;
}
