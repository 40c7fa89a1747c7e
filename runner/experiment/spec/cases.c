// `cases`: a trial runs under each of several settings, for example once for each recording of a machine. An item of
// the list is a recording, or a mapping of keys to the values that the case has in place of those of the spec. Each
// case is read as a spec of its own from the same tree with these values, so that errors stand at their places, and
// Configured.cases has what the model makes of it. The spec itself is its first case.
//
// `validate`: recordings that no trial sees; `fit` compares the fitted model with them. It reads them, and those of the
// cases again, without the scale and the loss of differences, so that both are in the units of the columns.
#include "forms.h"

#include <string.h>

#define CASES_KEY "cases"
#define VALIDATE_KEY "validate"
#define CASES_RECORDING "simulation.reference" // what a recording in place of a mapping means
enum { CASES_OWN_MAX = 256 };                  // parameters that cases add
#define CASES_NAME "name" // what a case is called, which follows from its recording if it is not given

// ---- items ----------------------------------------------------------------------------------------------------------

static bool cases_are_none(const Node *value) { return value->kind == NODE_SCALAR && strcmp(value->text, "none") == 0; }

// Item `index` of the value of `validate` or `cases`, which may be a single one; NULL: there is none.
static const Node *cases_item(const Node *value, int index)
{
    if (value == NULL || scalar_is_empty(value) || cases_are_none(value)) return NULL;
    if (value->kind != NODE_SEQUENCE) return index == 0 ? value : NULL;
    return index < value->count ? value->items[index] : NULL;
}

static int cases_count(const Node *value)
{
    int count = 0;
    while (cases_item(value, count) != NULL) count++;
    return count;
}

static bool cases_is_recording(const Node *item)
{
    return item->kind == NODE_SCALAR || (item->kind == NODE_MAPPING && node_find(item, "file") != NULL);
}

static bool cases_may_set(const char *path)
{
    return path_below(path, "simulation") != NULL || path_below(path, "initial") != NULL ||
           path_below(path, "parameters") != NULL;
}

// The path that a key of an item means: itself, or with the section whose name is near; NULL: none is.
static const char *cases_path(const char *text, Arena *arena)
{
    static const char *const sections[] = {"simulation", "initial", "parameters"};
    const size_t length = strcspn(text, ".");
    if (cases_may_set(text) || text[length] == '\0') return cases_may_set(text) ? text : NULL;
    const char *near = nearest_name(arena_format(arena, "%.*s", (int)length, text), sections, 3);
    return near != NULL ? arena_format(arena, "%s%s", near, text + length) : NULL;
}

// ---- own numbers ----------------------------------------------------------------------------------------------------

static bool cases_is_name(const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 0 && text[length] == '\0' && strspn(text, "0123456789") == 0;
}

// Whether the mapping `key` of the mapping `in` of the spec has the name.
static bool cases_stands(const Node *root, const char *in, const char *key, const char *name)
{
    const Node *at = root->kind == NODE_MAPPING ? node_find(root, in) : NULL;
    if (key != NULL) at = at != NULL && at->kind == NODE_MAPPING ? node_find(at, key) : NULL;
    return at != NULL && at->kind == NODE_MAPPING && node_find(at, name) != NULL;
}

// A parameter of the case is another one, that the spec searches or gives, in place of a number.
static bool cases_takes(const Node *root, const char *path, const Node *value)
{
    if (value->kind != NODE_SCALAR || path == NULL || path_below(path, "simulation") != NULL) return false;
    if (!cases_is_name(value->text)) return false;
    return cases_stands(root, "search", "over", value->text) || cases_stands(root, "search", "derive", value->text) ||
           cases_stands(root, "initial", NULL, value->text) || cases_stands(root, "parameters", NULL, value->text);
}

