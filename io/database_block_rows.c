// The rows that a cursor of the table over blocks gives, and their cells.
//
// A cursor gives its rows in slices: rows of one piece of a block, or the first rows in an order. Of a slice, a column
// is read when SQLite first asks for it. A file is read, not mapped, because another process may make it shorter.
#include "database_blocks.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_PIECE = 1 << 14, // rows that are read at a time: 128 KiB of a column stay in the processor's cache
    BLOCK_FOUND = 1 << 10, // rows that are looked for first in an order; then BLOCK_FOUND_MORE times as many
    BLOCK_FOUND_MORE = 16,
    BLOCK_FOUND_MAX = 1 << 18,    // 16 MiB
    BLOCK_SLICE_BYTES = 64 << 20, // of all columns of a slice
    BLOCK_SPARSE = 1024,          // reading one cell takes as long as reading this many that follow each other
    BLOCK_QUESTION = 1 << 18      // cells that are read between two questions whether to go on
};

// ---- reading --------------------------------------------------------------------------------------------------------

static int64_t block_piece_rows(const BlockTable *table) { return table->piece > 0 ? table->piece : BLOCK_PIECE; }

static int block_failed(BlockCursor *cursor, const Error *error)
{
    sqlite3_vtab *table = cursor->base.pVtab;
    cursor->module->error = *error;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", error->text);
    return SQLITE_ERROR;
}

static int block_ask(BlockCursor *cursor, int64_t cells)
{
    const DatabaseGuard *guard = cursor->module->database->guard;
    cursor->unasked += cells + BLOCK_SPARSE;
    if (cursor->unasked < BLOCK_QUESTION || guard == NULL) return SQLITE_OK;
    cursor->unasked = 0;
    return database_is_late(guard) ? SQLITE_INTERRUPT : SQLITE_OK;
}

static bool block_has_gaps(const BlockSpan *span) { return span->last - span->first + 1 != span->rows; }

