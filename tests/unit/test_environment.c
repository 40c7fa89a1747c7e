// Environments through runner/hopscotch.h: the bits of a run.
#include "environment_case.h"
#include "robot_folder.h"

#include "../../sim/cpu_kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ENVIRONMENT_STEPS = 64, ENVIRONMENT_PARAMETERS = 256, ENVIRONMENT_NUMBERS = 128, ENVIRONMENT_ACTIONS = 12 };

// A hopper that draws its start; `simulation`: further settings.
static const char *environment_spec(const char *simulation, const char *environment)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "version: 1\nexperiment: case\nseed: 3\nmodel: hopper\n"
             "simulation:\n  settle: 0.05\n  %s\n"
             "replicates:\n  perturb:\n    phi_leg: {normal: [0.01, 0.05]}\n    z_foot: {uniform: [0.0, 0.2]}\n"
             "    x_dot_des: {uniform: [0, 3]}\n"
             "environment:\n  %s\n",
             simulation, environment);
    return text;
}

static hopscotch_env_options environment_options(int64_t lanes, int autoreset)
{
    hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
    options.lanes = lanes;
    options.device = environment_case_device();
    options.autoreset = autoreset;
    return options;
}

// ---- equal bits -----------------------------------------------------------------------------------------------------

// What one lane was told and told in one episode.
typedef struct EnvironmentEpisode {
    double parameter[ENVIRONMENT_PARAMETERS], action[ENVIRONMENT_STEPS * ENVIRONMENT_ACTIONS];
    double metric[ENVIRONMENT_NUMBERS], observation[ENVIRONMENT_STEPS + 1][ENVIRONMENT_NUMBERS];
    int64_t steps;
    int failure;
    bool observes; // the spec has expressions of its own: observations are not columns
} EnvironmentEpisode;

static void environment_note(const EnvironmentCase *c, int64_t lane, EnvironmentEpisode *episode)
{
    for (int k = 0; k < c->info.n_observations; k++)
        episode->observation[episode->steps][k] = environment_case_number(c, HOPSCOTCH_OBSERVATIONS, lane, k);
}

static bool environment_is_over(const EnvironmentCase *c, int64_t lane)
{
    return environment_case_number(c, HOPSCOTCH_TERMINATED, lane, 0) != 0.0 ||
           environment_case_number(c, HOPSCOTCH_TRUNCATED, lane, 0) != 0.0;
}

// What an episode that is over gave.
static void environment_note_end(const EnvironmentCase *c, int64_t lane, EnvironmentEpisode *episode)
{
    for (int m = 0; m < c->info.n_metrics; m++)
        episode->metric[m] = environment_case_number(c, HOPSCOTCH_EPISODE_METRICS, lane, m);
    episode->failure = (int)environment_case_number(c, HOPSCOTCH_EPISODE_FAILURE, lane, 0);
}

// Steps all lanes with actions up to `size`, and begins others again at random, until the episode of `lane` is over.
static void environment_play(const EnvironmentCase *c, int64_t lane, double size, EnvironmentEpisode *episode)
{
    uint8_t chosen[128] = {0};
    memset(episode, 0, sizeof *episode);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(c, NULL, NULL));
    for (int p = 0; p < c->info.n_parameters; p++)
        episode->parameter[p] = environment_case_number(c, HOPSCOTCH_PARAMETERS, lane, p);
    environment_note(c, lane, episode);
    bool over = false;
    while (!over && episode->steps < ENVIRONMENT_STEPS) {
        for (int64_t i = 0; i < c->info.lanes; i++) {
            for (int a = 0; a < c->info.n_actions; a++)
                environment_case_act(c, i, a, size * environment_case_random(i, episode->steps, a));
            chosen[i] = i != lane && environment_case_random(i, episode->steps, 20) > 0.5;
        }
        for (int a = 0; a < c->info.n_actions; a++)
            episode->action[episode->steps * c->info.n_actions + a] =
                environment_case_number(c, HOPSCOTCH_ACTIONS, lane, a);
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(c, chosen, NULL));
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(c));
        episode->steps++;
        environment_note(c, lane, episode);
        over = environment_is_over(c, lane);
    }
    CHECK(over);
    environment_note_end(c, lane, episode);
    CHECK_INTEGER(episode->steps, (int64_t)environment_case_number(c, HOPSCOTCH_EPISODE_STEPS, lane, 0));
}

