// The compute graph: refusals, the order of nodes, and the same bits with any number of threads.
#include "../../sim/graph/graph.h"
#include "../test.h"

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Arena graph_arena(void)
{
    Arena arena;
    if (arena_create(&arena, (size_t)1 << 30, "a test of graphs").kind != OK) abort();
    return arena;
}

static void graph_nothing(void *context, int item) { (void)context, (void)item; }

static int graph_add(Graph *graph, const char *name)
{
    int node = -1;
    CHECK_OK(graph_node(graph, name, (GraphWork){.function = graph_nothing}, &node));
    return node;
}

// ---- refusals -------------------------------------------------------------------------------------------------------

TEST(graph_names_are_unique)
{
    Arena arena = graph_arena();
    Graph *graph = graph_new(&arena);
    char name[16];
    int node;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "node %d", i);
        CHECK_INTEGER(i, graph_add(graph, name));
    }
    const Error error = graph_node(graph, "node 617", (GraphWork){.function = graph_nothing}, &node);
    CHECK_ERROR(ERROR_USER, error);
    CHECK_TEXT("two nodes of the graph are called 'node 617'", error.text);
    CHECK_INTEGER(1000, graph_node_count(graph));
    arena_destroy(&arena);
}

TEST(graph_has_a_maximum_size)
{
    Arena arena = graph_arena();
    Graph *graph = graph_new(&arena);
    char name[16];
    int node;
    Error error = error_none();
    while (error.kind == OK) {
        snprintf(name, sizeof name, "%d", graph_node_count(graph));
        error = graph_node(graph, name, (GraphWork){.function = graph_nothing}, &node);
    }
    CHECK_TEXT("the graph has more than 16384 nodes", error.text);
    CHECK_INTEGER(GRAPH_NODES_MAX, graph_node_count(graph));
    GraphProgram program;
    error = graph_compile(graph, 0, &arena, &program);
    CHECK_TEXT("a graph can be run by 1 to 1024 threads, not 0", error.text);
    arena_destroy(&arena);
}

TEST(graph_refuses_an_edge_that_closes_a_cycle)
{
    Arena arena = graph_arena();
    Graph *graph = graph_new(&arena);
    const int a = graph_add(graph, "forces"), b = graph_add(graph, "rows"), c = graph_add(graph, "solve");
    const int d = graph_add(graph, "log");
    CHECK_OK(graph_edge(graph, a, b));
    CHECK_OK(graph_edge(graph, b, c));
    CHECK_OK(graph_edge(graph, a, d));
    CHECK_OK(graph_edge(graph, d, c));
    Error error = graph_edge(graph, c, a);
    CHECK_ERROR(ERROR_USER, error);
    CHECK(strcmp(error.text, "an edge from 'solve' to 'forces' closes a cycle: forces -> rows -> solve -> forces") ==
              0 ||
          strcmp(error.text, "an edge from 'solve' to 'forces' closes a cycle: forces -> log -> solve -> forces") == 0);
    error = graph_edge(graph, b, b);
    CHECK_TEXT("an edge from 'rows' to 'rows' closes a cycle: rows -> rows", error.text);
    CHECK_OK(graph_edge(graph, b, d)); // the refused edges were not added
    GraphProgram program;
    CHECK_OK(graph_compile(graph, 1, &arena, &program));
    CHECK_INTEGER(4, program.n_steps);
    arena_destroy(&arena);
}

TEST(graph_prints_a_long_cycle_without_its_middle)
{
    Arena arena = graph_arena();
    Graph *graph = graph_new(&arena);
    char name[160];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "%0*d", i == 100 ? 150 : 8, i);
        graph_add(graph, name);
        if (i > 0) CHECK_OK(graph_edge(graph, i - 1, i));
    }
    const Error error = graph_edge(graph, 199, 0);
    CHECK(strstr(error.text, "00000000 -> 00000001 -> 00000002 -> ") != NULL);
    CHECK(strstr(error.text, " more) -> 00000199 -> 00000000") != NULL);
    arena_destroy(&arena);
}

