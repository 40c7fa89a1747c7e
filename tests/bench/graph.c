// What the compute graph costs and saves: a level on several threads against its nodes alone, worlds of many islands on
// two processors, and a world that is too small to share. Every run is timed; medians, and the fastest twentieth, which
// is what a machine gives that does nothing else.
//     graph [THREADS]        THREADS: 2
#include "../../sim/graph/graph.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { BENCH_TURN = 10, BENCH_REPETITIONS = 400 * BENCH_TURN };

typedef struct Bench {
    Arena arena;
    GraphTeam *team, *alone;
    double *state; // [nodes][8]: a cache line each
} Bench;

// about `item` ns of dependent multiplications
static void bench_work(void *context, int item)
{
    double *x = context;
    double sum = x[0];
    for (int i = 0; i < item; i++) sum = sum * 0.999 + 1.0;
    x[0] = sum;
}

static double bench_ns_of_iteration; // measured first

static int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct BenchTimes {
    double median, fast; // ns: of all; of the fastest twentieth the slowest
} BenchTimes;

static BenchTimes bench_times(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, bench_compare);
    return (BenchTimes){values[count / 2], values[count / 20]};
}

static void bench_try(Error error)
{
    if (error.kind == OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

// `levels` levels of `width` nodes of `nanoseconds` each; a node waits for its like in the level before and the first.
static GraphProgram bench_program(Bench *bench, int levels, int width, double nanoseconds, double said, int threads)
{
    Graph *graph = graph_new(&bench->arena);
    GraphProgram program;
    char name[32];
    int node;
    for (int l = 0; l < levels; l++) {
        for (int i = 0; i < width; i++) {
            snprintf(name, sizeof name, "level %d, %d", l, i);
            const GraphWork work = {bench_work, bench->state + 8 * i, (int)(nanoseconds / bench_ns_of_iteration), said};
            bench_try(graph_node(graph, name, work, &node));
            if (l > 0) bench_try(graph_edge(graph, node - width, node));
            if (l > 0 && i > 0) bench_try(graph_edge(graph, node - width - i, node));
        }
    }
    bench_try(graph_compile(graph, threads, &bench->arena, &program));
    return program;
}

static double bench_time(GraphTeam *team, const GraphProgram *program)
{
    const int64_t start = graph_clock();
    graph_run(team, program, NULL);
    return (double)(graph_clock() - start);
}

// Ten and ten by turns, so that what else the machine does meets both. The first of ten wakes the team, and is not
// counted.
static void bench_pair(Bench *bench, const GraphProgram *alone, const GraphProgram *together, BenchTimes *times)
{
    static double a[BENCH_REPETITIONS], b[BENCH_REPETITIONS];
    for (int r = 0; r < BENCH_REPETITIONS; r += BENCH_TURN) {
        bench_time(bench->alone, alone);
        for (int i = r; i < r + BENCH_TURN; i++) a[i] = bench_time(bench->alone, alone);
        bench_time(bench->team, together);
        for (int i = r; i < r + BENCH_TURN; i++) b[i] = bench_time(bench->team, together);
    }
    times[0] = bench_times(a, BENCH_REPETITIONS);
    times[1] = bench_times(b, BENCH_REPETITIONS);
}

// Levels of one empty node a thread, which sharing can only slow down: what a level costs.
static void bench_level(Bench *bench, int threads)
{
    BenchTimes times[2];
    const GraphProgram alone = bench_program(bench, 100, threads, 0.0, 1.0, 1);
    const GraphProgram together = bench_program(bench, 100, threads, 0.0, 1e6, threads);
    bench_pair(bench, &alone, &together, times);
    printf("a level of empty nodes, %d threads: %.0f ns, median %.0f ns; alone %.0f ns\n", threads, times[1].fast / 100,
           times[1].median / 100, times[0].fast / 100);
}

static void bench_islands(Bench *bench, int threads, int islands, double microseconds)
{
    BenchTimes times[2];
    const double ns = 1e3 * microseconds;
    const GraphProgram alone = bench_program(bench, 3, islands, ns / 3, ns / 3, 1);
    const GraphProgram together = bench_program(bench, 3, islands, ns / 3, ns / 3, threads);
    bench_pair(bench, &alone, &together, times);
    printf("%d island%s of %g us in 3 levels: %.2f us, alone %.2f us, %.3f x; median %.3f x\n", islands,
           islands == 1 ? "" : "s", microseconds, 1e-3 * times[1].fast, 1e-3 * times[0].fast,
           times[0].fast / times[1].fast, times[0].median / times[1].median);
}

// On the thread that runs it: from now on this processor of those that the process may use.
static void bench_bind(void *context, int item)
{
    const cpu_set_t *all = context;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, all) && item-- == 0) CPU_SET(cpu, &one);
    }
    (void)sched_setaffinity(0, sizeof one, &one);
}

static void bench_bind_all(Bench *bench, int threads)
{
    Graph *graph = graph_new(&bench->arena);
    GraphProgram program;
    cpu_set_t all;
    char name[16];
    int node;
    bench_try(sched_getaffinity(0, sizeof all, &all) == 0 ? error_none() : error_make(ERROR_MACHINE, "no affinity"));
    for (int t = 0; t < threads; t++) {
        snprintf(name, sizeof name, "%d", t);
        bench_try(graph_node(graph, name, (GraphWork){bench_bind, &all, t % CPU_COUNT(&all), 1e6}, &node));
    }
    bench_try(graph_compile(graph, threads, &bench->arena, &program));
    graph_run(bench->team, &program, NULL);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 2;
    Bench bench = {.state = NULL};
    bench_try(arena_create(&bench.arena, (size_t)1 << 28, "a benchmark of graphs"));
    bench.state = ARENA_NEW(&bench.arena, double, 8 * 4096);
    bench_try(graph_team_open(threads, &bench.arena, &bench.team));
    bench_try(graph_team_open(1, &bench.arena, &bench.alone));
    bench_bind_all(&bench, threads);
    static double iteration[BENCH_REPETITIONS];
    for (int r = 0; r < BENCH_REPETITIONS; r++) {
        const int64_t start = graph_clock();
        bench_work(bench.state, 1000);
        iteration[r] = (double)(graph_clock() - start) / 1000;
    }
    bench_ns_of_iteration = bench_times(iteration, BENCH_REPETITIONS).fast;
    bench_level(&bench, threads);
    bench_islands(&bench, threads, 1, 0.3);
    bench_islands(&bench, threads, 10, 0.45 * 4);
    bench_islands(&bench, threads, 32, 1.0);
    bench_islands(&bench, threads, 32, 4.0);
    bench_islands(&bench, threads, 500, 1.0);
    graph_team_close(bench.team);
    arena_destroy(&bench.arena);
    return 0;
}
