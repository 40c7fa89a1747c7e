// How much a searched parameter matters, also where its best value lies in the middle of its range.
//
// eta^2 on ranks: the share of the variance of the fitness' ranks that lies between bins of the parameter (Kruskal &
// Wallis, J. Am. Stat. Assoc. 47, 1952), less what chance gives: epsilon^2 = 1 - (1 - eta^2) (n - 1) / (n - bins)
// (T. L. Kelley, Proc. Natl. Acad. Sci. 21, 1935). Bins hold equal numbers of trials, or one value each.
//
// PED-ANOVA (S. Watanabe, A. Bansal & F. Hutter, IJCAI 2023, eq. 5 for the best tenth against all trials): how far the
// density p of a parameter among the best tenth differs from its density q among all, by Pearson's divergence
// sum q (p/q - 1)^2, as a share of the sum over all parameters. Densities are of truncated normal kernels on a grid of
// EFFECT_STEPS, with Scott's width, as those of Optuna; of words they are frequencies.
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EFFECT_STEPS = 50, EFFECT_TRIALS = 20 }; // fewer trials have no importance
#define EFFECT_BEST 0.1

// ---- eta^2 ----------------------------------------------------------------------------------------------------------

// cell[n] <- the bin of each value. Returns the number of bins.
static int effect_bins(const double *value, int64_t n, Arena *arena, int *cell)
{
    const size_t used = arena->used;
    double *rank = ARENA_NEW(arena, double, n), *sorted = ARENA_NEW(arena, double, n), different[PLOT_BINS];
    int count = 0;
    memcpy(sorted, value, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, statistics_ascending);
    for (int64_t i = 0; i < n && count <= PLOT_BINS; i++) {
        if (i > 0 && sorted[i] == sorted[i - 1]) continue;
        if (count < PLOT_BINS) different[count] = sorted[i];
        count++;
    }
    if (count <= PLOT_BINS) {
        for (int64_t i = 0; i < n; i++) {
            cell[i] = 0;
            while (value[i] > different[cell[i]]) cell[i]++;
        }
    } else {
        const int64_t few = n / EFFECT_TRIALS;
        count = few < 4 ? 4 : few < PLOT_BINS ? (int)few : PLOT_BINS;
        statistics_ranks(value, n, arena, rank);
        for (int64_t i = 0; i < n; i++) cell[i] = (int)((rank[i] - 0.5) * count / (double)n);
    }
    arena_rewind(arena, used);
    return count;
}

static double effect_of_bins(const double *value, const double *rank, int64_t n, Arena *arena)
{
    const size_t used = arena->used;
    int *cell = ARENA_NEW(arena, int, n), occupied = 0;
    const int count = effect_bins(value, n, arena, cell);
    double *sum = ARENA_NEW(arena, double, count), *trials = ARENA_NEW(arena, double, count), between = 0, all = 0;
    const double mean = (double)(n + 1) / 2;
    for (int64_t i = 0; i < n; i++) {
        sum[cell[i]] += rank[i] - mean;
        trials[cell[i]]++;
        all += (rank[i] - mean) * (rank[i] - mean);
    }
    for (int b = 0; b < count; b++) {
        if (!(trials[b] > 0)) continue;
        between += sum[b] * sum[b] / trials[b];
        occupied++;
    }
    arena_rewind(arena, used);
    if (!(all > 0) || n <= occupied) return (double)NAN;
    return fmax(0, 1 - (1 - between / all) * (double)(n - 1) / (double)(n - occupied));
}

// ---- PED-ANOVA ------------------------------------------------------------------------------------------------------

// The standard deviation of kernels, in steps of the grid.
static double effect_width(const double *count, int steps, double n)
{
    double mean = 0, variance = 0, below = 0;
    int low = -1, high = -1, last = 0;
    for (int k = 0; k < steps; k++) mean += k * count[k] / n;
    for (int k = 0; k < steps; k++) {
        variance += (k - mean) * (k - mean) * count[k] / fmax(1, n - 1);
        below += count[k];
        if (count[k] > 0) last = k;
        if (low < 0 && count[k] > 0 && below >= floor(n / 4)) low = k;
        if (high < 0 && count[k] > 0 && below > floor(3 * n / 4)) high = k;
    }
    const double quartiles = ((high < 0 ? last : high) - low) / 1.34;
    return fmax(1.059 * fmin(quartiles, sqrt(variance)) * pow(n, -0.2), 0.5 / 1.64);
}

