// The system calls on files, for the files of io only. Each function below makes one system call, and a test can make
// the n-th call of any kind fail.
//
// In a build with -DHOPSCOTCH_FAULTS, HOPSCOTCH_FAULT holds rules "operation:n:what", separated by commas:
//     write:3:ENOSPC   the third write fails with that errno         write:3+:ENOSPC   and every later one too
//     write:3:SHORT    the third write takes half of its bytes       rename:1:KILL     kill -9 instead of the call
//     write:3:STOP     before the third write the process stops, until it is continued (kill -CONT)
// Operations: open read write fsync close rename unlink mkdir rmdir truncate lock stat list; sql (each open, step and
// run of SQLite, and each row that it takes from a table in memory), sqlwrite (each write that SQLite itself makes),
// slow (with an errno a query counts as one that took long) and rehearse (the process that reads a shard before this
// one does: with an errno it crashes).
#ifndef HOPSCOTCH_IO_SYSTEM_H
#define HOPSCOTCH_IO_SYSTEM_H

#include "file.h"
#include "lock.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

// What a test wants of this call: 0: make it; > 0: fail with that errno; SYSTEM_SHORT: do half of it. In a build
// without HOPSCOTCH_FAULTS always 0, at no cost.
enum { SYSTEM_SHORT = -1 };
#ifdef HOPSCOTCH_FAULTS
int system_fault(const char *operation);
void system_set_faults(const char *rules); // for unit tests: replaces the environment's rules; "" for none
#else
static inline int system_fault(const char *operation)
{
    (void)operation;
    return 0;
}
#endif

// Like the system calls of the same name: -1 with errno.
int system_open(const char *path, int flags);       // O_CLOEXEC is added; created files are 0666 less the umask
int system_open_named(const char *path, int flags); // a file that the user names: links are followed
ssize_t system_read(int descriptor, void *data, size_t size);
ssize_t system_read_at(int descriptor, void *data, size_t size, int64_t offset); // pread; faults: read
ssize_t system_write(int descriptor, const struct iovec *pieces, int count);
ssize_t system_write_at(int descriptor, const void *data, size_t size, int64_t offset); // pwrite; faults: write
int system_truncate(int descriptor, int64_t size);
int system_sync(int descriptor);
int system_close(int descriptor);
int system_rename(const char *from, const char *to);
int system_unlink(const char *path);
int system_mkdir(const char *path);
int system_rmdir(const char *path);
int system_link_stat(const char *path, struct stat *status);  // of a link itself
int system_named_stat(const char *path, struct stat *status); // of a link itself; pins are ignored
int system_stat(const char *path, struct stat *status);
DIR *system_list(const char *path);                                     // like opendir
int system_lock(int descriptor, int command, short type, short *found); // open-file-description lock on the whole file

// ---- below a results root (io/nofollow.c) ---------------------------------------------------------------------------
// The calls above without faults. SQLite makes them too (io/database_system.c). Below a folder that nofollow_add_root
// was given, no link is followed, neither in the path nor at its end: the call fails with ELOOP. For a link, both stats
// return the link itself.
bool nofollow_holds(const char *path); // the path lies below such a folder, or is one
int nofollow_open(const char *path, int flags, mode_t mode);
int nofollow_stat(const char *path, struct stat *status);
int nofollow_link_stat(const char *path, struct stat *status);
int nofollow_named_stat(const char *path, struct stat *status); // of the file that has the name now (pins are ignored)
int nofollow_access(const char *path, int mode, int flags);     // flags: AT_EACCESS or 0
int nofollow_rename(const char *from, const char *to);
int nofollow_unlink(const char *path);
int nofollow_mkdir(const char *path);
int nofollow_rmdir(const char *path);
// Until nofollow_unpin, paths below the folder are resolved from its descriptor, so they lead into the same folder even
// if it is renamed and another folder gets its name. NULL: the folder is not below a root, or can't be opened.
FolderPin *nofollow_pin(const char *folder);
// Call this after this process has renamed the pinned folder. False, without effect: `folder` names another folder.
bool nofollow_pin_renamed(FolderPin *pin, const char *folder);
void nofollow_unpin(FolderPin *pin);

// ---- messages -------------------------------------------------------------------------------------------------------

// A path for messages: a long one is cut at its start, so that the rest of the message fits.
typedef struct PathText {
    char text[208];
} PathText;
PathText path_text(const char *path);

// "cannot <doing> <path>: <the words of errno>; <what to do>". `wanted`: bytes that were to be written, or 0.
Error file_error(const char *doing, const char *path, size_t wanted);

// True if the errno means that no more can be written: the disk or a quota is full, or a file may not grow.
bool file_no_room(int reason);
// What to do about an errno; "" if there is no advice.
typedef struct FileAdvice {
    char text[128];
} FileAdvice;
FileAdvice file_advice_for(int reason);

// Reads up to `limit` bytes of an open file, adds a NUL, and closes it.
Error file_read_from(int descriptor, const char *path, size_t limit, Arena *arena, Bytes *out);

// Opens a file in a folder that may come from another person. Error if it is not a regular file; a link is not
// followed, and a pipe is not waited for. `doing`: for the message, as above.
Error file_open_regular(const char *path, int flags, const char *doing, int *descriptor);

#endif
