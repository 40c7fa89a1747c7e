// The CMA-ES: its strategy parameters and its speed against published and measured figures, its ranking, its reasons to
// stop, and that a search's points depend on its seed and number alone. Functions are evaluated here, not by a backend.
#include "../../runner/search/cmaes/cmaes.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CMAES_TEST_N = 20, CMAES_TEST_TRIALS = 4096 };

typedef double CmaesFunction(const double *x, int n);

typedef struct CmaesCase {
    Arena arena;
    Spec spec;
    Search search;
    Trials trials;
    Rounds rounds;
    double *settings;
    CmaesFunction *function;
    int n;
    int64_t evaluations;
} CmaesCase;

// ---- functions over [-5, 5]^n, optimum at 1 -------------------------------------------------------------------------

static double cmaes_sphere(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (x[i] - 1.0) * (x[i] - 1.0);
    return sum;
}

static double cmaes_ellipsoid(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += portable_pow(1e6, (double)i / (n - 1)) * (x[i] - 1.0) * (x[i] - 1.0);
    return sum;
}

static double cmaes_rosenbrock(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < n; i++) {
        const double bend = x[i] * x[i] - x[i + 1], rest = x[i] - 1.0;
        sum += 100.0 * bend * bend + rest * rest;
    }
    return sum;
}

static double cmaes_flat(const double *x, int n)
{
    (void)x, (void)n;
    return 1.0;
}

static double cmaes_always_fails(const double *x, int n)
{
    (void)x, (void)n;
    return (double)NAN;
}

static double cmaes_fails_above(const double *x, int n) { return x[0] > 0.9 ? (double)NAN : cmaes_sphere(x, n); }

// ---- a search -------------------------------------------------------------------------------------------------------

