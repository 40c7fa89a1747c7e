// What a kernel is given: some neighbouring lanes of a batch, for one slice.
#ifndef HOPSCOTCH_LANES_VIEW_H
#define HOPSCOTCH_LANES_VIEW_H

#include "sim.h"

enum { LANES_MOST = 8 };      // of a group, on any CPU
enum { LANES_TOGETHER = 32 }; // whose work blocks (lanes_work_block) stand side by side on a GPU: a warp's

// Lanes that are traced or debugged: the first ones of a batch, which the observed kernel advances.
static inline int64_t batch_observed(const Batch *batch)
{
    return batch->trace.lanes > batch->debug.lanes ? batch->trace.lanes : batch->debug.lanes;
}

// Threads of a GPU that advance one lane together (sim/team.h): one block of them or several.
typedef struct Team {
    // 0: each lane has a thread of its own; 1, or more if all of them run at once and can wait for each other
    int32_t blocks;
    int64_t doubles; // that the blocks of a lane share, its 0th for their barrier; 0 if there is one block
    double *memory;  // [lanes of the launch][doubles], zeros before the first barrier
} Team;

typedef struct LaneGroup {
    Batch batch;   // its pointers are valid where the kernel runs
    int n_columns; // of a trajectory sample
    int n_debug;   // columns of a debug row
    int64_t lane;  // first lane of the group
    int valid;     // lanes in the group, 1..LANES
    int64_t tick;  // ticks done before this slice
    int64_t ticks; // ticks to do, at most
    Team team;     // of threads that advance a lane; the CPU has none
} LaneGroup;

#endif
