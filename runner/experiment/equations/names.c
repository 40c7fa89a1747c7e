// Names of a system: parameters, states, held numbers, shorthands.
#include "equations.h"

#include <math.h>
#include <string.h>

// ---- nodes ----------------------------------------------------------------------------------------------------------

static bool equations_is_empty(const Node *node)
{
    return node->kind == NODE_SCALAR && !node->quoted && *node->text == '\0';
}

bool equations_mapping(SystemReader *reader, const Node *node, const char *what)
{
    if (node->kind == NODE_MAPPING) return true;
    diagnose(reader->diagnostics, node, "%s must be a mapping", what);
    return false;
}

const char *equations_nearest(SystemReader *reader, const char *text, const char *const *names, int count)
{
    const char *near = nearest_name(text, names, count);
    return near != NULL ? arena_format(reader->arena, "; did you mean '%s'?", near) : "";
}

const Node *equations_section(SystemReader *reader, const Node *mapping, const char *section, NodeKind kind)
{
    const Node *node = node_find(mapping, section);
    if (node == NULL || equations_is_empty(node) || node->kind == kind)
        return node != NULL && node->kind == kind ? node : NULL;
    diagnose(reader->diagnostics, node, "%s must be a %s", section, kind == NODE_MAPPING ? "mapping" : "list");
    return NULL;
}

bool equations_has_unit(SystemReader *reader, const char *text, int *digits)
{
    Unit unit;
    const char *why, *rest = text + strspn(text, "+-");
    rest = rest > text + 1 ? text : rest + strspn(rest, ".0123456789");
    if ((*rest == 'e' || *rest == 'E') && strspn(rest + 1, "+-0123456789") > 0)
        rest += 1 + strspn(rest + 1, "+-0123456789");
    *digits = (int)(rest - text);
    rest += strspn(rest, " ");
    return *digits > 0 && *rest != '\0' && strchr("+-*/^()<>=,", *rest) == NULL &&
           unit_read(rest, reader->arena, &unit, &why);
}

bool equations_number(SystemReader *reader, const Node *node, double *value)
{
    const Scope none = {0};
    int digits;
    if (node->kind != NODE_SCALAR || equations_is_empty(node)) {
        diagnose(reader->diagnostics, node, "a number is due here");
        return false;
    }
    if (equations_has_unit(reader, node->text, &digits)) {
        diagnose(reader->diagnostics, node, "write the number alone and its unit beside it: {value: %.*s, unit: %.40s}",
                 digits < 40 ? digits : 40, node->text, node->text + digits + strspn(node->text + digits, " "));
        return false;
    }
    const Expression *expression = expression_parse(node, &none, reader->arena, reader->diagnostics);
    if (expression == NULL) return false;
    const double number = expression_value(expression, NULL);
    if (isfinite(number)) {
        *value = number + 0.0; // no -0, as in the rest of a spec
        return true;
    }
    diagnose(reader->diagnostics, node, "this is not a finite number");
    return false;
}

const char *equations_text_of(SystemReader *reader, const Node *mapping, const char *key)
{
    const Node *node = node_find(mapping, key);
    if (node == NULL) return NULL;
    if (node->kind == NODE_SCALAR && !equations_is_empty(node)) return node->text;
    diagnose(reader->diagnostics, node, "%s must be a text", key);
    return NULL;
}

bool equations_truth(SystemReader *reader, const Node *mapping, const char *key)
{
    const Node *node = node_find(mapping, key);
    if (node == NULL) return false;
    if (node->kind == NODE_SCALAR && strcmp(node->text, "true") == 0) return true;
    if (node->kind != NODE_SCALAR || strcmp(node->text, "false") != 0)
        diagnose(reader->diagnostics, node, "%s must be true or false", key);
    return false;
}

// ---- declaring ------------------------------------------------------------------------------------------------------

int equations_find(const SystemReader *reader, const char *name, SystemNameKind kind)
{
    for (int i = 0; i < reader->n_names; i++)
        if (reader->names[i].kind == kind && strcmp(reader->names[i].name, name) == 0) return reader->names[i].index;
    return -1;
}