// Columns of a hopper's control (11 and 12 of its sample) are those of the step before in an environment; so are those
// of a law, from 14 on. asks: a policy gives the actions.
static void environment_compare_run(const char *text, const EnvironmentEpisode *episode, bool asks, const char *backend,
                                    const char *isa)
{
    EnvironmentRun run;
    bool equal = true;
    const bool hops = strstr(text, "model: hopper") != NULL;
    environment_case_run(text, episode->parameter, asks ? NULL : episode->action, episode->steps, backend, isa, &run);
    CHECK_INTEGER(episode->steps + 1, run.samples);
    for (int64_t s = 0; s <= episode->steps && s < run.samples && !episode->observes; s++) {
        for (int c = 1; c < run.n_columns; c++) {
            const double expected = run.sample[s * run.n_columns + c], got = episode->observation[s][c - 1];
            if (hops && (c == 11 || c == 12 || c >= 14)) continue;
            if (memcmp(&expected, &got, sizeof got) != 0 && equal) CHECK_BITS(expected, got);
            equal = equal && memcmp(&expected, &got, sizeof got) == 0;
        }
    }
    CHECK(equal);
    for (int m = 0; m < run.n_metrics; m++) CHECK_BITS(run.metric[m], episode->metric[m]);
    CHECK_INTEGER(run.failure, episode->failure);
    arena_destroy(&run.arena);
}

// On the CPU, and on the device of the environment.
static void environment_compare(const char *text, const EnvironmentEpisode *episode, bool asks, const char *isa)
{
    environment_compare_run(text, episode, asks, "cpu", isa);
    if (environment_case_on_gpu()) environment_compare_run(text, episode, asks, environment_case_device(), isa);
}

static void environment_check_text(const char *text, const char *isa, int64_t lanes, int64_t lane, double size)
{
    EnvironmentCase c;
    EnvironmentEpisode episode;
    hopscotch_env_options options = environment_options(lanes, HOPSCOTCH_AUTORESET_DISABLED);
    options.isa = isa;
    if (!environment_case_open(text, &options, &c)) return;
    environment_play(&c, lane, size, &episode);
    environment_compare(text, &episode, false, isa);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
}

static void environment_check_bits(const char *simulation, const char *isa, int64_t lanes, int64_t lane)
{
    environment_check_text(environment_spec(simulation, "reward: \"1\""), isa, lanes, lane, 80.0);
}

#define ENVIRONMENT_10MS "duration: 0.3\n  control: {mode: external, period: 10ms}\n  "

// Whether this build has the kernels of an instruction set.
static bool environment_has(const char *isa)
{
    const EnvironmentKernels *kernels;
    const char *name;
    return cpu_environment_kernels(isa, 1, &kernels, &name).kind == OK;
}

// The processor or the build; the test is skipped then.
static bool environment_lacks_v4(void)
{
    static const char *const isas[] = {"scalar", ISA_V4};
    if (!test_has_isa(ISA_V4)) {
        test_skip("a processor with AVX-512", "another machine");
        return true;
    }
    for (int k = 0; k < 2; k++) {
        if (environment_has(isas[k])) continue;
        test_skip("kernels that this build lacks", "make");
        return true;
    }
    return false;
}

