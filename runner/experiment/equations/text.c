// A system as text: what the resolved spec has.
#include "equations.h"

#include <string.h>

typedef struct SystemText {
    char *text; // NULL: it is measured
    size_t used;
} SystemText;

static void text_put(SystemText *out, const char *text, size_t length)
{
    if (out->text != NULL) memcpy(out->text + out->used, text, length);
    out->used += length;
}

// In double quotes, with the escapes of YAML that it needs.
static void text_quote(SystemText *out, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    text_put(out, "\"", 1);
    for (const char *c = text; *c != '\0'; c++) {
        const unsigned char code = (unsigned char)*c;
        const char escape[4] = {'\\', 'x', digits[code >> 4], digits[code & 15]};
        if (*c == '"' || *c == '\\') text_put(out, "\\", 1);
        if (code < ' ' || code == 127)
            text_put(out, escape, 4);
        else
            text_put(out, c, 1);
    }
    text_put(out, "\"", 1);
}

static bool text_is_plain(const char *text)
{
    return text[0] != '\0' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+") == strlen(text);
}

static const Source text_written = {0}; // of scalars that are written as they stand

static void text_node(SystemText *out, const Node *node)
{
    if (node->kind == NODE_SCALAR) {
        if (node->source == &text_written || text_is_plain(node->text))
            text_put(out, node->text, strlen(node->text));
        else
            text_quote(out, node->text);
        return;
    }
    const bool mapping = node->kind == NODE_MAPPING;
    text_put(out, mapping ? "{" : "[", 1);
    for (int i = 0; i < node->count; i++) {
        if (i > 0) text_put(out, ", ", 2);
        if (mapping) {
            text_node(out, node->keys[i]);
            text_put(out, ": ", 2);
        }
        text_node(out, node->items[i]);
    }
    text_put(out, mapping ? "}" : "]", 1);
}

const char *equations_text(const Node *node, Arena *arena)
{
    SystemText out = {0};
    text_node(&out, node);
    out.text = arena_take(arena, out.used + 1, 1);
    out.used = 0;
    text_node(&out, node);
    return out.text;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

const Node *equations_written(Arena *arena, const char *text)
{
    Node *node = ARENA_NEW(arena, Node, 1);
    *node = (Node){.kind = NODE_SCALAR, .source = &text_written, .text = text};
    return node;
}

static void text_numbers(SystemText *out, const double *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        const Text32 number = text_number(numbers[i]);
        text_put(out, i > 0 ? ", " : "[", i > 0 ? 2 : 1);
        text_put(out, number.text, strlen(number.text));
    }
    text_put(out, "]", 1);
}

typedef struct TextRows {
    const double *const *row; // [count]
    const int *size;          // [count]
    int count;
    bool nested; // a list of lists
} TextRows;

static void text_rows(SystemText *out, const TextRows *rows)
{
    for (int i = 0; i < rows->count; i++) {
        if (rows->nested) text_put(out, i > 0 ? ", " : "[", i > 0 ? 2 : 1);
        text_numbers(out, rows->row[i], rows->size[i]);
    }
    if (rows->nested) text_put(out, "]", 1);
}

static const Node *text_of_rows(Arena *arena, const TextRows *rows)
{
    SystemText out = {0};
    text_rows(&out, rows);
    out.text = arena_take(arena, out.used + 1, 1);
    out.used = 0;
    text_rows(&out, rows);
    return equations_written(arena, out.text);
}

const Node *equations_written_lists(Arena *arena, const double *first, int n, const double *second, int m)
{
    const double *const row[2] = {first, second};
    const int size[2] = {n, m};
    return text_of_rows(arena, &(TextRows){row, size, m > 0 ? 2 : 1, m > 0});
}

const Node *equations_written_rows(Arena *arena, const double *numbers, int rows, int columns)
{
    const int count = columns > 0 ? rows : 1;
    const double **row = ARENA_NEW(arena, const double *, count);
    int *size = ARENA_NEW(arena, int, count);
    for (int i = 0; i < count; i++) {
        row[i] = columns > 0 ? numbers + (int64_t)i * columns : numbers; // there may be none
        size[i] = columns > 0 ? columns : rows;
    }
    return text_of_rows(arena, &(TextRows){row, size, count, columns > 0});
}
