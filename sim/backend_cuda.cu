// The CUDA backend: one thread per lane, or a team of them (team.h). Two batches are in flight on two streams, with
// pinned host memory; no device memory is taken after prepare. Every CUDA call except those that free goes through
// CUDA_CALL, so that a test can make it fail (sim/faults.c).
#define HOPSCOTCH_KERNELS
#include "backend.h"
#include "faults.h"
#include "lanes.h"
#include "models.h"
#include "team.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

enum { CUDA_BLOCK = BLOCK_THREADS };

// ---- kernels: a plain and an observed one for each of the models' ---------------------------------------------------

// threads: per lane. 1: a block advances CUDA_BLOCK lanes; else whole blocks of this many threads advance one lane.
#define CUDA_KERNEL(prefix, model, kernel, threads, is_observed)                                                       \
    static __global__ void __launch_bounds__(threads == 1 ? CUDA_BLOCK : threads, threads == 1 ? 1 : 2)                \
        prefix##_##model##_##kernel(const Constants constants, const double *assets, LaneGroup group, int64_t end)     \
    {                                                                                                                  \
        group.lane += threads == 1 || group.team.blocks == 0 ? (int64_t)blockIdx.x * CUDA_BLOCK + threadIdx.x          \
                                                             : (int64_t)(blockIdx.x / (unsigned)group.team.blocks);    \
        if (group.lane < end) model##_##kernel(&constants, assets, &group, is_observed);                               \
    }
#define CUDA_KERNELS(model, kernel, threads, alone)                                                                    \
    CUDA_KERNEL(plain, model, kernel, threads, false)                                                                  \
    CUDA_KERNEL(observed, model, kernel, threads, true)
KERNELS(CUDA_KERNELS)

typedef void (*CudaKernel)(const Constants constants, const double *assets, LaneGroup group, int64_t end);

#define CUDA_PLAIN(model, kernel, threads, alone) plain_##model##_##kernel,
#define CUDA_OBSERVED(model, kernel, threads, alone) observed_##model##_##kernel,
#define CUDA_THREADS(model, kernel, threads, alone) threads,
static const CudaKernel cuda_plain[] = {KERNELS(CUDA_PLAIN)};
static const CudaKernel cuda_observed[] = {KERNELS(CUDA_OBSERVED)};
static const int cuda_threads[] = {KERNELS(CUDA_THREADS)}; // threads per lane

// ---- CUDA calls, which tests can make fail --------------------------------------------------------------------------

// In place of the call: only its error, or a kernel that crashes and destroys the context.
static __global__ void cuda_trap_kernel(void) { __trap(); }

static cudaError_t cuda_fail(int number)
{
    if (number != CUDA_FAULT_TRAP) return (cudaError_t)number;
    cuda_trap_kernel<<<1, 1>>>();
    return cudaDeviceSynchronize();
}

