// Explains gains before a run: the oscillator of a constraint's error with each form, the stability of its steps,
// and the steady error. It uses the kernel's own gains and rows, at the initial pose.
//
// An error obeys C'' = -c C' - k C: omega_n = sqrt(k), zeta = c/(2 omega_n). For rigid rows (e = 1), semi-implicit
// Euler with step h gives
//     C+ = C + h v+,  v+ = v - h e (c v + k C).
// If sigma = cfm of the diagonal D of A = J M^-1 J' is added to A, an error that is an eigenvector of D^-1/2 A D^-1/2
// with the eigenvalue mu has e = mu/(mu + sigma); for a single row this is 1/(1 + sigma). The matrix of a step,
//     [1 - e k h^2, h (1 - e c h)]
//     [  - e k h,      1 - e c h ],  trace 2 - e (c h + k h^2), determinant 1 - e c h,
// has no eigenvalue beyond 1 (Jury) if c h > 0, e c h < 2 and e (k h^2 + 2 c h) < 4. The greatest mu decides, and the
// limits are 1 + sigma/mu times those of rigid rows. Form soft has e (k h^2 + 2 c h) < 3 for every step.
//
// Forms without J' v, the finite step, and soft rows under load leave an error where u = d' turns:
//     C = (((1 - s) - c h/2) J' v - sigma D lambda)/k in steady motion.
// A smaller step removes the first term only if s = 1.
#include "rigid.h"

#include "advance.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *gains, *gains_per_dt;
    int parameters[2]; // that decide stability
} explain_forms[] = {
    {"baumgarte",
     "c = 2 alpha, k = beta^2",
     "c = 2 alpha/dt, k = beta^2/dt^2",
     {RIGID_PARAMETER_alpha, RIGID_PARAMETER_beta}},
    {"original",
     "c = 1 + beta, k = alpha",
     "c = beta/dt, k = alpha/dt^2",
     {RIGID_PARAMETER_alpha, RIGID_PARAMETER_beta}},
    {"original_with_bias",
     "c = 1 + beta, k = alpha",
     "c = beta/dt, k = alpha/dt^2",
     {RIGID_PARAMETER_alpha, RIGID_PARAMETER_beta}},
    {"velocity",
     "c = 1/dt, k = gamma/dt^2",
     "c = 1/dt, k = gamma/dt^2",
     {RIGID_PARAMETER_gamma, RIGID_PARAMETER_substeps}},
    {"soft",
     "a spring of frequency and damping_ratio",
     "a spring of frequency and damping_ratio",
     {RIGID_PARAMETER_frequency, RIGID_PARAMETER_damping_ratio}},
};
enum { EXPLAIN_FORMS = sizeof explain_forms / sizeof explain_forms[0] };

typedef struct ExplainRemarks {
    Remark *remarks;
    int count;
} ExplainRemarks;

static void explain_say(ExplainRemarks *to, const char *name, bool warning, const char *text)
{
    if (to->count < REMARKS_MAX) to->remarks[to->count++] = (Remark){.name = name, .text = text, .warning = warning};
}

// ---- a trial on the host --------------------------------------------------------------------------------------------

typedef struct ExplainLane {
    LaneGroup group;
    Constants constants;
    RigidLanes w;
} ExplainLane;

// Computes memory[cells] of a lane with these parameters.
static void explain_open(const Configured *configured, const double *parameter, double *memory, ExplainLane *lane)
{
    double *values = (double *)(uintptr_t)parameter; // no kernel writes them
    lane->group = (LaneGroup){.batch = {.lanes = 1, .stride = 1, .parameter = values}, .valid = 1};
    lane->constants = configured->constants;
    lane->w = rigid_open(&lane->constants, configured->assets, &lane->group);
    lane->w.base = memory;
    lane->w.stride = 1;
}

static int explain_form(const ExplainLane *lane)
{
    return lane->w.c.form == RIGID_SEARCHED ? (int)floor(lane->group.batch.parameter[RIGID_PARAMETER_form] + 0.5)
                                            : lane->w.c.form;
}

// ---- redundant rows -------------------------------------------------------------------------------------------------

