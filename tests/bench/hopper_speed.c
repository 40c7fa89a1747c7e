// How fast hoppers are: 5 s of implicit midpoint and semi-implicit Euler at 1e-4 s and dormand_prince at 1e-6, against
// the oracle (Newton on ten numbers with a Jacobian by finite differences, four iterations) and, on a GPU, against the
// time that its FP64 units need at least.
//     hopper_speed [OUTPUT [BACKEND [CLOCK [musts|fill]]]]
// writes OUTPUT.csv (build/hopper_speed). BACKEND: cpu, one thread of each instruction set and then two threads; or
// cuda, whose clock is CLOCK (MHz; 0: no floor). musts: on a GPU only what tests/gpu_musts.sh asks for.
// fill: made kernels by the blocks that a processor of a GPU is to hold (the column `fill` of KERNELS, sim/models.h).
// Populations: replicates of the default hopper; the twelve gaits of tests/hopper_twelve.h, lane by lane, each nudged;
// the defaults with seven gains within 3 %.
// Kernels of a GPU: general, and made (sim/made) for trials that differ in those seven gains; their bits are compared.
// Times: median of the repetitions after one to warm up; processor time of one thread, elapsed time of more, event time
// of the kernel on a GPU. Columns at the end: times as fast as the oracle, times the floor, times as fast as the scalar
// build of the same source.
#include "../../sim/sim.h"
#include "../hopper_twelve.h"
#include "../isa.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPEED_DURATION 5.0 // s
enum { SPEED_REPEATS = 10, SPEED_REPEATS_LONG = 3, SPEED_OPTIONS_MAX = 64 };

typedef struct SpeedMethod {
    const char *name;
    int integrator, jacobian; // places in the choices of the options
    double tolerance;         // newton.tolerance, or the adaptive method's
    // FP64 instructions of a lane over the 5 s on a GPU: counted on the defaults at 10,000 lanes by `ncu --metrics
    // smsp__inst_executed_pipe_fp64.sum`, per warp
    double fp64;
} SpeedMethod;

static const SpeedMethod speed_methods[] = {
    {"implicit_midpoint", 0, 0, 1e-11, 15.71e6},
    {"semi_implicit_euler", 1, 0, 1e-11, 10.08e6},
    {"dormand_prince", 4, 0, 1e-6, 2.699e6},
    {"oracle", 0, 2, 0.0, 0.0},                   // never within the tolerance: all four iterations
    {"rk4", 3, 0, 0.0, 0.0},                      // from here on only with `fill`
    {"implicit_midpoint_full", 0, 0, 1e-11, 0.0}, // with `accounting: parts`
};
enum { SPEED_METHODS = sizeof speed_methods / sizeof speed_methods[0], SPEED_ORACLE = 3, SPEED_FULL = 5 };

typedef enum SpeedPopulation { SPEED_DEFAULTS, SPEED_TWELVE, SPEED_WITHIN, SPEED_POPULATIONS } SpeedPopulation;
static const char *const speed_populations[] = {"defaults", "twelve", "within_3%"};

typedef struct SpeedCase {
    const SpeedMethod *method;
    int64_t lanes;
    SpeedPopulation population;
    int repeats;
    bool made;         // kernel
    int thread_blocks; // of it on a processor; 0: by the rule
} SpeedCase;

typedef struct SpeedResult {
    double seconds, residual, steps; // of all lanes; worst of all steps; of a lane (0: as many as it wants)
    uint64_t bits;                   // a digest of all metrics and outcomes
} SpeedResult;

typedef struct SpeedBench {
    Backend *backend;
    double clock;                 // MHz
    int threads;                  // of a CPU
    bool musts, fill;             // see above
    double scalar[SPEED_METHODS]; // s a hopper of each method by the scalar build; 0: not known
    double oracle;                // s a hopper by the oracle on the same processor; 0: not known
    FILE *file;
} SpeedBench;

static Error speed_configure(const SpeedMethod *method, Arena *arena, Configured *configured)
{
    const Model *model = model_find("hopper");
    double settings[SPEED_OPTIONS_MAX];
    Points points[SPEED_OPTIONS_MAX] = {{0}};
    for (int i = 0; i < model->n_options; i++) {
        const char *name = model->options[i].name;
        settings[i] = model->options[i].value;
        if (strcmp(name, "duration") == 0) settings[i] = SPEED_DURATION;
        if (strcmp(name, "integrator") == 0) settings[i] = method->integrator;
        if (strcmp(name, "newton.jacobian") == 0) settings[i] = method->jacobian;
        if (strcmp(name, "newton.iterations") == 0 && method->jacobian != 0) settings[i] = 4;
        if (strcmp(name, "newton.tolerance") == 0 && method->integrator == 0) settings[i] = method->tolerance;
        if (strcmp(name, "accounting") == 0 && method == &speed_methods[SPEED_FULL]) settings[i] = 1;
        if (strcmp(name, "tolerance") == 0 && method->integrator == 4) settings[i] = method->tolerance;
    }
    return model->configure(settings, points, arena, configured);
}

