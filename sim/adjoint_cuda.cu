// The adjoint on a GPU: a thread for each lane runs it and keeps its states in device memory, and two go back through
// them. The bits are those of the CPU's kernels.
#define HOPSCOTCH_KERNELS
#define HOPSCOTCH_ADJOINTS
#include "adjoint.h"
#include "adjoint_queue.cuh"
#include "backend.h"
#include "lanes.h"
#include "models.h"

#include <cstdlib>

enum {
    ADJOINT_THREAD_BLOCK = THREAD_BLOCK,
    // Threads and lanes of a thread block on its way back. All warps of a processor are in one thread block, and its
    // barriers keep them together: in blocks of 64 they take a fifth longer (tests/bench/NOTES.md).
    ADJOINT_BACK = ADJOINT_THREADS == 1 ? ADJOINT_THREAD_BLOCK : 256,
    ADJOINT_BACK_LANES = ADJOINT_BACK / ADJOINT_THREADS,
    ADJOINT_SETS = 2, // of cells of a lane
    // Steps of a launch, at most: of few lanes, and of more than ADJOINT_FEW. A launch costs 16,384 G1 0.2 to 0.7 ms.
    ADJOINT_SLICE = 64,
    ADJOINT_SLICE_OF_MANY = 16,
    ADJOINT_FEW = 16384,
};

// ---- kernels --------------------------------------------------------------------------------------------------------

// Forward a thread for each lane; back ADJOINT_THREADS, of as many warps, which all wait for each other.
#define ADJOINT_KERNELS_OF(model, kernel)                                                                              \
    static __global__ void __launch_bounds__(ADJOINT_THREAD_BLOCK)                                                     \
        adjoint_##model##_forth(const Constants constants, const double *assets, const AdjointSlice slice)             \
    {                                                                                                                  \
        const int64_t lane = (int64_t)blockIdx.x * ADJOINT_THREAD_BLOCK + threadIdx.x;                                 \
        if (lane < slice.batch.lanes) model##_adjoint_forth(&constants, assets, &slice, lane);                         \
    }                                                                                                                  \
    static __global__ void __launch_bounds__(ADJOINT_BACK)                                                             \
        adjoint_##model##_back(const Constants constants, const double *assets, const AdjointSlice slice)              \
    {                                                                                                                  \
        const int lanes = ADJOINT_BACK_LANES, thread = (int)threadIdx.x;                                               \
        model##_adjoint_back_slice(&constants, assets, &slice, (int64_t)blockIdx.x *lanes + thread % lanes,            \
                                   thread / lanes);                                                                    \
    }
ADJOINT_KERNELS(ADJOINT_KERNELS_OF)

typedef void (*AdjointKernel)(const Constants constants, const double *assets, const AdjointSlice slice);

typedef struct AdjointEntry {
    int kernel;
    AdjointPlan (*plan)(const Configured *configured, size_t most, int sets);
    int64_t (*doubles)(const AdjointPlan *plan); // of a lane
    AdjointKernel forth, back;
} AdjointEntry;

