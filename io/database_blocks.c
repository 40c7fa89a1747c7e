// A table of SQLite over blocks of columns: a virtual table that finds rows by loops over columns (columns.h).
//
// SQLite's own loop takes 75 ms to compare and sort a million rows of a virtual table, a loop over a column one. So the
// table takes over conditions on columns, and orders. A condition may let rows pass that do not meet it, because SQLite
// compares again what it gets; it never drops a row that meets it.
//
// A cursor gives its rows in slices: rows of one piece of a block, or the first rows in an order. Of a slice, a column
// is read when SQLite first asks for it. A file is read, not mapped, because another process may make it shorter.
#include "columns.h"
#include "database.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_PIECE = 1 << 14, // rows that are read at a time: 128 KiB of a column stay in the processor's cache
    BLOCK_FOUND = 1 << 10, // rows that are looked for first in an order; then BLOCK_FOUND_MORE times as many
    BLOCK_FOUND_MORE = 16,
    BLOCK_FOUND_MAX = 1 << 18,    // 16 MiB
    BLOCK_SLICE_BYTES = 64 << 20, // of all columns of a slice
    BLOCK_TESTS_MAX = 32,
    BLOCK_SPARSE = 1024,     // reading one cell takes as long as reading this many that follow each other
    BLOCK_QUESTION = 1 << 18 // cells that are read between two questions whether to go on
};

typedef struct BlockModule {
    Arena arena;
    const Database *database;
    BlockTable table;
    int64_t *before; // [n_blocks + 1] rows before each block; rows are counted over all blocks
    Error error;
} BlockModule;

typedef struct BlockVtab {
    sqlite3_vtab base;
    BlockModule *module;
} BlockVtab;

// A row of a slice, and its index there. They are kept in the order of rows.
typedef struct BlockPlace {
    int64_t row, at;
} BlockPlace;

typedef struct BlockOrder {
    int column;
    bool descending;
} BlockOrder;

typedef struct BlockCursor {
    sqlite3_vtab_cursor base;
    BlockModule *module;
    // what is asked for
    ColumnTest tests[BLOCK_TESTS_MAX];
    int n_tests;
    int64_t first, end; // rows that may have an id that is asked for
    bool ordered;
    BlockOrder order[ORDER_TERMS_MAX];
    // how far it is
    int64_t next;     // in the order of ids: the first row of the next piece
    FirstRows found;  // in another order
    int64_t found_at; // the first of them that is in no slice yet
    // the slice
    BlockPlace *places; // [capacity], count of them
    int64_t count, at, capacity;
    Cell **cells; // [n_columns][capacity], in the order of the slice; NULL: not taken yet
    bool *loaded; // [n_columns]
    // one piece
    Cell *piece[1 + ORDER_TERMS_MAX]; // of the tests; of each term of the order
    int piece_column[1 + ORDER_TERMS_MAX];
    int64_t piece_row, piece_rows, n_chosen;
    uint32_t *chosen; // [n_chosen] of the piece, counted from piece_row
    int64_t unasked;  // cells read since the last question
} BlockCursor;

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

