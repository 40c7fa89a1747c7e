// XML trees with places, from libexpat's events.
//
// Expat says at which byte an element begins; where its attributes stand is found in the text. There are no documents
// with a type declaration, so that there are no entities but the five of XML and numbers of characters, and nothing
// outside of the text is ever read.
#include "xml.h"

#include "characters.h"
#include "diagnostics.h"

#include <expat.h>
#include <string.h>

typedef struct XmlReader {
    const Source *source;
    Arena *arena;
    Diagnostics *diagnostics;
    XML_Parser parser;
    const char *text;      // without the byte order mark
    size_t mark;           // bytes of it
    size_t offset;         // cursor in text, with its place
    int line, column;      // from 1
    char *pool, *pool_end; // for names and values, which are never longer than in the text
    XmlNode *root, *open;  // open: the innermost element that is not closed
    int depth, count;      // elements and attributes
    bool broken;
} XmlReader;

// ---- places ---------------------------------------------------------------------------------------------------------

// Expat 2.9 has these two with 64 in their names, for systems whose long has 32 bits, and calls them deprecated.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static XML_Index xml_index(XML_Parser parser) { return XML_GetCurrentByteIndex(parser); }
static size_t xml_bytes(XML_Parser parser) { return (size_t)XML_GetCurrentByteCount(parser); }
#pragma GCC diagnostic pop

static size_t xml_at(XML_Parser parser) { return (size_t)xml_index(parser); }

// Moves the cursor forward.
static void xml_advance(XmlReader *reader, size_t offset)
{
    uint32_t character;
    while (reader->offset < offset && reader->text[reader->offset] != '\0') {
        const char *at = reader->text + reader->offset;
        if (*at == '\n') {
            reader->line++;
            reader->column = 0;
        }
        reader->column++;
        reader->offset += (size_t)utf8_read(at, &character);
    }
}

static bool xml_is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static size_t xml_skip_blanks(const char *text, size_t at)
{
    while (xml_is_blank(text[at])) at++;
    return at;
}

static int xml_characters(const char *text, size_t size)
{
    int count = 0;
    uint32_t character;
    for (size_t at = 0; at < size && text[at] != '\0'; count++) at += (size_t)utf8_read(text + at, &character);
    return count > 0 ? count : 1;
}

static void xml_stop(XmlReader *reader, int width, const char *message)
{
    if (!reader->broken)
        diagnose_at(reader->diagnostics, reader->source, reader->line, reader->column, width, "%s", message);
    reader->broken = true;
    XML_StopParser(reader->parser, XML_FALSE);
}

// ---- elements -------------------------------------------------------------------------------------------------------

static const char *xml_keep(XmlReader *reader, const char *text)
{
    const size_t size = strlen(text) + 1;
    if ((size_t)(reader->pool_end - reader->pool) < size) return arena_copy(reader->arena, text);
    char *kept = memcpy(reader->pool, text, size);
    reader->pool += size;
    return kept;
}

// The name of an attribute begins at `at`. Returns where the attribute ends.
static size_t xml_attribute_end(const char *text, size_t at)
{
    at += strcspn(text + at, "=");
    at = xml_skip_blanks(text, at + (text[at] == '='));
    const char quote[2] = {text[at], '\0'};
    if (quote[0] == '\0') return at;
    at++;
    at += strcspn(text + at, quote);
    return at + (text[at] != '\0');
}

static void xml_read_attributes(XmlReader *reader, XmlNode *node, const XML_Char **given)
{
    while (given[2 * node->n_attributes] != NULL) node->n_attributes++;
    XmlAttribute *attributes = ARENA_NEW(reader->arena, XmlAttribute, node->n_attributes);
    size_t at = reader->offset + 1 + strlen(node->name);
    for (int i = 0; i < node->n_attributes; i++) {
        at = xml_skip_blanks(reader->text, at);
        xml_advance(reader, at);
        const size_t end = xml_attribute_end(reader->text, at);
        attributes[i] = (XmlAttribute){.name = xml_keep(reader, given[2 * i]),
                                       .value = xml_keep(reader, given[2 * i + 1]),
                                       .line = reader->line,
                                       .column = reader->column,
                                       .width = xml_characters(reader->text + at, end - at)};
        at = end;
    }
    node->attributes = attributes;
}

static bool xml_within_limits(XmlReader *reader, const XML_Char **given)
{
    int attributes = 0;
    while (*given != NULL) given += 2, attributes++;
    reader->count += attributes + 1;
    if (reader->depth >= XML_DEPTH_MAX)
        xml_stop(reader, 1, "more than 256 elements inside each other");
    else if (reader->count > XML_NODES_MAX)
        xml_stop(reader, 1, "more than 1,000,000 elements and attributes");
    else if (attributes > XML_ATTRIBUTES_MAX)
        xml_stop(reader, 1, "more than 256 attributes of an element");
    return !reader->broken;
}

