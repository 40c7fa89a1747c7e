// The two solvers of a rigid world, by the matrix of the rows and by trees, and the choice between them.
#include "../../sim/rigid/rigid.h"
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct SolversCase {
    const char *what, *options, *world;
    double redundant; // number of redundant rows
} SolversCase;

#define SOLVERS_CHAIN(n)                                                                                               \
    "bodies: [{name: b#, repeat: " n ", mass: 2, inertia: [0.2, 0.1, 0.15], position: [0.5, 0, 0], "                   \
    "step: {position: [1, 0.2, 0], mass: 0.7}, spin: [0.1, 0.2, 0.3]}], "
#define SOLVERS_HUNG "{name: first, type: ball, a: b1, at_a: [-0.5, 0, 0]}, "

static const SolversCase solvers_cases[] = {
    {"balls", "",
     SOLVERS_CHAIN("6") "constraints: [" SOLVERS_HUNG
                        "{name: j#, repeat: [2, 6], type: ball, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}]",
     0},
    {"hinges that close a loop", "",
     SOLVERS_CHAIN(
         "5") "constraints: [" SOLVERS_HUNG
              "{name: j#, repeat: [2, 5], type: hinge, axis: [0, 0.6, 0.8], a: b#, b: b#-1, at_a: [-0.5, 0, 0]}, "
              "{name: last, type: distance, a: b5, at_b: [6, 1, 1]}]",
     0},
    {"nothing fixed", "",
     SOLVERS_CHAIN("4") "constraints: ["
                        "{name: j#, repeat: [2, 4], type: weld, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}]",
     0},
    {"a ring", "",
     SOLVERS_CHAIN("7") "constraints: ["
                        "{name: j#, repeat: [2, 7], type: ball, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}, "
                        "{name: last, type: ball, a: b1, b: b7}]",
     0},
    {"arms", "",
     SOLVERS_CHAIN("9") "constraints: [" SOLVERS_HUNG
                        "{name: j#, repeat: [2, 5], type: ball, a: b#, b: b1, at_a: [-0.5, 0, 0]}, "
                        "{name: k#, repeat: [6, 9], type: distance, a: b#, b: b#-4}]",
     0},
    {"what all the rest implies", "",
     SOLVERS_CHAIN(
         "3") "constraints: [" SOLVERS_HUNG
              "{name: j#, repeat: [2, 3], type: weld, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}, "
              "{name: again, type: turn, a: b2, b: b3}, {name: twice, type: ball, a: b1, at_a: [-0.5, 0, 0]}]",
     4},
    {"shared loads", "redundant: regularise, cfm: 1e-6, ",
     SOLVERS_CHAIN("3") "constraints: [" SOLVERS_HUNG
                        "{name: j#, repeat: [2, 3], type: ball, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}, "
                        "{name: twice, type: ball, a: b1, at_a: [-0.5, 0, 0]}]",
     0},
    {"soft", "stabilisation: soft, ",
     SOLVERS_CHAIN("5") "constraints: [" SOLVERS_HUNG "{name: j#, repeat: [2, 5], type: distance, a: b#, b: b#-1}]", 0},
    {"rattle", "stabilisation: rattle, ",
     SOLVERS_CHAIN("5") "constraints: [" SOLVERS_HUNG
                        "{name: j#, repeat: [2, 5], type: ball, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}, "
                        "{name: last, type: distance, a: b5, at_b: [6, 1, 1]}]",
     0},
    {"islands and free bodies", "",
     SOLVERS_CHAIN(
         "8") "constraints: [" SOLVERS_HUNG
              "{name: j#, repeat: [4, 6], type: ball, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}, "
              "{name: last, type: weld, a: b8}], forces: [{name: pull, type: spring, a: b2, b: b7, stiffness: 9, "
              "length: 1}]",
     0},
};

static void solvers_run(RigidRun *run, const SolversCase *given, const char *solver)
{
    char simulation[2000];
    snprintf(simulation, sizeof simulation, "{duration: 0.3, dt: 0.005, solver: %s, %sworld: {%s}}", solver,
             given->options, given->world);
    rigid_run(run, simulation, "");
}

