// A library to preload (LD_PRELOAD) into a dynamically linked program: it stands between the program, SQLite and HDF5
// on one side and the C library on the other. It makes chosen calls fail, or records what they do to the disk. Only
// calls on files under one folder count, and allocations by the code that asks for them. See crash.py.
//
//   CRASH_ROOT=/folder          the files that are watched
//   CRASH_FAULT=write:3:ENOSPC  the third write under the root fails so; `write:3+:ENOSPC`: and every later one.
//                               KILL: SIGKILL in place of the call; SHORT: half of a read or write
//       operations: open close read write fsync truncate rename unlink mkdir stat lock list space, and the allocations
//       own (this program's, libyaml's and the C library's on their behalf, its mappings too), of which `program` are
//       what its own code asks for, and `yaml`; sqlite, hdf5. Wherever they happen: `stream`, a stream into memory is
//       opened; `thread`, one is started; `fork` (KILL: the child is killed); `alarm`, which
//       then rings at once
//   CRASH_NETWORK=1             the folder lies on a network file system
//   CRASH_FIRED=/file           gets the line "operation by path" when the call has failed
//   CRASH_LOG=/file             records every change of a file under the root, every sync, and what the program said of
//                               its progress, in order (power.py reads them)
//   CRASH_CLOCK=1000            the monotonic clock runs 1000 times faster, so that progress is reported more often
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

// The next definition of the function, which this one replaces.
#define NEXT(name, type, ...)                                                                                          \
    static type (*next)(__VA_ARGS__);                                                                                  \
    if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, name)

enum { PATH_MOST = 512, DESCRIPTORS = 1024, OBJECTS = 64, SHORT_CALL = -1, KILL_CALL = -2 };

typedef enum Owner { NOBODY, PROGRAM, YAML, LIBC, SQLITE, HDF5 } Owner;
static const char *const owner_names[] = {"none", "own", "own", "own", "sqlite", "hdf5"};
static const char *const owner_codes[] = {"", "program", "yaml", "", "", ""}; // second name of some owners

static struct {
    struct {
        uintptr_t low, high;
        Owner owner;
    } object[OBJECTS];
    int objects;
    char root[PATH_MOST], operation[16];
    size_t root_length;
    long at;
    bool onward;
    int what;
    bool in_main; // code that runs before main, as the CUDA runtime's registration, does not count as the program's
    int (*main)(int, char **, char **);
    atomic_long seen;
    int log; // descriptor; -1: none
    double clock;
    char path[DESCRIPTORS][PATH_MOST]; // path of each open descriptor under the root; empty: none
    bool way[DESCRIPTORS]; // a folder opened with O_PATH on the way to a file: this open does not count as a call
    pthread_mutex_t mutex; // of the log: makes a change and its record one operation
} preload = {.log = -1, .clock = 1, .mutex = PTHREAD_MUTEX_INITIALIZER};

// ---- start ----------------------------------------------------------------------------------------------------------

static int preload_add_object(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    const char *name = info->dlpi_name;
    const Owner owner = name[0] == '\0'                     ? PROGRAM
                        : strstr(name, "libyaml") != NULL   ? YAML
                        : strstr(name, "/libc.so") != NULL  ? LIBC
                        : strstr(name, "libsqlite") != NULL ? SQLITE
                        : strstr(name, "libhdf5") != NULL   ? HDF5
                                                            : NOBODY;
    for (int i = 0; i < info->dlpi_phnum && owner != NOBODY && preload.objects < OBJECTS; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        const uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        preload.object[preload.objects].low = low;
        preload.object[preload.objects].high = low + info->dlpi_phdr[i].p_memsz;
        preload.object[preload.objects++].owner = owner;
    }
    return 0;
}

static Owner preload_owner(const void *caller)
{
    for (int i = 0; i < preload.objects; i++) {
        const uintptr_t at = (uintptr_t)caller;
        if (at >= preload.object[i].low && at < preload.object[i].high) return preload.object[i].owner;
    }
    return NOBODY;
}

static int preload_main(int count, char **arguments, char **environment)
{
    preload.in_main = true;
    return preload.main(count, arguments, environment);
}

