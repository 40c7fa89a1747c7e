// Searches along gradients, adam and lbfgs: their derivatives, known minima, bounds, failures, stop reasons; a search
// depends on nothing but its seed and number. Objectives are evaluated here, not by a backend.
#include "../../runner/experiment/search/descent/descent.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DESCENT_TEST_N = 10, DESCENT_TEST_TRIALS = 256, DESCENT_TEST_ROUNDS = 20000, DESCENT_TEST_FIELDS = 12 };

// x in [-5, 5]^n
typedef double DescentProblem(const double *x, int n);

typedef struct DescentCase {
    Arena arena;
    Spec spec;
    Search search;
    Trials trials;
    Rounds rounds;
    DescentProblem *problem;
    int n;
    int64_t evaluations;
    const double (*tilt)[2]; // [replicates] what each adds to the derivatives by x1 and x2; NULL: not told
    int dead;                // this replicate fails wherever x2 is above 0; -1: none
} DescentCase;

// ---- problems -------------------------------------------------------------------------------------------------------

static double descent_sphere(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (x[i] - 0.3) * (x[i] - 0.3);
    return sum;
}

// Condition number 1e6, all coordinates coupled.
static double descent_ellipsoid(const double *x, int n)
{
    double mean = 0.0, sum = 0.0;
    for (int i = 0; i < n; i++) mean += (x[i] - 1.0) / n;
    for (int i = 0; i < n; i++) {
        const double y = x[i] - 1.0 - 2.0 * mean; // mirrored along the diagonal
        sum += pow(1e6, (double)i / (n - 1)) * y * y;
    }
    return sum;
}

static double descent_rosenbrock(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < n; i++)
        sum += 100.0 * (x[i + 1] - x[i] * x[i]) * (x[i + 1] - x[i] * x[i]) + (1.0 - x[i]) * (1.0 - x[i]);
    return sum;
}

// Best at the corner (5, 5, ...); x1 at 2.
static double descent_corner(const double *x, int n)
{
    double sum = (x[0] - 2.0) * (x[0] - 2.0);
    for (int i = 1; i < n; i++) sum += (x[i] - 6.0) * (x[i] - 6.0) + 0.1 * x[0] * x[i];
    return sum;
}

static double descent_cubic(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i] * x[i];
    return sum;
}

static double descent_flat(const double *x, int n)
{
    (void)x, (void)n;
    return 4.0;
}

static double descent_fails(const double *x, int n)
{
    (void)x, (void)n;
    return (double)NAN;
}

// Fails in the middle alone.
static double descent_hole(const double *x, int n)
{
    double far = 0.0;
    for (int i = 0; i < n; i++) far += fabs(x[i]);
    return far < 1e-9 ? (double)NAN : descent_sphere(x, n);
}

// Fails beyond x1 = 1; its minimum -0.55 is at (0.8, 0.3).
static double descent_cliff(const double *x, int n) { return x[0] > 1.0 ? (double)NAN : descent_sphere(x, n) - x[0]; }

// ---- a search -------------------------------------------------------------------------------------------------------

static const char *descent_over(const DescentCase *test, Arena *arena)
{
    const char *over = "";
    for (int i = 0; i < test->n; i++)
        over = arena_format(arena, "%s%sx%d: {range: [-5, 5]}", over, i > 0 ? ", " : "", i + 1);
    return over;
}

