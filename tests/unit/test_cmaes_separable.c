// The CMA-ES of many parameters: a diagonal covariance.
#include "cmaes_case.h"

#include <stdlib.h>

// No model has this many parameters: the spec is made by hand, with the options at their defaults.
static void cmaes_case_start_wide(CmaesCase *test, CmaesFunction *function, int n, const double *settings)
{
    *test = (CmaesCase){.function = function, .n = n};
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    Axis *axes = ARENA_NEW(&test->arena, Axis, n);
    Parameter *parameters = ARENA_NEW(&test->arena, Parameter, n);
    for (int i = 0; i < n; i++) {
        axes[i] = (Axis){.parameter = i, .values = {.form = &values_range, .low = -5.0, .high = 5.0}, .zip = -1};
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
    CHECK_SAYS(ERROR_USER, "cmaes searches at most 1000 parameters; the spec has 1001",
               search_init(&test.spec, &test.arena, &search));
    test.spec.n_axes = CMAES_FULL_MAX + 1;
    settings[CMAES_COVARIANCE] = CMAES_COVARIANCE_FULL;
    CHECK_SAYS(ERROR_USER, "cmaes searches at most 100 parameters with a full covariance; the spec has 101",
               search_init(&test.spec, &test.arena, &search));
    settings[CMAES_SEARCHES] = 4096;
    settings[CMAES_POPULATION] = 1 << 20;
    test.spec.n_axes = 2;
    CHECK_SAYS(ERROR_USER, "4096 searches with populations of up to 1048576 are too many",
               search_init(&test.spec, &test.arena, &search));
    CHECK_INTEGER(1 + 9 + 5 * CMAES_DIMENSIONS_MAX, test.search.n_round_fields);
    cmaes_case_end(&test);
}

// sep-CMA-ES needs about 10^5 evaluations for the ellipsoid of condition 1e6 in 200 dimensions (Ros & Hansen 2008,
// figure 2); the full covariance needs millions.
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

// On a separable function both forms learn the scales, and the diagonal form needs fewer evaluations.
TEST(cmaes_separable_is_faster_on_a_separable_function)
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

TEST(cmaes_separable_shows_its_diagonal)
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
