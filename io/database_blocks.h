// What the files of the table over blocks share: its cursor. See database_blocks.c.
//
//   database_blocks.c      the virtual table
//   database_block_plan.c  what SQLite asks for: conditions and orders
//   database_block_rows.c  which rows these are, and their cells
#ifndef HOPSCOTCH_DATABASE_BLOCKS_H
#define HOPSCOTCH_DATABASE_BLOCKS_H

#include "block_table.h"
#include "columns.h"
#include "database_connection.h"
#include "order.h"

enum { BLOCK_TESTS_MAX = 32 }; // tests of a statement; SQLite itself checks further conditions

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

// A row of a slice, and its index in the slice. Sorted by row.
typedef struct SliceRow {
    int64_t row, at;
} SliceRow;

typedef struct BlockOrder {
    int column;
    bool descending;
} BlockOrder;

typedef struct BlockCursor {
    sqlite3_vtab_cursor base;
    BlockModule *module;
    // the rows that SQLite asks for, and their order
    ColumnTest tests[BLOCK_TESTS_MAX];
    int n_tests;
    int64_t first, end;                // only these rows can have an id that SQLite asks for
    bool backward;                     // without `order`: ids descend
    BlockOrder order[ORDER_TERMS_MAX]; // [found.n_terms]; 0 terms: in the order of ids
    // progress
    int64_t next;     // without `order`: the first row of the next piece; if backward, that piece ends at `end`
    FirstRows found;  // with `order`: the first rows
    int64_t found_at; // the first element of `found` that is in no slice yet
    // the slice
    SliceRow *slice; // [capacity], count of them
    int64_t count, at, capacity;
    Cell **cells; // [n_columns][capacity], in the order of the slice; NULL: not taken yet
    bool *loaded; // [n_columns]
    // one piece
    Cell *piece[1 + ORDER_TERMS_MAX]; // cells for the tests; for each term of the order
    int piece_column[1 + ORDER_TERMS_MAX];
    int64_t piece_row, piece_rows, n_chosen;
    uint32_t *chosen; // [n_chosen] of the piece, counted from piece_row
    int64_t unasked;  // cells read since the guard was checked
} BlockCursor;

static inline bool block_column_is_real(const BlockTable *table, int column)
{
    return table->columns[column].type == NUMBER_REAL;
}

// The table; its module is given at xConnect. block_module_make: an error frees what the table points to.
extern const sqlite3_module block_module;
Error block_module_make(const Database *database, const BlockTable *table, BlockModule **out);
void block_module_free(void *module);

// All return a result code of SQLite.

int block_plan(sqlite3_vtab *base, sqlite3_index_info *plan); // xBestIndex
int block_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values); // xFilter

int block_rows_start(BlockCursor *cursor);                          // memory for a new cursor
void block_rows_free(BlockCursor *cursor);                          // also after an error of block_rows_start
void block_rows_all(BlockCursor *cursor);                           // asks for all rows, without tests and order
int block_rows_narrow(BlockCursor *cursor, const ColumnTest *test); // asks only for rows whose id passes the test
int block_rows_first(BlockCursor *cursor);                          // goes to the first row, by tests and order
int block_rows_next(BlockCursor *cursor);                           // to the next row
bool block_rows_end(const BlockCursor *cursor);                     // behind the last row
// *cell <- the value of a column in the row
int block_rows_cell(BlockCursor *cursor, int column, Cell *cell);

#endif
