// Forms of stabilisation one step at a time, forms and steps that are searched, and what is said of gains before they
// run.
#include "rigid_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A ball of 1 kg hangs 1 mm too low on a rod of 1 m.
#define FORMS_HANGING                                                                                                  \
    "world: {bodies: [{name: ball, position: [0, 0, -1.001], velocity: [0, 0, 0.2]}], constraints: [{name: rod, "      \
    "type: distance, a: ball, at_b: [0, 0, 0], length: 1}]}"

// J v+ = -(gamma/dt) C, with J = d
TEST(rigid_form_velocity_takes_back_gamma_of_the_error)
{
    RigidRun run;
    rigid_run(&run, "{stabilisation: velocity, duration: 0.01, " FORMS_HANGING "}", "parameters: {gamma: 0.3}");
    const double C = (1.001 * 1.001 - 1.0) / 2.0;
    CHECK_NEAR(-1.001 + 0.3 * C / 1.001, rigid_metric(&run, "ball_end_z", 0), 1e-14);
    rigid_end(&run);
}

// Catto's soft constraint, of a first impulse: -a2 a3 (J v + w/a1 C), C = |d| - L and upwards here
TEST(rigid_form_soft_is_a_damped_spring)
{
    RigidRun run;
    rigid_run(&run, "{stabilisation: soft, duration: 0.01, " FORMS_HANGING "}",
              "parameters: {frequency: 4, damping_ratio: 0.7}");
    const double h = 0.01, w = 2.0 * M_PI * 4.0, a1 = 2.0 * 0.7 + w * h, a2 = w * h * a1, a3 = 1.0 / (1.0 + a2);
    const double v = 0.2 - 9.81 * h;
    CHECK_NEAR(-1.001 + h * (v - a2 * a3 * (v - w / a1 * 0.001)), rigid_metric(&run, "ball_end_z", 0), 1e-14);
    rigid_end(&run);
}

static const char *const forms_names[] = {"baumgarte", "original", "original_with_bias", "velocity", "soft"};

// Every form as a parameter has the bits that it has as an option, beside the others.
TEST(rigid_searched_forms_are_the_forms)
{
    RigidRun searched;
    rigid_start(&searched, "{stabilisation: searched}", "parameters: {alpha: 20, beta: 30}", 5, "auto");
    for (int f = 0; f < 5; f++) rigid_set(&searched, "form", f, f);
    rigid_go(&searched, 1000);
    for (int f = 0; f < 5; f++) {
        RigidRun run;
        char simulation[100];
        snprintf(simulation, sizeof simulation, "{stabilisation: %s}", forms_names[f]);
        rigid_run(&run, simulation, "parameters: {alpha: 20, beta: 30}");
        CHECK_BITS(rigid_metric(&run, "payload_end_x", 0), rigid_metric(&searched, "payload_end_x", f));
        CHECK_BITS(rigid_metric(&run, "error_rms", 0), rigid_metric(&searched, "error_rms", f));
        rigid_end(&run);
    }
    rigid_end(&searched);
}

// Steps of a quarter of dt have the bits of that dt, beside lanes with other steps.
TEST(rigid_substeps_are_smaller_steps)
{
    static const char *const kinds[] = {"stabilisation: baumgarte", "stabilisation: rattle"};
    for (int k = 0; k < 2; k++) {
        RigidRun fine, whole;
        char simulation[100];
        snprintf(simulation, sizeof simulation, "{%s, dt: 0.0025}", kinds[k]);
        rigid_run(&fine, simulation, "");
        snprintf(simulation, sizeof simulation, "{%s, dt: 0.01}", kinds[k]);
        rigid_start(&whole, simulation, "", 3, "auto");
        rigid_set(&whole, "substeps", 0, 4.0);
        rigid_set(&whole, "substeps", 2, 7.0);
        rigid_go(&whole, 3);
        CHECK_BITS(rigid_metric(&fine, "payload_end_x", 0), rigid_metric(&whole, "payload_end_x", 0));
        CHECK_BITS(rigid_metric(&fine, "error_rms", 0), rigid_metric(&whole, "error_rms", 0));
        CHECK_BITS(rigid_metric(&fine, "energy_error", 0), rigid_metric(&whole, "energy_error", 0));
        rigid_end(&fine);
        rigid_run(&fine, simulation, "");
        CHECK_BITS(rigid_metric(&fine, "payload_end_x", 0), rigid_metric(&whole, "payload_end_x", 1));
        rigid_end(&fine);
        rigid_end(&whole);
    }
}

