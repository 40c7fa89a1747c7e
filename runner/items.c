// Lists that a model declares in `simulation:` (a world's bodies, say): read by the rows of the model's tables, and
// written back. An item becomes the doubles of its fields, one after the other (sim.h).
#include "keys.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

// The field as a row of the key table, so that scalars are read by the rules and with the messages of any other key.
static Key items_key(const ItemField *field, double *at)
{
    static const KeyType types[] = {[ITEM_NUMBERS] = KEY_NUMBER,
                                    [ITEM_BOOLEAN] = KEY_BOOLEAN,
                                    [ITEM_CHOICE] = KEY_CHOICE,
                                    [ITEM_NAME] = KEY_NAME,
                                    [ITEM_REFERENCE] = KEY_FORM};
    return (Key){.path = field->name,
                 .type = types[field->type],
                 .unit = field->unit,
                 .value = field->value,
                 .low = field->low,
                 .high = field->high,
                 .words = field->type == ITEM_CHOICE ? field->words : NULL,
                 .doc = field->doc,
                 .store = STORE_DOUBLE,
                 .at = at};
}

const char *items_field_expected(const ItemField *field, Arena *arena)
{
    const Key key = items_key(field, NULL);
    const char *otherwise = field->otherwise != NULL ? arena_format(arena, ", or %s", field->otherwise) : "";
    if (field->type == ITEM_NAME) return "a name of up to 32 letters, digits and _, not starting with a digit";
    if (field->type == ITEM_REFERENCE) return arena_format(arena, "the name of one of %s%s", field->words, otherwise);
    if (field->type != ITEM_NUMBERS || field->count == 1)
        return arena_format(arena, "%s%s", key_expected(&key, arena), otherwise);
    const char *range = key_range(&key, arena), *least = "";
    if (field->least < field->count) least = arena_format(arena, "%d to ", field->least);
    return arena_format(arena, "a list of %s%d numbers%s%s%s", least, field->count, range[0] != '\0' ? " " : "", range,
                        otherwise);
}

// ---- reading --------------------------------------------------------------------------------------------------------

typedef struct ItemsReader {
    SpecReader *reader;
    const List *list;
    const char **names; // [count] of the items; NULL: they have none
    int64_t count;      // items that are read
} ItemsReader;

static void items_mistyped(const ItemsReader *items, const ItemField *field, const Node *node)
{
    Arena *arena = items->reader->arena;
    diagnose(items->reader->diagnostics, node, "%s is %s, expected %s", field->name, scalar_given(node, arena),
             items_field_expected(field, arena));
}

static bool items_is_name(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
    return text[length] == '\0' && length > 0 && length <= 32 && !isdigit((unsigned char)text[0]);
}

static void items_read_name(ItemsReader *items, const ItemField *field, const Node *node)
{
    const char *name = node->kind == NODE_SCALAR ? node->text : "";
    if (!items_is_name(name)) {
        items_mistyped(items, field, node);
        return;
    }
    for (int64_t i = 0; i < items->count; i++) {
        if (strcmp(items->names[i], name) != 0) continue;
        diagnose(items->reader->diagnostics, node, "there are two '%s' in %s", name, items->list->name);
        break;
    }
    items->names[items->count] = arena_copy(items->reader->arena, name);
}

static bool items_place(const Points *items, const char *name, double *place)
{
    for (int64_t i = 0; i < items->count; i++) {
        if (strcmp(items->names[i], name) != 0) continue;
        *place = (double)i;
        return true;
    }
    return false;
}

static void items_read_reference(const ItemsReader *items, const ItemField *field, const Node *node, double *value)
{
    SpecReader *reader = items->reader;
    const char *path = arena_format(reader->arena, "simulation.%s", field->words);
    const Points *others = NULL;
    for (int i = 0; i < reader->n_keys; i++) {
        if (strcmp(reader->keys[i].path, path) == 0) others = reader->keys[i].at;
    }
    if (node->kind != NODE_SCALAR || others == NULL) {
        items_mistyped(items, field, node);
        return;
    }
    if (items_place(others, node->text, value)) return;
    const char *near = scalar_flooded(reader) ? NULL : nearest_name(node->text, others->names, (int)others->count);
    const bool good = near != NULL && near[0] != '\0'; // an item whose name is wrong has none
    if (good) items_place(others, near, value);
    diagnose(reader->diagnostics, node, "%s is '%s', which is none of %s%s%s%s", field->name, node->text, field->words,
             good ? "; did you mean '" : "", good ? near : "", good ? "'?" : "");
}

