// The first trials in an order (queries.h). Unlike io/order.h, any number of columns decide, and the trials may be all.
//
// Each thread collects trials as rows of keys. When it has enough it sorts them and keeps the first; from then on it
// takes only trials that come before the last of these.
#include "../queries.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERED_START = 1024 }; // rows

typedef struct OrderedRows {
    uint64_t *rows; // [capacity][width]; the last key is the id
    int64_t count, capacity;
    bool bounded; // the last of the first `most` rows is known: row `most` - 1
    double limit; // its first column
    bool failed;  // no memory
    uint32_t chosen[TRIAL_PIECE];
} OrderedRows;

typedef struct TrialsOrdered {
    const bool *descending; // [width]
    int width;
    int64_t most; // INT64_MAX: all
    OrderedRows **threads;
    _Atomic uint64_t limit; // trials with a first key above it are not needed
} TrialsOrdered;

static int ordered_compare(const void *a, const void *b, void *width)
{
    const uint64_t *x = a, *y = b;
    for (int i = 0; i < *(int *)width; i++) {
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

// Without an order, trials of one thread are sorted already.
static void ordered_sort(OrderedRows *list, int width)
{
    bool sorted = true;
    for (int64_t i = 1; i < list->count && sorted; i++)
        sorted = ordered_compare(&list->rows[(i - 1) * width], &list->rows[i * width], &width) < 0;
    if (!sorted) qsort_r(list->rows, (size_t)list->count, (size_t)width * sizeof *list->rows, ordered_compare, &width);
}

static uint64_t ordered_key(bool descending, double value)
{
    return value != value ? UINT64_MAX : order_key(true, descending, (Cell){.real = value});
}

// Makes room for `more` rows.
static bool ordered_grow(OrderedRows *list, int64_t more, int width)
{
    const int64_t twice = list->capacity > 0 ? 2 * list->capacity : ORDERED_START, needed = list->count + more;
    const int64_t capacity = needed > twice ? needed : twice;
    if (list->capacity >= needed) return true;
    uint64_t *rows = realloc(list->rows, (size_t)capacity * (size_t)width * sizeof *rows);
    list->failed = rows == NULL;
    if (rows == NULL) return false;
    list->rows = rows;
    list->capacity = capacity;
    return true;
}

static void ordered_keep_first(TrialsOrdered *ordered, OrderedRows *list)
{
    ordered_sort(list, ordered->width);
    list->count = ordered->most;
    list->bounded = true;
    const uint64_t key = list->rows[(list->count - 1) * ordered->width];
    list->limit = key == UINT64_MAX ? (double)NAN : order_value(ordered->descending[0], key);
    uint64_t limit = atomic_load(&ordered->limit);
    while (key < limit && !atomic_compare_exchange_weak(&ordered->limit, &limit, key)) {
    }
}

// list->chosen <- the trials that may come before the bound, as far as the first column shows; returns their number.
static int ordered_choose(OrderedRows *list, const double *first, int rows, bool descending)
{
    const double limit = list->bounded ? list->limit : (double)NAN;
    int n = 0;
    for (int i = 0; i < rows; i++) {
        list->chosen[n] = (uint32_t)i;
        n += descending ? !(first[i] < limit) : !(first[i] > limit);
    }
    return n;
}

static void ordered_add(TrialsOrdered *ordered, OrderedRows *list, const TrialPiece *piece, uint32_t i)
{
    int width = ordered->width;
    uint64_t *row = &list->rows[list->count * width];
    for (int k = 0; k < width; k++) row[k] = ordered_key(ordered->descending[k], piece->columns[k][i]);
    if (list->bounded && ordered_compare(row, &list->rows[(ordered->most - 1) * width], &width) > 0) return;
    list->count++;
    if (list->count - ORDERED_START - ordered->most / 2 >= ordered->most) ordered_keep_first(ordered, list);
}

static void ordered_take(void *context, int thread, const TrialPiece *piece)
{
    TrialsOrdered *ordered = context;
    OrderedRows *list = ordered->threads[thread];
    if (list->failed || !ordered_grow(list, piece->rows, ordered->width)) return;
    const int n = ordered_choose(list, piece->columns[0], piece->rows, ordered->descending[0]);
    for (int c = 0; c < n; c++) ordered_add(ordered, list, piece, list->chosen[c]);
}

static bool ordered_skips(const void *context, double least, double greatest)
{
    const TrialsOrdered *ordered = context;
    const bool descending = ordered->descending[0], none = !(least <= greatest);
    const double best = none ? (double)NAN : descending ? greatest : least;
    return ordered_key(descending, best) > atomic_load(&((TrialsOrdered *)(uintptr_t)ordered)->limit);
}

// All rows into the list of the first thread, in their order.
static Error ordered_merge(TrialsOrdered *ordered, int threads)
{
    OrderedRows *all = ordered->threads[0];
    bool failed = false;
    for (int t = 0; t < threads; t++) failed |= ordered->threads[t]->failed;
    for (int t = 1; t < threads && !failed; t++) {
        const OrderedRows *list = ordered->threads[t];
        failed = !ordered_grow(all, list->count, ordered->width);
        if (failed || list->count == 0) continue;
        memcpy(&all->rows[all->count * ordered->width], list->rows,
               (size_t)list->count * (size_t)ordered->width * sizeof *list->rows);
        all->count += list->count;
    }
    if (failed) return error_make(ERROR_MACHINE, "not enough memory to order all trials: --limit needs less");
    ordered_sort(all, ordered->width);
    if (all->count > ordered->most) all->count = ordered->most;
    return error_none();
}

static Error ordered_run(TrialScan *scan, TrialsOrdered *ordered, Arena *arena, int64_t **ids, int64_t *count)
{
    TRY(trial_scan_run(scan));
    TRY(ordered_merge(ordered, scan->threads));
    const OrderedRows *all = ordered->threads[0];
    *count = all->count;
    *ids = ARENA_NEW(arena, int64_t, all->count + 1);
    for (int64_t i = 0; i < all->count; i++)
        (*ids)[i] =
            (int64_t)order_value(ordered->descending[ordered->width - 1], all->rows[(i + 1) * ordered->width - 1]);
    return error_none();
}

Error trials_ordered(Database *database, const TrialColumns *all, const Condition *where, const TrialOrder *order,
                     int n_order, int64_t most, const DatabaseGuard *guard, Arena *arena, int64_t **ids, int64_t *count)
{
    int *columns = ARENA_NEW(arena, int, n_order + 1), width = 0;
    bool *descending = ARENA_NEW(arena, bool, n_order + 1);
    for (; width < n_order && strcmp(order[width].column, all->names[0]) != 0; width++) {
        columns[width] = trial_column_find(all, order[width].column);
        descending[width] = order[width].descending;
    }
    columns[width] = 0; // ids differ: later terms decide nothing
    descending[width] = width < n_order && order[width].descending;
    width++;
    TrialsOrdered ordered = {
        .descending = descending, .width = width, .most = most > 0 ? most : INT64_MAX, .limit = UINT64_MAX};
    TrialScan scan = {.database = database,
                      .all = all,
                      .where = where,
                      .columns = columns,
                      .n = width,
                      .first = width == 1 && !descending[0] ? most : 0,
                      .guard = guard,
                      .take = ordered_take,
                      .skips = ordered_skips,
                      .context = &ordered};
    TRY(trial_scan_start(&scan, arena));
    ordered.threads = ARENA_NEW(arena, OrderedRows *, scan.threads);
    for (int t = 0; t < scan.threads; t++) {
        ordered.threads[t] = ARENA_NEW(arena, OrderedRows, 1);
        memset(ordered.threads[t], 0, sizeof *ordered.threads[t]);
    }
    const Error error = ordered_run(&scan, &ordered, arena, ids, count);
    for (int t = 0; t < scan.threads; t++) free(ordered.threads[t]->rows);
    return error;
}
