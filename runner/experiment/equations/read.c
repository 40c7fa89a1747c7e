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

static const Node *section_of(SystemReader *reader, const Node *mapping, const char *name, NodeKind kind)
{
    const Node *node = node_find(mapping, name);
    if (node == NULL || node->kind == kind) return node;
    diagnose(reader->diagnostics, node, "%s must be a %s", name, kind == NODE_MAPPING ? "mapping" : "list");
    return NULL;
}

static const char *mode_name(const SystemReader *reader, int mode)
{
    return reader->mode_keys[mode] != NULL ? reader->mode_keys[mode]->text : "motion";
}

// ---- modes ----------------------------------------------------------------------------------------------------------

static const char *const mode_words = "let|rates|events|doc";

static void read_modes(SystemReader *reader)
{
    const Node *modes = section_of(reader, reader->root, "modes", NODE_MAPPING);
    reader->n_modes = modes != NULL && modes->count > 0 ? modes->count : 1;
    if (reader->n_modes > SYSTEM_MODES_MAX) {
        diagnose(reader->diagnostics, modes, "a system has at most %d modes", SYSTEM_MODES_MAX);
        reader->n_modes = SYSTEM_MODES_MAX;
    }
    reader->mode_nodes = ARENA_NEW(reader->arena, const Node *, reader->n_modes);
    reader->mode_keys = ARENA_NEW(reader->arena, const Node *, reader->n_modes);
    for (int m = 0; m < reader->n_modes; m++) {
        reader->mode_nodes[m] = modes != NULL && modes->count > 0 ? modes->items[m] : reader->root;
        reader->mode_keys[m] = modes != NULL && modes->count > 0 ? modes->keys[m] : NULL;
        if (reader->mode_keys[m] == NULL || !equations_mapping(reader, reader->mode_nodes[m], "a mode")) continue;
        equations_check_keys(reader, reader->mode_nodes[m], mode_words, "a mode");
    }
}

static int find_mode(SystemReader *reader, const Node *node)
{
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_modes);
    for (int m = 0; m < reader->n_modes; m++) {
        names[m] = mode_name(reader, m);
        if (node->kind == NODE_SCALAR && reader->mode_keys[m] != NULL && strcmp(names[m], node->text) == 0) return m;
    }
    diagnose(reader->diagnostics, node, "'%.60s' is not a mode%s", node->kind == NODE_SCALAR ? node->text : "",
             node->kind == NODE_SCALAR ? equations_nearest(reader, node->text, names, reader->n_modes) : "");
    return -1;
}

// ---- rates ----------------------------------------------------------------------------------------------------------

// The node of a state's rate in a mode: its own, else that of the system.
static const Node *rate_node(SystemReader *reader, int mode, const char *state)
{
    const char *section = reader->system->is_map ? "next" : "rates";
    const Node *own = reader->mode_keys[mode] != NULL ? node_find(reader->mode_nodes[mode], section) : NULL;
    const Node *shared = node_find(reader->root, section);
    const Node *node = own != NULL ? node_find(own, state) : NULL;
    return node != NULL ? node : shared != NULL ? node_find(shared, state) : NULL;
}

static void check_rates(SystemReader *reader, const Node *mapping)
{
    const char *section = reader->system->is_map ? "next" : "rates";
    const Node *rates = mapping != NULL ? section_of(reader, mapping, section, NODE_MAPPING) : NULL;
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_names);
    int n = 0;
    for (int i = 0; i < reader->n_names; i++)
        if (reader->names[i].kind == SYSTEM_NAME_STATE) names[n++] = reader->names[i].name;
    for (int i = 0; rates != NULL && i < rates->count; i++) {
        if (equations_find(reader, rates->keys[i]->text, SYSTEM_NAME_STATE) >= 0) continue;
        diagnose(reader->diagnostics, rates->keys[i], "'%.60s' is not a state%s", rates->keys[i]->text,
                 equations_nearest(reader, rates->keys[i]->text, names, n));
    }
}

