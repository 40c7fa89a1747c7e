// Whole folders: what they take on the disk, and their removal. Links are counted and removed as links: nothing outside
// the folder is touched.
#include "seam.h"

#include <errno.h>
#include <string.h>

enum { FOLDER_DEPTH_MAX = 32 };

// What is done with each entry; a folder comes after what it holds.
typedef Error FolderVisit(const char *path, const struct stat *status, int64_t *bytes);

static Error folder_visit(const char *path, FolderVisit *visit, int depth, Arena *arena, int64_t *bytes)
{
    struct stat status;
    if (seam_link_stat(path, &status) < 0) return errno == ENOENT ? error_none() : file_error("look at", path, 0);
    if (S_ISDIR(status.st_mode)) {
        const size_t used = arena->used;
        char **names = NULL;
        int count = 0;
        if (depth == FOLDER_DEPTH_MAX)
            return error_make(ERROR_MACHINE, "%s lies more than %d folders deep, which is none of ours: look at it",
                              path_text(path).text, FOLDER_DEPTH_MAX);
        const Error listed = folder_list(path, arena, &names, &count);
        if (listed.kind != OK) return file_missing(path) ? error_none() : listed; // another process removes it too
        for (int i = 0; i < count; i++)
            TRY(folder_visit(arena_format(arena, "%s/%s", path, names[i]), visit, depth + 1, arena, bytes));
        arena_rewind(arena, used);
    }
    return visit(path, &status, bytes);
}

static Error folder_count(const char *path, const struct stat *status, int64_t *bytes)
{
    (void)path;
    *bytes += (int64_t)status->st_blocks * 512;
    return error_none();
}

static Error folder_drop(const char *path, const struct stat *status, int64_t *bytes)
{
    (void)bytes;
    const bool folder = S_ISDIR(status->st_mode);
    if ((folder ? seam_rmdir(path) : seam_unlink(path)) == 0 || errno == ENOENT) return error_none();
    return file_error("remove", path, 0);
}

Error folder_bytes(const char *path, Arena *arena, int64_t *bytes)
{
    *bytes = 0;
    return folder_visit(path, folder_count, 0, arena, bytes);
}

void folder_remove_empty(const char *path) { (void)seam_rmdir(path); }

Error folder_remove(const char *path, Arena *arena)
{
    int64_t unused = 0;
    return folder_visit(path, folder_drop, 0, arena, &unused);
}
