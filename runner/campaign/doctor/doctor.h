// Shared by the files of `hopscotch doctor`: the checks of a stored campaign (doctor.c, shards.c, model_files.c) and
// the repairs (repair.c, trials.c, array_rows.c).
#ifndef HOPSCOTCH_DOCTOR_H
#define HOPSCOTCH_DOCTOR_H

#include "../batch/device.h"
#include "../store/campaign/parts.h"
#include "../store/commit/seal.h"

// Report the outcome of a check: nothing is wrong, or a finding.
void doctor_pass(Doctor *doctor, const char *check, const char *format, ...) PRINTF_LIKE(3, 4);
void doctor_find(Doctor *doctor, const char *check, const char *format, ...) PRINTF_LIKE(3, 4);
const char *doctor_how_again(const CampaignLocation *location,
                             Arena *arena);                   // commands that compute the campaign again
bool doctor_damaged(const Doctor *doctor, const char *table); // a check found damage in the table

// The same with the campaign's lock held by this process.
Error doctor_examine_locked(const CampaignLocation *location, Arena *arena, Doctor *doctor);
void doctor_check_shards(Doctor *doctor); // sizes, digests, readability, rows of arrays
void doctor_check_kept(Doctor *doctor);   // copies of the files that the model reads
void doctor_check_files(Doctor *doctor);  // orphans, temporaries

// ---- repair ---------------------------------------------------------------------------------------------------------

// What the steps of a repair share.
typedef struct Repair {
    const Doctor *doctor;
    Arena *arena;
    RunOptions options;
    Spec spec;
    Store *store;
    Search search;
    Device device; // opened when something is simulated
    bool device_open;
    FILE *messages;
} Repair;

Error repair_open_device(Repair *repair);             // opens repair->device; does nothing if it is open
Error repair_seal(Repair *repair, const char *table); // a new digest for a small table that was written again
// Prints a line to repair->messages.
void repair_report(const Repair *repair, const char *format, ...) PRINTF_LIKE(2, 3);

Error repair_trials(Repair *repair);     // damaged ranges of trials and replicates: simulated again
Error repair_search(Repair *repair);     // the state of the search, which is told its trials again
Error repair_array_rows(Repair *repair); // the rows of arrays: from the shards' own tables of lanes
Error repair_shards(Repair *repair);     // arrays of shards that are lost: simulated again into new ones

#endif
