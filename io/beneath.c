// Files that a text names. A spec may come from somebody else, and what it names is shown where it is wrong; so it
// names only plain files in its own folder and below, wherever links lead.
#include "io.h"
#include "seam.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Whether a part of the path is "..".
static bool beneath_climbs(const char *name)
{
    for (const char *part = name; *part != '\0'; part += strspn(part, "/")) {
        const size_t length = strcspn(part, "/");
        if (length == 2 && strncmp(part, "..", 2) == 0) return true;
        part += length;
    }
    return false;
}

static bool beneath_is_inside(const char *folder, const char *path)
{
    char *root = realpath(folder, NULL), *place = realpath(path, NULL);
    const size_t length = root != NULL ? strlen(root) : 0;
    const bool inside = root != NULL && place != NULL && strncmp(place, root, length) == 0 &&
                        (place[length] == '/' || strcmp(root, "/") == 0);
    free(root);
    free(place);
    return inside;
}

Error file_beneath(const char *folder, const char *name, Arena *arena, const char **path)
{
    struct stat status;
    const char *shown = text_visible(name, arena);
    *path = strcmp(folder, ".") == 0 ? arena_copy(arena, name) : arena_format(arena, "%s/%s", folder, name);
    if (name[0] == '\0' || name[0] == '/' || beneath_climbs(name))
        return error_make(ERROR_USER, "'%.200s' leads out of the spec's folder; name a file in it or below", shown);
    if (seam_stat(*path, &status) < 0)
        return error_make(ERROR_USER, "cannot read '%.200s' in the spec's folder: %s", shown, strerror(errno));
    if (!S_ISREG(status.st_mode)) return error_make(ERROR_USER, "'%.200s' is no plain file", shown);
    if (!inside_holds(*path) && !beneath_is_inside(folder, *path)) // below a results root no link is followed at all
        return error_make(ERROR_USER, "'%.200s' is a link out of the spec's folder; name a file in it or below", shown);
    return error_none();
}

Error file_read_beneath(const char *path, size_t limit, Arena *arena, Bytes *out)
{
    return inside_holds(path) ? file_read_stored(path, limit, arena, out) : file_read(path, limit, arena, out);
}

const char *folder_of(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return ".";
    return slash == path ? "/" : arena_format(arena, "%.*s", (int)(slash - path), path);
}