// ---- hazards --------------------------------------------------------------------------------------------------------

TEST(graph_names_unordered_nodes_that_touch_the_same_numbers)
{
    Arena arena = graph_arena();
    Graph *graph = graph_new(&arena);
    const int bodies = graph_resource(graph, "bodies"), rows = graph_resource(graph, "rows");
    const int a = graph_add(graph, "left"), b = graph_add(graph, "right"), c = graph_add(graph, "sum");
    graph_writes(graph, a, bodies, 0, 10);
    graph_writes(graph, b, bodies, 10, 20); // disjoint ranges
    graph_reads(graph, a, rows, 0, 5);
    graph_reads(graph, b, rows, 0, 5); // two readers, no writer
    const size_t used = arena.used;
    CHECK_OK(graph_validate(graph, &arena));
    CHECK_INTEGER((int64_t)used, (int64_t)arena.used);
    graph_reads(graph, c, bodies, 8, 12);
    CHECK_OK(graph_edge(graph, a, c));
    const Error error = graph_validate(graph, &arena);
    CHECK_ERROR(ERROR_USER, error);
    CHECK_TEXT("nodes 'right' (writes) and 'sum' (reads) touch 'bodies' [10, 12), and no edge orders them", error.text);
    CHECK_OK(graph_edge(graph, b, c));
    CHECK_OK(graph_validate(graph, &arena));
    graph_writes(graph, b, bodies, 9, 11);
    CHECK_TEXT("nodes 'left' (writes) and 'right' (writes) touch 'bodies' [9, 10), and no edge orders them",
               graph_validate(graph, &arena).text);
    CHECK_OK(graph_edge(graph, a, b));
    CHECK_OK(graph_validate(graph, &arena));
    const int d = graph_add(graph, "after the sum");
    graph_writes(graph, d, bodies, 0, 1);
    CHECK_ERROR(ERROR_USER, graph_validate(graph, &arena));
    CHECK_OK(graph_edge(graph, c, d)); // orders d after `left`, through `sum`
    CHECK_OK(graph_validate(graph, &arena));
    arena_destroy(&arena);
}

// ---- random graphs --------------------------------------------------------------------------------------------------

enum { NET_NODES_MAX = 200, NET_BEFORE_MAX = 4 };

// Numbers that each node computes from those of its predecessors, in a fixed order.
typedef struct Net {
    int n, before[NET_NODES_MAX][NET_BEFORE_MAX], n_before[NET_NODES_MAX];
    double x[NET_NODES_MAX];
    atomic_int runs[NET_NODES_MAX];
    atomic_int early; // nodes that ran before one of their predecessors
    GraphTeam *cancelled;
    int cancelling; // the node that cancels the run
} Net;

static void net_compute(void *context, int item)
{
    Net *net = context;
    double sum = 0.999 * net->x[item] + 1e-3 * item;
    for (int k = 0; k < net->n_before[item]; k++) {
        const int before = net->before[item][k];
        sum = sum / 1.01 + 0.01 * net->x[before];
        if (atomic_load(&net->runs[before]) != atomic_load(&net->runs[item]) + 1) atomic_fetch_add(&net->early, 1);
    }
    net->x[item] = sum;
    atomic_fetch_add(&net->runs[item], 1);
    if (net->cancelled != NULL && item == net->cancelling) graph_cancel(net->cancelled);
}

