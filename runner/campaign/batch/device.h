// The device of a run, and how a run continues when it fails (device.c).
#ifndef HOPSCOTCH_DEVICE_H
#define HOPSCOTCH_DEVICE_H

#include "../campaign.h"
#include "made.h"

typedef struct Device {
    const Spec *spec;
    BackendOptions options;               // of the backend that is open
    bool any, fallback;                   // when it fails: any other device of the host may be taken; the CPU may
    Backend *backend;                     // NULL: none is open
    int64_t requested;                    // lanes of a batch; 0: the device decides
    int64_t lanes, traced_max, debug_max; // of a batch: all, those that may be traced, those that may give debug rows
    int failures, failed;                 // of this device; of several, the one that failed last, or -1
    MadeJob made;                         // the kernel for this campaign
    Configured configured;                // the spec's, with all that a run needs
    char note[512];                       // for the user: what the last call changed after a failure; empty: nothing
    char kernel_note[512]; // for the user: why the kernel made for this campaign is used no more; empty: it is
} Device;

// backend_open for devices that the user named by numbers, or none. Error (user): the backend has no numbers.
Error device_open_backend(const BackendOptions *options, Backend **backend);
// Opens a backend and takes its memory: batches are halved until they fit, down to a single trial. What the model
// builds is in the arena.
Error device_open(const Spec *spec, const RunOptions *options, Arena *arena, Device *device);
// Whether a run may continue after this error, with the device opened again.
bool device_is_at_fault(ErrorKind kind);
// After an error of a run: opens the same device again (with smaller batches, if memory was missing), another device,
// or the CPU. The batches in flight are lost. Gives the error itself if none of these works.
Error device_recover(Device *device, Error error);
bool device_close(Device *device); // as backend_close

#endif