// ---- redundant rows -------------------------------------------------------------------------------------------------

// A bar on two ball joints of one axis: one of their six rows follows from the others.
#define FORMS_BAR                                                                                                      \
    "duration: 1, world: {bodies: [{name: bar, inertia: [0.01, 0.2, 0.2], position: [0.5, 0, 0]}], constraints: "      \
    "[{name: left, type: ball, a: bar, at_a: [-0.5, -0.3, 0]}, {name: right, type: ball, a: bar, at_a: [-0.5, 0.3, "   \
    "0]}]}"

TEST(rigid_redundant_rows_are_dropped_refused_or_shared)
{
    static const char *const how[] = {"drop", "error", "regularise"};
    double x[3];
    for (int i = 0; i < 3; i++) {
        RigidRun run;
        char simulation[1000];
        snprintf(simulation, sizeof simulation, "{redundant: %s, " FORMS_BAR "}", how[i]);
        rigid_run(&run, simulation, "parameters: {alpha: 20, beta: 20}");
        CHECK_INTEGER(i == 2 ? 0 : 1, (int64_t)rigid_metric(&run, "redundant_rows", 0));
        CHECK_INTEGER(i == 1 ? LANE_DONE + 2 : LANE_DONE, run.batch->status[0]);
        if (i == 1) CHECK_TEXT("solver", run.spec.configured.failures[2]);
        x[i] = rigid_metric(&run, "bar_end_x", 0);
        rigid_end(&run);
    }
    CHECK_NEAR(x[0], x[2], 1e-6);
}

// ---- what is said of gains ------------------------------------------------------------------------------------------

// All remarks on a spec, a line each: "name: text", with "!" before a warning.
static void forms_remarks(const char *spec_text, char *out, size_t size)
{
    Arena arena;
    Spec spec;
    Search search;
    Remark remarks[REMARKS_MAX];
    int count = 0;
    size_t used = 0;
    CHECK_OK(arena_create(&arena, (size_t)1 << 30, "a test of remarks"));
    Diagnostics *diagnostics = diagnostics_new(&arena);
    const char *text = arena_format(&arena, "version: 1\nexperiment: test\nmodel: rigid\n%s\n", spec_text);
    CHECK_OK(spec_parse("rigid.yaml", text, NULL, 0, &arena, diagnostics, &spec));
    diagnostics_print(diagnostics, stdout, false);
    CHECK_OK(search_init(&spec, &arena, &search));
    CHECK_OK(explain(&spec, &search, &arena, remarks, &count));
    out[0] = '\0';
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s: %s\n", remarks[i].warning ? "!" : "", remarks[i].name,
                                 remarks[i].text);
    arena_destroy(&arena);
}

static void forms_check_remark(const char *spec, const char *expected)
{
    char got[4000];
    forms_remarks(spec, got, sizeof got);
    if (strstr(got, expected) == NULL) CHECK_TEXT(expected, got);
}