static void XMLCALL xml_on_start(void *data, const XML_Char *name, const XML_Char **given)
{
    XmlReader *reader = data;
    if (reader->broken) return;
    const size_t begin = xml_at(reader->parser);
    const size_t bytes = xml_bytes(reader->parser);
    xml_advance(reader, begin);
    if (!xml_within_limits(reader, given)) return;
    XmlNode *node = ARENA_NEW(reader->arena, XmlNode, 1), *parent = reader->open;
    *node = (XmlNode){.source = reader->source, .name = xml_keep(reader, name), .parent = parent};
    node->line = reader->line;
    node->column = reader->column;
    node->width = xml_characters(name, strlen(name)) + 1;
    node->begin = reader->mark + begin;
    node->inner = reader->mark + begin + bytes;
    if (parent == NULL)
        reader->root = node;
    else if (parent->last == NULL)
        parent->first = node;
    else
        parent->last->next = node;
    if (parent != NULL) parent->last = node;
    xml_read_attributes(reader, node, given);
    reader->open = node;
    reader->depth++;
}

// At the end of <a/> expat is behind the tag, and counts no bytes.
static void XMLCALL xml_on_end(void *data, const XML_Char *name)
{
    (void)name;
    XmlReader *reader = data;
    if (reader->broken) return;
    XmlNode *node = reader->open;
    node->inner_end = reader->mark + xml_at(reader->parser);
    node->end = node->inner_end + xml_bytes(reader->parser);
    if (node->end < node->inner) node->end = node->inner;
    if (node->inner_end < node->inner) node->inner_end = node->inner;
    reader->open = node->parent;
    reader->depth--;
}

static void XMLCALL xml_on_text(void *data, const XML_Char *text, int length)
{
    XmlReader *reader = data;
    int blanks = 0;
    while (blanks < length && xml_is_blank(text[blanks])) blanks++;
    if (reader->broken || blanks == length || reader->open == NULL || reader->open->text_line > 0) return;
    xml_advance(reader, xml_at(reader->parser) + (size_t)blanks);
    reader->open->text_line = reader->line;
    reader->open->text_column = reader->column;
}

static void XMLCALL xml_on_doctype(void *data, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                                   int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    XmlReader *reader = data;
    xml_advance(reader, xml_at(reader->parser));
    while (reader->column > 1 && reader->text[reader->offset] != '<') { // expat may be at its end
        reader->offset--;
        reader->column--;
    }
    xml_stop(reader, 9, "a <!DOCTYPE ...> is not read, because it can define entities; delete it");
}

// ---- expat's complaints in plain words ------------------------------------------------------------------------------

static const struct {
    enum XML_Error code;
    const char *message;
} xml_complaints[] = {
    {XML_ERROR_INVALID_TOKEN, "this is not XML; in a value < is written as &lt; and & as &amp;"},
    {XML_ERROR_SYNTAX, "this is not XML: expected an element, <name ...>"},
    {XML_ERROR_UNCLOSED_TOKEN, "this tag or comment is never closed"},
    {XML_ERROR_PARTIAL_CHAR, "the text ends inside a character"},
    {XML_ERROR_DUPLICATE_ATTRIBUTE, "an attribute is given twice"},
    {XML_ERROR_JUNK_AFTER_DOC_ELEMENT, "something follows the end of the first element; one file holds one"},
    {XML_ERROR_UNDEFINED_ENTITY, "unknown entity; XML has &lt; &gt; &amp; &quot; &apos; and numbers such as &#65;"},
    {XML_ERROR_BAD_CHAR_REF, "no character has this number"},
    {XML_ERROR_MISPLACED_XML_PI, "<?xml ...?> must stand before all elements, once"},
    {XML_ERROR_XML_DECL, "<?xml ...?> is not well formed"},
    {XML_ERROR_UNCLOSED_CDATA_SECTION, "this CDATA section is never closed"},
    {XML_ERROR_UNKNOWN_ENCODING, "unknown encoding; save the file in UTF-8"},
    {XML_ERROR_INCORRECT_ENCODING, "the text is not in the encoding that it declares; save it in UTF-8"},
};

static const char *xml_complaint(enum XML_Error code)
{
    for (size_t i = 0; i < sizeof xml_complaints / sizeof *xml_complaints; i++) {
        if (xml_complaints[i].code == code) return xml_complaints[i].message;
    }
    return XML_ErrorString(code);
}