// A trajectory made by stepping equals that of a run, in every place of a vector, beside lanes that begin again.
TEST(environment_has_the_bits_of_a_run)
{
    static const char *const integrators[] = {"implicit_midpoint", "semi_implicit_euler", "implicit_euler", "rk4"};
    static const char *const isas[] = {"scalar", ISA_V4};
    char simulation[512];
    if (environment_lacks_v4()) return;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 2; k++) {
            snprintf(simulation, sizeof simulation, ENVIRONMENT_10MS "integrator: %s", integrators[i]);
            environment_check_bits(simulation, isas[k], 11, 3 * k + i);
            snprintf(simulation, sizeof simulation,
                     ENVIRONMENT_10MS "integrator: %s\n  push: random\n  wind: gusting\n  terrain: sine",
                     integrators[i]);
            environment_check_bits(simulation, isas[k], 11, 9);
        }
    }
}

// A step of seven ticks: the rings of the lanes of a vector stand at different places.
TEST(environment_steps_of_seven_ticks)
{
    static const char simulation[] = "duration: 0.0294\n  control: {mode: external, period: 0.7ms}";
    char text[512];
    EnvironmentCase c;
    EnvironmentEpisode episode;
    if (environment_lacks_v4()) return;
    snprintf(text, sizeof text,
             "version: 1\nexperiment: case\nmodel: hopper\nsimulation:\n  settle: 0.01\n  %s\n"
             "replicates: {perturb: {z_foot: {uniform: [0, 0.01]}}}\nenvironment: {reward: \"0\"}\n",
             simulation);
    hopscotch_env_options options = environment_options(13, HOPSCOTCH_AUTORESET_DISABLED);
    options.isa = ISA_V4;
    if (!environment_case_open(text, &options, &c)) return;
    CHECK_INTEGER(42, c.info.episode_steps);
    environment_play(&c, 6, 80.0, &episode);
    environment_compare(text, &episode, false, ISA_V4);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
}

// Of joint targets, and of efforts; lanes that fall are beside those that go on.
TEST(environment_of_a_robot_has_the_bits_of_a_run)
{
    static const char *const commands[] = {"position", "effort"}, *const orders[] = {"one", "two", "two", "one"};
    static const char *const isas[] = {"scalar", ISA_V4};
    char text[2048];
    if (environment_lacks_v4()) return;
    for (int k = 0; k < 4; k++) {
        snprintf(text, sizeof text,
                 "version: 1\nexperiment: case\nseed: 4\nmodel: articulated\nobjective: {minimize: distance}\n"
                 "simulation:\n  robot: robots/quadruped.xml\n  keyframe: [stand]\n  duration: 0.8\n  dt: 0.002\n"
                 "  order: %s\n"
                 "  control: {mode: external, command: %s, period: 20ms}\n"
                 "parameters: {all_kp: 80, all_kd: 2, fall_height: 0.2}\n"
                 "replicates:\n  perturb:\n    base_z: {uniform: [0, 0.02]}\n    ground_friction: {uniform: [0.5, 1]}\n"
                 "environment: {reward: \"base_vx\"}\n",
                 orders[k], commands[k % 2]);
        environment_check_text(text, isas[k / 2], 11, 3 + k, k % 2 == 0 ? 0.4 : 30.0);
    }
}

// ---- systems of the user's own --------------------------------------------------------------------------------------

// Systems with what may happen within a period, and at its ends: crossings, instants, modes, failures, conditions,
// integrals and extrema, files as inputs, noise. Actions go beyond their ranges.
typedef struct EnvironmentSystem {
    const char *integrators; // "a b"
    const char *settings, *system, *perturb;
} EnvironmentSystem;

static const char environment_ball[] =
    "{parameters: {g: 9.81}, inputs: {u: {range: [-6, 6]}, f: {at: [0, 0.13, 0.4], values: [0, 1, 0], beyond: hold}}, "
    "states: {z: 0.3, v: 0}, held: {n: 0, s: 0}, rates: {z: v, v: \"u - g + f\"}, "
    "events: [{name: bounce, falls: z, set: {v: -0.8*v, n: n + 1}}, {name: top, falls: v}, "
    "{name: tick, every: 0.03, set: {s: s + u}}, {name: hard, rises: u - 3}], "
    "metrics: {bounces: {count: bounce}, hard: {count: hard}, high: {max: z + u/100}, low: {min: u}, "
    "work: {integral: u*v}, up: {part: v > 0}, late: {last: u > 2}, soon: {first: u < 2}, size: {rms: u}, "
    "at: {at: bounce, value: u, take: mean}}, failures: {far: z > 0.5}, columns: {force: u - g, both: u*f}}";
