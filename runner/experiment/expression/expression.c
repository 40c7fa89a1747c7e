// Expressions: what objectives, constraints, `derive`, `exclude` and `--where` are written in. This file has the
// operations, one row each, with their derivatives, and the evaluation of programs of them. Their values are those of
// kernels (sim/program.h).
//
// Truth is any number but 0; that of NaN is not known. An operation with a NaN is NaN, unless the other operand of
// `and` or `or` decides alone (0 and NaN is 0, 1 or NaN is 1). SQL does the same with NULL (sql.c).
#include "expression.h"

#include <math.h>
#include <string.h>

// ---- operations -----------------------------------------------------------------------------------------------------

static bool expression_truth(double a) { return a < 0 || a > 0; }

static double expression_two(ProgramOperation operation, double a, double b)
{
    return program_value(operation, a, b, 0);
}

// Derivatives at x along dx. Where min, max, clip and if bend or jump: that of the operand that they take; abs: 0.
// At jumps that of mod is of the piece, and those of floor, ceil, sign and step are 0. NaN where there is none.
#define EXPRESSION_SLOPE(name, value)                                                                                  \
    static double slope_##name(const double *x, const double *dx)                                                      \
    {                                                                                                                  \
        const double a = x[0], b = x[1], c = x[2], da = dx[0], db = dx[1], dc = dx[2];                                 \
        (void)a, (void)b, (void)c, (void)da, (void)db, (void)dc;                                                       \
        return value;                                                                                                  \
    }
EXPRESSION_SLOPE(add, da + db)
EXPRESSION_SLOPE(subtract, da - db)
EXPRESSION_SLOPE(multiply, da *b + a * db)
EXPRESSION_SLOPE(divide, (da - a / b * db) / b)
EXPRESSION_SLOPE(negate, -da)
EXPRESSION_SLOPE(min, expression_two(PROGRAM_MIN, a, b) == a ? da : db)
EXPRESSION_SLOPE(max, expression_two(PROGRAM_MAX, a, b) == a ? da : db)
EXPRESSION_SLOPE(clip, program_value(PROGRAM_CLIP, a, b, c) == a ? da : expression_two(PROGRAM_MAX, a, b) < c ? db : dc)
EXPRESSION_SLOPE(abs, a > 0 ? da : a < 0 ? -da : a * da)
EXPRESSION_SLOPE(sign, 0)
EXPRESSION_SLOPE(step, 0)
EXPRESSION_SLOPE(if, a != a ? a : expression_truth(a) ? db : dc)
EXPRESSION_SLOPE(sqrt, da == 0 ? 0 : da / (2 * sqrt(a)))
EXPRESSION_SLOPE(exp, da *portable_exp(a))
EXPRESSION_SLOPE(log, da / a)
EXPRESSION_SLOPE(sin, da *portable_cos(a))
EXPRESSION_SLOPE(cos, -(da *portable_sin(a)))
EXPRESSION_SLOPE(tan, da / portable_cos(a) / portable_cos(a))
EXPRESSION_SLOPE(asin, da == 0 ? 0 : da / sqrt((1 - a) * (1 + a)))
EXPRESSION_SLOPE(acos, da == 0 ? 0 : -da / sqrt((1 - a) * (1 + a)))
EXPRESSION_SLOPE(atan, da / portable_hypot(1, a) / portable_hypot(1, a))
EXPRESSION_SLOPE(sinh, da *portable_cosh(a))
EXPRESSION_SLOPE(cosh, da *portable_sinh(a))
EXPRESSION_SLOPE(tanh, da / portable_cosh(a) / portable_cosh(a))
EXPRESSION_SLOPE(floor, 0)
EXPRESSION_SLOPE(ceil, 0)
#undef EXPRESSION_SLOPE

static double slope_power(const double *x, const double *dx)
{
    const double a = x[0], b = x[1], da = dx[0], db = dx[1];
    const double by_base = da == 0 || b == 0 ? 0 : da * b * expression_two(PROGRAM_POWER, a, b - 1);
    return db == 0 ? by_base : by_base + db * expression_two(PROGRAM_POWER, a, b) * portable_log(a);
}

// At the origin 0, as of abs.
static double slope_hypot(const double *x, const double *dx)
{
    const double length = expression_two(PROGRAM_HYPOT, x[0], x[1]);
    return length == 0 ? 0 : x[0] / length * dx[0] + x[1] / length * dx[1];
}

