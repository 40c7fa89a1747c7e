// The process of a worker, and the bytes to and from it: the line that it is sent, the line that it says, and its
// standard error, which becomes lines of a log.
#include "worker.h"

#include "../backend.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- standard error -------------------------------------------------------------------------------------------------

void worker_log(const Worker *worker, const char *format, ...)
{
    char text[WORKER_LINE + 64];
    va_list arguments;
    if (worker->log->write == NULL) return;
    int size = snprintf(text, sizeof text, "[%d] ", worker->number);
    va_start(arguments, format);
    size += vsnprintf(text + size, sizeof text - (size_t)size, format, arguments);
    va_end(arguments);
    if (size > (int)sizeof text - 2) size = (int)sizeof text - 2;
    text[size++] = '\n';
    worker->log->write(worker->log->to, text, (size_t)size);
}

static void worker_end_line(Worker *worker, size_t size)
{
    worker->line[size] = '\0';
    if (size > 0) worker_log(worker, "%s", worker->line);
    worker->line_size = 0;
}

// A long line is cut. What a terminal could obey is escaped where it is shown.
static void worker_take_errors(Worker *worker, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            worker_end_line(worker, worker->line_size);
        else if (worker->line_size + 1 < WORKER_LINE)
            worker->line[worker->line_size++] = text[i] != '\0' ? text[i] : '?';
    }
}

void worker_read_errors(Worker *worker)
{
    char piece[4096];
    const ssize_t size = read(worker->process.errors, piece, sizeof piece);
    if (size > 0) {
        worker_take_errors(worker, piece, (size_t)size);
    } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
        (void)close(worker->process.errors);
        worker->process.errors = -1;
    }
}

// What a process has left there when it ended, at most a pipe full.
static void worker_drain_errors(Worker *worker)
{
    enum { PIECES = 32 };
    for (int i = 0; i < PIECES && worker->process.errors >= 0; i++) {
        struct pollfd there = {.fd = worker->process.errors, .events = POLLIN};
        if (poll(&there, 1, 0) <= 0) break;
        worker_read_errors(worker);
    }
    if (worker->line_size > 0) worker_end_line(worker, worker->line_size);
}

// ---- the process ----------------------------------------------------------------------------------------------------

static const char *worker_status(int status, char *out, size_t size)
{
    if (status == PROCESS_WAS_KILLED)
        snprintf(out, size, "it closed a pipe");
    else if (WIFEXITED(status))
        snprintf(out, size, "exit code %d", WEXITSTATUS(status));
    else
        snprintf(out, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return out;
}

const char *worker_stop(Worker *worker, double patience, char *out, size_t size)
{
    if (worker->process.from >= 0) (void)close(worker->process.from);
    worker->process.from = -1;
    if (worker->process.errors >= 0) worker_drain_errors(worker);
    const int errors = worker->process.errors; // read to its end after the process
    worker->process.errors = -1;
    Process process = worker->process;
    const int status = process_end(&process, worker->guard, patience);
    worker->process = (Process){.to = -1, .from = -1, .errors = errors, .ended = -1};
    if (errors >= 0) {
        worker_drain_errors(worker);
        if (worker->process.errors >= 0) (void)close(worker->process.errors);
        worker->process.errors = -1;
    }
    worker->state = WORKER_GONE;
    worker->in_size = 0;
    return worker_status(status, out, size);
}

Error worker_start(Worker *worker, const ProcessPlan *plan, const char *hello, size_t size, double deadline)
{
    worker->line[0] = '\0';
    worker->line_size = 0;
    TRY(process_start(plan, worker->guard, &worker->process));
    worker->state = WORKER_GREETS;
    worker->answers = worker->id = 0; // no answer is due
    worker->in_size = 0;
    worker->deadline = deadline;
    memcpy(worker->out, hello, size);
    worker->out_size = size;
    worker->out_sent = 0;
    return error_none();
}

// ---- its input and output -------------------------------------------------------------------------------------------

bool worker_is_quiet(const Worker *worker)
{
    struct pollfd said = {.fd = worker->process.from, .events = POLLIN};
    return poll(&said, 1, 0) == 0;
}

bool worker_send(Worker *worker)
{
    while (worker->out_sent < worker->out_size) {
        const ssize_t sent =
            write(worker->process.to, worker->out + worker->out_sent, worker->out_size - worker->out_sent);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) break; // full; or closed, then reading finds out
        worker->out_sent += (size_t)sent;
    }
    return worker->out_sent == worker->out_size || errno != EPIPE;
}

// Room for another piece and a NUL. False: no memory.
static bool worker_reserve(Worker *worker, size_t most)
{
    const size_t wanted = worker->in_size + WORKER_PIECE + 1, twice = 2 * worker->in_capacity;
    most += WORKER_PIECE + 1;
    if (worker->in_capacity >= wanted) return true;
    const size_t grown = twice < most ? twice : most, capacity = grown > wanted ? grown : wanted;
    char *in = realloc(worker->in, capacity);
    if (in == NULL) return false;
    worker->in = in;
    worker->in_capacity = capacity;
    return true;
}

WorkerNews worker_receive(Worker *worker, size_t most)
{
    if (!worker_reserve(worker, most)) return WORKER_LACKS_MEMORY;
    const ssize_t size = read(worker->process.from, worker->in + worker->in_size, WORKER_PIECE);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return WORKER_SAYS_NOTHING;
    if (size <= 0) return WORKER_ENDS;
    worker->in_size += (size_t)size;
    return WORKER_SAYS_MORE;
}

void worker_free(Worker *worker)
{
    free(worker->in);
    free(worker->out);
    worker->in = worker->out = NULL;
    worker->in_capacity = 0;
}