static uint64_t net_random(uint64_t *state) // splitmix64
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Nodes are constructed in random order, so that ties and levels differ from the order of numbers. skip: the node that
// gets no edges from its predecessors; -1: none.
static Graph *net_graph(Net *net, uint64_t seed, int nodes, double nanoseconds, int skip, Arena *arena)
{
    Graph *graph = graph_new(arena);
    char name[16];
    *net = (Net){.n = nodes};
    const int x = graph_resource(graph, "x");
    for (int i = 0; i < nodes; i++) {
        int node;
        snprintf(name, sizeof name, "x%d", i);
        const double cost = nanoseconds * (double)(1 + net_random(&seed) % 4);
        CHECK_OK(graph_node(graph, name, (GraphWork){net_compute, net, i, cost}, &node));
        graph_writes(graph, node, x, i, i + 1);
    }
    for (int i = 1; i < nodes; i++) {
        // predecessors of i have a lower rank; a node's rank is i times a number that has no factor in common with a
        // prime
        const int most = (int)(net_random(&seed) % NET_BEFORE_MAX);
        for (int k = 0; k < most; k++) {
            const int before = (int)(net_random(&seed) % (uint64_t)nodes);
            if ((before * 37 + 11) % 199 >= (i * 37 + 11) % 199) continue;
            net->before[i][net->n_before[i]++] = before;
            graph_reads(graph, i, x, before, before + 1);
            if (i != skip) CHECK_OK(graph_edge(graph, before, i));
        }
    }
    return graph;
}

TEST(graph_order_is_topological_with_ties_by_construction)
{
    Arena arena = graph_arena();
    for (uint64_t seed = 0; seed < 20; seed++) {
        static Net net;
        const size_t used = arena.used;
        Graph *graph = net_graph(&net, seed, 100, 0.0, -1, &arena);
        GraphProgram program;
        int place[NET_NODES_MAX], level[NET_NODES_MAX];
        CHECK_OK(graph_validate(graph, &arena));
        CHECK_OK(graph_compile(graph, 3, &arena, &program));
        CHECK_INTEGER(100, program.n_steps);
        CHECK_INTEGER(100, program.level[program.n_levels]);
        for (int l = 0; l < program.n_levels; l++) {
            for (int k = program.level[l]; k < program.level[l + 1]; k++) {
                place[program.steps[k].node] = k;
                level[program.steps[k].node] = l;
                CHECK(k == program.level[l] || program.steps[k - 1].node < program.steps[k].node);
            }
        }
        for (int i = 0; i < net.n; i++) {
            int deepest = -1;
            for (int k = 0; k < net.n_before[i]; k++) {
                CHECK(place[net.before[i][k]] < place[i]);
                if (level[net.before[i][k]] > deepest) deepest = level[net.before[i][k]];
            }
            CHECK_INTEGER(deepest + 1, level[i]);
        }
        arena_rewind(&arena, used);
    }
    arena_destroy(&arena);
}

TEST(graph_finds_the_hazard_of_a_missing_edge)
{
    Arena arena = graph_arena();
    int found = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        static Net net;
        const size_t used = arena.used;
        const int skip = (int)(seed * 7 % 60);
        Graph *graph = net_graph(&net, seed, 60, 0.0, skip, &arena);
        const Error error = graph_validate(graph, &arena);
        char name[16];
        snprintf(name, sizeof name, "'x%d'", skip);
        // without these edges no path joins the node with its predecessors
        CHECK_INTEGER(net.n_before[skip] > 0 ? ERROR_USER : OK, error.kind);
        if (error.kind != OK) CHECK(strstr(error.text, name) != NULL);
        found += error.kind != OK;
        arena_rewind(&arena, used);
    }
    CHECK(found > 10);
    arena_destroy(&arena);
}

// ---- running --------------------------------------------------------------------------------------------------------

