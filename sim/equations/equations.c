// The model `equations`: a hybrid dynamical system that a spec declares (system.h), laid out for its kernels.
#include "equations.h"

#include "../models.h"
#include "../tape_code.h"
#include "counters.h"
#include "derivatives.h"
#include "drawing.h"
#include "gradient.h"
#include "made.h"
#include "straight_planner.h"
#include "step_values.h"
#include "straight.h"
#include "switches.h"
#include "system.h"
#include "touches.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(EquationsConstants) <= sizeof(Constants), "the constants fit a kernel's argument");

enum {
    EQUATIONS_OPTION_SYSTEM,
    EQUATIONS_OPTION_DURATION,
    EQUATIONS_OPTION_DT,
    EQUATIONS_OPTION_INTEGRATOR,
    EQUATIONS_OPTION_TOLERANCE,
    EQUATIONS_OPTION_AT_ONCE,
    EQUATIONS_OPTION_STEPS,
    EQUATIONS_OPTION_REFINE,
    EQUATIONS_OPTION_PERIOD,
    EQUATIONS_OPTION_ACTIONS,
    EQUATIONS_OPTION_ACTIONS_FILE,
    EQUATIONS_N_OPTIONS
};

static const Option equations_options[EQUATIONS_N_OPTIONS] = {
    {"system", OPTION_SYSTEM, "", 0, 0, 0, NULL,
     "the equations: parameters, states with their rates, events, metrics, actions"},
    {"duration", OPTION_NUMBER, "s", 10.0, 1e-9, 1e12, NULL, "simulated time of a lane; iterations of a map"},
    {"dt", OPTION_NUMBER, "s", 1e-3, 1e-12, 1e9, NULL,
     "step of the methods with fixed steps; of the others the unit of sampling"},
    {"integrator", OPTION_CHOICE, "", 0, 0, CHOICES(EQUATIONS_INTEGRATORS),
     "dormand_prince: adaptive. With noise: euler_maruyama, or sra3 if its size has no state"},
    {"tolerance", OPTION_NUMBER, "1", 1e-6, 1e-13, 1e-1, NULL,
     "of dormand_prince and rodas5p: greatest error of a step, relative to |state| + scale"},
    {"events_at_once", OPTION_INTEGER, "1", 8, 1, 1000, NULL, "events at one instant; with more a lane fails as zeno"},
    {"steps", OPTION_INTEGER, "1", 1e7, 1, 1e12, NULL, "steps after which a lane that has not ended fails as limit"},
    {"refine", OPTION_INTEGER, "1", 0, 0, 20, NULL,
     "with noise: how often a step is halved near a guard, so that fewer passages are missed"},
    {"control.period", OPTION_NUMBER, "s", 0.0, 0.0, 1e9, NULL,
     "how long an action is held: a whole number of steps dt; of a map iterations, without it one"},
    {"control.actions", OPTION_NUMBERS, "", 0, -1e300, 1e300, NULL,
     "of a run: values of inputs with a range, row after row; the last row holds to the end"},
    {"control.file", OPTION_FILE, "", 0, -1e300, 1e300, "table",
     "the same as a CSV file whose columns have the names of these inputs"},
};

// ---- the frame and the assets ---------------------------------------------------------------------------------------

static void assets_integer(TapeAssets *assets, int64_t value) { tape_assets_put(assets, &value, 1); }

static void assets_set_integer(TapeAssets *assets, int64_t at, int64_t value)
{
    memcpy(assets->numbers + at, &value, sizeof value);
}

typedef struct EquationsBuild {
    const System *system; // with switches (switches.h) and counters (counters.h)
    SystemSwitch switches[SYSTEM_SWITCHES_MAX];
    int n_switches;
    Tape *tape;
    TapeLayout layout;
    TapeAssets assets;
    EquationsConstants c;
    const TapeValue *step; // [n_total], of a map one more: a step as one code; NULL: there is none
    const double *actions; // [n_action_rows][n_actions]
    int64_t held;          // steps dt of a period of actions
    int32_t n_action_rows;
    Arena *arena;
} EquationsBuild;

enum { EQUATIONS_CODES_MAX = 1 << 21 }; // numbers in the assets

// Lays a code down and writes its row at `row` of the assets, but for where its outputs stand.
static Error build_steps(EquationsBuild *build, const TapeValue *outputs, int count, int64_t row, TapeCode *code)
{
    TRY(tape_code(build->tape, &build->layout, outputs, count, build->arena, code));
    if (build->assets.count + code->count > EQUATIONS_CODES_MAX)
        return error_make(ERROR_USER, "the equations are too long: their modes and events have more than %d steps",
                          EQUATIONS_CODES_MAX);
    assets_set_integer(&build->assets, row, tape_assets_put(&build->assets, code->steps, code->count));
    assets_set_integer(&build->assets, row + 1, code->count);
    return error_none();
}

static Error build_code(EquationsBuild *build, const TapeValue *outputs, int count, int64_t row)
{
    TapeCode code;
    TRY(build_steps(build, outputs, count, row, &code));
    assets_set_integer(&build->assets, row + 2, build->assets.count);
    for (int i = 0; i < count; i++) assets_integer(&build->assets, code.outputs[i]);
    return error_none();
}

static int64_t build_rows(EquationsBuild *build, int64_t count)
{
    const int64_t first = build->assets.count;
    for (int64_t i = 0; i < count; i++) assets_integer(&build->assets, -1);
    return first;
}

// ---- values that kernels need beside those of the system ------------------------------------------------------------

static TapeValue build_state(const EquationsBuild *build, int state)
{
    return tape_input(build->tape, SYSTEM_STATE(state), TAPE_MOVING);
}

