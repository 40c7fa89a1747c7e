// Whole campaigns on the CPU: the same digest however they are cut into batches, slices, runs and processes; limits,
// recording, loss and repair of arrays, replay.
#include "../../runner/campaign/run/loop.h"
#include "../../sim/backend.h"
#include "../test.h"
#include "../../runner/campaign/store/campaign/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAMPAIGN_HEAD                                                                                                  \
    "version: 1\nexperiment: hops\nseed: 7\nmodel: hopper\nsimulation: {duration: 0.05, dt: 1.0e-3, settle: 0}\n"      \
    "objective: {minimize: velocity_error + attitude_rms}\n"
#define CAMPAIGN_GRID                                                                                                  \
    "search: {method: grid, over: {k_fp: {linspace: [50, 300, 12]}, thrust: {arange: [25, 34, 1]}}, "                  \
    "exclude: [k_fp > 250 and thrust < 28]}\n"
#define CAMPAIGN_RECORD "record: {trajectories: {select: {best: 3, every: 25, trials: [1, 41]}, sample: 0.005}}\n"
// 120 trials less 3 x 3 = 111
#define CAMPAIGN_SPEC CAMPAIGN_HEAD CAMPAIGN_GRID CAMPAIGN_RECORD

typedef struct CampaignCase {
    Arena arena;
    Spec spec;
    RunOptions options;
    RunSummary summary;
} CampaignCase;

static void campaign_case_spec(CampaignCase *test, const char *text)
{
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    CHECK_OK(spec_parse("hops.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
}

static void campaign_case_start(CampaignCase *test, const char *text)
{
    *test = (CampaignCase){.spec = {.seed = 0}};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    test->options = (RunOptions){.results = arena_copy(&test->arena, test_folder()),
                                 .backend = {.name = "cpu", .threads = 2},
                                 .batch = 32,
                                 .progress = PROGRESS_NONE};
    campaign_case_spec(test, text);
}

static void campaign_case_end(CampaignCase *test) { arena_destroy(&test->arena); }

static Error campaign_case_run(CampaignCase *test, const char *name)
{
    test->options.name = name;
    return campaign_run(&test->spec, &test->options, &test->arena, &test->summary);
}

static Sha256Text campaign_case_digest(CampaignCase *test, const char *name)
{
    StoredCampaign stored;
    Sha256Text digest = {""};
    const Error error = campaign_open(test->options.results, name, &test->arena, &stored);
    CHECK_OK(error);
    if (error.kind != OK) return digest;
    CHECK_OK(campaign_digest(&stored, &digest));
    campaign_close(&stored);
    return digest;
}

// Runs under `name` with these options and compares with the digest of `whole`.
static void campaign_case_equals(CampaignCase *test, const char *name, int64_t batch, int64_t slice, int threads)
{
    test->options.batch = batch, test->options.slice = slice, test->options.backend.threads = threads;
    CHECK_OK(campaign_case_run(test, name));
    CHECK_TEXT(campaign_case_digest(test, "whole").hex, campaign_case_digest(test, name).hex);
}

static int64_t campaign_case_count(CampaignCase *test, const char *name, const char *sql)
{
    StoredCampaign stored;
    Statement *statement = NULL;
    bool row = false;
    const Error error = campaign_open(test->options.results, name, &test->arena, &stored);
    CHECK_OK(error);
    if (error.kind != OK) return -1;
    CHECK_OK(database_prepare(stored.database, sql, &statement));
    CHECK_OK(statement_step(statement, &row));
    const int64_t value = row ? column_integer(statement, 0) : -1;
    statement_close(statement);
    campaign_close(&stored);
    return value;
}

// ---- the same bits --------------------------------------------------------------------------------------------------

TEST(campaign_is_the_same_in_any_batch_and_slice)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    CHECK_OK(campaign_case_run(&test, "whole"));
    CHECK_TEXT("done", test.summary.state);
    CHECK_INTEGER(111, test.summary.trials_done);
    CHECK_INTEGER(111, test.summary.trials_total);
    CHECK_INTEGER(111, test.summary.lanes_run);
    CHECK(isfinite(test.summary.best_fitness));
    campaign_case_equals(&test, "b1", 1, 0, 1);
    campaign_case_equals(&test, "b7", 7, 3, 2);
    campaign_case_equals(&test, "b4096", 4096, 50, 1);
    campaign_case_end(&test);
}

TEST(campaign_is_the_same_when_continued)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    CHECK_OK(campaign_case_run(&test, "whole"));
    campaign_case_spec(&test, CAMPAIGN_HEAD CAMPAIGN_GRID "limits: {trials: 40}\n");
    CHECK_OK(campaign_case_run(&test, "cut"));
    CHECK_TEXT("stopped", test.summary.state);
    CHECK(strstr(test.summary.reason, "limits.trials") != NULL);
    CHECK_INTEGER(40, test.summary.trials_done);
    CHECK_OK(campaign_case_run(&test, "cut")); // the limit counts all runs of the campaign
    CHECK_INTEGER(40, test.summary.trials_done);
    campaign_case_spec(&test, CAMPAIGN_HEAD CAMPAIGN_GRID "limits: {trials: 77}\n");
    CHECK_OK(campaign_case_run(&test, "cut"));
    CHECK_INTEGER(40, test.summary.trials_before);
    CHECK_INTEGER(77, test.summary.trials_done);
    campaign_case_spec(&test, CAMPAIGN_SPEC);
    campaign_case_equals(&test, "cut", 9, 0, 1);
    CHECK_INTEGER(111, test.summary.trials_done);
    CHECK_TEXT("done", test.summary.state);
    campaign_case_end(&test);
}

