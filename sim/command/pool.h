// The workers of a program and the batches whose lanes they take, one at a time each. A thread of the pool serves all
// workers. A lane depends on nothing but its own request, so neither the number of workers nor the order of answers
// changes a result.
#ifndef HOPSCOTCH_COMMAND_POOL_H
#define HOPSCOTCH_COMMAND_POOL_H

#include "../thread.h"
#include "worker.h"

enum { POOL_WORKERS_MAX = 256, POOL_SLOTS = 2 };

typedef struct PoolSlot {
    bool active;    // a batch is in the slot and has lanes that have not ended
    uint64_t turn;  // counts the batches of the slot
    uint64_t order; // counts those of both slots
    int64_t next;   // the first lane that no worker was given
    double since;   // backend_clock: when the batch began
    double seconds; // the time that it took
} PoolSlot;

// Members may be used while `mutex` is held. The thread holds it unless it waits.
typedef struct Pool {
    // set before pool_start
    Batch *batches;   // [POOL_SLOTS]
    int64_t *running; // [POOL_SLOTS] lanes that have not ended
    char *version;    // [version_size] what the program says of itself in its first hello
    size_t version_size;
    TextSink log;
    // set by pool_use
    const Configured *configured;
    ProcessPlan plan;
    const char *hello;
    size_t hello_size;
    int n_workers;

    Worker workers[POOL_WORKERS_MAX];
    Guard guard;
    PoolSlot slots[POOL_SLOTS];
    uint64_t orders;
    uint64_t key[2];      // random: of the ids of requests
    bool ready;           // lanes may be given to workers
    bool greeted;         // a process has said hello since pool_use
    bool wants_one;       // a process is to be started without a lane
    bool known;           // a process has said hello, and its version
    int failed_starts;    // since the last answer
    double failing_since; // backend_clock: the first of them
    double next_start;    // backend_clock: no process is started earlier
    Error failure;        // ends the run
    pthread_t thread;
    bool started, stopping;
    pthread_mutex_t mutex;
    pthread_cond_t idle; // signalled when a batch has ended, a process has said hello, or the run fails
    int wake;            // an event that wakes the thread
} Pool;

// Initialises all members but those set before. Call pool_close also if pool_start fails or was not called.
void pool_init(Pool *pool);
// Starts the thread and the guard. Error: machine.
Error pool_start(Pool *pool);
void pool_close(Pool *pool); // ends all processes

// The functions below are called with the mutex held.

void pool_stop_workers(Pool *pool); // ends all processes and leaves all batches
// Takes what workers run: all of it is the caller's, and outlives the use. Waits until a process has said hello.
// interrupted: as BackendOptions. Error: the program can't be started, memory, or interrupted.
Error pool_use(Pool *pool, const Configured *configured, const ProcessPlan *plan, const char *hello, size_t hello_size,
               int n_workers, int (*interrupted)(void));
void pool_begin(Pool *pool, int slot); // the lanes of batches[slot]; a batch before it is left
void pool_wake(const Pool *pool);
struct timespec pool_time(double at); // of backend_clock, for pthread_cond_timedwait

#endif
