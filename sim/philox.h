// Philox4x32-10: mixes a counter of 128 bits under a key of 64 bits into 128 random bits. J. K. Salmon, M. A. Moraes,
// R. O. Dror & D. E. Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011, section 3.3. It has no state: any
// number of any stream can be computed directly, on any processor.
#ifndef HOPSCOTCH_PHILOX_H
#define HOPSCOTCH_PHILOX_H

#include "real.h" // HD

typedef struct Philox {
    uint32_t word[4];
} Philox;

// One round (their equation 4): two 32x32-bit products; the high halves are combined with the key, the low halves stay.
HD Philox philox_round(Philox in, uint32_t key_0, uint32_t key_1)
{
    const uint64_t product_0 = UINT64_C(0xD2511F53) * in.word[0], product_1 = UINT64_C(0xCD9E8D57) * in.word[2];
    Philox out;
    out.word[0] = (uint32_t)(product_1 >> 32) ^ in.word[1] ^ key_0;
    out.word[1] = (uint32_t)product_1;
    out.word[2] = (uint32_t)(product_0 >> 32) ^ in.word[3] ^ key_1;
    out.word[3] = (uint32_t)product_0;
    return out;
}

// The key grows by a Weyl sequence (golden ratio, sqrt(3) - 1) from round to round.
HD Philox philox4x32_10(Philox counter, uint64_t key)
{
    uint32_t key_0 = (uint32_t)key, key_1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        counter = philox_round(counter, key_0, key_1);
        key_0 += UINT32_C(0x9E3779B9);
        key_1 += UINT32_C(0xBB67AE85);
    }
    return counter;
}

// A double in [0, 1) of 53 of the 64 bits
HD double philox_unit(uint32_t high, uint32_t low) { return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53; }

#endif
