// What the files that write and read shards share: calls of HDF5 and their errors, and the tables of a shard.
//
// Only these files call HDF5. A shard is built in memory (core driver) and read from memory, so HDF5 never touches the
// disk: files on disk are complete and checked, and HDF5's locks and exit handler have no effect on them. One thread at
// a time calls HDF5.
#ifndef HOPSCOTCH_SHARD_H
#define HOPSCOTCH_SHARD_H

#include "shard_columns.h"

#include <hdf5.h>

enum {
    SHARD_CHUNK_BYTES = 1 << 20,
    SHARD_GROWTH = 4 << 20,         // step by which the image in memory grows
    SHARD_LIBRARY_BYTES = 16 << 20, // memory that HDF5 takes itself, with its caches
    SHARD_DEFLATE_LEVEL = 4
};

// ---- calls and their errors -----------------------------------------------------------------------------------------
// Every result of HDF5 is checked, also of closing calls: H5Fclose can succeed after a failed H5Dclose. Calls follow
// each other without branches and report into one Error, which keeps the first failure. An id of a failed call is
// negative, and calls with it fail without harm. `what`: the object of the call, for the message.

// Call before HDF5. Error if there is no memory for an image of `bytes` and a copy of it.
Error shard_ready(size_t bytes);
// Set *error, unless it is set, if the result of a call is a failure: ok false, id < 0, status < 0.
void shard_check(Error *error, bool ok, const char *what);
hid_t shard_id(Error *error, hid_t id, const char *what); // returns id
void shard_ok(Error *error, herr_t status, const char *what);

// ---- columns in datasets, lanes in rows -----------------------------------------------------------------------------

// The columns that share a group, in the order of the shard's columns.
typedef struct ShardGroup {
    const char *name;
    int *columns; // [count] indices into the shard's columns
    int count;
} ShardGroup;

typedef struct ShardGroups {
    ShardGroup *items;
    int count;
} ShardGroups;

// groups_of_columns[n_columns]: the group's name of each column
ShardGroups shard_groups(const char *const *groups_of_columns, int n_columns, Arena *arena);

int shard_integer_bytes(const ShardGroup *group); // 1: the group "fsm"; 4: the integers of events; 0: no integers

// A row of the table `lanes`. `offset`: index of the lane's first sample among all samples of the shard.
typedef struct ShardRow {
    int64_t trial, offset, length;
    int32_t replicate;
} ShardRow;

// HDF5 types of a ShardRow in memory, and packed in the file. The caller closes the types.
hid_t shard_row_type(Error *error);
hid_t shard_row_file_type(Error *error);

// ---- rows of a dataset, written chunk by chunk (shard_write.c) ------------------------------------------------------

typedef struct ShardNumber {
    size_t size; // bytes
    hid_t file, memory;
    bool (*convert)(const double *in, void *out, size_t i); // out[i] <- *in; false: it can't hold the number
} ShardNumber;

// The number type of a dataset: the chosen precision, or integers.
ShardNumber shard_number(const ShardGroup *group, bool float64);

// A dataset [samples][columns of the group], or [samples] if the group has one. Rows are collected in a buffer of the
// size of a chunk (1 MiB), so that each chunk is compressed and written once.
typedef struct ShardDataset {
    const ShardGroup *group;
    ShardNumber number;
    hid_t data, space;
    void *buffer;                      // [chunk_rows][group->count] numbers, in the arena
    int64_t chunk_rows, held, written; // rows: of a chunk, in the buffer, in the file
} ShardDataset;

// deflate: the level of the compression, after a shuffle; 0: none
void shard_open_rows(Error *error, ShardDataset *dataset, const ShardGroup *group, ShardNumber number, int deflate,
                     int64_t samples, hid_t parent, Arena *arena);
// Appends the group's columns of samples[rows][n_columns].
void shard_append(Error *error, ShardDataset *dataset, const Field *columns, int n_columns, const double *samples,
                  int64_t rows);