// rest: keys of the spec. False: the spec is wrong.
static bool descent_case_read(DescentCase *test, const char *method, const char *over, const char *options,
                              const char *rest)
{
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    const char *text =
        arena_format(&test->arena,
                     "version: 1\nexperiment: test\nseed: 3\nmodel: bbob\nsimulation: {dimension: %d}\n"
                     "search: {method: %s, over: {%s}, %s: {%s}%s\n",
                     test->n < 2 ? 2 : test->n, method, over != NULL ? over : descent_over(test, &test->arena), method,
                     options, rest[0] != '\0' ? rest : "}");
    const Error error = spec_parse("test.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec);
    if (error.kind != OK) diagnostics_print(diagnostics, stdout, false);
    return error.kind == OK;
}

static void descent_case_start_with(DescentCase *test, DescentProblem *problem, int n, const char *method,
                                    const char *over, const char *options, const char *rest)
{
    *test = (DescentCase){.problem = problem, .n = n};
    Arena *arena = &test->arena;
    CHECK(descent_case_read(test, method, over, options, rest));
    test->trials = (Trials){.capacity = DESCENT_TEST_TRIALS,
                            .id = ARENA_NEW(arena, int64_t, DESCENT_TEST_TRIALS),
                            .ordinal = ARENA_NEW(arena, uint64_t, DESCENT_TEST_TRIALS),
                            .search = ARENA_NEW(arena, int32_t, DESCENT_TEST_TRIALS),
                            .round = ARENA_NEW(arena, int32_t, DESCENT_TEST_TRIALS),
                            .parameter = ARENA_NEW(arena, double, DESCENT_TEST_TRIALS *DESCENT_TEST_N),
                            .fitness = ARENA_NEW(arena, double, DESCENT_TEST_TRIALS),
                            .survived = ARENA_NEW(arena, double, DESCENT_TEST_TRIALS),
                            .constraint = ARENA_NEW(arena, double, DESCENT_TEST_TRIALS)};
    CHECK_OK(search_init(&test->spec, arena, &test->search));
    test->rounds = (Rounds){.capacity = DESCENT_TEST_ROUNDS,
                            .row = ARENA_NEW(arena, Round, DESCENT_TEST_ROUNDS),
                            .field = ARENA_NEW(arena, double, DESCENT_TEST_ROUNDS * test->search.n_round_fields)};
    test->search.rounds = &test->rounds;
}

static void descent_case_start(DescentCase *test, DescentProblem *problem, int n, const char *method,
                               const char *options)
{
    descent_case_start_with(test, problem, n, method, NULL, options, "");
}

static void descent_case_end(DescentCase *test)
{
    Arena arena = test->arena;
    arena_destroy(&arena);
}

// What the replicates of trial t have, and their mean.
static void descent_case_values(DescentCase *test, int64_t t, const double *x)
{
    const int replicates = test->spec.replicates.count;
    double *value = test->trials.value + t * replicates, sum = 0.0;
    for (int r = 0; r < replicates; r++) {
        value[r] = test->problem(x, test->n) + test->tilt[r][0] * x[0] + test->tilt[r][1] * x[1];
        sum += value[r];
        if (r == test->dead && x[1] > 0.0) value[r] = (double)NAN;
    }
    test->trials.fitness[t] = sum / replicates;
}

static void descent_case_evaluate(DescentCase *test)
{
    Trials *trials = &test->trials;
    const int n = test->spec.configured.n_parameters;
    for (int64_t t = 0; t < trials->count; t++) {
        const double *x = trials->parameter + t * n;
        for (int i = 0; i < n; i++) CHECK(x[i] >= -5.0 && x[i] <= 5.0);
        trials->fitness[t] = test->problem(x, test->n);
        if (test->tilt != NULL) descent_case_values(test, t, x);
        if (test->spec.n_constraints > 0) trials->constraint[t] = 1.0 - x[0]; // x1 >= 1
    }
    test->evaluations += trials->count;
}

// Runs one batch of at most `most` trials; false: the search has ended.
static bool descent_case_batch(DescentCase *test, int64_t most)
{
    bool waiting = false;
    CHECK_OK(test->search.method->ask(&test->search, most, &test->trials, &waiting));
    descent_case_evaluate(test);
    CHECK_OK(test->search.method->tell(&test->search, &test->trials));
    return test->trials.count > 0 || waiting;
}

static void descent_case_run(DescentCase *test, int64_t most)
{
    while (descent_case_batch(test, most)) {
    }
}

static const DescentRun *descent_case_of(const DescentCase *test, int64_t search)
{
    return descent_view(&test->search, search).run;
}

static const char *descent_case_why(const DescentCase *test, int64_t search)
{
    return descent_stop_names[descent_case_of(test, search)->stop];
}

// Runs one search to its end, for its reason.
static void descent_check_ends(DescentProblem *problem, const char *method, const char *options, const char *why)
{
    DescentCase test;
    descent_case_start(&test, problem, 3, method, options);
    descent_case_run(&test, DESCENT_TEST_TRIALS);
    CHECK_TEXT(why, descent_case_why(&test, 0));
    CHECK_TEXT(why, test.rounds.row[test.rounds.count - 1].stop);
    CHECK_TEXT(side_stop_words(why), test.search.method->stopped(&test.search));
    descent_case_end(&test);
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

// df/du, u over the range of 10, at the start.
static void descent_check_slope(DescentProblem *problem, const char *options, double tolerance,
                                double (*derivative)(const double *x, int i))
{
    enum { N = 4 };
    DescentCase test;
    double x[N];
    descent_case_start(&test, problem, N, "adam", options);
    const DescentView view = descent_view(&test.search, 0);
    for (int i = 0; i < N; i++) x[i] = -5.0 + 10.0 * view.x[i];
    CHECK(descent_case_batch(&test, 2 * N + 1));
    for (int i = 0; i < N; i++) CHECK_NEAR(10.0 * derivative(x, i), view.slope[i], tolerance);
    CHECK_INTEGER(0, view.run->missing);
    CHECK_INTEGER(1, view.run->round);
    descent_case_end(&test);
}

static double descent_sphere_slope(const double *x, int i) { return 2.0 * (x[i] - 0.3); }
static double descent_cubic_slope(const double *x, int i) { return 3.0 * x[i] * x[i]; }

// Rounding alone: eps f/h.
TEST(descent_differences_of_a_quadratic_are_exact_to_rounding)
{
    descent_check_slope(descent_sphere, "", 1e-9, descent_sphere_slope);
    descent_check_slope(descent_sphere, "difference: 0.1", 1e-12, descent_sphere_slope);
}

// Of a cubic they are off by h^2 f'''/6 = (10 h)^2, times 10.
TEST(descent_differences_of_a_cubic_have_an_error_of_second_order)
{
    DescentCase test;
    for (double h = 0.01; h > 0.002; h *= 0.5) {
        char options[64];
        snprintf(options, sizeof options, "start: center, difference: %.17g", h);
        descent_case_start(&test, descent_cubic, 2, "lbfgs", options);
        CHECK(descent_case_batch(&test, 5));
        for (int i = 0; i < 2; i++) CHECK_NEAR(1000.0 * h * h, descent_view(&test.search, 0).slope[i], 1e-10);
        descent_case_end(&test);
    }
    descent_check_slope(descent_cubic, "difference: 1e-5", 1e-4, descent_cubic_slope);
}

TEST(descent_follows_the_logarithm_of_a_log_scale)
{
    DescentCase test;
    const char *over = "x1: {range: [0.05, 5], scale: log}, x2: {range: [-5, 5]}";
    descent_case_start_with(&test, descent_cubic, 2, "adam", over, "start: center, difference: 1e-5", "");
    CHECK(descent_case_batch(&test, 5));
    const double x = sqrt(0.05 * 5.0), slope = 3.0 * x * x * x * log(5.0 / 0.05);
    CHECK_NEAR(x, test.trials.parameter[0], 1e-14);
    CHECK_NEAR(slope, descent_view(&test.search, 0).slope[0], 1e-7);
    descent_case_end(&test);
}

// At an end of the range the difference is one-sided.
TEST(descent_differences_stay_within_the_range)
{
    DescentCase test;
    descent_case_start(&test, descent_sphere, 2, "adam", "starts: [{x1: 5, x2: -5}], difference: 0.01");
    CHECK(descent_case_batch(&test, 5));
    const double high[] = {5.0, 5.0, 4.9, 5.0, 5.0};
    for (int t = 0; t < 5; t++) CHECK_NEAR(high[t], test.trials.parameter[2 * t], 1e-14);
    const double *slope = descent_view(&test.search, 0).slope;
    CHECK_NEAR(10.0 * (2.0 * 4.7 - 0.1), slope[0], 1e-10);
    CHECK_NEAR(10.0 * (-2.0 * 5.3 + 0.1), slope[1], 1e-10);
    descent_case_end(&test);
}

// The error of a forward difference of a quadratic is h f''/2: by coordinates in the range 100 h. At the upper end of
// the range, and where the spec ends, the step goes down.
TEST(descent_takes_forward_differences)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    static const double start[] = {1.0, 5.0, -5.0}, beside[] = {1.01, 4.99, -4.99}, error[] = {0.1, -0.1, 0.1};
    for (int m = 0; m < 2; m++) {
        DescentCase test;
        descent_case_start(&test, descent_sphere, 3, methods[m], "starts: [{x1: 1, x2: 5, x3: -5}], forward: 1e-3");
        CHECK(descent_case_batch(&test, 4));
        CHECK_INTEGER(1, descent_case_of(&test, 0)->round);
        for (int i = 0; i < 3; i++) {
            const double *x = test.trials.parameter + 3 * (ptrdiff_t)(i + 1);
            for (int k = 0; k < 3; k++) CHECK_NEAR(k == i ? beside[k] : start[k], x[k], 1e-14);
            CHECK_NEAR(20.0 * (start[i] - 0.3) + error[i], descent_view(&test.search, 0).slope[i], 1e-9);
        }
        descent_case_end(&test);
        descent_case_start_with(&test, descent_sphere, 2, methods[m], NULL, "starts: [{x1: 1, x2: 0}], forward: 1e-3",
                                ", exclude: [\"x1 > 1\"]}");
        CHECK(descent_case_batch(&test, 3));
        CHECK_NEAR(0.99, test.trials.parameter[2], 1e-14);
        CHECK_NEAR(14.0 - 0.1, descent_view(&test.search, 0).slope[0], 1e-9);
        descent_case_end(&test);
    }
}

// Around x1 = 1 the upper point fails: by forward differences the derivative is missing.
TEST(descent_misses_a_forward_difference_that_failed)
{
    DescentCase test;
    descent_case_start(&test, descent_cliff, 2, "adam", "starts: [{x1: 0.95, x2: 0}], forward: 0.01");
    CHECK(descent_case_batch(&test, 3));
    CHECK_INTEGER(1, descent_case_of(&test, 0)->missing);
    CHECK_BITS(0.0, descent_view(&test.search, 0).slope[0]);
    CHECK_NEAR(10.0 * -0.6 + 1.0, descent_view(&test.search, 0).slope[1], 1e-9);
    descent_case_end(&test);
}

// The point that a line of lbfgs chose has a value: only the points beside it run. Not where the replicates' gradients
// are compared, and not by central differences, whose trials are those of earlier versions.
TEST(lbfgs_runs_no_centre_twice)
{
    static const struct {
        const char *options, *over, *rest;
        int64_t first, later;
    } rows[] = {{"forward: 1e-6, line: 1", NULL, "", 4, 3},
                {"forward: 1e-6, line: 9", NULL, "", 4, 3},
                {"line: 9", NULL, "", 7, 7},
                {"forward: 1e-6, line: 9", "x1: {range: [-5, 5]}, x2: {range: [-5, 5]}",
                 "}\nreplicates: {count: 2, common: false, perturb: {x3: {normal: [0, 0.1]}}}", 3, 3}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        DescentCase test;
        descent_case_start_with(&test, descent_rosenbrock, 3, "lbfgs", rows[k].over, rows[k].options, rows[k].rest);
        int64_t line = 1, others = 0;
        for (int round = 0; round < 40; round++) {
            const bool on_line = descent_case_of(&test, 0)->on_line;
            const int64_t before = test.evaluations;
            CHECK(descent_case_batch(&test, DESCENT_TEST_TRIALS));
            if (!on_line) CHECK_INTEGER(round == 0 ? rows[k].first : rows[k].later, test.evaluations - before);
            line += on_line;
            others += !on_line;
        }
        CHECK(line > 5 && others > 5);
        descent_case_end(&test);
    }
}

// ---- known minima ---------------------------------------------------------------------------------------------------

static void descent_check_solves(DescentProblem *problem, int n, const char *method, const char *options, double bound,
                                 int64_t most)
{
    DescentCase test;
    descent_case_start(&test, problem, n, method, options);
    descent_case_run(&test, DESCENT_TEST_TRIALS);
    const DescentRun *run = descent_case_of(&test, 0);
    test_check(run->best <= bound, __FILE__, __LINE__,
               arena_format(&test.arena, "%s: n %d, best %g <= %g after %lld trials: %s", method, n, run->best, bound,
                            (long long)test.evaluations, descent_case_why(&test, 0)));
    test_check(test.evaluations <= most, __FILE__, __LINE__,
               arena_format(&test.arena, "%s: n %d, %lld trials <= %lld", method, n, (long long)test.evaluations,
                            (long long)most));
    descent_case_end(&test);
}

TEST(lbfgs_reaches_known_minima)
{
    const char *fine = "difference: 1e-6, stop: {iterations: 1000}";
    for (int n = 2; n <= 10; n += 4) {
        descent_check_solves(descent_sphere, n, "lbfgs", "", 1e-20, 200);
        descent_check_solves(descent_ellipsoid, n, "lbfgs", fine, 1e-8, 800 * n);
        descent_check_solves(descent_rosenbrock, n, "lbfgs",
                             "difference: 1e-6, start: center, stop: {iterations: 1000}", 1e-8, 400 * n);
    }
}

// One trial after the other: a step of n parameters is about n + 2 trials.
TEST(lbfgs_reaches_known_minima_in_series)
{
    const char *serial = "forward: 1e-8, line: 1, rate: 0.5, memory: 40, start: center, stop: {iterations: 1000}";
    for (int n = 2; n <= 10; n += 4) {
        descent_check_solves(descent_sphere, n, "lbfgs", serial, 1e-14, 6 * n + 12);
        descent_check_solves(descent_ellipsoid, n, "lbfgs", serial, 1e-3, 100 * n); // h f''/2 is up to 1 by coordinate
        descent_check_solves(descent_rosenbrock, n, "lbfgs", serial, 1e-8, 90 * n);
    }
}

TEST(adam_reaches_known_minima)
{
    const char *falling = "schedule: cosine, rate: 0.05, difference: 1e-6, stop: {iterations: 2000}";
    for (int n = 2; n <= 10; n += 4) {
        const int64_t most = 2000 * (2 * n + 1);
        descent_check_solves(descent_sphere, n, "adam", falling, 1e-12, most);
        descent_check_solves(descent_rosenbrock, n, "adam",
                             "start: center, schedule: cosine, rate: 0.05, difference: 1e-6, stop: {iterations: 2000}",
                             1e-3, most);
    }
    descent_check_solves(descent_sphere, 10, "adam", "stop: {iterations: 300}", 1e-8, 300 * 21);
}

// The best point has coordinates at ends of their ranges: x1 = 2 - 0.05 (n - 1) 5, the others 5.
TEST(descent_reaches_a_minimum_at_the_bounds)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    for (int m = 0; m < 2; m++) {
        DescentCase test;
        descent_case_start(&test, descent_corner, 3, methods[m],
                           m == 0 ? "schedule: cosine, stop: {iterations: 1000}" : "");
        descent_case_run(&test, DESCENT_TEST_TRIALS);
        const double *x = descent_view(&test.search, 0).x;
        CHECK_BITS(1.0, x[1]);
        CHECK_BITS(1.0, x[2]);
        CHECK_NEAR((2.0 - 0.05 * 2.0 * 5.0 + 5.0) / 10.0, x[0], 1e-6);
        CHECK(descent_case_of(&test, 0)->gradient < 1e-4); // without what points out of the ranges
        descent_case_end(&test);
    }
}

