// The table over blocks answers as an ordinary table with the same rows: random blocks, random statements.
#include "../../io/columns.h"
#include "../../runner/campaign/store/ground/rows.h"
#include "../../io/system.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_TEST_COLUMNS = 8, BLOCK_TEST_BLOCKS = 7, BLOCK_TEST_ROWS = 400 };

static const char *const block_test_words[] = {"none", "fell", "5", "Diverged", "unknown"};
static const NumberColumn block_test_columns[BLOCK_TEST_COLUMNS] = {
    {.field = {.name = "id"}, .type = NUMBER_INTEGER},
    {.field = {.name = "search"}, .type = NUMBER_INTEGER},
    {.field = {.name = "x"}, .type = NUMBER_REAL},
    {.field = {.name = "y"}, .type = NUMBER_REAL},
    {.field = {.name = "fitness"}, .type = NUMBER_REAL},
    {.field = {.name = "failure"}, .type = NUMBER_INTEGER, .words = block_test_words, .n_words = 5},
    {.field = {.name = "big"}, .type = NUMBER_INTEGER},
    {.field = {.name = "a \"name\""}, .type = NUMBER_REAL},
};
static const char block_test_sql[] =
    "CREATE TABLE plain(id INTEGER PRIMARY KEY, search INTEGER NOT NULL, x REAL, y REAL, fitness REAL, failure TEXT "
    "NOT NULL, big INTEGER NOT NULL, \"a \"\"name\"\"\" REAL) STRICT";

typedef struct BlockTest {
    Arena arena;
    Database *database;
    BlockTable table;
    BlockSpan spans[BLOCK_TEST_BLOCKS];
    void *values[BLOCK_TEST_BLOCKS][BLOCK_TEST_COLUMNS];
    int64_t cells_read, column_read[BLOCK_TEST_COLUMNS];
    const char *error; // of the source
    int64_t error_at;  // cells read before it
    uint64_t random;
    bool ties; // many rows that follow each other have equal numbers: the last ones of each column
    double last[BLOCK_TEST_COLUMNS];
} BlockTest;

static uint64_t block_test_random(BlockTest *test, uint64_t below)
{
    test->random = test->random * 6364136223846793005u + 1442695040888963407u;
    return (test->random >> 33) % below;
}

static Error block_test_read(void *source, int64_t block, int column, int64_t first, int64_t rows, void *values)
{
    BlockTest *test = source;
    CHECK(first >= 0 && rows > 0 && first + rows <= test->spans[block].rows);
    memcpy(values, (char *)test->values[block][column] + (size_t)first * 8, (size_t)rows * 8);
    test->cells_read += rows;
    test->column_read[column] += rows;
    if (test->error != NULL && test->cells_read > test->error_at) return error_make(ERROR_MACHINE, "%s", test->error);
    return error_none();
}

// ---- values ---------------------------------------------------------------------------------------------------------

static double block_test_real(BlockTest *test)
{
    static const double values[] = {0,          -0.0,    1,        1.5,   -1,    5,    0.5,  0x1p53,
                                    0x1p53 + 2, -0x1p53, 4.9e-324, 1e300, -1e99, 1e-9, -2.5, 4,
                                    0x1p63,     -0x1p63, 2,        3,     10,    100};
    const uint64_t n = sizeof values / sizeof *values, choice = block_test_random(test, 2 * n);
    if (choice < n) return values[choice];
    if (choice < n + 4) return (double)NAN;
    if (choice == n + 4) return (double)INFINITY;
    if (choice == n + 5) return -(double)INFINITY;
    return (double)block_test_random(test, 2000) / 100 - 10;
}

static int64_t block_test_integer(BlockTest *test)
{
    static const int64_t values[] = {
        0, 1, -1, 5, 2, INT64_MAX, INT64_MIN, INT64_MAX - 1, 1L << 53, -(1L << 53), (1L << 53) + 1, 100};
    const uint64_t n = sizeof values / sizeof *values, choice = block_test_random(test, 2 * n);
    return choice < n ? values[choice] : (int64_t)block_test_random(test, 400) - 20;
}

