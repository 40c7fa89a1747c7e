// A table of SQL over blocks of columns, such as those of shards.
#ifndef HOPSCOTCH_IO_BLOCK_TABLE_H
#define HOPSCOTCH_IO_BLOCK_TABLE_H

#include "database.h"
#include "number_column.h"

// A block with ids from `first` to `last`; some ids are missing if `rows` is less than last - first + 1.
typedef struct BlockSpan {
    int64_t first, last, rows;
} BlockSpan;

// Column 0 is the integer `id`, which ascends within a block and from block to block. As in a stored row, NaN is NULL
// and -0 is 0.
typedef struct BlockTable {
    const NumberColumn *columns; // [n_columns]
    int n_columns;
    const BlockSpan *blocks; // [n_blocks]
    int64_t n_blocks;
    // values[rows] <- rows [first, first + rows) of a column of a block, 8 bytes each
    Error (*read)(void *source, int64_t block, int column, int64_t first, int64_t rows, void *values);
    void *source;
    // Called when the connection no longer needs the table, and after an error of database_add_blocks; may be NULL.
    void (*done)(void *source);
    // Tests set these; 0: the default. piece: rows per read. found: rows that an order looks for first. sparse: rows
    // that are read one after the other in the time of one random row.
    int64_t piece, found, sparse;
} BlockTable;
// Makes the table known to statements of the connection as `name`; it hides a table of that name in the file. Call this
// before database_prepare_guarded. What the table points to must outlive the connection. Conditions on columns, and the
// order by columns, are computed column by column, and only columns that a query needs are read. The guard of a
// statement is checked meanwhile.
Error database_add_blocks(Database *database, const char *name, const BlockTable *table);
void *database_blocks_source(const Database *database); // of the last table that was added; NULL: there is none
Error database_remove_blocks(Database *database, const char *name); // no error if there is no such table

#endif
