// Value forms: the values of a searched parameter, or the range that it is drawn from. An axis is never expanded: it
// knows its count and gives value i.
#include "keys.h"

#include <math.h>
#include <string.h>

#define VALUE_FORM_ROW(name) &values_##name,
static const ValueForm *const values_forms[] = {VALUE_FORMS(VALUE_FORM_ROW)};
#undef VALUE_FORM_ROW
enum { VALUE_FORMS_COUNT = sizeof values_forms / sizeof *values_forms };

const ValueForm *const *value_forms(int *count)
{
    *count = VALUE_FORMS_COUNT;
    return values_forms;
}

// ---- reading --------------------------------------------------------------------------------------------------------

static bool values_read_list(SpecReader *reader, const Key *key, const Node *node, Values *out)
{
    double *list = ARENA_NEW(reader->arena, double, node->count);
    bool ok = node->count > 0;
    if (!ok) diagnose(reader->diagnostics, node, "%s has no values, give at least one", key_name(key));
    for (int i = 0; i < node->count; i++) {
        list[i] = NAN; // what is wrong equals nothing
        ok &= scalar_of_parameter(reader, key, node->items[i], &list[i]);
    }
    *out = (Values){.list = list, .count = node->count, .choices = key->type == KEY_CHOICE ? key->words : NULL};
    return ok;
}

// Values of a parameter that has words: [adam, sgd], or all of them.
static bool values_read_words(SpecReader *reader, const Key *key, const Node *node, Values *out)
{
    const bool all = node->kind == NODE_SCALAR && strcmp(node->text, "all") == 0;
    const int count = words_count(key->words);
    if (node->kind == NODE_SEQUENCE) return values_read_list(reader, key, node, out);
    if (!all) {
        diagnose(reader->diagnostics, node,
                 "values of %s are words, expected a list of %s, or all; a single word is fixed in `%.*s`",
                 key_name(key), key_expected(key, reader->arena), (int)strcspn(key->path, "."), key->path);
        return false;
    }
    double *list = ARENA_NEW(reader->arena, double, count);
    for (int i = 0; i < count; i++) list[i] = i;
    *out = (Values){.list = list, .count = count, .choices = key->words};
    return true;
}

// The words must be neighbours in their declaration, in any order.
bool values_words_as_range(SpecReader *reader, const Key *key, const Node *node, Values *values)
{
    double low, high;
    values_ends(values, &low, &high);
    bool each = values->count > 1;
    for (double x = low; x <= high; x++) {
        int64_t times = 0;
        for (int64_t i = 0; i < values->count; i++) times += values->list[i] == x;
        each = each && times == 1;
    }
    if (each) {
        *values = values_prepared(
            (Values){.form = &values_range, .low = low, .high = high, .integer = true, .choices = values->choices});
        return true;
    }
    diagnose(reader->diagnostics, node,
             "method %s searches words of %s in their order: give two or more that follow each other in its "
             "declaration, each once, or all",
             reader->spec->method->name, key_name(key));
    return false;
}

bool values_read_points(SpecReader *reader, const Key *key, const Node *node, Values *values)
{
    static const Key points_key = {.path = "points", .type = KEY_INTEGER, .low = 2, .high = (double)INTEGER_MAX};
    double points = 0;
    if (!scalar_number(reader, &points_key, node->items[2], &points)) return false;
    values->count = (int64_t)points;
    if (values->low != values->high) return true;
    diagnose(reader->diagnostics, node, "both ends of %s are %s, for one value write [%s]", key_name(key),
             text_number(values->low).text, text_number(values->low).text);
    return false;
}

static bool values_read_form(SpecReader *reader, const Key *key, const Node *mapping, const ValueForm *form,
                             const Node *node, Values *out)
{
    if (node->kind != NODE_SEQUENCE || node->count != form->n_arguments) {
        diagnose(reader->diagnostics, node, "%s of %s is %s, expected %s", form->name, key_name(key),
                 node->kind == NODE_SEQUENCE ? arena_format(reader->arena, "a list of %d", node->count)
                                             : scalar_given(node, reader->arena),
                 form->arguments);
        return false;
    }
    Values values = {.form = form};
    bool ok = scalar_number(reader, key, node->items[0], &values.low);
    ok &= scalar_number(reader, key, node->items[1], &values.high);
    if (ok && !isfinite(values.high - values.low)) {
        diagnose(reader->diagnostics, node, "the ends of %s are too far apart", key_name(key));
        ok = false;
    }
    if (!ok) return false;
    if (!form->read(reader, key, mapping, node, &values)) return false;
    *out = values_prepared(values);
    return true;
}

