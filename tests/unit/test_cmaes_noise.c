// The CMA-ES where fitness depends on chance: members that are run again.
#include "cmaes_case.h"

#include <math.h>
#include <string.h>

static uint64_t cmaes_draws; // the noise differs at every evaluation, as the randomness of a trial does

static double cmaes_noisy_sphere(const double *x, int n)
{
    const RandomKey key = {.ordinal = cmaes_draws++, .purpose = RANDOM_PERTURB};
    return cmaes_sphere(x, n) + random_normal(&key, 0);
}

static double cmaes_distance(const CmaesCase *test)
{
    const CmaesView view = cmaes_view(&test->search, 0);
    double sum = 0.0;
    for (int i = 0; i < test->n; i++) {
        const double rest = cmaes_value(&test->spec.axes[i].values, cmaes_reflected(view.mean[i])) - 1.0;
        sum += rest * rest;
    }
    return sqrt(sum);
}

static void cmaes_uncertain_start(CmaesCase *test, CmaesFunction *function, uint64_t seed, const char *options)
{
    char over[10 * 32] = "", rest[256];
    cmaes_draws = 0;
    for (int i = 0; i < 10; i++) snprintf(over + strlen(over), 32, "%sx%d: {range: [-5, 5]}", i > 0 ? ", " : "", i + 1);
    snprintf(rest, sizeof rest, "cmaes: {%s}}\nreplicates: {common: false, count: 1", options);
    cmaes_case_start_over(test, function, 10, seed, over, rest);
}

// Distance of the mean from the optimum after 30,000 trials, averaged over three runs.
static double cmaes_noisy_distance(const char *options)
{
    const char stops[] = "sigma: 0.2, stop: {trials: 30000, tolfun: 0, tolfunhist: 0, tolx: 0, tolxup: 1e30}";
    double sum = 0.0;
    for (uint64_t seed = 3; seed < 6; seed++) {
        CmaesCase test;
        char all[224];
        snprintf(all, sizeof all, "%s%s", stops, options);
        cmaes_uncertain_start(&test, cmaes_noisy_sphere, seed, all);
        cmaes_case_run(&test, 64);
        CHECK(options[0] == '\0' || cmaes_case_of(&test, 0)->evaluations_each > 4.0);
        sum += cmaes_distance(&test) / 3.0;
        cmaes_case_end(&test);
    }
    return sum;
}

TEST(cmaes_adds_evaluations_under_noise)
{
    CHECK(cmaes_noisy_distance(", uncertainty: true, uncertainty_max: 64") < 0.6 * cmaes_noisy_distance(""));
}

// Without noise each member runs once; a tenth of them, at least two, run a second time to measure the noise.
TEST(cmaes_without_noise_ranks_do_not_change)
{
    CmaesCase test;
    cmaes_uncertain_start(&test, cmaes_sphere, 3, "uncertainty: true, stop: {target: 1e-8}");
    cmaes_case_run(&test, 7);
    const CmaesRun *run = cmaes_case_of(&test, 0);
    CHECK_INTEGER(CMAES_AT_TARGET, run->stop);
    CHECK_BITS(1.0, run->evaluations_each);
    CHECK(run->noise < 0.0);
    CHECK_INTEGER(run->round * 12, run->evaluations);
    cmaes_case_end(&test);
}

TEST(cmaes_uncertainty_continues_from_its_state_alone)
{
    CmaesCase whole, pieces;
    const char options[] = "searches: 2, uncertainty: true, restarts: bipop, restarts_max: 1, stop: {trials: 2000}";
    cmaes_uncertain_start(&whole, cmaes_noisy_sphere, 3, options);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    CHECK(cmaes_case_of(&whole, 0)->evaluations_each > 1.0);
    cmaes_uncertain_start(&pieces, cmaes_noisy_sphere, 3, options);
    cmaes_case_run_in_pieces(&pieces, 13);
    CHECK(cmaes_same_state(&whole, &pieces));
    cmaes_case_end(&pieces);
    cmaes_case_end(&whole);
}

TEST(cmaes_uncertainty_needs_random_numbers_per_trial)
{
    CmaesCase test;
    Search search;
    cmaes_case_start(&test, cmaes_sphere, 5, 3, "uncertainty: false");
    test.settings = ARENA_NEW(&test.arena, double, CMAES_N_OPTIONS);
    memcpy(test.settings, test.spec.method_settings, CMAES_N_OPTIONS * sizeof *test.settings);
    test.settings[CMAES_UNCERTAINTY] = 1.0;
    test.spec.method_settings = test.settings;
    CHECK_ERROR(ERROR_USER, search_init(&test.spec, &test.arena, &search));
    cmaes_case_end(&test);
}
