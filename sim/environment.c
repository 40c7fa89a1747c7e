// Environments: their memory, their device, and the CPU, whose threads share the groups of lanes of each call.
#include "cpu_kernels.h"
#include "environment_device.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- memory ---------------------------------------------------------------------------------------------------------

enum { ENVIRONMENT_ALIGNMENT = 256 }; // bytes, of every array

void environment_describe(Environment *environment, const EnvironmentSetup *setup)
{
    const Configured *configured = setup->configured;
    EnvironmentView *view = &environment->view;
    *view = (EnvironmentView){.lanes = setup->lanes,
                              .stride = (setup->lanes + LANES_TOGETHER - 1) / LANES_TOGETHER * LANES_TOGETHER,
                              .n_parameters = configured->n_parameters,
                              .n_named = configured_named(configured),
                              .n_work = configured->n_work,
                              .n_metrics = configured_own_metrics(configured),
                              .n_actions = configured->n_actions,
                              .n_observations = setup->n_observations,
                              .n_cells = configured->law != NULL ? configured->law->of.cells : 0,
                              .autoreset = (int32_t)setup->autoreset,
                              .single = setup->single,
                              .held = configured->action_ticks,
                              .observe = setup->observe,
                              .step = setup->step,
                              .n_draws = setup->n_draws};
    const int observe = view->observe.code.registers, step = view->step.code.registers;
    environment->registers = observe > step ? observe : step;
    environment->constants = configured->constants;
    environment->kernel = configured->environment_kernel;
    environment->n_columns = configured->n_columns;
    if (configured->law != NULL) environment->law = *configured->law;
}

// Takes `count` items at `*used`.
static void *environment_piece(char *base, size_t *used, int64_t count, size_t size)
{
    char *piece = base != NULL ? base + *used : NULL;
    *used += ((size_t)count * size + ENVIRONMENT_ALIGNMENT - 1) / ENVIRONMENT_ALIGNMENT * ENVIRONMENT_ALIGNMENT;
    return piece;
}

