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
    int line, column, width;        // of <name
    const XmlAttribute *attributes; // [n_attributes], in their order
    int n_attributes;
    struct XmlNode *parent, *first, *last, *next; // first and last: of its children
    int text_line, text_column;                   // of the first text right in it that is not blank; 0: there is none
    size_t begin, end;                            // bytes of the element in source->text
    size_t inner, inner_end;                      // bytes between its tags
} XmlNode;

enum { XML_BYTES_MAX = 8 << 20, XML_DEPTH_MAX = 256, XML_NODES_MAX = 1000000, XML_ATTRIBUTES_MAX = 256 };

// Limits: 8 MiB, depth 256, 1,000,000 elements and attributes, 256 attributes of an element. Refused, by name and
// place: what is not well formed, bad UTF-8, a <!DOCTYPE ...>, and so all entities but XML's own. The tree is in the
// arena: up to 192 bytes per element or attribute, and once the text. NULL after an error, which went to
// `diagnostics`. A NUL ends the text; see source_check.
XmlNode *xml_parse(const Source *source, Arena *arena, Diagnostics *diagnostics);
const XmlAttribute *xml_attribute(const XmlNode *node, const char *name); // NULL: not given

#endif
