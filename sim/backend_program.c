// The backend of models that run a program: hands lanes to worker processes, one at a time to each, and takes their
// answers. A lane depends on nothing but its own request, so neither the number of workers nor the order of answers
// changes a result.
//
// If a worker breaks (its process ends, it breaks the protocol, or it takes too long) after it has answered other
// requests, those may be the cause: the lane is given once more, to a new process. So a failure belongs to the lane's
// own request, whichever came before it.
#include "backend.h"

#include "command/command.h"
#include "faults.h"
#include "philox.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PROGRAM_WORKERS_MAX = 256,
    PROGRAM_SLOTS = 2,
    PROGRAM_PIECE = 1 << 16, // bytes that are read at once
    PROGRAM_LINE = 512,      // bytes of a line of standard error
    PROGRAM_KEPT = 1 << 20   // bytes of a buffer that an idle worker keeps
};
#define PROGRAM_SLICE 0.1    // s
#define PROGRAM_HELLO 60.0   // s for a process to say hello, at least
#define PROGRAM_PATIENCE 0.5 // s for all processes to end by themselves
#define PROGRAM_PAUSE 0.1    // s after a process that failed to start, twice as long after the next one,
#define PROGRAM_PAUSES 5.0   // s at most
#define PROGRAM_GIVE_UP 60.0 // s in which no process starts and none works

typedef enum WorkerState { WORKER_GONE, WORKER_GREETS, WORKER_IDLE, WORKER_WORKS } WorkerState;

typedef struct Worker {
    Process process;
    WorkerState state;
    int number;       // from 1
    bool again;       // the lane is to be given to its next process
    uint64_t answers; // of this process
    uint64_t asked;   // requests so far, of all of its processes
    uint64_t id;      // of its last request
    int slot;
    uint64_t turn; // of that slot
    int64_t lane;
    double deadline;             // backend_clock
    char *out;                   // what it is sent
    size_t out_size, out_sent;   //
    char *in;                    // what it has said of the line
    size_t in_size, in_capacity; //
    char line[PROGRAM_LINE];     // the last line of its standard error
    size_t line_size;            //
} Worker;

typedef struct ProgramSlot {
    bool active;
    uint64_t turn, order; // counts its batches; order: of both slots, the lesser one began first
    int64_t next;         // the first lane that no worker was given
    double since;         // backend_clock: when the batch began
    double slice_end;     //
    double seconds;       // that the batch took
} ProgramSlot;

typedef struct ProgramBackend {
    Backend backend;
    ProgramOptions options;
    Configured configured;
    bool prepared;
    Arena arena;
    char *folder, *file, *hello;
    char **arguments;
    size_t hello_size;
    int threads, n_workers;
    Worker workers[PROGRAM_WORKERS_MAX];
    Guard guard;
    ProgramSlot slots[PROGRAM_SLOTS];
    uint64_t orders;
    uint64_t key[2];         // random: of the ids of requests
    bool greeted, wants_one; // a process has said hello since `prepare`; one is to be started without a lane
    bool known;              // a process has said hello, and its version
    int failed_starts;       // since the last answer
    double failing_since;    // backend_clock: the first of them
    double next_start;       //
    Error failure;           // of the run
    pthread_t thread;
    bool started, stopping, cut;
    pthread_mutex_t mutex; // held by the thread unless it waits
    pthread_cond_t idle;
    int wake;
} ProgramBackend;

static const CommandModel *program_model(const ProgramBackend *program) { return program->configured.host; }

// ---- words ----------------------------------------------------------------------------------------------------------

// The words of the command line; "..." marks a word that is cut.
static const char *program_words(const ProgramBackend *program, char *out, size_t size)
{
    const CommandModel *model = program_model(program);
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < model->n_program && used + 1 < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%.60s%s", i > 0 ? " " : "", model->program[i],
                                 strlen(model->program[i]) > 60 ? "..." : "");
    return out;
}

static void program_log(const ProgramBackend *program, const Worker *worker, const char *format, ...) PRINTF_LIKE(3, 4);

// A line of the log: "[2] text".
static void program_log(const ProgramBackend *program, const Worker *worker, const char *format, ...)
{
    char text[PROGRAM_LINE + 64];
    va_list arguments;
    if (program->options.log.write == NULL) return;
    int size = snprintf(text, sizeof text, "[%d] ", worker->number);
    va_start(arguments, format);
    size += vsnprintf(text + size, sizeof text - (size_t)size, format, arguments);
    va_end(arguments);
    if (size > (int)sizeof text - 2) size = (int)sizeof text - 2;
    text[size++] = '\n';
    program->options.log.write(program->options.log.to, text, (size_t)size);
}

