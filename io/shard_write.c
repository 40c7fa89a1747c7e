// Builds an HDF5 shard in memory: attributes of the file; in the shard's group one dataset per group of columns, the
// table of lanes, and the dimensions of all. Equal contents give equal bytes.
#include "shard_hdf5.h"

#include <stdlib.h>
#include <string.h>

// ---- attributes -----------------------------------------------------------------------------------------------------

void shard_put_attribute(Error *error, hid_t object, const char *name, hid_t type, hid_t space, const void *value)
{
    const hid_t attribute = shard_id(error, H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), name);
    shard_ok(error, H5Awrite(attribute, type, value), name);
    shard_ok(error, H5Aclose(attribute), name);
    shard_ok(error, H5Sclose(space), name);
}

hid_t shard_text_type(Error *error)
{
    const hid_t type = shard_id(error, H5Tcopy(H5T_C_S1), "a text type");
    shard_ok(error, H5Tset_size(type, H5T_VARIABLE), "a text type");
    shard_ok(error, H5Tset_cset(type, H5T_CSET_UTF8), "a text type");
    return type;
}

// Texts of variable length in UTF-8, which h5py returns as str: one, or an array of `count`.
void shard_put_texts(Error *error, hid_t object, const char *name, const char *const *texts, hsize_t count)
{
    const hid_t type = shard_text_type(error);
    shard_put_attribute(error, object, name, type, H5Screate_simple(1, &count, NULL), texts);
    shard_ok(error, H5Tclose(type), name);
}

void shard_put_text(Error *error, hid_t object, const char *name, const char *text)
{
    const hid_t type = shard_text_type(error);
    shard_put_attribute(error, object, name, type, H5Screate(H5S_SCALAR), &text);
    shard_ok(error, H5Tclose(type), name);
}

// For an object that has the names of `count` columns. More than about 4,090 do not fit into an object header of the
// first version: 64 KiB, 16 bytes per text. In one of the second version, which HDF5 makes where the order of
// attributes is kept and reads since 1.8, a large attribute lies outside. All other objects stay as they are.
void shard_make_room(Error *error, hid_t create, int64_t count)
{
    const int64_t fit = 4000;
    if (count > fit) shard_ok(error, H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED), "names of columns");
}

// ---- the numbers of a group -----------------------------------------------------------------------------------------

static bool shard_convert_double(const double *in, void *out, size_t i)
{
    ((double *)out)[i] = *in;
    return true;
}

static bool shard_convert_float(const double *in, void *out, size_t i)
{
    ((float *)out)[i] = (float)*in;
    return true;
}

static bool shard_convert_int8(const double *in, void *out, size_t i)
{
    if (!(*in >= INT8_MIN && *in <= INT8_MAX)) return false;
    ((int8_t *)out)[i] = (int8_t)*in;
    return (double)((int8_t *)out)[i] == *in;
}

static bool shard_convert_int32(const double *in, void *out, size_t i)
{
    if (!(*in >= INT32_MIN && *in <= INT32_MAX)) return false;
    ((int32_t *)out)[i] = (int32_t)*in;
    return (double)((int32_t *)out)[i] == *in;
}

ShardNumber shard_number(const ShardGroup *group, bool float64)
{
    const int bytes = shard_integer_bytes(group);
    if (bytes == 1) return (ShardNumber){1, H5T_STD_I8LE, H5T_NATIVE_INT8, shard_convert_int8};
    if (bytes == 4) return (ShardNumber){4, H5T_STD_I32LE, H5T_NATIVE_INT32, shard_convert_int32};
    if (float64) return (ShardNumber){8, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shard_convert_double};
    return (ShardNumber){4, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, shard_convert_float};
}

