// Expressions: what objectives, constraints, `derive`, `exclude` and `--where` are written in. This file has the
// operations, one row each, and the evaluation of programs made of them.
//
// Truth is any number but 0; that of NaN is not known. An operation with a NaN is NaN, unless the other operand of
// `and` or `or` decides alone (0 and NaN is 0, 1 or NaN is 1). SQL does the same with NULL (sql.c).
#include "expression.h"

#include <math.h>
#include <string.h>

enum {
    EXPRESSION_STACK = 512, // a level of nesting holds at most one operand of each of 7 ranks
    EXPRESSION_POWERS = 16  // integer exponents up to this are repeated multiplication
};

// ---- operations -----------------------------------------------------------------------------------------------------

static bool expression_truth(double a) { return a < 0 || a > 0; }

// `truth` of a and b; NaN if one of them is.
static double expression_known(double a, double b, bool truth) { return a != a ? a : b != b ? b : truth; }

static double expression_or(double a, double b)
{
    return expression_truth(a) || expression_truth(b) ? 1 : expression_known(a, b, false);
}
static double expression_and(double a, double b) { return a == 0 || b == 0 ? 0 : expression_known(a, b, true); }
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

const ExpressionOperation expression_operations[EXPRESSION_OPERATIONS] = {
    {"number", SYNTAX_NUMBER, RANK_ATOM, 0, NULL, NULL, NULL},
    {"name", SYNTAX_NAME, RANK_ATOM, 0, NULL, NULL, NULL},
    {"text", SYNTAX_TEXT, RANK_ATOM, 0, NULL, NULL, NULL},
    {"text name", SYNTAX_TEXT_NAME, RANK_ATOM, 0, NULL, NULL, NULL},
    {"or", SYNTAX_INFIX, RANK_OR, 2, expression_or, " OR ", NULL},
    {"and", SYNTAX_INFIX, RANK_AND, 2, expression_and, " AND ", NULL},
    {"not", SYNTAX_PREFIX, RANK_NOT, 1, expression_not, NULL, NULL},
    {"<=", SYNTAX_INFIX, RANK_COMPARE, 2, expression_less_equal, " <= ", NULL},
    {"<", SYNTAX_INFIX, RANK_COMPARE, 2, expression_less, " < ", NULL},
    {">=", SYNTAX_INFIX, RANK_COMPARE, 2, expression_greater_equal, " >= ", NULL},
    {">", SYNTAX_INFIX, RANK_COMPARE, 2, expression_greater, " > ", NULL},
    {"!=", SYNTAX_INFIX, RANK_COMPARE, 2, expression_unequal, " <> ", NULL},
    {"=", SYNTAX_INFIX, RANK_COMPARE, 2, expression_equal, " = ", NULL},
    {"+", SYNTAX_INFIX, RANK_SUM, 2, expression_add, " + ", slope_add},
    {"-", SYNTAX_INFIX, RANK_SUM, 2, expression_subtract, " - ", slope_subtract},
    {"*", SYNTAX_INFIX, RANK_PRODUCT, 2, expression_multiply, " * ", slope_multiply},
    {"/", SYNTAX_INFIX, RANK_PRODUCT, 2, expression_divide, " * 1.0 / ", slope_divide}, // integers divide as reals
    {"-", SYNTAX_PREFIX, RANK_MINUS, 1, expression_negate, "-", slope_negate},
    {"^", SYNTAX_INFIX, RANK_POWER, 2, expression_power, "pow", slope_power},
    {"min", SYNTAX_FUNCTION, RANK_ATOM, -2, expression_min, "min", slope_min},
    {"max", SYNTAX_FUNCTION, RANK_ATOM, -2, expression_max, "max", slope_max},
    {"abs", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_abs, "abs", slope_abs},
    {"sqrt", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_sqrt, "sqrt", slope_sqrt},
    {"exp", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_exp, "exp", slope_exp},
    {"log", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_log, "ln", slope_log}, // SQL's log is to the base of 10
    {"sin", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_sin, "sin", slope_sin},
    {"cos", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_cos, "cos", slope_cos},
};

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