TEST(campaign_that_is_done_stays_as_it_is)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    test.options.resume_only = true;
    CHECK_ERROR(ERROR_USER, campaign_case_run(&test, "whole"));
    test.options.resume_only = false;
    CHECK_OK(campaign_case_run(&test, "whole"));
    const int64_t best = test.summary.best_trial;
    test.options.backend.name = "none"; // the run needs no device
    test.options.resume_only = true;
    CHECK_OK(campaign_case_run(&test, "whole"));
    CHECK_TEXT("done", test.summary.state);
    CHECK_INTEGER(111, test.summary.trials_done);
    CHECK_INTEGER(best, test.summary.best_trial);
    CHECK_INTEGER(4, campaign_case_count(&test, "whole", "SELECT count(*) FROM batches"));
    campaign_case_end(&test);
}

TEST(campaign_digest_sees_one_bit)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    CHECK_OK(campaign_case_run(&test, "whole"));
    const Sha256Text before = campaign_case_digest(&test, "whole");
    Database *database = NULL;
    const char *path = arena_format(&test.arena, "%s/whole/%s", test.options.results, CAMPAIGN_DATABASE);
    CHECK_OK(database_open(path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "UPDATE trials SET energy = energy * (1 + 3e-16) WHERE id = 60"));
    CHECK_OK(database_close(database));
    CHECK(strcmp(before.hex, campaign_case_digest(&test, "whole").hex) != 0);
    campaign_case_end(&test);
}

TEST(campaign_digest_sees_the_arrays)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    CHECK_OK(campaign_case_run(&test, "single"));
    test.spec.record.float64 = true;
    CHECK_OK(campaign_case_run(&test, "double"));
    const Sha256Text single = campaign_case_digest(&test, "single"), twice = campaign_case_digest(&test, "double");
    CHECK(strcmp(single.hex, twice.hex) != 0);
    campaign_case_end(&test);
}

TEST(campaign_with_replicates_is_the_same_in_any_batch)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_HEAD
                        "search: {method: random, trials: 20, over: {k_fp: {range: [50, 300]}}}\n"
                        "replicates: {count: 5, common: false, store: true, perturb: {phi_leg: {normal: [0, 0.1]}}}\n"
                        "record: {trajectories: {select: {best: 2, every: 6}, replicates: all, sample: 0.01, "
                        "precision: float64, compression: gzip}}\n");
    CHECK_OK(campaign_case_run(&test, "whole"));
    CHECK_INTEGER(100, test.summary.lanes_run);
    CHECK_INTEGER(100, campaign_case_count(&test, "whole", "SELECT count(*) FROM replicates"));
    CHECK_INTEGER(20, campaign_case_count(&test, "whole", "SELECT count(velocity_error_std) FROM trials"));
    CHECK_INTEGER(5, campaign_case_count(&test, "whole", "SELECT count(*) FROM trajectories WHERE trial = 6"));
    campaign_case_equals(&test, "b1", 1, 0, 1); // a batch has at least one trial
    campaign_case_equals(&test, "b33", 33, 7, 2);
    campaign_case_end(&test);
}

