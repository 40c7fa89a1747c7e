// A file for other programs. A regular file is written under a temporary name and replaces the old file when it is
// complete, so that no reader sees a piece of it. A link stays, and the file that it leads to is replaced. A device or
// a pipe is written directly, as a shell's `>` does. Below a results root, where another person may have put them,
// links, devices and pipes are refused.
#include "output.h"

#include "folder.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { OUTPUT_BUFFER = 1 << 20, OUTPUT_TRIES = 100 };

// ---- where it goes --------------------------------------------------------------------------------------------------

// True if the path names the file of standard output: /dev/stdout, /dev/fd/1, the file after `>`.
static bool output_is_standard(const struct stat *status)
{
    struct stat standard;
    return fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == status->st_dev &&
           standard.st_ino == status->st_ino;
}

// Replaces a link by the existing file that it leads to.
static Error output_follow(const char *path, Arena *arena, const char **target)
{
    char *real = realpath(path, NULL);
    if (real == NULL) return file_error("write", path, 0);
    *target = arena_copy(arena, real);
    free(real);
    return error_none();
}

// A name beside the path, which nobody else takes; NULL: there are no random numbers.
static const char *output_name_aside(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const int folder = slash != NULL ? (int)(slash + 1 - path) : 0;
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) return NULL;
    return arena_format(arena, "%.*s%.200s.%016llx.tmp", folder, path, name, (unsigned long long)number);
}

// Makes a new file with an unused name beside the target; *descriptor: that file.
static Error output_create_aside(Output *output, Arena *arena, int *descriptor)
{
    *descriptor = -1;
    for (int tries = 0; tries < OUTPUT_TRIES; tries++) {
        output->temporary = output_name_aside(output->path, arena);
        if (output->temporary == NULL) break;
        *descriptor = system_open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
        if (*descriptor >= 0) return error_none();
        if (errno != EEXIST && errno != EINTR) break;
    }
    return file_error("write", output->path, 0);
}

static Error output_open_aside(Output *output, const struct stat *old, Arena *arena)
{
    int descriptor;
    TRY(output_create_aside(output, arena, &descriptor));
    if (old != NULL) (void)fchmod(descriptor, old->st_mode & 0777); // a file system without modes refuses
    output->stream = fdopen(descriptor, "w+");
    if (output->stream != NULL) return error_none();
    const Error error = file_error("write", output->temporary, 0);
    (void)system_close(descriptor);
    (void)system_unlink(output->temporary);
    return error;
}

// Opens a device, or a pipe, whose opening waits for a reader.
static Error output_open_into(Output *output)
{
    const int descriptor = system_open(output->path, O_WRONLY | O_NOCTTY);
    if (descriptor < 0) return file_error("write", output->path, 0);
    output->stream = fdopen(descriptor, "w");
    if (output->stream != NULL) return error_none();
    const Error error = file_error("write", output->path, 0);
    (void)system_close(descriptor);
    return error;
}

Error output_open(const char *path, Arena *arena, Output *output)
{
    struct stat status;
    *output = (Output){.stream = stdout};
    if (strcmp(path, "-") == 0) return error_none();
    const bool inside = nofollow_holds(path);
    if (inside) TRY(file_check_regular(path)); // no user put pipes or links there
    const bool there = system_stat(path, &status) == 0;
    if (!there && system_link_stat(path, &status) == 0)
        return error_make(ERROR_USER, "%s is a link to a missing file: remove the link, or make that file",
                          path_text(path).text);
    if (there && output_is_standard(&status)) return error_none();
    output->path = arena_copy(arena, path);
    if (there && S_ISREG(status.st_mode) && !inside) TRY(output_follow(path, arena, &output->path));
    TRY(there && !S_ISREG(status.st_mode) && !inside ? output_open_into(output)
                                                     : output_open_aside(output, there ? &status : NULL, arena));
    setvbuf(output->stream, NULL, _IOFBF, OUTPUT_BUFFER);
    return error_none();
}

bool output_takes_any_order(const char *path)
{
    struct stat status;
    if (strcmp(path, "-") == 0) return false;
    return system_stat(path, &status) != 0 || (S_ISREG(status.st_mode) && !output_is_standard(&status));
}

// ---- its end --------------------------------------------------------------------------------------------------------

static Error output_settle(Output *output, const char *path)
{
    const bool broken = fflush(output->stream) != 0 || ferror(output->stream) != 0;
    if (broken) return file_error("write", path, 0);
    if (output->temporary == NULL) return error_none(); // a pipe can't be synced
    return system_sync(fileno(output->stream)) == 0 ? error_none() : file_error("write", path, 0);
}

Error output_close(Output *output, Error error)
{
    if (output->path == NULL) return error;
    const bool regular = output->temporary != NULL;
    const char *path = regular ? output->temporary : output->path;
    if (error.kind == OK) error = output_settle(output, path);
    const bool closed = fclose(output->stream) == 0;
    if (error.kind == OK && !closed) error = file_error("write", path, 0);
    if (error.kind == OK && regular) error = file_rename(path, output->path);
    if (error.kind != OK && regular && file_exists(path)) (void)file_remove(path);
    return error;
}

Error output_write(const char *path, const void *data, size_t size, Arena *arena, bool *standard)
{
    Output output;
    TRY(output_open(path, arena, &output));
    *standard = output.path == NULL;
    const bool written = fwrite(data, 1, size, output.stream) == size;
    return output_close(&output, written ? error_none() : file_error("write", path, size));
}

// ---- folders --------------------------------------------------------------------------------------------------------

static Error output_folder_check(const char *path)
{
    if (file_missing(path) && !file_is_link(path)) return error_none();
    return error_make(ERROR_USER, "%s exists: remove it, or name another folder", path_text(path).text);
}

Error output_folder_open(const char *path, Arena *arena, OutputFolder *folder)
{
    char *plain = arena_copy(arena, path);
    for (size_t n = strlen(plain); n > 1 && plain[n - 1] == '/'; n--) plain[n - 1] = '\0';
    *folder = (OutputFolder){.path = plain, .temporary = output_name_aside(plain, arena)};
    TRY(output_folder_check(plain));
    return folder->temporary != NULL ? folder_add(folder->temporary) : file_error("write", plain, 0);
}

Error output_folder_close(OutputFolder *folder, Error error, Arena *arena)
{
    if (error.kind == OK) error = output_folder_check(folder->path);
    if (error.kind == OK) error = file_rename(folder->temporary, folder->path);
    if (error.kind != OK) (void)folder_remove(folder->temporary, arena);
    return error;
}
