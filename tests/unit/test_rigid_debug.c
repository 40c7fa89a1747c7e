// Debug rows of rigid bodies, column by column, and the table that is made of them for people. What is solved (Jv, C,
// lambda, residual) is compared with a second solution in test_rigid_kkt.c.
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEBUG_TIME, DEBUG_ROW, DEBUG_CONSTRAINT, DEBUG_JV, DEBUG_C, DEBUG_LAMBDA, DEBUG_RESIDUAL, DEBUG_ENERGY };

// A ball on a rod that hangs on a bar with a hinge, and a free body. The rod comes first in the list of constraints;
// the hinge's rows come first in the tree.
#define DEBUG_WORLD                                                                                                    \
    "world: {bodies: [{name: bar, mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 1], spin: [0, 0.5, 0], "       \
    "velocity: [0, 0, -0.25]}, {name: ball, mass: 3, inertia: 0.4, position: [1, 0, -1], velocity: [0.5, 0.5, 0]}, "   \
    "{name: free, gravity: false, velocity: [1, 2, 3]}], constraints: [{name: rod, type: distance, a: ball, b: bar, "  \
    "at_b: [0.5, 0, 0]}, {name: pin, type: hinge, a: bar, at_a: [-0.5, 0, 0], axis: [0, 1, 0]}]}"

// Kinetic energy, with inertias in body axes, and energy of gravity.
static double debug_energy(const double *sample)
{
    static const double masses[] = {2.0, 3.0, 1.0}, weights[] = {2.0, 3.0, 0.0};
    static const double inertias[][3] = {{0.1, 0.2, 0.3}, {0.4, 0.4, 0.4}, {1.0, 1.0, 1.0}};
    double energy = 0.0;
    for (int b = 0; b < 3; b++) {
        const double *p = sample + 1 + 13 * b, *q = p + 3, *v = p + 7, *w = p + 10;
        energy += weights[b] * 9.81 * p[2];
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3; // w along the body's own axis k
            const double own = (1.0 - 2.0 * (q[i] * q[i] + q[j] * q[j])) * w[k] +
                               2.0 * (q[k] * q[i] + q[3] * q[j]) * w[i] + 2.0 * (q[k] * q[j] - q[3] * q[i]) * w[j];
            energy += 0.5 * masses[b] * v[k] * v[k] + 0.5 * inertias[b][k] * own * own;
        }
    }
    return energy;
}

// Six rows per step, in order; each has the time before the step and the energy after it.
TEST(rigid_debug_rows_of_each_step)
{
    enum { STEPS = 40, ROWS = 6 };
    static const char *const forms[] = {"baumgarte", "rattle"};
    for (int f = 0; f < 2; f++) {
        RigidRun run;
        char simulation[1000];
        snprintf(simulation, sizeof simulation, "{stabilisation: %s, dt: 0.0078125, duration: 0.3125, " DEBUG_WORLD "}",
                 forms[f]);
        rigid_start_observed(&run, simulation, 2, "auto", STEPS + 1, STEPS * ROWS);
        rigid_go(&run, 7);
        CHECK_INTEGER(STEPS * ROWS, run.batch->debug.count[1]);
        for (int k = 0; k < STEPS * ROWS; k++) {
            const double *row = rigid_debug_row(&run, 1, k), *after = rigid_sample(&run, 1, k / ROWS + 1);
            CHECK_BITS(0.0078125 * (k / ROWS), row[DEBUG_TIME]);
            CHECK_BITS((double)(k % ROWS), row[DEBUG_ROW]);
            CHECK_BITS(k % ROWS < 5 ? 1.0 : 0.0, row[DEBUG_CONSTRAINT]);
            CHECK_NEAR(debug_energy(after), row[DEBUG_ENERGY], 1e-12);
            CHECK(fabs(row[DEBUG_RESIDUAL]) < 1e-10);
        }
        CHECK(fabs(debug_energy(rigid_sample(&run, 1, STEPS)) - debug_energy(rigid_sample(&run, 1, 0))) > 1e-6);
        rigid_end(&run);
    }
}

// If dt has several substeps, the rows are those of the first one.
TEST(rigid_debug_rows_of_the_first_substep)
{
    enum { TICKS = 4, ROWS = 6 };
    RigidRun whole, fine;
    rigid_start_observed(&whole, "{dt: 0.0625, duration: 0.25, " DEBUG_WORLD "}", 2, "auto", TICKS + 1, TICKS * ROWS);
    rigid_start_observed(&fine, "{dt: 0.015625, duration: 0.25, " DEBUG_WORLD "}", 1, "auto", 4 * TICKS + 1,
                         4 * TICKS * ROWS);
    rigid_set(&whole, "substeps", 1, 4.0);
    rigid_go(&whole, 3);
    rigid_go(&fine, 100);
    CHECK_INTEGER(TICKS * ROWS, whole.batch->debug.count[1]);
    CHECK_INTEGER(4 * TICKS * ROWS, fine.batch->debug.count[0]);
    for (int k = 0; k < TICKS * ROWS; k++) {
        const int same = k / ROWS * 4 * ROWS + k % ROWS;
        CHECK(memcmp(rigid_debug_row(&whole, 1, k), rigid_debug_row(&fine, 0, same), 8 * sizeof(double)) == 0);
    }
    rigid_end(&whole);
    rigid_end(&fine);
}