// Places [k, k + count) lie within a piece of a block.
static int slice_read_run(BlockCursor *cursor, int column, int64_t block, const BlockPlace *places, int64_t count)
{
    const int64_t first = places[0].row - cursor->module->before[block];
    const int64_t span = places[count - 1].row - places[0].row + 1;
    Cell *cells = cursor->cells[column], *piece = cursor->piece[0];
    if (span == count && places[count - 1].at - places[0].at + 1 == count && !cursor->ordered)
        return block_read(cursor, block, column, first, count, &cells[places[0].at]);
    cursor->piece_column[0] = -1;
    if (span <= count * BLOCK_SPARSE) {
        const int code = block_read(cursor, block, column, first, span, piece);
        for (int64_t i = 0; code == SQLITE_OK && i < count; i++)
            cells[places[i].at] = piece[places[i].row - places[0].row];
        return code;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = first + places[i].row - places[0].row;
        const int code = block_read(cursor, block, column, row, 1, &cells[places[i].at]);
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
        const int64_t row = cursor->places[k].row, block = block_of(module, row), end = module->before[block + 1];
        const int64_t most = end - row < piece ? end : row + piece;
        for (n = 1; k + n < cursor->count && cursor->places[k + n].row < most;) n++;
        const int code = slice_read_run(cursor, column, block, &cursor->places[k], n);
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
    BlockPlace *places = sqlite3_realloc64(cursor->places, (sqlite3_uint64)rows * sizeof *places);
    if (places == NULL) return SQLITE_NOMEM;
    for (int c = 0; c < cursor->module->table.n_columns; c++) {
        sqlite3_free(cursor->cells[c]);
        cursor->cells[c] = NULL;
    }
    cursor->places = places;
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

// Steps to the next piece. None of its rows is chosen yet.
static void piece_next(BlockCursor *cursor)
{
    const BlockModule *module = cursor->module;
    const int64_t most = block_piece_rows(&module->table), end = module->before[block_of(module, cursor->next) + 1];
    cursor->piece_row = cursor->next;
    cursor->piece_rows = end < cursor->end ? end - cursor->next : cursor->end - cursor->next;
    if (cursor->piece_rows > most) cursor->piece_rows = most;
    cursor->next += cursor->piece_rows;
    for (int i = 0; i <= ORDER_TERMS_MAX; i++) cursor->piece_column[i] = -1;
    cursor->n_chosen = 0;
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
        piece_next(cursor);
        piece_choose_all(cursor);
        const int code = piece_test(cursor);
        if (code != SQLITE_OK) return code;
        n = cursor->n_chosen;
    }
    for (int64_t i = 0; i < n; i++)
        cursor->places[i] = (BlockPlace){.row = cursor->piece_row + cursor->chosen[i], .at = i};
    cursor->count = n;
    return SQLITE_OK;
}

// ---- rows in another order ------------------------------------------------------------------------------------------

static bool column_is_real(const BlockTable *table, int column) { return table->columns[column].type == NUMBER_REAL; }

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
        out->key[i] = order_key(column_is_real(&cursor->module->table, term->column), term->descending, cell);
    }
    return SQLITE_OK;
}

// Chooses the rows of a piece that do not come behind the greatest of those found, by their first, real term; NaN
// stays. Soon these are few, so 64 at a time are looked at, without a branch.
static int64_t order_choose(const Cell *cells, int64_t rows, double bound, bool descending, uint32_t *chosen)
{
    enum { AT_A_TIME = 64 };
    int64_t n = 0;
    for (int64_t first = 0; first < rows; first += AT_A_TIME) {
        const int64_t end = rows - first < AT_A_TIME ? rows : first + AT_A_TIME;
        int behind = 0;
        if (end - first == AT_A_TIME && descending) {
            for (int i = 0; i < AT_A_TIME; i++) behind += cells[first + i].real < bound;
        } else if (end - first == AT_A_TIME) {
            for (int i = 0; i < AT_A_TIME; i++) behind += cells[first + i].real > bound;
        }
        if (behind == AT_A_TIME) continue;
        for (int64_t i = first; i < end; i++) {
            chosen[n] = (uint32_t)i;
            n += descending ? !(cells[i].real < bound) : !(cells[i].real > bound);
        }
    }
    return n;
}

static int order_add_piece(BlockCursor *cursor, Cell bound)
{
    const BlockOrder *term = &cursor->order[0];
    int code = SQLITE_OK;
    piece_next(cursor);
    if (cursor->found.has_bound && column_is_real(&cursor->module->table, term->column)) {
        const Cell *cells;
        code = piece_read(cursor, 1, term->column, &cells);
        if (code != SQLITE_OK) return code;
        cursor->n_chosen = order_choose(cells, cursor->piece_rows, bound.real, term->descending, cursor->chosen);
    } else
        piece_choose_all(cursor);
    code = piece_test(cursor);
    for (int64_t i = 0; code == SQLITE_OK && i < cursor->n_chosen; i++) {
        FoundRow found;
        code = order_keys(cursor, cursor->chosen[i], &found);
        if (code == SQLITE_OK && first_rows_wants(&cursor->found, &found)) first_rows_add(&cursor->found, &found);
    }
    return code;
}

// The value of the first key of the bound: what order_key made of it.
static Cell order_bound(const FirstRows *found, bool descending)
{
    const uint64_t sign = (uint64_t)1 << 63;
    const uint64_t key = descending ? ~found->bound.key[0] : found->bound.key[0];
    const uint64_t bits = (key & sign) != 0 ? key & ~sign : ~key;
    Cell cell;
    memcpy(&cell, &bits, sizeof cell);
    return cell;
}

