// Lists that a model declares in `simulation:` (such as a world's bodies): read and written by the rows of the model's
// tables. An item becomes the doubles of its fields, one after the other (sim.h).
//
// A list whose items have names may also be a mapping by name: `{hip: {joints: [a, b]}}`, or `{hip: [a, b]}` if there
// is no other field. It is written back as a list. If nothing but the name is required, `[hip, knee]` are two items,
// and `{hip: m}` has the second field alone.
//
// `repeat: N` makes an item N of them, numbered from 1, `repeat: [2, N]` from 2; N may be the name of a whole number in
// `simulation:`. In names and references `#` is the copy's number, `#-1` and `#+1` its neighbours'; `step: {position:
// [1, 0, 0]}` says what each copy has more than the one before it. They are written back one by one.
#include "../equations/equations.h"
#include "keys.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

// The field as a row of the key table: scalars are read by the same rules and with the same messages.
static Key items_key(const ItemField *field, double *at)
{
    static const KeyType types[] = {
        [ITEM_NUMBERS] = KEY_NUMBER, [ITEM_BOOLEAN] = KEY_BOOLEAN, [ITEM_CHOICE] = KEY_CHOICE,
        [ITEM_NAME] = KEY_NAME,      [ITEM_REFERENCE] = KEY_FORM,  [ITEM_WORDS] = KEY_FORM};
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
    if (field->type == ITEM_WORDS) return "a name, or a list of names";
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
    const char **names;        // [count] of the items; NULL: they have none
    const char *const **words; // [count][fields of words]
    int64_t count;             // items that are read
    int64_t copy;              // number of the copy that is read; -1: the item is not repeated
    int64_t copies;            // before it
} ItemsReader;

// ---- copies of an item ----------------------------------------------------------------------------------------------

static const char *const items_own_keys[] = {"repeat", "step"};
enum { ITEMS_OWN_KEYS = sizeof items_own_keys / sizeof items_own_keys[0] };

static const char **items_key_names(const List *list, Arena *arena, int *count)
{
    const char **names = ARENA_NEW(arena, const char *, list->n_fields + ITEMS_OWN_KEYS);
    for (int f = 0; f < list->n_fields; f++) names[f] = list->fields[f].name;
    for (int k = 0; k < ITEMS_OWN_KEYS; k++) names[list->n_fields + k] = items_own_keys[k];
    *count = list->n_fields + ITEMS_OWN_KEYS;
    return names;
}

// The value of a key in an item, also of a misspelt one; NULL: none.
static const Node *items_value(SpecReader *reader, const List *list, const Node *item, const char *key)
{
    int count;
    const Node *found = item->kind == NODE_MAPPING ? node_find(item, key) : NULL;
    if (found != NULL || item->kind != NODE_MAPPING || scalar_flooded(reader)) return found;
    const char **names = items_key_names(list, reader->arena, &count);
    for (int i = 0; found == NULL && i < item->count; i++) {
        bool known = false;
        for (int n = 0; n < count; n++) known |= strcmp(names[n], item->keys[i]->text) == 0;
        const char *meant = known ? NULL : nearest_name(item->keys[i]->text, names, count);
        if (meant != NULL && strcmp(meant, key) == 0) found = item->items[i];
    }
    return found;
}

// What copies of a list are counted by.
typedef struct ItemsWhole {
    SpecReader *reader;
    double most;
} ItemsWhole;

static bool items_whole(void *data, const Node *node, int64_t *value)
{
    SpecReader *reader = ((const ItemsWhole *)data)->reader;
    const double most = ((const ItemsWhole *)data)->most;
    const Key key = {.path = "repeat", .type = KEY_INTEGER, .unit = "1", .low = 0, .high = most};
    double number;
    const char *path = node->kind == NODE_SCALAR ? arena_format(reader->arena, "simulation.%s", node->text) : "";
    const Key *other = key_find(reader, path);
    if (other != NULL && other->type == KEY_INTEGER && other->store == STORE_DOUBLE) {
        *value = (int64_t) * (const double *)other->at;
        return true;
    }
    if (!scalar_number(reader, &key, node, &number)) return false;
    *value = (int64_t)number;
    return true;
}

