// The gradient of a rollout of an articulated robot, against differences and against the gradients of an independent
// prototype.
#include "../../sim/articulated/adjoint/pair.h"
#include "../../sim/cpu_kernels.h"
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROLLOUT_METRICS = ARTICULATED_N_METRICS + 2 }; // with reference_error and step_error
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
    rollout->memory = ARENA_NEW(arena, double, (size_t)articulated_adjoint_cells(&c, configured->n_parameters) * LANES);
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
        real changed;
        ArticulatedSeen seen = articulated_tick_solve(&w, tick, &changed);
        articulated_tick_move(&w, splat((double)tick * w.c.dt), &seen, changed, NULL);
        articulated_tick_compare(&w, tick + 1);
    }
    articulated_all_metrics(&w, splat((double)rollout->steps), all_lanes());
    for (int m = 0; m < rollout->test.configured.n_metrics; m++)
        sum += weights[m] * rollout->test.batch->metric[m * rollout->test.batch->stride];
    return sum;
}

// Returns how much the derivatives with respect to the state grow.
static double rollout_gradient(Rollout *rollout, const double *weights, size_t bytes, double *gradient)
{
    const Configured *configured = &rollout->test.configured;
    const Adjoint *adjoint = configured->model->adjoint;
    const Batch *batch = rollout->test.batch;
    double *parameter = ARENA_NEW(&rollout->test.arena, double, configured->n_parameters), metric[ROLLOUT_METRICS];
    void *memory = arena_take(&rollout->test.arena, adjoint->bytes(configured, 1, bytes), 1);
    int failure = 0;
    const AdjointLanes lanes = {
        .count = 1, .parameter = parameter, .most = bytes, .metric = metric, .failure = &failure};
    for (int p = 0; p < configured->n_parameters; p++) parameter[p] = batch->parameter[p * batch->stride];
    double growth = 0.0;
    adjoint->run(configured, &lanes, memory);
    adjoint->back(configured, 1, memory, weights, gradient, &growth);
    rollout_value(rollout, weights);
    for (int m = 0; m < configured->n_metrics && failure == 0; m++)
        CHECK_BITS(batch->metric[m * batch->stride], metric[m]);
    return growth;
}

// By central differences of the steps e and 2 e, and Richardson's of both. *error: how much the two differ, and what
// the rounding of values may do.
static double rollout_difference(Rollout *rollout, const double *weights, int p, double e, double *error)
{
    double *at = &rollout->test.batch->parameter[p * rollout->test.batch->stride], by[2], size = 1.0;
    const double value = *at;
    for (int k = 0; k < 2; k++) {
        const double step = e * (k + 1);
        *at = value + step;
        by[k] = rollout_value(rollout, weights);
        size = fmax(size, fabs(by[k]));
        *at = value - step;
        by[k] = (by[k] - rollout_value(rollout, weights)) / (2 * step);
    }
    *at = value;
    *error = fabs(by[0] - by[1]) + 1e-12 * size / e;
    return by[0] + (by[0] - by[1]) / 3;
}

// Of the steps 1e-2 ... 1e-6 the difference whose own error is least.
static double rollout_best_difference(Rollout *rollout, const double *weights, int p, double scale, double *error)
{
    double best = NAN, before = NAN, e = INFINITY, e_before = INFINITY;
    *error = INFINITY;
    for (double step = 1e-2; step > 5e-8; step *= 0.1) { // an estimate is at least the change to the next step
        const double d = rollout_difference(rollout, weights, p, step * scale, &e);
        const double estimate = fmax(e_before, fabs(d - before));
        if (estimate < *error) {
            best = before;
            *error = estimate;
        }
        before = d;
        e_before = e;
    }
    return best;
}

// The derivative by parameter p, by dual numbers.
static double rollout_tangent(Rollout *rollout, const double *weights, int p)
{
    const Configured *configured = &rollout->test.configured;
    const Adjoint *adjoint = configured->model->adjoint;
    const Batch *batch = rollout->test.batch;
    const size_t used = rollout->test.arena.used;
    double *parameter = ARENA_NEW(&rollout->test.arena, double, configured->n_parameters);
    double *direction = ARENA_NEW(&rollout->test.arena, double, configured->n_parameters);
    double metric[ROLLOUT_METRICS], slope[ROLLOUT_METRICS], sum = 0.0;
    void *memory = arena_take(&rollout->test.arena, adjoint->tangent_bytes(configured), 1);
    for (int k = 0; k < configured->n_parameters; k++) {
        parameter[k] = batch->parameter[k * batch->stride];
        direction[k] = k == p;
    }
    adjoint->tangent(configured, parameter, direction, 1, memory, metric, slope, NULL, 0);
    for (int m = 0; m < configured->n_metrics; m++) {
        if (weights[m] != 0.0) sum += weights[m] * slope[m];
    }
    arena_rewind(&rollout->test.arena, used);
    return sum;
}

// The adjoint against dual numbers, to 1e-9 of the derivative by every `every`th parameter, or to the rounding of the
// greatest.
static void rollout_check_tangent(Rollout *rollout, const double *weights, const double *gradient, int every)
{
    const Configured *configured = &rollout->test.configured;
    double rounding = 0.0;
    for (int p = 0; p < configured->n_parameters; p++) rounding = fmax(rounding, 1e-15 * fabs(gradient[p]));
    for (int p = 0; p < configured->n_parameters; p += every) {
        if (!configured->model->adjoint->parameter(configured, p)) continue;
        const double tangent = rollout_tangent(rollout, weights, p);
        const double value = fabs(rollout->test.batch->parameter[p * rollout->test.batch->stride]);
        const double bound = 1e-9 * fabs(tangent) + fmax(rounding, 1e-12 / fmax(1.0, isinf(value) ? 1.0 : value));
        if (!(fabs(tangent - gradient[p]) <= bound)) CHECK_TEXT("its tangent", configured->parameters[p].name);
        CHECK_NEAR(tangent, gradient[p], bound);
    }
}

