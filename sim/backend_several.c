// Several devices of one host as one backend. Chunks of neighbouring lanes are dealt to the devices in turn, so that
// each gets a share of the long lanes and of the observed ones. Each device has a thread. A lane depends on nothing but
// itself, so the number of devices changes no bit.
//
// The batches of the devices are copied from and to one batch that the caller sees. An error of one device is an error
// of all: no result of the batches in flight is used, and info.failed names the device. A device that can't be opened
// is left out, unless it is the last.
#include "backend.h"
#include "thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEVERAL_CHUNK = 32 }; // lanes; a warp of a GPU, whole vectors of a CPU

typedef struct SeveralBackend SeveralBackend;

typedef struct SeveralDevice {
    SeveralBackend *several;
    int number, index; // its number on the host; its turn in the dealing of chunks
    Backend *inner;    // NULL: it could not be opened
    pthread_t thread;
    bool leaving;                      // its thread shall end
    bool ended;                        // result of a poll
    Error error;                       // result of the job
    bool done[BACKEND_SLOTS_MAX];      // its lanes of the slot's batch have ended, or it has none
    double seconds[BACKEND_SLOTS_MAX]; // device time of that batch so far
} SeveralDevice;

// What a thread does with its device.
typedef Error (*SeveralJob)(SeveralDevice *device);

struct SeveralBackend {
    Backend backend;
    BackendOpen open;
    BackendOptions options;
    Arena arena, debug_arena; // of the batches that the caller sees
    const Configured *configured;
    int slot; // of the job, with its arguments
    int64_t lanes, observed, capacity, ticks;
    double seconds;
    const MadeImage *image;
    const double *fixed;
    SeveralDevice all[BACKEND_DEVICES_MAX],
        *devices[BACKEND_DEVICES_MAX]; // devices[n_devices]: those that could be opened
    int n_devices;
    SeveralJob job;
    uint64_t turn; // counts jobs: a thread sees by it that a new one began
    int working;
    pthread_mutex_t mutex; // guards the three above, and `leaving`
    pthread_cond_t work, idle;
};

// ---- threads --------------------------------------------------------------------------------------------------------

static void *several_thread(void *argument)
{
    SeveralDevice *device = argument;
    SeveralBackend *several = device->several;
    uint64_t seen = 0;
    pthread_mutex_lock(&several->mutex);
    for (;;) {
        while (several->turn == seen && !device->leaving) pthread_cond_wait(&several->work, &several->mutex);
        if (device->leaving) break;
        seen = several->turn;
        const SeveralJob job = several->job;
        pthread_mutex_unlock(&several->mutex);
        device->error = job(device);
        pthread_mutex_lock(&several->mutex);
        if (--several->working == 0) pthread_cond_signal(&several->idle);
    }
    pthread_mutex_unlock(&several->mutex);
    return NULL;
}

static Error several_failed(SeveralBackend *several, const SeveralDevice *device, const Error *error)
{
    several->backend.info.failed = device->number;
    return *error;
}

// Runs the job on every device; returns the first error in the order of the devices.
static Error several_each(SeveralBackend *several, SeveralJob job)
{
    pthread_mutex_lock(&several->mutex);
    several->job = job;
    several->working = several->n_devices;
    several->turn++;
    pthread_cond_broadcast(&several->work);
    while (several->working > 0) pthread_cond_wait(&several->idle, &several->mutex);
    pthread_mutex_unlock(&several->mutex);
    for (int i = 0; i < several->n_devices; i++) {
        const SeveralDevice *device = several->devices[i];
        if (device->error.kind != OK) return several_failed(several, device, &device->error);
    }
    return error_none();
}

static void several_stop(SeveralBackend *several, SeveralDevice *device)
{
    pthread_mutex_lock(&several->mutex);
    device->leaving = true;
    pthread_cond_broadcast(&several->work);
    pthread_mutex_unlock(&several->mutex);
    pthread_join(device->thread, NULL);
}

static Error several_start(SeveralBackend *several, uint64_t devices)
{
    for (int d = 0; d < BACKEND_DEVICES_MAX; d++) {
        if ((devices >> d & 1) == 0) continue;
        SeveralDevice *device = &several->all[d];
        *device = (SeveralDevice){.several = several, .number = d, .index = several->n_devices};
        if (thread_start(&device->thread, several_thread, device) != 0)
            return error_make(ERROR_MACHINE, "cannot start a thread for device %d", d);
        several->devices[several->n_devices++] = device;
    }
    return error_none();
}

