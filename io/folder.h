// Folders, and what lies below a folder of results. Links are not followed. Errors: as in file.h.
#ifndef HOPSCOTCH_IO_FOLDER_H
#define HOPSCOTCH_IO_FOLDER_H

#include "../sim/sim.h"

// Makes the folder and its parents, and syncs the parent.
Error folder_make(const char *path);
Error folder_add(const char *path); // its parent must exist
// Names in the folder, sorted by bytes, without "." and "..".
Error folder_list(const char *path, Arena *arena, char ***names, int *count);

// Size on the disk of a folder with its contents; removal of both. Links are not followed (io/folder.c).
Error folder_bytes(const char *path, int64_t *bytes);
void folder_remove_empty(const char *path); // does nothing if it is not empty
Error folder_remove(const char *path, Arena *arena);
Error disk_free(const char *path, int64_t *bytes);
// The file system's name if SQLite's locks or fsync can't be trusted on it (nfs, cifs, 9p, ...), else "".
const char *network_file_system(const char *path);

Error folder_check_inside(const char *path);

const char *folder_of(const char *path, Arena *arena);       // "." if the path has no folder
const char *folder_absolute(const char *path, Arena *arena); // without links; itself if it does not exist

// From now on no thread follows a link below this folder, neither in a path nor at its end. The path of the folder
// itself may hold links, and so may the path of a file that the user names to be read (file_read). Paths must begin
// with `folder` as it is given here. The folder need not exist yet.
Error nofollow_add_root(const char *folder);

#endif
