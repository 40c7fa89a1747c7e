// Forms of stabilisation one step at a time, searches over forms and step sizes, and the remarks on gains before a run.
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
TEST(rigid_form_velocity_corrects_gamma_of_the_error)
{
    RigidRun run;
    rigid_run(&run, "{stabilisation: velocity, duration: 0.01, " FORMS_HANGING "}", "parameters: {gamma: 0.3}");
    const double C = (1.001 * 1.001 - 1.0) / 2.0;
    CHECK_NEAR(-1.001 + 0.3 * C / 1.001, rigid_metric(&run, "ball_end_z", 0), 1e-14);
    rigid_end(&run);
}

// Catto's soft constraint: its first impulse is -a2 a3 (J v + w/a1 C), C = |d| - L and upwards here
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

// A form chosen by a parameter has the same bits as the form chosen by an option, beside lanes with other forms.
TEST(rigid_searched_forms_equal_fixed_forms)
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

// Four substeps per dt have the same bits as steps of dt/4, beside lanes with other substeps.
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

// A bar on two ball joints on one axis: one of their six rows depends on the others.
#define FORMS_BAR                                                                                                      \
    "duration: 1, world: {bodies: [{name: bar, inertia: [0.01, 0.2, 0.2], position: [0.5, 0, 0]}], constraints: "      \
    "[{name: left, type: ball, a: bar, at_a: [-0.5, -0.3, 0]}, {name: right, type: ball, a: bar, at_a: [-0.5, 0.3, "   \
    "0]}]}"

TEST(rigid_redundant_rows_are_dropped_refused_or_shared)
{
    static const char *const how[] = {"drop", "error", "regularise", "share"};
    double x[4];
    for (int i = 0; i < 4; i++) {
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
    CHECK_NEAR(x[0], x[3], 1e-6);
}

// ---- remarks on gains -----------------------------------------------------------------------------------------------

// All remarks on a spec, one per line: "name: text", with "!" before a warning.
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
    forms_check_remark("simulation: {stabilisation: baumgarte}\nparameters: {alpha: 5, beta: 5}",
                       "gains: baumgarte: c = 2 alpha, k = beta^2: c = 10 1/s, k = 25 1/s^2; omega_n = 5 rad/s, zeta = "
                       "1\nstability: c dt = 0.1 (stable below 2), k dt^2 + 2 c dt = 0.2025 (below 4)\n");
    // |u|^2 = 9: C = (1 - (1 + beta) dt/2) 9/alpha = 1.782; for a rod of 2 m that is an error of 0.7503 m
    forms_check_remark("simulation: {stabilisation: original}\nparameters: {alpha: 5, beta: 1}",
                       "!error: original: predicted steady error 0.7503 m");
    forms_check_remark(
        "simulation: {stabilisation: baumgarte, gain_units: per_dt}\nparameters: {alpha: 0.828, beta: 0.828}",
        "\nstability: c dt");
    forms_check_remark(
        "simulation: {stabilisation: baumgarte, gain_units: per_dt}\nparameters: {alpha: 0.84, beta: 0.84}",
        "!stability: c dt = 1.68 (stable below 2), k dt^2 + 2 c dt = 4.066 (below 4): these gains are "
        "unstable, errors grow");
    forms_check_remark("simulation: {stabilisation: baumgarte}\nparameters: {alpha: 0, beta: 5}",
                       "!error: baumgarte: with c = 0 or k = 0 an error stays or "
                       "grows (1 of 1 trials)");
    forms_check_remark("simulation: {stabilisation: baumgarte}\nparameters: {alpha: 5, beta: 0}",
                       "!error: baumgarte: with c = 0 or k = 0 an error stays or "
                       "grows (1 of 1 trials)");
    forms_check_remark("simulation: {stabilisation: soft}", "stability: a soft constraint is stable at every step");
    forms_check_remark("simulation: {stabilisation: rattle}", "gains: rattle needs none");
    forms_check_remark("parameters: {beta: 4}\nsearch: {method: grid, over: {alpha: [1, 2]}}",
                       "!gains: rattle uses none: alpha, beta change nothing\n");
}

