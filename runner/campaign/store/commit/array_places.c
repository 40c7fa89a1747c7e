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

#define PLACES "SELECT trial, replicate, shard, row, samples, "

bool place_next(Cursor *places, ArrayPlace *place)
{
    if (!cursor_next(places)) return false;
    *place = (ArrayPlace){.trial = cell_integer(places, 0),
                          .replicate = cell_integer(places, 1),
                          .shard = cell_integer(places, 2),
                          .row = cell_integer(places, 3),
                          .samples = cell_integer(places, 4),
                          .name = cell_text(places, 5),
                          .sha256 = cell_text(places, 6),
                          .first = cell_integer(places, 7)};
    return true;
}

// The lanes of a shard follow each other in every dataset.
#define PLACES_OF_TRIAL(table)                                                                                         \
    PLACES "s.name, s.sha256,"                                                                                         \
           " (SELECT coalesce(sum(b.samples), 0) FROM " table " b WHERE b.shard = t.shard AND b.row < t.row)"          \
           " FROM " table " t JOIN shards s ON s.id = t.shard WHERE t.trial = ? ORDER BY t.replicate"
#define PLACES_OF_SHARD(table) PLACES "'', '', 0 FROM " table " WHERE shard = ? ORDER BY row"

Cursor places_of_trial(Database *database, RecordKind kind, int64_t trial)
{
    Cursor places = cursor_open(database, kind == RECORD_TRAJECTORIES ? PLACES_OF_TRIAL("trajectories")
                                                                      : PLACES_OF_TRIAL("debug_rows"));
    with_integer(&places, trial);
    return places;
}

Cursor places_of_shard(Database *database, RecordKind kind, int64_t shard)
{
    Cursor places = cursor_open(database, kind == RECORD_TRAJECTORIES ? PLACES_OF_SHARD("trajectories")
                                                                      : PLACES_OF_SHARD("debug_rows"));
    with_integer(&places, shard);
    return places;
}

#undef PLACES_OF_TRIAL
#undef PLACES_OF_SHARD

static Cursor places_of(Database *database, const Recording *recording, const char *tail, Arena *arena)
{
    return cursor_open(database,
                       arena_format(arena, PLACES "name, sha256, 0 FROM %s JOIN shards ON shards.id = shard %s",
                                    recording->table, tail));
}

Cursor places_wanted(Database *database, const Recording *recording, Arena *arena)
{
    return places_of(database, recording, "WHERE trial IN temp.wanted ORDER BY trial, replicate", arena);
}

// Arrays with other columns can't be exported together.
Cursor places_alike(Database *database, const Recording *recording, Arena *arena)
{
    const char *of = recording->columns_recipe,
               *same = of[0] == '\0' ? "" : arena_format(arena, "WHERE substr(recipe, -%zu) = '%s' ", strlen(of), of);
    return places_of(database, recording, arena_format(arena, "%sORDER BY shard, row", same), arena);
}

Error places_count(Database *database, const Recording *recording, Arena *arena, int64_t *count)
{
    return store_integer(database, arena_format(arena, "SELECT count(*) FROM %s", recording->table), 0, count);
}

#undef PLACES

Cursor places_filler(Database *database, const Recording *recording, Arena *arena)
{
    return cursor_open(database,
                       arena_format(arena, "INSERT OR IGNORE INTO %s VALUES(?, ?, ?, ?, ?, ?)", recording->table));
}

void place_add(Cursor *filler, const ShardLane *lane, int64_t shard, int64_t row, const char *recipe)
{
    with_integer(filler, lane->trial);
    with_integer(filler, lane->replicate);
    with_integer(filler, shard);
    with_integer(filler, row);
    with_integer(filler, lane->length);
    with_text(filler, recipe);
    cursor_next(filler);
}