static const char *cases_last(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

static int cases_find(const Configured *configured, const char *name)
{
    for (int p = 0; p < configured_named(configured); p++)
        if (strcmp(configured->parameters[p].name, name) == 0) return p;
    return -1;
}

// Parameters that cases take and the model has not: each is like the one that it stands for.
static void cases_add_own(Configured *configured, const Node *root, const Node *value, Arena *arena, int most)
{
    for (int k = 0; cases_item(value, k) != NULL; k++) {
        const Node *item = cases_item(value, k);
        for (int i = 0; item->kind == NODE_MAPPING && i < item->count; i++) {
            const char *path = cases_path(item->keys[i]->text, arena);
            if (!cases_takes(root, path, item->items[i])) continue;
            const int n = configured->n_parameters, of = cases_find(configured, cases_last(path));
            if (of < 0 || n >= most || cases_find(configured, item->items[i]->text) >= 0) continue;
            Parameter *parameters = ARENA_NEW(arena, Parameter, n + 1);
            const char **choices = ARENA_NEW(arena, const char *, n + 1);
            memcpy(parameters, configured->parameters, (size_t)n * sizeof *parameters);
            parameters[n] = configured->parameters[of];
            parameters[n].name = item->items[i]->text;
            for (int p = 0; p < n && configured->choices != NULL; p++) choices[p] = configured->choices[p];
            if (configured->choices != NULL) configured->choices = choices;
            configured->parameters = parameters;
            configured->n_parameters = n + 1;
        }
    }
}

void cases_declare(SpecReader *reader)
{
    const Node *root = reader->root;
    Configured *configured = &reader->spec->configured;
    const int n = configured->n_parameters;
    if (root->kind != NODE_MAPPING || configured_named(configured) < n) return; // seeds stand last
    cases_add_own(configured, root, node_find(root, CASES_KEY), reader->arena, n + CASES_OWN_MAX);
    cases_add_own(configured, root, node_find(root, VALIDATE_KEY), reader->arena, n + CASES_OWN_MAX);
}

// ---- trees ----------------------------------------------------------------------------------------------------------

static const Node *cases_word(const Node *at, const char *text, Arena *arena)
{
    Node *node = ARENA_NEW(arena, Node, 1);
    *node = *at;
    node->kind = NODE_SCALAR;
    node->text = text;
    return node;
}

// The tree with what the item says. What the form reports is left out.
static const Node *cases_tree(const Node *root, const Node *item, Arena *arena, Diagnostics *diagnostics)
{
    const Node *of = root;
    if (item == NULL) return root;
    if (cases_is_recording(item))
        return override_apply_key(root, cases_word(item, CASES_RECORDING, arena), item, arena, diagnostics);
    for (int i = 0; item->kind == NODE_MAPPING && i < item->count; i++) {
        const char *path = cases_path(item->keys[i]->text, arena);
        if (path == NULL || cases_takes(of, path, item->items[i])) continue;
        root = override_apply_key(root, cases_word(item->keys[i], path, arena), item->items[i], arena, diagnostics);
    }
    return root;
}

const Node *cases_first(const Node *root, Arena *arena, Diagnostics *diagnostics)
{
    const Node *cases = root->kind == NODE_MAPPING ? node_find(root, CASES_KEY) : NULL;
    return cases_tree(root, cases_item(cases, 0), arena, diagnostics);
}

// ---- reading a case -------------------------------------------------------------------------------------------------

// NULL after an error, which is diagnosed where it stands.
static SpecReader *cases_read_spec(const SpecReader *of, const Node *root, bool beside)
{
    Arena *arena = of->arena;
    SpecReader *reader = NULL;
    for (int attempt = 0; attempt < 2; attempt++) { // the second reports
        Diagnostics *diagnostics = attempt == 0 ? diagnostics_new(arena) : of->diagnostics;
        Spec *spec = ARENA_NEW(arena, Spec, 1);
        reader = ARENA_NEW(arena, SpecReader, 1);
        *spec = (Spec){.file = of->spec->file,
                       .text = of->spec->text,
                       .folder = of->spec->folder,
                       .overrides = of->spec->overrides};
        *reader = (SpecReader){.spec = spec,
                               .arena = arena,
                               .diagnostics = diagnostics,
                               .root = root,
                               .folder = of->folder,
                               .allowed = of->allowed,
                               .single = true,
                               .beside = beside};
        spec_read(reader);
        if (diagnostics_errors(diagnostics) == 0 && reader->lost.kind == OK) return reader;
    }
    return NULL;
}

// The file that a value names; NULL: it names none.
static const char *cases_file(const Node *value)
{
    const Node *file = value->kind == NODE_MAPPING ? node_find(value, "file") : value;
    return file != NULL && file->kind == NODE_SCALAR ? file->text : NULL;
}

// The name that the item gives, or its recording, or its number.
static const char *cases_name(const SpecReader *reader, const Node *item, int number, const char *what)
{
    const Node *name = item != NULL && item->kind == NODE_MAPPING ? node_find(item, CASES_NAME) : NULL;
    const Spec *spec = reader->spec;
    const char *found = item != NULL && cases_is_recording(item) ? cases_file(item) : NULL;
    if (name != NULL && name->kind == NODE_SCALAR) return name->text;
    for (int i = 0; item != NULL && item->kind == NODE_MAPPING && i < item->count && found == NULL; i++) {
        const char *key = item->keys[i]->text, *dot = strrchr(key, '.');
        if (strcmp(key, CASES_RECORDING) == 0 ||
            (path_below(key, "simulation.system") != NULL && strcmp(dot, ".file") == 0))
            found = cases_file(item->items[i]);
    }
    for (int i = 0; i < spec->model->n_options && found == NULL; i++) {
        if (strcmp(spec->model->options[i].name, path_below(CASES_RECORDING, "simulation")) == 0)
            found = spec->files[i].name;
    }
    return found != NULL ? found : arena_format(reader->arena, "%s %d", what, number);
}

// ---- what differs ---------------------------------------------------------------------------------------------------

typedef struct CaseBuild {
    const char *text;
    const char **lines;
    int *parameter;
    double *value;
    int *from;
    SpecCase out;
} CaseBuild;

static void cases_put_text(CaseBuild *build, const char *key, const char *value, Arena *arena)
{
    build->text = arena_format(arena, "%s%s%s: %s", build->text, build->text[0] != '\0' ? ", " : "", key, value);
}

static void cases_put_parameter(CaseBuild *build, const Key *key, const SpecReader *own)
{
    const int p = key->parameter - 1;
    const double value = own->spec->fixed[p];
    build->parameter[build->out.n_values] = p;
    build->from[build->out.n_values] = -1;
    build->value[build->out.n_values++] = value;
    cases_put_text(build, key->path,
                   own->spec->model->declares > 0 ? items_declared(own->spec, p, value, own->arena)
                                                  : resolve_value(key, own->arena),
                   own->arena);
}

// Row `key` of the spec, which the case has as `own`.
static void cases_compare_row(CaseBuild *build, const SpecReader *first, const SpecReader *of, const Key *key,
                              const Key *own)
{
    Arena *arena = of->arena;
    if (!cases_may_set(key->path) || key->type == KEY_FORM || key->type == KEY_SECTION) return;
    if (key->parameter > 0 && axis_of(first->spec, key->parameter - 1) != NULL) return;
    const char *identity = resolve_identity_value(own, arena), *text = resolve_value(own, arena);
    if (strcmp(resolve_identity_value(key, arena), identity) != 0 && (key->flags & KEY_IDENTITY) != 0) {
        build->lines[2 * build->out.n_lines] = key->path;
        build->lines[2 * build->out.n_lines++ + 1] = identity;
    }
    if (key->parameter > 0) {
        const int p = key->parameter - 1;
        if (memcmp(&first->spec->fixed[p], &of->spec->fixed[p], sizeof(double)) != 0)
            cases_put_parameter(build, own, of);
    } else if (strcmp(resolve_value(key, arena), text) != 0) {
        cases_put_text(build, key->path, text, arena);
    }
}

// The parameters that the item takes from others. False after an error.
static bool cases_put_own(CaseBuild *build, const SpecReader *first, const Node *item)
{
    const Configured *configured = &first->spec->configured;
    for (int i = 0; item != NULL && item->kind == NODE_MAPPING && i < item->count; i++) {
        const char *path = cases_path(item->keys[i]->text, first->arena), *name = item->items[i]->text;
        if (!cases_takes(first->root, path, item->items[i])) continue;
        const int of = cases_find(configured, cases_last(path)), from = cases_find(configured, name);
        bool chain = false;
        for (int v = 0; v < build->out.n_values; v++)
            chain |= build->parameter[v] == from || build->parameter[v] == of || build->from[v] == of;
        if (of < 0 || from < 0 || strcmp(first->parameter_keys[of]->path, path) != 0) {
            diagnose(first->diagnostics, item->keys[i],
                     of < 0 || from >= 0 ? "unknown parameter '%s'"
                                         : "%s can't be another parameter here: the model draws random numbers",
                     path);
            return false;
        }
        if (chain || of == from) {
            diagnose(first->diagnostics, item->items[i], "%s is %s, which the case replaces, too", path, name);
            return false;
        }
        build->parameter[build->out.n_values] = of;
        build->from[build->out.n_values] = from;
        build->value[build->out.n_values++] = 0.0;
        cases_put_text(build, path, name, first->arena);
    }
    return true;
}

static bool cases_same_fields(const Field *a, int n_a, const Field *b, int n_b)
{
    bool same = n_a == n_b;
    for (int i = 0; same && i < n_a; i++) same = strcmp(a[i].name, b[i].name) == 0;
    return same;
}

// In what a case must not differ, as it does; NULL: it does not.
static const char *cases_unlike(const SpecReader *first, const SpecReader *of)
{
    const Configured *a = &first->spec->configured, *b = &of->spec->configured;
    bool same = a->n_parameters == b->n_parameters && first->n_keys == of->n_keys;
    for (int i = 0; same && i < a->n_parameters; i++) same = strcmp(a->parameters[i].name, b->parameters[i].name) == 0;
    for (int i = 0; same && i < first->n_keys; i++) same = strcmp(first->keys[i].path, of->keys[i].path) == 0;
    if (!same) return "other parameters";
    if (!cases_same_fields(a->metrics, a->n_metrics, b->metrics, b->n_metrics)) return "other metrics";
    if (!cases_same_fields(a->columns, a->n_columns, b->columns, b->n_columns)) return "other columns of trajectories";
    if (!cases_same_fields(a->debug, a->n_debug, b->debug, b->n_debug)) return "other debug rows";
    if (a->n_failures != b->n_failures) return "other failures";
    if (a->kernel != b->kernel) return "another kernel (order, or integrator)";
    if (a->tick_duration < b->tick_duration || a->tick_duration > b->tick_duration) return "another step dt";
    return NULL;
}

// Of numbers of the case's robot that are not those of the first one: a search gives both one value, which is an error;
// a value of the spec does, which is said.
static bool cases_keep_numbers(const SpecReader *first, const SpecReader *of, const Node *at, const char *name)
{
    const Configured *a = &first->spec->configured, *b = &of->spec->configured;
    for (int p = 0; p < a->n_parameters; p++) {
        const double own = b->parameters[p].value, fixed = of->spec->fixed[p];
        if (memcmp(&a->parameters[p].value, &own, sizeof own) == 0) continue;
        if (axis_of(first->spec, p) != NULL) {
            diagnose(
                first->diagnostics, at,
                "%s: %s is %.6g by its files, and %.6g by those of the first one: it is searched, which would give "
                "both one value",
                name, a->parameters[p].name, own, a->parameters[p].value);
            return false;
        }
        if (memcmp(&first->spec->fixed[p], &fixed, sizeof fixed) == 0 && memcmp(&fixed, &own, sizeof own) != 0)
            diagnose_warning(first->diagnostics, at, "%s: %s is %.6g by its files, and the spec gives it %.6g", name,
                             a->parameters[p].name, own, fixed);
    }
    return true;
}

// False after an error.
static bool cases_compare(const SpecReader *first, const SpecReader *of, const Node *item, const Node *at,
                          SpecCase *out)
{
    Arena *arena = first->arena;
    const char *unlike = cases_unlike(first, of);
    CaseBuild build = {.text = "", .out = *out};
    if (unlike != NULL) {
        diagnose(first->diagnostics, at, "%s has %s than the first one: all cases share them", out->name, unlike);
        return false;
    }
    if (!cases_keep_numbers(first, of, at, out->name)) return false;
    build.lines = ARENA_NEW(arena, const char *, 2 * first->n_keys);
    build.parameter = ARENA_NEW(arena, int, first->spec->configured.n_parameters);
    build.value = ARENA_NEW(arena, double, first->spec->configured.n_parameters);
    build.from = ARENA_NEW(arena, int, first->spec->configured.n_parameters);
    cases_put_text(&build, CASES_NAME, scalar_quoted(out->name, arena), arena);
    for (int i = 0; i < first->n_keys; i++) cases_compare_row(&build, first, of, &first->keys[i], &of->keys[i]);
    if (!cases_put_own(&build, first, item)) return false;
    *out = build.out;
    out->text = arena_format(arena, "{%s}", build.text);
    out->lines = build.lines;
    out->parameter = build.parameter;
    out->value = build.value;
    out->from = build.from;
    return true;
}

static bool cases_has_option(const Model *model, const char *name)
{
    int i = 0;
    while (i < model->n_options && strcmp(model->options[i].name, name) != 0) i++;
    return i < model->n_options;
}

// A case, or a recording of `validate`. raw: without scale and loss. False after an error.
static bool cases_take(const SpecReader *reader, const Node *root, const Node *item, int number, bool raw,
                       SpecCase *out)
{
    static const char *const plain[][2] = {{"reference_scale", "none"}, {"reference_loss", "squares"}};
    const Node *tree = cases_tree(root, item, reader->arena, reader->diagnostics), *at = item != NULL ? item : root;
    for (size_t i = 0; raw && i < sizeof plain / sizeof *plain; i++) {
        if (!cases_has_option(reader->spec->model, plain[i][0])) continue;
        const char *path = arena_format(reader->arena, "simulation.%s", plain[i][0]);
        tree = override_apply_key(tree, cases_word(at, path, reader->arena), cases_word(at, plain[i][1], reader->arena),
                                  reader->arena, reader->diagnostics);
    }
    const int errors = diagnostics_errors(reader->diagnostics);
    const SpecReader *own = cases_read_spec(reader, tree, number > 1 || raw);
    if (own == NULL && diagnostics_errors(reader->diagnostics) > errors)
        diagnose_warning(reader->diagnostics, at, "with the values of this %s the spec has the error above",
                         raw ? "recording" : "case");
    else if (own == NULL)
        diagnose(reader->diagnostics, at, "the values of this %s can't be read", raw ? "recording" : "case");
    if (own == NULL) return false;
    *out = (SpecCase){.name = cases_name(own, item, number, raw ? "recording" : "case"), .spec = own->spec};
    return cases_compare(reader, own, item, at, out);
}

// Names that differ: of two recordings from one file the second is "a.csv (2)".
static void cases_number_names(SpecCase *cases, int count, Arena *arena)
{
    for (int k = 1; k < count; k++) {
        int same = 1;
        for (int i = 0; i < k; i++) same += strcmp(cases[i].name, cases[k].name) == 0;
        if (same > 1) cases[k].name = arena_format(arena, "%s (%d)", cases[k].name, same);
    }
}

// ---- one recording twice --------------------------------------------------------------------------------------------

// Columns of both tables, those of times first: at[2*k] in x, at[2*k + 1] in y. Returns their number; 0: no times.
static int cases_common_columns(const Points *x, const Points *y, int64_t *at)
{
    int n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t c = 0; c < x->columns && (pass == 0 || n > 0); c++) {
            int64_t d = 0;
            if ((strcmp(x->names[c], "time") == 0) != (pass == 0)) continue;
            while (d < y->columns && strcmp(x->names[c], y->names[d]) != 0) d++;
            if (d == y->columns) continue;
            at[2 * n] = c;
            at[2 * n++ + 1] = d;
        }
    }
    return n;
}