// "row 3 of left" for a constraint with several rows, "rod" for one with a single row
static const char *explain_row_name(const RigidLanes *w, const RigidHost *host, int row, Arena *arena)
{
    const int constraint = w->rows[row].constraint;
    int rows = 0, number = 0;
    for (int k = 0; k < w->c.n_rows; k++) {
        if (w->rows[k].constraint != constraint) continue;
        rows++;
        number += k <= row;
    }
    const char *name = host->constraints[constraint];
    return rows == 1 ? name : arena_format(arena, "row %d of %s", number, name);
}

static void explain_redundant(const Configured *configured, const RigidLanes *w, ExplainRemarks *to, Arena *arena)
{
    enum { NAMED = 8 };
    static const char *const what[] = {"they share the load", "left out, with the multiplier 0",
                                       "every trial fails at once (redundant: error)", "held by cfm"};
    const char *names = "";
    int found = 0;
    for (int k = 0; k < w->c.n_rows; k++) {
        if (cell(w, w->rows[k].pivot) != 0.0) continue;
        if (found < NAMED)
            names = arena_format(arena, "%s%s%s", names, found > 0 ? ", " : "",
                                 explain_row_name(w, configured->host, k, arena));
        found++;
    }
    if (found == 0) return;
    explain_say(to, "redundant", w->c.redundant == RIGID_REFUSE,
                arena_format(arena, "%d of %d rows follow%s from others at the start: %s%s; %s", found, w->c.n_rows,
                             found == 1 ? "s" : "", names, found > NAMED ? " ..." : "", what[w->c.redundant]));
}

// ---- what rows share ------------------------------------------------------------------------------------------------

// x <- M^-1 x of a body
static void explain_lighten(const RigidLanes *w, int body, double *x)
{
    const Symmetric3 I = rigid_inertia(w, body);
    double inertia[6] = {I.xx, I.xy, I.yy, I.xz, I.yz, I.zz};
    packed_factor(inertia, 3, splat(0.0));
    packed_back(inertia, 3, x + 3);
    for (int k = 0; k < 3; k++) x[k] /= cell(w, rigid_body_at(w, body) + RIGID_BODY_M);
}

// Z = A X of the rows
static void explain_multiply(const RigidLanes *w)
{
    for (int b = 0; b < w->n_moving; b++) {
        const int body = w->order[b];
        double x[6] = {0};
        rigid_gather(w, body, 0, RIGID_ROW_X, x);
        explain_lighten(w, body, x);
        rigid_put(w, rigid_body_at(w, body) + RIGID_BODY_D, 6, x);
    }
    for (int k = 0; k < w->c.n_rows; k++)
        set_cell(w, rigid_row_at(w, k) + RIGID_ROW_Z, rigid_row_times(w, k, RIGID_BODY_D));
}

// Greatest eigenvalue of D^-1/2 A D^-1/2 by the power method: 1 if no rows share a body, else more. compliance[n_rows]:
// D.
static double explain_sharing(const RigidLanes *w, const double *compliance)
{
    enum { ITERATIONS = 500 }; // four digits for long chains, whose eigenvalues lie close together
    double mu = 1.0, before = 0.0;
    const int n = w->c.n_rows;
    for (int k = 0; k < n; k++) { // a start that is unlikely to be orthogonal to the eigenvector
        const double start = fmod(0.6180339887498949 * (k + 1), 1.0) - 0.4;
        set_cell(w, rigid_row_at(w, k) + RIGID_ROW_X, start / sqrt(compliance[k]));
    }
    for (int i = 0; i < ITERATIONS && fabs(mu - before) > 1e-14 * mu; i++) {
        double squares = 0.0, product = 0.0;
        explain_multiply(w);
        for (int k = 0; k < n; k++) { // y = D^1/2 X, A' y = D^-1/2 Z
            const int at = rigid_row_at(w, k);
            const double x = cell(w, at + RIGID_ROW_X), z = cell(w, at + RIGID_ROW_Z);
            squares += compliance[k] * x * x;
            product += x * z;
        }
        before = mu;
        mu = product / squares;
        for (int k = 0; k < n; k++) {
            const int at = rigid_row_at(w, k);
            set_cell(w, at + RIGID_ROW_X, cell(w, at + RIGID_ROW_Z) / (compliance[k] * mu));
        }
    }
    return mu;
}