double expression_value(const Expression *expression, const double *values)
{
    double stack[EXPRESSION_STACK], *top = stack; // top: behind the last
    const ExpressionStep *const end = expression->steps + expression->count;
    for (const ExpressionStep *step = expression->steps; step < end; step++) {
        const ExpressionOperation *row = &expression_operations[step->operation];
        if (step->operation == EXPRESSION_NAME) {
            *top++ = values[step->index];
        } else if (step->operation == EXPRESSION_NUMBER) {
            *top++ = step->number;
        } else if (row->apply == NULL) {
            *top++ = NAN; // texts have no value outside SQL
        } else if (row->arguments == 1) {
            top[-1] = row->apply(top[-1], 0);
        } else {
            top--;
            top[-1] = row->apply(top[-1], top[0]);
        }
    }
    return stack[0];
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
        const bool name = step->operation == EXPRESSION_NAME, number = step->operation == EXPRESSION_NUMBER;
        if (row->apply == NULL) {
            stack[n] = name ? values[step->index] : number ? step->number : (double)NAN;
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
        if (expression->steps[i].operation == EXPRESSION_NAME && expression->steps[i].index == name) return true;
    }
    return false;
}

// ---- names ----------------------------------------------------------------------------------------------------------

// What a comparison says of its name, from the most that an index can use to the least.
typedef enum ExpressionBound { BOUND_EQUAL, BOUND_RANGE, BOUND_NONE } ExpressionBound;

typedef struct ExpressionNames {
    const ExpressionStep *steps;
    const char **names; // [count]
    int count;
} ExpressionNames;

static bool expression_is_name(const ExpressionStep *step)
{
    return step->operation == EXPRESSION_NAME || step->operation == EXPRESSION_TEXT_NAME;
}

static bool expression_is_constant(const ExpressionStep *step)
{
    return step->operation == EXPRESSION_NUMBER || step->operation == EXPRESSION_TEXT;
}

static void expression_add_name(ExpressionNames *names, const char *name)
{
    for (int i = 0; i < names->count; i++) {
        if (strcmp(names->names[i], name) == 0) return;
    }
    names->names[names->count++] = name;
}

// The comparison of a name with a constant that ends at step `end`.
static void expression_add_compared(ExpressionNames *names, int end, ExpressionBound bound)
{
    const ExpressionOperation *row = expression_row(names->steps, end);
    const ExpressionStep *left = &names->steps[expression_left(names->steps, end)], *right = &names->steps[end - 1];
    const bool equal = row->apply == expression_equal;
    if (equal != (bound == BOUND_EQUAL) || row->apply == expression_unequal) return;
    if (expression_is_name(left) && expression_is_constant(right)) expression_add_name(names, left->text);
    if (expression_is_name(right) && expression_is_constant(left)) expression_add_name(names, right->text);
}

// Of the terms that `and` joins, from left to right.
static void expression_add_terms(ExpressionNames *names, int end, ExpressionBound bound)
{
    const ExpressionOperation *row = expression_row(names->steps, end);
    if (row->rank == RANK_AND) {
        expression_add_terms(names, expression_left(names->steps, end), bound);
        expression_add_terms(names, end - 1, bound);
    } else if (row->rank == RANK_COMPARE) {
        expression_add_compared(names, end, bound);
    }
}

const char *const *expression_used_names(const Expression *expression, Arena *arena, int *count)
{
    ExpressionNames names = {.steps = expression->steps,
                             .names = ARENA_NEW(arena, const char *, expression->count + 1)};
    for (ExpressionBound bound = BOUND_EQUAL; bound < BOUND_NONE; bound++)
        expression_add_terms(&names, expression->count - 1, bound);
    for (int i = 0; i < expression->count; i++) {
        if (expression_is_name(&expression->steps[i])) expression_add_name(&names, expression->steps[i].text);
    }
    *count = names.count;
    return names.names;
}
