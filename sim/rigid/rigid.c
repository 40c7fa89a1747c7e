// Constrained rigid bodies in maximal coordinates: what the model says of itself. The world is declared in the spec
// (world.c); a step is in step.h and rattle.h, its solver in solve.h.
// Sources: J. Baumgarte, CMAME 1, 1972; D. Baraff, SIGGRAPH 1996; H. C. Andersen, J. Comp. Phys. 52, 1983.
#include "rigid.h"

#include "../models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    RIGID_OPTION_CONTROL, // the first of RIGID_N_CONTROLS
    RIGID_N_OPTIONS = RIGID_OPTION_CONTROL + RIGID_N_CONTROLS
};

static const Option rigid_options[RIGID_N_OPTIONS] = {
    {"duration", OPTION_NUMBER, "s", 1.0, 1e-6, 1e6, NULL, "simulated time; a whole number of steps dt"},
    {"dt", OPTION_NUMBER, "s", 1e-2, 1e-7, 1.0, NULL, "time step"},
    {"stabilisation", OPTION_CHOICE, "", RIGID_RATTLE, 0, 6,
     "baumgarte|original|original_with_bias|velocity|soft|rattle|searched",
     "how a constraint's error is corrected: J a = -s J'v - c Jv - k C. s, c, k are for baumgarte 1, 2 alpha, beta^2; "
     "original 0, 1 + beta, alpha (an error stays); original_with_bias 1, 1 + beta, alpha; velocity 0, 1/dt, "
     "gamma/dt^2. soft: a damped spring; rattle: no error arises, energy is kept; a start with errors is moved onto "
     "the constraints (metric projection), at most by half a lever; searched: parameter form chooses"},
    {"rotation", OPTION_CHOICE, "", 0, 0, 1, "exponential|cayley",
     "how orientations follow w. exponential: exact for constant w; cayley: Euler's step, normalised; cheaper, turns "
     "too little by (w dt)^2/12"},
    {"gain_units", OPTION_CHOICE, "", 0, 0, 1, "absolute|per_dt",
     "per_dt: alpha and beta are in units of 1/dt (baumgarte); original: c = beta/dt, k = alpha/dt^2"},
    {"order", OPTION_CHOICE, "", 0, 0, 2, "two|four|six",
     "rattle: the error falls with this power of dt. four: a step is five of order two (Suzuki 1990); six: eleven "
     "(Sofroniou & Spaletta 2005), the fastest if errors must be small"},
    {"iterations", OPTION_INTEGER, "1", 30, 1, 1000, NULL, "rattle: most iterations to meet the constraints"},
    {"solver", OPTION_CHOICE, "", 0, 0, 2, "auto|skyline|trees",
     "how joined bodies are solved. skyline: by the matrix of the constraints' rows, stored from each row's first "
     "entry on; trees: body by body from the leaves, loops by their Schur complement; auto: the one with less work"},
    {"refine", OPTION_INTEGER, "1", 1, 0, 4, NULL, "passes of iterative refinement after a solve"},
    {"redundant", OPTION_CHOICE, "", 0, 0, 3, "share|drop|error|regularise",
     "constraint rows that follow from others. share: all share the load by the least multipliers, if the rows follow "
     "from the start; at a singular pose later, as drop. drop: their multiplier is 0; with rattle a trial "
     "fails (solver) if less than the root of pivot is left of a kept row that closes a loop; error: the trial fails; "
     "regularise: all rows give, by cfm"},
    {"cfm", OPTION_NUMBER, "1", 1e-9, 1e-15, 1.0, NULL,
     "redundant: regularise adds it to the constraints' matrix, as a fraction of its diagonal"},
    {"pivot", OPTION_NUMBER, "1", 1e-10, 1e-14, 0.5, NULL,
     "a row follows from those before it if less than this fraction of it is left when they are met. Take a greater "
     "value if a mechanism passes a singular pose"},
    {"air", OPTION_CHOICE, "", 0, 0, 1, "constant|isa",
     "density of the air: constant, or the standard atmosphere over z"},
    {"density", OPTION_NUMBER, "kg/m^3", 1.225, 0.0, 1e4, NULL, "density of constant air"},
    {"copies", OPTION_INTEGER, "1", 1, 1, RIGID_BODIES_MAX, NULL,
     "a number that `repeat` may name in the lists of the world, so that it stands in one place"},
    {"executor", OPTION_MANNER, "", 2, 0, 2, "sequential|levels|auto",
     "on the CPU, how threads step worlds. sequential: one thread per world; levels: all threads share each world; "
     "auto: levels if there are fewer worlds than threads and it saves time. No result changes"},
    {"control.mode", OPTION_CHOICE, "", 0, 0, 3, "none|law|policy|external",
     "what gives the inputs of world.forces. law: control.law, of your own; policy: a network, for what "
     "environment.observe says, from the least to the greatest number of each input's range; external: the table of "
     "control.actions or control.file"},
    {"control.period", OPTION_NUMBER, "s", 1e-2, 1e-7, 1e3, NULL,
     "how long each input is held; a whole number of steps dt"},
    {"control.actions", OPTION_NUMBERS, "", 0, -1e12, 1e12, NULL,
     "control external: a number for each input, in N or N m, in the order of world.forces, row after row; the last "
     "row holds to the end. Control law: the law's inputs with a range"},
    {"control.file", OPTION_FILE, "", 0, -1e12, 1e12, "table",
     "control external: the table as a CSV file with a column for each input; control law: with those of the law's "
     "inputs; control policy: the weights of the network, with the columns layer, output, input (0: the constant) and "
     "weight"},
    {"control.law", OPTION_LAW, "", 0, 0, 0, NULL,
     "control law: efforts of inputs, as expressions of the columns of trajectories, once a control period; an input "
     "that it does not name is 0"},
    {"control.action_period", OPTION_NUMBER, "s", 0, 1e-7, 1e3, "period",
     "control law: how long an action of the law's inputs is held; a whole number of control periods"},
};

