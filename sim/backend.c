// The table of backends, the functions that all of them share, and the watchdog.
#include "backend.h"
#include "faults.h"

#include <math.h>
#include <string.h>
#include <time.h>

typedef struct BackendEntry {
    const char *name;
    BackendOpen open;
    int (*count)(void); // number of devices on this host; NULL: one
} BackendEntry;

// in the order that `auto` tries them
static const BackendEntry backend_entries[] = {
#ifdef HOPSCOTCH_CUDA
    {"cuda", backend_cuda_open, backend_cuda_count},
#endif
    {"cpu", backend_cpu_open, NULL},
    {"program", backend_program_open, NULL}, // by name only: `auto` finds a CPU
#ifdef HOPSCOTCH_FAULTS
    {"faulty", backend_faulty_open, backend_faulty_count},
#endif
};

enum { BACKEND_ENTRIES = sizeof backend_entries / sizeof backend_entries[0] };

static bool backend_has_cuda(void)
{
    return strcmp(backend_entries[0].name, "cuda") == 0 && backend_entries[0].open != NULL;
}

const char *backend_gpu_name(void)
{
    if (backend_faulty_is_gpu() != 0) return "faulty";
    return backend_has_cuda() ? "cuda" : NULL;
}

bool backend_gpu_is_faster(double there, double here)
{
    const int forced = backend_faulty_is_gpu();
    return forced != 0 ? forced > 0 : there < here;
}

// True for a program of `make demo` that was built without a GPU although the CUDA toolkit is installed.
static bool backend_leaves_cuda(void)
{
    return strcmp(backend_entries[0].name, "cuda") == 0 && backend_entries[0].open == NULL;
}

static int backend_lowest(uint64_t devices) { return devices != 0 ? __builtin_ctzll(devices) : 0; }

static Error backend_open_devices(const BackendEntry *entry, const BackendOptions *options, Backend **out)
{
    uint64_t devices = entry->count != NULL ? options->devices : 0;
    if (devices == BACKEND_ALL_DEVICES) {
        const int count = entry->count();
        devices = count > 0 && count < BACKEND_DEVICES_MAX ? ((uint64_t)1 << count) - 1 : 0;
    }
    if ((devices & (devices - 1)) != 0) return backend_several_open(entry->open, options, devices, out);
    TRY(entry->open(options, backend_lowest(devices), out));
    if (entry->count != NULL) (*out)->info.devices = (uint64_t)1 << backend_lowest(devices);
    (*out)->info.failed = -1;
    return error_none();
}

// If a GPU exists but fails, its error is reported; the CPU is not used silently in its place. A program runs only
// where it is named.
static Error backend_open_named(const BackendOptions *options, Backend **out)
{
    const char *name = options->name != NULL ? options->name : "auto";
    const bool automatic = strcmp(name, "auto") == 0;
    Error error = error_make(ERROR_USER, "there is no backend `%s` in this build; it has cpu%s", name,
                             backend_has_cuda()      ? " and cuda"
                             : backend_leaves_cuda() ? " only (built by `make demo`: run `make`)"
                                                     : " only (built without CUDA)");
    for (int i = 0; i < BACKEND_ENTRIES; i++) {
        const bool wanted =
            automatic ? backend_entries[i].open != backend_program_open : strcmp(name, backend_entries[i].name) == 0;
        if (backend_entries[i].open == NULL || !wanted) continue;
        error = backend_open_devices(&backend_entries[i], options, out);
        if (error.kind != ERROR_MACHINE || !automatic) return error;
    }
    return error;
}

Error backend_open(const BackendOptions *options, Backend **out)
{
    TRY(options->cases > 0 ? backend_cases_open(options, out) : backend_open_named(options, out));
    (*out)->patience = options->patience > 0 ? options->patience : BACKEND_PATIENCE;
    (*out)->interrupted = options->interrupted;
    return error_none();
}

const BackendInfo *backend_info(const Backend *backend) { return &backend->info; }

int64_t backend_lane_bytes(const Configured *configured)
{
    const int64_t status_and_order = 2 * (int64_t)sizeof(int32_t);
    const int metered = configured->meter != NULL ? configured->meter->of.cells : 0,
              controlled = configured->law != NULL ? configured->law->of.cells : 0;
    return 8 * (int64_t)(configured->n_parameters + configured->n_work + configured->n_metrics + metered + controlled) +
           status_and_order;
}

