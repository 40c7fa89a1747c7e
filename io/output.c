// A file for other programs, written piece by piece: under another name until it is whole, so that nobody takes half of
// it for all.
#include "seam.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { OUTPUT_BUFFER = 1 << 20 };

Error output_open(const char *path, Arena *arena, Output *output)
{
    *output = (Output){.stream = stdout};
    if (strcmp(path, "-") == 0) return error_none();
    output->path = arena_copy(arena, path);
    output->temporary = arena_format(arena, "%s.tmp", path);
    const int descriptor = seam_open(output->temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW);
    if (descriptor < 0) return file_error("write", output->temporary, 0);
    output->stream = fdopen(descriptor, "w+");
    if (output->stream == NULL) {
        const Error error = file_error("write", output->temporary, 0);
        (void)seam_close(descriptor);
        return error;
    }
    setvbuf(output->stream, NULL, _IOFBF, OUTPUT_BUFFER);
    return error_none();
}

static Error output_settle(Output *output)
{
    const bool broken = fflush(output->stream) != 0 || ferror(output->stream) != 0;
    if (broken) return file_error("write", output->temporary, 0);
    return seam_sync(fileno(output->stream)) == 0 ? error_none() : file_error("write", output->temporary, 0);
}

Error output_close(Output *output, Error error)
{
    if (output->path == NULL) return error;
    if (error.kind == OK) error = output_settle(output);
    const bool closed = fclose(output->stream) == 0;
    if (error.kind == OK && !closed) error = file_error("write", output->temporary, 0);
    if (error.kind == OK) error = file_rename(output->temporary, output->path);
    if (error.kind != OK && file_exists(output->temporary)) (void)file_remove(output->temporary);
    return error;
}
