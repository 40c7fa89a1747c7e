// The adjoint of the model `equations` (gradient.c).
#ifndef HOPSCOTCH_EQUATIONS_GRADIENT_H
#define HOPSCOTCH_EQUATIONS_GRADIENT_H

#include "../sim.h"

extern const Adjoint equations_adjoint;

#endif
