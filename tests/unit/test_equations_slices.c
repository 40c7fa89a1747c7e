// The adjoint and the tangent of equations in slices, as a GPU computes them (sim/trail_cuda.cu): lanes take turns,
// each for some attempts at steps or entries of its trail, with a system that was copied, and in memory for few
// entries. Then on a GPU, or under `make asan` on a host that pretends to be one. The bits are those of the CPU.
#include "../../runner/experiment/spec/keys.h"
#include "../../sim/equations/adjoint/tangent.h"
#include "../../sim/trail_kernels.h"
#include "../test.h"

#include <stdlib.h>
#include <string.h>

typedef struct SliceSystem {
    const char *name, *settings, *system, *point;
} SliceSystem;

#define SLICE_BALL                                                                                                     \
    "parameters: {g: 9.81, e: 0.9, period: 0.31}, states: {z: {start: 1}, v: {start: 0.3}}, held: {n: 0},"             \
    " rates: {z: v, v: -g - 0.1*v + sin(20*time)},"                                                                    \
    " events: [{name: bounce, falls: z, set: {v: -e*v, n: n + time}}, {every: period, name: tick, set: {v: v/2}}],"    \
    " metrics: {value: {mean: z}, most: {max: v}, least: {min: z*v}, up: {after: bounce, value: v, take: spread},"     \
    "   above: {part: z > 0.4}, ends: {last: z > 0.5}, held: {final: n}}"
#define SLICE_MODES                                                                                                    \
    "parameters: {k: 2000, l: 1, attack: 1.19}, states: {x: 0, z: 1, vx: 5, vz: 0}, held: {foot: 0},"                  \
    " let: {leg: 'hypot(x - foot, z)'}, modes: {"                                                                      \
    "   flight: {rates: {x: vx, z: vz, vx: 0, vz: -9.81}, events: [{name: touchdown, falls: z - l*sin(attack),"        \
    "     to: stance, set: {foot: x + l*cos(attack)}}, {name: apex, falls: vz}]},"                                     \
    "   stance: {let: {F: k*(l - leg)/8}, rates: {x: vx, z: vz, vx: F*(x - foot)/leg, vz: F*z/leg - 9.81},"            \
    "     events: [{name: liftoff, rises: leg - l, to: flight}]}},"                                                    \
    " metrics: {value: {mean: vx}, peak: {max: z}, top: {at: apex, value: z, take: last}, way: {final: x}}"
#define SLICE_TABLES                                                                                                   \
    "parameters: {p: 0.2, k: 1.1}, tables: {spring: {at: [-2, -0.5, 0.1, 1, 4], values: [3, 1, 0.2, -2, -2.5],"        \
    "   between: cubic, beyond: extend}, mix: {at: [[-1, 0.2, 1], [0, 1, 3]],"                                         \
    "   values: [[0, 1, 2], [1, -1, 0], [2, 0.5, 1]], beyond: hold}},"                                                 \
    " inputs: {u: {at: [0, 0.4, 0.9, 2.2, 3], values: [1, -1, 0.5, 2, 0]}},"                                           \
    " states: {x: {start: p}, v: 0}, rates: {x: v, v: 'spring(x) + 0.2*mix(x, time) + k*u + mod(time, 0.7)'},"         \
    " events: [{name: turn, crosses: v}], metrics: {value: {final: x}, work: {integral: k*u*v}, rms: {rms: x}}"
#define SLICE_NOISE                                                                                                    \
    "parameters: {k: 40, s: 0.8}, states: {z: 1, v: 0, u: 0}, held: {n: 0},"                                           \
    " noise: {v: {size: s, by: w}, u: {size: '-0.3', by: w}}, rates: {z: v, v: k*(0.5 - z) - v, u: -u},"               \
    " events: [{name: look, every: 0.0501, set: {n: n + z}}, {name: up, crosses: u - 0.1, set: {v: 0.9*v}}],"          \
    " metrics: {value: {final: n}, mean: {mean: z*u}, top: {max: z}}"

