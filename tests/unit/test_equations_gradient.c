// The adjoint of equations: its metrics are those of the kernels, and its bits depend neither on the memory of the
// trail nor on the instruction set; it ends when it is told to.
#include "../../runner/experiment/spec/keys.h"
#include "../../sim/cpu_kernels.h"
#include "../../sim/trail_kernels.h"
#include "../test.h"

#include <string.h>

static const char gradient_ball[] =
    "version: 1\nexperiment: ball\nmodel: equations\n"
    "simulation:\n"
    "  duration: 3\n"
    "  dt: 0.0005\n"
    "  system:\n"
    "    parameters: {g: 9.81, e: 0.9, period: 0.31}\n"
    "    states: {z: {start: 1}, v: {start: 0.3}}\n"
    "    held: {n: 0}\n"
    "    rates: {z: v, v: -g - 0.1*v + sin(20*time)}\n"
    "    events:\n"
    "      - {name: bounce, falls: z, set: {v: -e*v, n: n + time}}\n"
    "      - {every: period, name: tick, set: {v: 0.99*v}}\n"
    "    metrics: {mean: {mean: z}, most: {max: v}, least: {min: z*v}, up: {after: bounce, value: v, take: spread},\n"
    "              above: {part: z > 0.4}, ends: {last: z > 0.5}, held: {final: n}}\n"
    "search: {method: list, points: [{g: 9.81}]}\n"
    "objective: {minimize: mean}\n";

typedef struct GradientCase {
    Arena arena;
    Spec spec;
    Configured configured;
    double *parameter, *weight;
} GradientCase;

// What an adjoint computes.
typedef struct GradientRun {
    double *metric, *gradient, growth;
    int failure;
} GradientRun;

static void gradient_load(GradientCase *test, const char *integrator)
{
    memset(test, 0, sizeof *test);
    CHECK_OK(arena_create_growing(&test->arena, (size_t)1 << 32, "a spec"));
    const char *at = strstr(gradient_ball, "  dt:");
    const char *text = arena_format(&test->arena, "%.*s  integrator: %s\n%s", (int)(at - gradient_ball), gradient_ball,
                                    integrator, at);
    CHECK_OK(spec_parse("ball.yaml", text, NULL, 0, &test->arena, diagnostics_new(&test->arena), &test->spec));
    CHECK_OK(spec_build(&test->spec, &test->arena, &test->configured));
    const Configured *configured = &test->configured;
    test->parameter = ARENA_NEW(&test->arena, double, configured->n_parameters);
    test->weight = ARENA_NEW(&test->arena, double, configured->n_metrics);
    for (int p = 0; p < configured->n_parameters; p++) test->parameter[p] = configured->parameters[p].value;
    for (int m = 0; m < configured->n_metrics; m++) test->weight[m] = 0.5 + m;
}

static GradientRun gradient_run(GradientCase *test, const TrailKernels *kernels, size_t most, int times)
{
    const Configured *configured = &test->configured;
    GradientRun run = {.metric = ARENA_NEW(&test->arena, double, configured->n_metrics),
                       .gradient = ARENA_NEW(&test->arena, double, configured->n_parameters)};
    void *memory = arena_take(&test->arena, kernels->bytes(configured, most), 1);
    const AdjointLanes lanes = {
        .count = 1, .parameter = test->parameter, .most = most, .metric = run.metric, .failure = &run.failure};
    double when;
    CHECK(kernels->run(configured, &lanes, memory));
    for (int k = 0; k < times; k++) CHECK(kernels->back(memory, test->weight, run.gradient, &run.growth));
    CHECK(kernels->trouble(memory, &when) == NULL);
    return run;
}

static void gradient_same(const GradientCase *test, const GradientRun *expected, const GradientRun *got)
{
    CHECK_INTEGER(expected->failure, got->failure);
    for (int m = 0; m < test->configured.n_metrics; m++) CHECK_BITS(expected->metric[m], got->metric[m]);
    for (int p = 0; p < test->configured.n_parameters; p++) {
        CHECK_BITS(expected->gradient[p], got->gradient[p]);
        CHECK(got->gradient[p] != 0.0);
    }
    CHECK_BITS(expected->growth, got->growth);
}

