// See integrity.h.
#include "integrity.h"

#include "../campaign/store.h"

#include <string.h>

Error integrity_version(Database *database, int64_t *version)
{
    return store_integer(database, "PRAGMA data_version", 0, version);
}

Error integrity_begin(Database *database, int64_t *version)
{
    TRY(store_read_begin(database));
    TRY(store_integer(database, "SELECT count(*) FROM sqlite_schema", 0, version)); // reading begins here
    return integrity_version(database, version);
}

// Indices that SQLite makes of itself, for UNIQUE and PRIMARY KEY. Its own check does not look at their declarations.
#define INTEGRITY_OF_INDICES                                                                                           \
    "SELECT 'the declaration of the index ' || name || ' is damaged' FROM sqlite_schema AS s WHERE sql IS NULL AND "   \
    "NOT (type = 'index' AND name GLOB 'sqlite_autoindex_' || tbl_name || '_[0-9]*' AND "                              \
    "EXISTS (SELECT 1 FROM sqlite_schema AS t WHERE t.type = 'table' AND t.name = s.tbl_name)) LIMIT 20"

// Runs a query. True: every row of its answer says "ok".
static bool integrity_is_ok(Database *database, const char *sql)
{
    const char *text;
    bool ok = true;
    Cursor findings = cursor_open(database, sql);
    while (ok && next_text(&findings, &text)) ok = strcmp(text, "ok") == 0;
    return cursor_close(&findings).kind == OK && ok;
}

// integrity_check looks up every row of trials in each index, one by one. quick_check looks at all but the indices and
// the order of tables WITHOUT ROWID.
bool integrity_is_sound(Database *database, Arena *arena)
{
    const char *table;
    bool sound = integrity_is_ok(database, "PRAGMA quick_check") && integrity_is_ok(database, INTEGRITY_OF_INDICES);
    Cursor tables = cursor_open(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'trials'");
    while (next_text(&tables, &table) && sound)
        sound =
            integrity_is_ok(database, arena_format(arena, "PRAGMA integrity_check(%s)", sql_identifier(arena, table)));
    return cursor_close(&tables).kind == OK && sound && indices_match(database, arena);
}

Cursor integrity_findings(Database *database)
{
    return cursor_open(database, "SELECT integrity_check FROM pragma_integrity_check(20) UNION ALL "
                                 "SELECT * FROM (" INTEGRITY_OF_INDICES ")");
}

Cursor integrity_references(Database *database)
{
    return cursor_open(database, "SELECT format('%s: row %d of it names a row of %s that is not there', \"table\", "
                                 "rowid, parent) FROM pragma_foreign_key_check LIMIT 21");
}

bool integrity_holds(Database *database)
{
    return integrity_is_ok(database, "PRAGMA integrity_check(1)") && integrity_is_ok(database, INTEGRITY_OF_INDICES);
}

void integrity_mend(Database *database, const char **by)
{
    static const char *const remedies[] = {"REINDEX", "VACUUM"};
    *by = NULL;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies && *by == NULL; i++) {
        const Error error = database_run(database, remedies[i]);
        if (error.kind == OK && integrity_holds(database)) *by = remedies[i];
    }
}

Error integrity_ignore_references(Database *database) { return database_run(database, "PRAGMA foreign_keys = OFF"); }
