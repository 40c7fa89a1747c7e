// YAML trees: reading, places, refusals with their messages, and no crash for any input.
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static Arena yaml_arena;
static Source yaml_source;
static Diagnostics *yaml_diagnostics;

static const Node *yaml_read_text(const char *text)
{
    if (yaml_arena.base != NULL) arena_destroy(&yaml_arena);
    CHECK_OK(arena_create(&yaml_arena, (size_t)1 << 27, "yaml"));
    yaml_diagnostics = diagnostics_new(&yaml_arena);
    yaml_source = (Source){.file = "s", .text = text};
    return yaml_parse(&yaml_source, &yaml_arena, yaml_diagnostics);
}

// The errors as printed, without the source lines; valid until the next call.
static const char *yaml_errors(void)
{
    static char *text, *kept;
    size_t size;
    free(text);
    FILE *out = open_memstream(&text, &size);
    diagnostics_print(yaml_diagnostics, out, false);
    fclose(out);
    kept = text;
    for (char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        if (line[0] != ' ') {
            memmove(kept, line, length);
            kept += length;
        }
        line += length;
    }
    *kept = '\0';
    return text;
}

static const Node *yaml_at(const Node *root, const char *path)
{
    char copy[64];
    strcpy(copy, path);
    for (char *key = strtok(copy, "."); key != NULL && root != NULL; key = strtok(NULL, "."))
        root = node_find(root, key);
    CHECK(root != NULL);
    static const Node none = {.text = "(none)"};
    return root != NULL ? root : &none;
}

static void yaml_check_place(const Node *node, int line, int column, int width)
{
    CHECK_INTEGER(line, node->line);
    CHECK_INTEGER(column, node->column);
    CHECK_INTEGER(width, node->width);
}

TEST(yaml_reads_texts_with_their_places)
{
    const Node *root = yaml_read_text("# a comment\n"
                                      "version: 1\n"
                                      "search:\n"
                                      "  over: {k_fp: [50, 'a''b'], \xC3\xBC: \"x\\ty\"}\n"
                                      "  list:\n"
                                      "  - 1.0e-4\n"
                                      "  -   two words  # more\n"
                                      "empty:\n");
    CHECK_TEXT("", yaml_errors());
    CHECK_INTEGER(3, root->count);
    CHECK_TEXT("search", root->keys[1]->text);
    yaml_check_place(root, 2, 1, 7);
    yaml_check_place(yaml_at(root, "version"), 2, 10, 1);
    yaml_check_place(yaml_at(root, "search"), 4, 3, 4);
    yaml_check_place(yaml_at(root, "search.over"), 4, 9, 31);
    const Node *list = yaml_at(root, "search.over.k_fp");
    CHECK_INTEGER(NODE_SEQUENCE, list->kind);
    yaml_check_place(list, 4, 16, 12);
    CHECK_TEXT("a'b", list->items[1]->text);
    CHECK(list->items[1]->quoted && !list->items[0]->quoted);
    yaml_check_place(list->items[1], 4, 21, 6);
    CHECK_TEXT("x\ty", yaml_at(root, "search.over.\xC3\xBC")->text);
    yaml_check_place(yaml_at(root, "search.over.\xC3\xBC"), 4, 33, 6);
    CHECK_TEXT("two words", yaml_at(root, "search.list")->items[1]->text);
    yaml_check_place(yaml_at(root, "search.list")->items[1], 7, 7, 9);
    CHECK_TEXT("", yaml_at(root, "empty")->text);
    CHECK(node_find(root, "absent") == NULL && node_find(list, "k_fp") == NULL);
}

TEST(yaml_reads_marks_crlf_and_text_blocks)
{
    const Node *root = yaml_read_text("\xEF\xBB\xBF"
                                      "a: 1\r\nb: |\r\n  x\r\n  y\r\nc: long\r\n  text\r\n");
    CHECK_TEXT("", yaml_errors());
    yaml_check_place(yaml_at(root, "a"), 1, 4, 1);
    CHECK_TEXT("x\ny\n", yaml_at(root, "b")->text);
    CHECK(yaml_at(root, "b")->quoted);
    CHECK_TEXT("long text", yaml_at(root, "c")->text);
    yaml_check_place(yaml_at(root, "c"), 5, 4, 4);
    CHECK_TEXT("7", yaml_read_text("7")->text); // as in --set
}

