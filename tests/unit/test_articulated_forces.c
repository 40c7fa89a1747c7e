// Forces in metrics and columns are those that act in the step: their sums over time are changes of momentum, to
// rounding.
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>

#define G 9.81
enum { FORCES_STEPS = 400 };

static double forces_mass(const ArticulatedHand *hand)
{
    double mass = 0.0;
    for (int i = 0; i < hand->w.c.n_bodies; i++) mass += lane_of(body_number(&hand->w, i, ARTICULATED_mass), 0);
    return mass;
}

static double forces_sum(const ArticulatedHand *hand)
{
    double sum = 0.0;
    for (int i = 0; i < hand->w.c.n_bodies; i++) sum += hand_cell(hand, i, ARTICULATED_FORCE);
    return sum;
}

// The momentum along n[3], which is all that the ground gives where there is no friction, changes by the sum of the
// normal forces and by the weight; across n by the weight alone. Returns the greatest sum.
static double forces_step(ArticulatedHand *hand, const double *n, bool slippery)
{
    const double h = hand->w.c.dt, mass = forces_mass(hand);
    const HandMomentum before = hand_momentum(hand);
    hand_step(hand);
    const HandMomentum after = hand_momentum(hand);
    const double force = forces_sum(hand), size = before.size[0] + after.size[0] + h * (fabs(force) + mass * G);
    double gained[3], normal = 0.0;
    for (int k = 0; k < 3; k++) {
        gained[k] = after.p[k] - before.p[k] + (k == 2 ? h * mass * G : 0.0);
        normal += n[k] * gained[k];
    }
    CHECK_NEAR(normal, h * force, 1e-11 * size);
    for (int k = 0; k < 3 && slippery; k++) CHECK_NEAR(n[k] * normal, gained[k], 1e-11 * size);
    return force;
}

// ---- shipped robots -------------------------------------------------------------------------------------------------

static const Robot *forces_read(const char *name, Arena *arena)
{
    Bytes bytes;
    const char *path = arena_format(arena, "experiments/robots/%s.xml", name);
    CHECK_OK(file_read(path, 1 << 20, arena, &bytes));
    const Source source = {.file = path, .text = (const char *)bytes.data};
    return robot_read(&source, &(RobotOptions){0}, arena, diagnostics_new(arena));
}

// Each falls from 0.1 m over where its file puts it, and lies on the ground after 0.8 s; those with motors pull at it.
TEST(articulated_ground_forces_are_the_change_of_momentum)
{
    static const char *const names[] = {"biped", "hopper", "quadruped", "walker"};
    static const double up[3] = {0, 0, 1};
    for (size_t r = 0; r < sizeof names / sizeof *names; r++) {
        Arena arena;
        double greatest = 0.0;
        if (arena_create(&arena, (size_t)1 << 26, "a robot").kind != OK) abort();
        const Robot *robot = forces_read(names[r], &arena);
        CHECK(robot != NULL);
        const ArticulatedSetup setup = {
            .robot = robot, .settings = {{"dt", 2e-3}}, .parameters = {{"base_z", 0.1}, {"all_kp", 100.0}}};
        ArticulatedHand hand;
        hand_start(&hand, &setup);
        for (int k = 0; k < FORCES_STEPS; k++) greatest = fmax(greatest, forces_step(&hand, up, false));
        CHECK(greatest > forces_mass(&hand) * G); // it has landed
        hand_end(&hand);
        arena_destroy(&arena);
    }
}

// ---- random robots --------------------------------------------------------------------------------------------------

// On a frictionless slope momentum shows the normal too.
TEST(articulated_ground_forces_of_random_robots)
{
    const int robots = test_quick() ? 10 : 60;
    for (int r = 0; r < robots; r++) {
        Arena arena;
        ArticulatedHand hand;
        double greatest = 0.0;
        const double slope = r % 2 == 0 ? 0.0 : 0.4, up = 1.0 / sqrt(1.0 + slope * slope);
        const double n[3] = {-slope * up, 0.0, up};
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot((uint64_t)r + 1000, &arena);
        ArticulatedSetup setup = {.robot = &robot,
                                  .settings = {{"dt", 2e-3}, {"friction", r % 3 == 0 ? 1 : 0}},
                                  .parameters = {{"base_z", 0.3}, {"base_vx", 0.5}}};
        if (slope > 0.0) {
            setup.settings[2] = (ArticulatedValue){"terrain", TERRAIN_slope};
            setup_add(&setup, "terrain_slope", slope);
            setup_add(&setup, "terrain_start", -100.0);
            setup_add(&setup, "base_z", 0.3 + 100.0 * slope);
        }
        if (slope > 0.0 || r % 4 == 0) setup_add(&setup, "ground_friction", 0.0);
        hand_start(&hand, &setup);
        for (int k = 0; k < FORCES_STEPS; k++)
            greatest = fmax(greatest, forces_step(&hand, n, slope > 0.0 || r % 4 == 0));
        CHECK(greatest > 0.0);
        hand_end(&hand);
        arena_destroy(&arena);
    }
}

// ---- cost of transport ----------------------------------------------------------------------------------------------

