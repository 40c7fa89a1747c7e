// What list and status last read of each campaign of a root, kept in its catalogue (status_cache.c).
#ifndef HOPSCOTCH_STATUS_CACHE_H
#define HOPSCOTCH_STATUS_CACHE_H

#include "status.h"

typedef struct StatusCacheRow StatusCacheRow;

typedef struct StatusCache {
    const char *results;
    int64_t device; // on which the root lies; campaigns elsewhere are read each time; -1: all are
    Arena *arena;
    Database *catalogue; // open for reading; NULL: there is none that can be used
    Statement *find;
    bool writable;         // the root is of a kind where the catalogue may be written
    StatusCacheRow *fresh; // campaigns that were read anew, the last one first
} StatusCache;

// Never fails: without a catalogue every campaign is read.
void status_cache_open(const char *results, Arena *arena, StatusCache *cache);
// As status_read, of each. Their names live as long as the cache. An error: there is no memory for it.
Error status_cache_read(StatusCache *cache, StatusEntry *entries, int count);
// Keeps what was read anew, if the catalogue can be written now; forgets campaigns that are not among `names`, which
// are sorted.
void status_cache_close(StatusCache *cache, const char *const *names, int count);

// What one campaign's database says now that its writer has closed it, for the catalogue: so the next list need not
// open it. False: it can't be told, and is left out.
bool status_cache_look(const CampaignPlace *place, StatusEntry *entry, Arena *arena);
// Within a transaction on the catalogue: these are kept where they are known, and what was known of them is forgotten
// where they are not.
Error status_cache_keep(Database *catalogue, const StatusEntry *entries, int count, Arena *arena);

#endif
