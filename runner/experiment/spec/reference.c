// The reference page, `hopscotch help spec`: every key with its meaning, what it takes, its default and an example; the
// value forms; the keys of each method and model. From the same tables as reading.
#include "forms.h"

#include <stdio.h>
#include <string.h>

enum { REFERENCE_ARENA = 16 << 20, REFERENCE_COLUMNS = 96 };

// A paragraph, indented by 4 and broken between words.
static void reference_paragraph(FILE *out, const char *text)
{
    size_t column = 0;
    for (const char *p = text; *p != '\0'; p += strspn(p, " ")) {
        const size_t word = strcspn(p, " ");
        const bool breaks = column == 0 || column + 1 + word > REFERENCE_COLUMNS;
        fprintf(out, "%s%.*s", column == 0 ? "    " : breaks ? "\n    " : " ", (int)word, p);
        column = breaks ? 4 + word : column + 1 + word;
        p += word;
    }
    fputc('\n', out);
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

static void reference_describe(FILE *out, const Key *key, Arena *arena)
{
    fprintf(out, "%s\n", key->path);
    reference_paragraph(out, key->doc);
    if (key->type != KEY_SECTION) {
        const char *initial = reference_default(key, arena), *expected = key_expected(key, arena);
        reference_paragraph(out, initial != NULL ? arena_format(arena, "%s; %s", expected, initial) : expected);
    }
    if (key->example != NULL) fprintf(out, "    example: %s: %s\n", key_name(key), key->example);
}

static void reference_describe_option(FILE *out, const Option *option, const char *section, Arena *arena)
{
    const Key key = key_of_option(option, section, arena);
    reference_describe(out, &key, arena);
}

static void reference_describe_values(FILE *out)
{
    int count;
    const ValueForm *const *forms = value_forms(&count);
    fprintf(out, "\nVALUES of a parameter in search.over\n\n[1, 2, 3]\n    these, in this order\n");
    for (int i = 0; i < count; i++)
        fprintf(out, "{%s: %s}\n    %s\n    example: %s\n", forms[i]->name, forms[i]->arguments, forms[i]->doc,
                forms[i]->example);
    fprintf(out,
            "{derive: expression}\n    computed from other parameters; not an axis. It may use axes, fixed values and\n"
            "    parameters derived before it\n    example: {derive: \"0.1 * k_fp\"}\n");
}

// The keys of an item of a model's list: of a world's bodies, say.
static void reference_describe_list(FILE *out, const List *list, const char *section, Arena *arena)
{
    const Key key = key_of_list(list, section, arena);
    reference_describe(out, &key, arena);
    fprintf(out, "    keys of an item:\n");
    for (int f = 0; f < list->n_fields; f++) {
        const ItemField *field = &list->fields[f];
        reference_paragraph(
            out, arena_format(arena, "- %s: %s; %s", field->name, field->doc, items_field_expected(field, arena)));
    }
    reference_paragraph(out, "- repeat: number of copies or [first, last]; # is the copy's number, #-1 and #+1 its "
                             "neighbours");
    reference_paragraph(out, "- step: added to each field from one copy to the next; a mapping of fields to numbers");
}

// The mapping that holds the lists of a model: `simulation.world` of world.bodies, world.constraints, world.forces.
static void reference_describe_lists(FILE *out, const Model *model, Arena *arena)
{
    size_t named = 0; // length of the mapping's name that was printed last
    for (int k = 0; k < model->n_lists; k++) {
        const List *list = &model->lists[k];
        const size_t length = strcspn(list->name, ".");
        const bool same = named == length && strncmp(list->name, model->lists[k - 1].name, length) == 0;
        if (list->name[length] == '.' && !same) {
            fprintf(out, "simulation.%.*s\n", (int)length, list->name);
            reference_paragraph(out, "a mapping of the lists below");
            named = length;
        }
        reference_describe_list(out, list, model_is_top(model, list->name) ? "" : "simulation", arena);
    }
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

static void reference_limits(FILE *out)
{
    fputs("\nLIMITS\n\n", out);
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

void spec_reference(FILE *out)
{
    Arena arena;
    if (arena_create_growing(&arena, REFERENCE_ARENA, "the reference page").kind != OK) return;
    int count;
    const Key *rows = keys_table(&arena, &count);
    reference_example(out);
    fprintf(out, "KEYS of a spec\n\n");
    for (int i = 0; i < count; i++) reference_describe(out, &rows[i], &arena);
    reference_describe_values(out);
    for (int i = 0; i < search_method_count(); i++) {
        const SearchMethod *method = search_method_at(i);
        fprintf(out, "\nMETHOD %s: %s\n\n", method->name, method->doc);
        for (int k = 0; k < method->n_options; k++)
            reference_describe_option(out, &method->options[k], "search", &arena);
    }
    for (int i = 0; i < model_count(); i++) {
        const Model *model = model_at(i);
        fprintf(out, "\nMODEL %s: %s (parameters and metrics: hopscotch models %s)\n\n", model->name, model->doc,
                model->name);
        for (int k = 0; k < model->n_options; k++) {
            const Option *option = &model->options[k];
            reference_describe_option(out, option, model_is_top(model, option->name) ? "" : "simulation", &arena);
        }
        reference_describe_lists(out, model, &arena);
        if (model->debug != NULL)
            fprintf(out, "record.debug.%s\n    debug rows of this model, with the keys of record.debug.newton\n",
                    model_debug_name(model));
    }
    reference_limits(out);
    fprintf(out,
            "\nNumbers are written 3, -0.5, 1e-4. Keys in s also take 5us, 5ms, 10s, 30min, 2h; fractions also 50%%.\n"
            "Expressions: + - * / ^, < <= > >= = !=, and or not, min max abs sqrt exp log sin cos, parentheses.\n");
    arena_destroy(&arena);
}
