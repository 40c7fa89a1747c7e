// hopscotch models and schema: print what a spec may contain, from the tables that check it.
#include "command.h"

#include <math.h>
#include <string.h>

// A model as its defaults have it, or as a spec does: a robot's parameters, a world's.
typedef struct ModelsSubject {
    const Model *model;
    const Configured *configured;
    const Spec *spec; // NULL: the defaults
} ModelsSubject;

static Error models_configure(const Model *model, Arena *arena, Configured *configured)
{
    double *settings = ARENA_NEW(arena, double, model->n_options + 1);
    for (int i = 0; i < model->n_options; i++) settings[i] = model->options[i].value;
    memset(configured, 0, sizeof *configured);
    return model_configure(model, settings, NULL, arena, configured);
}

static const char *models_range(double low, double high, Arena *arena)
{
    return arena_format(arena, "%c%s, %s%c", isinf(low) ? '(' : '[', text_number(low).text, text_number(high).text,
                        isinf(high) ? ')' : ']');
}

// The name of a choice: its index in "a|b|c" is `value`.
static const char *models_choice(const Option *option, double value, Arena *arena)
{
    char *rest = arena_copy(arena, option->choices), *name = rest;
    for (int skipped = (int)value; skipped >= 0 && rest != NULL; skipped--) name = strsep(&rest, "|");
    return name;
}

// ---- tables for people ----------------------------------------------------------------------------------------------

static const char *models_list_text(const Option *option, const Points *points, Arena *arena)
{
    const char *text = "";
    if (option->type == OPTION_POINTS) return arena_format(arena, "%lld points", (long long)points->count);
    for (int64_t i = 0; i < points->count; i++)
        text = arena_format(arena, "%s%s%s", text, i > 0 ? ", " : "",
                            option->type == OPTION_NUMBERS ? text_number(points->numbers[i]).text : points->names[i]);
    return arena_format(arena, "[%s]", text);
}

// The default of an option, or with a spec its value there.
static const char *models_option_value(const Option *option, int index, const Spec *spec, Arena *arena)
{
    const double value = spec != NULL ? spec->settings[index] : option->value;
    switch (option->type) {
    case OPTION_CHOICE:
    case OPTION_MANNER: return models_choice(option, value, arena);
    case OPTION_LAW:
    case OPTION_SYSTEM: return spec != NULL && spec->option_points[index].count > 0 ? "given" : "none";
    case OPTION_FILE: return spec != NULL && spec->files[index].name != NULL ? spec->files[index].name : "none";
    case OPTION_MANNER_NUMBER:
        if (spec == NULL || value == option->value) return option->choices;
        break;
    case OPTION_POINTS:
    case OPTION_NUMBERS:
    case OPTION_WORDS:
    case OPTION_ARGUMENTS:
        if (spec != NULL) return models_list_text(option, &spec->option_points[index], arena);
        return option->type == OPTION_ARGUMENTS ? "none" : "[]";
    case OPTION_NUMBER:
    case OPTION_INTEGER:
    case OPTION_BOOLEAN: break;
    }
    return arena_copy(arena, text_number(value).text);
}

static const char *models_option_range(const Option *option, Arena *arena)
{
    switch (option->type) {
    case OPTION_CHOICE:
    case OPTION_MANNER: return "a word";
    case OPTION_LAW: return "a law";
    case OPTION_SYSTEM: return "equations";
    case OPTION_FILE: return option->choices;
    case OPTION_WORDS: return "words";
    case OPTION_ARGUMENTS: return "texts";
    case OPTION_NUMBER:
    case OPTION_INTEGER:
    case OPTION_BOOLEAN:
    case OPTION_POINTS:
    case OPTION_NUMBERS:
    case OPTION_MANNER_NUMBER: break;
    }
    return models_range(option->low, option->high, arena);
}

// The words of a choice stand in the last column, which a terminal breaks.
static const char *models_option_doc(const Option *option, Arena *arena)
{
    const char *words = "";
    if (option->type != OPTION_CHOICE && option->type != OPTION_MANNER) return option->doc;
    for (const char *word = option->choices; *word != '\0'; word += strspn(word, "|")) {
        const int length = (int)strcspn(word, "|");
        words = arena_format(arena, "%s%s%.*s", words, words[0] != '\0' ? ", " : "", length, word);
        word += length;
    }
    return arena_format(arena, "%s. %s", words, option->doc);
}

// Cells of a row that both tables begin with: name, with a spec its value, default, unit, range.
enum { MODELS_COLUMNS_MAX = 6 };

