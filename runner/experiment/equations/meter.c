// Reading metrics of the user's own over the columns of a model: its columns are the states, its parameters the
// parameters of a system without equations.
#include "equations.h"

#include <string.h>

static UnitValue meter_unit(SystemReader *reader, const char *text)
{
    Unit unit;
    const char *why;
    if (text == NULL || !unit_read(text, reader->arena, &unit, &why)) return (UnitValue){.kind = UNIT_OPEN};
    return unit_known(&unit, text);
}

static void meter_declare(SystemReader *reader, const char *name, const char *unit, SystemNameKind kind, int index)
{
    reader->names[reader->n_names++] =
        (SystemName){.name = name, .unit = unit, .kind = kind, .index = index, .value = meter_unit(reader, unit)};
}

// A column and a parameter may have one name, such as that of a state and of its start: then it means the column.
static bool meter_is_declared(const SystemReader *reader, const char *name)
{
    return equations_find(reader, name, SYSTEM_NAME_STATE) >= 0 || equations_find(reader, name, SYSTEM_NAME_TIME) >= 0;
}

void equations_declare_model(SystemReader *reader, const Configured *configured)
{
    System *system = reader->system;
    system->n_states = configured->n_columns - 1;
    system->n_parameters = configured->n_parameters;
    system->is_map = configured->tick_duration == 0.0;
    meter_declare(reader, configured->columns[0].name, configured->columns[0].unit, SYSTEM_NAME_TIME, 0);
    for (int c = 1; c < configured->n_columns; c++)
        meter_declare(reader, configured->columns[c].name, configured->columns[c].unit, SYSTEM_NAME_STATE, c - 1);
    for (int p = 0; p < configured->n_parameters; p++) {
        const Parameter *parameter = &configured->parameters[p];
        if (!meter_is_declared(reader, parameter->name))
            meter_declare(reader, parameter->name, parameter->unit, SYSTEM_NAME_PARAMETER, p);
    }
    reader->n_given = reader->n_names;
}

// A model without time has no sums over it.
static void meter_check_time(SystemReader *reader, const Node *metrics)
{
    static const char *const timed[] = {"mean", "rms", "integral", "part"};
    for (int i = 0; i < metrics->count && reader->system->is_map; i++) {
        for (size_t k = 0; k < sizeof timed / sizeof *timed; k++) {
            const Node *given = node_find(metrics->items[i], timed[k]);
            if (given != NULL)
                diagnose(reader->diagnostics, given, "this model has no time, and %s is over time", timed[k]);
        }
    }
}

// The model has a metric of this name.
static void meter_check_names(SystemReader *reader, const Node *metrics, const Configured *configured)
{
    for (int i = 0; i < metrics->count; i++)
        for (int m = 0; m < configured->n_metrics; m++)
            if (strcasecmp(configured->metrics[m].name, metrics->keys[i]->text) == 0)
                diagnose(reader->diagnostics, metrics->keys[i], "the model has a metric '%s' already",
                         configured->metrics[m].name);
}

// The mapping of a system that has metrics alone.
static const Node *meter_root(const Node *metrics, Arena *arena)
{
    Node *root = ARENA_NEW(arena, Node, 1), *key = ARENA_NEW(arena, Node, 1);
    const Node **keys = ARENA_NEW(arena, const Node *, 1), **items = ARENA_NEW(arena, const Node *, 1);
    *root = *key = *metrics;
    key->kind = NODE_SCALAR;
    key->text = "metrics";
    keys[0] = key;
    items[0] = metrics;
    root->keys = keys;
    root->items = items;
    root->count = 1;
    return root;
}

// The root of the metrics, if there are any. Returns their number, with those that are wrong; -1 after an error.
static int meter_find_metrics(SystemReader *reader, const Node *given)
{
    reader->root = NULL;
    if (given == NULL) return 0;
    reader->root = equations_copies(reader, meter_root(equations_repair_metrics(reader, given), reader->arena));
    return reader->root != NULL ? node_find(reader->root, "metrics")->count : -1;
}

bool equations_read_meter(const MeterGiven *given, Arena *arena, Diagnostics *diagnostics, Meter *out)
{
    const int errors = diagnostics_errors(diagnostics);
    const Configured *configured = given->of;
    SystemReader reader = equations_reader(given->at, arena, diagnostics);
    System *system = reader.system;
    const int n_names = configured->n_columns + configured->n_parameters;
    reader.sampled = true;
    reader.of = given->frames;
    reader.n_modes = 1;
    reader.names = ARENA_NEW(arena, SystemName, n_names);
    reader.mode_keys = ARENA_NEW(arena, const Node *, 1);
    reader.mode_nodes = ARENA_NEW(arena, const Node *, 1);
    reader.parameters = (Parameter *)configured->parameters;
    system->tape = tape_new(arena);
    equations_declare_model(&reader, configured);
    const int most = meter_find_metrics(&reader, given->metrics);
    if (most < 0) return false;
    const int n_conditions = most + given->n_retire;
    SystemModes modes = {.rates = equations_values_of_modes(&reader, system->n_states + most),
                         .watched = equations_values_of_modes(&reader, most)};
    SystemConditions conditions = {.scope = equations_scope(&reader, 0, false),
                                   .expression = ARENA_NEW(arena, const Expression *, n_conditions),
                                   .node = ARENA_NEW(arena, const Node *, n_conditions)};
    MeterRetire *retire = ARENA_NEW(arena, MeterRetire, given->n_retire);
    if (given->metrics != NULL) {
        const Node *metrics = node_find(reader.root, "metrics");
        equations_read_metrics(&reader, &modes, &conditions);
        meter_check_time(&reader, metrics);
        meter_check_names(&reader, metrics, configured);
    }
    for (int k = 0; k < given->n_retire; k++) {
        retire[k] = given->retire[k];
        retire[k].condition = equations_read_condition(&reader, &conditions, given->when[k], "when");
    }
    if (diagnostics_errors(diagnostics) > errors) return false;
    TapeValue *values = ARENA_NEW(arena, TapeValue, n_conditions);
    for (int k = 0; k < conditions.count; k++)
        values[k] = equations_value(&reader, conditions.expression[k], conditions.scope, 0);
    const SystemMode mode = {.watched = modes.watched[0], .conditions = values};
    system->modes = &mode;
    const Error error = meter_make(system, retire, given->n_retire, configured, arena, out);
    if (error.kind != OK) diagnose(diagnostics, given->at, "%s", error.text);
    return error.kind == OK;
}
