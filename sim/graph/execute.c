// Runs a compiled graph on a team of threads. The bits do not depend on their number.
//
// Each thread counts the stages that it has passed, one per shared segment, and waits for the counts of the others.
// There is no lock, and no store is waited for. The counts of sixteen threads share one cache line, so the last thread
// finds those of the others beside its own: 65 ns per barrier of two threads, against 160 ns with a line for each
// count. A thread polls for a while, then sleeps on the count (futex). Thread 0 is the caller. It also runs the
// segments that are not shared, while the others proceed to the next stage. Between runs they wait for its count.
#include "../thread.h"
#include "graph.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// How a thread waits. First it polls for some microseconds, longer than most levels take, with a pause of 10 to 60 ns
// after each poll, because a poll takes the cache line from the thread that is about to store. Then it yields between
// polls, in case the other thread needs this processor. After about 50 us, the time to wake a thread, it sleeps.
enum { TEAM_LOOKS = 100, TEAM_YIELDS = 100 };

// First value of the counts: they wrap soon, so that every test covers it.
#define TEAM_FIRST_STAGE (UINT_MAX - 50u)

typedef struct GraphMember {
    _Alignas(64) atomic_uint sleepers; // threads that wait for its count to change
    GraphTeam *team;
    int number;
    pthread_t thread;
} GraphMember;

struct GraphTeam {
    const GraphProgram *program; // of the run in flight; NULL: the team ends
    GraphProfile *profile;
    int64_t began;    // ns, of a profiled run
    unsigned base;    // stage at which the run in flight began; of thread 0
    atomic_uint stop; // stage at which it is cancelled; `base`: not cancelled
    atomic_bool cancelled;
    int threads;
    bool crowded; // more threads than processors: polling would keep others from working
    GraphMember *members;
    atomic_uint *stages; // [threads] passed by each; they wrap. In cache lines of their own
};

// ---- waiting --------------------------------------------------------------------------------------------------------

static bool team_passed(const GraphTeam *team, int member, unsigned stage)
{
    return (int)(atomic_load_explicit(&team->stages[member], memory_order_acquire) - stage) >= 0;
}

