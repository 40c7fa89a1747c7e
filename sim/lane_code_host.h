// Codes over the samples of lanes (LaneCode in sim.h) on the host: which columns and parameters they need.
#ifndef HOPSCOTCH_LANE_CODE_HOST_H
#define HOPSCOTCH_LANE_CODE_HOST_H

#include "sim.h"

// The inputs of a tape are numbered: columns of the model, held numbers, parameters of the model, further parameters,
// others.
typedef struct LaneCodeInputs {
    const Configured *configured;
    int n_held;
    const Parameter *more; // [n_more]
    int n_more;
    const int *own; // [n_own] places of others behind columns and parameters
    int n_own;
} LaneCodeInputs;

// Gives inputs the registers 0, 1, ...: of columns and parameters those that the tape has, the time always; behind them
// held numbers, and others by their places. Sets n_needed, n_parameters and needed of *out.
void lane_code_assign(Tape *tape, const LaneCodeInputs *inputs, Arena *arena, LaneCode *out);
// Puts the places of columns and parameters behind the assets of a code.
void lane_code_attach(LaneCode *of, const Configured *configured, Arena *arena);

#endif