// The C library's entry point of every program.
int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments, void (*init)(void),
                      void (*fini)(void), void (*linker_fini)(void), void *stack_end)
{
    NEXT("__libc_start_main", int, int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
         void (*)(void), void *);
    preload.main = main;
    return next(preload_main, count, arguments, init, fini, linker_fini, stack_end);
}

static void preload_parse_fault(const char *rule)
{
    static const struct {
        const char *name;
        int what;
    } outcomes[] = {{"KILL", KILL_CALL}, {"SHORT", SHORT_CALL}, {"EACCES", EACCES}, {"EAGAIN", EAGAIN},
                    {"EDQUOT", EDQUOT},  {"EINTR", EINTR},      {"EIO", EIO},       {"EMFILE", EMFILE},
                    {"ENOLCK", ENOLCK},  {"ENOMEM", ENOMEM},    {"ENOSPC", ENOSPC}, {"EROFS", EROFS}};
    char what[16], after[4] = "";
    if (sscanf(rule, "%15[a-z0-9]:%ld%3[+]:%15[A-Z]", preload.operation, &preload.at, after, what) != 4 &&
        sscanf(rule, "%15[a-z0-9]:%ld:%15[A-Z]", preload.operation, &preload.at, what) != 3)
        abort();
    preload.onward = after[0] == '+';
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        if (strcmp(outcomes[i].name, what) == 0) preload.what = outcomes[i].what;
    }
    if (preload.what == 0 || preload.at < 1) abort();
}

__attribute__((constructor)) static void preload_start(void)
{
    const char *root = getenv("CRASH_ROOT"), *fault = getenv("CRASH_FAULT"), *log = getenv("CRASH_LOG");
    const char *clock = getenv("CRASH_CLOCK");
    if (root == NULL || strncmp(program_invocation_short_name, "hopscotch", 9) != 0) return; // a worker of a run
    dl_iterate_phdr(preload_add_object, NULL);
    if (log != NULL)
        preload.log = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (clock != NULL) preload.clock = atof(clock);
    if (fault != NULL) preload_parse_fault(fault);
    preload.root_length = strlen(root);
    snprintf(preload.root, sizeof preload.root, "%s", root);
}

// ---- faults ---------------------------------------------------------------------------------------------------------

static void preload_fired(const char *operation, Owner owner, const char *path)
{
    const char *file = getenv("CRASH_FIRED");
    char line[PATH_MOST + 64];
    if (file == NULL) return;
    const int length = snprintf(line, sizeof line, "%s %s %s\n", operation, owner_names[owner], path);
    const int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)syscall(SYS_write, descriptor, line, length);
    (void)syscall(SYS_close, descriptor);
}

// Result of this call: 0: it continues; an errno; SHORT_CALL.
static int preload_fault(const char *operation, const void *caller, const char *path)
{
    if (preload.what == 0 || strcmp(operation, preload.operation) != 0) return 0;
    const long call = atomic_fetch_add(&preload.seen, 1) + 1;
    if (call != preload.at && !(preload.onward && call > preload.at)) return 0;
    if (call == preload.at) preload_fired(operation, preload_owner(caller), path);
    if (preload.what == KILL_CALL) {
        raise(SIGKILL);
        for (;;) pause();
    }
    return preload.what;
}

// True if the call fails; errno says how. A call that can't be halved fails with EIO instead of SHORT.
static bool preload_refuses(const char *operation, const void *caller, const char *path)
{
    const int fault = preload_fault(operation, caller, path);
    if (fault != 0) errno = fault == SHORT_CALL ? EIO : fault;
    return fault != 0;
}

static bool preload_watches(const char *path)
{
    return preload.root_length > 0 && path != NULL && strncmp(path, preload.root, preload.root_length) == 0;
}

static const char *preload_any_path(int descriptor)
{
    if (descriptor < 0 || descriptor >= DESCRIPTORS || preload.path[descriptor][0] == '\0') return NULL;
    return preload.path[descriptor];
}

static const char *preload_path(int descriptor)
{
    const char *path = preload_any_path(descriptor);
    return path != NULL && !preload.way[descriptor] ? path : NULL;
}

// The path of a name in a folder; it begins with the root if the folder is known to lie there.
typedef struct Path {
    char text[2 * PATH_MOST];
} Path;

