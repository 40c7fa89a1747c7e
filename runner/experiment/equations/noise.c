// Reading the noise of a system: its size for each state, and the source that drives it.
#include "equations.h"

#include <string.h>

static const char noise_word[] = "noise";

bool equations_has_noise(const SystemReader *reader)
{
    const Node *node = node_find(reader->root, noise_word);
    bool has = node != NULL && node->kind == NODE_MAPPING && node->count > 0;
    for (int m = 0; m < reader->n_modes && !has; m++) {
        node = node_find(reader->mode_nodes[m], noise_word);
        has = node != NULL && node->kind == NODE_MAPPING && node->count > 0;
    }
    return has;
}

// Sources by name: those of one state have its name.
typedef struct NoiseSources {
    const char *name[SYSTEM_STATES_MAX];
    const Node *given[SYSTEM_STATES_MAX]; // a `by` that names it; NULL: there is none
    int users[SYSTEM_STATES_MAX];         // states
    int count;
} NoiseSources;

static int noise_source(NoiseSources *sources, const char *name)
{
    for (int i = 0; i < sources->count; i++)
        if (strcmp(sources->name[i], name) == 0) return i;
    sources->name[sources->count] = name;
    return sources->count++;
}

// The source of a state in a mode. *of: its source in the modes before, -1: none yet.
static void read_source(SystemReader *reader, NoiseSources *sources, const SystemName *state, const Node *node, int *of)
{
    const Node *by = node->kind == NODE_MAPPING ? node_find(node, "by") : NULL;
    const char *name = node->kind == NODE_MAPPING ? equations_text_of(reader, node, "by") : NULL;
    if (by != NULL && (name == NULL || !equations_is_word(name))) {
        if (name != NULL)
            diagnose(reader->diagnostics, by, "'%.60s' can't be the name of a source: take letters, digits and _",
                     name);
        return;
    }
    if (*of >= 0 && strcmp(sources->name[*of], name != NULL ? name : state->name) != 0) {
        diagnose(reader->diagnostics, by != NULL ? by : node,
                 "the noise of %s has another source in the modes before, %s: it has one in all modes", state->name,
                 sources->name[*of]);
        return;
    }
    if (*of < 0) {
        *of = noise_source(sources, name != NULL ? name : state->name);
        sources->users[*of]++;
    }
    if (by != NULL) sources->given[*of] = by;
}

// The unit of a state's noise: that of the state per root of time; of a map that of the state.
static UnitValue noise_unit(SystemReader *reader, const SystemName *state)
{
    const UnitValue second = equations_seconds(reader), root = unit_power(&second, 0.5);
    UnitValue unit = unit_product(&state->value, &root, -1);
    if (reader->system->is_map) return state->value;
    if (state->unit != NULL && equations_is_word(state->unit))
        unit.text = arena_format(reader->arena, "%s/s^0.5", state->unit); // rad/s^0.5
    return unit;
}

// TAPE_NONE after an error.
static TapeValue read_size(SystemReader *reader, const SystemName *state, const Node *node, int mode)
{
    System *system = reader->system;
    const Node *size = node->kind == NODE_MAPPING ? node_find(node, "size") : node;
    if (size == NULL) {
        diagnose(reader->diagnostics, node, "the noise of %s has no size: {size: 0.1, by: w}", state->name);
        return TAPE_NONE;
    }
    const char *what = arena_format(reader->arena, "the noise of %s", state->name);
    const SystemScope *scope = equations_scope(reader, mode, false);
    const Expression *expression = equations_expression(reader, size, scope, what);
    if (expression == NULL) return TAPE_NONE;
    const UnitValue wanted = noise_unit(reader, state);
    equations_units(reader, size, expression, scope, &wanted, what);
    const TapeValue value = equations_value(reader, expression, scope, mode);
    double number;
    if (value == TAPE_NONE) return TAPE_NONE;
    if (node->kind == NODE_SCALAR && tape_is_number(system->tape, value, &number) && number < 0.0)
        diagnose(reader->diagnostics, size, "%s has the size %g: it is a standard deviation, so it can't be negative",
                 what, number);
    if (tape_reads(system->tape, value, SYSTEM_STATE(0), SYSTEM_STATE(system->n_states)))
        system->multiplicative = state->name;
    return value;
}

// A source that is shared in name only was mistyped.
static void check_sources(SystemReader *reader, const NoiseSources *sources)
{
    for (int i = 0; i < sources->count; i++)
        if (sources->users[i] == 1 && sources->given[i] != NULL)
            diagnose_warning(reader->diagnostics, sources->given[i],
                             "only one state has noise by %s: `by` is for noise that several states share",
                             sources->name[i]);
}

void equations_read_noise(SystemReader *reader, SystemModes *modes)
{
    System *system = reader->system;
    NoiseSources sources = {.count = 0};
    int *of = ARENA_NEW(reader->arena, int, system->n_states);
    for (int i = 0; i < system->n_states; i++) of[i] = -1;
    equations_check_states(reader, reader->root, noise_word);
    for (int m = 0; m < reader->n_modes; m++) {
        if (reader->mode_keys[m] != NULL) equations_check_states(reader, reader->mode_nodes[m], noise_word);
        for (int i = 0; i < reader->n_names; i++) {
            const SystemName *name = &reader->names[i];
            const Node *node =
                name->kind == SYSTEM_NAME_STATE ? equations_state_node(reader, m, noise_word, name->name) : NULL;
            if (node == NULL) continue;
            read_source(reader, &sources, name, node, &of[name->index]);
            modes->noise[m][name->index] = read_size(reader, name, node, m);
        }
    }
    check_sources(reader, &sources);
    system->sources = of;
    system->n_sources = sources.count;
}