// ---- what drives errors ---------------------------------------------------------------------------------------------

// One row at the start: J' v, and D lambda with the lambda of rigid rows. length: |d| of a distance, whose C is (d^2 -
// length^2)/2; 0 for others, whose C is the error itself.
typedef struct ExplainRow {
    double bias, load, length;
} ExplainRow;

// Common to all trials: the world at the start.
typedef struct ExplainWorld {
    ExplainRow *rows; // [n_rows]
    int n_rows;
    double sharing; // greatest mu
    bool turns;     // some J' v is not 0
} ExplainWorld;

// D lambda at the accelerations that keep the rows constant, A lambda = -J' v - J a0. What is added to A is
// negligible, but with it rows that follow from others are not left out: they share the load, as soft rows do.
static void explain_loads(const RigidLanes *w, const double *compliance, ExplainRow *rows)
{
    for (int k = 0; k < w->c.n_rows; k++) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_SOFT, 2.0 * w->c.pivot * compliance[k]);
        set_cell(w, at + RIGID_ROW_RHS, -cell(w, at + RIGID_ROW_BIAS));
    }
    rigid_latch(w, 0.0);
    rigid_forces(w, 0.0, true);
    rigid_factor_all(w);
    rigid_solve(w);
    for (int k = 0; k < w->c.n_rows; k++) rows[k].load = compliance[k] * cell(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA);
}

static ExplainWorld explain_world(const RigidLanes *w, Arena *arena)
{
    ExplainWorld world = {.rows = ARENA_NEW(arena, ExplainRow, w->c.n_rows), .n_rows = w->c.n_rows, .sharing = 1.0};
    double *compliance = ARENA_NEW(arena, double, w->c.n_rows);
    for (int k = 0; k < w->c.n_rows; k++) {
        const int at = rigid_row_at(w, k);
        const bool rod = w->rows[k].kind == RIGID_DISTANCE;
        world.rows[k] =
            (ExplainRow){.bias = cell(w, at + RIGID_ROW_BIAS), .length = rod ? cell(w, at + RIGID_ROW_LENGTH) : 0.0};
        compliance[k] = rigid_row_compliance(w, k);
        world.turns |= world.rows[k].bias != 0.0;
    }
    if (!(w->c.cfm > 0.0)) return world;
    world.sharing = explain_sharing(w, compliance);
    explain_loads(w, compliance, world.rows);
    return world;
}

// |d| - L from C
static double explain_stretch(double C, double length)
{
    return length > 0.0 ? sqrt(fmax(length * length + 2.0 * C, 0.0)) - length : C;
}

// The greatest steady error.
static double explain_error(const ExplainWorld *world, const RigidGains *gains, double h)
{
    double greatest = 0.0;
    for (int k = 0; k < world->n_rows; k++) {
        const ExplainRow *row = &world->rows[k];
        const double left = ((1.0 - gains->s) - 0.5 * gains->c * h) * row->bias - gains->soft * row->load;
        greatest = fmax(greatest, fabs(explain_stretch(left / gains->k, row->length)));
    }
    return greatest;
}

// ---- gains ----------------------------------------------------------------------------------------------------------

// The trials of one form.
typedef struct ExplainTrials {
    int count, unstable, idle; // idle: an error is never corrected
    double error_low, error_high;
    RigidGains gains; // of the first trial
    double h;
} ExplainTrials;

// Factor by which the limits of c dt and k dt^2 exceed those of rigid rows.
static double explain_slack(const ExplainWorld *world, const RigidGains *gains)
{
    return 1.0 + gains->soft / world->sharing;
}

static bool explain_is_unstable(const ExplainWorld *world, const RigidGains *gains, double h)
{
    const double ch = gains->c * h, kh2 = gains->k * h * h;
    return kh2 + 2.0 * ch >= 4.0 * explain_slack(world, gains); // then c h is below half of it too, as k >= 0
}

