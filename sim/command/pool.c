// Workers and slots: which worker gets which lane, and what happens when a worker breaks.
//
// If a worker breaks (its process ends, it breaks the protocol, or it takes too long) after it has answered other
// requests, those may be the cause: the lane is given once more, to a new process. So a failure belongs to the lane's
// own request, whichever came before it.
#include "pool.h"

#include "../backend.h"
#include "../faults.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define POOL_HELLO 60.0   // s for a process to say hello, at least
#define POOL_PATIENCE 0.5 // s for all processes to end by themselves
#define POOL_HINT                                                                                                      \
    "; a Python function needs `program: [python3, -m, hopscotch.worker, simulate.py]`, another program the protocol " \
    "that `hopscotch models command` prints"
#define POOL_PAUSE 0.1    // s after a process that failed to start, twice as long after the next one,
#define POOL_PAUSES 5.0   // s at most
#define POOL_GIVE_UP 60.0 // s in which no process starts and none works

static const CommandModel *pool_model(const Pool *pool) { return pool->configured->host; }

// Does the program speak the protocol by the Python package's module?
static bool pool_has_worker_module(const Pool *pool)
{
    const CommandModel *model = pool_model(pool);
    for (int i = 0; i < model->n_program; i++) {
        if (strcmp(model->program[i], "hopscotch.worker") == 0) return true;
    }
    return false;
}

// ---- results --------------------------------------------------------------------------------------------------------

static bool pool_is_wanted(const Pool *pool, const Worker *worker)
{
    const PoolSlot *slot = &pool->slots[worker->slot];
    return slot->active && slot->turn == worker->turn;
}

static void pool_end_lane(Pool *pool, const Worker *worker, int failure)
{
    PoolSlot *slot = &pool->slots[worker->slot];
    pool->batches[worker->slot].status[worker->lane] = LANE_DONE + failure;
    if (--pool->running[worker->slot] > 0) return;
    slot->active = false;
    slot->seconds = backend_clock() - slot->since;
    pthread_cond_broadcast(&pool->idle);
}

static void pool_fail_lane(Pool *pool, const Worker *worker, int failure)
{
    Batch *batch = &pool->batches[worker->slot];
    for (int m = 0; m < pool->configured->n_metrics; m++) batch->metric[m * batch->stride + worker->lane] = (double)NAN;
    if (worker->lane < batch->trace.lanes) batch->trace.count[worker->lane] = 0;
    pool_end_lane(pool, worker, failure);
}

// Ends the run: everything committed stays.
static void pool_fail(Pool *pool, Error failure)
{
    if (pool->failure.kind == OK) pool->failure = failure;
    pthread_cond_broadcast(&pool->idle);
}

// ---- starts and ends of a worker ------------------------------------------------------------------------------------

// s in which no process starts, after which the run ends
static double pool_give_up(void)
{
#ifdef HOPSCOTCH_FAULTS
    if (device_fault("start") == FAULT_TIME) return 1.0;
#endif
    return POOL_GIVE_UP;
}

static bool pool_has_workers(const Pool *pool)
{
    for (int i = 0; i < pool->n_workers; i++) {
        if (pool->workers[i].state == WORKER_WORKS) return true;
    }
    return false;
}

// A program that can't be started is wrong. One that could may lack a licence server or a file for a while, so it is
// started again, after longer and longer pauses. The run goes on as long as another worker works.
static void pool_failed_start(Pool *pool, const Worker *worker, const char *why)
{
    char words[160];
    const double now = backend_clock();
    const int doublings = pool->failed_starts < 10 ? pool->failed_starts : 10;
    const double pause = POOL_PAUSE * (double)(1 << doublings);
    worker_log(worker, "hopscotch: %s", why);
    if (pool->failed_starts++ == 0) pool->failing_since = now;
    pool->next_start = now + (pause < POOL_PAUSES ? pause : POOL_PAUSES);
    if (pool->known && (pool_has_workers(pool) || now - pool->failing_since < pool_give_up())) return;
    pool_fail(pool, error_make(pool->known ? ERROR_MACHINE : ERROR_USER, "`%s` %.160s%s%.200s%s",
                               command_line_words(pool_model(pool), words, sizeof words), why,
                               worker->line[0] != '\0' ? "; its last words: " : "", worker->line,
                               pool->known || pool_has_worker_module(pool) ? "" : POOL_HINT));
}

