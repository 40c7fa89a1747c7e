// The reference page, `hopscotch help spec all`: each key, its meaning, what it takes, its default and an example; the
// value forms; the keys of each method and model. From the same tables as reading.
#include "../equations/equations.h"
#include "forms.h"

#include <stdio.h>
#include <string.h>

enum { REFERENCE_ARENA = 16 << 20, REFERENCE_COLUMNS = 96, REFERENCE_INDENT = 4 };

// A page, or what the page says of a topic: a key by its path or the path's last words, a section, a form of values, a
// method, a model, "values", "sizes".
typedef struct ReferencePage {
    FILE *out;
    Arena *arena;
    int columns;
    const char *topic;   // NULL: the whole page
    const char *heading; // of the group whose first key was not printed yet; NULL: none waits
    bool whole;          // the group is the topic
    int found;           // keys, forms and groups that were printed
    const char **names;  // [n_names] all topics, to find the nearest one; NULL: none are gathered
    int n_names, capacity;
} ReferencePage;

static void reference_paragraph(const ReferencePage *page, const char *text)
{
    fprintf(page->out, "%*s", REFERENCE_INDENT, "");
    terminal_paragraph(page->out, text, REFERENCE_INDENT, page->columns);
    fputc('\n', page->out);
}

static void reference_name(ReferencePage *page, const char *name)
{
    if (page->n_names < page->capacity) page->names[page->n_names++] = name;
}

// Begins the keys of a method, say, whose heading stands before the first of them that is printed.
static void reference_group(ReferencePage *page, const char *name, const char *heading)
{
    page->heading = heading;
    page->whole = page->topic == NULL || strcmp(page->topic, name) == 0;
    reference_name(page, name);
}

static void reference_head(ReferencePage *page)
{
    if (page->heading != NULL) {
        if (page->found > 0) fputc('\n', page->out);
        terminal_paragraph(page->out, page->heading, 0, terminal_breaks(page->out));
        fputs("\n\n", page->out);
    }
    page->heading = NULL;
    page->found++;
}

// Is the key, or a section that it stands in, the topic? `sigma`, `cmaes.sigma` and `cmaes` are topics of
// `search.cmaes.sigma`.
static bool reference_wants(ReferencePage *page, const char *path)
{
    const char *dot = strrchr(path, '.');
    reference_name(page, dot != NULL ? dot + 1 : path);
    if (page->whole) return true;
    const size_t length = strlen(page->topic);
    for (const char *words = path; words != NULL; words = strchr(words, '.')) {
        words += *words == '.';
        if (strncmp(words, page->topic, length) == 0 && (words[length] == '.' || words[length] == '\0')) return true;
    }
    return false;
}

// "default 150", "required"; NULL: there is nothing to say.
static const char *reference_default(const Key *key, Arena *arena)
{
    if ((key->flags & KEY_REQUIRED) != 0) return "required";
    if (key->type == KEY_CHOICE) return arena_format(arena, "default %s", words_at(key->words, (int)key->value, arena));
    if (key->type == KEY_BOOLEAN) return key->value != 0.0 ? "default true" : "default false";
    if (key->type != KEY_NUMBER && key->type != KEY_INTEGER) return NULL;
    if (key->words != NULL) return arena_format(arena, "default %s", key->words);
    return arena_format(arena, "default %s", text_number(key->value).text);
}

// False: it is not of the topic.
static bool reference_describe(ReferencePage *page, const Key *key)
{
    if (!reference_wants(page, key->path)) return false;
    reference_head(page);
    fprintf(page->out, "%s\n", key->path);
    reference_paragraph(page, key->doc);
    if (key->type != KEY_SECTION) {
        const char *initial = reference_default(key, page->arena), *expected = key_expected(key, page->arena);
        reference_paragraph(page, initial != NULL ? arena_format(page->arena, "%s; %s", expected, initial) : expected);
    }
    if (key->example != NULL) fprintf(page->out, "    example: %s: %s\n", key_name(key), key->example);
    return true;
}

static void reference_describe_option(ReferencePage *page, const Option *option, const char *section)
{
    const Key key = key_of_option(option, section, page->arena);
    reference_describe(page, &key);
}

