// Constrained rigid bodies in maximal coordinates: what the model says of itself. The world is declared in the spec
// (world.c); a step is in step.h and rattle.h, its solver in solve.h.
// Sources: J. Baumgarte, CMAME 1, 1972; D. Baraff, SIGGRAPH 1996; H. C. Andersen, J. Comp. Phys. 52, 1983.
#include "rigid.h"

#include "../models.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(RigidConstants) <= sizeof(Constants), "the constants fit a kernel's argument");

enum {
    RIGID_OPTION_DURATION,
    RIGID_OPTION_DT,
    RIGID_OPTION_FORM,
    RIGID_OPTION_MAP,
    RIGID_OPTION_UNITS,
    RIGID_OPTION_ORDER,
    RIGID_OPTION_ITERATIONS,
    RIGID_OPTION_SOLVER,
    RIGID_OPTION_REFINE,
    RIGID_OPTION_REDUNDANT,
    RIGID_OPTION_CFM,
    RIGID_OPTION_PIVOT,
    RIGID_OPTION_AIR,
    RIGID_OPTION_DENSITY,
    RIGID_OPTION_COPIES,
    RIGID_OPTION_EXECUTOR,
    RIGID_N_OPTIONS
};

static const Option rigid_options[RIGID_N_OPTIONS] = {
    {"duration", OPTION_NUMBER, "s", 1.0, 1e-6, 1e6, NULL, "simulated time of one lane"},
    {"dt", OPTION_NUMBER, "s", 1e-2, 1e-7, 1.0, NULL, "time step"},
    {"stabilisation", OPTION_CHOICE, "", 0, 0, 6, "baumgarte|original|original_with_bias|velocity|soft|rattle|searched",
     "how a constraint's error is taken back, J a = -s J'v - c Jv - k C. baumgarte: 1, 2 alpha, beta^2; original: 0, "
     "1 + beta, alpha, which leaves an error; original_with_bias: 1, 1 + beta, alpha; velocity: 0, 1/dt, gamma/dt^2; "
     "soft: a damped spring; rattle: none is made, and energy is kept; searched: what parameter form says"},
    {"rotation", OPTION_CHOICE, "", 0, 0, 1, "exponential|cayley",
     "how orientations follow w. exponential: exact for constant w; cayley: Euler's step made a unit quaternion again, "
     "no transcendentals, turns less by (w dt)^2/12"},
    {"gain_units", OPTION_CHOICE, "", 0, 0, 1, "absolute|per_dt",
     "per_dt: alpha and beta count in 1/dt (baumgarte); of original c = beta/dt, k = alpha/dt^2"},
    {"order", OPTION_CHOICE, "", 0, 0, 2, "two|four|six",
     "of rattle: the power of dt with which its error falls. four: each step is five of them (Suzuki 1990); six: eleven "
     "(Sofroniou & Spaletta 2005), the least time where errors are to be small"},
    {"iterations", OPTION_INTEGER, "1", 30, 1, 1000, NULL, "of rattle: greatest number to meet the constraints"},
    {"solver", OPTION_CHOICE, "", 0, 0, 2, "auto|skyline|trees",
     "how bodies that constraints join are solved. skyline: by the matrix of their rows, from each row's first entry "
     "on; trees: body after body from the leaves, loops by their Schur complement; auto: whichever is less work"},
    {"refine", OPTION_INTEGER, "1", 1, 0, 4, NULL, "passes of iterative refinement after a solve"},
    {"redundant", OPTION_CHOICE, "", 0, 0, 2, "drop|error|regularise",
     "rows that follow from others. drop: their multiplier is 0; error: the trial fails; regularise: cfm shares the "
     "load between them"},
    {"cfm", OPTION_NUMBER, "1", 1e-9, 1e-15, 1.0, NULL,
     "of redundant: regularise: added to the constraints' matrix, as a part of its diagonal"},
    {"pivot", OPTION_NUMBER, "1", 1e-10, 1e-14, 0.5, NULL,
     "a row of which less than this part is left when those before it are met follows from them: its multiplier is 0. "
     "Greater where a mechanism passes a singular pose"},
    {"air", OPTION_CHOICE, "", 0, 0, 1, "constant|isa",
     "density of the air: constant, or the standard atmosphere over z"},
    {"density", OPTION_NUMBER, "kg/m^3", 1.225, 0.0, 1e4, NULL, "of constant air"},
    {"copies", OPTION_INTEGER, "1", 1, 1, RIGID_BODIES_MAX, NULL,
     "a number that `repeat` may name in the lists of the world, to change it in one place"},
    {"executor", OPTION_MANNER, "", 2, 0, 2, "sequential|levels|auto",
     "on the CPU, who steps a world of many islands. sequential: one thread, others step other worlds; levels: all "
     "threads share each world; auto: as levels where there are fewer worlds than threads and it saves time. No result "
     "changes"},
};

