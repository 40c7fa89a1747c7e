// Expressions: what objectives, constraints, `derive`, `exclude` and `--where` are written in. This file has the
// operations, one row each, and the evaluation of programs of them.
//
// Truth is any number but 0; that of NaN is not known. An operation with a NaN is NaN, unless the other operand of
// `and` or `or` decides alone (0 and NaN is 0, 1 or NaN is 1). SQL does the same with NULL (sql.c).
#include "expression.h"

#include <math.h>
#include <string.h>

enum {
    EXPRESSION_POWERS = 16, // integer exponents up to this are repeated multiplication
    EXPRESSION_RUN = 16     // rows
};

// ---- operations -----------------------------------------------------------------------------------------------------

static bool expression_truth(double a) { return a < 0 || a > 0; }

// `truth` of a and b; NaN if one of them is. This and the comparisons have no branch: compilers make vectors of them.
static double expression_known(double a, double b, bool truth)
{
    return ((a != a) | (b != b)) ? (double)NAN : truth ? 1.0 : 0.0;
}

static double expression_or(double a, double b)
{
    return ((a < 0) | (a > 0) | (b < 0) | (b > 0)) ? 1.0 : expression_known(a, b, false);
}
static double expression_and(double a, double b) { return ((a == 0) | (b == 0)) ? 0.0 : expression_known(a, b, true); }
static double expression_min(double a, double b) { return a != a ? a : b != b ? b : a < b ? a : b; }
static double expression_max(double a, double b) { return a != a ? a : b != b ? b : a > b ? a : b; }
static double expression_sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a == 0 ? 0.0 : a; }
static double expression_step(double a) { return a != a ? a : a < 0 ? 0.0 : 1.0; }
// NaN also where the other side is infinite, unlike C's.
static double expression_hypot(double a, double b) { return a != a ? a : b != b ? b : portable_hypot(a, b); }
static double expression_if(double a, double b, double c) { return a != a ? a : expression_truth(a) ? b : c; }

// NaN to any power, and any number to the power of NaN, is NaN here, also where IEEE 754 says 1.
static double expression_power(double a, double b)
{
    if (a != a || b != b) return a + b;
    if (fabs(b) > EXPRESSION_POWERS || b != (double)(int)b) return portable_pow(a, b);
    double product = 1;
    for (int i = (int)fabs(b); i > 0; i--) product *= a;
    return b < 0 ? 1 / product : product;
}

// Each operation, on numbers and on rows. The runs of rows have a fixed length, and a result of their own that overlaps
// no operand: then gcc makes vectors of them at -O2 too.
#define EXPRESSION_APPLY(name, value)                                                                                  \
    static double apply_##name(double a, double b, double c)                                                           \
    {                                                                                                                  \
        (void)a, (void)b, (void)c;                                                                                     \
        return value;                                                                                                  \
    }                                                                                                                  \
    static void apply_##name##_rows(const double *a, const double *b, const double *c, int n, double *out)             \
    {                                                                                                                  \
        int i = 0;                                                                                                     \
        for (; i + EXPRESSION_RUN <= n; i += EXPRESSION_RUN) {                                                         \
            double run[EXPRESSION_RUN];                                                                                \
            for (int k = 0; k < EXPRESSION_RUN; k++) run[k] = apply_##name(a[i + k], b[i + k], c[i + k]);              \
            memcpy(out + i, run, sizeof run);                                                                          \
        }                                                                                                              \
        for (; i < n; i++) out[i] = apply_##name(a[i], b[i], c[i]);                                                    \
    }