static Path preload_path_at(int folder, const char *name)
{
    Path path;
    const char *before = name[0] != '/' && folder != AT_FDCWD ? preload_any_path(folder) : NULL;
    const bool itself = before != NULL && strcmp(name, ".") == 0;
    snprintf(path.text, sizeof path.text, "%s%s%s", before != NULL ? before : "", before != NULL && !itself ? "/" : "",
             itself ? "" : name);
    return path;
}

#define CALLER __builtin_return_address(0)
#define REFUSES_PATH(operation, path) (preload_watches(path) && preload_refuses(operation, CALLER, path))
#define REFUSES(operation, descriptor)                                                                                 \
    (preload_path(descriptor) != NULL && preload_refuses(operation, CALLER, preload_path(descriptor)))

// ---- the log --------------------------------------------------------------------------------------------------------

// kind: O open, C create, W write, T truncate, S sync, R rename, U unlink, M mkdir, D sync of a folder, A progress.
// Followed by `first` and `second` bytes.
typedef struct Record {
    uint32_t kind, first, second, unused;
    int64_t inode, offset;
} Record;

static void preload_lock(void)
{
    if (preload.log >= 0) pthread_mutex_lock(&preload.mutex);
}

static void preload_unlock(void)
{
    const int reason = errno;
    if (preload.log >= 0) pthread_mutex_unlock(&preload.mutex);
    errno = reason;
}

static void preload_record(char kind, int64_t inode, int64_t offset, const void *first, size_t first_size,
                           const void *second, size_t second_size)
{
    if (preload.log < 0) return;
    const int reason = errno;
    Record record = {(uint32_t)kind, (uint32_t)first_size, (uint32_t)second_size, 0, inode, offset};
    const struct iovec parts[3] = {
        {&record, sizeof record}, {(void *)(uintptr_t)first, first_size}, {(void *)(uintptr_t)second, second_size}};
    (void)syscall(SYS_writev, preload.log, parts, 3);
    errno = reason;
}

static void preload_record_paths(char kind, const char *first, const char *second)
{
    preload_record(kind, 0, 0, first, strlen(first), second, strlen(second));
}

static int64_t preload_inode(int descriptor, bool *folder)
{
    NEXT("fstat", int, int, struct stat *);
    struct stat status;
    if (next(descriptor, &status) != 0) return -1;
    if (folder != NULL) *folder = S_ISDIR(status.st_mode);
    return (int64_t)status.st_ino;
}

// ---- open and close -------------------------------------------------------------------------------------------------

static int preload_open(int at, const char *name, int flags, mode_t mode, const void *caller)
{
    NEXT("openat64", int, int, const char *, int, ...);
    const Path whole = preload_path_at(at, name);
    const char *path = whole.text;
    const bool way = (flags & O_PATH) != 0;
    if (!preload_watches(path)) return next(at, name, flags, mode);
    if (!way && preload_refuses("open", caller, path)) return -1;
    preload_lock();
    const bool there = syscall(SYS_faccessat, at, name, F_OK) == 0;
    const int descriptor = next(at, name, flags, mode);
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        snprintf(preload.path[descriptor], PATH_MOST, "%.*s", PATH_MOST - 1, path);
        preload.way[descriptor] = way;
        bool folder = false;
        const int64_t inode = preload_inode(descriptor, &folder);
        if (!folder && !way) preload_record(there ? 'O' : 'C', inode, 0, path, strlen(path), NULL, 0);
        if (there && (flags & O_TRUNC) != 0) preload_record('T', inode, 0, NULL, 0, NULL, 0);
    }
    preload_unlock();
    return descriptor;
}

static mode_t preload_mode(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        const mode_t mode = preload_mode(flags, arguments);                                                            \
        va_end(arguments);                                                                                             \
        return preload_open(AT_FDCWD, path, flags, mode, CALLER);                                                      \
    }
#define OPEN_AT(name)                                                                                                  \
    int name(int folder, const char *path, int flags, ...)                                                             \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        const mode_t mode = preload_mode(flags, arguments);                                                            \
        va_end(arguments);                                                                                             \
        return preload_open(folder, path, flags, mode, CALLER);                                                        \
    }
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

