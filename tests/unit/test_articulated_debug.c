// Debug rows of articulated robots: errors and multipliers of joints, and what a solve leaves.
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEBUG_STEPS = 50, DEBUG_ROWS = 4096 };

// ---- multipliers ----------------------------------------------------------------------------------------------------

// A rod of 2 kg, its centre 0.5 m below the joint, hangs from a hinge, slide or weld at rest.
static const double *hang(ArticulatedCase *test, RobotJointKind kind, const ArticulatedValue *parameters)
{
    RobotBody *body = calloc(1, sizeof *body);
    *body = (RobotBody){.name = "rod",
                        .parent = -1,
                        .q = {0, 0, 0, 1},
                        .mass = 2.0,
                        .centre = {0.1, 0, -0.5},
                        .inertia = {0.1, 0.1, 0.1, 0, 0, 0},
                        .joint = {.name = "pin", .kind = kind, .axis = {1, 0, 0}}};
    Robot *robot = calloc(1, sizeof *robot);
    *robot = (Robot){.name = "rod", .bodies = body, .n_bodies = 1, .n_coordinates = robot_joint_coordinates(kind)};
    ArticulatedSetup setup = {.robot = robot, .settings = {{"dt", 1e-3}, {"duration", 3.0}}, .debug = DEBUG_ROWS};
    for (int k = 0; parameters[k].name != NULL; k++) setup.parameters[k] = parameters[k];
    articulated_start(test, &setup);
    articulated_go(test, 1000);
    free(robot);
    free(body);
    return articulated_debug_row(test, 0, 2999);
}

static void near3(double x, double y, double z, const double *got, double tolerance)
{
    CHECK_NEAR(x, got[0], tolerance);
    CHECK_NEAR(y, got[1], tolerance);
    CHECK_NEAR(z, got[2], tolerance);
}

// At rest the joint carries the weight, 19.62 N, and its moment about the anchor, 1.962 N m; gap = -force/k.
TEST(articulated_debug_rows_of_a_weld_at_rest)
{
    ArticulatedCase test;
    const ArticulatedValue none[] = {{NULL, 0}};
    const double *row = hang(&test, ROBOT_WELD, none);
    CHECK_NEAR(2.999, row[ARTICULATED_DEBUG_time], 1e-12);
    CHECK_BITS(0.0, row[ARTICULATED_DEBUG_body]);
    near3(0, 0, 19.62, row + ARTICULATED_DEBUG_force_x, 1e-8);
    near3(0, -1.962, 0, row + ARTICULATED_DEBUG_torque_x, 1e-4);
    near3(0, 0, -19.62e-6, row + ARTICULATED_DEBUG_gap_x, 1e-11);
    near3(0, 1.962e-6, 0, row + ARTICULATED_DEBUG_turn_x, 1e-9);
    CHECK_BITS(0.0, row[ARTICULATED_DEBUG_axis]);
    articulated_end(&test);
}

// About x the rod hangs at rest; the hinge's moment across the axis stays, and its motor gives 3 N m.
TEST(articulated_debug_rows_of_a_hinge)
{
    ArticulatedCase test;
    const ArticulatedValue motor[] = {{"pin_kp", 300}, {"pin_kd", 60}, {"pin_offset", 0.01}, {NULL, 0}};
    const double *row = hang(&test, ROBOT_HINGE, motor);
    const double angle = -9.81 / 300.0 / (1.0 + 9.81 / 300.0) * 0.01 + 0.01; // 300 (0.01 - q) = 9.81 sin q
    CHECK_NEAR(300.0 * (0.01 - angle), row[ARTICULATED_DEBUG_axis], 1e-4);
    near3(0, 0, 19.62, row + ARTICULATED_DEBUG_force_x, 1e-4);
    near3(0, -1.962, 0, row + ARTICULATED_DEBUG_torque_x, 1e-3);
    CHECK_NEAR(0.0, row[ARTICULATED_DEBUG_turn_x], 1e-12);
    articulated_end(&test);
}

// A slide along x carries nothing along x, and its gap is across.
TEST(articulated_debug_rows_of_a_slide)
{
    ArticulatedCase test;
    const ArticulatedValue motor[] = {{"pin_kp", 100}, {"pin_kd", 30},   {"pin_offset", 0.2},
                                      {"push_x", 5},   {"push_time", 0}, {"push_duration", 10},
                                      {NULL, 0}};
    const double *row = hang(&test, ROBOT_SLIDE, motor);
    CHECK_NEAR(-5.0, row[ARTICULATED_DEBUG_axis], 1e-3);
    near3(0, 0, 19.62, row + ARTICULATED_DEBUG_force_x, 1e-3);
    near3(0, 0, -19.62e-6, row + ARTICULATED_DEBUG_gap_x, 1e-9);
    articulated_end(&test);
}

