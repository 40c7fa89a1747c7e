// The recording policy: which trials keep arrays, and when these are recorded (wanted_arrays.c).
#ifndef HOPSCOTCH_WANTED_ARRAYS_H
#define HOPSCOTCH_WANTED_ARRAYS_H

#include "../ground/recording.h"

// Trajectories of `every` and `trials`: known before the trial has run. All debug rows are recorded afterwards.
bool record_as_run(const Spec *spec, int64_t id);
int64_t record_trials_max(const Spec *spec, int64_t traced_max); // of one batch, so that `every` fits the trace
// Lanes of debug rows that a batch of `trials` trials may have.
int64_t record_debug_lanes(const Spec *spec, int64_t trials);
// Fills the temporary table `wanted` with the ids of the stored trials whose arrays of the kind the spec asks for.
// Within a transaction.
Error record_ask(const Spec *spec, Database *database, RecordKind kind);
// The same, only of trials with missing arrays; *count of them.
Error record_list(const Spec *spec, Store *store, RecordKind kind, int64_t *count);
Error record_count(Store *store, int64_t *count); // of the table `wanted` now
// Whether record_list would find any trial, of any kind of arrays.
Error record_is_missing(const Spec *spec, Store *store, bool *missing);

#endif
