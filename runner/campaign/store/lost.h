// Shards that are lost, listed in a temporary table, and all that names them (lost.c).
#ifndef HOPSCOTCH_LOST_H
#define HOPSCOTCH_LOST_H

#include "queries.h"

Error lost_shards_begin(Database *database); // there are none yet
Error lost_shards_add(Database *database, int64_t shard);
Error lost_shards_add_unlisted(Database *database, const Recording *recording, Arena *arena); // that only places name
Error lost_shards_count(Database *database, int64_t *count, int64_t *last);                   // last: the greatest id
// Their rows, and those of the arrays in them. Within a transaction.
Error lost_shards_forget(Database *database);
// The trials of lost arrays into the temporary table `wanted`, in the place of those that are there.
Error lost_shards_want(Database *database, const Recording *recording, Arena *arena);
// Places in shards that are not lost go, and those of trials that are not there.
Error lost_shards_keep_places(Database *database, const Recording *recording, Arena *arena);

#endif