static const char environment_modes[] =
    "{parameters: {a: 1.5}, inputs: {u: {range: [0.5, 2]}, w: {range: [-1, 1]}}, states: {x: 0.1, y: 0}, "
    "held: {k: 0}, modes: {one: {rates: {x: u + w, y: -y}, events: [{name: over, rises: x - a, to: two, "
    "set: {k: k + u}}]}, two: {rates: {x: -2*x*u, y: w}, events: [{name: under, falls: x - 0.2, to: one}]}}, "
    "metrics: {overs: {count: over}, mean: {mean: x*u}, last: {final: y}}, failures: {high: \"y > 0.1\"}, "
    "columns: {z: x + u*w}}";

static const EnvironmentSystem environment_systems[] = {
    {"dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p",
     "duration: 0.625, dt: 0.005, control: {period: 0.02}", environment_ball, "z: {uniform: [0.05, 0.6]}"},
    {"dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p",
     "duration: 1.5, dt: 0.01, control: {period: 0.05}", environment_modes, "x: {uniform: [0, 1.4]}"},
    // a period that is no sum of doubles; a short one, and many steps of the limit
    {"dormand_prince rk4", "duration: 2.1, dt: 0.1, steps: 15, control: {period: 0.3}", environment_modes,
     "x: {uniform: [0, 1.4]}"},
    {"euler_maruyama sra3", "duration: 0.5, dt: 0.004, control: {period: 0.012}",
     "{inputs: {u: {range: [-2, 2]}}, states: {x: 0, v: 0}, rates: {x: v, v: u - x}, noise: {v: 0.7}, events: [{name: "
     "left, falls: x + 0.02, set: {x: 0.01}}], metrics: {lefts: {count: left}, spread: {rms: x}}, "
     "failures: {right: x > 0.4}}",
     "v: {uniform: [-0.5, 0.5]}"},
    // ended by an action, at once or later
    {"rk4 dormand_prince", "duration: 1, dt: 0.01, control: {period: 0.05}",
     "{inputs: {u: {range: [-1, 1]}}, states: {x: 0}, rates: {x: u}, events: [{name: end, rises: u - 0.4, "
     "stop: true}], metrics: {ends: {count: end}}, failures: {much: u > 0.8, low: x < -0.1}}",
     "x: {uniform: [-0.1, 0.1]}"},
    {"map", "duration: 120, control: {period: 3}",
     "{inputs: {r: {range: [3, 4]}}, states: {x: 0.3}, next: {x: r*x*(1 - x)}, events: [{name: low, falls: x - 0.5}], "
     "metrics: {lows: {count: low}, mean: {mean: x}}}",
     "x: {uniform: [0.1, 0.9]}"},
};

static void environment_check_system(const EnvironmentSystem *of, const char *integrator, const char *isa,
                                     int64_t lanes, int64_t lane)
{
    static char text[8192];
    char method[64] = "";
    if (strcmp(integrator, "map") != 0) snprintf(method, sizeof method, ", integrator: %s", integrator);
    snprintf(text, sizeof text,
             "version: 1\nexperiment: case\nseed: 6\nmodel: equations\nobjective: {minimize: survived}\n"
             "simulation: {%s%s, system: %s}\nreplicates: {perturb: {%s}}\nenvironment: {reward: \"1\"}\n",
             of->settings, method, of->system, of->perturb);
    environment_check_text(text, isa, lanes, lane, 5.0);
}

