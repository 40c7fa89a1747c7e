// The lock that gives a campaign one writer at a time.
#ifndef HOPSCOTCH_IO_LOCK_H
#define HOPSCOTCH_IO_LOCK_H

#include "../sim/sim.h"

// An open-file-description lock (fcntl F_OFD_SETLK, O_CLOEXEC). The system releases the lock when its process ends, so
// a killed run leaves nothing to clean up: only the name of the holder stays in the file, and the next holder reports
// it.
typedef struct FolderPin FolderPin; // io/nofollow.c
typedef struct Lock {
    int descriptor;    // -1: not held
    FolderPin *folder; // the folder of the lock; paths below it lead there while the lock is held; may be NULL
    char holder[160];  // this process, as written in the file: "pid 4711 on kant since 2026-01-31T12:00:00Z"
    char stale[160];   // the previous holder if it ended without releasing the lock, else ""
} Lock;

// Error (machine) if another process holds it. The message names that process: pid, host and start time, from the file.
Error lock_take(const char *path, Lock *lock);
void lock_release(Lock *lock); // does nothing if the lock is not held
// Renames the folder of the lock while the lock is held. If another folder has taken its name, nothing is renamed and
// an error is returned.
Error lock_rename(const Lock *lock, const char *from, const char *to);
// text[size] <- the holder, "pid 4711 on kant since 2026-01-31T12:00:00Z"; "" if the lock is free. Takes no lock.
Error lock_holder(const char *path, char *text, size_t size);
bool lock_is_named(const Lock *lock, const char *path); // false if `path` was removed or names another file now

#endif
