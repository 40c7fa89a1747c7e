// Environments on the device under test (environment_case.h) beside the CPU: all arrays are equal to the bit, for any
// number of lanes, in each mode of autoreset, with masks and seeds in the memory of the host and of the device.
#include "environment_case.h"

#include <stdio.h>
#include <string.h>

enum { DEVICE_STEPS = 24, DEVICE_LANES = 5001 };

#define DEVICE_HOPPER(simulation)                                                                                      \
    "version: 1\nexperiment: case\nseed: 3\nmodel: hopper\n"                                                           \
    "simulation: {settle: 0.005, duration: 0.02, control: {mode: external, period: 2ms}" simulation "}\n"              \
    "replicates:\n  perturb:\n    phi_leg: {normal: [0.05, 0.05]}\n    z_foot: {uniform: [0.0, 0.02]}\n"               \
    "    x_dot_des: {uniform: [0, 3]}\n"                                                                               \
    "environment:\n  define: {error: dx_foot - x_dot_des, effort: u1^2 + u2^2}\n"                                      \
    "  observe: [time, phi_leg, dx_foot, error, fsm, u1, x_dot_des]\n"                                                 \
    "  reward: \"1 - error^2 - 1e-4 * effort\"\n  terminate: \"phi_leg < -0.02 or abs(dz_foot) > 2\"\n"
static const char device_plain[] = DEVICE_HOPPER("");
static const char device_full[] = DEVICE_HOPPER(", push: random, wind: gusting, terrain: sine");
static const char device_robot[] =
    "version: 1\nexperiment: case\nseed: 4\nmodel: articulated\nobjective: {minimize: distance}\n"
    "simulation:\n  robot: robots/quadruped.xml\n  keyframe: [stand]\n  duration: 0.16\n  dt: 0.002\n"
    "  control: {mode: external, command: position, period: 20ms}\n"
    "parameters: {all_kp: 80, all_kd: 2, fall_height: 0.26}\n"
    "replicates:\n  perturb:\n    base_z: {uniform: [0, 0.02]}\n    ground_friction: {uniform: [0.5, 1]}\n"
    "environment: {reward: \"base_vx - 0.1 * failed\"}\n";

// Whether all arrays of both are equal; the first that differs is said.
static bool device_equal(const EnvironmentCase *expected, const EnvironmentCase *got, int step)
{
    for (int k = 0; k < HOPSCOTCH_N_ARRAYS; k++) {
        const hopscotch_array *array = &expected->array[k];
        const int columns = array->n_dimensions == 1 ? 1 : (int)array->shape[1];
        for (int column = 0; column < columns; column++) {
            for (int64_t lane = 0; lane < expected->info.lanes; lane++) {
                const double x = environment_case_number(expected, k, lane, column);
                const double y = environment_case_number(got, k, lane, column);
                if (memcmp(&x, &y, sizeof x) == 0) continue;
                printf("array %d, lane %lld, column %d, step %d:\n", k, (long long)lane, column, step);
                CHECK_BITS(x, y);
                return false;
            }
        }
    }
    return true;
}

// Begins some lanes again: those of the mode that does not by the flags where they are, else some at random; each fifth
// time with seeds of the host, each seventh time with numbers that the environment holds.
static void device_reset(const EnvironmentCase *c, int step)
{
    static uint8_t chosen[DEVICE_LANES];
    static uint64_t seeds[DEVICE_LANES];
    for (int64_t lane = 0; lane < c->info.lanes; lane++) {
        chosen[lane] = environment_case_random(lane, step, 20) > 0.8;
        seeds[lane] = (uint64_t)(lane / 2 + step);
    }
    const uint8_t *mask = c->info.autoreset == HOPSCOTCH_AUTORESET_DISABLED && step % 2 == 0
                              ? (const uint8_t *)c->place[HOPSCOTCH_TERMINATED]
                              : chosen;
    const uint64_t *given = step % 5 == 0   ? seeds
                            : step % 7 == 0 ? (const uint64_t *)c->place[HOPSCOTCH_EPISODE_STEPS]
                                            : NULL;
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(c, mask, given));
}

static void device_act(const EnvironmentCase *c, int step, double size)
{
    for (int64_t lane = 0; lane < c->info.lanes; lane++)
        for (int a = 0; a < c->info.n_actions; a++)
            environment_case_act(c, lane, a, size * environment_case_random(lane, step, a));
}

// Returns how many episodes ended.
static int64_t device_play(const EnvironmentCase *cases[2], double size)
{
    int64_t ended = 0;
    bool equal = true;
    for (int i = 0; i < 2; i++) CHECK_INTEGER(HOPSCOTCH_OK, environment_case_reset(cases[i], NULL, NULL));
    equal = device_equal(cases[0], cases[1], 0);
    for (int step = 1; step <= DEVICE_STEPS && equal; step++) {
        for (int i = 0; i < 2; i++) {
            if (step % 3 == 0) device_reset(cases[i], step);
            device_act(cases[i], step, size);
            CHECK_INTEGER(HOPSCOTCH_OK, environment_case_step(cases[i]));
        }
        equal = device_equal(cases[0], cases[1], step);
        for (int64_t lane = 0; lane < cases[0]->info.lanes; lane++)
            ended += environment_case_number(cases[0], HOPSCOTCH_TERMINATED, lane, 0) != 0.0 ||
                     environment_case_number(cases[0], HOPSCOTCH_TRUNCATED, lane, 0) != 0.0;
    }
    return ended;
}

