// Tables as text, CSV and JSON: alignment, exact numbers, quoting, escapes, and bounded memory.
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const table_test_names[] = {"trial", "fitness", "failure"};

// Prints three awkward rows in one format; the caller frees the text.
static char *table_test_print(TableFormat format)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Table *table = table_start(out, format, 3, table_test_names);
    table_integer(table, 7);
    table_number(table, 0.1);
    table_text(table, "none");
    table_integer(table, 123456);
    table_number(table, (double)NAN);
    table_text(table, "a,\"b\"\n\033[31m");
    table_integer(table, -1);
    table_number(table, 1234567.891);
    table_text(table, NULL);
    CHECK_OK(table_finish(table));
    fclose(out);
    return text;
}

TEST(table_text_aligns_and_escapes)
{
    char *text = table_test_print(TABLE_TEXT);
    CHECK_TEXT(" trial      fitness  failure\n"
               "     7          0.1  none\n"
               "123456            -  a,\"b\"\\n\\x1B[31m\n"
               "    -1  1.23457e+06  -\n",
               text);
    free(text);
}

TEST(table_csv_quotes_as_rfc_4180_and_keeps_every_digit)
{
    char *text = table_test_print(TABLE_CSV);
    CHECK_TEXT("trial,fitness,failure\n7,0.1,none\n123456,,\"a,\"\"b\"\"\n\033[31m\"\n-1,1234567.891,\n", text);
    free(text);
}

TEST(table_json_is_an_array_of_objects)
{
    char *text = table_test_print(TABLE_JSON);
    CHECK_TEXT("[\n{\"trial\":7,\"fitness\":0.1,\"failure\":\"none\"},\n"
               "{\"trial\":123456,\"fitness\":null,\"failure\":\"a,\\\"b\\\"\\n\\u001b[31m\"},\n"
               "{\"trial\":-1,\"fitness\":1234567.891,\"failure\":null}\n]\n",
               text);
    free(text);
}

TEST(table_without_rows_is_still_a_table)
{
    static const char *const expected[] = {"trial  fitness  failure\n", "trial,fitness,failure\n", "[]\n"};
    for (int format = TABLE_TEXT; format <= TABLE_JSON; format++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        CHECK_OK(table_finish(table_start(out, (TableFormat)format, 3, table_test_names)));
        fclose(out);
        CHECK_TEXT(expected[format], text);
        free(text);
    }
}

// More rows than the buffer holds: all are printed, in order, and a wide cell that comes late extends past its column.
TEST(table_streams_beyond_its_buffer)
{
    enum { ROWS = 50000 };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Table *table = table_start(out, TABLE_TEXT, 3, table_test_names);
    for (int i = 0; i < ROWS; i++) {
        table_integer(table, i == ROWS - 1 ? 1234567890123 : i);
        table_number(table, 0.5);
        table_text(table, "none");
    }
    CHECK_OK(table_finish(table));
    fclose(out);
    int lines = 0, misplaced = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        if (lines > 0 && lines < ROWS) misplaced += strtol(line, NULL, 10) != lines - 1;
        lines++;
    }
    CHECK_INTEGER(ROWS + 1, lines);
    CHECK_INTEGER(0, misplaced);
    CHECK(strstr(text, "1234567890123      0.5  none\n") != NULL);
    free(text);
}

TEST(table_says_when_it_could_not_be_written)
{
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL) {
        test_skip("/dev/full", "Linux");
        return;
    }
    Table *table = table_start(out, TABLE_CSV, 3, table_test_names);
    CHECK_SAYS(ERROR_MACHINE, "the table could not be written: No space left", table_finish(table));
    fclose(out);
}

// The width of UTF-8 text counts characters, so that the next column stays aligned.
TEST(table_aligns_characters_not_bytes)
{
    static const char *const names[] = {"unit", "x"};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Table *table = table_start(out, TABLE_TEXT, 2, names);
    table_text(table, "kg·m²");
    table_number(table, 1);
    table_text(table, "m");
    table_number(table, 10);
    CHECK_OK(table_finish(table));
    fclose(out);
    CHECK_TEXT("unit    x\nkg·m²   1\nm      10\n", text);
    free(text);
}

// A text that starts like a spreadsheet formula stays a text there; numbers stay numbers.
TEST(table_csv_has_no_formulas)
{
    static const char *const names[] = {"a", "=b"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    Table *table = table_start(out, TABLE_CSV, 2, names);
    table_text(table, "=HYPERLINK(\"x\")");
    table_number(table, -1.5);
    table_text(table, "@x");
    table_text(table, "a-b");
    CHECK_OK(table_finish(table));
    fclose(out);
    CHECK_TEXT("a,\"'=b\"\n\"'=HYPERLINK(\"\"x\"\")\",-1.5\n\"'@x\",a-b\n", text);
    free(text);
}
