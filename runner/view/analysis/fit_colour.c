// Noise whose neighbours are correlated: each series of residuals is an autoregressive process
//     e_t = sum of phi_j e_(t-j) + w_t,
// by J. P. Burg's recursion (Maximum entropy spectral analysis, 1975), which is always stable, with the order by G.
// Schwarz, Annals of Statistics 6, 1978. With e_t = sum of psi_j w_(t-j) over the whole past
//     x'e = sum over u of g_u w_u,  g_u = sum over t >= u of x_t psi_(t-u) = x_u + sum of phi_j g_(u+j),
// so that the variance of x'e is that of w times the sum of g_u^2, u from before the first row on. Innovations w of
// different series at one time may be correlated, too.
//
// An autoregressive process that is estimated from few hundred rows looks less correlated than it is, and its own error
// is not that of Student's t. So the quantile of each parameter is that of its ratio (estimate - truth)/(standard
// deviation) in noise drawn by the processes, of which all is estimated again, with the residuals of the linearised
// model (P. Hall, Annals of Statistics 16, 1988: bootstrap-t).
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int fit_simulated = 999;

// ---- a process ------------------------------------------------------------------------------------------------------

// Of r[n]; work[2 n]. The variance is that of w, by the squares that are left.
static FitColour fit_burg(const double *r, int64_t n, double *work)
{
    double *ahead = work, *back = work + n, squares = 0.0, phi[FIT_ORDER_MOST] = {0}, least = (double)INFINITY;
    FitColour best = {.order = 0};
    memcpy(ahead, r, (size_t)n * sizeof *r);
    memcpy(back, r, (size_t)n * sizeof *r);
    for (int64_t t = 0; t < n; t++) squares += r[t] * r[t];
    double variance = squares / (double)n;
    for (int k = 0; k <= FIT_ORDER_MOST && k <= n / 10 && variance > 0.0; k++) {
        const double criterion = (double)n * log(variance) + k * log((double)n);
        if (criterion < least) {
            least = criterion;
            best = (FitColour){.order = k, .variance = variance};
            memcpy(best.phi, phi, sizeof phi);
        }
        if (k == FIT_ORDER_MOST) break;
        double both = 0.0, own = 0.0, old[FIT_ORDER_MOST];
        for (int64_t t = k + 1; t < n; t++) {
            both += ahead[t] * back[t - 1];
            own += ahead[t] * ahead[t] + back[t - 1] * back[t - 1];
        }
        const double reflection = own > 0.0 ? 2.0 * both / own : 0.0;
        for (int64_t t = n - 1; t > k; t--) {
            const double a = ahead[t], b = back[t - 1];
            ahead[t] = a - reflection * b;
            back[t] = b - reflection * a;
        }
        memcpy(old, phi, sizeof phi);
        for (int j = 0; j < k; j++) phi[j] = old[j] - reflection * old[k - 1 - j];
        phi[k] = reflection;
        variance *= 1.0 - reflection * reflection;
    }
    return best;
}

static double fit_innovation(const FitColour *colour, const double *r, int64_t t)
{
    double w = r[t];
    for (int j = 0; j < colour->order && j < t; j++) w -= colour->phi[j] * r[t - 1 - j];
    return w;
}

// g[2 n]: of n times before the first row, and of the rows.
static void fit_weights(const FitColour *colour, const double *x, int64_t n, double *g)
{
    const int order = colour->order;
    for (int64_t u = n - 1; u >= -n; u--) {
        double sum = u >= 0 ? x[u] : 0.0;
        for (int j = 0; j < order && u + 1 + j < n; j++) sum += colour->phi[j] * g[n + u + 1 + j];
        g[n + u] = sum;
        if (order > 0 || u >= 0) continue;
        memset(g, 0, (size_t)n * sizeof *g);
        return;
    }
}

// ---- all series -----------------------------------------------------------------------------------------------------

// The processes of residuals r, into colour[n_series]; work[2 count].
static void fit_colours(const Fit *fit, const double *r, FitColour *colour, double *work)
{
    const FitData *data = fit->data;
    for (int s = 0; s < data->n_series; s++) {
        const FitSeries *series = &data->series[s];
        const double n = (double)series->count;
        colour[s] = (FitColour){.variance = fit_variance(fit, s)};
        if (isnan(fit->result->noise[s].neighbours)) continue;
        colour[s] = fit_burg(r + series->first, series->count, work);
        double squares = 0.0;
        for (int64_t t = 0; t < series->count; t++) {
            const double w = fit_innovation(&colour[s], r + series->first, t);
            squares += w * w;
        }
        colour[s].variance = squares / (n * fit->freedom / (double)data->count - colour[s].order);
    }
}