// A ball of 1 kg on a rod, with a given velocity and forces.
#define FORMS_BALL(order, velocity, forces)                                                                            \
    "simulation: {stabilisation: rattle, order: " order ", dt: 0.01, world: {bodies: [{name: ball, position: [1, 0, "  \
    "0], velocity: [" velocity                                                                                         \
    "]}], constraints: [{name: rod, type: distance, a: ball, at_b: [0, 0, 0]}], forces: [" forces "]}}"

// `check` remarks where rattle does not reach the order that is asked for, and nowhere else.
TEST(rigid_lost_orders_are_explained)
{
    char remarks[4000];
    forms_check_remark(
        FORMS_BALL("four", "0, 1, 0", "{name: line, type: tether, a: ball, at_b: [2, 0, 0], stiffness: 9}"),
        "order: errors fall with dt^4 while forces are smooth, but only with dt^2 (dt if damped) once a "
        "tether has gone taut or slack\n");
    forms_check_remark(FORMS_BALL("six", "0, 1, 0", "{name: canopy, type: parachute, a: ball, area: 1, speed: 9}"),
                       "order: errors fall with dt^6 while forces are smooth, but only with dt once a parachute has "
                       "latched during the run\n");
    forms_check_remark(
        "simulation: {stabilisation: rattle, world: {bodies: [{name: ball}], forces: [{name: canopy, type: "
        "parachute, a: ball, area: 1, speed: 9}]}}",
        "order: errors fall with dt^2 while forces are smooth, but only with dt once a parachute");
    forms_check_remark(
        FORMS_BALL("two", "0.25, 1, 0", ""),
        "!start: the velocities at the start break the constraints by up to 0.25 m/s: they are changed before t = 0 "
        "(metric projection_speed)\n");
    forms_check_remark(
        FORMS_BALL("two", "0, 1, 0", "{name: air, type: drag, a: ball, linear: 200}"),
        "!order: a damper is too stiff for dt (c dt/2m up to 1, at most 0.75): its force is not solved for "
        "exactly, errors fall with dt\n");
    forms_remarks(FORMS_BALL("four", "0, 1, 0", "{name: air, type: drag, a: ball, linear: 2, area: 1}"), remarks,
                  sizeof remarks);
    CHECK(strstr(remarks, "order: ") == NULL);
}

// The steady error that `check` predicts from the start equals the error at the end of a run on a circle, where the
// error hardly changes the speed.
TEST(rigid_predicted_steady_error_equals_the_measured_one)
{
    for (int f = 0; f < 4; f++) { // form soft has no prediction
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
        CHECK_NEAR(error, predicted, 2e-4 * error); // the remark has four digits
        rigid_end(&run);
    }
}

// ---- soft rows ------------------------------------------------------------------------------------------------------

// Two balls of 1 kg at rest: the world holds the centre of a, and a holds the centre of b. C1 = p1, C2 = p2 - p1, and A
// = [1 -1; -1 2] has D^-1/2 A D^-1/2 = [1 -r; -r 1] with r = 1/sqrt 2. Its modes are mu = 1 + r with the errors C2 =
// -sqrt 2 C1, and mu = 1 - r with C2 = sqrt 2 C1. Without gravity all of it is linear, and a step changes C and C' of a
// mode by C' <- C' - e h (c C' + k C), C <- C + h C', e = mu/(mu + cfm).
#define FORMS_PAIR                                                                                                     \
    "simulation: {stabilisation: baumgarte, redundant: regularise, cfm: %.17g, gain_units: per_dt, dt: 0.01, "         \
    "duration: %g, world: {bodies: [{name: a, gravity: false}, {name: b, gravity: false, position: [%.17g, 0, 0]}], "  \
    "constraints: [{name: one, type: ball, a: a, at_b: [%.17g, 0, 0]}, "                                               \
    "{name: other, type: ball, a: b, b: a, at_b: [0, 0, 0]}]}}"

