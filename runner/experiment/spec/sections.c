// Sections whose values have forms of their own: perturbations and the objective.
#include "keys.h"

#include <math.h>
#include <string.h>

// "word(number)": the number; false if the text is anything else.
static bool sections_call(const char *text, const char *word, double *number)
{
    const size_t length = strlen(word), whole = strlen(text);
    char inner[64];
    if (strncmp(text, word, length) != 0 || text[length] != '(' || text[whole - 1] != ')') return false;
    const size_t inside = whole - length - 2;
    if (inside >= sizeof inner) return false;
    memcpy(inner, text + length + 1, inside);
    inner[inside] = '\0';
    return scalar_strict(inner, number);
}

void form_mistyped(SpecReader *reader, const char *path, const Node *node)
{
    int count;
    const Key *table = keys_table(&count);
    for (int i = 0; i < count; i++) {
        if (strcmp(table[i].path, path) == 0)
            diagnose(reader->diagnostics, node, "%s is %s, expected %s", key_name(&table[i]),
                     scalar_given(node, reader->arena), key_expected(&table[i], reader->arena));
    }
}

// ---- replicates.perturb ---------------------------------------------------------------------------------------------

static const struct {
    const char *name, *arguments;
    Distribution distribution;
} perturb_forms[] = {
    {"normal", "[mean, standard deviation]", DISTRIBUTION_NORMAL},
    {"uniform", "[low, high]", DISTRIBUTION_UNIFORM},
};
enum { PERTURB_FORMS = sizeof perturb_forms / sizeof perturb_forms[0] };

// Which form a perturbation has; -1 after an error.
static int perturb_form(SpecReader *reader, const Key *key, const Node *node)
{
    static const char expected[] = "{normal: [mean, standard deviation]} or {uniform: [low, high]}";
    const char *names[PERTURB_FORMS];
    for (int f = 0; f < PERTURB_FORMS; f++) names[f] = perturb_forms[f].name;
    if (node->kind != NODE_MAPPING || node->count != 1) {
        diagnose(reader->diagnostics, node, "%s is %s, expected %s", key_name(key),
                 node->kind == NODE_MAPPING ? "a mapping without one key" : scalar_given(node, reader->arena),
                 expected);
        return -1;
    }
    const char *given = node->keys[0]->text, *near = nearest_name(given, names, PERTURB_FORMS);
    for (int f = 0; f < PERTURB_FORMS; f++) {
        if (strcmp(given, names[f]) == 0) return f;
    }
    if (near != NULL)
        diagnose(reader->diagnostics, node->keys[0], "unknown key '%s' in %s; did you mean '%s'?", given, key_name(key),
                 near);
    else
        diagnose(reader->diagnostics, node->keys[0], "unknown key '%s' in %s, expected %s", given, key_name(key),
                 expected);
    return -1;
}

static void perturb_read_one(SpecReader *reader, const Key *key, const Node *node, Perturbation *out)
{
    const int form = perturb_form(reader, key, node);
    if (form < 0) return;
    const Node *arguments = node->items[0];
    if (arguments->kind != NODE_SEQUENCE || arguments->count != 2) {
        diagnose(reader->diagnostics, arguments, "%s of %s is %s, expected %s", perturb_forms[form].name, key_name(key),
                 arguments->kind == NODE_SEQUENCE ? "a list of another length" : scalar_given(arguments, reader->arena),
                 perturb_forms[form].arguments);
        return;
    }
    out->distribution = perturb_forms[form].distribution;
    const Key deviation = {.path = "deviation", .type = KEY_NUMBER, .unit = key->unit, .low = 0, .high = INFINITY};
    const bool normal = out->distribution == DISTRIBUTION_NORMAL;
    bool good = scalar_number(reader, key, arguments->items[0], &out->a);
    good &= scalar_number(reader, normal ? &deviation : key, arguments->items[1], &out->b);
    if (good && !normal && out->a > out->b)
        diagnose(reader->diagnostics, arguments, "%s is uniform in [%s, %s]: the low end is above the high one",
                 key_name(key), text_number(out->a).text, text_number(out->b).text);
}

