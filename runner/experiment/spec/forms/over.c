// `over`: the searched parameters, with their values or the expression that derives them.
#include "../axes.h"

#include <string.h>

static bool over_check_form(SpecReader *reader, const Node *node, const Key *key, Axis *axis)
{
    const SearchMethod *method = reader->spec->method;
    Values *values = &axis->values;
    const bool range = values_are_range(values);
    if (method != NULL && values->choices != NULL && method->wants_range && !method->wants_values)
        return values_words_as_range(reader, key, node, values);
    if (method != NULL && values->sigma > 0.0 && !method->wants_sigma)
        diagnose(reader->diagnostics, node, "sigma of %s belongs to method cmaes, and this is method %s", key_name(key),
                 method->name);
    if (method == NULL || (range ? method->wants_range : method->wants_values)) return true;
    diagnose(reader->diagnostics, node, "method %s takes no %s for %s%s", method->name, range ? "range" : "values",
             key_name(key),
             method->wants_points  ? ", its values stand in `points`"
             : method->wants_range ? ", expected {range: [low, high]}"
                                   : ", expected a list, linspace, logspace or arange");
    return !method->wants_points; // the points would have to name it
}

static void over_read(SpecReader *reader, const GivenKey *given)
{
    const Node *over = given->value;
    AxesBuild *build = reader->axes;
    if (over->kind != NODE_MAPPING && !scalar_is_empty(over)) {
        diagnose(reader->diagnostics, over, "over is %s, expected a mapping of parameters to values",
                 scalar_given(over, reader->arena));
        return;
    }
    for (int i = 0; i < over->count; i++) {
        const Node *name = over->keys[i], *node = over->items[i], *derive = node_find(node, "derive");
        const int parameter = parameter_find(reader, name, over, "search.over");
        if (!axes_claim(build, name, parameter)) continue;
        Axis axis = {.parameter = parameter, .zip = -1};
        if (derive != NULL && node->count == 1 && configured_choices(&reader->spec->configured, parameter) != NULL) {
            diagnose(reader->diagnostics, node, "values of %s are words, and only numbers are derived",
                     reader->names[parameter]);
            continue;
        }
        if (derive != NULL && node->count == 1) {
            build->expressions[build->n_derived] = derive;
            build->derived[build->n_derived++] = axis;
            continue;
        }
        const Key *key = reader->parameter_keys[parameter];
        if (values_read(reader, key, node, &axis.values) && !over_check_form(reader, node, key, &axis)) continue;
        build->names[build->n_axes] = name;
        build->axes[build->n_axes++] = axis;
    }
}

// ---- derived parameters ---------------------------------------------------------------------------------------------
// Computed in the order of the spec: one may use those before it, so there is no cycle.

void axes_read_derived(SpecReader *reader, AxesBuild *build)
{
    const Node *const *expressions = build->expressions;
    const Scope scope = parameter_scope(reader);
    for (int d = 0; d < build->n_derived; d++) {
        Axis *axis = &build->derived[d];
        axis->derive = expression_read(reader, expressions[d], &scope, reader->names[axis->parameter]);
        for (int later = d; axis->derive != NULL && later < build->n_derived; later++) {
            const int used = build->derived[later].parameter;
            if (!expression_uses(axis->derive, used)) continue;
            const char *name = reader->names[axis->parameter], *other = reader->names[used];
            if (later == d)
                diagnose(reader->diagnostics, expressions[d], "%s is derived from itself", name);
            else
                diagnose(reader->diagnostics, expressions[d], "%s uses %s, which is derived after it: put %s first",
                         name, other, other);
        }
    }
}

// ---- writing --------------------------------------------------------------------------------------------------------

static void over_resolve(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    Arena *arena = writer->reader->arena;
    for (int a = 0; a < spec->n_axes + spec->n_derived; a++) {
        const Axis *axis = &spec->axes[a];
        if (a < spec->n_axes && spec->values_in != NULL) continue;
        const char *value = axis->derive == NULL
                                ? values_text(&axis->values, arena)
                                : arena_format(arena, "{derive: %s}", resolve_quoted(axis->derive, arena));
        resolve_line(writer, arena_format(arena, "%s.%s", path, writer->reader->names[axis->parameter]), value, NULL);
    }
}

// The order of axes gives the trials their ids, so it is part of the identity; the order of derived ones is not.
static void over_identify(const SpecReader *reader, CanonicalLines *lines)
{
    const Spec *spec = reader->spec;
    Arena *arena = lines->arena;
    for (int a = 0; a < spec->n_axes; a++) {
        const Axis *axis = &spec->axes[a];
        canonical_add(lines, arena_format(arena, "search.axis.%03d.%s", a, reader->names[axis->parameter]),
                      spec->values_in != NULL ? spec->values_in : values_text(&axis->values, arena));
    }
    for (int a = spec->n_axes; a < spec->n_axes + spec->n_derived; a++)
        canonical_add(lines, arena_format(arena, "search.derived.%s", reader->names[spec->axes[a].parameter]),
                      expression_text(spec->axes[a].derive, arena));
}

const Form form_over = {
    .path = "search.over",
    .after = "search.least_squares.taken",
    .words = "a mapping of parameters to values",
    .doc = "the searched parameters and their values (forms below); in a grid the first varies slowest. A trial whose "
           "derived value leaves its parameter's range is left out, as if excluded. Of words: a list of them, or all",
    .example = "{k_fp: {linspace: [50, 300, 26]}, b_fp: {derive: \"0.1 * k_fp\"}}",
    .stage = FORM_OVER,
    .names = form_map_names,
    .read = over_read,
    .resolve = over_resolve,
    .identify = over_identify,
    .lines = {{.start = "search.axis.", .shown = "search.over.", .digits = 4, .change = CHANGE_VALUE},
              {.start = "search.derived.", .shown = "search.over.", .change = CHANGE_VALUE},
              {.start = "search.elsewhere.", .shown = "fixed value of ", .change = CHANGE_GRID}}, // of partial axes
    .schema = SCHEMA_MAP_OF("values"),
    .parameters_at = "over",
};