static void read_rates(SystemReader *reader, SystemModes *modes, bool *is_position)
{
    System *system = reader->system;
    check_rates(reader, reader->root);
    for (int i = 0; i < system->n_states; i++) is_position[i] = true;
    for (int m = 0; m < reader->n_modes; m++) {
        const SystemScope scope = equations_scope(reader, m, false);
        if (reader->mode_keys[m] != NULL) check_rates(reader, reader->mode_nodes[m]);
        for (int i = 0, state = 0; i < reader->n_names; i++) {
            if (reader->names[i].kind != SYSTEM_NAME_STATE) continue;
            const SystemName *name = &reader->names[i];
            const Node *node = rate_node(reader, m, name->name);
            TapeValue value = tape_number(system->tape, 0.0);
            if (node == NULL)
                diagnose(reader->diagnostics, reader->mode_keys[m] != NULL ? reader->mode_keys[m] : name->key,
                         "state %s has no %s in mode %s; for one that does not change write %s", name->name,
                         system->is_map ? "next value" : "rate", mode_name(reader, m),
                         system->is_map ? arena_format(reader->arena, "%s: %s", name->name, name->name)
                                        : arena_format(reader->arena, "%s: 0", name->name));
            const Expression *expression = node != NULL ? equations_expression(reader, node, &scope, name->name) : NULL;
            if (expression != NULL) value = equations_value(reader, expression, &scope, m);
            const TapeNode *what = &system->tape->nodes[value];
            is_position[state] &= what->operation == TAPE_INPUT && what->a >= SYSTEM_STATE(0) &&
                                  what->a < SYSTEM_STATE(system->n_states) && what->a != SYSTEM_STATE(state);
            modes->rates[m][state++] = value;
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
    const Expression *expression = node != NULL ? equations_expression(reader, node, scope, name->name) : NULL;
    return expression != NULL ? equations_value(reader, expression, scope, -1) : tape_number(system->tape, 0.0);
}

static void read_starts(SystemReader *reader)
{
    System *system = reader->system;
    TapeValue *start = ARENA_NEW(reader->arena, TapeValue, system->n_states + system->n_held);
    double *scale = ARENA_NEW(reader->arena, double, system->n_states);
    Field *states = ARENA_NEW(reader->arena, Field, system->n_states);
    Field *held = ARENA_NEW(reader->arena, Field, system->n_held);
    const SystemScope fixed = equations_scope(reader, -1, true);
    for (int i = 0; i < reader->n_names; i++) {
        const SystemName *name = &reader->names[i];
        const bool is_held = name->kind == SYSTEM_NAME_HELD;
        if (name->kind != SYSTEM_NAME_STATE && !is_held) continue;
        const Field field = {name->name, name->unit != NULL ? name->unit : "1",
                             name->doc != NULL ? name->doc
                             : is_held         ? "held between events"
                                               : "a state",
                             is_held ? "held" : "state"};
        start[is_held ? system->n_states + name->index : name->index] = read_start(reader, name, &fixed);
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
    if (reader->system->n_events == SYSTEM_EVENTS_MAX) {
        diagnose(reader->diagnostics, at, "a system has at most %d names of events", SYSTEM_EVENTS_MAX);
        return 0;
    }
    reader->event_at[reader->system->n_events] = at;
    reader->events[reader->system->n_events] = name;
    return reader->system->n_events++;
}

static int failure_number(SystemReader *reader, const char *name, const Node *at)
{
    static const char *const own[] = {"none", "diverged", "zeno", "step_too_small", "solver", "limit", NON_FINITE};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(own[i], name) != 0) continue;
        diagnose(reader->diagnostics, at, "the failure '%s' is one that every system has: take another name", name);
        return 0;
    }
    for (int i = 0; i < reader->system->n_failures; i++)
        if (strcmp(reader->failures[i], name) == 0) return i;
    if (!expression_letter(name[0]) || (size_t)expression_word_length(name) != strlen(name) || strlen(name) > 64 ||
        reader->system->n_failures == SYSTEM_EVENTS_MAX) {
        diagnose(reader->diagnostics, at, "'%.60s' can't be the name of a failure", name);
        return 0;
    }
    reader->failures[reader->system->n_failures] = name;
    return reader->system->n_failures++;
}

static const TapeValue *read_set(SystemReader *reader, const Node *set, const SystemScope *scope)
{
    System *system = reader->system;
    const int count = system->n_states + system->n_held;
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue, count);
    for (int i = 0; i < count; i++) values[i] = TAPE_NONE;
    for (int i = 0; i < set->count; i++) {
        const char *name = set->keys[i]->text;
        const int state = equations_find(reader, name, SYSTEM_NAME_STATE),
                  held = equations_find(reader, name, SYSTEM_NAME_HELD);
        const Expression *expression = equations_expression(reader, set->items[i], scope, name);
        if (state < 0 && held < 0) {
            diagnose(reader->diagnostics, set->keys[i],
                     "'%.60s' is neither a state nor a held number, so it can't be set", name);
            continue;
        }
        if (expression != NULL)
            values[state >= 0 ? state : system->n_states + held] =
                equations_value(reader, expression, scope, scope->mode);
    }
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
        const SystemScope fixed = equations_scope(reader, -1, true);
        const Expression *expression = equations_expression(reader, node, &fixed, every ? "every" : "at");
        double number;
        trigger.instant = system->n_instants++;
        TapeValue at =
            expression != NULL ? equations_value(reader, expression, &fixed, -1) : tape_number(system->tape, 1.0);
        if (system->is_map && tape_is_number(system->tape, at, &number) && number != floor(number))
            diagnose(reader->diagnostics, node, "%s of a map must be a whole number of iterations", every ? "every" : "at");
        if (system->is_map) at = tape_operation(system->tape, PROGRAM_CEIL, at, TAPE_NONE, TAPE_NONE);
        if (tape_is_number(system->tape, at, &number) && !(number > 0.0) && (every || number < 0.0))
            diagnose(reader->diagnostics, node, every ? "every must be greater than 0 s" : "at must not be negative");
        reader->instants[trigger.instant] = (SystemInstant){.every = every, .at = at};
    }
    if (given == 1) return trigger;
    diagnose(reader->diagnostics, event, "an event needs one of rises, falls, crosses, at and every");
    trigger.node = NULL;
    return trigger;
}

