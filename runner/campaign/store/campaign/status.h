// The state of a campaign, for status, list and the live view. It is read without the spec.
#ifndef HOPSCOTCH_STATUS_H
#define HOPSCOTCH_STATUS_H

#include "../../campaign.h"

// The two steps of status_read: the database, and the holder of the lock. status_unread: the report of an unreadable
// campaign.
StatusReport status_unread(const CampaignLocation *location);
Error status_read_database(const CampaignLocation *location, Arena *arena, StatusReport *report);
// Reads a database that nothing writes to: faster, and without a file beside it. *stamp: of the database that was read.
// False: use status_read_database.
bool status_read_still(const CampaignLocation *location, Arena *arena, DatabaseStamp *stamp, StatusReport *report);
Error status_read_lock(Arena *arena, StatusReport *report);
// Copies all texts of a report into the arena.
void status_copy_texts(StatusReport *report, Arena *arena);

// Reads the databases of the entries that are not known (status_many.c).
Error status_read_many(StatusEntry *entries, int count, Arena *arena);

#endif
