// SHA-256 (FIPS 180-4).
#ifndef HOPSCOTCH_IO_SHA256_H
#define HOPSCOTCH_IO_SHA256_H

#include "../sim/sim.h"

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
    bool instructions; // the processor's SHA instructions are used; the digest is the same
} Sha256;

typedef struct Sha256Text {
    char hex[65]; // 64 digits and a NUL
} Sha256Text;

// A digest in pieces: start, add any number of times, finish. sha256_of computes the digest of one piece.
void sha256_start(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *data, size_t size);
Sha256Text sha256_finish(Sha256 *hash);
Sha256Text sha256_of(const void *data, size_t size);

#endif
