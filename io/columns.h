// Which rows of columns in memory meet conditions. io/database_block_plan.c turns the conditions of SQL into these
// tests.
#ifndef HOPSCOTCH_COLUMNS_H
#define HOPSCOTCH_COLUMNS_H

#include "number_column.h"

typedef enum ColumnTestKind {
    TEST_INSIDE,  // low <= x <= high, and so not NULL
    TEST_OUTSIDE, // x < low or x > high
    TEST_NULL,    // x is NULL
    TEST_WORD,    // bit x of `words` is set
} ColumnTestKind;

enum { TEST_WORDS_MAX = 63 }; // bit 63: any other number

typedef struct ColumnTest {
    int column;
    bool real; // the column's cells are real
    ColumnTestKind kind;
    Cell low, high;
    uint64_t words;
    int n_words;
} ColumnTest;

typedef enum Comparison {
    IS_EQUAL,
    IS_NOT_EQUAL,
    IS_LESS,
    IS_LESS_OR_EQUAL,
    IS_GREATER,
    IS_GREATER_OR_EQUAL,
    COMPARISONS
} Comparison;

// The condition `x comparison value` as a test. SQLite compares integers with reals exactly (sqlite3IntFloatCompare),
// and so does the test, with one exception: between a real column and an integer that no double equals it may also take
// rows that the condition refuses.
ColumnTest test_with_real(bool real_column, Comparison comparison, double value);
ColumnTest test_with_integer(bool real_column, Comparison comparison, int64_t value);
ColumnTest test_all(bool real_column);  // all that is not NULL
ColumnTest test_none(bool real_column); // no row
// A test that all rows pass that pass one of the two. Both are of one column and of TEST_INSIDE or of TEST_WORD.
ColumnTest test_either(const ColumnTest *a, const ColumnTest *b);
// Keeps those of rows[n] whose cells pass, in their order; returns their number.
int64_t test_rows(const ColumnTest *test, const Cell *cells, uint32_t *rows, int64_t n);

#endif