// The copies that an item asks for; none if the last comes before the first. Not repeated: -1 to -1. After an error:
// the first copy.
static CopyRange items_copies(SpecReader *reader, const List *list, const Node *item)
{
    const Node *repeat = items_value(reader, list, item, "repeat");
    ItemsWhole whole = {reader, (double)list->most};
    CopyRange asked = {-1, -1};
    if (repeat == NULL || copy_range(repeat, items_whole, &whole, reader->diagnostics, &asked)) return asked;
    return (CopyRange){1, 1};
}

// A name or reference with the copy's number for every `#`, `#+1` or `#-1`; itself if there is none.
static const Node *items_numbered(const ItemsReader *items, const Node *node)
{
    enum { LONGEST = 64 }; // more than a name may have
    if (items->copy < 0 || node->kind != NODE_SCALAR || strchr(node->text, '#') == NULL) return node;
    if (strlen(node->text) > LONGEST) return node;
    Node *numbered = ARENA_NEW(items->reader->arena, Node, 1);
    *numbered = *node;
    numbered->text = copy_name(items->reader->arena, node->text, items->copy);
    return numbered;
}

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

static void items_read_name(ItemsReader *items, const ItemField *field, const Node *given)
{
    const Node *node = items_numbered(items, given);
    const char *name = node->kind == NODE_SCALAR ? node->text : "";
    if (!items_is_name(name)) {
        items_mistyped(items, field, node);
        return;
    }
    for (int64_t i = 0; i < items->count; i++) {
        if (strcasecmp(items->names[i], name) != 0) continue;
        if (strcmp(items->names[i], name) == 0)
            diagnose(items->reader->diagnostics, node, "there are two '%s' in %s", name, items->list->name);
        else
            diagnose(items->reader->diagnostics, node,
                     "'%s' and '%s' in %s: names must differ in more than case, since columns of tables are called so",
                     items->names[i], name, items->list->name);
        break;
    }
    items->names[items->count] = arena_copy(items->reader->arena, name);
}

static bool items_index(const Points *items, const char *name, double *index)
{
    for (int64_t i = 0; i < items->count; i++) {
        if (strcmp(items->names[i], name) != 0) continue;
        *index = (double)i;
        return true;
    }
    return false;
}

static void items_read_reference(const ItemsReader *items, const ItemField *field, const Node *given, double *value)
{
    const Node *node = items_numbered(items, given);
    SpecReader *reader = items->reader;
    const Key *list = key_find(reader, arena_format(reader->arena, "simulation.%s", field->words));
    const Points *others = list != NULL ? list->at : NULL;
    if (node->kind != NODE_SCALAR || others == NULL) {
        items_mistyped(items, field, node);
        return;
    }
    if (items_index(others, node->text, value)) return;
    const char *near = scalar_flooded(reader) ? NULL : nearest_name(node->text, others->names, (int)others->count);
    const bool found = near != NULL && near[0] != '\0'; // an item whose name is wrong has none
    if (found) items_index(others, near, value);
    diagnose(reader->diagnostics, node, "%s is '%s', which is not one of %s%s", field->name, node->text, field->words,
             did_you_mean(found ? near : NULL, reader->arena));
}

static const ItemField *items_field(const List *list, const char *name)
{
    for (int f = 0; f < list->n_fields; f++) {
        if (strcmp(list->fields[f].name, name) == 0) return &list->fields[f];
    }
    return NULL;
}

const char *items_choices(const Node *words, Arena *arena)
{
    enum { MOST = 1000 };
    const bool several = words != NULL && words->kind == NODE_SEQUENCE;
    const char *text = NULL;
    for (int i = 0; words != NULL && i < (several ? words->count : 1); i++) {
        const Node *word = several ? words->items[i] : words;
        if (word->kind != NODE_SCALAR || strchr(word->text, '|') != NULL || i == MOST) return NULL;
        text = text == NULL ? word->text : arena_format(arena, "%s|%s", text, word->text);
    }
    return text;
}

