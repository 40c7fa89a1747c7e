// The CUDA backend: one thread per lane, or a team of them (team.h). Two batches are in flight on two streams, with
// pinned host memory; no device memory is taken after prepare.
#define HOPSCOTCH_KERNELS
#include "ahead.cuh"
#include "alone.cuh"
#include "backend.h"
#include "cuda_calls.cuh"
#include "lanes.h"
#include "made/driver.cuh"
#include "models.h"
#include "team.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { CUDA_THREAD_BLOCK = THREAD_BLOCK };

// ---- kernels: a plain and an observed one for each of the models' ---------------------------------------------------

// threads: per lane. 1: a thread block advances CUDA_THREAD_BLOCK lanes; else whole thread blocks of that size advance
// one lane.
#define CUDA_KERNEL(prefix, model, kernel, threads, is_observed)                                                       \
    static __global__ void __launch_bounds__(threads == 1 ? CUDA_THREAD_BLOCK : threads, threads == 1 ? 1 : 2)         \
        prefix##_##model##_##kernel(const Constants constants, const double *assets, LaneGroup group, int64_t end)     \
    {                                                                                                                  \
        const int64_t position = threads == 1 || group.team.thread_blocks == 0                                         \
                                     ? (int64_t)blockIdx.x * CUDA_THREAD_BLOCK + threadIdx.x                           \
                                     : (int64_t)(blockIdx.x / (unsigned)group.team.thread_blocks);                     \
        if (lanes_take(&group, position, end)) model##_##kernel(&constants, assets, &group, is_observed);              \
    }
#define CUDA_KERNELS(model, kernel, threads, alone, work, fill)                                                        \
    CUDA_KERNEL(plain, model, kernel, threads, false)                                                                  \
    CUDA_KERNEL(observed, model, kernel, threads, true)
KERNELS(CUDA_KERNELS)

#define CUDA_PLAIN(model, kernel, threads, alone, work, fill) plain_##model##_##kernel,
#define CUDA_OBSERVED(model, kernel, threads, alone, work, fill) observed_##model##_##kernel,
#define CUDA_THREADS(model, kernel, threads, alone, work, fill) threads,
static const CudaKernel cuda_plain[] = {KERNELS(CUDA_PLAIN)};
static const CudaKernel cuda_observed[] = {KERNELS(CUDA_OBSERVED)};
static const int cuda_threads[] = {KERNELS(CUDA_THREADS)}; // threads per lane

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
    // The lanes that are not observed and still run; the device has the same list. It is built when many have ended.
    int32_t *order, *device_order;
    int64_t listed; // -1: there is none, since all run
    double *team;   // [resident][n_team], shared by the thread blocks of one lane
    BackendLife life;
    bool made;  // the made kernel advances the lanes that are not observed
    bool tried; // and this batch is its trial
    bool ahead; // and it was begun while another batch was the trial
} CudaSlot;

// Lanes that the general kernel computes too when a made one is on trial.
enum { CUDA_TRIAL_LANES = 64 };

// A kernel that was made for the campaign (sim/made).
typedef struct CudaMade {
    Driver driver;
    CUmodule module; // NULL: there is none
    CUfunction kernel;
    double *fixed; // [n_parameters], NaN: not fixed
    Batch trial;   // lanes of the general kernel, in device memory
    bool busy;     // a batch is on trial
    // of the trial, so that it runs beside the batch; the batch's inputs are on the device
    cudaStream_t stream;
    cudaEvent_t ready;
} CudaMade;

typedef struct CudaBackend {
    Backend backend;
    int device;
    const Configured *configured;
    double *assets;         // on the device
    double *meter_assets;   // the same
    double *law_assets;     // the same
    CudaKernel ahead;       // goes ahead of the general kernel (ahead.cuh); NULL: none does
    int resident;           // thread blocks of the kernel that run at once, if a lane takes whole ones; else 0
    cudaEvent_t last_ended; // of the last slice that was waited for; NULL before the first
    CudaSlot slots[BACKEND_SLOTS_MAX];
    CudaMade made;
} CudaBackend;

