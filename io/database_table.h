// A table of SQL over arrays in memory. Statements of one connection read the arrays as a table of its schema `temp`,
// without a copy, from front to back. SQL can't change the table.
#ifndef HOPSCOTCH_IO_DATABASE_TABLE_H
#define HOPSCOTCH_IO_DATABASE_TABLE_H

#include "database.h"

typedef enum MemoryKind { MEMORY_INTEGER, MEMORY_REAL, MEMORY_WORD } MemoryKind;

typedef struct MemoryColumn {
    const char *name;
    MemoryKind kind;
    const int64_t *integers;  // MEMORY_INTEGER: values; MEMORY_WORD: indices of `words`
    const double *reals;      // MEMORY_REAL: NaN is NULL, -0 is 0
    const char *const *words; // [n_words], MEMORY_WORD: an index out of range means the last word
    int n_words;
} MemoryColumn;

// The rows are the elements [first, end) of each array.
typedef struct MemoryTable {
    MemoryColumn *columns; // [n_columns]
    int n_columns;
    int64_t first, end;
} MemoryTable;

// Adds the table, which must outlive the connection. Its arrays and its range may change between statements.
// name: at most 32 bytes.
Error database_add_table(Database *database, const char *name, MemoryTable *table);
// digests[count] <- the digests of the rows [first, first + count), equal to those of column_digest.
// Works column by column, which takes half of the time.
void memory_table_digests(const MemoryTable *table, int64_t first, int64_t count, uint64_t *digests);

#endif