#define CUDA_CALL(code, call)                                                                                          \
    do {                                                                                                               \
        int cuda_number = 0;                                                                                           \
        (code) = backend_cuda_fault(&cuda_number) ? cuda_fail(cuda_number) : (call);                                   \
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

// ---- the backend ----------------------------------------------------------------------------------------------------

// Start and end of one slice on the device.
typedef struct CudaSpan {
    cudaEvent_t started, ended;
} CudaSpan;

typedef struct CudaSlot {
    Batch device; // pointers into device memory
    cudaStream_t stream;
    CudaSpan spans[2]; // used alternately, so that the last slice's is still valid when the next one is launched
    int turn;
    int64_t tick; // ticks launched
    double kernel_seconds;
    double *team; // [resident blocks][n_team], shared by the blocks of one lane
} CudaSlot;

typedef struct CudaBackend {
    Backend backend;
    int device;
    const Configured *configured;
    double *assets;         // on the device
    int resident;           // blocks of the kernel that run at once, if a lane takes whole blocks; else 0
    cudaEvent_t last_ended; // of the last slice that was waited for; NULL before the first
    CudaSlot slots[BACKEND_SLOTS_MAX];
} CudaBackend;

static void cuda_release(CudaBackend *cuda)
{
    for (int i = 0; i < BACKEND_SLOTS_MAX; i++) {
        Batch *device = &cuda->slots[i].device, *host = &cuda->backend.batches[i];
        cudaFree(device->parameter);
        cudaFree(device->work);
        cudaFree(device->metric);
        cudaFree(device->status);
        cudaFree(device->trace.sample);
        cudaFree(device->trace.count);
        cudaFree(device->debug.row);
        cudaFree(device->debug.count);
        cudaFree(cuda->slots[i].team);
        cuda->slots[i].team = NULL;
        cudaFreeHost(host->parameter);
        cudaFreeHost(host->metric);
        cudaFreeHost(host->status);
        cudaFreeHost(host->trace.sample);
        cudaFreeHost(host->trace.count);
        cudaFreeHost(host->debug.row);
        cudaFreeHost(host->debug.count);
        memset(device, 0, sizeof *device);
        memset(host, 0, sizeof *host);
    }
    cudaFree(cuda->assets);
    cuda->assets = NULL;
}

static Error cuda_take(CudaBackend *cuda, int slot, int64_t lanes, int64_t traced, int64_t capacity)
{
    const Configured *configured = cuda->configured;
    const size_t row = sizeof(double) * (size_t)lanes;
    const size_t worked = sizeof(double) * (size_t)((lanes + LANES_TOGETHER - 1) / LANES_TOGETHER * LANES_TOGETHER);
    const size_t samples = sizeof(double) * (size_t)(traced * capacity * configured->n_columns);
    Batch *device = &cuda->slots[slot].device, *host = &cuda->backend.batches[slot];
    device->stride = host->stride = lanes;
    device->trace.capacity = host->trace.capacity = capacity;
    device->trace.every = host->trace.every = 1;
    CUDA_TRY(cudaMalloc((void **)&device->parameter, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMalloc((void **)&device->work, worked * (size_t)configured->n_work));
    CUDA_TRY(cudaMalloc((void **)&device->metric, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMalloc((void **)&device->status, sizeof(int32_t) * (size_t)lanes));
    CUDA_TRY(cudaMallocHost((void **)&host->parameter, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMallocHost((void **)&host->metric, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMallocHost((void **)&host->status, sizeof(int32_t) * (size_t)lanes));
    if (traced == 0) return error_none();
    CUDA_TRY(cudaMalloc((void **)&device->trace.sample, samples));
    CUDA_TRY(cudaMalloc((void **)&device->trace.count, sizeof(int64_t) * (size_t)traced));
    CUDA_TRY(cudaMallocHost((void **)&host->trace.sample, samples));
    CUDA_TRY(cudaMallocHost((void **)&host->trace.count, sizeof(int64_t) * (size_t)traced));
    return error_none();
}

// Threads per block of the configured model's kernel.
static int cuda_team_threads(const Configured *configured)
{
    return configured->team_threads > 0 ? configured->team_threads : cuda_threads[configured->kernel];
}

// True if threads share a lane in batches of this many lanes.
static bool cuda_has_teams(const Configured *configured, int64_t lanes)
{
    return cuda_threads[configured->kernel] > 1 && (configured->team_lanes == 0 || lanes < configured->team_lanes);
}

// Finds how many blocks can run at once, and takes the memory that the blocks of one lane share.
static Error cuda_take_teams(CudaBackend *cuda)
{
    const Configured *configured = cuda->configured;
    const int threads = cuda_team_threads(configured);
    int processors = 0, plain = 0, observed = 0;
    cuda->resident = 0;
    if (threads == 1 || configured->n_team == 0) return error_none();
    CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, cuda->device));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&plain, cuda_plain[configured->kernel], threads, 0));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&observed, cuda_observed[configured->kernel], threads, 0));
    cuda->resident = processors * (plain < observed ? plain : observed);
    const size_t size = sizeof(double) * (size_t)(cuda->resident * configured->n_team);
    for (int i = 0; i < cuda->backend.info.slots; i++) CUDA_TRY(cudaMalloc((void **)&cuda->slots[i].team, size));
    return error_none();
}

