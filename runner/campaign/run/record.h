// Arrays that are recorded after their trials have run (record.c).
#ifndef HOPSCOTCH_RECORD_H
#define HOPSCOTCH_RECORD_H

#include "../store/commit/wanted_arrays.h"
#include "loop.h"

typedef struct Recorded {
    int64_t trials;
    int64_t cut, most; // replicates with more rows than are kept; rows of the one with the most
} Recorded;

// Simulates again the trials whose arrays of the kind were in lost shards (store/campaign/lost.h). Stores the arrays in
// new shards. In batches of at most `trials_max` trials, of which `lanes_max` lanes are observed.
Error record_lost(const Spec *spec, Store *store, const Search *search, Backend *backend, RecordKind kind,
                  int64_t trials_max, int64_t lanes_max, Arena *arena, Recorded *recorded);
// After the loop: simulates again and stores every missing array of the kind that the policy wants: trajectories of
// best and failures, debug rows, arrays of lost shards.
Error record_missing(const Loop *loop, RecordKind kind, Recorded *recorded);

#endif
