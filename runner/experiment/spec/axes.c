// What `search:` asks for: the method and its options, the axes, derived parameters, zipped axes and excluded trials.
#include "axes.h"

#include <math.h>
#include <string.h>

const Axis *axis_of(const Spec *spec, int parameter)
{
    for (int i = 0; i < spec->n_axes + spec->n_derived + spec->n_outer; i++) {
        if (spec->axes[i].parameter == parameter) return &spec->axes[i];
    }
    return NULL;
}

// ---- the method -----------------------------------------------------------------------------------------------------

static void axes_unknown_method(SpecReader *reader, const Node *node)
{
    const char *known[16];
    int n_known = search_method_count() < 16 ? search_method_count() : 16;
    for (int i = 0; i < n_known; i++) known[i] = search_method_at(i)->name;
    const bool later = node->kind == NODE_SCALAR && words_find("nsga2|adam", node->text) >= 0;
    const char *near = node->kind == NODE_SCALAR && !later ? nearest_name(node->text, known, n_known) : NULL;
    diagnose(reader->diagnostics, node, "method is %s, %s %s%s%s%s", scalar_given(node, reader->arena),
             later ? "which is not supported by this version, expected" : "expected",
             words_sentence(known, n_known, reader->arena), near != NULL ? "; did you mean '" : "",
             near != NULL ? near : "", near != NULL ? "'?" : "");
}

// A key that only other methods have.
static void axes_foreign_option(SpecReader *reader, const GivenKey *given)
{
    const Key *foreign = NULL;
    for (int i = 0; i < reader->n_keys; i++) {
        const Key *key = &reader->keys[i];
        if (strcmp(key->path, given->path) != 0) continue;
        if (key->method == NULL || strcmp(key->method, reader->spec->method->name) == 0) return;
        if (foreign == NULL) foreign = key;
    }
    if (foreign != NULL)
        diagnose(reader->diagnostics, given->key, "%s belongs to method %s, and this is method %s", key_name(foreign),
                 foreign->method, reader->spec->method->name);
}

void axes_read_method(SpecReader *reader)
{
    const GivenKey *given = given_find(reader, "search.method");
    const char *name = given == NULL ? "grid" : given->value->kind == NODE_SCALAR ? given->value->text : "";
    reader->spec->method = search_method_find(name);
    if (reader->spec->method == NULL) {
        axes_unknown_method(reader, given->value);
        return;
    }
    for (int i = 0; i < reader->n_keys; i++) {
        const Key *key = &reader->keys[i];
        if (key->method == NULL || strcmp(key->method, name) != 0 || key->type == KEY_FORM) continue;
        const GivenKey *option = given_find(reader, key->path);
        scalar_read(reader, key, option != NULL ? option->value : NULL);
        if (reader->spec->method_settings == NULL) reader->spec->method_settings = key->at;
    }
    for (int i = 0; i < reader->n_given; i++) axes_foreign_option(reader, &reader->given[i]);
}

// ---- over -----------------------------------------------------------------------------------------------------------

bool axes_claim(AxesBuild *build, const Node *name, int parameter)
{
    if (parameter < 0 || build->taken[parameter] != NULL) return false; // diagnosed: only a misspelt name comes twice
    build->taken[parameter] = name;
    return true;
}

// What is searched can't be fixed too, unless there are trials for which it is not searched.
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

static bool axes_check_form(SpecReader *reader, const Node *node, const Key *key, const Values *values)
{
    const SearchMethod *method = reader->spec->method;
    const bool range = values->form == VALUES_RANGE;
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

static void axes_read_over(SpecReader *reader, const Node *over, AxesBuild *build, const Node **expressions)
{
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
        if (derive != NULL && node->count == 1) {
            expressions[build->n_derived] = derive;
            build->derived[build->n_derived++] = axis;
            continue;
        }
        const Key *key = reader->parameter_keys[parameter];
        if (values_read(reader, key, node, &axis.values) && !axes_check_form(reader, node, key, &axis.values)) continue;
        build->names[build->n_axes] = name;
        build->axes[build->n_axes++] = axis;
    }
}

// ---- derived parameters ---------------------------------------------------------------------------------------------
// They are computed in the order of the spec, so one may use those before it; there can be no cycle.

