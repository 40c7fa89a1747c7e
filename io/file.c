// Operations on files (io.h), built on the system calls of system.h. Each leaves the disk consistent, whichever call
// fails and whenever the power goes.
#include "file.h"

#include "folder.h"
#include "system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

// ---- messages -------------------------------------------------------------------------------------------------------

PathText path_text(const char *path)
{
    PathText out;
    const size_t length = strlen(path), most = sizeof out.text - 1;
    if (length <= most)
        memcpy(out.text, path, length + 1);
    else
        snprintf(out.text, sizeof out.text, "...%s", path + length - (most - 3));
    return out;
}

static const struct {
    int reason;
    const char *advice;
} file_advice[] = {
    {ENOSPC, "free some space, then resume"},
    {EDQUOT, "your quota on this disk is used up: free some space, then resume"},
    {EACCES, "check the permissions of the file and of its folder"},
    {ELOOP, "it, or a folder of its path, is a link: put the file or the folder itself in its place"},
    {EROFS, "this disk can't be written: choose another folder with --results"},
    {EIO, "the disk failed: look at dmesg before you resume; what was committed is safe"},
    {EMFILE, "too many files are open: raise `ulimit -n`"},
    {ENFILE, "the machine has too many open files"},
    {ENAMETOOLONG, "choose a shorter name"},
    {EFBIG, "this disk can't hold a file of that size: choose another folder with --results"},
    {ENOTDIR, "a folder of the path is a file"},
    {ENOTEMPTY, "another process put something there meanwhile"},
};

bool file_no_room(int reason) { return reason == ENOSPC || reason == EDQUOT || reason == EFBIG; }