// Every so manyth parameter is checked by differences. articulated_adjoint_is_the_tangent checks all.
static int rollout_sparse(void) { return test_quick() ? 5 : 1; }

// A difference of too little accuracy says nothing; *known: how many say something.
static void rollout_check(Rollout *rollout, const double *weights, double tolerance, int *known)
{
    const Configured *configured = &rollout->test.configured;
    double *gradient = ARENA_NEW(&rollout->test.arena, double, configured->n_parameters), error;
    rollout_gradient(rollout, weights, 0, gradient);
    rollout_check_tangent(rollout, weights, gradient, rollout_sparse());
    for (int p = 0; p < configured->n_parameters; p += rollout_sparse()) {
        const double value = fabs(rollout->test.batch->parameter[p * rollout->test.batch->stride]);
        if (isinf(value) || !configured->model->adjoint->parameter(configured, p)) continue;
        const double d = rollout_best_difference(rollout, weights, p, value > 0 ? value : 1.0, &error);
        const double bound = tolerance * fabs(d) + 3 * error;
        *known += error < 1e-4 * fabs(d);
        if (!(fabs(d - gradient[p]) <= bound)) CHECK_TEXT("its difference", configured->parameters[p].name);
        CHECK_NEAR(d, gradient[p], bound);
    }
}

static const double rollout_weights[ROLLOUT_METRICS] = {
    [ARTICULATED_METRIC_distance] = 1.0,
    [ARTICULATED_METRIC_lateral_drift] = -0.7,
    [ARTICULATED_METRIC_energy] = 1e-2,
    [ARTICULATED_METRIC_height_mean] = 3.0,
    [ARTICULATED_METRIC_tilt_rms] = 0.5,
    [ARTICULATED_METRIC_action_rate] = 0.1,
    [ARTICULATED_METRIC_ground_force_mean] = 1e-3,
    [ARTICULATED_METRIC_slip] = 0.2,
    [ARTICULATED_METRIC_cost_of_transport] = 1e-3,
    [ARTICULATED_METRIC_mean_speed] = 0.3,
};

static void rollout_check_setup_tangent(const ArticulatedSetup *setup)
{
    Rollout rollout;
    rollout_start(&rollout, setup, RANDOM_STEPS);
    double *gradient = ARENA_NEW(&rollout.test.arena, double, rollout.test.configured.n_parameters);
    rollout_gradient(&rollout, rollout_weights, 0, gradient);
    rollout_check_tangent(&rollout, rollout_weights, gradient, 1);
    articulated_end(&rollout.test);
}

static void rollout_check_weights(const ArticulatedSetup *setup, const double *weights, double tolerance, int *known)
{
    Rollout rollout;
    rollout_start(&rollout, setup, RANDOM_STEPS);
    rollout_check(&rollout, weights, tolerance, known);
    articulated_end(&rollout.test);
}
static void rollout_check_setup(const ArticulatedSetup *setup, double tolerance, int *known)
{
    rollout_check_weights(setup, rollout_weights, tolerance, known);
}

TEST(articulated_gradient_of_random_robots)
{
    int known = 0;
    const uint64_t seeds = test_quick() ? 2 : 8;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        Arena arena;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seed, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        if (seed % 3 == 1) { // joints at their limits, motors at their greatest effort
            setup_add(&setup, "all_low", -0.05);
            setup_add(&setup, "all_high", 0.15);
            setup_add(&setup, "all_effort", 2.0);
            setup_add(&setup, "all_least", -0.6);
            setup_add(&setup, "all_most", 4.0);
        }
        if (seed % 2 == 0) setup_rates(&setup);
        for (int second = 0; second < 2; second++) {
            setup_order(&setup, second == 1);
            rollout_check_setup(&setup, 1e-6, &known);
        }
        arena_destroy(&arena);
    }
    CHECK(known * rollout_sparse() > 50 * (int)seeds);
}

// More robots on each terrain, with each control, whose joints reach their limits and whose motors saturate, against
// dual numbers alone.
TEST(articulated_adjoint_is_the_tangent)
{
    const uint64_t seeds = test_quick() ? 6 : 24;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        Arena arena;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        Robot robot = random_driven_robot(seed + 100, &arena);
        const TerrainKind terrain = (TerrainKind)(seed % (TERRAIN_file + 1));
        if (terrain == TERRAIN_file) random_robot_world(&robot, seed, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        setup_ground(&setup, terrain, seed % 3 == 0);
        setup_control(&setup, (int)(seed / 2 % 3), &arena);
        if (seed % 2 == 1) {
            setup_add(&setup, "all_low", -0.05);
            setup_add(&setup, "all_high", 0.15);
            setup_add(&setup, "all_effort", 2.0);
        }
        if (seed % 4 == 1) { // stronger one way, and most of them at their own ends
            setup_add(&setup, "all_least", -0.6);
            setup_add(&setup, "all_most", seed % 8 == 1 ? 1.2 : 4.0);
        }
        if (seed / 2 % 2 == 1) setup_rates(&setup);
        rollout_check_setup_tangent(&setup);
        setup_order(&setup, true);
        rollout_check_setup_tangent(&setup);
        arena_destroy(&arena);
    }
}

