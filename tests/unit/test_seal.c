// The digests of rows in campaign.db: they follow every change of the program, and detect every other change.
#include "../../runner/campaign/store/commit/seal.h"
#include "../../runner/campaign/store/campaign/store.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct SealCase {
    Arena arena;
    Spec spec;
    RunOptions options;
    const char *path;
} SealCase;

static const char seal_spec[] =
    "version: 1\nexperiment: seal\nseed: 7\nmodel: hopper\nsimulation: {duration: 0.02, dt: 1.0e-3, settle: 0}\n"
    "search: {method: grid, over: {k_fp: {linspace: [50, 300, 40]}, thrust: {linspace: [25, 34, 30]}}}\n"
    "replicates: {count: 2, store: true, perturb: {phi_leg: {uniform: [0, 0.1]}}}\n"
    "objective: {minimize: velocity_error}\n"
    "record: {trajectories: {select: {best: 2, every: 400}, sample: 0.005}}\n";

// A campaign of 1200 trials, which are two blocks. The batches do not end where the blocks end.
static void seal_case_start(SealCase *test)
{
    RunSummary summary;
    *test = (SealCase){.path = NULL};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    CHECK_OK(spec_parse("seal.yaml", seal_spec, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    test->options = (RunOptions){.results = arena_copy(&test->arena, test_folder()),
                                 .name = "seal",
                                 .backend = {.name = "cpu", .threads = 1},
                                 .batch = 700,
                                 .progress = PROGRESS_NONE};
    test->path = arena_format(&test->arena, "%s/seal/" CAMPAIGN_DATABASE, test->options.results);
    CHECK_OK(campaign_run(&test->spec, &test->options, &test->arena, &summary));
}

static SealDamage seal_case_check(SealCase *test)
{
    Database *database = NULL;
    SealDamage damage = {.count = -1};
    CHECK_OK(database_open(test->path, DATABASE_READ, &database));
    CHECK_OK(seal_check(database, &test->arena, &damage));
    CHECK_OK(database_close(database));
    return damage;
}

// Runs `sql` on a connection that updates no digests. The change must be found in this table and range, and nowhere
// else.
static void seal_case_alter(SealCase *test, const char *sql, const char *table, int64_t range)
{
    Database *database = NULL;
    CHECK_OK(database_open(test->path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "PRAGMA foreign_keys = OFF"));
    CHECK_OK(database_run(database, sql));
    CHECK_OK(database_close(database));
    const SealDamage damage = seal_case_check(test);
    CHECK_INTEGER(1, damage.count);
    if (damage.count != 1) printf("   after %s\n", sql);
    if (damage.count < 1) return;
    CHECK_TEXT(table, damage.broken[0].table);
    CHECK_INTEGER(range, damage.broken[0].range);
    CHECK(damage.broken[0].unreadable == NULL);
}

static void seal_case_restore(SealCase *test)
{
    Database *database = NULL;
    SealDamage damage;
    SealTally now;
    CHECK_OK(database_open(test->path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "UPDATE batches SET trials = (SELECT count(*) FROM trials WHERE id BETWEEN "
                                    "first_trial AND last_trial)"));
    CHECK_OK(seal_check(database, &test->arena, &damage));
    for (int64_t i = 0; i < damage.count; i++)
        CHECK_OK(seal_again(database, damage.broken[i].table, damage.broken[i].range, &test->arena, &now));
    CHECK_OK(database_close(database));
    CHECK_INTEGER(0, seal_case_check(test).count);
}

TEST(seal_of_a_finished_campaign_matches)
{
    SealCase test;
    seal_case_start(&test);
    CHECK_INTEGER(0, seal_case_check(&test).count);
    arena_destroy(&test.arena);
}

// The digests of the range were deleted with its rows: only the batches show that rows are missing.
TEST(seal_sees_that_committed_trials_are_gone)
{
    SealCase test;
    Database *database = NULL;
    seal_case_start(&test);
    CHECK_OK(database_open(test.path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database,
                          "PRAGMA foreign_keys = OFF; DELETE FROM trials WHERE id < 1024; DELETE FROM digests "
                          "WHERE name = 'trials' AND block = 0"));
    CHECK_OK(database_close(database));
    const SealDamage damage = seal_case_check(&test);
    CHECK(damage.count > 0 && damage.broken[0].lost && damage.broken[0].range == 0);
    CHECK_TEXT("trials", damage.count > 0 ? damage.broken[0].table : "none");
    seal_case_restore(&test);
    arena_destroy(&test.arena);
}

// The digests of a range of replicates were deleted too: its trials show it, unless they are damaged and reported
// themselves.
TEST(seal_sees_that_replicates_are_gone)
{
    SealCase test;
    seal_case_start(&test);
    seal_case_alter(&test,
                    "DELETE FROM replicates WHERE trial >= 1024; DELETE FROM digests WHERE name = 'replicates' AND "
                    "block = 1",
                    "replicates", 1);
    CHECK(seal_case_check(&test).broken[0].lost);
    seal_case_alter(&test, "DELETE FROM trials WHERE id = 1030", "trials", 1);
    arena_destroy(&test.arena);
}

TEST(seal_sees_changes_by_other_programs)
{
    static const struct {
        const char *sql, *table;
        int64_t range;
    } changes[] = {
        {"UPDATE trials SET energy = energy + 1e-12 WHERE id = 1030", "trials", 1},
        {"UPDATE trials SET failure = 'fall' WHERE id = 5", "trials", 0},
        {"UPDATE trials SET fitness = NULL WHERE id = 1023", "trials", 0},
        {"DELETE FROM trials WHERE id = 1024", "trials", 1},
        {"UPDATE replicates SET energy = -energy WHERE trial = 1199 AND replicate = 1", "replicates", 1},
        {"UPDATE replicates SET replicate = 2 WHERE trial = 0 AND replicate = 1", "replicates", 0},
        {"UPDATE searches SET state = x'00'", "searches", 0},
        {"UPDATE campaign SET seed = 8", "campaign", 0},
        {"UPDATE shards SET bytes = bytes + 1 WHERE id = 0", "shards", 0},
        {"UPDATE trajectories SET row = row + 1 WHERE trial = 400", "trajectories", 0},
        {"UPDATE events SET time = replace(time, '2', '3') WHERE id = 1", "events", 0},
        {"UPDATE batches SET lanes = lanes + 1 WHERE id = 0", "batches", 0},
        {"UPDATE digests SET digest = digest + 1 WHERE name = 'events'", "events", 0},
        {"UPDATE digests SET rows = rows + 1 WHERE name = 'trials' AND block = 1", "trials", 1},
        {"DROP INDEX trials_by_fitness", "sqlite_schema", 0},
        {"ALTER TABLE notes RENAME COLUMN text TO tekt", "sqlite_schema", 0},
    };
    SealCase test;
    seal_case_start(&test);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        seal_case_alter(&test, changes[i].sql, changes[i].table, changes[i].range);
        seal_case_restore(&test);
    }
    arena_destroy(&test.arena);
}

// Number of findings by the digests. A row that the writer itself removed is not counted; other checks may miss it.
static int seal_case_unfollowed(SealCase *test)
{
    const SealDamage damage = seal_case_check(test);
    int unfollowed = 0;
    for (int64_t i = 0; i < damage.count; i++) unfollowed += !damage.broken[i].lost;
    return unfollowed;
}

// The writer itself makes every kind of change, also those that no commit makes.
TEST(seal_follows_every_change)
{
    static const char *const changes[] = {
        "UPDATE trials SET fitness = -0.0, failure = 'fell' WHERE id IN (1, 1100)",
        "UPDATE trials SET id = id + 100000 WHERE id < 3 AND id NOT IN (SELECT trial FROM trajectories)",
        "INSERT OR REPLACE INTO trajectories SELECT trial, replicate, shard, 7, samples, recipe FROM trajectories",
        "DELETE FROM replicates WHERE trial >= 1024",
        "INSERT INTO tags VALUES('a'), ('b'); DELETE FROM tags WHERE tag = 'a'; DELETE FROM tags",
        "INSERT INTO notes VALUES('now', 'same'), ('now', 'same'), ('now', 'caf\xc3\xa9')",
        "UPDATE batches SET wall_seconds = -0.0, kernel_seconds = 1, wait_seconds = NULL",
        "INSERT INTO rounds(search, round, debug) VALUES(0, 0, x'0102030405060708090a'), (0, 1, NULL), (0, 2, x'')",
        "UPDATE searches SET state = NULL",
    };
    SealCase test;
    Store *store = NULL;
    seal_case_start(&test);
    const char *folder = arena_format(&test.arena, "%s/seal", test.options.results);
    CHECK_OK(store_open(folder, "seal", &test.spec, &test.options, &test.arena, &store));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        CHECK_OK(database_run(store->database, changes[i]));
        CHECK_INTEGER(0, seal_case_unfollowed(&test));
    }
    CHECK_OK(store_close(store));
    CHECK_INTEGER(0, seal_case_unfollowed(&test));
    arena_destroy(&test.arena);
}

