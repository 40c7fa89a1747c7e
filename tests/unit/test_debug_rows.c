// Debug rows: what the kernel writes of an implicit solve, and the way from `record.debug.newton` to a shard.
#include "../../runner/campaign/store/ground/recording.h"
#include "../test.h"
#include "hopper_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- rows of the kernel ---------------------------------------------------------------------------------------------

enum { COLUMN_TIME, COLUMN_STEP, COLUMN_ITERATION, COLUMN_Q, COLUMN_QD, COLUMN_NORM, COLUMN_BEFORE, COLUMN_AFTER = 16 };

// Hoppers with different gains; some fall. The first `lanes` of them write rows for the ticks [first, end).
typedef struct DebugCase {
    HopperCase hoppers;
    int64_t lanes, capacity, first, end;
} DebugCase;

static void debug_fill(double *parameter, const Configured *configured, int64_t lane)
{
    parameter[hopper_index(configured, "thrust")] = 5.0 * (double)lane;
    parameter[hopper_index(configured, "phi_leg")] = 0.02 * (double)lane;
    if (lane == 3) parameter[hopper_index(configured, "dphi_body")] = 10.0; // lane 3 falls soon
}

// 11 hoppers for 0.4 s: all land at about 0.28 s.
static DebugCase debug_case(void)
{
    DebugCase test = {.hoppers = hopper_case, .lanes = 5, .capacity = 400 * 16, .end = 400};
    test.hoppers.duration = 0.4;
    test.hoppers.dt = 1e-3;
    test.hoppers.lanes = 11;
    test.hoppers.fill = debug_fill;
    return test;
}

static HopperOutcome debug_simulate(const DebugCase *test)
{
    const HopperCase *hoppers = &test->hoppers;
    HopperOutcome outcome = {.batch = NULL};
    CHECK_OK(arena_create(&outcome.arena, 1 << 24, "a test"));
    CHECK_OK(hopper_case_configure(hoppers, &outcome.arena, &outcome.configured));
    const Configured *configured = &outcome.configured;
    const BackendOptions options = {
        .name = "cpu", .threads = hoppers->threads, .isa = hoppers->isa, .patience = INFINITY};
    CHECK_OK(backend_open(&options, &outcome.backend));
    CHECK_OK(backend_prepare(outcome.backend, configured, hoppers->lanes, hoppers->traced,
                             trace_capacity(configured->ticks, 1)));
    if (test->lanes > 0) CHECK_OK(backend_prepare_debug(outcome.backend, test->lanes, test->capacity));
    Batch *batch = backend_batch(outcome.backend, 0);
    batch->lanes = hoppers->lanes;
    batch->trace.lanes = hoppers->traced;
    batch->debug.lanes = test->lanes;
    batch->debug.first = test->first;
    batch->debug.end = test->end;
    for (int64_t lane = 0; lane < hoppers->lanes; lane++) {
        double parameter[128];
        for (int p = 0; p < configured->n_parameters; p++) parameter[p] = configured->parameters[p].value;
        debug_fill(parameter, configured, lane);
        for (int p = 0; p < configured->n_parameters; p++) batch->parameter[p * batch->stride + lane] = parameter[p];
    }
    bool done = false;
    double seconds;
    CHECK_OK(backend_begin(outcome.backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(outcome.backend, 0, hoppers->slice));
        CHECK_OK(backend_wait(outcome.backend, 0, &done, &seconds));
    }
    outcome.batch = batch;
    return outcome;
}

static const double *debug_row(const HopperOutcome *outcome, int64_t lane, int64_t k)
{
    const DebugRows *debug = &outcome->batch->debug;
    return debug->row + (lane * debug->capacity + k % debug->capacity) * outcome->configured.n_debug;
}

static int64_t debug_count(const HopperOutcome *outcome, int64_t lane) { return outcome->batch->debug.count[lane]; }

