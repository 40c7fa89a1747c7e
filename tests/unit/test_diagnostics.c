// Diagnostics as a user sees them, byte for byte.
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static Arena diagnostics_arena;

static Diagnostics *diagnostics_begin(void)
{
    if (diagnostics_arena.base != NULL) arena_destroy(&diagnostics_arena);
    CHECK_OK(arena_create(&diagnostics_arena, (size_t)1 << 24, "diagnostics"));
    return diagnostics_new(&diagnostics_arena);
}

// What diagnostics_print writes; valid until the next call.
static const char *diagnostics_printed(const Diagnostics *diagnostics, bool colour)
{
    static char *text;
    size_t size;
    free(text);
    FILE *out = open_memstream(&text, &size);
    diagnostics_print(diagnostics, out, colour);
    fclose(out);
    return text;
}

TEST(diagnostics_show_the_line_and_a_caret)
{
    Diagnostics *diagnostics = diagnostics_begin();
    const Source source = {.file = "a.yaml", .text = "seed: 7\nmodle: hopper\n"};
    CHECK_TEXT("", diagnostics_printed(diagnostics, false));
    diagnose_at(diagnostics, &source, 2, 1, 5, "unknown key '%s'; did you mean '%s'?", "modle", "model");
    CHECK_INTEGER(1, diagnostics_errors(diagnostics));
    CHECK_TEXT("a.yaml:2:1: error: unknown key 'modle'; did you mean 'model'?\n"
               "    modle: hopper\n"
               "    ^~~~~\n",
               diagnostics_printed(diagnostics, false));
    CHECK_TEXT("\033[1ma.yaml:2:1:\033[0m \033[1;31merror:\033[0m unknown key 'modle'; did you mean 'model'?\n"
               "    modle: hopper\n"
               "    ^~~~~\n",
               diagnostics_printed(diagnostics, true));
}

TEST(diagnostics_are_sorted_and_told_once)
{
    Diagnostics *diagnostics = diagnostics_begin();
    const Source spec = {.file = "a.yaml", .text = "a\nb\n"}, option = {.file = "--set b=c", .text = "c"};
    CHECK_INTEGER(0, diagnostics_source(diagnostics, &spec));
    const Node scalar = {.kind = NODE_SCALAR, .source = &option, .line = 1, .column = 1, .width = 1, .text = "c"};
    diagnose(diagnostics, &scalar, "third");
    diagnose_at(diagnostics, &spec, 2, 1, 1, "second");
    diagnose_at(diagnostics, &spec, 1, 1, 1, "first");
    diagnose_at(diagnostics, &spec, 2, 1, 1, "second");
    diagnose_warning(diagnostics, &scalar, "fourth");
    diagnose(diagnostics, NULL, "without a place");
    CHECK_INTEGER(4, diagnostics_errors(diagnostics));
    CHECK_TEXT("error: without a place\n"
               "a.yaml:1:1: error: first\n    a\n    ^\n"
               "a.yaml:2:1: error: second\n    b\n    ^\n"
               "--set b=c:1:1: error: third\n    c\n    ^\n"
               "--set b=c:1:1: warning: fourth\n    c\n    ^\n",
               diagnostics_printed(diagnostics, false));
}

TEST(diagnostics_keep_the_first_hundred)
{
    Diagnostics *diagnostics = diagnostics_begin();
    const Source source = {.file = "a.yaml", .text = "x"};
    diagnose_warning(diagnostics, NULL, "a warning makes room for an error");
    for (int i = 0; i < 103; i++) diagnose_at(diagnostics, &source, 0, 200 - i, 1, "error %d", i);
    CHECK_INTEGER(103, diagnostics_errors(diagnostics));
    const char *printed = diagnostics_printed(diagnostics, false);
    CHECK(strstr(printed, "a.yaml: error: error 102\n") == printed);
    CHECK(strstr(printed, "error 3\n... and 3 more errors\n... and 1 more warning\n") != NULL);
    CHECK(strstr(printed, "error 2\n") == NULL);
}

TEST(diagnostics_escape_what_would_move_the_cursor)
{
    Diagnostics *diagnostics = diagnostics_begin();
    const Source source = {.file = "\033[2J", .text = "\tk:\033[31m \xFF \xE2\x80\xAE x\r\n"};
    diagnose_at(diagnostics, &source, 1, 14, 1, "unknown '%s'", "a\nb\033");
    CHECK_TEXT("\\x1B[2J:1:14: error: unknown 'a\\x0Ab\\x1B'\n"
               "     k:\\x1B[31m \\xFF \\u202E x\n"
               "                            ^\n",
               diagnostics_printed(diagnostics, false));
}

