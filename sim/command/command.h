// The user's own simulator as a model: its settings (command.c), the messages that it gets and gives (message.c), and
// its processes (process.c). worker.h and pool.h have the workers that advance lanes, for sim/backend_program.c.
#ifndef HOPSCOTCH_COMMAND_MODEL_H
#define HOPSCOTCH_COMMAND_MODEL_H

#include "../declared.h"

#include <sys/types.h>

enum {
    COMMAND_PROTOCOL = 1,        // its version, in both hellos
    COMMAND_VERSION_LENGTH = 128 // characters of a program's version
};

// Failures that every program can have; the spec's own stand behind them.
enum { COMMAND_NONE, COMMAND_CRASHED, COMMAND_TIMEOUT, COMMAND_BROKE_PROTOCOL, COMMAND_NON_FINITE, COMMAND_FAILURES };

// Configured.host
typedef struct CommandModel {
    const char *const *program; // [n_program] the words of its command line
    int n_program;
    int workers;     // processes; 0: as many as threads
    double timeout;  // s of a trial
    int64_t samples; // of a trajectory, at most
} CommandModel;

// out[size] <- the words of the command line, for messages. Returns `out`. "..." marks a word that is cut.
const char *command_line_words(const CommandModel *model, char *out, size_t size);

// ---- messages (message.c): one JSON object per line -----------------------------------------------------------------

typedef struct Request {
    uint64_t id;         // a number below 2^31 that a worker can't guess
    int64_t trial;       //
    int replicate;       //
    bool traced;         // wants a trajectory
    const double *value; // of parameter p: value[p*stride]
    int64_t stride;      //
} Request;

typedef struct Answer {
    int failure;
    double *metric;   // [n_metrics]
    double *sample;   // [capacity][n_columns]; NULL: no trajectory is wanted
    int64_t capacity; //
    int64_t samples;  // that were given
    char problem[200];
} Answer;

// Bytes of the longest request and answer, with newline. traced: the answer holds a trajectory.
size_t message_request_most(const Configured *configured);
size_t message_answer_most(const Configured *configured, bool traced);
// out[message_request_most] <- a request and a newline. Returns its bytes.
size_t message_write_request(const Configured *configured, const Request *request, char *out);
// The runner's hello, *size bytes with newline. The caller frees it. NULL: not enough memory.
char *message_write_hello(const Configured *configured, size_t *size);
// Read a line of a worker: text[length], followed by a NUL. False: the line breaks the protocol, and `problem` says
// how. message_read_answer fills the arrays of *answer; id: of the request.
bool message_read_answer(const Configured *configured, uint64_t id, const char *text, size_t length, Answer *answer);
bool message_read_hello(const char *text, size_t length, char version[COMMAND_VERSION_LENGTH + 1], char *problem,
                        size_t size);

// ---- processes (process.c) ------------------------------------------------------------------------------------------

// A process that outlives the runner by an instant: when the runner ends, however it ends, the guard kills the process
// groups that the runner has started and not ended.
typedef struct Guard {
    pid_t process;
    int to;
} Guard;

// bytes[size] <- random bytes of the system, which can't be guessed. Error (machine): the system has none.
Error process_random(void *bytes, size_t size);
Error guard_start(Guard *guard); // error (machine): cannot start a process
void guard_end(Guard *guard);    // returns after the guard has killed the groups that are left

// What all processes of a program have in common.
typedef struct ProcessPlan {
    const char *file, *folder; // file: absolute, or relative to the folder
    char *const *arguments;    // ended by NULL
} ProcessPlan;

// A worker: the leader of its own process group. Its three pipes don't block on this side.
typedef struct Process {
    pid_t process; // 0: none
    int to, from, errors;
    int ended; // readable once the process has ended, even if others hold its pipes; -1: an old kernel without pidfd
} Process;

// *file <- the file that the first word of a command line names: below `folder` if the word has a slash, else from
// PATH. The caller frees it. Error (user): there is no such file, it lies outside of `folder`, or it can't be run.
Error process_find(const char *word, const char *folder, char **file);
// Starts a process and reports it to the guard. Error (machine): there are no processes or pipes left. A file that
// can't be run ends its process with exit code 127.
Error process_start(const ProcessPlan *plan, const Guard *guard, Process *out);
// Closes the process's input, waits at most `patience` s for its end, and kills its group. Returns its status, as
// waitpid gives it, if it ended by itself, else PROCESS_WAS_KILLED.
enum { PROCESS_WAS_KILLED = -1 };
int process_end(Process *process, const Guard *guard, double patience);

#endif
