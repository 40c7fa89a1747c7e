// hopscotch doctor --repair, arrays: restores their rows from the shards, which store them too, and simulates the
// arrays of lost shards again.
#include "doctor.h"

#include "../run/record.h"
#include "../store/campaign/lost.h"
#include "../store/commit/rounds.h"

#include <string.h>

static bool repair_is_bad(const Repair *repair, int64_t shard)
{
    for (int i = 0; i < repair->doctor->n_bad_shards; i++) {
        if (repair->doctor->bad_shards[i] == shard) return true;
    }
    return false;
}

static Error repair_list_bad(Repair *repair)
{
    Database *database = repair->store->database;
    TRY(lost_shards_begin(database));
    for (int i = 0; i < repair->doctor->n_bad_shards; i++)
        TRY(lost_shards_add(database, repair->doctor->bad_shards[i]));
    return error_none();
}

// ---- rows, from the shards' tables of lanes -------------------------------------------------------------------------

static Error repair_rows_of_shard(Repair *repair, const Recording *recording, const StoredShard *shard, Cursor *filler)
{
    const ShardLayout layout = recording_layout(recording);
    const char *path = arena_format(repair->arena, "%s/%s", repair->store->shards, shard->name);
    ShardReader *reader = NULL;
    if (shard_open(path, &layout, NULL, &reader).kind != OK) return error_none(); // a shard of the other kind
    for (int64_t i = 0; i < shard_lane_count(reader) && filler->error.kind == OK; i++) {
        const ShardLane lane = shard_lane(reader, i);
        array_add(filler, &lane, shard->id, i, recording->recipe);
    }
    shard_close(reader);
    return filler->error;
}

// Restores the rows of sound shards. Rows of bad shards stay: they say what to record again. The newest shard first: if
// an array was recorded twice, its copy counts.
static Error repair_array_rows_of(Repair *repair, RecordKind kind)
{
    const Recording recording = recording_of(&repair->spec, kind);
    Database *database = repair->store->database;
    StoredShard shard;
    TRY(lost_shards_delete_others(database, &recording, repair->arena));
    Cursor filler = arrays_filler(database, &recording, repair->arena);
    Cursor shards = shards_by_id(database, true);
    while (shard_next(&shards, &shard)) {
        if (!repair_is_bad(repair, shard.id))
            cursor_stop(&shards, repair_rows_of_shard(repair, &recording, &shard, &filler));
    }
    cursor_stop(&shards, cursor_close(&filler));
    TRY(cursor_close(&shards));
    repair_report(repair, "%s: filled again from the shards", recording.table);
    return repair_seal(repair, recording.table);
}

Error repair_array_rows(Repair *repair)
{
    TRY(repair_list_bad(repair));
    for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) {
        const bool damaged = doctor_damaged(repair->doctor, recording_of(&repair->spec, kind).table);
        if (!damaged && !repair->doctor->array_rows_bad) continue;
        TRY(store_begin(repair->store));
        TRY(store_end(repair->store, repair_array_rows_of(repair, kind)));
    }
    return error_none();
}

// ---- shards that are lost -------------------------------------------------------------------------------------------

// Arrays in a new shard replace the lost ones in one transaction. Arrays of an older recipe stay lost.
static Error repair_record(Repair *repair, RecordKind kind)
{
    const Recording recording = recording_of(&repair->spec, kind);
    const Device *device = &repair->device;
    const int64_t lanes_max = kind == RECORD_DEBUG ? device->debug_max : device->traced_max;
    Recorded recorded;
    TRY(record_lost(&repair->spec, repair->store, &repair->search, device->backend, kind,
                    device->lanes / repair->spec.replicates.count, lanes_max, repair->arena, &recorded));
    if (recorded.trials > 0)
        repair_report(repair, "%s of %lld trials: simulated again into a new shard", recording.table,
                      (long long)recorded.trials);
    return error_none();
}

static Error repair_forget_bad(Repair *repair)
{
    TRY(lost_shards_forget(repair->store->database));
    return doctor_damaged(repair->doctor, "shards") ? repair_seal(repair, "shards") : error_none();
}

// Lists the bad shards that were found, and shards that a row names without a row in `shards`. New shards get greater
// numbers.
static Error repair_count_bad(Repair *repair, int64_t *count)
{
    Database *database = repair->store->database;
    int64_t last = 0;
    TRY(repair_list_bad(repair));
    for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) {
        const Recording recording = recording_of(&repair->spec, kind);
        TRY(lost_shards_add_unlisted(database, &recording, repair->arena));
    }
    TRY(lost_shards_count(database, count, &last));
    if (*count > 0 && last >= repair->store->next_shard) repair->store->next_shard = last + 1;
    return error_none();
}

// New shards get greater numbers than all files, so that no file is overwritten.
static void repair_number_again(Repair *repair)
{
    Store *store = repair->store;
    while (file_exists(arena_format(repair->arena, "%s/%06lld.h5", store->shards, (long long)store->next_shard)))
        store->next_shard++;
}

Error repair_shards(Repair *repair)
{
    int64_t count = 0;
    TRY(repair_count_bad(repair, &count));
    if (count > 0) {
        repair_number_again(repair);
        TRY(repair_open_device(repair));
        for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) TRY(repair_record(repair, kind));
    }
    TRY(store_begin(repair->store));
    TRY(store_end(repair->store, repair_forget_bad(repair)));
    return count > 0 ? rounds_record(repair->store, &repair->search) : error_none();
}
