// Plans of straight runs, by which a GPU takes two lanes at once (sim/equations/straight_plan.h): run here as
// sim/ahead_cuda.cu runs them, they have the bits of the CPU's kernels.
#include "../../runner/experiment/spec/keys.h"
#include "../../sim/equations/straight.h"
#include "../../sim/equations/straight_planner.h"
#include "../test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLANNED_STATES = 16 };

typedef struct Planned {
    Arena arena;
    Spec spec;
    Configured configured;
    EquationsConstants c;
    int64_t plan[PLAN_HEADER];
    double row[PLAN_ROWS_MAX], common[PLAN_COMMONS_MAX];
} Planned;

static void planned_begin(Planned *test, const char *text)
{
    CHECK_OK(arena_create_growing(&test->arena, (size_t)1 << 32, "a spec"));
    CHECK_OK(spec_parse("planned.yaml", text, NULL, 0, &test->arena, diagnostics_new(&test->arena), &test->spec));
    CHECK_OK(spec_build(&test->spec, &test->arena, &test->configured));
    memcpy(&test->c, &test->configured.constants, sizeof test->c);
    CHECK(test->c.straight != 0 && test->configured.ahead > 0);
    const int64_t at = asset_integer(test->configured.assets, test->c.straight + STRAIGHT_PLAN);
    for (int k = 0; k < PLAN_HEADER; k++) test->plan[k] = asset_integer(test->configured.assets, at + k);
    // what stands in no place that was loaded is not to be read
    for (int k = 0; k < PLAN_ROWS_MAX; k++) test->row[k] = NAN;
    for (int k = 0; k < PLAN_COMMONS_MAX; k++) test->common[k] = NAN;
}

static double *planned_place(Planned *test, int place)
{
    return place & PLAN_COMMON ? &test->common[place & PLAN_PLACES] : &test->row[place];
}

static double planned_step(Planned *test, int64_t k, double last)
{
    const double *assets = test->configured.assets;
    const int64_t step = asset_integer(assets, test->plan[PLAN_STEPS] + 2 * k);
    const int flags = (int)asset_integer(assets, test->plan[PLAN_STEPS] + 2 * k + 1),
              operation = tape_step_operation(step);
    const bool looks_up = (flags & PLAN_IS_FUNCTION) && operation > TAPE_INPUT;
    const double a = flags & PLAN_A_IS_LAST ? last : *planned_place(test, tape_step_register(step, 1)),
                 b = *planned_place(test, tape_step_register(step, 2));
    const double c = (flags & PLAN_C_IS_LAST) || looks_up ? last : *planned_place(test, tape_step_register(step, 3));
    double value = fma(a, b, c);
    if (looks_up)
        value = tape_lookup_in(tape_table_of(assets, test->c.tables, step), step, a, b);
    else if (flags & PLAN_IS_FUNCTION)
        value = tape_function(operation, a, b, c);
    if (!(flags & PLAN_IS_NOT_STORED)) *planned_place(test, tape_step_register(step, 0)) = value;
    return value;
}

// Loads parameters and the state, and takes all steps.
static void planned_run(Planned *test, const double *parameter, const double *start)
{
    const double *assets = test->configured.assets;
    const EquationsConstants *c = &test->c;
    for (int64_t k = 0; k < test->plan[PLAN_N_NUMBERS]; k++)
        *planned_place(test, (int)asset_integer(assets, test->plan[PLAN_NUMBERS] + 2 * k)) =
            assets[asset_integer(assets, test->plan[PLAN_NUMBERS] + 2 * k + 1)];
    for (int64_t k = 0; k < test->plan[PLAN_N_LOADS]; k++) {
        const int from = (int)asset_integer(assets, test->plan[PLAN_LOADS] + 2 * k + 1),
                  number = from - SYSTEM_PARAMETER(c->n_states, c->n_held, 0);
        CHECK(number >= 0 && number < c->n_parameters); // these systems derive nothing from them alone
        *planned_place(test, (int)asset_integer(assets, test->plan[PLAN_LOADS] + 2 * k)) = parameter[number];
    }
    for (int i = 0; i < c->n_total + c->is_map; i++) test->row[i] = i < c->n_states ? start[i] : 0.0;
    for (int64_t tick = 0; tick < test->configured.ticks; tick++) {
        const double t = (double)tick * c->dt, length = (double)(tick + 1) * c->dt - t;
        double last = NAN;
        if (test->plan[PLAN_TIME] >= 0) *planned_place(test, (int)test->plan[PLAN_TIME]) = t;
        if (test->plan[PLAN_LENGTH] >= 0) *planned_place(test, (int)test->plan[PLAN_LENGTH]) = length;
        for (int64_t k = 0; k < test->plan[PLAN_COUNT]; k++) last = planned_step(test, k, last);
    }
}

