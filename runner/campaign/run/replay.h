// A trial that is simulated again (replay.c), for packs too.
#ifndef HOPSCOTCH_REPLAY_H
#define HOPSCOTCH_REPLAY_H

#include "../batch/trials_in_flight.h"

// The spec is the campaign's, except that it records what was requested.
typedef struct Replay {
    const StoredCampaign *campaign;
    Spec spec;
    bool observed;
    bool computed; // the trial has no row to compare with
    bool each;     // the results of each replicate are wanted
    TrialRows stored;
    Flight flight;
    Commit again;
    const char *program_version;     // of now
    const char *backend, *processor; // where it was simulated: "cpu", "x86-64-v3"
} Replay;

// Finds the stored trial, simulates it again and compares. request NULL: records nothing.
Error replay_all(Replay *replay, int64_t trial, const ReplayRequest *request, const BackendOptions *backend,
                 Arena *arena, ReplayResult *result);

#endif
