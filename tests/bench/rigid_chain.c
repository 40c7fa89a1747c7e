// What a step of a chain costs, by its length: rods on ball joints, form baumgarte, one pass of refinement. Linear in
// the number of rods: the tree's elimination has no fill-in. Alone, without vectors, and eight worlds side by side.
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const chain_text =
    "version: 1\nexperiment: chain\nmodel: rigid\nsimulation:\n  duration: 1000\n  dt: 0.001\n  copies: %d\n  world:\n"
    "    bodies: [{name: rod#, repeat: copies, inertia: [0.001, 0.0834, 0.0834],\n"
    "              position: [0.5, 0, 0], step: {position: [1, 0, 0]}}]\n"
    "    constraints: [{name: hook, type: ball, a: rod1, at_a: [-0.5, 0, 0]},\n"
    "                  {name: joint#, repeat: [2, copies], type: ball, a: rod#, b: rod#-1, at_a: [-0.5, 0, 0]}]\n";

static void chain_must(Error error)
{
    if (error.kind == OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

// us a rod, step and world; the least of five slices
static double chain_time(int rods, const char *isa, int64_t worlds)
{
    Arena arena;
    Spec spec;
    Backend *backend;
    double least = 1e300, seconds, before = 0.0;
    bool done;
    const int64_t steps = 100000 / rods;
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = isa};
    chain_must(arena_create(&arena, (size_t)1 << 30, "a chain"));
    chain_must(spec_parse("chain.yaml", arena_format(&arena, chain_text, rods), NULL, 0, &arena,
                          diagnostics_new(&arena), &spec));
    chain_must(backend_open(&options, &backend));
    chain_must(backend_prepare(backend, &spec.configured, worlds, 0, 1));
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = worlds;
    for (int p = 0; p < spec.configured.n_parameters; p++) {
        for (int64_t lane = 0; lane < worlds; lane++) batch->parameter[p * batch->stride + lane] = spec.fixed[p];
    }
    chain_must(backend_begin(backend, 0));
    for (int slice = 0; slice < 5; slice++) {
        chain_must(backend_advance(backend, 0, steps));
        chain_must(backend_wait(backend, 0, &done, &seconds));
        if (seconds - before < least) least = seconds - before;
        before = seconds;
    }
    backend_close(backend);
    arena_destroy(&arena);
    return 1e6 * least / (double)(steps * rods * worlds);
}

int main(void)
{
    static const int lengths[] = {1, 3, 10, 30, 100, 300, 1000};
    printf("rods  us a rod and step, one world  us, of 8 worlds side by side\n");
    for (int i = 0; i < 7; i++)
        printf("%4d  %29.3f  %28.3f\n", lengths[i], chain_time(lengths[i], "scalar", 1),
               chain_time(lengths[i], "auto", 8));
    return 0;
}
