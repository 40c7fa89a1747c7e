// The mathematics of the method bayesian against tables of 50 digits (bayesian_references.py), and its invariants.
#include "../../runner/experiment/search/bayesian/bayesian.h"
#include "../../runner/experiment/search/bayesian/hyperparameters.h"
#include "../test.h"
#include "bayesian_references.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_MOST = 20, REFERENCE_AXES = 5 };

// As bayesian_references.py says.
static void reference_point(int n, int i, bool words, double *x)
{
    for (int a = 0; a < n; a++) x[a] = (double)((7 * i + 5 * a + i * a) % 11) / 11.0 + i / 100.0;
    if (words) x[n - 1] = (double)((7 * i + i * i) % 3) / 2.0;
}

static GaussianProcess reference_process(int k, Arena *arena)
{
    const int n = reference_sizes[k][0], count = reference_sizes[k][1];
    const bool words = reference_sizes[k][2] != 0;
    bool *word = ARENA_NEW(arena, bool, n);
    double theta[REFERENCE_AXES + 2], x[REFERENCE_AXES];
    word[n - 1] = words;
    GaussianProcess process = process_take(n, REFERENCE_MOST, word, arena);
    for (int a = 0; a < n; a++) theta[a] = log((3.0 + 2.0 * a) / 10.0);
    theta[n] = log(1.7);
    theta[n + 1] = log(0.02);
    hyperparameters_set(&process, theta);
    for (int i = 0; i < count; i++) {
        reference_point(n, i, words, x);
        process_add(&process, x, sin(3.0 * i) + i / 10.0, i % 3 / 100.0);
    }
    return process;
}

static void reference_query(int n, bool words, double *x)
{
    for (int a = 0; a < n; a++) x[a] = 0.37 + 0.05 * a;
    if (words) x[n - 1] = 0.5;
}

TEST(bayesian_posterior_is_that_of_50_digits)
{
    Arena arena = {0};
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    for (int k = 0; k < REFERENCE_CASES; k++) {
        const int n = reference_sizes[k][0];
        const double *expected = reference_posterior[k];
        GaussianProcess process = reference_process(k, &arena);
        double x[REFERENCE_AXES], mean, variance, slope[2][REFERENCE_AXES];
        reference_query(n, reference_sizes[k][2] != 0, x);
        process_factor(&process);
        process_predict(&process, x, &mean, &variance, slope[0], slope[1]);
        CHECK_NEAR(expected[0], mean, 1e-11);
        CHECK_NEAR(expected[1], variance, 1e-11);
        for (int a = 0; a < n; a++) {
            CHECK_NEAR(expected[2 + a], slope[0][a], 1e-10);
            CHECK_NEAR(expected[2 + n + a], slope[1][a], 1e-10);
        }
        process_predict(&process, x, &mean, &variance, NULL, NULL);
        CHECK_NEAR(expected[1], variance, 1e-11);
    }
    arena_destroy(&arena);
}

TEST(bayesian_evidence_and_its_slopes_are_those_of_50_digits)
{
    Arena arena = {0};
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    double square[2 * REFERENCE_MOST * REFERENCE_MOST];
    for (int k = 0; k < REFERENCE_CASES; k++) {
        const int n = reference_sizes[k][0];
        GaussianProcess process = reference_process(k, &arena);
        double slope[REFERENCE_AXES + 2];
        CHECK_NEAR(reference_evidence[k][1], process_evidence(&process, slope, square), 1e-10);
        CHECK_NEAR(reference_evidence[k][0], process.mean, 1e-11);
        for (int i = 0; i < n + 2; i++) CHECK_NEAR(reference_evidence[k][2 + i], slope[i], 1e-9);
    }
    arena_destroy(&arena);
}

// Where K is sound, its noise's part aside: the mean at a point is what process_predict says there.
TEST(bayesian_mean_at_a_point_needs_no_kernel)
{
    Arena arena = {0};
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    GaussianProcess process = reference_process(2, &arena);
    process_factor(&process);
    for (int i = 0; i < (int)process.count; i++) {
        double x[REFERENCE_AXES], mean, variance;
        reference_point(5, i, true, x);
        process_predict(&process, x, &mean, &variance, NULL, NULL);
        CHECK_NEAR(mean, process_mean_at(&process, i), 1e-12);
    }
    arena_destroy(&arena);
}

TEST(bayesian_points_that_are_added_give_the_bits_of_a_new_factor)
{
    Arena arena = {0};
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    GaussianProcess whole = reference_process(2, &arena), grown = reference_process(2, &arena);
    const int64_t count = whole.count;
    for (int64_t i = 1; i <= count; i += 3) {
        grown.count = i;
        process_factor(&grown);
    }
    grown.count = count;
    process_factor(&grown);
    process_factor(&whole);
    CHECK(memcmp(whole.L, grown.L, (size_t)(count * (count + 1) / 2) * sizeof(double)) == 0);
    CHECK(memcmp(whole.alpha, grown.alpha, (size_t)count * sizeof(double)) == 0);
    CHECK_BITS(whole.mean, grown.mean);
    arena_destroy(&arena);
}

