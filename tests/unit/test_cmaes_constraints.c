// The CMA-ES under constraints: ranked by violation, or by an augmented Lagrangian.
#include "cmaes_case.h"

#include <math.h>
#include <string.h>

static void cmaes_constrained_start(CmaesCase *test, int n, const char *constraints, const char *options)
{
    char over[10 * 32] = "", rest[512];
    for (int i = 0; i < n; i++) snprintf(over + strlen(over), 32, "%sx%d: {range: [-5, 5]}", i > 0 ? ", " : "", i + 1);
    snprintf(rest, sizeof rest, "cmaes: {sigma: 0.2, %s}}\nconstraints: [%s]\nobjective: {minimize: \"f\"", options,
             constraints);
    cmaes_case_start_over(test, cmaes_sphere, n, 3, over, rest);
}

// The sphere's optimum at 1 violates the constraint. The nearest point with x1 + x2 + x3 <= 2 is 2/3 in these, with f =
// 1/3.
static const char cmaes_plane[] = "\"x1 + x2 + x3 <= 2\"";

TEST(cmaes_augmented_lagrangian_finds_the_constrained_optimum)
{
    CmaesCase test;
    cmaes_constrained_start(
        &test, 10, cmaes_plane,
        "constraints: augmented_lagrangian, stop: {trials: 12000, tolfun: 0, tolfunhist: 0, tolx: 0}");
    cmaes_case_run(&test, 100);
    const CmaesView view = cmaes_view(&test.search, 0);
    CHECK_NEAR(1.0 / 3.0, view.run->best, 1e-8);
    CHECK_NEAR(2.0 / 3.0, view.multiplier[0], 1e-4); // the Lagrange multiplier is 2 (1 - 2/3)
    for (int i = 0; i < 10; i++)
        CHECK_NEAR(i < 3 ? 2.0 / 3.0 : 1.0, cmaes_value(&test.spec.axes[i].values, view.mean[i]), 1e-4);
    cmaes_case_end(&test);
}

TEST(cmaes_augmented_lagrangian_ignores_an_inactive_constraint)
{
    CmaesCase test;
    cmaes_constrained_start(
        &test, 5, "\"x1 <= 3\", \"x2 >= 1.5\", \"f < 1000 and x3 > -4\"",
        "constraints: augmented_lagrangian, stop: {trials: 12000, tolfun: 0, tolfunhist: 0, tolx: 0}");
    cmaes_case_run(&test, 100);
    const CmaesView view = cmaes_view(&test.search, 0);
    CHECK_NEAR(0.25, view.run->best, 1e-8);
    CHECK_NEAR(0.0, view.multiplier[0], 1e-6);
    CHECK_NEAR(1.0, view.multiplier[1], 1e-4);
    CHECK_NEAR(0.0, view.multiplier[2], 1e-6);
    cmaes_case_end(&test);
}

// By rank alone the search approaches the constraint from the feasible side.
TEST(cmaes_ranks_by_violation)
{
    CmaesCase test;
    cmaes_constrained_start(&test, 5, cmaes_plane, "stop: {trials: 4000}");
    cmaes_case_run(&test, 100);
    CHECK_NEAR(1.0 / 3.0, cmaes_case_of(&test, 0)->best, 0.02);
    CHECK(cmaes_case_of(&test, 0)->best >= 1.0 / 3.0);
    cmaes_case_end(&test);
}

TEST(cmaes_ranks_feasible_members_first)
{
    enum { MEMBERS = 8 };
    static const double fitness[MEMBERS] = {3.0, NAN, 1.0, 0.0, -1.0, NAN, 1.0, 2.0};
    static const double g[MEMBERS][2] = {{-1, 0}, {0, 0}, {0.5, -9}, {1, 1}, {0, 0.4}, {-1, -1}, {-2, -1}, {-1, -1e-9}};
    static const int64_t expected[MEMBERS] = {6, 7, 0, 4, 2, 3, 1, 5};
    CmaesCase test;
    bool waiting;
    cmaes_constrained_start(&test, 5, "\"x1 < 9\", \"x2 < 9\"", "population: 8");
    CHECK_OK(test.search.method->ask(&test.search, MEMBERS, &test.trials, &waiting));
    memcpy(test.trials.fitness, fitness, sizeof fitness);
    memcpy(test.trials.constraint, g, sizeof g);
    CHECK_OK(test.search.method->tell(&test.search, &test.trials));
    const Cmaes *cmaes = test.search.scratch;
    for (int i = 0; i < MEMBERS; i++) CHECK_INTEGER(expected[i], cmaes->order[i]);
    CHECK_BITS(1.0, cmaes_case_of(&test, 0)->best); // best among the members that meet the constraints
    cmaes_case_end(&test);
}

TEST(cmaes_augmented_lagrangian_continues_from_its_state_alone)
{
    CmaesCase whole, pieces;
    const char options[] = "constraints: augmented_lagrangian, searches: 2, restarts: ipop, restarts_max: 1, "
                           "stop: {trials: 1500}";
    cmaes_constrained_start(&whole, 5, cmaes_plane, options);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    cmaes_constrained_start(&pieces, 5, cmaes_plane, options);
    cmaes_case_run_in_pieces(&pieces, 13);
    CHECK(cmaes_same_state(&whole, &pieces));
    cmaes_case_end(&pieces);
    cmaes_case_end(&whole);
}
