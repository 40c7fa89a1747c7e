// Reading a system: modes with their rates and events, metrics, failures, columns. All errors are found in one pass.
#include "equations.h"

#include <math.h>
#include <string.h>

typedef struct SystemModes {
    TapeValue **rates;      // [n_modes][n_states + n_integrals]
    TapeValue **guards;     // [n_modes][SYSTEM_GUARDS_MAX]
    TapeValue **watched;    // [n_modes][n_metrics]
    TapeValue **columns;    // [n_modes][n_shown]
    TapeValue **conditions; // [n_modes][..]
    SystemAction **actions; // [n_modes][SYSTEM_ACTIONS_MAX]
    int *n_actions;
    TapeValue **points; // [n_modes] of the drawing
} SystemModes;

static const char *mode_name(const SystemReader *reader, int mode)
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

static void read_modes(SystemReader *reader)
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
static int find_mode(SystemReader *reader, const Node *node)
{
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_modes);
    if (reader->modes_wrong) return -1;
    for (int m = 0; m < reader->n_modes; m++) {
        names[m] = mode_name(reader, m);
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

// The node of a state's rate in a mode: its own, else that of the system.
static const Node *rate_node(SystemReader *reader, int mode, const char *state)
{
    const Node *own = reader->mode_keys[mode] != NULL ? node_find(reader->mode_nodes[mode], rates_word(reader)) : NULL;
    const Node *node = node_find(own, state);
    return node != NULL ? node : node_find(node_find(reader->root, rates_word(reader)), state);
}

// Reports rates that belong to no state. False: the section can't be read.
static bool check_rates(SystemReader *reader, const Node *mapping)
{
    if (node_find(mapping, rates_word(reader)) == NULL) return mapping->kind == NODE_MAPPING;
    const Node *rates = equations_section(reader, mapping, rates_word(reader), NODE_MAPPING);
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
    return rates != NULL || node_find(mapping, rates_word(reader))->kind == NODE_SCALAR;
}

// Reports a state that does not move in a mode, unless no mode has rates.
static void report_no_rate(SystemReader *reader, const SystemName *name, int mode)
{
    const bool is_map = reader->system->is_map, own = reader->mode_keys[mode] != NULL;
    const char *still = arena_format(reader->arena, is_map ? "%s: %s" : "%s: 0", name->name, name->name);
    diagnose(reader->diagnostics, own ? reader->mode_keys[mode] : name->key,
             "state %s has no %s%s%s; for one that does not change write %s", name->name,
             is_map ? "next value" : "rate", own ? " in mode " : "", own ? mode_name(reader, mode) : "", still);
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

static void read_rates(SystemReader *reader, SystemModes *modes, bool *is_position)
{
    System *system = reader->system;
    const TapeValue zero = tape_number(system->tape, 0.0);
    bool shared = check_rates(reader, reader->root) && !reader->rates_wrong;
    if (!has_rates(reader) && !reader->modes_wrong && system->n_states > 0) {
        diagnose(reader->diagnostics, reader->root,
                 "the system has no rates: rates: {x: v}, or next: {x: x + 1} of a map");
        shared = false; // no state is reported too
    }
    for (int i = 0; i < system->n_states; i++) is_position[i] = true;
    for (int m = 0; m < reader->n_modes; m++) {
        const bool own = reader->mode_keys[m] == NULL || check_rates(reader, reader->mode_nodes[m]);
        for (int i = 0, state = 0; i < reader->n_names; i++) {
            const SystemName *name = &reader->names[i];
            if (name->kind != SYSTEM_NAME_STATE) continue;
            const Node *node = rate_node(reader, m, name->name);
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

static void read_starts(SystemReader *reader)
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
        if (name->kind != SYSTEM_NAME_STATE && !is_held) continue;
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
    system->start = start;
    system->scale = scale;
    system->state_columns = states;
    system->held_columns = held;
}

// ---- events ---------------------------------------------------------------------------------------------------------

// The number of an event's name; events of several modes may share one.
static int event_number(SystemReader *reader, const char *name, const Node *at)
{
    for (int i = 0; i < reader->system->n_events; i++)
        if (strcmp(reader->events[i], name) == 0) return i;
    if (!equations_is_word(name) && at->kind == NODE_SCALAR)
        diagnose(reader->diagnostics, at, "'%.60s' can't be the name of an event: take letters, digits and _", name);
    if (reader->system->n_events == SYSTEM_EVENTS_MAX) {
        diagnose(reader->diagnostics, at, "a system has at most %d names of events", SYSTEM_EVENTS_MAX);
        return 0;
    }
    reader->events[reader->system->n_events] = name;
    return reader->system->n_events++;
}

static int failure_number(SystemReader *reader, const char *name, const Node *at)
{
#define SYSTEM_FAILURE(name) #name,
    static const char *const own[] = {SYSTEM_FAILURES(SYSTEM_FAILURE) NON_FINITE};
#undef SYSTEM_FAILURE
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(own[i], name) != 0) continue;
        diagnose(reader->diagnostics, at, "the failure '%s' is one that every system has: take another name", name);
        return 0;
    }
    for (int i = 0; i < reader->system->n_failures; i++)
        if (strcmp(reader->failures[i], name) == 0) return i;
    if (!equations_is_word(name))
        diagnose(reader->diagnostics, at, "'%.60s' can't be the name of a failure: take letters, digits and _", name);
    if (reader->system->n_failures == SYSTEM_EVENTS_MAX) {
        diagnose(reader->diagnostics, at, "a system has at most %d failures of its own", SYSTEM_EVENTS_MAX);
        return 0;
    }
    reader->failures[reader->system->n_failures] = name;
    return reader->system->n_failures++;
}

// What `set` assigns: the expressions, in the order of the spec.
typedef struct SystemSet {
    const Expression **expression; // [count] NULL: it is wrong
    int *target;                   // [count] among states, then held numbers
    int count;
} SystemSet;

// The index of a name that can be set, among states, then held numbers; -1, which is reported: there is none.
static int find_target(SystemReader *reader, const Node *key)
{
    const System *system = reader->system;
    const int state = equations_find(reader, key->text, SYSTEM_NAME_STATE),
              held = equations_find(reader, key->text, SYSTEM_NAME_HELD);
    if (state >= 0 || held >= 0) return state >= 0 ? state : system->n_states + held;
    if (equations_is_wrong(reader, key->text)) return -1;
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_names);
    int n = 0;
    for (int i = 0; i < reader->n_names; i++)
        if (reader->names[i].kind == SYSTEM_NAME_STATE || reader->names[i].kind == SYSTEM_NAME_HELD)
            names[n++] = reader->names[i].name;
    const bool fixed = equations_find(reader, key->text, SYSTEM_NAME_PARAMETER) >= 0;
    diagnose(reader->diagnostics, key, "'%.60s' is neither a state nor a held number, so it can't be set%s", key->text,
             fixed ? ": it is a parameter" : equations_nearest(reader, key->text, names, n));
    return -1;
}

static SystemSet read_set(SystemReader *reader, const Node *node, const SystemScope *scope)
{
    SystemSet set = {.expression = ARENA_NEW(reader->arena, const Expression *, node->count),
                     .target = ARENA_NEW(reader->arena, int, node->count),
                     .count = node->count};
    for (int i = 0; i < node->count; i++) {
        const char *name = node->keys[i]->text;
        set.target[i] = find_target(reader, node->keys[i]);
        const Expression *expression = equations_expression(reader, node->items[i], scope, name);
        const UnitValue wanted = equations_unit_named(reader, name);
        if (expression == NULL || set.target[i] < 0) continue;
        equations_units(reader, node->items[i], expression, scope, &wanted, name);
        set.expression[i] = expression;
    }
    return set;
}

static const TapeValue *set_values(SystemReader *reader, const SystemSet *set, const SystemScope *scope, int mode)
{
    const int count = reader->system->n_states + reader->system->n_held;
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue, count);
    for (int i = 0; i < count; i++) values[i] = TAPE_NONE;
    for (int i = 0; i < set->count; i++)
        if (set->expression[i] != NULL)
            values[set->target[i]] = equations_value(reader, set->expression[i], scope, mode);
    return values;
}