// How far a body that drives a wheel moves decides its cost of transport: finite however far backwards, smooth at rest,
// and energy/(weight distance) far ahead.
TEST(articulated_cost_of_transport_is_finite)
{
    static const double speeds[] = {-1000.0, -80.0, -5.0, -0.05, 0.0, 0.05, 5.0, 1000.0};
    double before = INFINITY;
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        RobotBody bodies[2] = {{.name = "body",
                                .parent = -1,
                                .q = {0, 0, 0, 1},
                                .mass = 2.0,
                                .inertia = {1, 1, 1, 0, 0, 0},
                                .joint = {.name = "base", .kind = ROBOT_FREE}},
                               {.name = "wheel", .q = {0, 0, 0, 1}, .mass = 1.0, .inertia = {1, 1, 1, 0, 0, 0}}};
        bodies[1].joint = (RobotJoint){.name = "j", .kind = ROBOT_HINGE, .axis = {1, 0, 0}};
        bodies[1].joint.motor =
            (RobotMotor){.driven = true, .kp = 10.0, .kd = 1.0, .low = -9.0, .high = 9.0, .effort = 150.0};
        const Robot robot = {.name = "rower", .bodies = bodies, .n_bodies = 2, .n_coordinates = 8};
        const ArticulatedSetup setup = {.robot = &robot,
                                        .settings = {{"dt", 1e-2}, {"duration", 1.0}},
                                        .parameters = {{"j_offset", 0.5}, {"base_vx", speeds[k]}}};
        ArticulatedCase test;
        articulated_start(&test, &setup);
        articulated_go(&test, 1 << 20);
        const double distance = articulated_got(&test, "distance", 0), energy = articulated_got(&test, "energy", 0);
        const double root = sqrt(distance * distance + 0.01), cost = articulated_got(&test, "cost_of_transport", 0);
        const double counted = distance > 0.0 ? 0.5 * (distance + root) : 0.005 / (root - distance);
        CHECK(energy > 0.1 && isfinite(cost) && cost > 0.0 && cost < before);
        CHECK_NEAR(energy / (3.0 * G * counted), cost, 1e-12 * cost);
        before = cost;
        articulated_end(&test);
    }
}

// ---- metrics and columns --------------------------------------------------------------------------------------------

// A ball falls onto the ground: by the metric, and by the column of its samples.
TEST(articulated_impulse_of_a_drop)
{
    RobotBody body = {.name = "ball",
                      .parent = -1,
                      .p = {0, 0, 0.3},
                      .q = {0, 0, 0, 1},
                      .mass = 2.0,
                      .inertia = {8e-3, 8e-3, 8e-3, 0, 0, 0},
                      .joint = {.name = "base", .kind = ROBOT_FREE}};
    const RobotShape shape = {
        .name = "", .kind = ROBOT_SPHERE, .q = {0, 0, 0, 1}, .size = {0.1, 0, 0}, .collides = true};
    const Robot robot = {
        .name = "ball", .bodies = &body, .n_bodies = 1, .shapes = &shape, .n_shapes = 1, .n_coordinates = 7};
    const double dts[] = {5e-3, 1e-3};
    for (int k = 0; k < 2; k++) {
        const int64_t steps = (int64_t)(0.5 / dts[k] + 0.5);
        double sum = 0.0, greatest = 0.0;
        ArticulatedCase test;
        const ArticulatedSetup setup = {
            .robot = &robot, .settings = {{"dt", dts[k]}, {"duration", 0.5}}, .samples = steps + 1};
        articulated_start(&test, &setup);
        articulated_go(&test, 1 << 20);
        for (int64_t i = 1; i <= steps; i++) {
            const double force = articulated_seen(&test, 0, i, "ball_force");
            sum += force * dts[k];
            greatest = fmax(greatest, force);
        }
        const double gained = 2.0 * (articulated_seen(&test, 0, steps, "base_vz") + G * 0.5);
        CHECK(gained > 2.0);
        CHECK_NEAR(gained, sum, 1e-12 * gained);
        CHECK_NEAR(gained, articulated_got(&test, "ground_force_mean", 0) * 0.5, 1e-12 * gained);
        CHECK_NEAR(greatest, articulated_got(&test, "ground_force_max", 0), 0.0);
        articulated_end(&test);
    }
}

// The sum of a motor's efforts is the angular momentum of what it turns, or the momentum of what it moves, also while
// it is at its greatest effort. The motor has more damping than a step of 10 ms could take before the solve.
TEST(articulated_efforts_are_the_change_of_momentum)
{
    for (int slides = 0; slides < 2; slides++) {
        enum { STEPS = 50 };
        RobotBody body = {.name = "body", .parent = -1, .p = {0, 0, 2}, .q = {0, 0, 0, 1}, .mass = 2.0};
        for (int k = 0; k < 3; k++) body.inertia[k] = 0.5;
        body.joint = (RobotJoint){.name = "j", .kind = slides ? ROBOT_SLIDE : ROBOT_HINGE, .axis = {0, 1, 0}};
        body.joint.motor =
            (RobotMotor){.driven = true, .kp = 4000.0, .kd = 300.0, .low = -9.0, .high = 9.0, .effort = 150.0};
        const Robot robot = {.name = "test", .bodies = &body, .n_bodies = 1, .n_coordinates = 1};
        const ArticulatedSetup setup = {.robot = &robot,
                                        .settings = {{"dt", 1e-2}, {"duration", 1e-2 * STEPS}},
                                        .parameters = {{"gravity", 0.0}, {"j_offset", 0.1}},
                                        .samples = STEPS + 1};
        ArticulatedCase test;
        double sum = 0.0;
        articulated_start(&test, &setup);
        articulated_go(&test, 1 << 20);
        for (int64_t i = 1; i <= STEPS; i++) {
            sum += 1e-2 * articulated_seen(&test, 0, i, "j_torque");
            CHECK_NEAR((slides ? 2.0 : 0.5) * articulated_seen(&test, 0, i, "j_rate"), sum, 1e-12 * 150.0);
        }
        CHECK(articulated_got(&test, "saturation", 0) > 0.0 && articulated_got(&test, "saturation", 0) < 0.5);
        articulated_end(&test);
    }
}
