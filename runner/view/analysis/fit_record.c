// What is wrong with a recording itself, and looks like a wrong model: a unit, a sign, a clock. y: a column as
// recorded, m: the same of the simulation.
//
// A unit is another if y follows m, and is a known multiple of it. m is that of the trial, and that with all searched
// parameters in the middle of their ranges: the fit of a recording with a wrong unit is no fit, and its motion is bent.
//
// A clock: a column that comes late by d is y(t) = m(t - d). Where residuals are not white, everything is fitted again
// with a clock for all columns of a recording, then for those of each joint. A fit is bent by what is late: damping and
// friction take the part of it, so that its first order (fit_lack.c) finds a half of d, or less. A wrong law takes
// profit of a clock, too, but not much: the clock is named if it leaves less than clock_part of the squares.
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- units ----------------------------------------------------------------------------------------------------------

static const struct {
    double by; // y through m
    const char *looks, *write;
    const char *times; // of an input
} fit_units[] = {
    {57.29577951308232, "looks like degrees", "write `unit: deg` (of a rate `unit: deg/s`)", "0.0174532925"},
    {1.0 / 57.29577951308232, "looks as if it had been turned into rad twice", "write `scale: 57.2957795`",
     "57.2957795"},
    {1000.0, "looks like thousandths", "write `scale: 0.001`", "0.001"},
    {0.001, "looks like thousands", "write `scale: 1000`", "1000"},
    {-1.0, "has the other sign", "write `scale: -1`", "-1"},
};
enum { FIT_UNITS = sizeof fit_units / sizeof *fit_units };
static const double unit_correlation = 0.9, unit_near = 1.6; // how well y follows m; how near its slope is to a unit
enum { UNIT_LEAST = 16 };                                    // rows

// y = slope m + b, by the geometric mean of both regressions, which noise in either leaves alone.
static double unit_slope(const FitRecorded *of, const double *m, double *correlation)
{
    double mean_m = 0.0, mean_y = 0.0, mm = 0.0, my = 0.0, yy = 0.0;
    const double count = (double)of->count;
    for (int64_t k = 0; k < of->count; k++) {
        mean_m += m[k] / count;
        mean_y += of->value[k] / count;
    }
    for (int64_t k = 0; k < of->count; k++) {
        const double a = m[k] - mean_m, b = of->value[k] - mean_y;
        mm += a * a;
        my += a * b;
        yy += b * b;
    }
    *correlation = mm > 0.0 && yy > 0.0 ? my / sqrt(mm * yy) : 0.0;
    return mm > 0.0 ? copysign(sqrt(yy / mm), my) : 0.0;
}

// The number of the unit that the column has; -1: none of them.
static int unit_of(const FitRecorded *of, const double *m, double *correlation)
{
    if (m == NULL || of->count < UNIT_LEAST) return -1;
    const double slope = unit_slope(of, m, correlation);
    if (fabs(*correlation) < unit_correlation) return -1;
    for (int u = 0; u < FIT_UNITS; u++) {
        const double ratio = slope / fit_units[u].by;
        if (ratio > 1.0 / unit_near && ratio < unit_near) return u;
    }
    return -1;
}

static void fit_take_units(const Fit *fit, const FitRecorded *recorded)
{
    FitResult *result = fit->result;
    for (int s = 0; s < fit->data->n_series; s++) {
        double correlation = 0.0, unused;
        int unit = unit_of(&recorded[s], recorded[s].middle, &correlation);
        // A column that the trial explains as it stands has its unit.
        if (unit < 0)
            unit = unit_of(&recorded[s], recorded[s].simulated, &correlation);
        else if (fit_units[unit].by < 0.0 && unit_of(&recorded[s], recorded[s].simulated, &unused) != unit)
            unit = -1;
        if (unit < 0) continue;
        const char *times = arena_format(fit->arena, "multiply it by %s in the file", fit_units[unit].times);
        result->units[result->n_units++] =
            (FitUnit){.series = s,
                      .name = recorded[s].name,
                      .by = fit_units[unit].by,
                      .correlation = correlation,
                      .means = arena_format(fit->arena, "%s: %s", fit_units[unit].looks,
                                            recorded[s].input ? times : fit_units[unit].write)};
    }
}

