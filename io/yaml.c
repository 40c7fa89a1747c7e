// YAML trees with places, from libyaml's events. Never yaml_parser_load: it is quadratic and accepts alias cycles.
//
// Two passes. The first checks the characters (UTF-8, control characters, indentation), because libyaml's messages
// about these are obscure. The second follows the events and builds the tree. A duplicate key or a tag is reported and
// left out of the tree; an error that leaves the structure unknown ends the reading.
#include "yaml.h"

#include "characters.h"
#include "diagnostics.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

// ---- the characters -------------------------------------------------------------------------------------------------

typedef enum YamlFaultKind { YAML_FAULT_UTF8, YAML_FAULT_CONTROL, YAML_FAULT_INDENT, YAML_FAULT_KINDS } YamlFaultKind;

// The first place of each kind of fault, and the number of places (for the indentation: of lines).
typedef struct YamlFault {
    int line, column, count;
    uint32_t character;
} YamlFault;

static const char *const yaml_fault_messages[YAML_FAULT_KINDS] = {
    [YAML_FAULT_UTF8] = "the byte 0x%02X is not UTF-8; save the file in that encoding",
    [YAML_FAULT_CONTROL] = "the control character U+%04X is not allowed here; delete it",
    [YAML_FAULT_INDENT] = "the indentation holds U+%04X; use spaces only",
};

// Control characters, and characters that YAML takes as the end of a line but editors do not show as one.
static bool yaml_forbidden(uint32_t c, char next)
{
    if (c == '\r') return next != '\n';
    if (c == '\t' || c == '\n') return false;
    return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029 || c == 0xFEFF;
}

static bool yaml_not_a_space(uint32_t c)
{
    return c == '\t' || c == 0xA0 || (c >= 0x2000 && c <= 0x200B) || c == 0x202F || c == 0x3000;
}

static void yaml_note_fault(YamlFault *fault, int line, int column, uint32_t character)
{
    if (fault->count++ == 0) *fault = (YamlFault){line, column, 1, character};
}

// A line of blanks, or of blanks and a comment, has no indentation.
static bool yaml_line_is_blank(const char *line)
{
    line += strspn(line, " \t");
    return *line == '\0' || *line == '\n' || *line == '\r' || *line == '#';
}

static void yaml_find_faults(const char *text, YamlFault faults[YAML_FAULT_KINDS])
{
    int line = 1, column = 1;
    bool indented = !yaml_line_is_blank(text);
    for (uint32_t c; *text != '\0'; column++) {
        const int length = utf8_read(text, &c);
        if (length == 0) {
            yaml_note_fault(&faults[YAML_FAULT_UTF8], line, column, (unsigned char)*text);
        } else if (yaml_forbidden(c, text[length])) {
            yaml_note_fault(&faults[YAML_FAULT_CONTROL], line, column, c);
        } else if (indented && yaml_not_a_space(c)) {
            yaml_note_fault(&faults[YAML_FAULT_INDENT], line, column, c);
            indented = false;
        }
        if (*text != ' ') indented = false;
        if (*text == '\n') {
            line++;
            column = 0;
            indented = !yaml_line_is_blank(text + 1);
        }
        text += length > 0 ? length : 1;
    }
}

static const char *yaml_without_mark(const char *text)
{
    return strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? text + 3 : text;
}

static bool yaml_check_characters(const Source *source, Diagnostics *diagnostics)
{
    YamlFault faults[YAML_FAULT_KINDS] = {{0}};
    yaml_find_faults(yaml_without_mark(source->text), faults);
    bool ok = true;
    for (int kind = 0; kind < YAML_FAULT_KINDS; kind++) {
        const YamlFault *fault = &faults[kind];
        if (fault->count == 0) continue;
        ok = false;
        char message[128], more[64] = "";
        const bool tab = kind == YAML_FAULT_INDENT && fault->character == '\t';
        const char *format = tab ? "the indentation holds a tab; use spaces only" : yaml_fault_messages[kind];
        snprintf(message, sizeof message, format, (unsigned)fault->character);
        if (fault->count > 1) snprintf(more, sizeof more, " (and in %d more places)", fault->count - 1);
        if (fault->count == 2) strcpy(more, " (and in 1 more place)");
        diagnose_at(diagnostics, source, fault->line, fault->column, 1, "%s%s", message, more);
    }
    return ok;
}

