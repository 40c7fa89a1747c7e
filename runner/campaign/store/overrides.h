// What a campaign's spec was given on the command line (overrides.c).
#ifndef HOPSCOTCH_STORE_OVERRIDES_H
#define HOPSCOTCH_STORE_OVERRIDES_H

#include "../campaign.h"

// Within a transaction: those of the spec in the place of what is stored, or (add) behind what they do not set anew.
Error overrides_keep(Database *database, const Overrides *given, bool add, Arena *arena);

#endif
