// The CMA-ES: points that are injected into its first generation.
#include "cmaes_case.h"

#include <math.h>
#include <string.h>

TEST(cmaes_injected_points_are_run_as_they_are)
{
    CmaesCase test;
    bool waiting;
    cmaes_case_start(&test, cmaes_sphere, 3, 3,
                     "searches: 2, inject: [{x1: 1, x3: -5, x2: 1.5}, {x1: 0.1, x2: 0.2, x3: 0.3}]");
    const double expected[2][3] = {{1.0, 1.5, -5.0}, {0.1, 0.2, 0.3}};
    CHECK_OK(test.search.method->ask(&test.search, 14, &test.trials, &waiting));
    for (int search = 0; search < 2; search++) {
        for (int i = 0; i < 2; i++) {
            const double *x = test.trials.parameter + (search * 7 + i) * 3;
            for (int k = 0; k < 3; k++) CHECK_BITS(expected[i][k], x[k]);
        }
        CHECK(memcmp(test.trials.parameter + (search * 7 + 2) * 3, expected, sizeof expected[0]) != 0);
    }
    cmaes_case_end(&test);
}

// The step to a far point is shortened to sqrt(n) + 2 n/(n + 2), and the search moves towards that point.
TEST(cmaes_injected_points_move_the_mean_by_a_bounded_step)
{
    const double n = 3.0, longest = sqrt(n) + 2.0 * n / (n + 2.0);
    CmaesCase test;
    cmaes_case_start(&test, cmaes_sphere, 3, 3, "sigma: 1e-4, start: center, inject: [{x1: 1, x2: 1, x3: 1}]");
    const CmaesPopulation *population = cmaes_population(&test.search, 0);
    cmaes_draw(&test.search, test.search.scratch, 0, 0, 1);
    CHECK_NEAR(longest * longest, population->square[0], 1e-9);
    double length = 0.0;
    for (int k = 0; k < 3; k++) length += population->y[k] * population->y[k];
    CHECK_NEAR(longest, sqrt(length), 1e-12);
    (void)cmaes_case_batch(&test, 7);
    const CmaesView view = cmaes_view(&test.search, 0);
    CHECK_BITS(0.0, view.run->best);
    for (int k = 0; k < 3; k++) CHECK(view.mean[k] > 5.0 && view.mean[k] < 5.01);
    cmaes_case_end(&test);
}

TEST(cmaes_more_points_than_members_are_refused)
{
    CmaesCase test;
    Search search;
    const double five[5][2] = {{0}};
    cmaes_case_start(&test, cmaes_sphere, 2, 3, "population: 4");
    test.spec.inject = five[0];
    test.spec.n_inject = 4;
    CHECK_OK(search_init(&test.spec, &test.arena, &search));
    test.spec.n_inject = 5;
    CHECK_ERROR(ERROR_USER, search_init(&test.spec, &test.arena, &search));
    cmaes_case_end(&test);
}
