// Whether the file of a database is as SQLite left it (integrity.c).
#ifndef HOPSCOTCH_INTEGRITY_H
#define HOPSCOTCH_INTEGRITY_H

#include "../ground/cursor.h"

// Begins reading a campaign that may be running, as it is at one moment (store_read_end ends that). *version: SQLite's
// data_version of that moment.
Error integrity_begin(Database *database, int64_t *version);
Error integrity_version(Database *database, int64_t *version);
// Whether the file is sound, in a tenth of the time of SQLite's own check. False also if that is not known.
bool integrity_is_sound(Database *database, Arena *arena);
// SQLite's own check: one text per finding, or "ok". And the rows that refer to rows that do not exist.
Cursor integrity_findings(Database *database);
Cursor integrity_references(Database *database);
bool integrity_holds(Database *database); // up to the first finding
// Builds the indexes again from the rows; if that is not enough, the whole file. *by: what repaired it; NULL:
// nothing.
void integrity_mend(Database *database, const char **by);
// Until the database is closed, rows may refer to rows that do not exist.
Error integrity_ignore_references(Database *database);
// Whether every index of the table trials has each row once and in order (indices.c). False also if that is not known.
bool indices_match(Database *database, Arena *arena);

#endif
