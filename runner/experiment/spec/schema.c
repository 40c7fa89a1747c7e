// The JSON schema of specs (draft 2020-12), for editors: made from the key table and the tables of models and methods.
// What it can't say (an axis fixed too, unequal zips, expressions) is left to `hopscotch check`.
#include "forms.h"

#include <math.h>
#include <string.h>

enum { SCHEMA_ARENA = 32 << 20 };
const char schema_name_pattern[] = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$";
static const char schema_quantity_pattern[] = "^[-+]?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?(us|ms|s|min|h|%)?$";

// ---- one row --------------------------------------------------------------------------------------------------------

static void schema_const(Json *json, const char *value)
{
    json_object(json, NULL);
    json_text(json, "const", value);
    json_close(json, '}');
}

void schema_words(Json *json, const char *name, const char *words, Arena *arena)
{
    json_array(json, name);
    for (int i = 0; i < words_count(words); i++) json_text(json, NULL, words_at(words, i, arena));
    json_close(json, ']');
}

void schema_required(Json *json, const char *name)
{
    json_array(json, "required");
    json_text(json, NULL, name);
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

static void schema_number(Json *json, const Key *key)
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
        json_text(json, "type", "string");
        json_text(json, "pattern", schema_quantity_pattern);
        json_close(json, '}');
    }
    if (key->words != NULL) schema_const(json, key->words);
    json_close(json, ']');
}

void schema_refer(Json *json, const char *name, const char *definition, Arena *arena)
{
    json_object(json, name);
    json_text(json, "$ref", arena_format(arena, "#/$defs/%s", definition));
    json_close(json, '}');
}

// In every section; at the top it is a row of the table.
static void schema_add_include(Json *json, Arena *arena) { schema_refer(json, "include", "include", arena); }

void schema_array_of(Json *json, const char *definition, int least, int most, Arena *arena)
{
    json_text(json, "type", "array");
    if (least > 0) json_integer(json, "minItems", least);
    if (most > 0) json_integer(json, "maxItems", most);
    schema_refer(json, "items", definition, arena);
}

// An item of a model's list: a mapping of its fields.
static void schema_item_field(Json *json, const ItemField *field, Arena *arena)
{
    json_object(json, field->name);
    json_text(json, "description", arena_format(arena, "%s: %s", field->doc, items_field_expected(field, arena)));
    if (field->type == ITEM_BOOLEAN) json_text(json, "type", "boolean");
    if (field->type == ITEM_CHOICE) schema_words(json, "enum", field->words, arena);
    if (field->type == ITEM_NAME || field->type == ITEM_REFERENCE) json_text(json, "type", "string");
    if (field->type == ITEM_NUMBERS)
        schema_words(json, "type", field->count > 1 ? "number|string|array" : "number|string", arena);
    json_close(json, '}');
}

static void schema_item_copies(Json *json, Arena *arena)
{
    json_object(json, "repeat");
    json_text(
        json, "description",
        "number of copies, numbered from 1, or [first, last]; # in names and references is the number, #-1 and #+1 "
        "its neighbours'");
    schema_words(json, "type", "integer|string|array", arena);
    json_close(json, '}');
    json_object(json, "step");
    json_text(json, "description", "what each copy has more than the one before it: {position: [1, 0, 0]}");
    json_text(json, "type", "object");
    json_close(json, '}');
}

static void schema_items(Json *json, const Key *key, Arena *arena)
{
    json_text(json, "type", "array");
    json_integer(json, "maxItems", key->list->most);
    json_object(json, "items");
    json_text(json, "type", "object");
    json_object(json, "properties");
    for (int f = 0; f < key->list->n_fields; f++) schema_item_field(json, &key->list->fields[f], arena);
    schema_item_copies(json, arena);
    json_close(json, '}');
    json_boolean(json, "additionalProperties", false);
    json_close(json, '}');
}

