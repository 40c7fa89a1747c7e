// What gives the inputs of a world: the settings of `simulation.control`, and the tables that follow from them.
#include "rigid.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static Error control_wrong(int list, int64_t item, int option, Error error, Configured *out)
{
    out->wrong_list = list;
    out->wrong_item = item;
    out->wrong_option = option;
    return error;
}

// The number of inputs, and for each its force; in the order of the world.
static int control_inputs(const RigidConstants *c, const double *assets, Arena *arena, int **force)
{
    const RigidForce *forces = (const RigidForce *)(assets + c->forces);
    *force = ARENA_NEW(arena, int, c->n_inputs + 1);
    for (int f = 0; f < c->n_forces; f++)
        if (forces[f].kind == RIGID_INPUT) (*force)[forces[f].number] = f;
    return c->n_inputs;
}

static Field control_column(const RigidHost *host, const RigidForce *force, int number, Arena *arena)
{
    const char *name = host->forces[number];
    return (Field){name, force->turns != 0 ? "N m" : "N", arena_format(arena, "input %s, which control gives", name),
                   "control"};
}

void rigid_input_columns(const RigidHost *host, const RigidConstants *c, const double *assets, Arena *arena,
                         Field *columns, int first, ColumnPanel *panels)
{
    const RigidForce *forces = (const RigidForce *)(assets + c->forces);
    for (int f = 0; f < c->n_forces; f++) {
        if (forces[f].kind != RIGID_INPUT) continue;
        const int n = forces[f].number;
        const char **line = ARENA_NEW(arena, const char *, 1);
        const Field column = columns[first + n] = control_column(host, &forces[f], f, arena);
        line[0] = column.name;
        panels[n] = (ColumnPanel){
            .of = "inputs", .title = column.name, .unit = column.unit, .column = first + n, .count = 1, .lines = line};
    }
}

// Names of inputs are names of columns.
static Error control_check_names(const int *force, int n, const RigidHost *host, const Configured *configured,
                                 Configured *out)
{
    for (int k = 0; k < n; k++) {
        const char *name = host->forces[force[k]], *as = NULL;
        for (int c = 0; c < configured->n_columns && as == NULL; c++) {
            const bool own = strcmp(configured->columns[c].group, "control") == 0;
            if (!own && strcasecmp(configured->columns[c].name, name) == 0) as = "column";
        }
        for (int p = 0; p < configured->n_parameters && as == NULL; p++)
            if (strcasecmp(configured->parameters[p].name, name) == 0) as = "parameter";
        for (int m = 0; m < configured->n_metrics && as == NULL; m++)
            if (strcasecmp(configured->metrics[m].name, name) == 0) as = "metric";
        if (as == NULL) continue;
        return control_wrong(3, force[k], 0,
                             error_make(ERROR_USER, "the model has a %s '%s': give the input another name", as, name),
                             out);
    }
    return error_none();
}

static void control_actions(const int *force, int n, const RigidHost *host, const RigidForce *forces, Arena *arena,
                            Action *actions)
{
    for (int k = 0; k < n; k++) {
        const Field column = control_column(host, &forces[force[k]], force[k], arena);
        actions[k] =
            (Action){column.name, column.unit, column.doc, forces[force[k]].low, forces[force[k]].high, NULL, NULL};
    }
}

// What a law may give; of a policy, whose actions are parts of ranges, all must have one.
static Error control_outputs(const int *force, int n, const RigidForce *forces, const Action *actions, Arena *arena,
                             Configured *out)
{
    LawOutput *outputs = ARENA_NEW(arena, LawOutput, n);
    for (int k = 0; k < n; k++) {
        outputs[k] = (LawOutput){actions[k].name, actions[k].unit, true, out->policy ? &actions[k] : NULL};
        if (!out->policy || isfinite(forces[force[k]].low)) continue;
        return control_wrong(
            3, force[k], 0,
            error_make(ERROR_USER, "%s has no range, and a policy gives parts of one: range: [-1, 1]", actions[k].name),
            out);
    }
    out->outputs = outputs;
    out->n_outputs = n;
    return error_none();
}

// The table of control: external, behind the assets so far.
static Error control_table(const Points *listed, const Points *file, const Action *actions, int first, Arena *arena,
                           RigidConstants *c, Configured *out)
{
    const double *rows;
    int64_t n_rows;
    bool of_file;
    Error error = actions_table(actions, c->n_inputs, listed, file, arena, &rows, &n_rows, &of_file);
    if (error.kind == OK && n_rows == 0)
        error = error_make(ERROR_USER, "control: {mode: external} needs control.actions or control.file: a number for "
                                       "each input, row after row");
    const int at = n_rows == 0 ? RIGID_CONTROL_MODE : of_file ? RIGID_CONTROL_FILE : RIGID_CONTROL_ACTIONS;
    if (error.kind != OK) return control_wrong(0, 0, first + at + 1, error, out);
    const int64_t count = n_rows * c->n_inputs;
    double *assets = ARENA_NEW(arena, double, out->n_assets + count);
    memcpy(assets, out->assets, (size_t)out->n_assets * sizeof *assets);
    memcpy(assets + out->n_assets, rows, (size_t)count * sizeof *assets);
    c->actions = (int32_t)out->n_assets;
    c->n_action_rows = (int32_t)n_rows;
    out->assets = assets;
    out->n_assets += count;
    return error_none();
}