static const SliceSystem slice_systems[] = {
    {"ball", "duration: 3, dt: 0.0005, integrator: dormand_prince", SLICE_BALL, "g: 9.81"},
    {"ball, rk4", "duration: 3, dt: 0.0005, integrator: rk4", SLICE_BALL, "g: 9.81"},
    {"ball, euler", "duration: 3, dt: 0.0005, integrator: semi_implicit_euler", SLICE_BALL, "g: 9.81"},
    {"ball, midpoint", "duration: 3, dt: 0.001, integrator: implicit_midpoint", SLICE_BALL, "g: 9.81"},
    {"ball, rodas5p", "duration: 3, dt: 0.0005, integrator: rodas5p", SLICE_BALL, "g: 9.81"},
    {"modes", "duration: 3, dt: 0.001, integrator: dormand_prince", SLICE_MODES, "k: 2000"},
    {"modes, rk4", "duration: 2, dt: 0.001, integrator: rk4", SLICE_MODES, "k: 2000"},
    {"tables", "duration: 3, dt: 0.001, integrator: dormand_prince", SLICE_TABLES, "k: 1.1"},
    {"tables, rodas5p", "duration: 3, dt: 0.001, integrator: rodas5p", SLICE_TABLES, "k: 1.1"},
    {"noise, sra3", "duration: 2, dt: 0.002, integrator: sra3", SLICE_NOISE, "k: 40"},
    {"noise, euler", "duration: 2, dt: 0.002, integrator: euler_maruyama", SLICE_NOISE, "k: 40"},
    {"map", "duration: 900",
     "parameters: {r: 3.5, s: 0.3}, states: {x: 0.4, y: s}, next: {x: r*x*(1 - x), y: 0.5*y + 0.1*sin(x)},"
     " noise: {x: 0.01*x}, metrics: {value: {mean: y}, end: {final: x*y}}",
     "r: 3.5"},
    {"straight", "duration: 3, dt: 0.002, integrator: rk4",
     "parameters: {sigma: 10, rho: 20}, states: {x: 1, y: 1, z: 1},"
     " rates: {x: sigma*(y - x), y: x*(rho - z) - y, z: x*y - 2.6*z}, metrics: {value: {final: x}, mean: {mean: z}}",
     "rho: 20"},
    {"straight, long", "duration: 2, dt: 0.0001, integrator: rk4", // on a GPU it may not fit, and the host computes it
     "parameters: {sigma: 10, rho: 20}, states: {x: 1, y: 1, z: 1},"
     " rates: {x: sigma*(y - x), y: x*(rho - z) - y, z: x*y - 2.6*z}, metrics: {value: {final: x}, mean: {mean: z}}",
     "rho: 20"},
    {"apart", "duration: 1.4, dt: 0.001, integrator: rk4", // a parameter takes two events apart: no derivative
     "parameters: {p: 0.5, q: 0.5}, states: {x: 1}, rates: {x: 1 - x*x}, held: {n: 0},"
     " events: [{name: one, at: p, set: {n: n + x}}, {name: two, at: q, set: {x: 2*x}}],"
     " metrics: {value: {final: n*x}}",
     "p: 0.5"},
};
enum { SLICE_SYSTEMS = sizeof slice_systems / sizeof *slice_systems };

typedef struct SliceCase {
    Arena arena;
    Spec spec;
    Configured configured;
    int count;                  // of lanes
    int several;                // lanes whose trail had several segments
    double *parameter, *weight; // [n_parameters][count], [n_metrics][count]
    double *direction;          // [n_parameters][count]
} SliceCase;

// What lanes gave, as an AdjointDevice returns it.
typedef struct SliceResult {
    double *metric, *gradient, *growth, *time;
    int *failure;
    const char **reason;
} SliceResult;

