// A step of a method as values of the tape.
#ifndef HOPSCOTCH_EQUATIONS_STEP_VALUES_H
#define HOPSCOTCH_EQUATIONS_STEP_VALUES_H

#include "equations.h"
#include "system.h"

// Whether a step of the method is one code: nothing can happen in a step but the step (straight.h).
bool equations_is_straight(const System *system, EquationsMethod method);
// The values after a step, to the bit those of steps.h: states, integrals and, of a map, its watch. Registers of inputs
// as in straight.h. NULL: the code would be too long, and the general step serves.
const TapeValue *equations_step_values(const System *system, EquationsMethod method, Arena *arena);

#endif