static void block_test_fill_cell(BlockTest *test, int64_t block, int column, int64_t row, int64_t id)
{
    void *values = test->values[block][column];
    switch (block_test_columns[column].type) {
    case NUMBER_REAL:
        if (!test->ties || block_test_random(test, column == 4 ? 300 : 50) == 0)
            test->last[column] = block_test_real(test);
        ((double *)values)[row] = test->last[column];
        break;
    case NUMBER_INTEGER:
        ((int64_t *)values)[row] = column == 0   ? id
                                   : column == 6 ? block_test_integer(test)
                                                 : (int64_t)block_test_random(test, 7) - 1;
        break;
    }
}

static void block_test_fill(BlockTest *test, int64_t rows)
{
    int64_t id = (int64_t)block_test_random(test, 5);
    const uint64_t most = 1 + (uint64_t)rows / 2;
    test->table.n_blocks = 0;
    for (int64_t left = rows; left > 0 && test->table.n_blocks < BLOCK_TEST_BLOCKS; test->table.n_blocks++) {
        const int64_t b = test->table.n_blocks, wanted = 1 + (int64_t)block_test_random(test, most);
        const int64_t n = wanted < left ? wanted : left;
        const bool gaps = block_test_random(test, 2) == 0;
        left -= n;
        id += (int64_t)block_test_random(test, 3);
        test->spans[b] = (BlockSpan){.first = id, .rows = n};
        for (int c = 0; c < BLOCK_TEST_COLUMNS; c++) test->values[b][c] = arena_take(&test->arena, (size_t)n, 8);
        for (int64_t i = 0; i < n; i++) {
            for (int c = 0; c < BLOCK_TEST_COLUMNS; c++) block_test_fill_cell(test, b, c, i, id);
            test->spans[b].last = id;
            id += gaps ? 1 + (int64_t)block_test_random(test, 3) : 1;
        }
    }
}

static void block_test_insert(BlockTest *test)
{
    Statement *insert;
    bool row;
    CHECK_OK(database_run(test->database, "BEGIN"));
    CHECK_OK(database_prepare(test->database, "INSERT INTO plain VALUES(?, ?, ?, ?, ?, ?, ?, ?)", &insert));
    for (int64_t b = 0; b < test->table.n_blocks; b++) {
        for (int64_t i = 0; i < test->spans[b].rows; i++) {
            for (int c = 0; c < BLOCK_TEST_COLUMNS; c++) {
                const NumberColumn *column = &block_test_columns[c];
                const void *values = test->values[b][c];
                if (column->type == NUMBER_REAL)
                    bind_real(insert, c + 1, rows_stored(((const double *)values)[i]));
                else if (column->words == NULL)
                    bind_integer(insert, c + 1, ((const int64_t *)values)[i]);
                else {
                    const int64_t word = ((const int64_t *)values)[i];
                    bind_text(insert, c + 1, word >= 0 && word < column->n_words ? column->words[word] : "unknown");
                }
            }
            CHECK_OK(statement_step(insert, &row));
        }
    }
    statement_close(insert);
    CHECK_OK(database_run(test->database, "COMMIT"));
}

static void block_test_start(BlockTest *test, uint64_t seed, int64_t rows)
{
    *test = (BlockTest){.random = seed * 77 + 5, .ties = seed % 2 == 1};
    CHECK_OK(arena_create(&test->arena, (size_t)rows * 8 * 64 + (4 << 20), "a test"));
    test->table = (BlockTable){.columns = block_test_columns,
                               .n_columns = BLOCK_TEST_COLUMNS,
                               .blocks = test->spans,
                               .read = block_test_read,
                               .source = test,
                               .piece = 1 + (int64_t)block_test_random(test, 70),
                               .found = 1 + (int64_t)block_test_random(test, 9),
                               .sparse = 1 + (int64_t)block_test_random(test, 9)};
    if (test->ties) test->table.piece += 64;
    block_test_fill(test, rows);
    const char *path = arena_format(&test->arena, "%s/campaign.db", test_folder());
    CHECK_OK(database_open(path, DATABASE_WRITE, &test->database));
    CHECK_OK(database_run(test->database, "PRAGMA synchronous = OFF"));
    CHECK_OK(database_run(test->database, block_test_sql));
    CHECK_OK(database_run(test->database, "CREATE TABLE trials(other)")); // is hidden
    block_test_insert(test);
    CHECK_OK(database_add_blocks(test->database, "trials", &test->table));
}

