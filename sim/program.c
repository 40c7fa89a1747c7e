// The operations of tapes (program.h) on numbers and rows of numbers, for the host.
#include "program.h"
#include "sim.h"

enum { PROGRAM_RUN = 16 }; // rows

static inline __attribute__((always_inline)) double program_of(int operation, double a, double b, double c)
{
    return canonical(operation == PROGRAM_NUMBER      ? math_nan()
                     : program_takes_one(operation)   ? program_of_one(operation, a)
                     : program_takes_three(operation) ? program_of_three(operation, a, b, c)
                                                      : program_of_two(operation, a, b));
}

// Each operation, on numbers and on a run of rows. The run has a fixed length, and the result overlaps no operand: then
// gcc makes vectors of it at -O2 too.
#define PROGRAM_FUNCTIONS(name)                                                                                        \
    static double program_value_##name(double a, double b, double c) { return program_of(PROGRAM_##name, a, b, c); }   \
    static void program_run_##name(const double *a, const double *b, const double *c, double *restrict out)            \
    {                                                                                                                  \
        for (int k = 0; k < PROGRAM_RUN; k++) out[k] = program_of(PROGRAM_##name, a[k], b[k], c[k]);                   \
    }
PROGRAM_OPERATIONS(PROGRAM_FUNCTIONS)
#undef PROGRAM_FUNCTIONS

static const struct ProgramFunctions {
    double (*value)(double a, double b, double c);
    void (*run)(const double *a, const double *b, const double *c, double *restrict out);
} program_functions[] = {
#define PROGRAM_FUNCTIONS(name) [PROGRAM_##name] = {program_value_##name, program_run_##name},
    PROGRAM_OPERATIONS(PROGRAM_FUNCTIONS)
#undef PROGRAM_FUNCTIONS
};

double program_value(ProgramOperation operation, double a, double b, double c)
{
    return program_functions[operation].value(a, b, c);
}

void program_rows(ProgramOperation operation, const double *a, const double *b, const double *c, int n, double *out)
{
    const struct ProgramFunctions *functions = &program_functions[operation];
    int i = 0;
    for (; i + PROGRAM_RUN <= n; i += PROGRAM_RUN) {
        double run[PROGRAM_RUN];
        functions->run(a + i, b + i, c + i, run);
        memcpy(out + i, run, sizeof run);
    }
    for (; i < n; i++) out[i] = functions->value(a[i], b[i], c[i]);
}
