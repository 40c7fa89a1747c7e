// Disk space: estimates against what a campaign took, the verdict, the refusal.
#include "../../runner/campaign/plan/space.h"
#include "../../runner/campaign/store/ground/rows.h"
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#define SPACE_SPEC                                                                                                     \
    "version: 1\nexperiment: room\nmodel: hopper\nsimulation: {duration: 0.05, dt: 1.0e-3, settle: 0}\n"               \
    "objective: {minimize: velocity_error + attitude_rms}\n"                                                           \
    "search: {method: grid, over: {k_fp: {linspace: [50, 300, 40]}, thrust: {arange: [25, 34, 1]}}}\n"                 \
    "record: {trajectories: {select: {best: 3, every: 10}, sample: 0.001}}\n"

typedef struct SpaceCase {
    Arena arena;
    Spec spec;
    RunOptions options;
    RunSummary summary;
    Plan plan;
} SpaceCase;

static void space_case_start(SpaceCase *test)
{
    *test = (SpaceCase){.spec = {.seed = 0}};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    test->options = (RunOptions){.results = arena_copy(&test->arena, test_folder()),
                                 .backend = {.name = "cpu", .threads = 2},
                                 .batch = 64,
                                 .progress = PROGRESS_NONE};
    CHECK_OK(spec_parse("room.yaml", SPACE_SPEC, NULL, 0, &test->arena, diagnostics_new(&test->arena), &test->spec));
}

static double space_case_bytes(SpaceCase *test, const char *folder)
{
    char **names = NULL;
    int count = 0;
    int64_t bytes = 0, sum = 0;
    CHECK_OK(folder_list(folder, &test->arena, &names, &count));
    for (int i = 0; i < count; i++) {
        CHECK_OK(file_size(arena_format(&test->arena, "%s/%s", folder, names[i]), &bytes));
        sum += bytes;
    }
    return (double)sum;
}

TEST(space_is_estimated_within_a_factor_of_two)
{
    SpaceCase test;
    int64_t database = 0;
    space_case_start(&test);
    CHECK_OK(plan_count(&test.spec, &test.options, true, &test.arena, &test.plan));
    CHECK_INTEGER(400, test.plan.trials);
    CHECK_OK(campaign_run(&test.spec, &test.options, &test.arena, &test.summary));
    const char *folder = arena_format(&test.arena, "%s/room", test.options.results);
    const double shards = space_case_bytes(&test, arena_format(&test.arena, "%s/" CAMPAIGN_SHARDS, folder));
    CHECK_OK(file_size(arena_format(&test.arena, "%s/" CAMPAIGN_DATABASE, folder), &database));
    CHECK(shards < test.plan.hdf5_bytes && test.plan.hdf5_bytes < 2 * shards);
    CHECK((double)database < test.plan.sqlite_bytes && test.plan.sqlite_bytes < 2 * (double)database);
    arena_destroy(&test.arena);
}

TEST(space_counts_blocks_where_trials_are_in_blocks)
{
    SpaceCase test;
    Spec spec;
    space_case_start(&test);
    spec = test.spec;
    CHECK(space_blocks(&spec, 99999) == 0);
    CHECK(space_blocks(&spec, 100000) == 8e5 * (double)rows_columns(&spec));
    spec.replicates.store = true;
    CHECK(space_blocks(&spec, 1 << 24) == 0);
    spec.replicates.store = false;
    spec.store.rows = "blocks";
    CHECK(space_blocks(&spec, 10) == 80.0 * (double)rows_columns(&spec));
    spec.store.rows = "table";
    CHECK(space_blocks(&spec, 1 << 24) == 0);
    arena_destroy(&test.arena);
}

TEST(space_verdict_warns_from_nine_tenths_and_refuses_more_than_all)
{
    CHECK_INTEGER(SPACE_ENOUGH, space_verdict(0, 0));
    CHECK_INTEGER(SPACE_ENOUGH, space_verdict(90, 100));
    CHECK_INTEGER(SPACE_TIGHT, space_verdict(91, 100));
    CHECK_INTEGER(SPACE_TIGHT, space_verdict(100, 100));
    CHECK_INTEGER(SPACE_SHORT, space_verdict(101, 100));
}

TEST(space_refuses_a_run_that_does_not_fit_unless_told_to_ignore_it)
{
    SpaceCase test;
    space_case_start(&test);
    test.spec.replicates.count = 1;
    Axis *axis = (Axis *)(uintptr_t)&test.spec.axes[0];
    axis->values.count = (int64_t)1 << 36; // 10 rows per trial: petabytes
    const Error refused = campaign_run(&test.spec, &test.options, &test.arena, &test.summary);
    CHECK_ERROR(ERROR_MACHINE, refused);
    CHECK(strstr(refused.text, "--ignore-space") != NULL);
    CHECK(strstr(refused.text, test.options.results) != NULL);
    CHECK(test.summary.lanes_run == 0);
    arena_destroy(&test.arena);
}
