// Databases of older schemas, each built from its own text: read as they are, migrated when they are written.
#include "../../runner/campaign/store/migration.h"
#include "../../runner/campaign/store/seal.h"
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static const char migration_spec[] = "version: 1\nexperiment: old\nseed: 7\nmodel: bbob\n"
                                     "search: {method: grid, over: {x1: [0, 1, 2]}}\n";

// As version 1 made them, of this spec.
static const char migration_schema_1[] =
    "PRAGMA application_id = 0x484F5053; PRAGMA user_version = 1;\n"
    "CREATE TABLE campaign(id INTEGER PRIMARY KEY CHECK(id = 1), name TEXT NOT NULL, experiment TEXT NOT NULL,\n"
    "  model TEXT NOT NULL, spec TEXT NOT NULL, resolved TEXT NOT NULL, canonical TEXT NOT NULL, hash TEXT NOT NULL,\n"
    "  seed INTEGER NOT NULL, program_version TEXT NOT NULL, numerics_version INTEGER NOT NULL,\n"
    "  compiler TEXT NOT NULL, commit_id TEXT NOT NULL, host TEXT NOT NULL, created TEXT NOT NULL,\n"
    "  started TEXT, finished TEXT, state TEXT NOT NULL, reason TEXT, trials_total INTEGER,\n"
    "  replicates INTEGER NOT NULL) STRICT;\n"
    "CREATE TABLE searches(id INTEGER PRIMARY KEY, method TEXT NOT NULL, state BLOB, previous BLOB,\n"
    "  stop_reason TEXT) STRICT;\n"
    "CREATE TABLE rounds(search INTEGER NOT NULL REFERENCES searches(id), round INTEGER NOT NULL, debug BLOB,\n"
    "  PRIMARY KEY(search, round)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE batches(id INTEGER PRIMARY KEY, first_trial INTEGER NOT NULL, last_trial INTEGER NOT NULL,\n"
    "  trials INTEGER NOT NULL, failures INTEGER NOT NULL, lanes INTEGER NOT NULL, backend TEXT NOT NULL,\n"
    "  device TEXT NOT NULL, version TEXT NOT NULL, numerics_version INTEGER NOT NULL, kernel_seconds REAL,\n"
    "  wait_seconds REAL, wall_seconds REAL, committed TEXT NOT NULL, digest TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE shards(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL,\n"
    "  sha256 TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE trajectories(trial INTEGER NOT NULL REFERENCES trials(id), replicate INTEGER NOT NULL,\n"
    "  shard INTEGER NOT NULL REFERENCES shards(id), row INTEGER NOT NULL, samples INTEGER NOT NULL,\n"
    "  recipe TEXT NOT NULL, PRIMARY KEY(trial, replicate)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE debug_rows(trial INTEGER NOT NULL REFERENCES trials(id), replicate INTEGER NOT NULL,\n"
    "  shard INTEGER NOT NULL REFERENCES shards(id), row INTEGER NOT NULL, samples INTEGER NOT NULL,\n"
    "  recipe TEXT NOT NULL, PRIMARY KEY(trial, replicate)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE events(id INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE tags(tag TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE notes(time TEXT NOT NULL, text TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE trials(id INTEGER PRIMARY KEY, search INTEGER NOT NULL, round INTEGER NOT NULL, x1 REAL,\n"
    "  fitness REAL, failure TEXT NOT NULL, n_failed INTEGER NOT NULL, f REAL, distance REAL) STRICT;\n"
    "INSERT INTO searches(id, method, state) VALUES(0, 'grid', x'01000000000000000200000000000000');\n"
    "INSERT INTO batches VALUES(0, 0, 1, 2, 0, 2, 'cpu', 'a processor', '4', 1, 0.1, 0.1, 0.1, 'then', 'abcdef');\n"
    "INSERT INTO events(time, kind, text) VALUES('then', 'started', 'cpu');\n";

typedef struct MigrationCase {
    Arena arena;
    Spec spec;
    RunOptions options;
    const char *folder, *path;
    FILE *messages;
    char *said;
    size_t said_size;
} MigrationCase;

static void migration_insert_campaign(MigrationCase *test, Database *database)
{
    Statement *statement = NULL;
    bool row = false;
    CHECK_OK(
        database_prepare(database,
                         "INSERT INTO campaign VALUES(1, 'old', 'old', 'bbob', ?, ?, ?, ?, 7, '0.1', ?, 'cc', 'id', "
                         "'host', 'then', 'then', NULL, 'interrupted', NULL, 3, 1)",
                         &statement));
    bind_text(statement, 1, test->spec.text);
    bind_text(statement, 2, test->spec.resolved);
    bind_text(statement, 3, test->spec.canonical);
    bind_text(statement, 4, test->spec.hash.hex);
    bind_integer(statement, 5, NUMERICS_VERSION);
    CHECK_OK(statement_step(statement, &row));
    statement_close(statement);
}