static double slope_atan2(const double *x, const double *dx)
{
    const double length = expression_two(PROGRAM_HYPOT, x[0], x[1]);
    return (x[1] / length * dx[0] - x[0] / length * dx[1]) / length;
}

// mod(a, b) = a - n b, n = floor(a/b)
static double slope_mod(const double *x, const double *dx)
{
    const double n = rint((x[0] - portable_mod(x[0], x[1])) / x[1]);
    return dx[1] == 0 ? dx[0] : dx[0] - n * dx[1];
}

#define INFIX(text, rank, program, slope)                                                                              \
    {                                                                                                                  \
        text, SYNTAX_INFIX, rank, 2, PROGRAM_##program, GROUP_NONE, slope                                              \
    }
#define FUNCTION(name, arguments, program, group)                                                                      \
    {                                                                                                                  \
        .text = #name, SYNTAX_FUNCTION, RANK_ATOM, arguments, PROGRAM_##program, group, slope_##name                   \
    }
const ExpressionOperation expression_operations[EXPRESSION_OPERATIONS] = {
    {"number", SYNTAX_NUMBER, RANK_ATOM, 0, PROGRAM_NUMBER, GROUP_NONE, NULL},
    {"name", SYNTAX_NAME, RANK_ATOM, 0, PROGRAM_NUMBER, GROUP_NONE, NULL},
    {"text", SYNTAX_TEXT, RANK_ATOM, 0, PROGRAM_NUMBER, GROUP_NONE, NULL},
    {"text name", SYNTAX_TEXT_NAME, RANK_ATOM, 0, PROGRAM_NUMBER, GROUP_NONE, NULL},
    {"table", SYNTAX_TABLE, RANK_ATOM, 1, PROGRAM_NUMBER, GROUP_NONE, NULL},
    {"table", SYNTAX_TABLE, RANK_ATOM, 2, PROGRAM_NUMBER, GROUP_NONE, NULL},
    INFIX("or", RANK_OR, OR, NULL),
    INFIX("and", RANK_AND, AND, NULL),
    {"not", SYNTAX_PREFIX, RANK_NOT, 1, PROGRAM_NOT, GROUP_NONE, NULL},
    INFIX("<=", RANK_COMPARE, LESS_EQUAL, NULL),
    INFIX("<", RANK_COMPARE, LESS, NULL),
    INFIX(">=", RANK_COMPARE, GREATER_EQUAL, NULL),
    INFIX(">", RANK_COMPARE, GREATER, NULL),
    INFIX("!=", RANK_COMPARE, UNEQUAL, NULL),
    INFIX("=", RANK_COMPARE, EQUAL, NULL),
    INFIX("+", RANK_SUM, ADD, slope_add),
    INFIX("-", RANK_SUM, SUBTRACT, slope_subtract),
    INFIX("*", RANK_PRODUCT, MULTIPLY, slope_multiply),
    INFIX("/", RANK_PRODUCT, DIVIDE, slope_divide),
    {"-", SYNTAX_PREFIX, RANK_MINUS, 1, PROGRAM_NEGATE, GROUP_NONE, slope_negate},
    INFIX("^", RANK_POWER, POWER, slope_power),
    FUNCTION(min, -2, MIN, GROUP_CHOICE),
    FUNCTION(max, -2, MAX, GROUP_CHOICE),
    FUNCTION(clip, 3, CLIP, GROUP_CHOICE),
    FUNCTION(if, 3, IF, GROUP_CHOICE),
    FUNCTION(abs, 1, ABS, GROUP_SIGN),
    FUNCTION(sign, 1, SIGN, GROUP_SIGN),
    FUNCTION(step, 1, STEP, GROUP_SIGN),
    FUNCTION(floor, 1, FLOOR, GROUP_WHOLE),
    FUNCTION(ceil, 1, CEIL, GROUP_WHOLE),
    FUNCTION(mod, 2, MOD, GROUP_WHOLE),
    FUNCTION(sqrt, 1, SQRT, GROUP_GROWTH),
    FUNCTION(exp, 1, EXP, GROUP_GROWTH),
    FUNCTION(log, 1, LOG, GROUP_GROWTH),
    FUNCTION(sinh, 1, SINH, GROUP_GROWTH),
    FUNCTION(cosh, 1, COSH, GROUP_GROWTH),
    FUNCTION(tanh, 1, TANH, GROUP_GROWTH),
    FUNCTION(sin, 1, SIN, GROUP_ANGLE),
    FUNCTION(cos, 1, COS, GROUP_ANGLE),
    FUNCTION(tan, 1, TAN, GROUP_ANGLE),
    FUNCTION(asin, 1, ASIN, GROUP_ANGLE),
    FUNCTION(acos, 1, ACOS, GROUP_ANGLE),
    FUNCTION(atan, 1, ATAN, GROUP_ANGLE),
    FUNCTION(atan2, 2, ATAN2, GROUP_ANGLE),
    FUNCTION(hypot, 2, HYPOT, GROUP_ANGLE),
};
#undef INFIX
#undef FUNCTION

