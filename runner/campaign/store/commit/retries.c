// See retries.h.
#include "retries.h"

#include "commit.h"

// ---- which trials ---------------------------------------------------------------------------------------------------

// A condition of SQL. The names come from the model's table, not from the user.
static const char *failed_sql(const FailureKinds *kinds, Arena *arena)
{
    const char *list = "";
    if (kinds->count == 0) return "failure <> 'none'";
    for (int i = 0; i < kinds->count; i++)
        list = arena_format(arena, "%s%s'%s'", list, i > 0 ? ", " : "", kinds->names[i]);
    return arena_format(arena, "failure IN (%s)", list);
}

Error trials_failed_count(Database *database, const FailureKinds *kinds, Arena *arena, int64_t *count)
{
    return store_integer(
        database, arena_format(arena, "SELECT count(*) FROM trials WHERE %s", failed_sql(kinds, arena)), 0, count);
}

Cursor trial_rows_failed(Database *database, const Spec *spec, const FailureKinds *kinds, Arena *arena)
{
    return cursor_open(database,
                       rows_select_sql(spec, arena,
                                       arena_format(arena, "WHERE id >= ? AND id < ? AND %s ORDER BY id LIMIT ?",
                                                    failed_sql(kinds, arena))));
}

void trial_rows_between(Cursor *trials, int64_t first, int64_t end, int64_t most)
{
    with_integer(trials, first);
    with_integer(trials, end);
    with_integer(trials, most);
}

// ---- requests -------------------------------------------------------------------------------------------------------

Error retries_pending(Database *database, bool *pending)
{
    int64_t rows = 0;
    TRY(store_integer(database, "SELECT count(*) FROM retries WHERE finished IS NULL", 0, &rows));
    *pending = rows > 0;
    return error_none();
}

Error retry_add(Database *database, const char *kinds)
{
    Cursor insert = cursor_open(database, "INSERT INTO retries(kinds, next, end, trials, recovered, changed, time) "
                                          "SELECT ?, 0, max(id) + 1, 0, 0, 0, ? FROM trials");
    with_text(&insert, kinds);
    with_text(&insert, clock_utc().text);
    return cursor_run(&insert);
}

Error retry_read(Database *database, Arena *arena, Retry *retry, bool *found)
{
    Cursor retries =
        cursor_open(database, "SELECT id, kinds, next, end FROM retries WHERE finished IS NULL ORDER BY id");
    *found = cursor_next(&retries);
    if (*found)
        *retry = (Retry){.id = cell_integer(&retries, 0),
                         .kinds = arena_copy(arena, cell_text(&retries, 1)),
                         .next = cell_integer(&retries, 2),
                         .end = cell_integer(&retries, 3)};
    return cursor_close(&retries);
}

Error retry_note(Database *database, const Retry *retry, int64_t trials, int64_t recovered, int64_t changed)
{
    Cursor update =
        cursor_open(database, "UPDATE retries SET next = ?, trials = trials + ?, recovered = recovered + ?, "
                              "changed = changed + ? WHERE id = ?");
    const int64_t numbers[] = {retry->next, trials, recovered, changed, retry->id};
    for (int i = 0; i < 5; i++) with_integer(&update, numbers[i]);
    return cursor_run(&update);
}

static Error retries_run(Database *database, const char *sql, int64_t id)
{
    Cursor change = cursor_open(database, sql);
    with_integer(&change, id);
    return cursor_run(&change);
}

Error retry_finish(Database *database, Retry *retry)
{
    TRY(retries_run(database, "UPDATE retries SET finished = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = ?",
                    retry->id));
    Cursor sums = cursor_open(database, "SELECT trials, recovered, changed FROM retries WHERE id = ?");
    with_integer(&sums, retry->id);
    if (next_integer(&sums, &retry->trials)) {
        retry->recovered = cell_integer(&sums, 1);
        retry->changed = cell_integer(&sums, 2);
    }
    return cursor_close(&sums);
}

Error trial_forget(Store *store, int64_t id, int64_t failures)
{
    Database *database = store->database;
    TRY(retries_run(database, "DELETE FROM trajectories WHERE trial = ?", id));
    TRY(retries_run(database, "DELETE FROM debug_rows WHERE trial = ?", id));
    if (store->spec->replicates.store) TRY(retries_run(database, "DELETE FROM replicates WHERE trial = ?", id));
    return trial_count_failure(store, id, failures);
}

Error trial_count_failure(Store *store, int64_t id, int64_t failures)
{
    Cursor batch = cursor_open(
        store->database, "UPDATE batches SET failures = failures + ?1 WHERE first_trial <= ?2 AND last_trial >= ?2");
    with_integer(&batch, failures);
    with_integer(&batch, id);
    return cursor_run(&batch);
}
