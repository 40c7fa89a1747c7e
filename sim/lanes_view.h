// What a kernel is given: some neighbouring lanes of a batch, for one slice.
#ifndef HOPSCOTCH_LANES_VIEW_H
#define HOPSCOTCH_LANES_VIEW_H

#include "sim.h"

typedef struct LaneGroup {
    Batch batch;   // its pointers are valid where the kernel runs
    int n_columns; // of a trajectory sample
    int n_debug;   // columns of a debug row
    int64_t lane;  // first lane of the group
    int valid;     // lanes in the group, 1..LANES
    int64_t tick;  // ticks done before this slice
    int64_t ticks; // ticks to do, at most
} LaneGroup;

#endif