static double descent_turned(const double *x, int n) { return 7.0 - descent_sphere(x, n); }

TEST(descent_maximises_too)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    for (int m = 0; m < 2; m++) {
        DescentCase test;
        descent_case_start_with(&test, descent_turned, 3, methods[m], NULL, "stop: {target: 6.99999}",
                                "}\nobjective: {maximize: f}");
        descent_case_run(&test, DESCENT_TEST_TRIALS);
        CHECK_TEXT("target", descent_case_why(&test, 0));
        const Round *last = &test.rounds.row[test.rounds.count - 1];
        CHECK(last->best >= 6.99999 && last->best <= 7.0);
        // the record has derivatives of the fitness, not of the cost
        const double *row = test.rounds.field + (test.rounds.count - 1) * test.search.n_round_fields;
        for (int i = 0; i < 3; i++)
            CHECK_BITS(-descent_view(&test.search, 0).slope[i], row[DESCENT_TEST_FIELDS + 3 + i]);
        descent_case_end(&test);
    }
}

// ---- failures -------------------------------------------------------------------------------------------------------

// Around x1 = 1 the upper point fails: the derivative is one-sided. Beyond it all fail, and it is missing.
TEST(descent_takes_one_sided_differences_where_points_fail)
{
    DescentCase test;
    const double h = 0.1, slope = 2.0 * (0.95 - 0.3) - 1.0;
    descent_case_start(&test, descent_cliff, 2, "adam", "starts: [{x1: 0.95, x2: 0}], difference: 0.01");
    CHECK(descent_case_batch(&test, 5));
    CHECK_INTEGER(0, descent_case_of(&test, 0)->missing);
    CHECK_NEAR(10.0 * (slope - h), descent_view(&test.search, 0).slope[0], 1e-9);
    CHECK_NEAR(10.0 * -0.6, descent_view(&test.search, 0).slope[1], 1e-9);
    CHECK_BITS(1.0, test.rounds.field[5]); // trials that failed
    descent_case_end(&test);
    descent_case_start(&test, descent_cliff, 2, "adam", "starts: [{x1: 1.05, x2: 0}], difference: 0.01");
    CHECK(descent_case_batch(&test, 5));
    CHECK_INTEGER(2, descent_case_of(&test, 0)->missing);
    CHECK_BITS(0.0, descent_view(&test.search, 0).slope[0]);
    CHECK_TEXT("all_failed", descent_case_why(&test, 0));
    descent_case_end(&test);
}

