// The surrogate of a CMA-ES: its least squares and its model against numpy and scipy (surrogate_references.py), how
// much of a search is run with it, what failures and useless models do, and that a search is the same bits in any
// pieces.
#include "cmaes_case.h"

#include "../../runner/experiment/search/kendall_tau.h"

#include <math.h>
#include <string.h>

// ---- least squares and tau ------------------------------------------------------------------------------------------

static int64_t surrogate_case_solve(int64_t m, int64_t p, const double *columns, const double *value, double *x)
{
    enum { MOST = 5 };
    double matrix[MOST * MOST], b[MOST], diagonal[MOST], transposed[MOST * MOST], room[MOST];
    int64_t order[MOST];
    memcpy(matrix, columns, (size_t)(m * p) * sizeof *matrix);
    memcpy(b, value, (size_t)m * sizeof *b);
    LeastSquares of = {m, p, matrix, b, diagonal, transposed, room, order};
    return least_squares(&of, x);
}

TEST(least_squares_are_those_of_numpy)
{
    static const double many[] = {1, -9, 0, -9, 5, -6, 1, 1, 3, 8, -1, 2, -3, -2, -7}, value[] = {-7, -8, -4, -1, 5};
    static const double few[] = {-8, 6, -9, 1, 7, -9, -2, -4, 0, 2, 8, 9, -8, 5, -4};
    static const double same[] = {-2, 5, 8, 1, -5, -4, -8, -8, 2, -6, 6, 21, 24, -3, 7, -4, -8, -8, 2, -6};
    static const double of_same[] = {7, 7, -9, 7, 9};
    static const double best[] = {0.6893948460816486, 1.0234042821238025, 0.793317291641733};
    static const double shortest[] = {0.22578907239153512, -0.5704511028822769, 0.42337852167105955,
                                      -0.6517148296368771, 0.30913120192119664};
    static const double of_rank_2[] = {-0.9971348314606745, -0.4436516853932586, -0.1098314606741575,
                                       -0.44365168539325867};
    double x[5];
    CHECK_INTEGER(3, surrogate_case_solve(5, 3, many, value, x));
    for (int i = 0; i < 3; i++) CHECK_NEAR(best[i], x[i], 1e-14);
    CHECK_INTEGER(3, surrogate_case_solve(3, 5, few, value, x));
    for (int i = 0; i < 5; i++) CHECK_NEAR(shortest[i], x[i], 1e-14);
    CHECK_INTEGER(2, surrogate_case_solve(5, 4, same, of_same, x));
    for (int i = 0; i < 4; i++) CHECK_NEAR(of_rank_2[i], x[i], 1e-14);
    static const double none[10] = {0.0};
    CHECK_INTEGER(0, surrogate_case_solve(5, 2, none, value, x));
    for (int i = 0; i < 2; i++) CHECK_BITS(0.0, x[i]);
}

TEST(kendall_tau_is_that_of_scipy)
{
    static const double a[][6] = {{1, 2, 3, 4, 5}, {1, 1, 2, 3, 3, 4}, {3, 1, 2, 9, 9}};
    static const double b[][6] = {{2, 1, 4, 3, 5}, {1, 2, 2, 5, 4, 4}, {1, 2, 3, 4, 5}};
    static const double failed[] = {3, 1, 2, NAN, NAN}, flat[] = {1, 1, 1};
    CHECK_NEAR(0.6, kendall_tau(a[0], b[0], 5), 1e-15);
    CHECK_NEAR(0.6923076923076924, kendall_tau(a[1], b[1], 6), 1e-15);
    CHECK_NEAR(0.5270462766947299, kendall_tau(a[2], b[2], 5), 1e-15);
    CHECK_NEAR(0.5270462766947299, kendall_tau(failed, b[2], 5), 1e-15); // failures are the greatest, and alike
    CHECK_BITS(0.0, kendall_tau(flat, a[0], 3));
    CHECK_BITS(0.0, kendall_tau(a[0], b[0], 1));
}

// ---- the model ------------------------------------------------------------------------------------------------------

enum { SURROGATE_CASE_N = 3 };

static void surrogate_case_point(int64_t i, double *u)
{
    for (int64_t j = 0; j < SURROGATE_CASE_N; j++)
        u[j] = (double)((37 * i + 101 * j + 13 * i * j + 7 * i * i) % 97) / 9.7;
}

static double surrogate_case_fitness(const double *u)
{
    const double bend = u[0] * u[0] / 10.0 - u[1];
    return 100.0 * bend * bend + (u[0] - 3.0) * (u[0] - 3.0) + u[1] * u[2] + u[2];
}

