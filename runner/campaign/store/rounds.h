// Rounds of searches that learn, in the database and in shards (rounds.c).
#ifndef HOPSCOTCH_ROUNDS_H
#define HOPSCOTCH_ROUNDS_H

#include "../campaign.h"

// Writes the rounds that no shard holds yet to one, under debug/METHOD. Whether there are any.
Error rounds_record(Store *store, const Search *search);
Error rounds_are_missing(Store *store, bool *missing);
// Of a campaign that was extended: the state of a search that was restored, and why each of its last rounds ended it,
// as they are by the budgets that it has now.
Error rounds_renew(Store *store, const Search *search);

#endif
