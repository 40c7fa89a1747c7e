// Rounds of searches that learn, in the database and in shards (rounds.c).
#ifndef HOPSCOTCH_ROUNDS_H
#define HOPSCOTCH_ROUNDS_H

#include "../../campaign.h"

// Writes the rounds that are in no shard to new shards, under debug/METHOD. rounds_are_missing: whether there are any.
Error rounds_record(Store *store, const Search *search);
Error rounds_are_missing(Store *store, bool *missing);
// For a campaign that was extended: stores the restored state of the search, and why its last rounds ended a search,
// both by the new budgets.
Error rounds_renew(Store *store, const Search *search);

#endif
