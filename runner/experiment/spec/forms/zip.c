// `zip`: axes of a grid that advance together.
#include "../axes.h"

#include <string.h>

static Axis *zip_member(SpecReader *reader, AxesBuild *build, const Node *node, int group)
{
    const char *problem = node->kind == NODE_SCALAR ? "is not an axis of search.over" : "expected the name of an axis";
    for (int a = 0; node->kind == NODE_SCALAR && a < build->n_axes; a++) {
        Axis *axis = &build->axes[a];
        if (strcmp(reader->names[axis->parameter], node->text) != 0) continue;
        if (axis->zip < 0) {
            axis->zip = group;
            return axis;
        }
        problem = axis->zip == group ? "is named twice" : "is in another group of zip already";
    }
    diagnose(reader->diagnostics, node, "%s %s", scalar_given(node, reader->arena), problem);
    return NULL;
}

static void zip_read_group(SpecReader *reader, const Node *group, AxesBuild *build, int number)
{
    if (group->kind != NODE_SEQUENCE || group->count < 2) {
        diagnose(reader->diagnostics, group, "a group of zip is %s, expected a list of two or more axes: [[a, b]]",
                 group->kind == NODE_SEQUENCE ? "shorter than two" : scalar_given(group, reader->arena));
        return;
    }
    const Axis *first = NULL;
    for (int i = 0; i < group->count; i++) {
        const Axis *axis = zip_member(reader, build, group->items[i], number);
        if (axis == NULL) continue;
        if (first == NULL) first = axis;
        const int64_t count = axis->values.count, expected = first->values.count;
        if (count == expected || count == 0 || expected == 0) continue; // 0: its values were wrong
        diagnose(reader->diagnostics, group->items[i],
                 "%s has %lld values and %s has %lld, zipped axes have equally many", reader->names[axis->parameter],
                 (long long)count, reader->names[first->parameter], (long long)expected);
    }
}

void axes_read_zip(SpecReader *reader, const Node *zip, AxesBuild *build)
{
    if (zip->kind != NODE_SEQUENCE)
        diagnose(reader->diagnostics, zip, "zip is %s, expected a list of groups of axes: [[a, b]]",
                 scalar_given(zip, reader->arena));
    for (int g = 0; zip->kind == NODE_SEQUENCE && g < zip->count; g++) zip_read_group(reader, zip->items[g], build, g);
}

static void zip_read(SpecReader *reader, const GivenKey *given)
{
    const SearchMethod *method = reader->spec->method;
    const GivenKey *over = given_find(reader, form_over.path);
    const bool no_axes = over != NULL && over->value->kind != NODE_MAPPING; // reported, and no name would be known
    if (!axes_are_grid(method))
        diagnose(reader->diagnostics, given->key, "zip belongs to method grid, and this is method %s", method->name);
    else if (!no_axes)
        axes_read_zip(reader, given->value, reader->axes);
}

// ---- writing --------------------------------------------------------------------------------------------------------

// [[a, b], [c, d]]
const char *zip_text(const SpecReader *reader, const int *zip)
{
    const char *text = NULL;
    for (int a = 0; a < reader->spec->n_axes; a++) {
        const char *names = NULL;
        bool first = zip[a] >= 0;
        for (int before = 0; before < a; before++) first &= zip[before] != zip[a];
        for (int b = a; first && b < reader->spec->n_axes; b++) {
            const char *name = reader->names[reader->spec->axes[b].parameter];
            if (zip[b] != zip[a]) continue;
            names = names != NULL ? arena_format(reader->arena, "%s, %s", names, name) : name;
        }
        if (first)
            text = arena_format(reader->arena, "%s[%s]", text != NULL ? arena_format(reader->arena, "%s, ", text) : "",
                                names);
    }
    return text != NULL ? arena_format(reader->arena, "[%s]", text) : NULL;
}

static const char *zip_of_axes(const SpecReader *reader)
{
    int *zip = ARENA_NEW(reader->arena, int, reader->spec->n_axes);
    for (int a = 0; a < reader->spec->n_axes; a++) zip[a] = reader->spec->axes[a].zip;
    return zip_text(reader, zip);
}

// Groups are numbered by their first axis; -1: the axis is not zipped.
static int zip_number(const Spec *spec, int axis)
{
    int number = -1;
    for (int a = 0; a <= axis; a++) {
        number += spec->axes[a].zip >= 0 && search_zip_leader(spec, a) == a;
        if (spec->axes[a].zip >= 0 && spec->axes[a].zip == spec->axes[axis].zip) return number;
    }
    return -1;
}

static void zip_identify(const SpecReader *reader, CanonicalLines *lines)
{
    const Spec *spec = reader->spec;
    for (int a = 0; a < spec->n_axes; a++) {
        const char *name = reader->names[spec->axes[a].parameter];
        if (spec->axes[a].zip >= 0)
            canonical_add(lines, arena_format(lines->arena, "search.axis.%03d.%s.zip", a, name),
                          arena_format(lines->arena, "%d", zip_number(spec, a)));
    }
}

const Form form_zip = {
    .path = "search.zip",
    .after = "search.csv",
    .words = "a list of lists of searched parameters",
    .doc = "axes that advance together; they have equally many values",
    .example = "[[k_att, b_att]]",
    .stage = FORM_GRID,
    .read = zip_read,
    .text = zip_of_axes,
    .identify = zip_identify,
    .lines = {{.start = "search.axis.", .end = ".zip", .shown = "search.over.", .digits = 4, .change = CHANGE_ADDED}},
    .schema = SCHEMA_ZIP,
};
