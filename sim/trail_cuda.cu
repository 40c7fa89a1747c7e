// The adjoint of `equations` on a GPU: a thread for each lane runs it, leaves its trail in device memory, and goes back
// along it (equations/adjoint/lane.h). The bits are those of the CPU's kernels (trail_kernels.c). A launch is a slice
// of attempts at steps, or of entries. Lanes that run a segment once more and lanes that go back take turns. For the
// tangent (equations/adjoint/tangent.h) a lane runs along one direction: a launch runs lanes, the next reads what they
// left.
#define HOPSCOTCH_TRAIL
#define HOPSCOTCH_CELLS
#include "adjoint_queue.cuh"
#include "backend.h"
#include "equations/adjoint/tangent.h"
#include "models.h"
#include "trail_kernels.h"

#include <cstdlib>

enum {
    TRAIL_ROOM_LEAST = 1 << 16, // bytes of a lane
    TRAIL_ROOM_FREE = 1 << 19,  // where nobody knows how many steps there will be
    TRAIL_ROOM_MOST = 1 << 22,
    TRAIL_SLICE_FIRST = 16, // attempts or entries of a launch; then as many as take about TRAIL_SHORT to TRAIL_LONG
    TRAIL_SLICE_LEAST = 4,
    TRAIL_SLICE_MOST = 4096
};
#define TRAIL_SHORT 0.02 // s
#define TRAIL_LONG 0.1

// ---- kernels --------------------------------------------------------------------------------------------------------

// What lanes of a launch still have to do: 1 where one of them has.
enum { TRAIL_FILLS, TRAIL_GOES, TRAIL_FLAGS };

// Rows of `lanes` numbers each.
typedef struct TrailLaunch {
    TrailPlan plan;
    int64_t lanes, doubles, slice; // doubles: of a lane in `memory`
    int32_t begins;                // the way forth or back begins
    double *memory;                // chunks of LANES_TOGETHER lanes
    double *parameter, *weight, *metric, *gradient, *growth, *trouble_time;
    double *direction, *slope; // of the tangent
    int32_t *failure, *trouble;
    int32_t *flags; // [TRAIL_FLAGS] of this launch
} TrailLaunch;

HD int64_t trail_index(void) { return (int64_t)blockIdx.x * THREAD_BLOCK + threadIdx.x; }

HD Cells trail_take(const TrailSystem *of, const TrailLaunch *launch, int64_t index, TrailLane *lane)
{
    const int64_t chunk = index / LANES_TOGETHER * LANES_TOGETHER * launch->doubles;
    return trail_open(of, &launch->plan, cells_of(launch->memory + chunk + index % LANES_TOGETHER), lane);
}

HD void trail_take_parameters(const TrailLaunch *launch, int64_t index, TrailLane *lane)
{
    for (int p = 0; p < lane->of->n_parameters; p++) lane->parameter[p] = launch->parameter[p * launch->lanes + index];
}

HD void trail_report(const TrailLaunch *launch, const TrailLane *lane)
{
    if (lane->fills)
        launch->flags[TRAIL_FILLS] = 1;
    else if (!trail_is_back(lane))
        launch->flags[TRAIL_GOES] = 1;
}

HD void trail_forth(const TrailSystem *of, const TrailLaunch *launch, EquationsMethod method)
{
    const int64_t index = trail_index();
    if (index >= launch->lanes) return;
    TrailLane lane;
    trail_take(of, launch, index, &lane);
    if (launch->begins != 0)
        trail_take_parameters(launch, index, &lane);
    else
        trail_load(&lane);
    if (lane.fills) {
        trail_run(&lane, method, launch->slice);
        trail_keep(&lane);
    }
    const bool ended = !lane.fills && !lane.trail.again;
    for (int m = 0; m < of->n_metrics && ended; m++) launch->metric[m * launch->lanes + index] = lane.metric[m];
    if (ended) launch->failure[index] = lane.status - LANE_DONE;
    trail_report(launch, &lane);
}