// The action of an event in a mode.
static void read_event_in(SystemReader *reader, SystemModes *modes, const Node *event, const SystemTrigger *trigger,
                          int mode, int number, bool shared)
{
    System *system = reader->system;
    const SystemScope scope = equations_scope(reader, shared ? -1 : mode, false);
    const Node *to = node_find(event, "to"), *set = node_find(event, "set"), *fail = node_find(event, "fail");
    const int before = diagnostics_errors(reader->diagnostics);
    if (modes->n_actions[mode] == SYSTEM_ACTIONS_MAX) {
        diagnose(reader->diagnostics, event, "a mode has at most %d events", SYSTEM_ACTIONS_MAX);
        return;
    }
    SystemAction *action = &modes->actions[mode][modes->n_actions[mode]++];
    *action = (SystemAction){.guard = trigger->guard,
                             .instant = trigger->instant,
                             .event = number,
                             .to = to != NULL ? find_mode(reader, to) : -1,
                             .stop = equations_truth(reader, event, "stop"),
                             .failure = -1};
    if (fail != NULL && fail->kind == NODE_SCALAR)
        action->failure = failure_number(reader, fail->text, fail);
    else if (fail != NULL)
        diagnose(reader->diagnostics, fail, "fail must be the name of a failure");
    if (set != NULL && equations_mapping(reader, set, "set")) action->set = read_set(reader, set, &scope);
    if (trigger->guard < 0 || diagnostics_errors(reader->diagnostics) > before) return;
    const Expression *expression = equations_expression(reader, trigger->node, &scope, "a guard");
    double number_of;
    if (expression == NULL) return;
    const TapeValue guard = equations_value(reader, expression, &scope, mode);
    modes->guards[mode][trigger->guard] = guard;
    if (tape_is_number(system->tape, guard, &number_of) || system->tape->nodes[guard].depends == TAPE_FIXED)
        diagnose(reader->diagnostics, trigger->node,
                 "this guard never changes: it depends on no state, held number or time");
}

