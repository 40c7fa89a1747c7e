// Where a campaign comes from, if it was made out of others: verified, compared, imported, merged. Its table `origin`
// has a row for each of them.
#include "store.h"

#include "cursor.h"

#include <string.h>

static Error origin_insert(CampaignEdit *edit, const Origin *origin)
{
    Cursor insert = cursor_open(edit->store.database,
                                "INSERT INTO origin(purpose, campaign, hash, trial, fitness, time) SELECT ?1, ?2, ?3, "
                                "?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM origin WHERE purpose = ?1 AND hash = ?3 "
                                "AND trial IS ?4 AND campaign = ?2)");
    with_text(&insert, origin->purpose);
    with_text(&insert, origin->campaign);
    with_text(&insert, origin->hash);
    if (origin->trial >= 0)
        with_integer(&insert, origin->trial);
    else
        with_null(&insert);
    with_real(&insert, origin->fitness);
    with_text(&insert, clock_utc().text);
    return cursor_run(&insert);
}

Error origin_note(const CampaignPlace *place, bool shared_fs, const Origin *origin, Arena *arena)
{
    CampaignEdit edit;
    TRY(edit_begin(place, shared_fs, arena, &edit));
    return edit_end(&edit, origin_insert(&edit, origin));
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

Error origin_rename(CampaignEdit *edit, const char *from, const char *to)
{
    Cursor change = cursor_open(edit->store.database, "UPDATE origin SET campaign = ?1 WHERE campaign = ?2");
    with_text(&change, to);
    with_text(&change, from);
    return cursor_run(&change);
}

Error origin_text(Database *database, Arena *arena, const char **text)
{
    *text = "";
    Cursor origins = cursor_open(database, "SELECT purpose, campaign, trial FROM origin ORDER BY id LIMIT 9");
    while (cursor_next(&origins)) {
        const char *purpose = cell_text(&origins, 0), *campaign = cell_text(&origins, 1);
        *text = (*text)[0] == '\0' ? arena_format(arena, "%s %s", purpose, campaign)
                                   : arena_format(arena, "%s, %s", *text, campaign);
        if (!cell_is_null(&origins, 2))
            *text = arena_format(arena, "%s/%lld", *text, (long long)cell_integer(&origins, 2));
    }
    return cursor_close(&origins);
}
