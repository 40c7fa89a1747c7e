// control: raibert. Foot paths, legs that reach, forces that balance, phases, and robots with one to six legs that walk
// with the same bits everywhere.
#include "articulated_hand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- foot path ------------------------------------------------------------------------------------------------------

TEST(raibert_foot_path_meets_its_ends)
{
    const Vector3 from = vector3(1, 2, 0.1), to = vector3(1.5, 1.8, 0.3);
    const Vector3 first = path_foot(from, to, 0.05, 0.0), last = path_foot(from, to, 0.05, 1.0);
    const Vector3 top = path_foot(from, to, 0.05, 0.5);
    CHECK_NEAR(0.0, length3(less(first, from)), 1e-15);
    CHECK_NEAR(0.0, length3(less(last, to)), 1e-15);
    CHECK_NEAR(0.35, top.z, 1e-15);
    CHECK_NEAR(1.25, top.x, 1e-15);
}

// Speed and acceleration vanish at both ends; nowhere does the path jump, nor its speed.
TEST(raibert_foot_path_is_smooth)
{
    const Vector3 from = vector3(0, 0, 0), to = vector3(0.3, 0.1, -0.05);
    const double h = 1e-3;
    for (int k = 0; k < 2; k++) {
        const Vector3 a = path_foot(from, to, 0.06, k), b = path_foot(from, to, 0.06, k == 0 ? h : 1 - h);
        CHECK(length3(less(a, b)) < 1e-8);
    }
    double steepest = 0.0, bent = 0.0;
    for (int k = 1; k < 1000; k++) {
        const Vector3 a = path_foot(from, to, 0.06, (k - 1) * h), b = path_foot(from, to, 0.06, k * h),
                      c = path_foot(from, to, 0.06, (k + 1) * h);
        steepest = fmax(steepest, length3(less(b, a)) / h);
        bent = fmax(bent, length3(less(added(a, c), scaled(2.0, b))) / (h * h));
    }
    CHECK(steepest < 0.8);
    CHECK(bent < 5.0);
}

// ---- robots ---------------------------------------------------------------------------------------------------------

enum { WALKER_LEGS = 6, WALKER_BODIES = 1 + 3 * WALKER_LEGS };
typedef struct Walker {
    RobotBody bodies[WALKER_BODIES];
    RobotShape shapes[WALKER_LEGS];
    Robot robot;
} Walker;

static RobotBody walker_link(const char *name, int parent, double y, double z, double mass, double axis_x)
{
    RobotBody body = {.name = name, .parent = parent, .p = {0, y, z}, .q = {0, 0, 0, 1}, .mass = mass};
    for (int k = 0; k < 3; k++) body.inertia[k] = 0.01 * mass;
    body.joint = (RobotJoint){.name = name, .kind = ROBOT_HINGE, .axis = {axis_x, 1.0 - axis_x, 0}, .armature = 0.01};
    body.joint.motor =
        (RobotMotor){.driven = true, .kp = 80.0, .kd = 2.0, .low = -INFINITY, .high = INFINITY, .effort = 60.0};
    return body;
}

