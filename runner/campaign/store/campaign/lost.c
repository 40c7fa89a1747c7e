// See lost.h.
#include "lost.h"

#include "store.h"

Error lost_shards_begin(Database *database)
{
    return database_run(database, "CREATE TEMP TABLE IF NOT EXISTS lost(id INTEGER PRIMARY KEY); "
                                  "DELETE FROM temp.lost;");
}

Error lost_shards_add(Database *database, int64_t shard)
{
    Cursor insert = cursor_open(database, "INSERT OR IGNORE INTO temp.lost VALUES(?)");
    with_integer(&insert, shard);
    return cursor_run(&insert);
}

// A statement about the table of a recording. The table's name is a constant of the program.
static Error lost_shards_run(Database *database, const char *before, const Recording *recording, const char *behind,
                             Arena *arena)
{
    return database_run(database, arena_format(arena, "%s %s %s", before, recording->table, behind));
}

Error lost_shards_add_unlisted(Database *database, const Recording *recording, Arena *arena)
{
    return lost_shards_run(database, "INSERT OR IGNORE INTO temp.lost SELECT shard FROM", recording,
                           "WHERE shard NOT IN (SELECT id FROM shards)", arena);
}

Error lost_shards_count(Database *database, int64_t *count, int64_t *last)
{
    Cursor lost = cursor_open(database, "SELECT count(*), max(id) FROM temp.lost");
    if (next_integer(&lost, count)) *last = cell_integer(&lost, 1);
    return cursor_close(&lost);
}

Error lost_shards_forget(Database *database)
{
    return database_run(database, "DELETE FROM trajectories WHERE shard IN temp.lost; "
                                  "DELETE FROM debug_rows WHERE shard IN temp.lost; "
                                  "DELETE FROM round_rows WHERE shard IN temp.lost; "
                                  "DELETE FROM shards WHERE id IN temp.lost;");
}

Error lost_shards_want(Database *database, const Recording *recording, Arena *arena)
{
    return lost_shards_run(database,
                           "DELETE FROM temp.wanted; INSERT OR IGNORE INTO temp.wanted SELECT DISTINCT trial FROM",
                           recording, "WHERE shard IN temp.lost", arena);
}

Error lost_shards_delete_others(Database *database, const Recording *recording, Arena *arena)
{
    return lost_shards_run(database, "DELETE FROM", recording,
                           "WHERE shard NOT IN temp.lost OR trial NOT IN (SELECT id FROM trials)", arena);
}
