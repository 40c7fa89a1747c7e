// Every system call on a file that this program makes, and the faults that tests ask for. system.h has the contracts.
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- faults on request ----------------------------------------------------------------------------------------------

#ifdef HOPSCOTCH_FAULTS
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { SYSTEM_RULES_MAX = 8, SYSTEM_KILL = -2, SYSTEM_STOP = -3 };

typedef struct SystemRule {
    char operation[16];
    long at;     // the call that fails, from 1
    bool onward; // and all after it
    int what;    // errno, SYSTEM_SHORT, SYSTEM_KILL or SYSTEM_STOP
    atomic_long seen;
} SystemRule;

static SystemRule system_rules[SYSTEM_RULES_MAX];
static int system_rule_count;
static pthread_once_t system_once = PTHREAD_ONCE_INIT;

static const struct {
    const char *name;
    int what;
} system_outcomes[] = {
    {"KILL", SYSTEM_KILL}, {"STOP", SYSTEM_STOP}, {"SHORT", SYSTEM_SHORT}, {"EACCES", EACCES}, {"EBUSY", EBUSY},
    {"EDQUOT", EDQUOT},    {"EINTR", EINTR},      {"EINVAL", EINVAL},      {"EIO", EIO},       {"EMFILE", EMFILE},
    {"ENOENT", ENOENT},    {"ENOLCK", ENOLCK},    {"ENOMEM", ENOMEM},      {"ENOSPC", ENOSPC}, {"EPERM", EPERM},
    {"EROFS", EROFS},      {"EFBIG", EFBIG},
};

// A misspelt rule would make a test pass that tests nothing: stop at once.
static void system_bad_rule(const char *rules)
{
    fprintf(stderr, "hopscotch: HOPSCOTCH_FAULT=%s: expected operation:n:what, as in write:3:ENOSPC\n", rules);
    abort();
}

static void system_parse_rule(const char *rules, const char *text)
{
    if (system_rule_count == SYSTEM_RULES_MAX) system_bad_rule(rules);
    SystemRule *rule = &system_rules[system_rule_count++];
    char what[16], after[4] = "";
    if (sscanf(text, "%15[a-z]:%ld%3[+]:%15[A-Z]", rule->operation, &rule->at, after, what) != 4 &&
        sscanf(text, "%15[a-z]:%ld:%15[A-Z]", rule->operation, &rule->at, what) != 3)
        system_bad_rule(rules);
    rule->onward = after[0] == '+';
    rule->what = 0;
    atomic_store(&rule->seen, 0);
    for (size_t i = 0; i < sizeof system_outcomes / sizeof *system_outcomes; i++) {
        if (strcmp(system_outcomes[i].name, what) == 0) rule->what = system_outcomes[i].what;
    }
    if (rule->what == 0 || rule->at < 1) system_bad_rule(rules);
}

static void system_parse(const char *rules)
{
    char text[256], *rest = NULL;
    system_rule_count = 0;
    if ((size_t)snprintf(text, sizeof text, "%s", rules) >= sizeof text) system_bad_rule(rules);
    for (char *rule = strtok_r(text, ",", &rest); rule != NULL; rule = strtok_r(NULL, ",", &rest)) {
        const bool of_a_device = strncmp(rule, "backend:", 8) == 0 || strncmp(rule, "cuda:", 5) == 0 ||
                                 strncmp(rule, "gpu:", 4) == 0; // sim/faults.c
        if (!of_a_device) system_parse_rule(rules, rule);
    }
}

static void system_parse_environment(void)
{
    const char *rules = getenv("HOPSCOTCH_FAULT");
    system_parse(rules != NULL ? rules : "");
}

void system_set_faults(const char *rules)
{
    pthread_once(&system_once, system_parse_environment);
    system_parse(rules);
}

int system_fault(const char *operation)
{
    pthread_once(&system_once, system_parse_environment);
    int what = 0;
    for (int i = 0; i < system_rule_count; i++) {
        SystemRule *rule = &system_rules[i];
        if (strcmp(rule->operation, operation) != 0) continue;
        const long call = atomic_fetch_add(&rule->seen, 1) + 1;
        if (call == rule->at || (rule->onward && call > rule->at)) what = rule->what;
    }
    if (what == SYSTEM_KILL) {
        raise(SIGKILL);
        for (;;) pause();
    }
    if (what == SYSTEM_STOP) {
        raise(SIGSTOP); // until a test continues it
        what = 0;
    }
    return what;
}
#endif