bool source_check(const Source *source, size_t size, Diagnostics *diagnostics)
{
    const char *text = source->text;
    if (strlen(text) == size) return true;
    int line = 1, column = 1;
    for (uint32_t c; *text != '\0'; column++) {
        if (*text == '\n') {
            line++;
            column = 0;
        }
        const int length = utf8_read(text, &c);
        text += length > 0 ? length : 1;
    }
    diagnose_at(diagnostics, source, line, column, 1, "a NUL byte stands here; this is not a UTF-8 text file");
    return false;
}

// ---- the reader -----------------------------------------------------------------------------------------------------

// A place in the text.
typedef struct YamlPlace {
    int line, column; // from 1
} YamlPlace;

// A node as the reader sees it; callers see the first member.
typedef struct YamlNode {
    Node node;
    int size;   // nodes in it, with itself and expanded aliases
    int height; // levels in it, 1 for a scalar
} YamlNode;

typedef struct YamlAnchor {
    const char *name;
    const YamlNode *node; // NULL while the node is open: an alias to it would be a cycle
} YamlAnchor;

typedef struct YamlReader {
    const Source *source;
    Arena *arena;
    Diagnostics *diagnostics;
    yaml_parser_t parser;
    YamlAnchor anchors[YAML_ANCHORS_MAX];
    int n_anchors;
    const Node **pending; // children of the collections that are still open
    int n_pending;
    int nodes;        // so far, with expanded aliases
    bool broken;      // there is no tree to return
    YamlPlace cursor; // follows the events through the text
    const char *text; // at the cursor
} YamlReader;

static YamlPlace yaml_place(yaml_mark_t mark) { return (YamlPlace){(int)mark.line + 1, (int)mark.column + 1}; }

// The text at a place. Cheap if the place is after the one of the last call.
static const char *yaml_text_at(YamlReader *reader, YamlPlace place)
{
    YamlPlace *cursor = &reader->cursor;
    if (place.line < cursor->line || (place.line == cursor->line && place.column < cursor->column)) {
        *cursor = (YamlPlace){1, 1};
        reader->text = yaml_without_mark(reader->source->text);
    }
    while (cursor->line < place.line) {
        const size_t length = strcspn(reader->text, "\n");
        if (reader->text[length] == '\0') return reader->text + length;
        reader->text += length + 1;
        *cursor = (YamlPlace){cursor->line + 1, 1};
    }
    uint32_t c;
    for (; cursor->column < place.column && *reader->text != '\0' && *reader->text != '\n'; cursor->column++) {
        reader->text += utf8_read(reader->text, &c);
    }
    return reader->text;
}

// Characters between two places if they are in one line, else 1.
static int yaml_width(YamlPlace from, YamlPlace to)
{
    return from.line == to.line && to.column > from.column ? to.column - from.column : 1;
}

// Characters from a place to the end of its line.
static int yaml_width_of_rest(YamlReader *reader, YamlPlace from)
{
    const char *text = yaml_text_at(reader, from);
    int width = 0;
    for (uint32_t c; *text != '\0' && *text != '\n' && *text != '\r'; width++) text += utf8_read(text, &c);
    return width > 0 ? width : 1;
}

static const YamlNode *yaml_stop(YamlReader *reader, YamlPlace at, int width, const char *message)
{
    diagnose_at(reader->diagnostics, reader->source, at.line, at.column, width, "%s", message);
    reader->broken = true;
    return NULL;
}

static void yaml_stop_without_memory(YamlReader *reader)
{
    diagnose_no_memory(reader->diagnostics);
    reader->broken = true;
}

// ---- libyaml's complaints in plain words ----------------------------------------------------------------------------

// Which place to show.
typedef enum YamlShow {
    YAML_SHOW_PROBLEM, // where the syntax broke
    YAML_SHOW_CONTEXT, // where the construct began
    YAML_SHOW_BLOCK,   // where it broke, with the line of the block that it should continue
    YAML_SHOW_BRACKET, // where it broke, with the line of the bracket; that bracket, if it is never closed
} YamlShow;

typedef struct YamlComplaint {
    const char *problem, *context; // how libyaml's words start; "" matches all
    YamlShow show;
    const char *message;
} YamlComplaint;

