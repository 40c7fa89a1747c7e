// Raibert's planar one-legged hopper: its tables and settings. Its arithmetic is in dynamics.h, control.h and
// advance.h. Source: M. H. Raibert, "Hopping in legged systems: modeling and simulation for the two-dimensional
// one-legged case", IEEE Trans. SMC 14(3), 1984.
#include "hopper.h"

#include "../models.h"
#include "drawing.h"
#include "gradient.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(HopperConstants) <= sizeof(Constants), "the hopper's constants fit a kernel's argument");

enum {
    HOPPER_DURATION,
    HOPPER_DT,
    HOPPER_INTEGRATOR,
    HOPPER_EQUATIONS,
    HOPPER_SETTLE,
    HOPPER_JACOBIAN,
    HOPPER_ITERATIONS,
    HOPPER_NEWTON_TOLERANCE,
    HOPPER_TOLERANCE,
    HOPPER_STEPS,
    HOPPER_MACHINE,
    HOPPER_TERRAIN,
    HOPPER_TERRAIN_POINTS,
    HOPPER_PUSH,
    HOPPER_WIND,
    HOPPER_ACCOUNTING,
    HOPPER_CONTROL,
    HOPPER_PERIOD,
    HOPPER_ACTIONS,
    HOPPER_ACTIONS_FILE,
    HOPPER_LAW,
    HOPPER_ACTION_PERIOD
};

// Words of options, a row each.
// clang-format off
// Whether a step is solved by iteration, so that there are debug rows.
#define HOPPER_INTEGRATORS(X) \
    X(implicit_midpoint, true) \
    X(semi_implicit_euler, false) \
    X(implicit_euler, true) \
    X(rk4, false) \
    X(dormand_prince, false)
// The variants that a word selects.
#define HOPPER_MACHINES(X) X(three_state, 0) X(four_state, HOPPER_WITH_FOUR_STATES)
#define HOPPER_PUSHES(X) X(none, 0) X(timed, HOPPER_WITH_TIMED_PUSH) X(random, HOPPER_WITH_RANDOM_PUSHES)
#define HOPPER_WINDS(X) X(none, 0) X(steady, HOPPER_WITH_WIND) X(gusting, HOPPER_WITH_WIND | HOPPER_WITH_GUSTS)
#define HOPPER_ACCOUNTINGS(X) X(total, 0) X(parts, HOPPER_WITH_TERMS)
#define HOPPER_EQUATION_SETS(X) X(corrected, 0) X(reference, HOPPER_WITH_REFERENCE)
#define HOPPER_CONTROLS(X) \
    X(raibert, 0) \
    X(external, HOPPER_WITH_EXTERNAL) \
    X(policy, HOPPER_WITH_EXTERNAL | HOPPER_WITH_LAW) \
    X(law, HOPPER_WITH_EXTERNAL | HOPPER_WITH_LAW)
// clang-format on

