// `union`: several grids, each with its own axes. The axes of the search are those of all grids, in the order in
// which they are first named. In a grid without an axis the parameter keeps its fixed value.
#include "../axes.h"

#include <string.h>

static void union_read_axis(SpecReader *reader, const Node *over, int index, AxesBuild *grid)
{
    const Node *name = over->keys[index], *node = over->items[index];
    const int parameter = parameter_find(reader, name, over, "search.union");
    if (!axes_claim(grid, name, parameter)) return;
    const Key *key = reader->parameter_keys[parameter];
    Axis axis = {.parameter = parameter, .zip = -1};
    if (node_find(node, "derive") != NULL) {
        diagnose(reader->diagnostics, node, "%s is derived here; what is derived stands in `over` beside `union`",
                 key_name(key));
        return;
    }
    if (!values_read(reader, key, node, &axis.values)) return;
    if (values_are_range(&axis.values)) {
        diagnose(reader->diagnostics, node,
                 "a grid takes no range for %s, expected a list, linspace, logspace or arange", key_name(key));
        return;
    }
    grid->names[grid->n_axes] = name;
    grid->axes[grid->n_axes++] = axis;
}

static bool union_check_grid(SpecReader *reader, const Node *node)
{
    const int errors = diagnostics_errors(reader->diagnostics);
    const Node *over = node_find(node, "over");
    if (node->kind != NODE_MAPPING)
        diagnose(reader->diagnostics, node, "a grid of union is %s, expected {over: {a: [1, 2]}}",
                 scalar_given(node, reader->arena));
    else if (over == NULL || over->kind != NODE_MAPPING || over->count == 0)
        diagnose(reader->diagnostics, over != NULL ? over : node,
                 "a grid of union has no axes, expected {over: {a: [1, 2]}}");
    for (int i = 0; node->kind == NODE_MAPPING && i < node->count; i++) {
        const char *key = node->keys[i]->text;
        if (strcmp(key, "over") != 0 && strcmp(key, "zip") != 0)
            diagnose(reader->diagnostics, node->keys[i], "unknown key '%s' in a grid of union, expected over or zip",
                     key);
    }
    return diagnostics_errors(reader->diagnostics) == errors;
}

// The axes of one grid; false after an error.
static bool union_read_grid(SpecReader *reader, const Node *node, AxesBuild *grid)
{
    const int n = configured_named(&reader->spec->configured), errors = diagnostics_errors(reader->diagnostics);
    *grid = (AxesBuild){.axes = ARENA_NEW(reader->arena, Axis, n),
                        .names = ARENA_NEW(reader->arena, const Node *, n),
                        .taken = ARENA_NEW(reader->arena, const Node *, n)};
    if (!union_check_grid(reader, node)) return false;
    const Node *over = node_find(node, "over"), *zip = node_find(node, "zip");
    for (int i = 0; i < over->count; i++) union_read_axis(reader, over, i, grid);
    if (zip != NULL) axes_read_zip(reader, zip, grid);
    return diagnostics_errors(reader->diagnostics) == errors;
}

static int union_axis(SpecReader *reader, AxesBuild *build, const Axis *axis, const Node *name)
{
    for (int a = 0; a < build->n_axes; a++) {
        if (build->axes[a].parameter == axis->parameter) return a;
    }
    if (build->taken[axis->parameter] != NULL)
        diagnose(reader->diagnostics, name, "%s is derived in `over`, remove one", name->text);
    build->taken[axis->parameter] = name;
    build->names[build->n_axes] = name;
    build->axes[build->n_axes] = (Axis){.parameter = axis->parameter, .zip = -1, .values = axis->values};
    return build->n_axes++;
}

// Puts the grid's axes at the indices that they have among all axes.
static UnionGrid union_order_axes(SpecReader *reader, AxesBuild *build, const AxesBuild *grid)
{
    const int n = configured_named(&reader->spec->configured);
    Values *values = ARENA_NEW(reader->arena, Values, n);
    int *zip = ARENA_NEW(reader->arena, int, n);
    for (int a = 0; a < n; a++) zip[a] = -1;
    for (int a = 0; a < grid->n_axes; a++) {
        const int index = union_axis(reader, build, &grid->axes[a], grid->names[a]);
        values[index] = grid->axes[a].values;
        zip[index] = grid->axes[a].zip;
    }
    return (UnionGrid){.values = values, .zip = zip};
}

