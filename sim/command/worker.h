// A worker: a process of the user's program (worker.c) and the lines exchanged with it (protocol.c). Nothing here knows
// of batches: pool.h gives lanes to workers. One thread at a time uses a worker.
#ifndef HOPSCOTCH_COMMAND_WORKER_H
#define HOPSCOTCH_COMMAND_WORKER_H

#include "command.h"

enum {
    WORKER_PIECE = 1 << 16, // bytes per read
    WORKER_LINE = 512,      // bytes of a line of standard error
    WORKER_PROBLEM = 200    // bytes of a text that says how a worker broke the protocol
};

typedef enum WorkerState {
    WORKER_GONE,   // it has no process
    WORKER_GREETS, // it has not said hello yet
    WORKER_IDLE,   // it waits for a request
    WORKER_WORKS   // its answer is due
} WorkerState;

typedef struct Worker {
    Process process;
    const Guard *guard;  // kills the process if the runner ends
    const TextSink *log; // takes the lines of its standard error
    WorkerState state;
    int number;                  // from 1
    uint64_t answers;            // of this process
    uint64_t asked;              // requests so far, to all of its processes
    uint64_t id;                 // of the last request
    double deadline;             // backend_clock: when its hello or answer is too late
    char *out;                   // the line that is sent; large enough for the hello and any request
    size_t out_size, out_sent;   // bytes
    char *in;                    // [in_capacity] what was received of its line
    size_t in_size, in_capacity; // bytes
    char line[WORKER_LINE];      // the last line of its standard error
    size_t line_size;            // bytes
    // set by the pool
    bool again;    // its lane is to be given to its next process
    int slot;      // of the lane
    uint64_t turn; // of that slot
    int64_t lane;
} Worker;

// ---- process and streams (worker.c) ---------------------------------------------------------------------------------

// Writes "[2] text" and a newline to the log; a long text is cut.
void worker_log(const Worker *worker, const char *format, ...) PRINTF_LIKE(2, 3);
// Starts a process, which is sent hello[size] and has until `deadline` to say hello. Error: as process_start.
Error worker_start(Worker *worker, const ProcessPlan *plan, const char *hello, size_t size, double deadline);
// Ends the process after at most `patience` s and logs what it still wrote. Returns how it ended, in out[size].
const char *worker_stop(Worker *worker, double patience, char *out, size_t size);
void worker_read_errors(Worker *worker);    // logs complete lines of what can be read from its standard error
bool worker_is_quiet(const Worker *worker); // nothing can be read from its standard output
bool worker_send(Worker *worker);           // what the pipe takes of `out`. False: it closed its standard input

typedef enum WorkerNews { WORKER_SAYS_NOTHING, WORKER_SAYS_MORE, WORKER_ENDS, WORKER_LACKS_MEMORY } WorkerNews;
// Appends what can be read, at most WORKER_PIECE bytes, to `in`. most: bytes of the longest line that may come.
WorkerNews worker_receive(Worker *worker, size_t most);
void worker_free(Worker *worker); // its buffers

// ---- protocol (protocol.c): what the lines mean ---------------------------------------------------------------------

// Starts a request under a new id, which the worker can't guess. key[2]: random bits of the run. *request gets the id.
// False: as worker_send.
bool protocol_ask(Worker *worker, const Configured *configured, const uint64_t *key, Request *request, double deadline);
// Looks at what was received since `in` had `before` bytes. *length: bytes of the complete line, or -1 if it goes on.
// most: as above. False: the worker broke the protocol, and problem[WORKER_PROBLEM] says how.
bool protocol_find_line(Worker *worker, size_t before, size_t most, int64_t *length, char *problem);
// Take a line that was found; the worker is idle then. False: as protocol_find_line.
bool protocol_take_hello(Worker *worker, int64_t length, char version[COMMAND_VERSION_LENGTH + 1], char *problem);
bool protocol_take_answer(Worker *worker, const Configured *configured, int64_t length, Answer *answer, char *problem);

#endif
