// Strict scalars. One YAML library reads 010 as eight, yes as true and 1_000 as a thousand, and another does not. Here
// a number has one form (text_to_number), and everything else gets an error that says how to write it.
#include "keys.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCALAR_SHOWN = 60,       // characters of a wrong value that a message repeats
    SCALAR_ERRORS_KEPT = 100 // by io/diagnostics.c
};

bool scalar_is_empty(const Node *node)
{
    return node->kind == NODE_SCALAR && !node->quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

const char *scalar_given(const Node *node, Arena *arena)
{
    if (node->kind == NODE_MAPPING) return "a mapping";
    if (node->kind == NODE_SEQUENCE) return "a list";
    if (scalar_is_empty(node)) return "empty";
    const char *cut = strlen(node->text) > SCALAR_SHOWN ? "..." : "";
    return arena_format(arena, node->quoted ? "the text \"%.*s%s\"" : "'%.*s%s'", SCALAR_SHOWN, node->text, cut);
}

const char *did_you_mean(const char *near, Arena *arena)
{
    return near != NULL ? arena_format(arena, "; did you mean '%s'?", near) : "";
}

typedef struct ScalarUnit {
    const char *unit, *suffix;
    int times, over; // one of them is 1
} ScalarUnit;

static const ScalarUnit scalar_units[] = {
    {"s", "us", 1, 1000000}, {"s", "ms", 1, 1000}, {"s", "s", 1, 1},
    {"s", "min", 60, 1},     {"s", "h", 3600, 1},  {"fraction", "%", 1, 100},
};

static bool scalar_with_unit(const char *text, const char *unit, double *value)
{
    const char *end = text_number_end(text);
    if (end == NULL || unit == NULL) return false;
    for (size_t i = 0; i < sizeof scalar_units / sizeof scalar_units[0]; i++) {
        const ScalarUnit *row = &scalar_units[i];
        if (strcmp(row->unit, unit) != 0 || strcmp(row->suffix, end) != 0) continue;
        const double number = strtod(text, NULL);
        if (!isfinite(number)) return false;
        *value = decimal_scaled(decimal_of(number), row->times, row->over); // 0.3ms is 0.0003
        return isfinite(*value);
    }
    return false;
}

// ---- advice ---------------------------------------------------------------------------------------------------------

static bool scalar_looks_infinite(const char *digits)
{
    static const char *const names[] = {"nan", ".nan", "inf", ".inf", "infinity"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(digits, names[i]) == 0) return true;
    }
    return false;
}

// No suggestion among up to three words, which the message lists anyway: for gpu it would suggest cpu.
static const char *scalar_nearest_word(const Node *node, const Key *key, Arena *arena)
{
    const int count = words_count(key->words);
    if (count <= 3) return "";
    return did_you_mean(nearest_name(node->text, words_list(key->words, arena), count), arena);
}

// How to write what was probably meant; "": unknown.
static const char *scalar_advice(const Node *node, const Key *key, Arena *arena)
{
    if (node->kind == NODE_SCALAR && key->type == KEY_CHOICE) return scalar_nearest_word(node, key, arena);
    if (node->kind != NODE_SCALAR || (key->type != KEY_NUMBER && key->type != KEY_INTEGER)) return "";
    const char *text = node->text, *digits = text + (*text == '+' || *text == '-');
    double value;
    if (node->quoted) return text_to_number(text, &value) ? ": leave out the quotes" : "";
    if (scalar_looks_infinite(digits)) return ": it must be finite";
    if (!isdigit((unsigned char)digits[0]) && (digits[0] != '.' || !isdigit((unsigned char)digits[1]))) return "";
    if (digits[0] == '0' && strchr("xXoObB", digits[1]) != NULL && digits[1] != '\0')
        return ": write it as a decimal number";
    if (digits[0] == '0' && isdigit((unsigned char)digits[1])) return ": leave out the leading zero, it looks octal";
    if (strchr(digits, '_') != NULL) return ": leave out the '_'";
    if (strchr(digits, ',') != NULL) return ": the decimal point is '.'";
    const char *end = text_number_end(text);
    if (end == NULL) return "";
    if (*end == '\0') return isfinite(strtod(text, NULL)) ? "" : ": it is too large";
    const size_t number = (size_t)(end - text), blanks = strspn(end, " ");
    end += blanks;
    if (blanks > 0 && scalar_with_unit(arena_format(arena, "%.*s%s", (int)number, text, end), key->unit, &value))
        return ": leave out the space";
    if (*end == '%') return ": a percentage makes no sense here";
    if (strcmp(end, "m") == 0 && key->unit != NULL && strcmp(key->unit, "s") == 0) return ": write min for minutes";
    if (strcmp(end, "d") == 0 && key->unit != NULL && strcmp(key->unit, "s") == 0) return ": write days in hours, 24h";
    if (isalpha((unsigned char)*end) && key->unit != NULL && strcmp(key->unit, "s") != 0)
        return ": write the number alone, its unit is fixed";
    return "";
}

