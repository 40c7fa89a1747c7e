// Older schemas of campaign.db (migration.c).
#ifndef HOPSCOTCH_MIGRATION_H
#define HOPSCOTCH_MIGRATION_H

#include "../campaign.h"

// Brings a database whose lock is held to STORE_SCHEMA_VERSION in one transaction. *from: what it was.
Error schema_migrate(Database *database, const char *path, Arena *arena, int *from);

#endif
