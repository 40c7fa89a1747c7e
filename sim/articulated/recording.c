// What is likely wrong with a recorded motion (option `reference`), said before a run: units, signs, the order of
// columns, a shifted time. It looks at the numbers of the file, at the ranges of joints and at the pose at t = 0;
// nothing is simulated. A remark needs strong evidence: a good recording must have none.
#include "articulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORDING_PER_RAD 57.29577951308232 // degrees
#define RECORDING_APART 5.0                 // periods: rows that are further apart have a gap between them

// A kind of doubt: what it is, and what to do. Columns that share one are named together.
// clang-format off
#define RECORDING_DOUBTS(X) \
    X(FEW, "has few rows", "") \
    X(GAP, "rows are missing, or their rate jumps", "") \
    X(DEGREES, "looks like degrees, not rad", "; write `unit: deg`") \
    X(RATE_DEGREES, "looks like deg/s, not rad/s", "; write `unit: deg/s`") \
    X(SIGN, "the rate has the other sign than the change of its coordinate", "; turn one of the two, by `scale: -1`") \
    X(MIRRORED, "goes the other way than the simulation", "; turn it and its rate, by `scale: -1`") \
    X(FACTOR, "the rate is a multiple of the change of its coordinate", "; is the unit of one of the two another?") \
    X(OTHER, "the rate is not that of its coordinate", "; are columns in another order, or late?") \
    X(RATE_LATE, "the rate is recorded at another time than its coordinate", "; is one of the two late, or filtered?") \
    X(SAME, "the same numbers in all rows", "; is one sensor recorded twice?") \
    X(EXCHANGED, "the columns of a coordinate and its rate look exchanged", "; name each column's own") \
    X(TURN, "jumps by a whole turn", "; unwrap the angle, as numpy.unwrap does") \
    X(SPIKE, "a single row is off by far", "; leave out the row, or bear it by `reference_loss: huber`") \
    X(CONSTANT, "constant, while the joint or its command moves", "; leave it out if its sensor is dead") \
    X(RANGE, "beyond the range of the joint", "; is the unit, the sign or the zero another?") \
    X(EFFORT, "beyond the efforts of the motor", "; is the unit another?") \
    X(START, "begins elsewhere than the simulation", "; set `initial`, or shift the column by `offset`") \
    X(SHIFT, "begins late, and in the pose of t = 0", "; is the time shifted? `offset` shifts it") \
    X(LAG, "follows the commands at another time", "; is the time shifted? `offset` shifts it") \
    X(EARLY, "moves before its command", "; is the time shifted? `offset` shifts it") \
    X(NORM, "quaternion whose length is not 1", "") \
    X(ORDER, "looks like a quaternion with w first", "; name the columns in the order w, x, y, z") \
    X(SPIN, "looks like the angular velocity in axes of the body, and that of the world is compared", "")
// clang-format on
#define RECORDING_ENTRY(name, what, advice) RECORDING_##name,
typedef enum RecordingDoubt { RECORDING_DOUBTS(RECORDING_ENTRY) RECORDING_N_DOUBTS } RecordingDoubt;
#undef RECORDING_ENTRY

// Doubts of one kind: the columns' names, and a sentence about the first.
typedef struct RecordingFound {
    const char *names, *first;
    const char **each; // [count]
    int count;
} RecordingFound;

typedef struct Recording {
    const ArticulatedHost *host;
    const ArticulatedBody *bodies;
    const ArticulatedConstants *c;
    const Configured *configured;
    const double *point; // [n_points][n_parameters] trials
    int n_points;
    const double *time;  // [rows] s
    const double *value; // [rows][n]; NaN: a gap
    const char **names;  // [n] of the targets
    int rows, n;
    double period; // s: median time between rows
    Arena *arena;
    RecordingFound found[RECORDING_N_DOUBTS];
} Recording;

static double recording_at(const Recording *of, int row, int k) { return of->value[(int64_t)row * of->n + k]; }

// "line 7 (0.05 s)"
static const char *recording_row(const Recording *of, int row)
{
    const TableSource *source = of->host->reference.source;
    const char *kind = source != NULL ? source->row : "row";
    const long long number = source != NULL ? (long long)source->rows[row] : row + 1;
    return arena_format(of->arena, "%s %lld (%.6g s)", kind, number, of->time[row]);
}

enum { RECORDING_NAMED = 4 }; // columns that a remark names

static void recording_doubt(Recording *of, RecordingDoubt doubt, const char *name, const char *sentence)
{
    RecordingFound *found = &of->found[doubt];
    for (int i = 0; i < found->count; i++)
        if (found->each[i] == name) return;
    if (found->count == 0)
        *found = (RecordingFound){
            .names = name, .first = sentence, .each = ARENA_NEW(of->arena, const char *, of->n + of->c->n_bodies + 1)};
    found->each[found->count] = name;
    if (found->count > 0 && found->count < RECORDING_NAMED)
        found->names = arena_format(of->arena, "%s, %s", found->names, name);
    found->count++;
}

// ---- statistics -----------------------------------------------------------------------------------------------------

// Of a column, without its gaps.
typedef struct RecordingColumn {
    int count, first; // values; the row of the first
    double mean, deviation, low, high;
    double noise; // rms of second differences over sqrt(6): the deviation of white noise on a smooth signal
} RecordingColumn;

static RecordingColumn recording_column(const Recording *of, int k)
{
    RecordingColumn column = {.first = -1, .low = INFINITY, .high = -INFINITY};
    double last[2] = {NAN, NAN}, squares = 0.0, bends = 0.0;
    int n_bends = 0;
    for (int r = 0; r < of->rows; r++) {
        const double value = recording_at(of, r, k);
        if (isnan(value)) continue;
        if (column.first < 0) column.first = r;
        column.count++;
        column.mean += value;
        column.low = fmin(column.low, value);
        column.high = fmax(column.high, value);
        const double bend = value - 2.0 * last[0] + last[1];
        if (!isnan(bend)) {
            bends += bend * bend;
            n_bends++;
        }
        last[1] = last[0];
        last[0] = value;
    }
    if (column.count > 0) column.mean /= column.count;
    for (int r = 0; r < of->rows; r++) {
        const double value = recording_at(of, r, k) - column.mean;
        if (!isnan(value)) squares += value * value;
    }
    column.deviation = column.count > 0 ? sqrt(squares / column.count) : 0.0;
    column.noise = n_bends > 0 ? sqrt(bends / n_bends / 6.0) : 0.0;
    return column;
}

