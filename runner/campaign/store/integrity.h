// Whether the file of a database is what SQLite made it (integrity.c).
#ifndef HOPSCOTCH_INTEGRITY_H
#define HOPSCOTCH_INTEGRITY_H

#include "cursor.h"

// One moment of a campaign that may be running (store_read_end ends it), and SQLite's data_version of it.
Error integrity_begin(Database *database, int64_t *version);
Error integrity_version(Database *database, int64_t *version);
// Whether all is sound, in a tenth of the time that SQLite's own check takes. False also where it can't be told.
bool integrity_is_sound(Database *database, Arena *arena);
// SQLite's own check, a text a finding or "ok"; and the rows that name others which are not there.
Cursor integrity_findings(Database *database);
Cursor integrity_references(Database *database);
// Its first finding alone. False also where it can't be told, which is the error.
Error integrity_check(Database *database, bool *sound);
// Indexes are made of the rows again; if that is not enough, the whole file. *by: what made it sound; NULL: nothing.
void integrity_mend(Database *database, const char **by);
// Until it is closed, rows may name others that are not there.
Error integrity_ignore_references(Database *database);
// Every index of table trials holds its rows, each once and in order (indices.c). False also where it can't be told.
bool indices_match(Database *database, Arena *arena);

#endif