#define RIGID_ROW(name, unit, doc, group) {#name, unit, doc, group},
static const Field rigid_debug[] = {RIGID_DEBUG(RIGID_ROW)};
#undef RIGID_ROW

static const char *const rigid_failures[] = {"none", "diverged", "solver", "open", "energy", "constraint"};

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
    "stabilisation of each trial, with stabilisation: searched. 0: baumgarte, 1: original, 2: original_with_bias, 3: "
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

// Of the forces, by kind.
static const struct {
    const char *suffix, *unit, *doc;
    double low;
    size_t value; // in RigidForce
} rigid_force_inputs[][RIGID_FORCE_INPUTS] = {
    [RIGID_DRAG] = {{"linear", "N s/m", "force over speed", 0.0, offsetof(RigidForce, linear)},
                    {"area", "m^2", "drag coefficient times area", 0.0, offsetof(RigidForce, quadratic)}},
    [RIGID_SPRING] = {{"stiffness", "N/m", "stiffness", 0.0, offsetof(RigidForce, stiffness)},
                      {"damping", "N s/m", "damping", 0.0, offsetof(RigidForce, damping)},
                      {"length", "m", "rest length", 0.0, offsetof(RigidForce, length)}},
    [RIGID_TETHER] = {{"stiffness", "N/m", "stiffness", 0.0, offsetof(RigidForce, stiffness)},
                      {"damping", "N s/m", "damping", 0.0, offsetof(RigidForce, damping)},
                      {"length", "m", "rest length", 0.0, offsetof(RigidForce, length)}},
    [RIGID_PUSH] = {{"force_x", "N", "force", -1e12, offsetof(RigidForce, force)},
                    {"force_y", "N", "force", -1e12, offsetof(RigidForce, force) + sizeof(double)},
                    {"force_z", "N", "force, upwards", -1e12, offsetof(RigidForce, force) + 2 * sizeof(double)}},
    [RIGID_PARACHUTE] = {{"packed", "m^2", "drag coefficient times area, packed", 0.0, offsetof(RigidForce, packed)},
                         {"area", "m^2", "drag coefficient times area, open", 0.0, offsetof(RigidForce, open)},
                         {"rate", "1/s", "it opens as tanh(rate t)", 1e-9, offsetof(RigidForce, rate)}},
    [RIGID_INPUT] = {{NULL, NULL, NULL, 0.0, 0}}, // its size is no parameter
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

static void rigid_name_inputs(const char *name, const RigidBody *body, Arena *arena, Parameter *to)
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

// ---- which bodies have rows in the tables ---------------------------------------------------------------------------

// Names in their order, to look one up.
typedef struct RigidName {
    const char *name;
    int index;
} RigidName;

static int rigid_compare_names(const void *a, const void *b)
{
    return strcmp(((const RigidName *)a)->name, ((const RigidName *)b)->name);
}

static RigidName *rigid_sort_names(const char *const *names, int count, Arena *arena)
{
    RigidName *sorted = ARENA_NEW(arena, RigidName, count + 1);
    for (int i = 0; i < count; i++) sorted[i] = (RigidName){names[i], i};
    qsort(sorted, (size_t)count, sizeof *sorted, rigid_compare_names);
    return sorted;
}

// Marks the name that the word starts with, if `_suffix` is the rest of it.
static void rigid_mark(const RigidName *sorted, int count, const char *word, const char *suffix, bool *marked)
{
    enum { LONGEST = 64 }; // more than a name may have
    char text[LONGEST];
    const size_t length = strlen(word), end = strlen(suffix) + 1;
    if (length <= end || length - end >= LONGEST || word[length - end] != '_') return;
    if (strcmp(word + length - end + 1, suffix) != 0) return;
    memcpy(text, word, length - end);
    text[length - end] = '\0';
    const RigidName key = {.name = text};
    const RigidName *found = bsearch(&key, sorted, (size_t)count, sizeof key, rigid_compare_names);
    if (found != NULL) marked[found->index] = true;
}

static const char *const rigid_ends[] = {"end_x", "end_y", "end_z"};

// Marks the first ones and those that words name by one of the suffixes. Returns their number.
static int rigid_mark_all(const char *const *names, int count, const Choice *choice, bool rods, bool *marked,
                          Arena *arena)
{
    const RigidName *sorted = rigid_sort_names(names, count, arena);
    int n = 0;
    for (int i = 0; i < count && i < RIGID_SHOWN; i++) marked[i] = true;
    for (int64_t w = 0; w < choice->n_words && count > RIGID_SHOWN; w++) {
        const char *word = choice->words[w];
        if (rods) rigid_mark(sorted, count, word, "length", marked);
        for (int k = 0; !rods && k < RIGID_INPUTS; k++) rigid_mark(sorted, count, word, rigid_inputs[k].suffix, marked);
        for (int k = 0; !rods && k < 3; k++) rigid_mark(sorted, count, word, rigid_ends[k], marked);
    }
    for (int i = 0; i < count; i++) n += marked[i];
    return n;
}

// ---- tables ---------------------------------------------------------------------------------------------------------

// Numbers of forces that words name: marked[n_forces][RIGID_FORCE_INPUTS]. Returns their number.
static int rigid_mark_forces(const RigidHost *host, const RigidForce *forces, int n_forces, const Choice *choice,
                             bool *marked, Arena *arena)
{
    const RigidName *sorted = rigid_sort_names(host->forces, n_forces, arena);
    bool *found = ARENA_NEW(arena, bool, n_forces + 1);
    int n = 0;
    for (int kind = 0; kind <= RIGID_PARACHUTE; kind++) {
        for (int k = 0; k < RIGID_FORCE_INPUTS; k++) {
            const char *suffix = rigid_force_inputs[kind][k].suffix;
            memset(found, 0, (size_t)n_forces * sizeof *found);
            for (int64_t w = 0; suffix != NULL && w < choice->n_words; w++)
                rigid_mark(sorted, n_forces, choice->words[w], suffix, found);
            for (int f = 0; f < n_forces; f++) {
                if (!found[f] || forces[f].kind != kind) continue;
                marked[f * RIGID_FORCE_INPUTS + k] = true;
                n++;
            }
        }
    }
    return n;
}

// Of what is chosen.
typedef struct RigidChosen {
    const bool *named, *recorded, *rods; // of moving bodies, of distances; in their order
    const bool *forces;                  // [n_forces][RIGID_FORCE_INPUTS]
    int n_named, n_recorded, n_lengths, n_force_inputs;
} RigidChosen;

static const Field rigid_work_metric = {"input_work", "J", "work of the inputs until the end", NULL};

static void rigid_fill_metrics(const RigidHost *host, const RigidConstants *c, const RigidChosen *chosen, Arena *arena,
                               Configured *out)
{
    Field *metrics = ARENA_NEW(arena, Field, RIGID_N_METRICS + 3 * chosen->n_named + 1);
    int n = RIGID_N_METRICS;
    memcpy(metrics, rigid_metrics, sizeof rigid_metrics);
    for (int i = 0; i < out->n_things; i++) {
        for (int k = 0; chosen->named[i] && k < 3; k++)
            metrics[n++] = (Field){arena_format(arena, "%s_%s", host->moving[i], rigid_ends[k]), "m",
                                   arena_format(arena, "position of %s at the end", host->moving[i]), NULL};
    }
    if (c->n_inputs > 0) {
        metrics[RIGID_METRIC_energy_error].doc =
            "greatest |E - E(0) - W|; E: kinetic and gravity, W: work of the inputs";
        metrics[n++] = rigid_work_metric;
    }
    out->metrics = metrics;
    out->n_metrics = n;
}

// What of a body is drawn together: stretches of its state.
static const struct {
    const char *title, *unit;
    int first, count;
    const char *lines[4];
} rigid_panels[] = {{"position", "m", 0, 3, {"x", "y", "z"}},
                    {"orientation", "1", 3, 4, {"x", "y", "z", "w"}},
                    {"velocity", "m/s", 7, 3, {"x", "y", "z"}},
                    {"angular velocity", "rad/s", 10, 3, {"x", "y", "z"}}};
enum { RIGID_PANELS = sizeof rigid_panels / sizeof rigid_panels[0] };

static void rigid_fill_columns(const RigidHost *host, const RigidConstants *c, const RigidChosen *chosen,
                               const double *assets, Arena *arena, Configured *out)
{
    Field *columns = ARENA_NEW(arena, Field, 1 + RIGID_STATE * chosen->n_recorded + c->n_inputs);
    ColumnPanel *panels = ARENA_NEW(arena, ColumnPanel, RIGID_PANELS * chosen->n_recorded + c->n_inputs);
    int n = 1, n_panels = 0;
    columns[0] = (Field){"time", "s", "simulated time", "time"};
    for (int i = 0; i < out->n_things; i++) {
        const char *name = host->moving[i];
        if (!chosen->recorded[i]) continue;
        for (int k = 0; k < RIGID_PANELS; k++)
            panels[n_panels++] = (ColumnPanel){.of = name,
                                               .title = rigid_panels[k].title,
                                               .unit = rigid_panels[k].unit,
                                               .column = n + rigid_panels[k].first,
                                               .count = rigid_panels[k].count,
                                               .lines = rigid_panels[k].lines};
        for (int k = 0; k < RIGID_STATE; k++)
            columns[n++] = (Field){arena_format(arena, "%s_%s", name, rigid_states[k].suffix), rigid_states[k].unit,
                                   arena_format(arena, "%s of %s", rigid_states[k].doc, name), "state"};
    }
    rigid_input_columns(host, c, assets, arena, columns, n, panels + n_panels);
    n += c->n_inputs;
    n_panels += c->n_inputs;
    out->columns = columns;
    out->n_columns = n;
    out->panels = panels;
    out->n_panels = n_panels;
}

static void rigid_fill_lengths(const RigidHost *host, const RigidConstants *c, const RigidChosen *chosen,
                               double *assets, Arena *arena, Parameter *parameters, int *count)
{
    RigidRow *rows = (RigidRow *)(assets + c->rows);
    int rod = 0;
    for (int r = 0; r < c->n_rows; r++) {
        if (rows[r].kind != RIGID_DISTANCE) continue;
        const char *name = host->constraints[rows[r].constraint];
        const bool named = chosen->rods[rod++];
        rows[r].input = named ? *count : -1;
        if (!named) continue;
        parameters[(*count)++] = (Parameter){.name = arena_format(arena, "%s_length", name),
                                             .unit = "m",
                                             .value = rows[r].target,
                                             .low = 1e-9,
                                             .high = 1e9,
                                             .doc = arena_format(arena, "length of %s", name)};
    }
}

// Error (user): a rod and a force, say, have the same name, and so have two parameters.
static Error rigid_fill_forces(const RigidHost *host, const RigidConstants *c, const RigidChosen *chosen,
                               double *assets, Arena *arena, Parameter *parameters, int *count)
{
    RigidForce *forces = (RigidForce *)(assets + c->forces);
    for (int f = 0; f < c->n_forces; f++) {
        for (int k = 0; k < RIGID_FORCE_INPUTS; k++) {
            const bool named = chosen->forces[f * RIGID_FORCE_INPUTS + k];
            forces[f].input[k] = named ? *count : -1;
            if (!named) continue;
            const char *suffix = rigid_force_inputs[forces[f].kind][k].suffix;
            const Parameter input = {
                .name = arena_format(arena, "%s_%s", host->forces[f], suffix),
                .unit = rigid_force_inputs[forces[f].kind][k].unit,
                .value = *(const double *)((const char *)&forces[f] + rigid_force_inputs[forces[f].kind][k].value),
                .low = rigid_force_inputs[forces[f].kind][k].low,
                .high = 1e15,
                .doc = arena_format(arena, "%s of %s", rigid_force_inputs[forces[f].kind][k].doc, host->forces[f])};
            for (int p = 0; p < *count; p++) {
                if (strcmp(parameters[p].name, input.name) == 0)
                    return error_make(ERROR_USER, "%s is the %s, and the %s: rename the force", input.name,
                                      parameters[p].doc, input.doc);
            }
            parameters[(*count)++] = input;
        }
    }
    return error_none();
}

// The parameters, and the numbers of those of bodies in the assets.
static Error rigid_fill_parameters(const RigidHost *host, const RigidConstants *c, const RigidChosen *chosen,
                                   double *assets, Arena *arena, Configured *out)
{
    RigidBody *bodies = (RigidBody *)assets;
    Parameter *parameters =
        ARENA_NEW(arena, Parameter,
                  RIGID_N_PARAMETERS + 1 + RIGID_INPUTS * chosen->n_named + chosen->n_lengths + chosen->n_force_inputs);
    int n = RIGID_N_PARAMETERS, thing = 0;
    memcpy(parameters, rigid_parameters, sizeof rigid_parameters);
    if (c->form == RIGID_SEARCHED) parameters[n++] = rigid_form;
    for (int b = 0; b < c->n_bodies; b++) {
        if (bodies[b].fixed != 0) continue;
        const bool named = chosen->named[thing++];
        bodies[b].input = named ? n : -1;
        if (!named) continue;
        rigid_name_inputs(host->bodies[b], &bodies[b], arena, parameters + n);
        n += RIGID_INPUTS;
    }
    rigid_fill_lengths(host, c, chosen, assets, arena, parameters, &n);
    TRY(rigid_fill_forces(host, c, chosen, assets, arena, parameters, &n));
    out->parameters = parameters;
    out->n_parameters = n;
    return error_none();
}

// The lists of what is chosen in the assets: bodies by number.
static void rigid_fill_lists(const RigidChosen *chosen, RigidConstants *c, double *assets)
{
    const RigidBody *bodies = (const RigidBody *)assets;
    int32_t *recorded = (int32_t *)(assets + c->recorded), *named = (int32_t *)(assets + c->named);
    int thing = 0;
    c->n_recorded = c->n_named = 0;
    for (int b = 0; b < c->n_bodies; b++) {
        if (bodies[b].fixed != 0) continue;
        if (chosen->recorded[thing]) recorded[c->n_recorded++] = b;
        if (chosen->named[thing++]) named[c->n_named++] = b;
    }
}

static const char **rigid_rod_names(const RigidHost *host, const RigidConstants *c, const double *assets, Arena *arena)
{
    const RigidRow *rows = (const RigidRow *)(assets + c->rows);
    const char **names = ARENA_NEW(arena, const char *, host->n_rods + 1);
    int n = 0;
    for (int r = 0; r < c->n_rows; r++) {
        if (rows[r].kind == RIGID_DISTANCE) names[n++] = host->constraints[rows[r].constraint];
    }
    return names;
}

Error rigid_choose(Configured *configured, const Choice *choice, Arena *arena)
{
    RigidConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    RigidHost *host = ARENA_NEW(arena, RigidHost, 1);
    memcpy(host, configured->host, sizeof *host);
    double *assets = ARENA_NEW(arena, double, configured->n_assets);
    memcpy(assets, configured->assets, (size_t)configured->n_assets * sizeof *assets);
    bool *named = ARENA_NEW(arena, bool, c.n_moving), *rods = ARENA_NEW(arena, bool, host->n_rods + 1);
    bool *shown = ARENA_NEW(arena, bool, c.n_moving);
    for (int i = 0; i < c.n_moving && i < RIGID_SHOWN; i++) shown[i] = true;
    RigidChosen chosen = {
        .named = named, .rods = rods, .recorded = choice->recorded != NULL ? choice->recorded : shown};
    chosen.n_named = rigid_mark_all(host->moving, c.n_moving, choice, false, named, arena);
    chosen.n_lengths =
        rigid_mark_all(rigid_rod_names(host, &c, assets, arena), host->n_rods, choice, true, rods, arena);
    bool *forces = ARENA_NEW(arena, bool, RIGID_FORCE_INPUTS *c.n_forces + 1);
    chosen.forces = forces;
    chosen.n_force_inputs =
        rigid_mark_forces(host, (const RigidForce *)(assets + c.forces), c.n_forces, choice, forces, arena);
    for (int i = 0; i < c.n_moving; i++) chosen.n_recorded += chosen.recorded[i];
    if (chosen.n_named > RIGID_SHOWN_MAX || chosen.n_lengths > RIGID_SHOWN_MAX)
        return error_make(ERROR_USER,
                          "the spec names inputs or end positions of %d bodies and %d lengths of rods, and at most %d "
                          "can have them, the first %d of the world among them",
                          chosen.n_named, chosen.n_lengths, RIGID_SHOWN_MAX, RIGID_SHOWN);
    if (chosen.n_force_inputs > RIGID_SHOWN_MAX)
        return error_make(ERROR_USER, "the spec names %d numbers of forces, and at most %d can be parameters",
                          chosen.n_force_inputs, RIGID_SHOWN_MAX);
    rigid_fill_lists(&chosen, &c, assets);
    TRY(rigid_fill_parameters(host, &c, &chosen, assets, arena, configured));
    rigid_world_damp(&c, assets);
    rigid_fill_metrics(host, &c, &chosen, arena, configured);
    rigid_fill_columns(host, &c, &chosen, assets, arena, configured);
    host->n_lengths = chosen.n_lengths;
    configured->host = host;
    configured->assets = assets;
    memcpy(&configured->constants, &c, sizeof c);
    return error_none();
}

// Names of the numbers of forces.
static void rigid_know_forces(const RigidWorldSpec *spec, const RigidConstants *c, const double *assets, Arena *arena,
                              Configured *out)
{
    const RigidForce *forces = (const RigidForce *)(assets + c->forces);
    const char **names = ARENA_NEW(arena, const char *, RIGID_FORCE_INPUTS * c->n_forces + 1);
    for (int f = 0; f < c->n_forces; f++) {
        for (int k = 0; k < RIGID_FORCE_INPUTS; k++) {
            const char *suffix = rigid_force_inputs[forces[f].kind][k].suffix;
            if (suffix != NULL) names[out->n_nameable++] = arena_format(arena, "%s_%s", spec->forces.names[f], suffix);
        }
    }
    out->nameable = names;
}

void rigid_know(const RigidWorldSpec *spec, const RigidConstants *c, const double *assets, Arena *arena,
                Configured *out)
{
    const RigidBody *bodies = (const RigidBody *)assets;
    const RigidRow *rows = (const RigidRow *)(assets + c->rows);
    RigidHost *host = ARENA_NEW(arena, RigidHost, 1);
    const char **moving = ARENA_NEW(arena, const char *, c->n_moving);
    for (int b = 0; b < c->n_bodies; b++) {
        if (bodies[b].fixed == 0) moving[out->n_things++] = spec->bodies.names[b];
    }
    *host = (RigidHost){.bodies = spec->bodies.names,
                        .constraints = spec->constraints.names,
                        .forces = spec->forces.names,
                        .moving = moving,
                        .figure = rigid_figure(c, assets, moving, arena, &out->drawing)};
    for (int r = 0; r < c->n_rows; r++) host->n_rods += rows[r].kind == RIGID_DISTANCE;
    rigid_know_forces(spec, c, assets, arena, out);
    out->things = moving;
    out->things_are = "moving bodies";
    out->host = host;
}

// ---- configuration --------------------------------------------------------------------------------------------------

extern const Model rigid_model;

static Error rigid_shorten(double duration, Configured *configured)
{
    RigidConstants constants;
    memcpy(&constants, &configured->constants, sizeof constants);
    constants.ticks = (int64_t)floor(duration / constants.dt + 0.5);
    if (constants.ticks < 1 || fabs(duration / constants.dt - (double)constants.ticks) > 1e-6)
        return error_make(ERROR_USER, "a whole number of steps dt (%g s)", constants.dt);
    memcpy(&configured->constants, &constants, sizeof constants);
    configured->ticks = constants.ticks;
    return error_none();
}

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
    constants.share = constants.redundant == RIGID_SHARE;
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
    TRY(rigid_control_settings(settings + RIGID_OPTION_CONTROL, points != NULL ? points + RIGID_OPTION_CONTROL : NULL,
                               RIGID_OPTION_CONTROL, arena, &constants, out));
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
    TRY(rigid_choose(out, &(Choice){.words = NULL}, arena));
    return rigid_check_inputs(out, arena);
}