// Columns of the group of samples[rows][n_columns], converted: behind the rows that the buffer holds.
static Error shard_gather(ShardDataset *dataset, const Field *columns, int n_columns, const double *samples,
                          int64_t rows)
{
    const ShardGroup *group = dataset->group;
    size_t i = (size_t)dataset->held * (size_t)group->count;
    for (int64_t row = 0; row < rows; row++) {
        const double *sample = samples + row * n_columns;
        for (int k = 0; k < group->count; k++) {
            const int c = group->columns[k];
            if (!dataset->number.convert(&sample[c], dataset->buffer, i++))
                return error_make(ERROR_MACHINE, "column %s of sample %lld is %g: group %s holds integers of %zu bits",
                                  columns[c].name, (long long)(dataset->written + dataset->held + row), sample[c],
                                  group->name, 8 * dataset->number.size);
        }
    }
    return error_none();
}

// ---- datasets -------------------------------------------------------------------------------------------------------

// Rows per chunk: about 1 MiB. All chunks are about equally full, because the last one is stored whole.
static int64_t shard_chunk_rows(int64_t samples, size_t row_bytes)
{
    const int64_t most = row_bytes < SHARD_CHUNK_BYTES ? (int64_t)(SHARD_CHUNK_BYTES / row_bytes) : 1;
    const int64_t chunks = (samples + most - 1) / most;
    return chunks > 0 ? (samples + chunks - 1) / chunks : 1;
}

// Creation times are off, so that equal contents give equal bytes. An empty dataset has no chunks.
static hid_t shard_create_dataset(Error *error, hid_t parent, const char *name, hid_t type, hid_t space,
                                  int64_t chunk_rows, int deflate)
{
    hsize_t shape[2] = {0};
    const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    const hid_t create = shard_id(error, H5Pcreate(H5P_DATASET_CREATE), name);
    shard_ok(error, H5Pset_obj_track_times(create, 0), name);
    shard_make_room(error, create, rank > 1 ? (int64_t)shape[1] : 1);
    if (shape[0] > 0) {
        const hsize_t chunk[2] = {(hsize_t)chunk_rows, shape[1]};
        shard_ok(error, H5Pset_chunk(create, rank, chunk), name);
        if (deflate > 0) {
            shard_ok(error, H5Pset_shuffle(create), name);
            shard_ok(error, H5Pset_deflate(create, (unsigned)deflate), "compression (is it built with zlib?)");
        }
    }
    const hid_t data = shard_id(error, H5Dcreate2(parent, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT), name);
    shard_ok(error, H5Pclose(create), name);
    return data;
}

void shard_open_rows(Error *error, ShardDataset *dataset, const ShardGroup *group, ShardNumber number, int deflate,
                     int64_t samples, hid_t parent, Arena *arena)
{
    const hsize_t shape[2] = {(hsize_t)samples, (hsize_t)group->count};
    const size_t row_bytes = number.size * (size_t)group->count;
    *dataset = (ShardDataset){.group = group, .number = number, .chunk_rows = shard_chunk_rows(samples, row_bytes)};
    dataset->space = shard_id(error, H5Screate_simple(group->count > 1 ? 2 : 1, shape, NULL), group->name);
    dataset->data =
        shard_create_dataset(error, parent, group->name, number.file, dataset->space, dataset->chunk_rows, deflate);
    dataset->buffer = arena_take(arena, (size_t)dataset->chunk_rows, row_bytes);
}

void shard_flush_rows(Error *error, ShardDataset *dataset)
{
    const ShardGroup *group = dataset->group;
    const hsize_t start[2] = {(hsize_t)dataset->written, 0};
    const hsize_t count[2] = {(hsize_t)dataset->held, (hsize_t)group->count};
    if (dataset->held == 0) return;
    const hid_t memory = shard_id(error, H5Screate_simple(group->count > 1 ? 2 : 1, count, NULL), group->name);
    shard_ok(error, H5Sselect_hyperslab(dataset->space, H5S_SELECT_SET, start, NULL, count, NULL), group->name);
    shard_ok(error,
             H5Dwrite(dataset->data, dataset->number.memory, memory, dataset->space, H5P_DEFAULT, dataset->buffer),
             group->name);
    shard_ok(error, H5Sclose(memory), group->name);
    dataset->written += dataset->held;
    dataset->held = 0;
}