static void explain_count(const ExplainLane *lane, const ExplainWorld *world, ExplainTrials *trials)
{
    const RigidGains gains = rigid_gains(&lane->w);
    const double h = lane->w.dt;
    if (trials->count++ == 0) {
        trials->gains = gains;
        trials->h = h;
        trials->error_low = INFINITY;
    }
    if (explain_is_unstable(world, &gains, h)) {
        trials->unstable++;
        return;
    }
    if (!(gains.c > 0.0 && gains.k > 0.0)) {
        trials->idle++;
        return;
    }
    const double error = explain_error(world, &gains, h);
    trials->error_low = fmin(trials->error_low, error);
    trials->error_high = fmax(trials->error_high, error);
}

// For a parameter that varies: the value from which some trials are unstable, and the value from which all are. "":
// none.
static const char *explain_border(const Configured *configured, const double *point, const bool *unstable, int count,
                                  int parameter, Arena *arena)
{
    const int n = configured->n_parameters;
    double low = INFINITY, high = -INFINITY, some = INFINITY, stable = -INFINITY, all = INFINITY;
    for (int i = 0; i < count; i++) {
        const double x = point[(int64_t)i * n + parameter];
        low = fmin(low, x);
        high = fmax(high, x);
        if (unstable[i])
            some = fmin(some, x);
        else
            stable = fmax(stable, x);
    }
    for (int i = 0; i < count; i++) {
        const double x = point[(int64_t)i * n + parameter];
        if (unstable[i] && x > stable) all = fmin(all, x);
    }
    const char *name = configured->parameters[parameter].name;
    const bool some_says = some > low && some < all;
    if (low == high || (!some_says && isinf(all))) return "";
    if (isinf(all)) return arena_format(arena, "; some from %s = %.4g on", name, some);
    if (!some_says) return arena_format(arena, "; all from %s = %.4g on", name, all);
    return arena_format(arena, "; some from %s = %.4g on, all from %.4g on", name, some, all);
}

static const char *explain_borders(const Configured *configured, const double *point, const bool *unstable, int count,
                                   int form, Arena *arena)
{
    const int *gains = explain_forms[form].parameters;
    const char *text = "";
    for (int g = 0; g < 2; g++)
        text = arena_format(arena, "%s%s", text, explain_border(configured, point, unstable, count, gains[g], arena));
    return text;
}

static void explain_say_gains(const ExplainTrials *trials, const ExplainWorld *world, int form, bool per_dt,
                              ExplainRemarks *to, Arena *arena)
{
    const RigidGains *gains = &trials->gains;
    const double h = trials->h, ch = gains->c * h, kh2 = gains->k * h * h, omega = sqrt(gains->k);
    const double slack = explain_slack(world, gains);
    const bool unstable = trials->unstable > 0;
    explain_say(to, "gains", false,
                arena_format(arena, "%s: %s: c = %.6g 1/s, k = %.6g 1/s^2; omega_n = %.6g rad/s, zeta = %.4g",
                             explain_forms[form].name,
                             per_dt ? explain_forms[form].gains_per_dt : explain_forms[form].gains, gains->c, gains->k,
                             omega, gains->c / (2.0 * omega)));
    if (form == RIGID_SOFT)
        explain_say(to, "stability", false, "a soft constraint is stable at every step");
    else
        explain_say(to, "stability", unstable,
                    arena_format(arena, "c dt = %.4g (stable below %.4g), k dt^2 + 2 c dt = %.4g (below %.4g)%s", ch,
                                 2.0 * slack, kh2 + 2.0 * ch, 4.0 * slack,
                                 unstable ? ": these gains are unstable, errors grow" : ""));
}

