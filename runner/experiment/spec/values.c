// Value forms: what a searched parameter goes through, or is drawn from. An axis is never expanded: it knows its
// count and gives value i.
#include "keys.h"

#include <math.h>
#include <string.h>

static const ValueForm values_forms[] = {
    {"linspace", "[first, last, points]", "evenly spaced, both ends included", "{linspace: [50, 300, 26]}",
     VALUES_LINSPACE, 3},
    {"logspace", "[first, last, points]", "evenly spaced in the logarithm; the ends are values, not exponents",
     "{logspace: [50, 300, 11]}", VALUES_LOGSPACE, 3},
    {"arange", "[start, greatest, step]", "start, start + step, ... up to the greatest value allowed",
     "{arange: [25, 40, 5]}", VALUES_ARANGE, 3},
    {"range", "[low, high]",
     "for methods that sample; `scale: log` samples its logarithm, `integer: true` whole numbers; cmaes: `sigma`, the "
     "part of the range that its first steps have",
     "{range: [50, 300], scale: log, integer: false}", VALUES_RANGE, 2},
};

const ValueForm *value_forms(int *count)
{
    *count = (int)(sizeof values_forms / sizeof values_forms[0]);
    return values_forms;
}

// ---- reading --------------------------------------------------------------------------------------------------------

static const Key values_points_key = {.path = "points", .type = KEY_INTEGER, .low = 2, .high = (double)INTEGER_MAX};
static const Key values_step_key = {.path = "step", .type = KEY_NUMBER, .low = -INFINITY, .high = INFINITY};
static const Key values_scale_key = {
    .path = "scale", .type = KEY_CHOICE, .words = "linear|log", .store = STORE_BOOLEAN};
static const Key values_integer_key = {.path = "integer", .type = KEY_BOOLEAN, .store = STORE_BOOLEAN};

static const Key values_sigma_key = {.path = "sigma", .type = KEY_NUMBER, .low = 1e-6, .high = 1.0};

static bool values_read_list(SpecReader *reader, const Key *key, const Node *node, Values *out)
{
    double *list = ARENA_NEW(reader->arena, double, node->count);
    bool good = node->count > 0;
    if (!good) diagnose(reader->diagnostics, node, "%s has no values, give at least one", key_name(key));
    for (int i = 0; i < node->count; i++) good &= scalar_number(reader, key, node->items[i], &list[i]);
    *out = (Values){.form = VALUES_LIST, .list = list, .count = node->count};
    return good;
}

static bool values_spaced(SpecReader *reader, const Key *key, const Node *node, Values *values)
{
    double points = 0;
    if (!scalar_number(reader, &values_points_key, node->items[2], &points)) return false;
    values->count = (int64_t)points;
    if (values->low == values->high) {
        diagnose(reader->diagnostics, node, "both ends of %s are %s, for one value write [%s]", key_name(key),
                 text_number(values->low).text, text_number(values->low).text);
        return false;
    }
    if (values->form == VALUES_LOGSPACE && (values->low <= 0.0 || values->high <= 0.0)) {
        diagnose(reader->diagnostics, node, "the ends of a logspace must be > 0: %s has a logarithm only then",
                 key_name(key));
        return false;
    }
    return true;
}

// The number of steps may come out as 2.9999999999999996 for [0, 0.3, 0.1]: a billionth of a step is rounding.
static bool values_stepped(SpecReader *reader, const Key *key, const Node *node, Values *values)
{
    if (!scalar_number(reader, &values_step_key, node->items[2], &values->step)) return false;
    if (values->step <= 0.0) {
        diagnose(reader->diagnostics, node->items[2], "step of %s is %s, must be > 0", key_name(key),
                 node->items[2]->text);
        return false;
    }
    const double steps = (values->high - values->low) / values->step;
    if (steps < 0.0) {
        diagnose(reader->diagnostics, node, "%s starts at %s, above the greatest value allowed, %s", key_name(key),
                 text_number(values->low).text, text_number(values->high).text);
        return false;
    }
    if (steps > 9007199254740991.0) {
        diagnose(reader->diagnostics, node, "%s has %s values, more than 2^53", key_name(key), text_number(steps).text);
        return false;
    }
    values->count = (int64_t)floor(steps + 1e-9) + 1;
    return true;
}

static bool values_flag(SpecReader *reader, const Key *row, const Node *mapping, bool *flag)
{
    const Node *node = node_find(mapping, row->path);
    Key key = *row;
    key.at = flag;
    const int errors = diagnostics_errors(reader->diagnostics);
    scalar_read(reader, &key, node);
    return diagnostics_errors(reader->diagnostics) == errors;
}

