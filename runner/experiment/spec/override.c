// --set key.path=value: replaces or adds one node of the spec's tree. The tree is not changed: the mappings on the path
// are copied, so that the nodes of the file keep their places for messages.
#include "keys.h"

#include <string.h>

// A scalar node for the part [start, start + length) of the path.
static const Node *override_key(const Source *source, const char *start, size_t length, Arena *arena)
{
    Node *node = ARENA_NEW(arena, Node, 1);
    *node = (Node){.kind = NODE_SCALAR,
                   .source = source,
                   .line = 1,
                   .column = (int)(start - source->text) + 1,
                   .width = length > 0 ? (int)length : 1,
                   .text = arena_format(arena, "%.*s", (int)length, start)};
    return node;
}

// `mapping` with `key` set to `value`; a key that is there keeps its place in the order.
static const Node *override_with(const Node *mapping, const Node *key, const Node *value, Arena *arena)
{
    Node *node = ARENA_NEW(arena, Node, 1);
    *node = *mapping;
    node->keys = ARENA_NEW(arena, const Node *, mapping->count + 1);
    node->items = ARENA_NEW(arena, const Node *, mapping->count + 1);
    int place = mapping->count;
    for (int i = 0; i < mapping->count; i++) {
        node->keys[i] = mapping->keys[i];
        node->items[i] = mapping->items[i];
        if (strcmp(mapping->keys[i]->text, key->text) == 0) place = i;
    }
    node->keys[place] = key;
    node->items[place] = value;
    node->count = place == mapping->count ? mapping->count + 1 : mapping->count;
    return node;
}

// `at`: where in the path we are; `mapping` NULL: there is none yet. NULL after an error.
static const Node *override_descend(const Node *mapping, const Source *source, const char *at, const char *end,
                                    const Node *value, Arena *arena, Diagnostics *diagnostics)
{
    if (mapping == NULL || scalar_is_empty(mapping)) {
        Node *empty = ARENA_NEW(arena, Node, 1);
        *empty = (Node){.kind = NODE_MAPPING, .source = source, .line = 1, .column = 1, .width = 1};
        mapping = empty;
    }
    size_t length = strcspn(at, ".");
    if (at + length > end) length = (size_t)(end - at);
    const Node *key = override_key(source, at, length, arena);
    if (length == 0 || mapping->kind != NODE_MAPPING) {
        diagnose(diagnostics, key,
                 length == 0 ? "a part of the key is empty" : "the value above this key in the spec is not a mapping");
        return NULL;
    }
    if (at + length < end)
        value =
            override_descend(node_find(mapping, key->text), source, at + length + 1, end, value, arena, diagnostics);
    return value != NULL ? override_with(mapping, key, value, arena) : NULL;
}

const Node *override_apply(const Node *root, const char *override, Arena *arena, Diagnostics *diagnostics)
{
    Source *source = ARENA_NEW(arena, Source, 1);
    *source = (Source){.file = "--set", .text = override};
    const char *equals = strchr(override, '=');
    int depth = 1;
    for (const char *p = override; p < equals; p++) depth += *p == '.';
    if (depth > YAML_DEPTH_MAX) {
        diagnose_at(diagnostics, source, 1, 1, 1, "the key has more than %d parts", YAML_DEPTH_MAX);
        return root;
    }
    if (equals == NULL || equals == override || equals[1] == '\0') {
        diagnose_at(diagnostics, source, 1, 1, 1, "expected key.path=value, for example search.over.thrust=[25, 30]");
        return root;
    }
    // The value is read with blanks in the key's place, so that its columns are those of the whole text.
    char *value_text = arena_copy(arena, override);
    memset(value_text, ' ', (size_t)(equals - override) + 1);
    source->text = value_text;
    const Node *value = yaml_parse(source, arena, diagnostics);
    source->text = override;
    if (value == NULL) return root;
    const Node *changed = override_descend(root, source, override, equals, value, arena, diagnostics);
    return changed != NULL ? changed : root;
}