// The digest is one-to-one in the last value: a flip of any one bit of a row is certainly found.
TEST(row_digest_differs_in_every_bit)
{
    const uint64_t before = row_digest_integer(0, 41);
    for (int bit = 0; bit < 64; bit++) {
        const int64_t flipped = (int64_t)(0x123456789abcdefu ^ ((uint64_t)1 << bit));
        CHECK(row_digest_integer(before, flipped) != row_digest_integer(before, 0x123456789abcdef));
    }
    CHECK(row_digest_real(0, 1.0) != row_digest_integer(0, 1));
    CHECK(row_digest_real(0, -0.0) == row_digest_real(0, 0.0));
    CHECK(row_digest_real(0, (double)NAN) == row_digest_null(0));
    CHECK(row_digest_text(0, "", 0) != row_digest_null(0));
    CHECK(row_digest_text(0, "ab", 2) != row_digest_blob(0, "ab", 2));
    CHECK(row_digest_text(0, "12345678", 8) != row_digest_text(0, "12345678\0", 9));
}

// The number of a range can come from an untrusted database.
TEST(seal_block_without_trials_is_empty)
{
    static const int64_t none[] = {-1, -1000000000, INT64_MIN, INT64_MAX, INT64_MAX >> 10, (int64_t)1 << 53};
    int64_t first = 1, end = 2;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        seal_trials(none[i], &first, &end);
        CHECK_INTEGER(0, first);
        CHECK_INTEGER(0, end);
    }
    seal_trials(1000000000, &first, &end);
    CHECK_INTEGER(1024000000000, first);
    CHECK_INTEGER(1024000001024, end);
    seal_trials(((int64_t)1 << 53) - 2, &first, &end);
    CHECK_INTEGER(1024, end - first);
}
