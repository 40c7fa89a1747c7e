// A Gaussian process (process.h): kernel, factor, posterior, likelihood.
#include "process.h"

#include <math.h>
#include <string.h>

static const double process_least_variance = 1e-18; // of a posterior
static const double process_least_pivot = 1e-14;    // as a fraction of K's diagonal

size_t process_bytes(int n, int64_t capacity)
{
    const int64_t numbers = capacity * (n + 7) + capacity * (capacity + 1) / 2 + n;
    return (size_t)numbers * sizeof(double) + 8 * 64;
}

GaussianProcess process_take(int n, int64_t capacity, const bool *word, Arena *arena)
{
    return (GaussianProcess){.n = n,
                             .capacity = capacity,
                             .word = word,
                             .x = ARENA_NEW(arena, double, capacity *n),
                             .y = ARENA_NEW(arena, double, capacity),
                             .noise = ARENA_NEW(arena, double, capacity),
                             .length = ARENA_NEW(arena, double, n),
                             .L = ARENA_NEW(arena, double, capacity *(capacity + 1) / 2),
                             .alpha = ARENA_NEW(arena, double, capacity),
                             .room = ARENA_NEW(arena, double, 4 * capacity)};
}

void process_add(GaussianProcess *process, const double *x, double y, double noise)
{
    const int64_t i = process->count++;
    for (int a = 0; a < process->n; a++) process->x[a * process->capacity + i] = x[a];
    process->y[i] = y;
    process->noise[i] = noise;
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

// out[count] <- squares of scaled distances of x[n] from the points 0 .. count - 1.
static void process_distances(const GaussianProcess *process, const double *x, int64_t stride, int64_t count,
                              double *restrict out)
{
    for (int64_t j = 0; j < count; j++) out[j] = 0.0;
    for (int a = 0; a < process->n; a++) {
        const double *restrict at = process->x + a * process->capacity;
        const double here = x[a * stride], scale = 1.0 / process->length[a];
        if (process->word[a]) {
            for (int64_t j = 0; j < count; j++) out[j] += at[j] == here ? 0.0 : scale * scale;
        } else {
            for (int64_t j = 0; j < count; j++) {
                const double d = (at[j] - here) * scale;
                out[j] += d * d;
            }
        }
    }
}

// Squared distances -> A (1 + s + s^2/3) e^-s; if slope is not NULL, slope[count] <- A (5/3) (1 + s) e^-s, which is -2
// dk/d(r^2).
static void process_matern(double amplitude, int64_t count, double *k, double *slope)
{
    for (int64_t j = 0; j < count; j++) {
        const double s = sqrt(5.0 * k[j]), decay = amplitude * portable_exp(-s);
        k[j] = (1.0 + s + s * s / 3.0) * decay;
        if (slope != NULL) slope[j] = 5.0 / 3.0 * (1.0 + s) * decay;
    }
}

// Four sums side by side, which the processor adds at once.
static double process_dot(const double *a, const double *b, int64_t count)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int lane = 0; lane < 4; lane++) sum[lane] += a[i + lane] * b[i + lane];
    }
    for (int lane = 0; i < count; i++, lane++) sum[lane] += a[i] * b[i];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

// ---- the factor -----------------------------------------------------------------------------------------------------

static double *process_row(const GaussianProcess *process, int64_t i) { return process->L + i * (i + 1) / 2; }

// b[count] <- L^-1 b
static void process_solve_lower(const GaussianProcess *process, double *b)
{
    for (int64_t i = 0; i < process->count; i++) {
        const double *row = process_row(process, i);
        b[i] = (b[i] - process_dot(row, b, i)) / row[i];
    }
}

// b[count] <- L'^-1 b
static void process_solve_upper(const GaussianProcess *process, double *restrict b)
{
    for (int64_t i = process->count - 1; i >= 0; i--) {
        const double *restrict row = process_row(process, i);
        const double w = b[i] = b[i] / row[i];
        for (int64_t j = 0; j < i; j++) b[j] -= row[j] * w;
    }
}

static void process_factor_row(GaussianProcess *process, int64_t i)
{
    double *row = process_row(process, i);
    const double diagonal = process->amplitude + process->nugget + process->noise[i];
    process_distances(process, process->x + i, process->capacity, i, row);
    process_matern(process->amplitude, i, row, NULL);
    for (int64_t j = 0; j < i; j++) {
        const double *other = process_row(process, j);
        row[j] = (row[j] - process_dot(row, other, j)) / other[j];
    }
    const double pivot = diagonal - process_dot(row, row, i), least = process_least_pivot * diagonal;
    row[i] = sqrt(pivot > least ? pivot : least);
}

