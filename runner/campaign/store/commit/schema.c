// The tables of campaign.db; and the check that a database is a campaign's, of a known version. The columns of the
// tables trials, best and replicates follow from the spec (rows.c).
#include "asked.h"
#include "../trials/best_rows.h"
#include "../ground/cursor.h"
#include "kept_rows.h"
#include "race_rows.h"
#include "../queries.h"
#include "../trials/rank.h"
#include "../ground/rows.h"
#include "schema.h"
#include "../trials/trial_blocks.h"

static const char schema_sql[] =
    "CREATE TABLE campaign(\n"
    "  id INTEGER PRIMARY KEY CHECK(id = 1), name TEXT NOT NULL, experiment TEXT NOT NULL, model TEXT NOT NULL,\n"
    "  spec TEXT NOT NULL, resolved TEXT NOT NULL, canonical TEXT NOT NULL, hash TEXT NOT NULL,\n"
    "  seed INTEGER NOT NULL, program_version TEXT NOT NULL, numerics_version INTEGER NOT NULL,\n"
    "  compiler TEXT NOT NULL, commit_id TEXT NOT NULL, host TEXT NOT NULL, created TEXT NOT NULL,\n"
    "  started TEXT, finished TEXT, state TEXT NOT NULL, reason TEXT, trials_total INTEGER,\n"
    "  replicates INTEGER NOT NULL, trials_most INTEGER) STRICT;\n"
    "CREATE TABLE searches(id INTEGER PRIMARY KEY, method TEXT NOT NULL, state BLOB, previous BLOB,\n"
    "  stop_reason TEXT) STRICT;\n"
    "CREATE TABLE rounds(search INTEGER NOT NULL REFERENCES searches(id), round INTEGER NOT NULL, debug BLOB,\n"
    "  population INTEGER, evaluations INTEGER, sigma REAL, condition REAL, best REAL, stop TEXT,\n"
    "  PRIMARY KEY(search, round)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE fronts(search INTEGER NOT NULL, round INTEGER NOT NULL, front INTEGER NOT NULL, hypervolume REAL,\n"
    "  PRIMARY KEY(search, round), FOREIGN KEY(search, round) REFERENCES rounds(search, round))\n"
    "  STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE batches(id INTEGER PRIMARY KEY, first_trial INTEGER NOT NULL, last_trial INTEGER NOT NULL,\n"
    "  trials INTEGER NOT NULL, failures INTEGER NOT NULL, lanes INTEGER NOT NULL, backend TEXT NOT NULL,\n"
    "  device TEXT NOT NULL, version TEXT NOT NULL, numerics_version INTEGER NOT NULL, kernel_seconds REAL,\n"
    "  wait_seconds REAL, wall_seconds REAL, committed TEXT NOT NULL, copy_seconds REAL, search_seconds REAL,\n"
    "  hdf5_seconds REAL, sqlite_seconds REAL, kernel TEXT) STRICT;\n"
    "CREATE TABLE shards(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL,\n"
    "  sha256 TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE trajectories(trial INTEGER NOT NULL%s, replicate INTEGER NOT NULL,\n"
    "  shard INTEGER NOT NULL REFERENCES shards(id), row INTEGER NOT NULL, samples INTEGER NOT NULL,\n"
    "  recipe TEXT NOT NULL, PRIMARY KEY(trial, replicate)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE debug_rows(trial INTEGER NOT NULL%s, replicate INTEGER NOT NULL,\n"
    "  shard INTEGER NOT NULL REFERENCES shards(id), row INTEGER NOT NULL, samples INTEGER NOT NULL,\n"
    "  recipe TEXT NOT NULL, PRIMARY KEY(trial, replicate)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE round_rows(search INTEGER NOT NULL REFERENCES searches(id), first INTEGER NOT NULL,\n"
    "  last INTEGER NOT NULL, shard INTEGER NOT NULL REFERENCES shards(id), row INTEGER NOT NULL,\n"
    "  PRIMARY KEY(search, first)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE sensitivity(parameter TEXT NOT NULL, measure TEXT NOT NULL, value REAL, low REAL, high REAL,\n"
    "  blocks INTEGER NOT NULL, left_out INTEGER NOT NULL, PRIMARY KEY(parameter, measure)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE outer_points(search INTEGER NOT NULL, parameter TEXT NOT NULL, value %s NOT NULL,\n"
    "  PRIMARY KEY(search, parameter)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE segments(id INTEGER PRIMARY KEY, spec TEXT NOT NULL, resolved TEXT NOT NULL, hash TEXT NOT NULL,\n"
    "  first_id INTEGER NOT NULL, first_point INTEGER NOT NULL, decided INTEGER NOT NULL, time TEXT NOT NULL)\n"
    "  STRICT;\n"
    "CREATE TABLE overrides(id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE retries(id INTEGER PRIMARY KEY, kinds TEXT NOT NULL, next INTEGER NOT NULL, end INTEGER NOT NULL,\n"
    "  trials INTEGER NOT NULL, recovered INTEGER NOT NULL, changed INTEGER NOT NULL, time TEXT NOT NULL,\n"
    "  finished TEXT) STRICT;\n"
    "CREATE TABLE origin(id INTEGER PRIMARY KEY, purpose TEXT NOT NULL, campaign TEXT NOT NULL, hash TEXT NOT NULL,\n"
    "  trial INTEGER, fitness REAL, time TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE events(id INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE tags(tag TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE notes(time TEXT NOT NULL, text TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE digests(name TEXT NOT NULL, block INTEGER NOT NULL, rows INTEGER NOT NULL,\n"
    "  digest INTEGER NOT NULL, PRIMARY KEY(name, block)) STRICT, WITHOUT ROWID;\n";

