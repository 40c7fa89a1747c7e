// Expressions: what objectives, constraints, `derive`, `exclude` and `--where` are written in. This file has the
// operations, one row each, and the evaluation of programs of them.
//
// Truth is any number but 0; that of NaN is not known. An operation with a NaN is NaN, unless the other operand of
// `and` or `or` decides alone (0 and NaN is 0, 1 or NaN is 1). SQL does the same with NULL (sql.c).
#include "expression.h"

#include <math.h>
#include <string.h>

enum {
    EXPRESSION_STACK = 512, // a level of nesting holds at most one operand of each of 7 ranks
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
static double expression_not(double a, double b) { return expression_known(a, b, a == 0); }
static double expression_less(double a, double b) { return expression_known(a, b, a < b); }
static double expression_less_equal(double a, double b) { return expression_known(a, b, a <= b); }
static double expression_greater(double a, double b) { return expression_known(a, b, a > b); }
static double expression_greater_equal(double a, double b) { return expression_known(a, b, a >= b); }
static double expression_equal(double a, double b) { return expression_known(a, b, a == b); }
static double expression_unequal(double a, double b) { return expression_known(a, b, a != b); }
static double expression_add(double a, double b) { return a + b; }
static double expression_subtract(double a, double b) { return a - b; }
static double expression_multiply(double a, double b) { return a * b; }
static double expression_divide(double a, double b) { return a / b; }
static double expression_negate(double a, double b) { return (void)b, -a; }
static double expression_min(double a, double b) { return a != a ? a : b != b ? b : a < b ? a : b; }
static double expression_max(double a, double b) { return a != a ? a : b != b ? b : a > b ? a : b; }
static double expression_abs(double a, double b) { return (void)b, fabs(a); }
static double expression_sqrt(double a, double b) { return (void)b, sqrt(a); }
static double expression_exp(double a, double b) { return (void)b, portable_exp(a); }
static double expression_log(double a, double b) { return (void)b, portable_log(a); }
static double expression_sin(double a, double b) { return (void)b, portable_sin(a); }
static double expression_cos(double a, double b) { return (void)b, portable_cos(a); }

// NaN to any power, and any number to the power of NaN, is NaN here, also where IEEE 754 says 1.
static double expression_power(double a, double b)
{
    if (a != a || b != b) return a + b;
    if (fabs(b) > EXPRESSION_POWERS || b != (double)(int)b) return portable_pow(a, b);
    double product = 1;
    for (int i = (int)fabs(b); i > 0; i--) product *= a;
    return b < 0 ? 1 / product : product;
}

// Each operation on rows. The runs have a fixed length, and a result of their own that overlaps no operand: then gcc
// makes vectors of them at -O2 too.
#define EXPRESSION_ROWS(name)                                                                                          \
    static void name##_rows(const double *a, const double *b, int n, double *out)                                      \
    {                                                                                                                  \
        int i = 0;                                                                                                     \
        for (; i + EXPRESSION_RUN <= n; i += EXPRESSION_RUN) {                                                         \
            double run[EXPRESSION_RUN];                                                                                \
            for (int k = 0; k < EXPRESSION_RUN; k++) run[k] = name(a[i + k], b[i + k]);                                \
            memcpy(out + i, run, sizeof run);                                                                          \
        }                                                                                                              \
        for (; i < n; i++) out[i] = name(a[i], b[i]);                                                                  \
    }
EXPRESSION_ROWS(expression_or)
EXPRESSION_ROWS(expression_and)
EXPRESSION_ROWS(expression_not)
EXPRESSION_ROWS(expression_less)
EXPRESSION_ROWS(expression_less_equal)
EXPRESSION_ROWS(expression_greater)
EXPRESSION_ROWS(expression_greater_equal)
EXPRESSION_ROWS(expression_equal)
EXPRESSION_ROWS(expression_unequal)
EXPRESSION_ROWS(expression_add)
EXPRESSION_ROWS(expression_subtract)
EXPRESSION_ROWS(expression_multiply)
EXPRESSION_ROWS(expression_divide)
EXPRESSION_ROWS(expression_negate)
EXPRESSION_ROWS(expression_min)
EXPRESSION_ROWS(expression_max)
EXPRESSION_ROWS(expression_abs)
EXPRESSION_ROWS(expression_sqrt)
EXPRESSION_ROWS(expression_exp)
EXPRESSION_ROWS(expression_log)
EXPRESSION_ROWS(expression_sin)
EXPRESSION_ROWS(expression_cos)
EXPRESSION_ROWS(expression_power)
#undef EXPRESSION_ROWS

// Derivatives along (da, db). Of min, max and abs where they bend: that of the operand that apply takes, and 0. NaN
// where there is none.
#define EXPRESSION_SLOPE(name, value)                                                                                  \
    static double slope_##name(double a, double b, double da, double db)                                               \
    {                                                                                                                  \
        (void)a, (void)b, (void)da, (void)db;                                                                          \
        return value;                                                                                                  \
    }
EXPRESSION_SLOPE(add, da + db)
EXPRESSION_SLOPE(subtract, da - db)
EXPRESSION_SLOPE(multiply, da *b + a * db)
EXPRESSION_SLOPE(divide, (da - a / b * db) / b)
EXPRESSION_SLOPE(negate, -da)
EXPRESSION_SLOPE(min, expression_min(a, b) == a ? da : db)
EXPRESSION_SLOPE(max, expression_max(a, b) == a ? da : db)
EXPRESSION_SLOPE(abs, a > 0 ? da : a < 0 ? -da : a * da)
EXPRESSION_SLOPE(sqrt, da == 0 ? 0 : da / (2 * sqrt(a)))
EXPRESSION_SLOPE(exp, da *portable_exp(a))
EXPRESSION_SLOPE(log, da / a)
EXPRESSION_SLOPE(sin, da *portable_cos(a))
EXPRESSION_SLOPE(cos, -(da *portable_sin(a)))
#undef EXPRESSION_SLOPE

static double slope_power(double a, double b, double da, double db)
{
    const double by_base = da == 0 || b == 0 ? 0 : da * b * expression_power(a, b - 1);
    return db == 0 ? by_base : by_base + db * expression_power(a, b) * portable_log(a);
}

// The operation on a pair of numbers, and on rows of pairs.
#define APPLY(name) expression_##name, expression_##name##_rows
const ExpressionOperation expression_operations[EXPRESSION_OPERATIONS] = {
    {"number", SYNTAX_NUMBER, RANK_ATOM, 0, NULL, NULL, NULL},
    {"name", SYNTAX_NAME, RANK_ATOM, 0, NULL, NULL, NULL},
    {"text", SYNTAX_TEXT, RANK_ATOM, 0, NULL, NULL, NULL},
    {"text name", SYNTAX_TEXT_NAME, RANK_ATOM, 0, NULL, NULL, NULL},
    {"or", SYNTAX_INFIX, RANK_OR, 2, APPLY(or), NULL},
    {"and", SYNTAX_INFIX, RANK_AND, 2, APPLY(and), NULL},
    {"not", SYNTAX_PREFIX, RANK_NOT, 1, APPLY(not ), NULL},
    {"<=", SYNTAX_INFIX, RANK_COMPARE, 2, APPLY(less_equal), NULL},
    {"<", SYNTAX_INFIX, RANK_COMPARE, 2, APPLY(less), NULL},
    {">=", SYNTAX_INFIX, RANK_COMPARE, 2, APPLY(greater_equal), NULL},
    {">", SYNTAX_INFIX, RANK_COMPARE, 2, APPLY(greater), NULL},
    {"!=", SYNTAX_INFIX, RANK_COMPARE, 2, APPLY(unequal), NULL},
    {"=", SYNTAX_INFIX, RANK_COMPARE, 2, APPLY(equal), NULL},
    {"+", SYNTAX_INFIX, RANK_SUM, 2, APPLY(add), slope_add},
    {"-", SYNTAX_INFIX, RANK_SUM, 2, APPLY(subtract), slope_subtract},
    {"*", SYNTAX_INFIX, RANK_PRODUCT, 2, APPLY(multiply), slope_multiply},
    {"/", SYNTAX_INFIX, RANK_PRODUCT, 2, APPLY(divide), slope_divide},
    {"-", SYNTAX_PREFIX, RANK_MINUS, 1, APPLY(negate), slope_negate},
    {"^", SYNTAX_INFIX, RANK_POWER, 2, APPLY(power), slope_power},
    {"min", SYNTAX_FUNCTION, RANK_ATOM, -2, APPLY(min), slope_min},
    {"max", SYNTAX_FUNCTION, RANK_ATOM, -2, APPLY(max), slope_max},
    {"abs", SYNTAX_FUNCTION, RANK_ATOM, 1, APPLY(abs), slope_abs},
    {"sqrt", SYNTAX_FUNCTION, RANK_ATOM, 1, APPLY(sqrt), slope_sqrt},
    {"exp", SYNTAX_FUNCTION, RANK_ATOM, 1, APPLY(exp), slope_exp},
    {"log", SYNTAX_FUNCTION, RANK_ATOM, 1, APPLY(log), slope_log},
    {"sin", SYNTAX_FUNCTION, RANK_ATOM, 1, APPLY(sin), slope_sin},
    {"cos", SYNTAX_FUNCTION, RANK_ATOM, 1, APPLY(cos), slope_cos},
};
#undef APPLY

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
    return row->apply == expression_equal || row->apply == expression_unequal;
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
        } else if (row->arguments == 1) {
            top[-1] = row->apply(top[-1], 0);
        } else {
            top--;
            top[-1] = row->apply(top[-1], top[0]);
        }
    }
    return stack[0];
}

