// The CMA-ES: values stay in their ranges, by mirrors or by a penalty; integers are not left too early.
#include "cmaes_case.h"

#include <math.h>
#include <string.h>

// ---- coordinates ----------------------------------------------------------------------------------------------------

TEST(cmaes_bounds_are_smooth_mirrors)
{
    CHECK_BITS(5.0, cmaes_reflected(5.0));
    CHECK_NEAR(0.3, cmaes_reflected(0.3), 1e-15);
    CHECK_BITS(0.0, cmaes_reflected(-0.3));
    CHECK_BITS(10.0, cmaes_reflected(10.3));
    CHECK_NEAR(0.075, cmaes_reflected(0.0), 1e-15);           // a^2/4a
    CHECK_NEAR(5.0, cmaes_reflected(-5.6), 1e-14);            // mirrored at -0.3
    CHECK_NEAR(5.0, cmaes_reflected(5.0 + 21.2), 1e-13);      // one period further
    CHECK_NEAR(3.0, cmaes_reflected(3.0 - 10 * 21.2), 1e-12); // ten periods back
    for (int i = 0; i < 4000; i++) {
        const double x = -20.0 + 0.01 * i, step = cmaes_reflected(x + 0.01) - cmaes_reflected(x);
        CHECK(cmaes_reflected(x) >= 0.0 && cmaes_reflected(x) <= CMAES_WIDTH);
        CHECK(fabs(step) <= 0.01 + 1e-12);
    }
    CHECK(cmaes_reflected((double)INFINITY) >= 0.0 && cmaes_reflected((double)NAN) >= 0.0);
}

TEST(cmaes_values_stay_in_their_ranges)
{
    const Values log_range = {.form = &values_range, .low = 1e-3, .high = 1e3, .log_scale = true};
    const Values integers = {.form = &values_range, .low = 1, .high = 9, .integer = true};
    CHECK_NEAR(1.0, cmaes_value(&log_range, 5.0), 1e-12);
    CHECK(cmaes_value(&log_range, 0.0) >= 1e-3 && cmaes_value(&log_range, 10.0) <= 1e3);
    CHECK_NEAR(5.0, cmaes_coordinate(&log_range, 1.0), 1e-12);
    CHECK_BITS(4.0, cmaes_value(&integers, 3.2));
    CHECK_BITS(9.0, cmaes_value(&integers, 10.0));
    const Values zero = {.form = &values_range, .low = -1.0, .high = 1.0};
    CHECK_BITS(0.0, cmaes_value(&zero, 5.0));
}

static void cmaes_check_allowed(CmaesCase *test)
{
    for (int batch = 0; batch < 30; batch++) {
        (void)cmaes_case_batch(test, 20);
        for (int64_t t = 0; t < test->trials.count; t++) {
            const double *x = test->trials.parameter + t * 2;
            CHECK(x[0] + x[1] <= 1.0);
            CHECK(x[0] >= -1.0 && x[0] <= 1.0);
        }
    }
}

TEST(cmaes_members_that_are_excluded_are_drawn_again)
{
    static const char *const options[] = {"cmaes: {bounds: transform}", "cmaes: {bounds: resample}"};
    for (int i = 0; i < 2; i++) {
        CmaesCase test;
        char rest[96];
        snprintf(rest, sizeof rest, "exclude: [\"x1 + x2 > 1\"], %s", options[i]);
        cmaes_case_start_over(&test, cmaes_sphere, 2, 5, "x1: {range: [-1, 1]}, x2: {range: [-5, 5]}", rest);
        cmaes_check_allowed(&test);
        cmaes_case_end(&test);
    }
    CmaesCase none;
    bool waiting;
    cmaes_case_start_over(&none, cmaes_sphere, 2, 5, "x1: {range: [-1, 1]}", "exclude: [\"x1 > -2\"]");
    CHECK_ERROR(ERROR_USER, none.search.method->ask(&none.search, 10, &none.trials, &waiting));
    cmaes_case_end(&none);
}

// ---- integers -------------------------------------------------------------------------------------------------------

static double cmaes_mixed_ellipsoid(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const double scaled = portable_pow(1e3, (double)i / (n - 1)) * (x[i] - 1.0);
        sum += scaled * scaled;
    }
    return sum;
}