#define RIGID_ROW(name, unit, doc, group) {#name, unit, doc, group},
static const Field rigid_debug[] = {RIGID_DEBUG(RIGID_ROW)};
#undef RIGID_ROW

static const char *const rigid_failures[] = {"none", "diverged", "solver"};

#define RIGID_ROW(name, unit, value, low, high, doc) {#name, unit, value, low, high, SECTION_PARAMETERS, doc},
static const Parameter rigid_parameters[] = {RIGID_PARAMETERS(RIGID_ROW)};
#undef RIGID_ROW

static const Parameter rigid_form = {
    "form",
    "1",
    RIGID_BAUMGARTE,
    RIGID_BAUMGARTE,
    RIGID_SOFT,
    SECTION_PARAMETERS,
    "stabilisation of a trial, with stabilisation: searched. 0: baumgarte, 1: original, 2: original_with_bias, 3: "
    "velocity, 4: soft"};

#define RIGID_ROW(name, unit, doc) {#name, unit, doc, NULL},
static const Field rigid_metrics[] = {RIGID_METRICS(RIGID_ROW)};
#undef RIGID_ROW

// ---- names ----------------------------------------------------------------------------------------------------------

static const struct {
    const char *suffix, *unit, *doc;
} rigid_inputs[RIGID_INPUTS] = {
    {"mass", "kg", "mass"},
    {"x", "m", "position at the start"},
    {"y", "m", "position at the start"},
    {"z", "m", "position at the start, upwards"},
    {"vx", "m/s", "velocity at the start"},
    {"vy", "m/s", "velocity at the start"},
    {"vz", "m/s", "velocity at the start, upwards"},
    {"wx", "rad/s", "angular velocity at the start, world axes"},
    {"wy", "rad/s", "angular velocity at the start, world axes"},
    {"wz", "rad/s", "angular velocity at the start, world axes"},
};

static const struct {
    const char *suffix, *unit, *doc;
} rigid_states[RIGID_STATE] = {
    {"x", "m", "position"},
    {"y", "m", "position"},
    {"z", "m", "position, upwards"},
    {"qx", "1", "orientation, quaternion"},
    {"qy", "1", "orientation, quaternion"},
    {"qz", "1", "orientation, quaternion"},
    {"qw", "1", "orientation, quaternion"},
    {"vx", "m/s", "velocity"},
    {"vy", "m/s", "velocity"},
    {"vz", "m/s", "velocity, upwards"},
    {"wx", "rad/s", "angular velocity, world axes"},
    {"wy", "rad/s", "angular velocity, world axes"},
    {"wz", "rad/s", "angular velocity, world axes"},
};

