// Lost shards, in a temporary table, and the rows that refer to them (lost.c).
#ifndef HOPSCOTCH_LOST_H
#define HOPSCOTCH_LOST_H

#include "../queries.h"

Error lost_shards_begin(Database *database);                                                  // an empty table
Error lost_shards_add(Database *database, int64_t shard);                                     // by its id
Error lost_shards_add_unlisted(Database *database, const Recording *recording, Arena *arena); // not in table shards
Error lost_shards_count(Database *database, int64_t *count, int64_t *last);                   // last: the greatest id
// Deletes the rows of the lost shards and of their arrays. Within a transaction.
Error lost_shards_forget(Database *database);
// Replaces the temporary table `wanted` by the trials of the lost arrays.
Error lost_shards_want(Database *database, const Recording *recording, Arena *arena);
// Deletes the rows of arrays in shards that are not lost, and of trials that do not exist.
Error lost_shards_delete_others(Database *database, const Recording *recording, Arena *arena);

#endif
