#ifndef HOPSCOTCH_HOPPER_GRADIENT_H
#define HOPSCOTCH_HOPPER_GRADIENT_H

#include "../sim.h"

extern const Adjoint hopper_adjoint; // by runs with dual numbers

#endif
