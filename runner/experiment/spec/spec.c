// Reading a spec: the tree of nodes, the overrides, then every section by the rows of the key table. All errors are
// found in one pass, so an error must not hide or cause others: a misspelt key is read under the name that was meant, a
// value out of range as the nearest bound, any other wrong value as its default.
#include "forms.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SPEC_NAMES_SHOWN = 24 };

// ---- the table of this spec -----------------------------------------------------------------------------------------

static void spec_add_key(SpecReader *reader, Key key)
{
    if (reader->n_keys == reader->keys_capacity) {
        reader->keys_capacity = reader->keys_capacity > 0 ? 2 * reader->keys_capacity : 256;
        Key *keys = ARENA_NEW(reader->arena, Key, reader->keys_capacity);
        if (reader->n_keys > 0) memcpy(keys, reader->keys, (size_t)reader->n_keys * sizeof *keys);
        reader->keys = keys;
    }
    reader->keys[reader->n_keys++] = key;
}

// Rows of the options; their values go to settings[count], those of lists to points[count], of files to files[count].
// `later`: as Model.later.
static void spec_add_options(SpecReader *reader, const Option *options, int count, const char *later,
                             const char *section, const char *method, double *settings, Points *points, SpecFile *files)
{
    for (int i = 0; i < count; i++) {
        if (method == NULL && model_is_top(reader->spec->model, options[i].name)) continue; // spec_add_top
        Key key = key_of_option(&options[i], section, reader->arena);
        key.at = key.store == STORE_POINTS ? (void *)&points[i]
                 : key.store == STORE_FILE ? (void *)&files[i]
                                           : (void *)&settings[i];
        key.method = method;
        if (later != NULL && words_find(later, options[i].name) >= 0) key.flags |= KEY_LATER;
        spec_add_key(reader, key);
    }
}

static void spec_add_model(SpecReader *reader, const Model *model, double *settings, Points *points, SpecFile *files)
{
    Points *items = points + model->n_options;
    spec_add_options(reader, model->options, model->n_options, model->later, "simulation", NULL, settings, points,
                     files);
    for (int i = 0; i < model->n_lists; i++) {
        if (model_is_top(model, model->lists[i].name)) continue; // spec_add_top, items_declare
        Key key = key_of_list(&model->lists[i], "simulation", reader->arena);
        key.at = &items[i];
        spec_add_key(reader, key);
    }
}

// The model whose debug columns are known here: the spec's model. If its name is misspelt, the model that has a debug
// table of the given name.
static const Model *spec_debug_model(const SpecReader *reader)
{
    if (reader->spec->model != NULL) return reader->spec->model;
    const Node *named = node_find(reader->root, "model"), *record = node_find(reader->root, "record");
    const Model *model = named != NULL && named->kind == NODE_SCALAR ? model_find(named->text) : NULL;
    const bool mapping = record != NULL && record->kind == NODE_MAPPING;
    const Node *debug = mapping ? node_find(record, "debug") : NULL;
    for (int i = 0; model == NULL && debug != NULL && debug->kind == NODE_MAPPING && i < model_count(); i++) {
        if (node_find(debug, model_debug_name(model_at(i))) != NULL) model = model_at(i);
    }
    return model;
}

// The value of `model`, before keys are read; also of a misspelt one, if it is the name of a model.
static const Node *spec_names_model(const SpecReader *reader)
{
    static const char *const key[] = {"model"};
    const Node *named = node_find(reader->root, key[0]);
    for (int k = 0; k < reader->root->count && named == NULL; k++) {
        const Node *item = reader->root->items[k];
        if (item->kind == NODE_SCALAR && model_find(item->text) != NULL &&
            nearest_name(reader->root->keys[k]->text, key, 1) != NULL)
            named = item;
    }
    return named;
}

// The model whose keys stand at the top, before the model is read. If its name is misspelt, the one whose key is given.
static const Model *spec_find_top(const SpecReader *reader)
{
    if (reader->spec->model != NULL) return reader->spec->model->top != NULL ? reader->spec->model : NULL;
    const Node *named = spec_names_model(reader);
    const Model *model = named != NULL && named->kind == NODE_SCALAR ? model_find(named->text) : NULL;
    if (model != NULL) return model->top != NULL ? model : NULL;
    for (int i = 0; i < model_count(); i++) {
        for (int k = 0; k < reader->root->count && model_at(i)->top != NULL; k++) {
            const char *name = reader->root->keys[k]->text;
            const bool shared = strcmp(name, "parameters") == 0 || strcmp(name, "metrics") == 0; // all models have them
            if (model_is_top(model_at(i), name) && !shared) return model_at(i);
        }
    }
    return NULL;
}