double backend_answer_bytes(const Backend *backend, const Configured *configured, bool traced)
{
    return configured->model->runs_program ? backend_program_bytes(backend, configured, traced) : 0.0;
}

int64_t configured_steps(const Configured *configured)
{
    return configured->steps_max > 0 ? configured->steps_max : configured->ticks;
}

int64_t trace_capacity(int64_t ticks, int64_t every) { return ticks / every + 2; }

Error backend_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced, int64_t capacity)
{
    for (int slot = 0; slot < BACKEND_SLOTS_MAX; slot++) backend_live(backend, slot, configured);
    return backend->prepare(backend, configured, lanes, traced, capacity);
}

void backend_live(Backend *backend, int slot, const Configured *configured)
{
    backend->life[slot] = (BackendLife){.constants = configured->constants, .steps = configured_steps(configured)};
}

Error backend_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity)
{
    return backend->prepare_debug(backend, lanes, capacity);
}

Batch *backend_batch(Backend *backend, int slot) { return &backend->batches[slot]; }

double backend_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

Error backend_begin(Backend *backend, int slot)
{
    const double start = backend_clock();
    const Error error = backend->begin(backend, slot);
    backend->copy_seconds[slot] = backend_clock() - start;
    return error;
}

double backend_copy_seconds(const Backend *backend, int slot) { return backend->copy_seconds[slot]; }

Error backend_advance(Backend *backend, int slot, int64_t ticks)
{
    backend->in_flight[slot] = true;
    return backend->advance(backend, slot, ticks);
}

Error backend_use_made(Backend *backend, const MadeImage *image, const double *fixed)
{
    return backend->use_made != NULL ? backend->use_made(backend, image, fixed) : error_none();
}

Error backend_adjoint(Backend *backend, const Configured *configured, int64_t lanes, size_t most, AdjointDevice **out)
{
    *out = NULL;
    return backend->adjoint != NULL ? backend->adjoint(backend, configured, lanes, most, out) : error_none();
}

int64_t backend_running(const Backend *backend, int slot) { return backend->running[slot]; }

bool backend_used_made(const Backend *backend, int slot) { return backend->used_made[slot]; }

// ---- the watchdog ---------------------------------------------------------------------------------------------------

static Error backend_stuck(const Backend *backend, bool hurried)
{
    if (hurried)
        return error_make(ERROR_STUCK,
                          "interrupted by the user; the computation in flight on %s did not end, and was left",
                          backend->info.device);
    return error_make(ERROR_STUCK,
                      "%s did not finish a slice (--slice) of a batch within %g s: use a smaller --slice or --batch, "
                      "or a longer --watchdog SECONDS; otherwise the kernel or its driver hangs",
                      backend->info.device, backend->patience);
}

// Waits until the slice ends. Patience is counted in polls, so that a process that was itself stopped for an hour loses
// one poll only. After Ctrl-C the clock counts.
static Error backend_watch(Backend *backend, int slot)
{
    const double look = 0.1, hurry = 1.0; // s
    double waited = 0, hurried = -1;      // hurried: time of Ctrl-C; -1: none
    for (bool ended = false; !ended;) {
        TRY(backend->poll(backend, slot, look, &ended));
        waited += look;
        if (hurried < 0 && backend->interrupted != NULL && backend->interrupted() != 0) hurried = backend_clock();
        const bool leaves = hurried >= 0 && backend_clock() - hurried >= hurry;
        backend->stuck = !ended && (waited >= backend->patience || leaves);
        if (backend->stuck) return backend_stuck(backend, leaves);
    }
    backend->in_flight[slot] = false;
    return error_none();
}

Error backend_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    double seconds = 0;
    *done = false;
    TRY(backend_watch(backend, slot));
    const double ended = backend_clock();
    TRY(backend->wait(backend, slot, done, &seconds));
    backend->copy_seconds[slot] += backend_clock() - ended;
    *kernel_seconds = isfinite(seconds) && seconds >= 0 ? seconds : 0; // a device's clock may be wrong
    return error_none();
}

Error backend_look(Backend *backend, int slot, bool *ended) { return backend->poll(backend, slot, 0, ended); }

bool backend_close(Backend *backend)
{
    if (backend == NULL) return true;
    if (backend->cut != NULL && !backend->stuck) backend->cut(backend);
    for (int i = 0; i < BACKEND_SLOTS_MAX && !backend->stuck; i++) {
        if (backend->in_flight[i]) (void)backend_watch(backend, i);
    }
    if (backend->stuck) return false;
    backend->close(backend);
    return true;
}
