// A control law of a spec: a mapping in it, or in a file of its own. It is read when the model's columns and parameters
// are known. The resolved spec has it in one line.
#include "../equations/equations.h"
#include "keys.h"

#include <string.h>

void law_key_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *points = key->at;
    *points = (Points){0};
    if (node == NULL || (node->kind == NODE_SCALAR && strcmp(node->text, "none") == 0)) return;
    if (node->kind == NODE_SEQUENCE || scalar_is_empty(node)) {
        key_mistyped(reader, key, node);
        return;
    }
    if (node->kind == NODE_SCALAR) node = system_key_file(reader, node);
    if (node == NULL) return;
    node = system_tables(reader, node);
    const char **text = ARENA_NEW(reader->arena, const char *, 1);
    text[0] = equations_text(node, reader->arena);
    points->names = text;
    points->count = 1;
    reader->law = node;
}

const char *law_key_text(const Key *key)
{
    const Points *points = key->at;
    return points->count > 0 ? points->names[0] : "none";
}

// Whether the word stands in a node, as a key or as a value.
static bool law_stands_in(const Node *node)
{
    bool stands = node->kind == NODE_SCALAR && strcmp(node->text, "law") == 0;
    for (int i = 0; node->kind != NODE_SCALAR && i < node->count && !stands; i++)
        stands =
            (node->kind == NODE_MAPPING && strcmp(node->keys[i]->text, "law") == 0) || law_stands_in(node->items[i]);
    return stands;
}

bool law_is_given(const SpecReader *reader)
{
    const Node *simulation = node_find(reader->root, "simulation");
    return reader->law != NULL || (simulation != NULL && law_stands_in(simulation));
}

void law_read(SpecReader *reader)
{
    Configured *configured = &reader->spec->configured;
    Law *law = ARENA_NEW(reader->arena, Law, 1);
    Scope frames = {0};
    if (reader->law == NULL || configured->n_outputs == 0) return;
    frames.frames = robot_frames(reader, &frames.n_frames);
    const bool nameless = reader->nameless;
    reader->nameless = true; // in what follows, if there is an error
    if (!equations_read_law(reader->law, configured, &frames, reader->arena, reader->diagnostics, law)) return;
    reader->nameless = nameless;
    law_attach(law, configured, reader->arena);
}
