// How articulated robots are drawn: bodies are where the simulation has them, solids are the shapes of the file, sticks
// join joints, the ground is the terrain.
#include "../../sim/articulated/articulated.h"
#include "../../sim/spatial/figure.h"
#include "articulated_case.h"

#include <math.h>
#include <string.h>

// A trunk with a ball, a hinge, a slide and a weld on it, all turned and off their anchors, and a second free body.
enum { DRAWN_BODIES = 6 };
static void drawn_bodies(RobotBody *bodies)
{
    static const RobotJointKind kinds[DRAWN_BODIES] = {ROBOT_FREE,  ROBOT_BALL, ROBOT_HINGE,
                                                       ROBOT_SLIDE, ROBOT_WELD, ROBOT_FREE};
    static const int parents[DRAWN_BODIES] = {-1, 0, 1, 0, 3, -1};
    static const char *const names[DRAWN_BODIES] = {"trunk", "thigh", "shin", "mast", "flag", "stone"};
    for (int i = 0; i < DRAWN_BODIES; i++) {
        bodies[i] = (RobotBody){.name = names[i],
                                .parent = parents[i],
                                .p = {0.1 * i, 0.05 * i - 0.1, parents[i] < 0 ? 1.0 + 0.2 * i : -0.2},
                                .q = {0.3, -0.1, 0.5, 0.8062257748298549},
                                .mass = 1.0 + 0.1 * i,
                                .centre = {0.02, -0.01 * i, 0.03},
                                .inertia = {0.02, 0.03, 0.025, 0.001, 0, -0.002},
                                .joint = {.name = names[i],
                                          .kind = kinds[i],
                                          .anchor = {0.01, 0.02, -0.03},
                                          .axis = {0.6, 0, 0.8},
                                          .reference = 0.2,
                                          .stiffness = 2}};
        if (kinds[i] == ROBOT_FREE) memset(bodies[i].joint.anchor, 0, sizeof bodies[i].joint.anchor);
    }
}

static Robot drawn_robot(RobotBody *bodies, const RobotShape *shapes, int n_shapes)
{
    drawn_bodies(bodies);
    Robot robot = {.name = "drawn", .bodies = bodies, .n_bodies = DRAWN_BODIES, .shapes = shapes, .n_shapes = n_shapes};
    for (int i = 0; i < DRAWN_BODIES; i++) robot.n_coordinates += robot_joint_coordinates(bodies[i].joint.kind);
    return robot;
}

// The state of the only lane after its last step, as the kernel for one lane keeps it.
static const double *drawn_state(const ArticulatedCase *test, int body)
{
    return test->batch->work + (ptrdiff_t)ARTICULATED_CELLS * body;
}

// Designs that lengthen the thigh and the mast, and turn the shin.
static void drawn_designs(Points *lists)
{
    static const double items[2][2] = {{0, 0}, {1, 0}}; // axis, mirror
    static const char *const names[] = {"grow", "bend"}, *const grown[] = {"thigh", "mast", NULL};
    static const char *const bent[] = {"shin", NULL};
    static const char *const *const words[2][4] = {{NULL, grown}, {bent}}; // rotate, length, mass, gain
    lists[0] = (Points){.count = 0};
    lists[1] = (Points){.count = 2, .items = &items[0][0], .names = names, .words = &words[0][0]};
}

static void drawn_compare(const ArticulatedCase *test, const double *pose)
{
    for (int i = 0; i < DRAWN_BODIES; i++) {
        const double *state = drawn_state(test, i), *drawn = pose + (ptrdiff_t)i * POSE_NUMBERS;
        const double *q = state + ARTICULATED_Q;
        double same = 0;
        for (int k = 0; k < 3; k++) CHECK_NEAR(state[ARTICULATED_X + k], drawn[k], 2e-4); // gaps of the joints
        for (int k = 0; k < 4; k++) same += q[k] * drawn[3 + k];
        CHECK_NEAR(1, fabs(same), 1e-6);
        CHECK_NEAR(i == 1 || i == 3 ? 1.3 : 1, drawn[7], 0);
    }
}

