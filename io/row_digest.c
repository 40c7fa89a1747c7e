// Digests of rows: 64 bits over the values of a row, in order and with their types. They are cheap enough for every row
// in a database. They detect accidents, not forgery.
//
// A value is added by XOR and the finalizer of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014), which is
// one-to-one in the value and in the digest so far. So two rows that differ in one number, or in one word of a text,
// always have different digests; rows that differ in more have the same digest with probability 2^-64.
#include "row_digest.h"

#include <string.h>

enum { ROW_DIGEST_NULL = 1, ROW_DIGEST_INTEGER, ROW_DIGEST_REAL, ROW_DIGEST_TEXT, ROW_DIGEST_BLOB };

static inline uint64_t row_digest_mix(uint64_t digest, uint64_t type, uint64_t value)
{
    uint64_t z = (digest + type * 0x9e3779b97f4a7c15u) ^ value;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t row_digest_null(uint64_t digest) { return row_digest_mix(digest, ROW_DIGEST_NULL, 0); }

uint64_t row_digest_integer(uint64_t digest, int64_t value)
{
    return row_digest_mix(digest, ROW_DIGEST_INTEGER, (uint64_t)value);
}

uint64_t row_digest_real(uint64_t digest, double value)
{
    uint64_t bits;
    if (value != value) return row_digest_null(digest); // SQLite keeps neither NaN nor the sign of zero
    if (value == 0) value = 0.0;
    memcpy(&bits, &value, sizeof bits);
    return row_digest_mix(digest, ROW_DIGEST_REAL, bits);
}

void row_digest_integers(uint64_t *digests, const int64_t *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) digests[i] = row_digest_integer(digests[i], values[i]);
}

// row_digest_real without branches, so that the processor works on several rows at once. The bits without the sign are
// above those of infinity for NaN, and 0 for both zeros.
void row_digest_reals(uint64_t *digests, const double *values, int64_t count)
{
    const uint64_t infinity = 0xffe0000000000000u; // shifted left by the sign
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        const bool none = bits << 1 > infinity, zero = bits << 1 == 0;
        digests[i] = row_digest_mix(digests[i], none ? ROW_DIGEST_NULL : ROW_DIGEST_REAL, none || zero ? 0 : bits);
    }
}

static uint64_t row_digest_bytes(uint64_t digest, uint64_t type, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    digest = row_digest_mix(digest, type, size);
    for (size_t i = 0; i < size; i += sizeof digest) {
        uint64_t word = 0;
        memcpy(&word, &bytes[i], size - i < sizeof word ? size - i : sizeof word);
        digest = row_digest_mix(digest, type, word);
    }
    return digest;
}

uint64_t row_digest_text(uint64_t digest, const char *text, size_t length)
{
    return row_digest_bytes(digest, ROW_DIGEST_TEXT, text, length);
}

uint64_t row_digest_blob(uint64_t digest, const void *data, size_t size)
{
    return row_digest_bytes(digest, ROW_DIGEST_BLOB, data, size);
}
