// One writer per campaign: a lock on a file, which ends with its process.
#ifndef HOPSCOTCH_IO_LOCK_H
#define HOPSCOTCH_IO_LOCK_H

#include "../sim/sim.h"

// An open-file-description lock (fcntl F_OFD_SETLK, O_CLOEXEC): one writer per campaign. The lock ends with its
// process, so a killed run leaves nothing to clean up. Only its text stays in the file, and is reported to the next
// holder.
typedef struct FolderPin FolderPin; // io/nofollow.c
typedef struct Lock {
    int descriptor;    // -1: not held
    FolderPin *folder; // the folder of the lock; paths below it lead there while the lock is held; may be NULL
    char holder[160];  // this process, as written in the file: "pid 4711 on kant since 2026-01-31T12:00:00Z"
    char stale[160];   // the previous holder if it ended without releasing the lock, else ""
} Lock;

// Error (machine) if another process holds it. The message names that process: pid, host and start time, from the file.
Error lock_take(const char *path, Lock *lock);
void lock_release(Lock *lock);
// Renames the folder of the lock while the lock is held. If another folder has taken its name, nothing is renamed and
// an error is returned.
Error lock_rename(const Lock *lock, const char *from, const char *to);
// The holder, without taking the lock: "pid 4711 on kant since 2026-01-31T12:00:00Z"; "" if it is free.
Error lock_holder(const char *path, char *text, size_t size);
bool lock_is_named(const Lock *lock, const char *path); // the path still names the locked file

#endif
