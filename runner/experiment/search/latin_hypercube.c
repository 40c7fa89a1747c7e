// latin_hypercube: N points; each of N equal strata of a parameter's range holds one point (M. D. McKay, R. J. Beckman
// & W. J. Conover, Technometrics 21(2), 1979). The order of the strata is a permutation that is computed point by
// point, so memory does not grow with N: a Feistel network over the next power of four, applied until the result is in
// [0, N) (J. Black & P. Rogaway, Ciphers with arbitrary finite domains, CT-RSA 2002).
#include "../experiment.h"

enum { SEARCH_LATIN_ROUNDS = 6 };

static const Option search_latin_options[] = {
    {"trials", OPTION_INTEGER, "1", 1000.0, 1.0, 1e9, NULL, "how many points; another number gives other points"},
};

// One-to-one on `bits` bits twice.
static uint64_t search_latin_shuffle(const RandomKey *key, int axis, int bits, uint64_t x)
{
    const uint64_t low = ((uint64_t)1 << bits) - 1;
    uint64_t left = x >> bits, right = x & low;
    for (int round = 0; round < SEARCH_LATIN_ROUNDS; round++) {
        RandomKey of_round = *key;
        of_round.ordinal = right;
        of_round.replicate = (uint32_t)(1 + round);
        const uint64_t mixed = (uint64_t)(0x1p52 * random_uniform(&of_round, (uint32_t)axis)) & low,
                       next = left ^ mixed;
        left = right;
        right = next;
    }
    return left << bits | right;
}

static int64_t search_latin_stratum(const RandomKey *key, int axis, int64_t count, int64_t id)
{
    int bits = 1;
    while (bits < 31 && (int64_t)1 << 2 * bits < count) bits++;
    uint64_t x = (uint64_t)id;
    do x = search_latin_shuffle(key, axis, bits, x);
    while (x >= (uint64_t)count);
    return (int64_t)x;
}

static void search_latin_point(const Search *search, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const RandomKey shuffle = {.seed = spec->seed, .search = 0xFFFD, .purpose = RANDOM_SAMPLE};
    const RandomKey within = {.seed = spec->seed, .ordinal = (uint64_t)id, .purpose = RANDOM_SAMPLE};
    for (int a = 0; a < spec->n_axes; a++) {
        const double stratum = (double)search_latin_stratum(&shuffle, a, search->total, id);
        const double u = (stratum + random_uniform(&within, (uint32_t)a)) / (double)search->total;
        parameter[spec->axes[a].parameter] = search_value(&spec->axes[a].values, u);
    }
}

const SearchMethod search_latin_hypercube = {
    .name = "latin_hypercube",
    .doc = "N points: each of N equal strata of every range holds one",
    .options = search_latin_options,
    .n_options = 1,
    .wants_values = true,
    .wants_range = true,
    .whole = true,
    ENUMERATED_METHOD,
    .point = search_latin_point,
};