// Says how many of several trials are unstable.
static void explain_say_trials(const Configured *configured, const double *point, const bool *unstable, int count,
                               const ExplainTrials *trials, const ExplainWorld *world, int form, bool per_dt,
                               ExplainRemarks *to, Arena *arena)
{
    const double slack = explain_slack(world, &trials->gains);
    if (form == RIGID_SOFT) {
        explain_say(to, "stability", false, "soft: stable at every step");
        return;
    }
    explain_say(
        to, "gains", false,
        arena_format(arena, "%s: %s; stable where c dt < %.4g and k dt^2 + 2 c dt < %.4g", explain_forms[form].name,
                     per_dt ? explain_forms[form].gains_per_dt : explain_forms[form].gains, 2.0 * slack, 4.0 * slack));
    if (trials->unstable == 0) {
        explain_say(to, "stability", false, arena_format(arena, "%s: all trials are stable", explain_forms[form].name));
        return;
    }
    explain_say(to, "stability", true,
                arena_format(arena, "%s: %d of %d trials looked at are unstable%s", explain_forms[form].name,
                             trials->unstable, trials->count,
                             explain_borders(configured, point, unstable, count, form, arena)));
}

// The steady error for the initial motion.
static void explain_say_error(const ExplainTrials *trials, const ExplainWorld *world, int form, ExplainRemarks *to,
                              Arena *arena)
{
    const char *name = explain_forms[form].name;
    if (trials->idle > 0)
        explain_say(to, "error", true,
                    arena_format(arena, "%s: with c = 0 or k = 0 an error stays or grows (%d of %d trials)", name,
                                 trials->idle, trials->count));
    if (form == RIGID_SOFT || !(trials->error_high > 0.0)) return;
    const char *range = trials->error_high > trials->error_low * (1.0 + 1e-9)
                            ? arena_format(arena, "%.4g to %.4g", trials->error_low, trials->error_high)
                            : arena_format(arena, "%.4g", trials->error_high);
    const bool stays = form == RIGID_ORIGINAL && world->turns;
    explain_say(
        to, "error", stays,
        arena_format(arena, "%s: predicted steady error %s m in motion as at the start%s", name, range,
                     stays ? ": the form leaves J'v out, a smaller dt does not help; original_with_bias has it" : ""));
}

// Remarks on the points of one form.
static void explain_one_form(const Configured *configured, const double *point, int count, int form,
                             const ExplainWorld *world, double *memory, ExplainRemarks *to, Arena *arena)
{
    const int n = configured->n_parameters;
    double *own = ARENA_NEW(arena, double, (int64_t)count *n);
    bool *unstable = ARENA_NEW(arena, bool, count), same = true, per_dt = false;
    ExplainTrials trials = {.count = 0};
    for (int i = 0; i < count; i++) {
        ExplainLane lane;
        explain_open(configured, point + (int64_t)i * n, memory, &lane);
        if (explain_form(&lane) != form) continue;
        const int at = trials.count, before = trials.unstable;
        memcpy(own + (int64_t)at * n, point + (int64_t)i * n, (size_t)n * sizeof *own);
        explain_count(&lane, world, &trials);
        const RigidGains gains = rigid_gains(&lane.w);
        unstable[at] = trials.unstable > before;
        same = same && gains.c == trials.gains.c && gains.k == trials.gains.k && lane.w.dt == trials.h;
        per_dt = lane.w.c.per_dt != 0;
    }
    if (trials.count == 0) return;
    if (same)
        explain_say_gains(&trials, world, form, per_dt, to, arena);
    else
        explain_say_trials(configured, own, unstable, trials.count, &trials, world, form, per_dt, to, arena);
    explain_say_error(&trials, world, form, to, arena);
}

// ---- what has no columns --------------------------------------------------------------------------------------------

static void explain_left_out(const Configured *configured, const RigidConstants *c, ExplainRemarks *to, Arena *arena)
{
    const RigidHost *host = configured->host;
    const char *last = host->moving[c->n_moving - 1];
    if (c->n_named < c->n_moving)
        explain_say(to, "bodies", false,
                    arena_format(arena,
                                 "inputs and end positions of %d of %d moving bodies: of the first %d, and of those "
                                 "that the spec names, as %s_vx or %s_end_x",
                                 c->n_named, c->n_moving, RIGID_SHOWN, last, last));
    if (c->n_recorded < c->n_moving)
        explain_say(to, "trajectories", false,
                    arena_format(arena,
                                 "columns of %d of %d moving bodies; record.bodies chooses them, as "
                                 "[%s]; replay draws all",
                                 c->n_recorded, c->n_moving, last));
    if (host->n_lengths < host->n_rods)
        explain_say(to, "lengths", false,
                    arena_format(arena,
                                 "inputs for %d of %d lengths of rods: the first %d, and those that the spec "
                                 "names",
                                 host->n_lengths, host->n_rods, RIGID_SHOWN));
    if (c->n_rows > RIGID_DEBUG_ROWS)
        explain_say(to, "debug rows", false,
                    arena_format(arena, "debug/kkt holds the first %d of %d rows of the constraints", RIGID_DEBUG_ROWS,
                                 c->n_rows));
}