// Whether two rows have the same bits in columns of[2*k], k in [first, n).
static bool cases_same_row(const double *x, const double *y, const int64_t *of, const int64_t *with, int first, int n)
{
    bool same = true;
    for (int k = first; k < n && same; k++) same = memcmp(&x[of[2 * k]], &y[with[2 * k]], sizeof *x) == 0;
    return same;
}

// Rows of y that x has at the same time, in all columns that both have, of *rows. Rows that repeat the one before are
// left out: a machine at rest has the same numbers in two recordings.
static int64_t cases_shared(const Points *x, const Points *y, int64_t *rows, Arena *arena)
{
    const int64_t most = x->columns < y->columns ? x->columns : y->columns;
    int64_t *at = ARENA_NEW(arena, int64_t, 2 * most + 2), shared = 0;
    const int n = cases_common_columns(x, y, at);
    *rows = 0;
    for (int64_t r = 0, i = 0; r < y->count && n > 1; r += y->columns) {
        const double *row = y->numbers + r;
        if (r > 0 && cases_same_row(row, row - y->columns, at + 1, at + 1, 1, n)) continue;
        while (i < x->count && x->numbers[i + at[0]] < row[at[1]]) i += x->columns;
        shared += i < x->count && cases_same_row(x->numbers + i, row, at, at + 1, 0, n);
        ++*rows;
    }
    return shared;
}