// Fits a model to `count` points, every `failing`-th of further ones failed; 0: none did.
static void surrogate_case_fit(CmaesCase *test, int64_t count, int64_t failing)
{
    const CmaesView view = cmaes_view(&test->search, 0);
    double *point = view.archive;
    view.surrogate->count = 0;
    for (int64_t i = 0; i < count; i++, point += SURROGATE_CASE_N + 1) {
        if (failing > 0 && view.surrogate->count % failing == failing - 1) {
            surrogate_case_point(5000 + i, point);
            point[SURROGATE_CASE_N] = NAN;
            view.surrogate->count++;
            point += SURROGATE_CASE_N + 1;
        }
        surrogate_case_point(i, point);
        point[SURROGATE_CASE_N] = surrogate_case_fitness(point);
        view.surrogate->count++;
    }
    surrogate_fit(test->search.scratch, &view);
}

// The value of the fitted model, which counts from the best point in units of its own.
static double surrogate_case_value(CmaesCase *test, int64_t i)
{
    const CmaesView view = cmaes_view(&test->search, 0);
    double u[SURROGATE_CASE_N];
    surrogate_case_point(i, u);
    return surrogate_case_fitness(view.center) + view.surrogate->unit * surrogate_value(test->search.scratch, &view, u);
}

TEST(surrogate_models_are_those_of_numpy)
{
    static const struct {
        int64_t count;
        SurrogateKind kind;
        double value[3];
    } cases[] = {
        {2, SURROGATE_LINEAR, {1087.37662713, 1334.07093985, 785.700590742}},
        {4, SURROGATE_LINEAR, {1173.51599108, 1550.30232727, 377.21451267}},
        {9, SURROGATE_LINEAR, {315.330138213, 427.581353531, 13.0237619464}},
        {12, SURROGATE_DIAGONAL, {943.422714061, 1483.13236423, 878.234178374}},
        {20, SURROGATE_FULL, {843.394670636, 1675.99207851, -467.230312609}},
    };
    CmaesCase test;
    cmaes_case_start(&test, cmaes_sphere, SURROGATE_CASE_N, 3, "surrogate: quadratic, population: 40");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int64_t failing = 0; failing <= 4; failing += 4) { // failures change nothing
            surrogate_case_fit(&test, cases[c].count, failing);
            CHECK_INTEGER((int64_t)cases[c].kind, cmaes_view(&test.search, 0).surrogate->kind);
            for (int i = 0; i < 3; i++)
                CHECK_NEAR(cases[c].value[i], surrogate_case_value(&test, 1001 + i), 1e-8 * 1000.0);
        }
    }
    cmaes_case_end(&test);
}

TEST(surrogates_of_flat_or_single_points_have_no_model)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_sphere, SURROGATE_CASE_N, 3, "surrogate: quadratic, population: 40");
    const CmaesView view = cmaes_view(&test.search, 0);
    surrogate_case_fit(&test, 1, 0);
    CHECK_INTEGER(SURROGATE_NONE, view.surrogate->kind);
    surrogate_case_fit(&test, 20, 0);
    for (int64_t i = 0; i < 20; i++) view.archive[i * (SURROGATE_CASE_N + 1) + SURROGATE_CASE_N] = 2.0;
    surrogate_fit(test.search.scratch, &view);
    CHECK_INTEGER(SURROGATE_NONE, view.surrogate->kind);
    surrogate_case_fit(&test, 20, 0);
    for (int64_t i = 0; i < 20; i++) memcpy(view.archive + i * (SURROGATE_CASE_N + 1), view.center, 3 * sizeof(double));
    surrogate_fit(test.search.scratch, &view);
    CHECK_INTEGER(SURROGATE_NONE, view.surrogate->kind);
    cmaes_case_end(&test);
}

// ---- searches -------------------------------------------------------------------------------------------------------

// Evaluations until the target.
static int64_t surrogate_case_evaluations(CmaesFunction *function, int n, uint64_t seed, const char *options)
{
    CmaesCase test;
    cmaes_case_start(&test, function, n, seed, options);
    cmaes_case_run(&test, CMAES_TEST_TRIALS);
    const int64_t evaluations = test.evaluations;
    CHECK(cmaes_case_of(&test, 0)->best <= 1e-8);
    CHECK_INTEGER(evaluations, cmaes_case_of(&test, 0)->evaluations);
    cmaes_case_end(&test);
    return evaluations;
}

TEST(surrogates_need_fewer_evaluations)
{
    static const char with[] = "surrogate: quadratic, sigma: 0.2, stop: {target: 1e-8}";
    static const char without[] = "sigma: 0.2, stop: {target: 1e-8}";
    for (uint64_t seed = 1; seed <= 3; seed++) {
        CHECK(surrogate_case_evaluations(cmaes_sphere, 5, seed, with) <= 30);
        CHECK(surrogate_case_evaluations(cmaes_ellipsoid, 5, seed, with) <= 60);
        const int64_t plain = surrogate_case_evaluations(cmaes_rosenbrock, 5, seed, without);
        const int64_t fewer = surrogate_case_evaluations(cmaes_rosenbrock, 5, seed, with);
        CHECK(2 * fewer < plain);
    }
}

