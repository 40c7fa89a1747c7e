// Reading what is told of a lane: metrics, failures, columns, and the conditions of them.
#include "equations.h"

#include <string.h>

// ---- metrics --------------------------------------------------------------------------------------------------------

static const struct {
    const char *key;
    Reduction reduction;
} metric_keys[] = {{"final", REDUCTION_FINAL}, {"mean", REDUCTION_MEAN}, {"rms", REDUCTION_RMS},
                   {"min", REDUCTION_MIN},     {"max", REDUCTION_MAX},   {"integral", REDUCTION_INTEGRAL},
                   {"count", REDUCTION_COUNT}, {"at", REDUCTION_BEFORE}, {"after", REDUCTION_AFTER},
                   {"first", REDUCTION_FIRST}, {"last", REDUCTION_LAST}, {"part", REDUCTION_PART}};
static const char *const take_words[] = {"first", "last", "mean", "min", "max", "spread", "rms"};

int equations_read_condition(SystemReader *reader, SystemConditions *conditions, const Node *node, const char *what)
{
    const Expression *expression = equations_expression(reader, node, conditions->scope, what);
    if (expression == NULL) return -1;
    equations_units(reader, node, expression, conditions->scope, NULL, what);
    if (!equations_is_comparison(expression))
        diagnose(reader->diagnostics, node, "a condition compares, as in x < 0 or x > 1");
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
    if (node == NULL) return REDUCTION_TAKE_LAST;
    for (int i = 0; i < (int)(sizeof take_words / sizeof *take_words) && node->kind == NODE_SCALAR; i++)
        if (strcmp(take_words[i], node->text) == 0) return i;
    diagnose(reader->diagnostics, node, "take is one of first, last, mean, min, max, spread and rms");
    return REDUCTION_TAKE_LAST;
}

// The expression that a metric reduces, at the node *of; NULL: it has none, or there is an error.
static const Expression *read_metric(SystemReader *reader, const Node *key, const Node *node, SystemMetric *metric,
                                     SystemConditions *conditions, const Node **of)
{
    const Node *given = NULL, *value = node_find(node, "value");
    const char *all = "";
    int count = 0;
    *metric = (SystemMetric){.event = -1, .condition = -1, .integral = -1};
    for (size_t i = 0; i < sizeof metric_keys / sizeof *metric_keys; i++) {
        const Node *found = node_find(node, metric_keys[i].key);
        if (found == NULL) continue;
        all = arena_format(reader->arena, "%s%s%s", all, count++ > 0 ? " and " : "", metric_keys[i].key);
        given = found;
        metric->reduction = metric_keys[i].reduction;
    }
    if (count > 1) {
        diagnose(reader->diagnostics, key, "metric %s has %s: a metric has one of them, under a name of its own",
                 key->text, all);
        return NULL;
    }
    if (count == 0) {
        diagnose(reader->diagnostics, key,
                 "metric %s needs one of final, mean, rms, min, max, integral, count, at, after, first, last and part",
                 key->text);
        return NULL;
    }
    const bool at_event = metric->reduction == REDUCTION_BEFORE || metric->reduction == REDUCTION_AFTER;
    if (value != NULL && !at_event) diagnose(reader->diagnostics, value, "value belongs to `at` and `after`");
    if (node_find(node, "take") != NULL && !at_event)
        diagnose(reader->diagnostics, node_find(node, "take"), "take belongs to `at` and `after`");
    if (metric->reduction == REDUCTION_AFTER && reader->sampled) {
        diagnose(reader->diagnostics, given,
                 "after belongs to events: take `at`, with a condition that begins to hold");
        return NULL;
    }
    if (metric->reduction == REDUCTION_COUNT || at_event) {
        if (reader->sampled)
            metric->condition = equations_read_condition(reader, conditions, given, key->text);
        else
            metric->event = find_event(reader, given);
    }
    if (metric->reduction == REDUCTION_COUNT) return NULL;
    if (metric->reduction >= REDUCTION_FIRST) {
        metric->condition = equations_read_condition(reader, conditions, given, key->text);
        return NULL;
    }
    if (at_event && value == NULL) {
        diagnose(reader->diagnostics, key, "metric %s needs a value: {at: %s, value: x}", key->text,
                 given->kind == NODE_SCALAR ? given->text : "EVENT");
        return NULL;
    }
    if (at_event) metric->take = (ReductionTake)find_take(reader, node);
    *of = at_event ? value : given;
    return equations_expression(reader, *of, conditions->scope, key->text);
}

