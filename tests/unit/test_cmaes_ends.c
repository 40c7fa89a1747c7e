// The CMA-ES: why a search ends, and restarts.
#include "cmaes_case.h"

#include <math.h>

static CmaesStop cmaes_ends_by(CmaesFunction *function, const char *options)
{
    CmaesCase test;
    cmaes_case_start(&test, function, 5, 3, options);
    cmaes_case_run(&test, 100);
    const CmaesStop stop = (CmaesStop)cmaes_case_of(&test, 0)->stop;
    CHECK(test.search.method->stopped(&test.search) != NULL);
    cmaes_case_end(&test);
    return stop;
}

static double cmaes_noise(const double *x, int n)
{
    const RandomKey key = {.ordinal = (uint64_t)(fabs(x[0]) * 1e9), .purpose = RANDOM_SAMPLE};
    (void)n;
    return random_normal(&key, 0);
}

static double cmaes_thin(const double *x, int n) { return cmaes_sphere(x, n - 1) * 1e-30 + 1e10 * x[n - 1] * x[n - 1]; }

TEST(cmaes_ends_with_a_named_reason)
{
    CHECK_INTEGER(CMAES_AT_TARGET, cmaes_ends_by(cmaes_sphere, "stop: {target: 0.1}"));
    CHECK_INTEGER(CMAES_AT_TRIALS, cmaes_ends_by(cmaes_sphere, "stop: {trials: 100}"));
    CHECK_INTEGER(CMAES_AT_GENERATIONS, cmaes_ends_by(cmaes_sphere, "stop: {generations: 9}"));
    CHECK_INTEGER(CMAES_AT_EQUAL_VALUES, cmaes_ends_by(cmaes_flat, ""));
    CHECK_INTEGER(CMAES_AT_TOLFUN, cmaes_ends_by(cmaes_sphere, "stop: {tolfunhist: 0}"));
    CHECK_INTEGER(CMAES_AT_TOLFUNHIST, cmaes_ends_by(cmaes_sphere, "stop: {tolfun: 0, tolfunhist: 1e-8}"));
    CHECK_INTEGER(CMAES_AT_TOLX, cmaes_ends_by(cmaes_sphere, "stop: {tolfun: 0, tolfunhist: 0, tolx: 1e-3}"));
    CHECK_INTEGER(CMAES_AT_TOLXUP, cmaes_ends_by(cmaes_noise, "sigma: 1e-6, stop: {tolxup: 1.5}"));
    CHECK_INTEGER(CMAES_AT_CONDITION, cmaes_ends_by(cmaes_thin, "stop: {tolfun: 0, tolfunhist: 0, condition: 1e6}"));
    CHECK_INTEGER(CMAES_AT_STAGNATION, cmaes_ends_by(cmaes_noise, "stop: {tolxup: 1e30, condition: 1e30}"));
    for (int i = 1; i < CMAES_STOPS; i++) CHECK(cmaes_stop_names[i] != NULL && cmaes_stop_names[i][0] != '\0');
}

// ---- restarts -------------------------------------------------------------------------------------------------------

TEST(cmaes_ipop_doubles_its_population)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_flat, 5, 3, "restarts: ipop, restarts_max: 3");
    int64_t lambda = 8;
    while (cmaes_case_batch(&test, 1000)) {
        const CmaesRun *run = cmaes_case_of(&test, 0);
        CHECK(run->lambda == lambda || run->lambda == 2 * lambda);
        lambda = run->lambda;
        CHECK_INTEGER(lambda, 8LL << run->restart);
    }
    CHECK_INTEGER(64, lambda);
    CHECK_INTEGER(CMAES_AT_EQUAL_VALUES, cmaes_case_of(&test, 0)->stop);
    cmaes_case_end(&test);
}

TEST(cmaes_bipop_shares_its_budget)
{
    CmaesCase test;
    bool small = false;
    cmaes_case_start(&test, cmaes_noise, 5, 3, "restarts: bipop, restarts_max: 4");
    while (cmaes_case_batch(&test, 1000)) {
        const CmaesRun *run = cmaes_case_of(&test, 0);
        small = small || (run->small && run->lambda < 8LL << run->large_restarts);
        CHECK(run->lambda >= 8 && run->lambda <= 8LL << run->large_restarts);
        CHECK(run->sigma_start <= 3.0 && run->sigma_start >= 0.03);
    }
    const CmaesRun *run = cmaes_case_of(&test, 0);
    CHECK(small);
    CHECK_INTEGER(4, run->large_restarts);
    CHECK(run->small_evaluations >= run->large_evaluations);
    CHECK(run->small_evaluations < run->large_evaluations + run->last_large_evaluations);
    cmaes_case_end(&test);
}