static void block_test_end(BlockTest *test)
{
    CHECK_OK(database_close(test->database));
    arena_destroy(&test->arena);
}

// ---- answers --------------------------------------------------------------------------------------------------------

typedef struct BlockAnswer {
    char **lines;
    int count;
    Error error;
} BlockAnswer;

static int block_test_compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *block_test_cell(Statement *statement, int c, Arena *arena)
{
    switch (column_kind(statement, c)) {
    case COLUMN_NULL: return "NULL";
    case COLUMN_INTEGER: return arena_format(arena, "%lld", (long long)column_integer(statement, c));
    case COLUMN_REAL: return arena_format(arena, "%.17gr", column_real(statement, c));
    default: return arena_format(arena, "'%s'", column_text(statement, c));
    }
}

static BlockAnswer block_test_ask(BlockTest *test, const char *sql, bool sorted)
{
    enum { LINES = 1 << 15 };
    BlockAnswer answer = {.lines = ARENA_NEW(&test->arena, char *, LINES)};
    Statement *statement = NULL;
    bool row;
    answer.error = database_prepare(test->database, sql, &statement);
    while (answer.error.kind == OK && answer.count < LINES) {
        answer.error = statement_step(statement, &row);
        if (answer.error.kind != OK || !row) break;
        char *line = "";
        for (int c = 0; c < column_count(statement); c++)
            line = arena_format(&test->arena, "%s %s", line, block_test_cell(statement, c, &test->arena));
        answer.lines[answer.count++] = line;
    }
    statement_close(statement);
    if (!sorted && answer.count > 0)
        qsort(answer.lines, (size_t)answer.count, sizeof *answer.lines, block_test_compare_lines);
    return answer;
}

// $ in the texts is the table. `plain`: what the ordinary table is asked. Returns whether the answers agree.
static bool block_test_same(BlockTest *test, const char *blocks, const char *plain, bool sorted)
{
    const size_t used = test->arena.used;
    char *texts[2];
    for (int t = 0; t < 2; t++) {
        const char *from = t == 0 ? blocks : plain;
        char *to = texts[t] = ARENA_NEW(&test->arena, char, strlen(from) * 6 + 1);
        for (; *from != '\0'; from++) {
            if (*from != '$')
                *to++ = *from;
            else
                to = stpcpy(to, t == 0 ? "trials" : "plain");
        }
    }
    const BlockAnswer a = block_test_ask(test, texts[0], sorted), b = block_test_ask(test, texts[1], sorted);
    bool same = a.error.kind == b.error.kind && a.count == b.count;
    for (int i = 0; same && i < a.count; i++) same = strcmp(a.lines[i], b.lines[i]) == 0;
    if (!same) {
        printf("%s\n  %d lines, expected %d; pieces of %lld, found %lld %s %s\n", texts[0], a.count, b.count,
               (long long)test->table.piece, (long long)test->table.found, a.error.text, b.error.text);
        for (int i = 0; i < 5; i++)
            printf("  %s   |   %s\n", i < a.count ? a.lines[i] : "", i < b.count ? b.lines[i] : "");
    }
    arena_rewind(&test->arena, used);
    return same;
}

// ---- statements -----------------------------------------------------------------------------------------------------

#define PICK(test, list) (list)[block_test_random(test, sizeof(list) / sizeof *(list))]

static const char *const block_test_numbers[] = {"id", "search", "x", "y", "fitness", "big", "\"a \"\"name\"\"\"", "x"};
static const char *const block_test_any[] = {"id", "search", "x", "y", "fitness", "big", "failure", "rowid", "*"};
static const char *const block_test_comparisons[] = {"=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT", "=="};
static const char *const block_test_constants[] = {"0",
                                                   "1",
                                                   "-1",
                                                   "1.5",
                                                   "5",
                                                   "5.0",
                                                   "-0.0",
                                                   "9007199254740993",
                                                   "9007199254740992",
                                                   "9007199254740994",
                                                   "-9007199254740993",
                                                   "9223372036854775807",
                                                   "-9223372036854775808",
                                                   "9223372036854775808.0",
                                                   "-9.3e18",
                                                   "9.3e18",
                                                   "1e300",
                                                   "9e999",
                                                   "-9e999",
                                                   "NULL",
                                                   "'5'",
                                                   "'abc'",
                                                   "' 1.5 '",
                                                   "x'35'",
                                                   "''",
                                                   "'1e1'",
                                                   "4.9e-324",
                                                   "0.5",
                                                   "100",
                                                   "50",
                                                   "150",
                                                   "3.5",
                                                   "'none'",
                                                   "id",
                                                   "big",
                                                   "search + 1",
                                                   "(SELECT avg(x) FROM $)",
                                                   "CAST('5' AS TEXT)",
                                                   "abs(x)"};