static size_t environment_lay_arrays(EnvironmentView *view, char *base)
{
    size_t used = 0;
#define ENVIRONMENT_LAY(name, type, rows)                                                                              \
    view->name = (type *)environment_piece(base, &used, view->stride * ENVIRONMENT_ROWS_##rows, sizeof(type));
#define ENVIRONMENT_ROWS_1 1
#define ENVIRONMENT_ROWS_n_parameters view->n_parameters
#define ENVIRONMENT_ROWS_n_work view->n_work
#define ENVIRONMENT_ROWS_n_metrics view->n_metrics
#define ENVIRONMENT_ROWS_n_actions view->n_actions
#define ENVIRONMENT_ROWS_n_frame view->n_frame
#define ENVIRONMENT_ROWS_n_cells view->n_cells
#define ENVIRONMENT_ROWS_n_observations view->n_observations
    ENVIRONMENT_ARRAYS(ENVIRONMENT_LAY)
#undef ENVIRONMENT_LAY
    const size_t size = view->single != 0 ? sizeof(float) : sizeof(double);
#define ENVIRONMENT_LAY(name, rows)                                                                                    \
    view->name = environment_piece(base, &used, view->stride * ENVIRONMENT_ROWS_##rows, size);
    ENVIRONMENT_FLOATS(ENVIRONMENT_LAY)
#undef ENVIRONMENT_LAY
    return used;
}

size_t environment_tables_at(const EnvironmentView *view)
{
    EnvironmentView copy = *view;
    return environment_lay_arrays(&copy, NULL);
}

size_t environment_lay(EnvironmentView *view, const EnvironmentSetup *setup, char *base)
{
    size_t used = environment_lay_arrays(view, base);
    view->codes = environment_piece(base, &used, setup->n_codes, sizeof(double));
    view->draws = environment_piece(base, &used, view->n_draws, sizeof(EnvironmentDraw));
    view->fixed = environment_piece(base, &used, view->n_parameters, sizeof(double));
    view->assets = environment_piece(base, &used, setup->configured->n_assets, sizeof(double));
    const Law *law = setup->configured->law;
    view->law = environment_piece(base, &used, law != NULL ? law->of.n_assets : 0, sizeof(double));
    return used;
}

static char *environment_fill(char *to, const void *from, int64_t count, size_t size)
{
    size_t used = 0;
    environment_piece(NULL, &used, count, size);
    if (count > 0) memcpy(to, from, (size_t)count * size);
    return to + used;
}

void environment_fill_tables(const EnvironmentSetup *setup, char *tables)
{
    const Configured *configured = setup->configured;
    tables = environment_fill(tables, setup->codes, setup->n_codes, sizeof(double));
    tables = environment_fill(tables, setup->draws, setup->n_draws, sizeof(EnvironmentDraw));
    tables = environment_fill(tables, setup->fixed, configured->n_parameters, sizeof(double));
    tables = environment_fill(tables, configured->assets, configured->n_assets, sizeof(double));
    if (configured->law != NULL)
        environment_fill(tables, configured->law->of.assets, configured->law->of.n_assets, sizeof(double));
}

LaneGroup environment_group(const Environment *environment, int64_t lane, int valid)
{
    const EnvironmentView *view = &environment->view;
    Law law = environment->law;
    law.of.assets = view->law;
    law.of.cell = view->n_cells > 0 ? view->cell : NULL;
    law.of.lane_apart = environment->on_gpu ? 1 : view->n_cells;
    law.of.cell_apart = environment->on_gpu ? view->stride : 1;
    return (LaneGroup){.batch = {.lanes = view->lanes,
                                 .stride = view->stride,
                                 .parameter = view->parameter,
                                 .work = view->work,
                                 .metric = view->metric,
                                 .status = view->status,
                                 .law = law},
                       .n_columns = environment->n_columns,
                       .lane = lane,
                       .valid = valid,
                       .ticks = view->held,
                       .own = {.ticks = view->clock,
                               .action = view->single != 0 ? view->action : (const double *)view->given,
                               .column = view->frame + lane,
                               .columns_apart = view->stride}};
}

// ---- the CPU --------------------------------------------------------------------------------------------------------

typedef struct CpuEnvironment {
    Environment environment;
    const EnvironmentKernels *kernels;
    ThreadTeam *team;
    Arena arena;
    EnvironmentBegin begin; // of the reset that the threads share
    bool resets;            // the call is a reset, else a step
    double *spare;          // [threads][n_work][LANES_MOST]
    double *frames;         // [threads][registers][LANES_MOST]
} CpuEnvironment;

static void cpu_environment_groups(void *context, int thread, int64_t first, int64_t end)
{
    const CpuEnvironment *cpu = context;
    const Environment *environment = &cpu->environment;
    const EnvironmentView *view = &environment->view;
    const int width = cpu->kernels->lanes;
    for (int64_t g = first; g < end; g++) {
        const int64_t lane = g * width, left = view->lanes - lane;
        LaneGroup group = environment_group(environment, lane, (int)(left < width ? left : width));
        group.own.spare = cpu->spare + (int64_t)thread * view->n_work * LANES_MOST;
        group.own.column = cpu->frames + (int64_t)thread * environment->registers * LANES_MOST;
        group.own.columns_apart = width;
        if (cpu->resets)
            cpu->kernels->reset[environment->kernel](view, &environment->constants, view->assets, &group, &cpu->begin);
        else
            cpu->kernels->step[environment->kernel](view, &environment->constants, view->assets, &group);
    }
}

static void cpu_environment_share(CpuEnvironment *cpu)
{
    enum { GROUPS_AT_ONCE = 4 };
    const int64_t width = cpu->kernels->lanes, groups = (cpu->environment.view.lanes + width - 1) / width;
    thread_team_for(cpu->team, groups, GROUPS_AT_ONCE, cpu_environment_groups, cpu);
}

static Error cpu_environment_reset(Environment *environment, const uint8_t *lanes, const uint64_t *seeds)
{
    CpuEnvironment *cpu = (CpuEnvironment *)environment;
    cpu->begin = (EnvironmentBegin){.lanes = lanes, .seeds = seeds};
    cpu->resets = true;
    cpu_environment_share(cpu);
    return error_none();
}

static Error cpu_environment_step(Environment *environment)
{
    CpuEnvironment *cpu = (CpuEnvironment *)environment;
    cpu->resets = false;
    cpu_environment_share(cpu);
    return error_none();
}

static Error cpu_environment_wait(Environment *environment) { return (void)environment, error_none(); }

static void cpu_environment_close(Environment *environment)
{
    CpuEnvironment *cpu = (CpuEnvironment *)environment;
    thread_team_close(cpu->team);
    arena_destroy(&cpu->arena);
    free(cpu);
}

// What is not 0 before the first reset.
static void cpu_environment_first(EnvironmentView *view, uint64_t seed)
{
    const size_t floats = (size_t)(view->stride * view->n_observations) * (view->single != 0 ? 4 : 8);
    memset(view->metric, 0xff, (size_t)(view->stride * view->n_metrics) * sizeof *view->metric); // NaN
    memset(view->final_observation, 0xff, floats);
    for (int64_t lane = 0; lane < view->lanes; lane++) {
        view->seed[lane] = seed;
        view->stream[lane] = (uint32_t)lane;
        view->episode_failure[lane] = -1;
    }
}

static Error cpu_environment_take(CpuEnvironment *cpu, const EnvironmentSetup *setup)
{
    Environment *environment = &cpu->environment;
    const size_t size = environment_lay(&environment->view, setup, NULL);
    char name[64];
    const char *isa;
    TRY(cpu_environment_kernels(setup->isa, setup->lanes, &cpu->kernels, &isa));
    const int threads = graph_threads(setup->threads);
    const size_t of_thread = LANES_MOST * sizeof(double), spare = (size_t)(threads * environment->view.n_work),
                 frames = (size_t)threads * (size_t)environment->registers;
    TRY(arena_create(&cpu->arena, size + (spare + frames) * of_thread + 3 * ENVIRONMENT_ALIGNMENT, "environments"));
    cpu->spare = arena_take(&cpu->arena, spare, of_thread);
    cpu->frames = arena_take(&cpu->arena, frames, of_thread);
    environment_lay(&environment->view, setup, arena_take(&cpu->arena, size, 1));
    environment_fill_tables(setup, (char *)environment->view.parameter + environment_tables_at(&environment->view));
    cpu_environment_first(&environment->view, setup->seed);
    cpu->team = threads > 1 ? thread_team_open(threads) : NULL;
    cpu_name(name, sizeof name);
    snprintf(environment->device, sizeof environment->device, "%s, %d thread%s, %s", name, threads,
             threads == 1 ? "" : "s", isa);
    return error_none();
}

static Error cpu_environment_open(const EnvironmentSetup *setup, Environment **out)
{
    CpuEnvironment *cpu = calloc(1, sizeof *cpu);
    if (cpu == NULL) return error_make(ERROR_MEMORY, "not enough memory for the CPU backend of an environment");
    environment_describe(&cpu->environment, setup);
    cpu->environment.info = (EnvironmentDevice){.name = "cpu", .device = cpu->environment.device};
    cpu->environment.reset = cpu_environment_reset;
    cpu->environment.step = cpu_environment_step;
    cpu->environment.wait = cpu_environment_wait;
    cpu->environment.close = cpu_environment_close;
    const Error error = cpu_environment_take(cpu, setup);
    if (error.kind == OK)
        *out = &cpu->environment;
    else
        cpu_environment_close(&cpu->environment);
    return error;
}

// ---- any device -----------------------------------------------------------------------------------------------------

// NULL: an environment can be opened.
static const char *environment_refusal(const Configured *configured)
{
#define ENVIRONMENT_HAS(model, kernel) [KERNEL_##model##_##kernel] = true,
    static const bool has[KERNEL_COUNT] = {ENVIRONMENT_KERNELS(ENVIRONMENT_HAS)};
#undef ENVIRONMENT_HAS
    if (configured->n_actions == 0)
        return "an environment needs simulation.control: {mode: external}, or of equations or of a control law an "
               "input with a range, as in inputs: {u: {range: [-1, 1]}}";
    return configured->environment_kernel >= 0 && has[configured->environment_kernel]
               ? NULL
               : "these settings of `simulation` have no environment";
}

Error environment_check(const EnvironmentSetup *setup)
{
    const char *refusal = environment_refusal(setup->configured);
    return refusal != NULL ? error_make(ERROR_USER, "%s", refusal) : error_none();
}

Error environment_open(const EnvironmentSetup *setup, Environment **out)
{
    *out = NULL;
    TRY(environment_check(setup));
#ifdef HOPSCOTCH_CUDA
    if (environment_cuda_open != NULL && strcmp(setup->device, "cpu") != 0) {
        const Error error = environment_cuda_open(setup, out);
        if (error.kind != ERROR_MACHINE || strcmp(setup->device, "cuda") == 0) return error;
    }
#endif
    if (strcmp(setup->device, "cuda") == 0) return error_make(ERROR_MACHINE, "this build has no environments on a GPU");
    return cpu_environment_open(setup, out);
}

void environment_close(Environment *environment)
{
    if (environment != NULL) environment->close(environment);
}

const EnvironmentView *environment_view(const Environment *environment) { return &environment->view; }

Error environment_reset(Environment *environment, const uint8_t *lanes, const uint64_t *seeds)
{
    return environment->reset(environment, lanes, seeds);
}

Error environment_step(Environment *environment) { return environment->step(environment); }
Error environment_wait(Environment *environment) { return environment->wait(environment); }
EnvironmentDevice environment_device(const Environment *environment) { return environment->info; }

Error environment_set_stream(Environment *environment, void *stream)
{
    if (environment->set_stream != NULL) return environment->set_stream(environment, stream);
    return error_make(ERROR_USER, "an environment on the CPU has no stream");
}