EXPRESSION_APPLY(or, expression_or(a, b))
EXPRESSION_APPLY(and, expression_and(a, b))
EXPRESSION_APPLY(not, expression_known(a, a, a == 0))
EXPRESSION_APPLY(less, expression_known(a, b, a < b))
EXPRESSION_APPLY(less_equal, expression_known(a, b, a <= b))
EXPRESSION_APPLY(greater, expression_known(a, b, a > b))
EXPRESSION_APPLY(greater_equal, expression_known(a, b, a >= b))
EXPRESSION_APPLY(equal, expression_known(a, b, a == b))
EXPRESSION_APPLY(unequal, expression_known(a, b, a != b))
EXPRESSION_APPLY(add, a + b)
EXPRESSION_APPLY(subtract, a - b)
EXPRESSION_APPLY(multiply, a *b)
EXPRESSION_APPLY(divide, a / b)
EXPRESSION_APPLY(negate, -a)
EXPRESSION_APPLY(power, expression_power(a, b))
EXPRESSION_APPLY(min, expression_min(a, b))
EXPRESSION_APPLY(max, expression_max(a, b))
EXPRESSION_APPLY(clip, expression_min(expression_max(a, b), c))
EXPRESSION_APPLY(abs, fabs(a))
EXPRESSION_APPLY(sign, expression_sign(a))
EXPRESSION_APPLY(step, expression_step(a))
EXPRESSION_APPLY(if, expression_if(a, b, c))
EXPRESSION_APPLY(sqrt, sqrt(a))
EXPRESSION_APPLY(exp, portable_exp(a))
EXPRESSION_APPLY(log, portable_log(a))
EXPRESSION_APPLY(hypot, expression_hypot(a, b))
EXPRESSION_APPLY(sin, portable_sin(a))
EXPRESSION_APPLY(cos, portable_cos(a))
EXPRESSION_APPLY(tan, portable_tan(a))
EXPRESSION_APPLY(asin, portable_asin(a))
EXPRESSION_APPLY(acos, portable_acos(a))
EXPRESSION_APPLY(atan, portable_atan(a))
EXPRESSION_APPLY(atan2, portable_atan2(a, b))
EXPRESSION_APPLY(sinh, portable_sinh(a))
EXPRESSION_APPLY(cosh, portable_cosh(a))
EXPRESSION_APPLY(tanh, portable_tanh(a))
EXPRESSION_APPLY(floor, portable_floor(a))
EXPRESSION_APPLY(ceil, portable_ceil(a))
EXPRESSION_APPLY(mod, portable_mod(a, b))
EXPRESSION_APPLY(table, (double)NAN) // only a tape knows its numbers
#undef EXPRESSION_APPLY

// Derivatives at x along dx. Where min, max, clip and if bend or jump: that of the operand that apply takes; abs: 0.
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
EXPRESSION_SLOPE(min, expression_min(a, b) == a ? da : db)
EXPRESSION_SLOPE(max, expression_max(a, b) == a ? da : db)
EXPRESSION_SLOPE(clip, expression_min(expression_max(a, b), c) == a ? da : expression_max(a, b) < c ? db : dc)
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
    const double by_base = da == 0 || b == 0 ? 0 : da * b * expression_power(a, b - 1);
    return db == 0 ? by_base : by_base + db * expression_power(a, b) * portable_log(a);
}

// At the origin 0, as of abs.
static double slope_hypot(const double *x, const double *dx)
{
    const double length = expression_hypot(x[0], x[1]);
    return length == 0 ? 0 : x[0] / length * dx[0] + x[1] / length * dx[1];
}

static double slope_atan2(const double *x, const double *dx)
{
    const double length = expression_hypot(x[0], x[1]);
    return (x[1] / length * dx[0] - x[0] / length * dx[1]) / length;
}

// mod(a, b) = a - n b, n = floor(a/b)
static double slope_mod(const double *x, const double *dx)
{
    const double n = rint((x[0] - portable_mod(x[0], x[1])) / x[1]);
    return dx[1] == 0 ? dx[0] : dx[0] - n * dx[1];
}

#define APPLY(name) apply_##name, apply_##name##_rows
#define INFIX(text, rank, name, program, slope)                                                                        \
    {                                                                                                                  \
        text, SYNTAX_INFIX, rank, 2, PROGRAM_##program, GROUP_NONE, APPLY(name), slope                                 \
    }
#define FUNCTION(name, arguments, program, group)                                                                      \
    {                                                                                                                  \
        .text = #name, SYNTAX_FUNCTION, RANK_ATOM, arguments, PROGRAM_##program, group, APPLY(name), slope_##name      \
    }
