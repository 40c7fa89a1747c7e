// Finds the first rows of a table in an order by columns of numbers.
#ifndef HOPSCOTCH_IO_ORDER_H
#define HOPSCOTCH_IO_ORDER_H

#include "number_column.h"

enum { ORDER_TERMS_MAX = 3 };

// A candidate: its keys, one per term of the order, and its row number, which decides between equal keys.
typedef struct FoundRow {
    uint64_t key[ORDER_TERMS_MAX];
    int64_t row;
} FoundRow;

// Maps a cell to a key: cells that come earlier in the order have smaller keys. NULL is the smallest value, as in
// SQLite.
uint64_t order_key(bool real, bool descending, Cell cell);
double order_value(bool descending, uint64_t key);                    // whose key order_key gives; -0 is 0
bool order_before(const FoundRow *a, const FoundRow *b, int n_terms); // a comes before b

// Collects the first `most` rows that come after `last`, if has_last, else the first `most` rows.
typedef struct FirstRows {
    FoundRow *rows; // [most + spare]
    int64_t count, most, spare;
    int n_terms;
    FoundRow last, bound; // rows that do not come before `bound` are not among the first `most`
    bool has_last, has_bound;
} FirstRows;

bool first_rows_wants(const FirstRows *first, const FoundRow *row); // the row may be among the first `most`
// Adds a row that first_rows_wants. When most + spare rows are collected, calls first_rows_select. A small spare keeps
// `bound` tight, so that fewer rows are added in all; a large one selects less often.
void first_rows_add(FirstRows *first, const FoundRow *row);
void first_rows_select(FirstRows *first); // count <= most, and updates `bound`; dropped rows lie behind rows[count - 1]
void first_rows_sort(FirstRows *first);   // call at the end: rows[count] are in their order, count <= most

#endif