// ---- Taylor's remainder ---------------------------------------------------------------------------------------------

// A direction in proportion to the parameters. Returns the derivative along it.
static double taylor_direction(Rollout *rollout, const double *gradient, uint64_t seed, double *d)
{
    const Configured *configured = &rollout->test.configured;
    const Batch *batch = rollout->test.batch;
    double slope = 0.0;
    for (int p = 0; p < configured->n_parameters; p++) {
        const double value = fabs(batch->parameter[p * batch->stride]);
        const bool moves = isfinite(value) && configured->model->adjoint->parameter(configured, p);
        d[p] = moves ? 0.1 * (value > 0.0 ? value : 1.0) * random_between(&seed, -1.0, 1.0) : 0.0;
        slope += d[p] * gradient[p];
    }
    return slope;
}

static double taylor_value(Rollout *rollout, const double *at, const double *d, double e)
{
    const Batch *batch = rollout->test.batch;
    for (int p = 0; p < rollout->test.configured.n_parameters; p++)
        batch->parameter[p * batch->stride] = at[p] + e * d[p];
    return rollout_value(rollout, rollout_weights);
}

// |f(p + e d) - f(p) - e g.d| falls with e^2 over a decade, the last one before it vanishes in the rounding of f. There
// an error of g.d by 1e-7 shows. bend: how far the power may be from 2. With a greater e some contacts begin or end.
static void taylor_check(const ArticulatedSetup *setup, uint64_t seed, double bend)
{
    enum { OCTAVES = 4, FIRST = 2, LAST = 40 };
    Rollout rollout;
    rollout_start(&rollout, setup, RANDOM_STEPS);
    const int n = rollout.test.configured.n_parameters;
    const Batch *batch = rollout.test.batch;
    double *gradient = ARENA_NEW(&rollout.test.arena, double, n), *d = ARENA_NEW(&rollout.test.arena, double, n);
    double *at = ARENA_NEW(&rollout.test.arena, double, n), remainder[LAST];
    int seen = FIRST;
    for (int p = 0; p < n; p++) at[p] = batch->parameter[p * batch->stride];
    rollout_gradient(&rollout, rollout_weights, 0, gradient);
    CHECK(gradient[ARTICULATED_PARAMETER_ground_stiffness] != 0.0); // it touches the ground
    const double slope = taylor_direction(&rollout, gradient, seed, d), value = taylor_value(&rollout, at, d, 0.0);
    for (; seen < LAST; seen++) {
        const double e = ldexp(1.0, -seen);
        remainder[seen] = fabs(taylor_value(&rollout, at, d, e) - value - e * slope);
        if (remainder[seen] < 1e-11 * (fabs(value) + 1.0)) break;
    }
    CHECK(seen >= FIRST + OCTAVES + 1 && seen < LAST);
    for (int k = seen - OCTAVES; k < seen; k++) CHECK_NEAR(2.0, log2(remainder[k - 1] / remainder[k]), bend);
    articulated_end(&rollout.test);
}

TEST(articulated_gradient_leaves_taylors_remainder)
{
    static const uint64_t seeds[] = {2, 3, 5, 6, 8, 10, 11}; // that touch the ground
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
        Arena arena;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seeds[k], &arena);
        ArticulatedSetup setup = random_setup(&robot);
        setup_ground(&setup, TERRAIN_flat, seeds[k] % 2 == 0);
        taylor_check(&setup, seeds[k], 0.1);
        setup_order(&setup, true);
        taylor_check(&setup, seeds[k], 0.3); // at these e some have a third derivative that shows
        arena_destroy(&arena);
    }
}

