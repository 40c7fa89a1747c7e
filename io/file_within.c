// Opens files that a spec names. A spec may come from another person, and error messages show pieces of such a file. So
// the file must be a regular one in the spec's folder or below, after all links are followed.
#include "characters.h"
#include "folder.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// True if a component of the path is "..".
static bool within_leaves(const char *name)
{
    for (const char *component = name; *component != '\0'; component += strspn(component, "/")) {
        const size_t length = strcspn(component, "/");
        if (length == 2 && strncmp(component, "..", 2) == 0) return true;
        component += length;
    }
    return false;
}

// True if the open file is still the one at that path, and lies in the folder.
static bool within_is_inside(const char *folder, const char *path, const struct stat *opened)
{
    struct stat status;
    char *root = realpath(folder, NULL), *real = realpath(path, NULL);
    const size_t length = root != NULL ? strlen(root) : 0;
    const bool inside = root != NULL && real != NULL && strncmp(real, root, length) == 0 &&
                        (real[length] == '/' || strcmp(root, "/") == 0) && system_link_stat(real, &status) == 0 &&
                        status.st_dev == opened->st_dev && status.st_ino == opened->st_ino;
    free(root);
    free(real);
    return inside;
}

static Error within_check(const FileWithin *file, const char *folder, const char *shown, struct stat *status)
{
    if (fstat(file->descriptor, status) < 0)
        return error_make(ERROR_USER, "cannot read '%.200s' in the spec's folder: %s", shown, strerror(errno));
    if (!S_ISREG(status->st_mode)) return error_make(ERROR_USER, "'%.200s' is not a regular file", shown);
    if (nofollow_holds(file->path)) return error_none(); // below a results root no link was followed
    if (within_is_inside(folder, file->path, status)) return error_none();
    return error_make(ERROR_USER, "'%.200s' is a link out of the spec's folder; name a file in it or below", shown);
}

// O_NONBLOCK: the call does not wait for a pipe. A device is opened only if it was put there after the check.
Error file_open_within(const char *folder, const char *name, Arena *arena, FileWithin *file)
{
    struct stat status;
    const char *shown = text_visible(name, arena);
    const char *path = strcmp(folder, ".") == 0 ? arena_copy(arena, name) : arena_format(arena, "%s/%s", folder, name);
    *file = (FileWithin){.path = path, .descriptor = -1};
    if (name[0] == '\0' || name[0] == '/' || within_leaves(name))
        return error_make(ERROR_USER, "'%.200s' leads out of the spec's folder; name a file in it or below", shown);
    const bool there = system_stat(path, &status) == 0;
    if (there && !S_ISREG(status.st_mode)) return error_make(ERROR_USER, "'%.200s' is not a regular file", shown);
    if (there) file->descriptor = (int)TEMP_FAILURE_RETRY(system_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    if (file->descriptor < 0)
        return error_make(ERROR_USER, "cannot read '%.200s' in the spec's folder: %s", shown, strerror(errno));
    const Error error = within_check(file, folder, shown, &status);
    file->bytes = status.st_size;
    if (error.kind != OK) file_close_within(file);
    return error;
}

Error file_read_within(FileWithin *file, size_t limit, Arena *arena, Bytes *out)
{
    const int descriptor = file->descriptor;
    file->descriptor = -1;
    return file_read_from(descriptor, file->path, limit, arena, out);
}

void file_close_within(FileWithin *file)
{
    if (file->descriptor >= 0) (void)system_close(file->descriptor);
    file->descriptor = -1;
}

const char *folder_of(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return ".";
    return slash == path ? "/" : arena_format(arena, "%.*s", (int)(slash - path), path);
}

const char *folder_absolute(const char *path, Arena *arena)
{
    char *real = realpath(path, NULL);
    const char *absolute = arena_copy(arena, real != NULL ? real : path);
    free(real);
    return absolute;
}
