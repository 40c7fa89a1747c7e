// One writer a campaign: an open-file-description lock on a file in its folder. Unlike flock it is not shared with
// programs that we start (O_CLOEXEC), unlike a plain POSIX lock it is not lost when another part of the program closes
// the same file; and it dies with its process.
#include "seam.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

// What the holder wrote into the file: one line, "" if it has not come to it yet.
static void lock_read_text(int descriptor, char *text, size_t size)
{
    const ssize_t count = seam_read(descriptor, text, size - 1);
    text[count > 0 ? count : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

static Error lock_write_text(int descriptor, const char *path)
{
    char host[65] = "?", text[160];
    if (gethostname(host, sizeof host - 1) != 0) strcpy(host, "?");
    const int length = snprintf(text, sizeof text, "pid %ld on %s since %s\n", (long)getpid(), host, clock_utc().text);
    if (TEMP_FAILURE_RETRY(seam_truncate(descriptor, 0)) < 0) return file_error("write", path, (size_t)length);
    for (ssize_t written = 0, more = 0; written < length; written += more) {
        const struct iovec part = {text + written, (size_t)(length - written)};
        more = TEMP_FAILURE_RETRY(seam_write(descriptor, &part, 1));
        if (more < 0) return file_error("write", path, (size_t)length);
    }
    return error_none();
}

static Error lock_refused(int descriptor, const char *path)
{
    char holder[160];
    if (errno != EAGAIN && errno != EACCES) return file_error("lock", path, 0);
    lock_read_text(descriptor, holder, sizeof holder);
    return error_make(ERROR_MACHINE, "%s is held by %s: wait for that run to end, or stop it, and try again",
                      path_text(path).text, holder[0] != '\0' ? holder : "another process");
}

Error lock_take(const char *path, Lock *lock)
{
    short found;
    lock->descriptor = -1;
    const int descriptor = (int)TEMP_FAILURE_RETRY(seam_open(path, O_RDWR | O_CREAT));
    if (descriptor < 0) return file_error("open", path, 0);
    const bool taken = TEMP_FAILURE_RETRY(seam_lock(descriptor, F_OFD_SETLK, F_WRLCK, &found)) == 0;
    const Error error = taken ? lock_write_text(descriptor, path) : lock_refused(descriptor, path);
    if (error.kind != OK) {
        (void)seam_close(descriptor);
        return error;
    }
    lock->descriptor = descriptor;
    return error_none();
}

void lock_release(Lock *lock)
{
    if (lock->descriptor < 0) return;
    (void)seam_truncate(lock->descriptor, 0); // only the message's text: the lock itself goes with the descriptor
    (void)seam_close(lock->descriptor);
    lock->descriptor = -1;
}

Error lock_holder(const char *path, char *text, size_t size)
{
    short found = F_UNLCK;
    text[0] = '\0';
    const int descriptor = (int)TEMP_FAILURE_RETRY(seam_open(path, O_RDONLY));
    if (descriptor < 0) return errno == ENOENT ? error_none() : file_error("open", path, 0);
    Error error = error_none();
    if (seam_lock(descriptor, F_OFD_GETLK, F_WRLCK, &found) < 0) error = file_error("look at the lock", path, 0);
    if (error.kind == OK && found != F_UNLCK) {
        lock_read_text(descriptor, text, size);
        if (text[0] == '\0') snprintf(text, size, "another process");
    }
    (void)seam_close(descriptor);
    return error;
}