static void schema_scalar(Json *json, const Key *key, Arena *arena)
{
    if (key->type == KEY_ITEMS) schema_items(json, key, arena);
    if (key->type == KEY_NUMBER || key->type == KEY_INTEGER) schema_number(json, key);
    if (key->type == KEY_BOOLEAN) json_text(json, "type", "boolean");
    if (key->type == KEY_NAME) {
        json_text(json, "type", "string");
        json_text(json, "pattern", schema_name_pattern);
    }
    if (key->type == KEY_CHOICE) schema_words(json, "enum", key->words, arena);
    if (key->type == KEY_POINTS) schema_array_of(json, "pair", 0, POINTS_MAX, arena);
    if (key->type == KEY_NUMBERS) schema_words(json, "type", "array", arena);
    if (key->type == KEY_FILE) schema_words(json, "type", "string|object", arena);
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
    else if (key->type == KEY_POINTS || key->type == KEY_NUMBERS || key->type == KEY_ITEMS)
        schema_no_points(json);
    else if (key->type == KEY_FILE)
        json_text(json, "default", "none");
    else if (key->words != NULL)
        json_text(json, "default", key->words);
    else
        json_number(json, "default", key->value);
}

// ---- forms ----------------------------------------------------------------------------------------------------------

void schema_string(Json *json, const char *name)
{
    json_object(json, name);
    json_text(json, "type", "string");
    json_close(json, '}');
}

void schema_map_of(Json *json, const char *definition, Arena *arena)
{
    schema_words(json, "type", "object|null", arena);
    json_object(json, "properties");
    schema_add_include(json, arena);
    json_close(json, '}');
    schema_refer(json, "additionalProperties", definition, arena);
}

static void schema_form(Json *json, const Key *key, Arena *arena)
{
    if (key->form->type != NULL) json_text(json, "type", key->form->type);
    key->form->schema(json, arena);
}

// ---- sections -------------------------------------------------------------------------------------------------------

static bool schema_is_child(const Key *key, const char *section)
{
    const size_t length = strlen(section);
    if (key->type == KEY_LATER || strncmp(key->path, section, length) != 0) return false;
    if (length > 0 && key->path[length] != '.') return false;
    return strchr(key->path + length + (length > 0), '.') == NULL;
}

static void schema_section(Json *json, const Key *rows, int count, const char *section, Arena *arena);

static void schema_property(Json *json, const Key *rows, int count, const Key *key, Arena *arena)
{
    json_object(json, key_name(key));
    json_text(json, "description",
              arena_format(arena, "%s. Example: %s", key->doc, key->example != NULL ? key->example : ""));
    if (key->type == KEY_SECTION && (key->flags & KEY_OPEN) != 0) {
        schema_words(json, "type", "object|null", arena);
    } else if (key->type == KEY_SECTION) {
        schema_section(json, rows, count, key->path, arena);
    } else if (key->type == KEY_FORM) {
        schema_form(json, key, arena);
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
        schema_form(json, key, arena);
    } else {
        schema_scalar(json, key, arena);
        schema_default(json, key, arena);
    }
    json_close(json, '}');
}

static bool schema_is_below(const Key *key, const char *section)
{
    const size_t length = strlen(section);
    return strncmp(key->path, section, length) == 0 && key->path[length] == '.';
}

// Options of a model or a method, as properties of `section`: nested by the dots in their names.
static void schema_options(Json *json, const Key *rows, int count, const char *section, Arena *arena)
{
    for (int i = 0; i < count; i++) {
        if (!schema_is_below(&rows[i], section)) continue;
        const char *dot = strchr(rows[i].path + strlen(section) + 1, '.');
        if (dot == NULL) {
            schema_option(json, &rows[i], arena);
            continue;
        }
        const char *inner = arena_format(arena, "%.*s", (int)(dot - rows[i].path), rows[i].path);
        bool first = true;
        for (int before = 0; before < i; before++) first &= !schema_is_below(&rows[before], inner);
        if (!first) continue;
        json_object(json, inner + strlen(section) + 1);
        json_object(json, "properties");
        schema_add_include(json, arena);
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
        if (schema_is_below(&table[i], section)) rows[(*count)++] = table[i];
    }
    return rows;
}

// All keys of a model's `simulation:`.
static Key *schema_simulation_rows(const Model *model, int *count, Arena *arena)
{
    Key *rows = ARENA_NEW(arena, Key, model->n_options + model->n_lists);
    for (int i = 0; i < model->n_options; i++) rows[i] = key_of_option(&model->options[i], "simulation", arena);
    for (int i = 0; i < model->n_lists; i++)
        rows[model->n_options + i] = key_of_list(&model->lists[i], "simulation", arena);
    *count = model->n_options + model->n_lists;
    return rows;
}

