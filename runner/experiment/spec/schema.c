// The JSON schema of specs (draft 2020-12), for editors: written from the key table and the tables of models and
// methods. What it can't say (an axis fixed too, unequal zips, expressions) is left to `hopscotch check`.
#include "../equations/equations.h"
#include "forms.h"

#include <math.h>
#include <string.h>

enum { SCHEMA_ARENA = 32 << 20 };
#define SCHEMA_QUANTITY_PATTERN "^[-+]?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?(us|ms|s|min|h|%)?$"

// ---- pieces that are written as YAML --------------------------------------------------------------------------------

static void schema_put_node(Json *json, const char *name, const Node *node, double most);

// The members of a mapping, or of the reference `$name`.
static void schema_put_members(Json *json, const Node *node, double most)
{
    char target[64];
    if (node->kind == NODE_SCALAR) {
        snprintf(target, sizeof target, "#/$defs/%s", node->text + 1);
        json_text(json, "$ref", target);
    }
    for (int i = 0; i < node->count; i++) schema_put_node(json, node->keys[i]->text, node->items[i], most);
}

static void schema_put_node(Json *json, const char *name, const Node *node, double most)
{
    const char *text = node->kind == NODE_SCALAR ? node->text : "";
    double number = most;
    if (node->kind == NODE_MAPPING || text[0] == '$') {
        json_object(json, name);
        schema_put_members(json, node, most);
        json_close(json, '}');
    } else if (node->kind == NODE_SEQUENCE) {
        json_array(json, name);
        for (int i = 0; i < node->count; i++) schema_put_node(json, NULL, node->items[i], most);
        json_close(json, ']');
    } else if (words_find("true|false", text) >= 0) {
        json_boolean(json, name, text[0] == 't');
    } else if (strcmp(text, "MOST") == 0 || text_to_number(text, &number)) {
        json_number(json, name, number);
    } else {
        json_text(json, name, text);
    }
}

void schema_put(Json *json, const char *text, double most, Arena *arena)
{
    Source *source = ARENA_NEW(arena, Source, 1);
    *source = (Source){.file = "schema", .text = text};
    const Node *root = yaml_parse(source, arena, diagnostics_new(arena));
    if (root != NULL) schema_put_members(json, root, most);
}

// In every section; at the top it is a row of the table.
static void schema_put_include(Json *json, Arena *arena) { schema_put(json, "{include: $include}", 0.0, arena); }

// ---- one row --------------------------------------------------------------------------------------------------------

static void schema_words(Json *json, const char *name, const char *words, Arena *arena)
{
    json_array(json, name);
    for (int i = 0; i < words_count(words); i++) json_text(json, NULL, words_at(words, i, arena));
    json_close(json, ']');
}

static void schema_bounds(Json *json, const Key *key)
{
    json_text(json, "type", key->type == KEY_INTEGER ? "integer" : "number");
    if (isfinite(key->low)) json_number(json, "minimum", key->low);
    if (isfinite(key->high)) json_number(json, "maximum", key->high);
}

static bool schema_takes_unit(const Key *key)
{
    return key->unit != NULL && (strcmp(key->unit, "s") == 0 || strcmp(key->unit, "fraction") == 0);
}

static void schema_number(Json *json, const Key *key, Arena *arena)
{
    if (key->words == NULL && !schema_takes_unit(key)) {
        schema_bounds(json, key);
        return;
    }
    json_array(json, "anyOf");
    json_object(json, NULL);
    schema_bounds(json, key);
    json_close(json, '}');
    if (schema_takes_unit(key)) {
        json_object(json, NULL);
        schema_put(json, "{type: string, pattern: '" SCHEMA_QUANTITY_PATTERN "'}", 0.0, arena);
        json_close(json, '}');
    }
    if (key->words != NULL) {
        json_object(json, NULL);
        json_text(json, "const", key->words);
        json_close(json, '}');
    }
    json_close(json, ']');
}

// An item of a model's list: a mapping of its fields.
static void schema_item_field(Json *json, const ItemField *field, Arena *arena)
{
    json_object(json, field->name);
    json_text(json, "description", arena_format(arena, "%s: %s", field->doc, items_field_expected(field, arena)));
    if (field->type == ITEM_BOOLEAN) json_text(json, "type", "boolean");
    if (field->type == ITEM_CHOICE) schema_words(json, "enum", field->words, arena);
    if (field->type == ITEM_NAME || field->type == ITEM_REFERENCE) json_text(json, "type", "string");
    if (field->type == ITEM_WORDS) schema_words(json, "type", "string|array", arena);
    if (field->type == ITEM_NUMBERS)
        schema_words(json, "type", field->count > 1 ? "number|string|array" : "number|string", arena);
    json_close(json, '}');
}

