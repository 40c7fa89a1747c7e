// How many evaluations the CMA-ES needs on the 24 noiseless functions of the model bbob: for each function, dimension
// and target the expected running time (evaluations of all runs over the number of those that got there) and the
// success rate. Searches run through ask and tell on a CPU backend; nothing is stored.
//
//   build/bench_search [DIMENSIONS [INSTANCES [BUDGET]]]     2,5,10 and 5; a run has 1e4 x dimension evaluations
//   build/bench_search values FUNCTION DIMENSION INSTANCE
//   build/bench_search trace FUNCTION DIMENSION INSTANCE METHOD OPTIONS
//   build/bench_search update [DIMENSION [POPULATION [GENERATIONS [SEARCHES [THREADS]]]]]     8, 1024, 2000, 1 and 1
//
// The first prints CSV (`make bench-search` keeps it as tests/bench/search.csv). The second is for
// tests/bench/compare_pycma.py, which measures the reference implementation on the same functions: points come as
// doubles on the standard input, their values go to the output. The third is for tests/bench/compare_methods.py: it
// prints the fitness of each evaluation of a search by this method with these options. The fourth times what a
// generation costs beside its evaluations: quartiles over N generations of all searches, which share one batch.
#include "../../runner/command/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BENCH_TARGETS = 7, BENCH_LANES = 1 << 14 };
static const double bench_targets[BENCH_TARGETS] = {10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-5, 1e-8};

typedef struct BenchRun {
    int64_t evaluations;        // in all
    int64_t hit[BENCH_TARGETS]; // evaluations until then; 0: never
} BenchRun;

static void bench_die(Error error)
{
    if (error.kind == OK) return;
    fprintf(stderr, "bench_search: %s\n", error.text);
    exit(1);
}

static void bench_spec(int function, int dimension, int instance, const char *method, const char *options, Arena *arena,
                       Spec *spec)
{
    const Model *model = model_find("bbob");
    const char *names = model->options[0].choices, *over = "";
    for (int i = 0; i < function; i++) names = strchr(names, '|') + 1;
    for (int i = 0; i < dimension; i++) over = arena_format(arena, "%s    x%d: {range: [-5, 5]}\n", over, i + 1);
    const char *text =
        arena_format(arena,
                     "version: 1\nexperiment: bench\nseed: %d\nmodel: bbob\n"
                     "simulation: {function: %.*s, dimension: %d, instance: %d}\n"
                     "search:\n  method: %s\n  over:\n%s"
                     "  %s: {%s}\n",
                     instance, (int)strcspn(names, "|"), names, dimension, instance, method, over, method, options);
    bench_die(spec_parse("bench.yaml", text, NULL, 0, arena, diagnostics_new(arena), spec));
}

static Trials bench_trials(const Spec *spec, int64_t capacity, Arena *arena)
{
    return (Trials){.capacity = capacity,
                    .id = ARENA_NEW(arena, int64_t, capacity),
                    .ordinal = ARENA_NEW(arena, uint64_t, capacity),
                    .search = ARENA_NEW(arena, int32_t, capacity),
                    .round = ARENA_NEW(arena, int32_t, capacity),
                    .parameter = ARENA_NEW(arena, double, capacity * spec->configured.n_parameters),
                    .fitness = ARENA_NEW(arena, double, capacity),
                    .survived = ARENA_NEW(arena, double, capacity)};
}

static void bench_evaluate(const Spec *spec, Backend *backend, Trials *trials)
{
    Batch *batch = backend_batch(backend, 0);
    const int n = spec->configured.n_parameters;
    bool done = false;
    double seconds;
    for (int64_t t = 0; t < trials->count; t++) {
        for (int i = 0; i < n; i++) batch->parameter[i * batch->stride + t] = trials->parameter[t * n + i];
    }
    batch->lanes = trials->count;
    bench_die(backend_begin(backend, 0));
    bench_die(backend_advance(backend, 0, 1));
    bench_die(backend_wait(backend, 0, &done, &seconds));
    for (int64_t t = 0; t < trials->count; t++) trials->fitness[t] = batch->metric[t];
}

