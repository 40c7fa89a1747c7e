// Points of the searched parameters: `cmaes.inject`, which are run in the first generation; `adam.starts` and
// `lbfgs.starts`, where searches start.
#include "../forms.h"

#include <math.h>
#include <string.h>

enum { INJECT_MAX = 4096 };

static int inject_axis(const Spec *spec, int parameter)
{
    for (int a = 0; a < spec->n_axes; a++) {
        if (spec->axes[a].parameter == parameter) return a;
    }
    return -1;
}

static void inject_read_coordinate(SpecReader *reader, const char *path, const Node *point, int index, double *values,
                                   bool *given)
{
    const Node *name = point->keys[index], *node = point->items[index];
    const int parameter = parameter_find(reader, name, point, path);
    if (parameter < 0) return;
    const int axis = inject_axis(reader->spec, parameter);
    if (axis < 0 && strcmp(reader->names[parameter], name->text) != 0) return; // misspelt: reported
    if (axis < 0) {
        diagnose(reader->diagnostics, name, "%s is not in search.over: its value is the same in all trials",
                 name->text);
        return;
    }
    const Values *range = &reader->spec->axes[axis].values;
    given[axis] = true;
    if (!scalar_of_parameter(reader, reader->parameter_keys[parameter], node, &values[axis])) return;
    if (values[axis] < range->low || values[axis] > range->high)
        diagnose(reader->diagnostics, node, "%s is %s, and is searched in [%s, %s]", name->text, node->text,
                 value_text(range->choices, range->low).text, value_text(range->choices, range->high).text);
    else if (range->integer && values[axis] != floor(values[axis]))
        diagnose(reader->diagnostics, node, "%s is %s, and only integers are searched", name->text, node->text);
}

static void inject_read_point(SpecReader *reader, const char *path, const Node *point, double *values)
{
    const Spec *spec = reader->spec;
    bool *given = ARENA_NEW(reader->arena, bool, spec->n_axes + 1);
    if (point->kind != NODE_MAPPING) {
        diagnose(reader->diagnostics, point, "point is %s, expected a mapping of the searched parameters to numbers",
                 scalar_given(point, reader->arena));
        return;
    }
    for (int i = 0; i < point->count; i++) inject_read_coordinate(reader, path, point, i, values, given);
    for (int a = 0; a < spec->n_axes; a++) {
        if (!given[a])
            diagnose(reader->diagnostics, point, "%s is missing, a point names all searched parameters",
                     reader->names[spec->axes[a].parameter]);
    }
}

static void inject_read(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    Spec *spec = reader->spec;
    if (node->kind != NODE_SEQUENCE || node->count > INJECT_MAX) {
        diagnose(reader->diagnostics, node, "%s is %s, expected a list of up to %d mappings such as {k: 1, d: 2}",
                 strrchr(given->path, '.') + 1,
                 node->kind == NODE_SEQUENCE ? arena_format(reader->arena, "a list of %d", node->count)
                                             : scalar_given(node, reader->arena),
                 INJECT_MAX);
        return;
    }
    double *values = ARENA_NEW(reader->arena, double, (int64_t)node->count * spec->n_axes + 1);
    for (int i = 0; i < node->count; i++)
        inject_read_point(reader, given->path, node->items[i], values + (int64_t)i * spec->n_axes);
    spec->inject = values;
    spec->n_inject = node->count;
}

// ---- writing --------------------------------------------------------------------------------------------------------

// {k_fp: 100, thrust: 30}
static bool inject_entry(const SpecReader *reader, int index, FormEntry *out)
{
    const Spec *spec = reader->spec;
    const char *text = "{";
    if (index >= spec->n_inject) return false;
    for (int a = 0; a < spec->n_axes; a++)
        text = arena_format(
            reader->arena, "%s%s%s: %s", text, a > 0 ? ", " : "", reader->names[spec->axes[a].parameter],
            value_text(spec->axes[a].values.choices, spec->inject[(int64_t)index * spec->n_axes + a]).text);
    out->text = arena_format(reader->arena, "%s}", text);
    return true;
}

// clang-format off
#define INJECT_FORM(method_, name, behind, what) \
    .path = "search." method_ "." name, \
    .after = "search." method_ "." behind, \
    .method = method_, \
    .words = "a list of mappings of parameters to numbers", \
    .doc = "method " method_ ": " what "; each names all searched parameters", \
    .example = "[{k_fp: 100, thrust: 30}]", \
    .stage = FORM_SEARCH, \
    .read = inject_read, \
    .flags = KEY_IDENTITY, \
    .entry = inject_entry, \
    .canonical = "search." method_ "." name ".", \
    .digits = 4, \
    .schema = "{type: array, maxItems: MOST, items: $point}", \
    .most = INJECT_MAX

#define INJECT_STARTS "points where the first searches start, one each"
// clang-format on

const Form form_inject = {INJECT_FORM("cmaes", "inject", "from", "points that are run in the first generation")};
const Form form_adam_starts = {INJECT_FORM("adam", "starts", "from", INJECT_STARTS)};
const Form form_lbfgs_starts = {INJECT_FORM("lbfgs", "starts", "from", INJECT_STARTS)};
const Form form_least_squares_starts = {INJECT_FORM("least_squares", "starts", "from", INJECT_STARTS)};
