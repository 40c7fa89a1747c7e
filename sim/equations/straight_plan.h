// How a GPU runs the code of a straight run (straight.h) when each of its threads has two lanes (../ahead_cuda.cu). The
// bandwidth of shared memory bounds such a kernel, so the plan spares it: what all lanes have in common has one number
// for a warp, a result that only the next step reads has none, and a lane has few rows.
#ifndef HOPSCOTCH_EQUATIONS_STRAIGHT_PLAN_H
#define HOPSCOTCH_EQUATIONS_STRAIGHT_PLAN_H

#include "../tape_code.h"

// A plan in the assets, whole numbers: this header, then what it points to.
enum {
    PLAN_STEPS, // index of [count] pairs: a step (tape_step_of) whose registers are places, and its PLAN_ flags
    PLAN_COUNT,
    PLAN_ROWS,    // numbers that each lane has; the first are states, integrals and the watch of a map
    PLAN_COMMONS, // numbers that all lanes have in common
    PLAN_LOADS,   // index of [n_loads] pairs: a row, and the register that it is loaded from
    PLAN_N_LOADS,
    PLAN_NUMBERS, // index of [n_numbers] pairs: the place of a number in common, and its index in the assets
    PLAN_N_NUMBERS,
    PLAN_TIME,   // place, -1: no step reads it
    PLAN_LENGTH, // the same
    PLAN_HEADER
};
// A place: the number of a row, or of a number in common with this bit.
enum { PLAN_COMMON = 1 << 13, PLAN_PLACES = PLAN_COMMON - 1 };
// A step is a b + c, rounded once, or a function. Sums and products are such steps, to the bit: x + y is 1 x + y, x - y
// is -1 y + x, and x y is x y + (-0).
enum {
    PLAN_A_IS_LAST = 1, // the operand is the result of the step before, whatever its place says
    PLAN_C_IS_LAST = 2,
    PLAN_IS_NOT_STORED = 4, // only the next step reads the result
    PLAN_IS_FUNCTION = 8
};
enum { PLAN_STEPS_MAX = 1024, PLAN_ROWS_MAX = 96, PLAN_COMMONS_MAX = 256 };

#endif