// True if the call is to fail; errno says how. A rule SHORT for a call that can't be cut short gives EIO.
static inline bool system_refuses(const char *operation)
{
    const int fault = system_fault(operation);
    if (fault != 0) errno = fault > 0 ? fault : EIO;
    return fault != 0;
}

// The same for a call that may do half of its work: SYSTEM_SHORT is not an error.
static inline bool system_is_refused(int fault)
{
    if (fault > 0) errno = fault;
    return fault > 0;
}

// ---- system calls ---------------------------------------------------------------------------------------------------

int system_open(const char *path, int flags) { return system_refuses("open") ? -1 : nofollow_open(path, flags, 0666); }

int system_open_named(const char *path, int flags)
{
    return system_refuses("open") ? -1 : open(path, flags | O_CLOEXEC);
}

ssize_t system_read(int descriptor, void *data, size_t size)
{
    const int fault = system_fault("read");
    if (system_is_refused(fault)) return -1;
    return read(descriptor, data, fault == SYSTEM_SHORT ? (size + 1) / 2 : size);
}

ssize_t system_read_at(int descriptor, void *data, size_t size, int64_t offset)
{
    const int fault = system_fault("read");
    if (system_is_refused(fault)) return -1;
    return pread(descriptor, data, fault == SYSTEM_SHORT ? (size + 1) / 2 : size, offset);
}

ssize_t system_write(int descriptor, const struct iovec *pieces, int count)
{
    const int fault = system_fault("write");
    if (system_is_refused(fault)) return -1;
    if (fault == SYSTEM_SHORT) return write(descriptor, pieces[0].iov_base, pieces[0].iov_len / 2);
    return writev(descriptor, pieces, count);
}

ssize_t system_write_at(int descriptor, const void *data, size_t size, int64_t offset)
{
    const int fault = system_fault("write");
    if (system_is_refused(fault)) return -1;
    return pwrite(descriptor, data, fault == SYSTEM_SHORT ? (size + 1) / 2 : size, offset);
}

int system_truncate(int descriptor, int64_t size)
{
    return system_refuses("truncate") ? -1 : ftruncate(descriptor, size);
}

int system_sync(int descriptor) { return system_refuses("fsync") ? -1 : fsync(descriptor); }

int system_close(int descriptor)
{
    const bool refused = system_refuses("close");
    const int reason = errno, status = close(descriptor); // close releases the descriptor even if it fails
    if (refused) errno = reason;
    return refused ? -1 : status;
}

int system_rename(const char *from, const char *to)
{
    return system_refuses("rename") ? -1 : nofollow_rename(from, to);
}

int system_unlink(const char *path) { return system_refuses("unlink") ? -1 : nofollow_unlink(path); }

int system_mkdir(const char *path) { return system_refuses("mkdir") ? -1 : nofollow_mkdir(path); }

int system_rmdir(const char *path) { return system_refuses("rmdir") ? -1 : nofollow_rmdir(path); }

int system_link_stat(const char *path, struct stat *status)
{
    return system_refuses("stat") ? -1 : nofollow_link_stat(path, status);
}

int system_named_stat(const char *path, struct stat *status)
{
    return system_refuses("stat") ? -1 : nofollow_named_stat(path, status);
}

int system_stat(const char *path, struct stat *status)
{
    return system_refuses("stat") ? -1 : nofollow_stat(path, status);
}

int system_lock(int descriptor, int command, short type, short *found)
{
    if (system_refuses("lock")) return -1;
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET}; // l_len 0: to the end of the file
    const int status = fcntl(descriptor, command, &lock);
    *found = lock.l_type;
    return status;
}

DIR *system_list(const char *path)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
    const int descriptor = system_refuses("list") ? -1 : (int)TEMP_FAILURE_RETRY(nofollow_open(path, flags, 0));
    DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (descriptor >= 0 && folder == NULL) (void)close(descriptor);
    return folder;
}
