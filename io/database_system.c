// The system calls that SQLite makes on files, replaced by ours: below a results root no link is followed, and only
// regular files are opened.
#include "database_connection.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// SQLite's opens: only regular files, and never through a link, even if a link replaced the database or a file beside
// it. (SQLite also opens folders to sync them, and /dev/urandom once.)
static int database_open_file(const char *path, int flags, int mode)
{
    struct stat status;
    int descriptor = nofollow_open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, (mode_t)mode);
    const bool link = descriptor < 0 && errno == ELOOP; // may be followed outside of all results roots
    if (link && !nofollow_holds(path)) descriptor = nofollow_open(path, O_RDONLY | O_DIRECTORY, 0);
    if (descriptor < 0) return -1;
    const bool known = fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
    if (known || strcmp(path, "/dev/urandom") == 0) return descriptor;
    (void)close(descriptor);
    errno = ENXIO;
    return -1;
}

// SQLite's own writes, as the operation "sqlwrite": with it a test makes the disk fail in the middle of a commit.
#ifdef HOPSCOTCH_FAULTS
static ssize_t database_write_at(int descriptor, const void *data, size_t size, off64_t offset)
{
    const int fault = system_fault("sqlwrite");
    if (fault > 0) {
        errno = fault;
        return -1;
    }
    return pwrite64(descriptor, data, fault == SYSTEM_SHORT ? (size + 1) / 2 : size, offset);
}

static void database_watch_writes(sqlite3_vfs *vfs)
{
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)database_write_at);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)database_write_at);
}
#else
static inline void database_watch_writes(sqlite3_vfs *vfs) { (void)vfs; }
#endif

static int database_access_file(const char *path, int mode) { return nofollow_access(path, mode, 0); }

// SQLite would follow links to get one canonical name. The path stays as given, because it shows that the file lies
// below a results root.
static int database_full_path(sqlite3_vfs *vfs, const char *path, int size, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

const char *database_file_system(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static sqlite3_vfs ours;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (vfs == NULL) return NULL;
    pthread_mutex_lock(&lock);
    if (ours.zName == NULL) {
        ours = *vfs;
        ours.zName = "hopscotch";
        ours.xFullPathname = database_full_path;
        vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)database_open_file);
        vfs->xSetSystemCall(vfs, "access", (sqlite3_syscall_ptr)database_access_file);
        vfs->xSetSystemCall(vfs, "stat", (sqlite3_syscall_ptr)nofollow_stat);
        vfs->xSetSystemCall(vfs, "lstat", (sqlite3_syscall_ptr)nofollow_link_stat);
        vfs->xSetSystemCall(vfs, "unlink", (sqlite3_syscall_ptr)nofollow_unlink);
        database_watch_writes(vfs);
        sqlite3_vfs_register(&ours, 0);
    }
    pthread_mutex_unlock(&lock);
    return ours.zName;
}
