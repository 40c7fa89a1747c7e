// XML trees: contents, places of elements and attributes, limits, and what is refused.
#include "../test.h"

#include <stdlib.h>
#include <string.h>

typedef struct XmlCase {
    Arena arena;
    Diagnostics *diagnostics;
    Source source;
    const XmlNode *root;
} XmlCase;

static void xml_case(XmlCase *c, const char *text)
{
    CHECK_OK(arena_create_growing(&c->arena, (size_t)1 << 30, "test"));
    c->diagnostics = diagnostics_new(&c->arena);
    c->source = (Source){.file = "robot.xml", .text = text};
    c->root = xml_parse(&c->source, &c->arena, c->diagnostics);
}

static void xml_case_refused(const char *text, const char *expected)
{
    XmlCase c;
    xml_case(&c, text);
    CHECK(c.root == NULL);
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    diagnostics_print(c.diagnostics, out, false);
    fclose(out);
    printed[strcspn(printed, "\n")] = '\0';
    CHECK_TEXT(expected, printed);
    free(printed);
    arena_destroy(&c.arena);
}

// Blanks and comments may stand before a declaration, which is one and stands before all elements.
TEST(xml_declarations_stand_anywhere_before_the_root)
{
    static const char *const texts[] = {
        "\n <?xml version='1.0'?><a x='1'/>", "<!-- ? > -->\n<?xml version='1.0'?><a x='1'/>",
        "\xEF\xBB\xBF\n<!----><!--b-->\t<?xml version='1.0' encoding='latin1'?>\n<a x='1'/>"};
    static const int places[][2] = {{2, 23}, {2, 22}, {3, 1}};
    for (int i = 0; i < 3; i++) {
        XmlCase c;
        xml_case(&c, texts[i]);
        CHECK(c.root != NULL && diagnostics_errors(c.diagnostics) == 0);
        CHECK_INTEGER(places[i][0], c.root->line);
        CHECK_INTEGER(places[i][1], c.root->column);
        CHECK(strncmp(texts[i] + c.root->begin, "<a", 2) == 0);
        arena_destroy(&c.arena);
    }
    xml_case_refused("\n<?xml version='1.0'?>\n<?xml version='1.0'?><a/>",
                     "robot.xml:3:1: error: <?xml ...?> must stand before all elements, once");
    xml_case_refused("<a>\n<?xml version='1.0'?></a>",
                     "robot.xml:2:1: error: <?xml ...?> must stand before all elements, once");
    xml_case_refused("\n<?xml version='1.0'", "robot.xml:2:1: error: this tag or comment is never closed");
}

TEST(xml_trees_have_places)
{
    XmlCase c;
    xml_case(&c, "\xEF\xBB\xBF<?xml version='1.0' encoding='latin1'?>\n<a x='1'  y = \"&lt;&#65;\n2\"><!-- <b/> -->\n"
                 "  <\xC3\xA4 z='\xC3\xA4\xC3\xA4' w=''/><c>text</c></a>\n");
    CHECK(c.root != NULL && diagnostics_errors(c.diagnostics) == 0);
    CHECK_TEXT("a", c.root->name);
    CHECK(c.root->line == 2 && c.root->column == 1 && c.root->width == 2 && c.root->n_attributes == 2);
    const XmlAttribute *x = xml_attribute(c.root, "x"), *y = xml_attribute(c.root, "y");
    CHECK(x->line == 2 && x->column == 4 && x->width == 5);
    CHECK(y->line == 2 && y->column == 11);
    CHECK_TEXT("<A 2", y->value);
    const XmlNode *b = c.root->first, *last = c.root->last;
    CHECK(b->line == 4 && b->column == 3 && b->attributes[1].column == 13 && b->first == NULL && b->next == last);
    CHECK_TEXT("\xC3\xA4\xC3\xA4", b->attributes[0].value);
    CHECK(last->line == 4 && last->column == 19 && last->text_line == 4 && last->text_column == 22);
    CHECK(xml_attribute(c.root, "z") == NULL && last->parent == c.root && c.root->text_line == 0);
    arena_destroy(&c.arena);
}

