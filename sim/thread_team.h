// A team of threads that shares a loop (thread_team.c).
#ifndef HOPSCOTCH_THREAD_TEAM_H
#define HOPSCOTCH_THREAD_TEAM_H

#include <stdint.h>

typedef struct ThreadTeam ThreadTeam;

// Does items [first, end). `thread`: its number in the team, from 0, for memory of its own.
typedef void (*ThreadWork)(void *context, int thread, int64_t first, int64_t end);

// A team of `threads` threads, of which the caller is the first; fewer if the system starts no more. All functions take
// NULL as the team of the caller alone, and thread_team_open returns NULL for it.
ThreadTeam *thread_team_open(int threads);
void thread_team_close(ThreadTeam *team);
int thread_team_threads(const ThreadTeam *team); // the caller included

// Runs `work` over [0, count) in ranges that do not overlap, of `least` items or more but for the last one. Returns
// when all are done. A range has no fixed thread and no fixed order: the results are the same on every team if those of
// an item depend on that item alone. One call at a time; `work` must not call it for the same team.
void thread_team_for(ThreadTeam *team, int64_t count, int64_t least, ThreadWork work, void *context);

#endif
