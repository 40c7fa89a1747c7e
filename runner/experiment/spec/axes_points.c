// `points`: the trials of methods list and csv, one by one, as mappings or as a table.
#include "axes.h"

#include <string.h>

// The first point says which parameters there are, and in which order.
static void axes_first_point(SpecReader *reader, const Node *point, AxesBuild *build)
{
    for (int i = 0; i < point->count; i++) {
        const int parameter = parameter_find(reader, point->keys[i], point, "search.points");
        if (!axes_claim(build, point->keys[i], parameter)) continue;
        build->names[build->n_axes] = point->keys[i];
        build->axes[build->n_axes++] = (Axis){.parameter = parameter, .zip = -1};
    }
}

static void axes_read_point(SpecReader *reader, const Node *point, const AxesBuild *build, double *values)
{
    for (int a = 0; a < build->n_axes; a++) {
        const Key *key = reader->parameter_keys[build->axes[a].parameter];
        const Node *node = node_find(point, build->names[a]->text);
        if (node != NULL)
            scalar_number(reader, key, node, &values[a]);
        else
            diagnose(reader->diagnostics, point, "%s is missing, all points name the same parameters", key_name(key));
    }
    for (int i = 0; i < point->count; i++) {
        bool known = false;
        for (int a = 0; a < build->n_axes; a++) known |= strcmp(build->names[a]->text, point->keys[i]->text) == 0;
        if (!known)
            diagnose(reader->diagnostics, point->keys[i], "%s is not in the first point, all name the same parameters",
                     point->keys[i]->text);
    }
}

// Column a of the points as the values of axis a, for whoever describes the axes.
static void axes_fill_columns(SpecReader *reader, AxesBuild *build, const double *points, int64_t count)
{
    for (int a = 0; a < build->n_axes; a++) {
        double *column = ARENA_NEW(reader->arena, double, count);
        for (int64_t p = 0; p < count; p++) column[p] = points[p * build->n_axes + a];
        build->axes[a].values = (Values){.form = VALUES_LIST, .list = column, .count = count};
    }
}

void axes_set_points(SpecReader *reader, AxesBuild *build, const double *points, int64_t count)
{
    axes_fill_columns(reader, build, points, count);
    reader->spec->points = points;
    reader->spec->n_points = count;
}

// A table that stands in the spec itself: places in it are told by its own lines.
static void axes_read_text(SpecReader *reader, const Node *points, AxesBuild *build)
{
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    *source = (Source){.file = arena_format(reader->arena, "%s: points", points->source->file), .text = points->text};
    axes_read_table(reader, source, NULL, build);
}

void axes_read_points(SpecReader *reader, const Node *points, AxesBuild *build)
{
    if (points->kind == NODE_SCALAR && strchr(points->text, '\n') != NULL) {
        axes_read_text(reader, points, build);
        return;
    }
    if (points->kind != NODE_SEQUENCE || points->count == 0) {
        diagnose(reader->diagnostics, points, "points is %s, expected a list of mappings such as {k: 1, d: 2}",
                 points->kind == NODE_SEQUENCE ? "an empty list" : scalar_given(points, reader->arena));
        return;
    }
    for (int i = 0; i < points->count; i++) {
        if (points->items[i]->kind == NODE_MAPPING && points->items[i]->count > 0) continue;
        diagnose(reader->diagnostics, points->items[i], "point is %s, expected a mapping of parameters to numbers",
                 scalar_given(points->items[i], reader->arena));
        return;
    }
    const int errors = diagnostics_errors(reader->diagnostics);
    axes_first_point(reader, points->items[0], build);
    if (diagnostics_errors(reader->diagnostics) > errors) return; // every point would repeat them
    double *values = ARENA_NEW(reader->arena, double, (int64_t)points->count * build->n_axes);
    for (int i = 0; i < points->count; i++)
        axes_read_point(reader, points->items[i], build, values + (int64_t)i * build->n_axes);
    axes_set_points(reader, build, values, points->count);
}
