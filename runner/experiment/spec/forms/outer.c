// `cmaes.outer`: a grid over parameters that are not searched; every point has its own searches.
#include "../axes.h"

#include <string.h>

static int64_t outer_setting(const SpecReader *reader, const char *path)
{
    return (int64_t) * (const double *)key_find(reader, path)->at;
}

static void outer_read_axis(SpecReader *reader, const Node *outer, int index, AxesBuild *build)
{
    const Node *name = outer->keys[index], *node = outer->items[index];
    const int parameter = parameter_find(reader, name, outer, "search.cmaes.outer");
    if (parameter >= 0 && build->taken[parameter])
        diagnose(reader->diagnostics, name, "%s is searched in `over` already, remove one", reader->names[parameter]);
    if (!axes_claim(build, name, parameter)) return;
    const Key *key = reader->parameter_keys[parameter];
    Axis axis = {.parameter = parameter, .zip = -1};
    if (!values_read(reader, key, node, &axis.values)) return;
    if (values_are_range(&axis.values))
        diagnose(reader->diagnostics, node,
                 "outer takes no range for %s, expected a list, linspace, logspace or arange", key_name(key));
    else
        build->outer[build->n_outer++] = axis;
}

// All points with all their searches are at most SEARCHES_MAX.
static void outer_count(SpecReader *reader, const Node *outer, const AxesBuild *build)
{
    Spec *spec = reader->spec;
    const int64_t searches = outer_setting(reader, "search.cmaes.searches");
    int64_t points = 1;
    bool fits = searches <= SEARCHES_MAX;
    for (int i = 0; fits && i < build->n_outer; i++) {
        const int64_t count = build->outer[i].values.count;
        fits = count <= SEARCHES_MAX / (points * searches);
        points *= count;
    }
    spec->outer.points = fits ? points : 1;
    spec->outer.searches = searches;
    spec->outer.first = outer_setting(reader, "search.cmaes.first");
    if (!fits)
        diagnose(reader->diagnostics, outer, "the points of outer, with %lld search%s each, are more than %d searches",
                 (long long)searches, searches == 1 ? "" : "es", SEARCHES_MAX);
}

static void outer_read(SpecReader *reader, const GivenKey *given)
{
    const Node *outer = given->value;
    if (!reader->spec->method->wants_outer || scalar_is_empty(outer)) return;
    if (outer->kind != NODE_MAPPING) {
        form_mistyped(reader, given);
        return;
    }
    for (int i = 0; i < outer->count; i++) outer_read_axis(reader, outer, i, reader->axes);
    outer_count(reader, outer, reader->axes);
}

// ---- writing --------------------------------------------------------------------------------------------------------

static bool outer_entry(const SpecReader *reader, int index, FormEntry *out)
{
    const Spec *spec = reader->spec;
    if (index >= spec->n_outer) return false;
    const Axis *axis = &spec->axes[spec->n_axes + spec->n_derived + index];
    *out = (FormEntry){.name = reader->names[axis->parameter], .text = values_text(&axis->values, reader->arena)};
    return true;
}

const Form form_outer = {
    .path = "search.cmaes.outer",
    .after = "search.method",
    .method = "cmaes",
    .words = "a mapping of parameters to values",
    .doc = "a grid over parameters that are not searched (values as in a grid): `searches` searches at every point, "
           "side by side; each does what it would do alone with these values fixed",
    .example = "{x_dot_des: [0, 1, 2, 3, 4]}",
    .stage = FORM_GRID,
    .names = form_map_names,
    .read = outer_read,
    .flags = KEY_IDENTITY,
    .entry = outer_entry,
    .canonical = "search.outer.",
    .digits = 3,
    .lines = {{.start = "search.outer.", .shown = "search.cmaes.outer.", .digits = 4}},
    .schema = SCHEMA_MAP_OF("values"),
    .parameters_at = "cmaes.properties.outer",
};