// `if` a key has a value `then` what follows; the caller writes it and closes two braces.
static void schema_if(Json *json, const char *key, const char *value, bool or_absent)
{
    json_object(json, NULL);
    json_object(json, "if");
    json_object(json, "properties");
    json_object(json, key);
    json_text(json, "const", value);
    json_close(json, '}');
    json_close(json, '}');
    if (!or_absent) {
        schema_required(json, key);
    }
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
        schema_if(json, "method", method->name, strcmp(method->name, "grid") == 0);
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
static void schema_section_required(Json *json, const Key *rows, int count, const char *section)
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
    schema_required(json, "include");
    json_close(json, '}');
    json_close(json, ']');
}

static void schema_section(Json *json, const Key *rows, int count, const char *section, Arena *arena)
{
    schema_words(json, "type", section[0] != '\0' ? "object|null" : "object", arena);
    json_object(json, "properties");
    if (section[0] != '\0') schema_add_include(json, arena);
    for (int i = 0; i < count; i++) {
        if (schema_is_child(&rows[i], section)) schema_property(json, rows, count, &rows[i], arena);
    }
    json_close(json, '}');
    if (strcmp(section, "search") == 0)
        schema_methods(json, arena);
    else
        json_boolean(json, "additionalProperties", false);
    schema_section_required(json, rows, count, section);
}

// ---- models ---------------------------------------------------------------------------------------------------------

// What lanes have under the defaults and what other settings add; which is which is for `hopscotch check`.
static Key *schema_parameter_rows(const Configured *configured, int *count, Arena *arena)
{
    const Model *model = configured->model;
    const int named = configured_named(configured);
    Key *rows = ARENA_NEW(arena, Key, named + model->n_extra);
    for (int i = 0; i < named; i++) rows[i] = key_of_parameter(&configured->parameters[i], arena);
    for (int i = 0; i < model->n_extra; i++) rows[named + i] = key_of_parameter(&model->extra[i], arena);
    *count = named + model->n_extra;
    return rows;
}

static void schema_parameters(Json *json, const Configured *configured, const char *section, Arena *arena)
{
    int count;
    const Key *rows = schema_parameter_rows(configured, &count, arena);
    json_object(json, section);
    json_object(json, "properties");
    schema_add_include(json, arena);
    schema_options(json, rows, count, section, arena);
    json_close(json, '}');
    json_boolean(json, "additionalProperties", false);
    json_close(json, '}');
}

void schema_names(Json *json, const Configured *configured, const char *key, Arena *arena)
{
    int count;
    const Key *rows = schema_parameter_rows(configured, &count, arena);
    json_object(json, key);
    json_object(json, "propertyNames");
    json_array(json, "enum");
    json_text(json, NULL, "include");
    for (int i = 0; i < count; i++) json_text(json, NULL, key_name(&rows[i]));
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, '}');
}

// The names below `section` that the value of a form's key has, "cmaes.outer" in "search"; NULL: it is elsewhere.
static const char *schema_below(const Form *form, const char *section)
{
    const size_t length = strlen(section);
    return strncmp(form->path, section, length) == 0 && form->path[length] == '.' ? form->path + length + 1 : NULL;
}

static void schema_nested_names(Json *json, const Configured *configured, const char *name, Arena *arena)
{
    const char *dot = strchr(name, '.');
    if (dot == NULL) {
        schema_names(json, configured, name, arena);
        return;
    }
    json_object(json, arena_format(arena, "%.*s", (int)(dot - name), name));
    json_object(json, "properties");
    schema_nested_names(json, configured, dot + 1, arena);
    json_close(json, '}');
    json_close(json, '}');
}

// Where a section names parameters: mappings of them, other values, then what is nested deeper. Two forms in one nested
// mapping would need to be merged: none are yet, and a test reads the schema.
static void schema_section_names(Json *json, const Configured *configured, const char *section, Arena *arena)
{
    json_object(json, section);
    json_object(json, "properties");
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < form_count(); i++) {
            const Form *form = form_at(i);
            const char *name = schema_below(form, section);
            const bool nested = name != NULL && strchr(name, '.') != NULL;
            if (name != NULL && form->maps_parameters && pass == (nested ? 2 : 0))
                schema_nested_names(json, configured, name, arena);
            if (name != NULL && form->schema_names != NULL && pass == 1) form->schema_names(json, configured, arena);
        }
    }
    json_close(json, '}');
    json_close(json, '}');
}