static const YamlComplaint yaml_complaints[] = {
    {"did not find expected key", "while parsing a block mapping", YAML_SHOW_BLOCK, "expected a 'key: value' here"},
    {"did not find expected '-' indicator", "", YAML_SHOW_BLOCK, "expected a '- item' here"},
    {"did not find expected ',' or ']'", "", YAML_SHOW_BRACKET, "expected ',' or ']' here"},
    {"did not find expected ',' or '}'", "", YAML_SHOW_BRACKET, "expected ',' or '}' here"},
    {"did not find expected node content", "", YAML_SHOW_PROBLEM, "a value is missing here"},
    {"did not find expected <document start>", "", YAML_SHOW_PROBLEM,
     "this line does not fit the lines above; compare the indentation"},
    {"could not find expected ':'", "", YAML_SHOW_CONTEXT, "expected ': ' after this key"},
    {"mapping values are not allowed", "", YAML_SHOW_PROBLEM,
     "a ':' can't stand here; compare the indentation with the line above, or quote the text if the ':' belongs to it"},
    {"mapping keys are not allowed", "", YAML_SHOW_PROBLEM, "a key can't stand here; compare the indentation"},
    {"block sequence entries are not allowed", "", YAML_SHOW_PROBLEM,
     "a '- item' can't stand here; put the list on its own lines, or write it as [a, b]"},
    {"found character that cannot start any token", "", YAML_SHOW_PROBLEM,
     "a value can't start with this character; put the text in quotes"},
    {"found a tab character", "", YAML_SHOW_PROBLEM, "the indentation holds a tab; use spaces only"},
    {"found unexpected end of stream", "while scanning a quoted scalar", YAML_SHOW_CONTEXT,
     "this quote is never closed"},
    {"found unexpected document indicator", "", YAML_SHOW_CONTEXT, "this quote is not closed before a '---' or '...'"},
    {"found unknown escape character", "", YAML_SHOW_PROBLEM,
     "unknown escape in double quotes; write \\\\ for a backslash, or use single quotes"},
    {"did not find expected hexdecimal number", "", YAML_SHOW_PROBLEM, "expected a hexadecimal number in this escape"},
    {"found invalid Unicode character escape code", "", YAML_SHOW_PROBLEM, "this escape is not a Unicode character"},
    {"did not find expected alphabetic or numeric character", "while scanning an alias", YAML_SHOW_CONTEXT,
     "'*' starts an alias; put a text that starts with it in quotes"},
    {"did not find expected alphabetic or numeric character", "while scanning an anchor", YAML_SHOW_CONTEXT,
     "'&' starts an anchor; put a text that starts with it in quotes"},
    {"did not find expected comment or line break", "", YAML_SHOW_PROBLEM,
     "after '|' or '>' the text starts on the next line; put a text that starts with one of them in quotes"},
    {"", "while scanning a block scalar", YAML_SHOW_CONTEXT, "this text block is not well formed"},
    {"", "while scanning a directive", YAML_SHOW_CONTEXT,
     "a line that starts with '%' is a directive; put the text in quotes"},
    {"", "while scanning a tag", YAML_SHOW_CONTEXT,
     "tags (!) are not allowed; put a text that starts with '!' in quotes"},
};

static bool yaml_starts_with(const char *text, const char *start)
{
    return strncmp(text != NULL ? text : "", start, strlen(start)) == 0;
}

static const YamlComplaint *yaml_find_complaint(const yaml_parser_t *parser)
{
    for (size_t i = 0; i < sizeof yaml_complaints / sizeof *yaml_complaints; i++) {
        const YamlComplaint *complaint = &yaml_complaints[i];
        if (yaml_starts_with(parser->problem, complaint->problem) &&
            yaml_starts_with(parser->context, complaint->context)) {
            return complaint;
        }
    }
    return NULL;
}

// The place after the last character that is not a blank.
static YamlPlace yaml_end(const YamlReader *reader)
{
    YamlPlace at = {1, 1}, end = at;
    uint32_t c;
    for (const char *text = yaml_without_mark(reader->source->text); *text != '\0'; text += utf8_read(text, &c)) {
        at = *text == '\n' ? (YamlPlace){at.line + 1, 1} : (YamlPlace){at.line, at.column + 1};
        if (strchr(" \r\n", *text) == NULL) end = at;
    }
    return end;
}