// Looks through all rows for the first found.most behind found.last.
static int order_find(BlockCursor *cursor)
{
    FirstRows *found = &cursor->found;
    Cell bound = {.real = 0};
    FoundRow *rows = sqlite3_realloc64(found->rows, 2 * (sqlite3_uint64)found->most * sizeof *rows);
    if (rows == NULL) return SQLITE_NOMEM;
    found->rows = rows;
    found->count = cursor->found_at = 0;
    found->has_bound = false;
    for (cursor->next = cursor->first; cursor->next < cursor->end;) {
        const int code = order_add_piece(cursor, bound);
        if (code != SQLITE_OK) return code;
        bound = order_bound(found, cursor->order[0].descending);
    }
    first_rows_sort(found);
    return SQLITE_OK;
}

static int64_t slice_rows_most(const BlockTable *table)
{
    const int64_t rows = BLOCK_SLICE_BYTES / (int64_t)sizeof(Cell) / table->n_columns, piece = block_piece_rows(table);
    return rows > piece ? rows : piece;
}

static int place_compare(const void *a, const void *b)
{
    const int64_t x = ((const BlockPlace *)a)->row, y = ((const BlockPlace *)b)->row;
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
        cursor->places[i] = (BlockPlace){.row = found->rows[cursor->found_at + i].row, .at = i};
    if (n > 0) qsort(cursor->places, (size_t)n, sizeof *cursor->places, place_compare);
    cursor->found_at += n;
    cursor->count = n;
    return SQLITE_OK;
}

