// The dimensions of the datasets of a shard, as netCDF-4 and xarray read them: every dimension has a dimension scale.
//
// Sources: HDF5's "Dimension Scale Specification" (H5DS, 2005), written here because this is all that would be needed
// of the high-level library; "NetCDF-4 file format", which says how a dimension without values is named; the CF
// conventions 1.11, 9.3.3, "Contiguous ragged array representation".
//
// A file does not claim to follow CF (`Conventions`): CF wants one unit per variable, and a dataset here has a unit per
// column. Nor has it a `featureType`: each of them needs a longitude and a latitude.
#include "shard_hdf5.h"

#include <math.h>
#include <string.h>

// ---- scales ---------------------------------------------------------------------------------------------------------
// A scale has CLASS and NAME; its REFERENCE_LIST names the datasets that use it, with the dimension. The DIMENSION_LIST
// of a dataset names the scale of each of its dimensions.

struct ShardScaleUse {
    hobj_ref_t dataset;
    int32_t dimension;
    int32_t unused; // padding, zero, which H5DS writes too
};

// A text of fixed length in ASCII, as the specification requires.
static void shard_put_fixed_text(Error *error, hid_t object, const char *name, const char *text)
{
    const hid_t type = shard_id(error, H5Tcopy(H5T_C_S1), "a text type");
    shard_ok(error, H5Tset_size(type, strlen(text) + 1), "a text type");
    shard_put_attribute(error, object, name, type, H5Screate(H5S_SCALAR), text);
    shard_ok(error, H5Tclose(type), name);
}

ShardScale shard_scale_start(Error *error, hid_t parent, const char *name, const char *label, int uses, Arena *arena)
{
    ShardScale scale = {.name = name, .parent = parent, .uses = ARENA_NEW(arena, ShardScaleUse, uses)};
    scale.data = shard_id(error, H5Dopen2(parent, name, H5P_DEFAULT), name);
    shard_put_fixed_text(error, scale.data, "CLASS", "DIMENSION_SCALE");
    shard_put_fixed_text(error, scale.data, "NAME", label);
    shard_ok(error, H5Rcreate(&scale.reference, parent, name, H5R_OBJECT, -1), name);
    return scale;
}

void shard_scale_end(Error *error, ShardScale *scale)
{
    const hsize_t shape = (hsize_t)scale->n_uses;
    const hid_t type = shard_id(error, H5Tcreate(H5T_COMPOUND, sizeof *scale->uses), scale->name);
    shard_ok(error, H5Tinsert(type, "dataset", HOFFSET(ShardScaleUse, dataset), H5T_STD_REF_OBJ), scale->name);
    shard_ok(error, H5Tinsert(type, "dimension", HOFFSET(ShardScaleUse, dimension), H5T_STD_I32LE), scale->name);
    if (scale->n_uses > 0)
        shard_put_attribute(error, scale->data, "REFERENCE_LIST", type, H5Screate_simple(1, &shape, NULL), scale->uses);
    shard_ok(error, H5Tclose(type), scale->name);
    shard_ok(error, H5Dclose(scale->data), scale->name);
}

void shard_attach(Error *error, const char *name, ShardScale *rows, ShardScale *columns)
{
    ShardScale *const scales[] = {rows, columns};
    const hsize_t rank = columns != NULL ? 2 : 1;
    hvl_t lists[2] = {{.len = 0}};
    const hid_t type = shard_id(error, H5Tvlen_create(H5T_STD_REF_OBJ), name);
    const hid_t data = shard_id(error, H5Dopen2(rows->parent, name, H5P_DEFAULT), name);
    for (hsize_t d = 0; d < rank; d++) {
        ShardScaleUse *use = &scales[d]->uses[scales[d]->n_uses++];
        *use = (ShardScaleUse){.dimension = (int32_t)d};
        shard_ok(error, H5Rcreate(&use->dataset, rows->parent, name, H5R_OBJECT, -1), name);
        lists[d] = (hvl_t){.len = 1, .p = &scales[d]->reference};
    }
    shard_put_attribute(error, data, "DIMENSION_LIST", type, H5Screate_simple(1, &rank, NULL), lists);
    shard_ok(error, H5Dclose(data), name);
    shard_ok(error, H5Tclose(type), name);
}

// ---- datasets of a few numbers or texts -----------------------------------------------------------------------------

// values NULL: none are stored
static void shard_put_values(Error *error, hid_t parent, const char *name, hid_t stored, hid_t memory, int64_t count,
                             const void *values)
{
    const hsize_t shape = (hsize_t)count;
    const hid_t create = shard_id(error, H5Pcreate(H5P_DATASET_CREATE), name);
    const hid_t space = shard_id(error, H5Screate_simple(1, &shape, NULL), name);
    shard_ok(error, H5Pset_obj_track_times(create, 0), name);
    const hid_t data = shard_id(error, H5Dcreate2(parent, name, stored, space, H5P_DEFAULT, create, H5P_DEFAULT), name);
    if (values != NULL && count > 0)
        shard_ok(error, H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name);
    shard_ok(error, H5Dclose(data), name);
    shard_ok(error, H5Sclose(space), name);
    shard_ok(error, H5Pclose(create), name);
}

// A dimension without coordinates. netCDF-4 knows it by its label, which ends with the length in ten characters.
static ShardScale shard_put_dimension(Error *error, hid_t parent, const char *name, int64_t length, int uses,
                                      Arena *arena)
{
    const char *label =
        arena_format(arena, "This is a netCDF dimension but not a netCDF variable.%10lld", (long long)length);
    shard_put_values(error, parent, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, length, NULL);
    return shard_scale_start(error, parent, name, label, uses, arena);
}

