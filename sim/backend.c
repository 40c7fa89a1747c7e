// The backends by name, and the calls that are the same for all of them.
#include "backend.h"

#include <string.h>

typedef struct BackendEntry {
    const char *name;
    Error (*open)(const BackendOptions *options, Backend **out);
} BackendEntry;

// in the order that `auto` tries them
static const BackendEntry backend_entries[] = {
#ifdef HOPSCOTCH_CUDA
    {"cuda", backend_cuda_open},
#endif
    {"cpu", backend_cpu_open},
};

enum { BACKEND_ENTRIES = sizeof backend_entries / sizeof backend_entries[0] };

Error backend_open(const BackendOptions *options, Backend **out)
{
    const char *name = options->name != NULL ? options->name : "auto";
    const bool automatic = strcmp(name, "auto") == 0;
    Error error = error_make(ERROR_USER, "there is no backend `%s` in this build; it has cpu%s", name,
                             BACKEND_ENTRIES > 1 ? " and cuda" : " only (built without CUDA)");
    for (int i = 0; i < BACKEND_ENTRIES; i++) {
        if (!automatic && strcmp(name, backend_entries[i].name) != 0) continue;
        error = backend_entries[i].open(options, out);
        if (error.kind == OK || !automatic) return error;
    }
    return error;
}

const BackendInfo *backend_info(const Backend *backend) { return &backend->info; }

int64_t backend_lane_bytes(const Configured *configured)
{
    return 8 * (int64_t)(configured->n_parameters + configured->n_work + configured->n_metrics) + 4;
}

int64_t configured_steps(const Configured *configured)
{
    return configured->steps_max > 0 ? configured->steps_max : configured->ticks;
}

int64_t trace_capacity(int64_t ticks, int64_t every) { return ticks / every + 2; }

Error backend_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced, int64_t capacity)
{
    return backend->prepare(backend, configured, lanes, traced, capacity);
}

Error backend_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity)
{
    return backend->prepare_debug(backend, lanes, capacity);
}

Batch *backend_batch(Backend *backend, int slot) { return &backend->batches[slot]; }

Error backend_begin(Backend *backend, int slot) { return backend->begin(backend, slot); }

Error backend_advance(Backend *backend, int slot, int64_t ticks) { return backend->advance(backend, slot, ticks); }

Error backend_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    return backend->wait(backend, slot, done, kernel_seconds);
}

void backend_close(Backend *backend)
{
    if (backend != NULL) backend->close(backend);
}
