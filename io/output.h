// Files that the user names to be written (-o).
#ifndef HOPSCOTCH_IO_OUTPUT_H
#define HOPSCOTCH_IO_OUTPUT_H

#include "../sim/sim.h"

#include <stdio.h>

// An open file. A regular file is written as PATH.RANDOM.tmp and renamed when it is complete. If PATH is a link, the
// file at its end is replaced. A device or a pipe is written directly. "-" means standard output, and so does any path
// of the file that standard output goes to.
typedef struct Output {
    FILE *stream;
    const char *path, *temporary; // path NULL: standard output; temporary NULL: not a regular file
} Output;
// Error (user): PATH is a link to a missing file. The arena must live until output_close.
Error output_open(const char *path, Arena *arena, Output *output);
bool output_takes_any_order(const char *path); // true for a file that can be sought: a regular or a missing file
// error: the first error of the caller, or none. After an error the file is removed; returns the first error.
Error output_close(Output *output, Error error);
// A new folder, which is made as PATH.RANDOM.tmp and renamed when it is complete. Error (user): PATH exists.
typedef struct OutputFolder {
    const char *path, *temporary; // files are written below `temporary`
} OutputFolder;
Error output_folder_open(const char *path, Arena *arena, OutputFolder *folder);
// As output_close: after an error the folder is removed with what it holds.
Error output_folder_close(OutputFolder *folder, Error error, Arena *arena);
// Writes a whole file. *standard: the bytes went to standard output.
Error output_write(const char *path, const void *data, size_t size, Arena *arena, bool *standard);

#endif
