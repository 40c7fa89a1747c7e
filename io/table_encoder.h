// Makes the numbers of a table as files have them (stored_column.h). Remembers how each column was stored the last
// times, since the columns of a table are alike from file to file.
#ifndef HOPSCOTCH_IO_TABLE_ENCODER_H
#define HOPSCOTCH_IO_TABLE_ENCODER_H

#include "stored_column.h"

typedef struct EncodedColumn {
    const void *stored;  // the numbers as the file has them: the caller's, or in `room`
    unsigned char *room; // [bytes] malloc's
    size_t bytes;
    int64_t slot; // bytes in the file when it was deflated last
    int waits;    // files until it is deflated again, because that did not pay
} EncodedColumn;

typedef struct TableEncoder {
    const NumberColumn *columns;
    int n_columns;
    EncodedColumn *encoded; // [n_columns]
} TableEncoder;

// layouts[n_columns] <- the layouts of the columns, but for their offsets. values[n_columns]: each an array of `rows` >
// 0 numbers of the column's type, which must stay until the file is written. compact: as column_layout takes `encoded`;
// also, columns that get shorter by half are deflated. The threads of the team share the columns.
void table_encode(TableEncoder *encoder, ThreadTeam *team, int64_t rows, const void *const *values, bool compact,
                  ColumnLayout *layouts);
void table_encoder_free(const TableEncoder *encoder); // what table_encode took

#endif
