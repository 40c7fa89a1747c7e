// A file with copies of recorded arrays (io.h). It is written chunk by chunk, so its size is not limited by the memory.
#include "array_file.h"

#include "shard_hdf5.h"
#include "system.h"

#include <errno.h>
#include <string.h>

enum {
    ARRAY_FILE_BASE = 1 << 20,       // texts, and one buffer of ids
    ARRAY_FILE_COLUMN = 4096,        // texts that describe a column
    ARRAY_FILE_IDS_DEFLATE_LEVEL = 1 // ids are long runs of equal numbers
};

struct ArrayFile {
    Arena arena;
    const char *path; // for messages
    ShardDisk disk;
    hid_t driver, file;
};

// The arena of a group: its lanes, a buffer per dataset, and texts for the columns.
static size_t array_group_memory(const ArrayGroup *group)
{
    const size_t columns = (size_t)group->n_columns;
    return (size_t)group->n_lanes * (sizeof(ShardRow) + sizeof(int64_t)) +
           (columns + 2) * (SHARD_CHUNK_BYTES + ARRAY_FILE_COLUMN) + columns * columns * sizeof(int) + ARRAY_FILE_BASE;
}

Error array_file_open(int descriptor, const char *path, const ShardAttribute *attributes, int n_attributes,
                      ArrayFile **out)
{
    Arena arena;
    *out = NULL;
    TRY(shard_ready(0));
    TRY(arena_create(&arena, sizeof(ArrayFile) + 4096, "a file of arrays"));
    Error error = error_none();
    ArrayFile *file = ARENA_NEW(&arena, ArrayFile, 1);
    *file = (ArrayFile){.arena = arena, .path = path, .disk = {.descriptor = descriptor}};
    file->driver = shard_disk_driver(&error);
    file->file = shard_disk_create(&error, file->driver, &file->disk);
    for (int i = 0; i < n_attributes; i++) shard_put_text(&error, file->file, attributes[i].name, attributes[i].text);
    *out = file;
    return error.kind == OK ? error : array_file_close(file, error);
}

// A failed write explains what HDF5 reports.
static Error array_file_error(const ArrayFile *file, Error error)
{
    if (file->disk.reason == 0) return error;
    errno = file->disk.reason;
    return file_error("write", file->path, 1);
}

// trial or replicate of every sample
static void array_put_ids(Error *error, const ArrayGroup *group, int64_t samples, bool trials, hid_t parent,
                          Arena *arena)
{
    int column = 0;
    const size_t used = arena->used;
    const ShardGroup ids = {.name = trials ? "trial" : "replicate", .columns = &column, .count = 1};
    const ShardNumber number = {8, H5T_STD_I64LE, H5T_NATIVE_INT64, NULL};
    ShardDataset dataset;
    shard_open_rows(error, &dataset, &ids, number, ARRAY_FILE_IDS_DEFLATE_LEVEL, samples, parent, arena);
    int64_t *buffer = dataset.buffer;
    for (int64_t i = 0; i < group->n_lanes && error->kind == OK; i++) {
        const ShardLane *lane = &group->lanes[i];
        for (int64_t k = 0; k < lane->length; k++) {
            buffer[dataset.held++] = trials ? lane->trial : lane->replicate;
            if (dataset.held == dataset.chunk_rows) shard_flush_rows(error, &dataset);
        }
    }
    shard_end_rows(error, &dataset);
    shard_put_text(error, dataset.data, "long_name", trials ? "trial of the sample" : "its replicate");
    shard_put_text(error, dataset.data, "units", "1");
    shard_ok(error, H5Dclose(dataset.data), ids.name);
    arena_rewind(arena, used);
}

// Copies the samples of all lanes into the datasets.
static Error array_put_samples(const ArrayGroup *group, ShardDataset *datasets, int n_datasets)
{
    for (int64_t i = 0; i < group->n_lanes; i++) {
        Error error = error_none();
        const double *samples = NULL;
        TRY(group->read(group->of, i, &samples));
        for (int g = 0; g < n_datasets; g++)
            shard_append(&error, &datasets[g], group->columns, group->n_columns, samples, group->lanes[i].length);
        if (error.kind != OK) return error;
    }
    return error_none();
}

static void array_put_group(Error *error, const ArrayGroup *group, hid_t file, Arena *arena)
{
    int64_t samples = 0;
    for (int64_t i = 0; i < group->n_lanes; i++) samples += group->lanes[i].length;
    const char **names = ARENA_NEW(arena, const char *, group->n_columns);
    for (int c = 0; c < group->n_columns; c++) names[c] = group->columns[c].group;
    const ShardGroups groups = shard_groups(names, group->n_columns, arena);
    ShardDataset *datasets = ARENA_NEW(arena, ShardDataset, groups.count);
    hid_t *data = ARENA_NEW(arena, hid_t, groups.count);
    const hid_t parent = shard_create_group(error, file, group->group, group->n_columns, arena);
    shard_put_column_order(error, group->columns, group->n_columns, parent, arena);
    for (int g = 0; g < groups.count; g++) {
        const ShardGroup *of = &groups.items[g];
        shard_open_rows(error, &datasets[g], of, shard_number(of, group->float64),
                        group->gzip ? SHARD_DEFLATE_LEVEL : 0, samples, parent, arena);
        data[g] = datasets[g].data;
        shard_describe_columns(error, group->columns, of, data[g], arena);
        shard_describe_words(error, group->words, group->n_words, of, data[g]);
    }
    shard_put_lanes(error, group->lanes, group->n_lanes, group->gzip, parent, arena);
    array_put_ids(error, group, samples, true, parent, arena);
    array_put_ids(error, group, samples, false, parent, arena);
    const ShardSamples described = {.groups = &groups,
                                    .columns = group->columns,
                                    .float64 = group->float64,
                                    .beside = (const char *const[]){"trial", "replicate", NULL},
                                    .lanes = group->lanes,
                                    .n_lanes = group->n_lanes};
    shard_put_dimensions(error, parent, &described, arena);
    if (error->kind == OK) *error = array_put_samples(group, datasets, groups.count);
    for (int g = 0; g < groups.count; g++) {
        shard_end_rows(error, &datasets[g]);
        shard_ok(error, H5Dclose(data[g]), groups.items[g].name);
    }
    shard_ok(error, H5Gclose(parent), group->group);
}

Error array_file_put(ArrayFile *file, const ArrayGroup *group)
{
    Arena arena;
    Error error = error_none();
    TRY(arena_create(&arena, array_group_memory(group), "a file of arrays"));
    array_put_group(&error, group, file->file, &arena);
    arena_destroy(&arena);
    return array_file_error(file, error);
}

Error array_file_close(ArrayFile *file, Error error)
{
    shard_ok(&error, H5Fclose(file->file), file->path);
    shard_ok(&error, H5FDunregister(file->driver), "the driver of files");
    error = array_file_error(file, error);
    Arena arena = file->arena;
    arena_destroy(&arena);
    return error;
}
