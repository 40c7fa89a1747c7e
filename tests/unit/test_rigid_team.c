// Worlds that the threads of an emulated GPU share (emulated_team.h): the bits of one thread, in any order of the
// threads.
#include "../../sim/rigid/rigid.h"
#include "emulated_rigid.h"
#include "rigid_case.h"

#include <stdio.h>
#include <string.h>

// Arms of two links on a hub, a ladder with coupled loops, a chain, a body on two hooks, and a free body; springs
// between them.
#define TEAM_WORLD                                                                                                     \
    "world: {bodies: [{name: hub, inertia: 0.3}, "                                                                     \
    "{name: near#, repeat: 9, inertia: [0.1, 0.2, 0.15], position: [1, 1, 0], step: {position: [0.1, 1, 0]}}, "        \
    "{name: far#, repeat: 9, mass: 2, position: [2, 1, 0.5], step: {position: [0, 1, 0.1]}, spin: [0.1, 0.2, 0]}, "    \
    "{name: post#, repeat: 5, inertia: 0.1, position: [20, 0, 0.5], step: {position: [1, 0, 0]}}, "                    \
    "{name: beam#, repeat: 4, inertia: 0.1, position: [20.5, 0, 1], step: {position: [1, 0, 0]}}, "                    \
    "{name: link#, repeat: 5, inertia: [0.2, 0.3, 0.25, 0.01, 0.02, 0.03], position: [30.5, 0, 2], "                   \
    "step: {position: [1, 0, 0]}}, {name: swing, position: [0, 40, 0]}, {name: free, position: [0, 50, 9], "           \
    "spin: [1, 2, 3]}], constraints: [{name: hook, type: ball, a: hub, at_a: [0, 0, 1]}, "                             \
    "{name: in#, repeat: 9, type: ball, a: near#, b: hub}, "                                                           \
    "{name: out#, repeat: 9, type: distance, a: far#, b: near#}, "                                                     \
    "{name: foot#, repeat: 5, type: hinge, axis: [0, 1, 0], a: post#, at_a: [0, 0, -0.5]}, "                           \
    "{name: left#, repeat: 4, type: ball, a: beam#, b: post#, at_a: [-0.5, 0, 0]}, "                                   \
    "{name: right_x#, repeat: [2, 5], type: along, axis: [1, 0, 0], a: beam#-1, b: post#, at_a: [0.5, 0, 0.1]}, "      \
    "{name: right_z#, repeat: [2, 5], type: along, axis: [0, 0, 1], a: beam#-1, b: post#, at_a: [0.5, 0, 0.1]}, "      \
    "{name: first, type: weld, a: link1}, "                                                                            \
    "{name: joint#, repeat: [2, 5], type: hinge, axis: [0, 0, 1], a: link#, b: link#-1, at_a: [-0.5, 0, 0]}, "         \
    "{name: f, type: ball, a: swing, at_a: [0, 0, 1]}, {name: g, type: distance, a: swing, at_a: [0.5, 0, 1]}], "      \
    "forces: [{name: pull, type: spring, a: far1, b: link5, stiffness: 9, damping: 1, length: 3}, "                    \
    "{name: shove#, repeat: 4, type: push, a: beam#, force: [9, 0, 4], torque: [0, 3, 0]}, "                           \
    "{name: push, type: push, a: far1, force: [1, 2, 3]}, {name: air, type: drag, a: link5, area: 0.3}, "              \
    "{name: tie, type: tether, a: free, b: swing, stiffness: 50, length: 2}]}"

// Runs the world of `run` in a block of `threads` threads, in two slices. Returns its memory.
static const double *team_run(RigidRun *run, int threads, bool backwards, Batch *batch)
{
    const Configured *configured = &run->spec.configured;
    RigidConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    *batch = (Batch){.lanes = 1,
                     .stride = 1,
                     .parameter = run->batch->parameter,
                     .work = ARENA_NEW(&run->arena, double, c.cells),
                     .metric = ARENA_NEW(&run->arena, double, configured->n_metrics),
                     .status = ARENA_NEW(&run->arena, int32_t, 1)};
    LaneGroup group = {.batch = *batch, .valid = 1, .team = {.thread_blocks = 1}, .ticks = configured->ticks / 2};
    emulated_rigid(configured, &group, threads, backwards);
    group.tick = group.ticks;
    group.ticks = configured->ticks - group.tick;
    emulated_rigid(configured, &group, threads, backwards);
    return batch->work;
}