// The keys of a model that stand at the top; those of declared parameters stand in `parameters`.
static void spec_add_top(SpecReader *reader)
{
    const Model *model = reader->top_model = spec_find_top(reader);
    if (model == NULL) return;
    reader->top_points = (Points *)reader->spec->option_points;
    if (reader->top_points == NULL)
        reader->top_points = ARENA_NEW(reader->arena, Points, model->n_options + model->n_lists);
    for (int i = 0; i < model->n_options + model->n_lists; i++) {
        const bool list = i >= model->n_options;
        const List *own = list ? &model->lists[i - model->n_options] : NULL;
        if (!model_is_top(model, list ? own->name : model->options[i].name)) continue;
        if (list && i - model->n_options == model->declares - 1) continue;
        Key key = list ? key_of_list(own, "", reader->arena) : key_of_option(&model->options[i], "", reader->arena);
        key.at = &reader->top_points[i];
        spec_add_key(reader, key);
    }
}

static void spec_start_table(SpecReader *reader)
{
    int count;
    const Key *table = keys_table(reader->arena, &count);
    const Model *model = spec_debug_model(reader);
    const Model *top = spec_find_top(reader);
    for (int i = 0; i < count; i++) {
        if (table[i].form != NULL && top != NULL && model_is_top(top, table[i].path)) continue; // it has its own
        Key key = key_of_debug(&table[i], model, reader->arena);
        key.at = (char *)reader->spec + key.offset;
        spec_add_key(reader, key);
        reader->n_own++;
    }
    for (int i = 0; i < search_method_count(); i++) {
        const SearchMethod *method = search_method_at(i);
        double *settings = ARENA_NEW(reader->arena, double, method->n_options);
        spec_add_options(reader, method->options, method->n_options, method->later, "search", method->name, settings,
                         NULL, NULL);
    }
    spec_add_top(reader);
}

const Key *key_find(const SpecReader *reader, const char *path)
{
    for (int i = 0; i < reader->n_keys; i++) {
        if (strcmp(reader->keys[i].path, path) == 0) return &reader->keys[i];
    }
    return NULL;
}

// The word of `path` directly below `section` ("" is the top): its length, 0 if it doesn't stand there.
static size_t spec_child_length(const char *path, const char *section, const char **child)
{
    *child = path_below(path, section);
    return *child != NULL ? strcspn(*child, ".") : 0;
}

// Names directly below a section, each once. [n_keys] long at most.
static int spec_children(const SpecReader *reader, const char *section, const char **names)
{
    int count = 0;
    for (int i = 0; i < reader->n_keys; i++) {
        const char *child;
        const size_t length = spec_child_length(reader->keys[i].path, section, &child);
        bool seen = length == 0;
        for (int n = 0; n < count; n++) seen |= strlen(names[n]) == length && strncmp(names[n], child, length) == 0;
        if (!seen) names[count++] = arena_format(reader->arena, "%.*s", (int)length, child);
    }
    return count;
}

// "PREFIX a, b or c", the names that a section takes; "" if there are too many to read.
static const char *spec_expected(const SpecReader *reader, const char *section, const char *prefix)
{
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_keys);
    const int count = spec_children(reader, section, names);
    if (count > SPEC_NAMES_SHOWN) return "";
    return arena_format(reader->arena, "%s%s", prefix, words_sentence(names, count, reader->arena));
}

static bool spec_is_section(const SpecReader *reader, const char *path)
{
    for (int i = 0; i < reader->n_keys; i++) {
        const char *child;
        if (spec_child_length(reader->keys[i].path, path, &child) > 0) return true;
    }
    return false;
}

// ---- which keys are given -------------------------------------------------------------------------------------------

const GivenKey *given_find(const SpecReader *reader, const char *path)
{
    for (int i = 0; i < reader->n_given; i++) {
        if (strcmp(reader->given[i].path, path) == 0) return &reader->given[i];
    }
    return NULL;
}

static void spec_add_given(SpecReader *reader, const char *path, const Node *key, const Node *value)
{
    if (reader->n_given == reader->given_capacity) {
        reader->given_capacity = reader->given_capacity > 0 ? 2 * reader->given_capacity : 64;
        GivenKey *given = ARENA_NEW(reader->arena, GivenKey, reader->given_capacity);
        if (reader->n_given > 0) memcpy(given, reader->given, (size_t)reader->n_given * sizeof *given);
        reader->given = given;
    }
    reader->given[reader->n_given++] = (GivenKey){path, key, value};
}

// The path of a key of this name elsewhere in the spec; NULL: none. The model's rows may not be in the table yet.
static const char *spec_elsewhere(SpecReader *reader, const char *name)
{
    for (int i = 0; i < reader->n_keys; i++) {
        if (strcmp(key_name(&reader->keys[i]), name) == 0) return reader->keys[i].path;
    }
    const Node *given = node_find(reader->root, "model");
    const Model *model = given != NULL && given->kind == NODE_SCALAR ? model_find(given->text) : NULL;
    Configured configured;
    if (model == NULL || !keys_widest_model(model, reader->arena, &configured)) return NULL;
    for (int i = 0; i < model->n_options; i++) {
        if (strcmp(model->options[i].name, name) == 0) return arena_format(reader->arena, "simulation.%s", name);
    }
    for (int i = 0; i < configured.n_parameters; i++) {
        if (strcmp(configured.parameters[i].name, name) == 0)
            return key_of_parameter(&configured.parameters[i], NULL, reader->arena).path;
    }
    const Parameter *extra = keys_extra(model, name);
    return extra != NULL ? key_of_parameter(extra, NULL, reader->arena).path : NULL;
}

