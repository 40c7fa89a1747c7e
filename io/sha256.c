// SHA-256: FIPS 180-4, sections 4.1.2 (functions), 4.2.2 (constants), 5.1.1 (padding), 5.3.3 (start), 6.2.2 (the
// compression of one block of 64 bytes). Words are big-endian. Every committed row and shard is hashed here. The
// processor's SHA instructions are four times as fast and are used where they exist.
#include "sha256.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t sha256_rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static inline uint32_t sha256_word(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

// The message schedule w[0..63] of one block.
static void sha256_schedule(const unsigned char *block, uint32_t *w)
{
    for (int t = 0; t < 16; t++) w[t] = sha256_word(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        const uint32_t x = w[t - 15], y = w[t - 2];
        const uint32_t sigma0 = sha256_rotate(x, 7) ^ sha256_rotate(x, 18) ^ x >> 3;
        const uint32_t sigma1 = sha256_rotate(y, 17) ^ sha256_rotate(y, 19) ^ y >> 10;
        w[t] = sigma1 + w[t - 7] + sigma0 + w[t - 16];
    }
}

static void sha256_compress(uint32_t *state, const unsigned char *block)
{
    uint32_t w[64];
    sha256_schedule(block, w);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t++) {
        const uint32_t sum1 = sha256_rotate(e, 6) ^ sha256_rotate(e, 11) ^ sha256_rotate(e, 25);
        const uint32_t choice = (e & f) ^ (~e & g);
        const uint32_t t1 = h + sum1 + choice + sha256_k[t] + w[t];
        const uint32_t sum0 = sha256_rotate(a, 2) ^ sha256_rotate(a, 13) ^ sha256_rotate(a, 22);
        const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        const uint32_t t2 = sum0 + majority;
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

// ---- by instructions ------------------------------------------------------------------------------------------------
// S. Gulley et al., "Intel SHA Extensions", 2013, for SHA-256. The state is in two registers, ABEF and CDGH; the
// message is in four registers of four words. `sha256rnds2` does two rounds, `sha256msg1` and `sha256msg2` the
// schedule.

#if defined(__x86_64__)
#define SHA256_INSTRUCTIONS __attribute__((target("sha,sse4.1,ssse3")))

static bool sha256_ask_processor(void)
{
    unsigned a, b, c, d, more_b;
    return __get_cpuid_count(7, 0, &a, &more_b, &c, &d) && (more_b & bit_SHA) != 0 && __get_cpuid(1, &a, &b, &c, &d) &&
           (c & bit_SSE4_1) != 0 && (c & bit_SSSE3) != 0;
}

// The answer never changes, and cpuid takes tens of microseconds in a virtual machine, so it is kept.
static bool sha256_has_instructions(void)
{
    static atomic_int answer; // 0: not asked yet, 1: no, 2: yes
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known == 0) {
        known = sha256_ask_processor() ? 2 : 1;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == 2;
}

SHA256_INSTRUCTIONS static inline void sha256_four_rounds(__m128i *abef, __m128i *cdgh, __m128i w, const uint32_t *k)
{
    const __m128i sum = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(const void *)k));
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

// The words t+16..t+19 of the schedule from w0 = t..t+3, w1 = t+4..t+7 and so on.
SHA256_INSTRUCTIONS static inline __m128i sha256_next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
    return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4)), w3);
}

SHA256_INSTRUCTIONS static inline __m128i sha256_load_words(const unsigned char *p)
{
    const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), swap);
}

SHA256_INSTRUCTIONS static void sha256_compress_by_instructions(uint32_t *state, const unsigned char *block)
{
    const __m128i a = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    const __m128i c = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    __m128i abef = a, cdgh = c, w0 = sha256_load_words(block), w1 = sha256_load_words(block + 16),
            w2 = sha256_load_words(block + 32), w3 = sha256_load_words(block + 48);
    for (int t = 0; t < 64; t += 16) { // the last turn's next words are not used
        sha256_four_rounds(&abef, &cdgh, w0, sha256_k + t);
        w0 = sha256_next_words(w0, w1, w2, w3);
        sha256_four_rounds(&abef, &cdgh, w1, sha256_k + t + 4);
        w1 = sha256_next_words(w1, w2, w3, w0);
        sha256_four_rounds(&abef, &cdgh, w2, sha256_k + t + 8);
        w2 = sha256_next_words(w2, w3, w0, w1);
        sha256_four_rounds(&abef, &cdgh, w3, sha256_k + t + 12);
        w3 = sha256_next_words(w3, w0, w1, w2);
    }
    uint32_t first[4], second[4]; // F E B A, H G D C
    _mm_storeu_si128((__m128i *)(void *)first, _mm_add_epi32(abef, a));
    _mm_storeu_si128((__m128i *)(void *)second, _mm_add_epi32(cdgh, c));
    state[0] = first[3], state[1] = first[2], state[2] = second[3], state[3] = second[2];
    state[4] = first[1], state[5] = first[0], state[6] = second[1], state[7] = second[0];
}
#undef SHA256_INSTRUCTIONS

#else
static bool sha256_has_instructions(void) { return false; }

static void sha256_compress_by_instructions(uint32_t *state, const unsigned char *block)
{
    sha256_compress(state, block);
}
#endif

// ---- the hash of any number of bytes --------------------------------------------------------------------------------

void sha256_start(Sha256 *hash)
{
    // the first 32 bits of the fractional parts of the square roots of the first 8 primes
    *hash = (Sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
        .instructions = sha256_has_instructions()};
}

static void sha256_block(Sha256 *hash, const unsigned char *block)
{
    if (hash->instructions)
        sha256_compress_by_instructions(hash->state, block);
    else
        sha256_compress(hash->state, block);
}

void sha256_add(Sha256 *hash, const void *data, size_t size)
{
    const unsigned char *at = data;
    const size_t held = hash->length % 64;
    if (size == 0) return; // there may be no data
    hash->length += size;
    if (held > 0) {
        const size_t taken = size < 64 - held ? size : 64 - held;
        memcpy(hash->block + held, at, taken);
        if (held + taken < 64) return;
        sha256_block(hash, hash->block);
        at += taken;
        size -= taken;
    }
    for (; size >= 64; at += 64, size -= 64) sha256_block(hash, at);
    if (size > 0) memcpy(hash->block, at, size);
}

// Appends a one bit, zeros, and the length in bits as the last 8 bytes of a block.
static void sha256_pad(Sha256 *hash)
{
    static const unsigned char padding[64] = {0x80};
    const uint64_t bits = hash->length * 8;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    const size_t held = hash->length % 64;
    sha256_add(hash, padding, held < 56 ? 56 - held : 120 - held);
    sha256_add(hash, length, sizeof length);
}

Sha256Text sha256_finish(Sha256 *hash)
{
    static const char digits[] = "0123456789abcdef";
    Sha256Text out;
    sha256_pad(hash);
    for (int i = 0; i < 64; i++) out.hex[i] = digits[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    out.hex[64] = '\0';
    return out;
}

Sha256Text sha256_of(const void *data, size_t size)
{
    Sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, data, size);
    return sha256_finish(&hash);
}