// True if only blanks and dashes stand before the place in its line.
static bool yaml_starts_line(YamlReader *reader, YamlPlace place)
{
    const char *line = yaml_text_at(reader, (YamlPlace){place.line, 1});
    return (int)strspn(line, " -") >= place.column - 1;
}

static void yaml_block_error(YamlReader *reader, YamlPlace began, YamlPlace broke, const char *message)
{
    char text[256];
    if (!yaml_starts_line(reader, broke)) {
        yaml_stop(reader, broke, 1,
                  "the value ended before this; delete it, or put the whole text in one pair of quotes");
        return;
    }
    snprintf(text, sizeof text, "%s; compare the indentation with that of line %d", message, began.line);
    yaml_stop(reader, broke, 1, text);
}

static void yaml_bracket_error(YamlReader *reader, YamlPlace began, YamlPlace broke, const char *message)
{
    char text[256];
    const char *rest = yaml_text_at(reader, broke);
    if (rest[strspn(rest, " \r\n")] == '\0') {
        yaml_stop(reader, began, 1, "this bracket is never closed");
        return;
    }
    snprintf(text, sizeof text, "%s%s (the bracket stands in line %d)", message,
             *rest == '{' || *rest == '[' ? "; a text with brackets in it needs quotes" : "", began.line);
    yaml_stop(reader, broke, 1, text);
}

static void yaml_syntax_error(YamlReader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const YamlComplaint *known = yaml_find_complaint(parser);
    const YamlShow show = known != NULL ? known->show : YAML_SHOW_PROBLEM;
    const char *message = known != NULL ? known->message : parser->problem != NULL ? parser->problem : "not YAML";
    const YamlPlace began = yaml_place(parser->context_mark), broke = yaml_place(parser->problem_mark);
    if (parser->error == YAML_MEMORY_ERROR) {
        yaml_stop_without_memory(reader);
    } else if (show == YAML_SHOW_BLOCK) {
        yaml_block_error(reader, began, broke, message);
    } else if (show == YAML_SHOW_BRACKET) {
        yaml_bracket_error(reader, began, broke, message);
    } else if (show == YAML_SHOW_CONTEXT) {
        yaml_stop(reader, began, 1, message);
    } else {
        const YamlPlace end = yaml_end(reader); // without trailing blanks
        yaml_stop(reader, broke.line > end.line ? end : broke, 1, message);
    }
}

