// Comparisons of time with fixed values, in what a step computes. A step would not see a pulse such as
// if(time > a and time < b, 1, 0) between its stages, and has no order over a jump or a bend. So each such comparison
// becomes one of a switch, an input of the tape that changes at an instant known beforehand, at which steps end as they
// do at the rows of inputs. Found are functions that jump or bend where rate*time + rest = 0, with rate and rest of
// fixed inputs, and those of mod(rate*time + rest, period). What jumps or bends where a bend does, such as
// abs(time - a) < w, is first written as if(time - a > 0, time - a < w, a - time < w). At its instant a comparison is
// what it is as written, for what happens then; behind it, for the step that begins, > and >= are one.
#include "switches.h"

#include "../environment_view.h"

typedef struct SwitchBuild {
    const System *system;
    Tape *tape;
    SystemSwitch *switches; // [count]
    int count;
    bool at_instants;     // values are built for what happens at the instants of switches, else for what follows
    TapeValue *from, *to; // [n_replaced] values, and what they are by switches
    bool *split;          // [n_replaced] from[i] is in cases, which are found in their turn
    TapeValue *cases;     // [n_replaced] as `to`, before what it is made of is replaced
    int n_replaced, room;
    int n_split;
    Arena *arena;
} SwitchBuild;

// rate*base + rest, where base is time, or a remainder of it; base TAPE_NONE: a value of fixed inputs. A rate or a rest
// that is TAPE_NONE is 0.
typedef struct SwitchLine {
    bool is;
    TapeValue base, rate, rest;
} SwitchLine;

enum {
    SWITCH_VISITS = 256,     // operations of a line, those that it has twice counted twice
    SWITCH_ROUNDS = 12,      // bends in one another
    SWITCH_SPLITS_MAX = 1024 // values in cases
};

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
    while (k < build->count && k < SYSTEM_SWITCHES_MAX && !switch_same(&build->switches[k], &of)) k++;
    if (k < SYSTEM_SWITCHES_MAX) build->switches[k] = of;
    if (k >= build->count) build->count = k + 1; // more than there is room for: an error
    return tape_input(build->tape, SYSTEM_SIDE(s->n_states, s->n_held, s->n_parameters, s->n_guards + k), TAPE_MOVING);
}

// Whether a line moves and a period has a length.
static TapeValue switch_counts(SwitchBuild *build, const SwitchLine *line, TapeValue period)
{
    const TapeValue zero = tape_number(build->tape, 0.0);
    return switch_two(build, PROGRAM_AND, switch_two(build, PROGRAM_UNEQUAL, line->rate, zero),
                      switch_two(build, PROGRAM_UNEQUAL, period, zero));
}

static TapeValue switch_is_negative(SwitchBuild *build, TapeValue a)
{
    return switch_two(build, PROGRAM_LESS, a, tape_number(build->tape, 0.0));
}

// A line by a switch that counts, of its sizes: the row, and whether time is the instant at which it has begun, as
// lane.h computes that.
typedef struct SwitchCount {
    TapeValue row, now;
} SwitchCount;

static SwitchCount switch_count(SwitchBuild *build, const SwitchLine *line, TapeValue period)
{
    Tape *tape = build->tape;
    const TapeValue rest = switch_or_zero(build, line->rest);
    const SystemSwitch of = {
        .counts = true,
        .at = TAPE_NONE,
        .period = tape_operation(tape, PROGRAM_ABS, period, TAPE_NONE, TAPE_NONE),
        .rate = tape_operation(tape, PROGRAM_ABS, line->rate, TAPE_NONE, TAPE_NONE),
        .rest = switch_if(build, switch_is_negative(build, line->rate), switch_negated(build, rest), rest)};
    const TapeValue row = switch_row(build, of);
    const TapeValue begins = switch_two(build, PROGRAM_SUBTRACT, switch_two(build, PROGRAM_MULTIPLY, row, of.period),
                                        of.rest),
                    instant = switch_two(build, PROGRAM_DIVIDE, begins, of.rate);
    const TapeValue time = tape_input(tape, SYSTEM_TIME, TAPE_MOVING);
    return (SwitchCount){.row = row, .now = switch_two(build, PROGRAM_EQUAL, time, instant)};
}