// a starts at C1 = 1e-3 m, C2 follows from the mode, and both speeds are such that C' = rate C.
static double forms_pair(double cfm, double mode, double c, double k, double rate, int steps)
{
    Arena arena;
    RigidRun run;
    const double C1 = 1e-3, C2 = mode * sqrt(2.0) * C1;
    CHECK_OK(arena_create(&arena, 1 << 20, "a pair"));
    const char *spec = arena_format(&arena, FORMS_PAIR, cfm, 0.01 * steps, C2, -C1);
    rigid_start(&run, spec + strlen("simulation: "), "", 1, "auto");
    rigid_set(&run, "alpha", 0, 0.5 * c);
    rigid_set(&run, "beta", 0, sqrt(k));
    rigid_set(&run, "a_vx", 0, rate * C1);
    rigid_set(&run, "b_vx", 0, rate * (C1 + C2));
    rigid_go(&run, 1000);
    const double end = rigid_metric(&run, "a_end_x", 0) + C1;
    CHECK_NEAR(mode * sqrt(2.0) * end, rigid_metric(&run, "b_end_x", 0) - rigid_metric(&run, "a_end_x", 0),
               1e-9 * C1); // the motion is still in that mode
    rigid_end(&run);
    arena_destroy(&arena);
    return end / C1;
}

// The matrix of a step in units of h, applied `steps` times to C = 1, C' = rate; returns C.
static double forms_power(double e, double c, double k, double rate, int steps)
{
    double C = 1.0, v = 0.01 * rate;
    for (int i = 0; i < steps; i++) {
        v -= e * (c * v + k * C);
        C += v;
    }
    return C;
}

TEST(rigid_soft_rows_follow_the_matrix_of_a_step)
{
    for (int m = 0; m < 2; m++) {
        const double mode = m == 0 ? -1.0 : 1.0, mu = 1.0 - mode / sqrt(2.0);
        for (int i = 1; i <= 3; i++) {
            const double cfm = i * i * 0.1, e = mu / (mu + cfm);
            CHECK_NEAR(forms_power(e, 0.7, 0.9, 3.0, 20), forms_pair(cfm, mode, 0.7, 0.9, 3.0, 20), 1e-9);
        }
    }
}

// At e (k h^2 + 2 c h) = 4 the error of the stiffer mode only changes its sign at every step: with C' = 2 C/h it has
// the same size after 26 steps. It decays with smaller gains and grows with larger gains, as the matrix says.
TEST(rigid_stability_limit_of_soft_rows)
{
    const double mu = 1.0 + 1.0 / sqrt(2.0), cfm = 0.5, slack = 1.0 + cfm / mu;
    for (int i = -1; i <= 1; i++) {
        const double at = (4.0 + 0.02 * i) * slack, c = 0.25 * at, k = 0.5 * at;
        const double end = forms_pair(cfm, -1.0, c, k, 200.0, 26);
        CHECK_NEAR(forms_power(1.0 / slack, c, k, 200.0, 26), end, 1e-9 * fabs(end));
        if (i == 0) CHECK_NEAR(1.0, end, 1e-9);
        if (i < 0) CHECK(fabs(end) < 0.7);
        if (i > 0) CHECK(fabs(end) > 1.5);
    }
}

// A step of the pair is unstable where `check` says so: with cfm = 1 the limits are 2 and 4 times 1 + 1/(1 + r).
TEST(rigid_limits_of_soft_rows_are_explained)
{
    char spec[1000], world[800];
    snprintf(world, sizeof world, FORMS_PAIR, 1.0, 1.0, 0.0, 0.0);
    const double slack = 1.0 + 1.0 / (1.0 + 1.0 / sqrt(2.0));
    for (int i = -1; i <= 1; i += 2) {
        const double at = (4.0 + 0.002 * i) * slack;
        snprintf(spec, sizeof spec, "%s\nparameters: {alpha: %.17g, beta: %.17g}", world, 0.125 * at, sqrt(0.5 * at));
        forms_check_remark(spec, i < 0
                                     ? "\nstability: c dt = 1.585 (stable below 3.172), k dt^2 + 2 c dt = 6.34 (below "
                                       "6.343)\n"
                                     : "\n!stability: c dt = 1.587 (stable below 3.172), k dt^2 + 2 c dt = 6.346 "
                                       "(below 6.343): these gains are unstable");
    }
    snprintf(spec, sizeof spec, "%s\nsearch: {method: grid, over: {alpha: [0.1, 0.7, 1.6]}}\nparameters: {beta: 0.5}",
             world);
    forms_check_remark(spec, "stable where c dt < 3.172 and k dt^2 + 2 c dt < 6.343\n!stability: baumgarte: 1 of 3");
    // a very small cfm does not change the limits
    snprintf(world, sizeof world, FORMS_PAIR, 1e-9, 1.0, 0.0, 0.0);
    snprintf(spec, sizeof spec, "%s\nparameters: {alpha: 0.84, beta: 0.84}", world);
    forms_check_remark(spec, "!stability: c dt = 1.68 (stable below 2), k dt^2 + 2 c dt = 4.066 (below 4)");
}

