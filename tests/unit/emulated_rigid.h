// The kernel of large rigid worlds, run by the threads of a GPU's block (emulated_team.h).
#ifndef HOPSCOTCH_EMULATED_RIGID_H
#define HOPSCOTCH_EMULATED_RIGID_H

#include "../../sim/lanes_view.h"

// Runs one slice of the group's lane. backwards: the threads run in falling order.
void emulated_rigid(const Configured *configured, const LaneGroup *group, int threads, bool backwards);

#endif
