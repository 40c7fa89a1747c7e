// How many trials a campaign will have (expected.c).
#ifndef HOPSCOTCH_EXPECTED_H
#define HOPSCOTCH_EXPECTED_H

#include "../campaign.h"

// The trials in all, if that is known before they run; -1: unknown. done: those that are stored, which the search was
// told of. *most: an upper bound for a search that learns; 0: none.
int64_t expected_trials(const Search *search, int64_t done, Arena *arena, int64_t *most);

#endif
