// The negative controls of articulated robots (option attachment): what goes wrong when joints are not solved together.
#include "articulated_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TREE, CHILD_ONLY, GAUSS_SEIDEL, EXPLICIT };

// The G1 stands for 0.5 s: height of its pelvis and mean force of the ground at the end.
typedef struct Standing {
    double height, force, mass;
    int failure;
} Standing;

static bool stand(int attachment, int sweeps, int steps, Standing *got)
{
    Arena arena;
    Robot robot;
    ArticulatedCase test;
    if (arena_create(&arena, (size_t)1 << 26, "a test").kind != OK) abort();
    const bool there = g1_robot(&arena, NULL, &robot);
    if (there) {
        const ArticulatedSetup setup = {
            .robot = &robot,
            .settings = {{"dt", 0.5 / steps}, {"duration", 0.5}, {"attachment", attachment}, {"sweeps", sweeps}},
            .parameters = {{"base_z", 0.79 - 0.793}},
            .samples = steps + 1};
        articulated_start(&test, &setup);
        articulated_go(&test, 1000);
        got->failure = articulated_failed(&test, 0);
        got->height = articulated_seen(&test, 0, got->failure == 0 ? steps : 0, "base_z");
        got->force = articulated_got(&test, "ground_force_mean", 0);
        got->mass = 0.0;
        for (int i = 0; i < robot.n_bodies; i++) got->mass += robot.bodies[i].mass;
        articulated_end(&test);
    }
    arena_destroy(&arena);
    return there;
}

TEST(articulated_g1_stands)
{
    Standing got;
    if (!stand(TREE, 1, 240, &got)) return;
    CHECK_INTEGER(0, got.failure);
    CHECK(got.height > 0.79 - 0.05);
    CHECK_NEAR(9.81 * got.mass, got.force, 0.1 * 9.81 * got.mass);
}

// No reaction reaches the parent, so the pelvis falls freely: g h^2 n (n + 1)/2.
TEST(articulated_child_only_lets_the_base_fall)
{
    Standing got;
    if (!stand(CHILD_ONLY, 1, 480, &got)) return;
    CHECK_NEAR(0.79 - 9.81 / (960.0 * 960.0) * 480 * 481 / 2, got.height, 1e-9);
}

TEST(articulated_explicit_springs_diverge)
{
    Standing got;
    if (!stand(EXPLICIT, 1, 240, &got)) return;
    CHECK(got.failure != 0);
}

// Sweeps approach the solve over the tree, and slowly.
TEST(articulated_sweeps_approach_the_tree)
{
    Standing tree, few, many;
    if (!stand(TREE, 1, 240, &tree) || !stand(GAUSS_SEIDEL, 4, 240, &few) || !stand(GAUSS_SEIDEL, 400, 240, &many))
        return;
    CHECK(fabs(many.height - tree.height) < 0.1 * fabs(few.height - tree.height));
    CHECK(fabs(few.height - tree.height) > 0.01);
}

// A light body on a long lever: the denominators of child_only leave the lever arm out.
TEST(articulated_child_only_is_unstable_with_a_lever)
{
    static const RobotBody rod = {.name = "rod",
                                  .parent = -1,
                                  .q = {0, 0, 0, 1},
                                  .mass = 0.074,
                                  .centre = {0, 0, -0.2},
                                  .inertia = {7e-6, 7e-6, 7e-6, 0, 0, 0},
                                  .joint = {.name = "pin", .kind = ROBOT_HINGE, .axis = {0, 1, 0}}};
    static const Robot robot = {.name = "rod", .bodies = &rod, .n_bodies = 1, .n_coordinates = 1};
    for (int attachment = TREE; attachment <= CHILD_ONLY; attachment++) {
        ArticulatedCase test;
        const ArticulatedSetup setup = {.robot = &robot,
                                        .settings = {{"dt", 1e-4}, {"duration", 0.5}, {"attachment", attachment}},
                                        .parameters = {{"attach_stiffness", 1e4},
                                                       {"attach_damping", 100},
                                                       {"attach_turn_stiffness", 100},
                                                       {"attach_turn_damping", 1},
                                                       {"pin_start", 0.5}}};
        articulated_start(&test, &setup);
        articulated_go(&test, 1000);
        CHECK((articulated_failed(&test, 0) != 0) == (attachment == CHILD_ONLY));
        articulated_end(&test);
    }
}