TEST(campaign_runs_a_model_without_time)
{
    CampaignCase test;
    campaign_case_start(&test, "version: 1\nexperiment: sphere\nmodel: bbob\n"
                               "search: {method: grid, over: {x1: {linspace: [-5, 5, 21]}, x2: [0, 1]}}\n"
                               "record: {trajectories: {select: {best: 1}}}\n");
    CHECK_OK(campaign_case_run(&test, "whole"));
    CHECK_INTEGER(42, test.summary.trials_done);
    campaign_case_equals(&test, "b5", 5, 0, 1);
    campaign_case_end(&test);
}

// ---- two batches in flight ------------------------------------------------------------------------------------------

// A backend of two slots, as a GPU has, made of two CPU backends. A slice is computed when it is waited for.
typedef struct TwoSlots {
    Backend backend; // must be the first member, as in every backend
    Backend *inner[2];
    int64_t ticks[2];       // of the slice in flight, per slot
    int in_flight, deepest; // slices in flight now, and the maximum
} TwoSlots;

static Error two_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced,
                         int64_t capacity)
{
    TwoSlots *two = (TwoSlots *)(void *)backend;
    for (int i = 0; i < 2; i++) {
        TRY(backend_prepare(two->inner[i], configured, lanes, traced, capacity));
        two->backend.batches[i] = *backend_batch(two->inner[i], 0);
    }
    return error_none();
}

static Error two_begin(Backend *backend, int slot)
{
    TwoSlots *two = (TwoSlots *)(void *)backend;
    *backend_batch(two->inner[slot], 0) = two->backend.batches[slot];
    return backend_begin(two->inner[slot], 0);
}

static Error two_advance(Backend *backend, int slot, int64_t ticks)
{
    TwoSlots *two = (TwoSlots *)(void *)backend;
    CHECK_INTEGER(0, two->ticks[slot]); // a slot runs one slice at a time
    two->ticks[slot] = ticks;
    if (++two->in_flight > two->deepest) two->deepest = two->in_flight;
    return error_none();
}

static Error two_poll(Backend *backend, int slot, double seconds, bool *ended)
{
    (void)backend, (void)slot, (void)seconds;
    *ended = true;
    return error_none();
}

static Error two_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    TwoSlots *two = (TwoSlots *)(void *)backend;
    CHECK(two->ticks[slot] > 0);
    TRY(backend_advance(two->inner[slot], 0, two->ticks[slot]));
    two->ticks[slot] = 0;
    two->in_flight--;
    return backend_wait(two->inner[slot], 0, done, kernel_seconds);
}

static void two_close(Backend *backend)
{
    TwoSlots *two = (TwoSlots *)(void *)backend;
    for (int i = 0; i < 2; i++) backend_close(two->inner[i]);
}

static void two_open(TwoSlots *two)
{
    const BackendOptions options = {.name = "cpu", .threads = 1, .patience = INFINITY};
    *two = (TwoSlots){.backend = {.prepare = two_prepare,
                                  .begin = two_begin,
                                  .advance = two_advance,
                                  .poll = two_poll,
                                  .wait = two_wait,
                                  .close = two_close}};
    for (int i = 0; i < 2; i++) CHECK_OK(backend_open(&options, &two->inner[i]));
    two->backend.info = *backend_info(two->inner[0]);
    two->backend.info.slots = 2;
}

// Runs the loop alone, without the recording at the end.
static void campaign_case_loop(CampaignCase *test, Backend *backend, const char *name)
{
    Loop *loop = ARENA_NEW(&test->arena, Loop, 1);
    Search search;
    StoreRecovery recovery;
    const char *folder = arena_format(&test->arena, "%s/%s", test->options.results, name);
    *loop = (Loop){.spec = &test->spec,
                   .search = &search,
                   .backend = backend,
                   .batch_trials = 7,
                   .traced_max = 2,
                   .slice_requested = 3};
    CHECK_OK(folder_make(folder));
    CHECK_OK(store_open(folder, name, &test->spec, &test->options, &test->arena, &loop->store));
    CHECK_OK(store_recover(loop->store, &recovery, NULL));
    CHECK_OK(search_init(&test->spec, &test->arena, &search));
    CHECK_OK(store_counts(loop->store, &loop->before));
    CHECK_OK(backend_prepare(backend, &test->spec.configured, 7, 2,
                             recording_of(&test->spec, RECORD_TRAJECTORIES).capacity));
    loop_set_time(loop);
    CHECK_OK(loop_run(loop));
    CHECK_TEXT("done", loop->state);
    CHECK_INTEGER(111, loop->counts.trials);
    CHECK_OK(store_close(loop->store));
}

