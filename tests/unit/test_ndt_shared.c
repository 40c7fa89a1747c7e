// One alignment whose points several threads share: the bits of one thread. (The thread sanitizer runs this too.)
#define HOPSCOTCH_SCALAR
#include "../../sim/cpu_kernels.h"
#include "ndt_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_ITERATIONS = 5 };

typedef struct SharedRun {
    Arena arena;
    Configured configured;
    Backend *backend;
    Batch *batch;
} SharedRun;

// An alignment of a street, starting 1.4 m beside the true pose, with debug rows.
static void shared_run(SharedRun *run, Executor executor, int threads)
{
    const BackendOptions options = {.name = "cpu", .threads = threads, .isa = "auto", .patience = INFINITY};
    const Model *model = model_find("ndt");
    double settings[NDT_N_OPTIONS], seconds;
    Points points[NDT_N_OPTIONS] = {{0}};
    bool done = false;
    *run = (SharedRun){.backend = NULL};
    if (arena_create(&run->arena, (size_t)1 << 26, "a test of scan matching").kind != OK) abort();
    for (int i = 0; i < NDT_N_OPTIONS; i++) settings[i] = model->options[i].value;
    settings[NDT_OPTION_SCENE] = NDT_STREET;
    settings[NDT_OPTION_SPACING] = 0.6;
    settings[NDT_OPTION_SOURCE_SPACING] = 1.0;
    settings[NDT_OPTION_ITERATIONS] = SHARED_ITERATIONS;
    settings[NDT_OPTION_EXECUTOR] = executor;
    const Configured *configured = &run->configured;
    CHECK_OK(model->configure(settings, points, &run->arena, &run->configured));
    CHECK_OK(model->build(settings, points, &run->arena, &run->configured));
    CHECK_OK(backend_open(&options, &run->backend));
    CHECK_OK(backend_prepare(run->backend, configured, 1, 0, 1));
    CHECK_OK(backend_prepare_debug(run->backend, 1, configured->ticks));
    run->batch = backend_batch(run->backend, 0);
    run->batch->lanes = run->batch->debug.lanes = 1;
    run->batch->debug.end = configured->ticks;
    for (int p = 0; p < configured->n_parameters; p++) {
        const bool moved = strcmp(configured->parameters[p].name, "start_x") == 0 ||
                           strcmp(configured->parameters[p].name, "start_y") == 0;
        run->batch->parameter[p * run->batch->stride] = moved ? 1.0 : configured->parameters[p].value;
    }
    CHECK_OK(backend_begin(run->backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(run->backend, 0, 2));
        CHECK_OK(backend_wait(run->backend, 0, &done, &seconds));
    }
}

TEST(ndt_threads_share_the_points_of_an_alignment)
{
    SharedRun alone;
    shared_run(&alone, EXECUTOR_SEQUENTIAL, 1);
    const NdtConstants *c = (const NdtConstants *)&alone.configured.constants;
    CHECK(c->n_source > 8 * NDT_CHUNK); // enough points for all threads
    CHECK(alone.batch->debug.count[0] >= 3);
    for (int threads = 2; threads <= 3; threads++) {
        SharedRun together;
        shared_run(&together, EXECUTOR_LEVELS, threads);
        CHECK(cpu_way(together.backend, 1)->graph != NULL);
        for (int m = 0; m < alone.configured.n_metrics; m++)
            CHECK_BITS(alone.batch->metric[m * alone.batch->stride],
                       together.batch->metric[m * together.batch->stride]);
        CHECK_INTEGER(alone.batch->debug.count[0], together.batch->debug.count[0]);
        CHECK(memcmp(alone.batch->debug.row, together.batch->debug.row,
                     (size_t)(alone.batch->debug.count[0] * alone.configured.n_debug) * sizeof(double)) == 0);
        backend_close(together.backend);
        arena_destroy(&together.arena);
    }
    backend_close(alone.backend);
    arena_destroy(&alone.arena);
}