TEST(environment_of_a_system_has_the_bits_of_a_run)
{
    static const char *const isas[] = {"scalar", ISA_V2, ISA_V3, ISA_V4};
    static const int64_t lanes[] = {4, 1, 7, 100};
    for (size_t s = 0; s < sizeof environment_systems / sizeof *environment_systems; s++) {
        char words[128];
        snprintf(words, sizeof words, "%s", environment_systems[s].integrators);
        for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
            for (size_t k = 0; k < 4; k++) {
                if (!environment_has(isas[k])) continue;
                environment_check_system(&environment_systems[s], word, isas[k], 11, 3 + (int64_t)k);
                environment_check_system(&environment_systems[s], word, isas[k], lanes[k], lanes[k] - 1);
            }
        }
    }
}

// Such a lane ends in its first step, and begins again in the next.
TEST(environment_of_a_system_that_fails_where_it_starts)
{
    static const char text[] =
        "version: 1\nexperiment: case\nseed: 6\nmodel: equations\nobjective: {minimize: survived}\n"
        "simulation: {duration: 1, dt: 0.01, control: {period: 0.1}, system: {parameters: {p: 1}, "
        "inputs: {u: {range: [-1, 1]}}, states: {x: 0}, rates: {x: u}, events: [{name: look, every: p}], "
        "metrics: {end: {final: x}}}}\n"
        "replicates: {perturb: {p: {uniform: [-0.4, 0.6]}, x: {uniform: [0, 1]}}}\nenvironment: {reward: \"1\"}\n";
    enum { LANES_HERE = 13 };
    hopscotch_env_options options = environment_options(LANES_HERE, HOPSCOTCH_AUTORESET_NEXT_STEP);
    EnvironmentCase c;
    int failed = 0;
    if (!environment_case_open(text, &options, &c)) return;
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(&c, NULL, NULL));
    double parameter[LANES_HERE][2];
    for (int64_t lane = 0; lane < LANES_HERE; lane++)
        for (int p = 0; p < 2; p++) parameter[lane][p] = environment_case_number(&c, HOPSCOTCH_PARAMETERS, lane, p);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&c));
    for (int64_t lane = 0; lane < LANES_HERE; lane++) {
        EnvironmentRun run;
        const bool wrong = parameter[lane][0] < 0.0;
        const double action = 0.0;
        CHECK_INTEGER(wrong, (int)environment_case_number(&c, HOPSCOTCH_TERMINATED, lane, 0));
        if (!wrong) continue;
        failed++;
        environment_case_run(text, parameter[lane], &action, 1, "cpu", "scalar", &run);
        CHECK_INTEGER(run.failure, (int)environment_case_number(&c, HOPSCOTCH_EPISODE_FAILURE, lane, 0));
        for (int m = 0; m < run.n_metrics; m++)
            CHECK_BITS(run.metric[m], environment_case_number(&c, HOPSCOTCH_EPISODE_METRICS, lane, m));
        CHECK_BITS(parameter[lane][1], environment_case_number(&c, HOPSCOTCH_OBSERVATIONS, lane, 0));
        arena_destroy(&run.arena);
    }
    CHECK(failed > 2 && failed < LANES_HERE);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(&c));
    for (int64_t lane = 0; lane < LANES_HERE; lane++) {
        CHECK_INTEGER(parameter[lane][0] < 0.0 ? 0 : 2, (int)environment_case_number(&c, HOPSCOTCH_STEPS, lane, 0));
        CHECK_INTEGER(0, (int)environment_case_number(&c, HOPSCOTCH_TERMINATED, lane, 0));
    }
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
}

// ---- control laws that take actions ---------------------------------------------------------------------------------

// Every instruction set that this build has, and groups that are not full.
static void environment_check_law(const char *text, double size)
{
    static const char *const isas[] = {"scalar", ISA_V2, ISA_V3, ISA_V4};
    static const int64_t lanes[] = {4, 1, 11, 35};
    for (size_t k = 0; k < 4; k++) {
        if (!environment_has(isas[k])) continue;
        environment_check_text(text, isas[k], 11, 3 + (int64_t)k, size);
        environment_check_text(text, isas[k], lanes[k], lanes[k] - 1, size);
    }
}

