// The protocol of workers: both sides say hello, then every request gets one answer. message.c writes and reads the
// lines; this file decides which line is due, and that nothing else comes.
#include "../philox.h"
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROTOCOL_KEPT = 1 << 20 }; // bytes of a buffer that an idle worker keeps

// A worker can't answer a request before it gets it, as it can't guess the id: 31 bits, which every language prints as
// a number, of the count of requests under a key of the run. Ids are stored nowhere.
static uint64_t protocol_next_id(Worker *worker, const uint64_t *key)
{
    const uint64_t count = ++worker->asked;
    const uint32_t at[2] = {(uint32_t)count, (uint32_t)worker->number ^ (uint32_t)(count >> 32)};
    const Philox counter = {{at[0], at[1], (uint32_t)key[1], (uint32_t)(key[1] >> 32)}};
    const uint64_t id = philox4x32_10(counter, key[0]).word[0] >> 1;
    return id > 0 ? id : 1;
}

bool protocol_ask(Worker *worker, const Configured *configured, const uint64_t *key, Request *request, double deadline)
{
    worker->id = request->id = protocol_next_id(worker, key);
    worker->out_size = message_write_request(configured, request, worker->out);
    worker->out_sent = 0;
    worker->state = WORKER_WORKS;
    worker->deadline = deadline;
    return worker_send(worker);
}

static bool protocol_broken(const char *how, char *problem)
{
    snprintf(problem, WORKER_PROBLEM, "%s", how);
    return false;
}

bool protocol_find_line(Worker *worker, size_t before, size_t most, int64_t *length, char *problem)
{
    *length = -1;
    if (worker->state == WORKER_IDLE) return protocol_broken("it sent a line without a request", problem);
    char *end = memchr(worker->in + before, '\n', worker->in_size - before);
    if (end == NULL) return worker->in_size <= most || protocol_broken("its line is too long", problem);
    *end = '\0';
    *length = end - worker->in;
    return true;
}

// The line was taken: the worker waits for the next request.
static bool protocol_rest(Worker *worker)
{
    worker->state = WORKER_IDLE;
    worker->in_size = 0;
    if (worker->in_capacity > PROTOCOL_KEPT) {
        free(worker->in);
        worker->in = NULL;
        worker->in_capacity = 0;
    }
    return true;
}

static bool protocol_is_alone(const Worker *worker, int64_t length) { return (size_t)length + 1 == worker->in_size; }

bool protocol_take_hello(Worker *worker, int64_t length, char version[COMMAND_VERSION_LENGTH + 1], char *problem)
{
    if (!message_read_hello(worker->in, (size_t)length, version, problem, WORKER_PROBLEM)) return false;
    if (!protocol_is_alone(worker, length)) return protocol_broken("more follows its hello", problem);
    return protocol_rest(worker);
}

bool protocol_take_answer(Worker *worker, const Configured *configured, int64_t length, Answer *answer, char *problem)
{
    if (!message_read_answer(configured, worker->id, worker->in, (size_t)length, answer))
        return protocol_broken(answer->problem, problem);
    if (!protocol_is_alone(worker, length)) return protocol_broken("more follows its answer", problem);
    worker->answers++;
    return protocol_rest(worker);
}