static void items_read_numbers(const ItemsReader *items, const ItemField *field, const Node *node, double *value)
{
    const bool list = node->kind == NODE_SEQUENCE;
    const int count = list ? node->count : 1;
    if ((list && field->count == 1) || count < field->least || count > field->count) {
        items_mistyped(items, field, node);
        return;
    }
    for (int i = 0; i < field->count; i++) {
        const Key key = items_key(field, NULL);
        value[i] = i < count ? list_default(field, i) : NAN;
        if (i < count) scalar_number(items->reader, &key, list ? node->items[i] : node, &value[i]);
    }
}

// What the field is if it is not given.
static void items_default(const ItemField *field, double *value)
{
    for (int i = 0; i < list_field_width(field); i++) value[i] = list_default(field, i);
}

// Whether it has no default.
static bool items_required(const ItemField *field)
{
    if (field->otherwise != NULL) return false;
    return field->type == ITEM_NAME || field->type == ITEM_REFERENCE || isnan(field->value);
}

static bool items_has(const List *list, const char *name)
{
    for (int f = 0; f < list->n_fields; f++) {
        if (strcmp(list->fields[f].name, name) == 0) return true;
    }
    return false;
}

static const char *items_meant(const ItemsReader *items, const char *text)
{
    const char **names = ARENA_NEW(items->reader->arena, const char *, items->list->n_fields);
    for (int f = 0; f < items->list->n_fields; f++) names[f] = items->list->fields[f].name;
    return nearest_name(text, names, items->list->n_fields);
}

// The field's value in an item, also where its key is misspelt; *lost: there is a key that could be any.
static const Node *items_find(const ItemsReader *items, const ItemField *field, const Node *item, bool *lost)
{
    const Node *found = node_find(item, field->name);
    for (int i = 0; found == NULL && i < item->count; i++) {
        if (items_has(items->list, item->keys[i]->text)) continue;
        const char *meant = scalar_flooded(items->reader) ? NULL : items_meant(items, item->keys[i]->text);
        if (meant == NULL) *lost = true;
        if (meant != NULL && strcmp(meant, field->name) == 0) found = item->items[i];
    }
    return found;
}

static void items_read_field(ItemsReader *items, const ItemField *field, const Node *item, double *value)
{
    bool lost = false;
    const Node *node = items_find(items, field, item, &lost);
    items_default(field, value);
    if (field->type == ITEM_REFERENCE && field->otherwise == NULL) *value = 0.0; // after an error: one that there is
    if (node == NULL) {
        if (items_required(field) && !lost)
            diagnose(items->reader->diagnostics, item, "%s is missing here: %s, %s", field->name, field->doc,
                     items_field_expected(field, items->reader->arena));
        return;
    }
    if (field->otherwise != NULL && node->kind == NODE_SCALAR && strcmp(node->text, field->otherwise) == 0) return;
    const Key key = items_key(field, value);
    switch (field->type) {
    case ITEM_NAME: items_read_name(items, field, node); break;
    case ITEM_REFERENCE: items_read_reference(items, field, node, value); break;
    case ITEM_NUMBERS: items_read_numbers(items, field, node, value); break;
    case ITEM_BOOLEAN:
    case ITEM_CHOICE: scalar_read(items->reader, &key, node); break;
    }
}

static void items_check_keys(const ItemsReader *items, const Node *item)
{
    Arena *arena = items->reader->arena;
    const List *list = items->list;
    for (int i = 0; i < item->count; i++) {
        const char *given = item->keys[i]->text;
        if (items_has(list, given)) continue;
        if (scalar_flooded(items->reader)) {
            diagnose(items->reader->diagnostics, item->keys[i], "unknown key");
            continue;
        }
        const char *near = items_meant(items, given), **names = ARENA_NEW(arena, const char *, list->n_fields);
        for (int f = 0; f < list->n_fields; f++) names[f] = list->fields[f].name;
        diagnose(items->reader->diagnostics, item->keys[i], "unknown key '%s' in an item of %s%s%s%s", given,
                 list->name, near != NULL ? "; did you mean '" : ", expected ",
                 near != NULL ? near : words_sentence(names, list->n_fields, arena), near != NULL ? "'?" : "");
    }
}