// A ball hangs on one soft rod of 1 m, or on two that share its weight: C = sigma g d/k for one, half of that for two,
// with d the stretched length.
TEST(rigid_soft_rows_sag)
{
    const char *rod = "{name: %s, type: distance, a: ball, at_b: [0, 0, 0]}";
    for (int rods = 1; rods <= 2; rods++) {
        RigidRun run;
        char one[100], other[100], simulation[600], expected[100];
        const double cfm = 0.02, k = 64.0;
        snprintf(one, sizeof one, rod, "one");
        snprintf(other, sizeof other, rod, "other");
        snprintf(
            simulation, sizeof simulation,
            "{stabilisation: baumgarte, redundant: regularise, cfm: 0.02, duration: 40, world: {bodies: [{name: ball, "
            "mass: 5, position: [0, 0, -1]}], constraints: [%s%s%s]}}",
            one, rods == 2 ? ", " : "", rods == 2 ? other : "");
        rigid_run(&run, simulation, "parameters: {alpha: 8, beta: 8}");
        const double d = -rigid_metric(&run, "ball_end_z", 0);
        CHECK_NEAR(cfm * 9.81 * d / (k * rods), 0.5 * (d * d - 1.0), 1e-12);
        rigid_end(&run);
        char spec[800];
        snprintf(spec, sizeof spec, "simulation: %s\nparameters: {alpha: 8, beta: 8}", simulation);
        snprintf(expected, sizeof expected, "error: baumgarte: predicted steady error %.4g m in",
                 sqrt(1.0 + 2.0 * cfm * 9.81 / (k * rods)) - 1.0);
        forms_check_remark(spec, expected);
    }
}

// On a circle without gravity C = ((1 + sigma - s) - c h/2) |u|^2/k, for forms with J' v (s = 1) and without (s = 0).
TEST(rigid_steady_error_of_soft_rows)
{
    for (int f = 0; f < 3; f += 2) {
        RigidRun run;
        char simulation[600], spec[800];
        const double cfm = 0.05, c = 41.0, k = 400.0, h = 0.001, s = f == 0 ? 0.0 : 1.0;
        snprintf(simulation, sizeof simulation,
                 "{stabilisation: %s, redundant: regularise, cfm: 0.05, duration: 20, dt: 0.001, world: {bodies: "
                 "[{name: ball, gravity: false, position: [1, 0, 0], velocity: [0, 1, 0]}], constraints: [{name: rod, "
                 "type: distance, a: ball, at_b: [0, 0, 0]}]}}",
                 forms_names[f == 0 ? 1 : 2]);
        rigid_run(&run, simulation, "parameters: {alpha: 400, beta: 40}");
        const double C = ((1.0 + cfm - s) - 0.5 * c * h) / k; // with |u|^2 = 1
        const double u2 = 2.0 * (rigid_metric(&run, "energy_end", 0) + 0.5);
        const double error = rigid_metric(&run, "error_end", 0);
        CHECK_NEAR(C * u2, error * (1.0 + 0.5 * error), 1e-9 * C);
        snprintf(spec, sizeof spec, "simulation: %s\nparameters: {alpha: 400, beta: 40}", simulation);
        char expected[100];
        snprintf(expected, sizeof expected, "predicted steady error %.4g m", sqrt(1.0 + 2.0 * C) - 1.0);
        forms_check_remark(spec, expected);
        rigid_end(&run);
    }
}

TEST(rigid_searched_gains_are_explained)
{
    forms_check_remark("simulation: {stabilisation: baumgarte, gain_units: per_dt}\nparameters: {beta: 0.1}\n"
                       "search: {method: grid, over: {alpha: {linspace: [0.1, 1.2, 12]}}}",
                       "!stability: baumgarte: 3 of 12 trials looked at are unstable; all from alpha = 1 on");
    forms_check_remark("simulation: {stabilisation: searched, gain_units: per_dt}\nparameters: {alpha: 0.5}\nsearch: "
                       "{method: grid, over: {beta: [1, 1.7, 2.1], form: [0, 1]}}",
                       "!stability: original: 1 of 3 trials looked at are unstable; all from beta = 2.1 on");
    forms_check_remark(
        "simulation: {stabilisation: baumgarte}\nsearch: {method: cmaes, over: {alpha: {range: [1, 10]}, "
        "beta: {range: [1, 10]}}}",
        "stability: baumgarte: all trials are stable");
}