// A trunk of 10 kg on legs of three hinges, bent knees, in rows of two, 0.34 m high; of an odd number the last is in
// the middle.
static void walker_make(Walker *walker, int legs)
{
    static const char *const names[3][WALKER_LEGS] = {{"hip0", "hip1", "hip2", "hip3", "hip4", "hip5"},
                                                      {"thigh0", "thigh1", "thigh2", "thigh3", "thigh4", "thigh5"},
                                                      {"shank0", "shank1", "shank2", "shank3", "shank4", "shank5"}};
    *walker = (Walker){.robot = {.name = "walker", .n_bodies = 1 + 3 * legs, .n_shapes = legs}};
    walker->bodies[0] = (RobotBody){.name = "trunk",
                                    .parent = -1,
                                    .p = {0, 0, 0.34},
                                    .q = {0, 0, 0, 1},
                                    .mass = 10,
                                    .inertia = {0.1, 0.2, 0.2, 0, 0, 0}};
    walker->bodies[0].joint = (RobotJoint){.name = "base", .kind = ROBOT_FREE};
    for (int i = 0; i < legs; i++) {
        const double side = legs % 2 == 1 && i == legs - 1 ? 0.0 : i % 2 == 0 ? 0.12 : -0.12;
        const double x = legs < 3 ? 0.0 : 0.22 - 0.44 * (i / 2) / ((legs - 1) / 2);
        const double sine = sin(0.3), cosine = cos(0.3); // half of the thigh's bend, of 0.6
        RobotBody *links = &walker->bodies[1 + 3 * i];
        links[0] = walker_link(names[0][i], 0, side, 0, 0.5, 1.0);
        links[0].p[0] = x;
        links[1] = walker_link(names[1][i], 1 + 3 * i, 0, 0, 0.5, 0.0);
        links[1].q[1] = sine;
        links[1].q[3] = cosine;
        links[2] = walker_link(names[2][i], 2 + 3 * i, 0, -0.2, 0.2, 0.0);
        links[2].q[1] = -sin(0.6);
        links[2].q[3] = cos(0.6);
        walker->shapes[i] = (RobotShape){.name = "",
                                         .kind = ROBOT_SPHERE,
                                         .body = 3 + 3 * i,
                                         .p = {0, 0, -0.2},
                                         .q = {0, 0, 0, 1},
                                         .size = {0.02, 0, 0},
                                         .collides = true,
                                         .friction = 1};
    }
    walker->robot.bodies = walker->bodies;
    walker->robot.shapes = walker->shapes;
    walker->robot.n_coordinates = 7 + 3 * legs;
}

static ArticulatedSetup walker_setup(const Walker *walker, double seconds)
{
    return (ArticulatedSetup){
        .robot = &walker->robot,
        .settings = {{"dt", 2e-3}, {"duration", seconds}, {"control.mode", ARTICULATED_CONTROL_raibert}},
        .parameters = {{"base_z", 0.012}, {"fall_height", 0.15}, {"speed_gain", 15.0}}};
}

// ---- legs -----------------------------------------------------------------------------------------------------------

// The coordinates that bring a foot to where it was at other coordinates, of legs with random shapes and joints.
TEST(raibert_legs_reach)
{
    uint64_t state = 11;
    for (int trial = 0; trial < 50; trial++) {
        Walker walker;
        ArticulatedHand hand;
        walker_make(&walker, 1);
        for (int i = 1; i < 4; i++) {
            RobotBody *body = &walker.bodies[i];
            random_turn(&state, body->q);
            for (int k = 0; k < 3; k++) body->p[k] = random_between(&state, -0.3, 0.3);
            if (i == 2 && trial % 2 == 1) body->joint.kind = ROBOT_SLIDE;
        }
        const ArticulatedSetup setup = walker_setup(&walker, 1.0);
        hand_start(&hand, &setup);
        const ArticulatedLeg *leg = raibert_legs(&hand.w);
        double wanted[3], q[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++) wanted[k] = random_between(&state, -0.4, 0.4);
        ArticulatedLegPose pose;
        ArticulatedLegTarget target = {.foot = limb3(&hand.w, leg_at(&hand.w, 0) + RAIBERT_LEG_FOOT),
                                       .q = limb4(&hand.w, 0),
                                       .turn_weight = 0.0,
                                       .damping = 1e-3};
        leg_forward(&hand.w, leg, wanted, &pose);
        target.p = leg_position(&pose, target.foot);
        for (int k = 0; k < 200; k++) leg_improve(&hand.w, leg, &target, q);
        leg_forward(&hand.w, leg, q, &pose);
        CHECK_NEAR(0.0, length3(less(leg_position(&pose, target.foot), target.p)), 1e-5);
        hand_end(&hand);
    }
}