TEST(debug_rows_follow_the_iterations)
{
    DebugCase test = debug_case();
    test.hoppers.traced = 5;
    HopperOutcome outcome = debug_simulate(&test);
    for (int64_t lane = 0; lane < 5; lane++) {
        int64_t step = -1, iterations = 0, longest = 0, wrong = 0;
        for (int64_t k = 0; k < debug_count(&outcome, lane); k++) {
            const double *row = debug_row(&outcome, lane, k);
            const bool starts = row[COLUMN_STEP] != (double)step;
            if (starts) wrong += row[COLUMN_STEP] != (double)++step; // every step, in order
            iterations = starts ? 0 : iterations + 1;
            longest = iterations > longest ? iterations : longest;
            wrong += row[COLUMN_ITERATION] != (double)iterations || row[COLUMN_TIME] != row[COLUMN_STEP] * 1e-3;
            wrong += row[COLUMN_Q] != 0.0;
            CHECK_NEAR(2.0 * row[COLUMN_QD], row[COLUMN_NORM], 1e-9 * row[COLUMN_QD] + 1e-14); // v = 2 w - v0
            if (iterations > 0) // each iterate continues from the one before
                wrong += memcmp(&row[COLUMN_BEFORE], row - 29 + COLUMN_AFTER, 10 * sizeof *row) != 0;
            const bool last = k + 1 == debug_count(&outcome, lane) || row[29 + COLUMN_ITERATION] == 0.0;
            wrong += last != (row[COLUMN_QD] <= 1e-11); // iterated until the residual is small enough, and no further
            // the trajectory continues from the last iterate
            if (last) wrong += memcmp(&row[COLUMN_AFTER], hopper_sample_of(&outcome, lane, step + 1) + 1, 80) != 0;
        }
        CHECK_INTEGER(0, wrong);
        CHECK(longest >= 4); // at touchdown
    }
    hopper_release(&outcome);
}

TEST(debug_residuals_fall)
{
    DebugCase test = debug_case();
    HopperOutcome outcome = debug_simulate(&test);
    int64_t risen = 0;
    for (int64_t lane = 0; lane < 5; lane++) {
        for (int64_t k = 1; k < debug_count(&outcome, lane); k++) {
            const double *row = debug_row(&outcome, lane, k);
            risen += row[COLUMN_ITERATION] > 0.0 && row[COLUMN_QD] >= row[COLUMN_QD - 29];
        }
    }
    CHECK_INTEGER(0, risen);
    hopper_release(&outcome);
}

TEST(debug_rows_of_a_window)
{
    DebugCase test = debug_case();
    test.first = 275;
    test.end = 290;
    test.capacity = 15 * 16;
    HopperOutcome outcome = debug_simulate(&test);
    for (int64_t lane = 0; lane < 3; lane++) {
        const int64_t count = debug_count(&outcome, lane);
        CHECK(count >= 15 && count <= test.capacity);
        CHECK_BITS(275.0, debug_row(&outcome, lane, 0)[COLUMN_STEP]);
        CHECK_BITS(289.0, debug_row(&outcome, lane, count - 1)[COLUMN_STEP]);
    }
    CHECK_TEXT("fell", hopper_failure_of(&outcome, 3));
    CHECK_INTEGER(0, debug_count(&outcome, 3)); // lane 3 fell before the window
    hopper_release(&outcome);
}

TEST(debug_ring_keeps_the_last_rows)
{
    DebugCase test = debug_case();
    HopperOutcome whole = debug_simulate(&test);
    test.capacity = 50;
    HopperOutcome ring = debug_simulate(&test);
    for (int64_t lane = 0; lane < 5; lane++) {
        const int64_t count = debug_count(&whole, lane);
        CHECK_INTEGER(count, debug_count(&ring, lane));
        CHECK(count > 50);
        for (int64_t k = count - 50; k < count; k++)
            CHECK(memcmp(debug_row(&whole, lane, k), debug_row(&ring, lane, k), 29 * sizeof(double)) == 0);
    }
    hopper_release(&whole);
    hopper_release(&ring);
}

