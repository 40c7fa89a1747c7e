// A recorded motion from a file: which columns of the trajectory its columns are, and which steps its rows.
#include "articulated.h"

#include <math.h>
#include <string.h>

#define REFERENCE_LEAST 1e-3 // the least scale of a column, in its unit
#define REFERENCE_QUIET 1e-6 // the least noise of a column, of its scale
#define REFERENCE_NEAR 1e-6  // steps: a time so near to a step is that step

// ---- columns --------------------------------------------------------------------------------------------------------

// The turn of a ball's body is that in its parent, but that of the base is in the world: its cells.
static void targets_of_base(const ArticulatedBody *bodies, int base, ArticulatedTarget *all)
{
    const bool ball = bodies[base].kind == ROBOT_BALL;
    for (int k = 0; k < 3; k++) {
        all[1 + k] = (ArticulatedTarget){.kind = ARTICULATED_TARGET_POSITION, .body = base, .component = k};
        all[8 + k] = (ArticulatedTarget){.kind = ARTICULATED_TARGET_CELL, .body = base, .component = ARTICULATED_V + k};
        all[11 + k] =
            (ArticulatedTarget){.kind = ARTICULATED_TARGET_CELL, .body = base, .component = ARTICULATED_W + k};
    }
    for (int k = 0; k < 4; k++)
        all[4 + k] = (ArticulatedTarget){.kind = ball ? ARTICULATED_TARGET_CELL : ARTICULATED_TARGET_TURN,
                                         .body = base,
                                         .component = ball ? ARTICULATED_Q + k : k};
}

static void targets_of_joint(int body, int n_joints, ArticulatedTarget *all)
{
    static const int cells[] = {0, ARTICULATED_RATE, ARTICULATED_COMMAND, ARTICULATED_EFFORT};
    for (int k = 0; k < ARTICULATED_JOINT_COLUMNS; k++)
        all[k * n_joints] = (ArticulatedTarget){k == 0 ? ARTICULATED_TARGET_COORDINATE : ARTICULATED_TARGET_CELL, body,
                                                cells[k], 0, 0.0};
}

// What every column of a trajectory is, in the order of articulated_columns; the time's is not set.
static const ArticulatedTarget *targets_all(const ArticulatedConstants *c, const ArticulatedBody *bodies, int n_columns,
                                            Arena *arena)
{
    ArticulatedTarget *all = ARENA_NEW(arena, ArticulatedTarget, n_columns);
    int to = ARTICULATED_BASE_COLUMNS + ARTICULATED_JOINT_COLUMNS * c->n_joints;
    targets_of_base(bodies, c->base, all);
    for (int i = 0; i < c->n_bodies; i++) {
        if (bodies[i].joint >= 0) targets_of_joint(i, c->n_joints, all + ARTICULATED_BASE_COLUMNS + bodies[i].joint);
    }
    for (int i = 0; i < c->n_bodies; i++) {
        if (bodies[i].n_points > 0)
            all[to++] = (ArticulatedTarget){ARTICULATED_TARGET_CELL, i, ARTICULATED_FORCE, 0, 0.0};
    }
    for (int i = 0; i < c->n_bodies; i++) {
        const bool free = bodies[i].kind == ROBOT_FREE && i > 0;
        for (int k = 0; k < 3 && free; k++) all[to++] = (ArticulatedTarget){ARTICULATED_TARGET_POSITION, i, k, 0, 0.0};
        for (int k = 0; k < 4 && (free || bodies[i].kind == ROBOT_BALL); k++)
            all[to++] = (ArticulatedTarget){ARTICULATED_TARGET_TURN, i, k, 0, 0.0};
    }
    return all;
}

static int reference_column(const Configured *configured, const char *name)
{
    int c = configured->n_columns - 1;
    while (c >= 0 && strcmp(configured->columns[c].name, name) != 0) c--;
    return c;
}

static Error reference_unknown(const Configured *configured, const char *name, Arena *arena)
{
    const char *joint = arena_format(arena, "%.100s_q", name);
    const char *hint =
        reference_column(configured, joint) >= 0 ? arena_format(arena, "; did you mean '%s'?", joint) : "";
    return error_make(ERROR_USER, "reference has a column '%.100s', which no trajectory of this robot has%s", name,
                      hint);
}

