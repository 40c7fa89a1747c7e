// Worlds of many bodies: which bodies have inputs, results and columns; the columns of a sample.
#include "../../sim/rigid/rigid.h"
#include "rigid_case.h"

#include <string.h>

// A chain of `copies` links that starts to fall.
#define BODIES_CHAIN(copies)                                                                                           \
    "{dt: 0.001, duration: 0.004, stabilisation: rattle, copies: " copies ", world: {bodies: [{name: link#, repeat: "  \
    "copies, inertia: 0.1, position: [0.5, 0, 0], step: {position: [1]}}], constraints: [{name: hook, type: ball, a: " \
    "link1, at_a: [-0.5, 0, 0]}, {name: joint#, repeat: [2, copies], type: ball, a: link#, b: link#-1, at_a: [-0.5, "  \
    "0, 0]}]}}"

static int bodies_find(const Field *fields, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) == 0) return i;
    }
    return -1;
}

static int bodies_parameter(const Configured *configured, const char *name)
{
    for (int i = 0; i < configured->n_parameters; i++) {
        if (strcmp(configured->parameters[i].name, name) == 0) return i;
    }
    return -1;
}

TEST(rigid_bodies_have_tables_by_themselves_or_by_name)
{
    static const struct {
        const char *simulation, *rest;
        int named, recorded;
    } cases[] = {
        {BODIES_CHAIN("17"), "", 17, 17},
        {BODIES_CHAIN("64"), "", 64, 64},
        {BODIES_CHAIN("65"), "", 64, 64},
        {BODIES_CHAIN("300"), "objective: {minimize: link300_end_x}", 65, 64},
        {BODIES_CHAIN("300"), "initial: {link70_vx: 1, link71_z: 2}\nconstraints: [\"link70_mass < 2\"]", 66, 64},
        {BODIES_CHAIN("300"), "record: {bodies: [link300, \"link1#\"]}", 64, 111},
        {BODIES_CHAIN("300"), "record: {bodies: all}", 64, 300},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RigidRun run;
        rigid_start(&run, cases[i].simulation, cases[i].rest, 1, "auto");
        const Configured *configured = &run.spec.configured;
        CHECK_INTEGER(RIGID_N_PARAMETERS + RIGID_INPUTS * cases[i].named, configured->n_parameters);
        CHECK_INTEGER(RIGID_N_METRICS + 3 * cases[i].named, configured->n_metrics);
        CHECK_INTEGER(1 + RIGID_STATE * cases[i].recorded, configured->n_columns);
        CHECK_INTEGER(4 * cases[i].recorded, configured->n_panels);
        rigid_end(&run);
    }
}

// The results that are asked of a body change no number of the others. Its own are the same with and without the
// others.
TEST(rigid_bodies_chosen_by_name_have_the_same_numbers)
{
    RigidRun some, all;
    Configured configured;
    rigid_start(&some, BODIES_CHAIN("80"), "objective: {minimize: link80_end_z}\ninitial: {link80_vy: 1}", 1, "auto");
    rigid_start(&all, BODIES_CHAIN("80"),
                "objective: {minimize: \"link70_end_z + link80_end_z\"}\n"
                "initial: {link80_vy: 1}\nrecord: {bodies: [link3]}",
                1, "auto");
    rigid_go(&some, 2);
    rigid_go(&all, 100);
    CHECK_INTEGER(RIGID_N_METRICS + 3 * 65, some.spec.configured.n_metrics);
    CHECK_INTEGER(RIGID_N_METRICS + 3 * 66, all.spec.configured.n_metrics);
    for (int m = 0; m < some.spec.configured.n_metrics; m++) {
        const char *name = some.spec.configured.metrics[m].name;
        CHECK_BITS(rigid_metric(&some, name, 0), rigid_metric(&all, name, 0));
    }
    CHECK(rigid_metric(&some, "link80_end_y", 0) > 1e-3);
    CHECK_OK(spec_choose_all(&some.spec, &some.arena, &configured));
    CHECK_INTEGER(some.spec.configured.n_metrics, configured.n_metrics);
    CHECK_INTEGER(some.spec.configured.n_parameters, configured.n_parameters);
    CHECK_INTEGER(1 + RIGID_STATE * 80, configured.n_columns);
    rigid_end(&some);
    rigid_end(&all);
}

// Samples hold each body's state, on every instruction set.
TEST(rigid_bodies_in_samples)
{
    enum { SAMPLES = 5, LANES = 3 };
    RigidRun run, other;
    rigid_start_observed(&run, BODIES_CHAIN("40"), LANES, "auto", SAMPLES, 64);
    rigid_start_observed(&other, BODIES_CHAIN("40"), LANES, "scalar", SAMPLES, 64);
    const Configured *configured = &run.spec.configured;
    const int x = bodies_find(configured->columns, configured->n_columns, "link40_x");
    const int wx = bodies_find(configured->columns, configured->n_columns, "link40_wx");
    CHECK(bodies_parameter(configured, "link40_wx") > 0);
    for (int lane = 0; lane < LANES; lane++) {
        rigid_set(&run, "link40_wx", lane, lane);
        rigid_set(&other, "link40_wx", lane, lane);
    }
    rigid_go(&run, 100);
    rigid_go(&other, 1);
    CHECK_INTEGER(1 + RIGID_STATE * 39, x);
    for (int lane = 0; lane < LANES; lane++) {
        CHECK_INTEGER(SAMPLES, run.batch->trace.count[lane]);
        CHECK_BITS(39.5, rigid_sample(&run, lane, 0)[x]);
        CHECK_BITS((double)lane, rigid_sample(&run, lane, 0)[wx]);
        CHECK_BITS(rigid_metric(&run, "link40_end_x", lane), rigid_sample(&run, lane, SAMPLES - 1)[x]);
        CHECK(memcmp(rigid_sample(&run, lane, 0), rigid_sample(&other, lane, 0),
                     sizeof(double) * SAMPLES * (size_t)configured->n_columns) == 0);
    }
    rigid_end(&run);
    rigid_end(&other);
}

// Samples hold only the ticks of the window, and the last tick.
TEST(rigid_bodies_in_a_window_of_samples)
{
    RigidRun whole, part;
    rigid_start_observed(&whole, BODIES_CHAIN("2"), 1, "auto", 6, 64);
    rigid_start_observed(&part, BODIES_CHAIN("2"), 1, "auto", 3, 64);
    part.batch->trace.first = 1;
    part.batch->trace.end = 3;
    rigid_go(&whole, 100);
    rigid_go(&part, 100);
    CHECK_INTEGER(5, whole.batch->trace.count[0]);
    CHECK_INTEGER(3, part.batch->trace.count[0]);
    for (int k = 0; k < 3; k++) CHECK_BITS(rigid_sample(&whole, 0, k < 2 ? k + 1 : 4)[3], rigid_sample(&part, 0, k)[3]);
    rigid_end(&whole);
    rigid_end(&part);
}