// With or without debug rows, in slices of any length, on any instruction set: the same results and the same rows.
TEST(debug_rows_change_nothing)
{
    static const char *const isas[] = {"auto", "scalar", ISA_V2, ISA_V3};
    DebugCase test = debug_case();
    HopperOutcome observed = debug_simulate(&test);
    for (int i = 0; i < 4; i++) {
        test.hoppers.isa = isas[i];
        test.hoppers.slice = i == 0 ? 400 : 7 * i;
        test.lanes = 0;
        HopperOutcome plain = debug_simulate(&test);
        CHECK(plain.batch->debug.row == NULL); // no memory was taken for debug rows
        test.lanes = 5;
        HopperOutcome other = debug_simulate(&test);
        for (int64_t lane = 0; lane < 11; lane++) hopper_check_same(&observed, lane, &plain, lane);
        for (int64_t lane = 0; lane < 11; lane++) hopper_check_same(&observed, lane, &other, lane);
        for (int64_t lane = 0; lane < 5; lane++) {
            const int64_t count = debug_count(&observed, lane);
            CHECK_INTEGER(count, debug_count(&other, lane));
            const size_t size = (size_t)count * 29 * sizeof(double);
            CHECK(memcmp(debug_row(&observed, lane, 0), debug_row(&other, lane, 0), size) == 0);
        }
        hopper_release(&plain);
        hopper_release(&other);
    }
    hopper_release(&observed);
}

TEST(debug_rows_of_implicit_euler_only)
{
    DebugCase test = debug_case();
    test.hoppers.integrator = 2;
    test.hoppers.dt = 1e-4;
    test.end = 4000;
    test.capacity = 16;
    HopperOutcome outcome = debug_simulate(&test);
    CHECK_INTEGER(29, outcome.configured.n_debug);
    const double *row = debug_row(&outcome, 1, debug_count(&outcome, 1) - 1);
    CHECK(row[COLUMN_QD] <= 1e-11);
    for (int i = 0; i < 10; i++) CHECK_BITS(hopper_state(&outcome, i, 1), row[COLUMN_AFTER + i]);
    hopper_release(&outcome);
    Arena arena;
    Configured configured;
    CHECK_OK(arena_create(&arena, 1 << 20, "a test"));
    test.hoppers.integrator = 3;
    CHECK_OK(hopper_case_configure(&test.hoppers, &arena, &configured));
    CHECK_INTEGER(0, configured.n_debug);
    arena_destroy(&arena);
}

// ---- through a campaign ---------------------------------------------------------------------------------------------

// 12 trials of 3 replicates; some replicates that start almost lying fall.
#define DEBUG_HEAD                                                                                                     \
    "version: 1\nexperiment: hops\nseed: 7\nmodel: hopper\nsimulation: {duration: 0.4, dt: 1.0e-3, settle: 0}\n"       \
    "search: {over: {thrust: [10, 20, 30, 40], phi_body: [0, 0.1, 1.45]}}\n"                                           \
    "replicates: {count: 3, store: true, perturb: {dphi_body: {uniform: [-1, 1]}}}\n"
#define DEBUG_WINDOW                                                                                                   \
    "record: {debug: {newton: {select: {best: 2, trials: [5]}, window: [0.27, 0.3], replicates: all}}}\n"
#define DEBUG_RING "record: {debug: {newton: {on: failure, keep: 40}}}\n"

typedef struct DebugCampaign {
    Arena arena;
    Spec spec;
    RunOptions options;
    RunSummary summary;
    StoredCampaign stored;
} DebugCampaign;