TEST(campaign_is_the_same_with_two_batches_in_flight)
{
    CampaignCase test;
    TwoSlots two;
    campaign_case_start(&test,
                        CAMPAIGN_HEAD CAMPAIGN_GRID "record: {trajectories: {select: {every: 3}, sample: 0.01}}\n");
    CHECK_OK(campaign_case_run(&test, "whole"));
    two_open(&two);
    campaign_case_loop(&test, &two.backend, "two");
    CHECK_INTEGER(2, two.deepest);
    backend_close(&two.backend);
    CHECK_TEXT(campaign_case_digest(&test, "whole").hex, campaign_case_digest(&test, "two").hex);
    campaign_case_end(&test);
}

// ---- recording ------------------------------------------------------------------------------------------------------

TEST(campaign_records_what_the_policy_says)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    CHECK_OK(campaign_case_run(&test, "whole"));
    const char *const wanted =
        "WITH wanted AS (SELECT id FROM trials WHERE id % 25 = 0 UNION SELECT id FROM trials WHERE "
        "id IN (1, 41) UNION SELECT * FROM (SELECT id FROM trials ORDER BY fitness, id LIMIT 3)) ";
    const char *const missing = "SELECT count(*) FROM wanted WHERE id NOT IN (SELECT trial FROM trajectories)";
    const char *const more = "SELECT count(*) FROM trajectories WHERE trial NOT IN (SELECT id FROM wanted)";
    CHECK_INTEGER(0, campaign_case_count(&test, "whole", arena_format(&test.arena, "%s%s", wanted, missing)));
    CHECK_INTEGER(0, campaign_case_count(&test, "whole", arena_format(&test.arena, "%s%s", wanted, more)));
    CHECK(campaign_case_count(&test, "whole", "SELECT count(*) FROM trajectories") >= 7);
    CHECK_INTEGER(11, campaign_case_count(&test, "whole", "SELECT min(samples) FROM trajectories"));
    campaign_case_end(&test);
}

TEST(campaign_records_more_when_asked_again)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_HEAD CAMPAIGN_GRID);
    CHECK_OK(campaign_case_run(&test, "whole"));
    CHECK_INTEGER(0, campaign_case_count(&test, "whole", "SELECT count(*) FROM trajectories"));
    campaign_case_spec(&test, CAMPAIGN_SPEC);
    CHECK_OK(campaign_case_run(&test, "whole"));
    CHECK(campaign_case_count(&test, "whole", "SELECT count(*) FROM trajectories") >= 7);
    CHECK_INTEGER(4, campaign_case_count(&test, "whole", "SELECT count(*) FROM batches")); // no trial was run again
    campaign_case_equals(&test, "at_once", 32, 0, 2);
    campaign_case_end(&test);
}

TEST(campaign_repairs_a_lost_shard)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    CHECK_OK(campaign_case_run(&test, "whole"));
    const Sha256Text before = campaign_case_digest(&test, "whole");
    CHECK_OK(file_remove(arena_format(&test.arena, "%s/whole/shards/000001.h5", test.options.results)));
    CHECK_OK(campaign_case_run(&test, "whole"));
    CHECK_TEXT(before.hex, campaign_case_digest(&test, "whole").hex);
    campaign_case_end(&test);
}

// As campaign_repairs_a_lost_shard, but the row of the arrays was changed: the trial can't be repeated.
TEST(campaign_does_not_record_what_it_cannot_repeat)
{
    CampaignCase test;
    Database *database = NULL;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    CHECK_OK(campaign_case_run(&test, "whole"));
    const char *path = arena_format(&test.arena, "%s/whole/%s", test.options.results, CAMPAIGN_DATABASE);
    CHECK_OK(database_open(path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "UPDATE trials SET energy = energy + 1 WHERE id = 25"));
    CHECK_OK(database_run(database, "DELETE FROM trajectories WHERE trial = 25"));
    CHECK_OK(database_close(database));
    const Error error = campaign_case_run(&test, "whole");
    CHECK_ERROR(ERROR_MACHINE, error);
    CHECK(strstr(error.text, "trial 25") != NULL && strstr(error.text, "energy") != NULL);
    campaign_case_end(&test);
}

// ---- limits ---------------------------------------------------------------------------------------------------------

