// A file with HDF5's virtual datasets (H5Pset_virtual): each joins the datasets of many shards. The file holds the
// table of lanes and the trial of every sample; the samples stay in the shards. A missing shard reads as NaN.
#include "shard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MASTER_IDS_CHUNK = 1 << 17 }; // samples per chunk of the ids

static void master_select(Error *error, hid_t space, int rank, int64_t first, int64_t count, int columns,
                          const char *what)
{
    const hsize_t start[2] = {(hsize_t)first, 0}, size[2] = {(hsize_t)count, (hsize_t)columns};
    (void)rank;
    shard_ok(error, H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL), what);
}

// Maps one part: rows of the shard's dataset of the same name appear at `at` in the virtual one.
static void master_map(Error *error, hid_t create, hid_t space, const Master *master, const ShardGroup *group,
                       const MasterPart *part, int64_t at, Arena *arena)
{
    const int rank = group->count > 1 ? 2 : 1;
    const hsize_t shape[2] = {(hsize_t)(part->first + part->count), (hsize_t)group->count};
    const char *dataset = arena_format(arena, "/%s/%s", master->group, group->name);
    const hid_t source = shard_id(error, H5Screate_simple(rank, shape, NULL), part->file);
    master_select(error, source, rank, part->first, part->count, group->count, part->file);
    master_select(error, space, rank, at, part->count, group->count, part->file);
    shard_ok(error, H5Pset_virtual(create, space, part->file, dataset, source), part->file);
    shard_ok(error, H5Sclose(source), part->file);
}

static void master_set_fill(Error *error, hid_t create, bool small)
{
    const double none = (double)NAN;
    const int8_t nowhere = -1;
    shard_ok(error,
             small ? H5Pset_fill_value(create, H5T_NATIVE_INT8, &nowhere)
                   : H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &none),
             "the value of what is missing");
}

static hid_t master_put_group(Error *error, const Master *master, const ShardGroup *group, int64_t samples,
                              hid_t parent, Arena *arena)
{
    const bool small = shard_holds_integers(group);
    const int rank = group->count > 1 ? 2 : 1;
    const hsize_t shape[2] = {(hsize_t)samples, (hsize_t)group->count};
    const hid_t type = small ? H5T_STD_I8LE : master->float64 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
    const hid_t create = shard_id(error, H5Pcreate(H5P_DATASET_CREATE), group->name);
    const hid_t space = shard_id(error, H5Screate_simple(rank, shape, NULL), group->name);
    int64_t at = 0;
    shard_ok(error, H5Pset_obj_track_times(create, 0), group->name);
    master_set_fill(error, create, small);
    for (int64_t i = 0; i < master->n_parts && error->kind == OK; i++) {
        const size_t used = arena->used;
        master_map(error, create, space, master, group, &master->parts[i], at, arena);
        at += master->parts[i].count;
        arena_rewind(arena, used);
    }
    shard_ok(error, H5Sselect_all(space), group->name);
    const hid_t data =
        shard_id(error, H5Dcreate2(parent, group->name, type, space, H5P_DEFAULT, create, H5P_DEFAULT), group->name);
    shard_describe_columns(error, master->columns, group, data, arena);
    shard_ok(error, H5Sclose(space), group->name);
    shard_ok(error, H5Pclose(create), group->name);
    return data;
}

