// campaign.db and what lies beside it: schema, the commit rule, recovery, refusals, names, the catalogue.
#include "../../runner/campaign/campaign.h"
#include "../../runner/campaign/store/commit/commit.h"
#include "../../runner/campaign/store/queries.h"
#include "../../runner/campaign/store/trials/rank.h"
#include "../../runner/campaign/store/commit/seal.h"
#include "../test.h"
#include "../../runner/campaign/store/campaign/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Four trials of a hopper with two replicates, so that every kind of column occurs.
static const char store_spec[] =
    "version: 1\nexperiment: store\nseed: 7\nmodel: hopper\n"
    "simulation: {duration: 0.01, dt: 1.0e-3, settle: 0}\n"
    "search: {method: grid, over: {k_fp: [100, 200, 300, 400], b_fp: {derive: 2 * k_fp}}}\n"
    "replicates: {count: 2, store: true, perturb: {phi_leg: {uniform: [0, 0.1]}}}\n"
    "record: {trajectories: {select: {best: 1}, sample: 0.002}}\n";

typedef struct StoreCase {
    Arena arena;
    Spec spec;
    const char *folder;
    RunOptions options;
    FILE *messages;
    char *said; // the text printed to messages
    size_t said_size;
    Store *store;
    Commit commit;
} StoreCase;

static void store_case_spec(StoreCase *test, const char *text, Spec *spec)
{
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    CHECK_OK(spec_parse("store.yaml", text, NULL, 0, &test->arena, diagnostics, spec));
    diagnostics_print(diagnostics, stdout, false);
}

static Error store_case_open(StoreCase *test, const Spec *spec)
{
    return store_open(test->folder, "store", spec, &test->options, &test->arena, &test->store);
}

static void store_case_start(StoreCase *test)
{
    *test = (StoreCase){.store = NULL};
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    test->folder = arena_copy(&test->arena, test_folder());
    test->messages = open_memstream(&test->said, &test->said_size);
    test->options.messages = test->messages;
    store_case_spec(test, store_spec, &test->spec);
    CHECK_OK(folder_make(arena_format(&test->arena, "%s/" CAMPAIGN_SHARDS, test->folder)));
    CHECK_OK(store_case_open(test, &test->spec));
    commit_take(&test->spec, 4, 2, 8 * 8 * test->spec.configured.n_columns, 4, &test->arena, &test->commit);
}

static void store_case_end(StoreCase *test)
{
    if (test->store != NULL) CHECK_OK(store_close(test->store));
    fclose(test->messages);
    free(test->said);
    arena_destroy(&test->arena);
}

static int64_t store_case_count(StoreCase *test, const char *sql)
{
    Statement *statement = NULL;
    bool row = false;
    CHECK_OK(database_prepare(test->store->database, sql, &statement));
    CHECK_OK(statement_step(statement, &row));
    const int64_t value = row ? column_integer(statement, 0) : -1;
    statement_close(statement);
    return value;
}

// Rows first ... first + count - 1 with different numbers, and one trajectory of three samples.
static void store_case_fill(StoreCase *test, int64_t first, int64_t count)
{
    TrialRows *rows = &test->commit.rows;
    const int metrics = test->spec.configured.n_metrics;
    rows->count = count;
    for (int64_t i = 0; i < count; i++) {
        rows->id[i] = first + i;
        rows->fitness[i] = i == 1 ? (double)NAN : 1.5 + (double)(first + i);
        rows->failure[i] = i == 1;
        rows->n_failed[i] = i == 1;
        for (int p = 0; p < 2; p++) rows->searched[p * rows->stride + i].real = (double)(100 * (p + 1));
        for (int m = 0; m < metrics; m++) rows->metric[m * rows->stride + i] = m == 0 ? -0.0 : 0.1 * (double)(i + m);
        for (int m = 0; m < metrics; m++) rows->spread[m * rows->stride + i] = m == 1 ? (double)NAN : 1e-300;
        for (int r = 0; r < 2; r++) {
            rows->replicate_trial[2 * i + r] = first + i;
            rows->replicate_failure[2 * i + r] = i == 1 && r == 1;
            for (int m = 0; m < metrics; m++)
                rows->replicate_metric[m * rows->replicate_stride + 2 * i + r] = (double)(i + 1000 * m) + 0.5 * r;
        }
    }
    test->commit.n_lanes = 1;
    test->commit.lanes[0] = (ShardLane){.trial = first, .length = 3};
    memcpy(test->commit.state, "abcd", 4);
    test->commit.failures = count > 1;
}