static void pool_start_worker(Pool *pool, Worker *worker)
{
    const double timeout = pool_model(pool)->timeout, patience = timeout > POOL_HELLO ? timeout : POOL_HELLO;
    const Error error = worker_start(worker, &pool->plan, pool->hello, pool->hello_size, backend_clock() + patience);
    if (error.kind == OK) return;
    char why[200];
    snprintf(why, sizeof why, "could not be started: %.160s", error.text);
    if (pool->known)
        pool_failed_start(pool, worker, why);
    else
        pool_fail(pool, error);
}

// The worker broke: its lane fails, or is given once more.
static void pool_break(Pool *pool, Worker *worker, int failure, const char *problem)
{
    char how[96];
    const WorkerState state = worker->state;
    const uint64_t answers = worker->answers;
    const double patience = failure == COMMAND_CRASHED ? 0.05 : 0.0; // s: it may be about to end
    worker_stop(worker, patience, how, sizeof how);
    if (failure == COMMAND_CRASHED) problem = how;
    if (state == WORKER_GREETS || (state == WORKER_IDLE && answers == 0)) {
        char why[200];
        snprintf(why, sizeof why, "%s before its %s: %.120s", failure == COMMAND_TIMEOUT ? "was too slow" : "failed",
                 state == WORKER_GREETS ? "hello" : "first answer", problem);
        pool_failed_start(pool, worker, why);
        return;
    }
    if (state == WORKER_IDLE || !pool_is_wanted(pool, worker)) return;
    const Batch *batch = &pool->batches[worker->slot];
    worker->again = answers > 0;
    worker_log(worker, "hopscotch: trial %lld, replicate %d: %s: %s%s", (long long)batch->trial[worker->lane],
               batch->replicate[worker->lane], pool->configured->failures[failure], problem,
               worker->again ? "; it is run again by a new process" : "");
    if (!worker->again) pool_fail_lane(pool, worker, failure);
}

// ---- requests -------------------------------------------------------------------------------------------------------

static void pool_send(Pool *pool, Worker *worker)
{
    if (!worker_send(worker)) pool_break(pool, worker, COMMAND_CRASHED, "");
}

static void pool_give(Pool *pool, Worker *worker)
{
    const Batch *batch = &pool->batches[worker->slot];
    Request request = {.trial = batch->trial[worker->lane],
                       .replicate = batch->replicate[worker->lane],
                       .traced = worker->lane < batch->trace.lanes,
                       .value = batch->parameter + worker->lane,
                       .stride = batch->stride};
    const double deadline = backend_clock() + pool_model(pool)->timeout;
    if (!protocol_ask(worker, pool->configured, pool->key, &request, deadline))
        pool_break(pool, worker, COMMAND_CRASHED, "");
}

// The slot whose batch began first and has lanes left; -1: none.
static int pool_next_slot(const Pool *pool)
{
    int found = -1;
    for (int s = 0; s < POOL_SLOTS; s++) {
        const PoolSlot *slot = &pool->slots[s];
        if (!slot->active || slot->next >= pool->batches[s].lanes) continue;
        if (found < 0 || slot->order < pool->slots[found].order) found = s;
    }
    return found;
}

// Anything that an idle worker says is against the protocol.
static void pool_employ(Pool *pool, Worker *worker)
{
    if (worker->again && !pool_is_wanted(pool, worker)) worker->again = false;
    const int s = worker->again ? worker->slot : pool_next_slot(pool);
    if (s < 0) return;
    if (!worker_is_quiet(worker)) {
        const uint64_t answers = worker->answers;
        worker_log(worker, "hopscotch: it exited or sent a line without a request");
        pool_break(pool, worker, COMMAND_BROKE_PROTOCOL, "it sent a line without a request");
        if (answers == 0) return;
        pool_start_worker(pool, worker);
        return;
    }
    if (!worker->again) {
        PoolSlot *slot = &pool->slots[s];
        worker->slot = s;
        worker->turn = slot->turn;
        worker->lane = slot->next++;
        if (worker->lane == 0) slot->since = backend_clock();
    }
    worker->again = false;
    pool_give(pool, worker);
}

static int64_t pool_waiting(const Pool *pool)
{
    int64_t lanes = 0;
    for (int s = 0; s < POOL_SLOTS; s++) {
        if (pool->slots[s].active) lanes += pool->batches[s].lanes - pool->slots[s].next;
    }
    return lanes;
}

