// The table batches (queries.h). Sums of its times are in timings.c.
#include "../queries.h"

#include "../ground/rows.h"

Error batches_count(Database *database, int64_t *count)
{
    return store_integer(database, "SELECT count(*) FROM batches", 0, count);
}

Cursor batches_in_turn(Database *database)
{
    return cursor_open(database, "SELECT wall_seconds, kernel_seconds, copy_seconds, search_seconds, trials "
                                 "FROM batches ORDER BY id");
}

bool batch_next(Cursor *batches, BatchRow *batch)
{
    if (!cursor_next(batches)) return false;
    *batch = (BatchRow){cell_real(batches, 0), cell_real(batches, 1), cell_real(batches, 2), cell_real(batches, 3),
                        cell_integer(batches, 4)};
    return true;
}

Cursor batches_by_device(Database *database)
{
    return cursor_open(database,
                       "SELECT device, version, count(*), sum(trials), sum(lanes), "
                       "round(sum(kernel_seconds), 2) FROM batches GROUP BY device, version ORDER BY min(id)");
}

Error batches_devices(Database *database, Arena *arena, const char **devices)
{
    return store_text(database, "SELECT coalesce(group_concat(DISTINCT device), '') FROM batches", arena, devices);
}

Error batch_note_merged(Store *store, const char *campaign, const MergedTrials *merged)
{
    Cursor insert = cursor_open(
        store->database, "INSERT INTO batches(id, first_trial, last_trial, trials, failures, lanes, backend, device, "
                         "version, numerics_version, kernel_seconds, wait_seconds, wall_seconds, committed) "
                         "VALUES(?, ?, ?, ?, ?, 0, 'merge', ?, '', ?, 0.0, 0.0, 0.0, ?)");
    const int64_t numbers[] = {store->next_batch++, merged->first, merged->last, merged->trials, merged->failures};
    for (int i = 0; i < 5; i++) with_integer(&insert, numbers[i]);
    with_text(&insert, campaign);
    with_integer(&insert, NUMERICS_VERSION);
    with_text(&insert, clock_utc().text);
    return cursor_run(&insert);
}

Error batches_restore(Database *database, const Spec *spec, Arena *arena)
{
    const char *sums = arena_format(arena,
                                    "CREATE TEMP TABLE sums AS SELECT count(*) AS trials, min(id) AS first, "
                                    "max(id) AS last, ifnull(sum(failure <> 'none' OR %s IS NULL), 0) AS failures "
                                    "FROM trials",
                                    rows_outcome_name(spec));
    TRY(database_run(database, sums));
    return database_run(
        database,
        "INSERT INTO batches SELECT 0, first, last, 0, 0, trials, 'unknown', 'unknown', 'unknown', 0, NULL, NULL, "
        "NULL, '', NULL, NULL, NULL, NULL, NULL FROM temp.sums "
        "WHERE trials > 0 AND NOT EXISTS (SELECT * FROM batches); "
        "CREATE TEMP TABLE disagree AS SELECT 1 AS is_so FROM temp.sums WHERE trials > 0 AND (trials, failures, last) "
        "IS NOT (SELECT sum(trials), sum(failures), max(last_trial) FROM batches); "
        "DELETE FROM batches WHERE id > (SELECT min(id) FROM batches) AND EXISTS (SELECT * FROM temp.disagree); "
        "UPDATE batches SET id = 0, first_trial = (SELECT first FROM temp.sums), "
        "last_trial = (SELECT last FROM temp.sums), trials = (SELECT trials FROM temp.sums), "
        "failures = (SELECT failures FROM temp.sums) WHERE EXISTS (SELECT * FROM temp.disagree); "
        "DROP TABLE temp.sums; DROP TABLE temp.disagree;");
}
