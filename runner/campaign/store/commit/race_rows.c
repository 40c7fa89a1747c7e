// See race_rows.h. A rung is chosen from the rows of the trials, once, because its results replace them.
#include "race_rows.h"

#include "../trials/rank.h"
#include "../ground/rows.h"
#include "retries.h"

#include <assert.h>

Error race_make(Database *database, const Spec *spec)
{
    if (!race_of_all(spec)) return error_none();
    return database_run(database, "CREATE TABLE race(rung INTEGER NOT NULL, place INTEGER NOT NULL,\n"
                                  "  trial INTEGER NOT NULL, fitness REAL, PRIMARY KEY(rung, place))\n"
                                  "  STRICT, WITHOUT ROWID;\n"
                                  "CREATE INDEX race_trials ON race(rung, trial);");
}

// ---- choosing -------------------------------------------------------------------------------------------------------

Error race_chosen(Database *database, int rung, int64_t *trials)
{
    Cursor count = cursor_open(database, "SELECT count(*) FROM race WHERE rung = ?");
    with_integer(&count, rung);
    *trials = 0;
    next_integer(&count, trials);
    return cursor_close(&count);
}

// The trials of any rung; of the first all that are stored.
static Error race_trials(Database *database, int rung, int64_t *trials)
{
    return rung == 0 ? trials_count(database, trials) : race_chosen(database, rung, trials);
}

// By failures a trial goes on without a fitness too: `failed: any` takes it from a trial at its first failure. Among
// those that fail as often it is behind the ones that have a fitness.
static Error race_insert(Store *store, int rung, int64_t kept)
{
    char sql[1024];
    const bool failures = store->spec->replicates.race.by == RACE_BY_FAILURES;
    const RankText order = rank_order(store->spec, RANK_COLUMNS_MAX);
    snprintf(sql, sizeof sql,
             "INSERT INTO race SELECT ?, row_number() OVER (ORDER BY %s%s, id) - 1 AS place, id, fitness FROM trials "
             "WHERE %sreplicates = ? ORDER BY place LIMIT ?",
             failures ? "n_failed, fitness IS NULL, " : "", order.text, failures ? "" : "fitness IS NOT NULL AND ");
    Cursor insert = cursor_open(store->database, sql);
    with_integer(&insert, rung);
    with_integer(&insert, race_replicates(store->spec, rung - 1));
    with_integer(&insert, kept);
    return cursor_run(&insert);
}

Error race_choose(Store *store, int rung)
{
    int64_t before = 0;
    TRY(race_trials(store->database, rung - 1, &before));
    TRY(store_begin(store));
    return store_end(store, race_insert(store, rung, race_kept(store->spec, before)));
}

// ---- running --------------------------------------------------------------------------------------------------------

// The numbers are the program's own.
static const char *race_where(const Spec *spec, int rung, char *text, size_t size)
{
    snprintf(text, size, "replicates < %d AND id IN (SELECT trial FROM race WHERE rung = %d)",
             race_replicates(spec, rung), rung);
    return text;
}

Cursor race_rows(Database *database, const Spec *spec, int rung, Arena *arena)
{
    char where[128];
    return cursor_open(database, rows_select_sql(spec, arena,
                                                 arena_format(arena, "WHERE %s AND id > ? ORDER BY id LIMIT ?",
                                                              race_where(spec, rung, where, sizeof where))));
}

Error race_left(Database *database, const Spec *spec, int rung, int64_t *trials)
{
    char where[128], sql[192];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM trials WHERE %s", race_where(spec, rung, where, sizeof where));
    return store_integer(database, sql, 0, trials);
}

// Arrays refer to the row, which is deleted and inserted.
Error race_replace(Store *store, const TrialRows *rows, int64_t row, int64_t failed)
{
    assert(rows->replicate_first > 0);
    TRY(database_run(store->database, "PRAGMA defer_foreign_keys = ON"));
    TRY(store_replace_rows(store, rows, &row, 1, NULL));
    return failed != 0 ? trial_count_failure(store, rows->id[row], failed) : error_none();
}

// A trial of the last rung that was chosen may wait for it still, as its row says.
Error race_ended(Store *store, int64_t trial, int rung, bool *ended)
{
    Cursor reached = cursor_open(store->database,
                                 "SELECT ifnull(max(rung), 0), ifnull(max(rung), 0) = (SELECT max(rung) FROM race), "
                                 "(SELECT replicates FROM trials WHERE id = ?1), "
                                 "(SELECT state FROM campaign) = 'done' FROM race WHERE trial = ?1");
    int64_t last = 0;
    with_integer(&reached, trial);
    if (next_integer(&reached, &last)) {
        const bool open = cell_integer(&reached, 1) == 1 && cell_integer(&reached, 3) == 0;
        const bool has = cell_integer(&reached, 2) == race_replicates(store->spec, (int)last);
        if (last > 0 && open && !has) last--;
    }
    *ended = last == rung;
    return cursor_close(&reached);
}

Error race_drop_surplus(Store *store, int64_t first, int64_t end)
{
    Cursor drop = cursor_open(store->database, "DELETE FROM replicates WHERE trial >= ? AND trial < ? AND replicate >= "
                                               "(SELECT replicates FROM trials WHERE id = replicates.trial)");
    with_integer(&drop, first);
    with_integer(&drop, end);
    return cursor_run(&drop);
}

Error race_want_rung(Database *database, const Spec *spec, int rung)
{
    const bool rungs = spec_has_rungs(spec);
    Cursor drop = cursor_open(
        database, rungs ? "DELETE FROM temp.wanted WHERE (SELECT rungs FROM trials WHERE id = wanted.id) <> ?"
                        : "DELETE FROM temp.wanted WHERE (SELECT replicates FROM trials WHERE id = "
                          "wanted.id) <> ?");
    with_integer(&drop, rungs ? rung : race_replicates(spec, rung));
    return cursor_run(&drop);
}
