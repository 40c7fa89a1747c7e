// hopscotch doctor, the files: compares every shard with its size, its digest and the rows that campaign.db lists in
// it; and finds files that nothing names.
#include "doctor.h"

#include "../store/trials/trial_blocks.h"
#include "../store/queries.h"

#include <string.h>

enum { DOCTOR_SHARDS_REPORTED_MAX = 20 };

// ---- one shard ------------------------------------------------------------------------------------------------------

static Error doctor_shard_bytes(const StoredShard *shard, const char *path)
{
    int64_t size = 0;
    Arena arena;
    Bytes content;
    if (!file_exists(path)) return error_make(ERROR_MACHINE, "%.100s is missing", shard->name);
    TRY(file_size(path, &size));
    if (size != shard->bytes) {
        return error_make(ERROR_MACHINE, "%.100s has %lld bytes, and %lld were written", shard->name, (long long)size,
                          (long long)shard->bytes);
    }
    TRY(arena_create(&arena, (size_t)size + 4096, "a shard that is checked"));
    Error error = file_read_stored(path, (size_t)size, &arena, &content);
    if (error.kind == OK && strcmp(sha256_of(content.data, content.size).hex, shard->sha256) != 0)
        error = error_make(ERROR_MACHINE, "%.100s was changed after it was written: its SHA-256 does not match",
                           shard->name);
    arena_destroy(&arena);
    return error;
}

static Error doctor_shard_array(const ShardReader *reader, const StoredShard *shard, const StoredArray *array)
{
    const bool there = array->row >= 0 && array->row < shard_lane_count(reader);
    const ShardLane lane = there ? shard_lane(reader, array->row) : (ShardLane){.trial = -1};
    if (lane.trial == array->trial && lane.replicate == array->replicate && lane.length == array->samples)
        return error_none();
    return error_make(ERROR_MACHINE, "%.100s does not hold trial %lld, replicate %lld in row %lld", shard->name,
                      (long long)array->trial, (long long)array->replicate, (long long)array->row);
}

// Without a spec only the tables of lanes can be read. The group of debug rows is then that of any model.
static Error doctor_open_lanes(const char *path, RecordKind kind, ShardReader **reader)
{
    if (kind == RECORD_TRAJECTORIES) return shard_open(path, &(ShardLayout){.group = SHARD_TRAJECTORIES}, NULL, reader);
    Error error = shard_open(path, &(ShardLayout){.group = SHARD_DEBUG}, NULL, reader);
    for (int i = 0; error.kind != OK && i < model_count(); i++) {
        const char *group = model_debug_group(model_at(i));
        if (strcmp(group, SHARD_DEBUG) == 0) continue;
        const Error other = shard_open(path, &(ShardLayout){.group = group}, NULL, reader);
        if (other.kind == OK) return other;
    }
    return error;
}

static Error doctor_open_shard(const Doctor *doctor, const char *path, RecordKind kind, ShardReader **reader)
{
    if (!doctor->spec_ok) return doctor_open_lanes(path, kind, reader);
    const Recording recording = recording_of(&doctor->spec, kind);
    const ShardLayout layout = recording_layout(&recording);
    const Error error = shard_open(path, &layout, NULL, reader);
    // of other bodies, chosen before: to be recorded again
    return error.kind != OK && recording.columns_recipe[0] != '\0' ? doctor_open_lanes(path, kind, reader) : error;
}

static Error doctor_shard_kind(const Doctor *doctor, const StoredShard *shard, const char *path, RecordKind kind)
{
    ShardReader *reader = NULL;
    StoredArray array;
    Cursor arrays = arrays_of_shard(doctor->database, kind, shard->id);
    while (array_next(&arrays, &array)) {
        if (reader == NULL) cursor_stop(&arrays, doctor_open_shard(doctor, path, kind, &reader));
        if (reader != NULL) cursor_stop(&arrays, doctor_shard_array(reader, shard, &array));
    }
    if (reader != NULL) shard_close(reader);
    return cursor_close(&arrays);
}

static Error doctor_shard(const Doctor *doctor, const StoredShard *shard)
{
    const char *path = arena_format(doctor->arena, "%s/" CAMPAIGN_SHARDS "/%s", doctor->location->folder, shard->name);
    if (strchr(shard->name, '/') != NULL || strlen(shard->name) > 100)
        return error_make(ERROR_MACHINE, "\"%.100s\" is not a name for a shard", shard->name);
    return doctor_shard_bytes(shard, path);
}

// Whether the rows that campaign.db lists in a sound shard agree with the shard's own.
static Error doctor_shard_arrays(const Doctor *doctor, const StoredShard *shard)
{
    const char *path = arena_format(doctor->arena, "%s/" CAMPAIGN_SHARDS "/%s", doctor->location->folder, shard->name);
    for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) TRY(doctor_shard_kind(doctor, shard, path, kind));
    return error_none();
}

// ---- all shards -----------------------------------------------------------------------------------------------------