static int recording_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Median time between rows [first, end).
static double recording_period(const Recording *of, int first, int end)
{
    const int n = end - first - 1;
    double *apart = ARENA_NEW(of->arena, double, n + 1);
    for (int i = 0; i < n; i++) apart[i] = of->time[first + i + 1] - of->time[first + i];
    qsort(apart, (size_t)(n > 0 ? n : 0), sizeof *apart, recording_order);
    return n > 0 ? apart[n / 2] : 0.0;
}

// Least squares of the change of one series by that of another over windows: change of y = gain * change of x + b. Of
// the windows' lengths the one with the greatest share of y's variance that x explains.
typedef struct RecordingFit {
    double gain, share; // share 0: nothing could be fitted
    double x, y;        // deviations of the changes
} RecordingFit;

static RecordingFit recording_fit_windows(const double *x, const double *y, const int *piece, int n, int window)
{
    double sx = 0.0, sy = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
    int m = 0;
    for (int i = 0; i + window < n; i++) {
        if (piece[i] != piece[i + window]) continue;
        const double dx = x[i + window] - x[i], dy = y[i + window] - y[i];
        sx += dx;
        sy += dy;
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
        m++;
    }
    if (m < 16) return (RecordingFit){0};
    xx = xx / m - sx / m * (sx / m);
    yy = yy / m - sy / m * (sy / m);
    xy = xy / m - sx / m * (sy / m);
    if (!(xx > 1e-20) || !(yy > 1e-20)) return (RecordingFit){0};
    return (RecordingFit){.gain = xy / xx, .share = xy * xy / (xx * yy), .x = sqrt(xx), .y = sqrt(yy)};
}

static RecordingFit recording_best_fit(const double *x, const double *y, const int *piece, int n)
{
    RecordingFit best = {0};
    for (int window = 1; window <= n / 4; window *= 2) {
        const RecordingFit fit = recording_fit_windows(x, y, piece, n, window);
        if (fit.share > best.share) best = fit;
    }
    return best;
}

// A coordinate and the integral of its rate, where rows have both. Pieces have gaps between them.
typedef struct RecordingRate {
    double *time, *x, *y; // [n] s; the integral; the coordinate
    int *piece, n;        // [n]
} RecordingRate;

static RecordingRate recording_rate(const Recording *of, int q, int v)
{
    RecordingRate to = {.time = ARENA_NEW(of->arena, double, of->rows),
                        .x = ARENA_NEW(of->arena, double, of->rows),
                        .y = ARENA_NEW(of->arena, double, of->rows),
                        .piece = ARENA_NEW(of->arena, int, of->rows)};
    int n = 0, last = -1;
    for (int r = 0; r < of->rows; r++) {
        if (isnan(recording_at(of, r, q)) || isnan(recording_at(of, r, v))) continue;
        const double apart = last < 0 ? 0.0 : of->time[r] - of->time[last];
        to.time[n] = of->time[r];
        to.y[n] = recording_at(of, r, q);
        to.x[n] = last < 0 ? 0.0 : to.x[n - 1] + 0.5 * apart * (recording_at(of, r, v) + recording_at(of, last, v));
        to.piece[n] = last < 0 ? 0 : to.piece[n - 1] + (apart > RECORDING_APART * of->period);
        last = r;
        n++;
    }
    to.n = n;
    return to;
}

// The coordinate in column q by the integral of the rate in column v.
static RecordingFit recording_fit_rate(const Recording *of, int q, int v)
{
    const size_t used = of->arena->used;
    const RecordingRate rate = recording_rate(of, q, v);
    const RecordingFit fit = recording_best_fit(rate.x, rate.y, rate.piece, rate.n);
    arena_rewind(of->arena, used);
    return fit;
}

// shifted[n] <- the integral `late` (s) later, which is what a rate would give that is not late by it. A row that
// has none is a piece of its own.
static void recording_shift_rate(const RecordingRate *of, double late, double *shifted, int *piece)
{
    for (int i = 0, k = 0; i < of->n; i++) {
        const double at = of->time[i] + late;
        while (k + 2 < of->n && of->time[k + 1] <= at) k++;
        while (k > 0 && of->time[k] > at) k--;
        const bool there = at >= of->time[k] && at <= of->time[k + 1] && of->piece[k] == of->piece[k + 1] &&
                           of->piece[i] == of->piece[k];
        const double part = there ? (at - of->time[k]) / (of->time[k + 1] - of->time[k]) : 0.0;
        shifted[i] = of->x[k] + part * (of->x[k + 1] - of->x[k]);
        piece[i] = there ? of->piece[i] : -1 - i;
    }
}

enum { RECORDING_LATE_ROWS = 1 << 13, RECORDING_LATE_STEPS = 50 }; // rows that are looked at; shifts, each way
static const double recording_late_most = 0.2;                     // s

// By how much (s) the rate in column v comes later than the coordinate in column q; 0: nothing is certain. *fit: as it
// stands, *best: with that.
static double recording_rate_late(const Recording *of, int q, int v, RecordingFit *fit, RecordingFit *best)
{
    const size_t used = of->arena->used;
    RecordingRate rate = recording_rate(of, q, v);
    double *shifted = ARENA_NEW(of->arena, double, of->rows), late = 0.0;
    int *piece = ARENA_NEW(of->arena, int, of->rows), window = 1;
    if (rate.n > RECORDING_LATE_ROWS) rate.n = RECORDING_LATE_ROWS;
    *fit = (RecordingFit){0};
    for (int w = 1; w <= rate.n / 4; w *= 2) {
        const RecordingFit own = recording_fit_windows(rate.x, rate.y, rate.piece, rate.n, w);
        if (own.share > fit->share) *fit = own, window = w;
    }
    *best = *fit;
    for (int i = -RECORDING_LATE_STEPS; i <= RECORDING_LATE_STEPS && fit->share > 0.0; i++) {
        const double at = recording_late_most * i / RECORDING_LATE_STEPS;
        recording_shift_rate(&rate, at, shifted, piece);
        const RecordingFit own = recording_fit_windows(shifted, rate.y, piece, rate.n, window);
        if (own.share > best->share) *best = own, late = at;
    }
    arena_rewind(of->arena, used);
    return late;
}

