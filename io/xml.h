// XML as a tree of nodes that know their places in the text, on libexpat.
#ifndef HOPSCOTCH_IO_XML_H
#define HOPSCOTCH_IO_XML_H

#include "yaml.h"

typedef struct XmlAttribute {
    const char *name, *value;
    int line, column, width; // of name="value", from 1; in characters
} XmlAttribute;

typedef struct XmlNode {
    const Source *source;
    const char *name;
    int line, column, width;        // place of "<name", from 1
    const XmlAttribute *attributes; // [n_attributes], in the order of the text
    int n_attributes;
    struct XmlNode *parent, *first, *last, *next; // first, last: children; next: sibling
    int text_line, text_column;                   // place of the first text between its children; 0: only blanks
    size_t begin, end;                            // bytes of the element in source->text
    size_t inner, inner_end;                      // bytes between start tag and end tag
} XmlNode;

enum { XML_BYTES_MAX = 8 << 20, XML_DEPTH_MAX = 256, XML_NODES_MAX = 1000000, XML_ATTRIBUTES_MAX = 256 };

// Reads a text as a tree, which takes up to 192 bytes of the arena per element or attribute, and the size of the text.
// Limits: 8 MiB of text, depth 256, 1,000,000 elements and attributes, 256 attributes per element. Errors, with place:
// what is not well formed, bad UTF-8, and <!DOCTYPE ...>, so that only XML's own entities exist. NULL after an error,
// which goes to `diagnostics`. A NUL ends the text; see source_check.
XmlNode *xml_parse(const Source *source, Arena *arena, Diagnostics *diagnostics);
const XmlAttribute *xml_attribute(const XmlNode *node, const char *name); // NULL if the element has no such attribute

#endif