// Gains that the spec sets or searches and rattle does not use.
static void explain_idle_gains(const Configured *configured, const double *point, int count, ExplainRemarks *to,
                               Arena *arena)
{
    const char *names = "";
    int found = 0;
    for (int p = RIGID_PARAMETER_alpha; p <= RIGID_PARAMETER_damping_ratio; p++) {
        bool set = false;
        for (int i = 0; i < count; i++)
            set |= point[(int64_t)i * configured->n_parameters + p] != configured->parameters[p].value;
        if (set) names = arena_format(arena, "%s%s%s", names, found++ > 0 ? ", " : "", configured->parameters[p].name);
    }
    if (found > 0)
        explain_say(to, "gains", true,
                    arena_format(arena, "rattle uses none: %s change%s nothing", names, found == 1 ? "s" : ""));
}

// ---- the order of rattle --------------------------------------------------------------------------------------------

// The row with the greatest error at the start, relative to its lever; before anything is moved.
typedef struct ExplainGap {
    int row;
    double error;
} ExplainGap;

static ExplainGap explain_gap(const RigidLanes *w)
{
    ExplainGap gap = {.row = 0};
    double greatest = -1.0;
    for (int b = 0; b < w->c.n_bodies; b++) rigid_begin_body(w, b);
    rigid_assemble(w, false);
    for (int k = 0; k < w->c.n_rows; k++) {
        const double error = fabs(cell(w, rigid_row_at(w, k) + RIGID_ROW_STRETCH));
        const double size = error * (w->rows[k].turn > 0.0 ? w->rows[k].turn : 1.0);
        if (size > greatest) {
            greatest = size;
            gap = (ExplainGap){k, error};
        }
    }
    return gap;
}

// What becomes of a start that does not meet the constraints. After rigid_begin.
static void explain_start(const Configured *configured, const RigidLanes *w, ExplainGap gap, ExplainRemarks *to,
                          Arena *arena)
{
    const bool rattle = w->c.form == RIGID_RATTLE, refused = cell(w, w->c.sums_at + RIGID_SUM_OPEN) > 0.0;
    const double speed = cell(w, w->c.sums_at + RIGID_METRIC_projection_speed);
    const bool angle = w->rows[gap.row].kind == RIGID_TURN || w->rows[gap.row].kind == RIGID_PERPENDICULAR;
    if (gap.error > 1e-9)
        explain_say(to, "start", refused || gap.error > 1e-3,
                    arena_format(arena, "%s is %.4g %s off at the start: %s",
                                 explain_row_name(w, configured->host, gap.row, arena), gap.error, angle ? "rad" : "m",
                                 !rattle   ? "the bodies are pulled together, which takes or brings energy"
                                 : refused ? "too far to be closed (at most half of its lever): the trial fails (open)"
                                           : "the bodies are moved together before t = 0 (metric projection)"));
    if (speed > 1e-9)
        explain_say(to, "start", true,
                    arena_format(arena,
                                 "the velocities at the start break the constraints by up to %.3g m/s: they are "
                                 "changed before t = 0 (metric projection_speed)",
                                 speed));
}

// 1/m + r^2/I of the body on which a force acts at r; 0: it is fixed.
static double explain_lightness(const RigidLanes *w, int number, const double *at)
{
    const RigidBody *body = &w->bodies[number];
    const double r2 = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
    const double least = fmin(fmin(body->moments[0], body->moments[1]), body->moments[2]);
    return rigid_moves(w, number) ? 1.0 / cell(w, rigid_body_at(w, number) + RIGID_BODY_M) + r2 / least : 0.0;
}

