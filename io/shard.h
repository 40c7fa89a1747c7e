// HDF5 shards: files with the trajectories, or other arrays of one kind, of many lanes. One thread at a time may call
// these functions.
#ifndef HOPSCOTCH_IO_SHARD_H
#define HOPSCOTCH_IO_SHARD_H

#include "file.h"

typedef struct ShardLane {
    int64_t trial;
    int32_t replicate;
    int64_t length; // samples
} ShardLane;

typedef struct ShardAttribute {
    const char *name, *text;
} ShardAttribute;

// Arrays of one kind, such as trajectories: lanes of different lengths, one after the other, in an HDF5 group.
// `columns[0]` is time. Columns that share a `group` stand in one dataset <group of the shard>/<group> of shape
// [samples, columns of the group] (a group of one column: [samples]). Beside them the table `lanes` is a compound
// {trial, replicate, offset, length}. Every dataset has the attributes long_name, units and column_names.
//
// All dimensions have names, so that netCDF-4 and xarray open the group: `sample`, `lane`, and <group>_column with the
// names of the columns. `lane_trial`, `lane_replicate` and `lane_length` are the table of lanes as netCDF has it; the
// last one counts the samples of a contiguous ragged array (CF 9.3.3). `coordinates` names the time of the samples, and
// `_FillValue` is NaN.
#define SHARD_TRAJECTORIES "trajectories"
#define SHARD_DEBUG "debug/newton" // or debug/ and the model's name for its debug rows

typedef struct Shard {
    const char *group;                // its HDF5 group: SHARD_TRAJECTORIES, SHARD_DEBUG or the model's
    const ShardAttribute *attributes; // of the file: campaign, spec hash, versions, model, seed
    int n_attributes;
    const Field *columns;
    int n_columns;
    const FieldWords *words; // [n_words]: the dataset of such a column has the attribute `words`
    int n_words;
    const ShardLane *lanes;
    int64_t n_lanes;
    const double *samples; // [sum of lengths][n_columns], lane after lane
    bool float64;          // else float32
    bool gzip;             // shuffle + deflate
} Shard;

// Builds the bytes of the file in memory (HDF5's core driver). Equal contents give equal bytes. The caller frees
// image->data. Error (machine): not enough memory.
Error shard_build(const Shard *shard, Bytes *image);

// The arrays that a reader expects in a shard. They come from the spec, not from the file.
typedef struct ShardLayout {
    const char *group;
    const Field *columns;
    int n_columns; // 0: only the table of lanes is read
} ShardLayout;

// Opens a shard for reading. The file's SHA-256 is compared with `sha256`, unless NULL, before HDF5 sees the file. The
// layout's columns must outlive the reader. Error (machine): the file is missing or damaged; the message has the path.
typedef struct ShardReader ShardReader;
Error shard_open(const char *path, const ShardLayout *layout, const char *sha256, ShardReader **out);
int64_t shard_lane_count(const ShardReader *reader);
ShardLane shard_lane(const ShardReader *reader, int64_t index); // 0 <= index < shard_lane_count
bool shard_is_float64(const ShardReader *reader);               // else its samples are float32
// samples[length][n_columns] <- the samples of lane `index`, in the layout's order of columns, widened to double.
Error shard_samples(ShardReader *reader, int64_t index, double *samples);
void shard_close(ShardReader *reader);

#endif
