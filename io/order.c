// The first rows in an order (order.h).
#include "order.h"

#include <stdlib.h>
#include <string.h>

// The bits of a double, read as an integer, ascend with its value; those of negative numbers descend.
uint64_t order_key(bool real, bool descending, Cell cell)
{
    const uint64_t sign = (uint64_t)1 << 63;
    uint64_t key;
    if (real) cell.real += 0.0; // -0 -> 0
    memcpy(&key, &cell, sizeof key);
    if (real && cell.real != cell.real)
        key = 0; // below -infinity
    else if (real)
        key = (key & sign) != 0 ? ~key : key | sign;
    else
        key ^= sign;
    return descending ? ~key : key;
}

double order_value(bool descending, uint64_t key)
{
    const uint64_t sign = (uint64_t)1 << 63;
    double value;
    if (descending) key = ~key;
    key = (key & sign) != 0 ? key & ~sign : ~key;
    memcpy(&value, &key, sizeof value);
    return value;
}

bool order_before(const FoundRow *a, const FoundRow *b, int n_terms)
{
    for (int i = 0; i < n_terms; i++) {
        if (a->key[i] != b->key[i]) return a->key[i] < b->key[i];
    }
    return a->row < b->row;
}

static void order_swap(FoundRow *a, FoundRow *b)
{
    const FoundRow kept = *a;
    *a = *b;
    *b = kept;
}

// The median of three, moved to rows[0]
static void order_choose_pivot(FoundRow *rows, int64_t count, int n_terms)
{
    FoundRow *middle = &rows[count / 2], *end = &rows[count - 1];
    if (order_before(middle, &rows[0], n_terms)) order_swap(middle, &rows[0]);
    if (order_before(end, &rows[0], n_terms)) order_swap(end, &rows[0]);
    if (order_before(end, middle, n_terms)) order_swap(end, middle);
    order_swap(&rows[0], middle);
}

// Moves the first `wanted` of the rows to the front, in any order (Hoare's algorithm 65, "Find", 1961). No two rows are
// equal, because their numbers differ.
static void order_select(FoundRow *rows, int64_t count, int64_t wanted, int n_terms)
{
    while (wanted > 0 && wanted < count) {
        order_choose_pivot(rows, count, n_terms);
        const FoundRow pivot = rows[0];
        int64_t front = 0;
        for (int64_t i = 1; i < count; i++) {
            if (order_before(&rows[i], &pivot, n_terms)) order_swap(&rows[++front], &rows[i]);
        }
        order_swap(&rows[0], &rows[front]); // the pivot's final index
        if (wanted <= front) {
            count = front;
        } else {
            rows += front + 1;
            count -= front + 1;
            wanted -= front + 1;
        }
    }
}

bool first_rows_wants(const FirstRows *first, const FoundRow *row)
{
    if (first->has_bound && !order_before(row, &first->bound, first->n_terms)) return false;
    return !first->has_last || order_before(&first->last, row, first->n_terms);
}

void first_rows_select(FirstRows *first)
{
    if (first->count <= first->most) return;
    order_select(first->rows, first->count, first->most, first->n_terms);
    first->count = first->most;
    first->bound = first->rows[0];
    first->has_bound = true;
    for (int64_t i = 1; i < first->count; i++) {
        if (order_before(&first->bound, &first->rows[i], first->n_terms)) first->bound = first->rows[i];
    }
}

void first_rows_add(FirstRows *first, const FoundRow *row)
{
    first->rows[first->count++] = *row;
    if (first->count == first->most + first->spare) first_rows_select(first);
}

// qsort can't pass n_terms: unused keys are 0 in all rows.
static int order_compare(const void *a, const void *b)
{
    return order_before(a, b, ORDER_TERMS_MAX) ? -1 : order_before(b, a, ORDER_TERMS_MAX);
}

void first_rows_sort(FirstRows *first)
{
    first_rows_select(first);
    if (first->count > 0) qsort(first->rows, (size_t)first->count, sizeof *first->rows, order_compare);
}
