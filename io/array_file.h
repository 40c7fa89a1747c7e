// HDF5 files with copies of recorded arrays, for other programs.
#ifndef HOPSCOTCH_IO_ARRAY_FILE_H
#define HOPSCOTCH_IO_ARRAY_FILE_H

#include "shard.h"

// The arrays of an HDF5 group: datasets and the table `lanes` as in a shard (shard.h), and the datasets `trial` and
// `replicate` with a number per sample. Writing takes the memory of the table, a chunk (1 MiB) per dataset, and a lane.
typedef struct ArrayGroup {
    const char *group; // name of the group, as in Shard
    const Field *columns;
    int n_columns;
    const FieldWords *words; // [n_words], as in Shard
    int n_words;
    bool float64, gzip;
    const ShardLane *lanes; // [n_lanes], in the order of the samples
    int64_t n_lanes;
    // *samples <- the samples of lanes[index], [length][n_columns], valid until the next call.
    Error (*read)(void *of, int64_t index, const double **samples);
    void *of;
} ArrayGroup;
typedef struct ArrayFile ArrayFile;
// Starts a file with these attributes. descriptor: an empty file, open for reading and writing; path: its name for
// messages. The caller owns both. After an error there is nothing to close.
Error array_file_open(int descriptor, const char *path, const ShardAttribute *attributes, int n_attributes,
                      ArrayFile **out);
Error array_file_put(ArrayFile *file, const ArrayGroup *group);
// error: the first error so far, or none; it is returned, or else an error of closing.
Error array_file_close(ArrayFile *file, Error error);

#endif
