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
    // Does what the kernel does, to the same bits. A graph that the plain kernels opened serves the observed ones of
    // that instruction set too: only the thread that leads writes down what is observed.
    void (*advance)(CpuStepGraph *graph, GraphTeam *team, const Constants *constants, const double *assets,
                    const LaneGroup *group);
} CpuShared;

typedef struct CpuKernels {
    int lanes; // LANES of that object: lanes of a group
    CpuKernel kernels[KERNEL_COUNT];
    CpuShared shared[KERNEL_COUNT];                                      // {NULL} where there is no graph
    void (*normals)(Philox counter, uint64_t key, int count, double *z); // normals.h
} CpuKernels;

// Weak: those that a program is not linked with are at NULL. That of `make demo` has the observed ones of v2 and of its
// machine's instruction set, which also do the work of the plain ones.
#define CPU_KERNELS_OF(isa)                                                                                            \
    extern const CpuKernels cpu_plain_##isa __attribute__((weak)), cpu_observed_##isa __attribute__((weak))
CPU_KERNELS_OF(scalar);
CPU_KERNELS_OF(v2);
CPU_KERNELS_OF(v3);
CPU_KERNELS_OF(v4);

// What computes a group of lanes, and the graph by which the threads of a team share it; NULL: they don't.
typedef struct CpuWay {
    const CpuKernels *plain, *observed;
    CpuStepGraph *graph;
} CpuWay;

// That of the CPU backend for a group of so many lanes, once it is prepared.
const CpuWay *cpu_way(const Backend *backend, int valid);

// Plain ones that are best on this processor: for groups of lanes, for one lane of a model's kernel.
const CpuKernels *cpu_best_kernels(void);
const CpuKernels *cpu_lane_kernels(int kernel);

#endif