// ---- whose lanes ----------------------------------------------------------------------------------------------------

// Number of the lanes [0, lanes) of a batch that the device has. They are its first ones, in the same order.
static int64_t several_share(const SeveralDevice *device, int64_t lanes)
{
    const int64_t devices = device->several->n_devices, chunks = lanes / SEVERAL_CHUNK;
    const int64_t whole = chunks / devices + (device->index < chunks % devices);
    return whole * SEVERAL_CHUNK + (device->index == chunks % devices ? lanes % SEVERAL_CHUNK : 0);
}

typedef enum SeveralDirection { SEVERAL_OUT, SEVERAL_BACK } SeveralDirection; // to the device; from it

// Copies one item per lane between whole[lanes][item bytes] and the device's own[share][item bytes].
static void several_copy(const SeveralDevice *device, void *whole, void *own, size_t item, int64_t lanes,
                         SeveralDirection direction)
{
    unsigned char *all = whole, *mine = own;
    const int64_t turn = (int64_t)SEVERAL_CHUNK * device->several->n_devices;
    for (int64_t first = (int64_t)SEVERAL_CHUNK * device->index; first < lanes; first += turn) {
        const size_t size = item * (size_t)(lanes - first < SEVERAL_CHUNK ? lanes - first : SEVERAL_CHUNK);
        unsigned char *at = all + (size_t)first * item;
        memcpy(direction == SEVERAL_OUT ? mine : at, direction == SEVERAL_OUT ? at : mine, size);
        mine += size;
    }
}

// The same for field[count][stride].
static void several_copy_fields(const SeveralDevice *device, double *whole, double *own, int count,
                                SeveralDirection direction)
{
    const Batch *all = &device->several->backend.batches[device->several->slot];
    const int64_t own_stride = backend_batch(device->inner, device->several->slot)->stride;
    for (int i = 0; i < count; i++)
        several_copy(device, whole + i * all->stride, own + i * own_stride, sizeof *own, all->lanes, direction);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

// At least one lane, because a device can't prepare for none.
static int64_t several_room(const SeveralDevice *device, int64_t lanes)
{
    const int64_t share = several_share(device, lanes);
    return share > 0 ? share : 1;
}

static Error several_prepare_device(SeveralDevice *device)
{
    const SeveralBackend *several = device->several;
    return backend_prepare(device->inner, several->configured, several_room(device, several->lanes),
                           several_share(device, several->observed), several->capacity);
}

static void several_take(SeveralBackend *several, int64_t lanes, int64_t traced, int64_t capacity, Batch *batch)
{
    const Configured *configured = several->configured;
    Arena *arena = &several->arena;
    *batch = (Batch){.stride = lanes,
                     .parameter = ARENA_NEW(arena, double, (int64_t)configured->n_parameters *lanes),
                     .metric = ARENA_NEW(arena, double, (int64_t)configured->n_metrics *lanes),
                     .status = ARENA_NEW(arena, int32_t, lanes),
                     .trace = {.capacity = capacity, .every = 1}};
    if (traced == 0) return;
    batch->trace.sample = ARENA_NEW(arena, double, (traced * capacity * configured->n_columns));
    batch->trace.count = ARENA_NEW(arena, int64_t, traced);
}

static Error several_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced,
                             int64_t capacity)
{
    SeveralBackend *several = (SeveralBackend *)backend;
    const int64_t fields = configured->n_parameters + configured->n_metrics;
    const int64_t samples = traced * capacity * configured->n_columns;
    const size_t slot = (size_t)(fields * lanes + samples + traced) * 8 + (size_t)lanes * 4 + 4096;
    arena_destroy(&several->arena);
    arena_destroy(&several->debug_arena);
    several->configured = configured;
    several->lanes = lanes;
    several->observed = traced;
    several->capacity = capacity;
    TRY(several_each(several, several_prepare_device));
    TRY(arena_create(&several->arena, (size_t)backend->info.slots * slot, "batches for several devices"));
    for (int i = 0; i < backend->info.slots; i++) several_take(several, lanes, traced, capacity, &backend->batches[i]);
    return error_none();
}

