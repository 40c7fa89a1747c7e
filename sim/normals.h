// Normal deviates of one key, LANES at a time, with the bits of random_normal (random.c), which gives one at a time.
#ifndef HOPSCOTCH_NORMALS_H
#define HOPSCOTCH_NORMALS_H

#include "philox.h"
#include "portable_math.h"

// G. E. P. Box & M. E. Muller, Ann. Math. Statist. 29, 1958: sqrt(-2 ln u) cos(2 pi v), u in (0, 1], v in [0, 1). The
// second deviate of the pair (with the sine) is not used, so that each number depends on no other.
HD real normal_of(real u, real v)
{
    const real radius = square_root(-2.0 * canonical(logarithm(u)));
    return radius * canonical(cosine(6.283185307179586 * v));
}

// u and v of the normals whose words are at `counter` with 0, 1, ..., LANES - 1 added to its last word.
#if LANES == 1
static inline void normals_uniforms(Philox counter, uint64_t key, real *u, real *v)
{
    const Philox drawn = philox4x32_10(counter, key);
    *u = philox_unit(drawn.word[0], drawn.word[1]) + 0x1p-53;
    *v = philox_unit(drawn.word[2], drawn.word[3]);
}
#else
typedef uint64_t Words __attribute__((vector_size(8 * LANES))); // of 32 bits; the upper halves are arbitrary

static inline Words words_product(Words a, Words b)
{
#if LANES == 8
    return (Words)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#else
    return (Words)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#endif
}

// philox4x32_10 of LANES counters.
static inline void words_philox(Words word[4], uint64_t key)
{
    const Words a = UINT64_C(0xD2511F53) - (Words){0}, b = UINT64_C(0xCD9E8D57) - (Words){0};
    uint32_t key_0 = (uint32_t)key, key_1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const Words product_0 = words_product(a, word[0]), product_1 = words_product(b, word[2]);
        word[0] = (product_1 >> 32) ^ word[1] ^ key_0;
        word[1] = product_1;
        word[2] = (product_0 >> 32) ^ word[3] ^ key_1;
        word[3] = product_0;
        key_0 += UINT32_C(0x9E3779B9);
        key_1 += UINT32_C(0xBB67AE85);
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

static inline void normals_uniforms(Philox counter, uint64_t key, real *u, real *v)
{
    Words word[4];
    for (int w = 0; w < 4; w++) word[w] = counter.word[w] - (Words){0};
    for (int i = 0; i < LANES; i++) word[3][i] += (uint64_t)i;
    words_philox(word, key);
    *u = words_unit(word[0], word[1]) + 0x1p-53;
    *v = words_unit(word[2], word[3]);
}
#endif

// z[i] comes from the words at `counter` with i added to its last word, 0 <= i < count.
static inline void normals_of(Philox counter, uint64_t key, int count, double *z)
{
    const uint32_t index = counter.word[3];
    for (int first = 0; first < count; first += LANES) {
        const int valid = count - first < LANES ? count - first : LANES;
        real u, v;
        counter.word[3] = index + (uint32_t)first;
        normals_uniforms(counter, key, &u, &v);
        store_lanes(z + first, normal_of(u, v), all_lanes(), valid);
    }
}

#endif