static void axes_read_derived(SpecReader *reader, AxesBuild *build, const Node *const *expressions)
{
    const Scope scope = {.names = reader->names, .count = configured_named(&reader->spec->configured)};
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

// ---- zip, and how many trials there are -----------------------------------------------------------------------------

static Axis *axes_zip_member(SpecReader *reader, AxesBuild *build, const Node *node, int group)
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

static void axes_read_zip_group(SpecReader *reader, const Node *group, AxesBuild *build, int number)
{
    if (group->kind != NODE_SEQUENCE || group->count < 2) {
        diagnose(reader->diagnostics, group, "a group of zip is %s, expected a list of two or more axes: [[a, b]]",
                 group->kind == NODE_SEQUENCE ? "shorter than two" : scalar_given(group, reader->arena));
        return;
    }
    const Axis *first = NULL;
    for (int i = 0; i < group->count; i++) {
        const Axis *axis = axes_zip_member(reader, build, group->items[i], number);
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
    for (int g = 0; zip->kind == NODE_SEQUENCE && g < zip->count; g++)
        axes_read_zip_group(reader, zip->items[g], build, g);
}

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

// ---- exclude, and all of it -----------------------------------------------------------------------------------------

static void axes_read_exclude(SpecReader *reader, const Node *node)
{
    if (node->kind != NODE_SEQUENCE) {
        diagnose(reader->diagnostics, node, "exclude is %s, expected a list of expressions: [\"a > 1 and b < 2\"]",
                 scalar_given(node, reader->arena));
        return;
    }
    if (node->count > EXCLUDE_MAX) {
        diagnose(reader->diagnostics, node, "exclude has %d expressions, at most %d are allowed; join some with `or`",
                 node->count, EXCLUDE_MAX);
        return;
    }
    const Scope scope = {.names = reader->names, .count = configured_named(&reader->spec->configured)};
    const Expression **list = ARENA_NEW(reader->arena, const Expression *, node->count);
    for (int i = 0; i < node->count; i++) list[i] = expression_read(reader, node->items[i], &scope, "exclude");
    reader->spec->exclude = list;
    reader->spec->n_exclude = node->count;
}

// What the method must have, or can't.
static void axes_read_by_method(SpecReader *reader, AxesBuild *build)
{
    const SearchMethod *method = reader->spec->method;
    const GivenKey *points = given_find(reader, "search.points"), *csv = given_find(reader, "search.csv");
    const GivenKey *zip = given_find(reader, "search.zip");
    const GivenKey *over = given_find(reader, "search.over"), *name = given_find(reader, "search.method");
    const GivenKey *given = points != NULL ? points : csv;
    if (given != NULL && !method->wants_points)
        diagnose(reader->diagnostics, given->key, "%s to methods list and csv, and this is method %s",
                 given == csv ? "csv belongs" : "points belong", method->name);
    else if (points != NULL && csv != NULL)
        diagnose(reader->diagnostics, csv->key, "the points stand in `points` already, give one of them");
    else if (given != NULL)
        (given == csv ? axes_read_csv : axes_read_points)(reader, given->value, build);
    else if (method->wants_points)
        diagnose(reader->diagnostics, name->value,
                 "method %s needs its trials: `points`, a list of them, or `csv`, a file", method->name);
    const bool grid = method->wants_values && !method->wants_range;
    const GivenKey *blocks = given_find(reader, "search.union");
    const bool no_axes = over != NULL && over->value->kind != NODE_MAPPING; // reported, and every name would be unknown
    if (blocks != NULL && method != &search_grid)
        diagnose(reader->diagnostics, blocks->key, "union belongs to method grid, and this is method %s", method->name);
    else if (blocks != NULL && zip != NULL)
        diagnose(reader->diagnostics, zip->key, "zip stands in the blocks of `union`");
    else if (zip != NULL && grid && !no_axes)
        axes_read_zip(reader, zip->value, build);
    else if (zip != NULL && !grid)
        diagnose(reader->diagnostics, zip->key, "zip belongs to method grid, and this is method %s", method->name);
    if (blocks != NULL && method == &search_grid)
        axes_read_union(reader, blocks->value, build);
    else if (grid)
        (void)axes_product(reader, build);
    const GivenKey *outer = given_find(reader, "search.cmaes.outer");
    if (outer != NULL && method->wants_outer) axes_read_outer(reader, outer->value, build);
    if (method->wants_range && build->n_axes == 0 && (over == NULL || over->value->count == 0))
        diagnose(reader->diagnostics, name->value,
                 "method %s needs `over` with at least one parameter: over: {NAME: {range: [LOW, HIGH]}}",
                 method->name);
}

void axes_read(SpecReader *reader)
{
    Spec *spec = reader->spec;
    const int n = configured_named(&spec->configured);
    AxesBuild build = {.axes = ARENA_NEW(reader->arena, Axis, 3 * n),
                       .derived = ARENA_NEW(reader->arena, Axis, n),
                       .outer = ARENA_NEW(reader->arena, Axis, n),
                       .names = ARENA_NEW(reader->arena, const Node *, n),
                       .taken = ARENA_NEW(reader->arena, const Node *, n)};
    const Node **expressions = ARENA_NEW(reader->arena, const Node *, n);
    const GivenKey *over = given_find(reader, "search.over"), *exclude = given_find(reader, "search.exclude");
    const GivenKey *when = given_find(reader, "search.when");
    if (over != NULL) axes_read_over(reader, over->value, &build, expressions);
    if (spec->method != NULL) axes_read_by_method(reader, &build);
    axes_read_derived(reader, &build, expressions);
    if (spec->method != NULL && when != NULL) axes_read_when(reader, when, &build);
    axes_check_fixed(reader, &build);
    if (exclude != NULL) axes_read_exclude(reader, exclude->value);
    memcpy(build.axes + build.n_axes, build.derived, (size_t)build.n_derived * sizeof *build.axes);
    memcpy(build.axes + build.n_axes + build.n_derived, build.outer, (size_t)build.n_outer * sizeof *build.axes);
    spec->axes = build.axes;
    spec->n_axes = build.n_axes;
    spec->n_derived = build.n_derived;
    spec->n_outer = build.n_outer;
}

// ---- without a model ------------------------------------------------------------------------------------------------
// Every name is taken for a parameter's whose values may be any: what is wrong with forms, methods and zips is said all
// the same. Expressions are not read: of their names nothing is known.

static void axes_add_names(const Node *mapping, int most, const char **names, int *count)
{
    for (int i = 0; mapping != NULL && mapping->kind == NODE_MAPPING && i < mapping->count; i++) {
        bool known = false;
        for (int k = 0; k < *count; k++) known = known || strcmp(names[k], mapping->keys[i]->text) == 0;
        if (!known && *count < most) names[(*count)++] = mapping->keys[i]->text;
    }
}

// Of `over`, the points and the outer grid.
static int axes_find_names(SpecReader *reader, int most)
{
    const GivenKey *points = given_find(reader, "search.points"), *over = given_find(reader, "search.over");
    const GivenKey *outer = given_find(reader, "search.cmaes.outer");
    int count = 0;
    const char **names = ARENA_NEW(reader->arena, const char *, most);
    if (over != NULL) axes_add_names(over->value, most, names, &count);
    if (outer != NULL) axes_add_names(outer->value, most, names, &count);
    for (int i = 0; points != NULL && points->value->kind == NODE_SEQUENCE && i < points->value->count; i++)
        axes_add_names(points->value->items[i], most, names, &count);
    reader->names = names;
    return count;
}

static void axes_invent_parameters(SpecReader *reader, int count)
{
    Parameter *parameters = ARENA_NEW(reader->arena, Parameter, count + 1);
    Key *keys = ARENA_NEW(reader->arena, Key, count + 1);
    reader->parameter_keys = ARENA_NEW(reader->arena, const Key *, count + 1);
    for (int i = 0; i < count; i++) {
        parameters[i] = (Parameter){
            .name = reader->names[i], .unit = "1", .doc = "", .low = -(double)INFINITY, .high = (double)INFINITY};
        keys[i] = key_of_parameter(&parameters[i], reader->arena);
        reader->parameter_keys[i] = &keys[i];
    }
    reader->spec->configured.parameters = parameters;
    reader->spec->configured.n_parameters = count;
}

void axes_read_without_model(SpecReader *reader)
{
    enum { MOST = 256 };
    const GivenKey *over = given_find(reader, "search.over");
    const bool elsewhere = given_find(reader, "search.csv") != NULL || given_find(reader, "search.union") != NULL;
    const int n = axes_find_names(reader, MOST);
    axes_invent_parameters(reader, n);
    AxesBuild build = {.axes = ARENA_NEW(reader->arena, Axis, 3 * n + 1),
                       .derived = ARENA_NEW(reader->arena, Axis, n + 1),
                       .outer = ARENA_NEW(reader->arena, Axis, n + 1),
                       .names = ARENA_NEW(reader->arena, const Node *, n + 1),
                       .taken = ARENA_NEW(reader->arena, const Node *, n + 1)};
    const Node **expressions = ARENA_NEW(reader->arena, const Node *, n + 1);
    if (n < MOST && over != NULL) axes_read_over(reader, over->value, &build, expressions);
    if (n < MOST && reader->spec->method != NULL && !elsewhere) axes_read_by_method(reader, &build);
    reader->spec->configured = (Configured){.n_parameters = 0};
    reader->spec->points = NULL;
    reader->spec->n_points = 0;
    reader->names = NULL; // what comes next knows by it that there is no model
}
