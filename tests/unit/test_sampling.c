// Sampling methods: Sobol's sequence against its tables, the property of a Latin hypercube, the points of a centered
// study, and sensitivities of functions with known answers.
#include "../../runner/experiment/search/sobol_sequence.h"
#include "../../runner/command/command.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct SamplingCase {
    Arena arena;
    Spec spec;
    Search search;
    RunOptions options;
} SamplingCase;

static void sampling_start(SamplingCase *test, const char *search, const char *minimize)
{
    *test = (SamplingCase){.spec = {0}};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    const char *text =
        arena_format(&test->arena,
                     "version: 1\nexperiment: sampling\nseed: 3\nmodel: bbob\nsimulation: {dimension: 3}\n"
                     "search: {%s}\nobjective: {minimize: \"%s\"}\n",
                     search, minimize);
    CHECK_OK(spec_parse("test.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    CHECK_OK(search_init(&test->spec, &test->arena, &test->search));
}

static void sampling_end(SamplingCase *test)
{
    Arena arena = test->arena;
    arena_destroy(&arena);
}

static void sampling_point(const SamplingCase *test, int64_t id, double *x)
{
    uint64_t ordinal;
    CHECK_OK(test->search.method->trial(&test->search, id, &ordinal, x));
}

// ---- sobol ----------------------------------------------------------------------------------------------------------

// Points 1, 2, 3 and 5 of the unshifted sequence, in the first five coordinates. (Joe & Kuo's program prints the same
// points in the order of the Gray code.)
TEST(sobol_points_are_those_of_the_tables)
{
    static const struct {
        uint64_t index;
        double x[5];
    } cases[] = {{0, {0, 0, 0, 0, 0}},
                 {1, {0.5, 0.5, 0.5, 0.5, 0.5}},
                 {3, {0.75, 0.25, 0.25, 0.25, 0.75}},
                 {2, {0.25, 0.75, 0.75, 0.75, 0.25}},
                 {6, {0.375, 0.375, 0.625, 0.875, 0.375}},
                 {7, {0.875, 0.875, 0.125, 0.375, 0.875}}};
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    const Sobol *sobol = sobol_make(5, 1, &arena);
    memset(sobol->shift, 0, 5 * sizeof *sobol->shift);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int d = 0; d < 5; d++) CHECK_BITS(cases[i].x[d], sobol_coordinate(sobol, d, cases[i].index));
    }
    arena_destroy(&arena);
}

// In every coordinate each of the 256 intervals holds one of 256 points, shifted or not.
TEST(sobol_coordinates_are_even)
{
    enum { POINTS = 256 };
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    const Sobol *sobol = sobol_make(SOBOL_DIMENSIONS_MAX, 5, &arena);
    for (int d = 0; d < SOBOL_DIMENSIONS_MAX; d++) {
        bool taken[POINTS] = {false};
        for (uint64_t i = POINTS; i < 2 * POINTS; i++) {
            const int part = (int)(POINTS * sobol_coordinate(sobol, d, i));
            CHECK(!taken[part]);
            taken[part] = true;
        }
    }
    CHECK(sobol->shift[0] != sobol->shift[1]);
    arena_destroy(&arena);
}

TEST(sobol_grows_without_changing)
{
    SamplingCase few, many;
    double a[3], b[3];
    sampling_start(&few, "method: sobol, trials: 100, over: {x1: {range: [-5, 5]}, x2: [1, 2, 3]}", "f");
    sampling_start(&many, "method: sobol, trials: 200, over: {x1: {range: [-5, 5]}, x2: [1, 2, 3]}", "f");
    for (int64_t id = 0; id < 100; id++) {
        sampling_point(&few, id, a);
        sampling_point(&many, id, b);
        CHECK(memcmp(a, b, sizeof a) == 0);
    }
    sampling_end(&few);
    sampling_end(&many);
}

// ---- latin hypercube, centered --------------------------------------------------------------------------------------