// The trials as rows, the best of them as a view; or as blocks, to which no row can refer, the best of them as rows.
static Error schema_make_trials(Database *database, const Spec *spec, bool blocks, Arena *arena)
{
    if (blocks) return trial_blocks_make(database, spec, arena);
    TRY(database_run(database, rows_table_sql(spec, "trials", arena)));
    return database_run(database,
                        arena_format(arena,
                                     "CREATE VIEW best AS SELECT * FROM trials WHERE %s IS NOT NULL ORDER BY %s, id "
                                     "LIMIT %d",
                                     rows_outcome_name(spec), rank_order(spec, ORDER_TERMS_MAX).text, BEST_ROWS));
}

// Of outer parameters: some may be words.
static const char *schema_outer_type(const Spec *spec)
{
    for (int i = 0; i < spec->n_outer; i++) {
        if (rows_choices(spec, spec->n_axes + spec->n_derived + i) != NULL) return "ANY";
    }
    return "REAL";
}

Error schema_make(Database *database, const Spec *spec, bool blocks, Arena *arena)
{
    TRY(database_run(database, arena_format(arena, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                                            STORE_APPLICATION_ID, STORE_SCHEMA_VERSION)));
    const char *trial = blocks ? "" : " REFERENCES trials(id)";
    TRY(database_run(database, arena_format(arena, schema_sql, trial, trial, schema_outer_type(spec))));
    if (spec->method->gradient_column > 0) TRY(gradients_make(database));
    if (spec->model->by_hand) TRY(asked_make(database));
    TRY(kept_make(database, spec));
    TRY(race_make(database, spec));
    TRY(schema_make_trials(database, spec, blocks, arena));
    return spec->replicates.store ? database_run(database, rows_replicates_sql(spec, arena)) : error_none();
}

// The name of a shard becomes a path. A name that leads out of the folder was put there to read or move another file.
static Error schema_check_names(Database *database, const char *path)
{
    const char *name;
    Cursor shards =
        cursor_open(database, "SELECT name FROM shards WHERE name GLOB '*/*' OR name GLOB '.*' OR name = '' LIMIT 1");
    if (next_text(&shards, &name))
        cursor_stop(&shards, error_make(ERROR_USER,
                                        "%.300s names a shard \"%.60s\", which is not a file in its folder: another "
                                        "program changed the database",
                                        path, name));
    return cursor_close(&shards);
}

Error schema_version(Database *database, int64_t *version)
{
    int64_t application = 0;
    *version = 0;
    TRY(store_integer(database, "PRAGMA application_id", 0, &application));
    return application == STORE_APPLICATION_ID ? store_integer(database, "PRAGMA user_version", 0, version)
                                               : error_none();
}

bool schema_is_known(int64_t version)
{
    return version == STORE_SCHEMA_VERSION || version == STORE_SCHEMA_WITH_SUMS ||
           version == STORE_SCHEMA_WITH_BLOCKS || version == STORE_SCHEMA_WITH_WORDS;
}

Error schema_check(Database *database, const char *path)
{
    int64_t version = 0, tables = 0;
    TRY(schema_version(database, &version));
    if (version == 0) TRY(store_integer(database, "SELECT count(*) FROM sqlite_schema", 0, &tables));
    if (version == 0 && tables == 0) return campaign_is_empty(path);
    if (version == 0) return error_make(ERROR_USER, "%.300s is not a campaign of hopscotch", path);
    if (!schema_is_known(version))
        return error_make(
            ERROR_USER,
            "%.300s has schema version %lld, which this program does not know: use the program that wrote it, or run "
            "the spec again under a new name",
            path, (long long)version);
    return schema_check_names(database, path);
}
