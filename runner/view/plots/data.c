// The data of the plots, by three passes over the trials in bounded memory. The first counts, finds the ranges and
// draws a sample; the second puts every trial into bins; the third takes the best.
#include "plot.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- gains ----------------------------------------------------------------------------------------------------------

static bool plot_log_axis(const Values *values)
{
    return (values->form != NULL && values->form->log_scale) || values->log_scale;
}

static void plot_find_gains(const Spec *spec, Arena *arena, PlotData *data)
{
    data->gain = ARENA_NEW(arena, PlotGain, PLOT_GAINS_MAX);
    for (int a = 0; a < spec->n_axes && data->n_gains < PLOT_GAINS_MAX; a++) {
        if (search_zip_leader(spec, a) != a) continue;
        const Parameter *row = &spec->configured.parameters[spec->axes[a].parameter];
        data->gain[data->n_gains++] = (PlotGain){.name = row->name,
                                                 .unit = row->unit,
                                                 .choices = spec->axes[a].values.choices,
                                                 .low = (double)INFINITY,
                                                 .high = (double)-INFINITY,
                                                 .log = plot_log_axis(&spec->axes[a].values)};
    }
}

// The columns of a trial, in this order.
enum { PLOT_ID, PLOT_FITNESS, PLOT_FAILURE, PLOT_VALUES };

static int plot_columns(const PlotData *data, const char **columns)
{
    int count = 0;
    columns[count++] = "id";
    columns[count++] = data->value_column;
    columns[count++] = "failure";
    for (int g = 0; g < data->n_gains; g++) columns[count++] = data->gain[g].name;
    return count;
}

static Cursor plot_trials(const PlotData *data, Arena *arena)
{
    const char *columns[PLOT_VALUES + PLOT_GAINS_MAX];
    const int count = plot_columns(data, columns);
    return trials_of(data->campaign->database, &data->where, columns, count, arena);
}

static int plot_failure_of(const Spec *spec, const char *name)
{
    const bool failed = spec->configured.n_failures > 0 && strcmp(spec->configured.failures[0], name) != 0;
    for (int f = 1; failed && f < spec->configured.n_failures; f++) {
        if (strcmp(spec->configured.failures[f], name) == 0) return f;
    }
    return 0;
}

// ---- first pass: counts, ranges, a sample ---------------------------------------------------------------------------

