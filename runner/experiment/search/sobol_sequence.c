// Sobol's sequence: each run of 2^k points from a multiple of 2^k on fills the cube evenly in each coordinate and, for
// low coordinates, in each pair. The direction numbers are those of S. Joe & F. Y. Kuo, Constructing Sobol
// sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30, 2008 (their table new-joe-kuo-6,
// coordinates 2 to 80). Points are numbered by their binary digits, not in Gray code. A digital shift, one for each
// coordinate, takes the origin away and keeps the evenness.
#include "sobol_sequence.h"

typedef struct SobolRow {
    int degree, polynomial; // s, and a: the inner coefficients of a primitive polynomial over {0, 1}
    int m[9];               // first direction numbers
} SobolRow;

// clang-format off
static const SobolRow sobol_rows[SOBOL_DIMENSIONS_MAX - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
    {8, 38, {1, 3, 1, 11, 27, 43, 71, 9}},
    {8, 47, {1, 1, 7, 15, 21, 11, 81, 45}},
    {8, 49, {1, 3, 7, 3, 25, 31, 65, 79}},
    {8, 50, {1, 3, 1, 1, 19, 11, 3, 205}},
    {8, 52, {1, 1, 5, 9, 19, 21, 29, 157}},
    {8, 56, {1, 3, 7, 11, 1, 33, 89, 185}},
    {8, 67, {1, 3, 3, 3, 15, 9, 79, 71}},
    {8, 70, {1, 3, 7, 11, 15, 39, 119, 27}},
    {8, 84, {1, 1, 3, 1, 11, 31, 97, 225}},
    {8, 97, {1, 1, 1, 3, 23, 43, 57, 177}},
    {8, 103, {1, 3, 7, 7, 17, 17, 37, 71}},
    {8, 115, {1, 3, 1, 5, 27, 63, 123, 213}},
    {8, 122, {1, 1, 3, 5, 11, 43, 53, 133}},
    {9, 8, {1, 3, 5, 5, 29, 17, 47, 173, 479}},
    {9, 13, {1, 3, 3, 11, 3, 1, 109, 9, 69}},
    {9, 16, {1, 1, 1, 5, 17, 39, 23, 5, 343}},
    {9, 22, {1, 3, 1, 5, 25, 15, 31, 103, 499}},
    {9, 25, {1, 1, 1, 11, 11, 17, 63, 105, 183}},
    {9, 44, {1, 1, 5, 11, 9, 29, 97, 231, 363}},
    {9, 47, {1, 1, 5, 15, 19, 45, 41, 7, 383}},
    {9, 52, {1, 3, 7, 7, 31, 19, 83, 137, 221}},
    {9, 55, {1, 1, 1, 3, 23, 15, 111, 223, 83}},
    {9, 59, {1, 1, 5, 13, 31, 15, 55, 25, 161}},
    {9, 62, {1, 1, 3, 13, 25, 47, 39, 87, 257}},
    {9, 67, {1, 1, 1, 11, 21, 53, 125, 249, 293}},
    {9, 74, {1, 1, 7, 11, 11, 7, 57, 79, 323}},
    {9, 81, {1, 1, 5, 5, 17, 13, 81, 3, 131}},
    {9, 82, {1, 1, 7, 13, 23, 7, 65, 251, 475}},
    {9, 87, {1, 3, 5, 1, 9, 43, 3, 149, 11}},
    {9, 91, {1, 1, 3, 13, 31, 13, 13, 255, 487}},
    {9, 94, {1, 3, 3, 1, 5, 63, 89, 91, 127}},
    {9, 103, {1, 1, 3, 3, 1, 19, 123, 127, 237}},
    {9, 104, {1, 1, 5, 7, 23, 31, 37, 243, 289}},
    {9, 109, {1, 1, 5, 11, 17, 53, 117, 183, 491}},
    {9, 122, {1, 1, 1, 5, 1, 13, 13, 209, 345}},
    {9, 124, {1, 1, 3, 15, 1, 57, 115, 7, 33}},
    {9, 137, {1, 3, 1, 11, 7, 43, 81, 207, 175}},
    {9, 138, {1, 3, 1, 1, 15, 27, 63, 255, 49}},
    {9, 143, {1, 3, 5, 3, 27, 61, 105, 171, 305}},
    {9, 145, {1, 1, 5, 3, 1, 3, 57, 249, 149}},
};
// clang-format on

