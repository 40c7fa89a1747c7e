// Columns as HDF5's filters `shuffle` and `deflate` store them: the first bytes of all numbers, then the second ones,
// and so on; deflated (zlib, RFC 1950).
#ifndef HOPSCOTCH_IO_COLUMN_DEFLATE_H
#define HOPSCOTCH_IO_COLUMN_DEFLATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DEFLATED_ROWS = 1 << 20, // most: readers inflate a column as a whole
    DEFLATED_RATIO = 1040,   // a deflated byte gives fewer bytes than that
};

// out[room] <- raw[rows * width], deflated; returns the number of bytes. 0: it does not fit, or there is not enough
// memory to try.
int64_t column_deflate(const unsigned char *raw, int64_t rows, int64_t width, unsigned char *out, int64_t room);
// As column_deflate with width 1, in fewer bytes and 10 times as long: for what is sent, not only stored.
int64_t bytes_deflate(const unsigned char *raw, int64_t size, unsigned char *out, int64_t room);
// raw[rows * width] <- what column_deflate got; the rest of the `bytes` may be anything. shuffled: room for as
// many bytes. False: it is damaged.
bool column_inflate(const unsigned char *deflated, int64_t bytes, int64_t rows, int64_t width, unsigned char *shuffled,
                    unsigned char *raw);

#endif
