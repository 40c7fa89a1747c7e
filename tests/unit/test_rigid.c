// Rigid bodies, from a spec to its metrics: tables of reference runs, worlds with known motion, laws of the
// stabilisations, published benchmarks, and the same bits however lanes are grouped.
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the pendulum of the reference table: payload 5 kg, I 0.5, rod 2 m, dt 0.01, 100 steps -------------------------

#define RIGID_ANCHOR "{name: anchor, mass: 1000, inertia: 100, position: [0, 0, 2], %s}"
#define RIGID_PENDULUM                                                                                                 \
    "{stabilisation: %s, duration: %s, world: {bodies: [" RIGID_ANCHOR                                                 \
    ", {name: load, mass: 5, inertia: 0.5, velocity: [%s, 0, 0]}],"                                                    \
    " constraints: [{name: rod, type: distance, a: load, b: anchor}]}}"

typedef struct RigidReference {
    const char *form, *anchor, *speed, *alpha, *beta;
    double lambda;                   // at the first step
    double x, z, anchor_z, distance; // at the end
} RigidReference;

static const RigidReference rigid_references[] = {
    {"original", "fixed: false", "0", "5", "1", 0.0, 0.0, -4.954050000000, -2.954050000000, 2.0},
    {"original", "gravity: false", "0", "5", "1", 24.40298507463, 0.0, -0.02464701492537, 1.975352985075, 2.0},
    {"original", "fixed: true", "0", "5", "1", 24.525, 0.0, 0.0, 2.0, 2.0},
    {"original", "fixed: true", "3", "5", "1", 24.525, 1.137681226196, -0.02244855752434, 2.0, 2.3204776965682},
    {"original_with_bias", "fixed: true", "3", "5", "1", 35.775, 1.095961769505, 0.3417402897716, 2.0,
     2.0 - 0.01229844624897},
    {"baumgarte", "fixed: true", "3", "5", "5", 35.775, 1.099470440155, 0.3318941115425, 2.0, 2.0 - 0.002148027535357},
    {"baumgarte", "fixed: true", "3", "50", "100", 35.775, 1.096860483128, 0.3276716988831, 2.0,
     2.0 - 5.378418193036e-5},
};

static void rigid_check_reference(const RigidReference *reference, const char *duration, RigidRun *run)
{
    char simulation[1000], rest[100];
    snprintf(simulation, sizeof simulation, RIGID_PENDULUM, reference->form, duration, reference->anchor,
             reference->speed);
    snprintf(rest, sizeof rest, "parameters: {alpha: %s, beta: %s}", reference->alpha, reference->beta);
    rigid_run(run, simulation, rest);
}

TEST(rigid_pendulum_table)
{
    for (size_t i = 0; i < sizeof rigid_references / sizeof rigid_references[0]; i++) {
        const RigidReference *reference = &rigid_references[i];
        RigidRun run;
        rigid_check_reference(reference, "0.01", &run);
        CHECK_NEAR(reference->lambda, rigid_metric(&run, "multiplier_max", 0), 1e-10);
        CHECK_NEAR(2.0 * reference->lambda, rigid_metric(&run, "tension_max", 0), 2e-10);
        rigid_end(&run);
        rigid_check_reference(reference, "1", &run);
        CHECK_NEAR(reference->x, rigid_metric(&run, "load_end_x", 0), 1e-10);
        CHECK_NEAR(reference->z, rigid_metric(&run, "load_end_z", 0), 1e-10);
        CHECK_NEAR(fabs(reference->distance - 2.0), rigid_metric(&run, "error_end", 0), 1e-10);
        if (strcmp(reference->anchor, "fixed: true") != 0)
            CHECK_NEAR(reference->anchor_z, rigid_metric(&run, "anchor_end_z", 0), 1e-10);
        rigid_end(&run);
    }
}

TEST(rigid_without_a_world_is_the_pendulum)
{
    RigidRun run;
    rigid_run(&run, "{duration: 1}", "");
    CHECK_NEAR(1.099470440155, rigid_metric(&run, "payload_end_x", 0), 1e-10);
    rigid_end(&run);
}

