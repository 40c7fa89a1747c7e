// How many lanes a batch has (batch_size.c).
#ifndef HOPSCOTCH_BATCH_SIZE_H
#define HOPSCOTCH_BATCH_SIZE_H

#include "device.h"

enum { LOOP_SLOTS_MAX = 2 }; // batches in flight
enum { WRITER_COMMITS = 3 }; // batches to commit in memory: one being written, one waiting, one being filled

static inline int64_t lanes_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t lanes_greatest(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t lanes_divided_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// a*b, or the greatest number: 2^48 trials of 2^16 replicates are a legal spec, if not a wise one
static inline int64_t lanes_times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

bool plan_is_cpu(const Backend *backend);
// Bytes that the batches in flight and the writer's queue take, of the host and of the device.
void plan_memory(const Device *device, double *host_bytes, double *device_bytes);
// Error (memory): batches of so many lanes need more than the device or the machine has. It gives address space for
// more than that, and ends a program that uses it.
Error plan_fits(const Device *device);
// Of a CPU, unless somebody said how large batches are: they are multiples of so many trials, by the time that they
// take. 0: all have the same size, since a GPU is not filled by fewer trials than it can take.
int64_t plan_batch_least(const Spec *spec, const Backend *backend, const RunOptions *options);
// Lanes of a batch: whole trials with all their replicates, at least one trial, and so few that the trace of those that
// `every` records stays within its 64 MiB. `requested`: 0 lets the machine decide. *traced_max: lanes of a batch that
// may be traced, in whole trials too; 0 if the spec records no trajectories.
int64_t plan_batch_lanes(const Spec *spec, const Backend *backend, int64_t requested, int64_t *traced_max);

#endif
