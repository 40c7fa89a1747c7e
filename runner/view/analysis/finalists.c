// The probability that the named finalist of a race is the best one, from the replicates of all finalists.
//
// Model: the cost of finalist i under seed r is mu_i + b_r + e_ir. b_r is what the seed does to all (replicates with
// common seeds are a randomised block design: Scheffe, "The Analysis of Variance", 1959, section 4.2), with a flat
// prior; e_ir is normal with one variance; mu_i is normal with a variance tau^2 that the first rung gives (the moments
// of a random-effects model, Morris, "Parametric empirical Bayes inference", JASA 78(381), 1983). So a finalist that
// left early, with few replicates, is drawn towards the others, and does not seem better than all by its luck alone.
// The answer is the posterior probability that mu of the named one is the least, by draws of the posterior.
//
// It is an approximation. It has the frequency that it says if means are about normal; where one is better than all
// others, which are equal, it says too little (measured: tests/oracles/finalists.py). Replicates with heavy tails, or
// variances that differ much among the finalists, make it worse.
#include "../view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINALISTS_DRAWS = 2000 };

typedef struct Finalists {
    const FinalistRuns *runs;
    int *member;             // [count] of the present rung: indices of finalists
    double *mean;            // [count] of the members: their mean without what the seeds did
    double *precision;       // [count][count] of the posterior; then its Cholesky factor
    double *centre;          // [count] precision times the posterior's mean; then the mean
    double *at;              // [count]
    double squares, freedom; // of the residuals, over all rungs
} Finalists;

static bool finalists_counts(double value) { return isfinite(value); }

// ---- a rung: the seeds [first, end) of those that ran them all ------------------------------------------------------

static int finalists_members(Finalists *of, int end)
{
    int members = 0;
    for (int i = 0; i < of->runs->count; i++) {
        if (of->runs->had[i] >= end) of->member[members++] = i;
    }
    return members;
}

// What seed r does: the mean over the members that did not fail under it. NaN: all failed.
static double finalists_seed(const Finalists *of, int members, int r)
{
    double sum = 0.0;
    int n = 0;
    for (int m = 0; m < members; m++) {
        const double value = of->runs->value[of->member[m]][r];
        if (!finalists_counts(value)) continue;
        sum += value;
        n++;
    }
    return n > 0 ? sum / n : (double)NAN;
}

// mean[m] <- over the seeds; n[m]: replicates that did not fail.
static void finalists_means(Finalists *of, int members, int first, int end, double *seed, double *n)
{
    for (int r = first; r < end; r++) seed[r] = finalists_seed(of, members, r);
    for (int m = 0; m < members; m++) {
        const double *value = of->runs->value[of->member[m]];
        of->mean[m] = n[m] = 0.0;
        for (int r = first; r < end; r++) {
            if (!finalists_counts(value[r])) continue;
            of->mean[m] += value[r] - seed[r];
            n[m] += 1.0;
        }
        if (n[m] > 0.0) of->mean[m] /= n[m];
    }
}

static void finalists_residuals(Finalists *of, int members, int first, int end, const double *seed, const double *n)
{
    double seen = 0.0;
    int present = 0, seeds = 0;
    for (int r = first; r < end; r++) seeds += !isnan(seed[r]);
    for (int m = 0; m < members; m++) {
        const double *value = of->runs->value[of->member[m]];
        for (int r = first; r < end; r++) {
            if (!finalists_counts(value[r])) continue;
            const double residual = value[r] - seed[r] - of->mean[m];
            of->squares += residual * residual;
        }
        seen += n[m];
        present += n[m] > 0.0;
    }
    const double freedom = seen - present - seeds + 1.0; // of two ways
    if (freedom > 0.0) of->freedom += freedom;
}

// Adds the information of a rung, in units of 1/variance: diag(n) - n n'/sum n, which knows no common level.
static void finalists_inform(Finalists *of, int members, const double *n)
{
    const int count = of->runs->count;
    double all = 0.0, level = 0.0;
    for (int m = 0; m < members; m++) all += n[m];
    for (int m = 0; m < members; m++) level += n[m] * of->mean[m] / all;
    for (int a = 0; a < members; a++) {
        double *row = &of->precision[(ptrdiff_t)of->member[a] * count];
        for (int b = 0; b < members; b++) row[of->member[b]] -= n[a] * n[b] / all;
        row[of->member[a]] += n[a];
        of->centre[of->member[a]] += n[a] * (of->mean[a] - level);
    }
}

// tau^2 by moments: the variance of the means less what the replicates explain.
static double finalists_spread(const Finalists *of, int members, const double *n, double variance)
{
    double level = 0.0, squares = 0.0, noise = 0.0;
    for (int m = 0; m < members; m++) level += of->mean[m] / members;
    for (int m = 0; m < members; m++) {
        squares += (of->mean[m] - level) * (of->mean[m] - level);
        noise += variance / (n[m] > 0.0 ? n[m] : 1.0) / members;
    }
    const double spread = squares / (members - 1) - noise;
    return spread > 1e-3 * noise ? spread : 1e-3 * noise;
}

