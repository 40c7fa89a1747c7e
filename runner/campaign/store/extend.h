// Specs that a campaign was extended by: its segments (extend.c).
#ifndef HOPSCOTCH_EXTEND_H
#define HOPSCOTCH_EXTEND_H

#include "../campaign.h"

// The campaign has another spec than `given`, which is the store's: says what differs and, if the options ask for it
// and every row keeps its meaning, appends it to the campaign. Error (user) otherwise.
Error store_extend(Store *store, Spec *given, const RunOptions *options, Arena *arena);
// The segments of a campaign that was extended, into its spec; none if it never was.
Error segments_read(Database *database, const char *folder, Arena *arena, Spec *spec);

#endif
