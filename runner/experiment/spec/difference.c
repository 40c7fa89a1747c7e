// What differs between two specs, key by key, and which differences would give existing rows another meaning. The
// canonical texts (resolve.c) are compared: they hold exactly what can change a number.
#include "forms.h"

#include <stdlib.h>
#include <string.h>

typedef struct DifferenceLine {
    const char *path, *key, *value; // path: as in the canonical text; key: as the user writes it
} DifferenceLine;

typedef struct DifferenceLines {
    DifferenceLine *items;
    int64_t count;
} DifferenceLines;

static bool difference_starts(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

// Users read "search.axis.002.k_fp" as search.over.k_fp. The number, the order of axes, is still compared.
static const char *difference_key(const char *path, Arena *arena)
{
    const FormLines *lines = form_lines(path);
    if (lines == NULL) return path;
    const char *rest = path + strlen(lines->start);
    if (strlen(rest) < (size_t)lines->digits) return path;
    rest += lines->digits;
    while (lines->digits == 0 && rest[0] == '0' && rest[1] != '\0') rest++; // points.000000007 is points.7
    return arena_format(arena, "%s%s", lines->shown, rest);
}

static int64_t difference_count(const char *text)
{
    int64_t lines = 0;
    for (; *text != '\0'; text++) lines += *text == '\n';
    return lines;
}

static DifferenceLines difference_split(const char *canonical, Arena *arena)
{
    char *rest = arena_copy(arena, canonical);
    DifferenceLines lines = {.items = ARENA_NEW(arena, DifferenceLine, difference_count(canonical) + 1)};
    for (char *line; (line = strsep(&rest, "\n")) != NULL && rest != NULL;) {
        char *value = strstr(line, " = ");
        if (value == NULL) continue;
        *value = '\0';
        lines.items[lines.count++] = (DifferenceLine){line, difference_key(line, arena), value + 3};
    }
    return lines;
}

static int difference_order(const DifferenceLine *a, const DifferenceLine *b)
{
    const int order = strcmp(a->path, b->path);
    return order != 0 ? order : strcmp(a->value, b->value);
}

static int difference_by_line(const void *a, const void *b) { return difference_order(a, b); }

static int difference_by_key(const void *a, const void *b)
{
    const int order = strcmp(((const DifferenceLine *)a)->key, ((const DifferenceLine *)b)->key);
    return order != 0 ? order : difference_order(a, b);
}

// Removes the lines that both have, from both.
static void difference_drop_equal(DifferenceLines *a, DifferenceLines *b)
{
    int64_t i = 0, j = 0, a_count = 0, b_count = 0;
    qsort(a->items, (size_t)a->count, sizeof *a->items, difference_by_line);
    qsort(b->items, (size_t)b->count, sizeof *b->items, difference_by_line);
    while (i < a->count || j < b->count) {
        const int order = i == a->count ? 1 : j == b->count ? -1 : difference_order(&a->items[i], &b->items[j]);
        if (order < 0) a->items[a_count++] = a->items[i];
        if (order > 0) b->items[b_count++] = b->items[j];
        i += order <= 0;
        j += order >= 0;
    }
    a->count = a_count;
    b->count = b_count;
    qsort(a->items, (size_t)a->count, sizeof *a->items, difference_by_key);
    qsort(b->items, (size_t)b->count, sizeof *b->items, difference_by_key);
}

// ---- what an extension may change -----------------------------------------------------------------------------------

static bool difference_is_of_method(const char *path, const SearchMethod *method)
{
    for (int i = 0; i < method->n_options; i++) {
        if (difference_starts(path, "search.") && strcmp(path + strlen("search."), method->options[i].name) == 0)
            return true;
    }
    return false;
}

// An option that limits how long a search that learns goes on: it continues where it was.
static bool difference_is_budget(const char *path, const Spec *spec)
{
    const SearchMethod *method = spec->method;
    return method->budget != NULL && difference_starts(path, "search.") &&
           method->budget(spec, path + strlen("search."));
}

// The points may change; the searched parameters, their order, and everything else may not.
static bool difference_is_free(const char *from_path, const char *to_path, const Spec *spec)
{
    const SearchMethod *method = spec->method;
    const char *path = from_path != NULL ? from_path : to_path;
    const bool both = from_path != NULL && to_path != NULL && strcmp(from_path, to_path) == 0;
    const bool one = from_path == NULL || to_path == NULL;
    const FormLines *lines = form_lines(path);
    const FormChange change = lines != NULL ? lines->change : CHANGE_NEVER;
    if (difference_is_budget(path, spec)) return true;
    if (search_learns(method) || method->whole) return false;
    if (change == CHANGE_POINTS || difference_is_of_method(path, method)) return true;
    if (method->find == NULL) return false;
    return change == CHANGE_GRID || (change == CHANGE_ADDED && (both || one)) || (change == CHANGE_VALUE && both);
}

int64_t difference_find(const Spec *stored, const Spec *given, Arena *arena, SpecChange **changes)
{
    DifferenceLines a = difference_split(stored->canonical, arena), b = difference_split(given->canonical, arena);
    int64_t i = 0, j = 0, count = 0;
    difference_drop_equal(&a, &b);
    *changes = ARENA_NEW(arena, SpecChange, a.count + b.count + 1);
    while (i < a.count || j < b.count) {
        const int order = i == a.count ? 1 : j == b.count ? -1 : strcmp(a.items[i].key, b.items[j].key);
        const DifferenceLine *from = order <= 0 ? &a.items[i++] : NULL, *to = order >= 0 ? &b.items[j++] : NULL;
        SpecChange *change = &(*changes)[count++];
        *change = (SpecChange){.key = from != NULL ? from->key : to->key,
                               .from = from != NULL ? from->value : NULL,
                               .to = to != NULL ? to->value : NULL};
        change->free = stored->method == given->method &&
                       difference_is_free(from != NULL ? from->path : NULL, to != NULL ? to->path : NULL, given);
    }
    return count;
}

// ---- among many specs -----------------------------------------------------------------------------------------------

// The value of `key` where `lines` stands, which moves on; NULL: the spec has none. Several values of a key, such as
// those of a union, are one text; of very many the first ones.
static const char *difference_take(DifferenceLines *lines, const char *key, Arena *arena)
{
    enum { LONG = 4096 };
    const char *value = NULL;
    for (; lines->count > 0 && strcmp(lines->items->key, key) == 0; lines->items++, lines->count--) {
        if (value == NULL)
            value = lines->items->value;
        else if (strlen(value) < LONG)
            value = arena_format(arena, "%s; %s", value, lines->items->value);
    }
    return value;
}

// The first key of all lines that are left; NULL: none is.
static const char *difference_first(const DifferenceLines *lines, int n)
{
    const char *first = NULL;
    for (int i = 0; i < n; i++) {
        if (lines[i].count > 0 && (first == NULL || strcmp(lines[i].items->key, first) < 0))
            first = lines[i].items->key;
    }
    return first;
}

static bool difference_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

int64_t difference_among(const char *const *canonical, int n, int64_t most, Arena *arena, SpecVariety **varieties)
{
    DifferenceLines *lines = ARENA_NEW(arena, DifferenceLines, n);
    const char **value = ARENA_NEW(arena, const char *, n);
    int64_t count = 0;
    *varieties = ARENA_NEW(arena, SpecVariety, most);
    for (int i = 0; i < n; i++) {
        lines[i] = difference_split(canonical[i], arena);
        qsort(lines[i].items, (size_t)lines[i].count, sizeof *lines[i].items, difference_by_key);
    }
    for (const char *key; (key = difference_first(lines, n)) != NULL;) {
        bool same = true;
        for (int i = 0; i < n; i++) {
            value[i] = difference_take(&lines[i], key, arena);
            same = same && difference_same(value[0], value[i]);
        }
        if (same) continue;
        if (count++ >= most) continue;
        (*varieties)[count - 1] = (SpecVariety){.key = key, .value = value};
        value = ARENA_NEW(arena, const char *, n);
    }
    return count;
}

// ---- printing -------------------------------------------------------------------------------------------------------

// The part of a long value that begins a little before its first difference from another.
typedef struct DifferencePart {
    const char *before, *text, *after;
    int bytes;
} DifferencePart;

static DifferencePart difference_part(const char *value, const char *other)
{
    enum { WIDE = 100, BEFORE = 30 };
    size_t from = 0, length = strlen(value);
    while (value[from] != '\0' && value[from] == other[from]) from++;
    from = length <= WIDE || from <= BEFORE ? 0 : from - BEFORE;
    while (from > 0 && ((unsigned char)value[from] & 0xC0) == 0x80) from--; // not within a character
    const size_t left = length - from;
    return (DifferencePart){from > 0 ? "..." : "", value + from, left > WIDE ? "..." : "",
                            left > WIDE ? WIDE : (int)left};
}

void difference_print(const SpecChange *changes, int64_t count, FILE *out)
{
    enum { SHOWN_MAX = 40 };
    for (int64_t i = 0; i < count && i < SHOWN_MAX; i++) {
        const SpecChange *change = &changes[i];
        const char *from = change->from != NULL ? change->from : "(none)", *to = change->to;
        if (to == NULL) to = "(none)";
        if (strcmp(from, to) == 0) to = "the same at another index";
        const DifferencePart a = difference_part(from, to), b = difference_part(to, from);
        fprintf(out, "  %s: %s%.*s%s -> %s%.*s%s\n", change->key, a.before, a.bytes, a.text, a.after, b.before, b.bytes,
                b.text, b.after);
    }
    if (count > SHOWN_MAX) fprintf(out, "  and %s more\n", text_count(count - SHOWN_MAX).text);
}