TEST(articulated_gradient_on_terrain)
{
    int known = 0;
    for (int terrain = TERRAIN_flat; terrain <= TERRAIN_table; terrain++) {
        Arena arena;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(5, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        setup_ground(&setup, (TerrainKind)terrain, false);
        rollout_check_setup(&setup, 1e-6, &known);
        arena_destroy(&arena);
    }
    CHECK(known * rollout_sparse() > 60);
}

// Shapes of all kinds on tilted planes and on the faces, edges and corners of shapes of the world: against dual
// numbers, and the first against differences.
TEST(articulated_gradient_on_shapes_of_the_world)
{
    int known = 0;
    for (uint64_t seed = 1; seed <= (test_quick() ? 3 : 12); seed++) {
        Arena arena;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        Robot robot = random_driven_robot(seed, &arena);
        random_robot_world(&robot, seed, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        setup_ground(&setup, TERRAIN_file, seed % 2 == 0);
        if (seed <= 2)
            rollout_check_setup(&setup, 1e-6, &known);
        else
            rollout_check_setup_tangent(&setup);
        setup_order(&setup, true);
        rollout_check_setup_tangent(&setup);
        arena_destroy(&arena);
    }
    CHECK(known * rollout_sparse() > 40);
}

// All four designs, of joints of two limbs; two of them of the same joint.
TEST(articulated_gradient_of_designs)
{
    static const double items[5][2] = {{1, 0}, {0, 0}, {0, 0}, {0, 0}, {2, 0}}; // axis, mirrored
    static const char *const names[] = {"tilt", "long", "heavy", "strong", "turn"};
    static const char *const joint[] = {"j1", NULL}, *const other[] = {"j2", NULL}, *const all[] = {"all", NULL};
    static const char *const *const words[5][4] = {{joint, NULL, NULL, NULL},
                                                   {NULL, joint, NULL, NULL},
                                                   {NULL, NULL, other, NULL},
                                                   {NULL, NULL, NULL, all},
                                                   {joint, NULL, NULL, NULL}};
    const Points lists[2] = {{.count = 0}, {.count = 5, .items = &items[0][0], .names = names, .words = &words[0][0]}};
    int known = 0;
    for (uint64_t seed = 1; seed <= (test_quick() ? 1 : 4); seed++) {
        Arena arena;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seed, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        setup.lists = lists;
        setup_add(&setup, "tilt", 0.2);
        setup_add(&setup, "long", 1.1);
        setup_add(&setup, "heavy", 1.2);
        setup_add(&setup, "strong", 0.9);
        setup_add(&setup, "turn", -0.3);
        rollout_check_setup(&setup, 1e-6, &known);
        setup_order(&setup, true);
        rollout_check_setup_tangent(&setup);
        arena_destroy(&arena);
    }
    CHECK(known * rollout_sparse() > 25);
}

// With fewer stored states the same bits; what cannot matter has the derivative 0; a run that ends early has that of
// its steps.
TEST(articulated_gradient_by_checkpoints)
{
    static const size_t bytes[] = {1, 40000, 200000};
    Arena arena;
    Rollout rollout;
    if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
    const Robot robot = random_driven_robot(6, &arena);
    for (int way = 0; way < 4; way++) {
        const int fall = way % 2;
        ArticulatedSetup setup = random_setup(&robot);
        setup_order(&setup, way >= 2);
        setup_ground(&setup, TERRAIN_flat, fall == 0); // the stretches of springs are stored, too
        setup_control(&setup, fall == 0 ? ARTICULATED_CONTROL_gait : ARTICULATED_CONTROL_actions, &arena);
        if (fall == 1) setup_add(&setup, "fall_tilt", 0.4);
        const Points record = articulated_record(&setup, 40, 1.4, &arena);
        setup.reference = &record;
        rollout_start(&rollout, &setup, RANDOM_STEPS);
        const int n = rollout.test.configured.n_parameters;
        double *whole = ARENA_NEW(&arena, double, n), *part = ARENA_NEW(&arena, double, n);
        const double growth = rollout_gradient(&rollout, rollout_weights, 0, whole);
        for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++) {
            CHECK_BITS(growth, rollout_gradient(&rollout, rollout_weights, bytes[k], part));
            for (int p = 0; p < n; p++) CHECK_BITS(whole[p], part[p]);
        }
        articulated_end(&rollout.test);
    }
    ArticulatedSetup setup = random_setup(&robot);
    for (int i = 0; setup.parameters[i].name != NULL; i++) {
        if (strcmp(setup.parameters[i].name, "base_z") == 0) setup.parameters[i].value = 5.0;
    }
    rollout_start(&rollout, &setup, RANDOM_STEPS);
    double *gradient = ARENA_NEW(&arena, double, rollout.test.configured.n_parameters);
    rollout_gradient(&rollout, rollout_weights, 0, gradient);
    for (int p = ARTICULATED_PARAMETER_ground_stiffness; p <= ARTICULATED_PARAMETER_slip_speed; p++)
        CHECK_BITS(0.0, gradient[p]);
    CHECK(gradient[ARTICULATED_PARAMETER_gravity] != 0.0);
    articulated_end(&rollout.test);
    arena_destroy(&arena);
}

// Of a body that flies freely the derivatives of the distance with respect to its place and velocity are 1 and the time
// that is left. An objective on which nothing depends has no growth.
TEST(articulated_gradient_grows_by_the_time_that_is_left)
{
    static const double far[ARTICULATED_N_METRICS] = {[ARTICULATED_METRIC_distance] = 2.0}, none[ARTICULATED_N_METRICS];
    const double time = RANDOM_DT * RANDOM_STEPS;
    uint64_t state = 3;
    Arena arena;
    Rollout rollout;
    if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
    Robot robot = random_robot(&state, 1, &arena);
    RobotBody body = robot.bodies[0];
    body.joint.kind = ROBOT_FREE;
    body.joint.motor.driven = false;
    robot.bodies = &body;
    robot.n_coordinates = robot_joint_coordinates(ROBOT_FREE);
    const ArticulatedSetup setup = {.robot = &robot,
                                    .settings = {{"dt", RANDOM_DT}, {"duration", time}},
                                    .parameters = {{"base_z", 5.0}, {"base_vx", 0.3}}};
    rollout_start(&rollout, &setup, RANDOM_STEPS);
    double *gradient = ARENA_NEW(&arena, double, rollout.test.configured.n_parameters);
    CHECK_NEAR(sqrt(1.0 + time * time), rollout_gradient(&rollout, far, 0, gradient), 1e-12);
    CHECK_NEAR(2.0 * time, gradient[ARTICULATED_PARAMETER_base_vx], 1e-12);
    CHECK(isnan(rollout_gradient(&rollout, none, 0, gradient)));
    articulated_end(&rollout.test);
    arena_destroy(&arena);
}

// ---- lanes at once --------------------------------------------------------------------------------------------------

enum { LANES_METRICS = ROLLOUT_METRICS };

static double lanes_weight(int metric) { return metric == ARTICULATED_REFERENCE_ERROR ? 2.0 : rollout_weights[metric]; }

// Lanes of a setup that start at different heights and speeds; some of them end early.
static void lanes_fill(const Rollout *rollout, int count, double *parameter)
{
    const Configured *configured = &rollout->test.configured;
    const Batch *batch = rollout->test.batch;
    for (int p = 0; p < configured->n_parameters; p++) {
        for (int i = 0; i < count; i++) parameter[p * count + i] = batch->parameter[p * batch->stride];
    }
    for (int i = 0; i < count; i++) {
        parameter[ARTICULATED_PARAMETER_base_z * count + i] += 0.02 * (i % 11);
        parameter[ARTICULATED_PARAMETER_base_vx * count + i] -= 0.1 * (i % 23);
        parameter[ARTICULATED_PARAMETER_fall_tilt * count + i] = i % 3 == 1 ? 0.2 + 0.05 * (i % 17) : 0.0;
        if (i % 3 != 2) continue;
        parameter[ARTICULATED_PARAMETER_fall_height * count + i] = 5.0; // its first step is its last
        parameter[ARTICULATED_PARAMETER_push_x * count + i] = 1e300;    // what follows is not finite
    }
}

static void lanes_go(const CpuAdjoint *adjoint, const Configured *configured, const AdjointLanes *lanes,
                     const double *weight, Arena *arena, double *gradient, double *growth)
{
    void *memory = arena_take(arena, adjoint->bytes(configured, lanes->count, lanes->most), 1);
    memset(memory, 0x7f, adjoint->bytes(configured, lanes->count, lanes->most));
    adjoint->run(configured, lanes, memory);
    adjoint->back(memory, weight, gradient, growth);
}

// Groups of `count` lanes, by kernels or a device, against each lane alone, by the kernels without vectors.
static int lanes_check(Rollout *rollout, const CpuKernels *kernels, AdjointDevice *device, int count, size_t most)
{
    const Configured *configured = &rollout->test.configured;
    Arena *arena = &rollout->test.arena;
    const size_t used = arena->used;
    const int n = configured->n_parameters, n_metrics = configured->n_metrics;
    double *parameter = ARENA_NEW(arena, double, n *count), *gradient = ARENA_NEW(arena, double, n *count);
    double *own = ARENA_NEW(arena, double, n), *own_gradient = ARENA_NEW(arena, double, n);
    double *metric = ARENA_NEW(arena, double, n_metrics *count), *weight = ARENA_NEW(arena, double, n_metrics *count);
    double *growth = ARENA_NEW(arena, double, count), own_metric[LANES_METRICS], own_weight[LANES_METRICS], alone;
    for (int m = 0; m < n_metrics; m++) own_weight[m] = lanes_weight(m);
    int *failure = ARENA_NEW(arena, int, count), own_failure, failed = 0;
    lanes_fill(rollout, count, parameter);
    for (int k = 0; k < n_metrics * count; k++) weight[k] = lanes_weight(k / count);
    const AdjointLanes lanes = {
        .count = count, .parameter = parameter, .most = most, .metric = metric, .failure = failure};
    if (device == NULL) {
        lanes_go(&kernels->adjoint[KERNEL_articulated_tree], configured, &lanes, weight, arena, gradient, growth);
    } else {
        CHECK(device->run(device, &lanes).kind == OK);
        CHECK(device->back(device, weight, gradient, growth).kind == OK);
    }
    for (int i = 0; i < count; i++) {
        const AdjointLanes lane = {.count = 1, .parameter = own, .metric = own_metric, .failure = &own_failure};
        for (int p = 0; p < n; p++) own[p] = parameter[p * count + i];
        lanes_go(&cpu_scalar_kernels()->adjoint[KERNEL_articulated_tree], configured, &lane, own_weight, arena,
                 own_gradient, &alone);
        CHECK_INTEGER(own_failure, failure[i]);
        CHECK_BITS(alone, growth[i]);
        for (int m = 0; m < n_metrics; m++) CHECK_BITS(own_metric[m], metric[m * count + i]);
        for (int p = 0; p < n; p++) {
            const bool smooth = device == NULL || configured->model->adjoint->parameter(configured, p);
            CHECK_BITS(smooth ? own_gradient[p] : 0.0, gradient[p * count + i]);
        }
        failed += failure[i] != 0;
    }
    arena_rewind(arena, used);
    return failed;
}

// A driven robot of random joints that follows a table on steps, or swings on heights with anchored friction and has a
// recorded motion to follow and rates at t = 0.
// way: bit 0: friction is anchored, bit 1: steps are of order two.
static void lanes_start(Rollout *rollout, int way, Arena *arena)
{
    const bool anchored = way % 2 == 1;
    if (arena_create(arena, (size_t)1 << 26, "a robot").kind != OK) abort();
    Robot *robot = ARENA_NEW(arena, Robot, 1);
    Points *record = ARENA_NEW(arena, Points, 1);
    *robot = random_driven_robot(6, arena);
    ArticulatedSetup setup = random_setup(robot);
    setup_order(&setup, way >= 2);
    setup_ground(&setup, anchored ? TERRAIN_heights : TERRAIN_steps, anchored);
    setup_control(&setup, anchored ? ARTICULATED_CONTROL_gait : ARTICULATED_CONTROL_actions, arena);
    *record = articulated_record(&setup, 40, 1.4, arena);
    if (anchored) setup.reference = record;
    if (anchored) setup_rates(&setup);
    rollout_start(rollout, &setup, RANDOM_STEPS);
}

// Groups of any size, of every instruction set, with all states and with checkpoints: the bits of lanes alone.
TEST(articulated_gradient_of_lanes_at_once)
{
    const CpuKernels *const all[] = {&cpu_plain_scalar, &cpu_plain_v2,    &cpu_plain_v3,
                                     &cpu_plain_v4,     &cpu_observed_v2, &cpu_observed_v3,
                                     &cpu_observed_v4,  &cpu_plain_neon,  &cpu_observed_neon};
    static const int counts[] = {1, 2, 3, 4, 5, 8};
    int failed = 0;
    if (cpu_best_kernels()->lanes == 1) {
        test_skip("kernels of several lanes", "make");
        return;
    }
    for (int way = 0; way < 4; way++) {
        Arena arena;
        Rollout rollout;
        lanes_start(&rollout, way, &arena);
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                if (all[k] == NULL || all[k]->lanes > cpu_best_kernels()->lanes || counts[c] > all[k]->lanes) continue;
                failed += lanes_check(&rollout, all[k], NULL, counts[c], 0);
                lanes_check(&rollout, all[k], NULL, counts[c], 40000);
            }
        }
        articulated_end(&rollout.test);
        arena_destroy(&arena);
    }
    CHECK(failed > 0);
}

