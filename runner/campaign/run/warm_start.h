// Starting CMA-ES from another campaign (warm_start.c).
#ifndef HOPSCOTCH_WARM_START_H
#define HOPSCOTCH_WARM_START_H

#include "../../runner.h"

// What the spec's `search.cmaes.taken` is to be, for a campaign of that name; NULL: there is nothing to be taken, or it
// was. Error (user): the other campaign is not there, or has nothing to start from.
Error warm_start_take(const Spec *spec, const char *results, const char *name, Arena *arena, const char **taken);

#endif
