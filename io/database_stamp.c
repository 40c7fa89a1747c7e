// Whether a database still is the one that was read, by its files alone: a look at three files in place of an opened
// connection.
//
// A stamp holds device, inode, size, time of change of the content (mtime) and time of change of the file (ctime) of
// the database and of its WAL. Whoever writes, replaces, restores or renames a file changes its ctime, which no program
// can set. The kernel's clock moves in ticks, and some file systems count in steps of 2 s: a file that was changed
// within STAMP_SETTLE of the look could be changed again under the same times, so its stamp is not trusted. (The same
// trap in git: Documentation/technical/racy-git.)
#include "seam.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STAMP_SETTLE ((int64_t)3000000000) // ns

enum { STAMP_FILE = DATABASE_STAMP_WORDS / 2 };

static int64_t stamp_time(struct timespec time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

// A file that is missing or empty has zeros: an empty WAL says nothing, whenever it was made.
static void stamp_note(const struct stat *status, int64_t word[STAMP_FILE], int64_t *newest)
{
    const int64_t changed = stamp_time(status->st_mtim), noted = stamp_time(status->st_ctim);
    if (status->st_size == 0) return;
    const int64_t words[STAMP_FILE] = {(int64_t)status->st_dev, (int64_t)status->st_ino, (int64_t)status->st_size,
                                       changed, noted};
    memcpy(word, words, sizeof words);
    if (changed > *newest) *newest = changed;
    if (noted > *newest) *newest = noted;
}

bool database_stamp(const char *path, DatabaseStamp *stamp)
{
    static const struct {
        const char *ending;
        int word; // where it is noted; negative: it is not
        bool may_be;
    } files[] = {{"", 0, true}, {"-wal", STAMP_FILE, true}, {"-shm", -1, true}, {"-journal", -1, false}};
    struct timespec now;
    struct stat status;
    char name[4096];
    int64_t newest = INT64_MIN;
    *stamp = (DatabaseStamp){.word = {0}};
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return false; // before the look
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if ((size_t)snprintf(name, sizeof name, "%s%s", path, files[i].ending) >= sizeof name) return false;
        if (seam_link_stat(name, &status) != 0) {
            if (i == 0 || errno != ENOENT) return false;
            continue;
        }
        if (!S_ISREG(status.st_mode) || !files[i].may_be) return false;
        if (files[i].word >= 0) stamp_note(&status, &stamp->word[files[i].word], &newest);
    }
    return stamp->word[0] != 0 && newest < stamp_time(now) - STAMP_SETTLE && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
}