// Held numbers, modes, instants, sensors that are late and noisy; actions beyond their ranges, held for three periods.
TEST(environment_of_a_law_of_a_robot_has_the_bits_of_a_run)
{
    static const char *const orders[] = {"one", "two"};
    char text[2048];
    for (int k = 0; k < 2; k++) {
        snprintf(
            text, sizeof text,
            "version: 1\nexperiment: case\nseed: 4\nmodel: articulated\nobjective: {minimize: distance}\n"
            "simulation:\n  robot: robots/quadruped.xml\n  keyframe: [stand]\n  duration: 0.6\n  dt: 0.002\n"
            "  order: %s\n"
            "  control:\n    mode: law\n    period: 4ms\n    action_period: 12ms\n    law:\n"
            "      inputs: {push: {range: [-0.3, 0.3], unit: rad}, twist: {range: [-5, 5], unit: N m}}\n"
            "      parameters: {drag: {value: 0.3, unit: N s}, lift: {value: 1, unit: N},\n"
            "                   size: {value: 0.05, unit: rad}}\n"
            "      held: {sum: {start: 0, unit: rad}, beats: 0}\n"
            "      sensors: {base_vx: {delay: 2, noise: 0.01}, base_z: {noise: 0.001}}\n"
            "      every_period: {sum: sum + 0.1*push}\n"
            "      command: {\"*_hip\": push + 0.1*sin(9*sum), \"*_thigh\": 0.1*sum, \"*_knee\": size*beats}\n"
            "      modes:\n"
            "        one: {effort: {front_left_hip: twist - drag*base_vx}, events: [{rises: push - 0.1, to: two}]}\n"
            "        two: {effort: {front_left_hip: 2*twist + lift*base_z}, events: [{falls: twist, to: one}]}\n"
            "      events: [{every: 0.05, set: {beats: 1 - beats}}]\n"
            "parameters: {all_kp: 80, all_kd: 2, fall_height: 0.2}\n"
            "replicates:\n  perturb:\n    base_z: {uniform: [0, 0.02]}\n    ground_friction: {uniform: [0.5, 1]}\n"
            "environment: {reward: \"base_vx\"}\n",
            orders[k]);
        environment_check_law(text, 6.0);
    }
}

TEST(environment_of_a_law_of_a_hopper_has_the_bits_of_a_run)
{
    static const char *const simulations[] = {
        "duration: 0.3\n  integrator: implicit_midpoint", "duration: 0.3\n  integrator: rk4\n  push: random",
        // a step of 21 ticks: the rings of the lanes of a vector stand at different places
        "duration: 0.0294\n  dt: 0.0001\n  integrator: implicit_midpoint"};
    static const char *const periods[] = {"period: 5ms\n    action_period: 10ms", "period: 10ms",
                                          "period: 0.7ms\n    action_period: 2.1ms"};
    char text[2048], simulation[1024];
    for (int k = 0; k < 3; k++) {
        snprintf(simulation, sizeof simulation,
                 "%s\n  control:\n    mode: law\n    %s\n    law:\n"
                 "      inputs: {f: {range: [-20, 40]}, turn: {range: [-9, 9]}}\n"
                 "      held: {last: 0, seen: 0.1}\n      sensors: {phi_body: {delay: 1, noise: 0.01}}\n"
                 "      every_period: {last: 0.5*last + f}\n"
                 "      events: [{rises: turn, set: {seen: phi_leg}}]\n"
                 "      effort: {u1: f + 0.2*last, u2: turn - 3*phi_body + seen}",
                 simulations[k], periods[k]);
        snprintf(text, sizeof text,
                 "version: 1\nexperiment: case\nseed: 3\nmodel: hopper\n"
                 "simulation:\n  settle: 0.01\n  %s\n"
                 "replicates: {perturb: {phi_leg: {normal: [0.01, 0.05]}, z_foot: {uniform: [0.0, 0.02]}}}\n"
                 "environment: {reward: \"1\"}\n",
                 simulation);
        environment_check_law(text, 60.0);
    }
}