// Of items that are repeated (model_lists.c).
static const char schema_item_copies[] =
    "{repeat: {description: \"number of copies or [first, last]; # is the copy's number, #-1 and #+1 its neighbours\", "
    "type: [integer, string, array]}, step: {description: 'added to each field from one copy to the next: "
    "{position: [1, 0, 0]}', type: object}}";

static void schema_item(Json *json, const char *name, const List *list, const char *types, Arena *arena)
{
    json_object(json, name);
    schema_words(json, "type", types, arena);
    json_object(json, "properties");
    for (int f = 0; f < list->n_fields; f++) schema_item_field(json, &list->fields[f], arena);
    schema_put(json, schema_item_copies, 0.0, arena);
    json_close(json, '}');
    json_boolean(json, "additionalProperties", false);
    json_close(json, '}');
}

static void schema_items(Json *json, const Key *key, Arena *arena)
{
    const bool named = key->list->fields[0].type == ITEM_NAME;
    if (named)
        schema_words(json, "type", "array|object", arena);
    else
        json_text(json, "type", "array");
    json_integer(json, "maxItems", key->list->most);
    schema_item(json, "items", key->list, (key->flags & KEY_TOP) != 0 ? "object|string" : "object", arena);
    if (named) schema_item(json, "additionalProperties", key->list, "object|array|string", arena); // items by name
}

static void schema_scalar(Json *json, const Key *key, Arena *arena)
{
    static const char *const texts[] = {[KEY_BOOLEAN] = "{type: boolean}",
                                        [KEY_NAME] = "{type: string, pattern: '" SCHEMA_NAME_PATTERN "'}",
                                        [KEY_POINTS] = "{type: array, maxItems: MOST, items: $pair}",
                                        [KEY_NUMBERS] = "{type: [array]}",
                                        [KEY_WORDS] = "{type: array, items: {type: string}}",
                                        [KEY_ARGUMENTS] = "{type: array, minItems: 1, items: {type: [string, number]}}",
                                        [KEY_FILE] = "{type: [string, object]}",
                                        [KEY_SYSTEM] = "{anyOf: [{type: string}, $system]}",
                                        [KEY_LAW] = "{type: [string, object]}",
                                        [KEY_SECTION] = NULL};
    if (key->type == KEY_ITEMS) schema_items(json, key, arena);
    if (key->type == KEY_NUMBER || key->type == KEY_INTEGER) schema_number(json, key, arena);
    if (key->type == KEY_CHOICE) schema_words(json, "enum", key->words, arena);
    if (key->type == KEY_FILE && strcmp(key->words, "recording") == 0)
        schema_put(json, recording_schema, 0.0, arena);
    else if (texts[key->type] != NULL)
        schema_put(json, texts[key->type], POINTS_MAX, arena);
}

static void schema_no_points(Json *json)
{
    json_array(json, "default");
    json_close(json, ']');
}

static void schema_default(Json *json, const Key *key, Arena *arena)
{
    if (key->type == KEY_CHOICE)
        json_text(json, "default", words_at(key->words, (int)key->value, arena));
    else if (key->type == KEY_BOOLEAN)
        json_boolean(json, "default", key->value != 0.0);
    else if (key->type == KEY_ARGUMENTS)
        schema_put(json, "{examples: [[python3, simulate.py]]}", 0.0, arena);
    else if (key->type == KEY_POINTS || key->type == KEY_NUMBERS || key->type == KEY_WORDS || key->type == KEY_ITEMS)
        schema_no_points(json);
    else if (key->type == KEY_FILE || key->type == KEY_SYSTEM || key->type == KEY_LAW)
        json_text(json, "default", "none");
    else if (key->words != NULL)
        json_text(json, "default", key->words);
    else
        json_number(json, "default", key->value);
}

static void schema_form(Json *json, const Form *form, Arena *arena)
{
    if (form->choice != NULL) json_array(json, "enum");
    for (int i = 0; form->choice != NULL && form->choice(i) != NULL; i++) json_text(json, NULL, form->choice(i));
    if (form->choice != NULL) json_close(json, ']');
    if (form->schema != NULL) schema_put(json, form->schema, form->most, arena);
}

