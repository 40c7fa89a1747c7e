// YAML as a tree of nodes that know their places in the text, on libyaml's events.
#ifndef HOPSCOTCH_IO_YAML_H
#define HOPSCOTCH_IO_YAML_H

#include "../sim/sim.h"

typedef enum NodeKind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING } NodeKind;

typedef struct Source {
    const char *file; // as the user named it, or "--set key.path=value"
    const char *text; // whole, NUL-terminated
    const char *name; // of a file that a spec names, relative to that spec's folder; else NULL
    size_t most;      // limit of yaml_parse, bytes; 0: YAML_BYTES_MAX
} Source;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    const Source *source;
    int line, column;   // from 1; column counts characters
    int width;          // characters to underline, at least 1
    const char *text;   // scalar
    bool quoted;        // scalar was in quotes: a text even if it looks like a number
    int count;          // items of a sequence, pairs of a mapping
    const Node **keys;  // mapping: scalar keys
    const Node **items; // sequence items, mapping values
};

typedef struct Diagnostics Diagnostics;

enum { YAML_BYTES_MAX = 1 << 20, YAML_DEPTH_MAX = 32, YAML_NODES_MAX = 100000, YAML_ANCHORS_MAX = 256 };

// Limits: 1 MiB, depth 32, 100,000 nodes with aliases expanded. Refused, by name and place: duplicate keys, tabs in
// indentation, bad UTF-8, NUL, several documents, tags, merge keys, and aliases to an open anchor. The tree is in the
// arena (at most 32 MiB). All errors that can be found go to `diagnostics`; see diagnostics_errors(). NULL if they
// leave no tree. After a duplicate key, a merge key, a tag or a second document, the tree without it is returned, so
// that the caller can find its own errors in the same pass.
const Node *yaml_parse(const Source *source, Arena *arena, Diagnostics *diagnostics);
// False, with a diagnostic at its place, if the `size` bytes read into source->text hold a NUL. Call it for texts from
// files before yaml_parse, which stops at a NUL.
bool source_check(const Source *source, size_t size, Diagnostics *diagnostics);
const Node *node_find(const Node *mapping, const char *key); // NULL if absent or not a mapping

#endif
