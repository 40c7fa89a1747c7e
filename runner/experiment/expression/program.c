// An expression as steps of a kernel's program.
#include "expression.h"

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
            out[i] = (ProgramStep){.operation = (int32_t)expression_row(expression->steps, i)->program};
    }
}
