// Blocks: batches of trials whose columns lie in a shard, each column in one piece (blocks.c).
#ifndef HOPSCOTCH_BLOCKS_H
#define HOPSCOTCH_BLOCKS_H

#include "../../campaign.h"

// A block as the database names it. Nothing of it is trusted.
typedef struct BlockRecord {
    BlockSpan span;
    const char *name;           // of the file in the folder of shards
    int64_t bytes;              // of the file
    Bytes columns;              // ColumnLayout [n_columns]
    const char *around;         // SHA-256 of the bytes around the columns; NULL: not compared
    const int64_t *rows_digest; // XOR of the digests of the rows; NULL: not compared
    int64_t seal;               // blocks_seal
} BlockRecord;

// A hash of what a record says about its columns. Ids without gaps are not read from the file, and blocks are left out
// by the bounds of their columns, so these numbers need one.
int64_t blocks_seal(const BlockSpan *span, int64_t bytes, int64_t rows_digest, const ColumnLayout *layouts,
                    int n_columns);

typedef struct Blocks Blocks;
// records[n_records], in the order of their ids. Error (machine): a record contradicts itself or another one. Files are
// opened, and compared with their records, when they are first read. remedy: ends the error about a file that is not
// the one that was written. The columns must outlive the blocks.
Error blocks_open(const char *folder, const NumberColumn *columns, int n_columns, const BlockRecord *records,
                  int64_t n_records, const char *remedy, Blocks **out);
void blocks_close(Blocks *blocks); // after the connection of blocks_table
// values[rows] <- rows [first, first + rows) of a column: double or int64_t. Error (machine): the file is missing, or
// these numbers are not those that were written.
Error blocks_read(Blocks *blocks, int64_t block, int column, int64_t first, int64_t rows, void *values);
// Compares the whole file with its record.
Error blocks_check(Blocks *blocks, int64_t block);

// ---- all blocks, by all threads -------------------------------------------------------------------------------------

// Some rows of a block.
enum { BLOCKS_PIECE = 1 << 12 };
typedef struct BlockPiece {
    int64_t block, first, rows; // rows <= BLOCKS_PIECE
    const Cell *const *cells;   // [n][rows], by column
} BlockPiece;

// What is asked of the blocks.
typedef struct BlockScan {
    const int *columns; // [n]
    int n;
    // Whether a block can be left out, by the bounds of its columns [n]; NULL: none can.
    bool (*skips)(const void *context, const ColumnBounds *bounds);
    void (*take)(void *context, int thread, const BlockPiece *piece); // threads call it at the same time
    void *context;
} BlockScan;
int blocks_threads(const Blocks *blocks); // at most that many take pieces
// Calls `take` with all pieces of all blocks, in any order. After an error the numbers of some pieces may have been
// wrong. Error (machine): of the first block that blocks_read refuses.
Error blocks_scan(const Blocks *blocks, const BlockScan *scan);

// For a process that lives long: files are opened and compared again.
void blocks_start_again(Blocks *blocks);
// To statements of the connection, `trials` is now the table of the blocks.
Error blocks_table(Blocks *blocks, Database *database);

#endif