// Slopes of values[count] along the motion of a mode.
static TapeValue *build_slopes(EquationsBuild *build, const SystemMode *mode, const TapeValue *values, int count)
{
    const int n = build->system->n_states;
    TapeValue *along = ARENA_NEW(build->arena, TapeValue, n + 1), *rate = ARENA_NEW(build->arena, TapeValue, n + 1);
    TapeValue *both = ARENA_NEW(build->arena, TapeValue, 2 * count);
    for (int i = 0; i < n; i++) {
        along[i] = build_state(build, i);
        rate[i] = mode->rates[i];
    }
    along[n] = tape_input(build->tape, SYSTEM_TIME, TAPE_MOVING);
    rate[n] = tape_number(build->tape, 1.0);
    for (int i = 0; i < count; i++) {
        both[i] = values[i];
        both[count + i] = TAPE_NONE;
        if (values[i] == TAPE_NONE || build->system->is_map) continue;
        both[count + i] = tape_slope(build->tape, values[i], along, rate, n + 1);
        if (both[count + i] == TAPE_NONE) both[count + i] = tape_number(build->tape, 0.0);
    }
    return both;
}

// All values of a mode that codes are made of, before registers are assigned.
typedef struct EquationsValues {
    TapeValue *guards, *watched; // values, then slopes
    TapeValue *sizes;            // [n_guards]
    TapeValue *noise;            // [n_states]; NULL: none
    TapeValue *jacobian;         // [n_total][n_states], then [n_total]; NULL: not needed
} EquationsValues;

// Of each guard the size of what it is the difference of: sum |d guard / d state[i]| |state[i]|. With noise, the size
// of what moves it: |sigma[i]| in place of |state[i]|.
static TapeValue *build_sizes_of_guards(EquationsBuild *build, const SystemMode *mode)
{
    Tape *tape = build->tape;
    const System *system = build->system;
    TapeValue *sizes = ARENA_NEW(build->arena, TapeValue, system->n_guards);
    const TapeValue one = tape_number(tape, 1.0);
    for (int k = 0; k < system->n_guards; k++) {
        sizes[k] = TAPE_NONE;
        if (mode->guards[k] == TAPE_NONE || system->guards[k].direction == SYSTEM_FOLLOWED || system->is_map) continue;
        for (int i = 0; i < system->n_states; i++) {
            const TapeValue along = build_state(build, i), slope = tape_slope(tape, mode->guards[k], &along, &one, 1);
            const TapeValue of = system->n_sources > 0 ? mode->noise[i] : along;
            if (slope == TAPE_NONE || of == TAPE_NONE) continue;
            const TapeValue product = tape_operation(tape, PROGRAM_MULTIPLY, slope, of, TAPE_NONE),
                            size = tape_operation(tape, PROGRAM_ABS, product, TAPE_NONE, TAPE_NONE);
            sizes[k] = sizes[k] == TAPE_NONE ? size : tape_operation(tape, PROGRAM_ADD, sizes[k], size, TAPE_NONE);
        }
    }
    return sizes;
}

static TapeValue *build_jacobian(EquationsBuild *build, const SystemMode *mode)
{
    const int n = build->system->n_states, total = n + build->system->n_integrals;
    TapeValue *jacobian = ARENA_NEW(build->arena, TapeValue, (total + 1) * n + total);
    const TapeValue one = tape_number(build->tape, 1.0);
    for (int i = 0; i < total; i++) {
        for (int j = 0; j < n; j++) {
            const TapeValue along = build_state(build, j);
            jacobian[i * n + j] = tape_slope(build->tape, mode->rates[i], &along, &one, 1);
        }
        const TapeValue time = tape_input(build->tape, SYSTEM_TIME, TAPE_MOVING);
        jacobian[total * n + i] = tape_slope(build->tape, mode->rates[i], &time, &one, 1);
    }
    return jacobian;
}

// ---- the tables of kernels ------------------------------------------------------------------------------------------

static Error build_action(EquationsBuild *build, const SystemAction *action, int64_t row)
{
    const System *system = build->system;
    TapeAssets *assets = &build->assets;
    assets_set_integer(assets, row + EQUATIONS_ACTION_GUARD, action->guard);
    assets_set_integer(assets, row + EQUATIONS_ACTION_INSTANT, action->instant);
    assets_set_integer(assets, row + EQUATIONS_ACTION_EVENT, action->event);
    assets_set_integer(assets, row + EQUATIONS_ACTION_TO, action->to);
    assets_set_integer(assets, row + EQUATIONS_ACTION_STOP, action->stop);
    assets_set_integer(assets, row + EQUATIONS_ACTION_FAILURE,
                       action->failure >= 0 ? EQUATIONS_OWN_FAILURE + action->failure : 0);
    if (action->set == NULL) return error_none(); // first step -1: nothing is set
    return build_code(build, action->set, system->n_states + system->n_held, row + EQUATIONS_ACTION_SET);
}

// What the guards of a mode are: their values on the tape.
static void build_quantities(EquationsBuild *build, const SystemMode *mode, int64_t row)
{
    assets_set_integer(&build->assets, row, build->assets.count);
    for (int k = 0; k < build->system->n_guards; k++) assets_integer(&build->assets, mode->guards[k]);
}

// The values that a code of a mode computes, by its row; NULL: modes have no such code.
static const TapeValue *build_outputs(const EquationsBuild *build, const EquationsValues *values, int m, int row,
                                      int *count)
{
    const System *system = build->system;
    const SystemMode *mode = &system->modes[m];
    const int n = system->n_states, total = n + system->n_integrals;
    switch (row) {
    case EQUATIONS_MODE_RATES: *count = total; return mode->rates;
    case EQUATIONS_MODE_GUARDS: *count = system->n_guards; return values[m].guards;
    case EQUATIONS_MODE_SLOPES: *count = 2 * system->n_guards; return values[m].guards;
    case EQUATIONS_MODE_WATCHED: *count = 2 * system->n_metrics; return values[m].watched;
    case EQUATIONS_MODE_COLUMNS: *count = system->n_shown; return mode->columns;
    case EQUATIONS_MODE_CONDITIONS: *count = system->n_conditions; return mode->conditions;
    case EQUATIONS_MODE_JACOBIAN: *count = total * n + total; return values[m].jacobian;
    case EQUATIONS_MODE_SIZES: *count = system->n_guards; return values[m].sizes;
    default: *count = n; return system->n_sources > 0 ? mode->noise : NULL;
    }
}

