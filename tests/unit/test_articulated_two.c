// Steps of order two: against the same step and two halves of it by hand, closed forms and fine integrations.
#include "articulated_hand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the sum --------------------------------------------------------------------------------------------------------

// Takes over the state of another hand: the cells of bodies up to their rates, and the springs of friction.
static void two_take(ArticulatedHand *to, const ArticulatedHand *from)
{
    for (int i = 0; i < from->w.c.n_bodies; i++) {
        for (int k = 0; k < ARTICULATED_COMMAND; k++)
            set_limb(&to->w, articulated_at(i) + k, limb(&from->w, articulated_at(i) + k));
    }
    for (int k = 0; k < 3 * from->w.c.n_points; k++)
        set_limb(&to->w, to->w.c.grips + k, limb(&from->w, from->w.c.grips + k));
    to->t = from->t;
}

// 2 y2 - y1 of a cell
static double two_expected(const ArticulatedHand *whole, const ArticulatedHand *halves, int at)
{
    return 2.0 * lane_of(limb(&halves->w, at), 0) - lane_of(limb(&whole->w, at), 0);
}

// Which points touch the ground now.
static void two_touching(const ArticulatedHand *hand, bool *touches)
{
    const ArticulatedLanes *w = &hand->w;
    for (int i = 0; i < w->c.n_bodies; i++) {
        const ArticulatedPose pose = body_pose(w, i);
        for (int k = w->bodies[i].point; k < w->bodies[i].point + w->bodies[i].n_points; k++)
            touches[k] = any_lane(contact_state(w, &pose, &w->points[k], splat(1.0)).touching);
    }
}

// touches: in the second half. Returns how many springs are stretched.
static int two_check_state(const ArticulatedHand *two, const ArticulatedHand *whole, const ArticulatedHand *halves,
                           const bool *touches)
{
    const ArticulatedLanes *w = &two->w;
    int stretched = 0;
    for (int i = 0; i < w->c.n_bodies; i++) {
        double q[4], length = 0.0;
        for (int k = 0; k < 4; k++) {
            q[k] = two_expected(whole, halves, articulated_at(i) + ARTICULATED_Q + k);
            length += q[k] * q[k];
        }
        for (int k = 0; k < ARTICULATED_COMMAND; k++) {
            const double got = hand_cell(two, i, k);
            double expected = two_expected(whole, halves, articulated_at(i) + k);
            if (k >= ARTICULATED_Q && k < ARTICULATED_V) expected = q[k - ARTICULATED_Q] / sqrt(length);
            if (k == ARTICULATED_COORDINATE) expected = hand_cell(halves, i, k);
            CHECK_NEAR(expected, got, 1e-12 * fmax(1.0, fabs(expected)));
        }
    }
    for (int k = 0; k < w->c.n_points; k++) {
        const int at = w->c.grips + 3 * k;
        for (int c = at; c < at + 3; c++)
            CHECK_NEAR(touches[k] ? two_expected(whole, halves, c) : 0.0, lane_of(limb(w, c), 0), 1e-12);
        stretched += touches[k];
    }
    return stretched;
}

// Every step of a robot that falls to the ground and is pushed there.
TEST(articulated_two_is_twice_the_halves_without_the_whole)
{
    int stretched = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Arena arena;
        ArticulatedHand two, whole, halves;
        bool touches[64];
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seed, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        setup_ground(&setup, TERRAIN_flat, true);
        setup_control(&setup, ARTICULATED_CONTROL_hold, &arena);
        setup_rates(&setup);
        hand_start(&whole, &setup);
        setup.settings[0].value = 0.5 * RANDOM_DT;
        hand_start(&halves, &setup);
        setup.settings[0].value = RANDOM_DT;
        setup_order(&setup, true);
        hand_start(&two, &setup);
        for (int k = 0; k < RANDOM_STEPS; k++) {
            two_take(&whole, &two);
            two_take(&halves, &two);
            hand_step(&two);
            hand_step(&whole);
            hand_step(&halves);
            two_touching(&halves, touches);
            hand_step(&halves);
            stretched += two_check_state(&two, &whole, &halves, touches);
        }
        hand_end(&two);
        hand_end(&whole);
        hand_end(&halves);
        arena_destroy(&arena);
    }
    CHECK(stretched > 100);
}

// ---- closed forms ---------------------------------------------------------------------------------------------------

// A free ball of 2 kg, its centre at the height of its frame; with a hinge a pendulum of 0.7 m.
static RobotBody two_ball(RobotJointKind kind, double down)
{
    RobotBody body = {.name = "body", .parent = -1, .p = {0, 0, 2}, .q = {0, 0, 0, 1}, .mass = 2.0};
    body.centre[2] = -down;
    for (int k = 0; k < 3; k++) body.inertia[k] = 0.05;
    body.joint = (RobotJoint){.name = "joint", .kind = kind, .axis = {0, 1, 0}};
    return body;
}

