// How the numbers of a column lie in a file, and how they are read from there.
#ifndef HOPSCOTCH_IO_STORED_COLUMN_H
#define HOPSCOTCH_IO_STORED_COLUMN_H

#include "column_hash.h"
#include "number_column.h"

// The least and the greatest number. Of reals: NaN is none; without any number least is greater.
typedef struct ColumnBounds {
    Cell least, greatest;
} ColumnBounds;

// Where the numbers are, and how. No field has padding, because layouts are stored as bytes.
typedef struct ColumnLayout {
    int64_t width;    // bytes of a number: 8, of an integer also 4, 2 or 1; 0: all rows have the number `value`
    int64_t deflated; // bytes in the file of a column that is deflated (column_deflate.h); 0: it is not
    union {
        int64_t offset; // of the column in the file
        Cell value;
    };
    ColumnBounds bounds;
    uint64_t hash; // of its bytes in the file
} ColumnLayout;

// The layout of cells[rows > 0], but for its offset and hash. encoded: a column of equal numbers has no bytes, and
// integers have no more bytes than they need; else all numbers have 8.
ColumnLayout column_layout(const NumberColumn *column, const Cell *cells, int64_t rows, bool encoded);
// out[rows * width] <- integers of fewer bytes than 8
void column_narrow(const Cell *cells, int64_t rows, int64_t width, unsigned char *out);
uint64_t column_hash(const void *bytes, size_t size);
int64_t column_bytes(const ColumnLayout *layout, int64_t rows); // in the file
// Whether a column of a file of `bytes` can be there.
bool column_layout_is_valid(const ColumnLayout *layout, NumberType type, int64_t rows, int64_t bytes);

// cells[rows] <- the numbers of a column that is not deflated, from row `first` on, of an open file. The bytes that are
// read are added to the hash, unless it is NULL.
Error column_read(int file, const char *path, const ColumnLayout *layout, int64_t first, int64_t rows, Cell *cells,
                  ColumnHash *hash);
// cells[rows] <- all numbers of a column that is deflated; the same for the hash.
Error column_read_deflated(int file, const char *path, const ColumnLayout *layout, int64_t rows, Cell *cells,
                           ColumnHash *hash);
// *same <- the bytes of a column with `rows` in an open file are those of its layout.
Error column_compare(int file, const char *path, const ColumnLayout *layout, int64_t rows, bool *same);

#endif
