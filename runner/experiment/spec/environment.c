// An environment of a spec: its expressions as codes, what episodes draw, and the rows of its spaces.
#include "keys.h"

#include <math.h>
#include <string.h>

// ---- expressions ----------------------------------------------------------------------------------------------------

typedef struct EnvironmentReader {
    const Spec *spec;
    Tape *tape;
    bool policy;         // the inputs are those of a law (LawProgram): all parameters, and the model has not failed
    TapeValue *defined;  // [n_define]
    int64_t *parameters; // [n_parameters] inputs of the lane that expressions have
    int *place;          // [configured_named] of a parameter among these, from 1; 0: none
    int n_parameters;
} EnvironmentReader;

// The names of environment_scope (forms/environment.c).
static TapeValue environment_name(void *of, int index)
{
    EnvironmentReader *reader = of;
    const int n_columns = reader->spec->configured.n_columns, named = configured_named(&reader->spec->configured);
    if (index < n_columns) return tape_input(reader->tape, index, TAPE_MOVING);
    if (index == n_columns + named && reader->policy) return tape_number(reader->tape, 0.0);
    if (index < n_columns + named && reader->policy) return tape_input(reader->tape, index, TAPE_FIXED);
    if (index == n_columns + named) return tape_input(reader->tape, n_columns, TAPE_MOVING); // `failed`
    if (index > n_columns + named) return reader->defined[index - n_columns - named - 1];
    int *place = &reader->place[index - n_columns];
    if (*place == 0) {
        reader->parameters[reader->n_parameters++] = index - n_columns;
        *place = reader->n_parameters;
    }
    return tape_input(reader->tape, n_columns + *place, TAPE_MOVING);
}

static TapeValue environment_value(EnvironmentReader *reader, const Expression *expression)
{
    return expression_tape(expression, &(ExpressionTape){reader->tape, reader, environment_name, NULL});
}

// The observations, then reward and condition; 0 where the spec has none.
static const TapeValue *environment_values(EnvironmentReader *reader, int n_observations, Arena *arena)
{
    const Spec *spec = reader->spec;
    TapeValue *values = ARENA_NEW(arena, TapeValue, n_observations + 2), *last = values + n_observations;
    for (int i = 0; i < spec->environment.n_define; i++)
        reader->defined[i] = environment_value(reader, spec->environment.define[i].expression);
    for (int i = 0; i < n_observations; i++)
        values[i] = spec->environment.n_observe > 0 ? environment_value(reader, spec->environment.observe[i].expression)
                                                    : tape_input(reader->tape, i + 1, TAPE_MOVING);
    last[0] = last[1] = tape_number(reader->tape, 0.0);
    if (spec->environment.reward != NULL) last[0] = environment_value(reader, spec->environment.reward);
    if (spec->environment.terminate != NULL) last[1] = environment_value(reader, spec->environment.terminate);
    return values;
}

static EnvironmentReader environment_reader(const Spec *spec, Tape *tape, bool policy, Arena *arena)
{
    const int named = configured_named(&spec->configured);
    return (EnvironmentReader){.spec = spec,
                               .tape = tape,
                               .policy = policy,
                               .defined = ARENA_NEW(arena, TapeValue, spec->environment.n_define),
                               .parameters = ARENA_NEW(arena, int64_t, named),
                               .place = ARENA_NEW(arena, int, named)};
}

static int environment_count(const Spec *spec)
{
    return spec->environment.n_observe > 0 ? spec->environment.n_observe : spec->configured.n_columns - 1;
}

static Error environment_codes(const Spec *spec, Arena *arena, EnvironmentSetup *setup)
{
    TapeAssets assets = {.arena = arena};
    EnvironmentReader reader = environment_reader(spec, tape_new(arena), false, arena);
    const int n = environment_count(spec);
    const TapeValue *values = environment_values(&reader, n, arena);
    const EnvironmentInputs inputs = {spec->configured.n_columns, reader.n_parameters, reader.parameters};
    setup->n_observations = n;
    TRY(environment_code(reader.tape, values, n, &inputs, &assets, &setup->observe));
    TRY(environment_code(reader.tape, values, n + 2, &inputs, &assets, &setup->step));
    setup->codes = assets.numbers;
    setup->n_codes = assets.count;
    return error_none();
}

// A reward may be left out only where a policy gives the actions.
void environment_check_reward(SpecReader *reader)
{
    const GivenKey *section = given_find(reader, "environment"), *mode = given_find(reader, "simulation.control.mode");
    const bool policy = mode != NULL && mode->value->kind == NODE_SCALAR && strcmp(mode->value->text, "policy") == 0;
    if (section == NULL || policy || given_find(reader, "environment.reward") != NULL) return;
    diagnose(reader->diagnostics, section->key,
             "environment.reward is missing: the reward of a step, for example "
             "reward: \"1 - (dx_foot - x_dot_des)^2\"");
}

const TapeValue *environment_observed(SpecReader *reader, Tape *tape, int *n_observations)
{
    EnvironmentReader of = environment_reader(reader->spec, tape, true, reader->arena);
    *n_observations = environment_count(reader->spec);
    return environment_values(&of, *n_observations, reader->arena);
}