// ---- sections -------------------------------------------------------------------------------------------------------

static bool schema_is_child(const Key *key, const char *section)
{
    const char *name = path_below(key->path, section);
    return name != NULL && strchr(name, '.') == NULL;
}

static void schema_section(Json *json, const Key *rows, int count, const char *section, Arena *arena);

static void schema_property(Json *json, const Key *rows, int count, const Key *key, Arena *arena)
{
    json_object(json, key_name(key));
    json_text(json, "description",
              key->example != NULL ? arena_format(arena, "%s. Example: %s", key->doc, key->example) : key->doc);
    if (key->type == KEY_SECTION && (key->flags & KEY_OPEN) != 0) {
        schema_words(json, "type", "object|null", arena);
    } else if (key->type == KEY_SECTION) {
        schema_section(json, rows, count, key->path, arena);
    } else if (key->type == KEY_FORM) {
        schema_form(json, key->form, arena);
    } else {
        schema_scalar(json, key, arena);
        if ((key->flags & KEY_REQUIRED) == 0) schema_default(json, key, arena);
    }
    json_close(json, '}');
}

static void schema_option(Json *json, const Key *key, Arena *arena)
{
    const bool has_unit = key->unit != NULL && key->unit[0] != '\0' && strcmp(key->unit, "1") != 0;
    json_object(json, key_name(key));
    json_text(json, "description", has_unit ? arena_format(arena, "%s (%s)", key->doc, key->unit) : key->doc);
    if (key->type == KEY_FORM) {
        schema_form(json, key->form, arena);
    } else {
        schema_scalar(json, key, arena);
        schema_default(json, key, arena);
    }
    json_close(json, '}');
}

// Options of a model or a method, as properties of `section`: nested by the dots in their names.
static void schema_options(Json *json, const Key *rows, int count, const char *section, Arena *arena)
{
    for (int i = 0; i < count; i++) {
        if (path_below(rows[i].path, section) == NULL) continue;
        const char *dot = strchr(rows[i].path + strlen(section) + 1, '.');
        if (dot == NULL) {
            schema_option(json, &rows[i], arena);
            continue;
        }
        const char *inner = arena_format(arena, "%.*s", (int)(dot - rows[i].path), rows[i].path);
        bool first = true;
        for (int before = 0; before < i; before++) first &= path_below(rows[before].path, inner) == NULL;
        if (!first) continue;
        json_object(json, inner + strlen(section) + 1);
        json_object(json, "properties");
        schema_put_include(json, arena);
        schema_options(json, rows, count, inner, arena);
        json_close(json, '}');
        json_boolean(json, "additionalProperties", false);
        json_close(json, '}');
    }
}

// Of a method: its options, and its keys with forms of their own, which are rows of the key table.
static Key *schema_method_rows(const SearchMethod *method, int *count, Arena *arena)
{
    int n_table;
    const Key *table = keys_table(arena, &n_table);
    const char *section = arena_format(arena, "search.%s", method->name);
    Key *rows = ARENA_NEW(arena, Key, method->n_options + n_table);
    *count = method->n_options;
    for (int i = 0; i < method->n_options; i++) rows[i] = key_of_option(&method->options[i], "search", arena);
    for (int i = 0; i < n_table; i++) {
        if (path_below(table[i].path, section) != NULL) rows[(*count)++] = table[i];
    }
    return rows;
}

// All keys of a model's `simulation:`.
static Key *schema_simulation_rows(const Model *model, int *count, Arena *arena)
{
    Key *rows = ARENA_NEW(arena, Key, model->n_options + model->n_lists);
    *count = 0;
    for (int i = 0; i < model->n_options; i++) {
        if (!model_is_top(model, model->options[i].name))
            rows[(*count)++] = key_of_option(&model->options[i], "simulation", arena);
    }
    for (int i = 0; i < model->n_lists; i++) {
        if (!model_is_top(model, model->lists[i].name))
            rows[(*count)++] = key_of_list(&model->lists[i], "simulation", arena);
    }
    return rows;
}

static bool schema_has_form(const char *path)
{
    bool has = false;
    for (int i = 0; i < form_count() && !has; i++) has = strcmp(form_at(i)->path, path) == 0;
    return has;
}