// The nearest of `names`; preferably one that `mapping` does not give.
static const char *spec_nearest(const char *text, const char **names, int count, const Node *mapping)
{
    const char *const nearest = nearest_name(text, names, count);
    for (const char *near = nearest; near != NULL; near = nearest_name(text, names, count)) {
        if (node_find(mapping, near) == NULL) return near;
        int at = 0;
        while (names[at] != near) at++;
        names[at] = names[--count];
    }
    return nearest;
}

// Reports a parameter that the model has only under other settings. False: `key` is not one.
static bool spec_is_extra(SpecReader *reader, const Node *key)
{
    const Model *model = reader->spec->model;
    const Parameter *extra = model != NULL ? keys_extra(model, key->text) : NULL;
    if (extra == NULL) return false;
    diagnose(reader->diagnostics, key, "%s is not used with these settings of simulation: it is the %s", key->text,
             extra->doc);
    return true;
}

// newton: {tolerance: ...} for newton.tolerance
static const char *spec_nested(const char *dotted, Arena *arena)
{
    const char *text = "", *brackets = "";
    size_t length = strcspn(dotted, ".");
    for (; dotted[length] == '.'; dotted += length + 1, length = strcspn(dotted, ".")) {
        text = arena_format(arena, "%s%.*s: {", text, (int)length, dotted);
        brackets = arena_format(arena, "%s}", brackets);
    }
    return arena_format(arena, "%s%s: ...%s", text, dotted, brackets);
}

// Other words for keys.
static const struct {
    const char *section, *name, *key;
} spec_synonyms[] = {
    {"", "name", "experiment"},   {"", "title", "experiment"},  {"", "sweep", "search"},
    {"", "grid", "search"},       {"", "params", "parameters"}, {"", "output", "record"},
    {"", "fitness", "objective"}, {"", "cost", "objective"},    {"search", "parameters", "over"},
};

static const char *spec_synonym(const char *name, const char *section)
{
    for (size_t i = 0; i < sizeof spec_synonyms / sizeof *spec_synonyms; i++) {
        if (strcmp(spec_synonyms[i].section, section) == 0 && strcmp(spec_synonyms[i].name, name) == 0)
            return spec_synonyms[i].key;
    }
    return NULL;
}

// names[*n] and those that become parameters where a spec uses them.
static const char **spec_with_nameable(const SpecReader *reader, const char *const *names, int *n)
{
    const Configured *configured = &reader->spec->configured;
    const int more = (int)configured->n_nameable;
    const char **all = ARENA_NEW(reader->arena, const char *, *n + more + 1);
    memcpy(all, names, (size_t)*n * sizeof *names);
    if (more > 0) memcpy(all + *n, configured->nameable, (size_t)more * sizeof *all);
    *n += more;
    return all;
}

// Reports an unknown key. Returns the name that was meant, if it is near and not given too; NULL: none.
static const char *spec_unknown_key(SpecReader *reader, const Node *mapping, const Node *key, const char *section)
{
    if (scalar_flooded(reader)) {
        diagnose(reader->diagnostics, key, "unknown key");
        return NULL;
    }
    const char *dotted = section[0] != '\0' ? arena_format(reader->arena, "%s.%s", section, key->text) : key->text;
    if (strchr(key->text, '.') != NULL && key_find(reader, dotted) != NULL) {
        diagnose(reader->diagnostics, key, "unknown key '%s' in %s: keys nest, write %s", key->text,
                 section[0] != '\0' ? section : "the spec", spec_nested(key->text, reader->arena));
        return NULL;
    }
    const bool parameters = strcmp(section, "parameters") == 0 || strcmp(section, "initial") == 0;
    if (parameters && (reader->nameless || spec_is_extra(reader, key) || system_starts(reader, key))) return NULL;
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_keys);
    const char *near = spec_synonym(key->text, section), *other = parameters ? spec_elsewhere(reader, key->text) : NULL;
    if (other == NULL && (near == NULL || node_find(mapping, near) != NULL)) {
        int n = spec_children(reader, section, names);
        if (parameters) names = spec_with_nameable(reader, names, &n);
        near = spec_nearest(key->text, names, n, mapping);
    }
    const char *meant = near != NULL ? near : other != NULL ? other : spec_elsewhere(reader, key->text);
    const char *where = section[0] != '\0' ? section : "the spec";
    if (meant != NULL && strcmp(meant, key->text) == 0) {
        diagnose(reader->diagnostics, key, "unknown key '%s' in %s: it stands at the top of the spec", key->text,
                 where);
        return NULL;
    }
    diagnose(reader->diagnostics, key, "unknown key '%s' in %s%s", key->text, where,
             meant != NULL ? did_you_mean(meant, reader->arena) : spec_expected(reader, section, ", expected "));
    if (near == NULL || node_find(mapping, near) != NULL) return NULL;
    const char *path = arena_format(reader->arena, "%s.%s", section, near);
    return parameters && key_find(reader, path) == NULL ? NULL : near; // a name that would become a parameter
}

