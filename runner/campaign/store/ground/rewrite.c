// See rewrite.h.
#include "rewrite.h"
#include "rows.h"

#include <string.h>

// Makes "INSERT INTO ..." a statement that replaces an existing row.
static Cursor rewrite_insert(Database *database, const char *insert, Arena *arena)
{
    return cursor_open(database, arena_format(arena, "INSERT OR REPLACE%s", insert + strlen("INSERT")));
}

void rewrite_begin(Database *database, const Spec *spec, Arena *arena, Rewrite *rewrite)
{
    const Error begun = database_run(database, "CREATE TEMP TABLE IF NOT EXISTS expected(id INTEGER PRIMARY KEY); "
                                               "DELETE FROM temp.expected;");
    *rewrite = (Rewrite){.database = database, .spec = spec};
    rewrite->expect = cursor_open(database, "INSERT INTO temp.expected VALUES(?)");
    rewrite->trial = cursor_open(database, "SELECT * FROM trials WHERE id = ?");
    rewrite->insert_trial = rewrite_insert(database, rows_insert_sql(spec, arena), arena);
    cursor_stop(&rewrite->expect, begun);
    if (!spec->replicates.store) return;
    rewrite->replicate = cursor_open(database, "SELECT * FROM replicates WHERE trial = ? AND replicate = ?");
    rewrite->insert_replicate = rewrite_insert(database, rows_insert_replicate_sql(spec, arena), arena);
}

// Runs `insert` with its bound values, and counts the row unless the row of `stored` has the same values.
static Error rewrite_one(Cursor *stored, Cursor *insert, int64_t *written)
{
    const uint64_t wanted = bound_digest(insert->statement);
    const bool same = cursor_next(stored) && cells_digest(stored, 0) == wanted;
    *written += !same;
    while (stored->row) cursor_next(stored);
    cursor_next(insert);
    return stored->error.kind != OK ? stored->error : insert->error;
}

Error rewrite_row(Rewrite *rewrite, const TrialRows *rows, int64_t row)
{
    const Spec *spec = rewrite->spec;
    with_integer(&rewrite->expect, rows->id[row]);
    cursor_next(&rewrite->expect);
    with_integer(&rewrite->trial, rows->id[row]);
    TRY(rewrite->expect.error);
    TRY(rewrite->trial.error);
    TRY(rewrite->insert_trial.error);
    rows_bind(spec, rows, row, rewrite->insert_trial.statement);
    TRY(rewrite_one(&rewrite->trial, &rewrite->insert_trial, &rewrite->written));
    for (int r = 0; spec->replicates.store && r < spec->replicates.count; r++) {
        with_integer(&rewrite->replicate, rows->id[row]);
        with_integer(&rewrite->replicate, r);
        TRY(rewrite->replicate.error);
        TRY(rewrite->insert_replicate.error);
        rows_bind_replicate(spec, rows, row, r, rewrite->insert_replicate.statement);
        TRY(rewrite_one(&rewrite->replicate, &rewrite->insert_replicate, &rewrite->written));
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
    Cursor trials = cursor_open(rewrite->database,
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
        if (strstr(statements[i], "replicates") != NULL && !rewrite->spec->replicates.store) continue;
        Cursor drop = cursor_open(rewrite->database, statements[i]);
        with_integer(&drop, first);
        with_integer(&drop, end);
        TRY(cursor_run(&drop));
    }
    return error_none();
}
