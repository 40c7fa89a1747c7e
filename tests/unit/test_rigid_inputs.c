// Inputs of rigid worlds: closed forms, momentum, the order of each method and of the work that is counted, the same
// bits from threads that share a world, and from those of a GPU.
#include "../../sim/rigid/rigid.h"
#include "emulated_rigid.h"
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// One lane, with each number of `rest` behind the world.
static void inputs_run(RigidRun *run, const char *settings, const char *world, const char *control)
{
    char simulation[4096];
    snprintf(simulation, sizeof simulation, "{%s, world: {%s}, control: {%s}}", settings, world, control);
    rigid_run(run, simulation, "");
    CHECK_INTEGER(LANE_DONE, run->batch->status[0]);
}

// ---- closed forms ---------------------------------------------------------------------------------------------------

// A torque about a principal axis, held: w = u t/I, half a turn of u t^2/2I. It stays within its range.
TEST(rigid_input_turns_a_free_body)
{
    static const char world[] =
        "bodies: [{name: top, inertia: [1, 2, 4], gravity: false}], forces: [{name: turn, type: "
        "input, a: top, torque: [0, 0, 7], axes: top, range: [-3, 2]}]";
    static const double asked[] = {1.5, 9.0, -9.0}, given[] = {1.5, 2.0, -3.0};
    for (int k = 0; k < 3; k++) {
        char control[100];
        RigidRun run;
        snprintf(control, sizeof control, "mode: law, period: 0.02, law: {effort: {turn: %g}}", asked[k]);
        inputs_run(&run, "stabilisation: rattle, duration: 1", world, control);
        CHECK_NEAR(given[k] * given[k] / 8.0, rigid_metric(&run, "input_work", 0), 1e-13);
        CHECK_NEAR(given[k] * given[k] / 8.0, rigid_metric(&run, "energy_end", 0), 1e-13);
        CHECK_NEAR(0.0, rigid_metric(&run, "energy_error", 0), 1e-13);
        rigid_end(&run);
    }
}

// A force in world axes at a point off the centre moves the centre as a force at it; in axes of a body that is fixed
// and turned by 90 degrees about x, along y.
TEST(rigid_input_pushes_along_the_axes_of_any_body)
{
    RigidRun run;
    inputs_run(&run, "stabilisation: rattle, duration: 1",
               "bodies: [{name: box, mass: 2, gravity: false, inertia: [1, 2, 3]}, {name: frame, fixed: true, "
               "orientation: [0.7071067811865476, 0, 0, 0.7071067811865476]}], forces: [{name: up, type: input, a: "
               "box, at_a: [1, 0, 0], force: [0, 0, 5]}, {name: along, type: input, a: box, force: [0, 0, 1], axes: "
               "frame}]",
               "mode: external, period: 0.5, actions: [4, 0, 0, 8]");
    CHECK_NEAR(0.75, rigid_metric(&run, "box_end_z", 0), 1e-13); // 2 m/s^2 for half a second: 1/4 + 1/2
    CHECK_NEAR(-0.5, rigid_metric(&run, "box_end_y", 0), 1e-13); // then 4 m/s^2
    rigid_end(&run);
}

// ---- momentum -------------------------------------------------------------------------------------------------------

enum { INPUTS_BODIES = 3 };

// p, and L about the origin, of a sample; all bodies have these numbers
static void inputs_momentum(const double *sample, double *momentum)
{
    static const double mass[INPUTS_BODIES] = {1.0, 2.0, 0.5};
    static const double inertia[INPUTS_BODIES][3] = {{0.3, 0.2, 0.1}, {0.2, 0.5, 0.4}, {0.1, 0.15, 0.05}};
    memset(momentum, 0, 6 * sizeof *momentum);
    for (int b = 0; b < INPUTS_BODIES; b++) {
        const double *p = sample + 1 + 13 * b, *q = p + 3, *v = p + 7, *w = p + 10;
        const double R[3][3] = {
            {1 - 2 * (q[1] * q[1] + q[2] * q[2]), 2 * (q[0] * q[1] - q[3] * q[2]), 2 * (q[0] * q[2] + q[3] * q[1])},
            {2 * (q[0] * q[1] + q[3] * q[2]), 1 - 2 * (q[0] * q[0] + q[2] * q[2]), 2 * (q[1] * q[2] - q[3] * q[0])},
            {2 * (q[0] * q[2] - q[3] * q[1]), 2 * (q[1] * q[2] + q[3] * q[0]), 1 - 2 * (q[0] * q[0] + q[1] * q[1])}};
        for (int c = 0; c < 3; c++) {
            double own = 0.0, spin = 0.0;
            for (int r = 0; r < 3; r++) spin += R[r][c] * w[r];
            for (int r = 0; r < 3; r++) momentum[3 + r] += R[r][c] * inertia[b][c] * spin;
            own = mass[b] * v[c];
            momentum[c] += own;
        }
        for (int c = 0; c < 3; c++) {
            const int d = (c + 1) % 3, e = (c + 2) % 3;
            momentum[3 + c] += mass[b] * (p[d] * v[e] - p[e] * v[d]);
        }
    }
}

