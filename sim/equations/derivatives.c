// The codes of a system's derivatives (derivatives.h).
#include "derivatives.h"

#include "../tape_code.h"
#include "system.h"

#include <string.h>

enum {
    DERIVATIVES_WORK = 1 << 27,  // values that are looked at, of TAPE_WORK_MAX
    DERIVATIVES_STEPS = 1 << 20, // of all codes
    DERIVATIVES_WANTED = 1 << 19
};

// An output of a code.
typedef struct DerivativeWant {
    DerivativeCode *code;
    int32_t what;
    TapeValue value;
} DerivativeWant;

typedef struct DerivativeBuild {
    const System *system;
    Tape *tape;
    EquationsDerivatives *out;
    TapeValue *inputs, *rates, *seconds; // [n_inputs]
    TapeValue *weights;                  // [n_weights]
    TapeValue *slope;                    // [n_inputs]
    DerivativeWant *wants;               // [n_wants], those of a code together
    int n_wants, room;
    TapeLayout layout;
    TapeAssets assets;
    Arena *arena;
} DerivativeBuild;

// ---- what is wanted -------------------------------------------------------------------------------------------------

static void derivative_want(DerivativeBuild *build, DerivativeCode *code, int what, TapeValue value)
{
    if (value == TAPE_NONE) return;
    if (build->n_wants == build->room) {
        build->room = 2 * build->room + 1024;
        DerivativeWant *more = ARENA_NEW(build->arena, DerivativeWant, build->room);
        if (build->n_wants > 0) memcpy(more, build->wants, (size_t)build->n_wants * sizeof *more);
        build->wants = more;
    }
    build->wants[build->n_wants++] = (DerivativeWant){code, what, value};
}

// Of sum weights[i] values[i], by each input.
static void derivative_want_pull(DerivativeBuild *build, DerivativeCode *code, const TapeValue *values,
                                 const TapeValue *weights, int count)
{
    const int n = build->out->n_inputs;
    tape_adjoint(build->tape, values, weights, count, build->inputs, n, build->slope);
    for (int k = 0; k < n; k++) derivative_want(build, code, k, build->slope[k]);
}

static TapeValue derivative_push(DerivativeBuild *build, TapeValue value)
{
    if (value == TAPE_NONE) return TAPE_NONE;
    return tape_slope(build->tape, value, build->inputs, build->rates, build->out->n_inputs);
}

static void derivative_want_push(DerivativeBuild *build, DerivativeCode *code, const TapeValue *values, int count)
{
    for (int i = 0; i < count; i++) derivative_want(build, code, i, derivative_push(build, values[i]));
}

// Of one value.
static void derivative_want_one(DerivativeBuild *build, TapeValue value, DerivativeCode *pull, DerivativeCode *push)
{
    const TapeValue one = tape_number(build->tape, 1.0);
    derivative_want_pull(build, pull, &value, &one, 1);
    derivative_want_push(build, push, &value, 1);
}

// ---- modes ----------------------------------------------------------------------------------------------------------

static void derivative_rates(DerivativeBuild *build, const SystemMode *from, DerivativeMode *mode)
{
    const System *s = build->system;
    const int n = s->n_states, total = n + s->n_integrals;
    const EquationsMethod method = build->out->method;
    const TapeValue one = tape_number(build->tape, 1.0);
    TapeValue *push = ARENA_NEW(build->arena, TapeValue, total);
    for (int i = 0; i < total; i++) derivative_want(build, &mode->rates, i, from->rates[i]);
    derivative_want_pull(build, &mode->rates_pull, from->rates, build->weights, total);
    for (int i = 0; i < total; i++)
        derivative_want(build, &mode->rates_push, i, push[i] = derivative_push(build, from->rates[i]));
    for (int i = 0; i < total * n && (method == EQUATIONS_BY_implicit_midpoint || method == EQUATIONS_BY_rodas5p); i++)
        derivative_want(build, &mode->jacobian, i,
                        from->rates[i / n] != TAPE_NONE
                            ? tape_slope(build->tape, from->rates[i / n], &build->inputs[1 + i % n], &one, 1)
                            : TAPE_NONE);
    if (s->n_sources > 0) {
        for (int i = 0; i < n; i++) derivative_want(build, &mode->noise, i, from->noise[i]);
        derivative_want_pull(build, &mode->noise_pull, from->noise, build->weights, n);
        derivative_want_push(build, &mode->noise_push, from->noise, n);
    }
    if (method != EQUATIONS_BY_rodas5p) return;
    derivative_want_pull(build, &mode->bend_pull, push, build->weights, total);
    for (int i = 0; i < total; i++)
        if (push[i] != TAPE_NONE)
            derivative_want(build, &mode->bend_push, i,
                            tape_slope(build->tape, push[i], build->inputs, build->seconds, build->out->n_inputs));
}

