// Older schemas of campaign.db (migration.c).
#ifndef HOPSCOTCH_MIGRATION_H
#define HOPSCOTCH_MIGRATION_H

#include "../../runner.h"

// The schema version of a campaign's database. Error (user): it is none, or too old or new for this program.
Error schema_version(Database *database, const char *path, int *version);
// Brings a database whose lock is held to STORE_SCHEMA_VERSION in one transaction. *from: what it was.
Error schema_migrate(Database *database, const char *path, Arena *arena, int *from);

#endif
