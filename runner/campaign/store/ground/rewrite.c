// See rewrite.h.
#include "rewrite.h"
#include "rows.h"

#include <string.h>

void rewrite_begin(Store *store, Rewrite *rewrite)
{
    Database *database = store->database;
    const Error begun = database_run(database, "CREATE TEMP TABLE IF NOT EXISTS expected(id INTEGER PRIMARY KEY); "
                                               "DELETE FROM temp.expected;");
    *rewrite = (Rewrite){.store = store};
    rewrite->expect = cursor_open(database, "INSERT INTO temp.expected VALUES(?)");
    rewrite->trial = cursor_open(database, "SELECT * FROM trials WHERE id = ?");
    rewrite->insert_trial = cursor_open(database, "INSERT OR REPLACE INTO trials SELECT * FROM temp.batch_trials");
    cursor_stop(&rewrite->expect, begun);
    if (!store->spec->replicates.store) return;
    rewrite->replicate = cursor_open(database, "SELECT * FROM replicates WHERE trial = ? AND replicate = ?");
    rewrite->insert_replicate =
        cursor_open(database, "INSERT OR REPLACE INTO replicates SELECT * FROM temp.batch_replicates");
}

// Inserts the row that a table in memory shows, and counts it unless the row of `stored` has the same values.
static Error rewrite_one(Cursor *stored, Cursor *insert, const MemoryTable *shown, int64_t *written)
{
    uint64_t wanted = 0;
    memory_table_digests(shown, shown->first, 1, &wanted);
    const bool same = cursor_next(stored) && cells_digest(stored, 0) == wanted;
    *written += !same;
    while (stored->row) cursor_next(stored);
    cursor_next(insert);
    return stored->error.kind != OK ? stored->error : insert->error;
}

Error rewrite_row(Rewrite *rewrite, const TrialRows *rows, int64_t row)
{
    Store *store = rewrite->store;
    const Spec *spec = store->spec;
    const int replicates = spec->replicates.store ? rows->replicate_count : 0;
    with_integer(&rewrite->expect, rows->id[row]);
    cursor_next(&rewrite->expect);
    TRY(rewrite->expect.error);
    with_integer(&rewrite->trial, rows->id[row]);
    rows_table_show(rows, row, row + 1, &store->trials);
    TRY(rewrite_one(&rewrite->trial, &rewrite->insert_trial, &store->trials, &rewrite->written));
    for (int r = 0; r < replicates; r++) {
        const int64_t lane = row * replicates + r;
        with_integer(&rewrite->replicate, rows->id[row]);
        with_integer(&rewrite->replicate, r);
        rows_replicates_table_show(spec, rows, lane, lane + 1, &store->replicates);
        TRY(rewrite_one(&rewrite->replicate, &rewrite->insert_replicate, &store->replicates, &rewrite->written));
    }
    return error_none();
}

Error rewrite_end(Rewrite *rewrite)
{
    Cursor *const cursors[] = {&rewrite->expect, &rewrite->trial, &rewrite->insert_trial, &rewrite->replicate,
                               &rewrite->insert_replicate};
    Error error = error_none();
    for (size_t i = 0; i < sizeof cursors / sizeof *cursors; i++) {
        const Error closed = cursor_close(cursors[i]);
        if (error.kind == OK) error = closed;
    }
    return error;
}

// ---- rows of ids that the campaign never had: what a flipped id looks like ------------------------------------------

Error rewrite_strangers(const Rewrite *rewrite, int64_t first, int64_t end, int64_t *count)
{
    Cursor trials = cursor_open(rewrite->store->database,
                                "SELECT count(*) FROM trials WHERE id >= ? AND id < ? AND id NOT IN temp.expected");
    with_integer(&trials, first);
    with_integer(&trials, end);
    *count = 0;
    next_integer(&trials, count);
    return cursor_close(&trials);
}

Error rewrite_drop_strangers(const Rewrite *rewrite, int64_t first, int64_t end)
{
    static const char *const statements[] = {
        "DELETE FROM trajectories WHERE trial >= ? AND trial < ? AND trial NOT IN temp.expected",
        "DELETE FROM debug_rows WHERE trial >= ? AND trial < ? AND trial NOT IN temp.expected",
        "DELETE FROM replicates WHERE trial >= ? AND trial < ? AND trial NOT IN temp.expected",
        "DELETE FROM trials WHERE id >= ? AND id < ? AND id NOT IN temp.expected"};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (strstr(statements[i], "replicates") != NULL && !rewrite->store->spec->replicates.store) continue;
        Cursor drop = cursor_open(rewrite->store->database, statements[i]);
        with_integer(&drop, first);
        with_integer(&drop, end);
        TRY(cursor_run(&drop));
    }
    return error_none();
}
