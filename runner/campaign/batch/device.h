// The device of a run, and how a run continues when it fails (device.c).
#ifndef HOPSCOTCH_DEVICE_H
#define HOPSCOTCH_DEVICE_H

#include "../campaign.h"
#include "made.h"

typedef struct Device {
    const Spec *spec;
    BackendOptions options; // of the open backend
    bool any, fallback;     // after a failure: take any other device of the host; take the CPU
    Backend *backend;       // NULL: no backend is open
    int64_t requested;      // lanes of a batch; 0: the device decides
    int64_t lanes, traced_max,
        debug_max;         // greatest number of lanes of a batch; of traced lanes; of lanes with debug rows
    int failures, failed;  // failures of this device; of several devices, the last that failed, or -1
    MadeJob made;          // the kernel for this campaign
    Configured configured; // from spec_build
    char note[512];        // for the user: what the last call changed after a failure; empty: nothing
    char kernel_note[512]; // for the user: why the campaign's own kernel is no longer used; empty: it is used
} Device;

// As backend_open. Error (user) also if the user named devices by numbers and the backend has no numbers.
Error device_open_backend(const BackendOptions *options, Backend **backend);
// Opens a backend and takes its memory: batches are halved until they fit, down to a single trial. The assets of the
// model are in the arena.
Error device_open(const Spec *spec, const RunOptions *options, Arena *arena, Device *device);
// True if a run may continue after this error, with the device opened again.
bool device_is_at_fault(ErrorKind kind);
// After an error of a run: opens the same device again (with smaller batches, if memory was missing), another device,
// or the CPU. The batches in flight are lost. Returns `error` if nothing helps.
Error device_recover(Device *device, Error error);
bool device_close(Device *device); // as backend_close

#endif
