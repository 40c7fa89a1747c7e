// See asked.h. A row of `asked` is a replicate: what was told of it stays there, and a trial's row is computed from its
// replicates when the last of them was told. `told_before` keeps what was corrected.
#include "asked.h"

#include <string.h>

Error asked_make(Database *database)
{
    return database_run(
        database,
        "CREATE TABLE asked(trial INTEGER NOT NULL, replicate INTEGER NOT NULL, asked TEXT NOT NULL, told TEXT,\n"
        "  failure TEXT, metrics BLOB, PRIMARY KEY(trial, replicate)) STRICT, WITHOUT ROWID;\n"
        "CREATE INDEX asked_open ON asked(trial, replicate) WHERE told IS NULL;\n"
        "CREATE TABLE told_before(id INTEGER PRIMARY KEY, trial INTEGER NOT NULL, replicate INTEGER NOT NULL,\n"
        "  told TEXT NOT NULL, failure TEXT NOT NULL, metrics BLOB NOT NULL, replaced TEXT NOT NULL) STRICT;");
}

bool asked_exists(const Database *database) { return database_has(database, "asked", NULL); }

Error asked_note(Store *store, int64_t trial, const char *time)
{
    Cursor insert = cursor_open(store->database, "INSERT INTO asked(trial, replicate, asked) VALUES(?, ?, ?) "
                                                 "ON CONFLICT DO UPDATE SET asked = excluded.asked WHERE told IS NULL");
    for (int r = 0; r < store->spec->replicates.count; r++) {
        with_integer(&insert, trial);
        with_integer(&insert, r);
        with_text(&insert, time);
        cursor_next(&insert);
    }
    return cursor_close(&insert);
}

Error asked_last(Database *database, int64_t *trial)
{
    return store_integer(database, "SELECT ifnull(max(trial), -1) FROM asked", -1, trial);
}

Error asked_count(Database *database, int64_t *trials)
{
    return store_integer(database, "SELECT count(*) FROM asked WHERE replicate = 0", 0, trials);
}

Error asked_count_open(Database *database, int64_t *open)
{
    return store_integer(database, "SELECT count(DISTINCT trial) FROM asked WHERE told IS NULL", 0, open);
}

Error asked_complete(Database *database, int64_t first, int64_t *trials)
{
    *trials = 0;
    Cursor count = cursor_open(database, "SELECT count(*) FROM trials WHERE id >= ?");
    with_integer(&count, first);
    next_integer(&count, trials);
    return cursor_close(&count);
}

Error asked_of_trial(Database *database, int64_t trial, int64_t *lanes, int64_t *told)
{
    *lanes = *told = 0;
    Cursor count = cursor_open(database, "SELECT count(*), count(told) FROM asked WHERE trial = ?");
    with_integer(&count, trial);
    if (next_integer(&count, lanes)) *told = cell_integer(&count, 1);
    return cursor_close(&count);
}

static void asked_take(const Spec *spec, const Cursor *row, AskedLane *lane, bool *damaged)
{
    const size_t size = (size_t)spec->configured.n_metrics * sizeof *lane->metric;
    snprintf(lane->when, sizeof lane->when, "%s", cell_text(row, lane->told ? 1 : 0));
    lane->failure = 0;
    if (!lane->told) return;
    const Bytes metrics = cell_blob(row, 3);
    *damaged = metrics.size != size;
    if (!*damaged && size > 0) memcpy(lane->metric, metrics.data, size);
    while (lane->failure < spec->configured.n_failures &&
           strcmp(spec->configured.failures[lane->failure], cell_text(row, 2)) != 0)
        lane->failure++;
    *damaged |= lane->failure == spec->configured.n_failures;
}

Error asked_read(Database *database, const Spec *spec, AskedLane *lane, bool *found)
{
    bool damaged = false;
    Cursor row = cursor_open(database, "SELECT asked, told, failure, metrics FROM asked WHERE trial = ? AND "
                                       "replicate = ?");
    with_integer(&row, lane->trial);
    with_integer(&row, lane->replicate);
    *found = cursor_next(&row);
    if (*found) lane->told = !cell_is_null(&row, 1);
    if (*found) asked_take(spec, &row, lane, &damaged);
    TRY(cursor_close(&row));
    if (!damaged) return error_none();
    return error_make(ERROR_MACHINE, "the stored result of trial %lld is damaged; `doctor` says what is",
                      (long long)lane->trial);
}

Error asked_tell(Store *store, const AskedLane *lane, const char *time)
{
    const Configured *configured = &store->spec->configured;
    Cursor update = cursor_open(
        store->database, "UPDATE asked SET told = ?, failure = ?, metrics = ? WHERE trial = ? AND replicate = ?");
    with_text(&update, time);
    with_text(&update, configured->failures[lane->failure]);
    with_blob(&update, lane->metric, (size_t)configured->n_metrics * sizeof *lane->metric);
    with_integer(&update, lane->trial);
    with_integer(&update, lane->replicate);
    return cursor_run(&update);
}

Error asked_keep_old(Store *store, const AskedLane *lane, const char *time)
{
    Cursor insert = cursor_open(
        store->database, "INSERT INTO told_before(trial, replicate, told, failure, metrics, replaced) SELECT "
                         "trial, replicate, told, failure, metrics, ? FROM asked WHERE trial = ? AND replicate = "
                         "? AND told IS NOT NULL");
    with_text(&insert, time);
    with_integer(&insert, lane->trial);
    with_integer(&insert, lane->replicate);
    return cursor_run(&insert);
}

Cursor asked_open(Database *database, const char *before)
{
    Cursor open = cursor_open(database, "SELECT trial, replicate, asked FROM asked WHERE told IS NULL AND "
                                        "(?1 IS NULL OR asked < ?1) ORDER BY trial, replicate");
    with_text(&open, before);
    return open;
}
