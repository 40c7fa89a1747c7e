// The part of CUDA's runtime that sim/*_cuda.cu use, on one processor: a device without memory of its own, whose
// kernels run to their end when they are launched, thread after thread. `make asan` compiles the backend and the
// environments with it, so that their slots, lists, copies and errors can be tested where there is no GPU, also under a
// sanitizer. What a GPU's threads do together is tested by tests/unit/emulated_team.h, and all of it on a GPU by
// `make test-gpu`.
#ifndef HOPSCOTCH_CUDA_ON_HOST_H
#define HOPSCOTCH_CUDA_ON_HOST_H

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#define __global__
#define __launch_bounds__(...)
#define __grid_constant__
#define HOPSCOTCH_SCALAR

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNoDevice = 100,
    cudaErrorNotReady = 600,
    cudaErrorLaunchFailure = 719,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum { cudaStreamNonBlocking, cudaEventBlockingSync, cudaEventDisableTiming };
enum { cudaDevAttrMultiProcessorCount, cudaDevAttrSingleToDoublePrecisionPerfRatio };

struct dim3 {
    unsigned x;
    explicit dim3(unsigned count) : x(count) {}
};
static thread_local struct {
    unsigned x;
} blockIdx, threadIdx;

// ---- errors: one in a kernel stays, as on a GPU, until the device is reset -----------------------------------------

static std::atomic<cudaError_t> host_error{cudaSuccess};

static inline void __trap(void) { host_error = cudaErrorLaunchFailure; }
static inline cudaError_t cudaGetLastError(void) { return host_error; }
static inline const char *cudaGetErrorName(cudaError_t code)
{
    return code == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorOnHost";
}
static inline const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorMemoryAllocation ? "out of memory"
           : code == cudaErrorNoDevice       ? "CUDA_ON_HOST_DEVICES=N makes this host pretend to be N of them"
                                             : "an error of a device that this host pretends to be";
}

// ---- devices --------------------------------------------------------------------------------------------------------

struct cudaDeviceProp {
    char name[64];
    int major, minor;
};

static inline cudaError_t cudaGetDeviceCount(int *count)
{
    const char *given = getenv("CUDA_ON_HOST_DEVICES");
    *count = given != NULL ? atoi(given) : 0;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    *properties = cudaDeviceProp{"CUDA on this host", 0, 0};
    (void)device;
    return host_error;
}
static inline cudaError_t host_version(int *version)
{
    *version = 0;
    return host_error;
}
static inline cudaError_t cudaDriverGetVersion(int *version) { return host_version(version); }
static inline cudaError_t cudaRuntimeGetVersion(int *version) { return host_version(version); }
static inline cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute, (void)device;
    *value = 2;
    return host_error;
}
static inline cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = (size_t)1 << 30;
    return host_error;
}
static inline cudaError_t cudaSetDevice(int device)
{
    (void)device;
    return host_error;
}
static inline cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return host_error;
}
static inline cudaError_t cudaDeviceSynchronize(void) { return host_error; }
static inline cudaError_t cudaDeviceReset(void) { return host_error = cudaSuccess; }

// ---- memory ---------------------------------------------------------------------------------------------------------

// Filled with NaN and large numbers, so that nothing is read before it was written.
static inline cudaError_t cudaMalloc(void **memory, size_t size)
{
    if (host_error != cudaSuccess) return host_error;
    *memory = malloc(size > 0 ? size : 1);
    if (*memory == NULL) return cudaErrorMemoryAllocation;
    memset(*memory, 0x7f, size);
    return cudaSuccess;
}
static inline cudaError_t cudaMallocHost(void **memory, size_t size) { return cudaMalloc(memory, size); }
static inline cudaError_t cudaFree(void *memory)
{
    free(memory);
    return host_error;
}
static inline cudaError_t cudaFreeHost(void *memory) { return cudaFree(memory); }

// What the caller gives is the host's, and what cudaMalloc gave is not asked about.
enum { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
    int type, device;
};
static inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory)
{
    (void)memory;
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = 0;
    return host_error;
}

// ---- streams and events: everything has ended when the call returns ------------------------------------------------

typedef struct HostStream *cudaStream_t;
typedef struct HostEvent {
    timespec time;
} * cudaEvent_t;

static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, int flags)
{
    (void)flags;
    return cudaMalloc((void **)stream, 1);
}
static inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return cudaFree(stream); }
static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return host_error;
}
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return host_error;
}
static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, int flags)
{
    (void)flags;
    return cudaMalloc((void **)event, sizeof **event);
}
static inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return cudaFree(event); }
static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    return host_error;
}
static inline cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return host_error;
}
static inline cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
static inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    const timespec a = start->time, b = end->time;
    *milliseconds = (float)(1e3 * (double)(b.tv_sec - a.tv_sec) + 1e-6 * (double)(b.tv_nsec - a.tv_nsec));
    return host_error;
}

// ---- copies ---------------------------------------------------------------------------------------------------------

static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    (void)kind;
    if (host_error == cudaSuccess && size > 0) memcpy(to, from, size);
    return host_error;
}
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                                          cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpy(to, from, size, kind);
}
static inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                            size_t width, size_t rows, cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)stream;
    for (size_t row = 0; row < rows; row++)
        (void)cudaMemcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind);
    return host_error;
}
static inline cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream)
{
    (void)stream;
    if (host_error == cudaSuccess) memset(memory, value, size);
    return host_error;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

enum { HOST_BLOCK = 64 }; // threads of a block whose threads have a lane each; in other blocks the first one works

// All threads that were launched, of which $CUDA_ON_HOST_THREADS tells.
static struct HostThreads {
    std::atomic<long> launched{0};
    ~HostThreads()
    {
        const char *path = getenv("CUDA_ON_HOST_THREADS");
        FILE *out = path != NULL && launched > 0 ? fopen(path, "w") : NULL;
        if (out == NULL) return;
        fprintf(out, "%ld\n", launched.load());
        fclose(out);
    }
} host_threads;

template <typename... Parameters, size_t... Place>
static void host_call(void (*kernel)(Parameters...), void **arguments, std::index_sequence<Place...>)
{
    (void)arguments;
    kernel(*(Parameters *)arguments[Place]...);
}

template <typename... Parameters>
static cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, void **arguments,
                                    size_t shared, cudaStream_t stream)
{
    (void)shared, (void)stream;
    const unsigned working = threads.x == HOST_BLOCK ? threads.x : 1;
    host_threads.launched += (long)blocks.x * working;
    for (blockIdx.x = 0; blockIdx.x < blocks.x && host_error == cudaSuccess; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < working; threadIdx.x++)
            host_call(kernel, arguments, std::index_sequence_for<Parameters...>());
    return host_error;
}
template <typename Kernel>
static cudaError_t cudaLaunchCooperativeKernel(Kernel *kernel, dim3 blocks, dim3 threads, void **arguments,
                                               size_t shared, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, blocks, threads, arguments, shared, stream);
}
// None, so that no lane gets several blocks.
template <typename Kernel>
static cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *kernel, int threads,
                                                                 size_t shared)
{
    (void)kernel, (void)threads, (void)shared;
    *blocks = 0;
    return host_error;
}

#endif
