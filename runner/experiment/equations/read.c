// Reading a system. All errors are found in one pass.
#include "equations.h"

TapeValue **equations_values_of_modes(SystemReader *reader, int count)
{
    TapeValue **values = ARENA_NEW(reader->arena, TapeValue *, reader->n_modes);
    for (int m = 0; m < reader->n_modes; m++) {
        values[m] = ARENA_NEW(reader->arena, TapeValue, count);
        for (int i = 0; i < count; i++) values[m][i] = TAPE_NONE;
    }
    return values;
}

static SystemModes modes_new(SystemReader *reader)
{
    const Node *metrics = node_find(reader->root, "metrics"), *columns = node_find(reader->root, "columns"),
               *failures = node_find(reader->root, "failures");
    const int n_metrics = metrics != NULL ? metrics->count : 0, n_columns = columns != NULL ? columns->count : 0,
              n_failures = reader->n_tables + (failures != NULL ? failures->count : 0);
    SystemModes modes = {.rates = equations_values_of_modes(reader, reader->system->n_states + n_metrics),
                         .noise = equations_values_of_modes(reader, reader->system->n_states),
                         .guards = equations_values_of_modes(reader, SYSTEM_GUARDS_MAX),
                         .watched = equations_values_of_modes(reader, n_metrics),
                         .columns = equations_values_of_modes(reader, n_columns),
                         .conditions = equations_values_of_modes(reader, n_metrics + n_failures),
                         .actions = ARENA_NEW(reader->arena, SystemAction *, reader->n_modes),
                         .n_actions = ARENA_NEW(reader->arena, int, reader->n_modes),
                         .points = ARENA_NEW(reader->arena, TapeValue *, reader->n_modes)};
    for (int m = 0; m < reader->n_modes; m++)
        modes.actions[m] = ARENA_NEW(reader->arena, SystemAction, SYSTEM_ACTIONS_MAX);
    return modes;
}

void equations_read_inputs(SystemReader *reader)
{
    System *system = reader->system;
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue, system->n_parameters);
    const int first = SYSTEM_PARAMETER(system->n_states, system->n_held, 0);
    for (int i = 0; i < system->n_parameters; i++) values[i] = tape_input(system->tape, first + i, TAPE_FIXED);
    system->parameter_values = values;
}

static void take_modes(SystemReader *reader, const SystemModes *read)
{
    SystemMode *modes = ARENA_NEW(reader->arena, SystemMode, reader->n_modes);
    for (int m = 0; m < reader->n_modes; m++)
        modes[m] = (SystemMode){.name = equations_mode_name(reader, m),
                                .rates = read->rates[m],
                                .noise = read->noise[m],
                                .guards = read->guards[m],
                                .watched = read->watched[m],
                                .columns = read->columns[m],
                                .conditions = read->conditions[m],
                                .points = read->points[m],
                                .actions = read->actions[m],
                                .n_actions = read->n_actions[m]};
    reader->system->modes = modes;
    reader->system->n_modes = reader->n_modes;
}

// Whether a copy of the same item is used.
static bool is_copy_used(const SystemReader *reader, const SystemName *name)
{
    bool used = name->used;
    for (int i = 0; i < reader->n_lets && !used && name->key->copy != NULL; i++) {
        const SystemName *other = &reader->names[reader->lets[i].name];
        const Node *a = name->key, *b = other->key;
        used = other->used && a->source == b->source && a->line == b->line && a->column == b->column;
    }
    return used;
}

// Shorthands that nothing uses: a name was mistyped, or they are left over.
void equations_check_used(SystemReader *reader)
{
    for (int i = 0; i < reader->n_lets; i++) {
        const SystemName *name = &reader->names[reader->lets[i].name];
        if (!is_copy_used(reader, name))
            diagnose_warning(reader->diagnostics, name->key, "nothing uses %s", name->name);
    }
}