// With c = beta/dt, k = alpha/dt^2 a trial is stable if alpha + 2 beta < 4. The remark names no border of alpha: the
// least alpha is unstable with beta = 2.1, and the greatest is stable with beta = 0.5.
TEST(rigid_borders_of_stable_gains)
{
    forms_check_remark(
        "simulation: {stabilisation: original, gain_units: per_dt}\nsearch: {method: grid, over: {alpha: "
        "[0.5, 1.5, 2.5], beta: [0.5, 1, 1.5, 2.1]}}",
        "!stability: original: 6 of 12 trials looked at are unstable; some from beta = 1 on, all from 2.1 "
        "on\n");
    // trials with the same gains and other step lengths count separately
    forms_check_remark("simulation: {stabilisation: baumgarte}\nparameters: {alpha: 90, beta: 90}\n"
                       "search: {method: grid, over: {substeps: [1, 10]}}",
                       "!stability: baumgarte: 1 of 2 trials looked at are unstable\n");
    // a value between two forms is rounded as in the kernel
    forms_check_remark("simulation: {stabilisation: searched}\nparameters: {form: 0.6}", "gains: original: ");
    forms_check_remark("simulation: {stabilisation: searched}\nparameters: {form: 1.4}", "gains: original: ");
}

// The range over all trials that correct errors; only form original has a steady error that no step size removes.
TEST(rigid_range_of_steady_errors)
{
    forms_check_remark(
        "simulation: {stabilisation: baumgarte}\nsearch: {method: grid, over: {beta: [0, 5, 10]}}",
        "!error: baumgarte: with c = 0 or k = 0 an error stays or grows (1 of 3 trials)\nerror: baumgarte: "
        "predicted steady error 0.002251 to 0.00902 m in motion as at the start\n");
    forms_check_remark(
        "simulation: {stabilisation: original, redundant: regularise, cfm: 0.01}\ninitial: {payload_vx: 0}\nsearch: "
        "{method: grid, over: {alpha: [10, 20]}}",
        "\nerror: original: predicted steady error 0.");
}

TEST(rigid_redundant_rows_are_named)
{
    forms_check_remark(
        "simulation: {" FORMS_BAR "}",
        "\nredundant: 1 of 6 rows follows from others at the start: row 2 of right; they share the load");
    forms_check_remark("simulation: {redundant: drop, " FORMS_BAR "}",
                       "\nredundant: 1 of 6 rows follows from others at the start: row 2 of right; left out");
    forms_check_remark("simulation: {redundant: error, " FORMS_BAR "}",
                       "\n!redundant: 1 of 6 rows follows from others at the start: row 2 of right; every trial fails");
    // a loop: two welds between the same bodies
    forms_check_remark("simulation: {world: {bodies: [{name: a}, {name: b, position: [1, 0, 0]}], constraints: [{name: "
                       "one, type: weld, a: a, b: b}, {name: other, type: weld, a: a, b: b}]}}",
                       "redundant: 6 of 12 rows follow from others at the start: row 1 of other, row 2 of other");
    // in the second island of two that close loops
    forms_check_remark(
        "simulation: {world: {bodies: [{name: a}, {name: b, position: [1, 0, 0]}, {name: c, position: [0, "
        "5, 0]}, {name: d, position: [1, 5, 0]}], constraints: [{name: left, type: ball, a: a, at_a: [0, "
        "0, 1]}, {name: right, type: ball, a: b, at_a: [0, 0, 1]}, {name: rod, type: distance, a: a, b: "
        "b}, {name: one, type: weld, a: c, b: d}, {name: other, type: weld, a: c, b: d}]}}",
        "redundant: 6 of 19 rows follow from others at the start: row 1 of other, row 2 of other, row 3 "
        "of other, row 4 of other, row 5 of other, row 6 of other; they share the load");
}