static Error several_prepare_debug_device(SeveralDevice *device)
{
    const SeveralBackend *several = device->several;
    return backend_prepare_debug(device->inner, several_room(device, several->observed), several->capacity);
}

static Error several_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity)
{
    SeveralBackend *several = (SeveralBackend *)backend;
    const int64_t numbers = lanes * capacity * several->configured->n_debug;
    Arena *arena = &several->debug_arena;
    arena_destroy(arena);
    several->observed = lanes;
    several->capacity = capacity;
    TRY(several_each(several, several_prepare_debug_device));
    TRY(arena_create(arena, (size_t)backend->info.slots * ((size_t)(numbers + lanes) * 8 + 4096), "debug rows"));
    for (int i = 0; i < backend->info.slots; i++) {
        backend->batches[i].debug = (DebugRows){
            .capacity = capacity, .row = ARENA_NEW(arena, double, numbers), .count = ARENA_NEW(arena, int64_t, lanes)};
    }
    return error_none();
}

// ---- a batch --------------------------------------------------------------------------------------------------------

static Error several_begin_device(SeveralDevice *device)
{
    const SeveralBackend *several = device->several;
    const Batch *whole = &several->backend.batches[several->slot];
    Batch *own = backend_batch(device->inner, several->slot);
    own->lanes = several_share(device, whole->lanes);
    own->trace.lanes = several_share(device, whole->trace.lanes);
    own->trace.every = whole->trace.every;
    own->trace.first = whole->trace.first;
    own->trace.end = whole->trace.end;
    own->debug.lanes = several_share(device, whole->debug.lanes);
    own->debug.first = whole->debug.first;
    own->debug.end = whole->debug.end;
    device->done[several->slot] = own->lanes == 0;
    device->seconds[several->slot] = 0.0;
    device->inner->life[several->slot] = several->backend.life[several->slot];
    if (own->lanes == 0) return error_none();
    several_copy_fields(device, whole->parameter, own->parameter, several->configured->n_parameters, SEVERAL_OUT);
    return backend_begin(device->inner, several->slot);
}

static Error several_begin(Backend *backend, int slot)
{
    SeveralBackend *several = (SeveralBackend *)backend;
    several->slot = slot;
    memset(backend->batches[slot].status, 0, sizeof(int32_t) * (size_t)backend->batches[slot].lanes);
    return several_each(several, several_begin_device);
}

static Error several_advance_device(SeveralDevice *device)
{
    const SeveralBackend *several = device->several;
    if (device->done[several->slot]) return error_none();
    return backend_advance(device->inner, several->slot, several->ticks);
}

static Error several_advance(Backend *backend, int slot, int64_t ticks)
{
    SeveralBackend *several = (SeveralBackend *)backend;
    several->slot = slot;
    several->ticks = ticks;
    return several_each(several, several_advance_device);
}

static Error several_poll_device(SeveralDevice *device)
{
    const SeveralBackend *several = device->several;
    device->ended = true;
    if (!device->inner->in_flight[several->slot]) return error_none();
    return device->inner->poll(device->inner, several->slot, several->seconds, &device->ended);
}

static Error several_poll(Backend *backend, int slot, double seconds, bool *ended)
{
    SeveralBackend *several = (SeveralBackend *)backend;
    several->slot = slot;
    several->seconds = seconds;
    *ended = true;
    TRY(several_each(several, several_poll_device));
    for (int i = 0; i < several->n_devices; i++) *ended = *ended && several->devices[i]->ended;
    return error_none();
}

static void several_collect(const SeveralDevice *device)
{
    const SeveralBackend *several = device->several;
    const Configured *configured = several->configured;
    const Batch *whole = &several->backend.batches[several->slot], *own = backend_batch(device->inner, several->slot);
    const size_t samples = sizeof(double) * (size_t)(whole->trace.capacity * configured->n_columns);
    const size_t rows = sizeof(double) * (size_t)(whole->debug.capacity * configured->n_debug), count = sizeof(int64_t);
    several_copy_fields(device, whole->metric, own->metric, configured->n_metrics, SEVERAL_BACK);
    several_copy(device, whole->status, own->status, sizeof *own->status, whole->lanes, SEVERAL_BACK);
    several_copy(device, whole->trace.count, own->trace.count, count, whole->trace.lanes, SEVERAL_BACK);
    several_copy(device, whole->trace.sample, own->trace.sample, samples, whole->trace.lanes, SEVERAL_BACK);
    several_copy(device, whole->debug.count, own->debug.count, count, whole->debug.lanes, SEVERAL_BACK);
    several_copy(device, whole->debug.row, own->debug.row, rows, whole->debug.lanes, SEVERAL_BACK);
}

