// A team of threads does each item of a loop once, whatever their numbers.
#include "../test.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { TEAM_ITEMS = 1000, TEAM_MOST = 8 };

typedef struct TeamCase {
    int64_t least, count;
    int threads;
    atomic_int done[TEAM_ITEMS];
    atomic_int busy[TEAM_MOST]; // by thread
    atomic_int wrong, ranges;
} TeamCase;

static void team_count(void *context, int thread, int64_t first, int64_t end)
{
    TeamCase *all = context;
    if (first < 0 || end > all->count || first >= end || thread < 0 || thread >= all->threads)
        atomic_fetch_add(&all->wrong, 1);
    if (end < all->count && end - first < all->least) atomic_fetch_add(&all->wrong, 1);
    if (atomic_fetch_add(&all->busy[thread], 1) != 0) atomic_fetch_add(&all->wrong, 1); // another one has its number
    atomic_fetch_add(&all->ranges, 1);
    for (int64_t i = first; i < end; i++) atomic_fetch_add(&all->done[i], 1);
    atomic_fetch_sub(&all->busy[thread], 1);
}

static void team_try(ThreadTeam *team, int64_t count, int64_t least)
{
    static TeamCase all;
    memset(&all, 0, sizeof all);
    all.count = count;
    all.least = least;
    all.threads = thread_team_threads(team);
    thread_team_for(team, count, least, team_count, &all);
    CHECK_INTEGER(0, all.wrong);
    if (count <= least) CHECK_INTEGER(count > 0, all.ranges);
    int64_t others = 0;
    for (int64_t i = 0; i < TEAM_ITEMS; i++) others += all.done[i] != (i < count);
    CHECK_INTEGER(0, others);
}

TEST(a_team_does_each_item_once)
{
    const int teams[] = {1, 2, 3, TEAM_MOST};
    const int64_t counts[] = {0, 1, 2, 3, 7, 8, 31, 32, 33, 999, TEAM_ITEMS}, leasts[] = {0, 1, 2, 8, 100, 5000};
    for (size_t t = 0; t < sizeof teams / sizeof *teams; t++) {
        ThreadTeam *team = thread_team_open(teams[t]);
        CHECK_INTEGER(teams[t], thread_team_threads(team));
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (size_t l = 0; l < sizeof leasts / sizeof *leasts; l++) team_try(team, counts[c], leasts[l]);
        }
        thread_team_close(team);
    }
}

// Calls one after the other: a thread that wakes late must not do a range of the call before.
TEST(a_team_does_many_short_loops)
{
    ThreadTeam *team = thread_team_open(4);
    for (int i = 0; i < (test_quick() ? 200 : 2000); i++) team_try(team, 1 + i % 9, 1);
    thread_team_close(team);
}

// Each item waits for the other one: only two threads at once end this.
static void team_meet(void *context, int thread, int64_t first, int64_t end)
{
    atomic_int *arrived = context;
    (void)thread;
    atomic_fetch_add(arrived, (int)(end - first));
    while (atomic_load(arrived) < 2) sched_yield();
}

TEST(the_threads_of_a_team_work_at_once)
{
    atomic_int arrived = 0;
    ThreadTeam *team = thread_team_open(2);
    thread_team_for(team, 2, 1, team_meet, &arrived);
    CHECK_INTEGER(2, arrived);
    thread_team_close(team);
}

TEST(no_team_is_the_caller_alone)
{
    CHECK(thread_team_open(0) == NULL);
    CHECK(thread_team_open(1) == NULL);
    CHECK_INTEGER(1, thread_team_threads(NULL));
    thread_team_close(NULL);
}
