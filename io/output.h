// Files that the user asked for by name, written piece by piece.
#ifndef HOPSCOTCH_IO_OUTPUT_H
#define HOPSCOTCH_IO_OUTPUT_H

#include "../sim/sim.h"

#include <stdio.h>

// A file written piece by piece. A regular file is written as PATH.RANDOM.tmp and renamed when it is complete. For a
// link, the file that it leads to is replaced. A device or a pipe is written directly. "-", and any path of the file
// that standard output is, mean standard output.
typedef struct Output {
    FILE *stream;
    const char *path, *temporary; // path NULL: standard output; temporary NULL: not a regular file
} Output;
Error output_open(const char *path, Arena *arena, Output *output);
bool output_takes_any_order(const char *path);   // it is, or will be, a regular file
Error output_close(Output *output, Error error); // after an error the file is removed, and that error is returned
// Writes all bytes at once. *standard: they went to standard output.
Error output_write(const char *path, const void *data, size_t size, Arena *arena, bool *standard);

#endif
