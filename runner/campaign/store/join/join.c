// See join.h.
#include "join.h"

#include "../ground/rows.h"

#include <string.h>

Error join_open(const CampaignLocation *location, Arena *arena, JoinSource *source)
{
    *source = (JoinSource){.location = *location, .lock = {.descriptor = -1}};
    TRY(campaign_lock(location->folder, location->name, arena, &source->lock));
    const Error error = campaign_open(location->results, location->name, arena, &source->campaign);
    if (error.kind != OK) join_close(source);
    return error;
}

void join_close(JoinSource *source)
{
    campaign_close(&source->campaign);
    lock_release(&source->lock);
}

// ---- files ----------------------------------------------------------------------------------------------------------

static Error join_copy_file(const JoinSource *source, const Store *store, const StoredShard *shard, const char *path,
                            const char *name)
{
    const CampaignLocation *location = &source->location;
    Arena arena;
    Bytes bytes;
    TRY(arena_create(&arena, (size_t)shard->bytes + ((size_t)64 << 10), "a shard that is copied"));
    Error error = file_read_stored(path, (size_t)shard->bytes, &arena, &bytes);
    if (error.kind == OK && strcmp(sha256_of(bytes.data, bytes.size).hex, shard->sha256) != 0)
        error =
            error_make(ERROR_MACHINE, "the shard %.300s differs from what was written; `%s` repairs it, then try again",
                       path, command_again(location->results, "doctor %.40s --repair", location->name).text);
    if (error.kind == OK) error = database_check_path(store->database); // the folder may now be another campaign's
    if (error.kind == OK) error = file_write(store->shards, name, bytes.data, bytes.size);
    arena_destroy(&arena);
    return error;
}

Error join_copy_files(const JoinSource *source, const Store *store, int64_t shift, const char *prefix, bool missing)
{
    StoredShard shard;
    char path[4096], name[32];
    TRY(folder_add(store->shards));
    if (store->blocks != NULL) TRY(trial_blocks_copy(source->campaign.database, store->shards, prefix));
    Cursor shards = shards_by_id(source->campaign.database, false);
    while (shard_next(&shards, &shard)) {
        snprintf(path, sizeof path, "%s/" CAMPAIGN_SHARDS "/%s", source->location.folder, shard.name);
        snprintf(name, sizeof name, "%06lld.h5", (long long)(shard.id + shift));
        if (!missing || !file_missing(path)) cursor_stop(&shards, join_copy_file(source, store, &shard, path, name));
    }
    return cursor_close(&shards);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static Error join_flush(Store *store, TrialRows *rows)
{
    TRY(store_insert_rows(store, rows));
    rows->count = 0;
    return error_none();
}

static Error join_trial(const JoinSource *source, Store *store, JoinChoice choose, void *context, TrialRows *rows)
{
    const int64_t stored = rows->id[rows->count];
    bool taken = true;
    if (choose != NULL) TRY(choose(context, rows, &taken));
    if (!taken) return error_none();
    TRY(replicates_read(&source->campaign, stored, rows)); // where they are stored, there is room for one row
    return ++rows->count == rows->capacity ? join_flush(store, rows) : error_none();
}

static Error join_trials_in(const JoinSource *source, Store *store, JoinChoice choose, void *context, Arena *arena)
{
    enum { JOIN_ROWS = 4096 }; // inserted by one statement
    const Spec *spec = store->spec;
    TrialRows rows;
    rows_take(spec, spec->replicates.store ? 1 : JOIN_ROWS, arena, &rows);
    Cursor trials = trial_rows(source->campaign.database, spec, arena);
    while (trial_rows_next(&trials, spec, &rows, rows.count))
        cursor_stop(&trials, join_trial(source, store, choose, context, &rows));
    TRY(cursor_close(&trials));
    return join_flush(store, &rows);
}

Error join_trials(const JoinSource *source, Store *store, JoinChoice choose, void *context)
{
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 30, "trials that are joined"));
    const Error error = join_trials_in(source, store, choose, context, &arena);
    arena_destroy(&arena);
    return error;
}

Error join_rows(const JoinSource *source, const Store *store, const char *select, const char *insert)
{
    Cursor from = cursor_open(source->campaign.database, select), to = cursor_open(store->database, insert);
    cursor_stop(&from, to.error);
    while (cursor_next(&from)) {
        for (int i = 0; i < cells_count(&from); i++) with_cell(&to, &from, i);
        cursor_next(&to);
        cursor_stop(&from, to.error);
    }
    cursor_stop(&from, cursor_close(&to));
    return cursor_close(&from);
}