// The made kernel is let go: the general one does its work.
static void cuda_drop_made(CudaBackend *cuda)
{
    CudaMade *made = &cuda->made;
    if (made->module != NULL) (void)cudaDeviceSynchronize(); // it may be in flight
    if (made->module != NULL) (void)made->driver.unload(made->module);
    if (made->stream != NULL) cudaStreamDestroy(made->stream);
    if (made->ready != NULL) cudaEventDestroy(made->ready);
    cudaFree(made->trial.parameter);
    cudaFree(made->trial.work);
    cudaFree(made->trial.metric);
    cudaFree(made->trial.status);
    cudaFree(made->trial.law.of.cell);
    cudaFree(made->trial.meter.of.cell);
    free(made->fixed);
    memset(made, 0, sizeof *made);
}

static void cuda_release(CudaBackend *cuda)
{
    cuda_drop_made(cuda);
    cuda->backend.info.made = MADE_NONE;
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
        cudaFree(device->meter.of.cell);
        cudaFree(device->law.of.cell);
        cudaFree(cuda->slots[i].team);
        cudaFree(cuda->slots[i].device_order);
        cudaFreeHost(cuda->slots[i].order);
        cuda->slots[i].team = NULL;
        cuda->slots[i].order = cuda->slots[i].device_order = NULL;
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
    cudaFree(cuda->meter_assets);
    cudaFree(cuda->law_assets);
    cuda->assets = cuda->meter_assets = cuda->law_assets = NULL;
}

// Cells on the device, for a code whose assets are there.
static Error cuda_give_cells(LaneCode *code, const double *assets, int64_t lanes)
{
    code->assets = assets;
    code->lane_apart = 1;
    code->cell_apart = lanes + LANES_MOST; // where a host plays the GPU: lanes_position
    CUDA_TRY(cudaMalloc((void **)&code->cell, sizeof(double) * (size_t)(code->cell_apart * code->cells)));
    return error_none();
}

// Memory of lanes for their law and their metrics.
static Error cuda_take_codes(const CudaBackend *cuda, Batch *device, int64_t lanes)
{
    const Configured *configured = cuda->configured;
    if (configured->law != NULL) {
        device->law = *configured->law;
        TRY(cuda_give_cells(&device->law.of, cuda->law_assets, lanes));
    }
    if (configured->meter != NULL) {
        device->meter = *configured->meter;
        TRY(cuda_give_cells(&device->meter.of, cuda->meter_assets, lanes));
    }
    return error_none();
}

