// Calls rsvg-convert. Its input and its outputs are files in memory, so that no pipe can fill.
#include "picture.h"

#include "characters.h"
#include "text.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static const char *const picture_words[] = {[PICTURE_SVG] = "svg", [PICTURE_PDF] = "pdf", [PICTURE_PNG] = "png"};

PictureFormat picture_format(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot != NULL && strcasecmp(dot + 1, "pdf") == 0) return PICTURE_PDF;
    if (dot != NULL && strcasecmp(dot + 1, "png") == 0) return PICTURE_PNG;
    return PICTURE_SVG;
}

// ---- the process ----------------------------------------------------------------------------------------------------

enum { PICTURE_IN, PICTURE_OUT, PICTURE_ERRORS, PICTURE_FILES };

extern char **environ;

// Returns 0 or an errno; *status: how the process ended.
static int picture_call(char *const *words, const int *file, int *status)
{
    pid_t process = 0;
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
    int failed = 0;
    for (int i = 0; i < PICTURE_FILES && failed == 0; i++)
        failed = posix_spawn_file_actions_adddup2(&files, file[i], i); // 0, 1 and 2
    if (failed == 0) failed = posix_spawnp(&process, words[0], &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    while (failed == 0 && waitpid(process, status, 0) < 0) {
        if (errno != EINTR) failed = errno;
    }
    return failed;
}

static Error picture_no_room(int why)
{
    return error_make(ERROR_MACHINE, "cannot keep the picture in memory: %s", strerror(why));
}

static Error picture_read(int file, char **data, size_t *bytes)
{
    struct stat status;
    if (fstat(file, &status) != 0) return picture_no_room(errno);
    *bytes = (size_t)status.st_size;
    *data = malloc(*bytes + 1);
    if (*data == NULL) return picture_no_room(ENOMEM);
    for (size_t at = 0; at < *bytes;) {
        const ssize_t got = pread(file, *data + at, *bytes - at, (off_t)at);
        if (got <= 0) return picture_no_room(errno);
        at += (size_t)got;
    }
    (*data)[*bytes] = '\0';
    return error_none();
}

static Error picture_missing(PictureFormat format)
{
    return error_make(ERROR_USER,
                      "%s is written by rsvg-convert, which is not installed: install librsvg2-bin (Debian, Ubuntu), "
                      "librsvg2-tools (Fedora) or librsvg (Arch, conda), or name a file that ends in .svg",
                      format == PICTURE_PDF ? "PDF" : "PNG");
}

// What the program said, when it failed or wrote nothing.
static Error picture_refused(int errors, int status, Arena *arena)
{
    char *said = NULL;
    size_t bytes = 0;
    Error error = picture_read(errors, &said, &bytes);
    if (error.kind == OK && WIFSIGNALED(status))
        error = error_make(ERROR_MACHINE, "rsvg-convert was ended by signal %d", WTERMSIG(status));
    if (error.kind == OK)
        error = error_make(ERROR_MACHINE, "rsvg-convert cannot convert the picture: %.300s",
                           bytes > 0 ? text_visible(said, arena) : "it wrote nothing");
    free(said);
    return error;
}

static Error picture_write(int file, const char *svg, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t written = pwrite(file, svg + at, size - at, (off_t)at);
        if (written <= 0) return picture_no_room(errno);
        at += (size_t)written;
    }
    return error_none();
}

static Error picture_run(const int *file, const char *svg, size_t size, PictureFormat format, int dpi, Arena *arena)
{
    int status = 0;
    char *const density = arena_format(arena, "%d", format == PICTURE_PNG ? dpi : 72); // PDF: one pixel is one point
    char program[] = "rsvg-convert", *const word = arena_copy(arena, picture_words[format]);
    char of_format[] = "-f", of_x[] = "-d", of_y[] = "-p", unlimited[] = "-u";
    char *const words[] = {program, of_format, word, of_x, density, of_y, density, unlimited, NULL};
    TRY(picture_write(file[PICTURE_IN], svg, size));
    const int failed = picture_call(words, file, &status);
    struct stat written = {0};
    if (failed == ENOENT || (failed == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return picture_missing(format);
    if (failed != 0) return error_make(ERROR_MACHINE, "rsvg-convert cannot be called: %s", strerror(failed));
    const bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ok || fstat(file[PICTURE_OUT], &written) != 0 || written.st_size == 0)
        return picture_refused(file[PICTURE_ERRORS], status, arena);
    return error_none();
}

// ---- the density of a PNG -------------------------------------------------------------------------------------------
// PNG specification (ISO/IEC 15948), 11.3.5.3: pHYs has the pixels per metre along x and y, and 1 for metres. It stands
// before the pixels, here after the first chunk, IHDR, which ends at byte 33.

enum { PICTURE_HEADER = 33, PICTURE_PHYS = 21 };

static void picture_put32(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static Error picture_note_density(int dpi, char **data, size_t *bytes)
{
    unsigned char chunk[PICTURE_PHYS] = {0, 0, 0, 9, 'p', 'H', 'Y', 's'};
    const uint32_t per_metre = (uint32_t)(dpi / 0.0254 + 0.5);
    if (*bytes < PICTURE_HEADER || memcmp(*data + 1, "PNG", 3) != 0)
        return error_make(ERROR_MACHINE, "rsvg-convert cannot convert the picture: what it wrote is not a PNG");
    picture_put32(chunk + 8, per_metre);
    picture_put32(chunk + 12, per_metre);
    chunk[16] = 1;
    picture_put32(chunk + 17, (uint32_t)crc32(0, chunk + 4, 13));
    char *longer = realloc(*data, *bytes + PICTURE_PHYS + 1);
    if (longer == NULL) return picture_no_room(ENOMEM);
    memmove(longer + PICTURE_HEADER + PICTURE_PHYS, longer + PICTURE_HEADER, *bytes - PICTURE_HEADER);
    memcpy(longer + PICTURE_HEADER, chunk, PICTURE_PHYS);
    *data = longer;
    *bytes += PICTURE_PHYS;
    return error_none();
}

Error picture_convert(const char *svg, size_t size, PictureFormat format, int dpi, Arena *arena, char **data,
                      size_t *bytes)
{
    static const char *const names[PICTURE_FILES] = {"svg", "picture", "errors"};
    int file[PICTURE_FILES];
    *data = NULL;
    *bytes = 0;
    Error error = error_none();
    for (int i = 0; i < PICTURE_FILES; i++) {
        file[i] = memfd_create(names[i], MFD_CLOEXEC);
        if (file[i] < 0) error = picture_no_room(errno);
    }
    if (error.kind == OK) error = picture_run(file, svg, size, format, dpi, arena);
    if (error.kind == OK) error = picture_read(file[PICTURE_OUT], data, bytes);
    if (error.kind == OK && format == PICTURE_PNG) error = picture_note_density(dpi, data, bytes);
    for (int i = 0; i < PICTURE_FILES; i++) {
        if (file[i] >= 0) (void)close(file[i]);
    }
    if (error.kind == OK) return error;
    free(*data);
    *data = NULL;
    return error;
}