// ---- leaving --------------------------------------------------------------------------------------------------------

// Asked more often than *of: leave.
static bool leave_at_last(const void *of) { return (*(int *)(uintptr_t)of)-- == 0; }

// Lanes leave when they are asked to, and run as before after that. Returns how often they were asked.
static int leave_check(Rollout *rollout, AdjointDevice *device, int count)
{
    const Configured *configured = &rollout->test.configured;
    const Adjoint *adjoint = configured->model->adjoint;
    Arena *arena = &rollout->test.arena;
    const int n = configured->n_parameters, n_metrics = configured->n_metrics;
    double *parameter = ARENA_NEW(arena, double, n *count), *metric = ARENA_NEW(arena, double, n_metrics *count);
    double *weight = ARENA_NEW(arena, double, n_metrics *count), *growth = ARENA_NEW(arena, double, count);
    double *gradient[2] = {ARENA_NEW(arena, double, n *count), ARENA_NEW(arena, double, n *count)};
    int *failure = ARENA_NEW(arena, int, count), left = 1000, asked = 0;
    void *memory = arena_take(arena, adjoint->bytes(configured, count, 0), 1);
    AdjointLanes lanes = {.count = count, .parameter = parameter, .metric = metric, .failure = failure, .of = &left};
    lanes_fill(rollout, count, parameter);
    for (int k = 0; k < n_metrics * count; k++) weight[k] = lanes_weight(k / count);
    for (bool ended = false; !ended;) {
        double *of = gradient[asked > 0];
        ended = device == NULL ? adjoint->run(configured, &lanes, memory) : device->run(device, &lanes).kind == OK;
        if (ended)
            ended = device == NULL ? adjoint->back(configured, count, memory, weight, of, growth)
                                   : device->back(device, weight, of, growth).kind == OK;
        CHECK(ended == (lanes.leaves == NULL || left >= 0));
        if (lanes.leaves == NULL) ended = false; // as it is; from here on it is asked once more each time
        lanes.leaves = leave_at_last;
        left = asked++;
    }
    CHECK(memcmp(gradient[0], gradient[1], sizeof(double) * (size_t)(n * count)) == 0);
    return asked - 2;
}