void process_factor(GaussianProcess *process)
{
    double *ones = process->room, *y = process->alpha;
    const int64_t count = process->count;
    for (int64_t i = process->factored; i < count; i++) process_factor_row(process, i);
    process->factored = count;
    for (int64_t i = 0; i < count; i++) ones[i] = 1.0;
    memcpy(y, process->y, (size_t)count * sizeof *y);
    process_solve_lower(process, ones);
    process_solve_lower(process, y);
    process->mean = count > 0 ? process_dot(ones, y, count) / process_dot(ones, ones, count) : 0.0;
    for (int64_t i = 0; i < count; i++) y[i] -= process->mean * ones[i];
    process_solve_upper(process, y);
}

// ---- the posterior --------------------------------------------------------------------------------------------------

// GPML equations 2.25 and 2.26. With w = K^-1 k: d mean = alpha' dk, d variance = -2 w' dk.
void process_predict(const GaussianProcess *process, const double *x, double *mean, double *variance,
                     double *mean_slope, double *variance_slope)
{
    const int64_t count = process->count;
    double *k = process->room, *w = k + process->capacity, *slope = w + process->capacity;
    double *part = slope + process->capacity;
    process_distances(process, x, 1, count, k);
    process_matern(process->amplitude, count, k, mean_slope != NULL ? slope : NULL);
    *mean = process->mean + process_dot(k, process->alpha, count);
    memcpy(w, k, (size_t)count * sizeof *w);
    process_solve_lower(process, w);
    const double rest = process->amplitude - process_dot(w, w, count);
    const double least = process_least_variance * process->amplitude;
    *variance = rest > least ? rest : least;
    if (mean_slope == NULL) return;
    process_solve_upper(process, w);
    for (int a = 0; a < process->n; a++) {
        const double *restrict at = process->x + a * process->capacity;
        const double scale = process->word[a] ? 0.0 : 1.0 / (process->length[a] * process->length[a]);
        for (int64_t j = 0; j < count; j++) part[j] = slope[j] * (at[j] - x[a]);
        mean_slope[a] = scale * process_dot(part, process->alpha, count);
        variance_slope[a] = -2.0 * scale * process_dot(part, w, count);
    }
}

// K alpha = y - m, and the noise's part of K is a diagonal.
double process_mean_at(const GaussianProcess *process, int64_t i)
{
    return process->y[i] - (process->nugget + process->noise[i]) * process->alpha[i];
}

// ---- the likelihood -------------------------------------------------------------------------------------------------

// inverse[i][j <= i] <- K^-1. above[j][i >= j] <- (L^-1)_ij: so rows are summed.
static void process_invert(const GaussianProcess *process, double *above, double *inverse)
{
    const int64_t count = process->count;
    for (int64_t j = 0; j < count; j++) {
        double *column = above + j * count;
        for (int64_t i = j; i < count; i++) {
            const double *row = process_row(process, i);
            column[i] = i == j ? 1.0 / row[i] : -process_dot(row + j, column + j, i - j) / row[i];
        }
    }
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j <= i; j++)
            inverse[i * count + j] = process_dot(above + i * count + i, above + j * count + i, count - i);
    }
}

// 1/2 tr((alpha alpha' - K^-1) dK), GPML equation 5.9.
static void process_evidence_slopes(const GaussianProcess *process, const double *inverse, double *gradient)
{
    const int64_t count = process->count;
    const int n = process->n;
    double *k = process->room, *slope = k + process->capacity, *part = slope + process->capacity, trace = 0.0;
    for (int a = 0; a < n + 2; a++) gradient[a] = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double *row = inverse + i * count;
        const double alpha = process->alpha[i];
        process_distances(process, process->x + i, process->capacity, i, k);
        process_matern(process->amplitude, i, k, slope);
        for (int64_t j = 0; j < i; j++) part[j] = alpha * process->alpha[j] - row[j];
        gradient[n] += process_dot(part, k, i);
        for (int64_t j = 0; j < i; j++) part[j] *= slope[j];
        for (int a = 0; a < n; a++) {
            const double *restrict at = process->x + a * process->capacity;
            const double here = at[i], scale = 1.0 / (process->length[a] * process->length[a]);
            for (int64_t j = 0; j < i; j++) {
                const double d = process->word[a] ? (at[j] == here ? 0.0 : 1.0) : at[j] - here;
                k[j] = d * d;
            }
            gradient[a] += scale * process_dot(part, k, i);
        }
        trace += alpha * alpha - row[i];
    }
    gradient[n] += 0.5 * trace * process->amplitude;
    gradient[n + 1] = 0.5 * trace * process->nugget;
}

double process_evidence(GaussianProcess *process, double *gradient, double *square)
{
    const int64_t count = process->count;
    double fit = 0.0, logs = 0.0;
    process->factored = 0;
    process_factor(process);
    for (int64_t i = 0; i < count; i++) {
        fit += (process->y[i] - process->mean) * process->alpha[i];
        logs += portable_log(process_row(process, i)[i]);
    }
    if (square != NULL) {
        process_invert(process, square, square + count * count);
        process_evidence_slopes(process, square + count * count, gradient);
    }
    return -0.5 * fit - logs - 0.9189385332046727 * (double)count; // ln(2 pi)/2
}
