// Where a campaign comes from, if it was derived from others: verified, compared, merged. Its table `origin`
// has a row for each of them.
#include "store.h"

#include "../ground/cursor.h"

#include <string.h>

// ---- where it is now ------------------------------------------------------------------------------------------------
//
// A row holds the name that the campaign had then. Its folder may have been renamed or removed since, and another
// campaign may have the name. So a campaign is recognised by the hash of its spec.

enum { ORIGIN_LIKE_MOST = 3 }; // campaigns of one spec that are named

// Where the origins of a campaign lie.
typedef struct OriginRoot {
    const char *results;
    const char *around; // the campaign in whose folder verify or compare put it; NULL: it lies beside the others
} OriginRoot;

static OriginRoot origin_root(const CampaignLocation *location, Arena *arena)
{
    const OriginRoot beside = {.results = location->results};
    char *around = arena_copy(arena, location->results);
    char *last = strrchr(around, '/');
    if (last == NULL || strcmp(last + 1, CAMPAIGN_NESTED) != 0) return beside;
    *last = '\0';
    char *slash = strrchr(around, '/');
    if (slash == NULL || file_missing(arena_format(arena, "%s/" CAMPAIGN_DATABASE, around))) return beside;
    *slash = '\0';
    return (OriginRoot){.results = slash == around ? "/" : around, .around = slash + 1};
}

// Whether a campaign of this name has a spec with this hash, or had it before it was extended. The name comes from a
// database, which may be anybody's.
static bool origin_is(const char *results, const char *name, const char *hash, Arena *arena)
{
    CampaignLocation location = {.results = results, .name = name};
    Database *database;
    if (campaign_folder(results, name, arena, &location.folder).kind != OK) return false;
    if (file_missing(arena_format(arena, "%s/" CAMPAIGN_DATABASE, location.folder))) return false;
    if (store_peek(&location, arena, &database).kind != OK) return false;
    Cursor hashes = cursor_open(database, "SELECT 1 FROM campaign WHERE hash = ?1 UNION ALL "
                                          "SELECT 1 FROM segments WHERE hash = ?1");
    with_text(&hashes, hash);
    const bool same = cursor_next(&hashes);
    (void)cursor_close(&hashes); // one that can't be read is another one
    store_leave(database);
    return same;
}

// Where the campaign of this name is now: "" under that name, " (now b)", " (now a or b)", " (not under results)".
static Error origin_now(const CampaignLocation *location, const char *name, const char *hash, Arena *arena,
                        const char **now)
{
    const OriginRoot root = origin_root(location, arena);
    const char *const *names;
    int count, like = 0;
    *now = "";
    if (root.around != NULL && origin_is(root.results, root.around, hash, arena)) {
        if (strcmp(root.around, name) != 0) *now = arena_format(arena, " (now %s)", root.around);
        return error_none();
    }
    if (origin_is(root.results, name, hash, arena)) return error_none();
    TRY(campaign_names(root.results, arena, &names, &count));
    for (int i = 0; i < count && like < ORIGIN_LIKE_MOST; i++) {
        const bool itself = root.around == NULL && strcmp(names[i], location->name) == 0;
        if (itself || !origin_is(root.results, names[i], hash, arena)) continue;
        *now = arena_format(arena, "%s%s%s", *now, like++ > 0 ? " or " : " (now ", names[i]);
    }
    *now = like > 0 ? arena_format(arena, "%s)", *now) : arena_format(arena, " (not under %s)", root.results);
    return error_none();
}

// ---- writing --------------------------------------------------------------------------------------------------------

static void with_trial(Cursor *cursor, int64_t trial)
{
    if (trial >= 0)
        with_integer(cursor, trial);
    else
        with_null(cursor);
}

