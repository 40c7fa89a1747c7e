// Intervals of parameters that were fitted to residuals, what these do not determine, and whether what is left of them
// is noise. Symbols: r residuals, J their derivatives by coordinates u (fractions of ranges), A = J'J.
//
// With independent residuals cov(u) = A^-1 S A^-1, S = sum of s_k^2 J_k'J_k over the series k, each with a variance of
// its own (H. White, Econometrica 48, 1980). Residuals that follow each other are correlated where the model lacks
// something, or the noise is coloured: then these intervals would be too short, and S is that of autoregressive noise
// (fit_colour.c).
// A parameter at an end of its range is as uncertain as any other, and so are those that it is correlated with:
// intervals are those without the ends, cut there.
// Whether they are correlated, or have a smooth part: two tests of each series, at 1 % for all together. G. Ljung & G.
// Box, Biometrika 65, 1978; fit_lack.c. Whether their mean is 0: by its standard error, where neighbours are correlated
// as in an autoregressive process of order one; at 0.1 %. Several recordings are independent of each other:
// correlations are those within each.
#include "fit.h"

#include <math.h>
#include <string.h>

enum { FIT_LAGS = 10, FIT_SERIES_LEAST = 20 };
static const double fit_shift_level = 0.001;
static const double fit_spread =
    0.288675134594812866;                // standard deviation of a coordinate that may be anywhere: 1/sqrt 12
static const double fit_known = 1e9;     // degrees of freedom of a noise that is known
static const double fit_singular = 1e-7; // of the greatest singular value: rounding

const double *fit_column(const Fit *fit, int a) { return fit->data->column + fit->free[a] * fit->data->count; }

