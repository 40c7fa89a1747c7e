// Shards without any array that the spec selects now: the campaign was extended or resumed with another `record:`, or
// its failed trials were run again. A shard with at least one wanted array stays as a whole.
#include "../queries.h"

#include "wanted_arrays.h"

// temp.kept <- the shards with a wanted array
static Error unwanted_keep(const Spec *spec, Database *database, Arena *arena)
{
    TRY(database_run(database,
                     "CREATE TEMP TABLE IF NOT EXISTS kept(shard INTEGER PRIMARY KEY); DELETE FROM temp.kept; "
                     "INSERT OR IGNORE INTO temp.kept SELECT shard FROM round_rows;"));
    for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) {
        TRY(record_ask(spec, database, kind));
        TRY(database_run(database, arena_format(arena,
                                                "INSERT OR IGNORE INTO temp.kept SELECT shard FROM %s "
                                                "WHERE trial IN temp.wanted",
                                                recording_of(spec, kind).table)));
    }
    return error_none();
}

Error unwanted_list(const Spec *spec, Database *database, Arena *arena, UnwantedShards *out)
{
    const char *name;
    int64_t most = 0;
    *out = (UnwantedShards){.count = 0};
    TRY(unwanted_keep(spec, database, arena));
    TRY(shards_count(database, &most));
    out->names = ARENA_NEW(arena, const char *, most + 1);
    Cursor shards = cursor_open(database, "SELECT name FROM shards WHERE id NOT IN temp.kept ORDER BY id");
    while (out->count < most && next_text(&shards, &name)) out->names[out->count++] = arena_copy(arena, name);
    return cursor_close(&shards);
}

// Rows first: the next run moves away a file that no row names, but records the arrays of a row without a file again.
Error unwanted_forget(Database *database)
{
    return database_run(database, "DELETE FROM trajectories WHERE shard NOT IN temp.kept; "
                                  "DELETE FROM debug_rows WHERE shard NOT IN temp.kept; "
                                  "DELETE FROM shards WHERE id NOT IN temp.kept;");
}