TEST(articulated_gradient_is_left)
{
    Arena arena;
    Rollout rollout;
    lanes_start(&rollout, 0, &arena);
    for (int count = 1; count <= rollout.test.configured.model->adjoint->lanes(); count++)
        CHECK_INTEGER(2, leave_check(&rollout, NULL, count)); // once on the way forth and once back
    articulated_end(&rollout.test);
    arena_destroy(&arena);
}

// Any number of lanes after any other, with all states and with checkpoints.
static int lanes_check_device(Rollout *rollout, Backend *backend)
{
    static const int counts[] = {70, 1, 7, 33, 64};
    static const size_t states[] = {0, 20000};
    int failed = 0;
    for (size_t k = 0; k < sizeof states / sizeof *states; k++) {
        AdjointDevice *device = NULL;
        CHECK(backend_adjoint(backend, &rollout->test.configured, 70, states[k], &device).kind == OK);
        CHECK(device != NULL && device->lanes == 70);
        if (device == NULL) return 1;
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            failed += lanes_check(rollout, NULL, device, counts[c], 0);
        CHECK(leave_check(rollout, device, 33) >= 2);
        device->close(device);
    }
    return failed;
}

// A GPU, or under `make asan` a host that pretends to be one: the bits of lanes alone.
TEST(articulated_gradient_by_a_gpu)
{
    Backend *backend = NULL;
    setenv("CUDA_ON_HOST_DEVICES", "1", 1);
    const Error error = backend_open(&(BackendOptions){.name = "cuda"}, &backend);
    unsetenv("CUDA_ON_HOST_DEVICES");
    if (error.kind != OK) {
        test_skip("a GPU, and a build for it", "configure.sh says how");
        return;
    }
    for (int way = 0; way < 4; way++) {
        Arena arena;
        Rollout rollout;
        lanes_start(&rollout, way, &arena);
        CHECK(lanes_check_device(&rollout, backend) > 0);
        articulated_end(&rollout.test);
        arena_destroy(&arena);
    }
    backend_close(backend);
}

// ---- two threads of a GPU -------------------------------------------------------------------------------------------

