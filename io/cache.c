// Files that can be computed again: a folder of this user's, bounded, which several processes share. An entry is found
// by its key; it carries the digest of its key and bytes, so that one that is damaged, or lies under another name, is
// as good as none. What can't be read or written is not an error: the caller computes the bytes again.
#include "cache.h"

#include "folder.h"
#include "sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_DIGEST = 64, CACHE_ENTRIES_MAX = 256 };
static const size_t cache_entry_max = (size_t)64 << 20, cache_bytes_max = (size_t)512 << 20;

// $XDG_CACHE_HOME/hopscotch/NAME, else ~/.cache/hopscotch/NAME. NULL: there is none.
static const char *cache_folder(const char *name, Arena *arena)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache != NULL && cache[0] == '/') return arena_format(arena, "%.3000s/hopscotch/%s", cache, name);
    if (home != NULL && home[0] == '/') return arena_format(arena, "%.3000s/.cache/hopscotch/%s", home, name);
    return NULL;
}

// A folder of this user's, in one of this user's that no other user can write to: nobody else can replace it.
static bool cache_is_private(const char *folder)
{
    struct stat status, above;
    char parent[4096];
    snprintf(parent, sizeof parent, "%s", folder);
    *strrchr(parent, '/') = '\0'; // of an absolute path of at least three names
    return lstat(parent, &above) == 0 && S_ISDIR(above.st_mode) && above.st_uid == geteuid() &&
           (above.st_mode & 022) == 0 && lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

static Sha256Text cache_digest(const char *key, const void *data, size_t size)
{
    Sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, key, strlen(key) + 1);
    sha256_add(&hash, data, size);
    return sha256_finish(&hash);
}

static bool cache_make_folder(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
        *slash = '/';
    }
    return (mkdir(path, 0700) == 0 || errno == EEXIST) && cache_is_private(folder);
}

bool cache_read(const char *cache, const char *key, Arena *arena, Bytes *out)
{
    const char *folder = cache_folder(cache, arena);
    Bytes file;
    if (folder == NULL || !cache_is_private(folder)) return false;
    const char *path = arena_format(arena, "%s/%s", folder, key);
    if (file_read_stored(path, cache_entry_max, arena, &file).kind != OK || file.size <= CACHE_DIGEST) return false;
    *out = (Bytes){file.data + CACHE_DIGEST, file.size - CACHE_DIGEST};
    if (memcmp(file.data, cache_digest(key, out->data, out->size).hex, CACHE_DIGEST) != 0) return false;
    (void)utimensat(AT_FDCWD, path, NULL, 0); // it was used just now
    return true;
}

typedef struct CacheEntry {
    const char *path;
    int64_t used; // s
    size_t bytes;
} CacheEntry;

static int cache_by_age(const void *a, const void *b)
{
    const CacheEntry *first = a, *second = b;
    return (first->used < second->used) - (first->used > second->used);
}

// Those that were not used for longest go until the rest fits.
static void cache_trim(const char *folder, Arena *arena)
{
    char **names;
    int count, entries = 0;
    size_t bytes = 0;
    if (folder_list(folder, arena, &names, &count).kind != OK) return;
    CacheEntry *entry = ARENA_NEW(arena, CacheEntry, count + 1);
    for (int i = 0; i < count; i++) {
        struct stat status;
        const char *path = arena_format(arena, "%s/%s", folder, names[i]);
        if (lstat(path, &status) != 0) continue;
        entry[entries++] = (CacheEntry){path, (int64_t)status.st_mtime, (size_t)status.st_size};
    }
    qsort(entry, (size_t)entries, sizeof *entry, cache_by_age);
    for (int i = 0; i < entries; i++) {
        bytes += entry[i].bytes;
        if (i >= CACHE_ENTRIES_MAX || bytes > cache_bytes_max) (void)unlink(entry[i].path);
    }
}

void cache_remove(const char *cache, const char *key, Arena *arena)
{
    const char *folder = cache_folder(cache, arena);
    if (folder != NULL && cache_is_private(folder)) (void)unlink(arena_format(arena, "%s/%s", folder, key));
}

void cache_write(const char *cache, const char *key, const void *data, size_t size, Arena *arena)
{
    const char *folder = cache_folder(cache, arena);
    if (folder == NULL || size > cache_entry_max - CACHE_DIGEST || !cache_make_folder(folder)) return;
    char *file = ARENA_NEW(arena, char, size + CACHE_DIGEST);
    memcpy(file, cache_digest(key, data, size).hex, CACHE_DIGEST);
    memcpy(file + CACHE_DIGEST, data, size);
    const char *own = arena_format(arena, "%s.%ld", key, (long)getpid()); // others may write the same entry
    const char *path = arena_format(arena, "%s/%s", folder, own);
    if (file_write(folder, own, file, size + CACHE_DIGEST).kind == OK &&
        file_rename(path, arena_format(arena, "%s/%s", folder, key)).kind != OK)
        (void)unlink(path);
    cache_trim(folder, arena);
}