double fit_dot(const double *a, const double *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

// ---- noise ----------------------------------------------------------------------------------------------------------

static FitNoise fit_noise(const FitData *data, const FitSeries *series)
{
    const double *r = data->residual + series->first;
    const int64_t n = series->count;
    double squares = 0.0, third = 0.0, mean = 0.0, centred = 0.0, next = 0.0, q = 0.0;
    FitNoise noise = {.noise = (double)NAN, .neighbours = (double)NAN, .p = (double)NAN, .off = (double)NAN};
    for (int64_t k = 0; k < n; k++) {
        squares += r[k] * r[k];
        mean += r[k] / (double)n;
    }
    noise.rms = sqrt(squares / (double)n);
    if (n < FIT_SERIES_LEAST || !(squares > 0.0)) return noise;
    for (int64_t k = 3; k < n; k++) {
        const double d = r[k] - 3.0 * r[k - 1] + 3.0 * r[k - 2] - r[k - 3];
        third += d * d;
    }
    noise.noise = sqrt(third / (20.0 * (double)(n - 3)));
    for (int64_t k = 0; k < n; k++) centred += (r[k] - mean) * (r[k] - mean);
    const int64_t lags = n / 5 < FIT_LAGS ? n / 5 : FIT_LAGS;
    for (int64_t lag = 1; lag <= lags; lag++) {
        next = 0.0;
        for (int64_t k = lag; k < n; k++) next += (r[k] - mean) * (r[k - lag] - mean);
        next /= centred;
        if (lag == 1) noise.neighbours = next;
        q += next * next / (double)(n - lag);
    }
    noise.p = chi_squared_above((double)n * (double)(n + 2) * q, (double)lags);
    const double rho = fmin(fmax(noise.neighbours, 0.0), 0.99), apart = (1.0 + rho) / (1.0 - rho);
    noise.mean = mean;
    noise.off = mean / sqrt(centred / (double)n / (double)n * apart);
    return noise;
}

static void fit_take_noise(Fit *fit)
{
    const FitData *data = fit->data;
    const double none = (double)NAN;
    for (int s = 0; s < data->n_series; s++)
        fit->result->noise[s] =
            data->noise > 0.0
                ? (FitNoise){.rms = data->noise, .noise = data->noise, .neighbours = none, .p = none, .off = none}
                : fit_noise(data, &data->series[s]);
}

// Two tests of each series: Ljung and Box's, and that for a smooth part.
static void fit_test_noise(Fit *fit)
{
    const FitData *data = fit->data;
    FitResult *result = fit->result;
    int tested = 0;
    for (int s = 0; s < data->n_series; s++) {
        FitNoise *noise = &result->noise[s];
        if (isnan(noise->p)) continue;
        if (fit->freedom > 0.0) noise->p = fmin(1.0, 2.0 * fmin(noise->p, fit_smooth(fit, s)));
        tested++;
    }
    for (int s = 0; s < data->n_series; s++) {
        FitNoise *noise = &result->noise[s];
        noise->coloured = noise->p < fit_level / tested;
        noise->shifted =
            !isnan(noise->off) && chi_squared_above(noise->off * noise->off, 1.0) < fit_shift_level / tested;
        result->n_coloured += noise->coloured;
        result->n_shifted += noise->shifted;
    }
    result->robust = result->n_coloured > 0;
}

// ---- directions -----------------------------------------------------------------------------------------------------

// Whether the residuals tell less than the ranges do, or nothing, along a direction by which they change so.
static bool fit_is_unknown(const Fit *fit, double squares)
{
    return !(squares > fit_singular * fit_singular * fit->most) ||
           (fit->freedom > 0.0 && fit->level / squares > fit_spread * fit_spread);
}

static void fit_directions(Fit *fit)
{
    const FitData *data = fit->data;
    const int m = fit->m;
    const double squares = fit_dot(data->residual, data->residual, data->count);
    double *a = fit->products, most = 0.0, least = (double)INFINITY;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++)
            a[i * m + j] = a[j * m + i] = fit_dot(fit_column(fit, i), fit_column(fit, j), data->count);
    }
    // Without derivatives all directions are unknown.
    double *rows = ARENA_NEW(fit->arena, double, m *m), *work = ARENA_NEW(fit->arena, double, m *m + 3 * m);
    const bool some = m > 0 && symmetric_eigen(m, a, fit->eigenvalue, rows, work);
    for (int k = 0; k < m; k++) {
        if (!some) fit->eigenvalue[k] = 0.0;
        for (int i = 0; i < m; i++) fit->vector[i * m + k] = some ? rows[k * m + i] : i == k ? 1.0 : 0.0;
    }
    for (int k = 0; k < m; k++) {
        most = fmax(most, fit->eigenvalue[k]);
        least = fmin(least, fmax(fit->eigenvalue[k], 0.0));
    }
    fit->result->condition = m > 0 ? sqrt(most / least) : (double)NAN;
    fit->most = most;
    fit->level = data->noise > 0.0 ? data->noise * data->noise : squares / fit->freedom;
    for (int k = 0; k < m; k++) fit->unknown[k] = fit_is_unknown(fit, fit->eigenvalue[k]);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            double sum = 0.0;
            for (int k = 0; k < m; k++)
                if (!fit->unknown[k]) sum += fit->vector[i * m + k] * fit->vector[j * m + k] / fit->eigenvalue[k];
            fit->inverse[i * m + j] = sum;
        }
    }
}

// ---- covariance -----------------------------------------------------------------------------------------------------

// to <- A^-1 S A^-1. Along directions that are not determined coordinates may be anywhere in their ranges.
static void fit_sandwich(const Fit *fit, double *to)
{
    const int m = fit->m;
    double *half = ARENA_NEW(fit->arena, double, m *m);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            half[i * m + j] = 0.0;
            for (int k = 0; k < m; k++) half[i * m + j] += fit->inverse[i * m + k] * fit->scores[k * m + j];
        }
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            to[i * m + j] = 0.0;
            for (int k = 0; k < m; k++) to[i * m + j] += half[i * m + k] * fit->inverse[k * m + j];
            for (int k = 0; k < m; k++) {
                const double along = fit->vector[i * m + k] * fit->vector[j * m + k];
                if (fit->unknown[k]) to[i * m + j] += fit_spread * fit_spread * along;
            }
        }
    }
}