// Runs the net `most` times on `threads` threads, or as often as several can within a second, and gives how often:
// threads that wait for one another are slow on a busy machine. nanoseconds: the cost of a node, so great that levels
// are shared.
static int net_run(Net *net, uint64_t seed, int threads, int most, double nanoseconds)
{
    enum { LEAST = 10 };
    Arena arena = graph_arena();
    GraphProgram program;
    GraphTeam *team;
    Graph *graph = net_graph(net, seed, NET_NODES_MAX - 1, nanoseconds, -1, &arena);
    CHECK_OK(graph_compile(graph, threads, &arena, &program));
    CHECK((program.first_shared >= 0) == (threads > 1));
    CHECK_OK(graph_team_open(threads, &arena, &team));
    const size_t used = arena.used, in_use = mallinfo2().uordblks;
    const double until = clock_seconds() + 1.0;
    int runs = 0;
    for (; runs < most && (threads == 1 || runs < LEAST || clock_seconds() < until); runs++)
        CHECK(graph_run(team, &program, NULL));
    CHECK_INTEGER((int64_t)used, (int64_t)arena.used); // a run allocates no memory
    CHECK_INTEGER((int64_t)in_use, (int64_t)mallinfo2().uordblks);
    graph_team_close(team);
    for (int i = 0; i < net->n; i++) CHECK_INTEGER(runs, atomic_load(&net->runs[i]));
    CHECK_INTEGER(0, atomic_load(&net->early));
    arena_destroy(&arena);
    return runs;
}

// nanoseconds: cost of a node. 1e5: every level of two or more nodes is shared; 120: only broad levels
static void net_check_threads(double nanoseconds)
{
    const int many = test_quick() ? 50 : 1000, few = many / 10; // few runs where more threads than processors run
    static Net alone, other, together;
    net_run(&alone, 5, 1, 2, nanoseconds);
    net_run(&other, 5, 1, 3, nanoseconds);
    CHECK(memcmp(alone.x, other.x, sizeof alone.x) != 0);
    for (int threads = 2; threads <= 16; threads += threads < 4 ? 1 : 4) {
        const bool crowded = threads > processor_count();
        const int runs = net_run(&together, 5, threads, crowded ? few : many, nanoseconds);
        CHECK_INTEGER(runs, net_run(&alone, 5, 1, runs, nanoseconds));
        CHECK(memcmp(alone.x, together.x, sizeof together.x) == 0);
    }
}

TEST(graph_gives_the_same_bits_on_any_number_of_threads)
{
    net_check_threads(1e5);
    net_check_threads(120.0);
}

TEST(graph_runs_small_levels_on_one_thread)
{
    Arena arena = graph_arena();
    static Net net;
    GraphProgram program;
    CHECK_OK(graph_compile(net_graph(&net, 5, 40, 1.0, -1, &arena), 8, &arena, &program));
    CHECK_INTEGER(1, program.n_segments);
    CHECK_INTEGER(-1, program.first_shared);
    CHECK_NEAR(program.alone, program.together, 0.0);
    CHECK_OK(graph_compile(net_graph(&net, 5, 40, 1e6, -1, &arena), 8, &arena, &program));
    CHECK(program.first_shared == 0 && program.together < 0.6 * program.alone);
    arena_destroy(&arena);
}

TEST(graph_shares_a_level_by_what_its_nodes_cost)
{
    Arena arena = graph_arena();
    Graph *graph = graph_new(&arena);
    GraphProgram program;
    char name[16];
    int node;
    for (int i = 0; i < 9; i++) { // one node of 8 us, eight of 1 us
        snprintf(name, sizeof name, "%d", i);
        CHECK_OK(graph_node(graph, name, (GraphWork){.function = graph_nothing, .nanoseconds = i ? 1e3 : 8e3}, &node));
    }
    CHECK_OK(graph_compile(graph, 2, &arena, &program));
    CHECK_INTEGER(0, program.share[0]);
    CHECK_INTEGER(1, program.share[1]);
    CHECK_INTEGER(9, program.share[2]);
    CHECK_OK(graph_compile(graph, 4, &arena, &program));
    CHECK_INTEGER(9, program.share[4]);
    for (int t = 0; t < 4; t++) CHECK(program.share[t] <= program.share[t + 1]);
    arena_destroy(&arena);
}

