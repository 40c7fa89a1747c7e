// Environments on a GPU: one thread per lane. A reset is one kernel on the caller's stream. A step is two: the advance,
// which needs as many registers as a run, and what follows (columns, expressions, ends and begins), which needs few, so
// that more threads hide the time of its memory. Nothing is copied, and the host does not wait.
#define HOPSCOTCH_KERNELS
#define HOPSCOTCH_ENVIRONMENTS
#include "cuda_calls.cuh"
#include "environment_device.h"
#include "lanes.h"
#include "models.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { ENVIRONMENT_THREAD_BLOCK = THREAD_BLOCK };

// ---- kernels --------------------------------------------------------------------------------------------------------

// Thread blocks of a multiprocessor, at least: the registers of a thread follow from them. By measurement on an H200:
// with six blocks a hopper gains 6 % although it spills, and a robot loses 10 %.
enum {
    ENVIRONMENT_ADVANCES_hopper = 6,
    ENVIRONMENT_ADVANCES_articulated = 4,
    ENVIRONMENT_ADVANCES_equations = 4,
    ENVIRONMENT_FOLLOWS = 12
};

// Numbers of a frame that a thread holds itself. A robot or a system that ends sets its columns in the advance, so they
// stand in memory.
enum { ENVIRONMENT_OWN_hopper = 96, ENVIRONMENT_OWN_articulated = 1, ENVIRONMENT_OWN_equations = 1 };

HD bool environment_thread(const EnvironmentView *view, LaneGroup *group, double *own)
{
    group->lane = (int64_t)blockIdx.x * ENVIRONMENT_THREAD_BLOCK + threadIdx.x;
    group->own.column = view->n_frame > 0 ? group->own.column + group->lane : own;
    if (view->n_frame == 0) group->own.columns_apart = 1;
    return group->lane < view->lanes;
}