// m_j = 2 a_1 m_j-1 + 4 a_2 m_j-2 + ... + 2^s m_j-s + m_j-s, sums without carry; direction j is m_j/2^j.
static void sobol_directions(int dimension, uint64_t *direction)
{
    uint64_t m[SOBOL_BITS];
    for (int j = 0; j < SOBOL_BITS; j++) {
        m[j] = 1; // of the first coordinate: bits in reverse order
        if (dimension > 0) {
            const SobolRow *row = &sobol_rows[dimension - 1];
            const int s = row->degree;
            m[j] = j < s ? (uint64_t)row->m[j] : m[j - s] ^ m[j - s] << s;
            for (int k = 1; k < s && j >= s; k++) {
                if ((row->polynomial >> (s - 1 - k) & 1) != 0) m[j] ^= m[j - k] << k;
            }
        }
        direction[j] = m[j] << (51 - j);
    }
}

Sobol *sobol_make(int dimensions, uint64_t seed, Arena *arena)
{
    const RandomKey key = {.seed = seed, .search = 0xFFFE, .purpose = RANDOM_SAMPLE};
    Sobol *sobol = ARENA_NEW(arena, Sobol, 1);
    sobol->direction = ARENA_NEW(arena, uint64_t, dimensions * SOBOL_BITS);
    sobol->shift = ARENA_NEW(arena, uint64_t, dimensions);
    for (int d = 0; d < dimensions; d++) {
        sobol_directions(d, sobol->direction + d * SOBOL_BITS);
        sobol->shift[d] = (uint64_t)(0x1p52 * random_uniform(&key, (uint32_t)d));
    }
    return sobol;
}

static uint64_t sobol_point(const Sobol *sobol, int dimension, uint64_t index)
{
    uint64_t x = 0;
    const uint64_t *direction = sobol->direction + dimension * SOBOL_BITS;
    for (int j = 0; j < SOBOL_BITS && index >> j != 0; j++) {
        if ((index >> j & 1) != 0) x ^= direction[j];
    }
    return x;
}

double sobol_coordinate(const Sobol *sobol, int dimension, uint64_t index)
{
    return (double)(sobol_point(sobol, dimension, index) ^ sobol->shift[dimension]) * 0x1p-52;
}

// ---- scrambling -----------------------------------------------------------------------------------------------------

uint64_t sobol_key(uint64_t seed, int scrambling, int dimension)
{
    const RandomKey key = {
        .seed = seed, .search = 0xFFFE, .ordinal = (uint64_t)scrambling + 1, .purpose = RANDOM_SAMPLE};
    return (uint64_t)(0x1p52 * random_uniform(&key, (uint32_t)dimension));
}

// The finalizer of SplitMix64: G. L. Steele, D. Lea & C. H. Flood, OOPSLA 2014.
static uint64_t sobol_hash(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

// Nested uniform scrambling (A. B. Owen, Randomly permuted (t,m,s)-nets and (t,s)-sequences, Monte Carlo and
// Quasi-Monte Carlo Methods, 1995): each binary digit is flipped or not by a random bit that belongs to all digits
// above it. So each point is uniform, and 2^k points stay as even as they were. The random bit is a hash of the key and
// these digits, as in B. Burley, Practical hash-based Owen scrambling, J. Computer Graphics Techniques 9(4), 2020.
double sobol_scrambled(const Sobol *sobol, int dimension, uint64_t index, uint64_t key)
{
    const uint64_t x = sobol_point(sobol, dimension, index);
    uint64_t scrambled = x;
    for (int digit = 51; digit >= 0; digit--) {
        const uint64_t above = (x >> (digit + 1)) + (uint64_t)digit * UINT64_C(0x9E3779B97F4A7C15);
        scrambled ^= sobol_hash(sobol_hash(above) ^ key) >> 63 << digit;
    }
    return (double)scrambled * 0x1p-52;
}