// The block of a row, by halving
static int64_t block_of(const BlockModule *module, int64_t row)
{
    int64_t low = 0, high = module->table.n_blocks;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (module->before[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// cells[rows] <- rows [first, first + rows) of a block
static int block_read(BlockCursor *cursor, int64_t block, int column, int64_t first, int64_t rows, Cell *cells)
{
    const BlockTable *table = &cursor->module->table;
    const BlockSpan *span = &table->blocks[block];
    if (column == 0 && !block_has_gaps(span)) {
        for (int64_t i = 0; i < rows; i++) cells[i].integer = span->first + first + i;
        return SQLITE_OK;
    }
    const int code = block_ask(cursor, rows);
    if (code != SQLITE_OK) return code;
    const Error error = table->read(table->source, block, column, first, rows, cells);
    return error.kind == OK ? SQLITE_OK : block_failed(cursor, &error);
}

// ---- a slice --------------------------------------------------------------------------------------------------------

// slice[count]: rows that lie within a piece of a block.
static int slice_read_run(BlockCursor *cursor, int column, int64_t block, const SliceRow *slice, int64_t count)
{
    const int64_t first = slice[0].row - cursor->module->before[block];
    const int64_t span = slice[count - 1].row - slice[0].row + 1;
    const int64_t sparse = cursor->module->table.sparse;
    Cell *cells = cursor->cells[column], *piece = cursor->piece[0];
    if (span == count && slice[count - 1].at - slice[0].at + 1 == count && cursor->found.n_terms == 0)
        return block_read(cursor, block, column, first, count, &cells[slice[0].at]);
    cursor->piece_column[0] = -1;
    if (span <= count * (sparse > 0 ? sparse : BLOCK_SPARSE)) {
        const int code = block_read(cursor, block, column, first, span, piece);
        for (int64_t i = 0; code == SQLITE_OK && i < count; i++)
            cells[slice[i].at] = piece[slice[i].row - slice[0].row];
        return code;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = first + slice[i].row - slice[0].row;
        const int code = block_read(cursor, block, column, row, 1, &cells[slice[i].at]);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

static int slice_load(BlockCursor *cursor, int column)
{
    const BlockModule *module = cursor->module;
    const int64_t piece = block_piece_rows(&module->table);
    if (cursor->cells[column] == NULL)
        cursor->cells[column] = sqlite3_malloc64((sqlite3_uint64)cursor->capacity * sizeof(Cell));
    if (cursor->cells[column] == NULL) return SQLITE_NOMEM;
    for (int64_t k = 0, n = 0; k < cursor->count; k += n) {
        const int64_t row = cursor->slice[k].row, block = block_of(module, row), end = module->before[block + 1];
        const int64_t most = end - row < piece ? end : row + piece;
        for (n = 1; k + n < cursor->count && cursor->slice[k + n].row < most;) n++;
        const int code = slice_read_run(cursor, column, block, &cursor->slice[k], n);
        if (code != SQLITE_OK) return code;
    }
    cursor->loaded[column] = true;
    return SQLITE_OK;
}

static void slice_clear(BlockCursor *cursor)
{
    memset(cursor->loaded, 0, (size_t)cursor->module->table.n_columns * sizeof *cursor->loaded);
    cursor->count = cursor->at = 0;
}

// Makes room for slices of `rows` rows.
static int slice_take(BlockCursor *cursor, int64_t rows)
{
    if (rows <= cursor->capacity) return SQLITE_OK;
    SliceRow *slice = sqlite3_realloc64(cursor->slice, (sqlite3_uint64)rows * sizeof *slice);
    if (slice == NULL) return SQLITE_NOMEM;
    for (int c = 0; c < cursor->module->table.n_columns; c++) {
        sqlite3_free(cursor->cells[c]);
        cursor->cells[c] = NULL;
    }
    cursor->slice = slice;
    cursor->capacity = rows;
    return SQLITE_OK;
}

// ---- rows in the order of ids ---------------------------------------------------------------------------------------

// *cells <- a column of the piece, which is read once. Buffer `which`: 0 for the tests, 1 + i for term i of an order.
static int piece_read(BlockCursor *cursor, int which, int column, const Cell **cells)
{
    for (int i = 0; i <= ORDER_TERMS_MAX; i++) {
        *cells = cursor->piece[i];
        if (cursor->piece_column[i] == column) return SQLITE_OK;
    }
    const int64_t block = block_of(cursor->module, cursor->piece_row);
    const int64_t first = cursor->piece_row - cursor->module->before[block];
    const sqlite3_uint64 most = (sqlite3_uint64)block_piece_rows(&cursor->module->table);
    if (cursor->piece[which] == NULL) cursor->piece[which] = sqlite3_malloc64(most * sizeof(Cell));
    if (cursor->piece[which] == NULL) return SQLITE_NOMEM;
    cursor->piece_column[which] = -1;
    const int code = block_read(cursor, block, column, first, cursor->piece_rows, cursor->piece[which]);
    if (code == SQLITE_OK) cursor->piece_column[which] = column;
    *cells = cursor->piece[which];
    return code;
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

// Steps to the next piece, or to the one before if the ids descend. None of its rows is chosen yet.
static int piece_next(BlockCursor *cursor)
{
    const BlockModule *module = cursor->module;
    const int64_t most = block_piece_rows(&module->table);
    if (cursor->backward) {
        const int64_t start = module->before[block_of(module, cursor->end - 1)];
        const int64_t row = start > cursor->next ? start : cursor->next;
        cursor->piece_rows = least_of(most, cursor->end - row);
        cursor->end -= cursor->piece_rows;
        cursor->piece_row = cursor->end;
    } else {
        const int64_t end = least_of(cursor->end, module->before[block_of(module, cursor->next) + 1]);
        cursor->piece_row = cursor->next;
        cursor->piece_rows = least_of(most, end - cursor->next);
        cursor->next += cursor->piece_rows;
    }
    for (int i = 0; i <= ORDER_TERMS_MAX; i++) cursor->piece_column[i] = -1;
    cursor->n_chosen = 0;
    return block_ask(cursor, cursor->piece_rows);
}

static void piece_choose_all(BlockCursor *cursor)
{
    cursor->n_chosen = cursor->piece_rows;
    for (int64_t i = 0; i < cursor->n_chosen; i++) cursor->chosen[i] = (uint32_t)i;
}

// Keeps the chosen rows that pass the tests.
static int piece_test(BlockCursor *cursor)
{
    for (int t = 0; t < cursor->n_tests && cursor->n_chosen > 0; t++) {
        const Cell *cells;
        const int code = piece_read(cursor, 0, cursor->tests[t].column, &cells);
        if (code != SQLITE_OK) return code;
        cursor->n_chosen = test_rows(&cursor->tests[t], cells, cursor->chosen, cursor->n_chosen);
    }
    return SQLITE_OK;
}

static int slice_next_piece(BlockCursor *cursor)
{
    int64_t n = 0;
    while (n == 0 && cursor->next < cursor->end) {
        int code = piece_next(cursor);
        piece_choose_all(cursor);
        if (code == SQLITE_OK) code = piece_test(cursor);
        if (code != SQLITE_OK) return code;
        n = cursor->n_chosen;
    }
    for (int64_t i = 0; i < n; i++)
        cursor->slice[i] =
            (SliceRow){.row = cursor->piece_row + cursor->chosen[i], .at = cursor->backward ? n - 1 - i : i};
    cursor->count = n;
    return SQLITE_OK;
}

// ---- rows in another order ------------------------------------------------------------------------------------------

// The keys of a row that may be among the first. Those of later terms are read for such rows only.
static int order_keys(BlockCursor *cursor, uint32_t chosen, FoundRow *out)
{
    *out = (FoundRow){.row = cursor->piece_row + chosen};
    for (int i = 0; i < cursor->found.n_terms; i++) {
        const BlockOrder *term = &cursor->order[i];
        Cell cell = {.integer = out->row}; // ids ascend with the rows
        const Cell *cells = NULL;
        const int code = term->column == 0 ? SQLITE_OK : piece_read(cursor, 1 + i, term->column, &cells);
        if (code != SQLITE_OK) return code;
        if (term->column != 0) cell = cells[chosen];
        out->key[i] = order_key(block_column_is_real(&cursor->module->table, term->column), term->descending, cell);
    }
    return SQLITE_OK;
}

// The bound of the rows found so far, as cells of the terms.
typedef struct OrderBound {
    Cell cell[ORDER_TERMS_MAX];
    int n_terms; // 0: there is none yet, or a term is not a real column
} OrderBound;

static OrderBound order_bound(const BlockCursor *cursor)
{
    const FirstRows *found = &cursor->found;
    OrderBound bound = {.n_terms = found->has_bound ? found->n_terms : 0};
    for (int t = 0; t < bound.n_terms; t++) {
        bound.cell[t].real = order_value(cursor->order[t].descending, found->bound.key[t]);
        if (!block_column_is_real(&cursor->module->table, cursor->order[t].column)) bound.n_terms = 0;
    }
    return bound;
}

enum { ORDER_RUN = 64 }; // rows that are looked at together, without a branch

// Rows of a run. enters: a term comes before that of the bound, and the terms before it are equal; NaN enters too.
// equal: all terms so far. Where all are equal the row stays out, because it has the greater number.
typedef struct OrderRun {
    int64_t enters[ORDER_RUN], equal[ORDER_RUN]; // 0 or 1
} OrderRun;

static void order_start_run(OrderRun *run)
{
    for (int i = 0; i < ORDER_RUN; i++) {
        run->enters[i] = 0;
        run->equal[i] = 1;
    }
}

static void order_compare_run(OrderRun *run, const Cell *cells, double bound, bool descending)
{
    for (int i = 0; i < ORDER_RUN; i++) {
        const double x = cells[i].real;
        const int64_t behind = descending ? x <= bound : x >= bound, same = x == bound;
        run->enters[i] |= run->equal[i] & (behind ^ 1);
        run->equal[i] &= same;
    }
}

static bool order_any(const int64_t *flags)
{
    int64_t any = 0;
    for (int i = 0; i < ORDER_RUN; i++) any |= flags[i];
    return any != 0;
}

static int order_count_behind(const Cell *cells, double bound, bool descending)
{
    int behind = 0;
    if (descending) {
        for (int i = 0; i < ORDER_RUN; i++) behind += cells[i].real < bound;
    } else {
        for (int i = 0; i < ORDER_RUN; i++) behind += cells[i].real > bound;
    }
    return behind;
}

// To the bit. The first cell alone rules out most runs that are not.
static bool order_is_equal(const Cell *cells, Cell bound)
{
    int64_t differs = 0;
    if (cells[0].integer != bound.integer) return false;
    for (int i = 0; i < ORDER_RUN; i++) differs |= cells[i].integer ^ bound.integer;
    return differs == 0;
}

// Most runs are behind the bound as a whole, or equal to it as a whole. Later terms are read only where earlier ones
// are equal. *out: no row of the run enters; else see `run`.
static int order_look_at_run(BlockCursor *cursor, const OrderBound *bound, int64_t first, OrderRun *run, bool *out)
{
    bool whole = true; // all rows are equal so far
    *out = true;
    for (int t = 0; t < bound->n_terms; t++) {
        const BlockOrder *term = &cursor->order[t];
        const double value = bound->cell[t].real;
        const Cell *cells;
        const int code = piece_read(cursor, 1 + t, term->column, &cells);
        if (code != SQLITE_OK) return code;
        cells += first;
        if (whole && order_is_equal(cells, bound->cell[t])) continue;
        if (whole && order_count_behind(cells, value, term->descending) == ORDER_RUN) return SQLITE_OK;
        if (whole) order_start_run(run);
        whole = false;
        order_compare_run(run, cells, value, term->descending);
        if (!order_any(run->equal)) break;
    }
    *out = whole || !order_any(run->enters);
    return SQLITE_OK;
}

// Chooses the rows of a piece that may come before the bound. Soon these are few.
static int order_choose(BlockCursor *cursor, const OrderBound *bound)
{
    OrderRun run;
    bool out;
    int64_t n = 0, first = 0;
    for (; first + ORDER_RUN <= cursor->piece_rows; first += ORDER_RUN) {
        const int code = order_look_at_run(cursor, bound, first, &run, &out);
        if (code != SQLITE_OK) return code;
        if (out) continue;
        for (int64_t i = 0; i < ORDER_RUN; i++) {
            cursor->chosen[n] = (uint32_t)(first + i);
            n += run.enters[i];
        }
    }
    while (first < cursor->piece_rows) cursor->chosen[n++] = (uint32_t)first++;
    cursor->n_chosen = n;
    return SQLITE_OK;
}

static int order_add_piece(BlockCursor *cursor)
{
    const OrderBound bound = order_bound(cursor);
    int code = piece_next(cursor);
    if (code != SQLITE_OK) return code;
    if (bound.n_terms > 0)
        code = order_choose(cursor, &bound);
    else
        piece_choose_all(cursor);
    if (code == SQLITE_OK) code = piece_test(cursor);
    for (int64_t i = 0; code == SQLITE_OK && i < cursor->n_chosen; i++) {
        FoundRow found;
        code = order_keys(cursor, cursor->chosen[i], &found);
        if (code == SQLITE_OK && first_rows_wants(&cursor->found, &found)) first_rows_add(&cursor->found, &found);
    }
    return code;
}

// Looks through all rows for the first found.most behind found.last.
static int order_find(BlockCursor *cursor)
{
    FirstRows *found = &cursor->found;
    FoundRow *rows = sqlite3_realloc64(found->rows, 2 * (sqlite3_uint64)found->most * sizeof *rows);
    if (rows == NULL) return SQLITE_NOMEM;
    found->rows = rows;
    found->spare = found->most;
    found->count = cursor->found_at = 0;
    found->has_bound = false;
    for (cursor->next = cursor->first; cursor->next < cursor->end;) {
        const int code = order_add_piece(cursor);
        if (code != SQLITE_OK) return code;
    }
    first_rows_sort(found);
    return SQLITE_OK;
}

static int64_t slice_rows_most(const BlockTable *table)
{
    const int64_t rows = BLOCK_SLICE_BYTES / (int64_t)sizeof(Cell) / table->n_columns, piece = block_piece_rows(table);
    return rows > piece ? rows : piece;
}

static int slice_row_compare(const void *a, const void *b)
{
    const int64_t x = ((const SliceRow *)a)->row, y = ((const SliceRow *)b)->row;
    return (x > y) - (x < y);
}

static int slice_next_found(BlockCursor *cursor)
{
    FirstRows *found = &cursor->found;
    if (cursor->found_at == found->count && found->count == found->most) {
        found->last = found->rows[found->count - 1];
        found->has_last = true;
        if (found->most < BLOCK_FOUND_MAX) found->most *= BLOCK_FOUND_MORE;
        const int code = order_find(cursor);
        if (code != SQLITE_OK) return code;
    }
    const int64_t left = found->count - cursor->found_at, most = slice_rows_most(&cursor->module->table);
    const int64_t n = left < most ? left : most;
    const int code = slice_take(cursor, n);
    if (code != SQLITE_OK) return code;
    for (int64_t i = 0; i < n; i++)
        cursor->slice[i] = (SliceRow){.row = found->rows[cursor->found_at + i].row, .at = i};
    if (n > 0) qsort(cursor->slice, (size_t)n, sizeof *cursor->slice, slice_row_compare);
    cursor->found_at += n;
    cursor->count = n;
    return SQLITE_OK;
}

// Goes to the next slice if this one is used up. At the end there is none: count is 0.
static int cursor_settle(BlockCursor *cursor)
{
    if (cursor->at < cursor->count) return SQLITE_OK;
    slice_clear(cursor);
    return cursor->found.n_terms > 0 ? slice_next_found(cursor) : slice_next_piece(cursor);
}

// ---- ids ------------------------------------------------------------------------------------------------------------

// *row <- the first row whose id is not below `id`
static int block_seek(BlockCursor *cursor, int64_t id, int64_t *row)
{
    const BlockTable *table = &cursor->module->table;
    int64_t low = 0, high = table->n_blocks;
    while (low < high) { // the first block that does not end below it
        const int64_t middle = low + (high - low) / 2;
        if (table->blocks[middle].last < id)
            low = middle + 1;
        else
            high = middle;
    }
    *row = cursor->module->before[low];
    if (low == table->n_blocks || id <= table->blocks[low].first) return SQLITE_OK;
    int64_t first = 0, end = table->blocks[low].rows;
    const bool gaps = block_has_gaps(&table->blocks[low]);
    if (!gaps) first = end = id - table->blocks[low].first;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        Cell cell;
        const int code = block_read(cursor, low, 0, middle, 1, &cell);
        if (code != SQLITE_OK) return code;
        if (cell.integer < id)
            first = middle + 1;
        else
            end = middle;
    }
    *row += first;
    return SQLITE_OK;
}

int block_rows_narrow(BlockCursor *cursor, const ColumnTest *test)
{
    int64_t first = 0, end = cursor->end;
    if (test->kind == TEST_OUTSIDE) return SQLITE_OK;
    const bool none = test->kind == TEST_NULL || test->low.integer > test->high.integer;
    int code = none ? SQLITE_OK : block_seek(cursor, test->low.integer, &first);
    if (code == SQLITE_OK && !none && test->high.integer < INT64_MAX)
        code = block_seek(cursor, test->high.integer + 1, &end);
    if (none || end < cursor->end) cursor->end = none ? 0 : end;
    if (first > cursor->first) cursor->first = first;
    return code;
}

// ---- the cursor -----------------------------------------------------------------------------------------------------

int block_rows_start(BlockCursor *cursor)
{
    const sqlite3_uint64 columns = (sqlite3_uint64)cursor->module->table.n_columns;
    const sqlite3_uint64 piece = (sqlite3_uint64)block_piece_rows(&cursor->module->table);
    cursor->cells = sqlite3_malloc64(columns * sizeof *cursor->cells);
    cursor->loaded = sqlite3_malloc64(columns * sizeof *cursor->loaded);
    cursor->piece[0] = sqlite3_malloc64(piece * sizeof(Cell));
    cursor->chosen = sqlite3_malloc64(piece * sizeof *cursor->chosen);
    if (cursor->cells == NULL) return SQLITE_NOMEM;
    memset(cursor->cells, 0, columns * sizeof *cursor->cells);
    if (cursor->loaded == NULL || cursor->piece[0] == NULL || cursor->chosen == NULL) return SQLITE_NOMEM;
    return slice_take(cursor, (int64_t)piece);
}

void block_rows_free(BlockCursor *cursor)
{
    for (int c = 0; cursor->cells != NULL && c < cursor->module->table.n_columns; c++) sqlite3_free(cursor->cells[c]);
    for (int i = 0; i <= ORDER_TERMS_MAX; i++) sqlite3_free(cursor->piece[i]);
    sqlite3_free(cursor->found.rows);
    sqlite3_free(cursor->slice);
    sqlite3_free(cursor->cells);
    sqlite3_free(cursor->loaded);
    sqlite3_free(cursor->chosen);
}

void block_rows_all(BlockCursor *cursor)
{
    const BlockTable *table = &cursor->module->table;
    cursor->n_tests = 0;
    cursor->first = 0;
    cursor->end = cursor->module->before[table->n_blocks];
    cursor->found = (FirstRows){.rows = cursor->found.rows, .most = table->found > 0 ? table->found : BLOCK_FOUND};
    cursor->found_at = 0;
    cursor->backward = false;
}

int block_rows_first(BlockCursor *cursor)
{
    slice_clear(cursor);
    cursor->next = cursor->first;
    const int code = cursor->found.n_terms > 0 && cursor->first < cursor->end ? order_find(cursor) : SQLITE_OK;
    return code == SQLITE_OK ? cursor_settle(cursor) : code;
}

int block_rows_next(BlockCursor *cursor)
{
    cursor->at++;
    return cursor_settle(cursor);
}

bool block_rows_end(const BlockCursor *cursor) { return cursor->at >= cursor->count; }

int block_rows_cell(BlockCursor *cursor, int column, Cell *cell)
{
    const int code = cursor->loaded[column] ? SQLITE_OK : slice_load(cursor, column);
    if (code == SQLITE_OK) *cell = cursor->cells[column][cursor->at];
    return code;
}
