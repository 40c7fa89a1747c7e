// The tables of a campaign's sums (summary.h). Only campaigns that keep rows of some trials have them:
//
//   summary_failures  failure, trials: of all trials; 'none' too
//   summary_columns   name, vals, missing, least, greatest, sum, histogram: of a column of all trials
//   summary_axes      x, y, bins: trials by one searched parameter (y is '') or by two
//
// Blobs are arrays of records of 8-byte numbers, little-endian: a histogram {low f8, high f8, trials i8}, by value, low
// and high being the least and greatest double of the bin; bins {x_low f8, x_high f8, y_low f8, y_high f8, trials i8,
// failures i8, vals i8, sum f8, best f8, best_trial i8}, all of them, by x, then y.
#include "summary.h"

#include "../ground/cursor.h"
#include "../queries.h"

#include <math.h>
#include <string.h>

static const char summary_sql[] =
    "CREATE TABLE summary_failures(failure TEXT PRIMARY KEY, trials INTEGER NOT NULL) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE summary_columns(name TEXT PRIMARY KEY, vals INTEGER NOT NULL, missing INTEGER NOT NULL,\n"
    "  least REAL, greatest REAL, sum REAL, histogram BLOB NOT NULL) STRICT;\n"
    "CREATE TABLE summary_axes(x TEXT NOT NULL, y TEXT NOT NULL, bins BLOB NOT NULL, PRIMARY KEY(x, y)) STRICT;\n";

_Static_assert(sizeof(HistogramBin) == 24 && sizeof(AxisBin) == 80, "no gaps");

static const char *summary_failure(const Spec *spec, int code)
{
    return code < spec->configured.n_failures ? spec->configured.failures[code] : "unknown";
}

static int summary_failures_count(const Spec *spec) { return spec->configured.n_failures + 1; }

static const char *summary_grid_y(const Summary *summary, const SummaryGrid *grid)
{
    return grid->y < 0 ? "" : summary->axes[grid->y].name;
}

// ---- writing --------------------------------------------------------------------------------------------------------

// The exponents by value: negative numbers from the greatest magnitude on, then the others.
static int summary_exponent_at(int index)
{
    const int negative = SUMMARY_EXPONENTS / 2;
    return index < negative ? SUMMARY_EXPONENTS - 1 - index : index - negative;
}

static int64_t summary_histogram(const SummaryColumn *column, HistogramBin *records)
{
    int64_t count = 0;
    for (int i = 0; i < SUMMARY_EXPONENTS; i++) {
        const int exponent = summary_exponent_at(i);
        const int64_t *counts = column->counts[exponent];
        for (int k = 0; counts != NULL && k < SUMMARY_FRACTIONS; k++) {
            const int fraction = exponent >= SUMMARY_EXPONENTS / 2 ? SUMMARY_FRACTIONS - 1 - k : k;
            if (counts[fraction] == 0) continue;
            records[count].trials = counts[fraction];
            summary_bounds(exponent, fraction, &records[count].low, &records[count].high);
            count++;
        }
    }
    return count;
}

static int64_t summary_histogram_most(const SummaryColumn *column)
{
    int64_t n_used = 0;
    for (int i = 0; i < SUMMARY_EXPONENTS; i++) n_used += column->counts[i] != NULL;
    return n_used * SUMMARY_FRACTIONS;
}

static void summary_bind_column(Cursor *write, const SummaryColumn *column, Arena *arena)
{
    HistogramBin *records = ARENA_NEW(arena, HistogramBin, summary_histogram_most(column));
    const int64_t count = summary_histogram(column, records);
    with_integer(write, column->values);
    with_integer(write, column->missing);
    with_real(write, column->least);
    with_real(write, column->greatest);
    with_real(write, column->sum);
    with_blob(write, records, (size_t)count * sizeof *records);
    with_text(write, column->name);
}

// The values of the n bins of an axis of a grid: of the bins of the axis that share one.
static void summary_bin_values(const SummaryAxis *axis, int n, double *low, double *high)
{
    for (int i = 0; i < axis->bins; i++) high[i * n / axis->bins] = axis->high[i];
    for (int i = axis->bins - 1; i >= 0; i--) low[i * n / axis->bins] = axis->low[i];
}

