// A backend for tests, in builds with -DHOPSCOTCH_FAULTS: four devices with two slots each, like a host with GPUs. They
// compute on the CPU and fail on request (sim/faults.c). A failed device overwrites its results, so that a test sees if
// they are used.
#include "backend.h"
#include "faults.h"

#ifdef HOPSCOTCH_FAULTS
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FAULTY_DEVICES = 4 };

typedef struct FaultyBackend FaultyBackend;

struct FaultyBackend {
    Backend backend;
    int device;
    bool broken, hung[BACKEND_SLOTS_MAX]; // after a failed launch; the slot's slice does not end
    bool lying;                           // its next time is wrong
    bool crashes;                         // the made kernel does
    int lies;
    int64_t n_metrics;
    Backend *inner[BACKEND_SLOTS_MAX];
    FaultyBackend *next_hung;
};

static bool faulty_lost[FAULTY_DEVICES]; // until this process ends or they are repaired
static FaultyBackend *faulty_hung;       // can't be closed; kept here so that they do not look like leaks

void backend_faulty_repair(void) { memset(faulty_lost, 0, sizeof faulty_lost); }

// Waits for the slices in flight first: these tests are not about races.
static void faulty_stop(FaultyBackend *faulty)
{
    for (int i = 0; i < BACKEND_SLOTS_MAX; i++) {
        Backend *inner = faulty->inner[i];
        bool done = false;
        double seconds = 0;
        if (!inner->in_flight[0]) continue;
        inner->cut(inner);
        (void)backend_wait(inner, 0, &done, &seconds);
    }
}

static void faulty_spoil(FaultyBackend *faulty)
{
    faulty_stop(faulty);
    for (int i = 0; i < BACKEND_SLOTS_MAX; i++) {
        const Batch *batch = &faulty->backend.batches[i];
        for (int64_t k = 0; k < faulty->n_metrics * batch->stride; k++) batch->metric[k] = -12345.0;
        for (int64_t k = 0; k < batch->stride; k++) batch->status[k] = LANE_DONE;
    }
}

static void faulty_hang(FaultyBackend *faulty, int slot)
{
    fputs("hopscotch: a slice hangs, as HOPSCOTCH_FAULT asks\n", stderr); // a test waits for it
    faulty->hung[slot] = true;
    faulty->next_hung = faulty_hung;
    faulty_hung = faulty;
}

// The fault of a rule for any device, or for this one.
static DeviceFault faulty_fault(const FaultyBackend *faulty, const char *operation)
{
    char own[16];
    snprintf(own, sizeof own, "%s%d", operation, faulty->device);
    const DeviceFault any = device_fault(operation), its = device_fault(own);
    return its != FAULT_NONE ? its : any;
}

// The outcome of the operation, before it is done. A slice of `slot` that hangs is not an error yet.
static Error faulty_try(FaultyBackend *faulty, const char *operation, int slot)
{
    const DeviceFault fault = faulty_fault(faulty, operation);
    if (fault == FAULT_MEMORY) return error_make(ERROR_MEMORY, "%s: out of memory", operation);
    if (fault == FAULT_LOST) faulty_lost[faulty->device] = true;
    faulty->broken = faulty->broken || fault == FAULT_LAUNCH;
    if (fault == FAULT_HANG) faulty_hang(faulty, slot);
    faulty->lying = fault == FAULT_TIME;
    if (!faulty->broken && !faulty_lost[faulty->device]) return error_none();
    faulty_spoil(faulty);
    return error_make(ERROR_DEVICE, "%s: %s", operation,
                      faulty_lost[faulty->device] ? "the device is lost" : "unspecified launch failure");
}

static Error faulty_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced,
                            int64_t capacity)
{
    FaultyBackend *faulty = (FaultyBackend *)backend;
    TRY(faulty_try(faulty, "prepare", 0));
    faulty->n_metrics = configured->n_metrics;
    for (int i = 0; i < BACKEND_SLOTS_MAX; i++) {
        TRY(backend_prepare(faulty->inner[i], configured, lanes, traced, capacity));
        backend->batches[i] = *backend_batch(faulty->inner[i], 0);
    }
    return error_none();
}

static Error faulty_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity)
{
    FaultyBackend *faulty = (FaultyBackend *)backend;
    TRY(faulty_try(faulty, "prepare", 0));
    for (int i = 0; i < BACKEND_SLOTS_MAX; i++) {
        TRY(backend_prepare_debug(faulty->inner[i], lanes, capacity));
        backend->batches[i] = *backend_batch(faulty->inner[i], 0);
    }
    return error_none();
}