bool equations_is_word(const char *text)
{
    return expression_letter(text[0]) && text[0] != '_' && (size_t)expression_word_length(text) == strlen(text) &&
           strlen(text) <= 64;
}

bool equations_is_wrong(const SystemReader *reader, const char *text)
{
    for (const char *at = text; *at != '\0' && reader->n_wrong > 0;) {
        const int length = expression_letter(*at) ? expression_word_length(at) : 0;
        for (int i = 0; i < reader->n_wrong && length > 0; i++)
            if ((int)strlen(reader->wrong[i]) == length && strncmp(reader->wrong[i], at, (size_t)length) == 0)
                return true;
        at += length > 0 ? length : 1;
    }
    return false;
}

enum { SYSTEM_WRONG_MAX = 128 };

static void equations_wrong(SystemReader *reader, const char *name)
{
    if (reader->n_wrong < SYSTEM_WRONG_MAX) reader->wrong[reader->n_wrong++] = name;
}

// Reports why the name can't be declared; a `let` of another mode may have the same.
static bool equations_name_is_free(SystemReader *reader, const Node *key, SystemNameKind kind)
{
    const char *name = key->text;
    if (!equations_is_word(name)) {
        diagnose(reader->diagnostics, key,
                 "'%.60s' can't be a name: names are up to 64 letters, digits and _, and start with a letter", name);
        return false;
    }
    const bool function = expression_find_function(name) >= 0, pi = strcmp(name, EXPRESSION_PI) == 0;
    if (name_is_reserved(name) || function || pi) {
        diagnose(reader->diagnostics, key, "the name '%.60s' is reserved: %s", name,
                 strcmp(name, "time") == 0 ? "it is the time since the start"
                 : function                ? "it is a function"
                 : pi                      ? "it is a number"
                                           : name_reserved_why(name));
        return false;
    }
    for (int i = 0; i < reader->n_names; i++) {
        const SystemName *other = &reader->names[i];
        if (strcasecmp(other->name, name) != 0 || other->key == NULL) continue;
        if (kind == SYSTEM_NAME_LET && other->kind == SYSTEM_NAME_LET) continue; // system_declare_lets
        diagnose(reader->diagnostics, key, "the name '%.60s' is declared already, in line %d%s", name, other->key->line,
                 strcmp(other->name, name) != 0 ? ": names must differ in more than case" : "");
        return false;
    }
    if (reader->n_names - reader->n_given < SYSTEM_NAMES_MAX) return true;
    diagnose(reader->diagnostics, key, "a system has at most %d names", SYSTEM_NAMES_MAX);
    return false;
}

static bool equations_may_declare(SystemReader *reader, const Node *key, SystemNameKind kind)
{
    const bool may = equations_name_is_free(reader, key, kind);
    if (!may) equations_wrong(reader, key->text);
    return may;
}

static SystemName *equations_add_name(SystemReader *reader, const Node *key, const Node *node, SystemNameKind kind,
                                      int index)
{
    SystemName *name = &reader->names[reader->n_names++];
    *name = (SystemName){.name = key->text, .key = key, .node = node, .kind = kind, .index = index};
    if (node->kind != NODE_MAPPING) return name;
    name->value = equations_unit_of(reader, node);
    name->unit = name->value.text;
    name->doc = equations_text_of(reader, node, "doc");
    return name;
}

const SystemName *equations_declare_name(SystemReader *reader, const Node *key, const Node *node, SystemNameKind kind,
                                         int index)
{
    return equations_may_declare(reader, key, kind) ? equations_add_name(reader, key, node, kind, index) : NULL;
}

static void equations_range(SystemReader *reader, const Node *node, Parameter *parameter)
{
    const Node *range = node_find(node, "range");
    if (range == NULL) return;
    if (range->kind != NODE_SEQUENCE || range->count != 2) {
        diagnose(reader->diagnostics, range, "range must be two numbers, [least, greatest]");
        return;
    }
    const bool low = equations_number(reader, range->items[0], &parameter->low);
    const bool ok = equations_number(reader, range->items[1], &parameter->high) && low;
    if (!ok) return;
    if (!(parameter->low < parameter->high))
        diagnose(reader->diagnostics, range, "the range's first number must be less than its second");
    else if (parameter->value < parameter->low || parameter->value > parameter->high)
        diagnose(reader->diagnostics, range, "the value %g is out of the range", parameter->value);
}

