// Reading the events of a system: what they wait for, what they set, where they lead.
#include "equations.h"

#include <math.h>
#include <string.h>

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

int equations_failure_number(SystemReader *reader, const char *name, const Node *at)
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
    if (state >= 0 && reader->law) {
        diagnose(reader->diagnostics, key, "%.60s is a column of the model: a law can set what it holds", key->text);
        return -1;
    }
    if (state >= 0 || held >= 0) return state >= 0 ? state : system->n_states + held;
    if (equations_is_wrong(reader, key->text)) return -1;
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_names);
    int n = 0;
    for (int i = 0; i < reader->n_names; i++)
        if (reader->names[i].kind == SYSTEM_NAME_STATE || reader->names[i].kind == SYSTEM_NAME_HELD)
            names[n++] = reader->names[i].name;
    const bool fixed = equations_find(reader, key->text, SYSTEM_NAME_PARAMETER) >= 0,
               input = equations_find(reader, key->text, SYSTEM_NAME_INPUT) >= 0;
    diagnose(reader->diagnostics, key, "'%.60s' is neither a state nor a held number, so it can't be set%s", key->text,
             fixed   ? ": it is a parameter"
             : input ? ": it is an input"
                     : equations_nearest(reader, key->text, names, n));
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
    TapeValue rows; // of rows of an input: the guard. TAPE_NONE: its expression is read
} SystemTrigger;

static bool trigger_has_room(SystemReader *reader, const Node *node, int count, const char *what)
{
    if (count < SYSTEM_GUARDS_MAX) return true;
    diagnose(reader->diagnostics, node, "a system has at most %d %s", SYSTEM_GUARDS_MAX, what);
    return false;
}

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

// `rows: INPUT`: at each row of what was recorded. The first one is an instant. False after an error.
static bool read_rows(SystemReader *reader, const Node *node, SystemTrigger *trigger)
{
    System *system = reader->system;
    const bool word = node->kind == NODE_SCALAR;
    const int input = word ? equations_find(reader, node->text, SYSTEM_NAME_INPUT) : -1;
    const SystemInput *of = input >= 0 ? &reader->inputs[input] : NULL;
    double first;
    if (of != NULL && of->clock < 0 && of->tape >= 0)
        diagnose(reader->diagnostics, node, "rows of a map: each iteration is one, so write every: 1");
    else if (of == NULL ? !word || !equations_is_wrong(reader, node->text) : of->action >= 0)
        diagnose(reader->diagnostics, node, "rows is %s, expected an input with a file, or with at and values",
                 word ? arena_format(reader->arena, "'%.60s'", text_visible(node->text, reader->arena)) : "no name");
    if (of == NULL || of->clock < 0) return false;
    if (!trigger_has_room(reader, node, system->n_guards, "guards")) return false;
    trigger->rows = equations_rows_guard(reader, input, &reader->guards[system->n_guards], &first);
    trigger->guard = system->n_guards++;
    if (first < 0.0) return true;
    if (!trigger_has_room(reader, node, system->n_instants, "instants")) return false;
    reader->instants[system->n_instants] = (SystemInstant){.at = tape_number(system->tape, first)};
    trigger->instant = system->n_instants++;
    return true;
}

static SystemTrigger read_trigger(SystemReader *reader, const Node *event)
{
    System *system = reader->system;
    SystemTrigger trigger = {.guard = -1, .instant = -1, .rows = TAPE_NONE};
    const Node *rows = node_find(event, "rows");
    int given = rows != NULL;
    for (size_t i = 0; i < sizeof event_guards / sizeof *event_guards; i++) {
        const Node *node = node_find(event, event_guards[i].key);
        if (node == NULL) continue;
        given++;
        trigger.node = node;
        if (!trigger_has_room(reader, node, system->n_guards, "guards")) return (SystemTrigger){.guard = -1};
        trigger.guard = system->n_guards++;
        reader->guards[trigger.guard] = (SystemGuard){.direction = event_guards[i].direction};
    }
    for (int every = 0; every < 2; every++) {
        const Node *node = node_find(event, every ? "every" : "at");
        if (node == NULL) continue;
        given++;
        trigger.node = node;
        if (!trigger_has_room(reader, node, system->n_instants, "instants")) return (SystemTrigger){.guard = -1};
        trigger.instant = system->n_instants++;
        reader->instants[trigger.instant] = read_instant(reader, node, every);
    }
    if (given == 1 && (rows == NULL || read_rows(reader, rows, &trigger))) {
        trigger.node = rows != NULL ? rows : trigger.node;
        return trigger;
    }
    if (given != 1)
        diagnose(reader->diagnostics, event, "an event needs one of rises, falls, crosses, at, every and rows");
    trigger.node = NULL;
    return trigger;
}