// ---- columns of joints ----------------------------------------------------------------------------------------------

// The column with this cell of the body's joint, or its coordinate (cell 0); -1: none.
static int recording_of_joint(const Recording *of, int body, int cell)
{
    for (int k = 0; k < of->n; k++) {
        const ArticulatedTarget *target = &of->host->targets[k];
        if (target->body != body) continue;
        if (cell == 0 ? target->kind == ARTICULATED_TARGET_COORDINATE
                      : target->kind == ARTICULATED_TARGET_CELL && target->component == cell)
            return k;
    }
    return -1;
}

static bool recording_near(double value, double other, double part) { return fabs(value - other) < part * fabs(other); }

// The other joint whose coordinate a rate fits; -1: none.
static int recording_true_coordinate(const Recording *of, int q, int v)
{
    for (int k = 0; k < of->n; k++) {
        if (k == q || of->host->targets[k].kind != ARTICULATED_TARGET_COORDINATE) continue;
        const RecordingFit fit = recording_fit_rate(of, k, v);
        if (fit.share > 0.95 && recording_near(fit.gain, 1.0, 0.1)) return k;
    }
    return -1;
}

// True: the rate is that of the coordinate, at another time. Differences of rows are late by half a period, and filters
// by some ms.
static bool recording_doubt_apart(Recording *of, int q, int v)
{
    RecordingFit fit, best;
    const double late = recording_rate_late(of, q, v, &fit, &best);
    if (fabs(late) < fmax(0.02, 1.5 * of->period) || fabs(late) > 0.95 * recording_late_most) return false;
    if (best.share < 0.97 || 1.0 - best.share > 0.3 * (1.0 - fit.share) || !recording_near(best.gain, 1.0, 0.4))
        return false;
    recording_doubt(of, RECORDING_RATE_LATE, of->names[v],
                    arena_format(of->arena,
                                 "%s fits %s best if it is taken for %.2g s %s (%.1f %% of how that changes, and %.1f "
                                 "%% as it stands)",
                                 of->names[v], of->names[q], fabs(late), late > 0.0 ? "late" : "early",
                                 100.0 * best.share, 100.0 * fit.share));
    return true;
}

static void recording_doubt_rate(Recording *of, int q, int v)
{
    const RecordingColumn of_q = recording_column(of, q), of_v = recording_column(of, v);
    if (of_q.count < 40 || of_v.count < 40) return;
    const bool hinge = of->bodies[of->host->targets[q].body].kind == ROBOT_HINGE;
    const RecordingFit fit = recording_fit_rate(of, q, v);
    const char *sentence =
        arena_format(of->arena, "%s changes %.4g times as fast as %s says", of->names[q], fit.gain, of->names[v]);
    // Either of the two may have the wrong unit: a number that a spec calls degrees may be in rad.
    const bool coordinate = recording_near(fit.gain, RECORDING_PER_RAD, 0.15);
    const char *either =
        arena_format(of->arena, "%s (or %s has `unit: deg%s` and is in rad%s)", sentence,
                     coordinate ? of->names[v] : of->names[q], coordinate ? "/s" : "", coordinate ? "/s" : "");
    if (fit.share > 0.9 && fit.y > 1e-3 && (fit.gain < 0.55 || fit.gain > 1.8)) { // filters and noise: less
        if (hinge && coordinate)
            recording_doubt(of, RECORDING_DEGREES, of->names[q], either);
        else if (hinge && recording_near(fit.gain, 1.0 / RECORDING_PER_RAD, 0.15))
            recording_doubt(of, RECORDING_RATE_DEGREES, of->names[v], either);
        else if (recording_near(fit.gain, -1.0, 0.25))
            recording_doubt(of, RECORDING_SIGN, of->names[v], sentence);
        else
            recording_doubt(of, RECORDING_FACTOR, of->names[v], sentence);
    }
    if (fit.share <= 0.85) {
        const RecordingFit back = recording_fit_rate(of, v, q);
        if (back.share > 0.95 && back.gain > 0.0) {
            recording_doubt(of, RECORDING_EXCHANGED, of->names[q],
                            arena_format(of->arena, "%s changes as %s says, and not the other way round", of->names[v],
                                         of->names[q]));
            return;
        }
    }
    const int other = fit.share <= 0.85 ? recording_true_coordinate(of, q, v) : -1;
    if ((other < 0 && recording_doubt_apart(of, q, v)) || fit.share > 0.85 || fit.share <= 0.0) return;
    const bool smooth = of_q.noise < 0.1 * of_q.deviation && of_v.noise < 0.2 * of_v.deviation;
    const bool unlike = smooth && fit.share < 0.3 && fit.x > 0.01 && fit.x > 5.0 * of_q.noise;
    if (other < 0 && !unlike) return;
    sentence = other >= 0 ? arena_format(of->arena, "%s is that of %s", of->names[v], of->names[other])
                          : arena_format(of->arena, "%s explains %.0f %% of how %s changes", of->names[v],
                                         100.0 * fit.share, of->names[q]);
    recording_doubt(of, RECORDING_OTHER, of->names[v], sentence);
}

// Rows of column k beyond [low, high] by more than `margin`; *first: the first of them.
static int recording_beyond(const Recording *of, int k, double low, double high, double margin, double factor,
                            int *first)
{
    int count = 0;
    for (int r = of->rows - 1; r >= 0; r--) {
        const double value = factor * recording_at(of, r, k);
        if (isnan(value) || (value >= low - margin && value <= high + margin)) continue;
        *first = r;
        count++;
    }
    return count;
}

