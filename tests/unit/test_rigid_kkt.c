// The solution of a step, against the same KKT system as one dense matrix: islands of few rows and of many, trees and
// loops between them, several islands, rows that follow from others, soft rows.
#include "rigid_kkt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KKT_LANES = 3 };
#define KKT_DT 0.0078125 // s, a power of two

// Compares the change of v and w over the first step.
static void kkt_check_motion(const RigidRun *run, int64_t lane, const KktWorld *world, const KktAnswer *answer)
{
    const double *before = rigid_sample(run, lane, 0), *after = rigid_sample(run, lane, 1);
    double most = 1.0, worst = 0.0;
    CHECK_INTEGER(2, run->batch->trace.count[lane]);
    CHECK_INTEGER(1 + 13 * world->n_bodies, run->spec.configured.n_columns);
    for (int b = 0; b < world->n_bodies; b++) {
        for (int k = 0; k < 6; k++) {
            const int at = 1 + 13 * b + 7 + k;
            most = fmax(most, fabs(answer->a[b][k]));
            worst = fmax(worst, fabs((after[at] - before[at]) / KKT_DT - answer->a[b][k]));
        }
    }
    CHECK_NEAR(0.0, worst / most, 1e-11 / answer->least);
}

static double kkt_greatest(const KktAnswer *answer)
{
    double most = 1.0;
    for (int k = 0; k < answer->n_rows; k++) most = fmax(most, fabs(answer->lambda[k]));
    return most;
}

// The debug row of row `number` of a constraint.
static const double *kkt_debug_row(const RigidRun *run, int64_t lane, int constraint, int number)
{
    for (int64_t k = 0; k < run->batch->debug.count[lane]; k++) {
        const double *row = rigid_debug_row(run, lane, k);
        if (row[2] == (double)constraint && number-- == 0) return row;
    }
    return NULL;
}

static void kkt_check_rows(const RigidRun *run, int64_t lane, const KktAnswer *answer)
{
    const double most = kkt_greatest(answer);
    CHECK_INTEGER(answer->n_rows, run->batch->debug.count[lane]);
    for (int k = 0, number = 0; k < answer->n_rows; k++) {
        number = k > 0 && answer->constraint[k] == answer->constraint[k - 1] ? number + 1 : 0;
        const double *row = kkt_debug_row(run, lane, answer->constraint[k], number);
        CHECK(row != NULL);
        if (row == NULL) continue;
        CHECK_NEAR(answer->Jv[k], row[3], 1e-12);
        CHECK_NEAR(answer->C[k], row[4], 1e-12);
        if (answer->n_dependent == 0) CHECK_NEAR(0.0, (answer->lambda[k] - row[5]) / most, 1e-11 / answer->least);
        CHECK_NEAR(0.0, row[6] / most, 1e-11 / answer->least);
    }
}

// How a case draws its islands, one by one, until the world has the given number of rows. No row may be nearly
// dependent on others.
typedef struct KktCase {
    int rows, rows_max;
    double cfm; // 0: rows that depend on others are dropped
    KktDraw islands[3];
} KktCase;

// Gains of form baumgarte; they differ between lanes.
static KktGains kkt_gains(const KktCase *of, int64_t lane)
{
    return (KktGains){.s = 1.0, .c = 3.0 * (double)(lane + 1), .k = 7.0 / (double)(lane + 1), .cfm = of->cfm};
}

static uint64_t kkt_draw(const KktCase *of, uint64_t state, KktWorld *world, KktAnswer *answer)
{
    const KktGains gains = kkt_gains(of, 0);
    for (int attempt = 0; attempt < 1000; attempt++) {
        *world = (KktWorld){0};
        for (int i = 0; i < 3; i++) kkt_island(world, &of->islands[i], &state);
        kkt_solve(world, &gains, 9.81, answer);
        if (answer->n_rows >= of->rows && answer->n_rows <= of->rows_max && answer->least > 1e-3 &&
            (answer->n_dependent > 0) == of->islands[0].dependent)
            return state;
    }
    CHECK_TEXT("a world with as many rows", "none in 1000");
    return state;
}

