// The progress of searches that learn, by rounds (queries.h).
#include "../queries.h"
#include "../trials/rank.h"

#include "rounds.h"

#include <math.h>
#include <string.h>

Error searches_have_rounds(Database *database, bool *have)
{
    int64_t rounds = 0;
    TRY(store_integer(database, "SELECT EXISTS (SELECT 1 FROM rounds)", 0, &rounds));
    *have = rounds > 0;
    return error_none();
}

Error searches_count(Database *database, int64_t *count)
{
    return store_integer(database, "SELECT count(DISTINCT search) FROM rounds", 0, count);
}

// ---- the state ------------------------------------------------------------------------------------------------------

Error search_state_read(Database *database, void *state, size_t most, size_t *size, bool *found)
{
    Cursor searches = cursor_open(database, "SELECT state FROM searches WHERE id = 0");
    *found = cursor_next(&searches) && !cell_is_null(&searches, 0);
    if (*found) {
        const Bytes blob = cell_blob(&searches, 0);
        if (blob.size > 0 && blob.size <= most) memcpy(state, blob.data, blob.size);
        *size = blob.size;
    }
    return cursor_close(&searches);
}

Error search_state_restore(Database *database, const Search *search)
{
    Cursor insert = cursor_open(
        database, "INSERT INTO searches(id, method, state, stop_reason) VALUES(0, ?, ?, ?) ON CONFLICT(id) DO "
                  "UPDATE SET method = excluded.method, state = excluded.state, previous = NULL, "
                  "stop_reason = excluded.stop_reason");
    with_text(&insert, search->spec->method->name);
    with_blob(&insert, search->state, search->state_size);
    with_text(&insert, search->method->stopped(search));
    return cursor_run(&insert);
}

Error searches_restore_others(Database *database)
{
    return database_run(database,
                        "DELETE FROM searches WHERE id <> 0 AND id NOT IN (SELECT search FROM rounds); "
                        "INSERT OR IGNORE INTO searches(id, method) SELECT DISTINCT search, '' FROM rounds; "
                        "UPDATE searches SET method = (SELECT method FROM searches WHERE id = 0), state = NULL, "
                        "previous = NULL, stop_reason = NULL WHERE id <> 0");
}

Error rounds_clear(Database *database)
{
    if (gradients_are_kept(database)) TRY(database_run(database, "DELETE FROM gradients"));
    return database_run(database, "DELETE FROM fronts; DELETE FROM rounds");
}

// ---- the last rounds ------------------------------------------------------------------------------------------------

#define SEARCHES_PROGRESS(columns, from, order)                                                                        \
    "SELECT r.search, r.round + 1, r.evaluations, r.population,"                                                       \
    " (SELECT count(*) FROM rounds s WHERE s.search = r.search AND s.stop IS NOT NULL), ifnull(r.stop, ''), " columns  \
    " FROM " from " WHERE r.round = (SELECT max(round) FROM rounds m WHERE m.search = r.search) ORDER BY " order       \
    ", r.search LIMIT ?"
#define SEARCHES_BY(order) SEARCHES_PROGRESS("0, NULL, r.sigma, r.condition, r.best, r.debug", "rounds r", order)

Cursor searches_progress(Database *database, SearchOrder order, int64_t most)
{
    static const char *const statements[] = {
        [SEARCHES_BY_LEAST] = SEARCHES_BY("r.best"),
        [SEARCHES_BY_GREATEST] = SEARCHES_BY("r.best DESC"),
        [SEARCHES_BY_VOLUME] = SEARCHES_PROGRESS("f.front, f.hypervolume, NULL, NULL, NULL, NULL",
                                                 "rounds r JOIN fronts f USING(search, round)", "f.hypervolume DESC"),
        [SEARCHES_BY_NUMBER] = SEARCHES_BY("r.search"),
    };
    Cursor searches = cursor_open(database, statements[order]);
    with_integer(&searches, most);
    return searches;
}

double round_number(Bytes debug, int column)
{
    double number = (double)NAN;
    if (debug.size >= (size_t)(column + 1) * sizeof number)
        memcpy(&number, debug.data + (size_t)column * sizeof number, sizeof number);
    return number;
}