static Error several_wait_device(SeveralDevice *device)
{
    const int slot = device->several->slot;
    if (device->done[slot]) return error_none();
    TRY(backend_wait(device->inner, slot, &device->done[slot], &device->seconds[slot]));
    if (device->done[slot]) several_collect(device);
    return error_none();
}

// ---- a kernel made for the campaign ---------------------------------------------------------------------------------

// It is used where all devices use it, and refused where one refuses it, which goes on with the general one.
static void several_describe_made(SeveralBackend *several)
{
    BackendInfo *info = &several->backend.info;
    for (int i = 0; i < several->n_devices; i++) {
        const BackendInfo *own = &several->devices[i]->inner->info;
        if (i > 0 && (info->made == MADE_REFUSED || own->made == MADE_USED)) continue;
        info->made = own->made;
        snprintf(info->made_note, sizeof info->made_note, "%s", own->made_note);
    }
}

static Error several_use_made_device(SeveralDevice *device)
{
    return backend_use_made(device->inner, device->several->image, device->several->fixed);
}

static Error several_use_made(Backend *backend, const MadeImage *image, const double *fixed)
{
    SeveralBackend *several = (SeveralBackend *)backend;
    several->image = image;
    several->fixed = fixed;
    TRY(several_each(several, several_use_made_device));
    several_describe_made(several);
    return error_none();
}

// By the first device alone.
static Error several_adjoint(Backend *backend, const Configured *configured, int64_t lanes, size_t most,
                             AdjointDevice **out)
{
    return backend_adjoint(((SeveralBackend *)backend)->devices[0]->inner, configured, lanes, most, out);
}

// Waits for the slice on every device. The time of the batch is that of the slowest.
static Error several_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    SeveralBackend *several = (SeveralBackend *)backend;
    several->slot = slot;
    TRY(several_each(several, several_wait_device));
    *done = true;
    *kernel_seconds = 0.0;
    backend->running[slot] = 0;
    for (int i = 0; i < several->n_devices; i++) {
        const SeveralDevice *device = several->devices[i];
        if (!device->done[slot]) backend->running[slot] += backend_running(device->inner, slot);
        *done = *done && device->done[slot];
        if (device->seconds[slot] > *kernel_seconds) *kernel_seconds = device->seconds[slot];
    }
    backend->used_made[slot] = several->devices[0]->inner->used_made[slot];
    if (*done) several_describe_made(several);
    return error_none();
}

static void several_cut(Backend *backend)
{
    const SeveralBackend *several = (const SeveralBackend *)backend;
    for (int i = 0; i < several->n_devices; i++) {
        Backend *inner = several->devices[i]->inner;
        if (inner->cut != NULL) inner->cut(inner);
    }
}

// ---- opening and closing --------------------------------------------------------------------------------------------

// Runs in the device's thread, because CUDA has one current device per thread.
static Error several_open_device(SeveralDevice *device)
{
    const SeveralBackend *several = device->several;
    TRY(several->open(&several->options, device->number, &device->inner));
    device->inner->patience = several->backend.patience;
    device->inner->interrupted = several->options.interrupted;
    return error_none();
}

static Error several_close_device(SeveralDevice *device)
{
    if (device->inner != NULL) (void)backend_close(device->inner); // no slice is in flight
    device->inner = NULL;
    return error_none();
}

static void several_close(Backend *backend)
{
    SeveralBackend *several = (SeveralBackend *)backend;
    (void)several_each(several, several_close_device);
    for (int i = 0; i < several->n_devices; i++) several_stop(several, several->devices[i]);
    pthread_mutex_destroy(&several->mutex);
    pthread_cond_destroy(&several->work);
    pthread_cond_destroy(&several->idle);
    arena_destroy(&several->arena);
    arena_destroy(&several->debug_arena);
    free(several);
}