TEST(yaml_aliases_share_their_anchor)
{
    const Node *root =
        yaml_read_text("a: &x  {k: 1}\nb: *x\nc: &y\n  d: 1\ne: &z # why\n  2\nf: [*y, *z]\nx: &x 3\ng: *x\n");
    CHECK_TEXT("", yaml_errors());
    CHECK(yaml_at(root, "a") == yaml_at(root, "b"));
    CHECK(yaml_at(root, "c") == yaml_at(root, "f")->items[0]);
    CHECK_TEXT("3", yaml_at(root, "g")->text);
    yaml_check_place(yaml_at(root, "a"), 1, 8, 6);
    yaml_check_place(yaml_at(root, "c"), 4, 3, 1);
    yaml_check_place(yaml_at(root, "e"), 6, 3, 1);
}

// Errors that do not stop the reading: a tree is returned, and every error is reported.
TEST(yaml_refuses_and_continues)
{
    static const struct {
        const char *text, *errors;
    } cases[] = {
        {"a: 1\nb: 2\na: 3\nc: {d: 1, e: 2, d: 3}\na: 4\n",
         "s:3:1: error: duplicate key 'a'; it is already in line 1\n"
         "s:4:17: error: duplicate key 'd'; it is already in line 4\n"
         "s:5:1: error: duplicate key 'a'; it is already in line 1\n"},
        {"a: &x {k: 1}\nb:\n  <<: *x\n", "s:3:3: error: merge keys (<<) are not allowed; write the keys out\n"},
        {"a: !!int 3\n", "s:1:4: error: tags are not allowed (here '!!int'); delete it, or put a text "
                         "that starts with '!' in quotes\n"},
        {"a: 1\n---\nb: 2\n", "s:2:1: error: a second document starts here; one file holds one\n"},
        {"[1]: 2\n{}: 3\n", "s:1:1: error: a key must be a word, not a list\n"
                            "s:2:1: error: a key must be a word, not a mapping\n"},
        {"? \n: 2\na: 1\n", "s:1:2: error: a key is missing before the ':'\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Node *root = yaml_read_text(cases[i].text);
        CHECK_TEXT(cases[i].errors, yaml_errors());
        CHECK(root != NULL);
    }
    CHECK_TEXT("1", yaml_at(yaml_read_text("a: 1\na: 2\n"), "a")->text);
}

TEST(yaml_names_broken_syntax)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "s:1:1: error: this file holds only blanks and comments\n"},
        {"# x\n\n", "s:1:1: error: this file holds only blanks and comments\n"},
        {"a:\n\tb: 1\n\tc: 2\n\t# x\n",
         "s:2:1: error: the indentation holds a tab; use spaces only (and in 1 more place)\n"},
        {"a:\n \xC2\xA0 b: 1\n", "s:2:2: error: the indentation holds U+00A0; use spaces only\n"},
        {"a: caf\xE9\n", "s:1:7: error: the byte 0xE9 is not UTF-8; save the file in that encoding\n"},
        {"a: \xC3\xBC\x07\n", "s:1:5: error: the control character U+0007 is not allowed here; delete it\n"},
        {"a: 1\rb: 2\n", "s:1:5: error: the control character U+000D is not allowed here; delete it\n"},
        {"a: [1, 2\nb: 3\n", "s:2:2: error: expected ',' or ']' here (the bracket stands in line 1)\n"},
        {"a: [1, 2\n", "s:1:4: error: this bracket is never closed\n"},
        {"a: [1,\n\n", "s:1:7: error: a value is missing here\n"},
        {"a: {b: 1\n", "s:1:4: error: this bracket is never closed\n"},
        {"a: {b: [1, 2}\n", "s:1:13: error: expected ',' or ']' here (the bracket stands in line 1)\n"},
        {"a: 'x\nb: 1\n", "s:1:4: error: this quote is never closed\n"},
        {"a: \"x\\d\"\n", "s:1:6: error: unknown escape in double quotes; write \\\\ for a backslash, or use single "
                          "quotes\n"},
        {"a: b: c\n", "s:1:5: error: a ':' can't stand here; compare the indentation with the line above, or quote "
                      "the text if the ':' belongs to it\n"},
        {"a: 1\n  b: 2\n", "s:2:4: error: a ':' can't stand here; compare the indentation with the line above, or "
                           "quote the text if the ':' belongs to it\n"},
        {"a:\n    b: 1\n  c: 2\n",
         "s:3:3: error: expected a 'key: value' here; compare the indentation with that of line 1\n"},
        {"a: 'it's'\n",
         "s:1:8: error: the value ended before this; delete it, or put the whole text in one pair of quotes\n"},
        {"a:\n- 1\nb: 2\n- 3\n", "s:4:1: error: expected a 'key: value' here; compare the indentation with that of "
                                 "line 1\n"},
        {"a: 1\nb\nc: 2\n", "s:2:1: error: expected ': ' after this key\n"},
        {"a: @x\n", "s:1:4: error: a value can't start with this character; put the text in quotes\n"},
        {"a: *\n", "s:1:4: error: '*' starts an alias; put a text that starts with it in quotes\n"},
        {"a: > 5\n", "s:1:6: error: after '|' or '>' the text starts on the next line; put a text that starts with one "
                     "of them in quotes\n"},
        {"a: - 1\n", "s:1:4: error: a '- item' can't stand here; put the list on its own lines, or write it as [a, "
                     "b]\n"},
        {"a: &x [*x]\n", "s:1:8: error: this alias stands inside its own anchor\n"},
        {"a: &left 1\nb: *lfet\n", "s:2:4: error: there is no anchor '&lfet' above; did you mean '*left'?\n"},
        {"a: \"\\0\"\n", "s:1:4: error: a text can't hold a NUL (\\0)\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(yaml_read_text(cases[i].text) == NULL);
        CHECK_TEXT(cases[i].error, yaml_errors());
    }
}