// ---- the residual ---------------------------------------------------------------------------------------------------

static Robot falling(Arena *arena)
{
    uint64_t state = 11;
    Robot robot = random_robot(&state, 12, arena);
    random_robot_feet(&robot, arena);
    return robot;
}

// The greatest residual of all steps of a robot that falls on the ground.
static double residual(double attachment, double sweeps)
{
    Arena arena;
    ArticulatedCase test;
    if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
    const Robot robot = falling(&arena);
    const ArticulatedSetup setup = {
        .robot = &robot,
        .settings = {{"dt", 2e-3}, {"duration", 2e-3 * DEBUG_STEPS}, {"attachment", attachment}, {"sweeps", sweeps}},
        .parameters = {{"base_z", 0.1}},
        .debug = DEBUG_ROWS};
    double most = 0.0;
    articulated_start(&test, &setup);
    articulated_go(&test, 7);
    if (attachment == 0) CHECK_INTEGER(12 * DEBUG_STEPS, test.batch->debug.count[0]);
    for (int k = 0; k < test.batch->debug.count[0]; k++) {
        const double *row = articulated_debug_row(&test, 0, k);
        const double *first = articulated_debug_row(&test, 0, k / 12 * 12);
        CHECK(row[ARTICULATED_DEBUG_residual] <= row[ARTICULATED_DEBUG_residual_max]);
        CHECK_BITS(first[ARTICULATED_DEBUG_residual_max], row[ARTICULATED_DEBUG_residual_max]);
        CHECK_BITS((double)(k % 12), row[ARTICULATED_DEBUG_body]);
        CHECK_BITS(2e-3 * (k / 12), row[ARTICULATED_DEBUG_time]);
        most = fmax(row[ARTICULATED_DEBUG_residual], most);
    }
    if (attachment == 0) CHECK(articulated_got(&test, "contact_count", 0) > 0.1);
    articulated_end(&test);
    arena_destroy(&arena);
    return most;
}

// The tree solves to rounding; sweeps approach it; the other controls solve something else.
TEST(articulated_debug_rows_have_the_residual)
{
    const double tree = residual(0, 1), few = residual(2, 5), many = residual(2, 500);
    CHECK(tree < 1e-13);
    CHECK(few > 1e-3);
    CHECK(many < few);
    CHECK(residual(1, 1) > 1e-2);
    CHECK(residual(3, 1) > 1e-2);
}

// ---- bits -----------------------------------------------------------------------------------------------------------

static void debug_run(ArticulatedCase *test, const Robot *robot, const char *isa, int64_t lanes, int64_t rows,
                      int64_t slice)
{
    const ArticulatedSetup setup = {
        .robot = robot,
        .settings = {{"dt", 2e-3}, {"duration", 2e-3 * DEBUG_STEPS}, {"terrain", TERRAIN_steps}},
        .parameters = {{"terrain_start", -1.0}, {"base_vx", 0.0}},
        .lanes = lanes,
        .isa = isa,
        .debug = rows};
    articulated_start(test, &setup);
    for (int64_t lane = 0; lane < lanes; lane++) articulated_set(test, "base_vx", lane, 0.1 * (double)lane);
    articulated_go(test, slice);
}

// Rows are the same bits in any batch, and a lane with rows has the metrics of one without.
TEST(articulated_debug_rows_change_no_bit)
{
    static const char *const isas[] = {"auto", ISA_V2, "scalar"};
    Arena arena;
    ArticulatedCase plain, first;
    if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
    const Robot robot = falling(&arena);
    debug_run(&plain, &robot, ISA_V2, 9, 0, 1000);
    debug_run(&first, &robot, ISA_V2, 9, DEBUG_ROWS, 1000);
    for (int i = 0; i < 3; i++) {
        ArticulatedCase test;
        debug_run(&test, &robot, isas[i], 9 - i, DEBUG_ROWS, 13);
        for (int64_t lane = 0; lane < 9 - i; lane++) {
            const double *expected = articulated_debug_row(&first, lane, 0);
            const double *got = articulated_debug_row(&test, lane, 0);
            for (int m = 0; m < ARTICULATED_N_METRICS; m++)
                CHECK_BITS(plain.batch->metric[m * plain.batch->stride + lane],
                           test.batch->metric[m * test.batch->stride + lane]);
            CHECK_INTEGER(12 * DEBUG_STEPS, test.batch->debug.count[lane]);
            CHECK(memcmp(expected, got, sizeof *got * 12 * DEBUG_STEPS * ARTICULATED_N_DEBUG) == 0);
        }
        articulated_end(&test);
    }
    articulated_end(&first);
    articulated_end(&plain);
    arena_destroy(&arena);
}
