// Equations of a spec: a mapping in it, or in a file of their own. The resolved spec has them in one line.
#include "../equations/equations.h"
#include "keys.h"

// The mapping in the file that `name` names; NULL after an error.
static const Node *system_key_file(SpecReader *reader, const Node *name)
{
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    if (!spec_read_file(reader->folder, name, YAML_BYTES_MAX, reader->arena, reader->diagnostics, source)) return NULL;
    return yaml_parse(source, reader->arena, reader->diagnostics);
}

void system_key_read(SpecReader *reader, const Key *key, const Node *node)
{
    Points *points = key->at;
    *points = (Points){0};
    if (node == NULL) return;
    if (node->kind == NODE_SEQUENCE || scalar_is_empty(node)) {
        key_mistyped(reader, key, node);
        return;
    }
    if (node->kind == NODE_SCALAR) node = system_key_file(reader, node);
    if (node == NULL) return;
    node = system_tables(reader, node);
    points->system = equations_read(node, reader->arena, reader->diagnostics);
    points->count = points->system != NULL;
}

const char *system_key_text(const Key *key)
{
    const Points *points = key->at;
    return points->count > 0 ? points->system->text : "none";
}
