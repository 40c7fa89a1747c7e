// Tables of SQL over arrays: values, digests, and errors in the middle of a statement.
#include "../../io/system.h"
#include "../test.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_ROWS = 1000, TABLE_COLUMNS = 4 };

typedef struct TableCase {
    int64_t id[TABLE_ROWS], word[TABLE_ROWS];
    double real[2][TABLE_ROWS];
    MemoryColumn columns[TABLE_COLUMNS];
    MemoryTable table;
    char text[160];
    Database *database;
} TableCase;

static const char *const table_words[] = {"none", "fell", "a \"quoted\" word", "unknown"};

// Values of every kind: whole and broken numbers, both zeros, NaN with and without sign, infinities, the smallest.
static double table_case_real(int64_t i)
{
    static const double special[] = {0.0, -0.0, (double)NAN, -(double)NAN, (double)INFINITY,  -(double)INFINITY,
                                     3.0, -7.0, 5e-324,      1e300,        9007199254740993.0};
    enum { SPECIAL = sizeof special / sizeof *special };
    return i % 3 == 0 ? special[(i / 3) % SPECIAL] : 0.1 * (double)(i - 500);
}

static TableCase *table_case_start(void)
{
    TableCase *test = calloc(1, sizeof *test);
    if (test == NULL) abort();
    for (int64_t i = 0; i < TABLE_ROWS; i++) {
        test->id[i] = 3 * i;
        test->word[i] = i % 6 - 1; // -1 and 4 are not words
        test->real[0][i] = table_case_real(i);
        test->real[1][i] = table_case_real(TABLE_ROWS - i);
    }
    test->columns[0] = (MemoryColumn){.name = "id", .kind = MEMORY_INTEGER, .integers = test->id};
    test->columns[1] = (MemoryColumn){.name = "a \"b", .kind = MEMORY_REAL, .reals = test->real[0]};
    test->columns[2] =
        (MemoryColumn){.name = "word", .kind = MEMORY_WORD, .integers = test->word, .words = table_words, .n_words = 4};
    test->columns[3] = (MemoryColumn){.name = "c", .kind = MEMORY_REAL, .reals = test->real[1]};
    test->table = (MemoryTable){.columns = test->columns, .n_columns = TABLE_COLUMNS, .end = TABLE_ROWS};
    snprintf(test->text, sizeof test->text, "%s/t.db", test_folder());
    CHECK_OK(database_open(test->text, DATABASE_WRITE, &test->database));
    CHECK_OK(database_add_table(test->database, "batch", &test->table));
    CHECK_OK(database_run(test->database, "CREATE TABLE t(id INTEGER PRIMARY KEY, a REAL, word TEXT NOT NULL, c REAL) "
                                          "STRICT; CREATE TABLE bound(id INTEGER PRIMARY KEY, a REAL, word TEXT NOT "
                                          "NULL, c REAL) STRICT"));
    return test;
}

static void table_case_end(TableCase *test)
{
    CHECK_OK(database_close(test->database));
    free(test);
}

static int64_t table_case_count(TableCase *test, const char *sql)
{
    Statement *statement = NULL;
    bool row = false;
    int64_t value = -1;
    CHECK_OK(database_prepare(test->database, sql, &statement));
    if (statement == NULL) return -2;
    CHECK_OK(statement_step(statement, &row));
    if (row) value = column_integer(statement, 0);
    statement_close(statement);
    return value;
}

static const char *table_case_word(const TableCase *test, int64_t i)
{
    return table_words[test->word[i] >= 0 && test->word[i] < 4 ? test->word[i] : 3];
}

// Inserts the rows by bound values too, into `bound`.
static void table_case_bind(TableCase *test)
{
    Statement *insert = NULL;
    bool row;
    CHECK_OK(database_run(test->database, "BEGIN"));
    CHECK_OK(database_prepare(test->database, "INSERT INTO bound VALUES(?, ?, ?, ?)", &insert));
    for (int64_t i = 0; i < TABLE_ROWS; i++) {
        bind_integer(insert, 1, test->id[i]);
        bind_real(insert, 2, test->real[0][i]);
        bind_text(insert, 3, table_case_word(test, i));
        bind_real(insert, 4, test->real[1][i]);
        CHECK_OK(statement_step(insert, &row));
    }
    statement_close(insert);
    CHECK_OK(database_run(test->database, "COMMIT"));
}

