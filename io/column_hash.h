// A hash of 64 bits over bytes that lie in memory or come in pieces, as fast as memory is read.
#ifndef HOPSCOTCH_IO_COLUMN_HASH_H
#define HOPSCOTCH_IO_COLUMN_HASH_H

#include <stddef.h>
#include <stdint.h>

// Any change within 8 bytes that begin at a multiple of 8 changes the hash; another change leaves it with a chance of
// 2^-64. It finds damage, not forgery.
enum { COLUMN_HASH_LANES = 8, COLUMN_HASH_STEP = 64 };

typedef struct ColumnHash {
    uint64_t lane[COLUMN_HASH_LANES], bytes;
} ColumnHash;

void column_hash_start(ColumnHash *hash); // of no bytes
// All pieces but the last have a multiple of COLUMN_HASH_STEP bytes.
void column_hash_add(ColumnHash *hash, const void *bytes, size_t size);
uint64_t column_hash_finish(const ColumnHash *hash);

#endif