static bool metric_integrates(const SystemMetric *metric)
{
    return metric->reduction == REDUCTION_MEAN || metric->reduction == REDUCTION_RMS ||
           metric->reduction == REDUCTION_INTEGRAL;
}

// A metric is a column of the trials, beside parameters.
static bool metric_name_is_free(SystemReader *reader, const Node *section, int at)
{
    const Node *key = section->keys[at];
    const char *name = key->text;
    if (!equations_is_word(name) || name_is_reserved(name) || strcmp(name, "survived") == 0) {
        const char *why = name_is_reserved(name) ? name_reserved_why(name) : "all systems have a metric of this name";
        diagnose(reader->diagnostics, key, "'%.60s' can't be the name of a metric: %s", name,
                 equations_is_word(name) ? why : "take letters, digits and _");
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
    case REDUCTION_FINAL:
    case REDUCTION_MEAN:
    case REDUCTION_RMS:
    case REDUCTION_MIN:
    case REDUCTION_MAX:
    case REDUCTION_BEFORE:
    case REDUCTION_AFTER: return *of;
    case REDUCTION_INTEGRAL: return of->kind == UNIT_KNOWN ? unit_product(of, &second, 1) : *of;
    case REDUCTION_FIRST:
    case REDUCTION_LAST: return second;
    case REDUCTION_COUNT:
    case REDUCTION_PART: return unit_known(&one, "1");
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
        if (watched != TAPE_NONE && metric->reduction == REDUCTION_RMS)
            watched = tape_operation(system->tape, PROGRAM_MULTIPLY, watched, watched, TAPE_NONE);
        modes->rates[m][system->n_states + metric->integral] =
            watched != TAPE_NONE ? watched : tape_number(system->tape, 0.0);
    }
}

void equations_read_metrics(SystemReader *reader, SystemModes *modes, SystemConditions *conditions)
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
        fields[system->n_metrics] = (Field){key->text, unit,
                                            doc != NULL       ? doc
                                            : reader->sampled ? "declared by the spec"
                                                              : "declared by the system",
                                            NULL};
        watch_metric(reader, modes, metric, expression, conditions->scope);
        system->n_metrics++;
    }
    system->metrics = metrics;
    system->metric_fields = fields;
}

// ---- failures and columns -------------------------------------------------------------------------------------------

void equations_read_failures(SystemReader *reader, SystemConditions *conditions)
{
    const Node *section = equations_section(reader, reader->root, "failures", NODE_MAPPING);
    int *failed = ARENA_NEW(reader->arena, int, reader->n_tables + (section != NULL ? section->count : 0));
    for (int i = 0; section != NULL && i < section->count; i++) {
        const int condition = equations_read_condition(reader, conditions, section->items[i], section->keys[i]->text);
        const int failure = equations_failure_number(reader, section->keys[i]->text, section->keys[i]);
        if (condition >= 0) failed[condition] = failure;
    }
    equations_reserve_outside(reader, conditions, failed);
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
    diagnose(reader->diagnostics, key, "'%.60s' can't be the name of a column: %s", name,
             name_is_reserved(name) ? name_reserved_why(name)
             : taken                ? "it is one already"
                                    : "take letters, digits and _");
    return false;
}

void equations_read_columns(SystemReader *reader, SystemModes *modes, const SystemScope *scope)
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

void equations_read_conditions(SystemReader *reader, SystemModes *modes, const SystemConditions *conditions)
{
    reader->system->n_conditions = conditions->count;
    for (int k = 0; k < conditions->count; k++) {
        int first = -1;
        if (conditions->expression[k] == NULL) continue; // equations_watch_tables
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
