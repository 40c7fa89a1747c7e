// Constraints: inequalities over metrics and parameters that a trial has to meet. Each becomes a number: <= 0 if the
// inequality is met, else the amount by which it is not:
//     a < b, a <= b   a - b          p and q   the greater of both
//     a > b, a >= b   b - a          p or q    the less of both         not p   the number of p with the other sign
// (the robustness of signal temporal logic with its sign turned: A. Donze & O. Maler, FORMATS 2010, definition 2). The
// greatest value over the replicates counts (objective.c): a trial meets a constraint if every replicate that did not
// fail meets it. A trial's violation is the sum of the values above 0.
#include "../expression/expression.h"

#include <math.h>
#include <string.h>

// ---- one inequality -------------------------------------------------------------------------------------------------

typedef struct ConstraintOperation {
    const char *text;
    bool of_truths; // its operands are inequalities themselves
    double (*combine)(double a, double b);
} ConstraintOperation;

static double constraint_below(double a, double b) { return a - b; }
static double constraint_above(double a, double b) { return b - a; }
static double constraint_both(double a, double b) { return a > b || a != a ? a : b; }
static double constraint_either(double a, double b) { return a < b || b != b ? a : b; }
static double constraint_turned(double a, double b) { return (void)b, -a; }

static const ConstraintOperation constraint_operations[] = {
    {"<", false, constraint_below},   {"<=", false, constraint_below}, {">", false, constraint_above},
    {">=", false, constraint_above},  {"and", true, constraint_both},  {"or", true, constraint_either},
    {"not", true, constraint_turned},
};

static const ConstraintOperation *constraint_operation(const ExpressionStep *steps, int end)
{
    const ExpressionOperation *row = expression_row(steps, end);
    for (size_t i = 0; i < sizeof constraint_operations / sizeof *constraint_operations; i++) {
        const bool infix = row->syntax == SYNTAX_INFIX || row->syntax == SYNTAX_PREFIX;
        if (infix && strcmp(row->text, constraint_operations[i].text) == 0) return &constraint_operations[i];
    }
    return NULL;
}

static bool constraint_has_left(const ExpressionStep *steps, int end)
{
    return expression_row(steps, end)->syntax == SYNTAX_INFIX;
}

static bool constraint_is_one(const ExpressionStep *steps, int end)
{
    const ConstraintOperation *operation = constraint_operation(steps, end);
    if (operation == NULL) return false;
    if (!operation->of_truths) return true;
    return constraint_is_one(steps, end - 1) &&
           (!constraint_has_left(steps, end) || constraint_is_one(steps, expression_left(steps, end)));
}

// The value of the subtree that ends at a step.
static double constraint_number(const ExpressionStep *steps, int end, const double *scope)
{
    const int size = steps[end].size;
    return expression_value(&(Expression){.steps = steps + end + 1 - size, .count = size}, scope);
}

static double constraint_at(const ExpressionStep *steps, int end, const double *scope)
{
    const ConstraintOperation *operation = constraint_operation(steps, end);
    const int left = constraint_has_left(steps, end) ? expression_left(steps, end) : end - 1;
    if (!operation->of_truths)
        return operation->combine(constraint_number(steps, left, scope), constraint_number(steps, end - 1, scope));
    return operation->combine(constraint_at(steps, left, scope), constraint_at(steps, end - 1, scope));
}

bool constraint_is_inequality(const Expression *expression)
{
    return constraint_is_one(expression->steps, expression->count - 1);
}

double constraint_value(const Expression *expression, const double *scope)
{
    return constraint_at(expression->steps, expression->count - 1, scope);
}

// ---- of a trial -----------------------------------------------------------------------------------------------------

double constraints_violation(const double *constraint, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        if (isnan(constraint[i])) return (double)NAN;
        sum += constraint[i] > 0.0 ? constraint[i] : 0.0;
    }
    return sum;
}