// Settings that do not go with the mode.
static Error control_check(const double *settings, const Points *points, int first, const RigidConstants *c,
                           const char *example, Configured *out)
{
    const RigidControlMode mode = (RigidControlMode)settings[RIGID_CONTROL_MODE];
    const Points none = {.count = 0}, *actions = points != NULL ? &points[RIGID_CONTROL_ACTIONS] : &none,
                 *file = points != NULL ? &points[RIGID_CONTROL_FILE] : &none;
    const bool law = points != NULL && points[RIGID_CONTROL_LAW].count > 0;
    const double periods = floor(settings[RIGID_CONTROL_PERIOD] / c->dt + 0.5);
    static const char *const modes[] = {"none", "law", "policy", "external"};
    out->wrong_option = first + RIGID_CONTROL_LAW + 1;
    if (law && mode != RIGID_LAW) return error_make(ERROR_USER, "control.law needs control: {mode: law}");
    out->wrong_option = first + RIGID_CONTROL_ACTION_PERIOD + 1;
    if (settings[RIGID_CONTROL_ACTION_PERIOD] > 0.0 && mode != RIGID_LAW)
        return error_make(ERROR_USER, "control.action_period needs control: {mode: law}");
    out->wrong_option = first + (file->count > 0 ? RIGID_CONTROL_FILE : RIGID_CONTROL_ACTIONS) + 1;
    if (mode == RIGID_NO_CONTROL && (file->count > 0 || actions->count > 0))
        return error_make(ERROR_USER, "control.%s needs control: {mode: external}",
                          file->count > 0 ? "file" : "actions");
    out->wrong_option = first + RIGID_CONTROL_ACTIONS + 1;
    if (mode == RIGID_POLICY && actions->count > 0)
        return error_make(ERROR_USER, "control.actions needs control: {mode: external}");
    out->wrong_option = first + RIGID_CONTROL_MODE + 1;
    if (mode != RIGID_NO_CONTROL && c->n_inputs == 0)
        return error_make(ERROR_USER,
                          "control: {mode: %s} needs a force of the world that it gives: {name: thrust, type: input, "
                          "a: BODY, force: [0, 0, 1]}",
                          modes[mode]);
    if (mode == RIGID_LAW && !law)
        return error_make(ERROR_USER, "control: {mode: law} needs control.law, such as {effort: {%s: 0}}", example);
    out->wrong_option = first + RIGID_CONTROL_PERIOD + 1;
    if (mode != RIGID_NO_CONTROL &&
        !(periods >= 1.0 && periods <= 1e9 && fabs(settings[RIGID_CONTROL_PERIOD] / c->dt - periods) <= 1e-6))
        return error_make(ERROR_USER, "control.period (%g s) must be a whole number of steps dt (%g s)",
                          settings[RIGID_CONTROL_PERIOD], c->dt);
    out->wrong_option = 0;
    return error_none();
}

Error rigid_control_settings(const double *settings, const Points *points, int first, Arena *arena, RigidConstants *c,
                             Configured *out)
{
    static const Points none = {.count = 0};
    const RigidHost *host = out->host;
    const RigidForce *forces = (const RigidForce *)(out->assets + c->forces);
    const RigidControlMode mode = (RigidControlMode)settings[RIGID_CONTROL_MODE];
    int *force;
    const int n = control_inputs(c, out->assets, arena, &force);
    TRY(control_check(settings, points, first, c, n > 0 ? host->forces[force[0]] : "", out));
    if (mode == RIGID_NO_CONTROL && n > 0)
        return control_wrong(3, force[0], 0,
                             error_make(ERROR_USER,
                                        "nothing gives the input %s: control: {mode: law, law: {effort: {%s: 0}}}",
                                        host->forces[force[0]], host->forces[force[0]]),
                             out);
    if (mode == RIGID_NO_CONTROL) return error_none();
    Action *actions = ARENA_NEW(arena, Action, n);
    control_actions(force, n, host, forces, arena, actions);
    c->held = (int32_t)floor(settings[RIGID_CONTROL_PERIOD] / c->dt + 0.5);
    out->action_ticks = c->held;
    out->environment_kernel = -1; // worlds have no environments
    out->policy = mode == RIGID_POLICY;
    if (mode != RIGID_EXTERNAL) return control_outputs(force, n, forces, actions, arena, out);
    TRY(control_table(points != NULL ? &points[RIGID_CONTROL_ACTIONS] : &none,
                      points != NULL ? &points[RIGID_CONTROL_FILE] : &none, actions, first, arena, c, out));
    out->actions = actions;
    out->n_actions = n;
    return error_none();
}

Error rigid_check_inputs(Configured *out, Arena *arena)
{
    RigidConstants c;
    int *force;
    memcpy(&c, &out->constants, sizeof c);
    const int n = control_inputs(&c, out->assets, arena, &force);
    return control_check_names(force, n, out->host, out, out);
}
