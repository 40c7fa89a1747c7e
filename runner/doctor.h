// What the files of `hopscotch doctor` share: the checks of a stored campaign (doctor.c, doctor_shards.c) and the
// repairs (doctor_repair.c, doctor_trials.c, doctor_places.c).
#ifndef HOPSCOTCH_DOCTOR_H
#define HOPSCOTCH_DOCTOR_H

#include "store.h"

typedef struct DoctorLine {
    const char *check; // which one it belongs to
    bool finding;      // else all is well
    const char *text;
} DoctorLine;

typedef struct Doctor {
    // given
    const CampaignPlace *place;
    Arena *arena;
    // found
    DoctorLine *lines; // [n_lines]
    int n_lines, findings;
    char holder[256];   // who runs it now; empty: nobody
    Database *database; // open for reading while the checks run; NULL: it can't be read
    Spec spec;
    bool has_spec, structure_bad;
    int schema;
    SealDamage damage;
    int64_t *bad_shards; // [n_bad_shards] ids
    int n_bad_shards;
    int stray_files; // orphans and temporaries
} Doctor;

void doctor_good(Doctor *doctor, const char *check, const char *format, ...) PRINTF_LIKE(3, 4);
void doctor_find(Doctor *doctor, const char *check, const char *format, ...) PRINTF_LIKE(3, 4);
bool doctor_damaged(const Doctor *doctor, const char *table);

// Looks at everything and changes nothing. What is wrong with the campaign is in the lines; an Error is of the machine.
Error doctor_examine(const CampaignPlace *place, Arena *arena, Doctor *doctor);
void doctor_check_shards(Doctor *doctor); // sizes, digests, readability, places
void doctor_check_files(Doctor *doctor);  // orphans, temporaries

// Mends what was found, with the campaign's lock held; what was done is told to `messages`.
Error doctor_repair(const Doctor *doctor, const BackendOptions *backend, bool shared_fs, FILE *messages);

#endif
