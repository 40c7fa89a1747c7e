// Random numbers: the published vectors of the generator, the packing of keys, and the first moments of the deviates.
#include "../../sim/cpu_kernels.h"
#include "../../sim/philox.h"
#include "../test.h"

#include <math.h>
#include <string.h>

// D. E. Shaw Research, Random123, tests/kat_vectors: counter, key, result of `philox4x32 10`
TEST(philox_gives_the_published_vectors)
{
    static const struct {
        Philox counter;
        uint64_t key;
        Philox expected;
    } vectors[] = {
        {{{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
         0xffffffffffffffff,
         {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         0x299f31d0a4093822,
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const Philox got = philox4x32_10(vectors[i].counter, vectors[i].key);
        for (int w = 0; w < 4; w++) CHECK_INTEGER(vectors[i].expected.word[w], got.word[w]);
    }
}

// Each bit of the key and of the index, up to the documented limits, gives another number, at seed 0 as well.
TEST(random_numbers_depend_on_every_bit_of_their_key)
{
    enum { BITS = 64 + 16 + 48 + 32 + 16 + 16 };
    double seen[BITS + 1];
    for (int bit = -1; bit < BITS; bit++) {
        RandomKey key = {0};
        uint32_t index = 0;
        if (bit >= 176) {
            index = 1u << (bit - 176);
        } else if (bit >= 160) {
            key.purpose = (RandomPurpose)(1u << (bit - 160));
        } else if (bit >= 128) {
            key.replicate = 1u << (bit - 128);
        } else if (bit >= 80) {
            key.ordinal = UINT64_C(1) << (bit - 80);
        } else if (bit >= 64) {
            key.search = 1u << (bit - 64);
        } else if (bit >= 0) {
            key.seed = UINT64_C(1) << bit;
        }
        seen[bit + 1] = random_uniform(&key, index);
    }
    int equal = 0;
    for (int i = 0; i <= BITS; i++) {
        for (int j = 0; j < i; j++) equal += memcmp(&seen[i], &seen[j], sizeof(double)) == 0;
    }
    CHECK_INTEGER(0, equal);
}

// Golden numbers: if they change, NUMERICS_VERSION must change.
TEST(random_numbers_never_change)
{
    const RandomKey key = {.seed = 7, .search = 2, .ordinal = 123456789012, .replicate = 3, .purpose = RANDOM_PERTURB};
    CHECK_BITS(0x1.cac3a437b924p-5, random_uniform(&key, 0));
    CHECK_BITS(0x1.71d76357f0f46p-2, random_uniform(&key, 65535));
    CHECK_BITS(-0x1.31f95c8e37486p+1, random_normal(&key, 0));
    CHECK_BITS(-0x1.1f6ac9998cee6p+0, random_normal(&key, 65535));
}

// Mean, variance and fourth moment of 10^5 numbers within five standard deviations of their expected values, and no
// correlation of neighbours (by index, by trial and by replicate).
TEST(random_deviates_have_their_moments)
{
    enum { N = 100000 };
    static double uniform[N], normal[N];
    for (int i = 0; i < N; i++) {
        const RandomKey key = {
            .seed = 0, .ordinal = (uint64_t)(i / 100), .replicate = (uint32_t)(i / 10 % 10), .purpose = RANDOM_SAMPLE};
        uniform[i] = random_uniform(&key, (uint32_t)(i % 10));
        normal[i] = random_normal(&key, (uint32_t)(i % 10));
    }
    double u1 = 0, u2 = 0, n1 = 0, n2 = 0, n4 = 0, inside = 0;
    for (int i = 0; i < N; i++) {
        u1 += uniform[i] - 0.5;
        u2 += (uniform[i] - 0.5) * (uniform[i] - 0.5);
        n1 += normal[i];
        n2 += normal[i] * normal[i];
        n4 += normal[i] * normal[i] * normal[i] * normal[i];
        inside += uniform[i] >= 0.0 && uniform[i] < 1.0 && fabs(normal[i]) < 9.0;
    }
    const double five = 5.0 / sqrt(N);
    CHECK_NEAR(N, inside, 0.0);
    CHECK_NEAR(0.0, u1 / N, five * sqrt(1.0 / 12.0));
    CHECK_NEAR(1.0 / 12.0, u2 / N, five * sqrt(1.0 / 180.0));
    CHECK_NEAR(0.0, n1 / N, five);
    CHECK_NEAR(1.0, n2 / N, five * sqrt(2.0));
    CHECK_NEAR(3.0, n4 / N, five * sqrt(96.0));
    static const int lags[] = {1, 10, 100};
    for (int l = 0; l < 3; l++) {
        double product = 0;
        for (int i = lags[l]; i < N; i++) product += normal[i] * normal[i - lags[l]];
        CHECK_NEAR(0.0, product / N, five);
    }
}

// Each instruction set, which draws several at a time, gives the same normals as one-by-one draws.
TEST(random_normals_in_vectors_equal_single_draws)
{
    static const CpuKernels *const all[] = {&cpu_observed_v2, &cpu_observed_scalar, &cpu_observed_v3, &cpu_observed_v4,
                                            &cpu_plain_v2,    &cpu_plain_scalar,    &cpu_plain_v3,    &cpu_plain_v4,
                                            &cpu_plain_neon,  &cpu_observed_neon};
    const bool only_v2 = all[0] != NULL && cpu_best_kernels()->lanes == all[0]->lanes;
    const CpuKernels *first = NULL; // of those that were built
    double z[37];
    for (uint64_t seed = 0; seed < 200; seed++) {
        const RandomKey key = {
            .seed = seed << (seed % 50), .search = 3, .ordinal = 1000 * seed, .replicate = 7, .purpose = 5};
        const int count = 1 + (int)(seed % 37);
        random_normals(&key, 11, count, z);
        for (int i = 0; i < count; i++) CHECK_BITS(random_normal(&key, 11 + (uint32_t)i), z[i]);
    }
    for (int isa = 0; isa < 10; isa++) {
        const Philox counter = {{1, 2, 3, 40}};
        double one;
        if (all[isa] == NULL) continue;       // it was not built
        if (isa % 4 > 0 && only_v2) continue; // this processor lacks the instruction set
        if (all[isa]->lanes > cpu_best_kernels()->lanes) continue;
        if (first == NULL) first = all[isa];
        all[isa]->normals(counter, 99, 37, z);
        for (int i = 0; i < 37; i++) {
            Philox block = counter;
            block.word[3] += (uint32_t)i;
            first->normals(block, 99, 1, &one);
            CHECK_BITS(one, z[i]);
        }
    }
}
