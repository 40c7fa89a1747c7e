#include "environment_case.h"

#include "../../runner/experiment/experiment.h"
#include "robot_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the device -----------------------------------------------------------------------------------------------------

// CUDA's runtime, where the program holds it. Without it, on tests/cuda_on_host, and where tests are about the CPU, the
// host reads all memory: a machine may have the toolkit and no driver.
int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream) __attribute__((weak));
int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) __attribute__((weak));
enum { CASE_COPY_DEFAULT = 4 }; // cudaMemcpyDefault: the pointers say where they are

const char *environment_case_device(void)
{
    const char *given = getenv("HOPSCOTCH_TEST_DEVICE");
    return given != NULL && given[0] != '\0' ? given : "cpu";
}

bool environment_case_on_gpu(void) { return strcmp(environment_case_device(), "cpu") != 0; }

void environment_case_copy(hopscotch_env *env, void *to, const void *from, size_t size)
{
    if (env != NULL) CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_wait(env));
    if (cudaMemcpyAsync == NULL || !environment_case_on_gpu()) {
        memcpy(to, from, size);
        return;
    }
    void *stream = env != NULL ? hopscotch_env_stream(env) : NULL;
    CHECK_INTEGER(0, cudaMemcpyAsync(to, from, size, CASE_COPY_DEFAULT, stream));
    if (env != NULL) CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_wait(env));
}

int64_t environment_case_free_memory(void)
{
    size_t free_bytes = 0, total_bytes;
    if (environment_case_on_gpu() && cudaMemGetInfo != NULL)
        CHECK_INTEGER(0, cudaMemGetInfo(&free_bytes, &total_bytes));
    return (int64_t)free_bytes;
}

// ---- an environment -------------------------------------------------------------------------------------------------

// A spec that names a robot is a file in a folder with it.
static int environment_case_load(const char *text, const hopscotch_env_options *options, hopscotch_env **env)
{
    Arena arena;
    if (strstr(text, "robots/") == NULL) return hopscotch_env_open_text("case", text, options, env);
    CHECK_OK(arena_create(&arena, 1 << 24, "a spec of a test"));
    const int status = hopscotch_env_open(robot_folder_spec(text, &arena), options, env);
    arena_destroy(&arena);
    return status;
}

static size_t environment_case_bytes(const hopscotch_array *array)
{
    static const size_t sizes[] = {[HOPSCOTCH_FLOAT64] = 8,
                                   [HOPSCOTCH_FLOAT32] = 4,
                                   [HOPSCOTCH_UINT8] = 1,
                                   [HOPSCOTCH_INT32] = 4,
                                   [HOPSCOTCH_INT64] = 8};
    const int64_t count = array->n_dimensions == 1 ? array->shape[0] : array->strides[1] * array->shape[1];
    return (size_t)count * sizes[array->type];
}

static void environment_case_take(EnvironmentCase *c, int k)
{
    hopscotch_array *array = &c->array[k];
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_array(c->env, k, array));
    c->place[k] = array->data;
    if (c->info.device_type == 1) return;
    array->data = calloc(1, environment_case_bytes(array) + 1);
    if (array->data == NULL) abort();
}

bool environment_case_open(const char *text, const hopscotch_env_options *options, EnvironmentCase *out)
{
    memset(out, 0, sizeof *out);
    const int status = environment_case_load(text, options, &out->env);
    if (status != HOPSCOTCH_OK) printf("%s\n", hopscotch_error(NULL));
    CHECK_INTEGER(HOPSCOTCH_OK, status);
    if (status != HOPSCOTCH_OK) return false;
    out->info.size = sizeof out->info;
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_get_info(out->env, &out->info));
    for (int k = 0; k < HOPSCOTCH_N_ARRAYS; k++) environment_case_take(out, k);
    return true;
}

// Copies what the environment wrote.
static int environment_case_read(const EnvironmentCase *c, int status)
{
    if (c->info.device_type == 1 || status != HOPSCOTCH_OK) return status;
    for (int k = 0; k < HOPSCOTCH_N_ARRAYS; k++)
        if (k != HOPSCOTCH_ACTIONS)
            environment_case_copy(c->env, c->array[k].data, c->place[k], environment_case_bytes(&c->array[k]));
    return HOPSCOTCH_OK;
}

int environment_case_reset(const EnvironmentCase *c, const uint8_t *mask, const uint64_t *seeds)
{
    return environment_case_read(c, hopscotch_env_reset(c->env, mask, seeds));
}

int environment_case_step(const EnvironmentCase *c)
{
    const hopscotch_array *actions = &c->array[HOPSCOTCH_ACTIONS];
    if (c->info.device_type != 1)
        environment_case_copy(c->env, c->place[HOPSCOTCH_ACTIONS], actions->data, environment_case_bytes(actions));
    return environment_case_read(c, hopscotch_env_step(c->env));
}