// Gives lanes to idle workers, and starts processes if there are more lanes than workers that could take them.
static void pool_employ_all(Pool *pool)
{
    for (int i = 0; i < pool->n_workers; i++) {
        Worker *worker = &pool->workers[i];
        if (worker->state == WORKER_WORKS && !pool_is_wanted(pool, worker)) { // its batch was left
            char how[96];
            worker_stop(worker, 0.0, how, sizeof how);
        }
        if (worker->state == WORKER_IDLE) pool_employ(pool, worker);
    }
    int64_t lanes = pool_waiting(pool);
    for (int i = 0; i < pool->n_workers; i++) lanes -= pool->workers[i].state == WORKER_GREETS;
    for (int i = 0; i < pool->n_workers && pool->failure.kind == OK; i++) {
        Worker *worker = &pool->workers[i];
        if (worker->state != WORKER_GONE || backend_clock() < pool->next_start) continue;
        worker->again = worker->again && pool_is_wanted(pool, worker);
        if (!worker->again && lanes <= 0 && !pool->wants_one) continue;
        if (!worker->again) lanes--;
        pool->wants_one = false;
        pool_start_worker(pool, worker);
    }
}

// ---- hellos and answers ---------------------------------------------------------------------------------------------

static void pool_take_hello(Pool *pool, Worker *worker, int64_t length)
{
    char version[COMMAND_VERSION_LENGTH + 1], problem[WORKER_PROBLEM];
    if (!protocol_take_hello(worker, length, version, problem)) {
        pool_break(pool, worker, COMMAND_BROKE_PROTOCOL, problem);
        return;
    }
    if (!pool->known) snprintf(pool->version, pool->version_size, "%s", version);
    if (strcmp(pool->version, version) != 0)
        pool_fail(pool, error_make(ERROR_USER, "the program's version changed from '%.120s' to '%.120s' during the run",
                                   pool->version, version));
    pool->greeted = pool->known = true;
    pthread_cond_broadcast(&pool->idle);
}

static void pool_take_answer(Pool *pool, Worker *worker, int64_t length)
{
    const Configured *configured = pool->configured;
    Batch *batch = &pool->batches[worker->slot];
    const Trace *trace = &batch->trace;
    double metric[DECLARED_MOST];
    char problem[WORKER_PROBLEM];
    if (!pool_is_wanted(pool, worker)) return; // pool_employ_all ends its process
    const bool traced = worker->lane < trace->lanes;
    Answer answer = {.metric = metric,
                     .sample = traced ? trace->sample + worker->lane * trace->capacity * configured->n_columns : NULL,
                     .capacity = trace->capacity < configured->ticks ? trace->capacity : configured->ticks};
    if (!protocol_take_answer(worker, configured, length, &answer, problem)) {
        pool_break(pool, worker, COMMAND_BROKE_PROTOCOL, problem);
        return;
    }
    for (int m = 0; m < configured->n_metrics; m++) batch->metric[m * batch->stride + worker->lane] = metric[m];
    if (traced) trace->count[worker->lane] = answer.samples;
    pool->failed_starts = 0;
    pool_end_lane(pool, worker, answer.failure);
}

static size_t pool_line_most(const Pool *pool, const Worker *worker)
{
    const bool works = worker->state == WORKER_WORKS && pool_is_wanted(pool, worker);
    const bool traced = works && worker->lane < pool->batches[worker->slot].trace.lanes;
    return message_answer_most(pool->configured, traced);
}

static void pool_take_line(Pool *pool, Worker *worker, size_t before)
{
    char problem[WORKER_PROBLEM];
    int64_t length;
    if (!protocol_find_line(worker, before, pool_line_most(pool, worker), &length, problem))
        pool_break(pool, worker, COMMAND_BROKE_PROTOCOL, problem);
    else if (length >= 0 && worker->state == WORKER_GREETS)
        pool_take_hello(pool, worker, length);
    else if (length >= 0)
        pool_take_answer(pool, worker, length);
}

static void pool_read(Pool *pool, Worker *worker)
{
    const size_t before = worker->in_size;
    switch (worker_receive(worker, pool_line_most(pool, worker))) {
    case WORKER_SAYS_NOTHING: return;
    case WORKER_SAYS_MORE: pool_take_line(pool, worker, before); return;
    case WORKER_ENDS: pool_break(pool, worker, COMMAND_CRASHED, ""); return;
    case WORKER_LACKS_MEMORY:
        pool_fail(pool, error_make(ERROR_MACHINE, "not enough memory for the answer of a program"));
        return;
    }
}

// ---- the thread -----------------------------------------------------------------------------------------------------

