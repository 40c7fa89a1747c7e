// The argument of a kernel: some neighbouring lanes of a batch, for one slice.
#ifndef HOPSCOTCH_LANES_VIEW_H
#define HOPSCOTCH_LANES_VIEW_H

#include "sim.h"

enum { LANES_MOST = 8 };                      // per group, on any CPU
enum { AHEAD_THREADS = 32, AHEAD_LANES = 2 }; // a warp is a thread block of ahead.cuh; lanes of a thread there
enum { LANES_TOGETHER = 32 }; // a warp: lanes whose work chunks (lanes_work_chunk) are interleaved on a GPU

// Number of lanes that are traced or debugged: the first ones of a batch.
static inline int64_t batch_recorded(const Batch *batch)
{
    return batch->trace.lanes > batch->debug.lanes ? batch->trace.lanes : batch->debug.lanes;
}
// Number of lanes that the observed kernel advances: these, or all if they are metered.
static inline int64_t batch_observed(const Batch *batch)
{
    return batch->meter.of.cell != NULL ? batch->lanes : batch_recorded(batch);
}

// Threads of a GPU that advance one lane together (sim/team.h): one thread block or several.
typedef struct Team {
    // 0: one thread per lane. Else thread blocks per lane; all of them run at once and can wait for each other
    int32_t thread_blocks;
    int64_t doubles; // shared by the thread blocks of a lane; the first holds the barrier; 0 for a single one
    double *memory;  // [lanes of the launch][doubles], zeros before the first barrier
} Team;

// For environments (sim/environment.h), whose lanes begin at different times; else all NULL.
typedef struct LaneClocks {
    int64_t *ticks;       // [stride] done by each lane
    const double *action; // [n_actions][stride]
    double *column;       // [n_columns][columns_apart] samples, from the first lane of the group on: the first numbers
                          // of the frame of an environment's expressions
    int64_t columns_apart;
    double *spare; // [n_work][LANES] of this thread of a CPU; NULL on a GPU
} LaneClocks;

typedef struct LaneGroup {
    Batch batch;          // its pointers are valid where the kernel runs
    int n_columns;        // of a trajectory sample
    int n_debug;          // columns of a debug row
    int64_t lane;         // first lane of the group
    const int32_t *order; // lanes that still run, one per thread or team of a GPU; NULL: all lanes
    int valid;            // lanes in the group, 1..LANES
    int64_t tick;         // ticks done before this slice
    int64_t ticks;        // ticks to do, at most
    Team team;            // threads that advance a lane; unused on the CPU
    LaneClocks own;
} LaneGroup;

#endif
