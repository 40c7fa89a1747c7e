// Digests that campaign.db keeps of its own rows (seal.c).
#ifndef HOPSCOTCH_SEAL_H
#define HOPSCOTCH_SEAL_H

#include "../campaign.h"

extern const char *const seal_add_sql; // the statement `add` below

// Rows of one table that were inserted and are not yet in its digests.
typedef struct SealTally {
    const char *name;
    int64_t block, rows;
    uint64_t digest;
} SealTally;

// From now on digests follow every change by this connection, except rows inserted into trials and replicates: count
// those with seal_count, and call seal_flush before the transaction ends.
Error seal_keep(Database *database, Arena *arena);
Error seal_count(Cursor *add, SealTally *tally, int64_t block, uint64_t digest);
Error seal_flush(Cursor *add, SealTally *tally);
int64_t seal_block(int64_t trial);                             // in which block a trial's rows are
void seal_trials(int64_t block, int64_t *first, int64_t *end); // the ids [*first, *end) of a block
Error seal_schema(Database *database);                         // after a change of the declarations

// The stored digest of one block; and a new digest of its present rows, which replaces it. tally->rows 0: no rows.
Error seal_stored(Database *database, const char *table, int64_t block, SealTally *tally);
Error seal_again(Database *database, const char *table, int64_t block, Arena *arena, SealTally *tally);

// Counts everything again and compares: with the digests, trials with their batches, replicates with their trials.
// Works on a connection that only reads.
Error seal_check(Database *database, Arena *arena, SealDamage *damage);

#endif
