// Reads and writes files. A written file is complete or absent after a crash. Errors are ERROR_MACHINE unless a
// contract says otherwise; they name the path, the operation and the system's message. system.h says how tests make a
// call fail.
#ifndef HOPSCOTCH_IO_FILE_H
#define HOPSCOTCH_IO_FILE_H

#include "../sim/sim.h"

typedef struct Bytes {
    unsigned char *data;
    size_t size;
} Bytes;

// Writes folder/name. After a crash or a power cut the file is complete or absent: it is written as folder/name.tmp
// (short writes and EINTR handled), synced, closed with a check, renamed, and the folder is synced.
Error file_write(const char *folder, const char *name, const void *data, size_t size);
// As file_write; the contents are pieces[n_pieces], one after the other.
typedef struct FilePiece {
    const void *data;
    size_t size;
} FilePiece;
Error file_write_pieces(const char *folder, const char *name, const FilePiece *pieces, int64_t n_pieces);
// Appends `line` and a newline by a single write. The file is created if it is missing, and is not synced.
Error file_append_line(const char *path, const char *line);

// Reads the whole file and adds a NUL, which `size` does not count. Error (user) if it is larger than `limit`.
Error file_read(const char *path, size_t limit, Arena *arena, Bytes *out);
// As file_read, for a file in a campaign's folder, which may come from another person. Error also if it is not a
// regular file: a link is not followed, and a pipe is not waited for.
Error file_read_stored(const char *path, size_t limit, Arena *arena, Bytes *out);
// Opens a file like that of file_read_stored, to read ranges of it; *bytes is its size. file_close_stored closes it.
Error file_open_stored(const char *path, int *descriptor, int64_t *bytes);
// data[size] <- the bytes from `offset` on; path: for messages. Another process may make the file shorter at any time:
// a read behind its end is an error, where access to a mapping would kill the process (SIGBUS).
Error file_read_at(int descriptor, const char *path, int64_t offset, void *data, size_t size);
void file_close_stored(int descriptor);
// Error if `path` exists and is not a regular file. Links and folders are not regular files.
Error file_check_regular(const char *path);
bool file_is_link(const char *path); // false if nothing is there

Error file_rename(const char *from, const char *to); // replaces `to`; syncs both folders
Error file_remove(const char *path);                 // error if there is no such file
bool file_exists(const char *path);                  // a file, folder or device; false also if it can't be looked at
bool file_missing(const char *path);                 // nothing is there; false if a disk error or permissions hide it
Error file_size(const char *path, int64_t *bytes);   // error if it is not a regular file

// Returns the error "<what> could not be written: <message of errno>; <what to do>".
Error file_unwritten(const char *what);

// Opens the regular file `name`, given relative to `folder`, for reading. Error (user): it is not a regular file, or it
// lies outside of `folder`, by its name or through a link. The file is checked after it was opened, so that a later
// replacement is never read. file_read_within or file_close_within closes the file.
typedef struct FileWithin {
    const char *path;
    int descriptor;
    int64_t bytes; // size of the file
} FileWithin;
Error file_open_within(const char *folder, const char *name, Arena *arena, FileWithin *file);
Error file_read_within(FileWithin *file, size_t limit, Arena *arena, Bytes *out); // as file_read
void file_close_within(FileWithin *file);

#endif