static Error store_case_commit(StoreCase *test)
{
    double seconds = 0;
    return store_commit(test->store, &test->commit, &seconds);
}

// ---- rows come back as they were stored -----------------------------------------------------------------------------

TEST(store_reads_what_was_committed)
{
    StoreCase test;
    TrialRows back;
    char difference[256], state[4];
    Search search = {.method = &search_grid, .state = state, .state_size = 4};
    bool found = false;
    store_case_start(&test);
    store_case_fill(&test, 0, 2);
    CHECK_OK(store_case_commit(&test));
    rows_take(&test.spec, 2, &test.arena, &back);
    Cursor trials = trial_rows(test.store->database, &test.spec, &test.arena);
    for (int i = 0; i < 2; i++) {
        CHECK(trial_rows_next(&trials, &test.spec, &back, i));
        CHECK(!rows_differ(&test.spec, &back, i, &test.commit.rows, i, difference, sizeof difference));
        CHECK_TEXT("", difference);
    }
    CHECK(!trial_rows_next(&trials, &test.spec, &back, 0));
    CHECK_OK(cursor_close(&trials));
    CHECK(isnan(back.fitness[1]));
    CHECK_INTEGER(1, store_case_count(&test, "SELECT count(*) FROM trials WHERE fitness IS NULL"));
    CHECK_INTEGER(1, store_case_count(&test, "SELECT count(*) FROM trials WHERE failure = 'fell'"));
    CHECK_INTEGER(4, store_case_count(&test, "SELECT count(*) FROM replicates"));
    CHECK_OK(store_search_state(test.store, &search, &found));
    CHECK(found && memcmp(state, "abcd", 4) == 0);
    search.state_size = 3;
    CHECK_SAYS(ERROR_MACHINE, "the stored state of search method grid is damaged",
               store_search_state(test.store, &search, &found));
    search.state_capacity = 5; // a state of variable size needs only to fit
    CHECK_OK(store_search_state(test.store, &search, &found));
    CHECK(found && search.state_size == 4);
    store_case_end(&test);
}

// More rows than are hashed at once and than a block of digests has, in columns that are longer than the rows.
TEST(store_reads_a_large_batch_as_it_was_committed)
{
    enum { ROWS = 1300, CAPACITY = 1536 };
    StoreCase test;
    TrialRows back;
    SealDamage damage;
    char difference[256];
    store_case_start(&test);
    commit_take(&test.spec, CAPACITY, 1, 8 * 8 * test.spec.configured.n_columns, 4, &test.arena, &test.commit);
    const TrialRows *rows = &test.commit.rows;
    CHECK(rows->stride >= CAPACITY && rows->stride * 8 % 4096 != 0);
    CHECK(rows->replicate_stride >= 2 * CAPACITY && rows->replicate_stride * 8 % 4096 != 0);
    store_case_fill(&test, 700, ROWS);
    CHECK_OK(store_case_commit(&test));
    rows_take(&test.spec, 1, &test.arena, &back);
    Cursor trials = trial_rows(test.store->database, &test.spec, &test.arena);
    for (int64_t i = 0; i < ROWS && trial_rows_next(&trials, &test.spec, &back, 0); i++) {
        if (back.id[0] == 700 + i && !rows_differ(&test.spec, &back, 0, rows, i, difference, sizeof difference))
            continue;
        CHECK_TEXT("", difference);
        CHECK_INTEGER(700 + i, back.id[0]);
    }
    CHECK(!trial_rows_next(&trials, &test.spec, &back, 0));
    CHECK_OK(cursor_close(&trials));
    CHECK_INTEGER(ROWS, store_case_count(&test, "SELECT sum(rows) FROM digests WHERE name = 'trials'"));
    CHECK_INTEGER(2 * ROWS, store_case_count(&test, "SELECT count(*) FROM replicates WHERE trial BETWEEN 700 AND 1999 "
                                                    "AND distance = trial - 700 + 2000 + 0.5 * replicate"));
    CHECK_INTEGER(1, store_case_count(&test, "SELECT count(*) FROM replicates WHERE failure = 'fell' AND trial = 701 "
                                             "AND replicate = 1"));
    CHECK_OK(seal_check(test.store->database, &test.arena, &damage));
    CHECK_INTEGER(0, damage.count);
    store_case_end(&test);
}

