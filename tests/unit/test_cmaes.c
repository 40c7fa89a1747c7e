// The CMA-ES: its strategy parameters and its speed against published and measured figures, and how it ranks.
#include "cmaes_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- published values -----------------------------------------------------------------------------------------------

// Table 1 for n = 10, lambda = 10; mu_eff, the rates of C and the weights are also those that pycma 4.5 prints.
TEST(cmaes_strategy_parameters_are_those_of_the_tutorial)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_sphere, 10, 1, "");
    const Cmaes *cmaes = test.search.scratch;
    CmaesWeights weights = {.weight = ARENA_NEW(&test.arena, double, 10)};
    cmaes_weights(cmaes, 10, &weights);
    CHECK_INTEGER(10, cmaes->lambda_start); // 4 + floor(3 ln 10)
    CHECK_INTEGER(5, weights.mu);
    CHECK_NEAR(3.1672992814107017, weights.mu_eff, 1e-14);
    CHECK_NEAR(0.284428587, weights.c_sigma, 1e-9);
    CHECK_NEAR(1.284428587, weights.d_sigma, 1e-9);
    CHECK_NEAR(0.29499038303562225, weights.c_c, 1e-15);
    CHECK_NEAR(0.015283824524751714, weights.c_1, 1e-15);
    CHECK_NEAR(0.02355177665041747, weights.c_mu, 1e-15);
    double positive = 0.0;
    for (int i = 0; i < 5; i++) positive += weights.weight[i];
    CHECK_NEAR(1.0, positive, 1e-15);
    CHECK_NEAR(-1.648945714440647, weights.sum - positive, 1e-13);
    CHECK_NEAR(0.45627264690340597, weights.weight[0], 1e-15);
    CHECK(weights.weight[5] < 0.0 && weights.weight[9] < weights.weight[5]);
    cmaes_case_end(&test);
}

static int cmaes_ascending_counts(const void *a, const void *b)
{
    return (int)(*(const int64_t *)a - *(const int64_t *)b);
}

// Median number of evaluations to 1e-8 over eleven seeds; 0 if a run did not reach it.
static int64_t cmaes_median_evaluations(CmaesFunction *function, int n)
{
    enum { RUNS = 11 };
    int64_t counts[RUNS];
    for (int i = 0; i < RUNS; i++) {
        CmaesCase test;
        cmaes_case_start(&test, function, n, (uint64_t)i, "sigma: 0.2, stop: {target: 1e-8}");
        cmaes_case_run(&test, CMAES_TEST_TRIALS);
        counts[i] = cmaes_case_of(&test, 0)->stop == CMAES_AT_TARGET ? test.evaluations : 0;
        cmaes_case_end(&test);
    }
    qsort(counts, RUNS, sizeof *counts, cmaes_ascending_counts);
    return counts[RUNS / 2];
}

TEST(cmaes_needs_as_many_evaluations_as_the_reference_implementation)
{
    // medians of 31 runs of the reference implementation (pycma 4.5, same start, sigma and bounds)
    static const struct {
        CmaesFunction *function;
        int n;
        int64_t expected;
    } cases[] = {
        {cmaes_sphere, 5, 728},      {cmaes_sphere, 10, 1440},     {cmaes_sphere, 20, 2832},
        {cmaes_ellipsoid, 5, 1480},  {cmaes_ellipsoid, 10, 3960},  {cmaes_ellipsoid, 20, 12912},
        {cmaes_rosenbrock, 5, 1848}, {cmaes_rosenbrock, 10, 5570}, {cmaes_rosenbrock, 20, 17112},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += test_quick() ? 3 : 1) {
        const int64_t median = cmaes_median_evaluations(cases[i].function, cases[i].n);
        CHECK_NEAR(1.0, (double)median / (double)cases[i].expected, 0.12);
    }
}

// ---- ranking and reasons --------------------------------------------------------------------------------------------

static double cmaes_fails_above(const double *x, int n) { return x[0] > 0.9 ? (double)NAN : cmaes_sphere(x, n); }

static double cmaes_always_fails(const double *x, int n)
{
    (void)x, (void)n;
    return (double)NAN;
}

TEST(cmaes_failures_rank_last_by_the_time_they_survived)
{
    enum { MEMBERS = 8 };
    static const double fitness[MEMBERS] = {3.0, NAN, 1.0, NAN, INFINITY, NAN, 1.0, 2.0};
    static const double survived[MEMBERS] = {0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0};
    static const int64_t expected[MEMBERS] = {2, 6, 7, 0, 4, 3, 1, 5};
    CmaesCase test;
    bool waiting;
    cmaes_case_start(&test, cmaes_sphere, 5, 3, "population: 8");
    CHECK_OK(test.search.method->ask(&test.search, MEMBERS, &test.trials, &waiting));
    memcpy(test.trials.fitness, fitness, sizeof fitness);
    memcpy(test.trials.survived, survived, sizeof survived);
    CHECK_OK(test.search.method->tell(&test.search, &test.trials));
    const Cmaes *cmaes = test.search.scratch;
    for (int i = 0; i < MEMBERS; i++) CHECK_INTEGER(expected[i], cmaes->order[i]);
    CHECK_BITS(1.0, cmaes_case_of(&test, 0)->best);
    CHECK(isnan(cmaes_case_of(&test, 0)->generation_worst));
    cmaes_case_end(&test);
}

TEST(cmaes_without_a_success_learns_nothing_and_ends)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_always_fails, 5, 3, "patience: 4");
    double mean[5];
    memcpy(mean, cmaes_view(&test.search, 0).mean, sizeof mean);
    cmaes_case_run(&test, 100);
    CHECK_INTEGER(CMAES_AT_ALL_FAILED, cmaes_case_of(&test, 0)->stop);
    CHECK_INTEGER(4, cmaes_case_of(&test, 0)->round);
    CHECK(memcmp(mean, cmaes_view(&test.search, 0).mean, sizeof mean) == 0);
    CHECK_TEXT(side_stop_words("all_failed"), test.search.method->stopped(&test.search));
    CHECK(isnan(cmaes_case_of(&test, 0)->best));
    cmaes_case_end(&test);
}

TEST(cmaes_avoids_a_region_that_fails)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_fails_above, 5, 3, "stop: {generations: 400}");
    cmaes_case_run(&test, 100);
    CHECK_NEAR(0.01, cmaes_case_of(&test, 0)->best, 1e-6); // at x1 = 0.9, all others 1
    cmaes_case_end(&test);
}
