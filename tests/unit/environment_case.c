#include "environment_case.h"

#include "../../runner/experiment/experiment.h"
#include "robot_folder.h"

#include <stdio.h>
#include <string.h>

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

bool environment_case_open(const char *text, const hopscotch_env_options *options, EnvironmentCase *out)
{
    memset(out, 0, sizeof *out);
    const int status = environment_case_load(text, options, &out->env);
    if (status != HOPSCOTCH_OK) printf("%s\n", hopscotch_error(NULL));
    CHECK_INTEGER(HOPSCOTCH_OK, status);
    if (status != HOPSCOTCH_OK) return false;
    out->info.size = sizeof out->info;
    CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_get_info(out->env, &out->info));
    for (int k = 0; k < HOPSCOTCH_N_ARRAYS; k++)
        CHECK_INTEGER(HOPSCOTCH_OK, hopscotch_env_array(out->env, k, &out->array[k]));
    return true;
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

static void environment_case_advance(const Spec *spec, const double *parameter, const char *isa, EnvironmentRun *out)
{
    Backend *backend;
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = isa};
    const Configured *configured = &spec->configured;
    const int64_t capacity = trace_capacity(configured->ticks, configured->action_ticks);
    double *sample = ARENA_NEW(&out->arena, double, capacity * configured->n_columns);
    double *metric = ARENA_NEW(&out->arena, double, configured->n_metrics);
    bool done = false;
    double seconds;
    CHECK_OK(backend_open(&options, &backend));
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
                          const char *isa, EnvironmentRun *out)
{
    Spec spec;
    memset(out, 0, sizeof *out);
    CHECK_OK(arena_create_growing(&out->arena, (size_t)1 << 30, "a run of a test"));
    Diagnostics *diagnostics = diagnostics_new(&out->arena);
    CHECK_OK(robot_folder_parse(text, NULL, 0, &out->arena, diagnostics, &spec));
    const char *set = environment_case_table(action, steps * spec.configured.n_actions, &out->arena);
    CHECK_OK(robot_folder_parse(text, &set, 1, &out->arena, diagnostics, &spec));
    out->n_columns = spec.configured.n_columns;
    out->n_metrics = spec.configured.n_metrics;
    environment_case_advance(&spec, parameter, isa, out);
}