static double effect_normal(double from, double to) { return 0.5 * (erf(to / sqrt(2)) - erf(from / sqrt(2))); }

// density[steps] <- of the counts.
static void effect_density(const double *count, int steps, bool words, double *density)
{
    double n = 0;
    for (int k = 0; k < steps; k++) n += count[k];
    const double width = effect_width(count, steps, n);
    for (int k = 0; k < steps; k++) density[k] = words ? count[k] / n : 0;
    for (int mu = 0; mu < steps && !words; mu++) {
        if (!(count[mu] > 0)) continue;
        const double whole = effect_normal((-0.5 - mu) / width, (steps - 0.5 - mu) / width);
        for (int k = 0; k < steps; k++)
            density[k] += count[mu] / n * effect_normal((k - 0.5 - mu) / width, (k + 0.5 - mu) / width) / whole;
    }
}

static double effect_divergence(const PlotGain *gain, const double *value, const bool *best, int64_t n)
{
    double count[2][EFFECT_STEPS] = {{0}}, density[2][EFFECT_STEPS];
    const bool words = gain->choices != NULL && words_count(gain->choices) <= EFFECT_STEPS;
    const int steps = words ? words_count(gain->choices) : EFFECT_STEPS;
    for (int64_t i = 0; i < n; i++) {
        const double part = gain->log ? log(value[i] / gain->low) / log(gain->high / gain->low)
                                      : (value[i] - gain->low) / (gain->high - gain->low);
        const int step = words ? (int)value[i] : (int)nearbyint(fmin(fmax(part, 0), 1) * (steps - 1));
        count[0][step]++;
        count[1][step] += best[i];
    }
    for (int of = 0; of < 2; of++) effect_density(count[of], steps, words, density[of]);
    double sum = 0;
    for (int k = 0; k < steps; k++) {
        const double q = density[0][k] + 1e-12, ratio = (density[1][k] + 1e-12) / q;
        sum += q * (ratio - 1) * (ratio - 1);
    }
    return sum;
}

// best[n] <- whether a trial is among the best tenth; equal ones at its end belong to it.
static void effect_best(const PlotData *data, const double *fitness, bool *best)
{
    const double last = plot_quantile(data, fmax(0, ceil(EFFECT_BEST * (double)data->n_fitted) - 1) /
                                                fmax(1, (double)(data->n_fitted - 1)));
    for (int64_t i = 0; i < data->n_fitted; i++) best[i] = data->maximize ? fitness[i] >= last : fitness[i] <= last;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// value[n_fitted] <- of the trials with a fitness.
static void effect_values(const PlotData *data, int g, double *value)
{
    int64_t n = 0;
    for (int64_t s = 0; s < data->n_sample; s++) {
        if (!isnan(data->fitness[s])) value[n++] = g < 0 ? data->fitness[s] : data->value[s * data->n_gains + g];
    }
}

void plot_find_effects(PlotData *data, const double *rank, Arena *arena)
{
    const int64_t n = data->n_fitted;
    data->effect = ARENA_NEW(arena, double, data->n_gains + 1);
    data->share = ARENA_NEW(arena, double, data->n_gains + 1);
    const size_t used = arena->used;
    double *value = ARENA_NEW(arena, double, n + 1), all = 0;
    bool *best = ARENA_NEW(arena, bool, n + 1);
    effect_values(data, -1, value);
    effect_best(data, value, best);
    for (int g = 0; g < data->n_gains; g++) {
        const bool known = n >= EFFECT_TRIALS && plot_varies(&data->gain[g]);
        effect_values(data, g, value);
        data->effect[g] = known ? effect_of_bins(value, rank, n, arena) : (double)NAN;
        data->share[g] = known ? effect_divergence(&data->gain[g], value, best, n) : (double)NAN;
        if (known) all += data->share[g];
    }
    for (int g = 0; g < data->n_gains; g++) data->share[g] = all > 0 ? data->share[g] / all : (double)NAN;
    arena_rewind(arena, used);
}
