// What is known of a campaign without reading its spec, so that it can also be told of campaigns that another version
// wrote: for status, list and the live view.
#ifndef HOPSCOTCH_STATUS_H
#define HOPSCOTCH_STATUS_H

#include "../campaign.h"

// Its two halves: what the database says, and who holds the lock. status_unread: what an unreadable one is called.
StatusReport status_unread(const CampaignPlace *place);
Error status_read_database(const CampaignPlace *place, Arena *arena, StatusReport *report);
// What the database says while nothing writes to it, at less cost and without making a file beside it. *stamp: with
// which it says so. False: it must be read as above.
bool status_read_still(const CampaignPlace *place, Arena *arena, DatabaseStamp *stamp, StatusReport *report);
Error status_read_lock(Arena *arena, StatusReport *report);
// Copies all texts of a report into the arena.
void status_copy_texts(StatusReport *report, Arena *arena);

// What the databases of those say that are not known (status_many.c).
Error status_read_many(StatusEntry *entries, int count, Arena *arena);

// What one campaign's database says now that its writer has closed it, for the catalogue: so the next list need not
// open it. False: it can't be told, and is left out (status_cache.c).
bool status_cache_look(const CampaignPlace *place, StatusEntry *entry, Arena *arena);
// Within a transaction on the catalogue: these are kept where they are known, and what was known of them is forgotten
// where they are not.
Error status_cache_keep(Database *catalogue, const StatusEntry *entries, int count, Arena *arena);
// Whether the catalogue knows an earlier state of the campaign of this name, or another campaign under it.
bool status_cache_is_behind(Database *catalogue, const char *results, const char *name, Arena *arena);

#endif
