// A pilot: estimates the time of a run by running a small sample of it (pilot.c).
#ifndef HOPSCOTCH_PILOT_H
#define HOPSCOTCH_PILOT_H

#include "../campaign.h"

typedef struct PilotTask {
    const Spec *spec;
    Search *search;             // a fresh one; of a method that learns its first generation is run
    Backend *backend;           // prepared for batches of batch_lanes
    int64_t batch_lanes, lanes; // lanes: of the campaign; of a search that learns: of a generation
    double generations;         // of a search that learns
    bool observed;              // some lanes are observed
} PilotTask;

typedef struct Pilot {
    int64_t lanes;          // that were run
    double seconds;         // time of these lanes
    double first_seconds;   // of the first launch, which also loads the kernel
    double observed_factor; // time of an observed lane by that of a plain one
    double low, high;       // factors: bounds of the time of other lanes
    bool whole;             // the lanes ran to their end
} Pilot;

// Runs a few lanes and measures their time. Error: of the device.
Error pilot_run(const PilotTask *task, Pilot *pilot);

#endif
