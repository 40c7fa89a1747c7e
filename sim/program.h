// The operations of tapes (tape_view.h) in kernels: LANES lanes at once, with the results of
// runner/experiment/expression to the bit. Truth is any number but 0; an operation with NaN is NaN, unless the other
// operand of `and` or `or` decides alone.
#ifndef HOPSCOTCH_PROGRAM_H
#define HOPSCOTCH_PROGRAM_H

#include "portable_math.h"
#include "tape_view.h"

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

// NaN also where the other side is infinite.
HD real program_hypot(real a, real b)
{
    return select_real(MASK(a != a), a, select_real(MASK(b != b), b, hypotenuse(a, b)));
}

HD real program_sign(real a)
{
    const real side = select_real(MASK(a > 0.0), splat(1.0), splat(-1.0));
    return select_real(program_is_true(a), side, select_real(MASK(a == 0.0), splat(0.0), a));
}
HD real program_step(real a) { return program_known(MASK(a >= 0.0), a, a); }

// Large functions that few specs use: called, so that what runs codes stays small.
HD_CALL real program_called(int32_t operation, real a, real b)
{
    switch (operation) {
    case PROGRAM_TAN: return tangent(a);
    case PROGRAM_ASIN: return arc_sine(a);
    case PROGRAM_ACOS: return arc_cosine(a);
    case PROGRAM_ATAN: return arc_tangent(a);
    case PROGRAM_SINH: return hyperbolic_sine(a);
    case PROGRAM_COSH: return hyperbolic_cosine(a);
    case PROGRAM_TANH: return hyperbolic_tangent(a);
    case PROGRAM_ATAN2: return arc_tangent2(a, b);
    case PROGRAM_HYPOT: return program_hypot(a, b);
    default: return floored_remainder(a, b); // PROGRAM_MOD
    }
}

#if defined(HOPSCOTCH_MADE_LARGE) // likewise
HD_CALL real program_sine(real a) { return sine(a); }
HD_CALL real program_cosine(real a) { return cosine(a); }
#else
HD real program_sine(real a) { return sine(a); }
HD real program_cosine(real a) { return cosine(a); }
#endif

HD real program_of_one(int32_t operation, real a)
{
    switch (operation) {
    case PROGRAM_NOT: return program_known(MASK(a == 0.0), a, a);
    case PROGRAM_NEGATE: return -a;
    case PROGRAM_ABS: return absolute(a);
    case PROGRAM_SQRT: return square_root(a);
    case PROGRAM_EXP: return exponential(a);
    case PROGRAM_LOG: return logarithm(a);
    case PROGRAM_SIN: return program_sine(a);
    case PROGRAM_COS: return program_cosine(a);
    case PROGRAM_FLOOR: return rounded_down(a);
    case PROGRAM_CEIL: return rounded_up(a);
    case PROGRAM_SIGN: return program_sign(a);
    case PROGRAM_STEP: return program_step(a);
    default: return program_called(operation, a, a);
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
    case PROGRAM_MAX: return program_max(a, b);
    default: return program_called(operation, a, b);
    }
}

// PROGRAM_CLIP: a within b and c. PROGRAM_IF: b where a is true, NaN where it is NaN, else c.
HD real program_of_three(int32_t operation, real a, real b, real c)
{
    if (operation == PROGRAM_CLIP) return program_min(program_max(a, b), c);
    return select_real(MASK(a != a), a, select_real(program_is_true(a), b, c));
}

HD bool program_takes_one(int32_t operation)
{
    return operation == PROGRAM_NOT || operation == PROGRAM_NEGATE ||
           (operation >= PROGRAM_ABS && operation <= PROGRAM_STEP);
}

HD bool program_takes_three(int32_t operation) { return operation == PROGRAM_CLIP || operation == PROGRAM_IF; }

#endif