TEST(latin_hypercube_has_a_point_in_every_part)
{
    static const int counts[] = {1, 2, 5, 17, 1000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        SamplingCase test;
        char search[128];
        snprintf(search, sizeof search,
                 "method: latin_hypercube, trials: %d, over: {x1: {range: [0, 1]}, x3: {range: [0, 1]}}", counts[c]);
        sampling_start(&test, search, "f");
        for (int a = 0; a < 3; a += 2) {
            bool taken[1000] = {false};
            for (int64_t id = 0; id < counts[c]; id++) {
                double x[3];
                sampling_point(&test, id, x);
                const int part = (int)(x[a] * counts[c]);
                CHECK(part < counts[c] && !taken[part]);
                taken[part] = true;
            }
        }
        sampling_end(&test);
    }
}

TEST(centered_moves_one_parameter_at_a_time)
{
    static const double first[] = {2, 1, 3, 2, 2, 2}, third[] = {1, 1, 1, -1, 2, 3};
    SamplingCase test;
    sampling_start(&test, "method: centered, over: {x1: [1, 2, 3], x3: [-1, 1, 2, 3]}", "f");
    CHECK_INTEGER(6, test.search.total);
    for (int64_t id = 0; id < 6; id++) {
        double x[3];
        sampling_point(&test, id, x);
        CHECK_BITS(first[id], x[0]);
        CHECK_BITS(0.0, x[1]);
        CHECK_BITS(third[id], x[2]);
    }
    sampling_end(&test);
}

