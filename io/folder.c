// Whole folders: their size on the disk, and their removal. Links are counted and removed as links: nothing outside the
// folder is touched.
#include "folder.h"

#include "system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_DEPTH_MAX = 32 };

// ---- what they take -------------------------------------------------------------------------------------------------

static Error folder_too_deep(const char *path)
{
    return error_make(ERROR_MACHINE, "%s is more than %d folders deep, and hopscotch makes none so deep: look at it",
                      path_text(path).text, FOLDER_DEPTH_MAX);
}

static int64_t folder_blocks(const struct stat *status) { return (int64_t)status->st_blocks * 512; }

// Adds the bytes of the open folder's contents, and closes it; `path` is for messages. Files are reached from the
// descriptor, because `list` counts tens of thousands of them. A file that another process removes meanwhile counts 0.
static Error folder_count(int descriptor, const char *path, int depth, int64_t *bytes)
{
    DIR *folder = fdopendir(descriptor);
    if (folder == NULL) {
        const Error error = file_error("list folder", path, 0);
        (void)close(descriptor);
        return error;
    }
    Error error = depth > FOLDER_DEPTH_MAX ? folder_too_deep(path) : error_none();
    errno = 0; // readdir returns NULL at an error and at the end
    for (const struct dirent *entry; error.kind == OK && (entry = readdir(folder)) != NULL; errno = 0) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
            if (errno != ENOENT) error = file_error("look at", path, 0);
            continue;
        }
        *bytes += folder_blocks(&status);
        if (!S_ISDIR(status.st_mode)) continue;
        const int below = openat(descriptor, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
            error = folder_count(below, path, depth + 1, bytes);
        else if (errno != ENOENT)
            error = file_error("look at", path, 0);
    }
    if (error.kind == OK && errno != 0) error = file_error("list folder", path, 0);
    closedir(folder);
    return error;
}

Error folder_bytes(const char *path, int64_t *bytes)
{
    struct stat status;
    *bytes = 0;
    if (system_link_stat(path, &status) < 0) return errno == ENOENT ? error_none() : file_error("look at", path, 0);
    *bytes = folder_blocks(&status);
    if (!S_ISDIR(status.st_mode)) return error_none();
    const int descriptor = system_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (descriptor < 0) return errno == ENOENT ? error_none() : file_error("list folder", path, 0);
    return folder_count(descriptor, path, 1, bytes);
}

// ---- their removal --------------------------------------------------------------------------------------------------

static Error folder_drop(const char *path, bool folder)
{
    if ((folder ? system_rmdir(path) : system_unlink(path)) == 0 || errno == ENOENT) return error_none();
    return file_error("remove", path, 0);
}

// Removes the contents first, then the folder.
static Error folder_drop_all(const char *path, int depth, Arena *arena)
{
    struct stat status;
    if (system_link_stat(path, &status) < 0) return errno == ENOENT ? error_none() : file_error("look at", path, 0);
    if (!S_ISDIR(status.st_mode)) return folder_drop(path, false);
    const size_t used = arena->used;
    char **names = NULL;
    int count = 0;
    if (depth == FOLDER_DEPTH_MAX) return folder_too_deep(path);
    const Error listed = folder_list(path, arena, &names, &count);
    if (listed.kind != OK) return file_missing(path) ? error_none() : listed; // another process removes it too
    for (int i = 0; i < count; i++)
        TRY(folder_drop_all(arena_format(arena, "%s/%s", path, names[i]), depth + 1, arena));
    arena_rewind(arena, used);
    return folder_drop(path, true);
}

void folder_remove_empty(const char *path) { (void)system_rmdir(path); }

Error folder_remove(const char *path, Arena *arena) { return folder_drop_all(path, 0, arena); }

// ---- one of this process's own --------------------------------------------------------------------------------------

Error folder_make_private(Arena *arena, const char **path)
{
    struct stat above;
    const char *chosen = getenv("TMPDIR"), *in = chosen != NULL && chosen[0] == '/' ? chosen : "/tmp";
    char *made = arena_format(arena, "%s/hopscotch-XXXXXX", in);
    if (stat(in, &above) != 0 || ((above.st_mode & 022) != 0 && (above.st_mode & S_ISVTX) == 0))
        return error_make(ERROR_MACHINE, "%.200s is missing, or other users may exchange its files: set TMPDIR", in);
    if (system_fault("mkdir") != 0 || mkdtemp(made) == NULL) return file_error("make folder", made, 0);
    *path = made;
    return error_none();
}
