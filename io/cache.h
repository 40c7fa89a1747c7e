// Files that can be computed again, in the user's cache folder.
#ifndef HOPSCOTCH_IO_CACHE_H
#define HOPSCOTCH_IO_CACHE_H

#include "file.h"

// An entry is the file $XDG_CACHE_HOME/hopscotch/<cache>/<key>, or ~/.cache/hopscotch/<cache>/<key>. A cache is private
// to the user and has at most 256 entries of 512 MiB together: entries that were not used for longest are removed.
// Several processes may use it at once. key: hexadecimal digits.

// False: the entry is missing or damaged, or other users can write to the folder.
bool cache_read(const char *cache, const char *key, Arena *arena, Bytes *out);
void cache_remove(const char *cache, const char *key, Arena *arena); // if there is such an entry
// Adds or replaces an entry. A failure is not reported: the entry is then missing.
void cache_write(const char *cache, const char *key, const void *data, size_t size, Arena *arena);

#endif