// Its constants as macros made_NAME: what the compiler knows at once is not even looked at where it is not wanted.
// RATTLE takes 9 s to compile for a body on a ball joint, 13 s with five rows, more than 32 s with nine, 15 s by trees,
// 16 s for two bodies, and 30 s by order six; loops by trees take up to 27 s with any form (tests/bench/NOTES.md).
enum { RIGID_MADE_ROWS = 3 };
static bool rigid_made_macros(const Configured *configured, TextSink out)
{
    RigidConstants constants;
    char line[96];
    memcpy(&constants, &configured->constants, sizeof constants);
#define RIGID_MADE_MACRO(type, name)                                                                                   \
    snprintf(line, sizeof line, "#define made_%s %a\n", #name, (double)constants.name);                                \
    out.write(out.to, line, strlen(line));
    RIGID_CONSTANTS(RIGID_MADE_MACRO)
#undef RIGID_MADE_MACRO
    if (constants.trees != 0 && constants.n_loop_rows > 0) return false;
    return constants.form != RIGID_RATTLE || (constants.n_moving == 1 && constants.n_rows <= RIGID_MADE_ROWS &&
                                              constants.rattle_order == RIGID_ORDER_TWO && constants.trees == 0);
}

const Model rigid_model = {
    .name = "rigid",
    .doc = "constrained rigid bodies: worlds that the spec declares",
    .source = "J. Baumgarte, CMAME 1, 1972; D. Baraff, SIGGRAPH 1996; H. C. Andersen, J. Comp. Phys. 52, 1983",
    .options = rigid_options,
    .n_options = RIGID_N_OPTIONS,
    .numerics = "dt|stabilisation|rotation|order|iterations|solver|refine|redundant|cfm|pivot",
    .later = "control.mode|control.period|control.actions|control.file|control.law|control.action_period",
    .extra = &rigid_form,
    .n_extra = 1,
    .lists = rigid_lists,
    .n_lists = 3,
    .configure = rigid_configure,
    .shorten = rigid_shorten,
    .choose = rigid_choose,
    .explain = rigid_explain,
    .made_macros = rigid_made_macros,
    .debug = "debug/kkt",
    .debug_table = &rigid_debug_table,
    .adjoint = &rigid_adjoint,
};