// Number of the runs, one per seed, that reach 1e-8 where every second coordinate is an integer.
static int cmaes_mixed_successes(CmaesFunction *function, int n, int seeds)
{
    int successes = 0;
    for (int seed = 0; seed < seeds; seed++) {
        CmaesCase test;
        char over[CMAES_TEST_N * 48] = "";
        for (int i = 0; i < n; i++)
            snprintf(over + strlen(over), 48, "%sx%d: {range: [-5, 5], integer: %s}", i > 0 ? ", " : "", i + 1,
                     i % 2 == 1 ? "true" : "false");
        cmaes_case_start_over(&test, function, n, (uint64_t)seed, over,
                              "cmaes: {sigma: 0.2, stop: {target: 1e-8, trials: 20000}}");
        cmaes_case_run(&test, CMAES_TEST_TRIALS);
        successes += cmaes_case_of(&test, 0)->stop == CMAES_AT_TARGET;
        cmaes_case_end(&test);
    }
    return successes;
}

// Plain rounding reaches 1e-8 in 20 and 3 of 20 runs: when all members have the same integer, no member tries another.
TEST(cmaes_integers_do_not_get_stuck)
{
    const int seeds = test_quick() ? 5 : 20;
    CHECK_INTEGER(seeds, cmaes_mixed_successes(cmaes_sphere, 10, seeds));
    CHECK_INTEGER(seeds, cmaes_mixed_successes(cmaes_mixed_ellipsoid, 10, seeds));
}

// In every generation each integer changes with a probability of at least 1/(n lambda), up to rounding.
TEST(cmaes_integers_keep_their_margin)
{
    CmaesCase test;
    cmaes_case_start_over(&test, cmaes_mixed_ellipsoid, 3, 4,
                          "x1: {range: [-5, 5], integer: true}, x2: {range: [1, 5], scale: log, integer: true}, "
                          "x3: {range: [0, 1], integer: true}",
                          "cmaes: {searches: 2, sigma: 0.2}");
    for (int batch = 0; batch < 200 && cmaes_case_batch(&test, 14); batch++) {
        for (int64_t search = 0; search < 2; search++) {
            const Cmaes *cmaes = test.search.scratch;
            const CmaesView view = cmaes_view(&test.search, search);
            for (int i = 0; i < 3; i++) {
                const Values *values = &test.spec.axes[i].values;
                const Values exact = {.low = values->low, .high = values->high, .log_scale = values->log_scale};
                const double mean = view.mean[i], integer = cmaes_value(values, mean);
                const double deviation = view.run->sigma * sqrt(view.C[i * 3 + i]) * view.scaling[i];
                const double low = cmaes_coordinate(&exact, integer - 0.5),
                             high = cmaes_coordinate(&exact, integer + 0.5);
                double other = integer > values->low ? normal_tail((mean - low) / deviation) : 0.0;
                if (integer < values->high) other += normal_tail((high - mean) / deviation);
                if (view.run->round > 0) CHECK(other >= 0.99 / (3.0 * (double)cmaes->lambda_start));
            }
        }
    }
    cmaes_case_end(&test);
}

// ---- bounds by penalty ----------------------------------------------------------------------------------------------

static double cmaes_beyond(const double *x, int n) // the first three optima lie beyond the bound
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const double rest = x[i] - (i < 3 ? 9.0 : 1.0);
        sum += (1.0 + 20.0 * i) * rest * rest;
    }
    return sum;
}

TEST(cmaes_penalty_finds_an_optimum_at_the_bounds)
{
    CmaesCase test;
    const double best = 16.0 * (1.0 + 21.0 + 41.0); // f at x1 = x2 = x3 = 5
    cmaes_case_start(&test, cmaes_beyond, 6, 3, "bounds: penalty, sigma: 0.2");
    cmaes_case_run(&test, CMAES_TEST_TRIALS);
    CHECK_NEAR(best, cmaes_case_of(&test, 0)->best, 1e-6);
    const CmaesView view = cmaes_view(&test.search, 0);
    for (int i = 0; i < 3; i++) CHECK_NEAR(CMAES_WIDTH, view.mean[i], 1.0); // the penalty keeps the mean near the bound
    cmaes_case_end(&test);
}

TEST(cmaes_penalty_evaluates_within_the_bounds)
{
    CmaesCase test;
    bool at_bound = false;
    cmaes_case_start(&test, cmaes_beyond, 4, 3, "bounds: penalty, sigma: 0.5");
    for (int batch = 0; batch < 100; batch++) {
        (void)cmaes_case_batch(&test, 20);
        for (int64_t t = 0; t < 4 * test.trials.count; t++) {
            CHECK(test.trials.parameter[t] >= -5.0 && test.trials.parameter[t] <= 5.0);
            at_bound = at_bound || test.trials.parameter[t] == 5.0;
        }
    }
    CHECK(at_bound);
    cmaes_case_end(&test);
}