static const struct {
    const char *key;
    SystemDirection direction;
} event_guards[] = {{"rises", SYSTEM_RISES}, {"falls", SYSTEM_FALLS}, {"crosses", SYSTEM_CROSSES}};

// What an event waits for, as a guard or an instant that all modes share, found once.
typedef struct SystemTrigger {
    const Node *node; // of the guard's or the instant's expression; NULL: none
    int guard, instant;
} SystemTrigger;

static SystemInstant read_instant(SystemReader *reader, const Node *node, bool every)
{
    Tape *tape = reader->system->tape;
    const SystemScope *fixed = equations_scope(reader, -1, true);
    const Expression *expression = equations_expression(reader, node, fixed, every ? "every" : "at");
    const UnitValue second = equations_seconds(reader);
    TapeValue at = TAPE_NONE;
    double number;
    if (expression != NULL) {
        equations_units(reader, node, expression, fixed, &second, every ? "every" : "at");
        at = equations_value(reader, expression, fixed, -1);
    }
    if (at == TAPE_NONE) at = tape_number(tape, 1.0);
    if (reader->system->is_map && tape_is_number(tape, at, &number) && number != floor(number))
        diagnose(reader->diagnostics, node, "%s of a map must be a whole number of iterations", every ? "every" : "at");
    if (reader->system->is_map) at = tape_operation(tape, PROGRAM_CEIL, at, TAPE_NONE, TAPE_NONE);
    if (tape_is_number(tape, at, &number) && !(number > 0.0) && (every || number < 0.0))
        diagnose(reader->diagnostics, node, every ? "every must be greater than 0 s" : "at must not be negative");
    return (SystemInstant){.every = every, .at = at};
}