// ---- clocks ---------------------------------------------------------------------------------------------------------

static const double clock_part = 0.3;  // what may be left of the squares
static const double clock_input = 0.1; // the same of an input: what no command drives may swing in another phase
static const double clock_most = 0.25; // of the time of a recording
// Rounds of a fit, and after how many it must have half of the squares; rows that a series needs; joints that are
// tried; columns of derivatives that all of it may take.
enum { CLOCK_ROUNDS = 15, CLOCK_SLOW = 6, CLOCK_ROWS = 16, CLOCK_JOINTS = 2, CLOCK_COLUMNS = 2000 };

// A fit with one clock more: r = L(w (m(t - d) - y)), by Levenberg and Marquardt. L is sign(x) sqrt(rho(x)) of the loss
// rho that the spec's residuals have (sim/articulated/reference.h).
typedef struct ClockFit {
    const Fit *fit;
    const FitModel *model;
    const FitRecorded *recorded; // [n_series]
    const double *weight;        // [n_series] w; < 0: of a metric that subtracts the column
    const double *wide;          // [n_series] of the loss: what is late by much would be an outlier in all rows
    bool *with;                  // [n_series] follows the clock
    double sign;                 // of what was recorded in these: -1 asks whether it has the other sign
    int n;                       // searched parameters, and the clock behind them
    double *u, *trial, *value;   // [n + 1], [n + 1], [n]
    double *r, *column;          // [count], [n + 1][count]
    double *matrix, *step;       // [n + 1][n + 1], [n + 1]
    double squares, rows;        // at u
    double *other;               // [count] r of a trial
    int columns;                 // that are left
} ClockFit;

// L(x) of the width k; *slope: L'(x).
static double clock_bend(const FitRecorded *of, double k, double x, double *slope)
{
    const double size = fabs(x);
    *slope = 1.0;
    if (of->loss == FIT_HUBER && size > k) {
        const double root = sqrt(k * (2.0 * size - k));
        *slope = k / root;
        return copysign(root, x);
    }
    if (of->loss == FIT_CAUCHY && size > 1e-4 * k) {
        const double squares = 1.0 + x * x / (k * k), root = k * sqrt(log(squares));
        *slope = size / squares / root;
        return copysign(root, x);
    }
    return x;
}

// x of L(x) = r, which has the spec's width.
static double clock_straight(const FitRecorded *of, double r)
{
    const double k = of->width, size = fabs(r);
    if (of->loss == FIT_HUBER && size > k) return copysign((size * size + k * k) / (2.0 * k), r);
    if (of->loss == FIT_CAUCHY && size > 1e-4 * k) return copysign(k * sqrt(expm1(r * r / (k * k))), r);
    return r;
}

// m, at times t, at time `at`: a cubic through the four rows around it. The row before it is `row`.
static double clock_between(const double *t, const double *m, int64_t count, int64_t row, double at)
{
    int64_t first = row - 1 > 0 ? row - 1 : 0;
    if (first + 4 > count) first = count - 4;
    double sum = 0.0;
    for (int64_t i = first; i < first + 4; i++) {
        double product = m[i];
        for (int64_t k = first; k < first + 4; k++)
            if (k != i) product *= (at - t[k]) / (t[i] - t[k]);
        sum += product;
    }
    return sum;
}

// values[count] of a series <- the same a time `late` earlier; 0 where that is beyond the rows. slope: their derivative
// by `late`; NULL: not wanted.
static void clock_shift(const FitRecorded *of, double late, double *values, double *work, double *slope)
{
    const double *t = of->time, h = 1e-3 * (t[of->count - 1] - t[0]) / (double)(of->count - 1);
    memcpy(work, values, (size_t)of->count * sizeof *work);
    for (int64_t k = 0, row = 0; k < of->count; k++) {
        const double at = t[k] - late;
        while (row + 2 < of->count && t[row + 1] <= at) row++;
        const bool within = at >= t[0] && at <= t[of->count - 1];
        values[k] = within ? clock_between(t, work, of->count, row, at) : 0.0;
        if (slope == NULL) continue;
        slope[k] =
            within ? (clock_between(t, work, of->count, row, at - h) - clock_between(t, work, of->count, row, at + h)) /
                         (2.0 * h)
                   : 0.0;
    }
}