TEST(articulated_drawing_places_bodies_where_they_are)
{
    enum { STEPS = 400 };
    ArticulatedCase test;
    RobotBody bodies[DRAWN_BODIES];
    Points lists[2];
    const Robot robot = drawn_robot(bodies, NULL, 0);
    const ArticulatedSetup setup = {.robot = &robot,
                                    .settings = {{"dt", 0.0005}, {"duration", 0.0005 * STEPS}},
                                    .parameters = {{"shin_stiffness", 3},
                                                   {"mast_stiffness", 40},
                                                   {"shin_start", 0.7},
                                                   {"mast_start", 0.25},
                                                   {"base_vx", 1},
                                                   {"push_x", 20},
                                                   {"push_y", 9},
                                                   {"push_time", 0},
                                                   {"push_duration", 1},
                                                   {"grow", 1.3},
                                                   {"bend", 0.4}},
                                    .isa = "scalar",
                                    .samples = STEPS + 1,
                                    .lists = lists};
    double pose[DRAWN_BODIES * POSE_NUMBERS];
    drawn_designs(lists);
    articulated_start(&test, &setup);
    articulated_go(&test, 1 << 20);
    CHECK_INTEGER(0, articulated_failed(&test, 0));
    const Configured *configured = &test.configured;
    const double *sample = test.batch->trace.sample + (ptrdiff_t)STEPS * configured->n_columns;
    double parameter[128];
    for (int p = 0; p < configured->n_parameters; p++) parameter[p] = test.batch->parameter[p * test.batch->stride];
    configured->drawing->poses(configured, parameter, sample, pose);
    drawn_compare(&test, pose);
    CHECK(fabs(articulated_seen(&test, 0, STEPS, "thigh_qw")) < 0.99); // all joints moved
    CHECK(fabs(articulated_seen(&test, 0, STEPS, "shin_q") - 0.7) > 0.01);
    CHECK(fabs(articulated_seen(&test, 0, STEPS, "mast_q") - 0.25) > 0.01);
    CHECK(fabs(articulated_seen(&test, 0, STEPS, "stone_z") - bodies[5].p[2]) > 0.01);
    articulated_end(&test);
}

static const Solid *drawn_of(const Drawing *drawing, int body, int number)
{
    for (int s = 0; s < drawing->n_solids; s++) {
        if (drawing->solids[s].body == body && number-- == 0) return &drawing->solids[s];
    }
    return NULL;
}

TEST(articulated_drawing_has_shapes_and_sticks)
{
    static const RobotShape shapes[] = {
        {.name = "", .kind = ROBOT_BOX, .body = 0, .q = {0, 0, 0, 1}, .size = {0.3, 0.1, 0.05}},
        {.name = "",
         .kind = ROBOT_SPHERE,
         .body = 2,
         .p = {1, 2, 3},
         .q = {0, 0, 0, 1},
         .size = {0.2},
         .collides = true,
         .friction = 1},
        {.name = "", .kind = ROBOT_PLANE, .body = -1, .q = {0, 0, 0, 1}, .size = {9, 9, 9}},
    };
    ArticulatedCase test;
    RobotBody bodies[DRAWN_BODIES];
    const Robot robot = drawn_robot(bodies, shapes, 3);
    const ArticulatedSetup setup = {.robot = &robot};
    articulated_prepare(&test, &setup);
    const Drawing *drawing = test.configured.drawing;
    const Solid *box = drawn_of(drawing, 0, 0), *ball = drawn_of(drawing, 2, 0), *stick = drawn_of(drawing, 1, 0);
    CHECK_INTEGER(SOLID_BOX, box->kind);
    CHECK_TEXT("body", box->name);
    CHECK_NEAR(0.1, box->size[1], 0);
    CHECK_INTEGER(SOLID_BALL, ball->kind);
    CHECK_TEXT("foot", ball->name);
    for (int k = 0; k < 3; k++) CHECK_NEAR(0.2, ball->size[k], 0);
    for (int k = 0; k < 3; k++) CHECK_NEAR(k + 1 - bodies[2].centre[k], ball->p[k], 1e-15);
    CHECK(drawn_of(drawing, 0, 1) == NULL && drawn_of(drawing, 2, 1) == NULL && drawn_of(drawing, -1, 0) == NULL);
    CHECK_INTEGER(SOLID_CAPSULE, stick->kind); // from the thigh's joint to the shin's
    double end[3] = {0, 0, stick->size[1]}, seat[3];
    figure_turn(stick->q, end, end);
    figure_turn(bodies[2].q, bodies[2].joint.anchor, seat);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(bodies[1].joint.anchor[k], bodies[1].centre[k] + stick->p[k] - end[k], 1e-15);
        CHECK_NEAR(bodies[2].p[k] + seat[k], bodies[1].centre[k] + stick->p[k] + end[k], 1e-15);
    }
    CHECK(!drawing->fixed && drawing->ground != NULL);
    articulated_end(&test);
}