TEST(store_finds_the_first_field_that_differs)
{
    StoreCase test;
    TrialRows other;
    char difference[256];
    Sha256 a, b;
    store_case_start(&test);
    store_case_fill(&test, 0, 2);
    rows_take(&test.spec, 2, &test.arena, &other);
    Commit copy = test.commit;
    test.commit.rows = other;
    store_case_fill(&test, 0, 2);
    CHECK(!rows_differ(&test.spec, &test.commit.rows, 1, &copy.rows, 1, difference, sizeof difference));
    double *distance = &test.commit.rows.metric[2 * test.commit.rows.stride];
    *distance = nextafter(*distance, 1e9);
    CHECK(rows_differ(&test.spec, &test.commit.rows, 0, &copy.rows, 0, difference, sizeof difference));
    CHECK(strncmp(difference, "distance is 0.2", 15) == 0);
    sha256_start(&a), sha256_start(&b);
    rows_hash(&test.spec, &test.commit.rows, 0, &a);
    rows_hash(&test.spec, &copy.rows, 0, &b);
    CHECK(strcmp(sha256_finish(&a).hex, sha256_finish(&b).hex) != 0);
    store_case_end(&test);
}

TEST(store_keeps_the_last_two_states)
{
    StoreCase test;
    store_case_start(&test);
    store_case_fill(&test, 0, 1);
    CHECK_OK(store_case_commit(&test));
    store_case_fill(&test, 1, 1);
    memcpy(test.commit.state, "efgh", 4);
    CHECK_OK(store_case_commit(&test));
    CHECK_INTEGER(1, store_case_count(&test, "SELECT state = x'65666768' AND previous = x'61626364' FROM searches"));
    CHECK_INTEGER(2, store_case_count(&test, "SELECT count(*) FROM batches"));
    store_case_end(&test);
}

TEST(store_commits_a_batch_whole_or_not_at_all)
{
    StoreCase test;
    store_case_start(&test);
    store_case_fill(&test, 0, 2);
    CHECK_OK(store_case_commit(&test));
    store_case_fill(&test, 2, 2);
    test.commit.rows.id[1] = 0; // id 0 exists: the second row fails after the first was inserted
    memcpy(test.commit.state, "zzzz", 4);
    CHECK_ERROR(ERROR_MACHINE, store_case_commit(&test));
    CHECK_INTEGER(2, store_case_count(&test, "SELECT count(*) FROM trials"));
    CHECK_INTEGER(1, store_case_count(&test, "SELECT count(*) FROM shards"));
    CHECK_INTEGER(1, store_case_count(&test, "SELECT state = x'61626364' FROM searches"));
    test.commit.rows.id[1] = 3; // the store can still be used
    CHECK_OK(store_case_commit(&test));
    CHECK_INTEGER(4, store_case_count(&test, "SELECT count(*) FROM trials"));
    store_case_end(&test);
}

TEST(store_counts_what_was_committed)
{
    StoreCase test;
    StoreCounts counts;
    store_case_start(&test);
    CHECK_OK(store_counts(test.store, &counts));
    CHECK(counts.trials == 0 && counts.last_trial == -1 && isnan(counts.best_fitness) && counts.best_trial == -1);
    store_case_fill(&test, 0, 3);
    test.commit.wall_seconds = 2;
    CHECK_OK(store_case_commit(&test));
    CHECK_OK(store_index_fitness(test.store, &test.arena));
    CHECK_OK(store_counts(test.store, &counts));
    CHECK_INTEGER(3, counts.trials);
    CHECK_INTEGER(1, counts.failures);
    CHECK_INTEGER(2, counts.last_trial);
    CHECK_INTEGER(0, counts.best_trial);
    CHECK_BITS(1.5, counts.best_fitness);
    CHECK_BITS(2.0, counts.wall_seconds);
    store_case_end(&test);
}