static SystemTrigger read_trigger(SystemReader *reader, const Node *event)
{
    System *system = reader->system;
    SystemTrigger trigger = {.guard = -1, .instant = -1};
    int given = 0;
    for (size_t i = 0; i < sizeof event_guards / sizeof *event_guards; i++) {
        const Node *node = node_find(event, event_guards[i].key);
        if (node == NULL) continue;
        given++;
        trigger.node = node;
        if (system->n_guards == SYSTEM_GUARDS_MAX) {
            diagnose(reader->diagnostics, node, "a system has at most %d guards", SYSTEM_GUARDS_MAX);
            trigger.node = NULL;
            return trigger;
        }
        trigger.guard = system->n_guards++;
        reader->guards[trigger.guard] = (SystemGuard){event_guards[i].direction};
    }
    for (int every = 0; every < 2; every++) {
        const Node *node = node_find(event, every ? "every" : "at");
        if (node == NULL) continue;
        given++;
        trigger.node = node;
        if (system->n_instants == SYSTEM_GUARDS_MAX) {
            diagnose(reader->diagnostics, node, "a system has at most %d instants", SYSTEM_GUARDS_MAX);
            trigger.node = NULL;
            return trigger;
        }
        trigger.instant = system->n_instants++;
        reader->instants[trigger.instant] = read_instant(reader, node, every);
    }
    if (given == 1) return trigger;
    diagnose(reader->diagnostics, event, "an event needs one of rises, falls, crosses, at and every");
    trigger.node = NULL;
    return trigger;
}

// An event, read once for all the modes that it belongs to.
typedef struct SystemEvent {
    const Node *node;
    const SystemScope *scope;
    SystemTrigger trigger;
    const Expression *guard; // NULL: an instant
    bool sets;
    SystemSet set;
    SystemAction action; // but for the values of `set`
} SystemEvent;

static bool is_comparison(const Expression *expression)
{
    const int operation = expression->steps[expression->count - 1].operation;
    const ExpressionRank rank = expression_operations[operation].rank;
    return rank == RANK_COMPARE || rank == RANK_AND || rank == RANK_OR || rank == RANK_NOT;
}

static void read_guard(SystemReader *reader, SystemEvent *event)
{
    if (event->trigger.guard < 0) return;
    event->guard = equations_expression(reader, event->trigger.node, event->scope, "a guard");
    if (event->guard == NULL) return;
    equations_units(reader, event->trigger.node, event->guard, event->scope, NULL, "a guard");
    if (is_comparison(event->guard))
        diagnose(reader->diagnostics, event->trigger.node,
                 "a guard is a quantity that passes zero, not a comparison: write x - 2 for x > 2");
}

// How an event ends: `to`, `stop` or `fail`.
static void read_ending(SystemReader *reader, SystemEvent *event)
{
    const Node *to = node_find(event->node, "to"), *fail = node_find(event->node, "fail");
    SystemAction *action = &event->action;
    action->stop = equations_truth(reader, event->node, "stop");
    if (to != NULL) action->to = find_mode(reader, to);
    if (fail != NULL && fail->kind == NODE_SCALAR)
        action->failure = failure_number(reader, fail->text, fail);
    else if (fail != NULL)
        diagnose(reader->diagnostics, fail, "fail must be the name of a failure");
    if ((to != NULL) + action->stop + (fail != NULL) > 1)
        diagnose(reader->diagnostics, event->node, "an event has one of to, stop and fail: it can't end in two ways");
}

