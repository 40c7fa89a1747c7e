// A log that keeps its last lines and never grows beyond two files.
#ifndef HOPSCOTCH_IO_BOUNDED_LOG_H
#define HOPSCOTCH_IO_BOUNDED_LOG_H

#include "../sim/sim.h"

// A log of the last lines of something that may write without end, in two files: `path`, and `path`.1 with the lines
// before (io/bounded_log.c).
typedef struct BoundedLog {
    char path[1024];
    int64_t most, bytes; // of a file
    int descriptor;
} BoundedLog;
Error bounded_log_open(const char *path, int64_t most, BoundedLog *log);
// A TextSink, which never fails. text: lines, each ended by a newline; unsafe characters are shown by their codes.
void bounded_log_write(void *log, const char *text, size_t length);
void bounded_log_close(BoundedLog *log);

#endif
