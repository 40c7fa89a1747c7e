// The seam between io and the system, shared by the files of io that touch files: each call below is one system call
// and nothing more, so that a test can make the n-th call of any kind fail. Include it in io/*.c only.
//
// In a build with -DHOPSCOTCH_FAULTS, HOPSCOTCH_FAULT holds rules "operation:n:what" with commas between them:
//     write:3:ENOSPC   the third write fails with that errno         write:3+:ENOSPC   and every one after it
//     write:3:SHORT    the third write takes half of its bytes       rename:1:KILL     kill -9 in place of the call
//     write:3:STOP     before the third write the process stops, until it is continued (kill -CONT)
// Operations: open read write fsync close rename unlink mkdir rmdir truncate lock stat list; sql (each open, step and
// run of SQLite), sqlwrite (each write that SQLite itself makes), slow (with an errno a query counts as one that took
// long) and rehearse (the process that reads a shard before this one does: with an errno it crashes).
#ifndef HOPSCOTCH_IO_SEAM_H
#define HOPSCOTCH_IO_SEAM_H

#include "io.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

// What becomes of this call: 0 go on, > 0 fail with that errno, SEAM_SHORT do half of it. Without the define it is a
// constant and costs nothing.
enum { SEAM_SHORT = -1 };
#ifdef HOPSCOTCH_FAULTS
int seam_fault(const char *operation);
void seam_set_faults(const char *rules); // for tests in one process: in place of the environment; "" for none
#else
static inline int seam_fault(const char *operation)
{
    (void)operation;
    return 0;
}
#endif

// As the system calls of the same name: -1 with errno.
int seam_open(const char *path, int flags);       // O_CLOEXEC is added; created files are 0666 less the umask
int seam_open_named(const char *path, int flags); // of a file that the user names, which links may lead to
ssize_t seam_read(int descriptor, void *data, size_t size);
ssize_t seam_write(int descriptor, const struct iovec *parts, int count);
int seam_truncate(int descriptor, int64_t size);
int seam_sync(int descriptor);
int seam_close(int descriptor);
int seam_rename(const char *from, const char *to);
int seam_unlink(const char *path);
int seam_mkdir(const char *path);
int seam_rmdir(const char *path);
int seam_link_stat(const char *path, struct stat *status);  // of a link itself
int seam_named_stat(const char *path, struct stat *status); // likewise, of the file that has the name, despite pins
int seam_stat(const char *path, struct stat *status);
int seam_lock(int descriptor, int command, short type, short *found); // open-file-description lock on the whole file

// ---- below a results root (io/inside.c) -----------------------------------------------------------------------------
// The calls above without their faults, which SQLite makes too (io/database_system.c). Below a folder that
// inside_add_root was given no link is followed, neither in the path nor at its end: ELOOP. Of a link itself both stats
// tell.
bool inside_holds(const char *path); // it lies below such a folder, or is one
int inside_open(const char *path, int flags, mode_t mode);
int inside_stat(const char *path, struct stat *status);
int inside_link_stat(const char *path, struct stat *status);
int inside_named_stat(const char *path, struct stat *status); // of the file that has the name, despite pins (below)
int inside_access(const char *path, int mode, int flags);     // flags: AT_EACCESS or 0
int inside_rename(const char *from, const char *to);
int inside_unlink(const char *path);
int inside_mkdir(const char *path);
int inside_rmdir(const char *path);
// What lies below the folder is reached from a descriptor of it until it is unpinned, even if it is renamed and another
// one gets its name. NULL: it lies below no root, or can't be opened.
InsidePin *inside_pin(const char *folder);
// This process gave it that name. False: it has not that name; nothing is changed.
bool inside_pin_renamed(InsidePin *pin, const char *folder);
void inside_unpin(InsidePin *pin);

// ---- messages -------------------------------------------------------------------------------------------------------

// A path as it stands in messages: a long one keeps its end, so that the words behind it are never cut off.
typedef struct PathText {
    char text[208];
} PathText;
PathText path_text(const char *path);

// "cannot <doing> <path>: <the words of errno>; <what to do>". `wanted` bytes were to be written (0: none were).
Error file_error(const char *doing, const char *path, size_t wanted);

// Whether an errno says that no more could be written: the disk or a quota is full, or files may not be larger.
bool file_no_room(int reason);
// What to do about an errno, "" where there is nothing to say.
typedef struct FileAdvice {
    char text[128];
} FileAdvice;
FileAdvice file_advice_for(int reason);

// Up to `limit` bytes of an open file, with a NUL behind them; closes it.
Error file_read_from(int descriptor, const char *path, size_t limit, Arena *arena, Bytes *out);

// A file in a folder that may come from somebody else: a link is not followed, a pipe is not waited for, and what is no
// regular file is an error. `doing`: for the message, as above.
Error file_open_regular(const char *path, int flags, const char *doing, int *descriptor);

#endif