static Error faulty_begin(Backend *backend, int slot)
{
    FaultyBackend *faulty = (FaultyBackend *)backend;
    TRY(faulty_try(faulty, "begin", slot));
    backend->used_made[slot] = backend->info.made == MADE_USED;
    *backend_batch(faulty->inner[slot], 0) = backend->batches[slot];
    faulty->inner[slot]->life[0] = backend->life[slot];
    return backend_begin(faulty->inner[slot], 0);
}

static Error faulty_advance(Backend *backend, int slot, int64_t ticks)
{
    FaultyBackend *faulty = (FaultyBackend *)backend;
    faulty->broken = faulty->broken || (faulty->crashes && backend->used_made[slot]);
    TRY(faulty_try(faulty, "advance", slot));
    return backend_advance(faulty->inner[slot], 0, ticks);
}

static Error faulty_poll(Backend *backend, int slot, double seconds, bool *ended)
{
    FaultyBackend *faulty = (FaultyBackend *)backend;
    const struct timespec nap = {.tv_nsec = (long)(1e9 * seconds)};
    *ended = !faulty->hung[slot];
    if (!*ended) nanosleep(&nap, NULL);
    return error_none();
}

static Error faulty_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    static const double nonsense[] = {-1e9, NAN, INFINITY};
    FaultyBackend *faulty = (FaultyBackend *)backend;
    TRY(faulty_try(faulty, "wait", slot));
    TRY(backend_wait(faulty->inner[slot], 0, done, kernel_seconds));
    backend->running[slot] = backend_running(faulty->inner[slot], 0);
    if (faulty->lying) *kernel_seconds = nonsense[faulty->lies++ % 3];
    return error_none();
}

// As far as it can be known without a GPU, by the first letters of an image: "wrong" gives wrong bits, which its trial
// shows, "alien" can't be loaded, "crash" ends its first launch.
static Error faulty_use_made(Backend *backend, const MadeImage *image, const double *fixed)
{
    static const struct {
        const char *begins, *note;
    } bad[] = {{"wrong", "its bits differ from those of the general kernel"},
               {"alien", "it could not be loaded: device kernel image is invalid"}};
    FaultyBackend *faulty = (FaultyBackend *)backend;
    BackendInfo *info = &backend->info;
    (void)fixed;
    info->made = MADE_USED;
    faulty->crashes = image->size >= 5 && memcmp(image->data, "crash", 5) == 0;
    snprintf(info->made_note, sizeof info->made_note, "168 registers, 0 bytes of local memory");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (image->size < 5 || memcmp(image->data, bad[i].begins, 5) != 0) continue;
        info->made = MADE_REFUSED;
        snprintf(info->made_note, sizeof info->made_note, "%s", bad[i].note);
    }
    return error_none();
}

static void faulty_close(Backend *backend)
{
    FaultyBackend *faulty = (FaultyBackend *)backend;
    for (int i = 0; i < BACKEND_SLOTS_MAX; i++) (void)backend_close(faulty->inner[i]);
    free(faulty);
}

static Error faulty_start(FaultyBackend *faulty, const BackendOptions *options)
{
    BackendOptions inner = *options;
    inner.name = "cpu";
    for (int i = 0; i < BACKEND_SLOTS_MAX; i++) TRY(backend_open(&inner, &faulty->inner[i]));
    BackendInfo *info = &faulty->backend.info;
    *info = *backend_info(faulty->inner[0]);
    info->name = "faulty";
    info->slots = BACKEND_SLOTS_MAX;
    info->lane_multiple = 512;
    info->processors = 1;
    snprintf(info->architecture, sizeof info->architecture, "sm_00");
    snprintf(info->device, sizeof info->device, "faulty device %d", faulty->device);
    return faulty_try(faulty, "open", 0);
}

int backend_faulty_count(void) { return FAULTY_DEVICES; }

Error backend_faulty_open(const BackendOptions *options, int device, Backend **out)
{
    if (device >= FAULTY_DEVICES)
        return error_make(ERROR_USER, "there is no faulty device %d; there are %d", device, FAULTY_DEVICES);
    FaultyBackend *faulty = calloc(1, sizeof *faulty);
    if (faulty == NULL) return error_make(ERROR_MEMORY, "not enough memory for the faulty backend");
    faulty->device = device;
    faulty->backend.prepare = faulty_prepare;
    faulty->backend.prepare_debug = faulty_prepare_debug;
    faulty->backend.begin = faulty_begin;
    faulty->backend.advance = faulty_advance;
    faulty->backend.poll = faulty_poll;
    faulty->backend.wait = faulty_wait;
    faulty->backend.use_made = faulty_use_made;
    faulty->backend.close = faulty_close;
    const Error error = faulty_start(faulty, options);
    if (error.kind != OK)
        faulty_close(&faulty->backend);
    else
        *out = &faulty->backend;
    return error;
}
#endif
