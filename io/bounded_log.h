// A log whose size is bounded: it drops its oldest lines. For the output of programs that may write without end.
#ifndef HOPSCOTCH_IO_BOUNDED_LOG_H
#define HOPSCOTCH_IO_BOUNDED_LOG_H

#include "../sim/sim.h"

// Two files: `path` with the last lines, and `path`.1 with the lines before.
typedef struct BoundedLog {
    char path[1024];
    int64_t most, bytes; // limit of a file, and the size of `path`
    int descriptor;      // -1: closed
} BoundedLog;
// Opens `path` to append lines. most: bytes of a file. Error if it is not a regular file.
Error bounded_log_open(const char *path, int64_t most, BoundedLog *log);
// The function of a TextSink (sim/sim.h). text: lines, each ended by a newline; unsafe characters are written as codes.
// After a failed write the log is closed, and further lines are dropped.
void bounded_log_write(void *log, const char *text, size_t length);
void bounded_log_close(BoundedLog *log);

#endif
