// Tools for tests/cli/attack.sh. Ends with status 125 if the system does not support the request.
//
//   attacker socket PATH                                   makes a socket of that name
//   attacker watch EVENTS FOLDER COMMAND...                runs the command; writes into EVENTS what happened meanwhile
//                                                          to anything in the folder, a line each: opened, read, ...
//   attacker race FIRST SECOND EVENTS FOLDER COMMAND...    the same, while two files exchange their names over and
//                                                          over; how often is written into EVENTS.swaps
// The last two end with the command's status, 128 + N if signal N ended it.
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LACKING = 125, WATCHES_MOST = 1024, EXCHANGE = 2 }; // RENAME_EXCHANGE of linux/fs.h

static _Noreturn void lacks(const char *what)
{
    fprintf(stderr, "attacker: %s: %s\n", what, strerror(errno));
    exit(LACKING);
}

// ---- sockets --------------------------------------------------------------------------------------------------------

// A socket's address has room for 108 bytes: the name alone.
static int make_socket(char **arguments)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *slash = strrchr(arguments[0], '/');
    const char *name = slash != NULL ? slash + 1 : arguments[0];
    if (slash != NULL) *slash = '\0';
    if (slash != NULL && chdir(arguments[0]) != 0) lacks(arguments[0]);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
    const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) lacks("socket");
    return 0;
}

// ---- watching -------------------------------------------------------------------------------------------------------

// A folder's watch tells of the files in it too.
static struct {
    int descriptor, count;
    char *path[WATCHES_MOST]; // by the number of the watch, which inotify counts from 1
} watches;

static const struct {
    uint32_t mask;
    const char *name;
} watch_events[] = {{IN_OPEN, "opened"},          {IN_ACCESS, "read"},         {IN_MODIFY, "written"},
                    {IN_CREATE, "created"},       {IN_DELETE, "deleted"},      {IN_ATTRIB, "changed"},
                    {IN_MOVED_FROM, "moved off"}, {IN_MOVED_TO, "moved here"}, {IN_Q_OVERFLOW, "too much happened"}};

static int watch_folder(const char *path, const struct stat *status, int kind, struct FTW *unused)
{
    (void)status, (void)unused;
    if (kind != FTW_D) return 0;
    uint32_t mask = 0;
    for (size_t i = 0; i < sizeof watch_events / sizeof *watch_events; i++) mask |= watch_events[i].mask;
    const int number = inotify_add_watch(watches.descriptor, path, mask);
    if (number < 1 || number >= WATCHES_MOST) lacks("inotify_add_watch");
    watches.path[number] = strdup(path);
    return 0;
}

static void watch_tell(const struct inotify_event *event, FILE *out)
{
    for (size_t i = 0; i < sizeof watch_events / sizeof *watch_events; i++) {
        if ((event->mask & watch_events[i].mask) == 0) continue;
        fprintf(out, "%s%s%s: %s\n", event->wd >= 1 ? watches.path[event->wd] : "?", event->len > 0 ? "/" : "",
                event->len > 0 ? event->name : "", watch_events[i].name);
    }
}

// What has happened so far; out NULL: it is not told.
static void watch_drain(FILE *out)
{
    _Alignas(struct inotify_event) char buffer[1 << 16];
    for (ssize_t size; (size = read(watches.descriptor, buffer, sizeof buffer)) > 0;) {
        for (char *at = buffer; at < buffer + size;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            if (out != NULL) watch_tell(event, out);
            at += sizeof *event + event->len;
        }
    }
}

// A child that does not outlive this process.
static pid_t begin_child(void)
{
    const pid_t child = fork();
    if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

static pid_t begin(char **command)
{
    const pid_t child = begin_child();
    if (child != 0) return child;
    execvp(command[0], command);
    lacks(command[0]);
}

static int end(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// EVENTS FOLDER COMMAND...
static int watch(char **arguments)
{
    watches.descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watches.descriptor < 0) lacks("inotify");
    if (nftw(arguments[1], watch_folder, 16, FTW_PHYS) != 0) lacks(arguments[1]);
    watch_drain(NULL); // the walk itself
    const int status = end(begin(arguments + 2));
    FILE *out = fopen(arguments[0], "w");
    if (out == NULL) lacks(arguments[0]);
    watch_drain(out);
    fclose(out);
    return status;
}

// ---- racing ---------------------------------------------------------------------------------------------------------

// Names that are missing for a while are not a reason to end.
static _Noreturn void swap(const char *first, const char *second, volatile int64_t *swaps)
{
    for (;;) *swaps += syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, EXCHANGE) == 0;
}

// FIRST SECOND EVENTS FOLDER COMMAND...
static int race(char **arguments)
{
    char path[4096];
    int64_t *swaps = mmap(NULL, sizeof *swaps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (swaps == MAP_FAILED) lacks("mmap");
    const pid_t swapper = begin_child();
    if (swapper == 0) swap(arguments[0], arguments[1], swaps);
    for (int wait = 0; *(volatile int64_t *)swaps == 0; wait++) {
        if (wait == 10000) lacks("renameat2"); // after a second
        usleep(100);
    }
    const int status = watch(arguments + 2);
    kill(swapper, SIGKILL);
    (void)end(swapper);
    snprintf(path, sizeof path, "%s.swaps", arguments[2]);
    FILE *out = fopen(path, "w");
    if (out == NULL) lacks(path);
    fprintf(out, "%lld\n", (long long)*swaps);
    fclose(out);
    return status;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int least; // arguments behind the name
        int (*run)(char **);
    } modes[] = {{"socket", 1, make_socket}, {"watch", 3, watch}, {"race", 5, race}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (count >= 2 + modes[i].least && strcmp(arguments[1], modes[i].name) == 0) return modes[i].run(arguments + 2);
    }
    fprintf(stderr, "usage: attacker socket PATH | watch EVENTS FOLDER COMMAND... | "
                    "race FIRST SECOND EVENTS FOLDER COMMAND...\n");
    return 2;
}
