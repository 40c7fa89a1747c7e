// `when`: axes that are searched where a condition holds. Conditions are decided in order, from the values of axes and
// fixed parameters. A condition may use a conditional axis before it, so there is no cycle.
#include "../axes.h"

#include <string.h>

static int when_axis(SpecReader *reader, const Node *name, int parameter, const AxesBuild *build)
{
    for (int a = 0; parameter >= 0 && a < build->n_axes; a++) {
        if (build->axes[a].parameter == parameter) return a;
    }
    if (parameter >= 0)
        diagnose(reader->diagnostics, name, "%s is not an axis, so it can't be searched under a condition",
                 reader->names[parameter]);
    return -1;
}

// Zipped axes advance together, so none of them can have a condition.
static bool when_is_zipped(const Spec *spec, const AxesBuild *build, int axis)
{
    bool zipped = build->axes[axis].zip >= 0;
    for (int b = 0; b < spec->n_grids; b++) zipped |= spec->grids[b].zip[axis] >= 0;
    return zipped;
}

// Reports parameters that the condition of an axis can't use.
static void when_check_names(SpecReader *reader, const Node *node, const When *when, const AxesBuild *build)
{
    const char *name = reader->names[build->axes[when->axis].parameter];
    if (expression_uses(when->condition, build->axes[when->axis].parameter))
        diagnose(reader->diagnostics, node, "the condition of %s uses %s itself", name, name);
    for (int d = 0; d < build->n_derived; d++) {
        if (expression_uses(when->condition, build->derived[d].parameter))
            diagnose(reader->diagnostics, node, "the condition of %s uses %s, which is derived after it is decided",
                     name, reader->names[build->derived[d].parameter]);
    }
}

static bool when_read_one(SpecReader *reader, const Node *mapping, int index, const AxesBuild *build, When *when)
{
    const Scope scope = parameter_scope(reader);
    const Node *name = mapping->keys[index], *node = mapping->items[index];
    const int parameter = parameter_find(reader, name, mapping, "search.when");
    when->axis = when_axis(reader, name, parameter, build);
    when->condition = expression_read(reader, node, &scope, name->text);
    if (when->axis < 0 || when->condition == NULL) return false;
    if (when_is_zipped(reader->spec, build, when->axis))
        diagnose(reader->diagnostics, name, "%s is zipped with other axes, so it can't be searched under a condition",
                 name->text);
    when_check_names(reader, node, when, build);
    return true;
}

static void when_check_order(SpecReader *reader, const Node *mapping, const When *list, int count,
                             const AxesBuild *build)
{
    for (int w = 0; w < count; w++) {
        for (int later = w + 1; later < count; later++) {
            const int used = build->axes[list[later].axis].parameter;
            if (!expression_uses(list[w].condition, used)) continue;
            diagnose(reader->diagnostics, mapping,
                     "the condition of %s uses %s, whose own condition comes later: put %s first",
                     reader->names[build->axes[list[w].axis].parameter], reader->names[used], reader->names[used]);
        }
    }
}

// Not with methods whose trials differ in one parameter at a time or name all parameters.
static bool when_makes_sense(const SearchMethod *method)
{
    return !method->wants_points && method->sensitivity == NULL && method != &search_centered;
}

static void when_read(SpecReader *reader, const GivenKey *given)
{
    Spec *spec = reader->spec;
    AxesBuild *build = reader->axes;
    const Node *mapping = given->value;
    if (scalar_is_empty(mapping)) return;
    if (mapping->kind != NODE_MAPPING) {
        form_mistyped(reader, given);
        return;
    }
    if (!when_makes_sense(spec->method)) {
        diagnose(reader->diagnostics, given->key,
                 "when can't be used with method %s: its trials give every parameter a value", spec->method->name);
        return;
    }
    When *list = ARENA_NEW(reader->arena, When, mapping->count);
    int count = 0;
    for (int i = 0; i < mapping->count; i++) {
        const bool ok = when_read_one(reader, mapping, i, build, &list[count]);
        if (list[count].axis >= 0) build->axes[list[count].axis].partial = true;
        count += ok;
    }
    when_check_order(reader, mapping, list, count, build);
    spec->when = list;
    spec->n_when = count;
}

// ---- writing --------------------------------------------------------------------------------------------------------

static bool when_entry(const SpecReader *reader, int index, FormEntry *out)
{
    const Spec *spec = reader->spec;
    if (index >= spec->n_when) return false;
    const When *when = &spec->when[index];
    *out = (FormEntry){.name = reader->names[spec->axes[when->axis].parameter], .expression = when->condition};
    return true;
}

const Form form_when = {
    .path = "search.when",
    .after = "search.union",
    .words = "a mapping of searched parameters to expressions",
    .doc = "where the expression does not hold, the parameter is not searched and keeps its fixed value; a grid runs "
           "each such point once",
    .example = "{b_att: \"k_att > 0\"}",
    .stage = FORM_CONDITIONS,
    .read = when_read,
    .flags = KEY_IDENTITY,
    .entry = when_entry,
    .canonical = "search.when.",
    .digits = 3,
    .lines = {{.start = "search.when.", .shown = "search.when.", .digits = 4, .change = CHANGE_GRID}},
    .schema = SCHEMA_MAP_OF("expression"),
    .parameters_at = "when",
};
