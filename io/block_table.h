// A table of SQL over blocks of columns, such as those of shards.
#ifndef HOPSCOTCH_IO_BLOCK_TABLE_H
#define HOPSCOTCH_IO_BLOCK_TABLE_H

#include "database.h"
#include "number_column.h"

// Rows with ids from `first` to `last`, with gaps if there are fewer rows than ids.
typedef struct BlockSpan {
    int64_t first, last, rows;
} BlockSpan;

// Column 0 is the integer `id`, which ascends within a block. Ids of a block are greater than those of blocks before
// it. NaN is NULL, and -0 is 0, as in a row.
typedef struct BlockTable {
    const NumberColumn *columns; // [n_columns]
    int n_columns;
    const BlockSpan *blocks; // [n_blocks]
    int64_t n_blocks;
    // values[rows] <- rows [first, first + rows) of a column of a block
    Error (*read)(void *source, int64_t block, int column, int64_t first, int64_t rows, void *values);
    void *source;
    // When the connection needs the table no longer, and after an error of database_add_blocks. NULL: nothing is done.
    void (*done)(void *source);
    // For tests; 0: the usual ones. Rows that are read at a time; that are looked for first in an order; that take as
    // long to read one after the other as one row alone.
    int64_t piece, found, sparse;
} BlockTable;
// From now on `name` means this table to statements of the connection; it hides a table of the file. Call it before
// database_prepare_guarded. What the table points to must outlive the connection. Conditions on columns, and the order
// by columns, are computed column by column, and only columns that a query needs are read. A guarded statement is
// interrupted there too.
Error database_add_blocks(Database *database, const char *name, const BlockTable *table);
Error database_remove_blocks(Database *database, const char *name); // if there is one

#endif