// The best of a million trials must not read them all: SQLite's plan shows whether the index gives the order.
TEST(store_index_gives_the_order_of_best)
{
    StoreCase test;
    Statement *statement = NULL;
    bool row = false;
    char sql[512];
    store_case_start(&test);
    CHECK_OK(store_index_fitness(test.store, &test.arena));
    snprintf(sql, sizeof sql,
             "EXPLAIN QUERY PLAN SELECT * FROM trials WHERE fitness IS NOT NULL ORDER BY %s, id LIMIT 1",
             rank_order(&test.spec, RANK_COLUMNS_MAX).text);
    CHECK_OK(database_prepare(test.store->database, sql, &statement));
    CHECK_OK(statement_step(statement, &row));
    CHECK_TEXT("SEARCH trials USING INDEX trials_by_fitness (fitness>?)", column_text(statement, 3));
    CHECK_OK(statement_step(statement, &row));
    CHECK(!row); // the plan contains no sorting
    statement_close(statement);
    store_case_end(&test);
}

// Worst first is best first, turned round.
TEST(store_order_of_worst)
{
    StoreCase test;
    store_case_start(&test);
    CHECK_TEXT("\"fitness\", \"survived\" DESC", rank_order(&test.spec, RANK_COLUMNS_MAX).text);
    CHECK_TEXT("\"fitness\" DESC, \"survived\"", rank_order_of_worst(&test.spec).text);
    test.spec.n_constraints = 1;
    test.spec.objective.maximize[0] = true;
    CHECK_TEXT("\"violation\", \"fitness\" DESC, \"survived\" DESC", rank_order(&test.spec, RANK_COLUMNS_MAX).text);
    CHECK_TEXT("\"violation\" DESC, \"fitness\", \"survived\"", rank_order_of_worst(&test.spec).text);
    test.spec.objective.count = 2;
    CHECK_TEXT("\"violation\", \"objective_1\" DESC", rank_order(&test.spec, 2).text);
    test.spec.objective.count = 1;
    store_case_end(&test);
}

// ---- opening --------------------------------------------------------------------------------------------------------

TEST(store_refuses_another_spec_and_says_what_differs)
{
    StoreCase test;
    Spec other;
    char text[1024];
    store_case_start(&test);
    CHECK_OK(store_close(test.store));
    snprintf(text, sizeof text, "%s", store_spec);
    memcpy(strstr(text, "seed: 7"), "seed: 8", 7);
    store_case_spec(&test, text, &other);
    const Error error = store_case_open(&test, &other);
    CHECK_ERROR(ERROR_USER, error);
    CHECK(strstr(error.text, "--name") != NULL);
    fflush(test.messages);
    CHECK(strstr(test.said, "  seed: 7 -> 8\n") != NULL);
    CHECK(strstr(test.said, "k_fp") == NULL);
    test.store = NULL;
    store_case_end(&test);
}

TEST(store_takes_another_limit_for_the_same_spec)
{
    StoreCase test;
    Spec other;
    store_case_start(&test);
    CHECK(test.store->created);
    CHECK_OK(store_close(test.store));
    store_case_spec(&test, arena_format(&test.arena, "%slimits: {trials: 3}\n", store_spec), &other);
    CHECK_OK(store_case_open(&test, &other));
    CHECK(!test.store->created);
    CHECK_INTEGER(1, store_case_count(&test, "SELECT resolved LIKE '%trials: 3%' FROM campaign"));
    store_case_end(&test);
}

static void store_case_refuses(const char *change, const char *word)
{
    StoreCase test;
    store_case_start(&test);
    CHECK_OK(database_run(test.store->database, change));
    CHECK_OK(store_close(test.store));
    test.store = NULL;
    const Error error = store_case_open(&test, &test.spec);
    CHECK_ERROR(ERROR_USER, error);
    CHECK(strstr(error.text, word) != NULL);
    test.store = NULL;
    store_case_end(&test);
}

