// Kernels that go ahead of the general one: they advance lanes that are not observed through a slice as far as that is
// simple, and the general kernel, launched behind them, goes on from there. Only for sim/*_cuda.cu.
#ifndef HOPSCOTCH_AHEAD_CUH
#define HOPSCOTCH_AHEAD_CUH

#include "alone.cuh"

// The kernel of the configured model, for thread blocks of AHEAD_THREADS threads with AHEAD_LANES lanes each. NULL:
// there is none, or a thread block can't have Configured.ahead bytes. weak: `make demo` leaves this out.
extern "C" CudaKernel ahead_cuda_kernel(const Configured *configured) __attribute__((weak));

#endif
