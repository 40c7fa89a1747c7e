// See column_deflate.h.
#include "column_deflate.h"

#include <zlib.h>

enum { DEFLATE_LEVEL = 1 }; // the fastest: columns that are worth it repeat themselves

static void column_shuffle(const unsigned char *raw, int64_t rows, int64_t width, unsigned char *out)
{
    for (int64_t k = 0; k < width; k++) {
        for (int64_t i = 0; i < rows; i++) out[k * rows + i] = raw[i * width + k];
    }
}

static void column_unshuffle(const unsigned char *shuffled, int64_t rows, int64_t width, unsigned char *raw)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < width; k++) raw[i * width + k] = shuffled[k * rows + i];
    }
}

int64_t column_deflate(const unsigned char *raw, int64_t rows, int64_t width, unsigned char *shuffled,
                       unsigned char *out, int64_t room)
{
    uLongf bytes = (uLongf)room;
    column_shuffle(raw, rows, width, shuffled);
    return compress2(out, &bytes, shuffled, (uLong)(rows * width), DEFLATE_LEVEL) == Z_OK ? (int64_t)bytes : 0;
}

bool column_inflate(const unsigned char *deflated, int64_t bytes, int64_t rows, int64_t width, unsigned char *shuffled,
                    unsigned char *raw)
{
    const uLong expected = (uLong)(rows * width);
    uLongf size = expected;
    uLong used = (uLong)bytes;
    if (uncompress2(shuffled, &size, deflated, &used) != Z_OK || size != expected) return false;
    column_unshuffle(shuffled, rows, width, raw);
    return true;
}