void items_read(SpecReader *reader, const Key *key, const Node *node)
{
    const List *list = key->list;
    Points *out = key->at;
    *out = (Points){0};
    if (node == NULL) return;
    if (node->kind != NODE_SEQUENCE) {
        diagnose(reader->diagnostics, node, "%s is %s, expected %s", key_name(key), scalar_given(node, reader->arena),
                 key_expected(key, reader->arena));
        return;
    }
    if (node->count > list->most) {
        diagnose(reader->diagnostics, node, "%s has %d items, at most %lld are allowed", key_name(key), node->count,
                 (long long)list->most);
        return;
    }
    const int width = list_width(list);
    double *values = ARENA_NEW(reader->arena, double, (int64_t)node->count *width);
    ItemsReader items = {.reader = reader, .list = list, .names = ARENA_NEW(reader->arena, const char *, node->count)};
    for (; items.count < node->count; items.count++) {
        const Node *item = node->items[items.count];
        double *value = values + items.count * width;
        items.names[items.count] = "";
        if (item->kind != NODE_MAPPING) {
            diagnose(reader->diagnostics, item, "an item of %s is %s, expected a mapping", list->name,
                     scalar_given(item, reader->arena));
            continue;
        }
        items_check_keys(&items, item);
        for (int f = 0; f < list->n_fields; f++) {
            items_read_field(&items, &list->fields[f], item, value);
            value += list_field_width(&list->fields[f]);
        }
    }
    *out = (Points){.xy = values, .count = items.count, .names = items.names};
}

// ---- writing --------------------------------------------------------------------------------------------------------

static const char *items_numbers_text(const ItemField *field, const double *value, Arena *arena)
{
    if (field->count == 1) return arena_copy(arena, text_number(value[0]).text);
    const char *text = "[";
    for (int i = 0; i < field->count && !isnan(value[i]); i++)
        text = arena_format(arena, "%s%s%s", text, i > 0 ? ", " : "", text_number(value[i]).text);
    return arena_format(arena, "%s]", text);
}

// NULL: the field is its default, and is left out.
static const char *items_field_text(const ItemField *field, const Points *others, const double *value, Arena *arena)
{
    if (field->type == ITEM_REFERENCE) return value[0] < 0.0 ? NULL : others->names[(int64_t)value[0]];
    bool same = true;
    for (int i = 0; i < list_field_width(field); i++) {
        const double otherwise = list_default(field, i);
        same &= isnan(otherwise) ? isnan(value[i]) : value[i] == otherwise;
    }
    if (field->type != ITEM_CHOICE && same) return NULL;
    if (field->type == ITEM_CHOICE) return words_at(field->words, (int)value[0], arena);
    if (field->type == ITEM_BOOLEAN) return value[0] != 0.0 ? "true" : "false";
    return items_numbers_text(field, value, arena);
}

// The rows of a model's lists stand one after the other, in the table and as values.
static const Points *items_referred(const Key *key, const ItemField *field)
{
    const Key *other = key;
    while (strcmp(other->path + strlen("simulation."), field->words) != 0) other--;
    return other->at;
}

static const char *items_one_text(const Key *key, int64_t item, Arena *arena)
{
    const Points *items = key->at;
    const List *list = key->list;
    const double *value = items->xy + item * list_width(list);
    const char *text = "{";
    for (int f = 0; f < list->n_fields; f++) {
        const ItemField *field = &list->fields[f];
        const Points *others = field->type == ITEM_REFERENCE ? items_referred(key, field) : NULL;
        const char *of_field = field->type == ITEM_NAME ? arena_format(arena, "\"%s\"", items->names[item])
                                                        : items_field_text(field, others, value, arena);
        value += list_field_width(field);
        if (of_field == NULL) continue;
        text = arena_format(arena, "%s%s%s: %s", text, text[1] != '\0' ? ", " : "", field->name, of_field);
    }
    return arena_format(arena, "%s}", text);
}

const char *items_text(const Key *key, Arena *arena)
{
    const Points *items = key->at;
    size_t size = 3;
    const char **texts = ARENA_NEW(arena, const char *, items->count);
    for (int64_t i = 0; i < items->count; i++) {
        texts[i] = items_one_text(key, i, arena);
        size += strlen(texts[i]) + 2;
    }
    char *text = arena_take(arena, size, 1), *p = stpcpy(text, "[");
    for (int64_t i = 0; i < items->count; i++) p = stpcpy(stpcpy(p, i > 0 ? ", " : ""), texts[i]);
    stpcpy(p, "]");
    return text;
}