// ---- policies -------------------------------------------------------------------------------------------------------

enum { POLICY_LAYERS_HERE = 2, POLICY_HIDDEN = 6 };

// A network observations -> POLICY_HIDDEN -> actions, whose weights are those of environment_case_random.
typedef struct EnvironmentPolicy {
    int observations, actions;
    double low, high;
} EnvironmentPolicy;

static double environment_weight(int layer, int output, int input)
{
    return (layer == 1 ? 0.3 : 0.8) * environment_case_random(layer, output, input);
}

static void environment_write_policy(const EnvironmentPolicy *of)
{
    const int width[POLICY_LAYERS_HERE + 1] = {of->observations, POLICY_HIDDEN, of->actions};
    static char text[1 << 16];
    char *to = text + sprintf(text, "layer,output,input,weight\n");
    for (int layer = 1; layer <= POLICY_LAYERS_HERE; layer++)
        for (int output = 1; output <= width[layer]; output++)
            for (int input = 0; input <= width[layer - 1]; input++)
                to += sprintf(to, "%d,%d,%d,%.17g\n", layer, output, input, environment_weight(layer, output, input));
    robot_folder_add("learning/network.csv", text);
}

// Its actions for what the environment shows of a lane, in the order of sums that sim/policy.h says.
static void environment_ask(const EnvironmentPolicy *of, const EnvironmentCase *c, int64_t lane, double *action)
{
    double hidden[POLICY_HIDDEN];
    for (int i = 0; i < POLICY_HIDDEN; i++) {
        double sum = environment_weight(1, i + 1, 0);
        for (int k = 0; k < of->observations; k++)
            sum = fma(environment_weight(1, i + 1, k + 1), environment_case_number(c, HOPSCOTCH_OBSERVATIONS, lane, k),
                      sum);
        hidden[i] = portable_tanh(sum);
    }
    for (int a = 0; a < of->actions; a++) {
        double sum = environment_weight(2, a + 1, 0);
        for (int k = 0; k < POLICY_HIDDEN; k++) sum = fma(environment_weight(2, a + 1, k + 1), hidden[k], sum);
        sum = sum > -1.0 ? sum : -1.0;
        sum = sum < 1.0 ? sum : 1.0;
        action[a] = fma(0.5 * (of->high - of->low), sum, 0.5 * (of->low + of->high));
    }
}

// An episode of a lane under the policy, beside lanes under other actions.
static void environment_play_policy(const EnvironmentPolicy *of, const EnvironmentCase *c, int64_t lane,
                                    EnvironmentEpisode *episode)
{
    bool over = false;
    memset(episode, 0, sizeof *episode);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(c, NULL, NULL));
    for (int p = 0; p < c->info.n_parameters; p++)
        episode->parameter[p] = environment_case_number(c, HOPSCOTCH_PARAMETERS, lane, p);
    environment_note(c, lane, episode);
    while (!over && episode->steps < ENVIRONMENT_STEPS) {
        double action[ENVIRONMENT_ACTIONS];
        environment_ask(of, c, lane, action);
        for (int64_t i = 0; i < c->info.lanes; i++)
            for (int a = 0; a < of->actions; a++)
                environment_case_act(c, i, a,
                                     i == lane ? action[a] : of->high * environment_case_random(i, episode->steps, a));
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(c));
        episode->steps++;
        environment_note(c, lane, episode);
        over = environment_is_over(c, lane);
    }
    CHECK(over);
    environment_note_end(c, lane, episode);
}

