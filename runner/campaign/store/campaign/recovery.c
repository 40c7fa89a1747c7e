// Cleans up after a crash. Temporary files are removed. A shard that no row names belongs to a batch that was never
// committed: it is moved to quarantine/. If a shard is missing or damaged, the rows of its arrays are deleted and the
// rows of the trials stay, so that the arrays are simulated again.
#include "lost.h"
#include "store.h"
#include "../trials/trial_blocks.h"

#include <stdio.h>
#include <string.h>

// The newest shards, whose digests are checked at every start. A crash did not touch the others: only their sizes are.
static const int64_t recovery_verified_bytes = 256LL << 20;

static bool recovery_is_temporary(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".tmp") == 0;
}

// Only in the folder of this database: another folder may have replaced it.
static Error recovery_remove_temporaries(const Store *store, const char *folder, StoreRecovery *recovery, Arena *arena)
{
    char **names = NULL;
    int count = 0;
    TRY(folder_list(folder, arena, &names, &count));
    for (int i = 0; i < count; i++) {
        if (!recovery_is_temporary(names[i])) continue;
        TRY(database_check_path(store->database));
        TRY(file_remove(arena_format(arena, "%s/%s", folder, names[i])));
        recovery->temporary_files++;
    }
    return error_none();
}

// To quarantine/NAME, or NAME.1, NAME.2, ... if that exists: nothing is overwritten.
static Error recovery_quarantine(const Store *store, const char *name, Arena *arena)
{
    const char *folder = arena_format(arena, "%s/" CAMPAIGN_QUARANTINE, store->folder);
    const char *to = arena_format(arena, "%s/%s", folder, name);
    TRY(database_check_path(store->database)); // the folder may now be another campaign's
    TRY(folder_add(folder));
    for (int i = 1; file_exists(to); i++) to = arena_format(arena, "%s/%s.%d", folder, name, i);
    return file_rename(arena_format(arena, "%s/%s", store->shards, name), to);
}

// ---- shards that no row names ---------------------------------------------------------------------------------------

static Error recovery_move_orphans(Store *store, StoreRecovery *recovery, Arena *arena)
{
    char **names = NULL;
    int count = 0;
    TRY(folder_list(store->shards, arena, &names, &count));
    Cursor shards = shards_by_name(store->database);
    for (int i = 0; i < count; i++) {
        const bool named = shard_is_named(&shards, names[i]);
        if (named || trial_blocks_is_file(names[i]) || // files of blocks: trial_blocks_clear
            shards.error.kind != OK)
            continue;
        cursor_stop(&shards, recovery_quarantine(store, names[i], arena));
        recovery->orphan_shards++;
    }
    return cursor_close(&shards);
}

// ---- shards that are named ------------------------------------------------------------------------------------------

// Whether the shard is missing, has another size, or (the newest shards) another digest.
static bool recovery_is_damaged(const char *path, int64_t bytes, const char *sha256, bool verify)
{
    int64_t size = -1;
    if (!file_exists(path) || file_size(path, &size).kind != OK || size != bytes) return true;
    if (!verify) return false;
    Arena arena;
    Bytes content;
    if (arena_create(&arena, (size_t)size + 4096, "a shard that is verified").kind != OK) return false;
    const Error error = file_read_stored(path, (size_t)size, &arena, &content);
    const bool damaged = error.kind != OK || strcmp(sha256_of(content.data, content.size).hex, sha256) != 0;
    arena_destroy(&arena);
    return damaged;
}

// Lists damaged shards as lost, and moves their files, if they exist, to quarantine.
static Error recovery_look_at(Store *store, const StoredShard *shard, bool verify, StoreRecovery *recovery,
                              Arena *arena)
{
    const char *name = arena_copy(arena, shard->name);
    const char *path = arena_format(arena, "%s/%s", store->shards, name);
    if (!recovery_is_damaged(path, shard->bytes, shard->sha256, verify)) return error_none();
    recovery->missing_shards++;
    TRY(lost_shards_add(store->database, shard->id));
    return file_exists(path) ? recovery_quarantine(store, name, arena) : error_none();
}

static Error recovery_drop_damaged(Store *store, StoreRecovery *recovery, Arena *arena)
{
    int64_t verified = 0;
    StoredShard shard;
    TRY(lost_shards_begin(store->database));
    Cursor shards = shards_by_id(store->database, true);
    while (shard_next(&shards, &shard)) {
        verified += shard.bytes;
        cursor_stop(&shards, recovery_look_at(store, &shard, verified <= recovery_verified_bytes, recovery, arena));
    }
    TRY(cursor_close(&shards));
    if (recovery->missing_shards == 0) return error_none();
    TRY(store_begin(store));
    return store_end(store, lost_shards_forget(store->database));
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error recovery_steps(Store *store, StoreRecovery *recovery, Arena *arena)
{
    TRY(recovery_remove_temporaries(store, store->folder, recovery, arena));
    TRY(recovery_remove_temporaries(store, store->shards, recovery, arena));
    TRY(recovery_move_orphans(store, recovery, arena));
    return recovery_drop_damaged(store, recovery, arena);
}

static Error recovery_report(Store *store, const StoreRecovery *recovery, FILE *messages)
{
    if (recovery->temporary_files + recovery->orphan_shards + recovery->missing_shards == 0) return error_none();
    if (messages != NULL) {
        fprintf(messages,
                "recovered %s after a crash: %d temporary files removed, %d uncommitted shards moved to "
                "quarantine, %d shards missing or damaged%s\n",
                store->name, recovery->temporary_files, recovery->orphan_shards, recovery->missing_shards,
                recovery->missing_shards > 0 ? " (their arrays are recorded again)" : "");
    }
    return store_event(store, "recovered", "%d temporary files, %d uncommitted shards, %d missing shards",
                       recovery->temporary_files, recovery->orphan_shards, recovery->missing_shards);
}

Error store_recover(Store *store, StoreRecovery *recovery, FILE *messages)
{
    Arena arena;
    *recovery = (StoreRecovery){0};
    TRY(folder_add(store->shards));
    TRY(arena_create_growing(&arena, (size_t)1 << 30, "names of files that are looked through"));
    Error error = recovery_steps(store, recovery, &arena);
    arena_destroy(&arena);
    if (error.kind == OK) error = recovery_report(store, recovery, messages);
    return error;
}