// In free fall the positions of a step and of two halves are g dt^2/4 apart, and y' is the parabola.
TEST(articulated_two_falls_along_a_parabola)
{
    const RobotBody body = two_ball(ROBOT_FREE, 0.0);
    const Robot robot = {.name = "ball", .bodies = &body, .n_bodies = 1, .n_coordinates = 7};
    const ArticulatedSetup setup = {
        .robot = &robot, .settings = {{"dt", 0.01}, {"duration", 0.5}, {"order", 1}}, .samples = 51};
    ArticulatedCase test;
    articulated_start(&test, &setup);
    articulated_go(&test, 7);
    for (int k = 0; k <= 50; k++)
        CHECK_NEAR(2.0 - 0.5 * 9.81 * 1e-4 * k * k, articulated_seen(&test, 0, k, "base_z"), 1e-13);
    CHECK_NEAR(9.81 * 1e-4 / 4, articulated_got(&test, "step_error", 0), 1e-14);
    CHECK(articulated_got(&test, "momentum_error", 0) < 1e-14);
    articulated_end(&test);
}

// x'' = -f sin x from 2 rad at rest, by steps that are far too small.
static double two_pendulum(double f)
{
    double x = 2.0, v = 0.0;
    const double h = 1e-5;
    for (int k = 0; k < 100000; k++) {
        const double a1 = -f * sin(x), a2 = -f * sin(x + 0.5 * h * v), a3 = -f * sin(x + 0.5 * h * (v + 0.5 * h * a1)),
                     a4 = -f * sin(x + h * (v + 0.5 * h * a2));
        x += h * (v + h * (a1 + a2 + a3) / 6);
        v += h * (a1 + 2 * a2 + 2 * a3 + a4) / 6;
    }
    return x;
}

TEST(articulated_two_hinge_is_a_pendulum)
{
    const RobotBody body = two_ball(ROBOT_HINGE, 0.7);
    const Robot robot = {.name = "pendulum", .bodies = &body, .n_bodies = 1, .n_coordinates = 1};
    const double exact = two_pendulum(2.0 * 9.81 * 0.7 / (0.05 + 2.0 * 0.7 * 0.7));
    double error[3], apart[3];
    for (int k = 0; k < 3; k++) {
        const int steps = 125 << k;
        const ArticulatedSetup setup = {.robot = &robot,
                                        .settings = {{"dt", 1.0 / steps}, {"duration", 1.0}, {"order", 1}},
                                        .parameters = {{"joint_start", 2.0}, {"attach_stiffness", 1e9}},
                                        .samples = steps + 1};
        ArticulatedCase test;
        articulated_start(&test, &setup);
        articulated_go(&test, 1 << 20);
        error[k] = articulated_seen(&test, 0, steps, "joint_q") - exact;
        apart[k] = articulated_got(&test, "step_error", 0);
        articulated_end(&test);
    }
    CHECK_NEAR(0.0, error[0], 1e-3);  // of order one 0.04
    CHECK(error[0] / error[1] > 3.6); // 1.8 dt^2 + 0.6 dt^3, dt in ms: at first more than 4
    CHECK(error[1] / error[2] > 3.6);
    CHECK_NEAR(4.0, apart[0] / apart[1], 0.1);
    CHECK_NEAR(4.0, apart[1] / apart[2], 0.1);
}

// A ball that falls on the ground and stays there: the impulses of the ground are all that changes its momentum beside
// its weight.
TEST(articulated_two_forces_are_the_change_of_momentum)
{
    const RobotBody body = two_ball(ROBOT_FREE, 0.0);
    const RobotShape shape = {.name = "",
                              .kind = ROBOT_SPHERE,
                              .body = 0,
                              .q = {0, 0, 0, 1},
                              .size = {0.1, 0, 0},
                              .collides = true,
                              .friction = 1};
    const Robot robot = {
        .name = "ball", .bodies = &body, .n_bodies = 1, .shapes = &shape, .n_shapes = 1, .n_coordinates = 7};
    for (int rest = 0; rest < 2; rest++) {
        const double duration = rest == 1 ? 2.0 : 0.15;
        const ArticulatedSetup setup = {.robot = &robot,
                                        .settings = {{"dt", 0.002}, {"duration", duration}, {"order", 1}},
                                        .parameters = {{"base_z", -1.88}, {"base_vz", -1.0}},
                                        .samples = (int64_t)(duration / 0.002) + 1};
        ArticulatedCase test;
        articulated_start(&test, &setup);
        articulated_go(&test, 11);
        const int64_t last = (int64_t)(duration / 0.002 + 0.5);
        const double gained = 2.0 * (articulated_seen(&test, 0, last, "base_vz") + 1.0) + 2.0 * 9.81 * duration;
        CHECK_NEAR(gained, articulated_got(&test, "ground_force_mean", 0) * duration, 1e-11);
        CHECK(articulated_got(&test, "ground_force_max", 0) > 40.0);
        CHECK_NEAR(1.0, articulated_got(&test, "touchdowns", 0), rest == 1 ? 5.0 : 1e-15);
        if (rest == 1) CHECK_NEAR(0.1 - 2.0 * 9.81 / 2e4, articulated_seen(&test, 0, last, "base_z"), 1e-6);
        if (rest == 1) CHECK_NEAR(0.0, articulated_seen(&test, 0, last, "base_vz"), 1e-6);
        articulated_end(&test);
    }
}