static const Option hopper_options[] = {
    {"duration", OPTION_NUMBER, "s", 5.0, 1e-6, 1e5, NULL, "simulated time; a whole number of steps dt"},
    {"dt", OPTION_NUMBER, "s", 1e-4, 1e-7, 0.1, NULL, "time step; with dormand_prince only the unit of record.sample"},
    {"integrator", OPTION_CHOICE, "", 0, 0, CHOICES(HOPPER_INTEGRATORS),
     "implicit_midpoint: second order, keeps energy; semi_implicit_euler: first order, cheap; implicit_euler: first "
     "order, damps; rk4: fourth order between events; dormand_prince: adaptive steps, events located"},
    {"equations", OPTION_CHOICE, "", 0, 0, CHOICES(HOPPER_EQUATION_SETS),
     "corrected: Euler-Lagrange; reference: with the sign error of a widely copied 5x5 form, for comparison"},
    {"settle", OPTION_NUMBER, "s", 1.0, 0.0, 1e5, NULL,
     "velocity_error, mean_speed and attitude_rms ignore the time before it"},
    {"newton.jacobian", OPTION_CHOICE, "", 0, 0, 2, "closed_form|analytic|finite_difference",
     "closed_form: accelerations in closed form, fixed point on the velocities; analytic, finite_difference: Newton's "
     "method on all ten states with accelerations from a 5x5 system; slow, for checks and debugging"},
    {"newton.iterations", OPTION_INTEGER, "1", 16, 2, 100, NULL, "most iterations of an implicit step"},
    {"newton.tolerance", OPTION_NUMBER, "m/s", 1e-11, 1e-14, 1e-9, NULL,
     "an implicit step ends when its velocities (m/s, rad/s) change by less than this"},
    // a looser tolerance changes the gait
    {"tolerance", OPTION_NUMBER, "1", 1e-6, 1e-12, 5e-5, NULL, "dormand_prince: error of a step (m, rad, m/s, rad/s)"},
    {"steps", OPTION_INTEGER, "1", 1e6, 100, 1e9, NULL, "dormand_prince: a trial that needs more fails as `limit`"},
    {"machine", OPTION_CHOICE, "", 0, 0, CHOICES(HOPPER_MACHINES),
     "four_state: flight in two phases, the leg short and swinging, then matching the foot's speed to the ground"},
    {"terrain", OPTION_CHOICE, "", 0, 0, CHOICES(TERRAINS_ALONG),
     "height of the ground; parameters give its dimensions, terrain_points the table"},
    {"terrain_points", OPTION_POINTS, "m", 0, -1e6, 1e6, NULL,
     "[[x, z], ...] for terrain: table; linear between points, level before the first and after the last"},
    {"push", OPTION_CHOICE, "", 0, 0, CHOICES(HOPPER_PUSHES),
     "horizontal pushes on the body: timed: one; random: many, by the seed"},
    {"wind", OPTION_CHOICE, "", 0, 0, CHOICES(HOPPER_WINDS),
     "force wind_drag |w - v| (w - v) on the body; gusting: w is a sine, with a random phase per replicate"},
    {"accounting", OPTION_CHOICE, "", 0, 0, CHOICES(HOPPER_ACCOUNTINGS),
     "parts: adds each term of the energy balance as a metric"},
    {"control.mode", OPTION_CHOICE, "", 0, 0, CHOICES(HOPPER_CONTROLS),
     "raibert: three-part control; external: thrust u1 and hip torque u2 are the actions of control.actions or "
     "control.file, or of an environment, within u1_min to u1_max and u2_min to u2_max; policy: a network gives them "
     "for what environment.observe says; law: control.law gives them"},
    {"control.period", OPTION_NUMBER, "s", 1e-3, 1e-7, 1e3, NULL,
     "control external, policy and law: how long each action is held; a whole number of steps dt"},
    {"control.actions", OPTION_NUMBERS, "", 0, -1e6, 1e6, NULL,
     "control external: u1 (N), u2 (N m), row after row; the last row holds to the end. Without a table all are 0. "
     "Control law: the law's inputs with a range"},
    {"control.file", OPTION_FILE, "", 0, -1e6, 1e6, "table",
     "control external: the table as a CSV file with the columns u1 (N) and u2 (N m); control law: with those of the "
     "law's inputs; control policy: the weights of the network, with the columns layer, output, input (0: the "
     "constant) and weight"},
    {"control.law", OPTION_LAW, "", 0, 0, 0, NULL,
     "control law: u1 and u2 as expressions of the columns of trajectories, once a control period; control raibert: "
     "what it adds to them"},
    {"control.action_period", OPTION_NUMBER, "s", 0, 1e-7, 1e3, "period",
     "control law: how long an action of the law's inputs is held; a whole number of control periods"},
};

