#include "../../io/coded_table.h"
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODED_TEST_MOST = 1 << 22 };

static Bytes coded_test_bytes(const char *text)
{
    return (Bytes){.data = (unsigned char *)(uintptr_t)text, .size = strlen(text)};
}

// Whether the text is a table; if so, it comes back.
static bool coded_test_is(const char *text, size_t size)
{
    Arena arena;
    Bytes coded;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "a test"));
    const Bytes bytes = {.data = (unsigned char *)(uintptr_t)text, .size = size};
    coded_table_write(bytes, CODED_TEST_MOST, &arena, &coded);
    if (coded.size > 0) {
        unsigned char *again = ARENA_NEW(&arena, unsigned char, size);
        CHECK(coded_table_read(coded, again, size));
        CHECK(memcmp(again, text, size) == 0);
        CHECK(!coded_table_read(coded, again, size - 1));
    }
    arena_destroy(&arena);
    return coded.size > 0;
}

// The text eight times over, so that it has enough rows.
static bool coded_test_rows(const char *row)
{
    char text[4096] = "";
    for (int i = 0; i < 8; i++) strcat(text, row);
    return coded_test_is(text, strlen(text));
}

TEST(coded_table_keeps_each_byte)
{
    static const char *const rows[] = {"0.000,1.5\n0.001,-0.25\n0.002,3\n", "1\n", "-3\r\n", "0;1.\r\n", "1\t-0.000\n",
                                       "1 -0 12345678901234567\n"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) CHECK(coded_test_rows(rows[i]));
    const char *lists = "# about\nx: {times: [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5], values: [-1, 2, 3e9]}\n"
                        "y: [1, -2.50, 3, 4, 5, 6, 7, 8, 9, 10, none]\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\nthe end";
    CHECK(coded_test_is(lists, strlen(lists)));
    CHECK(coded_test_is("1\0002\n1\0002\n1\0002\n1\0002\n1\0002\n1\0002\n1\0002\n1\0002\n", 32));
}

TEST(coded_table_refuses_what_it_cannot_keep)
{
    static const char *const rows[] = {
        "\n",       "words\n", "1e3,2\n",  "1,\n",     ".5,1\n",
        "007,1\n",  "+1,2\n",  "1,2\r3\n", "1,nan\n",  "123456789012345678\n",
        "1,2\n3\n", "1, 2",    "1\n1\r\n", "[1, 2]\n", "0.0000000000000001\n12345678901234567\n"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) CHECK(!coded_test_rows(rows[i]));
    CHECK(!coded_test_is("", 0));
    CHECK(!coded_test_is("1\n2\n3\n", 6)); // too few rows
}

// A ramp with decimals that %g leaves out.
TEST(coded_table_of_many_rows)
{
    enum { ROWS = 20000 };
    char *text = malloc(ROWS * 64);
    size_t size = 0;
    if (text == NULL) abort();
    for (int i = 0; i < ROWS; i++)
        size += (size_t)sprintf(text + size, "%.3f,%.6g,%d\n", i * 1e-3, 1.0 + i * 0.125, (i * 7919) % 1000 - 500);
    CHECK(coded_test_is(text, size));
    free(text);
}

// Any bytes: refused or read, never outside of the memory (run by ASan too).
TEST(coded_table_of_other_bytes)
{
    Arena arena;
    Bytes coded;
    const char *text = "a,b\n0.1,2\n-0.2,3\n0.3,5\n0.4,7\n0.5,9\n0.6,1\n0.7,1\n0.8,1\n";
    unsigned char again[80];
    uint32_t random = 1;
    int read = 0;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "a test"));
    coded_table_write(coded_test_bytes(text), CODED_TEST_MOST, &arena, &coded);
    unsigned char *changed = malloc(coded.size);
    if (changed == NULL || coded.size == 0) abort();
    for (int i = 0; i < 200000; i++) {
        memcpy(changed, coded.data, coded.size);
        for (int k = 0; k < 1 + i % 3; k++) {
            random = random * 1664525 + 1013904223;
            changed[(random >> 8) % (i % 2 == 0 ? coded.size : 48)] = (unsigned char)(random >> (i % 5 == 0 ? 24 : 28));
        }
        read += coded_table_read((Bytes){.data = changed, .size = coded.size - (size_t)(i % 7 == 0)}, again,
                                 strlen(text) - (size_t)(i % 11 == 0));
    }
    CHECK(read > 0);
    free(changed);
    arena_destroy(&arena);
}