// The same rows, whatever the file is called, and whatever the order of its columns is.
static bool cases_same_recording(const SpecCase *a, const SpecCase *b, Arena *arena)
{
    const Points *x = spec_recording(a->spec), *y = spec_recording(b->spec);
    int64_t rows;
    if (x == NULL || y == NULL || x->columns != y->columns || x->count != y->count) return false;
    return cases_shared(x, y, &rows, arena) == rows && rows > 1;
}

static bool cases_same(const SpecCase *a, const SpecCase *b)
{
    bool same = a->n_lines == b->n_lines && a->n_values == b->n_values;
    for (int i = 0; same && i < 2 * a->n_lines; i++) same = strcmp(a->lines[i], b->lines[i]) == 0;
    for (int i = 0; same && i < a->n_values; i++)
        same = a->parameter[i] == b->parameter[i] && a->from[i] == b->from[i] &&
               memcmp(&a->value[i], &b->value[i], sizeof(double)) == 0;
    return same;
}

// The recording that item k repeats, of those before it; -1: none.
static int cases_repeated(const SpecCase *cases, int k, Arena *arena)
{
    int i = 0;
    while (i < k && !cases_same(&cases[i], &cases[k]) && !cases_same_recording(&cases[i], &cases[k], arena)) i++;
    return i < k ? i : -1;
}