static void recording_doubt_range(Recording *of, int q)
{
    const ArticulatedBody *body = &of->bodies[of->host->targets[q].body];
    const double low = body->number[ARTICULATED_low], high = body->number[ARTICULATED_high];
    if (body->ranged == 0) return;
    const bool hinge = body->kind == ROBOT_HINGE;
    const double margin = hinge ? 0.2 : 0.2 * (isfinite(high - low) ? high - low : 1.0);
    int row = 0, unused = 0;
    const int count = recording_beyond(of, q, low, high, margin, 1.0, &row);
    if (20 * count < recording_column(of, q).count || count == 0) return;
    const bool degrees = hinge && recording_beyond(of, q, low, high, margin, 1.0 / RECORDING_PER_RAD, &unused) == 0 &&
                         recording_column(of, q).high - recording_column(of, q).low > 2.0;
    recording_doubt(of, degrees ? RECORDING_DEGREES : RECORDING_RANGE, of->names[q],
                    arena_format(of->arena, "%s is %.4g at %s, and the range of the joint is %.4g to %.4g %s",
                                 of->names[q], recording_at(of, row, q), recording_row(of, row), low, high,
                                 hinge ? "rad" : "m"));
}

static void recording_doubt_effort(Recording *of, int k)
{
    const ArticulatedBody *body = &of->bodies[of->host->targets[k].body];
    const double most = body->number[ARTICULATED_effort];
    int row = 0;
    if (body->driven == 0 || body->uneven != 0 || !isfinite(most)) return;
    const int count = recording_beyond(of, k, -most, most, 0.5 * most, 1.0, &row);
    if (20 * count < recording_column(of, k).count || count == 0) return;
    recording_doubt(of, RECORDING_EFFORT, of->names[k],
                    arena_format(of->arena, "%s is %.4g at %s, and the motor gives at most %.4g", of->names[k],
                                 recording_at(of, row, k), recording_row(of, row), most));
}

// A column that never changes, while `other` moves.
static void recording_doubt_constant(Recording *of, int k, int other)
{
    const RecordingColumn column = recording_column(of, k), moves = recording_column(of, other);
    if (column.count < 10 || column.low < column.high || moves.deviation < 0.05) return;
    if (moves.noise > 0.7 * moves.deviation) return; // noise alone is no motion
    recording_doubt(of, RECORDING_CONSTANT, of->names[k],
                    arena_format(of->arena, "%s is %.4g in all rows, and %s moves from %.4g to %.4g", of->names[k],
                                 column.low, of->names[other], moves.low, moves.high));
}

// Whether row b of column k is off by far from the rows a and c beside it, which agree.
static bool recording_spike(const Recording *of, int k, int a, int b, int c, double least)
{
    const double x = recording_at(of, a, k), y = recording_at(of, b, k), z = recording_at(of, c, k);
    return fmin(fabs(y - x), fabs(y - z)) > least && (y - x) * (y - z) > 0.0 && fabs(z - x) < 0.1 * fabs(y - x);
}

// A coordinate that jumps from one row to the next and goes on there by about a turn, as an encoder that counts from 0
// to 360 degrees does; or that jumps and is back in the next row, by 20 times what it mostly moves between rows.
static void recording_doubt_jumps(Recording *of, int q)
{
    enum { LEAST = 40 };
    const double turn = 2.0 * 3.141592653589793, deviation = recording_column(of, q).deviation;
    const bool hinge = of->bodies[of->host->targets[q].body].kind == ROBOT_HINGE;
    const size_t used = of->arena->used;
    double *moved = ARENA_NEW(of->arena, double, of->rows);
    int *row = ARENA_NEW(of->arena, int, of->rows), n = 0, turns = 0, first = 0, spike = -1, beside[2] = {0};
    double by = 0.0;
    for (int r = 0; r < of->rows; r++)
        if (!isnan(recording_at(of, r, q))) row[n++] = r;
    for (int i = 1; i < n; i++) moved[i - 1] = fabs(recording_at(of, row[i], q) - recording_at(of, row[i - 1], q));
    qsort(moved, (size_t)(n > 1 ? n - 1 : 0), sizeof *moved, recording_order);
    const double mostly = n > 1 ? moved[n / 2] : 0.0, least = fmax(20.0 * mostly, 0.3 * deviation);
    for (int i = 1; i < n && n >= LEAST; i++) {
        const double change = recording_at(of, row[i], q) - recording_at(of, row[i - 1], q);
        if (hinge && recording_near(fabs(change), turn, 0.1) && mostly < 0.05 * turn) {
            if (turns++ == 0) first = row[i], by = change;
        } else if (i + 1 < n && spike < 0 && recording_spike(of, q, row[i - 1], row[i], row[i + 1], least)) {
            spike = row[i];
            beside[0] = row[i - 1];
            beside[1] = row[i + 1];
        }
    }
    arena_rewind(of->arena, used);
    if (turns > 0)
        recording_doubt(of, RECORDING_TURN, of->names[q],
                        arena_format(of->arena, "by %.4g rad to %s%s", by, recording_row(of, first),
                                     turns > 1 ? arena_format(of->arena, "; %d jumps in all", turns) : ""));
    if (spike >= 0 && deviation > 0.0)
        recording_doubt(of, RECORDING_SPIKE, of->names[q],
                        arena_format(of->arena, "%.4g at %s, beside %.4g and %.4g", recording_at(of, spike, q),
                                     recording_row(of, spike), recording_at(of, beside[0], q),
                                     recording_at(of, beside[1], q)));
}

static void recording_doubt_joint(Recording *of, int body)
{
    const int q = recording_of_joint(of, body, 0), v = recording_of_joint(of, body, ARTICULATED_RATE);
    const int effort = recording_of_joint(of, body, ARTICULATED_EFFORT);
    if (q >= 0) recording_doubt_range(of, q);
    if (q >= 0) recording_doubt_jumps(of, q);
    if (effort >= 0) recording_doubt_effort(of, effort);
    if (q < 0 || v < 0) return;
    recording_doubt_rate(of, q, v);
    recording_doubt_constant(of, q, v);
    recording_doubt_constant(of, v, q);
}

// ---- the start ------------------------------------------------------------------------------------------------------

enum { RECORDING_STARTS = 256 }; // trials whose start is looked at