// The row of the same campaign, which may have been renamed or extended since; -1: there is none.
static Error origin_find(CampaignEdit *edit, const CampaignLocation *location, const Origin *origin, Arena *arena,
                         int64_t *row)
{
    const char *now = "", *renamed = arena_format(arena, " (now %s)", origin->campaign);
    *row = -1;
    Cursor rows =
        cursor_open(edit->store.database, "SELECT id, campaign, hash FROM origin WHERE purpose = ? AND trial IS ?");
    with_text(&rows, origin->purpose);
    with_trial(&rows, origin->trial);
    while (cursor_next(&rows)) {
        const char *name = cell_text(&rows, 1);
        cursor_stop(&rows, origin_now(location, name, cell_text(&rows, 2), arena, &now));
        if (strcmp(name, origin->campaign) == 0 || strcmp(now, renamed) == 0) *row = cell_integer(&rows, 0);
    }
    return cursor_close(&rows);
}

static Error origin_put(CampaignEdit *edit, const CampaignLocation *location, const Origin *origin, Arena *arena)
{
    int64_t row = -1;
    TRY(origin_find(edit, location, origin, arena, &row));
    Cursor put = cursor_open(edit->store.database,
                             row < 0 ? "INSERT INTO origin(campaign, hash, purpose, trial, fitness, time) "
                                       "VALUES(?, ?, ?, ?, ?, ?)"
                                     : "UPDATE origin SET campaign = ?1, hash = ?2 WHERE id = ?3 AND (campaign, hash) "
                                       "IS NOT (?1, ?2)");
    with_text(&put, origin->campaign);
    with_text(&put, origin->hash);
    if (row >= 0) {
        with_integer(&put, row);
        return cursor_run(&put);
    }
    with_text(&put, origin->purpose);
    with_trial(&put, origin->trial);
    with_real(&put, origin->fitness);
    with_text(&put, clock_utc().text);
    return cursor_run(&put);
}

Error origin_note(const CampaignLocation *location, bool shared_fs, const Origin *origins, int count, Arena *arena)
{
    CampaignEdit edit;
    Error error = error_none();
    TRY(edit_begin(location, shared_fs, arena, &edit));
    for (int i = 0; i < count && error.kind == OK; i++) error = origin_put(&edit, location, &origins[i], arena);
    return edit_end(&edit, error);
}

Cursor origins_for(Database *database, const char *purpose)
{
    Cursor origins = cursor_open(database, "SELECT trial, fitness FROM origin WHERE purpose = ? ORDER BY id");
    with_text(&origins, purpose);
    return origins;
}

Error origin_note_merged(Store *store, const StoredCampaign *source)
{
    Cursor insert =
        cursor_open(store->database, "INSERT INTO origin(purpose, campaign, hash, time) VALUES('merges', ?, ?, ?)");
    with_text(&insert, source->name);
    with_text(&insert, source->spec.hash.hex);
    with_text(&insert, clock_utc().text);
    return cursor_run(&insert);
}

// ---- as a text ------------------------------------------------------------------------------------------------------

// location NULL: without where each is now.
static Error origin_write(Database *database, const CampaignLocation *location, Arena *arena, const char **text)
{
    const char *now = "";
    *text = "";
    Cursor origins = cursor_open(database, "SELECT purpose, campaign, hash, trial FROM origin WHERE purpose NOT IN "
                                           "('part', 'gathers') ORDER BY id LIMIT 9");
    while (cursor_next(&origins)) {
        const char *purpose = cell_text(&origins, 0), *campaign = cell_text(&origins, 1);
        *text = (*text)[0] == '\0' ? arena_format(arena, "%s %s", purpose, campaign)
                                   : arena_format(arena, "%s, %s", *text, campaign);
        if (!cell_is_null(&origins, 3))
            *text = arena_format(arena, "%s/%lld", *text, (long long)cell_integer(&origins, 3));
        if (location != NULL)
            cursor_stop(&origins, origin_now(location, campaign, cell_text(&origins, 2), arena, &now));
        *text = arena_format(arena, "%s%s", *text, now);
    }
    return cursor_close(&origins);
}

Error origin_text(Database *database, Arena *arena, const char **text)
{
    return origin_write(database, NULL, arena, text);
}

Error origin_read(const CampaignLocation *location, Arena *arena, const char **text)
{
    Database *database;
    TRY(store_peek(location, arena, &database));
    const Error error = origin_write(database, location, arena, text);
    store_leave(database);
    return error;
}
