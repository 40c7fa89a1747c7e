// The models' kernels compiled for one instruction set, of plain or of observed lanes: one object of sim/cpu_kernels.c
// each, all with the same bits.
#ifndef HOPSCOTCH_CPU_KERNELS_H
#define HOPSCOTCH_CPU_KERNELS_H

#include "lanes_view.h"
#include "models.h"
#include "philox.h"

typedef void (*CpuKernel)(const Constants *constants, const double *assets, const LaneGroup *group);

typedef struct CpuKernels {
    int lanes; // LANES of that object: lanes of a group
    CpuKernel kernels[KERNEL_COUNT];
    void (*normals)(Philox counter, uint64_t key, int count, double *z); // normals.h
} CpuKernels;

extern const CpuKernels cpu_plain_scalar, cpu_plain_v2, cpu_plain_v3, cpu_plain_v4;
extern const CpuKernels cpu_observed_scalar, cpu_observed_v2, cpu_observed_v3, cpu_observed_v4;
const CpuKernels *cpu_best_kernels(void); // plain ones that this processor can run

#endif
