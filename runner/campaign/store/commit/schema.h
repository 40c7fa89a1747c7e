// The tables of campaign.db and their version (schema.c).
#ifndef HOPSCOTCH_SCHEMA_H
#define HOPSCOTCH_SCHEMA_H

#include "../../campaign.h"

// Makes the tables of a new campaign.db, whose trials are rows or blocks.
Error schema_make(Database *database, const Spec *spec, bool blocks, Arena *arena);
// The schema version of a database; 0: the database is not a campaign's.
Error schema_version(Database *database, int64_t *version);
bool schema_is_known(int64_t version);
// Error (user): the database at `path` is not a campaign's, has another schema version, or names a shard elsewhere.
Error schema_check(Database *database, const char *path);

#endif
