// Guards that count (counters.c).
#ifndef HOPSCOTCH_EQUATIONS_COUNTERS_H
#define HOPSCOTCH_EQUATIONS_COUNTERS_H

#include "system.h"

// out <- the system, whose guards that count pass 0 where they reach it.
void system_counters(const System *system, Arena *arena, System *out);

#endif
