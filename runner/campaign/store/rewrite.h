// Rows of trials and replicates that are written anew within a transaction, and those that have no place among them
// (rewrite.c).
#ifndef HOPSCOTCH_REWRITE_H
#define HOPSCOTCH_REWRITE_H

#include "queries.h"

typedef struct Rewrite {
    Database *database;
    const Spec *spec;
    Cursor expect, trial, insert_trial, replicate, insert_replicate;
    int64_t written; // rows that were not what they are now
} Rewrite;

void rewrite_begin(Database *database, const Spec *spec, Arena *arena, Rewrite *rewrite);
Error rewrite_row(Rewrite *rewrite, const TrialRows *rows, int64_t row); // in the place of what is there
Error rewrite_end(Rewrite *rewrite);                                     // the first error of all of it
// Trials with ids in [first, end) that were not rewritten: how many, and away with them and what belongs to them.
Error rewrite_strangers(const Rewrite *rewrite, int64_t first, int64_t end, int64_t *count);
Error rewrite_drop_strangers(const Rewrite *rewrite, int64_t first, int64_t end);

#endif