static DerivativeAction derivative_action_none(void) { return (DerivativeAction){0}; }

static void derivative_actions(DerivativeBuild *build, const SystemMode *from, DerivativeMode *mode)
{
    const int settable = build->system->n_states + build->system->n_held;
    DerivativeAction *actions = ARENA_NEW(build->arena, DerivativeAction, from->n_actions);
    for (int a = 0; a < from->n_actions; a++) {
        const TapeValue *set = from->actions[a].set;
        actions[a] = derivative_action_none();
        if (set == NULL) continue;
        bool *sets = ARENA_NEW(build->arena, bool, settable);
        for (int i = 0; i < settable; i++) sets[i] = set[i] != TAPE_NONE;
        actions[a].sets = sets;
        derivative_want_pull(build, &actions[a].pull, set, build->weights, settable);
        derivative_want_push(build, &actions[a].push, set, settable);
    }
    mode->actions = actions;
}

static void derivative_mode(DerivativeBuild *build, const SystemMode *from, DerivativeMode *mode)
{
    const System *s = build->system;
    DerivativeCode *guard = ARENA_NEW(build->arena, DerivativeCode, s->n_guards),
                   *guard_pull = ARENA_NEW(build->arena, DerivativeCode, s->n_guards),
                   *guard_push = ARENA_NEW(build->arena, DerivativeCode, s->n_guards),
                   *watched = ARENA_NEW(build->arena, DerivativeCode, s->n_metrics),
                   *watched_pull = ARENA_NEW(build->arena, DerivativeCode, s->n_metrics),
                   *watched_push = ARENA_NEW(build->arena, DerivativeCode, s->n_metrics);
    bool *watches = ARENA_NEW(build->arena, bool, s->n_metrics);
    derivative_rates(build, from, mode);
    for (int k = 0; k < s->n_guards; k++) {
        derivative_want(build, &guard[k], 0, from->guards[k]);
        if (from->guards[k] != TAPE_NONE) derivative_want_one(build, from->guards[k], &guard_pull[k], &guard_push[k]);
    }
    for (int m = 0; m < s->n_metrics; m++) {
        watches[m] = from->watched[m] != TAPE_NONE;
        if (!watches[m]) continue;
        derivative_want(build, &watched[m], 0, from->watched[m]);
        derivative_want_one(build, from->watched[m], &watched_pull[m], &watched_push[m]);
    }
    mode->guard = guard;
    mode->guard_pull = guard_pull;
    mode->guard_push = guard_push;
    mode->watches = watches;
    mode->watched = watched;
    mode->watched_pull = watched_pull;
    mode->watched_push = watched_push;
    derivative_actions(build, from, mode);
}

// ---- instants -------------------------------------------------------------------------------------------------------

static void derivative_instants(DerivativeBuild *build)
{
    const System *s = build->system;
    DerivativeCode *value = ARENA_NEW(build->arena, DerivativeCode, s->n_instants),
                   *pull = ARENA_NEW(build->arena, DerivativeCode, s->n_instants),
                   *push = ARENA_NEW(build->arena, DerivativeCode, s->n_instants);
    for (int k = 0; k < s->n_instants; k++) {
        derivative_want(build, &value[k], 0, s->instants[k].at);
        derivative_want_one(build, s->instants[k].at, &pull[k], &push[k]);
    }
    build->out->instant = value;
    build->out->instant_pull = pull;
    build->out->instant_push = push;
}

// The instant at which the present row of a switch began: as lane.h computes it.
static TapeValue derivative_switch(DerivativeBuild *build, const SystemSwitch *of, int k)
{
    const System *s = build->system;
    Tape *tape = build->tape;
    const int row = SYSTEM_SIDE(s->n_states, s->n_held, s->n_parameters, s->n_guards + k);
    if (!of->counts) return of->at;
    const TapeValue product =
        tape_operation(tape, PROGRAM_MULTIPLY, tape_input(tape, row, TAPE_MOVING), of->period, TAPE_NONE);
    return tape_operation(tape, PROGRAM_DIVIDE, tape_operation(tape, PROGRAM_SUBTRACT, product, of->rest, TAPE_NONE),
                          of->rate, TAPE_NONE);
}

