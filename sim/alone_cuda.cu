// Kernels for a thread for each lane (alone.cuh), compiled without teams: the compiler knows that no thread waits for
// another one and how far apart a lane's numbers lie, and rows of a constraint are computed together, as on a CPU. The
// bits are the same.
#define HOPSCOTCH_ALONE
#include "alone.cuh"
#include "lanes.h"
#include "models.h"

enum {
    ALONE_THREAD_BLOCK = THREAD_BLOCK,
    ALONE_OF_PROCESSOR = 6, // thread blocks: 168 registers for a thread. With 255 a third slower, with 128 a twentieth
};

#define ALONE_KERNEL(prefix, model, kernel, is_observed)                                                               \
    static __global__ void __launch_bounds__(ALONE_THREAD_BLOCK, ALONE_OF_PROCESSOR)                                   \
        prefix##_##model##_##kernel##_alone(const Constants constants, const double *assets, LaneGroup group,          \
                                            int64_t end)                                                               \
    {                                                                                                                  \
        if (lanes_take(&group, (int64_t)blockIdx.x * ALONE_THREAD_BLOCK + threadIdx.x, end))                           \
            model##_##kernel(&constants, assets, &group, is_observed);                                                 \
    }
#define ALONE_KERNELS_OF(model, kernel)                                                                                \
    ALONE_KERNEL(plain, model, kernel, false)                                                                          \
    ALONE_KERNEL(observed, model, kernel, true)
ALONE_KERNELS(ALONE_KERNELS_OF)

#define ALONE_ENTRY(model, kernel)                                                                                     \
    case KERNEL_##model##_##kernel:                                                                                    \
        return observed ? observed_##model##_##kernel##_alone : plain_##model##_##kernel##_alone;

extern "C" CudaKernel alone_cuda_kernel(int kernel, bool observed)
{
    switch (kernel) {
        ALONE_KERNELS(ALONE_ENTRY)
    default: return NULL;
    }
}
