// Random numbers by name: every number is a function of its key and index, so that no order of drawing, batch, thread
// or restart can change it.
#include "philox.h"
#include "sim.h"

#include <assert.h>
#include <math.h>

// The key and the index are 192 bits and fill Philox's key and counter exactly, each at a place of its own: within the
// limits of RandomKey no two of them share a block.
//     key      seed
//     word 0   ordinal, low 32 bits
//     word 1   search << 16 | ordinal, high 16 bits
//     word 2   replicate
//     word 3   purpose << 16 | index
static Philox random_block(const RandomKey *key, uint32_t index)
{
    assert(key->search < 1u << 16 && key->ordinal < UINT64_C(1) << 48 && index < 1u << 16);
    const Philox counter = {{(uint32_t)key->ordinal, key->search << 16 | (uint32_t)(key->ordinal >> 32), key->replicate,
                             (uint32_t)key->purpose << 16 | index}};
    return philox4x32_10(counter, key->seed);
}

double random_uniform(const RandomKey *key, uint32_t index)
{
    const Philox block = random_block(key, index);
    return philox_unit(block.word[0], block.word[1]);
}

// G. E. P. Box & M. E. Muller, Ann. Math. Statist. 29, 1958: sqrt(-2 ln u) cos(2 pi v), u in (0, 1], v in [0, 1). The
// second deviate that the pair could give (the sine) is left, so that the index-th number needs no other.
double random_normal(const RandomKey *key, uint32_t index)
{
    const Philox block = random_block(key, index);
    const double u = philox_unit(block.word[0], block.word[1]) + 0x1p-53;
    const double v = philox_unit(block.word[2], block.word[3]);
    return sqrt(-2.0 * portable_log(u)) * portable_cos(6.283185307179586 * v);
}