static void xml_syntax_error(XmlReader *reader)
{
    const enum XML_Error code = XML_GetErrorCode(reader->parser);
    const XML_Index at = xml_index(reader->parser);
    const XmlNode *open = reader->open;
    if (reader->broken) return;
    if (at >= 0) xml_advance(reader, (size_t)at);
    if (code == XML_ERROR_NO_MEMORY)
        diagnose_no_memory(reader->diagnostics);
    else if (code == XML_ERROR_NO_ELEMENTS && open == NULL)
        diagnose_at(reader->diagnostics, reader->source, 1, 1, 1, "this file holds no element");
    else if (code == XML_ERROR_NO_ELEMENTS)
        diagnose_at(reader->diagnostics, reader->source, open->line, open->column, open->width,
                    "<%s> is never closed; write </%s> or <%s ... />", open->name, open->name, open->name);
    else if (code == XML_ERROR_TAG_MISMATCH && open != NULL)
        diagnose_at(reader->diagnostics, reader->source, reader->line, reader->column, 1,
                    "this closes another element than <%s> of line %d, which is open here", open->name, open->line);
    else
        xml_stop(reader, 1, xml_complaint(code));
    reader->broken = true;
}

// ---- documents ------------------------------------------------------------------------------------------------------

static bool xml_is_utf8(XmlReader *reader)
{
    uint32_t character;
    size_t at = 0;
    while (reader->text[at] != '\0') {
        const int bytes = utf8_read(reader->text + at, &character);
        if (bytes == 0) {
            xml_advance(reader, at);
            diagnose_at(reader->diagnostics, reader->source, reader->line, reader->column, 1,
                        "the byte 0x%02X is not UTF-8; save the file in that encoding",
                        (unsigned)(unsigned char)reader->text[at]);
            return false;
        }
        at += (size_t)bytes;
    }
    return true;
}

// The text with blanks in place of a declaration <?xml ... ?> that stands behind blanks and comments. XML wants it in
// the first byte, and other readers of robots don't. Bytes keep their places.
static const char *xml_without_declaration(XmlReader *reader, size_t size)
{
    size_t begin = xml_skip_blanks(reader->text, 0);
    while (strncmp(reader->text + begin, "<!--", 4) == 0) {
        const char *end = strstr(reader->text + begin + 4, "-->");
        if (end == NULL) return reader->text;
        begin = xml_skip_blanks(reader->text, (size_t)(end - reader->text) + 3);
    }
    const char *end = begin > 0 ? strstr(reader->text + begin, "?>") : NULL;
    if (end == NULL || strncmp(reader->text + begin, "<?xml", 5) != 0 || !xml_is_blank(reader->text[begin + 5]))
        return reader->text;
    char *text = arena_take(reader->arena, size + 1, 1);
    memcpy(text, reader->text, size + 1);
    for (char *at = text + begin; at < text + (end - reader->text) + 2; at++) *at = xml_is_blank(*at) ? *at : ' ';
    return text;
}

static void xml_run(XmlReader *reader, size_t size)
{
    const char *text = xml_without_declaration(reader, size);
    reader->parser = XML_ParserCreate("UTF-8");
    if (reader->parser == NULL) {
        diagnose_no_memory(reader->diagnostics);
        reader->broken = true;
        return;
    }
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, xml_on_start, xml_on_end);
    XML_SetCharacterDataHandler(reader->parser, xml_on_text);
    XML_SetStartDoctypeDeclHandler(reader->parser, xml_on_doctype);
    if (XML_Parse(reader->parser, text, (int)size, XML_TRUE) != XML_STATUS_OK) xml_syntax_error(reader);
    XML_ParserFree(reader->parser);
}

XmlNode *xml_parse(const Source *source, Arena *arena, Diagnostics *diagnostics)
{
    diagnostics_source(diagnostics, source);
    const size_t mark = strncmp(source->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0, size = strlen(source->text + mark);
    if (size > XML_BYTES_MAX) {
        diagnose_at(diagnostics, source, 0, 0, 0, "the text has %zu bytes; at most %d MiB are read", size,
                    XML_BYTES_MAX >> 20);
        return NULL;
    }
    XmlReader reader = {.source = source, .arena = arena, .diagnostics = diagnostics, .line = 1, .column = 1};
    reader.text = source->text + mark;
    reader.mark = mark;
    if (!xml_is_utf8(&reader)) return NULL;
    reader.pool = arena_take(arena, size + 1, 1);
    reader.pool_end = reader.pool + size + 1;
    xml_run(&reader, size);
    return reader.broken ? NULL : reader.root;
}

const XmlAttribute *xml_attribute(const XmlNode *node, const char *name)
{
    for (int i = 0; i < node->n_attributes; i++) {
        if (strcmp(node->attributes[i].name, name) == 0) return &node->attributes[i];
    }
    return NULL;
}
