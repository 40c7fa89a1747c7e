// How fast scans are matched: alignments of a street's scan of 2,824 points, one alone and 10,000 at once, plain and
// with debug rows of every iteration.
//     ndt_speed [BACKEND [THREADS]]
// prints CSV; BACKEND: cpu (auto) or cuda. Times: median of the repetitions after one to warm up; elapsed time on a
// CPU, event time of the kernel on a GPU. An evaluation is one of score, gradient and Hessian; an alignment takes one
// more than it has iterations.
#include "../../sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEED_REPEATS = 10, SPEED_OPTIONS_MAX = 64, SPEED_DEBUG_ROWS = 60 };

typedef struct SpeedCase {
    int64_t lanes;
    bool debug;
    int precision, solver, line_search; // places in the choices of the options
} SpeedCase;

typedef struct SpeedSetting {
    const char *name;
    double value;
} SpeedSetting;

static const char *const speed_precisions[] = {"single", "double"}, *const speed_solvers[] = {"newton", "saddle_free"};
static const char *const speed_searches[] = {"none", "more_thuente", "batched"};

static Error speed_configure(const SpeedCase *work, Arena *arena, Configured *configured)
{
    const SpeedSetting mine[] = {{"scene", 1},
                                 {"scene_seed", 3},
                                 {"spacing", 0.6},
                                 {"source_spacing", 1.0},
                                 {"resolution", 2.0},
                                 {"max_iterations", SPEED_DEBUG_ROWS},
                                 {"precision", work->precision},
                                 {"solver", work->solver},
                                 {"line_search", work->line_search}};
    const Model *model = model_find("ndt");
    double settings[SPEED_OPTIONS_MAX];
    Points points[SPEED_OPTIONS_MAX] = {{0}};
    for (int i = 0; i < model->n_options; i++) {
        settings[i] = model->options[i].value;
        for (size_t k = 0; k < sizeof mine / sizeof mine[0]; k++)
            if (strcmp(model->options[i].name, mine[k].name) == 0) settings[i] = mine[k].value;
    }
    TRY(model->configure(settings, points, arena, configured));
    return model->build(settings, points, arena, configured);
}

// Poses up to 0.5 m and 0.05 rad from the truth.
static void speed_fill(const Configured *configured, const SpeedCase *work, Batch *batch)
{
    for (int p = 0; p < configured->n_parameters; p++) {
        const Parameter *row = &configured->parameters[p];
        const double reach = strcmp(row->name, "start_x") == 0 || strcmp(row->name, "start_y") == 0 ? 0.5
                             : strcmp(row->name, "start_yaw") == 0                                  ? 0.05
                                                                                                    : 0.0;
        const bool step = strcmp(row->name, "step_size") == 0 && work->line_search == 0;
        const double middle = step ? 0.1 : row->value; // longer ones want a line search
        for (int64_t i = 0; i < batch->lanes; i++) {
            const RandomKey key = {.seed = 1, .ordinal = (uint64_t)i, .purpose = RANDOM_SAMPLE};
            batch->parameter[p * batch->stride + i] = middle + reach * (2.0 * random_uniform(&key, (uint32_t)p) - 1.0);
        }
    }
}

static Error speed_once(Backend *backend, const Configured *configured, const SpeedCase *work, double *seconds)
{
    Batch *batch = backend_batch(backend, 0);
    bool done = false;
    batch->lanes = work->lanes;
    batch->trace.lanes = 0;
    batch->debug.lanes = work->debug ? work->lanes : 0;
    batch->debug.first = 0;
    batch->debug.end = configured->ticks;
    speed_fill(configured, work, batch);
    TRY(backend_begin(backend, 0));
    while (!done) {
        TRY(backend_advance(backend, 0, configured->ticks));
        TRY(backend_wait(backend, 0, &done, seconds));
    }
    return error_none();
}

static double speed_mean(const Configured *configured, const Batch *batch, const char *metric)
{
    double sum = 0.0;
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, metric) != 0) continue;
        for (int64_t i = 0; i < batch->lanes; i++) sum += batch->metric[m * batch->stride + i];
    }
    return sum / (double)batch->lanes;
}

static int speed_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static Error speed_measure(Backend *backend, const SpeedCase *work, const Configured *configured)
{
    double seconds[SPEED_REPEATS + 1];
    TRY(backend_prepare(backend, configured, work->lanes, 0, 2));
    if (work->debug) TRY(backend_prepare_debug(backend, work->lanes, SPEED_DEBUG_ROWS));
    for (int i = 0; i <= SPEED_REPEATS; i++) TRY(speed_once(backend, configured, work, &seconds[i]));
    qsort(seconds + 1, SPEED_REPEATS, sizeof *seconds, speed_compare);
    const Batch *batch = backend_batch(backend, 0);
    const double median = seconds[1 + SPEED_REPEATS / 2], each = median / (double)work->lanes;
    const double evaluations = speed_mean(configured, batch, "evaluations");
    printf("%lld,%d,%s,%s,%s,%.6g,%.6g,%.4g,%.4g,%.4g,%.4g\n", (long long)work->lanes, work->debug,
           speed_precisions[work->precision], speed_solvers[work->solver], speed_searches[work->line_search], median,
           1.0 / each, speed_mean(configured, batch, "iterations"), evaluations,
           speed_mean(configured, batch, "correspondences"), 1e6 * each / evaluations);
    fflush(stdout);
    return error_none();
}

static Error speed_row(Backend *backend, const SpeedCase *work)
{
    Arena arena;
    Configured configured;
    TRY(arena_create(&arena, (size_t)1 << 28, "the benchmark"));
    Error error = speed_configure(work, &arena, &configured);
    if (error.kind == OK) error = speed_measure(backend, work, &configured);
    arena_destroy(&arena);
    return error;
}

static Error speed_rows(Backend *backend, int64_t many)
{
    static const SpeedCase cases[] = {
        {1, false, 0, 0, 0}, {1, true, 0, 0, 0},  {1, false, 1, 0, 0}, {1, false, 0, 1, 0}, {1, false, 0, 0, 1},
        {2, false, 0, 0, 0}, {2, true, 0, 0, 0},  {2, false, 1, 0, 0}, {2, false, 0, 1, 0}, {2, false, 0, 0, 1},
        {2, false, 0, 0, 2}, {1, false, 0, 1, 1}, {2, false, 0, 1, 1}};
    printf("# %s, %s, compiler: %s\n", backend_info(backend)->device, backend_info(backend)->version, __VERSION__);
    printf("lanes,debug,precision,solver,line_search,seconds,alignments_per_second,iterations,evaluations,"
           "correspondences,us_per_evaluation\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SpeedCase work = cases[i];
        if (work.lanes > 1) work.lanes = many;
        TRY(speed_row(backend, &work));
    }
    return error_none();
}

int main(int argc, char **argv)
{
    const bool gpu = argc > 1 && strcmp(argv[1], "cuda") == 0;
    const BackendOptions options = {
        .name = gpu ? "cuda" : "cpu", .isa = "auto", .threads = argc > 2 ? atoi(argv[2]) : 1};
    Backend *backend;
    Error error = backend_open(&options, &backend);
    if (error.kind == OK) {
        error = speed_rows(backend, gpu ? 10000 : 100);
        backend_close(backend);
    }
    if (error.kind != OK) fprintf(stderr, "ndt_speed: %s\n", error.text);
    return error.kind == OK ? 0 : 3;
}