static void bench_note(const Trials *trials, BenchRun *run)
{
    for (int64_t t = 0; t < trials->count; t++) {
        run->evaluations++;
        for (int k = 0; k < BENCH_TARGETS; k++) {
            if (run->hit[k] == 0 && trials->fitness[t] <= bench_targets[k]) run->hit[k] = run->evaluations;
        }
    }
}

// trace: where the fitness of each evaluation goes, one a line; NULL: nowhere.
static BenchRun bench_run(int function, int dimension, int instance, const char *method, const char *with, FILE *trace)
{
    const BackendOptions options = {.name = "cpu", .threads = 1};
    BenchRun run = {0};
    Arena arena;
    Spec spec;
    Search search;
    Backend *backend = NULL;
    bench_die(arena_create(&arena, (size_t)1 << 28, "a benchmark"));
    bench_spec(function, dimension, instance, method, with, &arena, &spec);
    bench_die(search_init(&spec, &arena, &search));
    bench_die(backend_open(&options, &backend));
    bench_die(backend_prepare(backend, &spec.configured, BENCH_LANES, 0, 0));
    Trials trials = bench_trials(&spec, BENCH_LANES, &arena);
    bool waiting = false;
    do {
        bench_die(search.method->ask(&search, BENCH_LANES, &trials, &waiting));
        if (trials.count > 0) bench_evaluate(&spec, backend, &trials);
        bench_note(&trials, &run);
        for (int64_t t = 0; trace != NULL && t < trials.count; t++) fprintf(trace, "%.17g\n", trials.fitness[t]);
        bench_die(search.method->tell(&search, &trials));
    } while (trials.count > 0);
    backend_close(backend);
    arena_destroy(&arena);
    return run;
}

static void bench_function(int function, int dimension, int instances, double budget)
{
    double evaluations[BENCH_TARGETS] = {0};
    int successes[BENCH_TARGETS] = {0};
    char options[96];
    snprintf(options, sizeof options, "sigma: 0.2, restarts: bipop, stop: {target: 1e-8, trials: %.0f}",
             budget * dimension);
    for (int i = 1; i <= instances; i++) {
        const BenchRun run = bench_run(function, dimension, i, "cmaes", options, NULL);
        for (int k = 0; k < BENCH_TARGETS; k++) {
            evaluations[k] += (double)(run.hit[k] > 0 ? run.hit[k] : run.evaluations);
            successes[k] += run.hit[k] > 0;
        }
    }
    for (int k = 0; k < BENCH_TARGETS; k++)
        printf("f%d,%d,%g,%d,%d,%.0f\n", function + 1, dimension, bench_targets[k], successes[k], instances,
               successes[k] > 0 ? evaluations[k] / successes[k] : (double)INFINITY);
    fflush(stdout);
}

static int bench_values(int function, int dimension, int instance)
{
    const BackendOptions options = {.name = "cpu", .threads = 1};
    Arena arena;
    Spec spec;
    Backend *backend = NULL;
    bench_die(arena_create(&arena, (size_t)1 << 28, "values"));
    bench_spec(function - 1, dimension, instance, "cmaes", "population: auto", &arena, &spec);
    bench_die(backend_open(&options, &backend));
    bench_die(backend_prepare(backend, &spec.configured, BENCH_LANES, 0, 0));
    Trials trials = bench_trials(&spec, BENCH_LANES, &arena);
    trials.count = 1;
    while (fread(trials.parameter, sizeof(double), (size_t)dimension, stdin) == (size_t)dimension) {
        bench_evaluate(&spec, backend, &trials);
        fwrite(trials.fitness, sizeof(double), 1, stdout);
        fflush(stdout);
    }
    backend_close(backend);
    arena_destroy(&arena);
    return 0;
}

static int bench_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void bench_quartiles(const char *what, double *seconds, int count)
{
    qsort(seconds, (size_t)count, sizeof *seconds, bench_ascending);
    printf("%-6s %8.1f us  (quartiles %.1f and %.1f)\n", what, 1e6 * seconds[count / 2], 1e6 * seconds[count / 4],
           1e6 * seconds[3 * count / 4]);
}