// The event in a mode.
static void put_event(SystemReader *reader, SystemModes *modes, const SystemEvent *event, int mode)
{
    const System *system = reader->system;
    double number;
    if (modes->n_actions[mode] == SYSTEM_ACTIONS_MAX) {
        diagnose(reader->diagnostics, event->node, "a mode has at most %d events", SYSTEM_ACTIONS_MAX);
        return;
    }
    SystemAction *action = &modes->actions[mode][modes->n_actions[mode]++];
    *action = event->action;
    if (event->sets) action->set = set_values(reader, &event->set, event->scope, mode);
    if (event->guard == NULL) return;
    const TapeValue guard = equations_value(reader, event->guard, event->scope, mode);
    modes->guards[mode][event->trigger.guard] = guard;
    if (guard == TAPE_NONE || reader->let_failed || is_comparison(event->guard)) return;
    if (tape_is_number(system->tape, guard, &number) || system->tape->nodes[guard].depends == TAPE_FIXED)
        diagnose(reader->diagnostics, event->trigger.node,
                 "this guard never changes: it depends on no state, held number or time");
}

// The name that counts and messages have: given, else that of the failure, else made of modes.
static const char *event_name(SystemReader *reader, const Node *event, int mode)
{
    const char *name = equations_text_of(reader, event, "name");
    const Node *fail = node_find(event, "fail"), *to = node_find(event, "to");
    if (name != NULL) return name;
    if (fail != NULL && fail->kind == NODE_SCALAR) return fail->text;
    const bool goes = to != NULL && to->kind == NODE_SCALAR;
    return arena_format(reader->arena, "%s%s%s", mode >= 0 ? mode_name(reader, mode) : "event", goes ? "_to_" : "_",
                        goes ? to->text : "event");
}

// mode -1: of all modes.
static void read_event(SystemReader *reader, SystemModes *modes, const Node *node, int mode)
{
    if (!equations_mapping(reader, node, "an event")) return;
    SystemEvent event = {
        .node = node, .scope = equations_scope(reader, mode, false), .action = {.to = -1, .failure = -1}};
    const Node *set = node_find(node, "set"), *name = node_find(node, "name");
    event.trigger = read_trigger(reader, node);
    event.action.guard = event.trigger.guard;
    event.action.instant = event.trigger.instant;
    event.action.event = event_number(reader, event_name(reader, node, mode), name != NULL ? name : node);
    read_ending(reader, &event);
    if (set != NULL && equations_mapping(reader, set, "set")) {
        event.set = read_set(reader, set, event.scope);
        event.sets = true;
    }
    if (event.trigger.node == NULL) return;
    read_guard(reader, &event);
    for (int m = 0; m < reader->n_modes; m++)
        if (mode < 0 || m == mode) put_event(reader, modes, &event, m);
}

static void read_events(SystemReader *reader, SystemModes *modes)
{
    const Node *shared = equations_section(reader, reader->root, "events", NODE_SEQUENCE);
    for (int m = 0; m < reader->n_modes; m++) {
        const Node *own = reader->mode_keys[m] != NULL && reader->mode_nodes[m]->kind == NODE_MAPPING
                              ? equations_section(reader, reader->mode_nodes[m], "events", NODE_SEQUENCE)
                              : NULL;
        for (int i = 0; own != NULL && i < own->count; i++) read_event(reader, modes, own->items[i], m);
    }
    for (int i = 0; shared != NULL && i < shared->count; i++) read_event(reader, modes, shared->items[i], -1);
}

// A mode that no event leads to is never entered.
static void check_reached(SystemReader *reader, const SystemModes *modes)
{
    bool *reached = ARENA_NEW(reader->arena, bool, reader->n_modes);
    reached[0] = true;
    for (int round = 0; round < reader->n_modes; round++)
        for (int m = 0; m < reader->n_modes; m++)
            for (int a = 0; a < modes->n_actions[m] && reached[m]; a++)
                if (modes->actions[m][a].to >= 0) reached[modes->actions[m][a].to] = true;
    for (int m = 0; m < reader->n_modes; m++)
        if (!reached[m])
            diagnose_warning(reader->diagnostics, reader->mode_keys[m], "no event leads to mode %s",
                             mode_name(reader, m));
}

// ---- metrics --------------------------------------------------------------------------------------------------------

