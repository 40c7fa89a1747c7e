// How the hopper is drawn (drawing.c): with the phases of the three-state machine, or of the four-state one.
#ifndef HOPSCOTCH_HOPPER_DRAWING_H
#define HOPSCOTCH_HOPPER_DRAWING_H

#include "../sim.h"

extern const Drawing hopper_drawing, hopper_drawing_four;

#endif