TEST(store_refuses_other_numerics)
{
    store_case_refuses("UPDATE campaign SET numerics_version = numerics_version + 1", "numerics version");
}

TEST(store_refuses_another_schema)
{
    store_case_refuses("PRAGMA user_version = 99", "has schema version 99, which this program does not know: use");
    store_case_refuses("PRAGMA user_version = -7", "has schema version -7, which this program does not know: use");
    store_case_refuses("PRAGMA user_version = 0", "is not a campaign of hopscotch");
    store_case_refuses("PRAGMA application_id = 7", "is not a campaign of hopscotch");
}

// A name that leads out of the folder would make the program read or move another file.
TEST(store_refuses_names_of_shards_that_are_paths)
{
    static const char *const names[] = {"../other/shards/000000.h5", ".hidden.h5", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char insert[128];
        snprintf(insert, sizeof insert, "INSERT INTO shards VALUES(0, '%s', 0, '')", names[i]);
        store_case_refuses(insert, "which is not a file in its folder: another program changed");
    }
}

TEST(store_refuses_a_database_whose_campaign_is_gone)
{
    store_case_refuses("DELETE FROM campaign", "its table campaign, of one row, is empty; `");
}

// `resume` creates no campaign: if another process removed the database meanwhile, it says so.
TEST(store_resumes_only_an_existing_campaign)
{
    StoreCase test;
    store_case_start(&test);
    CHECK_OK(store_close(test.store));
    test.store = NULL;
    test.options.resume_only = true;
    const char *database = arena_format(&test.arena, "%s/" CAMPAIGN_DATABASE, test.folder);
    CHECK_OK(file_remove(database));
    CHECK_SAYS(ERROR_MACHINE, "is gone: another process removed it; nothing was done",
               store_case_open(&test, &test.spec));
    CHECK(test.store == NULL && file_missing(database));
    store_case_end(&test);
}

TEST(store_refuses_a_database_that_is_no_campaign)
{
    store_case_refuses("PRAGMA application_id = 1", "not a campaign");
}

TEST(store_refuses_a_parameter_named_like_a_column)
{
    StoreCase test;
    store_case_start(&test);
    CHECK_OK(rows_check_names(&test.spec));
    const Parameter clash = {.name = "Velocity_Error_STD"}; // SQLite's names ignore case
    const Axis axis = {.parameter = 0};
    test.spec.configured.parameters = &clash;
    test.spec.axes = &axis;
    test.spec.n_axes = 1, test.spec.n_derived = 0;
    CHECK_ERROR(ERROR_USER, rows_check_names(&test.spec));
    store_case_end(&test);
}

// ---- recovery -------------------------------------------------------------------------------------------------------

static const char *store_case_path(StoreCase *test, const char *name)
{
    return arena_format(&test->arena, "%s/%s", test->folder, name);
}

TEST(store_recovers_what_a_crash_leaves)
{
    StoreCase test;
    StoreRecovery recovery;
    store_case_start(&test);
    store_case_fill(&test, 0, 2);
    CHECK_OK(store_case_commit(&test));
    CHECK_OK(file_write(test.folder, "spec.yaml.tmp", "x", 1));
    CHECK_OK(file_write(test.store->shards, "000002.h5.tmp", "x", 1));
    CHECK_OK(file_write(test.store->shards, "000001.h5", "x", 1));
    CHECK_OK(store_recover(test.store, &recovery, test.messages));
    CHECK_INTEGER(2, recovery.temporary_files);
    CHECK_INTEGER(1, recovery.orphan_shards);
    CHECK_INTEGER(0, recovery.missing_shards);
    CHECK(file_exists(store_case_path(&test, "shards/000000.h5")));
    CHECK(!file_exists(store_case_path(&test, "shards/000001.h5")));
    CHECK(file_exists(store_case_path(&test, "quarantine/000001.h5")));
    CHECK_OK(file_write(test.store->shards, "000001.h5", "y", 1)); // a second recovery overwrites nothing in quarantine
    CHECK_OK(store_recover(test.store, &recovery, NULL));
    CHECK(file_exists(store_case_path(&test, "quarantine/000001.h5.1")));
    fflush(test.messages);
    CHECK(strstr(test.said, "2 temporary files removed, 1 uncommitted shards") != NULL);
    store_case_end(&test);
}

