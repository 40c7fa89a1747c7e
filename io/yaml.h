// YAML as a tree of nodes that know their places in the text, on libyaml's events.
#ifndef HOPSCOTCH_IO_YAML_H
#define HOPSCOTCH_IO_YAML_H

#include "../sim/sim.h"

typedef enum NodeKind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING } NodeKind;

typedef struct Source {
    const char *file; // name for messages, as the user wrote it, or "--set key.path=value"
    const char *text; // the whole text, NUL-terminated
    const char *name; // for a file that a spec names: relative to the spec's folder; else NULL
    size_t most;      // size limit of yaml_parse, bytes; 0: YAML_BYTES_MAX
} Source;

// That a node was written out of another one: a copy with a number (`repeat`).
typedef struct NodeCopy {
    const char *number;  // behind messages: " (# = 3)"
    const char *written; // of a scalar whose text has numbers: the text that stands in the source; else NULL
    const int *places;   // [strlen(text) + 1] of the characters of its text, in `written`
    bool muted;          // what is wrong with it is reported: nothing more is said of it
} NodeCopy;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    const Source *source;
    int line, column;     // from 1; column counts characters
    int width;            // characters to underline, at least 1
    const char *text;     // scalar
    bool quoted;          // scalar was in quotes: a text even if it looks like a number
    int count;            // items of a sequence, pairs of a mapping
    const Node **keys;    // mapping: scalar keys
    const Node **items;   // sequence items, mapping values
    const NodeCopy *copy; // NULL: it stands as it was read
};

typedef struct Diagnostics Diagnostics;

enum { YAML_BYTES_MAX = 1 << 20, YAML_DEPTH_MAX = 32, YAML_NODES_MAX = 100000, YAML_ANCHORS_MAX = 256 };

// Reads a text as a tree, which takes at most 32 MiB of the arena. Limits: 1 MiB of text, depth 32, 100,000 nodes with
// aliases expanded. Errors, with place: duplicate keys, tabs in indentation, bad UTF-8, NUL, several documents, tags,
// merge keys, an alias inside its own anchor, a text such as max(a, b) that a comma between brackets cuts. All errors
// that can be found go to `diagnostics`. After a duplicate key, a text that was cut, a merge key, a tag or a second
// document the rest of the tree is returned, so that the caller can find its own errors in the same pass. NULL if the
// errors leave no tree.
const Node *yaml_parse(const Source *source, Arena *arena, Diagnostics *diagnostics);
// False, after reporting the place, if the `size` bytes of source->text hold a NUL. Call this for texts from files
// before yaml_parse or xml_parse, which stop at a NUL.
bool source_check(const Source *source, size_t size, Diagnostics *diagnostics);
const Node *node_find(const Node *mapping, const char *key); // NULL if absent or not a mapping

#endif