static void slice_load(SliceCase *test, const SliceSystem *of, int count)
{
    memset(test, 0, sizeof *test);
    CHECK_OK(arena_create_growing(&test->arena, (size_t)1 << 32, "a spec"));
    const char *text = arena_format(&test->arena,
                                    "version: 1\nexperiment: slices\nmodel: equations\nsimulation: {%s, system: {%s}}\n"
                                    "search: {method: list, points: [{%s}]}\nobjective: {minimize: value}\n",
                                    of->settings, of->system, of->point);
    CHECK_OK(spec_parse("slices.yaml", text, NULL, 0, &test->arena, diagnostics_new(&test->arena), &test->spec));
    CHECK_OK(spec_build(&test->spec, &test->arena, &test->configured));
    const Configured *configured = &test->configured;
    test->count = count;
    test->parameter = ARENA_NEW(&test->arena, double, configured->n_parameters *count);
    test->weight = ARENA_NEW(&test->arena, double, configured->n_metrics *count);
    for (int k = 0; k < configured->n_parameters * count; k++) {
        const int lane = k % count;
        test->parameter[k] = configured->parameters[k / count].value * (1.0 + 0.01 * lane);
    }
    test->direction = ARENA_NEW(&test->arena, double, configured->n_parameters *count);
    for (int k = 0; k < configured->n_parameters * count; k++) // of lane 0 all, of others one or two
        test->direction[k] = k % count == 0 || (k / count + k % count) % configured->n_parameters < 2 ? 1.0 + k : 0.0;
    for (int k = 0; k < configured->n_metrics * count; k++) test->weight[k] = 0.5 + k / count;
}

static SliceResult slice_result(SliceCase *test)
{
    const Configured *configured = &test->configured;
    const int count = test->count;
    return (SliceResult){.metric = ARENA_NEW(&test->arena, double, configured->n_metrics *count),
                         .gradient = ARENA_NEW(&test->arena, double, configured->n_parameters *count),
                         .growth = ARENA_NEW(&test->arena, double, count),
                         .time = ARENA_NEW(&test->arena, double, count),
                         .failure = ARENA_NEW(&test->arena, int, count),
                         .reason = ARENA_NEW(&test->arena, const char *, count)};
}

// By the CPU's adjoint, lane after lane.
static SliceResult slice_by_cpu(SliceCase *test)
{
    const Configured *configured = &test->configured;
    const Adjoint *adjoint = configured->model->adjoint;
    const int n = configured->n_parameters, n_metrics = configured->n_metrics, count = test->count;
    SliceResult result = slice_result(test);
    double *own = ARENA_NEW(&test->arena, double, n), *slope = ARENA_NEW(&test->arena, double, n);
    double *weight = ARENA_NEW(&test->arena, double, n_metrics), *metric = ARENA_NEW(&test->arena, double, n_metrics);
    void *memory = arena_take(&test->arena, adjoint->bytes(configured, 1, 0), 1);
    for (int lane = 0; lane < count; lane++) {
        for (int p = 0; p < n; p++) own[p] = test->parameter[p * count + lane];
        for (int m = 0; m < n_metrics; m++) weight[m] = test->weight[m * count + lane];
        const AdjointLanes lanes = {.count = 1, .parameter = own, .metric = metric, .failure = &result.failure[lane]};
        CHECK(adjoint->run(configured, &lanes, memory));
        CHECK(adjoint->back(configured, 1, memory, weight, slope, &result.growth[lane]));
        result.reason[lane] = adjoint->trouble(memory, &result.time[lane]);
        for (int p = 0; p < n; p++)
            result.gradient[p * count + lane] = adjoint->parameter(configured, p) ? slope[p] : 0.0;
        for (int m = 0; m < n_metrics; m++) result.metric[m * count + lane] = metric[m];
    }
    return result;
}

static void slice_same(const SliceCase *test, const SliceResult *expected, const SliceResult *got)
{
    const int count = test->count;
    for (int k = 0; k < test->configured.n_metrics * count; k++) CHECK_BITS(expected->metric[k], got->metric[k]);
    for (int k = 0; k < test->configured.n_parameters * count; k++) CHECK_BITS(expected->gradient[k], got->gradient[k]);
    for (int lane = 0; lane < count; lane++) {
        CHECK_INTEGER(expected->failure[lane], got->failure[lane]);
        CHECK_BITS(expected->growth[lane], got->growth[lane]);
        CHECK((expected->reason[lane] == NULL) == (got->reason[lane] == NULL));
        if (expected->reason[lane] == NULL || got->reason[lane] == NULL) continue;
        CHECK_TEXT(expected->reason[lane], got->reason[lane]);
        CHECK_BITS(expected->time[lane], got->time[lane]);
    }
}