int expression_operands(const ExpressionOperation *row) { return row->arguments == -2 ? 2 : row->arguments; }

int expression_find_function(const char *name)
{
    for (int i = 0; i < EXPRESSION_OPERATIONS; i++) {
        const ExpressionOperation *row = &expression_operations[i];
        if (row->syntax == SYNTAX_FUNCTION && strcmp(row->text, name) == 0) return i;
    }
    return -1;
}

bool expression_compares_texts(int operation)
{
    const ExpressionOperation *row = &expression_operations[operation];
    return row->program == PROGRAM_EQUAL || row->program == PROGRAM_UNEQUAL;
}

ExpressionRank expression_right_rank(ExpressionRank rank) { return rank == RANK_POWER ? RANK_MINUS : rank + 1; }

// ---- programs -------------------------------------------------------------------------------------------------------

const ExpressionOperation *expression_row(const ExpressionStep *steps, int end)
{
    return &expression_operations[steps[end].operation];
}

int expression_left(const ExpressionStep *steps, int end) { return end - 1 - steps[end - 1].size; }

bool expression_is_name(const ExpressionStep *step)
{
    return step->operation == EXPRESSION_NAME || step->operation == EXPRESSION_TEXT_NAME;
}

double expression_value(const Expression *expression, const double *values)
{
    double stack[EXPRESSION_STACK], *top = stack; // top: behind the last
    const ExpressionStep *const end = expression->steps + expression->count;
    for (const ExpressionStep *step = expression->steps; step < end; step++) {
        const ExpressionOperation *row = &expression_operations[step->operation];
        const int operands = expression_operands(row);
        if (operands == 0) {
            *top++ = expression_is_name(step) ? values[step->index] : step->number;
            continue;
        }
        top -= operands;
        *top = program_value(row->program, top[0], operands > 1 ? top[1] : 0, operands > 2 ? top[2] : 0);
        top++;
    }
    return stack[0];
}

int expression_height(const Expression *expression)
{
    int height = 0, most = 0;
    for (int i = 0; i < expression->count; i++) {
        const ExpressionOperation *row = &expression_operations[expression->steps[i].operation];
        height += 1 - expression_operands(row);
        most = height > most ? height : most;
    }
    return most;
}

// An operand is a column of the caller, or a level of the stack: then that of its own depth.
void expression_values(const Expression *expression, const double *const *columns, int n, double *stack)
{
    const double *operands[EXPRESSION_STACK], **top = operands; // top: behind the last
    const ExpressionStep *const end = expression->steps + expression->count;
    for (const ExpressionStep *step = expression->steps; step < end; step++) {
        const ExpressionOperation *row = &expression_operations[step->operation];
        const int n_operands = expression_operands(row);
        top -= n_operands;
        double *const result = &stack[(top - operands) * n];
        if (n_operands > 0)
            program_rows(row->program, top[0], top[n_operands > 1 ? 1 : 0], top[n_operands > 2 ? 2 : 0], n, result);
        for (int i = 0; i < n && n_operands == 0 && !expression_is_name(step); i++) result[i] = step->number;
        *top++ = expression_is_name(step) ? columns[step->index] : result;
    }
    if (operands[0] != stack) memcpy(stack, operands[0], (size_t)n * sizeof *stack);
}

bool expression_holds(const Expression *expression, const double *values)
{
    return expression_truth(expression_value(expression, values));
}