static void spec_walk(SpecReader *reader, const Node *mapping, const char *section);

static void spec_walk_key(SpecReader *reader, const Node *mapping, int index, const char *section)
{
    const Node *key = mapping->keys[index], *value = mapping->items[index];
    const char *dot = section[0] != '\0' ? "." : "";
    const char *path = arena_format(reader->arena, "%s%s%s", section, dot, key->text);
    const bool dotted = strchr(key->text, '.') != NULL; // "newton.tolerance: 1" is not a nested mapping
    if (dotted || (key_find(reader, path) == NULL && !spec_is_section(reader, path))) {
        const char *meant = spec_unknown_key(reader, mapping, key, section);
        if (meant == NULL) return;
        path = arena_format(reader->arena, "%s%s%s", section, dot, meant);
    }
    const Key *row = key_find(reader, path);      // NULL: a mapping because of dots in options' names
    if (given_find(reader, path) != NULL) return; // two misspelt alike: reported already
    spec_add_given(reader, path, key, value);
    const bool walks = row == NULL || (row->type == KEY_SECTION && (row->flags & KEY_OPEN) == 0);
    if (walks) spec_walk(reader, value, path);
}

// Finds the rows of all keys in a mapping and below, as far as forms and the model's sections.
static void spec_walk(SpecReader *reader, const Node *mapping, const char *section)
{
    if (scalar_is_empty(mapping)) return;
    if (mapping->kind != NODE_MAPPING) {
        const bool none = mapping->kind == NODE_SCALAR && strcmp(mapping->text, "none") == 0;
        diagnose(reader->diagnostics, mapping, "%s is %s, expected a mapping%s", section,
                 scalar_given(mapping, reader->arena),
                 none ? ", as {} is, which leaves all of it at its defaults"
                      : spec_expected(reader, section, " with "));
        return;
    }
    for (int i = 0; i < mapping->count; i++) spec_walk_key(reader, mapping, i, section);
    for (int i = 0; i < reader->n_keys; i++) {
        const Key *key = &reader->keys[i];
        const char *child = NULL;
        if ((key->flags & KEY_REQUIRED) == 0 || given_find(reader, key->path) != NULL) continue;
        if (spec_child_length(key->path, section, &child) == 0 || child != key_name(key)) continue; // not right below
        diagnose(reader->diagnostics, mapping, "%s is missing: %s, for example `%s: %s`", key->path, key->doc,
                 key_name(key), key->example);
    }
}

// ---- the model ------------------------------------------------------------------------------------------------------

static void spec_read_rows(SpecReader *reader, int first)
{
    for (int i = first; i < reader->n_keys; i++) {
        const Key *key = &reader->keys[i];
        if (key->type == KEY_FORM || key->type == KEY_SECTION || key->method != NULL) continue;
        const GivenKey *given = given_find(reader, key->path);
        (key->type == KEY_POINTS      ? points_read
         : key->type == KEY_NUMBERS   ? numbers_read
         : key->type == KEY_WORDS     ? words_read
         : key->type == KEY_ARGUMENTS ? arguments_read
         : key->type == KEY_ITEMS     ? items_read
         : key->type == KEY_FILE      ? files_read
         : key->type == KEY_SYSTEM    ? system_key_read
         : key->type == KEY_LAW       ? law_key_read
                                      : scalar_read)(reader, key, given != NULL ? given->value : NULL);
    }
}

// Where an option or a list of the model stands.
static const char *spec_model_path(const SpecReader *reader, const char *name)
{
    const char *below = model_is_top(reader->spec->model, name) ? "" : "simulation.";
    return arena_format(reader->arena, "%s%s", below, name);
}

// The entry of an option's words that the model's error is about, or all of the option. Words are sorted.
static const Node *spec_wrong_entry(const SpecReader *reader, const Node *option)
{
    const Configured *configured = &reader->spec->configured;
    const Points *words = &reader->spec->option_points[configured->wrong_option - 1];
    const int64_t entry = configured->wrong_item - 1;
    if (option->kind != NODE_SEQUENCE || entry < 0 || words->names == NULL || entry >= words->count) return option;
    for (int i = 0; i < option->count; i++) {
        if (option->items[i]->kind == NODE_SCALAR && strcmp(option->items[i]->text, words->names[entry]) == 0)
            return option->items[i];
    }
    return option;
}

