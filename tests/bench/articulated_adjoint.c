// What a gradient by the adjoint takes beside its runs, on one thread: processor time of lanes that run, in the widest
// vectors, and of the same lanes run and gone back through, in groups; the bytes of memory per lane; and the time of
// one lane along one direction by dual numbers.
//     bench_articulated_adjoint SPEC [LANES]
// The least of three times after one to warm up. All lanes have the spec's default parameters.
#include "../../runner/command/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ADJOINT_REPEATS = 4 };

typedef struct AdjointBench {
    Spec spec;
    Configured configured;
    Arena arena;
    int lanes;
    double metric; // of the first lane, by the backend
} AdjointBench;

static void check(Error error)
{
    if (error.kind == OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double bench_forward(AdjointBench *bench)
{
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = "auto"};
    Backend *backend = NULL;
    double least = INFINITY;
    check(backend_open(&options, &backend));
    check(backend_prepare(backend, &bench->configured, bench->lanes, 0, 0));
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = bench->lanes;
    for (int p = 0; p < bench->configured.n_parameters; p++) {
        for (int i = 0; i < bench->lanes; i++)
            batch->parameter[p * batch->stride + i] = bench->configured.parameters[p].value;
    }
    for (int k = 0; k < ADJOINT_REPEATS; k++) {
        const double start = processor_seconds();
        bool done = false;
        double seconds;
        check(backend_begin(backend, 0));
        while (!done) {
            check(backend_advance(backend, 0, bench->configured.ticks));
            check(backend_wait(backend, 0, &done, &seconds));
        }
        const double taken = processor_seconds() - start;
        least = k > 0 && taken < least ? taken : least;
    }
    bench->metric = batch->metric[0];
    backend_close(backend);
    return least;
}

// `width` lanes at once, forward and back.
static double bench_adjoint(AdjointBench *bench, int width, size_t most)
{
    const Configured *configured = &bench->configured;
    const Adjoint *adjoint = configured->model->adjoint;
    const size_t used = bench->arena.used;
    double *parameter = ARENA_NEW(&bench->arena, double, configured->n_parameters *width);
    double *gradient = ARENA_NEW(&bench->arena, double, configured->n_parameters *width);
    double *metric = ARENA_NEW(&bench->arena, double, configured->n_metrics *width);
    double *weight = ARENA_NEW(&bench->arena, double, configured->n_metrics *width), least = INFINITY;
    double *growth = ARENA_NEW(&bench->arena, double, width);
    const AdjointLanes lanes = {.count = width,
                                .parameter = parameter,
                                .most = most,
                                .metric = metric,
                                .failure = ARENA_NEW(&bench->arena, int, width)};
    void *memory = arena_take(&bench->arena, adjoint->bytes(configured, width, most), 1);
    for (int k = 0; k < configured->n_parameters * width; k++) parameter[k] = configured->parameters[k / width].value;
    for (int k = 0; k < configured->n_metrics * width; k++) weight[k] = adjoint->metric(k / width);
    for (int k = 0; k < ADJOINT_REPEATS; k++) {
        const double start = processor_seconds();
        for (int i = 0; i < bench->lanes; i += width) {
            adjoint->run(configured, &lanes, memory);
            adjoint->back(configured, width, memory, weight, gradient, growth);
        }
        const double taken = processor_seconds() - start;
        least = k > 0 && taken < least ? taken : least;
    }
    if (memcmp(&metric[0], &bench->metric, sizeof(double)) != 0) fprintf(stderr, "other bits than the run\n");
    arena_rewind(&bench->arena, used);
    return least;
}

// One lane with dual numbers, along one direction.
static double bench_tangent(AdjointBench *bench)
{
    const Configured *configured = &bench->configured;
    const Adjoint *adjoint = configured->model->adjoint;
    double *parameter = ARENA_NEW(&bench->arena, double, configured->n_parameters);
    double *direction = ARENA_NEW(&bench->arena, double, configured->n_parameters);
    double *metric = ARENA_NEW(&bench->arena, double, configured->n_metrics);
    double *slope = ARENA_NEW(&bench->arena, double, configured->n_metrics);
    void *memory = arena_take(&bench->arena, adjoint->tangent_bytes(configured), 1);
    for (int p = 0; p < configured->n_parameters; p++) {
        parameter[p] = configured->parameters[p].value;
        direction[p] = p == 0;
    }
    const double start = processor_seconds();
    adjoint->tangent(configured, parameter, direction, memory, metric, slope);
    return processor_seconds() - start;
}

static void bench_load(const char *path, AdjointBench *bench)
{
    check(arena_create_growing(&bench->arena, (size_t)4 << 30, "a bench"));
    check(spec_load(path, NULL, 0, &bench->arena, diagnostics_new(&bench->arena), &bench->spec));
    check(spec_build(&bench->spec, &bench->arena, &bench->configured));
    const char *why = bench->configured.model->adjoint->refuses(&bench->configured);
    if (why != NULL) check(error_make(ERROR_USER, "%s", why));
}

int main(int argc, char **argv)
{
    AdjointBench bench = {.lanes = argc > 2 ? atoi(argv[2]) : 64};
    if (argc < 2 || bench.lanes < 8 || bench.lanes % 8 != 0) {
        fprintf(stderr, "usage: %s SPEC [LANES], LANES a multiple of 8\n", argv[0]);
        return 2;
    }
    bench_load(argv[1], &bench);
    const Adjoint *adjoint = bench.configured.model->adjoint;
    const int widest = adjoint->lanes();
    const double forward = bench_forward(&bench), steps = (double)bench.lanes * (double)bench.configured.ticks;
    printf("%d lanes of %lld steps\n", bench.lanes, (long long)bench.configured.ticks);
    printf("forward, in vectors: %.1f ms, %.0f steps/s\n", 1e3 * forward, steps / forward);
    for (int width = widest; width > 0; width = width > 1 ? 1 : 0) {
        for (int small = 0; small < 2; small++) {
            const size_t most = small == 1 ? 1 : 0;
            const double taken = bench_adjoint(&bench, width, most);
            printf("forward and back, %d at once, %s: %.1f ms, %.2f x forward, %.0f kB per lane\n", width,
                   small == 1 ? "checkpoints" : "all states", 1e3 * taken, taken / forward,
                   1e-3 * (double)adjoint->bytes(&bench.configured, width, most) / width);
        }
    }
    printf("one direction of one lane by dual numbers: %.1f ms\n", 1e3 * bench_tangent(&bench));
    return 0;
}