// Chains side by side, two of them joined: threads that run whole chains do not wait for each other.
TEST(graph_threads_wait_only_for_what_they_need)
{
    for (int joined = 0; joined < 2; joined++) {
        Arena arena = graph_arena();
        Graph *graph = graph_new(&arena);
        GraphProgram program;
        char name[32];
        int node;
        for (int i = 0; i < 40; i++) {
            snprintf(name, sizeof name, "level %d, chain %d", i / 10, i % 10);
            CHECK_OK(graph_node(graph, name, (GraphWork){.function = graph_nothing, .nanoseconds = 1e4}, &node));
            if (i >= 10) CHECK_OK(graph_edge(graph, i - 10, i));
        }
        if (joined) CHECK_OK(graph_edge(graph, 11, 29)); // an edge from level 1 to level 2
        CHECK_OK(graph_compile(graph, 3, &arena, &program));
        CHECK_INTEGER(4, program.n_levels);
        CHECK_INTEGER(joined ? 2 : 1, program.n_segments);
        CHECK_INTEGER(joined ? 2 : 4, program.segments[0].end);
        // one chain to its end, then the next
        const int depth = joined ? 2 : 4;
        for (int k = program.own[0]; k < program.own[1]; k++)
            CHECK_INTEGER(k % depth * 10 + k / depth, program.steps[program.plan[k]].node);
        arena_destroy(&arena);
    }
}

// Each part: two nodes lead to a third, which leads to the last. With an odd number of parts, half of the work ends
// within a part. The part must not be split there, as its third node would then wait.
TEST(graph_threads_run_whole_parts)
{
    enum { PARTS = 11 };
    static const char *const stages[] = {"forces", "rows", "solve", "move"};
    static const double costs[] = {2e3, 3e3, 2e4, 5e3};
    for (int threads = 2; threads <= 4; threads++) {
        Arena arena = graph_arena();
        Graph *graph = graph_new(&arena);
        GraphProgram program;
        int node, count;
        for (int i = 0; i < 4 * PARTS; i++) {
            const GraphWork work = {.function = graph_nothing, .nanoseconds = costs[i % 4]};
            CHECK_OK(graph_node(graph, arena_format(&arena, "%s %d", stages[i % 4], i / 4), work, &node));
            if (i % 4 >= 2) CHECK_OK(graph_edge(graph, i - 1, i));
            if (i % 4 == 2) CHECK_OK(graph_edge(graph, i - 2, i));
        }
        CHECK_OK(graph_node(graph, "count", (GraphWork){.function = graph_nothing, .nanoseconds = 10}, &count));
        for (int i = 0; i < PARTS; i++) CHECK_OK(graph_edge(graph, 4 * i + 3, count));
        CHECK_OK(graph_compile(graph, threads, &arena, &program));
        CHECK_INTEGER(2, program.n_segments); // the parts, then the count
        CHECK_INTEGER(3, program.segments[0].end);
        arena_destroy(&arena);
    }
}

// A level of two nodes before one node is shared by two threads if there is no other work.
TEST(graph_threads_share_a_level_of_two_nodes)
{
    Arena arena = graph_arena();
    Graph *graph = graph_new(&arena);
    GraphProgram program;
    int node[3];
    for (int i = 0; i < 3; i++) {
        const GraphWork work = {.function = graph_nothing, .nanoseconds = i < 2 ? 1e5 : 10};
        CHECK_OK(graph_node(graph, arena_format(&arena, "node %d", i), work, &node[i]));
    }
    CHECK_OK(graph_edge(graph, node[0], node[2]));
    CHECK_OK(graph_edge(graph, node[1], node[2]));
    for (int threads = 2; threads <= 3; threads++) {
        CHECK_OK(graph_compile(graph, threads, &arena, &program));
        CHECK(program.together < 0.6 * program.alone);
        CHECK_INTEGER(1, program.share[1]);
    }
    arena_destroy(&arena);
}

// ---- cancelling -----------------------------------------------------------------------------------------------------

