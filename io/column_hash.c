// Eight lanes, each of which takes every eighth word: a multiplication waits for the one before it in its lane, and the
// processor starts one in each cycle. Each step is one to one in the word and in the lane, and so is each step of the
// end in the lane that it takes.
#include "column_hash.h"

#include <string.h>

static const uint64_t column_hash_factor = 0x9e3779b97f4a7c15; // odd: the golden ratio

static inline uint64_t column_hash_step(uint64_t lane, uint64_t word)
{
    const uint64_t product = (lane ^ word) * column_hash_factor;
    return product << 29 | product >> 35;
}

void column_hash_start(ColumnHash *hash)
{
    for (int i = 0; i < COLUMN_HASH_LANES; i++) hash->lane[i] = (uint64_t)(i + 1) * column_hash_factor;
    hash->bytes = 0;
}

static void column_hash_words(ColumnHash *hash, const unsigned char *bytes, size_t steps)
{
    uint64_t lane[COLUMN_HASH_LANES], word[COLUMN_HASH_LANES];
    memcpy(lane, hash->lane, sizeof lane);
    for (size_t k = 0; k < steps; k++) {
        memcpy(word, bytes + k * COLUMN_HASH_STEP, sizeof word);
        for (int i = 0; i < COLUMN_HASH_LANES; i++) lane[i] = column_hash_step(lane[i], word[i]);
    }
    memcpy(hash->lane, lane, sizeof lane);
}

void column_hash_add(ColumnHash *hash, const void *bytes, size_t size)
{
    unsigned char end[COLUMN_HASH_STEP] = {0};
    const size_t steps = size / COLUMN_HASH_STEP, whole = steps * COLUMN_HASH_STEP;
    column_hash_words(hash, bytes, steps);
    if (size > whole) {
        memcpy(end, (const unsigned char *)bytes + whole, size - whole);
        column_hash_words(hash, end, 1);
    }
    hash->bytes += size;
}

uint64_t column_hash_finish(const ColumnHash *hash)
{
    uint64_t all = hash->bytes;
    for (int i = 0; i < COLUMN_HASH_LANES; i++) {
        all = column_hash_step(all, hash->lane[i]);
        all ^= all >> 32;
    }
    return all;
}
