// What a gradient by the adjoint takes beside its runs, on one thread: processor time of lanes that run, in the widest
// vectors, and of the same lanes run and gone back through, in groups; the bytes of memory per lane; and the time of
// one lane along one direction by dual numbers.
//     bench_articulated_adjoint SPEC [LANES [cuda]]
// The least of three times after one to warm up. All lanes have the spec's default parameters. cuda: the same on a GPU,
// by its own clock, of all lanes at once.
#include "../../runner/command/command.h"
#include "../../sim/articulated/articulated.h"

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

// Processor time on a CPU, the device's own on a GPU.
static double bench_forward(AdjointBench *bench, Backend *backend)
{
    const bool on_cpu = strcmp(backend_info(backend)->name, "cpu") == 0;
    double least = INFINITY;
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
        double seconds = 0.0;
        check(backend_begin(backend, 0));
        while (!done) {
            check(backend_advance(backend, 0, bench->configured.ticks));
            check(backend_wait(backend, 0, &done, &seconds));
        }
        const double taken = on_cpu ? processor_seconds() - start : seconds;
        least = k > 0 && taken < least ? taken : least;
    }
    bench->metric = batch->metric[0];
    return least;
}

// Lanes at once, with room for what is told of them.
typedef struct AdjointGroup {
    AdjointLanes lanes;
    double *weight, *gradient, *growth;
} AdjointGroup;

static AdjointGroup bench_group(AdjointBench *bench, int width, size_t most)
{
    const Configured *configured = &bench->configured;
    double *parameter = ARENA_NEW(&bench->arena, double, configured->n_parameters *width);
    double *weight = ARENA_NEW(&bench->arena, double, configured->n_metrics *width);
    for (int k = 0; k < configured->n_parameters * width; k++) parameter[k] = configured->parameters[k / width].value;
    for (int k = 0; k < configured->n_metrics * width; k++)
        weight[k] = configured->model->adjoint->bends(configured, k / width) == NULL;
    return (AdjointGroup){.lanes = {.count = width,
                                    .parameter = parameter,
                                    .most = most,
                                    .metric = ARENA_NEW(&bench->arena, double, configured->n_metrics *width),
                                    .failure = ARENA_NEW(&bench->arena, int, width)},
                          .weight = weight,
                          .gradient = ARENA_NEW(&bench->arena, double, configured->n_parameters *width),
                          .growth = ARENA_NEW(&bench->arena, double, width)};
}

static void bench_compare(const AdjointBench *bench, const AdjointGroup *group)
{
    if (memcmp(group->lanes.metric, &bench->metric, sizeof(double)) != 0) fprintf(stderr, "other bits than the run\n");
}

// `width` lanes at once, forward and back.
static double bench_adjoint(AdjointBench *bench, int width, size_t most)
{
    const Configured *configured = &bench->configured;
    const Adjoint *adjoint = configured->model->adjoint;
    const size_t used = bench->arena.used;
    const AdjointGroup group = bench_group(bench, width, most);
    double least = INFINITY;
    void *memory = arena_take(&bench->arena, adjoint->bytes(configured, width, most), 1);
    for (int k = 0; k < ADJOINT_REPEATS; k++) {
        const double start = processor_seconds();
        for (int i = 0; i < bench->lanes; i += width) {
            adjoint->run(configured, &group.lanes, memory);
            adjoint->back(configured, width, memory, group.weight, group.gradient, group.growth);
        }
        const double taken = processor_seconds() - start;
        least = k > 0 && taken < least ? taken : least;
    }
    bench_compare(bench, &group);
    arena_rewind(&bench->arena, used);
    return least;
}

// All lanes at once on a GPU.
static void bench_device(AdjointBench *bench, Backend *backend, size_t most, double forward)
{
    const AdjointGroup group = bench_group(bench, bench->lanes, 0);
    AdjointDevice *device = NULL;
    double forth = INFINITY, back = INFINITY;
    check(backend_adjoint(backend, &bench->configured, bench->lanes, most, &device));
    if (device == NULL || device->lanes < bench->lanes)
        check(error_make(ERROR_USER, "%lld lanes do not fit", (long long)bench->lanes));
    for (int k = 0; k < ADJOINT_REPEATS; k++) {
        check(device->run(device, &group.lanes));
        check(device->back(device, group.weight, group.gradient, group.growth));
        if (k == 0 || device->run_seconds + device->back_seconds > forth + back) continue;
        forth = device->run_seconds;
        back = device->back_seconds;
    }
    bench_compare(bench, &group);
    printf("forward %.1f ms and back %.1f ms, %s: %.2f x forward, %.0f kB per lane\n", 1e3 * forth, 1e3 * back,
           most == 1 ? "checkpoints" : "all states", (forth + back) / forward,
           1e-3 * (double)device->bytes / bench->lanes);
    device->close(device);
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
    adjoint->tangent(configured, parameter, direction, 1, memory, metric, slope, NULL, 0);
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

// kB of the states of a lane, of 17 doubles for each body and step (and those of springs of friction).
static double bench_states(const AdjointBench *bench)
{
    ArticulatedConstants c;
    memcpy(&c, &bench->configured.constants, sizeof c);
    const int64_t doubles = (int64_t)c.n_bodies * (ARTICULATED_RATE + 3) + (c.grips > 0 ? 3 * c.n_points : 0);
    return 1e-3 * (double)(doubles * bench->configured.ticks * (int64_t)sizeof(double));
}

static void bench_on_cpu(AdjointBench *bench, double forward)
{
    const Adjoint *adjoint = bench->configured.model->adjoint;
    for (int width = adjoint->lanes(); width > 0; width = width > 1 ? 1 : 0) {
        for (int small = 0; small < 2; small++) {
            const size_t most = small == 1 ? 1 : 0;
            const double taken = bench_adjoint(bench, width, most);
            printf(
                "forward and back, %d at once, %s: %.1f ms, %.2f x forward, %.0f kB per lane; all states are %.0f kB\n",
                width, small == 1 ? "checkpoints" : "all states", 1e3 * taken, taken / forward,
                1e-3 * (double)adjoint->bytes(&bench->configured, width, most) / width, bench_states(bench));
        }
    }
    printf("one direction of one lane by dual numbers: %.1f ms\n", 1e3 * bench_tangent(bench));
}

int main(int argc, char **argv)
{
    AdjointBench bench = {.lanes = argc > 2 ? atoi(argv[2]) : 64};
    const bool on_cpu = argc < 4;
    if (argc < 2 || bench.lanes < 8 || bench.lanes % 8 != 0) {
        fprintf(stderr, "usage: %s SPEC [LANES [cuda]], LANES a multiple of 8\n", argv[0]);
        return 2;
    }
    bench_load(argv[1], &bench);
    const BackendOptions options = {.name = on_cpu ? "cpu" : argv[3], .threads = 1, .isa = "auto"};
    Backend *backend = NULL;
    check(backend_open(&options, &backend));
    const double forward = bench_forward(&bench, backend);
    const double steps = (double)bench.lanes * (double)bench.configured.ticks;
    printf("%s: %d lanes of %lld steps\n", backend_info(backend)->device, bench.lanes,
           (long long)bench.configured.ticks);
    printf("forward: %.1f ms, %.4g steps/s\n", 1e3 * forward, steps / forward);
    if (on_cpu) {
        bench_on_cpu(&bench, forward);
    } else {
        bench_device(&bench, backend, 0, forward);
        bench_device(&bench, backend, 1, forward);
    }
    backend_close(backend);
    return 0;
}