#define ENVIRONMENT_CUDA(model, kernel)                                                                                \
    ENVIRONMENT_KERNEL(model, kernel)                                                                                  \
    static __global__ void __launch_bounds__(ENVIRONMENT_THREAD_BLOCK) cuda_reset_##model##_##kernel(                  \
        const __grid_constant__ EnvironmentView view, const __grid_constant__ Constants constants, LaneGroup group,    \
        const EnvironmentBegin begin)                                                                                  \
    {                                                                                                                  \
        double own[ENVIRONMENT_OWN_##model];                                                                           \
        if (environment_thread(&view, &group, own))                                                                    \
            environment_reset_##model##_##kernel(&view, &constants, view.assets, &group, &begin);                      \
    }                                                                                                                  \
    static __global__ void __launch_bounds__(ENVIRONMENT_THREAD_BLOCK, ENVIRONMENT_ADVANCES_##model)                   \
        cuda_advance_##model##_##kernel(const __grid_constant__ EnvironmentView view,                                  \
                                        const __grid_constant__ Constants constants, LaneGroup group)                  \
    {                                                                                                                  \
        if (!environment_thread(&view, &group, NULL)) return;                                                          \
        const mask going = environment_advance_##model##_##kernel(&view, &constants, view.assets, &group);             \
        view.going[group.lane] = going != 0;                                                                           \
    }                                                                                                                  \
    static __global__ void __launch_bounds__(ENVIRONMENT_THREAD_BLOCK, ENVIRONMENT_FOLLOWS)                            \
        cuda_follow_##model##_##kernel(const __grid_constant__ EnvironmentView view,                                   \
                                       const __grid_constant__ Constants constants, LaneGroup group)                   \
    {                                                                                                                  \
        double own[ENVIRONMENT_OWN_##model];                                                                           \
        if (!environment_thread(&view, &group, own)) return;                                                           \
        const mask going = MASK(view.going[group.lane] != 0);                                                          \
        environment_follow_##model##_##kernel(&view, &constants, view.assets, &group, going);                          \
    }
ENVIRONMENT_KERNELS(ENVIRONMENT_CUDA)

typedef void (*EnvironmentResetKernel)(const EnvironmentView view, const Constants constants, LaneGroup group,
                                       const EnvironmentBegin begin);
typedef void (*EnvironmentStepKernel)(const EnvironmentView view, const Constants constants, LaneGroup group);

typedef struct CudaEnvironmentKernels {
    EnvironmentResetKernel reset;
    EnvironmentStepKernel advance, follow;
    int own; // numbers of a frame that a thread can hold itself
} CudaEnvironmentKernels;

static CudaEnvironmentKernels environment_kernels(int kernel)
{
    CudaEnvironmentKernels kernels = {NULL, NULL, NULL, 0};
#define ENVIRONMENT_CASE(model, name)                                                                                  \
    if (kernel == KERNEL_##model##_##name) {                                                                           \
        kernels.reset = cuda_reset_##model##_##name;                                                                   \
        kernels.advance = cuda_advance_##model##_##name;                                                               \
        kernels.follow = cuda_follow_##model##_##name;                                                                 \
        kernels.own = ENVIRONMENT_OWN_##model;                                                                         \
    }
    ENVIRONMENT_KERNELS(ENVIRONMENT_CASE)
#undef ENVIRONMENT_CASE
    return kernels;
}

// Lanes before their first reset: the seed of all, and the lane's number as its stream.
static __global__ void __launch_bounds__(ENVIRONMENT_THREAD_BLOCK)
    environment_first(const __grid_constant__ EnvironmentView view, uint64_t seed)
{
    const int64_t lane = (int64_t)blockIdx.x * ENVIRONMENT_THREAD_BLOCK + threadIdx.x;
    if (lane >= view.lanes) return;
    view.seed[lane] = seed;
    view.stream[lane] = (uint32_t)lane;
}

// ---- the device -----------------------------------------------------------------------------------------------------

typedef struct CudaEnvironment {
    Environment environment;
    CudaEnvironmentKernels kernels;
    int device;
    char *memory;
    cudaStream_t own, stream; // its own; the one in use
} CudaEnvironment;

// The caller's device is current again after a call.
static Error environment_enter(const CudaEnvironment *cuda, int *current)
{
    *current = cuda->device;
    CUDA_TRY(cudaGetDevice(current));
    if (*current != cuda->device) CUDA_TRY(cudaSetDevice(cuda->device));
    return error_none();
}

static Error environment_leave(const CudaEnvironment *cuda, int current, Error error)
{
    if (current != cuda->device) (void)cudaSetDevice(current);
    return error;
}

static dim3 environment_thread_blocks(const EnvironmentView *view)
{
    return dim3((unsigned)((view->lanes + ENVIRONMENT_THREAD_BLOCK - 1) / ENVIRONMENT_THREAD_BLOCK));
}

static Error environment_launch_step(CudaEnvironment *cuda)
{
    Environment *environment = &cuda->environment;
    LaneGroup group = environment_group(environment, 0, 1);
    void *arguments[] = {&environment->view, &environment->constants, &group};
    const dim3 thread_blocks = environment_thread_blocks(&environment->view), threads = dim3(ENVIRONMENT_THREAD_BLOCK);
    CUDA_TRY(cudaLaunchKernel(cuda->kernels.advance, thread_blocks, threads, arguments, 0, cuda->stream));
    CUDA_TRY(cudaLaunchKernel(cuda->kernels.follow, thread_blocks, threads, arguments, 0, cuda->stream));
    return error_none();
}

static Error cuda_environment_step(Environment *environment)
{
    CudaEnvironment *cuda = (CudaEnvironment *)environment;
    int current;
    TRY(environment_enter(cuda, &current));
    return environment_leave(cuda, current, environment_launch_step(cuda));
}

// *here: the pointer as the device can read it; what is the host's, or another device's, is copied to `room` first.
static Error environment_bring(const CudaEnvironment *cuda, const void *from, void *room, size_t size,
                               const void **here)
{
    cudaPointerAttributes attributes;
    *here = from;
    if (from == NULL) return error_none();
    CUDA_TRY(cudaPointerGetAttributes(&attributes, from));
    if (attributes.type == cudaMemoryTypeManaged) return error_none();
    if (attributes.type == cudaMemoryTypeDevice && attributes.device == cuda->device) return error_none();
    *here = room;
    CUDA_TRY(cudaMemcpyAsync(room, from, size, cudaMemcpyDefault, cuda->stream));
    CUDA_TRY(cudaStreamSynchronize(cuda->stream)); // the caller may change it at once
    return error_none();
}

static Error environment_launch_reset(CudaEnvironment *cuda, const uint8_t *lanes, const uint64_t *seeds)
{
    Environment *environment = &cuda->environment;
    const EnvironmentView *view = &environment->view;
    const void *lanes_here, *seeds_here;
    EnvironmentBegin begin;
    LaneGroup group = environment_group(environment, 0, 1);
    TRY(environment_bring(cuda, lanes, view->chosen, (size_t)view->lanes * sizeof *lanes, &lanes_here));
    TRY(environment_bring(cuda, seeds, view->seeds, (size_t)view->lanes * sizeof *seeds, &seeds_here));
    begin.lanes = (const uint8_t *)lanes_here;
    begin.seeds = (const uint64_t *)seeds_here;
    void *arguments[] = {&environment->view, &environment->constants, &group, &begin};
    CUDA_TRY(cudaLaunchKernel(cuda->kernels.reset, environment_thread_blocks(view), dim3(ENVIRONMENT_THREAD_BLOCK),
                              arguments, 0, cuda->stream));
    return error_none();
}

static Error cuda_environment_reset(Environment *environment, const uint8_t *lanes, const uint64_t *seeds)
{
    CudaEnvironment *cuda = (CudaEnvironment *)environment;
    int current;
    TRY(environment_enter(cuda, &current));
    return environment_leave(cuda, current, environment_launch_reset(cuda, lanes, seeds));
}

static Error environment_synchronize(const CudaEnvironment *cuda)
{
    CUDA_TRY(cudaStreamSynchronize(cuda->stream));
    return error_none();
}

// What a step found wrong with its actions is reported by the next wait, because no step waits for the device.
static Error environment_check_actions(const CudaEnvironment *cuda)
{
    const EnvironmentView *view = &cuda->environment.view;
    const size_t size = (size_t)view->lanes;
    uint8_t *wrong = (uint8_t *)malloc(size);
    if (wrong == NULL) return error_make(ERROR_MEMORY, "not enough memory to look at the actions");
    const cudaError_t copied = cudaMemcpy(wrong, view->wrong, size, cudaMemcpyDeviceToHost);
    const uint8_t *first = copied == cudaSuccess ? (const uint8_t *)memchr(wrong, 1, size) : NULL;
    const long long lane = first != NULL ? (long long)(first - wrong) : -1;
    free(wrong);
    CUDA_TRY(copied);
    if (lane < 0) return error_none();
    CUDA_TRY(cudaMemsetAsync(view->wrong, 0, size, cuda->stream));
    return error_make(ERROR_USER, "an action of environment %lld was NaN in a step since the last wait", lane);
}

static Error environment_wait_for(CudaEnvironment *cuda, bool actions)
{
    int current;
    TRY(environment_enter(cuda, &current));
    Error error = environment_synchronize(cuda);
    if (error.kind == OK && actions) error = environment_check_actions(cuda);
    return environment_leave(cuda, current, error);
}

static Error cuda_environment_wait(Environment *environment)
{
    return environment_wait_for((CudaEnvironment *)environment, true);
}

// What was put on the old stream is done before the new one is used. After an error only its own can be.
static Error cuda_environment_set_stream(Environment *environment, void *stream)
{
    CudaEnvironment *cuda = (CudaEnvironment *)environment;
    const Error error = environment_wait_for(cuda, false);
    if (error.kind != OK && stream != NULL) return error;
    cuda->stream = stream != NULL ? (cudaStream_t)stream : cuda->own;
    environment->info.stream = (void *)cuda->stream;
    return error;
}

static void cuda_environment_close(Environment *environment)
{
    CudaEnvironment *cuda = (CudaEnvironment *)environment;
    int current;
    const Error error = environment_enter(cuda, &current);
    if (cuda->own != NULL) {
        (void)cudaStreamSynchronize(cuda->stream);
        (void)cudaStreamDestroy(cuda->own);
    }
    (void)cudaFree(cuda->memory);
    (void)environment_leave(cuda, current, error);
    (void)cudaGetLastError();
    free(cuda);
}

// ---- opening --------------------------------------------------------------------------------------------------------

static Error environment_find_device(int device)
{
    int devices = 0;
    cudaError_t code;
    CUDA_CALL(code, cudaGetDeviceCount(&devices));
    (void)cudaGetLastError();
    if (code != cudaSuccess)
        return error_make(ERROR_MACHINE, "no NVIDIA GPU that can be used: %s", cudaGetErrorString(code));
    if (device < devices) return error_none();
    return error_make(ERROR_USER, "there is no CUDA device %d; this machine has %d (0 to %d)", device, devices,
                      devices - 1);
}

// What is not 0 before the first reset.
static Error environment_fill_first(CudaEnvironment *cuda, uint64_t seed)
{
    EnvironmentView *view = &cuda->environment.view;
    const size_t lanes = (size_t)view->stride, size = view->single != 0 ? sizeof(float) : sizeof(double);
    void *arguments[] = {view, &seed};
    CUDA_TRY(cudaMemsetAsync(view->metric, 0xff, lanes * (size_t)view->n_metrics * sizeof(double), cuda->stream));
    CUDA_TRY(cudaMemsetAsync(view->final_observation, 0xff, lanes * (size_t)view->n_observations * size, cuda->stream));
    CUDA_TRY(cudaMemsetAsync(view->episode_failure, 0xff, lanes * sizeof(int32_t), cuda->stream));
    CUDA_TRY(cudaLaunchKernel(environment_first, environment_thread_blocks(view), dim3(ENVIRONMENT_THREAD_BLOCK),
                              arguments, 0, cuda->stream));
    return error_none();
}

static Error environment_copy_tables(CudaEnvironment *cuda, const EnvironmentSetup *setup, size_t size)
{
    const size_t at = environment_tables_at(&cuda->environment.view);
    char *tables = (char *)calloc(1, size - at + 1);
    if (tables == NULL) return error_make(ERROR_MEMORY, "not enough memory for the tables of an environment");
    environment_fill_tables(setup, tables);
    cudaError_t code;
    CUDA_CALL(code, cudaMemcpyAsync(cuda->memory + at, tables, size - at, cudaMemcpyHostToDevice, cuda->stream));
    if (code == cudaSuccess) code = cudaStreamSynchronize(cuda->stream);
    free(tables);
    return cuda_check(code, "cudaMemcpyAsync(tables)");
}

static Error environment_take(CudaEnvironment *cuda, const EnvironmentSetup *setup)
{
    Environment *environment = &cuda->environment;
    const size_t size = environment_lay(&environment->view, setup, NULL);
    cudaDeviceProp properties;
    CUDA_TRY(cudaGetDeviceProperties(&properties, cuda->device));
    snprintf(environment->device, sizeof environment->device, "%.100s", properties.name);
    CUDA_TRY(cudaStreamCreateWithFlags(&cuda->own, cudaStreamNonBlocking));
    cuda->stream = setup->stream != NULL ? (cudaStream_t)setup->stream : cuda->own;
    CUDA_TRY(cudaMalloc((void **)&cuda->memory, size));
    environment_lay(&environment->view, setup, cuda->memory);
    CUDA_TRY(cudaMemsetAsync(cuda->memory, 0, size, cuda->stream));
    TRY(environment_copy_tables(cuda, setup, size));
    return environment_fill_first(cuda, setup->seed);
}

static Error environment_start(CudaEnvironment *cuda, const EnvironmentSetup *setup)
{
    int current;
    TRY(environment_enter(cuda, &current));
    return environment_leave(cuda, current, environment_take(cuda, setup));
}

extern "C" Error environment_cuda_open(const EnvironmentSetup *setup, Environment **out)
{
    TRY(environment_find_device(setup->number));
    CudaEnvironment *cuda = (CudaEnvironment *)calloc(1, sizeof *cuda);
    if (cuda == NULL) return error_make(ERROR_MEMORY, "not enough memory for an environment");
    Environment *environment = &cuda->environment;
    environment_describe(environment, setup);
    environment->on_gpu = true;
    cuda->kernels = environment_kernels(environment->kernel);
    if (environment->registers > cuda->kernels.own) environment->view.n_frame = environment->registers;
    cuda->device = setup->number;
    environment->reset = cuda_environment_reset;
    environment->step = cuda_environment_step;
    environment->wait = cuda_environment_wait;
    environment->set_stream = cuda_environment_set_stream;
    environment->close = cuda_environment_close;
    const Error error = environment_start(cuda, setup);
    if (error.kind != OK) {
        cuda_environment_close(environment);
        return error;
    }
    environment->info.name = "cuda";
    environment->info.device = environment->device;
    environment->info.number = cuda->device;
    environment->info.stream = (void *)cuda->stream;
    *out = environment;
    return error_none();
}
