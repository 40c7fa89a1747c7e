// Where a campaign comes from (origin.c).
#ifndef HOPSCOTCH_ORIGIN_H
#define HOPSCOTCH_ORIGIN_H

#include "../campaign.h"

Error origin_text(Database *database, Arena *arena, const char **text); // "verifies gains/41"; "": it is its own

#endif