// The records of a grid
static void summary_records(const Summary *summary, const SummaryGrid *grid, AxisBin *records)
{
    double x_low[SUMMARY_LEVELS], x_high[SUMMARY_LEVELS];
    double y_low[SUMMARY_LEVELS] = {(double)NAN}, y_high[SUMMARY_LEVELS] = {(double)NAN};
    summary_bin_values(&summary->axes[grid->x], grid->n_x, x_low, x_high);
    if (grid->y >= 0) summary_bin_values(&summary->axes[grid->y], grid->n_y, y_low, y_high);
    for (int i = 0; i < grid->n_x * grid->n_y; i++) {
        const SummaryBin *bin = &grid->bins[i];
        const int x = i / grid->n_y, y = i % grid->n_y;
        records[i] = (AxisBin){.x_low = x_low[x],
                               .x_high = x_high[x],
                               .y_low = y_low[y],
                               .y_high = y_high[y],
                               .trials = bin->trials,
                               .failures = bin->failures,
                               .values = bin->values,
                               .sum = bin->sum,
                               .best = bin->best,
                               .best_trial = bin->best_trial};
    }
}

static void summary_bind_grid(Cursor *write, const Summary *summary, const SummaryGrid *grid, Arena *arena)
{
    const int64_t count = (int64_t)grid->n_x * grid->n_y;
    AxisBin *records = ARENA_NEW(arena, AxisBin, count);
    summary_records(summary, grid, records);
    with_blob(write, records, (size_t)count * sizeof *records);
    with_text(write, summary->axes[grid->x].name);
    with_text(write, summary_grid_y(summary, grid));
}

typedef struct SummaryStatements {
    const char *failures, *columns, *axes;
} SummaryStatements;

static Error summary_put_failures(Database *database, const Summary *summary, const char *sql)
{
    Cursor failures = cursor_open(database, sql);
    for (int i = 0; i < summary_failures_count(summary->spec); i++) {
        with_integer(&failures, summary->failures[i]);
        with_text(&failures, summary_failure(summary->spec, i));
        cursor_next(&failures);
    }
    return cursor_close(&failures);
}

static Error summary_put_columns(Database *database, const Summary *summary, const char *sql, Arena *arena)
{
    const size_t used = arena->used;
    Cursor columns = cursor_open(database, sql);
    for (int i = 0; i < summary->n_columns; i++) {
        summary_bind_column(&columns, &summary->columns[i], arena);
        cursor_next(&columns);
        arena_rewind(arena, used);
    }
    return cursor_close(&columns);
}

static Error summary_put_axes(Database *database, const Summary *summary, const char *sql, Arena *arena)
{
    const size_t used = arena->used;
    Cursor axes = cursor_open(database, sql);
    for (int i = 0; i < summary->n_grids; i++) {
        summary_bind_grid(&axes, summary, &summary->grids[i], arena);
        cursor_next(&axes);
        arena_rewind(arena, used);
    }
    return cursor_close(&axes);
}

static Error summary_put_by(Database *database, const Summary *summary, const SummaryStatements *sql)
{
    Arena arena;
    TRY(arena_create(&arena, (size_t)SUMMARY_EXPONENTS * SUMMARY_FRACTIONS * sizeof(HistogramBin) + 4096,
                     "sums over trials"));
    Error error = summary_put_failures(database, summary, sql->failures);
    if (error.kind == OK) error = summary_put_columns(database, summary, sql->columns, &arena);
    if (error.kind == OK) error = summary_put_axes(database, summary, sql->axes, &arena);
    arena_destroy(&arena);
    return error;
}

Error summary_make(Database *database, const Summary *summary)
{
    static const SummaryStatements insert = {
        .failures = "INSERT INTO summary_failures(trials, failure) VALUES(?, ?)",
        .columns = "INSERT INTO summary_columns(vals, missing, least, greatest, sum, histogram, name) "
                   "VALUES(?, ?, ?, ?, ?, ?, ?)",
        .axes = "INSERT INTO summary_axes(bins, x, y) VALUES(?, ?, ?)"};
    return summary_put_by(database, summary, &insert);
}

Error summary_make_tables(Database *database) { return database_run(database, summary_sql); }

Error summary_write(Database *database, const Summary *summary)
{
    static const SummaryStatements update = {
        .failures = "UPDATE summary_failures SET trials = ? WHERE failure = ?",
        .columns = "UPDATE summary_columns SET vals = ?, missing = ?, least = ?, greatest = ?, sum = ?, histogram = ? "
                   "WHERE name = ?",
        .axes = "UPDATE summary_axes SET bins = ? WHERE x = ? AND y = ?"};
    return summary_put_by(database, summary, &update);
}

// ---- reading --------------------------------------------------------------------------------------------------------

static Error summary_damaged(const Database *database, const char *table)
{
    return error_make(ERROR_MACHINE,
                      "%.300s: table %s does not hold the sums of this campaign: another program changed it, or it is "
                      "damaged; restore the file from a copy, or run the spec again under a new name",
                      database_path(database), table);
}

