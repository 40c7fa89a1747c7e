// Reads a shard back: the whole file is taken into memory and its SHA-256 compared before HDF5 sees it; what the tables
// say is checked when it is opened, so that reading a lane needs no memory and stays within the samples.
#include "seam.h"
#include "shard.h"

#include <stdlib.h>
#include <string.h>

// ---- opening --------------------------------------------------------------------------------------------------------

typedef struct ShardTexts {
    const char **items;
    int count;
} ShardTexts;

// What a damaged table may not exceed, so that the memory of a reader is known beforehand.
enum { SHARD_COLUMNS_MAX = 1024, SHARD_NAME_MAX = 255, SHARD_READER_MEMORY = 16 << 20 };

struct ShardReader {
    Arena arena; // path, datasets, groups and columns
    const char *path;
    hid_t file;
    hid_t *datasets; // [groups.count]
    ShardGroups groups;
    ShardTexts columns;
    int64_t n_lanes, n_samples;
    ShardRow *rows; // [n_lanes], malloc
    double *block;  // [longest lane][widest group], malloc
    bool float64;
};

static Error shard_damaged(const char *path, const char *why)
{
    return error_make(ERROR_MACHINE, "shard %s is damaged: %.200s", path_text(path).text, why);
}

static Error shard_verify(const char *path, const char *sha256, const Bytes *image)
{
    const Sha256Text found = sha256_of(image->data, image->size);
    if (strcmp(found.hex, sha256) == 0) return error_none();
    char why[160];
    snprintf(why, sizeof why, "its SHA-256 begins with %.12s and should with %.12s", found.hex, sha256);
    return shard_damaged(path, why);
}

static hid_t shard_open_image(Error *error, const Bytes *image)
{
    const hid_t access = shard_id(error, H5Pcreate(H5P_FILE_ACCESS), "the file");
    shard_ok(error, H5Pset_fapl_core(access, SHARD_GROWTH, 0), "the file");
    shard_ok(error, H5Pset_file_image(access, image->data, image->size), "the file");
    char name[64]; // HDF5 takes two open files of one name for the same file; an identifier is never given twice
    snprintf(name, sizeof name, "shard %lld", (long long)access);
    const hid_t file = shard_id(error, H5Fopen(name, H5F_ACC_RDONLY, access), "the file");
    shard_ok(error, H5Pclose(access), "the file");
    return file;
}

// Texts of an attribute of the shard's group
static ShardTexts shard_get_texts(Error *error, hid_t group, const char *name, Arena *arena)
{
    ShardTexts out = {0};
    const hid_t attribute = shard_id(error, H5Aopen(group, name, H5P_DEFAULT), name);
    const hid_t space = shard_id(error, H5Aget_space(attribute), name), type = shard_text_type(error);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    char *texts[SHARD_COLUMNS_MAX] = {0};
    shard_check(error, count > 0 && count <= SHARD_COLUMNS_MAX, name);
    if (error->kind == OK) shard_ok(error, H5Aread(attribute, type, texts), name);
    if (error->kind == OK) {
        out = (ShardTexts){.items = ARENA_NEW(arena, const char *, count), .count = (int)count};
        for (int i = 0; i < out.count; i++)
            out.items[i] = arena_format(arena, "%.*s", SHARD_NAME_MAX, texts[i] != NULL ? texts[i] : "");
        shard_ok(error, H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts), name);
    }
    shard_ok(error, H5Tclose(type), name);
    shard_ok(error, H5Sclose(space), name);
    shard_ok(error, H5Aclose(attribute), name);
    return out;
}

// shape[2] of a dataset: {rows, columns}
static void shard_get_shape(Error *error, hid_t data, const char *name, int64_t *shape)
{
    hsize_t extent[2] = {0, 1};
    const hid_t space = shard_id(error, H5Dget_space(data), name);
    const int rank = error->kind == OK ? H5Sget_simple_extent_ndims(space) : 0;
    shard_check(error, rank == 1 || rank == 2, name);
    if (error->kind == OK) H5Sget_simple_extent_dims(space, extent, NULL);
    shape[0] = (int64_t)extent[0];
    shape[1] = (int64_t)extent[1];
    shard_ok(error, H5Sclose(space), name);
}