// A run that a node cancels skips whole levels; the next run is complete.
static void net_check_cancelling(int threads, double nanoseconds)
{
    Arena arena = graph_arena();
    static Net net;
    GraphProgram program;
    GraphTeam *team;
    CHECK_OK(graph_compile(net_graph(&net, 3, 150, nanoseconds, -1, &arena), threads, &arena, &program));
    CHECK_OK(graph_team_open(threads, &arena, &team));
    int cut = 0;
    for (int node = 0; node < net.n; node += test_quick() ? 17 : 1) {
        for (int i = 0; i < net.n; i++) atomic_store(&net.runs[i], 0);
        net.cancelled = team;
        net.cancelling = node;
        const bool whole = graph_run(team, &program, NULL);
        int level = 0, ran = 0;
        for (int l = 0; l < program.n_levels; l++) {
            for (int k = program.level[l]; k < program.level[l + 1]; k++) {
                const bool did = atomic_load(&net.runs[program.steps[k].node]) == 1;
                ran += did;
                if (program.steps[k].node == node) level = l;
                CHECK(l > level ? true : did); // all levels up to the node's level ran
            }
        }
        int segment = 0, next = program.n_levels; // where the run may end: at most one more segment begins
        while (program.segments[segment].end <= level) segment++;
        if (segment + 1 < program.n_segments) next = program.segments[segment + 1].end;
        CHECK(ran >= program.level[level + 1] && ran <= program.level[next]);
        CHECK(!whole || segment + 2 >= program.n_segments);
        CHECK(whole || level + 1 < program.n_levels);
        cut += !whole;
        net.cancelled = NULL;
        if (whole) CHECK(!graph_run(team, &program, NULL)); // the request came too late, and cancels this run
        for (int i = 0; i < net.n; i++) atomic_store(&net.runs[i], 0);
        CHECK(graph_run(team, &program, NULL));
        for (int i = 0; i < net.n; i++) CHECK_INTEGER(1, atomic_load(&net.runs[i]));
    }
    CHECK(cut > 2);
    graph_team_close(team);
    arena_destroy(&arena);
}

TEST(graph_can_be_cancelled)
{
    net_check_cancelling(1, 1e5);
    net_check_cancelling(2, 1e5);
    net_check_cancelling(2, 120.0);
    net_check_cancelling(5, 1e5);
}

typedef struct Canceller {
    GraphTeam *team;
    atomic_bool stopping;
} Canceller;

static void *graph_cancel_often(void *argument)
{
    Canceller *canceller = argument;
    while (!atomic_load(&canceller->stopping)) {
        graph_cancel(canceller->team);
        usleep(20);
    }
    return NULL;
}

TEST(graph_can_be_cancelled_by_another_thread)
{
    Arena arena = graph_arena();
    static Net net;
    static Canceller canceller;
    GraphProgram program;
    pthread_t thread;
    int whole = 0, runs = 0;
    // most: if no request comes, on a busy machine, where threads that wait for one another are slow too
    const int enough = test_quick() ? 200 : 3000, most = 1000000;
    CHECK_OK(graph_compile(net_graph(&net, 3, 150, 1e5, -1, &arena), 3, &arena, &program));
    CHECK_OK(graph_team_open(3, &arena, &canceller.team));
    atomic_store(&canceller.stopping, false);
    if (pthread_create(&thread, NULL, graph_cancel_often, &canceller) != 0) abort();
    const double until = clock_seconds() + 3.0;
    for (; (runs < enough && clock_seconds() < until) || (whole == runs && runs < most); runs++)
        whole += graph_run(canceller.team, &program, NULL);
    atomic_store(&canceller.stopping, true);
    pthread_join(thread, NULL);
    CHECK(whole < runs);
    (void)graph_run(canceller.team, &program, NULL); // a request to cancel may still be pending
    CHECK(graph_run(canceller.team, &program, NULL));
    graph_team_close(canceller.team);
    arena_destroy(&arena);
}

// ---- threads --------------------------------------------------------------------------------------------------------