// Goes to the next slice if this one is used up. At the end there is none: count is 0.
static int cursor_settle(BlockCursor *cursor)
{
    if (cursor->at < cursor->count) return SQLITE_OK;
    slice_clear(cursor);
    return cursor->ordered ? slice_next_found(cursor) : slice_next_piece(cursor);
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

// Narrows the rows by a condition on the id.
static int cursor_narrow(BlockCursor *cursor, const ColumnTest *test)
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

// ---- what SQLite asks for -------------------------------------------------------------------------------------------

static const struct {
    unsigned char operation;
    Comparison comparison; // COMPARISONS: none
    double share;          // of the rows, for SQLite's planner
} block_operations[] = {
    {SQLITE_INDEX_CONSTRAINT_EQ, IS_EQUAL, 0.01},           {SQLITE_INDEX_CONSTRAINT_IS, IS_EQUAL, 0.01},
    {SQLITE_INDEX_CONSTRAINT_NE, IS_NOT_EQUAL, 0.9},        {SQLITE_INDEX_CONSTRAINT_LT, IS_LESS, 0.3},
    {SQLITE_INDEX_CONSTRAINT_LE, IS_LESS_OR_EQUAL, 0.3},    {SQLITE_INDEX_CONSTRAINT_GT, IS_GREATER, 0.3},
    {SQLITE_INDEX_CONSTRAINT_GE, IS_GREATER_OR_EQUAL, 0.3}, {SQLITE_INDEX_CONSTRAINT_ISNULL, COMPARISONS, 0.1},
    {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, COMPARISONS, 0.9},
};
enum { BLOCK_OPERATIONS = sizeof block_operations / sizeof *block_operations, BLOCK_LIST = BLOCK_OPERATIONS };

static int block_operation(unsigned char operation)
{
    for (int i = 0; i < BLOCK_OPERATIONS; i++) {
        if (block_operations[i].operation == operation) return i;
    }
    return -1;
}

// Only whether texts are equal. That they differ must be meant byte by byte.
static bool block_can_test_words(const NumberColumn *column, sqlite3_index_info *plan, int constraint)
{
    const unsigned char operation = plan->aConstraint[constraint].op;
    if (column->n_words > TEST_WORDS_MAX) return false;
    return operation == SQLITE_INDEX_CONSTRAINT_EQ ||
           (operation == SQLITE_INDEX_CONSTRAINT_NE &&
            sqlite3_stricmp(sqlite3_vtab_collation(plan, constraint), "BINARY") == 0);
}

// Whether a condition is `column IN (...)`, which the table then gets as a list. Before SQLite 3.38, and for ids, the
// cursor is asked for one value after the other.
static bool block_takes_list(sqlite3_index_info *plan, int constraint)
{
#if SQLITE_VERSION_NUMBER >= 3038000
    return plan->aConstraint[constraint].iColumn > 0 && sqlite3_vtab_in(plan, constraint, 1);
#else
    (void)plan, (void)constraint;
    return false;
#endif
}

// The column of a condition that the table takes over; -1: none. SQLite counts the rowid as column -1.
static int block_tested_column(const BlockTable *table, sqlite3_index_info *plan, int constraint)
{
    const struct sqlite3_index_constraint *condition = &plan->aConstraint[constraint];
    const int column = condition->iColumn < 0 ? 0 : condition->iColumn;
    if (!condition->usable || column >= table->n_columns || block_operation(condition->op) < 0) return -1;
    const NumberColumn *tested = &table->columns[column];
    return tested->words == NULL || block_can_test_words(tested, plan, constraint) ? column : -1;
}

// Whether the table can give its rows in the order that the statement asks for. *n_terms: terms before ids decide.
static bool block_can_order(const BlockTable *table, sqlite3_index_info *plan, int *n_terms)
{
    *n_terms = 0;
#if SQLITE_VERSION_NUMBER >= 3038000
    if (sqlite3_vtab_distinct(plan) == 2) return false; // DISTINCT: SQLite remembers values faster than we sort
#endif
    for (int i = 0; i < plan->nOrderBy; i++) {
        const int column = plan->aOrderBy[i].iColumn;
        if (column <= 0 && !plan->aOrderBy[i].desc) return true;
        if (*n_terms == ORDER_TERMS_MAX || (column > 0 && table->columns[column].words != NULL)) return false;
        ++*n_terms;
        if (column <= 0) return true; // ids differ: later terms decide nothing
    }
    return plan->nOrderBy > 0;
}

// What SQLite's planner compares. Looking through a column counts as more than half of a scan of all rows, although it
// takes a tenth of its time: else SQLite would look up the parts of `a OR b` one after the other, and rows would come
// in another order than from an ordinary table.
static void block_estimate(int64_t rows, sqlite3_index_info *plan, int n_terms)
{
    double out = (double)rows, looked = (double)rows;
    bool tested = n_terms > 0;
    bool one = false;
    for (int i = 0; i < plan->nConstraint; i++) {
        if (plan->aConstraintUsage[i].argvIndex == 0) continue;
        const bool id = plan->aConstraint[i].iColumn <= 0,
                   equal = plan->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ;
        const double share = block_operations[block_operation(plan->aConstraint[i].op)].share;
        one = one || (id && equal);
        out *= share;
        if (id) looked *= share;
        tested = tested || !id;
    }
    plan->estimatedRows = one || out < 1 ? 1 : (sqlite3_int64)out;
    plan->estimatedCost = one ? 2 : 2 + (tested ? 0.55 * looked + 0.45 * out : looked);
    plan->idxFlags = one ? SQLITE_INDEX_SCAN_UNIQUE : 0;
}

// The plan is a text: for each argument of the cursor "column operation ", then a point, then for each term of the
// order "column descending ".
static int block_plan(sqlite3_vtab *base, sqlite3_index_info *plan)
{
    const BlockModule *module = ((const BlockVtab *)base)->module;
    const BlockTable *table = &module->table;
    int arguments = 0, n_terms = 0;
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (int i = 0; i < plan->nConstraint && arguments < BLOCK_TESTS_MAX; i++) {
        const int column = block_tested_column(table, plan, i);
        if (column < 0) continue;
        plan->aConstraintUsage[i].argvIndex = ++arguments;
        sqlite3_str_appendf(text, "%d %d ", column,
                            block_takes_list(plan, i) ? BLOCK_LIST : block_operation(plan->aConstraint[i].op));
    }
    sqlite3_str_appendall(text, ".");
    plan->orderByConsumed = block_can_order(table, plan, &n_terms);
    if (!plan->orderByConsumed) n_terms = 0;
    for (int i = 0; i < n_terms; i++) {
        const int column = plan->aOrderBy[i].iColumn;
        sqlite3_str_appendf(text, "%d %d ", column < 0 ? 0 : column, plan->aOrderBy[i].desc);
    }
    block_estimate(module->before[table->n_blocks], plan, n_terms);
    plan->idxNum = arguments;
    plan->idxStr = sqlite3_str_finish(text);
    plan->needToFreeIdxStr = 1;
    return plan->idxStr != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

// ---- conditions of SQL ----------------------------------------------------------------------------------------------

static size_t text_trimmed(const char *text, size_t size)
{
    while (size > 0 && text[size - 1] == ' ') size--;
    return size;
}

// Equal by any of SQLite's collations (BINARY, NOCASE, RTRIM). SQLite makes `a = 'x' COLLATE NOCASE OR a = 'y'` an IN
// of the collation BINARY, so the collation that it names does not tell.
static bool text_may_equal(const char *a, size_t a_size, const char *b, size_t b_size)
{
    const size_t size = text_trimmed(a, a_size);
    return size == text_trimmed(b, b_size) && sqlite3_strnicmp(a, b, (int)size) == 0;
}

// False: the condition can't be tested here.
static bool test_of_words(const NumberColumn *column, Comparison comparison, sqlite3_value *value, ColumnTest *test)
{
    const int type = sqlite3_value_type(value);
    *test = (ColumnTest){.kind = TEST_WORD, .n_words = column->n_words};
    if (type == SQLITE_NULL) return true; // no row
    if (type != SQLITE_TEXT) return false;
    const char *text = (const char *)sqlite3_value_text(value);
    const size_t size = (size_t)sqlite3_value_bytes(value);
    if (text == NULL) return false;
    for (int i = 0; i <= column->n_words; i++) {
        const char *word = i < column->n_words ? column->words[i] : "unknown";
        const size_t length = strlen(word);
        const bool passes = comparison == IS_EQUAL ? text_may_equal(word, length, text, size)
                                                   : length != size || memcmp(word, text, size) != 0;
        if (passes) test->words |= (uint64_t)1 << (i < column->n_words ? i : TEST_WORDS_MAX);
    }
    return true;
}

// SQLite compares a column of numbers with a text as a number if the text is one; else numbers come before texts.
static ColumnTest test_of_numbers(bool real, int operation, sqlite3_value *value)
{
    const Comparison comparison = block_operations[operation].comparison;
    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER: return test_with_integer(real, comparison, sqlite3_value_int64(value));
    case SQLITE_FLOAT: return test_with_real(real, comparison, sqlite3_value_double(value));
    case SQLITE_NULL: break;
    default:
        return comparison == IS_LESS || comparison == IS_LESS_OR_EQUAL || comparison == IS_NOT_EQUAL ? test_all(real)
                                                                                                     : test_none(real);
    }
    if (block_operations[operation].operation != SQLITE_INDEX_CONSTRAINT_IS) return test_none(real);
    return (ColumnTest){.real = real, .kind = TEST_NULL};
}

static bool test_of_value(const BlockTable *table, int column, int operation, sqlite3_value *value, ColumnTest *test)
{
    const bool real = column_is_real(table, column);
    bool good = true;
    if (block_operations[operation].operation == SQLITE_INDEX_CONSTRAINT_ISNULL)
        *test = (ColumnTest){.real = real, .kind = TEST_NULL};
    else if (block_operations[operation].operation == SQLITE_INDEX_CONSTRAINT_ISNOTNULL)
        *test = test_all(real);
    else if (table->columns[column].words != NULL)
        good = test_of_words(&table->columns[column], block_operations[operation].comparison, value, test);
    else
        *test = test_of_numbers(real, operation, value);
    test->column = column;
    return good;
}

// x IN (...): between the least and the greatest value of the list.
static bool test_of_list(const BlockTable *table, int column, sqlite3_value *list, ColumnTest *test)
{
    sqlite3_value *value = NULL;
    const int equal = block_operation(SQLITE_INDEX_CONSTRAINT_EQ);
    bool good = true;
    *test = table->columns[column].words != NULL
                ? (ColumnTest){.kind = TEST_WORD, .n_words = table->columns[column].n_words}
                : test_none(column_is_real(table, column));
    test->column = column;
#if SQLITE_VERSION_NUMBER >= 3038000
    int code = sqlite3_vtab_in_first(list, &value);
    for (; good && code == SQLITE_OK; code = sqlite3_vtab_in_next(list, &value)) {
        ColumnTest one;
        good = test_of_value(table, column, equal, value, &one);
        if (good) *test = test_either(test, &one);
    }
    return good && code == SQLITE_DONE;
#else
    (void)list, (void)value, (void)equal;
    return false;
#endif
}

static bool test_of_condition(const BlockTable *table, int column, int operation, sqlite3_value *value,
                              ColumnTest *test)
{
    return operation == BLOCK_LIST ? test_of_list(table, column, value, test)
                                   : test_of_value(table, column, operation, value, test);
}

static int cursor_take_order(BlockCursor *cursor, const char *text)
{
    const BlockTable *table = &cursor->module->table;
    cursor->found = (FirstRows){.rows = cursor->found.rows, .most = table->found > 0 ? table->found : BLOCK_FOUND};
    for (char *at = NULL; *text != '\0' && cursor->found.n_terms < ORDER_TERMS_MAX; text = at + 1) {
        const int column = (int)strtol(text, &at, 10);
        cursor->order[cursor->found.n_terms++] = (BlockOrder){column, strtol(at, &at, 10) != 0};
    }
    cursor->ordered = cursor->found.n_terms > 0;
    return cursor->ordered && cursor->first < cursor->end ? order_find(cursor) : SQLITE_OK;
}

static int block_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values)
{
    BlockCursor *cursor = (BlockCursor *)base;
    const BlockTable *table = &cursor->module->table;
    char *at = NULL;
    (void)number;
    cursor->n_tests = 0;
    cursor->first = 0;
    cursor->end = cursor->module->before[table->n_blocks];
    cursor->found_at = cursor->found.count = 0;
    for (int i = 0; i < count; i++, text = at + 1) {
        const int column = (int)strtol(text, &at, 10), operation = (int)strtol(at, &at, 10);
        ColumnTest *test = &cursor->tests[cursor->n_tests];
        if (!test_of_condition(table, column, operation, values[i], test)) continue;
        const int code = column == 0 ? cursor_narrow(cursor, test) : SQLITE_OK;
        if (code != SQLITE_OK) return code;
        cursor->n_tests += column != 0;
    }
    slice_clear(cursor);
    const int code = cursor_take_order(cursor, text + 1);
    cursor->next = cursor->first;
    return code == SQLITE_OK ? cursor_settle(cursor) : code;
}

