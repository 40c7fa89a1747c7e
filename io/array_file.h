// HDF5 files with copies of recorded arrays, for other programs.
#ifndef HOPSCOTCH_IO_ARRAY_FILE_H
#define HOPSCOTCH_IO_ARRAY_FILE_H

#include "shard.h"

// An HDF5 file with copies of recorded arrays: per group one dataset for each group of columns, as in a shard, with the
// lanes one after the other, the table `lanes`, and the datasets `trial` and `replicate` of every sample. It takes the
// memory of the table, of a chunk (1 MiB) per dataset, and of the lane that is copied.
typedef struct ArrayGroup {
    const char *group; // as a shard's
    const Field *columns;
    int n_columns;
    bool float64, gzip;
    const ShardLane *lanes; // [n_lanes], in the order of the samples
    int64_t n_lanes;
    // Reads the samples of lanes[index], [length][n_columns]; they are used until the next call.
    Error (*read)(void *of, int64_t index, const double **samples);
    void *of;
} ArrayGroup;
typedef struct ArrayFile ArrayFile;
// descriptor: a new file that can be read and written; path: its name for messages. Both stay the caller's.
Error array_file_open(int descriptor, const char *path, const ShardAttribute *attributes, int n_attributes,
                      ArrayFile **out);
Error array_file_put(ArrayFile *file, const ArrayGroup *group);
Error array_file_close(ArrayFile *file, Error error); // also after an error, which it returns

#endif