// What a policy learned in an environment does in a run: the spec with {mode: policy} in place of {mode: external}.
static void environment_check_policy(const char *format, const EnvironmentPolicy *of, const char *external,
                                     const char *policy, const char *isa)
{
    static char text[2048], asked[2048];
    EnvironmentCase c;
    EnvironmentEpisode episode;
    hopscotch_env_options options = environment_options(11, HOPSCOTCH_AUTORESET_DISABLED);
    options.isa = isa;
    snprintf(text, sizeof text, format, external);
    snprintf(asked, sizeof asked, format, policy);
    if (!environment_case_open(text, &options, &c)) return;
    CHECK_INTEGER(of->observations, c.info.n_observations);
    CHECK_INTEGER(of->actions, c.info.n_actions);
    environment_write_policy(of);
    environment_play_policy(of, &c, 6, &episode);
    episode.observes = strstr(format, "observe") != NULL;
    environment_compare(asked, &episode, true, isa);
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&c));
}

#define ENVIRONMENT_OF_A_ROBOT                                                                                         \
    "version: 1\nexperiment: case\nseed: 4\nmodel: articulated\nobjective: {minimize: distance}\n"                     \
    "simulation:\n  robot: robots/quadruped.xml\n  keyframe: [stand]\n  settle: true\n  duration: 0.8\n  dt: 0.002\n"  \
    "  control: {period: 20ms, %s}\n"                                                                                  \
    "parameters: {all_kp: 80, all_kd: 2, fall_height: 0.2}\n"                                                          \
    "replicates:\n  perturb:\n    base_vx: {uniform: [0, 0.5]}\n    ground_friction: {uniform: [0.5, 1]}\n"            \
    "    front_left_knee_offset: {uniform: [-0.1, 0.1]}\n"

// Positions by all columns, of an offset that is searched; efforts by expressions.
TEST(environment_of_a_robot_has_the_bits_of_its_policy)
{
    static const char *const isas[] = {"scalar", ISA_V3};
    for (int k = 0; k < 2; k++) {
        if (!environment_has(isas[k])) continue;
        environment_check_policy(ENVIRONMENT_OF_A_ROBOT "environment: {reward: \"base_vx\"}\n",
                                 &(EnvironmentPolicy){65, 12, -0.3, 0.2}, "mode: external, command: position",
                                 "mode: policy, bounds: [-0.3, 0.2], file: learning/network.csv", isas[k]);
        environment_check_policy(ENVIRONMENT_OF_A_ROBOT
                                 "environment:\n  define: {ahead: \"base_vx - 0.5\", up: \"base_z - fall_height\"}\n"
                                 "  observe: [ahead, \"3*up\", base_qx, hind_left_knee_rate, \"failed + time\"]\n"
                                 "  reward: \"base_vx\"\n",
                                 &(EnvironmentPolicy){5, 12, -45.0, 45.0}, "mode: external, command: effort",
                                 "mode: policy, command: effort, file: learning/network.csv", isas[k]);
    }
}

TEST(environment_of_a_hopper_has_the_bits_of_its_policy)
{
    static const char format[] =
        "version: 1\nexperiment: case\nseed: 3\nmodel: hopper\n"
        "simulation:\n  settle: 0.05\n  duration: 0.4\n  control: {period: 10ms, %s}\n"
        "parameters: {u1_min: -40, u1_max: 60, u2_min: -40, u2_max: 60}\n"
        "replicates: {perturb: {phi_leg: {normal: [0.01, 0.05]}, z_foot: {uniform: [0.0, 0.2]}}}\n"
        "environment: {observe: [phi_leg, dphi_leg, phi_body, \"z_foot - 1\", fsm], reward: \"1\"}\n";
    environment_check_policy(format, &(EnvironmentPolicy){5, 2, -40.0, 60.0}, "mode: external",
                             "mode: policy, file: learning/network.csv", "scalar");
    if (!environment_has(ISA_V3)) return;
    environment_check_policy(format, &(EnvironmentPolicy){5, 2, -40.0, 60.0}, "mode: external",
                             "mode: policy, file: learning/network.csv", ISA_V3);
}
