// Reads the sums over all trials of a campaign that keeps rows of some (queries.h). They are written by
// summary_tables.c. The database may come from a stranger: blobs of other sizes have no records.
#include "../queries.h"
#include "../ground/rows.h"

#include <math.h>
#include <string.h>

Error kept_count(Database *database, int64_t *trials, int64_t *rows)
{
    TRY(store_integer(database, "SELECT ifnull(sum(trials), 0) FROM batches", 0, trials));
    return store_integer(database, "SELECT count(*) FROM trials", 0, rows);
}

Error kept_words(Database *database, Arena *arena, const char **words)
{
    int64_t trials = 0, rows = 0;
    *words = NULL;
    if (!kept_partly(database)) return error_none();
    TRY(kept_count(database, &trials, &rows));
    *words =
        arena_format(arena, "rows of %s of %s trials (record.rows)", text_count(rows).text, text_count(trials).text);
    return error_none();
}

Error kept_covers(Database *database, int64_t trial, bool *covers)
{
    Cursor batch = cursor_open(database, "SELECT 1 FROM batches WHERE ? BETWEEN first_trial AND last_trial LIMIT 1");
    with_integer(&batch, trial);
    *covers = kept_partly(database) && cursor_next(&batch);
    return cursor_close(&batch);
}

Error kept_refuse(Database *database, const char *name, const char *what, Arena *arena)
{
    const char *words = NULL;
    TRY(kept_words(database, arena, &words));
    if (words == NULL) return error_none();
    return error_make(ERROR_USER, "%.128s keeps %s, and %s: run its spec with record.rows: all under another name",
                      name, words, what);
}

// ---- a column -------------------------------------------------------------------------------------------------------

Cursor sums_of_columns(Database *database)
{
    return cursor_open(
        database, "SELECT name, vals, missing, least, greatest, sum, histogram FROM summary_columns ORDER BY rowid");
}

bool column_sum_next(Cursor *columns, ColumnSum *sum)
{
    if (!cursor_next(columns)) return false;
    const Bytes blob = cell_blob(columns, 6);
    *sum = (ColumnSum){.name = cell_text(columns, 0),
                       .values = cell_integer(columns, 1),
                       .missing = cell_integer(columns, 2),
                       .least = cell_real(columns, 3),
                       .greatest = cell_real(columns, 4),
                       .sum = cell_real(columns, 5),
                       .histogram = blob.data,
                       .bins = (int64_t)(blob.size / sizeof(HistogramBin))};
    return true;
}

HistogramBin histogram_bin(const ColumnSum *sum, int64_t index)
{
    HistogramBin bin;
    memcpy(&bin, (const char *)sum->histogram + (size_t)index * sizeof bin, sizeof bin);
    return bin;
}

// The value with rank ceil(fraction * values), from 1.
void column_quantile(const ColumnSum *sum, double fraction, double *low, double *high)
{
    const double rank = fmax(1, ceil(fraction * (double)sum->values));
    double below = 0;
    *low = *high = (double)NAN;
    for (int64_t i = 0; i < sum->bins && below < rank; i++) {
        const HistogramBin bin = histogram_bin(sum, i);
        below += (double)bin.trials;
        *low = fmax(bin.low, sum->least);
        *high = fmin(bin.high, sum->greatest);
    }
}

// ---- axes -----------------------------------------------------------------------------------------------------------

Cursor sums_of_axes(Database *database, bool pairs)
{
    return cursor_open(database, pairs ? "SELECT x, y, bins FROM summary_axes WHERE y <> '' ORDER BY rowid"
                                       : "SELECT x, y, bins FROM summary_axes WHERE y = '' ORDER BY rowid");
}

bool axis_sum_next(Cursor *axes, AxisSum *sum)
{
    if (!cursor_next(axes)) return false;
    const Bytes blob = cell_blob(axes, 2);
    *sum = (AxisSum){.x = cell_text(axes, 0),
                     .y = cell_text(axes, 1),
                     .bin = blob.data,
                     .bins = (int64_t)(blob.size / sizeof(AxisBin))};
    return true;
}

AxisBin axis_bin(const AxisSum *sum, int64_t index)
{
    AxisBin bin;
    memcpy(&bin, (const char *)sum->bin + (size_t)index * sizeof bin, sizeof bin);
    return bin;
}

// ---- failures -------------------------------------------------------------------------------------------------------

Cursor sums_of_failures(Database *database)
{
    return cursor_open(database,
                       kept_partly(database)
                           ? "SELECT failure, trials FROM summary_failures WHERE failure <> 'none' AND trials > 0 "
                             "ORDER BY trials DESC, failure"
                           : "SELECT failure, count(*) AS n FROM trials WHERE failure <> 'none' GROUP BY failure "
                             "ORDER BY n DESC");
}

// ---- a trial without a row ------------------------------------------------------------------------------------------

Error trial_of_memory(Database *database, const Spec *spec, const TrialRows *row, Arena *arena, Cursor *trial)
{
    MemoryTable *table = ARENA_NEW(arena, MemoryTable, 1);
    rows_table_take(spec, arena, table);
    rows_table_show(row, 0, row->count, table);
    TRY(database_add_table(database, "computed_trials", table));
    *trial = cursor_open(database, "SELECT * FROM temp.computed_trials");
    cursor_next(trial);
    return trial->error;
}