// What is listed twice counts twice.
static void cases_warn_repeated(const SpecReader *reader, const Node *value, const SpecCase *cases, int count)
{
    for (int k = 0; k < count && reader->spec->objective.n_residuals > 0; k++) {
        const int before = cases_repeated(cases, k, reader->arena);
        if (before < 0) continue;
        diagnose_warning(reader->diagnostics, cases_item(value, k),
                         "%s is the recording of %s once more: each of its rows counts twice", cases[k].name,
                         cases[before].name);
    }
}

// A recording that is held out has rows of one that is fitted.
static void cases_warn_shared(const SpecReader *reader, const Node *at, const SpecCase *fitted, const SpecCase *held)
{
    const Points *x = spec_recording(fitted->spec), *y = spec_recording(held->spec);
    int64_t rows = 0;
    const int64_t shared = x != NULL && y != NULL ? cases_shared(x, y, &rows, reader->arena) : 0;
    if (10 * shared < rows || shared < 2) return;
    diagnose_warning(reader->diagnostics, at,
                     "%lld of %lld rows of %s are rows of %s, which is fitted: hold others out, by `from` and `to`",
                     (long long)shared, (long long)rows, held->name, fitted->name);
}

// False after an error: a recording is fitted, too.
static bool cases_are_held(const SpecReader *reader, const Node *value, const SpecCase *held, int n_held,
                           const SpecCase *fitted, int n_fitted)
{
    for (int k = 0; k < n_held; k++) {
        for (int i = 0; i < n_fitted; i++) {
            if (!cases_same(&fitted[i], &held[k]) && !cases_same_recording(&fitted[i], &held[k], reader->arena)) {
                cases_warn_shared(reader, cases_item(value, k), &fitted[i], &held[k]);
                continue;
            }
            diagnose(reader->diagnostics, cases_item(value, k),
                     "%s is fitted too, as %s: hold another one out, or leave it out of the fit", held[k].name,
                     fitted[i].name);
            return false;
        }
    }
    return true;
}