// 30 balls have 90 rows; the first 64 are written.
TEST(rigid_debug_rows_of_large_worlds)
{
    RigidRun run;
    rigid_start_observed(&run,
                         "{copies: 30, dt: 0.01, duration: 0.02, world: {bodies: [{name: b#, repeat: copies, position: "
                         "[1, 0, 0], step: {position: [1]}}], constraints: [{name: j#, repeat: copies, type: ball, a: "
                         "b#, at_a: [0, 0, 1]}]}}",
                         1, "auto", 3, 200);
    rigid_go(&run, 10);
    CHECK_INTEGER(64, run.spec.configured.debug_rows);
    CHECK_INTEGER(2 * 64, run.batch->debug.count[0]);
    CHECK_BITS(63.0, rigid_debug_row(&run, 0, 63)[DEBUG_ROW]);
    CHECK_BITS(21.0, rigid_debug_row(&run, 0, 63)[DEBUG_CONSTRAINT]);
    CHECK_BITS(0.0, rigid_debug_row(&run, 0, 64)[DEBUG_ROW]);
    rigid_end(&run);
}

// ---- tables of debug rows -------------------------------------------------------------------------------------------

enum { TABLE_ROW, TABLE_CONSTRAINT, TABLE_C, TABLE_JV, TABLE_LAMBDA, TABLE_TENSION, TABLE_RESIDUAL };

static DebugCell debug_cell(const RigidRun *run, const double *row, int column)
{
    const Configured *configured = &run->spec.configured;
    double parameter[100];
    for (int p = 0; p < configured->n_parameters && p < 100; p++)
        parameter[p] = run->batch->parameter[p * run->batch->stride];
    return configured->model->debug_table->cell(configured, parameter, row, column);
}

static void debug_check_table(const char *form, double searched)
{
    RigidRun run;
    char simulation[1000];
    // the rod starts 0.2 m too long
    snprintf(simulation, sizeof simulation, "{stabilisation: %s, dt: 0.01, duration: 0.01, " DEBUG_WORLD "}", form);
    rigid_start_observed(&run, simulation, 1, "auto", 2, 6);
    rigid_set(&run, "rod_length", 0, 1.8);
    rigid_set(&run, "alpha", 0, 20.0);
    rigid_set(&run, "beta", 0, 20.0);
    if (searched >= 0.0) rigid_set(&run, "form", 0, searched);
    rigid_go(&run, 1);
    const double *pin = rigid_debug_row(&run, 0, 0), *rod = rigid_debug_row(&run, 0, 5);
    const Configured *configured = &run.spec.configured;
    CHECK_TEXT("energy", configured->debug[configured->model->debug_table->shared].name);
    CHECK_TEXT("pin", debug_cell(&run, pin, TABLE_CONSTRAINT).text);
    CHECK_TEXT("rod", debug_cell(&run, rod, TABLE_CONSTRAINT).text);
    CHECK_BITS(5.0, debug_cell(&run, rod, TABLE_ROW).number);
    CHECK_BITS(rod[DEBUG_C], debug_cell(&run, rod, TABLE_C).number);
    CHECK_BITS(rod[DEBUG_JV], debug_cell(&run, rod, TABLE_JV).number);
    CHECK_BITS(rod[DEBUG_LAMBDA], debug_cell(&run, rod, TABLE_LAMBDA).number);
    CHECK_BITS(rod[DEBUG_RESIDUAL], debug_cell(&run, rod, TABLE_RESIDUAL).number);
    CHECK(isnan(debug_cell(&run, pin, TABLE_TENSION).number)); // a hinge has no tension
    const double pull = rigid_metric(&run, "tension_max", 0);
    CHECK(pull > 10.0 && fabs(rod[DEBUG_JV]) > 0.1);
    CHECK_NEAR(pull, debug_cell(&run, rod, TABLE_TENSION).number, 1e-13 * pull);
    rigid_end(&run);
}

// A rod's length is a parameter. Form soft solves for |d| - L, so that lambda is the tension itself.
TEST(rigid_debug_table_shows_the_tension_of_rods)
{
    debug_check_table("baumgarte", -1.0);
    debug_check_table("soft", -1.0);
    debug_check_table("searched", 4.0); // form soft
    debug_check_table("searched", 3.0); // form velocity
}

TEST(rigid_debug_table_survives_impossible_rows)
{
    static const double rows[] = {-1.0, 6.0, 1e300, -1e300, NAN, INFINITY};
    RigidRun run;
    rigid_start_observed(&run, "{dt: 0.01, duration: 0.01, " DEBUG_WORLD "}", 1, "auto", 2, 6);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double row[8] = {0, rows[i], 1e9, 0, 0, 1, 0, 0};
        CHECK(debug_cell(&run, row, TABLE_CONSTRAINT).text == NULL);
        CHECK_BITS(1e9, debug_cell(&run, row, TABLE_CONSTRAINT).number);
        CHECK(isnan(debug_cell(&run, row, TABLE_TENSION).number));
    }
    rigid_end(&run);
}