void shard_append(Error *error, ShardDataset *dataset, const Field *columns, int n_columns, const double *samples,
                  int64_t rows)
{
    while (rows > 0 && error->kind == OK) {
        const int64_t room = dataset->chunk_rows - dataset->held, n = rows < room ? rows : room;
        *error = shard_gather(dataset, columns, n_columns, samples, n);
        dataset->held += n;
        if (error->kind == OK && dataset->held == dataset->chunk_rows) shard_flush_rows(error, dataset);
        samples += n * n_columns;
        rows -= n;
    }
}

void shard_end_rows(Error *error, ShardDataset *dataset)
{
    if (error->kind == OK) shard_flush_rows(error, dataset);
    shard_ok(error, H5Sclose(dataset->space), dataset->group->name);
}

static bool shard_unit_letter(char c)
{
    return (c & 0x80) != 0 || c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

enum { SHARD_UNIT_MAX = 64 }; // a longer unit stays as it is, so that the memory for units is known

// A unit as UDUNITS-2 and CF read it. Of our words UDUNITS does not know two. A word of the user stays as it is.
static const char *shard_unit(const char *unit, Arena *arena)
{
    static const char *const ours[] = {"deg", "rev"}, *const theirs[] = {"degree", "revolution"};
    if (unit == NULL) return "1";
    if (strlen(unit) > SHARD_UNIT_MAX || (strstr(unit, ours[0]) == NULL && strstr(unit, ours[1]) == NULL)) return unit;
    char *out = ARENA_NEW(arena, char, SHARD_UNIT_MAX *strlen(theirs[1]) + 1), *end = out;
    while (*unit != '\0') {
        size_t size = shard_unit_letter(*unit);
        while (size > 0 && shard_unit_letter(unit[size])) size++;
        const char *word = unit;
        for (int w = 0; w < 2; w++)
            if (size == strlen(ours[w]) && strncmp(unit, ours[w], size) == 0) word = theirs[w];
        if (size == 0) size = 1;
        end = stpncpy(end, word, word == unit ? size : strlen(word));
        unit += size;
    }
    return out;
}

void shard_describe_columns(Error *error, const Field *columns, const ShardGroup *group, hid_t data, Arena *arena)
{
    const char **docs = ARENA_NEW(arena, const char *, group->count);
    const char **units = ARENA_NEW(arena, const char *, group->count);
    const char **names = ARENA_NEW(arena, const char *, group->count);
    for (int k = 0; k < group->count; k++) {
        const Field *field = &columns[group->columns[k]];
        docs[k] = field->doc != NULL ? field->doc : field->name;
        units[k] = shard_unit(field->unit, arena);
        names[k] = field->name;
    }
    shard_put_texts(error, data, "long_name", docs, (hsize_t)group->count);
    shard_put_texts(error, data, "units", units, (hsize_t)group->count);
    shard_put_texts(error, data, "column_names", names, (hsize_t)group->count);
}

void shard_describe_words(Error *error, const FieldWords *words, int n_words, const ShardGroup *group, hid_t data)
{
    for (int w = 0; w < n_words; w++) {
        if (words[w].column != group->columns[0]) continue; // a column with words has a group of its own
        shard_put_texts(error, data, "words", words[w].words, (hsize_t)words[w].count);
    }
}

// <group>: [samples][columns of the group], or [samples] if it has one
static void shard_put_group(Error *error, const Shard *shard, const ShardGroup *group, int64_t samples, hid_t parent,
                            Arena *arena)
{
    ShardDataset dataset;
    const size_t used = arena->used;
    shard_open_rows(error, &dataset, group, shard_number(group, shard->float64), shard->gzip ? SHARD_DEFLATE_LEVEL : 0,
                    samples, parent, arena);
    shard_append(error, &dataset, shard->columns, shard->n_columns, shard->samples, samples);
    shard_end_rows(error, &dataset);
    shard_describe_columns(error, shard->columns, group, dataset.data, arena);
    shard_describe_words(error, shard->words, shard->n_words, group, dataset.data);
    shard_ok(error, H5Dclose(dataset.data), group->name);
    arena_rewind(arena, used);
}

// ---- the lane table -------------------------------------------------------------------------------------------------

static void shard_describe_lanes(Error *error, hid_t data)
{
    static const char *const docs[] = {"trial id", "replicate of the trial", "first sample of the lane",
                                       "samples of the lane"};
    static const char *const units[] = {"1", "1", "1", "1"};
    static const char *const names[] = {"trial", "replicate", "offset", "length"};
    shard_put_texts(error, data, "long_name", docs, 4);
    shard_put_texts(error, data, "units", units, 4);
    shard_put_texts(error, data, "column_names", names, 4);
}

void shard_put_lanes(Error *error, const ShardLane *lanes, int64_t n_lanes, bool gzip, hid_t parent, Arena *arena)
{
    const int deflate = gzip ? SHARD_DEFLATE_LEVEL : 0;
    ShardRow *rows = ARENA_NEW(arena, ShardRow, n_lanes);
    int64_t offset = 0;
    for (int64_t i = 0; i < n_lanes; i++) {
        const ShardLane *lane = &lanes[i];
        rows[i] =
            (ShardRow){.trial = lane->trial, .replicate = lane->replicate, .offset = offset, .length = lane->length};
        offset += lane->length;
    }
    const hsize_t shape = (hsize_t)n_lanes;
    const hid_t memory = shard_row_type(error), file = shard_row_file_type(error);
    const hid_t space = shard_id(error, H5Screate_simple(1, &shape, NULL), "the lane table");
    const hid_t data =
        shard_create_dataset(error, parent, "lanes", file, space, shard_chunk_rows(n_lanes, 28), deflate);
    if (n_lanes > 0) shard_ok(error, H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows), "the lane table");
    shard_describe_lanes(error, data);
    shard_ok(error, H5Dclose(data), "the lane table");
    shard_ok(error, H5Sclose(space), "the lane table");
    shard_ok(error, H5Tclose(memory), "the lane table");
    shard_ok(error, H5Tclose(file), "the lane table");
}

