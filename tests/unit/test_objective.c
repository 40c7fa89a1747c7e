// Fitness and metrics of a trial from its replicates: sums, order statistics, failures.
#include "../test.h"

#include <math.h>
#include <string.h>

// Two metrics x, y and two parameters p, q; one arena for all tests of this file.
static const char *const names[] = {"x", "y", "p", "q"};
static const double parameter[] = {2.0, 5.0};
static const char *const failures[] = {"none", "fell", "diverged", "solver", NON_FINITE};
enum { CODE_NON_FINITE = 4 };

typedef struct Trial {
    Arena arena;
    Spec spec;
    double metric[8][2]; // metrics of each replicate
    int failure[8];
    double mean[2], spread[2], value[8], room[8], drawn[8];
    TrialResult result;
} Trial;

static Trial trial_of(const char *minimize, Over over, double quantile, int count, const double *x)
{
    const Scope scope = {.names = names, .count = 4};
    Expression *expression = NULL;
    const Expression **list;
    Trial trial = {.spec = {.replicates = {.count = count}}};
    CHECK_OK(arena_create(&trial.arena, (size_t)1 << 20, "test"));
    CHECK_OK(expression_parse_text(minimize, "test", &scope, &trial.arena, &expression));
    list = ARENA_NEW(&trial.arena, const Expression *, 1);
    list[0] = expression;
    trial.spec.objective.expression = list;
    trial.spec.objective.count = 1;
    trial.spec.objective.over = over;
    trial.spec.objective.quantile = quantile;
    trial.spec.configured.failures = failures;
    trial.spec.configured.n_failures = 5;
    trial.spec.configured.n_metrics = 2;
    trial.spec.configured.n_parameters = 2;
    for (int r = 0; r < count; r++) trial.metric[r][0] = x[r];
    for (int r = 0; r < count; r++) trial.metric[r][1] = r + 1;
    return trial;
}

static const TrialResult *evaluate(Trial *trial)
{
    trial->result = (TrialResult){.metric = trial->mean,
                                  .spread = trial->spec.replicates.count > 1 ? trial->spread : NULL,
                                  .value = trial->value,
                                  .room = trial->room};
    const Replicates of = {.parameter = parameter,
                           .drawn = trial->spec.replicates.n_perturb > 0 ? trial->drawn : NULL,
                           .metric = trial->metric[0],
                           .failure = trial->failure};
    trial_result(&trial->spec, &of, &trial->result);
    return &trial->result;
}

static double fitness_of(Over over, double quantile, int count, const double *x)
{
    Trial trial = trial_of("x", over, quantile, count, x);
    const double fitness = evaluate(&trial)->fitness;
    arena_destroy(&trial.arena);
    return fitness;
}

static double the_nan(void)
{
    const uint64_t bits = 0x7ff8000000000000;
    double nan_value;
    memcpy(&nan_value, &bits, sizeof nan_value);
    return nan_value;
}

static const double four[] = {4, 1, 8, 2}, three[] = {4, 1, 8};

TEST(objective_mean_sums_in_order)
{
    static const double x[] = {1e16, 1, -1e16, 1}; // another order gives another sum
    CHECK_BITS(0.25, fitness_of(OVER_MEAN, 0, 4, x));
    CHECK_BITS(3.75, fitness_of(OVER_MEAN, 0, 4, four));
}

// Of one replicate as of several: a sum that begins with 0 has no -0, and there is one NaN.
TEST(objective_mean_of_one_replicate)
{
    static const double zero[] = {-0.0};
    const uint64_t odd = 0xfff8000000012345;
    double payload;
    memcpy(&payload, &odd, sizeof payload);
    Trial trial = trial_of("y", OVER_MEAN, 0, 1, zero);
    CHECK_BITS(0.0, evaluate(&trial)->metric[0]);
    CHECK_BITS(1.0, trial.result.metric[1]);
    trial.metric[0][0] = payload;
    CHECK_BITS(the_nan(), evaluate(&trial)->metric[0]);
    arena_destroy(&trial.arena);
}