static const char *program_status(int status, char *out, size_t size)
{
    if (status == PROCESS_WAS_KILLED)
        snprintf(out, size, "it closed a pipe");
    else if (WIFEXITED(status))
        snprintf(out, size, "exit code %d", WEXITSTATUS(status));
    else
        snprintf(out, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return out;
}

// ---- standard error of a worker -------------------------------------------------------------------------------------

static void program_end_line(const ProgramBackend *program, Worker *worker, size_t size)
{
    worker->line[size] = '\0';
    if (size > 0) program_log(program, worker, "%s", worker->line);
    worker->line_size = 0;
}

// A long line is cut. What a terminal could obey is made visible where it is shown.
static void program_take_errors(const ProgramBackend *program, Worker *worker, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            program_end_line(program, worker, worker->line_size);
        else if (worker->line_size + 1 < PROGRAM_LINE)
            worker->line[worker->line_size++] = text[i] != '\0' ? text[i] : '?';
    }
}

static void program_read_errors(const ProgramBackend *program, Worker *worker)
{
    char piece[4096];
    const ssize_t size = read(worker->process.errors, piece, sizeof piece);
    if (size > 0) {
        program_take_errors(program, worker, piece, (size_t)size);
    } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
        (void)close(worker->process.errors);
        worker->process.errors = -1;
    }
}

// What a process has left there when it ended, at most a pipe full.
static void program_drain_errors(const ProgramBackend *program, Worker *worker)
{
    enum { PIECES = 32 };
    for (int i = 0; i < PIECES && worker->process.errors >= 0; i++) {
        struct pollfd there = {.fd = worker->process.errors, .events = POLLIN};
        if (poll(&there, 1, 0) <= 0) break;
        program_read_errors(program, worker);
    }
    if (worker->line_size > 0) program_end_line(program, worker, worker->line_size);
}

// ---- results --------------------------------------------------------------------------------------------------------

static bool program_is_wanted(const ProgramBackend *program, const Worker *worker)
{
    const ProgramSlot *slot = &program->slots[worker->slot];
    return slot->active && slot->turn == worker->turn;
}

static void program_end_lane(ProgramBackend *program, const Worker *worker, int failure)
{
    ProgramSlot *slot = &program->slots[worker->slot];
    program->backend.batches[worker->slot].status[worker->lane] = LANE_DONE + failure;
    if (--program->backend.running[worker->slot] > 0) return;
    slot->active = false;
    slot->seconds = backend_clock() - slot->since;
    pthread_cond_broadcast(&program->idle);
}

static void program_fail_lane(ProgramBackend *program, const Worker *worker, int failure)
{
    Batch *batch = &program->backend.batches[worker->slot];
    for (int m = 0; m < program->configured.n_metrics; m++)
        batch->metric[m * batch->stride + worker->lane] = (double)NAN;
    if (worker->lane < batch->trace.lanes) batch->trace.count[worker->lane] = 0;
    program_end_lane(program, worker, failure);
}

// Ends the run: everything committed stays.
static void program_fail(ProgramBackend *program, Error failure)
{
    if (program->failure.kind == OK) program->failure = failure;
    pthread_cond_broadcast(&program->idle);
}

// ---- a worker's process ---------------------------------------------------------------------------------------------

// Ends the process and tells how it ended.
static const char *program_stop_worker(ProgramBackend *program, Worker *worker, double patience, char *out, size_t size)
{
    if (worker->process.from >= 0) (void)close(worker->process.from);
    worker->process.from = -1;
    if (worker->process.errors >= 0) program_drain_errors(program, worker);
    const int errors = worker->process.errors; // read to its end after the process
    worker->process.errors = -1;
    Process process = worker->process;
    const int status = process_end(&process, &program->guard, patience);
    worker->process = (Process){.to = -1, .from = -1, .errors = errors, .ended = -1};
    if (errors >= 0) {
        program_drain_errors(program, worker);
        if (worker->process.errors >= 0) (void)close(worker->process.errors);
        worker->process.errors = -1;
    }
    worker->state = WORKER_GONE;
    worker->in_size = 0;
    return program_status(status, out, size);
}

// s in which no process starts, after which the run ends
static double program_give_up(void)
{
#ifdef HOPSCOTCH_FAULTS
    if (device_fault("start") == FAULT_TIME) return 1.0;
#endif
    return PROGRAM_GIVE_UP;
}

static bool program_has_workers(const ProgramBackend *program)
{
    for (int i = 0; i < program->n_workers; i++) {
        if (program->workers[i].state == WORKER_WORKS) return true;
    }
    return false;
}

// A program that can't be started is wrong. One that could may lack a licence server or a file for a while, so it is
// started again, after longer and longer pauses. The run goes on as long as another worker works.
static void program_failed_start(ProgramBackend *program, const Worker *worker, const char *why)
{
    char words[160];
    const double now = backend_clock();
    const int doublings = program->failed_starts < 10 ? program->failed_starts : 10;
    const double pause = PROGRAM_PAUSE * (double)(1 << doublings);
    program_log(program, worker, "hopscotch: %s", why);
    if (program->failed_starts++ == 0) program->failing_since = now;
    program->next_start = now + (pause < PROGRAM_PAUSES ? pause : PROGRAM_PAUSES);
    if (program->known && (program_has_workers(program) || now - program->failing_since < program_give_up())) return;
    program_fail(program, error_make(program->known ? ERROR_MACHINE : ERROR_USER, "`%s` %.160s%s%.200s",
                                     program_words(program, words, sizeof words), why,
                                     worker->line[0] != '\0' ? "; its last words: " : "", worker->line));
}

