// Comparisons of time with fixed values, in what a step computes. A step would not see a pulse such as
// if(time > a and time < b, 1, 0) between its stages, and has no order over a jump or a bend. So each such comparison
// becomes one of a switch, an input of the tape that changes at an instant known beforehand, at which steps end as they
// do at the rows of inputs. Found are functions that jump or bend where rate*time + rest = 0, with rate and rest of
// fixed inputs, and those of mod(rate*time + rest, period). At its instant a comparison is what it is as written, for
// what happens then; behind it, for the step that begins, > and >= are one.
#include "switches.h"

#include "../environment_view.h"

typedef struct SwitchBuild {
    const System *system;
    Tape *tape;
    SystemSwitch *switches; // [count]
    int count;
    TapeValue *from, *to; // [n_replaced] values, and what they are by switches
    int n_replaced, room;
    Arena *arena;
} SwitchBuild;

// rate*base + rest, where base is time, or a remainder of it; base TAPE_NONE: a value of fixed inputs. A rate or a rest
// that is TAPE_NONE is 0.
typedef struct SwitchLine {
    bool is;
    TapeValue base, rate, rest;
} SwitchLine;

enum { SWITCH_VISITS = 256 }; // operations of a line, those that it has twice counted twice

static TapeValue switch_two(SwitchBuild *build, int operation, TapeValue a, TapeValue b)
{
    return tape_operation(build->tape, operation, a, b, TAPE_NONE);
}
static TapeValue switch_negated(SwitchBuild *build, TapeValue a)
{
    return a == TAPE_NONE ? TAPE_NONE : tape_operation(build->tape, PROGRAM_NEGATE, a, TAPE_NONE, TAPE_NONE);
}
static TapeValue switch_sum(SwitchBuild *build, TapeValue a, TapeValue b)
{
    if (a == TAPE_NONE || b == TAPE_NONE) return a == TAPE_NONE ? b : a;
    return switch_two(build, PROGRAM_ADD, a, b);
}
static TapeValue switch_or_zero(SwitchBuild *build, TapeValue a)
{
    return a != TAPE_NONE ? a : tape_number(build->tape, 0.0);
}
static TapeValue switch_if(SwitchBuild *build, TapeValue condition, TapeValue a, TapeValue b)
{
    double truth;
    if (tape_is_number(build->tape, condition, &truth) && truth == truth) return truth != 0.0 ? a : b;
    return tape_operation(build->tape, PROGRAM_IF, condition, a, b);
}
static bool switch_is_fixed(const SwitchBuild *build, TapeValue value)
{
    return (build->tape->nodes[value].depends & TAPE_MOVING) == 0;
}

// ---- lines ----------------------------------------------------------------------------------------------------------

static SwitchLine switch_line(SwitchBuild *build, TapeValue value, int *visits);

static const SwitchLine switch_no_line = {.base = TAPE_NONE, .rate = TAPE_NONE, .rest = TAPE_NONE};

static SwitchLine switch_line_sum(SwitchBuild *build, SwitchLine a, SwitchLine b, bool less)
{
    if (!a.is || !b.is || (a.base != TAPE_NONE && b.base != TAPE_NONE && a.base != b.base)) return switch_no_line;
    if (less) b.rate = switch_negated(build, b.rate), b.rest = switch_negated(build, b.rest);
    return (SwitchLine){.is = true,
                        .base = a.base != TAPE_NONE ? a.base : b.base,
                        .rate = switch_sum(build, a.rate, b.rate),
                        .rest = switch_sum(build, a.rest, b.rest)};
}

static SwitchLine switch_line_scaled(SwitchBuild *build, SwitchLine a, int operation, SwitchLine by)
{
    if (operation == PROGRAM_MULTIPLY && a.base == TAPE_NONE && by.base != TAPE_NONE)
        return switch_line_scaled(build, by, operation, a);
    if (!a.is || !by.is || by.base != TAPE_NONE || by.rest == TAPE_NONE) return switch_no_line;
    if (a.rate != TAPE_NONE) a.rate = switch_two(build, operation, a.rate, by.rest);
    if (a.rest != TAPE_NONE) a.rest = switch_two(build, operation, a.rest, by.rest);
    return a;
}

