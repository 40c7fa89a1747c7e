// What a gradient of a system of equations takes beside a run, on one thread: the processor time of a lane that runs by
// its kernel, of the same lane run and gone back through, and of one direction by the tangent.
//     bench_equations_adjoint SPEC [ROUNDS]
// By turns; the least of each. The lane has the spec's default parameters.
#include "../../runner/command/command.h"
#include "../../sim/cpu_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct GradientBench {
    Spec spec;
    Configured configured;
    Arena arena;
    double *parameter, *direction, *metric, *weight, *gradient, *slope, *work;
    void *memory, *tangent;
} GradientBench;

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

static void bench_load(const char *path, GradientBench *bench)
{
    check(arena_create_growing(&bench->arena, (size_t)4 << 30, "a bench"));
    check(spec_load(path, NULL, 0, &bench->arena, diagnostics_new(&bench->arena), &bench->spec));
    check(spec_build(&bench->spec, &bench->arena, &bench->configured));
    const Configured *configured = &bench->configured;
    const Adjoint *adjoint = configured->model->adjoint;
    const char *why = adjoint->refuses(configured);
    if (why != NULL) check(error_make(ERROR_USER, "%s", why));
    bench->parameter = ARENA_NEW(&bench->arena, double, configured->n_parameters);
    bench->direction = ARENA_NEW(&bench->arena, double, configured->n_parameters);
    bench->gradient = ARENA_NEW(&bench->arena, double, configured->n_parameters);
    bench->metric = ARENA_NEW(&bench->arena, double, configured->n_metrics);
    bench->weight = ARENA_NEW(&bench->arena, double, configured->n_metrics);
    bench->slope = ARENA_NEW(&bench->arena, double, configured->n_metrics);
    bench->work = ARENA_NEW(&bench->arena, double, configured->n_work);
    bench->memory = arena_take(&bench->arena, adjoint->bytes(configured, 1, 0), 1);
    bench->tangent = arena_take(&bench->arena, adjoint->tangent_bytes(configured), 1);
    for (int p = 0; p < configured->n_parameters; p++) bench->parameter[p] = configured->parameters[p].value;
    for (int m = 0; m < configured->n_metrics; m++) bench->weight[m] = adjoint->bends(configured, m) == NULL;
    bench->direction[0] = 1.0;
}

static double bench_forward(GradientBench *bench)
{
    const Configured *configured = &bench->configured;
    int32_t status = LANE_RUNNING;
    LaneGroup group = {.batch = {.lanes = 1,
                                 .stride = 1,
                                 .parameter = bench->parameter,
                                 .work = bench->work,
                                 .metric = bench->metric,
                                 .status = &status},
                       .valid = 1,
                       .ticks = INT64_MAX / 2};
    const double start = processor_seconds();
    cpu_scalar_kernels()->kernels[configured->kernel](&configured->constants, configured->assets, &group);
    return processor_seconds() - start;
}

static double bench_adjoint(GradientBench *bench, double *forward)
{
    const Configured *configured = &bench->configured;
    const Adjoint *adjoint = configured->model->adjoint;
    int failure;
    double growth;
    const AdjointLanes lanes = {
        .count = 1, .parameter = bench->parameter, .metric = bench->metric, .failure = &failure};
    const double start = processor_seconds();
    adjoint->run(configured, &lanes, bench->memory);
    *forward = processor_seconds() - start;
    adjoint->back(configured, 1, bench->memory, bench->weight, bench->gradient, &growth);
    return processor_seconds() - start;
}

static double bench_tangent(GradientBench *bench)
{
    const Configured *configured = &bench->configured;
    const double start = processor_seconds();
    configured->model->adjoint->tangent(configured, bench->parameter, bench->direction, 1, bench->tangent,
                                        bench->metric, bench->slope, NULL, 0);
    return processor_seconds() - start;
}

int main(int argc, char **argv)
{
    GradientBench bench = {.work = NULL};
    const int rounds = argc > 2 ? atoi(argv[2]) : 200;
    double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_equations_adjoint SPEC [ROUNDS]\n");
        return 2;
    }
    bench_load(argv[1], &bench);
    for (int k = 0; k < rounds; k++) {
        double forward;
        least[0] = fmin(least[0], bench_forward(&bench));
        least[1] = fmin(least[1], bench_adjoint(&bench, &forward));
        least[2] = fmin(least[2], forward);
        least[3] = fmin(least[3], bench_tangent(&bench));
    }
    printf("a run %.1f us; with its trail %.2f x, and back %.2f x; one direction by the tangent %.2f x\n",
           1e6 * least[0], least[2] / least[0], least[1] / least[0], least[3] / least[0]);
    return 0;
}