static const char *block_test_atom(BlockTest *test, const char *prefix)
{
    Arena *arena = &test->arena;
    const char *column = arena_format(arena, "%s%s", prefix, PICK(test, block_test_numbers));
    const char *a = PICK(test, block_test_constants), *b = PICK(test, block_test_constants);
    const char *comparison = PICK(test, block_test_comparisons);
    if (prefix[0] != '\0' && strpbrk(a, "dgx") != NULL) a = "2"; // names of columns are not unique there
    if (prefix[0] != '\0' && strpbrk(b, "dgx") != NULL) b = "7";
    static const char *const words[] = {"'none'", "'fell'", "'NONE'", "'unknown'", "5", "'5'", "NULL", "x'35'", "'x'"};
    switch (block_test_random(test, 15)) {
    case 0: return arena_format(arena, "%s IS NULL", column);
    case 1: return arena_format(arena, "%s IS NOT NULL", column);
    case 2: return arena_format(arena, "%s %s %s", a, comparison, column);
    case 3: return arena_format(arena, "%s BETWEEN %s AND %s", column, a, b);
    case 4: return arena_format(arena, "%s IN (%s, %s, 3)", column, a, b);
    case 5: return arena_format(arena, "%sfailure %s %s", prefix, comparison, PICK(test, words));
    case 6: return arena_format(arena, "%sfailure %s %s COLLATE NOCASE", prefix, comparison, PICK(test, words));
    case 7:
        return arena_format(arena, "(%sx, %sy) %s (%s, %s)", prefix, prefix,
                            PICK(test, ((const char *const[]){"<", ">=", "=", ">"})), a, b);
    case 8: return arena_format(arena, "%sfailure LIKE '%%e%%'", prefix);
    case 9: return arena_format(arena, "%srowid %s %s", prefix, comparison, a);
    case 10: return arena_format(arena, "%sid %s %d", prefix, comparison, (int)block_test_random(test, 400));
    case 11: return arena_format(arena, "+%s %s %s", column, comparison, a);
    default: return arena_format(arena, "%s %s %s", column, comparison, a);
    }
}

static const char *block_test_where(BlockTest *test, const char *prefix)
{
    const char *text = block_test_atom(test, prefix);
    for (uint64_t n = block_test_random(test, 4); n > 0; n--) {
        const char *atom = block_test_atom(test, prefix);
        const bool negated = block_test_random(test, 8) == 0, either = block_test_random(test, 4) == 0;
        text = arena_format(&test->arena, either ? "(%s OR %s%s)" : "%s AND %s(%s)", text, negated ? "NOT " : "", atom);
    }
    return text;
}

// An order; *total: it is complete, so that the rows have one order only.
static const char *block_test_order(BlockTest *test, bool *total)
{
    static const char *const ways[] = {
        "", " DESC", " ASC", " DESC", "", " NULLS LAST", " COLLATE NOCASE", " DESC NULLS FIRST"};
    const char *text = "";
    *total = false;
    for (uint64_t n = block_test_random(test, 4); n > 0; n--) {
        const char *column = block_test_random(test, 12) == 0 ? "failure" : PICK(test, block_test_numbers);
        text = arena_format(&test->arena, "%s%s%s%s", text, text[0] != '\0' ? ", " : "", column, PICK(test, ways));
    }
    if (block_test_random(test, 3) > 0) {
        *total = true;
        text = arena_format(&test->arena, "%s%sid%s", text, text[0] != '\0' ? ", " : "",
                            block_test_random(test, 4) == 0 ? " DESC" : "");
    }
    return text;
}