int close(int descriptor)
{
    NEXT("close", int, int);
    const bool refused = REFUSES("close", descriptor);
    const int reason = errno;
    if (preload_any_path(descriptor) != NULL) preload.path[descriptor][0] = '\0';
    const int status = next(descriptor); // the descriptor is closed even if close fails
    if (refused) errno = reason;
    return refused ? -1 : status;
}

// ---- read and write -------------------------------------------------------------------------------------------------

// Returns `size`, half of it, or -1 with errno.
static ssize_t preload_size(const char *operation, int descriptor, size_t size, const void *caller)
{
    const char *path = preload_path(descriptor);
    const int fault = path != NULL ? preload_fault(operation, caller, path) : 0;
    if (fault > 0) errno = fault;
    return fault > 0 ? -1 : fault == SHORT_CALL ? (ssize_t)(size + 1) / 2 : (ssize_t)size;
}

ssize_t read(int descriptor, void *data, size_t size)
{
    NEXT("read", ssize_t, int, void *, size_t);
    const ssize_t most = preload_size("read", descriptor, size, CALLER);
    return most < 0 ? -1 : next(descriptor, data, (size_t)most);
}

static ssize_t preload_read_at(int descriptor, void *data, size_t size, off_t offset, const void *caller)
{
    NEXT("pread64", ssize_t, int, void *, size_t, off_t);
    const ssize_t most = preload_size("read", descriptor, size, caller);
    return most < 0 ? -1 : next(descriptor, data, (size_t)most, offset);
}

ssize_t pread(int descriptor, void *data, size_t size, off_t offset)
{
    return preload_read_at(descriptor, data, size, offset, CALLER);
}

ssize_t pread64(int descriptor, void *data, size_t size, off64_t offset)
{
    return preload_read_at(descriptor, data, size, offset, CALLER);
}

// The position of a write without an offset.
static int64_t preload_position(int descriptor)
{
    NEXT("fcntl64", int, int, int, ...);
    const bool append = (next(descriptor, F_GETFL) & O_APPEND) != 0;
    return append ? (int64_t)lseek(descriptor, 0, SEEK_END) : (int64_t)lseek(descriptor, 0, SEEK_CUR);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
    NEXT("writev", ssize_t, int, const struct iovec *, int);
    if (preload_path(descriptor) == NULL) return next(descriptor, parts, count);
    const ssize_t most = preload_size("write", descriptor, parts[0].iov_len, CALLER);
    if (most < 0) return -1;
    struct iovec part = {parts[0].iov_base, (size_t)most};
    const bool whole = (size_t)most == parts[0].iov_len;
    preload_lock();
    int64_t offset = preload_position(descriptor);
    const int64_t inode = preload_inode(descriptor, NULL);
    const ssize_t written = whole ? next(descriptor, parts, count) : next(descriptor, &part, 1);
    ssize_t left = written;
    for (int i = 0; i < count && left > 0; i++) {
        const size_t size = (size_t)left < parts[i].iov_len ? (size_t)left : parts[i].iov_len;
        preload_record('W', inode, offset, parts[i].iov_base, size, NULL, 0);
        offset += (int64_t)size, left -= (ssize_t)size;
    }
    preload_unlock();
    return written;
}

ssize_t write(int descriptor, const void *data, size_t size)
{
    NEXT("write", ssize_t, int, const void *, size_t);
    if (preload_path(descriptor) == NULL) return next(descriptor, data, size);
    const ssize_t most = preload_size("write", descriptor, size, CALLER);
    if (most < 0) return -1;
    preload_lock();
    const int64_t offset = preload_position(descriptor);
    const ssize_t written = next(descriptor, data, (size_t)most);
    if (written > 0) preload_record('W', preload_inode(descriptor, NULL), offset, data, (size_t)written, NULL, 0);
    preload_unlock();
    return written;
}

static ssize_t preload_write_at(int descriptor, const void *data, size_t size, off_t offset, const void *caller)
{
    NEXT("pwrite64", ssize_t, int, const void *, size_t, off_t);
    const ssize_t most = preload_size("write", descriptor, size, caller);
    if (most < 0) return -1;
    preload_lock();
    const ssize_t written = next(descriptor, data, (size_t)most, offset);
    if (written > 0 && preload_path(descriptor) != NULL)
        preload_record('W', preload_inode(descriptor, NULL), offset, data, (size_t)written, NULL, 0);
    preload_unlock();
    return written;
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset)
{
    return preload_write_at(descriptor, data, size, offset, CALLER);
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset)
{
    return preload_write_at(descriptor, data, size, offset, CALLER);
}

