// Versions of campaign.db's schema, and the way from each to the next. A new version is a row of the table below, with
// what makes it out of the one before; a database of an old version is read as it is, and migrated when a run or a
// repair opens it to write, in one transaction. A test builds each old version from its own text.
#include "migration.h"

#include "seal.h"
#include "store.h"

enum { SCHEMA_OLDEST = 1 };

typedef struct SchemaStep {
    const char *sql;
    Error (*then)(Database *database, Arena *arena); // may be NULL
} SchemaStep;

static Error schema_seal_declarations(Database *database, Arena *arena)
{
    (void)arena;
    return seal_schema(database);
}

// From version SCHEMA_OLDEST + i to the next.
static const SchemaStep schema_steps[STORE_SCHEMA_VERSION - SCHEMA_OLDEST] = {
    // 2: digests of all rows, in place of one a batch
    {"CREATE TABLE digests(name TEXT NOT NULL, block INTEGER NOT NULL, rows INTEGER NOT NULL,\n"
     "  digest INTEGER NOT NULL, PRIMARY KEY(name, block)) STRICT, WITHOUT ROWID;\n"
     "ALTER TABLE batches DROP COLUMN digest;",
     seal_all},
    // 3: extensions, retries
    {"CREATE TABLE segments(id INTEGER PRIMARY KEY, spec TEXT NOT NULL, resolved TEXT NOT NULL, hash TEXT NOT NULL,\n"
     "  first_id INTEGER NOT NULL, first_point INTEGER NOT NULL, decided INTEGER NOT NULL, time TEXT NOT NULL)\n"
     "  STRICT;\n"
     "CREATE TABLE retries(id INTEGER PRIMARY KEY, kinds TEXT NOT NULL, next INTEGER NOT NULL, end INTEGER NOT NULL,\n"
     "  trials INTEGER NOT NULL, recovered INTEGER NOT NULL, changed INTEGER NOT NULL, time TEXT NOT NULL,\n"
     "  finished TEXT) STRICT;\n",
     seal_all},
    // 4: where the time of a batch went
    {"ALTER TABLE batches ADD COLUMN copy_seconds REAL; ALTER TABLE batches ADD COLUMN search_seconds REAL;\n"
     "ALTER TABLE batches ADD COLUMN hdf5_seconds REAL; ALTER TABLE batches ADD COLUMN sqlite_seconds REAL;\n",
     seal_all},
    // 5: what a search that learns says of its rounds; no method of older versions had any
    {"ALTER TABLE rounds ADD COLUMN population INTEGER;\n"
     "ALTER TABLE rounds ADD COLUMN evaluations INTEGER;\n"
     "ALTER TABLE rounds ADD COLUMN sigma REAL;\n"
     "ALTER TABLE rounds ADD COLUMN condition REAL;\n"
     "ALTER TABLE rounds ADD COLUMN best REAL;\n"
     "ALTER TABLE rounds ADD COLUMN stop TEXT;\n"
     "CREATE TABLE round_rows(search INTEGER NOT NULL REFERENCES searches(id), first INTEGER NOT NULL,\n"
     "  last INTEGER NOT NULL, shard INTEGER NOT NULL REFERENCES shards(id), row INTEGER NOT NULL,\n"
     "  PRIMARY KEY(search, first)) STRICT, WITHOUT ROWID;\n"
     "CREATE TABLE sensitivity(parameter TEXT NOT NULL, measure TEXT NOT NULL, value REAL, low REAL, high REAL,\n"
     "  blocks INTEGER NOT NULL, left_out INTEGER NOT NULL, PRIMARY KEY(parameter, measure)) STRICT, WITHOUT ROWID;\n",
     schema_seal_declarations},
    // 6: where a campaign comes from; fronts of several objectives; outer grids
    {"CREATE TABLE origin(id INTEGER PRIMARY KEY, purpose TEXT NOT NULL, campaign TEXT NOT NULL, hash TEXT NOT NULL,\n"
     "  trial INTEGER, fitness REAL, time TEXT NOT NULL) STRICT;\n"
     "CREATE TABLE fronts(search INTEGER NOT NULL, round INTEGER NOT NULL, front INTEGER NOT NULL, hypervolume REAL,\n"
     "  PRIMARY KEY(search, round), FOREIGN KEY(search, round) REFERENCES rounds(search, round))\n"
     "  STRICT, WITHOUT ROWID;\n"
     "CREATE TABLE outer_points(search INTEGER NOT NULL, parameter TEXT NOT NULL, value REAL NOT NULL,\n"
     "  PRIMARY KEY(search, parameter)) STRICT, WITHOUT ROWID;\n",
     schema_seal_declarations},
    // 7: what --set changed; the most trials of a search that may end early
    {"CREATE TABLE overrides(id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL) STRICT;\n"
     "ALTER TABLE campaign ADD COLUMN trials_most INTEGER;\n",
     seal_all},
};

// A shard's name becomes a path: one that leads elsewhere was put there to have another file read, or moved away.
static Error schema_check_names(Database *database, const char *path)
{
    const char *name;
    Cursor shards =
        cursor_open(database, "SELECT name FROM shards WHERE name GLOB '*/*' OR name GLOB '.*' OR name = '' LIMIT 1");
    if (next_text(&shards, &name))
        cursor_stop(&shards, error_make(ERROR_USER,
                                        "%.300s names a shard \"%.60s\", which is no file of its folder: somebody "
                                        "changed it",
                                        path, name));
    return cursor_close(&shards);
}

Error schema_version(Database *database, const char *path, int *version)
{
    int64_t application = 0, schema = 0;
    TRY(store_integer(database, "PRAGMA application_id", 0, &application));
    TRY(store_integer(database, "PRAGMA user_version", 0, &schema));
    *version = (int)schema;
    if (application != STORE_APPLICATION_ID)
        return error_make(ERROR_USER, "%.300s is not a campaign of hopscotch", path);
    if (schema > STORE_SCHEMA_VERSION) {
        return error_make(
            ERROR_USER,
            "%.300s has schema version %lld, of a newer hopscotch; this one knows versions up to %d: use the "
            "program that wrote it, or a newer one",
            path, (long long)schema, STORE_SCHEMA_VERSION);
    }
    if (schema < SCHEMA_OLDEST) {
        return error_make(ERROR_USER,
                          "%.300s has schema version %lld, and this program knows versions %d to %d: use the "
                          "program that wrote it",
                          path, (long long)schema, SCHEMA_OLDEST, STORE_SCHEMA_VERSION);
    }
    return schema_check_names(database, path);
}

static Error schema_climb(Database *database, int version, Arena *arena)
{
    for (; version < STORE_SCHEMA_VERSION; version++) {
        const SchemaStep *step = &schema_steps[version - SCHEMA_OLDEST];
        TRY(database_run(database, step->sql));
        if (step->then != NULL) TRY(step->then(database, arena));
    }
    return database_run(database, arena_format(arena, "PRAGMA user_version = %d", STORE_SCHEMA_VERSION));
}

Error schema_migrate(Database *database, const char *path, Arena *arena, int *from)
{
    TRY(schema_version(database, path, from));
    if (*from == STORE_SCHEMA_VERSION) return error_none();
    TRY(database_run(database, "BEGIN IMMEDIATE"));
    Error error = schema_climb(database, *from, arena);
    if (error.kind == OK) error = database_run(database, "COMMIT");
    if (error.kind == OK) return error;
    const Error rollback = database_run(database, "ROLLBACK");
    (void)rollback; // SQLite has rolled back by itself after most errors
    return error;
}