static void pool_look_at_clock(Pool *pool)
{
    const double now = backend_clock();
    for (int i = 0; i < pool->n_workers; i++) {
        Worker *worker = &pool->workers[i];
        if ((worker->state == WORKER_GREETS || worker->state == WORKER_WORKS) && now >= worker->deadline)
            pool_break(pool, worker, COMMAND_TIMEOUT, "it did not answer in time");
    }
}

// ms until something has to be done without a message
static int pool_patience(const Pool *pool)
{
    double until = INFINITY;
    const double now = backend_clock();
    for (int i = 0; i < pool->n_workers; i++) {
        const Worker *worker = &pool->workers[i];
        if ((worker->state == WORKER_GREETS || worker->state == WORKER_WORKS) && worker->deadline < until)
            until = worker->deadline;
        if (worker->state == WORKER_GONE && pool->next_start > now && pool->next_start < until)
            until = pool->next_start;
    }
    const double left = 1e3 * (until - now) + 1.0;
    return left > 1e6 ? 1000000 : left < 0.0 ? 0 : (int)left;
}

enum { POOL_FROM, POOL_ERRORS, POOL_TO, POOL_ENDED, POOL_ENDS };

static void pool_look_at(const Worker *worker, struct pollfd *ends)
{
    const bool there = worker->state != WORKER_GONE, sends = there && worker->out_sent < worker->out_size;
    ends[POOL_FROM] = (struct pollfd){.fd = there ? worker->process.from : -1, .events = POLLIN};
    ends[POOL_ERRORS] = (struct pollfd){.fd = there ? worker->process.errors : -1, .events = POLLIN};
    ends[POOL_TO] = (struct pollfd){.fd = sends ? worker->process.to : -1, .events = POLLOUT};
    ends[POOL_ENDED] = (struct pollfd){.fd = there ? worker->process.ended : -1, .events = POLLIN};
}

static void pool_handle(Pool *pool, Worker *worker, const struct pollfd *ends)
{
    if (ends[POOL_ERRORS].revents != 0) worker_read_errors(worker);
    if (ends[POOL_FROM].revents != 0)
        pool_read(pool, worker);
    else if (ends[POOL_ENDED].revents != 0 && worker_is_quiet(worker))
        pool_break(pool, worker, COMMAND_CRASHED, "");
    else if (ends[POOL_TO].revents != 0)
        pool_send(pool, worker);
}

static void pool_wait_for_news(Pool *pool)
{
    struct pollfd ends[1 + POOL_WORKERS_MAX * POOL_ENDS];
    const int n = pool->n_workers, patience = pool_patience(pool);
    uint64_t calls;
    for (int i = 0; i < n; i++) pool_look_at(&pool->workers[i], &ends[1 + i * POOL_ENDS]);
    ends[0] = (struct pollfd){.fd = pool->wake, .events = POLLIN};
    pthread_mutex_unlock(&pool->mutex);
    (void)poll(ends, (nfds_t)(1 + n * POOL_ENDS), patience);
    if (ends[0].revents != 0 && read(pool->wake, &calls, sizeof calls) < 0) calls = 0;
    pthread_mutex_lock(&pool->mutex);
    for (int i = 0; i < n; i++) {
        if (pool->workers[i].state != WORKER_GONE) pool_handle(pool, &pool->workers[i], &ends[1 + i * POOL_ENDS]);
    }
}

// All at once get the end of their input, and the same time to end by themselves.
static void pool_end_all(Pool *pool)
{
    const double until = backend_clock() + POOL_PATIENCE;
    char how[96];
    for (int i = 0; i < pool->n_workers; i++) {
        Worker *worker = &pool->workers[i];
        if (worker->state != WORKER_GONE && worker->process.to >= 0) {
            (void)close(worker->process.to);
            worker->process.to = -1;
        }
    }
    for (int i = 0; i < pool->n_workers; i++) {
        Worker *worker = &pool->workers[i];
        const double left = worker->state == WORKER_IDLE ? until - backend_clock() : 0.0;
        if (worker->state != WORKER_GONE) worker_stop(worker, left > 0.0 ? left : 0.0, how, sizeof how);
    }
}