SystemReader equations_reader(const Node *node, Arena *arena, Diagnostics *diagnostics)
{
    return (SystemReader){.arena = arena,
                          .diagnostics = diagnostics,
                          .root = node,
                          .system = ARENA_NEW(arena, System, 1),
                          .names = ARENA_NEW(arena, SystemName, SYSTEM_NAMES_MAX + 1),
                          .lets = ARENA_NEW(arena, SystemLet, SYSTEM_LETS_MAX),
                          .done = ARENA_NEW(arena, int, SYSTEM_LETS_MAX),
                          .stack = ARENA_NEW(arena, UnitValue, UNIT_STACK),
                          .scopes = ARENA_NEW(arena, SystemScope, SYSTEM_MODES_MAX + 3),
                          .parameters = ARENA_NEW(arena, Parameter, SYSTEM_INPUTS_MAX),
                          .events = ARENA_NEW(arena, const char *, SYSTEM_EVENTS_MAX),
                          .failures = ARENA_NEW(arena, const char *, SYSTEM_EVENTS_MAX),
                          .guards = ARENA_NEW(arena, SystemGuard, SYSTEM_GUARDS_MAX),
                          .instants = ARENA_NEW(arena, SystemInstant, SYSTEM_GUARDS_MAX)};
}

// A system with next values is a map; it has no rates.
static void read_kind(SystemReader *reader)
{
    const Node *next = node_find(reader->root, "next"), *rates = node_find(reader->root, "rates");
    for (int m = 0; m < reader->n_modes; m++) {
        if (next == NULL) next = node_find(reader->mode_nodes[m], "next");
        if (rates == NULL) rates = node_find(reader->mode_nodes[m], "rates");
    }
    reader->system->is_map = next != NULL;
    if (next != NULL && rates != NULL)
        diagnose(reader->diagnostics, next, "a system has rates or next values, not both");
    reader->rates_wrong = next != NULL && rates != NULL;
}

static void read_sections(SystemReader *reader, SystemModes *modes)
{
    const Node *failures = node_find(reader->root, "failures"), *metrics = node_find(reader->root, "metrics");
    const int most =
        reader->n_tables + (failures != NULL ? failures->count : 0) + (metrics != NULL ? metrics->count : 0);
    SystemConditions conditions = {.scope = equations_scope_of_any(reader),
                                   .expression = ARENA_NEW(reader->arena, const Expression *, most),
                                   .node = ARENA_NEW(reader->arena, const Node *, most)};
    bool *is_position = ARENA_NEW(reader->arena, bool, reader->system->n_states);
    equations_read_rates(reader, modes, is_position);
    reader->system->is_position = is_position;
    equations_read_noise(reader, modes);
    equations_read_starts(reader);
    equations_read_events(reader, modes);
    equations_read_failures(reader, &conditions);
    equations_read_metrics(reader, modes, &conditions);
    equations_read_columns(reader, modes, conditions.scope);
    equations_read_drawing(reader, node_find(reader->root, "drawing"), modes->points);
    equations_read_conditions(reader, modes, &conditions);
    equations_watch_tables(reader, modes);
}

const System *equations_read(const Node *node, Arena *arena, Diagnostics *diagnostics)
{
    SystemReader reader = equations_reader(node, arena, diagnostics);
    System *system = reader.system;
    const int errors = diagnostics_errors(diagnostics);
    if (!equations_mapping(&reader, node, "system")) return NULL;
    reader.root = equations_copies(&reader, equations_repair(&reader, node));
    if (reader.root == NULL) return NULL;
    system->tape = tape_new(arena);
    equations_read_modes(&reader);
    read_kind(&reader);
    equations_declare(&reader);
    if (system->n_states == 0 && reader.n_wrong == 0 && node_find(reader.root, "states") == NULL)
        diagnose(diagnostics, node, "the system has no states: states: {x: {start: 0, unit: m}}");
    else if (system->n_states == 0 && reader.n_wrong == 0 && diagnostics_errors(diagnostics) == errors)
        diagnose(diagnostics, node_find(reader.root, "states"),
                 "states must be a mapping of names: {x: {start: 0, unit: m}}");
    equations_read_inputs(&reader);
    equations_read_lets(&reader);
    equations_let_units(&reader);
    SystemModes modes = modes_new(&reader);
    read_sections(&reader, &modes);
    if (system->tape->full)
        diagnose(diagnostics, node, "the equations are too long: more than %d operations", TAPE_VALUES_MAX);
    if (diagnostics_errors(diagnostics) > errors) return NULL;
    equations_check_reached(&reader, &modes);
    equations_check_used(&reader);
    take_modes(&reader, &modes);
    system->n_expressions = reader.n_expressions;
    system->n_checked = reader.n_checked;
    system->unitless = equations_unitless(&reader);
    system->parameters = reader.parameters;
    system->guards = reader.guards;
    system->instants = reader.instants;
    system->failures = reader.failures;
    system->events = reader.events;
    system->text = equations_text(equations_frozen(&reader, node), arena);
    equations_check_jumps(&reader);
    return system;
}
