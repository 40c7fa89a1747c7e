// A step of a method as values of the tape: the operations of steps.h, in their order.
#include "step_values.h"

#include "straight.h"

enum { STEP_VALUES_MAX = 4096 }; // of the rates

bool equations_is_straight(const System *system, EquationsMethod method)
{
    const bool extrema_or_conditions = system->n_conditions > 0 || system->n_failed > 0;
    const bool known =
        method == EQUATIONS_BY_rk4 || method == EQUATIONS_BY_semi_implicit_euler || method == EQUATIONS_BY_map;
    for (int i = 0; i < system->n_metrics; i++)
        if (system->metrics[i].reduction == REDUCTION_MIN || system->metrics[i].reduction == REDUCTION_MAX)
            return false;
    return known && system->n_modes == 1 && system->n_guards == 0 && system->n_instants == 0 && system->n_clocks == 0 &&
           system->n_actions == 0 && system->n_sources == 0 && !extrema_or_conditions;
}

typedef struct StepValues {
    const System *system;
    Tape *tape;
    int count;              // states and integrals
    TapeValue time, length; // inputs
    TapeValue *now;         // [count] inputs
    const TapeValue *rates; // [count] at `now`
    TapeValue *stage;       // [count] the argument of rates
} StepValues;

static TapeValue step_product(const StepValues *step, double factor, TapeValue of)
{
    return tape_operation(step->tape, PROGRAM_MULTIPLY, tape_number(step->tape, factor), of, TAPE_NONE);
}
static TapeValue step_sum(const StepValues *step, TapeValue a, TapeValue b)
{
    return tape_operation(step->tape, PROGRAM_ADD, a, b, TAPE_NONE);
}

// stage <- now + length rates
static void step_move(const StepValues *step, TapeValue length, const TapeValue *rates)
{
    for (int i = 0; i < step->count; i++) step->stage[i] = tape_fused(step->tape, length, rates[i], step->now[i]);
}

// The rates at `stage`, `later` after the step's begin; TAPE_NONE: at its begin.
static TapeValue *step_rates(const StepValues *step, TapeValue later, Arena *arena)
{
    const int n = step->system->n_states;
    TapeValue *from = ARENA_NEW(arena, TapeValue, n + 1), *to = ARENA_NEW(arena, TapeValue, n + 1),
              *rates = ARENA_NEW(arena, TapeValue, step->count);
    for (int i = 0; i < n; i++) {
        from[i] = step->now[i];
        to[i] = step->stage[i];
    }
    from[n] = step->time;
    to[n] = later != TAPE_NONE ? step_sum(step, step->time, later) : step->time;
    for (int i = 0; i < step->count; i++) rates[i] = step->rates[i];
    tape_replace(step->tape, rates, step->count, from, to, n + 1);
    return rates;
}

// As equations_rk4_step.
static void step_by_rk4(const StepValues *step, TapeValue *next, Arena *arena)
{
    Tape *tape = step->tape;
    const TapeValue half = step_product(step, 0.5, step->length),
                    sixth = step_product(step, 0.16666666666666666, step->length), two = tape_number(tape, 2.0);
    step_move(step, half, step->rates);
    const TapeValue *k2 = step_rates(step, half, arena);
    step_move(step, half, k2);
    const TapeValue *k3 = step_rates(step, half, arena);
    step_move(step, step->length, k3);
    const TapeValue *k4 = step_rates(step, step->length, arena);
    for (int i = 0; i < step->count; i++) {
        const TapeValue outer = step_sum(step, step->rates[i], k4[i]), inner = step_sum(step, k2[i], k3[i]);
        next[i] = tape_fused(tape, two, inner, outer);
    }
    for (int i = 0; i < step->count; i++) next[i] = tape_fused(tape, sixth, next[i], step->now[i]);
}

// As equations_semi_implicit_euler_step.
static void step_by_semi_implicit_euler(const StepValues *step, TapeValue *next, Arena *arena)
{
    const bool *is_position = step->system->is_position;
    step_move(step, step->length, step->rates);
    for (int i = 0; i < step->count; i++) next[i] = step->stage[i];
    for (int i = 0; i < step->system->n_states; i++)
        if (is_position[i]) step->stage[i] = step->now[i];
    const TapeValue *rates = step_rates(step, TAPE_NONE, arena);
    for (int i = 0; i < step->system->n_states; i++)
        if (is_position[i]) next[i] = tape_fused(step->tape, step->length, rates[i], step->now[i]);
}

// As equations_map_step. A number that is not finite may be gone after the next iteration: the watch, behind the
// others, is 0 until there was one, and NaN from then on.
static void step_of_map(const StepValues *step, TapeValue watch, TapeValue *next)
{
    const int n = step->system->n_states;
    for (int i = 0; i < step->count; i++)
        next[i] = i < n ? step->rates[i] : step_sum(step, step->now[i], step->rates[i]);
    next[step->count] = watch;
    for (int i = 0; i < n; i++)
        next[step->count] = tape_fused(step->tape, tape_number(step->tape, 0.0), next[i], next[step->count]);
}

// Or not of one mode alone.
static bool step_is_long(Tape *tape, const TapeValue *rates, int count)
{
    const bool *needed = tape_needs(tape, rates, count);
    int values = 0;
    for (int i = 0; i < count; i++)
        if (rates[i] == TAPE_NONE) return true;
    for (TapeValue v = 0; needed != NULL && v < tape->count; v++) values += needed[v];
    return needed == NULL || values > STEP_VALUES_MAX || values > (TAPE_VALUES_MAX - tape->count) / 8;
}

const TapeValue *equations_step_values(const System *system, EquationsMethod method, Arena *arena)
{
    Tape *tape = system->tape;
    const int count = system->n_states + system->n_integrals;
    const int first = SYSTEM_SIDE(system->n_states, system->n_held, system->n_parameters, system->n_guards);
    TapeValue *next = ARENA_NEW(arena, TapeValue, count + 1);
    StepValues step = {.system = system, .tape = tape, .count = count, .rates = system->modes[0].rates};
    if (step_is_long(tape, step.rates, count)) return NULL;
    step.time = tape_input(tape, SYSTEM_TIME, TAPE_MOVING);
    step.length = tape_input(tape, first + STRAIGHT_LENGTH, TAPE_MOVING);
    step.now = ARENA_NEW(arena, TapeValue, count);
    step.stage = ARENA_NEW(arena, TapeValue, count);
    for (int i = 0; i < count; i++) {
        const int at = i < system->n_states ? SYSTEM_STATE(i) : first + STRAIGHT_INTEGRALS + i - system->n_states;
        step.now[i] = tape_input(tape, at, TAPE_MOVING);
    }
    if (method == EQUATIONS_BY_rk4) step_by_rk4(&step, next, arena);
    if (method == EQUATIONS_BY_semi_implicit_euler) step_by_semi_implicit_euler(&step, next, arena);
    if (method == EQUATIONS_BY_map)
        step_of_map(&step, tape_input(tape, first + STRAIGHT_INTEGRALS + system->n_integrals, TAPE_MOVING), next);
    return next;
}
