// Unused pages and copies of a campaign's database (queries.h).
#include "../queries.h"
#include "store.h"

Error store_unused(const CampaignLocation *location, Arena *arena, int64_t *bytes)
{
    Database *database;
    int64_t pages = 0, size = 0;
    TRY(store_peek(location, arena, &database));
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

Error store_copy(const char *from, const char *to)
{
    Database *database = NULL;
    TRY(database_open(from, DATABASE_READ, &database)); // one that holds a state can't be copied
    Cursor copy = cursor_open(database, "VACUUM INTO ?");
    with_text(&copy, to);
    const Error error = cursor_run(&copy);
    store_leave(database);
    return error;
}
