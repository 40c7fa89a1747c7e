// The user's own simulator as a model: its settings, the messages that it gets and gives, and its processes. Lanes are
// advanced by sim/backend_program.c.
#ifndef HOPSCOTCH_COMMAND_MODEL_H
#define HOPSCOTCH_COMMAND_MODEL_H

#include "../sim.h"

#include <sys/types.h>

enum {
    COMMAND_PROTOCOL = 1,        // its version, in both hellos
    COMMAND_NAMES_MAX = 1000,    // parameters, metrics, columns: of each
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

size_t message_request_most(const Configured *configured); // bytes
size_t message_answer_most(const Configured *configured, bool traced);
size_t message_write_request(const Configured *configured, const Request *request, char *out); // bytes, with newline
char *message_write_hello(const Configured *configured, size_t *size); // to be freed; NULL: no memory
// text[length] is followed by a NUL. False: it breaks the protocol, and `problem` says how.
bool message_read_answer(const Configured *configured, uint64_t id, const char *text, size_t length, Answer *answer);
bool message_read_hello(const char *text, size_t length, char version[COMMAND_VERSION_LENGTH + 1], char *problem,
                        size_t size);

// ---- processes (process.c) ------------------------------------------------------------------------------------------

// A process that outlives the runner by an instant: when the runner ends, however it ends, it kills the process groups
// that the runner has started and not ended.
typedef struct Guard {
    pid_t process;
    int to;
} Guard;

Error process_random(void *bytes, size_t size); // from the system: nobody can guess them
Error guard_start(Guard *guard);
void guard_end(Guard *guard);

// What all processes of a program have in common.
typedef struct ProcessPlan {
    const char *file, *folder; // file: absolute, or relative to the folder
    char *const *arguments;    // ended by NULL
} ProcessPlan;

// A worker: the leader of its own process group. Its three pipes don't block on this side.
typedef struct Process {
    pid_t process; // 0: none
    int to, from, errors;
    int ended; // readable once the process has ended, even if others hold its pipes; -1: the system has no such thing
} Process;

// The file that the first word of a program stands for: with a slash below `folder`, else from PATH. Error (user):
// there is none. *file: to be freed.
Error process_find(const char *word, const char *folder, char **file);
Error process_start(const ProcessPlan *plan, const Guard *guard, Process *out);
// Kills the group. patience: s that the process has to end by itself. Its status, as waitpid gives it, if it did.
enum { PROCESS_WAS_KILLED = -1 };
int process_end(Process *process, const Guard *guard, double patience);

#endif