static Error cuda_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced,
                          int64_t capacity)
{
    CudaBackend *cuda = (CudaBackend *)backend;
    cuda_release(cuda);
    cuda->configured = configured;
    Error error = cuda_take_teams(cuda);
    for (int i = 0; i < cuda->backend.info.slots && error.kind == OK; i++)
        error = cuda_take(cuda, i, lanes, traced, capacity);
    if (error.kind != OK) {
        cuda_release(cuda);
        return error;
    }
    if (configured->n_assets > 0) {
        const size_t size = sizeof(double) * (size_t)configured->n_assets;
        CUDA_TRY(cudaMalloc((void **)&cuda->assets, size));
        CUDA_TRY(cudaMemcpy(cuda->assets, configured->assets, size, cudaMemcpyHostToDevice));
    }
    return error_none();
}

static Error cuda_take_debug(CudaBackend *cuda, int slot, int64_t lanes, int64_t capacity)
{
    const size_t rows = sizeof(double) * (size_t)(lanes * capacity * cuda->configured->n_debug);
    const size_t counts = sizeof(int64_t) * (size_t)lanes;
    DebugRows *device = &cuda->slots[slot].device.debug, *host = &cuda->backend.batches[slot].debug;
    device->capacity = host->capacity = capacity;
    CUDA_TRY(cudaMalloc((void **)&device->row, rows));
    CUDA_TRY(cudaMalloc((void **)&device->count, counts));
    CUDA_TRY(cudaMallocHost((void **)&host->row, rows));
    CUDA_TRY(cudaMallocHost((void **)&host->count, counts));
    return error_none();
}

static Error cuda_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity)
{
    CudaBackend *cuda = (CudaBackend *)backend;
    for (int i = 0; i < cuda->backend.info.slots; i++) {
        const Error error = cuda_take_debug(cuda, i, lanes, capacity);
        if (error.kind != OK) {
            cuda_release(cuda);
            return error;
        }
    }
    return error_none();
}

// Copies `rows` rows of the lanes in use.
static Error cuda_copy(double *to, const double *from, const Batch *batch, int rows, cudaMemcpyKind kind,
                       cudaStream_t stream)
{
    const size_t pitch = sizeof(double) * (size_t)batch->stride, width = sizeof(double) * (size_t)batch->lanes;
    CUDA_TRY(cudaMemcpy2DAsync(to, pitch, from, pitch, width, (size_t)rows, kind, stream));
    return error_none();
}

static Error cuda_begin(Backend *backend, int slot)
{
    CudaBackend *cuda = (CudaBackend *)backend;
    CudaSlot *s = &cuda->slots[slot];
    const Batch *host = &backend->batches[slot];
    s->tick = 0;
    s->kernel_seconds = 0.0;
    s->device.lanes = host->lanes;
    s->device.trace.lanes = host->trace.lanes;
    s->device.trace.every = host->trace.every;
    s->device.trace.first = host->trace.first;
    s->device.trace.end = host->trace.end;
    s->device.debug.lanes = host->debug.lanes;
    s->device.debug.first = host->debug.first;
    s->device.debug.end = host->debug.end;
    TRY(cuda_copy(s->device.parameter, host->parameter, host, cuda->configured->n_parameters, cudaMemcpyHostToDevice,
                  s->stream));
    CUDA_TRY(cudaMemsetAsync(s->device.status, 0, sizeof(int32_t) * (size_t)host->lanes, s->stream));
    if (host->trace.lanes > 0)
        CUDA_TRY(cudaMemsetAsync(s->device.trace.count, 0, sizeof(int64_t) * (size_t)host->trace.lanes, s->stream));
    if (host->debug.lanes > 0)
        CUDA_TRY(cudaMemsetAsync(s->device.debug.count, 0, sizeof(int64_t) * (size_t)host->debug.lanes, s->stream));
    return error_none();
}