// Beside the widest vectors of the CPU: lanes one by one.
static void device_check(const char *text, int autoreset, int type, int64_t lanes)
{
    EnvironmentCase expected, got;
    hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
    options.lanes = test_quick() && lanes > 130 ? 130 : lanes;
    options.autoreset = autoreset;
    options.type = type;
    options.device = environment_case_device();
    if (!environment_case_open(text, &options, &got)) return;
    options.device = "cpu";
    options.isa = environment_case_on_gpu() ? NULL : "scalar";
    if (environment_case_open(text, &options, &expected)) {
        CHECK(device_play((const EnvironmentCase *[2]){&expected, &got}, text == device_robot ? 0.4 : 80.0) > 0);
        CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&expected));
    }
    CHECK_INTEGER(HOPSCOTCH_OK, environment_case_close(&got));
}

TEST(environment_on_a_device_plain_hopper)
{
    device_check(device_plain, HOPSCOTCH_AUTORESET_NEXT_STEP, HOPSCOTCH_FLOAT64, 65);
    device_check(device_plain, HOPSCOTCH_AUTORESET_SAME_STEP, HOPSCOTCH_FLOAT64, DEVICE_LANES);
    device_check(device_plain, HOPSCOTCH_AUTORESET_DISABLED, HOPSCOTCH_FLOAT32, 333);
}

TEST(environment_on_a_device_full_hopper)
{
    device_check(device_full, HOPSCOTCH_AUTORESET_NEXT_STEP, HOPSCOTCH_FLOAT64, 64);
    device_check(device_full, HOPSCOTCH_AUTORESET_SAME_STEP, HOPSCOTCH_FLOAT32, 1000);
    device_check(device_full, HOPSCOTCH_AUTORESET_DISABLED, HOPSCOTCH_FLOAT64, 1);
}

TEST(environment_on_a_device_robot)
{
    device_check(device_robot, HOPSCOTCH_AUTORESET_NEXT_STEP, HOPSCOTCH_FLOAT64, 63);
    device_check(device_robot, HOPSCOTCH_AUTORESET_SAME_STEP, HOPSCOTCH_FLOAT32, 130);
    device_check(device_robot, HOPSCOTCH_AUTORESET_DISABLED, HOPSCOTCH_FLOAT64, 257);
}

// A hybrid system by each integrator, a noisy one and a map.
TEST(environment_on_a_device_systems)
{
    static const char *const integrators[] = {"dormand_prince", "rk4", "semi_implicit_euler", "implicit_midpoint",
                                              "rodas5p"};
    static const char *const others[] = {
        "duration: 0.2, dt: 0.005, integrator: sra3, control: {period: 0.02}, system: {inputs: {u: {range: [-9, 9]}}, "
        "states: {x: 0, v: 0}, rates: {x: v, v: u - x}, noise: {v: 0.5}, failures: {far: x > 0.1}, "
        "events: [{name: left, falls: x + 0.05, set: {x: 0}}], metrics: {lefts: {count: left}}}",
        "duration: 20, control: {period: 3}, system: {inputs: {u: {range: [3, 4]}}, states: {x: 0.3}, "
        "next: {x: u*x*(1 - x)}, metrics: {top: {max: x}}, failures: {high: x > 0.98}}"};
    static const char ball[] =
        "duration: 0.2, dt: 0.005, integrator: %s, control: {period: 0.02}, system: {parameters: {g: 9.81}, "
        "inputs: {u: {range: [-9, 9]}, w: {range: [0, 1]}}, states: {x: 0.05, v: 0}, held: {n: 0}, modes: {"
        "air: {rates: {x: v, v: u - g}, events: [{name: land, falls: x, to: ground, set: {n: n + w}}]}, "
        "ground: {rates: {x: v, v: \"u - g - 900*x - v\"}, events: [{name: leave, rises: x, to: air}]}}, "
        "metrics: {lands: {count: land}, high: {max: x + u/100}, work: {integral: u*v}, up: {part: u > 0}}, "
        "failures: {flew: x > 0.2}}";
    char text[4096], simulation[2048];
    for (int i = 0; i < 7; i++) {
        snprintf(simulation, sizeof simulation, i < 5 ? ball : "%s", i < 5 ? integrators[i] : others[i - 5]);
        snprintf(text, sizeof text,
                 "version: 1\nexperiment: case\nseed: 8\nmodel: equations\nobjective: {minimize: survived}\n"
                 "simulation: {%s}\nreplicates: {perturb: {x: {uniform: [0.02, 0.09]}}}\n"
                 "environment: {reward: x - failed, terminate: x > 0.96}\n",
                 simulation);
        device_check(text, HOPSCOTCH_AUTORESET_NEXT_STEP, HOPSCOTCH_FLOAT64, 65);
        device_check(text, HOPSCOTCH_AUTORESET_SAME_STEP, HOPSCOTCH_FLOAT32, DEVICE_LANES);
        device_check(text, HOPSCOTCH_AUTORESET_DISABLED, HOPSCOTCH_FLOAT64, 333);
    }
}
