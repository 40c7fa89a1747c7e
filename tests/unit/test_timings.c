// The times of a campaign: every batch reports them, and the sum is complete.
#include "../../runner/campaign/store/campaign/store.h"
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static const char timings_spec[] = "version: 1\nexperiment: hops\nseed: 7\nmodel: hopper\n"
                                   "simulation: {duration: 0.3, dt: 1.0e-3, settle: 0}\n"
                                   "search: {method: grid, over: {k_fp: {linspace: [50, 300, 400]}}}\n"
                                   "record: {trajectories: {select: {every: 10}, sample: 0.005}}\n";

typedef struct TimingsCase {
    Arena arena;
    Spec spec;
    RunOptions options;
    RunSummary summary;
    Database *database;
} TimingsCase;

static void timings_case_start(TimingsCase *test)
{
    *test = (TimingsCase){.database = NULL};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    CHECK_OK(spec_parse("hops.yaml", timings_spec, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    test->options = (RunOptions){.results = arena_copy(&test->arena, test_folder()),
                                 .name = "hops",
                                 .backend = {.name = "cpu", .threads = 1},
                                 .batch = 64};
    CHECK_OK(campaign_run(&test->spec, &test->options, &test->arena, &test->summary));
    const char *path = arena_format(&test->arena, "%s/hops/" CAMPAIGN_DATABASE, test->options.results);
    CHECK_OK(database_open(path, DATABASE_WRITE, &test->database));
}

static void timings_case_end(TimingsCase *test)
{
    CHECK_OK(database_close(test->database));
    arena_destroy(&test->arena);
}

TEST(timings_of_every_batch_are_stored)
{
    TimingsCase test;
    int64_t count = 0;
    timings_case_start(&test);
    CHECK_OK(store_integer(test.database,
                           "SELECT count(*) FROM batches WHERE kernel_seconds > 0 AND copy_seconds > 0 AND "
                           "search_seconds > 0 AND hdf5_seconds > 0 AND sqlite_seconds > 0",
                           -1, &count));
    CHECK_INTEGER(7, count);
    CHECK_OK(store_integer(test.database, "SELECT count(*) FROM batches", -1, &count));
    CHECK_INTEGER(7, count);
    timings_case_end(&test);
}

TEST(timings_sum_to_the_wall_time)
{
    TimingsCase test;
    Timings all, last;
    timings_case_start(&test);
    CHECK_OK(timings_read(test.database, 0, &all));
    CHECK(all.wall <= test.summary.wall_seconds);
    CHECK(all.kernel + all.copy + all.search <= all.wall); // with one batch in flight nothing overlaps
    CHECK(all.kernel > 0);
    CHECK(all.hdf5 + all.sqlite <= test.summary.wall_seconds);
    CHECK_OK(timings_read(test.database, 6, &last));
    CHECK(last.kernel > 0 && last.kernel < all.kernel);
    CHECK_OK(timings_read(test.database, 7, &last));
    CHECK(last.wall == 0 && last.sqlite == 0);
    timings_case_end(&test);
}
