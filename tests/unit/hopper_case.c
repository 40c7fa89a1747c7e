// A batch of hoppers through the CPU backend.
#include "hopper_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const HopperCase hopper_case = {.duration = 0.5,
                                .dt = 1e-4,
                                .lanes = 1,
                                .slice = 1000000,
                                .every = 1,
                                .threads = 1,
                                .isa = "auto",
                                .x_dot_des = 2.0};

int hopper_index(const Configured *configured, const char *parameter)
{
    for (int i = 0; i < configured->n_parameters; i++) {
        if (strcmp(configured->parameters[i].name, parameter) == 0) return i;
    }
    return -1;
}

double hopper_metric(const HopperOutcome *outcome, const char *name, int64_t lane)
{
    for (int i = 0; i < outcome->configured.n_metrics; i++) {
        if (strcmp(outcome->configured.metrics[i].name, name) == 0)
            return outcome->batch->metric[i * outcome->batch->stride + lane];
    }
    return NAN;
}

double hopper_state(const HopperOutcome *outcome, int field, int64_t lane)
{
    return outcome->batch->work[field * outcome->batch->stride + lane];
}

const char *hopper_failure_of(const HopperOutcome *outcome, int64_t lane)
{
    const int status = outcome->batch->status[lane];
    return status == LANE_RUNNING ? "running" : outcome->configured.failures[status - LANE_DONE];
}

const double *hopper_sample_of(const HopperOutcome *outcome, int64_t lane, int64_t k)
{
    const Trace *trace = &outcome->batch->trace;
    return trace->sample + (lane * trace->capacity + k) * outcome->configured.n_columns;
}

// The setting of that name, else the fallback.
static double hopper_setting(const HopperSetting *settings, const char *name, double fallback)
{
    for (int i = 0; i < HOPPER_CASE_SETTINGS && settings[i].name != NULL; i++) {
        if (strcmp(settings[i].name, name) == 0) return settings[i].value;
    }
    return fallback;
}

static void hopper_fill(const HopperCase *test, const HopperOutcome *outcome, Batch *batch)
{
    const Configured *configured = &outcome->configured;
    double lane[128];
    for (int i = 0; i < HOPPER_CASE_SETTINGS && test->parameter[i].name != NULL; i++)
        CHECK(hopper_index(configured, test->parameter[i].name) >= 0);
    for (int64_t i = 0; i < test->lanes; i++) {
        for (int p = 0; p < configured->n_parameters; p++) {
            const Parameter *row = &configured->parameters[p];
            lane[p] = hopper_setting(test->parameter, row->name, row->value);
        }
        lane[hopper_index(configured, "x_dot_des")] = hopper_setting(test->parameter, "x_dot_des", test->x_dot_des);
        if (test->fill != NULL) test->fill(lane, configured, test->first + i);
        for (int p = 0; p < configured->n_parameters; p++) batch->parameter[p * batch->stride + i] = lane[p];
    }
}

Error hopper_case_configure(const HopperCase *test, Arena *arena, Configured *configured)
{
    const Model *model = model_find("hopper");
    double settings[64];
    Points points[64] = {{0}};
    for (int i = 0; i < model->n_options; i++) {
        const char *name = model->options[i].name;
        settings[i] = strcmp(name, "duration") == 0     ? test->duration
                      : strcmp(name, "dt") == 0         ? test->dt
                      : strcmp(name, "settle") == 0     ? test->duration / 5.0
                      : strcmp(name, "integrator") == 0 ? test->integrator
                      : strcmp(name, "equations") == 0  ? test->equations
                                                        : model->options[i].value;
        settings[i] = hopper_setting(test->option, name, settings[i]);
        if (model->options[i].type == OPTION_POINTS) points[i] = test->terrain;
    }
    return model->configure(settings, points, arena, configured);
}

HopperOutcome hopper_simulate(const HopperCase *test)
{
    HopperOutcome outcome = {0};
    CHECK_OK(arena_create(&outcome.arena, 1 << 24, "a test"));
    const Error configured = hopper_case_configure(test, &outcome.arena, &outcome.configured);
    CHECK_OK(configured);
    if (configured.kind != OK) abort(); // what follows would not end
    const BackendOptions options = {.name = "cpu", .threads = test->threads, .isa = test->isa, .patience = INFINITY};
    CHECK_OK(backend_open(&options, &outcome.backend));
    const int64_t capacity = trace_capacity(outcome.configured.ticks, test->every);
    CHECK_OK(backend_prepare(outcome.backend, &outcome.configured, test->lanes, test->traced, capacity));
    Batch *batch = backend_batch(outcome.backend, 0);
    batch->lanes = test->lanes;
    batch->trace.lanes = test->traced;
    batch->trace.every = test->every;
    outcome.batch = batch;
    hopper_fill(test, &outcome, batch);
    CHECK_OK(backend_begin(outcome.backend, 0));
    bool done = false;
    double seconds;
    while (!done) {
        CHECK_OK(backend_advance(outcome.backend, 0, test->slice));
        CHECK_OK(backend_wait(outcome.backend, 0, &done, &seconds));
        if (test->watch != NULL) test->watch(&outcome, test->watcher);
    }
    return outcome;
}

void hopper_release(HopperOutcome *outcome)
{
    backend_close(outcome->backend);
    arena_destroy(&outcome->arena);
}

bool hopper_is_same(const HopperOutcome *a, int64_t i, const HopperOutcome *b, int64_t j)
{
    bool same = a->batch->status[i] == b->batch->status[j];
    for (int m = 0; m < a->configured.n_metrics; m++)
        same = same && memcmp(&a->batch->metric[m * a->batch->stride + i], &b->batch->metric[m * b->batch->stride + j],
                              sizeof(double)) == 0;
    for (int w = 0; w < a->configured.n_work; w++)
        same = same && memcmp(&a->batch->work[w * a->batch->stride + i], &b->batch->work[w * b->batch->stride + j],
                              sizeof(double)) == 0;
    return same;
}

void hopper_check_same(const HopperOutcome *a, int64_t i, const HopperOutcome *b, int64_t j)
{
    CHECK_INTEGER(a->batch->status[i], b->batch->status[j]);
    for (int m = 0; m < a->configured.n_metrics; m++)
        CHECK_BITS(a->batch->metric[m * a->batch->stride + i], b->batch->metric[m * b->batch->stride + j]);
    for (int w = 0; w < a->configured.n_work; w++)
        CHECK_BITS(a->batch->work[w * a->batch->stride + i], b->batch->work[w * b->batch->stride + j]);
}