TEST(objective_median_worst_and_quantile)
{
    CHECK_BITS(4.0, fitness_of(OVER_MEDIAN, 0, 3, three));
    CHECK_BITS(3.0, fitness_of(OVER_MEDIAN, 0, 4, four));
    CHECK_BITS(8.0, fitness_of(OVER_WORST, 0, 4, four));
    CHECK_NEAR(1.9, fitness_of(OVER_QUANTILE, 0.3, 4, four), 1e-15); // numpy.quantile([1, 2, 4, 8], 0.3)
    CHECK_NEAR(6.8, fitness_of(OVER_QUANTILE, 0.9, 4, four), 1e-15);
    CHECK_BITS(1.0, fitness_of(OVER_QUANTILE, 0.0, 4, four));
    CHECK_BITS(8.0, fitness_of(OVER_QUANTILE, 1.0, 4, four));
    CHECK_BITS(4.0, fitness_of(OVER_QUANTILE, 0.7, 1, four));
}

// One rule for NaN and infinities: the replicate fails, and `failed:` applies.
TEST(objective_that_is_not_finite_fails_the_replicate)
{
    static const double bad[] = {(double)INFINITY, (double)-INFINITY, (double)NAN};
    for (int over = OVER_MEAN; over <= OVER_QUANTILE; over++) {
        for (int b = 0; b < 3; b++) {
            const double x[] = {4, bad[b], 8, 2};
            Trial trial = trial_of("x", (Over)over, 1, 4, x);
            CHECK_BITS(the_nan(), evaluate(&trial)->fitness);
            CHECK(!trial.result.has_fitness);
            CHECK_INTEGER(CODE_NON_FINITE, trial.result.failure);
            CHECK_INTEGER(1, trial.result.n_failed);
            CHECK_INTEGER(CODE_NON_FINITE, trial.failure[1]);
            CHECK_BITS(the_nan(), trial.value[1]);
            memset(trial.failure, 0, sizeof trial.failure);
            trial.spec.objective.failed = FAILED_PENALTY;
            trial.spec.objective.penalty = 10;
            const double with[] = {6, 6, 10, 10}, without[] = {14.0 / 3, 4, 8, 8}; // mean, median, worst, quantile(1)
            CHECK_BITS(with[over], evaluate(&trial)->fitness);
            CHECK_INTEGER(1, trial.result.n_failed);
            CHECK_BITS(10.0, trial.value[1]);
            memset(trial.failure, 0, sizeof trial.failure);
            trial.spec.objective.failed = FAILED_IGNORE;
            CHECK_BITS(without[over], evaluate(&trial)->fitness);
            arena_destroy(&trial.arena);
        }
    }
}

// Each value is finite and their sum is not.
TEST(objective_that_overflows_has_no_fitness)
{
    static const double x[] = {1e308, 1e308, 1e308, 1e308};
    Trial trial = trial_of("x", OVER_MEAN, 0, 4, x);
    CHECK_BITS(the_nan(), evaluate(&trial)->fitness);
    CHECK_INTEGER(CODE_NON_FINITE, trial.result.failure);
    CHECK_INTEGER(0, trial.result.n_failed);
    arena_destroy(&trial.arena);
}

// A perturbed parameter has the value that the replicate drew.
TEST(objective_sees_what_replicates_drew)
{
    static const Perturbation perturb[] = {{.parameter = 1}};
    Trial trial = trial_of("x * q + p", OVER_MEAN, 0, 4, four);
    trial.spec.replicates.perturb = perturb;
    trial.spec.replicates.n_perturb = 1;
    CHECK(spec_names_drawn(&trial.spec));
    for (int r = 0; r < 4; r++) trial.drawn[r] = 10.0 * (r + 1);
    CHECK_BITS((40.0 + 20 + 240 + 80) / 4 + 2, evaluate(&trial)->fitness);
    CHECK_BITS(242.0, trial.value[2]);
    arena_destroy(&trial.arena);
    trial = trial_of("x + p", OVER_MEAN, 0, 4, four);
    trial.spec.replicates.perturb = perturb;
    trial.spec.replicates.n_perturb = 1;
    CHECK(!spec_names_drawn(&trial.spec));
    arena_destroy(&trial.arena);
}