static Table *models_start(FILE *out, const char *title, const Spec *spec)
{
    static const char *names[MODELS_COLUMNS_MAX]; // must outlive the table; one is printed at a time
    int count = 0;
    names[count++] = title;
    if (spec != NULL) names[count++] = "value";
    names[count++] = "default";
    names[count++] = "unit";
    names[count++] = "range";
    names[count++] = "what it is";
    fputc('\n', out);
    return table_start(out, TABLE_TEXT, count, names);
}

// The options in section `simulation` or, with top, those at the top of a spec.
static Error models_print_options(const ModelsSubject *subject, bool top, FILE *out, Arena *arena)
{
    const Model *model = subject->model;
    int count = 0;
    for (int i = 0; i < model->n_options; i++) count += model_is_top(model, model->options[i].name) == top;
    if (count == 0) return error_none();
    Table *table = models_start(out, top ? "of the spec" : "simulation", subject->spec);
    for (int i = 0; i < model->n_options; i++) {
        const Option *option = &model->options[i];
        if (model_is_top(model, option->name) != top) continue;
        table_text(table, option->name);
        if (subject->spec != NULL) table_text(table, models_option_value(option, i, subject->spec, arena));
        table_text(table, models_option_value(option, i, NULL, arena));
        table_text(table, option->unit);
        table_text(table, models_option_range(option, arena));
        table_text(table, models_option_doc(option, arena));
    }
    return table_finish(table);
}

static Error models_print_list(const List *list, bool top, FILE *out, Arena *arena)
{
    const char *where = top ? list->name : arena_format(arena, "simulation: %s", list->name);
    const char *const names[] = {where, "what it is, and what is expected"};
    fprintf(out, "\n%s: %s\n", list->name, list->doc);
    Table *table = table_start(out, TABLE_TEXT, 2, names);
    for (int f = 0; f < list->n_fields; f++) {
        table_text(table, list->fields[f].name);
        table_text(table,
                   arena_format(arena, "%s; %s", list->fields[f].doc, items_field_expected(&list->fields[f], arena)));
    }
    table_text(table, "repeat");
    table_text(table, "number of copies or [first, last]; # is the copy's number, #-1 and #+1 its neighbours");
    table_text(table, "step");
    table_text(table, "added to each field from one copy to the next; a mapping of fields to numbers");
    return table_finish(table);
}

// "searched", "derived", "perturbed", or its value.
static const char *models_parameter_value(const Spec *spec, int parameter, Arena *arena)
{
    const Axis *axis = axis_of(spec, parameter);
    if (axis != NULL) return axis->derive != NULL ? "derived" : "searched";
    for (int i = 0; i < spec->replicates.n_perturb; i++) {
        if (spec->replicates.perturb[i].parameter == parameter) return "perturbed";
    }
    const char *choices = configured_choices(&spec->configured, parameter);
    return spec->fixed != NULL ? arena_copy(arena, value_text(choices, spec->fixed[parameter]).text) : "?";
}

// "what it is (adam, sgd or rmsprop)"
static const char *models_words(const char *doc, const char *choices, Arena *arena)
{
    const char **words = words_list(choices, arena);
    return arena_format(arena, "%s (%s)", doc, words_sentence(words, words_count(choices), arena));
}

// choices: of Configured, or of the model's extra ones. spec: whose values are shown; NULL: none.
static Error models_print_parameters(const Parameter *parameters, const char *const *choices, int count,
                                     ParameterSection section, const char *title, const Spec *spec, FILE *out,
                                     Arena *arena)
{
    bool any = false;
    for (int i = 0; i < count; i++) any = any || parameters[i].section == section;
    if (!any) return error_none();
    Table *table = models_start(out, title, spec);
    for (int i = 0; i < count; i++) {
        const Parameter *parameter = &parameters[i];
        if (parameter->section != section) continue;
        table_text(table, parameter->name);
        if (spec != NULL) table_text(table, models_parameter_value(spec, i, arena));
        const char *words = choices != NULL ? choices[i] : NULL;
        table_text(table, value_text(words, parameter->value).text);
        table_text(table, parameter->unit);
        table_text(table, words != NULL ? "words" : models_range(parameter->low, parameter->high, arena));
        table_text(table, words != NULL ? models_words(parameter->doc, words, arena) : parameter->doc);
    }
    return table_finish(table);
}

static Error models_print_fields(const Field *fields, int count, const char *title, FILE *out)
{
    const char *const names[] = {title, "unit", "what it is"};
    fputc('\n', out);
    Table *table = table_start(out, TABLE_TEXT, 3, names);
    for (int i = 0; i < count; i++) {
        table_text(table, fields[i].name);
        table_text(table, fields[i].unit);
        table_text(table, fields[i].doc);
    }
    return table_finish(table);
}