// The least and the greatest value at t = 0 of a coordinate or of a position of the base. False: it is neither.
static bool recording_start(const Recording *of, int k, double *low, double *high)
{
    const ArticulatedTarget *target = &of->host->targets[k];
    const ArticulatedBody *body = &of->bodies[target->body];
    const bool position = target->kind == ARTICULATED_TARGET_POSITION && body->kind == ROBOT_FREE && body->parent < 0;
    if (target->kind != ARTICULATED_TARGET_COORDINATE && !position) return false;
    *low = INFINITY;
    *high = -INFINITY;
    for (int p = 0; p < of->n_points && p < RECORDING_STARTS; p++) {
        const double *point = of->point + (int64_t)p * of->configured->n_parameters;
        const double start =
            position ? body->frame[target->component] + point[ARTICULATED_PARAMETER_base_x + target->component]
                     : articulated_start_coordinate(of->configured, of->c, point, target->body);
        *low = fmin(*low, start);
        *high = fmax(*high, start);
    }
    return true;
}

// Also for what a column has moved until its first row, by twice its greatest speed.
static double recording_start_margin(const Recording *of, int k, const RecordingColumn *column)
{
    double speed = 0.0;
    for (int r = 1; r < of->rows; r++) {
        const double change = fabs(recording_at(of, r, k) - recording_at(of, r - 1, k));
        if (change > 0.0) speed = fmax(speed, change / (of->time[r] - of->time[r - 1])); // a gap: NaN
    }
    return fmax(0.1, 5.0 * column->noise) + 2.0 * speed * fmax(of->time[0], 0.0);
}

static void recording_doubt_start(Recording *of, int k)
{
    double low, high;
    const RecordingColumn column = recording_column(of, k);
    if (column.first != 0 || of->time[0] > fmax(1.5 * of->period, 0.02) || !recording_start(of, k, &low, &high)) return;
    const double value = recording_at(of, 0, k), margin = recording_start_margin(of, k, &column);
    if (value >= low - margin && value <= high + margin) return;
    const bool turns = of->host->targets[k].kind == ARTICULATED_TARGET_COORDINATE &&
                       of->bodies[of->host->targets[k].body].kind == ROBOT_HINGE;
    const bool degrees =
        turns && low == high && fabs(low) > 0.02 && recording_near(value, RECORDING_PER_RAD * low, 0.05);
    const bool mirrored = of->host->targets[k].kind == ARTICULATED_TARGET_COORDINATE && low == high &&
                          fabs(low) > 2.0 * margin && fabs(value + low) <= margin;
    recording_doubt(of,
                    degrees    ? RECORDING_DEGREES
                    : mirrored ? RECORDING_MIRRORED
                               : RECORDING_START,
                    of->names[k],
                    arena_format(of->arena, "%s is %.4g at %s, and %.4g at t = 0 of the simulation", of->names[k],
                                 value, recording_row(of, 0), value < low ? low : high));
}

// Whether something of the simulation is still before `time` that the spec does not say: laws, or a table that waits.
static bool recording_may_wait(const Recording *of, double time)
{
    const ArticulatedHost *host = of->host;
    const int n = of->c->n_joints;
    if (of->c->control == ARTICULATED_CONTROL_hold || of->c->control == ARTICULATED_CONTROL_gait) return false;
    if (of->c->control != ARTICULATED_CONTROL_actions || host->actions == NULL) return true;
    for (int row = 1; row < of->c->n_actions; row++) {
        const double begins = (host->starts != NULL ? host->starts[row] : (double)row * of->c->held) * of->c->dt;
        if (begins > time - 0.1) return true;
        for (int j = 0; j < n; j++)
            if (fabs(host->actions[row * n + j] - host->actions[j]) > 0.01) return false;
    }
    return true;
}

// The recording begins late, at rest in the pose of t = 0: the simulation has moved on by then.
static void recording_doubt_shift(Recording *of)
{
    int still = 0, moving = 0, which = -1;
    if (of->rows < 10 || of->time[0] < fmax(0.1, 5.0 * of->period) || recording_may_wait(of, of->time[0])) return;
    for (int k = 0; k < of->n; k++) {
        double low, high;
        const RecordingColumn column = recording_column(of, k);
        if (column.first != 0 || of->host->targets[k].kind != ARTICULATED_TARGET_COORDINATE) continue;
        recording_start(of, k, &low, &high);
        const double margin = fmax(0.02, 4.0 * column.noise), first = recording_at(of, 0, k);
        if (first < low - margin || first > high + margin) return;
        const int v = recording_of_joint(of, of->host->targets[k].body, ARTICULATED_RATE);
        if (v >= 0 && fabs(recording_at(of, 0, v)) > fmax(0.1, 4.0 * recording_column(of, v).noise)) return;
        if (fabs(recording_at(of, 1, k) - first) > margin) return;
        still++;
        const bool moves = column.high - column.low > 5.0 * margin;
        moving += moves;
        if (moves && which < 0) which = k;
    }
    if (still < 2 || 2 * moving < still) return;
    recording_doubt(of, RECORDING_SHIFT, of->names[which],
                    arena_format(of->arena, "the first row is %s, and %d joint%s at rest there where %s at t = 0",
                                 recording_row(of, 0), still, still == 1 ? " is" : "s are",
                                 still == 1 ? "it is" : "they are"));
}

// ---- a table of commands --------------------------------------------------------------------------------------------

// The command of joint j in the table at a time; NaN: none.
static double recording_command(const Recording *of, int joint, double time)
{
    const double *starts = of->host->starts;
    const double step = floor(time / of->c->dt + 1e-6);
    int low = 0, high = of->c->n_actions;
    if (time < 0.0) return NAN;
    if (starts == NULL) {
        const double row = floor(step / of->c->held);
        low = row < of->c->n_actions ? (int)row : of->c->n_actions - 1;
        return of->host->actions[(int64_t)low * of->c->n_joints + joint];
    }
    while (high - low > 1) { // the last row that has begun
        const int middle = low + (high - low) / 2;
        if (starts[middle] <= step)
            low = middle;
        else
            high = middle;
    }
    return of->host->actions[(int64_t)low * of->c->n_joints + joint];
}