static void cmaes_case_start_over(CmaesCase *test, CmaesFunction *function, int n, uint64_t seed, const char *over,
                                  const char *rest)
{
    *test = (CmaesCase){.function = function, .n = n};
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    const char *text = arena_format(&test->arena,
                                    "version: 1\nexperiment: test\nseed: %llu\nmodel: bbob\n"
                                    "simulation: {dimension: %d}\nsearch: {method: cmaes, over: {%s}, %s}\n",
                                    (unsigned long long)seed, n, over, rest);
    CHECK_OK(spec_parse("test.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    test->trials = (Trials){.capacity = CMAES_TEST_TRIALS,
                            .id = ARENA_NEW(&test->arena, int64_t, CMAES_TEST_TRIALS),
                            .ordinal = ARENA_NEW(&test->arena, uint64_t, CMAES_TEST_TRIALS),
                            .search = ARENA_NEW(&test->arena, int32_t, CMAES_TEST_TRIALS),
                            .round = ARENA_NEW(&test->arena, int32_t, CMAES_TEST_TRIALS),
                            .parameter = ARENA_NEW(&test->arena, double, CMAES_TEST_TRIALS *CMAES_TEST_N),
                            .fitness = ARENA_NEW(&test->arena, double, CMAES_TEST_TRIALS),
                            .survived = ARENA_NEW(&test->arena, double, CMAES_TEST_TRIALS),
                            .constraint = ARENA_NEW(&test->arena, double, CMAES_TEST_TRIALS *CONSTRAINTS_MAX)};
    CHECK_OK(search_init(&test->spec, &test->arena, &test->search));
}

static void cmaes_case_start(CmaesCase *test, CmaesFunction *function, int n, uint64_t seed, const char *options)
{
    char over[CMAES_TEST_N * 32] = "", rest[256];
    for (int i = 0; i < n; i++) snprintf(over + strlen(over), 32, "%sx%d: {range: [-5, 5]}", i > 0 ? ", " : "", i + 1);
    snprintf(rest, sizeof rest, "cmaes: {%s}", options);
    cmaes_case_start_over(test, function, n, seed, over, rest);
}

static void cmaes_case_end(CmaesCase *test)
{
    Arena arena = test->arena;
    arena_destroy(&arena);
}

// One batch of at most `most` trials; false: the search has ended.
static bool cmaes_case_batch(CmaesCase *test, int64_t most)
{
    bool waiting = false;
    Trials *trials = &test->trials;
    CHECK_OK(test->search.method->ask(&test->search, most, trials, &waiting));
    for (int64_t t = 0; t < trials->count; t++) {
        const double *x = trials->parameter + t * test->n;
        trials->fitness[t] = test->function(x, test->n);
        trials->survived[t] = -fabs(x[0]);
        const int none = 0;
        trial_constraints(&test->spec, x, &trials->fitness[t], &none,
                          trials->constraint + t * test->spec.n_constraints);
    }
    test->evaluations += trials->count;
    CHECK_OK(test->search.method->tell(&test->search, trials));
    return trials->count > 0 || waiting;
}

static void cmaes_case_run(CmaesCase *test, int64_t most)
{
    while (cmaes_case_batch(test, most)) {
    }
}

static const CmaesRun *cmaes_case_of(const CmaesCase *test, int64_t search)
{
    return cmaes_view(&test->search, search).run;
}

// ---- what is published ----------------------------------------------------------------------------------------------

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

// Median of the evaluations to 1e-8 over eleven seeds; 0: a run did not get there.
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

// ---- the same bits --------------------------------------------------------------------------------------------------

static const char cmaes_three[] = "searches: 3, sigma: 0.2, restarts: bipop, restarts_max: 2, stop: {trials: 2500}";

// The state at the end, which holds every number of every search.
static bool cmaes_same_state(const CmaesCase *a, const CmaesCase *b)
{
    return a->search.state_size == b->search.state_size &&
           memcmp(a->search.state, b->search.state, a->search.state_size) == 0;
}

TEST(cmaes_batches_of_any_size_give_the_same_searches)
{
    static const int64_t sizes[] = {1, 7, 33};
    CmaesCase whole;
    cmaes_case_start(&whole, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    CHECK(whole.evaluations >= 3 * 2500);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CmaesCase parts;
        cmaes_case_start(&parts, cmaes_rosenbrock, 5, 3, cmaes_three);
        cmaes_case_run(&parts, sizes[i]);
        CHECK_INTEGER(whole.evaluations, parts.evaluations);
        CHECK(cmaes_same_state(&whole, &parts));
        cmaes_case_end(&parts);
    }
    cmaes_case_end(&whole);
}

// Two batches in flight: the second is asked for before the first is told.
TEST(cmaes_batches_in_flight_give_the_same_searches)
{
    CmaesCase whole, overlapped;
    cmaes_case_start(&whole, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    cmaes_case_start(&overlapped, cmaes_rosenbrock, 5, 3, cmaes_three);
    CmaesCase *test = &overlapped;
    Trials slots[2] = {test->trials, {.capacity = 11}};
    slots[1].id = ARENA_NEW(&test->arena, int64_t, 11);
    slots[1].ordinal = ARENA_NEW(&test->arena, uint64_t, 11);
    slots[1].search = ARENA_NEW(&test->arena, int32_t, 11);
    slots[1].round = ARENA_NEW(&test->arena, int32_t, 11);
    slots[1].parameter = ARENA_NEW(&test->arena, double, 11 * 5);
    slots[1].fitness = ARENA_NEW(&test->arena, double, 11);
    slots[1].survived = ARENA_NEW(&test->arena, double, 11);
    bool waiting = false;
    int64_t in_flight = 0;
    for (int slot = 0;; slot = 1 - slot) {
        CHECK_OK(test->search.method->ask(&test->search, 11, &slots[slot], &waiting));
        for (int64_t t = 0; t < slots[slot].count; t++)
            slots[slot].fitness[t] = test->function(slots[slot].parameter + t * 5, 5);
        in_flight += slots[slot].count;
        CHECK_OK(test->search.method->tell(&test->search, &slots[1 - slot]));
        in_flight -= slots[1 - slot].count;
        slots[1 - slot].count = 0;
        if (in_flight == 0 && !waiting) break;
    }
    CHECK(cmaes_same_state(&whole, &overlapped));
    cmaes_case_end(&overlapped);
    cmaes_case_end(&whole);
}

TEST(cmaes_a_search_beside_others_is_the_one_that_runs_alone)
{
    CmaesCase all;
    cmaes_case_start(&all, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run(&all, 50);
    const size_t bytes = ((const Cmaes *)all.search.scratch)->run_bytes;
    for (int64_t i = 0; i < 3; i++) {
        CmaesCase alone;
        char options[160];
        snprintf(options, sizeof options,
                 "first: %d, sigma: 0.2, restarts: bipop, restarts_max: 2, stop: {trials: 2500}", (int)i);
        cmaes_case_start(&alone, cmaes_rosenbrock, 5, 3, options);
        cmaes_case_run(&alone, 50);
        CHECK(memcmp(cmaes_case_of(&all, i), cmaes_case_of(&alone, 0), bytes) == 0);
        cmaes_case_end(&alone);
    }
    CHECK(cmaes_case_of(&all, 0)->best != cmaes_case_of(&all, 1)->best);
    cmaes_case_end(&all);
}

// After every batch the state alone goes on, in another process as it were.
static void cmaes_case_run_in_pieces(CmaesCase *test, int64_t most)
{
    for (bool more = true; more;) {
        Search next;
        more = cmaes_case_batch(test, most);
        CHECK_OK(search_init(&test->spec, &test->arena, &next));
        memcpy(next.state, test->search.state, test->search.state_size);
        next.state_size = test->search.state_size;
        CHECK_OK(next.method->restore(&next));
        test->search = next;
    }
}

TEST(cmaes_goes_on_from_its_state_alone)
{
    CmaesCase whole, pieces;
    cmaes_case_start(&whole, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    cmaes_case_start(&pieces, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run_in_pieces(&pieces, 13);
    CHECK_INTEGER(whole.evaluations, pieces.evaluations);
    CHECK(cmaes_same_state(&whole, &pieces));
    cmaes_case_end(&pieces);
    cmaes_case_end(&whole);
}

TEST(cmaes_refuses_a_state_that_it_cannot_read)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_sphere, 5, 3, "searches: 2");
    (void)cmaes_case_batch(&test, 5);
    CmaesState *state = cmaes_state(&test.search), kept = *state;
    CHECK_OK(test.search.method->restore(&test.search));
    state->version++;
    CHECK_SAYS(ERROR_USER, "is not of version", test.search.method->restore(&test.search));
    *state = kept;
    state->told = 6;
    CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
    *state = kept;
    state->search = 2;
    CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
    cmaes_case_end(&test);
}

TEST(cmaes_refuses_results_out_of_order)
{
    CmaesCase test;
    bool waiting;
    cmaes_case_start(&test, cmaes_sphere, 5, 3, "searches: 2");
    CHECK_OK(test.search.method->ask(&test.search, 3, &test.trials, &waiting));
    test.trials.id[0]++;
    CHECK_SAYS(ERROR_MACHINE, "out of order", test.search.method->tell(&test.search, &test.trials));
    cmaes_case_end(&test);
}

// ---- ranking and reasons --------------------------------------------------------------------------------------------

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

TEST(cmaes_without_a_success_nothing_is_learned_and_it_ends)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_always_fails, 5, 3, "patience: 4");
    double mean[5];
    memcpy(mean, cmaes_view(&test.search, 0).mean, sizeof mean);
    cmaes_case_run(&test, 100);
    CHECK_INTEGER(CMAES_AT_ALL_FAILED, cmaes_case_of(&test, 0)->stop);
    CHECK_INTEGER(4, cmaes_case_of(&test, 0)->round);
    CHECK(memcmp(mean, cmaes_view(&test.search, 0).mean, sizeof mean) == 0);
    CHECK_TEXT("all_failed", test.search.method->stopped(&test.search));
    CHECK(isnan(cmaes_case_of(&test, 0)->best));
    cmaes_case_end(&test);
}

TEST(cmaes_goes_around_what_fails)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_fails_above, 5, 3, "stop: {generations: 400}");
    cmaes_case_run(&test, 100);
    CHECK_NEAR(0.01, cmaes_case_of(&test, 0)->best, 1e-6); // x1 = 0.9, the others 1
    cmaes_case_end(&test);
}

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