// Compares with the memory of one thread's run, and with the metrics of `run`.
static void team_check(RigidRun *run, int threads, bool backwards, const char *options)
{
    const size_t mark = run->arena.used;
    RigidConstants c;
    Batch batch;
    memcpy(&c, &run->spec.configured.constants, sizeof c);
    const double *alone = team_run(run, 1, false, &batch), *together = team_run(run, threads, backwards, &batch);
    int different = 0;
    for (int k = 0; k < c.kept; k++) different += memcmp(&alone[k], &together[k], sizeof(double)) != 0;
    CHECK_INTEGER(0, different);
    CHECK_INTEGER(run->batch->status[0], batch.status[0]);
    for (int m = 0; m < run->spec.configured.n_metrics; m++) CHECK_BITS(run->batch->metric[m], batch.metric[m]);
    if (different > 0) printf("%d threads%s: %s\n", threads, backwards ? ", backwards" : "", options);
    arena_rewind(&run->arena, mark);
}

TEST(rigid_worlds_have_the_same_bits_from_a_team)
{
    static const char *const options[] = {"solver: auto",
                                          "solver: trees",
                                          "solver: skyline, stabilisation: soft",
                                          "solver: trees, stabilisation: soft, rotation: cayley, refine: 2",
                                          "solver: auto, stabilisation: rattle",
                                          "solver: trees, stabilisation: rattle, order: four, iterations: 3",
                                          "solver: auto, stabilisation: rattle, order: six, refine: 0",
                                          "solver: trees, redundant: regularise, cfm: 1e-6"};
#ifdef __SANITIZE_THREAD__
    test_skip("a build without the thread sanitizer", "make test");
    return;
#endif
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k += test_quick() ? 3 : 1) {
        RigidRun run;
        char simulation[4096];
        snprintf(simulation, sizeof simulation, "{duration: 0.02, dt: 0.01, %s, " TEAM_WORLD "}", options[k]);
        rigid_run(&run, simulation, "");
        team_check(&run, 32, false, options[k]);
        team_check(&run, k % 2 == 0 ? 32 : 64, true, options[k]);
        rigid_end(&run);
    }
}

// Rows that share a load, and steps that are repeated.
TEST(rigid_worlds_with_redundant_rows_have_the_same_bits_from_a_team)
{
    static const char *const options[] = {"solver: auto, stabilisation: rattle, order: four, dt: 0.005",
                                          "solver: trees, stabilisation: rattle, order: four, dt: 0.005",
                                          "solver: auto, stabilisation: rattle, dt: 0.003",
                                          "solver: trees, refine: 0, dt: 0.005", "solver: skyline, dt: 0.005"};
#ifdef __SANITIZE_THREAD__
    test_skip("a build without the thread sanitizer", "make test");
    return;
#endif
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k += test_quick() ? 3 : 1) {
        RigidRun run;
        char simulation[4096];
        snprintf(simulation, sizeof simulation, "{duration: 0.015, %s, world: {" RIGID_REDUNDANT "}}", options[k]);
        rigid_run(&run, simulation, "");
        CHECK_INTEGER(LANE_DONE, run.batch->status[0]);
        CHECK(rigid_metric(&run, "redundant_rows", 0) >= 13.0); // 10 rows of the door, 3 of the hinges
        if (k < 3) CHECK(rigid_metric(&run, "refined_steps", 0) >= 1.0);
        team_check(&run, 32, false, options[k]);
        team_check(&run, k % 2 == 0 ? 32 : 64, true, options[k]);
        rigid_end(&run);
    }
}
