// All recorded arrays of a campaign in one HDF5 file.
#include "formats.h"

#include <inttypes.h>
#include <unistd.h>

typedef struct ExportRow {
    int64_t row;
    int shard; // index into ExportArrays.shards
} ExportRow;

// The lanes of one kind of arrays, by shard and row.
typedef struct ExportArrays {
    ShardLane *lanes;
    ExportRow *rows;
    StoredArray *shards; // [n_shards] id, name and digest
    int64_t n_lanes, capacity;
    int n_shards;
    LaneReader reader;
} ExportArrays;

static void export_lane(const StoredArray *array, Arena *arena, ExportArrays *arrays)
{
    if (arrays->n_shards == 0 || array->shard != arrays->shards[arrays->n_shards - 1].shard)
        arrays->shards[arrays->n_shards++] = (StoredArray){
            .shard = array->shard, .name = arena_copy(arena, array->name), .sha256 = arena_copy(arena, array->sha256)};
    arrays->rows[arrays->n_lanes] = (ExportRow){.row = array->row, .shard = arrays->n_shards - 1};
    arrays->lanes[arrays->n_lanes++] =
        (ShardLane){.trial = array->trial, .replicate = (int32_t)array->replicate, .length = array->samples};
}

static Error export_arrays(const StoredCampaign *campaign, const Recording *recording, Arena *arena,
                           ExportArrays *arrays)
{
    StoredArray array;
    int64_t lanes = 0, shards = 0;
    TRY(arrays_count(campaign->database, recording, arena, &lanes));
    TRY(shards_count(campaign->database, &shards));
    *arrays = (ExportArrays){
        .lanes = ARENA_NEW(arena, ShardLane, lanes + 1),
        .rows = ARENA_NEW(arena, ExportRow, lanes + 1),
        .shards = ARENA_NEW(arena, StoredArray, lanes < shards ? lanes + 1 : shards + 1),
        .capacity = shards > 0 ? lanes : 0,
        .reader = {.folder = campaign->folder, .layout = recording_layout(recording), .most = 1},
    };
    Cursor rows = arrays_alike(campaign->database, recording, arena);
    while (arrays->n_lanes < arrays->capacity && array_next(&rows, &array)) export_lane(&array, arena, arrays);
    return cursor_close(&rows);
}

static Error export_read(void *of, int64_t index, const double **samples)
{
    ExportArrays *arrays = of;
    const ShardLane *lane = &arrays->lanes[index];
    StoredArray array = arrays->shards[arrays->rows[index].shard];
    if (interrupt_requested() != 0) return error_make(ERROR_INTERRUPTED, "%s", interrupt_words());
    array.trial = lane->trial;
    array.replicate = lane->replicate;
    array.samples = lane->length;
    array.row = arrays->rows[index].row;
    return lane_read(&arrays->reader, &array, samples);
}

// *any: there are lanes of this kind.
static Error export_kind(const StoredCampaign *campaign, RecordKind kind, ArrayFile *file, Arena *arena, bool *any)
{
    const Recording recording = recording_of(&campaign->spec, kind);
    ExportArrays arrays;
    if (recording.n_columns == 0) return error_none();
    TRY(export_arrays(campaign, &recording, arena, &arrays));
    if (arrays.n_lanes == 0) return error_none();
    *any = true;
    const ArrayGroup group = {.group = recording.group,
                              .columns = recording.columns,
                              .n_columns = recording.n_columns,
                              .words = recording.words,
                              .n_words = recording.n_words,
                              .float64 = recording.float64,
                              .gzip = recording.gzip,
                              .lanes = arrays.lanes,
                              .n_lanes = arrays.n_lanes,
                              .read = export_read,
                              .of = &arrays};
    const Error error = array_file_put(file, &group);
    lanes_close(&arrays.reader);
    return error;
}

Error export_has_arrays(const StoredCampaign *campaign, Arena *arena, bool *any)
{
    *any = false;
    for (RecordKind kind = 0; kind < RECORD_KINDS && !*any; kind++) {
        const Recording recording = recording_of(&campaign->spec, kind);
        int64_t lanes = 0;
        if (recording.n_columns > 0) TRY(arrays_count(campaign->database, &recording, arena, &lanes));
        *any = lanes > 0;
    }
    return error_none();
}

static Error export_write_hdf5(const Export *export)
{
    const StoredCampaign *campaign = export->campaign;
    const ShardAttribute attributes[] = {{"campaign", campaign->name},
                                         {"spec_hash", campaign->spec.hash.hex},
                                         {"program_version", campaign->program_version},
                                         {"model", campaign->spec.model->name}};
    ArrayFile *file = NULL;
    bool any = false;
    TRY(array_file_open(fileno(export->file), export->path, attributes, (int)(sizeof attributes / sizeof *attributes),
                        &file));
    Error error = error_none();
    for (RecordKind kind = 0; kind < RECORD_KINDS && error.kind == OK; kind++)
        error = export_kind(campaign, kind, file, export->arena, &any);
    if (error.kind == OK && !any)
        error = error_make(ERROR_USER,
                           "%.100s has no arrays, because its spec records none (record, see help spec); resume with "
                           "--set record.trajectories.select.best=10 records some now",
                           campaign->name);
    return array_file_close(file, error);
}

const ExportFormat export_hdf5 = {.arrays = true, .unordered = "HDF5", .write = export_write_hdf5};
