// How many trials a grid has: counted from the axes that its conditions use, against one id after the other.
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_HEAD "version: 1\nexperiment: count\nseed: 7\nmodel: bbob\nsimulation: {function: sphere, dimension: 6}\n"
#define LARGE(conditions)                                                                                              \
    COUNT_HEAD "search:\n  method: grid\n  over: {x1: {linspace: [-5, 5, 100000]}, "                                   \
               "x2: {linspace: [-5, 5, 100000]}}\n  " conditions "\n"

typedef struct CountCase {
    Arena arena;
    Spec spec;
    Search search;
    Plan plan;
} CountCase;

static void count_case_read(CountCase *test, const char *text)
{
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    const Error error = spec_parse("count.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec);
    diagnostics_print(diagnostics, stdout, false);
    CHECK_OK(error);
    CHECK_OK(search_init(&test->spec, &test->arena, &test->search));
}

static const Plan *count_case_plan(CountCase *test, const char *text)
{
    const RunOptions options = {.results = test_folder(), .backend = {.name = "cpu", .threads = 1}};
    count_case_read(test, text);
    CHECK_OK(plan_make(&test->spec, &options, &test->arena, &test->plan));
    return &test->plan;
}

// ---- comparison with a count of all ids -----------------------------------------------------------------------------

static uint64_t count_state = 1;

static int count_pick(int n)
{
    count_state = count_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((count_state >> 33) % (uint64_t)n);
}

// A condition that uses none, one or two of the parameters x1 to x6.
static const char *count_condition(char *text, size_t size, int least)
{
    const int a = least + count_pick(7 - least), b = least + count_pick(7 - least), low = count_pick(7) - 3;
    switch (count_pick(4)) {
    case 0: snprintf(text, size, "x%d > %d", a, low); break;
    case 1: snprintf(text, size, "x%d + x%d < %d", a, b, low); break;
    case 2: snprintf(text, size, "x%d * x%d = %d or x%d > 3", a, b, low, b); break;
    default: snprintf(text, size, "%d > 2", low);
    }
    return text;
}

// Axes x1 to x4, of which two may be zipped and two may have conditions; x5 may be derived; x6 is fixed.
static void count_write(char *text, size_t size)
{
    char condition[80];
    size_t used = (size_t)snprintf(text, size, COUNT_HEAD "search:\n  method: grid\n  over:\n");
    const bool zipped = count_pick(3) == 0;
    for (int a = 1; a <= 4; a++)
        used += (size_t)snprintf(text + used, size - used, "    x%d: {linspace: [%d, %d, %d]}\n", a, -count_pick(4),
                                 1 + count_pick(4), zipped && a <= 2 ? 3 : 2 + count_pick(4));
    if (count_pick(2) == 0)
        used += (size_t)snprintf(text + used, size - used, "    x5: {derive: \"%d * x%d + x%d\"}\n", 1 + count_pick(3),
                                 1 + count_pick(4), 1 + count_pick(4));
    if (zipped) used += (size_t)snprintf(text + used, size - used, "  zip: [[x1, x2]]\n");
    const int excluded = count_pick(4);
    if (excluded > 0) used += (size_t)snprintf(text + used, size - used, "  exclude:\n");
    for (int i = 0; i < excluded; i++)
        used += (size_t)snprintf(text + used, size - used, "    - \"%s\"\n",
                                 count_condition(condition, sizeof condition, 1));
    if (count_pick(2) == 0) return;
    // conditions use only axes that are decided before theirs, and no derived parameter
    used += (size_t)snprintf(text + used, size - used, "  when:\n    x3: \"x1 > %d or x6 > 1\"\n", count_pick(5) - 2);
    if (count_pick(2) == 0)
        (void)snprintf(text + used, size - used, "    x4: \"x%d + x%d > %d\"\n", 1 + count_pick(3), 1 + count_pick(3),
                       count_pick(5) - 2);
}

TEST(count_of_a_grid_is_that_of_its_ids)
{
    char text[2048];
    int dropping = 0;
    for (int i = 0; i < 400; i++) {
        CountCase test;
        int64_t trials = -1, expected = 0;
        count_write(text, sizeof text);
        count_case_read(&test, text);
        double *parameter = ARENA_NEW(&test.arena, double, test.spec.configured.n_parameters);
        for (int64_t id = 0; id < test.search.total; id++) expected += count_has(&test.search, id, parameter);
        CHECK(count_grid(&test.search, &trials));
        if (trials != expected) puts(text);
        CHECK_INTEGER(expected, trials);
        dropping += expected > 0 && expected < test.search.total;
        arena_destroy(&test.arena);
    }
    CHECK(dropping > 150);
}

// ---- grids with too many ids to visit -------------------------------------------------------------------------------

TEST(plan_counts_what_a_condition_leaves_of_ten_billion)
{
    CountCase test;
    const Plan *plan = count_case_plan(&test, LARGE("when: {x2: \"x1 > 100\"}"));
    CHECK_TEXT("", plan->refusal);
    CHECK_INTEGER(100000, plan->trials);
    CHECK_INTEGER(10000000000 - 100000, plan->excluded);
    CHECK(!plan->excluded_estimated);
    arena_destroy(&test.arena);
    plan = count_case_plan(&test, LARGE("exclude: [\"x1 < 5\"]"));
    CHECK_TEXT("", plan->refusal);
    CHECK_INTEGER(100000, plan->trials);
    CHECK(!plan->excluded_estimated);
    arena_destroy(&test.arena);
}

TEST(plan_says_all_are_excluded_where_that_is_counted)
{
    CountCase test;
    const Plan *plan = count_case_plan(&test, LARGE("exclude: [\"x1 < 6\"]"));
    CHECK_INTEGER(0, plan->trials);
    CHECK(strstr(plan->refusal, "there is no trial to run: all 10,000,000,000 are excluded") != NULL);
    arena_destroy(&test.arena);
}

// One condition uses both axes: 100,000 trials remain, no sample finds them, and the plan must not say "none".
TEST(plan_does_not_conclude_from_a_sample_that_all_are_excluded)
{
    CountCase test;
    const Plan *plan = count_case_plan(&test, LARGE("exclude: [\"x1 < 5 and x2 < 6\"]"));
    CHECK_TEXT("", plan->refusal);
    CHECK(plan->excluded_estimated && plan->looked_at > 1000);
    CHECK(plan->trials >= 100000 && plan->trials < 100000000);
    CHECK_INTEGER(0, plan->trials_least);
    CHECK_INTEGER(10000000000, plan->trials + plan->excluded);
    arena_destroy(&test.arena);
}
