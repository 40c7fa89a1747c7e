#include "straight_planner.h"

#include "straight.h"

#include <string.h>

// A value of the code: what a step computes, or what stands in a register before the first.
typedef struct PlanValue {
    int made;      // by this step, -1: before the first
    int input;     // register, of those; -1: it is a number
    double number; // that
    int last;      // the last step that reads it, -1: none
    int reads;     // steps that do
    int state;     // it ends as this one, -1: none
    bool common;   // all lanes have the same
    bool unplaced; // only the step behind reads it
    int place;     // -1: not yet
} PlanValue;

typedef struct PlanStep {
    int operation, table;    // the table's number
    int operands, of[3], to; // values
} PlanStep;

typedef struct Plan {
    const EquationsConstants *c;
    PlanStep *steps; // [count], [room]
    int count;
    PlanValue *values; // [n_values]
    int n_values;
    int n_states;                   // states, integrals and the watch: the first values
    int one, minus_one, minus_zero; // values
    int product;                    // where a product stands among the registers, before something is added to it
    int rows, commons;              // in use at most
    bool *taken, *shared;           // rows and numbers in common that are in use now
} Plan;

static int plan_state_of(const Plan *plan, int input)
{
    for (int i = 0; i < plan->n_states; i++)
        if (straight_number(plan->c, i) == input) return i;
    return -1;
}

static int plan_value(Plan *plan, int made, int input)
{
    const EquationsConstants *c = plan->c;
    PlanValue *value = &plan->values[plan->n_values];
    *value = (PlanValue){.made = made, .input = input, .last = -1, .state = -1, .place = -1};
    value->common = input == SYSTEM_TIME || input == straight_register(c, STRAIGHT_LENGTH);
    return plan->n_values++;
}
static int plan_number(Plan *plan, double number)
{
    const int value = plan_value(plan, -1, -1);
    plan->values[value].number = number;
    plan->values[value].common = true;
    return value;
}

static void plan_put(Plan *plan, PlanStep step, int *now, int to)
{
    step.to = plan_value(plan, plan->count, -1);
    now[to] = step.to;
    plan->steps[plan->count++] = step;
}

// a b + c
static PlanStep plan_step(int a, int b, int c)
{
    return (PlanStep){.operation = TAPE_FUSED, .operands = 3, .of = {a, b, c}};
}

// The last step for an operation, and those before it.
static PlanStep plan_steps_of(Plan *plan, int operation, const int *of, int *now)
{
    const int one = plan->one, minus_one = plan->minus_one, minus_zero = plan->minus_zero, product = plan->product;
    if (operation == TAPE_PRODUCT_PLUS || operation == TAPE_PRODUCT_LESS || operation == TAPE_LESS_PRODUCT)
        plan_put(plan, plan_step(of[0], of[1], minus_zero), now, product); // rounded
    switch (operation) {
    case PROGRAM_ADD: return plan_step(of[0], one, of[1]);
    case PROGRAM_SUBTRACT: return plan_step(of[1], minus_one, of[0]);
    case PROGRAM_MULTIPLY: return plan_step(of[0], of[1], minus_zero);
    case PROGRAM_NEGATE: return plan_step(of[0], minus_one, minus_zero);
    case TAPE_FUSED: return plan_step(of[0], of[1], of[2]);
    case TAPE_PRODUCT_PLUS: return plan_step(now[product], one, of[2]);
    case TAPE_PRODUCT_LESS: return plan_step(of[2], minus_one, now[product]);
    case TAPE_LESS_PRODUCT: return plan_step(now[product], minus_one, of[2]);
    default: {
        PlanStep step = plan_step(of[0], of[1], of[2]);
        step.operation = operation;
        step.operands = program_operands(operation);
        return step;
    }
    }
}

// The value that stands in a register.
static int plan_now(Plan *plan, const double *numbers, int *now, int at)
{
    const EquationsConstants *c = plan->c;
    const int number = at - c->first_number;
    if (now[at] < 0)
        now[at] = number >= 0 && number < c->n_numbers ? plan_number(plan, numbers[number]) : plan_value(plan, -1, at);
    return now[at];
}

