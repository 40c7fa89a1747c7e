// The device of a run: a backend with batches as large as its memory allows. It is opened again when it fails, and
// replaced when it fails again. The device and the size of a batch never change a bit. So a device that fails costs
// only the batches in flight, which are computed again.
#include "device.h"

#include "../store/commit/wanted_arrays.h"
#include "batch_size.h"

#include <stdarg.h>
#include <string.h>

// How many times per run a failed device is opened again. Then another one is used.
enum { DEVICE_CHANCES = 3 };

bool device_is_at_fault(ErrorKind kind) { return kind == ERROR_DEVICE || kind == ERROR_MEMORY; }

static void device_note(Device *device, const char *format, ...) PRINTF_LIKE(2, 3);

static void device_note(Device *device, const char *format, ...)
{
    size_t used = strlen(device->note);
    va_list arguments;
    if (used > 0) used += (size_t)snprintf(device->note + used, sizeof device->note - used, "; ");
    if (used >= sizeof device->note) return;
    va_start(arguments, format);
    vsnprintf(device->note + used, sizeof device->note - used, format, arguments);
    va_end(arguments);
}

static bool device_is_cpu(const Device *device)
{
    return device->options.name != NULL && strcmp(device->options.name, "cpu") == 0;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

static Error device_prepare(Device *device)
{
    const Spec *spec = device->spec;
    device->lanes = plan_batch_lanes(spec, device->backend, device->requested, &device->traced_max);
    device->debug_max = record_debug_lanes(spec, device->lanes / spec->replicates.count);
    TRY(plan_fits(device));
    TRY(backend_prepare(device->backend, &device->configured, device->lanes, device->traced_max,
                        spec->record.trajectories ? recording_of(spec, RECORD_TRAJECTORIES).capacity : 0));
    if (device->debug_max == 0) return error_none();
    return backend_prepare_debug(device->backend, device->debug_max, recording_of(spec, RECORD_DEBUG).capacity);
}

// A batch holds whole groups of trials that are compared, or whole trials: the smallest is one with all its replicates.
static bool device_halve(Device *device)
{
    if (device->lanes <= plan_group(device->spec) * device->spec->replicates.count) return false;
    device->requested = device->lanes / 2;
    return true;
}

static Error device_fit(Device *device)
{
    Error error = device_prepare(device);
    const int64_t wanted = device->lanes;
    while (error.kind == ERROR_MEMORY && device_halve(device)) error = device_prepare(device);
    if (error.kind == OK && device->lanes < wanted) {
        device_note(device, "%s has too little memory for batches of %s replicates: they have %s now",
                    backend_info(device->backend)->device, text_count(wanted).text, text_count(device->lanes).text);
    }
    if (error.kind != ERROR_MEMORY) return error;
    return error_make(ERROR_MEMORY,
                      "%s has too little memory for %s (%s): other programs use it, or "
                      "the spec records too much per trial",
                      backend_info(device->backend)->device,
                      spec_has_rungs(device->spec) ? "the trials that a rung of limits.retire compares (of)"
                                                   : "a single trial",
                      error.text);
}

// ---- trouble --------------------------------------------------------------------------------------------------------

Error device_open_backend(const BackendOptions *options, Backend **backend)
{
    TRY(backend_open(options, backend));
    const BackendInfo *info = backend_info(*backend);
    if (options->devices == 0 || options->devices == BACKEND_ALL_DEVICES || info->devices != 0) return error_none();
    const Error error =
        error_make(ERROR_USER,
                   "--device gives numbers of GPUs, and this would run on %s, because the backend is "
                   "%.20s or there is no GPU that can be used (`%s` says why): leave it out",
                   info->device, options->name != NULL ? options->name : "auto", command_again(NULL, "version").text);
    (void)backend_close(*backend);
    *backend = NULL;
    return error;
}

static Error device_start(Device *device)
{
    TRY(device->any ? backend_open(&device->options, &device->backend)
                    : device_open_backend(&device->options, &device->backend));
    const uint64_t devices = backend_info(device->backend)->devices;
    if (devices != 0) device->options.devices = devices; // without those that were left out
    Error error = device_fit(device);
    if (error.kind == OK)
        error = made_begin(device->spec, &device->configured, device->options.kernels, device->lanes, device->backend,
                           &device->made);
    if (error.kind == OK) return error;
    device->failed = backend_info(device->backend)->failed;
    (void)backend_close(device->backend); // nothing is in flight
    device->backend = NULL;
    return error;
}

// The devices left to try: of several, all but the one that failed; if any other may replace it, the next one.
static bool device_next(Device *device)
{
    uint64_t *devices = &device->options.devices;
    const bool several = (*devices & (*devices - 1)) != 0;
    if (several)
        *devices &= device->failed >= 0 ? ~((uint64_t)1 << device->failed) : *devices - 1;
    else
        *devices = device->any ? *devices << 1 : 0;
    device->failed = -1;
    return *devices != 0;
}

// Continues on another device of the host, or on the CPU if the user allows it; else gives the cause.
static Error device_elsewhere(Device *device, const Error *cause)
{
    device->failures = 0;
    while (!device_is_cpu(device) && device_next(device)) {
        const Error error = device_start(device);
        if (error.kind == OK) return error;
        if (!device_is_at_fault(error.kind)) break; // no such device
    }
    if (!device->fallback || device_is_cpu(device)) return *cause;
    device->options.name = "cpu";
    device->options.devices = 0;
    return device_start(device);
}

static void device_note_trouble(Device *device, const char *name, const Error *cause)
{
    device_note(device, "%s: %s; the run continues on %s with batches of %s lanes", name, cause->text,
                backend_info(device->backend)->device, text_count(device->lanes).text);
}

Error device_open(const Spec *spec, const RunOptions *options, Arena *arena, Device *device)
{
    *device = (Device){.spec = spec,
                       .options = options->backend,
                       .any = options->backend.devices == 0,
                       .fallback = options->fallback_cpu,
                       .failed = -1,
                       .requested = options->batch > 0 ? options->batch : spec->device.batch};
    if (device->any) device->options.devices = 1;
    if (device->options.name == NULL) device->options.name = spec->device.backend;
    TRY(program_options(spec, arena, &device->options));
    TRY(spec_build(spec, arena, &device->configured));
    const Error error = device_start(device);
    if (!device_is_at_fault(error.kind)) return error;
    TRY(device_elsewhere(device, &error));
    device_note_trouble(device, "a device could not be used", &error);
    return error_none();
}

// A made kernel may be the cause: the general one goes on, and no later run takes the same.
static void device_leave_made(Device *device, const Error *cause)
{
    const BackendInfo *info = backend_info(device->backend);
    if (info->made == MADE_NONE) return;
    device->options.kernels = "general";
    made_forget(&device->made);
    if (info->made == MADE_REFUSED)
        snprintf(device->kernel_note, sizeof device->kernel_note, "made for %s, not used: %s", info->architecture,
                 info->made_note);
    else
        snprintf(device->kernel_note, sizeof device->kernel_note,
                 "made for %s, not used since the device failed: %.400s", info->architecture, cause->text);
}

Error device_recover(Device *device, Error error)
{
    char name[128];
    device->note[0] = '\0';
    snprintf(name, sizeof name, "%s", backend_info(device->backend)->device);
    if (!device_is_at_fault(error.kind) || (error.kind == ERROR_MEMORY && !device_halve(device))) return error;
    device->failed = backend_info(device->backend)->failed;
    device_leave_made(device, &error);
    if (!device_close(device)) return error_make(ERROR_STUCK, "%s", error.text);
    device->failures += error.kind == ERROR_DEVICE;
    Error again = error;
    if (device->failures < DEVICE_CHANCES) again = device_start(device);
    if (device_is_at_fault(again.kind)) again = device_elsewhere(device, &error);
    if (again.kind != OK) return error_make(error.kind, "%s failed: %.360s", name, error.text);
    device_note_trouble(device, name, &error);
    return again;
}

bool device_close(Device *device)
{
    made_end(&device->made);
    const bool closed = backend_close(device->backend);
    device->backend = NULL;
    return closed;
}
