// One writer per campaign: an open-file-description lock on a file in the campaign's folder. Unlike flock, it is not
// shared with programs that we start (O_CLOEXEC). Unlike a plain POSIX lock, it stays when another function of the
// program closes the same file. It ends with its process.
#include "lock.h"

#include "clock.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Reads the holder's line in the file; "" if it has not written it yet.
static void lock_read_text(int descriptor, char *text, size_t size)
{
    const ssize_t count = system_read(descriptor, text, size - 1);
    text[count > 0 ? count : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    for (char *c = text; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~') *c = '?'; // it goes to a terminal
    }
}

// 0, or the errno of what failed
static int lock_write_text(Lock *lock)
{
    char host[65] = "?";
    if (gethostname(host, sizeof host - 1) != 0) strcpy(host, "?");
    snprintf(lock->holder, sizeof lock->holder - 1, "pid %ld on %s since %s", (long)getpid(), host, clock_utc().text);
    const size_t length = strlen(lock->holder);
    if (lseek(lock->descriptor, 0, SEEK_SET) < 0) return errno;
    if (TEMP_FAILURE_RETRY(system_truncate(lock->descriptor, 0)) < 0) return errno;
    lock->holder[length] = '\n'; // for the file; there is room
    ssize_t more = 0;
    for (size_t written = 0; written <= length && more >= 0; written += more > 0 ? (size_t)more : 0) {
        const struct iovec piece = {lock->holder + written, length + 1 - written};
        more = TEMP_FAILURE_RETRY(system_write(lock->descriptor, &piece, 1));
    }
    lock->holder[length] = '\0';
    return more < 0 ? errno : 0;
}

// With the lock held: reads the previous holder, and writes this one. The text is only shown, never trusted. On a full
// disk there is no text, but the lock works: a command that frees space must be able to take it.
static Error lock_sign(Lock *lock, const char *path)
{
    lock_read_text(lock->descriptor, lock->stale, sizeof lock->stale);
    const int failed = lock_write_text(lock);
    if (failed != 0) (void)system_truncate(lock->descriptor, 0); // leave no partial text
    errno = failed;
    return failed == 0 || file_no_room(failed) ? error_none() : file_error("write", path, strlen(lock->holder));
}

// Whether the process that wrote the line has ended on this machine, though its lock is held: a child that it had just
// begun has not become a program of its own yet (O_CLOEXEC), and ends too.
static bool lock_is_orphaned(const char *holder)
{
    long pid;
    char host[65], here[65] = "";
    if (sscanf(holder, "pid %ld on %64s", &pid, host) != 2 || pid <= 0) return false;
    if (gethostname(here, sizeof here - 1) != 0 || strcmp(host, here) != 0) return false;
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

// Takes the lock. Where only a child of a process that was killed holds the lock, waits for it. False: errno says why.
static bool lock_get(int descriptor)
{
    enum { POLLS = 150 };
    const struct timespec poll = {.tv_nsec = 20000000}; // 3 s in all
    char holder[160];
    short found;
    for (int polls = 0;; polls++) {
        if (TEMP_FAILURE_RETRY(system_lock(descriptor, F_OFD_SETLK, F_WRLCK, &found)) == 0) return true;
        const int why = errno;
        if ((why != EAGAIN && why != EACCES) || polls == POLLS) return false;
        lock_read_text(descriptor, holder, sizeof holder);
        const bool orphaned = lock_is_orphaned(holder);
        (void)lseek(descriptor, 0, SEEK_SET);
        errno = why;
        if (!orphaned) return false;
        nanosleep(&poll, NULL);
    }
}

static Error lock_refused(int descriptor, const char *path)
{
    char holder[160];
    if (errno != EAGAIN && errno != EACCES) return file_error("lock", path, 0);
    lock_read_text(descriptor, holder, sizeof holder);
    return error_make(ERROR_MACHINE, "%s is held by %s: wait for that run to end, or stop it, and try again",
                      path_text(path).text, holder[0] != '\0' ? holder : "another process");
}

// True if the path still names the locked file. Another process, which held the lock, may have removed or renamed the
// folder between our opening of the file and our lock.
bool lock_is_named(const Lock *lock, const char *path)
{
    struct stat locked, named;
    return fstat(lock->descriptor, &locked) == 0 && system_named_stat(path, &named) == 0 &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

static Error lock_open(const char *path, Lock *lock)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *lock = (Lock){.descriptor = -1};
    if (slash != NULL && slash - path < PATH_MAX) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        lock->folder = nofollow_pin(folder);
    }
    return file_open_regular(path, O_RDWR | O_CREAT, "open", &lock->descriptor);
}

static void lock_close(Lock *lock)
{
    if (lock->descriptor >= 0) (void)system_close(lock->descriptor);
    nofollow_unpin(lock->folder);
    *lock = (Lock){.descriptor = -1};
}

static Error lock_try(const char *path, Lock *lock, bool *named)
{
    *named = true;
    const Error opened = lock_open(path, lock);
    if (opened.kind != OK) lock_close(lock);
    TRY(opened);
    const bool taken = lock_get(lock->descriptor);
    const Error refused = taken ? error_none() : lock_refused(lock->descriptor, path);
    if (taken) *named = lock_is_named(lock, path);
    const Error error = taken && *named ? lock_sign(lock, path) : refused;
    if (error.kind != OK || !*named) lock_close(lock);
    return error;
}

Error lock_take(const char *path, Lock *lock)
{
    enum { LOCK_TRIES = 10 };
    bool named = false;
    for (int tries = 0; tries < LOCK_TRIES && !named; tries++) TRY(lock_try(path, lock, &named));
    if (named) return error_none();
    return error_make(ERROR_MACHINE, "%s is removed or renamed by another process: try again", path_text(path).text);
}

void lock_release(Lock *lock)
{
    if (lock->descriptor < 0) return;
    (void)system_truncate(lock->descriptor, 0); // clears the text only; closing releases the lock
    lock_close(lock);
}

Error lock_rename(const Lock *lock, const char *from, const char *to)
{
    TRY(file_rename(from, to));
    if (lock->folder == NULL || nofollow_pin_renamed(lock->folder, to)) return error_none();
    (void)file_rename(to, from);
    return error_make(ERROR_MACHINE, "%s was replaced or moved by another process just now: try again",
                      path_text(from).text);
}

Error lock_holder(const char *path, char *text, size_t size)
{
    short found = F_UNLCK;
    text[0] = '\0';
    int descriptor;
    const Error opened = file_open_regular(path, O_RDONLY, "open", &descriptor);
    if (opened.kind != OK) return file_missing(path) ? error_none() : opened;
    Error error = error_none();
    if (system_lock(descriptor, F_OFD_GETLK, F_WRLCK, &found) < 0) error = file_error("look at the lock", path, 0);
    if (error.kind == OK && found != F_UNLCK) {
        lock_read_text(descriptor, text, size);
        if (text[0] == '\0') snprintf(text, size, "another process");
    }
    (void)system_close(descriptor);
    return error;
}
