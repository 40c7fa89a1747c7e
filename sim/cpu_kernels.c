// All models' kernels for one instruction set, plain or observed. Compiled once for each, with -march=x86-64-vN,
// -DCPU_KERNELS=cpu_plain_vN and -DOBSERVED=false, or cpu_observed_vN and true; on aarch64 for neon and scalar.
// sim/real.h takes LANES from the instruction set.
#define HOPSCOTCH_KERNELS
#define HOPSCOTCH_GRAPHS
#define HOPSCOTCH_ADJOINT_GROUPS
#include "cpu_kernels.h"

#include "equations/tile.h"
#include "lanes.h"
#include "normals.h"

#ifndef CPU_KERNELS
#define CPU_KERNELS cpu_plain_v2
#define OBSERVED false
#endif

#define CPU_KERNELS_DEFINE(model, kernel, threads, alone, work, fill)                                                  \
    static void run_##model##_##kernel(const Constants *constants, const double *assets, const LaneGroup *group)       \
    {                                                                                                                  \
        model##_##kernel(constants, assets, group, OBSERVED);                                                          \
        leave_vectors();                                                                                               \
    }
KERNELS(CPU_KERNELS_DEFINE)

static void run_normals(Philox counter, uint64_t key, int count, double *z)
{
    normals_of(counter, key, count, z);
    leave_vectors();
}

#define CPU_KERNELS_SHARE(model, kernel)                                                                               \
    static Error open_##model##_##kernel(const Constants *constants, const double *assets, int threads, Arena *arena,  \
                                         CpuStepGraph **out)                                                           \
    {                                                                                                                  \
        const Error error = model##_##kernel##_open(constants, assets, threads, arena, out);                           \
        leave_vectors();                                                                                               \
        return error;                                                                                                  \
    }                                                                                                                  \
    static void share_##model##_##kernel(CpuStepGraph *graph, GraphTeam *team, const Constants *constants,             \
                                         const double *assets, const LaneGroup *group)                                 \
    {                                                                                                                  \
        model##_##kernel##_share(graph, team, constants, assets, group, OBSERVED);                                     \
        leave_vectors();                                                                                               \
    }
GRAPH_KERNELS(CPU_KERNELS_SHARE)

#define CPU_KERNELS_REVERSE(model, kernel)                                                                             \
    static bool forth_##model##_##kernel(const Configured *configured, const AdjointLanes *lanes, void *memory)        \
    {                                                                                                                  \
        const bool ended = model##_adjoint_run(configured, lanes, memory);                                             \
        leave_vectors();                                                                                               \
        return ended;                                                                                                  \
    }                                                                                                                  \
    static bool back_##model##_##kernel(void *memory, const double *weight, double *gradient, double *growth)          \
    {                                                                                                                  \
        const bool ended = model##_adjoint_back(memory, weight, gradient, growth);                                     \
        leave_vectors();                                                                                               \
        return ended;                                                                                                  \
    }
ADJOINT_KERNELS(CPU_KERNELS_REVERSE)

#define CPU_KERNELS_TILE(model, kernel)                                                                                \
    static void tile_##model##_##kernel(const Constants *constants, const double *assets, const LaneGroup *groups,     \
                                        int count)                                                                     \
    {                                                                                                                  \
        model##_##kernel##_tile(constants, assets, groups, count, OBSERVED);                                           \
        leave_vectors();                                                                                               \
    }
TILE_KERNELS(CPU_KERNELS_TILE)

#define CPU_KERNELS_ENTRY(model, kernel, threads, alone, work, fill) run_##model##_##kernel,
#define CPU_KERNELS_SHARED(model, kernel)                                                                              \
    [KERNEL_##model##_##kernel] = {open_##model##_##kernel, share_##model##_##kernel},
#define CPU_KERNELS_ADJOINT(model, kernel)                                                                             \
    [KERNEL_##model##_##kernel] = {model##_adjoint_bytes, forth_##model##_##kernel, back_##model##_##kernel},
#define CPU_KERNELS_TILED(model, kernel) [KERNEL_##model##_##kernel] = tile_##model##_##kernel,
const CpuKernels CPU_KERNELS = {
    LANES,       {KERNELS(CPU_KERNELS_ENTRY)},           {GRAPH_KERNELS(CPU_KERNELS_SHARED)},
    run_normals, {ADJOINT_KERNELS(CPU_KERNELS_ADJOINT)}, {TILE_KERNELS(CPU_KERNELS_TILED)}};