static Error summary_read_failures(Database *database, Summary *summary)
{
    bool ok = true;
    summary->trials = 0;
    Cursor row = cursor_open(database, "SELECT trials FROM summary_failures WHERE failure = ?");
    for (int i = 0; i < summary_failures_count(summary->spec); i++) {
        with_text(&row, summary_failure(summary->spec, i));
        ok &= next_integer(&row, &summary->failures[i]);
        ok &= summary->failures[i] >= 0 && summary->failures[i] <= TRIALS_MAX;
        if (ok) summary->trials += summary->failures[i];
    }
    TRY(cursor_close(&row));
    return ok ? error_none() : summary_damaged(database, "summary_failures");
}

static bool summary_read_histogram(Summary *summary, SummaryColumn *column, Bytes blob)
{
    int64_t trials = 0;
    HistogramBin record;
    if (blob.size % sizeof record != 0) return false;
    for (size_t at = 0; at < blob.size; at += sizeof record) {
        int exponent, fraction;
        memcpy(&record, (const char *)blob.data + at, sizeof record);
        summary_find_bin(record.low, &exponent, &fraction);
        if (column->counts[exponent] == NULL)
            column->counts[exponent] = ARENA_NEW(summary->arena, int64_t, SUMMARY_FRACTIONS);
        if (record.trials < 0 || record.trials > TRIALS_MAX || trials > TRIALS_MAX) return false;
        column->counts[exponent][fraction] = record.trials;
        trials += record.trials;
    }
    return trials == column->values;
}

static bool summary_read_column(Summary *summary, SummaryColumn *column, const Cursor *row)
{
    column->values = cell_integer(row, 0);
    column->missing = cell_integer(row, 1);
    column->least = cell_real(row, 2);
    column->greatest = cell_real(row, 3);
    column->sum = cell_real(row, 4);
    for (int i = 0; i < SUMMARY_EXPONENTS; i++) column->counts[i] = NULL;
    return column->missing >= 0 && column->missing <= TRIALS_MAX &&
           summary_read_histogram(summary, column, cell_blob(row, 5));
}

static Error summary_read_columns(Database *database, Summary *summary)
{
    bool ok = true;
    Cursor row = cursor_open(
        database, "SELECT vals, missing, least, greatest, sum, histogram FROM summary_columns WHERE name = ?");
    for (int i = 0; i < summary->n_columns; i++) {
        with_text(&row, summary->columns[i].name);
        ok &= cursor_next(&row) && summary_read_column(summary, &summary->columns[i], &row);
    }
    TRY(cursor_close(&row));
    return ok ? error_none() : summary_damaged(database, "summary_columns");
}

static bool summary_read_bin(const AxisBin *now, const void *stored, SummaryBin *bin)
{
    AxisBin record;
    memcpy(&record, stored, sizeof record);
    *bin = (SummaryBin){record.trials, record.failures, record.values, record.sum, record.best, record.best_trial};
    return record.x_low == now->x_low && record.x_high == now->x_high && record.trials >= 0 &&
           record.trials <= TRIALS_MAX && record.failures >= 0 && record.failures <= record.trials &&
           record.values >= 0 && record.values <= record.trials;
}

static bool summary_read_bins(const Summary *summary, SummaryGrid *grid, Bytes blob)
{
    const size_t count = (size_t)grid->n_x * (size_t)grid->n_y, used = summary->arena->used;
    AxisBin *now = ARENA_NEW(summary->arena, AxisBin, count);
    bool ok = blob.size == count * sizeof *now;
    summary_records(summary, grid, now);
    for (size_t i = 0; i < count && ok; i++)
        ok = summary_read_bin(&now[i], (const char *)blob.data + i * sizeof *now, &grid->bins[i]);
    arena_rewind(summary->arena, used);
    return ok;
}

static Error summary_read_axes(Database *database, Summary *summary)
{
    bool ok = true;
    Cursor row = cursor_open(database, "SELECT bins FROM summary_axes WHERE x = ? AND y = ?");
    for (int i = 0; i < summary->n_grids; i++) {
        with_text(&row, summary->axes[summary->grids[i].x].name);
        with_text(&row, summary_grid_y(summary, &summary->grids[i]));
        ok &= cursor_next(&row) && summary_read_bins(summary, &summary->grids[i], cell_blob(&row, 0));
    }
    TRY(cursor_close(&row));
    return ok ? error_none() : summary_damaged(database, "summary_axes");
}

Error summary_read(Database *database, Summary *summary)
{
    TRY(summary_read_failures(database, summary));
    TRY(summary_read_columns(database, summary));
    return summary_read_axes(database, summary);
}