// ---- slices ---------------------------------------------------------------------------------------------------------

// A slice of one lane, whose numbers stand in its memory alone before and after it. Returns whether it goes on.
static bool slice_forth(const TrailSystem *of, const TrailPlan *plan, double *memory, bool begins, int64_t ticks,
                        int *failure)
{
    TrailLane lane;
    (void)trail_open(of, plan, memory, &lane);
    if (!begins) trail_load(&lane);
    if (lane.fills) trail_run(&lane, lane.motion.d->method, ticks);
    trail_keep(&lane);
    if (!lane.trail.again) *failure = lane.status - LANE_DONE;
    return lane.fills;
}

static bool slice_back(const TrailSystem *of, const TrailPlan *plan, double *memory, bool begins, int64_t entries)
{
    TrailLane lane;
    (void)trail_open(of, plan, memory, &lane);
    trail_load(&lane);
    if (begins) trail_back_start(&lane);
    trail_back(&lane, entries);
    trail_keep(&lane);
    return !trail_is_back(&lane);
}

static void slice_take(SliceCase *test, const TrailSystem *of, const TrailPlan *plan, double *memory, int index,
                       SliceResult *result)
{
    TrailLane lane;
    (void)trail_open(of, plan, memory, &lane);
    trail_load(&lane);
    test->several += lane.segments > 2;
    trail_back_end(&lane, result->gradient + index, test->count, result->growth + index);
    for (int p = 0; p < of->n_parameters; p++)
        if (!test->configured.model->adjoint->parameter(&test->configured, p))
            result->gradient[p * test->count + index] = 0.0;
    for (int m = 0; m < of->n_metrics; m++) result->metric[m * test->count + index] = lane.metric[m];
    result->time[index] = lane.trouble;
    result->reason[index] = cpu_trail_kernels()->reason((int)trail_trouble(&lane));
}

static SliceResult slice_by_turns(SliceCase *test, int64_t ticks)
{
    const TrailKernels *kernels = cpu_trail_kernels();
    const Configured *configured = &test->configured;
    const int count = test->count;
    SliceResult result = slice_result(test);
    void *block = arena_take(&test->arena, kernels->copy(configured, NULL, NULL), 1);
    (void)kernels->copy(configured, block, block);
    const TrailSystem *of = block;
    TrailPlan plan = trail_plan(of, 1);
    plan.at_once = 8; // of these systems
    plan.room = 40;
    plan.most = 2000;
    double **memory = ARENA_NEW(&test->arena, double *, count);
    for (int i = 0; i < count; i++) {
        TrailLane lane;
        memory[i] = ARENA_NEW(&test->arena, double, trail_doubles(of, &plan));
        (void)trail_open(of, &plan, memory[i], &lane);
        for (int p = 0; p < of->n_parameters; p++) lane.parameter[p] = test->parameter[p * count + i];
        for (int m = 0; m < of->n_metrics; m++) lane.weigh[m] = test->weight[m * count + i];
    }
    bool goes = true;
    for (bool begins = true; goes; begins = false) {
        goes = false;
        for (int i = 0; i < count; i++) goes |= slice_forth(of, &plan, memory[i], begins, ticks, &result.failure[i]);
    }
    goes = true;
    for (bool begins = true; goes; begins = false) {
        goes = false;
        for (int i = 0; i < count; i++) goes |= slice_back(of, &plan, memory[i], begins, ticks);
        for (int i = 0; i < count; i++) (void)slice_forth(of, &plan, memory[i], false, ticks, &result.failure[i]);
    }
    for (int i = 0; i < count; i++) slice_take(test, of, &plan, memory[i], i, &result);
    return result;
}

TEST(equations_gradient_has_its_bits_in_slices)
{
    static const int64_t ticks[] = {7, 1000};
    int without = 0, several = 0;
    for (int k = 0; k < SLICE_SYSTEMS; k++) {
        SliceCase test;
        slice_load(&test, &slice_systems[k], 3);
        const SliceResult expected = slice_by_cpu(&test);
        without += expected.reason[0] != NULL;
        for (size_t t = 0; t < sizeof ticks / sizeof *ticks; t++) {
            const SliceResult got = slice_by_turns(&test, ticks[t]);
            slice_same(&test, &expected, &got);
        }
        several += test.several;
        arena_destroy(&test.arena);
    }
    CHECK(several >= 5 * SLICE_SYSTEMS); // of six each
    CHECK(without > 0 && without < SLICE_SYSTEMS);
}

