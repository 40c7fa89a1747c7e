// The recording policy: of which trials arrays are kept, and when they are recorded (record.c).
#ifndef HOPSCOTCH_RECORD_H
#define HOPSCOTCH_RECORD_H

#include "loop.h"

// Trajectories of `every` and `trials`: known before the trial has run. All debug rows are recorded afterwards.
bool record_as_run(const Spec *spec, int64_t id);
int64_t record_trials_max(const Spec *spec, int64_t traced_max); // of one batch, so that `every` fits the trace
// Lanes of debug rows that a batch of `trials` trials may have.
int64_t record_debug_lanes(const Spec *spec, int64_t trials);
// Re-simulates and stores the arrays of the kind of the trials that `ids_sql` selects, whether there are any of theirs
// or not: the new ones replace them. In batches of at most `trials_max` trials, of which `lanes_max` lanes are
// observed. *recorded: trials.
Error record_again(const Spec *spec, Store *store, const Search *search, Backend *backend, RecordKind kind,
                   int64_t trials_max, int64_t lanes_max, const char *ids_sql, int64_t *recorded);
// Fills the temporary table `wanted` with the ids of the stored trials whose arrays of the kind the spec asks for.
// Within a transaction.
Error record_ask(const Spec *spec, Database *database, RecordKind kind);
// Whether record_missing would do anything, of any kind.
Error record_is_missing(const Spec *spec, Store *store, bool *missing);
// After the loop: re-simulates and stores every array of the kind that the policy wants and that is not there:
// trajectories of best and failures, debug rows, and what a lost shard took with it. *recorded: trials.
Error record_missing(const Loop *loop, RecordKind kind, int64_t *recorded);

#endif
