// Point clouds.
#ifndef HOPSCOTCH_IO_CLOUD_H
#define HOPSCOTCH_IO_CLOUD_H

#include "file.h"

// Reads PCD (ascii, binary, binary_compressed), PLY (ascii, binary of either byte order) and CSV of x, y, z (m); the
// first bytes tell which. Points with a coordinate that is not finite are left out and counted.
typedef struct CloudFile {
    Cloud cloud;
    int64_t dropped;
    Arena arena; // holds the points; cloud_close() frees it
} CloudFile;

enum { CLOUD_FIELDS_MAX = 64, CLOUD_POINTS_MAX = 1 << 26 };
#define CLOUD_BYTES_MAX ((size_t)4 << 30) // of a file

// Memory is bounded by the size of the file, not by its header. Errors (user) name the file and the line or the byte;
// after an error there is nothing to close.
Error cloud_read(const char *path, CloudFile *out);
// As cloud_read, from bytes in memory, followed by a NUL that `size` does not count. name: for messages.
Error cloud_parse(const char *name, Bytes data, CloudFile *out);
void cloud_close(CloudFile *file);

#endif