static void items_read_choice(const ItemsReader *items, const ItemField *field, const char *choices, const Node *node,
                              double *value)
{
    const Key key = {.path = field->name, .type = KEY_CHOICE, .words = choices, .store = STORE_DOUBLE, .at = value};
    scalar_read(items->reader, &key, node);
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

// Adds the step of a copy, times the copies before it, to a field of numbers.
static void items_add_step(const ItemsReader *items, const ItemField *field, const Node *step, double *value)
{
    const bool list = step->kind == NODE_SEQUENCE;
    const int count = list ? step->count : 1;
    if (count > field->count || step->kind == NODE_MAPPING) {
        diagnose(items->reader->diagnostics, step, "step of %s is %s, expected up to %d numbers", field->name,
                 scalar_given(step, items->reader->arena), field->count);
        return;
    }
    for (int i = 0; i < count; i++) {
        Key key = items_key(field, NULL);
        double each;
        key.low = -field->high;
        key.high = field->high;
        if (!scalar_number(items->reader, &key, list ? step->items[i] : step, &each)) return;
        const DecimalLine line = decimal_line(value[i], each, items->copies + 1);
        value[i] = decimal_line_at(&line, items->copies);
        if (value[i] >= field->low && value[i] <= field->high) continue;
        diagnose(items->reader->diagnostics, step, "%s of the copy with number %lld would be %s: out of its range",
                 field->name, (long long)items->copy, text_number(value[i]).text);
        return;
    }
}

static bool text_is_printable(const char *text)
{
    while ((unsigned char)*text >= ' ' && *text != 127) text++;
    return *text == '\0';
}

// Names keep `#` unless the item is repeated.
static void items_read_words(const ItemsReader *items, const ItemField *field, const Node *node, int index)
{
    Arena *arena = items->reader->arena;
    const bool list = node->kind == NODE_SEQUENCE;
    const int count = list ? node->count : 1;
    const char **words = ARENA_NEW(arena, const char *, count + 1);
    for (int i = 0; i < count; i++) {
        const Node *word = list ? node->items[i] : node;
        if (word->kind != NODE_SCALAR || scalar_is_empty(word) || !text_is_printable(word->text)) {
            items_mistyped(items, field, word);
            return;
        }
        words[i] = arena_copy(arena, items_numbered(items, word)->text);
    }
    items->words[items->count * list_words(items->list) + index] = words;
}

// Its index among the fields of words.
static int items_words_index(const List *list, const ItemField *field)
{
    int index = 0;
    for (const ItemField *f = list->fields; f < field; f++) index += f->type == ITEM_WORDS;
    return index;
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
    if (field->type == ITEM_WORDS) return field->least > 0;
    return field->type == ITEM_NAME || field->type == ITEM_REFERENCE || isnan(field->value);
}

static void items_step(const ItemsReader *items, const ItemField *field, const Node *item, double *value)
{
    const Node *step = items->copies > 0 ? items_value(items->reader, items->list, item, "step") : NULL;
    const Node *own = step != NULL ? node_find(step, field->name) : NULL;
    if (own != NULL) items_add_step(items, field, own, value);
}

static bool items_has(const List *list, const char *name)
{
    for (int k = 0; k < ITEMS_OWN_KEYS; k++) {
        if (strcmp(items_own_keys[k], name) == 0) return true;
    }
    for (int f = 0; f < list->n_fields; f++) {
        if (strcmp(list->fields[f].name, name) == 0) return true;
    }
    return false;
}

static const char *items_meant(const ItemsReader *items, const char *text)
{
    int count;
    const char **names = items_key_names(items->list, items->reader->arena, &count);
    return nearest_name(text, names, count);
}

// The field's value in an item, also of a misspelt key; *lost: there is an unknown key that could be any field.
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
    if (field->type == ITEM_REFERENCE && field->otherwise == NULL) *value = 0.0; // after an error: the first item
    if (node == NULL) {
        if (items_required(field) && !lost)
            diagnose(items->reader->diagnostics, item, "%s is missing here: %s, %s", field->name, field->doc,
                     items_field_expected(field, items->reader->arena));
        return;
    }
    if (field->otherwise != NULL && node->kind == NODE_SCALAR && strcmp(node->text, field->otherwise) == 0) return;
    const Key key = items_key(field, value);
    const Node *words = field->type == ITEM_NUMBERS && field->words != NULL
                            ? items_value(items->reader, items->list, item, field->words)
                            : NULL;
    const char *choices = items_choices(words, items->reader->arena);
    switch (field->type) {
    case ITEM_NAME: items_read_name(items, field, node); break;
    case ITEM_REFERENCE: items_read_reference(items, field, node, value); break;
    case ITEM_WORDS: items_read_words(items, field, node, items_words_index(items->list, field)); break;
    case ITEM_NUMBERS:
        if (choices != NULL) {
            items_read_choice(items, field, choices, node, value);
            break;
        }
        items_read_numbers(items, field, node, value);
        items_step(items, field, item, value);
        break;
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
        diagnose(items->reader->diagnostics, item->keys[i], "unknown key '%s' in an item of %s%s", given, list->name,
                 near != NULL ? did_you_mean(near, arena)
                              : arena_format(arena, ", expected %s", words_sentence(names, list->n_fields, arena)));
    }
}

