// An expression as steps of a kernel's program.
#include "expression.h"

#include <string.h>

// By the rows of expression_operations: text and, for the two signs that are -, the number of operands.
static const struct {
    const char *text;
    ProgramOperation two, one;
} program_operations[] = {
    {"or", PROGRAM_OR, PROGRAM_OR},          {"and", PROGRAM_AND, PROGRAM_AND},
    {"not", PROGRAM_NOT, PROGRAM_NOT},       {"<=", PROGRAM_LESS_EQUAL, PROGRAM_LESS_EQUAL},
    {"<", PROGRAM_LESS, PROGRAM_LESS},       {">=", PROGRAM_GREATER_EQUAL, PROGRAM_GREATER_EQUAL},
    {">", PROGRAM_GREATER, PROGRAM_GREATER}, {"!=", PROGRAM_UNEQUAL, PROGRAM_UNEQUAL},
    {"=", PROGRAM_EQUAL, PROGRAM_EQUAL},     {"+", PROGRAM_ADD, PROGRAM_ADD},
    {"-", PROGRAM_SUBTRACT, PROGRAM_NEGATE}, {"*", PROGRAM_MULTIPLY, PROGRAM_MULTIPLY},
    {"/", PROGRAM_DIVIDE, PROGRAM_DIVIDE},   {"^", PROGRAM_POWER, PROGRAM_POWER},
    {"min", PROGRAM_MIN, PROGRAM_MIN},       {"max", PROGRAM_MAX, PROGRAM_MAX},
    {"abs", PROGRAM_ABS, PROGRAM_ABS},       {"sqrt", PROGRAM_SQRT, PROGRAM_SQRT},
    {"exp", PROGRAM_EXP, PROGRAM_EXP},       {"log", PROGRAM_LOG, PROGRAM_LOG},
    {"sin", PROGRAM_SIN, PROGRAM_SIN},       {"cos", PROGRAM_COS, PROGRAM_COS},
};
_Static_assert(sizeof program_operations / sizeof *program_operations == EXPRESSION_OPERATIONS - 5,
               "all operations but number, name, text and text name, and - once");

static int32_t program_operation(const ExpressionOperation *row)
{
    for (size_t i = 0; i < sizeof program_operations / sizeof *program_operations; i++) {
        if (strcmp(program_operations[i].text, row->text) != 0) continue;
        return (int32_t)(row->syntax == SYNTAX_PREFIX ? program_operations[i].one : program_operations[i].two);
    }
    return PROGRAM_NUMBER; // texts; not in these expressions
}

static ProgramStep program_name(int index, const ProgramScope *scope)
{
    const int inputs = scope->n_columns + scope->n_parameters;
    if (index < scope->n_columns) return (ProgramStep){.operation = PROGRAM_COLUMN, .index = index};
    if (index < inputs) return (ProgramStep){.operation = PROGRAM_PARAMETER, .index = index - scope->n_columns};
    if (index == inputs) return (ProgramStep){.operation = PROGRAM_FAILED};
    return (ProgramStep){.operation = PROGRAM_DEFINED, .index = index - inputs - 1};
}

int expression_steps(const Expression *expression) { return expression->count; }

void expression_program(const Expression *expression, const ProgramScope *scope, ProgramStep *out)
{
    for (int i = 0; i < expression->count; i++) {
        const ExpressionStep *step = &expression->steps[i];
        if (step->operation == EXPRESSION_NAME)
            out[i] = program_name(step->index, scope);
        else if (step->operation == EXPRESSION_NUMBER)
            out[i] = (ProgramStep){.operation = PROGRAM_NUMBER, .number = step->number};
        else
            out[i] = (ProgramStep){.operation = program_operation(&expression_operations[step->operation])};
    }
}