const Node *spec_wrong(SpecReader *reader, const GivenKey *section)
{
    const Configured *configured = &reader->spec->configured;
    const Node *whole = section != NULL ? section->key : reader->root;
    if (configured->wrong_option > 0) {
        const char *name = reader->spec->model->options[configured->wrong_option - 1].name;
        const GivenKey *option = given_find(reader, spec_model_path(reader, name));
        return option != NULL ? spec_wrong_entry(reader, option->value) : whole;
    }
    if (configured->wrong_list == 0) return whole;
    const List *list = &reader->spec->model->lists[configured->wrong_list - 1];
    const GivenKey *given = given_find(reader, spec_model_path(reader, list->name));
    if (given == NULL || given->value->kind == NODE_SCALAR) return whole;
    const Node *item = items_node(reader, list, given->value, configured->wrong_item);
    return item != NULL ? item : given->key;
}

// If the settings can't be combined, the rest is checked under the defaults, with the lists if they are valid.
static bool spec_configure_defaults(SpecReader *reader)
{
    Spec *spec = reader->spec;
    const Model *model = spec->model;
    double *defaults = ARENA_NEW(reader->arena, double, model->n_options);
    for (int i = 0; i < model->n_options; i++) defaults[i] = model->options[i].value;
    if (model->n_lists == 0 &&
        model_configure(model, defaults, spec->option_points, reader->arena, &spec->configured).kind == OK)
        return true;
    return model_configure(model, defaults, NULL, reader->arena, &spec->configured).kind == OK;
}

// Assets are built for a run. For a spec in a file they are built here too, so that their errors are reported where
// they stand.
static void spec_build_here(SpecReader *reader, const GivenKey *section)
{
    Spec *spec = reader->spec;
    Configured built;
    if (reader->folder == NULL || diagnostics_errors(reader->diagnostics) > 0) return;
    const Error error = spec_build(spec, reader->arena, &built);
    spec->configured.wrong_option = built.wrong_option;
    if (error.kind == OK && built.dropped > 0)
        diagnose_warning(reader->diagnostics, spec_wrong(reader, section),
                         "%lld point%s of the files %s no finite coordinates and %s left out", (long long)built.dropped,
                         built.dropped == 1 ? "" : "s", built.dropped == 1 ? "has" : "have",
                         built.dropped == 1 ? "is" : "are");
    if (error.kind == OK)
        spec->configured = built;
    else
        diagnose(reader->diagnostics, spec_wrong(reader, section), "%s", error.text);
}

// Equations are given and wrong.
static bool spec_lacks_system(SpecReader *reader)
{
    const Model *model = reader->spec->model;
    for (int i = 0; i < model->n_options; i++) {
        if (model->options[i].type == OPTION_SYSTEM && reader->spec->option_points[i].count == 0 &&
            given_find(reader, spec_model_path(reader, model->options[i].name)) != NULL)
            return true;
    }
    return false;
}

static bool spec_configure(SpecReader *reader)
{
    Spec *spec = reader->spec;
    const int n_options = spec->model->n_options;
    const int first = reader->n_keys, errors = diagnostics_errors(reader->diagnostics);
    const GivenKey *section = given_find(reader, "simulation");
    const bool top = reader->top_model == spec->model && reader->top_points != NULL; // they were read with the top
    Points *points = top ? reader->top_points : ARENA_NEW(reader->arena, Points, n_options + spec->model->n_lists);
    SpecFile *files = ARENA_NEW(reader->arena, SpecFile, n_options);
    double *settings = ARENA_NEW(reader->arena, double, n_options);
    spec_add_model(reader, spec->model, settings, points, files);
    spec->settings = settings;
    spec->option_points = points;
    spec->files = files;
    if (section != NULL) spec_walk(reader, section->value, "simulation");
    spec_read_rows(reader, first);
    const GivenKey *declared = given_find(reader, "parameters");
    if (spec->model->declares > 0)
        items_declare(reader, spec->model, declared != NULL ? declared->value : NULL, points);
    for (int i = 0; i < n_options; i++) {
        if (files[i].name != NULL) settings[i] = 1.0;
    }
    system_check_settings(reader);
    const bool contents = files_read_contents(reader, files, points);
    if (!contents || spec_lacks_system(reader)) { // without its robot nothing of the model can be checked
        reader->nameless = true;
        spec_configure_defaults(reader);
        return false;
    }
    const Error error =
        model_configure(spec->model, spec->settings, spec->option_points, reader->arena, &spec->configured);
    if (error.kind == OK) {
        spec_build_here(reader, section);
        return true;
    }
    if (diagnostics_errors(reader->diagnostics) == errors)
        diagnose(reader->diagnostics, spec_wrong(reader, section), "%s", error.text);
    for (int i = 0; i < n_options; i++) // the defaults have other names
        reader->nameless |= files[i].name != NULL || points[i].system != NULL;
    reader->nameless |= spec->model->declares > 0;
    return spec_configure_defaults(reader);
}