TEST(table_of_arrays_gives_the_rows_that_binding_gives)
{
    TableCase *test = table_case_start();
    uint64_t three[3], digests[TABLE_ROWS];
    Statement *stored = NULL;
    bool row = true;
    table_case_bind(test);
    CHECK_OK(database_run(test->database, "INSERT INTO t SELECT * FROM temp.batch"));
    CHECK_INTEGER(TABLE_ROWS, table_case_count(test, "SELECT count(*) FROM t JOIN bound USING(id)"));
    CHECK_INTEGER(0, table_case_count(test, "SELECT count(*) FROM (SELECT *, quote(a), quote(c), typeof(a) FROM t "
                                            "EXCEPT SELECT *, quote(a), quote(c), typeof(a) FROM bound)"));
    CHECK(table_case_count(test, "SELECT count(*) FROM t WHERE a IS NULL") > 0);
    memory_table_digests(&test->table, 0, TABLE_ROWS, digests);
    CHECK_OK(database_prepare(test->database, "SELECT * FROM bound ORDER BY id", &stored));
    for (int64_t i = 0; i < TABLE_ROWS && row; i++) {
        CHECK_OK(statement_step(stored, &row));
        if (!row || column_digest(stored, 0) != digests[i]) CHECK_INTEGER(-1, i);
    }
    statement_close(stored);
    memory_table_digests(&test->table, 701, 3, three);
    CHECK(memcmp(&digests[701], three, sizeof three) == 0);
    table_case_end(test);
}

// One prepared statement serves batch after batch, as the arrays and their rows change.
TEST(table_of_arrays_shows_other_rows_to_the_next_statement)
{
    TableCase *test = table_case_start();
    Statement *insert = NULL;
    bool row;
    CHECK_OK(database_prepare(test->database, "INSERT INTO t SELECT * FROM temp.batch", &insert));
    static const struct {
        int64_t first, end, stored;
    } parts[] = {{0, 0, 0}, {0, 16, 16}, {16, 17, 17}, {990, 1000, 27}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        test->table.first = parts[i].first;
        test->table.end = parts[i].end;
        CHECK_OK(statement_step(insert, &row));
        CHECK(!row);
        CHECK_INTEGER(parts[i].stored, table_case_count(test, "SELECT count(*) FROM t"));
    }
    CHECK_INTEGER(3 * 999, table_case_count(test, "SELECT max(id) FROM t"));
    int64_t other[] = {100000};
    test->columns[0].integers = other;
    test->table.first = 0;
    test->table.end = 1;
    CHECK_OK(statement_step(insert, &row));
    CHECK_INTEGER(100000, table_case_count(test, "SELECT max(id) FROM t"));
    statement_close(insert);
    table_case_end(test);
}

TEST(table_of_arrays_can_be_queried_and_not_changed)
{
    TableCase *test = table_case_start();
    Statement *zeros = NULL;
    int64_t count = 0;
    bool row;
    CHECK_INTEGER(3 * 998, table_case_count(test, "SELECT max(id) FROM batch WHERE rowid < 999"));
    CHECK_INTEGER(1, table_case_count(test, "SELECT count(*) FROM batch x JOIN batch y USING(id) WHERE id = 30"));
    CHECK_INTEGER(0, table_case_count(test, "SELECT count(*) FROM batch WHERE \"a \"\"b\" <> \"a \"\"b\""));
    CHECK_INTEGER(167, table_case_count(test, "SELECT count(*) FROM batch WHERE word = 'none'"));
    CHECK_OK(database_prepare(test->database, "SELECT c FROM batch WHERE c = 0", &zeros));
    for (; statement_step(zeros, &row).kind == OK && row; count++) CHECK(!signbit(column_real(zeros, 0)));
    CHECK_INTEGER(62, count); // 30 + 31 of table_case_real, and 0.1 * 0
    statement_close(zeros);
    CHECK_SAYS(ERROR_MACHINE, "may not be modified", database_run(test->database, "DELETE FROM batch"));
    CHECK_SAYS(ERROR_MACHINE, "may not be modified", database_run(test->database, "UPDATE batch SET c = 1"));
    table_case_end(test);
}