static const struct {
    const char *key;
    SystemReduction reduction;
} metric_keys[] = {{"final", SYSTEM_FINAL}, {"mean", SYSTEM_MEAN}, {"rms", SYSTEM_RMS},
                   {"min", SYSTEM_MIN},     {"max", SYSTEM_MAX},   {"integral", SYSTEM_INTEGRAL},
                   {"count", SYSTEM_COUNT}, {"at", SYSTEM_BEFORE}, {"after", SYSTEM_AFTER},
                   {"first", SYSTEM_FIRST}, {"last", SYSTEM_LAST}, {"part", SYSTEM_PART}};
static const char *const take_words[] = {"first", "last", "mean", "min", "max", "spread"};

typedef struct SystemConditions {
    const Expression **expression; // [count]
    const Node **node;             // [count]
    int count;
    const SystemScope *scope;
} SystemConditions;

static int read_condition(SystemReader *reader, SystemConditions *conditions, const Node *node, const char *what)
{
    const Expression *expression = equations_expression(reader, node, conditions->scope, what);
    if (expression == NULL) return -1;
    equations_units(reader, node, expression, conditions->scope, NULL, what);
    if (!is_comparison(expression)) diagnose(reader->diagnostics, node, "a condition compares, as in x < 0 or x > 1");
    conditions->expression[conditions->count] = expression;
    conditions->node[conditions->count] = node;
    return conditions->count++;
}

static int find_event(SystemReader *reader, const Node *node)
{
    const System *system = reader->system;
    for (int i = 0; i < system->n_events && node->kind == NODE_SCALAR; i++)
        if (strcmp(reader->events[i], node->text) == 0) return i;
    if (node->kind != NODE_SCALAR)
        diagnose(reader->diagnostics, node, "the name of an event is due here");
    else if (system->n_events == 0)
        diagnose(reader->diagnostics, node, "'%.60s' is not an event, and there are none: declare it in `events`",
                 node->text);
    else
        diagnose(reader->diagnostics, node, "'%.60s' is not an event%s", node->text,
                 equations_nearest(reader, node->text, reader->events, system->n_events));
    return -1;
}

static int find_take(SystemReader *reader, const Node *mapping)
{
    const Node *node = node_find(mapping, "take");
    if (node == NULL) return SYSTEM_TAKE_LAST;
    for (int i = 0; i < 6 && node->kind == NODE_SCALAR; i++)
        if (strcmp(take_words[i], node->text) == 0) return i;
    diagnose(reader->diagnostics, node, "take is one of first, last, mean, min, max and spread");
    return SYSTEM_TAKE_LAST;
}

// The expression that a metric reduces, at the node *of; NULL: it has none, or there is an error.
static const Expression *read_metric(SystemReader *reader, const Node *key, const Node *node, SystemMetric *metric,
                                     SystemConditions *conditions, const Node **of)
{
    const Node *given = NULL, *value = node_find(node, "value");
    int count = 0;
    *metric = (SystemMetric){.event = -1, .condition = -1, .integral = -1};
    for (size_t i = 0; i < sizeof metric_keys / sizeof *metric_keys; i++) {
        const Node *found = node_find(node, metric_keys[i].key);
        if (found == NULL) continue;
        count++;
        given = found;
        metric->reduction = metric_keys[i].reduction;
    }
    if (count != 1) {
        diagnose(reader->diagnostics, key,
                 "metric %s needs one of final, mean, rms, min, max, integral, count, at, after, first, last and part",
                 key->text);
        return NULL;
    }
    const bool at_event = metric->reduction == SYSTEM_BEFORE || metric->reduction == SYSTEM_AFTER;
    if (value != NULL && !at_event) diagnose(reader->diagnostics, value, "value belongs to `at` and `after`");
    if (node_find(node, "take") != NULL && !at_event)
        diagnose(reader->diagnostics, node_find(node, "take"), "take belongs to `at` and `after`");
    if (metric->reduction == SYSTEM_COUNT || at_event) metric->event = find_event(reader, given);
    if (metric->reduction == SYSTEM_COUNT) return NULL;
    if (metric->reduction >= SYSTEM_FIRST) {
        metric->condition = read_condition(reader, conditions, given, key->text);
        return NULL;
    }
    if (at_event && value == NULL) {
        diagnose(reader->diagnostics, key, "metric %s needs a value: {at: %s, value: x}", key->text,
                 given->kind == NODE_SCALAR ? given->text : "EVENT");
        return NULL;
    }
    if (at_event) metric->take = (SystemTake)find_take(reader, node);
    *of = at_event ? value : given;
    return equations_expression(reader, *of, conditions->scope, key->text);
}

