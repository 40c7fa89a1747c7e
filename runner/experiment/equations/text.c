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

static void text_node(SystemText *out, const Node *node)
{
    if (node->kind == NODE_SCALAR) {
        if (text_is_plain(node->text))
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
