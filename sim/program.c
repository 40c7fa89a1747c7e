// Programs (environment_view.h), as the host looks at them.
#include "sim.h"

int program_operands(int operation)
{
    if (operation <= PROGRAM_FAILED) return 0;
    const bool one = operation == PROGRAM_NOT || operation == PROGRAM_NEGATE || operation >= PROGRAM_DEFINE ||
                     (operation >= PROGRAM_ABS && operation <= PROGRAM_STEP);
    return one ? 1 : operation == PROGRAM_CLIP || operation == PROGRAM_IF ? 3 : 2;
}

Error program_check_stack(const ProgramStep *program, int steps)
{
    int depth = 0, most = 0;
    for (int k = 0; k < steps; k++) {
        const int operation = program[k].operation;
        depth += operation >= PROGRAM_DEFINE ? -1 : 1 - program_operands(operation);
        if (depth > most) most = depth;
    }
    if (most <= PROGRAM_STACK) return error_none();
    return error_make(ERROR_USER,
                      "an expression of `environment` nests too deeply: write subexpressions as definitions "
                      "in environment.define");
}
