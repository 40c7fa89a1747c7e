// The order in which trials are ranked, best first, as keys of the rows of a batch (rank.c).
#ifndef HOPSCOTCH_RANK_H
#define HOPSCOTCH_RANK_H

#include "../../campaign.h"
#include "../queries.h"

// The columns that trials are ranked by, of the rows of a batch.
typedef struct RankTerms {
    const double *values[ORDER_TERMS_MAX]; // [count]
    bool descending[ORDER_TERMS_MAX];
    int count;
    const double *good; // NaN: the trial has no rank
} RankTerms;

// The columns that `best` and fronts ask for, in order. columns[BEST_COLUMNS_MAX].
enum { BEST_COLUMNS_MAX = OBJECTIVES_MAX + 2 };
int trials_best_columns(const Spec *spec, TrialOrder *columns);
const char *trials_columns_order(const TrialOrder *columns, int count, Arena *arena); // "x1", "f" DESC
// The first columns of trials_best_columns; more than ORDER_TERMS_MAX do not count.
int rank_columns(const Spec *spec, TrialOrder *columns);
RankTerms rank_terms(const Spec *spec, const TrialRows *rows);
// Fills the keys of a row of the batch. False: it has no rank.
bool rank_row(const RankTerms *terms, int64_t row, FoundRow *found);
// The same of a stored row: rank_list are these columns for SELECT, the first of them is cell `at`.
const char *rank_list(const Spec *spec, Arena *arena); // "x1", "f"
void rank_stored(const Spec *spec, const Cursor *row, int at, FoundRow *found);

#endif