static void models_print_objective(const ModelsSubject *subject, FILE *out, Arena *arena)
{
    const Spec *spec = subject->spec;
    if (spec == NULL || spec->objective.count == 0) {
        const char *objective = subject->configured->objective;
        fprintf(out,
                objective != NULL ? "objective: minimise %s (default)\n"
                                  : "objective: no default, the spec names one\n",
                objective);
        return;
    }
    for (int i = 0; i < spec->objective.count; i++)
        fprintf(out, "objective: %s %s%s\n", spec->objective.maximize[i] ? "maximise" : "minimise",
                expression_text(spec->objective.expression[i], arena), spec->objective.by_default ? " (default)" : "");
}

// What computes derivatives of metrics, and which have none.
static void models_print_gradient(const ModelsSubject *subject, FILE *out, Arena *arena)
{
    const Adjoint *adjoint = subject->model->adjoint;
    const Configured *configured = subject->configured;
    const bool declared = subject->model->declares != 0 && subject->spec == NULL;
    const char *why = adjoint != NULL && !declared ? adjoint->refuses(configured) : NULL, *none = "";
    for (int m = 0; adjoint != NULL && !declared && why == NULL && m < configured_own_metrics(configured); m++) {
        if (adjoint->bends(configured, m) != NULL)
            none = arena_format(arena, "%s%s%s", none, *none != '\0' ? ", " : "", configured->metrics[m].name);
    }
    if (adjoint == NULL || why != NULL)
        fprintf(out, "gradient: by differences%s%s\n", why != NULL ? "; " : "", why != NULL ? why : "");
    else
        fprintf(out, "gradient: by %sthe tangent and differences\n", adjoint->run != NULL ? "the adjoint, " : "");
    if (*none == '\0') return;
    fputs("    ", out);
    terminal_paragraph(out, arena_format(arena, "no derivative of %s", none), 4, terminal_breaks(out));
    fputc('\n', out);
}

// Numbers of a robot's joints, of forces, of a policy's layers.
static void models_print_nameable(const Configured *configured, FILE *out, Arena *arena)
{
    enum { SHOWN = 60 };
    const char *names = "";
    const int64_t count = configured->n_nameable, shown = count < SHOWN ? count : SHOWN;
    if (count == 0) return;
    for (int64_t i = 0; i < shown; i++)
        names = arena_format(arena, "%s%s%s", names, i > 0 ? ", " : "", configured->nameable[i]);
    fputs("\nparameters where a spec names them:\n    ", out);
    if (count > shown) names = arena_format(arena, "%s and %s more", names, text_count(count - shown).text);
    terminal_paragraph(out, names, 4, terminal_breaks(out));
    fputc('\n', out);
}

