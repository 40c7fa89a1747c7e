// The evaluation of programs (environment_view.h) by kernels: LANES lanes at once, with the results of
// runner/experiment/expression to the bit. Truth is any number but 0; an operation with NaN is NaN, unless the other
// operand of `and` or `or` decides alone.
#ifndef HOPSCOTCH_PROGRAM_H
#define HOPSCOTCH_PROGRAM_H

#include "environment_view.h"
#include "portable_math.h"

HD mask program_is_true(real a) { return MASK(a < 0.0) | MASK(a > 0.0); }
HD real program_truth(mask m) { return select_real(m, splat(1.0), splat(0.0)); }
// The truth value m; NaN if a or b is NaN.
HD real program_known(mask m, real a, real b)
{
    return select_real(MASK(a != a), a, select_real(MASK(b != b), b, program_truth(m)));
}
HD real program_or(real a, real b)
{
    return select_real(program_is_true(a) | program_is_true(b), splat(1.0), program_known(no_lanes(), a, b));
}
HD real program_and(real a, real b)
{
    return select_real(MASK(a == 0.0) | MASK(b == 0.0), splat(0.0), program_known(all_lanes(), a, b));
}

// NaN if a or b is NaN.
HD real program_min(real a, real b)
{
    const real known = select_real(MASK(a < b), a, b);
    return select_real(MASK(a != a), a, select_real(MASK(b != b), b, known));
}
HD real program_max(real a, real b)
{
    const real known = select_real(MASK(a > b), a, b);
    return select_real(MASK(a != a), a, select_real(MASK(b != b), b, known));
}

// a^b: whole exponents up to 16 by multiplication, as expression_power. NaN to any power, and any number to the power
// of NaN, is NaN.
HD real program_power(real a, real b)
{
    enum { POWERS = 16 };
    const mask whole = MASK(absolute(b) <= (double)POWERS) & MASK(math_nearest(b) == b);
    real product = splat(1.0), general = splat(0.0);
    for (int i = 0; i < POWERS && any_lane(whole & MASK(absolute(b) > (double)i)); i++)
        product = select_real(MASK(absolute(b) > (double)i), product * a, product);
    product = select_real(MASK(b < 0.0), 1.0 / product, product);
    if (any_lane(~whole)) general = power(a, b);
    const real known = select_real(whole, product, general);
    return select_real(MASK(a != a) | MASK(b != b), a + b, known);
}

HD real program_of_one(int32_t operation, real a)
{
    switch (operation) {
    case PROGRAM_NOT: return program_known(MASK(a == 0.0), a, a);
    case PROGRAM_NEGATE: return -a;
    case PROGRAM_ABS: return absolute(a);
    case PROGRAM_SQRT: return square_root(a);
    case PROGRAM_EXP: return exponential(a);
    case PROGRAM_LOG: return logarithm(a);
    case PROGRAM_SIN: return sine(a);
    default: return cosine(a); // PROGRAM_COS
    }
}

HD real program_of_two(int32_t operation, real a, real b)
{
    switch (operation) {
    case PROGRAM_OR: return program_or(a, b);
    case PROGRAM_AND: return program_and(a, b);
    case PROGRAM_LESS_EQUAL: return program_known(MASK(a <= b), a, b);
    case PROGRAM_LESS: return program_known(MASK(a < b), a, b);
    case PROGRAM_GREATER_EQUAL: return program_known(MASK(a >= b), a, b);
    case PROGRAM_GREATER: return program_known(MASK(a > b), a, b);
    case PROGRAM_UNEQUAL: return program_known(MASK(a != b), a, b);
    case PROGRAM_EQUAL: return program_known(MASK(a == b), a, b);
    case PROGRAM_ADD: return a + b;
    case PROGRAM_SUBTRACT: return a - b;
    case PROGRAM_MULTIPLY: return a * b;
    case PROGRAM_DIVIDE: return a / b;
    case PROGRAM_POWER: return program_power(a, b);
    case PROGRAM_MIN: return program_min(a, b);
    default: return program_max(a, b); // PROGRAM_MAX
    }
}

HD bool program_takes_one(int32_t operation)
{
    return operation == PROGRAM_NOT || operation == PROGRAM_NEGATE ||
           (operation >= PROGRAM_ABS && operation <= PROGRAM_COS);
}

#endif