// Correlation of column k with the commands `lag` (s) before.
static double recording_correlation(const Recording *of, int k, int joint, double lag)
{
    const int stride = of->rows / 400 + 1;
    double n = 0.0, sx = 0.0, sy = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
    for (int r = 0; r < of->rows; r += stride) {
        const double y = recording_at(of, r, k), x = recording_command(of, joint, of->time[r] - lag);
        if (isnan(x) || isnan(y)) continue;
        n += 1.0;
        sx += x;
        sy += y;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    const double vx = n * xx - sx * sx, vy = n * yy - sy * sy;
    if (2.0 * n * stride < of->rows || !(vx > 1e-9) || !(vy > 1e-9)) return 0.0;
    return (n * xy - sx * sy) / sqrt(vx * vy);
}

enum { RECORDING_LAGS = 200 };

// Of lags in [first, last] the one with the best correlation, which is *found.
static double recording_best_lag(const Recording *of, int k, int joint, double first, double last, double *found)
{
    double at = 0.0;
    *found = -1.0;
    for (int i = 0; i <= RECORDING_LAGS; i++) {
        const double lag = first + (last - first) * i / RECORDING_LAGS, own = recording_correlation(of, k, joint, lag);
        if (own <= *found) continue;
        *found = own;
        at = lag;
    }
    return at;
}

// Of lags that a joint may have the greatest correlation with the commands of the other sign.
static double recording_mirrored(const Recording *of, int k, int joint)
{
    double best = 0.0;
    for (int i = 0; i <= RECORDING_LAGS; i++)
        best = fmax(best, -recording_correlation(of, k, joint, 0.3 * i / RECORDING_LAGS));
    return best;
}

static void recording_doubt_lag(Recording *of, int k, int joint)
{
    const double span = 0.5 * (of->time[of->rows - 1] - of->time[0]), now = recording_correlation(of, k, joint, 0.0);
    double best = now, at = 0.0;
    if (now > 0.8) return;
    for (int i = 1; i <= RECORDING_LAGS; i++) {
        for (int sign = 1; sign >= -1; sign -= 2) {
            const double lag = sign * span * i / RECORDING_LAGS, found = recording_correlation(of, k, joint, lag);
            if (found < best + 0.01) continue;
            best = found;
            at = lag;
        }
    }
    if (best < 0.97 || (at < 0.3 && at > -0.05)) return;
    // What repeats is as its other sign, later.
    const double mirrored = recording_mirrored(of, k, joint);
    if (mirrored > best - 0.01) {
        recording_doubt(of, RECORDING_MIRRORED, of->names[k],
                        arena_format(of->arena,
                                     "%s follows the table of commands with the other sign (correlation %.3f)",
                                     of->names[k], -mirrored));
        return;
    }
    recording_doubt(of, RECORDING_LAG, of->names[k],
                    arena_format(of->arena,
                                 "%s follows the table of commands best %.3g s %s (correlation %.3f, and %.2f "
                                 "as it stands)",
                                 of->names[k], fabs(at), at > 0.0 ? "late" : "early", best, now));
}

// A joint follows its command, and can't precede it. A command that repeats is followed late, and early, too.
static void recording_doubt_early(Recording *of, int k, int joint)
{
    const double span = fmin(1.0, 0.5 * (of->time[of->rows - 1] - of->time[0]));
    double before, after;
    const double at = recording_best_lag(of, k, joint, -span, 0.0, &before);
    recording_best_lag(of, k, joint, 0.0, span, &after);
    if (at > -fmax(0.02, 1.5 * of->period) || before < 0.9 || 1.0 - before > 0.3 * (1.0 - after)) return;
    recording_doubt(of, RECORDING_EARLY, of->names[k],
                    arena_format(of->arena,
                                 "%s is as the table of commands is %.2g s later (correlation %.3f, and at most %.3f "
                                 "with what was commanded until then)",
                                 of->names[k], -at, before, after));
}

// The table's least and greatest command of a joint, at times of rows.
static void recording_command_range(const Recording *of, int joint, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int r = 0; r < of->rows; r++) {
        const double command = recording_command(of, joint, of->time[r]);
        if (isnan(command)) continue;
        *low = fmin(*low, command);
        *high = fmax(*high, command);
    }
}

// A coordinate that its motor would have to turn many times as far as it is commanded to, or not at all.
static void recording_doubt_size(Recording *of, int k, int joint)
{
    const RecordingColumn column = recording_column(of, k);
    const bool hinge = of->bodies[of->host->targets[k].body].kind == ROBOT_HINGE;
    double low, high, best;
    recording_command_range(of, joint, &low, &high);
    const double moves = column.high - column.low;
    if (column.count < 40 || !(high - low > 0.05)) return;
    const char *sentence = arena_format(of->arena, "%s is from %.4g to %.4g, and its command from %.4g to %.4g",
                                        of->names[k], column.low, column.high, low, high);
    if (!(moves > 0.0) && high - low > 0.1) recording_doubt(of, RECORDING_CONSTANT, of->names[k], sentence);
    if (!hinge || !(moves > 20.0 * (high - low))) return;
    recording_best_lag(of, k, joint, 0.0, 0.5, &best);
    if (best > 0.7) recording_doubt(of, RECORDING_DEGREES, of->names[k], sentence);
}

static void recording_doubt_lags(Recording *of)
{
    const bool table = of->c->control == ARTICULATED_CONTROL_actions && of->host->actions != NULL;
    if (!table || of->c->efforts != 0 || of->rows < 40) return;
    for (int i = 0; i < of->c->n_bodies; i++) {
        const int joint = of->bodies[i].joint, command = recording_of_joint(of, i, ARTICULATED_COMMAND);
        const int q = recording_of_joint(of, i, 0);
        if (joint < 0 || of->bodies[i].driven == 0) continue;
        if (command >= 0 || q >= 0) recording_doubt_lag(of, command >= 0 ? command : q, joint);
        if (q >= 0) recording_doubt_early(of, q, joint);
        if (q >= 0) recording_doubt_size(of, q, joint);
    }
}

// ---- one sensor twice -----------------------------------------------------------------------------------------------

