// The arrays of a replicate: trajectories, debug rows (recording.c).
#ifndef HOPSCOTCH_RECORDING_H
#define HOPSCOTCH_RECORDING_H

#include "../../campaign.h"

int64_t recording_lane_bytes(const Recording *recording); // of one lane in memory, upper bound
// The number of lanes whose arrays fit RECORD_BYTES_MAX, in whole trials, at least one trial; 0: nothing is recorded.
int64_t recording_lanes_max(const Recording *recording);

#endif
