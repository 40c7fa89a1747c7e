// The axes of `search:`, as its forms gather them (forms/over.c and others).
#include "axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const Axis *axis_of(const Spec *spec, int parameter)
{
    for (int i = 0; i < spec->n_axes + spec->n_derived + spec->n_outer; i++) {
        if (spec->axes[i].parameter == parameter) return &spec->axes[i];
    }
    return NULL;
}

// ---- what forms share -----------------------------------------------------------------------------------------------

bool axes_claim(AxesBuild *build, const Node *name, int parameter)
{
    if (parameter < 0 || build->taken[parameter] != NULL) return false; // reported: only a misspelt name comes twice
    build->taken[parameter] = name;
    return true;
}

bool axes_are_grid(const SearchMethod *method) { return method->wants_values && !method->wants_range; }

static bool axes_leads_zip(const AxesBuild *build, int a)
{
    for (int before = 0; before < a; before++) {
        if (build->axes[a].zip >= 0 && build->axes[before].zip == build->axes[a].zip) return false;
    }
    return true;
}

int64_t axes_product(SpecReader *reader, const AxesBuild *build)
{
    int64_t product = 1;
    for (int a = 0; a < build->n_axes; a++) {
        if (!axes_leads_zip(build, a)) continue;
        if (__builtin_mul_overflow(product, build->axes[a].values.count, &product) || product > TRIALS_MAX) {
            diagnose(reader->diagnostics, build->names[a],
                     "the grid has more than 2^48 trials from this axis on; use fewer values");
            return 0;
        }
    }
    return product;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// A searched parameter can't be fixed too, unless some trials do not search it.
static void axes_check_fixed(SpecReader *reader, const AxesBuild *build)
{
    for (int p = 0; p < configured_named(&reader->spec->configured); p++) {
        const Key *key = reader->parameter_keys[p];
        const Node *name = build->taken[p];
        const GivenKey *fixed = given_find(reader, key->path);
        bool partial = false;
        for (int a = 0; a < build->n_axes; a++) partial |= build->axes[a].parameter == p && build->axes[a].partial;
        if (name == NULL || fixed == NULL || partial || strcmp(name->text, key_name(key)) != 0) continue;
        diagnose(reader->diagnostics, name, "%s is searched here and fixed in `%.*s` (%s:%d), remove one", name->text,
                 (int)strcspn(key->path, "."), key->path, fixed->key->source->file, fixed->key->line);
    }
}

static int axes_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// A value that stands in the list of an axis twice is two trials, which may be meant: a warning, for a spec in a file.
static void axes_warn_of_repeats(SpecReader *reader, const AxesBuild *build)
{
    for (int a = 0; a < build->n_axes && reader->folder != NULL; a++) {
        const Values *values = &build->axes[a].values;
        if (values->form != NULL || build->axes[a].zip >= 0 || values->count < 2) continue;
        double *sorted = ARENA_NEW(reader->arena, double, values->count);
        memcpy(sorted, values->list, (size_t)values->count * sizeof *sorted);
        qsort(sorted, (size_t)values->count, sizeof *sorted, axes_compare);
        for (int64_t i = 1; i < values->count; i++) {
            if (sorted[i] != sorted[i - 1]) continue;
            diagnose_warning(reader->diagnostics, build->names[a],
                             "%s has the value %s twice: trials that differ in nothing are run twice",
                             build->names[a]->text, value_text(values->choices, sorted[i]).text);
            break;
        }
    }
}

// The forms that depend on the method, and what it requires.
static void axes_read_by_method(SpecReader *reader)
{
    const SearchMethod *method = reader->spec->method;
    const GivenKey *over = given_find(reader, form_over.path), *name = given_find(reader, form_method.path);
    forms_read(reader, FORM_POINTS);
    if (method->wants_points && forms_given(reader, FORM_POINTS) == 0)
        diagnose(reader->diagnostics, name->value,
                 "method %s needs its trials: `points`, a list of them, or `csv`, a file", method->name);
    forms_read(reader, FORM_GRID);
    if (method == &search_grid && !reader->axes->several_grids) {
        (void)axes_product(reader, reader->axes);
        axes_warn_of_repeats(reader, reader->axes);
    }
    if (method->wants_range && reader->axes->n_axes == 0 && (over == NULL || over->value->count == 0))
        diagnose(reader->diagnostics, name->value,
                 "method %s needs `over` with at least one parameter: over: {NAME: {range: [LOW, HIGH]}}",
                 method->name);
}

AxesBuild *axes_start(SpecReader *reader, int n)
{
    AxesBuild *build = ARENA_NEW(reader->arena, AxesBuild, 1);
    *build = (AxesBuild){.axes = ARENA_NEW(reader->arena, Axis, 3 * n + 1),
                         .derived = ARENA_NEW(reader->arena, Axis, n + 1),
                         .outer = ARENA_NEW(reader->arena, Axis, n + 1),
                         .expressions = ARENA_NEW(reader->arena, const Node *, n + 1),
                         .names = ARENA_NEW(reader->arena, const Node *, n + 1),
                         .taken = ARENA_NEW(reader->arena, const Node *, n + 1)};
    reader->axes = build;
    return build;
}

void axes_read(SpecReader *reader)
{
    Spec *spec = reader->spec;
    AxesBuild *build = axes_start(reader, configured_named(&spec->configured));
    forms_read(reader, FORM_OVER);
    if (spec->method != NULL) axes_read_by_method(reader);
    followers_derive(reader, build);
    axes_read_derived(reader, build);
    if (spec->method != NULL) forms_read(reader, FORM_CONDITIONS);
    axes_check_fixed(reader, build);
    followers_check_partial(reader, build);
    memcpy(build->axes + build->n_axes, build->derived, (size_t)build->n_derived * sizeof *build->axes);
    memcpy(build->axes + build->n_axes + build->n_derived, build->outer, (size_t)build->n_outer * sizeof *build->axes);
    for (int i = 0; i < build->n_axes + build->n_derived + build->n_outer; i++)
        build->axes[i].at = build->taken[build->axes[i].parameter];
    spec->axes = build->axes;
    spec->n_axes = build->n_axes;
    spec->n_derived = build->n_derived;
    spec->n_outer = build->n_outer;
}

// ---- without a model ------------------------------------------------------------------------------------------------
// Every name is read as a parameter without a range, so that errors of forms, methods and zips are still found.
// Expressions are not read: their names are unknown.

// *whole: whether these are the names of all forms.
static int axes_find_names(SpecReader *reader, int most, bool *whole)
{
    FormNames names = {.names = ARENA_NEW(reader->arena, const char *, most), .most = most};
    *whole = true;
    for (int i = 0; i < form_count(); i++) {
        const Form *form = form_at(i);
        const GivenKey *given = form_given(reader, form);
        if (given == NULL) continue;
        if (form->nameless) *whole = false;
        if (form->names != NULL) form->names(given->value, &names);
    }
    reader->names = names.names;
    return names.count;
}

// The words that a spec declares for a parameter of this name; NULL: none.
static const char *axes_declared_choices(const SpecReader *reader, const char *name)
{
    const Node *parameters = node_find(reader->root, "parameters");
    const Node *item = parameters != NULL && parameters->kind == NODE_MAPPING ? node_find(parameters, name) : NULL;
    return item != NULL && item->kind == NODE_MAPPING ? items_choices(node_find(item, "words"), reader->arena) : NULL;
}

static void axes_invent_parameters(SpecReader *reader, int count)
{
    Parameter *parameters = ARENA_NEW(reader->arena, Parameter, count + 1);
    Key *keys = ARENA_NEW(reader->arena, Key, count + 1);
    reader->parameter_keys = ARENA_NEW(reader->arena, const Key *, count + 1);
    for (int i = 0; i < count; i++) {
        parameters[i] = (Parameter){
            .name = reader->names[i], .unit = "1", .doc = "", .low = -(double)INFINITY, .high = (double)INFINITY};
        keys[i] = key_of_parameter(&parameters[i], axes_declared_choices(reader, reader->names[i]), reader->arena);
        reader->parameter_keys[i] = &keys[i];
    }
    reader->spec->configured.parameters = parameters;
    reader->spec->configured.n_parameters = count;
}

void axes_read_without_model(SpecReader *reader)
{
    enum { MOST = 256 };
    bool whole;
    const int n = axes_find_names(reader, MOST, &whole);
    axes_invent_parameters(reader, n);
    axes_start(reader, n);
    if (n < MOST) forms_read(reader, FORM_OVER);
    if (n < MOST && reader->spec->method != NULL && whole) axes_read_by_method(reader);
    reader->spec->configured = (Configured){.n_parameters = 0};
    reader->spec->points = NULL;
    reader->spec->n_points = 0;
    reader->names = NULL; // what follows sees that there is no model
}