// floor(line / period), where that moves. One that falls is whole at the instant, and one less behind it.
static TapeValue switch_floor(SwitchBuild *build, const SwitchLine *line, TapeValue period)
{
    const SwitchCount count = switch_count(build, line, period);
    const TapeValue behind = switch_two(build, PROGRAM_ADD, count.row, tape_number(build->tape, 1.0));
    const TapeValue whole = build->at_instants ? switch_if(build, count.now, count.row, behind) : behind;
    const TapeValue falls =
        switch_two(build, PROGRAM_UNEQUAL, switch_is_negative(build, line->rate), switch_is_negative(build, period));
    return switch_if(build, falls, switch_negated(build, whole), count.row);
}

// What a value is where the rate of its time is 0.
static TapeValue switch_at_rest(SwitchBuild *build, TapeValue value)
{
    const TapeValue time = tape_input(build->tape, SYSTEM_TIME, TAPE_MOVING), zero = tape_number(build->tape, 0.0);
    tape_replace(build->tape, &value, 1, &time, &zero, 1);
    return value;
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

// A line that is `less` lower.
static SwitchLine switch_lowered(SwitchBuild *build, SwitchLine line, TapeValue less)
{
    line.rest = switch_sum(build, line.rest, switch_negated(build, less));
    return line;
}

// A truth as 1 and -1.
static TapeValue switch_side(SwitchBuild *build, TapeValue truth)
{
    const TapeValue one = tape_number(build->tape, 1.0);
    return switch_if(build, truth, one, switch_negated(build, one));
}

// The same of a line of z = mod(x, period), which is 0 at z = b: z >= b where floor((x - b)/period) >= floor(x/period),
// and z <= b where the period is negative.
static TapeValue switch_sign_of_remainder(SwitchBuild *build, const SwitchLine *line, TapeValue difference)
{
    Tape *tape = build->tape;
    const TapeNode mod = tape->nodes[line->base];
    int visits = SWITCH_VISITS;
    const SwitchLine x = switch_line(build, mod.a, &visits);
    const TapeValue rest = switch_or_zero(build, line->rest), zero = tape_number(tape, 0.0);
    if (!x.is) return TAPE_NONE;
    const TapeValue b = switch_two(build, PROGRAM_DIVIDE, switch_negated(build, rest), line->rate);
    const SwitchLine lower = switch_lowered(build, x, b);
    const TapeValue behind =
        switch_two(build, PROGRAM_GREATER_EQUAL, switch_floor(build, &lower, mod.b), switch_floor(build, &x, mod.b));
    TapeValue side = switch_side(build, behind);
    side = switch_if(build, switch_is_negative(build, mod.b), switch_negated(build, side), side);
    if (build->at_instants) {
        const TapeValue part = switch_two(build, PROGRAM_DIVIDE, b, mod.b);
        const TapeValue has = switch_two(build, PROGRAM_AND, switch_two(build, PROGRAM_GREATER_EQUAL, part, zero),
                                         switch_two(build, PROGRAM_LESS, part, tape_number(tape, 1.0)));
        const TapeValue now = switch_count(build, &lower, mod.b).now;
        side = switch_if(build, switch_two(build, PROGRAM_AND, has, now), zero, side);
    }
    const TapeValue sign = switch_if(build, line->rate, switch_two(build, PROGRAM_MULTIPLY, side, line->rate), rest);
    return switch_if(build, switch_counts(build, &x, mod.b), sign, switch_at_rest(build, difference));
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

// floor, ceil and mod, which jump each period. ceil(x) = -floor(-x)
static TapeValue switch_steps(SwitchBuild *build, TapeValue value, const TapeNode *node)
{
    Tape *tape = build->tape;
    const bool is_mod = node->operation == PROGRAM_MOD, is_ceil = node->operation == PROGRAM_CEIL;
    const TapeValue period = is_mod ? node->b : tape_number(tape, 1.0);
    int visits = SWITCH_VISITS;
    SwitchLine line = switch_line(build, node->a, &visits);
    if (!line.is || line.base == TAPE_NONE || line.rate == TAPE_NONE || !switch_is_fixed(build, period) ||
        tape->nodes[line.base].operation != TAPE_INPUT)
        return TAPE_NONE;
    if (is_ceil) line.rate = switch_negated(build, line.rate), line.rest = switch_negated(build, line.rest);
    TapeValue by = switch_floor(build, &line, period);
    if (is_ceil) by = switch_negated(build, by);
    if (is_mod) by = switch_two(build, PROGRAM_SUBTRACT, node->a, switch_two(build, PROGRAM_MULTIPLY, period, by));
    return switch_if(build, switch_counts(build, &line, period), by, switch_at_rest(build, value));
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

// ---- what jumps or bends where a bend does --------------------------------------------------------------------------

static bool switch_is_truth(int operation) { return operation >= PROGRAM_OR && operation <= PROGRAM_EQUAL; }

// Where an operand passes some value, the operation has two cases.
static bool switch_has_cases(int operation)
{
    return switch_is_truth(operation) || operation == PROGRAM_ABS || operation == PROGRAM_MIN ||
           operation == PROGRAM_MAX || operation == PROGRAM_CLIP || operation == PROGRAM_IF ||
           operation == PROGRAM_SIGN || operation == PROGRAM_STEP;
}

// The first of the values that an operand is made of which has cases; TAPE_NONE: none.
static TapeValue switch_inner(const SwitchBuild *build, TapeValue value, int *visits)
{
    if (value == TAPE_NONE || switch_is_fixed(build, value) || --*visits < 0) return TAPE_NONE;
    const TapeNode *node = &build->tape->nodes[value];
    if (node->operation == TAPE_INPUT || tape_looks_up(node)) return TAPE_NONE;
    if (switch_is_truth(node->operation)) return value;
    const TapeValue of[] = {node->operation == PROGRAM_IF ? TAPE_NONE : node->a, node->b, node->c};
    TapeValue first = switch_has_cases(node->operation) ? value : TAPE_NONE;
    for (int i = 0; i < 3; i++) {
        const TapeValue inner = switch_inner(build, of[i], visits);
        if (inner != TAPE_NONE && (first == TAPE_NONE || inner < first)) first = inner;
    }
    return first;
}

// value, with `case_of` in place of what it has cases in.
static TapeValue switch_case(SwitchBuild *build, TapeValue value, TapeValue cases, TapeValue case_of)
{
    tape_replace(build->tape, &value, 1, &cases, &case_of, 1);
    return value;
}

// A value that jumps or bends, as those of the first value with cases that it is made of: if(condition, one, other).
// TAPE_NONE: there is none.
static TapeValue switch_in_cases(SwitchBuild *build, TapeValue value)
{
    Tape *tape = build->tape;
    const TapeNode of = tape->nodes[value];
    const TapeValue operands[] = {of.a, of.b, of.c}, zero = tape_number(tape, 0.0), one = tape_number(tape, 1.0);
    TapeValue inner = TAPE_NONE;
    int visits = SWITCH_VISITS;
    for (int i = 0; i < 3 && inner == TAPE_NONE; i++) inner = switch_inner(build, operands[i], &visits);
    if (inner == TAPE_NONE || visits < 0 || build->n_split >= SWITCH_SPLITS_MAX) return TAPE_NONE;
    const TapeNode node = tape->nodes[inner];
    TapeValue condition = inner, yes = one, no = zero; // of a truth
    build->n_split++;
    switch (node.operation) {
    case PROGRAM_IF: condition = node.a, yes = node.b, no = node.c; break;
    case PROGRAM_ABS: yes = node.a, no = switch_negated(build, node.a); break;
    case PROGRAM_MIN: yes = node.b, no = node.a; break;
    case PROGRAM_MAX: yes = node.a, no = node.b; break;
    case PROGRAM_CLIP: // where the lower limit is the greater one, the upper is taken
        yes = switch_two(build, PROGRAM_MAX, node.a, node.b);
        return switch_case(build, value, inner, switch_two(build, PROGRAM_MIN, yes, node.c));
    case PROGRAM_SIGN:
        no = switch_if(build, switch_is_negative(build, node.a), switch_negated(build, one), zero);
        break;
    case PROGRAM_STEP: condition = switch_two(build, PROGRAM_GREATER_EQUAL, node.a, zero); break;
    default: break;
    }
    if (node.operation == PROGRAM_ABS || node.operation == PROGRAM_SIGN) condition = switch_positive(build, node.a);
    if (node.operation == PROGRAM_MIN || node.operation == PROGRAM_MAX)
        condition = switch_two(build, PROGRAM_GREATER, node.a, node.b);
    yes = switch_case(build, value, inner, yes);
    return switch_if(build, condition, yes, switch_case(build, value, inner, no));
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

// Whether all events of a name in a mode are instants.
static bool switch_is_instant(const SystemMode *mode, int event)
{
    bool is = true;
    for (int a = 0; a < mode->n_actions; a++)
        if (mode->actions[a].event == event) is &= mode->actions[a].instant >= 0;
    return is;
}

// What is computed at events of a mode: of guards, then of instants. `final` is not: switches do not turn at the end.
static void switch_add_events(SwitchValues *values, const System *system, SystemMode *mode, TapeValue *watched,
                              bool instants)
{
    SystemAction *actions = ARENA_NEW(values->arena, SystemAction, mode->n_actions);
    for (int a = 0; a < mode->n_actions; a++) {
        actions[a] = mode->actions[a];
        if (actions[a].set != NULL && (actions[a].instant >= 0) == instants)
            actions[a].set = switch_add_list(values, actions[a].set, system->n_states + system->n_held);
    }
    mode->actions = actions;
    for (int k = 0; k < system->n_metrics; k++) {
        const Reduction reduction = system->metrics[k].reduction;
        if (reduction != REDUCTION_BEFORE && reduction != REDUCTION_AFTER) continue;
        if (switch_is_instant(mode, system->metrics[k].event) == instants) switch_add(values, &watched[k]);
    }
}

// values[count] of the tape, as they stand.
static TapeValue *switch_wanted(const SwitchValues *values)
{
    TapeValue *wanted = ARENA_NEW(values->arena, TapeValue, values->count);
    for (int64_t i = 0; i < values->count; i++) wanted[i] = *values->of[i];
    return wanted;
}

static void switch_replace(SwitchBuild *build, const SwitchValues *values)
{
    TapeValue *wanted = switch_wanted(values);
    tape_replace(build->tape, wanted, (int)values->count, build->from, build->to, build->n_replaced);
    for (int64_t i = 0; i < values->count; i++) *values->of[i] = wanted[i];
}

// Which values of the tape are made of time and fixed inputs alone, [tape->count].
static bool *switch_timely(const SwitchBuild *build)
{
    const Tape *tape = build->tape;
    bool *timely = ARENA_NEW(build->arena, bool, tape->count + 1);
    for (TapeValue i = 0; i < tape->count; i++) {
        const TapeNode *node = &tape->nodes[i];
        const bool leaf = node->operation == TAPE_INPUT || node->operation == PROGRAM_NUMBER;
        timely[i] = leaf ? switch_is_fixed(build, i) || node->a == SYSTEM_TIME
                         : !tape_looks_up(node) && (node->a == TAPE_NONE || timely[node->a]) &&
                               (node->b == TAPE_NONE || timely[node->b]) && (node->c == TAPE_NONE || timely[node->c]);
    }
    return timely;
}

static void switch_put(SwitchBuild *build, TapeValue from, TapeValue to, bool split)
{
    if (build->n_replaced == build->room) {
        const SwitchBuild old = *build;
        build->room = 2 * build->room + 256;
        build->from = ARENA_NEW(build->arena, TapeValue, build->room);
        build->to = ARENA_NEW(build->arena, TapeValue, build->room);
        build->split = ARENA_NEW(build->arena, bool, build->room);
        for (int i = 0; i < old.n_replaced; i++)
            build->from[i] = old.from[i], build->to[i] = old.to[i], build->split[i] = old.split[i];
    }
    build->from[build->n_replaced] = from;
    build->to[build->n_replaced] = to;
    build->split[build->n_replaced++] = split;
}

bool system_jumps(int operation)
{
    return (operation >= PROGRAM_LESS_EQUAL && operation <= PROGRAM_GREATER) ||
           (operation >= PROGRAM_FLOOR && operation <= PROGRAM_STEP) || operation == PROGRAM_MOD;
}
static bool switch_bends(int operation)
{
    return operation == PROGRAM_ABS || operation == PROGRAM_MIN || operation == PROGRAM_MAX ||
           operation == PROGRAM_CLIP;
}

// Finds what wanted[count] are made of that switches replace, but for what is found already. Returns how much that is.
static int switch_find_round(SwitchBuild *build, const TapeValue *wanted, int count)
{
    const bool *timely = switch_timely(build);
    const int values = build->tape->count, before = build->n_replaced;
    bool *known = ARENA_NEW(build->arena, bool, values + 1);
    int32_t *list = ARENA_NEW(build->arena, int32_t, values + 1);
    int n = 0;
    for (int i = 0; i < before; i++) known[build->from[i]] = true;
    const bool *needed = tape_needs(build->tape, wanted, count);
    for (TapeValue i = 0; i < values && needed != NULL; i++) // the marks are lost where the tape grows
        if (needed[i] && timely[i] && !known[i] && !switch_is_fixed(build, i)) list[n++] = i;
    for (int i = 0; i < n && build->count <= SYSTEM_SWITCHES_MAX; i++) {
        const int operation = build->tape->nodes[list[i]].operation;
        if (!system_jumps(operation) && !switch_bends(operation)) continue;
        const TapeValue by = switch_value(build, list[i]);
        const TapeValue cases = by == TAPE_NONE ? switch_in_cases(build, list[i]) : TAPE_NONE;
        if (by != TAPE_NONE || cases != TAPE_NONE)
            switch_put(build, list[i], by != TAPE_NONE ? by : cases, by == TAPE_NONE);
    }
    return build->n_replaced - before;
}

// Finds what wanted[count] are made of that switches replace, and then what that is made of.
static void switch_find(SwitchBuild *build, const TapeValue *wanted, int count)
{
    int found = switch_find_round(build, wanted, count), rounds = 1;
    while (found > 0 && rounds < SWITCH_ROUNDS && build->count <= SYSTEM_SWITCHES_MAX) {
        found = switch_find_round(build, build->to + build->n_replaced - found, found);
        rounds++;
    }
    build->cases = build->to;
    for (bool changed = true; changed && rounds >= 0; rounds--) { // what bends at a remainder has it
        TapeValue *to = ARENA_NEW(build->arena, TapeValue, build->n_replaced);
        for (int i = 0; i < build->n_replaced; i++) to[i] = build->cases[i];
        tape_replace(build->tape, to, build->n_replaced, build->from, build->to, build->n_replaced);
        changed = false;
        for (int i = 0; i < build->n_replaced; i++) changed |= to[i] != build->to[i];
        build->to = to;
        build->room = build->n_replaced;
    }
}

// Replaces in `values`, as they are at instants or behind them, what wanted[count] are made of.
static void switch_build(SwitchBuild *build, bool at_instants, const SwitchValues *values, const TapeValue *wanted,
                         int count)
{
    build->at_instants = at_instants;
    build->from = build->to = build->cases = NULL;
    build->split = NULL;
    build->n_replaced = build->room = build->n_split = 0;
    if (values->count == 0) return;
    switch_find(build, wanted, count);
    if (build->count <= SYSTEM_SWITCHES_MAX) switch_replace(build, values);
}

// What is in a system that switches may replace.
typedef struct SwitchSystem {
    SystemMode *modes;
    SwitchValues behind, then; // values at instants, and others: those of a step first
    const TapeValue *wanted;   // [of_step]
    int of_step;
} SwitchSystem;

static SwitchSystem switch_system(const System *system, Arena *arena)
{
    SwitchSystem of = {.behind = {.arena = arena}, .then = {.arena = arena}};
    TapeValue **watched = ARENA_NEW(arena, TapeValue *, system->n_modes);
    of.modes = ARENA_NEW(arena, SystemMode, system->n_modes);
    for (int m = 0; m < system->n_modes; m++) {
        of.modes[m] = system->modes[m];
        watched[m] = switch_copy(&of.behind, of.modes[m].watched, system->n_metrics);
        switch_add_step(&of.behind, system, &of.modes[m], watched[m]);
    }
    of.of_step = (int)of.behind.count;
    for (int m = 0; m < system->n_modes; m++) {
        switch_add_events(&of.behind, system, &of.modes[m], watched[m], false);
        switch_add_events(&of.then, system, &of.modes[m], watched[m], true);
        of.modes[m].watched = watched[m];
    }
    of.wanted = switch_wanted(&of.behind);
    return of;
}

Error system_switches(const System *system, Arena *arena, System *out, SystemSwitch *switches, int *count)
{
    SwitchBuild build = {.system = system, .tape = system->tape, .switches = switches, .arena = arena};
    *out = *system;
    *count = 0;
    if (system->is_map) return error_none();
    SwitchSystem of = switch_system(system, arena);
    switch_build(&build, false, &of.behind, of.wanted, of.of_step);
    const bool replaced = build.n_replaced > 0;
    if (replaced) switch_build(&build, true, &of.then, of.wanted, of.of_step);
    if (build.count > SYSTEM_SWITCHES_MAX)
        return error_make(ERROR_USER,
                          "the equations compare time with more than %d fixed values: give what changes then as an "
                          "input (inputs: {u: {file: u.csv, between: held}})",
                          SYSTEM_SWITCHES_MAX);
    if (replaced) out->modes = of.modes;
    *count = build.count;
    return error_none();
}

// ---- what is not found ----------------------------------------------------------------------------------------------

// Whether values of the tape still read time with switches in place of what they replace, [count]; of those that are
// wanted.
static const bool *switch_read_time(SwitchBuild *build, const bool *wanted, int count)
{
    Tape *tape = build->tape;
    TapeValue *list = ARENA_NEW(build->arena, TapeValue, count), *now = ARENA_NEW(build->arena, TapeValue, count);
    bool *reads = ARENA_NEW(build->arena, bool, count + 1);
    int n = 0;
    for (TapeValue i = 0; i < count; i++)
        if (wanted[i]) now[n] = i, list[n++] = i;
    tape_replace(tape, now, n, build->from, build->to, build->n_replaced);
    bool *all = ARENA_NEW(build->arena, bool, tape->count + 1);
    for (TapeValue i = 0; i < tape->count; i++) { // operands come before their results
        const TapeNode *node = &tape->nodes[i];
        const bool input = node->operation == TAPE_INPUT;
        all[i] = input ? node->a == SYSTEM_TIME
                       : (node->a != TAPE_NONE && all[node->a]) || (node->b != TAPE_NONE && all[node->b]) ||
                             (node->c != TAPE_NONE && all[node->c]);
    }
    for (int i = 0; i < n; i++) reads[list[i]] = all[now[i]];
    return reads;
}

// What is in cases is missed where one of them, or their condition, is. Returns whether there was one more.
static bool switch_spread(const SwitchBuild *build, const bool *reads, bool *missed)
{
    bool more = false;
    for (int i = build->n_replaced; i-- > 0;) { // most cases stand behind what is in them
        const TapeNode *cases = &build->tape->nodes[build->cases[i]];
        const TapeValue parts[] = {build->cases[i], cases->a, cases->b, cases->c};
        if (!build->split[i] || missed[build->from[i]]) continue;
        for (int k = 0; k < 4; k++) {
            const bool part = parts[k] != TAPE_NONE && (k == 0 || cases->operation == PROGRAM_IF);
            missed[build->from[i]] |= part && (reads[parts[k]] || missed[parts[k]]);
        }
        more |= missed[build->from[i]];
    }
    return more;
}

const bool *system_missed(const System *system, Arena *arena, int *count)
{
    SystemSwitch *switches = ARENA_NEW(arena, SystemSwitch, SYSTEM_SWITCHES_MAX);
    SwitchBuild build = {.system = system, .tape = system->tape, .switches = switches, .arena = arena};
    const bool full = system->tape->full; // what is added here may fill it
    *count = 0;
    if (system->is_map || full) return NULL;
    SwitchSystem of = switch_system(system, arena);
    switch_build(&build, false, &of.behind, of.wanted, of.of_step);
    const bool *timely = switch_timely(&build);
    const int values = system->tape->count;
    bool *left = ARENA_NEW(arena, bool, values + 1), *missed = ARENA_NEW(arena, bool, values + 1);
    int *at = ARENA_NEW(arena, int, values + 1); // 1 + where it is among what is replaced
    for (int i = 0; i < build.n_replaced; i++) at[build.from[i]] = i + 1;
    for (TapeValue i = 0; i < values; i++)
        left[i] = timely[i] && at[i] == 0 && system_jumps(system->tape->nodes[i].operation);
    const bool *reads = switch_read_time(&build, left, values);
    while (switch_spread(&build, reads, missed)) continue;
    const bool *needed = tape_needs(system->tape, of.wanted, of.of_step);
    for (TapeValue i = 0; i < values && needed != NULL; i++) missed[i] = needed[i] && (missed[i] || reads[i]);
    *count = !system->tape->full && needed != NULL && build.count <= SYSTEM_SWITCHES_MAX ? values : 0;
    system->tape->full = full;
    return missed;
}
