// One step of one lane, run as a compute graph and drawn.
#include "cpu_kernels.h"

#include <string.h>

#define PICTURE_EXAMPLE "that of experiments/chain_scaling.yaml --set simulation.stabilisation=baumgarte"
enum { PICTURE_STEPS = 64 }; // the last one is drawn, with warm caches and running threads

// A batch of one lane, in a group of the size that its kernel advances.
static Batch picture_batch(const Configured *configured, const double *parameter, int lanes, Arena *arena)
{
    const Batch batch = {.lanes = 1,
                         .stride = 1,
                         .parameter = ARENA_NEW(arena, double, configured->n_parameters),
                         .work = ARENA_NEW(arena, double, configured->n_work *lanes),
                         .metric = ARENA_NEW(arena, double, configured->n_metrics),
                         .status = ARENA_NEW(arena, int32_t, 1),
                         .trace = {.every = 1}};
    memcpy(batch.parameter, parameter, (size_t)configured->n_parameters * sizeof *parameter);
    return batch;
}

static Error picture_draw(const Configured *configured, const double *parameter, int threads, StepPicture picture,
                          TextSink out, Arena *arena)
{
    const int kernel = configured->kernel;
    const CpuKernels *kernels = kernel != KERNEL_NONE ? cpu_lane_kernels(kernel) : NULL;
    const CpuShared none = {NULL, NULL}, *shared = kernels != NULL ? &kernels->shared[kernel] : &none;
    CpuStepGraph *graph = NULL;
    GraphTeam *team;
    if (shared->open != NULL) TRY(shared->open(&configured->constants, configured->assets, threads, arena, &graph));
    if (graph == NULL)
        return error_make(
            ERROR_USER,
            "a step of model %s with these settings is not a graph that threads could share; " PICTURE_EXAMPLE
            " is one",
            configured->model->name);
    if (graph->pieces)
        return error_make(ERROR_USER,
                          "a step of model %s with these settings is several graphs, one of which is repeated, "
                          "so it can't be drawn; " PICTURE_EXAMPLE " can",
                          configured->model->name);
    TRY(graph_team_open(threads, arena, &team));
    GraphProfile profile = graph_profile_new(&graph->program, arena);
    const int64_t ticks = configured->ticks < PICTURE_STEPS ? configured->ticks : PICTURE_STEPS;
    const Batch batch = picture_batch(configured, parameter, kernels->lanes, arena);
    LaneGroup group = {.batch = batch, .valid = 1, .ticks = ticks};
    graph->profile = &profile;
    shared->advance(graph, team, &configured->constants, configured->assets, &group);
    graph_team_close(team);
    (picture == STEP_DOT ? graph_write_dot : graph_write_trace)(&graph->program, &profile, out, arena);
    return error_none();
}

Error step_picture(const Configured *configured, const double *parameter, int threads, StepPicture picture,
                   TextSink out)
{
    Arena arena;
    TRY(arena_create_growing(&arena, (size_t)1 << 32, "the picture of a step"));
    const Error error = picture_draw(configured, parameter, graph_threads(threads), picture, out, &arena);
    arena_destroy(&arena);
    return error;
}
