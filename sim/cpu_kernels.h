// The models' kernels compiled for one instruction set: one object of sim/cpu_kernels.c each, all with the same bits.
#ifndef HOPSCOTCH_CPU_KERNELS_H
#define HOPSCOTCH_CPU_KERNELS_H

#include "lanes_view.h"
#include "models.h"

typedef void (*CpuKernel)(const Constants *constants, const double *assets, const LaneGroup *group);

typedef struct CpuKernels {
    int lanes; // LANES of that object: lanes of a group
    CpuKernel plain[KERNEL_COUNT], observed[KERNEL_COUNT];
} CpuKernels;

extern const CpuKernels cpu_kernels_v2, cpu_kernels_v3, cpu_kernels_v4, cpu_kernels_scalar;

#endif