// Keys of a model that stand at the top, without those of declared parameters, and those that are forms of others.
static void schema_add_top(const Model *model, Key *rows, int *count, Arena *arena)
{
    for (int i = 0; i < model->n_options; i++) {
        const Option *option = &model->options[i];
        if (model_is_top(model, option->name)) rows[(*count)++] = key_of_option(option, "", arena);
    }
    for (int i = 0; i < model->n_lists; i++) {
        const char *name = model->lists[i].name;
        if (model_is_top(model, name) && i != model->declares - 1 && !schema_has_form(name))
            rows[(*count)++] = key_of_list(&model->lists[i], "", arena);
    }
}

// `if` a key has a value `then` what follows; the caller writes it and closes two braces.
static void schema_if(Json *json, const char *key, const char *value, bool or_absent, Arena *arena)
{
    json_object(json, NULL);
    json_object(json, "if");
    json_object(json, "properties");
    json_object(json, key);
    json_text(json, "const", value);
    json_close(json, '}');
    json_close(json, '}');
    if (!or_absent) schema_put(json, arena_format(arena, "{required: [%s]}", key), 0.0, arena);
    json_close(json, '}');
    json_object(json, "then");
}

// The keys of `search:` that belong to one method each.
static void schema_methods(Json *json, Arena *arena)
{
    json_array(json, "allOf");
    for (int i = 0; i < search_method_count(); i++) {
        const SearchMethod *method = search_method_at(i);
        int count;
        const Key *rows = schema_method_rows(method, &count, arena);
        schema_if(json, "method", method->name, strcmp(method->name, "grid") == 0, arena);
        json_object(json, "properties");
        schema_options(json, rows, count, "search", arena);
        json_close(json, '}');
        json_close(json, '}');
        json_close(json, '}');
    }
    json_close(json, ']');
    json_boolean(json, "unevaluatedProperties", false);
}

// What a section must have; a file that it includes may have it too.
static void schema_section_required(Json *json, const Key *rows, int count, const char *section, Arena *arena)
{
    int required = 0;
    for (int i = 0; i < count; i++)
        required += (rows[i].flags & KEY_REQUIRED) != 0 && schema_is_child(&rows[i], section);
    if (required == 0) return;
    json_array(json, "anyOf");
    json_object(json, NULL);
    json_array(json, "required");
    for (int i = 0; i < count; i++) {
        if ((rows[i].flags & KEY_REQUIRED) != 0 && schema_is_child(&rows[i], section))
            json_text(json, NULL, key_name(&rows[i]));
    }
    json_close(json, ']');
    json_close(json, '}');
    json_object(json, NULL);
    schema_put(json, "{required: [include]}", 0.0, arena);
    json_close(json, '}');
    json_close(json, ']');
}

static void schema_section(Json *json, const Key *rows, int count, const char *section, Arena *arena)
{
    schema_words(json, "type", section[0] != '\0' ? "object|null" : "object", arena);
    json_object(json, "properties");
    if (section[0] != '\0') schema_put_include(json, arena);
    for (int i = 0; i < count; i++) {
        if (schema_is_child(&rows[i], section)) schema_property(json, rows, count, &rows[i], arena);
    }
    json_close(json, '}');
    if (strcmp(section, "search") == 0)
        schema_methods(json, arena);
    else
        json_boolean(json, "additionalProperties", false);
    schema_section_required(json, rows, count, section, arena);
}

// ---- models ---------------------------------------------------------------------------------------------------------

// Whether the spec declares everything, as equations do.
static bool schema_has(const Model *model, OptionType type)
{
    bool has = false;
    for (int i = 0; i < model->n_options; i++) has |= model->options[i].type == type;
    return has;
}
static bool schema_has_system(const Model *model) { return schema_has(model, OPTION_SYSTEM); }

// Whether the names of parameters depend on the spec.
static bool schema_is_open(const Configured *configured)
{
    return configured->n_nameable > 0 || configured->model->declares > 0 || schema_has_system(configured->model);
}

