// A campaign's database that is open for writing: its tables, its spec, its state (schema.c, store.c, recovery.c).
#ifndef HOPSCOTCH_STORE_H
#define HOPSCOTCH_STORE_H

#include "../ground/recording.h"

// What --set changed (overrides.c), within a transaction: the overrides of the spec replace those that are stored, or
// (add) those with the same keys.
Error overrides_keep(Database *database, const Overrides *given, bool add, Arena *arena);
// The outer parameters of every search (outer_points.c), once, within the transaction that makes the campaign.
Error outer_record(Database *database, const Spec *spec);
// Of a campaign that is done: its sensitivities (sensitivity.c); nothing for methods without them.
Error sensitivity_record(Store *store, const Search *search);
Error origin_text(Database *database, Arena *arena, const char **text); // "verifies gains/41"; "": no origin

// `given`, which is also the store's spec, is not the campaign's (extend.c). Says what differs. If the options ask for
// it and every row keeps its meaning, it appends the spec to the campaign; else error (user).
Error store_extend(Store *store, Spec *given, const RunOptions *options, Arena *arena);
// The segments of a campaign that was extended, into its spec; none if it never was.
Error segments_read(Database *database, const char *folder, Arena *arena, Spec *spec);

// The error that the table `campaign` of a database, which has one row, is empty.
Error store_row_lost(const Database *database, const char *name);
// Error (user): it was computed with another numerics version.
Error store_compare_numerics(Database *database, const char *name);
typedef struct StoreRecovery {
    int temporary_files, orphan_shards, missing_shards;
} StoreRecovery;
Error store_recover(Store *store, StoreRecovery *recovery, FILE *messages);
typedef struct StoreCounts {
    int64_t trials, failures, last_trial; // last_trial: -1 if there is none
    double wall_seconds;                  // of all runs so far
    double best_fitness;                  // NaN if there is none
    int64_t best_trial;
    int64_t retired; // of the failures, those of limits.retire
} StoreCounts;
Error store_counts(Store *store, StoreCounts *counts);
// The search's state after the last tell, into search->state. *found: there is one.
Error store_search_state(Store *store, Search *search, bool *found);
// The campaign starts, goes on to another phase, or ends: all of it in one transaction, so that a run that is killed
// leaves the one state or the other.
typedef struct StoreState {
    const char *state, *reason, *stop_reason; // reason, stop_reason: NULL if there is none
    const char *event, *text;                 // NULL: no event, and the totals stay
    int64_t trials_total, trials_most;        // 0: unknown
} StoreState;
Error store_set_state(Store *store, const StoreState *state);
Error store_index_fitness(Store *store, Arena *arena);

// Notes where the program of the campaign's model runs, and its version, if they are new (store/campaign/program.c).
Error program_note(Store *store, const char *folder, const char *version, Arena *arena);
// Keeps copies of the files in `folder` that the program's words name, if they are new (program_files.c). `messages`
// names files that are too large (NULL: nothing does). program_files_adopt: those that another campaign keeps in its
// folder `campaign`.
Error program_files_keep(Store *store, const char *folder, FILE *messages, Arena *arena);
Error program_files_adopt(Store *store, Database *from, const char *campaign, Arena *arena);

#endif