static void bench_update_spec(int dimension, int population, int searches, Arena *arena, Spec *spec)
{
    const char *over = "";
    for (int i = 0; i < dimension; i++)
        over = arena_format(arena, "%s%sx%d: {range: [-5, 5]}", over, i > 0 ? ", " : "", i + 1);
    const char *text =
        arena_format(arena,
                     "version: 1\nexperiment: bench\nmodel: bbob\nsimulation: {dimension: %d}\n"
                     "search: {method: cmaes, over: {%s}, cmaes: {population: %d, searches: %d, stop: {tolfun: 0, "
                     "tolfunhist: 0, tolx: 0, condition: 1e300, generations: 1e7}}}\n",
                     dimension, over, population, searches);
    bench_die(spec_parse("bench.yaml", text, NULL, 0, arena, diagnostics_new(arena), spec));
}

// An ellipsoid with noise, so that ranks and axes go on to change.
static double bench_noisy(const double *x, int n, int64_t trial)
{
    double sum = 1e-3 * (double)(trial * 7919 % 1009);
    for (int i = 0; i < n; i++) sum += (i + 1) * (x[i] - 1.0) * (x[i] - 1.0);
    return sum;
}

static int bench_update(int dimension, int population, int generations, int searches, int threads)
{
    Arena arena, of_team;
    ThreadTeam *team = thread_team_open(threads);
    Spec spec;
    Search search;
    bool waiting = false;
    const int64_t trials_each = (int64_t)population * searches;
    bench_die(arena_create_growing(&arena, (size_t)1 << 32, "updates"));
    bench_update_spec(dimension, population, searches, &arena, &spec);
    bench_die(search_init(&spec, &arena, &search));
    search_use_team(&search, team, &of_team);
    Trials trials = bench_trials(&spec, trials_each, &arena);
    double *asks = ARENA_NEW(&arena, double, generations), *tells = ARENA_NEW(&arena, double, generations);
    const size_t used = arena.used;
    for (int g = 0; g < generations; g++) {
        if (search.method->stopped(&search) != NULL) { // it has converged: another one
            arena_rewind(&arena, used);
            spec.seed++;
            bench_die(search_init(&spec, &arena, &search));
            arena_destroy(&of_team);
            search_use_team(&search, team, &of_team);
        }
        const double start = clock_seconds();
        bench_die(search.method->ask(&search, trials_each, &trials, &waiting));
        asks[g] = clock_seconds() - start;
        for (int64_t t = 0; t < trials.count; t++)
            trials.fitness[t] = bench_noisy(trials.parameter + t * dimension, dimension, trials.id[t]);
        const double told = clock_seconds();
        bench_die(search.method->tell(&search, &trials));
        tells[g] = clock_seconds() - told;
    }
    bench_quartiles("ask", asks, generations);
    bench_quartiles("tell", tells, generations);
    arena_destroy(&of_team);
    thread_team_close(team);
    arena_destroy(&arena);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "update") == 0)
        return bench_update(argc > 2 ? atoi(argv[2]) : 8, argc > 3 ? atoi(argv[3]) : 1024,
                            argc > 4 ? atoi(argv[4]) : 2000, argc > 5 ? atoi(argv[5]) : 1,
                            argc > 6 ? atoi(argv[6]) : 1);
    if (argc == 5 && strcmp(argv[1], "values") == 0) return bench_values(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
    if (argc == 7 && strcmp(argv[1], "trace") == 0) {
        (void)bench_run(atoi(argv[2]) - 1, atoi(argv[3]), atoi(argv[4]), argv[5], argv[6], stdout);
        return 0;
    }
    const char *dimensions = argc > 1 ? argv[1] : "2,5,10";
    const int instances = argc > 2 ? atoi(argv[2]) : 5;
    const double budget = argc > 3 ? atof(argv[3]) : 1e4;
    puts("function,dimension,target,successes,runs,expected_running_time");
    for (const char *at = dimensions; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
        for (int function = 0; function < 24; function++) bench_function(function, atoi(at), instances, budget);
    }
    return 0;
}