// "linspace, logspace, arange, range or derive"
static const char *values_expected(Arena *arena)
{
    const char *names[VALUE_FORMS_COUNT + 1];
    for (int f = 0; f < VALUE_FORMS_COUNT; f++) names[f] = values_forms[f]->name;
    names[VALUE_FORMS_COUNT] = "derive";
    return words_sentence(names, VALUE_FORMS_COUNT + 1, arena);
}

// "only a range takes scale, integer and sigma"
static const char *values_companions(Arena *arena)
{
    const char *text = "";
    for (int f = 0; f < VALUE_FORMS_COUNT; f++) {
        const ValueForm *form = values_forms[f];
        const int count = form->companions != NULL ? words_count(form->companions) : 0;
        for (int i = 0; i < count; i++)
            text = arena_format(arena, "%s%s%s",
                                i > 0 ? text : arena_format(arena, "%sonly a %s takes ", text, form->name),
                                i == 0           ? ""
                                : i == count - 1 ? " and "
                                                 : ", ",
                                words_at(form->companions, i, arena));
    }
    return text;
}

// All keys that a mapping of values may have. The first of equally near ones is suggested, so shorter names stand
// before longer ones: 'rrange' suggests range, not arange.
static const char **values_keys(int *count, Arena *arena)
{
    enum { COMPANIONS_MAX = 8, LONGEST = 16 };
    const char **names = ARENA_NEW(arena, const char *, VALUE_FORMS_COUNT *(1 + COMPANIONS_MAX) + 1);
    *count = 0;
    for (size_t length = 1; length <= LONGEST; length++) {
        for (int f = 0; f < VALUE_FORMS_COUNT; f++) {
            if (strlen(values_forms[f]->name) == length) names[(*count)++] = values_forms[f]->name;
        }
    }
    names[(*count)++] = "derive";
    for (int f = 0; f < VALUE_FORMS_COUNT; f++) {
        const char *words = values_forms[f]->companions;
        for (int i = 0; words != NULL && i < words_count(words) && i < COMPANIONS_MAX; i++)
            names[(*count)++] = words_at(words, i, arena);
    }
    return names;
}

// The form that a key of such a mapping names; NULL: a companion of one (*ok), or an error.
static const ValueForm *values_form_key(SpecReader *reader, const Key *key, const Node *given, bool *ok)
{
    int count;
    const char **names = values_keys(&count, reader->arena), *name = given->text;
    const char *near = nearest_name(name, names, count);
    *ok = near != NULL && strcmp(near, name) == 0;
    for (int f = 0; f < VALUE_FORMS_COUNT; f++) {
        if (strcmp(name, values_forms[f]->name) == 0) return values_forms[f];
    }
    if (*ok) return NULL;
    diagnose(reader->diagnostics, given, "unknown key '%s' in %s%s", name, key_name(key),
             near != NULL ? did_you_mean(near, reader->arena)
                          : arena_format(reader->arena, ", expected %s", values_expected(reader->arena)));
    return NULL;
}

// The form of a mapping, and its argument; NULL after an error.
static const ValueForm *values_form_of(SpecReader *reader, const Key *key, const Node *mapping, const Node **argument)
{
    const ValueForm *found = NULL;
    for (int i = 0; i < mapping->count; i++) {
        bool ok;
        const ValueForm *form = values_form_key(reader, key, mapping->keys[i], &ok);
        if (!ok) return NULL;
        if (form != NULL && found != NULL) {
            diagnose(reader->diagnostics, mapping->keys[i], "%s has both %s and %s, give one", key_name(key),
                     found->name, form->name);
            return NULL;
        }
        if (form != NULL) *argument = mapping->items[i];
        if (form != NULL) found = form;
    }
    if (found == NULL)
        diagnose(reader->diagnostics, mapping, "%s has no values, expected a list or %s", key_name(key),
                 values_expected(reader->arena));
    else if (found->companions == NULL && mapping->count > 1) {
        diagnose(reader->diagnostics, mapping, "%s of %s stands alone, %s", found->name, key_name(key),
                 values_companions(reader->arena));
        found = NULL;
    }
    return found;
}

bool values_read(SpecReader *reader, const Key *key, const Node *node, Values *out)
{
    if (key->type == KEY_CHOICE) return values_read_words(reader, key, node, out);
    if (node->kind == NODE_SEQUENCE) return values_read_list(reader, key, node, out);
    if (node->kind == NODE_SCALAR) {
        diagnose(reader->diagnostics, node,
                 "%s is %s, expected values such as [1, 2, 3] or {linspace: [first, last, points]}; a single value is "
                 "fixed in `%.*s`",
                 key_name(key), scalar_given(node, reader->arena), (int)strcspn(key->path, "."), key->path);
        return false;
    }
    const Node *argument = NULL;
    const ValueForm *form = values_form_of(reader, key, node, &argument);
    return form != NULL && values_read_form(reader, key, node, form, argument, out);
}