static bool metric_integrates(const SystemMetric *metric)
{
    return metric->reduction == SYSTEM_MEAN || metric->reduction == SYSTEM_RMS || metric->reduction == SYSTEM_INTEGRAL;
}

// A metric is a column of the trials, beside parameters.
static bool metric_name_is_free(SystemReader *reader, const Node *section, int at)
{
    const Node *key = section->keys[at];
    const char *name = key->text;
    if (!equations_is_word(name) || name_is_reserved(name) || strcmp(name, "survived") == 0) {
        diagnose(reader->diagnostics, key, "'%.60s' can't be the name of a metric%s", name,
                 equations_is_word(name) ? ": it is one of all systems" : ": take letters, digits and _");
        return false;
    }
    for (int p = 0; p < reader->system->n_parameters; p++) {
        const Parameter *parameter = &reader->parameters[p];
        if (strcasecmp(parameter->name, name) != 0) continue;
        diagnose(reader->diagnostics, key, "'%.60s' is the name of a parameter%s: call the metric otherwise", name,
                 parameter->section == SECTION_INITIAL ? ", by which the state's start can be set" : "");
        return false;
    }
    for (int i = 0; i < at; i++) {
        if (strcasecmp(section->keys[i]->text, name) != 0) continue;
        diagnose(reader->diagnostics, key, "the metric '%.60s' differs from another in case only", name);
        return false;
    }
    return true;
}

// The unit of what a metric makes of a value with the unit `of`.
static UnitValue metric_value_unit(SystemReader *reader, const SystemMetric *metric, const UnitValue *of)
{
    const UnitValue second = equations_seconds(reader);
    const Unit one = {.scale = 1.0};
    switch (metric->reduction) {
    case SYSTEM_FINAL:
    case SYSTEM_MEAN:
    case SYSTEM_RMS:
    case SYSTEM_MIN:
    case SYSTEM_MAX:
    case SYSTEM_BEFORE:
    case SYSTEM_AFTER: return *of;
    case SYSTEM_INTEGRAL: return of->kind == UNIT_KNOWN ? unit_product(of, &second, 1) : *of;
    case SYSTEM_FIRST:
    case SYSTEM_LAST: return second;
    case SYSTEM_COUNT:
    case SYSTEM_PART: return unit_known(&one, "1");
    }
    return *of;
}

// The values of a metric's expression in all modes, and of its integral.
static void watch_metric(SystemReader *reader, SystemModes *modes, const SystemMetric *metric,
                         const Expression *expression, const SystemScope *scope)
{
    System *system = reader->system;
    for (int m = 0; m < reader->n_modes; m++) {
        TapeValue watched = expression != NULL ? equations_value(reader, expression, scope, m) : TAPE_NONE;
        modes->watched[m][system->n_metrics] = watched;
        if (!metric_integrates(metric)) continue;
        if (watched != TAPE_NONE && metric->reduction == SYSTEM_RMS)
            watched = tape_operation(system->tape, PROGRAM_MULTIPLY, watched, watched, TAPE_NONE);
        modes->rates[m][system->n_states + metric->integral] =
            watched != TAPE_NONE ? watched : tape_number(system->tape, 0.0);
    }
}

static void read_metrics(SystemReader *reader, SystemModes *modes, SystemConditions *conditions)
{
    System *system = reader->system;
    const Node *section = equations_section(reader, reader->root, "metrics", NODE_MAPPING);
    const int most = section != NULL && section->count <= SYSTEM_METRICS_MAX ? section->count : 0;
    SystemMetric *metrics = ARENA_NEW(reader->arena, SystemMetric, most);
    Field *fields = ARENA_NEW(reader->arena, Field, most);
    if (section != NULL && section->count > SYSTEM_METRICS_MAX)
        diagnose(reader->diagnostics, section->keys[SYSTEM_METRICS_MAX], "a system has at most %d metrics",
                 SYSTEM_METRICS_MAX);
    for (int i = 0; i < most; i++) {
        const Node *key = section->keys[i], *node = section->items[i], *of = NULL;
        SystemMetric *metric = &metrics[system->n_metrics];
        if (!equations_mapping(reader, node, "a metric")) continue;
        if (!metric_name_is_free(reader, section, i)) continue;
        const int errors = diagnostics_errors(reader->diagnostics);
        const Expression *expression = read_metric(reader, key, node, metric, conditions, &of);
        if (diagnostics_errors(reader->diagnostics) > errors || (of != NULL && expression == NULL)) continue;
        UnitValue value = {.kind = UNIT_OPEN};
        if (expression != NULL) value = equations_units(reader, of, expression, conditions->scope, NULL, key->text);
        value = metric_value_unit(reader, metric, &value);
        const char *unit = equations_shown_unit(reader, node, &value, key->text),
                   *doc = equations_text_of(reader, node, "doc");
        if (metric_integrates(metric)) metric->integral = system->n_integrals++;
        fields[system->n_metrics] = (Field){key->text, unit, doc != NULL ? doc : "declared by the system", NULL};
        watch_metric(reader, modes, metric, expression, conditions->scope);
        system->n_metrics++;
    }
    system->metrics = metrics;
    system->metric_fields = fields;
}

