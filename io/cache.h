// Files that can be computed again, in the user's cache folder.
#ifndef HOPSCOTCH_IO_CACHE_H
#define HOPSCOTCH_IO_CACHE_H

#include "file.h"

// $XDG_CACHE_HOME/hopscotch/<cache>/<key>, else under ~/.cache: private to the user, at most 256 entries and 512 MiB of
// those used last, safe with several processes. key: hexadecimal digits.

// False: there is none, or it is damaged, or the folder is not this user's alone.
bool cache_read(const char *cache, const char *key, Arena *arena, Bytes *out);
void cache_remove(const char *cache, const char *key, Arena *arena);
// What can't be written is left out.
void cache_write(const char *cache, const char *key, const void *data, size_t size, Arena *arena);

#endif
