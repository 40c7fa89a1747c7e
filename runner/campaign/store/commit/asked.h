// Trials that people run: which were asked for, when, and what was told of each replicate (asked.c). Campaigns of a
// model that is run by hand (Model.by_hand) have these tables; others do not.
#ifndef HOPSCOTCH_ASKED_H
#define HOPSCOTCH_ASKED_H

#include "../queries.h"

// A replicate of a trial that was asked for.
typedef struct AskedLane {
    int64_t trial;
    int replicate;
    bool told;
    int failure;    // code, if it was told; 0: none
    double *metric; // [n_metrics] as they were told; NaN: not given, which only a failure allows
    char when[32];  // it was asked for, or, if it was told, told
} AskedLane;

Error asked_make(Database *database); // the tables, in the transaction that makes the campaign
bool asked_exists(const Database *database);
Error asked_note(Store *store, int64_t trial, const char *time); // all its replicates; again: the time alone
Error asked_last(Database *database, int64_t *trial);            // the greatest id; -1: none
Error asked_count(Database *database, int64_t *trials);          // that were asked for
Error asked_count_open(Database *database, int64_t *open);       // of these with a replicate that was not told
Error asked_of_trial(Database *database, int64_t trial, int64_t *lanes, int64_t *told);
// *found: this replicate was asked for. lane->trial and replicate: which. Error (machine): the row is damaged.
Error asked_read(Database *database, const Spec *spec, AskedLane *lane, bool *found);
Error asked_complete(Database *database, int64_t first, int64_t *trials); // rows of trials with ids >= first
Error asked_tell(Store *store, const AskedLane *lane, const char *time);  // stores failure and metrics
// Keeps what was told of the lane so far, before it is told anew.
Error asked_keep_old(Store *store, const AskedLane *lane, const char *time);
// Replicates that were not told, by trial and replicate: cells trial, replicate, asked. before: only those that were
// asked before this time; NULL: all.
Cursor asked_open(Database *database, const char *before);

#endif