static void items_wrong_step(const ItemsReader *items, const Node *key)
{
    const char *near = scalar_flooded(items->reader) ? NULL : items_meant(items, key->text);
    if (near != NULL && strcmp(near, key->text) == 0) near = NULL; // it is a key, but not of numbers or not given
    diagnose(items->reader->diagnostics, key, "step has '%s', which is not a numeric key of this item%s", key->text,
             did_you_mean(near, items->reader->arena));
}

// A step stands beside a repeat, and names fields of numbers that are given.
static void items_check_step(const ItemsReader *items, const Node *item)
{
    const Node *step = items_value(items->reader, items->list, item, "step");
    Diagnostics *diagnostics = items->reader->diagnostics;
    if (step == NULL) return;
    if (step->kind != NODE_MAPPING || items_value(items->reader, items->list, item, "repeat") == NULL) {
        diagnose(diagnostics, step,
                 "step is %s, expected what is added from one copy to the next, as {position: [1, 0, 0]}, in an item "
                 "with repeat",
                 scalar_given(step, items->reader->arena));
        return;
    }
    for (int i = 0; i < step->count; i++) {
        bool numbers = false;
        for (int f = 0; f < items->list->n_fields; f++) {
            const ItemField *field = &items->list->fields[f];
            numbers |= field->type == ITEM_NUMBERS && strcmp(field->name, step->keys[i]->text) == 0;
        }
        if (!numbers || items_value(items->reader, items->list, item, step->keys[i]->text) == NULL)
            items_wrong_step(items, step->keys[i]);
    }
}

static void items_read_fields(ItemsReader *items, const Node *item, double *value)
{
    items->names[items->count] = "";
    for (int f = 0; f < items->list->n_fields; f++) {
        items_read_field(items, &items->list->fields[f], item, value);
        value += list_field_width(&items->list->fields[f]);
    }
}

// One item with its copies. After an error the other copies repeat the values of that copy, under their own names.
static void items_read_item(ItemsReader *items, const Node *item, double *values)
{
    SpecReader *reader = items->reader;
    const int width = list_width(items->list);
    const int before = diagnostics_errors(reader->diagnostics);
    if (item->kind != NODE_MAPPING) {
        items->names[items->count] = "";
        diagnose(reader->diagnostics, item, "an item of %s is %s, expected a mapping", items->list->name,
                 scalar_given(item, reader->arena));
        items->count++;
        return;
    }
    items_check_keys(items, item);
    items_check_step(items, item);
    const CopyRange copies = items_copies(reader, items->list, item);
    for (items->copy = copies.first, items->copies = 0; items->copy <= copies.last; items->copy++, items->copies++) {
        double *value = values + items->count * width;
        const Node *name = items_value(reader, items->list, item, "name");
        if (items->copies > 0 && diagnostics_errors(reader->diagnostics) > before) {
            memcpy(value, value - width, (size_t)width * sizeof *value);
            items->names[items->count] = name != NULL ? items_numbered(items, name)->text : "";
        } else {
            items_read_fields(items, item, value);
        }
        items->count++;
    }
}

// Number of items with all copies; counting stops when there are too many.
static int64_t items_total(SpecReader *reader, const List *list, const Node *node)
{
    Diagnostics *unheard = diagnostics_new(reader->arena), *heard = reader->diagnostics;
    int64_t total = 0;
    reader->diagnostics = unheard;
    for (int i = 0; i < node->count && total <= list->most; i++) {
        const CopyRange copies = items_copies(reader, list, node->items[i]);
        total += copies.last >= copies.first ? copies.last - copies.first + 1 : 0;
    }
    reader->diagnostics = heard;
    return total;
}

// Nothing but a name is required: an item may be its name alone, or, by name, the value of its second field.
static bool items_are_bare(const List *list)
{
    bool bare = list->n_fields > 1 && list->fields[0].type == ITEM_NAME;
    for (int f = 1; f < list->n_fields; f++) bare = bare && !items_required(&list->fields[f]);
    return bare;
}