// Motors in hinges, and a torque between bodies that nothing joins, keep both momenta, whatever the form.
TEST(rigid_inputs_within_a_world_keep_its_momentum)
{
    static const char *const forms[] = {"stabilisation: rattle", "stabilisation: rattle, order: four, solver: trees",
                                        "stabilisation: rattle, order: six"};
    for (int k = 0; k < 3; k++) {
        RigidRun run;
        char simulation[4096];
        double first[6], momentum[6];
        snprintf(simulation, sizeof simulation,
                 "{%s, duration: 2, dt: 0.01, world: {bodies: [{name: a, gravity: false, inertia: [0.3, 0.2, 0.1], "
                 "velocity: [1, 0, 0]}, {name: b, mass: 2, gravity: false, inertia: [0.2, 0.5, 0.4], position: [1, 0, "
                 "0], velocity: [1, 0, 0]}, {name: c, mass: 0.5, gravity: false, inertia: [0.1, 0.15, 0.05], position: "
                 "[0, 3, 0], spin: [1, 2, 0]}], constraints: [{name: hinge, type: hinge, a: b, b: a, at_a: [-0.5, 0.1, "
                 "0], axis: [1, 1, 0]}], forces: [{name: motor, type: input, a: a, hinge: hinge}, {name: far, type: "
                 "input, a: c, b: b, torque: [1, 0, 1], axes: a}]}, control: {mode: law, period: 0.02, law: {effort: "
                 "{motor: 2*sin(9*time), far: cos(5*time)}}}}",
                 forms[k]);
        rigid_start_observed(&run, simulation, 1, "auto", 201, 1);
        rigid_go(&run, INT64_MAX / 2);
        CHECK_INTEGER(LANE_DONE, run.batch->status[0]);
        inputs_momentum(rigid_sample(&run, 0, 0), first);
        CHECK(rigid_metric(&run, "input_work", 0) > 0.1);
        for (int i = 1; i <= 200; i++) {
            inputs_momentum(rigid_sample(&run, 0, i), momentum);
            for (int c = 0; c < 6; c++) CHECK_NEAR(first[c], momentum[c], 2e-12);
        }
        rigid_end(&run);
    }
}

// ---- orders ---------------------------------------------------------------------------------------------------------

// A body that spins in all directions under a thrust in its own axes, a weight, and a drag; sines of time are held
// for 0.1 s.
#define INPUTS_ROCKET                                                                                                  \
    "bodies: [{name: hull, mass: 2, inertia: [0.5, 0.8, 1.1], spin: [0.5, -1, 3]}], forces: [{name: main, type: "      \
    "input, a: hull, at_a: [0.1, 0, -0.4], force: [0.1, 0.2, 1], axes: hull}, {name: roll, type: input, a: hull, "     \
    "torque: [1, 0, 1]}%s]"
static void inputs_rocket(const char *form, int steps, bool drag, double *out)
{
    RigidRun run;
    char settings[200], world[1000];
    snprintf(settings, sizeof settings, "%s, duration: 2, dt: %.17g", form, 0.1 / steps);
    snprintf(world, sizeof world, INPUTS_ROCKET, drag ? ", {name: air, type: drag, a: hull, linear: 0.5}" : "");
    inputs_run(&run, settings, world,
               "mode: law, period: 0.1, law: {effort: {main: 20 + 9*sin(5*time), roll: cos(3*time) - 0.2*hull_wz}}");
    static const char *const names[] = {"hull_end_x", "hull_end_y", "hull_end_z", "input_work", "energy_error"};
    for (int k = 0; k < 5; k++) out[k] = rigid_metric(&run, names[k], 0);
    rigid_end(&run);
}