static void shard_get_lanes(Error *error, ShardReader *reader, hid_t group)
{
    int64_t shape[2];
    const hid_t data = shard_id(error, H5Dopen2(group, "lanes", H5P_DEFAULT), "the lane table");
    const hid_t type = shard_row_type(error);
    shard_get_shape(error, data, "the lane table", shape);
    reader->n_lanes = shape[0];
    reader->rows = calloc((size_t)shape[0] + 1, sizeof(ShardRow));
    if (reader->rows == NULL && error->kind == OK)
        *error = error_make(ERROR_MACHINE, "not enough memory for its lanes");
    if (error->kind == OK && shape[0] > 0)
        shard_ok(error, H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, reader->rows), "the lane table");
    shard_ok(error, H5Tclose(type), "the lane table");
    shard_ok(error, H5Dclose(data), "the lane table");
}

static void shard_get_datasets(Error *error, ShardReader *reader, hid_t group)
{
    reader->columns = shard_get_texts(error, group, "columns", &reader->arena);
    const ShardTexts names = shard_get_texts(error, group, "column_groups", &reader->arena);
    if (error->kind == OK && names.count != reader->columns.count)
        *error = error_make(ERROR_MACHINE, "columns and column_groups differ in length");
    if (error->kind != OK) return;
    reader->groups = shard_groups(names.items, names.count, &reader->arena);
    reader->datasets = ARENA_NEW(&reader->arena, hid_t, reader->groups.count);
    for (int g = 0; g < reader->groups.count; g++) {
        const ShardGroup *item = &reader->groups.items[g];
        int64_t shape[2];
        reader->datasets[g] = shard_id(error, H5Dopen2(group, item->name, H5P_DEFAULT), item->name);
        shard_get_shape(error, reader->datasets[g], item->name, shape);
        if (g == 0) reader->n_samples = shape[0];
        if (error->kind == OK && (shape[0] != reader->n_samples || shape[1] != item->count))
            *error = error_make(ERROR_MACHINE, "%s has another shape than its columns ask for", item->name);
    }
    const hid_t type = shard_id(error, H5Dget_type(reader->datasets[0]), "the precision");
    reader->float64 = H5Tget_size(type) == 8;
    shard_ok(error, H5Tclose(type), "the precision");
}

static void shard_prepare_lanes(Error *error, ShardReader *reader)
{
    int64_t longest = 0;
    int widest = 1;
    for (int64_t i = 0; i < reader->n_lanes && error->kind == OK; i++) {
        const ShardRow *row = &reader->rows[i];
        if (row->offset < 0 || row->length < 0 || row->length > reader->n_samples - row->offset)
            *error = error_make(ERROR_MACHINE, "lane %lld points beyond the samples", (long long)i);
        if (row->length > longest) longest = row->length;
    }
    for (int g = 0; g < reader->groups.count; g++) {
        if (reader->groups.items[g].count > widest) widest = reader->groups.items[g].count;
    }
    if (error->kind == OK) reader->block = calloc((size_t)(longest + 1), (size_t)widest * sizeof(double));
    if (error->kind == OK && reader->block == NULL)
        *error = error_make(ERROR_MACHINE, "not enough memory for a lane of %lld samples", (long long)longest);
}

static Error shard_open_parts(ShardReader *reader, const char *name, const Bytes *image)
{
    Error error = error_none();
    reader->file = shard_open_image(&error, image);
    const hid_t group = shard_id(&error, H5Gopen2(reader->file, name, H5P_DEFAULT), name);
    if (error.kind == OK) shard_get_datasets(&error, reader, group);
    if (error.kind == OK) shard_get_lanes(&error, reader, group);
    if (error.kind == OK) shard_prepare_lanes(&error, reader);
    shard_ok(&error, H5Gclose(group), name);
    return error.kind == OK ? error : shard_damaged(reader->path, error.text);
}