// Rows, in an order or not, and a part of them.
static bool block_test_rows(BlockTest *test)
{
    bool total;
    Arena *arena = &test->arena;
    const char *order = block_test_order(test, &total), *limit = "";
    const char *list = arena_format(arena, "id, %s, %s", PICK(test, block_test_any), PICK(test, block_test_any));
    const char *where = block_test_where(test, ""),
               *head = arena_format(arena, "SELECT %s FROM $ WHERE %s", list, where);
    const bool by_default = strstr(where, " OR ") == NULL && // SQLite may look up one part after the other
                            !total && order[0] != '\0' && strpbrk(order, "L") == NULL &&
                            strstr(order, "failure") == NULL;
    if (total || by_default) {
        if (block_test_random(test, 2) == 0) limit = arena_format(arena, " LIMIT %d", (int)block_test_random(test, 60));
        if (limit[0] != '\0' && block_test_random(test, 2) == 0)
            limit = arena_format(arena, "%s OFFSET %d", limit, (int)block_test_random(test, 60));
    }
    const char *by = order[0] != '\0' ? " ORDER BY " : "";
    return block_test_same(test, arena_format(arena, "%s%s%s%s", head, by, order, limit),
                           arena_format(arena, "%s%s%s%s%s", head, by, order, by_default ? ", id" : "", limit),
                           total || by_default);
}

static bool block_test_aggregate(BlockTest *test)
{
    static const char *const lists[] = {"count(*)",       "min(x)",
                                        "max(x)",         "max(big)",
                                        "min(id)",        "max(id)",
                                        "min(search)",    "count(x), count(fitness), max(y), min(fitness), sum(id)",
                                        "total(search)",  "count(DISTINCT x)",
                                        "max(failure)",   "group_concat(failure)",
                                        "avg(id), min(y)"};
    const char *list = PICK(test, lists), *where = block_test_where(test, "");
    if (strstr(where, " OR ") != NULL && list[0] == 'g') list = "count(*)"; // of texts in the order of rows
    const char *text = arena_format(&test->arena, "SELECT %s FROM $ WHERE %s", list, where);
    return block_test_same(test, text, text, true);
}

static bool block_test_groups(BlockTest *test)
{
    static const char *const keys[] = {"search", "x",       "failure",    "search, x",
                                       "x, y",   "fitness", "search % 2", "big, x"};
    static const char *const tails[] = {"", " HAVING count(*) > 1", " HAVING max(y) > 1 ORDER BY 1, 2"};
    const char *key = PICK(test, keys), *where = block_test_where(test, "");
    const char *text =
        block_test_random(test, 3) == 0
            ? arena_format(&test->arena, "SELECT DISTINCT %s FROM $ WHERE %s", key, where)
            : arena_format(&test->arena, "SELECT %s, count(*), min(id), max(y) FROM $ WHERE %s GROUP BY %s%s", key,
                           where, key, PICK(test, tails));
    return block_test_same(test, text, text, false);
}

static bool block_test_join(BlockTest *test)
{
    static const char *const links[] = {"a.id = b.id + 1",
                                        "b.id = a.big",
                                        "b.id = a.x",
                                        "a.x = b.x AND b.id < 9",
                                        "b.id BETWEEN a.id AND a.id + 2",
                                        "b.rowid = a.search",
                                        "b.x > a.x AND b.id < 4",
                                        "b.failure = a.failure AND b.id < 5"};
    const char *kind = block_test_random(test, 2) == 0 ? "LEFT JOIN" : "JOIN", *link = PICK(test, links);
    const char *text = arena_format(&test->arena, "SELECT a.id, b.id, a.x, b.y FROM $ a %s $ b ON %s AND %s WHERE %s",
                                    kind, link, block_test_atom(test, "b."), block_test_where(test, "a."));
    if (block_test_random(test, 2) == 0)
        text = arena_format(&test->arena, "%s AND %s", text, block_test_atom(test, "b."));
    if (block_test_random(test, 2) > 0) return block_test_same(test, text, text, false);
    text = arena_format(&test->arena, "%s ORDER BY a.x DESC, a.id, b.id LIMIT 30", text);
    return block_test_same(test, text, text, true);
}

