// What is known of a campaign without reading its spec, so that it can also be told of campaigns that another version
// wrote: for status, list and the live view.
#ifndef HOPSCOTCH_STATUS_H
#define HOPSCOTCH_STATUS_H

#include "../campaign.h"

// Its two halves: what the database says, and who holds the lock. status_unread: what an unreadable one is called.
StatusReport status_unread(const CampaignPlace *place);
Error status_read_database(const CampaignPlace *place, Arena *arena, StatusReport *report);
Error status_read_lock(Arena *arena, StatusReport *report);
#endif
