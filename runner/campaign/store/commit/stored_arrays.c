// Where arrays lie: shards, and their rows (queries.h).
#include "../queries.h"

#include <string.h>

// ---- shards ---------------------------------------------------------------------------------------------------------

Cursor shards_by_id(Database *database, bool newest_first)
{
    return cursor_open(database, newest_first ? "SELECT id, bytes, name, sha256 FROM shards ORDER BY id DESC"
                                              : "SELECT id, bytes, name, sha256 FROM shards ORDER BY id");
}

bool shard_next(Cursor *shards, StoredShard *shard)
{
    if (!cursor_next(shards)) return false;
    *shard =
        (StoredShard){cell_integer(shards, 0), cell_integer(shards, 1), cell_text(shards, 2), cell_text(shards, 3)};
    return true;
}

Error shards_count(Database *database, int64_t *count)
{
    return store_integer(database, "SELECT count(*) FROM shards", 0, count);
}

Error shards_bytes(Database *database, double *bytes)
{
    int64_t sum = 0;
    TRY(store_integer(database, "SELECT ifnull(sum(bytes), 0) FROM shards", 0, &sum));
    *bytes = (double)sum;
    return error_none();
}

Cursor shards_by_name(Database *database) { return cursor_open(database, "SELECT id FROM shards WHERE name = ?"); }

bool shard_is_named(Cursor *shards, const char *name)
{
    with_text(shards, name);
    return cursor_next(shards);
}

// ---- lanes ----------------------------------------------------------------------------------------------------------

#define ARRAYS "SELECT trial, replicate, shard, row, samples, "

bool array_next(Cursor *arrays, StoredArray *array)
{
    if (!cursor_next(arrays)) return false;
    *array = (StoredArray){.trial = cell_integer(arrays, 0),
                           .replicate = cell_integer(arrays, 1),
                           .shard = cell_integer(arrays, 2),
                           .row = cell_integer(arrays, 3),
                           .samples = cell_integer(arrays, 4),
                           .name = cell_text(arrays, 5),
                           .sha256 = cell_text(arrays, 6),
                           .first = cell_integer(arrays, 7)};
    return true;
}

// The lanes of a shard follow each other in every dataset.
#define ARRAYS_OF_TRIAL(table)                                                                                         \
    ARRAYS "s.name, s.sha256,"                                                                                         \
           " (SELECT coalesce(sum(b.samples), 0) FROM " table " b WHERE b.shard = t.shard AND b.row < t.row)"          \
           " FROM " table " t JOIN shards s ON s.id = t.shard WHERE t.trial = ? ORDER BY t.replicate"
#define ARRAYS_OF_SHARD(table) ARRAYS "'', '', 0 FROM " table " WHERE shard = ? ORDER BY row"

Cursor arrays_of_trial(Database *database, RecordKind kind, int64_t trial)
{
    Cursor arrays = cursor_open(database, kind == RECORD_TRAJECTORIES ? ARRAYS_OF_TRIAL("trajectories")
                                                                      : ARRAYS_OF_TRIAL("debug_rows"));
    with_integer(&arrays, trial);
    return arrays;
}

Cursor arrays_of_shard(Database *database, RecordKind kind, int64_t shard)
{
    Cursor arrays = cursor_open(database, kind == RECORD_TRAJECTORIES ? ARRAYS_OF_SHARD("trajectories")
                                                                      : ARRAYS_OF_SHARD("debug_rows"));
    with_integer(&arrays, shard);
    return arrays;
}

#undef ARRAYS_OF_TRIAL
#undef ARRAYS_OF_SHARD

static Cursor arrays_of(Database *database, const Recording *recording, const char *tail, Arena *arena)
{
    return cursor_open(database,
                       arena_format(arena, ARRAYS "name, sha256, 0 FROM %s JOIN shards ON shards.id = shard %s",
                                    recording->table, tail));
}

Cursor arrays_wanted(Database *database, const Recording *recording, Arena *arena)
{
    return arrays_of(database, recording, "WHERE trial IN temp.wanted ORDER BY trial, replicate", arena);
}

// Arrays with other columns can't be exported together.
Cursor arrays_alike(Database *database, const Recording *recording, Arena *arena)
{
    const char *of = recording->columns_recipe,
               *same = of[0] == '\0' ? "" : arena_format(arena, "WHERE substr(recipe, -%zu) = '%s' ", strlen(of), of);
    return arrays_of(database, recording, arena_format(arena, "%sORDER BY shard, row", same), arena);
}

Error arrays_count(Database *database, const Recording *recording, Arena *arena, int64_t *count)
{
    return store_integer(database, arena_format(arena, "SELECT count(*) FROM %s", recording->table), 0, count);
}

#undef ARRAYS

Cursor arrays_filler(Database *database, const Recording *recording, Arena *arena)
{
    return cursor_open(database,
                       arena_format(arena, "INSERT OR IGNORE INTO %s VALUES(?, ?, ?, ?, ?, ?)", recording->table));
}

void array_add(Cursor *filler, const ShardLane *lane, int64_t shard, int64_t row, const char *recipe)
{
    with_integer(filler, lane->trial);
    with_integer(filler, lane->replicate);
    with_integer(filler, shard);
    with_integer(filler, row);
    with_integer(filler, lane->length);
    with_text(filler, recipe);
    cursor_next(filler);
}
