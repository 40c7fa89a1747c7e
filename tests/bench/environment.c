// Steps of environments per second, through runner/hopscotch.h, beside the rate of a run of the same lanes.
//   bench_environment [DEVICE [SECONDS]]       DEVICE: cpu (one thread), cuda or cuda:N
// A step of an environment is a control period: ten steps of 0.1 ms of the hopper, ten steps of 2 ms of the quadruped.
// The hopper under Raibert's control is what its kernels do fastest; a run with external control takes the kernel with
// all variants. With a period of 10 ms little but the model's steps is left; with one observation the expressions cost
// nothing.
// On the CPU it is processor time. On a GPU the time is that of the whole loop: steps are put on the stream one after
// the other, and it is waited for at the end.
#include "../../runner/hopscotch.h"

#include "../../runner/experiment/experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct BenchCase {
    const char *name, *path;
    const char *set[8];
    int n_set;
    int64_t cpu_lanes, gpu_lanes; // 0: not there
    const char *control[4];       // settings of another run to compare with, without external control
    int n_control;
} BenchCase;

#define BENCH_ENDLESS "environment.terminate=\"0 > 1\"", "simulation.duration=1000"
#define BENCH_RAIBERT {"simulation.control={mode: raibert}", "parameters={}", "simulation.duration=1000"}, 3

static const BenchCase bench_cases[] = {
    {"hopper",
     "experiments/hopper_env.yaml",
     {"simulation.control.period=1ms", BENCH_ENDLESS},
     3,
     4096,
     1000000,
     BENCH_RAIBERT},
    {"hopper, one observation",
     "experiments/hopper_env.yaml",
     {"simulation.control.period=1ms", "environment={reward: \"0\", observe: [phi_leg]}", "simulation.duration=1000"},
     3,
     4096,
     1000000,
     {NULL},
     0},
    {"hopper, period 10 ms",
     "experiments/hopper_env.yaml",
     {"simulation.control.period=10ms", BENCH_ENDLESS},
     3,
     4096,
     1000000,
     {NULL},
     0},
    {"hopper, ended by its spec",
     "experiments/hopper_env.yaml",
     {"simulation.control.period=1ms"},
     1,
     4096,
     1000000,
     {NULL},
     0},
    {"quadruped", "experiments/quadruped_env.yaml", {NULL}, 0, 1024, 16384, {NULL}, 0},
    {"quadruped, many", "experiments/quadruped_env.yaml", {NULL}, 0, 0, 65536, {NULL}, 0},
    {"quadruped, few", "experiments/quadruped_env.yaml", {NULL}, 0, 64, 1024, {NULL}, 0},
};

static clockid_t bench_time = CLOCK_PROCESS_CPUTIME_ID; // on a GPU elapsed time