// The solvers agree in all metrics, which include the bodies' positions, up to the growth of rounding errors in sixty
// steps.
TEST(rigid_solvers_agree)
{
    for (size_t k = 0; k < sizeof solvers_cases / sizeof solvers_cases[0]; k++) {
        const SolversCase *given = &solvers_cases[k];
        RigidRun rows, trees;
        solvers_run(&rows, given, "skyline");
        solvers_run(&trees, given, "trees");
        const Configured *configured = &rows.spec.configured;
        const RigidConstants *c = (const RigidConstants *)&configured->constants;
        CHECK(c->n_loop_rows == 0 && c->n_levels == 0);
        CHECK_NEAR(given->redundant, rigid_metric(&rows, "redundant_rows", 0), 0.0);
        CHECK(rigid_metric(&rows, "multiplier_max", 0) > 1e-3);
        for (int m = 0; m < configured->n_metrics; m++) {
            const double one = rows.batch->metric[m], other = trees.batch->metric[m];
            const bool residual = strcmp(configured->metrics[m].name, "residual_max") == 0;
            const double bound = residual ? 1e-9 : 1e-8 * (1.0 + fabs(other));
            if (!(fabs(one - other) <= bound))
                printf("%s: %s: %.17g, by trees %.17g\n", given->what, configured->metrics[m].name, one, other);
            CHECK(fabs(one - other) <= bound);
        }
        rigid_end(&rows);
        rigid_end(&trees);
    }
}

// ---- the skyline ----------------------------------------------------------------------------------------------------

static bool solvers_share(const RigidBody *bodies, const RigidRow *a, const RigidRow *b)
{
    const double ends[2] = {a->i, a->j};
    for (int k = 0; k < 2; k++) {
        if (bodies[(int)ends[k]].fixed == 0 && (b->i == ends[k] || b->j == ends[k])) return true;
    }
    return false;
}

// Checks that the rows of each constraint form one group, without other rows.
static void solvers_check_together(const RigidRow *rows, int n)
{
    for (int k = 0; k < n; k += rows[k].together) {
        const int count = rows[k].together;
        CHECK(count >= 1 && count <= RIGID_JOINT_ROWS && k + count <= n);
        if (count < 1) return;
        for (int r = 0; r < count; r++) {
            CHECK_INTEGER(rows[k].constraint, rows[k + r].constraint);
            CHECK_INTEGER(rows[k].reach, rows[k + r].reach);
            CHECK_INTEGER(count - r, rows[k + r].together);
            CHECK_INTEGER(r, rows[k + r].before);
        }
        CHECK(k + count == n || rows[k + count].constraint != rows[k].constraint);
    }
}

// Checks that each row begins at the first row that shares a body with it, and has its own places.
static void solvers_check_skyline(const RigidRun *run)
{
    const Configured *configured = &run->spec.configured;
    RigidConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const RigidBody *bodies = (const RigidBody *)configured->assets;
    const RigidRow *rows = (const RigidRow *)(configured->assets + c.rows);
    int next = c.schur_at;
    for (int k = 0; k < c.n_rows; k++) {
        int first = 0;
        while (!solvers_share(bodies, &rows[k], &rows[first])) first++;
        CHECK(rows[k].reach == first);
        CHECK(rows[k].entry + first == next);
        next = rows[k].entry + k + 1;
    }
    CHECK(next == c.cells);
    solvers_check_together(rows, c.n_rows);
}

TEST(rigid_skylines_begin_where_rows_share_a_body)
{
    for (size_t k = 0; k < sizeof solvers_cases / sizeof solvers_cases[0]; k++) {
        RigidRun run;
        solvers_run(&run, &solvers_cases[k], "skyline");
        solvers_check_skyline(&run);
        rigid_end(&run);
    }
}

// ---- the choice of the solver ---------------------------------------------------------------------------------------

static bool solvers_takes_rows(const char *solver, const char *world)
{
    RigidRun run;
    RigidConstants c;
    char simulation[1000];
    snprintf(simulation, sizeof simulation, "{duration: 0.01, solver: %s, world: {%s}}", solver, world);
    rigid_start(&run, simulation, "", 1, "auto");
    memcpy(&c, &run.spec.configured.constants, sizeof c);
    const bool rows = ((const RigidIsland *)(run.spec.configured.assets + c.islands))->skyline != 0;
    CHECK(rows == (c.n_levels == 0));
    rigid_end(&run);
    return rows;
}

// Chains and loops use the matrix of rows, as few rows share bodies. Worlds that branch into many arms use trees.
TEST(rigid_islands_are_solved_with_the_least_work)
{
    static const char chain[] =
        SOLVERS_CHAIN("300") "constraints: [" SOLVERS_HUNG
                             "{name: j#, repeat: [2, 300], type: ball, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}, "
                             "{name: last, type: distance, a: b300, at_b: [300, 60, 1]}]";
    static const char star[] =
        SOLVERS_CHAIN("30") "constraints: [" SOLVERS_HUNG
                            "{name: j#, repeat: [2, 30], type: ball, a: b#, b: b1, at_a: [-0.5, 0, 0]}]";
    CHECK(solvers_takes_rows("auto", chain) && solvers_takes_rows("skyline", chain));
    CHECK(!solvers_takes_rows("trees", chain));
    CHECK(!solvers_takes_rows("auto", star) && !solvers_takes_rows("trees", star));
    CHECK(solvers_takes_rows("skyline", star));
}