TEST(store_recovery_of_a_whole_campaign_says_nothing)
{
    StoreCase test;
    StoreRecovery recovery;
    store_case_start(&test);
    store_case_fill(&test, 0, 2);
    CHECK_OK(store_case_commit(&test));
    CHECK_OK(store_recover(test.store, &recovery, test.messages));
    CHECK_INTEGER(0, recovery.temporary_files + recovery.orphan_shards + recovery.missing_shards);
    fflush(test.messages);
    CHECK_INTEGER(0, (int64_t)test.said_size);
    store_case_end(&test);
}

// Damages a shard: flips one byte, or cuts the file short.
static void store_case_damages(bool one_byte)
{
    StoreCase test;
    StoreRecovery recovery;
    Bytes content;
    store_case_start(&test);
    store_case_fill(&test, 0, 2);
    CHECK_OK(store_case_commit(&test));
    CHECK_OK(file_read(store_case_path(&test, "shards/000000.h5"), (size_t)1 << 24, &test.arena, &content));
    content.data[content.size / 2] ^= 1;
    CHECK_OK(file_write(test.store->shards, "000000.h5", content.data, one_byte ? content.size : content.size - 1));
    CHECK_OK(store_recover(test.store, &recovery, NULL));
    CHECK_INTEGER(1, recovery.missing_shards);
    CHECK_INTEGER(0, store_case_count(&test, "SELECT count(*) FROM trajectories"));
    CHECK_INTEGER(0, store_case_count(&test, "SELECT count(*) FROM shards"));
    CHECK_INTEGER(2, store_case_count(&test, "SELECT count(*) FROM trials")); // the trials' rows remain
    CHECK(file_exists(store_case_path(&test, "quarantine/000000.h5")));
    store_case_end(&test);
}

TEST(store_recovery_drops_a_shard_with_one_wrong_byte) { store_case_damages(true); }

TEST(store_recovery_drops_a_shard_that_was_cut_short) { store_case_damages(false); }

TEST(store_recovery_drops_a_shard_that_is_gone)
{
    StoreCase test;
    StoreRecovery recovery;
    store_case_start(&test);
    store_case_fill(&test, 0, 1);
    CHECK_OK(store_case_commit(&test));
    CHECK_OK(file_remove(store_case_path(&test, "shards/000000.h5")));
    CHECK_OK(store_recover(test.store, &recovery, NULL));
    CHECK_INTEGER(1, recovery.missing_shards);
    CHECK_INTEGER(0, store_case_count(&test, "SELECT count(*) FROM trajectories"));
    store_case_end(&test);
}

// ---- names and the catalogue ----------------------------------------------------------------------------------------

TEST(store_names_are_safe_as_folders)
{
    Arena arena;
    const char *folder = NULL;
    char long_name[130];
    if (arena_create(&arena, (size_t)1 << 20, "test").kind != OK) abort();
    memset(long_name, 'a', sizeof long_name);
    long_name[129] = '\0';
    const char *const bad[] = {"", ".", "..", ".hidden", "-x", "a/b", "a b", "caf\xc3\xa9", "a\n", "a\\b", long_name};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_ERROR(ERROR_USER, campaign_folder("results", bad[i], &arena, &folder));
    }
    CHECK_OK(campaign_folder("results", "a_B-1.2", &arena, &folder));
    CHECK_TEXT("results/a_B-1.2", folder);
    long_name[128] = '\0';
    CHECK_OK(campaign_folder("results", long_name, &arena, &folder));
    arena_destroy(&arena);
}

