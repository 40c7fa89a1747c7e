// The models' kernels for one instruction set, plain or observed: one object of sim/cpu_kernels.c each. All give the
// same bits.
#ifndef HOPSCOTCH_CPU_KERNELS_H
#define HOPSCOTCH_CPU_KERNELS_H

#include "lanes_view.h"
#include "models.h"
#include "philox.h"
#include "step_graph.h"

typedef void (*CpuKernel)(const Constants *constants, const double *assets, const LaneGroup *group);

// A kernel whose step is a graph that the threads of a team share.
typedef struct CpuShared {
    // Builds the graph in the arena. *out: NULL if the step of this world is not a graph.
    Error (*open)(const Constants *constants, const double *assets, int threads, Arena *arena, CpuStepGraph **out);
    // Does the work of the kernel, with the same bits. A graph opened by the plain kernels also serves the observed
    // kernels of the same instruction set, because only the leading thread records.
    void (*advance)(CpuStepGraph *graph, GraphTeam *team, const Constants *constants, const double *assets,
                    const LaneGroup *group);
} CpuShared;

// At most LANES lanes forward and back (Adjoint in sim.h). {NULL}: the model has none.
typedef struct CpuAdjoint {
    size_t (*bytes)(const Configured *configured, int lanes, size_t most);
    bool (*run)(const Configured *configured, const AdjointLanes *lanes, void *memory);
    bool (*back)(void *memory, const double *weight, double *gradient, double *growth);
} CpuAdjoint;

// Advances neighbouring full groups [count] with the bits of the kernel, of one slice: all have the same ticks.
typedef void (*CpuTile)(const Constants *constants, const double *assets, const LaneGroup *groups, int count);
enum { CPU_TILE_GROUPS = 16 }; // at most

typedef struct CpuKernels {
    int lanes; // LANES of that object: lanes per group
    CpuKernel kernels[KERNEL_COUNT];
    CpuShared shared[KERNEL_COUNT];                                      // {NULL}: no graph
    void (*normals)(Philox counter, uint64_t key, int count, double *z); // normals.h
    CpuAdjoint adjoint[KERNEL_COUNT];
    CpuTile tile[KERNEL_COUNT]; // NULL: groups are advanced one by one
} CpuKernels;

// Weak: kernels that were not linked are NULL. `make demo` links only observed ones, for v2 and for the machine's own
// instruction set; they replace the plain ones.
#define CPU_KERNELS_OF(isa)                                                                                            \
    extern const CpuKernels cpu_plain_##isa __attribute__((weak)), cpu_observed_##isa __attribute__((weak))
CPU_KERNELS_OF(scalar);
CPU_KERNELS_OF(v2);
CPU_KERNELS_OF(v3);
CPU_KERNELS_OF(v4);
CPU_KERNELS_OF(neon);

// At the end of a kernel, also of one whose lanes are no vectors: clears the upper halves of the vector registers.
// Otherwise the code that follows is up to 40 times slower. Compilers do it only when they optimise, and gcc 12 forgets
// some functions.
static inline void leave_vectors(void)
{
#if defined(__AVX__)
    __builtin_ia32_vzeroupper();
#endif
}

// Kernels of environments (sim/environment_kernels.c); weak too.
typedef struct EnvironmentKernels {
    int lanes;
    void (*reset[KERNEL_COUNT])(const EnvironmentView *e, const Constants *constants, const double *assets,
                                const LaneGroup *group, const EnvironmentBegin *begin); // NULL: no environment
    void (*step[KERNEL_COUNT])(const EnvironmentView *e, const Constants *constants, const double *assets,
                               const LaneGroup *group);
} EnvironmentKernels;

#define CPU_ENVIRONMENT_OF(isa) extern const EnvironmentKernels cpu_environment_##isa __attribute__((weak))
CPU_ENVIRONMENT_OF(scalar);
CPU_ENVIRONMENT_OF(v2);
CPU_ENVIRONMENT_OF(v3);
CPU_ENVIRONMENT_OF(v4);
CPU_ENVIRONMENT_OF(neon);

// Those of an instruction set, and its name; isa NULL: the best for that many lanes. Errors: as for a backend.
Error cpu_environment_kernels(const char *isa, int64_t lanes, const EnvironmentKernels **out, const char **name);
// "model name" of the processor, or "CPU"
void cpu_name(char *name, size_t size);

// The function that computes a group of lanes, and the graph that lets the threads of a team share it (NULL: none).
typedef struct CpuWay {
    const CpuKernels *plain, *observed;
    CpuStepGraph *graph;
} CpuWay;

// The way that the CPU backend uses for a group of `valid` lanes, after prepare.
const CpuWay *cpu_way(const Backend *backend, int valid);

// The fastest plain kernels on this processor. cpu_best_kernels: for groups of lanes. cpu_lane_kernels: for a single
// lane of the model with this kernel.
const CpuKernels *cpu_best_kernels(void);
const CpuKernels *cpu_lane_kernels(int kernel);
// The best kernels of LANES 1.
const CpuKernels *cpu_scalar_kernels(void);

#endif