Error searches_columns(Database *database, RoundColumns *columns)
{
    const SearchMethod *method = NULL;
    Cursor methods = cursor_open(database, "SELECT method FROM searches LIMIT 1");
    if (cursor_next(&methods)) method = search_method_find(cell_text(&methods, 0));
    TRY(cursor_close(&methods));
    *columns = (RoundColumns){method != NULL ? method->gradient_column : 0, method != NULL ? method->model : NULL};
    while (columns->model != NULL && columns->model->key != NULL) {
        int64_t has = 0;
        Cursor specs = cursor_open(database, "SELECT instr(canonical, ? || ' = ') FROM campaign");
        with_text(&specs, columns->model->key);
        next_integer(&specs, &has);
        TRY(cursor_close(&specs));
        if (has > 0) break;
        columns->model = columns->model->other;
    }
    return error_none();
}

static double search_number(Cursor *searches, int column)
{
    return column > 0 ? round_number(cell_blob(searches, 11), column) : (double)NAN;
}

bool search_progress_next(Cursor *searches, RoundColumns columns, SearchProgress *progress)
{
    if (!cursor_next(searches)) return false;
    *progress = (SearchProgress){.search = cell_integer(searches, 0),
                                 .generations = cell_integer(searches, 1),
                                 .evaluations = cell_integer(searches, 2),
                                 .population = cell_integer(searches, 3),
                                 .ends = cell_integer(searches, 4),
                                 .stop = cell_text(searches, 5),
                                 .front = cell_integer(searches, 6),
                                 .hypervolume = cell_real(searches, 7),
                                 .sigma = cell_real(searches, 8),
                                 .condition = cell_real(searches, 9),
                                 .best = cell_real(searches, 10),
                                 .gradient = search_number(searches, columns.gradient)};
    for (int i = 0; columns.model != NULL && i < columns.model->count; i++)
        progress->model[i] = search_number(searches, columns.model->first + i);
    return true;
}

Error searches_best(const StoredCampaign *campaign, Arena *arena, double **best, int64_t *count)
{
    int64_t searches = 0;
    *count = 0;
    TRY(store_integer(campaign->database, "SELECT count(DISTINCT search) FROM trials", 0, &searches));
    *best = ARENA_NEW(arena, double, searches + 1);
    Cursor each = cursor_open(campaign->database, campaign->spec.objective.maximize[0]
                                                      ? "SELECT max(fitness) FROM trials GROUP BY search"
                                                      : "SELECT min(fitness) FROM trials GROUP BY search");
    while (*count < searches && next_real(&each, *best + *count)) ++*count;
    return cursor_close(&each);
}

// ---- rounds that are drawn ------------------------------------------------------------------------------------------

Error rounds_kept(Database *database, bool several, bool maximize, RoundsKept *kept)
{
    *kept = (RoundsKept){.rounds = 0};
    TRY(store_integer(database, "SELECT count(*) FROM rounds", 0, &kept->rounds));
    TRY(searches_count(database, &kept->searches));
    return store_integer(database,
                         several ? "SELECT search FROM fronts ORDER BY hypervolume DESC, search LIMIT 1"
                         : maximize
                             ? "SELECT search FROM rounds WHERE best IS NOT NULL ORDER BY best DESC, search LIMIT 1"
                             : "SELECT search FROM rounds WHERE best IS NOT NULL ORDER BY best, search LIMIT 1",
                         0, &kept->best);
}

Cursor rounds_of_best(Database *database, bool maximize, int64_t every, int64_t searches, int64_t most, Arena *arena)
{
    static const char sql[] =
        "SELECT r.search, r.round, r.evaluations, r.best, r.sigma, r.condition, "
        "(SELECT hypervolume FROM fronts f WHERE f.search = r.search AND f.round = r.round), r.debug FROM rounds r "
        "WHERE (r.round %% ?1 = 0 OR r.stop IS NOT NULL) AND r.search IN (%s LIMIT ?2) ORDER BY r.search, r.round "
        "LIMIT ?3";
    Cursor rounds = cursor_open(database, arena_format(arena, sql, rank_searches(maximize)));
    with_integer(&rounds, every);
    with_integer(&rounds, searches);
    with_integer(&rounds, most);
    return rounds;
}

bool round_next(Cursor *rounds, RoundRow *round)
{
    if (!cursor_next(rounds)) return false;
    *round = (RoundRow){.search = cell_integer(rounds, 0),
                        .round = cell_integer(rounds, 1),
                        .evaluations = cell_real(rounds, 2),
                        .best = cell_real(rounds, 3),
                        .sigma = cell_real(rounds, 4),
                        .condition = cell_real(rounds, 5),
                        .hypervolume = cell_real(rounds, 6),
                        .debug = cell_blob(rounds, 7)};
    return true;
}
