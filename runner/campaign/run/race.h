// The rungs of a race after all trials have run (race.c).
#ifndef HOPSCOTCH_RACE_H
#define HOPSCOTCH_RACE_H

#include "loop.h"

// Runs the rungs that are left, if the spec races. Error (interrupted): the user ended it, or limits.wall_time did; all
// complete batches are committed.
Error race_run(const Loop *loop, Arena *arena);

#endif