// Forward kinematics of a leg is where the robot's bodies stand.
TEST(raibert_legs_stand_where_bodies_do)
{
    Walker walker;
    ArticulatedHand hand;
    walker_make(&walker, 4);
    const ArticulatedSetup setup = walker_setup(&walker, 1.0);
    hand_start(&hand, &setup);
    const ArticulatedPose base = body_pose(&hand.w, 0);
    for (int i = 0; i < 4; i++) {
        const double q[3] = {0, 0, 0};
        ArticulatedLegPose pose;
        leg_forward(&hand.w, &raibert_legs(&hand.w)[i], q, &pose);
        const Vector3 there = rotation_in(&base.r, less(raibert_foot(&hand.w, i), base.x));
        CHECK_NEAR(0.0,
                   length3(less(leg_position(&pose, limb3(&hand.w, leg_at(&hand.w, i) + RAIBERT_LEG_FOOT)), there)),
                   1e-12);
    }
    hand_end(&hand);
}

// ---- forces ---------------------------------------------------------------------------------------------------------

// What the forces on all points give about the centre of mass; counts points that pull or slide.
static int balance_sum(const ArticulatedHand *hand, const RaibertView *v, const ArticulatedBalance *balance,
                       double *sum)
{
    int wrong = 0;
    memset(sum, 0, 6 * sizeof *sum);
    for (int i = 0; i < hand->w.c.n_legs; i++) {
        const int foot = raibert_legs(&hand->w)[i].foot;
        const ArticulatedHold hold = raibert_hold(&hand->w, v, i, 0, raibert_lowest(&hand->w, foot), 1.0);
        const Vector3 f = balance_force(&hold, balance);
        side_add(sum, 1.0, hold.r, f, vector3_zero());
        wrong += f.z < 0.0 || sqrt(f.x * f.x + f.y * f.y) > balance->friction * f.z * (1 + 1e-12) + 1e-12;
    }
    return wrong;
}

static int balance_ask(const double *wanted, double softness, double *sum)
{
    Walker walker;
    ArticulatedHand hand;
    ArticulatedBalance balance;
    walker_make(&walker, 4);
    ArticulatedSetup setup = walker_setup(&walker, 1.0);
    setup_add(&setup, "balance_softness", softness);
    setup_add(&setup, "track_softness", softness);
    setup_add(&setup, "start_time", 1.0);
    hand_start(&hand, &setup);
    const RaibertView v = raibert_view(&hand.w, 0.0);
    double W[6];
    memcpy(W, wanted, sizeof W);
    for (int i = 0; i < 4; i++) raibert_switch(&hand.w, &v, i);
    balance.friction = v.p.cone;
    raibert_round(&hand.w, &v, &balance, false, W);
    raibert_round(&hand.w, &v, &balance, true, W);
    const int wrong = balance_sum(&hand, &v, &balance, sum);
    hand_end(&hand);
    return wrong;
}

TEST(raibert_forces_give_the_wrench)
{
    const double wanted[6] = {10.0, -8.0, 150.0, 3.0, -5.0, 2.0};
    double sum[6];
    CHECK_INTEGER(0, balance_ask(wanted, 1e-9, sum));
    for (int k = 0; k < 6; k++) CHECK_NEAR(wanted[k], sum[k], 1e-5);
}

// Whatever is wanted, no foot pulls, and none leaves the friction cone.
TEST(raibert_forces_stay_in_the_cone)
{
    uint64_t state = 5;
    for (int trial = 0; trial < 40; trial++) {
        double wanted[6], sum[6];
        for (int k = 0; k < 6; k++) wanted[k] = random_between(&state, -200.0, 200.0);
        CHECK_INTEGER(0, balance_ask(wanted, 1e-4, sum));
    }
}

// ---- phases ---------------------------------------------------------------------------------------------------------

static void phases_check(int gait, int legs, const double *expected)
{
    Walker walker;
    ArticulatedCase test;
    walker_make(&walker, legs);
    ArticulatedSetup setup = walker_setup(&walker, 1.0);
    setup.settings[3] = (ArticulatedValue){"control.gait", gait};
    articulated_prepare(&test, &setup);
    for (int i = 0; i < legs; i++) {
        char name[32];
        snprintf(name, sizeof name, "phase_%d", i + 1);
        double phase = NAN;
        for (int p = 0; p < test.configured.n_parameters; p++) {
            if (strcmp(test.configured.parameters[p].name, name) == 0) phase = test.configured.parameters[p].value;
        }
        CHECK_NEAR(expected[i], phase, 1e-15);
    }
    articulated_end(&test);
}

