// See column_deflate.h.
#include "column_deflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { DEFLATE_LEVEL = 1 }; // the fastest: columns that are worth it repeat themselves

// Bytes of 8 words: byte k of word i <-> byte i of word k. Groups of 4, 2 and 1 bytes are swapped.
static void shuffle_transpose(uint64_t words[8])
{
    static const uint64_t masks[3] = {0x00000000ffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff};
    for (int step = 0; step < 3; step++) {
        const int apart = 4 >> step, bits = 8 * apart;
        for (int i = 0; i < 8; i++) {
            if ((i & apart) != 0) continue;
            const uint64_t swapped = (words[i] >> bits ^ words[i + apart]) & masks[step];
            words[i] ^= swapped << bits;
            words[i + apart] ^= swapped;
        }
    }
}

// All numbers of 8 bytes but the last few; returns how many.
static int64_t column_shuffle_by_8(const unsigned char *raw, int64_t rows, unsigned char *out)
{
    uint64_t words[8];
    int64_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        memcpy(words, raw + i * 8, sizeof words);
        shuffle_transpose(words);
        for (int k = 0; k < 8; k++) memcpy(out + k * rows + i, &words[k], sizeof words[k]);
    }
    return i;
}

static int64_t column_unshuffle_by_8(const unsigned char *shuffled, int64_t rows, unsigned char *raw)
{
    uint64_t words[8];
    int64_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        for (int k = 0; k < 8; k++) memcpy(&words[k], shuffled + k * rows + i, sizeof words[k]);
        shuffle_transpose(words);
        memcpy(raw + i * 8, words, sizeof words);
    }
    return i;
}

static void column_shuffle(const unsigned char *raw, int64_t rows, int64_t width, unsigned char *out)
{
    const int64_t done = width == 8 ? column_shuffle_by_8(raw, rows, out) : 0;
    for (int64_t k = 0; k < width; k++) {
        for (int64_t i = done; i < rows; i++) out[k * rows + i] = raw[i * width + k];
    }
}

static void column_unshuffle(const unsigned char *shuffled, int64_t rows, int64_t width, unsigned char *raw)
{
    const int64_t done = width == 8 ? column_unshuffle_by_8(shuffled, rows, raw) : 0;
    for (int64_t k = 0; k < width; k++) {
        for (int64_t i = done; i < rows; i++) raw[i * width + k] = shuffled[k * rows + i];
    }
}

int64_t column_deflate(const unsigned char *raw, int64_t rows, int64_t width, unsigned char *out, int64_t room)
{
    uLongf bytes = (uLongf)room;
    unsigned char *shuffled = malloc((size_t)(rows * width));
    if (shuffled == NULL) return 0;
    column_shuffle(raw, rows, width, shuffled);
    if (compress2(out, &bytes, shuffled, (uLong)(rows * width), DEFLATE_LEVEL) != Z_OK) bytes = 0;
    free(shuffled);
    return (int64_t)bytes;
}

int64_t bytes_deflate(const unsigned char *raw, int64_t size, unsigned char *out, int64_t room)
{
    uLongf bytes = (uLongf)room;
    return compress2(out, &bytes, raw, (uLong)size, Z_BEST_COMPRESSION) == Z_OK ? (int64_t)bytes : 0;
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