static void rigid_name_inputs(const char *name, RigidBody *body, Arena *arena, Parameter *to)
{
    const double values[RIGID_INPUTS] = {body->mass, body->p[0], body->p[1], body->p[2], body->v[0],
                                         body->v[1], body->v[2], body->w[0], body->w[1], body->w[2]};
    for (int k = 0; k < RIGID_INPUTS; k++) {
        to[k] = (Parameter){.name = arena_format(arena, "%s_%s", name, rigid_inputs[k].suffix),
                            .unit = rigid_inputs[k].unit,
                            .value = values[k],
                            .low = k == 0 ? 1e-9 : -1e12,
                            .high = 1e12,
                            .section = k == 0 ? SECTION_PARAMETERS : SECTION_INITIAL,
                            .doc = arena_format(arena, "%s of %s", rigid_inputs[k].doc, name)};
    }
}

static void rigid_name_lengths(const RigidWorldSpec *spec, const RigidConstants *c, double *assets, Arena *arena,
                               Parameter *parameters, int *count)
{
    RigidRow *rows = (RigidRow *)(assets + c->rows);
    for (int r = 0; r < c->n_rows; r++) {
        if (rows[r].kind != RIGID_DISTANCE) continue;
        const char *name = spec->constraints.names[rows[r].constraint];
        rows[r].input = *count;
        parameters[(*count)++] = (Parameter){.name = arena_format(arena, "%s_length", name),
                                             .unit = "m",
                                             .value = rows[r].target,
                                             .low = 1e-9,
                                             .high = 1e9,
                                             .doc = arena_format(arena, "length of %s", name)};
    }
}

// Worlds of more bodies than are recorded have no inputs but the gains: thousands of columns help nobody.
void rigid_name(const RigidWorldSpec *spec, const RigidConstants *c, double *assets, Arena *arena, Configured *out)
{
    RigidBody *bodies = (RigidBody *)assets;
    const bool named = c->n_moving <= RIGID_RECORDED_MAX;
    const int inputs = RIGID_INPUTS * c->n_recorded;
    Parameter *parameters = ARENA_NEW(arena, Parameter, RIGID_N_PARAMETERS + 1 + inputs + c->n_rows);
    Field *metrics = ARENA_NEW(arena, Field, RIGID_N_METRICS + 3 * c->n_recorded);
    Field *columns = ARENA_NEW(arena, Field, 1 + RIGID_STATE * c->n_recorded);
    int n_parameters = RIGID_N_PARAMETERS;
    memcpy(parameters, rigid_parameters, sizeof rigid_parameters);
    if (c->form == RIGID_SEARCHED) parameters[n_parameters++] = rigid_form;
    memcpy(metrics, rigid_metrics, sizeof rigid_metrics);
    columns[0] = (Field){"time", "s", "simulated time", "time"};
    for (int r = 0; r < c->n_recorded; r++) {
        const int b = rigid_list(assets, c->recorded)[r];
        const char *name = spec->bodies.names[b];
        for (int k = 0; k < RIGID_STATE; k++)
            columns[1 + RIGID_STATE * r + k] =
                (Field){arena_format(arena, "%s_%s", name, rigid_states[k].suffix), rigid_states[k].unit,
                        arena_format(arena, "%s of %s", rigid_states[k].doc, name), "state"};
        for (int k = 0; k < 3; k++)
            metrics[RIGID_N_METRICS + 3 * r + k] =
                (Field){arena_format(arena, "%s_end_%c", name, "xyz"[k]), "m",
                        arena_format(arena, "position of %s at the end", name), NULL};
        if (!named) continue;
        bodies[b].input = n_parameters;
        rigid_name_inputs(name, &bodies[b], arena, parameters + n_parameters);
        n_parameters += RIGID_INPUTS;
    }
    if (named) rigid_name_lengths(spec, c, assets, arena, parameters, &n_parameters);
    out->parameters = parameters;
    out->n_parameters = n_parameters;
    out->metrics = metrics;
    out->n_metrics = RIGID_N_METRICS + 3 * c->n_recorded;
    out->columns = columns;
    out->n_columns = 1 + RIGID_STATE * c->n_recorded;
    RigidHost *host = ARENA_NEW(arena, RigidHost, 1);
    *host = (RigidHost){.bodies = spec->bodies.names,
                        .constraints = spec->constraints.names,
                        .figure = rigid_figure(c, assets, arena, &out->drawing)};
    out->host = host;
}