// What lanes have under the defaults and what other settings add; which is which is for `hopscotch check`.
static Key *schema_parameter_rows(const Configured *configured, int *count, Arena *arena)
{
    const Model *model = configured->model;
    const int named = schema_has_system(model) ? 0 : configured_named(configured);
    Key *rows = ARENA_NEW(arena, Key, named + model->n_extra);
    for (int i = 0; i < named; i++)
        rows[i] = key_of_parameter(&configured->parameters[i], configured_choices(configured, i), arena);
    for (int i = 0; i < model->n_extra; i++) {
        const char *choices = model->extra_choices != NULL ? model->extra_choices[i] : NULL;
        rows[named + i] = key_of_parameter(&model->extra[i], choices, arena);
    }
    *count = named + model->n_extra;
    return rows;
}

static void schema_parameters(Json *json, const Configured *configured, const char *section, bool open, Arena *arena)
{
    int count;
    const Key *rows = schema_parameter_rows(configured, &count, arena);
    json_object(json, section);
    json_object(json, "properties");
    schema_put_include(json, arena);
    schema_options(json, rows, count, section, arena);
    json_close(json, '}');
    const Model *model = configured->model;
    if (model->declares > 0 && strcmp(section, "parameters") == 0)
        schema_item(json, "additionalProperties", &model->lists[model->declares - 1], "object|number|string", arena);
    else if (!open && configured->n_nameable == 0 && !schema_has_system(model))
        json_boolean(json, "additionalProperties", false);
    json_close(json, '}');
}

// The names that a mapping takes. `at`: where it stands, "cmaes.properties.outer".
static void schema_names(Json *json, const Configured *configured, const char *at, bool open, Arena *arena)
{
    const size_t length = strcspn(at, ".");
    json_object(json, arena_format(arena, "%.*s", (int)length, at));
    if (at[length] == '.') {
        schema_names(json, configured, at + length + 1, open, arena);
    } else {
        int count;
        const Key *rows = schema_parameter_rows(configured, &count, arena);
        json_object(json, "propertyNames");
        json_array(json, open || schema_is_open(configured) ? "examples" : "enum");
        json_text(json, NULL, "include");
        for (int i = 0; i < count; i++) json_text(json, NULL, key_name(&rows[i]));
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, '}');
}

// Two forms in one nested mapping would need to be merged: none are yet, and a test reads the schema.
static void schema_section_names(Json *json, const Configured *configured, const char *section, bool open, Arena *arena)
{
    json_object(json, section);
    json_object(json, "properties");
    for (int i = 0; i < form_count(); i++) {
        const Form *form = form_at(i);
        if (form->parameters_at != NULL && path_below(form->path, section) != NULL)
            schema_names(json, configured, form->parameters_at, open, arena);
    }
    json_close(json, '}');
    json_close(json, '}');
}

static void schema_model_names(Json *json, const Configured *configured, bool open, Arena *arena)
{
    schema_parameters(json, configured, "initial", open, arena);
    schema_parameters(json, configured, "parameters", open, arena);
    schema_section_names(json, configured, "search", open, arena);
    schema_section_names(json, configured, "replicates", open, arena);
}

static const char schema_under_a_law[] =
    "{if: {properties: {simulation: {properties: {control: {properties: {mode: {const: law}}, required: [mode]}}, "
    "required: [control]}}, required: [simulation]}}";

static void schema_model(Json *json, const Model *model, Arena *arena)
{
    Configured configured;
    if (!keys_widest_model(model, arena, &configured)) return;
    schema_if(json, "model", model->name, false, arena);
    json_object(json, "properties");
    json_object(json, "simulation");
    json_object(json, "properties");
    schema_put_include(json, arena);
    int count;
    const Key *rows = schema_simulation_rows(model, &count, arena);
    schema_options(json, rows, count, "simulation", arena);
    json_close(json, '}');
    json_boolean(json, "additionalProperties", false);
    json_close(json, '}');
    const bool law = schema_has(model, OPTION_LAW) && !schema_is_open(&configured); // which has parameters of its own
    schema_model_names(json, &configured, law, arena);
    json_close(json, '}');
    if (law) {
        schema_put(json, schema_under_a_law, 0.0, arena);
        json_object(json, "else");
        json_object(json, "properties");
        schema_model_names(json, &configured, false, arena);
        for (int i = 0; i < 2; i++) json_close(json, '}');
    }
    for (int i = 0; i < 2; i++) json_close(json, '}');
}

// ---- definitions that forms refer to --------------------------------------------------------------------------------

