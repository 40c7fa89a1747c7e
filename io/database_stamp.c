// Finds out whether a database changed since it was read, from the metadata of four files, without opening a
// connection.
//
// A stamp holds device, inode, size, time of change of the content (mtime) and time of change of the file (ctime).
// Every write, replacement, restore or rename changes the ctime, and no program can set it. The kernel's clock moves in
// ticks, and some file systems count in steps of up to 2 s. So a file that was changed just before the look could
// change again under the same times, and its stamp is not trusted. (Git has the same problem:
// Documentation/technical/racy-git.) The ctime shows how long "just before" is: if it is not a multiple of 10 ms, the
// file system does not round to such steps, and two ticks are enough.
//
// A database with a WAL that is not empty has no stamp. Shared memory says which of its transactions a reader sees, and
// if a writer is killed between the two, the file holds more than a reader saw before.
#include "database.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define STAMP_SETTLE ((int64_t)3000000000) // ns
#define STAMP_STEP ((int64_t)10000000)     // ns: a file system with coarse times gives multiples of this

static int64_t stamp_time(struct timespec time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

// ns until the file's times are safely in the past, by the clock that the kernel uses for files; <= 0: they are.
static int64_t stamp_unsettled(const struct stat *status)
{
    struct timespec now, tick;
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0 || clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0)
        return STAMP_SETTLE;
    const int64_t changed = stamp_time(status->st_mtim), noted = stamp_time(status->st_ctim);
    const int64_t settle = noted % STAMP_STEP == 0 ? STAMP_SETTLE : 2 * stamp_time(tick);
    return (changed > noted ? changed : noted) + settle - stamp_time(now);
}

// Checks the files beside the database: -wal and -journal must be missing or empty, -shm missing or a regular file.
static bool stamp_is_alone(const char *path)
{
    static const struct {
        const char *ending;
        bool empty;
    } others[] = {{"-wal", true}, {"-journal", true}, {"-shm", false}};
    struct stat status;
    char name[4096];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if ((size_t)snprintf(name, sizeof name, "%s%s", path, others[i].ending) >= sizeof name) return false;
        if (system_link_stat(name, &status) != 0) {
            if (errno != ENOENT) return false;
        } else if (!S_ISREG(status.st_mode) || (others[i].empty && status.st_size > 0)) {
            return false;
        }
    }
    return true;
}

bool database_stamp(const char *path, DatabaseStamp *stamp)
{
    struct stat status;
    *stamp = (DatabaseStamp){.word = {0}};
    if (system_link_stat(path, &status) != 0) return false;
    *stamp = (DatabaseStamp){.word = {(int64_t)status.st_dev, (int64_t)status.st_ino, (int64_t)status.st_size,
                                      stamp_time(status.st_mtim), stamp_time(status.st_ctim)}};
    return S_ISREG(status.st_mode) && stamp_unsettled(&status) <= 0 && stamp_is_alone(path) &&
           faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
}

void database_stamp_wait(const char *path)
{
    enum { STAMP_WAIT_MOST = 50000000, STAMP_WAIT_LEAST = 1000000, STAMP_WAITS = 20 }; // ns, ns
    struct stat status;
    int64_t left = system_link_stat(path, &status) == 0 ? stamp_unsettled(&status) : 0;
    for (int i = 0; i < STAMP_WAITS && left > 0 && left < STAMP_WAIT_MOST; i++) { // the clock of files moves in ticks
        nanosleep(&(struct timespec){.tv_nsec = left > STAMP_WAIT_LEAST ? (long)left : STAMP_WAIT_LEAST}, NULL);
        left = stamp_unsettled(&status);
    }
}
