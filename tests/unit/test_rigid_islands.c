// Islands of a rigid world: each moves as it does alone, to the bit, with any number of threads.
#include "../../sim/cpu_kernels.h"
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct IslandsRun {
    Arena arena;
    Spec spec;
    Backend *backend;
    Batch *batch;
} IslandsRun;

// Values that differ between lanes: gravity, and the number of steps per tick.
static double islands_difference(const char *name, int64_t lane)
{
    if (strcmp(name, "substeps") == 0) return (double)(lane % 3);
    return strcmp(name, "gravity") == 0 ? (double)lane : 0.0;
}

enum { ISLANDS_SAMPLES = 40, ISLANDS_DEBUG_ROWS = 150 };

// Traces the first `observed` lanes. They write more debug rows than the ring holds.
static void islands_observe(IslandsRun *run, int64_t observed)
{
    CHECK_OK(backend_prepare_debug(run->backend, observed, ISLANDS_DEBUG_ROWS));
    run->batch->trace.lanes = run->batch->debug.lanes = observed;
    run->batch->trace.every = 2;
    run->batch->debug.first = 2;
    run->batch->debug.end = 25;
}

// `world`: its lists in flow YAML; `options`: the other keys.
static void islands_run_on(IslandsRun *run, const char *world, const char *options, int64_t lanes, int64_t observed,
                           int threads)
{
    const BackendOptions cpu = {.name = "cpu", .threads = threads, .isa = "auto", .patience = INFINITY};
    bool done = false;
    double seconds;
    *run = (IslandsRun){.backend = NULL};
    if (arena_create(&run->arena, (size_t)1 << 30, "a test of islands").kind != OK) abort();
    const char *text =
        arena_format(&run->arena, "version: 1\nexperiment: test\nmodel: rigid\nsimulation: {%s%s, world: {%s}}\n",
                     strstr(options, "stabilisation:") == NULL ? "stabilisation: baumgarte, " : "", options, world);
    Diagnostics *diagnostics = diagnostics_new(&run->arena);
    CHECK_OK(spec_parse("islands.yaml", text, NULL, 0, &run->arena, diagnostics, &run->spec));
    diagnostics_print(diagnostics, stdout, false);
    const Configured *configured = &run->spec.configured;
    CHECK_OK(backend_open(&cpu, &run->backend));
    CHECK_OK(backend_prepare(run->backend, configured, lanes, observed, ISLANDS_SAMPLES));
    run->batch = backend_batch(run->backend, 0);
    run->batch->lanes = lanes;
    if (observed > 0) islands_observe(run, observed);
    for (int p = 0; p < configured->n_parameters; p++) {
        for (int64_t lane = 0; lane < lanes; lane++)
            run->batch->parameter[p * lanes + lane] =
                run->spec.fixed[p] + islands_difference(configured->parameters[p].name, lane);
    }
    CHECK_OK(backend_begin(run->backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(run->backend, 0, 64));
        CHECK_OK(backend_wait(run->backend, 0, &done, &seconds));
    }
}

