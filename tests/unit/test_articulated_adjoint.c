// The gradient of a rollout of an articulated robot, against differences and against the gradients of an independent
// prototype.
#include "../../sim/articulated/adjoint/rollout.h"
#include "articulated_hand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Rollout {
    ArticulatedCase test;
    LaneGroup group;
    double *memory, *states;
    int64_t steps;
} Rollout;

static void rollout_start(Rollout *rollout, const ArticulatedSetup *setup, int64_t steps)
{
    ArticulatedConstants c;
    articulated_start(&rollout->test, setup);
    const Configured *configured = &rollout->test.configured;
    Arena *arena = &rollout->test.arena;
    memcpy(&c, &configured->constants, sizeof c);
    rollout->steps = steps;
    rollout->memory =
        ARENA_NEW(arena, double, (size_t)articulated_adjoint_cells(&c, configured->n_parameters) * LANES);
    rollout->states = ARENA_NEW(arena, double, (size_t)(steps * articulated_state_size(&c)) * LANES);
    rollout->group = (LaneGroup){.batch = *rollout->test.batch, .valid = 1};
    rollout->group.batch.work = rollout->memory;
}

static ArticulatedLanes rollout_open(Rollout *rollout)
{
    return articulated_open(&rollout->test.configured.constants, rollout->test.configured.assets, &rollout->group);
}

// The metrics, weighted: an objective.
static double rollout_value(Rollout *rollout, const double *weights)
{
    const ArticulatedLanes w = rollout_open(rollout);
    double sum = 0.0;
    articulated_begin(&w);
    for (int64_t tick = 0; tick < rollout->steps; tick++) {
        state_store(&w, rollout->states + tick * articulated_state_size(&w.c) * LANES);
        articulated_tick(&w, tick);
    }
    articulated_metrics(&w, splat((double)rollout->steps), all_lanes());
    for (int m = 0; m < ARTICULATED_N_METRICS; m++)
        sum += weights[m] * rollout->test.batch->metric[m * rollout->test.batch->stride];
    return sum;
}

// After rollout_value. gradient[n_parameters]
static void rollout_gradient(Rollout *rollout, const double *weights, double *gradient)
{
    const ArticulatedLanes w = rollout_open(rollout);
    const int n = rollout->test.configured.n_parameters;
    real bars[ARTICULATED_N_METRICS];
    for (int m = 0; m < ARTICULATED_N_METRICS; m++) bars[m] = splat(weights[m]);
    bars_clear(&w, n);
    pull_rollout(&w, rollout->steps, rollout->states, bars);
    for (int p = 0; p < n; p++) gradient[p] = lane_of(limb(&w, parameter_bar_at(&w, p)), 0);
}

// By central differences of step e, and by Richardson of e and 2 e; *error: how much the two differ.
static double rollout_difference(Rollout *rollout, const double *weights, int p, double e, double *error)
{
    double *at = &rollout->test.batch->parameter[p * rollout->test.batch->stride], by[2];
    const double value = *at;
    for (int k = 0; k < 2; k++) {
        const double step = e * (k + 1);
        *at = value + step;
        by[k] = rollout_value(rollout, weights);
        *at = value - step;
        by[k] = (by[k] - rollout_value(rollout, weights)) / (2 * step);
    }
    *at = value;
    *error = fabs(by[0] - by[1]);
    return by[0] + (by[0] - by[1]) / 3;
}

// Of the steps 1e-3 ... 1e-7 the difference whose own error is least.
static double rollout_best_difference(Rollout *rollout, const double *weights, int p, double scale, double *error)
{
    double best = NAN, e;
    *error = INFINITY;
    for (double step = 1e-3; step > 5e-8; step *= 0.1) {
        const double d = rollout_difference(rollout, weights, p, step * scale, &e);
        if (e >= *error) continue;
        best = d;
        *error = e;
    }
    return best;
}

static void rollout_check(Rollout *rollout, const double *weights, double tolerance)
{
    const Configured *configured = &rollout->test.configured;
    double *gradient = ARENA_NEW(&rollout->test.arena, double, configured->n_parameters), error;
    rollout_value(rollout, weights);
    rollout_gradient(rollout, weights, gradient);
    for (int p = 0; p < configured->n_parameters; p++) {
        const double value = fabs(rollout->test.batch->parameter[p * rollout->test.batch->stride]);
        if (isinf(value)) continue;
        const double d = rollout_best_difference(rollout, weights, p, value > 0 ? value : 1.0, &error);
        if (getenv("SHOW") != NULL)
            printf("%-28s %15.8g %15.8g  %.1e (%.1e)\n", configured->parameters[p].name, gradient[p], d,
                   fabs(gradient[p] - d), error);
        CHECK_NEAR(d, gradient[p], tolerance * (fabs(d) + 1e-6) + error);
    }
}

static const double rollout_weights[ARTICULATED_N_METRICS] = {
    [ARTICULATED_METRIC_distance] = 1.0,          [ARTICULATED_METRIC_lateral_drift] = -0.7,
    [ARTICULATED_METRIC_energy] = 1e-2,           [ARTICULATED_METRIC_height_mean] = 3.0,
    [ARTICULATED_METRIC_tilt_rms] = 0.5,          [ARTICULATED_METRIC_action_rate] = 0.1,
    [ARTICULATED_METRIC_ground_force_mean] = 1e-3, [ARTICULATED_METRIC_slip] = 0.2,
    [ARTICULATED_METRIC_cost_of_transport] = 1e-3, [ARTICULATED_METRIC_mean_speed] = 0.3,
};

