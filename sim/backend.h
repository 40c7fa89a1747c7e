// The functions of a backend (CPU, GPU, ...), which backend.c calls. sim.h has the functions that others call.
#ifndef HOPSCOTCH_BACKEND_H
#define HOPSCOTCH_BACKEND_H

#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BACKEND_SLOTS_MAX = 2 };

// How long lanes run: numbers of a Configured.
typedef struct BackendLife {
    Constants constants;
    int64_t steps; // configured_steps
} BackendLife;

// The first member of every backend's own struct.
struct Backend {
    BackendInfo info;
    BackendLife life[BACKEND_SLOTS_MAX]; // of the slot's next batch, and of the one in flight
    Batch batches[BACKEND_SLOTS_MAX];    // the host's view of each slot
    double patience;                     // s
    int (*interrupted)(void);
    bool in_flight[BACKEND_SLOTS_MAX], stuck; // a slice of the slot is running; a slice hangs
    double copy_seconds[BACKEND_SLOTS_MAX];   // of the slot's current batch
    int64_t running[BACKEND_SLOTS_MAX];       // lanes that had not ended after the last wait
    bool used_made[BACKEND_SLOTS_MAX];        // the slot's current batch is advanced by a made kernel
    Error (*prepare)(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced, int64_t capacity);
    Error (*prepare_debug)(Backend *backend, int64_t lanes, int64_t capacity);
    Error (*begin)(Backend *backend, int slot);
    Error (*advance)(Backend *backend, int slot, int64_t ticks);
    // Waits at most `seconds` for the slice in flight. *ended: it has ended, also with an error.
    Error (*poll)(Backend *backend, int slot, double seconds, bool *ended);
    Error (*wait)(Backend *backend, int slot, bool *done, double *kernel_seconds);
    Error (*use_made)(Backend *backend, const MadeImage *image, const double *fixed); // NULL: takes no made kernels
    // NULL: it has no adjoint
    Error (*adjoint)(Backend *backend, const Configured *configured, int64_t lanes, size_t most, AdjointDevice **out);
    void (*cut)(Backend *backend);   // ends slices in flight early, with invalid results; NULL: not possible
    void (*close)(Backend *backend); // called when no slice is in flight
};

double backend_clock(void); // s, monotonic

// Opens one device of a backend, by its number.
typedef Error (*BackendOpen)(const BackendOptions *options, int device, Backend **out);

// The backends that users name. Errors: as backend_open.
Error backend_cpu_open(const BackendOptions *options, int device, Backend **out);
Error backend_program_open(const BackendOptions *options, int device, Backend **out);
double backend_program_bytes(const Backend *backend, const Configured *configured,
                             bool traced); // as backend_answer_bytes
#ifdef HOPSCOTCH_FAULTS
Error backend_faulty_open(const BackendOptions *options, int device, Backend **out);
int backend_faulty_count(void); // devices of this host
#endif
#ifdef HOPSCOTCH_CUDA
// weak: `make demo` leaves these out on a machine without a GPU
Error backend_cuda_open(const BackendOptions *options, int device, Backend **out) __attribute__((weak));
int backend_cuda_count(void) __attribute__((weak));
#endif
// As backend_adjoint, for device number `device`. Also left out by `make demo`.
Error adjoint_cuda_open(int device, double patience, const Configured *configured, int64_t lanes, size_t most,
                        AdjointDevice **out) __attribute__((weak));
// The same of `equations`.
Error trail_cuda_open(int device, double patience, const Configured *configured, int64_t lanes, size_t most,
                      AdjointDevice **out) __attribute__((weak));
// A backend for options->cases cases (sim/backend_cases.c).
Error backend_cases_open(const BackendOptions *options, Backend **out);
// Several devices as one backend (sim/backend_several.c). open: the function that opens one of them.
Error backend_several_open(BackendOpen open, const BackendOptions *options, uint64_t devices, Backend **out);

#ifdef __cplusplus
}
#endif
#endif
