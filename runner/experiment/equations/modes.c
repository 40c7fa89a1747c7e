// Reading the modes of a system: their names, the rates of states in them, and where states start.
#include "equations.h"

#include <string.h>

const char *equations_mode_name(const SystemReader *reader, int mode)
{
    return reader->mode_keys[mode] != NULL ? reader->mode_keys[mode]->text : "motion";
}

// ---- modes ----------------------------------------------------------------------------------------------------------

// The mapping of modes; NULL: there are none.
static const Node *modes_given(SystemReader *reader)
{
    const Node *modes = node_find(reader->root, "modes");
    if (modes == NULL || (modes->kind == NODE_MAPPING && modes->count > 0)) return modes;
    diagnose(reader->diagnostics, modes,
             "modes must be a mapping of at least one mode; a system without modes has "
             "its rates and events at its top");
    reader->modes_wrong = true;
    return NULL;
}

void equations_read_modes(SystemReader *reader)
{
    const Node *modes = modes_given(reader);
    reader->n_modes = modes != NULL ? modes->count : 1;
    if (reader->n_modes > SYSTEM_MODES_MAX) {
        diagnose(reader->diagnostics, modes->keys[SYSTEM_MODES_MAX], "a system has at most %d modes", SYSTEM_MODES_MAX);
        reader->n_modes = SYSTEM_MODES_MAX;
        reader->modes_wrong = true;
    }
    reader->mode_nodes = ARENA_NEW(reader->arena, const Node *, reader->n_modes);
    reader->mode_keys = ARENA_NEW(reader->arena, const Node *, reader->n_modes);
    for (int m = 0; m < reader->n_modes; m++) {
        const Node *key = modes != NULL ? modes->keys[m] : NULL;
        reader->mode_nodes[m] = modes != NULL ? modes->items[m] : reader->root;
        reader->mode_keys[m] = key;
        if (key == NULL) continue;
        if (!equations_is_word(key->text))
            diagnose(reader->diagnostics, key, "'%.60s' can't be the name of a mode: take letters, digits and _",
                     key->text);
        equations_mapping(reader, reader->mode_nodes[m], "a mode");
    }
}

// -1: there is none, which is reported.
int equations_find_mode(SystemReader *reader, const Node *node)
{
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_modes);
    if (reader->modes_wrong) return -1;
    for (int m = 0; m < reader->n_modes; m++) {
        names[m] = equations_mode_name(reader, m);
        if (node->kind == NODE_SCALAR && reader->mode_keys[m] != NULL && strcmp(names[m], node->text) == 0) return m;
    }
    if (node->kind != NODE_SCALAR)
        diagnose(reader->diagnostics, node, "to must be the name of a mode");
    else if (reader->mode_keys[0] == NULL)
        diagnose(reader->diagnostics, node, "the system has no modes to go to: declare them in `modes`");
    else
        diagnose(reader->diagnostics, node, "'%.60s' is not a mode%s", node->text,
                 equations_nearest(reader, node->text, names, reader->n_modes));
    return -1;
}

// ---- rates ----------------------------------------------------------------------------------------------------------

static const char *rates_word(const SystemReader *reader) { return reader->system->is_map ? "next" : "rates"; }

const Node *equations_state_node(const SystemReader *reader, int mode, const char *section, const char *state)
{
    const Node *own = reader->mode_keys[mode] != NULL ? node_find(reader->mode_nodes[mode], section) : NULL;
    const Node *node = node_find(own, state);
    return node != NULL ? node : node_find(node_find(reader->root, section), state);
}

bool equations_check_states(SystemReader *reader, const Node *mapping, const char *section)
{
    if (node_find(mapping, section) == NULL) return mapping->kind == NODE_MAPPING;
    const Node *rates = equations_section(reader, mapping, section, NODE_MAPPING);
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_names);
    int n = 0;
    for (int i = 0; i < reader->n_names; i++)
        if (reader->names[i].kind == SYSTEM_NAME_STATE) names[n++] = reader->names[i].name;
    for (int i = 0; rates != NULL && i < rates->count; i++) {
        const char *name = rates->keys[i]->text;
        if (equations_find(reader, name, SYSTEM_NAME_STATE) >= 0 || equations_is_wrong(reader, name)) continue;
        if (diagnostics_errors(reader->diagnostics) > SYSTEM_ERRORS_MAX) continue;
        diagnose(reader->diagnostics, rates->keys[i], "'%.60s' is not a state%s", name,
                 equations_nearest(reader, name, names, n));
    }
    return rates != NULL || node_find(mapping, section)->kind == NODE_SCALAR;
}

// Reports a state that does not move in a mode, unless no mode has rates.
static void report_no_rate(SystemReader *reader, const SystemName *name, int mode)
{
    const bool is_map = reader->system->is_map, own = reader->mode_keys[mode] != NULL;
    const char *still = arena_format(reader->arena, is_map ? "%s: %s" : "%s: 0", name->name, name->name);
    diagnose(reader->diagnostics, own ? reader->mode_keys[mode] : name->key,
             "state %s has no %s%s%s; for one that does not change write %s", name->name,
             is_map ? "next value" : "rate", own ? " in mode " : "", own ? equations_mode_name(reader, mode) : "",
             still);
}

// Whether rates are given somewhere.
static bool has_rates(const SystemReader *reader)
{
    bool has = node_find(reader->root, rates_word(reader)) != NULL;
    for (int m = 0; m < reader->n_modes; m++)
        has |= reader->mode_keys[m] != NULL && node_find(reader->mode_nodes[m], rates_word(reader)) != NULL;
    return has;
}