// ---- the rest of a virtual table ------------------------------------------------------------------------------------

static int block_next(sqlite3_vtab_cursor *base)
{
    ((BlockCursor *)base)->at++;
    return cursor_settle((BlockCursor *)base);
}

static int block_eof(sqlite3_vtab_cursor *base) { return ((BlockCursor *)base)->at >= ((BlockCursor *)base)->count; }

static int block_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    BlockCursor *cursor = (BlockCursor *)base;
    const NumberColumn *shown = &cursor->module->table.columns[column];
    const int code = cursor->loaded[column] ? SQLITE_OK : slice_load(cursor, column);
    if (code != SQLITE_OK) return code;
    const Cell cell = cursor->cells[column][cursor->at];
    if (shown->type == NUMBER_REAL)
        sqlite3_result_double(context, cell.real + 0.0); // NaN becomes NULL, -0 becomes 0
    else if (shown->words == NULL)
        sqlite3_result_int64(context, cell.integer);
    else
        sqlite3_result_text(context,
                            cell.integer >= 0 && cell.integer < shown->n_words ? shown->words[cell.integer] : "unknown",
                            -1, SQLITE_STATIC);
    return SQLITE_OK;
}

static int block_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    BlockCursor *cursor = (BlockCursor *)base;
    const int code = cursor->loaded[0] ? SQLITE_OK : slice_load(cursor, 0);
    if (code == SQLITE_OK) *id = cursor->cells[0][cursor->at].integer;
    return code;
}