// The steps as those of values; now[registers] <- the values that stand there at the end.
static void plan_read(Plan *plan, const TapeCode *code, const double *numbers, int *now)
{
    for (int k = 0; k < code->count; k++) {
        const int64_t step = code->steps[k];
        const int operation = tape_step_operation(step);
        const bool three = operation >= TAPE_FUSED && operation <= TAPE_LESS_PRODUCT;
        int of[3] = {0};
        for (int i = 0; i < (three ? 3 : program_operands(operation)); i++)
            of[i] = plan_now(plan, numbers, now, tape_step_register(step, 1 + i));
        PlanStep own = plan_steps_of(plan, operation, of, now);
        own.table = operation > TAPE_INPUT ? tape_step_register(step, 3) : 0;
        plan_put(plan, own, now, tape_step_register(step, 0));
    }
}

// Outputs that are not in their place go there: first all those that others may replace, then all.
static void plan_settle(Plan *plan, const TapeCode *code, const double *numbers, int registers, int *now)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < code->n_outputs; i++) {
            const int from = code->outputs[i], to = straight_number(plan->c, i);
            if (from == to) continue;
            const int of = pass == 0 ? plan_now(plan, numbers, now, from) : now[registers + i];
            plan_put(plan, plan_step(of, plan->one, plan->minus_zero), now, pass == 0 ? registers + i : to);
        }
}

// Who reads a value, and what is in common.
static void plan_look(Plan *plan)
{
    for (int v = 0; v < plan->n_values; v++) {
        plan->values[v].reads = 0;
        plan->values[v].last = -1;
    }
    for (int k = 0; k < plan->count; k++) {
        const PlanStep *step = &plan->steps[k];
        PlanValue *to = &plan->values[step->to];
        to->made = k;
        to->common = to->state < 0;
        for (int i = 0; i < step->operands; i++) {
            PlanValue *of = &plan->values[step->of[i]];
            of->reads += of->last != k;
            of->last = k;
            to->common &= of->common;
        }
    }
}

// Whether step k may go behind step `later`: none between writes a state that it reads, or reads or writes its own.
static bool plan_may_move(const Plan *plan, int k, int later)
{
    const PlanStep *step = &plan->steps[k];
    if (plan->values[step->to].state >= 0) return false;
    for (int j = k + 1; j <= later; j++) {
        const int state = plan->values[plan->steps[j].to].state;
        for (int i = 0; i < step->operands && state >= 0; i++)
            if (plan->values[step->of[i]].made < 0 && plan_state_of(plan, plan->values[step->of[i]].input) == state)
                return false;
    }
    return true;
}

// A value that one step reads is computed just before it, where the step before that is not such a one already.
static void plan_order(Plan *plan)
{
    for (int k = plan->count - 1; k > 0; k--) {
        const PlanStep *step = &plan->steps[k];
        int move = -1;
        for (int i = 0; i < step->operands; i++) {
            const PlanValue *of = &plan->values[step->of[i]];
            if (of->made < 0 || of->reads != 1 || of->common || of->state >= 0) continue;
            if (of->made == k - 1) move = -2;
            if (move == -1 && plan_may_move(plan, of->made, k - 1)) move = of->made;
        }
        if (move < 0) continue;
        const PlanStep moved = plan->steps[move];
        memmove(plan->steps + move, plan->steps + move + 1, sizeof moved * (size_t)(k - 1 - move));
        plan->steps[k - 1] = moved;
        plan_look(plan);
    }
}

static int plan_free_place(bool *taken, int most, int *used)
{
    for (int i = 0; i < most; i++) {
        if (taken[i]) continue;
        taken[i] = true;
        if (*used < i + 1) *used = i + 1;
        return i;
    }
    return -1;
}