// from[columns - 1]: the column of the file for each target; *time: that of the time.
static Error reference_columns(const Points *file, const ArticulatedTarget *all, const Configured *out, Arena *arena,
                               ArticulatedTarget *targets, int64_t *from, int64_t *time)
{
    int n = 0;
    *time = -1;
    for (int64_t k = 0; k < file->columns; k++) {
        const int column = reference_column(out, file->names[k]);
        if (column < 0) return reference_unknown(out, file->names[k], arena);
        if (strcmp(out->columns[column].group, "frames") == 0)
            return error_make(ERROR_USER, "reference has a column '%.100s', and frames are not compared: leave it out",
                              file->names[k]);
        if (column == 0) {
            *time = k;
            continue;
        }
        targets[n] = all[column];
        from[n++] = k;
    }
    if (*time < 0) return error_make(ERROR_USER, "reference has no column 'time' (s)");
    return n > 0 ? error_none() : error_make(ERROR_USER, "reference has no column besides its time");
}

// ---- rows -----------------------------------------------------------------------------------------------------------

// "walk.csv, line 7"
static const char *reference_row(const Points *file, int64_t row, Arena *arena)
{
    if (file->source == NULL) return arena_format(arena, "row %lld", (long long)row + 1);
    return arena_format(arena, "%.160s, %s %lld", file->source->file, file->source->row,
                        (long long)file->source->rows[row]);
}

// Times beyond the duration: what may be wrong with them.
static const char *reference_late(const double *time, int64_t rows, int64_t columns, double duration)
{
    const double last = time[(rows - 1) * columns] - time[0];
    if (time[0] > duration && last <= duration)
        return "is it another clock? `{file: ..., offset: start}` lets the first row be at 0 s";
    if (rows > 1 && last / 1e3 <= duration && last / 1e3 > 0.1 * duration)
        return "are times in ms? `{file: ..., time: {column: ..., unit: ms}}`";
    if (rows > 1 && last / 1e6 <= duration && last / 1e6 > 0.1 * duration)
        return "are times in us? `{file: ..., time: {column: ..., unit: us}}`";
    if (rows > 1 && last / 1e9 <= duration && last / 1e9 > 0.1 * duration)
        return "are times in ns? `{file: ..., time: {column: ..., unit: ns}}`";
    return "`{file: ..., to: ...}` leaves out later rows";
}

// The step of each row, and where in it the row lies (reference.h).
static Error reference_times(const Points *file, int64_t column, const ArticulatedConstants *c, Arena *arena,
                             double *step, double *fraction)
{
    const int64_t rows = file->count / file->columns;
    const double duration = (double)c->ticks * c->dt;
    for (int64_t r = 0; r < rows; r++) {
        const double *time = file->numbers + r * file->columns + column, at = time[0] / c->dt, near = floor(at + 0.5);
        const bool is_step = fabs(at - near) < REFERENCE_NEAR;
        step[r] = is_step ? near : ceil(at);
        fraction[r] = is_step ? 1.0 : at - (step[r] - 1.0);
        if (r > 0 && time[0] <= time[-file->columns])
            return error_make(ERROR_USER, "%s: time must increase, and %.9g s follows %.9g s",
                              reference_row(file, r, arena), time[0], time[-file->columns]);
        if (step[r] < 0.0)
            return error_make(ERROR_USER,
                              "%s: it is at %.9g s, before 0 s; `{file: ..., from: 0}` leaves out earlier rows, "
                              "`offset` shifts all",
                              reference_row(file, r, arena), time[0]);
        if (step[r] > (double)c->ticks)
            return error_make(ERROR_USER, "%s: it is at %.9g s, and the duration is %.9g s; %s",
                              reference_row(file, r, arena), time[0], duration,
                              reference_late(file->numbers + column, rows, file->columns, duration));
    }
    return error_none();
}

// ---- values ---------------------------------------------------------------------------------------------------------

// The standard deviation of a column without its gaps, at least REFERENCE_LEAST.
static double reference_scale(const double *value, int64_t rows, int n)
{
    double mean = 0.0, squares = 0.0, count = 0.0;
    for (int64_t r = 0; r < rows; r++) count += !isnan(value[r * n]);
    for (int64_t r = 0; r < rows; r++) mean += isnan(value[r * n]) ? 0.0 : value[r * n] / count;
    for (int64_t r = 0; r < rows; r++)
        squares += isnan(value[r * n]) ? 0.0 : (value[r * n] - mean) * (value[r * n] - mean);
    const double deviation = sqrt(squares / count);
    return deviation > REFERENCE_LEAST ? deviation : REFERENCE_LEAST;
}