// The place of the parameter among the gains in which lanes differ; HOPPER_TWELVE_GAINS: it is none.
static int speed_gain(const Parameter *parameter)
{
    int gain = 0;
    while (gain < HOPPER_TWELVE_GAINS && strcmp(parameter->name, hopper_twelve_gains[gain]) != 0) gain++;
    return gain;
}

static double speed_value(const SpeedCase *work, const Parameter *parameter, int gain, int64_t lane)
{
    if (gain == HOPPER_TWELVE_GAINS || work->population == SPEED_DEFAULTS) return parameter->value;
    if (work->population == SPEED_TWELVE)
        return (1.0 + 1e-6 * (double)(lane / HOPPER_TWELVE)) * hopper_twelve[lane % HOPPER_TWELVE][gain];
    const double turn = (double)(lane * HOPPER_TWELVE_GAINS + gain) * 0.6180339887498949; // spread evenly
    return parameter->value * (1.0 + 0.06 * (turn - floor(turn) - 0.5));
}

static void speed_fill(const Configured *configured, const SpeedCase *work, Batch *batch)
{
    batch->lanes = work->lanes;
    batch->trace.lanes = 0;
    for (int p = 0; p < configured->n_parameters; p++) {
        const Parameter *parameter = &configured->parameters[p];
        const int gain = speed_gain(parameter);
        for (int64_t i = 0; i < batch->lanes; i++)
            batch->parameter[p * batch->stride + i] = speed_value(work, parameter, gain, i);
    }
}

// A kernel for trials that differ in the gains. The first batch is its trial.
static Error speed_make(SpeedBench *bench, const Configured *configured, const SpeedCase *work, Arena *arena)
{
    const BackendInfo *info = backend_info(bench->backend);
    double *fixed = ARENA_NEW(arena, double, configured->n_parameters);
    MadeImage image;
    for (int p = 0; p < configured->n_parameters; p++) {
        const bool differs = speed_gain(&configured->parameters[p]) < HOPPER_TWELVE_GAINS;
        fixed[p] = differs ? (double)NAN : configured->parameters[p].value;
    }
    const int thread_blocks =
        work->thread_blocks > 0 ? work->thread_blocks : made_thread_blocks(configured, work->lanes, info->processors);
    const MadeWish wish = {.configured = configured, .fixed = fixed, .thread_blocks = thread_blocks};
    const char *why;
    TRY(made_compile(made_source(&wish, arena, &why), info->architecture, arena, &image));
    return backend_use_made(bench->backend, &image, fixed);
}

static double speed_processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static Error speed_once(SpeedBench *bench, const Configured *configured, double *seconds)
{
    bool done = false;
    TRY(backend_begin(bench->backend, 0));
    const double start = speed_processor_seconds();
    while (!done) {
        TRY(backend_advance(bench->backend, 0, configured->ticks));
        TRY(backend_wait(bench->backend, 0, &done, seconds));
    }
    if (bench->threads == 1) *seconds = speed_processor_seconds() - start;
    return error_none();
}

static int speed_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double speed_worst(const Configured *configured, const Batch *batch, const char *metric)
{
    double worst = 0.0;
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, metric) != 0) continue;
        for (int64_t i = 0; i < batch->lanes; i++)
            if (batch->metric[m * batch->stride + i] > worst) worst = batch->metric[m * batch->stride + i];
    }
    return worst;
}

// FNV-1a of 64 bits, by words.
static uint64_t speed_bits(const Configured *configured, const Batch *batch)
{
    uint64_t digest = UINT64_C(14695981039346656037), word;
    for (int m = -1; m < configured->n_metrics; m++) {
        for (int64_t i = 0; i < batch->lanes; i++) {
            word = (uint64_t)batch->status[i];
            if (m >= 0) memcpy(&word, &batch->metric[m * batch->stride + i], sizeof word);
            digest = (digest ^ word) * UINT64_C(1099511628211);
        }
    }
    return digest;
}

