// Running a compiled graph on a team of threads, to the same bits whatever their number.
//
// Each thread counts the stages that it has passed, one a shared segment, and waits for the counts of the others: two
// stores and two loads a level on two processors, no lock. It looks for a while, then sleeps on the count (futex).
// Thread 0 is the caller: it also runs the segments that are not shared, while the others are on their way to the next
// stage. Between runs they wait for its count to move on.
#include "graph.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// How a thread waits: it looks for about 3 us, more than most levels take to end; then it yields between looks, in case
// what it waits for has no processor but this one; after about 50 us, what it takes to wake a thread, it sleeps.
enum { TEAM_LOOKS = 256, TEAM_PAUSES = 200, TEAM_YIELDS = 100 };

typedef struct GraphMember {
    _Alignas(64) atomic_uint stage; // passed so far; wraps
    atomic_uint sleepers;           // that wait for it to change
    GraphTeam *team;
    int number;
    pthread_t thread;
} GraphMember;

struct GraphTeam {
    const GraphProgram *program; // of the run in flight; NULL: the team is dissolved
    GraphProfile *profile;
    int64_t began;    // ns, of a profiled run
    unsigned base;    // stage at which the run in flight began; thread 0's
    atomic_uint stop; // stage at which it is cancelled, if that is in the run
    atomic_bool cancelled;
    int threads;
    bool crowded; // more threads than processors: looking keeps others from working
    GraphMember *members;
};

// ---- waiting --------------------------------------------------------------------------------------------------------

static bool team_passed(GraphMember *member, unsigned stage)
{
    return (int)(atomic_load_explicit(&member->stage, memory_order_acquire) - stage) >= 0;
}

static void team_sleep(GraphMember *member, unsigned stage)
{
    atomic_fetch_add(&member->sleepers, 1);
    for (unsigned seen; (int)((seen = atomic_load(&member->stage)) - stage) < 0;)
        (void)syscall(SYS_futex, (unsigned *)&member->stage, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&member->sleepers, 1);
}

static void team_wait(const GraphTeam *team, GraphMember *member, unsigned stage)
{
    for (int i = 0; i < TEAM_LOOKS && !team->crowded; i++) {
        if (team_passed(member, stage)) return;
    }
    for (int i = 0; i < TEAM_PAUSES && !team->crowded; i++) {
        if (team_passed(member, stage)) return;
        __builtin_ia32_pause();
    }
    for (int i = 0; i < TEAM_YIELDS; i++) {
        if (team_passed(member, stage)) return;
        sched_yield();
    }
    team_sleep(member, stage);
}

static void team_wait_all(const GraphTeam *team, unsigned stage)
{
    for (int t = 0; t < team->threads; t++) team_wait(team, &team->members[t], stage);
}

static void team_pass(GraphMember *member, unsigned stage)
{
    atomic_store(&member->stage, stage); // in one order with `sleepers`, so that neither misses the other
    if (atomic_load(&member->sleepers) > 0)
        (void)syscall(SYS_futex, (unsigned *)&member->stage, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

// ---- steps ----------------------------------------------------------------------------------------------------------

static void team_run_profiled(const GraphTeam *team, const GraphProgram *program, int thread, int first, int end)
{
    for (int k = first; k < end; k++) {
        const GraphStep *step = &program->steps[k];
        team->profile->thread[k] = thread;
        team->profile->start[k] = graph_clock() - team->began;
        step->function(step->context, step->item);
        team->profile->end[k] = graph_clock() - team->began;
    }
}

static void team_run_steps(const GraphTeam *team, const GraphProgram *program, int thread, int first, int end)
{
    if (team->profile != NULL) {
        team_run_profiled(team, program, thread, first, end);
        return;
    }
    for (int k = first; k < end; k++) program->steps[k].function(program->steps[k].context, program->steps[k].item);
}

static void team_run_share(const GraphTeam *team, const GraphProgram *program, int segment, int thread)
{
    for (int l = program->segments[segment].first; l < program->segments[segment].end; l++) {
        const int *share = program->share + l * (program->threads + 1) + thread;
        team_run_steps(team, program, thread, share[0], share[1]);
    }
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
        team_run_steps(team, program, 0, program->level[l], program->level[l + 1]);
    }
    return true;
}

// ---- the other threads ----------------------------------------------------------------------------------------------

// Was the run that began at `base` cancelled at this stage, or before?
static bool team_stopped(GraphTeam *team, unsigned base, unsigned stage)
{
    const unsigned stop = atomic_load(&team->stop);
    return (int)(stop - base) > 0 && (int)(stop - stage) <= 0;
}

// One run, as a member other than the first. `base`: the stage at which it began. Gives the stage at which it ended.
static unsigned team_follow(GraphTeam *team, GraphMember *member, unsigned base)
{
    const GraphProgram *program = team->program;
    const int first = program->first_shared, last = program->last_shared;
    const unsigned end = base + 2 + (unsigned)(last - first);
    for (int s = first; s <= last; s++) {
        const unsigned stage = base + 1 + (unsigned)(s - first);
        if (!program->segments[s].shared) continue;
        if (s > first && program->segments[s - 1].shared)
            team_wait_all(team, stage);
        else if (s > first)
            team_wait(team, &team->members[0], stage);
        if (team_stopped(team, base, stage)) break;
        team_run_share(team, program, s, member->number);
        team_pass(member, stage + 1);
    }
    team_pass(member, end);
    return end;
}

static void *team_thread(void *argument)
{
    GraphMember *member = argument;
    GraphTeam *team = member->team;
    for (unsigned base = 0;;) {
        team_wait(team, &team->members[0], base + 1);
        if (team->program == NULL) return NULL;
        base = team_follow(team, member, base);
    }
}

// ---- the first thread -----------------------------------------------------------------------------------------------

// All meet at the stage where the run ends.
static void team_meet(GraphTeam *team, unsigned end)
{
    team_pass(&team->members[0], end);
    team_wait_all(team, end);
    team->base = end;
}

// False: cancelled.
static bool team_lead(GraphTeam *team, const GraphProgram *program)
{
    const int first = program->first_shared, last = program->last_shared;
    const unsigned base = team->base, end = base + 2 + (unsigned)(last - first);
    bool whole = true;
    for (int s = 0; s < program->n_segments; s++) {
        const unsigned stage = base + 1 + (unsigned)(s - first);
        const bool among = first >= 0 && s >= first && s <= last; // the others are at work, or about to be
        whole = whole && !team_cancelled(team);
        if (!whole && !(among && s > first)) return false;
        if (!whole) {
            atomic_store(&team->stop, stage);
            team_meet(team, end);
            return false;
        }
        if (among) team_pass(&team->members[0], stage);
        if (among && s > first && program->segments[s - 1].shared) team_wait_all(team, stage);
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
    team->crowded = threads > graph_processors();
    team->threads = 1;
    *out = team;
    while (team->threads < threads) {
        GraphMember *member = &team->members[team->threads];
        *member = (GraphMember){.team = team, .number = team->threads};
        const int failed = pthread_create(&member->thread, NULL, team_thread, member);
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
    team_pass(&team->members[0], team->base + 1);
    for (int t = 1; t < team->threads; t++) pthread_join(team->members[t].thread, NULL);
}