static bool values_ranged(SpecReader *reader, const Key *key, const Node *mapping, const Node *node, Values *values)
{
    bool good = values_flag(reader, &values_scale_key, mapping, &values->log_scale);
    good &= values_flag(reader, &values_integer_key, mapping, &values->integer);
    const Node *sigma = node_find(mapping, "sigma");
    if (sigma != NULL) good &= scalar_number(reader, &values_sigma_key, sigma, &values->sigma);
    const char *problem = NULL;
    if (values->low >= values->high)
        problem = "its low end must be below its high end";
    else if (values->log_scale && values->low <= 0.0)
        problem = "on a log scale both ends must be > 0";
    else if (values->integer && (values->low != floor(values->low) || values->high != floor(values->high)))
        problem = "the ends of an integer range must be integers";
    if (problem != NULL)
        diagnose(reader->diagnostics, node, "range of %s is [%s, %s]: %s", key_name(key), text_number(values->low).text,
                 text_number(values->high).text, problem);
    return good && problem == NULL;
}

static bool values_read_form(SpecReader *reader, const Key *key, const Node *mapping, const ValueForm *form,
                             const Node *node, Values *out)
{
    if (node->kind != NODE_SEQUENCE || node->count != form->n_arguments) {
        diagnose(reader->diagnostics, node, "%s of %s is %s, expected %s", form->name, key_name(key),
                 node->kind == NODE_SEQUENCE ? arena_format(reader->arena, "a list of %d", node->count)
                                             : scalar_given(node, reader->arena),
                 form->arguments);
        return false;
    }
    Values values = {.form = form->form};
    bool good = scalar_number(reader, key, node->items[0], &values.low);
    good &= scalar_number(reader, key, node->items[1], &values.high);
    if (good && !isfinite(values.high - values.low)) {
        diagnose(reader->diagnostics, node, "the ends of %s are too far apart", key_name(key));
        good = false;
    }
    if (!good) return false;
    *out = values;
    if (form->form == VALUES_ARANGE) return values_stepped(reader, key, node, out);
    if (form->form == VALUES_RANGE) return values_ranged(reader, key, mapping, node, out);
    return values_spaced(reader, key, node, out);
}

static const char values_expected[] = "linspace, logspace, arange, range or derive";

// A key of such a mapping that is a form, NULL if it is a companion of one (*good), or nothing (diagnosed).
static const ValueForm *values_form_key(SpecReader *reader, const Key *key, const Node *given, bool *good)
{
    static const char *const names[] = {"linspace", "logspace", "range",   "arange",
                                        "derive",   "scale",    "integer", "sigma"};
    const char *name = given->text, *near = nearest_name(name, names, sizeof names / sizeof names[0]);
    *good = near != NULL && strcmp(near, name) == 0;
    for (size_t f = 0; f < sizeof values_forms / sizeof values_forms[0]; f++) {
        if (strcmp(name, values_forms[f].name) == 0) return &values_forms[f];
    }
    if (*good) return NULL;
    if (near != NULL)
        diagnose(reader->diagnostics, given, "unknown key '%s' in %s; did you mean '%s'?", name, key_name(key), near);
    else
        diagnose(reader->diagnostics, given, "unknown key '%s' in %s, expected %s", name, key_name(key),
                 values_expected);
    return NULL;
}

// Which form a mapping is, and what stands behind it; NULL after an error.
static const ValueForm *values_form_of(SpecReader *reader, const Key *key, const Node *mapping, const Node **argument)
{
    const ValueForm *found = NULL;
    for (int i = 0; i < mapping->count; i++) {
        bool good;
        const ValueForm *form = values_form_key(reader, key, mapping->keys[i], &good);
        if (!good) return NULL;
        if (form != NULL && found != NULL) {
            diagnose(reader->diagnostics, mapping->keys[i], "%s has both %s and %s, give one", key_name(key),
                     found->name, form->name);
            return NULL;
        }
        if (form != NULL) *argument = mapping->items[i];
        if (form != NULL) found = form;
    }
    if (found == NULL)
        diagnose(reader->diagnostics, mapping, "%s has no values, expected a list or %s", key_name(key),
                 values_expected);
    else if (found->form != VALUES_RANGE && mapping->count > 1) {
        diagnose(reader->diagnostics, mapping, "%s of %s stands alone, only a range takes scale, integer and sigma",
                 found->name, key_name(key));
        found = NULL;
    }
    return found;
}

bool values_read(SpecReader *reader, const Key *key, const Node *node, Values *out)
{
    if (node->kind == NODE_SEQUENCE) return values_read_list(reader, key, node, out);
    if (node->kind == NODE_SCALAR) {
        diagnose(reader->diagnostics, node,
                 "%s is %s, expected values such as [1, 2, 3] or {linspace: [first, last, points]}; a single value is "
                 "fixed in `%.*s`",
                 key_name(key), scalar_given(node, reader->arena), (int)strcspn(key->path, "."), key->path);
        return false;
    }
    const Node *argument = NULL;
    const ValueForm *form = values_form_of(reader, key, node, &argument);
    return form != NULL && values_read_form(reader, key, node, form, argument, out);
}

// ---- points ---------------------------------------------------------------------------------------------------------

