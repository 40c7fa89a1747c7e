// A log that never fills a disk: a file with the last lines, and one with those before them, each of a bounded size.
#include "bounded_log.h"

#include "characters.h"
#include "system.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

Error bounded_log_open(const char *path, int64_t most, BoundedLog *log)
{
    *log = (BoundedLog){.most = most, .descriptor = -1};
    if ((size_t)snprintf(log->path, sizeof log->path, "%s", path) >= sizeof log->path)
        return error_make(ERROR_MACHINE, "the name of a log is too long");
    TRY(file_open_regular(path, O_WRONLY | O_CREAT | O_APPEND, "open", &log->descriptor));
    return file_size(path, &log->bytes);
}

// The lines so far become the older ones.
static void bounded_log_turn(BoundedLog *log)
{
    char older[sizeof log->path + 2];
    snprintf(older, sizeof older, "%s.1", log->path);
    (void)system_close(log->descriptor);
    log->descriptor = -1;
    if (system_rename(log->path, older) != 0) return;
    if (file_open_regular(log->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, "open", &log->descriptor).kind == OK)
        log->bytes = 0;
}

// A log that can't be written stops nothing.
static void bounded_log_put(BoundedLog *log, const char *text, size_t length)
{
    const struct iovec piece = {.iov_base = (void *)(uintptr_t)text, .iov_len = length};
    if (log->descriptor >= 0 && log->bytes + (int64_t)length > log->most) bounded_log_turn(log);
    if (log->descriptor < 0) return;
    log->bytes += (int64_t)length;
    if (system_write(log->descriptor, &piece, 1) >= 0) return;
    (void)system_close(log->descriptor);
    log->descriptor = -1;
}

void bounded_log_write(void *to, const char *text, size_t length)
{
    char visible[4096];
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        Glyph glyph = {.bytes = 1, .text = "\n"};
        if (text[at] != '\n') glyph = glyph_read(text + at); // a newline ends the text, so it reads no further
        if (used + sizeof glyph.text > sizeof visible) {
            bounded_log_put(to, visible, used);
            used = 0;
        }
        used += (size_t)(stpcpy(visible + used, glyph.text) - (visible + used));
        at += (size_t)glyph.bytes;
    }
    bounded_log_put(to, visible, used);
}

void bounded_log_close(BoundedLog *log)
{
    if (log->descriptor >= 0) (void)system_close(log->descriptor);
    log->descriptor = -1;
}
