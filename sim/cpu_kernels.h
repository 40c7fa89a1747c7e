// The models' kernels compiled for one instruction set, of plain or of observed lanes: one object of sim/cpu_kernels.c
// each, all with the same bits.
#ifndef HOPSCOTCH_CPU_KERNELS_H
#define HOPSCOTCH_CPU_KERNELS_H

#include "lanes_view.h"
#include "models.h"
#include "philox.h"
#include "step_graph.h"

typedef void (*CpuKernel)(const Constants *constants, const double *assets, const LaneGroup *group);

// Its step as a graph that the threads of a team run.
typedef struct CpuShared {
    // Lays the graph into the arena. *out: NULL if this world's step is none.
    Error (*open)(const Constants *constants, const double *assets, int threads, Arena *arena, CpuStepGraph **out);
    // Does what the plain kernel does, to the same bits.
    void (*advance)(CpuStepGraph *graph, GraphTeam *team, const Constants *constants, const double *assets,
                    const LaneGroup *group);
} CpuShared;

typedef struct CpuKernels {
    int lanes; // LANES of that object: lanes of a group
    CpuKernel kernels[KERNEL_COUNT];
    CpuShared shared[KERNEL_COUNT]; // {NULL} where there is no graph, and of observed lanes
    void (*normals)(Philox counter, uint64_t key, int count, double *z); // normals.h
} CpuKernels;

extern const CpuKernels cpu_plain_scalar, cpu_plain_v2, cpu_plain_v3, cpu_plain_v4;
extern const CpuKernels cpu_observed_scalar, cpu_observed_v2, cpu_observed_v3, cpu_observed_v4;
const CpuKernels *cpu_best_kernels(void); // plain ones that this processor can run

#endif
