// Operations and codes of tapes (tape.h) as kernels have them.
#ifndef HOPSCOTCH_TAPE_VIEW_H
#define HOPSCOTCH_TAPE_VIEW_H

#include <stdint.h>

// Those of runner/experiment/expression, with its results to the bit.
// clang-format off
#define PROGRAM_OPERATIONS(X) \
    X(NUMBER) \
    /* of two operands, NOT and NEGATE of one */ \
    X(OR) X(AND) X(NOT) X(LESS_EQUAL) X(LESS) X(GREATER_EQUAL) X(GREATER) X(UNEQUAL) X(EQUAL) \
    X(ADD) X(SUBTRACT) X(MULTIPLY) X(DIVIDE) X(NEGATE) X(POWER) X(MIN) X(MAX) \
    /* of one */ \
    X(ABS) X(SQRT) X(EXP) X(LOG) X(SIN) X(COS) \
    X(TAN) X(ASIN) X(ACOS) X(ATAN) X(SINH) X(COSH) X(TANH) X(FLOOR) X(CEIL) X(SIGN) X(STEP) \
    /* of two */ \
    X(ATAN2) X(HYPOT) X(MOD) \
    /* of three */ \
    X(CLIP) X(IF)
// clang-format on
#define PROGRAM_NUMBER_OF(name) PROGRAM_##name,
typedef enum ProgramOperation { PROGRAM_OPERATIONS(PROGRAM_NUMBER_OF) PROGRAM_N_OPERATIONS } ProgramOperation;
#undef PROGRAM_NUMBER_OF

// A code among assets (tape_code.h): its numbers, what is run once, and its steps. Its inputs are the first registers.
typedef struct CodeView {
    int32_t registers;
    int32_t numbers, n_numbers, first_number;
    int32_t derived, n_derived;
    int32_t steps, n_steps;
    int32_t tables; // where the indices of tables stand; 0: it has none
} CodeView;

#endif