static void read_event(SystemReader *reader, SystemModes *modes, const Node *event, int mode)
{
    if (!equations_mapping(reader, event, "an event")) return;
    equations_check_keys(reader, event, "name|rises|falls|crosses|at|every|to|set|stop|fail|doc", "an event");
    const char *name = equations_text_of(reader, event, "name");
    const Node *fail = node_find(event, "fail"), *to = node_find(event, "to");
    const SystemTrigger trigger = read_trigger(reader, event);
    if (trigger.node == NULL) return;
    if (name == NULL && fail != NULL && fail->kind == NODE_SCALAR) name = fail->text;
    if (name == NULL)
        name = arena_format(reader->arena, "%s%s%s", mode >= 0 ? mode_name(reader, mode) : "event",
                            to != NULL && to->kind == NODE_SCALAR ? "_to_" : "_",
                            to != NULL && to->kind == NODE_SCALAR ? to->text : "event");
    const int number = event_number(reader, name, event);
    for (int m = 0; m < reader->n_modes; m++) {
        const int errors = diagnostics_errors(reader->diagnostics);
        if (mode < 0 || m == mode) read_event_in(reader, modes, event, &trigger, m, number, mode < 0);
        if (diagnostics_errors(reader->diagnostics) > errors) return; // once is enough
    }
}