// ---- building -------------------------------------------------------------------------------------------------------

hid_t shard_create_file(Error *error)
{
    const hid_t access = shard_id(error, H5Pcreate(H5P_FILE_ACCESS), "the file in memory");
    const hid_t create = shard_id(error, H5Pcreate(H5P_FILE_CREATE), "the file in memory");
    shard_ok(error, H5Pset_fapl_core(access, SHARD_GROWTH, 0), "the file in memory");
    shard_ok(error, H5Pset_obj_track_times(create, 0), "the file in memory");
    const hid_t file = shard_id(error, H5Fcreate("shard", H5F_ACC_TRUNC, create, access), "the file in memory");
    shard_ok(error, H5Pclose(access), "the file in memory");
    shard_ok(error, H5Pclose(create), "the file in memory");
    return file;
}

void shard_put_column_order(Error *error, const Field *columns, int n_columns, hid_t group, Arena *arena)
{
    const char **names = ARENA_NEW(arena, const char *, n_columns);
    const char **groups = ARENA_NEW(arena, const char *, n_columns);
    for (int c = 0; c < n_columns; c++) {
        names[c] = columns[c].name;
        groups[c] = columns[c].group;
    }
    shard_put_texts(error, group, "columns", names, (hsize_t)n_columns);
    shard_put_texts(error, group, "column_groups", groups, (hsize_t)n_columns);
}

// The group "a/b" and those above it, without creation times.
hid_t shard_create_group(Error *error, hid_t file, const char *path, int n_columns, Arena *arena)
{
    const hid_t create = shard_id(error, H5Pcreate(H5P_GROUP_CREATE), path);
    shard_ok(error, H5Pset_obj_track_times(create, 0), path);
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        const char *above = arena_format(arena, "%.*s", (int)(slash - path), path);
        shard_ok(error, H5Gclose(shard_id(error, H5Gcreate2(file, above, H5P_DEFAULT, create, H5P_DEFAULT), above)),
                 above);
    }
    shard_make_room(error, create, n_columns);
    const hid_t group = shard_id(error, H5Gcreate2(file, path, H5P_DEFAULT, create, H5P_DEFAULT), path);
    shard_ok(error, H5Pclose(create), path);
    return group;
}