// An event, read once for all the modes that it belongs to.
typedef struct SystemEvent {
    const Node *node;
    const SystemScope *scope;
    SystemTrigger trigger;
    const Expression *guard; // NULL: an instant, or rows
    bool sets;
    SystemSet set;
    SystemAction action; // but for the values of `set`
} SystemEvent;

bool equations_is_comparison(const Expression *expression)
{
    const int operation = expression->steps[expression->count - 1].operation;
    const ExpressionRank rank = expression_operations[operation].rank;
    return rank == RANK_COMPARE || rank == RANK_AND || rank == RANK_OR || rank == RANK_NOT;
}

static void read_guard(SystemReader *reader, SystemEvent *event)
{
    if (event->trigger.guard < 0 || event->trigger.rows != TAPE_NONE) return;
    event->guard = equations_expression(reader, event->trigger.node, event->scope, "a guard");
    if (event->guard == NULL) return;
    equations_units(reader, event->trigger.node, event->guard, event->scope, NULL, "a guard");
    if (equations_is_comparison(event->guard))
        diagnose(reader->diagnostics, event->trigger.node,
                 "a guard is a quantity that passes zero, not a comparison: write x - 2 for x > 2");
}

// How an event ends: `to`, `stop` or `fail`.
static void read_ending(SystemReader *reader, SystemEvent *event)
{
    const Node *to = node_find(event->node, "to"), *fail = node_find(event->node, "fail");
    SystemAction *action = &event->action;
    action->stop = equations_truth(reader, event->node, "stop");
    if (to != NULL) action->to = equations_find_mode(reader, to);
    if (fail != NULL && fail->kind == NODE_SCALAR)
        action->failure = equations_failure_number(reader, fail->text, fail);
    else if (fail != NULL)
        diagnose(reader->diagnostics, fail, "fail must be the name of a failure");
    if ((to != NULL) + action->stop + (fail != NULL) > 1)
        diagnose(reader->diagnostics, event->node, "an event has one of to, stop and fail: it can't end in two ways");
}

// Adds an action of an event, at a guard or at an instant, to a mode.
static void put_action(SystemReader *reader, SystemModes *modes, const SystemEvent *event, int mode, int guard,
                       int instant)
{
    if (modes->n_actions[mode] == SYSTEM_ACTIONS_MAX) {
        diagnose(reader->diagnostics, event->node, "a mode has at most %d events", SYSTEM_ACTIONS_MAX);
        return;
    }
    SystemAction *action = &modes->actions[mode][modes->n_actions[mode]++];
    *action = event->action;
    action->guard = guard;
    action->instant = instant;
    if (event->sets) action->set = set_values(reader, &event->set, event->scope, mode);
}

// The event in a mode.
static void put_event(SystemReader *reader, SystemModes *modes, const SystemEvent *event, int mode)
{
    const SystemTrigger *trigger = &event->trigger;
    double number;
    if (trigger->instant >= 0) put_action(reader, modes, event, mode, -1, trigger->instant);
    if (trigger->guard < 0) return;
    put_action(reader, modes, event, mode, trigger->guard, -1);
    if (trigger->rows != TAPE_NONE) modes->guards[mode][trigger->guard] = trigger->rows;
    if (event->guard == NULL) return;
    const TapeValue guard = equations_value(reader, event->guard, event->scope, mode);
    modes->guards[mode][trigger->guard] = guard;
    if (guard == TAPE_NONE || reader->let_failed || equations_is_comparison(event->guard)) return;
    if (tape_is_number(reader->system->tape, guard, &number) ||
        reader->system->tape->nodes[guard].depends == TAPE_FIXED)
        diagnose(reader->diagnostics, trigger->node,
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
    return arena_format(reader->arena, "%s%s%s", mode >= 0 ? equations_mode_name(reader, mode) : "event",
                        goes ? "_to_" : "_", goes ? to->text : "event");
}

// mode -1: of all modes.
static void read_event(SystemReader *reader, SystemModes *modes, const Node *node, int mode)
{
    if (!equations_mapping(reader, node, "an event")) return;
    SystemEvent event = {
        .node = node, .scope = equations_scope(reader, mode, false), .action = {.to = -1, .failure = -1}};
    const Node *set = node_find(node, "set"), *name = node_find(node, "name");
    event.trigger = read_trigger(reader, node);
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

void equations_read_events(SystemReader *reader, SystemModes *modes)
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
void equations_check_reached(SystemReader *reader, const SystemModes *modes)
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
                             equations_mode_name(reader, m));
}
