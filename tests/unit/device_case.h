// Runs of a campaign on the backend `faulty`, some of whose operations are made to fail.
#ifndef HOPSCOTCH_DEVICE_CASE_H
#define HOPSCOTCH_DEVICE_CASE_H

#include "../../runner/command/command.h"
#include "../../sim/backend.h"
#include "../../sim/faults.h"
#include "../test.h"

typedef struct DeviceCase {
    Arena arena;
    Spec spec;
    RunOptions options;
    RunSummary summary;
    Sha256Text digest; // of the last campaign
} DeviceCase;

// patience: s; slice: steps
void device_case_start(DeviceCase *test, const char *spec, double patience, int64_t batch, int64_t slice);
void device_case_end(DeviceCase *test);
// Runs it as campaign `name` under `faults` (sim/faults.h), on repaired devices; computes its digest even after an
// error.
Error device_case_run(DeviceCase *test, const char *name, const char *faults);
// The first number that the query returns for campaign `name`; -1: no row.
int64_t device_case_count(DeviceCase *test, const char *name, const char *sql);

#endif