static void debug_spec(DebugCampaign *test, const char *text)
{
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    CHECK_OK(spec_parse("hops.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
}

static void debug_start(DebugCampaign *test, const char *text)
{
    *test = (DebugCampaign){.summary = {.best_trial = -1}};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    test->options = (RunOptions){.results = arena_copy(&test->arena, test_folder()),
                                 .backend = {.name = "cpu", .threads = 2},
                                 .batch = 12,
                                 .progress = PROGRESS_NONE};
    debug_spec(test, text);
}

static Sha256Text debug_run(DebugCampaign *test, const char *name)
{
    Sha256Text digest = {""};
    test->options.name = name;
    CHECK_OK(campaign_run(&test->spec, &test->options, &test->arena, &test->summary));
    CHECK_OK(campaign_open(test->options.results, name, &test->arena, &test->stored));
    CHECK_OK(campaign_digest(&test->stored, &digest));
    return digest;
}

static int64_t debug_ask(const DebugCampaign *test, const char *sql)
{
    Statement *statement = NULL;
    bool row = false;
    CHECK_OK(database_prepare(test->stored.database, sql, &statement));
    CHECK_OK(statement_step(statement, &row));
    const int64_t value = row ? column_integer(statement, 0) : -1;
    statement_close(statement);
    return value;
}

static const char *debug_shard(DebugCampaign *test, int64_t shard)
{
    return arena_format(&test->arena, "%s/" CAMPAIGN_SHARDS "/%06lld.h5", test->stored.folder, (long long)shard);
}

static Error debug_open_shard(DebugCampaign *test, ShardReader **reader)
{
    const Recording recording = recording_of(&test->spec, RECORD_DEBUG);
    const ShardLayout layout = recording_layout(&recording);
    return shard_open(debug_shard(test, 0), &layout, NULL, reader);
}

// The rows of lane `index` of a shard; *count: their number.
static double *debug_read(DebugCampaign *test, ShardReader *reader, int64_t index, int64_t *count)
{
    *count = shard_lane(reader, index).length;
    double *rows = ARENA_NEW(&test->arena, double, (*count + 1) * 29);
    CHECK_OK(shard_samples(reader, index, rows));
    return rows;
}

TEST(debug_rows_of_chosen_trials)
{
    DebugCampaign test;
    debug_start(&test, DEBUG_HEAD DEBUG_WINDOW);
    const Sha256Text digest = debug_run(&test, "whole");
    CHECK_INTEGER(9, debug_ask(&test, "SELECT count(*) FROM debug_rows"));
    CHECK_INTEGER(3, debug_ask(&test, "SELECT count(*) FROM debug_rows WHERE trial = 5"));
    CHECK_INTEGER(6, debug_ask(&test, "SELECT count(*) FROM debug_rows WHERE trial IN (SELECT id FROM trials WHERE "
                                      "fitness IS NOT NULL ORDER BY fitness LIMIT 2)"));
    CHECK_INTEGER(0, debug_ask(&test, "SELECT count(*) FROM trajectories"));
    ShardReader *reader;
    CHECK_OK(debug_open_shard(&test, &reader));
    CHECK_TEXT("residual_qd", test.spec.configured.debug[COLUMN_QD].name);
    int64_t empty = 0;
    for (int64_t lane = 0; lane < shard_lane_count(reader); lane++) {
        int64_t count;
        const double *rows = debug_read(&test, reader, lane, &count);
        empty += count == 0; // a replicate that fell before the window
        if (count == 0) continue;
        CHECK_BITS(270.0, rows[COLUMN_STEP]);
        CHECK_BITS(299.0, rows[(count - 1) * 29 + COLUMN_STEP]);
    }
    CHECK_INTEGER(empty, debug_ask(&test, "SELECT count(*) FROM debug_rows JOIN replicates USING (trial, replicate) "
                                          "WHERE survived <= 0.27"));
    shard_close(reader);
    campaign_close(&test.stored);
    test.options.batch = 3; // one trial
    test.options.slice = 17;
    CHECK_TEXT(digest.hex, debug_run(&test, "small").hex);
    campaign_close(&test.stored);
    arena_destroy(&test.arena);
}

TEST(debug_ring_of_failed_replicates)
{
    DebugCampaign test;
    debug_start(&test, DEBUG_HEAD DEBUG_RING);
    const Sha256Text digest = debug_run(&test, "whole");
    const int64_t failed = debug_ask(&test, "SELECT count(*) FROM replicates WHERE failure <> 'none'");
    CHECK(debug_ask(&test, "SELECT count(*) FROM trials WHERE n_failed BETWEEN 1 AND 2") > 0);
    CHECK_INTEGER(failed, debug_ask(&test, "SELECT count(*) FROM debug_rows"));
    CHECK_INTEGER(failed, debug_ask(&test, "SELECT count(*) FROM debug_rows JOIN replicates USING (trial, replicate) "
                                           "WHERE failure <> 'none'"));
    CHECK_INTEGER(40, debug_ask(&test, "SELECT max(samples) FROM debug_rows"));
    ShardReader *reader;
    CHECK_OK(debug_open_shard(&test, &reader));
    for (int64_t lane = 0; lane < shard_lane_count(reader); lane++) {
        const ShardLane place = shard_lane(reader, lane);
        int64_t count;
        const double *rows = debug_read(&test, reader, lane, &count);
        const char *sql = arena_format(&test.arena,
                                       "SELECT CAST(round(survived * 1000) AS INTEGER) FROM replicates WHERE trial = "
                                       "%lld AND replicate = %d",
                                       (long long)place.trial, (int)place.replicate);
        // the last row is of the step that failed
        CHECK_INTEGER(debug_ask(&test, sql) - 1, (int64_t)rows[(count - 1) * 29 + COLUMN_STEP]);
        for (int64_t k = 1; k < count; k++) CHECK(rows[k * 29 + COLUMN_STEP] >= rows[(k - 1) * 29 + COLUMN_STEP]);
    }
    shard_close(reader);
    campaign_close(&test.stored);
    CHECK_TEXT(digest.hex, debug_run(&test, "whole").hex);
    CHECK_INTEGER(1, debug_ask(&test, "SELECT count(*) FROM shards")); // nothing was recorded twice
    campaign_close(&test.stored);
    test.options.batch = 3;
    CHECK_TEXT(digest.hex, debug_run(&test, "small").hex);
    campaign_close(&test.stored);
    arena_destroy(&test.arena);
}

// Debug rows are recorded once, again if a shard is lost, and later if asked for later; no other number changes.
TEST(debug_rows_come_when_they_are_asked_for)
{
    DebugCampaign test;
    debug_start(&test, DEBUG_HEAD);
    const Sha256Text without = debug_run(&test, "whole");
    CHECK_INTEGER(0, debug_ask(&test, "SELECT count(*) FROM shards"));
    campaign_close(&test.stored);
    debug_spec(&test, DEBUG_HEAD DEBUG_WINDOW);
    const Sha256Text with = debug_run(&test, "whole");
    CHECK(strcmp(without.hex, with.hex) != 0);
    CHECK_INTEGER(3, debug_ask(&test, "SELECT count(*) FROM batches")); // no trial was run again
    const int64_t shards = debug_ask(&test, "SELECT count(*) FROM shards");
    campaign_close(&test.stored);
    CHECK_TEXT(with.hex, debug_run(&test, "whole").hex);
    CHECK_INTEGER(shards, debug_ask(&test, "SELECT count(*) FROM shards"));
    CHECK_OK(file_remove(debug_shard(&test, 0)));
    campaign_close(&test.stored);
    CHECK_TEXT(with.hex, debug_run(&test, "whole").hex);
    campaign_close(&test.stored);
    CHECK_TEXT(with.hex, debug_run(&test, "at_once").hex);
    campaign_close(&test.stored);
    // with another window the old rows are not enough
    debug_spec(&test, DEBUG_HEAD "record: {debug: {newton: {select: {best: 2, trials: [5]}, window: [0.2, 0.21], "
                                 "replicates: all}}}\n");
    const Sha256Text other = debug_run(&test, "whole");
    CHECK(strcmp(with.hex, other.hex) != 0);
    campaign_close(&test.stored);
    CHECK_TEXT(other.hex, debug_run(&test, "other_at_once").hex);
    campaign_close(&test.stored);
    arena_destroy(&test.arena);
}

TEST(debug_keys_resolve_to_themselves)
{
    static const char *const records[] = {"", DEBUG_WINDOW, DEBUG_RING,
                                          "record: {debug: {newton: {select: {every: 3}, keep: 7, on: failure}}}\n"};
    DebugCampaign test;
    debug_start(&test, DEBUG_HEAD);
    for (int i = 0; i < 4; i++) {
        debug_spec(&test, arena_format(&test.arena, "%s%s", DEBUG_HEAD, records[i]));
        const Spec first = test.spec;
        CHECK(first.record.debug.wanted == (i > 0));
        debug_spec(&test, first.resolved);
        CHECK_TEXT(first.resolved, test.spec.resolved);
        CHECK_TEXT(first.hash.hex, test.spec.hash.hex);
        CHECK_INTEGER(first.record.debug.keep, test.spec.record.debug.keep);
        CHECK_INTEGER(spec_debug_rows(&first), spec_debug_rows(&test.spec));
    }
    CHECK_INTEGER(7, spec_debug_rows(&test.spec));
    CHECK_INTEGER(0, test.spec.record.debug.select.failures);
    arena_destroy(&test.arena);
}