// trial and replicate of every sample. They are long runs of equal numbers, which deflate makes very small.
static void master_put_ids(Error *error, const Master *master, int64_t samples, hid_t parent, const char *name,
                           Arena *arena)
{
    const hsize_t shape = (hsize_t)samples;
    const hsize_t chunk = (hsize_t)(samples < MASTER_IDS_CHUNK ? (samples > 0 ? samples : 1) : MASTER_IDS_CHUNK);
    const size_t used = arena->used;
    int64_t *ids = ARENA_NEW(arena, int64_t, samples), at = 0;
    for (int64_t i = 0; i < master->n_lanes; i++) {
        const ShardLane *lane = &master->lanes[i];
        for (int64_t k = 0; k < lane->length; k++)
            ids[at++] = strcmp(name, "trial") == 0 ? lane->trial : lane->replicate;
    }
    const hid_t create = shard_id(error, H5Pcreate(H5P_DATASET_CREATE), name);
    const hid_t space = shard_id(error, H5Screate_simple(1, &shape, NULL), name);
    shard_ok(error, H5Pset_obj_track_times(create, 0), name);
    if (samples > 0) {
        shard_ok(error, H5Pset_chunk(create, 1, &chunk), name);
        shard_ok(error, H5Pset_shuffle(create), name);
        shard_ok(error, H5Pset_deflate(create, 1), "compression (is it built with zlib?)");
    }
    const hid_t data =
        shard_id(error, H5Dcreate2(parent, name, H5T_STD_I64LE, space, H5P_DEFAULT, create, H5P_DEFAULT), name);
    if (samples > 0) shard_ok(error, H5Dwrite(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, ids), name);
    shard_put_text(error, data, "long_name", strcmp(name, "trial") == 0 ? "trial of the sample" : "its replicate");
    shard_put_text(error, data, "units", "1");
    shard_ok(error, H5Dclose(data), name);
    shard_ok(error, H5Sclose(space), name);
    shard_ok(error, H5Pclose(create), name);
    arena_rewind(arena, used);
}

static void master_put(Error *error, const Master *master, hid_t file, Arena *arena)
{
    int64_t samples = 0;
    for (int64_t i = 0; i < master->n_lanes; i++) samples += master->lanes[i].length;
    const char **names = ARENA_NEW(arena, const char *, master->n_columns);
    for (int c = 0; c < master->n_columns; c++) names[c] = master->columns[c].group;
    const ShardGroups groups = shard_groups(names, master->n_columns, arena);
    hid_t *datasets = ARENA_NEW(arena, hid_t, groups.count);
    const hid_t parent = shard_create_group(error, file, master->group, arena);
    for (int g = 0; g < groups.count; g++)
        datasets[g] = master_put_group(error, master, &groups.items[g], samples, parent, arena);
    shard_attach_time(error, parent, &groups, datasets, arena);
    for (int g = 0; g < groups.count; g++) shard_ok(error, H5Dclose(datasets[g]), groups.items[g].name);
    shard_put_lanes(error, master->lanes, master->n_lanes, false, parent, arena);
    master_put_ids(error, master, samples, parent, "trial", arena);
    master_put_ids(error, master, samples, parent, "replicate", arena);
    shard_ok(error, H5Gclose(parent), master->group);
}

static size_t master_memory(const Master *groups, int n_groups)
{
    size_t size = 1 << 20;
    for (int i = 0; i < n_groups; i++) {
        size += (size_t)groups[i].n_lanes * sizeof(ShardRow) + (size_t)groups[i].n_columns * 4096;
        for (int64_t l = 0; l < groups[i].n_lanes; l++) size += (size_t)groups[i].lanes[l].length * sizeof(int64_t);
    }
    return size;
}

Error master_build(const ShardAttribute *attributes, int n_attributes, const Master *groups, int n_groups, Bytes *image)
{
    Arena arena;
    *image = (Bytes){0};
    TRY(shard_ready(master_memory(groups, n_groups)));
    TRY(arena_create(&arena, master_memory(groups, n_groups), "a file over all shards"));
    Error error = error_none();
    const hid_t file = shard_create_file(&error);
    for (int i = 0; i < n_attributes; i++) shard_put_text(&error, file, attributes[i].name, attributes[i].text);
    for (int i = 0; i < n_groups; i++) master_put(&error, &groups[i], file, &arena);
    shard_ok(&error, H5Fflush(file, H5F_SCOPE_GLOBAL), "the file in memory");
    if (error.kind == OK) error = shard_take_image(file, image);
    shard_ok(&error, H5Fclose(file), "the file in memory");
    arena_destroy(&arena);
    if (error.kind == OK) return error;
    free(image->data);
    *image = (Bytes){0};
    return error;
}
