// Batches whose trials are compared at rungs (rungs.c).
#ifndef HOPSCOTCH_RUNGS_H
#define HOPSCOTCH_RUNGS_H

#include "loop.h"

// Memory of the loop's slots, in the loop's arena; rungs_bytes of trials_in_flight.h per trial.
void rungs_take(Loop *loop, Arena *arena);
// At most `room` trials, in whole groups; the last group of a campaign may be shorter. As SearchMethod.ask.
Error rungs_ask(Loop *loop, int64_t room, Trials *trials, bool *waiting);
const Spec *rungs_spec(const Loop *loop, const LoopSlot *own); // what the slot's flight runs: without rungs loop->spec
void rungs_start(LoopSlot *own);                               // of a batch that was asked for
// The flight has ended: gathers its results, and chooses the trials that go on as its next trials. False: there are
// none, and the flight has all trials of the batch again.
bool rungs_go_on(Loop *loop, int slot);
// Of a batch that has ended: the results, in memory that both exchange.
void rungs_collect(LoopSlot *own, Commit *commit);
// Lanes x ticks of the slot's batch so far, without the slice in flight; and in all, if no trial fails.
double rungs_ticks(const Loop *loop, const LoopSlot *own);
double rungs_ticks_most(const Loop *loop, const LoopSlot *own);

#endif