// Operations that values[count] are made of.
static int build_length(EquationsBuild *build, const TapeValue *values, int count)
{
    int length = 0;
    const bool *needs = tape_needs(build->tape, values, count);
    for (TapeValue i = 0; i < build->tape->count && needs != NULL; i++) {
        const int operation = build->tape->nodes[i].operation;
        length += needs[i] && operation != PROGRAM_NUMBER && operation != TAPE_INPUT;
    }
    return length;
}

// What a code computes that all modes share, [count]: the values of all of them. NULL: two modes differ in a value, or
// it is more than half as long again as their own codes on average.
static const TapeValue *build_union(EquationsBuild *build, const EquationsValues *values, int row)
{
    int count, own = 0;
    const int n_modes = build->system->n_modes;
    const TapeValue *of = build_outputs(build, values, 0, row, &count);
    TapeValue *all = ARENA_NEW(build->arena, TapeValue, count + 1);
    for (int i = 0; i < count; i++) all[i] = TAPE_NONE;
    for (int m = 0; m < n_modes; m++) {
        of = build_outputs(build, values, m, row, &count);
        own += build_length(build, of, count);
        for (int i = 0; i < count; i++) {
            if (all[i] != TAPE_NONE && of[i] != TAPE_NONE && all[i] != of[i]) return NULL;
            if (of[i] != TAPE_NONE) all[i] = of[i];
        }
    }
    return 2 * n_modes * build_length(build, all, count) <= 3 * own ? all : NULL;
}

// The code in this row of all modes: one that they share, where that can be, with outputs of each mode's own unless
// these are the same.
static Error build_codes(EquationsBuild *build, const EquationsValues *values, int row)
{
    int count;
    TapeCode code;
    const int n_modes = build->system->n_modes;
    const int64_t modes = build->c.modes + row;
    if (build_outputs(build, values, 0, row, &count) == NULL) return error_none();
    const TapeValue *all = build_union(build, values, row);
    for (int m = 0; m < n_modes && all == NULL; m++)
        TRY(build_code(build, build_outputs(build, values, m, row, &count), count, modes + m * EQUATIONS_MODE));
    if (all == NULL) return error_none();
    TRY(build_steps(build, all, count, modes, &code));
    bool same = true;
    for (int m = 0; m < n_modes; m++) {
        const TapeValue *of = build_outputs(build, values, m, row, &count);
        for (int i = 0; i < count; i++) same = same && of[i] == all[i];
    }
    int64_t outputs = 0;
    for (int m = 0; m < n_modes; m++) {
        const TapeValue *of = build_outputs(build, values, m, row, &count);
        const int64_t at = modes + m * EQUATIONS_MODE;
        if (m == 0 || !same) {
            outputs = build->assets.count;
            for (int i = 0; i < count; i++) assets_integer(&build->assets, of[i] != TAPE_NONE ? code.outputs[i] : -1);
        }
        assets_set_integer(&build->assets, at, asset_integer(build->assets.numbers, modes));
        assets_set_integer(&build->assets, at + 1, code.count);
        assets_set_integer(&build->assets, at + 2, outputs);
    }
    build->c.shared |= 1 << row / EQUATIONS_CODE;
    if (same) build->c.same |= 1 << row / EQUATIONS_CODE;
    return error_none();
}

static Error build_actions_of_mode(EquationsBuild *build, const SystemMode *mode, int64_t row)
{
    build_quantities(build, mode, row + EQUATIONS_MODE_QUANTITIES);
    const int64_t actions = build_rows(build, (int64_t)mode->n_actions * EQUATIONS_ACTION);
    assets_set_integer(&build->assets, row + EQUATIONS_MODE_ACTIONS, actions);
    assets_set_integer(&build->assets, row + EQUATIONS_MODE_N_ACTIONS, mode->n_actions);
    for (int a = 0; a < mode->n_actions; a++)
        TRY(build_action(build, &mode->actions[a], actions + (int64_t)a * EQUATIONS_ACTION));
    return error_none();
}

// The code of a step leaves output i in the register of input i where no later step reads that input.
static void step_in_place(const EquationsConstants *c, TapeCode *code)
{
    bool moves = false;
    for (int i = 0; i < code->n_outputs; i++) {
        const int to = straight_number(c, i), from = code->outputs[i];
        int made = code->count - 1; // the step that computes it
        bool read = false;
        while (made >= 0 && tape_step_register(code->steps[made], 0) != from) made--;
        for (int k = made + 1; k < code->count; k++)
            for (int which = 1; which <= 3; which++) read |= tape_step_register(code->steps[k], which) == to;
        for (int j = 0; j < code->n_outputs; j++)
            read |= j != i && (code->outputs[j] == from || code->outputs[j] == to);
        moves |= made < 0 || read;
        if (made < 0 || read) continue;
        for (int k = made; k < code->count; k++)
            code->steps[k] = tape_step_renamed(code->steps[k], k == made, from, to);
        code->outputs[i] = to;
    }
    if (!moves) code->n_outputs = 0;
}

// The code of a step (straight.h). Its row says -1 in place of its outputs where they are in their place.
static Error build_step(EquationsBuild *build)
{
    TapeCode code;
    if (build->step == NULL) return error_none();
    const int count = build->c.n_total + build->c.is_map;
    TRY(tape_code(build->tape, &build->layout, build->step, count, build->arena, &code));
    step_in_place(&build->c, &code);
    build->c.straight = (int32_t)build_rows(build, STRAIGHT_ROW);
    const int32_t first = tape_assets_put(&build->assets, code.steps, code.count);
    assets_set_integer(&build->assets, build->c.straight, first);
    assets_set_integer(&build->assets, build->c.straight + 1, code.count);
    const int32_t plan = straight_plan(&build->c, &code, build->layout.numbers, &build->assets, build->arena);
    assets_set_integer(&build->assets, build->c.straight + STRAIGHT_PLAN, plan);
    if (code.n_outputs == 0) return error_none();
    assets_set_integer(&build->assets, build->c.straight + 2, build->assets.count);
    for (int i = 0; i < count; i++) assets_integer(&build->assets, code.outputs[i]);
    return error_none();
}

