// Calls of CUDA. All except those that free go through CUDA_CALL, so that a test can make them fail (sim/faults.c).
#ifndef HOPSCOTCH_CUDA_CALLS_CUH
#define HOPSCOTCH_CUDA_CALLS_CUH

#include "backend.h"
#include "faults.h"

#include <cstring>
#include <ctime>

// In place of the call: only its error, or a kernel that crashes and destroys the context.
static __global__ void cuda_trap_kernel(void) { __trap(); }

static cudaError_t cuda_fail(int number)
{
    if (number != CUDA_FAULT_TRAP) return (cudaError_t)number;
    (void)cudaLaunchKernel(cuda_trap_kernel, dim3(1), dim3(1), NULL, 0, 0);
    return cudaDeviceSynchronize();
}

#define CUDA_CALL(code, call)                                                                                          \
    do {                                                                                                               \
        int cuda_number = 0;                                                                                           \
        (code) = backend_cuda_fault(&cuda_number) ? cuda_fail(cuda_number) : (call);                                   \
    } while (0)
// The same for a call of the driver (made/driver.cuh), whose errors have the numbers of the runtime's.
#define DRIVER_CALL(result, call)                                                                                      \
    do {                                                                                                               \
        int driver_number = 0;                                                                                         \
        (result) = backend_cuda_fault(&driver_number) ? (CUresult)cuda_fail(driver_number) : (call);                   \
    } while (0)
#define CUDA_TRY(call)                                                                                                 \
    do {                                                                                                               \
        cudaError_t cuda_code;                                                                                         \
        CUDA_CALL(cuda_code, call);                                                                                    \
        TRY(cuda_check(cuda_code, #call));                                                                             \
    } while (0)

// The name of the call: the text before its arguments.
static int cuda_name_length(const char *call) { return (int)strcspn(call, "("); }

static Error cuda_check(cudaError_t code, const char *call)
{
    if (code == cudaSuccess) return error_none();
    (void)cudaGetLastError(); // else the next launch would report this error
    if (code == cudaErrorMemoryAllocation)
        return error_make(ERROR_MEMORY, "%.*s: out of memory", cuda_name_length(call), call);
    return error_make(ERROR_DEVICE, "%.*s: %s (CUDA error %d, %s)", cuda_name_length(call), call,
                      cudaGetErrorString(code), (int)code, cudaGetErrorName(code));
}

// What has come of an event after at most `seconds`. It polls every 50 us instead of sleeping, because a kernel that
// does not end wakes no thread.
static cudaError_t cuda_event_state(cudaEvent_t event, double seconds)
{
    const struct timespec nap = {0, 50000}; // ns
    const double until = backend_clock() + seconds;
    cudaError_t code = cudaEventQuery(event);
    while (code == cudaErrorNotReady && backend_clock() < until) {
        nanosleep(&nap, NULL);
        code = cudaEventQuery(event);
    }
    if (code == cudaErrorNotReady) (void)cudaGetLastError(); // else the next launch would report this error
    return code;
}

#endif
