// `points`: the trials of methods list and csv, as mappings or as a table.
#include "../axes.h"

#include <string.h>

enum { POINTS_LISTED = 1000 }; // up to this number points are written one by one

// The first point gives the parameters and their order.
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
            scalar_of_parameter(reader, key, node, &values[a]);
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

// Column a of the points as the values of axis a, for descriptions of the axes.
static void axes_fill_columns(SpecReader *reader, AxesBuild *build, const double *points, int64_t count)
{
    for (int a = 0; a < build->n_axes; a++) {
        double *column = ARENA_NEW(reader->arena, double, count);
        for (int64_t p = 0; p < count; p++) column[p] = points[p * build->n_axes + a];
        const char *choices = configured_choices(&reader->spec->configured, build->axes[a].parameter);
        build->axes[a].values = (Values){.list = column, .count = count, .choices = choices};
    }
}

void axes_set_points(SpecReader *reader, AxesBuild *build, const double *points, int64_t count)
{
    axes_fill_columns(reader, build, points, count);
    reader->spec->points = points;
    reader->spec->n_points = count;
    reader->spec->values_in = "points";
}

// A table in the spec itself: errors give the line in the table.
static void axes_read_text(SpecReader *reader, const Node *points, AxesBuild *build)
{
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    *source = (Source){.file = arena_format(reader->arena, "%s: points", points->source->file), .text = points->text};
    axes_read_table(reader, source, NULL, build);
}

bool axes_takes_points(SpecReader *reader, const GivenKey *given)
{
    const SearchMethod *method = reader->spec->method;
    if (method->wants_points) return true;
    diagnose(reader->diagnostics, given->key, "%s to methods list and csv, and this is method %s",
             strcmp(given->path, form_points.path) == 0 ? "points belong" : "csv belongs", method->name);
    return false;
}

static void points_read_form(SpecReader *reader, const GivenKey *given)
{
    const Node *points = given->value;
    AxesBuild *build = reader->axes;
    if (!axes_takes_points(reader, given)) return;
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

static void points_names(const Node *value, FormNames *names)
{
    for (int i = 0; value->kind == NODE_SEQUENCE && i < value->count; i++) form_map_names(value->items[i], names);
}

// ---- writing --------------------------------------------------------------------------------------------------------

// Value `index` of all points: a number or a word.
static ValueText points_text_of(const Spec *spec, int64_t index)
{
    return value_text(spec->axes[index % spec->n_axes].values.choices, spec->points[index]);
}

// A table is shorter than mappings, and YAML reads it as one text.
static void points_resolve_table(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    resolve_line(writer, path, "|", NULL);
    for (int a = 0; a < spec->n_axes; a++)
        fprintf(writer->out, "%s%s", a == 0 ? "    " : ",", writer->reader->names[spec->axes[a].parameter]);
    for (int64_t i = 0; i < spec->n_points * spec->n_axes; i++)
        fprintf(writer->out, "%s%s", i % spec->n_axes == 0 ? "\n    " : ",", points_text_of(spec, i).text);
    fputc('\n', writer->out);
}

static void points_resolve(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->n_points == 0) return;
    if (spec->n_points > POINTS_LISTED) {
        points_resolve_table(writer, path);
        return;
    }
    resolve_line(writer, path, "", NULL);
    for (int64_t p = 0; p < spec->n_points; p++) {
        for (int a = 0; a < spec->n_axes; a++)
            fprintf(writer->out, "%s%s: %s", a == 0 ? "    - {" : ", ", writer->reader->names[spec->axes[a].parameter],
                    points_text_of(spec, p * spec->n_axes + a).text);
        fputs("}\n", writer->out);
    }
}

// Point by point; many as one line with their digest.
static void points_identify(const SpecReader *reader, CanonicalLines *lines)
{
    const Spec *spec = reader->spec;
    Arena *arena = lines->arena;
    const size_t bytes = (size_t)(spec->n_points * spec->n_axes) * sizeof *spec->points;
    if (spec->n_points > POINTS_LISTED) {
        canonical_add(lines, "search.points",
                      arena_format(arena, "%lld points, sha256 %s", (long long)spec->n_points,
                                   sha256_of(spec->points, bytes).hex));
        return;
    }
    for (int64_t p = 0; p < spec->n_points; p++) {
        const char *text = "[";
        for (int a = 0; a < spec->n_axes; a++)
            text =
                arena_format(arena, "%s%s%s", text, a > 0 ? ", " : "", points_text_of(spec, p * spec->n_axes + a).text);
        canonical_add(lines, arena_format(arena, "search.points.%09lld", (long long)p),
                      arena_format(arena, "%s]", text));
    }
}

const Form form_points = {
    .path = "search.points",
    .after = "search.over",
    .words = "a list of mappings of parameters to numbers",
    .doc = "methods list and csv: the trials; all name the same parameters. Also a text in the form of `csv`",
    .example = "[{k_fp: 100, thrust: 30}, {k_fp: 150, thrust: 35}]",
    .stage = FORM_POINTS,
    .names = points_names,
    .read = points_read_form,
    .resolve = points_resolve,
    .identify = points_identify,
    .lines = {{.start = "search.points.", .shown = "search.points.", .change = CHANGE_POINTS},
              {.start = "search.points", .shown = "search.points", .change = CHANGE_POINTS}},
    .schema = "{anyOf: [{type: array, minItems: 1, items: $point}, {type: string}]}",
};