static void schema_model(Json *json, const Model *model, Arena *arena)
{
    Configured configured;
    if (!keys_widest_model(model, arena, &configured)) return;
    schema_if(json, "model", model->name, false);
    json_object(json, "properties");
    json_object(json, "simulation");
    json_object(json, "properties");
    schema_add_include(json, arena);
    int count;
    const Key *rows = schema_simulation_rows(model, &count, arena);
    schema_options(json, rows, count, "simulation", arena);
    json_close(json, '}');
    json_boolean(json, "additionalProperties", false);
    json_close(json, '}');
    schema_parameters(json, &configured, "initial", arena);
    schema_parameters(json, &configured, "parameters", arena);
    schema_section_names(json, &configured, "search", arena);
    schema_section_names(json, &configured, "replicates", arena);
    for (int i = 0; i < 3; i++) json_close(json, '}');
}

// ---- definitions that forms refer to --------------------------------------------------------------------------------

// An object with one key, an array of so many numbers, and its companions.
static void schema_pair(Json *json, const char *name, int count, void (*companions)(Json *json, Arena *arena),
                        Arena *arena)
{
    json_object(json, NULL);
    json_text(json, "type", "object");
    json_object(json, "properties");
    json_object(json, name);
    schema_array_of(json, "quantity", count, count, arena);
    json_close(json, '}');
    if (companions != NULL) companions(json, arena);
    json_close(json, '}');
    schema_required(json, name);
    json_boolean(json, "additionalProperties", false);
    json_close(json, '}');
}

static void schema_values(Json *json, Arena *arena)
{
    int count;
    const ValueForm *const *forms = value_forms(&count);
    json_object(json, "values");
    json_array(json, "anyOf");
    json_object(json, NULL);
    schema_array_of(json, "quantity", 1, 0, arena);
    json_close(json, '}');
    for (int i = 0; i < count; i++) schema_pair(json, forms[i]->name, forms[i]->n_arguments, forms[i]->schema, arena);
    json_object(json, NULL);
    json_text(json, "type", "object");
    json_object(json, "properties");
    schema_refer(json, "derive", "expression", arena);
    json_close(json, '}');
    schema_required(json, "derive");
    json_boolean(json, "additionalProperties", false);
    json_close(json, '}');
    json_close(json, ']');
    json_close(json, '}');
}

static void schema_quantity(Json *json, Arena *arena)
{
    json_object(json, "quantity");
    schema_words(json, "type", "number|string", arena);
    json_text(json, "pattern", schema_quantity_pattern);
    json_close(json, '}');
}

static void schema_definitions(Json *json, Arena *arena)
{
    json_object(json, "$defs");
    schema_quantity(json, arena);
    schema_values(json, arena);
    json_object(json, "perturbation");
    json_array(json, "anyOf");
    schema_pair(json, "normal", 2, NULL, arena);
    schema_pair(json, "uniform", 2, NULL, arena);
    json_close(json, ']');
    json_close(json, '}');
    json_object(json, "pair");
    schema_array_of(json, "quantity", 2, 2, arena);
    json_close(json, '}');
    json_object(json, "point");
    json_text(json, "type", "object");
    schema_refer(json, "additionalProperties", "quantity", arena);
    json_close(json, '}');
    json_object(json, "name");
    json_text(json, "type", "string");
    json_close(json, '}');
    json_object(json, "names");
    schema_array_of(json, "name", 2, 0, arena);
    json_close(json, '}');
    for (int i = 0; i < form_count(); i++) {
        if (form_at(i)->define == NULL) continue;
        json_object(json, form_at(i)->definition);
        form_at(i)->define(json, arena);
        json_close(json, '}');
    }
    json_object(json, "expression");
    schema_words(json, "type", "string|number", arena);
    json_integer(json, "maxLength", EXPRESSION_LENGTH);
    json_close(json, '}');
    json_object(json, "id");
    json_text(json, "type", "integer");
    json_integer(json, "minimum", 0);
    json_close(json, '}');
    json_close(json, '}');
}

// The key table, and the debug rows of models that call them otherwise.
static const Key *schema_rows(int *count, Arena *arena)
{
    int n_table;
    const Key *table = keys_table(arena, &n_table);
    Key *rows = ARENA_NEW(arena, Key, n_table * (1 + model_count()));
    memcpy(rows, table, (size_t)n_table * sizeof *rows);
    *count = n_table;
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
    schema_definitions(&json, &arena);
    json_close(&json, '}');
    arena_destroy(&arena);
}