static int preload_truncate(int descriptor, off_t size, const void *caller)
{
    NEXT("ftruncate64", int, int, off_t);
    const char *path = preload_path(descriptor);
    if (path != NULL && preload_refuses("truncate", caller, path)) return -1;
    preload_lock();
    const int status = next(descriptor, size);
    if (status == 0 && path != NULL) preload_record('T', preload_inode(descriptor, NULL), size, NULL, 0, NULL, 0);
    preload_unlock();
    return status;
}

int ftruncate(int descriptor, off_t size) { return preload_truncate(descriptor, size, CALLER); }

int ftruncate64(int descriptor, off64_t size) { return preload_truncate(descriptor, size, CALLER); }

static int preload_sync(int descriptor, int (*next)(int), const void *caller)
{
    const char *path = preload_path(descriptor);
    if (path != NULL && preload_refuses("fsync", caller, path)) return -1;
    preload_lock();
    const int status = next(descriptor);
    bool folder = false;
    const int64_t inode = path != NULL ? preload_inode(descriptor, &folder) : -1;
    if (status == 0 && path != NULL) preload_record(folder ? 'D' : 'S', inode, 0, path, strlen(path), NULL, 0);
    preload_unlock();
    return status;
}

int fsync(int descriptor)
{
    NEXT("fsync", int, int);
    return preload_sync(descriptor, next, CALLER);
}

int fdatasync(int descriptor)
{
    NEXT("fdatasync", int, int);
    return preload_sync(descriptor, next, CALLER);
}

// ---- names ----------------------------------------------------------------------------------------------------------

static int preload_rename(int old, const char *from, int new, const char *to, const void *caller)
{
    NEXT("renameat", int, int, const char *, int, const char *);
    const Path first = preload_path_at(old, from), second = preload_path_at(new, to);
    const bool watched = preload_watches(first.text);
    if (watched && preload_refuses("rename", caller, first.text)) return -1;
    preload_lock();
    const int status = next(old, from, new, to);
    if (status == 0 && watched) preload_record_paths('R', first.text, second.text);
    preload_unlock();
    return status;
}

int rename(const char *from, const char *to) { return preload_rename(AT_FDCWD, from, AT_FDCWD, to, CALLER); }

int renameat(int old, const char *from, int new, const char *to) { return preload_rename(old, from, new, to, CALLER); }

static int preload_unlink(int folder, const char *name, int flags, const void *caller)
{
    NEXT("unlinkat", int, int, const char *, int);
    const Path path = preload_path_at(folder, name);
    const bool watched = flags == 0 && preload_watches(path.text);
    if (watched && preload_refuses("unlink", caller, path.text)) return -1;
    preload_lock();
    const int status = next(folder, name, flags);
    if (status == 0 && watched) preload_record_paths('U', path.text, "");
    preload_unlock();
    return status;
}

int unlink(const char *path) { return preload_unlink(AT_FDCWD, path, 0, CALLER); }

int unlinkat(int folder, const char *name, int flags) { return preload_unlink(folder, name, flags, CALLER); }

static int preload_mkdir(int folder, const char *name, mode_t mode, const void *caller)
{
    NEXT("mkdirat", int, int, const char *, mode_t);
    const Path path = preload_path_at(folder, name);
    const bool watched = preload_watches(path.text);
    if (watched && preload_refuses("mkdir", caller, path.text)) return -1;
    preload_lock();
    const int status = next(folder, name, mode);
    if (status == 0 && watched) preload_record_paths('M', path.text, "");
    preload_unlock();
    return status;
}

int mkdir(const char *path, mode_t mode) { return preload_mkdir(AT_FDCWD, path, mode, CALLER); }

int mkdirat(int folder, const char *name, mode_t mode) { return preload_mkdir(folder, name, mode, CALLER); }

DIR *opendir(const char *path)
{
    NEXT("opendir", DIR *, const char *);
    return REFUSES_PATH("list", path) ? NULL : next(path);
}