// The metrics of the system, from the first on, are its states and integrals.
static void planned_is_general(const char *text, const double *start)
{
    Planned test = {0};
    planned_begin(&test, text);
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = "auto"};
    Backend *backend;
    bool done = false;
    double seconds, parameter[PLANNED_STATES];
    CHECK_OK(backend_open(&options, &backend));
    CHECK_OK(backend_prepare(backend, &test.configured, 1, 0, 0));
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = 1;
    batch->trace.lanes = 0;
    CHECK(test.configured.n_parameters <= PLANNED_STATES);
    replicate_parameters(&test.spec, 0, 0, 0, test.spec.fixed, parameter);
    for (int p = 0; p < test.configured.n_parameters; p++) batch->parameter[p * batch->stride] = parameter[p];
    CHECK_OK(backend_begin(backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(backend, 0, 1000));
        CHECK_OK(backend_wait(backend, 0, &done, &seconds));
    }
    planned_run(&test, parameter, start);
    for (int i = 0; i < test.c.n_total; i++) CHECK_BITS(batch->metric[i * batch->stride], test.row[i]);
    CHECK(backend_close(backend));
    arena_destroy(&test.arena);
}

TEST(equations_plans_have_the_bits_of_general_kernels)
{
    char text[2048];
    static const char *const integrators[] = {"rk4", "semi_implicit_euler"};
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text,
                 "version: 1\nexperiment: lorenz\nmodel: equations\nsimulation:\n  duration: 4\n  dt: 0.0078125\n"
                 "  integrator: %s\n  system:\n    parameters: {sigma: 10, rho: 28, beta: 2.6}\n"
                 "    states: {x: 1, y: 0.5, z: 20}\n"
                 "    rates: {x: sigma*(y - x), y: x*(rho - z) - y, z: x*y - beta*z}\n"
                 "    metrics: {a: {final: x}, b: {final: y}, c: {final: z}, d: {integral: x*x + z}}\n"
                 "objective: {minimize: a}\n",
                 integrators[k]);
        planned_is_general(text, (double[]){1, 0.5, 20});
        snprintf(
            text, sizeof text,
            "version: 1\nexperiment: forced\nmodel: equations\nsimulation:\n  duration: 8\n  dt: 0.015625\n"
            "  integrator: %s\n  system:\n    parameters: {a: 0.3, w: 1.2, m: 3}\n    states: {x: 1, v: -0.25, u: 0}\n"
            "    rates:\n      x: v\n      v: if(x > 0, -x, -2*x)/m - x*x*x + a*cos(w*time) - abs(v)*v\n"
            "      u: clip(v, -0.1, 0.2) - x/(1 + u*u)\n"
            "    metrics: {a_end: {final: x}, b: {final: v}, c: {final: u}, d: {integral: v}}\n"
            "objective: {minimize: b}\n",
            integrators[k]);
        planned_is_general(text, (double[]){1, -0.25, 0});
    }
    // states that change places, one that stays, one that is another one's last value
    planned_is_general("version: 1\nexperiment: map\nmodel: equations\nsimulation:\n  duration: 200\n  system:\n"
                       "    parameters: {a: 1.4, b: 0.3}\n    states: {x: 0.1, y: 0.2, s: 3, r: 0}\n"
                       "    next: {x: 1 - a*x*x + y, y: b*x, s: s, r: y}\n"
                       "    metrics: {p: {final: x}, q: {final: y}, t: {final: s}, u: {final: r}}\n"
                       "objective: {minimize: p}\n",
                       (double[]){0.1, 0.2, 3, 0});
    planned_is_general("version: 1\nexperiment: map\nmodel: equations\nsimulation:\n  duration: 7\n  system:\n"
                       "    states: {x: 0.1, y: 0.2, z: 3}\n    next: {x: y, y: z, z: x}\n"
                       "    metrics: {p: {final: x}, q: {final: y}, t: {final: z}}\nobjective: {minimize: p}\n",
                       (double[]){0.1, 0.2, 3});
}