// A table of the same name in the file, which may be hostile, does not take its place; the file does not hold ours.
TEST(table_of_arrays_belongs_to_one_connection)
{
    TableCase *test = table_case_start();
    Database *other = NULL;
    CHECK_OK(database_open(test->text, DATABASE_WRITE, &other));
    CHECK_SAYS(ERROR_MACHINE, "no such table", database_run(other, "SELECT * FROM batch"));
    CHECK_OK(database_run(other, "CREATE TABLE batch(id, a, word, c); CREATE VIEW v AS SELECT * FROM batch"));
    CHECK_OK(database_close(other));
    CHECK_INTEGER(TABLE_ROWS, table_case_count(test, "SELECT count(*) FROM temp.batch"));
    CHECK_INTEGER(TABLE_ROWS, table_case_count(test, "SELECT count(*) FROM batch"));
    CHECK_INTEGER(0, table_case_count(test, "SELECT count(*) FROM main.batch"));
    table_case_end(test);
}

// Row 100 has the id of row 5.
TEST(table_of_arrays_with_a_row_twice_is_rolled_back)
{
    TableCase *test = table_case_start();
    test->id[100] = test->id[5];
    CHECK_OK(database_run(test->database, "BEGIN IMMEDIATE"));
    CHECK_SAYS(ERROR_MACHINE, "UNIQUE constraint failed: t.id",
               database_run(test->database, "INSERT OR FAIL INTO t SELECT * FROM temp.batch"));
    CHECK_OK(database_run(test->database, "ROLLBACK"));
    CHECK_INTEGER(0, table_case_count(test, "SELECT count(*) FROM t"));
    test->columns[1] = test->columns[2]; // a text where the table has a number
    CHECK_SAYS(ERROR_MACHINE, "cannot store TEXT value in REAL column t.a",
               database_run(test->database, "INSERT INTO t SELECT * FROM temp.batch"));
    test->id[100] = 300;
    test->columns[1] = test->columns[3];
    CHECK_OK(database_run(test->database, "INSERT INTO t SELECT * FROM temp.batch"));
    CHECK_INTEGER(TABLE_ROWS, table_case_count(test, "SELECT count(*) FROM t"));
    table_case_end(test);
}

#ifdef HOPSCOTCH_FAULTS
// The statement fails after its 500th row; the same error and the same state as when a row's own statement fails.
TEST(table_of_arrays_can_fail_at_any_row)
{
    static const struct {
        const char *fault, *says;
    } faults[] = {{"sql:502:ENOSPC", "bytes free"},
                  {"sql:502:EIO", "the disk failed"},
                  {"sql:502:EBUSY", "another process kept it locked"},
                  {"sql:502:ENOMEM", "not enough memory"}};
    TableCase *test = table_case_start();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        system_set_faults(faults[i].fault);
        CHECK_OK(database_run(test->database, "BEGIN IMMEDIATE"));
        CHECK_SAYS(ERROR_MACHINE, faults[i].says,
                   database_run(test->database, "INSERT OR FAIL INTO t SELECT * FROM temp.batch"));
        const Error rollback = database_run(test->database, "ROLLBACK");
        (void)rollback; // after most errors SQLite has done so
        system_set_faults("");
        CHECK_INTEGER(0, table_case_count(test, "SELECT count(*) FROM t"));
    }
    CHECK_OK(database_run(test->database, "INSERT OR FAIL INTO t SELECT * FROM temp.batch"));
    CHECK_INTEGER(TABLE_ROWS, table_case_count(test, "SELECT count(*) FROM t"));
    table_case_end(test);
}
#endif