TEST(rigid_spinning_body_with_an_offset_attachment)
{
    RigidRun run;
    rigid_run(
        &run,
        "{rotation: cayley, world: {bodies: [{name: load, mass: 5, inertia: [0.5, 0.4, 0.3], velocity: [3, 0, 0], "
        "spin: [0, 1, 2]}], constraints: [{name: rod, type: distance, a: load, at_a: [0, 0, 0.5], at_b: [0, 0, "
        "2]}]}}",
        "parameters: {alpha: 20, beta: 20}");
    CHECK_NEAR(1.098236290354, rigid_metric(&run, "load_end_x", 0), 1e-10);
    CHECK_NEAR(.02470637221976, rigid_metric(&run, "load_end_y", 0), 1e-10);
    CHECK_NEAR(.3412936627143, rigid_metric(&run, "load_end_z", 0), 1e-10);
    CHECK_NEAR(61.58888888889, rigid_metric(&run, "multiplier_max", 0), 1e-10);
    rigid_end(&run);
}

// ---- known motions --------------------------------------------------------------------------------------------------

// A spec of n rods of 1 m and 1 kg with ball joints, starting horizontally.
static const char *rigid_chain(int n, const char *options, Arena *arena)
{
    const char *bodies = "", *joints = "";
    for (int i = 0; i < n; i++) {
        bodies = arena_format(arena, "%s%s{name: b%d, inertia: [0.001, %.17g, %.17g], position: [%g, 0, 0]}", bodies,
                              i > 0 ? ", " : "", i, 1.0 / 12.0, 1.0 / 12.0, i + 0.5);
        joints = i == 0 ? "{name: j0, type: ball, a: b0, at_a: [-0.5, 0, 0]}"
                        : arena_format(arena, "%s, {name: j%d, type: ball, a: b%d, b: b%d, at_a: [-0.5, 0, 0]}", joints,
                                       i, i, i - 1);
    }
    return arena_format(arena, "{%s, world: {bodies: [%s], constraints: [%s]}}", options, bodies, joints);
}

// Position of the last rod's end: two points of the last rod are known, and the end lies on its axis.
static const struct {
    double x, z;
} rigid_tips[] = {
    {-.9999665880719, -.008174517717101}, {-1.662115135816, -1.041466637193}, {-1.723551029512, -2.299587885414}};

// Error of the tip. A massless body at the tip would change the motion, so a body of very small mass marks the tip.
static double rigid_tip_error(int n, double dt)
{
    RigidRun run;
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 20, "a chain"));
    const char *options = arena_format(&arena, "duration: 1, dt: %.17g, stabilisation: rattle", dt);
    const char *chain = rigid_chain(n, options, &arena);
    const int64_t cut = strstr(chain, "], constraints: [") - chain;
    const char *spec = arena_format(
        &arena,
        "%.*s, {name: tip, mass: 1.0e-9, inertia: 1.0e-9, position: [%d, 0, 0]}], constraints: [{name: t, type: "
        "ball, a: tip, b: b%d}, %s",
        (int)cut, chain, n, n - 1, chain + cut + strlen("], constraints: ["));
    rigid_run(&run, spec, "");
    const double error = hypot(rigid_metric(&run, "tip_end_x", 0) - rigid_tips[n - 1].x,
                               rigid_metric(&run, "tip_end_z", 0) - rigid_tips[n - 1].z);
    CHECK(rigid_metric(&run, "error_max", 0) <= 1e-12);
    rigid_end(&run);
    arena_destroy(&arena);
    return error;
}

TEST(rigid_chains_converge_to_the_exact_motion_with_order_two)
{
    for (int n = 1; n <= 3; n++) {
        const double coarse = rigid_tip_error(n, 2e-3), fine = rigid_tip_error(n, 1e-3);
        CHECK(fine < 6e-6);
        CHECK_NEAR(4.0, coarse / fine, 0.1);
    }
}

#define RIGID_BALL_ON_A_ROD                                                                                            \
    "world: {bodies: [{name: ball, position: [%.17g, 0, %.17g], velocity: [0, %.17g, 0]}], "                           \
    "constraints: [{name: rod, type: distance, a: ball, at_b: [0, 0, 0]}]}"