static SwitchLine switch_line_of(SwitchBuild *build, TapeValue value, const TapeNode *node, int *visits)
{
    const SwitchLine base = {.is = true, .base = value, .rate = tape_number(build->tape, 1.0), .rest = TAPE_NONE};
    if (node->operation == TAPE_INPUT) return node->a == SYSTEM_TIME ? base : switch_no_line;
    const SwitchLine a = switch_line(build, node->a, visits);
    const SwitchLine zero = {.is = true, .base = a.base, .rate = TAPE_NONE, .rest = TAPE_NONE};
    if (node->operation == PROGRAM_NEGATE) return switch_line_sum(build, zero, a, true);
    if (node->b == TAPE_NONE || node->c != TAPE_NONE) return switch_no_line;
    const SwitchLine b = switch_line(build, node->b, visits);
    switch (node->operation) {
    case PROGRAM_ADD: return switch_line_sum(build, a, b, false);
    case PROGRAM_SUBTRACT: return switch_line_sum(build, a, b, true);
    case PROGRAM_MULTIPLY:
    case PROGRAM_DIVIDE: return switch_line_scaled(build, a, node->operation, b);
    case PROGRAM_MOD:
        return a.is && a.base != TAPE_NONE && build->tape->nodes[a.base].operation == TAPE_INPUT && b.is &&
                       b.base == TAPE_NONE
                   ? base
                   : switch_no_line;
    default: return switch_no_line;
    }
}

// A value as a line; is false: it is none.
static SwitchLine switch_line(SwitchBuild *build, TapeValue value, int *visits)
{
    const TapeNode node = build->tape->nodes[value]; // the tape grows
    if (--*visits < 0 || tape_looks_up(&node)) return switch_no_line;
    if (switch_is_fixed(build, value)) return (SwitchLine){true, TAPE_NONE, TAPE_NONE, value};
    return switch_line_of(build, value, &node, visits);
}

// ---- switches -------------------------------------------------------------------------------------------------------

static bool switch_same(const SystemSwitch *a, const SystemSwitch *b)
{
    return a->counts == b->counts && a->at == b->at && a->period == b->period && a->rate == b->rate &&
           a->rest == b->rest;
}

// The row of a switch, an earlier one or a new one.
static TapeValue switch_row(SwitchBuild *build, SystemSwitch of)
{
    const System *s = build->system;
    int k = 0;
    while (k < build->count && !switch_same(&build->switches[k], &of)) k++;
    if (k < SYSTEM_SWITCHES_MAX) build->switches[k] = of;
    if (k == build->count) build->count++; // more than there is room for: an error
    return tape_input(build->tape, SYSTEM_SIDE(s->n_states, s->n_held, s->n_parameters, s->n_guards + k), TAPE_MOVING);
}

// floor(line / period) by a switch: where period and rate are positive.
static TapeValue switch_floor(SwitchBuild *build, const SwitchLine *line, TapeValue period)
{
    return switch_row(build, (SystemSwitch){.counts = true,
                                            .at = TAPE_NONE,
                                            .period = period,
                                            .rate = line->rate,
                                            .rest = switch_or_zero(build, line->rest)});
}

static TapeValue switch_counts(SwitchBuild *build, const SwitchLine *line, TapeValue period)
{
    const TapeValue zero = tape_number(build->tape, 0.0);
    return switch_two(build, PROGRAM_AND, switch_two(build, PROGRAM_GREATER, line->rate, zero),
                      switch_two(build, PROGRAM_GREATER, period, zero));
}