static void reference_describe_value(ReferencePage *page, const char *name, const char *form, const char *doc,
                                     const char *example)
{
    if (!reference_wants(page, name)) return;
    reference_head(page);
    fprintf(page->out, "%s\n", form);
    reference_paragraph(page, doc);
    if (example != NULL) fprintf(page->out, "    example: %s\n", example);
}

static void reference_describe_values(ReferencePage *page)
{
    int count;
    const ValueForm *const *forms = value_forms(&count);
    reference_group(page, "values", "VALUES of a parameter in search.over");
    reference_describe_value(page, "list", "[1, 2, 3]", "these, in this order", NULL);
    for (int i = 0; i < count; i++) {
        const char *form = arena_format(page->arena, "{%s: %s}", forms[i]->name, forms[i]->arguments);
        reference_describe_value(page, forms[i]->name, form, forms[i]->doc, forms[i]->example);
    }
    reference_describe_value(page, "derive", "{derive: expression}",
                             "computed from other parameters; not an axis. It may use axes, fixed values and "
                             "parameters derived before it",
                             "{derive: \"0.1 * k_fp\"}");
}

// The keys of an item of a model's list: of a world's bodies, say.
static void reference_describe_list(ReferencePage *page, const List *list, const char *section)
{
    const Key key = key_of_list(list, section, page->arena);
    if (!reference_describe(page, &key)) return;
    fprintf(page->out, "    keys of an item:\n");
    for (int f = 0; f < list->n_fields; f++) {
        const ItemField *field = &list->fields[f];
        reference_paragraph(page, arena_format(page->arena, "- %s: %s; %s", field->name, field->doc,
                                               items_field_expected(field, page->arena)));
    }
    reference_paragraph(page, "- repeat: number of copies or [first, last]; # is the copy's number, #-1 and #+1 its "
                              "neighbours");
    reference_paragraph(page, "- step: added to each field from one copy to the next; a mapping of fields to numbers");
}

// The mapping that holds the lists of a model: `simulation.world` of world.bodies, world.constraints, world.forces.
static void reference_describe_lists(ReferencePage *page, const Model *model)
{
    size_t named = 0; // length of the mapping's name that was described last
    for (int k = 0; k < model->n_lists; k++) {
        const List *list = &model->lists[k];
        const size_t length = strcspn(list->name, ".");
        const bool same = named == length && strncmp(list->name, model->lists[k - 1].name, length) == 0;
        if (list->name[length] == '.' && !same) {
            const char *path = arena_format(page->arena, "simulation.%.*s", (int)length, list->name);
            const Key mapping = {.path = path, .type = KEY_SECTION, .doc = "a mapping of the lists below"};
            reference_describe(page, &mapping);
            named = length;
        }
        reference_describe_list(page, list, model_is_top(model, list->name) ? "" : "simulation");
    }
}

static void reference_describe_method(ReferencePage *page, const SearchMethod *method)
{
    reference_group(page, method->name, arena_format(page->arena, "METHOD %s: %s", method->name, method->doc));
    if (page->whole) reference_head(page); // some have no options
    for (int k = 0; k < method->n_options; k++) reference_describe_option(page, &method->options[k], "search");
}

// The language of a model that reads equations.
static void reference_describe_system(ReferencePage *page, const Model *model)
{
    const bool wanted = page->whole || strcmp(page->topic, "system") == 0;
    for (int i = 0; i < model->n_options && wanted; i++) {
        if (model->options[i].type != OPTION_SYSTEM) continue;
        fputc('\n', page->out);
        equations_page(page->out, page->columns);
    }
}

static void reference_describe_model(ReferencePage *page, const Model *model)
{
    reference_group(page, model->name,
                    arena_format(page->arena, "MODEL %s: %s (parameters and metrics: hopscotch models %s)", model->name,
                                 model->doc, model->name));
    if (page->whole) reference_head(page);
    for (int k = 0; k < model->n_options; k++) {
        const Option *option = &model->options[k];
        reference_describe_option(page, option, model_is_top(model, option->name) ? "" : "simulation");
    }
    reference_describe_lists(page, model);
    reference_describe_system(page, model);
    if (model->debug == NULL) return;
    const char *path = arena_format(page->arena, "record.debug.%s", model_debug_name(model));
    const char *doc =
        arena_format(page->arena, "%s of this model, with the keys of record.debug.newton", model_debug_are(model));
    const Key rows = {.path = path, .type = KEY_SECTION, .doc = doc};
    reference_describe(page, &rows);
}