TEST(articulated_gradient_of_random_robots)
{
    for (uint64_t seed = 1; seed <= (test_quick() ? 2 : 6); seed++) {
        Arena arena;
        Rollout rollout;
        uint64_t state = seed;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        Robot robot = random_robot(&state, 6, &arena);
        RobotShape *shapes = ARENA_NEW(&arena, RobotShape, robot.n_bodies);
        for (int i = 0; i < robot.n_bodies; i++)
            shapes[i] = (RobotShape){
                .name = "", .kind = ROBOT_SPHERE, .body = i, .q = {0, 0, 0, 1}, .size = {0.05, 0, 0}, .collides = true};
        robot.shapes = shapes;
        robot.n_shapes = robot.n_bodies;
        const ArticulatedSetup setup = {.robot = &robot,
                                        .settings = {{"dt", 2e-3}, {"duration", 1.0}, {"control.mode", 1}},
                                        .parameters = {{"base_z", 0.1},
                                                       {"base_vx", 0.3},
                                                       {"push_time", 0.02},
                                                       {"push_x", 10.0},
                                                       {"all_amplitude", 0.3},
                                                       {"all_offset", 0.1},
                                                       {"all_phase", 0.4},
                                                       {"all_kp", 20.0},
                                                       {"all_kd", 0.5},
                                                       {"all_armature", 0.01},
                                                       {"all_damping", 0.02},
                                                       {"all_stiffness", 0.5},
                                                       {"all_spring", 0.2},
                                                       {"all_friction", 0.05},
                                                       {"all_start", 0.1}}};
        rollout_start(&rollout, &setup, 60);
        rollout_check(&rollout, rollout_weights, 1e-6);
        articulated_end(&rollout.test);
        arena_destroy(&arena);
    }
}

// ---- Unitree G1 -----------------------------------------------------------------------------------------------------

// d of the base's origin along axis k (0: x, 2: z) with respect to the parameters.
static void golden_gradient(Rollout *rollout, int k, double *gradient)
{
    const ArticulatedLanes w = rollout_open(rollout);
    const int n = rollout->test.configured.n_parameters;
    const Vector3 axis = vector3(splat(k == 0), splat(0.0), splat(k == 2));
    Rotation turned = rotation_zero();
    bars_clear(&w, n);
    pull_turned(&turned, body_vector(&w, 0, ARTICULATED_anchor_x), axis);
    set_bar3(&w, ARTICULATED_X, axis);
    set_bar4(&w, ARTICULATED_Q, pull_rotation(limb4(&w, ARTICULATED_Q), &turned));
    pull_steps(&w, rollout->steps, rollout->states);
    for (int p = 0; p < n; p++) gradient[p] = lane_of(limb(&w, parameter_bar_at(&w, p)), 0);
}

// Along the direction d of the six designs.
static double golden_along(const Rollout *rollout, const double *gradient, const double *d)
{
    const Configured *configured = &rollout->test.configured;
    double sum = 0.0;
    for (int p = 0; p < configured->n_parameters; p++) {
        const char *name = configured->parameters[p].name;
        if (strncmp(name, "turn", 4) == 0) sum += gradient[p] * d[name[4] - '0'];
    }
    return sum;
}

static void golden_gradients(const char *golden, const ArticulatedSetup *setup, const double *d, const char *key,
                             int64_t steps, double tolerance)
{
    static const double none[ARTICULATED_N_METRICS];
    double expected[2], gradient[128];
    Rollout rollout;
    const char *at = strstr(strstr(golden, "\"gradient_of_pelvis_x_and_z\""), key);
    golden_numbers(at, "1e-06", 2, expected);
    rollout_start(&rollout, setup, steps);
    for (int k = 0; k < 2; k++) {
        rollout_value(&rollout, none);
        golden_gradient(&rollout, 2 * k, gradient);
        if (getenv("SHOW") != NULL)
            printf("%s %.12g %.12g\n", key, expected[k], golden_along(&rollout, gradient, d));
        CHECK_NEAR(expected[k], golden_along(&rollout, gradient, d), tolerance * fabs(expected[k]));
    }
    articulated_end(&rollout.test);
}

TEST(articulated_gradient_of_g1)
{
    Robot robot;
    Arena arena;
    Points lists[2];
    double theta[6], d[6], dt;
    if (arena_create(&arena, (size_t)1 << 26, "a test").kind != OK) abort();
    const char *golden = g1_golden(&arena);
    if (g1_robot(&arena, NULL, &robot) && golden != NULL) {
        golden_numbers(golden, "theta", 6, theta);
        golden_numbers(golden, "d", 6, d);
        golden_numbers(golden, "dt", 1, &dt);
        ArticulatedSetup setup = {
            .robot = &robot, .settings = {{"dt", dt}, {"duration", 1.0}, {"control.mode", 1}}, .lists = lists};
        memcpy(setup.parameters, golden_gait, sizeof golden_gait);
        golden_designs(lists, setup.parameters + GOLDEN_GAIT, theta);
        golden_gradients(golden, &setup, d, "d T=0.05", 24, 1e-6);
        golden_gradients(golden, &setup, d, "d T=0.1", 48, 1e-6);
        golden_gradients(golden, &setup, d, "d T=0.25", 120, 1e-6);
        golden_gradients(golden, &setup, d, "d T=0.5", 240, 1e-6);
        golden_gradients(golden, &setup, d, "d T=1.0", 480, 1e-5);
    }
    arena_destroy(&arena);
}
