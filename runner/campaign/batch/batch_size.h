// The number of lanes of a batch (batch_size.c).
#ifndef HOPSCOTCH_BATCH_SIZE_H
#define HOPSCOTCH_BATCH_SIZE_H

#include "device.h"

enum { LOOP_SLOTS_MAX = 2 }; // batches in flight
enum { WRITER_COMMITS = 3 }; // batches to commit in memory: one being written, one waiting, one being filled

static inline int64_t lanes_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t lanes_greatest(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t lanes_divided_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// a*b, or INT64_MAX: a spec may ask for 2^48 trials of 2^16 replicates
static inline int64_t lanes_times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

bool plan_is_cpu(const Backend *backend); // "cpu" or "program": not a GPU
// Memory (bytes) of the batches in flight and the writer's queue, of the host and of the device.
void plan_memory(const Device *device, double *host_bytes, double *device_bytes);
// Error (memory): batches of device->lanes lanes need more memory than the device or the machine has. The system grants
// more address space than it has memory, and kills a program that uses it.
Error plan_fits(const Device *device);
int64_t plan_group(const Spec *spec); // trials that are in a batch together (limits.retire); 1: any
// On a CPU, unless the user set the batch size, batches are multiples of this many trials and adapt to the time that
// they take. 0: all batches have the same size, as on a GPU, which fewer trials would not fill.
int64_t plan_batch_least(const Spec *spec, const Backend *backend, const RunOptions *options);
// Lanes of a batch: whole trials with all replicates, at least one trial, and few enough that the trace of the trials
// that `every` records fits 64 MiB. requested 0: the device decides. *traced_max: lanes of a batch that may be traced,
// in whole trials; 0 if the spec records no trajectories.
int64_t plan_batch_lanes(const Spec *spec, const Backend *backend, int64_t requested, int64_t *traced_max);

#endif