// A robot that nothing can touch has no ground; one without a free body stands still.
TEST(articulated_drawing_of_a_pendulum)
{
    ArticulatedCase test;
    double pose[2 * POSE_NUMBERS], sample[32] = {0};
    const ArticulatedSetup setup = {.robot = &robot_pendulum};
    articulated_prepare(&test, &setup);
    const Drawing *drawing = test.configured.drawing;
    CHECK(drawing->ground == NULL && drawing->fixed);
    sample[14] = 0.5 * 3.141592653589793; // the upper rod is level: it turned about y, from -z to -x
    drawing->poses(&test.configured, NULL, sample, pose);
    CHECK_NEAR(-0.5, pose[0], 1e-15);
    CHECK_NEAR(2, pose[2], 1e-15);
    CHECK_NEAR(-1.5, pose[POSE_NUMBERS], 1e-15);
    articulated_end(&test);
}

static double drawn_ground(int terrain, const double *of, const Points *table, double x)
{
    static const RobotShape ball = {
        .name = "", .kind = ROBOT_SPHERE, .body = 0, .q = {0, 0, 0, 1}, .size = {0.1}, .collides = true, .friction = 1};
    ArticulatedCase test;
    RobotBody bodies[DRAWN_BODIES];
    double parameter[64] = {0};
    const Robot robot = drawn_robot(bodies, &ball, 1);
    const ArticulatedSetup setup = {.robot = &robot, .settings = {{"terrain", terrain}}, .table = table};
    articulated_prepare(&test, &setup);
    memcpy(parameter + ARTICULATED_N_PARAMETERS, of, 3 * sizeof *of);
    const double height = test.configured.drawing->ground(&test.configured, parameter, x);
    articulated_end(&test);
    return height;
}

TEST(articulated_drawing_has_the_terrain)
{
    static const double points[] = {0, 0, 2, 1, 3, 1};
    const Points table = {.count = 3, .xy = points};
    CHECK_NEAR(0, drawn_ground(TERRAIN_flat, (double[3]){9, 9, 9}, NULL, 5), 0);
    CHECK_NEAR(0, drawn_ground(TERRAIN_slope, (double[3]){1, 0.25, 0}, NULL, 0.5), 0);
    CHECK_NEAR(0.5, drawn_ground(TERRAIN_slope, (double[3]){1, 0.25, 0}, NULL, 3), 1e-15);
    CHECK_NEAR(0.6, drawn_ground(TERRAIN_steps, (double[3]){1, 0.2, 0.5}, NULL, 2.6), 1e-15);
    CHECK_NEAR(0.2, drawn_ground(TERRAIN_sine, (double[3]){1, 0.2, 4}, NULL, 2), 1e-15);
    CHECK_NEAR(0.25, drawn_ground(TERRAIN_table, (double[3]){9, 9, 9}, &table, 0.5), 1e-15);
}
