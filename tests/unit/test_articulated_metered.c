// Gradients through metrics of the user's own over all columns of random robots: the adjoint against dual numbers and
// differences, lanes at once and with checkpoints against lanes alone.
#include "../../sim/cpu_kernels.h"
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- random metrics -------------------------------------------------------------------------------------------------

enum { METERED = 8, METERED_TERMS = 14, METERED_LANES = 8 };

typedef struct Metered {
    ArticulatedCase test;
    double *parameter, *weight; // [n_parameters], [n_metrics]
} Metered;

static TapeValue metered_of(Tape *tape, int operation, TapeValue a, TapeValue b)
{
    return tape_operation(tape, operation, a, b, TAPE_NONE);
}
static TapeValue metered_times(Tape *tape, double factor, TapeValue a)
{
    return metered_of(tape, PROGRAM_MULTIPLY, tape_number(tape, factor), a);
}

// A smooth function of two numbers; x may be hundreds.
static TapeValue metered_term(Tape *tape, int kind, double factor, TapeValue x, TapeValue y)
{
    const TapeValue one = tape_number(tape, 1.0), square = metered_of(tape, PROGRAM_MULTIPLY, x, x);
    const TapeValue little = metered_times(tape, 0.01 * factor, x);
    switch (kind) {
    case 0: return metered_of(tape, PROGRAM_SIN, metered_of(tape, PROGRAM_ADD, little, y), TAPE_NONE);
    case 1:
        return metered_of(tape, PROGRAM_DIVIDE, metered_of(tape, PROGRAM_MULTIPLY, x, y),
                          metered_of(tape, PROGRAM_ADD, one, square));
    case 2: return metered_of(tape, PROGRAM_HYPOT, metered_times(tape, factor, x), one);
    case 3: return metered_of(tape, PROGRAM_ATAN, metered_of(tape, PROGRAM_SUBTRACT, little, y), TAPE_NONE);
    case 4: return metered_of(tape, PROGRAM_MULTIPLY, little, little);
    default: return little;
    }
}

// Each column is in some metric.
static TapeValue metered_expression(const Metered *metered, Tape *tape, int metric, uint64_t *state)
{
    const Configured *configured = &metered->test.configured;
    const int n = configured->n_columns + configured->n_parameters;
    TapeValue sum = tape_number(tape, 0.3);
    for (int i = 0; i < METERED_TERMS; i++) {
        const int column = (metric + METERED * i) % configured->n_columns;
        int other = (int)random_between(state, 0, n);
        const double value = other < configured->n_columns ? 0.0 : metered->parameter[other - configured->n_columns];
        if (!(fabs(value) < 1e3)) other = 0; // without a limit: the time
        const TapeValue x = tape_input(tape, column, TAPE_MOVING);
        const TapeValue y = tape_input(tape, other, other < configured->n_columns ? TAPE_MOVING : TAPE_FIXED);
        const double factor = random_between(state, -1.5, 1.5);
        sum = metered_of(tape, PROGRAM_ADD, sum, metered_term(tape, (int)random_between(state, 0, 6), factor, x, y));
    }
    return sum;
}

// Adds the metrics to those of the robot.
static void metered_attach(Metered *metered, uint64_t seed)
{
    static const Reduction reductions[] = {REDUCTION_FINAL, REDUCTION_MEAN, REDUCTION_RMS, REDUCTION_INTEGRAL};
    static const Field fields[METERED] = {{"m0", "1", "", NULL}, {"m1", "1", "", NULL}, {"m2", "1", "", NULL},
                                          {"m3", "1", "", NULL}, {"m4", "1", "", NULL}, {"m5", "1", "", NULL},
                                          {"m6", "1", "", NULL}, {"m7", "1", "", NULL}};
    Arena *arena = &metered->test.arena;
    Configured *configured = &metered->test.configured;
    uint64_t state = seed + 77;
    Meter meter;
    TapeValue values[METERED];
    SystemMetric metrics[METERED];
    const SystemMode mode = {.watched = values};
    const System system = {
        .tape = tape_new(arena), .modes = &mode, .metrics = metrics, .metric_fields = fields, .n_metrics = METERED};
    for (int m = 0; m < METERED; m++) {
        metrics[m] = (SystemMetric){.reduction = reductions[m % 4], .condition = -1};
        values[m] = metered_expression(metered, system.tape, m, &state);
    }
    CHECK_OK(meter_make(&system, NULL, 0, configured, arena, &meter));
    meter_attach(&meter, configured, arena);
    metered->weight = ARENA_NEW(arena, double, configured->n_metrics);
    for (int m = configured_own_metrics(configured); m < configured->n_metrics; m++)
        metered->weight[m] = random_between(&state, -1, 1);
    metered->weight[ARTICULATED_METRIC_distance] = 0.5;
}