// r[count] and the columns of a series, of what a run without its clock gives. Returns how many rows the clock leaves.
static int64_t clock_of_series(const ClockFit *of, int s, double late, double *r, bool columns, double *work)
{
    const FitSeries *series = &of->fit->data->series[s];
    const FitRecorded *recorded = &of->recorded[s];
    const int64_t all = of->fit->data->count, count = series->count;
    double *column = of->column + series->first, *own = column + of->n * all, slope;
    int64_t rows = 0;
    for (int64_t k = 0; k < count; k++) {
        r[k] = clock_straight(recorded, r[k]);
        clock_bend(recorded, recorded->width, r[k], &slope);
        for (int i = 0; i < of->n && columns; i++) column[i * all + k] /= slope;
        r[k] += of->weight[s] * recorded->value[k]; // w m
    }
    clock_shift(recorded, late, r, work, columns ? own : NULL);
    for (int i = 0; i < of->n && columns; i++) clock_shift(recorded, late, column + i * all, work, NULL);
    for (int64_t k = 0; k < count; k++) {
        const double at = recorded->time[k] - late;
        const bool within = at >= recorded->time[0] && at <= recorded->time[count - 1];
        r[k] = within ? clock_bend(recorded, of->wide[s], r[k] - of->sign * of->weight[s] * recorded->value[k], &slope)
                      : 0.0;
        for (int i = 0; i <= of->n && columns; i++) column[i * all + k] *= within ? slope : 0.0;
        rows += within;
    }
    return rows;
}

// r and the columns at `u`, with the squares of rows that the clock leaves. False: the run fails.
static bool clock_evaluate(const ClockFit *of, const double *u, bool columns, double *squares, double *rows)
{
    const FitData *data = of->fit->data;
    const size_t used = of->fit->arena->used;
    double *work = ARENA_NEW(of->fit->arena, double, data->count);
    bool there = false;
    for (int i = 0; i < of->n; i++) of->value[i] = fit_value_at(data, i, u[i]);
    double *residual = columns ? of->r : of->other;
    if (fit_evaluate(of->model, of->value, residual, columns ? of->column : NULL, &there).kind != OK || !there)
        return false;
    if (columns) memset(of->column + (ptrdiff_t)of->n * data->count, 0, (size_t)data->count * sizeof(double));
    *squares = *rows = 0.0;
    for (int s = 0; s < data->n_series; s++) {
        const FitSeries *series = &data->series[s];
        double *r = residual + series->first;
        *rows += (double)(of->with[s] ? clock_of_series(of, s, u[of->n], r, columns, work) : series->count);
        *squares += fit_dot(r, r, series->count);
    }
    arena_rewind(of->fit->arena, used);
    return true;
}