// The metrics of the kernel that runs a single lane.
static void gradient_kernel(GradientCase *test, double *metric)
{
    const Configured *configured = &test->configured;
    int32_t status = LANE_RUNNING;
    LaneGroup group = {.batch = {.lanes = 1,
                                 .stride = 1,
                                 .parameter = test->parameter,
                                 .work = ARENA_NEW(&test->arena, double, configured->n_work *LANES_MOST),
                                 .metric = metric,
                                 .status = &status},
                       .valid = 1,
                       .ticks = configured_steps(configured)};
    cpu_lane_kernels(configured->kernel)
        ->kernels[configured->kernel](&configured->constants, configured->assets, &group);
    CHECK_INTEGER(LANE_DONE, status);
}

// not those of cpu_trail_kernels(), where the processor has two instruction sets for them
#if defined(__aarch64__)
#define TRAIL_KERNELS_OTHER (&trail_kernels_neon)
#else
#define TRAIL_KERNELS_OTHER (&trail_kernels_v2)
#endif

TEST(equations_gradient_has_the_bits_of_runs_and_of_any_memory)
{
    static const char *const integrators[] = {"dormand_prince", "rk4", "semi_implicit_euler", "implicit_midpoint",
                                              "rodas5p"};
    for (int i = 0; i < 5; i++) {
        GradientCase test;
        gradient_load(&test, integrators[i]);
        double *metric = ARENA_NEW(&test.arena, double, test.configured.n_metrics);
        const GradientRun whole = gradient_run(&test, cpu_trail_kernels(), 0, 1),
                          parts = gradient_run(&test, cpu_trail_kernels(), 1, 1),
                          twice = gradient_run(&test, cpu_trail_kernels(), 1, 2),
                          other = gradient_run(&test, TRAIL_KERNELS_OTHER, 0, 1);
        gradient_kernel(&test, metric);
        for (int m = 0; m < test.configured.n_metrics; m++) CHECK_BITS(metric[m], whole.metric[m]);
        gradient_same(&test, &whole, &parts);
        gradient_same(&test, &whole, &twice);
        gradient_same(&test, &whole, &other);
        CHECK(cpu_trail_kernels()->bytes(&test.configured, 1) < cpu_trail_kernels()->bytes(&test.configured, 0));
        arena_destroy(&test.arena);
    }
}

static bool gradient_leaves(const void *of) { return of == NULL; }

TEST(equations_gradient_ends_when_told_and_says_what_does_not_fit)
{
    GradientCase test;
    double gradient[16], growth, when, metric[16];
    int failure;
    gradient_load(&test, "semi_implicit_euler");
    const Configured *configured = &test.configured;
    CHECK(configured->n_parameters <= 16 && configured->n_metrics <= 16);
    void *memory = arena_take(&test.arena, cpu_trail_kernels()->bytes(configured, 1), 1);
    AdjointLanes lanes = {.count = 1,
                          .parameter = test.parameter,
                          .most = 1,
                          .metric = metric,
                          .failure = &failure,
                          .leaves = gradient_leaves};
    CHECK(!cpu_trail_kernels()->run(configured, &lanes, memory));
    // more steps than all segments have room for: the metrics are there, the gradient is not
    ((double *)(void *)&test.configured.constants)[0] = 1e-5; // dt
    lanes.leaves = NULL;
    CHECK(cpu_trail_kernels()->run(configured, &lanes, memory));
    CHECK(metric[0] > 0.0);
    CHECK(cpu_trail_kernels()->back(memory, test.weight, gradient, &growth));
    CHECK(gradient[0] != gradient[0]);
    CHECK(strstr(cpu_trail_kernels()->trouble(memory, &when), "more steps than memory") != NULL);
    arena_destroy(&test.arena);
}
