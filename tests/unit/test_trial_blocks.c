// Campaigns whose trials lie in blocks, against a list of what was written: batches of any size, rows that come, change
// and go, processes that end. The trials are invented; many have equal fitness, some failed.
#include "../../runner/campaign/store/trials/best_rows.h"
#include "../../runner/campaign/store/commit/commit.h"
#include "../../runner/campaign/store/commit/seal.h"
#include "../../runner/campaign/store/commit/trial_blocks_write.h"
#include "../../io/system.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKED_TRIALS = 6000 };

typedef struct BlockedCase {
    Arena arena;
    Spec spec;
    RunOptions options;
    const char *folder;
    Store *store;
    TrialRows all;              // row of every id
    bool there[BLOCKED_TRIALS]; // it is stored
    Commit commit;
    TrialRows some;
    uint64_t random;
} BlockedCase;

static uint64_t blocked_draw(BlockedCase *test, uint64_t below)
{
    test->random = test->random * 6364136223846793005u + 1442695040888963407u;
    return (test->random >> 33) % below;
}

static const char blocked_spec[] = "version: 1\nexperiment: blocked\nseed: 7\nmodel: bbob\n"
                                   "simulation: {function: sphere, dimension: 2}\n"
                                   "search: {method: random, trials: 6000, over: {x1: {range: [-5, 5]}, "
                                   "x2: {range: [-5, 5]}}}\nstore: {rows: blocks}\n";

static void blocked_invent(BlockedCase *test, int64_t id)
{
    TrialRows *rows = &test->all;
    rows->id[id] = id;
    rows->search[id] = 0;
    rows->round[id] = 0;
    rows->failure[id] = blocked_draw(test, 9) == 0;
    rows->n_failed[id] = rows->failure[id];
    rows->fitness[id] = rows->failure[id] != 0 ? (double)NAN : (double)blocked_draw(test, 900) / 8;
    for (int c = 0; c < 2; c++) rows->searched[c * rows->stride + id].real = (double)blocked_draw(test, 1000) - 500.5;
    for (int m = 0; m < test->spec.configured.n_metrics; m++)
        rows->metric[m * rows->stride + id] = (double)blocked_draw(test, 1000) * 0.1;
}

static void blocked_open(BlockedCase *test)
{
    CHECK_OK(store_open(test->folder, "blocked", &test->spec, &test->options, &test->arena, &test->store));
}

static void blocked_start(BlockedCase *test, uint64_t seed)
{
    *test = (BlockedCase){.random = seed};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    CHECK_OK(
        spec_parse("blocked.yaml", blocked_spec, NULL, 0, &test->arena, diagnostics_new(&test->arena), &test->spec));
    test->folder = arena_copy(&test->arena, test_folder());
    CHECK_OK(folder_make(arena_format(&test->arena, "%s/" CAMPAIGN_SHARDS, test->folder)));
    rows_take(&test->spec, BLOCKED_TRIALS, &test->arena, &test->all);
    rows_take(&test->spec, BLOCKED_TRIALS, &test->arena, &test->some);
    commit_take(&test->spec, BLOCKED_TRIALS, 0, 0, 4, &test->arena, &test->commit);
    test->all.count = BLOCKED_TRIALS;
    for (int64_t id = 0; id < BLOCKED_TRIALS; id++) blocked_invent(test, id);
    blocked_open(test);
}

static void blocked_end(BlockedCase *test)
{
    CHECK_OK(store_close(test->store));
    arena_destroy(&test->arena);
}

// ---- operations -----------------------------------------------------------------------------------------------------

static void blocked_commit(BlockedCase *test, int64_t first, int64_t end)
{
    double seconds = 0;
    for (int64_t i = first; i < end; i++) {
        rows_copy(&test->all, i, &test->commit.rows, i - first);
        test->there[i] = true;
    }
    test->commit.rows.count = end - first;
    CHECK_OK(store_commit(test->store, &test->commit, &seconds));
    CHECK_OK(trial_blocks_show_to_run(test->store->database));
}