// Variants of the model, by the choices of an option. A terrain that is not flat has its parameters beside.
#define HOPPER_SET(word, set) set,
#define HOPPER_TERRAIN_SET(word, has) (has) | (TERRAIN_##word != TERRAIN_flat ? HOPPER_WITH_TERRAIN : 0),
static const struct {
    int option;
    int32_t variants[CHOICE_COUNT(TERRAINS_ALONG)]; // the longest list
} hopper_variants[] = {
    {HOPPER_MACHINE, {HOPPER_MACHINES(HOPPER_SET)}},
    {HOPPER_TERRAIN, {TERRAINS_ALONG(HOPPER_TERRAIN_SET)}},
    {HOPPER_PUSH, {HOPPER_PUSHES(HOPPER_SET)}},
    {HOPPER_WIND, {HOPPER_WINDS(HOPPER_SET)}},
    {HOPPER_ACCOUNTING, {HOPPER_ACCOUNTINGS(HOPPER_SET)}},
    {HOPPER_EQUATIONS, {HOPPER_EQUATION_SETS(HOPPER_SET)}},
    {HOPPER_CONTROL, {HOPPER_CONTROLS(HOPPER_SET)}},
};
#undef HOPPER_SET
#undef HOPPER_TERRAIN_SET

#define HOPPER_CONTROL_NUMBER(name, ...) HOPPER_CONTROL_##name,
enum { HOPPER_CONTROLS(HOPPER_CONTROL_NUMBER) };
#undef HOPPER_CONTROL_NUMBER

static int32_t hopper_variants_of(const double *settings, const Points *points)
{
    const bool adds =
        (int)settings[HOPPER_CONTROL] == HOPPER_CONTROL_raibert && points != NULL && points[HOPPER_LAW].count > 0;
    int32_t variants = adds ? HOPPER_WITH_EXTERNAL | HOPPER_WITH_LAW | HOPPER_WITH_ADDED : 0;
    for (size_t i = 0; i < sizeof hopper_variants / sizeof hopper_variants[0]; i++)
        variants |= hopper_variants[i].variants[(int)settings[hopper_variants[i].option]];
    return variants;
}

// By the choices of `integrator`: the kernel without variants, and the kernel with all of them.
#define HOPPER_PAIR(name, iterates) {KERNEL_hopper_##name, KERNEL_hopper_##name##_full, iterates},
#define HOPPER_INTEGRATOR_NUMBER(name, ...) HOPPER_INTEGRATOR_##name,
enum { HOPPER_INTEGRATORS(HOPPER_INTEGRATOR_NUMBER) };
static const struct {
    int plain, full;
    bool iterates;
} hopper_kernels[] = {HOPPER_INTEGRATORS(HOPPER_PAIR)};
#undef HOPPER_PAIR
#undef HOPPER_INTEGRATOR_NUMBER

// by the choices of `newton.jacobian` after closed_form, which uses the integrator's kernel
static const int hopper_newton_kernels[] = {KERNEL_hopper_newton_analytic, KERNEL_hopper_newton_finite_difference};

#define HOPPER_ROW(name, unit, value, low, high, section, doc) {#name, unit, value, low, high, section, doc},
static const Parameter hopper_parameters[] = {HOPPER_PARAMETERS(HOPPER_ROW)};
#undef HOPPER_ROW

#define HOPPER_ROW(name, unit, value, low, high, section, variants, doc) {#name, unit, value, low, high, section, doc},
static const Parameter hopper_variant_parameters[] = {HOPPER_VARIANT_PARAMETERS(HOPPER_ROW)};
#undef HOPPER_ROW

// the variants of each row: the lanes have it with any of these
#define HOPPER_ROW(name, unit, value, low, high, section, variants, doc) variants,
static const int32_t hopper_parameter_variants[] = {HOPPER_VARIANT_PARAMETERS(HOPPER_ROW)};
#undef HOPPER_ROW

#define HOPPER_ROW(name, unit, doc) {#name, unit, doc, NULL},
static const Field hopper_metrics[] = {HOPPER_METRICS(HOPPER_ROW) HOPPER_TERM_METRICS(HOPPER_ROW)};
#undef HOPPER_ROW

