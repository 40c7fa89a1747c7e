// The probability that a finalist is the best one: against a closed form, and against how often it is.
#include "../../runner/view/view.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINALISTS_MOST = 64, FINALISTS_SEEDS = 128 };

typedef struct FinalistsCase {
    double value[FINALISTS_MOST][FINALISTS_SEEDS], mu[FINALISTS_MOST];
    const double *rows[FINALISTS_MOST];
    int had[FINALISTS_MOST];
} FinalistsCase;

// Costs mu + b + e with variances `common` and 1 - common.
static void finalists_draw(FinalistsCase *test, int count, double common, uint64_t repeat)
{
    const RandomKey seeds = {.seed = 11, .ordinal = repeat, .purpose = RANDOM_PERTURB};
    for (int i = 0; i < count; i++) {
        const RandomKey key = {.seed = 12, .ordinal = repeat, .replicate = (uint32_t)i, .purpose = RANDOM_PERTURB};
        for (int r = 0; r < FINALISTS_SEEDS; r++)
            test->value[i][r] = test->mu[i] + sqrt(common) * random_normal(&seeds, (uint32_t)r) +
                                sqrt(1.0 - common) * random_normal(&key, (uint32_t)r);
        test->rows[i] = test->value[i];
    }
}

static double finalists_mean(const FinalistsCase *test, int i, int n)
{
    double sum = 0.0;
    for (int r = 0; r < n; r++) sum += test->value[i][r];
    return sum / n;
}

// Halves the finalists from 4 replicates on; returns the named one.
static int finalists_race(FinalistsCase *test, int count)
{
    int alive = count, named = 0;
    for (int i = 0; i < count; i++) test->had[i] = 4;
    for (int n = 4; alive > 1; n *= 2) {
        for (int drop = alive / 2; drop > 0; drop--) {
            int worst = -1;
            for (int i = 0; i < count; i++) {
                const bool in = test->had[i] == n;
                if (in && (worst < 0 || finalists_mean(test, i, n) > finalists_mean(test, worst, n))) worst = i;
            }
            test->had[worst] = -n; // out
            alive--;
        }
        for (int i = 0; i < count; i++) {
            if (test->had[i] == n && alive > 1) test->had[i] = 2 * n;
            if (test->had[i] == n && alive == 1) named = i;
        }
    }
    for (int i = 0; i < count; i++) test->had[i] = abs(test->had[i]);
    return named;
}

static double finalists_ask(const FinalistsCase *test, int count, int named)
{
    Arena arena;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 20, "a test"));
    const FinalistRuns runs = {.count = count, .named = named, .had = test->had, .value = test->rows, .seed = 5};
    const double probability = finalists_probability(&runs, &arena);
    arena_destroy(&arena);
    return probability;
}

// Two finalists: the difference of their means is normal. With d, the variance s^2 of a replicate, and the spread tau^2
// that it shows, the posterior of the difference is normal with precision n/(2 s^2) + 1/(2 tau^2).
TEST(finalists_of_two_have_a_closed_form)
{
    FinalistsCase *test = calloc(1, sizeof *test);
    double d = 0.0, squares = 0.0;
    const int n = 20;
    test->mu[1] = 0.3;
    finalists_draw(test, 2, 0.5, 3);
    test->had[0] = test->had[1] = n;
    for (int r = 0; r < n; r++) d += (test->value[1][r] - test->value[0][r]) / n;
    for (int r = 0; r < n; r++) squares += pow(test->value[1][r] - test->value[0][r] - d, 2.0) / 2.0;
    const double variance = squares / (n - 1);
    const double spread = fmax(d * d / 2.0 - variance / n, 1e-3 * variance / n);
    const double precision = n / (2.0 * variance) + 1.0 / (2.0 * spread), mean = d * n / (2.0 * variance) / precision;
    const double expected = 0.5 * erfc(-mean * sqrt(precision) / sqrt(2.0));
    CHECK_NEAR(expected, finalists_ask(test, 2, 0), 0.035); // 3 standard errors of 2,000 draws
    CHECK_NEAR(1.0 - expected, finalists_ask(test, 2, 1), 0.035);
    free(test);
}