// With half the step the error falls by 2^order: of the position, of the work that is counted, and of the energy that
// it leaves.
TEST(rigid_inputs_keep_the_order)
{
    static const struct {
        const char *form;
        int order, steps;
        bool drag;
    } cases[] = {{"stabilisation: rattle", 2, 8, false},
                 {"stabilisation: rattle", 2, 8, true},
                 {"stabilisation: rattle, order: four", 4, 4, false},
                 {"stabilisation: rattle, order: four", 4, 4, true},
                 {"stabilisation: rattle, order: six", 6, 2, false},
                 {"stabilisation: baumgarte", 1, 32, false},
                 {"stabilisation: soft, rotation: cayley", 1, 32, false}};
    double exact[2][5];
    for (int drag = 0; drag < 2; drag++) inputs_rocket("stabilisation: rattle, order: six", 32, drag != 0, exact[drag]);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double wide[5], fine[5], error[2][2] = {{0, 0}, {0, 0}};
        const double *right = exact[cases[k].drag ? 1 : 0];
        inputs_rocket(cases[k].form, cases[k].steps, cases[k].drag, wide);
        inputs_rocket(cases[k].form, 2 * cases[k].steps, cases[k].drag, fine);
        for (int c = 0; c < 4; c++) {
            error[0][c == 3] += fabs(wide[c] - right[c]);
            error[1][c == 3] += fabs(fine[c] - right[c]);
        }
        for (int c = 0; c < 2; c++) {
            CHECK(error[1][c] > 1e-11); // more than rounding
            CHECK_NEAR(cases[k].order, log2(error[0][c] / error[1][c]), 0.35);
        }
        if (!cases[k].drag) CHECK_NEAR(cases[k].order, log2(wide[4] / fine[4]), 0.5);
    }
}

// A motor turns a linkage of equal bars through its flat poses, where steps are made of shorter ones: its work is no
// jump of the energy.
TEST(rigid_input_turns_a_linkage_through_its_flat_poses)
{
    RigidRun run;
    inputs_run(&run, "stabilisation: rattle, order: four, duration: 2, dt: 0.005",
               "bodies: [{name: post#, repeat: 2, inertia: 0.1, position: [0, 0, 0.5], step: {position: [1, 0, 0]}}, "
               "{name: beam, inertia: 0.1, position: [0.5, 0, 1]}], constraints: [{name: foot#, repeat: 2, type: "
               "hinge, axis: [0, 1, 0], a: post#, at_a: [0, 0, -0.5]}, {name: left, type: hinge, axis: [0, 1, 0], a: "
               "beam, b: post1, at_a: [-0.5, 0, 0]}, {name: right, type: hinge, axis: [0, 1, 0], a: beam, b: post2, "
               "at_a: [0.5, 0, 0]}], forces: [{name: crank, type: input, a: post1, hinge: foot1, range: [-60, 60]}]",
               "mode: law, period: 0.01, law: {effort: {crank: '20*(3*time - 2*atan2(post1_qy, post1_qw)) + 20*(3 - "
               "post1_wy)'}}");
    CHECK_TEXT("none", run.spec.configured.failures[run.batch->status[0] - LANE_DONE]);
    CHECK(rigid_metric(&run, "refined_steps", 0) >= 1.0);
    CHECK(rigid_metric(&run, "input_work", 0) > 1.0);
    CHECK_NEAR(0.0, rigid_metric(&run, "energy_error", 0), 1e-5);
    rigid_end(&run);
}

// ---- bits -----------------------------------------------------------------------------------------------------------

// Islands that motors, torques and a thrust in another body's axes join; a law with held numbers, noise and modes.
#define INPUTS_WORLD                                                                                                   \
    "bodies: [{name: link#, repeat: 12, inertia: [0.2, 0.3, 0.25], position: [0.5, 0, 2], step: {position: [1, 0, "    \
    "0]}, spin: [0, 0, 0.1]}, {name: free, position: [0, 9, 0], spin: [1, 2, 3]}], constraints: [{name: "              \
    "joint#, repeat: [2, 6], type: hinge, axis: [0, 1, 0], a: link#, b: link#-1, at_a: [-0.5, 0, 0]}, {name: "         \
    "more#, repeat: [8, 12], type: hinge, axis: [0, 1, 0], a: link#, b: link#-1, at_a: [-0.5, 0, 0]}, {name: hook, "   \
    "type: ball, a: link1, at_a: [-0.5, 0, 0]}], forces: [{name: m#, repeat: [2, 6], type: input, a: link#, hinge: "   \
    "joint#, range: [-4, 4]}, {name: w, type: input, a: link9, hinge: more9}, {name: far, type: input, a: free, b: "   \
    "link12, torque: [0, 1, 1], axes: link3}, {name: jet, type: input, a: link12, at_a: [0.5, 0, 0], force: [0, 0, "   \
    "1], axes: free}, {name: air, type: drag, a: link11, area: 0.3}]"
#define INPUTS_LAW                                                                                                     \
    "mode: law, period: 0.02, law: {sensors: {link3_wy: {noise: 0.1, delay: 1}}, held: {sum: 0}, every_period: {sum: " \
    "0.9*sum + link2_wy}, effort: {m#: '-3*(link#_wy - link1_wy) + sum - link3_wy', w: sin(7*time), far: free_wy - "   \
    "sum}, modes: {push: {effort: {jet: 9}, events: [{rises: link12_z - 2.2, to: rest}]}, rest: {effort: {jet: -3}, "  \
    "events: [{falls: link12_z - 2, to: push}]}}}"

