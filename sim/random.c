// Random numbers by key: every number is a function of its key and index. So the order of drawing, the batch, the
// thread and a restart cannot change it.
#include "cpu_kernels.h"
#include "philox.h"
#include "sim.h"

#include <assert.h>
#include <math.h>

// Key and index have 192 bits, exactly those of Philox's key and counter. Each field has a fixed position, so within
// the limits of RandomKey no two of them share an output.
//     key      seed
//     word 0   ordinal, low 32 bits
//     word 1   search << 16 | ordinal, high 16 bits
//     word 2   replicate
//     word 3   purpose << 16 | index
static Philox random_counter(const RandomKey *key, uint32_t index)
{
    assert(key->search < 1u << 16 && key->ordinal < UINT64_C(1) << 48 && index < 1u << 16);
    const Philox counter = {{(uint32_t)key->ordinal, key->search << 16 | (uint32_t)(key->ordinal >> 32), key->replicate,
                             (uint32_t)key->purpose << 16 | index}};
    return counter;
}

static Philox random_words(const RandomKey *key, uint32_t index)
{
    return philox4x32_10(random_counter(key, index), key->seed);
}

double random_uniform(const RandomKey *key, uint32_t index)
{
    const Philox drawn = random_words(key, index);
    return philox_unit(drawn.word[0], drawn.word[1]);
}

// normals.h has the method.
double random_normal(const RandomKey *key, uint32_t index)
{
    const Philox drawn = random_words(key, index);
    const double u = philox_unit(drawn.word[0], drawn.word[1]) + 0x1p-53;
    const double v = philox_unit(drawn.word[2], drawn.word[3]);
    return sqrt(-2.0 * portable_log(u)) * portable_cos(6.283185307179586 * v);
}

void random_normals(const RandomKey *key, uint32_t first, int count, double *z)
{
    if (count <= 0) return;
    assert((int64_t)first + count <= 1 << 16);
    cpu_best_kernels()->normals(random_counter(key, first), key->seed, count, z);
}