// Every value that a code has as an output, so that what depends on fixed inputs alone is known.
static TapeValue *build_wanted(EquationsBuild *build, const EquationsValues *values, int *count)
{
    const System *s = build->system;
    const int n = s->n_states, total = n + s->n_integrals, settable = n + s->n_held;
    int64_t most = settable + s->n_instants + total + 1 + EQUATIONS_SWITCH * build->n_switches;
    for (int m = 0; m < s->n_modes; m++)
        most += total + n + 3 * s->n_guards + 2 * s->n_metrics + s->n_shown + s->n_conditions + total * n + total +
                (int64_t)s->modes[m].n_actions * settable;
    TapeValue *wanted = ARENA_NEW(build->arena, TapeValue, most);
    int at = 0;
#define BUILD_WANT(list, number)                                                                                       \
    for (int want_i = 0; want_i < (number); want_i++) wanted[at++] = (list)[want_i]
    BUILD_WANT(s->start, settable);
    if (build->step != NULL) BUILD_WANT(build->step, total + s->is_map);
    for (int i = 0; i < s->n_instants; i++) wanted[at++] = s->instants[i].at;
    for (int i = 0; i < build->n_switches; i++) {
        const TapeValue of[] = {build->switches[i].at, build->switches[i].period, build->switches[i].rate,
                                build->switches[i].rest};
        BUILD_WANT(of, 4);
    }
    for (int m = 0; m < s->n_modes; m++) {
        const SystemMode *mode = &s->modes[m];
        BUILD_WANT(mode->rates, total);
        if (s->n_sources > 0) BUILD_WANT(mode->noise, n);
        BUILD_WANT(values[m].guards, 2 * s->n_guards);
        BUILD_WANT(values[m].sizes, s->n_guards);
        BUILD_WANT(values[m].watched, 2 * s->n_metrics);
        BUILD_WANT(mode->columns, s->n_shown);
        BUILD_WANT(mode->conditions, s->n_conditions);
        if (values[m].jacobian != NULL) BUILD_WANT(values[m].jacobian, total * n + total);
        for (int a = 0; a < mode->n_actions; a++)
            if (mode->actions[a].set != NULL) BUILD_WANT(mode->actions[a].set, settable);
    }
#undef BUILD_WANT
    *count = at;
    return wanted;
}

static void build_metrics(EquationsBuild *build)
{
    build->c.metrics = (int32_t)build->assets.count;
    for (int m = 0; m < build->system->n_metrics; m++) {
        const SystemMetric *metric = &build->system->metrics[m];
        assets_integer(&build->assets, metric->reduction);
        assets_integer(&build->assets, metric->take);
        assets_integer(&build->assets, metric->event);
        assets_integer(&build->assets, metric->condition);
        assets_integer(&build->assets, metric->integral);
        build->c.extrema |= metric->reduction == REDUCTION_MIN || metric->reduction == REDUCTION_MAX;
    }
}

// Registers of what switches are made of, behind the clocks; -1: not of its kind.
static void build_switches(EquationsBuild *build)
{
    for (int k = 0; k < build->n_switches; k++) {
        const SystemSwitch *of = &build->switches[k];
        const TapeValue values[EQUATIONS_SWITCH] = {of->at, of->period, of->rate, of->rest};
        for (int i = 0; i < EQUATIONS_SWITCH; i++)
            assets_integer(&build->assets, values[i] != TAPE_NONE ? build->layout.of_value[values[i]] : -1);
    }
}

// The tables of the tape, behind the codes; then where they stand, by their numbers.
static void build_tables(EquationsBuild *build)
{
    TapeAssets *assets = &build->assets;
    build->c.tables = tape_assets_put_tables(assets, build->tape);
    build->c.actions = (int32_t)assets->count;
    for (int a = 0; a < build->system->n_actions; a++) {
        const double bounds[2] = {build->system->actions[a].low, build->system->actions[a].high};
        tape_assets_put(assets, bounds, 2);
    }
    tape_assets_put(assets, build->actions, build->c.n_action_rows * build->c.n_actions);
    build->c.clocks = (int32_t)assets->count;
    for (int i = 0; i < build->system->n_clocks; i++) {
        const double at = assets->numbers[build->c.tables + build->system->clocks[i].table];
        tape_assets_put(assets, &at, 1);
    }
    build_switches(build);
}

// Where the arrays of a lane stand in its frame.
static void build_frame(EquationsBuild *build, EquationsMethod method)
{
    EquationsConstants *c = &build->c;
    const int settable = c->n_states + c->n_held, watched = 2 * c->n_metrics;
    const int stages = method == EQUATIONS_BY_dormand_prince ? 7 : method == EQUATIONS_BY_rodas5p ? 8 : 4;
    const bool noisy = c->n_sources > 0;
    int at = EQUATIONS_NAMED;
#define BUILD_ARRAY(member, count) c->member = at, at += (count)
    BUILD_ARRAY(y, c->n_total);
    BUILD_ARRAY(f, c->n_total);
    BUILD_ARRAY(guard, c->n_guards);
    BUILD_ARRAY(slope, c->n_guards);
    BUILD_ARRAY(offset, c->n_guards);
    BUILD_ARRAY(turn, c->n_guards);
    BUILD_ARRAY(condition, c->n_conditions);
    BUILD_ARRAY(path, noisy ? c->n_states + 4 * c->n_sources : 0);
    BUILD_ARRAY(acting, c->n_actions > 0 ? EQUATIONS_ACTING : 0);
    BUILD_ARRAY(watched, 2 * watched);
    BUILD_ARRAY(sums, EQUATIONS_SUMS * c->n_metrics);
    BUILD_ARRAY(stage, stages * c->n_total);
    BUILD_ARRAY(next, c->n_total);
    BUILD_ARRAY(next_f, c->n_total);
    BUILD_ARRAY(next_guard, 2 * c->n_guards);
    BUILD_ARRAY(dense, 5 * c->n_total);
    int saved = settable > watched ? settable : watched;
    if (c->n_conditions > saved) saved = c->n_conditions;
    if (c->n_guards > saved) saved = c->n_guards;
    BUILD_ARRAY(saved, saved);
    BUILD_ARRAY(matrix, method == EQUATIONS_BY_implicit_midpoint || method == EQUATIONS_BY_rodas5p
                            ? c->n_total * (c->n_total + 3)
                            : 0);
    BUILD_ARRAY(noise, noisy ? 2 * (c->n_sources + c->n_states + c->n_total) : 0);
    c->file = at;
#undef BUILD_ARRAY
}

