// A campaign's database, open to write: its statements, its state, its events (store.c; recovery.c).
#ifndef HOPSCOTCH_STORE_H
#define HOPSCOTCH_STORE_H

#include "recording.h"

// Of a database whose table `campaign`, which has one row, is empty.
Error store_row_lost(const Database *database, const char *name);
CommandText store_how_to_repair(const Database *database, const char *name); // the command that mends what it can
typedef struct StoreRecovery {
    int temporary_files, orphan_shards, missing_shards;
} StoreRecovery;
Error store_recover(Store *store, StoreRecovery *recovery, FILE *messages);
typedef struct StoreCounts {
    int64_t trials, failures, last_trial; // last_trial: -1 if there is none
    double wall_seconds;                  // of all runs so far
    double best_fitness;                  // NaN if there is none
    int64_t best_trial;
} StoreCounts;
Error store_counts(Store *store, StoreCounts *counts);
// The search's state after the last tell, into search->state. *found: there is one.
Error store_search_state(Store *store, Search *search, bool *found);
Error store_set_state(Store *store, const char *state, const char *reason, const char *stop_reason);
Error store_set_total(Store *store, int64_t total, int64_t most); // 0: unknown
Error store_index_fitness(Store *store, Arena *arena);
// Of the best trial, whatever the spec; they stay as they are if there is none.
Error store_best(Database *database, int64_t *id, double *fitness);
const char *store_worst_order(const Spec *spec);

#endif
