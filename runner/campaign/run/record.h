// Arrays that are recorded after their trials have run (record.c).
#ifndef HOPSCOTCH_RECORD_H
#define HOPSCOTCH_RECORD_H

#include "../store/wanted_arrays.h"
#include "loop.h"

// Re-simulates and stores the arrays of the kind that lay in shards that are lost (store/lost.h): the new ones replace
// them. In batches of at most `trials_max` trials, of which `lanes_max` lanes are observed. *recorded: trials.
Error record_lost(const Spec *spec, Store *store, const Search *search, Backend *backend, RecordKind kind,
                  int64_t trials_max, int64_t lanes_max, Arena *arena, int64_t *recorded);
// After the loop: re-simulates and stores every array of the kind that the policy wants and that is not there:
// trajectories of best and failures, debug rows, and what a lost shard took with it. *recorded: trials.
Error record_missing(const Loop *loop, RecordKind kind, int64_t *recorded);

#endif