double expression_slope(const Expression *expression, const double *values, const double *slopes)
{
    double stack[EXPRESSION_STACK], slope[EXPRESSION_STACK];
    int n = 0;
    for (int i = 0; i < expression->count; i++) {
        const ExpressionStep *step = &expression->steps[i];
        const ExpressionOperation *row = &expression_operations[step->operation];
        const int operands = expression_operands(row);
        if (operands == 0) {
            const bool name = expression_is_name(step);
            stack[n] = name ? values[step->index] : step->number;
            slope[n++] = name ? slopes[step->index] : 0.0;
            continue;
        }
        double x[EXPRESSION_OPERANDS] = {0}, dx[EXPRESSION_OPERANDS] = {0};
        n -= operands;
        memcpy(x, &stack[n], (size_t)operands * sizeof *x);
        memcpy(dx, &slope[n], (size_t)operands * sizeof *dx);
        slope[n] = row->slope != NULL ? row->slope(x, dx) : 0.0;
        stack[n++] = program_value(row->program, x[0], x[1], x[2]);
    }
    return slope[0];
}

int64_t expression_cost(const Expression *expression)
{
    enum { FUNCTION = 8 };
    int64_t cost = 0;
    for (int i = 0; i < expression->count; i++) {
        const ExpressionOperation *row = &expression_operations[expression->steps[i].operation];
        cost += row->syntax == SYNTAX_FUNCTION || row->rank == RANK_POWER ? FUNCTION : 1;
    }
    return cost;
}

bool expression_uses(const Expression *expression, int name)
{
    for (int i = 0; i < expression->count; i++) {
        if (expression_is_name(&expression->steps[i]) && expression->steps[i].index == name) return true;
    }
    return false;
}

bool expression_is_table(const ExpressionStep *step)
{
    return step->operation == EXPRESSION_TABLE || step->operation == EXPRESSION_TABLE_OF_TWO;
}

// ---- bounds ---------------------------------------------------------------------------------------------------------

bool expression_constant(const ExpressionStep *steps, int end, double *value)
{
    const int size = steps[end].size;
    const Expression operand = {.steps = &steps[end + 1 - size], .count = size};
    for (int i = 0; i < size; i++) {
        if (expression_is_name(&operand.steps[i]) || expression_is_table(&operand.steps[i])) return false;
    }
    *value = expression_value(&operand, NULL);
    return true;
}

static ExpressionComparison expression_comparison(const ExpressionOperation *row, bool turned)
{
    const bool equal = row->program == PROGRAM_EQUAL, unequal = row->program == PROGRAM_UNEQUAL,
               less = row->program == PROGRAM_LESS || row->program == PROGRAM_LESS_EQUAL;
    return equal ? COMPARES_EQUAL : unequal ? COMPARES_UNEQUAL : less != turned ? COMPARES_BELOW : COMPARES_ABOVE;
}

// The term that ends at step `end`, if it compares a name with a constant.
static void expression_add_bound(const ExpressionStep *steps, int end, ExpressionBound *bounds, int *count)
{
    const int left = expression_left(steps, end), right = end - 1;
    const bool turned = expression_is_name(&steps[right]);
    const int name = turned ? right : left, other = turned ? left : right;
    double value;
    if (!expression_is_name(&steps[name]) || !expression_constant(steps, other, &value)) return;
    bounds[(*count)++] = (ExpressionBound){.name = steps[name].index,
                                           .comparison = expression_comparison(expression_row(steps, end), turned),
                                           .value = value};
}

// Of the terms that `and` joins, from left to right.
static void expression_add_bounds(const ExpressionStep *steps, int end, ExpressionBound *bounds, int *count)
{
    const ExpressionOperation *row = expression_row(steps, end);
    if (row->rank == RANK_AND) {
        expression_add_bounds(steps, expression_left(steps, end), bounds, count);
        expression_add_bounds(steps, end - 1, bounds, count);
    } else if (row->rank == RANK_COMPARE) {
        expression_add_bound(steps, end, bounds, count);
    }
}

const ExpressionBound *expression_bounds(const Expression *expression, Arena *arena, int *count)
{
    ExpressionBound *bounds = ARENA_NEW(arena, ExpressionBound, expression->count);
    *count = 0;
    expression_add_bounds(expression->steps, expression->count - 1, bounds, count);
    return bounds;
}

const char *const *expression_texts(const Expression *expression, Arena *arena, int *count)
{
    const char **texts = ARENA_NEW(arena, const char *, expression->count);
    *count = 0;
    for (int i = 0; i < expression->count; i++) {
        const ExpressionStep *step = &expression->steps[i];
        if (step->operation == EXPRESSION_TEXT && step->number == *count) texts[(*count)++] = step->text;
    }
    return texts;
}
