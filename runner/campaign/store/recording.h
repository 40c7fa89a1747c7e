// What is recorded of a lane: trajectories, debug rows (recording.c).
#ifndef HOPSCOTCH_RECORDING_H
#define HOPSCOTCH_RECORDING_H

#include "../../runner.h"

// A batch and a shard have arrays of one kind.
typedef enum RecordKind { RECORD_TRAJECTORIES, RECORD_DEBUG, RECORD_KINDS } RecordKind;

typedef struct Recording {
    bool wanted;
    const char *group, *table; // in a shard; in campaign.db, of the places in shards
    const Selection *select;
    const Field *columns; // [n_columns] of a row
    int n_columns;
    int64_t capacity; // rows of a lane, at most
    int lanes;        // of a recorded trial: its first replicate or all
    bool failed_only; // of those, the ones that failed
    bool float64, gzip;
    char columns_recipe[32]; // its end: which columns, where they were chosen; else empty
    char recipe[96];         // what the arrays hold, by number: arrays of another recipe are recorded anew
} Recording;

Recording recording_of(const Spec *spec, RecordKind kind);
ShardLayout recording_layout(const Recording *recording);
int64_t recording_lane_bytes(const Recording *recording); // of one lane in memory, at most
// Lanes whose arrays fit RECORD_BYTES_MAX, in whole trials and at least one; 0: nothing is recorded.
int64_t recording_lanes_max(const Recording *recording);

#endif