static Parameter *equations_add_parameter(SystemReader *reader, const SystemName *name, double value,
                                          ParameterSection section)
{
    Parameter *parameter = &reader->parameters[reader->system->n_parameters++];
    *parameter =
        (Parameter){.name = name->name,
                    .unit = name->unit != NULL ? name->unit : "1",
                    .value = value,
                    .low = -INFINITY,
                    .high = INFINITY,
                    .section = section,
                    .doc = name->doc != NULL            ? name->doc
                           : section == SECTION_INITIAL ? arena_format(reader->arena, "%s at the start", name->name)
                           : reader->law                ? "declared by the law"
                                                        : "declared by the system"};
    return parameter;
}

bool equations_too_many(SystemReader *reader, const Node *section, int at, int count, int most, const char *what)
{
    if (count < most) return diagnostics_errors(reader->diagnostics) > SYSTEM_ERRORS_MAX;
    diagnose(reader->diagnostics, section->keys[at], "a system has at most %d %s", most, what);
    for (int i = at; i < section->count; i++) equations_wrong(reader, section->keys[i]->text);
    return true;
}

static void equations_declare_parameters(SystemReader *reader)
{
    const Node *section = equations_section(reader, reader->root, "parameters", NODE_MAPPING);
    for (int i = 0; section != NULL && i < section->count; i++) {
        const Node *key = section->keys[i], *node = section->items[i], *value = node;
        if (equations_too_many(reader, section, i, reader->system->n_parameters, SYSTEM_PARAMETERS_MAX, "parameters"))
            return;
        if (!equations_may_declare(reader, key, SYSTEM_NAME_PARAMETER)) continue;
        const SystemName *name =
            equations_add_name(reader, key, node, SYSTEM_NAME_PARAMETER, reader->system->n_parameters);
        double number = 0.0;
        if (node->kind == NODE_MAPPING) {
            value = node_find(node, "value");
            if (value == NULL)
                diagnose(reader->diagnostics, key, "parameter %s has no value: {value: 1, unit: m}", name->name);
        }
        if (value != NULL) equations_number(reader, value, &number);
        Parameter *parameter = equations_add_parameter(reader, name, number, SECTION_PARAMETERS);
        if (node->kind == NODE_MAPPING) equations_range(reader, node, parameter);
    }
}

// States and held numbers: {start: 1, unit: m}, or the start alone.
static void equations_declare_states(SystemReader *reader, const char *section_name, SystemNameKind kind)
{
    const bool held = kind == SYSTEM_NAME_HELD;
    const Node *section = equations_section(reader, reader->root, section_name, NODE_MAPPING);
    int *count = held ? &reader->system->n_held : &reader->system->n_states;
    for (int i = 0; section != NULL && i < section->count; i++) {
        const Node *key = section->keys[i], *node = section->items[i];
        const int most = held ? SYSTEM_HELD_MAX : SYSTEM_STATES_MAX;
        if (equations_too_many(reader, section, i, *count, most, held ? "held numbers" : "states")) return;
        if (!equations_may_declare(reader, key, kind)) continue;
        equations_add_name(reader, key, node, kind, (*count)++);
    }
}

void equations_declare_let(SystemReader *reader, const Node *key, const Node *node, int mode)
{
    equations_add_name(reader, key, node, SYSTEM_NAME_LET, reader->n_lets);
    reader->lets[reader->n_lets] =
        (SystemLet){.name = reader->n_names - 1, .mode = mode, .value = TAPE_NONE, .from = -1};
    reader->n_lets++;
}