// Where the centre alone fails, the differences of the others are as good; the line of lbfgs takes what is best.
TEST(descent_goes_on_from_a_centre_that_failed)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    for (int m = 0; m < 2; m++) {
        DescentCase test;
        descent_case_start(&test, descent_hole, 2, methods[m], "start: center, difference: 0.01");
        CHECK(descent_case_batch(&test, 5));
        CHECK(isnan(descent_case_of(&test, 0)->value));
        CHECK_INTEGER(0, descent_case_of(&test, 0)->missing);
        CHECK(test.rounds.row[0].has_gradient);
        for (int i = 0; i < 2; i++) CHECK_NEAR(-6.0, descent_view(&test.search, 0).slope[i], 1e-9);
        descent_case_run(&test, DESCENT_TEST_TRIALS);
        CHECK(descent_case_of(&test, 0)->best < 0.02);
        descent_case_end(&test);
    }
}

// Momentum carries the search over the cliff: it returns and goes on.
TEST(adam_returns_from_where_all_fail)
{
    DescentCase test;
    descent_case_start(&test, descent_cliff, 2, "adam",
                       "starts: [{x1: 0.2, x2: 4}], rate: 0.1, stop: {iterations: 400}");
    int64_t returned = 0;
    for (bool more = true; more;) {
        more = descent_case_batch(&test, 5);
        returned += descent_case_of(&test, 0)->failed_rounds > 0;
    }
    CHECK(returned > 0);
    CHECK_TEXT("iterations", descent_case_why(&test, 0));
    CHECK_NEAR(-0.55, descent_case_of(&test, 0)->best, 1e-6);
    descent_case_end(&test);
}