// Rows of ids below `end`, one in `one_in`, get other values; so do those that had gone.
static void blocked_put(BlockedCase *test, int64_t end, uint64_t one_in)
{
    const int64_t from = (int64_t)blocked_draw(test, (uint64_t)end), to = from + (int64_t)blocked_draw(test, 700);
    test->some.count = 0;
    for (int64_t id = from; id < end && id < to; id++) {
        if (blocked_draw(test, one_in) != 0) continue;
        blocked_invent(test, id);
        test->there[id] = true;
        rows_copy(&test->all, id, &test->some, test->some.count++);
    }
    CHECK_OK(store_begin(test->store));
    Error error = trial_blocks_put(test->store, &test->some, true);
    if (error.kind == OK) error = best_rows_again(test->store);
    CHECK_OK(store_end(test->store, error));
}

static void blocked_drop(BlockedCase *test, int64_t end)
{
    static int64_t dropped[BLOCKED_TRIALS];
    int64_t count = 0;
    const int64_t from = (int64_t)blocked_draw(test, (uint64_t)end), to = from + (int64_t)blocked_draw(test, 700);
    const uint64_t one_in = 1 + blocked_draw(test, 3);
    for (int64_t id = from; id < end && id < to; id++) {
        if (!test->there[id] || blocked_draw(test, one_in) != 0) continue;
        test->there[id] = false;
        dropped[count++] = id;
    }
    CHECK_OK(trial_blocks_drop(test->store, dropped, count));
    CHECK_OK(trial_blocks_show_to_run(test->store->database));
    CHECK_OK(store_begin(test->store));
    CHECK_OK(store_end(test->store, best_rows_again(test->store)));
}

// ---- what is there --------------------------------------------------------------------------------------------------

static int64_t blocked_number(BlockedCase *test, const char *sql)
{
    int64_t number = -1;
    CHECK_OK(store_integer(test->store->database, sql, -1, &number));
    return number;
}

static void blocked_check_rows(BlockedCase *test)
{
    TrialRows stored;
    char text[256];
    int64_t next = 0, wrong = 0;
    rows_take(&test->spec, 1, &test->arena, &stored);
    Cursor trials = trial_rows(test->store->database, &test->spec, &test->arena);
    while (trial_rows_next(&trials, &test->spec, &stored, 0)) {
        while (next < BLOCKED_TRIALS && !test->there[next]) next++;
        if (stored.id[0] != next || rows_differ(&test->spec, &stored, 0, &test->all, stored.id[0], text, sizeof text))
            wrong++;
        next++;
    }
    CHECK_OK(cursor_close(&trials));
    while (next < BLOCKED_TRIALS && !test->there[next]) next++;
    CHECK_INTEGER(BLOCKED_TRIALS, next);
    CHECK_INTEGER(0, wrong);
}

static void blocked_check(BlockedCase *test)
{
    SealDamage damage;
    blocked_check_rows(test);
    CHECK_OK(seal_check(test->store->database, &test->arena, &damage));
    for (int64_t i = 0; i < damage.count; i++) {
        // rows that go in no kept campaign look lost to the table batches
        CHECK(damage.broken[i].lost);
    }
    CHECK_INTEGER(0, blocked_number(test, "SELECT count(*) FROM (SELECT * FROM (SELECT * FROM trials WHERE fitness IS "
                                          "NOT NULL ORDER BY fitness, id LIMIT 1000) EXCEPT SELECT * FROM main.best)"));
    const int64_t good = blocked_number(test, "SELECT count(*) FROM trials WHERE fitness IS NOT NULL");
    CHECK_INTEGER(good < BEST_ROWS ? good : BEST_ROWS, blocked_number(test, "SELECT count(*) FROM main.best"));
}

TEST(trial_blocks_hold_what_was_written_whatever_comes_and_goes)
{
    for (uint64_t seed = 1; seed <= (test_quick() ? 3 : 20); seed++) {
        static BlockedCase test;
        const uint64_t most = seed % 3 == 0 ? 9 : seed % 3 == 1 ? 200 : 2000;
        blocked_start(&test, seed);
        for (int64_t first = 0; first < BLOCKED_TRIALS;) {
            const int64_t count = 1 + (int64_t)blocked_draw(&test, most), left = BLOCKED_TRIALS - first;
            blocked_commit(&test, first, first + (count < left ? count : left));
            first += count < left ? count : left;
            const uint64_t next = blocked_draw(&test, most < 10 ? 200 : 6);
            if (next == 0) blocked_put(&test, first, 1 + blocked_draw(&test, 9));
            if (next == 1) blocked_drop(&test, first);
            if (next == 2) CHECK_OK(store_close(test.store));
            if (next == 2) blocked_open(&test);
            if (blocked_draw(&test, most < 10 ? 300 : 3) == 0) blocked_check(&test);
        }
        blocked_check(&test);
        CHECK(blocked_number(&test, "SELECT count(*) FROM blocks") < 200);
        blocked_end(&test);
    }
}