static int block_close(sqlite3_vtab_cursor *base)
{
    BlockCursor *cursor = (BlockCursor *)base;
    for (int c = 0; cursor->cells != NULL && c < cursor->module->table.n_columns; c++) sqlite3_free(cursor->cells[c]);
    for (int i = 0; i <= ORDER_TERMS_MAX; i++) sqlite3_free(cursor->piece[i]);
    sqlite3_free(cursor->found.rows);
    sqlite3_free(cursor->places);
    sqlite3_free(cursor->cells);
    sqlite3_free(cursor->loaded);
    sqlite3_free(cursor->chosen);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int block_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    BlockModule *module = ((BlockVtab *)base)->module;
    const BlockTable *table = &module->table;
    const sqlite3_uint64 columns = (sqlite3_uint64)table->n_columns, piece = (sqlite3_uint64)block_piece_rows(table);
    BlockCursor *cursor = sqlite3_malloc64(sizeof *cursor);
    if (cursor == NULL) return SQLITE_NOMEM;
    *cursor = (BlockCursor){.module = module,
                            .cells = sqlite3_malloc64(columns * sizeof(Cell *)),
                            .loaded = sqlite3_malloc64(columns * sizeof(bool)),
                            .piece[0] = sqlite3_malloc64(piece * sizeof(Cell)),
                            .chosen = sqlite3_malloc64(piece * sizeof(uint32_t))};
    for (int c = 0; cursor->cells != NULL && c < table->n_columns; c++) cursor->cells[c] = NULL;
    if (cursor->cells != NULL && cursor->loaded != NULL && cursor->piece[0] != NULL && cursor->chosen != NULL &&
        slice_take(cursor, (int64_t)piece) == SQLITE_OK) {
        *out = &cursor->base;
        return SQLITE_OK;
    }
    block_close(&cursor->base);
    return SQLITE_NOMEM;
}