// The whole file in memory, checked, and then the copy that HDF5 takes of it.
static Error shard_load(ShardReader *reader, const char *group, const char *sha256, int64_t bytes)
{
    Arena arena;
    Bytes image;
    TRY(arena_create(&arena, (size_t)bytes + (1 << 16), "reading a shard"));
    Error error = file_read(reader->path, (size_t)bytes, &arena, &image);
    if (error.kind == OK && sha256 != NULL) error = shard_verify(reader->path, sha256, &image);
    if (error.kind == OK) error = shard_open_parts(reader, group, &image);
    arena_destroy(&arena);
    return error;
}

static Error shard_new_reader(const char *path, ShardReader **out)
{
    ShardReader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return error_make(ERROR_MACHINE, "not enough memory to read shard %s", path_text(path).text);
    const Error error = arena_create(&reader->arena, SHARD_READER_MEMORY, "reading a shard");
    if (error.kind != OK) {
        free(reader);
        return error;
    }
    reader->path = arena_copy(&reader->arena, path);
    reader->file = H5I_INVALID_HID;
    *out = reader;
    return error_none();
}

Error shard_open(const char *path, const char *group, const char *sha256, ShardReader **out)
{
    int64_t bytes = 0;
    ShardReader *reader = NULL;
    *out = NULL;
    if (!file_exists(path)) return error_make(ERROR_MACHINE, "shard %s is missing", path_text(path).text);
    TRY(file_size(path, &bytes));
    shard_quiet();
    TRY(shard_new_reader(path, &reader));
    const Error error = shard_load(reader, group, sha256, bytes);
    if (error.kind != OK)
        shard_close(reader);
    else
        *out = reader;
    return error;
}

void shard_close(ShardReader *reader)
{
    if (reader == NULL) return;
    for (int g = 0; g < reader->groups.count && reader->datasets != NULL; g++) H5Dclose(reader->datasets[g]);
    H5Fclose(reader->file); // nothing was written that a failed close could lose
    free(reader->rows);
    free(reader->block);
    arena_destroy(&reader->arena);
    free(reader);
}

// ---- reading --------------------------------------------------------------------------------------------------------

int64_t shard_lane_count(const ShardReader *reader) { return reader->n_lanes; }

ShardLane shard_lane(const ShardReader *reader, int64_t index)
{
    const ShardRow *row = &reader->rows[index];
    return (ShardLane){.trial = row->trial, .replicate = row->replicate, .length = row->length};
}

int shard_column_count(const ShardReader *reader) { return reader->columns.count; }

const char *shard_column_name(const ShardReader *reader, int column) { return reader->columns.items[column]; }

bool shard_is_float64(const ShardReader *reader) { return reader->float64; }

// block[length][columns of the group] <- the lane's rows, widened by HDF5
static void shard_read_group(Error *error, const ShardReader *reader, int g, const ShardRow *row)
{
    const ShardGroup *group = &reader->groups.items[g];
    const hsize_t start[2] = {(hsize_t)row->offset, 0}, count[2] = {(hsize_t)row->length, (hsize_t)group->count};
    const hid_t space = shard_id(error, H5Dget_space(reader->datasets[g]), group->name);
    const hid_t memory = shard_id(error, H5Screate_simple(group->count > 1 ? 2 : 1, count, NULL), group->name);
    shard_ok(error, H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), group->name);
    shard_ok(error, H5Dread(reader->datasets[g], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, reader->block),
             group->name);
    shard_ok(error, H5Sclose(memory), group->name);
    shard_ok(error, H5Sclose(space), group->name);
}

Error shard_samples(ShardReader *reader, int64_t index, double *samples)
{
    const ShardRow *row = &reader->rows[index];
    if (row->length == 0) return error_none();
    for (int g = 0; g < reader->groups.count; g++) {
        const ShardGroup *group = &reader->groups.items[g];
        Error error = error_none();
        shard_read_group(&error, reader, g, row);
        if (error.kind != OK) return shard_damaged(reader->path, error.text);
        for (int64_t i = 0; i < row->length; i++) {
            for (int k = 0; k < group->count; k++)
                samples[i * reader->columns.count + group->columns[k]] = reader->block[i * group->count + k];
        }
    }
    return error_none();
}