TEST(cmaes_ends_for_a_reason_that_has_a_name)
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

// ---- coordinates ----------------------------------------------------------------------------------------------------

TEST(cmaes_bounds_are_smooth_mirrors)
{
    CHECK_BITS(5.0, cmaes_reflected(5.0));
    CHECK_NEAR(0.3, cmaes_reflected(0.3), 1e-15);
    CHECK_BITS(0.0, cmaes_reflected(-0.3));
    CHECK_BITS(10.0, cmaes_reflected(10.3));
    CHECK_NEAR(0.075, cmaes_reflected(0.0), 1e-15);           // a^2/4a
    CHECK_NEAR(5.0, cmaes_reflected(-5.6), 1e-14);            // mirrored at -0.3
    CHECK_NEAR(5.0, cmaes_reflected(5.0 + 21.2), 1e-13);      // a period on
    CHECK_NEAR(3.0, cmaes_reflected(3.0 - 10 * 21.2), 1e-12); // and back
    for (int i = 0; i < 4000; i++) {
        const double x = -20.0 + 0.01 * i, step = cmaes_reflected(x + 0.01) - cmaes_reflected(x);
        CHECK(cmaes_reflected(x) >= 0.0 && cmaes_reflected(x) <= CMAES_WIDTH);
        CHECK(fabs(step) <= 0.01 + 1e-12);
    }
    CHECK(cmaes_reflected((double)INFINITY) >= 0.0 && cmaes_reflected((double)NAN) >= 0.0);
}

