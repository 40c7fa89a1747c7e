// See rigid_case.h.
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the test keeps of each lane besides its metrics.
typedef struct RigidSeen {
    int64_t samples, debug_rows;
} RigidSeen;

static void rigid_see(RigidRun *run, int64_t lanes, RigidSeen seen)
{
    CHECK_OK(backend_prepare_debug(run->backend, lanes, seen.debug_rows));
    run->batch->trace.lanes = run->batch->debug.lanes = lanes;
    run->batch->trace.every = 1;
    run->batch->debug.first = 0;
    run->batch->debug.end = INT64_MAX;
}

static void rigid_open_lanes(RigidRun *run, int64_t lanes, const char *isa, RigidSeen seen)
{
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = isa, .patience = INFINITY};
    const Configured *configured = &run->spec.configured;
    CHECK_OK(backend_open(&options, &run->backend));
    CHECK_OK(backend_prepare(run->backend, configured, lanes, seen.samples > 0 ? lanes : 0, seen.samples));
    run->batch = backend_batch(run->backend, 0);
    if (seen.samples > 0) rigid_see(run, lanes, seen);
    run->batch->lanes = lanes;
    for (int p = 0; p < configured->n_parameters; p++) {
        for (int64_t lane = 0; lane < lanes; lane++)
            run->batch->parameter[p * run->batch->stride + lane] = run->spec.fixed[p];
    }
}

void rigid_parse(RigidRun *run, const char *simulation, const char *rest)
{
    *run = (RigidRun){.backend = NULL};
    if (arena_create(&run->arena, (size_t)1 << 30, "a test of rigid bodies").kind != OK) abort();
    const char *form = strstr(simulation, "stabilisation:") == NULL ? "stabilisation: baumgarte, " : "";
    const char *text = arena_format(&run->arena, "version: 1\nexperiment: test\nmodel: rigid\nsimulation: {%s%s\n%s\n",
                                    form, simulation + 1, rest);
    Diagnostics *diagnostics = diagnostics_new(&run->arena);
    CHECK_OK(spec_parse("rigid.yaml", text, NULL, 0, &run->arena, diagnostics, &run->spec));
    diagnostics_print(diagnostics, stdout, false);
}

void rigid_start(RigidRun *run, const char *simulation, const char *rest, int64_t lanes, const char *isa)
{
    rigid_parse(run, simulation, rest);
    rigid_open_lanes(run, lanes, isa, (RigidSeen){0, 0});
}

void rigid_start_observed(RigidRun *run, const char *simulation, int64_t lanes, const char *isa, int64_t samples,
                          int64_t debug_rows)
{
    rigid_parse(run, simulation, "");
    rigid_open_lanes(run, lanes, isa, (RigidSeen){samples, debug_rows});
}

void rigid_load_lanes(RigidRun *run, const char *name, const char *const *overrides, int count, int64_t lanes,
                      const char *isa)
{
    *run = (RigidRun){.backend = NULL};
    if (arena_create(&run->arena, (size_t)1 << 30, "a test of rigid bodies").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&run->arena);
    const char *path = arena_format(&run->arena, "experiments/%s.yaml", name);
    CHECK_OK(spec_load(path, overrides, count, &run->arena, diagnostics, &run->spec));
    diagnostics_print(diagnostics, stdout, false);
    rigid_open_lanes(run, lanes, isa, (RigidSeen){0, 0});
}

void rigid_load(RigidRun *run, const char *name, const char *const *overrides, int count, const char *isa)
{
    rigid_load_lanes(run, name, overrides, count, 1, isa);
}

void rigid_set(RigidRun *run, const char *parameter, int64_t lane, double value)
{
    const Configured *configured = &run->spec.configured;
    for (int p = 0; p < configured->n_parameters; p++) {
        if (strcmp(configured->parameters[p].name, parameter) != 0) continue;
        run->batch->parameter[p * run->batch->stride + lane] = value;
        return;
    }
    CHECK_TEXT("a parameter", parameter);
}

void rigid_go(RigidRun *run, int64_t slice)
{
    bool done = false;
    double seconds;
    CHECK_OK(backend_begin(run->backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(run->backend, 0, slice));
        CHECK_OK(backend_wait(run->backend, 0, &done, &seconds));
    }
}

const double *rigid_sample(const RigidRun *run, int64_t lane, int64_t k)
{
    const Trace *trace = &run->batch->trace;
    return trace->sample + (lane * trace->capacity + k) * run->spec.configured.n_columns;
}

const double *rigid_debug_row(const RigidRun *run, int64_t lane, int64_t k)
{
    const DebugRows *debug = &run->batch->debug;
    return debug->row + (lane * debug->capacity + k) * run->spec.configured.n_debug;
}

void rigid_end(RigidRun *run)
{
    backend_close(run->backend);
    arena_destroy(&run->arena);
}

double rigid_metric(const RigidRun *run, const char *name, int64_t lane)
{
    const Configured *configured = &run->spec.configured;
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, name) == 0) return run->batch->metric[m * run->batch->stride + lane];
    }
    CHECK_TEXT("a metric", name);
    return NAN;
}

void rigid_run(RigidRun *run, const char *simulation, const char *rest)
{
    rigid_start(run, simulation, rest, 1, "auto");
    rigid_go(run, INT64_MAX / 2);
}
