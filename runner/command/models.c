// hopscotch models and schema: print what a spec may contain, from the tables that check it.
#include "command.h"

#include <math.h>
#include <string.h>

// Configures the model with its default settings.
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

// The name of a choice's default: its index in "a|b|c" is option->value.
static const char *models_choice(const Option *option, Arena *arena)
{
    char *rest = arena_copy(arena, option->choices), *name = rest;
    for (int skipped = (int)option->value; skipped >= 0 && rest != NULL; skipped--) name = strsep(&rest, "|");
    return name;
}

// ---- tables for people ----------------------------------------------------------------------------------------------

static void models_print_option(Table *table, const Option *option, Arena *arena)
{
    const bool choice = option->type == OPTION_CHOICE || option->type == OPTION_MANNER;
    const bool file = option->type == OPTION_FILE;
    const bool words = option->type == OPTION_WORDS;
    const bool list = option->type == OPTION_POINTS || option->type == OPTION_NUMBERS || words;
    const bool arguments = option->type == OPTION_ARGUMENTS, word = option->type == OPTION_MANNER_NUMBER;
    table_text(table, option->name);
    table_text(table, choice      ? models_choice(option, arena)
                      : arguments ? "none"
                      : word      ? option->choices
                      : list      ? "[]"
                      : file      ? "none"
                                  : text_number(option->value).text);
    table_text(table, option->unit);
    table_text(table, choice || file ? option->choices
                      : words        ? "words"
                      : arguments    ? "texts"
                                     : models_range(option->low, option->high, arena));
    table_text(table, option->doc);
}

// The options in section `simulation` or, with top, those at the top of a spec.
static Error models_print_options(const Model *model, bool top, FILE *out, Arena *arena)
{
    const char *const names[] = {top ? "of the spec" : "simulation", "default", "unit", "range", "what it is"};
    int count = 0;
    for (int i = 0; i < model->n_options; i++) count += model_is_top(model, model->options[i].name) == top;
    if (count == 0) return error_none();
    fputc('\n', out);
    Table *table = table_start(out, TABLE_TEXT, 5, names);
    for (int i = 0; i < model->n_options; i++)
        if (model_is_top(model, model->options[i].name) == top) models_print_option(table, &model->options[i], arena);
    return table_finish(table);
}

static Error models_print_list(const List *list, bool top, FILE *out, Arena *arena)
{
    const char *where = top ? list->name : arena_format(arena, "simulation: %s", list->name);
    const char *const names[] = {where, "expected", "what it is"};
    fprintf(out, "\n%s: %s\n", list->name, list->doc);
    Table *table = table_start(out, TABLE_TEXT, 3, names);
    for (int f = 0; f < list->n_fields; f++) {
        table_text(table, list->fields[f].name);
        table_text(table, items_field_expected(&list->fields[f], arena));
        table_text(table, list->fields[f].doc);
    }
    table_text(table, "repeat");
    table_text(table, "a number or [first, last]");
    table_text(table, "number of copies; # is the copy's number, #-1 and #+1 its neighbours");
    table_text(table, "step");
    table_text(table, "a mapping of fields to numbers");
    table_text(table, "added to each field from one copy to the next");
    return table_finish(table);
}