// Runs the lane in slices and goes back through it, as a GPU does (pair.h); here the two threads take turns.
static void pair_go(Rollout *rollout, size_t most, int64_t steps, AdjointSlice *slice)
{
    const Constants *constants = &rollout->test.configured.constants;
    const double *assets = rollout->test.configured.assets;
    const int64_t ticks = rollout->test.configured.ticks;
    slice->plan = articulated_adjoint_plan(&rollout->test.configured, most, 2);
    const size_t doubles = (size_t)articulated_adjoint_doubles(&slice->plan);
    slice->batch.work = ARENA_NEW(&rollout->test.arena, double, doubles);
    memset(slice->batch.work, 0x7f, doubles * sizeof(double));
    for (int64_t first = 0; first < ticks; first = slice->end) {
        slice->first = first;
        slice->end = first + steps < ticks ? first + steps : ticks;
        articulated_adjoint_forth(constants, assets, slice, 0);
    }
    for (int64_t end = ticks; end > 0; end = slice->first) {
        const int64_t begins = (end - 1) / slice->plan.segment * slice->plan.segment;
        slice->first = end - steps > begins ? end - steps : begins;
        slice->end = end;
        articulated_adjoint_back_slice(constants, assets, slice, 0, 0);
    }
}

// Slices of any length, with all states and with checkpoints: the bits of the CPU's adjoint.
TEST(articulated_gradient_by_two_threads)
{
    static const size_t states[] = {(size_t)1 << 28, 20000, 1};
    static const int64_t steps[] = {64, 16, 7, 1};
    for (int way = 0; way < 4; way++) {
        Arena arena;
        Rollout rollout;
        lanes_start(&rollout, way, &arena);
        const int n = rollout.test.configured.n_parameters, n_metrics = rollout.test.configured.n_metrics;
        const Batch *batch = rollout.test.batch;
        double *own = ARENA_NEW(&arena, double, n), *gradient = ARENA_NEW(&arena, double, n);
        double *pair = ARENA_NEW(&arena, double, n), metric[LANES_METRICS], weight[LANES_METRICS], grown = 0.0;
        int32_t failure = 0;
        for (int m = 0; m < n_metrics; m++) weight[m] = lanes_weight(m);
        for (int fall = 0; fall < 2; fall++) {
            batch->parameter[ARTICULATED_PARAMETER_fall_tilt * batch->stride] = fall == 1 ? 0.4 : 0.0;
            for (int p = 0; p < n; p++) own[p] = batch->parameter[p * batch->stride];
            const double growth = rollout_gradient(&rollout, weight, 0, gradient);
            for (size_t k = 0; k < sizeof states / sizeof *states * (sizeof steps / sizeof *steps); k++) {
                AdjointSlice slice = {
                    .batch = {.lanes = 1, .stride = 1, .parameter = own, .metric = metric, .status = &failure},
                    .weight = weight,
                    .gradient = pair,
                    .growth = &grown};
                pair_go(&rollout, states[k % 3], steps[k / 3], &slice);
                CHECK_BITS(growth, grown);
                for (int p = 0; p < n; p++) {
                    const bool smooth = rollout.test.configured.model->adjoint->parameter(&rollout.test.configured, p);
                    if (smooth) CHECK_BITS(gradient[p], pair[p]);
                }
            }
            CHECK((failure != 0) == (fall == 1));
        }
        articulated_end(&rollout.test);
        arena_destroy(&arena);
    }
}

// ---- a recorded motion ----------------------------------------------------------------------------------------------

static const double reference_weights[ROLLOUT_METRICS] = {[ARTICULATED_REFERENCE_ERROR] = 1.0};

// One column of the record alone.
static Points reference_alone(const Points *record, int64_t column, Arena *arena)
{
    const int64_t rows = record->count / record->columns;
    const char **names = ARENA_NEW(arena, const char *, 2);
    double *numbers = ARENA_NEW(arena, double, 2 * rows);
    names[0] = record->names[0];
    names[1] = record->names[column];
    for (int64_t r = 0; r < rows; r++) {
        numbers[2 * r] = record->numbers[r * record->columns];
        numbers[2 * r + 1] = record->numbers[r * record->columns + column];
    }
    return (Points){.count = 2 * rows, .columns = 2, .numbers = numbers, .names = names};
}

// A record whose forces have the size of the motion's. Smaller ones alone would make the error, and its rounding would
// hide the other columns.
static Points reference_record(const ArticulatedSetup *setup, Arena *arena)
{
    Points record = articulated_record(setup, 30, 1.75, arena);
    double *numbers = ARENA_NEW(arena, double, record.count);
    for (int64_t k = 0; k < record.count; k++) {
        const bool force = strstr(record.names[k % record.columns], "_force") != NULL;
        numbers[k] = (force ? 1e4 : 1.0) * record.numbers[k];
    }
    record.numbers = numbers;
    return record;
}

// Each column of a trajectory alone, then all of them with the other metrics; rows at steps and between them.
TEST(articulated_gradient_of_a_recorded_motion)
{
    int known = 0;
    Arena arena;
    if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
    Robot robot = random_driven_robot(5, &arena);
    ((RobotBody *)robot.bodies)[4].joint.motor.driven = false;
    ArticulatedSetup setup = random_setup(&robot);
    double weights[ROLLOUT_METRICS];
    const Points record = reference_record(&setup, &arena);
    for (int64_t c = 1; c < record.columns; c += test_quick() ? 17 : 4) {
        const Points alone = reference_alone(&record, c, &arena);
        setup.reference = &alone;
        rollout_check_weights(&setup, reference_weights, 1e-6, &known);
    }
    const Points start = articulated_record(&setup, 1, 1.0, &arena); // a row at 0 s
    setup.reference = &start;
    rollout_check_weights(&setup, reference_weights, 1e-6, &known);
    memcpy(weights, rollout_weights, sizeof weights);
    weights[ARTICULATED_REFERENCE_ERROR] = 2.0;
    setup.reference = &record;
    rollout_check_weights(&setup, weights, 1e-6, &known);
    setup_order(&setup, true);
    rollout_check_weights(&setup, weights, 1e-6, &known);
    CHECK(known * rollout_sparse() > (test_quick() ? 90 : 300));
    arena_destroy(&arena);
}