// "state_column": the names of the columns of `state`, by which xarray selects: state.sel(state_column="z_foot").
static ShardScale shard_put_names(Error *error, hid_t parent, const ShardGroup *group, const Field *columns,
                                  Arena *arena)
{
    const char *name = arena_format(arena, "%s_column", group->name);
    const char **names = ARENA_NEW(arena, const char *, group->count);
    const hid_t type = shard_text_type(error);
    for (int k = 0; k < group->count; k++) names[k] = columns[group->columns[k]].name;
    shard_put_values(error, parent, name, type, type, group->count, names);
    shard_ok(error, H5Tclose(type), name);
    return shard_scale_start(error, parent, name, name, 1, arena);
}

// ---- the dimensions of a group of arrays ----------------------------------------------------------------------------

typedef struct ShardLaneNumber {
    const char *name, *doc;
    int64_t (*of)(const ShardLane *lane);
} ShardLaneNumber;

static int64_t shard_lane_trial(const ShardLane *lane) { return lane->trial; }
static int64_t shard_lane_replicate(const ShardLane *lane) { return lane->replicate; }
static int64_t shard_lane_length(const ShardLane *lane) { return lane->length; }

// The table `lanes` once more, as netCDF and CF have it: a variable for each of its columns. netCDF skips a compound.
static void shard_put_lane_numbers(Error *error, hid_t parent, const ShardLane *lanes, int64_t n_lanes,
                                   ShardScale *lane, const char *samples, Arena *arena)
{
    static const ShardLaneNumber numbers[] = {{"lane_trial", "trial id", shard_lane_trial},
                                              {"lane_replicate", "replicate of the trial", shard_lane_replicate},
                                              {"lane_length", "samples of the lane", shard_lane_length}};
    const size_t used = arena->used;
    int64_t *values = ARENA_NEW(arena, int64_t, n_lanes);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        const ShardLaneNumber *number = &numbers[k];
        for (int64_t i = 0; i < n_lanes; i++) values[i] = number->of(&lanes[i]);
        shard_put_values(error, parent, number->name, H5T_STD_I64LE, H5T_NATIVE_INT64, n_lanes, values);
        shard_attach(error, number->name, lane, NULL);
        const hid_t data = shard_id(error, H5Dopen2(parent, number->name, H5P_DEFAULT), number->name);
        shard_put_text(error, data, "long_name", number->doc);
        shard_put_text(error, data, "units", "1");
        if (number->of == shard_lane_length) shard_put_text(error, data, "sample_dimension", samples);
        shard_ok(error, H5Dclose(data), number->name);
    }
    arena_rewind(arena, used);
}

// NaN stands for a missing number; an integer is never missing. The attribute has the type of the dataset.
static void shard_put_missing(Error *error, hid_t data, ShardNumber number)
{
    const hsize_t one = 1;
    const double missing = NAN;
    if (number.file != H5T_IEEE_F32LE && number.file != H5T_IEEE_F64LE) return;
    const hid_t attribute = shard_id(
        error, H5Acreate2(data, "_FillValue", number.file, H5Screate_simple(1, &one, NULL), H5P_DEFAULT, H5P_DEFAULT),
        "_FillValue");
    shard_ok(error, H5Awrite(attribute, H5T_NATIVE_DOUBLE, &missing), "_FillValue");
    shard_ok(error, H5Aclose(attribute), "_FillValue");
}

// The names of the datasets that say where a sample belongs: time, or the first one's, and those beside the columns.
static const char *shard_coordinates(const ShardGroups *groups, const char *const *beside, Arena *arena)
{
    const char *names = groups->items[0].name;
    for (; *beside != NULL; beside++) names = arena_format(arena, "%s %s", names, *beside);
    return names;
}

void shard_put_dimensions(Error *error, hid_t parent, const ShardSamples *samples, Arena *arena)
{
    const ShardGroups *groups = samples->groups;
    const char *coordinates = shard_coordinates(groups, samples->beside, arena);
    int64_t count = 0;
    for (int64_t i = 0; i < samples->n_lanes; i++) count += samples->lanes[i].length;
    ShardScale sample = shard_put_dimension(error, parent, "sample", count, groups->count + SHARD_BESIDE_MAX, arena);
    ShardScale lane = shard_put_dimension(error, parent, "lane", samples->n_lanes, 4, arena);
    for (int g = 0; g < groups->count; g++) {
        const ShardGroup *group = &groups->items[g];
        ShardScale column;
        if (group->count > 1) column = shard_put_names(error, parent, group, samples->columns, arena);
        shard_attach(error, group->name, &sample, group->count > 1 ? &column : NULL);
        if (group->count > 1) shard_scale_end(error, &column);
        if (g == 0) continue;
        const hid_t data = shard_id(error, H5Dopen2(parent, group->name, H5P_DEFAULT), group->name);
        shard_put_text(error, data, "coordinates", coordinates);
        shard_put_missing(error, data, shard_number(group, samples->float64));
        shard_ok(error, H5Dclose(data), group->name);
    }
    for (const char *const *name = samples->beside; *name != NULL; name++) shard_attach(error, *name, &sample, NULL);
    shard_attach(error, "lanes", &lane, NULL);
    shard_put_lane_numbers(error, parent, samples->lanes, samples->n_lanes, &lane, sample.name, arena);
    shard_scale_end(error, &sample);
    shard_scale_end(error, &lane);
}