TEST(xml_elements_know_their_bytes)
{
    XmlCase c;
    const char *text = "<a>\n <b x='1'/><c x='2'> y </c>\n</a>";
    xml_case(&c, text);
    const XmlNode *b = c.root->first, *d = c.root->last;
    CHECK(strncmp(text + b->begin, "<b x='1'/>", b->end - b->begin) == 0 && b->end - b->begin == 10);
    CHECK(b->inner == b->end && b->inner_end == b->end);
    CHECK(strncmp(text + d->begin, "<c x='2'> y </c>", d->end - d->begin) == 0 && d->end - d->begin == 16);
    CHECK(strncmp(text + d->inner, " y ", d->inner_end - d->inner) == 0 && d->inner_end - d->inner == 3);
    CHECK(c.root->begin == 0 && c.root->end == strlen(text));
    arena_destroy(&c.arena);
}

TEST(xml_errors_have_places)
{
    xml_case_refused("", "robot.xml:1:1: error: this file holds no element");
    xml_case_refused("<a>\n <b>\n</a>",
                     "robot.xml:3:3: error: this closes another element than <b> of line 2, which is "
                     "open here");
    xml_case_refused("<a>\n <b>\n", "robot.xml:2:2: error: <b> is never closed; write </b> or <b ... />");
    xml_case_refused("<a x='1' x='2'/>", "robot.xml:1:10: error: an attribute is given twice");
    xml_case_refused("<a/><b/>", "robot.xml:1:5: error: something follows the end of the first element; one file holds "
                                 "one");
    xml_case_refused("<a>\xFF</a>", "robot.xml:1:4: error: the byte 0xFF is not UTF-8; save the file in that encoding");
    xml_case_refused("<a>&nbsp;</a>", "robot.xml:1:4: error: unknown entity; XML has &lt; &gt; &amp; &quot; &apos; and "
                                      "numbers such as &#65;");
    xml_case_refused("<a x='<'/>", "robot.xml:1:7: error: this is not XML; in a value < is written as &lt; and & as "
                                   "&amp;");
}

TEST(xml_has_no_entities)
{
    static const char message[] =
        "robot.xml:2:1: error: a <!DOCTYPE ...> is not read, because it can define entities; delete it";
    xml_case_refused("<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY l 'lol'><!ENTITY m '&l;&l;&l;'>]>\n<a>&m;</a>",
                     message);
    xml_case_refused("<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM 'file:///etc/passwd'>\n<a/>", message);
    xml_case_refused("<?xml version='1.0'?>\n<!DOCTYPE a>\n<a/>", message);
}

static char *xml_repeated(const char *head, const char *piece, int count, const char *tail)
{
    const size_t length = strlen(piece);
    char *text = malloc(strlen(head) + length * (size_t)count + strlen(tail) + 1), *at = text + strlen(head);
    strcpy(text, head);
    for (int i = 0; i < count; i++, at += length) memcpy(at, piece, length);
    strcpy(at, tail);
    return text;
}

TEST(xml_is_bounded)
{
    char *deep = xml_repeated("", "<a>", 257, ""), *many = xml_repeated("<a>", "<b/>", 1000000, "</a>");
    char *fits = xml_repeated("<a>", "<b/>", 999999, "</a>"), *large = xml_repeated("<a>", "x", 8 << 20, "</a>");
    xml_case_refused(deep, "robot.xml:1:769: error: more than 256 elements inside each other");
    xml_case_refused(many, "robot.xml:1:4000000: error: more than 1,000,000 elements and attributes");
    xml_case_refused(large, "robot.xml: error: the text has 8388615 bytes; at most 8 MiB are read");
    XmlCase c;
    xml_case(&c, fits);
    CHECK(c.root != NULL);
    arena_destroy(&c.arena);
    free(deep), free(many), free(fits), free(large);
}
