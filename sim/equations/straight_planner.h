// Making plans (straight_plan.h).
#ifndef HOPSCOTCH_EQUATIONS_STRAIGHT_PLANNER_H
#define HOPSCOTCH_EQUATIONS_STRAIGHT_PLANNER_H

#include "equations.h"
#include "straight_plan.h"

// Appends the plan of a straight run's code, which has numbers[c->n_numbers] in its registers, to the assets, and
// returns where it stands. A code without outputs has them in their place. -1: it is too long for a plan.
int32_t straight_plan(const EquationsConstants *c, const TapeCode *code, const double *numbers, TapeAssets *assets,
                      Arena *arena);
// Bytes of a GPU's shared memory that a thread block needs for the plan; 0: there is none.
int straight_plan_bytes(const double *assets, const EquationsConstants *c);

#endif
