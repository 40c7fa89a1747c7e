// Building tapes (tape.h): value numbering, folding, derivatives; then registers for the codes of kernels.
#include "tape.h"

#include "tape_code.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// ---- values ---------------------------------------------------------------------------------------------------------

Tape *tape_new(Arena *arena)
{
    Tape *tape = ARENA_NEW(arena, Tape, 1);
    tape->arena = arena;
    for (int i = 0; i < TAPE_BUCKETS; i++) tape->bucket[i] = TAPE_NONE;
    return tape;
}

static uint64_t tape_hash(const TapeNode *node)
{
    uint64_t bits, hash = (uint64_t)node->operation;
    memcpy(&bits, &node->number, sizeof bits);
    const uint64_t parts[] = {(uint64_t)node->a, (uint64_t)node->b, (uint64_t)node->c, bits};
    for (int i = 0; i < 4; i++) hash = (hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ (hash >> 29);
    return (hash ^ hash >> 32) % TAPE_BUCKETS;
}

static bool tape_equal(const TapeNode *a, const TapeNode *b)
{
    return a->operation == b->operation && a->a == b->a && a->b == b->b && a->c == b->c &&
           memcmp(&a->number, &b->number, sizeof a->number) == 0;
}

// The value with this node: an earlier one, or a new one.
static TapeValue tape_put(Tape *tape, TapeNode node)
{
    TapeValue *bucket = &tape->bucket[tape_hash(&node)];
    for (TapeValue at = *bucket; at != TAPE_NONE; at = tape->nodes[at].next)
        if (tape_equal(&tape->nodes[at], &node)) return at;
    if (tape->count == TAPE_VALUES_MAX) {
        tape->full = true;
        return 0;
    }
    if (tape->count == tape->room) {
        tape->room = tape->room > 0 ? 2 * tape->room : 256;
        TapeNode *nodes = ARENA_NEW(tape->arena, TapeNode, tape->room);
        if (tape->count > 0) memcpy(nodes, tape->nodes, (size_t)tape->count * sizeof *nodes);
        tape->nodes = nodes;
    }
    node.next = *bucket;
    tape->nodes[tape->count] = node;
    return *bucket = tape->count++;
}

static TapeNode tape_node(int operation)
{
    return (TapeNode){.operation = operation, .a = TAPE_NONE, .b = TAPE_NONE, .c = TAPE_NONE};
}

TapeValue tape_number(Tape *tape, double number)
{
    TapeNode node = tape_node(PROGRAM_NUMBER);
    node.number = number == number ? number : (double)NAN; // one NaN
    return tape_put(tape, node);
}

TapeValue tape_input(Tape *tape, int register_index, int depends)
{
    TapeNode node = tape_node(TAPE_INPUT);
    node.a = register_index;
    node.depends = depends;
    return tape_put(tape, node);
}

bool tape_is_number(const Tape *tape, TapeValue value, double *number)
{
    if (value == TAPE_NONE || tape->nodes[value].operation != PROGRAM_NUMBER) return false;
    *number = tape->nodes[value].number;
    return true;
}

int tape_add_table(Tape *tape, const TapeTable *table)
{
    assert(tape->n_tables < TAPE_TABLES_MAX);
    tape->tables[tape->n_tables] = table;
    return tape->n_tables++;
}

bool tape_looks_up(const TapeNode *node) { return node->operation > TAPE_INPUT; }

TapeValue tape_table(Tape *tape, int operation, int table, TapeValue a, TapeValue b)
{
    const TapeTable *of = tape->tables[table];
    double x, y = 0.0;
    TapeNode node = tape_node(operation);
    const bool known = tape_is_number(tape, a, &x) && (b == TAPE_NONE || tape_is_number(tape, b, &y));
    if (known && operation < TAPE_SIGNAL)
        return tape_number(tape,
                           lookup_value(of->row, lookup_shape_of(of->row), x, y, (LookupWhat)(operation - TAPE_TABLE)));
    node.a = a;
    node.b = b;
    node.number = table;
    node.depends = tape->nodes[a].depends | (b != TAPE_NONE ? tape->nodes[b].depends : 0);
    return tape_put(tape, node);
}

// Lists of all values for one call, and its work. False: that is too much.
static bool tape_lists(Tape *tape, int64_t work)
{
    tape->work += work;
    tape->full |= tape->work > TAPE_WORK_MAX;
    if (tape->full) return false;
    if (tape->room_of_lists < tape->count + 1) {
        tape->room_of_lists = 2 * tape->count + 256;
        for (int i = 0; i < 4; i++) tape->list[i] = ARENA_NEW(tape->arena, int32_t, tape->room_of_lists);
        tape->mark = ARENA_NEW(tape->arena, bool, tape->room_of_lists);
        tape->within = ARENA_NEW(tape->arena, bool, tape->room_of_lists);
    }
    return true;
}

static bool tape_is_leaf(const TapeNode *node)
{
    return node->operation == TAPE_INPUT || node->operation == PROGRAM_NUMBER;
}

// Marks what the values outputs[count] are computed from.
static const bool *tape_needed(const Tape *tape, const TapeValue *outputs, int count)
{
    bool *needed = tape->mark;
    memset(needed, 0, (size_t)tape->count + 1);
    for (int i = 0; i < count; i++)
        if (outputs[i] != TAPE_NONE) needed[outputs[i]] = true;
    for (TapeValue i = tape->count - 1; i >= 0; i--) {
        const TapeNode *node = &tape->nodes[i];
        if (!needed[i] || node->operation == TAPE_INPUT) continue;
        if (node->a != TAPE_NONE) needed[node->a] = true;
        if (node->b != TAPE_NONE) needed[node->b] = true;
        if (node->c != TAPE_NONE) needed[node->c] = true;
    }
    return needed;
}

bool tape_reads(Tape *tape, TapeValue value, int first, int end)
{
    if (value == TAPE_NONE || !tape_lists(tape, value + 1)) return false;
    for (TapeValue v = 0; v <= value; v++) { // operands come before their results
        const TapeNode *node = &tape->nodes[v];
        const bool input = node->operation == TAPE_INPUT;
        tape->mark[v] = input ? node->a >= first && node->a < end
                              : (node->a != TAPE_NONE && tape->mark[node->a]) ||
                                    (node->b != TAPE_NONE && tape->mark[node->b]) ||
                                    (node->c != TAPE_NONE && tape->mark[node->c]);
    }
    return tape->mark[value];
}

// ---- folding --------------------------------------------------------------------------------------------------------

enum { TAPE_POWERS = 16 }; // whole exponents up to this are products, as program_power

// a^n as program_power multiplies it. 1 a is a.
static TapeValue tape_power(Tape *tape, TapeValue a, int n)
{
    const int most = n < 0 ? -n : n;
    TapeValue product = a;
    if (n == 0) return TAPE_NONE; // 1, but NaN to the power of 0 is NaN
    for (int i = 1; i < most; i++) product = tape_operation(tape, PROGRAM_MULTIPLY, product, a, TAPE_NONE);
    return n > 0 ? product : tape_operation(tape, PROGRAM_DIVIDE, tape_number(tape, 1.0), product, TAPE_NONE);
}

static bool tape_is_power_of_two(double number)
{
    int exponent;
    return fabs(number) > 1e-300 && fabs(number) < 1e300 && fabs(frexp(number, &exponent)) == 0.5;
}

// Identities that hold to the bit, NaN and signs of zero included. TAPE_NONE: there is none.
static TapeValue tape_simplify(Tape *tape, int operation, TapeValue a, TapeValue b)
{
    double x = NAN, y = NAN;
    const bool left = tape_is_number(tape, a, &x), right = tape_is_number(tape, b, &y);
    switch (operation) {
    case PROGRAM_MULTIPLY:
        if (right && y == 1.0) return a;
        if (left && x == 1.0) return b;
        return TAPE_NONE;
    case PROGRAM_SUBTRACT: return right && y == 0.0 && !signbit(y) ? a : TAPE_NONE;
    case PROGRAM_DIVIDE:
        if (right && y == 1.0) return a;
        if (right && tape_is_power_of_two(y))
            return tape_operation(tape, PROGRAM_MULTIPLY, a, tape_number(tape, 1.0 / y), TAPE_NONE);
        return TAPE_NONE;
    case PROGRAM_NEGATE: return tape->nodes[a].operation == PROGRAM_NEGATE ? tape->nodes[a].a : TAPE_NONE;
    case PROGRAM_POWER:
        return right && fabs(y) <= TAPE_POWERS && y == rint(y) ? tape_power(tape, a, (int)y) : TAPE_NONE;
    default: return TAPE_NONE;
    }
}

int program_operands(int operation)
{
    return operation == PROGRAM_NUMBER ? 0 : program_takes_one(operation) ? 1 : program_takes_three(operation) ? 3 : 2;
}

static bool tape_commutes(int operation) { return operation == PROGRAM_ADD || operation == PROGRAM_MULTIPLY; }

TapeValue tape_operation(Tape *tape, int operation, TapeValue a, TapeValue b, TapeValue c)
{
    const int operands = program_operands(operation);
    const TapeValue of[3] = {a, operands > 1 ? b : TAPE_NONE, operands > 2 ? c : TAPE_NONE};
    double x[3] = {0};
    bool known = true;
    TapeNode node = tape_node(operation);
    for (int i = 0; i < operands; i++) {
        known &= tape_is_number(tape, of[i], &x[i]);
        node.depends |= tape->nodes[of[i]].depends;
    }
    if (known) return tape_number(tape, tape_function(operation, x[0], x[1], x[2]));
    const TapeValue same = tape_simplify(tape, operation, of[0], of[1]);
    if (same != TAPE_NONE) return same;
    const bool swap = tape_commutes(operation) && of[1] < of[0]; // sums and products do not depend on the order
    node.a = swap ? of[1] : of[0];
    node.b = swap ? of[0] : of[1];
    node.c = of[2];
    return tape_put(tape, node);
}

TapeValue tape_fused(Tape *tape, TapeValue a, TapeValue b, TapeValue c)
{
    double x, y, z;
    TapeNode node = tape_node(TAPE_FUSED);
    if (tape_is_number(tape, a, &x) && tape_is_number(tape, b, &y) && tape_is_number(tape, c, &z))
        return tape_number(tape, fused(x, y, z));
    node.a = a;
    node.b = b;
    node.c = c;
    node.depends = tape->nodes[a].depends | tape->nodes[b].depends | tape->nodes[c].depends;
    return tape_put(tape, node);
}

// The value of a node with other operands.
static TapeValue tape_again(Tape *tape, const TapeNode *node, TapeValue a, TapeValue b, TapeValue c)
{
    if (node->operation == TAPE_FUSED) return tape_fused(tape, a, b, c);
    if (tape_looks_up(node)) return tape_table(tape, node->operation, (int)node->number, a, b);
    return tape_operation(tape, node->operation, a, b, c);
}

// ---- derivatives ----------------------------------------------------------------------------------------------------
// Rules take slopes of operands, TAPE_NONE for 0, and give TAPE_NONE for 0.

static TapeValue slope_one(Tape *tape, int operation, TapeValue a)
{
    return a == TAPE_NONE ? TAPE_NONE : tape_operation(tape, operation, a, TAPE_NONE, TAPE_NONE);
}
static TapeValue slope_times(Tape *tape, TapeValue a, TapeValue b)
{
    if (a == TAPE_NONE || b == TAPE_NONE) return TAPE_NONE;
    return tape_operation(tape, PROGRAM_MULTIPLY, a, b, TAPE_NONE);
}
static TapeValue slope_over(Tape *tape, TapeValue a, TapeValue b)
{
    return a == TAPE_NONE ? TAPE_NONE : tape_operation(tape, PROGRAM_DIVIDE, a, b, TAPE_NONE);
}
static TapeValue slope_sum(Tape *tape, TapeValue a, TapeValue b)
{
    if (a == TAPE_NONE || b == TAPE_NONE) return a == TAPE_NONE ? b : a;
    return tape_operation(tape, PROGRAM_ADD, a, b, TAPE_NONE);
}
static TapeValue slope_less(Tape *tape, TapeValue a, TapeValue b)
{
    if (b == TAPE_NONE) return a;
    if (a == TAPE_NONE) return slope_one(tape, PROGRAM_NEGATE, b);
    return tape_operation(tape, PROGRAM_SUBTRACT, a, b, TAPE_NONE);
}
static TapeValue slope_if(Tape *tape, TapeValue condition, TapeValue a, TapeValue b)
{
    if (a == b) return a;
    const TapeValue zero = tape_number(tape, 0.0);
    return tape_operation(tape, PROGRAM_IF, condition, a == TAPE_NONE ? zero : a, b == TAPE_NONE ? zero : b);
}
static TapeValue slope_two(Tape *tape, int operation, TapeValue a, TapeValue b)
{
    return tape_operation(tape, operation, a, b, TAPE_NONE);
}

// d(a^b) = b a^(b-1) da + a^b log(a) db
static TapeValue slope_power(Tape *tape, TapeValue value, TapeValue a, TapeValue b, TapeValue da, TapeValue db)
{
    const TapeValue one = tape_number(tape, 1.0);
    TapeValue by_base = TAPE_NONE, by_exponent = TAPE_NONE;
    if (da != TAPE_NONE) {
        const TapeValue below = slope_two(tape, PROGRAM_POWER, a, slope_two(tape, PROGRAM_SUBTRACT, b, one));
        by_base = slope_times(tape, slope_times(tape, b, below), da);
    }
    if (db != TAPE_NONE) by_exponent = slope_times(tape, slope_times(tape, value, slope_one(tape, PROGRAM_LOG, a)), db);
    return slope_sum(tape, by_base, by_exponent);
}

// 1 / sqrt(1 - a^2)
static TapeValue slope_arc(Tape *tape, TapeValue a)
{
    const TapeValue one = tape_number(tape, 1.0);
    const TapeValue rest = slope_two(tape, PROGRAM_SUBTRACT, one, slope_times(tape, a, a));
    return slope_over(tape, one, slope_one(tape, PROGRAM_SQRT, rest));
}

static TapeValue slope_function(Tape *tape, int operation, TapeValue value, TapeValue a, TapeValue da)
{
    const TapeValue one = tape_number(tape, 1.0), square = slope_times(tape, value, value);
    if (da == TAPE_NONE) return TAPE_NONE;
    switch (operation) {
    case PROGRAM_ABS: return slope_times(tape, slope_one(tape, PROGRAM_SIGN, a), da);
    case PROGRAM_SQRT: return slope_over(tape, da, slope_times(tape, tape_number(tape, 2.0), value));
    case PROGRAM_EXP: return slope_times(tape, value, da);
    case PROGRAM_LOG: return slope_over(tape, da, a);
    case PROGRAM_SIN: return slope_times(tape, slope_one(tape, PROGRAM_COS, a), da);
    case PROGRAM_COS: return slope_one(tape, PROGRAM_NEGATE, slope_times(tape, slope_one(tape, PROGRAM_SIN, a), da));
    case PROGRAM_TAN: return slope_times(tape, slope_sum(tape, one, square), da);
    case PROGRAM_ASIN: return slope_times(tape, slope_arc(tape, a), da);
    case PROGRAM_ACOS: return slope_one(tape, PROGRAM_NEGATE, slope_times(tape, slope_arc(tape, a), da));
    case PROGRAM_ATAN: return slope_over(tape, da, slope_sum(tape, one, slope_times(tape, a, a)));
    case PROGRAM_SINH: return slope_times(tape, slope_one(tape, PROGRAM_COSH, a), da);
    case PROGRAM_COSH: return slope_times(tape, slope_one(tape, PROGRAM_SINH, a), da);
    case PROGRAM_TANH: return slope_times(tape, slope_less(tape, one, square), da);
    default: return TAPE_NONE; // not, floor, ceil, sign, step
    }
}

// A row of a signal does not move within a step.
static TapeValue slope_table(Tape *tape, TapeValue value, const TapeValue *d)
{
    const TapeNode node = tape->nodes[value];
    TapeValue slope = TAPE_NONE;
    if (node.operation == TAPE_TABLE_BY_FIRST || node.operation == TAPE_TABLE_BY_SECOND) {
        const bool one = node.b == TAPE_NONE, cubic = tape->tables[(int)node.number]->between == LOOKUP_CUBIC;
        const TapeValue along = d[one || node.operation == TAPE_TABLE_BY_SECOND ? 0 : 1];
        if (along == TAPE_NONE || (one && !cubic)) return TAPE_NONE;
        return slope_times(tape, tape_table(tape, TAPE_TABLE_BEND, (int)node.number, node.a, node.b), along);
    }
    if (node.operation != TAPE_TABLE && node.operation != TAPE_SIGNAL) return TAPE_NONE;
    for (int k = 0; k < (node.operation == TAPE_TABLE && node.b != TAPE_NONE ? 2 : 1); k++)
        if (d[k] != TAPE_NONE) {
            const TapeValue by = tape_table(tape, node.operation + 1 + k, (int)node.number, node.a, node.b);
            slope = slope_sum(tape, slope, slope_times(tape, by, d[k]));
        }
    return slope;
}

// Of an operation with operands of[3] and their slopes d[3].
static TapeValue slope_of(Tape *tape, TapeValue value, const TapeValue *of, const TapeValue *d)
{
    const int operation = tape->nodes[value].operation;
    const TapeValue a = of[0], b = of[1];
    if (tape_looks_up(&tape->nodes[value])) return slope_table(tape, value, d);
    switch (operation) {
    case TAPE_FUSED:
        return slope_sum(tape, slope_sum(tape, slope_times(tape, d[0], b), slope_times(tape, a, d[1])), d[2]);
    case PROGRAM_ADD: return slope_sum(tape, d[0], d[1]);
    case PROGRAM_SUBTRACT: return slope_less(tape, d[0], d[1]);
    case PROGRAM_NEGATE: return slope_one(tape, PROGRAM_NEGATE, d[0]);
    case PROGRAM_MULTIPLY: return slope_sum(tape, slope_times(tape, d[0], b), slope_times(tape, a, d[1]));
    case PROGRAM_DIVIDE: return slope_over(tape, slope_less(tape, d[0], slope_times(tape, value, d[1])), b);
    case PROGRAM_POWER: return slope_power(tape, value, a, b, d[0], d[1]);
    case PROGRAM_MIN: return slope_if(tape, slope_two(tape, PROGRAM_LESS, a, b), d[0], d[1]);
    case PROGRAM_MAX: return slope_if(tape, slope_two(tape, PROGRAM_GREATER, a, b), d[0], d[1]);
    case PROGRAM_HYPOT:
        return slope_over(tape, slope_sum(tape, slope_times(tape, a, d[0]), slope_times(tape, b, d[1])), value);
    case PROGRAM_ATAN2: // (a' b - a b') / (a^2 + b^2)
        return slope_over(tape, slope_less(tape, slope_times(tape, d[0], b), slope_times(tape, a, d[1])),
                          slope_sum(tape, slope_times(tape, a, a), slope_times(tape, b, b)));
    case PROGRAM_MOD: // a' - floor(a / b) b'
        return slope_less(
            tape, d[0], slope_times(tape, slope_one(tape, PROGRAM_FLOOR, slope_two(tape, PROGRAM_DIVIDE, a, b)), d[1]));
    case PROGRAM_IF: return slope_if(tape, a, d[1], d[2]);
    case PROGRAM_CLIP: // where the lower limit is the greater one, the upper is taken
        return slope_if(tape, slope_two(tape, PROGRAM_GREATER, slope_two(tape, PROGRAM_MAX, a, b), of[2]), d[2],
                        slope_if(tape, slope_two(tape, PROGRAM_LESS, a, b), d[1], d[0]));
    default: return slope_function(tape, operation, value, a, d[0]);
    }
}

TapeValue tape_slope(Tape *tape, TapeValue value, const TapeValue *along, const TapeValue *rate, int count)
{
    const int n = value + 1; // values that it is made of stand before it
    if (!tape_lists(tape, n)) return TAPE_NONE;
    TapeValue *slope = tape->list[0];
    bool *needed = tape->mark;
    memset(needed, 0, (size_t)n * sizeof *needed);
    needed[value] = true;
    for (TapeValue i = value; i >= 0; i--) {
        const TapeNode *node = &tape->nodes[i];
        if (!needed[i] || node->operation == TAPE_INPUT) continue;
        if (node->a != TAPE_NONE) needed[node->a] = true;
        if (node->b != TAPE_NONE) needed[node->b] = true;
        if (node->c != TAPE_NONE) needed[node->c] = true;
    }
    for (TapeValue i = 0; i < n; i++) slope[i] = TAPE_NONE;
    for (int k = 0; k < count; k++)
        if (along[k] != TAPE_NONE && along[k] < n) slope[along[k]] = rate[k];
    for (TapeValue i = 0; i < n; i++) {
        const TapeNode node = tape->nodes[i];
        if (!needed[i] || node.operation == TAPE_INPUT || node.operation == PROGRAM_NUMBER) continue;
        const TapeValue of[3] = {node.a, node.b, node.c};
        TapeValue d[3];
        bool moves = false;
        for (int k = 0; k < 3; k++) {
            d[k] = of[k] != TAPE_NONE ? slope[of[k]] : TAPE_NONE;
            moves |= d[k] != TAPE_NONE;
        }
        if (moves) slope[i] = slope_of(tape, i, of, d);
    }
    return slope[value];
}

// What is known of a value, beside whether it moves (1).
enum { ADJOINT_GATED = 2, ADJOINT_FINITE = 4, ADJOINT_POSITIVE = 8 };

static bool adjoint_has(const int32_t *state, TapeValue value, int what)
{
    return value == TAPE_NONE || (state[value] & what) != 0;
}

// The exponent is a whole number from `least` on.
static bool adjoint_is_whole(const Tape *tape, TapeValue exponent, double least)
{
    double number;
    return tape_is_number(tape, exponent, &number) && number >= least && floor(number) == number;
}

// Whether a value is a finite number above 0 wherever the inputs are finite, unless something overflows.
static bool adjoint_is_positive(const Tape *tape, const TapeNode *node, const int32_t *state)
{
    const bool a = adjoint_has(state, node->a, ADJOINT_POSITIVE), b = adjoint_has(state, node->b, ADJOINT_POSITIVE),
               c = adjoint_has(state, node->c, ADJOINT_POSITIVE);
    switch (node->operation) {
    case PROGRAM_NUMBER: return node->number > 0.0;
    case PROGRAM_ADD:
    case PROGRAM_MIN:
    case PROGRAM_SQRT: return a && b;
    case PROGRAM_MAX: return a || b;
    case PROGRAM_CLIP:
    case PROGRAM_IF: return b && c;
    default: return (void)tape, false;
    }
}

// The same of finite numbers.
static bool adjoint_is_finite(const Tape *tape, const TapeNode *node, const int32_t *state)
{
    const bool all = adjoint_has(state, node->a, ADJOINT_FINITE) && adjoint_has(state, node->b, ADJOINT_FINITE) &&
                     adjoint_has(state, node->c, ADJOINT_FINITE);
    if (tape_looks_up(node)) return all;
    switch (node->operation) {
    case TAPE_INPUT: return true;
    case PROGRAM_NUMBER: return isfinite(node->number);
    case PROGRAM_DIVIDE:
    case PROGRAM_MOD: return all && adjoint_has(state, node->b, ADJOINT_POSITIVE);
    case PROGRAM_SQRT:
    case PROGRAM_LOG: return all && adjoint_has(state, node->a, ADJOINT_POSITIVE);
    case PROGRAM_POWER: return all && adjoint_is_whole(tape, node->b, 0.0);
    case PROGRAM_EXP:
    case PROGRAM_TAN:
    case PROGRAM_ASIN:
    case PROGRAM_ACOS:
    case PROGRAM_SINH:
    case PROGRAM_COSH: return false;
    default: return all;
    }
}

// Whether the derivative of a value by its operand k is: then what is 0 stays 0 through it. A choice by NaN is NaN.
static bool adjoint_is_plain(const Tape *tape, TapeValue value, int k, const int32_t *state)
{
    const TapeNode *node = &tape->nodes[value];
    const bool all = adjoint_has(state, node->a, ADJOINT_FINITE) && adjoint_has(state, node->b, ADJOINT_FINITE) &&
                     adjoint_has(state, node->c, ADJOINT_FINITE);
    if (tape_looks_up(node)) return all;
    switch (node->operation) {
    case PROGRAM_ADD:
    case PROGRAM_SUBTRACT:
    case PROGRAM_NEGATE: return true;
    case PROGRAM_MULTIPLY:
    case TAPE_FUSED: return k == 2 || adjoint_has(state, k == 0 ? node->b : node->a, ADJOINT_FINITE);
    case PROGRAM_DIVIDE: return adjoint_has(state, node->b, ADJOINT_POSITIVE) && (k == 0 || all);
    case PROGRAM_SQRT: return adjoint_has(state, node->a, ADJOINT_POSITIVE);
    case PROGRAM_POWER: return all && k == 0 && adjoint_is_whole(tape, node->b, 1.0);
    case PROGRAM_MOD: return k == 0;
    case PROGRAM_IF: return adjoint_has(state, node->a, ADJOINT_FINITE);
    case PROGRAM_ABS:
    case PROGRAM_SIN:
    case PROGRAM_COS:
    case PROGRAM_ATAN:
    case PROGRAM_TANH:
    case PROGRAM_MIN:
    case PROGRAM_MAX:
    case PROGRAM_CLIP: return all;
    default: return false;
    }
}
static bool adjoint_chooses(int operation)
{
    return operation == PROGRAM_IF || operation == PROGRAM_MIN || operation == PROGRAM_MAX || operation == PROGRAM_CLIP;
}

// Which of the values before `end` change with along[count], and which are finite or above 0.
static void adjoint_mark(const Tape *tape, TapeValue end, const TapeValue *along, int count, int32_t *state)
{
    memset(state, 0, (size_t)end * sizeof *state);
    for (int k = 0; k < count; k++)
        if (along[k] != TAPE_NONE && along[k] < end) state[along[k]] = 1;
    for (TapeValue i = 0; i < end; i++) {
        const TapeNode *node = &tape->nodes[i];
        if (!tape_is_leaf(node))
            state[i] |=
                ((node->a != TAPE_NONE && (state[node->a] & 1)) || (node->b != TAPE_NONE && (state[node->b] & 1)) ||
                 (node->c != TAPE_NONE && (state[node->c] & 1)));
        if (adjoint_is_finite(tape, node, state)) state[i] |= ADJOINT_FINITE;
        if ((state[i] & ADJOINT_FINITE) != 0 && adjoint_is_positive(tape, node, state)) state[i] |= ADJOINT_POSITIVE;
    }
}

// What `bar` of a value gives to its operand k: the rules of slopes are linear. The bar of one that is gated is 0 where
// a choice was for another value, and there a derivative that is not finite does not count.
static TapeValue adjoint_of(Tape *tape, TapeValue value, int k, TapeValue bar, const int32_t *state)
{
    const TapeNode node = tape->nodes[value];
    const TapeValue of[3] = {node.a, node.b, node.c};
    TapeValue d[3] = {TAPE_NONE, TAPE_NONE, TAPE_NONE};
    d[k] = bar;
    const TapeValue slope = slope_of(tape, value, of, d);
    const bool gated = (state[value] & ADJOINT_GATED) != 0;
    if (!gated || slope == TAPE_NONE || adjoint_is_plain(tape, value, k, state)) return slope;
    return tape_operation(tape, PROGRAM_IF, bar, slope, tape_number(tape, 0.0));
}

// Sources: A. Griewank & A. Walther, Evaluating Derivatives, 2nd ed., 2008, 3.2.
void tape_adjoint(Tape *tape, const TapeValue *outputs, const TapeValue *weight, int n, const TapeValue *along,
                  int count, TapeValue *slope)
{
    const TapeValue end = tape->count; // it grows
    for (int k = 0; k < count; k++) slope[k] = TAPE_NONE;
    if (!tape_lists(tape, 2 * (int64_t)end + n)) return;
    TapeValue *bar = tape->list[0];
    int32_t *state = tape->list[1];
    const bool *needed = tape_needed(tape, outputs, n);
    adjoint_mark(tape, end, along, count, state);
    for (TapeValue i = 0; i < end; i++) bar[i] = TAPE_NONE;
    for (int i = 0; i < n; i++)
        if (outputs[i] != TAPE_NONE) bar[outputs[i]] = slope_sum(tape, bar[outputs[i]], weight[i]);
    for (TapeValue i = end - 1; i >= 0; i--) {
        const TapeNode node = tape->nodes[i];
        const TapeValue of[3] = {node.a, node.b, node.c};
        if (!needed[i] || (state[i] & 1) == 0 || bar[i] == TAPE_NONE || tape_is_leaf(&node)) continue;
        for (int k = 0; k < 3; k++) {
            if (of[k] == TAPE_NONE || (state[of[k]] & 1) == 0) continue;
            const TapeValue part = adjoint_of(tape, i, k, bar[i], state);
            if (part == TAPE_NONE) continue;
            bar[of[k]] = slope_sum(tape, bar[of[k]], part);
            if ((state[i] & ADJOINT_GATED) != 0 || adjoint_chooses(node.operation)) state[of[k]] |= ADJOINT_GATED;
        }
    }
    for (int k = 0; k < count; k++)
        if (along[k] != TAPE_NONE && along[k] < end) slope[k] = bar[along[k]];
}

// ---- replacing ------------------------------------------------------------------------------------------------------

// Marks what values[n] are made of, but for what only values are made of that now[] replaces.
static void replace_mark(const Tape *tape, const TapeValue *values, int n, const TapeValue *now, bool *needed)
{
    memset(needed, 0, (size_t)tape->count + 1);
    for (int i = 0; i < n; i++)
        if (values[i] != TAPE_NONE) needed[values[i]] = true;
    for (TapeValue i = tape->count - 1; i >= 0; i--) {
        const TapeNode *node = &tape->nodes[i];
        if (!needed[i] || now[i] != i || node->operation == TAPE_INPUT) continue;
        if (node->a != TAPE_NONE) needed[node->a] = true;
        if (node->b != TAPE_NONE) needed[node->b] = true;
        if (node->c != TAPE_NONE) needed[node->c] = true;
    }
}

void tape_replace(Tape *tape, TapeValue *values, int n, const TapeValue *from, const TapeValue *to, int count)
{
    const int end = tape->count; // it grows
    if (!tape_lists(tape, end)) return;
    TapeValue *now = tape->list[0];
    bool *needed = tape->mark;
    for (TapeValue i = 0; i < end; i++) now[i] = i;
    for (int k = 0; k < count; k++)
        if (to[k] != TAPE_NONE) now[from[k]] = to[k];
    replace_mark(tape, values, n, now, needed);
    for (TapeValue i = 0; i < end; i++) { // operands come before their results
        const TapeNode node = tape->nodes[i];
        if (!needed[i] || now[i] != i || node.operation == TAPE_INPUT || node.operation == PROGRAM_NUMBER) continue;
        const TapeValue a = node.a != TAPE_NONE ? now[node.a] : TAPE_NONE,
                        b = node.b != TAPE_NONE ? now[node.b] : TAPE_NONE,
                        c = node.c != TAPE_NONE ? now[node.c] : TAPE_NONE;
        if (a == node.a && b == node.b && c == node.c) continue;
        now[i] = tape_again(tape, &node, a, b, c);
    }
    for (int i = 0; i < n; i++)
        if (values[i] != TAPE_NONE) values[i] = now[values[i]];
}

// ---- registers ------------------------------------------------------------------------------------------------------

static Error tape_check_registers(int registers)
{
    if (registers <= TAPE_REGISTERS_MAX) return error_none();
    return error_make(ERROR_USER, "the equations need more than %d numbers at a time: make the system smaller",
                      TAPE_REGISTERS_MAX);
}

static Error tape_is_full(void) { return error_make(ERROR_USER, "the equations are too long"); }

const bool *tape_needs(Tape *tape, const TapeValue *values, int count)
{
    return tape_lists(tape, tape->count + count) ? tape_needed(tape, values, count) : NULL;
}

static int64_t tape_encode(const TapeNode *node, int to, const int32_t *of_value)
{
    const int a = of_value[node->a], b = node->b != TAPE_NONE ? of_value[node->b] : a,
              c = tape_looks_up(node)    ? (int)node->number
                  : node->c != TAPE_NONE ? of_value[node->c]
                                         : a;
    return tape_step_of(node->operation, to, a, b, c);
}

Error tape_layout(Tape *tape, int first, const TapeValue *wanted, int count, Arena *arena, TapeLayout *out)
{
    if (!tape_lists(tape, tape->count + count)) return tape_is_full();
    const bool *needed = tape_needed(tape, wanted, count);
    int32_t *of_value = ARENA_NEW(arena, int32_t, tape->count + 1);
    int n_numbers = 0, n_derived = 0;
    for (TapeValue i = 0; i < tape->count; i++) {
        const TapeNode *node = &tape->nodes[i];
        of_value[i] = -1;
        if (!needed[i]) continue;
        if (node->operation == TAPE_INPUT) of_value[i] = node->a;
        if (node->operation == PROGRAM_NUMBER) of_value[i] = first + n_numbers++;
        n_derived += !tape_is_leaf(node) && node->depends == TAPE_FIXED;
    }
    *out = (TapeLayout){.first = first,
                        .numbers = ARENA_NEW(arena, double, n_numbers),
                        .n_numbers = n_numbers,
                        .first_derived = first + n_numbers,
                        .n_derived = n_derived,
                        .first_free = first + n_numbers + n_derived,
                        .registers = first + n_numbers + n_derived,
                        .of_value = of_value,
                        .derived = ARENA_NEW(arena, int64_t, n_derived)};
    TRY(tape_check_registers(out->registers));
    for (TapeValue i = 0; i < tape->count; i++) {
        const TapeNode *node = &tape->nodes[i];
        if (!needed[i]) continue;
        if (node->operation == PROGRAM_NUMBER) out->numbers[of_value[i] - first] = node->number;
        if (tape_is_leaf(node) || node->depends != TAPE_FIXED) continue;
        of_value[i] = out->first_derived + out->n_derived_steps;
        out->derived[out->n_derived_steps++] = tape_encode(node, of_value[i], of_value);
    }
    return error_none();
}

// Values that a code computes itself, while their registers are assigned.
typedef struct TapeAssign {
    int32_t *of_value;  // [tape->count] -1: none
    int32_t *last;      // [tape->count] the last value that uses it; outputs: never free
    int32_t *free;      // registers that were used and are free
    TapeValue *product; // [tape->count] of a sum or a difference: the product that is computed with it; TAPE_NONE: none
    bool *within;       // [tape->count] such a product
    int n_free, next;
} TapeAssign;

static int tape_take(TapeAssign *assign)
{
    return assign->n_free > 0 ? assign->free[--assign->n_free] : assign->next++;
}

static void tape_release(TapeAssign *assign, const TapeLayout *layout, TapeValue operand, TapeValue user)
{
    if (operand == TAPE_NONE || layout->of_value[operand] >= 0 || assign->last[operand] != user) return;
    assign->last[operand] = -1; // once, if it is used twice
    assign->free[assign->n_free++] = assign->of_value[operand];
}

// A value as a step: its operation and operands, of a product that nothing else takes those of the product.
static TapeNode tape_step_node(const Tape *tape, const TapeAssign *assign, TapeValue value)
{
    const TapeNode *node = &tape->nodes[value];
    const TapeValue product = assign->product[value];
    TapeNode step = *node;
    if (product == TAPE_NONE) return step;
    const bool first = node->a == product, adds = node->operation == PROGRAM_ADD;
    step.operation = adds ? TAPE_PRODUCT_PLUS : first ? TAPE_PRODUCT_LESS : TAPE_LESS_PRODUCT;
    step.a = tape->nodes[product].a;
    step.b = tape->nodes[product].b;
    step.c = first ? node->b : node->a;
    return step;
}

// Whether a code computes a value itself, of those that are needed.
static bool tape_is_step(const TapeLayout *layout, const TapeAssign *assign, const bool *needed, TapeValue value)
{
    return needed[value] && layout->of_value[value] < 0 && !assign->within[value];
}

// Products that only one sum or difference takes are computed with that: one step in place of two.
static void tape_merge(const Tape *tape, const TapeLayout *layout, const bool *needed, const TapeValue *outputs,
                       int count, TapeAssign *assign)
{
    int32_t *uses = assign->last; // until registers are assigned
    memset(uses, 0, (size_t)tape->count * sizeof *uses);
    for (TapeValue i = 0; i < tape->count; i++) {
        const TapeValue of[3] = {tape->nodes[i].a, tape->nodes[i].b, tape->nodes[i].c};
        assign->product[i] = TAPE_NONE;
        assign->within[i] = false;
        for (int k = 0; k < 3 && tape_is_step(layout, assign, needed, i); k++)
            if (of[k] != TAPE_NONE) uses[of[k]]++;
    }
    for (int i = 0; i < count; i++)
        if (outputs[i] != TAPE_NONE) uses[outputs[i]] = 2;
    for (TapeValue i = 0; i < tape->count; i++) {
        const TapeNode *node = &tape->nodes[i];
        if (!tape_is_step(layout, assign, needed, i)) continue;
        if (node->operation != PROGRAM_ADD && node->operation != PROGRAM_SUBTRACT) continue;
        const TapeValue of[2] = {node->a, node->b};
        for (int k = 0; k < 2 && assign->product[i] == TAPE_NONE; k++) {
            if (tape->nodes[of[k]].operation != PROGRAM_MULTIPLY || uses[of[k]] != 1) continue;
            if (!tape_is_step(layout, assign, needed, of[k])) continue;
            assign->product[i] = of[k];
            assign->within[of[k]] = true;
        }
    }
}

Error tape_code(Tape *tape, TapeLayout *layout, const TapeValue *outputs, int count, Arena *arena, TapeCode *out)
{
    if (!tape_lists(tape, tape->count + count)) return tape_is_full();
    const bool *needed = tape_needed(tape, outputs, count);
    TapeAssign assign = {.of_value = tape->list[0],
                         .last = tape->list[1],
                         .free = tape->list[2],
                         .product = tape->list[3],
                         .within = tape->within,
                         .next = layout->first_free};
    int steps = 0;
    tape_merge(tape, layout, needed, outputs, count, &assign);
    memset(assign.last, 0, (size_t)tape->count * sizeof *assign.last);
    memcpy(assign.of_value, layout->of_value, (size_t)tape->count * sizeof *assign.of_value);
    for (TapeValue i = 0; i < tape->count; i++) {
        if (!tape_is_step(layout, &assign, needed, i)) continue;
        const TapeNode node = tape_step_node(tape, &assign, i);
        const TapeValue of[3] = {node.a, node.b, node.c};
        steps++;
        for (int k = 0; k < 3; k++)
            if (of[k] != TAPE_NONE) assign.last[of[k]] = i;
    }
    for (int i = 0; i < count; i++)
        if (outputs[i] != TAPE_NONE) assign.last[outputs[i]] = tape->count;
    *out = (TapeCode){.steps = ARENA_NEW(arena, int64_t, steps), .outputs = ARENA_NEW(arena, int32_t, count)};
    for (TapeValue i = 0; i < tape->count; i++) {
        if (!tape_is_step(layout, &assign, needed, i)) continue;
        const TapeNode node = tape_step_node(tape, &assign, i);
        tape_release(&assign, layout, node.a, i);
        tape_release(&assign, layout, node.b, i);
        tape_release(&assign, layout, node.c, i);
        assign.of_value[i] = tape_take(&assign); // may be that of an operand
        out->steps[out->count++] = tape_encode(&node, assign.of_value[i], assign.of_value);
    }
    for (int i = 0; i < count; i++) out->outputs[i] = outputs[i] != TAPE_NONE ? assign.of_value[outputs[i]] : -1;
    out->n_outputs = count;
    if (assign.next > layout->registers) layout->registers = assign.next;
    return tape_check_registers(layout->registers);
}

// ---- assets ---------------------------------------------------------------------------------------------------------

int32_t tape_assets_put(TapeAssets *assets, const void *numbers, int64_t count)
{
    const int64_t first = assets->count;
    if (first + count > assets->room) {
        assets->room = 2 * (first + count) + 256;
        double *more = ARENA_NEW(assets->arena, double, assets->room);
        if (first > 0) memcpy(more, assets->numbers, (size_t)first * sizeof *more);
        assets->numbers = more;
    }
    if (count > 0) memcpy(assets->numbers + first, numbers, (size_t)count * sizeof *assets->numbers);
    assets->count += count;
    return (int32_t)first;
}

int32_t tape_assets_put_tables(TapeAssets *assets, const Tape *tape)
{
    int64_t at[TAPE_TABLES_MAX];
    for (int i = 0; i < tape->n_tables; i++)
        at[i] = tape_assets_put(assets, tape->tables[i]->row, tape->tables[i]->count);
    return tape_assets_put(assets, at, tape->n_tables);
}

CodeView tape_assets_put_code(TapeAssets *assets, const TapeLayout *layout, const TapeCode *code)
{
    CodeView view = {.registers = layout->registers,
                     .n_numbers = layout->n_numbers,
                     .first_number = layout->first,
                     .n_derived = layout->n_derived_steps,
                     .n_steps = code->count};
    view.numbers = tape_assets_put(assets, layout->numbers, layout->n_numbers);
    view.derived = tape_assets_put(assets, layout->derived, layout->n_derived_steps);
    view.steps = tape_assets_put(assets, code->steps, code->count);
    return view;
}