#define HOPPER_STATES "0 COMPRESSION, 1 THRUST, 2 FLIGHT; machine four_state: 2 AIR_PREPARE, 3 SPEED_MATCH"

static const Field hopper_columns[HOPPER_COLUMNS] = {
    {"time", "s", "simulated time", "time"},
    {"x_foot", "m", "horizontal position of the foot", "state"},
    {"z_foot", "m", "height of the foot", "state"},
    {"phi_leg", "rad", "angle of the leg from the vertical, clockwise", "state"},
    {"phi_body", "rad", "angle of the body from the vertical, clockwise", "state"},
    {"len_leg", "m", "length of the leg", "state"},
    {"dx_foot", "m/s", "horizontal velocity of the foot", "state"},
    {"dz_foot", "m/s", "vertical velocity of the foot", "state"},
    {"dphi_leg", "rad/s", "angular velocity of the leg", "state"},
    {"dphi_body", "rad/s", "angular velocity of the body", "state"},
    {"dlen_leg", "m/s", "rate of the leg's length", "state"},
    {"u1", "N", "thrust along the leg", "control"},
    {"u2", "N m", "hip torque, on the body", "control"},
    {"fsm", "1", HOPPER_STATES, "fsm"},
};

// clang-format off
#define HOPPER_STATE_FIELDS(prefix, when, set) \
    {prefix "x_foot",    "m",     "horizontal position of the foot " when, set}, \
    {prefix "z_foot",    "m",     "height of the foot " when, set}, \
    {prefix "phi_leg",   "rad",   "angle of the leg from the vertical, clockwise, " when, set}, \
    {prefix "phi_body",  "rad",   "angle of the body from the vertical, clockwise, " when, set}, \
    {prefix "len_leg",   "m",     "length of the leg " when, set}, \
    {prefix "dx_foot",   "m/s",   "horizontal velocity of the foot " when, set}, \
    {prefix "dz_foot",   "m/s",   "vertical velocity of the foot " when, set}, \
    {prefix "dphi_leg",  "rad/s", "angular velocity of the leg " when, set}, \
    {prefix "dphi_body", "rad/s", "angular velocity of the body " when, set}, \
    {prefix "dlen_leg",  "m/s",   "rate of the leg's length " when, set},

// in the order of hopper_debug_row
static const Field hopper_debug[HOPPER_DEBUG_COLUMNS] = {
    {"time", "s", "simulated time at the step's start", "time"},
    {"step", "1", "step from 0", "iteration"},
    {"iteration", "1", "iteration of the step's solve, from 0", "iteration"},
    {"residual_q", "m", "inf-norm (m, rad) of the residual of q before; 0 where q is eliminated", "residual"},
    {"residual_qd", "m/s", "inf-norm (m/s, rad/s) of the residual of q' before", "residual"},
    {"step_norm", "1", "inf-norm of after - before, in their units", "residual"},
    HOPPER_STATE_FIELDS("before_", "at the step's end, as the iteration found it", "before")
    HOPPER_STATE_FIELDS("after_", "at the step's end, as the iteration left it", "after")
    {"fsm", "1", HOPPER_STATES, "fsm"},
    {"u1", "N", "thrust along the leg, held over the step", "control"},
    {"u2", "N m", "hip torque, on the body, held over the step", "control"},
};
#undef HOPPER_STATE_FIELDS
// clang-format on

static const char *const hopper_failures[] = {"none", "fell", "diverged", "solver", "limit"};

// *steps = time/dt if that is a whole number (to 1e-6 of a step)
static bool hopper_whole_steps(double time, double dt, int64_t *steps)
{
    const double ratio = time / dt;
    *steps = (int64_t)floor(ratio + 0.5);
    return fabs(ratio - (double)*steps) <= 1e-6 && ratio < 9e15;
}