static Error speed_measure(SpeedBench *bench, const SpeedCase *work, SpeedResult *result)
{
    Arena arena;
    Configured configured;
    double seconds[SPEED_REPEATS + 1];
    arena_create(&arena, (size_t)1 << 24, "the benchmark");
    Error error = speed_configure(work->method, &arena, &configured);
    if (error.kind == OK) error = backend_prepare(bench->backend, &configured, work->lanes, 0, 2);
    if (error.kind == OK) speed_fill(&configured, work, backend_batch(bench->backend, 0));
    if (error.kind == OK && work->made) error = speed_make(bench, &configured, work, &arena);
    for (int i = 0; error.kind == OK && i <= work->repeats; i++) error = speed_once(bench, &configured, &seconds[i]);
    if (error.kind == OK && work->made && !backend_used_made(bench->backend, 0))
        error = error_make(ERROR_DEVICE, "the made kernel is not used: %s", backend_info(bench->backend)->made_note);
    if (error.kind == OK) {
        const int first = work->repeats > 1 ? 1 : 0; // the oracle is not warmed up: it is long enough
        qsort(seconds + first, (size_t)(work->repeats + 1 - first), sizeof *seconds, speed_compare);
        result->seconds = seconds[first + (work->repeats - first) / 2];
        result->residual = speed_worst(&configured, backend_batch(bench->backend, 0), "newton_max_residual");
        result->bits = speed_bits(&configured, backend_batch(bench->backend, 0));
        result->steps = work->method->integrator == 4 ? 0.0 : (double)configured.ticks;
    }
    arena_destroy(&arena);
    return error;
}

// s that a GPU's FP64 units need for n instructions: 64 a cycle on each of its processors
static double speed_floor(const SpeedBench *bench, const SpeedCase *work)
{
    const double processors = (double)backend_info(bench->backend)->lane_multiple / 128.0;
    return (double)work->lanes * work->method->fp64 / (64.0 * processors * 1e6 * bench->clock);
}

static void speed_ratio(char text[16], double numerator, double denominator)
{
    text[0] = '\0';
    if (numerator > 0.0 && denominator > 0.0) snprintf(text, 16, "%.3g", numerator / denominator);
}

// *bits: of its results
static Error speed_row(SpeedBench *bench, const SpeedCase *work, uint64_t *bits)
{
    const BackendInfo *info = backend_info(bench->backend);
    const char *population = speed_populations[work->population];
    char kernel[16];
    SpeedResult result;
    TRY(speed_measure(bench, work, &result));
    *bits = result.bits;
    snprintf(kernel, sizeof kernel,
             work->thread_blocks > 0 ? "made_%d"
             : work->made            ? "made"
                                     : "general",
             work->thread_blocks);
    const double each = result.seconds / (double)work->lanes;
    if (work->method == &speed_methods[SPEED_ORACLE]) bench->oracle = each;
    double *of_scalar = &bench->scalar[work->method - speed_methods];
    if (*of_scalar == 0.0 && bench->threads == 1) *of_scalar = each; // the first is the scalar build
    char step[16], oracle[16], floor[16], scalar[16];
    speed_ratio(step, 1e9 * each, result.steps);
    speed_ratio(oracle, bench->oracle, each);
    speed_ratio(floor, result.seconds, bench->clock > 0.0 ? speed_floor(bench, work) : 0.0);
    speed_ratio(scalar, *of_scalar, each);
    printf("%-20s %-9s %8lld %-7s %11.4f ms %8s ns/step %9.1e %7s %6s %6s\n", work->method->name, population,
           (long long)work->lanes, kernel, 1e3 * result.seconds, step, result.residual, oracle, floor, scalar);
    fprintf(bench->file, "%s,%s,%lld,%s,%s,\"%s\",%g,%d,%.6g,%s,%.3g,%s,%s,%s\n", work->method->name, population,
            (long long)work->lanes, kernel, info->name, info->device, bench->clock, work->repeats, result.seconds, step,
            result.residual, oracle, floor, scalar);
    fflush(stdout);
    return error_none();
}

// ---- a GPU ----------------------------------------------------------------------------------------------------------

// By the general kernel, and by a made one where NVRTC is there.
static Error speed_both_kernels(SpeedBench *bench, SpeedCase work)
{
    uint64_t general, made;
    TRY(speed_row(bench, &work, &general));
    work.made = true;
    const Error error = speed_row(bench, &work, &made);
    if (error.kind == ERROR_MACHINE) printf("%s\n", error.text);
    if (error.kind == OK && general != made) return error_make(ERROR_DEVICE, "the kernels give different bits");
    return error.kind == ERROR_MACHINE ? error_none() : error;
}