static bool block_test_nested(BlockTest *test)
{
    static const char *const texts[] = {
        "SELECT id, x FROM $ WHERE id IN (SELECT id FROM $ WHERE %s) AND %s",
        "SELECT id FROM $ WHERE %s EXCEPT SELECT id FROM $ WHERE %s",
        "SELECT id FROM $ a WHERE EXISTS (SELECT * FROM $ b WHERE b.id = a.id + 1 AND b.x > a.x) AND %s AND %s",
        "SELECT id, row_number() OVER (PARTITION BY search ORDER BY x DESC, id) FROM $ WHERE %s AND %s",
        "SELECT * FROM (SELECT id, x FROM $ WHERE %s ORDER BY x DESC, id LIMIT 9) WHERE %s",
        "SELECT (SELECT max(x) FROM $ b WHERE b.id < a.id), id FROM $ a WHERE %s AND %s",
        "SELECT id, (SELECT id FROM $ b WHERE b.x >= a.x ORDER BY b.x, b.id LIMIT 1 OFFSET 1) FROM $ a WHERE %s AND %s",
    };
    char text[4096];
    const uint64_t which = block_test_random(test, 7);
    const char *outer = which == 4 ? "x > -1" : block_test_atom(test, which == 2 || which > 4 ? "a." : "");
    const char *where = which == 2 || which > 4 ? block_test_where(test, "a.") : block_test_where(test, "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, texts[which], where, outer);
#pragma GCC diagnostic pop
    return block_test_same(test, text, text, false);
}

TEST(block_table_answers_as_an_ordinary_table)
{
    static bool (*const kinds[])(BlockTest *) = {block_test_rows, block_test_rows,      block_test_rows,
                                                 block_test_rows, block_test_aggregate, block_test_groups,
                                                 block_test_join, block_test_nested};
    const int cases = test_quick() ? 40 : 150, statements = 80;
    int different = 0;
    for (int i = 0; i < cases && different < 5; i++) {
        BlockTest test;
        block_test_start(&test, (uint64_t)i, i % 10 == 0 ? i / 10 % 3 : 1 + (i * 37) % BLOCK_TEST_ROWS);
        for (int q = 0; q < statements && different < 5; q++) {
            const size_t used = test.arena.used;
            const bool same = PICK(&test, kinds)(&test);
            arena_rewind(&test.arena, used);
            different += !same;
            CHECK(same);
        }
        block_test_end(&test);
    }
}

// Where a condition or an order is easily taken for another one.
TEST(block_table_answers_chosen_statements)
{
    static const char *const texts[] = {
        // SQLite makes this an IN without the collation
        "SELECT id FROM $ WHERE failure = 'NONE' COLLATE NOCASE OR failure = 'NONE' ORDER BY id",
        "SELECT id FROM $ WHERE failure IN ('fell', 'unknown', NULL) ORDER BY id",
        "SELECT id FROM $ WHERE failure <> 'none' ORDER BY id",
        // an integer that no double equals
        "SELECT id FROM $ WHERE x < 9007199254740993 ORDER BY id",
        "SELECT id FROM $ WHERE x >= 9007199254740993 ORDER BY id",
        "SELECT id FROM $ WHERE big < 9007199254740993.0 ORDER BY id",
        "SELECT id FROM $ WHERE big > 9223372036854775807.0 ORDER BY id",
        "SELECT id FROM $ WHERE big >= -9223372036854775808.0 ORDER BY id",
        // texts and blobs beside numbers
        "SELECT id FROM $ WHERE x < 'abc' ORDER BY id",
        "SELECT id FROM $ WHERE x > x'00' ORDER BY id",
        "SELECT id FROM $ WHERE x = ' 1.5 ' ORDER BY id",
        "SELECT id FROM $ WHERE search = '1' ORDER BY id",
        "SELECT id FROM $ WHERE id = '100' OR id = 101.0 OR id = 102.5 ORDER BY id",
        // NULL, infinities and zeros
        "SELECT id, x, typeof(x) FROM $ ORDER BY x, id",
        "SELECT id, x FROM $ ORDER BY x DESC, id LIMIT 50 OFFSET 3",
        "SELECT id, x FROM $ WHERE x IS NULL OR x = 9e999 ORDER BY x DESC, id DESC",
        "SELECT id, x FROM $ WHERE x > -9e999 AND x < 9e999 ORDER BY x, y DESC, id",
        "SELECT id, x, y, fitness FROM $ WHERE fitness IS NOT NULL ORDER BY fitness, x DESC, y, id LIMIT 20",
        "SELECT id, x FROM $ ORDER BY fitness, x DESC, id",
        "SELECT id, x FROM $ ORDER BY fitness DESC, x, y, id LIMIT 9",
        "SELECT id, x, y, big FROM $ ORDER BY search, x, y, big DESC, id", // more columns than the table orders by
        "SELECT id FROM $ WHERE x = 0 ORDER BY y, id",
        "SELECT id FROM $ ORDER BY id DESC LIMIT 10",
        "SELECT min(x), max(x), min(id), max(id), count(x) FROM $",
        "SELECT min(x) FROM $ WHERE x IS NULL",
        "SELECT DISTINCT x FROM $ ORDER BY x",
    };
    for (int i = 0; i < 8; i++) {
        BlockTest test;
        block_test_start(&test, 100 + (uint64_t)i, i == 0 ? 1 : BLOCK_TEST_ROWS);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            CHECK(block_test_same(&test, texts[k], texts[k], true));
        block_test_end(&test);
    }
}

// ---- what is read, and what ends it ---------------------------------------------------------------------------------

// Asks, and returns the first column of the last row.
static int64_t block_test_number(BlockTest *test, const char *sql)
{
    Statement *statement;
    int64_t number = -1;
    bool row = true;
    CHECK_OK(database_prepare(test->database, sql, &statement));
    while (row) {
        CHECK_OK(statement_step(statement, &row));
        if (row) number = column_integer(statement, 0);
    }
    statement_close(statement);
    return number;
}

// A column is read only if the query needs it, and of a row found by its id one cell.
TEST(block_table_reads_what_it_needs)
{
    enum { X = 2, BIG = 6 };
    BlockTest test;
    block_test_start(&test, 11, BLOCK_TEST_ROWS);
    const int64_t rows = block_test_number(&test, "SELECT count(*) FROM plain");
    CHECK_INTEGER(rows, block_test_number(&test, "SELECT count(*) FROM trials"));
    CHECK_INTEGER(0, test.cells_read);
    const char *from = "y > 1 AND search = 2 AND failure = 'fell'";
    const int64_t passing =
        block_test_number(&test, arena_format(&test.arena, "SELECT count(*) FROM plain WHERE %s", from));
    test.table.sparse = 1; // only cells that are needed
    CHECK_OK(database_add_blocks(test.database, "cells", &test.table));
    block_test_number(&test, arena_format(&test.arena, "SELECT x FROM cells WHERE %s ORDER BY fitness", from));
    CHECK(passing > 0);
    CHECK_INTEGER(passing, test.column_read[X]);
    CHECK_INTEGER(0, test.column_read[BIG]);
    test.cells_read = 0;
    test.column_read[BIG] = 0;
    const int64_t id = block_test_number(&test, "SELECT max(id) FROM plain WHERE id < 300");
    const char *by_id = arena_format(&test.arena, "SELECT big FROM trials WHERE id = %lld", (long long)id);
    CHECK_INTEGER(
        block_test_number(&test, arena_format(&test.arena, "SELECT big FROM plain WHERE id = %lld", (long long)id)),
        block_test_number(&test, by_id));
    CHECK_INTEGER(1, test.column_read[BIG]);
    CHECK(test.cells_read < 24); // and the ids on the way to it
    test.cells_read = 0;
    block_test_number(&test, "SELECT max(id) FROM trials");
    CHECK(test.cells_read <= test.table.piece);
    block_test_end(&test);
}

TEST(block_table_that_cannot_be_read)
{
    static const char *const texts[] = {
        "SELECT x FROM trials",
        "SELECT max(y) FROM trials",
        "SELECT big FROM trials WHERE x > 1 ORDER BY fitness",
        "SELECT * FROM trials WHERE id = 5",
        "SELECT sum(big) FROM trials",
        "SELECT id FROM trials ORDER BY x, y",
    };
    DatabaseGuard guard = {.deadline = INFINITY};
    Statement *statement;
    BlockTest test;
    bool row;
    block_test_start(&test, 4, BLOCK_TEST_ROWS);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        test.error = NULL;
        block_test_ask(&test, texts[i], true);
        const int64_t all = test.cells_read;
        test.error = "shard 000007.h5 is damaged: its fourth wall is missing";
        test.error_at = (int64_t)i % 2 == 0 ? 0 : all / 2;
        test.cells_read = 0;
        CHECK_SAYS(ERROR_MACHINE, "shard 000007.h5 is damaged", block_test_ask(&test, texts[i], true).error);
        test.cells_read = 0;
    }
    test.error = NULL;
    CHECK_OK(database_run(test.database, "SELECT x FROM trials"));
    CHECK_SAYS(ERROR_MACHINE, "no such column", database_run(test.database, "SELECT absent FROM trials"));
    test.error = "the disk is gone";
    test.error_at = 0;
    CHECK_OK(database_prepare_guarded(test.database, "SELECT x FROM trials", &guard, &statement));
    CHECK_SAYS(ERROR_MACHINE, "the disk is gone", statement_step_guarded(statement, &row));
    statement_close(statement);
    block_test_end(&test);
}