// A number with the sign of a line of time: its rate behind the instant at which it is 0, and the opposite before.
static TapeValue switch_sign_of_time(SwitchBuild *build, const SwitchLine *line)
{
    const TapeValue rest = switch_or_zero(build, line->rest), never = tape_number(build->tape, 1e300);
    const TapeValue at = switch_two(build, PROGRAM_DIVIDE, switch_negated(build, rest), line->rate);
    const TapeValue row = switch_row(build, (SystemSwitch){.at = switch_if(build, line->rate, at, never),
                                                           .period = TAPE_NONE,
                                                           .rate = TAPE_NONE,
                                                           .rest = TAPE_NONE});
    return switch_if(build, line->rate, switch_two(build, PROGRAM_MULTIPLY, row, line->rate), rest);
}

// The same of a line of z = mod(x, period): z >= b where floor((x - b)/period) >= floor(x/period).
static TapeValue switch_sign_of_remainder(SwitchBuild *build, const SwitchLine *line, TapeValue difference)
{
    const TapeNode mod = build->tape->nodes[line->base];
    int visits = SWITCH_VISITS;
    const SwitchLine x = switch_line(build, mod.a, &visits);
    const TapeValue rest = switch_or_zero(build, line->rest), one = tape_number(build->tape, 1.0);
    if (!x.is) return TAPE_NONE;
    SwitchLine shifted = x; // x - b, where b = -rest / rate
    shifted.rest = switch_sum(build, x.rest, switch_two(build, PROGRAM_DIVIDE, rest, line->rate));
    const TapeValue behind =
        switch_two(build, PROGRAM_GREATER_EQUAL, switch_floor(build, &shifted, mod.b), switch_floor(build, &x, mod.b));
    const TapeValue side = switch_if(build, behind, one, switch_negated(build, one));
    const TapeValue sign = switch_if(build, line->rate, switch_two(build, PROGRAM_MULTIPLY, side, line->rate), rest);
    return switch_if(build, switch_counts(build, &x, mod.b), sign, difference);
}

// A number with the sign of a - b (b TAPE_NONE: of a), by switches. TAPE_NONE: that is no line, or it is fixed.
static TapeValue switch_sign(SwitchBuild *build, TapeValue a, TapeValue b)
{
    int visits = SWITCH_VISITS;
    SwitchLine line = switch_line(build, a, &visits);
    if (b != TAPE_NONE) line = switch_line_sum(build, line, switch_line(build, b, &visits), true);
    if (!line.is || line.base == TAPE_NONE || line.rate == TAPE_NONE) return TAPE_NONE;
    if (build->tape->nodes[line.base].operation == TAPE_INPUT) return switch_sign_of_time(build, &line);
    return switch_sign_of_remainder(build, &line, b != TAPE_NONE ? switch_two(build, PROGRAM_SUBTRACT, a, b) : a);
}

// ---- what jumps or bends --------------------------------------------------------------------------------------------

static TapeValue switch_positive(SwitchBuild *build, TapeValue sign)
{
    return switch_two(build, PROGRAM_GREATER, sign, tape_number(build->tape, 0.0));
}

// Where the lower limit is the greater one, clip takes the upper.
static TapeValue switch_clip(SwitchBuild *build, const TapeNode *node)
{
    const TapeValue low = switch_sign(build, node->a, node->b), high = switch_sign(build, node->a, node->c);
    if (low == TAPE_NONE || high == TAPE_NONE) return TAPE_NONE;
    const TapeValue above = switch_if(build, switch_positive(build, low), node->a, node->b);
    const TapeValue inside = switch_if(build, switch_positive(build, high), node->c, above);
    return switch_if(build, switch_two(build, PROGRAM_LESS_EQUAL, node->b, node->c), inside, node->c);
}

// floor, ceil (above: 1) and mod, which jump each period.
static TapeValue switch_steps(SwitchBuild *build, TapeValue value, const TapeNode *node)
{
    Tape *tape = build->tape;
    const bool is_mod = node->operation == PROGRAM_MOD;
    const TapeValue period = is_mod ? node->b : tape_number(tape, 1.0);
    int visits = SWITCH_VISITS;
    const SwitchLine line = switch_line(build, node->a, &visits);
    if (!line.is || line.base == TAPE_NONE || line.rate == TAPE_NONE || !switch_is_fixed(build, period) ||
        tape->nodes[line.base].operation != TAPE_INPUT)
        return TAPE_NONE;
    const TapeValue row = switch_floor(build, &line, period);
    TapeValue by = row;
    if (is_mod) by = switch_two(build, PROGRAM_SUBTRACT, node->a, switch_two(build, PROGRAM_MULTIPLY, period, row));
    if (node->operation == PROGRAM_CEIL) by = switch_two(build, PROGRAM_ADD, row, tape_number(tape, 1.0));
    return switch_if(build, switch_counts(build, &line, period), by, value);
}