// ---- points ---------------------------------------------------------------------------------------------------------

static bool points_read_one(SpecReader *reader, const Key *key, const Node *node, const double *before, double *xy)
{
    if (node->kind != NODE_SEQUENCE || node->count != 2) {
        diagnose(reader->diagnostics, node, "a point of %s is %s, expected two numbers [x, y]", key_name(key),
                 node->kind == NODE_SEQUENCE ? arena_format(reader->arena, "a list of %d", node->count)
                                             : scalar_given(node, reader->arena));
        return false;
    }
    const Key coordinate = {.path = key->path, .type = KEY_NUMBER, .unit = "", .low = key->low, .high = key->high};
    if (!scalar_number(reader, &coordinate, node->items[0], &xy[0])) return false;
    if (!scalar_number(reader, &coordinate, node->items[1], &xy[1])) return false;
    if (before == NULL || xy[0] > before[0]) return true;
    diagnose(reader->diagnostics, node->items[0], "x of %s must increase: %s is not above %s", key_name(key),
             text_number(xy[0]).text, text_number(before[0]).text);
    return false;
}

void points_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *points = key->at;
    *points = (Points){0};
    if (node == NULL) return;
    if (node->kind != NODE_SEQUENCE) {
        key_mistyped(reader, key, node);
        return;
    }
    if (node->count > POINTS_MAX) {
        diagnose(reader->diagnostics, node, "%s has %d points, at most %d are allowed", key_name(key), node->count,
                 POINTS_MAX);
        return;
    }
    double *xy = ARENA_NEW(reader->arena, double, 2 * node->count);
    for (int i = 0; i < node->count; i++) {
        const double *before = i > 0 ? xy + 2 * (i - 1) : NULL;
        if (!points_read_one(reader, key, node->items[i], before, xy + 2 * i)) return;
    }
    *points = (Points){.xy = xy, .count = node->count};
}

void numbers_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *numbers = key->at;
    *numbers = (Points){0};
    if (node == NULL) return;
    if (node->kind != NODE_SEQUENCE || node->count > POINTS_MAX) {
        double *ends = ARENA_NEW(reader->arena, double, 2); // no errors follow from the missing list
        ends[0] = key->low;
        ends[1] = key->high;
        *numbers = (Points){.numbers = ends, .count = 2};
        diagnose(reader->diagnostics, node, "%s is %s, expected %s", key_name(key),
                 node->kind == NODE_SEQUENCE ? arena_format(reader->arena, "a list of %d", node->count)
                                             : scalar_given(node, reader->arena),
                 key_expected(key, reader->arena));
        return;
    }
    const Key one = {.path = key->path, .type = KEY_NUMBER, .unit = key->unit, .low = key->low, .high = key->high};
    double *values = ARENA_NEW(reader->arena, double, node->count);
    for (int i = 0; i < node->count; i++) scalar_number(reader, &one, node->items[i], &values[i]);
    *numbers = (Points){.numbers = values, .count = node->count};
}

// ---- words ----------------------------------------------------------------------------------------------------------

enum { WORD_MAX = 64, WORDS_MAX = 256 };

static bool word_is_valid(const Node *node)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-";
    if (node->kind != NODE_SCALAR) return false;
    const size_t length = strlen(node->text);
    return length > 0 && length <= WORD_MAX && strspn(node->text, allowed) == length;
}

// Adds a word where it belongs in the order, once.
static void word_add(const char **words, int64_t *count, const char *word)
{
    int64_t index = *count;
    while (index > 0 && strcmp(words[index - 1], word) > 0) index--;
    if (index > 0 && strcmp(words[index - 1], word) == 0) return;
    memmove(&words[index + 1], &words[index], (size_t)(*count - index) * sizeof *words);
    words[index] = word;
    ++*count;
}

void words_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *words = key->at;
    *words = (Points){0};
    if (node == NULL || scalar_is_empty(node)) return;
    if (node->kind != NODE_SEQUENCE || node->count > WORDS_MAX) {
        key_mistyped(reader, key, node);
        return;
    }
    const char **list = ARENA_NEW(reader->arena, const char *, node->count + 1);
    for (int i = 0; i < node->count; i++) {
        if (word_is_valid(node->items[i]))
            word_add(list, &words->count, node->items[i]->text);
        else
            diagnose(reader->diagnostics, node->items[i],
                     "%s holds %s, expected words of up to %d of A-Z a-z 0-9 _ . : -", key_name(key),
                     scalar_given(node->items[i], reader->arena), WORD_MAX);
    }
    words->names = list;
}