TEST(cmaes_values_stay_in_their_ranges)
{
    const Values log_range = {.form = VALUES_RANGE, .low = 1e-3, .high = 1e3, .log_scale = true};
    const Values integers = {.form = VALUES_RANGE, .low = 1, .high = 9, .integer = true};
    CHECK_NEAR(1.0, cmaes_value(&log_range, 5.0), 1e-12);
    CHECK(cmaes_value(&log_range, 0.0) >= 1e-3 && cmaes_value(&log_range, 10.0) <= 1e3);
    CHECK_NEAR(5.0, cmaes_coordinate(&log_range, 1.0), 1e-12);
    CHECK_BITS(4.0, cmaes_value(&integers, 3.2));
    CHECK_BITS(9.0, cmaes_value(&integers, 10.0));
    const Values zero = {.form = VALUES_RANGE, .low = -1.0, .high = 1.0};
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

// Runs of `seeds` that reach 1e-8 where every second coordinate is an integer.
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

// Plain rounding gets there in 20 and 3 of 20: once all members have the same integer, nothing leads to another one.
TEST(cmaes_integers_do_not_get_stuck)
{
    const int seeds = test_quick() ? 5 : 20;
    CHECK_INTEGER(seeds, cmaes_mixed_successes(cmaes_sphere, 10, seeds));
    CHECK_INTEGER(seeds, cmaes_mixed_successes(cmaes_mixed_ellipsoid, 10, seeds));
}

// Every generation leaves each integer a chance of at least 1/(n lambda) to be another one, as far as rounding goes.
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

static double cmaes_beyond(const double *x, int n) // the optimum lies beyond the bound of the first three
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
    const double best = 16.0 * (1.0 + 21.0 + 41.0); // x1 = x2 = x3 = 5
    cmaes_case_start(&test, cmaes_beyond, 6, 3, "bounds: penalty, sigma: 0.2");
    cmaes_case_run(&test, CMAES_TEST_TRIALS);
    CHECK_NEAR(best, cmaes_case_of(&test, 0)->best, 1e-6);
    const CmaesView view = cmaes_view(&test.search, 0);
    for (int i = 0; i < 3; i++) CHECK_NEAR(CMAES_WIDTH, view.mean[i], 1.0); // held near the bound, not far beyond
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

// ---- noise ----------------------------------------------------------------------------------------------------------

static uint64_t cmaes_draws; // like a trial's own randomness, the noise differs with every evaluation

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

// How far from the optimum the mean ends after 30,000 trials, as a mean of three runs.
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

TEST(cmaes_noise_is_met_with_more_evaluations)
{
    CHECK(cmaes_noisy_distance(", uncertainty: true, uncertainty_max: 64") < 0.6 * cmaes_noisy_distance(""));
}

// Without noise no member is run more than once, and a tenth of them, two at least, a second time.
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

TEST(cmaes_uncertainty_goes_on_from_its_state_alone)
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

TEST(cmaes_uncertainty_needs_randomness_of_its_own)
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

// ---- many parameters ------------------------------------------------------------------------------------------------

// No model has so many: a spec by hand, with the options as they are by default.
static void cmaes_case_start_wide(CmaesCase *test, CmaesFunction *function, int n, const double *settings)
{
    *test = (CmaesCase){.function = function, .n = n};
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    Axis *axes = ARENA_NEW(&test->arena, Axis, n);
    Parameter *parameters = ARENA_NEW(&test->arena, Parameter, n);
    for (int i = 0; i < n; i++) {
        axes[i] = (Axis){.parameter = i, .values = {.form = VALUES_RANGE, .low = -5.0, .high = 5.0}, .zip = -1};
        parameters[i] = (Parameter){.name = arena_format(&test->arena, "x%d", i), .low = -5.0, .high = 5.0};
    }
    test->spec = (Spec){.seed = 3,
                        .method = &search_cmaes,
                        .method_settings = settings,
                        .axes = axes,
                        .n_axes = n,
                        .fixed = ARENA_NEW(&test->arena, double, n),
                        .configured = {.parameters = parameters, .n_parameters = n},
                        .replicates = {.count = 1}};
    const int64_t capacity = 256;
    test->trials = (Trials){.capacity = capacity,
                            .id = ARENA_NEW(&test->arena, int64_t, capacity),
                            .ordinal = ARENA_NEW(&test->arena, uint64_t, capacity),
                            .search = ARENA_NEW(&test->arena, int32_t, capacity),
                            .round = ARENA_NEW(&test->arena, int32_t, capacity),
                            .parameter = ARENA_NEW(&test->arena, double, capacity *n),
                            .fitness = ARENA_NEW(&test->arena, double, capacity),
                            .survived = ARENA_NEW(&test->arena, double, capacity)};
    CHECK_OK(search_init(&test->spec, &test->arena, &test->search));
}

static void cmaes_default_settings(double *settings)
{
    for (int i = 0; i < CMAES_N_OPTIONS; i++) settings[i] = cmaes_options[i].value;
}

TEST(cmaes_is_separable_for_many_parameters)
{
    double settings[CMAES_N_OPTIONS];
    CmaesCase test;
    cmaes_default_settings(settings);
    for (int n = CMAES_FULL_MAX; n <= CMAES_FULL_MAX + 1; n++) {
        cmaes_case_start_wide(&test, cmaes_sphere, n, settings);
        CHECK_INTEGER(n > CMAES_FULL_MAX, ((const Cmaes *)test.search.scratch)->separable);
        cmaes_case_end(&test);
    }
    cmaes_case_start_wide(&test, cmaes_sphere, CMAES_DIMENSIONS_MAX, settings);
    CHECK(test.search.state_size < 100000); // 1000 x 1000 doubles are 8 MB
    Search search;
    test.spec.n_axes++;
    CHECK_SAYS(ERROR_USER, "search: cmaes searches at most 1000 parameters, and these are 1001",
               search_init(&test.spec, &test.arena, &search));
    test.spec.n_axes = CMAES_FULL_MAX + 1;
    settings[CMAES_COVARIANCE] = CMAES_COVARIANCE_FULL;
    CHECK_SAYS(ERROR_USER, "search: cmaes searches at most 100 parameters with a full covariance, and these are 101",
               search_init(&test.spec, &test.arena, &search));
    settings[CMAES_SEARCHES] = 4096;
    settings[CMAES_POPULATION] = 1 << 20;
    test.spec.n_axes = 2;
    CHECK_SAYS(ERROR_USER, "search: 4096 searches with populations of up to 1048576 are too many",
               search_init(&test.spec, &test.arena, &search));
    CHECK_INTEGER(1 + 9 + 5 * CMAES_DIMENSIONS_MAX, test.search.n_round_fields);
    cmaes_case_end(&test);
}

// sep-CMA-ES needs some 10^5 evaluations for the ellipsoid of condition 1e6 in 200 dimensions (Ros & Hansen 2008,
// figure 2), where the full covariance needs some millions.
TEST(cmaes_separable_learns_the_scales_of_200_parameters)
{
    double settings[CMAES_N_OPTIONS];
    CmaesCase test;
    cmaes_default_settings(settings);
    settings[CMAES_SIGMA] = 0.2;
    settings[CMAES_STOP_TARGET] = 1e-6;
    cmaes_case_start_wide(&test, cmaes_ellipsoid, 200, settings);
    while (cmaes_case_of(&test, 0)->evaluations < (test_quick() ? 2000 : 130000) && cmaes_case_batch(&test, 256)) {
    }
    if (!test_quick()) CHECK_INTEGER(CMAES_AT_TARGET, cmaes_case_of(&test, 0)->stop);
    cmaes_case_end(&test);
}

// A separable function: both forms learn its scales, and the diagonal does so with fewer evaluations.
TEST(cmaes_separable_is_faster_where_the_axes_are_right)
{
    int64_t evaluations[2];
    for (int i = 0; i < 2; i++) {
        CmaesCase test;
        cmaes_case_start(&test, cmaes_ellipsoid, 20, 3,
                         i == 0 ? "sigma: 0.2, covariance: full, stop: {target: 1e-8}"
                                : "sigma: 0.2, covariance: separable, stop: {target: 1e-8}");
        cmaes_case_run(&test, CMAES_TEST_TRIALS);
        CHECK_INTEGER(CMAES_AT_TARGET, cmaes_case_of(&test, 0)->stop);
        evaluations[i] = test.evaluations;
        cmaes_case_end(&test);
    }
    CHECK(evaluations[1] < evaluations[0] / 2);
}

TEST(cmaes_separable_tells_of_its_diagonal)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_ellipsoid, 5, 3, "covariance: separable");
    Rounds rounds = {.capacity = 1,
                     .row = ARENA_NEW(&test.arena, Round, 1),
                     .field = ARENA_NEW(&test.arena, double, test.search.n_round_fields)};
    test.search.rounds = &rounds;
    CHECK_INTEGER(1 + 9 + 5 * 5, test.search.n_round_fields);
    (void)cmaes_case_batch(&test, 8);
    const CmaesView view = cmaes_view(&test.search, 0);
    CHECK_INTEGER(1, rounds.count);
    for (int i = 0; i < 5; i++) CHECK_BITS(view.C[i], rounds.field[1 + 9 + 4 * 5 + i]);
    cmaes_case_end(&test);
}

