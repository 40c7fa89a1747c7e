// HDF5 shards of columns: files with a table of numbers. One thread at a time may call these functions.
#ifndef HOPSCOTCH_IO_SHARD_COLUMNS_H
#define HOPSCOTCH_IO_SHARD_COLUMNS_H

#include "sha256.h"
#include "shard.h"
#include "stored_column.h"

// An HDF5 group of one dataset per column, one-dimensional. The first column (the trials' id) is the dimension scale of
// all others. Every dataset has the attributes long_name, units, column_names, and `words` if its column has any; the
// group has `columns`, the names in their order.
//
// Datasets are contiguous, without filters. In a table of SHARD_TABLE_ENCODED rows or more integers take the fewest
// bytes of 1, 2, 4 and 8 that hold them all; a column of equal numbers has no storage: the number is the fill value of
// its dataset; and a column that gets shorter by half, such as the values along an axis of a grid, is a chunk with
// HDF5's own filters shuffle and deflate. Every reader of HDF5 reads all of them as any other dataset.
enum { SHARD_TABLE_ENCODED = 4096 };

typedef struct ShardTable {
    const char *group;
    const ShardAttribute *attributes; // of the file
    int n_attributes;
    const NumberColumn *columns;
    int n_columns;
} ShardTable;

// Writes shards of one table. HDF5 computes the bytes around the columns once per number of rows and form of
// the columns; columns of 8 bytes are written directly from the caller's arrays. The file has the same bytes
// as a file that HDF5 writes itself.
typedef struct ShardTableWriter ShardTableWriter;
Error shard_table_open(const ShardTable *table, ShardTableWriter **out); // the table must outlive the writer
// Makes the numbers as the file will have them. values[n_columns]: each an array of `rows` > 0 numbers of the column's
// type. layouts[n_columns] <- the layouts of the columns, but for their offsets.
void shard_table_encode(ShardTableWriter *writer, ThreadTeam *team, int64_t rows, const void *const *values,
                        ColumnLayout *layouts);
// Writes what shard_table_encode encoded last as folder/name, as file_write does. Completes the layouts.
typedef struct ShardTableFile {
    int64_t bytes;     // size of the file
    Sha256Text around; // SHA-256 of all bytes outside the columns; digests of rows cover the columns
} ShardTableFile;
Error shard_table_write(ShardTableWriter *writer, const char *folder, const char *name, int64_t rows,
                        ColumnLayout *layouts, ShardTableFile *written);
// *found <- size and digest of an existing file. Error (machine): the file can't be read, or its columns do not follow
// each other.
Error shard_table_look(const char *path, int64_t rows, const ColumnLayout *layouts, int n_columns, Arena *arena,
                       ShardTableFile *found);
void shard_table_close(ShardTableWriter *writer);

#endif
