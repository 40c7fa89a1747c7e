// Islands of a rigid world: what one does is what it does alone, to the bit.
#include "../test.h"

#include <stdlib.h>
#include <string.h>

typedef struct IslandsRun {
    Arena arena;
    Spec spec;
    Backend *backend;
    Batch *batch;
} IslandsRun;

// One lane of a world, to its end.
static void islands_run(IslandsRun *run, const char *bodies, const char *constraints, const char *options)
{
    const BackendOptions cpu = {.name = "cpu", .threads = 1, .isa = "auto"};
    bool done = false;
    double seconds;
    *run = (IslandsRun){.backend = NULL};
    if (arena_create(&run->arena, (size_t)1 << 30, "a test of islands").kind != OK) abort();
    const char *text = arena_format(&run->arena,
                                    "version: 1\nexperiment: test\nmodel: rigid\nsimulation: {%s, "
                                    "world: {bodies: [%s], constraints: [%s]}}\n",
                                    options, bodies, constraints);
    Diagnostics *diagnostics = diagnostics_new(&run->arena);
    CHECK_OK(spec_parse("islands.yaml", text, NULL, 0, &run->arena, diagnostics, &run->spec));
    diagnostics_print(diagnostics, stdout, false);
    CHECK_OK(backend_open(&cpu, &run->backend));
    CHECK_OK(backend_prepare(run->backend, &run->spec.configured, 1, 0, 1));
    run->batch = backend_batch(run->backend, 0);
    run->batch->lanes = 1;
    for (int p = 0; p < run->spec.configured.n_parameters; p++) run->batch->parameter[p] = run->spec.fixed[p];
    CHECK_OK(backend_begin(run->backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(run->backend, 0, 64));
        CHECK_OK(backend_wait(run->backend, 0, &done, &seconds));
    }
}

static void islands_end(IslandsRun *run)
{
    backend_close(run->backend);
    arena_destroy(&run->arena);
}

static double islands_metric(const IslandsRun *run, const char *name)
{
    for (int m = 0; m < run->spec.configured.n_metrics; m++) {
        if (strcmp(run->spec.configured.metrics[m].name, name) == 0) return run->batch->metric[m];
    }
    CHECK_TEXT("a metric", name);
    return 0.0;
}

// A bar on a hinge at the origin, a bar on that, and a rod from its end to a fixed point: a loop of one row.
#define ISLANDS_LOOP_BODIES(a, b)                                                                                      \
    "{name: " a ", inertia: 0.1, position: [0.5, 0, 0]}, {name: " b ", inertia: 0.2, position: [1.5, 0, 0]}"
#define ISLANDS_LOOP_CONSTRAINTS(a, b)                                                                                 \
    "{name: hinge_" a ", type: hinge, a: " a ", at_a: [-0.5, 0, 0], axis: [0, 1, 0]}, "                                \
    "{name: hinge_" b ", type: hinge, a: " b ", b: " a ", at_a: [-0.5, 0, 0], axis: [0, 1, 0]}, "                      \
    "{name: rod_" b ", type: distance, a: " b ", at_a: [0.5, 0, 0], at_b: [2.5, 0, 1]}"
#define ISLANDS_CHAIN_BODIES "{name: c, position: [0, 3, 0]}, {name: d, position: [1, 3, 0]}"
#define ISLANDS_CHAIN_CONSTRAINTS                                                                                      \
    "{name: rod_c, type: distance, a: c, at_b: [0, 3, 1]}, {name: rod_d, type: distance, a: d, b: c}"

static void islands_check_bodies(const IslandsRun *alone, const char *name, const IslandsRun *together,
                                 const char *name_there)
{
    char metric[32];
    for (int k = 0; k < 3; k++) {
        snprintf(metric, sizeof metric, "%s_end_%c", name, "xyz"[k]);
        const double expected = islands_metric(alone, metric);
        snprintf(metric, sizeof metric, "%s_end_%c", name_there, "xyz"[k]);
        CHECK_BITS(expected, islands_metric(together, metric));
    }
}

static void islands_check(const char *options)
{
    IslandsRun loop, chain, all;
    islands_run(&loop, ISLANDS_LOOP_BODIES("a", "b"), ISLANDS_LOOP_CONSTRAINTS("a", "b"), options);
    islands_run(&chain, ISLANDS_CHAIN_BODIES, ISLANDS_CHAIN_CONSTRAINTS, options);
    islands_run(&all, ISLANDS_LOOP_BODIES("a", "b") ", " ISLANDS_CHAIN_BODIES ", " ISLANDS_LOOP_BODIES("e", "f"),
                ISLANDS_LOOP_CONSTRAINTS("e", "f") ", " ISLANDS_CHAIN_CONSTRAINTS
                                                   ", " ISLANDS_LOOP_CONSTRAINTS("a", "b"),
                options);
    CHECK(islands_metric(&loop, "b_end_z") > 0.1 && islands_metric(&chain, "d_end_z") < -0.9); // they move
    islands_check_bodies(&loop, "a", &all, "a");
    islands_check_bodies(&loop, "b", &all, "b");
    islands_check_bodies(&loop, "b", &all, "f");
    islands_check_bodies(&chain, "c", &all, "c");
    islands_check_bodies(&chain, "d", &all, "d");
    CHECK_BITS(2.0 * islands_metric(&loop, "redundant_rows") + islands_metric(&chain, "redundant_rows"),
               islands_metric(&all, "redundant_rows"));
    islands_end(&loop);
    islands_end(&chain);
    islands_end(&all);
}

TEST(rigid_islands_move_as_they_do_alone) { islands_check("duration: 0.5, stabilisation: baumgarte"); }

TEST(rigid_islands_move_as_they_do_alone_when_soft) { islands_check("duration: 0.5, stabilisation: soft"); }
