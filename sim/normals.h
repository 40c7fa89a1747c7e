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

// z[i] comes from the block at `counter` with i added to its last word, 0 <= i < count.
static inline void normals_of(Philox counter, uint64_t key, int count, double *z)
{
    const uint32_t index = counter.word[3];
    for (int first = 0; first < count; first += LANES) {
        const int valid = count - first < LANES ? count - first : LANES;
        double u[LANES], v[LANES];
        for (int i = 0; i < LANES; i++) {
            counter.word[3] = index + (uint32_t)(first + i);
            const Philox block = philox4x32_10(counter, key);
            u[i] = philox_unit(block.word[0], block.word[1]) + 0x1p-53;
            v[i] = philox_unit(block.word[2], block.word[3]);
        }
        store_lanes(z + first, normal_of(load_lanes(u, LANES), load_lanes(v, LANES)), all_lanes(), valid);
    }
}

#endif