static void *pool_serve(void *argument)
{
    Pool *pool = argument;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    pthread_mutex_lock(&pool->mutex);
    while (!pool->stopping) {
        pool_look_at_clock(pool);
        if (pool->failure.kind == OK && pool->ready) pool_employ_all(pool);
        pool_wait_for_news(pool);
    }
    pool_end_all(pool);
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

void pool_wake(const Pool *pool)
{
    const uint64_t one = 1;
    const ssize_t written = write(pool->wake, &one, sizeof one);
    (void)written; // it is full only if the thread was called already
}

// ---- the calls ------------------------------------------------------------------------------------------------------

struct timespec pool_time(double at)
{
    struct timespec time = {.tv_sec = (time_t)at};
    time.tv_nsec = (long)(1e9 * (at - (double)time.tv_sec));
    return time;
}

// Timed waits use the monotonic clock.
static void pool_init_locks(Pool *pool)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->idle, &attributes);
    pthread_condattr_destroy(&attributes);
}

void pool_init(Pool *pool)
{
    pool->guard.to = pool->wake = -1;
    for (int i = 0; i < POOL_WORKERS_MAX; i++) {
        pool->workers[i].process = (Process){.to = -1, .from = -1, .errors = -1, .ended = -1};
        pool->workers[i].guard = &pool->guard;
        pool->workers[i].log = &pool->log;
        pool->workers[i].number = i + 1;
    }
    pool_init_locks(pool);
}

Error pool_start(Pool *pool)
{
    pool->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pool->wake < 0) return error_make(ERROR_MACHINE, "cannot make an event: %s", strerror(errno));
    TRY(process_random(pool->key, sizeof pool->key));
    TRY(guard_start(&pool->guard));
    pool->started = thread_start(&pool->thread, pool_serve, pool) == 0;
    return pool->started ? error_none() : error_make(ERROR_MACHINE, "cannot start a thread for the workers");
}

static void pool_stop_thread(Pool *pool)
{
    if (!pool->started) return;
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pool_wake(pool);
    pthread_mutex_unlock(&pool->mutex);
    pthread_join(pool->thread, NULL);
}

void pool_close(Pool *pool)
{
    pool_stop_thread(pool);
    guard_end(&pool->guard);
    for (int i = 0; i < POOL_WORKERS_MAX; i++) worker_free(&pool->workers[i]);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->idle);
    if (pool->wake >= 0) (void)close(pool->wake);
}

void pool_stop_workers(Pool *pool)
{
    char how[96];
    for (int s = 0; s < POOL_SLOTS; s++) {
        pool->slots[s].active = false;
        pool->slots[s].turn++;
    }
    for (int i = 0; i < pool->n_workers; i++) {
        if (pool->workers[i].state != WORKER_GONE) worker_stop(&pool->workers[i], 0.0, how, sizeof how);
        pool->workers[i].again = false;
    }
    pool->ready = pool->greeted = false;
}

// Lines to workers: a hello, or a request.
static Error pool_take_memory(Pool *pool)
{
    const size_t request = message_request_most(pool->configured);
    const size_t size = request > pool->hello_size ? request : pool->hello_size;
    for (int i = 0; i < pool->n_workers; i++) {
        Worker *worker = &pool->workers[i];
        free(worker->out);
        worker->out = malloc(size);
        if (worker->out == NULL) return error_make(ERROR_MACHINE, "not enough memory for the workers");
    }
    return error_none();
}

// Waits until a process has said hello.
static Error pool_greet(Pool *pool, int (*interrupted)(void))
{
    const double look = 0.1; // s
    pool->ready = pool->wants_one = true;
    pool_wake(pool);
    while (!pool->greeted && pool->failure.kind == OK) {
        const struct timespec limit = pool_time(backend_clock() + look);
        (void)pthread_cond_timedwait(&pool->idle, &pool->mutex, &limit);
        if (interrupted != NULL && interrupted() != 0)
            return error_make(ERROR_INTERRUPTED, "interrupted by the user before the program had started");
    }
    return pool->failure;
}

Error pool_use(Pool *pool, const Configured *configured, const ProcessPlan *plan, const char *hello, size_t hello_size,
               int n_workers, int (*interrupted)(void))
{
    pool->configured = configured;
    pool->plan = *plan;
    pool->hello = hello;
    pool->hello_size = hello_size;
    pool->n_workers = n_workers;
    TRY(pool_take_memory(pool));
    return pool_greet(pool, interrupted);
}

void pool_begin(Pool *pool, int slot)
{
    const Batch *batch = &pool->batches[slot];
    pool->slots[slot] = (PoolSlot){.active = batch->lanes > 0,
                                   .turn = pool->slots[slot].turn + 1,
                                   .order = pool->orders++,
                                   .since = backend_clock()};
    pool->running[slot] = batch->lanes;
    pool_wake(pool);
}