// ---- all of them ----------------------------------------------------------------------------------------------------

// What the cases of a spec can't be combined with; NULL: nothing of it is there.
static const char *cases_refused(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    if (spec->model->by_hand) return "people run the trials of model manual";
    if (spec->model->runs_program) return "a program runs the trials of model command, and is not told of cases";
    if (given_find(reader, "environment") != NULL) return "an environment has one setting: leave `environment` out";
    if (spec_races(spec)) return "replicates are cases, all of which count: leave `replicates.race` out";
    if (spec_has_rungs(spec)) return "lanes of cases end at different times: leave the rungs of `limits.retire` out";
    return NULL;
}

// The model's settings of all cases.
static void cases_configure(Spec *spec, Arena *arena)
{
    Configured *all = ARENA_NEW(arena, Configured, spec->n_cases), *own = &spec->configured;
    for (int k = 0; k < spec->n_cases; k++) all[k] = k == 0 ? *own : spec->cases[k].spec->configured;
    for (int k = 0; k < spec->n_cases; k++) {
        own->ticks = all[k].ticks > own->ticks ? all[k].ticks : own->ticks;
        own->steps_max = all[k].steps_max > own->steps_max ? all[k].steps_max : own->steps_max;
        own->duration = all[k].duration > own->duration ? all[k].duration : own->duration;
    }
    own->cases = all;
    own->n_cases = spec->n_cases;
}

