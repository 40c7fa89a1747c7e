// Cost and gain of the compute graph: a level on several threads against its nodes alone, worlds of many islands on two
// processors, and a world that is too small to share. Every run is timed. Prints medians, and the fastest twentieth,
// which shows an otherwise idle machine.
//     graph [THREADS]        THREADS: 2
#include "../../runner/command/command.h"
#include "../../sim/graph/graph.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

// ---- worlds of rigid bodies, from a spec to the end of their time ---------------------------------------------------

enum { BENCH_SLICES = 40 };

// Islands of `bodies` bodies each: chains on ball joints.
static const char *bench_world(int islands, int bodies, Arena *arena)
{
    char *items = arena_copy(arena, ""), *joints = items;
    for (int i = 0; i < islands; i++) {
        for (int b = 0; b < bodies; b++) {
            const char *comma = i + b > 0 ? ", " : "";
            items = arena_format(arena, "%s%s{name: b%d_%d, inertia: 0.1, position: [%d.5, %d, 0]}", items, comma, i, b,
                                 b, i);
            joints = arena_format(arena, "%s%s{name: j%d_%d, type: ball, a: b%d_%d, at_a: [-0.5, 0, 0]", joints, comma,
                                  i, b, i, b);
            joints =
                b > 0 ? arena_format(arena, "%s, b: b%d_%d}", joints, i, b - 1) : arena_format(arena, "%s}", joints);
        }
    }
    return arena_format(arena, "bodies: [%s], constraints: [%s]", items, joints);
}

typedef struct BenchWorld {
    Spec spec;
    Backend *backend;
} BenchWorld;

static void bench_open_world(BenchWorld *world, const char *lists, const char *executor, int threads, Arena *arena)
{
    const BackendOptions options = {.name = "cpu", .threads = threads};
    const char *text = arena_format(arena,
                                    "version: 1\nexperiment: bench\nmodel: rigid\nsimulation: {duration: 1000, "
                                    "dt: 1e-3, stabilisation: baumgarte, executor: %s, world: {%s}}\n",
                                    executor, lists);
    Diagnostics *diagnostics = diagnostics_new(arena);
    bench_try(spec_parse("bench.yaml", text, NULL, 0, arena, diagnostics, &world->spec));
    bench_try(backend_open(&options, &world->backend));
    bench_try(backend_prepare(world->backend, &world->spec.configured, 1, 0, 1));
    Batch *batch = backend_batch(world->backend, 0);
    batch->lanes = 1;
    for (int p = 0; p < world->spec.configured.n_parameters; p++) batch->parameter[p] = world->spec.fixed[p];
    bench_try(backend_begin(world->backend, 0));
}

// ns a step
static double bench_slice(BenchWorld *world, int64_t ticks, double *before)
{
    bool done = false;
    double seconds;
    bench_try(backend_advance(world->backend, 0, ticks));
    bench_try(backend_wait(world->backend, 0, &done, &seconds));
    const double taken = seconds - *before;
    *before = seconds;
    return 1e9 * taken / (double)ticks;
}

// The threads that were started since `before`: of a backend that shares its lanes, those of its pool, of which one
// leads and the others sleep, on the first processor, then those of the team on the others.
static void bench_bind_threads(int before, int pool)
{
    char path[64];
    cpu_set_t all, one;
    int number = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    for (int tid = before + 1; tid < before + 10000; tid++) {
        snprintf(path, sizeof path, "/proc/self/task/%d", tid);
        if (access(path, F_OK) != 0) continue;
        int skip = number < pool ? 0 : (1 + number - pool) % CPU_COUNT(&all);
        CPU_ZERO(&one);
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (CPU_ISSET(cpu, &all) && skip-- == 0) CPU_SET(cpu, &one);
        }
        (void)sched_setaffinity(tid, sizeof one, &one);
        number++;
    }
}

static int bench_last_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int last = 0;
    for (const struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;)
        last = atoi(entry->d_name) > last ? atoi(entry->d_name) : last;
    if (tasks != NULL) closedir(tasks);
    return last;
}

static void bench_rigid(int islands, int bodies, int threads)
{
    static double a[BENCH_SLICES], b[BENCH_SLICES];
    Arena arena;
    BenchWorld alone, together;
    double before[2] = {0, 0};
    bench_try(arena_create(&arena, (size_t)1 << 32, "worlds of a benchmark"));
    const char *lists = bench_world(islands, bodies, &arena);
    bench_open_world(&alone, lists, "sequential", threads, &arena);
    const int last = bench_last_thread();
    bench_open_world(&together, lists, "levels", threads, &arena);
    bench_bind_threads(last, threads);
    const int64_t ticks = 1 + 25000 / (islands * bodies); // some 20 ms a slice: hopscotch run has a tenth of a second
    for (int s = 0; s < BENCH_SLICES; s++) {
        a[s] = bench_slice(&alone, ticks, &before[0]);
        b[s] = bench_slice(&together, ticks, &before[1]);
    }
    const BenchTimes first = bench_times(a, BENCH_SLICES), second = bench_times(b, BENCH_SLICES);
    printf("a rigid world of %d island%s of %d bod%s, a step: %.2f us, alone %.2f us, %.3f x; median %.3f x\n", islands,
           islands == 1 ? "" : "s", bodies, bodies == 1 ? "y" : "ies", 1e-3 * second.fast, 1e-3 * first.fast,
           first.fast / second.fast, first.median / second.median);
    backend_close(alone.backend);
    backend_close(together.backend);
    arena_destroy(&arena);
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
    bench_rigid(1, 1, threads);
    bench_rigid(32, 1, threads);
    bench_rigid(32, 4, threads);
    bench_rigid(256, 4, threads);
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