// IFToMM Library of Computational Benchmark Problems, A01: from horizontal, 10 s; position to 1e-6.
TEST(rigid_simple_pendulum_benchmark)
{
    char simulation[1000];
    RigidRun run;
    snprintf(simulation, sizeof simulation,
             "{stabilisation: rattle, duration: 10, dt: 1.0e-4, " RIGID_BALL_ON_A_ROD "}", 1.0, 0.0, 0.0);
    rigid_run(&run, simulation, "");
    CHECK_NEAR(0.2750874625761, rigid_metric(&run, "ball_end_x", 0), 1e-6);
    CHECK_NEAR(-0.9614192050991, rigid_metric(&run, "ball_end_z", 0), 1e-6);
    CHECK(rigid_metric(&run, "energy_error", 0) < 1e-6);
    rigid_end(&run);
}

TEST(rigid_conical_pendulum)
{
    char simulation[1000];
    RigidRun run;
    const double angle = M_PI / 6.0;
    snprintf(simulation, sizeof simulation, "{duration: 0.01, " RIGID_BALL_ON_A_ROD "}", sin(angle), -cos(angle),
             sqrt(9.81 / cos(angle)) * sin(angle));
    rigid_run(&run, simulation, "");
    CHECK_NEAR(11.32761228150, rigid_metric(&run, "tension_max", 0), 1e-10);
    rigid_end(&run);
}

TEST(rigid_terminal_speed)
{
    RigidRun run;
    rigid_run(&run,
              "{duration: 20, dt: 0.001, world: {bodies: [{name: load, mass: 10, position: [0, 0, 1000], velocity: [0, "
              "0, -20.195356050]}], forces: [{name: air, type: drag, a: load, area: 0.39269908169872414}]}}",
              "");
    CHECK_NEAR(1000.0 - 20.0 * 20.195356050, rigid_metric(&run, "load_end_z", 0), 2e-8);
    rigid_end(&run);
}

// ---- laws of the stabilisations -------------------------------------------------------------------------------------

// With alpha = beta, a rod that is too long by C0 returns as C0 (1 + w t) e^(-w t).
TEST(rigid_error_decays_as_critically_damped)
{
    RigidRun run;
    rigid_run(&run,
              "{duration: 0.5, dt: 1.0e-6, world: {bodies: [{name: ball, position: [0, 0, -1.001]}], constraints: "
              "[{name: rod, type: distance, a: ball, at_b: [0, 0, 0], length: 1}]}}",
              "parameters: {alpha: 10, beta: 10}");
    const double C0 = (1.001 * 1.001 - 1.0) / 2.0, wt = 10.0 * 0.5, C = C0 * (1.0 + wt) * exp(-wt);
    CHECK_NEAR(sqrt(1.0 + 2.0 * C) - 1.0, rigid_metric(&run, "error_end", 0), 1e-9);
    rigid_end(&run);
}

// Steady circular motion without gravity: the form leaves a constant error of the rod, C = factor |u|^2.
static void rigid_check_steady_error(const char *form, double factor)
{
    RigidRun run;
    char simulation[1000];
    snprintf(simulation, sizeof simulation,
             "{stabilisation: %s, duration: 20, dt: 0.001, world: {bodies: [{name: ball, gravity: false, position: [1, "
             "0, 0], velocity: [0, 1, 0]}], constraints: [{name: rod, type: distance, a: ball, at_b: [0, 0, 0]}]}}",
             form);
    rigid_run(&run, simulation, "parameters: {alpha: 400, beta: 40}");
    const double error = rigid_metric(&run, "error_end", 0) * (factor < 0.0 ? -1.0 : 1.0);
    const double r = 1.0 + error, C = error * (1.0 + r) / 2.0;
    const double u2 = 2.0 * (rigid_metric(&run, "energy_end", 0) + 0.5); // kinetic energy of 1 kg
    CHECK_NEAR(factor * u2, C, 1e-9 * fabs(C));
    rigid_end(&run);
}

// (1 - (1 + beta) dt/2)/alpha
TEST(rigid_steady_error_of_original) { rigid_check_steady_error("original", (1.0 - 41.0 * 0.001 / 2.0) / 400.0); }