static void program_start_worker(ProgramBackend *program, Worker *worker)
{
    const double timeout = program_model(program)->timeout;
    const ProcessPlan plan = {.file = program->file, .folder = program->folder, .arguments = program->arguments};
    worker->line[0] = '\0';
    worker->line_size = 0;
    const Error error = process_start(&plan, &program->guard, &worker->process);
    if (error.kind != OK) {
        char why[200];
        snprintf(why, sizeof why, "could not be started: %.160s", error.text);
        if (program->known)
            program_failed_start(program, worker, why);
        else
            program_fail(program, error);
        return;
    }
    worker->state = WORKER_GREETS;
    worker->answers = worker->id = 0; // no answer is due
    worker->in_size = 0;
    worker->deadline = backend_clock() + (timeout > PROGRAM_HELLO ? timeout : PROGRAM_HELLO);
    memcpy(worker->out, program->hello, program->hello_size);
    worker->out_size = program->hello_size;
    worker->out_sent = 0;
}

// The worker broke: its lane fails, or is given once more.
static void program_break(ProgramBackend *program, Worker *worker, int failure, const char *problem)
{
    char how[96];
    const WorkerState state = worker->state;
    const uint64_t answers = worker->answers;
    const double patience = failure == COMMAND_CRASHED ? 0.05 : 0.0; // s: it may be about to end
    program_stop_worker(program, worker, patience, how, sizeof how);
    if (failure == COMMAND_CRASHED) problem = how;
    if (state == WORKER_GREETS || (state == WORKER_IDLE && answers == 0)) {
        char why[200];
        snprintf(why, sizeof why, "%s before its %s: %.120s", failure == COMMAND_TIMEOUT ? "was too slow" : "failed",
                 state == WORKER_GREETS ? "hello" : "first answer", problem);
        program_failed_start(program, worker, why);
        return;
    }
    if (state == WORKER_IDLE || !program_is_wanted(program, worker)) return;
    const Batch *batch = &program->backend.batches[worker->slot];
    worker->again = answers > 0;
    program_log(program, worker, "hopscotch: trial %lld, replicate %d: %s: %s%s", (long long)batch->trial[worker->lane],
                batch->replicate[worker->lane], program->configured.failures[failure], problem,
                worker->again ? "; it is run again by a new process" : "");
    if (!worker->again) program_fail_lane(program, worker, failure);
}

// ---- requests -------------------------------------------------------------------------------------------------------

static void program_send(ProgramBackend *program, Worker *worker)
{
    while (worker->out_sent < worker->out_size) {
        const ssize_t sent =
            write(worker->process.to, worker->out + worker->out_sent, worker->out_size - worker->out_sent);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) break; // full; or closed, then reading finds out
        worker->out_sent += (size_t)sent;
    }
    if (worker->out_sent < worker->out_size && errno == EPIPE)
        program_break(program, worker, COMMAND_CRASHED, "it closed its standard input");
}

// A worker can't answer a request before it gets it, as it can't guess the id: 31 bits, which every language prints as
// a number, of the count of requests under a key of the run. Ids are stored nowhere.
static uint64_t program_next_id(const ProgramBackend *program, Worker *worker)
{
    const uint64_t *key = program->key, count = ++worker->asked;
    const uint32_t at[2] = {(uint32_t)count, (uint32_t)worker->number ^ (uint32_t)(count >> 32)};
    const Philox counter = {{at[0], at[1], (uint32_t)key[1], (uint32_t)(key[1] >> 32)}};
    const uint64_t id = philox4x32_10(counter, key[0]).word[0] >> 1;
    return id > 0 ? id : 1;
}

static void program_give(ProgramBackend *program, Worker *worker)
{
    worker->id = program_next_id(program, worker);
    const Batch *batch = &program->backend.batches[worker->slot];
    const Request request = {.id = worker->id,
                             .trial = batch->trial[worker->lane],
                             .replicate = batch->replicate[worker->lane],
                             .traced = worker->lane < batch->trace.lanes,
                             .value = batch->parameter + worker->lane,
                             .stride = batch->stride};
    worker->out_size = message_write_request(&program->configured, &request, worker->out);
    worker->out_sent = 0;
    worker->state = WORKER_WORKS;
    worker->deadline = backend_clock() + program_model(program)->timeout;
    program_send(program, worker);
}