static bool equations_is_fixed(int method)
{
#define EQUATIONS_FIXED(name, fixed) fixed,
    static const bool is_fixed[] = {EQUATIONS_INTEGRATORS(EQUATIONS_FIXED) true};
#undef EQUATIONS_FIXED
    return is_fixed[method];
}

// A map has one way to advance.
static EquationsMethod equations_method(const System *system, const double *settings)
{
    return system->is_map ? EQUATIONS_BY_map : (EquationsMethod)settings[EQUATIONS_OPTION_INTEGRATOR];
}

static void build_sizes(EquationsBuild *build, const double *settings)
{
    const System *system = build->system;
    const EquationsMethod method = equations_method(system, settings);
    build->c = (EquationsConstants){
        .dt = system->is_map ? 1.0 : settings[EQUATIONS_OPTION_DT],
        .duration = settings[EQUATIONS_OPTION_DURATION],
        .tolerance = settings[EQUATIONS_OPTION_TOLERANCE],
        .steps_max = (int64_t)settings[EQUATIONS_OPTION_STEPS],
        .n_states = system->n_states,
        .n_total = system->n_states + system->n_integrals,
        .n_held = system->n_held,
        .n_clocks = system->n_clocks,
        .n_actions = system->n_actions,
        .n_action_rows = build->n_action_rows,
        .held = build->held,
        .n_guards = system->n_guards,
        .n_instants = system->n_instants,
        .n_parameters = system->n_parameters,
        .n_modes = system->n_modes,
        .n_metrics = system->n_metrics,
        .n_integrals = system->n_integrals,
        .n_shown = system->n_shown,
        .n_conditions = system->n_conditions,
        .n_failed = system->n_failed,
        .n_events = system->n_events,
        .cascade = (int32_t)settings[EQUATIONS_OPTION_AT_ONCE],
        .fixed_steps = equations_is_fixed((int)method),
        .is_map = system->is_map,
        .n_sources = system->n_sources,
    };
}

static Error build_assets(EquationsBuild *build, const double *settings)
{
    const System *system = build->system;
    EquationsConstants *c = &build->c;
    TapeAssets *assets = &build->assets;
    EquationsValues *values = ARENA_NEW(build->arena, EquationsValues, system->n_modes);
    const EquationsMethod method = equations_method(system, settings);
    const bool implicit = method == EQUATIONS_BY_implicit_midpoint || method == EQUATIONS_BY_rodas5p;
    int n_wanted;
    build_sizes(build, settings);
    for (int m = 0; m < system->n_modes; m++) {
        const SystemMode *mode = &system->modes[m];
        values[m].guards = build_slopes(build, mode, mode->guards, system->n_guards);
        values[m].sizes = build_sizes_of_guards(build, mode);
        values[m].watched = build_slopes(build, mode, mode->watched, system->n_metrics);
        if (implicit && !system->is_map) values[m].jacobian = build_jacobian(build, mode);
    }
    if (build->n_switches == 0 && equations_is_straight(system, method))
        build->step = equations_step_values(system, method, build->arena);
    if (build->tape->full) return error_make(ERROR_USER, "the equations are too long");
    const TapeValue *wanted = build_wanted(build, values, &n_wanted);
    c->first_number =
        SYSTEM_SIDE(system->n_states, system->n_held, system->n_parameters, system->n_guards + build->n_switches);
    if (build->step != NULL) c->first_number = straight_number(c, c->n_total) + c->is_map;
    TRY(tape_layout(build->tape, c->first_number, wanted, n_wanted, build->arena, &build->layout));
    c->numbers = tape_assets_put(assets, build->layout.numbers, build->layout.n_numbers);
    c->n_numbers = build->layout.n_numbers;
    c->derived = tape_assets_put(assets, build->layout.derived, build->layout.n_derived_steps);
    c->n_derived_steps = build->layout.n_derived_steps;
    c->start = (int32_t)build_rows(build, EQUATIONS_CODE);
    TRY(build_code(build, system->start, system->n_states + system->n_held, c->start));
    c->modes = (int32_t)build_rows(build, (int64_t)system->n_modes * EQUATIONS_MODE);
    for (int row = 0; row <= EQUATIONS_MODE_NOISE; row += EQUATIONS_CODE) TRY(build_codes(build, values, row));
    for (int m = 0; m < system->n_modes; m++)
        TRY(build_actions_of_mode(build, &system->modes[m], c->modes + (int64_t)m * EQUATIONS_MODE));
    TRY(build_step(build));
    c->guards = (int32_t)assets->count;
    for (int k = 0; k < system->n_guards; k++) assets_integer(assets, system->guards[k].direction);
    c->instants = (int32_t)assets->count;
    for (int k = 0; k < system->n_instants; k++) {
        assets_integer(assets, system->instants[k].every);
        assets_integer(assets, build->layout.of_value[system->instants[k].at]);
    }
    build_metrics(build);
    c->scale = tape_assets_put(assets, system->scale, system->n_states);
    c->positions = (int32_t)assets->count;
    for (int i = 0; i < system->n_states; i++) assets_integer(assets, system->is_position[i]);
    c->sources = (int32_t)assets->count;
    if (system->n_sources > 0) assets_integer(assets, (int64_t)settings[EQUATIONS_OPTION_REFINE]);
    for (int i = 0; i < system->n_states && system->n_sources > 0; i++) assets_integer(assets, system->sources[i]);
    c->failed = (int32_t)assets->count;
    for (int k = 0; k < system->n_failed; k++) assets_integer(assets, EQUATIONS_OWN_FAILURE + system->failed[k]);
    build_tables(build);
    build_frame(build, method);
    c->registers = build->layout.registers;
    return error_none();
}

// ---- the tables of the model ----------------------------------------------------------------------------------------

