// Indexes, unused pages and copies of a campaign's database (queries.h).
#include "queries.h"

// ---- indexes --------------------------------------------------------------------------------------------------------

static const char *trials_index_name(const char *const *columns, int count, Arena *arena)
{
    const char *name = "trials_by";
    for (int i = 0; i < count; i++) name = arena_format(arena, "%s_%s", name, columns[i]);
    return sql_identifier(arena, name);
}

Error trials_index_make(Database *database, const char *const *columns, int count, Arena *arena)
{
    return database_make_index(database, arena_format(arena, "CREATE INDEX IF NOT EXISTS %s ON trials(%s)",
                                                      trials_index_name(columns, count, arena),
                                                      trial_columns_sql(columns, count, arena)));
}

Error trials_index_drop(Database *database, const char *const *columns, int count, Arena *arena)
{
    return database_run(database,
                        arena_format(arena, "DROP INDEX IF EXISTS %s", trials_index_name(columns, count, arena)));
}

Cursor trials_indexes(Database *database)
{
    return cursor_open(database, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'trials' AND sql "
                                 "IS NOT NULL ORDER BY name");
}

// ---- pages ----------------------------------------------------------------------------------------------------------

Error store_unused(const CampaignPlace *place, Arena *arena, int64_t *bytes)
{
    Database *database;
    int64_t pages = 0, size = 0;
    TRY(store_peek(place, arena, &database));
    Error error = store_integer(database, "PRAGMA freelist_count", 0, &pages);
    if (error.kind == OK) error = store_integer(database, "PRAGMA page_size", 0, &size);
    store_leave(database);
    *bytes = pages * size;
    return error;
}

Error store_compact(const char *path, bool shared_fs)
{
    Database *database = NULL;
    TRY(campaign_open_database(path, &database));
    Error error = store_share(database, shared_fs);
    if (error.kind == OK) error = database_run(database, "VACUUM");
    const Error closing = database_close(database);
    return error.kind != OK ? error : closing;
}

Error store_copy(Database *database, const char *path)
{
    Cursor copy = cursor_open(database, "VACUUM INTO ?");
    with_text(&copy, path);
    return cursor_run(&copy);
}
