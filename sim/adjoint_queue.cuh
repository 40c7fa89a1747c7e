// What adjoints on a GPU share (adjoint_cuda.cu, trail_cuda.cu): their launches, of which one runs and the next one
// waits for it, so that the host can look between two of them whether to leave; and how much memory they may take.
#ifndef HOPSCOTCH_ADJOINT_QUEUE_CUH
#define HOPSCOTCH_ADJOINT_QUEUE_CUH

#include "cuda_calls.cuh"

enum {
    ADJOINT_QUEUED = 2,  // launches at once
    ADJOINT_RESERVE = 10 // 1/ADJOINT_RESERVE of the free memory is left to others
};

typedef struct AdjointQueue {
    int number; // of the device
    cudaStream_t stream;
    cudaEvent_t started, ended[ADJOINT_QUEUED]; // of the way forth or back; of its latest launches
    int64_t launches;                           // of it, so far
    double patience;                            // s, of a launch
    bool stuck;                                 // a launch does not end: its memory stays
    bool (*leaves)(const void *of);             // of the lanes that were run last
    const void *of;
} AdjointQueue;

static Error queue_open(AdjointQueue *queue)
{
    CUDA_TRY(cudaSetDevice(queue->number));
    CUDA_TRY(cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreateWithFlags(&queue->started, cudaEventBlockingSync));
    for (int i = 0; i < ADJOINT_QUEUED; i++)
        CUDA_TRY(cudaEventCreateWithFlags(&queue->ended[i], cudaEventBlockingSync));
    return error_none();
}

static void queue_close(AdjointQueue *queue)
{
    if (queue->started != NULL) cudaEventDestroy(queue->started);
    for (int i = 0; i < ADJOINT_QUEUED; i++) {
        if (queue->ended[i] != NULL) cudaEventDestroy(queue->ended[i]);
    }
    if (queue->stream != NULL) cudaStreamDestroy(queue->stream);
    (void)cudaGetLastError();
}

// Bytes of the device that may be taken.
static Error queue_room(size_t *room)
{
    size_t free_bytes = 0, total_bytes = 0;
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    *room = free_bytes - free_bytes / ADJOINT_RESERVE;
    return error_none();
}

// Until a launch has ended. Patience is counted in polls, as by backend_wait.
static Error queue_wait(AdjointQueue *queue, int64_t launch)
{
    const double look = 0.1; // s
    cudaError_t code = cudaErrorNotReady;
    for (double waited = 0.0; code == cudaErrorNotReady && waited < queue->patience; waited += look)
        CUDA_CALL(code, cuda_event_state(queue->ended[launch % ADJOINT_QUEUED], look));
    queue->stuck = code == cudaErrorNotReady;
    if (queue->stuck) return error_make(ERROR_STUCK, "a launch of gradients did not end within %g s", queue->patience);
    return cuda_check(code, "cudaEventQuery(ended)");
}

static Error queue_begin(AdjointQueue *queue)
{
    queue->launches = 0;
    CUDA_TRY(cudaEventRecord(queue->started, queue->stream));
    return error_none();
}

// Waits for all launches but the last `queued` ones.
static Error queue_drain(AdjointQueue *queue, int64_t queued)
{
    return queue->launches > queued ? queue_wait(queue, queue->launches - queued - 1) : error_none();
}

// Waits until there is room for one more launch, unless the caller leaves: then for all of them.
static Error queue_go_on(AdjointQueue *queue)
{
    TRY(queue_drain(queue, ADJOINT_QUEUED - 1));
    if (queue->leaves == NULL || !queue->leaves(queue->of)) return error_none();
    TRY(queue_drain(queue, 0));
    return error_make(ERROR_INTERRUPTED, "interrupted");
}

// After what belongs to a launch.
static Error queue_add(AdjointQueue *queue)
{
    CUDA_TRY(cudaEventRecord(queue->ended[queue->launches++ % ADJOINT_QUEUED], queue->stream));
    return error_none();
}

static Error queue_seconds(const AdjointQueue *queue, double *seconds)
{
    float milliseconds = 0.0f;
    const cudaEvent_t last = queue->ended[(queue->launches - 1) % ADJOINT_QUEUED];
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, queue->started, last));
    *seconds = 1e-3 * (double)milliseconds;
    return error_none();
}

#endif
