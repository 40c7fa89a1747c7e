// `perturb`: parameters that replicates draw.
#include "../forms.h"

#include <math.h>
#include <string.h>

enum { PERTURB_FORMS = 2 };

static const struct {
    const char *name, *arguments;
} perturb_forms[PERTURB_FORMS] = {
    [DISTRIBUTION_NORMAL] = {"normal", "[mean, standard deviation]"},
    [DISTRIBUTION_UNIFORM] = {"uniform", "[low, high]"},
};

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
    diagnose(reader->diagnostics, node->keys[0], "unknown key '%s' in %s%s", given, key_name(key),
             near != NULL ? did_you_mean(near, reader->arena) : arena_format(reader->arena, ", expected %s", expected));
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
    out->distribution = (Distribution)form;
    const Key deviation = {.path = "deviation", .type = KEY_NUMBER, .unit = key->unit, .low = 0, .high = INFINITY};
    const bool normal = out->distribution == DISTRIBUTION_NORMAL;
    bool ok = scalar_number(reader, key, arguments->items[0], &out->a);
    ok &= scalar_number(reader, normal ? &deviation : key, arguments->items[1], &out->b);
    if (ok && !normal && out->a > out->b)
        diagnose(reader->diagnostics, arguments, "%s is uniform in [%s, %s]: the low end is above the high one",
                 key_name(key), text_number(out->a).text, text_number(out->b).text);
}

// A value that is given too, and is not the default: it is no error, as expressions over the trial may use it.
static void perturb_check_fixed(SpecReader *reader, int parameter, const Node *name)
{
    const Spec *spec = reader->spec;
    const GivenKey *fixed = given_find(reader, reader->parameter_keys[parameter]->path);
    if (fixed == NULL || spec->fixed[parameter] == spec->configured.parameters[parameter].value) return;
    diagnose_warning(
        reader->diagnostics, fixed->key,
        "%s is %s here, and every replicate draws it (%s:%d): only derive, exclude and when use this value", name->text,
        text_number(spec->fixed[parameter]).text, name->source->file, name->line);
}

// A parameter that follows a word (followers.c) is derived without being named.
static void perturb_check_searched(SpecReader *reader, int parameter, const Node *name)
{
    const Axis *axis = axis_of(reader->spec, parameter);
    if (axis == NULL) return;
    if (axis->at == NULL || strcmp(axis->at->text, name->text) == 0)
        diagnose(reader->diagnostics, name, "%s is searched, so it can't be perturbed", name->text);
    else
        diagnose(reader->diagnostics, name,
                 "%s comes with %s (%s:%d), so it can't be perturbed: give its value, `parameters: {%s: ...}`",
                 name->text, axis->at->text, axis->at->source->file, axis->at->line, name->text);
}

static void perturb_read(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    if (scalar_is_empty(node)) return;
    if (node->kind != NODE_MAPPING) {
        form_mistyped(reader, given);
        return;
    }
    Perturbation *list = ARENA_NEW(reader->arena, Perturbation, node->count);
    int count = 0;
    for (int i = 0; i < node->count; i++) {
        const int parameter = parameter_find(reader, node->keys[i], node, "replicates.perturb");
        if (parameter < 0) continue;
        const bool as_written = strcmp(node->keys[i]->text, reader->spec->configured.parameters[parameter].name) == 0;
        if (configured_choices(&reader->spec->configured, parameter) != NULL) {
            diagnose(reader->diagnostics, node->keys[i], "values of %s are words, and only numbers are perturbed",
                     reader->names[parameter]);
            continue;
        }
        if (as_written) perturb_check_searched(reader, parameter, node->keys[i]);
        if (as_written) perturb_check_fixed(reader, parameter, node->keys[i]);
        list[count].parameter = parameter;
        perturb_read_one(reader, reader->parameter_keys[parameter], node->items[i], &list[count++]);
    }
    reader->spec->replicates.perturb = list;
    reader->spec->replicates.n_perturb = count;
}

// ---- writing --------------------------------------------------------------------------------------------------------

// The order of perturbations says which random number each gets.
static bool perturb_entry(const SpecReader *reader, int index, FormEntry *out)
{
    const Spec *spec = reader->spec;
    if (index >= spec->replicates.n_perturb) return false;
    const Perturbation *perturbation = &spec->replicates.perturb[index];
    out->name = reader->names[perturbation->parameter];
    out->text = arena_format(reader->arena, "{%s: [%s, %s]}", perturb_forms[perturbation->distribution].name,
                             text_number(perturbation->a).text, text_number(perturbation->b).text);
    return true;
}

const Form form_perturb = {
    .path = "replicates.perturb",
    .after = "replicates.common",
    .words = "a mapping of parameters to {normal: [mean, deviation]} or {uniform: [low, high]}",
    .doc = "what replaces a parameter's value in each replicate; draws are clamped to the parameter's range. "
           "Objectives and constraints see what was drawn; derive, exclude and when see the trial's value",
    .example = "{phi_leg: {normal: [0.01, 0.02]}, z_foot: {uniform: [0.35, 0.45]}}",
    .stage = FORM_SEARCH, // a searched parameter can't be perturbed
    .read = perturb_read,
    .flags = KEY_IDENTITY,
    .entry = perturb_entry,
    .canonical = "replicates.perturb.",
    .digits = 3,
    .lines = {{.start = "replicates.perturb.", .shown = "replicates.perturb.", .digits = 4}},
    .schema = SCHEMA_MAP_OF("perturbation"),
    .parameters_at = "perturb",
};
