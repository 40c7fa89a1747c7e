// Parquet: what a table of trials does not have. tests/cli/readers.sh compares exports in all readers.
#include "../test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const ParquetColumn parquet_test_columns[] = {{.name = "id", .type = PARQUET_INTEGER, .required = true},
                                                     {.name = "x", .type = PARQUET_REAL},
                                                     {.name = "word", .type = PARQUET_TEXT}};

// Three row groups of 8, 9 and 3 rows: missing values in the middle of a byte; none; all; zeros of both signs,
// infinities; words that are empty, long, or not UTF-8.
static const char parquet_test_python[] =
    "import sys, math, pyarrow.parquet as pq\n"
    "f = pq.ParquetFile(sys.argv[1]); t = f.read().to_pydict(); inf = math.inf\n"
    "assert t['id'] == list(range(20)) and f.metadata.num_row_groups == 3 and f.metadata.num_rows == 20\n"
    "assert t['x'][:8] == [0, None, -1, 2, None, None, 5, inf] and t['x'][17:] == [None] * 3\n"
    "assert t['x'][8:17] == [0.0] * 9 and [math.copysign(1, x) for x in t['x'][8:10]] == [1, -1]\n"
    "words = ['', 'a' * 40, 'caf\\u00e9', 'bad\\ufffd\\ufffd']\n"
    "assert t['word'] == [None if i % 5 == 4 else words[i % 5] for i in range(17)] + ['caf\\u00e9'] * 3\n"
    "s = [[f.metadata.row_group(g).column(c).statistics for c in range(3)] for g in range(3)]\n"
    "assert [x.null_count for x in (s[0][1], s[1][1], s[2][1])] == [3, 0, 3]\n"
    "assert (s[0][1].min, s[0][1].max) == (-1, inf) and not s[2][1].has_min_max\n"
    "assert (math.copysign(1, s[1][1].min), math.copysign(1, s[1][1].max)) == (-1, 1)\n"
    "assert (s[0][0].min, s[0][0].max) == (0, 7) and s[0][0].null_count == 0\n"
    "assert (s[0][2].min, s[0][2].max) == ('', 'caf\\u00e9') and s[2][2].min == s[2][2].max == 'caf\\u00e9'\n"
    "assert f.metadata.metadata[b'key'] == b'value'\n";

static void parquet_test_write(FILE *out, Arena *arena)
{
    static const char *const words[] = {"", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "caf\xc3\xa9", "bad\xff\xc3"};
    static const int rows[] = {8, 9, 3};
    const double x[] = {0, NAN, -1, 2, NAN, NAN, 5, INFINITY, 0, -0.0, 0, 0, 0, 0, 0, 0, 0, NAN, NAN, NAN};
    Parquet *parquet;
    CHECK_OK(parquet_open(out, parquet_test_columns, 3, arena, &parquet));
    for (int group = 0, from = 0; group < 3; from += rows[group++]) {
        double id[9], real[9], word[9];
        for (int i = 0; i < rows[group]; i++) {
            const int at = from + i;
            id[i] = at;
            real[i] = x[at];
            word[i] = group == 2 ? 2 : at % 5 == 4 ? (double)NAN : at % 5;
        }
        CHECK_OK(parquet_put(parquet, rows[group], id, words, 4));
        CHECK_OK(parquet_put(parquet, rows[group], real, words, 4));
        CHECK_OK(parquet_put(parquet, rows[group], word, words, 4));
    }
    CHECK_OK(parquet_finish(parquet, "hopscotch version 0", &(ParquetNote){"key", "value"}, 1));
}

TEST(parquet_is_read_by_pyarrow)
{
    Arena arena;
    if (system("python3 -c 'import pyarrow' 2>/dev/null") != 0) {
        test_skip("python3 with pyarrow", "pip install pyarrow");
        return;
    }
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    const char *folder = arena_copy(&arena, test_folder());
    const char *path = arena_format(&arena, "%s/a.parquet", folder);
    FILE *out = fopen(path, "w");
    parquet_test_write(out, &arena);
    CHECK_INTEGER(0, fclose(out));
    CHECK_OK(file_write(folder, "read.py", parquet_test_python, sizeof parquet_test_python - 1));
    CHECK_INTEGER(0, system(arena_format(&arena, "python3 %s/read.py %s", folder, path)));
    arena_destroy(&arena);
}

TEST(parquet_says_when_it_could_not_be_written)
{
    Arena arena;
    Parquet *parquet = NULL;
    double values[1000] = {0};
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL) {
        test_skip("/dev/full", "Linux");
        return;
    }
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    CHECK_OK(parquet_open(out, parquet_test_columns, 1, &arena, &parquet));
    CHECK_SAYS(ERROR_MACHINE, "the Parquet file could not be written: ", parquet_put(parquet, 1000, values, NULL, 0));
    fclose(out);
    arena_destroy(&arena);
}

// 1,000 times a text of 2 MiB
TEST(parquet_refuses_a_page_of_gigabytes)
{
    enum { SIZE = 2 << 20 };
    Arena arena;
    Parquet *parquet = NULL;
    double values[1000] = {0};
    FILE *out = tmpfile();
    CHECK_OK(arena_create(&arena, 5 * SIZE, "test"));
    char *text = ARENA_NEW(&arena, char, SIZE + 1);
    for (int i = 0; i < SIZE; i++) text[i] = 'a';
    CHECK_OK(parquet_open(out, &parquet_test_columns[2], 1, &arena, &parquet));
    CHECK_SAYS(ERROR_USER, "word is too large for a Parquet file",
               parquet_put(parquet, 1000, values, (const char *const[]){text}, 1));
    fclose(out);
    arena_destroy(&arena);
}