// The next event; false at a syntax error.
static bool yaml_next(YamlReader *reader, yaml_event_t *event)
{
    if (yaml_parser_parse(&reader->parser, event)) return true;
    yaml_syntax_error(reader);
    return false;
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

static const char yaml_too_deep[] = "nested more than 32 deep";

// Where a node starts after its anchor and tag, which belong to the event.
static YamlPlace yaml_skip_properties(YamlReader *reader, YamlPlace place)
{
    const char *text = yaml_text_at(reader, place);
    while (*text == '&' || *text == '!') {
        while (*text != '\0' && strchr(" \t\r\n", *text) == NULL) {
            uint32_t c;
            text += utf8_read(text, &c);
            place.column++;
        }
        for (; *text != '\0' && strchr(" \t\r\n#", *text) != NULL; text++, place.column++) {
            if (*text == '#') text += strcspn(text, "\n");
            if (*text == '\0') break;
            if (*text == '\n') place = (YamlPlace){place.line + 1, 0};
        }
    }
    return place;
}

// A source with a higher limit of bytes may hold more nodes.
static int yaml_nodes_most(const Source *source)
{
    return source->most > YAML_BYTES_MAX ? 8 * YAML_NODES_MAX : YAML_NODES_MAX;
}

static bool yaml_count_nodes(YamlReader *reader, int more, YamlPlace at)
{
    reader->nodes += more;
    if (reader->nodes <= yaml_nodes_most(reader->source)) return true;
    yaml_stop(reader, at, 1,
              arena_format(reader->arena, "more than %s values (an alias counts as often as it is used)",
                           text_count(yaml_nodes_most(reader->source)).text));
    return false;
}

static YamlNode *yaml_new_node(YamlReader *reader, NodeKind kind, const yaml_event_t *event, int depth)
{
    YamlPlace place = yaml_place(event->start_mark);
    if (depth > YAML_DEPTH_MAX) {
        yaml_stop(reader, place, 1, yaml_too_deep);
        return NULL;
    }
    if (!yaml_count_nodes(reader, 1, place)) return NULL;
    const bool empty = event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
                       event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (!empty) place = yaml_skip_properties(reader, place);
    YamlNode *built = ARENA_NEW(reader->arena, YamlNode, 1);
    built->size = built->height = 1;
    built->node.kind = kind;
    built->node.source = reader->source;
    built->node.line = place.line;
    built->node.column = place.column;
    built->node.width = 1;
    return built;
}

static void yaml_refuse_tag(YamlReader *reader, const yaml_char_t *tag, const yaml_event_t *event)
{
    if (tag == NULL) return;
    static const char core[] = "tag:yaml.org,2002:"; // what !! stands for
    const YamlPlace place = yaml_place(event->start_mark);
    const bool short_form = yaml_starts_with((const char *)tag, core);
    diagnose_at(reader->diagnostics, reader->source, place.line, place.column, 1,
                "tags are not allowed (here '%s%s'); delete it, or put a text that starts with '!' in quotes",
                short_form ? "!!" : "", (const char *)tag + (short_form ? sizeof core - 1 : 0));
}

// The index of a new anchor, -1 if the node has none, -2 if there are too many.
static int yaml_open_anchor(YamlReader *reader, const yaml_char_t *name, const yaml_event_t *event)
{
    if (name == NULL) return -1;
    if (reader->n_anchors == YAML_ANCHORS_MAX) {
        yaml_stop(reader, yaml_place(event->start_mark), 1, "more than 256 anchors (&)");
        return -2;
    }
    reader->anchors[reader->n_anchors].name = arena_copy(reader->arena, (const char *)name);
    return reader->n_anchors++;
}

static const YamlNode *yaml_close_anchor(YamlReader *reader, int anchor, const YamlNode *node)
{
    if (anchor >= 0) reader->anchors[anchor].node = node;
    return node;
}

static const YamlNode *yaml_read_scalar(YamlReader *reader, const yaml_event_t *event, int depth)
{
    const int anchor = yaml_open_anchor(reader, event->data.scalar.anchor, event);
    if (anchor == -2) return NULL;
    yaml_refuse_tag(reader, event->data.scalar.tag, event);
    YamlNode *built = yaml_new_node(reader, NODE_SCALAR, event, depth);
    if (built == NULL) return NULL;
    built->node.text = arena_copy(reader->arena, (const char *)event->data.scalar.value);
    built->node.quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    const YamlPlace start = {built->node.line, built->node.column}, end = yaml_place(event->end_mark);
    built->node.width = start.line == end.line ? yaml_width(start, end) : yaml_width_of_rest(reader, start);
    if (strlen(built->node.text) != event->data.scalar.length) {
        diagnose(reader->diagnostics, &built->node, "a text can't hold a NUL (\\0)");
        reader->broken = true;
    }
    return yaml_close_anchor(reader, anchor, built);
}

// ---- texts that a comma ended ---------------------------------------------------------------------------------------

enum { YAML_PIECES = 16 }; // of a text that commas cut

// Parentheses that a text in no quotes opens and does not close.
static int yaml_open_parentheses(const Node *node)
{
    int open = 0;
    for (const char *c = node->kind == NODE_SCALAR && !node->quoted ? node->text : ""; *c != '\0'; c++)
        open += (*c == '(') - (*c == ')');
    return open;
}

// The text that a comma cut: [i] of nodes[count] with those behind it up to its last parenthesis. *last: the last of
// them; NULL: nothing was cut.
static const Node *yaml_uncut(YamlReader *reader, const Node *const *nodes, int i, int count, int *last)
{
    int open = yaml_open_parentheses(nodes[i]);
    const char *text = nodes[i]->text;
    if (open <= 0) return NULL;
    for (*last = i + 1; *last < count && *last - i < YAML_PIECES && open > 0; ++*last) {
        const Node *next = nodes[*last];
        if (next->kind != NODE_SCALAR || next->quoted) return NULL;
        open += yaml_open_parentheses(next);
        text = arena_format(reader->arena, "%s, %s", text, next->text);
    }
    if (open != 0) return NULL;
    --*last;
    Node *whole = ARENA_NEW(reader->arena, Node, 1);
    *whole = *nodes[i];
    whole->text = text;
    whole->quoted = true;
    diagnose(reader->diagnostics, nodes[i],
             "the ',' ends this text, because it stands between brackets: quote the expression, \"%.60s\"", text);
    return whole;
}

// In a list between brackets.
static void yaml_join_items(YamlReader *reader, Node *list)
{
    const Node **items = list->items;
    int kept = 0, last;
    for (int i = 0; i < list->count; i++) {
        const Node *whole = yaml_uncut(reader, items, i, list->count, &last);
        items[kept++] = whole != NULL ? whole : items[i];
        if (whole != NULL) i = last;
    }
    list->count = kept;
}

// In a mapping between braces: what stands behind the comma looks like keys without values.
static void yaml_join_pairs(YamlReader *reader, Node *mapping)
{
    int kept = 0, last;
    for (int i = 0; i < mapping->count; i++) {
        const Node *texts[YAML_PIECES] = {mapping->items[i]};
        int n = 1;
        for (; n < YAML_PIECES && i + n < mapping->count; n++) {
            const Node *value = mapping->items[i + n];
            if (value->kind != NODE_SCALAR || value->quoted || value->text[0] != '\0') break;
            texts[n] = mapping->keys[i + n];
        }
        const Node *whole = yaml_uncut(reader, texts, 0, n, &last);
        mapping->keys[kept] = mapping->keys[i];
        mapping->items[kept++] = whole != NULL ? whole : mapping->items[i];
        if (whole != NULL) i += last;
    }
    mapping->count = kept;
}

// The node of an alias, shared with its anchor. NULL if reading must stop.
static const YamlNode *yaml_read_alias(YamlReader *reader, const yaml_event_t *event, int depth)
{
    const char *name = (const char *)event->data.alias.anchor, *names[YAML_ANCHORS_MAX];
    const YamlPlace place = yaml_place(event->start_mark);
    const int width = yaml_width(place, yaml_place(event->end_mark));
    for (int i = reader->n_anchors - 1; i >= 0; i--) { // a later anchor hides earlier ones of the same name
        const YamlNode *node = reader->anchors[i].node;
        if (strcmp(reader->anchors[i].name, name) != 0) continue;
        if (node == NULL) return yaml_stop(reader, place, width, "this alias stands inside its own anchor");
        if (depth + node->height - 1 > YAML_DEPTH_MAX) return yaml_stop(reader, place, width, yaml_too_deep);
        return yaml_count_nodes(reader, node->size, place) ? node : NULL;
    }
    for (int i = 0; i < reader->n_anchors; i++) names[i] = reader->anchors[i].name;
    const char *near = nearest_name(name, names, reader->n_anchors);
    char message[256];
    snprintf(message, sizeof message, "there is no anchor '&%.64s' above%s%.64s%s", name,
             near != NULL ? "; did you mean '*" : "", near != NULL ? near : "",
             near != NULL ? "'?" : "; put a text that starts with '*' in quotes");
    return yaml_stop(reader, place, width, message);
}

static const YamlNode *yaml_read_node(YamlReader *reader, yaml_event_t *event, int depth);

// The pending nodes from `first` on, every `step`-th, as an array. They stay pending.
static const Node **yaml_take_pending(YamlReader *reader, int first, int step)
{
    const int count = (reader->n_pending - first + step - 1) / step;
    const Node **nodes = ARENA_NEW(reader->arena, const Node *, count > 0 ? count : 1);
    for (int i = 0; i < count; i++) nodes[i] = reader->pending[first + i * step];
    return nodes;
}

// Reads children until the collection's end event, leaving them pending. False if the reader stopped.
static bool yaml_read_children(YamlReader *reader, YamlNode *parent, int depth, yaml_mark_t *end)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_next(reader, &event)) return false;
        if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT) {
            *end = event.end_mark;
            yaml_event_delete(&event);
            return true;
        }
        const YamlNode *child = yaml_read_node(reader, &event, depth + 1);
        if (child == NULL) return false;
        reader->pending[reader->n_pending++] = &child->node;
        parent->size += child->size;
        if (parent->height < child->height + 1) parent->height = child->height + 1;
    }
}

