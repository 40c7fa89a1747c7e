// The JSON writer: commas, nesting, escapes, and only valid JSON.
#include "../test.h"

#include <math.h>
#include <stdlib.h>

static char *json_test_print(bool pretty)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Json json;
    json_start(&json, out, pretty);
    json_object(&json, NULL);
    json_integer(&json, "trial", 41);
    json_array(&json, "values");
    json_number(&json, NULL, 0.1);
    json_number(&json, NULL, (double)INFINITY);
    json_number(&json, NULL, (double)NAN);
    json_close(&json, ']');
    json_object(&json, "empty");
    json_close(&json, '}');
    json_boolean(&json, "good", true);
    json_text(&json, "none", NULL);
    json_close(&json, '}');
    fclose(out);
    return text;
}

TEST(json_compact)
{
    char *text = json_test_print(false);
    CHECK_TEXT("{\"trial\":41,\"values\":[0.1,null,null],\"empty\":{},\"good\":true,\"none\":null}", text);
    free(text);
}

TEST(json_pretty)
{
    char *text = json_test_print(true);
    CHECK_TEXT("{\n  \"trial\": 41,\n  \"values\": [\n    0.1,\n    null,\n    null\n  ],\n  \"empty\": {},\n"
               "  \"good\": true,\n  \"none\": null\n}\n",
               text);
    free(text);
}

// Texts with quotes, control characters, valid UTF-8, and invalid bytes: overlong, surrogate, cut off, too great.
TEST(json_texts_are_always_valid)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {{"a\"b\\c\n\t\b\f\r", "\"a\\\"b\\\\c\\n\\t\\b\\f\\r\""},
                 {"\001\033\177", "\"\\u0001\\u001b\\u007f\""},
                 {"\xc2\xb5m \xe2\x82\xac \xf0\x9f\x90\xb8", "\"\xc2\xb5m \xe2\x82\xac \xf0\x9f\x90\xb8\""},
                 {"\xff", "\"\\ufffd\""},
                 {"\xc0\xaf", "\"\\ufffd\\ufffd\""},
                 {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
                 {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
                 {"x\xe2\x82", "\"x\\ufffd\\ufffd\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        Json json;
        json_start(&json, out, false);
        json_text(&json, NULL, cases[i].text);
        fclose(out);
        CHECK_TEXT(cases[i].expected, text);
        free(text);
    }
}