static void spec_add_parameters(SpecReader *reader, double *fixed)
{
    const Configured *configured = &reader->spec->configured;
    const int first = reader->n_keys, n = configured_named(configured);
    const char **names = ARENA_NEW(reader->arena, const char *, n);
    for (int i = 0; i < n; i++) {
        Key key = key_of_parameter(&configured->parameters[i], configured_choices(configured, i), reader->arena);
        key.at = &fixed[i];
        key.parameter = i + 1;
        spec_add_key(reader, key);
        names[i] = configured->parameters[i].name;
    }
    reader->parameter_keys = ARENA_NEW(reader->arena, const Key *, n);
    for (int i = 0; i < n; i++)
        reader->parameter_keys[i] = &reader->keys[first + i]; // the last rows: nothing moves them
    reader->names = names;
}

static void spec_read_parameters(SpecReader *reader)
{
    const int first = reader->n_keys;
    double *fixed = ARENA_NEW(reader->arena, double, reader->spec->configured.n_parameters); // a seed's stays 0
    spec_add_parameters(reader, fixed);
    reader->spec->fixed = fixed;
    static const char *const sections[] = {"initial", "parameters"};
    for (int s = 0; s < 2; s++) {
        const GivenKey *section = given_find(reader, sections[s]);
        if (s == 1 && reader->spec->model->declares > 0) continue; // their values are their defaults
        if (section != NULL) spec_walk(reader, section->value, sections[s]);
    }
    spec_read_rows(reader, first);
}

// The fields have their values; rows are only written through if their field is a member of Spec.
void spec_rows_of(SpecReader *reader)
{
    Spec *spec = reader->spec;
    spec_start_table(reader);
    for (int i = reader->n_own, option = 0; i < reader->n_keys; i++) {
        if (reader->keys[i].method == NULL || strcmp(reader->keys[i].method, spec->method->name) != 0) continue;
        memcpy(reader->keys[i].at, &spec->method_settings[option++], sizeof *spec->method_settings);
    }
    spec_add_model(reader, spec->model, (double *)spec->settings, (Points *)spec->option_points,
                   (SpecFile *)spec->files);
    spec_add_parameters(reader, (double *)spec->fixed);
}

// Where the model has an option of this name: what to write in its place. Else "".
static const char *parameter_as_setting(const SpecReader *reader, const char *name)
{
    const Model *model = reader->spec->model;
    const char *path = strcmp(name, "seed") == 0 ? "seed" : NULL;
    for (int i = 0; model != NULL && path == NULL && i < model->n_options; i++) {
        const char *option = model->options[i].name, *dot = strrchr(option, '.');
        if (strcmp(option, name) != 0 && (dot == NULL || strcmp(dot + 1, name) != 0)) continue;
        path = model_is_top(model, option) ? option : arena_format(reader->arena, "simulation.%s", option);
    }
    return path == NULL ? ""
                        : arena_format(reader->arena,
                                       "; it is a setting, which is swept: `sweep: {%s: [...]}` at the top of the spec "
                                       "runs a campaign for each value",
                                       path);
}

int parameter_find(SpecReader *reader, const Node *key, const Node *mapping, const char *where)
{
    const int n = configured_named(&reader->spec->configured);
    for (int i = 0; i < n; i++) {
        if (strcmp(reader->names[i], key->text) == 0) return i;
    }
    if (scalar_flooded(reader)) {
        diagnose(reader->diagnostics, key, "unknown parameter");
        return -1;
    }
    if (reader->nameless || spec_is_extra(reader, key) || system_starts(reader, key)) return -1;
    int n_known = n;
    const char **names = spec_with_nameable(reader, reader->names, &n_known);
    const char *setting = parameter_as_setting(reader, key->text);
    const char *near = setting[0] == '\0' ? spec_nearest(key->text, names, n_known, mapping) : NULL;
    diagnose(reader->diagnostics, key, "unknown parameter '%s' in %s%s%s", key->text, where, setting,
             did_you_mean(near, reader->arena));
    for (int i = 0; i < n; i++) {
        if (near != NULL && strcmp(reader->names[i], near) == 0) return i;
    }
    return -1;
}

const char *source_beside(const Node *name, Arena *arena)
{
    const char *text = name->text;
    while (strncmp(text, "./", 2) == 0) text += 2 + strspn(text + 2, "/");
    if (name->source->name == NULL || strchr(name->source->name, '/') == NULL || text[0] == '/') return text;
    return arena_format(arena, "%s/%s", folder_of(name->source->name, arena), text);
}

bool spec_read_file(const char *folder, const Node *name, int64_t most, Arena *arena, Diagnostics *diagnostics,
                    Source *source)
{
    const char *beside = source_beside(name, arena);
    FileWithin file;
    Bytes bytes = {0};
    if (folder == NULL) {
        diagnose(diagnostics, name, "no file can be named here: only a spec that is a file itself has a folder");
        return false;
    }
    Error error = file_open_within(folder, beside, arena, &file);
    if (error.kind == OK) error = file_read_within(&file, (size_t)most, arena, &bytes);
    if (error.kind != OK) {
        diagnose(diagnostics, name, "%s", error.text);
        return false;
    }
    *source = (Source){.file = file.path, .text = (const char *)bytes.data, .name = beside};
    return source_check(source, bytes.size, diagnostics);
}

