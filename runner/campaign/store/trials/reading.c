// A campaign's database for reading: its trials are rows or blocks, and the reader sees a table in both cases.
#include "../../campaign.h"

#include "trial_blocks.h"

Error store_peek(const CampaignLocation *location, Arena *arena, Database **database)
{
    TRY(database_open(arena_format(arena, "%s/" CAMPAIGN_DATABASE, location->folder), DATABASE_READ, database));
    const Error error = trial_blocks_show(*database);
    if (error.kind != OK) store_leave(*database);
    if (error.kind != OK) *database = NULL;
    return error;
}

void store_leave(Database *database)
{
    const Error closing = database_close(database);
    (void)closing; // a reader has nothing to lose
}

Error store_read_begin(Database *database)
{
    TRY(trial_blocks_show(database));
    return database_is_held(database) ? error_none() : database_run(database, "BEGIN");
}

Error store_read_end(Database *database, Error error)
{
    const Error ended = database_is_held(database) ? error_none() : database_run(database, "COMMIT");
    return error.kind == OK ? ended : error;
}
