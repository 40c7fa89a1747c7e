// The data of the plots of a campaign that keeps rows of some trials: counts, bins and cells come from the sums over
// all trials. The sample are the rows whose ids are multiples of record.rows.every, if there are such, since the others
// are the best and the first that failed.
#include "plot.h"

#include <math.h>
#include <string.h>

// The axes of a campaign with many have fewer bins in a pair (store/summary/summary.h).
enum { SUMS_MANY_AXES = 8, SUMS_FEW_BINS = 16 };

static int sums_gain(const PlotData *data, const char *name)
{
    int g = 0;
    while (g < data->n_gains && strcmp(data->gain[g].name, name) != 0) g++;
    return g;
}

static Error sums_count_axes(Database *database, int *count)
{
    AxisSum sum;
    Cursor axes = sums_of_axes(database, false);
    for (*count = 0; axis_sum_next(&axes, &sum);) ++*count;
    return cursor_close(&axes);
}

// ---- one axis -------------------------------------------------------------------------------------------------------

static void sums_cell(const PlotData *data, PlotCell *cell, const AxisBin *bin)
{
    cell->count += bin->trials;
    cell->failed += bin->failures;
    if (isfinite(bin->best) && plot_better(data, bin->best, cell->best)) cell->best = bin->best;
}

// Neighbouring bins that hold single values are divided half-way between these.
static void sums_edges(PlotGain *gain, const double *low, const double *high)
{
    const int n = gain->n_bins;
    for (int b = 1; b < n; b++) gain->edge[b] = high[b - 1] + 0.5 * (low[b] - high[b - 1]);
    gain->edge[0] = low[0];
    gain->edge[n] = high[n - 1];
    const bool single = low[0] == high[0];
    if (n == 1 && single) {
        const double half = fabs(low[0]) > 0 ? 0.05 * fabs(low[0]) : 0.5;
        gain->edge[0] -= half;
        gain->edge[1] += half;
    } else if (single) {
        gain->edge[0] -= gain->edge[1] - low[0];
        gain->edge[n] += high[n - 1] - gain->edge[n - 1];
    }
    if (!(gain->edge[0] > 0)) gain->log = false;
}

static void sums_take_axis(PlotData *data, const AxisSum *sum, int most)
{
    double low[PLOT_BINS], high[PLOT_BINS];
    const int g = sums_gain(data, sum->x), bins = sum->bins < most ? (int)sum->bins : most;
    if (g == data->n_gains || bins < 1) return;
    PlotGain *gain = &data->gain[g];
    gain->n_bins = bins;
    for (int b = 0; b < PLOT_BINS; b++) data->bin[g * PLOT_BINS + b] = (PlotCell){.best = (double)NAN};
    for (int64_t i = sum->bins - 1; i >= 0; i--) {
        const AxisBin bin = axis_bin(sum, i);
        const int64_t b = i * bins / sum->bins;
        if (i == sum->bins - 1 || b != (i + 1) * bins / sum->bins) high[b] = bin.x_high;
        low[b] = bin.x_low;
        sums_cell(data, &data->bin[g * PLOT_BINS + b], &bin);
    }
    gain->low = low[0];
    gain->high = high[bins - 1];
    sums_edges(gain, low, high);
}

static void sums_take_pair(PlotData *data, const AxisSum *sum)
{
    const int x = sums_gain(data, sum->x), y = sums_gain(data, sum->y);
    if (x == data->n_gains || y == data->n_gains) return;
    const int n_x = data->gain[x].n_bins, n_y = data->gain[y].n_bins;
    if (sum->bins != (int64_t)n_x * n_y) return; // written by another program
    for (int i = 0; i < n_x; i++) {
        for (int k = 0; k < n_y; k++) {
            const AxisBin bin = axis_bin(sum, (int64_t)i * n_y + k);
            PlotCell *cell = (PlotCell *)plot_cell(data, x, y, i, k);
            *cell = (PlotCell){.best = (double)NAN};
            sums_cell(data, cell, &bin);
        }
    }
}

// The kind of failures in a bin is known if there is only one.
static void sums_take_kinds(PlotData *data)
{
    const int n_failures = data->campaign->spec.configured.n_failures;
    int kinds = 0, kind = 0;
    for (int f = 1; f < n_failures; f++) {
        if (data->failures[f] == 0) continue;
        kinds++;
        kind = f;
    }
    memset(data->bin_failures, 0, (size_t)(data->n_gains * PLOT_BINS * n_failures) * sizeof *data->bin_failures);
    data->kinds_mixed = kinds > 1;
    for (int i = 0; i < data->n_gains * PLOT_BINS && kinds == 1; i++)
        data->bin_failures[i * n_failures + kind] = data->bin[i].failed;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error sums_take_failures(PlotData *data)
{
    const Configured *configured = &data->campaign->spec.configured;
    Cursor failures = sums_of_failures(data->campaign->database);
    memset(data->failures, 0, (size_t)configured->n_failures * sizeof *data->failures);
    data->failures[0] = data->trials;
    while (cursor_next(&failures)) {
        for (int f = 1; f < configured->n_failures; f++) {
            if (strcmp(configured->failures[f], cell_text(&failures, 0)) != 0) continue;
            data->failures[f] = cell_integer(&failures, 1);
            data->failures[0] -= data->failures[f];
        }
    }
    return cursor_close(&failures);
}

Error plot_take_sums(PlotData *data)
{
    Database *database = data->campaign->database;
    AxisSum sum;
    int n_axes = 0;
    TRY(trials_count(database, &data->trials));
    TRY(sums_take_failures(data));
    TRY(sums_count_axes(database, &n_axes));
    Cursor axes = sums_of_axes(database, false);
    while (axis_sum_next(&axes, &sum)) sums_take_axis(data, &sum, n_axes > SUMS_MANY_AXES ? SUMS_FEW_BINS : PLOT_BINS);
    TRY(cursor_close(&axes));
    Cursor pairs = sums_of_axes(database, true);
    while (axis_sum_next(&pairs, &sum)) sums_take_pair(data, &sum);
    sums_take_kinds(data);
    return cursor_close(&pairs);
}
