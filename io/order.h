// The first rows of a table in an order by columns of numbers.
#ifndef HOPSCOTCH_IO_ORDER_H
#define HOPSCOTCH_IO_ORDER_H

#include "number_column.h"

enum { ORDER_TERMS_MAX = 3 };

// A row among those found: the keys of the terms, then its number, which decides between equal keys.
typedef struct FoundRow {
    uint64_t key[ORDER_TERMS_MAX];
    int64_t row;
} FoundRow;

// A key that is smaller if the cell comes first. NULL is the smallest value, as SQLite has it.
uint64_t order_key(bool real, bool descending, Cell cell);
bool order_before(const FoundRow *a, const FoundRow *b, int n_terms);

// The first `most` rows behind `last` of those that are added.
typedef struct FirstRows {
    FoundRow *rows; // [most + spare]
    int64_t count, most, spare;
    int n_terms;
    FoundRow last, bound; // a row that does not come before `bound` is not among them
    bool has_last, has_bound;
} FirstRows;

bool first_rows_wants(const FirstRows *first, const FoundRow *row);
// Adds one that it wants. With most + spare rows, the first `most` stay, and count is `most`; the others lie behind
// them. A small spare keeps `bound` close to the row number `most`, so that fewer rows are wanted in all.
void first_rows_add(FirstRows *first, const FoundRow *row);
void first_rows_select(FirstRows *first); // the same with fewer rows: at most `most` stay
void first_rows_sort(FirstRows *first);   // the end: rows[count] in their order, count <= most

#endif