TEST(yaml_reports_errors_before_broken_syntax)
{
    CHECK(yaml_read_text("a: 1\nb: {c: 1, c: 2}\nd: ]\n") == NULL);
    CHECK_TEXT("s:2:11: error: duplicate key 'c'; it is already in line 2\n"
               "s:3:4: error: a value is missing here\n",
               yaml_errors());
}

static void yaml_repeat(char *out, const char *text, int count)
{
    for (int i = 0; i < count; i++) strcat(out + (i > 0 ? strlen(text) * (size_t)(i - 1) : 0), text);
}

TEST(yaml_bounds_depth)
{
    char text[200] = "";
    yaml_repeat(text, "[", 32);
    strcat(text, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
    CHECK(yaml_read_text(text) != NULL);
    memmove(text + 1, text, strlen(text) + 1);
    CHECK(yaml_read_text(text) == NULL);
    CHECK_TEXT("s:1:33: error: nested more than 32 deep\n", yaml_errors());
    // by aliases: 20 levels, and 20 more levels around them
    char deep[400] = "a: &a ";
    yaml_repeat(deep + strlen(deep), "[", 20);
    yaml_repeat(deep + strlen(deep), "]", 20);
    strcat(deep, "\nb: ");
    yaml_repeat(deep + strlen(deep), "[", 20);
    strcat(deep, "*a");
    yaml_repeat(deep + strlen(deep), "]", 20);
    CHECK(yaml_read_text(deep) == NULL);
    CHECK_TEXT("s:2:24: error: nested more than 32 deep\n", yaml_errors());
}

TEST(yaml_bounds_nodes_and_bytes)
{
    char bomb[600] = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < 9; i++) {
        snprintf(bomb + strlen(bomb), sizeof bomb - strlen(bomb), "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i,
                 i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    CHECK(yaml_read_text(bomb) == NULL);
    CHECK(strstr(yaml_errors(), "more than 100,000 values (an alias counts as often as it is used)") != NULL);

    enum { BYTES = (1 << 20) + 1 };
    char *text = malloc(BYTES + 1);
    memset(text, '[', BYTES);
    text[BYTES] = '\0';
    CHECK(yaml_read_text(text) == NULL);
    CHECK_TEXT("s: error: the text has 1048577 bytes; at most 1 MiB are read\n", yaml_errors());
    // one line with a mapping of as many equal keys as possible
    memcpy(text, "{", 1);
    for (int i = 1; i + 4 < BYTES; i += 4) memcpy(text + i, "a:1,", 4);
    strcpy(text + BYTES - 8, "}");
    CHECK(yaml_read_text(text) == NULL);
    for (int i = 1; i + 12 < BYTES; i += 12) snprintf(text + i, 13, "k%06u: 1, ", (unsigned)i / 24 % 1000000);
    strcpy(text + 12 * 49000 + 1, "}");
    CHECK(yaml_read_text(text) != NULL);
    CHECK_INTEGER(24500, diagnostics_errors(yaml_diagnostics));
    free(text);
}

TEST(yaml_finds_a_nul_in_a_file)
{
    CHECK(yaml_read_text("a: 1\nb: ") != NULL);
    CHECK(source_check(&yaml_source, 8, yaml_diagnostics));
    CHECK(!source_check(&yaml_source, 12, yaml_diagnostics));
    CHECK_TEXT("s:2:4: error: a NUL byte stands here; this is not a UTF-8 text file\n", yaml_errors());
}

static const char yaml_good_spec[] = "version: 1\n"
                                     "experiment: raibert_gains   # name\n"
                                     "model: hopper\n"
                                     "simulation: {duration: 5.0, dt: 1.0e-4, integrator: implicit_midpoint}\n"
                                     "search:\n"
                                     "  method: grid\n"
                                     "  over: &over\n"
                                     "    k_fp: {linspace: [50, 300, 26]}\n"
                                     "    \"b_fp\": {derive: \"0.1 * k_fp\\t\"}\n"
                                     "  zip: [[k_att, b_att]]\n"
                                     "  exclude: ['k_fp > 250 and thrust < 30', *over]\n"
                                     "  list:\n"
                                     "  - 1\n"
                                     "  - - 2\n"
                                     "    - ? x\n"
                                     "      : y\n"
                                     "text: |\n"
                                     "  one\n"
                                     "folded: >-\n"
                                     "  two\n"
                                     "gr\xC3\xBC\xC3\x9F"
                                     "e: \xE8\xA7\x92\n";

// The parse ends; if it returns no tree it reports an error; a tree can be printed.
static void yaml_survive(const char *text)
{
    const Node *root = yaml_read_text(text);
    CHECK(root != NULL || diagnostics_errors(yaml_diagnostics) > 0);
    const char *errors = yaml_errors();
    CHECK(strlen(errors) < 200000);
    if (root == NULL) CHECK(strncmp(errors, "s:", 2) == 0);
}

TEST(yaml_survives_prefixes_and_mutations)
{
    char text[sizeof yaml_good_spec];
    CHECK(yaml_read_text(yaml_good_spec) != NULL);
    CHECK_TEXT("", yaml_errors());
    for (size_t length = 0; length < sizeof yaml_good_spec; length++) {
        memcpy(text, yaml_good_spec, length);
        text[length] = '\0';
        yaml_survive(text);
    }
    static const char likely[] = "\t\n\r []{}:,-?*&!|>'\"%@`#<\\\x01\xC3\xFF\xE2";
    for (uint64_t i = 0; i < 2000; i++) {
        memcpy(text, yaml_good_spec, sizeof text);
        for (uint32_t k = 0; k < 1 + i % 3; k++) {
            const RandomKey key = {.seed = 1, .ordinal = i, .replicate = k, .purpose = RANDOM_SAMPLE};
            const size_t at = (size_t)(random_uniform(&key, 0) * (double)(sizeof text - 1));
            const double which = random_uniform(&key, 1), what = random_uniform(&key, 2);
            text[at] = which < 0.7 ? likely[(size_t)(what * (double)(sizeof likely - 1))]
                                   : (char)(unsigned char)(1 + 255 * what);
        }
        yaml_survive(text);
    }
}
