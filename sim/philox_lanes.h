// Philox of LANES lanes at once, with the bits of philox4x32_10: each lane has a counter and a key of its own.
#ifndef HOPSCOTCH_PHILOX_LANES_H
#define HOPSCOTCH_PHILOX_LANES_H

#include "philox.h"

#if LANES > 1
typedef uint64_t Words __attribute__((vector_size(8 * LANES))); // of 32 bits; the upper halves are arbitrary

static inline Words words_product(Words a, Words b)
{
#if LANES == 8
    return (Words)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif LANES == 2
    return (Words)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
#else
    return (Words)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#endif
}

// key_0, key_1: the lower and upper halves of the keys.
static inline void words_philox(Words word[4], Words key_0, Words key_1)
{
    const Words a = UINT64_C(0xD2511F53) - (Words){0}, b = UINT64_C(0xCD9E8D57) - (Words){0};
    for (int round = 0; round < 10; round++) {
        const Words product_0 = words_product(a, word[0]), product_1 = words_product(b, word[2]);
        word[0] = (product_1 >> 32) ^ word[1] ^ key_0;
        word[1] = product_1;
        word[2] = (product_0 >> 32) ^ word[3] ^ key_1;
        word[3] = product_0;
        key_0 += UINT64_C(0x9E3779B9);
        key_1 += UINT64_C(0xBB67AE85);
    }
}

// An integer below 2^32 as a double: the bits of 2^52 with the integer below them, less 2^52.
static inline real words_double(Words x) { return (real)(x | UINT64_C(0x4330000000000000)) - 0x1p52; }

// philox_unit: the upper 53 of the 64 bits. Both terms and their sum are exact.
static inline real words_unit(Words high, Words low)
{
    const Words upper = (high & UINT32_MAX) >> 11, lower = (high & 0x7ff) << 21 | (low & UINT32_MAX) >> 11;
    return (words_double(upper) * 0x1p32 + words_double(lower)) * 0x1p-53;
}

// Whole numbers from 0 to 2^53.
static inline Words words_of(real x) { return (Words) __builtin_convertvector(x, mask); }
#endif

// Two uniform numbers of each lane, in (0, 1] and [0, 1), for a counter of two words from `number` (below 2^53), then
// `second` (below 2^32) and `third`. key: below 2^53.
HD void philox_uniforms(real number, real second, uint32_t third, real key, real *u, real *v)
{
#if LANES == 1
    const uint64_t first = (uint64_t)number;
    const Philox counter = {{(uint32_t)first, (uint32_t)(first >> 32), (uint32_t)second, third}};
    const Philox drawn = philox4x32_10(counter, (uint64_t)key);
    *u = philox_unit(drawn.word[0], drawn.word[1]) + 0x1p-53;
    *v = philox_unit(drawn.word[2], drawn.word[3]);
#else
    const Words first = words_of(number), keys = words_of(key);
    Words word[4] = {first, first >> 32, words_of(second), third - (Words){0}};
    words_philox(word, keys, keys >> 32);
    *u = words_unit(word[0], word[1]) + 0x1p-53;
    *v = words_unit(word[2], word[3]);
#endif
}

#endif
