// Every model's kernels for one instruction set. Compiled once for each, with -march=x86-64-vN and
// -DCPU_KERNELS=cpu_kernels_vN; sim/real.h takes LANES from the instruction set.
#define HOPSCOTCH_KERNELS
#include "cpu_kernels.h"

#include "lanes.h"

#ifndef CPU_KERNELS
#define CPU_KERNELS cpu_kernels_v2
#endif

#define CPU_KERNELS_DEFINE(model, kernel)                                                                              \
    static void plain_##model##_##kernel(const Constants *constants, const double *assets, const LaneGroup *group)     \
    {                                                                                                                  \
        model##_##kernel(constants, assets, group, false);                                                             \
    }                                                                                                                  \
    static void observed_##model##_##kernel(const Constants *constants, const double *assets, const LaneGroup *group)  \
    {                                                                                                                  \
        model##_##kernel(constants, assets, group, true);                                                              \
    }
KERNELS(CPU_KERNELS_DEFINE)

#define CPU_KERNELS_PLAIN(model, kernel) plain_##model##_##kernel,
#define CPU_KERNELS_OBSERVED(model, kernel) observed_##model##_##kernel,
const CpuKernels CPU_KERNELS = {LANES, {KERNELS(CPU_KERNELS_PLAIN)}, {KERNELS(CPU_KERNELS_OBSERVED)}};