void fit_take_colours(Fit *fit)
{
    const FitData *data = fit->data;
    const size_t used = fit->arena->used;
    fit_colours(fit, fit->left, fit->colour, ARENA_NEW(fit->arena, double, 2 * data->count));
    arena_rewind(fit->arena, used);
    for (int s = 0; s < data->n_series; s++)
        fit->result->order = fit->colour[s].order > fit->result->order ? fit->colour[s].order : fit->result->order;
}

// The covariance of the innovations of two series of as many rows, if it is one at 1 % for all pairs together; else 0:
// the chance correlations of many series would add up (P. Bickel & E. Levina, Annals of Statistics 36, 2008).
static double fit_joint(const Fit *fit, int s, int other)
{
    const FitSeries *a = &fit->data->series[s], *b = &fit->data->series[other];
    double sum = 0.0, of_a = 0.0, of_b = 0.0;
    const double n = (double)a->count, pairs = 0.5 * fit->data->n_series * (fit->data->n_series - 1);
    if (!fit->result->robust || a->recording != b->recording || a->count != b->count ||
        isnan(fit->result->noise[s].neighbours))
        return 0.0;
    for (int64_t t = 0; t < a->count; t++) {
        const double x = fit_innovation(&fit->colour[s], fit->left + a->first, t);
        const double y = fit_innovation(&fit->colour[other], fit->left + b->first, t);
        sum += x * y;
        of_a += x * x;
        of_b += y * y;
    }
    const double limit = normal_tail_inverse(fit_level / 2.0 / pairs);
    return sum * sum * n > limit * limit * of_a * of_b ? sum / (n * fit->freedom / (double)fit->data->count) : 0.0;
}

// to[m][m] <- the covariance of x'e, x [m][count].
static void fit_covariance_along(const Fit *fit, const double *x, int m, double *to)
{
    const FitData *data = fit->data;
    const size_t used = fit->arena->used;
    double *g = ARENA_NEW(fit->arena, double, 2 * data->count * m);
    for (int i = 0; i < m; i++)
        for (int s = 0; s < data->n_series; s++)
            fit_weights(&fit->colour[s], x + i * data->count + data->series[s].first, data->series[s].count,
                        g + 2 * (i * data->count + data->series[s].first));
    memset(to, 0, (size_t)(m * m) * sizeof *to);
    for (int s = 0; s < data->n_series; s++) {
        for (int other = 0; other <= s; other++) {
            const double c = other == s ? fit->colour[s].variance : fit_joint(fit, s, other);
            for (int i = 0; i < m && c != 0.0; i++) {
                for (int j = 0; j < m; j++) {
                    const double *a = g + 2 * (i * data->count + data->series[s].first);
                    const double *b = g + 2 * (j * data->count + data->series[other].first);
                    const double sum = c * fit_dot(a, b, 2 * data->series[s].count);
                    to[i * m + j] += sum;
                    if (other != s) to[j * m + i] += sum;
                }
            }
        }
    }
    arena_rewind(fit->arena, used);
}

void fit_scores(const Fit *fit, double *scores)
{
    if (!fit->result->robust)
        for (int s = 0; s < fit->data->n_series; s++) fit->colour[s] = (FitColour){.variance = fit_variance(fit, s)};
    fit_covariance_along(fit, fit->data->column, fit->m, scores);
}

double fit_variance_along(const Fit *fit, const double *x)
{
    double variance;
    fit_covariance_along(fit, x, 1, &variance);
    return variance;
}

// ---- the quantile ---------------------------------------------------------------------------------------------------

// Noise as the processes, from rest and after a run of as many rows: its innovations are those of the residuals, drawn
// at random in blocks of rows that follow each other (H. Kunsch, Annals of Statistics 17, 1989), the first after the
// last (P. Buhlmann, Bernoulli 3, 1997: the sieve bootstrap; A. Davison & D. Hinkley, Bootstrap methods and their
// application, 1997, 8.2.3: with blocks). Series are independent, unless of->joined: then those of as many rows of a
// recording have the innovations of one time.
static void fit_simulate(const Fit *fit, const FitSample *of, int64_t sample, int64_t block, double *e)
{
    const FitData *data = fit->data;
    double *past = of->work;
    for (int s = 0; s < data->n_series; s++) {
        const FitColour *colour = &fit->colour[s];
        const int64_t n = data->series[s].count, before = colour->order > 0 ? n : 0;
        double u = 0.0;
        for (int64_t t = 0; t < n + before; t++) {
            const int64_t k = t / block;
            // No search of a campaign has this number.
            const RandomKey key = {.seed = fit->spec->seed,
                                   .search = UINT16_MAX,
                                   .ordinal = (uint64_t)sample,
                                   .replicate = (uint32_t)(k >> 15) << 16 |
                                                (uint32_t)(of->joined ? data->series[s].recording : s),
                                   .purpose = RANDOM_SAMPLE};
            if (t % block == 0) u = random_uniform(&key, (uint32_t)(k & INT16_MAX));
            const int64_t drawn = ((int64_t)(u * (double)n) + t % block) % n;
            double now = of->innovation[data->series[s].first + drawn];
            // An expression has one row: its sign is drawn.
            if (n == 1 && random_uniform(&key, (uint32_t)(s & INT16_MAX) + INT16_MAX + 1) < 0.5) now = -now;
            for (int j = 0; j < colour->order && j < t; j++) now += colour->phi[j] * past[t - 1 - j];
            past[t] = now;
        }
        memcpy(e + data->series[s].first, past + before, (size_t)n * sizeof *e);
    }
}