void shard_flush_rows(Error *error, ShardDataset *dataset); // the rows in the buffer go to the file
void shard_end_rows(Error *error, ShardDataset *dataset);   // flushes; `data` stays open

// ---- a file on disk (shard_disk.c) ----------------------------------------------------------------------------------

// A driver of HDF5 that writes to an open file by the calls of system.h. After a failed write it discards all further
// writes and reports success, because HDF5 can crash or keep a file open if it can't write its buffers.
typedef struct ShardDisk {
    int descriptor;
    int reason; // errno of the first failed call; 0: no call failed
} ShardDisk;

// *disk must not move until the file is closed and the driver is released (H5FDunregister).
hid_t shard_disk_driver(Error *error);
hid_t shard_disk_create(Error *error, hid_t driver, ShardDisk *disk);

// ---- tables of a file, for shard_write.c ----------------------------------------------------------------------------

hid_t shard_create_file(Error *error);            // in memory
Error shard_take_image(hid_t file, Bytes *image); // the bytes of such a file, which the caller frees
// Creates a group and the groups above it; n_columns: number of columns whose names it will hold.
hid_t shard_create_group(Error *error, hid_t file, const char *path, int n_columns, Arena *arena);
void shard_make_room(Error *error, hid_t create, int64_t count); // for the names of `count` columns
// Add an attribute to an object. shard_put_attribute closes `space`; the caller closes the types.
hid_t shard_text_type(Error *error); // of variable length, in UTF-8
void shard_put_attribute(Error *error, hid_t object, const char *name, hid_t type, hid_t space, const void *value);
void shard_put_text(Error *error, hid_t object, const char *name, const char *text);
void shard_put_texts(Error *error, hid_t object, const char *name, const char *const *texts, hsize_t count);
// The names of the columns over all datasets, in their order, and their groups: attributes of the shard's group.
void shard_put_column_order(Error *error, const Field *columns, int n_columns, hid_t group, Arena *arena);
void shard_describe_columns(Error *error, const Field *columns, const ShardGroup *group, hid_t data, Arena *arena);
// The attribute `words` of the group's dataset, if a column of it has words.
void shard_describe_words(Error *error, const FieldWords *words, int n_words, const ShardGroup *group, hid_t data);
void shard_put_lanes(Error *error, const ShardLane *lanes, int64_t n_lanes, bool gzip, hid_t parent, Arena *arena);
// Creates a table without values. layouts[n_columns]: widths and values are given; offsets <- where the columns are in
// the file.
void shard_put_table(Error *error, const ShardTable *table, int64_t rows, hid_t file, ColumnLayout *layouts,
                     Arena *arena);

// ---- dimensions (shard_scales.c) ------------------------------------------------------------------------------------

// A dataset that is the scale of one dimension of others in its group.
typedef struct ShardScaleUse ShardScaleUse;
typedef struct ShardScale {
    const char *name;
    hid_t parent, data;
    hobj_ref_t reference;
    ShardScaleUse *uses; // [n_uses] datasets that have it
    int n_uses;
} ShardScale;

// Makes an existing dataset a scale. label: its attribute NAME; uses: how many datasets may be attached.
ShardScale shard_scale_start(Error *error, hid_t parent, const char *name, const char *label, int uses, Arena *arena);
// Labels the dimensions of a dataset. columns: the scale of the second one, or NULL if it has one dimension.
void shard_attach(Error *error, const char *name, ShardScale *rows, ShardScale *columns);
void shard_scale_end(Error *error, ShardScale *scale);

// The datasets of samples in a group.
typedef struct ShardSamples {
    const ShardGroups *groups; // the first one is time, or an id
    const Field *columns;
    bool float64;
    const char *const *beside; // names of further datasets with a number per sample, then NULL
    const ShardLane *lanes;    // [n_lanes]
    int64_t n_lanes;
} ShardSamples;
enum { SHARD_BESIDE_MAX = 2 };

// Labels all dimensions of the datasets, which exist, and of the table `lanes` (shard.h).
void shard_put_dimensions(Error *error, hid_t parent, const ShardSamples *samples, Arena *arena);

#endif