// ---- actuators ------------------------------------------------------------------------------------------------------

// Of every number of an actuator the derivative is there.
static void actuators_count(const Rollout *rollout, const double *gradient)
{
    static const char *const ends[] = {"_encoder", "_delay",      "_stiction", "_stribeck", "_load", "_stickload",
                                       "_drag",    "_resistance", "_kt",       "_gear",     "_emf",  "_voltage"};
    const Configured *configured = &rollout->test.configured;
    for (int p = 0; p < configured->n_parameters; p++) {
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            const char *at = strstr(configured->parameters[p].name, ends[k]);
            if (at == NULL || strlen(at) != strlen(ends[k]) || gradient[p] != 0.0) continue;
            CHECK_TEXT("a derivative", configured->parameters[p].name);
        }
    }
}

TEST(articulated_gradient_of_actuators)
{
    int known = 0;
    const uint64_t seeds = test_quick() ? 4 : 16;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        Arena arena;
        Rollout rollout;
        double weights[ROLLOUT_METRICS];
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seed + 300, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        const Points record = reference_record(&setup, &arena);
        setup.reference = &record;
        setup_control(&setup, seed % 4 < 2 ? ARTICULATED_CONTROL_gait : ARTICULATED_CONTROL_actions, &arena);
        setup_actuators(&setup, seed % 2 == 1);
        if (seed % 3 == 0) setup_add(&setup, "all_effort", 2.0);
        setup_order(&setup, seed % 5 == 3);
        memcpy(weights, rollout_weights, sizeof weights);
        weights[ARTICULATED_REFERENCE_ERROR] = 2.0;
        rollout_check_weights(&setup, weights, 1e-6, &known);
        rollout_start(&rollout, &setup, RANDOM_STEPS);
        double *gradient = ARENA_NEW(&rollout.test.arena, double, rollout.test.configured.n_parameters);
        rollout_gradient(&rollout, weights, 0, gradient);
        actuators_count(&rollout, gradient);
        rollout_check_tangent(&rollout, weights, gradient, 1);
        articulated_end(&rollout.test);
        arena_destroy(&arena);
    }
    CHECK(known * rollout_sparse() > 30 * (int)seeds);
}

// ---- masses ---------------------------------------------------------------------------------------------------------

// Centres, and inertias by log-Cholesky numbers, alone and with designs of the same bodies; a record of columns.
TEST(articulated_gradient_of_masses)
{
    static const ArticulatedValue values[] = {
        {"b0_movedx", 0.03},  {"b0_movedz", -0.02}, {"b2_movedx", 0.02}, {"b2_movedy", -0.04}, {"b2_movedz", 0.05},
        {"b3_movedy", 0.03},  {"b2_logx", 0.2},     {"b2_logy", -0.1},   {"b2_logz", 0.3},     {"b2_shearxy", 0.4},
        {"b2_shearxz", -0.2}, {"b2_shearyz", 0.1},  {"b4_logy", 0.5},    {"b4_shearyz", -0.3}};
    int known = 0;
    const uint64_t seeds = test_quick() ? 3 : 12;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        static const char *const names[] = {"long", "heavy"}, *const bodies[] = {"j2", "j4", NULL};
        Arena arena;
        double weights[ROLLOUT_METRICS];
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seed + 500, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        const char *const *words[2 * ARTICULATED_DESIGNS] = {NULL};
        words[ARTICULATED_LENGTH] = words[ARTICULATED_DESIGNS + ARTICULATED_WEIGHT] = bodies;
        double items[2 * 2] = {0};
        const Points lists[2] = {{.count = 0}, {.count = 2, .numbers = items, .names = names, .words = words}};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) setup_add(&setup, values[k].name, values[k].value);
        if (seed % 3 == 1) {
            setup.lists = lists;
            setup_add(&setup, "long", 1.1);
            setup_add(&setup, "heavy", 0.9);
        }
        if (seed % 2 == 0) setup_rates(&setup);
        if (seed % 3 == 2) setup_ground(&setup, TERRAIN_flat, seed % 2 == 0);
        setup_order(&setup, seed % 5 == 3);
        const Points record = reference_record(&setup, &arena);
        setup.reference = &record;
        memcpy(weights, rollout_weights, sizeof weights);
        weights[ARTICULATED_REFERENCE_ERROR] = 2.0;
        rollout_check_weights(&setup, weights, 1e-6, &known);
        setup.reference = NULL;
        rollout_check_setup_tangent(&setup);
        arena_destroy(&arena);
    }
    CHECK(known * rollout_sparse() > 30 * (int)seeds);
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
    pull_ticks(&w, 0, rollout->steps, rollout->states);
    pull_begin(&w);
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
    static const double none[ROLLOUT_METRICS];
    double expected[2], gradient[128];
    Rollout rollout;
    const char *at = strstr(strstr(golden, "\"gradient_of_pelvis_x_and_z\""), key);
    golden_numbers(at, "1e-06", 2, expected);
    rollout_start(&rollout, setup, steps);
    for (int k = 0; k < 2; k++) {
        rollout_value(&rollout, none);
        golden_gradient(&rollout, 2 * k, gradient);
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