TEST(lbfgs_does_not_step_where_points_fail)
{
    DescentCase test;
    descent_case_start(&test, descent_cliff, 2, "lbfgs", "starts: [{x1: 0.2, x2: 4}]");
    descent_case_run(&test, 7);
    CHECK_NEAR(0.8, -5.0 + 10.0 * descent_view(&test.search, 0).x[0], 1e-6);
    CHECK_NEAR(-0.55, descent_case_of(&test, 0)->best, 1e-9);
    descent_case_end(&test);
}

// ---- ends -----------------------------------------------------------------------------------------------------------

TEST(descent_ends_for_named_reasons)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    for (int m = 0; m < 2; m++) {
        descent_check_ends(descent_sphere, methods[m], "stop: {target: 1.0}", "target");
        descent_check_ends(descent_sphere, methods[m], "stop: {trials: 15}", "trials");
        descent_check_ends(descent_fails, methods[m], "", "all_failed");
        descent_check_ends(descent_flat, methods[m], "", "gradient");
        descent_check_ends(descent_sphere, methods[m], "stop: {gradient: 5}", "gradient");
        descent_check_ends(descent_rosenbrock, methods[m], "stop: {iterations: 7}", "iterations");
        descent_check_ends(descent_sphere, methods[m], "stop: {step: 0.02}", "step");
    }
    descent_check_ends(descent_sphere, "adam", "stop: {iterations: 3000, stagnation: 20, step: 0}", "stagnation");
    descent_check_ends(descent_rosenbrock, "lbfgs", "difference: 0.05, stop: {step: 0}", "line_search");
}

// The second and third starts differ from the first and from each other; the best is that of all of them.
TEST(descent_starts_again_elsewhere)
{
    DescentCase test;
    descent_case_start(&test, descent_rosenbrock, 2, "lbfgs", "restarts: 2, stop: {iterations: 3}");
    descent_case_run(&test, DESCENT_TEST_TRIALS);
    CHECK_INTEGER(2, descent_case_of(&test, 0)->restart);
    double start[3] = {0.0}, best = (double)INFINITY;
    int64_t ends = 0, starts = 0;
    const int fields = test.search.n_round_fields;
    for (int64_t r = 0; r < test.rounds.count; r++) {
        const double *row = test.rounds.field + r * fields;
        if (row[2] == 0.0) start[starts++] = row[7];
        ends += test.rounds.row[r].stop != NULL;
        best = test.rounds.row[r].best;
    }
    CHECK_INTEGER(3, starts);
    CHECK_INTEGER(3, ends);
    CHECK(start[0] != start[1] && start[1] != start[2] && start[0] != start[2]);
    CHECK_BITS(best, descent_case_of(&test, 0)->best);
    descent_case_end(&test);
}

// ---- options --------------------------------------------------------------------------------------------------------

static void descent_read_start(const char *options, int64_t search, double *x)
{
    DescentCase test;
    descent_case_start(&test, descent_sphere, 2, "adam", options);
    memcpy(x, descent_view(&test.search, search).x, 2 * sizeof *x);
    descent_case_end(&test);
}

TEST(descent_starts_where_the_options_say)
{
    double x[2], other[2];
    descent_read_start("start: center", 0, x);
    CHECK_BITS(0.5, x[0]);
    descent_read_start("start: default", 0, x); // 0 in [-5, 5]
    CHECK_BITS(0.5, x[1]);
    descent_read_start("searches: 2, starts: [{x1: 5, x2: -5}]", 0, x);
    CHECK_BITS(1.0, x[0]);
    CHECK_BITS(0.0, x[1]);
    descent_read_start("searches: 2, starts: [{x1: 5, x2: -5}], start: center", 1, x);
    CHECK_BITS(0.5, x[1]);
    for (int64_t s = 0; s < 3; s++) {
        char alone[64];
        snprintf(alone, sizeof alone, "first: %d", (int)s);
        descent_read_start("searches: 3", s, x);
        descent_read_start(alone, 0, other);
        CHECK(memcmp(x, other, sizeof x) == 0);
        CHECK(x[0] >= 0.1 && x[0] <= 0.9);
        descent_read_start("searches: 3, start: random", s, other);
        CHECK(x[0] != other[0]);
    }
}

