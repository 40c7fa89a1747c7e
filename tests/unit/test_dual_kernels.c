// Runs with dual numbers: derivatives along a direction have the same bits with any others beside it, and on every
// instruction set; values have those of plain numbers.
#include "../../sim/dual_kernels.h"
#include "articulated_hand.h"
#include "hopper_case.h"
#include "rigid_case.h"

#include <math.h>
#include <string.h>

enum { DUAL_ROWS = 12, DUAL_COLUMNS_MOST = 256 };

// A lane's values and derivatives along n directions. The slopes of direction k are [k][n_metrics], [k][rows].
typedef struct DualRun {
    int failure, n_series;
    double *metric, *slope, *value, *value_slope;
    ResidualSeries series;
} DualRun;

// residuals: of the metric with this number; -1: none.
static DualRun dual_run(const DualKernels *kernels, const Configured *configured, const double *parameter,
                        const double *direction, int n, int residuals, Arena *arena)
{
    enum { MOST = DUAL_ROWS * DUAL_COLUMNS_MOST };
    DualRun run = {.n_series = residuals >= 0,
                   .metric = ARENA_NEW(arena, double, configured->n_metrics),
                   .slope = ARENA_NEW(arena, double, n * configured->n_metrics),
                   .value = ARENA_NEW(arena, double, MOST),
                   .value_slope = ARENA_NEW(arena, double, n *MOST)};
    run.series = (ResidualSeries){.metric = residuals,
                                  .capacity = MOST,
                                  .value = run.value,
                                  .slope = run.value_slope,
                                  .n_directions = n,
                                  .stride = MOST};
    void *memory = arena_take(arena, kernels->bytes(configured), 1);
    run.failure =
        kernels->tangent(configured, parameter, direction, n, memory, run.metric, run.slope, &run.series, run.n_series);
    return run;
}

// Direction k of `all` is direction 0 of `one`.
static void dual_check_direction(const Configured *configured, const DualRun *all, int k, const DualRun *one)
{
    CHECK_INTEGER(all->failure, one->failure);
    for (int m = 0; m < configured->n_metrics; m++) {
        CHECK_BITS(all->metric[m], one->metric[m]);
        CHECK_BITS(all->slope[k * configured->n_metrics + m], one->slope[m]);
    }
    CHECK_INTEGER(all->series.count, one->series.count);
    for (int64_t i = 0; i < all->series.count; i++) {
        CHECK_BITS(all->value[i], one->value[i]);
        CHECK_BITS(all->value_slope[k * all->series.stride + i], one->value_slope[i]);
    }
}

// Direction k: parameters k, k + 8, k + 16 ...
static DualRun dual_check(const Configured *configured, const double *parameter, int residuals, Arena *arena)
{
    const int n = configured->n_parameters, count = DUAL_DIRECTIONS;
    double *direction = ARENA_NEW(arena, double, count *n);
    int moved = 0;
    for (int p = 0; p < n; p++) {
        if (configured->model->adjoint->parameter(configured, p)) direction[p % count * n + p] = 1.0 + 0.25 * (p % 3);
    }
#if defined(__aarch64__)
    const DualKernels *all[] = {&dual_kernels_neon, &dual_kernels_neon};
#else
    const DualKernels *all[] = {&dual_kernels_v2, test_has_isa("v3") ? &dual_kernels_v3 : &dual_kernels_v2};
#endif
    const DualRun together = dual_run(all[1], configured, parameter, direction, count, residuals, arena);
    for (int k = 0; k < count; k++) {
        const DualRun alone = dual_run(all[k % 2], configured, parameter, direction + k * n, 1, residuals, arena);
        dual_check_direction(configured, &together, k, &alone);
        for (int m = 0; m < configured->n_metrics; m++) moved += alone.slope[m] != 0.0;
    }
    CHECK(moved >= count);
    if (residuals >= 0) CHECK(together.series.count > 0);
    return together;
}

TEST(dual_directions_of_robots_keep_their_bits)
{
    Arena arena;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 28, "a test"));
    const Robot robot = random_driven_robot(3, &arena);
    ArticulatedSetup setup = random_setup(&robot);
    const Points record = articulated_record(&setup, DUAL_ROWS, 2.5, &arena);
    setup.reference = &record;
    ArticulatedCase test;
    articulated_start(&test, &setup);
    double *parameter = ARENA_NEW(&arena, double, test.configured.n_parameters);
    for (int p = 0; p < test.configured.n_parameters; p++) parameter[p] = test.batch->parameter[p * test.batch->stride];
    const DualRun run = dual_check(&test.configured, parameter, ARTICULATED_REFERENCE_ERROR, &arena);
    articulated_go(&test, 1000);
    for (int m = 0; m < test.configured.n_metrics; m++)
        CHECK_BITS(test.batch->metric[m * test.batch->stride], run.metric[m]);
    articulated_end(&test);
    arena_destroy(&arena);
}

TEST(dual_directions_of_hoppers_keep_their_bits)
{
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        HopperCase test = hopper_case;
        test.duration = 0.6;
        test.integrator = adaptive ? 4 : 3; // dormand_prince; rk4
        HopperOutcome outcome = hopper_simulate(&test);
        const Configured *configured = &outcome.configured;
        const Batch *batch = outcome.batch;
        Arena arena;
        CHECK_OK(arena_create_growing(&arena, (size_t)1 << 28, "a test"));
        double *parameter = ARENA_NEW(&arena, double, configured->n_parameters);
        for (int p = 0; p < configured->n_parameters; p++) parameter[p] = batch->parameter[p * batch->stride];
        const DualRun run = dual_check(configured, parameter, -1, &arena);
        for (int m = 0; m < configured->n_metrics; m++) {
            const double plain = batch->metric[m * batch->stride];
            if (isnan(plain))
                CHECK(isnan(run.metric[m]));
            else
                CHECK_BITS(plain, run.metric[m]);
        }
        arena_destroy(&arena);
        hopper_release(&outcome);
    }
}

TEST(dual_directions_of_rigid_bodies_keep_their_bits)
{
    static const char *const forms[] = {"rattle", "baumgarte", "soft"};
    for (int form = 0; form < 3; form++) {
        RigidRun run;
        char simulation[512];
        snprintf(
            simulation, sizeof simulation,
            "{duration: 0.5, dt: 0.01, stabilisation: %s, world: {bodies: [{name: payload, mass: 1, position: "
            "[0, 0, -2], velocity: [2, 0, 0]}], constraints: [{name: rod, type: distance, a: payload, length: 2}]}}",
            forms[form]);
        rigid_start(&run, simulation, "", 1, NULL);
        double *parameter = ARENA_NEW(&run.arena, double, run.spec.configured.n_parameters);
        for (int p = 0; p < run.spec.configured.n_parameters; p++)
            parameter[p] = run.batch->parameter[p * run.batch->stride];
        const DualRun got = dual_check(&run.spec.configured, parameter, -1, &run.arena);
        rigid_go(&run, 1000);
        for (int m = 0; m < run.spec.configured.n_metrics; m++)
            CHECK_BITS(run.batch->metric[m * run.batch->stride], got.metric[m]);
        rigid_end(&run);
    }
}