static Error cuda_take(CudaBackend *cuda, int slot, int64_t lanes, int64_t traced, int64_t capacity)
{
    const Configured *configured = cuda->configured;
    const size_t row = sizeof(double) * (size_t)lanes;
    // whole chunks (lanes_work_chunk); where a host plays the GPU, they begin again behind the observed lanes
    const int64_t thread_blocks = (lanes + LANES_MOST + LANES_TOGETHER - 1) / LANES_TOGETHER;
    const size_t worked = sizeof(double) * (size_t)(thread_blocks * LANES_TOGETHER);
    const size_t samples = sizeof(double) * (size_t)(traced * capacity * configured->n_columns);
    Batch *device = &cuda->slots[slot].device, *host = &cuda->backend.batches[slot];
    device->stride = host->stride = lanes;
    device->trace.capacity = host->trace.capacity = capacity;
    device->trace.every = host->trace.every = 1;
    CUDA_TRY(cudaMalloc((void **)&device->parameter, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMalloc((void **)&device->work, worked * (size_t)configured->n_work));
    CUDA_TRY(cudaMalloc((void **)&device->metric, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMalloc((void **)&device->status, sizeof(int32_t) * (size_t)lanes));
    CUDA_TRY(cudaMalloc((void **)&cuda->slots[slot].device_order, sizeof(int32_t) * (size_t)lanes));
    CUDA_TRY(cudaMallocHost((void **)&cuda->slots[slot].order, sizeof(int32_t) * (size_t)lanes));
    CUDA_TRY(cudaMallocHost((void **)&host->parameter, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMallocHost((void **)&host->metric, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMallocHost((void **)&host->status, sizeof(int32_t) * (size_t)lanes));
    TRY(cuda_take_codes(cuda, device, lanes));
    host->meter.of.cell = device->meter.of.cell; // only to say that there is one (batch_observed)
    if (traced == 0) return error_none();
    CUDA_TRY(cudaMalloc((void **)&device->trace.sample, samples));
    CUDA_TRY(cudaMalloc((void **)&device->trace.count, sizeof(int64_t) * (size_t)traced));
    CUDA_TRY(cudaMallocHost((void **)&host->trace.sample, samples));
    CUDA_TRY(cudaMallocHost((void **)&host->trace.count, sizeof(int64_t) * (size_t)traced));
    return error_none();
}

// Threads per thread block of the configured model's kernel.
static int cuda_team_threads(const Configured *configured)
{
    return configured->team_threads > 0 ? configured->team_threads : cuda_threads[configured->kernel];
}

// True if threads share a lane in batches of this many lanes.
static bool cuda_has_teams(const Configured *configured, int64_t lanes)
{
    return cuda_threads[configured->kernel] > 1 && (configured->team_lanes == 0 || lanes < configured->team_lanes);
}

// Finds how many thread blocks can run at once, and takes the memory that those of one lane share.
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

// *device <- a copy of numbers[count].
static Error cuda_upload(double **device, const double *numbers, int64_t count)
{
    const size_t size = sizeof(double) * (size_t)count;
    CUDA_TRY(cudaMalloc((void **)device, size));
    CUDA_TRY(cudaMemcpy(*device, numbers, size, cudaMemcpyHostToDevice));
    return error_none();
}

static Error cuda_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced,
                          int64_t capacity)
{
    CudaBackend *cuda = (CudaBackend *)backend;
    cuda_release(cuda);
    cuda->configured = configured;
    cuda->ahead = ahead_cuda_kernel != NULL ? ahead_cuda_kernel(configured) : NULL;
    Error error = cuda_take_teams(cuda);
    if (error.kind == OK && configured->meter != NULL)
        error = cuda_upload(&cuda->meter_assets, configured->meter->of.assets, configured->meter->of.n_assets);
    if (error.kind == OK && configured->law != NULL)
        error = cuda_upload(&cuda->law_assets, configured->law->of.assets, configured->law->of.n_assets);
    for (int i = 0; i < cuda->backend.info.slots && error.kind == OK; i++)
        error = cuda_take(cuda, i, lanes, traced, capacity);
    if (error.kind != OK) {
        cuda_release(cuda);
        return error;
    }
    return configured->n_assets > 0 ? cuda_upload(&cuda->assets, configured->assets, configured->n_assets)
                                    : error_none();
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

// ---- kernels made for the campaign ----------------------------------------------------------------------------------

// A made kernel that can't be used is not an error: the general one is there.
static void cuda_refuse_made(CudaBackend *cuda, const char *why)
{
    cuda_drop_made(cuda);
    cuda->backend.info.made = MADE_REFUSED;
    snprintf(cuda->backend.info.made_note, sizeof cuda->backend.info.made_note, "%.250s", why);
}

static const char *cuda_made_words(const Driver *driver, CUresult result)
{
    const char *words = NULL;
    return driver->words(result, &words) == CUDA_SUCCESS && words != NULL ? words : "unknown error";
}

static bool cuda_load_made(CudaMade *made, const MadeImage *image, char *why, size_t size)
{
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (!driver_find(&made->driver)) {
        snprintf(why, size, "the driver lacks a function that loads it");
        return false;
    }
    DRIVER_CALL(result, made->driver.load(&made->module, image->data));
    if (result == CUDA_SUCCESS) DRIVER_CALL(result, made->driver.function(&made->kernel, made->module, "made"));
    if (result != CUDA_SUCCESS)
        snprintf(why, size, "it could not be loaded: %s", cuda_made_words(&made->driver, result));
    return result == CUDA_SUCCESS;
}

static void cuda_note_made(CudaBackend *cuda)
{
    int registers = 0, local = 0;
    (void)cuda->made.driver.attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, cuda->made.kernel);
    (void)cuda->made.driver.attribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, cuda->made.kernel);
    snprintf(cuda->backend.info.made_note, sizeof cuda->backend.info.made_note,
             "%d registers, %d bytes of local memory", registers, local);
}

static Error cuda_take_trial(CudaBackend *cuda)
{
    const Configured *configured = cuda->configured;
    const size_t row = sizeof(double) * CUDA_TRIAL_LANES;
    Batch *trial = &cuda->made.trial;
    trial->stride = CUDA_TRIAL_LANES;
    CUDA_TRY(cudaMalloc((void **)&trial->parameter, row * (size_t)configured->n_parameters));
    CUDA_TRY(cudaMalloc((void **)&trial->work, row * (size_t)configured->n_work));
    CUDA_TRY(cudaMalloc((void **)&trial->metric, row * (size_t)configured->n_metrics));
    CUDA_TRY(cudaMalloc((void **)&trial->status, sizeof(int32_t) * CUDA_TRIAL_LANES));
    TRY(cuda_take_codes(cuda, trial, CUDA_TRIAL_LANES));
    CUDA_TRY(cudaStreamCreateWithFlags(&cuda->made.stream, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreateWithFlags(&cuda->made.ready, cudaEventDisableTiming));
    return error_none();
}

static Error cuda_use_made(Backend *backend, const MadeImage *image, const double *fixed)
{
    CudaBackend *cuda = (CudaBackend *)backend;
    const size_t size = sizeof *fixed * (size_t)cuda->configured->n_parameters;
    char why[sizeof backend->info.made_note];
    cuda_drop_made(cuda);
    cuda->made.fixed = (double *)malloc(size);
    if (cuda->made.fixed == NULL) {
        cuda_refuse_made(cuda, "there is no memory for its inputs");
        return error_none();
    }
    memcpy(cuda->made.fixed, fixed, size);
    const Error trial = cuda_take_trial(cuda);
    if (trial.kind != OK || !cuda_load_made(&cuda->made, image, why, sizeof why)) {
        cuda_refuse_made(cuda, trial.kind != OK ? trial.text : why);
        return error_none();
    }
    cuda_note_made(cuda);
    backend->info.made = MADE_ON_TRIAL;
    return error_none();
}

// Have all lanes the inputs that it was made for?
static bool cuda_made_serves(const CudaMade *made, const Configured *configured, const Batch *host)
{
    for (int p = 0; p < configured->n_parameters; p++) {
        const double *row = host->parameter + p * host->stride;
        if (made->fixed[p] != made->fixed[p]) continue;
        for (int64_t i = 0; i < host->lanes; i++)
            if (memcmp(&row[i], &made->fixed[p], sizeof row[i]) != 0) return false;
    }
    return true;
}

// The lanes that the general observed kernel advances; a made kernel has the samples of metrics too.
static int64_t cuda_observed_lanes(const CudaSlot *s, const Batch *batch)
{
    return s->made ? batch_recorded(batch) : batch_observed(batch);
}

// The lanes that both kernels compute: the first of those that are not recorded.
static int64_t cuda_trial_lanes(const Batch *batch)
{
    const int64_t plain = batch->lanes - batch_recorded(batch);
    return plain < CUDA_TRIAL_LANES ? plain : CUDA_TRIAL_LANES;
}

static void cuda_leave_made(CudaBackend *cuda, CudaSlot *s)
{
    if (s->tried) cuda->made.busy = false;
    s->made = s->tried = s->ahead = false;
}

// By which kernel this batch goes; where it is a trial, with the lanes that are computed twice. Their inputs are on
// the device.
static Error cuda_choose_kernel(CudaBackend *cuda, CudaSlot *s, const Batch *host)
{
    CudaMade *made = &cuda->made;
    const bool proven = cuda->backend.info.made == MADE_USED;
    cuda_leave_made(cuda, s);
    if (made->module == NULL || cuda_has_teams(cuda->configured, host->lanes) || cuda_trial_lanes(host) == 0 ||
        !cuda_made_serves(made, cuda->configured, host))
        return error_none();
    s->made = true;
    s->ahead = made->busy;
    if (proven || made->busy) return error_none();
    s->tried = made->busy = true;
    made->trial.lanes = cuda_trial_lanes(host);
    CUDA_TRY(cudaMemcpy2DAsync(made->trial.parameter, sizeof(double) * (size_t)made->trial.stride,
                               s->device.parameter + batch_recorded(host), sizeof(double) * (size_t)s->device.stride,
                               sizeof(double) * (size_t)made->trial.lanes, (size_t)cuda->configured->n_parameters,
                               cudaMemcpyDeviceToDevice, s->stream));
    CUDA_TRY(cudaMemsetAsync(made->trial.status, 0, sizeof(int32_t) * CUDA_TRIAL_LANES, s->stream));
    if (made->trial.meter.of.cell != NULL)
        CUDA_TRY(cudaMemsetAsync(made->trial.meter.of.cell, 0, sizeof(double) * CUDA_TRIAL_LANES, s->stream));
    CUDA_TRY(cudaEventRecord(made->ready, s->stream));
    CUDA_TRY(cudaStreamWaitEvent(made->stream, made->ready, 0));
    return error_none();
}

// lanes [first, end) by the made kernel
static Error cuda_launch_made(const CudaBackend *cuda, const CudaSlot *s, LaneGroup group, int64_t first, int64_t end)
{
    Constants constants = s->life.constants;
    const double *assets = cuda->assets;
    void *arguments[] = {&constants, &assets, &group, &end};
    if (first >= end) return error_none();
    group.lane = first;
    const unsigned thread_blocks = (unsigned)((end - first + MADE_THREADS - 1) / MADE_THREADS);
    CUresult result;
    DRIVER_CALL(result, cuda->made.driver.launch(cuda->made.kernel, thread_blocks, 1, 1, MADE_THREADS, 1, 1, 0,
                                                 (CUstream)s->stream, arguments, NULL));
    if (result == CUDA_SUCCESS) return error_none();
    return error_make(ERROR_DEVICE, "cuLaunchKernel: %s (CUDA error %d)", cuda_made_words(&cuda->made.driver, result),
                      (int)result);
}

// Do both kernels give the same bits? What the made one gave is in the host's batch.
static Error cuda_compare_trial(CudaBackend *cuda, const Batch *host, bool *equal)
{
    const Batch *trial = &cuda->made.trial;
    const int64_t observed = batch_recorded(host);
    double metric[CUDA_TRIAL_LANES];
    int32_t status[CUDA_TRIAL_LANES];
    CUDA_TRY(cudaStreamSynchronize(cuda->made.stream));
    CUDA_TRY(cudaMemcpy(status, trial->status, sizeof status, cudaMemcpyDeviceToHost));
    *equal = memcmp(status, host->status + observed, sizeof *status * (size_t)trial->lanes) == 0;
    for (int m = 0; m < cuda->configured->n_metrics && *equal; m++) {
        CUDA_TRY(cudaMemcpy(metric, trial->metric + m * trial->stride, sizeof *metric * (size_t)trial->lanes,
                            cudaMemcpyDeviceToHost));
        *equal = memcmp(metric, host->metric + m * host->stride + observed, sizeof *metric * (size_t)trial->lanes) == 0;
    }
    return error_none();
}

// ---- gradients (adjoint_cuda.cu), which `make demo` leaves out ------------------------------------------------------

static Error cuda_adjoint(Backend *backend, const Configured *configured, int64_t lanes, size_t most,
                          AdjointDevice **out)
{
    if (adjoint_cuda_open == NULL) return error_none();
    return adjoint_cuda_open(((const CudaBackend *)backend)->device, backend->patience, configured, lanes, most, out);
}

// ---- batches --------------------------------------------------------------------------------------------------------

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
    s->listed = -1;
    s->kernel_seconds = 0.0;
    s->life = backend->life[slot];
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
    if (s->device.meter.of.cell != NULL) // no samples yet
        CUDA_TRY(cudaMemsetAsync(s->device.meter.of.cell, 0, sizeof(double) * (size_t)host->lanes, s->stream));
    if (host->trace.lanes > 0)
        CUDA_TRY(cudaMemsetAsync(s->device.trace.count, 0, sizeof(int64_t) * (size_t)host->trace.lanes, s->stream));
    if (host->debug.lanes > 0)
        CUDA_TRY(cudaMemsetAsync(s->device.debug.count, 0, sizeof(int64_t) * (size_t)host->debug.lanes, s->stream));
    TRY(cuda_choose_kernel(cuda, s, host));
    backend->used_made[slot] = s->made;
    return error_none();
}

static Error cuda_launch_grid(const CudaBackend *cuda, CudaKernel kernel, unsigned thread_blocks, unsigned threads,
                              const BackendLife *life, LaneGroup group, int64_t end, cudaStream_t stream)
{
    Constants constants = life->constants;
    const double *assets = cuda->assets;
    void *arguments[] = {&constants, &assets, &group, &end};
    const size_t shared = cuda_threads[cuda->configured->kernel] > 1
                              ? 0
                              : sizeof(double) * (size_t)(cuda->configured->shared * CUDA_THREAD_BLOCK);
    CUDA_TRY(cudaLaunchKernel(kernel, dim3(thread_blocks), dim3(threads), arguments, shared, stream));
    return error_none();
}

// One thread block per lane; or, if fewer lanes than can run at once, several per lane that wait for each other.
static Error cuda_launch_teams(const CudaBackend *cuda, CudaKernel kernel, const CudaSlot *s, LaneGroup group,
                               int64_t end)
{
    const Configured *configured = cuda->configured;
    const int64_t lanes = end - group.lane, each = cuda->resident / lanes;
    const unsigned threads = (unsigned)cuda_team_threads(configured);
    group.team.thread_blocks =
        each < 2 ? 1 : (int32_t)(each < configured->team_thread_blocks ? each : configured->team_thread_blocks);
    if (group.team.thread_blocks < 2)
        return cuda_launch_grid(cuda, kernel, (unsigned)lanes, threads, &s->life, group, end, s->stream);
    Constants constants = s->life.constants;
    const double *assets = cuda->assets;
    void *arguments[] = {&constants, &assets, &group, &end};
    group.team.doubles = configured->n_team;
    group.team.memory = s->team;
    CUDA_TRY(cudaMemsetAsync(s->team, 0, sizeof(double) * (size_t)(lanes * configured->n_team), s->stream));
    CUDA_TRY(cudaLaunchCooperativeKernel(kernel, dim3((unsigned)(lanes * group.team.thread_blocks)), dim3(threads),
                                         arguments, 0, s->stream));
    return error_none();
}

// The kernel that does the same with one thread for each lane.
static CudaKernel cuda_alone(const Configured *configured, CudaKernel kernel)
{
    const bool observed = kernel == cuda_observed[configured->kernel];
    const CudaKernel alone = alone_cuda_kernel != NULL ? alone_cuda_kernel(configured->kernel, observed) : NULL;
    return alone != NULL ? alone : kernel;
}

// lanes [first, end), or positions in group.order, on the slot's stream
static Error cuda_launch(const CudaBackend *cuda, CudaKernel kernel, const CudaSlot *s, LaneGroup group, int64_t first,
                         int64_t end)
{
    if (first >= end) return error_none();
    group.lane = first;
    if (cuda_has_teams(cuda->configured, s->device.lanes)) return cuda_launch_teams(cuda, kernel, s, group, end);
    kernel = cuda_alone(cuda->configured, kernel);
    const unsigned thread_blocks = (unsigned)((end - first + CUDA_THREAD_BLOCK - 1) / CUDA_THREAD_BLOCK);
    return cuda_launch_grid(cuda, kernel, thread_blocks, CUDA_THREAD_BLOCK, &s->life, group, end, s->stream);
}

// The general kernel's work for a trial.
static Error cuda_launch_trial(const CudaBackend *cuda, const CudaSlot *s, LaneGroup group)
{
    const unsigned thread_blocks = (CUDA_TRIAL_LANES + CUDA_THREAD_BLOCK - 1) / CUDA_THREAD_BLOCK;
    group.batch = cuda->made.trial;
    const CudaKernel kernel = group.batch.meter.of.cell != NULL ? cuda_observed[cuda->configured->kernel]
                                                                : cuda_plain[cuda->configured->kernel];
    return cuda_launch_grid(cuda, kernel, thread_blocks, CUDA_THREAD_BLOCK, &s->life, group, group.batch.lanes,
                            cuda->made.stream);
}

// The kernel that goes ahead of the general one, which starts lanes itself: the group is then a tick further.
static Error cuda_launch_ahead(const CudaBackend *cuda, const CudaSlot *s, LaneGroup *group, int64_t first, int64_t end)
{
    enum { LANES_OF_BLOCK = AHEAD_THREADS * AHEAD_LANES };
    Constants constants = s->life.constants;
    const double *assets = cuda->assets;
    if (first >= end) return error_none();
    if (group->tick == 0) {
        LaneGroup start = *group;
        start.ticks = 1;
        TRY(cuda_launch(cuda, cuda_plain[cuda->configured->kernel], s, start, first, end));
        group->tick = 1;
        group->ticks--;
    }
    group->lane = first;
    void *arguments[] = {&constants, &assets, group, &end};
    CUDA_TRY(cudaLaunchKernel(cuda->ahead, dim3((unsigned)((end - first + LANES_OF_BLOCK - 1) / LANES_OF_BLOCK)),
                              dim3(AHEAD_THREADS), arguments, (size_t)cuda->configured->ahead, s->stream));
    return error_none();
}

// The lanes that are not observed, or those of them that still run.
static Error cuda_launch_plain(const CudaBackend *cuda, const CudaSlot *s, LaneGroup group, int64_t observed)
{
    const bool listed = s->listed >= 0;
    const int64_t first = listed ? 0 : observed, end = listed ? s->listed : s->device.lanes;
    if (listed) group.order = s->device_order;
    if (s->made && cuda->made.module != NULL) // if it was dropped since, the batch is computed again
        return cuda_launch_made(cuda, s, group, first, end);
    if (cuda->ahead != NULL) TRY(cuda_launch_ahead(cuda, s, &group, first, end));
    return cuda_launch(cuda, cuda_plain[cuda->configured->kernel], s, group, first, end);
}

static Error cuda_advance(Backend *backend, int slot, int64_t ticks)
{
    CudaBackend *cuda = (CudaBackend *)backend;
    CudaSlot *s = &cuda->slots[slot];
    const int64_t left = s->life.steps - s->tick;
    LaneGroup group;
    memset(&group, 0, sizeof group);
    group.batch = s->device;
    group.n_columns = cuda->configured->n_columns;
    group.n_debug = cuda->configured->n_debug;
    group.valid = 1;
    group.tick = s->tick;
    group.ticks = ticks < left ? ticks : left;
    const int64_t observed = cuda_observed_lanes(s, &s->device);
    const CudaSpan *span = &s->spans[s->turn = 1 - s->turn];
    CUDA_TRY(cudaEventRecord(span->started, s->stream));
    TRY(cuda_launch(cuda, cuda_observed[cuda->configured->kernel], s, group, 0, observed));
    TRY(cuda_launch_plain(cuda, s, group, observed));
    if (s->tried) TRY(cuda_launch_trial(cuda, s, group));
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

static int64_t cuda_count_running(const int32_t *status, int64_t first, int64_t end)
{
    int64_t running = 0;
    for (int64_t i = first; i < end; i++) running += status[i] == LANE_RUNNING;
    return running;
}

// Of the lanes that are not observed, `running` still run. A warp takes as long as its longest lane: where many lanes
// have ended, those that run are listed, so that the next slice fills its warps with them.
static Error cuda_gather(const CudaBackend *cuda, CudaSlot *s, const Batch *host, int64_t running)
{
    enum { FRACTION = 8 }; // 1/FRACTION of the lanes of a launch must have ended
    const int64_t observed = cuda_observed_lanes(s, host);
    const int64_t before = s->listed >= 0 ? s->listed : host->lanes - observed;
    int64_t count = 0;
    if (before - running < before / FRACTION || before == running) return error_none();
    for (int64_t i = 0; i < before; i++) {
        const int32_t lane = s->listed >= 0 ? s->order[i] : (int32_t)(observed + i);
        s->order[count] = lane;
        count += host->status[lane] == LANE_RUNNING;
    }
    s->listed = count;
    CUDA_TRY(cudaMemcpyAsync(s->device_order, s->order, sizeof *s->order * (size_t)count, cudaMemcpyHostToDevice,
                             s->stream));
    return error_none();
}

// Copies the lanes' status, which is small: lanes may end long before the last step.
static Error cuda_look(CudaBackend *cuda, int slot, bool *ended)
{
    CudaSlot *s = &cuda->slots[slot];
    const Batch *host = &cuda->backend.batches[slot];
    const int64_t observed = cuda_observed_lanes(s, host);
    cuda->backend.running[slot] = 0;
    *ended = s->tick >= s->life.steps;
    if (*ended) return error_none();
    CUDA_TRY(cudaMemcpyAsync(host->status, s->device.status, sizeof(int32_t) * (size_t)host->lanes,
                             cudaMemcpyDeviceToHost, s->stream));
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    const int64_t plain = cuda_count_running(host->status, observed, host->lanes);
    cuda->backend.running[slot] = plain + cuda_count_running(host->status, 0, observed);
    *ended = cuda->backend.running[slot] == 0;
    return *ended ? error_none() : cuda_gather(cuda, s, host, plain);
}

static Error cuda_poll(Backend *backend, int slot, double seconds, bool *ended)
{
    const CudaSlot *s = &((CudaBackend *)backend)->slots[slot];
    cudaError_t code;
    CUDA_CALL(code, cuda_event_state(s->spans[s->turn].ended, seconds));
    *ended = code != cudaErrorNotReady;
    return *ended ? cuda_check(code, "cudaEventQuery(ended)") : error_none();
}

// The whole batch once more, by the general kernel.
static Error cuda_compute_anew(CudaBackend *cuda, int slot)
{
    enum { SLICES = 64 };
    CudaSlot *s = &cuda->slots[slot];
    const int64_t steps = s->life.steps;
    bool ended = false;
    TRY(cuda_begin(&cuda->backend, slot));
    cuda_leave_made(cuda, s);
    cuda->backend.used_made[slot] = false;
    while (!ended) {
        TRY(cuda_advance(&cuda->backend, slot, steps / SLICES + 1));
        CUDA_TRY(cudaEventSynchronize(s->spans[s->turn].ended));
        TRY(cuda_look(cuda, slot, &ended));
    }
    return cuda_collect(cuda, slot);
}

// A batch of a made kernel that is not proven has ended. A trial decides: the kernel is used from now on, or dropped,
// and nothing that it computed is kept. A batch that was begun beside the trial is kept if that went well.
static Error cuda_judge_made(CudaBackend *cuda, int slot)
{
    bool equal = false;
    if (!cuda->slots[slot].tried)
        return cuda->backend.info.made == MADE_USED ? error_none() : cuda_compute_anew(cuda, slot);
    TRY(cuda_compare_trial(cuda, &cuda->backend.batches[slot], &equal));
    cuda_leave_made(cuda, &cuda->slots[slot]);
    if (equal) {
        cuda->backend.info.made = MADE_USED;
        return error_none();
    }
    cuda_refuse_made(cuda, "its bits differ from those of the general kernel");
    return cuda_compute_anew(cuda, slot);
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
    TRY(cuda_look(cuda, slot, done));
    if (*done) TRY(cuda_collect(cuda, slot));
    return *done && (s->tried || s->ahead) ? cuda_judge_made(cuda, slot) : error_none();
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
    info->processors = processors;
    snprintf(info->architecture, sizeof info->architecture, "sm_%d%d", properties.major, properties.minor);
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
    cuda->backend.use_made = cuda_use_made;
    cuda->backend.adjoint = cuda_adjoint;
    cuda->backend.close = cuda_close;
    const Error error = cuda_start(cuda);
    if (error.kind != OK) {
        cuda_close(&cuda->backend);
        return error;
    }
    *out = &cuda->backend;
    return error_none();
}