// ---- limits ---------------------------------------------------------------------------------------------------------

typedef struct LimitRow {
    const char *what; // NULL: the rows of forms stand here
    double most;
    const char *unit; // NULL: bytes
} LimitRow;

static const LimitRow reference_limit_rows[] = {
    {"a spec's file", YAML_BYTES_MAX, NULL},
    {"a spec with every value written out", RESOLVED_BYTES_MAX, NULL},
    {"a file of points", (double)POINTS_BYTES_MAX, NULL},
    {"files that a spec includes, together no larger than it", INCLUDES_MAX, "files"},
    {"nesting", YAML_DEPTH_MAX, "levels"},
    {"values, an alias counting as often as it is used", YAML_NODES_MAX, "values"},
    {"anchors", YAML_ANCHORS_MAX, "anchors"},
    {"a name", NAME_LENGTH_MAX, "of A-Z a-z 0-9 . _ -, not starting with . or -"},
    {"an integer", (double)INTEGER_MAX, "(2^53 - 1)"},
    {"an expression", EXPRESSION_LENGTH, "characters"},
    {"nesting of an expression", EXPRESSION_DEPTH, "levels"},
    {NULL, 0.0, NULL},
    {"trials, before exclude", (double)TRIALS_MAX, "trials"},
    {"searches side by side, of all points of `outer`", SEARCHES_MAX, "searches"},
    {"replicates of a trial", REPLICATES_MAX, "replicates"},
    {"points of a terrain", POINTS_MAX, "points"},
    {"a matrix or table in a file", MATRIX_MAX, "numbers"},
    {"its rows", MATRIX_COLUMNS_MAX, "fields"},
    {"trajectories of one trial", (double)RECORD_TRIAL_BYTES_MAX, NULL},
    {"debug rows of one trial", (double)RECORD_BYTES_MAX, NULL},
};

static void reference_print_limit(FILE *out, const char *what, double limit, const char *unit)
{
    const Text32 most = unit == NULL ? text_bytes(limit) : text_count((int64_t)limit);
    fprintf(out, "%-50s  %s %s\n", what, most.text, unit != NULL ? unit : "");
}

static void reference_limits(ReferencePage *page)
{
    FILE *out = page->out;
    reference_group(page, "sizes", "LIMITS");
    if (!page->whole) return;
    reference_head(page);
    for (size_t i = 0; i < sizeof reference_limit_rows / sizeof *reference_limit_rows; i++) {
        const LimitRow *row = &reference_limit_rows[i];
        if (row->what != NULL) reference_print_limit(out, row->what, row->most, row->unit);
        for (int f = 0; row->what == NULL && f < form_count(); f++) {
            const Form *form = form_at(f);
            if (form->most_of != NULL) reference_print_limit(out, form->path, form->most, form->most_of);
        }
    }
}

// ---- the page -------------------------------------------------------------------------------------------------------

// A test feeds it to `check`.
static const char reference_spec[] = "version: 1\n"
                                     "experiment: my_gains\n"
                                     "model: hopper\n"
                                     "simulation: {duration: 5.0, settle: 1.0}   # s\n"
                                     "parameters: {x_dot_des: 2.0}               # m/s\n"
                                     "search:\n"
                                     "  method: grid\n"
                                     "  over: {k_fp: {linspace: [50, 300, 6]}, thrust: [30, 35, 40]}\n"
                                     "replicates: {count: 4, perturb: {phi_leg: {normal: [0.01, 0.02]}}}\n"
                                     "objective: {minimize: \"velocity_error + 0.1*cost_of_transport\"}\n";

static void reference_example(FILE *out)
{
    fputs("A SPEC, complete: `hopscotch check my.yaml` finds nothing wrong with it\n\n", out);
    for (const char *line = reference_spec; *line != '\0';) {
        const int length = (int)strcspn(line, "\n");
        fprintf(out, "    %.*s\n", length, line);
        line += length + 1;
    }
    fputc('\n', out);
}

static void reference_print(ReferencePage *page)
{
    int count;
    const Key *rows = keys_table(page->arena, &count);
    reference_group(page, "keys", "KEYS of a spec");
    for (int i = 0; i < count; i++) reference_describe(page, &rows[i]);
    reference_describe_values(page);
    for (int i = 0; i < search_method_count(); i++) reference_describe_method(page, search_method_at(i));
    for (int i = 0; i < model_count(); i++) reference_describe_model(page, model_at(i));
    reference_limits(page);
}

