// The program that computed the trials of a campaign whose model runs one: where it ran, and which version it said that
// it is. Both stand in the table of events; the last ones count.
#include "store.h"

#include "../ground/cursor.h"

#include <string.h>

static Error program_last(Database *database, const char *kind, Arena *arena, const char **text)
{
    Cursor row = cursor_open(database, "SELECT text FROM events WHERE kind = ?1 ORDER BY id DESC LIMIT 1");
    with_text(&row, kind);
    *text = cursor_next(&row) ? arena_copy(arena, cell_text(&row, 0)) : NULL;
    return cursor_close(&row);
}

Error program_noted(Database *database, Arena *arena, ProgramNoted *noted)
{
    TRY(program_last(database, PROGRAM_FOLDER, arena, &noted->folder));
    return program_last(database, PROGRAM_VERSION, arena, &noted->version);
}

Error program_note(Store *store, const char *folder, const char *version, Arena *arena)
{
    ProgramNoted noted;
    TRY(program_noted(store->database, arena, &noted));
    if (noted.folder == NULL || strcmp(noted.folder, folder) != 0)
        TRY(store_event(store, PROGRAM_FOLDER, "%s", folder));
    if (noted.version != NULL && strcmp(noted.version, version) == 0) return error_none();
    return store_event(store, PROGRAM_VERSION, "%s", version);
}