// A fraction above one that is meant as a percentage
static const char *scalar_percentage(const Node *node, const Key *key, double number, Arena *arena)
{
    const bool fraction = key->unit != NULL && strcmp(key->unit, "fraction") == 0;
    double again;
    if (!fraction || number > 100 * key->high || number < 100 * key->low || !text_to_number(node->text, &again))
        return "";
    return number > key->high ? arena_format(arena, "; did you mean %s%%?", node->text) : "";
}

// ---- reading a row --------------------------------------------------------------------------------------------------

bool scalar_flooded(const SpecReader *reader) { return diagnostics_errors(reader->diagnostics) > SCALAR_ERRORS_KEPT; }

void key_mistyped(SpecReader *reader, const Key *key, const Node *node)
{
    if (scalar_flooded(reader)) {
        diagnose(reader->diagnostics, node, "%s is wrong", key_name(key));
        return;
    }
    diagnose(reader->diagnostics, node, "%s is %s, expected %s%s", key_name(key), scalar_given(node, reader->arena),
             key_expected(key, reader->arena), scalar_advice(node, key, reader->arena));
}

bool scalar_number(SpecReader *reader, const Key *key, const Node *node, double *value)
{
    double number;
    if (node->kind == NODE_SCALAR && key->words != NULL && strcmp(node->text, key->words) == 0) {
        *value = key->value;
        return true;
    }
    if (node->kind != NODE_SCALAR || // "10s" in quotes is no other text, and "10" may be
        !((!node->quoted && text_to_number(node->text, &number)) || scalar_with_unit(node->text, key->unit, &number)) ||
        (key->type == KEY_INTEGER && number != floor(number))) {
        key_mistyped(reader, key, node);
        return false;
    }
    if (number < key->low || number > key->high) {
        diagnose(reader->diagnostics, node, "%s is %s, must be %s%s", key_name(key), node->text,
                 key_range(key, reader->arena), scalar_percentage(node, key, number, reader->arena));
        *value = number < key->low ? key->low : key->high;
        return false;
    }
    *value = number;
    return true;
}

static bool scalar_boolean(SpecReader *reader, const Key *key, const Node *node, double *value)
{
    const bool is_true = node->kind == NODE_SCALAR && !node->quoted && strcmp(node->text, "true") == 0;
    const bool is_false = node->kind == NODE_SCALAR && !node->quoted && strcmp(node->text, "false") == 0;
    if (is_true || is_false)
        *value = is_true;
    else
        key_mistyped(reader, key, node);
    return is_true || is_false;
}

static bool scalar_choice(SpecReader *reader, const Key *key, const Node *node, double *value)
{
    const int index = node->kind == NODE_SCALAR ? words_find(key->words, node->text) : -1;
    if (index >= 0)
        *value = index;
    else
        key_mistyped(reader, key, node);
    return index >= 0;
}

bool scalar_of_parameter(SpecReader *reader, const Key *key, const Node *node, double *value)
{
    return (key->type == KEY_CHOICE ? scalar_choice : scalar_number)(reader, key, node, value);
}

static void scalar_store(const Key *key, double value, const char *text)
{
    switch (key->store) {
    case STORE_NONE: break;
    case STORE_INT: *(int *)key->at = (int)value; break;
    case STORE_INT64: *(int64_t *)key->at = (int64_t)value; break;
    case STORE_UINT64: *(uint64_t *)key->at = (uint64_t)value; break;
    case STORE_DOUBLE: *(double *)key->at = value; break;
    case STORE_BOOLEAN: *(bool *)key->at = value != 0.0; break;
    case STORE_TEXT: *(const char **)key->at = text; break;
    case STORE_POINTS:
    case STORE_ITEMS:
    case STORE_FILE: break;
    }
}

// node NULL: the default
void scalar_read(SpecReader *reader, const Key *key, const Node *node)
{
    double value = key->value;
    const char *text = key->type == KEY_NAME ? "" : NULL;
    if (key->type == KEY_NAME && node != NULL) {
        if (node->kind == NODE_SCALAR && campaign_name_taken(node->text))
            diagnose(reader->diagnostics, node,
                     "%s is %s: the list of all campaigns lies under that name; choose another", key_name(key),
                     scalar_given(node, reader->arena));
        else if (node->kind == NODE_SCALAR && campaign_name_check(node->text).kind == OK)
            text = node->text;
        else
            key_mistyped(reader, key, node);
    } else if (node != NULL) {
        if (key->type == KEY_NUMBER || key->type == KEY_INTEGER) scalar_number(reader, key, node, &value);
        if (key->type == KEY_BOOLEAN) scalar_boolean(reader, key, node, &value);
        if (key->type == KEY_CHOICE) scalar_choice(reader, key, node, &value);
    }
    if (key->type == KEY_CHOICE && key->store == STORE_TEXT) text = words_at(key->words, (int)value, reader->arena);
    scalar_store(key, value, text);
}

const char *scalar_quoted(const char *text, Arena *arena)
{
    char *quoted = arena_take(arena, 2 * strlen(text) + 3, 1), *p = quoted;
    *p++ = '"';
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') *p++ = '\\';
        *p++ = *c;
    }
    *p = '"';
    return quoted;
}
