// Blocks: batches of trials whose columns lie in a shard, each column in one piece (blocks.c).
#ifndef HOPSCOTCH_BLOCKS_H
#define HOPSCOTCH_BLOCKS_H

#include "../campaign.h"

// A block as the database names it. Nothing of it is trusted.
typedef struct BlockRecord {
    BlockSpan span;
    const char *name; // of the file in the folder of shards
    int64_t bytes;    // of the file
    Bytes offsets;    // int64_t [n_columns]: where the columns begin in the file
} BlockRecord;

typedef struct Blocks Blocks;
// records[n_records], in the order of their ids. Error (machine): a record contradicts itself or another one. Files are
// opened, and compared with their records, when they are first read. The columns must outlive the blocks.
Error blocks_open(const char *folder, const NumberColumn *columns, int n_columns, const BlockRecord *records,
                  int64_t n_records, Blocks **out);
void blocks_close(Blocks *blocks); // after the connection of blocks_table
// values[rows] <- rows [first, first + rows) of a column: double or int64_t. Error (machine): the file is missing or is
// not the one that the record describes.
Error blocks_read(Blocks *blocks, int64_t block, int column, int64_t first, int64_t rows, void *values);
// To statements of the connection, `trials` is now the table of the blocks.
Error blocks_table(Blocks *blocks, Database *database);

#endif