// Whether the spec drives both joints alike, from one start: a mirrored robot may move so.
static bool recording_alike(const Recording *of, int k, int l)
{
    const int a = of->bodies[of->host->targets[k].body].joint, b = of->bodies[of->host->targets[l].body].joint;
    const int q = recording_of_joint(of, of->host->targets[k].body, 0);
    const int r = recording_of_joint(of, of->host->targets[l].body, 0);
    double low[2] = {0}, high[2] = {0};
    if (a < 0 || b < 0) return true;
    if (q >= 0 && r >= 0) {
        recording_start(of, q, &low[0], &high[0]);
        recording_start(of, r, &low[1], &high[1]);
    }
    if (fabs(low[0] - low[1]) > 1e-6 || fabs(high[0] - high[1]) > 1e-6) return false;
    for (int i = 0; of->host->actions != NULL && i < of->c->n_actions; i++) {
        const double *row = of->host->actions + (int64_t)i * of->c->n_joints;
        if (fabs(row[a] - row[b]) > 1e-6) return false;
    }
    return true;
}

static void recording_doubt_same(Recording *of, int k)
{
    const ArticulatedTarget *target = &of->host->targets[k];
    const bool coordinate = target->kind == ARTICULATED_TARGET_COORDINATE;
    const bool rate = target->kind == ARTICULATED_TARGET_CELL && target->component == ARTICULATED_RATE;
    if (of->rows < 40 || !(coordinate || rate) || recording_column(of, k).deviation < 0.01) return;
    for (int l = 0; l < k; l++) {
        const ArticulatedTarget *other = &of->host->targets[l];
        int r = 0;
        if (other->kind != target->kind || other->component != target->component) continue;
        while (r < of->rows && !(recording_at(of, r, k) < recording_at(of, r, l)) &&
               !(recording_at(of, r, k) > recording_at(of, r, l)))
            r++;
        if (r < of->rows || recording_column(of, l).count < 40 || recording_alike(of, k, l)) continue;
        recording_doubt(of, RECORDING_SAME, of->names[k],
                        arena_format(of->arena, "%s and %s", of->names[l], of->names[k]));
        return;
    }
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static void recording_doubt_rows(Recording *of)
{
    enum { LEAST = 4, REGULAR = 20 };
    const Points *file = &of->host->reference;
    const char *name = file->source != NULL ? file->source->file : "the recording";
    int regular = 0, apart = 0, gaps = 0;
    if (of->rows < LEAST)
        recording_doubt(of, RECORDING_FEW, name, arena_format(of->arena, "%d of %d columns", of->rows, of->n));
    if (of->rows < REGULAR) return;
    for (int r = of->rows - 1; r > 0; r--) {
        const double time = of->time[r] - of->time[r - 1];
        regular += recording_near(time, of->period, 0.6);
        if (time < RECORDING_APART * of->period) continue;
        apart = r;
        gaps++;
    }
    const int third = of->rows / 3;
    const double first = recording_period(of, 0, third), last = recording_period(of, of->rows - third, of->rows);
    if (first > 3.0 * last || last > 3.0 * first)
        recording_doubt(of, RECORDING_GAP, name,
                        arena_format(of->arena, "rows are %.4g s apart at first, and %.4g s at last", first, last));
    else if (gaps > 0 && 10 * regular > 8 * of->rows)
        recording_doubt(of, RECORDING_GAP, name,
                        arena_format(of->arena, "%.4g s between %s and the row before it; rows are %.4g s apart%s",
                                     of->time[apart] - of->time[apart - 1], recording_row(of, apart), of->period,
                                     gaps > 1 ? arena_format(of->arena, ", and %d more gaps", gaps - 1) : ""));
}

// ---- the base -------------------------------------------------------------------------------------------------------

// at[4]: columns of the quaternion of a body; false: not all are there.
static bool recording_turn(const Recording *of, int body, int *at)
{
    for (int c = 0; c < 4; c++) at[c] = -1;
    for (int k = 0; k < of->n; k++) {
        const ArticulatedTarget *target = &of->host->targets[k];
        if (target->kind == ARTICULATED_TARGET_TURN && target->body == body) at[target->component] = k;
    }
    return at[0] >= 0 && at[1] >= 0 && at[2] >= 0 && at[3] >= 0;
}

// cos of half the angle between two turns.
static double recording_dot(const double *a, const double *b)
{
    return fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
}

static void recording_doubt_turn(Recording *of, int body)
{
    int at[4], wrong = 0, row = 0, n = 0;
    if (!recording_turn(of, body, at)) return;
    for (int r = of->rows - 1; r >= 0; r--) {
        double squares = 0.0;
        for (int c = 0; c < 4; c++) squares += recording_at(of, r, at[c]) * recording_at(of, r, at[c]);
        if (isnan(squares)) continue;
        n++;
        if (fabs(sqrt(squares) - 1.0) < 0.1) continue;
        wrong++;
        row = r;
    }
    if (20 * wrong > n)
        recording_doubt(
            of, RECORDING_NORM, of->names[at[0]],
            arena_format(of->arena, "%s to %s at %s", of->names[at[0]], of->names[at[3]], recording_row(of, row)));
    if (of->bodies[body].kind != ROBOT_FREE || of->bodies[body].parent >= 0 ||
        of->time[0] > fmax(1.5 * of->period, 0.02))
        return;
    double as_is[4], w_first[4];
    for (int c = 0; c < 4; c++) as_is[c] = recording_at(of, 0, at[c]);
    for (int c = 0; c < 4; c++) w_first[c] = as_is[(c + 1) % 4]; // x of the file is w
    const double *start = of->bodies[body].frame + 3;
    if (recording_dot(as_is, start) > 0.9 || !(recording_dot(w_first, start) > 0.98)) return;
    recording_doubt(of, RECORDING_ORDER, of->names[at[0]],
                    arena_format(of->arena, "%s is %.4g at %s, as qw is at t = 0 of the simulation", of->names[at[0]],
                                 as_is[0], recording_row(of, 0)));
}

// The turn from row a to row b as a rotation vector, in axes of the world, or of the body.
static void recording_turned(const Recording *of, const int *at, int a, int b, bool in_body, double *vector)
{
    double p[4], q[4];
    for (int c = 0; c < 4; c++) {
        p[c] = recording_at(of, a, at[c]) * (c < 3 ? -1.0 : 1.0); // the inverse
        q[c] = recording_at(of, b, at[c]);
    }
    const double *l = in_body ? p : q, *r = in_body ? q : p;
    const double w = l[3] * r[3] - l[0] * r[0] - l[1] * r[1] - l[2] * r[2];
    vector[0] = l[3] * r[0] + r[3] * l[0] + l[1] * r[2] - l[2] * r[1];
    vector[1] = l[3] * r[1] + r[3] * l[1] + l[2] * r[0] - l[0] * r[2];
    vector[2] = l[3] * r[2] + r[3] * l[2] + l[0] * r[1] - l[1] * r[0];
    for (int c = 0; c < 3; c++) vector[c] *= w < 0.0 ? -2.0 : 2.0; // small angles
}

// The least squares of turns within windows of `window` rows by the integral of the angular velocity in columns v[3].
static RecordingFit recording_fit_spin(const Recording *of, const int *at, const int *v, int window, bool in_body)
{
    double xx = 0.0, xy = 0.0, yy = 0.0;
    for (int r = 0; r + window < of->rows; r++) {
        double turned[3], angle = 0.0;
        if (of->time[r + window] - of->time[r] > 2.0 * window * of->period) continue;
        recording_turned(of, at, r, r + window, in_body, turned);
        for (int c = 0; c < 3; c++) angle += turned[c] * turned[c];
        if (!(angle < 0.09)) continue; // also NaN
        for (int c = 0; c < 3; c++) {
            double x = 0.0;
            for (int i = r; i < r + window; i++)
                x +=
                    0.5 * (of->time[i + 1] - of->time[i]) * (recording_at(of, i, v[c]) + recording_at(of, i + 1, v[c]));
            if (isnan(x)) continue;
            xx += x * x;
            xy += x * turned[c];
            yy += turned[c] * turned[c];
        }
    }
    if (!(xx > 1e-12) || !(yy > 1e-12)) return (RecordingFit){0};
    return (RecordingFit){.gain = xy / xx, .share = xy * xy / (xx * yy), .x = sqrt(xx), .y = sqrt(yy)};
}

static void recording_doubt_spin(Recording *of, int body)
{
    int at[4], v[3] = {-1, -1, -1};
    RecordingFit world = {0}, own = {0};
    for (int k = 0; k < of->n; k++) {
        const ArticulatedTarget *target = &of->host->targets[k];
        const int c = target->component - ARTICULATED_W;
        if (target->kind == ARTICULATED_TARGET_CELL && target->body == body && c >= 0 && c < 3) v[c] = k;
    }
    if (!recording_turn(of, body, at) || v[0] < 0 || v[1] < 0 || v[2] < 0 || of->rows < 40) return;
    for (int window = 1; window <= of->rows / 4 && window <= 64; window *= 2) {
        const RecordingFit fit = recording_fit_spin(of, at, v, window, false);
        const RecordingFit fit_own = recording_fit_spin(of, at, v, window, true);
        if (fit.share > world.share) world = fit;
        if (fit_own.share > own.share) own = fit_own;
    }
    const char *name = of->names[v[0]];
    const char *sentence = arena_format(of->arena, "the quaternion turns %.4g times as fast", world.gain);
    if (own.share > 0.9 && world.share < 0.5)
        recording_doubt(of, RECORDING_SPIN, name,
                        arena_format(of->arena,
                                     "it explains %.0f %% of how the quaternion turns there, and %.0f %% in "
                                     "axes of the world",
                                     100.0 * own.share, 100.0 * world.share));
    else if (world.share > 0.9 && recording_near(world.gain, 1.0 / RECORDING_PER_RAD, 0.15))
        recording_doubt(of, RECORDING_RATE_DEGREES, name, sentence);
    else if (world.share > 0.9 && (world.gain < 0.6 || world.gain > 1.6))
        recording_doubt(of, RECORDING_FACTOR, name, sentence);
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// The names of the targets, and the times of rows.
static void recording_take(Recording *of)
{
    const Points *file = &of->host->reference;
    double *time = ARENA_NEW(of->arena, double, of->rows);
    const double *step = of->host->records, *fraction = step + of->rows;
    of->names = ARENA_NEW(of->arena, const char *, of->n + 1);
    for (int64_t c = 0, k = 0; c < file->columns; c++)
        if (strcmp(file->names[c], "time") != 0) of->names[k++] = file->names[c];
    for (int r = 0; r < of->rows; r++) time[r] = (step[r] - 1.0 + fraction[r]) * of->c->dt;
    of->time = time;
    of->value = fraction + of->rows;
    of->period = recording_period(of, 0, of->rows);
}

static const char *recording_text(const Recording *of, RecordingDoubt doubt)
{
#define RECORDING_ENTRY(name, what, advice) {what, advice},
    static const struct {
        const char *what, *advice;
    } texts[] = {RECORDING_DOUBTS(RECORDING_ENTRY)};
#undef RECORDING_ENTRY
    const RecordingFound *found = &of->found[doubt];
    const int more = found->count - RECORDING_NAMED;
    const char *others = more > 0 ? arena_format(of->arena, " and %d more", more) : "";
    return arena_format(of->arena, "%.200s%s: %s: %s%s", found->names, others, texts[doubt].what, found->first,
                        texts[doubt].advice);
}

int articulated_doubts(const Configured *configured, const double *point, int count, Arena *arena, const char **texts)
{
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    Recording of = {.host = configured->host,
                    .bodies = (const ArticulatedBody *)configured->assets,
                    .c = &c,
                    .configured = configured,
                    .point = point,
                    .n_points = count,
                    .rows = c.n_records,
                    .n = c.n_targets,
                    .arena = arena};
    int n = 0;
    if (c.n_targets == 0) return 0;
    recording_take(&of);
    recording_doubt_rows(&of);
    for (int i = 0; i < c.n_bodies; i++) {
        if (of.bodies[i].joint >= 0) recording_doubt_joint(&of, i);
        recording_doubt_turn(&of, i);
        recording_doubt_spin(&of, i);
    }
    for (int k = 0; k < of.n; k++) recording_doubt_start(&of, k);
    for (int k = 0; k < of.n; k++) recording_doubt_same(&of, k);
    recording_doubt_shift(&of);
    recording_doubt_lags(&of);
    for (int doubt = 0; doubt < RECORDING_N_DOUBTS; doubt++)
        if (of.found[doubt].count > 0) texts[n++] = recording_text(&of, (RecordingDoubt)doubt);
    return n;
}