static void equations_columns(const System *system, Arena *arena, Configured *out)
{
    Field *columns = ARENA_NEW(arena, Field, 2 + system->n_states + system_held(system) + system->n_shown);
    int n = 0;
    columns[n++] =
        system->is_map ? (Field){"time", "1", "iteration", "time"} : (Field){"time", "s", "simulated time", "time"};
    for (int i = 0; i < system->n_states; i++) columns[n++] = system->state_columns[i];
    for (int i = 0; i < system_held(system); i++) columns[n++] = system->held_columns[i];
    if (system->n_modes > 1) columns[n++] = (Field){"mode", "1", "index of the mode, from 0", "fsm"};
    for (int i = 0; i < system->n_shown; i++) columns[n++] = system->shown[i];
    out->columns = columns;
    out->n_columns = n;
}

// ---- the table of events --------------------------------------------------------------------------------------------
// Each column is a dataset of its own, so that other programs read the table as one.

// Of each state and held number, before an event or after it, behind the columns of record.h. Returns their number.
static int equations_event_values(const System *system, bool after, Field *columns, Arena *arena)
{
    const int n = system->n_states + system_held(system);
    for (int i = 0; i < n; i++) {
        const Field *of =
            i < system->n_states ? &system->state_columns[i] : &system->held_columns[i - system->n_states];
        const char *when = after ? "after" : "before", *name = arena_format(arena, "%s_%s", of->name, when);
        columns[i] = (Field){name, of->unit, arena_format(arena, "%s %s the event", of->name, when), name};
    }
    return n;
}

static void equations_event_columns(const System *system, Arena *arena, Configured *out)
{
    const int values = system->n_states + system_held(system);
    Field *columns = ARENA_NEW(arena, Field, EQUATIONS_ROW + 2 + 2 * values);
    FieldWords *words = ARENA_NEW(arena, FieldWords, 3);
    const char **modes = ARENA_NEW(arena, const char *, system->n_modes);
    int n = EQUATIONS_ROW, n_words = 0;
    if (system->n_events == 0) return;
    columns[EQUATIONS_ROW_TIME] =
        system->is_map ? (Field){"time", "1", "iteration", "time"} : (Field){"time", "s", "simulated time", "time"};
    columns[EQUATIONS_ROW_NUMBER] =
        (Field){"number", "1", "number of the event in its replicate, or of a window in that, from 0", "number"};
    columns[EQUATIONS_ROW_EVENT] = (Field){"event", "1", "index of its name, from 0", "event"};
    words[n_words++] = (FieldWords){EQUATIONS_ROW_EVENT, system->events, system->n_events};
    for (int m = 0; m < system->n_modes; m++) modes[m] = system->modes[m].name;
    for (int after = 0; after < 2 && system->n_modes > 1; after++) {
        words[n_words++] = (FieldWords){n, modes, system->n_modes};
        columns[n++] = after ? (Field){"to", "1", "index of the mode after the event, from 0", "to"}
                             : (Field){"from", "1", "index of the mode before the event, from 0", "from"};
    }
    n += equations_event_values(system, false, columns + n, arena);
    n += equations_event_values(system, true, columns + n, arena);
    out->debug = columns;
    out->n_debug = n;
    out->debug_words = words;
    out->n_debug_words = n_words;
}

// ---- metrics and failures -------------------------------------------------------------------------------------------

#define EQUATIONS_FAILURE_NAME(name) #name,
static const char *const equations_failures[] = {SYSTEM_FAILURES(EQUATIONS_FAILURE_NAME)};

static void equations_tables(const System *system, Arena *arena, Configured *out)
{
    Field *metrics = ARENA_NEW(arena, Field, system->n_metrics + 1);
    const char **failures = ARENA_NEW(arena, const char *, EQUATIONS_OWN_FAILURE + system->n_failures);
    for (int i = 0; i < system->n_metrics; i++) metrics[i] = system->metric_fields[i];
    metrics[system->n_metrics] = (Field){"survived", system->is_map ? "1" : "s", "time until the lane ended", NULL};
    for (int i = 0; i < EQUATIONS_OWN_FAILURE; i++) failures[i] = equations_failures[i];
    for (int i = 0; i < system->n_failures; i++) failures[EQUATIONS_OWN_FAILURE + i] = system->failures[i];
    out->metrics = metrics;
    out->n_metrics = system->n_metrics + 1;
    out->failures = failures;
    out->n_failures = EQUATIONS_OWN_FAILURE + system->n_failures;
    out->parameters = system->parameters;
    out->n_parameters = system->n_parameters;
    equations_columns(system, arena, out);
}

// ---- configuration --------------------------------------------------------------------------------------------------

extern const Model equations_model;

#define EQUATIONS_KERNEL_OF(name, fixed) KERNEL_equations_##name,
static const int equations_kernels[] = {EQUATIONS_INTEGRATORS(EQUATIONS_KERNEL_OF) KERNEL_equations_map};

// Noise needs a method of its own, and these need noise.
static Error equations_check_integrator(const System *system, const double *settings, Configured *out)
{
#define EQUATIONS_WORD(name, fixed) #name,
    static const char *const words[] = {EQUATIONS_INTEGRATORS(EQUATIONS_WORD) "map"};
#undef EQUATIONS_WORD
    const EquationsMethod method = equations_method(system, settings);
    const bool noisy = method == EQUATIONS_BY_euler_maruyama || method == EQUATIONS_BY_sra3;
    const char *state = system->multiplicative;
    if (settings[EQUATIONS_OPTION_REFINE] > 0.0 && (system->n_sources == 0 || system->is_map)) {
        out->wrong_option = EQUATIONS_OPTION_REFINE + 1;
        return error_make(ERROR_USER, "refine is for differential equations with noise; this system %s: leave it out",
                          system->is_map ? "is a map" : "has none");
    }
    if (system->is_map) return error_none();
    out->wrong_option = EQUATIONS_OPTION_INTEGRATOR + 1;
    if (system->n_sources > 0 && !noisy && state != NULL)
        return error_make(ERROR_USER,
                          "%s is not for systems with noise: write integrator: euler_maruyama (strong order 0.5)",
                          words[method]);
    if (system->n_sources > 0 && !noisy)
        return error_make(ERROR_USER,
                          "%s is not for systems with noise: write integrator: sra3 (strong order 1.5, here, where no "
                          "noise depends on a state), or euler_maruyama (strong order 1)",
                          words[method]);
    if (system->n_sources > 0 && method == EQUATIONS_BY_sra3 && state != NULL)
        return error_make(ERROR_USER,
                          "sra3 is for noise whose size depends on no state, and that of %s does: write integrator: "
                          "euler_maruyama (strong order 0.5)",
                          state);
    if (system->n_sources == 0 && noisy)
        return error_make(ERROR_USER,
                          "%s is for systems with noise, and this one has none: declare noise: {x: 0.1}, or take "
                          "dormand_prince or rk4",
                          words[method]);
    out->wrong_option = 0;
    return error_none();
}