const Expression *expression_read(SpecReader *reader, const Node *node, const Scope *scope, const char *what)
{
    if (reader->nameless) return NULL; // its names can't be known
    if (node->kind == NODE_SCALAR && !scalar_is_empty(node))
        return expression_parse(node, scope, reader->arena, reader->diagnostics);
    diagnose(reader->diagnostics, node, "%s is %s, expected an expression", what, scalar_given(node, reader->arena));
    return NULL;
}

Scope parameter_scope(const SpecReader *reader)
{
    const Configured *configured = &reader->spec->configured;
    return (Scope){.names = reader->names, .count = configured_named(configured), .choices = configured->choices};
}

// Reports the method's error at the key that it is about; if that key is not given, at the method.
static void spec_check_search(SpecReader *reader)
{
    const char *key;
    const Error error = search_check(reader->spec, &key);
    if (error.kind == OK) return;
    const GivenKey *about = given_find(reader, key);
    if (about == NULL) about = given_find(reader, "search.method");
    diagnose(reader->diagnostics, about != NULL ? about->value : reader->root, "%s", error.text);
}

// ---- names ----------------------------------------------------------------------------------------------------------

static int spec_compare_names(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

// Parameters and metrics are columns of one table, where capitals do not count.
static void spec_check_names(SpecReader *reader)
{
    const Configured *configured = &reader->spec->configured;
    const int count = configured->n_parameters + configured->n_metrics;
    const char **names = ARENA_NEW(reader->arena, const char *, count + 1);
    const GivenKey *section = given_find(reader, "simulation");
    for (int i = 0; i < configured->n_parameters; i++) names[i] = configured->parameters[i].name;
    for (int i = 0; i < configured->n_metrics; i++) names[configured->n_parameters + i] = configured->metrics[i].name;
    qsort(names, (size_t)count, sizeof *names, spec_compare_names);
    for (int i = 1; i < count; i++) {
        if (strcasecmp(names[i - 1], names[i]) != 0) continue;
        diagnose(reader->diagnostics, section != NULL ? section->key : reader->root,
                 "two parameters or metrics are called '%s' and '%s': rename what gives one of them its name; names "
                 "must differ in more than case",
                 names[i - 1], names[i]);
        return;
    }
}

// ---- all of it ------------------------------------------------------------------------------------------------------

void spec_read(SpecReader *reader)
{
    spec_start_table(reader);
    spec_walk(reader, reader->root, "");
    spec_read_rows(reader, 0);
    forms_read(reader, FORM_FIRST);
    const int errors = diagnostics_errors(reader->diagnostics);
    const bool with_model = reader->spec->model != NULL && spec_configure(reader);
    if (with_model) {
        things_choose(reader, diagnostics_errors(reader->diagnostics) == errors);
        if (diagnostics_errors(reader->diagnostics) == errors) policy_take(reader);
        if (diagnostics_errors(reader->diagnostics) == errors)
            law_read(reader);
        else
            reader->nameless |= law_is_given(reader); // its parameters lack
        if (diagnostics_errors(reader->diagnostics) == errors)
            forms_read(reader, FORM_METRICS);
        else
            reader->nameless |= forms_given(reader, FORM_METRICS) > 0; // their columns may lack
        cases_declare(reader);
        if (diagnostics_errors(reader->diagnostics) == 0) spec_check_names(reader);
        recording_check_units(reader);
        spec_read_parameters(reader);
        axes_read(reader);
        forms_read(reader, FORM_SEARCH);
    } else if (reader->spec->model == NULL) {
        axes_read_without_model(reader);
    }
    forms_read(reader, FORM_OBJECTIVE);
    if (diagnostics_errors(reader->diagnostics) == 0) method_choose(reader);
    environment_check_reward(reader);
    policy_see(reader);
    system_check_actions(reader);
    record_read(reader);
    by_hand_check_keys(reader);
}

Error spec_summary(const char *file, const Diagnostics *diagnostics)
{
    const int errors = diagnostics_errors(diagnostics);
    if (diagnostics_no_memory(diagnostics))
        return error_make(ERROR_MACHINE, "%s: there is not enough memory to read it", file);
    return error_make(ERROR_USER, "%s: %d error%s", file, errors, errors == 1 ? "" : "s");
}

// Where a spec comes from.
typedef struct SpecPlace {
    const char *file, *folder; // folder NULL: it names no files
    size_t most;               // bytes that it may have
    AllowedFolders allowed;
} SpecPlace;

// The tree of a spec with its fragments and overrides. NULL: it can't be read.
static const Node *spec_tree(const SpecPlace *place, const char *file, const char **text, const Overrides *overrides,
                             Arena *arena, Diagnostics *diagnostics)
{
    Source *source = ARENA_NEW(arena, Source, 1);
    *source = (Source){.file = file, .text = *text, .most = place->most};
    const Node *root = yaml_parse(source, arena, diagnostics);
    if (root == NULL) return NULL;
    root = include_all(place->folder, root, arena, diagnostics, text);
    root = override_apply_kept(root, arena, diagnostics);
    for (int i = 0; i < overrides->count && root->kind == NODE_MAPPING; i++)
        root = override_apply(root, arena_copy(arena, overrides->items[i]), arena, diagnostics);
    return root;
}

static Error spec_parse_at(const SpecPlace *place, const char *text, const char *const *overrides, int n_overrides,
                           Arena *arena, Diagnostics *diagnostics, Spec *out)
{
    const char *file = place->file;
    *out = (Spec){.file = arena_copy(arena, file), .text = arena_copy(arena, text), .folder = place->folder};
    const Overrides given = {.items = (const char **)overrides, .count = n_overrides};
    const Node *root = spec_tree(place, out->file, &out->text, &given, arena, diagnostics);
    if (root == NULL) return spec_summary(file, diagnostics);
    const Node *pack = root->kind == NODE_MAPPING ? node_find(root, "hopscotch_pack") : NULL;
    if (pack != NULL) { // of `hopscotch pack`, whose keys are no misspelt ones
        diagnose(diagnostics, pack, "this is a pack of a trial, not a spec: `hopscotch replay FILE` runs it again");
        return spec_summary(file, diagnostics);
    }
    if (root->kind != NODE_MAPPING)
        diagnose(diagnostics, root, "a spec is a mapping of keys to values, this is %s", scalar_given(root, arena));
    SpecReader reader = {.spec = out,
                         .arena = arena,
                         .diagnostics = diagnostics,
                         .root = cases_first(root, arena, diagnostics),
                         .folder = place->folder,
                         .allowed = place->allowed};
    if (root->kind == NODE_MAPPING) spec_read(&reader);
    if (diagnostics_errors(diagnostics) == 0 && reader.lost.kind == OK) cases_read(&reader, root);
    if (reader.lost.kind != OK) return reader.lost;
    if (diagnostics_errors(diagnostics) == 0) spec_check_search(&reader);
    if (diagnostics_errors(diagnostics) > 0) return spec_summary(file, diagnostics);
    TRY(spec_resolve(&reader));
    return diagnostics_errors(diagnostics) > 0 ? spec_summary(file, diagnostics) : error_none();
}

// A resolved spec may be longer than a written one: it holds the points of a file.
Error spec_parse(const char *file, const char *text, const char *const *overrides, int n_overrides, Arena *arena,
                 Diagnostics *diagnostics, Spec *out)
{
    const SpecPlace place = {.file = file, .most = RESOLVED_BYTES_MAX};
    return spec_parse_at(&place, text, overrides, n_overrides, arena, diagnostics, out);
}

static Error spec_load_at(const SpecPlace *place, const char *const *overrides, int n_overrides, Arena *arena,
                          Diagnostics *diagnostics, Spec *out)
{
    Bytes bytes;
    const char *path = place->file;
    TRY(file_read(path, YAML_BYTES_MAX, arena, &bytes));
    Source *source = ARENA_NEW(arena, Source, 1);
    *source = (Source){.file = arena_copy(arena, path), .text = (const char *)bytes.data};
    if (!source_check(source, bytes.size, diagnostics)) return spec_summary(path, diagnostics);
    return spec_parse_at(place, (const char *)bytes.data, overrides, n_overrides, arena, diagnostics, out);
}

Error spec_load(const char *path, const char *const *overrides, int n_overrides, Arena *arena, Diagnostics *diagnostics,
                Spec *out)
{
    const SpecPlace place = {.file = path, .folder = folder_of(path, arena)};
    return spec_load_at(&place, overrides, n_overrides, arena, diagnostics, out);
}

Error spec_load_allowed(const char *path, const Overrides *overrides, const AllowedFolders *allowed, Arena *arena,
                        Diagnostics *diagnostics, Spec *out)
{
    const SpecPlace place = {.file = path, .folder = folder_of(path, arena), .allowed = *allowed};
    return spec_load_at(&place, overrides->items, overrides->count, arena, diagnostics, out);
}

Error spec_sweep(const char *path, const Overrides *overrides, Arena *arena, Diagnostics *diagnostics, Sweep *sweep)
{
    Bytes bytes;
    const SpecPlace place = {.file = path, .folder = folder_of(path, arena)};
    TRY(file_read(path, YAML_BYTES_MAX, arena, &bytes));
    *sweep = (Sweep){.count = 0};
    const char *file = arena_copy(arena, path), *text = (const char *)bytes.data;
    Diagnostics *others = diagnostics_new(arena); // spec_load finds them again
    if (!source_check(&(Source){.file = file, .text = text}, bytes.size, others)) return error_none();
    const Node *root = spec_tree(&place, file, &text, overrides, arena, others);
    if (diagnostics_no_memory(others)) return spec_summary(path, others);
    if (root == NULL || diagnostics_errors(others) > 0) return error_none();
    return sweep_read(root, arena, diagnostics, sweep) ? error_none() : spec_summary(path, diagnostics);
}
