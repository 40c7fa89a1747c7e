// Starts that do not meet the constraints: rattle moves them onto the constraints before t = 0, counts it, and refuses
// what is too far. And absurd results, which end a trial with every stabilisation.
#include "mechanisms.h"
#include "rigid_case.h"
#include "rigid_kkt.h"

#include "../../sim/rigid/rigid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Two rods on ball joints; the second joint is open by `gap` at the start. By its at_a, the position of b, its z.
#define START_WORLD(at_a, b)                                                                                           \
    "world: {bodies: [{name: a, mass: 1, inertia: 0.1, position: [0.5, 0, 0]}, {name: b, mass: 1, inertia: 0.1, "      \
    "position: [" b "]}], constraints: [{name: p, type: ball, a: a, at_a: [-0.5, 0, 0]}, {name: q, type: ball, a: b, " \
    "b: a, at_a: [" at_a "], at_b: [0.5, 0, 0]}]}"
#define START_GAP START_WORLD("-0.4, 0.1, 0.05", "1.5, 0, 0")

static const char *start_failure(const RigidRun *run, int64_t lane)
{
    return run->spec.configured.failures[run->batch->status[lane] - LANE_DONE];
}

// The error of the energy falls with dt^2, where the impulse of an open joint would make it grow.
TEST(rigid_open_joint_is_closed_before_the_start)
{
    double error[3];
    for (int i = 0; i < 3; i++) {
        RigidRun run;
        char simulation[600];
        snprintf(simulation, sizeof simulation, "{stabilisation: rattle, duration: 0.5, dt: %g, " START_GAP "}",
                 1e-2 * pow(10.0, -i));
        rigid_run(&run, simulation, "");
        CHECK_TEXT("none", start_failure(&run, 0));
        CHECK_NEAR(0.1, rigid_metric(&run, "projection", 0), 1e-12); // the greatest row's
        CHECK_BITS(0.0, rigid_metric(&run, "projection_speed", 0));
        CHECK(rigid_metric(&run, "error_max", 0) < 1e-12);
        error[i] = rigid_metric(&run, "energy_error", 0);
        rigid_end(&run);
    }
    CHECK(error[0] < 0.01);
    for (int i = 0; i < 2; i++) CHECK_NEAR(100.0, error[i] / error[i + 1], 2.0);
}

// Searched lengths: the payload is moved along the rod. What is too far is refused at t = 0, in that lane alone.
TEST(rigid_searched_lengths_are_projected_per_lane)
{
    static const double lengths[] = {1.8, 1.95, 1.99, 2.0, 2.01, 2.1, 2.5, 3.1};
    enum { LANES_OF_LENGTHS = 8 };
    static const char *const solvers[] = {"", "solver: trees, "};
    for (int s = 0; s < 2; s++) {
        RigidRun run;
        char simulation[100];
        snprintf(simulation, sizeof simulation, "{%sstabilisation: rattle, duration: 1, dt: 0.001}", solvers[s]);
        rigid_start(&run, simulation, "", LANES_OF_LENGTHS, "auto");
        for (int lane = 0; lane < LANES_OF_LENGTHS; lane++) rigid_set(&run, "rod_length", lane, lengths[lane]);
        rigid_go(&run, 77);
        for (int lane = 0; lane < LANES_OF_LENGTHS; lane++) {
            RigidRun alone;
            const bool refused = lengths[lane] > 3.0;
            CHECK_TEXT(refused ? "open" : "none", start_failure(&run, lane));
            CHECK_NEAR(refused ? 0.0 : 1.0, rigid_metric(&run, "survived", lane), 1e-12);
            CHECK_NEAR(fabs(lengths[lane] - 2.0), rigid_metric(&run, "projection", lane), 1e-12);
            if (!refused) CHECK(rigid_metric(&run, "energy_error", lane) < 1e-4);
            if (!refused) CHECK_NEAR(71.5, rigid_metric(&run, "tension_max", lane), 5.0);
            rigid_start(&alone, simulation, "", 1, "scalar");
            rigid_set(&alone, "rod_length", 0, lengths[lane]);
            rigid_go(&alone, 1000);
            for (int m = 0; m < run.spec.configured.n_metrics; m++)
                CHECK_BITS(alone.batch->metric[m * alone.batch->stride],
                           run.batch->metric[m * run.batch->stride + lane]);
            rigid_end(&alone);
        }
        rigid_end(&run);
    }
}

