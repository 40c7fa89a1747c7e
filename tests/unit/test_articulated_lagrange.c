// Random robots with armature at every joint against Lagrange's equations (lagrange.h): hinges on oblique axes, slides,
// balls and chains of them, on parents that turn. LAGRANGE=500 takes 500 of them instead of a few: `make lagrange`.
#include "articulated_hand.h"
#include "lagrange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DURATION 0.15
enum { EXACT_STEPS = 3000, COARSEST = 75, HALVINGS = 4 };

static int lagrange_wanted(void)
{
    const char *given = getenv("LAGRANGE");
    return given != NULL ? atoi(given) : test_quick() ? 6 : 24;
}

// A random robot without motors and dry friction. Odd ones are fixed to the world; of every third all joints are slides
// and balls.
static Robot lagrange_robot(uint64_t seed, Arena *arena)
{
    static const RobotJointKind kinds[] = {ROBOT_HINGE, ROBOT_SLIDE, ROBOT_BALL};
    uint64_t state = 77 * seed + 5;
    const int n = 2 + (int)random_between(&state, 0.0, 5.0);
    Robot robot = random_robot(&state, n, arena);
    RobotBody *bodies = ARENA_NEW(arena, RobotBody, n);
    memcpy(bodies, robot.bodies, (size_t)n * sizeof *bodies);
    robot.bodies = bodies;
    robot.n_coordinates = 0;
    for (int i = 0; i < n; i++) {
        RobotJoint *joint = &bodies[i].joint;
        if (i == 0 && seed % 2 == 1) joint->kind = kinds[seed / 2 % 3];
        if (i == 0 && seed % 2 == 1) joint->axis[seed % 3] = 1.0;
        if (i > 0 && seed % 3 == 0) joint->kind = kinds[1 + (int)random_between(&state, 0.0, 2.0)];
        joint->motor = (RobotMotor){.driven = false};
        joint->friction = 0.0;
        joint->damping = random_between(&state, 0.0, 0.5);
        joint->stiffness = joint->kind == ROBOT_FREE ? 0.0 : random_between(&state, 0.0, 20.0);
        joint->rest = joint->kind == ROBOT_BALL ? 0.0 : joint->reference;
        joint->armature = joint->kind == ROBOT_FREE ? 0.0 : pow(10.0, random_between(&state, -2.0, 0.6));
        if (joint->kind == ROBOT_FREE) joint->damping = 0.0;
        robot.n_coordinates += robot_joint_coordinates(joint->kind);
    }
    return robot;
}

// The same velocities for both: `rate` as hand_move takes them.
static void lagrange_move(Lagrange *motion, const double *v, double (*rate)[3])
{
    LagrangePose pose[LAGRANGE_BODIES];
    lagrange_poses(motion, pose);
    for (int i = 0; i < motion->robot->n_bodies; i++) {
        const RobotJointKind kind = motion->robot->bodies[i].joint.kind;
        const Rotation r = rotation_of((Quaternion){pose[i].q[0], pose[i].q[1], pose[i].q[2], pose[i].q[3]});
        const Vector3 own = rotation_in(&r, vector3(rate[i][0], rate[i][1], rate[i][2]));
        const double turn[3] = {own.x, own.y, own.z};
        double *u = motion->y + motion->n_q + motion->u[i];
        if (kind == ROBOT_HINGE || kind == ROBOT_SLIDE) u[0] = rate[i][0];
        if (kind == ROBOT_BALL) memcpy(u, turn, sizeof turn);
        if (kind != ROBOT_FREE) continue;
        memcpy(u, v, 3 * sizeof *v);
        memcpy(u + 3, turn, sizeof turn);
    }
}

// A robot, the velocities of its start, and its exact motion's poses at the end.
typedef struct LagrangeCase {
    Robot robot;
    double v[3], rate[LAGRANGE_BODIES][3];
    LagrangePose exact[LAGRANGE_BODIES];
} LagrangeCase;

static void lagrange_case(uint64_t seed, Arena *arena, LagrangeCase *out)
{
    Lagrange motion;
    uint64_t state = seed;
    *out = (LagrangeCase){.robot = lagrange_robot(seed, arena), .v = {0.4, -0.3, 0.2}};
    random_rates(&state, out->robot.n_bodies, out->rate);
    lagrange_start(&motion, &out->robot, 9.81);
    lagrange_move(&motion, out->v, out->rate);
    lagrange_go(&motion, DURATION, EXACT_STEPS);
    lagrange_poses(&motion, out->exact);
}