TEST(diagnostics_count_columns_as_terminals_do)
{
    // u with diaeresis: two bytes, one column; each Chinese character: two columns; a combining accent: no column
    const Excerpt wide = source_excerpt("\xC3\xBC \xE8\xA7\x92\xE5\xBA\xA6 e\xCC\x81: x", 1, 10, 1, 116);
    CHECK_TEXT("\xC3\xBC \xE8\xA7\x92\xE5\xBA\xA6 e\xCC\x81: x", wide.line);
    CHECK_TEXT("          ^", wide.caret);
    const Excerpt marked = source_excerpt("\xEF\xBB\xBF"
                                          "abc",
                                          1, 2, 9, 116);
    CHECK_TEXT("abc", marked.line);
    CHECK_TEXT(" ^~", marked.caret);
    const Excerpt behind = source_excerpt("a: b\nlast", 2, 9, 1, 116);
    CHECK_TEXT("last", behind.line);
    CHECK_TEXT("    ^", behind.caret);
    CHECK_TEXT("", source_excerpt("a", 7, 1, 1, 116).line);
}

TEST(diagnostics_cut_long_lines_round_the_caret)
{
    char text[1001];
    for (int i = 0; i < 1000; i++) text[i] = (char)('a' + i % 26);
    text[1000] = '\0';
    for (int column = 1; column <= 1000; column += 37) {
        const Excerpt excerpt = source_excerpt(text, 1, column, 500, 116);
        CHECK_INTEGER(116, (int64_t)strlen(excerpt.line));
        CHECK(strlen(excerpt.caret) <= 116);
        const size_t caret = strspn(excerpt.caret, " ");
        CHECK_INTEGER(text[column - 1], excerpt.line[caret]);
        CHECK_INTEGER('^', excerpt.caret[caret]);
        CHECK_INTEGER(column > 60, strncmp(excerpt.line, "...", 3) == 0);
        CHECK_INTEGER(column < 890, strcmp(excerpt.line + 113, "...") == 0);
    }
}

TEST(diagnostics_bound_endless_texts)
{
    Diagnostics *diagnostics = diagnostics_begin();
    char *text = ARENA_NEW(&diagnostics_arena, char, 100001);
    memset(text, 0x01, 100000);
    const Source source = {.file = "a.yaml", .text = text};
    diagnose_at(diagnostics, &source, 1, 50000, 100000, "%s", text);
    CHECK(strlen(diagnostics_printed(diagnostics, false)) < 6000);
    for (int i = 0; i < 50000; i++) memcpy(text + 2 * i, "\xCC\x81", 2); // 50,000 accents on one letter
    CHECK(strlen(source_excerpt(text, 1, 1, 1, 116).line) < 768);
}

TEST(utf8_read_takes_only_what_is_well_formed)
{
    static const struct {
        const char *text;
        int length;
        uint32_t character;
    } cases[] = {
        {"a", 1, 'a'},
        {"", 0, 0},
        {"\xC3\xBC", 2, 0xFC},
        {"\xE2\x82\xAC", 3, 0x20AC},
        {"\xF0\x9F\x98\x80", 4, 0x1F600},
        {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF},
        {"\x80", 0, 0},
        {"\xC0\x80", 0, 0},
        {"\xC1\xBF", 0, 0},
        {"\xE0\x9F\xBF", 0, 0},
        {"\xED\xA0\x80", 0, 0},
        {"\xF0\x8F\xBF\xBF", 0, 0},
        {"\xF4\x90\x80\x80", 0, 0},
        {"\xF5\x80\x80\x80", 0, 0},
        {"\xC3", 0, 0},
        {"\xE2\x82", 0, 0},
        {"\xE2\x28\xA1", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t character = 0;
        CHECK_INTEGER(cases[i].length, utf8_read(cases[i].text, &character));
        CHECK_INTEGER(cases[i].character, character);
    }
}

TEST(nearest_name_knows_typos_from_other_words)
{
    static const char *const names[] = {"k_fp", "k_att", "b_att", "thrust", "x_dot_des", "duration"};
    static const struct {
        const char *text, *nearest;
    } cases[] = {
        {"k_pf", "k_fp"},     {"K_FP", "k_fp"},    {"k_fpp", "k_fp"},          {"kfp", "k_fp"},
        {"thurst", "thrust"}, {"trust", "thrust"}, {"x_dot_dse", "x_dot_des"}, {"durration", "duration"},
        {"c_att", "k_att"},   {"B_aat", NULL},     {"gravity", NULL},          {"", NULL},
        {"THRUST", "thrust"}, {"th", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = nearest_name(cases[i].text, names, 6);
        CHECK_TEXT(cases[i].nearest != NULL ? cases[i].nearest : "-", got != NULL ? got : "-");
    }
    static const char *const letters[] = {"m", "J"};
    static const char *const doubled[] = {"starts", "start"};
    CHECK_TEXT("start", nearest_name("startt", doubled, 2)); // a doubled letter rather than another one
    CHECK_TEXT("J", nearest_name("j", letters, 2));          // and not "m", which is first at the same distance
    static const char *const cases_of_letters[] = {"xbcdeg", "abcdeg"};
    CHECK_TEXT("abcdeg", nearest_name("Abcdef", cases_of_letters, 2)); // both are at distance 2
    char longest[400];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK(nearest_name(longest, names, 6) == NULL);
}