// The slot whose batch began first and has lanes left; -1: none.
static int program_next_slot(const ProgramBackend *program)
{
    int found = -1;
    for (int s = 0; s < PROGRAM_SLOTS; s++) {
        const ProgramSlot *slot = &program->slots[s];
        if (!slot->active || slot->next >= program->backend.batches[s].lanes) continue;
        if (found < 0 || slot->order < program->slots[found].order) found = s;
    }
    return found;
}

// Anything that an idle worker says is against the protocol.
static bool program_is_quiet(const Worker *worker)
{
    struct pollfd said = {.fd = worker->process.from, .events = POLLIN};
    return poll(&said, 1, 0) == 0;
}

static void program_employ(ProgramBackend *program, Worker *worker)
{
    if (worker->again && !program_is_wanted(program, worker)) worker->again = false;
    const int s = worker->again ? worker->slot : program_next_slot(program);
    if (s < 0) return;
    if (!program_is_quiet(worker)) {
        const uint64_t answers = worker->answers;
        program_log(program, worker, "hopscotch: it exited or sent a line without a request");
        program_break(program, worker, COMMAND_BROKE_PROTOCOL, "it sent a line without a request");
        if (answers == 0) return;
        program_start_worker(program, worker);
        return;
    }
    if (!worker->again) {
        ProgramSlot *slot = &program->slots[s];
        worker->slot = s;
        worker->turn = slot->turn;
        worker->lane = slot->next++;
        if (worker->lane == 0) slot->since = backend_clock();
    }
    worker->again = false;
    program_give(program, worker);
}

static int64_t program_waiting(const ProgramBackend *program)
{
    int64_t lanes = 0;
    for (int s = 0; s < PROGRAM_SLOTS; s++) {
        if (program->slots[s].active) lanes += program->backend.batches[s].lanes - program->slots[s].next;
    }
    return lanes;
}

// Gives lanes to idle workers, and starts processes if there are more lanes than workers that could take them.
static void program_employ_all(ProgramBackend *program)
{
    for (int i = 0; i < program->n_workers; i++) {
        Worker *worker = &program->workers[i];
        if (worker->state == WORKER_WORKS && !program_is_wanted(program, worker)) { // its batch was left
            char how[96];
            program_stop_worker(program, worker, 0.0, how, sizeof how);
        }
        if (worker->state == WORKER_IDLE) program_employ(program, worker);
    }
    int64_t lanes = program_waiting(program);
    for (int i = 0; i < program->n_workers; i++) lanes -= program->workers[i].state == WORKER_GREETS;
    for (int i = 0; i < program->n_workers && program->failure.kind == OK; i++) {
        Worker *worker = &program->workers[i];
        if (worker->state != WORKER_GONE || backend_clock() < program->next_start) continue;
        worker->again = worker->again && program_is_wanted(program, worker);
        if (!worker->again && lanes <= 0 && !program->wants_one) continue;
        if (!worker->again) lanes--;
        program->wants_one = false;
        program_start_worker(program, worker);
    }
}

// ---- answers --------------------------------------------------------------------------------------------------------

static void program_take_hello(ProgramBackend *program, Worker *worker, size_t length, bool alone)
{
    char version[COMMAND_VERSION_LENGTH + 1], problem[160];
    bool good = message_read_hello(worker->in, length, version, problem, sizeof problem);
    if (good && !alone) {
        snprintf(problem, sizeof problem, "more follows its hello");
        good = false;
    }
    if (!good) {
        program_break(program, worker, COMMAND_BROKE_PROTOCOL, problem);
        return;
    }
    BackendInfo *info = &program->backend.info;
    if (!program->known) snprintf(info->program_version, sizeof info->program_version, "%s", version);
    if (strcmp(info->program_version, version) != 0)
        program_fail(program,
                     error_make(ERROR_USER, "the program's version changed from '%.120s' to '%.120s' during the run",
                                info->program_version, version));
    program->greeted = program->known = true;
    worker->state = WORKER_IDLE;
    worker->in_size = 0;
    pthread_cond_broadcast(&program->idle);
}

static void program_take_answer(ProgramBackend *program, Worker *worker, size_t length, bool alone)
{
    Batch *batch = &program->backend.batches[worker->slot];
    const Trace *trace = &batch->trace;
    double metric[COMMAND_NAMES_MAX];
    if (!program_is_wanted(program, worker)) return; // program_employ_all ends its process
    const bool traced = worker->lane < trace->lanes;
    Answer answer = {
        .metric = metric,
        .sample = traced ? trace->sample + worker->lane * trace->capacity * program->configured.n_columns : NULL,
        .capacity = trace->capacity < program->configured.ticks ? trace->capacity : program->configured.ticks};
    bool good = message_read_answer(&program->configured, worker->id, worker->in, length, &answer);
    if (good && !alone) {
        snprintf(answer.problem, sizeof answer.problem, "more follows its answer");
        good = false;
    }
    if (!good) {
        program_break(program, worker, COMMAND_BROKE_PROTOCOL, answer.problem);
        return;
    }
    for (int m = 0; m < program->configured.n_metrics; m++) batch->metric[m * batch->stride + worker->lane] = metric[m];
    if (traced) trace->count[worker->lane] = answer.samples;
    worker->answers++;
    program->failed_starts = 0;
    worker->state = WORKER_IDLE;
    worker->in_size = 0;
    program_end_lane(program, worker, answer.failure);
}