static const YamlNode *yaml_read_sequence(YamlReader *reader, const yaml_event_t *event, int depth)
{
    const int anchor = yaml_open_anchor(reader, event->data.sequence_start.anchor, event), first = reader->n_pending;
    if (anchor == -2) return NULL;
    yaml_refuse_tag(reader, event->data.sequence_start.tag, event);
    YamlNode *built = yaml_new_node(reader, NODE_SEQUENCE, event, depth);
    yaml_mark_t end;
    if (built == NULL || !yaml_read_children(reader, built, depth, &end)) return NULL;
    built->node.count = reader->n_pending - first;
    built->node.items = yaml_take_pending(reader, first, 1);
    reader->n_pending = first;
    if (event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE) {
        built->node.width = yaml_width((YamlPlace){built->node.line, built->node.column}, yaml_place(end));
        yaml_join_items(reader, &built->node);
    }
    return yaml_close_anchor(reader, anchor, built);
}

// ---- mappings -------------------------------------------------------------------------------------------------------

typedef struct YamlKey {
    const Node *node;
    int index; // in the mapping
} YamlKey;

static int yaml_compare_keys(const void *a, const void *b)
{
    const YamlKey *left = a, *right = b;
    const int order = strcmp(left->node->text, right->node->text);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

// Sorts instead of comparing all pairs, because a mapping may have 50,000 keys. Sets drop[i] for keys to leave out.
static void yaml_refuse_duplicates(YamlReader *reader, const Node *mapping, bool *drop)
{
    YamlKey *keys = ARENA_NEW(reader->arena, YamlKey, mapping->count);
    int n = 0;
    for (int i = 0; i < mapping->count; i++) {
        if (!drop[i]) keys[n++] = (YamlKey){mapping->keys[i], i};
    }
    qsort(keys, (size_t)n, sizeof *keys, yaml_compare_keys);
    for (int i = 1, first = 0; i < n; i++) {
        if (strcmp(keys[i].node->text, keys[first].node->text) != 0) {
            first = i;
            continue;
        }
        diagnose(reader->diagnostics, keys[i].node, "duplicate key '%s'; it is already in line %d", keys[i].node->text,
                 keys[first].node->line);
        drop[keys[i].index] = true;
    }
}

static void yaml_refuse_keys(YamlReader *reader, const Node *mapping, bool *drop)
{
    for (int i = 0; i < mapping->count; i++) {
        const Node *key = mapping->keys[i];
        const bool merge = key->kind == NODE_SCALAR && !key->quoted && strcmp(key->text, "<<") == 0;
        drop[i] = true;
        if (merge) {
            diagnose(reader->diagnostics, key, "merge keys (<<) are not allowed; write the keys out");
        } else if (key->kind != NODE_SCALAR) {
            diagnose(reader->diagnostics, key, "a key must be a word, not a %s",
                     key->kind == NODE_SEQUENCE ? "list" : "mapping");
        } else if (key->text[0] == '\0') {
            diagnose(reader->diagnostics, key, "a key is missing before the ':'");
        } else {
            drop[i] = false;
        }
    }
}

static void yaml_drop_pairs(Node *mapping, const bool *drop)
{
    int kept = 0;
    for (int i = 0; i < mapping->count; i++) {
        if (drop[i]) continue;
        mapping->keys[kept] = mapping->keys[i];
        mapping->items[kept++] = mapping->items[i];
    }
    mapping->count = kept;
}

static const YamlNode *yaml_read_mapping(YamlReader *reader, const yaml_event_t *event, int depth)
{
    const int anchor = yaml_open_anchor(reader, event->data.mapping_start.anchor, event), first = reader->n_pending;
    if (anchor == -2) return NULL;
    yaml_refuse_tag(reader, event->data.mapping_start.tag, event);
    YamlNode *built = yaml_new_node(reader, NODE_MAPPING, event, depth);
    yaml_mark_t end;
    if (built == NULL || !yaml_read_children(reader, built, depth, &end)) return NULL;
    Node *node = &built->node;
    node->count = (reader->n_pending - first) / 2;
    node->keys = yaml_take_pending(reader, first, 2);
    node->items = yaml_take_pending(reader, first + 1, 2);
    reader->n_pending = first;
    if (event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE) {
        node->width = yaml_width((YamlPlace){node->line, node->column}, yaml_place(end));
        yaml_join_pairs(reader, node);
    } else if (node->count > 0) {
        node->width = node->keys[0]->width;
    }
    bool *drop = ARENA_NEW(reader->arena, bool, node->count > 0 ? node->count : 1);
    yaml_refuse_keys(reader, node, drop);
    yaml_refuse_duplicates(reader, node, drop);
    yaml_drop_pairs(node, drop);
    return yaml_close_anchor(reader, anchor, built);
}

// ---- documents ------------------------------------------------------------------------------------------------------

// Deletes the event. NULL if reading stopped.
static const YamlNode *yaml_read_node(YamlReader *reader, yaml_event_t *event, int depth)
{
    const YamlNode *node = event->type == YAML_SCALAR_EVENT           ? yaml_read_scalar(reader, event, depth)
                           : event->type == YAML_ALIAS_EVENT          ? yaml_read_alias(reader, event, depth)
                           : event->type == YAML_SEQUENCE_START_EVENT ? yaml_read_sequence(reader, event, depth)
                                                                      : yaml_read_mapping(reader, event, depth);
    yaml_event_delete(event);
    return node;
}

// Only the end of the stream may follow the document.
static void yaml_read_end(YamlReader *reader)
{
    yaml_event_t event;
    while (yaml_next(reader, &event)) {
        const yaml_event_type_t type = event.type;
        const YamlPlace place = yaml_place(event.start_mark);
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT) return;
        if (type != YAML_DOCUMENT_START_EVENT) continue;
        diagnose_at(reader->diagnostics, reader->source, place.line, place.column, 3,
                    "a second document starts here; one file holds one");
        return;
    }
}