static void read_events(SystemReader *reader, SystemModes *modes)
{
    const Node *shared = section_of(reader, reader->root, "events", NODE_SEQUENCE);
    for (int m = 0; m < reader->n_modes; m++) {
        const Node *own = reader->mode_keys[m] != NULL && reader->mode_nodes[m]->kind == NODE_MAPPING
                              ? section_of(reader, reader->mode_nodes[m], "events", NODE_SEQUENCE)
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
static const char *const metric_words =
    "final|mean|rms|min|max|integral|count|at|after|first|last|part|value|take|unit|doc";
static const char *const take_words[] = {"first", "last", "mean", "min", "max", "spread"};

typedef struct SystemConditions {
    const Expression **expression; // [count]
    int count;
    SystemScope scope;
} SystemConditions;

static int read_condition(SystemReader *reader, SystemConditions *conditions, const Node *node, const char *what)
{
    const Expression *expression = equations_expression(reader, node, &conditions->scope, what);
    if (expression == NULL) return -1;
    conditions->expression[conditions->count] = expression;
    return conditions->count++;
}

static int find_event(SystemReader *reader, const Node *node)
{
    for (int i = 0; i < reader->system->n_events && node->kind == NODE_SCALAR; i++)
        if (strcmp(reader->events[i], node->text) == 0) return i;
    diagnose(reader->diagnostics, node, "'%.60s' is not an event%s", node->kind == NODE_SCALAR ? node->text : "",
             node->kind == NODE_SCALAR ? equations_nearest(reader, node->text, reader->events, reader->system->n_events)
                                       : "");
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

static const Expression *read_metric(SystemReader *reader, const Node *key, const Node *node, SystemMetric *metric,
                                     SystemConditions *conditions)
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
    return equations_expression(reader, at_event ? value : given, &conditions->scope, key->text);
}

static void read_metrics(SystemReader *reader, SystemModes *modes, SystemConditions *conditions)
{
    System *system = reader->system;
    const Node *section = section_of(reader, reader->root, "metrics", NODE_MAPPING);
    const int most = section != NULL ? section->count : 0;
    SystemMetric *metrics = ARENA_NEW(reader->arena, SystemMetric, most);
    Field *fields = ARENA_NEW(reader->arena, Field, most);
    if (most > SYSTEM_METRICS_MAX) {
        diagnose(reader->diagnostics, section, "a system has at most %d metrics", SYSTEM_METRICS_MAX);
        return;
    }
    for (int i = 0; i < most; i++) {
        const Node *key = section->keys[i], *node = section->items[i];
        const char *name = key->text;
        SystemMetric *metric = &metrics[system->n_metrics];
        if (!equations_mapping(reader, node, "a metric")) continue;
        equations_check_keys(reader, node, metric_words, "a metric");
        if (!expression_letter(name[0]) || (size_t)expression_word_length(name) != strlen(name) || strlen(name) > 64 ||
            name_is_reserved(name) || strcmp(name, "survived") == 0) {
            diagnose(reader->diagnostics, key, "'%.60s' can't be the name of a metric", name);
            continue;
        }
        const int errors = diagnostics_errors(reader->diagnostics);
        const Expression *expression = read_metric(reader, key, node, metric, conditions);
        if (diagnostics_errors(reader->diagnostics) > errors) continue;
        const bool integral =
            metric->reduction == SYSTEM_MEAN || metric->reduction == SYSTEM_RMS || metric->reduction == SYSTEM_INTEGRAL;
        if (integral) metric->integral = system->n_integrals++;
        const char *unit = equations_text_of(reader, node, "unit"), *doc = equations_text_of(reader, node, "doc");
        const bool time = metric->reduction == SYSTEM_FIRST || metric->reduction == SYSTEM_LAST;
        fields[system->n_metrics] = (Field){name,
                                            unit != NULL ? unit
                                            : time       ? "s"
                                                         : "1",
                                            doc != NULL ? doc : "declared by the system", NULL};
        for (int m = 0; m < reader->n_modes; m++) {
            TapeValue watched =
                expression != NULL ? equations_value(reader, expression, &conditions->scope, m) : TAPE_NONE;
            modes->watched[m][system->n_metrics] = watched;
            if (!integral) continue;
            if (watched != TAPE_NONE && metric->reduction == SYSTEM_RMS)
                watched = tape_operation(system->tape, PROGRAM_MULTIPLY, watched, watched, TAPE_NONE);
            modes->rates[m][system->n_states + metric->integral] =
                watched != TAPE_NONE ? watched : tape_number(system->tape, 0.0);
        }
        system->n_metrics++;
    }
    system->metrics = metrics;
    system->metric_fields = fields;
}

// ---- failures and columns -------------------------------------------------------------------------------------------

static void read_failures(SystemReader *reader, SystemConditions *conditions)
{
    const Node *section = section_of(reader, reader->root, "failures", NODE_MAPPING);
    int *failed = ARENA_NEW(reader->arena, int, section != NULL ? section->count : 0);
    for (int i = 0; section != NULL && i < section->count; i++) {
        const int condition = read_condition(reader, conditions, section->items[i], section->keys[i]->text);
        const int failure = failure_number(reader, section->keys[i]->text, section->keys[i]);
        if (condition >= 0) failed[condition] = failure;
    }
    reader->system->failed = failed;
    reader->system->n_failed = conditions->count;
}

static void read_columns(SystemReader *reader, SystemModes *modes, const SystemScope *scope)
{
    System *system = reader->system;
    const Node *section = section_of(reader, reader->root, "columns", NODE_MAPPING);
    Field *fields = ARENA_NEW(reader->arena, Field, section != NULL ? section->count : 0);
    for (int i = 0; section != NULL && i < section->count; i++) {
        const Node *key = section->keys[i], *node = section->items[i], *value = node;
        const char *unit = NULL, *doc = NULL;
        if (node->kind == NODE_MAPPING) {
            equations_check_keys(reader, node, "value|unit|doc", "a column");
            value = node_find(node, "value");
            unit = equations_text_of(reader, node, "unit");
            doc = equations_text_of(reader, node, "doc");
        }
        bool taken = name_is_reserved(key->text) || strcmp(key->text, "mode") == 0;
        for (int k = 0; k < reader->n_names; k++)
            taken |= strcmp(reader->names[k].name, key->text) == 0 &&
                     (reader->names[k].kind == SYSTEM_NAME_STATE || reader->names[k].kind == SYSTEM_NAME_HELD);
        if (taken || !expression_letter(key->text[0]) ||
            (size_t)expression_word_length(key->text) != strlen(key->text)) {
            diagnose(reader->diagnostics, key, "'%.60s' can't be the name of a column%s", key->text,
                     taken ? ": it is one already" : "");
            continue;
        }
        const Expression *expression = value != NULL ? equations_expression(reader, value, scope, key->text) : NULL;
        if (value == NULL) diagnose(reader->diagnostics, key, "column %s has no value", key->text);
        if (expression == NULL) continue;
        fields[system->n_shown] =
            (Field){key->text, unit != NULL ? unit : "1", doc != NULL ? doc : "declared by the system", "declared"};
        for (int m = 0; m < reader->n_modes; m++)
            modes->columns[m][system->n_shown] = equations_value(reader, expression, scope, m);
        system->n_shown++;
    }
    system->shown = fields;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static const char *const equations_words =
    "parameters|states|held|let|rates|next|modes|events|metrics|failures|columns|drawing|doc";

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
    for (int k = 0; k < conditions->count; k++) {
        int first = -1;
        for (int m = 0; m < reader->n_modes; m++) {
            const TapeValue value =
                equations_condition(reader, conditions->expression[k], &conditions->scope, m, modes->guards, &first);
            modes->conditions[m][k] = value;
        }
    }
    reader->system->n_conditions = conditions->count;
    if (reader->system->n_guards > SYSTEM_GUARDS_MAX)
        diagnose(reader->diagnostics, reader->root, "events and conditions compare more than %d times",
                 SYSTEM_GUARDS_MAX);
}

const System *equations_read(const Node *node, Arena *arena, Diagnostics *diagnostics)
{
    SystemReader reader = {.arena = arena,
                           .diagnostics = diagnostics,
                           .root = node,
                           .system = ARENA_NEW(arena, System, 1),
                           .names = ARENA_NEW(arena, SystemName, SYSTEM_NAMES_MAX + 1),
                           .lets = ARENA_NEW(arena, SystemLet, SYSTEM_LETS_MAX),
                           .parameters =
                               ARENA_NEW(arena, Parameter, SYSTEM_PARAMETERS_MAX + SYSTEM_STATES_MAX + SYSTEM_HELD_MAX),
                           .events = ARENA_NEW(arena, const char *, SYSTEM_EVENTS_MAX),
                           .event_at = ARENA_NEW(arena, const Node *, SYSTEM_EVENTS_MAX),
                           .failures = ARENA_NEW(arena, const char *, SYSTEM_EVENTS_MAX),
                           .guards = ARENA_NEW(arena, SystemGuard, SYSTEM_GUARDS_MAX),
                           .instants = ARENA_NEW(arena, SystemInstant, SYSTEM_GUARDS_MAX)};
    System *system = reader.system;
    const int errors = diagnostics_errors(diagnostics);
    if (!equations_mapping(&reader, node, "system")) return NULL;
    equations_check_keys(&reader, node, equations_words, "system");
    system->tape = tape_new(arena);
    system->is_map = node_find(node, "next") != NULL;
    if (system->is_map && node_find(node, "rates") != NULL)
        diagnose(diagnostics, node_find(node, "next"), "a system has rates or next values, not both");
    read_modes(&reader);
    equations_declare(&reader);
    if (system->n_states == 0) diagnose(diagnostics, node, "the system has no states: states: {x: {start: 0}}");
    read_inputs(&reader);
    equations_read_lets(&reader);
    SystemModes modes = modes_new(&reader);
    SystemConditions conditions = {.scope = equations_scope_of_any(&reader)};
    const Node *failures = node_find(node, "failures"), *metrics = node_find(node, "metrics");
    conditions.expression = ARENA_NEW(
        arena, const Expression *, (failures != NULL ? failures->count : 0) + (metrics != NULL ? metrics->count : 0));
    bool *is_position = ARENA_NEW(arena, bool, system->n_states);
    read_rates(&reader, &modes, is_position);
    read_starts(&reader);
    read_events(&reader, &modes);
    read_failures(&reader, &conditions);
    read_metrics(&reader, &modes, &conditions);
    read_columns(&reader, &modes, &conditions.scope);
    equations_read_drawing(&reader, node_find(node, "drawing"), modes.points);
    read_conditions(&reader, &modes, &conditions);
    check_reached(&reader, &modes);
    if (system->tape->full) diagnose(diagnostics, node, "the equations are too long");
    if (diagnostics_errors(diagnostics) > errors) return NULL;
    take_modes(&reader, &modes);
    system->parameters = reader.parameters;
    system->is_position = is_position;
    system->guards = reader.guards;
    system->instants = reader.instants;
    system->failures = reader.failures;
    system->events = reader.events;
    system->text = equations_text(node, arena);
    return system;
}