// What a value is by switches; TAPE_NONE: it has none.
static TapeValue switch_value(SwitchBuild *build, TapeValue value)
{
    const TapeNode node = build->tape->nodes[value]; // the tape grows
    TapeValue sign;
    switch (node.operation) {
    case PROGRAM_LESS:
    case PROGRAM_LESS_EQUAL:
    case PROGRAM_GREATER:
    case PROGRAM_GREATER_EQUAL:
        sign = switch_sign(build, node.a, node.b);
        return sign == TAPE_NONE ? sign : switch_two(build, node.operation, sign, tape_number(build->tape, 0.0));
    case PROGRAM_STEP:
    case PROGRAM_SIGN:
        sign = switch_sign(build, node.a, TAPE_NONE);
        return sign == TAPE_NONE ? sign : tape_operation(build->tape, node.operation, sign, TAPE_NONE, TAPE_NONE);
    case PROGRAM_ABS:
        sign = switch_sign(build, node.a, TAPE_NONE);
        return sign == TAPE_NONE
                   ? sign
                   : switch_if(build, switch_positive(build, sign), node.a, switch_negated(build, node.a));
    case PROGRAM_MIN:
    case PROGRAM_MAX:
        sign = switch_sign(build, node.a, node.b);
        if (sign == TAPE_NONE) return sign;
        return switch_if(build, switch_positive(build, sign), node.operation == PROGRAM_MAX ? node.a : node.b,
                         node.operation == PROGRAM_MAX ? node.b : node.a);
    case PROGRAM_CLIP: return switch_clip(build, &node);
    case PROGRAM_FLOOR:
    case PROGRAM_CEIL:
    case PROGRAM_MOD: return switch_steps(build, value, &node);
    default: return TAPE_NONE;
    }
}

// ---- a system -------------------------------------------------------------------------------------------------------

// Copies of values of a system that may read switches: those that a step computes, then those at events.
typedef struct SwitchValues {
    TapeValue **of; // [count]
    int64_t count, room;
    Arena *arena;
} SwitchValues;

static void switch_add(SwitchValues *values, TapeValue *value)
{
    if (values->count == values->room) {
        values->room = 2 * values->room + 256;
        TapeValue **of = ARENA_NEW(values->arena, TapeValue *, values->room);
        for (int64_t i = 0; i < values->count; i++) of[i] = values->of[i];
        values->of = of;
    }
    values->of[values->count++] = value;
}

static TapeValue *switch_copy(SwitchValues *values, const TapeValue *list, int count)
{
    TapeValue *copy = ARENA_NEW(values->arena, TapeValue, count);
    for (int i = 0; i < count; i++) copy[i] = list[i];
    return copy;
}

static TapeValue *switch_add_list(SwitchValues *values, const TapeValue *list, int count)
{
    TapeValue *copy = switch_copy(values, list, count);
    for (int i = 0; i < count; i++) switch_add(values, &copy[i]);
    return copy;
}

static bool switch_is_extremum(Reduction reduction) { return reduction == REDUCTION_MIN || reduction == REDUCTION_MAX; }

// What a step computes in a mode.
static void switch_add_step(SwitchValues *values, const System *system, SystemMode *mode, TapeValue *watched)
{
    mode->rates = switch_add_list(values, mode->rates, system->n_states + system->n_integrals);
    if (system->n_sources > 0) mode->noise = switch_add_list(values, mode->noise, system->n_states);
    mode->guards = switch_add_list(values, mode->guards, system->n_guards);
    mode->conditions = switch_add_list(values, mode->conditions, system->n_conditions);
    for (int k = 0; k < system->n_metrics; k++)
        if (switch_is_extremum(system->metrics[k].reduction)) switch_add(values, &watched[k]);
}

