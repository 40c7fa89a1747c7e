// Guards that an event sets to 0 (touches.c).
#ifndef HOPSCOTCH_EQUATIONS_TOUCHES_H
#define HOPSCOTCH_EQUATIONS_TOUCHES_H

#include "../sim.h"

// Writes at most `most` warnings of events that do not happen in trials point[count][n_parameters], because another
// event sets their guards to 0; returns their number.
int equations_touches(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks,
                      int most);

#endif