// One block per lane; or, if fewer lanes than can run at once, several blocks per lane that wait for each other.
static Error cuda_launch_teams(const CudaBackend *cuda, CudaKernel kernel, const CudaSlot *s, LaneGroup group,
                               int64_t end)
{
    const Configured *configured = cuda->configured;
    const int64_t lanes = end - group.lane, each = cuda->resident / lanes;
    const unsigned threads = (unsigned)cuda_team_threads(configured);
    group.team.blocks = each < 2 ? 1 : (int32_t)(each < configured->team_blocks ? each : configured->team_blocks);
    if (group.team.blocks < 2) {
        kernel<<<(unsigned)lanes, threads, 0, s->stream>>>(configured->constants, cuda->assets, group, end);
        CUDA_TRY(cudaGetLastError());
        return error_none();
    }
    Constants constants = configured->constants;
    const double *assets = cuda->assets;
    void *arguments[] = {&constants, &assets, &group, &end};
    group.team.doubles = configured->n_team;
    group.team.memory = s->team;
    CUDA_TRY(cudaMemsetAsync(s->team, 0, sizeof(double) * (size_t)(lanes * configured->n_team), s->stream));
    CUDA_TRY(cudaLaunchCooperativeKernel((const void *)kernel, dim3((unsigned)(lanes * group.team.blocks)),
                                         dim3(threads), arguments, 0, s->stream));
    return error_none();
}

// lanes [first, end) on the slot's stream
static Error cuda_launch(const CudaBackend *cuda, CudaKernel kernel, const CudaSlot *s, LaneGroup group, int64_t first,
                         int64_t end)
{
    if (first >= end) return error_none();
    group.lane = first;
    if (cuda_has_teams(cuda->configured, s->device.lanes)) return cuda_launch_teams(cuda, kernel, s, group, end);
    const unsigned blocks = (unsigned)((end - first + CUDA_BLOCK - 1) / CUDA_BLOCK);
    kernel<<<blocks, CUDA_BLOCK, 0, s->stream>>>(cuda->configured->constants, cuda->assets, group, end);
    CUDA_TRY(cudaGetLastError());
    return error_none();
}

static Error cuda_advance(Backend *backend, int slot, int64_t ticks)
{
    CudaBackend *cuda = (CudaBackend *)backend;
    CudaSlot *s = &cuda->slots[slot];
    const int64_t left = configured_steps(cuda->configured) - s->tick;
    LaneGroup group;
    memset(&group, 0, sizeof group);
    group.batch = s->device;
    group.n_columns = cuda->configured->n_columns;
    group.n_debug = cuda->configured->n_debug;
    group.valid = 1;
    group.tick = s->tick;
    group.ticks = ticks < left ? ticks : left;
    const int64_t observed = batch_observed(&s->device);
    const CudaSpan *span = &s->spans[s->turn = 1 - s->turn];
    CUDA_TRY(cudaEventRecord(span->started, s->stream));
    TRY(cuda_launch(cuda, cuda_observed[cuda->configured->kernel], s, group, 0, observed));
    TRY(cuda_launch(cuda, cuda_plain[cuda->configured->kernel], s, group, observed, s->device.lanes));
    CUDA_TRY(cudaEventRecord(span->ended, s->stream));
    s->tick += group.ticks;
    return error_none();
}

static Error cuda_collect(CudaBackend *cuda, int slot)
{
    CudaSlot *s = &cuda->slots[slot];
    Batch *host = &cuda->backend.batches[slot];
    const Configured *configured = cuda->configured;
    TRY(cuda_copy(host->metric, s->device.metric, host, configured->n_metrics, cudaMemcpyDeviceToHost, s->stream));
    CUDA_TRY(cudaMemcpyAsync(host->status, s->device.status, sizeof(int32_t) * (size_t)host->lanes,
                             cudaMemcpyDeviceToHost, s->stream));
    if (host->trace.lanes > 0) {
        const int64_t samples = host->trace.lanes * host->trace.capacity * configured->n_columns;
        CUDA_TRY(cudaMemcpyAsync(host->trace.count, s->device.trace.count, sizeof(int64_t) * (size_t)host->trace.lanes,
                                 cudaMemcpyDeviceToHost, s->stream));
        CUDA_TRY(cudaMemcpyAsync(host->trace.sample, s->device.trace.sample, sizeof(double) * (size_t)samples,
                                 cudaMemcpyDeviceToHost, s->stream));
    }
    if (host->debug.lanes > 0) {
        const int64_t numbers = host->debug.lanes * host->debug.capacity * configured->n_debug;
        CUDA_TRY(cudaMemcpyAsync(host->debug.count, s->device.debug.count, sizeof(int64_t) * (size_t)host->debug.lanes,
                                 cudaMemcpyDeviceToHost, s->stream));
        CUDA_TRY(cudaMemcpyAsync(host->debug.row, s->device.debug.row, sizeof(double) * (size_t)numbers,
                                 cudaMemcpyDeviceToHost, s->stream));
    }
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    return error_none();
}