// ---- actions --------------------------------------------------------------------------------------------------------

enum { EQUATIONS_PERIOD_MAX = 1000000000 }; // steps dt

// The table of actions of a run.
static Error build_table_of_actions(EquationsBuild *build, const System *system, const Points *points, Configured *out)
{
    const Points none = {.count = 0}, *listed = points != NULL ? &points[EQUATIONS_OPTION_ACTIONS] : &none,
                 *file = points != NULL ? &points[EQUATIONS_OPTION_ACTIONS_FILE] : &none;
    int64_t rows;
    bool of_file;
    const Error error =
        actions_table(system->actions, system->n_actions, listed, file, build->arena, &build->actions, &rows, &of_file);
    out->wrong_option = 1 + (of_file ? EQUATIONS_OPTION_ACTIONS_FILE : EQUATIONS_OPTION_ACTIONS);
    build->n_action_rows = (int32_t)rows;
    return error;
}

// Inputs with a range: how long they are held, and the table of a run.
static Error build_actions(EquationsBuild *build, const System *system, const double *settings, const Points *points,
                           Configured *out)
{
    const double period = settings[EQUATIONS_OPTION_PERIOD], dt = system->is_map ? 1.0 : settings[EQUATIONS_OPTION_DT];
    const double steps = period > 0.0 ? period / dt : 1.0, whole = floor(steps + 0.5);
    TRY(build_table_of_actions(build, system, points, out));
    out->wrong_option = 1 + EQUATIONS_OPTION_PERIOD;
    if (system->n_actions == 0 && period > 0.0)
        return error_make(ERROR_USER, "control.period is for actions, and no input of the system has a range: "
                                      "inputs: {u: {range: [-1, 1]}}");
    if (system->n_actions > 0 && period == 0.0 && !system->is_map)
        return error_make(
            ERROR_USER,
            "control.period is missing: how long the action %s is held, a whole number of steps dt, as in "
            "control: {period: %g}",
            system->actions[0].name, 10.0 * dt);
    if (fabs(steps - whole) > 1e-9 * whole || whole < 1.0 || whole > EQUATIONS_PERIOD_MAX)
        return error_make(ERROR_USER, "control.period (%g%s) must be a whole number of %s", period,
                          system->is_map ? "" : " s", system->is_map ? "iterations" : "steps dt");
    out->wrong_option = 0;
    build->held = (int64_t)whole;
    return error_none();
}

// As lane.h decides: the frame, or its registers.
static int equations_shared(const EquationsConstants *c)
{
    if (c->file + c->registers <= SHARED_NUMBERS) return c->file + c->registers;
    return c->registers <= equations_shared_file(c) ? c->registers : 0;
}

// The last tick may be cut.
static int64_t equations_whole_ticks(const EquationsConstants *c)
{
    return (int64_t)fmax(ceil(c->duration / c->dt - 1e-9), 1.0);
}

static Error equations_shorten(double duration, Configured *configured)
{
    EquationsConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    c.duration = configured->duration = duration;
    configured->ticks = equations_whole_ticks(&c);
    memcpy(&configured->constants, &c, sizeof c);
    return error_none();
}

static Error equations_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    const System *system = points != NULL ? points[EQUATIONS_OPTION_SYSTEM].system : system_example(arena);
    EquationsBuild build = {.arena = arena, .assets = {.arena = arena}};
    if (system == NULL) {
        out->wrong_option = EQUATIONS_OPTION_SYSTEM + 1;
        return error_make(ERROR_USER, "simulation.system is missing: the equations, or the name of a file with them");
    }
    const double duration = settings[EQUATIONS_OPTION_DURATION];
    if (system->is_map && duration != floor(duration)) {
        out->wrong_option = EQUATIONS_OPTION_DURATION + 1;
        return error_make(ERROR_USER, "simulation.duration is %g: that of a map is a whole number of iterations",
                          duration);
    }
    TRY(equations_check_integrator(system, settings, out));
    for (int i = 0; i < system->n_spans; i++) {
        const SystemSpan *span = &system->spans[i];
        if (span->from <= 0.0 && span->to >= duration) continue;
        out->wrong_option = EQUATIONS_OPTION_DURATION + 1;
        return error_make(ERROR_USER,
                          "the input %s has rows from %g to %g s, and the trials take 0 to %g s: change "
                          "simulation.duration, or give it beyond: hold, which keeps the first and last row",
                          span->name, span->from, span->to, duration);
    }
    TRY(build_actions(&build, system, settings, points, out));
    build.tape = system->tape;
    build.tape->work = 0;
    System switched, counted;
    out->wrong_option = EQUATIONS_OPTION_SYSTEM + 1;
    TRY(system_switches(system, arena, &switched, build.switches, &build.n_switches));
    out->wrong_option = 0;
    system_counters(&switched, arena, &counted);
    build.system = &counted;
    TRY(build_assets(&build, settings));
    *out = (Configured){.model = &equations_model,
                        .kernel = equations_kernels[equations_method(system, settings)],
                        .n_work = build.c.file + build.c.registers,
                        .shared = equations_shared(&build.c),
                        .ahead = straight_plan_bytes(build.assets.numbers, &build.c),
                        .ticks = equations_whole_ticks(&build.c),
                        .tick_duration = build.c.dt,
                        .duration = build.c.duration,
                        .steps_max = build.c.steps_max,
                        .actions = system->actions,
                        .n_actions = system->n_actions,
                        .action_ticks = build.held,
                        .environment_kernel = equations_kernels[equations_method(system, settings)],
                        .waits = system->n_actions > 0 && build.n_action_rows == 0,
                        .assets = build.assets.numbers,
                        .n_assets = build.assets.count};
    equations_tables(system, arena, out);
    equations_event_columns(system, arena, out);
    const EquationsDerivatives *derivatives = equations_derivatives_make(build.system, build.switches, build.n_switches,
                                                                         equations_method(system, settings), arena);
    TRY(equations_figure(system, derivatives, arena, out));
    memcpy(&out->constants, &build.c, sizeof build.c);
    return error_none();
}

