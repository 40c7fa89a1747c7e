// What a crash can leave behind, and what becomes of it: temporary files are removed; a shard that no row names was
// written by a batch that was never committed, and is moved to quarantine/; a shard that is named but missing or
// damaged takes its arrays' rows with it, while the trials keep their scalars, so that the arrays are simulated
// again.
#include "store.h"

#include <stdio.h>
#include <string.h>

// Newest shards whose digest is checked at every start; of the others, which a crash did not touch, the size.
static const int64_t recovery_verified_bytes = 256LL << 20;

static bool recovery_is_temporary(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".tmp") == 0;
}

// Only in the folder of this database: another one may have been put in its place.
static Error recovery_remove_temporaries(const Store *store, const char *folder, StoreRecovery *recovery, Arena *arena)
{
    char **names = NULL;
    int count = 0;
    TRY(folder_list(folder, arena, &names, &count));
    for (int i = 0; i < count; i++) {
        if (!recovery_is_temporary(names[i])) continue;
        TRY(database_check_place(store->database));
        TRY(file_remove(arena_format(arena, "%s/%s", folder, names[i])));
        recovery->temporary_files++;
    }
    return error_none();
}

// To quarantine/NAME, or NAME.1, NAME.2, ... if one lies there already: nothing is ever overwritten.
static Error recovery_quarantine(const Store *store, const char *name, Arena *arena)
{
    const char *folder = arena_format(arena, "%s/" CAMPAIGN_QUARANTINE, store->folder);
    const char *to = arena_format(arena, "%s/%s", folder, name);
    TRY(database_check_place(store->database)); // else it is not this campaign's folder
    TRY(folder_add(folder));
    for (int i = 1; file_exists(to); i++) to = arena_format(arena, "%s/%s.%d", folder, name, i);
    return file_rename(arena_format(arena, "%s/%s", store->shards, name), to);
}

// ---- shards that no row names ---------------------------------------------------------------------------------------

static Error recovery_is_named(Statement *select, const char *name, bool *named)
{
    bool more = true;
    bind_text(select, 1, name);
    TRY(statement_step(select, named));
    if (*named) TRY(statement_step(select, &more)); // to the end, so that it can be bound anew
    return error_none();
}

static Error recovery_move_orphans(Store *store, StoreRecovery *recovery, Arena *arena)
{
    char **names = NULL;
    int count = 0;
    bool named = false;
    Statement *select = NULL;
    TRY(folder_list(store->shards, arena, &names, &count));
    TRY(database_prepare(store->database, "SELECT id FROM shards WHERE name = ?", &select));
    Error error = error_none();
    for (int i = 0; i < count && error.kind == OK; i++) {
        error = recovery_is_named(select, names[i], &named);
        if (error.kind != OK || named) continue;
        error = recovery_quarantine(store, names[i], arena);
        recovery->orphan_shards++;
    }
    statement_close(select);
    return error;
}

// ---- shards that are named ------------------------------------------------------------------------------------------

// Missing, of another size, or (the newest) of another digest.
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

// Ids of the damaged shards into the temporary table `damaged`; those files that are there go to quarantine.
static Error recovery_find_damaged(Store *store, Statement *select, Statement *insert, StoreRecovery *recovery,
                                   Arena *arena)
{
    int64_t verified = 0;
    bool row = false, more = false;
    TRY(statement_step(select, &row));
    for (; row; row = more) {
        const int64_t bytes = column_integer(select, 2);
        const char *name = arena_copy(arena, column_text(select, 1));
        const char *path = arena_format(arena, "%s/%s", store->shards, name);
        verified += bytes;
        if (recovery_is_damaged(path, bytes, column_text(select, 3), verified <= recovery_verified_bytes)) {
            bool none = false;
            bind_integer(insert, 1, column_integer(select, 0));
            TRY(statement_step(insert, &none));
            if (file_exists(path)) TRY(recovery_quarantine(store, name, arena));
            recovery->missing_shards++;
        }
        TRY(statement_step(select, &more));
    }
    return error_none();
}

static Error recovery_list_damaged(Store *store, StoreRecovery *recovery, Arena *arena)
{
    Statement *select = NULL, *insert = NULL;
    TRY(database_run(store->database, "CREATE TEMP TABLE IF NOT EXISTS damaged(id INTEGER PRIMARY KEY); "
                                      "DELETE FROM temp.damaged;"));
    TRY(database_prepare(store->database, "SELECT id, name, bytes, sha256 FROM shards ORDER BY id DESC", &select));
    Error error = database_prepare(store->database, "INSERT INTO temp.damaged VALUES(?)", &insert);
    if (error.kind == OK) error = recovery_find_damaged(store, select, insert, recovery, arena);
    if (insert != NULL) statement_close(insert);
    statement_close(select);
    return error;
}

static Error recovery_drop_damaged(Store *store, StoreRecovery *recovery, Arena *arena)
{
    TRY(recovery_list_damaged(store, recovery, arena));
    if (recovery->missing_shards == 0) return error_none();
    TRY(database_run(store->database, "BEGIN IMMEDIATE"));
    return store_end(store, database_run(store->database,
                                         "DELETE FROM trajectories WHERE shard IN (SELECT id FROM temp.damaged); "
                                         "DELETE FROM debug_rows WHERE shard IN (SELECT id FROM temp.damaged); "
                                         "DELETE FROM round_rows WHERE shard IN (SELECT id FROM temp.damaged); "
                                         "DELETE FROM shards WHERE id IN (SELECT id FROM temp.damaged);"));
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error recovery_steps(Store *store, StoreRecovery *recovery, Arena *arena)
{
    TRY(recovery_remove_temporaries(store, store->folder, recovery, arena));
    TRY(recovery_remove_temporaries(store, store->shards, recovery, arena));
    TRY(recovery_move_orphans(store, recovery, arena));
    return recovery_drop_damaged(store, recovery, arena);
}

static Error recovery_tell(Store *store, const StoreRecovery *recovery, FILE *messages)
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
    if (error.kind == OK) error = recovery_tell(store, recovery, messages);
    return error;
}
