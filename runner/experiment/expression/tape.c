// An expression as a value of a tape.
#include "expression.h"

TapeValue expression_tape(const Expression *expression, const ExpressionTape *to)
{
    TapeValue stack[EXPRESSION_STACK];
    int n = 0;
    bool missing = false;
    for (int i = 0; i < expression->count; i++) {
        const ExpressionStep *step = &expression->steps[i];
        const ExpressionOperation *row = expression_row(expression->steps, i);
        if (step->operation == EXPRESSION_NUMBER || step->operation == EXPRESSION_NAME) {
            const bool name = step->operation == EXPRESSION_NAME;
            const TapeValue value = name ? to->name(to->of, step->index) : TAPE_NONE;
            missing |= name && value == TAPE_NONE;
            stack[n++] = value != TAPE_NONE ? value : tape_number(to->tape, name ? 1.0 : step->number);
            continue;
        }
        const int operands = expression_operands(row);
        n -= operands;
        const TapeValue a = stack[n], b = operands > 1 ? stack[n + 1] : TAPE_NONE,
                        c = operands > 2 ? stack[n + 2] : TAPE_NONE;
        const TapeValue own = to->operation != NULL ? to->operation(to->of, step, a, b) : TAPE_NONE;
        stack[n++] = own != TAPE_NONE ? own : tape_operation(to->tape, (int)row->program, a, b, c);
    }
    return missing ? TAPE_NONE : stack[0];
}