int expression_height(const Expression *expression)
{
    int height = 0, most = 0;
    for (int i = 0; i < expression->count; i++) {
        const ExpressionOperation *row = &expression_operations[expression->steps[i].operation];
        height += row->apply == NULL ? 1 : row->arguments == 1 ? 0 : -1;
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
        const bool one = row->arguments == 1;
        if (row->apply != NULL && !one) top--;
        const int64_t level = top - operands - (row->apply != NULL);
        double *const result = &stack[level * n];
        if (row->apply != NULL) {
            row->apply_rows(top[-1], one ? top[-1] : top[0], n, result);
        } else {
            top++;
            for (int i = 0; i < n && !expression_is_name(step); i++) result[i] = step->number;
        }
        top[-1] = row->apply == NULL && expression_is_name(step) ? columns[step->index] : result;
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
        n -= row->arguments == 1 ? 1 : 2;
        const double a = stack[n], b = row->arguments == 1 ? 0 : stack[n + 1];
        const double db = row->arguments == 1 ? 0 : slope[n + 1];
        slope[n] = row->slope != NULL ? row->slope(a, b, slope[n], db) : 0.0;
        stack[n++] = row->apply(a, b);
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

// ---- bounds ---------------------------------------------------------------------------------------------------------

bool expression_constant(const ExpressionStep *steps, int end, double *value)
{
    const int size = steps[end].size;
    const Expression operand = {&steps[end + 1 - size], size};
    for (int i = 0; i < size; i++) {
        if (expression_is_name(&operand.steps[i])) return false;
    }
    *value = expression_value(&operand, NULL);
    return true;
}

static ExpressionComparison expression_comparison(const ExpressionOperation *row, bool turned)
{
    const bool equal = row->apply == expression_equal, unequal = row->apply == expression_unequal,
               less = row->apply == expression_less || row->apply == expression_less_equal;
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