// -(alpha/beta^2) dt
TEST(rigid_steady_error_of_baumgarte) { rigid_check_steady_error("baumgarte", -400.0 / 1600.0 * 0.001); }

// Semi-implicit Euler with textbook gains alpha = beta = a/dt is stable below a = 2 sqrt 2 - 2.
TEST(rigid_stability_limit)
{
    static const struct {
        const char *gains;
        bool stable;
    } cases[] = {{"parameters: {alpha: 0.828, beta: 0.828}", true}, {"parameters: {alpha: 0.84, beta: 0.84}", false}};
    for (int i = 0; i < 2; i++) {
        RigidRun run;
        rigid_run(&run,
                  "{gain_units: per_dt, duration: 20, world: {bodies: [{name: ball, position: [0, 0, -1.001]}], "
                  "constraints: [{name: rod, type: distance, a: ball, at_b: [0, 0, 0], length: 1}]}}",
                  cases[i].gains);
        CHECK((rigid_metric(&run, "error_end", 0) < 1e-4) == cases[i].stable);
        CHECK((run.batch->status[0] == LANE_DONE) == cases[i].stable);
        rigid_end(&run);
    }
}

// ---- conservation under rattle --------------------------------------------------------------------------------------

TEST(rigid_rattle_keeps_length_and_energy)
{
    RigidRun run;
    char simulation[1000];
    snprintf(simulation, sizeof simulation,
             "{stabilisation: rattle, duration: %d, dt: 0.01, world: {bodies: [{name: load, mass: 5, inertia: 0.5, "
             "velocity: [3, 0, 0]}], constraints: [{name: rod, type: distance, a: load, at_b: [0, 0, 2]}]}}",
             test_quick() ? 10 : 1000);
    rigid_run(&run, simulation, "");
    CHECK(rigid_metric(&run, "error_max", 0) <= 1e-12);
    CHECK(rigid_metric(&run, "energy_error", 0) <= 3.1e-3); // of 22.5 J; the same after 10^3 and after 10^5 steps
    rigid_end(&run);
}

// A free dumbbell: its centre moves uniformly while the bodies turn about it.
TEST(rigid_free_dumbbell_keeps_momentum)
{
    RigidRun run;
    rigid_run(&run,
              "{stabilisation: rattle, duration: 10, dt: 0.01, world: {bodies: [{name: a, gravity: false, position: "
              "[1, 0, 0], velocity: [0, 1, 0]}, {name: b, gravity: false, mass: 2, position: [-1, 0, 0], velocity: [0, "
              "-1, 1]}], constraints: [{name: rod, type: distance, a: a, b: b}]}}",
              "");
    CHECK_NEAR((1.0 - 2.0) / 3.0, (rigid_metric(&run, "a_end_x", 0) + 2.0 * rigid_metric(&run, "b_end_x", 0)) / 3.0,
               1e-12);
    CHECK_NEAR(-10.0 / 3.0, (rigid_metric(&run, "a_end_y", 0) + 2.0 * rigid_metric(&run, "b_end_y", 0)) / 3.0, 1e-11);
    CHECK_NEAR(20.0 / 3.0, (rigid_metric(&run, "a_end_z", 0) + 2.0 * rigid_metric(&run, "b_end_z", 0)) / 3.0, 1e-11);
    rigid_end(&run);
}

// ---- loops, redundant rows, every type of constraint ----------------------------------------------------------------

