// Indexes of the table trials that slow queries make (queries.h). Their names begin with INDEX_PREFIX.
#include "pending.h"
#include "queries.h"
#include "rows.h"
#include "store.h"

#include <string.h>

#define INDEX_PREFIX "trials_auto"
#define INDEX_PREFIX_SQL "name GLOB '" INDEX_PREFIX "_*'"

const char *trials_index_columns(const TrialOrder *columns, int count, bool quoted, Arena *arena)
{
    const char *list = "";
    for (int i = 0; i < count; i++)
        list = arena_format(arena, "%s%s%s%s", list, i > 0 ? ", " : "",
                            quoted ? sql_identifier(arena, columns[i].column) : columns[i].column,
                            columns[i].descending ? " DESC" : "");
    return list;
}

static const char *trials_index_name(const TrialOrder *columns, int count, Arena *arena)
{
    const char *name = INDEX_PREFIX;
    for (int i = 0; i < count; i++)
        name = arena_format(arena, "%s_%s%s", name, columns[i].column, columns[i].descending ? "_desc" : "");
    return sql_identifier(arena, name);
}

int trials_best_columns(const Spec *spec, TrialOrder *columns)
{
    const bool several = spec_several(spec);
    int count = 0;
    if (spec->n_constraints > 0) columns[count++] = (TrialOrder){"violation", false};
    for (int i = 0; i < rows_objectives(spec); i++)
        columns[count++] = (TrialOrder){rows_objective_name(i), spec->objective.maximize[i]};
    if (!several) columns[count++] = (TrialOrder){"fitness", spec->objective.maximize[0]};
    if (!several && spec_has_metric(spec, "survived")) columns[count++] = (TrialOrder){"survived", true};
    return count;
}

// Whether any index of trials has these columns, that of the fitness too; or none is needed, because columns of blocks
// are looked through.
static Error trials_index_exists(const CampaignPlace *place, const char *columns, Arena *arena, bool *exists)
{
    Database *database;
    TRY(store_peek(place, arena, &database));
    if (pending_exist(database)) {
        store_leave(database);
        *exists = true;
        return error_none();
    }
    Cursor indexes = cursor_open(database, "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'trials' "
                                           "AND replace(substr(sql, instr(sql, 'trials(') + 7), '\"', '') = ? || ')'");
    with_text(&indexes, columns);
    *exists = cursor_next(&indexes);
    const Error error = cursor_close(&indexes);
    store_leave(database);
    return error;
}

// Drops the oldest until `most` are left.
static Error trials_indexes_keep(Database *database, int most, Arena *arena)
{
    const char **names = NULL, *name;
    int64_t count = 0;
    TRY(store_integer(database, "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND " INDEX_PREFIX_SQL, 0,
                      &count));
    int64_t left = count - most, n_names = 0;
    if (left <= 0) return error_none();
    names = ARENA_NEW(arena, const char *, left);
    Cursor oldest = cursor_open(database, "SELECT name FROM sqlite_schema WHERE type = 'index' AND " INDEX_PREFIX_SQL
                                          " ORDER BY rowid");
    while (n_names < left && next_text(&oldest, &name)) names[n_names++] = arena_copy(arena, name);
    TRY(cursor_close(&oldest));
    for (int64_t i = 0; i < n_names; i++)
        TRY(database_run(database, arena_format(arena, "DROP INDEX %s", sql_identifier(arena, names[i]))));
    return error_none();
}

Error trials_indexes_drop(Database *database, Arena *arena) { return trials_indexes_keep(database, 0, arena); }

// The index and the log through which it is written take less than twice what the database has.
static Error trials_index_has_room(const CampaignPlace *place, Arena *arena, bool *room)
{
    int64_t available = 0, size = 0;
    TRY(file_size(arena_format(arena, "%s/" CAMPAIGN_DATABASE, place->folder), &size));
    TRY(disk_free(place->folder, &available));
    *room = available / 2 > size;
    return error_none();
}

static Error trials_index_add(CampaignEdit *edit, const TrialOrder *columns, int count, int (*interrupted)(void),
                              Arena *arena, bool *made)
{
    Database *database = edit->store.database;
    const char *state = "";
    TRY(store_text(database, "SELECT state FROM campaign", arena, &state));
    if (state == NULL || strcmp(state, "running") == 0) return error_none(); // it was killed
    TRY(trials_indexes_keep(database, INDEXES_MAX - 1, arena));
    TRY(database_make_index(database,
                            arena_format(arena, "CREATE INDEX %s ON trials(%s)",
                                         trials_index_name(columns, count, arena),
                                         trials_index_columns(columns, count, true, arena)),
                            interrupted));
    *made = true;
    return error_none();
}

Error trials_index_make(const CampaignPlace *place, const TrialOrder *columns, int count, int (*interrupted)(void),
                        Arena *arena, bool *made)
{
    CampaignEdit edit;
    bool exists = false, room = false;
    *made = false;
    if (count == 0 || count > INDEX_COLUMNS_MAX) return error_none();
    TRY(trials_index_exists(place, trials_index_columns(columns, count, false, arena), arena, &exists));
    TRY(trials_index_has_room(place, arena, &room));
    if (exists || !room) return error_none();
    TRY(edit_begin(place, false, arena, &edit));
    const Error error = edit_end(&edit, trials_index_add(&edit, columns, count, interrupted, arena, made));
    *made = *made && error.kind == OK;
    return error;
}