static int graph_threads_now(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (const struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    if (tasks != NULL) closedir(tasks);
    return count;
}

TEST(graph_teams_leave_no_thread_behind)
{
    Arena arena = graph_arena();
    const int before = graph_threads_now();
    GraphTeam *team;
    CHECK_OK(graph_team_open(1, &arena, &team));
    CHECK_INTEGER(before, graph_threads_now()); // with one thread the team is the caller alone
    CHECK_INTEGER(1, graph_team_threads(team));
    graph_team_close(team);
    for (int i = 0; i < (test_quick() ? 5 : 50); i++) {
        CHECK_OK(graph_team_open(2 + i % 7, &arena, &team));
        CHECK_INTEGER(2 + i % 7, graph_team_threads(team));
        CHECK_INTEGER(before + 1 + i % 7, graph_threads_now());
        graph_team_close(team);
        // a thread that was joined may stand in /proc a moment longer
        for (int wait = 0; wait < 1000 && graph_threads_now() > before; wait++) usleep(1000);
        CHECK_INTEGER(before, graph_threads_now());
    }
    graph_team_close(NULL);
    arena_destroy(&arena);
}

TEST(graph_counts_the_processors_of_the_affinity_mask)
{
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CHECK_INTEGER(CPU_COUNT(&all), processor_count());
    CHECK_INTEGER(CPU_COUNT(&all), graph_threads(0));
    CHECK_INTEGER(3, graph_threads(3));
    CHECK_INTEGER(GRAPH_THREADS_MAX, graph_threads(1000000));
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK_INTEGER(1, graph_threads(0));
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
}

// ---- profile and pictures -------------------------------------------------------------------------------------------

typedef struct Pictures {
    Arena arena;
    Graph *graph;
    GraphProgram program;
    GraphProfile profile;
    char text[1 << 14];
    size_t length;
} Pictures;

static void pictures_take(void *to, const char *text, size_t length)
{
    Pictures *pictures = to;
    if (pictures->length + length >= sizeof pictures->text) abort();
    memcpy(pictures->text + pictures->length, text, length);
    pictures->length += length;
    pictures->text[pictures->length] = '\0';
}

// A diamond, a -> b, c -> d, with given times: 10, 20, 50 and 5 us.
static void pictures_start(Pictures *pictures)
{
    static const struct {
        int64_t start, end;
        int thread;
    } runs[4] = {{1000, 11000, 0}, {12000, 32000, 0}, {12000, 62000, 1}, {63000, 68000, 0}};
    *pictures = (Pictures){.arena = graph_arena()};
    pictures->graph = graph_new(&pictures->arena);
    graph_add(pictures->graph, "a");
    graph_add(pictures->graph, "b \"quoted\"\\");
    graph_add(pictures->graph, "c\n\x1b[31m\xc3\xa9 <script>");
    graph_add(pictures->graph, "d");
    CHECK_OK(graph_edge(pictures->graph, 0, 1));
    CHECK_OK(graph_edge(pictures->graph, 0, 2));
    CHECK_OK(graph_edge(pictures->graph, 1, 3));
    CHECK_OK(graph_edge(pictures->graph, 2, 3));
    CHECK_OK(graph_compile(pictures->graph, 2, &pictures->arena, &pictures->program));
    pictures->profile = graph_profile_new(&pictures->program, &pictures->arena);
    pictures->profile.wall = 70000;
    for (int k = 0; k < 4; k++) {
        pictures->profile.start[k] = runs[k].start;
        pictures->profile.end[k] = runs[k].end;
        pictures->profile.thread[k] = runs[k].thread;
    }
}

TEST(graph_reports_its_critical_path)
{
    static Pictures pictures;
    pictures_start(&pictures);
    const GraphReport report = graph_report(&pictures.program, &pictures.profile, &pictures.arena);
    CHECK_INTEGER(85000, report.work);
    CHECK_INTEGER(70000, report.wall);
    CHECK_INTEGER(65000, report.critical_path);
    CHECK_NEAR(85.0 / 65.0, report.parallelism, 1e-12);
    CHECK_INTEGER(3, report.path_length);
    CHECK(report.path[0] == 0 && report.path[1] == 2 && report.path[2] == 3);
    pictures.profile.end[1] += 60000; // now the path through b is the longest
    const GraphReport other = graph_report(&pictures.program, &pictures.profile, &pictures.arena);
    CHECK_INTEGER(95000, other.critical_path);
    CHECK_INTEGER(1, other.path[1]);
    arena_destroy(&pictures.arena);
}

TEST(graph_is_drawn_with_its_names_escaped)
{
    static Pictures pictures;
    pictures_start(&pictures);
    graph_write_dot(&pictures.program, &pictures.profile, (TextSink){pictures_take, &pictures}, &pictures.arena);
    CHECK_TEXT("digraph step {\n  rankdir=LR;\n  node [shape=box];\n"
               "  { rank=same; // level 0\n"
               "    n0 [label=\"a\", xlabel=\"10.00 us, thread 0\", color=red];\n  }\n"
               "  { rank=same; // level 1\n"
               "    n1 [label=\"b \\\"quoted\\\"\\\\\", xlabel=\"20.00 us, thread 0\"];\n"
               "    n2 [label=\"c??[31m?? <script>\", xlabel=\"50.00 us, thread 1\", color=red];\n  }\n"
               "  { rank=same; // level 2\n"
               "    n3 [label=\"d\", xlabel=\"5.00 us, thread 0\", color=red];\n  }\n"
               "  n0 -> n1;\n  n0 -> n2 [color=red];\n  n1 -> n3;\n  n2 -> n3 [color=red];\n}\n",
               pictures.text);
    pictures.length = 0;
    graph_write_dot(&pictures.program, NULL, (TextSink){pictures_take, &pictures}, &pictures.arena);
    CHECK(strstr(pictures.text, "n0 [label=\"a\"];") != NULL);
    arena_destroy(&pictures.arena);
}

TEST(graph_trace_has_a_line_per_step)
{
    static Pictures pictures;
    pictures_start(&pictures);
    graph_write_trace(&pictures.program, &pictures.profile, (TextSink){pictures_take, &pictures}, &pictures.arena);
    CHECK(strstr(pictures.text, "\"critical_path_us\": 65.000, \"parallelism\": 1.308, \"threads\": 2}") != NULL);
    CHECK(strstr(pictures.text, "{\"name\": \"c??[31m?? <script>\", \"ph\": \"X\", \"pid\": 0, \"tid\": 1, "
                                "\"ts\": 12.000, \"dur\": 50.000}") != NULL);
    CHECK(strstr(pictures.text, "{\"name\": \"b \\\"quoted\\\"\\\\\", \"ph\": \"X\"") != NULL);
    arena_destroy(&pictures.arena);
}

TEST(graph_profiles_every_step_of_a_run)
{
    Arena arena = graph_arena();
    static Net net;
    GraphProgram program;
    GraphTeam *team;
    CHECK_OK(graph_compile(net_graph(&net, 3, 150, 1e5, -1, &arena), 2, &arena, &program));
    CHECK_OK(graph_team_open(2, &arena, &team));
    GraphProfile profile = graph_profile_new(&program, &arena);
    CHECK(graph_run(team, &program, &profile));
    int by_second = 0;
    for (int k = 0; k < program.n_steps; k++) {
        CHECK(profile.start[k] >= 0 && profile.start[k] <= profile.end[k] && profile.end[k] <= profile.wall);
        by_second += profile.thread[k] == 1;
    }
    CHECK(by_second > 30 && by_second < 120);
    const GraphReport report = graph_report(&program, &profile, &arena);
    CHECK(report.critical_path <= report.work && report.critical_path <= report.wall && report.parallelism >= 1.0);
    graph_team_close(team);
    arena_destroy(&arena);
}