// Two ball joints on the axis of a hinge replace it: one of their 6 rows depends on the others in every pose. The bar
// must swing through more than half a turn as it does on the hinge.
TEST(rigid_redundant_rows_change_nothing)
{
    static const char *const joints[] = {"{name: hinge, type: hinge, a: bar, at_a: [-0.5, 0, 0], axis: [0, 1, 0]}",
                                         "{name: left, type: ball, a: bar, at_a: [-0.5, -0.3, 0]}, "
                                         "{name: right, type: ball, a: bar, at_a: [-0.5, 0.3, 0]}"};
    double x[2], z[2];
    for (int i = 0; i < 2; i++) {
        RigidRun run;
        char simulation[1000];
        snprintf(simulation, sizeof simulation,
                 "{stabilisation: rattle, dt: 0.001, duration: 1, world: {bodies: [{name: bar, inertia: [0.01, 0.2, "
                 "0.2], position: [0.5, 0, 0], velocity: [0, 0, -2], spin: [0, 4, 0]}], constraints: [%s]}}",
                 joints[i]);
        rigid_run(&run, simulation, "");
        CHECK_INTEGER(i, (int64_t)rigid_metric(&run, "redundant_rows", 0));
        CHECK(rigid_metric(&run, "error_max", 0) <= 1e-12);
        x[i] = rigid_metric(&run, "bar_end_x", 0);
        z[i] = rigid_metric(&run, "bar_end_z", 0);
        rigid_end(&run);
    }
    CHECK_NEAR(x[0], x[1], 1e-10);
    CHECK_NEAR(z[0], z[1], 1e-10);
}

// Rows and J' v of every type: with form `baumgarte` without gains the error grows only with the order of the step.
TEST(rigid_every_constraint_keeps_its_second_derivative)
{
    static const char *const types[] = {"distance, at_b: [1, 1, 1]", "ball", "hinge, axis: [0.6, 0, 0.8]", "weld",
                                        "along, axis: [0, 0.6, 0.8]"};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        double error[2];
        for (int k = 0; k < 2; k++) {
            RigidRun run;
            char simulation[2000];
            // both bodies fly and spin like one rigid body, which every type allows
            snprintf(
                simulation, sizeof simulation,
                "{dt: %s, duration: 0.2, world: {bodies: [{name: a, inertia: [1, 2, 3], position: [1, 0, 0], "
                "velocity: [0, 0.9, -0.8], spin: [0.7, 0.8, 0.9]}, {name: b, mass: 2, inertia: [3, 1, 2, 0.1, 0.2, "
                "0.3], position: [-1, 0, 0], velocity: [0, -0.9, 0.8], spin: [0.7, 0.8, 0.9]}], constraints: "
                "[{name: c, a: a, b: b, at_a: [-0.3, 0.2, 0.1], type: %s}]}}",
                k == 0 ? "0.002" : "0.001", types[t]);
            rigid_run(&run, simulation, "parameters: {alpha: 0, beta: 0}");
            error[k] = rigid_metric(&run, "error_end", 0);
            rigid_end(&run);
        }
        CHECK(error[0] < 2e-3);
        CHECK_NEAR(2.0, error[0] / error[1], 0.1);
    }
}

// A hinge between bodies that turn against each other while both turn: its J' v is not zero.
TEST(rigid_hinge_between_turning_bodies)
{
    double error[2];
    for (int k = 0; k < 2; k++) {
        RigidRun run;
        char simulation[1000];
        snprintf(simulation, sizeof simulation,
                 "{dt: %s, duration: 0.2, world: {bodies: [{name: a, inertia: [1, 2, 3], position: [0, 0, 0.5], "
                 "velocity: [0, -0.25, 0], spin: [0.5, 0, 2]}, {name: b, inertia: [3, 1, 2], position: [0, 0, -0.5], "
                 "velocity: [0, 0.25, 0], spin: [0.5, 0, -1]}], constraints: [{name: pin, type: hinge, a: a, b: b, "
                 "at_a: [0, 0, -0.5]}]}}",
                 k == 0 ? "0.002" : "0.001");
        rigid_run(&run, simulation, "parameters: {alpha: 0, beta: 0}");
        error[k] = rigid_metric(&run, "error_end", 0);
        rigid_end(&run);
    }
    CHECK(error[0] < 2e-3);
    CHECK_NEAR(2.0, error[0] / error[1], 0.1);
}

// ---- repeated items -------------------------------------------------------------------------------------------------