// The item that a mapping by name says: {NAME: {field: ...}}, or {NAME: value of the only other field}.
static const Node *items_of_name(const List *list, const Node *name, const Node *value, Arena *arena)
{
    const bool bare = value->kind != NODE_MAPPING && (list->n_fields == 2 || items_are_bare(list));
    const int fields = !bare ? value->count : items_are_bare(list) && scalar_is_empty(value) ? 0 : 1;
    if (!bare && value->kind != NODE_MAPPING) return value; // refused as an item
    Node *item = ARENA_NEW(arena, Node, 1), *keys = ARENA_NEW(arena, Node, 2);
    *item = *(bare ? name : value);
    item->kind = NODE_MAPPING;
    item->count = fields + 1;
    item->keys = ARENA_NEW(arena, const Node *, fields + 1);
    item->items = ARENA_NEW(arena, const Node *, fields + 1);
    for (int k = 0; k < 2; k++) {
        keys[k] = *name;
        keys[k].text = list->fields[k].name;
    }
    item->keys[0] = &keys[0];
    item->items[0] = name;
    for (int i = 0; i < fields; i++) {
        item->keys[i + 1] = bare ? &keys[1] : value->keys[i];
        item->items[i + 1] = bare ? value : value->items[i];
    }
    return item;
}

// An item that is its name alone.
static const Node *items_named(const List *list, const Node *name, Arena *arena)
{
    Node empty = *name, *none = ARENA_NEW(arena, Node, 1);
    empty.text = "";
    empty.kind = NODE_MAPPING;
    empty.count = 0;
    *none = empty;
    return items_of_name(list, name, none, arena);
}

static const Node *items_all_named(const List *list, const Node *node, Arena *arena)
{
    Node *listed = ARENA_NEW(arena, Node, 1);
    *listed = *node;
    listed->items = ARENA_NEW(arena, const Node *, node->count + 1);
    for (int i = 0; i < node->count; i++) {
        const Node *item = node->items[i];
        listed->items[i] = item->kind == NODE_SCALAR ? items_named(list, item, arena) : item;
    }
    return listed;
}

// A mapping by name as the sequence that it stands for; anything else as it is.
static const Node *items_listed(const List *list, const Node *node, Arena *arena)
{
    if (node->kind == NODE_SEQUENCE && items_are_bare(list)) return items_all_named(list, node, arena);
    if (node->kind != NODE_MAPPING || list->fields[0].type != ITEM_NAME) return node;
    Node *listed = ARENA_NEW(arena, Node, 1);
    *listed = *node;
    listed->kind = NODE_SEQUENCE;
    listed->items = ARENA_NEW(arena, const Node *, node->count + 1);
    for (int i = 0; i < node->count; i++) listed->items[i] = items_of_name(list, node->keys[i], node->items[i], arena);
    return listed;
}

const Node *items_node(SpecReader *reader, const List *list, const Node *given, int64_t item)
{
    const Node *node = items_listed(list, given, reader->arena);
    for (int i = 0; i < node->count; i++) {
        const CopyRange copies = items_copies(reader, list, node->items[i]);
        item -= copies.last >= copies.first ? copies.last - copies.first + 1 : 0;
        if (item < 0) return node->items[i];
    }
    return NULL;
}

// Words that an item must have are an empty list until they are read: after an error a model sees that list.
static void items_no_words(const ItemsReader *items, int64_t total)
{
    static const char *const none[] = {NULL};
    int index = 0;
    for (int f = 0; f < items->list->n_fields; f++) {
        const ItemField *field = &items->list->fields[f];
        if (field->type != ITEM_WORDS) continue;
        for (int64_t i = 0; i < total && items_required(field); i++)
            items->words[i * list_words(items->list) + index] = none;
        index++;
    }
}