DIR *fdopendir(int descriptor)
{
    NEXT("fdopendir", DIR *, int);
    return REFUSES("list", descriptor) ? NULL : next(descriptor);
}

int closedir(DIR *folder)
{
    NEXT("closedir", int, DIR *);
    const int descriptor = dirfd(folder);
    if (preload_any_path(descriptor) != NULL) preload.path[descriptor][0] = '\0';
    return next(folder);
}

// ---- properties of a file -------------------------------------------------------------------------------------------

#define STAT_BY_PATH(name, Status)                                                                                     \
    int name(const char *path, struct Status *status)                                                                  \
    {                                                                                                                  \
        NEXT(#name, int, const char *, struct Status *);                                                               \
        return REFUSES_PATH("stat", path) ? -1 : next(path, status);                                                   \
    }
#define STAT_BY_DESCRIPTOR(name, Status)                                                                               \
    int name(int descriptor, struct Status *status)                                                                    \
    {                                                                                                                  \
        NEXT(#name, int, int, struct Status *);                                                                        \
        return REFUSES("stat", descriptor) ? -1 : next(descriptor, status);                                            \
    }
#define STAT_AT(name, Status)                                                                                          \
    int name(int folder, const char *file, struct Status *status, int flags)                                           \
    {                                                                                                                  \
        NEXT(#name, int, int, const char *, struct Status *, int);                                                     \
        const Path path = preload_path_at(folder, file);                                                               \
        return REFUSES_PATH("stat", path.text) ? -1 : next(folder, file, status, flags);                               \
    }
STAT_BY_PATH(stat, stat)
STAT_BY_PATH(stat64, stat64)
STAT_BY_PATH(lstat, stat)
STAT_BY_PATH(lstat64, stat64)
STAT_BY_DESCRIPTOR(fstat, stat)
STAT_BY_DESCRIPTOR(fstat64, stat64)
STAT_AT(fstatat, stat)
STAT_AT(fstatat64, stat64)

int access(const char *path, int mode)
{
    NEXT("access", int, const char *, int);
    return REFUSES_PATH("stat", path) ? -1 : next(path, mode);
}

int faccessat(int folder, const char *name, int mode, int flags)
{
    NEXT("faccessat", int, int, const char *, int, int);
    const Path path = preload_path_at(folder, name);
    return REFUSES_PATH("stat", path.text) ? -1 : next(folder, name, mode, flags);
}

// Free space by a descriptor: the disk has CRASH_FREE bytes free.
int fstatvfs(int descriptor, struct statvfs *status)
{
    NEXT("fstatvfs", int, int, struct statvfs *);
    const char *bytes = getenv("CRASH_FREE"), *path = preload_any_path(descriptor);
    if (path != NULL && preload_refuses("space", CALLER, path)) return -1;
    const int result = next(descriptor, status);
    if (result == 0 && bytes != NULL && path != NULL) {
        status->f_frsize = 1;
        status->f_bavail = status->f_bfree = (fsblkcnt_t)atoll(bytes);
    }
    return result;
}

int fstatfs(int descriptor, struct statfs *status)
{
    NEXT("fstatfs", int, int, struct statfs *);
    const int result = next(descriptor, status);
    const bool watched = preload_any_path(descriptor) != NULL;
    if (result == 0 && getenv("CRASH_NETWORK") != NULL && watched) status->f_type = 0x6969; // NFS
    return result;
}

// A copied descriptor has the same file. The program reaches all files below a pinned folder through copies.
static void preload_copied(int descriptor, int copy)
{
    if (copy < 0 || copy >= DESCRIPTORS) return;
    const char *path = preload_any_path(descriptor);
    snprintf(preload.path[copy], sizeof preload.path[copy], "%s", path != NULL ? path : "");
    preload.way[copy] = path != NULL && preload.way[descriptor];
}

static int preload_control(int descriptor, int command, void *argument, const void *caller)
{
    NEXT("fcntl64", int, int, int, ...);
    const bool sets = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    const bool asks = command == F_GETLK || command == F_OFD_GETLK;
    const bool lock = asks || (sets && ((struct flock *)argument)->l_type != F_UNLCK); // a release of a lock can't fail
    const char *path = preload_path(descriptor);
    if (lock && path != NULL && preload_refuses("lock", caller, path)) return -1;
    const int result = next(descriptor, command, argument);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) preload_copied(descriptor, result);
    return result;
}

int fcntl(int descriptor, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return preload_control(descriptor, command, argument, CALLER);
}

int fcntl64(int descriptor, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return preload_control(descriptor, command, argument, CALLER);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

// The functions below call the C library's own entries (__libc_malloc, ...), as dlsym itself may allocate.
static bool preload_no_memory(const void *caller)
{
    if (preload.what == 0) return false;
    const Owner owner = preload_owner(caller);
    if (owner == NOBODY) return false;
    return preload_refuses(owner_names[owner], caller, "memory") ||
           (preload.in_main && preload_refuses(owner_codes[owner], caller, "memory"));
}

void *malloc(size_t size) { return preload_no_memory(CALLER) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return preload_no_memory(CALLER) ? NULL : __libc_calloc(count, size); }

void *realloc(void *old, size_t size) { return preload_no_memory(CALLER) ? NULL : __libc_realloc(old, size); }

// Defined here because the C library's strdup would allocate in its own name instead of its caller's.
char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = preload_no_memory(CALLER) ? NULL : __libc_malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

static void *preload_map(void *at, size_t size, int protection, int flags, int descriptor, off_t offset,
                         const void *caller)
{
    NEXT("mmap64", void *, void *, size_t, int, int, int, off_t);
    return preload_no_memory(caller) ? MAP_FAILED : next(at, size, protection, flags, descriptor, offset);
}

void *mmap(void *at, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    return preload_map(at, size, protection, flags, descriptor, offset, CALLER);
}

void *mmap64(void *at, size_t size, int protection, int flags, int descriptor, off64_t offset)
{
    return preload_map(at, size, protection, flags, descriptor, offset, CALLER);
}

FILE *fmemopen(void *text, size_t size, const char *mode)
{
    NEXT("fmemopen", FILE *, void *, size_t, const char *);
    return preload_refuses("stream", CALLER, "memory") ? NULL : next(text, size, mode);
}

FILE *open_memstream(char **text, size_t *size)
{
    NEXT("open_memstream", FILE *, char **, size_t *);
    return preload_refuses("stream", CALLER, "memory") ? NULL : next(text, size);
}

FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
    NEXT("fopencookie", FILE *, void *, const char *, cookie_io_functions_t);
    return preload_refuses("stream", CALLER, "memory") ? NULL : next(cookie, mode, functions);
}

// ---- threads and processes ------------------------------------------------------------------------------------------

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *data)
{
    NEXT("pthread_create", int, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return preload_refuses("thread", CALLER, "thread") ? errno : next(thread, attributes, work, data);
}

pid_t fork(void)
{
    NEXT("fork", pid_t, void);
    const bool kills = preload.what == KILL_CALL && strcmp(preload.operation, "fork") == 0;
    if (!kills && preload_refuses("fork", CALLER, "process")) return -1;
    const pid_t child = next();
    if (kills && child == 0) raise(SIGKILL);
    return child;
}

unsigned alarm(unsigned seconds)
{
    NEXT("alarm", unsigned, unsigned);
    const unsigned left = next(seconds);
    if (preload_refuses("alarm", CALLER, "clock")) raise(SIGALRM);
    return left;
}

// ---- progress -------------------------------------------------------------------------------------------------------

// A flushed stream has told the user of progress.
int fflush(FILE *stream)
{
    NEXT("fflush", int, FILE *);
    if (preload.log >= 0 && stream != NULL && stream->_IO_write_ptr > stream->_IO_write_base) {
        preload_lock();
        preload_record('A', 0, 0, stream->_IO_write_base, (size_t)(stream->_IO_write_ptr - stream->_IO_write_base),
                       NULL, 0);
        preload_unlock();
    }
    return next(stream);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    NEXT("clock_gettime", int, clockid_t, struct timespec *);
    const int status = next(clock, time);
    if (status != 0 || clock != CLOCK_MONOTONIC || preload.clock == 1) return status;
    const double seconds = preload.clock * ((double)time->tv_sec + 1e-9 * (double)time->tv_nsec);
    time->tv_sec = (time_t)seconds;
    time->tv_nsec = (long)((seconds - (double)time->tv_sec) * 1e9);
    return status;
}