static bool plan_place(Plan *plan, PlanValue *value)
{
    const int at = value->common ? plan_free_place(plan->shared, PLAN_COMMONS_MAX, &plan->commons)
                                 : plan_free_place(plan->taken, PLAN_ROWS_MAX, &plan->rows);
    value->place = value->common ? at | PLAN_COMMON : at;
    return at >= 0;
}

// Of a product the second operand must have a place: the first one is the result of the step before, if one is.
static void plan_turn(const Plan *plan, int k)
{
    PlanStep *step = &plan->steps[k];
    const int a = step->of[0];
    if (k == 0 || step->operation != TAPE_FUSED || plan->values[step->of[1]].made != k - 1) return;
    step->of[0] = step->of[1];
    step->of[1] = a;
}

static bool plan_is_last(const Plan *plan, int k, int operand)
{
    const PlanStep *step = &plan->steps[k];
    return operand != 1 && operand < step->operands && k > 0 && plan->values[step->of[operand]].made == k - 1;
}

// Whether step k reads the result of the step before by no operand but those that may be it.
static bool plan_takes_last(const Plan *plan, int k)
{
    const PlanStep *step = &plan->steps[k];
    for (int i = 0; i < step->operands; i++)
        if (plan->values[step->of[i]].made == k - 1 && !plan_is_last(plan, k, i)) return false;
    return true;
}

// Inputs keep their places, since the next step reads them again; states are the first rows.
static bool plan_places(Plan *plan)
{
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].made < 0 && plan->values[v].place < 0 && !plan_place(plan, &plan->values[v])) return false;
    for (int k = 0; k < plan->count; k++) {
        const PlanStep *step = &plan->steps[k];
        PlanValue *to = &plan->values[step->to];
        to->unplaced = to->state < 0 && (to->last < 0 || (to->last == k + 1 && plan_takes_last(plan, k + 1)));
        for (int i = 0; i < step->operands; i++) {
            const PlanValue *of = &plan->values[step->of[i]];
            if (of->made >= 0 && of->last == k && of->place >= 0 && of->state < 0 && !of->common)
                plan->taken[of->place] = false; // a thread reads its rows before it writes one
        }
        if (to->state >= 0)
            to->place = to->state;
        else if (!to->unplaced && !plan_place(plan, to))
            return false;
    }
    return true;
}

static void plan_integer(TapeAssets *assets, int64_t value) { tape_assets_put(assets, &value, 1); }

static void plan_put_steps(const Plan *plan, TapeAssets *assets)
{
    for (int k = 0; k < plan->count; k++) {
        const PlanStep *step = &plan->steps[k];
        const PlanValue *result = &plan->values[step->to];
        int at[3] = {PLAN_COMMON, PLAN_COMMON, PLAN_COMMON},
            flags = step->operation == TAPE_FUSED ? 0 : PLAN_IS_FUNCTION;
        if (result->unplaced) flags |= PLAN_IS_NOT_STORED;
        if (plan_is_last(plan, k, 0)) flags |= PLAN_A_IS_LAST;
        if (plan_is_last(plan, k, 2) || step->operands < 3) flags |= PLAN_C_IS_LAST;
        for (int i = 0; i < step->operands; i++)
            if (!plan_is_last(plan, k, i)) at[i] = plan->values[step->of[i]].place;
        if (step->operation > TAPE_INPUT) at[2] = step->table;
        plan_integer(assets, tape_step_of(step->operation, result->unplaced ? 0 : result->place, at[0], at[1], at[2]));
        plan_integer(assets, flags);
    }
}

static bool plan_is_number(const PlanValue *value) { return value->made < 0 && value->input < 0; }

