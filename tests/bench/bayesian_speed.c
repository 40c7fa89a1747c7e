// Time of a suggestion of the method bayesian, on one thread:
//     bayesian_speed [AXES [TRIALS]]     (10, 250)
// prints CSV: trials so far, and ms of CPU time per suggestion (tell of a trial, fits included, and ask of the next)
// over the last 25 trials. The function is a curved valley without failures.
#include "../../runner/experiment/experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void bench_try(Error error)
{
    if (error.kind == OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

static double bench_valley(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < n; i++) {
        const double bend = x[i] * x[i] - x[i + 1], rest = x[i] - 1.0;
        sum += 100.0 * bend * bend + rest * rest;
    }
    return sum;
}

static double bench_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static const char *bench_spec(int n, int trials, Arena *arena)
{
    const char *over = "";
    for (int i = 1; i <= n; i++) over = arena_format(arena, "%sx%d: {range: [-5, 5]}, ", over, i);
    return arena_format(arena,
                        "version: 1\nexperiment: bench\nmodel: bbob\nsimulation: {dimension: %d}\n"
                        "search: {method: bayesian, over: {%s}, bayesian: {stop: {trials: %d}}}\n",
                        n, over, trials);
}

int main(int argc, char **argv)
{
    enum { MOST = 1024, EVERY = 25 };
    const int n = argc > 1 ? atoi(argv[1]) : 10, trials = argc > 2 ? atoi(argv[2]) : 250;
    Arena arena;
    Spec spec;
    Search search;
    bench_try(arena_create(&arena, (size_t)1 << 28, "bench"));
    bench_try(spec_parse("bench.yaml", bench_spec(n, trials, &arena), NULL, 0, &arena, diagnostics_new(&arena), &spec));
    bench_try(search_init(&spec, &arena, &search));
    Trials batch = {.capacity = MOST,
                    .id = ARENA_NEW(&arena, int64_t, MOST),
                    .ordinal = ARENA_NEW(&arena, uint64_t, MOST),
                    .search = ARENA_NEW(&arena, int32_t, MOST),
                    .round = ARENA_NEW(&arena, int32_t, MOST),
                    .parameter = ARENA_NEW(&arena, double, MOST *spec.configured.n_parameters),
                    .fitness = ARENA_NEW(&arena, double, MOST),
                    .survived = ARENA_NEW(&arena, double, MOST)};
    double began = bench_ms();
    bool waiting;
    printf("trials,ms\n");
    for (int64_t done = 0, last = 0;;) {
        bench_try(search.method->ask(&search, MOST, &batch, &waiting));
        if (batch.count == 0) return 0;
        done += batch.count;
        for (int64_t t = 0; t < batch.count; t++)
            batch.fitness[t] = bench_valley(batch.parameter + t * spec.configured.n_parameters, n);
        bench_try(search.method->tell(&search, &batch));
        if (done < last + EVERY) continue;
        printf("%lld,%.2f\n", (long long)done, (bench_ms() - began) / (double)(done - last));
        last = done;
        began = bench_ms();
    }
}