static Error models_print(const ModelsSubject *subject, FILE *out, Arena *arena)
{
    const Model *model = subject->model;
    const Configured *configured = subject->configured;
    const Parameter *rows = configured->parameters;
    const int count = subject->spec != NULL ? configured_named(configured) : configured->n_parameters;
    fprintf(out, "%s: %s\n", model->name, model->doc);
    if (subject->spec != NULL) fprintf(out, "as %s has it\n", subject->spec->file);
    if (model->source != NULL) fprintf(out, "source: %s\n", model->source);
    TRY(models_print_options(subject, false, out, arena));
    TRY(models_print_options(subject, true, out, arena));
    for (int i = 0; subject->spec == NULL && i < model->n_lists; i++) {
        const List *list = &model->lists[i];
        TRY(models_print_list(list, model_is_top(model, list->name), out, arena));
    }
    TRY(models_print_parameters(rows, configured->choices, count, SECTION_PARAMETERS, "parameters", subject->spec, out,
                                arena));
    TRY(models_print_parameters(rows, configured->choices, count, SECTION_INITIAL, "initial", subject->spec, out,
                                arena));
    models_print_nameable(configured, out, arena);
    if (subject->spec == NULL)
        TRY(models_print_parameters(model->extra, model->extra_choices, model->n_extra, SECTION_PARAMETERS,
                                    "parameters if", NULL, out, arena));
    if (configured->n_metrics > 0) TRY(models_print_fields(configured->metrics, configured->n_metrics, "metrics", out));
    if (configured->n_columns > 0)
        TRY(models_print_fields(configured->columns, configured->n_columns, "trajectory", out));
    if (configured->n_debug > 0)
        TRY(models_print_fields(configured->debug, configured->n_debug, model_debug_are(model), out));
    fprintf(out, "\nfailures: ");
    for (int i = 1; i < configured->n_failures; i++) fprintf(out, "%s%s", i > 1 ? ", " : "", configured->failures[i]);
    fprintf(out, "%s\n", configured->n_failures <= 1 ? "none" : "");
    models_print_objective(subject, out, arena);
    models_print_gradient(subject, out, arena);
    if (model->notes != NULL) fprintf(out, "\n%s", model->notes);
    return error_none();
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void models_json_fields(Json *json, const char *name, const Field *fields, int count)
{
    json_array(json, name);
    for (int i = 0; i < count; i++) {
        json_object(json, NULL);
        json_text(json, "name", fields[i].name);
        json_text(json, "unit", fields[i].unit);
        json_text(json, "group", fields[i].group);
        json_text(json, "doc", fields[i].doc);
        json_close(json, '}');
    }
    json_close(json, ']');
}

// spec: whose values are told; NULL: none.
static void models_json_parameters(Json *json, const char *name, const Parameter *parameters,
                                   const char *const *choices, int count, const Spec *spec, Arena *arena)
{
    json_array(json, name);
    for (int i = 0; i < count; i++) {
        const Parameter *parameter = &parameters[i];
        json_object(json, NULL);
        json_text(json, "name", parameter->name);
        json_text(json, "section", parameter->section == SECTION_INITIAL ? "initial" : "parameters");
        json_text(json, "unit", parameter->unit);
        if (spec != NULL) json_text(json, "in_spec", models_parameter_value(spec, i, arena));
        const char *words = choices != NULL ? choices[i] : NULL;
        json_value(json, "default", words, parameter->value);
        if (words != NULL) {
            json_array(json, "words");
            for (int w = 0; w < words_count(words); w++) json_text(json, NULL, value_text(words, w).text);
            json_close(json, ']');
        } else {
            json_number(json, "low", parameter->low);
            json_number(json, "high", parameter->high);
        }
        json_text(json, "doc", parameter->doc);
        json_close(json, '}');
    }
    json_close(json, ']');
}

// top: those at the top of a spec
static void models_json_options(Json *json, const ModelsSubject *subject, bool top, Arena *arena)
{
    const Model *model = subject->model;
    json_array(json, top ? "top" : "simulation");
    for (int i = 0; i < model->n_options; i++) {
        const Option *option = &model->options[i];
        if (model_is_top(model, option->name) != top) continue;
        json_object(json, NULL);
        json_text(json, "name", option->name);
        json_text(json, "unit", option->unit);
        if (subject->spec != NULL) json_text(json, "in_spec", models_option_value(option, i, subject->spec, arena));
        if (option->type == OPTION_CHOICE || option->type == OPTION_MANNER) {
            json_text(json, "default", models_choice(option, option->value, arena));
            json_text(json, "choices", option->choices);
        } else if (option->type == OPTION_POINTS || option->type == OPTION_NUMBERS || option->type == OPTION_WORDS ||
                   option->type == OPTION_ARGUMENTS) {
            json_array(json, "default");
            json_close(json, ']');
        } else if (option->type == OPTION_FILE || option->type == OPTION_SYSTEM || option->type == OPTION_LAW) {
            json_text(json, "default", "none");
            json_text(json, "holds", option->type == OPTION_FILE ? option->choices : models_option_range(option, NULL));
        } else {
            json_number(json, "default", option->value);
            json_number(json, "low", option->low);
            json_number(json, "high", option->high);
        }
        json_text(json, "doc", option->doc);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void models_json_lists(Json *json, const Model *model, Arena *arena)
{
    json_array(json, "lists");
    for (int i = 0; i < model->n_lists; i++) {
        const List *list = &model->lists[i];
        json_object(json, NULL);
        json_text(json, "name", list->name);
        json_text(json, "doc", list->doc);
        json_array(json, "fields");
        for (int f = 0; f < list->n_fields; f++) {
            json_object(json, NULL);
            json_text(json, "name", list->fields[f].name);
            json_text(json, "unit", list->fields[f].unit);
            json_text(json, "expected", items_field_expected(&list->fields[f], arena));
            json_text(json, "doc", list->fields[f].doc);
            json_close(json, '}');
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static Error models_json(const ModelsSubject *subject, FILE *out, Arena *arena)
{
    const Model *model = subject->model;
    const Configured *configured = subject->configured;
    const Spec *spec = subject->spec;
    Json json;
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "name", model->name);
    json_text(&json, "doc", model->doc);
    json_text(&json, "source", model->source);
    if (spec != NULL) json_text(&json, "spec", spec->file);
    models_json_options(&json, subject, false, arena);
    models_json_options(&json, subject, true, arena);
    if (model->n_lists > 0) models_json_lists(&json, model, arena);
    models_json_parameters(&json, "parameters", configured->parameters, configured->choices,
                           configured_named(configured), spec, arena);
    models_json_parameters(&json, "extra", model->extra, model->extra_choices, model->n_extra, NULL, arena);
    json_array(&json, "nameable");
    for (int64_t i = 0; i < configured->n_nameable; i++) json_text(&json, NULL, configured->nameable[i]);
    json_close(&json, ']');
    models_json_fields(&json, "metrics", configured->metrics, configured->n_metrics);
    models_json_fields(&json, "trajectory", configured->columns, configured->n_columns);
    models_json_fields(&json, "debug_rows", configured->debug, configured->n_debug);
    json_array(&json, "failures");
    for (int i = 1; i < configured->n_failures; i++) json_text(&json, NULL, configured->failures[i]);
    json_close(&json, ']');
    json_text(&json, "objective", configured->objective);
    json_text(&json, "notes", model->notes);
    json_close(&json, '}');
    return error_none();
}

// ---- commands -------------------------------------------------------------------------------------------------------

static Error models_list(const CommandLine *line)
{
    static const char *const names[] = {"model", "what it is"};
    Table *table = table_start(line->out, switch_given(line, "json") ? TABLE_JSON : TABLE_TEXT, 2, names);
    for (int i = 0; i < model_count(); i++) {
        table_text(table, model_at(i)->name);
        table_text(table, model_at(i)->doc);
    }
    return table_finish(table);
}

static Error models_unknown(const char *name, Arena *arena)
{
    const char **names = ARENA_NEW(arena, const char *, model_count() + 1);
    for (int i = 0; i < model_count(); i++) names[i] = model_at(i)->name;
    const char *nearest = nearest_name(name, names, model_count());
    return error_make(ERROR_USER, "there is no model '%.60s'%s%s%s", name, nearest != NULL ? "; did you mean '" : "",
                      nearest != NULL ? nearest
                                      : arena_format(arena, "; %s lists them", command_again(NULL, "models").text),
                      nearest != NULL ? "'?" : "");
}

// A path, and not the name of a model: it has a slash or ends like a spec.
static bool models_is_spec(const char *text)
{
    const char *ending = strrchr(text, '.');
    return strchr(text, '/') != NULL ||
           (ending != NULL && (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0));
}

static Error models_run(const CommandLine *line)
{
    if (line->n_arguments == 0) return models_list(line);
    Spec spec;
    Configured configured;
    ModelsSubject subject = {.model = model_find(line->arguments[0]), .configured = &configured};
    Error wrong = error_none(); // of a spec that is not finished; what is known of its model is printed all the same
    if (subject.model == NULL && models_is_spec(line->arguments[0])) {
        spec = (Spec){.file = line->arguments[0]};
        CommandLine one = *line;
        one.swept = &(Overrides){.items = (const char *[]){"sweep=none"}, .count = 1};
        wrong = command_spec(&one, line->arguments[0], &spec);
        if (wrong.kind != OK && (wrong.kind != ERROR_USER || spec.configured.parameters == NULL)) return wrong;
        subject = (ModelsSubject){.model = spec.model, .configured = &spec.configured, .spec = &spec};
    } else if (subject.model == NULL) {
        return models_unknown(line->arguments[0], line->arena);
    } else {
        TRY(models_configure(subject.model, line->arena, &configured));
    }
    TRY((switch_given(line, "json") ? models_json : models_print)(&subject, line->out, line->arena));
    return wrong;
}

static Error models_schema_run(const CommandLine *line)
{
    spec_schema(line->out);
    return error_none();
}

const Command command_models = {
    .name = "models",
    .arguments = "[MODEL | SPEC]",
    .doc = "list the models, or the parameters, options, metrics and columns of a model, with units and ranges: of its "
           "defaults, or of a spec's robot, world or program",
    .examples = "  hopscotch models\n"
                "  hopscotch models hopper\n"
                "  hopscotch models experiments/robot_gait.yaml\n"
                "  hopscotch models hopper --json\n",
    .least = 0,
    .most = 1,
    .switches = {&switches_spec, &switches_json},
    .run = models_run,
};

const Command command_schema = {
    .name = "schema",
    .arguments = "",
    .doc = "print the JSON schema of specs (draft 2020-12), for editors that complete and check",
    .examples = "  hopscotch schema > hopscotch.schema.json\n"
                "  # then, as the first line of a spec, for the YAML language server:\n"
                "  # yaml-language-server: $schema=hopscotch.schema.json\n",
    .least = 0,
    .most = 0,
    .run = models_schema_run,
};