// ---- the tangent ----------------------------------------------------------------------------------------------------

typedef struct SliceSlopes {
    double *metric, *slope; // [n_metrics][count]
    int *failure;           // [count]
} SliceSlopes;

static SliceSlopes slice_slopes(SliceCase *test)
{
    const int n_metrics = test->configured.n_metrics, count = test->count;
    return (SliceSlopes){.metric = ARENA_NEW(&test->arena, double, n_metrics *count),
                         .slope = ARENA_NEW(&test->arena, double, n_metrics *count),
                         .failure = ARENA_NEW(&test->arena, int, count)};
}

static SliceSlopes slice_along_by_cpu(SliceCase *test)
{
    const Configured *configured = &test->configured;
    const Adjoint *adjoint = configured->model->adjoint;
    const int n = configured->n_parameters, n_metrics = configured->n_metrics, count = test->count;
    const SliceSlopes result = slice_slopes(test);
    double *own = ARENA_NEW(&test->arena, double, 2 * n), *direction = own + n;
    double *metric = ARENA_NEW(&test->arena, double, 2 * n_metrics), *slope = metric + n_metrics;
    void *memory = arena_take(&test->arena, adjoint->tangent_bytes(configured), 1);
    for (int lane = 0; lane < count; lane++) {
        for (int p = 0; p < n; p++) own[p] = test->parameter[p * count + lane];
        for (int p = 0; p < n; p++) direction[p] = test->direction[p * count + lane];
        result.failure[lane] = adjoint->tangent(configured, own, direction, 1, memory, metric, slope, NULL, 0);
        for (int m = 0; m < n_metrics; m++) result.metric[m * count + lane] = metric[m];
        for (int m = 0; m < n_metrics; m++) result.slope[m * count + lane] = slope[m];
    }
    return result;
}

static void slice_same_slopes(const SliceCase *test, const SliceSlopes *expected, const SliceSlopes *got)
{
    const int count = test->count;
    for (int k = 0; k < test->configured.n_metrics * count; k++) CHECK_BITS(expected->metric[k], got->metric[k]);
    for (int k = 0; k < test->configured.n_metrics * count; k++) CHECK_BITS(expected->slope[k], got->slope[k]);
    for (int lane = 0; lane < count; lane++) CHECK_INTEGER(expected->failure[lane], got->failure[lane]);
}

// The tangent of a lane whose numbers stand in its memory alone.
static void slice_open_along(const TrailSystem *of, const TrailPlan *plan, double *memory, TrailLane *lane,
                             Tangent *tangent)
{
    (void)tangent_lay(lane, trail_open(of, plan, memory, lane), tangent);
}

// A slice of the run, then what it left is read. Returns whether it goes on.
static bool slice_along(const TrailSystem *of, const TrailPlan *plan, double *memory, int64_t ticks)
{
    TrailLane lane;
    Tangent tangent;
    slice_open_along(of, plan, memory, &lane, &tangent);
    trail_load(&lane);
    if (lane.fills) trail_run(&lane, lane.motion.d->method, ticks);
    trail_keep(&lane);
    slice_open_along(of, plan, memory, &lane, &tangent);
    trail_load(&lane);
    const bool ends = tangent_go_on(&tangent);
    trail_keep(&lane);
    return !ends;
}