// The first step has the length of the rate in each coordinate, whatever the slope; it falls by the schedule.
TEST(adam_steps_by_its_rate_and_schedule)
{
    static const struct {
        const char *schedule;
        double rate[3];
    } rows[] = {{"constant", {0.01, 0.01, 0.01}},
                {"cosine", {0.01, 0.0075, 0.0025}}, // 3 iterations
                {"decay", {0.01, 0.01 * 0.70710678118654752, 0.01 * 0.57735026918962576}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        DescentCase test;
        char options[128];
        snprintf(options, sizeof options, "rate: 0.01, schedule: %s, epsilon: 1e-30, stop: {iterations: 3}",
                 rows[i].schedule);
        descent_case_start(&test, descent_ellipsoid, 4, "adam", options);
        descent_case_run(&test, DESCENT_TEST_TRIALS);
        CHECK_INTEGER(3, test.rounds.count);
        CHECK_NEAR(0.02, test.rounds.row[0].sigma, 1e-12); // sqrt(4) 0.01
        for (int r = 0; r < 3; r++)
            CHECK_NEAR(rows[i].rate[r], test.rounds.field[r * test.search.n_round_fields + 11], 1e-15);
        descent_case_end(&test);
    }
}

TEST(adam_clips_the_gradient_to_a_norm)
{
    DescentCase test;
    descent_case_start(&test, descent_ellipsoid, 4, "adam", "clip: 2, beta1: 0.75, beta2: 0.5");
    CHECK(descent_case_batch(&test, 9));
    const DescentView view = descent_view(&test.search, 0);
    CHECK(view.run->gradient > 100.0);
    double squares = 0.0;
    for (int i = 0; i < 4; i++) squares += view.own[4 + i];
    CHECK_NEAR(0.25 * 2.0, descent_norm(view.own, 4), 1e-12);
    CHECK_NEAR(0.5 * 4.0, squares, 1e-12);
    descent_case_end(&test);
}

// After one step both coordinates are at the end of their range, which holds the second one.
TEST(adam_clips_without_what_the_ranges_hold)
{
    DescentCase test;
    descent_case_start(&test, descent_corner, 2, "adam", "start: center, rate: 0.6, clip: 2, beta1: 0");
    CHECK(descent_case_batch(&test, 5));
    CHECK(descent_case_batch(&test, 5));
    const DescentView view = descent_view(&test.search, 0);
    CHECK_NEAR(65.0, view.run->gradient, 0.02); // of one side
    CHECK_NEAR(2.0, view.own[0], 1e-12);
    CHECK_NEAR(-15.0 * 2.0 / 65.0, view.own[1], 1e-3);
    descent_case_end(&test);
}

// x1 >= 1 and a minimum at 0.3: x1 = (0.3 + w)/(1 + w) for the weight w, and best is a trial with x1 >= 1.
TEST(descent_weighs_constraints)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    for (int m = 0; m < 2; m++) {
        DescentCase test;
        descent_case_start_with(&test, descent_sphere, 2, methods[m], NULL, "penalty: 9, stop: {iterations: 400}",
                                "}\nconstraints: [\"x1 >= 1\"]");
        descent_case_run(&test, DESCENT_TEST_TRIALS);
        CHECK_NEAR((0.3 + 9.0) / 10.0, -5.0 + 10.0 * descent_view(&test.search, 0).x[0], 1e-5);
        CHECK(!(descent_case_of(&test, 0)->best < 0.49));
        descent_case_end(&test);
    }
}

// No trial is where the spec excludes it, and the search goes on along the edge.
TEST(descent_stays_where_the_spec_allows)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    for (int m = 0; m < 2; m++) {
        DescentCase test;
        descent_case_start_with(&test, descent_sphere, 2, methods[m], NULL, "searches: 4, stop: {iterations: 100}",
                                ", exclude: [\"x1 + x2 < 2\"]}");
        for (bool more = true; more;) {
            more = descent_case_batch(&test, 33);
            for (int64_t t = 0; t < test.trials.count; t++)
                CHECK(test.trials.parameter[2 * t] + test.trials.parameter[2 * t + 1] >= 2.0);
        }
        for (int s = 0; s < 4; s++) CHECK(descent_case_of(&test, s)->best < 10.0);
        descent_case_end(&test);
    }
}

// ---- random numbers -------------------------------------------------------------------------------------------------

// adam: the points of a round share them, and rounds differ; lbfgs: all trials of a search do.
TEST(descent_points_share_the_random_numbers_of_replicates)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    for (int m = 0; m < 2; m++) {
        DescentCase test;
        descent_case_start_with(&test, descent_rosenbrock, 2, methods[m], "x1: {range: [-5, 5]}", "",
                                "}\nreplicates: {count: 2, common: false, perturb: {x2: {normal: [0, 1]}}}");
        double before = (double)NAN;
        for (int r = 0; r < 3; r++) {
            double drawn[2] = {0.0};
            CHECK(descent_case_batch(&test, DESCENT_TEST_TRIALS));
            for (int64_t t = 0; t < test.trials.count; t++) {
                const Trials *trials = &test.trials;
                double lane[2];
                replicate_parameters(&test.spec, trials->search[t], trials->ordinal[t], 0, trials->parameter + 2 * t,
                                     lane);
                if (t == 0) drawn[0] = lane[1];
                CHECK_BITS(drawn[0], lane[1]);
                replicate_parameters(&test.spec, trials->search[t], trials->ordinal[t], 1, trials->parameter + 2 * t,
                                     lane);
                CHECK(drawn[0] != lane[1]);
            }
            CHECK(r == 0 || (before == drawn[0]) == (m == 1));
            before = drawn[0];
        }
        descent_case_end(&test);
    }
}

