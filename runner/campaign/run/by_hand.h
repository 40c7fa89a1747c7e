// What asking (ask.c) and telling (tell.c) share: a campaign by hand that is open (by_hand.c).
#ifndef HOPSCOTCH_BY_HAND_H
#define HOPSCOTCH_BY_HAND_H

#include "../batch/trials_in_flight.h"
#include "../store/campaign/store.h"
#include "../store/commit/asked.h"

struct ByHand {
    const Spec *spec; // the store's
    const RunOptions *options;
    Arena *arena;
    const char *name, *folder;
    Lock lock;
    Store *store;
    Search search;
    bool learns;
    Flight round; // of a search that learns: the trials that it gives before it needs results, asked for or not
    int64_t id;   // of the first of them: all before it were told
    bool limited; // limits.trials cuts it
};

// The search as it is stored, before its next trial; then `round`.
Error by_hand_restore(ByHand *hand);
// search, round, ordinal and parameters of a trial that was asked for, into trials[i]. *found false: it is none.
Error by_hand_trial(ByHand *hand, int64_t id, Trials *trials, int64_t i, bool *found);
// commit->rows <- the rows of the flight's trials, of which all replicates were told; the trials get their results.
Error by_hand_collect(ByHand *hand, Flight *flight, Commit *commit);
// Ends the campaign if no result is due and there are no more trials.
Error by_hand_settle(ByHand *hand);
Error by_hand_reason(const ByHand *hand, const char **reason); // why it ended; NULL: it did not, or for no reason

#endif