// "NVIDIA H200 (device 0) and devices 1, 2"
static void several_name(const SeveralBackend *several, char *name, size_t size)
{
    size_t used = (size_t)snprintf(name, size, "%.64s", several->devices[0]->inner->info.device);
    for (int i = 1; i < several->n_devices && used < size; i++) {
        const char *before = i > 1 ? "," : several->n_devices > 2 ? " and devices" : " and device";
        used += (size_t)snprintf(name + used, size - used, "%s %d", before, several->devices[i]->number);
    }
}

// Describes the sum: the least value of any device, times their number.
static void several_describe(SeveralBackend *several)
{
    BackendInfo *info = &several->backend.info;
    char warning[sizeof info->warning];
    snprintf(warning, sizeof warning, "%s", info->warning);
    *info = several->devices[0]->inner->info;
    info->devices = 0;
    info->failed = -1;
    for (int i = 0; i < several->n_devices; i++) {
        const BackendInfo *own = &several->devices[i]->inner->info;
        info->devices |= (uint64_t)1 << several->devices[i]->number;
        if (own->slots < info->slots) info->slots = own->slots;
        if (own->memory_free < info->memory_free) info->memory_free = own->memory_free;
        if (own->lane_multiple > info->lane_multiple) info->lane_multiple = own->lane_multiple;
    }
    info->memory_free *= several->n_devices;
    info->lane_multiple *= several->n_devices;
    if (several->n_devices > 1) several_name(several, info->device, sizeof info->device);
    if (warning[0] != '\0') snprintf(info->warning, sizeof info->warning, "%s", warning);
}

// True if the run can go on without the devices that could not be opened.
static bool several_can_leave_out(const SeveralBackend *several)
{
    bool any = false;
    for (int i = 0; i < several->n_devices; i++) {
        const ErrorKind kind = several->devices[i]->error.kind;
        if (kind != OK && kind != ERROR_DEVICE && kind != ERROR_MEMORY) return false;
        any = any || kind == OK;
    }
    return any;
}

static void several_leave_out(SeveralBackend *several)
{
    const int asked = several->n_devices;
    several->n_devices = 0;
    for (int i = 0; i < asked; i++) {
        SeveralDevice *device = several->devices[i];
        const Error error = device->error;
        if (error.kind == OK) {
            device->index = several->n_devices;
            several->devices[several->n_devices++] = device;
            continue;
        }
        several_stop(several, device);
        snprintf(several->backend.info.warning, sizeof several->backend.info.warning, "device %d is left out: %.200s",
                 device->number, error.text);
    }
}

static Error several_open_all(SeveralBackend *several, uint64_t devices)
{
    TRY(several_start(several, devices));
    const Error error = several_each(several, several_open_device);
    if (error.kind != OK && !several_can_leave_out(several)) return error;
    several_leave_out(several);
    several_describe(several);
    return error_none();
}

Error backend_several_open(BackendOpen open, const BackendOptions *options, uint64_t devices, Backend **out)
{
    SeveralBackend *several = calloc(1, sizeof *several);
    if (several == NULL) return error_make(ERROR_MACHINE, "not enough memory for several devices");
    several->open = open;
    several->options = *options;
    several->backend.patience = options->patience > 0 ? options->patience : BACKEND_PATIENCE;
    several->backend.prepare = several_prepare;
    several->backend.prepare_debug = several_prepare_debug;
    several->backend.begin = several_begin;
    several->backend.advance = several_advance;
    several->backend.poll = several_poll;
    several->backend.wait = several_wait;
    several->backend.use_made = several_use_made;
    several->backend.adjoint = several_adjoint;
    several->backend.cut = several_cut;
    several->backend.close = several_close;
    several->arena.purpose = several->debug_arena.purpose = "several devices";
    pthread_mutex_init(&several->mutex, NULL);
    pthread_cond_init(&several->work, NULL);
    pthread_cond_init(&several->idle, NULL);
    const Error error = several_open_all(several, devices);
    if (error.kind == OK)
        *out = &several->backend;
    else
        several_close(&several->backend);
    return error;
}