// ---- momentum -------------------------------------------------------------------------------------------------------

// The greatest error of both momenta in a flight without gravity, through the greatest sum of the bodies' own.
static void two_flight(const Robot *robot, uint64_t state, int steps, double *error)
{
    ArticulatedHand hand;
    double(*rate)[3] = malloc((size_t)robot->n_bodies * sizeof *rate), size[2] = {0.0, 0.0}, worst[2] = {0.0, 0.0};
    const double v[3] = {0.5, -1.0, 2.0};
    const ArticulatedSetup setup = {.robot = robot, .settings = {{"dt", 0.2 / steps}, {"order", 1}}};
    hand_start(&hand, &setup);
    hand.w.gravity = splat(0.0);
    random_rates(&state, robot->n_bodies, rate);
    hand_move(&hand, v, (const double(*)[3])rate);
    const HandMomentum first = hand_momentum(&hand);
    for (int k = 0; k < steps; k++) {
        hand_step(&hand);
        const HandMomentum now = hand_momentum(&hand);
        for (int c = 0; c < 3; c++) {
            worst[0] = fmax(worst[0], fabs(first.p[c] - now.p[c]));
            worst[1] = fmax(worst[1], fabs(first.l[c] - now.l[c]));
        }
        for (int s = 0; s < 2; s++) size[s] = fmax(size[s], now.size[s]);
    }
    for (int s = 0; s < 2; s++) error[s] = worst[s] / size[s];
    free(rate);
    hand_end(&hand);
}

// The linear momentum is exact; the angular momentum changes by O(dt^2) in a flight.
TEST(articulated_two_momentum_of_random_robots)
{
    uint64_t state = 7;
    for (int k = 0; k < (test_quick() ? 6 : 30); k++) {
        Arena arena;
        double coarse[2], fine[2];
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_robot(&state, 2 + (int)random_between(&state, 0.0, 20.0), &arena);
        two_flight(&robot, (uint64_t)k, 200, coarse);
        two_flight(&robot, (uint64_t)k, 400, fine);
        CHECK(coarse[0] < 1e-11 && fine[0] < 1e-11);
        CHECK(coarse[1] < 1e-3);
        CHECK(fine[1] < 0.4 * coarse[1] || fine[1] < 1e-9);
        arena_destroy(&arena);
    }
}

// ---- order ----------------------------------------------------------------------------------------------------------

enum { TWO_ENDS = 3 }; // base_x, the first joint's coordinate, energy

// What a robot that swings in flight ends with.
static void two_ends(const Robot *robot, bool second, int steps, double *ends)
{
    ArticulatedCase test;
    ArticulatedSetup setup = random_setup(robot);
    setup_order(&setup, second);
    setup_rates(&setup);
    setup_add(&setup, "base_z", 5.0);
    setup_add(&setup, "push_duration", 1.0);
    setup_add(&setup, "push_time", 0.0);
    setup_add(&setup, "friction_speed", 1.0);
    setup.settings[0].value = 0.1 / steps;
    setup.settings[1].value = 0.1;
    setup.samples = steps + 1;
    articulated_start(&test, &setup);
    articulated_go(&test, 1 << 20);
    ends[0] = articulated_seen(&test, 0, steps, "base_x");
    ends[1] = articulated_seen(&test, 0, steps, "j1_q");
    ends[2] = articulated_got(&test, "energy", 0);
    articulated_end(&test);
}

// Of motions with motors that swing, armature, damping and dry friction, and of the sum of their work: half the step
// makes the error about a quarter, of order one half.
TEST(articulated_two_converges)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        Arena arena;
        double exact[TWO_ENDS], coarse[2][TWO_ENDS], fine[2][TWO_ENDS];
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seed + 700, &arena);
        two_ends(&robot, true, 12800, exact);
        for (int second = 0; second < 2; second++) {
            two_ends(&robot, second == 1, 200, coarse[second]);
            two_ends(&robot, second == 1, 400, fine[second]);
        }
        for (int k = 0; k < TWO_ENDS; k++) {
            const double one = (coarse[0][k] - exact[k]) / (fine[0][k] - exact[k]),
                         two = (coarse[1][k] - exact[k]) / (fine[1][k] - exact[k]);
            CHECK_NEAR(2.0, one, 0.1);
            CHECK(two > 2.1); // 4, and more or less where motors come to their ends
            CHECK(fabs(fine[1][k] - exact[k]) < 0.02 * fabs(fine[0][k] - exact[k]));
        }
        arena_destroy(&arena);
    }
}