// Lists a shard that differs from what was written, and says what is wrong.
static void doctor_look_at_shard(Doctor *doctor, const StoredShard *shard)
{
    const size_t used = doctor->arena->used;
    const Error damage = doctor_shard(doctor, shard);
    const Error misplaced = damage.kind == OK ? doctor_shard_arrays(doctor, shard) : error_none();
    arena_rewind(doctor->arena, used);
    if (misplaced.kind != OK) {
        doctor->array_rows_bad = true;
        doctor_find(doctor, "shards", "%s", misplaced.text);
    }
    if (damage.kind == OK) return;
    doctor->bad_shards[doctor->n_bad_shards++] = shard->id;
    if (doctor->n_bad_shards <= DOCTOR_SHARDS_REPORTED_MAX) doctor_find(doctor, "shards", "%s", damage.text);
}

static Error doctor_each_shard(Doctor *doctor, int64_t count)
{
    StoredShard shard;
    int64_t bytes = 0, looked = 0;
    Cursor shards = shards_by_id(doctor->database, false);
    for (; looked < count && shard_next(&shards, &shard); looked++) {
        doctor_look_at_shard(doctor, &shard);
        bytes += shard.bytes;
    }
    const Error error = cursor_close(&shards);
    if (error.kind == OK && doctor->n_bad_shards == 0 && !doctor->array_rows_bad)
        doctor_pass(doctor, "shards", "%lld, %s: as they were written", (long long)looked,
                    text_bytes((double)bytes).text);
    if (doctor->n_bad_shards > DOCTOR_SHARDS_REPORTED_MAX)
        doctor_find(doctor, "shards", "%d shards in all differ from what was written", doctor->n_bad_shards);
    return error;
}

static void doctor_report_block(void *doctor, const char *name, const char *fault)
{
    doctor_find(doctor, "blocks", CAMPAIGN_SHARDS "/%.60s: %s", name, fault);
}

static void doctor_check_blocks(Doctor *doctor)
{
    int64_t count = 0;
    const int before = doctor->findings;
    const Error error = trial_blocks_check(doctor->database, doctor->arena, doctor_report_block, doctor, &count);
    if (error.kind != OK) doctor_find(doctor, "blocks", "%s", error.text);
    if (count > 0 && doctor->findings == before)
        doctor_pass(doctor, "blocks", "%lld, as they were written", (long long)count);
}

void doctor_check_shards(Doctor *doctor)
{
    int64_t count = 0;
    Error error = campaign_check_folders(doctor->location->folder, doctor->arena); // a link is not followed
    if (error.kind == OK) error = shards_count(doctor->database, &count);
    doctor->bad_shards = ARENA_NEW(doctor->arena, int64_t, count + 1);
    if (error.kind == OK) error = doctor_each_shard(doctor, count);
    if (error.kind != OK) doctor_find(doctor, "shards", "%s", error.text);
    doctor_check_blocks(doctor);
}

// ---- what nothing names ---------------------------------------------------------------------------------------------

static bool doctor_is_temporary(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".tmp") == 0;
}

// No damage: a run that is killed leaves the file that it was writing.
static void doctor_find_temporaries(Doctor *doctor, const char *folder, char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (!doctor_is_temporary(names[i])) continue;
        doctor->stray_files++;
        doctor_pass(doctor, "files", "%s%.100s was left by a crash: the next run removes it", folder, names[i]);
    }
}

static Error doctor_find_orphans(Doctor *doctor, char *const *names, int count)
{
    if (doctor->database == NULL) return error_none();
    Cursor shards = shards_by_name(doctor->database);
    for (int i = 0; i < count; i++) {
        const bool named =
            shard_is_named(&shards, names[i]) || trial_blocks_is_file(names[i]); // trial_blocks_clear removes it
        if (shards.error.kind != OK || named || doctor_is_temporary(names[i])) continue;
        doctor->stray_files++;
        doctor_find(doctor, "files", CAMPAIGN_SHARDS "/%.100s is named by no row", names[i]);
    }
    return cursor_close(&shards);
}

static Error doctor_list_files(Doctor *doctor)
{
    char **names = NULL, **shards = NULL;
    int count = 0, n_shards = 0;
    const char *folder = arena_format(doctor->arena, "%s/" CAMPAIGN_SHARDS, doctor->location->folder);
    TRY(campaign_check_folders(doctor->location->folder, doctor->arena));
    TRY(folder_list(doctor->location->folder, doctor->arena, &names, &count));
    if (file_exists(folder)) TRY(folder_list(folder, doctor->arena, &shards, &n_shards));
    doctor_find_temporaries(doctor, "", names, count);
    doctor_find_temporaries(doctor, CAMPAIGN_SHARDS "/", shards, n_shards);
    return doctor_find_orphans(doctor, shards, n_shards);
}

void doctor_check_files(Doctor *doctor)
{
    if (doctor->holder[0] != '\0') return;
    const Error error = doctor_list_files(doctor);
    if (error.kind != OK)
        doctor_find(doctor, "files", "%s", error.text);
    else if (doctor->stray_files == 0)
        doctor_pass(doctor, "files", "the folder has no other files");
}