static Error block_test_many(void *source, int64_t block, int column, int64_t first, int64_t rows, void *values)
{
    (void)block, (void)column;
    for (int64_t i = 0; i < rows; i++) ((double *)values)[i] = sin((double)(first + i));
    *(int64_t *)source += rows;
    return error_none();
}

static int block_test_interrupted(void) { return 1; }

// SQLite asks between its own instructions only; the table has to ask in its loops.
TEST(block_table_is_interrupted_in_its_loops)
{
    static const char *const texts[] = {"SELECT id FROM many ORDER BY x LIMIT 1", "SELECT id FROM many WHERE x > 2",
                                        "SELECT id FROM many WHERE x IS NULL ORDER BY id DESC",
                                        "SELECT id FROM many WHERE x > 2 ORDER BY id"};
    static const NumberColumn columns[] = {{.field = {.name = "id"}, .type = NUMBER_INTEGER},
                                           {.field = {.name = "x"}, .type = NUMBER_REAL}};
    const BlockSpan span = {.first = 0, .last = 9999999, .rows = 10000000};
    int64_t read = 0;
    const BlockTable table = {
        .columns = columns, .n_columns = 2, .blocks = &span, .n_blocks = 1, .read = block_test_many, .source = &read};
    DatabaseGuard late = {.deadline = 0}, stopped = {.deadline = INFINITY, .interrupted = block_test_interrupted};
    for (size_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
        char path[256];
        Database *database;
        Statement *statement;
        bool row;
        snprintf(path, sizeof path, "%s/campaign.db", test_folder());
        CHECK_OK(database_open(path, DATABASE_WRITE, &database));
        CHECK_OK(database_add_blocks(database, "many", &table));
        CHECK_OK(database_prepare_guarded(database, texts[i / 2], i % 2 ? &late : &stopped, &statement));
        read = 0;
        CHECK_SAYS(ERROR_USER, "took too long", statement_step_guarded(statement, &row));
        CHECK(read < 1000000);
        statement_close(statement);
        CHECK_OK(database_close(database));
    }
}