static Error models_print_parameters(const Parameter *parameters, int count, ParameterSection section,
                                     const char *title, FILE *out, Arena *arena)
{
    const char *const names[] = {title, "default", "unit", "range", "what it is"};
    bool any = false;
    for (int i = 0; i < count; i++) any = any || parameters[i].section == section;
    if (!any) return error_none();
    fputc('\n', out);
    Table *table = table_start(out, TABLE_TEXT, 5, names);
    for (int i = 0; i < count; i++) {
        const Parameter *parameter = &parameters[i];
        if (parameter->section != section) continue;
        table_text(table, parameter->name);
        table_text(table, text_number(parameter->value).text);
        table_text(table, parameter->unit);
        table_text(table, models_range(parameter->low, parameter->high, arena));
        table_text(table, parameter->doc);
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

static Error models_print(const Model *model, FILE *out, Arena *arena)
{
    Configured configured;
    TRY(models_configure(model, arena, &configured));
    fprintf(out, "%s: %s\n", model->name, model->doc);
    if (model->source != NULL) fprintf(out, "source: %s\n", model->source);
    TRY(models_print_options(model, false, out, arena));
    TRY(models_print_options(model, true, out, arena));
    for (int i = 0; i < model->n_lists; i++) {
        const List *list = &model->lists[i];
        TRY(models_print_list(list, model_is_top(model, list->name), out, arena));
    }
    const Parameter *rows = configured.parameters;
    TRY(models_print_parameters(rows, configured.n_parameters, SECTION_PARAMETERS, "parameters", out, arena));
    TRY(models_print_parameters(rows, configured.n_parameters, SECTION_INITIAL, "initial", out, arena));
    TRY(models_print_parameters(model->extra, model->n_extra, SECTION_PARAMETERS, "parameters if", out, arena));
    if (configured.n_metrics > 0) TRY(models_print_fields(configured.metrics, configured.n_metrics, "metrics", out));
    if (configured.n_columns > 0) TRY(models_print_fields(configured.columns, configured.n_columns, "trajectory", out));
    if (configured.n_debug > 0) TRY(models_print_fields(configured.debug, configured.n_debug, "debug rows", out));
    fprintf(out, "\nfailures: ");
    for (int i = 1; i < configured.n_failures; i++) fprintf(out, "%s%s", i > 1 ? ", " : "", configured.failures[i]);
    fprintf(out, "%s\nobjective: ", configured.n_failures <= 1 ? "none" : "");
    if (configured.objective != NULL)
        fprintf(out, "minimise %s (default)\n", configured.objective);
    else
        fputs("no default: the spec names one\n", out);
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

static void models_json_parameters(Json *json, const char *name, const Parameter *parameters, int count)
{
    json_array(json, name);
    for (int i = 0; i < count; i++) {
        const Parameter *parameter = &parameters[i];
        json_object(json, NULL);
        json_text(json, "name", parameter->name);
        json_text(json, "section", parameter->section == SECTION_INITIAL ? "initial" : "parameters");
        json_text(json, "unit", parameter->unit);
        json_number(json, "default", parameter->value);
        json_number(json, "low", parameter->low);
        json_number(json, "high", parameter->high);
        json_text(json, "doc", parameter->doc);
        json_close(json, '}');
    }
    json_close(json, ']');
}

// top: those at the top of a spec
static void models_json_options(Json *json, const Model *model, bool top, Arena *arena)
{
    json_array(json, top ? "top" : "simulation");
    for (int i = 0; i < model->n_options; i++) {
        const Option *option = &model->options[i];
        if (model_is_top(model, option->name) != top) continue;
        json_object(json, NULL);
        json_text(json, "name", option->name);
        json_text(json, "unit", option->unit);
        if (option->type == OPTION_CHOICE || option->type == OPTION_MANNER) {
            json_text(json, "default", models_choice(option, arena));
            json_text(json, "choices", option->choices);
        } else if (option->type == OPTION_POINTS || option->type == OPTION_NUMBERS || option->type == OPTION_WORDS ||
                   option->type == OPTION_ARGUMENTS) {
            json_array(json, "default");
            json_close(json, ']');
        } else if (option->type == OPTION_FILE) {
            json_text(json, "default", "none");
            json_text(json, "holds", option->choices);
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

static Error models_json(const Model *model, FILE *out, Arena *arena)
{
    Configured configured;
    Json json;
    TRY(models_configure(model, arena, &configured));
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "name", model->name);
    json_text(&json, "doc", model->doc);
    json_text(&json, "source", model->source);
    models_json_options(&json, model, false, arena);
    models_json_options(&json, model, true, arena);
    if (model->n_lists > 0) models_json_lists(&json, model, arena);
    models_json_parameters(&json, "parameters", configured.parameters, configured_named(&configured));
    models_json_parameters(&json, "extra", model->extra, model->n_extra);
    models_json_fields(&json, "metrics", configured.metrics, configured.n_metrics);
    models_json_fields(&json, "trajectory", configured.columns, configured.n_columns);
    models_json_fields(&json, "debug_rows", configured.debug, configured.n_debug);
    json_array(&json, "failures");
    for (int i = 1; i < configured.n_failures; i++) json_text(&json, NULL, configured.failures[i]);
    json_close(&json, ']');
    json_text(&json, "objective", configured.objective);
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

static Error models_run(const CommandLine *line)
{
    if (line->n_arguments == 0) return models_list(line);
    const Model *model = model_find(line->arguments[0]);
    if (model == NULL) return models_unknown(line->arguments[0], line->arena);
    return switch_given(line, "json") ? models_json(model, line->out, line->arena)
                                      : models_print(model, line->out, line->arena);
}

static Error models_schema_run(const CommandLine *line)
{
    spec_schema(line->out);
    return error_none();
}

const Command command_models = {
    .name = "models",
    .arguments = "[MODEL]",
    .doc = "list the models, or the parameters, options, metrics and columns of a model, with units and ranges",
    .examples = "  hopscotch models\n"
                "  hopscotch models hopper\n"
                "  hopscotch models hopper --json\n",
    .least = 0,
    .most = 1,
    .switches = {&switches_json},
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