// ---- texts in their order -------------------------------------------------------------------------------------------

enum { ARGUMENTS_MAX = 64, ARGUMENT_LENGTH = 1024 };

static bool argument_is_valid(const Node *node)
{
    if (node->kind != NODE_SCALAR || strlen(node->text) > ARGUMENT_LENGTH) return false;
    for (const char *c = node->text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) return false;
    }
    return true;
}

void arguments_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *arguments = key->at;
    *arguments = (Points){0};
    if (node == NULL || scalar_is_empty(node)) return;
    if (node->kind != NODE_SEQUENCE || node->count > ARGUMENTS_MAX || node->count == 0 ||
        scalar_is_empty(node->items[0])) {
        key_mistyped(reader, key, node);
        return;
    }
    const char **list = ARENA_NEW(reader->arena, const char *, node->count);
    for (int i = 0; i < node->count; i++) {
        if (!argument_is_valid(node->items[i]))
            diagnose(reader->diagnostics, node->items[i], "%s holds %s, which is not a text of up to %d bytes",
                     key_name(key), scalar_given(node->items[i], reader->arena), ARGUMENT_LENGTH);
        list[i] = node->items[i]->kind == NODE_SCALAR ? node->items[i]->text : "";
    }
    *arguments = (Points){.names = list, .count = node->count};
}

const char *texts_text(const Points *texts, Arena *arena)
{
    const char *text = "[";
    for (int64_t i = 0; i < texts->count; i++)
        text = arena_format(arena, "%s%s%s", text, i > 0 ? ", " : "", scalar_quoted(texts->names[i], arena));
    return arena_format(arena, "%s]", text);
}

// ---- writing --------------------------------------------------------------------------------------------------------

static const char *values_words_text(const Values *values, Arena *arena)
{
    const bool range = values_are_range(values);
    const int64_t count = range ? (int64_t)(values->high - values->low) + 1 : values->count;
    char *text = arena_take(arena, (size_t)count * (sizeof(ValueText) + 1) + 3, 1), *p = stpcpy(text, "[");
    for (int64_t i = 0; i < count; i++) {
        const ValueText word = value_text(values->choices, range ? values->low + (double)i : values->list[i]);
        p = stpcpy(stpcpy(p, i > 0 ? ", " : ""), word.text);
    }
    stpcpy(p, "]");
    return text;
}

static const char *values_list_text(const Values *values, Arena *arena)
{
    const size_t size = (size_t)values->count * 32 + 3; // 24 characters a number at most, and ", "
    char *text = arena_take(arena, size, 1), *p = text;
    *p++ = '[';
    for (int64_t i = 0; i < values->count; i++) {
        const Text32 number = text_number(values->list[i]);
        p = stpcpy(stpcpy(p, i > 0 ? ", " : ""), number.text);
    }
    stpcpy(p, "]");
    return text;
}

const char *values_text(const Values *values, Arena *arena)
{
    if (values->choices != NULL) return values_words_text(values, arena);
    return values->form == NULL ? values_list_text(values, arena) : values->form->text(values, arena);
}

const char *values_triple_text(const Values *values, const char *third, Arena *arena)
{
    return arena_format(arena, "{%s: [%s, %s, %s]}", values->form->name, text_number(values->low).text,
                        text_number(values->high).text, third);
}

const char *values_points_text(const Values *values, Arena *arena)
{
    return values_triple_text(values, arena_format(arena, "%lld", (long long)values->count), arena);
}

const char *numbers_text(const Points *numbers, Arena *arena)
{
    return values_list_text(&(Values){.list = numbers->numbers, .count = numbers->count}, arena);
}

const char *points_text(const Points *points, Arena *arena)
{
    const size_t size = (size_t)points->count * 64 + 3; // 24 characters a number at most, and "[, ], "
    char *text = arena_take(arena, size, 1), *p = stpcpy(text, "[");
    for (int64_t i = 0; i < points->count; i++) {
        const Text32 x = text_number(points->xy[2 * i]), y = text_number(points->xy[2 * i + 1]);
        p = stpcpy(stpcpy(p, i > 0 ? ", [" : "["), x.text);
        p = stpcpy(stpcpy(stpcpy(p, ", "), y.text), "]");
    }
    stpcpy(p, "]");
    return text;
}