static void team_wake(const GraphTeam *team, int member)
{
    (void)syscall(SYS_futex, (unsigned *)&team->stages[member], FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

// Publishes the count and wakes sleepers. A thread may begin to sleep between these two without seeing the count;
// team_rouse checks again.
static void team_pass(const GraphTeam *team, int member, unsigned stage)
{
    atomic_store_explicit(&team->stages[member], stage, memory_order_release);
    if (atomic_load_explicit(&team->members[member].sleepers, memory_order_relaxed) > 0) team_wake(team, member);
}

// Called before a member that has passed its stage sleeps itself. Adding 0 orders this read with the sleepers' own
// change: either it finds them, or they find the count.
static void team_rouse(const GraphTeam *team, int member)
{
    if (atomic_fetch_add(&team->members[member].sleepers, 0) > 0) team_wake(team, member);
}

static void team_sleep(const GraphTeam *team, int member, unsigned stage)
{
    atomic_uint *count = &team->stages[member], *sleepers = &team->members[member].sleepers;
    atomic_fetch_add(sleepers, 1);
    for (unsigned seen; (int)((seen = atomic_load(count)) - stage) < 0;)
        (void)syscall(SYS_futex, (unsigned *)count, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(sleepers, 1);
}

// Tells the processor that this thread looks again and again.
static void team_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Thread `own` waits until `member` has passed the stage.
static void team_wait(const GraphTeam *team, int own, int member, unsigned stage)
{
    for (int i = 0; i < TEAM_LOOKS && !team->crowded; i++) {
        if (team_passed(team, member, stage)) return;
        team_pause();
    }
    team_rouse(team, own);
    for (int i = 0; i < TEAM_YIELDS; i++) {
        if (team_passed(team, member, stage)) return;
        sched_yield();
    }
    team_sleep(team, member, stage);
}

static void team_wait_all(const GraphTeam *team, int own, unsigned stage)
{
    for (int t = 0; t < team->threads; t++) team_wait(team, own, t, stage);
}

// ---- steps ----------------------------------------------------------------------------------------------------------

static void team_run_step(const GraphTeam *team, const GraphProgram *program, int thread, int k)
{
    const GraphStep *step = &program->steps[k];
    GraphProfile *profile = team->profile;
    if (profile != NULL) {
        profile->thread[k] = thread;
        profile->start[k] = graph_clock() - team->began;
    }
    step->function(step->context, step->item);
    if (profile != NULL) profile->end[k] = graph_clock() - team->began;
}

static void team_run_share(const GraphTeam *team, const GraphProgram *program, int segment, int thread)
{
    const int *own = program->own + segment * (program->threads + 1) + thread;
    for (int k = own[0]; k < own[1]; k++) team_run_step(team, program, thread, program->plan[k]);
}

static bool team_cancelled(const GraphTeam *team)
{
    return atomic_load_explicit(&team->cancelled, memory_order_relaxed);
}

// False: cancelled before its last level.
static bool team_run_alone(const GraphTeam *team, const GraphProgram *program, const GraphSegment *segment)
{
    for (int l = segment->first; l < segment->end; l++) {
        if (l > segment->first && team_cancelled(team)) return false;
        for (int k = program->level[l]; k < program->level[l + 1]; k++) team_run_step(team, program, 0, k);
    }
    return true;
}

// ---- the other threads ----------------------------------------------------------------------------------------------

// True if the run that began at `base` was cancelled at this stage or before.
static bool team_stopped(GraphTeam *team, unsigned base, unsigned stage)
{
    const unsigned stop = atomic_load(&team->stop);
    return (int)(stop - base) > 0 && (int)(stop - stage) <= 0;
}

// One run of a member other than the first. `base`: the stage at which it began. Returns the stage at which it ended.
static unsigned team_follow(GraphTeam *team, const GraphMember *member, unsigned base)
{
    const GraphProgram *program = team->program;
    const int first = program->first_shared, last = program->last_shared;
    const unsigned end = base + 2 + (unsigned)(last - first);
    for (int s = first; s <= last; s++) {
        const unsigned stage = base + 1 + (unsigned)(s - first);
        if (!program->segments[s].shared) continue;
        if (s > first && program->segments[s - 1].shared)
            team_wait_all(team, member->number, stage);
        else if (s > first)
            team_wait(team, member->number, 0, stage);
        if (team_stopped(team, base, stage)) break;
        team_run_share(team, program, s, member->number);
        team_pass(team, member->number, stage + 1);
    }
    team_pass(team, member->number, end);
    return end;
}

static void *team_thread(void *argument)
{
    const GraphMember *member = argument;
    GraphTeam *team = member->team;
    for (unsigned base = TEAM_FIRST_STAGE;;) {
        team_wait(team, member->number, 0, base + 1);
        if (team->program == NULL) return NULL;
        base = team_follow(team, member, base);
    }
}

// ---- the first thread -----------------------------------------------------------------------------------------------

// Waits until all threads reach the stage at which the run ends.
static void team_meet(GraphTeam *team, unsigned end)
{
    team_pass(team, 0, end);
    team_wait_all(team, 0, end);
    team->base = end;
}

// False: cancelled.
static bool team_lead(GraphTeam *team, const GraphProgram *program)
{
    const int first = program->first_shared, last = program->last_shared;
    const unsigned base = team->base, end = base + 2 + (unsigned)(last - first);
    bool whole = true;
    atomic_store_explicit(&team->stop, base, memory_order_relaxed); // before the first stage, while the others wait
    for (int s = 0; s < program->n_segments; s++) {
        const unsigned stage = base + 1 + (unsigned)(s - first);
        const bool among = first >= 0 && s >= first && s <= last; // the others work, or soon will
        whole = whole && !team_cancelled(team);
        if (!whole && !(among && s > first)) return false;
        if (!whole) {
            atomic_store(&team->stop, stage);
            team_meet(team, end);
            return false;
        }
        if (among) team_pass(team, 0, stage);
        if (among && s > first && program->segments[s - 1].shared) team_wait_all(team, 0, stage);
        if (program->segments[s].shared)
            team_run_share(team, program, s, 0);
        else
            whole = team_run_alone(team, program, &program->segments[s]);
        if (s == last) team_meet(team, end);
    }
    return whole;
}

bool graph_run(GraphTeam *team, const GraphProgram *program, GraphProfile *profile)
{
    team->profile = profile;
    team->program = program;
    if (profile != NULL) team->began = graph_clock();
    const bool whole = team_lead(team, program);
    if (profile != NULL) profile->wall = graph_clock() - team->began;
    if (!whole) atomic_store(&team->cancelled, false);
    return whole;
}

void graph_cancel(GraphTeam *team) { atomic_store(&team->cancelled, true); }

// ---- opening and closing --------------------------------------------------------------------------------------------

int graph_team_threads(const GraphTeam *team) { return team->threads; }

Error graph_team_open(int threads, Arena *arena, GraphTeam **out)
{
    GraphTeam *team = ARENA_NEW(arena, GraphTeam, 1);
    team->members = ARENA_NEW(arena, GraphMember, threads);
    team->stages = ARENA_NEW(arena, atomic_uint, threads);
    team->crowded = threads > processor_count();
    team->threads = 1;
    team->base = TEAM_FIRST_STAGE;
    for (int t = 0; t < threads; t++) atomic_store(&team->stages[t], TEAM_FIRST_STAGE);
    *out = team;
    while (team->threads < threads) {
        GraphMember *member = &team->members[team->threads];
        *member = (GraphMember){.team = team, .number = team->threads};
        const int failed = thread_start(&member->thread, team_thread, member);
        if (failed != 0) {
            graph_team_close(team);
            *out = NULL;
            return error_make(ERROR_MACHINE, "the system started %d of %d threads for a graph: %s", team->threads,
                              threads, strerror(failed));
        }
        team->threads++;
    }
    return error_none();
}

void graph_team_close(GraphTeam *team)
{
    if (team == NULL || team->threads == 1) return;
    team->program = NULL;
    team_pass(team, 0, team->base + 1);
    team_rouse(team, 0);
    for (int t = 1; t < team->threads; t++) pthread_join(team->members[t].thread, NULL);
}