int environment_case_close(EnvironmentCase *c)
{
    for (int k = 0; k < HOPSCOTCH_N_ARRAYS && c->info.device_type != 1; k++) free(c->array[k].data);
    return hopscotch_env_close(c->env);
}

static int64_t environment_case_at(const hopscotch_array *array, int64_t lane, int column)
{
    return lane * array->strides[0] + column * array->strides[1];
}

double environment_case_number(const EnvironmentCase *c, int array, int64_t lane, int column)
{
    const hopscotch_array *of = &c->array[array];
    const int64_t at = environment_case_at(of, lane, column);
    switch (of->type) {
    case HOPSCOTCH_FLOAT64: return ((const double *)of->data)[at];
    case HOPSCOTCH_FLOAT32: return (double)((const float *)of->data)[at];
    case HOPSCOTCH_UINT8: return (double)((const uint8_t *)of->data)[at];
    case HOPSCOTCH_INT32: return (double)((const int32_t *)of->data)[at];
    default: return (double)((const int64_t *)of->data)[at];
    }
}

void environment_case_act(const EnvironmentCase *c, int64_t lane, int action, double value)
{
    const hopscotch_array *of = &c->array[HOPSCOTCH_ACTIONS];
    const int64_t at = environment_case_at(of, lane, action);
    if (of->type == HOPSCOTCH_FLOAT64)
        ((double *)of->data)[at] = value;
    else
        ((float *)of->data)[at] = (float)value;
}

double environment_case_random(int64_t lane, int64_t step, int which)
{
    const RandomKey key = {
        .seed = 17, .ordinal = (uint64_t)step, .replicate = (uint32_t)lane, .purpose = RANDOM_SAMPLE};
    return 2.0 * random_uniform(&key, (uint32_t)which) - 1.0;
}

// --set of the table: "simulation.control.actions=[...]".
static const char *environment_case_table(const double *action, int64_t count, Arena *arena)
{
    char *text = ARENA_NEW(arena, char, 32 * count + 64), *to = text;
    to += sprintf(to, "simulation.control.actions=[");
    for (int64_t i = 0; i < count; i++) to += sprintf(to, "%s%.17g", i > 0 ? ", " : "", action[i]);
    sprintf(to, "]");
    return text;
}

static void environment_case_advance(const Spec *spec, const double *parameter, const BackendOptions *options,
                                     EnvironmentRun *out)
{
    Backend *backend;
    const Configured *configured = &spec->configured;
    const int64_t capacity = trace_capacity(configured->ticks, configured->action_ticks);
    double *sample = ARENA_NEW(&out->arena, double, capacity * configured->n_columns);
    double *metric = ARENA_NEW(&out->arena, double, configured->n_metrics);
    bool done = false;
    double seconds;
    CHECK_OK(backend_open(options, &backend));
    CHECK_OK(backend_prepare(backend, configured, 1, 1, capacity));
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = 1;
    batch->trace.lanes = 1;
    batch->trace.every = configured->action_ticks;
    for (int p = 0; p < configured->n_parameters; p++) batch->parameter[p * batch->stride] = parameter[p];
    CHECK_OK(backend_begin(backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(backend, 0, 777));
        CHECK_OK(backend_wait(backend, 0, &done, &seconds));
    }
    out->samples = batch->trace.count[0];
    memcpy(sample, batch->trace.sample, sizeof *sample * (size_t)(out->samples * configured->n_columns));
    for (int m = 0; m < configured->n_metrics; m++) metric[m] = batch->metric[m * batch->stride];
    out->failure = batch->status[0] - LANE_DONE;
    out->sample = sample;
    out->metric = metric;
    backend_close(backend);
}

void environment_case_run(const char *text, const double *parameter, const double *action, int64_t steps,
                          const char *backend, const char *isa, EnvironmentRun *out)
{
    Spec spec;
    const BackendOptions options = {.name = backend, .threads = 1, .isa = isa};
    memset(out, 0, sizeof *out);
    CHECK_OK(arena_create_growing(&out->arena, (size_t)1 << 30, "a run of a test"));
    Diagnostics *diagnostics = diagnostics_new(&out->arena);
    CHECK_OK(robot_folder_parse(text, NULL, 0, &out->arena, diagnostics, &spec));
    if (action != NULL) {
        const char *set = environment_case_table(action, steps * spec.configured.n_actions, &out->arena);
        CHECK_OK(robot_folder_parse(text, &set, 1, &out->arena, diagnostics, &spec));
    }
    out->n_columns = spec.configured.n_columns;
    out->n_metrics = spec.configured.n_metrics;
    environment_case_advance(&spec, parameter, &options, out);
}