// The greatest distance of a centre of mass (m) or of a quaternion from those of the exact motion; by springs of that
// stiffness.
static double lagrange_error(const LagrangeCase *of, bool second, int steps, double stiffness)
{
    const Robot *robot = &of->robot;
    const LagrangePose *exact = of->exact;
    const ArticulatedSetup setup = {
        .robot = robot,
        .settings = {{"dt", DURATION / steps}, {"order", second}},
        .parameters = {{"attach_stiffness", stiffness}, {"attach_turn_stiffness", stiffness}}};
    ArticulatedHand hand;
    double worst = 0.0;
    hand_start(&hand, &setup);
    hand_move(&hand, of->v, of->rate);
    for (int k = 0; k < steps; k++) hand_step(&hand);
    for (int i = 0; i < robot->n_bodies; i++) {
        double apart = 0.0, q[4], same = 0.0;
        for (int k = 0; k < 3; k++) apart += pow(hand_cell(&hand, i, ARTICULATED_X + k) - exact[i].x[k], 2);
        for (int k = 0; k < 4; k++) {
            q[k] = hand_cell(&hand, i, ARTICULATED_Q + k);
            same += q[k] * exact[i].q[k];
        }
        const double sign = same < 0.0 ? -1.0 : 1.0;
        double turned = 0.0;
        for (int k = 0; k < 4; k++) turned += pow(q[k] - sign * exact[i].q[k], 2);
        worst = fmax(worst, sqrt(fmax(apart, turned)));
    }
    hand_end(&hand);
    return worst;
}

static void lagrange_check(uint64_t seed, bool second)
{
    Arena arena;
    LagrangeCase of;
    double error[HALVINGS];
    if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
    lagrange_case(seed, &arena, &of);
    for (int k = 0; k < HALVINGS; k++) error[k] = lagrange_error(&of, second, COARSEST << k, second ? 1e10 : 1e11);
    const double least = second ? 1.7 : 0.9;
    double order = log2(error[HALVINGS - 2] / error[HALVINGS - 1]);
    // of order two the last errors may be those of joints that give
    for (int k = 1; k < HALVINGS && second; k++) order = fmax(log2(error[k - 1] / error[k]), order);
    if (!(order >= least)) {
        fprintf(stderr, "robot %d, order %d:", (int)seed, second ? 2 : 1);
        for (int i = 0; i < of.robot.n_bodies; i++)
            fprintf(stderr, " %d on %d", (int)of.robot.bodies[i].joint.kind, of.robot.bodies[i].parent);
        for (int k = 0; k < HALVINGS; k++) fprintf(stderr, " %.2e", error[k]);
        fprintf(stderr, "\n");
    }
    CHECK(order >= least);
    arena_destroy(&arena);
}

TEST(articulated_lagrange_random_robots)
{
    const int robots = lagrange_wanted();
    for (int r = 1; r <= robots; r++) lagrange_check((uint64_t)r, false);
}

// The same of order two.
TEST(articulated_lagrange_order_two)
{
    const int robots = lagrange_wanted();
    for (int r = 1; r <= robots; r++) lagrange_check((uint64_t)r, true);
}

// By order two, what is left of the error is that joints give way: half the step does not mend it, stiffer springs do
// (experiments/README.md, "How stiff joints are"). Robots with a hinge or slide at the world.
TEST(articulated_lagrange_joints_give)
{
    for (uint64_t seed = 1; seed <= 9; seed += 4) {
        Arena arena;
        LagrangeCase of;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        lagrange_case(seed, &arena, &of);
        const double soft = lagrange_error(&of, true, 300, 1e6), finer = lagrange_error(&of, true, 600, 1e6);
        const double stiff = lagrange_error(&of, true, 600, 1e9), between = lagrange_error(&of, true, 600, 1e7);
        CHECK_NEAR(soft, finer, 0.1 * soft);
        CHECK_NEAR(soft / 10, between, 0.02 * soft);
        CHECK(stiff < soft / 50);
        arena_destroy(&arena);
    }
}

// The oracle itself: without damping its energy stays.
TEST(articulated_lagrange_keeps_energy)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        Arena arena;
        Lagrange motion;
        double rate[LAGRANGE_BODIES][3];
        uint64_t state = seed;
        const double v[3] = {0.4, -0.3, 0.2};
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = lagrange_robot(seed, &arena);
        for (int i = 0; i < robot.n_bodies; i++) ((RobotBody *)robot.bodies)[i].joint.damping = 0.0;
        random_rates(&state, robot.n_bodies, rate);
        lagrange_start(&motion, &robot, 9.81);
        lagrange_move(&motion, v, rate);
        const double before = lagrange_energy(&motion);
        lagrange_go(&motion, DURATION, EXACT_STEPS);
        CHECK_NEAR(before, lagrange_energy(&motion), 1e-8 * (fabs(before) + 1.0));
        arena_destroy(&arena);
    }
}
