// Kernels of models whose lanes teams advance (team.h), compiled again for batches with so many lanes that each gets
// one thread. Only for sim/*_cuda.cu.
#ifndef HOPSCOTCH_ALONE_CUH
#define HOPSCOTCH_ALONE_CUH

#include "lanes_view.h"

typedef void (*CudaKernel)(const Constants constants, const double *assets, LaneGroup group, int64_t end);

// NULL: the kernel has none. weak: `make demo` leaves this out.
extern "C" CudaKernel alone_cuda_kernel(int kernel, bool observed) __attribute__((weak));

#endif