// Each series with a variance of its own; expressions have that of all residuals. What the parameters take of the
// freedom is shared out.
double fit_variance(const Fit *fit, int s)
{
    const FitData *data = fit->data;
    if (data->noise > 0.0) return data->noise * data->noise;
    const double left = fit->freedom / (double)data->count, own = fit->result->noise[s].rms;
    if (data->series[s].count > 1) return own * own / left;
    return fit_dot(data->residual, data->residual, data->count) / fit->freedom;
}

static void fit_white(Fit *fit)
{
    fit_scores(fit, fit->scores);
    fit_sandwich(fit, fit->white);
}

static void fit_robust(Fit *fit)
{
    fit_take_colours(fit);
    fit_scores(fit, fit->scores);
    fit_sandwich(fit, fit->covariance);
}

// ---- in words -------------------------------------------------------------------------------------------------------

static const char *fit_name(const Fit *fit, int a)
{
    return fit->spec->configured.parameters[fit->data->parameter[fit->free[a]]].name;
}

// What the residuals do not determine is a space of directions, and eigenvectors are any basis of it. w[K][m] <- a
// basis in which each direction has few parameters: K rows of the eigenvectors by Gauss and Jordan, pivots from the
// greatest on.
static int fit_sparse_directions(const Fit *fit, double *w)
{
    const int m = fit->m;
    int K = 0;
    for (int k = 0; k < m; k++) {
        for (int a = 0; a < m && fit->unknown[k]; a++) w[K * m + a] = fit->vector[a * m + k];
        K += fit->unknown[k];
    }
    for (int step = 0; step < K; step++) {
        int row = step, column = 0;
        for (int i = step * m; i < K * m; i++)
            if (fabs(w[i]) > fabs(w[row * m + column])) row = i / m, column = i % m;
        const double pivot = w[row * m + column];
        for (int a = 0; a < m; a++) {
            const double other = w[step * m + a];
            w[step * m + a] = w[row * m + a] / pivot;
            if (row != step) w[row * m + a] = other;
        }
        for (int k = 0; k < K; k++) {
            const double by = k == step ? 0.0 : w[k * m + column];
            for (int a = 0; a < m; a++) w[k * m + a] -= by * w[step * m + a];
        }
    }
    return K;
}

// The sum of squares by which residuals change along a direction of length 1, of w without parameter `left`.
static double fit_squares_along(const Fit *fit, const double *w, int left)
{
    double squares = 0.0, length = 0.0;
    for (int a = 0; a < fit->m; a++) {
        for (int b = 0; b < fit->m && a != left; b++)
            squares += b != left ? w[a] * w[b] * fit->products[a * fit->m + b] : 0.0;
        length += a != left ? w[a] * w[a] : 0.0;
    }
    return length > 0.0 ? squares / length : 0.0;
}

static const double fit_part = 0.1; // of the greatest of a direction, and of a parameter's own length

// How much of a parameter's axis is not determined, in [0, 1].
static double fit_open(const Fit *fit, int a)
{
    double squares = 0.0;
    for (int k = 0; k < fit->m; k++)
        squares += fit->unknown[k] ? fit->vector[a * fit->m + k] * fit->vector[a * fit->m + k] : 0.0;
    return sqrt(squares);
}