// ---- failures and columns -------------------------------------------------------------------------------------------

static void read_failures(SystemReader *reader, SystemConditions *conditions)
{
    const Node *section = equations_section(reader, reader->root, "failures", NODE_MAPPING);
    int *failed = ARENA_NEW(reader->arena, int, section != NULL ? section->count : 0);
    for (int i = 0; section != NULL && i < section->count; i++) {
        const int condition = read_condition(reader, conditions, section->items[i], section->keys[i]->text);
        const int failure = failure_number(reader, section->keys[i]->text, section->keys[i]);
        if (condition >= 0) failed[condition] = failure;
    }
    reader->system->failed = failed;
    reader->system->n_failed = conditions->count;
}

// Whether the name of a column is free; columns have states, held numbers, time and the mode beside them.
static bool column_name_is_free(SystemReader *reader, const Node *key)
{
    const char *name = key->text;
    bool taken = name_is_reserved(name) || strcasecmp(name, "mode") == 0;
    for (int k = 0; k < reader->n_names; k++)
        taken |= strcasecmp(reader->names[k].name, name) == 0 &&
                 (reader->names[k].kind == SYSTEM_NAME_STATE || reader->names[k].kind == SYSTEM_NAME_HELD);
    if (!taken && equations_is_word(name)) return true;
    diagnose(reader->diagnostics, key, "'%.60s' can't be the name of a column%s", name,
             taken ? ": it is one already" : ": take letters, digits and _");
    return false;
}

static void read_columns(SystemReader *reader, SystemModes *modes, const SystemScope *scope)
{
    System *system = reader->system;
    const Node *section = equations_section(reader, reader->root, "columns", NODE_MAPPING);
    const int most = section != NULL && section->count <= SYSTEM_METRICS_MAX ? section->count : 0;
    Field *fields = ARENA_NEW(reader->arena, Field, most);
    if (section != NULL && section->count > SYSTEM_METRICS_MAX)
        diagnose(reader->diagnostics, section->keys[SYSTEM_METRICS_MAX], "a system has at most %d columns of its own",
                 SYSTEM_METRICS_MAX);
    for (int i = 0; i < most; i++) {
        const Node *key = section->keys[i], *node = section->items[i], *value = node;
        if (node->kind == NODE_MAPPING) value = node_find(node, "value");
        if (!column_name_is_free(reader, key)) continue;
        if (value == NULL) diagnose(reader->diagnostics, key, "column %s has no value", key->text);
        const Expression *expression = value != NULL ? equations_expression(reader, value, scope, key->text) : NULL;
        if (expression == NULL) continue;
        const UnitValue is = equations_units(reader, value, expression, scope, NULL, key->text);
        const char *unit = equations_shown_unit(reader, node, &is, key->text),
                   *doc = equations_text_of(reader, node, "doc");
        fields[system->n_shown] = (Field){key->text, unit, doc != NULL ? doc : "declared by the system", "declared"};
        for (int m = 0; m < reader->n_modes; m++)
            modes->columns[m][system->n_shown] = equations_value(reader, expression, scope, m);
        system->n_shown++;
    }
    system->shown = fields;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static TapeValue **values_of_modes(SystemReader *reader, int count)
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
              n_failures = failures != NULL ? failures->count : 0;
    SystemModes modes = {.rates = values_of_modes(reader, reader->system->n_states + n_metrics),
                         .guards = values_of_modes(reader, SYSTEM_GUARDS_MAX),
                         .watched = values_of_modes(reader, n_metrics),
                         .columns = values_of_modes(reader, n_columns),
                         .conditions = values_of_modes(reader, n_metrics + n_failures),
                         .actions = ARENA_NEW(reader->arena, SystemAction *, reader->n_modes),
                         .n_actions = ARENA_NEW(reader->arena, int, reader->n_modes),
                         .points = ARENA_NEW(reader->arena, TapeValue *, reader->n_modes)};
    for (int m = 0; m < reader->n_modes; m++)
        modes.actions[m] = ARENA_NEW(reader->arena, SystemAction, SYSTEM_ACTIONS_MAX);
    return modes;
}