static void derivative_switches(DerivativeBuild *build, const SystemSwitch *switches, int count)
{
    DerivativeCode *pull = ARENA_NEW(build->arena, DerivativeCode, count),
                   *push = ARENA_NEW(build->arena, DerivativeCode, count);
    for (int k = 0; k < count; k++)
        derivative_want_one(build, derivative_switch(build, &switches[k], k), &pull[k], &push[k]);
    build->out->switch_pull = pull;
    build->out->switch_push = push;
}

// ---- codes ----------------------------------------------------------------------------------------------------------

static Error derivative_codes(DerivativeBuild *build)
{
    TapeValue *values = ARENA_NEW(build->arena, TapeValue, build->n_wants);
    int64_t steps = 0;
    for (int i = 0; i < build->n_wants; i++) values[i] = build->wants[i].value;
    TRY(tape_layout(build->tape, build->out->first_number, values, build->n_wants, build->arena, &build->layout));
    for (int i = 0, end; i < build->n_wants; i = end) {
        DerivativeCode *code = build->wants[i].code;
        TapeCode made;
        for (end = i; end < build->n_wants && build->wants[end].code == code; end++) {
        }
        TRY(tape_code(build->tape, &build->layout, values + i, end - i, build->arena, &made));
        steps += made.count;
        if (steps > DERIVATIVES_STEPS) return error_make(ERROR_USER, "too long");
        code->first = tape_assets_put(&build->assets, made.steps, made.count);
        code->count = made.count;
        code->outputs = (int32_t)build->assets.count;
        code->n_outputs = end - i;
        for (int k = i; k < end; k++) {
            const int64_t pair[] = {build->wants[k].what, made.outputs[k - i]};
            tape_assets_put(&build->assets, pair, 2);
        }
    }
    return error_none();
}

static void derivative_tables(DerivativeBuild *build)
{
    const Tape *tape = build->tape;
    int64_t *at = ARENA_NEW(build->arena, int64_t, tape->n_tables);
    for (int i = 0; i < tape->n_tables; i++)
        at[i] = tape_assets_put(&build->assets, tape->tables[i]->row, tape->tables[i]->count);
    build->out->tables = tape_assets_put(&build->assets, at, tape->n_tables);
}