HD void trail_reverse(const TrailSystem *of, const TrailLaunch *launch)
{
    const int64_t index = trail_index();
    if (index >= launch->lanes) return;
    TrailLane lane;
    trail_take(of, launch, index, &lane);
    trail_load(&lane);
    if (launch->begins != 0) {
        for (int m = 0; m < of->n_metrics; m++) lane.weigh[m] = launch->weight[m * launch->lanes + index];
        trail_back_start(&lane);
    } else if (lane.fills || trail_is_back(&lane)) {
        trail_report(launch, &lane);
        return;
    }
    trail_back(&lane, launch->slice);
    if (trail_is_back(&lane)) {
        trail_back_end(&lane, launch->gradient + index, launch->lanes, launch->growth + index);
        launch->trouble[index] = (int32_t)trail_trouble(&lane);
        launch->trouble_time[index] = lane.trouble;
    }
    trail_keep(&lane);
    trail_report(launch, &lane);
}

// A lane whose slopes are there has nothing more to go back through.
HD void trail_along(const TrailSystem *of, const TrailLaunch *launch)
{
    const int64_t index = trail_index();
    if (index >= launch->lanes) return;
    TrailLane lane;
    Tangent tangent;
    (void)tangent_lay(&lane, trail_take(of, launch, index, &lane), &tangent);
    if (launch->begins != 0) {
        trail_take_parameters(launch, index, &lane);
        tangent_begin(&tangent, launch->direction + index, launch->lanes);
    } else {
        trail_load(&lane);
        if (trail_is_back(&lane)) return;
        if (tangent_go_on(&tangent)) {
            for (int m = 0; m < of->n_metrics; m++) launch->slope[m * launch->lanes + index] = tangent.slope[m];
            lane.segment = -1;
        }
    }
    trail_keep(&lane);
    trail_report(launch, &lane);
}

