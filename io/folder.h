// Makes, lists, measures and removes folders, and protects folders of results from links. Errors are as in file.h.
#ifndef HOPSCOTCH_IO_FOLDER_H
#define HOPSCOTCH_IO_FOLDER_H

#include "../sim/sim.h"

// Both make a folder and sync its parent; no error if the folder exists. folder_make also makes missing parents.
Error folder_make(const char *path);
Error folder_add(const char *path);
// *names: [*count] names of what the folder holds, sorted by bytes, without "." and "..".
Error folder_list(const char *path, Arena *arena, char ***names, int *count);

// *bytes: size on the disk of a folder with its contents, without following links; 0 if it does not exist.
Error folder_bytes(const char *path, int64_t *bytes);
void folder_remove_empty(const char *path); // does nothing if the folder holds anything
// *path <- a new folder in $TMPDIR or /tmp that only this user can open. Error: other users could exchange it there.
Error folder_make_private(Arena *arena, const char **path);
// Removes a folder with its contents, but not what links in it point to.
Error folder_remove(const char *path, Arena *arena);
// *bytes: free space for this user on the disk of `path`, or of its nearest parent that exists.
Error disk_free(const char *path, int64_t *bytes);
// The file system's name if SQLite's locks or fsync can't be trusted on it (nfs, cifs, 9p, ...), else "".
const char *network_file_system(const char *path);

// Error (machine) if `path` exists and is not a folder. A link to a folder is not a folder.
Error folder_check_inside(const char *path);

const char *folder_of(const char *path, Arena *arena);       // the path up to its last slash; "." if it has none
const char *folder_absolute(const char *path, Arena *arena); // with links resolved; `path` if it does not exist

// From now on no thread follows a link below this folder, neither in a path nor at its end. The path of the folder
// itself may hold links, and so may the path of a file that the user names to be read (file_read). Paths must begin
// with `folder` as it is given here. The folder need not exist yet.
Error nofollow_add_root(const char *folder);
// The same in a process that lives long: if the folder was removed and created again since, the new one is meant.
Error nofollow_renew_root(const char *folder);

#endif