// The number that a query of the catalogue gives; `change` (NULL: none) is run before.
static int64_t catalogue_count(StoreCase *test, const char *change, const char *sql)
{
    CHECK_OK(database_open(store_case_path(test, CATALOGUE_DATABASE), DATABASE_WRITE, &test->store->database));
    if (change != NULL) CHECK_OK(database_run(test->store->database, change));
    const int64_t count = store_case_count(test, sql);
    CHECK_OK(database_close(test->store->database));
    return count;
}

// A root with the campaign `a`.
static void catalogue_case(StoreCase *test)
{
    store_case_start(test);
    CHECK_OK(store_close(test->store));
    CHECK_OK(folder_make(store_case_path(test, "a")));
    CHECK_OK(file_rename(store_case_path(test, CAMPAIGN_DATABASE), store_case_path(test, "a/" CAMPAIGN_DATABASE)));
    catalogue_note(test->folder, false, "a", &test->arena);
}

static void catalogue_case_end(StoreCase *test)
{
    test->store = NULL;
    store_case_end(test);
}

#define CATALOGUE_OF_A "SELECT count(*) FROM campaigns WHERE name = 'a' AND model = 'hopper' AND length(reader) > 0"

TEST(store_catalogue_has_one_row_per_campaign)
{
    StoreCase test;
    catalogue_case(&test);
    catalogue_note(test.folder, false, "a", &test.arena);
    CHECK_INTEGER(1, catalogue_count(&test, NULL, "SELECT count(*) FROM campaigns"));
    CHECK_INTEGER(1, catalogue_count(&test, NULL, CATALOGUE_OF_A));
    CHECK_OK(file_remove(store_case_path(&test, "a/" CAMPAIGN_DATABASE)));
    catalogue_note(test.folder, false, "a", &test.arena);
    CHECK_INTEGER(0, catalogue_count(&test, NULL, "SELECT count(*) FROM campaigns"));
    catalogue_case_end(&test);
}

TEST(store_catalogue_is_made_again_from_damage_and_from_another_layout)
{
    StoreCase test;
    catalogue_case(&test);
    CHECK_OK(file_write(test.folder, CATALOGUE_DATABASE, "junk", 4));
    catalogue_note(test.folder, false, "a", &test.arena);
    CHECK_INTEGER(1, catalogue_count(&test,
                                     "DROP TABLE campaigns; CREATE TABLE campaigns(name TEXT PRIMARY KEY, hash TEXT);"
                                     "CREATE TABLE status_cache(name TEXT PRIMARY KEY)",
                                     "SELECT count(*) = 0 FROM campaigns"));
    catalogue_note(test.folder, false, "a", &test.arena);
    CHECK_INTEGER(1, catalogue_count(&test, NULL, CATALOGUE_OF_A));
    CHECK_INTEGER(0, catalogue_count(&test, NULL, "SELECT count(*) FROM sqlite_schema WHERE name = 'status_cache'"));
    catalogue_case_end(&test);
}

TEST(store_catalogue_differs_or_is_behind)
{
    StoreCase test;
    const char *difference;
    bool behind;
    catalogue_case(&test);
    const CampaignLocation place = {.results = test.folder, .name = "a", .folder = store_case_path(&test, "a")};
    CHECK_OK(catalogue_compare(&place, &test.arena, &difference, &behind));
    CHECK(!behind);
    CHECK_TEXT("", difference);
    CHECK_INTEGER(1, catalogue_count(&test, "UPDATE campaigns SET trials = 77", "SELECT count(*) FROM campaigns"));
    CHECK_OK(catalogue_compare(&place, &test.arena, &difference, &behind));
    CHECK(!behind);
    CHECK_TEXT("index.db has another value `trials` of a", difference);
    CHECK_INTEGER(1, catalogue_count(&test, "UPDATE campaigns SET stamp = x'00'", "SELECT count(*) FROM campaigns"));
    CHECK_OK(catalogue_compare(&place, &test.arena, &difference, &behind));
    CHECK(behind);
    CHECK_OK(file_remove(store_case_path(&test, CATALOGUE_DATABASE)));
    CHECK_OK(catalogue_compare(&place, &test.arena, &difference, &behind));
    CHECK(behind);
    CHECK_TEXT("index.db is missing", difference);
    catalogue_case_end(&test);
}