void perturb_read(SpecReader *reader)
{
    const GivenKey *given = given_find(reader, "replicates.perturb");
    if (given == NULL || scalar_is_empty(given->value)) return;
    const Node *node = given->value;
    if (node->kind != NODE_MAPPING) {
        form_mistyped(reader, given->path, node);
        return;
    }
    Perturbation *list = ARENA_NEW(reader->arena, Perturbation, node->count);
    int count = 0;
    for (int i = 0; i < node->count; i++) {
        const int parameter = parameter_find(reader, node->keys[i], node, "replicates.perturb");
        if (parameter < 0) continue;
        const bool as_written = strcmp(node->keys[i]->text, reader->spec->configured.parameters[parameter].name) == 0;
        if (as_written && axis_of(reader->spec, parameter) != NULL)
            diagnose(reader->diagnostics, node->keys[i], "%s is searched, so it can't be perturbed",
                     node->keys[i]->text);
        list[count].parameter = parameter;
        perturb_read_one(reader, reader->parameter_keys[parameter], node->items[i], &list[count++]);
    }
    reader->spec->replicates.perturb = list;
    reader->spec->replicates.n_perturb = count;
}

// ---- objective ------------------------------------------------------------------------------------------------------

static void objective_read_over(SpecReader *reader, const Node *node)
{
    const int index = node->kind == NODE_SCALAR ? words_find("mean|median|worst", node->text) : -1;
    double q = -1.0;
    if (index >= 0)
        reader->spec->objective.over = (Over)index;
    else if (node->kind == NODE_SCALAR && sections_call(node->text, "quantile", &q) && q >= 0.0 && q <= 1.0)
        reader->spec->objective.over = OVER_QUANTILE;
    else
        form_mistyped(reader, "objective.over", node);
    reader->spec->objective.quantile = q > 0.0 ? q : 0.0;
}

static void objective_read_failed(SpecReader *reader, const Node *node)
{
    Spec *spec = reader->spec;
    if (node->kind == NODE_SCALAR && strcmp(node->text, "any") == 0)
        spec->objective.failed = FAILED_ANY;
    else if (node->kind == NODE_SCALAR && strcmp(node->text, "ignore") == 0)
        spec->objective.failed = FAILED_IGNORE;
    else if (node->kind == NODE_SCALAR && sections_call(node->text, "penalty", &spec->objective.penalty))
        spec->objective.failed = FAILED_PENALTY;
    else
        form_mistyped(reader, "objective.failed", node);
}

// The model's default, as if the spec had given it.
static const Node *objective_default(SpecReader *reader)
{
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    *source = (Source){.file = reader->spec->model->name, .text = reader->spec->configured.objective};
    Node *node = ARENA_NEW(reader->arena, Node, 1);
    *node = (Node){.kind = NODE_SCALAR, .source = source, .line = 1, .column = 1, .width = 1, .text = source->text};
    return node;
}

// A method is for one objective or for several; methods that only spread points take both.
static void objective_check_method(SpecReader *reader, const Node *node, const char *key)
{
    const SearchMethod *method = reader->spec->method;
    const int count = reader->spec->objective.count;
    if (method == NULL) return;
    if (count > 1 && !method->several && (search_learns(method) || method->sensitivity != NULL))
        diagnose(reader->diagnostics, node, "%s holds %d objectives, and method %s takes one; nsga2 takes several", key,
                 count, method->name);
    if (count == 1 && method->several)
        diagnose(reader->diagnostics, node,
                 "%s is one objective, and method %s takes a list of two or more; cmaes takes one", key, method->name);
}

// One expression, or a list of them: added to the objectives. False: there are none or too many.
static bool objective_read_list(SpecReader *reader, const Node *node, const char *key, const Scope *scope)
{
    Spec *spec = reader->spec;
    const bool list = node->kind == NODE_SEQUENCE;
    const int count = list ? node->count : 1, before = spec->objective.count;
    if (count < 1 || count > OBJECTIVES_MAX) {
        diagnose(reader->diagnostics, node, "%s is a list of %d objectives, expected 1 to %d", key, count,
                 OBJECTIVES_MAX);
        return false;
    }
    if (before + count > OBJECTIVES_MAX) {
        diagnose(reader->diagnostics, node, "minimize and maximize hold %d objectives together, expected %d at most",
                 before + count, OBJECTIVES_MAX);
        return false;
    }
    const Expression **expression = ARENA_NEW(reader->arena, const Expression *, before + count);
    for (int k = 0; k < before; k++) expression[k] = spec->objective.expression[k];
    for (int i = 0; i < count; i++) {
        expression[before + i] = expression_read(reader, list ? node->items[i] : node, scope, key);
        spec->objective.maximize[before + i] = strcmp(key, "maximize") == 0;
    }
    spec->objective.expression = expression;
    spec->objective.count = before + count;
    return true;
}

