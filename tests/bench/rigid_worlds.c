// Cost of a step of a rigid world, form baumgarte, one pass of refinement: of chains by their length (it should be
// linear), and of several worlds by both solvers. For one world, without vectors, and for eight side by side.
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLDS_CHAIN                                                                                                   \
    "bodies: [{name: b#, repeat: copies, inertia: [0.001, 0.0834, 0.0834], position: [0.5, 0, 0], "                    \
    "step: {position: [1, 0, 0]}}], constraints: "
#define WORLDS_JOINTS(type)                                                                                            \
    "[{name: hook, type: " type ", a: b1, at_a: [-0.5, 0, 0]}, "                                                       \
    "{name: joint#, repeat: [2, copies], type: " type ", a: b#, b: b#-1, at_a: [-0.5, 0, 0]}"

typedef struct WorldsCase {
    const char *what;
    int bodies, copies;
    const char *lists;
} WorldsCase;

static const WorldsCase worlds_cases[] = {
    {"a body on a rod", 1, 1, "bodies: [{name: b}], constraints: [{name: r, type: distance, a: b, at_b: [1, 0, 0]}]"},
    {"10 on rods", 10, 10,
     WORLDS_CHAIN "[{name: hook, type: distance, a: b1, at_b: [0, 0, 0]}, "
                  "{name: rod#, repeat: [2, copies], type: distance, a: b#, b: b#-1}]"},
    {"a ball joint", 1, 1, WORLDS_CHAIN WORLDS_JOINTS("ball") "]"},
    {"10 ball joints", 10, 10, WORLDS_CHAIN WORLDS_JOINTS("ball") "]"},
    {"1000 ball joints", 1000, 1000, WORLDS_CHAIN WORLDS_JOINTS("ball") "]"},
    {"10 hinges", 10, 10, WORLDS_CHAIN WORLDS_JOINTS("hinge") "]"},
    {"10 welds", 10, 10, WORLDS_CHAIN WORLDS_JOINTS("weld") "]"},
    {"10 ball joints, a loop", 10, 10,
     WORLDS_CHAIN WORLDS_JOINTS("ball") ", {name: last, type: distance, a: b10, at_b: [9, 5, 0]}]"},
    {"40 linkages side by side", 81, 40,
     "bodies: [{name: post#, repeat: [0, copies], inertia: 0.1, position: [0, 0, 0.5], step: {position: [1, 0, 0]}}, "
     "{name: beam#, repeat: copies, inertia: 0.1, position: [0.5, 0, 1], step: {position: [1, 0, 0]}}], constraints: ["
     "{name: foot#, repeat: [0, copies], type: hinge, axis: [0, 1, 0], a: post#, at_a: [0, 0, -0.5]}, "
     "{name: left#, repeat: copies, type: hinge, axis: [0, 1, 0], a: beam#, b: post#-1, at_a: [-0.5, 0, 0]}, "
     "{name: right#, repeat: copies, type: hinge, axis: [0, 1, 0], a: beam#, b: post#, at_a: [0.5, 0, 0]}]"},
    {"a hub with 30 arms", 31, 30,
     "bodies: [{name: hub}, {name: b#, repeat: copies, inertia: 0.1, position: [1, 0, 0], step: {position: [0, 1, 0]}}]"
     ", constraints: [{name: hook, type: ball, a: hub}, {name: arm#, repeat: copies, type: ball, a: b#, b: hub}]"},
};

static void worlds_must(Error error)
{
    if (error.kind == OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

// us a step and world; the least of ten slices
static double worlds_time(const WorldsCase *world, const char *solver, const char *isa, int64_t lanes)
{
    Arena arena;
    Spec spec;
    Backend *backend;
    double least = 1e300, seconds, before = 0.0;
    bool done;
    const int64_t steps = 1 + 50000 / world->bodies;
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = isa};
    worlds_must(arena_create(&arena, (size_t)1 << 30, "a world"));
    const char *text = arena_format(&arena,
                                    "version: 1\nexperiment: worlds\nmodel: rigid\nsimulation: {duration: 1000, dt: "
                                    "0.001, stabilisation: baumgarte, copies: %d, solver: %s, world: {%s}}\n",
                                    world->copies, solver, world->lists);
    worlds_must(spec_parse("worlds.yaml", text, NULL, 0, &arena, diagnostics_new(&arena), &spec));
    worlds_must(backend_open(&options, &backend));
    worlds_must(backend_prepare(backend, &spec.configured, lanes, 0, 1));
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = lanes;
    for (int p = 0; p < spec.configured.n_parameters; p++) {
        for (int64_t lane = 0; lane < lanes; lane++) batch->parameter[p * batch->stride + lane] = spec.fixed[p];
    }
    worlds_must(backend_begin(backend, 0));
    for (int slice = 0; slice < 10; slice++) {
        worlds_must(backend_advance(backend, 0, steps));
        worlds_must(backend_wait(backend, 0, &done, &seconds));
        if (seconds - before < least) least = seconds - before;
        before = seconds;
    }
    backend_close(backend);
    arena_destroy(&arena);
    return 1e6 * least / (double)(steps * lanes);
}

int main(void)
{
    static const int lengths[] = {1, 3, 10, 30, 100, 300, 1000};
    printf("us a link, step and world  one world  of 8 side by side\n");
    for (int i = 0; i < 7; i++) {
        const WorldsCase chain = {"a chain", lengths[i], lengths[i], WORLDS_CHAIN WORLDS_JOINTS("ball") "]"};
        printf("chain of %4d              %9.3f  %17.3f\n", lengths[i],
               worlds_time(&chain, "auto", "scalar", 1) / lengths[i],
               worlds_time(&chain, "auto", "auto", 8) / lengths[i]);
    }
    printf("us a step and world        one world: skyline   trees  of 8: skyline   trees\n");
    for (size_t i = 0; i < sizeof worlds_cases / sizeof worlds_cases[0]; i++) {
        const WorldsCase *world = &worlds_cases[i];
        printf("%-27s        %11.2f %7.2f        %7.2f %7.2f\n", world->what,
               worlds_time(world, "skyline", "scalar", 1), worlds_time(world, "trees", "scalar", 1),
               worlds_time(world, "skyline", "auto", 8), worlds_time(world, "trees", "auto", 8));
    }
    return 0;
}