// Greatest c h/2 (1/m + r^2/I) of a damper, h the longest substep. Above 0.75, rattle's iteration for the
// velocities may stop early (rigid_goes_on).
static double explain_stiffness(const RigidLanes *w)
{
    const RigidSubsteps substeps = rigid_substeps(w->c.rattle_order);
    double longest = 0.0, greatest = 0.0;
    for (int k = 0; k < substeps.count; k++) longest = fmax(longest, fabs(substeps.fraction[k]) * w->dt);
    for (int f = 0; f < w->c.n_forces; f++) {
        const RigidForce *force = &w->forces[f];
        const bool pair = force->kind == RIGID_SPRING || force->kind == RIGID_TETHER;
        const double lightness =
            explain_lightness(w, force->i, force->at_i) + (pair ? explain_lightness(w, force->j, force->at_j) : 0.0);
        const double damping = pair                        ? rigid_force_input(w, force, 1, force->damping)
                               : force->kind == RIGID_DRAG ? rigid_force_input(w, force, 0, force->linear)
                                                           : 0.0;
        greatest = fmax(greatest, 0.5 * longest * damping * lightness);
    }
    return greatest;
}

static void explain_order(const RigidLanes *w, ExplainRemarks *to, Arena *arena)
{
    static const int powers[] = {2, 4, 6};
    const int power = powers[w->c.rattle_order];
    const double stiffness = explain_stiffness(w);
    bool latches = false, switches = false;
    for (int f = 0; f < w->c.n_forces; f++) {
        latches |= w->forces[f].kind == RIGID_PARACHUTE;
        switches |= w->forces[f].kind == RIGID_TETHER;
    }
    if (switches || latches)
        explain_say(to, "order", false,
                    arena_format(arena, "errors fall with dt^%d while forces are smooth, but only with %s%s%s", power,
                                 switches ? "dt^2 (dt if damped) once a tether has gone taut or slack" : "",
                                 switches && latches ? ", and with " : "",
                                 latches ? "dt once a parachute has latched during the run" : ""));
    if (stiffness > 0.75)
        explain_say(to, "order", true,
                    arena_format(arena,
                                 "a damper is too stiff for dt (c dt/2m up to %.3g, at most 0.75): its force is not "
                                 "solved for exactly, errors fall with dt",
                                 stiffness));
}

// ---- all of it ------------------------------------------------------------------------------------------------------

int rigid_explain(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks)
{
    ExplainRemarks to = {.remarks = remarks};
    ExplainLane lane;
    RigidConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    double *memory = ARENA_NEW(arena, double, c.cells);
    explain_left_out(configured, &c, &to, arena);
    explain_open(configured, point, memory, &lane);
    const ExplainGap gap = c.n_rows > 0 ? explain_gap(&lane.w) : (ExplainGap){.row = 0};
    (void)rigid_begin(&lane.w);
    if (c.form == RIGID_RATTLE) rigid_prepare_rattle(&lane.w, true);
    rigid_assemble(&lane.w, true);
    if (c.n_rows > 0) explain_start(configured, &lane.w, gap, &to, arena);
    if (c.form == RIGID_RATTLE) explain_order(&lane.w, &to, arena);
    if (c.n_rows == 0) return to.count;
    const ExplainWorld world = explain_world(&lane.w, arena);
    for (int k = 0; k < c.n_rows; k++) set_cell(&lane.w, rigid_row_at(&lane.w, k) + RIGID_ROW_SOFT, 0.0);
    lane.w.c.share = 0; // the factors then show which rows follow from others
    rigid_factor_all(&lane.w);
    if (c.form == RIGID_RATTLE) explain_idle_gains(configured, point, count, &to, arena);
    if (c.form == RIGID_RATTLE)
        explain_say(&to, "gains", false,
                    lane.w.c.damped || lane.w.c.n_inputs > 0
                        ? "rattle needs none: every step ends on the constraints"
                        : "rattle needs none: every step ends on the constraints, and keeps energy");
    for (int form = 0; form < EXPLAIN_FORMS; form++)
        explain_one_form(configured, point, count, form, &world, memory, &to, arena);
    explain_redundant(configured, &lane.w, &to, arena);
    return to.count;
}