// Four rows of a column next to each other, without its gaps.
typedef struct ReferenceRows {
    double time[4], value[4]; // s
} ReferenceRows;

static void reference_push(ReferenceRows *rows, double time, double value)
{
    for (int k = 0; k < 3; k++) {
        rows->time[k] = rows->time[k + 1];
        rows->value[k] = rows->value[k + 1];
    }
    rows->time[3] = time;
    rows->value[3] = value;
}

// The difference of four rows that is 0 of a parabola, with 20 times the variance of white noise: a divided one, since
// rows may be at unequal times; 1, -3, 3, -1 where they are at equal ones.
static double reference_third(const ReferenceRows *rows)
{
    static const double equal = 1e-6; // of a period
    const double *t = rows->time, *y = rows->value, period = (t[3] - t[0]) / 3.0;
    if (fabs(t[1] - t[0] - period) < equal * period && fabs(t[2] - t[1] - period) < equal * period)
        return y[3] - 3.0 * y[2] + 3.0 * y[1] - y[0];
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < 4; i++) {
        double weight = 1.0;
        for (int k = 0; k < 4; k++) weight *= k == i ? 1.0 : period / (t[i] - t[k]);
        sum += weight * y[i];
        squares += weight * weight;
    }
    return sum * sqrt(20.0 / squares);
}

// The standard deviation of the noise of a column whose signal is a parabola over any four rows next to each other, by
// their third differences. Sources of the idea, with other weights: A. W. Hall, J. W. Kay & D. M. Titterington,
// Biometrika 77, 1990; for unequal times T. Gasser, L. Sroka & C. Jennen-Steinmetz, Biometrika 73, 1986. Four rows that
// span more than twice the mean have a gap between them, and do not count.
static double reference_noise(const double *time, const double *value, int64_t rows, int n)
{
    static const double apart = 2.0;
    double squares = 0.0, count = 0.0, span = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        ReferenceRows last = {{0.0}, {NAN, NAN, NAN, NAN}};
        const double most = pass == 0 ? INFINITY : apart * span / count;
        if (pass == 1) count = 0.0;
        for (int64_t r = 0; r < rows; r++) {
            if (isnan(value[r * n])) continue;
            reference_push(&last, time[r * (n + 1)], value[r * n]);
            const double third = reference_third(&last), wide = last.time[3] - last.time[0];
            if (isnan(third) || wide > most) continue;
            if (pass == 0) span += wide;
            if (pass == 1) squares += third * third;
            count += 1.0;
        }
    }
    return count > 0.0 ? sqrt(squares / (20.0 * count)) : 0.0;
}

// value: a column of [rows][n]; time: that of [rows][n + 1].
static double reference_weight(ReferenceScale scale, const double *time, const double *value, int64_t rows, int n)
{
    const double deviation = reference_scale(value, rows, n), noise = reference_noise(time, value, rows, n);
    switch (scale) {
    case REFERENCE_DEVIATION: return 1.0 / deviation;
    case REFERENCE_NONE: return 1.0;
    case REFERENCE_NOISE: return 1.0 / (noise > REFERENCE_QUIET * deviation ? noise : REFERENCE_QUIET * deviation);
    }
    return 1.0;
}

// What differences of the columns are divided by: their noise, if the spec says it, of all.
static Error reference_scales(const Points *file, const int64_t *from, int64_t time, const double *value, int64_t rows,
                              ReferenceScale scale, ArticulatedTarget *targets)
{
    const int n = (int)file->columns - 1;
    const double *noise = file->source != NULL ? file->source->noise : NULL;
    int noisy = 0, without = 0;
    for (int k = 0; k < n; k++) {
        const bool known = noise != NULL && !isnan(noise[from[k]]);
        noisy += known;
        if (!known) without = k;
        targets[k].weight =
            known ? 1.0 / noise[from[k]] : reference_weight(scale, file->numbers + time, value + k, rows, n);
    }
    if (noisy == 0 || noisy == n) return error_none();
    return error_make(ERROR_USER,
                      "reference: column '%.100s' has no `noise`, and others have it: give it to all or none",
                      file->names[from[without]]);
}