static void cases_read_all(SpecReader *reader, const Node *root, const Node *value)
{
    Spec *spec = reader->spec;
    SpecCase *cases = ARENA_NEW(reader->arena, SpecCase, spec->n_cases);
    const char *refused = cases_refused(reader);
    bool ok = refused == NULL;
    if (!ok) diagnose(reader->diagnostics, given_find(reader, CASES_KEY)->key, "%s", refused);
    for (int k = 0; k < spec->n_cases && ok; k++)
        ok = cases_take(reader, root, cases_item(value, k), k + 1, false, &cases[k]);
    if (!ok) {
        spec->n_cases = 0;
        return;
    }
    cases_number_names(cases, spec->n_cases, reader->arena);
    cases_warn_repeated(reader, value, cases, spec->n_cases);
    spec->cases = cases;
    cases_configure(spec, reader->arena);
}

static void cases_read_held(SpecReader *reader, const Node *root, const Node *cases, const Node *value)
{
    Spec *spec = reader->spec;
    const int n_held = cases_count(value), n_fitted = spec_fit_cases(spec);
    SpecCase *held = ARENA_NEW(reader->arena, SpecCase, n_held), *fitted = ARENA_NEW(reader->arena, SpecCase, n_fitted);
    if (spec->objective.n_residuals == 0) {
        diagnose(reader->diagnostics, given_find(reader, VALIDATE_KEY)->key,
                 "validate compares residuals: the spec needs `objective: {residuals: ...}`");
        return;
    }
    if (spec->objective.information.n > 0) {
        diagnose(reader->diagnostics, given_find(reader, VALIDATE_KEY)->key,
                 "a plan has no recording to compare with: leave `validate` or `information` out");
        return;
    }
    for (int k = 0; k < n_held; k++)
        if (!cases_take(reader, root, cases_item(value, k), k + 1, true, &held[k])) return;
    for (int k = 0; k < n_fitted; k++)
        if (!cases_take(reader, root, cases_item(cases, k), k + 1, true, &fitted[k])) return;
    if (!cases_are_held(reader, value, held, n_held, fitted, n_fitted)) return;
    cases_number_names(held, n_held, reader->arena);
    cases_warn_repeated(reader, value, held, n_held);
    spec->validate.held = held;
    spec->validate.fitted = fitted;
    spec->validate.n_held = n_held;
}

void cases_read(SpecReader *reader, const Node *root)
{
    const Node *cases = node_find(root, CASES_KEY), *held = node_find(root, VALIDATE_KEY);
    if (reader->spec->n_cases > 0) cases_read_all(reader, root, cases);
    if (cases_count(held) > 0 && diagnostics_errors(reader->diagnostics) == 0)
        cases_read_held(reader, root, cases, held);
}

// ---- the rows -------------------------------------------------------------------------------------------------------

static void cases_check_item(SpecReader *reader, const Node *item, const GivenKey *given)
{
    if (cases_is_recording(item) && !scalar_is_empty(item)) return;
    if (item->kind != NODE_MAPPING) {
        form_mistyped(reader, given);
        return;
    }
    for (int i = 0; i < item->count; i++) {
        const Node *key = item->keys[i];
        if (cases_may_set(key->text) || strcmp(key->text, CASES_NAME) == 0) continue;
        reader->nameless = true; // what it would have set
        diagnose(reader->diagnostics, key,
                 "%s: '%s' is not a key of simulation, initial or parameters by its whole name, as "
                 "`simulation.reference` or `initial.hip_start` is%s",
                 given->path, key->text, did_you_mean(cases_path(key->text, reader->arena), reader->arena));
    }
}

static void cases_check(SpecReader *reader, const GivenKey *given)
{
    const int count = cases_count(given->value);
    if (cases_are_none(given->value)) return;
    if (count == 0 || count > CASES_MAX) {
        form_mistyped(reader, given);
        return;
    }
    for (int k = 0; k < count; k++) cases_check_item(reader, cases_item(given->value, k), given);
}