#define TRAIL_FORTH(name)                                                                                              \
    static __global__ void __launch_bounds__(THREAD_BLOCK)                                                             \
        trail_forth_##name(const TrailSystem *of, const __grid_constant__ TrailLaunch launch)                          \
    {                                                                                                                  \
        trail_forth(of, &launch, EQUATIONS_BY_##name);                                                                 \
    }
#define TRAIL_METHODS(X)                                                                                               \
    X(dormand_prince)                                                                                                  \
    X(rk4)                                                                                                             \
    X(semi_implicit_euler)                                                                                             \
    X(implicit_midpoint)                                                                                               \
    X(rodas5p)                                                                                                         \
    X(euler_maruyama)                                                                                                  \
    X(sra3)                                                                                                            \
    X(map)
TRAIL_METHODS(TRAIL_FORTH)

static __global__ void __launch_bounds__(THREAD_BLOCK)
    trail_back_all(const TrailSystem *of, const __grid_constant__ TrailLaunch launch)
{
    trail_reverse(of, &launch);
}

static __global__ void __launch_bounds__(THREAD_BLOCK)
    trail_along_all(const TrailSystem *of, const __grid_constant__ TrailLaunch launch)
{
    trail_along(of, &launch);
}

typedef void (*TrailKernel)(const TrailSystem *of, const TrailLaunch launch);

typedef struct TrailEntry {
    int kernel;
    TrailKernel forth;
} TrailEntry;

#define TRAIL_ENTRY(name) {KERNEL_equations_##name, trail_forth_##name},
static const TrailEntry trail_entries[] = {TRAIL_METHODS(TRAIL_ENTRY)};

static const TrailEntry *trail_find(const Configured *configured)
{
    for (size_t i = 0; i < sizeof trail_entries / sizeof *trail_entries; i++)
        if (trail_entries[i].kernel == configured->kernel) return &trail_entries[i];
    return NULL;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

// Attempts or entries of launches forth and back. Of a tangent one number: what a launch leaves the next one reads.
enum { TRAIL_SLICE_FORTH, TRAIL_SLICE_BACK, TRAIL_SLICE_ALONG, TRAIL_SLICES };

typedef struct CudaTrail {
    AdjointDevice device;
    const Configured *configured;
    const TrailKernels *host;
    AdjointQueue queue;
    TrailKernel forth;
    TrailLaunch launch;
    void *system;                 // on the device: a TrailSystem and what it points to
    int32_t *flags, *seen;        // [ADJOINT_QUEUED][TRAIL_FLAGS] of launches; those that the host has seen
    TrailKernel other;            // than forth: back, or along
    int64_t slices[TRAIL_SLICES]; // of launches
    int slice_of[ADJOINT_QUEUED]; // the latest launches
    double looked;                // s, when the host last looked
    size_t most;                  // of the lanes that were run last
    int32_t *trouble;             // [lanes] of the host, after the way back
    const char **reason;          // [lanes] NULL: none
    double *trouble_time;         // [lanes]
} CudaTrail;

static int64_t trail_padded(int64_t lanes) { return (lanes + LANES_TOGETHER - 1) / LANES_TOGETHER * LANES_TOGETHER; }

// Bytes of a lane.
static size_t trail_lane_bytes(const CudaTrail *trail, int64_t doubles)
{
    const Configured *configured = trail->configured;
    const int64_t rows = 3 * configured->n_parameters + 3 * configured->n_metrics + 2;
    return sizeof(double) * (size_t)(doubles + rows) + 2 * sizeof(int32_t);
}

// About `bytes` for a lane. Returns whether the greatest number of steps is known.
static bool trail_use(CudaTrail *trail, size_t bytes)
{
    const TrailSizes sizes = trail->host->sizes(trail->configured, bytes);
    const TrailPlan plan = {sizes.room, sizes.most, sizes.at_once, sizes.width};
    trail->launch.plan = plan;
    trail->launch.doubles = sizes.doubles;
    return sizes.known;
}

// As much memory for a lane as is of use, but all lanes at once where they fit.
static Error trail_choose(CudaTrail *trail, int64_t lanes, size_t most)
{
    size_t room, bytes = most;
    TRY(queue_room(&room));
    if (most == 0) bytes = trail_use(trail, TRAIL_ROOM_MOST) ? TRAIL_ROOM_MOST : TRAIL_ROOM_FREE;
    const int64_t padded = trail_padded(lanes);
    int64_t fit = 0;
    for (;; bytes /= 2) {
        trail_use(trail, bytes);
        fit = (int64_t)(room / trail_lane_bytes(trail, trail->launch.doubles)) / LANES_TOGETHER * LANES_TOGETHER;
        if (fit >= padded || bytes / 2 < TRAIL_ROOM_LEAST) break;
    }
    if (fit == 0) return error_make(ERROR_MEMORY, "the gradients of %d lanes do not fit into the GPU", LANES_TOGETHER);
    trail->device.lanes = (int)(padded <= fit ? lanes : fit);
    trail->device.bytes = trail_lane_bytes(trail, trail->launch.doubles) * (size_t)trail_padded(trail->device.lanes);
    return error_none();
}

static Error trail_take_system(CudaTrail *trail)
{
    const size_t size = trail->host->copy(trail->configured, NULL, NULL);
    CUDA_TRY(cudaMalloc(&trail->system, size));
    void *block = malloc(size);
    if (block == NULL) return error_make(ERROR_MACHINE, "not enough memory for gradients on a GPU");
    (void)trail->host->copy(trail->configured, trail->system, block);
    cudaError_t code;
    CUDA_CALL(code, cudaMemcpy(trail->system, block, size, cudaMemcpyHostToDevice));
    free(block);
    trail->device.bytes += size;
    return cuda_check(code, "cudaMemcpy(system)");
}

static Error trail_take(CudaTrail *trail)
{
    const Configured *configured = trail->configured;
    TrailLaunch *launch = &trail->launch;
    const size_t lanes = (size_t)trail->device.lanes, row = sizeof(double) * lanes;
    const size_t memory = sizeof(double) * (size_t)(launch->doubles * trail_padded(trail->device.lanes));
    const size_t flags = sizeof(int32_t) * ADJOINT_QUEUED * TRAIL_FLAGS;
    CUDA_TRY(cudaMalloc((void **)&launch->parameter, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMalloc((void **)&launch->weight, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMalloc((void **)&launch->metric, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMalloc((void **)&launch->gradient, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMalloc((void **)&launch->direction, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMalloc((void **)&launch->slope, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMalloc((void **)&launch->growth, row));
    CUDA_TRY(cudaMalloc((void **)&launch->trouble_time, row));
    CUDA_TRY(cudaMalloc((void **)&launch->failure, sizeof(int32_t) * lanes));
    CUDA_TRY(cudaMalloc((void **)&launch->trouble, sizeof(int32_t) * lanes));
    CUDA_TRY(cudaMalloc((void **)&launch->memory, memory));
    CUDA_TRY(cudaMalloc((void **)&trail->flags, flags));
    CUDA_TRY(cudaMallocHost((void **)&trail->seen, flags));
    trail->trouble = (int32_t *)malloc(sizeof(int32_t) * lanes);
    trail->trouble_time = (double *)malloc(row);
    trail->reason = (const char **)malloc(sizeof(char *) * lanes);
    if (trail->trouble == NULL || trail->reason == NULL || trail->trouble_time == NULL)
        return error_make(ERROR_MACHINE, "not enough memory for gradients on a GPU");
    return trail_take_system(trail);
}

static void trail_close(AdjointDevice *device)
{
    CudaTrail *trail = (CudaTrail *)device;
    const TrailLaunch *launch = &trail->launch;
    if (trail->queue.stuck) return;
    cudaSetDevice(trail->queue.number);
    void *const memory[] = {launch->parameter,    launch->weight,  launch->metric,  launch->gradient, launch->growth,
                            launch->trouble_time, launch->failure, launch->trouble, launch->memory,   launch->direction,
                            launch->slope,        trail->flags,    trail->system};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) cudaFree(memory[i]);
    cudaFreeHost(trail->seen);
    queue_close(&trail->queue);
    free(trail->trouble);
    free(trail->trouble_time);
    free(trail->reason);
    free(trail);
}

// ---- forward and back -----------------------------------------------------------------------------------------------

// Longer or shorter launches of the kind that has ended, by the time from the last look to this one.
static void trail_adapt(CudaTrail *trail)
{
    const double now = backend_clock(), seconds = now - trail->looked;
    const int64_t launches = trail->queue.launches;
    int64_t *slice = &trail->slices[trail->slice_of[launches % ADJOINT_QUEUED]];
    trail->looked = now;
    if (launches <= ADJOINT_QUEUED) return; // the host did not wait
    if (seconds < TRAIL_SHORT && *slice < TRAIL_SLICE_MOST) *slice *= 2;
    if (seconds > TRAIL_LONG && *slice > TRAIL_SLICE_LEAST) *slice /= 2;
}

// Until there is room for one more launch. flags[TRAIL_FLAGS] <- what lanes had to do after the last that has ended.
static Error trail_look(CudaTrail *trail, const int32_t **flags)
{
    static const int32_t all[TRAIL_FLAGS] = {1, 1};
    TRY(queue_go_on(&trail->queue));
    const int64_t launches = trail->queue.launches;
    *flags = launches < ADJOINT_QUEUED ? all : trail->seen + launches % ADJOINT_QUEUED * TRAIL_FLAGS;
    trail_adapt(trail);
    return error_none();
}

// forth: else trail->other. slice: of trail->slices.
static Error trail_step(CudaTrail *trail, bool forth, int slice)
{
    TrailLaunch launch = trail->launch;
    const TrailSystem *of = (const TrailSystem *)trail->system;
    AdjointQueue *queue = &trail->queue;
    const int64_t slot = queue->launches % ADJOINT_QUEUED, flags = slot * TRAIL_FLAGS;
    void *arguments[] = {(void *)&of, &launch};
    const size_t size = sizeof(int32_t) * TRAIL_FLAGS;
    const size_t shared = forth ? sizeof(double) * (size_t)(trail->configured->shared * THREAD_BLOCK) : 0;
    const unsigned blocks = (unsigned)((launch.lanes + THREAD_BLOCK - 1) / THREAD_BLOCK);
    launch.begins = queue->launches == 0;
    launch.slice = trail->slices[slice];
    launch.flags = trail->flags + flags;
    trail->slice_of[slot] = slice;
    CUDA_TRY(cudaMemsetAsync(launch.flags, 0, size, queue->stream));
    CUDA_TRY(cudaLaunchKernel(forth ? trail->forth : trail->other, dim3(blocks), dim3(THREAD_BLOCK), arguments, shared,
                              queue->stream));
    CUDA_TRY(cudaMemcpyAsync(trail->seen + flags, launch.flags, size, cudaMemcpyDeviceToHost, queue->stream));
    return queue_add(queue);
}

static Error trail_begin(CudaTrail *trail)
{
    trail->looked = backend_clock();
    return queue_begin(&trail->queue);
}

static Error trail_go_forth(CudaTrail *trail)
{
    const int32_t *flags;
    TRY(trail_begin(trail));
    for (;;) {
        TRY(trail_look(trail, &flags));
        if (flags[TRAIL_FILLS] == 0) break;
        TRY(trail_step(trail, true, TRAIL_SLICE_FORTH));
    }
    return queue_drain(&trail->queue, 0);
}

static Error trail_go_back(CudaTrail *trail)
{
    const int32_t *flags;
    bool back = false;
    trail->other = trail_back_all;
    TRY(trail_begin(trail));
    for (;;) {
        TRY(trail_look(trail, &flags));
        if (flags[TRAIL_FILLS] == 0 && flags[TRAIL_GOES] == 0) break;
        back = flags[TRAIL_FILLS] == 0 || (flags[TRAIL_GOES] != 0 && !back);
        TRY(trail_step(trail, !back, back ? TRAIL_SLICE_BACK : TRAIL_SLICE_FORTH));
    }
    return queue_drain(&trail->queue, 0);
}

// The first launch begins, without a run.
static Error trail_go_along(CudaTrail *trail)
{
    const int32_t *flags;
    trail->other = trail_along_all;
    TRY(trail_begin(trail));
    for (bool forth = false;; forth = !forth) {
        TRY(trail_look(trail, &flags));
        if (flags[TRAIL_FILLS] == 0 && flags[TRAIL_GOES] == 0) break;
        TRY(trail_step(trail, forth, TRAIL_SLICE_ALONG));
    }
    return queue_drain(&trail->queue, 0);
}

static Error trail_copy(const CudaTrail *trail, void *to, const void *from, size_t numbers, cudaMemcpyKind kind)
{
    CUDA_TRY(cudaMemcpyAsync(to, from, numbers * (size_t)trail->launch.lanes, kind, trail->queue.stream));
    return error_none();
}

// Before a run of these lanes.
static Error trail_send(CudaTrail *trail, const AdjointLanes *lanes)
{
    TrailLaunch *launch = &trail->launch;
    const size_t n_parameters = sizeof(double) * (size_t)trail->configured->n_parameters;
    launch->lanes = lanes->count;
    trail->most = lanes->most;
    trail->queue.leaves = lanes->leaves;
    trail->queue.of = lanes->of;
    CUDA_TRY(cudaSetDevice(trail->queue.number));
    return trail_copy(trail, launch->parameter, lanes->parameter, n_parameters, cudaMemcpyHostToDevice);
}

static Error trail_receive(CudaTrail *trail, const AdjointLanes *lanes)
{
    const TrailLaunch *launch = &trail->launch;
    const size_t n_metrics = sizeof(double) * (size_t)trail->configured->n_metrics;
    TRY(trail_copy(trail, lanes->metric, launch->metric, n_metrics, cudaMemcpyDeviceToHost));
    TRY(trail_copy(trail, lanes->failure, launch->failure, sizeof(int32_t), cudaMemcpyDeviceToHost));
    CUDA_TRY(cudaStreamSynchronize(trail->queue.stream));
    return queue_seconds(&trail->queue, &trail->device.run_seconds);
}

static Error cuda_trail_run(AdjointDevice *device, const AdjointLanes *lanes)
{
    CudaTrail *trail = (CudaTrail *)device;
    TRY(trail_send(trail, lanes));
    TRY(trail_go_forth(trail));
    return trail_receive(trail, lanes);
}

static Error cuda_trail_tangent(AdjointDevice *device, const AdjointLanes *lanes, const double *direction,
                                double *slope)
{
    CudaTrail *trail = (CudaTrail *)device;
    const TrailLaunch *launch = &trail->launch;
    const size_t n_parameters = sizeof(double) * (size_t)trail->configured->n_parameters,
                 n_metrics = sizeof(double) * (size_t)trail->configured->n_metrics;
    TRY(trail_send(trail, lanes));
    TRY(trail_copy(trail, launch->direction, direction, n_parameters, cudaMemcpyHostToDevice));
    TRY(trail_go_along(trail));
    TRY(trail_copy(trail, slope, launch->slope, n_metrics, cudaMemcpyDeviceToHost));
    return trail_receive(trail, lanes);
}

// A lane whose trail does not fit into its part of the device's memory has more of the host's.
static Error trail_back_by_host(CudaTrail *trail, int64_t lane, const double *weight, double *gradient, double *growth)
{
    const Configured *configured = trail->configured;
    const Adjoint *adjoint = configured->model->adjoint;
    const int64_t lanes = trail->launch.lanes;
    const size_t row = sizeof(double) * (size_t)lanes;
    const int n = configured->n_parameters, n_metrics = configured->n_metrics;
    int failure;
    const size_t bytes = adjoint->bytes(configured, 1, trail->most);
    double *numbers = (double *)malloc(sizeof(double) * (size_t)(2 * n + 2 * n_metrics));
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    Error error = error_none();
    if (numbers == NULL || memory == NULL) error = error_make(ERROR_MACHINE, "not enough memory for a gradient");
    double *own = numbers, *slope = own + n, *metric = slope + n, *weights = metric + n_metrics;
    AdjointLanes one;
    memset(&one, 0, sizeof one);
    one.count = 1;
    one.parameter = own;
    one.most = trail->most;
    one.metric = metric;
    one.failure = &failure;
    one.leaves = trail->queue.leaves;
    one.of = trail->queue.of;
    if (error.kind == OK) {
        cudaError_t code;
        for (int m = 0; m < n_metrics; m++) weights[m] = weight[m * lanes + lane];
        CUDA_CALL(code, cudaMemcpy2DAsync(own, sizeof(double), trail->launch.parameter + lane, row, sizeof(double),
                                          (size_t)n, cudaMemcpyDeviceToHost, trail->queue.stream));
        if (code == cudaSuccess) CUDA_CALL(code, cudaStreamSynchronize(trail->queue.stream));
        error = cuda_check(code, "cudaMemcpy2DAsync(parameters)");
    }
    if (error.kind == OK && (!adjoint->run(configured, &one, memory) ||
                             !adjoint->back(configured, 1, memory, weights, slope, growth + lane)))
        error = error_make(ERROR_INTERRUPTED, "interrupted");
    if (error.kind == OK) {
        trail->reason[lane] = adjoint->trouble(memory, &trail->trouble_time[lane]);
        for (int p = 0; p < n; p++) gradient[p * lanes + lane] = slope[p];
    }
    free(numbers);
    free(memory);
    return error;
}

static Error cuda_trail_back(AdjointDevice *device, const double *weight, double *gradient, double *growth)
{
    CudaTrail *trail = (CudaTrail *)device;
    const Configured *configured = trail->configured;
    const TrailLaunch *launch = &trail->launch;
    const size_t n_parameters = sizeof(double) * (size_t)configured->n_parameters;
    CUDA_TRY(cudaSetDevice(trail->queue.number));
    TRY(trail_copy(trail, launch->weight, weight, sizeof(double) * (size_t)configured->n_metrics,
                   cudaMemcpyHostToDevice));
    TRY(trail_go_back(trail));
    TRY(trail_copy(trail, gradient, launch->gradient, n_parameters, cudaMemcpyDeviceToHost));
    TRY(trail_copy(trail, growth, launch->growth, sizeof(double), cudaMemcpyDeviceToHost));
    TRY(trail_copy(trail, trail->trouble, launch->trouble, sizeof(int32_t), cudaMemcpyDeviceToHost));
    TRY(trail_copy(trail, trail->trouble_time, launch->trouble_time, sizeof(double), cudaMemcpyDeviceToHost));
    CUDA_TRY(cudaStreamSynchronize(trail->queue.stream));
    TRY(queue_seconds(&trail->queue, &device->back_seconds));
    for (int64_t i = 0; i < launch->lanes; i++) trail->reason[i] = trail->host->reason(trail->trouble[i]);
    for (int64_t i = 0; i < launch->lanes; i++)
        if (trail->trouble[i] == TRAIL_TROUBLE_OVERFLOWS) TRY(trail_back_by_host(trail, i, weight, gradient, growth));
    for (int p = 0; p < configured->n_parameters; p++)
        for (int64_t i = 0; i < launch->lanes && !configured->model->adjoint->parameter(configured, p); i++)
            gradient[p * launch->lanes + i] = 0.0;
    return error_none();
}

static const char *cuda_trail_trouble(const AdjointDevice *device, int lane, double *time)
{
    const CudaTrail *trail = (const CudaTrail *)device;
    *time = trail->trouble_time[lane];
    return trail->reason[lane];
}

// ---- open -----------------------------------------------------------------------------------------------------------

static Error trail_start(CudaTrail *trail, int64_t lanes, size_t most)
{
    TRY(queue_open(&trail->queue));
    TRY(trail_choose(trail, lanes, most));
    return trail_take(trail);
}

extern "C" Error trail_cuda_open(int device, double patience, const Configured *configured, int64_t lanes, size_t most,
                                 AdjointDevice **out)
{
    const TrailEntry *entry = trail_find(configured);
    *out = NULL;
    if (entry == NULL || configured->meter != NULL) return error_none(); // by the CPU
    CudaTrail *trail = (CudaTrail *)calloc(1, sizeof *trail);
    if (trail == NULL) return error_make(ERROR_MACHINE, "not enough memory for gradients on a GPU");
    trail->queue.number = device;
    trail->queue.patience = patience;
    trail->configured = configured;
    trail->host = cpu_trail_kernels();
    trail->forth = entry->forth;
    for (int i = 0; i < TRAIL_SLICES; i++) trail->slices[i] = TRAIL_SLICE_FIRST;
    trail->device.run = cuda_trail_run;
    trail->device.back = cuda_trail_back;
    trail->device.trouble = cuda_trail_trouble;
    trail->device.tangent = cuda_trail_tangent;
    trail->device.close = trail_close;
    const Error error = trail_start(trail, lanes, most);
    if (error.kind != OK) {
        trail_close(&trail->device);
        return error;
    }
    *out = &trail->device;
    return error_none();
}
