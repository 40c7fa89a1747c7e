// Where a campaign comes from (origin.c).
#ifndef HOPSCOTCH_ORIGIN_H
#define HOPSCOTCH_ORIGIN_H

#include "edit.h"

extern const char *const origin_table_sql; // CREATE TABLE origin
typedef struct Origin {
    const char *purpose; // "verifies", "compares", "imports", "merges"
    const char *campaign, *hash;
    int64_t trial; // -1: none
    double fitness;
} Origin;
// Of campaigns that were made out of one that has another name now; of a merge, within a transaction.
Error origin_rename(CampaignEdit *edit, const char *from, const char *to);
Error origin_note_merged(Store *store, const StoredCampaign *source);
// Once: a second time changes nothing.
Error origin_note(const CampaignPlace *place, bool shared_fs, const Origin *origin, Arena *arena);
Error origin_text(Database *database, Arena *arena, const char **text); // "verifies gains/41"; "": it is its own

#endif
