// Reads point clouds from PCD, PLY and CSV files.
#ifndef HOPSCOTCH_IO_CLOUD_H
#define HOPSCOTCH_IO_CLOUD_H

#include "file.h"

// PCD may be ascii, binary or binary_compressed; PLY ascii or binary of either byte order; CSV has columns x, y, z.
// Coordinates are in m. The first bytes decide the format.
typedef struct CloudFile {
    Cloud cloud;
    int64_t dropped; // points that were left out because a coordinate is not finite
    Arena arena;     // holds the points; cloud_close() frees it
} CloudFile;

enum { CLOUD_FIELDS_MAX = 64, CLOUD_POINTS_MAX = 1 << 26 };
#define CLOUD_BYTES_MAX ((size_t)4 << 30) // of a file

// The size of the file bounds the memory, whatever its header says. Error (user), with the file and the line or byte:
// the file is not a cloud. After an error there is nothing to close.
Error cloud_read(const char *path, CloudFile *out);
// As cloud_read, from bytes in memory. A NUL that data.size does not count follows them. name: for messages.
Error cloud_parse(const char *name, Bytes data, CloudFile *out);
void cloud_close(CloudFile *file);

#endif