// "2 states, 1 source, of a size that depends on no state (additive)"
static const char *equations_explain_noise(const System *system, Arena *arena)
{
    int states = 0;
    for (int i = 0; i < system->n_states; i++) states += system->sources[i] >= 0;
    const char *size = system->multiplicative != NULL ? "of a size that depends on states (multiplicative)"
                                                      : "of a size that depends on no state (additive)";
    return arena_format(arena, "%d state%s, %d source%s, %s", states, states == 1 ? "" : "s", system->n_sources,
                        system->n_sources == 1 ? "" : "s", size);
}

// Which states are positions of semi_implicit_euler; without one it is Euler's explicit method.
static Remark equations_explain_positions(const System *system, Arena *arena)
{
    const char *names = "";
    int count = 0;
    for (int i = 0; i < system->n_states; i++)
        if (system->is_position[i] && count++ < 8)
            names = arena_format(arena, "%s%s%s", names, count > 1 ? ", " : "", system->state_columns[i].name);
    if (count == 0)
        return (Remark){.name = "positions",
                        .text = "no rate is the name of another state alone, so no state is a position: these are "
                                "steps of Euler's explicit method",
                        .warning = true};
    return (Remark){.name = "positions",
                    .text = arena_format(arena, "%s%s: semi_implicit_euler moves these with the new velocities", names,
                                         count > 8 ? ", ..." : "")};
}

// What is likely wrong with the times of measured inputs: most rows lie far behind the end of the run, as those in ms
// do, or rows are missing. An input that is held between its rows may have them where it changes. 0 or 1 remark.
static int equations_explain_inputs(const Configured *configured, const System *system, Arena *arena, Remark *remark)
{
    enum { LEAST = 20 };
    const double far = 100.0, apart = 5.0; // durations; mean times between rows
    for (int k = 0; k < system->n_clocks; k++) {
        const TapeTable *table = system->tape->tables[system->clocks[k].table];
        const double *at = lookup_arguments(table), first = at[0], last = at[table->first - 1];
        const int n = table->first;
        int seen = 0, gap = 0, regular = 0;
        if (n < LEAST) continue;
        for (int i = 0; i < n; i++) seen += at[i] >= 0.0 && at[i] <= configured->duration;
        if (last - first > far * configured->duration) {
            *remark = (Remark){.name = "inputs",
                               .text = arena_format(
                                   arena,
                                   "%s has %d rows from %.6g to %.6g s, and a trial of %.6g s sees %d of them; are its "
                                   "times in ms? `time: {column: ..., unit: ms}`",
                                   system->clocks[k].name, n, first, last, configured->duration, seen),
                               .warning = true};
            return 1;
        }
        if (table->between != LOOKUP_LINEAR) continue;
        for (int i = 1; i < n; i++) {
            if (at[i] - at[i - 1] > at[gap + 1] - at[gap]) gap = i - 1;
            regular += at[i] - at[i - 1] < 2.0 * (last - first) / (n - 1);
        }
        const double widest = at[gap + 1] - at[gap], mean = (last - first - widest) / (n - 2);
        if (widest < apart * mean || 100 * regular < 98 * (n - 1) || at[gap] >= configured->duration) continue;
        *remark = (Remark){.name = "inputs",
                           .text = arena_format(arena,
                                                "%s: rows are missing: %.4g s between those at %.6g and %.6g s, which "
                                                "a straight line bridges; rows are %.4g s apart",
                                                system->clocks[k].name, widest, at[gap], at[gap + 1], mean),
                           .warning = true};
        return 1;
    }
    return 0;
}

// How many expressions had their units checked: a unit that does not fit is an error of the spec. The noise.
static int equations_explain(const Configured *configured, const double *point, int count, Arena *arena,
                             Remark *remarks)
{
    const System *system = equations_system(configured);
    const char *missing = system->unitless != NULL ? arena_format(arena, "; without a unit: %s", system->unitless) : "";
    int n = 0;
    if (system->n_sources > 0) remarks[n++] = (Remark){.name = "noise", .text = equations_explain_noise(system, arena)};
    if (configured->kernel == KERNEL_equations_semi_implicit_euler)
        remarks[n++] = equations_explain_positions(system, arena);
    n += equations_explain_inputs(configured, system, arena, remarks + n);
    n += equations_touches(configured, point, count, arena, remarks + n, REMARKS_MAX - 2 - n);
    if (system->n_expressions == 0) return n;
    remarks[n++] = (Remark){
        .name = "units",
        .text = arena_format(arena, "%d of %d equations checked%s", system->n_checked, system->n_expressions, missing)};
    return n;
}

const Model equations_model = {
    .name = "equations",
    .doc = "a system of your own: differential equations with modes and events, or a map",
    .source = "the spec",
    .options = equations_options,
    .n_options = EQUATIONS_N_OPTIONS,
    .numerics = "dt|integrator|tolerance|steps|refine",
    .later = "control.period|control.actions|control.file",
    .debug = "events",
    .debug_are = "events",
    .debug_doc = "a row for each event of the system: time, name, and mode, states and held numbers before and after",
    .debug_needs = "the system has no events",
    .configure = equations_configure,
    .shorten = equations_shorten,
    .made_macros = equations_made_macros,
    .made_on_cpu = true,
    .explain = equations_explain,
    .adjoint = &equations_adjoint,
};
