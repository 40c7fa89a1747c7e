// The figure of a system (drawing.c).
#ifndef HOPSCOTCH_EQUATIONS_DRAWING_H
#define HOPSCOTCH_EQUATIONS_DRAWING_H

#include "../sim.h"

struct EquationsDerivatives; // derivatives.h

// Sets the drawing of a configured system, and `host`, which the drawing reads. Error (user): too many numbers.
Error equations_figure(const System *system, const struct EquationsDerivatives *derivatives, Arena *arena,
                       Configured *out);
// What `host` has, after equations_figure.
const System *equations_system(const Configured *configured);
const struct EquationsDerivatives *equations_derivatives(const Configured *configured);

#endif