static int reference_columns(FILE *out)
{
    const int columns = terminal_breaks(out);
    return columns > 0 && columns < REFERENCE_COLUMNS ? columns : REFERENCE_COLUMNS;
}

void spec_reference_example(FILE *out) { fputs(reference_spec, out); }

void spec_reference(FILE *out)
{
    Arena arena;
    if (arena_create_growing(&arena, REFERENCE_ARENA, "the reference page").kind != OK) return;
    reference_example(out);
    ReferencePage page = {.out = out, .arena = &arena, .columns = reference_columns(out)};
    reference_print(&page);
    fprintf(out,
            "\nNumbers are written 3, -0.5, 1e-4. Keys in s also take 5us, 5ms, 10s, 30min, 2h; fractions also 50%%.\n"
            "Expressions: + - * / ^, < <= > >= = !=, and or not, parentheses, pi, and the functions\n");
    reference_paragraph(&page, expression_functions(&arena));
    arena_destroy(&arena);
}

// The models that have a parameter of this name.
static const char *reference_models_with(const char *name, Arena *arena)
{
    const char *models = NULL;
    for (int i = 0; i < model_count(); i++) {
        Configured configured;
        const Model *model = model_at(i);
        bool has = keys_extra(model, name) != NULL;
        if (!keys_widest_model(model, arena, &configured)) continue;
        for (int p = 0; p < configured_named(&configured); p++)
            has = has || strcmp(configured.parameters[p].name, name) == 0;
        if (has)
            models = arena_format(arena, "%s%s`hopscotch models %s`", models != NULL ? models : "",
                                  models != NULL ? ", " : "", model->name);
    }
    return models;
}

Error spec_reference_topic(const char *topic, FILE *out, Arena *arena)
{
    enum { NAMES_MAX = 2048 };
    ReferencePage page = {.out = out,
                          .arena = arena,
                          .columns = reference_columns(out),
                          .topic = topic,
                          .names = ARENA_NEW(arena, const char *, NAMES_MAX),
                          .capacity = NAMES_MAX};
    reference_print(&page);
    const char *models = reference_models_with(topic, arena);
    if (models != NULL) fprintf(out, "%s'%s' is a parameter: %s\n", page.found > 0 ? "\n" : "", topic, models);
    const bool of_system = equations_page_topic(out, topic, page.found == 0, page.columns); // beside keys of that name
    if (page.found > 0 && (strcmp(topic, "law") == 0 || strcmp(topic, "control.law") == 0))
        equations_law_page(out, page.columns);
    if (page.found > 0 || models != NULL || of_system) return error_none();
    const char *nearest = nearest_name(topic, page.names, page.n_names);
    return error_make(ERROR_USAGE, "no key of a spec is called '%.60s'%s%s%s", topic,
                      nearest != NULL ? "; did you mean '" : "; hopscotch help spec lists the sections",
                      nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

// The first clause of a text.
static const char *reference_clause(const char *text, Arena *arena)
{
    size_t length = strcspn(text, ";");
    const char *sentence = strstr(text, ". ");
    if (sentence != NULL && (size_t)(sentence - text) < length) length = (size_t)(sentence - text);
    return arena_format(arena, "%.*s", (int)length, text);
}

void spec_reference_sections(FILE *out)
{
    Arena arena;
    if (arena_create_growing(&arena, REFERENCE_ARENA, "the reference page").kind != OK) return;
    int count;
    const Key *rows = keys_table(&arena, &count);
    const int columns = terminal_breaks(out);
    fputs("A spec is a YAML file. Its keys; `help spec KEY` explains a key and all keys below it:\n", out);
    for (int i = 0; i < count; i++) {
        if (strchr(rows[i].path, '.') != NULL) continue;
        fprintf(out, "  %-14s", rows[i].path);
        terminal_paragraph(out, reference_clause(rows[i].doc, &arena), 16, columns);
        fputc('\n', out);
    }
    fputs("`help spec` also takes `values` (of a parameter), `sizes` (how large a spec can be),\n"
          "a method (cmaes), a model (hopper), the last words of a key (sigma), `example`, and `all`.\n",
          out);
    arena_destroy(&arena);
}
