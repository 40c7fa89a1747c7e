// A pilot: how long a run will take, by running a little of it (pilot.c).
#ifndef HOPSCOTCH_PILOT_H
#define HOPSCOTCH_PILOT_H

#include "../campaign.h"

typedef struct PilotTask {
    const Spec *spec;
    Search *search;             // a fresh one; of a method that learns its first generation is run
    Backend *backend;           // prepared for batches of batch_lanes
    int64_t batch_lanes, lanes; // lanes: of the campaign; of a search that learns: of a generation
    double generations;         // of a search that learns
    bool observed;              // some of them are
} PilotTask;

typedef struct Pilot {
    int64_t lanes;          // that were run
    double seconds;         // that they take
    double first_seconds;   // of the first launch, which also loads the kernel
    double observed_factor; // how many times as long a lane takes that is observed
    double low, high;       // factors: between which the time of others like them should be
    bool whole;             // they came to their end
} Pilot;

Error pilot_run(const PilotTask *task, Pilot *pilot);

#endif