// ---- the posterior --------------------------------------------------------------------------------------------------

static int finalists_next_end(const FinalistRuns *runs, int first)
{
    int end = 0;
    for (int i = 0; i < runs->count; i++) {
        if (runs->had[i] > first && (end == 0 || runs->had[i] < end)) end = runs->had[i];
    }
    return end;
}

// False: there is nothing to learn from.
static bool finalists_posterior(Finalists *of, Arena *arena)
{
    const int count = of->runs->count;
    double *n = ARENA_NEW(arena, double, count), *first_n = ARENA_NEW(arena, double, count);
    double *first_mean = ARENA_NEW(arena, double, count), *seed;
    int most = 0, first_members = 0;
    for (int i = 0; i < count; i++) most = of->runs->had[i] > most ? of->runs->had[i] : most;
    seed = ARENA_NEW(arena, double, most + 1);
    for (int first = 0, end; (end = finalists_next_end(of->runs, first)) > 0; first = end) {
        const int members = finalists_members(of, end);
        finalists_means(of, members, first, end, seed, n);
        if (first == 0) {
            first_members = members;
            memcpy(first_n, n, (size_t)members * sizeof *n);
            memcpy(first_mean, of->mean, (size_t)members * sizeof *n);
        }
        if (members < 2) break; // one alone tells nothing of the others
        finalists_residuals(of, members, first, end, seed, n);
        finalists_inform(of, members, n);
    }
    if (first_members < 2 || !(of->freedom > 0.0) || !(of->squares > 0.0)) return false;
    const double variance = of->squares / of->freedom;
    memcpy(of->mean, first_mean, (size_t)first_members * sizeof *n);
    const double spread = finalists_spread(of, first_members, first_n, variance);
    for (int i = 0; i < count; i++) of->precision[(ptrdiff_t)i * count + i] += variance / spread;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)count * count; i++) of->precision[i] /= variance;
    for (int i = 0; i < count; i++) of->centre[i] /= variance;
    return true;
}

// precision = L L', L in the lower triangle.
static void finalists_factor(Finalists *of)
{
    const int count = of->runs->count;
    for (int j = 0; j < count; j++) {
        double *own = &of->precision[(ptrdiff_t)j * count];
        double sum = own[j];
        for (int k = 0; k < j; k++) sum -= own[k] * own[k];
        own[j] = sqrt(sum > 0.0 ? sum : 1e-300);
        for (int i = j + 1; i < count; i++) {
            double *row = &of->precision[(ptrdiff_t)i * count];
            double rest = row[j];
            for (int k = 0; k < j; k++) rest -= row[k] * own[k];
            row[j] = rest / own[j];
        }
    }
}

static void finalists_forward(const Finalists *of, double *x)
{
    const int count = of->runs->count;
    for (int i = 0; i < count; i++) {
        const double *row = &of->precision[(ptrdiff_t)i * count];
        for (int k = 0; k < i; k++) x[i] -= row[k] * x[k];
        x[i] /= row[i];
    }
}

static void finalists_backward(const Finalists *of, double *x)
{
    const int count = of->runs->count;
    for (int i = count - 1; i >= 0; i--) {
        x[i] /= of->precision[(ptrdiff_t)i * count + i];
        for (int k = 0; k < i; k++) x[k] -= of->precision[(ptrdiff_t)i * count + k] * x[i];
    }
}

static bool finalists_is_least(const Finalists *of, const double *mu)
{
    for (int i = 0; i < of->runs->count; i++) {
        if (mu[i] < mu[of->runs->named]) return false;
    }
    return true;
}

double finalists_probability(const FinalistRuns *runs, Arena *arena)
{
    const int count = runs->count;
    const size_t used = arena->used;
    Finalists of = {.runs = runs,
                    .member = ARENA_NEW(arena, int, count),
                    .mean = ARENA_NEW(arena, double, count),
                    .precision = ARENA_NEW(arena, double, (int64_t)count *count),
                    .centre = ARENA_NEW(arena, double, count),
                    .at = ARENA_NEW(arena, double, count)};
    int64_t least = 0;
    if (count < 2 || !finalists_posterior(&of, arena)) {
        arena_rewind(arena, used);
        return (double)NAN;
    }
    finalists_factor(&of);
    finalists_forward(&of, of.centre);
    finalists_backward(&of, of.centre);
    for (int d = 0; d < FINALISTS_DRAWS; d++) {
        // a list of points, as finalists are, samples nothing else
        const RandomKey key = {.seed = runs->seed, .replicate = (uint32_t)d, .purpose = RANDOM_SAMPLE};
        random_normals(&key, 0, count, of.at);
        finalists_backward(&of, of.at);
        for (int i = 0; i < count; i++) of.at[i] += of.centre[i];
        least += finalists_is_least(&of, of.at);
    }
    arena_rewind(arena, used);
    return (double)least / FINALISTS_DRAWS;
}