void items_read(SpecReader *reader, const Key *key, const Node *given)
{
    const List *list = key->list;
    Points *out = key->at;
    *out = (Points){0};
    if (given == NULL) return;
    const Node *node = items_listed(list, given, reader->arena);
    if (node->kind != NODE_SEQUENCE) {
        key_mistyped(reader, key, node);
        return;
    }
    const int64_t total = node->count > list->most ? node->count : items_total(reader, list, node);
    if (total > list->most) {
        diagnose(reader->diagnostics, node, "%s has %lld items, at most %lld are allowed", key_name(key),
                 (long long)total, (long long)list->most);
        return;
    }
    double *values = ARENA_NEW(reader->arena, double, total *list_width(list));
    ItemsReader items = {.reader = reader,
                         .list = list,
                         .names = ARENA_NEW(reader->arena, const char *, total),
                         .words = ARENA_NEW(reader->arena, const char *const *, total *list_words(list) + 1)};
    items_no_words(&items, total);
    for (int i = 0; i < node->count; i++) items_read_item(&items, node->items[i], values);
    *out = (Points){.items = values, .count = items.count, .names = items.names, .words = items.words};
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

// NULL: not given
static const char *items_words_text(const Key *key, int64_t item, const ItemField *field, Arena *arena)
{
    const List *list = key->list;
    const Points *items = key->at;
    const char *const *words = items->words[item * list_words(list) + items_words_index(list, field)];
    const char *text = "[";
    if (words == NULL) return NULL;
    for (int i = 0; words[i] != NULL; i++)
        text = arena_format(arena, "%s%s%s", text, i > 0 ? ", " : "", scalar_quoted(words[i], arena));
    return arena_format(arena, "%s]", text);
}

static const char *items_one_text(const Key *key, int64_t item, Arena *arena)
{
    const Points *items = key->at;
    const List *list = key->list;
    const double *value = items->items + item * list_width(list);
    const char *text = "{";
    for (int f = 0; f < list->n_fields; f++) {
        const ItemField *field = &list->fields[f];
        const Points *others = field->type == ITEM_REFERENCE ? items_referred(key, field) : NULL;
        const char *of_field = field->type == ITEM_NAME    ? arena_format(arena, "\"%s\"", items->names[item])
                               : field->type == ITEM_WORDS ? items_words_text(key, item, field, arena)
                                                           : items_field_text(field, others, value, arena);
        value += list_field_width(field);
        if (of_field == NULL) continue;
        text = arena_format(arena, "%s%s%s: %s", text, text[1] != '\0' ? ", " : "", field->name, of_field);
    }
    return arena_format(arena, "%s}", text);
}

// ---- declared parameters --------------------------------------------------------------------------------------------

void items_declare(SpecReader *reader, const Model *model, const Node *given, Points *points)
{
    Key key = key_of_list(&model->lists[model->declares - 1], "", reader->arena);
    key.at = &points[model->n_options + model->declares - 1];
    items_read(reader, &key, given != NULL && !scalar_is_empty(given) ? given : NULL);
}

// "{value: 1, unit: [\"kg\"], range: [0.1, 10]}": the item without its name, with another value.
const char *items_declared(const Spec *spec, int index, double value, Arena *arena)
{
    const Model *model = spec->model;
    const List *list = &model->lists[model->declares - 1];
    Points items = spec->option_points[model->n_options + model->declares - 1];
    Key key = {.list = list, .at = &items};
    const double *item = items.items + index * list_width(list);
    const char *text =
        arena_format(arena, "{value: %s", value_text(configured_choices(&spec->configured, index), value).text);
    for (int f = 0; f < list->n_fields; item += list_field_width(&list->fields[f]), f++) {
        const ItemField *field = &list->fields[f];
        const bool words = field->type == ITEM_WORDS, skipped = f < 2; // its name and its value
        const char *of_field = skipped ? NULL
                               : words ? items_words_text(&key, index, field, arena)
                                       : items_field_text(field, NULL, item, arena);
        if (of_field != NULL) text = arena_format(arena, "%s, %s: %s", text, field->name, of_field);
    }
    return arena_format(arena, "%s}", text);
}

// The field of words that a field of numbers can be one of; NULL: the list has none.
static const ItemField *items_chosen_among(const List *list)
{
    for (int f = 0; f < list->n_fields; f++) {
        const ItemField *field = &list->fields[f];
        if (field->type == ITEM_NUMBERS && field->words != NULL) return items_field(list, field->words);
    }
    return NULL;
}

const char *items_identity(const Key *key, Arena *arena)
{
    const Points *items = key->at;
    const int width = list_width(key->list);
    const ItemField *choices = items_chosen_among(key->list);
    const char *text = "[";
    for (int64_t i = 0; i < items->count; i++) {
        text = arena_format(arena, "%s%s%s", text, i > 0 ? ", " : "", items->names[i]);
        for (int k = 1; k < width; k++) // the first is a default value, and stands in `parameters`
            text = arena_format(arena, "%s %s", text, text_number(items->items[i * width + k]).text);
        if (choices == NULL) continue;
        const char *words = items_words_text(key, i, choices, arena); // their order says what a stored number means
        if (words != NULL) text = arena_format(arena, "%s %s", text, words);
    }
    return arena_format(arena, "%s]", text);
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