TEST(sampling_takes_at_most_as_many_parameters_as_its_tables)
{
    static const char *const cases[][2] = {
        {"method: sobol, trials: 4, over: {x1: {range: [0, 1]}}",
         "sobol searches at most 80 parameters; the spec has 81"},
        {"method: sobol_indices, over: {x1: {range: [0, 1]}}",
         "sobol_indices searches at most 40 parameters; the spec has 81"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SamplingCase test;
        sampling_start(&test, cases[i][0], "f");
        test.spec.n_axes = SOBOL_DIMENSIONS_MAX + 1; // no model has this many
        CHECK_SAYS(ERROR_USER, cases[i][1], search_init(&test.spec, &test.arena, &test.search));
        sampling_end(&test);
    }
}

// ---- sensitivity ----------------------------------------------------------------------------------------------------

typedef struct SensitivityRow {
    double value, low, high;
    int64_t blocks, left_out;
} SensitivityRow;

static void sensitivity_run_case(SamplingCase *test)
{
    RunSummary summary;
    test->options = (RunOptions){.results = arena_copy(&test->arena, test_folder()),
                                 .backend = {.name = "cpu", .threads = 1},
                                 .progress = PROGRESS_NONE};
    CHECK_OK(campaign_run(&test->spec, &test->options, &test->arena, &summary));
}

static SensitivityRow sensitivity_of(SamplingCase *test, const char *parameter, const char *measure)
{
    SensitivityRow found = {.blocks = -1};
    StoredCampaign campaign;
    Statement *statement = NULL;
    bool row = false;
    CHECK_OK(campaign_open(test->options.results, "sampling", &test->arena, &campaign));
    CHECK_OK(database_prepare(campaign.database,
                              "SELECT value, low, high, blocks, left_out FROM sensitivity WHERE parameter = ? AND "
                              "measure = ?",
                              &statement));
    bind_text(statement, 1, parameter);
    bind_text(statement, 2, measure);
    CHECK_OK(statement_step(statement, &row));
    if (row)
        found = (SensitivityRow){column_real(statement, 0), column_real(statement, 1), column_real(statement, 2),
                                 column_integer(statement, 3), column_integer(statement, 4)};
    statement_close(statement);
    campaign_close(&campaign);
    return found;
}

// x1 + 2 x2 + x1 x3 over [-1, 1]^3: variances 1/3, 4/3 and 1/9.
TEST(sobol_indices_are_those_of_the_variances)
{
    static const struct {
        const char *parameter;
        double first_order, total;
    } expected[] = {{"x1", 3.0 / 16, 4.0 / 16}, {"x2", 12.0 / 16, 12.0 / 16}, {"x3", 0.0, 1.0 / 16}};
    SamplingCase test;
    sampling_start(&test,
                   "method: sobol_indices, samples: 4096, over: {x1: {range: [-1, 1]}, x2: {range: [-1, 1]}, "
                   "x3: {range: [-1, 1]}}",
                   "x1 + 2*x2 + x1*x3");
    CHECK_INTEGER(5 * 4096, test.search.total);
    sensitivity_run_case(&test);
    for (int i = 0; i < 3; i++) {
        const SensitivityRow first = sensitivity_of(&test, expected[i].parameter, "first_order");
        const SensitivityRow total = sensitivity_of(&test, expected[i].parameter, "total");
        CHECK_NEAR(expected[i].first_order, first.value, 0.01);
        CHECK_NEAR(expected[i].total, total.value, 0.01);
        CHECK(first.low < expected[i].first_order && expected[i].first_order < first.high);
        CHECK(total.low < expected[i].total && expected[i].total < total.high);
        CHECK(first.high - first.low < 0.02);
        CHECK_INTEGER(4096, total.blocks);
    }
    sampling_end(&test);
}

// An effect is the slope times the range. x3 has a curved effect. A trajectory with a failure is left out.
TEST(morris_effects_of_a_known_function)
{
    SamplingCase test;
    sampling_start(&test,
                   "method: morris, trajectories: 50, over: {x1: {range: [-1, 1]}, x2: {range: [0, 5]}, x3: {range: "
                   "[-1, 1]}}",
                   "3*x1 - 2*x2 + x3*x3");
    CHECK_INTEGER(200, test.search.total);
    sensitivity_run_case(&test);
    CHECK_NEAR(6.0, sensitivity_of(&test, "x1", "mu").value, 1e-12);
    CHECK_NEAR(-10.0, sensitivity_of(&test, "x2", "mu").value, 1e-12);
    CHECK_NEAR(10.0, sensitivity_of(&test, "x2", "mu_star").value, 1e-12);
    CHECK_NEAR(0.0, sensitivity_of(&test, "x1", "sigma").value, 1e-12);
    CHECK(sensitivity_of(&test, "x3", "sigma").value > 0.5);
    CHECK_INTEGER(50, sensitivity_of(&test, "x1", "mu").blocks);
    CHECK_INTEGER(0, sensitivity_of(&test, "x1", "mu").left_out);
    sampling_end(&test);

    sampling_start(&test, "method: morris, trajectories: 50, over: {x1: {range: [-1, 1]}, x2: {range: [0, 5]}}",
                   "x1 + 0*sqrt(x2 - 1)"); // not a number at x2 = 0
    sensitivity_run_case(&test);
    const SensitivityRow left = sensitivity_of(&test, "x1", "mu");
    CHECK(left.left_out > 5 && left.blocks > 5);
    CHECK_INTEGER(50, left.left_out + left.blocks);
    CHECK_NEAR(2.0, left.value, 1e-12);
    sampling_end(&test);
}

TEST(morris_trajectories_change_one_parameter_per_step)
{
    SamplingCase test;
    sampling_start(
        &test, "method: morris, trajectories: 30, levels: 6, over: {x1: {range: [0, 5]}, x3: {range: [0, 5]}}", "f");
    for (int64_t t = 0; t < 30; t++) {
        double x[3][3];
        for (int64_t s = 0; s < 3; s++) sampling_point(&test, 3 * t + s, x[s]);
        for (int s = 0; s < 2; s++) {
            const double step = fabs(x[s + 1][0] - x[s][0]), other = fabs(x[s + 1][2] - x[s][2]);
            CHECK_NEAR(3.0, step + other, 1e-12); // 5 x 6/(2 x 5)
            CHECK(step == 0.0 || other == 0.0);
        }
        CHECK((x[0][0] != x[2][0]) && (x[0][2] != x[2][2]));
    }
    sampling_end(&test);
}