static void metered_start(Metered *metered, const ArticulatedSetup *setup, uint64_t seed)
{
    articulated_start(&metered->test, setup);
    const Configured *configured = &metered->test.configured;
    const Batch *batch = metered->test.batch;
    metered->parameter = ARENA_NEW(&metered->test.arena, double, configured->n_parameters);
    for (int p = 0; p < configured->n_parameters; p++) metered->parameter[p] = batch->parameter[p * batch->stride];
    metered_attach(metered, seed);
}

// ---- lanes ----------------------------------------------------------------------------------------------------------

// Results of some lanes: [..][lanes].
typedef struct MeteredRun {
    double *metric, *gradient, *growth;
    int *failure;
} MeteredRun;

static MeteredRun metered_go(Metered *metered, const CpuAdjoint *adjoint, int count, size_t most, double *parameter)
{
    const Configured *configured = &metered->test.configured;
    Arena *arena = &metered->test.arena;
    const size_t bytes = adjoint->bytes(configured, count, most);
    void *memory = arena_take(arena, bytes, 1);
    double *weight = ARENA_NEW(arena, double, configured->n_metrics *count);
    const MeteredRun run = {.metric = ARENA_NEW(arena, double, configured->n_metrics *count),
                            .gradient = ARENA_NEW(arena, double, configured->n_parameters *count),
                            .growth = ARENA_NEW(arena, double, count),
                            .failure = ARENA_NEW(arena, int, count)};
    const AdjointLanes lanes = {
        .count = count, .parameter = parameter, .most = most, .metric = run.metric, .failure = run.failure};
    for (int k = 0; k < configured->n_metrics * count; k++) weight[k] = metered->weight[k / count];
    memset(memory, 0x7f, bytes);
    adjoint->run(configured, &lanes, memory);
    adjoint->back(memory, weight, run.gradient, run.growth);
    return run;
}

static const CpuAdjoint *metered_adjoint(const CpuKernels *kernels)
{
    return &kernels->adjoint[KERNEL_articulated_tree];
}

// The metrics of the way forth have the bits of a run.
static void metered_check_run(Metered *metered, const double *metric)
{
    const Configured *configured = &metered->test.configured;
    ArticulatedCase run = metered->test;
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = "auto", .patience = INFINITY};
    CHECK_OK(backend_open(&options, &run.backend));
    CHECK_OK(backend_prepare(run.backend, configured, 1, 0, 0));
    run.batch = backend_batch(run.backend, 0);
    run.batch->lanes = 1;
    for (int p = 0; p < configured->n_parameters; p++)
        run.batch->parameter[p * run.batch->stride] = metered->parameter[p];
    articulated_go(&run, 16);
    for (int m = 0; m < configured->n_metrics; m++) CHECK_BITS(run.batch->metric[m * run.batch->stride], metric[m]);
    backend_close(run.backend);
}