static Error hopper_choose_kernel(const double *settings, int32_t variants, int *kernel)
{
    const int jacobian = (int)settings[HOPPER_JACOBIAN], integrator = (int)settings[HOPPER_INTEGRATOR];
    const char *name = jacobian == 1 ? "analytic" : "finite_difference";
    *kernel = variants != 0 ? hopper_kernels[integrator].full : hopper_kernels[integrator].plain;
    if (jacobian == 0) return error_none();
    *kernel = hopper_newton_kernels[jacobian - 1];
    if (integrator != HOPPER_INTEGRATOR_implicit_midpoint)
        return error_make(ERROR_USER, "newton.jacobian: %s needs integrator: implicit_midpoint; leave it out", name);
    if ((variants & ~HOPPER_WITH_REFERENCE) != 0)
        return error_make(ERROR_USER,
                          "newton.jacobian: %s is for the plain hopper only; leave it out, or machine, terrain, push, "
                          "wind, accounting and control",
                          name);
    return error_none();
}

// Collects the lanes' inputs for these variants: the plain ones, and those of any of the variants. row: as in
// HopperConstants.
static void hopper_compose(int32_t variants, int16_t *row, Arena *arena, Configured *out)
{
    Parameter *parameters = ARENA_NEW(arena, Parameter, HOPPER_N_PARAMETERS + HOPPER_N_VARIANT_PARAMETERS);
    int count = HOPPER_N_PARAMETERS;
    memcpy(parameters, hopper_parameters, sizeof hopper_parameters);
    for (int i = 0; i < HOPPER_N_VARIANT_PARAMETERS; i++) {
        const bool has = (hopper_parameter_variants[i] & variants) != 0;
        row[i] = has ? (int16_t)count : -1;
        if (has) parameters[count++] = hopper_variant_parameters[i];
    }
    out->parameters = parameters;
    out->n_parameters = count;
}

// terrain: table needs points; other terrains must not have any.
static Error hopper_take_table(const Points *points, HopperConstants *constants, Configured *out)
{
    const int64_t count = points != NULL ? points[HOPPER_TERRAIN_POINTS].count : 0;
    if (constants->terrain != TERRAIN_table)
        return count == 0 ? error_none() : error_make(ERROR_USER, "terrain_points needs terrain: table");
    if (count < 2)
        return error_make(ERROR_USER, "terrain: table needs terrain_points, at least two: [[0, 0], [1, 0.1]]");
    constants->n_points = (int32_t)count;
    out->assets = points[HOPPER_TERRAIN_POINTS].xy;
    out->n_assets = 2 * count;
    return error_none();
}

// ---- external control -----------------------------------------------------------------------------------------------

enum { HOPPER_N_ACTIONS = 2 };
static const Action hopper_actions[HOPPER_N_ACTIONS] = {
    {"u1", "N", "thrust along the leg", 0.0, 0.0, "u1_min", "u1_max"},
    {"u2", "N m", "hip torque, on the body", 0.0, 0.0, "u2_min", "u2_max"},
};

// to[columns]: the action of each column of a file, whose names differ.
static Error hopper_action_columns(const Points *file, int *to)
{
    for (int64_t c = 0; c < file->columns; c++) {
        to[c] = strcmp(file->names[c], "u1") == 0 ? 0 : strcmp(file->names[c], "u2") == 0 ? 1 : -1;
        if (to[c] < 0)
            return error_make(ERROR_USER, "control.file has a column '%.100s', expected u1 and u2", file->names[c]);
    }
    return error_none();
}

// table[rows][u1, u2]; what the file has no column of is 0.
static Error hopper_actions_of_file(const Points *file, Arena *arena, const double **table, int64_t *rows)
{
    *rows = file->count / file->columns;
    double *filled = ARENA_NEW(arena, double, HOPPER_N_ACTIONS **rows);
    int *to = ARENA_NEW(arena, int, file->columns);
    TRY(hopper_action_columns(file, to));
    for (int64_t i = 0; i < file->count; i++)
        filled[HOPPER_N_ACTIONS * (i / file->columns) + to[i % file->columns]] = file->numbers[i];
    *table = filled;
    return error_none();
}

