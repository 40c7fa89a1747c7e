// What keeps a campaign's database quick and small: indexes, unused pages, copies (upkeep.c).
#ifndef HOPSCOTCH_UPKEEP_H
#define HOPSCOTCH_UPKEEP_H

#include "cursor.h"

// An index of the table trials by these columns, together.
Error trials_index_make(Database *database, const char *const *columns, int count, Arena *arena);
Error trials_index_drop(Database *database, const char *const *columns, int count, Arena *arena);
Cursor trials_indexes(Database *database); // their declarations (next_text)

Error store_unused(const CampaignPlace *place, Arena *arena, int64_t *bytes); // of pages that hold nothing
Error store_compact(const char *path, bool shared_fs);                        // gives them back to the disk
Error store_copy(Database *database, const char *path);                       // as it is now, into a new file

#endif