TEST(rigid_gains_are_explained)
{
    forms_check_remark("parameters: {alpha: 5, beta: 5}",
                       "gains: baumgarte: c = 2 alpha, k = beta^2: c = 10 1/s, k = 25 1/s^2; omega_n = 5 rad/s, zeta = "
                       "1\nstability: c dt = 0.1 (stable below 2), k dt^2 + 2 c dt = 0.2025 (below 4)\n");
    // |u|^2 = 9: C = (1 - (1 + beta) dt/2) 9/alpha = 1.782; of a rod of 2 m that is 0.7503 m
    forms_check_remark("simulation: {stabilisation: original}\nparameters: {alpha: 5, beta: 1}",
                       "!error: original: predicted steady error 0.7503 m");
    forms_check_remark("simulation: {gain_units: per_dt}\nparameters: {alpha: 0.828, beta: 0.828}",
                       "\nstability: c dt");
    forms_check_remark("simulation: {gain_units: per_dt}\nparameters: {alpha: 0.84, beta: 0.84}",
                       "!stability: c dt = 1.68 (stable below 2), k dt^2 + 2 c dt = 4.066 (below 4): these gains are "
                       "unstable, errors grow");
    forms_check_remark("parameters: {alpha: 0, beta: 5}", "!error: baumgarte: with c = 0 or k = 0 an error stays or "
                                                          "grows (1 of 1 trials)");
    forms_check_remark("parameters: {alpha: 5, beta: 0}", "!error: baumgarte: with c = 0 or k = 0 an error stays or "
                                                          "grows (1 of 1 trials)");
    forms_check_remark("simulation: {stabilisation: soft}", "stability: a soft constraint is stable at every step");
    forms_check_remark("simulation: {stabilisation: rattle}", "gains: rattle needs none");
}

// What check predicts from the motion at the start is what a motion ends with: on a circle, whose speed the error
// hardly changes.
TEST(rigid_predicted_steady_error_is_that_of_the_motion)
{
    for (int f = 0; f < 4; f++) { // soft has no prediction
        RigidRun run;
        char simulation[600], spec[800], remarks[4000];
        const char *gains = "parameters: {alpha: 500, beta: 300}";
        snprintf(simulation, sizeof simulation,
                 "{stabilisation: %s, duration: 20, dt: 0.001, world: {bodies: [{name: ball, gravity: false, position: "
                 "[1, 0, 0], velocity: [0, 0.1, 0]}], constraints: [{name: rod, type: distance, a: ball, at_b: [0, 0, "
                 "0]}]}}",
                 forms_names[f]);
        rigid_run(&run, simulation, gains);
        snprintf(spec, sizeof spec, "simulation: %s\n%s", simulation, gains);
        forms_remarks(spec, remarks, sizeof remarks);
        const char *said = strstr(remarks, "predicted steady error ");
        CHECK(said != NULL);
        const double predicted = said != NULL ? strtod(said + strlen("predicted steady error "), NULL) : 0.0;
        const double error = rigid_metric(&run, "error_end", 0);
        CHECK(error > 1e-9);
        CHECK_NEAR(error, predicted, 2e-4 * error); // four digits are said
        rigid_end(&run);
    }
}

TEST(rigid_searched_gains_are_explained)
{
    forms_check_remark(
        "simulation: {gain_units: per_dt}\nparameters: {beta: 0.1}\nsearch: {method: grid, over: {alpha: "
        "{linspace: [0.1, 1.2, 12]}}}",
        "!stability: baumgarte: 3 of 12 trials looked at are unstable; all from alpha = 1 on");
    forms_check_remark("simulation: {stabilisation: searched, gain_units: per_dt}\nparameters: {alpha: 0.5}\nsearch: "
                       "{method: grid, over: {beta: [1, 1.7, 2.1], form: [0, 1]}}",
                       "!stability: original: 1 of 3 trials looked at are unstable; all from beta = 2.1 on");
    forms_check_remark("search: {method: cmaes, over: {alpha: {range: [1, 10]}, beta: {range: "
                       "[1, 10]}}}",
                       "stability: baumgarte: all trials are stable");
}

TEST(rigid_redundant_rows_are_named)
{
    forms_check_remark("simulation: {" FORMS_BAR "}",
                       "\nredundant: 1 of 6 rows follows from others at the start: row 2 of right; left out");
    forms_check_remark("simulation: {redundant: error, " FORMS_BAR "}",
                       "\n!redundant: 1 of 6 rows follows from others at the start: row 2 of right; every trial fails");
    // a loop: two welds between the same bodies
    forms_check_remark("simulation: {world: {bodies: [{name: a}, {name: b, position: [1, 0, 0]}], constraints: [{name: "
                       "one, type: weld, a: a, b: b}, {name: other, type: weld, a: a, b: b}]}}",
                       "redundant: 6 of 12 rows follow from others at the start: row 1 of other, row 2 of other");
}