// ---- configuration --------------------------------------------------------------------------------------------------

extern const Model rigid_model;

static Error rigid_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    const double duration = settings[RIGID_OPTION_DURATION], dt = settings[RIGID_OPTION_DT];
    const Points none = {0}, *items = points != NULL ? points + RIGID_N_OPTIONS : NULL;
    const RigidWorldSpec spec = {.bodies = items != NULL ? items[0] : none,
                                 .constraints = items != NULL ? items[1] : none,
                                 .forces = items != NULL ? items[2] : none,
                                 .solver = (RigidSolver)settings[RIGID_OPTION_SOLVER]};
    RigidConstants constants = {.dt = dt,
                                .density = settings[RIGID_OPTION_DENSITY],
                                .ticks = (int64_t)floor(duration / dt + 0.5),
                                .form = (int32_t)settings[RIGID_OPTION_FORM],
                                .map = (int32_t)settings[RIGID_OPTION_MAP],
                                .air = (int32_t)settings[RIGID_OPTION_AIR],
                                .per_dt = (int32_t)settings[RIGID_OPTION_UNITS],
                                .iterations = (int32_t)settings[RIGID_OPTION_ITERATIONS],
                                .refine = (int32_t)settings[RIGID_OPTION_REFINE],
                                .pivot = settings[RIGID_OPTION_PIVOT],
                                .rattle_order = (int32_t)settings[RIGID_OPTION_ORDER],
                                .redundant = (int32_t)settings[RIGID_OPTION_REDUNDANT]};
    if (constants.redundant == RIGID_REGULARISE) constants.cfm = settings[RIGID_OPTION_CFM];
    *out = (Configured){0};
    if (constants.ticks < 1 || fabs(duration / dt - (double)constants.ticks) > 1e-6)
        return error_make(ERROR_USER, "duration (%g s) must be a whole number of steps dt (%g s)", duration, dt);
    *out = (Configured){.model = &rigid_model,
                        .failures = rigid_failures,
                        .n_failures = (int)(sizeof rigid_failures / sizeof rigid_failures[0]),
                        .objective = "error_rms",
                        .executor = (Executor)settings[RIGID_OPTION_EXECUTOR],
                        .ticks = constants.ticks,
                        .tick_duration = dt};
    TRY(rigid_world(&spec, arena, &constants, out));
    out->debug = rigid_debug;
    out->n_debug = constants.n_rows > 0 ? RIGID_N_DEBUG : 0;
    out->debug_rows = constants.n_rows < RIGID_DEBUG_ROWS ? constants.n_rows : RIGID_DEBUG_ROWS;
    const bool small = constants.cells <= RIGID_SMALL;
    out->kernel = small ? KERNEL_rigid_small : KERNEL_rigid_large;
    if (constants.n_moving <= RIGID_BODIES_OF_WARP) {
        out->team_threads = 32;
        out->team_lanes = RIGID_WORLDS_A_BODY * constants.n_moving;
        if (out->team_lanes > RIGID_WORLDS_AT_MOST) out->team_lanes = RIGID_WORLDS_AT_MOST;
    }
    out->n_work = small ? constants.kept : constants.cells;
    memcpy(&out->constants, &constants, sizeof constants);
    return error_none();
}

const Model rigid_model = {
    .name = "rigid",
    .doc = "constrained rigid bodies: worlds that the spec declares",
    .source = "J. Baumgarte, CMAME 1, 1972; D. Baraff, SIGGRAPH 1996; H. C. Andersen, J. Comp. Phys. 52, 1983",
    .options = rigid_options,
    .n_options = RIGID_N_OPTIONS,
    .extra = &rigid_form,
    .n_extra = 1,
    .lists = rigid_lists,
    .n_lists = 3,
    .configure = rigid_configure,
    .explain = rigid_explain,
    .debug = "debug/kkt",
    .debug_table = &rigid_debug_table,
};
