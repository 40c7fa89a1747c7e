// A team of threads that shares a loop. Each takes the next range until none is left; the caller takes part. A thread
// that wakes too late finds no range and sleeps again, so the caller never waits for it.
#include "thread_team.h"

#include "thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

enum { THREAD_TEAM_MAX = 1024, THREAD_TEAM_RANGES = 4 }; // ranges per thread, because items may differ in length

typedef struct ThreadMember {
    pthread_t thread;
    ThreadTeam *team;
    int number; // in the team; the caller is 0
} ThreadMember;

struct ThreadTeam {
    pthread_mutex_t mutex; // of all that follows
    pthread_cond_t wanted, ended;
    ThreadWork work;
    void *context;
    int64_t next, count, range; // items: the first that is not taken, all, of a range
    int active;                 // threads that work on a range
    bool closing;
    int threads; // with the caller
    ThreadMember member[];
};

// ---- work -----------------------------------------------------------------------------------------------------------

// Call with the mutex held.
static void thread_team_work(ThreadTeam *team, int thread)
{
    team->active++;
    while (team->next < team->count) {
        const int64_t first = team->next, left = team->count - first;
        const int64_t end = first + (left < team->range ? left : team->range);
        team->next = end;
        pthread_mutex_unlock(&team->mutex);
        team->work(team->context, thread, first, end);
        pthread_mutex_lock(&team->mutex);
    }
    if (--team->active == 0) pthread_cond_signal(&team->ended);
}

static void *thread_team_follow(void *argument)
{
    const ThreadMember *member = argument;
    ThreadTeam *team = member->team;
    pthread_mutex_lock(&team->mutex);
    while (!team->closing) {
        if (team->next < team->count)
            thread_team_work(team, member->number);
        else
            pthread_cond_wait(&team->wanted, &team->mutex);
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

static int64_t thread_team_range(int threads, int64_t count, int64_t least)
{
    const int64_t ranges = (int64_t)threads * THREAD_TEAM_RANGES, even = (count + ranges - 1) / ranges;
    return even > least ? even : least > 1 ? least : 1;
}

void thread_team_for(ThreadTeam *team, int64_t count, int64_t least, ThreadWork work, void *context)
{
    const int64_t range = thread_team_range(thread_team_threads(team), count, least);
    if (count <= 0) return;
    if (team == NULL || count <= range) {
        work(context, 0, 0, count);
        return;
    }
    pthread_mutex_lock(&team->mutex);
    team->work = work;
    team->context = context;
    team->next = 0;
    team->count = count;
    team->range = range;
    const int64_t others = (count + range - 1) / range - 1;
    for (int64_t i = 1; i < team->threads && i <= others; i++) pthread_cond_signal(&team->wanted);
    thread_team_work(team, 0);
    while (team->active > 0) pthread_cond_wait(&team->ended, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}

// ---- opening and closing --------------------------------------------------------------------------------------------

int thread_team_threads(const ThreadTeam *team) { return team == NULL ? 1 : team->threads; }

// Signals go to the caller: its waits are what they interrupt.
static void thread_team_start(ThreadTeam *team, int threads)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (team->threads < threads) {
        ThreadMember *member = &team->member[team->threads - 1];
        *member = (ThreadMember){.team = team, .number = team->threads};
        if (thread_start(&member->thread, thread_team_follow, member) != 0) break;
        team->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

ThreadTeam *thread_team_open(int threads)
{
    const int wanted = threads < THREAD_TEAM_MAX ? threads : THREAD_TEAM_MAX;
    if (wanted <= 1) return NULL;
    ThreadTeam *team = calloc(1, sizeof *team + (size_t)(wanted - 1) * sizeof team->member[0]);
    if (team == NULL) return NULL;
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->wanted, NULL);
    pthread_cond_init(&team->ended, NULL);
    team->threads = 1;
    thread_team_start(team, wanted);
    if (team->threads > 1) return team;
    thread_team_close(team);
    return NULL;
}

void thread_team_close(ThreadTeam *team)
{
    if (team == NULL) return;
    pthread_mutex_lock(&team->mutex);
    team->closing = true;
    pthread_cond_broadcast(&team->wanted);
    pthread_mutex_unlock(&team->mutex);
    for (int t = 1; t < team->threads; t++) pthread_join(team->member[t - 1].thread, NULL);
    pthread_cond_destroy(&team->ended);
    pthread_cond_destroy(&team->wanted);
    pthread_mutex_destroy(&team->mutex);
    free(team);
}