static const char *const inputs_forms[] = {"stabilisation: rattle", "stabilisation: baumgarte, solver: trees",
                                           "stabilisation: rattle, order: four, solver: trees",
                                           "stabilisation: soft, rotation: cayley",
                                           "stabilisation: rattle, order: six, refine: 0"};
enum { INPUTS_FORMS = sizeof inputs_forms / sizeof *inputs_forms };

static void inputs_start(RigidRun *run, const char *form, const char *duration, const char *executor, int64_t lanes,
                         const char *isa)
{
    char simulation[4096];
    snprintf(simulation, sizeof simulation,
             "{%s, duration: %s, dt: 0.01, executor: %s, world: {" INPUTS_WORLD "}, control: {" INPUTS_LAW "}}", form,
             duration, executor);
    rigid_start(run, simulation, "", lanes, isa);
    for (int64_t lane = 0; lane < lanes; lane++) rigid_set(run, "link2_wx", lane, 0.01 * (double)lane);
}

// Instruction sets, slices, batches, and a world that threads share.
TEST(rigid_inputs_have_the_same_bits_in_slices_and_batches)
{
    static const struct {
        const char *isa, *executor;
        int64_t lanes, slice;
    } ways[] = {{"scalar", "sequential", 7, 1}, {ISA_V2, "sequential", 7, 3},  {"auto", "sequential", 100, 1000},
                {"auto", "levels", 7, 7},       {"scalar", "levels", 1, 1000}, {"auto", "sequential", 1, 5}};
    const char *duration = test_quick() ? "0.08" : "0.2";
    for (int k = 0; k < INPUTS_FORMS; k += test_quick() ? 2 : 1) {
        RigidRun right;
        inputs_start(&right, inputs_forms[k], duration, "sequential", 9, "auto");
        rigid_go(&right, 1000);
        CHECK_INTEGER(LANE_DONE, right.batch->status[0]);
        CHECK(fabs(rigid_metric(&right, "input_work", 0)) > 0.01);
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            RigidRun run;
            inputs_start(&run, inputs_forms[k], duration, ways[way].executor, ways[way].lanes, ways[way].isa);
            rigid_go(&run, ways[way].slice);
            const int64_t lanes = ways[way].lanes < 9 ? ways[way].lanes : 9;
            for (int m = 0; m < run.spec.configured.n_metrics; m++)
                for (int64_t lane = 0; lane < lanes; lane++)
                    CHECK_BITS(right.batch->metric[m * right.batch->stride + lane],
                               run.batch->metric[m * run.batch->stride + lane]);
            rigid_end(&run);
        }
        rigid_end(&right);
    }
}

static void inputs_team(const RigidRun *run, int threads, bool backwards, Arena *arena)
{
    const Configured *configured = &run->spec.configured;
    Batch batch = {.lanes = 1,
                   .stride = 1,
                   .parameter = run->batch->parameter,
                   .work = ARENA_NEW(arena, double, configured->n_work),
                   .metric = ARENA_NEW(arena, double, configured->n_metrics),
                   .status = ARENA_NEW(arena, int32_t, 1),
                   .law = *configured->law};
    batch.law.of.cell = ARENA_NEW(arena, double, configured->law->of.cells);
    batch.law.of.cell_apart = 1;
    LaneGroup group = {.batch = batch, .valid = 1, .team = {.thread_blocks = 1}, .ticks = configured->ticks / 2};
    emulated_rigid(configured, &group, threads, backwards);
    group.tick = group.ticks;
    group.ticks = configured->ticks - group.tick;
    emulated_rigid(configured, &group, threads, backwards);
    CHECK_INTEGER(LANE_DONE, batch.status[0]);
    for (int m = 0; m < configured->n_metrics; m++) CHECK_BITS(run->batch->metric[m], batch.metric[m]);
}

TEST(rigid_inputs_have_the_same_bits_from_a_team)
{
#ifdef __SANITIZE_THREAD__
    test_skip("a build without the thread sanitizer", "make test");
    return;
#endif
    for (int k = 0; k < INPUTS_FORMS; k += test_quick() ? 4 : 1) {
        RigidRun run;
        inputs_start(&run, inputs_forms[k], "0.04", "sequential", 1, "auto");
        rigid_go(&run, 1000);
        inputs_team(&run, 1, false, &run.arena);
        inputs_team(&run, k % 4 == 0 ? 32 : 64, k > 0, &run.arena);
        rigid_end(&run);
    }
}
