// hopscotch doctor --repair, arrays: where they are is written in the shards too, and those of a shard that is lost are
// simulated again.
#include "doctor.h"

#include "../run/record.h"
#include "../store/rounds.h"

#include <string.h>

static bool repair_is_bad(const Repair *repair, int64_t shard)
{
    for (int i = 0; i < repair->doctor->n_bad_shards; i++) {
        if (repair->doctor->bad_shards[i] == shard) return true;
    }
    return false;
}

// The ids of shards that are lost, into the temporary table `bad`.
static Error repair_list_bad(Repair *repair)
{
    Database *database = repair->store->database;
    TRY(database_run(database, "CREATE TEMP TABLE IF NOT EXISTS bad(id INTEGER PRIMARY KEY); DELETE FROM temp.bad;"));
    for (int i = 0; i < repair->doctor->n_bad_shards; i++) {
        TRY(database_run(database, arena_format(repair->arena, "INSERT OR IGNORE INTO temp.bad VALUES(%lld)",
                                                (long long)repair->doctor->bad_shards[i])));
    }
    return error_none();
}

// ---- places, from the shards' tables of lanes -----------------------------------------------------------------------

static Error repair_places_of(Repair *repair, RecordKind kind, int64_t shard, const char *name, Statement *insert)
{
    const Recording recording = recording_of(&repair->spec, kind);
    const ShardLayout layout = recording_layout(&recording);
    const char *path = arena_format(repair->arena, "%s/%s", repair->store->shards, name);
    ShardReader *reader = NULL;
    bool none = false;
    if (shard_open(path, &layout, NULL, &reader).kind != OK) return error_none(); // of the other kind
    Error error = error_none();
    for (int64_t i = 0; i < shard_lane_count(reader) && error.kind == OK; i++) {
        const ShardLane lane = shard_lane(reader, i);
        bind_integer(insert, 1, lane.trial);
        bind_integer(insert, 2, lane.replicate);
        bind_integer(insert, 3, shard);
        bind_integer(insert, 4, i);
        bind_integer(insert, 5, lane.length);
        bind_text(insert, 6, recording.recipe);
        error = statement_step(insert, &none);
    }
    shard_close(reader);
    return error;
}

// The newest shard first: it holds what counts, where an array was recorded twice.
static Error repair_fill_places(Repair *repair, RecordKind kind, Statement *insert)
{
    Statement *select = NULL;
    bool row = false;
    TRY(database_prepare(repair->store->database, "SELECT id, name FROM shards ORDER BY id DESC", &select));
    Error error = statement_step(select, &row);
    while (error.kind == OK && row) {
        const int64_t shard = column_integer(select, 0);
        if (!repair_is_bad(repair, shard))
            error = repair_places_of(repair, kind, shard, column_text(select, 1), insert);
        if (error.kind == OK) error = statement_step(select, &row);
    }
    statement_close(select);
    return error;
}

// Places in good shards; those in bad ones stay as they are, to say what is to be recorded.
static Error repair_places_kind(Repair *repair, RecordKind kind)
{
    const char *table = recording_of(&repair->spec, kind).table;
    Statement *insert = NULL;
    TRY(database_run(repair->store->database,
                     arena_format(repair->arena,
                                  "DELETE FROM %s WHERE shard NOT IN temp.bad OR trial NOT IN (SELECT id FROM trials)",
                                  table)));
    TRY(database_prepare(repair->store->database,
                         arena_format(repair->arena, "INSERT OR IGNORE INTO %s VALUES(?, ?, ?, ?, ?, ?)", table),
                         &insert));
    const Error error = repair_fill_places(repair, kind, insert);
    statement_close(insert);
    if (error.kind != OK) return error;
    repair_tell(repair, "%s: filled again from the shards", table);
    return repair_seal(repair, table);
}

Error repair_places(Repair *repair)
{
    TRY(repair_list_bad(repair));
    for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) {
        const bool damaged = doctor_damaged(repair->doctor, recording_of(&repair->spec, kind).table);
        if (!damaged && !repair->doctor->places_bad) continue;
        TRY(database_run(repair->store->database, "BEGIN IMMEDIATE"));
        TRY(store_end(repair->store, repair_places_kind(repair, kind)));
    }
    return error_none();
}

// ---- shards that are lost -------------------------------------------------------------------------------------------

// Shards that a place names and no row.
static Error repair_list_dangling(Repair *repair)
{
    for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) {
        TRY(database_run(repair->store->database, arena_format(repair->arena,
                                                               "INSERT OR IGNORE INTO temp.bad SELECT shard FROM %s "
                                                               "WHERE shard NOT IN (SELECT id FROM shards)",
                                                               recording_of(&repair->spec, kind).table)));
    }
    return error_none();
}

// A new shard takes the places of the old ones in one transaction; what an old recipe recorded is gone.
static Error repair_record(Repair *repair, RecordKind kind)
{
    const Recording recording = recording_of(&repair->spec, kind);
    const Device *device = &repair->device;
    const int64_t lanes_max = kind == RECORD_DEBUG ? device->debug_max : device->traced_max;
    int64_t recorded = 0;
    const char *ids =
        arena_format(repair->arena, "SELECT DISTINCT trial FROM %s WHERE shard IN temp.bad", recording.table);
    TRY(record_again(&repair->spec, repair->store, &repair->search, device->backend, kind,
                     device->lanes / repair->spec.replicates.count, lanes_max, ids, &recorded));
    if (recorded > 0)
        repair_tell(repair, "%s of %lld trials: simulated again into a new shard", recording.table,
                    (long long)recorded);
    return error_none();
}

static Error repair_forget_bad(Repair *repair)
{
    TRY(database_run(repair->store->database, "DELETE FROM trajectories WHERE shard IN temp.bad; "
                                              "DELETE FROM debug_rows WHERE shard IN temp.bad; "
                                              "DELETE FROM round_rows WHERE shard IN temp.bad; "
                                              "DELETE FROM shards WHERE id IN temp.bad;"));
    return doctor_damaged(repair->doctor, "shards") ? repair_seal(repair, "shards") : error_none();
}

// How many are lost; new ones are numbered behind them.
static Error repair_count_bad(Repair *repair, int64_t *count)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(repair->store->database, "SELECT count(*), max(id) FROM temp.bad", &statement));
    const Error error = statement_step(statement, &row);
    *count = row ? column_integer(statement, 0) : 0;
    if (*count > 0 && column_integer(statement, 1) >= repair->store->next_shard)
        repair->store->next_shard = column_integer(statement, 1) + 1;
    statement_close(statement);
    return error;
}

// No file is written over, whether a row names it or not.
static void repair_number_anew(Repair *repair)
{
    Store *store = repair->store;
    while (file_exists(arena_format(repair->arena, "%s/%06lld.h5", store->shards, (long long)store->next_shard)))
        store->next_shard++;
}

Error repair_shards(Repair *repair)
{
    int64_t count = 0;
    TRY(repair_list_bad(repair));
    TRY(repair_list_dangling(repair));
    TRY(repair_count_bad(repair, &count));
    if (count > 0) {
        repair_number_anew(repair);
        TRY(repair_open_device(repair));
        for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) TRY(repair_record(repair, kind));
    }
    TRY(database_run(repair->store->database, "BEGIN IMMEDIATE"));
    TRY(store_end(repair->store, repair_forget_bad(repair)));
    return count > 0 ? rounds_record(repair->store, &repair->search) : error_none();
}