static TapeValue read_rate(SystemReader *reader, const SystemName *name, const Node *node, int mode)
{
    const SystemScope *scope = equations_scope(reader, mode, false);
    const Expression *expression = equations_expression(reader, node, scope, name->name);
    const UnitValue second = equations_seconds(reader);
    UnitValue wanted = unit_product(&name->value, &second, -1);
    if (expression == NULL) return TAPE_NONE;
    if (name->unit != NULL && equations_is_word(name->unit))
        wanted.text = arena_format(reader->arena, "%s/s", name->unit); // rad/s
    equations_units(reader, node, expression, scope, reader->system->is_map ? &name->value : &wanted,
                    arena_format(reader->arena, reader->system->is_map ? "%s" : "the rate of %s", name->name));
    return equations_value(reader, expression, scope, mode);
}

// Whether a rate is just another state: then semi-implicit Euler takes the state as a position.
static bool is_other_state(const System *system, TapeValue rate, int state)
{
    const TapeNode *node = &system->tape->nodes[rate];
    return node->operation == TAPE_INPUT && node->a >= SYSTEM_STATE(0) && node->a < SYSTEM_STATE(system->n_states) &&
           node->a != SYSTEM_STATE(state);
}

void equations_read_rates(SystemReader *reader, SystemModes *modes, bool *is_position)
{
    System *system = reader->system;
    const TapeValue zero = tape_number(system->tape, 0.0);
    bool shared = equations_check_states(reader, reader->root, rates_word(reader)) && !reader->rates_wrong;
    if (!has_rates(reader) && !reader->modes_wrong && system->n_states > 0) {
        diagnose(reader->diagnostics, reader->root,
                 "the system has no rates: rates: {x: v}, or next: {x: x + 1} of a map");
        shared = false; // no state is reported too
    }
    for (int i = 0; i < system->n_states; i++) is_position[i] = true;
    for (int m = 0; m < reader->n_modes; m++) {
        const bool own =
            reader->mode_keys[m] == NULL || equations_check_states(reader, reader->mode_nodes[m], rates_word(reader));
        for (int i = 0, state = 0; i < reader->n_names; i++) {
            const SystemName *name = &reader->names[i];
            if (name->kind != SYSTEM_NAME_STATE) continue;
            const Node *node = equations_state_node(reader, m, rates_word(reader), name->name);
            const TapeValue value = node != NULL ? read_rate(reader, name, node, m) : TAPE_NONE;
            if (node == NULL && own && shared && !reader->modes_wrong) report_no_rate(reader, name, m);
            modes->rates[m][state] = value != TAPE_NONE ? value : zero;
            is_position[state] &= is_other_state(system, modes->rates[m][state], state);
            state++;
        }
    }
}

// ---- starts ---------------------------------------------------------------------------------------------------------

static TapeValue read_start(SystemReader *reader, const SystemName *name, const SystemScope *scope)
{
    System *system = reader->system;
    const Node *node = name->node->kind == NODE_MAPPING ? node_find(name->node, "start") : name->node;
    for (int p = 0; p < system->n_parameters; p++)
        if (reader->parameters[p].section == SECTION_INITIAL && strcmp(reader->parameters[p].name, name->name) == 0)
            return system->parameter_values[p];
    const char *what = arena_format(reader->arena, "the start of %s", name->name);
    const Expression *expression =
        node != NULL && !name->wrong ? equations_expression(reader, node, scope, what) : NULL;
    TapeValue value = TAPE_NONE;
    if (expression != NULL) {
        equations_units(reader, node, expression, scope, &name->value, what);
        value = equations_value(reader, expression, scope, -1);
    }
    return value != TAPE_NONE ? value : tape_number(system->tape, 0.0);
}

void equations_read_starts(SystemReader *reader)
{
    System *system = reader->system;
    TapeValue *start = ARENA_NEW(reader->arena, TapeValue, system->n_states + system->n_held);
    double *scale = ARENA_NEW(reader->arena, double, system->n_states);
    Field *states = ARENA_NEW(reader->arena, Field, system->n_states);
    Field *held = ARENA_NEW(reader->arena, Field, system->n_held);
    const SystemScope *fixed = equations_scope(reader, -1, true);
    for (int i = 0; i < reader->n_names; i++) {
        const SystemName *name = &reader->names[i];
        const bool is_held = name->kind == SYSTEM_NAME_HELD;
        if ((name->kind != SYSTEM_NAME_STATE && !is_held) || name->node == NULL) continue;
        const Field field = {name->name, name->unit != NULL ? name->unit : "1",
                             name->doc != NULL ? name->doc
                             : is_held         ? "held between events"
                                               : "a state",
                             is_held ? "held" : "state"};
        start[is_held ? system->n_states + name->index : name->index] = read_start(reader, name, fixed);
        *(is_held ? &held[name->index] : &states[name->index]) = field;
        if (is_held) continue;
        const Node *node = name->node->kind == NODE_MAPPING ? node_find(name->node, "scale") : NULL;
        scale[name->index] = 1.0;
        if (node != NULL && equations_number(reader, node, &scale[name->index]) && !(scale[name->index] > 0.0))
            diagnose(reader->diagnostics, node, "scale must be greater than 0: the size of %s that counts as small",
                     name->name);
    }
    equations_start_inputs(reader, start);
    for (int a = 0; a < system->n_actions; a++) {
        const Action *action = &system->actions[a];
        held[system_first_action(system) + a] = (Field){action->name, action->unit, action->doc, "control"};
    }
    system->start = start;
    system->scale = scale;
    system->state_columns = states;
    system->held_columns = held;
}