// A chain written rod by rod and a chain of copies have the same bits.
TEST(rigid_repeated_items_equal_written_out_items)
{
    RigidRun one, other;
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 20, "a chain"));
    rigid_run(&one, rigid_chain(4, "copies: 3", &arena), "");
    rigid_run(&other,
              "{copies: 3, world: {bodies: [{name: b#, repeat: [0, copies], inertia: [0.001, 0.083333333333333329, "
              "0.083333333333333329], position: [0.5, 0, 0], step: {position: [1]}}], constraints: [{name: j0, type: "
              "ball, a: b0, at_a: [-0.5, 0, 0]}, {name: j#, repeat: 3, type: ball, a: b#, b: b#-1, at_a: [-0.5, 0, "
              "0]}]}}",
              "");
    CHECK_BITS(rigid_metric(&one, "b3_end_x", 0), rigid_metric(&other, "b3_end_x", 0));
    CHECK_BITS(rigid_metric(&one, "b3_end_z", 0), rigid_metric(&other, "b3_end_z", 0));
    CHECK_TEXT(one.spec.hash.hex, other.spec.hash.hex);
    rigid_end(&one);
    rigid_end(&other);
    arena_destroy(&arena);
}

static void rigid_resolved(const char *simulation, Sha256Text *hash)
{
    Arena arena;
    Spec spec = {0};
    CHECK_OK(arena_create(&arena, (size_t)1 << 30, "a world of copies"));
    Diagnostics *diagnostics = diagnostics_new(&arena);
    const char *text = arena_format(&arena, "version: 1\nexperiment: test\nmodel: rigid\nsimulation: %s\n", simulation);
    CHECK_OK(spec_parse("copies.yaml", text, NULL, 0, &arena, diagnostics, &spec));
    diagnostics_print(diagnostics, stdout, false);
    *hash = spec.hash;
    arena_destroy(&arena);
}