const ExpressionOperation expression_operations[EXPRESSION_OPERATIONS] = {
    {"number", SYNTAX_NUMBER, RANK_ATOM, 0, PROGRAM_NUMBER, GROUP_NONE, NULL, NULL, NULL},
    {"name", SYNTAX_NAME, RANK_ATOM, 0, PROGRAM_NUMBER, GROUP_NONE, NULL, NULL, NULL}, // program_name
    {"text", SYNTAX_TEXT, RANK_ATOM, 0, PROGRAM_NUMBER, GROUP_NONE, NULL, NULL, NULL}, // not in programs
    {"text name", SYNTAX_TEXT_NAME, RANK_ATOM, 0, PROGRAM_NUMBER, GROUP_NONE, NULL, NULL, NULL},
    {"table", SYNTAX_TABLE, RANK_ATOM, 1, PROGRAM_NUMBER, GROUP_NONE, APPLY(table), NULL},
    {"table", SYNTAX_TABLE, RANK_ATOM, 2, PROGRAM_NUMBER, GROUP_NONE, APPLY(table), NULL},
    INFIX("or", RANK_OR, or, OR, NULL),
    INFIX("and", RANK_AND, and, AND, NULL),
    {"not", SYNTAX_PREFIX, RANK_NOT, 1, PROGRAM_NOT, GROUP_NONE, APPLY(not ), NULL},
    INFIX("<=", RANK_COMPARE, less_equal, LESS_EQUAL, NULL),
    INFIX("<", RANK_COMPARE, less, LESS, NULL),
    INFIX(">=", RANK_COMPARE, greater_equal, GREATER_EQUAL, NULL),
    INFIX(">", RANK_COMPARE, greater, GREATER, NULL),
    INFIX("!=", RANK_COMPARE, unequal, UNEQUAL, NULL),
    INFIX("=", RANK_COMPARE, equal, EQUAL, NULL),
    INFIX("+", RANK_SUM, add, ADD, slope_add),
    INFIX("-", RANK_SUM, subtract, SUBTRACT, slope_subtract),
    INFIX("*", RANK_PRODUCT, multiply, MULTIPLY, slope_multiply),
    INFIX("/", RANK_PRODUCT, divide, DIVIDE, slope_divide),
    {"-", SYNTAX_PREFIX, RANK_MINUS, 1, PROGRAM_NEGATE, GROUP_NONE, APPLY(negate), slope_negate},
    INFIX("^", RANK_POWER, power, POWER, slope_power),
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
#undef APPLY
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
    return row->apply == apply_equal || row->apply == apply_unequal;
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
        if (row->apply == NULL) {
            *top++ = expression_is_name(step) ? values[step->index] : step->number;
            continue;
        }
        const int operands = expression_operands(row);
        top -= operands;
        *top = row->apply(top[0], operands > 1 ? top[1] : 0, operands > 2 ? top[2] : 0);
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
        if (row->apply != NULL)
            row->apply_rows(top[0], top[n_operands > 1 ? 1 : 0], top[n_operands > 2 ? 2 : 0], n, result);
        for (int i = 0; i < n && row->apply == NULL && !expression_is_name(step); i++) result[i] = step->number;
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
        if (row->apply == NULL) {
            const bool name = expression_is_name(step);
            stack[n] = name ? values[step->index] : step->number;
            slope[n++] = name ? slopes[step->index] : 0.0;
            continue;
        }
        const int operands = expression_operands(row);
        double x[EXPRESSION_OPERANDS] = {0}, dx[EXPRESSION_OPERANDS] = {0};
        n -= operands;
        memcpy(x, &stack[n], (size_t)operands * sizeof *x);
        memcpy(dx, &slope[n], (size_t)operands * sizeof *dx);
        slope[n] = row->slope != NULL ? row->slope(x, dx) : 0.0;
        stack[n++] = row->apply(x[0], x[1], x[2]);
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
    const Expression operand = {&steps[end + 1 - size], size};
    for (int i = 0; i < size; i++) {
        if (expression_is_name(&operand.steps[i]) || expression_is_table(&operand.steps[i])) return false;
    }
    *value = expression_value(&operand, NULL);
    return true;
}

static ExpressionComparison expression_comparison(const ExpressionOperation *row, bool turned)
{
    const bool equal = row->apply == apply_equal, unequal = row->apply == apply_unequal,
               less = row->apply == apply_less || row->apply == apply_less_equal;
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
