// Processes of the user's program: each is the leader of its own group, and the whole group is killed when the process
// ends, is too slow, or is no longer wanted. A guard does the same if the runner itself is killed.
#include "../faults.h"
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ---- after fork -----------------------------------------------------------------------------------------------------
// Other threads of the runner may hold locks: only system calls are allowed.

static void process_close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0) return;
#endif
    const long most = sysconf(_SC_OPEN_MAX);
    for (int i = first; i < most; i++) (void)close(i);
}

static void process_reset_signals(void)
{
    sigset_t none;
    for (int s = 1; s < 32; s++) (void)signal(s, SIG_DFL); // fails for SIGKILL and SIGSTOP
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

// ---- killing --------------------------------------------------------------------------------------------------------

// The group of a process, and the process itself: it may have moved to another group. It has not been waited for, or
// ended an instant ago, so its number is not that of another one.
static void process_kill(pid_t process)
{
    (void)kill(-process, SIGKILL);
    (void)kill(process, SIGKILL);
}

// ---- the guard ------------------------------------------------------------------------------------------------------

enum { GUARD_GROUPS = 1024 };

Error process_random(void *bytes, size_t size)
{
    bool given = getrandom(bytes, size, 0) == (ssize_t)size;
#ifdef HOPSCOTCH_FAULTS
    given = given && device_fault("random") == FAULT_NONE;
#endif
    return given ? error_none() : error_make(ERROR_MACHINE, "there are no random bytes for ids: %s", strerror(errno));
}

typedef struct GuardWord {
    pid_t group;
    int32_t alive; // 1: started, 0: ended
} GuardWord;

static void guard_note(pid_t *groups, const GuardWord *word)
{
    int slot = 0;
    while (slot < GUARD_GROUPS && groups[slot] != (word->alive ? 0 : word->group)) slot++;
    if (slot < GUARD_GROUPS) groups[slot] = word->alive ? word->group : 0;
}

static void guard_watch(int from)
{
    pid_t groups[GUARD_GROUPS] = {0};
    GuardWord word;
    ssize_t size;
    while ((size = read(from, &word, sizeof word)) == (ssize_t)sizeof word || (size < 0 && errno == EINTR)) {
        if (size > 0) guard_note(groups, &word);
    }
    for (int i = 0; i < GUARD_GROUPS; i++) {
        if (groups[i] > 0) process_kill(groups[i]);
    }
}

static _Noreturn void guard_become(int from)
{
    (void)setsid(); // no signal of the terminal
    for (int s = 1; s < 32; s++) (void)signal(s, SIG_IGN);
    (void)prctl(PR_SET_NAME, "hopscotch-guard");
    if (from != 0) (void)dup2(from, 0);
    process_close_from(1);
    guard_watch(0);
    _exit(0);
}

Error guard_start(Guard *guard)
{
    int ends[2];
    *guard = (Guard){.to = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return error_make(ERROR_MACHINE, "cannot make a pipe between processes: %s", strerror(errno));
    guard->process = fork();
    if (guard->process == 0) guard_become(ends[0]);
    const int failed = errno;
    (void)close(ends[0]);
    guard->to = ends[1];
    if (guard->process > 0) return error_none();
    guard_end(guard);
    return error_make(ERROR_MACHINE, "cannot start a process: %s", strerror(failed));
}

void guard_end(Guard *guard)
{
    if (guard->to >= 0) (void)close(guard->to);
    while (guard->process > 0 && waitpid(guard->process, NULL, 0) < 0 && errno == EINTR) {
    }
    *guard = (Guard){.to = -1};
}

static void guard_report(const Guard *guard, pid_t group, bool alive)
{
    const GuardWord word = {.group = group, .alive = alive};
    const ssize_t sent = send(guard->to, &word, sizeof word, MSG_NOSIGNAL);
    (void)sent; // without a guard the processes still end with their parent
}

// ---- finding the program --------------------------------------------------------------------------------------------

static bool process_can_run(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

// True if a component of the path is "..".
static bool process_leaves(const char *name)
{
    for (const char *component = name; *component != '\0'; component += strspn(component, "/")) {
        const size_t length = strcspn(component, "/");
        if (length == 2 && strncmp(component, "..", 2) == 0) return true;
        component += length;
    }
    return false;
}

static Error process_find_below(const char *word, const char *folder, char **file)
{
    Error error = error_none();
    if (word[0] == '/' || process_leaves(word))
        return error_make(ERROR_USER,
                          "program '%.150s' leads out of the spec's folder: name a file below it, or a program in PATH",
                          word);
    if (asprintf(file, "%s/%s", folder, word) < 0) return error_make(ERROR_MACHINE, "not enough memory");
    char *root = realpath(folder, NULL), *target = realpath(*file, NULL);
    const size_t length = root != NULL ? strlen(root) : 0;
    if (target == NULL || !process_can_run(target))
        error = error_make(ERROR_USER,
                           "'%.150s' in %.150s is not a file that can be run: make it there, and executable, or add "
                           "--program-folder DIR",
                           word, folder);
    else if (root == NULL || strncmp(root, target, length) != 0 || (target[length] != '/' && strcmp(root, "/") != 0))
        error = error_make(ERROR_USER, "program '%.150s' is a link to a file elsewhere", word);
    free(root);
    free(*file);
    *file = target;
    if (error.kind == OK) return error;
    free(target);
    *file = NULL;
    return error;
}

Error process_find(const char *word, const char *folder, char **file)
{
    *file = NULL;
    if (strchr(word, '/') != NULL) return process_find_below(word, folder, file);
    const char *path = getenv("PATH");
    for (const char *entry = path != NULL ? path : "/usr/bin:/bin"; *entry != '\0'; entry += *entry == ':') {
        const size_t length = strcspn(entry, ":");
        if (entry[0] == '/') { // an empty or relative entry would depend on where the user stands
            if (asprintf(file, "%.*s/%s", (int)length, entry, word) < 0)
                return error_make(ERROR_MACHINE, "not enough memory");
            if (process_can_run(*file)) return error_none();
            free(*file);
            *file = NULL;
        }
        entry += length;
    }
    return error_make(
        ERROR_USER, "there is no program '%.150s' in PATH; write ./%.100s for a file in the spec's folder", word, word);
}

// ---- a process ------------------------------------------------------------------------------------------------------

typedef struct ProcessPipes {
    int in[2], out[2], errors[2];
} ProcessPipes;

static _Noreturn void process_become(const ProcessPlan *plan, const ProcessPipes *pipes, pid_t parent)
{
    static const struct rlimit none = {0, 0};
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127); // it ended before the line above
    process_reset_signals();
    (void)setrlimit(RLIMIT_CORE, &none);
    // the pipes may have the numbers 0 to 2
    const int in = fcntl(pipes->in[0], F_DUPFD, 3), out = fcntl(pipes->out[1], F_DUPFD, 3);
    const int errors = fcntl(pipes->errors[1], F_DUPFD, 3);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(errors, 2) < 0) _exit(127);
    process_close_from(3);
    if (chdir(plan->folder) == 0) (void)execv(plan->file, plan->arguments);
    const char *why = strerror(errno);
    const ssize_t written = write(2, why, strlen(why));
    (void)written;
    _exit(127);
}

static bool process_open_pipes(ProcessPipes *pipes)
{
    if (pipe2(pipes->in, O_CLOEXEC) != 0) return false;
    if (pipe2(pipes->out, O_CLOEXEC) == 0) {
        if (pipe2(pipes->errors, O_CLOEXEC) == 0) return true;
        (void)close(pipes->out[0]);
        (void)close(pipes->out[1]);
    }
    (void)close(pipes->in[0]);
    (void)close(pipes->in[1]);
    return false;
}

static void process_close_pipes(Process *process)
{
    int *const ends[] = {&process->to, &process->from, &process->errors, &process->ended};
    for (int i = 0; i < 4; i++) {
        if (*ends[i] >= 0) (void)close(*ends[i]);
        *ends[i] = -1;
    }
}

Error process_start(const ProcessPlan *plan, const Guard *guard, Process *out)
{
    ProcessPipes pipes;
    const pid_t parent = getpid();
    *out = (Process){.to = -1, .from = -1, .errors = -1, .ended = -1};
    if (!process_open_pipes(&pipes))
        return error_make(ERROR_MACHINE, "cannot make the pipes of a process: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0) process_become(plan, &pipes, parent);
    const int failed = errno;
    (void)close(pipes.in[0]);
    (void)close(pipes.out[1]);
    (void)close(pipes.errors[1]);
    *out = (Process){.process = child, .to = pipes.in[1], .from = pipes.out[0], .errors = pipes.errors[0], .ended = -1};
    if (child > 0) {
        (void)setpgid(child, child); // whichever of the two comes first
        guard_report(guard, child, true);
#ifdef SYS_pidfd_open
        out->ended = (int)syscall(SYS_pidfd_open, child, 0U);
#endif
        const int ends[] = {out->to, out->from, out->errors};
        for (int i = 0; i < 3; i++) (void)fcntl(ends[i], F_SETFL, O_NONBLOCK);
        return error_none();
    }
    process_close_pipes(out);
    out->process = 0;
    return error_make(ERROR_MACHINE, "cannot start a process: %s", strerror(failed));
}

static void process_sleep(double seconds)
{
    const struct timespec time = {.tv_nsec = (long)(1e9 * seconds)};
    (void)nanosleep(&time, NULL);
}

// Whether the process has ended within `patience` seconds. It is not waited for: until then its group lives.
static bool process_has_ended(pid_t process, double patience)
{
    const double look = 1e-3; // s
    siginfo_t ended = {.si_pid = 0};
    for (;; patience -= look) {
        if (waitid(P_PID, (id_t)process, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return true; // there is none
        if (ended.si_pid != 0 || patience <= 0.0) return ended.si_pid != 0;
        process_sleep(look);
    }
}

int process_end(Process *process, const Guard *guard, double patience)
{
    const double stuck = 2.0; // s: a killed process that has not ended by then waits for a disk or a device
    int status = 0;
    if (process->process <= 0) return 0;
    if (process->to >= 0) (void)close(process->to);
    process->to = -1;
    const bool by_itself = process_has_ended(process->process, patience);
    process_kill(process->process);
    guard_report(guard, process->process, false);
    if (process_has_ended(process->process, stuck)) (void)waitpid(process->process, &status, WNOHANG);
    process->process = 0;
    process_close_pipes(process);
    return by_itself ? status : PROCESS_WAS_KILLED;
}