static size_t program_line_most(const ProgramBackend *program, const Worker *worker)
{
    const bool works = worker->state == WORKER_WORKS && program_is_wanted(program, worker);
    const bool traced = works && worker->lane < program->backend.batches[worker->slot].trace.lanes;
    return message_answer_most(&program->configured, traced);
}

// Room for another piece and a NUL. False: no memory.
static bool program_make_room(const ProgramBackend *program, Worker *worker)
{
    const size_t wanted = worker->in_size + PROGRAM_PIECE + 1, twice = 2 * worker->in_capacity;
    const size_t most = program_line_most(program, worker) + PROGRAM_PIECE + 1;
    if (worker->in_capacity >= wanted) return true;
    const size_t grown = twice < most ? twice : most, capacity = grown > wanted ? grown : wanted;
    char *in = realloc(worker->in, capacity);
    if (in == NULL) return false;
    worker->in = in;
    worker->in_capacity = capacity;
    return true;
}

static void program_take_line(ProgramBackend *program, Worker *worker, size_t before)
{
    char *end = memchr(worker->in + before, '\n', worker->in_size - before);
    if (end == NULL) {
        if (worker->in_size > program_line_most(program, worker))
            program_break(program, worker, COMMAND_BROKE_PROTOCOL, "its line is too long");
        return;
    }
    *end = '\0';
    const size_t length = (size_t)(end - worker->in);
    const bool alone = length + 1 == worker->in_size;
    if (worker->state == WORKER_GREETS)
        program_take_hello(program, worker, length, alone);
    else
        program_take_answer(program, worker, length, alone);
    if (worker->state != WORKER_WORKS && worker->in_capacity > PROGRAM_KEPT) {
        free(worker->in);
        worker->in = NULL;
        worker->in_capacity = 0;
    }
}

static void program_read(ProgramBackend *program, Worker *worker)
{
    if (!program_make_room(program, worker)) {
        program_fail(program, error_make(ERROR_MACHINE, "not enough memory for the answer of a program"));
        return;
    }
    const size_t before = worker->in_size;
    const ssize_t size = read(worker->process.from, worker->in + before, PROGRAM_PIECE);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
        program_break(program, worker, COMMAND_CRASHED, "");
        return;
    }
    if (worker->state == WORKER_IDLE) {
        program_break(program, worker, COMMAND_BROKE_PROTOCOL, "it sent a line without a request");
        return;
    }
    worker->in_size += (size_t)size;
    program_take_line(program, worker, before);
}

// ---- the thread -----------------------------------------------------------------------------------------------------

static void program_look_at_clock(ProgramBackend *program)
{
    const double now = backend_clock();
    for (int i = 0; i < program->n_workers; i++) {
        Worker *worker = &program->workers[i];
        if ((worker->state == WORKER_GREETS || worker->state == WORKER_WORKS) && now >= worker->deadline)
            program_break(program, worker, COMMAND_TIMEOUT, "it did not answer in time");
    }
}

// ms until something has to be done without a message
static int program_patience(const ProgramBackend *program)
{
    double until = INFINITY;
    const double now = backend_clock();
    for (int i = 0; i < program->n_workers; i++) {
        const Worker *worker = &program->workers[i];
        if ((worker->state == WORKER_GREETS || worker->state == WORKER_WORKS) && worker->deadline < until)
            until = worker->deadline;
        if (worker->state == WORKER_GONE && program->next_start > now && program->next_start < until)
            until = program->next_start;
    }
    const double left = 1e3 * (until - now) + 1.0;
    return left > 1e6 ? 1000000 : left < 0.0 ? 0 : (int)left;
}

enum { PROGRAM_FROM, PROGRAM_ERRORS, PROGRAM_TO, PROGRAM_ENDED, PROGRAM_ENDS };

static void program_look_at(const Worker *worker, struct pollfd *ends)
{
    const bool there = worker->state != WORKER_GONE, sends = there && worker->out_sent < worker->out_size;
    ends[PROGRAM_FROM] = (struct pollfd){.fd = there ? worker->process.from : -1, .events = POLLIN};
    ends[PROGRAM_ERRORS] = (struct pollfd){.fd = there ? worker->process.errors : -1, .events = POLLIN};
    ends[PROGRAM_TO] = (struct pollfd){.fd = sends ? worker->process.to : -1, .events = POLLOUT};
    ends[PROGRAM_ENDED] = (struct pollfd){.fd = there ? worker->process.ended : -1, .events = POLLIN};
}

