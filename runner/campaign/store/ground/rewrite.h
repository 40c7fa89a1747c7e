// Writes rows of trials and replicates again, within a transaction, and deletes rows that do not belong there
// (rewrite.c).
#ifndef HOPSCOTCH_REWRITE_H
#define HOPSCOTCH_REWRITE_H

#include "../queries.h"

typedef struct Rewrite {
    Store *store;
    Cursor expect, trial, insert_trial, replicate, insert_replicate;
    int64_t written; // rows that changed
} Rewrite;

void rewrite_begin(Store *store, Rewrite *rewrite);                      // errors show at rewrite_end
Error rewrite_row(Rewrite *rewrite, const TrialRows *rows, int64_t row); // inserts or replaces
Error rewrite_end(Rewrite *rewrite);                                     // gives the first error
// Trials with ids in [first, end) that were not rewritten: counts them; deletes them with all rows that refer to them.
Error rewrite_strangers(const Rewrite *rewrite, int64_t first, int64_t end, int64_t *count);
Error rewrite_drop_strangers(const Rewrite *rewrite, int64_t first, int64_t end);

#endif
