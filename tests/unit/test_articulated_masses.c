// Centres of mass and inertias as parameters: beside robots whose files have those numbers.
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The tensor of inertia of m F F', F = C E, E an upper triangle: log_x ... shear_yz.
static void inertia_by_logs(const RobotBody *body, const double *log, const double *shear, double *inertia)
{
    const double *I = body->inertia, m = body->mass, half = 0.5 * (I[0] + I[1] + I[2]);
    const double S[3][3] = {{half - I[0], -I[3], -I[4]}, {-I[3], half - I[1], -I[5]}, {-I[4], -I[5], half - I[2]}};
    double C[3][3] = {{0}}, F[3][3] = {{0}}, T[3][3] = {{0}};
    for (int c = 2; c >= 0; c--) { // S/m = C C' from the last column on
        for (int r = c; r >= 0; r--) {
            double sum = S[r][c] / m;
            for (int k = c + 1; k < 3; k++) sum -= C[r][k] * C[c][k];
            C[r][c] = r == c ? sqrt(sum) : sum / C[c][c];
        }
    }
    const double E[3][3] = {{exp(log[0]), shear[0], shear[1]}, {0, exp(log[1]), shear[2]}, {0, 0, exp(log[2])}};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) F[r][c] += C[r][k] * E[k][c];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) T[r][c] += m * F[r][k] * F[c][k];
    const double result[6] = {T[1][1] + T[2][2], T[0][0] + T[2][2], T[0][0] + T[1][1], -T[0][1], -T[0][2], -T[1][2]};
    memcpy(inertia, result, sizeof result);
}

TEST(articulated_masses_as_in_a_file)
{
    static const char *const axes[] = {"x", "y", "z"}, *const planes[] = {"xy", "xz", "yz"};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Arena arena;
        ArticulatedCase test, other;
        uint64_t state = seed;
        double worst = 0.0, moved_by = 0.0;
        if (arena_create(&arena, (size_t)1 << 24, "a test").kind != OK) abort();
        const Robot robot = random_driven_robot(seed + 40, &arena);
        Robot changed = robot;
        RobotBody *bodies = ARENA_NEW(&arena, RobotBody, robot.n_bodies);
        memcpy(bodies, robot.bodies, (size_t)robot.n_bodies * sizeof *bodies);
        changed.bodies = bodies;
        ArticulatedSetup setup = {.robot = &robot,
                                  .settings = {{"dt", RANDOM_DT},
                                               {"duration", RANDOM_DT * RANDOM_STEPS},
                                               {"terrain", seed % 2 == 0 ? TERRAIN_flat : TERRAIN_none}},
                                  .parameters = {{"all_kp", 20.0}, {"all_offset", 0.4}, {"base_z", 0.1}},
                                  .samples = RANDOM_STEPS + 1};
        ArticulatedSetup by_file = setup;
        by_file.robot = &changed;
        for (int i = 0; i < robot.n_bodies; i += 2) {
            double log[3], shear[3];
            for (int k = 0; k < 3; k++) {
                const double moved = random_between(&state, -0.1, 0.1);
                log[k] = random_between(&state, -0.4, 0.4);
                shear[k] = random_between(&state, -0.5, 0.5);
                setup_add(&setup, arena_format(&arena, "b%d_moved%s", i, axes[k]), moved);
                setup_add(&setup, arena_format(&arena, "b%d_log%s", i, axes[k]), log[k]);
                setup_add(&setup, arena_format(&arena, "b%d_shear%s", i, planes[k]), shear[k]);
                bodies[i].centre[k] += moved;
            }
            setup_add(&setup, arena_format(&arena, "b%d_mass", i), 0.7 * bodies[i].mass);
            bodies[i].mass *= 0.7;
            for (int k = 0; k < 6; k++) bodies[i].inertia[k] *= 0.7;
            inertia_by_logs(&bodies[i], log, shear, bodies[i].inertia);
        }
        articulated_start(&test, &setup);
        articulated_start(&other, &by_file);
        articulated_go(&test, 1000);
        articulated_go(&other, 1000);
        const double *got = test.batch->trace.sample, *expected = other.batch->trace.sample;
        for (int64_t k = 0; k < (RANDOM_STEPS + 1) * test.configured.n_columns; k++) {
            worst = fmax(worst, fabs(got[k] - expected[k]) / (1.0 + fabs(expected[k])));
            moved_by = fmax(moved_by, fabs(expected[k]));
        }
        CHECK_NEAR(0.0, worst, 1e-9);
        CHECK(moved_by > 0.1);
        CHECK(seed % 2 == 1 || articulated_got(&other, "ground_force_mean", 0) > 0.0);
        articulated_end(&test);
        articulated_end(&other);
        arena_destroy(&arena);
    }
}