// Legs in order: front left, front right, hind left, hind right.
TEST(raibert_gaits_are_their_phases)
{
    phases_check(ARTICULATED_GAIT_trot, 4, (const double[]){0, 0.5, 0.5, 0});
    phases_check(ARTICULATED_GAIT_pace, 4, (const double[]){0, 0.5, 0, 0.5});
    phases_check(ARTICULATED_GAIT_bound, 4, (const double[]){0, 0, 0.5, 0.5});
    phases_check(ARTICULATED_GAIT_pronk, 4, (const double[]){0, 0, 0, 0});
    phases_check(ARTICULATED_GAIT_walk, 4,
                 (const double[]){0, 0.5, 0.25, 0.75}); // hind left, front left, hind right ...
    phases_check(ARTICULATED_GAIT_walk, 2, (const double[]){0, 0.5});
    phases_check(ARTICULATED_GAIT_run, 2, (const double[]){0, 0.5});
    phases_check(ARTICULATED_GAIT_hop, 1, (const double[]){0});
    phases_check(ARTICULATED_GAIT_trot, 6, (const double[]){0, 0.5, 0.5, 0, 0, 0.5}); // two tripods
}

TEST(raibert_clock)
{
    CHECK_NEAR(0.25, raibert_fraction(3.25), 0.0);
    CHECK_NEAR(0.75, raibert_fraction(-0.25), 0.0);
    for (int k = -3; k < 4; k++) CHECK_NEAR(0.0, raibert_fraction(k), 0.0);
    CHECK_NEAR(0.5, raibert_fraction(2.5), 0.0);
    CHECK_NEAR(0.5, raibert_fraction(3.5), 0.0);
}

// ---- robots that walk -----------------------------------------------------------------------------------------------

// Robots with four and six legs follow the commanded speed, turn, and stay up.
TEST(raibert_walkers_follow_their_commands)
{
    for (int legs = 4; legs <= 6; legs += 2) {
        Walker walker;
        ArticulatedCase test;
        walker_make(&walker, legs);
        ArticulatedSetup setup = walker_setup(&walker, 5.0);
        setup_add(&setup, "speed", 0.6);
        setup_add(&setup, "yaw_rate", 0.3);
        articulated_start(&test, &setup);
        articulated_go(&test, 1 << 20);
        CHECK_INTEGER(0, articulated_failed(&test, 0));
        CHECK_NEAR(0.0, articulated_got(&test, "speed_error", 0), 0.2);
        CHECK_NEAR(0.0, articulated_got(&test, "heading_error", 0), 0.15);
        CHECK(articulated_got(&test, "touchdowns", 0) > 15);
        articulated_end(&test);
    }
}

// Only with this control a robot has its metrics and parameters.
TEST(raibert_adds_to_its_own_control_only)
{
    Walker walker;
    ArticulatedCase test;
    walker_make(&walker, 4);
    ArticulatedSetup setup = walker_setup(&walker, 1.0);
    articulated_prepare(&test, &setup);
    CHECK_INTEGER(ARTICULATED_N_METRICS + RAIBERT_METRICS, test.configured.n_metrics);
    CHECK_TEXT("speed_error", test.configured.metrics[ARTICULATED_N_METRICS].name);
    articulated_end(&test);
    setup.settings[2] = (ArticulatedValue){"control.mode", ARTICULATED_CONTROL_hold};
    setup.parameters[2] = (ArticulatedValue){NULL, 0.0};
    articulated_prepare(&test, &setup);
    CHECK_INTEGER(ARTICULATED_N_METRICS, test.configured.n_metrics);
    articulated_end(&test);
}

// ---- bits -----------------------------------------------------------------------------------------------------------

enum { WALK_LANES = 64, WALK_METRICS = ARTICULATED_N_METRICS + RAIBERT_METRICS };