static void shard_put_arrays(Error *error, const Shard *shard, hid_t file, Arena *arena)
{
    int64_t samples = 0;
    for (int64_t i = 0; i < shard->n_lanes; i++) samples += shard->lanes[i].length;
    const char **names = ARENA_NEW(arena, const char *, shard->n_columns);
    for (int c = 0; c < shard->n_columns; c++) names[c] = shard->columns[c].group;
    const ShardGroups groups = shard_groups(names, shard->n_columns, arena);

    const hid_t parent = shard_create_group(error, file, shard->group, shard->n_columns, arena);
    shard_put_column_order(error, shard->columns, shard->n_columns, parent, arena);
    for (int g = 0; g < groups.count; g++) shard_put_group(error, shard, &groups.items[g], samples, parent, arena);
    shard_put_lanes(error, shard->lanes, shard->n_lanes, shard->gzip, parent, arena);
    const ShardSamples described = {.groups = &groups,
                                    .columns = shard->columns,
                                    .float64 = shard->float64,
                                    .beside = &(const char *){NULL},
                                    .lanes = shard->lanes,
                                    .n_lanes = shard->n_lanes};
    shard_put_dimensions(error, parent, &described, arena);
    shard_ok(error, H5Gclose(parent), shard->group);
}

Error shard_take_image(hid_t file, Bytes *image)
{
    Error error = error_none();
    const ssize_t size = H5Fget_file_image(file, NULL, 0);
    shard_check(&error, size > 0, "the file in memory");
    if (error.kind != OK) return error;
    unsigned char *data = malloc((size_t)size);
    if (data == NULL) return error_make(ERROR_MACHINE, "not enough memory: a shard needs %zd bytes", size);
    shard_check(&error, H5Fget_file_image(file, data, (size_t)size) == size, "the file in memory");
    if (error.kind != OK) free(data);
    if (error.kind == OK) *image = (Bytes){.data = data, .size = (size_t)size};
    return error;
}

// Size of shard_build's arena: the lane rows, one buffer of samples, and texts for the columns.
static size_t shard_build_memory(const Shard *shard)
{
    const size_t columns = (size_t)shard->n_columns;
    return (size_t)shard->n_lanes * (sizeof(ShardRow) + sizeof(int64_t)) + 2 * SHARD_CHUNK_BYTES + columns * 1408 +
           (1 << 16);
}

// Upper bound, before compression
static size_t shard_image_bytes(const Shard *shard)
{
    const size_t number = shard->float64 ? sizeof(double) : sizeof(float);
    size_t samples = 0;
    for (int64_t i = 0; i < shard->n_lanes; i++) samples += (size_t)shard->lanes[i].length;
    return samples * (size_t)shard->n_columns * number +
           (size_t)shard->n_lanes * (sizeof(ShardRow) + 3 * sizeof(int64_t));
}

Error shard_build(const Shard *shard, Bytes *image)
{
    Arena arena;
    *image = (Bytes){0};
    TRY(arena_create(&arena, shard_build_memory(shard), "a shard"));
    const Error ready = shard_ready(shard_image_bytes(shard));
    if (ready.kind != OK) {
        arena_destroy(&arena);
        return ready;
    }
    Error error = error_none();
    const hid_t file = shard_create_file(&error);
    for (int i = 0; i < shard->n_attributes; i++)
        shard_put_text(&error, file, shard->attributes[i].name, shard->attributes[i].text);
    shard_put_arrays(&error, shard, file, &arena);
    shard_ok(&error, H5Fflush(file, H5F_SCOPE_GLOBAL), "the file in memory");
    if (error.kind == OK) error = shard_take_image(file, image);
    shard_ok(&error, H5Fclose(file), "the file in memory");
    arena_destroy(&arena);
    if (error.kind == OK) return error;
    free(image->data);
    *image = (Bytes){0};
    return error;
}
