// Numbers as texts, for people and for programs; properties of a stream that is not a terminal.
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(text_count_groups_by_three)
{
    CHECK_TEXT("0", text_count(0).text);
    CHECK_TEXT("999", text_count(999).text);
    CHECK_TEXT("1,000", text_count(1000).text);
    CHECK_TEXT("1,234,567", text_count(1234567).text);
    CHECK_TEXT("-12,345", text_count(-12345).text);
    CHECK_TEXT("-9,223,372,036,854,775,808", text_count(INT64_MIN).text);
}

TEST(text_duration_has_two_parts_at_most)
{
    static const struct {
        double seconds;
        const char *expected;
    } cases[] = {{0, "0 us"},           {12e-6, "12 us"},    {0.0123, "12 ms"},    {0.9999, "1.0 s"},
                 {1.23, "1.2 s"},       {59.94, "59.9 s"},   {59.96, "1 min 0 s"}, {200, "3 min 20 s"},
                 {3599.7, "1 h 0 min"}, {7380, "2 h 3 min"}, {90000, "1 d 1 h"},   {-1, "?"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].expected, text_duration(cases[i].seconds).text);
    CHECK_TEXT("?", text_duration((double)NAN).text);
}

TEST(text_bytes_are_binary)
{
    CHECK_TEXT("0 B", text_bytes(0).text);
    CHECK_TEXT("1023 B", text_bytes(1023).text);
    CHECK_TEXT("64.0 MiB", text_bytes(64.0 * 1024 * 1024).text);
    CHECK_TEXT("1.0 GiB", text_bytes(1024.0 * 1024 * 1024 - 1).text);
}

TEST(text_short_has_three_digits)
{
    CHECK_TEXT("0", text_short(0).text);
    CHECK_TEXT("950", text_short(950).text);
    CHECK_TEXT("0.50", text_short(0.5).text);
    CHECK_TEXT("12.3k", text_short(12345).text);
    CHECK_TEXT("1.20M", text_short(1.2e6).text);
    CHECK_TEXT("1.00M", text_short(999600).text);
}

TEST(text_number_is_the_shortest)
{
    static const struct {
        double value;
        const char *expected;
    } cases[] = {{0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {1e-4, "0.0001"},
                 {1e-5, "1e-5"},
                 {1e6, "1000000"},
                 {1e20, "1e20"},
                 {-0.0, "-0"},
                 {5e-324, "5e-324"},
                 {2.2250738585072011e-308, "2.225073858507201e-308"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {-1.2345678901234567e-300, "-1.2345678901234568e-300"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].expected, text_number(cases[i].value).text);
    CHECK_TEXT("inf", text_number((double)INFINITY).text);
    CHECK_TEXT("-inf", text_number(-(double)INFINITY).text);
    CHECK_TEXT("nan", text_number((double)NAN).text);
}

// The shortest text by trying printf: the first of 15, 16, 17 digits (of 1 to 17 for a subnormal) that reads back as
// the same number; exponents as text_number writes them.
static void text_test_shortest(double value, char *decimal, size_t size)
{
    for (int digits = fpclassify(value) == FP_SUBNORMAL ? 1 : 15; digits <= 17; digits++) {
        snprintf(decimal, size, "%.*g", digits, value);
        if (strtod(decimal, NULL) == value) break;
    }
    char *exponent = strchr(decimal, 'e');
    if (exponent != NULL) snprintf(exponent + 1, 8, "%d", (int)strtol(exponent + 1, NULL, 10));
}

// Test values: doubles of all sizes and signs; of the size of metrics; round numbers; and powers of two with their
// neighbours, where the doubles below are denser than above.
static double text_test_double(int i, uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    if (i % 4 == 1) return (double)(bits >> 11) * 0x1p-53 * 1000;
    if (i % 4 == 2) return (double)((int64_t)(bits % 2000000) - 1000000) / 1000;
    if (i % 4 == 3) {
        const double power = ldexp(1, (int)(bits % 100) - 50);
        return (bits >> 40) % 3 == 0 ? power : nextafter(power, (bits >> 40) % 3 == 1 ? 0 : 1e300);
    }
    return isfinite(value) ? value : 0.5;
}

TEST(text_number_reads_back_and_is_the_nearest_of_the_shortest)
{
    uint64_t bits = 88172645463325252u; // xorshift64 (Marsaglia 2003)
    int wrong = 0, other = 0;
    for (int i = 0; i < 100000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        char expected[64];
        const double value = text_test_double(i, bits);
        const Text32 text = text_number(value);
        const double again = strtod(text.text, NULL);
        text_test_shortest(value, expected, sizeof expected);
        wrong += memcmp(&again, &value, sizeof value) != 0;
        other += strcmp(text.text, expected) != 0;
        if (other == 1 && strcmp(text.text, expected) != 0) CHECK_TEXT(expected, text.text); // the first difference
    }
    CHECK_INTEGER(0, wrong);
    CHECK_INTEGER(0, other);
}

TEST(terminal_memory_stream_is_not_interactive)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CHECK(!terminal_interactive(out));
    CHECK(!terminal_colour(out));
    setenv("COLUMNS", "123", 1);
    CHECK_INTEGER(123, terminal_columns(out));
    setenv("COLUMNS", "-4", 1);
    CHECK_INTEGER(80, terminal_columns(out));
    unsetenv("COLUMNS");
    CHECK_INTEGER(80, terminal_columns(out));
    fclose(out);
    free(text);
}

static const char *terminal_test_paragraph(const char *text, int indent, int columns)
{
    static char printed[256];
    printed[0] = '\0';
    FILE *out = fmemopen(printed, sizeof printed, "w");
    terminal_paragraph(out, text, indent, columns);
    fclose(out);
    return printed;
}

TEST(terminal_paragraph_breaks_between_words)
{
    CHECK_TEXT("one two three", terminal_test_paragraph("one two three", 0, 13));
    CHECK_TEXT("one two\nthree", terminal_test_paragraph("one two three", 0, 12));
    CHECK_TEXT("one\n    two\n    three", terminal_test_paragraph("one two three", 4, 10)); // 4 stand there already
    CHECK_TEXT("unbroken\nat all", terminal_test_paragraph("unbroken at all", 0, 6));       // a word is never cut
    CHECK_TEXT("one two three", terminal_test_paragraph("one two three", 4, 0));
    CHECK_TEXT("m\u00b2 \u03b8\nq", terminal_test_paragraph("m\u00b2 \u03b8 q", 0, 5)); // characters, not bytes
    CHECK_TEXT("", terminal_test_paragraph("", 4, 10));
}