static void walk_run(ArticulatedCase *test, int legs, const char *isa, int64_t lanes, int64_t slice)
{
    Walker walker;
    walker_make(&walker, legs);
    ArticulatedSetup setup = walker_setup(&walker, 0.6);
    setup.settings[3] = (ArticulatedValue){"terrain", TERRAIN_steps};
    setup.settings[4] = (ArticulatedValue){"control.gait", legs % ARTICULATED_N_GAITS};
    setup.settings[5] = (ArticulatedValue){"order", legs % 4 == 3};
    setup_add(&setup, "terrain_start", 0.05);
    setup_add(&setup, "terrain_length", 0.1);
    setup_add(&setup, "settle_time", 0.1);
    setup_add(&setup, "push_time", 0.2);
    setup_add(&setup, "push_y", 40.0);
    setup_add(&setup, "speed", 0.0);
    setup.lanes = lanes;
    setup.isa = isa;
    articulated_start(test, &setup);
    for (int64_t lane = 0; lane < lanes; lane++) {
        articulated_set(test, "speed", lane, 0.03 * (double)lane);
        articulated_set(test, "push_y", lane, 60.0 * sin((double)lane));
    }
    articulated_go(test, slice);
}

static void walk_check(int legs, const char *isa, int64_t lanes, int64_t slice, const double *expected)
{
    ArticulatedCase test;
    walk_run(&test, legs, isa, lanes, slice);
    for (int m = 0; m < WALK_METRICS; m++) {
        for (int64_t lane = 0; lane < lanes; lane++)
            CHECK_BITS(expected[m * WALK_LANES + lane], test.batch->metric[m * test.batch->stride + lane]);
    }
    articulated_end(&test);
}

// Alone, in batches, in slices, with every instruction set.
TEST(raibert_has_the_same_bits_everywhere)
{
    double *expected = malloc(sizeof *expected * WALK_METRICS * WALK_LANES);
    for (int legs = 1; legs <= 6; legs += test_quick() ? 2 : 1) {
        ArticulatedCase test;
        walk_run(&test, legs, "scalar", WALK_LANES, 1 << 20);
        for (int m = 0; m < WALK_METRICS; m++)
            memcpy(expected + m * WALK_LANES, test.batch->metric + m * test.batch->stride,
                   sizeof *expected * WALK_LANES);
        CHECK(articulated_got(&test, "speed_error", 3) != articulated_got(&test, "speed_error", 4));
        articulated_end(&test);
        walk_check(legs, "auto", WALK_LANES, 1 << 20, expected);
        walk_check(legs, "auto", 7, 7, expected);
        walk_check(legs, "auto", 1, 1, expected);
        walk_check(legs, "scalar", 7, 13, expected);
    }
    free(expected);
}

// Robots of random shape that this control moves end in one of the known ways, with numbers in all metrics.
TEST(raibert_moves_any_robot)
{
    int moved = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        Arena arena;
        ArticulatedCase test;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seed, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        const Model *model = model_find("articulated");
        double settings[64];
        Points points[64] = {{0}};
        Configured out;
        for (int i = 0; i < model->n_options; i++) {
            settings[i] = strcmp(model->options[i].name, "control.mode") == 0 ? ARTICULATED_CONTROL_raibert
                                                                              : model->options[i].value;
            if (strcmp(model->options[i].name, "terrain") == 0) settings[i] = TERRAIN_flat;
            if (strcmp(model->options[i].name, "robot") == 0) points[i] = (Points){.count = 1, .robot = &robot};
        }
        const Error error = model->configure(settings, points, &arena, &out);
        if (error.kind == OK) {
            setup.settings[2] = (ArticulatedValue){"control.mode", ARTICULATED_CONTROL_raibert};
            articulated_start(&test, &setup);
            articulated_go(&test, 1 << 20);
            CHECK(articulated_failed(&test, 0) >= 0);
            articulated_end(&test);
            moved++;
        }
        arena_destroy(&arena);
    }
    CHECK(moved > 5);
}
