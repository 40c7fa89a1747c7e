// Where a campaign of `backend: auto` runs: on the CPU, or on a GPU (choice.c).
#ifndef HOPSCOTCH_CHOICE_H
#define HOPSCOTCH_CHOICE_H

#include "loop.h"

#include <stdatomic.h>

typedef struct DeviceChoice {
    const Spec *spec;
    RunOptions options; // of the GPU
    bool open;          // a GPU may be there, and nothing is decided
    bool started;       // its pilot runs in the thread, or has ended
    pthread_t thread;
    atomic_bool ended;
    Arena arena; // of the pilot
    Plan plan;   // of the whole campaign on the GPU
    Error error;
    char text[400]; // the decision in words; empty: there was nothing to decide
} DeviceChoice;

// Gives options->backend.name the CPU if there is a choice: the campaign begins there.
void choice_start(const Spec *spec, RunOptions *options, DeviceChoice *choice);
// Whether the rest of the campaign takes less time on the GPU. The loop asks after each turn; true once.
bool choice_moves(void *choice, const Loop *loop);
void choice_end(DeviceChoice *choice); // waits for the pilot

#endif