static void program_handle(ProgramBackend *program, Worker *worker, const struct pollfd *ends)
{
    if (ends[PROGRAM_ERRORS].revents != 0) program_read_errors(program, worker);
    if (ends[PROGRAM_FROM].revents != 0)
        program_read(program, worker);
    else if (ends[PROGRAM_ENDED].revents != 0 && program_is_quiet(worker))
        program_break(program, worker, COMMAND_CRASHED, "");
    else if (ends[PROGRAM_TO].revents != 0)
        program_send(program, worker);
}

static void program_wait_for_news(ProgramBackend *program)
{
    struct pollfd ends[1 + PROGRAM_WORKERS_MAX * PROGRAM_ENDS];
    const int n = program->n_workers, patience = program_patience(program);
    uint64_t calls;
    for (int i = 0; i < n; i++) program_look_at(&program->workers[i], &ends[1 + i * PROGRAM_ENDS]);
    ends[0] = (struct pollfd){.fd = program->wake, .events = POLLIN};
    pthread_mutex_unlock(&program->mutex);
    (void)poll(ends, (nfds_t)(1 + n * PROGRAM_ENDS), patience);
    if (ends[0].revents != 0 && read(program->wake, &calls, sizeof calls) < 0) calls = 0;
    pthread_mutex_lock(&program->mutex);
    for (int i = 0; i < n; i++) {
        if (program->workers[i].state != WORKER_GONE)
            program_handle(program, &program->workers[i], &ends[1 + i * PROGRAM_ENDS]);
    }
}

// All at once get the end of their input, and the same time to end by themselves.
static void program_end_all(ProgramBackend *program)
{
    const double until = backend_clock() + PROGRAM_PATIENCE;
    char how[96];
    for (int i = 0; i < program->n_workers; i++) {
        Worker *worker = &program->workers[i];
        if (worker->state != WORKER_GONE && worker->process.to >= 0) {
            (void)close(worker->process.to);
            worker->process.to = -1;
        }
    }
    for (int i = 0; i < program->n_workers; i++) {
        Worker *worker = &program->workers[i];
        const double left = worker->state == WORKER_IDLE ? until - backend_clock() : 0.0;
        if (worker->state != WORKER_GONE)
            program_stop_worker(program, worker, left > 0.0 ? left : 0.0, how, sizeof how);
    }
}

static void *program_serve(void *argument)
{
    ProgramBackend *program = argument;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    pthread_mutex_lock(&program->mutex);
    while (!program->stopping) {
        program_look_at_clock(program);
        if (program->failure.kind == OK && program->prepared) program_employ_all(program);
        program_wait_for_news(program);
    }
    program_end_all(program);
    pthread_mutex_unlock(&program->mutex);
    return NULL;
}

static void program_call(const ProgramBackend *program)
{
    const uint64_t one = 1;
    const ssize_t written = write(program->wake, &one, sizeof one);
    (void)written; // it is full only if the thread was called already
}

// ---- the backend ----------------------------------------------------------------------------------------------------

static struct timespec program_time(double at)
{
    struct timespec time = {.tv_sec = (time_t)at};
    time.tv_nsec = (long)(1e9 * (at - (double)time.tv_sec));
    return time;
}

// The words of the command line, and the file that they run.
static Error program_take_words(ProgramBackend *program)
{
    const CommandModel *model = program_model(program);
    TRY(process_find(model->n_program > 0 ? model->program[0] : "", program->folder, &program->file));
    program->arguments = ARENA_NEW(&program->arena, char *, model->n_program + 1);
    for (int i = 0; i < model->n_program; i++) program->arguments[i] = arena_copy(&program->arena, model->program[i]);
    program->hello = message_write_hello(&program->configured, &program->hello_size);
    return program->hello != NULL ? error_none() : error_make(ERROR_MACHINE, "not enough memory for a program's hello");
}

static int program_workers(const ProgramBackend *program, const Configured *configured)
{
    const CommandModel *model = configured->host;
    const int wanted = model->workers > 0 ? model->workers : program->threads;
    return wanted < PROGRAM_WORKERS_MAX ? wanted : PROGRAM_WORKERS_MAX;
}

// program_make_room
double backend_program_bytes(const Backend *backend, const Configured *configured, bool traced)
{
    const ProgramBackend *program = (const ProgramBackend *)backend;
    const double each = (double)message_answer_most(configured, traced) + PROGRAM_PIECE + 1.0;
    return each * program_workers(program, configured);
}

static void program_describe(ProgramBackend *program)
{
    char words[96];
    BackendInfo *info = &program->backend.info;
    program->n_workers = program_workers(program, &program->configured);
    info->lanes_at_once = info->lane_multiple = program->n_workers;
    snprintf(info->device, sizeof info->device, "%d worker%s of `%s`", program->n_workers,
             program->n_workers == 1 ? "" : "s", program_words(program, words, sizeof words));
}