// Whether parameter a belongs to direction k of w[K][m]: it changes with the others, or without it residuals would
// change, however little of its range it takes to hold them. Each that is not determined belongs to one.
static bool fit_belongs(const Fit *fit, const double *w, int K, int k, int a)
{
    static const double clear = 4.0, rounding = 1e-13; // times the squares; of what cancels in them
    const int m = fit->m;
    const double *own = w + (ptrdiff_t)k * m, size = fabs(own[a]);
    double most = 0.0;
    bool greatest = size > 0.0;
    for (int b = 0; b < m; b++) most = fmax(most, fabs(own[b]));
    for (int i = 0; i < K; i++) greatest = greatest && size >= fabs(w[i * m + a]);
    if (size > fit_part * most || (greatest && fit_open(fit, a) > fit_part)) return true;
    const double without = fit_squares_along(fit, own, a);
    double terms = 0.0;
    for (int b = 0; b < m; b++) terms += fabs(own[b]) * sqrt(fit->products[b * m + b]) / most;
    return without > clear * fit_squares_along(fit, own, -1) && without > rounding * terms * terms &&
           without * fit_spread * fit_spread > fit->level;
}

static const char *fit_direction(const Fit *fit, const double *w, int K, int k)
{
    const int m = fit->m;
    const char *names = "";
    int named = 0, last = -1, first = -1, with = 0;
    for (int a = 0; a < m; a++) with += fit_belongs(fit, w, K, k, a);
    for (int a = 0; a < m; a++) {
        if (!fit_belongs(fit, w, K, k, a)) continue;
        names = arena_format(fit->arena, "%s%s%s", names,
                             named == 0          ? ""
                             : named == with - 1 ? " and "
                                                 : ", ",
                             fit_name(fit, a));
        named++;
        first = first < 0 ? a : first;
        last = a;
    }
    if (with == 1) return arena_format(fit->arena, "%s: the residuals hardly depend on it", names);
    if (with > 2) return arena_format(fit->arena, "%s together: they can change without changing the residuals", names);
    const bool same = w[k * m + first] * w[k * m + last] > 0.0;
    return arena_format(fit->arena, "%s together: only a combination is determined, %s", names,
                        same ? "for both can rise" : "for one can rise as the other falls");
}

static void fit_take_words(Fit *fit)
{
    FitResult *result = fit->result;
    double *w = ARENA_NEW(fit->arena, double, fit->m * fit->m);
    const int K = fit_sparse_directions(fit, w);
    result->unknown = ARENA_NEW(fit->arena, const char *, fit->m);
    for (int k = 0; k < K; k++) result->unknown[result->n_unknown++] = fit_direction(fit, w, K, k);
}

// ---- parameters -----------------------------------------------------------------------------------------------------

static bool fit_is_determined(const Fit *fit, int a) { return fit->freedom > 0.0 && !(fit_open(fit, a) > fit_part); }

static void fit_take_parameter(const Fit *fit, int a)
{
    const FitData *data = fit->data;
    const int i = fit->free[a], at = a * fit->m + a;
    FitParameter *of = &fit->result->parameters[i];
    of->determined = fit_is_determined(fit, a);
    if (!of->determined) return;
    const double value = data->value[i], stretch = fabs(data->stretch[i]);
    const double *covariance = fit->result->robust ? fit->covariance : fit->white;
    of->error = stretch * sqrt(covariance[at]);
    of->white = stretch * sqrt(fit->white[at]);
    fit->widening[i] = sqrt(covariance[at] / (fit->variance * fit->inverse[at]));
    const double half = fit->own[i] * of->error;
    of->low = data->log_scale[i] ? value * exp(-half / value) : value - half;
    of->high = data->log_scale[i] ? value * exp(half / value) : value + half;
    if (of->end < 0) of->low = value;
    if (of->end > 0) of->high = value;
}

static void fit_correlate(const Fit *fit, double *correlation)
{
    const int n = fit->data->n, m = fit->m;
    const double *covariance = fit->result->robust ? fit->covariance : fit->white;
    for (int i = 0; i < n * n; i++) correlation[i] = (double)NAN;
    for (int a = 0; a < m; a++) {
        for (int b = 0; b < m; b++) {
            if (!fit->result->parameters[fit->free[a]].determined || !fit->result->parameters[fit->free[b]].determined)
                continue;
            correlation[fit->free[a] * n + fit->free[b]] =
                covariance[a * m + b] / sqrt(covariance[a * m + a] * covariance[b * m + b]);
        }
    }
}