// q and -q are the same turn: of the two, each row has the one nearer to the row before, and the first row the one
// nearer to the start. Columns at[4].
static void reference_turn(const double *start, const int *at, int64_t rows, int n, double *value)
{
    double last[4];
    memcpy(last, start, sizeof last);
    for (int64_t r = 0; r < rows; r++) {
        double dot = 0.0;
        for (int k = 0; k < 4; k++) dot += last[k] * value[r * n + at[k]];
        if (isnan(dot)) continue; // a gap
        for (int k = 0; k < 4; k++) {
            if (dot < 0.0) value[r * n + at[k]] = -value[r * n + at[k]];
            last[k] = value[r * n + at[k]];
        }
    }
}

// Wherever all four columns of a quaternion are there.
static void reference_turns(const ArticulatedTarget *targets, int n, const ArticulatedBody *bodies, int64_t rows,
                            double *value)
{
    for (int first = 0; first < n; first++) {
        int at[4] = {-1, -1, -1, -1};
        if (targets[first].kind != ARTICULATED_TARGET_TURN || targets[first].component != 0) continue;
        for (int k = 0; k < n; k++) {
            if (targets[k].kind == ARTICULATED_TARGET_TURN && targets[k].body == targets[first].body)
                at[targets[k].component] = k;
        }
        if (at[1] >= 0 && at[2] >= 0 && at[3] >= 0)
            reference_turn(bodies[targets[first].body].frame + 3, at, rows, n, value);
    }
}

Error articulated_reference(ArticulatedHost *host, const ArticulatedBody *bodies, Arena *arena, ArticulatedConstants *c,
                            Configured *out)
{
    const Points *file = &host->reference;
    if (file->count == 0) return error_none();
    const int64_t rows = file->count / file->columns;
    const int n = (int)file->columns - 1;
    int64_t time;
    int64_t *from = ARENA_NEW(arena, int64_t, n + 1);
    ArticulatedTarget *targets = ARENA_NEW(arena, ArticulatedTarget, n + 1);
    double *records = ARENA_NEW(arena, double, (2 + n) * rows + 1), *value = records + 2 * rows;
    const ArticulatedTarget *all = targets_all(c, bodies, out->n_columns, arena);
    TRY(reference_columns(file, all, out, arena, targets, from, &time));
    TRY(reference_times(file, time, c, arena, records, records + rows));
    for (int64_t r = 0; r < rows; r++) {
        for (int k = 0; k < n; k++) value[r * n + k] = file->numbers[r * file->columns + from[k]];
    }
    reference_turns(targets, n, bodies, rows, value);
    TRY(reference_scales(file, from, time, value, rows, host->scale, targets));
    host->targets = targets;
    host->records = records;
    c->n_targets = n;
    c->n_records = (int32_t)rows;
    return error_none();
}

// ---- the metric -----------------------------------------------------------------------------------------------------

#define ARTICULATED_ROW(name, unit, doc) {#name, unit, doc, NULL},
static const Field articulated_metrics_table[ARTICULATED_N_METRICS] = {ARTICULATED_METRICS(ARTICULATED_ROW)};
#undef ARTICULATED_ROW
static const Field metrics_of_reference = {
    "reference_error", "1",
    "rms difference from the recorded motion, over its rows and columns, each column by its scale", NULL};
static const Field metrics_of_legs[RAIBERT_METRICS] = {
    {"speed_error", "m/s",
     "rms difference of the velocity of the robot's centre of mass from the commanded one, after settle_time", NULL},
    {"heading_error", "rad", "rms difference of the heading from the commanded one, after settle_time", NULL}};
static const Field metrics_of_steps = {
    "step_error", "m, rad",
    "order two: how far a step of dt and two of dt/2 from the same state are apart, the most over all steps and "
    "bodies, of a body's centre of mass (m) or of its turn (rad)",
    NULL};

void articulated_metrics_of(const ArticulatedHost *host, bool second, Arena *arena, Configured *out)
{
    Field *metrics = ARENA_NEW(arena, Field, ARTICULATED_N_METRICS + 1 + RAIBERT_METRICS + 1);
    int n = ARTICULATED_N_METRICS;
    memcpy(metrics, articulated_metrics_table, sizeof articulated_metrics_table);
    if (host->reference.count > 0) metrics[n++] = metrics_of_reference;
    for (int k = 0; k < RAIBERT_METRICS && host->n_feet > 0; k++) metrics[n++] = metrics_of_legs[k];
    if (second) metrics[n++] = metrics_of_steps;
    out->metrics = metrics;
    out->n_metrics = n;
}