// One case is the spec itself.
static void cases_read_form(SpecReader *reader, const GivenKey *given)
{
    Spec *spec = reader->spec;
    const GivenKey *replicates = given_find(reader, "replicates.count");
    const int count = cases_count(given->value);
    cases_check(reader, given);
    if (reader->single || count < 2 || diagnostics_errors(reader->diagnostics) > 0) return;
    spec->n_cases = count;
    if (replicates == NULL) {
        spec->replicates.count = count;
    } else if (spec->replicates.count % count != 0) {
        diagnose(
            reader->diagnostics, replicates->value,
            "each replicate runs under a case, all as often: count must be a multiple of the %d cases, or left out",
            count);
    }
}

static const char *cases_text(const SpecReader *reader, const SpecCase *cases, int count)
{
    const char *text = "";
    if (count == 0) return NULL;
    for (int k = 0; k < count; k++)
        text = arena_format(reader->arena, "%s%s%s", text, k > 0 ? ", " : "", cases[k].text);
    return arena_format(reader->arena, "[%s]", text);
}

static const char *cases_text_all(const SpecReader *reader)
{
    return cases_text(reader, reader->spec->cases, reader->spec->n_cases);
}

static const char *cases_text_held(const SpecReader *reader)
{
    return cases_text(reader, reader->spec->validate.held, reader->spec->validate.n_held);
}

static void cases_identify(const SpecReader *reader, CanonicalLines *lines)
{
    const Spec *spec = reader->spec;
    if (spec->n_cases > 0) canonical_add(lines, CASES_KEY, arena_format(lines->arena, "%d", spec->n_cases));
    for (int k = 0; k < spec->n_cases; k++) {
        for (int i = 0; i < spec->cases[k].n_values; i++) {
            if (spec->cases[k].from[i] < 0) continue;
            canonical_add(lines,
                          arena_format(lines->arena, CASES_KEY ".%04d.%s", k,
                                       spec->configured.parameters[spec->cases[k].parameter[i]].name),
                          spec->configured.parameters[spec->cases[k].from[i]].name);
        }
    }
    for (int k = 1; k < spec->n_cases; k++) {
        for (int i = 0; i < spec->cases[k].n_lines; i++)
            canonical_add(lines, arena_format(lines->arena, CASES_KEY ".%04d.%s", k, spec->cases[k].lines[2 * i]),
                          spec->cases[k].lines[2 * i + 1]);
    }
}

#define CASES_SET "{type: object, propertyNames: {pattern: '^(name|(simulation|initial|parameters)[.].+)$'}}"
#define CASES_ITEM "{anyOf: [{type: string}, {type: object, required: [file]}, " CASES_SET "]}"

const Form form_cases = {
    .path = CASES_KEY,
    .after = "parameters",
    .words = "a list of recordings, or of mappings of keys to values",
    .doc =
        "recordings, or other settings, under each of which a trial runs; each is a replicate: the values that it has "
        "in place of those above, by the whole names of keys of `simulation`, `initial` and `parameters`. In place of "
        "a number a parameter may have the name of another that is searched or given; a name that the model lacks is a "
        "new parameter, with the unit and range of the one that it stands for. A file alone is its "
        "`simulation.reference`. Residuals are those of all cases together; metrics are means over them",
    .example = "[{name: light, parameters.m: 8}, {name: heavy, parameters.m: 12, initial.z_foot: 0.5}]",
    .stage = FORM_FIRST,
    .read = cases_read_form,
    .text = cases_text_all,
    .identify = cases_identify,
    .schema = "{type: array, minItems: 1, maxItems: MOST, items: " CASES_ITEM "}",
    .most = CASES_MAX,
};

const Form form_validate = {
    .path = VALIDATE_KEY,
    .after = CASES_KEY,
    .words = "a recording, a mapping of keys to values, or a list of these",
    .doc = "recordings that no trial sees; `fit` and the report compare the fitted model with them, column by column. "
           "As in `cases`; a file alone is its `simulation.reference`",
    .example = "{name: heavier, parameters.m: 14}",
    .stage = FORM_FIRST,
    .read = cases_check,
    .text = cases_text_held,
    .schema = "{anyOf: [{type: string}, {type: object, required: [file]}, " CASES_SET
              ", {type: array, minItems: 1, maxItems: "
              "MOST, items: " CASES_ITEM "}]}",
    .most = CASES_MAX,
};