// ---- how good a gradient is -----------------------------------------------------------------------------------------

static double descent_plane(const double *x, int n)
{
    (void)n;
    return 3.0 * x[0] + 4.0 * x[1];
}

#define DESCENT_TILTED "}\nreplicates: {count: 4, perturb: {x3: {normal: [0, 1]}}}"

static void descent_case_tilted(DescentCase *test, const char *method, const char *options, const double (*tilt)[2])
{
    descent_case_start_with(test, descent_plane, 3, method, "x1: {range: [-5, 5]}, x2: {range: [-5, 5]}", options,
                            DESCENT_TILTED);
    CHECK(search_takes_values(&test->spec));
    test->trials.value = ARENA_NEW(&test->arena, double, 4 * DESCENT_TEST_TRIALS);
    test->tilt = tilt;
    test->dead = -1;
}

// Gradients of the replicates, by range: 10 (3 +- 3, 4). Their mean is (30, 40).
static const double descent_tilts[4][2] = {{3, 0}, {3, 0}, {-3, 0}, {-3, 0}};

TEST(descent_tells_how_far_the_replicates_gradients_agree)
{
    DescentCase test;
    descent_case_tilted(&test, "adam", "start: center", descent_tilts);
    CHECK(descent_case_batch(&test, 5));
    CHECK(test.rounds.row[0].has_gradient);
    const GradientSigns *signs = &test.rounds.row[0].gradient;
    CHECK_NEAR(50.0, signs->norm, 1e-8);
    CHECK_NEAR(sqrt(4.0 * 900.0 / (4.0 * 3.0)) / 50.0, signs->spread, 1e-10);
    CHECK_NEAR((60.0 * 0.0 + 40.0 * 40.0) / (sqrt(60.0 * 60.0 + 1600.0) * 40.0), signs->cosine, 1e-10);
    CHECK(isnan(signs->growth));
    CHECK_TEXT("unclear", gradient_verdict(signs));
    descent_case_end(&test);
}

// A replicate that fails on one side of the centre has a one-sided difference. One without derivatives does not count,
// and the halves are those of the others: (3, 0) with (0, 0), and (-3, 0).
TEST(descent_leaves_out_replicates_without_derivatives)
{
    DescentCase test;
    static const double tilts[4][2] = {{3, 0}, {7, 7}, {0, 0}, {-3, 0}};
    descent_case_tilted(&test, "adam", "starts: [{x1: 0, x2: 0}]", descent_tilts);
    test.dead = 1;
    CHECK(descent_case_batch(&test, 5));
    CHECK_NEAR(sqrt(300.0) / 50.0, test.rounds.row[0].gradient.spread, 1e-10);
    descent_case_end(&test);
    descent_case_tilted(&test, "lbfgs", "starts: [{x1: 0, x2: 1}]", tilts);
    test.dead = 1;
    CHECK(descent_case_batch(&test, 5));
    CHECK_NEAR(sqrt(2.0 * 900.0 / (3.0 * 2.0)) / 50.0, test.rounds.row[0].gradient.spread, 1e-10);
    CHECK_NEAR(1600.0 / sqrt((45.0 * 45.0 + 1600.0) * 1600.0), test.rounds.row[0].gradient.cosine, 1e-10);
    descent_case_end(&test);
}

// At an end of the range x1 does not count: the gradients are (40) alone, and agree.
TEST(descent_signs_are_of_coordinates_that_can_move)
{
    DescentCase test;
    descent_case_tilted(&test, "adam", "starts: [{x1: -5, x2: 1}]", descent_tilts);
    CHECK(descent_case_batch(&test, 5));
    CHECK_NEAR(40.0, test.rounds.row[0].gradient.norm, 1e-8);
    CHECK_NEAR(0.0, test.rounds.row[0].gradient.spread, 1e-8);
    CHECK_NEAR(1.0, test.rounds.row[0].gradient.cosine, 1e-12);
    CHECK_TEXT("signal", gradient_verdict(&test.rounds.row[0].gradient));
    descent_case_end(&test);
}

