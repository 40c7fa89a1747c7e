// Digests of the rows of a table, of which the digest of the table is the sum.
#ifndef HOPSCOTCH_IO_ROW_DIGEST_H
#define HOPSCOTCH_IO_ROW_DIGEST_H

#include "../sim/sim.h"

// The digest of a row starts as 0 and takes the values in the order of the columns. Two rows that differ in exactly one
// value always have different digests.
uint64_t row_digest_null(uint64_t digest);
uint64_t row_digest_integer(uint64_t digest, int64_t value);
uint64_t row_digest_real(uint64_t digest, double value); // NaN counts as NULL, -0 as 0, as SQLite returns them
uint64_t row_digest_text(uint64_t digest, const char *text, size_t length);
uint64_t row_digest_blob(uint64_t digest, const void *data, size_t size);
// digests[count] <- each digest with the value of its row, values[count], added.
void row_digest_integers(uint64_t *digests, const int64_t *values, int64_t count);
void row_digest_reals(uint64_t *digests, const double *values, int64_t count);

#endif