// The table of actions, behind the assets so far. Without one: a row of zeros.
static Error hopper_take_table_of_actions(const Points *listed, const Points *file, Arena *arena,
                                          HopperConstants *constants, Configured *out)
{
    static const double none[HOPPER_N_ACTIONS] = {0.0, 0.0};
    const double *table = listed->count > 0 ? listed->numbers : none;
    int64_t rows = listed->count > 0 ? listed->count / HOPPER_N_ACTIONS : 1;
    if (listed->count % HOPPER_N_ACTIONS != 0)
        return error_make(ERROR_USER, "control.actions has %lld numbers, expected rows of u1 and u2",
                          (long long)listed->count);
    if (file->count > 0) TRY(hopper_actions_of_file(file, arena, &table, &rows));
    double *assets = ARENA_NEW(arena, double, out->n_assets + HOPPER_N_ACTIONS * rows);
    if (out->n_assets > 0) memcpy(assets, out->assets, (size_t)out->n_assets * sizeof *assets);
    memcpy(assets + out->n_assets, table, (size_t)(HOPPER_N_ACTIONS * rows) * sizeof *assets);
    constants->actions = (int32_t)out->n_assets;
    constants->n_actions = (int32_t)rows;
    out->assets = assets;
    out->n_assets += HOPPER_N_ACTIONS * rows;
    return error_none();
}

// The kernel of an environment: without other variants that of the plain hopper.
static int hopper_environment_kernel(const double *settings, int32_t variants)
{
    const int integrator = (int)settings[HOPPER_INTEGRATOR];
    return variants == HOPPER_WITH_EXTERNAL ? hopper_kernels[integrator].plain : hopper_kernels[integrator].full;
}

// What a law may give, of the spec's own and of a policy.
static const LawOutput hopper_outputs[HOPPER_N_ACTIONS] = {{"u1", "N", true, NULL}, {"u2", "N m", true, NULL}};
static const LawOutput hopper_asked_outputs[HOPPER_N_ACTIONS] = {{"u1", "N", true, &hopper_actions[0]},
                                                                 {"u2", "N m", true, &hopper_actions[1]}};

// What gives the actions: a table, or a law, of the spec's own or of a policy.
static Error hopper_take_source(const double *settings, const Points *listed, const Points *file, Arena *arena,
                                HopperConstants *constants, Configured *out)
{
    const bool policy = (int)settings[HOPPER_CONTROL] == HOPPER_CONTROL_policy,
               law = (constants->variants & HOPPER_WITH_LAW) != 0;
    if (listed->count > 0 && file->count > 0)
        return error_make(ERROR_USER, "the actions are in control.actions already: give one of the two");
    if (policy && listed->count > 0) return error_make(ERROR_USER, "control.actions needs control: {mode: external}");
    out->wrong_option = 1 + HOPPER_CONTROL;
    if ((int)settings[HOPPER_INTEGRATOR] == HOPPER_INTEGRATOR_dormand_prince)
        return error_make(ERROR_USER, "%s needs fixed steps: choose another integrator than dormand_prince",
                          (constants->variants & HOPPER_WITH_ADDED) != 0 ? "control.law"
                          : policy                                       ? "control: {mode: policy}"
                          : law                                          ? "control: {mode: law}"
                                                                         : "control: {mode: external}");
    if (law) return error_none();
    out->wrong_option = 1 + (listed->count > 0 ? HOPPER_ACTIONS : HOPPER_ACTIONS_FILE);
    return hopper_take_table_of_actions(listed, file, arena, constants, out);
}

