// `cmaes.outer`: a grid over parameters that are not searched, with searches of its own at every point.
#include "axes.h"

#include <string.h>

static double outer_setting(const SpecReader *reader, const char *path)
{
    for (int i = 0; i < reader->n_keys; i++) {
        if (strcmp(reader->keys[i].path, path) == 0) return *(const double *)reader->keys[i].at;
    }
    return 0.0;
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
    if (axis.values.form == VALUES_RANGE)
        diagnose(reader->diagnostics, node,
                 "outer takes no range for %s, expected a list, linspace, logspace or arange", key_name(key));
    else
        build->outer[build->n_outer++] = axis;
}

// All values of all axes, each point with its searches, are at most so many.
static void outer_count(SpecReader *reader, const Node *outer, const AxesBuild *build)
{
    Spec *spec = reader->spec;
    const int64_t searches = (int64_t)outer_setting(reader, "search.cmaes.searches");
    int64_t points = 1;
    bool fits = searches <= SEARCHES_MAX;
    for (int i = 0; fits && i < build->n_outer; i++) {
        const int64_t count = build->outer[i].values.count;
        fits = count <= SEARCHES_MAX / (points * searches);
        points *= count;
    }
    spec->outer.points = fits ? points : 1;
    spec->outer.searches = searches;
    spec->outer.first = (int64_t)outer_setting(reader, "search.cmaes.first");
    if (!fits)
        diagnose(reader->diagnostics, outer, "the points of outer, with %lld search%s each, are more than %d searches",
                 (long long)searches, searches == 1 ? "" : "es", SEARCHES_MAX);
}

void axes_read_outer(SpecReader *reader, const Node *outer, AxesBuild *build)
{
    if (scalar_is_empty(outer)) return;
    if (outer->kind != NODE_MAPPING) {
        form_mistyped(reader, "search.cmaes.outer", outer);
        return;
    }
    for (int i = 0; i < outer->count; i++) outer_read_axis(reader, outer, i, build);
    outer_count(reader, outer, build);
}