TEST(bayesian_improvement_is_that_of_50_digits)
{
    for (size_t i = 0; i < sizeof reference_improvement / sizeof *reference_improvement; i++) {
        const double *expected = reference_improvement[i];
        double slope;
        CHECK_NEAR(expected[1], log_improvement(expected[0], &slope), 1e-11 + 1e-15 * fabs(expected[1]));
        CHECK_NEAR(1.0, slope / expected[2], 1e-11);
        CHECK_NEAR(expected[3], log_normal(expected[0], &slope), 1e-12 + 1e-15 * fabs(expected[3]));
        CHECK_NEAR(1.0, slope / expected[4], 1e-11);
    }
}

// By differences, with a process of feasibility beside that of the cost.
TEST(bayesian_acquisition_has_its_slopes)
{
    Arena arena = {0};
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    GaussianProcess cost = reference_process(1, &arena), success = reference_process(1, &arena);
    for (int i = 0; i < (int)success.count; i++) success.y[i] = cos(2.0 * i);
    process_factor(&cost);
    process_factor(&success);
    GaussianProcess *feasible[] = {&success};
    double room[4 * 3], x[3], slope[3], ignored[3];
    for (int kind = 0; kind < 3; kind++) {
        const Acquisition acquisition = {.n = 3,
                                         .objective = kind != 1 ? &cost : NULL,
                                         .best = kind == 2 ? -5.0 : -0.5,
                                         .feasible = feasible,
                                         .n_feasible = kind != 2,
                                         .room = room};
        reference_query(3, false, x);
        (void)acquisition_value(&acquisition, x, slope);
        for (int a = 0; a < 3; a++) {
            const double at = x[a], h = 1e-5;
            x[a] = at + h;
            const double above = acquisition_value(&acquisition, x, NULL);
            x[a] = at - h;
            const double below = acquisition_value(&acquisition, x, ignored);
            x[a] = at;
            CHECK_NEAR((above - below) / (2.0 * h), slope[a], 1e-6 * (1.0 + fabs(slope[a])));
        }
    }
    arena_destroy(&arena);
}

// The minimum of a quadratic within bounds, one of which holds: x1 = 1, and x2, x3 where their slopes vanish.
static double bowl(void *of, const double *x, double *gradient)
{
    (void)of;
    const double a = x[0] - 3.0, b = x[1] + 0.5 * x[0], c = x[2] - x[1];
    gradient[0] = 2.0 * a + b;
    gradient[1] = 2.0 * b - 200.0 * c;
    gradient[2] = 200.0 * c;
    return a * a + b * b + 100.0 * c * c;
}

TEST(bounded_minimum_finds_that_of_a_quadratic)
{
    const double low[] = {-1.0, -2.0, -2.0}, high[] = {1.0, 2.0, 2.0};
    const BoundedMinimum problem = {
        .n = 3, .iterations = 60, .tolerance = 1e-12, .low = low, .high = high, .value = bowl};
    double x[] = {-0.5, 1.5, -1.0};
    double *room = malloc((size_t)bounded_minimum_room(3) * sizeof *room);
    CHECK_NEAR(4.0, bounded_minimum(&problem, x, room), 1e-9);
    CHECK_NEAR(1.0, x[0], 0.0);
    CHECK_NEAR(-0.5, x[1], 1e-4);
    CHECK_NEAR(-0.5, x[2], 1e-4);
    free(room);
}

// A fit to points of a function of one of two axes: the other one is long, and neither default nor start matters.
TEST(bayesian_fit_finds_the_axis_that_matters)
{
    enum { POINTS = 40 };
    Arena arena = {0};
    CHECK_OK(arena_create(&arena, (size_t)1 << 22, "test"));
    const bool word[2] = {false, false};
    GaussianProcess process = process_take(2, POINTS, word, &arena);
    double *room = ARENA_NEW(&arena, double, hyperparameters_room(2, POINTS)), theta[4];
    for (int i = 0; i < POINTS; i++) {
        const double x[2] = {i * 7 % POINTS / (double)POINTS, i * 11 % POINTS / (double)POINTS};
        process_add(&process, x, portable_sin(9.0 * x[1]), 0.0);
    }
    hyperparameters_fit(HYPERPARAMETERS_SMOOTH, &process, hyperparameters_default(HYPERPARAMETERS_SMOOTH, 2, theta),
                        room);
    CHECK(theta[0] > theta[1] + 2.0);
    CHECK(theta[3] < -8.0);
    arena_destroy(&arena);
}

TEST(bayesian_warp_keeps_order_and_the_better_half)
{
    double cost[] = {3.0, 1.0, 4.0, 1.5, 1e9, 2.0, 1e300, 2.5, 2.5}, warped[9], ascending[9], slope;
    BayesianWarp warp = {.cost = ascending, .warped = warped};
    bayesian_warp_prepare(&warp, cost, 9);
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++)
            CHECK((cost[i] < cost[j]) <=
                  (bayesian_warp(&warp, cost[i], &slope) < bayesian_warp(&warp, cost[j], &slope)));
        CHECK_NEAR(1.0, bayesian_unwarp(&warp, bayesian_warp(&warp, cost[i], &slope)) / cost[i], 1e-12);
    }
    const double step = bayesian_warp(&warp, 1.5, &slope) - bayesian_warp(&warp, 1.0, &slope);
    CHECK_NEAR(step, bayesian_warp(&warp, 2.0, &slope) - bayesian_warp(&warp, 1.5, &slope), 1e-12);
    CHECK(bayesian_warp(&warp, 1e300, &slope) < 3.0);
}
