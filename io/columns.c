// Which rows of columns in memory meet conditions (columns.h).
#include "columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ColumnTest test_reals(ColumnTestKind kind, double low, double high)
{
    return (ColumnTest){.real = true, .kind = kind, .low.real = low, .high.real = high};
}

static ColumnTest test_integers(ColumnTestKind kind, int64_t low, int64_t high)
{
    return (ColumnTest){.kind = kind, .low.integer = low, .high.integer = high};
}

ColumnTest test_all(bool real_column)
{
    return real_column ? test_reals(TEST_INSIDE, -(double)INFINITY, (double)INFINITY)
                       : test_integers(TEST_INSIDE, INT64_MIN, INT64_MAX);
}

ColumnTest test_none(bool real_column)
{
    return real_column ? test_reals(TEST_INSIDE, (double)INFINITY, -(double)INFINITY)
                       : test_integers(TEST_INSIDE, INT64_MAX, INT64_MIN);
}

// below, above: the neighbours of value; of an infinite value it is its own neighbour, and SQLite compares again
static ColumnTest test_of_reals(Comparison comparison, double value, double below, double above)
{
    const double infinite = (double)INFINITY;
    switch (comparison) {
    case IS_EQUAL: return test_reals(TEST_INSIDE, value, value);
    case IS_NOT_EQUAL: return test_reals(TEST_OUTSIDE, value, value);
    case IS_LESS: return test_reals(TEST_INSIDE, -infinite, below);
    case IS_LESS_OR_EQUAL: return test_reals(TEST_INSIDE, -infinite, value);
    case IS_GREATER: return test_reals(TEST_INSIDE, above, infinite);
    default: return test_reals(TEST_INSIDE, value, infinite);
    }
}

static ColumnTest test_of_integers(Comparison comparison, int64_t value)
{
    const bool least = value == INT64_MIN, greatest = value == INT64_MAX;
    switch (comparison) {
    case IS_EQUAL: return test_integers(TEST_INSIDE, value, value);
    case IS_NOT_EQUAL: return test_integers(TEST_OUTSIDE, value, value);
    case IS_LESS: return least ? test_none(false) : test_integers(TEST_INSIDE, INT64_MIN, value - 1);
    case IS_LESS_OR_EQUAL: return test_integers(TEST_INSIDE, INT64_MIN, value);
    case IS_GREATER: return greatest ? test_none(false) : test_integers(TEST_INSIDE, value + 1, INT64_MAX);
    default: return test_integers(TEST_INSIDE, value, INT64_MAX);
    }
}

// Integers between which a real lies; it equals neither.
static ColumnTest test_between_integers(Comparison comparison, int64_t below, int64_t above)
{
    switch (comparison) {
    case IS_EQUAL: return test_none(false);
    case IS_NOT_EQUAL: return test_all(false);
    case IS_LESS:
    case IS_LESS_OR_EQUAL: return test_integers(TEST_INSIDE, INT64_MIN, below);
    default: return test_integers(TEST_INSIDE, above, INT64_MAX);
    }
}

ColumnTest test_with_real(bool real_column, Comparison comparison, double value)
{
    const bool less = comparison == IS_LESS || comparison == IS_LESS_OR_EQUAL;
    const bool greater = comparison == IS_GREATER || comparison == IS_GREATER_OR_EQUAL;
    if (real_column)
        return test_of_reals(comparison, value, nextafter(value, -(double)INFINITY),
                             nextafter(value, (double)INFINITY));
    if (value >= 0x1p63) return less || comparison == IS_NOT_EQUAL ? test_all(false) : test_none(false);
    if (value < -0x1p63) return greater || comparison == IS_NOT_EQUAL ? test_all(false) : test_none(false);
    if (value == floor(value)) return test_of_integers(comparison, (int64_t)value);
    return test_between_integers(comparison, (int64_t)floor(value), (int64_t)ceil(value));
}

ColumnTest test_with_integer(bool real_column, Comparison comparison, int64_t value)
{
    const int64_t exact = (int64_t)1 << 53;
    const double real = (double)value;
    if (!real_column) return test_of_integers(comparison, value);
    if (value >= -exact && value <= exact) return test_with_real(true, comparison, real);
    if (comparison == IS_NOT_EQUAL) return test_all(true);
    return test_of_reals(comparison, real, real, real); // rounding keeps the order of numbers, but may make them equal
}

ColumnTest test_either(const ColumnTest *a, const ColumnTest *b)
{
    ColumnTest either = *a;
    if (a->kind == TEST_WORD) {
        either.words |= b->words;
    } else if (a->real) {
        if (b->low.real < a->low.real) either.low = b->low;
        if (b->high.real > a->high.real) either.high = b->high;
    } else {
        if (b->low.integer < a->low.integer) either.low = b->low;
        if (b->high.integer > a->high.integer) either.high = b->high;
    }
    return either;
}

#define TEST_ROWS(passes)                                                                                              \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
        const uint32_t row = rows[i];                                                                                  \
        const Cell x = cells[row];                                                                                     \
        rows[kept] = row;                                                                                              \
        kept += (passes);                                                                                              \
    }                                                                                                                  \
    return kept;

static int64_t test_real_rows(const ColumnTest *test, const Cell *cells, uint32_t *rows, int64_t n)
{
    const double low = test->low.real, high = test->high.real;
    int64_t kept = 0;
    if (test->kind == TEST_INSIDE) {
        TEST_ROWS((x.real >= low) & (x.real <= high))
    }
    if (test->kind == TEST_OUTSIDE) {
        TEST_ROWS((x.real < low) | (x.real > high))
    }
    TEST_ROWS(x.real != x.real)
}

static int64_t test_integer_rows(const ColumnTest *test, const Cell *cells, uint32_t *rows, int64_t n)
{
    const int64_t low = test->low.integer, high = test->high.integer;
    int64_t kept = 0;
    if (test->kind == TEST_INSIDE) {
        TEST_ROWS((x.integer >= low) & (x.integer <= high))
    }
    TEST_ROWS((x.integer < low) | (x.integer > high))
}

static int64_t test_word_rows(const ColumnTest *test, const Cell *cells, uint32_t *rows, int64_t n)
{
    const uint64_t words = test->words, known = (uint64_t)test->n_words;
    int64_t kept = 0;
    TEST_ROWS((words >> ((uint64_t)x.integer < known ? (uint64_t)x.integer : TEST_WORDS_MAX) & 1) != 0)
}
#undef TEST_ROWS

int64_t test_rows(const ColumnTest *test, const Cell *cells, uint32_t *rows, int64_t n)
{
    if (test->kind == TEST_WORD) return test_word_rows(test, cells, rows, n);
    if (test->real) return test_real_rows(test, cells, rows, n);
    return test->kind == TEST_NULL ? 0 : test_integer_rows(test, cells, rows, n); // an integer is never NULL
}