static void kkt_check(const KktCase *of, const KktWorld *world, const char *solver, const char *isa, int refine)
{
    RigidRun run;
    KktAnswer answer;
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 24, "a world"));
    const char *give = of->cfm > 0.0 ? arena_format(&arena, "redundant: regularise, cfm: %g, ", of->cfm) : "";
    const char *simulation = arena_format(&arena, "{dt: %g, duration: %g, solver: %s, refine: %d, %sworld: %s}", KKT_DT,
                                          3.0 * KKT_DT, solver, refine, give, kkt_spec(world, &arena));
    rigid_start_observed(&run, simulation, KKT_LANES, isa, 2, KKT_ROWS);
    run.batch->debug.end = 1;
    for (int64_t lane = 0; lane < KKT_LANES; lane++) { // c = 2 alpha, k = beta^2
        rigid_set(&run, "alpha", lane, 0.5 * kkt_gains(of, lane).c);
        rigid_set(&run, "beta", lane, sqrt(kkt_gains(of, lane).k));
    }
    rigid_go(&run, 1);
    for (int64_t lane = 0; lane < KKT_LANES; lane++) {
        const KktGains gains = kkt_gains(of, lane);
        kkt_solve(world, &gains, 9.81, &answer);
        kkt_check_motion(&run, lane, world, &answer);
        kkt_check_rows(&run, lane, &answer);
        CHECK_BITS((double)answer.n_dependent, rigid_metric(&run, "redundant_rows", lane));
        // the later steps, which use what earlier steps stored, are as exact
        const double most = 1e-11 / answer.least * kkt_greatest(&answer);
        CHECK(answer.n_dependent > 0 || rigid_metric(&run, "residual_max", lane) <= most);
    }
    rigid_end(&run);
    arena_destroy(&arena);
}

static void kkt_check_cases(const KktCase *cases, int count, int worlds)
{
    uint64_t state = 8;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < (test_quick() ? 1 : worlds); k++) {
            KktWorld world;
            KktAnswer answer;
            state = kkt_draw(&cases[i], state, &world, &answer);
            for (int s = 0; s < 2; s++) {
                kkt_check(&cases[i], &world, s == 0 ? "trees" : "skyline", "scalar", 0);
                kkt_check(&cases[i], &world, s == 0 ? "trees" : "skyline", "auto", 1);
            }
        }
    }
}

#define KKT_CHECK(cases) kkt_check_cases((cases), sizeof(cases) / sizeof((cases)[0]), 3)

TEST(rigid_steps_of_few_rows_match_the_dense_system)
{
    static const KktCase cases[] = {
        {3, 3, 0, {{.bodies = 1, .trees = 1, .errors = true}}},
        {4, 5, 0, {{.bodies = 1, .trees = 1, .loops = 2, .errors = true}}},
        {1, 6, 0, {{.bodies = 2, .errors = true}}},
        {4, 9, 0, {{.bodies = 3, .errors = true}}},
        {5, 9, 0, {{.bodies = 2, .loops = 3, .errors = true}}},
        {9, 12, 0, {{.bodies = 4, .trees = 1, .errors = true}}},
        {8, 12, 0, {{.bodies = 3, .trees = 2, .loops = 2, .errors = true}}},
        {13, 20, 0, {{.bodies = 4, .trees = 2, .loops = 4, .errors = true}}},
        {17, 24, 0, {{.bodies = 5, .trees = 3, .loops = 5, .errors = true}}},
        {10, 20, 0, {{2, 1, 1, .errors = true}, {2, 1, 0, .errors = true}, {3, 2, 2, .errors = true}}},
    };
    KKT_CHECK(cases);
}

TEST(rigid_steps_of_many_rows_match_the_dense_system)
{
    static const KktCase cases[] = {
        {31, 50, 0, {{.bodies = 16, .trees = 1, .errors = true}}},
        {31, 50, 0, {{.bodies = 16, .errors = true}}},
        {31, 50, 0, {{.bodies = 12, .trees = 1, .loops = 8, .errors = true}}},
        {31, 50, 0, {{.bodies = 12, .loops = 10, .errors = true}}},
        {31, 40, 0, {{.bodies = 10, .trees = 4, .loops = 7, .errors = true}}},
        {40, 60, 0, {{.bodies = 14, .trees = 5, .loops = 12, .errors = true}}},
        {50, 63, 0, {{.bodies = 16, .trees = 6, .loops = 16, .errors = true}}},
        {61, 63, 0, {{8, 3, 8, .errors = true}, {8, 2, 8, .errors = true}}}, // each island has more than 30 rows
        {55, 63, 0, {{2, 1, 1, .errors = true}, {10, 3, 10, .errors = true}, {4, 2, 3, .errors = true}}},
    };
    KKT_CHECK(cases);
}