FileAdvice file_advice_for(int reason)
{
    FileAdvice advice = {""};
    struct rlimit limit;
    for (size_t i = 0; i < sizeof file_advice / sizeof *file_advice; i++) {
        if (file_advice[i].reason == reason) snprintf(advice.text, sizeof advice.text, "%s", file_advice[i].advice);
    }
    if (reason == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(advice.text, sizeof advice.text,
                 "files are limited to %llu bytes (ulimit -f): raise that limit, then resume",
                 (unsigned long long)limit.rlim_cur);
    return advice;
}

Error file_error(const char *doing, const char *path, size_t wanted)
{
    const int reason = errno;
    const FileAdvice advice = file_advice_for(reason);
    char space[96] = "";
    int64_t bytes = 0;
    if (wanted > 0 && (reason == ENOSPC || reason == EDQUOT) && disk_free(path, &bytes).kind == OK)
        snprintf(space, sizeof space, " (%zu bytes wanted, %lld bytes free)", wanted, (long long)bytes);
    return error_make(ERROR_MACHINE, "cannot %s %s: %s%s%s%s", doing, path_text(path).text, strerror(reason), space,
                      advice.text[0] != '\0' ? "; " : "", advice.text);
}

Error file_unwritten(const char *what)
{
    const int reason = errno;
    const FileAdvice advice = file_advice_for(reason);
    return error_make(ERROR_MACHINE, "%s could not be written: %s%s%s", what, strerror(reason),
                      advice.text[0] != '\0' ? "; " : "", advice.text);
}

// ---- steps ----------------------------------------------------------------------------------------------------------

typedef struct FilePath {
    char text[PATH_MAX];
} FilePath;

static Error file_join(const char *folder, const char *name, const char *suffix, FilePath *out)
{
    const int length = snprintf(out->text, sizeof out->text, "%s/%s%s", folder, name, suffix);
    if (length >= 0 && (size_t)length < sizeof out->text) return error_none();
    errno = ENAMETOOLONG;
    return file_error("use", folder, 0);
}

// "a/b/c" -> "a/b", "c" -> ".", "/c" -> "/"; trailing slashes are ignored
static FilePath file_parent(const char *path)
{
    FilePath parent;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    while (length > 0 && path[length - 1] != '/') length--;
    while (length > 1 && path[length - 1] == '/') length--;
    if (length == 0 || length >= sizeof parent.text) return (FilePath){"."};
    memcpy(parent.text, path, length);
    parent.text[length] = '\0';
    return parent;
}

// What is left to write: piece `at` from byte `done` of it, and the pieces behind it.
typedef struct FileLeft {
    const FilePiece *pieces;
    int64_t n_pieces, at;
    size_t done;
} FileLeft;

static void file_advance(FileLeft *left, size_t written)
{
    left->done += written;
    while (left->at < left->n_pieces && left->done >= left->pieces[left->at].size) {
        left->done -= left->pieces[left->at].size;
        left->at++;
    }
}

// The first of them for one system call; returns their number.
static int file_gather(const FileLeft *left, struct iovec *out, int most)
{
    int count = 0;
    for (int64_t i = left->at; i < left->n_pieces && count < most; i++, count++) {
        const size_t done = i == left->at ? left->done : 0;
        out[count] = (struct iovec){(char *)(uintptr_t)left->pieces[i].data + done, left->pieces[i].size - done};
    }
    return count;
}

static Error file_put_pieces(int descriptor, const char *path, const FilePiece *pieces, int64_t n_pieces)
{
    enum { FILE_PIECES = 256 }; // of one system call
    struct iovec out[FILE_PIECES];
    FileLeft left = {.pieces = pieces, .n_pieces = n_pieces};
    size_t size = 0;
    for (int64_t i = 0; i < n_pieces; i++) size += pieces[i].size;
    file_advance(&left, 0); // over empty pieces
    while (left.at < n_pieces) {
        const int count = file_gather(&left, out, FILE_PIECES);
        const ssize_t written = system_write(descriptor, out, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return file_error("write", path, size);
        file_advance(&left, (size_t)written);
    }
    return error_none();
}

static Error file_put(int descriptor, const char *path, const void *data, size_t size)
{
    return file_put_pieces(descriptor, path, &(FilePiece){data, size}, 1);
}

// After a failed fsync the kernel has dropped the pages and marked them clean, so a second fsync would succeed without
// the data. Only EINTR, which comes before the kernel tried anything, is tried again. (Rebello et al., "Can
// applications recover from fsync failures?", USENIX ATC 2020.)
static Error file_sync(int descriptor, const char *path)
{
    int status;
    do {
        status = system_sync(descriptor);
    } while (status < 0 && errno == EINTR);
    return status < 0 ? file_error("sync", path, 0) : error_none();
}

// On Linux close always releases the descriptor. EINTR loses nothing, because the data was synced before.
static Error file_close(int descriptor, const char *path)
{
    return system_close(descriptor) < 0 && errno != EINTR ? file_error("close", path, 0) : error_none();
}

// Syncs a folder, so that names added to it or removed survive a power cut. File systems that cannot do it return
// EINVAL.
static Error folder_sync(const char *path)
{
    const int descriptor = (int)TEMP_FAILURE_RETRY(system_open(path, O_RDONLY | O_DIRECTORY));
    int status;
    if (descriptor < 0) return file_error("open folder", path, 0);
    do {
        status = system_sync(descriptor);
    } while (status < 0 && errno == EINTR);
    const Error error = status < 0 && errno != EINVAL ? file_error("sync folder", path, 0) : error_none();
    const Error closed = file_close(descriptor, path);
    return error.kind != OK ? error : closed;
}

// ---- what a file is -------------------------------------------------------------------------------------------------

static const char *file_kind(mode_t mode)
{
    static const struct {
        mode_t type;
        const char *name;
    } kinds[] = {{S_IFDIR, "folder"},  {S_IFIFO, "pipe"},   {S_IFLNK, "link"},
                 {S_IFSOCK, "socket"}, {S_IFCHR, "device"}, {S_IFBLK, "device"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if ((mode & S_IFMT) == kinds[i].type) return kinds[i].name;
    }
    return NULL;
}

static Error file_is_kind(const struct stat *status, const char *path)
{
    const char *kind = file_kind(status->st_mode);
    if (kind == NULL) return error_none();
    return error_make(ERROR_MACHINE, "%s is a %s, not a regular file: look at it, and move it away",
                      path_text(path).text, kind);
}

static Error file_require_regular(int descriptor, const char *path)
{
    struct stat status;
    if (fstat(descriptor, &status) < 0) return file_error("look at", path, 0);
    return file_is_kind(&status, path);
}

Error file_open_regular(const char *path, int flags, const char *doing, int *descriptor)
{
    *descriptor = (int)TEMP_FAILURE_RETRY(system_open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (*descriptor < 0) {
        const Error error = file_error(doing, path, 0), kind = file_check_regular(path);
        return kind.kind != OK ? kind : error;
    }
    const Error error = file_require_regular(*descriptor, path);
    if (error.kind == OK) return error;
    (void)system_close(*descriptor);
    *descriptor = -1;
    return error;
}

Error file_check_regular(const char *path)
{
    struct stat status;
    if (system_link_stat(path, &status) < 0)
        return errno == ENOENT || errno == ENOTDIR ? error_none() : file_error("look at", path, 0);
    return file_is_kind(&status, path);
}

bool file_is_link(const char *path)
{
    struct stat status;
    return system_link_stat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

Error folder_check_inside(const char *path)
{
    struct stat status;
    if (system_link_stat(path, &status) < 0)
        return errno == ENOENT || errno == ENOTDIR ? error_none() : file_error("look at", path, 0);
    if (S_ISDIR(status.st_mode)) return error_none();
    const char *kind = file_kind(status.st_mode);
    return error_make(ERROR_MACHINE, "%s is a %s, not a folder: look at it, and move it away", path_text(path).text,
                      kind != NULL ? kind : "file");
}

// ---- writing --------------------------------------------------------------------------------------------------------

// Makes a new file with these bytes; it is on the disk at return
static Error file_create(const char *path, const FilePiece *pieces, int64_t n_pieces)
{
    int descriptor;
    TRY(file_open_regular(path, O_WRONLY | O_CREAT | O_TRUNC, "create", &descriptor));
    Error error = file_put_pieces(descriptor, path, pieces, n_pieces);
    if (error.kind == OK) error = file_sync(descriptor, path);
    const Error closed = file_close(descriptor, path);
    return error.kind != OK ? error : closed;
}

Error file_write_pieces(const char *folder, const char *name, const FilePiece *pieces, int64_t n_pieces)
{
    FilePath temporary, path;
    TRY(file_join(folder, name, ".tmp", &temporary));
    TRY(file_join(folder, name, "", &path));
    Error error = file_create(temporary.text, pieces, n_pieces);
    if (error.kind == OK && system_rename(temporary.text, path.text) < 0)
        error = file_error("rename", temporary.text, 0);
    if (error.kind != OK) {
        (void)system_unlink(temporary.text); // report the first error; recovery removes the rest
        return error;
    }
    return folder_sync(folder);
}

Error file_write(const char *folder, const char *name, const void *data, size_t size)
{
    return file_write_pieces(folder, name, &(FilePiece){data, size}, 1);
}

Error file_append_line(const char *path, const char *line)
{
    int descriptor;
    TRY(file_open_regular(path, O_WRONLY | O_CREAT | O_APPEND, "open", &descriptor));
    const size_t length = strlen(line);
    const struct iovec pieces[2] = {{(void *)(uintptr_t)line, length}, {(void *)(uintptr_t) "\n", 1}};
    ssize_t written;
    do {
        written = system_write(descriptor, pieces, 2);
    } while (written < 0 && errno == EINTR);
    Error error = error_none();
    if (written < 0) error = file_error("append to", path, length + 1);
    if (written >= 0 && (size_t)written < length)
        error = file_put(descriptor, path, line + written, length - (size_t)written);
    if (error.kind == OK && (size_t)written <= length) error = file_put(descriptor, path, "\n", 1);
    const Error closed = file_close(descriptor, path);
    return error.kind != OK ? error : closed;
}

Error file_rename(const char *from, const char *to)
{
    if (system_rename(from, to) < 0) return file_error("rename", from, 0);
    const FilePath source = file_parent(from), target = file_parent(to);
    TRY(folder_sync(target.text)); // before the other folder: after a crash the file has both names rather than none
    return strcmp(source.text, target.text) == 0 ? error_none() : folder_sync(source.text);
}

Error file_remove(const char *path) { return system_unlink(path) < 0 ? file_error("remove", path, 0) : error_none(); }

// ---- reading --------------------------------------------------------------------------------------------------------

// Reads up to `size` bytes; fewer only at the end of the file
static Error file_get(int descriptor, const char *path, unsigned char *data, size_t size, size_t *got)
{
    for (*got = 0; *got < size;) {
        const ssize_t count = system_read(descriptor, data + *got, size - *got);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return file_error("read", path, 0);
        if (count == 0) break;
        *got += (size_t)count;
    }
    return error_none();
}

// How much to read: a regular file's size; for pipes and files of /proc, which give no size, one more than the limit
static Error file_extent(int descriptor, const char *path, size_t limit, size_t *extent)
{
    struct stat status;
    if (fstat(descriptor, &status) < 0) return file_error("read", path, 0);
    const bool sized = S_ISREG(status.st_mode) && status.st_size > 0;
    *extent = sized && (uint64_t)status.st_size <= limit ? (size_t)status.st_size : limit + 1;
    return error_none();
}

// Closes the descriptor.
Error file_read_from(int descriptor, const char *path, size_t limit, Arena *arena, Bytes *out)
{
    const size_t used = arena->used;
    size_t extent = 0, size = 0;
    unsigned char *data = NULL;
    Error error = file_extent(descriptor, path, limit, &extent);
    if (error.kind == OK) {
        data = arena_take(arena, extent + 1, 1);
        error = file_get(descriptor, path, data, extent, &size);
    }
    (void)file_close(descriptor, path); // nothing was written that a failed close could lose
    if (error.kind == OK && size > limit)
        error =
            error_make(ERROR_USER, "%s is larger than %zu bytes, the limit for this file", path_text(path).text, limit);
    if (error.kind != OK) {
        arena_rewind(arena, used);
        return error;
    }
    data[size] = '\0';
    *out = (Bytes){.data = data, .size = size};
    return error_none();
}

Error file_read(const char *path, size_t limit, Arena *arena, Bytes *out)
{
    const int descriptor = (int)TEMP_FAILURE_RETRY(system_open_named(path, O_RDONLY));
    if (descriptor < 0) return file_error("open", path, 0);
    return file_read_from(descriptor, path, limit, arena, out);
}

Error file_read_stored(const char *path, size_t limit, Arena *arena, Bytes *out)
{
    int descriptor;
    TRY(file_open_regular(path, O_RDONLY, "open", &descriptor));
    return file_read_from(descriptor, path, limit, arena, out);
}

Error file_open_stored(const char *path, int *descriptor, int64_t *bytes)
{
    struct stat status;
    TRY(file_open_regular(path, O_RDONLY, "open", descriptor));
    if (fstat(*descriptor, &status) < 0) {
        const Error error = file_error("look at", path, 0);
        file_close_stored(*descriptor);
        *descriptor = -1;
        return error;
    }
    *bytes = status.st_size;
    return error_none();
}

Error file_read_at(int descriptor, const char *path, int64_t offset, void *data, size_t size)
{
    unsigned char *at = data;
    for (size_t left = size; left > 0;) {
        const ssize_t count = system_read_at(descriptor, at, left, offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return file_error("read", path, 0);
        if (count == 0) return error_make(ERROR_MACHINE, "%s is shorter than expected", path_text(path).text);
        at += count;
        left -= (size_t)count;
        offset += count;
    }
    return error_none();
}

void file_close_stored(int descriptor) { (void)system_close(descriptor); } // it was only read

bool file_exists(const char *path)
{
    struct stat status;
    return system_stat(path, &status) == 0;
}

bool file_missing(const char *path)
{
    struct stat status;
    return system_stat(path, &status) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

Error file_size(const char *path, int64_t *bytes)
{
    struct stat status;
    if (system_stat(path, &status) < 0) return file_error("look at", path, 0);
    if (!S_ISREG(status.st_mode)) return error_make(ERROR_MACHINE, "%s is not a regular file", path_text(path).text);
    *bytes = status.st_size;
    return error_none();
}

// ---- folders --------------------------------------------------------------------------------------------------------

static bool folder_exists(const char *path)
{
    struct stat status;
    return system_stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

Error folder_add(const char *path)
{
    if (folder_exists(path)) return error_none();
    if (system_mkdir(path) == 0) return folder_sync(file_parent(path).text);
    if (errno != EEXIST) return file_error("make folder", path, 0);
    if (folder_exists(path)) return error_none(); // another process created it meanwhile
    return error_make(ERROR_MACHINE, "cannot make folder %s: a file of that name exists", path_text(path).text);
}

Error folder_make(const char *path)
{
    FilePath prefix;
    const size_t length = strlen(path);
    if (length >= sizeof prefix.text) {
        errno = ENAMETOOLONG;
        return file_error("make folder", path, 0);
    }
    for (size_t i = 1; i <= length; i++) {
        if (i < length && (path[i] != '/' || path[i - 1] == '/')) continue;
        memcpy(prefix.text, path, i);
        prefix.text[i] = '\0';
        TRY(folder_add(prefix.text));
    }
    return error_none();
}

typedef struct FolderName {
    struct FolderName *next;
    char *text;
} FolderName;

static int folder_compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

Error folder_list(const char *path, Arena *arena, char ***names, int *count)
{
    DIR *folder = system_list(path);
    if (folder == NULL) return file_error("list folder", path, 0);
    FolderName *first = NULL;
    *count = 0;
    errno = 0; // readdir returns NULL at an error and at the end
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL; errno = 0) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        FolderName *name = ARENA_NEW(arena, FolderName, 1);
        *name = (FolderName){.next = first, .text = arena_copy(arena, entry->d_name)};
        first = name;
        (*count)++;
    }
    const Error error = errno != 0 ? file_error("list folder", path, 0) : error_none();
    closedir(folder);
    TRY(error);
    *names = ARENA_NEW(arena, char *, *count);
    int n = 0;
    for (const FolderName *name = first; name != NULL; name = name->next) (*names)[n++] = name->text;
    if (n > 0) qsort(*names, (size_t)n, sizeof **names, folder_compare_names);
    return error_none();
}

// ---- disks ----------------------------------------------------------------------------------------------------------

// The nearest existing folder above a path: a new file there would use this disk.
static FilePath file_nearest_existing(const char *path)
{
    struct stat status;
    FilePath folder = file_parent(path);
    if (system_stat(path, &status) == 0) snprintf(folder.text, sizeof folder.text, "%s", path);
    while (system_stat(folder.text, &status) < 0 && errno == ENOENT && strcmp(folder.text, ".") != 0)
        folder = file_parent(folder.text);
    return folder;
}

static int file_open_nearest(const char *path) { return nofollow_open(file_nearest_existing(path).text, O_PATH, 0); }

Error disk_free(const char *path, int64_t *bytes)
{
    struct statvfs status;
    const int folder = file_open_nearest(path);
    const Error error =
        folder < 0 || fstatvfs(folder, &status) < 0 ? file_error("ask for the free space at", path, 0) : error_none();
    if (folder >= 0) (void)close(folder);
    TRY(error);
    *bytes = (int64_t)(status.f_bavail * status.f_frsize);
    return error_none();
}

// Magic numbers of statfs(2) and linux/magic.h.
static const struct {
    uint32_t magic;
    const char *name;
} file_network_systems[] = {
    {0x00006969, "nfs"},   {0x0000517B, "smb"},  {0xFF534D42, "cifs"},   {0xFE534D42, "smb2"},
    {0x01021997, "9p"},    {0x00C36400, "ceph"}, {0x0BD00BD0, "lustre"}, {0x47504653, "gpfs"},
    {0x5346414F, "afs"},   {0x6B414653, "kafs"}, {0x73757245, "coda"},   {0x19830326, "beegfs"},
    {0xAAD7AAEA, "panfs"}, {0x01161970, "gfs2"}, {0x7461636F, "ocfs2"},  {0x786F4256, "vboxsf"},
};

// File systems in user space share one magic number. /proc/self/mountinfo (proc(5)) has their names, by device:
//    36 35 98:0 /root /mount/point rw,noatime master:1 - fuse.sshfs host: rw
static const char *const file_network_fuse[] = {"fuse.sshfs",     "fuse.s3fs",    "fuse.gcsfuse", "fuse.rclone",
                                                "fuse.glusterfs", "fuse.juicefs", "fuse.davfs",   "fuse.mfs"};

static const char *file_fuse_name(dev_t device)
{
    char line[2048], type[32];
    unsigned device_major, device_minor;
    const char *found = "";
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    while (mounts != NULL && fgets(line, sizeof line, mounts) != NULL) {
        const char *behind = strstr(line, " - ");
        if (sscanf(line, "%*u %*u %u:%u", &device_major, &device_minor) != 2 || behind == NULL) continue;
        if (makedev(device_major, device_minor) != device || sscanf(behind, " - %31s", type) != 1) continue;
        for (size_t i = 0; i < sizeof file_network_fuse / sizeof *file_network_fuse; i++) {
            if (strcmp(file_network_fuse[i], type) == 0) found = file_network_fuse[i];
        }
    }
    if (mounts != NULL) fclose(mounts);
    return found;
}

const char *network_file_system(const char *path)
{
    enum { FILE_FUSE = 0x65735546 };
    struct statfs system;
    struct stat status;
    const int folder = file_open_nearest(path);
    const bool known = folder >= 0 && fstatfs(folder, &system) == 0 && fstat(folder, &status) == 0;
    if (folder >= 0) (void)close(folder);
    if (!known) return "";
    if ((uint32_t)system.f_type == FILE_FUSE) return file_fuse_name(status.st_dev);
    for (size_t i = 0; i < sizeof file_network_systems / sizeof *file_network_systems; i++) {
        if (file_network_systems[i].magic == (uint32_t)system.f_type) return file_network_systems[i].name;
    }
    return "";
}