static void derivative_place(DerivativeBuild *build)
{
    EquationsDerivatives *out = build->out;
    const TapeLayout *layout = &build->layout;
    derivative_tables(build);
    out->numbers = tape_assets_put(&build->assets, layout->numbers, layout->n_numbers);
    out->n_numbers = layout->n_numbers;
    out->derived = tape_assets_put(&build->assets, layout->derived, layout->n_derived_steps);
    out->n_derived = layout->n_derived_steps;
    out->registers = layout->registers;
    out->assets = build->assets.numbers;
    out->n_assets = build->assets.count;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static TapeValue *derivative_inputs(DerivativeBuild *build, int first, int count)
{
    TapeValue *inputs = ARENA_NEW(build->arena, TapeValue, count);
    for (int k = 0; k < count; k++) inputs[k] = tape_input(build->tape, first + k, TAPE_MOVING);
    return inputs;
}

static void derivative_begin(DerivativeBuild *build, int n_switches)
{
    const System *s = build->system;
    EquationsDerivatives *out = build->out;
    const int total = s->n_states + s->n_integrals, settable = s->n_states + s->n_held;
    out->n_inputs = SYSTEM_SIDE(s->n_states, s->n_held, s->n_parameters, 0);
    out->n_rows = s->n_guards + n_switches;
    out->n_weights = total > settable ? total : settable;
    out->weight = out->n_inputs + out->n_rows;
    out->rate = out->weight + out->n_weights;
    out->second = out->rate + out->n_inputs;
    out->first_number = out->second + out->n_inputs;
    build->inputs = ARENA_NEW(build->arena, TapeValue, out->n_inputs);
    const int parameters = SYSTEM_PARAMETER(s->n_states, s->n_held, 0);
    for (int k = 0; k < out->n_inputs; k++)
        build->inputs[k] = tape_input(build->tape, k, k < parameters ? TAPE_MOVING : TAPE_FIXED);
    build->weights = derivative_inputs(build, out->weight, out->n_weights);
    build->rates = derivative_inputs(build, out->rate, out->n_inputs);
    build->seconds = derivative_inputs(build, out->second, out->n_inputs);
    build->slope = ARENA_NEW(build->arena, TapeValue, out->n_inputs);
}

static void derivative_values(DerivativeBuild *build, const SystemSwitch *switches, int n_switches)
{
    const System *s = build->system;
    DerivativeMode *modes = ARENA_NEW(build->arena, DerivativeMode, s->n_modes);
    derivative_want_pull(build, &build->out->start_pull, s->start, build->weights, s->n_states + s->n_held);
    derivative_want_push(build, &build->out->start_push, s->start, s->n_states + s->n_held);
    for (int m = 0; m < s->n_modes && !build->tape->full && build->n_wants < DERIVATIVES_WANTED; m++)
        derivative_mode(build, &s->modes[m], &modes[m]);
    derivative_instants(build);
    derivative_switches(build, switches, n_switches);
    build->out->modes = modes;
}

// ---- jumps ----------------------------------------------------------------------------------------------------------

// Where an operand passes some value, the operation jumps.
static bool derivative_is_jump(int operation)
{
    return (operation >= PROGRAM_OR && operation <= PROGRAM_EQUAL) ||
           (operation >= PROGRAM_FLOOR && operation <= PROGRAM_STEP) || operation == PROGRAM_MOD;
}

// Whether a value is made of what may jump with the time or a state. What compares the time with fixed values is a
// switch, whose rows are others.
static bool derivative_jumps(DerivativeBuild *build, TapeValue value)
{
    Tape *tape = build->tape;
    bool jumps = false;
    if (value == TAPE_NONE) return false;
    const bool *needed = tape_needs(tape, &value, 1);
    if (needed == NULL) return false;
    bool *moves = ARENA_NEW(build->arena, bool, value + 1);
    for (TapeValue v = 0; v <= value; v++) {
        const TapeNode *node = &tape->nodes[v];
        if (!needed[v] || node->operation == PROGRAM_NUMBER) continue;
        if (node->operation == TAPE_INPUT) {
            moves[v] = node->a <= build->system->n_states;
            continue;
        }
        moves[v] = (node->a != TAPE_NONE && moves[node->a]) || (node->b != TAPE_NONE && moves[node->b]) ||
                   (node->c != TAPE_NONE && moves[node->c]);
        jumps |= derivative_is_jump(node->operation) && moves[v];
        jumps |= node->operation == PROGRAM_IF && moves[node->a];
        jumps |= node->operation == TAPE_TABLE && moves[v] && tape->tables[(int)node->number]->between == LOOKUP_HELD;
    }
    return jumps;
}

static void derivative_find_jumps(DerivativeBuild *build)
{
    const System *s = build->system;
    bool *jumps = ARENA_NEW(build->arena, bool, s->n_integrals);
    for (int m = 0; m < s->n_modes && !s->is_map; m++) {
        const SystemMode *mode = &s->modes[m];
        for (int i = 0; i < s->n_integrals; i++) jumps[i] |= derivative_jumps(build, mode->rates[s->n_states + i]);
        for (int i = 0; i < s->n_states && build->out->jumping == NULL; i++)
            if (derivative_jumps(build, mode->rates[i]) ||
                (s->n_sources > 0 && derivative_jumps(build, mode->noise[i])))
                build->out->jumping = s->state_columns[i].name;
    }
    build->out->jumps = jumps;
}

EquationsDerivatives *equations_derivatives_make(const System *system, const SystemSwitch *switches, int n_switches,
                                                 EquationsMethod method, Arena *arena)
{
    EquationsDerivatives *out = ARENA_NEW(arena, EquationsDerivatives, 1);
    DerivativeBuild build = {
        .system = system, .tape = system->tape, .out = out, .arena = arena, .assets = {.arena = arena}};
    const int64_t work = build.tape->work;
    out->method = method;
    build.tape->work = TAPE_WORK_MAX - DERIVATIVES_WORK;
    derivative_find_jumps(&build);
    derivative_begin(&build, n_switches);
    derivative_values(&build, switches, n_switches);
    const bool many = build.tape->full || build.n_wants >= DERIVATIVES_WANTED;
    if (many || derivative_codes(&build).kind != OK)
        out->refusal = "the equations are too long for a gradient by the adjoint or the tangent";
    else
        derivative_place(&build);
    build.tape->full = false;
    build.tape->work = work;
    return out;
}