static void equations_declare_lets(SystemReader *reader, const Node *mapping, int mode)
{
    const Node *section = equations_section(reader, mapping, "let", NODE_MAPPING);
    for (int i = 0; section != NULL && i < section->count; i++) {
        const Node *key = section->keys[i];
        bool twice = false;
        if (equations_too_many(reader, section, i, reader->n_lets, SYSTEM_LETS_MAX, "shorthands")) return;
        if (!equations_may_declare(reader, key, SYSTEM_NAME_LET)) continue;
        for (int k = 0; k < reader->n_lets; k++) {
            const SystemName *other = &reader->names[reader->lets[k].name];
            twice |= strcmp(other->name, key->text) == 0 && (reader->lets[k].mode < 0 || mode < 0);
        }
        if (twice) {
            diagnose(reader->diagnostics, key, "the name '%.60s' is a shorthand of all modes already", key->text);
            continue;
        }
        equations_declare_let(reader, key, section->items[i], mode);
    }
}

// A start that is a number is a parameter, behind those of the system.
static void equations_declare_start(SystemReader *reader, SystemName *name)
{
    const Node *start = name->node->kind == NODE_MAPPING ? node_find(name->node, "start") : name->node;
    const Scope none = {0};
    double number;
    int digits;
    if (start == NULL || (start->kind == NODE_SCALAR && equations_is_empty(start))) {
        diagnose(reader->diagnostics, name->key, "%s has no start: {start: 0, unit: m}", name->name);
        name->wrong = true;
        return;
    }
    Diagnostics *others = diagnostics_new(reader->arena);
    const bool has_unit = start->kind == NODE_SCALAR && equations_has_unit(reader, start->text, &digits);
    if (!has_unit && expression_parse(start, &none, reader->arena, others) == NULL) { // an expression of parameters
        const Node *range = name->node->kind == NODE_MAPPING ? node_find(name->node, "range") : NULL;
        if (range != NULL)
            diagnose(reader->diagnostics, range, "a range belongs to a start that is a number: %s has an expression",
                     name->name);
        return;
    }
    name->wrong = !equations_number(reader, start, &number);
    if (name->wrong) return;
    Parameter *parameter = equations_add_parameter(reader, name, number, SECTION_INITIAL);
    if (name->node->kind == NODE_MAPPING) equations_range(reader, name->node, parameter);
}

// What the noise of a lane is drawn by: behind all other parameters, and without a name in expressions.
void equations_seed_row(Parameter *row)
{
    *row = (Parameter){.name = "seed", // a reserved name
                       .unit = "1",
                       .high = 9007199254740991.0,
                       .section = SECTION_SEED,
                       .doc = "seeds the noise of a lane"};
}

void equations_declare(SystemReader *reader)
{
    reader->names[reader->n_names++] =
        (SystemName){.name = "time", .kind = SYSTEM_NAME_TIME, .value = equations_seconds(reader)};
    equations_declare_own(reader);
}

void equations_declare_own(SystemReader *reader)
{
    reader->wrong = ARENA_NEW(reader->arena, const char *, SYSTEM_WRONG_MAX);
    equations_declare_parameters(reader);
    equations_declare_states(reader, "states", SYSTEM_NAME_STATE);
    equations_declare_states(reader, "held", SYSTEM_NAME_HELD);
    equations_declare_tables(reader);
    equations_declare_lets(reader, reader->root, -1);
    for (int m = 0; m < reader->n_modes; m++)
        if (reader->mode_keys[m] != NULL && reader->mode_nodes[m]->kind == NODE_MAPPING)
            equations_declare_lets(reader, reader->mode_nodes[m], m);
    for (int i = 0; i < reader->n_names; i++)
        if (reader->names[i].node != NULL &&
            (reader->names[i].kind == SYSTEM_NAME_STATE || reader->names[i].kind == SYSTEM_NAME_HELD))
            equations_declare_start(reader, &reader->names[i]);
    if (equations_has_noise(reader)) equations_seed_row(&reader->parameters[reader->system->n_parameters++]);
    // a system without units has none for time either: sin(time) is right there. Nor has a law for a model's columns:
    // -20*joint_q is an effort there
    const int given = reader->n_given > 0 ? reader->n_given : 1;
    bool has_units = false;
    for (int i = given; i < reader->n_names; i++) has_units |= reader->names[i].value.kind == UNIT_KNOWN;
    for (int i = 0; i < given && !has_units; i++) reader->names[i].value.kind = UNIT_OPEN;
}
