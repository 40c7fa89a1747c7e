// What the files of `hopscotch doctor` share: the checks of a stored campaign (doctor.c, shards.c) and the
// repairs (repair.c, trials.c, places.c).
#ifndef HOPSCOTCH_DOCTOR_H
#define HOPSCOTCH_DOCTOR_H

#include "../batch/device.h"
#include "../store/seal.h"

typedef struct DoctorLine {
    const char *check; // which one it belongs to
    bool finding;      // else all is well
    const char *text;
} DoctorLine;

typedef struct Doctor {
    // given
    const CampaignPlace *place;
    Arena *arena;
    bool locked; // by this process, for a repair
    // found
    DoctorLine *lines; // [n_lines]
    int n_lines, findings;
    char holder[256];   // who runs it now; empty: nobody
    Database *database; // open for reading while the checks run; NULL: it can't be read
    int64_t version;    // SQLite's data_version of what was read
    Spec spec;
    bool spec_good, structure_bad, places_bad, catalogue_bad;
    int schema;
    SealDamage damage;
    int64_t *bad_shards; // [n_bad_shards] ids
    int n_bad_shards;
    int stray_files; // orphans and temporaries
} Doctor;

void doctor_good(Doctor *doctor, const char *check, const char *format, ...) PRINTF_LIKE(3, 4);
void doctor_find(Doctor *doctor, const char *check, const char *format, ...) PRINTF_LIKE(3, 4);
const char *doctor_how_again(const CampaignPlace *place, Arena *arena); // commands that compute it anew
bool doctor_damaged(const Doctor *doctor, const char *table);

// Looks at everything and changes nothing. What is wrong with the campaign is in the lines; an Error is of the machine.
Error doctor_examine(const CampaignPlace *place, Arena *arena, Doctor *doctor);
// The same with the campaign's lock held by this process.
Error doctor_examine_locked(const CampaignPlace *place, Arena *arena, Doctor *doctor);
void doctor_check_shards(Doctor *doctor); // sizes, digests, readability, places
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

Error repair_open_device(Repair *repair);
Error repair_seal(Repair *repair, const char *table); // a small table that was written anew
void repair_tell(const Repair *repair, const char *format, ...) PRINTF_LIKE(2, 3);

Error repair_trials(Repair *repair); // damaged blocks of trials and replicates: simulated again
Error repair_search(Repair *repair); // the state of the search: told its trials again
Error repair_places(Repair *repair); // where arrays are: from the shards' own tables of lanes
Error repair_shards(Repair *repair); // arrays of shards that are lost: simulated again into new ones

// Mends what was found, with the campaign's lock held; what was done is told to `messages`.
Error doctor_repair(const Doctor *doctor, const BackendOptions *backend, bool shared_fs, FILE *messages);

#endif
