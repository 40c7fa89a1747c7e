// Articulated robots in flight: momentum of random trees, the Unitree G1 against an integration of order 4, several
// roots.
#include "articulated_hand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- momentum -------------------------------------------------------------------------------------------------------

static double off(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

// The greatest error of both momenta in 100 steps without gravity, through the greatest sum of the bodies' own.
static double flight_error(const Robot *robot, uint64_t *state)
{
    ArticulatedHand hand;
    double(*rate)[3], worst[2] = {0.0, 0.0}, size[2] = {0.0, 0.0};
    const double v[3] = {0.5, -1.0, 2.0};
    const ArticulatedSetup setup = {.robot = robot, .settings = {{"dt", 1.0 / 240}}};
    hand_start(&hand, &setup);
    articulated_set(&hand.test, "gravity", 0, 0.0);
    hand.w.gravity = splat(0.0);
    rate = malloc((size_t)robot->n_bodies * sizeof *rate);
    random_rates(state, robot->n_bodies, rate);
    hand_move(&hand, v, (const double(*)[3])rate);
    free(rate);
    const HandMomentum first = hand_momentum(&hand);
    for (int k = 0; k < 100; k++) {
        hand_step(&hand);
        const HandMomentum now = hand_momentum(&hand);
        worst[0] = fmax(worst[0], off(first.p, now.p));
        worst[1] = fmax(worst[1], off(first.l, now.l));
        for (int s = 0; s < 2; s++) size[s] = fmax(size[s], now.size[s]);
        CHECK(isfinite(now.size[1]));
    }
    hand_end(&hand);
    return fmax(worst[0] / size[0], worst[1] / size[1]);
}

TEST(articulated_momentum_of_random_robots)
{
    uint64_t state = 7;
    const int count = test_quick() ? 8 : 60;
    for (int k = 0; k < count; k++) {
        Arena arena;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const int n = k < 2 ? 1 + 39 * k : 1 + (int)random_between(&state, 0.0, 40.0);
        const Robot robot = random_robot(&state, n, &arena);
        CHECK_NEAR(0.0, flight_error(&robot, &state), 1e-11);
        arena_destroy(&arena);
    }
}

// Motors, pushes and gravity: what they give is counted, and the metric sees nothing else.
TEST(articulated_momentum_as_a_metric)
{
    uint64_t state = 11;
    for (int k = 0; k < (test_quick() ? 2 : 12); k++) {
        Arena arena;
        ArticulatedCase test;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_robot(&state, 10 + k, &arena);
        const ArticulatedSetup setup = {
            .robot = &robot,
            .settings = {{"dt", 1.0 / 240}, {"duration", 0.5}, {"control.mode", 1}},
            .parameters = {{"all_amplitude", 0.5}, {"push_time", 0.1}, {"push_x", 20.0}, {"push_y", -5.0}}};
        articulated_start(&test, &setup);
        articulated_go(&test, 1000);
        CHECK_INTEGER(0, articulated_failed(&test, 0));
        CHECK(articulated_got(&test, "momentum_error", 0) < 1e-11);
        CHECK(articulated_got(&test, "momentum_error", 0) > 0.0);
        articulated_end(&test);
        arena_destroy(&arena);
    }
}

// ---- Unitree G1 -----------------------------------------------------------------------------------------------------

static const char *g1_text(const char *name, Arena *arena)
{
    const char *path = test_shared(name);
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    char *text = ARENA_NEW(arena, char, 1 << 16);
    if (file == NULL) return NULL;
    CHECK(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

// The greatest error of a joint's angle after half a second, all motors at their gains and the command 0.
static double g1_flight_error(const Robot *robot, const char *initial, const double *wanted, double steps)
{
    ArticulatedHand hand;
    double v[3], turn[3], qd[G1_BODIES], rate[G1_BODIES][3] = {{0.0}}, worst = 0.0;
    const ArticulatedSetup setup = {.robot = robot, .settings = {{"dt", 0.5 / steps}}};
    hand_start(&hand, &setup);
    hand.w.gravity = splat(0.0);
    golden_numbers(initial, "v_origin", 3, v);
    golden_numbers(initial, "w_body", 3, turn);
    golden_numbers(initial, "qd", G1_BODIES - 1, qd);
    for (int k = 0; k < 3; k++) rate[0][k] = turn[k]; // the base begins upright: world axes are its own
    for (int i = 1; i < G1_BODIES; i++) rate[i][0] = qd[i - 1];
    hand_move(&hand, v, (const double(*)[3])rate);
    for (int k = 0; k < (int)steps; k++) hand_step(&hand);
    for (int i = 1; i < G1_BODIES; i++) worst = fmax(worst, fabs(hand_coordinate(&hand, i) - wanted[6 + i]));
    hand_end(&hand);
    return worst;
}

// MuJoCo 3.14, Runge-Kutta 4: the design's figures are 2.6e-3 rad at 1/240 s, 1.34e-3, 6.8e-4.
TEST(articulated_flight_of_g1)
{
    Arena arena;
    Robot robot;
    double wanted[36], error[3];
    if (arena_create(&arena, (size_t)1 << 26, "a test").kind != OK) abort();
    const char *initial = g1_text("data/g1/g1_freeflight_ic.json", &arena);
    const char *reference = g1_text("data/g1/g1_freeflight_mujoco_rk4.json", &arena);
    if (g1_robot(&arena, NULL, &robot) && initial != NULL && reference != NULL) {
        const char *at = strstr(reference, "\"t\":0.5,");
        CHECK(at != NULL);
        golden_numbers(at, "qpos", 36, wanted);
        for (int k = 0; k < 3; k++) error[k] = g1_flight_error(&robot, initial, wanted, 120.0 * (1 << k));
        CHECK_NEAR(2.6e-3, error[0], 1e-4);
        CHECK(error[0] < 3e-3);
        CHECK_NEAR(2.0, error[0] / error[1], 0.15);
        CHECK_NEAR(2.0, error[1] / error[2], 0.15);
    }
    arena_destroy(&arena);
}

// ---- several roots --------------------------------------------------------------------------------------------------

// A free body, a pendulum on the world and a free body with a child, one beside the other.
static Robot roots_robot(RobotBody *bodies, int first, int count)
{
    static const RobotBody all[4] = {{.name = "ball",
                                      .parent = -1,
                                      .p = {0, 0, 1},
                                      .q = {0, 0, 0, 1},
                                      .mass = 2.0,
                                      .centre = {0.1, 0, 0},
                                      .inertia = {0.02, 0.03, 0.04, 0, 0, 0},
                                      .joint = {.name = "b", .kind = ROBOT_FREE}},
                                     {.name = "rod",
                                      .parent = -1,
                                      .p = {1, 0, 1},
                                      .q = {0, 0, 0, 1},
                                      .mass = 1.0,
                                      .centre = {0.5, 0, 0},
                                      .inertia = {1e-3, 0.1, 0.1, 0, 0, 0},
                                      .joint = {.name = "hinge", .kind = ROBOT_HINGE, .axis = {0, 1, 0}}},
                                     {.name = "kite",
                                      .parent = -1,
                                      .p = {0, 2, 1},
                                      .q = {0, 0, 0, 1},
                                      .mass = 3.0,
                                      .centre = {0, 0, 0},
                                      .inertia = {0.1, 0.1, 0.1, 0, 0, 0},
                                      .joint = {.name = "k", .kind = ROBOT_FREE}},
                                     {.name = "tail",
                                      .parent = 2,
                                      .p = {0, 0.2, 0},
                                      .q = {0, 0, 0, 1},
                                      .mass = 0.5,
                                      .centre = {0.2, 0, 0},
                                      .inertia = {1e-3, 1e-3, 1e-3, 0, 0, 0},
                                      .joint = {.name = "t", .kind = ROBOT_HINGE, .axis = {0, 0, 1}}}};
    int coordinates = 0;
    for (int i = 0; i < count; i++) {
        bodies[i] = all[first + i];
        if (bodies[i].parent >= 0) bodies[i].parent -= first;
        coordinates += robot_joint_coordinates(bodies[i].joint.kind);
    }
    return (Robot){.name = "roots", .bodies = bodies, .n_bodies = count, .n_coordinates = coordinates};
}

static void roots_go(ArticulatedHand *hand, const Robot *robot, bool moves)
{
    const double v[3] = {1.0, 2.0, 3.0};
    static const double still[4][3] = {{0.0}};
    const ArticulatedSetup setup = {.robot = robot, .settings = {{"dt", 1e-3}}};
    hand_start(hand, &setup);
    if (moves) hand_move(hand, v, still);
    for (int k = 0; k < 200; k++) hand_step(hand);
}

// What stands beside a tree does not change its bits.
TEST(articulated_several_roots)
{
    static const int first[3] = {0, 1, 2}, count[3] = {1, 1, 2};
    RobotBody bodies[4], part_bodies[4];
    ArticulatedHand all, part;
    const Robot robot = roots_robot(bodies, 0, 4);
    roots_go(&all, &robot, true);
    for (int r = 0; r < 3; r++) {
        const Robot alone = roots_robot(part_bodies, first[r], count[r]);
        roots_go(&part, &alone, true);
        for (int i = 0; i < count[r]; i++) {
            for (int cell = 0; cell < ARTICULATED_COORDINATE; cell++)
                CHECK_BITS(hand_cell(&part, i, cell), hand_cell(&all, first[r] + i, cell));
        }
        hand_end(&part);
    }
    hand_end(&all);
}

// base_vz moves what is free, not what hangs from the world: the rod falls about its hinge by g l m/I t^2/2. And the
// force of that hinge is not an error of the momentum.
TEST(articulated_several_roots_begin)
{
    RobotBody bodies[4];
    ArticulatedCase test;
    const Robot robot = roots_robot(bodies, 0, 4);
    const ArticulatedSetup setup = {.robot = &robot,
                                    .settings = {{"dt", 1e-3}, {"duration", 0.1}},
                                    .parameters = {{"base_vx", 3.0}, {"base_vz", 1.0}},
                                    .samples = 101};
    articulated_start(&test, &setup);
    articulated_go(&test, 1000);
    CHECK_NEAR(0.3, articulated_got(&test, "distance", 0), 1e-12);
    CHECK_NEAR(9.81 * 0.5 / (0.1 + 0.25) * 0.005, articulated_seen(&test, 0, 100, "hinge_q"), 2e-3);
    CHECK_NEAR(0.0, articulated_got(&test, "momentum_error", 0), 0.0);
    articulated_end(&test);
}
