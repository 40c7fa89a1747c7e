// Normal deviates of one key, LANES at a time, with the bits of random_normal (random.c), which gives one at a time.
#ifndef HOPSCOTCH_NORMALS_H
#define HOPSCOTCH_NORMALS_H

#include "philox_lanes.h"
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
static inline void normals_uniforms(Philox counter, uint64_t key, real *u, real *v)
{
    Words word[4];
    for (int w = 0; w < 4; w++) word[w] = counter.word[w] - (Words){0};
    for (int i = 0; i < LANES; i++) word[3][i] += (uint64_t)i;
    words_philox(word, (key & UINT32_MAX) - (Words){0}, (key >> 32) - (Words){0});
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
