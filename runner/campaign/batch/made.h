// The kernel that is made for a campaign: when it is worth making, the process that compiles it, and its file in the
// cache (sim/made has what it is).
#ifndef HOPSCOTCH_BATCH_MADE_H
#define HOPSCOTCH_BATCH_MADE_H

#include "../campaign.h"

typedef struct MadeJob {
    Arena arena;
    const char *source;    // NULL: there is nothing to make
    char architecture[16]; // as in BackendInfo; empty: the device has only one kernel
    const char *without;   // "general: " and why; NULL: nothing else is wanted
    const double *fixed;   // [n_parameters], NaN: searched
    Sha256Text key;
    int process, in, out; // process 0: none is compiling; in, out: files in memory
    bool offered;         // the backend has it, or it was given up
    bool cached;
    double started, seconds; // s: when compiling began, how long it took
    char note[400];          // what went wrong, for the user; empty: nothing
} MadeJob;

// The values [n_parameters] of the lane inputs that all trials share; NaN: trials differ in this input.
const double *made_fixed(const Spec *spec, const Configured *configured, Arena *arena);
// Prepares a kernel for this campaign and backend. A kernel in the cache is given to the backend at once. choice: as in
// BackendOptions; "made": a kernel that is not in the cache is compiled now. Error: interrupted; of the device.
Error made_begin(const Spec *spec, const Configured *configured, const char *choice, int64_t lanes, Backend *backend,
                 MadeJob *job);
// Call this between two slices: starts compiling if `worth`, and gives a compiled kernel to the backend.
Error made_tend(MadeJob *job, Backend *backend, bool worth);
// The kernel that a run begins with, in words; NULL: the device has only one kernel.
const char *made_words(const MadeJob *job);
void made_forget(MadeJob *job); // removes the kernel from the cache, because the backend has refused it
void made_end(MadeJob *job);    // ends a compiler that still runs

#endif