// The adjoint against dual numbers, which take the derivatives forward. Returns the failure of the lane.
static int metered_check_tangent(Metered *metered)
{
    const Configured *configured = &metered->test.configured;
    const Adjoint *adjoint = configured->model->adjoint;
    Arena *arena = &metered->test.arena;
    const int n = configured->n_parameters, n_metrics = configured->n_metrics;
    const MeteredRun run = metered_go(metered, metered_adjoint(cpu_scalar_kernels()), 1, 0, metered->parameter);
    metered_check_run(metered, run.metric);
    double *direction = ARENA_NEW(arena, double, n), *metric = ARENA_NEW(arena, double, n_metrics);
    double *slope = ARENA_NEW(arena, double, n_metrics), rounding = 1e-12;
    void *memory = arena_take(arena, adjoint->tangent_bytes(configured), 1);
    for (int p = 0; p < n; p++) rounding = fmax(rounding, 1e-13 * fabs(run.gradient[p]));
    for (int p = 0; p < n; p += test_quick() ? 3 : 1) {
        double sum = 0.0;
        if (!adjoint->parameter(configured, p)) continue;
        direction[p] = 1.0;
        adjoint->tangent(configured, metered->parameter, direction, 1, memory, metric, slope, NULL, 0);
        direction[p] = 0.0;
        for (int m = 0; m < n_metrics; m++) {
            if (metered->weight[m] != 0.0) sum += metered->weight[m] * slope[m];
            if (m >= configured_own_metrics(configured))
                CHECK_NEAR(metric[m], run.metric[m], 1e-8 * fmax(1.0, fabs(metric[m])));
        }
        if (!(fabs(sum - run.gradient[p]) <= 1e-8 * fabs(sum) + rounding))
            CHECK_TEXT("its tangent", configured->parameters[p].name);
        CHECK_NEAR(sum, run.gradient[p], 1e-8 * fabs(sum) + rounding);
    }
    return run.failure[0];
}

TEST(articulated_gradient_of_metrics_over_columns)
{
    const uint64_t seeds = test_quick() ? 5 : 20;
    int failed = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        Arena arena;
        Metered metered;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seed + 300, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        setup_ground(&setup, (TerrainKind)(seed % TERRAIN_file), seed % 3 == 0);
        setup_control(&setup, (int)(seed / 2 % 3), &arena);
        if (seed % 2 == 1) setup_add(&setup, "all_effort", 2.0);
        if (seed % 3 == 1) setup_add(&setup, "fall_tilt", 0.2);
        const Points record = articulated_record(&setup, 40, 1.4, &arena);
        if (seed % 5 == 2) setup.reference = &record;
        if (seed / 2 % 2 == 1) setup_rates(&setup);
        setup_order(&setup, seed % 3 != 0);
        metered_start(&metered, &setup, seed);
        failed += metered_check_tangent(&metered) != 0;
        articulated_end(&metered.test);
        arena_destroy(&arena);
    }
    CHECK(failed > 0);
}

// ---- differences ----------------------------------------------------------------------------------------------------

// The weighted metrics with another value of a parameter.
static double metered_value(Metered *metered, int p, double value)
{
    const Configured *configured = &metered->test.configured;
    const size_t used = metered->test.arena.used;
    const double before = metered->parameter[p];
    double sum = 0.0;
    metered->parameter[p] = value;
    const MeteredRun run = metered_go(metered, metered_adjoint(cpu_scalar_kernels()), 1, 0, metered->parameter);
    metered->parameter[p] = before;
    for (int m = 0; m < configured->n_metrics; m++) {
        if (metered->weight[m] != 0.0) sum += metered->weight[m] * run.metric[m];
    }
    arena_rewind(&metered->test.arena, used);
    return sum;
}

// In the air, where a motion is smooth: central differences of two steps, and Richardson's of both.
TEST(articulated_gradient_of_metrics_in_flight)
{
    static const char *const names[] = {"gravity", "base_vx", "all_kp", "all_amplitude", "b1_mass", "gait_frequency"};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        Arena arena;
        Metered metered;
        if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
        const Robot robot = random_driven_robot(seed + 500, &arena);
        ArticulatedSetup setup = random_setup(&robot);
        setup_add(&setup, "base_z", 5.0); // the later one counts
        metered_start(&metered, &setup, seed);
        const MeteredRun run = metered_go(&metered, metered_adjoint(cpu_scalar_kernels()), 1, 0, metered.parameter);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            int p = 0;
            while (strcmp(metered.test.configured.parameters[p].name, names[k]) != 0) p++;
            const double at = metered.parameter[p], e = 1e-3 * fmax(fabs(at), 0.1);
            const double near = metered_value(&metered, p, at + e) - metered_value(&metered, p, at - e);
            const double far = metered_value(&metered, p, at + 2 * e) - metered_value(&metered, p, at - 2 * e);
            const double difference = (8 * near - far) / (12 * e);
            const double error = fabs(difference - near / (2 * e)) + 1e-11 / e;
            CHECK(error < 1e-3 * fabs(difference) + 1e-6);
            CHECK_NEAR(difference, run.gradient[p], 1e-6 * fabs(difference) + error);
        }
        articulated_end(&metered.test);
        arena_destroy(&arena);
    }
}