// The settings of a law.
static Error hopper_take_law(const double *settings, const Points *points, int32_t variants, Configured *out)
{
    const bool given = points != NULL && points[HOPPER_LAW].count > 0,
               law = (int)settings[HOPPER_CONTROL] == HOPPER_CONTROL_law || (variants & HOPPER_WITH_ADDED) != 0;
    out->wrong_option = 1 + (given ? HOPPER_LAW : HOPPER_CONTROL);
    if (given && !law)
        return error_make(ERROR_USER, "control.law needs control: {mode: law}, or {mode: raibert}, to which it adds");
    if (law && !given)
        return error_make(ERROR_USER, "control: {mode: law} needs control.law, such as {effort: {u1: 0, u2: 0}}");
    out->wrong_option = 1 + HOPPER_ACTION_PERIOD;
    if (settings[HOPPER_ACTION_PERIOD] > 0.0 && !law)
        return error_make(ERROR_USER, "control.action_period needs control.law");
    out->wrong_option = 0;
    return error_none();
}

static Error hopper_take_actions(const double *settings, const Points *points, Arena *arena, HopperConstants *constants,
                                 Configured *out)
{
    const Points none = {.count = 0}, *listed = points != NULL ? &points[HOPPER_ACTIONS] : &none;
    const Points *file = points != NULL ? &points[HOPPER_ACTIONS_FILE] : &none;
    int64_t held;
    const bool whole = hopper_whole_steps(settings[HOPPER_PERIOD], settings[HOPPER_DT], &held);
    const bool acts = (constants->variants & HOPPER_WITH_EXTERNAL) != 0;
    out->wrong_option = 1 + (file->count > 0 ? HOPPER_ACTIONS_FILE : HOPPER_ACTIONS);
    if (!acts && (listed->count > 0 || file->count > 0))
        return error_make(ERROR_USER, "control.%s needs control: {mode: external}",
                          file->count > 0 ? "file" : "actions");
    if (acts) TRY(hopper_take_source(settings, listed, file, arena, constants, out));
    out->wrong_option = acts ? 1 + HOPPER_PERIOD : 0;
    if (acts && (!whole || held < 1 || held > 1000000000))
        return error_make(ERROR_USER, "control.period (%g s) must be a whole number of steps dt (%g s)",
                          settings[HOPPER_PERIOD], settings[HOPPER_DT]);
    TRY(hopper_take_law(settings, points, constants->variants, out));
    if (!acts) return error_none();
    constants->held = (int32_t)held;
    out->action_ticks = held;
    out->policy = (int)settings[HOPPER_CONTROL] == HOPPER_CONTROL_policy;
    if (!out->policy) out->environment_kernel = hopper_environment_kernel(settings, constants->variants);
    if ((constants->variants & HOPPER_WITH_LAW) != 0) {
        out->outputs = out->policy ? hopper_asked_outputs : hopper_outputs;
        out->law_adds = (constants->variants & HOPPER_WITH_ADDED) != 0;
        out->n_outputs = HOPPER_N_ACTIONS;
        return error_none();
    }
    out->actions = hopper_actions;
    out->n_actions = HOPPER_N_ACTIONS;
    return error_none();
}

extern const Model hopper_model;

static int hopper_work(int32_t variants, bool adaptive)
{
    if ((variants & HOPPER_WITH_LAW) != 0) return HOPPER_N_ALL_WORK;
    if ((variants & HOPPER_WITH_TERMS) != 0) return HOPPER_N_TERMS_WORK;
    return adaptive ? HOPPER_N_ADAPTIVE_WORK : HOPPER_N_WORK;
}

static Error hopper_shorten(double duration, Configured *configured)
{
    HopperConstants constants;
    memcpy(&constants, &configured->constants, sizeof constants);
    if (!hopper_whole_steps(duration, constants.dt, &constants.ticks) || constants.ticks < 1)
        return error_make(ERROR_USER, "a whole number of steps dt (%g s)", constants.dt);
    if (constants.ticks <= constants.settle)
        return error_make(ERROR_USER, "after settle (%g s)", (double)constants.settle * constants.dt);
    memcpy(&configured->constants, &constants, sizeof constants);
    configured->ticks = constants.ticks;
    return error_none();
}