// A velocity along the rod is taken away; the other one stays.
TEST(rigid_velocities_that_break_constraints_are_projected)
{
    RigidRun run;
    rigid_run(
        &run,
        "{stabilisation: rattle, duration: 0.001, dt: 0.001, world: {bodies: [{name: ball, gravity: false, position: "
        "[1, 0, 0], velocity: [0.25, 1, 0]}], constraints: [{name: rod, type: distance, a: ball, at_b: [0, 0, "
        "0]}]}}",
        "");
    CHECK_NEAR(0.25, rigid_metric(&run, "projection_speed", 0), 1e-15);
    CHECK_NEAR(0.0, rigid_metric(&run, "energy_end", 0), 1e-12);
    CHECK(rigid_metric(&run, "multiplier_max", 0) < 1.1); // m v^2/r, no impulse over dt
    rigid_end(&run);
}

// ---- random mechanisms with random gaps -----------------------------------------------------------------------------

// Their links are moved and turned by up to `gap`; they are closed again, by either solver to the same start, although
// rows follow from others; and their energy is kept.
TEST(rigid_mechanisms_with_gaps_are_closed)
{
    const int wanted = test_quick() ? 2 : 8;
    for (int kind = 0; kind < MECHANISM_KINDS; kind++) {
        uint64_t state = 1977 + (uint64_t)kind;
        for (int k = 0; k < wanted; k++) {
            Mechanism mechanism;
            RigidRun run[3];
            static const char *const how[3] = {"solver: skyline, ", "solver: trees, ", "dt: 0.0005, "};
            double offset[MECHANISM_JOINTS][3];
            mechanism_draw((MechanismKind)kind, &state, &mechanism);
            for (int l = 0; l < mechanism.n_links; l++)
                for (int c = 0; c < 3; c++) offset[l][c] = kkt_random(&state, -0.02, 0.02);
            for (int r = 0; r < 3; r++) {
                Arena arena;
                CHECK_OK(arena_create(&arena, 1 << 24, "a mechanism"));
                rigid_start(&run[r],
                            arena_format(&arena, "{duration: 0.2, %s%sstabilisation: rattle, %s}",
                                         r < 2 ? "dt: 0.001, " : "", how[r], mechanism_world(&mechanism, &arena)),
                            "", 2, r == 1 ? "scalar" : "auto");
                for (int l = 0; l < mechanism.n_links; l++) {
                    for (int c = 0; c < 3; c++) {
                        char name[40];
                        snprintf(name, sizeof name, "link%d_%c", l, "xyz"[c]);
                        for (int p = 0; p < run[r].spec.configured.n_parameters; p++) {
                            if (strcmp(run[r].spec.configured.parameters[p].name, name) != 0) continue;
                            rigid_set(&run[r], name, 1, run[r].spec.fixed[p] + offset[l][c]);
                        }
                    }
                }
                rigid_go(&run[r], 1000);
                arena_destroy(&arena);
            }
            CHECK_BITS(0.0, rigid_metric(&run[0], "projection", 0));
            const double gap = rigid_metric(&run[0], "projection", 1);
            CHECK(gap > 1e-3 && gap < 0.1);
            for (int r = 0; r < 3; r++) {
                CHECK_TEXT("none", start_failure(&run[r], 1));
                CHECK(rigid_metric(&run[r], "error_max", 1) < 1e-11);
                CHECK_NEAR(gap, rigid_metric(&run[r], "projection", 1), 1e-15);
                CHECK(rigid_metric(&run[r], "energy_error", 1) <
                      20.0 * rigid_metric(&run[r], "energy_error", 0) + 1e-3);
            }
            for (int l = 0; l < mechanism.n_links; l++) {
                char name[40];
                snprintf(name, sizeof name, "link%d_end_z", l);
                CHECK_NEAR(rigid_metric(&run[0], name, 1), rigid_metric(&run[1], name, 1), 1e-8);
                CHECK_NEAR(rigid_metric(&run[0], name, 1), rigid_metric(&run[2], name, 1), 1e-4);
            }
            for (int r = 0; r < 3; r++) rigid_end(&run[r]);
        }
    }
}