// ---- what episodes draw ---------------------------------------------------------------------------------------------

static void environment_draws(const Spec *spec, Arena *arena, EnvironmentSetup *setup)
{
    EnvironmentDraw *draws = ARENA_NEW(arena, EnvironmentDraw, spec->replicates.n_perturb + 1);
    for (int i = 0; i < spec->replicates.n_perturb; i++) {
        const Perturbation *of = &spec->replicates.perturb[i];
        const Parameter *row = &spec->configured.parameters[of->parameter];
        draws[i] = (EnvironmentDraw){.parameter = of->parameter,
                                     .normal = of->distribution == DISTRIBUTION_NORMAL,
                                     .a = of->a,
                                     .b = of->b,
                                     .low = row->low,
                                     .high = row->high};
    }
    setup->draws = draws;
    setup->n_draws = spec->replicates.n_perturb;
}

// The first axis with several values; else the first.
static const Axis *environment_axis(const Spec *spec)
{
    for (int i = 0; i < spec->n_axes + spec->n_outer; i++) {
        const Axis *axis = &spec->axes[i < spec->n_axes ? i : i + spec->n_derived];
        if (values_are_range(&axis->values) || axis->values.count > 1) return axis;
    }
    return &spec->axes[0];
}

static Error environment_refuse_search(const Spec *spec, Diagnostics *diagnostics)
{
    const Axis *axis = environment_axis(spec);
    const char *name = spec->configured.parameters[axis->parameter].name;
    const Error error =
        error_make(ERROR_USER,
                   "%s is searched, and an environment takes one value: fix it, by one value here or under "
                   "`parameters` or `initial`, or by a setting such as search.over.%s=[VALUE]",
                   name, name);
    if (axis->at != NULL) diagnose(diagnostics, axis->at, "%s", error.text);
    return error;
}

// Each lane's parameters, before what it draws: those of the only trial.
static Error environment_fixed(const Spec *spec, Arena *arena, Diagnostics *diagnostics, EnvironmentSetup *setup)
{
    Search search;
    uint64_t ordinal;
    setup->fixed = spec->fixed;
    if (spec->n_axes + spec->n_derived + spec->n_outer == 0) return error_none();
    if (search_learns(spec->method)) return environment_refuse_search(spec, diagnostics);
    TRY(search_init(spec, arena, &search));
    if (search.total != 1) return environment_refuse_search(spec, diagnostics);
    double *fixed = ARENA_NEW(arena, double, spec->configured.n_parameters);
    setup->fixed = fixed;
    return spec->method->trial(&search, 0, &ordinal, fixed);
}

Error spec_environment(const Spec *spec, Arena *arena, Diagnostics *diagnostics, EnvironmentSetup *setup)
{
    if (spec->environment.reward == NULL)
        return error_make(ERROR_USER, "%s has no section `environment:` with a reward", spec->file);
    setup->configured = &spec->configured;
    TRY(environment_fixed(spec, arena, diagnostics, setup));
    setup->seed = spec->seed;
    const Error error = environment_codes(spec, arena, setup);
    if (error.kind != OK) return error_make(error.kind, "%s: %s", spec->file, error.text);
    environment_draws(spec, arena, setup);
    return error_none();
}

// ---- spaces ---------------------------------------------------------------------------------------------------------

static const Parameter *environment_parameter(const Spec *spec, const char *name, double *value)
{
    for (int p = 0; p < configured_named(&spec->configured); p++) {
        const Parameter *row = &spec->configured.parameters[p];
        if (strcmp(row->name, name) != 0) continue;
        *value = spec->fixed[p];
        return row;
    }
    return NULL;
}

EnvironmentRow spec_environment_action(const Spec *spec, int index)
{
    const Action *action = &spec->configured.actions[index];
    EnvironmentRow row = {
        .name = action->name, .unit = action->unit, .doc = action->doc, .low = action->low, .high = action->high};
    if (action->of_low != NULL) environment_parameter(spec, action->of_low, &row.low);
    if (action->of_high != NULL) environment_parameter(spec, action->of_high, &row.high);
    return row;
}

EnvironmentRow spec_environment_observation(const Spec *spec, int index)
{
    const Configured *configured = &spec->configured;
    const bool own = spec->environment.n_observe > 0;
    const char *name = own ? spec->environment.observe[index].name : configured->columns[index + 1].name;
    EnvironmentRow row = {.name = name, .unit = "", .doc = "", .low = -INFINITY, .high = INFINITY};
    double value = 0.0;
    for (int a = 0; a < configured->n_actions; a++)
        if (strcmp(configured->actions[a].name, name) == 0) return spec_environment_action(spec, a);
    for (int c = 0; c < configured->n_columns; c++) {
        if (strcmp(configured->columns[c].name, name) != 0) continue;
        row.unit = configured->columns[c].unit;
        row.doc = configured->columns[c].doc;
        return row;
    }
    const Parameter *parameter = environment_parameter(spec, name, &value);
    if (parameter != NULL)
        row = (EnvironmentRow){name, parameter->unit, parameter->doc, parameter->low, parameter->high};
    return row;
}