// A campaign of version 1 with two of its three trials; their numbers come from a run of today's.
static void migration_build(MigrationCase *test)
{
    Database *database = NULL;
    RunSummary summary;
    test->options.name = "whole";
    CHECK_OK(campaign_run(&test->spec, &test->options, &test->arena, &summary));
    CHECK_OK(folder_make(test->folder));
    CHECK_OK(database_open(test->path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, migration_schema_1));
    migration_insert_campaign(test, database);
    CHECK_OK(database_run(database,
                          arena_format(&test->arena, "ATTACH '%s/whole/campaign.db' AS whole", test->options.results)));
    CHECK_OK(database_run(database, "INSERT INTO trials SELECT * FROM whole.trials WHERE id < 2"));
    CHECK_OK(database_close(database));
}

static void migration_start(MigrationCase *test)
{
    *test = (MigrationCase){.path = NULL};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    CHECK_OK(spec_parse("old.yaml", migration_spec, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    test->messages = open_memstream(&test->said, &test->said_size);
    test->options = (RunOptions){.results = arena_copy(&test->arena, test_folder()),
                                 .backend = {.name = "cpu", .threads = 1},
                                 .progress = PROGRESS_NONE,
                                 .messages = test->messages};
    test->folder = arena_format(&test->arena, "%s/old", test->options.results);
    test->path = arena_format(&test->arena, "%s/" CAMPAIGN_DATABASE, test->folder);
    migration_build(test);
}

static void migration_end(MigrationCase *test)
{
    fclose(test->messages);
    free(test->said);
    arena_destroy(&test->arena);
}

static int64_t migration_integer(MigrationCase *test, const char *sql)
{
    Database *database = NULL;
    Statement *statement = NULL;
    bool row = false;
    CHECK_OK(database_open(test->path, DATABASE_READ, &database));
    CHECK_OK(database_prepare(database, sql, &statement));
    CHECK_OK(statement_step(statement, &row));
    const int64_t value = row ? column_integer(statement, 0) : -1;
    statement_close(statement);
    CHECK_OK(database_close(database));
    return value;
}

static Sha256Text migration_digest(MigrationCase *test, const char *name)
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

TEST(migration_of_version_1_when_it_goes_on)
{
    MigrationCase test;
    RunSummary summary;
    Database *database = NULL;
    SealDamage damage;
    migration_start(&test);
    const Sha256Text before = migration_digest(&test, "old"); // a reader reads it as it is
    CHECK_INTEGER(64, (int64_t)strlen(before.hex));
    CHECK_INTEGER(1, migration_integer(&test, "PRAGMA user_version"));
    test.options.name = "old";
    CHECK_OK(campaign_run(&test.spec, &test.options, &test.arena, &summary));
    CHECK_INTEGER(2, summary.trials_before);
    CHECK_INTEGER(3, summary.trials_done);
    CHECK_INTEGER(STORE_SCHEMA_VERSION, migration_integer(&test, "PRAGMA user_version"));
    CHECK_INTEGER(1, migration_integer(&test, "SELECT count(*) FROM events WHERE kind = 'migrated'"));
    CHECK_TEXT(migration_digest(&test, "whole").hex, migration_digest(&test, "old").hex);
    fflush(test.messages);
    CHECK(strstr(test.said, "schema version 1 ") != NULL);
    CHECK_OK(database_open(test.path, DATABASE_READ, &database));
    CHECK_OK(seal_check(database, &test.arena, &damage));
    CHECK_INTEGER(0, damage.count);
    CHECK_OK(database_close(database));
    migration_end(&test);
}

// The whole way or no step of it.
TEST(migration_that_fails_leaves_what_was)
{
    MigrationCase test;
    Database *database = NULL;
    int from = 0;
    migration_start(&test);
    CHECK_OK(database_open(test.path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "CREATE INDEX obstacle ON batches(digest)"));
    CHECK_ERROR(ERROR_MACHINE, schema_migrate(database, test.path, &test.arena, &from));
    CHECK_OK(database_close(database));
    CHECK_INTEGER(1, from);
    CHECK_INTEGER(1, migration_integer(&test, "PRAGMA user_version"));
    CHECK_INTEGER(0, migration_integer(&test, "SELECT count(*) FROM sqlite_schema WHERE name = 'digests'"));
    migration_end(&test);
}

TEST(migration_has_no_way_from_versions_that_never_were)
{
    MigrationCase test;
    StoredCampaign stored;
    Database *database = NULL;
    migration_start(&test);
    CHECK_OK(database_open(test.path, DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "PRAGMA user_version = 0"));
    CHECK_OK(database_close(database));
    CHECK_SAYS(ERROR_USER,
               "has schema version 0, and this program knows versions 1 to 7: use the program that wrote it",
               campaign_open(test.options.results, "old", &test.arena, &stored));
    migration_end(&test);
}
