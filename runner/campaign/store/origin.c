// Where a campaign comes from, if it was made out of others: verified, compared, imported, merged. Its table `origin`
// has a row for each of them.
#include "origin.h"

#include <string.h>

const char *const origin_table_sql =
    "CREATE TABLE origin(id INTEGER PRIMARY KEY, purpose TEXT NOT NULL, campaign TEXT NOT NULL, hash TEXT NOT NULL,\n"
    "  trial INTEGER, fitness REAL, time TEXT NOT NULL) STRICT;\n";

static Error origin_insert(CampaignEdit *edit, const Origin *origin)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(edit->store.database,
                         "INSERT INTO origin(purpose, campaign, hash, trial, fitness, time) SELECT ?1, ?2, ?3, ?4, ?5, "
                         "?6 WHERE NOT EXISTS (SELECT 1 FROM origin WHERE purpose = ?1 AND hash = ?3 AND trial IS ?4 "
                         "AND campaign = ?2)",
                         &statement));
    bind_text(statement, 1, origin->purpose);
    bind_text(statement, 2, origin->campaign);
    bind_text(statement, 3, origin->hash);
    if (origin->trial >= 0)
        bind_integer(statement, 4, origin->trial);
    else
        bind_null(statement, 4);
    bind_real(statement, 5, origin->fitness);
    bind_text(statement, 6, clock_utc().text);
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

Error origin_note(const CampaignPlace *place, bool shared_fs, const Origin *origin, Arena *arena)
{
    CampaignEdit edit;
    TRY(edit_begin(place, shared_fs, arena, &edit));
    return edit_end(&edit, origin_insert(&edit, origin));
}

static Error origin_describe(Database *database, Arena *arena, const char **text)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(database, "SELECT purpose, campaign, trial FROM origin ORDER BY id LIMIT 9", &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row)) {
        const char *purpose = column_text(statement, 0), *campaign = column_text(statement, 1);
        *text = (*text)[0] == '\0' ? arena_format(arena, "%s %s", purpose, campaign)
                                   : arena_format(arena, "%s, %s", *text, campaign);
        if (!column_is_null(statement, 2))
            *text = arena_format(arena, "%s/%lld", *text, (long long)column_integer(statement, 2));
    }
    statement_close(statement);
    return error;
}

Error origin_text(Database *database, Arena *arena, const char **text)
{
    *text = "";
    if (!database_has(database, "origin", NULL)) return error_none(); // schemas before 6 have none
    return origin_describe(database, arena, text);
}