static Error hopper_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    const double duration = settings[HOPPER_DURATION], dt = settings[HOPPER_DT], settle = settings[HOPPER_SETTLE];
    const int32_t variants = hopper_variants_of(settings, points);
    const bool terms = (variants & HOPPER_WITH_TERMS) != 0;
    int kernel;
    TRY(hopper_choose_kernel(settings, variants, &kernel));
    const bool adaptive = (int)settings[HOPPER_INTEGRATOR] == HOPPER_INTEGRATOR_dormand_prince;
    HopperConstants constants = {.dt = dt,
                                 .tolerance = settings[adaptive ? HOPPER_TOLERANCE : HOPPER_NEWTON_TOLERANCE],
                                 .steps_max = adaptive ? (int64_t)settings[HOPPER_STEPS] : 0,
                                 .iterations = (int32_t)settings[HOPPER_ITERATIONS],
                                 .variants = variants,
                                 .terrain = (int32_t)settings[HOPPER_TERRAIN]};
    if (!hopper_whole_steps(duration, dt, &constants.ticks) || constants.ticks < 1)
        return error_make(ERROR_USER, "duration (%g s) must be a whole number of steps dt (%g s)", duration, dt);
    if (settle >= duration)
        return error_make(ERROR_USER, "settle (%g s) must be shorter than duration (%g s)", settle, duration);
    constants.settle = (int64_t)ceil(settle / dt - 1e-6);

    *out = (Configured){.model = &hopper_model,
                        .metrics = hopper_metrics,
                        .n_metrics = terms ? HOPPER_N_ALL_METRICS : HOPPER_N_METRICS,
                        .columns = hopper_columns,
                        .n_columns = HOPPER_COLUMNS,
                        .failures = hopper_failures,
                        .n_failures = (int)(sizeof hopper_failures / sizeof hopper_failures[0]),
                        .objective = "velocity_error + 0.1*cost_of_transport + attitude_rms",
                        .kernel = kernel,
                        .n_work = hopper_work(variants, adaptive),
                        .ticks = constants.ticks,
                        .steps_max = constants.steps_max,
                        .tick_duration = dt,
                        .drawing = (variants & HOPPER_WITH_FOUR_STATES) != 0 ? &hopper_drawing_four : &hopper_drawing};
    hopper_compose(variants, constants.row, arena, out);
    TRY(hopper_take_table(points, &constants, out));
    TRY(hopper_take_actions(settings, points, arena, &constants, out));
    if (hopper_kernels[(int)settings[HOPPER_INTEGRATOR]].iterates) { // with newton.jacobian, too
        out->debug = hopper_debug;
        out->n_debug = HOPPER_DEBUG_COLUMNS;
        out->debug_rows = constants.iterations;
    }
    memcpy(&out->constants, &constants, sizeof constants);
    return error_none();
}

static void hopper_move_seeds(Configured *configured, int by)
{
    HopperConstants constants;
    memcpy(&constants, &configured->constants, sizeof constants);
    if (constants.row[HOPPER_VARIANT_lane_seed] >= 0)
        constants.row[HOPPER_VARIANT_lane_seed] = (int16_t)(constants.row[HOPPER_VARIANT_lane_seed] + by);
    memcpy(&configured->constants, &constants, sizeof constants);
}

const Model hopper_model = {
    .name = "hopper",
    .doc = "Raibert's planar one-legged hopper: spring leg, hip torque, three-part control",
    .source = "M. H. Raibert, IEEE Trans. SMC 14(3), 1984",
    .options = hopper_options,
    .n_options = (int)(sizeof hopper_options / sizeof hopper_options[0]),
    .numerics = "dt|integrator|newton.jacobian|newton.iterations|newton.tolerance|tolerance|steps",
    .later = "control.mode|control.period|control.actions|control.file|control.law|control.action_period",
    .extra = hopper_variant_parameters,
    .n_extra = HOPPER_N_VARIANT_PARAMETERS - 1, // all but lane_seed
    .configure = hopper_configure,
    .shorten = hopper_shorten,
    .move_seeds = hopper_move_seeds,
    .adjoint = &hopper_adjoint,
};