static Error program_take_memory(ProgramBackend *program, int64_t lanes, int64_t traced, int64_t capacity)
{
    const Configured *configured = &program->configured;
    const CommandModel *model = program_model(program);
    const int64_t fields = configured->n_parameters + configured->n_metrics + 3;
    const int64_t samples = traced * capacity * configured->n_columns;
    size_t words = 0;
    for (int i = 0; i < model->n_program; i++) words += strlen(model->program[i]) + 72;
    arena_destroy(&program->arena);
    TRY(arena_create(&program->arena,
                     PROGRAM_SLOTS * ((size_t)(fields * lanes + samples + traced) * 8 + 4096) + words + 8192,
                     "a batch of lanes"));
    for (int s = 0; s < PROGRAM_SLOTS; s++) {
        program->backend.batches[s] =
            (Batch){.stride = lanes,
                    .parameter = ARENA_NEW(&program->arena, double, (int64_t)configured->n_parameters *lanes),
                    .metric = ARENA_NEW(&program->arena, double, (int64_t)configured->n_metrics *lanes),
                    .status = ARENA_NEW(&program->arena, int32_t, lanes),
                    .trial = ARENA_NEW(&program->arena, int64_t, lanes),
                    .replicate = ARENA_NEW(&program->arena, int32_t, lanes),
                    .trace = {.capacity = capacity, .every = 1}};
        if (traced == 0) continue;
        program->backend.batches[s].trace.sample = ARENA_NEW(&program->arena, double, samples);
        program->backend.batches[s].trace.count = ARENA_NEW(&program->arena, int64_t, traced);
    }
    return error_none();
}

static Error program_take_messages(ProgramBackend *program)
{
    const size_t request = message_request_most(&program->configured);
    const size_t size = request > program->hello_size ? request : program->hello_size;
    for (int i = 0; i < program->n_workers; i++) {
        Worker *worker = &program->workers[i];
        free(worker->out);
        worker->out = malloc(size);
        worker->number = i + 1;
        if (worker->out == NULL) return error_make(ERROR_MACHINE, "not enough memory for the workers");
    }
    return error_none();
}

// Waits until a process has said hello.
static Error program_greet(ProgramBackend *program)
{
    const double look = 0.1; // s
    program->prepared = program->wants_one = true;
    program_call(program);
    while (!program->greeted && program->failure.kind == OK) {
        const struct timespec limit = program_time(backend_clock() + look);
        (void)pthread_cond_timedwait(&program->idle, &program->mutex, &limit);
        if (program->backend.interrupted != NULL && program->backend.interrupted() != 0)
            return error_make(ERROR_INTERRUPTED, "interrupted by the user before the program had started");
    }
    return program->failure;
}

static Error program_prepare_locked(ProgramBackend *program, const Configured *configured, int64_t lanes,
                                    int64_t traced, int64_t capacity)
{
    for (int s = 0; s < PROGRAM_SLOTS; s++) {
        program->slots[s].active = false;
        program->slots[s].turn++;
    }
    char how[96];
    for (int i = 0; i < program->n_workers; i++) { // their tables may be others
        if (program->workers[i].state != WORKER_GONE)
            program_stop_worker(program, &program->workers[i], 0.0, how, sizeof how);
        program->workers[i].again = false;
    }
    free(program->file);
    free(program->hello);
    program->file = program->hello = NULL;
    program->prepared = program->greeted = false;
    program->configured = *configured;
    TRY(program_take_memory(program, lanes, traced, capacity));
    TRY(program_take_words(program));
    program_describe(program);
    TRY(program_take_messages(program));
    return program_greet(program);
}

static Error program_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced,
                             int64_t capacity)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    if (!configured->model->runs_program)
        return error_make(ERROR_USER, "model %s runs no program: take another backend", configured->model->name);
    pthread_mutex_lock(&program->mutex);
    const Error error = program_prepare_locked(program, configured, lanes, traced, capacity);
    pthread_mutex_unlock(&program->mutex);
    return error;
}

static Error program_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity)
{
    (void)backend, (void)lanes, (void)capacity;
    return error_make(ERROR_USER, "model command has no debug rows");
}

static Error program_begin(Backend *backend, int slot)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    Batch *batch = &backend->batches[slot];
    pthread_mutex_lock(&program->mutex);
    program->slots[slot] =
        (ProgramSlot){.turn = program->slots[slot].turn + 1, .order = program->orders++, .since = backend_clock()};
    memset(batch->status, 0, sizeof *batch->status * (size_t)batch->lanes);
    if (batch->trace.lanes > 0) memset(batch->trace.count, 0, sizeof *batch->trace.count * (size_t)batch->trace.lanes);
    backend->running[slot] = batch->lanes;
    program->slots[slot].active = batch->lanes > 0;
    program_call(program);
    pthread_mutex_unlock(&program->mutex);
    return error_none();
}