static Error speed_gpu_rows(SpeedBench *bench)
{
    const int64_t lanes[] = {10000, backend_info(bench->backend)->lane_multiple, 1000000};
    const SpeedCase oracle = {&speed_methods[SPEED_ORACLE], 10000, SPEED_DEFAULTS, 1, false, 0};
    const int step = bench->musts ? 2 : 1; // leaves out the lanes of the middle, and semi_implicit_euler
    uint64_t bits;
    if (!bench->musts) TRY(speed_row(bench, &oracle, &bits));
    for (int size = 0; size < 3; size += step)
        for (int population = 0; population < SPEED_POPULATIONS; population++)
            for (int m = 0; m < SPEED_ORACLE; m += step)
                TRY(speed_both_kernels(bench, (SpeedCase){&speed_methods[m], lanes[size], (SpeedPopulation)population,
                                                          size < 2 ? SPEED_REPEATS : SPEED_REPEATS_LONG, false, 0}));
    return error_none();
}

static Error speed_fill_rows(SpeedBench *bench)
{
    static const int methods[] = {0, 1, 2, SPEED_ORACLE + 1, SPEED_FULL}, thread_blocks[] = {1, 4, 6, 8};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        SpeedCase work = {&speed_methods[methods[m]], 1000000, SPEED_DEFAULTS, 1, false, 0};
        uint64_t general, made = 0;
        TRY(speed_row(bench, &work, &general));
        work.made = true;
        for (size_t b = 0; b < sizeof thread_blocks / sizeof *thread_blocks; b++) {
            work.thread_blocks = thread_blocks[b];
            TRY(speed_row(bench, &work, &made));
            if (made != general) return error_make(ERROR_DEVICE, "the kernels give different bits");
        }
    }
    return error_none();
}

static Error speed_gpu(SpeedBench *bench)
{
    const BackendOptions options = {.name = "cuda", .isa = "auto"};
    TRY(backend_open(&options, &bench->backend));
    const Error error = bench->fill ? speed_fill_rows(bench) : speed_gpu_rows(bench);
    backend_close(bench->backend);
    return error;
}

// ---- a CPU ----------------------------------------------------------------------------------------------------------

static Error speed_cpu_rows(SpeedBench *bench)
{
    const SpeedCase oracle = {&speed_methods[SPEED_ORACLE], 8, SPEED_TWELVE, 1, false, 0};
    uint64_t bits;
    if (bench->threads == 1) TRY(speed_row(bench, &oracle, &bits));
    for (int m = 0; m < SPEED_ORACLE; m++) {
        const SpeedCase work = {&speed_methods[m], 480, SPEED_TWELVE, 3, false, 0};
        TRY(speed_row(bench, &work, &bits));
    }
    return error_none();
}

static Error speed_cpu(SpeedBench *bench)
{
    const char *const isas[] = {"scalar", ISA_V3, ISA_V4, "auto"};
    for (int i = 0; i < 4; i++) {
        bench->threads = i < 3 ? 1 : 2;
        const BackendOptions options = {.name = "cpu", .isa = isas[i], .threads = bench->threads};
        Error error = backend_open(&options, &bench->backend);
        if (error.kind != OK) { // not of this processor
            printf("%s\n", error.text);
            continue;
        }
        printf("%s\n", backend_info(bench->backend)->device);
        error = speed_cpu_rows(bench);
        backend_close(bench->backend);
        TRY(error);
    }
    return error_none();
}

int main(int argc, char **argv)
{
    const char *output = argc > 1 ? argv[1] : "build/hopper_speed";
    const bool gpu = argc > 2 && strcmp(argv[2], "cuda") == 0;
    SpeedBench bench = {.clock = argc > 3 ? strtod(argv[3], NULL) : 0.0,
                        .musts = argc > 4 && strcmp(argv[4], "musts") == 0,
                        .fill = argc > 4 && strcmp(argv[4], "fill") == 0};
    char path[4096];
    snprintf(path, sizeof path, "%s.csv", output);
    bench.file = fopen(path, "w");
    if (bench.file == NULL) {
        fprintf(stderr, "hopper_speed: %s can't be written\n", path);
        return 3;
    }
    fprintf(bench.file,
            "# compiler: %s\nmethod,population,lanes,kernel,backend,device,clock_MHz,repeats,seconds,ns_per_step,"
            "worst_residual,times_oracle,times_floor,times_scalar\n",
            __VERSION__);
    const Error error = gpu ? speed_gpu(&bench) : speed_cpu(&bench);
    const bool written = fclose(bench.file) == 0;
    if (error.kind != OK) fprintf(stderr, "hopper_speed: %s\n", error.text);
    return error.kind == OK && written ? 0 : 3;
}