// The innovations of what is left, with mean 0 and the variance of the processes. An expression has one, up to
// its sign.
static void fit_innovations(const Fit *fit, double *innovation)
{
    const FitData *data = fit->data;
    for (int s = 0; s < data->n_series; s++) {
        const FitSeries *series = &data->series[s];
        const double n = (double)series->count;
        double *w = innovation + series->first, mean = 0.0, squares = 0.0;
        w[0] = sqrt(fit->colour[s].variance);
        for (int64_t t = 0; t < series->count && n > 1.0; t++) {
            w[t] = fit_innovation(&fit->colour[s], fit->left + series->first, t);
            mean += w[t] / n;
        }
        for (int64_t t = 0; t < series->count; t++) squares += (w[t] - mean) * (w[t] - mean);
        const double scale = squares > 0.0 ? sqrt(fit->colour[s].variance * n / squares) : 0.0;
        for (int64_t t = 0; t < series->count && n > 1.0; t++) w[t] = (w[t] - mean) * scale;
    }
}

int fit_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

FitSample fit_sample_take(const Fit *fit)
{
    const FitData *data = fit->data;
    const int m = fit->m;
    FitSample of = {.e = ARENA_NEW(fit->arena, double, data->count),
                    .left = ARENA_NEW(fit->arena, double, data->count),
                    .by = ARENA_NEW(fit->arena, double, data->count *m),
                    .work = ARENA_NEW(fit->arena, double, 2 * data->count),
                    .innovation = ARENA_NEW(fit->arena, double, data->count),
                    .along = ARENA_NEW(fit->arena, double, m),
                    .error = ARENA_NEW(fit->arena, double, m),
                    .colour = ARENA_NEW(fit->arena, FitColour, data->n_series)};
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            for (int64_t k = 0; k < data->count; k++)
                of.by[i * data->count + k] += fit->inverse[i * m + j] * fit_column(fit, j)[k];
    for (int s = 0; s < data->n_series; s++)
        for (int other = 0; other < s && !of.joined; other++) of.joined = fit_joint(fit, s, other) != 0.0;
    fit_innovations(fit, of.innovation);
    return of;
}

void fit_sample_draw(const Fit *fit, FitSample *of, int64_t sample, int64_t block)
{
    const FitData *data = fit->data;
    const int m = fit->m;
    fit_simulate(fit, of, sample, block, of->e);
    memcpy(of->left, of->e, (size_t)data->count * sizeof(double));
    for (int i = 0; i < m; i++) of->along[i] = -fit_dot(of->by + i * data->count, of->e, data->count);
    for (int i = 0; i < m; i++)
        for (int64_t k = 0; k < data->count; k++) of->left[k] += fit_column(fit, i)[k] * of->along[i];
    fit_colours(fit, of->left, of->colour, of->work);
    for (int i = 0; i < m; i++) {
        double variance = 0.0;
        for (int s = 0; s < data->n_series; s++) {
            const FitSeries *series = &data->series[s];
            fit_weights(&of->colour[s], of->by + i * data->count + series->first, series->count, of->work);
            variance += of->colour[s].variance * fit_dot(of->work, of->work, 2 * series->count);
        }
        of->error[i] = sqrt(variance);
    }
}

void fit_calibrate(Fit *fit)
{
    const size_t used = fit->arena->used;
    const int m = fit->m;
    FitSample of = fit_sample_take(fit);
    double *ratio = ARENA_NEW(fit->arena, double, fit_simulated *m);
    for (int sample = 0; sample < fit_simulated; sample++) {
        fit_sample_draw(fit, &of, sample, 1);
        for (int i = 0; i < m; i++)
            ratio[i * fit_simulated + sample] = of.error[i] > 0.0 ? fabs(of.along[i]) / of.error[i] : 0.0;
    }
    for (int i = 0; i < m; i++) {
        qsort(ratio + (ptrdiff_t)i * fit_simulated, (size_t)fit_simulated, sizeof *ratio, fit_compare);
        // Of n samples the k-th is a quantile of k/(n + 1).
        fit->own[fit->free[i]] = ratio[(ptrdiff_t)i * fit_simulated + (fit_simulated + 1) * 95 / 100 - 1];
    }
    arena_rewind(fit->arena, used);
}