// How far the trial is from a minimum, along each parameter that is at no end of its range: the cosine between
// residuals and column (J. More, The Levenberg-Marquardt algorithm, 1978), times what the residuals are in their noise.
static void fit_take_off(const Fit *fit)
{
    const FitData *data = fit->data;
    for (int a = 0; a < fit->m && data->noise == 0.0 && fit->freedom > 0.0; a++) {
        const double slope = fit_dot(fit_column(fit, a), data->residual, data->count);
        const double off = fabs(slope) / sqrt(fit->products[a * fit->m + a] * fit->level);
        if (fit->result->parameters[fit->free[a]].end != 0 || !(off > fit->result->off)) continue;
        fit->result->off = off;
        fit->result->off_parameter = fit->free[a];
    }
}

FitResult *fit_analyse(const Spec *spec, const FitData *data, Arena *arena)
{
    const int n = data->n;
    const double none = (double)NAN;
    FitResult *result = ARENA_NEW(arena, FitResult, 1);
    Fit *fit = ARENA_NEW(arena, Fit, 1);
    int *free = ARENA_NEW(arena, int, n), m = 0;
    *result = (FitResult){.parameters = ARENA_NEW(arena, FitParameter, n),
                          .noise = ARENA_NEW(arena, FitNoise, data->n_series),
                          .inner = fit};
    for (int i = 0; i < n; i++) {
        const double u = data->coordinate[i];
        result->parameters[i] = (FitParameter){none, none, none, none, u <= 0.0 ? -1 : u >= 1.0 ? 1 : 0, false, false};
        free[m++] = i;
    }
    *fit = (Fit){.spec = spec,
                 .data = data,
                 .result = result,
                 .m = m,
                 .free = free,
                 .products = ARENA_NEW(arena, double, m *m),
                 .eigenvalue = ARENA_NEW(arena, double, m),
                 .vector = ARENA_NEW(arena, double, m *m),
                 .inverse = ARENA_NEW(arena, double, m *m),
                 .unknown = ARENA_NEW(arena, bool, m),
                 .scores = ARENA_NEW(arena, double, m *m),
                 .white = ARENA_NEW(arena, double, m *m),
                 .covariance = ARENA_NEW(arena, double, m *m),
                 .freedom = data->noise > 0.0 ? fit_known : (double)(data->count - m),
                 .colour = ARENA_NEW(arena, FitColour, data->n_series),
                 .own = ARENA_NEW(arena, double, n),
                 .widening = ARENA_NEW(arena, double, n),
                 .arena = arena};
    double *correlation = ARENA_NEW(arena, double, n *n);
    result->n_free = m;
    fit_take_noise(fit);
    fit_directions(fit);
    fit_take_words(fit);
    fit_take_off(fit);
    if (fit->freedom > 0.0) fit->quantile = student_quantile(fit->freedom < 1e4 ? fit->freedom : 1e4);
    if (fit->freedom > 0.0) fit_white(fit);
    if (fit->freedom > 0.0) fit_prepare_tests(fit);
    fit_test_noise(fit);
    for (int i = 0; i < n; i++) fit->own[i] = fit->quantile;
    if (fit->freedom > 0.0 && result->robust) fit_robust(fit);
    fit->variance = data->noise > 0.0 ? data->noise * data->noise
                                      : fit_dot(data->residual, data->residual, data->count) / fit->freedom;
    if (fit->freedom > 0.0 && result->robust) fit_calibrate(fit);
    for (int a = 0; a < m; a++) fit_take_parameter(fit, a);
    result->quantile = fit->own;
    result->widening = fit->widening;
    fit_correlate(fit, correlation);
    result->correlation = correlation;
    return result;
}