static const char *block_declared_type(const NumberColumn *column)
{
    return column->words != NULL ? "TEXT" : column->type == NUMBER_REAL ? "REAL" : "INTEGER";
}

// The table has the types of a row's columns, so that SQLite compares them in the same way.
static int block_connect(sqlite3 *handle, void *given, int count, const char *const *arguments, sqlite3_vtab **out,
                         char **words)
{
    BlockModule *module = given;
    const BlockTable *table = &module->table;
    sqlite3_str *sql = sqlite3_str_new(handle);
    (void)count, (void)arguments, (void)words;
    for (int c = 0; c < table->n_columns; c++)
        sqlite3_str_appendf(sql, "%s\"%w\" %s", c > 0 ? ", " : "CREATE TABLE blocks(", table->columns[c].field.name,
                            block_declared_type(&table->columns[c]));
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    BlockVtab *vtab = sqlite3_malloc64(sizeof *vtab);
    int code = text != NULL && vtab != NULL ? sqlite3_declare_vtab(handle, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(handle, SQLITE_VTAB_DIRECTONLY); // not for a schema's views
    if (code != SQLITE_OK) {
        sqlite3_free(vtab);
        return code;
    }
    *vtab = (BlockVtab){.module = module};
    *out = &vtab->base;
    return SQLITE_OK;
}

static int block_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static const sqlite3_module block_module = {.xCreate = block_connect,
                                            .xConnect = block_connect,
                                            .xBestIndex = block_plan,
                                            .xDisconnect = block_disconnect,
                                            .xDestroy = block_disconnect,
                                            .xOpen = block_open,
                                            .xClose = block_close,
                                            .xFilter = block_filter,
                                            .xNext = block_next,
                                            .xEof = block_eof,
                                            .xColumn = block_column,
                                            .xRowid = block_rowid};

// ---- adding it ------------------------------------------------------------------------------------------------------

Error database_block_error(const Database *database)
{
    if (database->blocks == NULL) return error_none();
    const Error error = database->blocks->error;
    database->blocks->error = error_none();
    return error;
}

static void block_free_module(void *given)
{
    Arena arena = ((BlockModule *)given)->arena;
    arena_destroy(&arena);
}

Error database_add_blocks(Database *database, const char *name, const BlockTable *table)
{
    Arena arena;
    const size_t before = ((size_t)table->n_blocks + 1) * sizeof(int64_t);
    TRY(arena_create(&arena, sizeof(BlockModule) + before + 4096, "a list of blocks"));
    BlockModule *module = ARENA_NEW(&arena, BlockModule, 1);
    *module =
        (BlockModule){.database = database, .table = *table, .before = ARENA_NEW(&arena, int64_t, table->n_blocks + 1)};
    module->arena = arena;
    for (int64_t b = 0; b < table->n_blocks; b++) module->before[b + 1] = module->before[b] + table->blocks[b].rows;
    int code = sqlite3_create_module_v2(database->handle, name, &block_module, module, block_free_module);
    if (code != SQLITE_OK) return database_error(database, code, "add a table of blocks"); // SQLite freed the module
    database->blocks = module;
    char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.\"%w\" USING \"%w\"", name, name);
    code = sql != NULL ? sqlite3_exec(database->handle, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code == SQLITE_OK ? error_none() : database_error(database, code, "add a table of blocks");
}