// Rows that occur twice, at rest: their shares of the load are undetermined, the motion is not.
TEST(rigid_steps_with_dependent_rows)
{
    static const KktCase cases[] = {
        {5, 9, 0, {{.bodies = 1, .trees = 1, .loops = 3, .dependent = true}}},
        {10, 20, 0, {{.bodies = 3, .trees = 2, .loops = 6, .dependent = true}}},
        {35, 60, 0, {{.bodies = 12, .trees = 1, .loops = 9, .dependent = true}}},
        {35, 60, 0, {{.bodies = 12, .loops = 9, .dependent = true}}},
        {40, 63, 0, {{.bodies = 12, .trees = 4, .loops = 15, .dependent = true}}},
    };
    KKT_CHECK(cases);
}

// Dependence is measured relative to the row itself, not to the bodies' masses.
TEST(rigid_steps_of_heavy_bodies)
{
    static const KktCase cases[] = {
        {8, 20, 0, {{.bodies = 4, .trees = 2, .loops = 5, .errors = true, .heavy = 1e11}}},
        {40, 60, 0, {{.bodies = 14, .trees = 5, .loops = 12, .errors = true, .heavy = 1e11}}},
    };
    KKT_CHECK(cases);
}

// cfm adds a fraction of each row's diagonal to it.
TEST(rigid_steps_of_soft_rows)
{
    static const KktCase cases[] = {
        {3, 3, 0.5, {{.bodies = 1, .trees = 1, .errors = true}}},
        {8, 20, 0.1, {{.bodies = 3, .trees = 2, .loops = 4, .errors = true}}},
        {31, 50, 0.02, {{.bodies = 16, .trees = 1, .errors = true}}},
        {40, 60, 0.01, {{.bodies = 14, .trees = 5, .loops = 12, .errors = true}}},
    };
    KKT_CHECK(cases);
}

// ---- residuals ------------------------------------------------------------------------------------------------------

// Two rods of one ball differ in length by `longer`: the row of one depends on the other's and is left out, so that its
// error remains.
static void kkt_check_open_row(double longer)
{
    RigidRun run;
    char simulation[500];
    snprintf(
        simulation, sizeof simulation,
        "{dt: 0.01, duration: 0.01, world: {bodies: [{name: ball, position: [0, 0, -1]}], constraints: [{name: one, "
        "type: distance, a: ball, at_b: [0, 0, 0], length: 1}, {name: other, type: distance, a: ball, at_b: [0, "
        "0, 0], length: %.17g}]}}",
        1.0 + longer);
    rigid_start_observed(&run, simulation, 1, "auto", 2, 2);
    rigid_go(&run, 1);
    const double k = 25.0, C = 0.5 * (1.0 - (1.0 + longer) * (1.0 + longer)); // k = beta^2
    const double *one = rigid_debug_row(&run, 0, 0), *other = rigid_debug_row(&run, 0, 1);
    CHECK_NEAR(k * fabs(C), rigid_metric(&run, "residual_max", 0), 1e-12);
    CHECK_NEAR(k * fabs(C), fabs(one[6]) + fabs(other[6]), 1e-12);
    CHECK_NEAR(one[5] == 0.0 ? k * C : -k * C, one[6] + other[6], 1e-12); // the left-out row: -k C, compared with 0
    CHECK_BITS(1.0, rigid_metric(&run, "redundant_rows", 0));
    rigid_end(&run);
}

TEST(rigid_residual_of_a_left_out_row)
{
    kkt_check_open_row(0.1);
    kkt_check_open_row(-0.1);
}

// A heavy body at the end of a chain of light ones: one more pass removes the residual of rounding.
TEST(rigid_refinement_removes_rounding_errors)
{
    double residual[2];
    for (int refine = 0; refine < 2; refine++) {
        RigidRun run;
        char simulation[800];
        snprintf(
            simulation, sizeof simulation,
            "{refine: %d, copies: 12, dt: 0.001, duration: 0.01, world: {bodies: [{name: b#, repeat: copies, "
            "mass: 0.001, inertia: 0.0001, position: [1, 0, 0], step: {position: [1]}}, {name: load, mass: 1.0e6, "
            "inertia: 1.0e6, position: [13, 0, 0]}], constraints: [{name: hook, type: ball, a: b1, at_a: [-0.5, "
            "0, 0]}, {name: j#, repeat: [2, copies], type: ball, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}, {name: last, "
            "type: ball, a: load, b: b12, at_a: [-0.5, 0, 0]}]}}",
            refine);
        rigid_run(&run, simulation, "");
        residual[refine] = rigid_metric(&run, "residual_max", 0);
        rigid_end(&run);
    }
    CHECK(residual[1] < 1e-3 * residual[0]);
}