static int32_t plan_write(const Plan *plan, TapeAssets *assets)
{
    const EquationsConstants *c = plan->c;
    int64_t header[PLAN_HEADER] = {[PLAN_COUNT] = plan->count,
                                   [PLAN_ROWS] = plan->rows,
                                   [PLAN_COMMONS] = plan->commons,
                                   [PLAN_TIME] = -1,
                                   [PLAN_LENGTH] = -1};
    header[PLAN_STEPS] = assets->count;
    plan_put_steps(plan, assets);
    const int64_t first = assets->count;
    for (int v = 0; v < plan->n_values; v++) // the numbers themselves
        if (plan_is_number(&plan->values[v])) tape_assets_put(assets, &plan->values[v].number, 1);
    header[PLAN_NUMBERS] = assets->count;
    for (int v = 0; v < plan->n_values; v++) {
        if (!plan_is_number(&plan->values[v])) continue;
        plan_integer(assets, plan->values[v].place);
        plan_integer(assets, first + header[PLAN_N_NUMBERS]++);
    }
    header[PLAN_LOADS] = assets->count;
    for (int v = 0; v < plan->n_values; v++) {
        const PlanValue *value = &plan->values[v];
        if (value->made >= 0 || value->state >= 0 || plan_is_number(value)) continue;
        if (value->input == SYSTEM_TIME) {
            header[PLAN_TIME] = value->place;
        } else if (value->input == straight_register(c, STRAIGHT_LENGTH)) {
            header[PLAN_LENGTH] = value->place;
        } else {
            plan_integer(assets, value->place);
            plan_integer(assets, value->input);
            header[PLAN_N_LOADS]++;
        }
    }
    return tape_assets_put(assets, header, PLAN_HEADER);
}

int32_t straight_plan(const EquationsConstants *c, const TapeCode *code, const double *numbers, TapeAssets *assets,
                      Arena *arena)
{
    const int registers = TAPE_REGISTERS_MAX, states = c->n_total + c->is_map;
    const int room = 2 * (code->count + code->n_outputs);
    if (room == 0 || room > PLAN_STEPS_MAX || states > PLAN_ROWS_MAX) return -1;
    Plan plan = {.c = c, .n_states = states};
    plan.steps = ARENA_NEW(arena, PlanStep, room);
    plan.values = ARENA_NEW(arena, PlanValue, 4 * room + states + 3);
    plan.taken = ARENA_NEW(arena, bool, PLAN_ROWS_MAX);
    plan.shared = ARENA_NEW(arena, bool, PLAN_COMMONS_MAX);
    int *now = ARENA_NEW(arena, int, registers + states + 1);
    for (int r = 0; r < registers + states; r++) now[r] = -1;
    plan.product = registers + states;
    for (int i = 0; i < states; i++) now[straight_number(c, i)] = plan_value(&plan, -1, straight_number(c, i));
    plan.one = plan_number(&plan, 1.0);
    plan.minus_one = plan_number(&plan, -1.0);
    plan.minus_zero = plan_number(&plan, -0.0);
    plan_read(&plan, code, numbers, now);
    plan_settle(&plan, code, numbers, registers, now);
    for (int i = 0; i < states; i++) plan.values[now[straight_number(c, i)]].state = i;
    for (int i = 0; i < states; i++) {
        plan.values[i].state = i;
        plan.values[i].place = i;
        plan_free_place(plan.taken, PLAN_ROWS_MAX, &plan.rows);
    }
    plan_look(&plan);
    plan_order(&plan);
    for (int k = 0; k < plan.count; k++) plan_turn(&plan, k);
    return plan_places(&plan) ? plan_write(&plan, assets) : -1;
}

int straight_plan_bytes(const double *assets, const EquationsConstants *c)
{
    enum { PAIR = AHEAD_LANES * sizeof(double), STEP = 16 };
    const int64_t plan = c->straight != 0 ? asset_integer(assets, c->straight + STRAIGHT_PLAN) : -1;
    if (plan < 0) return 0;
    const int64_t steps = asset_integer(assets, plan + PLAN_COUNT) + 1, rows = asset_integer(assets, plan + PLAN_ROWS),
                  commons = asset_integer(assets, plan + PLAN_COMMONS);
    return (int)(steps * STEP + commons * PAIR + rows * AHEAD_THREADS * PAIR);
}