static double bench_clock(void)
{
    struct timespec now;
    clock_gettime(bench_time, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void bench_stop(const char *what)
{
    fprintf(stderr, "bench_environment: %s\n", what);
    exit(1);
}

static void bench_must(int status)
{
    if (status != HOPSCOTCH_OK) bench_stop(hopscotch_error(NULL));
}

// Seconds of `steps` steps of all lanes.
static double bench_steps(hopscotch_env *env, int64_t steps)
{
    const double start = bench_clock();
    for (int64_t i = 0; i < steps; i++)
        if (hopscotch_env_step(env) != HOPSCOTCH_OK) bench_stop(hopscotch_error(env));
    if (hopscotch_env_wait(env) != HOPSCOTCH_OK) bench_stop(hopscotch_error(env));
    return bench_clock() - start;
}

// As many steps as take about `seconds`; their rate.
static double bench_rate(hopscotch_env *env, double seconds)
{
    int64_t steps = 1;
    bench_steps(env, 1);
    double taken = bench_steps(env, 1);
    while (taken < seconds / 4.0) {
        steps *= 2;
        taken = bench_steps(env, steps);
    }
    steps = (int64_t)((double)steps * seconds / taken) + 1;
    return (double)steps / bench_steps(env, steps);
}

// Time steps of lanes per second of a run with these settings; under external control its actions are all 0. On the
// CPU by one thread.
static double bench_run(const char *path, const char *const *set, int n_set, int64_t lanes, const char *device)
{
    Arena arena;
    Spec spec;
    Backend *backend;
    bool done = false;
    double seconds = 0.0;
    if (arena_create_growing(&arena, (size_t)1 << 30, "a spec").kind != OK) bench_stop("no memory");
    Diagnostics *diagnostics = diagnostics_new(&arena);
    if (spec_load(path, set, n_set, &arena, diagnostics, &spec).kind != OK) bench_stop(path);
    const Configured *configured = &spec.configured;
    const BackendOptions options = {.name = device, .threads = 1};
    Error error = backend_open(&options, &backend);
    if (error.kind == OK) error = backend_prepare(backend, configured, lanes, 0, 1);
    if (error.kind != OK) bench_stop(error.text);
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = lanes;
    for (int64_t lane = 0; lane < lanes; lane++) {
        double parameter[4096];
        replicate_parameters(&spec, 0, 0, (int)lane, spec.fixed, parameter);
        for (int p = 0; p < configured->n_parameters; p++) batch->parameter[p * batch->stride + lane] = parameter[p];
    }
    error = backend_begin(backend, 0);
    int64_t ticks = 0;
    const int64_t slice = 500, most = configured->ticks < 3000 ? configured->ticks : 3000;
    if (error.kind == OK) error = backend_advance(backend, 0, 1); // to warm up
    if (error.kind == OK) error = backend_wait(backend, 0, &done, &seconds);
    const double start = bench_clock();
    while (error.kind == OK && !done && ticks < most) {
        error = backend_advance(backend, 0, slice);
        if (error.kind == OK) error = backend_wait(backend, 0, &done, &seconds);
        ticks += slice;
    }
    const double taken = bench_clock() - start;
    if (error.kind != OK) bench_stop(error.text);
    const double survived = done ? 0.0 : (double)backend_running(backend, 0);
    printf("  run: %.3g lanes of %lld still run after %lld steps\n", survived, (long long)lanes, (long long)ticks);
    backend_close(backend);
    arena_destroy(&arena);
    return (double)(lanes * ticks) / taken;
}

static void bench_act(hopscotch_env *env, const hopscotch_env_info *info)
{
    hopscotch_array actions;
    if (info->device_type != 1) return; // zeros
    bench_must(hopscotch_env_array(env, HOPSCOTCH_ACTIONS, &actions));
    for (int64_t lane = 0; lane < info->lanes; lane++)
        for (int a = 0; a < info->n_actions; a++)
            ((double *)actions.data)[lane * actions.strides[0] + a * actions.strides[1]] = 0.0;
}

static void bench_compare(const char *what, double run, double rate)
{
    printf("  %s: %.3g time steps of lanes/s; the environment has %.0f %% of it\n", what, run, 100.0 * rate / run);
}

static void bench_case(const BenchCase *of, const char *device, double seconds)
{
    const bool cpu = strcmp(device, "cpu") == 0;
    hopscotch_env *env;
    hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
    hopscotch_env_info info = {.size = sizeof info};
    if (cpu && of->cpu_lanes == 0) return;
    options.lanes = cpu ? of->cpu_lanes : of->gpu_lanes;
    options.device = device;
    options.autoreset = HOPSCOTCH_AUTORESET_SAME_STEP;
    options.threads = 1;
    options.set = (const char *const *)of->set;
    options.n_set = of->n_set;
    bench_must(hopscotch_env_open(of->path, &options, &env));
    bench_must(hopscotch_env_get_info(env, &info));
    bench_act(env, &info);
    if (hopscotch_env_reset(env, NULL, NULL) != HOPSCOTCH_OK) bench_stop(hopscotch_error(env));
    const double rate = bench_rate(env, seconds) * (double)info.lanes;
    printf("%s, %s, %lld lanes\n", of->name, info.device, (long long)info.lanes);
    printf("  environment steps/s: %.3g, a step of all lanes: %.4g ms; time steps of lanes/s: %.3g\n", rate,
           1e3 * (double)info.lanes / rate, rate * (double)info.physics_steps);
    bench_must(hopscotch_env_close(env));
    const char *const backend = cpu ? "cpu" : "cuda";
    bench_compare("a run with these settings", bench_run(of->path, of->set, of->n_set, options.lanes, backend),
                  rate * (double)info.physics_steps);
    if (of->n_control == 0) return;
    bench_compare("a run under Raibert's control",
                  bench_run(of->path, of->control, of->n_control, options.lanes, backend),
                  rate * (double)info.physics_steps);
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "cpu";
    const double seconds = argc > 2 ? atof(argv[2]) : 2.0;
    if (strcmp(device, "cpu") != 0) bench_time = CLOCK_MONOTONIC;
    for (size_t i = 0; i < sizeof bench_cases / sizeof bench_cases[0]; i++)
        bench_case(&bench_cases[i], device, seconds);
    return 0;
}