// The values of replicates are asked for where they say something: of a mean over several that differ.
TEST(descent_asks_for_replicates_only_where_they_tell_something)
{
    static const struct {
        const char *rest;
        bool takes;
    } rows[] = {{DESCENT_TILTED, true},
                {"}", false},
                {"}\nreplicates: {count: 1, perturb: {x3: {normal: [0, 1]}}}", false},
                {"}\nreplicates: {count: 4}", false},
                {DESCENT_TILTED "\nobjective: {minimize: f, over: worst}", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        DescentCase test;
        descent_case_start_with(&test, descent_sphere, 3, "adam", "x1: {range: [-5, 5]}", "", rows[i].rest);
        CHECK_INTEGER(rows[i].takes, search_takes_values(&test.spec));
        CHECK(descent_case_batch(&test, 3));
        CHECK(test.rounds.row[0].has_gradient);
        CHECK(isnan(test.rounds.row[0].gradient.cosine)); // no values were told
        descent_case_end(&test);
    }
}

// Rounds along a line, and those without a derivative, take no gradient.
TEST(descent_says_which_rounds_took_a_gradient)
{
    DescentCase test;
    descent_case_start(&test, descent_sphere, 2, "lbfgs", "start: sobol");
    CHECK(descent_case_batch(&test, 5) && descent_case_batch(&test, 6));
    CHECK(test.rounds.row[0].has_gradient && !test.rounds.row[1].has_gradient);
    descent_case_end(&test);
    descent_case_start(&test, descent_fails, 2, "adam", "");
    CHECK(descent_case_batch(&test, 5));
    CHECK(!test.rounds.row[0].has_gradient);
    descent_case_end(&test);
}

// ---- the same bits --------------------------------------------------------------------------------------------------

static bool descent_same_state(const DescentCase *a, const DescentCase *b)
{
    return a->search.state_size == b->search.state_size &&
           memcmp(a->search.state, b->search.state, a->search.state_size) == 0;
}

static void descent_go_on(DescentCase *test)
{
    Search next;
    Rounds *rounds = test->search.rounds;
    CHECK_OK(search_init(&test->spec, &test->arena, &next));
    memcpy(next.state, test->search.state, test->search.state_size);
    next.state_size = test->search.state_size;
    CHECK_OK(next.method->restore(&next));
    next.rounds = rounds;
    test->search = next;
}

static const char *const descent_three[] = {"searches: 3, restarts: 1, stop: {iterations: 9}",
                                            "searches: 3, memory: 2, stop: {iterations: 9}"};

// Batches of any size, and a process for each batch.
TEST(descent_continues_from_its_state_alone)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    static const int64_t sizes[] = {1, 7, 40};
    for (int m = 0; m < 2; m++) {
        DescentCase whole, parts;
        descent_case_start(&whole, descent_rosenbrock, 3, methods[m], descent_three[m]);
        descent_case_run(&whole, DESCENT_TEST_TRIALS);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            descent_case_start(&parts, descent_rosenbrock, 3, methods[m], descent_three[m]);
            while (descent_case_batch(&parts, sizes[i])) descent_go_on(&parts);
            CHECK_INTEGER(whole.evaluations, parts.evaluations);
            CHECK(descent_same_state(&whole, &parts));
            descent_case_end(&parts);
        }
        descent_case_end(&whole);
    }
}

TEST(descent_a_search_beside_others_equals_one_alone)
{
    static const char *const methods[] = {"adam", "lbfgs"};
    for (int m = 0; m < 2; m++) {
        DescentCase all, alone;
        descent_case_start(&all, descent_rosenbrock, 3, methods[m], descent_three[m]);
        descent_case_run(&all, 50);
        const size_t bytes = ((const Descent *)all.search.scratch)->run_bytes;
        for (int s = 0; s < 3; s++) {
            char options[96];
            snprintf(options, sizeof options, "first: %d, %s", s, strchr(descent_three[m], ' ') + 3);
            descent_case_start(&alone, descent_rosenbrock, 3, methods[m], options);
            descent_case_run(&alone, 50);
            CHECK(memcmp(descent_case_of(&all, s), descent_case_of(&alone, 0), bytes) == 0);
            descent_case_end(&alone);
        }
        descent_case_end(&all);
    }
}

// States of earlier programs hold two numbers of each trial of a round that is partly told: it goes on, and can't tell
// how its replicates agree; the next one can.
TEST(descent_goes_on_from_a_state_without_the_replicates_values)
{
    DescentCase whole, old;
    descent_case_tilted(&whole, "adam", "start: center", descent_tilts);
    descent_case_tilted(&old, "adam", "start: center", descent_tilts);
    for (int i = 0; i < 2; i++) CHECK(descent_case_batch(&whole, 5));
    CHECK(descent_case_batch(&old, 3));
    double *told = side_told(&old.search);
    for (int t = 0; t < 3; t++) memmove(told + 2 * t, told + 6 * t, 2 * sizeof *told);
    old.search.state_size -= 3 * 4 * sizeof(double);
    descent_go_on(&old);
    CHECK(descent_case_batch(&old, 2) && descent_case_batch(&old, 5));
    CHECK(isnan(old.rounds.row[0].gradient.spread));
    CHECK_BITS(whole.rounds.row[0].gradient.norm, old.rounds.row[0].gradient.norm);
    CHECK_BITS(whole.rounds.row[1].gradient.spread, old.rounds.row[1].gradient.spread);
    CHECK(descent_same_state(&whole, &old));
    descent_case_end(&old);
    descent_case_end(&whole);
}

// A damaged state is refused.
TEST(descent_refuses_a_damaged_state)
{
    DescentCase test;
    descent_case_start(&test, descent_rosenbrock, 3, "lbfgs", "memory: 2");
    for (int i = 0; i < 5; i++) CHECK(descent_case_batch(&test, 20));
    const DescentView view = descent_view(&test.search, 0);
    double *const numbers[] = {&view.x[1], &view.slope[0], &view.valid[2], &view.run->scale};
    int64_t *const counts[] = {&view.run->pairs, &view.run->round, &view.run->on_line, &view.run->stop,
                               &view.run->missing};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double kept = *numbers[i];
        *numbers[i] = (double)NAN;
        CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
        *numbers[i] = kept;
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const int64_t kept = *counts[i];
        *counts[i] = 1 << 25;
        CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
        *counts[i] = kept;
    }
    CHECK_OK(test.search.method->restore(&test.search));
    descent_case_end(&test);
}