static const struct {
    const char *name, *text;
} schema_definitions[] = {
    {"quantity", "{type: [number, string], pattern: '" SCHEMA_QUANTITY_PATTERN "'}"},
    {"pair", "{type: array, minItems: 2, maxItems: 2, items: $quantity}"},
    {"word", "{type: string, maxLength: 32, pattern: '^[A-Za-z_][A-Za-z0-9_.:+-]*$'}"},
    {"value", "{anyOf: [$quantity, $word]}"},
    {"point", "{type: object, additionalProperties: $value}"},
    {"name", "{type: string}"},
    {"names", "{type: array, minItems: 2, items: $name}"},
    {"expression", "{type: [string, number], maxLength: MOST}"},
    {"id", "{type: integer, minimum: 0}"},
};

// A mapping with one key, a list of `count` numbers, and its companions.
static const char *schema_named_list(const char *name, int count, const char *companions, Arena *arena)
{
    return arena_format(arena,
                        "{type: object, properties: {%s: {type: array, minItems: %d, maxItems: %d, items: $quantity}"
                        "%s%s}, required: [%s], additionalProperties: false}",
                        name, count, count, companions != NULL ? ", " : "", companions != NULL ? companions : "", name);
}

static const char *schema_values(Arena *arena)
{
    int count;
    const ValueForm *const *forms = value_forms(&count);
    const char *text = "{anyOf: [{type: array, minItems: 1, items: $value}, {const: all}";
    for (int i = 0; i < count; i++)
        text = arena_format(arena, "%s, %s", text,
                            schema_named_list(forms[i]->name, forms[i]->n_arguments, forms[i]->schema, arena));
    return arena_format(arena,
                        "%s, {type: object, properties: {derive: $expression}, required: [derive], "
                        "additionalProperties: false}]}",
                        text);
}

static void schema_define(Json *json, const char *name, const char *text, double most, Arena *arena)
{
    json_object(json, name);
    schema_put(json, text, most, arena);
    json_close(json, '}');
}

static void schema_define_all(Json *json, Arena *arena)
{
    json_object(json, "$defs");
    for (size_t i = 0; i < sizeof schema_definitions / sizeof *schema_definitions; i++)
        schema_define(json, schema_definitions[i].name, schema_definitions[i].text, EXPRESSION_LENGTH, arena);
    const char *name, *text;
    for (int i = 0; equations_schema(i, &name, &text); i++) schema_define(json, name, text, 0.0, arena);
    schema_define(json, "values", schema_values(arena), 0.0, arena);
    schema_define(json, "perturbation",
                  arena_format(arena, "{anyOf: [%s, %s]}", schema_named_list("normal", 2, NULL, arena),
                               schema_named_list("uniform", 2, NULL, arena)),
                  0.0, arena);
    for (int i = 0; i < form_count(); i++) {
        if (form_at(i)->define != NULL) schema_define(json, form_at(i)->definition, form_at(i)->define, 0.0, arena);
    }
    json_close(json, '}');
}

// The key table, and the debug rows of models that call them otherwise.
static const Key *schema_rows(int *count, Arena *arena)
{
    int n_table;
    const Key *table = keys_table(arena, &n_table);
    int n_top = 0;
    for (int m = 0; m < model_count(); m++) n_top += model_at(m)->n_options + model_at(m)->n_lists;
    Key *rows = ARENA_NEW(arena, Key, n_table * (1 + model_count()) + n_top);
    memcpy(rows, table, (size_t)n_table * sizeof *rows);
    *count = n_table;
    for (int m = 0; m < model_count(); m++) schema_add_top(model_at(m), rows, count, arena);
    for (int m = 0; m < model_count(); m++) {
        if (model_at(m)->debug == NULL) continue;
        for (int i = 0; i < n_table; i++) {
            rows[*count] = key_of_debug(&table[i], model_at(m), arena);
            *count += rows[*count].path != table[i].path;
        }
    }
    return rows;
}

void spec_schema(FILE *out)
{
    Arena arena;
    if (arena_create_growing(&arena, SCHEMA_ARENA, "the schema").kind != OK) return;
    int count;
    const Key *rows = schema_rows(&count, &arena);
    Json json;
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_text(&json, "title", "Hopscotch experiment spec, version 1");
    schema_section(&json, rows, count, "", &arena);
    json_array(&json, "allOf");
    for (int i = 0; i < model_count(); i++) schema_model(&json, model_at(i), &arena);
    json_close(&json, ']');
    schema_define_all(&json, &arena);
    json_close(&json, '}');
    arena_destroy(&arena);
}