// Between points there is no order that a model could know.
static double surrogate_case_noise(const double *x, int n)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; i++) {
        uint64_t of;
        memcpy(&of, &x[i], sizeof of);
        bits = (bits ^ of) * UINT64_C(0x9e3779b97f4a7c15);
        bits ^= bits >> 29;
    }
    return (double)(bits >> 11);
}

TEST(surrogates_that_rank_badly_run_nearly_all)
{
    CmaesCase test;
    cmaes_case_start(&test, surrogate_case_noise, 5, 2, "surrogate: quadratic, population: 20, stop: {trials: 3000}");
    cmaes_case_run(&test, CMAES_TEST_TRIALS);
    const CmaesRun *run = cmaes_case_of(&test, 0);
    CHECK((double)run->evaluations > 0.9 * 20.0 * (double)run->round);
    cmaes_case_end(&test);
}

// No model: every member is run, and the search is that of a plain CMA-ES to the bit.
TEST(surrogates_without_a_model_are_plain)
{
    CmaesCase plain, with;
    cmaes_case_start(&plain, cmaes_flat, 5, 2, "sigma: 0.2");
    cmaes_case_start(&with, cmaes_flat, 5, 2, "sigma: 0.2, surrogate: quadratic");
    cmaes_case_run(&plain, CMAES_TEST_TRIALS);
    cmaes_case_run(&with, CMAES_TEST_TRIALS);
    CHECK_INTEGER(plain.evaluations, with.evaluations);
    CHECK(plain.evaluations > 100);
    const CmaesView a = cmaes_view(&plain.search, 0), b = cmaes_view(&with.search, 0);
    CHECK(memcmp(a.mean, b.mean, 5 * sizeof(double)) == 0 && memcmp(a.C, b.C, 25 * sizeof(double)) == 0);
    CHECK_BITS(a.run->sigma, b.run->sigma);
    cmaes_case_end(&plain);
    cmaes_case_end(&with);
}

// The slope leads into failures, where the model's best points are.
static double surrogate_case_cliff(const double *x, int n)
{
    return x[0] + x[1] < 2.0 ? NAN : cmaes_sphere(x, n) + 3.0 * x[0];
}

TEST(surrogates_do_not_follow_their_model_into_failures)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        CmaesCase test;
        cmaes_case_start(&test, surrogate_case_cliff, 4, seed,
                         "surrogate: quadratic, sigma: 0.2, stop: {trials: 1000}");
        cmaes_case_run(&test, CMAES_TEST_TRIALS);
        CHECK_NEAR(1.875, cmaes_case_of(&test, 0)->best, 0.05); // at x = 0.25, 1.75, 1, 1
        cmaes_case_end(&test);
    }
}

TEST(surrogate_rounds_have_the_least_number)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_rosenbrock, 4, 3,
                     "surrogate: quadratic, population: 20, evaluate_least: 6, sigma: 0.2, stop: {trials: 400}");
    int64_t rounds = 0;
    for (bool more = true; more;) {
        more = cmaes_case_batch(&test, CMAES_TEST_TRIALS);
        const int64_t count = test.trials.count;
        rounds++;
        CHECK(count == 0 || count >= 6 || cmaes_view(&test.search, 0).surrogate->evaluated == 0);
    }
    CHECK(rounds > 20);
    cmaes_case_end(&test);
}

// ---- the same bits --------------------------------------------------------------------------------------------------

static const char surrogate_three[] =
    "surrogate: quadratic, searches: 3, sigma: 0.2, restarts: ipop, restarts_max: 2, stop: {trials: 700}";

TEST(surrogate_batches_of_any_size_give_the_same_searches)
{
    static const int64_t sizes[] = {1, 7, 33};
    CmaesCase whole, pieces;
    cmaes_case_start(&whole, cmaes_rosenbrock, 5, 3, surrogate_three);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    CHECK(whole.evaluations >= 3 * 700);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int apart = 0; apart < 2; apart++) {
            cmaes_case_start(&pieces, cmaes_rosenbrock, 5, 3, surrogate_three);
            (apart ? cmaes_case_run_in_pieces : cmaes_case_run)(&pieces, sizes[i]);
            CHECK_INTEGER(whole.evaluations, pieces.evaluations);
            CHECK(cmaes_same_state(&whole, &pieces));
            cmaes_case_end(&pieces);
        }
    }
    cmaes_case_end(&whole);
}

TEST(surrogate_states_that_are_not_possible_are_refused)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_sphere, 5, 3, "surrogate: quadratic");
    (void)cmaes_case_batch(&test, 5);
    Surrogate *surrogate = cmaes_view(&test.search, 0).surrogate, kept = *surrogate;
    CHECK_OK(test.search.method->restore(&test.search));
    int64_t *const counts[] = {&surrogate->rounds, &surrogate->evaluated, &surrogate->wanted, &surrogate->count,
                               &surrogate->kind};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *counts[i] = -1;
        CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
        *surrogate = kept;
    }
    cmaes_case_end(&test);
}
