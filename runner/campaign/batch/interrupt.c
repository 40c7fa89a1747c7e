// Requests to end a run: signals, and the control file that `hopscotch stop` writes into the campaign's folder. After
// the first request the run ends at the next slice, with all complete trials committed. A second signal ends the
// process at once; the commit rule allows that at any moment. A signal within INTERRUPT_APART of the first is the same
// request: `timeout` and batch systems send one to the process and one to its group.
//
// `stop` writes a file instead of sending a signal, because a file also reaches a run on another host, in another
// container, or of another user who shares the folder. The file names the holder of the lock, so that it can't end
// another process that got the pid of a run that is gone. An empty file (`touch results/NAME/stop`) ends any run.
#include "../campaign.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

// Global because a signal handler has no argument for it; lock-free, so that a handler may use them.
static atomic_int interrupt_signal, interrupt_question;
static atomic_llong interrupt_first; // ms: when the first one came

enum { INTERRUPT_APART = 200 }; // ms

static void interrupt_handle(int signal_number)
{
    int none = 0;
    long long first = 0;
    const long long now = (long long)(1e3 * clock_seconds());
    if (!atomic_compare_exchange_strong(&interrupt_first, &first, now) && now - first >= INTERRUPT_APART)
        _exit(128 + signal_number);
    atomic_compare_exchange_strong(&interrupt_signal, &none, signal_number);
}

static void interrupt_note_question(int signal_number)
{
    (void)signal_number;
    atomic_store(&interrupt_question, 1);
}

void interrupt_install(void)
{
    struct sigaction action = {.sa_handler = interrupt_handle, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) // by nohup
        sigaction(SIGHUP, &action, NULL);
    action.sa_handler = interrupt_note_question;
    sigaction(SIGUSR1, &action, NULL);
}

bool interrupt_asks_status(void) { return atomic_exchange(&interrupt_question, 0) != 0; }

// ---- the control file -----------------------------------------------------------------------------------------------

enum { INTERRUPT_LOOK = 200 }; // ms between two looks at the file: slow on a network file system

// The file that may stop this process while it runs a campaign. Global like the signals. Any thread may look at it.
static struct {
    char path[1024], holder[160];
    atomic_llong looked; // ms
} interrupt_file;

static long long interrupt_clock(void) { return (long long)(1e3 * clock_seconds()); }

// The holder that the file names in its first line; "": any. False: there is no file, or it can't be read.
static bool interrupt_read_name(char *name, size_t size)
{
    Arena arena;
    Bytes content = {0};
    if (!file_exists(interrupt_file.path)) return false;
    if (arena_create(&arena, (size_t)64 << 10, "the control file").kind != OK) return false;
    const bool read = file_read_stored(interrupt_file.path, 1024, &arena, &content).kind == OK;
    if (read) snprintf(name, size, "%.*s", (int)strcspn((char *)content.data, "\n"), (char *)content.data);
    arena_destroy(&arena);
    return read;
}

Error interrupt_watch(const char *path, const char *holder)
{
    char name[160];
    int stopped = INTERRUPT_STOP;
    atomic_compare_exchange_strong(&interrupt_signal, &stopped, 0); // what stopped an earlier campaign
    snprintf(interrupt_file.path, sizeof interrupt_file.path, "%s", path);
    snprintf(interrupt_file.holder, sizeof interrupt_file.holder, "%s", holder);
    atomic_store(&interrupt_file.looked, interrupt_clock());
    if (!interrupt_read_name(name, sizeof name) || strcmp(name, holder) == 0) return error_none();
    return file_remove(path); // it was for an earlier run
}

Error interrupt_unwatch(void)
{
    const Error error = file_exists(interrupt_file.path) ? file_remove(interrupt_file.path) : error_none();
    interrupt_file.path[0] = '\0';
    return error;
}

static void interrupt_look(void)
{
    char name[160];
    int none = 0;
    const long long now = interrupt_clock();
    long long looked = atomic_load(&interrupt_file.looked);
    if (interrupt_file.path[0] == '\0' || now - looked < INTERRUPT_LOOK) return;
    if (!atomic_compare_exchange_strong(&interrupt_file.looked, &looked, now)) return; // another thread does
    if (!interrupt_read_name(name, sizeof name)) return;
    if (name[0] != '\0' && strcmp(name, interrupt_file.holder) != 0) return;
    atomic_compare_exchange_strong(&interrupt_signal, &none, INTERRUPT_STOP);
}

int interrupt_requested(void)
{
    if (atomic_load(&interrupt_signal) == 0) interrupt_look();
    return atomic_load(&interrupt_signal);
}

const char *interrupt_words(void)
{
    const int request = interrupt_requested();
    return request == SIGTERM          ? "ended by SIGTERM"
           : request == SIGHUP         ? "ended by SIGHUP"
           : request == INTERRUPT_STOP ? "stopped by `hopscotch stop`"
                                       : "interrupted by the user";
}
