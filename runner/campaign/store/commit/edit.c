// A small change to a stored campaign that is not a run: a tag, a note, an origin. Under the campaign's lock, in
// one transaction, sealed like every other change.

#include "../ground/cursor.h"
#include "seal.h"
#include "schema.h"

#include <stdio.h>
#include <string.h>

Error campaign_lock(const char *folder, const char *name, Arena *arena, Lock *lock)
{
    char holder[160];
    const char *path = arena_format(arena, "%s/%s", folder, CAMPAIGN_LOCK);
    const Error error = lock_take(path, lock);
    if (error.kind == OK) return error;
    if (file_missing(folder))
        return error_make(ERROR_MACHINE, "campaign %s is gone: another process removed or renamed it", name);
    if (lock_holder(path, holder, sizeof holder).kind != OK || holder[0] == '\0') return error;
    return error_make(ERROR_MACHINE,
                      "campaign %.128s is being run by %.100s: `%s` shows how far it is, and stop in place of status "
                      "ends it",
                      name, holder, command_again(folder_of(folder, arena), "status %.128s", name).text);
}

Error campaign_create_locked(const char *folder, const char *name, bool nested, Arena *arena, Lock *lock)
{
    enum { TRIES = 10 };
    const char *path = arena_format(arena, "%s/" CAMPAIGN_LOCK, folder);
    Error error = error_none();
    TRY(folder_check_inside(folder));
    for (int tries = 0; tries < TRIES; tries++) {
        if (nested) TRY(folder_add(folder_of(folder, arena)));
        TRY(nested ? folder_add(folder) : folder_make(folder));
        error = name != NULL ? campaign_lock(folder, name, arena, lock) : lock_take(path, lock);
        if (error.kind == OK || !file_missing(folder)) break;
    }
    return error;
}

Error campaign_refuse_network(const char *folder, bool shared_fs)
{
    const char *network = network_file_system(folder);
    if (network[0] == '\0' || shared_fs) return error_none();
    return error_make(ERROR_USER,
                      "%s lies on %s, where file locks can't be trusted: choose a local folder with "
                      "--results, or say --shared-fs if no other host writes there",
                      folder, network);
}

Error campaign_is_empty(const char *path)
{
    return error_make(
        ERROR_MACHINE,
        "%.300s is empty: its run was killed before the first commit, or it is a copy without " CAMPAIGN_DATABASE
        "-wal, which held the rows. Copy both files together, or run the spec again",
        path);
}

Error campaign_is_gone(const char *path)
{
    if (file_missing(path))
        return error_make(ERROR_MACHINE, "%.400s is gone: another process removed it; nothing was done", path);
    return campaign_is_empty(path);
}

Error campaign_open_database(const char *path, Database **database)
{
    *database = NULL;
    return file_missing(path) ? campaign_is_gone(path) : database_open(path, DATABASE_WRITE, database);
}

// Whether the folder holds nothing, or a lock alone: so far came a run that was killed.
static Error campaign_is_begun_only(const char *folder, Arena *arena, bool *only)
{
    char **names = NULL;
    int count = 0;
    *only = false;
    TRY(folder_check_inside(folder));
    TRY(folder_list(folder, arena, &names, &count));
    *only = count == 0 || (count == 1 && strcmp(names[0], CAMPAIGN_LOCK) == 0);
    return error_none();
}

Error campaign_clear_begun(const char *folder, const char *name, Arena *arena, bool *cleared)
{
    Lock lock;
    bool only = false;
    *cleared = false;
    if (campaign_is_begun_only(folder, arena, &only).kind != OK || !only) return error_none();
    TRY(campaign_lock(folder, name, arena, &lock));
    Error error = campaign_is_begun_only(folder, arena, cleared); // a run may have come between
    if (error.kind == OK && *cleared) error = folder_remove(folder, arena);
    lock_release(&lock);
    return error;
}

Error campaign_name_is_free(const char *results, const char *name, const char *folder, Arena *arena)
{
    bool cleared = false;
    if (file_missing(folder)) return error_none();
    TRY(campaign_clear_begun(folder, name, arena, &cleared));
    if (cleared) return error_none();
    return error_make(ERROR_USER, "there is something called %.100s under %.200s already: choose another name", name,
                      results);
}

static Error edit_open(CampaignEdit *edit, const char *path, Arena *arena)
{
    TRY(campaign_open_database(path, &edit->store.database));
    TRY(store_share(edit->store.database, edit->shared_fs));
    TRY(schema_check(edit->store.database, path));
    TRY(seal_keep(edit->store.database, arena));
    return database_run(edit->store.database, "BEGIN IMMEDIATE");
}

Error edit_begin(const CampaignLocation *location, bool shared_fs, Arena *arena, CampaignEdit *edit)
{
    *edit = (CampaignEdit){.lock = {.descriptor = -1}, .shared_fs = shared_fs};
    edit->store.folder = location->folder;
    edit->store.name = location->name;
    TRY(campaign_refuse_network(location->folder, shared_fs));
    TRY(campaign_lock(location->folder, location->name, arena, &edit->lock));
    const Error error = edit_open(edit, arena_format(arena, "%s/" CAMPAIGN_DATABASE, location->folder), arena);
    if (error.kind == OK) return error;
    if (edit->store.database != NULL) (void)database_close(edit->store.database);
    lock_release(&edit->lock);
    return error;
}

Error event_note(const CampaignLocation *location, bool shared_fs, const char *kind, const char *text, Arena *arena)
{
    CampaignEdit edit;
    TRY(edit_begin(location, shared_fs, arena, &edit));
    return edit_end(&edit, store_event(&edit.store, kind, "%s", text));
}

Lock edit_keep_lock(CampaignEdit *edit)
{
    const Lock lock = edit->lock;
    edit->lock.descriptor = -1;
    return lock;
}

Error edit_end(CampaignEdit *edit, Error error)
{
    error = store_end(&edit->store, error);
    const Error closing = database_close(edit->store.database);
    if (error.kind == OK) error = closing;
    lock_release(&edit->lock);
    return error;
}