static void union_mark_partial(const UnionGrid *grids, int count, AxesBuild *build)
{
    for (int b = 0; b < count; b++) {
        for (int a = 0; a < build->n_axes; a++) build->axes[a].partial |= grids[b].values[a].count == 0;
    }
}

static bool union_check(SpecReader *reader, const GivenKey *given, const AxesBuild *build)
{
    const Node *node = given->value;
    const GivenKey *zip = given_find(reader, "search.zip");
    if (zip != NULL) diagnose(reader->diagnostics, zip->key, "zip stands in the grids of `union`");
    if (node->kind != NODE_SEQUENCE || node->count == 0)
        form_mistyped(reader, given);
    else if (node->count > UNION_MAX)
        diagnose(reader->diagnostics, node, "union has %d grids, at most %d are allowed", node->count, UNION_MAX);
    else if (build->n_axes > 0)
        diagnose(reader->diagnostics, build->names[0],
                 "beside `union` only derived parameters stand in `over`; put %s "
                 "into its grids",
                 build->names[0]->text);
    else
        return true;
    return false;
}

static void union_read(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    AxesBuild *build = reader->axes;
    build->several_grids = true;
    if (!union_check(reader, given, build)) return;
    UnionGrid *grids = ARENA_NEW(reader->arena, UnionGrid, node->count);
    int64_t trials = 0;
    int count = 0;
    for (int b = 0; b < node->count; b++) {
        AxesBuild grid;
        if (!union_read_grid(reader, node->items[b], &grid)) continue;
        trials += axes_product(reader, &grid);
        grids[count++] = union_order_axes(reader, build, &grid);
        if (trials > TRIALS_MAX) {
            diagnose(reader->diagnostics, node->items[b], "the union has more than 2^48 trials; use fewer values");
            return;
        }
    }
    union_mark_partial(grids, count, build);
    reader->spec->grids = grids;
    reader->spec->n_grids = count;
    reader->spec->values_in = "union";
}

// ---- writing --------------------------------------------------------------------------------------------------------

// {over: {a: [1, 2], b: {linspace: [0, 1, 3]}}, zip: [[a, b]]}
static bool union_entry(const SpecReader *reader, int index, FormEntry *out)
{
    const Spec *spec = reader->spec;
    Arena *arena = reader->arena;
    const char *over = "";
    if (index >= spec->n_grids) return false;
    const UnionGrid *grid = &spec->grids[index];
    for (int a = 0; a < spec->n_axes; a++) {
        if (grid->values[a].count == 0) continue;
        over = arena_format(arena, "%s%s%s: %s", over, over[0] != '\0' ? ", " : "",
                            reader->names[spec->axes[a].parameter], values_text(&grid->values[a], arena));
    }
    const char *zip = zip_text(reader, grid->zip);
    out->text = zip != NULL ? arena_format(arena, "{over: {%s}, zip: %s}", over, zip)
                            : arena_format(arena, "{over: {%s}}", over);
    return true;
}

const Form form_union = {
    .path = "search.union",
    .after = "search.exclude",
    .method = "grid",
    .words = "a list of grids {over: {...}, zip: [...]}",
    .doc = "method grid: several grids, one after the other, instead of the axes of `over`. In a grid without an "
           "axis the parameter keeps its fixed value; a point that several grids have is run once",
    .example = "[{over: {k_fp: [100, 150], thrust: [30, 35]}}, {over: {k_att: [50, 100]}}]",
    .stage = FORM_GRID,
    .instead_of = "search.zip",
    .nameless = true,
    .read = union_read,
    .flags = KEY_IDENTITY,
    .entry = union_entry,
    .canonical = "search.union.",
    .digits = 3,
    .lines = {{.start = "search.union.", .shown = "search.union.", .change = CHANGE_GRID}},
    .schema = "{type: array, minItems: 1, maxItems: MOST, items: $grid}",
    .parameters_at = "union.items.properties.over",
    .definition = "grid",
    .define = "{type: object, properties: {over: " SCHEMA_MAP_OF("values") ", zip: " SCHEMA_ZIP
                                                                           "}, additionalProperties: false}",
    .most = UNION_MAX,
    .most_of = "grids",
};