// As in a counter to the base 16: each row is written again at most three times.
TEST(trial_blocks_of_single_trials_become_few)
{
    static BlockedCase test;
    int64_t most = 0;
    blocked_start(&test, 3);
    for (int64_t id = 0; id < (test_quick() ? 200 : 1500); id++) {
        blocked_commit(&test, id, id + 1);
        const int64_t blocks = blocked_number(&test, "SELECT count(*) FROM blocks");
        most = blocks > most ? blocks : most;
    }
    CHECK(most <= 64);
    test.there[0] = true;
    blocked_end(&test);
}

TEST(trial_blocks_are_not_written_anew_where_one_is_gone)
{
    static BlockedCase test;
    static const int64_t dropped[] = {5};
    blocked_start(&test, 4);
    blocked_commit(&test, 0, 100);
    blocked_commit(&test, 100, 200);
    CHECK_OK(database_run(test.store->database, "DELETE FROM main.blocks WHERE first = 100"));
    CHECK_SAYS(ERROR_MACHINE, "the rows in blocks are not those that were written",
               trial_blocks_drop(test.store, dropped, 1));
    CHECK_INTEGER(100, blocked_number(&test, "SELECT sum(rows) FROM blocks"));
    blocked_end(&test);
}

#ifdef HOPSCOTCH_FAULTS
// An error that passes says nothing of the blocks: it is reported, and they stay.
TEST(trial_blocks_are_forgotten_for_damage_only)
{
    BlockedCase test;
    char rule[32];
    int64_t forgotten = 0;
    int n = 0;
    Error error = error_make(ERROR_MACHINE, "not tried");
    blocked_start(&test, 3);
    blocked_commit(&test, 0, 100);
    blocked_commit(&test, 100, 200);
    while (error.kind != OK && n < 200) {
        snprintf(rule, sizeof rule, "sql:%d:ENOMEM", ++n);
        system_set_faults(rule);
        error = trial_blocks_forget(test.store->database, &forgotten);
        system_set_faults("");
        CHECK_INTEGER(2, blocked_number(&test, "SELECT count(*) FROM main.blocks"));
    }
    CHECK_OK(error);
    CHECK(n > 8);
    CHECK_INTEGER(0, forgotten);
    CHECK_OK(database_run(test.store->database, "UPDATE main.blocks SET first = 99 WHERE first = 100"));
    CHECK_OK(trial_blocks_forget(test.store->database, &forgotten)); // they contradict each other
    CHECK_INTEGER(2, forgotten);
    CHECK_INTEGER(0, blocked_number(&test, "SELECT count(*) FROM main.blocks"));
    blocked_end(&test);
}

static int64_t blocked_files(BlockedCase *test)
{
    char **names = NULL;
    int count = 0;
    CHECK_OK(folder_list(test->store->shards, &test->arena, &names, &count));
    return count;
}

// Where the names of the blocks can't be read, no file is known to be unnamed.
TEST(trial_blocks_stay_where_their_names_can_not_be_read)
{
    static BlockedCase test;
    char rule[32];
    int n = 0;
    Error error = error_make(ERROR_MACHINE, "not tried");
    blocked_start(&test, 5);
    blocked_commit(&test, 0, 100);
    blocked_commit(&test, 100, 200);
    CHECK_OK(file_write(test.store->shards, "rows_000009_1.h5", "nobody's", 8));
    while (error.kind != OK && n < 200) {
        CHECK_INTEGER(3, blocked_files(&test));
        snprintf(rule, sizeof rule, "sql:%d:ENOMEM", ++n);
        system_set_faults(rule);
        error = trial_blocks_clear(test.store->database);
        system_set_faults("");
    }
    CHECK_OK(error);
    CHECK(n > 2);
    CHECK_INTEGER(2, blocked_files(&test));
    blocked_check(&test);
    blocked_end(&test);
}
#endif
