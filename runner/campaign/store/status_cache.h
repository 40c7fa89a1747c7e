// What list and status last read of each campaign of a root, kept in its catalogue (status_cache.c).
#ifndef HOPSCOTCH_STATUS_CACHE_H
#define HOPSCOTCH_STATUS_CACHE_H

#include "cursor.h"
#include "status.h"

typedef struct StatusCacheRow StatusCacheRow;

typedef struct StatusCache {
    const char *results;
    Arena *arena;
    Database *catalogue; // open for reading; NULL: there is none that can be used
    Cursor find;
    bool writable;         // the root is of a kind where the catalogue may be written
    StatusCacheRow *fresh; // campaigns that were read anew, the last one first
    int opened;            // how many databases of campaigns were opened
} StatusCache;

// Never fails: without a catalogue every campaign is read.
void status_cache_open(const char *results, Arena *arena, StatusCache *cache);
// As status_read. name: of the campaign, as seen from the root; it lives as long as the cache.
Error status_cache_read(StatusCache *cache, const CampaignPlace *place, const char *name, StatusReport *report);
// Keeps what was read anew, if the catalogue can be written now; forgets campaigns that are not among `names`, which
// are sorted.
void status_cache_close(StatusCache *cache, const char *const *names, int count);

#endif