// Device time of a slice that has ended: from its start or, if later, from the end of the slice waited for before.
// Slices of two batches overlap, so the sum over all slices is the time in which the device was busy.
static Error cuda_span_seconds(CudaBackend *cuda, const CudaSpan *span, double *seconds)
{
    float own = 0.0f, since_last = 0.0f;
    CUDA_TRY(cudaEventElapsedTime(&own, span->started, span->ended));
    if (cuda->last_ended != NULL) {
        CUDA_TRY(cudaEventElapsedTime(&since_last, cuda->last_ended, span->ended));
        if (since_last < own) own = since_last > 0.0f ? since_last : 0.0f;
    }
    cuda->last_ended = span->ended;
    *seconds = 1e-3 * (double)own;
    return error_none();
}

// Copies the lanes' status, which is small: lanes may end long before the last step.
static Error cuda_all_ended(CudaBackend *cuda, int slot, bool *ended)
{
    CudaSlot *s = &cuda->slots[slot];
    const Batch *host = &cuda->backend.batches[slot];
    const size_t size = sizeof(int32_t) * (size_t)host->lanes;
    *ended = s->tick >= configured_steps(cuda->configured);
    if (*ended) return error_none();
    CUDA_TRY(cudaMemcpyAsync(host->status, s->device.status, size, cudaMemcpyDeviceToHost, s->stream));
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    *ended = true;
    for (int64_t i = 0; i < host->lanes && *ended; i++) *ended = host->status[i] != LANE_RUNNING;
    return error_none();
}

// Polls every 50 us instead of sleeping, because a kernel that does not end wakes no thread.
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

static Error cuda_poll(Backend *backend, int slot, double seconds, bool *ended)
{
    const CudaSlot *s = &((CudaBackend *)backend)->slots[slot];
    cudaError_t code;
    CUDA_CALL(code, cuda_event_state(s->spans[s->turn].ended, seconds));
    *ended = code != cudaErrorNotReady;
    return *ended ? cuda_check(code, "cudaEventQuery(ended)") : error_none();
}

static Error cuda_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    CudaBackend *cuda = (CudaBackend *)backend;
    CudaSlot *s = &cuda->slots[slot];
    const CudaSpan *span = &s->spans[s->turn];
    double seconds = 0.0;
    CUDA_TRY(cudaEventSynchronize(span->ended));
    TRY(cuda_span_seconds(cuda, span, &seconds));
    s->kernel_seconds += seconds;
    *kernel_seconds = s->kernel_seconds;
    TRY(cuda_all_ended(cuda, slot, done));
    if (*done) TRY(cuda_collect(cuda, slot));
    return error_none();
}

static void cuda_close(Backend *backend)
{
    CudaBackend *cuda = (CudaBackend *)backend;
    cudaSetDevice(cuda->device);
    const bool broken = cudaDeviceSynchronize() != cudaSuccess; // an abandoned batch may still be running
    cuda_release(cuda);
    for (int i = 0; i < BACKEND_SLOTS_MAX; i++) {
        for (int k = 0; k < 2; k++) {
            const CudaSpan *span = &cuda->slots[i].spans[k];
            if (span->started != NULL) cudaEventDestroy(span->started);
            if (span->ended != NULL) cudaEventDestroy(span->ended);
        }
        if (cuda->slots[i].stream != NULL) cudaStreamDestroy(cuda->slots[i].stream);
    }
    if (broken) cudaDeviceReset(); // the next user gets a fresh context, if the device still works
    (void)cudaGetLastError();
    free(cuda);
}