#define ADJOINT_ENTRY(model, kernel)                                                                                   \
    {KERNEL_##model##_##kernel, model##_adjoint_plan, model##_adjoint_doubles, adjoint_##model##_forth,                \
     adjoint_##model##_back},
static const AdjointEntry adjoint_entries[] = {ADJOINT_KERNELS(ADJOINT_ENTRY)};

static const AdjointEntry *adjoint_find(const Configured *configured)
{
    for (size_t i = 0; i < sizeof adjoint_entries / sizeof *adjoint_entries; i++)
        if (adjoint_entries[i].kernel == configured->kernel) return &adjoint_entries[i];
    return NULL;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

typedef struct CudaAdjoint {
    AdjointDevice device;
    const Configured *configured;
    const AdjointEntry *entry;
    AdjointSlice slice;
    double *assets, *weight;
    AdjointQueue queue;
} CudaAdjoint;

static int64_t adjoint_padded_lanes(int64_t lanes)
{
    return (lanes + LANES_TOGETHER - 1) / LANES_TOGETHER * LANES_TOGETHER;
}

// Bytes of a lane.
static size_t adjoint_lane_bytes(const CudaAdjoint *adjoint, const AdjointPlan *plan)
{
    const Configured *configured = adjoint->configured;
    const int64_t rows = 2 * configured->n_parameters + 2 * configured->n_metrics + 1;
    return sizeof(double) * (size_t)(adjoint->entry->doubles(plan) + rows) + sizeof(int32_t);
}

// All states of a run where they fit for all lanes, else segments; then for as many lanes as fit.
static Error adjoint_choose(CudaAdjoint *adjoint, int64_t lanes, size_t most)
{
    size_t room;
    TRY(queue_room(&room));
    AdjointPlan plan = adjoint->entry->plan(adjoint->configured, most > 0 ? most : SIZE_MAX / 2, ADJOINT_SETS);
    const int64_t whole = (int64_t)(room / adjoint_lane_bytes(adjoint, &plan));
    if (adjoint_padded_lanes(lanes) > whole) plan = adjoint->entry->plan(adjoint->configured, 0, ADJOINT_SETS);
    const int64_t fit = (int64_t)(room / adjoint_lane_bytes(adjoint, &plan)) / LANES_TOGETHER * LANES_TOGETHER;
    if (fit == 0) return error_make(ERROR_MEMORY, "the gradients of %d lanes do not fit into the GPU", LANES_TOGETHER);
    adjoint->slice.plan = plan;
    adjoint->device.lanes = (int)(adjoint_padded_lanes(lanes) <= fit ? lanes : fit);
    adjoint->device.bytes = adjoint_lane_bytes(adjoint, &plan) * (size_t)adjoint_padded_lanes(adjoint->device.lanes) +
                            sizeof(double) * (size_t)adjoint->configured->n_assets;
    return error_none();
}

static Error adjoint_take(CudaAdjoint *adjoint)
{
    const Configured *configured = adjoint->configured;
    const size_t lanes = (size_t)adjoint->device.lanes, row = sizeof(double) * lanes;
    const size_t lane = sizeof(double) * (size_t)adjoint->entry->doubles(&adjoint->slice.plan);
    Batch *batch = &adjoint->slice.batch;
    CUDA_TRY(cudaMalloc((void **)&batch->parameter, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMalloc((void **)&batch->metric, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMalloc((void **)&batch->status, sizeof(int32_t) * lanes));
    CUDA_TRY(cudaMalloc((void **)&adjoint->weight, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMalloc((void **)&adjoint->slice.gradient, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMalloc((void **)&adjoint->slice.growth, row));
    CUDA_TRY(cudaMalloc((void **)&batch->work, lane * (size_t)adjoint_padded_lanes(adjoint->device.lanes)));
    adjoint->slice.weight = adjoint->weight;
    if (configured->n_assets == 0) return error_none();
    const size_t size = sizeof(double) * (size_t)configured->n_assets;
    CUDA_TRY(cudaMalloc((void **)&adjoint->assets, size));
    CUDA_TRY(cudaMemcpy(adjoint->assets, configured->assets, size, cudaMemcpyHostToDevice));
    return error_none();
}

static void adjoint_close(AdjointDevice *device)
{
    CudaAdjoint *adjoint = (CudaAdjoint *)device;
    if (adjoint->queue.stuck) return;
    cudaSetDevice(adjoint->queue.number);
    cudaFree(adjoint->slice.batch.parameter);
    cudaFree(adjoint->slice.batch.metric);
    cudaFree(adjoint->slice.batch.status);
    cudaFree(adjoint->slice.batch.work);
    cudaFree(adjoint->slice.gradient);
    cudaFree(adjoint->slice.growth);
    cudaFree(adjoint->weight);
    cudaFree(adjoint->assets);
    queue_close(&adjoint->queue);
    free(adjoint);
}

// ---- forward and back -----------------------------------------------------------------------------------------------

static Error adjoint_launch(const CudaAdjoint *adjoint, AdjointKernel kernel, int threads, int lanes, int64_t first,
                            int64_t end)
{
    Constants constants = adjoint->configured->constants;
    const double *assets = adjoint->assets;
    AdjointSlice slice = adjoint->slice;
    void *arguments[] = {&constants, &assets, &slice};
    slice.first = first;
    slice.end = end;
    const unsigned thread_blocks = (unsigned)((slice.batch.lanes + lanes - 1) / lanes);
    CUDA_TRY(
        cudaLaunchKernel(kernel, dim3(thread_blocks), dim3((unsigned)threads), arguments, 0, adjoint->queue.stream));
    return error_none();
}

static Error adjoint_copy(const CudaAdjoint *adjoint, double *to, const double *from, int rows, cudaMemcpyKind kind)
{
    const size_t size = sizeof(double) * (size_t)(rows * adjoint->slice.batch.lanes);
    CUDA_TRY(cudaMemcpyAsync(to, from, size, kind, adjoint->queue.stream));
    return error_none();
}

// A launch, behind at most one that still runs.
static Error adjoint_step(CudaAdjoint *adjoint, AdjointKernel kernel, int threads, int lanes, int64_t first,
                          int64_t end)
{
    TRY(queue_go_on(&adjoint->queue));
    TRY(adjoint_launch(adjoint, kernel, threads, lanes, first, end));
    return queue_add(&adjoint->queue);
}

static int64_t adjoint_slice_steps(const CudaAdjoint *adjoint)
{
    return adjoint->slice.batch.lanes > ADJOINT_FEW ? ADJOINT_SLICE_OF_MANY : ADJOINT_SLICE;
}

static Error adjoint_forth(CudaAdjoint *adjoint)
{
    const int64_t ticks = adjoint->configured->ticks, steps = adjoint_slice_steps(adjoint);
    TRY(queue_begin(&adjoint->queue));
    for (int64_t first = 0; first < ticks; first += steps)
        TRY(adjoint_step(adjoint, adjoint->entry->forth, ADJOINT_THREAD_BLOCK, ADJOINT_THREAD_BLOCK, first,
                         first + steps < ticks ? first + steps : ticks));
    return queue_drain(&adjoint->queue, 0);
}

// A launch stays in a segment.
static Error adjoint_reverse(CudaAdjoint *adjoint)
{
    const int64_t ticks = adjoint->configured->ticks, segment = adjoint->slice.plan.segment;
    const int64_t steps = adjoint_slice_steps(adjoint);
    TRY(queue_begin(&adjoint->queue));
    for (int64_t end = ticks, first; end > 0; end = first) {
        const int64_t begins = (end - 1) / segment * segment;
        first = end - steps > begins ? end - steps : begins;
        TRY(adjoint_step(adjoint, adjoint->entry->back, ADJOINT_BACK, ADJOINT_BACK_LANES, first, end));
    }
    return queue_drain(&adjoint->queue, 0);
}

static Error cuda_adjoint_run(AdjointDevice *device, const AdjointLanes *lanes)
{
    CudaAdjoint *adjoint = (CudaAdjoint *)device;
    const Configured *configured = adjoint->configured;
    Batch *batch = &adjoint->slice.batch;
    batch->lanes = batch->stride = lanes->count;
    CUDA_TRY(cudaSetDevice(adjoint->queue.number));
    TRY(adjoint_copy(adjoint, batch->parameter, lanes->parameter, configured->n_parameters, cudaMemcpyHostToDevice));
    adjoint->queue.leaves = lanes->leaves;
    adjoint->queue.of = lanes->of;
    TRY(adjoint_forth(adjoint));
    TRY(adjoint_copy(adjoint, lanes->metric, batch->metric, configured->n_metrics, cudaMemcpyDeviceToHost));
    CUDA_TRY(cudaMemcpyAsync(lanes->failure, batch->status, sizeof(int32_t) * (size_t)lanes->count,
                             cudaMemcpyDeviceToHost, adjoint->queue.stream));
    CUDA_TRY(cudaStreamSynchronize(adjoint->queue.stream));
    return queue_seconds(&adjoint->queue, &device->run_seconds);
}

static Error cuda_adjoint_back(AdjointDevice *device, const double *weight, double *gradient, double *growth)
{
    CudaAdjoint *adjoint = (CudaAdjoint *)device;
    const Configured *configured = adjoint->configured;
    const AdjointSlice *slice = &adjoint->slice;
    const int64_t lanes = slice->batch.lanes;
    CUDA_TRY(cudaSetDevice(adjoint->queue.number));
    TRY(adjoint_copy(adjoint, adjoint->weight, weight, configured->n_metrics, cudaMemcpyHostToDevice));
    TRY(adjoint_reverse(adjoint));
    TRY(adjoint_copy(adjoint, gradient, slice->gradient, configured->n_parameters, cudaMemcpyDeviceToHost));
    TRY(adjoint_copy(adjoint, growth, slice->growth, 1, cudaMemcpyDeviceToHost));
    CUDA_TRY(cudaStreamSynchronize(adjoint->queue.stream));
    for (int p = 0; p < configured->n_parameters; p++)
        for (int64_t i = 0; i < lanes && !configured->model->adjoint->parameter(configured, p); i++)
            gradient[p * lanes + i] = 0.0;
    return queue_seconds(&adjoint->queue, &device->back_seconds);
}

// ---- open -----------------------------------------------------------------------------------------------------------

static Error adjoint_start(CudaAdjoint *adjoint, int64_t lanes, size_t most)
{
    TRY(queue_open(&adjoint->queue));
    TRY(adjoint_choose(adjoint, lanes, most));
    return adjoint_take(adjoint);
}

extern "C" Error adjoint_cuda_open(int device, double patience, const Configured *configured, int64_t lanes,
                                   size_t most, AdjointDevice **out)
{
    const AdjointEntry *entry = adjoint_find(configured);
    *out = NULL;
    if (entry == NULL) return trail_cuda_open(device, patience, configured, lanes, most, out);
    if (configured->meter != NULL || configured->law != NULL) return error_none(); // by the CPU
    CudaAdjoint *adjoint = (CudaAdjoint *)calloc(1, sizeof *adjoint);
    if (adjoint == NULL) return error_make(ERROR_MACHINE, "not enough memory for gradients on a GPU");
    adjoint->queue.number = device;
    adjoint->queue.patience = patience;
    adjoint->configured = configured;
    adjoint->entry = entry;
    adjoint->device.run = cuda_adjoint_run;
    adjoint->device.back = cuda_adjoint_back;
    adjoint->device.close = adjoint_close;
    const Error error = adjoint_start(adjoint, lanes, most);
    if (error.kind != OK) {
        adjoint_close(&adjoint->device);
        return error;
    }
    *out = &adjoint->device;
    return error_none();
}