// What is computed at events of a mode. `final` is not: switches do not turn at the end.
static void switch_add_events(SwitchValues *values, const System *system, SystemMode *mode, TapeValue *watched)
{
    SystemAction *actions = ARENA_NEW(values->arena, SystemAction, mode->n_actions);
    for (int a = 0; a < mode->n_actions; a++) {
        actions[a] = mode->actions[a];
        if (actions[a].set != NULL)
            actions[a].set = switch_add_list(values, actions[a].set, system->n_states + system->n_held);
    }
    mode->actions = actions;
    for (int k = 0; k < system->n_metrics; k++) {
        const Reduction reduction = system->metrics[k].reduction;
        if (reduction == REDUCTION_BEFORE || reduction == REDUCTION_AFTER) switch_add(values, &watched[k]);
    }
}

// Finds what wanted[count] are made of that switches replace.
static void switch_find(SwitchBuild *build, const TapeValue *wanted, int count)
{
    const bool *needed = tape_needs(build->tape, wanted, count);
    const int values = build->tape->count;
    int32_t *list = ARENA_NEW(build->arena, int32_t, values + 1);
    int n = 0;
    for (TapeValue i = 0; i < values && needed != NULL; i++)
        if (needed[i] && !switch_is_fixed(build, i)) list[n++] = i; // the marks are lost where the tape grows
    build->from = ARENA_NEW(build->arena, TapeValue, n);
    build->to = ARENA_NEW(build->arena, TapeValue, n);
    for (int i = 0; i < n && build->count <= SYSTEM_SWITCHES_MAX; i++) {
        const TapeValue by = switch_value(build, list[i]);
        if (by == TAPE_NONE) continue;
        build->to[build->n_replaced] = by;
        build->from[build->n_replaced++] = list[i];
    }
    TapeValue *to = ARENA_NEW(build->arena, TapeValue, n); // what bends at a remainder has it
    for (int i = 0; i < build->n_replaced; i++) to[i] = build->to[i];
    tape_replace(build->tape, to, build->n_replaced, build->from, build->to, build->n_replaced);
    build->to = to;
}

Error system_switches(const System *system, Arena *arena, System *out, SystemSwitch *switches, int *count)
{
    SwitchBuild build = {.system = system, .tape = system->tape, .switches = switches, .arena = arena};
    SwitchValues values = {.arena = arena};
    SystemMode *modes = ARENA_NEW(arena, SystemMode, system->n_modes);
    TapeValue **watched = ARENA_NEW(arena, TapeValue *, system->n_modes);
    *out = *system;
    *count = 0;
    if (system->is_map) return error_none();
    for (int m = 0; m < system->n_modes; m++) {
        modes[m] = system->modes[m];
        watched[m] = switch_copy(&values, modes[m].watched, system->n_metrics);
        switch_add_step(&values, system, &modes[m], watched[m]);
    }
    const int of_step = (int)values.count;
    for (int m = 0; m < system->n_modes; m++) {
        switch_add_events(&values, system, &modes[m], watched[m]);
        modes[m].watched = watched[m];
    }
    TapeValue *wanted = ARENA_NEW(arena, TapeValue, values.count);
    for (int64_t i = 0; i < values.count; i++) wanted[i] = *values.of[i];
    switch_find(&build, wanted, of_step);
    if (build.count > SYSTEM_SWITCHES_MAX)
        return error_make(ERROR_USER,
                          "the equations compare time with more than %d fixed values: give what changes then as an "
                          "input (inputs: {u: {file: u.csv, between: held}})",
                          SYSTEM_SWITCHES_MAX);
    if (build.n_replaced == 0) return error_none();
    tape_replace(build.tape, wanted, (int)values.count, build.from, build.to, build.n_replaced);
    for (int64_t i = 0; i < values.count; i++) *values.of[i] = wanted[i];
    out->modes = modes;
    *count = build.count;
    return error_none();
}