static bool points_read_one(SpecReader *reader, const Key *key, const Node *node, const double *before, double *xy)
{
    if (node->kind != NODE_SEQUENCE || node->count != 2) {
        diagnose(reader->diagnostics, node, "a point of %s is %s, expected two numbers [x, y]", key_name(key),
                 node->kind == NODE_SEQUENCE ? arena_format(reader->arena, "a list of %d", node->count)
                                             : scalar_given(node, reader->arena));
        return false;
    }
    const Key coordinate = {.path = key->path, .type = KEY_NUMBER, .unit = "", .low = key->low, .high = key->high};
    if (!scalar_number(reader, &coordinate, node->items[0], &xy[0])) return false;
    if (!scalar_number(reader, &coordinate, node->items[1], &xy[1])) return false;
    if (before == NULL || xy[0] > before[0]) return true;
    diagnose(reader->diagnostics, node->items[0], "x of %s must increase: %s is not above %s", key_name(key),
             text_number(xy[0]).text, text_number(before[0]).text);
    return false;
}

void points_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *points = key->at;
    *points = (Points){0};
    if (node == NULL) return;
    if (node->kind != NODE_SEQUENCE) {
        diagnose(reader->diagnostics, node, "%s is %s, expected %s", key_name(key), scalar_given(node, reader->arena),
                 key_expected(key, reader->arena));
        return;
    }
    if (node->count > POINTS_MAX) {
        diagnose(reader->diagnostics, node, "%s has %d points, at most %d are allowed", key_name(key), node->count,
                 POINTS_MAX);
        return;
    }
    double *xy = ARENA_NEW(reader->arena, double, 2 * node->count);
    for (int i = 0; i < node->count; i++) {
        const double *before = i > 0 ? xy + 2 * (i - 1) : NULL;
        if (!points_read_one(reader, key, node->items[i], before, xy + 2 * i)) return;
    }
    *points = (Points){.xy = xy, .count = node->count};
}

void numbers_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *numbers = key->at;
    *numbers = (Points){0};
    if (node == NULL) return;
    if (node->kind != NODE_SEQUENCE || node->count > POINTS_MAX) {
        double *ends = ARENA_NEW(reader->arena, double, 2); // what depends on a list being there is right all the same
        ends[0] = key->low;
        ends[1] = key->high;
        *numbers = (Points){.xy = ends, .count = 2};
        diagnose(reader->diagnostics, node, "%s is %s, expected %s", key_name(key),
                 node->kind == NODE_SEQUENCE ? arena_format(reader->arena, "a list of %d", node->count)
                                             : scalar_given(node, reader->arena),
                 key_expected(key, reader->arena));
        return;
    }
    const Key one = {.path = key->path, .type = KEY_NUMBER, .unit = key->unit, .low = key->low, .high = key->high};
    double *values = ARENA_NEW(reader->arena, double, node->count);
    for (int i = 0; i < node->count; i++) scalar_number(reader, &one, node->items[i], &values[i]);
    *numbers = (Points){.xy = values, .count = node->count};
}

// ---- writing --------------------------------------------------------------------------------------------------------

static const char *values_list_text(const Values *values, Arena *arena)
{
    const size_t size = (size_t)values->count * 32 + 3; // 24 characters a number at most, and ", "
    char *text = arena_take(arena, size, 1), *p = text;
    *p++ = '[';
    for (int64_t i = 0; i < values->count; i++) {
        const Text32 number = text_number(values->list[i]);
        p = stpcpy(stpcpy(p, i > 0 ? ", " : ""), number.text);
    }
    stpcpy(p, "]");
    return text;
}

const char *values_text(const Values *values, Arena *arena)
{
    const Text32 low = text_number(values->low), high = text_number(values->high), step = text_number(values->step);
    if (values->form == VALUES_LIST) return values_list_text(values, arena);
    if (values->form == VALUES_ARANGE)
        return arena_format(arena, "{arange: [%s, %s, %s]}", low.text, high.text, step.text);
    if (values->form == VALUES_RANGE) {
        const char *sigma =
            values->sigma > 0.0 ? arena_format(arena, ", sigma: %s", text_number(values->sigma).text) : "";
        return arena_format(arena, "{range: [%s, %s], scale: %s, integer: %s%s}", low.text, high.text,
                            values->log_scale ? "log" : "linear", values->integer ? "true" : "false", sigma);
    }
    return arena_format(arena, "{%s: [%s, %s, %lld]}", values->form == VALUES_LINSPACE ? "linspace" : "logspace",
                        low.text, high.text, (long long)values->count);
}

const char *numbers_text(const Points *numbers, Arena *arena)
{
    return values_list_text(&(Values){.form = VALUES_LIST, .list = numbers->xy, .count = numbers->count}, arena);
}

const char *points_text(const Points *points, Arena *arena)
{
    const size_t size = (size_t)points->count * 64 + 3; // 24 characters a number at most, and "[, ], "
    char *text = arena_take(arena, size, 1), *p = stpcpy(text, "[");
    for (int64_t i = 0; i < points->count; i++) {
        const Text32 x = text_number(points->xy[2 * i]), y = text_number(points->xy[2 * i + 1]);
        p = stpcpy(stpcpy(p, i > 0 ? ", [" : "["), x.text);
        p = stpcpy(stpcpy(stpcpy(p, ", "), y.text), "]");
    }
    stpcpy(p, "]");
    return text;
}