// A point that is worse than all that is of interest, a number for each objective.
static void objective_read_reference(SpecReader *reader, const Node *node)
{
    Spec *spec = reader->spec;
    const Key number = {.path = "reference", .type = KEY_NUMBER, .low = -INFINITY, .high = INFINITY};
    if (node->kind != NODE_SEQUENCE) {
        form_mistyped(reader, "objective.reference", node);
        return;
    }
    if (!spec_several(spec)) {
        diagnose(reader->diagnostics, node, "reference is for several objectives, and %s is one",
                 spec->objective.maximize[0] ? "maximize" : "minimize");
        return;
    }
    if (node->count != spec->objective.count) {
        diagnose(reader->diagnostics, node, "reference is a list of %d, expected a number for each of %d objectives",
                 node->count, spec->objective.count);
        return;
    }
    double *reference = ARENA_NEW(reader->arena, double, node->count);
    bool good = true;
    for (int i = 0; i < node->count; i++) good &= scalar_number(reader, &number, node->items[i], &reference[i]);
    if (good) spec->objective.reference = reference;
}

Scope objective_scope(SpecReader *reader)
{
    const Configured *configured = &reader->spec->configured;
    const int n_metrics = configured->n_metrics, n = n_metrics + configured_named(configured);
    const char **names = ARENA_NEW(reader->arena, const char *, n);
    for (int i = 0; i < n; i++) names[i] = i < n_metrics ? configured->metrics[i].name : reader->names[i - n_metrics];
    return (Scope){.names = names, .count = n};
}

// The minimised ones first; without any the model's default.
static void objective_read_expressions(SpecReader *reader)
{
    const GivenKey *minimize = given_find(reader, "objective.minimize");
    const GivenKey *maximize = given_find(reader, "objective.maximize");
    const Scope scope = objective_scope(reader);
    const Node *least = minimize != NULL ? minimize->value : maximize == NULL ? objective_default(reader) : NULL;
    if (least != NULL && !objective_read_list(reader, least, "minimize", &scope)) return;
    if (maximize != NULL && !objective_read_list(reader, maximize->value, "maximize", &scope)) return;
    const bool both = least != NULL && maximize != NULL;
    objective_check_method(reader, maximize != NULL ? maximize->value : least,
                           both               ? "objective"
                           : maximize != NULL ? "maximize"
                                              : "minimize");
}

void objective_read(SpecReader *reader)
{
    const GivenKey *over = given_find(reader, "objective.over"), *failed = given_find(reader, "objective.failed");
    if (over != NULL) objective_read_over(reader, over->value);
    if (failed != NULL) objective_read_failed(reader, failed->value);
    if (reader->names == NULL) return;
    objective_read_expressions(reader);
    const GivenKey *reference = given_find(reader, "objective.reference");
    if (reference != NULL && reader->spec->objective.count > 0) objective_read_reference(reader, reference->value);
}

const char *objective_over_text(const Spec *spec, Arena *arena)
{
    static const char *const names[] = {[OVER_MEAN] = "mean", [OVER_MEDIAN] = "median", [OVER_WORST] = "worst"};
    if (spec->objective.over != OVER_QUANTILE) return names[spec->objective.over];
    return arena_format(arena, "quantile(%s)", text_number(spec->objective.quantile).text);
}

const char *objective_failed_text(const Spec *spec, Arena *arena)
{
    if (spec->objective.failed == FAILED_ANY) return "any";
    if (spec->objective.failed == FAILED_IGNORE) return "ignore";
    return arena_format(arena, "penalty(%s)", text_number(spec->objective.penalty).text);
}