static const YamlNode *yaml_read_document(YamlReader *reader)
{
    yaml_event_t event;
    while (yaml_next(reader, &event)) {
        if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_START_EVENT) {
            yaml_event_delete(&event);
            continue;
        }
        if (event.type == YAML_STREAM_END_EVENT) {
            yaml_event_delete(&event);
            return yaml_stop(reader, (YamlPlace){1, 1}, 1, "this file holds only blanks and comments");
        }
        const YamlNode *root = yaml_read_node(reader, &event, 1);
        if (root != NULL) yaml_read_end(reader);
        return root;
    }
    return NULL;
}

const Node *yaml_parse(const Source *source, Arena *arena, Diagnostics *diagnostics)
{
    diagnostics_source(diagnostics, source);
    const char *text = yaml_without_mark(source->text);
    const size_t size = strlen(text);
    const size_t most = source->most > 0 ? source->most : YAML_BYTES_MAX;
    if (size > most) {
        diagnose_at(diagnostics, source, 0, 0, 0, "the text has %zu bytes; at most %zu MiB are read", size, most >> 20);
        return NULL;
    }
    if (!yaml_check_characters(source, diagnostics)) return NULL;

    YamlReader *reader = ARENA_NEW(arena, YamlReader, 1);
    reader->source = source;
    reader->arena = arena;
    reader->diagnostics = diagnostics;
    reader->cursor = (YamlPlace){1, 1};
    reader->text = text;
    const size_t nodes_most = (size_t)yaml_nodes_most(source);
    const size_t nodes = 3 * size + 4; // "?" alone is three: a mapping, a key and a value
    reader->pending = ARENA_NEW(arena, const Node *, nodes < nodes_most ? nodes : nodes_most);
    if (!yaml_parser_initialize(&reader->parser)) {
        yaml_stop_without_memory(reader);
        return NULL;
    }
    yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)text, size);
    const YamlNode *root = yaml_read_document(reader);
    yaml_parser_delete(&reader->parser);
    return root != NULL && !reader->broken ? &root->node : NULL;
}

const Node *node_find(const Node *mapping, const char *key)
{
    if (mapping == NULL || mapping->kind != NODE_MAPPING) return NULL;
    for (int i = 0; i < mapping->count; i++) {
        if (strcmp(mapping->keys[i]->text, key) == 0) return mapping->items[i];
    }
    return NULL;
}
