// Digests that campaign.db keeps of its own rows (seal.c).
#ifndef HOPSCOTCH_SEAL_H
#define HOPSCOTCH_SEAL_H

#include "../../campaign.h"

extern const char *const seal_add_sql; // the statement `add` below

// Rows of one table that were inserted and are not yet in its digests.
typedef struct SealTally {
    const char *name;
    int64_t range, rows;
    uint64_t digest;
} SealTally;

// From now on digests follow every change by this connection, except rows inserted into trials and replicates: count
// those with seal_count, and call seal_flush before the transaction ends. Where only some trials keep a row, rows that
// are deleted from trials are counted likewise: seal_uncount, seal_flush_removed.
Error seal_keep(Database *database, Arena *arena);
Error seal_count(Cursor *add, SealTally *tally, int64_t range, uint64_t digest);
Error seal_flush(Cursor *add, SealTally *tally);
Error seal_add_attached(Database *database); // of all trials and replicates of the database `other`
Error seal_uncount(Database *database, Cursor *add, SealTally *tally, int64_t range, uint64_t digest);
Error seal_flush_removed(Database *database, Cursor *add, SealTally *tally);
int64_t seal_range(int64_t trial);                             // in which range a trial's rows are
void seal_trials(int64_t range, int64_t *first, int64_t *end); // the ids [*first, *end) of a range
Error seal_schema(Database *database);                         // after a change of the declarations

// The stored digest of one range; and a new digest of its present rows, which replaces it. tally->rows 0: no rows.
Error seal_stored(Database *database, const char *table, int64_t range, SealTally *tally);
Error seal_again(Database *database, const char *table, int64_t range, Arena *arena, SealTally *tally);

// Where only some trials keep a row, nothing else says how many rows there should be. So when a run has ended, the
// digests of all ranges of trials together are kept too, under the name SEAL_ALL_TRIALS, until the next commit.
#define SEAL_ALL_TRIALS "all_trials"
Error seal_sum(Database *database, SealTally *sum); // of the stored digests
Error seal_keep_sum(Database *database);
Error seal_forget_sum(Database *database);
// *same: the sum is that of the digests, or none is kept.
Error seal_compare_sum(Database *database, bool *same);

// Counts everything again and compares: with the digests, trials with their batches, replicates with their trials.
// Works on a connection that only reads.
Error seal_check(Database *database, Arena *arena, SealDamage *damage);

#endif