TEST(campaign_stops_when_too_many_trials_fail)
{
    CampaignCase test;
    campaign_case_start(&test, "version: 1\nexperiment: falls\nmodel: hopper\n"
                               "simulation: {duration: 2, dt: 1.0e-3, settle: 0}\n"
                               "search: {method: grid, over: {phi_body: [1.4], k_fp: {linspace: [0, 1, 400]}}}\n"
                               "record: {trajectories: {select: {failures: 3}, sample: 0.1}}\n"
                               "limits: {failures: 50%}\n");
    CHECK_OK(campaign_case_run(&test, "falls"));
    CHECK_TEXT("stopped", test.summary.state);
    CHECK(test.summary.reason != NULL && strstr(test.summary.reason, "limits.failures") != NULL);
    CHECK(test.summary.trials_done >= 100 && test.summary.trials_done < 200);
    CHECK_INTEGER(test.summary.trials_done, test.summary.failures);
    CHECK_INTEGER(3, campaign_case_count(&test, "falls", "SELECT count(*) FROM trajectories WHERE trial < 3"));
    CHECK_INTEGER(0, campaign_case_count(&test, "falls", "SELECT count(fitness) FROM trials"));
    const int64_t done = test.summary.trials_done;
    CHECK_OK(campaign_case_run(&test, "falls")); // the second run adds no trial
    CHECK_TEXT("stopped", test.summary.state);
    CHECK_INTEGER(done, test.summary.trials_done);
    campaign_case_end(&test);
}

TEST(campaign_stops_when_its_time_is_used)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_HEAD CAMPAIGN_GRID "limits: {wall_time: 1ms}\n");
    test.options.batch = 1; // one commit per trial, so that the queue waits for the disk
    CHECK_OK(campaign_case_run(&test, "short"));
    CHECK_TEXT("stopped", test.summary.state);
    CHECK(test.summary.reason != NULL && strstr(test.summary.reason, "limits.wall_time") != NULL);
    CHECK(test.summary.trials_done < 111);
    campaign_case_end(&test);
}

TEST(campaign_with_a_limit_of_all_trials_is_done)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_HEAD CAMPAIGN_GRID "limits: {trials: 111}\n");
    CHECK_OK(campaign_case_run(&test, "exact"));
    CHECK_TEXT("done", test.summary.state);
    CHECK_INTEGER(111, test.summary.trials_done);
    campaign_case_end(&test);
}

// ---- opening and replay ---------------------------------------------------------------------------------------------

TEST(campaign_in_use_is_refused)
{
    CampaignCase test;
    Lock lock;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    CHECK_OK(folder_make(arena_format(&test.arena, "%s/whole", test.options.results)));
    CHECK_OK(lock_take(arena_format(&test.arena, "%s/whole/%s", test.options.results, CAMPAIGN_LOCK), &lock));
    CHECK_ERROR(ERROR_MACHINE, campaign_case_run(&test, "whole"));
    lock_release(&lock);
    CHECK_OK(campaign_case_run(&test, "whole"));
    campaign_case_end(&test);
}

TEST(campaign_that_is_missing_is_named)
{
    CampaignCase test;
    StoredCampaign stored;
    campaign_case_start(&test, CAMPAIGN_SPEC);
    const Error error = campaign_open(test.options.results, "hops", &test.arena, &stored);
    CHECK_ERROR(ERROR_USER, error);
    CHECK(strstr(error.text, "no campaign hops") != NULL);
    test.options.resume_only = true;
    CHECK_SAYS(ERROR_USER, " to resume: start it with `", campaign_case_run(&test, "hops"));
    campaign_case_end(&test);
}

TEST(campaign_replays_a_trial_to_the_bit)
{
    CampaignCase test;
    StoredCampaign stored;
    Database *database = NULL;
    ReplayResult replay;
    Sha256Text digest;
    const BackendOptions backend = {.name = "cpu", .threads = 1, .isa = "scalar", .patience = INFINITY};
    campaign_case_start(&test, CAMPAIGN_SPEC);
    CHECK_OK(campaign_case_run(&test, "whole"));
    const char *path = arena_format(&test.arena, "%s/whole/%s", test.options.results, CAMPAIGN_DATABASE);
    CHECK_OK(database_open(path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "UPDATE trials SET hop_count = hop_count + 1 WHERE id = 61"));
    CHECK_OK(database_close(database));
    CHECK_OK(campaign_open(test.options.results, "whole", &test.arena, &stored));
    CHECK_TEXT(test.spec.hash.hex, stored.spec.hash.hex);
    CHECK_OK(campaign_replay(&stored, 60, &backend, &test.arena, &replay));
    CHECK(replay.equal);
    CHECK_TEXT("", replay.difference);
    CHECK_BITS(replay.stored_fitness, replay.fitness);
    CHECK_OK(campaign_replay(&stored, 61, &backend, &test.arena, &replay));
    CHECK(!replay.equal);
    CHECK(strncmp(replay.difference, "hop_count is ", 13) == 0);
    CHECK_ERROR(ERROR_USER, campaign_replay(&stored, 112, &backend, &test.arena, &replay)); // trial 112 is excluded
    stored.hash = "of a program that gave the same spec other results";
    const Error other = campaign_replay(&stored, 60, &backend, &test.arena, &replay);
    CHECK_ERROR(ERROR_USER, other);
    CHECK(strstr(other.text, "for which its spec meant something else") != NULL);
    CHECK_ERROR(ERROR_USER, campaign_digest(&stored, &digest));
    campaign_close(&stored);
    campaign_case_end(&test);
}

