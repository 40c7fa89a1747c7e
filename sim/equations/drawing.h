// The figure of a system (drawing.c).
#ifndef HOPSCOTCH_EQUATIONS_DRAWING_H
#define HOPSCOTCH_EQUATIONS_DRAWING_H

#include "../sim.h"

// Sets the drawing of a configured system, and `host`, which the drawing reads. Error (user): too many numbers.
Error equations_figure(const System *system, Arena *arena, Configured *out);
const System *equations_system(const Configured *configured); // after equations_figure

#endif
