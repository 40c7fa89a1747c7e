// What a campaign's spec was given on the command line (overrides.c).
#ifndef HOPSCOTCH_STORE_OVERRIDES_H
#define HOPSCOTCH_STORE_OVERRIDES_H

#include "../../runner.h"

extern const char *const overrides_table_sql; // CREATE TABLE overrides
// Those of a campaign, oldest first; none in databases of schemas before 7.
Error overrides_read(Database *database, Arena *arena, Overrides *overrides);
// `earlier` without those whose keys `later` sets anew.
Overrides overrides_without(const Overrides *earlier, const Overrides *later, Arena *arena);
// Within a transaction: those of the spec in the place of what is stored, or (add) behind what they do not set anew.
Error overrides_keep(Database *database, const Overrides *given, bool add, Arena *arena);
// "search.trials=30, seed=7", as it may be printed
const char *overrides_text(const Overrides *overrides, Arena *arena);

#endif
