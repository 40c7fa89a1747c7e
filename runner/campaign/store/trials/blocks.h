// Blocks: batches of trials whose columns lie in a shard, each column in one piece (blocks.c).
#ifndef HOPSCOTCH_BLOCKS_H
#define HOPSCOTCH_BLOCKS_H

#include "../../campaign.h"

// A block as the database names it. Nothing of it is trusted.
typedef struct BlockRecord {
    BlockSpan span;
    const char *name;           // of the file in the folder of shards
    int64_t bytes;              // of the file
    Bytes columns;              // ColumnPlace [n_columns]
    const char *around;         // SHA-256 of the bytes around the columns; NULL: not compared
    const int64_t *rows_digest; // XOR of the digests of the rows; NULL: not compared
    bool checked;               // the file was compared with the record before, by this process
} BlockRecord;

typedef struct Blocks Blocks;
// records[n_records], in the order of their ids. Error (machine): a record contradicts itself or another one. Files are
// opened, and compared with their records, when they are first read. remedy: ends the error about a file that is not
// the one that was written. The columns must outlive the blocks.
Error blocks_open(const char *folder, const NumberColumn *columns, int n_columns, const BlockRecord *records,
                  int64_t n_records, const char *remedy, Blocks **out);
void blocks_close(Blocks *blocks); // after the connection of blocks_table
// values[rows] <- rows [first, first + rows) of a column: double or int64_t. Error (machine): the file is missing or is
// not the one that was written.
Error blocks_read(Blocks *blocks, int64_t block, int column, int64_t first, int64_t rows, void *values);
// Compares the whole file with its record, if blocks_read has not done it yet.
Error blocks_check(Blocks *blocks, int64_t block);
// For a process that lives long: files that are opened from now on are compared again, unless their stamp is the one
// they had when they were compared.
void blocks_start_again(Blocks *blocks);
// The same for files that `before` compared, if their records are equal. Both have the same columns.
void blocks_take_checked(Blocks *blocks, const Blocks *before);
bool blocks_is_checked(const Blocks *blocks, int64_t block); // it was compared, or its record says so
// To statements of the connection, `trials` is now the table of the blocks.
Error blocks_table(Blocks *blocks, Database *database);

#endif