TEST(objective_zeros_of_both_signs_sort_the_same)
{
    static const double one[] = {0.0, -0.0, 0.0}, other[] = {0.0, 0.0, -0.0};
    CHECK_BITS(fitness_of(OVER_QUANTILE, 0, 3, one), fitness_of(OVER_QUANTILE, 0, 3, other));
    CHECK_BITS(-0.0, fitness_of(OVER_QUANTILE, 0, 3, other));
}

TEST(objective_uses_metrics_and_parameters_of_each_replicate)
{
    Trial trial = trial_of("x * q + y - p", OVER_WORST, 0, 4, four);
    CHECK_BITS(8.0 * 5 + 3 - 2, evaluate(&trial)->fitness); // from the third replicate
    arena_destroy(&trial.arena);
}

TEST(objective_nan_is_never_ranked)
{
    static const double x[] = {4, -NAN, 8, 2};
    for (int over = OVER_MEAN; over <= OVER_QUANTILE; over++) CHECK_BITS(the_nan(), fitness_of((Over)over, 0.1, 4, x));
    Trial trial = trial_of("y", OVER_WORST, 0, 4, x); // which does not use the metric that is NaN
    const TrialResult *result = evaluate(&trial);
    CHECK_BITS(4.0, result->fitness);
    CHECK_INTEGER(0, result->failure);
    CHECK_INTEGER(0, result->n_failed);
    CHECK_BITS(the_nan(), result->metric[0]);
    CHECK_BITS(the_nan(), result->spread[0]);
    CHECK_BITS(2.5, result->metric[1]);
    arena_destroy(&trial.arena);
}

TEST(objective_failed_replicates_fail_count_or_are_ignored)
{
    Trial trial = trial_of("x", OVER_MEAN, 0, 4, four);
    trial.failure[2] = 3;
    trial.failure[3] = 1;
    const TrialResult *result = evaluate(&trial);
    CHECK_BITS(the_nan(), result->fitness);
    CHECK_INTEGER(3, result->failure); // the failure of the first failed replicate
    CHECK_INTEGER(2, result->n_failed);
    CHECK_BITS(3.75, result->metric[0]); // the mean is over all replicates
    trial.spec.objective.failed = FAILED_PENALTY;
    trial.spec.objective.penalty = 100;
    CHECK_BITS(51.25, evaluate(&trial)->fitness);
    trial.metric[2][0] = NAN; // a failed replicate's metrics do not count
    CHECK_BITS(51.25, evaluate(&trial)->fitness);
    trial.spec.objective.failed = FAILED_IGNORE;
    CHECK_BITS(2.5, evaluate(&trial)->fitness);
    CHECK_INTEGER(3, trial.result.failure);
    trial.failure[0] = trial.failure[1] = 2;
    CHECK_BITS(the_nan(), evaluate(&trial)->fitness); // no replicate is left
    CHECK_INTEGER(2, trial.result.failure);
    arena_destroy(&trial.arena);
}

TEST(objective_ignore_takes_order_statistics_of_the_survivors)
{
    Trial trial = trial_of("x", OVER_MEDIAN, 0, 4, four);
    trial.failure[2] = 1;
    trial.spec.objective.failed = FAILED_IGNORE;
    CHECK_BITS(2.0, evaluate(&trial)->fitness);
    arena_destroy(&trial.arena);
}

TEST(objective_spread_is_exact_for_large_values)
{
    static const double x[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
    Trial trial = trial_of("x", OVER_MEAN, 0, 4, x);
    CHECK_BITS(1e9 + 10, evaluate(&trial)->metric[0]);
    CHECK_BITS(sqrt(30.0), trial.result.spread[0]); // 90 / 3
    CHECK_NEAR(1.2909944487358056, trial.result.spread[1], 1e-15);
    arena_destroy(&trial.arena);
}

TEST(objective_one_replicate_has_no_spread)
{
    static const double x[] = {0.1};
    Trial trial = trial_of("x", OVER_MEAN, 0, 1, x);
    CHECK_BITS(0.1, evaluate(&trial)->fitness);
    CHECK_BITS(0.1, trial.result.metric[0]);
    arena_destroy(&trial.arena);
}