// step <- -(J'J + lambda diag J'J)^-1 J'r. False: it is singular.
static bool clock_solve(const ClockFit *of, double lambda)
{
    const int n = of->n + 1;
    const int64_t count = of->fit->data->count;
    double *L = of->matrix, *x = of->step;
    for (int i = 0; i < n; i++) {
        const double *a = of->column + i * count;
        x[i] = -fit_dot(a, of->r, count);
        for (int j = 0; j <= i; j++) {
            double sum = fit_dot(a, of->column + j * count, count);
            if (i == j) sum = sum * (1.0 + lambda) + 1e-300;
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i == j && !(sum > 0.0)) return false;
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
        for (int k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
        x[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
        x[i] /= L[i * n + i];
    }
    return true;
}

// r and the columns at u. False: the run fails, or as many columns were taken as may be.
static bool clock_columns(ClockFit *of)
{
    of->columns -= of->n;
    return of->columns >= 0 && clock_evaluate(of, of->u, true, &of->squares, &of->rows);
}

// From u on. False: the run fails there.
static bool clock_descend(ClockFit *of)
{
    const FitRecorded *first = NULL;
    double lambda = 1e-3;
    for (int s = 0; s < of->fit->data->n_series && first == NULL; s++) first = of->with[s] ? &of->recorded[s] : NULL;
    const double most = clock_most * (first->time[first->count - 1] - first->time[0]);
    if (!clock_columns(of)) return false;
    const double before = of->squares / of->rows;
    for (int round = 0; round < CLOCK_ROUNDS && lambda < 1e6; round++) {
        double squares, rows;
        if (!clock_solve(of, lambda) || (round >= CLOCK_SLOW && of->squares / of->rows > 0.5 * before)) return true;
        for (int i = 0; i < of->n; i++) of->trial[i] = fmin(fmax(of->u[i] + of->step[i], 0.0), 1.0);
        of->trial[of->n] = fmin(fmax(of->u[of->n] + of->step[of->n], -most), most);
        if (clock_evaluate(of, of->trial, false, &squares, &rows) && rows > 0.0 &&
            squares / rows < of->squares / of->rows) {
            const bool ended = squares / rows > (1.0 - 1e-4) * of->squares / of->rows;
            memcpy(of->u, of->trial, (size_t)(of->n + 1) * sizeof(double));
            lambda *= 0.1;
            of->squares = squares;
            of->rows = rows;
            if (ended || !clock_columns(of)) return true;
            continue;
        }
        lambda *= 10.0;
    }
    return true;
}

// Series of one joint or body: names up to the last underscore are the same.
static bool clock_together(const FitSeries *a, const FitSeries *b)
{
    const char *end_a = strrchr(a->name, '_'), *end_b = strrchr(b->name, '_');
    if (a->recording != b->recording) return false;
    if (end_a == NULL || end_b == NULL || a->column < 0) return a == b;
    return end_a - a->name == end_b - b->name && memcmp(a->name, b->name, (size_t)(end_a - a->name)) == 0;
}

// What the spec weighs each series by; false: not all rows alike, or the series has no column.
static bool clock_weight(const Fit *fit, int s, const FitRecorded *of, double *weight)
{
    const double *r = fit->data->residual + fit->data->series[s].first;
    double along = 0.0, squares = 0.0, plain = 0.0;
    bool alike = of->count >= CLOCK_ROWS;
    for (int64_t k = 0; k < of->count; k++) {
        const double off = of->simulated[k] - of->value[k], x = clock_straight(of, r[k]);
        along += x * off;
        squares += x * x;
        plain += off * off;
    }
    *weight = plain > 0.0 ? along / plain : 0.0;
    for (int64_t k = 0; k < of->count && alike; k++) {
        const double off = *weight * (of->simulated[k] - of->value[k]), x = clock_straight(of, r[k]);
        alike = fabs(x - off) <= 1e-6 * (fabs(x) + sqrt(squares));
    }
    return alike && fabs(*weight) > 0.0;
}

// What the residuals want of the clock of the series `with`, to first order: a part of their squares.
static double clock_first_order(const ClockFit *of)
{
    const Fit *fit = of->fit;
    const int64_t count = fit->data->count;
    double *x = of->column; // free before a fit
    memset(x, 0, (size_t)count * sizeof *x);
    for (int s = 0; s < fit->data->n_series; s++) {
        const FitRecorded *recorded = &of->recorded[s];
        const double *m = recorded->simulated;
        for (int64_t k = 1; k + 1 < recorded->count && of->with[s]; k++) {
            double bend;
            clock_bend(recorded, recorded->width, of->weight[s] * (m[k] - recorded->value[k]), &bend);
            x[fit->data->series[s].first + k] =
                bend * of->weight[s] * (m[k - 1] - m[k + 1]) / (recorded->time[k + 1] - recorded->time[k - 1]);
        }
    }
    fit_project(fit, x);
    const double own = fit_dot(x, x, count), sum = fit_dot(x, fit->left, count);
    return own > 0.0 ? sum * sum / own : 0.0;
}

// The width of a loss that no more than half of the residuals are beyond.
static double clock_wide(const Fit *fit, int s, const FitRecorded *of)
{
    const size_t used = fit->arena->used;
    const int64_t count = fit->data->series[s].count;
    double *size = ARENA_NEW(fit->arena, double, count);
    for (int64_t k = 0; k < count; k++)
        size[k] = fabs(clock_straight(of, fit->data->residual[fit->data->series[s].first + k]));
    qsort(size, (size_t)count, sizeof *size, fit_compare);
    const double wide = count > 0 ? fmax(of->width, size[count / 2]) : of->width;
    arena_rewind(fit->arena, used);
    return wide;
}

// What the clock leaves of the mean square, at u. With a loss that bears outliers: of rows that are none with the
// clock, if these are most; outliers are as large with it.
static double clock_left(const ClockFit *of)
{
    static const double near = 3.0; // widths of the loss
    const FitData *data = of->fit->data;
    double before = 0.0, after = 0.0, all = 0.0, squares, rows, inside = 0.0, slope;
    if (!clock_evaluate(of, of->u, false, &squares, &rows)) return 1.0;
    for (int s = 0; s < data->n_series; s++) {
        const FitRecorded *recorded = &of->recorded[s];
        const bool bears = recorded->loss != FIT_SQUARES;
        const double most = bears ? clock_bend(recorded, of->wide[s], near * of->wide[s], &slope) : INFINITY;
        for (int64_t k = data->series[s].first; k < data->series[s].first + data->series[s].count; k++) {
            const double r = of->other[k], x = clock_straight(recorded, data->residual[k]);
            const double own = of->with[s] ? clock_bend(recorded, of->wide[s], x, &slope) : data->residual[k];
            all += own * own;
            if (!(fabs(r) < most) || !(fabs(r) > 0.0)) continue; // 0: beyond the rows
            inside += 1.0;
            after += r * r;
            before += own * own;
        }
    }
    return 2.0 * inside > rows ? after / before : squares / rows * (double)data->count / all;
}

// With the clock of the series `with`: from the trial, and, if that does not lead far, from the middle of the ranges.
static void clock_try(ClockFit *of, int s, bool whole, FitClock *best)
{
    const FitData *data = of->fit->data;
    for (int middle = 0; middle <= 1 && !(middle == 1 && best->left < clock_part); middle++) {
        for (int i = 0; i < of->n; i++) of->u[i] = middle ? 0.5 : data->coordinate[i];
        of->u[of->n] = 0.0;
        if (!clock_descend(of)) continue;
        const double left = clock_left(of);
        if (!(left < best->left)) continue;
        *best = (FitClock){.series = s,
                           .mirrored = of->sign < 0.0,
                           .name = of->recorded[s].name,
                           .input = of->recorded[s].input,
                           .whole = whole,
                           .late = of->u[of->n],
                           .left = left};
    }
}

// Fills `with` for the clock of series s: of its recording, or its joint. False: another series has stood for it.
static bool clock_with(const ClockFit *of, const bool *known, int s, bool whole)
{
    const FitSeries *series = of->fit->data->series;
    bool first = known[s];
    for (int o = 0; o < of->fit->data->n_series; o++) {
        of->with[o] =
            known[o] && (whole ? series[o].recording == series[s].recording : clock_together(&series[s], &series[o]));
        first = first && !(of->with[o] && o < s);
    }
    return first;
}

// The squares of the residuals of the series `with`.
static double clock_squares(const ClockFit *of)
{
    const FitData *data = of->fit->data;
    double squares = 0.0;
    for (int s = 0; s < data->n_series; s++) {
        const double *r = data->residual + data->series[s].first;
        squares += of->with[s] ? fit_dot(r, r, data->series[s].count) : 0.0;
    }
    return squares;
}

// The joints with the greatest of wanted[n_series], which this overwrites.
static void clock_joints(ClockFit *of, const bool *known, double *wanted, FitClock *clock)
{
    const int n = of->fit->data->n_series;
    for (int joint = 0; joint < CLOCK_JOINTS; joint++) {
        int most = 0;
        for (int s = 1; s < n; s++) most = wanted[s] > wanted[most] ? s : most;
        if (!(wanted[most] > 0.0)) break;
        wanted[most] = 0.0;
        if (clock_with(of, known, most, false)) clock_try(of, most, false, clock);
    }
}

static void fit_take_clock(const Fit *fit, const FitModel *model, const FitRecorded *recorded)
{
    const FitData *data = fit->data;
    const size_t n = (size_t)data->n, count = (size_t)data->count;
    double *weight = ARENA_NEW(fit->arena, double, data->n_series);
    double *wide = ARENA_NEW(fit->arena, double, data->n_series);
    bool *known = ARENA_NEW(fit->arena, bool, data->n_series);
    ClockFit of = {.fit = fit,
                   .model = model,
                   .recorded = recorded,
                   .weight = weight,
                   .wide = wide,
                   .with = ARENA_NEW(fit->arena, bool, data->n_series),
                   .sign = 1.0,
                   .n = data->n,
                   .u = ARENA_NEW(fit->arena, double, n + 1),
                   .trial = ARENA_NEW(fit->arena, double, n + 1),
                   .value = ARENA_NEW(fit->arena, double, n + 1),
                   .r = ARENA_NEW(fit->arena, double, count),
                   .other = ARENA_NEW(fit->arena, double, count),
                   .columns = CLOCK_COLUMNS,
                   .column = ARENA_NEW(fit->arena, double, (n + 1) * count),
                   .matrix = ARENA_NEW(fit->arena, double, (n + 1) * (n + 1)),
                   .step = ARENA_NEW(fit->arena, double, n + 1)};
    FitClock *clock = &fit->result->clock;
    *clock = (FitClock){.left = 1.0};
    for (int s = 0; s < data->n_series; s++) {
        known[s] = clock_weight(fit, s, &recorded[s], &weight[s]);
        wide[s] = clock_wide(fit, s, &recorded[s]);
    }
    for (int s = 0; s < data->n_series; s++)
        if (clock_with(&of, known, s, true)) clock_try(&of, s, true, clock);
    // The joints that want a clock most.
    double *wanted = ARENA_NEW(fit->arena, double, data->n_series);
    for (int s = 0; s < data->n_series; s++)
        wanted[s] = clock_with(&of, known, s, false) ? clock_first_order(&of) : 0.0;
    clock_joints(&of, known, wanted, clock);
    // With the other sign, of the joints with the greatest squares: what repeats is late, too, if it is turned.
    of.sign = -1.0;
    of.columns = CLOCK_COLUMNS / 2;
    for (int s = 0; s < data->n_series; s++)
        if (clock_with(&of, known, s, true)) clock_try(&of, s, true, clock);
    for (int s = 0; s < data->n_series; s++) wanted[s] = clock_with(&of, known, s, false) ? clock_squares(&of) : 0.0;
    clock_joints(&of, known, wanted, clock);
    clock->off = clock->left < (clock->input || clock->mirrored ? clock_input : clock_part);
}

Error fit_records(const FitModel *model, FitResult *result)
{
    const Fit *fit = result->inner;
    FitRecorded *recorded = ARENA_NEW(fit->arena, FitRecorded, fit->data->n_series);
    result->units = ARENA_NEW(fit->arena, FitUnit, fit->data->n_series);
    TRY(fit_recorded(model, recorded));
    fit_take_units(fit, recorded);
    for (int s = 0; s < fit->data->n_series; s++) {
        if (recorded[s].between > result->between.residuals)
            result->between = (FitBetween){recorded[s].name, recorded[s].between, recorded[s].count};
    }
    if (fit->freedom > 1.0 && result->n_coloured > 0 && result->n_units == 0) fit_take_clock(fit, model, recorded);
    return error_none();
}