// As a reader of a campaign is opened: it can't write, and trusts nothing in the file.
TEST(block_table_for_a_reader)
{
    BlockTest test;
    block_test_start(&test, 3, 100);
    const char *path = arena_copy(&test.arena, database_path(test.database));
    const int64_t rows = block_test_number(&test, "SELECT count(*) FROM plain");
    CHECK_OK(database_run(test.database, "CREATE VIEW seen AS SELECT * FROM trials"));
    CHECK_OK(database_close(test.database));
    CHECK_OK(database_open(path, DATABASE_READ, &test.database));
    CHECK_INTEGER(0, block_test_number(&test, "SELECT count(*) FROM trials"));
    CHECK_OK(database_add_blocks(test.database, "trials", &test.table));
    CHECK_INTEGER(rows, block_test_number(&test, "SELECT count(*) FROM trials"));
    CHECK_INTEGER(0, block_test_number(&test, "SELECT count(*) FROM main.trials"));
    CHECK_INTEGER(8, block_test_number(&test, "SELECT count(*) FROM pragma_table_info('trials')"));
    CHECK_ERROR(ERROR_MACHINE, database_run(test.database, "UPDATE trials SET x = 1"));
    CHECK_ERROR(ERROR_MACHINE, database_run(test.database, "INSERT INTO trials(id) VALUES(1)"));
    block_test_end(&test);
}