// ---- lanes at once --------------------------------------------------------------------------------------------------

// Lanes that start at different heights and speeds; some of them end early, one at its first step.
static double *metered_lanes(Metered *metered, int count)
{
    const int n = metered->test.configured.n_parameters;
    double *parameter = ARENA_NEW(&metered->test.arena, double, n *count);
    for (int k = 0; k < n * count; k++) parameter[k] = metered->parameter[k / count];
    for (int i = 0; i < count; i++) {
        parameter[ARTICULATED_PARAMETER_base_z * count + i] += 0.02 * i;
        parameter[ARTICULATED_PARAMETER_base_vx * count + i] -= 0.1 * i;
        if (i % 3 == 1) parameter[ARTICULATED_PARAMETER_fall_tilt * count + i] = 0.2 + 0.05 * i;
        if (i % 3 == 2) parameter[ARTICULATED_PARAMETER_fall_height * count + i] = 5.0;
    }
    return parameter;
}

// `count` lanes at once against each alone. Returns how many of them ended early.
static int metered_check_lanes(Metered *metered, const CpuKernels *kernels, int count, size_t most)
{
    const Configured *configured = &metered->test.configured;
    const size_t used = metered->test.arena.used;
    double *parameter = metered_lanes(metered, count), *own;
    const MeteredRun run = metered_go(metered, metered_adjoint(kernels), count, most, parameter);
    int failed = 0;
    own = ARENA_NEW(&metered->test.arena, double, configured->n_parameters);
    for (int i = 0; i < count; i++) {
        for (int p = 0; p < configured->n_parameters; p++) own[p] = parameter[p * count + i];
        const MeteredRun alone = metered_go(metered, metered_adjoint(cpu_scalar_kernels()), 1, 0, own);
        CHECK_INTEGER(alone.failure[0], run.failure[i]);
        CHECK_BITS(alone.growth[0], run.growth[i]);
        for (int m = 0; m < configured->n_metrics; m++) CHECK_BITS(alone.metric[m], run.metric[m * count + i]);
        for (int p = 0; p < configured->n_parameters; p++) CHECK_BITS(alone.gradient[p], run.gradient[p * count + i]);
        failed += run.failure[i] != 0;
    }
    arena_rewind(&metered->test.arena, used);
    return failed;
}

TEST(articulated_gradient_of_metrics_of_lanes_at_once)
{
    const CpuKernels *const all[] = {&cpu_plain_scalar, &cpu_plain_v2,    &cpu_plain_v3,
                                     &cpu_plain_v4,     &cpu_observed_v2, &cpu_observed_v3,
                                     &cpu_observed_v4,  &cpu_plain_neon,  &cpu_observed_neon};
    static const int counts[] = {1, 3, 4, METERED_LANES};
    Arena arena;
    Metered metered;
    int failed = 0;
    if (arena_create(&arena, (size_t)1 << 24, "a robot").kind != OK) abort();
    const Robot robot = random_driven_robot(6, &arena);
    ArticulatedSetup setup = random_setup(&robot);
    setup_ground(&setup, TERRAIN_heights, true);
    metered_start(&metered, &setup, 1);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            if (all[k] == NULL || all[k]->lanes > cpu_best_kernels()->lanes || counts[c] > all[k]->lanes) continue;
            failed += metered_check_lanes(&metered, all[k], counts[c], 0);
            metered_check_lanes(&metered, all[k], counts[c], 40000);
        }
    }
    CHECK(failed > 0 || cpu_best_kernels()->lanes == 1);
    articulated_end(&metered.test);
    arena_destroy(&arena);
}