static Error cuda_describe(CudaBackend *cuda)
{
    BackendInfo *info = &cuda->backend.info;
    int devices = 0, driver = 0, runtime = 0, processors = 0, double_ratio = 0;
    size_t free_bytes = 0, total_bytes = 0;
    cudaDeviceProp properties;
    CUDA_TRY(cudaGetDeviceProperties(&properties, cuda->device));
    CUDA_TRY(cudaGetDeviceCount(&devices));
    CUDA_TRY(cudaDriverGetVersion(&driver));
    CUDA_TRY(cudaRuntimeGetVersion(&runtime));
    CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, cuda->device));
    CUDA_TRY(cudaDeviceGetAttribute(&double_ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, cuda->device));
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    info->name = "cuda";
    info->slots = BACKEND_SLOTS_MAX;
    info->memory_free = (int64_t)free_bytes;
    info->lane_multiple = (int64_t)processors * 4 * 32; // one warp for each of the four schedulers
    snprintf(info->device, sizeof info->device, devices > 1 ? "%.100s (device %d)" : "%.100s", properties.name,
             cuda->device);
    snprintf(info->version, sizeof info->version, "driver %d.%d, runtime %d.%d, sm_%d%d", driver / 1000,
             driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, properties.major, properties.minor);
    if (double_ratio > 4)
        snprintf(info->warning, sizeof info->warning,
                 "%s computes in double precision at 1/%d of its single-precision speed; a CPU may be faster",
                 info->device, double_ratio);
    return error_none();
}

extern "C" int backend_cuda_count(void)
{
    int devices = 0;
    cudaError_t code;
    CUDA_CALL(code, cudaGetDeviceCount(&devices));
    (void)cudaGetLastError();
    return code == cudaSuccess ? devices : 0;
}

// Distinguishes a machine without a GPU from a GPU that failed.
static Error cuda_find(int device)
{
    int devices = 0;
    cudaError_t code;
    CUDA_CALL(code, cudaGetDeviceCount(&devices));
    (void)cudaGetLastError();
    if (code != cudaSuccess)
        return error_make(ERROR_MACHINE, "no NVIDIA GPU that can be used: %s", cudaGetErrorString(code));
    if (device >= 0 && device < devices) return error_none();
    return error_make(ERROR_USER, "there is no CUDA device %d; this machine has %d (0 to %d)", device, devices,
                      devices - 1);
}

static Error cuda_start(CudaBackend *cuda)
{
    CUDA_TRY(cudaSetDevice(cuda->device));
    for (int i = 0; i < BACKEND_SLOTS_MAX; i++) {
        CUDA_TRY(cudaStreamCreateWithFlags(&cuda->slots[i].stream, cudaStreamNonBlocking));
        for (int k = 0; k < 2; k++) {
            CUDA_TRY(cudaEventCreateWithFlags(&cuda->slots[i].spans[k].started, cudaEventBlockingSync));
            CUDA_TRY(cudaEventCreateWithFlags(&cuda->slots[i].spans[k].ended, cudaEventBlockingSync));
        }
    }
    return cuda_describe(cuda);
}

extern "C" Error backend_cuda_open(const BackendOptions *options, int device, Backend **out)
{
    (void)options;
    TRY(cuda_find(device));
    CudaBackend *cuda = (CudaBackend *)calloc(1, sizeof *cuda);
    if (cuda == NULL) return error_make(ERROR_MACHINE, "not enough memory for the CUDA backend");
    cuda->device = device;
    cuda->backend.prepare = cuda_prepare;
    cuda->backend.prepare_debug = cuda_prepare_debug;
    cuda->backend.begin = cuda_begin;
    cuda->backend.advance = cuda_advance;
    cuda->backend.poll = cuda_poll;
    cuda->backend.wait = cuda_wait;
    cuda->backend.close = cuda_close;
    const Error error = cuda_start(cuda);
    if (error.kind != OK) {
        cuda_close(&cuda->backend);
        return error;
    }
    *out = &cuda->backend;
    return error_none();
}