static SliceSlopes slice_along_by_turns(SliceCase *test, int64_t ticks)
{
    const TrailKernels *kernels = cpu_trail_kernels();
    const int count = test->count;
    const SliceSlopes result = slice_slopes(test);
    void *block = arena_take(&test->arena, kernels->copy(&test->configured, NULL, NULL), 1);
    (void)kernels->copy(&test->configured, block, block);
    const TrailSystem *of = block;
    const TrailPlan plan = {.room = 40, .most = 2, .at_once = 8, .width = trail_plan(of, 1).width};
    for (int i = 0; i < count; i++) {
        TrailLane lane;
        Tangent tangent;
        double *memory = ARENA_NEW(&test->arena, double, trail_doubles(of, &plan) + tangent_doubles(of));
        slice_open_along(of, &plan, memory, &lane, &tangent);
        for (int p = 0; p < of->n_parameters; p++) lane.parameter[p] = test->parameter[p * count + i];
        tangent_begin(&tangent, test->direction + i, count);
        trail_keep(&lane);
        while (slice_along(of, &plan, memory, ticks)) continue;
        slice_open_along(of, &plan, memory, &lane, &tangent);
        trail_load(&lane);
        for (int m = 0; m < of->n_metrics; m++) result.metric[m * count + i] = lane.metric[m];
        for (int m = 0; m < of->n_metrics; m++) result.slope[m * count + i] = tangent.slope[m];
        result.failure[i] = lane.status - LANE_DONE;
    }
    return result;
}

TEST(equations_tangent_has_its_bits_in_slices)
{
    static const int64_t ticks[] = {7, 1000};
    for (int k = 0; k < SLICE_SYSTEMS; k++) {
        SliceCase test;
        slice_load(&test, &slice_systems[k], 2);
        const SliceSlopes expected = slice_along_by_cpu(&test);
        for (size_t t = 0; t < sizeof ticks / sizeof *ticks; t++) {
            const SliceSlopes got = slice_along_by_turns(&test, ticks[t]);
            slice_same_slopes(&test, &expected, &got);
        }
        arena_destroy(&test.arena);
    }
}

// ---- a GPU ----------------------------------------------------------------------------------------------------------

static SliceResult slice_by_device(SliceCase *test, AdjointDevice *device)
{
    SliceResult result = slice_result(test);
    const AdjointLanes lanes = {
        .count = test->count, .parameter = test->parameter, .metric = result.metric, .failure = result.failure};
    CHECK_OK(device->run(device, &lanes));
    CHECK_OK(device->back(device, test->weight, result.gradient, result.growth));
    for (int i = 0; i < test->count; i++) result.reason[i] = device->trouble(device, i, &result.time[i]);
    return result;
}

static void slice_check_device(SliceCase *test, Backend *backend, size_t most)
{
    AdjointDevice *device = NULL;
    const SliceResult expected = slice_by_cpu(test);
    CHECK_OK(backend_adjoint(backend, &test->configured, test->count, most, &device));
    CHECK(device != NULL && device->lanes == test->count);
    if (device == NULL) return;
    const SliceSlopes along = slice_along_by_cpu(test), got_along = slice_slopes(test);
    const AdjointLanes lanes = {
        .count = test->count, .parameter = test->parameter, .metric = got_along.metric, .failure = got_along.failure};
    for (int k = 0; k < 2; k++) { // the second time with what the first left in memory
        const SliceResult got = slice_by_device(test, device);
        slice_same(test, &expected, &got);
        if (k > 0) continue;
        CHECK_OK(device->tangent(device, &lanes, test->direction, got_along.slope));
        slice_same_slopes(test, &along, &got_along);
    }
    device->close(device);
}

TEST(equations_gradient_by_a_gpu)
{
    static const int counts[] = {70, 1, 7, 33};
    Backend *backend = NULL;
    setenv("CUDA_ON_HOST_DEVICES", "1", 1);
    const Error error = backend_open(&(BackendOptions){.name = "cuda"}, &backend);
    unsetenv("CUDA_ON_HOST_DEVICES");
    if (error.kind != OK) {
        test_skip("a GPU, and a build for it", "configure.sh says how");
        return;
    }
    for (int k = 0; k < 2 * SLICE_SYSTEMS; k++) { // all of a run in memory; segments of some hundred entries
        SliceCase test;
        slice_load(&test, &slice_systems[k / 2], counts[k < 2 ? 0 : 1 + k / 2 % 3]);
        slice_check_device(&test, backend, k % 2 == 0 ? 0 : 1);
        arena_destroy(&test.arena);
    }
    backend_close(backend);
}