// ---- the queue ------------------------------------------------------------------------------------------------------

// A commit with an existing row makes the writer fail: the producer gets the error and does not wait forever.
TEST(campaign_writer_tells_its_error)
{
    CampaignCase test;
    Store *store = NULL;
    Commit *commit = NULL;
    Error error = error_none();
    campaign_case_start(&test, CAMPAIGN_SPEC);
    Writer *writer = ARENA_NEW(&test.arena, Writer, 1);
    CHECK_OK(store_open(test.options.results, "writer", &test.spec, &test.options, &test.arena, &store));
    for (int i = 0; i < WRITER_COMMITS; i++) commit_take(&test.spec, 1, 0, 0, 4, &test.arena, &writer->commits[i]);
    CHECK_OK(writer_start(writer, store));
    int put = 0;
    for (; put < 100 && error.kind == OK; put++) {
        error = writer_take(writer, &commit);
        commit->rows.count = 1;
        commit->rows.id[0] = put == 5 ? 0 : put; // the sixth commit fails, and so do all later ones
        if (error.kind == OK) writer_put(writer);
    }
    CHECK_ERROR(ERROR_MACHINE, error);
    CHECK(put > 5 && put < 12);
    CHECK_ERROR(ERROR_MACHINE, writer_finish(writer));
    CHECK_INTEGER(5, writer->counts.trials);
    CHECK_OK(store_close(store));
    campaign_case_end(&test);
}

// ---- batches of a CPU -----------------------------------------------------------------------------------------------

TEST(campaign_batches_of_a_cpu_take_half_a_second)
{
    CHECK_INTEGER(256, batch_start(64, 5312));
    CHECK_INTEGER(100, batch_start(64, 100));
    CHECK_INTEGER(1024, batch_adapt(256, 0.01, 0, 64, 5312)); // at most four times the last size
    CHECK_INTEGER(1280, batch_adapt(1024, 0.4, 0, 64, 5312)); // a multiple of the lanes that fill all threads
    CHECK_INTEGER(256, batch_adapt(1024, 60, 0, 64, 5312));   // at least a quarter of the last size
    CHECK_INTEGER(64, batch_adapt(64, 60, 0, 64, 5312));      // at least the lanes that fill all threads
    CHECK_INTEGER(48, batch_adapt(48, 60, 0, 64, 48));        // at most the lanes of the run
    CHECK_INTEGER(5312, batch_adapt(5312, 0.1, 0, 64, 5312)); // at most the largest batch
    CHECK_INTEGER(2048, batch_adapt(1024, 1, 400, 64, 5312)); // in a long run: half a percent of the run
    CHECK_INTEGER(5312, batch_adapt(5312, 2, 100000, 64, 5312));
}

// Batches start small, unless the user gives a size: then every batch has that size.
TEST(campaign_batches_are_as_large_as_asked_for)
{
    CampaignCase test;
    campaign_case_start(&test, CAMPAIGN_HEAD "search: {method: grid, over: {k_fp: {linspace: [50, 300, 3000]}}}\n");
    test.options.backend.threads = 1, test.options.batch = 1000;
    CHECK_OK(campaign_case_run(&test, "asked"));
    CHECK_INTEGER(3, campaign_case_count(&test, "asked", "SELECT count(*) FROM batches"));
    test.options.batch = 0;
    CHECK_OK(campaign_case_run(&test, "paced"));
    CHECK(campaign_case_count(&test, "paced", "SELECT trials FROM batches ORDER BY id LIMIT 1") <= 256);
    CHECK_TEXT(campaign_case_digest(&test, "asked").hex, campaign_case_digest(&test, "paced").hex);
    campaign_case_end(&test);
}
