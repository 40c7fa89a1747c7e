// Runs of a lane of `equations` for its derivatives: sim/trail_kernels.c.
#ifndef HOPSCOTCH_TRAIL_KERNELS_H
#define HOPSCOTCH_TRAIL_KERNELS_H

#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// How much memory a lane of a GPU has for its trail (equations/adjoint/lane.h, TrailPlan), in doubles. `doubles` are
// those of the lane and of its tangent.
typedef struct TrailSizes {
    int64_t room, most, at_once, doubles;
    int width;
    bool known; // the greatest number of steps is
} TrailSizes;

// As the functions of an Adjoint, for one lane.
typedef struct TrailKernels {
    size_t (*bytes)(const Configured *configured, size_t most);
    bool (*run)(const Configured *configured, const AdjointLanes *lanes, void *memory);
    bool (*back)(void *memory, const double *weight, double *gradient, double *growth);
    const char *(*trouble)(const void *memory, double *time);
    size_t (*tangent_bytes)(const Configured *configured);
    int (*tangent)(const Configured *configured, const double *parameter, const double *direction, void *memory,
                   double *metric, double *slope, ResidualSeries *series, int n_series);
    // For a GPU (trail_cuda.cu), which has the same trails. most: bytes, about.
    TrailSizes (*sizes)(const Configured *configured, size_t most);
    // block[bytes] <- a TrailSystem and what it points to, as they are to stand from address `at` of the GPU on.
    // Returns `bytes`; block NULL: no more than that.
    size_t (*copy)(const Configured *configured, const void *at, void *block);
    const char *(*reason)(int trouble); // the text of a TrailTrouble; NULL: there is none
} TrailKernels;

// The same bits. Only those of this processor are linked.
extern const TrailKernels trail_kernels_v2, trail_kernels_v3, trail_kernels_neon;

const TrailKernels *cpu_trail_kernels(void); // the faster ones of this processor

#ifdef __cplusplus
}
#endif

#endif