static void islands_run(IslandsRun *run, const char *bodies, const char *constraints, const char *options)
{
    char world[4096];
    snprintf(world, sizeof world, "bodies: [%s], constraints: [%s]", bodies, constraints);
    islands_run_on(run, world, options, 1, 0, 1);
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

// A bar on a hinge at the origin, a second bar on the first, and a rod from the second bar's end to a fixed point: a
// loop of one row.
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
    CHECK(islands_metric(&loop, "b_end_z") > 0.1 && islands_metric(&chain, "d_end_z") < -0.9); // the bodies move
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

TEST(rigid_islands_of_trees_move_as_they_do_alone) { islands_check("duration: 0.5, solver: trees"); }

// ---- islands shared by threads --------------------------------------------------------------------------------------

// `count` islands: chains of two bodies, every third with a loop. Springs or tethers join some; a parachute and a push
// act on others.
static const char *islands_world(int count, bool coupled, Arena *arena)
{
    char *bodies = arena_copy(arena, ""), *constraints = bodies, *forces = bodies;
    for (int i = 0; i < count; i++) {
        const char *comma = i > 0 ? ", " : "";
        bodies = arena_format(arena,
                              "%s%s{name: a%d, inertia: 0.1, position: [0.5, %d, 0]}, "
                              "{name: b%d, inertia: [0.2, 0.3, 0.25], position: [1.5, %d, 0], spin: [0.1, 0, 0.2]}",
                              bodies, comma, i, i, i, i);
        constraints = arena_format(arena,
                                   "%s%s{name: c%d, type: hinge, a: a%d, at_a: [-0.5, 0, 0], axis: [0, 1, 0]}, "
                                   "{name: d%d, type: ball, a: b%d, b: a%d, at_a: [-0.5, 0, 0]}",
                                   constraints, comma, i, i, i, i, i);
        if (i % 3 == 0)
            constraints = arena_format(arena,
                                       "%s, {name: e%d, type: distance, a: b%d, at_a: [0.5, 0, 0], "
                                       "at_b: [2.5, %d, 1]}",
                                       constraints, i, i, i);
        forces = arena_format(arena, "%s%s{name: f%d, type: %s, a: a%d, area: 0.3, speed: 0.5}", forces, comma, i,
                              i % 2 == 0 ? "parachute" : "drag", i);
        if (coupled && i >= 5)
            forces =
                arena_format(arena, "%s, {name: g%d, type: %s, a: b%d, b: b%d, stiffness: 30, damping: 1, length: 1}",
                             forces, i, i % 2 == 0 ? "spring" : "tether", i, i - 5);
    }
    return arena_format(arena, "bodies: [%s], constraints: [%s], forces: [%s]", bodies, constraints, forces);
}

static const char *islands_without_forces(const char *world, Arena *arena)
{
    char *copy = arena_copy(arena, world), *forces = strstr(copy, ", forces: ");
    if (forces != NULL) *forces = '\0';
    return copy;
}

static void islands_check_observed(const IslandsRun *one, const IslandsRun *other)
{
    const Trace *trace = &one->batch->trace;
    const DebugRows *debug = &one->batch->debug;
    const Configured *configured = &one->spec.configured;
    if (trace->lanes == 0) return;
    CHECK(trace->count[0] > 3 && debug->count[0] > ISLANDS_DEBUG_ROWS);
    CHECK(memcmp(trace->count, other->batch->trace.count, (size_t)trace->lanes * sizeof *trace->count) == 0);
    CHECK(memcmp(debug->count, other->batch->debug.count, (size_t)debug->lanes * sizeof *debug->count) == 0);
    CHECK(memcmp(trace->sample, other->batch->trace.sample,
                 (size_t)(trace->lanes * trace->capacity * configured->n_columns) * sizeof(double)) == 0);
    CHECK(memcmp(debug->row, other->batch->debug.row,
                 (size_t)(debug->lanes * debug->capacity * configured->n_debug) * sizeof(double)) == 0);
}

static void islands_check_executors(const char *world, const char *form, int64_t lanes, int64_t observed)
{
    char options[200];
    IslandsRun alone, together;
    snprintf(options, sizeof options, "duration: %s, executor: sequential, %s", test_quick() ? "0.1" : "0.3", form);
    islands_run_on(&alone, world, options, lanes, observed, 1);
    for (int threads = 2; threads <= (test_quick() ? 2 : 5); threads += 3) {
        snprintf(options, sizeof options, "duration: %s, executor: levels, %s", test_quick() ? "0.1" : "0.3", form);
        islands_run_on(&together, world, options, lanes, observed, threads);
        const Configured *configured = &alone.spec.configured;
        CHECK(memcmp(alone.batch->status, together.batch->status, (size_t)lanes * sizeof(int32_t)) == 0);
        for (int64_t i = 0; i < configured->n_metrics * lanes; i++)
            CHECK_BITS(alone.batch->metric[i], together.batch->metric[i]);
        islands_check_observed(&alone, &together);
        islands_end(&together);
    }
    islands_end(&alone);
}

TEST(rigid_worlds_have_the_same_bits_when_threads_share_them)
{
    Arena arena;
    if (arena_create(&arena, (size_t)1 << 28, "worlds of a test").kind != OK) abort();
    const char *coupled = islands_world(test_quick() ? 16 : 40, true, &arena),
               *apart = islands_world(33, false, &arena);
    const char *without_forces = islands_without_forces(apart, &arena);
    const struct {
        const char *world, *form;
        int64_t lanes, observed;
    } cases[] = {
        {coupled, "stabilisation: baumgarte", 1, 1},
        {apart, "stabilisation: original_with_bias, refine: 2", 3, 0},
        {coupled, "stabilisation: soft, rotation: cayley, solver: trees", 11, 1},
        {apart, "solver: trees", 3, 0},
        {apart, "stabilisation: velocity, redundant: regularise, cfm: 1e-6", 1, 0},
        {apart, "stabilisation: original, gain_units: per_dt", 2, 0}, // diverges
        {coupled, "stabilisation: rattle, dt: 0.02", 1, 1},
        {apart, "stabilisation: rattle, dt: 0.02, solver: trees", 11, 0},
        {RIGID_REDUNDANT, "stabilisation: rattle, order: four, dt: 0.005", 11, 0},
        {coupled, "stabilisation: rattle, order: four, dt: 0.02, iterations: 3", 1, 0},
        {RIGID_REDUNDANT, "stabilisation: rattle, solver: trees, redundant: drop, dt: 0.005", 3, 0},
        {RIGID_REDUNDANT, "stabilisation: rattle, dt: 0.005", 11, 0},
        {without_forces, "stabilisation: rattle, order: six, dt: 0.02", 3, 1},
        {RIGID_REDUNDANT, "solver: trees, dt: 0.005", 3, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k += test_quick() ? 2 : 1)
        islands_check_executors(cases[k].world, cases[k].form, cases[k].lanes, cases[k].observed);
    arena_destroy(&arena);
}

// ---- which kernels --------------------------------------------------------------------------------------------------

// The nodes of a graph are functions of the kernels that opened it.
static void islands_check_graph(const IslandsRun *run, int valid, const CpuKernels *kernels)
{
    Arena arena;
    CpuStepGraph *expected;
    const Configured *configured = &run->spec.configured;
    const CpuWay *way = cpu_way(run->backend, valid);
    if (arena_create(&arena, (size_t)1 << 28, "a graph of a test").kind != OK) abort();
    CHECK_OK(
        kernels->shared[configured->kernel].open(&configured->constants, configured->assets, 2, &arena, &expected));
    CHECK(way->plain == kernels && way->graph != NULL);
    if (way->graph != NULL) CHECK(way->graph->program.steps[0].function == expected->program.steps[0].function);
    arena_destroy(&arena);
}

// A single lane would use one place of each vector: without vectors it takes half the time.
TEST(rigid_threads_share_a_single_lane_without_vectors)
{
    Arena arena;
    IslandsRun run;
    if (&cpu_plain_scalar == NULL || (&cpu_plain_v2 == NULL && &cpu_plain_neon == NULL)) {
        test_skip("kernels of unobserved lanes (PLAIN)", "make");
        return;
    }
    if (arena_create(&arena, (size_t)1 << 28, "worlds of a test").kind != OK) abort();
    const char *world = islands_world(16, false, &arena);
    const CpuKernels *best = cpu_best_kernels();
    const CpuKernels *expected = best == &cpu_plain_v2 ? best : &cpu_plain_scalar;
    for (int64_t lanes = 1; lanes <= 9; lanes += 8) {
        islands_run_on(&run, world, "duration: 0.01, executor: levels", lanes, 0, 2);
        islands_check_graph(&run, 1, expected);
        if (lanes == 9) islands_check_graph(&run, 8, best);
        islands_end(&run);
    }
    arena_destroy(&arena);
}
