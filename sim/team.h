// A team: the threads of a GPU that advance one lane together, in one thread block or several. The first warp of the
// first thread block leads: all its threads compute what a single thread computes on the CPU, and one thread writes the
// results. The other warps help with work that can be shared. No result depends on the size of the team. On the CPU a
// team is a single thread, which leads.
#ifndef HOPSCOTCH_TEAM_H
#define HOPSCOTCH_TEAM_H

#include "lanes.h"

#if defined(HOPSCOTCH_TEAMS)
enum { TEAM_WARP = 32 };

HD int team_rank(const LaneGroup *group)
{
    return (int)(blockIdx.x % (unsigned)group->team.thread_blocks);
} // of the thread block
HD int team_warp(void) { return (int)threadIdx.x / TEAM_WARP; }   // in the thread block
HD int team_column(void) { return (int)threadIdx.x % TEAM_WARP; } // in the warp
HD bool team_leads(const LaneGroup *group) { return team_rank(group) == 0 && team_warp() == 0; }
// This thread writes the results.
HD bool team_speaks(const LaneGroup *group) { return team_rank(group) == 0 && threadIdx.x == 0; }

// The doubles that the thread blocks of this lane share, without the barrier's.
HD double *team_memory(const LaneGroup *group)
{
    return group->team.memory + (int64_t)(blockIdx.x / (unsigned)group->team.thread_blocks) * group->team.doubles + 1;
}

// Waits for all threads of the thread block; they may wait at different lines of the code.
#if defined(__CUDACC__)
HD void thread_block_barrier(void) { asm volatile("barrier.sync 0;" ::: "memory"); }
#endif

// Waits for all threads of the team and makes their writes visible. The count only grows, by the number of thread
// blocks at each barrier, so it needs no reset.
HD_CALL void team_barrier(const LaneGroup *group)
{
    thread_block_barrier();
    if (group->team.thread_blocks == 1) return;
    if (threadIdx.x == 0) {
        unsigned long long *count = (unsigned long long *)(team_memory(group) - 1);
        const unsigned long long thread_blocks = (unsigned long long)group->team.thread_blocks;
        __threadfence();
        const unsigned long long until = (atomicAdd(count, 1ULL) / thread_blocks + 1) * thread_blocks;
        while (*(volatile unsigned long long *)count < until) {
        }
        __threadfence();
    }
    thread_block_barrier();
}

HD void team_warp_barrier(void) { __syncwarp(); }

// Threads that go back through a lane (adjoint.h), each of another warp of the thread block; they wait for each other.
enum { ADJOINT_THREADS = 2 };
HD void adjoint_threads_meet(void) { thread_block_barrier(); }
#else
enum { TEAM_WARP = 1 };

enum { ADJOINT_THREADS = 1 };
HD void adjoint_threads_meet(void) {}

HD int team_column(void) { return 0; }
HD bool team_leads(const LaneGroup *group)
{
    (void)group;
    return true;
}
HD bool team_speaks(const LaneGroup *group)
{
    (void)group;
    return true;
}
HD void team_warp_barrier(void) {}
#endif

// A row of `count` numbers in the registers of a warp: a thread has TEAM_OWN(count) of them, those in the columns
// team_column(), team_column() + TEAM_WARP, ...
#define TEAM_OWN(count) (((count) + TEAM_WARP - 1) / TEAM_WARP)

HD void team_set(double *own, int column, double value)
{
    if (column % TEAM_WARP == team_column()) own[column / TEAM_WARP] = value;
}

// lanes_debug for one lane, by the leading warp: a row of `first` and the `count` numbers that the warp holds.
HD void team_debug(const LaneGroup *group, double first, const double *own, int count)
{
    const DebugRows *debug = &group->batch.debug;
    if (!team_leads(group)) return;
    const int64_t written = debug->count[group->lane];
    double *to = debug->row + (group->lane * debug->capacity + written % debug->capacity) * group->n_debug;
    for (int k = 0, c = team_column(); c < count; k++, c += TEAM_WARP) to[1 + c] = lane_of(canonical(splat(own[k])), 0);
    team_warp_barrier();
    if (!team_speaks(group)) return;
    to[0] = first;
    debug->count[group->lane] = written + 1;
}

#endif