// Items with `repeat`, and the items that they stand for.
TEST(rigid_copies_of_items)
{
    static const struct {
        const char *copies, *written;
    } pairs[] = {
        // n: copies 1 to n; [first, last]; no copies if last comes before first
        {"{world: {bodies: [{name: b#, repeat: 2}]}}", "{world: {bodies: [{name: b1}, {name: b2}]}}"},
        {"{world: {bodies: [{name: b#, repeat: [3, 4]}, {name: c#, repeat: [0, 0]}]}}",
         "{world: {bodies: [{name: b3}, {name: b4}, {name: c0}]}}"},
        {"{world: {bodies: [{name: a#, repeat: 0}, {name: b#, repeat: [3, 2]}, {name: c#, repeat: [9, 2]}, "
         "{name: d}]}}",
         "{world: {bodies: [{name: d}]}}"},
        // either end can be the name of an integer
        {"{copies: 2, world: {bodies: [{name: b#, repeat: copies}, {name: c#, repeat: [copies, 3]}]}}",
         "{copies: 2, world: {bodies: [{name: b1}, {name: b2}, {name: c2}, {name: c3}]}}"},
        // the copy's number in names, and the numbers of its neighbours
        {"{world: {bodies: [{name: b#_#x, repeat: [9, 11]}]}}",
         "{world: {bodies: [{name: b9_9x}, {name: b10_10x}, {name: b11_11x}]}}"},
        {"{world: {bodies: [{name: b#, repeat: 6, position: [0, 0, 0], step: {position: [1]}}], constraints: [{name: "
         "c#, repeat: [3, 4], type: ball, a: b#-2, b: b#+2}, {name: d#+1, repeat: [2, 2], type: ball, a: b#, b: "
         "b#-1}]}}",
         "{world: {bodies: [{name: b1}, {name: b2, position: [1, 0, 0]}, {name: b3, position: [2, 0, 0]}, {name: b4, "
         "position: [3, 0, 0]}, {name: b5, position: [4, 0, 0]}, {name: b6, position: [5, 0, 0]}], constraints: "
         "[{name: c3, type: ball, a: b1, b: b5}, {name: c4, type: ball, a: b2, b: b6}, {name: d3, type: ball, a: b2, "
         "b: b1}]}}"},
        {"{world: {bodies: [{name: b#, repeat: 4, position: [0, 0, 0], step: {position: [0.1]}}]}}",
         "{world: {bodies: [{name: b1}, {name: b2, position: [0.1, 0, 0]}, {name: b3, position: [0.2, 0, 0]}, {name: "
         "b4, position: [0.3, 0, 0]}]}}"},
        // `step` adds to a number, or to the first elements of a list; it can be negative
        {"{world: {bodies: [{name: b#, repeat: [5, 7], mass: 2, inertia: [1, 2, 3], position: [1, 2, 3], step: {mass: "
         "-0.5, inertia: [0.25], position: [0, -1, 0.5]}}, {name: last, position: [7, 8, 9]}]}}",
         "{world: {bodies: [{name: b5, mass: 2, inertia: [1, 2, 3], position: [1, 2, 3]}, {name: b6, mass: 1.5, "
         "inertia: [1.25, 2, 3], position: [1, 1, 3.5]}, {name: b7, mass: 1, inertia: [1.5, 2, 3], position: [1, 0, "
         "4]}, {name: last, position: [7, 8, 9]}]}}"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        Sha256Text copies, written;
        rigid_resolved(pairs[i].copies, &copies);
        rigid_resolved(pairs[i].written, &written);
        CHECK_TEXT(written.hex, copies.hex);
    }
}

// ---- bounds ---------------------------------------------------------------------------------------------------------

static void rigid_refused(const char *simulation, const char *message)
{
    Arena arena;
    Spec spec;
    char *text = NULL;
    size_t size = 0;
    CHECK_OK(arena_create(&arena, (size_t)1 << 30, "a spec to refuse"));
    Diagnostics *diagnostics = diagnostics_new(&arena);
    const char *whole =
        arena_format(&arena, "version: 1\nexperiment: test\nmodel: rigid\nsimulation: %s\n", simulation);
    CHECK_ERROR(ERROR_USER, spec_parse("rigid.yaml", whole, NULL, 0, &arena, diagnostics, &spec));
    FILE *out = open_memstream(&text, &size);
    diagnostics_print(diagnostics, out, false);
    fclose(out);
    CHECK(strstr(text, message) != NULL);
    free(text);
    arena_destroy(&arena);
}

// Heights and angles keep their value at the start, wherever the other end is.
TEST(rigid_along_and_turn_hold_the_start)
{
    static const char *const held[] = {"type: along, axis: [0, 0, 1], at_b: [0, 0, 0]", "type: turn, axis: [0, 0, 1]"};
    for (int i = 0; i < 2; i++) {
        RigidRun run;
        char simulation[600];
        snprintf(simulation, sizeof simulation,
                 "{duration: 0.1, world: {bodies: [{name: ball, position: [1, 2, 3], orientation: [0, 0, 0.6, 0.8]}], "
                 "constraints: [{name: c, a: ball, %s}]}}",
                 held[i]);
        rigid_run(&run, simulation, "");
        CHECK_NEAR(0.0, rigid_metric(&run, "error_max", 0), 1e-12);
        if (i == 0) CHECK_NEAR(3.0, rigid_metric(&run, "ball_end_z", 0), 1e-12);
        rigid_end(&run);
    }
}

TEST(rigid_items_without_copies_have_no_number)
{
    rigid_refused("{world: {bodies: [{name: b}], constraints: [{name: c, type: ball, a: b#}]}}",
                  "a is 'b#', which is not one of world.bodies");
}

// After items without copies and with several, an error is shown at its item.
TEST(rigid_errors_of_copies_stand_at_their_item)
{
    rigid_refused("\n  world:\n    bodies:\n      - {name: none#, repeat: [5, 2]}\n      - {name: good#, repeat: 2}\n"
                  "      - {name: bad#, repeat: 2, fixed: true, spin: [0, 0, 1]}\n",
                  "rigid.yaml:9:9: error: bad1 is fixed but has a velocity");
    rigid_refused("{world: {bodies: [{name: b#, repeat: 2, fixed: false, step: {fixed: 1}}]}}",
                  "step has 'fixed', which is not a numeric key of this item");
}

// A misspelt key is the only error: its item still makes copies, which other items can name.
TEST(rigid_copies_of_a_misspelt_repeat)
{
    Arena arena;
    Spec spec;
    CHECK_OK(arena_create(&arena, 1 << 24, "a spec to refuse"));
    CHECK_SAYS(ERROR_USER, "rigid.yaml: 1 error",
               spec_parse("rigid.yaml",
                          "version: 1\nexperiment: test\nmodel: rigid\nsimulation: {world: {bodies: [{name: b#, "
                          "repaet: 3}], constraints: [{name: c, type: distance, a: b1, b: b3}]}}\n",
                          NULL, 0, &arena, diagnostics_new(&arena), &spec));
    arena_destroy(&arena);
}

TEST(rigid_copies_stay_in_their_range)
{
    rigid_refused("{world: {bodies: [{name: b#, repeat: 4, mass: 1, step: {mass: -0.5}}]}}",
                  "mass of the copy with number 3 would be 0: out of its range");
    rigid_refused("{world: {bodies: [{name: b#, repeat: 4, mass: 1, step: {mass: 5e11}}]}}",
                  "mass of the copy with number 3 would be 1000000000001: out of its range");
}

TEST(rigid_off_diagonal_inertia_is_checked)
{
    rigid_refused("{world: {bodies: [{name: ball, inertia: [1, 1, 1, 2, 0, 0]}]}}",
                  "inertia of ball is not positive definite");
}

TEST(rigid_bodies_that_are_fixed_do_not_turn)
{
    rigid_refused("{world: {bodies: [{name: post, fixed: true, spin: [0, 0, 1]}, {name: ball}]}}",
                  "post is fixed but has a velocity");
}

TEST(rigid_worlds_are_bounded)
{
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 24, "large worlds"));
    char *items = arena_take(&arena, 5000 * 8, 1), *end = items;
    for (int i = 0; i < 4097; i++) end = stpcpy(end, i > 0 ? ", {}" : "{}");
    rigid_refused(arena_format(&arena, "{world: {bodies: [%s]}}", items),
                  "bodies has 4097 items, at most 4096 are allowed");
    rigid_refused("{world: {bodies: [{name: b#, repeat: 4096}, {name: more}]}}",
                  "bodies has 4097 items, at most 4096 are allowed");
    Sha256Text most;
    rigid_resolved("{world: {bodies: [{name: b#, repeat: 4096}]}}", &most);
    char *welds = arena_take(&arena, 250 * 64, 1);
    end = welds;
    for (int i = 0; i < 250; i++) end += snprintf(end, 64, "%s{name: w%d, type: weld, a: body}", i > 0 ? ", " : "", i);
    rigid_refused(arena_format(&arena, "{world: {bodies: [{name: body}], constraints: [%s]}}", welds),
                  "the constraints close loops with 1494 rows, at most 1024 are allowed");
    rigid_refused(
        arena_format(&arena, "{solver: skyline, world: {bodies: [{name: body}], constraints: [%s]}}", welds),
        "the matrix of the constraints' rows has more than 1048576 entries within its skyline; `solver: trees` "
        "has none");
    arena_destroy(&arena);
}

