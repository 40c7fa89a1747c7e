// Which trial is better (rank.c): one list of terms, from which come SQL and the keys of rows. Other folders ask
// queries.h.
#ifndef HOPSCOTCH_RANK_H
#define HOPSCOTCH_RANK_H

#include "../../campaign.h"
#include "../queries.h"

// The columns that trials are ranked by, of the rows of a batch.
typedef struct RankTerms {
    const double *values[ORDER_TERMS_MAX]; // [count]
    bool descending[ORDER_TERMS_MAX];
    int count;
    const double *outcome; // NaN: the trial has no rank
} RankTerms;

// The columns by which trials are ranked, best first, the first `most` of them. columns[RANK_COLUMNS_MAX]. Keys have
// the first ORDER_TERMS_MAX.
enum { RANK_COLUMNS_MAX = OBJECTIVES_MAX + 2 };
int rank_columns(const Spec *spec, int most, TrialOrder *columns);
// Of trials WHERE rows_outcome_name IS NOT NULL, for ORDER BY: "fitness" DESC, "survived" DESC; then the id.
typedef struct RankText {
    char text[256];
} RankText;
RankText rank_order(const Spec *spec, int most);
RankText rank_order_of_worst(const Spec *spec);
const char *rank_order_of_equals(const Spec *spec); // of trials that are as good: "survived DESC, id"
const char *rank_meets(const Spec *spec);           // " AND violation = 0"; "" without constraints
const char *rank_searches(bool maximize);           // SELECT of the searches that have rounds, best first
// The best trial by what the database says of its objective. Without one, *id and *fitness keep their values.
Error rank_best(Database *database, int64_t *id, double *fitness);

RankTerms rank_terms(const Spec *spec, const TrialRows *rows); // by which the rows of a batch are ranked
// Fills the keys of a row of the batch. False: it has no rank.
bool rank_row(const RankTerms *terms, int64_t row, FoundRow *found);
// The same of a stored row: rank_list are these columns for SELECT, the first of them is cell `at`.
const char *rank_list(const Spec *spec, Arena *arena); // "x1", "f"
void rank_stored(const Spec *spec, const Cursor *row, int at, FoundRow *found);

#endif
