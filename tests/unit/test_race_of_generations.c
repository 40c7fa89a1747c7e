// Which members of a generation run more replicates (search/cmaes/race.h): tables of results whose answer is known.
// Whole searches are compared with an oracle by tests/cli/race_of_generations.sh.
#include "../../runner/experiment/search/cmaes/cmaes.h"
#include "../test.h"

#include <math.h>
#include <string.h>

enum { RACE_TEST_COUNT = 16, RACE_TEST_MEMBERS = 8 };

typedef struct RaceTest {
    Spec spec;
    RaceRule rule;
    double value[RACE_TEST_MEMBERS * RACE_TEST_COUNT];
    CmaesRacer racer[RACE_TEST_MEMBERS];
    int64_t order[RACE_TEST_MEMBERS];
} RaceTest;

// Members that had 4 of up to 16 replicates, none yet.
static void race_test_start(RaceTest *test, bool common)
{
    memset(test, 0, sizeof *test);
    test->spec.method = &search_cmaes;
    test->spec.replicates.count = RACE_TEST_COUNT;
    test->spec.replicates.common = common;
    test->spec.replicates.race.start = 4;
    test->spec.replicates.race.keep = 0.5;
    test->spec.replicates.race.clear = 1.3;
    test->rule = (RaceRule){.spec = &test->spec, .value = test->value, .racer = test->racer, .order = test->order};
}

// The next member: `had` replicates of mean + noise, -noise, noise, ..., + each of `of_replicate`, which may be NULL.
// The members come in the order of their ranks.
static void race_test_add(RaceTest *test, int had, double mean, double noise, const double *of_replicate)
{
    const int64_t k = test->rule.members++;
    double sum = 0.0;
    for (int r = 0; r < RACE_TEST_COUNT; r++) {
        double *value = &test->value[k * RACE_TEST_COUNT + r];
        *value = r < had ? mean + (r % 2 == 0 ? noise : -noise) : (double)NAN;
        if (of_replicate != NULL) *value += of_replicate[r];
        if (r < had) sum += *value;
    }
    test->racer[k] = (CmaesRacer){.had = had, .fitness = had > 0 ? sum / had : (double)NAN};
    test->order[k] = k;
}

static int64_t race_test_want(RaceTest *test)
{
    race_shift(&test->rule);
    return race_want(&test->rule);
}

static int race_test_wanted(const RaceTest *test, int64_t k) { return (int)test->racer[k].wanted; }

TEST(race_of_members_without_noise_is_clear)
{
    RaceTest test;
    for (int common = 0; common < 2; common++) {
        race_test_start(&test, common);
        CHECK_INTEGER(0, race_test_want(&test)); // no member
        race_test_add(&test, 4, 1.0, 0.0, NULL);
        CHECK_INTEGER(0, race_test_want(&test)); // one
        for (int k = 0; k < 3; k++) race_test_add(&test, 4, 1.0, 0.0, NULL);
        CHECK_INTEGER(0, race_test_want(&test)); // equal ones
        race_test_add(&test, 0, NAN, 0.0, NULL);
        CHECK_INTEGER(0, race_test_want(&test)); // and one that failed
        for (int k = 0; k < 5; k++) CHECK_INTEGER(k < 4 ? 4 : 0, race_test_wanted(&test, k));
    }
}

TEST(race_of_members_that_all_failed_is_clear)
{
    RaceTest test;
    race_test_start(&test, false);
    for (int k = 0; k < 4; k++) {
        race_test_add(&test, 4, NAN, 0.0, NULL);
        CHECK_INTEGER(0, race_test_want(&test));
    }
}

// Four replicates of +-1 have a variance of 4/3, and their mean one of 1/3. The difference of two members has a
// standard error of sqrt(2/3), 1.3 times of which is 1.0614.
TEST(race_is_of_members_two_ranks_apart)
{
    RaceTest test;
    race_test_start(&test, false);
    const double means[] = {0.0, 0.01, 1.0613, 2.0, 3.07};
    for (int k = 0; k < 5; k++) race_test_add(&test, 4, means[k], 1.0, NULL);
    CHECK_INTEGER(2, race_test_want(&test)); // 0 and 2; 1 and 3, 2 and 4 are far enough apart
    const int wanted[] = {8, 4, 8, 4, 4};
    for (int k = 0; k < 5; k++) CHECK_INTEGER(wanted[k], race_test_wanted(&test, k));
    test.spec.replicates.race.clear = 1.29;
    CHECK_INTEGER(0, race_test_want(&test));
}

TEST(race_of_two_is_of_neighbours)
{
    RaceTest test;
    race_test_start(&test, false);
    race_test_add(&test, 4, 0.0, 1.0, NULL);
    race_test_add(&test, 4, 1.0, 1.0, NULL);
    race_test_add(&test, 4, NAN, 0.0, NULL);
    CHECK_INTEGER(2, race_test_want(&test));
}

TEST(race_ends_at_count)
{
    RaceTest test;
    race_test_start(&test, false);
    const int had[] = {4, 8, 16, 16};
    for (int k = 0; k < 4; k++) race_test_add(&test, had[k], 0.01 * k, 1.0, NULL);
    CHECK_INTEGER(2, race_test_want(&test));
    const int wanted[] = {8, 16, 16, 16};
    for (int k = 0; k < 4; k++) CHECK_INTEGER(wanted[k], race_test_wanted(&test, k));
}

// Noise of one replicate is not known.
TEST(race_with_a_single_result_is_unclear)
{
    RaceTest test;
    race_test_start(&test, false);
    for (int k = 0; k < 3; k++) race_test_add(&test, 4, 1e9 * k, 1.0, NULL);
    CHECK_INTEGER(0, race_test_want(&test));
    for (int r = 1; r < 4; r++) test.value[r] = NAN;
    CHECK_INTEGER(2, race_test_want(&test));
}

// The same disturbances: their differences have no noise, and a member that met only easy ones is not better.
TEST(race_of_common_replicates_is_paired)
{
    static const double hard[RACE_TEST_COUNT] = {1, 2, 0, 1, 9, 8, 9, 10, 4, 4, 5, 3, 4, 4, 4, 4};
    RaceTest test;
    race_test_start(&test, true);
    const int had[] = {16, 4, 8, 4};
    for (int k = 0; k < 4; k++) race_test_add(&test, had[k], 0.125 * k, 0.0, hard);
    CHECK_INTEGER(0, race_test_want(&test));
    const double shift[] = {0.0, 3.5, -0.5, 3.5}; // means of `hard`: 1 over 4, 5 over 8, 4.5 over 16
    for (int k = 0; k < 4; k++) {
        CHECK_NEAR(shift[k], test.racer[k].shift, 1e-14);
        CHECK_NEAR(4.5 + 0.125 * k, race_level(&test.racer[k]), 1e-14);
    }
    test.spec.replicates.common = false;
    CHECK(race_test_want(&test) > 0);
    for (int k = 0; k < 4; k++) CHECK_BITS(0.0, test.racer[k].shift);
}