// Uniform bits of an id (splitmix64, S. Vigna). A sample of every k-th trial would miss values of a grid's axes.
static uint64_t plot_hash(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// Six standard deviations above the expected number.
enum { PLOT_SAMPLE_MOST = PLOT_SAMPLE + 2000 };

static bool plot_is_sampled(const PlotData *data, int64_t id)
{
    const double fraction = data->trials > PLOT_SAMPLE ? (double)PLOT_SAMPLE / (double)data->trials : 1.0;
    return data->n_sample < PLOT_SAMPLE_MOST && (double)plot_hash((uint64_t)id) * 0x1p-64 < fraction;
}

static void plot_take_values(const PlotData *data, const Cursor *trial, double *value)
{
    for (int g = 0; g < data->n_gains; g++) value[g] = cell_value(trial, PLOT_VALUES + g, data->gain[g].choices);
}

static void plot_take_sample(PlotData *data, const Cursor *trial)
{
    const int64_t id = cell_integer(trial, PLOT_ID), s = data->n_sample;
    const double fitness = cell_real(trial, PLOT_FITNESS);
    data->ranked += isfinite(fitness);
    data->failures[plot_failure_of(&data->campaign->spec, cell_text(trial, PLOT_FAILURE))]++;
    for (int g = 0; g < data->n_gains; g++) {
        const double value = cell_value(trial, PLOT_VALUES + g, data->gain[g].choices);
        PlotGain *gain = &data->gain[g];
        if (!isfinite(value)) return; // written by another program
        gain->low = value < gain->low ? value : gain->low;
        gain->high = value > gain->high ? value : gain->high;
    }
    if (!plot_is_sampled(data, id) || (data->sample_every > 0 && id % data->sample_every != 0)) return;
    data->id[s] = id;
    data->fitness[s] = isfinite(fitness) ? fitness : (double)NAN;
    plot_take_values(data, trial, &data->value[s * data->n_gains]);
    data->n_sample++;
}

static void plot_sort_fitness(PlotData *data, Arena *arena)
{
    data->sorted = ARENA_NEW(arena, double, data->n_sample + 1);
    for (int64_t s = 0; s < data->n_sample; s++) {
        if (!isnan(data->fitness[s])) data->sorted[data->n_fitted++] = data->fitness[s];
    }
    qsort(data->sorted, (size_t)data->n_fitted, sizeof *data->sorted, statistics_ascending);
}

double plot_quantile(const PlotData *data, double fraction)
{
    if (data->n_fitted == 0) return (double)NAN;
    const int64_t at = (int64_t)(fraction * (double)(data->n_fitted - 1) + 0.5);
    return data->sorted[data->maximize ? data->n_fitted - 1 - at : at];
}

bool plot_better(const PlotData *data, double a, double b) { return isnan(b) || (data->maximize ? a > b : a < b); }

// ---- bins -----------------------------------------------------------------------------------------------------------

// A gain with few values has a bin for each, with edges half-way between them.
static void plot_bins_of_values(PlotGain *gain, const double *value, int count)
{
    gain->n_bins = count;
    for (int b = 1; b < count; b++)
        gain->edge[b] = gain->log ? sqrt(value[b - 1] * value[b]) : (value[b - 1] + value[b]) / 2;
    const double first = value[0], last = value[count - 1];
    gain->edge[0] = gain->log ? first * first / gain->edge[1] : 2 * first - gain->edge[1];
    gain->edge[count] = gain->log ? last * last / gain->edge[count - 1] : 2 * last - gain->edge[count - 1];
    gain->edge[0] = fmax(gain->edge[0], -DBL_MAX); // numbers from another program
    gain->edge[count] = fmin(gain->edge[count], DBL_MAX);
}

// Few trials have few bins, so that a cell of two gains holds about ten trials.
static int plot_fine_bins(const PlotData *data)
{
    const double bins = sqrt((double)data->ranked / 10);
    return bins < 10 ? 10 : bins < PLOT_BINS ? (int)bins : PLOT_BINS;
}

static void plot_bins_even(PlotGain *gain, int bins)
{
    const int count = gain->n_bins = bins;
    for (int b = 0; b <= count; b++) {
        const double fraction = (double)b / count;
        gain->edge[b] = gain->log ? gain->low * pow(gain->high / gain->low, fraction)
                                  : gain->low + fraction * (gain->high - gain->low);
    }
}

static void plot_find_bins(PlotData *data, int g, double *work)
{
    PlotGain *gain = &data->gain[g];
    double value[PLOT_BINS];
    int count = 0;
    for (int64_t s = 0; s < data->n_sample; s++) work[s] = data->value[s * data->n_gains + g];
    qsort(work, (size_t)data->n_sample, sizeof *work, statistics_ascending);
    for (int64_t s = 0; s < data->n_sample && count <= PLOT_BINS; s++) {
        if (s > 0 && work[s] == work[s - 1]) continue;
        if (count < PLOT_BINS) value[count] = work[s];
        count++;
    }
    gain->log = gain->log && gain->low > 0;
    if (count >= 2 && count <= PLOT_BINS) {
        plot_bins_of_values(gain, value, count);
    } else if (gain->low < gain->high) {
        plot_bins_even(gain, plot_fine_bins(data));
    } else { // one value, or none
        const double middle = count == 1 ? value[0] : 0, half = fabs(middle) > 0 ? 0.05 * fabs(middle) : 0.5;
        gain->n_bins = 1;
        gain->edge[0] = middle - half;
        gain->edge[1] = middle + half;
    }
}

int64_t plot_shown_trial(const PlotData *data)
{
    return data->n_best > 0 ? data->best_id[0] : data->n_sample > 0 ? data->id[0] : -1;
}

bool plot_varies(const PlotGain *gain) { return gain->low < gain->high; }

int plot_bin(const PlotGain *gain, double value)
{
    int low = 0, high = gain->n_bins;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (value >= gain->edge[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

static PlotCell *plot_cell_at(const PlotData *data, int g, int h, int bin_g, int bin_h)
{
    return &data->cell[(((int64_t)g * data->n_gains + h) * PLOT_BINS + bin_g) * PLOT_BINS + bin_h];
}

const PlotCell *plot_cell(const PlotData *data, int gain_x, int gain_y, int bin_x, int bin_y)
{
    return gain_x < gain_y ? plot_cell_at(data, gain_x, gain_y, bin_x, bin_y)
                           : plot_cell_at(data, gain_y, gain_x, bin_y, bin_x);
}

static void plot_cell_add(const PlotData *data, PlotCell *cell, double fitness, bool failed)
{
    cell->count++;
    cell->failed += failed;
    if (isfinite(fitness) && plot_better(data, fitness, cell->best)) cell->best = fitness;
}

// ---- second pass: every trial into its bins -------------------------------------------------------------------------

static void plot_take_bins(PlotData *data, const Cursor *trial)
{
    const int n_failures = data->campaign->spec.configured.n_failures;
    const double fitness = cell_real(trial, PLOT_FITNESS);
    const int failure = plot_failure_of(&data->campaign->spec, cell_text(trial, PLOT_FAILURE));
    int bin[PLOT_GAINS_MAX];
    for (int g = 0; g < data->n_gains; g++) {
        const double value = cell_value(trial, PLOT_VALUES + g, data->gain[g].choices);
        if (!isfinite(value)) return;
        bin[g] = plot_bin(&data->gain[g], value);
        plot_cell_add(data, &data->bin[g * PLOT_BINS + bin[g]], fitness, failure != 0);
        data->bin_failures[(g * PLOT_BINS + bin[g]) * n_failures + failure]++;
        for (int h = 0; h < g; h++)
            plot_cell_add(data, plot_cell_at(data, h, g, bin[h], bin[g]), fitness, failure != 0);
    }
}

static Error plot_read_bins(PlotData *data, Arena *arena)
{
    const int64_t bins = (int64_t)data->n_gains * PLOT_BINS, cells = bins * bins;
    data->bin = ARENA_NEW(arena, PlotCell, bins + 1);
    data->bin_failures = ARENA_NEW(arena, int64_t, bins * data->campaign->spec.configured.n_failures + 1);
    data->cell = ARENA_NEW(arena, PlotCell, cells + 1);
    for (int64_t b = 0; b < bins; b++) data->bin[b].best = (double)NAN;
    for (int64_t c = 0; c < cells; c++) data->cell[c].best = (double)NAN;
    Cursor trials = plot_trials(data, arena);
    while (cursor_next(&trials)) plot_take_bins(data, &trials);
    return cursor_close(&trials);
}

// ---- third pass: the best -------------------------------------------------------------------------------------------

static void plot_take_best(PlotData *data, const Cursor *trial)
{
    if (!isfinite(cell_real(trial, PLOT_FITNESS))) return; // written by another program
    const int64_t b = data->n_best++;
    data->best_id[b] = cell_integer(trial, PLOT_ID);
    data->best_fitness[b] = cell_real(trial, PLOT_FITNESS);
    plot_take_values(data, trial, &data->best_value[b * data->n_gains]);
}

static Error plot_read_best(PlotData *data, Arena *arena)
{
    const char *columns[PLOT_VALUES + PLOT_GAINS_MAX];
    const int count = plot_columns(data, columns);
    const TrialOrder by = {data->value_column, data->maximize};
    data->best_value = ARENA_NEW(arena, double, PLOT_BEST * data->n_gains + 1);
    Cursor trials = trials_of_best(data->campaign, &data->where, by, columns, count, PLOT_BEST, arena);
    while (cursor_next(&trials)) plot_take_best(data, &trials);
    return cursor_close(&trials);
}

// ---- rank correlation -----------------------------------------------------------------------------------------------
// Spearman's rho: Pearson's correlation of the ranks, ties with the mean of theirs (C. Spearman, Am. J. Psychol. 15,
// 1904; Kendall & Gibbons, Rank correlation methods, 1990, chapter 3).

static double plot_correlation(const double *x, const double *y, int64_t n)
{
    const double mean = (double)(n + 1) / 2; // of ranks
    double both = 0, of_x = 0, of_y = 0;
    for (int64_t i = 0; i < n; i++) {
        both += (x[i] - mean) * (y[i] - mean);
        of_x += (x[i] - mean) * (x[i] - mean);
        of_y += (y[i] - mean) * (y[i] - mean);
    }
    return of_x > 0 && of_y > 0 ? both / sqrt(of_x * of_y) : (double)NAN;
}

// rank[n_fitted] of the trials with a fitness by a column of the sample: gain g, or the fitness (g < 0).
static void plot_rank_column(const PlotData *data, int g, Arena *arena, double *rank)
{
    const size_t used = arena->used;
    double *value = ARENA_NEW(arena, double, data->n_fitted + 1);
    int64_t n = 0;
    for (int64_t s = 0; s < data->n_sample; s++) {
        if (!isnan(data->fitness[s])) value[n++] = g < 0 ? data->fitness[s] : data->value[s * data->n_gains + g];
    }
    statistics_ranks(value, n, arena, rank);
    arena_rewind(arena, used);
}

// rank[n_fitted] <- of each trial the mean rank of those with its word. Pearson's correlation of these means with the
// ranks themselves is the correlation ratio eta (K. Pearson 1905; of ranks it is that of Kruskal & Wallis 1952).
static void plot_rank_words(const PlotData *data, int g, const double *fitness, Arena *arena, double *rank)
{
    const size_t used = arena->used;
    const int count = words_count(data->gain[g].choices);
    double *sum = ARENA_NEW(arena, double, count), *trials = ARENA_NEW(arena, double, count);
    for (int pass = 0; pass < 2; pass++) {
        int64_t n = 0;
        for (int64_t s = 0; s < data->n_sample; s++) {
            const int word = (int)data->value[s * data->n_gains + g];
            if (isnan(data->fitness[s])) continue;
            if (pass == 1) rank[n] = sum[word] / trials[word];
            if (pass == 0) sum[word] += fitness[n];
            if (pass == 0) trials[word]++;
            n++;
        }
    }
    arena_rewind(arena, used);
}

// Moves the gains that never vary behind the others, and keeps their order.
static void plot_order_varied(PlotData *data)
{
    int constant[PLOT_GAINS_MAX], n_constant = 0;
    for (int i = 0; i < data->n_gains; i++) {
        if (plot_varies(&data->gain[data->order[i]]))
            data->order[data->n_varied++] = data->order[i];
        else
            constant[n_constant++] = data->order[i];
    }
    for (int i = 0; i < n_constant; i++) data->order[data->n_varied + i] = constant[i];
}

// How much a gain matters, for the order: few trials have a correlation only.
static double plot_matters(const PlotData *data, int g)
{
    const double value = isnan(data->effect[g]) ? fabs(data->correlation[g]) : data->effect[g];
    return isnan(value) ? -1 : value;
}

static void plot_correlate(PlotData *data, Arena *arena)
{
    double *fitness = ARENA_NEW(arena, double, data->n_fitted + 1),
           *gain = ARENA_NEW(arena, double, data->n_fitted + 1);
    data->correlation = ARENA_NEW(arena, double, data->n_gains + 1);
    data->order = ARENA_NEW(arena, int, data->n_gains + 1);
    plot_rank_column(data, -1, arena, fitness);
    plot_find_effects(data, fitness, arena);
    for (int g = 0; g < data->n_gains; g++) {
        if (data->gain[g].choices != NULL)
            plot_rank_words(data, g, fitness, arena, gain);
        else
            plot_rank_column(data, g, arena, gain);
        data->correlation[g] = data->n_fitted >= 3 ? plot_correlation(gain, fitness, data->n_fitted) : (double)NAN;
        int at = g; // insertion sort: the greatest first, equal ones as in the spec
        for (; at > 0 && plot_matters(data, g) > plot_matters(data, data->order[at - 1]); at--)
            data->order[at] = data->order[at - 1];
        data->order[at] = g;
    }
    plot_order_varied(data);
}

// ---- reading --------------------------------------------------------------------------------------------------------

static Error plot_read_all(PlotData *data, Arena *arena)
{
    TRY(trials_count_of(data->campaign->database, &data->where, arena, &data->trials));
    const int64_t samples = data->trials < PLOT_SAMPLE_MOST ? data->trials : PLOT_SAMPLE_MOST;
    data->failures = ARENA_NEW(arena, int64_t, data->campaign->spec.configured.n_failures);
    data->id = ARENA_NEW(arena, int64_t, samples + 1);
    data->fitness = ARENA_NEW(arena, double, samples + 1);
    data->value = ARENA_NEW(arena, double, samples * data->n_gains + 1);
    Cursor trials = plot_trials(data, arena);
    while (cursor_next(&trials)) plot_take_sample(data, &trials);
    TRY(cursor_close(&trials));
    plot_sort_fitness(data, arena);
    double *work = ARENA_NEW(arena, double, data->n_sample + 1);
    for (int g = 0; g < data->n_gains; g++) plot_find_bins(data, g, work);
    TRY(plot_read_bins(data, arena));
    TRY(plot_read_best(data, arena));
    if (data->sums) TRY(plot_take_sums(data));
    plot_correlate(data, arena);
    return error_none();
}

static Error plot_find_value(const Spec *spec, int objective, Arena *arena, PlotData *data)
{
    data->value_name = data->value_column = "fitness";
    if (objective < 0 || objective >= spec->objective.count)
        return error_make(ERROR_USER, "--objective: %s has %d objective%s", data->campaign->name, spec->objective.count,
                          spec->objective.count == 1 ? "" : "s");
    data->maximize = spec->objective.maximize[objective];
    if (!spec_several(spec)) {
        if (data->maximize) data->value_name = "fitness (maximised)";
        return error_none();
    }
    data->value_name = objective_text(spec, objective, arena);
    data->value_column = rows_objective_name(objective);
    return error_none();
}

Error plot_data_read(const StoredCampaign *campaign, int objective, const char *where, Arena *arena, PlotData *data)
{
    TrialColumns all;
    *data = (PlotData){.campaign = campaign};
    TRY(trial_columns(campaign->database, &campaign->spec, arena, &all));
    data->sums = where == NULL && kept_partly(campaign->database);
    data->sample_every = data->sums ? campaign->spec.record.rows.every : 0;
    TRY(condition_read(&all, where, arena, &data->where));
    TRY(plot_find_value(&campaign->spec, objective, arena, data));
    plot_find_gains(&campaign->spec, arena, data);
    TRY(store_read_begin(campaign->database));
    return store_read_end(campaign->database, plot_read_all(data, arena));
}
