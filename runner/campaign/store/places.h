// Where arrays lie: shards, and the lanes in them (places.c).
#ifndef HOPSCOTCH_PLACES_H
#define HOPSCOTCH_PLACES_H

#include "cursor.h"
#include "recording.h"

// A shard that is committed; its texts are valid until the next one.
typedef struct StoredShard {
    int64_t id, bytes;
    const char *name, *sha256;
} StoredShard;
Cursor shards_by_id(Database *database, bool newest_first);
bool shard_next(Cursor *shards, StoredShard *shard);
Error shards_count(Database *database, int64_t *count);
Error shards_bytes(Database *database, double *bytes);
Cursor shards_by_name(Database *database);
bool shard_is_named(Cursor *shards, const char *name);

// The arrays of a lane: row `row` of a shard, whose name and digest are valid until the next one.
typedef struct ArrayPlace {
    int64_t trial, replicate, shard, row, samples;
    const char *name, *sha256;
    int64_t first; // samples of the lanes before it in its shard: only of places_of_trial
} ArrayPlace;
bool place_next(Cursor *places, ArrayPlace *place);
Cursor places_of_trial(Database *database, RecordKind kind, int64_t trial);
Cursor places_of_shard(Database *database, RecordKind kind, int64_t shard); // by row; without the shard's name
// Of trials in the temporary table `wanted` (record_ask), by trial.
Cursor places_wanted(Database *database, const Recording *recording, Arena *arena);
// By shard and row, of arrays that have the columns of the recording; and how many places there are in all.
Cursor places_alike(Database *database, const Recording *recording, Arena *arena);
// Inserts places: those that are there stay.
Cursor places_filler(Database *database, const Recording *recording, Arena *arena);
void place_add(Cursor *filler, const ShardLane *lane, int64_t shard, int64_t row, const char *recipe);
Error places_count(Database *database, const Recording *recording, Arena *arena, int64_t *count);

#endif