static void read_inputs(SystemReader *reader)
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
        modes[m] = (SystemMode){.name = mode_name(reader, m),
                                .rates = read->rates[m],
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

static void read_conditions(SystemReader *reader, SystemModes *modes, const SystemConditions *conditions)
{
    reader->system->n_conditions = conditions->count;
    for (int k = 0; k < conditions->count; k++) {
        int first = -1;
        for (int m = 0; m < reader->n_modes; m++) {
            const TapeValue value =
                equations_condition(reader, conditions->expression[k], conditions->scope, m, modes->guards, &first);
            modes->conditions[m][k] = value;
            if (first >= 0) continue;
            diagnose(reader->diagnostics, conditions->node[k], "events and conditions compare more than %d times",
                     SYSTEM_GUARDS_MAX);
            return;
        }
    }
}

// Shorthands that nothing uses: a name was mistyped, or they are left over.
static void check_used(SystemReader *reader)
{
    for (int i = 0; i < reader->n_lets; i++) {
        const SystemName *name = &reader->names[reader->lets[i].name];
        if (!name->used) diagnose_warning(reader->diagnostics, name->key, "nothing uses %s", name->name);
    }
}

static SystemReader reader_new(const Node *node, Arena *arena, Diagnostics *diagnostics)
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
                          .parameters =
                              ARENA_NEW(arena, Parameter, SYSTEM_PARAMETERS_MAX + SYSTEM_STATES_MAX + SYSTEM_HELD_MAX),
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
    const int most = (failures != NULL ? failures->count : 0) + (metrics != NULL ? metrics->count : 0);
    SystemConditions conditions = {.scope = equations_scope_of_any(reader),
                                   .expression = ARENA_NEW(reader->arena, const Expression *, most),
                                   .node = ARENA_NEW(reader->arena, const Node *, most)};
    bool *is_position = ARENA_NEW(reader->arena, bool, reader->system->n_states);
    read_rates(reader, modes, is_position);
    reader->system->is_position = is_position;
    read_starts(reader);
    read_events(reader, modes);
    read_failures(reader, &conditions);
    read_metrics(reader, modes, &conditions);
    read_columns(reader, modes, conditions.scope);
    equations_read_drawing(reader, node_find(reader->root, "drawing"), modes->points);
    read_conditions(reader, modes, &conditions);
}

const System *equations_read(const Node *node, Arena *arena, Diagnostics *diagnostics)
{
    SystemReader reader = reader_new(node, arena, diagnostics);
    System *system = reader.system;
    const int errors = diagnostics_errors(diagnostics);
    if (!equations_mapping(&reader, node, "system")) return NULL;
    reader.root = equations_repair(&reader, node);
    system->tape = tape_new(arena);
    read_modes(&reader);
    read_kind(&reader);
    equations_declare(&reader);
    if (system->n_states == 0 && reader.n_wrong == 0 && node_find(reader.root, "states") == NULL)
        diagnose(diagnostics, node, "the system has no states: states: {x: {start: 0, unit: m}}");
    else if (system->n_states == 0 && reader.n_wrong == 0 && diagnostics_errors(diagnostics) == errors)
        diagnose(diagnostics, node_find(reader.root, "states"),
                 "states must be a mapping of names: {x: {start: 0, unit: m}}");
    read_inputs(&reader);
    equations_read_lets(&reader);
    equations_let_units(&reader);
    SystemModes modes = modes_new(&reader);
    read_sections(&reader, &modes);
    if (system->tape->full)
        diagnose(diagnostics, node, "the equations are too long: more than %d operations", TAPE_VALUES_MAX);
    if (diagnostics_errors(diagnostics) > errors) return NULL;
    check_reached(&reader, &modes);
    check_used(&reader);
    take_modes(&reader, &modes);
    system->n_expressions = reader.n_expressions;
    system->n_checked = reader.n_checked;
    system->unitless = equations_unitless(&reader);
    system->parameters = reader.parameters;
    system->guards = reader.guards;
    system->instants = reader.instants;
    system->failures = reader.failures;
    system->events = reader.events;
    system->text = equations_text(node, arena);
    return system;
}
