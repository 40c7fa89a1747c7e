// The kernels of environments for one instruction set. Compiled once for each, with -march=x86-64-vN and
// -DENVIRONMENT_KERNELS_OF=cpu_environment_vN, as sim/cpu_kernels.c.
#define HOPSCOTCH_KERNELS
#define HOPSCOTCH_ENVIRONMENTS
#include "cpu_kernels.h"

#include "lanes.h"

#ifndef ENVIRONMENT_KERNELS_OF
#define ENVIRONMENT_KERNELS_OF cpu_environment_v2
#endif

#define ENVIRONMENT_DEFINE(model, kernel)                                                                              \
    ENVIRONMENT_KERNEL(model, kernel)                                                                                  \
    static void reset_##model##_##kernel(const EnvironmentView *e, const Constants *constants, const double *assets,   \
                                         const LaneGroup *group, const EnvironmentBegin *begin)                        \
    {                                                                                                                  \
        environment_reset_##model##_##kernel(e, constants, assets, group, begin);                                      \
        leave_vectors();                                                                                               \
    }                                                                                                                  \
    static void step_##model##_##kernel(const EnvironmentView *e, const Constants *constants, const double *assets,    \
                                        const LaneGroup *group)                                                        \
    {                                                                                                                  \
        const mask going = environment_advance_##model##_##kernel(e, constants, assets, group);                        \
        environment_follow_##model##_##kernel(e, constants, assets, group, going);                                     \
        leave_vectors();                                                                                               \
    }
ENVIRONMENT_KERNELS(ENVIRONMENT_DEFINE)

#define ENVIRONMENT_RESET(model, kernel) [KERNEL_##model##_##kernel] = reset_##model##_##kernel,
#define ENVIRONMENT_STEP(model, kernel) [KERNEL_##model##_##kernel] = step_##model##_##kernel,
const EnvironmentKernels ENVIRONMENT_KERNELS_OF = {
    LANES, {ENVIRONMENT_KERNELS(ENVIRONMENT_RESET)}, {ENVIRONMENT_KERNELS(ENVIRONMENT_STEP)}};