// A slice is a time in which the host does not look.
static Error program_advance(Backend *backend, int slot, int64_t ticks)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    (void)ticks;
    pthread_mutex_lock(&program->mutex);
    program->slots[slot].slice_end = backend_clock() + PROGRAM_SLICE;
    pthread_mutex_unlock(&program->mutex);
    return error_none();
}

static bool program_slice_ended(const ProgramBackend *program, int slot)
{
    return !program->slots[slot].active || program->cut || program->failure.kind != OK ||
           backend_clock() >= program->slots[slot].slice_end;
}

static Error program_poll(Backend *backend, int slot, double seconds, bool *ended)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    const double until = backend_clock() + seconds;
    pthread_mutex_lock(&program->mutex);
    const double end = program->slots[slot].slice_end;
    const struct timespec limit = program_time(until < end ? until : end);
    int late = 0;
    while (!program_slice_ended(program, slot) && late == 0)
        late = pthread_cond_timedwait(&program->idle, &program->mutex, &limit);
    *ended = program_slice_ended(program, slot);
    pthread_mutex_unlock(&program->mutex);
    return error_none();
}

static Error program_wait(Backend *backend, int slot, bool *done, double *kernel_seconds)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    const ProgramSlot *own = &program->slots[slot];
    pthread_mutex_lock(&program->mutex);
    *done = !own->active;
    *kernel_seconds = own->active ? backend_clock() - own->since : own->seconds;
    const Error error = own->active ? program->failure : error_none();
    pthread_mutex_unlock(&program->mutex);
    return error;
}

static void program_cut(Backend *backend)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    pthread_mutex_lock(&program->mutex);
    program->cut = true;
    pthread_cond_broadcast(&program->idle);
    pthread_mutex_unlock(&program->mutex);
}

static void program_stop_thread(ProgramBackend *program)
{
    if (!program->started) return;
    pthread_mutex_lock(&program->mutex);
    program->stopping = true;
    program_call(program);
    pthread_mutex_unlock(&program->mutex);
    pthread_join(program->thread, NULL);
}

static void program_close(Backend *backend)
{
    ProgramBackend *program = (ProgramBackend *)backend;
    program_stop_thread(program);
    guard_end(&program->guard);
    for (int i = 0; i < PROGRAM_WORKERS_MAX; i++) {
        free(program->workers[i].in);
        free(program->workers[i].out);
    }
    pthread_mutex_destroy(&program->mutex);
    pthread_cond_destroy(&program->idle);
    arena_destroy(&program->arena);
    if (program->wake >= 0) (void)close(program->wake);
    free(program->file);
    free(program->hello);
    free(program->folder);
    free(program);
}

// Timed waits use the monotonic clock.
static void program_init_locks(ProgramBackend *program)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&program->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&program->idle, &attributes);
    pthread_condattr_destroy(&attributes);
}

static Error program_start(ProgramBackend *program)
{
    program->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (program->wake < 0) return error_make(ERROR_MACHINE, "the system gives no event: %s", strerror(errno));
    TRY(process_random(program->key, sizeof program->key));
    TRY(guard_start(&program->guard));
    program->started = thread_start(&program->thread, program_serve, program) == 0;
    return program->started ? error_none() : error_make(ERROR_MACHINE, "the system started no thread for the workers");
}

Error backend_program_open(const BackendOptions *options, int device, Backend **out)
{
    (void)device;
    if (!options->program.allowed || options->program.folder == NULL)
        return error_make(ERROR_USER, "programs are not allowed: add --allow-programs");
    ProgramBackend *program = calloc(1, sizeof *program);
    if (program == NULL) return error_make(ERROR_MACHINE, "not enough memory for the workers");
    program->backend =
        (Backend){.info = {.name = "program", .slots = PROGRAM_SLOTS, .lane_multiple = 1, .lanes_at_once = 1},
                  .prepare = program_prepare,
                  .prepare_debug = program_prepare_debug,
                  .begin = program_begin,
                  .advance = program_advance,
                  .poll = program_poll,
                  .wait = program_wait,
                  .cut = program_cut,
                  .close = program_close};
    snprintf(program->backend.info.device, sizeof program->backend.info.device, "a program");
    snprintf(program->backend.info.version, sizeof program->backend.info.version, "protocol %d", COMMAND_PROTOCOL);
    program->backend.info.memory_free = (int64_t)sysconf(_SC_AVPHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    program->options = options->program;
    program->threads = options->threads > 0 ? options->threads : processor_count();
    program->folder = strdup(options->program.folder);
    program->arena.purpose = "a batch of lanes";
    program->guard.to = program->wake = -1;
    for (int i = 0; i < PROGRAM_WORKERS_MAX; i++)
        program->workers[i].process = (Process){.to = -1, .from = -1, .errors = -1, .ended = -1};
    program_init_locks(program);
    const Error error = program->folder != NULL ? program_start(program)
                                                : error_make(ERROR_MACHINE, "not enough memory for the workers");
    if (error.kind == OK)
        *out = &program->backend;
    else
        program_close(&program->backend);
    return error;
}