// A failed replicate is left out, and a seed under which all fail tells nothing.
TEST(finalists_leave_failed_replicates_out)
{
    FinalistsCase *test = calloc(1, sizeof *test), *failed = calloc(1, sizeof *failed);
    test->mu[1] = test->mu[2] = 0.4;
    finalists_draw(test, 3, 0.5, 4);
    for (int i = 0; i < 3; i++) test->had[i] = 16;
    memcpy(failed, test, sizeof *test);
    for (int i = 0; i < 3; i++) {
        failed->rows[i] = failed->value[i];
        failed->had[i] = 17;
        memmove(&failed->value[i][8], &test->value[i][7], 9 * sizeof(double));
        failed->value[i][7] = (double)INFINITY;
    }
    CHECK_BITS(finalists_ask(test, 3, 0), finalists_ask(failed, 3, 0));
    failed->value[1][3] = (double)NAN;
    CHECK(finalists_ask(failed, 3, 0) < 1.0);
    free(test);
    free(failed);
}

TEST(finalists_that_do_not_differ_have_no_probability)
{
    FinalistsCase *test = calloc(1, sizeof *test);
    for (int i = 0; i < 4; i++) {
        test->rows[i] = test->value[i];
        test->had[i] = 8;
    }
    CHECK(isnan(finalists_ask(test, 4, 0)));
    CHECK(isnan(finalists_ask(test, 1, 0)));
    free(test);
}

// Where the means are normal, the named one is the best as often as it is said to be; where one is better than all
// others, which are equal, more often.
static void finalists_calibrate(int count, bool slippage, double common, int repeats, double *right, double *said)
{
    FinalistsCase *test = calloc(1, sizeof *test);
    *right = *said = 0.0;
    for (int repeat = 0; repeat < repeats; repeat++) {
        int best = 0;
        const RandomKey key = {.seed = 13, .ordinal = (uint64_t)repeat, .purpose = RANDOM_PERTURB};
        for (int i = 0; i < count; i++) {
            test->mu[i] = slippage ? (i == 3 ? -0.7 : 0.0) : 0.5 * random_normal(&key, (uint32_t)i);
            if (test->mu[i] < test->mu[best]) best = i;
        }
        finalists_draw(test, count, common, (uint64_t)repeat);
        const int named = finalists_race(test, count);
        *right += (named == best) / (double)repeats;
        *said += finalists_ask(test, count, named) / repeats;
    }
    free(test);
}

TEST(finalists_are_best_as_often_as_they_say)
{
    double right, said;
    const int repeats = test_quick() ? 400 : 2000;
    const double error = 3.0 * sqrt(0.25 / repeats);
    finalists_calibrate(16, false, 0.5, repeats, &right, &said);
    CHECK_NEAR(right, said, 0.03 + error);
    finalists_calibrate(16, false, 0.0, repeats, &right, &said);
    CHECK_NEAR(right, said, 0.05 + error);
    finalists_calibrate(16, true, 0.5, repeats, &right, &said);
    CHECK(said < right + error);
    CHECK(right > 0.9);
}

// ---- the rungs ------------------------------------------------------------------------------------------------------

TEST(race_rungs_end_at_the_last_number_of_replicates)
{
    static const struct {
        int start, count;
        double keep;
        int rungs, replicates[8];
        int64_t simulations; // of 64 trials
    } cases[] = {
        {4, 128, 0.5, 6, {4, 8, 16, 32, 64, 128}, 64 * 4 + 32 * 4 + 16 * 8 + 8 * 16 + 4 * 32 + 2 * 64},
        {7, 200, 0.5, 6, {7, 14, 28, 56, 112, 200}, 64 * 7 + 32 * 7 + 16 * 14 + 8 * 28 + 4 * 56 + 2 * 88},
        {6, 200, 0.5, 6, {6, 12, 24, 48, 96, 200}, 64 * 6 + 32 * 6 + 16 * 12 + 8 * 24 + 4 * 48 + 2 * 104},
        {4, 64, 0.25, 3, {4, 16, 64}, 64 * 4 + 16 * 12 + 4 * 48},
        {3, 10, 0.3, 2, {3, 10}, 64 * 3 + 20 * 7},
        {2, 3, 0.9, 2, {2, 3}, 64 * 2 + 58},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Spec spec = {.replicates = {.count = cases[c].count}};
        spec.replicates.race.start = cases[c].start;
        spec.replicates.race.keep = cases[c].keep;
        CHECK_INTEGER(cases[c].rungs, race_rungs(&spec));
        for (int r = 0; r < cases[c].rungs; r++) CHECK_INTEGER(cases[c].replicates[r], race_replicates(&spec, r));
        CHECK_NEAR((double)cases[c].simulations, race_simulations(&spec, 64), 0.0);
    }
    Spec without = {.replicates = {.count = 16}};
    CHECK_INTEGER(1, race_rungs(&without));
    CHECK_INTEGER(16, race_replicates(&without, 0));
    CHECK_NEAR(640.0, race_simulations(&without, 40), 0.0);
}