// ---- absurd results -------------------------------------------------------------------------------------------------

#define START_TWO START_WORLD("-0.5, 0, 0", "1.5, 0, 0")

// The double pendulum has 30 J in play. Every form ends when it has gained more, or when a joint is torn; the default
// keeps its energy.
TEST(rigid_absurd_energy_and_errors_end_a_trial)
{
    static const struct {
        const char *form, *gains, *failure;
    } cases[] = {{"baumgarte", "", "energy"},
                 {"original", "", "constraint"},
                 {"original_with_bias, gain_units: per_dt", "parameters: {alpha: 3.5, beta: 1.2}", "energy"},
                 {"velocity", "parameters: {gamma: 2}", "energy"},
                 {"soft", "parameters: {frequency: 0.1, damping_ratio: 0}", "constraint"},
                 {"rattle, dt: 0.2", "", "solver"},
                 {"rattle", "", "none"}};
    for (int i = 0; i < 7; i++) {
        RigidRun run;
        char simulation[600];
        snprintf(simulation, sizeof simulation, "{duration: 20, stabilisation: %s, " START_TWO "}", cases[i].form);
        rigid_run(&run, simulation, cases[i].gains);
        CHECK_TEXT(cases[i].failure, start_failure(&run, 0));
        if (i == 6) CHECK(rigid_metric(&run, "energy_error", 0) < 0.1);
        rigid_end(&run);
    }
}

// Springs, pushes and wind bring energy: that is no failure.
TEST(rigid_energy_from_outside_is_no_failure)
{
    static const char *const forces[] = {"{name: s, type: spring, a: ball, at_b: [9, 0, 0], stiffness: 100}",
                                         "{name: s, type: push, a: ball, force: [50, 0, 0]}",
                                         "{name: s, type: drag, a: ball, linear: 5}"};
    for (int i = 0; i < 6; i++) {
        RigidRun run;
        char simulation[600];
        snprintf(simulation, sizeof simulation,
                 "{duration: 1, stabilisation: %s, world: {bodies: [{name: ball, gravity: false}], forces: [%s]}}",
                 i < 3 ? "rattle" : "baumgarte", forces[i % 3]);
        rigid_run(&run, simulation, "parameters: {wind_x: 20}");
        CHECK_TEXT("none", start_failure(&run, 0));
        CHECK(rigid_metric(&run, "energy_end", 0) > 50.0);
        rigid_end(&run);
    }
}

// Without gravity a world at rest has no energy; what rounding moves is no failure.
TEST(rigid_rounding_of_a_world_at_rest_is_no_failure)
{
    static const char *const world =
        "world: {bodies: [{name: a#, repeat: 30, position: [0, 0, 0], gravity: false, step: {position: [10]}}, "
        "{name: b#, repeat: 30, position: [1, 0, 0], gravity: false, step: {position: [10]}}], "
        "constraints: [{name: r#, repeat: 30, type: distance, a: a#, b: b#}]}";
    static const double steps[] = {0.125, 0.01, 1e-5};
    for (int i = 0; i < 3; i++) {
        RigidRun run;
        char simulation[600], name[40];
        uint64_t state = 7;
        snprintf(simulation, sizeof simulation, "{duration: %g, dt: %g, stabilisation: rattle, %s}", 40.0 * steps[i],
                 steps[i], world);
        rigid_start(&run, simulation, "", 8, "auto");
        for (int lane = 0; lane < 8; lane++) {
            for (int k = 1; k <= 30; k++) {
                snprintf(name, sizeof name, "r%d_length", k);
                rigid_set(&run, name, lane, kkt_random(&state, 0.8, 1.2));
            }
        }
        rigid_go(&run, 1000);
        for (int lane = 0; lane < 8; lane++) {
            CHECK_TEXT("none", start_failure(&run, lane));
            CHECK(rigid_metric(&run, "energy_error", lane) < 1e-15);
        }
        rigid_end(&run);
    }
}