// ---- injected points ------------------------------------------------------------------------------------------------

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

// A point far away takes part with a step that is no longer than sqrt(n) + 2 n/(n + 2), and leads the search there.
TEST(cmaes_injected_points_lead_no_farther_than_a_step)
{
    const double n = 3.0, longest = sqrt(n) + 2.0 * n / (n + 2.0);
    CmaesCase test;
    cmaes_case_start(&test, cmaes_sphere, 3, 3, "sigma: 1e-4, start: center, inject: [{x1: 1, x2: 1, x3: 1}]");
    const CmaesPopulation *population = cmaes_population(&test.search, 0);
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

// ---- constraints ----------------------------------------------------------------------------------------------------

static void cmaes_constrained_start(CmaesCase *test, int n, const char *constraints, const char *options)
{
    char over[10 * 32] = "", rest[512];
    for (int i = 0; i < n; i++) snprintf(over + strlen(over), 32, "%sx%d: {range: [-5, 5]}", i > 0 ? ", " : "", i + 1);
    snprintf(rest, sizeof rest, "cmaes: {sigma: 0.2, %s}}\nconstraints: [%s]\nobjective: {minimize: \"f\"", options,
             constraints);
    cmaes_case_start_over(test, cmaes_sphere, n, 3, over, rest);
}

// The sphere's optimum at 1 is out of reach: the nearest point of x1 + x2 + x3 <= 2 is 2/3 in these, with f = 1/3.
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
    CHECK_NEAR(2.0 / 3.0, view.multiplier[0], 1e-4); // of the Lagrangian: 2 (1 - 2/3)
    for (int i = 0; i < 10; i++)
        CHECK_NEAR(i < 3 ? 2.0 / 3.0 : 1.0, cmaes_value(&test.spec.axes[i].values, view.mean[i]), 1e-4);
    cmaes_case_end(&test);
}

TEST(cmaes_augmented_lagrangian_leaves_what_does_not_bind)
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

// By rank alone the search comes near the constraint, from within.
TEST(cmaes_ranks_by_violation)
{
    CmaesCase test;
    cmaes_constrained_start(&test, 5, cmaes_plane, "stop: {trials: 4000}");
    cmaes_case_run(&test, 100);
    CHECK_NEAR(1.0 / 3.0, cmaes_case_of(&test, 0)->best, 0.02);
    CHECK(cmaes_case_of(&test, 0)->best >= 1.0 / 3.0);
    cmaes_case_end(&test);
}

TEST(cmaes_what_meets_constraints_ranks_first)
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
    CHECK_BITS(1.0, cmaes_case_of(&test, 0)->best); // of those that meet them
    cmaes_case_end(&test);
}

TEST(cmaes_augmented_lagrangian_goes_on_from_its_state_alone)
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