// ---- the same bits --------------------------------------------------------------------------------------------------

// A chain that fits into fast memory and a longer one, each alone and among other lanes, in one slice and in many, on
// every instruction set.
TEST(rigid_bits_do_not_depend_on_lanes_slices_or_instruction_sets)
{
    static const char *const isas[] = {"scalar", ISA_V3, "auto"};
    static const char *const forms[] = {"stabilisation: baumgarte", "stabilisation: rattle"};
    for (int n = 1; n <= 5; n += 4) {
        for (int f = 0; f < 2; f++) {
            double expected = NAN;
            for (int i = 0; i < 6; i++) {
                RigidRun run;
                Arena arena;
                CHECK_OK(arena_create(&arena, 1 << 20, "a chain"));
                rigid_start(&run, rigid_chain(n, forms[f], &arena), "", i < 3 ? 1 : 11, isas[i % 3]);
                for (int64_t lane = 0; lane < run.batch->lanes - 1; lane++)
                    run.batch->parameter[lane] = (double)lane; // alpha of the other lanes
                rigid_go(&run, i < 3 ? 1000 : 7);
                const double x = rigid_metric(&run, "b0_end_x", run.batch->lanes - 1);
                if (i == 0) expected = x;
                CHECK_BITS(expected, x);
                rigid_end(&run);
                arena_destroy(&arena);
            }
        }
    }
}
